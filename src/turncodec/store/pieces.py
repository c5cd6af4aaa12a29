"""How a file is cut into pieces of work, and the records of a piece. Knows bytes and framings.

A plain file of lines is cut every 16 MB: a line belongs to the piece in which its first byte stands. Where the cuts are
depends on the file alone, never on the number of workers, so that the same pieces are done whoever does them. A Parquet
file is cut into its row groups. Anything else is one piece.
"""

from __future__ import annotations

import hashlib
import io
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from turncodec.edge import BOM
from turncodec.migrate.packing import Packing, unpacked, unreadable
from turncodec.migrate.records import SPACE, Record, elements, everything, of_lines, of_spans
from turncodec.store.sources import File, Shape

PIECE = 16 << 20
BLOCK = 1 << 20


class SourceFault(Exception):
    """A source that cannot be read any further, or is not what it was: one line that says which and why."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file: bytes of a file of lines, or all of it. For a row group of a Parquet file, whose number is
    `number`, a like share of its bytes stands."""

    file: File
    number: int
    begin: int
    end: int


def cut(file: File) -> list[Piece]:
    """The pieces of a file. Raises `SourceFault`."""
    if file.shape == "parquet":
        from turncodec.store import columns

        groups = columns.row_groups(file)
        ends = [file.size * number // groups for number in range(groups + 1)]
        return [Piece(file, number, ends[number], ends[number + 1]) for number in range(groups)]
    if file.shape != "lines" or file.packing or not file.size:
        return [Piece(file, 0, 0, file.size)]
    begins = range(0, file.size, PIECE)
    return [Piece(file, number, begin, min(begin + PIECE, file.size)) for number, begin in enumerate(begins)]


def records(piece: Piece) -> Iterator[Record]:
    """The records of a piece; their ordinals and lines are counted from the beginning of it. Raises `SourceFault`."""
    file = piece.file
    if file.shape == "lines" and not file.packing:
        source = lines_between(piece)
    else:
        source = of_file(file.path, file.shape, file.packing)
    refuse_changed(file)
    yield from blamed(source, file)
    refuse_changed(file)


def blamed(source: Iterator[Record], file: File) -> Iterator[Record]:
    """Records, of which each step of reading that goes wrong is the source's fault; what is done with a record between
    two steps is not."""
    faults = unreadable()
    while True:
        try:
            record = next(source)
        except StopIteration:
            return
        except faults as wrong:
            raise fault(file, wrong) from wrong
        yield record


def fault(file: File, wrong: Exception) -> SourceFault:
    return SourceFault(f"{file.path}: {(getattr(wrong, 'strerror', None) or str(wrong)).lower()}")


def refuse_changed(file: File) -> None:
    """Raise `SourceFault` where a source is not what it was when it was looked at."""
    try:
        status = Path(file.path).stat()
    except OSError as wrong:
        raise fault(file, wrong) from wrong
    if (status.st_size, status.st_mtime_ns) != (file.size, file.mtime_ns):
        raise SourceFault(f"{file.path} was changed since it was looked at")


def of_file(path: str, shape: Shape, packing: Packing) -> Iterator[Record]:
    """The records of a file of which it is known how it is cut."""
    with Path(path).open("rb", buffering=BLOCK) as raw, unpacked(raw, packing) as file:
        if shape == "lines":
            yield from of_lines(file, path)
            return
        data = file.read() if packing else mapped(raw)
        yield from of_spans(data, elements if shape == "array" else everything, path)


def mapped(file: BinaryIO) -> bytes | mmap.mmap:
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size else b""


def lines_between(piece: Piece) -> Iterator[Record]:
    with Path(piece.file.path).open("rb", buffering=BLOCK) as file:
        begin = first_line(file, piece.begin)
        yield from of_lines(until(file, begin, piece.end), piece.file.path, begin)


def first_line(file: BinaryIO, begin: int) -> int:
    """Where the first line begins that begins at a position or behind it."""
    if not begin:
        return 0
    file.seek(begin - 1)
    while True:
        line = file.readline(BLOCK)
        if not line or line.endswith(b"\n"):
            return file.tell()


def until(file: BinaryIO, position: int, end: int) -> Iterator[bytes]:
    """The lines that begin before the end."""
    while position < end:
        line = file.readline()
        if not line:
            return
        yield line
        position += len(line)


# ---------------------------------------------------------------- known again


def digest_of(path: str | os.PathLike[str], begin: int = 0, end: int | None = None) -> str:
    """The SHA-256 of the bytes of a file, or of some of them."""
    digest = hashlib.sha256()
    for block in blocks(path, begin, end):
        digest.update(block)
    return digest.hexdigest()


def blocks(path: str | os.PathLike[str], begin: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The bytes of a file, or those between two positions."""
    with Path(path).open("rb", buffering=0) as file:
        left = (file.seek(0, io.SEEK_END) if end is None else end) - begin
        file.seek(begin)
        while left > 0 and (block := file.read(min(BLOCK, left))):
            yield block
            left -= len(block)


def source_digest(piece: Piece) -> str:
    """The digest of the bytes of the source that a piece stands for."""
    try:
        return digest_of(piece.file.path, piece.begin, piece.end)
    except OSError as wrong:
        raise fault(piece.file, wrong) from wrong


def lines_in(piece: Piece) -> int:
    """How many lines begin in a piece of a plain file: each but the very first stands behind a newline."""
    lines = int(piece.begin == 0)
    for block in blocks(piece.file.path, max(piece.begin - 1, 0), piece.end - 1):
        lines += block.count(b"\n")
    return lines


def count(file: File) -> int:
    """How many records a file has, by its own count: over all of it at once, whatever pieces it was cut into. Raises
    `SourceFault`."""
    try:
        return count_of(file.path, file.shape, file.packing)
    except unreadable() as wrong:
        raise fault(file, wrong) from wrong


def count_of(path: str | os.PathLike[str], shape: Shape, packing: Packing) -> int:
    if shape == "parquet":
        from turncodec.store import columns

        return columns.rows(path)
    with Path(path).open("rb", buffering=BLOCK) as raw, unpacked(raw, packing) as file:
        if shape == "lines":
            first = file.readline().removeprefix(BOM)
            return sum(1 for line in chain([first], file) if line.lstrip(SPACE))
        data = file.read() if packing else mapped(raw)
        return sum(1 for _ in (elements(data) if shape == "array" else everything(data)))
