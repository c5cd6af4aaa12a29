"""What migrating a whole file costs, as multiples of the floor: reading each line with orjson and writing it again.

    python -m turncodec.store.bench [--megabytes 200] [--folder FOLDER]

Makes a file of JSON lines of about 20 kB in a folder that is removed again, and runs the command on it, one round after
another. CPU time is that of all its processes, start-up included; memory the peak of the largest of them.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from turncodec.bench import transcript
from turncodec.edge import encode

ROUNDS = 3
TIMES_OVER = 3
"""So many of the bench's transcripts, one after the other, are a record of about 20 kB."""


class Cost(NamedTuple):
    """Seconds of CPU time and of the clock, and bytes of memory."""

    cpu: float
    wall: float
    peak: int


def records(number: int) -> bytes:
    """A line: one long transcript, each call of it with an id of its own."""
    messages = []
    for part in range(TIMES_OVER):
        for message in transcript():
            ids = {call["id"]: f"{call['id']}_{part}" for call in message.get("tool_calls", ())}
            if ids:
                calls = [{**call, "id": ids[call["id"]]} for call in message["tool_calls"]]
                message = {**message, "tool_calls": calls}
            if "tool_call_id" in message:
                message = {**message, "tool_call_id": f"{message['tool_call_id']}_{part}"}
            messages.append(message)
    return encode({"messages": messages, "number": number}) + b"\n"


def write(path: Path, megabytes: int) -> int:
    """Write a file of so many megabytes; gives the number of its records."""
    left, number = megabytes * 1_000_000, 0
    with path.open("wb") as file:
        while left > 0:
            line = records(number)
            file.write(line)
            left -= len(line)
            number += 1
    return number


def floor(path: Path, out: Path) -> float:
    """Seconds of CPU time for reading and writing a file with orjson and nothing else."""
    import orjson

    began = time.process_time()
    with path.open("rb") as source, out.open("wb") as target:
        for line in source:
            target.write(orjson.dumps(orjson.loads(line)) + b"\n")
    return time.process_time() - began


def cost(path: Path, out: Path, *options: str) -> Cost:
    """What a run of the command costs."""
    words = [sys.executable, "-m", "turncodec", "migrate", str(path), "--to", "responses", "--out", str(out), *options]
    began, wall = os.times(), time.perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    ended = os.times()
    cpu = ended.children_user + ended.children_system - began.children_user - began.children_system
    return Cost(cpu, time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m turncodec.store.bench", description="Multiples of the floor.")
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path, help="where to write; a fast disk, with room for four times as much")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        path = folder / "chat.jsonl"
        number = write(path, given.megabytes)
        print(f"{path.stat().st_size / 1e6:,.0f} MB, {number:,} records")  # noqa: T201
        try:
            floors = [floor(path, folder / "floor.jsonl") for _ in range(given.rounds)]
        except ImportError:
            print("the benchmark needs orjson: pip install orjson", file=sys.stderr)  # noqa: T201
            return 2
        print(f"floor {statistics.median(floors):.2f} s, Python {sys.version.split()[0]}\n")  # noqa: T201
        run = 0
        for verify in ("full", "values", "none"):
            walls = []
            for workers in (1, 2):
                costs = []
                for _ in range(given.rounds):
                    run += 1
                    costs.append(cost(path, folder / str(run), "--verify", verify, "-j", str(workers)))
                ratio = statistics.median(one.cpu for one in costs) / statistics.median(floors)
                walls.append(statistics.median(one.wall for one in costs))
                peak = max(one.peak for one in costs) / 1e6
                told = f"--verify {verify:6} -j {workers}  {walls[-1]:6.1f} s  peak {peak:,.0f} MB"
                print(f"{ratio:6.2f} x  {told}")  # noqa: T201
            print(f"{walls[0] / walls[1]:6.2f} times as fast with two workers")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
