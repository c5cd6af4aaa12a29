"""Where records come from: files and pipes, cut into records. Knows framings, and nothing about what a record means.

How a source is cut is seen by parsing it:

- *lines*: the first line is a JSON value by itself and another one follows. Each line is a record, blank lines are
  none. Held in memory line by line.
- *array*: a JSON array of records. Which it is, is told by its first element that can tell: a list, an object that
  holds a list of turns, or an object with neither `role` nor `type` is a record; any other object with `role` or
  `type` is a message or an item, and the whole array one transcript.
- *document*: any other JSON value is one record.

The name has a say where that leaves a doubt: a single line is a record where the name says so (`.jsonl`, `.ndjson`),
and what is no JSON as a whole is cut into lines if the name, or a second line that is an object or a list by itself,
says so. An array with a fault in it is cut into its elements all the same, so that one bad record does not take the
others with it. A file that must be seen whole is mapped, a pipe then held in memory.
"""

from __future__ import annotations

import io
import mmap
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

import msgspec

from turncodec.edge import BOM, UNREADABLE, other_encoding
from turncodec.migrate import JobError
from turncodec.refusals import path_of

Framing = Literal["lines", "array", "document"]
Buffer = bytes | mmap.mmap
Span = tuple[int, int]

STDIN = "-"
LINE_NAMES = (".jsonl", ".ndjson")
TRANSCRIPT_KEYS = ("messages", "input", "conversations")
LONGEST_FIRST_LINE = 1 << 24
SPACE = b" \t\r\n"
FOREIGN = {b"\x1f\x8b": "compressed with gzip", b"\x28\xb5\x2f\xfd": "compressed with zstd", b"PAR1": "a Parquet file"}

_any = msgspec.json.Decoder(msgspec.Raw).decode
_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Record(NamedTuple):
    """One record of a source, as the bytes it is."""

    data: bytes
    source: str
    ordinal: int
    """The how-manieth record of its source, counted from 1."""
    line: int
    offset: int
    """Where its first byte stands in the source."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file or a pipe that was looked at: how it is cut, and how big it is where that is known."""

    name: str
    framing: Framing
    size: int | None
    lines: Callable[[], Iterable[bytes]]
    whole: Callable[[], Buffer]
    has_bom: bool
    is_empty: bool

    def records(self) -> Iterator[Record]:
        """The records; a pipe has them once. Raises OSError where reading fails."""
        if self.framing == "lines":
            return of_lines(self.lines(), self.name)
        return of_spans(self.whole(), elements if self.framing == "array" else everything, self.name)


def look(name: str, at: str | None = None) -> Source:
    """Look at a file, or at standard input for `-`. `at` is the pointer of the transcript in each record, if known.

    Raises `JobError`.
    """
    if name == STDIN:
        return look_at_pipe(sys.stdin.buffer, name, at)
    try:
        file = Path(name).open("rb")  # noqa: SIM115  a pipe stays open
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return look_at_pipe(file, name, at)
        with file:
            if status.st_size:
                return look_at_file(file, name, at)
            return look_at_pipe(io.BytesIO(file.read()), name, at)
    except OSError as wrong:
        raise JobError(f"{name}: {(wrong.strerror or str(wrong)).lower()}") from wrong


def look_at_file(file: BinaryIO, name: str, at: str | None) -> Source:
    known = known_start(file.read(4), name)
    file.seek(0)
    first, second = two_lines(iter(lambda: file.readline(LONGEST_FIRST_LINE), b""))

    def lines() -> Iterator[bytes]:
        with Path(name).open("rb", buffering=1 << 20) as again:
            yield from again

    def whole() -> Buffer:
        with Path(name).open("rb") as again:
            return mmap.mmap(again.fileno(), 0, access=mmap.ACCESS_READ)

    size = os.fstat(file.fileno()).st_size
    return Source(name, framing_of(first, second, whole, name, at), size, lines, whole, known, first is None)


def look_at_pipe(pipe: BinaryIO, name: str, at: str | None) -> Source:
    seen: list[bytes] = []
    ended = False

    def remembered() -> Iterator[bytes]:
        for line in pipe:
            seen.append(line)
            yield line

    def whole() -> Buffer:
        nonlocal ended
        if not ended:
            with pipe:
                seen[:] = [b"".join(seen) + pipe.read()]
            ended = True
        return seen[0]

    def lines() -> Iterator[bytes]:
        if ended:
            yield from io.BytesIO(seen[0])
        else:
            with pipe:
                yield from chain(seen, pipe)

    first, second = two_lines(remembered())
    known = known_start(b"".join(seen[:1]), name)
    return Source(name, framing_of(first, second, whole, name, at), None, lines, whole, known, first is None)


def known_start(head: bytes, name: str) -> bool:
    """Whether a source begins with a byte-order mark. Raises `JobError` where its first bytes say that it is
    nothing that can be read here."""
    foreign = next((what for magic, what in FOREIGN.items() if head.startswith(magic)), None)
    if foreign:
        raise JobError(f"{name} is {foreign}; unpack it first, or give it to turncodec migrate")
    if encoding := other_encoding(head):
        raise JobError(f"{name} is {encoding}; convert it first: iconv -f {encoding} -t UTF-8")
    return head.startswith(BOM)


# ---------------------------------------------------------------- how it is cut


