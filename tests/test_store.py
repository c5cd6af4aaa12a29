"""A whole store: every record accounted for, the same whoever did it, refused ones tried again, all of it restored."""

from __future__ import annotations

import contextlib
import gzip
import json
import multiprocessing
import os
import pty
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import stores
from click.testing import CliRunner, Result
from stores import ITEMS, NEVER, PLAIN, REASONS, REMAINS, contents, is_equal, left_over, migrate, totals, turncodec

from turncodec.cli import cli
from turncodec.migrate.outcomes import Settings, Stopped, Translated
from turncodec.migrate.run import with_place_moved, with_record_moved
from turncodec.store import pieces, pool, progress, proof, sources
from turncodec.store.pieces import Piece

in_forks = pytest.mark.filterwarnings("ignore:.*fork")
"""For a test that breaks what a worker does: only a fork has what was broken, whatever other tests have imported."""


def forks() -> Any:
    return multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and small pieces."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pieces, "PIECE", stores.SMALL)
    return tmp_path


def run(*words: object) -> Result:
    """Run the command in this process; its workers are processes all the same."""
    result = CliRunner().invoke(cli, [str(word) for word in words], prog_name="turncodec")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def write(name: str, *records: Any) -> Path:
    return stores.write_lines(Path(name), [json.dumps(record).encode() for record in records])


@pytest.fixture
def store() -> Path:
    """A folder of sources, and the store that it was migrated to."""
    stores.write_store(Path("in"))
    assert run("migrate", "in", "--to", "responses", "--out", "out", "-j", "2").exit_code == 1
    return Path("out")


