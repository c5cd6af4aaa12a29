"""Small stores for the tests: sources of every kind, the command in small pieces, and folders compared."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from turncodec.edge import decode
from turncodec.equality import same
from turncodec.migrate.packing import packing_of, unpacked
from turncodec.migrate.records import Record, look_at_pipe
from turncodec.refusals import Refused

USER = {"role": "user", "content": "hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
PLAIN = {"messages": [USER, {"role": "assistant", "content": "yes"}]}
REMAINS = {"messages": [USER, {"role": "assistant", "content": None, "refusal": None, "tool_calls": [CALL]}]}
REASONS = {"messages": [USER, {"role": "assistant", "content": "x", "reasoning_content": "because"}]}
NEVER = {"messages": [{"role": "tool", "tool_call_id": "c9", "content": "1"}]}
ITEMS = {"input": [{"type": "message", "role": "user", "content": "hi"}]}

SESSION = '{"type": "response_item", "payload": {"type": "message", "role": "user", "content": "hi"}}\n' * 2

SMALL = 1500
"""Bytes of a piece, so that a small file has many."""

OUTPUTS = ("records", "remainders", "refused", "rows")


def some_lines(number: int, seed: int = 1) -> list[bytes]:
    """Lines of all kinds, of many lengths; the same for the same seed."""
    dice = random.Random(seed)
    made = []
    for n in range(number):
        record = dice.choices([PLAIN, REMAINS, REASONS, NEVER, ITEMS], [6, 3, 1, 1, 1])[0]
        text = json.dumps({**record, "row": n, "note": "ü" * dice.randrange(120)}, ensure_ascii=dice.random() < 0.5)
        made.append(text.encode())
        if dice.random() < 0.08:
            made.append(dice.choice([b"", b"  ", b"{nope", b'{"a": 1, "a": 2}', b"\xff", b"\xef\xbb\xbf[]"]))
    return made


def write_lines(path: Path, lines: Iterable[bytes], end: bytes = b"\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + end for line in lines))
    return path


def write_store(folder: Path) -> Path:
    """A folder of sources of every kind that needs no extra."""
    write_lines(folder / "a.jsonl", some_lines(120))
    write_lines(
        folder / "deep" / "b.ndjson",
        [b"\xef\xbb\xbf" + line for line in some_lines(3, 2)][:1] + some_lines(30, 3),
        b"\r\n",
    )
    (folder / "array.json").write_text(json.dumps([PLAIN, REMAINS, REASONS, NEVER, ITEMS], indent=1))
    (folder / "one.json").write_text(json.dumps(PLAIN, indent=2))
    (folder / "bad.json").write_text(json.dumps(NEVER))
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(b"\n".join(some_lines(40, 4))))
    (folder / "notes.txt").write_text("not asked for")
    return folder


SCRIPT = """
import sys
from turncodec.store import pieces
pieces.PIECE = int(sys.argv.pop(1))
{before}
from turncodec.cli import main
main()
"""


def words(*given: object, before: str = "", piece: int = SMALL) -> list[str]:
    """The command line that runs turncodec with small pieces, and with some Python run before."""
    return [sys.executable, "-c", SCRIPT.format(before=before), str(piece), *map(str, given)]


def turncodec(*given: object, before: str = "", **how: Any) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own; a traceback is a failed test."""
    done = subprocess.run(words(*given, before=before), capture_output=True, text=True, timeout=120, **how)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def migrate(source: object, out: Path, *options: object, status: int = 1, to: str = "responses") -> str:
    done = turncodec("migrate", source, "--to", to, "--out", out, *options)
    assert done.returncode == status, done.stderr
    return done.stderr


def contents(store: Path) -> dict[str, bytes]:
    """The files of a finished store, without ledger and reports."""
    return {
        path.relative_to(store).as_posix(): path.read_bytes()
        for name in OUTPUTS
        for path in sorted((store / name).rglob("*"))
        if path.is_file()
    }


def left_over(store: Path) -> list[str]:
    """What lies in a finished store and should not."""
    known = {*OUTPUTS, "ledger.sqlite", "report.json", "report.html"}
    return sorted(path.name for path in store.iterdir() if path.name not in known)


def records(path: Path) -> list[Record]:
    with path.open("rb") as raw:
        packing = packing_of(raw.read(4))
        raw.seek(0)
        with unpacked(raw, packing) as file:
            return list(look_at_pipe(file, path.name.removesuffix(".gz").removesuffix(".zst"), None).records())


def is_equal(one: Path, other: Path) -> bool:
    """Whether two files hold the same records."""
    left, right = records(one), records(other)
    return len(left) == len(right) and all(is_same(a.data, b.data) for a, b in zip(left, right, strict=True))


def is_same(one: bytes, other: bytes) -> bool:
    try:
        return one == other or same(decode(one), decode(other))
    except Refused:
        return False


def sources(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".txt"]


def totals(store: Path) -> dict[str, int]:
    told: dict[str, int] = json.loads((store / "report.json").read_text())["totals"]
    return told


def alive(group: int) -> list[str]:
    """The processes of a group that are still at work, where the system tells."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, of = path.read_text().rpartition(")")[2].split()[:3]
            if int(of) == group and state != "Z":
                found.append(path.parent.name)
    return found


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
