"""Killed at any moment and gone on with, a store is what it would have been: nothing lost, nothing twice.

Two ways to kill: at a moment of the clock, all processes or the parent alone; and at a step of what is written (a
rename, a removal, an entry in the ledger), each step once. `STORE_KILLS` says how many moments; `tests/run-slow` takes
many.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
import stores
from stores import contents, left_over, migrate, totals, turncodec

KILLS = int(os.environ.get("STORE_KILLS", "4"))

SLOWER = """
from turncodec.store import proof
import time
quick = proof.translated
def translated(*given):
    time.sleep(0.002)
    return quick(*given)
proof.translated = translated
"""

STEPS = """
import os, pathlib, shutil, signal, sqlite3
from turncodec.store import ledger, migration
left = int(os.environ['STORE_STEP'])
def counted(do):
    def step(*given, **named):
        global left
        for _ in range(2):  # once before it is done, and once after
            if os.getpid() == parent:
                left -= 1
                if left == 0:
                    os.kill(parent, signal.SIGKILL)
            if _ == 0:
                result = do(*given, **named)
        return result
    return step
parent = os.getpid()
pathlib.Path.replace = counted(pathlib.Path.replace)
pathlib.Path.unlink = counted(pathlib.Path.unlink)
migration.remove = counted(migration.remove)
ledger.Ledger.write = counted(ledger.Ledger.write)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sources, and what an undisturbed run makes of them."""
    monkeypatch.chdir(tmp_path)
    stores.write_store(Path("in"))
    stores.write_lines(Path("in/long.jsonl"), stores.some_lines(400, 7))
    migrate("in", Path("undisturbed"), "-j", "1")
    return tmp_path


def killed(command: list[str], seconds: float, whole_group: bool) -> bool:
    """Run a command and kill it after some seconds; whether it was still at work."""
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL) if whole_group else process.kill()
            return True
    return False


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_random_moments(workers: int) -> None:
    """Run after run is killed, until one is not."""
    dice = random.Random(workers)
    command = stores.words("migrate", "in", "--to", "responses", "--out", "out", "-j", workers, before=SLOWER)
    kills = 0
    for _ in range(KILLS):
        if Path("out/ledger.sqlite").exists():
            now = [*command, "--resume"]
        else:
            stores.remove(Path("out"))
            now = command
        kills += killed(now, dice.uniform(0.25, 0.9), dice.random() < 0.5)
    if Path("out/ledger.sqlite").exists():
        migrate("in", Path("out"), "-j", workers, "--resume")
    else:
        stores.remove(Path("out"))
        migrate("in", Path("out"), "-j", workers)

    assert kills > 0
    assert contents(Path("out")) == contents(Path("undisturbed"))
    assert totals(Path("out")) == totals(Path("undisturbed"))
    assert left_over(Path("out")) == []


def test_killed_at_each_step() -> None:
    """Killed before or after a step, in the run and then in the run that goes on, and finished by a third."""
    dice = random.Random(3)
    statuses = []
    for kill in range(KILLS):
        out = Path(f"out{kill}")
        for resume in ([], ["--resume"]):
            environment = {**os.environ, "STORE_STEP": str(dice.randrange(1, 260))}
            command = stores.words("migrate", "in", "--to", "responses", "--out", out, *resume, before=STEPS)
            statuses.append(subprocess.run(command, capture_output=True, env=environment, timeout=60).returncode)
            if not (out / "ledger.sqlite").exists():
                stores.remove(out)
                break
        resume = ["--resume"] if (out / "ledger.sqlite").exists() else []
        migrate("in", out, *resume)
        assert contents(out) == contents(Path("undisturbed")), kill
        assert left_over(out) == []
    assert -signal.SIGKILL in statuses


def test_a_retry_that_is_killed() -> None:
    """Whatever step it was killed at, the retry that follows gives what one would have given."""
    dice = random.Random(4)
    migrate("in", Path("once"), "--allow", "reasoning")
    statuses = []
    for kill in range(KILLS):
        out = Path(f"retried{kill}")
        migrate("in", out)
        environment = {**os.environ, "STORE_STEP": str(dice.randrange(1, 60))}
        words = stores.words("retry", out, "--allow", "reasoning", before=STEPS)
        statuses.append(subprocess.run(words, capture_output=True, env=environment, timeout=60).returncode)
        turncodec("retry", out, "--allow", "reasoning")
        assert contents(out) == contents(Path("once")), kill
        assert left_over(out) == []
    assert -signal.SIGKILL in statuses


def test_at_once_after_a_kill() -> None:
    """A run that goes on in the moment after a kill is not disturbed by what the killed one has left at work."""
    command = stores.words("migrate", "in", "--to", "responses", "--out", "out", "-j", "2", before=SLOWER)
    for seconds in (0.1, 0.3):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as run:
            while not Path("out/ledger.sqlite").exists():
                time.sleep(0.01)
            time.sleep(seconds)
            run.kill()
        migrate("in", Path("out"), "--resume")
        assert contents(Path("out")) == contents(Path("undisturbed"))
        assert left_over(Path("out")) == []
        stores.remove(Path("out"))