class TestPieces:
    @pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 400, 10**6])
    @pytest.mark.parametrize("end", [b"\n", b"\r\n"])
    def test_no_line_is_lost_or_doubled(self, size: int, end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever the size of the pieces, their records are those of the whole, in order, each at its offset."""
        data = end.join([*stores.some_lines(4), b"", b"\xef\xbb\xbf[1]", b"x" * 90])
        path = Path("in.jsonl")
        path.write_bytes(data)
        file = sources.look_at(str(path), path.name, Settings("responses"))
        whole = list(pieces.records(Piece(file, 0, 0, len(data))))
        monkeypatch.setattr(pieces, "PIECE", size)
        cut = pieces.cut(file)

        found = [record for piece in cut for record in pieces.records(piece)]
        assert [(r.data, r.offset) for r in found] == [(r.data, r.offset) for r in whole]
        assert sum(map(pieces.lines_in, cut)) == data.count(b"\n") + 1
        assert pieces.count(file) == len(whole)

    def test_side_lines_are_moved(self) -> None:
        """A line of a side file says another place and is the same to the byte otherwise."""
        note = b'{"record":2,"remainder":{"n":1E5,"record":2}}\n'
        kept = b'{"place":1,"source":"a","ordinal":1,"line":2,"offset":7,"refusals":[],"text":"1"}\n'

        assert with_record_moved(note, 40) == b'{"record":42,"remainder":{"n":1E5,"record":2}}\n'
        moved = b'{"place":4,"source":"a","ordinal":4,"line":7,"offset":7,"refusals":[],"text":"1"}\n'
        assert with_place_moved(kept, 3, 5) == moved


class TestMigrate:
    def test_every_record_is_accounted_for(self, store: Path) -> None:
        """Read is translated, refused and passed through, in all and by file, and what the source itself counts."""
        report = json.loads((store / "report.json").read_text())
        assert report["is_complete"] is True
        for counts in (report["totals"], *(file["counts"] for file in report["files"])):
            assert counts["read"] == counts["translated"] + counts["refused"] + counts["passed_through"]
        for file in report["files"]:
            assert file["counted"] == file["counts"]["read"] == len(stores.records(Path("in", file["name"])))
        assert min(report["totals"][key] for key in ("translated", "refused", "passed_through")) > 0
        assert [Path(name).name for name in report["left_aside"]] == ["notes.txt"]
        assert left_over(store) == []

    def test_the_same_whoever_does_it(self, store: Path) -> None:
        """The files do not depend on the number of workers, nor on the size of the pieces but in packed ones."""
        for workers in (1, 3):
            assert run("migrate", "in", "--to", "responses", "--out", f"out{workers}", "-j", workers).exit_code == 1
            assert contents(Path(f"out{workers}")) == contents(store)

    def test_the_same_as_convert(self, store: Path) -> None:
        """A file of a store is what convert makes of it, and so are its side files, the names of places apart."""
        run("convert", "in/a.jsonl", "--to", "responses", "--out", "a.jsonl")

        for name, folder in (("a", "records"), ("a.remainder", "remainders"), ("a.refused", "refused")):
            assert Path(f"{name}.jsonl").read_bytes() == (store / folder / "a.jsonl").read_bytes()

    def test_restore_of_a_file_of_it(self, store: Path) -> None:
        """What is in a store can be restored file by file, too."""
        words = (
            "--remainder",
            store / "remainders/a.jsonl",
            "--refused",
            store / "refused/a.jsonl",
            "--out",
            "a.jsonl",
        )
        assert run("restore", store / "records/a.jsonl", *words).exit_code == 0
        assert is_equal(Path("a.jsonl"), Path("in/a.jsonl"))

    def test_a_second_pass_changes_nothing(self, store: Path) -> None:
        """A store that is in the format already passes through."""
        run("migrate", store / "records", "--to", "responses", "--out", "again")

        assert totals(Path("again"))["translated"] == totals(Path("again"))["refused"] == 0
        now = {name: data for name, data in contents(Path("again")).items() if name.startswith("records/")}
        for name, data in now.items():
            before = (store / name).read_bytes()
            assert data == before or gzip.decompress(data) == gzip.decompress(before)

    def test_exit_statuses(self) -> None:
        write("good.jsonl", PLAIN, ITEMS)
        assert run("migrate", "good.jsonl", "--to", "responses", "--out", "good").exit_code == 0
        assert run("migrate", "good.jsonl", "--to", "responses", "--out", "good").exit_code == 2
        assert run("migrate", "nothing.jsonl", "--to", "responses", "--out", "other").exit_code == 2
        assert not Path("other").exists()
        assert run("migrate", "good.jsonl", "--to", "responses").exit_code == 2

    def test_names_of_files(self) -> None:
        """A file keeps its name, one of a folder its path below it, one of a glob that below the wildcard."""
        write("x/y/a.jsonl", PLAIN)
        write("x/z/a.jsonl", PLAIN)
        found = {
            source: [name for _, name in sources.below(source)]
            for source in ("x/y/a.jsonl", "x", "x/*/a.jsonl", "x/**/*.jsonl", "x/*")
        }
        assert found["x/y/a.jsonl"] == ["a.jsonl"]
        assert all(found[source] == ["y/a.jsonl", "z/a.jsonl"] for source in found if source != "x/y/a.jsonl")
        both = run("migrate", "x/y/a.jsonl", "x/z/a.jsonl", "--to", "responses", "--out", "out")
        assert both.exit_code == 2
        assert "both be called a.jsonl" in both.stderr

    def test_a_store_does_not_read_itself(self) -> None:
        write("in/a.jsonl", PLAIN)
        assert "does not read itself" in run("migrate", "in", "--to", "responses", "--out", "in/new").stderr

    def test_a_name_that_is_no_text(self) -> None:
        """It is told in a way that can be written, and the others go on."""
        write("in/a.jsonl", PLAIN)
        for name in (b"in/\xff.jsonl", b"in/\xff.txt"):
            Path(os.fsdecode(name)).write_bytes(b"{}\n")
        done = run("migrate", "in", "--to", "responses", "--out", "out")
        assert done.exit_code == 2
        assert "rename it" in done.stderr
        assert report()["left_aside"] == ["in/\\xff.txt"]
        assert run("migrate", "in", "--to", "responses", "--dry-run").exit_code == 0

    def test_a_file_that_cannot_be_read(self) -> None:
        """It is named and set aside, the others go on, and another try takes it up."""
        write("in/a.jsonl", PLAIN)
        Path("in/b.jsonl.gz").write_bytes(gzip.compress(b'{"messages": []}\n' * 900)[:60])
        Path("in/c.jsonl").write_bytes('{"messages": []}\n'.encode("utf-16"))
        done = run("migrate", "in", "--to", "responses", "--out", "out")
        assert done.exit_code == 2
        assert "b.jsonl.gz" in done.stderr
        assert "UTF-16" in done.stderr
        assert (totals(Path("out"))["translated"], stores.left_over(Path("out"))) == (1, [])

        Path("in/b.jsonl.gz").write_bytes(gzip.compress(b'{"messages": []}\n' * 9))
        write("in/c.jsonl", PLAIN)
        assert run("migrate", "in", "--to", "responses", "--out", "out", "--resume").exit_code == 0
        assert totals(Path("out"))["translated"] == 11

    @in_forks
    def test_a_fault_of_ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A translation that does not come back is kept with the refused, with a report to send, and status 3."""
        write("in.jsonl", PLAIN, REMAINS, PLAIN)
        monkeypatch.setattr(proof.translate, "brought_back", lambda *_: {"messages": []})
        monkeypatch.setattr(pool, "context_of", forks)
        done = run("migrate", "in.jsonl", "--to", "responses", "--out", "out", "-j", 1)

        assert done.exit_code == 3
        counts = totals(Path("out"))
        assert (counts["refused"], counts["faults"], counts["translated"]) == (3, 3, 0)
        fault = json.loads(Path("out/faults/0002.json").read_text())
        assert json.loads(fault["text"]) == REMAINS
        assert fault["at"] == "in.jsonl:2"

    def test_options_reach_the_records(self) -> None:
        write(
            "in.jsonl",
            {"log": {"messages": [stores.USER]}},
            {"log": {"messages": [{"role": "user", "x": 1, "content": "a"}]}},
        )
        words = ("--at", "/log/messages", "--allow", "unknown_field", "--verify", "values")
        assert run("migrate", "in.jsonl", "--to", "responses", "--out", "out", *words).exit_code == 0
        assert all(
            "input" in json.loads(line)["log"] for line in Path("out/records/in.jsonl").read_bytes().splitlines()
        )
        assert run("restore", "out", "--out", "back").exit_code == 0
        assert is_equal(Path("back/in.jsonl"), Path("in.jsonl"))

    def test_quiet_in_a_pipe_and_json_for_machines(self) -> None:
        write("in.jsonl", PLAIN, NEVER)
        told = migrate("in.jsonl", Path("out"), "--log-json", status=1)
        events = [json.loads(line) for line in told.splitlines()]
        assert [event["event"] for event in events][:2] == ["begun", "piece"]
        assert events[-1] | {"seconds": 0} == {"event": "ended", "seconds": 0, "status": 1}
        assert "\r" not in migrate("in.jsonl", Path("out2"), status=1)


class TestVerify:
    @pytest.mark.parametrize("verify", proof.VERIFY)
    def test_the_same_files(self, verify: proof.Verify) -> None:
        for record, kind in ((PLAIN, Translated), (REASONS, Stopped)):
            assert isinstance(proof.proven(json.dumps(record).encode(), Settings("responses"), verify), kind)

    @in_forks
    def test_what_is_written_is_read_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file that does not hold what was written to it stops the run."""
        from turncodec.store import parts

        write("in.jsonl", PLAIN)
        monkeypatch.setattr(parts, "content_digest", lambda *_: "other")
        monkeypatch.setattr(pool, "context_of", forks)
        done = run("migrate", "in.jsonl", "--to", "responses", "--out", "out")
        assert done.exit_code == 2
        assert "does not hold what was written" in done.stderr
        assert "--resume" in done.stderr


class TestResume:
    def test_what_is_done_is_not_done_again(self, store: Path) -> None:
        before = {
            path: path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file() and "report" not in path.name
        }
        assert run("migrate", "in", "--to", "responses", "--out", "out", "--resume").exit_code == 1
        assert all(path.stat().st_mtime_ns == time for path, time in before.items() if path.name != "ledger.sqlite")

    def test_other_options(self, store: Path) -> None:
        done = run("migrate", "in", "--to", "responses", "--out", store, "--resume", "--allow", "reasoning")
        assert done.exit_code == 2
        assert "--allow was not given, and is reasoning" in done.stderr

    def test_another_version(self, store: Path) -> None:
        with sqlite3.connect(store / "ledger.sqlite") as base:
            base.execute("update about set value = '\"0.0.1+abc\"' where key = 'rules'")
        base.close()
        assert "0.0.1+abc" in run("migrate", "in", "--to", "responses", "--out", store, "--resume").stderr

    def test_a_changed_source(self, store: Path) -> None:
        with Path("in/a.jsonl").open("ab") as file:
            file.write(b"{}\n")
        done = run("migrate", "in", "--to", "responses", "--out", store, "--resume")
        assert done.exit_code == 2
        assert "in/a.jsonl has changed" in done.stderr

    def test_a_touched_source(self, store: Path) -> None:
        """One that was only touched holds the bytes that were read."""
        os.utime("in/a.jsonl", ns=(1, 1))
        assert run("migrate", "in", "--to", "responses", "--out", store, "--resume").exit_code == 1

    def test_a_new_source(self, store: Path) -> None:
        write("in/new.jsonl", PLAIN)
        assert "new.jsonl" in run("migrate", "in", "--to", "responses", "--out", store, "--resume").stderr

    @pytest.mark.parametrize("how", ["missing", "changed"])
    def test_a_result_that_is_not_what_was_written(self, store: Path, how: str) -> None:
        """It is made again."""
        before = contents(store)
        path = store / "records/a.jsonl"
        path.unlink() if how == "missing" else path.write_bytes(path.read_bytes()[:-2] + b"x\n")
        assert run("migrate", "in", "--to", "responses", "--out", store, "--resume").exit_code == 1
        assert contents(store) == before

    def test_a_source_that_was_not_counted(self, store: Path) -> None:
        """Without the source's own count a store is not complete; it is counted by the run that goes on."""
        with contextlib.closing(sqlite3.connect(store / "ledger.sqlite")) as base, base:
            base.execute("update files set counted = null where name = 'a.jsonl'")
        assert run("retry", store).exit_code == 2
        assert report()["is_complete"] is False
        assert run("migrate", "in", "--to", "responses", "--out", store, "--resume").exit_code == 1
        assert report()["is_complete"] is True

    def test_no_store(self) -> None:
        write("in.jsonl", PLAIN)
        Path("out").mkdir()
        assert "is no store" in run("migrate", "in.jsonl", "--to", "responses", "--out", "out", "--resume").stderr
        Path("out/ledger.sqlite").write_bytes(b"nonsense" * 200)
        assert "is no ledger" in run("migrate", "in.jsonl", "--to", "responses", "--out", "out", "--resume").stderr

    def test_two_at_once(self, store: Path) -> None:
        base = sqlite3.connect(store / "ledger.sqlite")
        base.execute("begin exclusive")
        assert "another turncodec" in run("retry", store).stderr
        base.close()


SLOW = """
from turncodec.store import proof
import time
slow, quick = proof.translated, proof.translated
def translated(*given):
    time.sleep(0.01)
    return quick(*given)
proof.translated = translated
"""


class TestTrouble:
    def test_ctrl_c(self) -> None:
        """It ends with status 130 and the command to go on with, which gives what an undisturbed run gives."""
        stores.write_store(Path("in"))
        words = stores.words("migrate", "in", "--to", "responses", "--out", "out", "-j", "2", before=SLOW)
        with subprocess.Popen(words, stderr=-1, text=True, start_new_session=True) as process:
            time.sleep(1.2)
            os.killpg(process.pid, signal.SIGINT)
            _, told = process.communicate(timeout=30)

        assert process.returncode == 130, told
        assert "turncodec migrate in --to responses --out out -j 2 --resume" in told
        migrate("in", Path("out"), "--resume")
        migrate("in", Path("undisturbed"))
        assert contents(Path("out")) == contents(Path("undisturbed"))
        assert left_over(Path("out")) == []

    @pytest.mark.parametrize("most", [0, 2000, 20_000])
    def test_a_full_disk(self, most: int) -> None:
        """The run stops, says so, and goes on when there is room again."""
        stores.write_store(Path("in"))
        full = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))"
        done = turncodec("migrate", "in", "--to", "responses", "--out", "out", before=full)
        assert done.returncode == 2
        assert "too large" in done.stderr or "i/o error" in done.stderr or "full" in done.stderr
        if Path("out/ledger.sqlite").exists():
            assert "--resume" in done.stderr
            migrate("in", Path("out"), "--resume")
        else:
            for path in Path("out").glob("*"):
                path.unlink()
            migrate("in", Path("out"))
        migrate("in", Path("undisturbed"))
        assert contents(Path("out")) == contents(Path("undisturbed"))

    def test_a_source_that_vanishes(self) -> None:
        """It is set aside, and the others go on."""
        stores.write_store(Path("in"))
        gone = "from turncodec.store import migration\nimport os\nbegin = migration.begin\n" + (
            "def vanishing(*given):\n    made = begin(*given)\n    os.unlink('in/a.jsonl')\n    return made\n"
            "migration.begin = vanishing"
        )
        done = turncodec("migrate", "in", "--to", "responses", "--out", "out", before=gone)
        assert done.returncode == 2
        assert "in/a.jsonl: no such file or directory; it is set aside" in done.stderr
        assert {file["name"] for file in report()["files"] if file["state"] != "placed"} == {"a.jsonl"}

    def test_a_read_error_in_the_middle(self) -> None:
        stores.write_store(Path("in"))
        broken = "from turncodec.store import pieces\nuntil = pieces.until\n" + (
            "def breaking(file, position, end):\n    yield from until(file, position, end)\n"
            "    if position > 4000 and file.name.endswith('a.jsonl'): raise OSError(5, 'Input/output error')\n"
            "pieces.until = breaking"
        )
        done = turncodec("migrate", "in", "--to", "responses", "--out", "out", before=broken)
        assert done.returncode == 2
        assert "in/a.jsonl: input/output error; it is set aside" in done.stderr
        migrate("in", Path("out"), "--resume")
        migrate("in", Path("undisturbed"))
        assert contents(Path("out")) == contents(Path("undisturbed"))

    def test_a_worker_that_is_gone(self) -> None:
        stores.write_store(Path("in"))
        gone = "from turncodec.store import work\nimport os\n" + (
            "def ending(self, gauge):\n    os._exit(9)\nwork.CountRecords.__call__ = ending"
        )
        done = turncodec("migrate", "in", "--to", "responses", "--out", "out", before=gone)
        assert done.returncode == 2
        assert "a worker has ended by itself (status 9)" in done.stderr
        assert "--resume" in done.stderr

    def test_no_worker_outlives_its_parent(self) -> None:
        write("in.jsonl", *[PLAIN] * 2000)
        words = stores.words(
            "migrate", "in.jsonl", "--to", "responses", "--out", "out", "-j", "2", before=SLOW, piece=10**6
        )
        with subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            time.sleep(1)
            process.kill()
        time.sleep(0.3)
        assert stores.alive(process.pid) == []