def two_lines(lines: Iterator[bytes]) -> tuple[bytes | None, bytes | None]:
    """The first two lines that are not blank."""
    telling = (line for line in lines if line.removeprefix(BOM).strip())
    first = next(telling, None)
    return first and first.removeprefix(BOM), next(telling, None)


def framing_of(
    first: bytes | None, second: bytes | None, whole: Callable[[], Buffer], name: str, at: str | None
) -> Framing:
    if first is None or (second is not None and is_json(first)):
        return "lines"
    named = name.endswith(LINE_NAMES)
    if named and second is None:
        return "lines"
    if (named or is_container(second) or len(first) >= LONGEST_FIRST_LINE) and not is_json(without_bom(whole())):
        return "lines"
    return "array" if is_array_of_records(whole(), at) else "document"


def is_json(data: bytes | memoryview) -> bool:
    try:
        _any(data)
    except UNREADABLE:
        return False
    return True


def is_container(line: bytes | None) -> bool:
    return line is not None and line.lstrip()[:1] in (b"{", b"[") and is_json(line)


def without_bom(whole: Buffer) -> memoryview:
    return memoryview(whole)[start(whole) :]


def start(whole: Buffer) -> int:
    return len(BOM) if whole[: len(BOM)] == BOM else 0


def is_array_of_records(whole: Buffer, at: str | None = None) -> bool:
    """Whether a source is an array of which each element is a record."""
    if not _ARRAY.match(whole, start(whole)):
        return False
    if _EMPTY.fullmatch(whole, start(whole)):
        return True
    key = next(map(str, path_of(at or "")), None)
    told = (is_record(whole[begin:end], key) for begin, end in scanned(whole))
    return next((answer for answer in told if answer is not None), False)


def is_record(element: bytes, key: str | None) -> bool | None:
    """Whether an element of an array is a record (or else a turn of one transcript); None where it cannot tell. `key`
    is one that only records have."""
    if element[:1] == b"[":
        return True
    try:
        found = _object(element)
    except UNREADABLE:
        return None
    holds_turns = any(bytes(found[turns])[:1] == b"[" for turns in TRANSCRIPT_KEYS if turns in found)
    return holds_turns or key in found or not ("role" in found or "type" in found)


# ---------------------------------------------------------------- cutting


def of_lines(lines: Iterable[bytes], name: str, offset: int = 0) -> Iterator[Record]:
    """The records of lines: every line that is not blank. `offset` is where the first line stands in its source."""
    ordinal = 0
    for number, line in enumerate(lines, 1):
        data = line.rstrip(b"\r\n")
        skipped = len(BOM) if offset == 0 and data.startswith(BOM) else 0
        data = data[skipped:]
        if data.strip(SPACE):
            ordinal += 1
            yield Record(data, name, ordinal, number, offset + skipped)
        offset += len(line)


def of_spans(whole: Buffer, cut: Callable[[Buffer], Iterable[Span]], name: str) -> Iterator[Record]:
    """The records of a source that was cut into spans."""
    line, last = 1, 0
    for ordinal, (begin, end) in enumerate(cut(whole), 1):
        line += whole[last:begin].count(b"\n")
        last = begin
        yield Record(whole[begin:end], name, ordinal, line, begin)


def everything(whole: Buffer) -> list[Span]:
    """All of it, without the space around."""
    begin = past(_SPACE, whole, start(whole))
    return [(begin, begin + len(whole[begin:].rstrip(SPACE)))]


def elements(whole: Buffer) -> Iterator[Span]:
    """The elements of an array, or what is left of them where it has a fault."""
    try:
        parsed = _list(without_bom(whole))
    except UNREADABLE:
        yield from scanned(whole)
        return
    gap, end = _OPENING, start(whole)
    for element in parsed:
        begin = past(gap, whole, end)
        end = begin + len(memoryview(element))
        yield begin, end
        gap = _COMMA


def scanned(whole: Buffer) -> Iterator[Span]:
    """The elements of an array that is perhaps none: cut at its commas, whatever stands between them. What follows
    its end, or the piece where it breaks off, is one more element."""
    depth = begin = 0
    for token in _TOKEN.finditer(whole, start(whole)):
        mark = token[0]
        if mark in (b"[", b"{"):
            depth += 1
            if depth == 1:
                begin = token.end()
        elif mark in (b"]", b"}"):
            depth -= 1
        if depth == 0 or (depth == 1 and mark == b","):
            yield trimmed(whole, begin, token.start())
            begin = token.end()
            if depth == 0:
                break
    if whole[begin:].strip(SPACE):
        yield trimmed(whole, begin, len(whole))


def trimmed(whole: Buffer, begin: int, end: int) -> Span:
    begin = min(past(_SPACE, whole, begin), end)
    return begin, begin + len(whole[begin:end].rstrip(SPACE))


def past(pattern: re.Pattern[bytes], whole: Buffer, position: int) -> int:
    """Where a pattern that stands at a position ends."""
    found = pattern.match(whole, position)
    return found.end() if found else position


_SPACE = re.compile(rb"[ \t\r\n]*")
_ARRAY = re.compile(rb"[ \t\r\n]*\[")
_EMPTY = re.compile(rb"[ \t\r\n]*\[[ \t\r\n]*\][ \t\r\n]*")
_OPENING = re.compile(rb"[ \t\r\n]*\[[ \t\r\n]*")
_COMMA = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")
_TOKEN = re.compile(rb'"(?:[^"\\]+|\\.)*+"|[\[\]{},]', re.DOTALL)
