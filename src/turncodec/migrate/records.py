"""Where records come from: files and pipes, cut into records. Knows framings, and nothing about what a record means.

How a source is cut is seen by parsing it, never by its name alone:

- *lines*: the first line is a JSON value by itself and there is another one. Each line is a record, blank lines are
  none. Held in memory line by line;
- *array*: one JSON array of records. An array is one transcript, and so one record, when its first telling element is
  a message or an item; it is an array of records when that element is a list, or holds a transcript, or is an object
  with neither `role` nor `type`;
- *document*: any other JSON value is one record.

What is no JSON as a whole is cut into lines where the name says so (`.jsonl`, `.ndjson`) or the second line is an
object or a list by itself; else it is one record. An array with a fault in it is cut into its elements all the same,
so that one bad record does not take the others with it. A file is read through a memory map where it must be seen
whole; a pipe is then held in memory.
"""

from __future__ import annotations

import mmap
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import msgspec

from turncodec.edge import BOM, other_encoding

Framing = Literal["lines", "array", "document"]
Buffer = bytes | memoryview

STDIN = "-"
LINE_NAMES = (".jsonl", ".ndjson")
TRANSCRIPT_KEYS = ("messages", "input", "conversations")
LONGEST_FIRST_LINE = 1 << 24
FOREIGN = {b"\x1f\x8b": "compressed with gzip", b"\x28\xb5\x2f\xfd": "compressed with zstd", b"PAR1": "a Parquet file"}


class SourceError(Exception):
    """A source that cannot be read at all, in one line for a person."""


class Record(NamedTuple):
    """One record of a source, as the bytes it is."""

    data: bytes
    source: str
    ordinal: int
    """How many records of this source have come so far, this one counted."""
    line: int
    offset: int
    """Where its first byte stands in the source."""

    @property
    def place(self) -> str:
        return f"{self.source}:{self.line}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file or a pipe that was looked at: how it is cut, and how big it is where that is known."""

    name: str
    framing: Framing
    size: int | None
    has_bom: bool
    held: bytes | None = None
    """What was read of a pipe to see how it is cut."""
    pipe: BinaryIO | None = None

    def records(self) -> Iterator[Record]:
        """The records. A pipe has them once. Raises OSError where reading fails."""
        if self.pipe is None:
            with Path(self.name).open("rb") as file:
                yield from self.cut(file)
        else:
            yield from self.cut(self.pipe)

    def cut(self, file: BinaryIO) -> Iterator[Record]:
        if self.framing == "lines":
            return self.lines(file)
        whole = self.held if self.held is not None else mapped(file)
        return elements(whole, self.name, start_of(whole)) if self.framing == "array" else document(whole, self.name)

    def lines(self, file: BinaryIO) -> Iterator[Record]:
        held = (self.held or b"").splitlines(keepends=True) if self.pipe else []
        return records_of_lines(chain(held, file), self.name)