def report() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(Path("out/report.json").read_text())
    return told


class TestRetry:
    def test_as_if_allowed_from_the_beginning(self, store: Path) -> None:
        """The refused records take their old places, and the store is what allowing at once would have given."""
        refused = totals(store)["refused"]
        assert run("retry", store, "--allow", "reasoning", "-j", 2).exit_code == 1
        assert run("migrate", "in", "--to", "responses", "--out", "once", "--allow", "reasoning").exit_code == 1

        assert contents(store) == contents(Path("once"))
        assert totals(store) == totals(Path("once"))
        assert totals(store)["refused"] < refused
        assert report()["retries"][0]["translated"] == refused - totals(store)["refused"]
        assert left_over(store) == []

    def test_nothing_goes_across(self, store: Path) -> None:
        before = contents(store)
        done = run("retry", store)
        assert done.exit_code == 1
        assert "0 translated" in done.stderr
        assert contents(store) == before

    def test_only_the_refused(self, store: Path) -> None:
        """No record that went across is translated again."""
        only = "from turncodec.store import again\nproven = again.proven_again\n" + (
            "def counting(one, how):\n    print('tried', flush=True)\n    return proven(one, how)\n"
            "again.proven_again = counting"
        )
        done = turncodec("retry", store, "--allow", "reasoning", before=only)
        assert done.stdout.count("tried") == report()["retries"][0]["tried"] > 0

    def test_a_store_that_was_changed(self, store: Path) -> None:
        """Retry and restore build on what was written, and notice where that is not there."""
        (store / "records/a.jsonl").write_bytes(b"{}\n")
        for words in (("retry", store), ("restore", store, "--out", "back")):
            done = run(*words)
            assert done.exit_code == 2
            assert "is not what was written" in done.stderr


class TestRestore:
    @pytest.mark.parametrize("allow", ["", "reasoning"])
    def test_all_of_it_comes_back(self, store: Path, allow: str) -> None:
        """Every source has its file again, equal record by record; also after a retry."""
        if allow:
            run("retry", store, "--allow", allow)
        done = run("restore", store, "--out", "back")

        assert done.exit_code == 0, done.stderr
        for path in stores.sources(Path("in")):
            assert is_equal(path, Path("back") / path.relative_to("in")), path
        assert len(stores.sources(Path("back"))) == len(stores.sources(Path("in")))

    def test_the_other_way(self) -> None:
        write("in.jsonl", ITEMS, {"input": "hi", "instructions": "Be brief."}, PLAIN)
        assert run("migrate", "in.jsonl", "--to", "chat", "--out", "out").exit_code == 0
        assert run("restore", "out", "--out", "back").exit_code == 0
        assert is_equal(Path("back/in.jsonl"), Path("in.jsonl"))

    def test_not_over_others(self, store: Path) -> None:
        assert run("restore", store, "--out", "in").exit_code == 2
        assert run("restore", store).exit_code == 2
        assert run("restore", store, "--out", "back", "--to", "chat").exit_code == 2


class TestPlan:
    def test_nothing_is_written(self) -> None:
        stores.write_store(Path("in"))
        before = sorted(Path().rglob("*"))
        done = run("migrate", "in", "--to", "responses", "--dry-run")

        assert done.exit_code == 1
        assert sorted(Path().rglob("*")) == before
        assert "7 files" in done.stdout
        assert "left aside, by their names: 1 file, first in/notes.txt" in done.stdout
        assert "nothing was written" in done.stdout
        assert '{"role":"user","content":"hi"}' in done.stdout
        assert "in/a.jsonl:" in done.stdout

    def test_of_lines_that_are_turns(self) -> None:
        Path("session.jsonl").write_text(stores.SESSION)
        done = run("migrate", "session.jsonl", "--to", "chat", "--kind", "codex-rollout", "--dry-run")
        assert done.exit_code == 0, done.output


class TestProgress:
    def test_on_a_terminal(self) -> None:
        """A line that is written anew, and gone at the end; what is said stands below it."""
        write("in.jsonl", *[PLAIN] * 60)
        words = stores.words("migrate", "in.jsonl", "--to", "responses", "--out", "out", "-j", "2", before=SLOW)
        ours, theirs = pty.openpty()
        with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            told = b""
            with contextlib.suppress(OSError):  # how the end of a terminal shows on Linux
                while more := os.read(ours, 4096):
                    told += more
        os.close(ours)

        assert process.returncode == 0
        line, end = told.split(b"\r"), told.decode().rpartition("\r ")[2]
        bars = [part for part in line if b"records" in part and b" of " in part and b"/s" in part]
        assert bars, told
        assert b"0 refused" in bars[0]
        assert b"left" in bars[-1]
        assert "60 read = 60 translated + 0 refused + 0 passed through" in end

    def test_spans(self) -> None:
        assert [progress.span(seconds) for seconds in (0.4, 59, 61, 7260)] == [
            "0 s",
            "59 s",
            "1 min 01 s",
            "2 h 01 min",
        ]


class TestOthersAtWork:
    def test_a_worker_of_a_killed_run_is_waited_for(self, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is begun before it has ended; where it does not, that is said."""
        monkeypatch.setattr(pool, "PATIENCE", 0.3)
        lock = store / "parts" / "lock"
        lock.parent.mkdir()
        held = pool.hold(lock)
        assert held is not None
        assert "still at work" in run("retry", store).stderr
        held.close()
        assert run("retry", store).exit_code == 1
        assert left_over(store) == []
