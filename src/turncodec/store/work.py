"""What a worker does: a piece of a file into part files, or the count of a file. Gives back numbers and digests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

from turncodec.migrate.outcomes import Outcome, PassedThrough, Settings, Stopped
from turncodec.migrate.records import Record
from turncodec.migrate.run import Tally, run
from turncodec.migrate.targets import Framed
from turncodec.store import pieces
from turncodec.store.parts import Part, Written, flush_folder, in_the_making
from turncodec.store.pieces import Piece
from turncodec.store.pool import Gauge
from turncodec.store.proof import FAULT, Verify, proven
from turncodec.store.sources import File


@dataclass(frozen=True, slots=True)
class How:
    """How records are to be translated and proven."""

    settings: Settings
    verify: Verify
    column: str | None = None
    """The column of a Parquet file that holds the JSON texts, where it was named."""


@dataclass(slots=True)
class Counts:
    """What became of records. `read == translated + refused + passed_through`; `faults` are refused for a fault of
    ours, `remainders` need one to come back."""

    read: int = 0
    translated: int = 0
    refused: int = 0
    passed_through: int = 0
    remainders: int = 0
    faults: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def add_up(self) -> bool:
        return self.read == self.translated + self.refused + self.passed_through


class Files(NamedTuple):
    """The files of a source or of a piece of it; None for one that has nothing to hold."""

    records: Written | None = None
    remainders: Written | None = None
    refused: Written | None = None
    rows: Written | None = None
    """The whole rows of refused records, where the source is a Parquet file."""


class Paths(NamedTuple):
    """Where these files are."""

    records: Path
    remainders: Path
    refused: Path
    rows: Path


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a piece: the digest of the source's bytes, how many lines begin in them, the numbers, the files."""

    source: str
    lines: int
    counts: Counts
    files: Files


@dataclass(frozen=True, slots=True)
class TranslatePiece:
    """The task to translate a piece of the file with a number in the ledger, into part files in a folder."""

    number: int
    piece: Piece
    folder: Path
    how: How

    def __call__(self, gauge: Gauge) -> Done:
        file = self.piece.file
        if file.shape == "parquet":
            from turncodec.store import columns

            return columns.translate(self, gauge)
        counts = Counts()
        outcomes = accounted(pieces.records(self.piece), self.how, counts)
        paths = part_paths(self.folder, part_name(self.piece.number))
        tally, files = write(outcomes, file, paths, gauge, self.how.verify != "none", self.piece.begin)
        digest = pieces.source_digest(self.piece)
        lines = pieces.lines_in(self.piece) if is_cut(file) else 0
        return Done(digest, lines, tallied(counts, tally), files)


@dataclass(frozen=True, slots=True)
class CountRecords:
    """The task to count the records of a source."""

    number: int
    file: File

    def __call__(self, _: Gauge) -> int:
        return pieces.count(self.file)


def is_cut(file: File) -> bool:
    """Whether a file may have several pieces of lines."""
    return file.shape == "lines" and not file.packing and file.size > 0


def part_name(number: int) -> str:
    """What the part files of a piece are called, before their suffixes."""
    return f"{number:06}"


def accounted(
    records: Iterator[Record], how: How, counts: Counts, is_nothing: Callable[[Record], bool] = lambda _: False
) -> Iterator[tuple[Record, Outcome]]:
    """The outcomes of records, and the faults of ours among them. What is nothing, as a null in a column, passes."""
    for record in records:
        if is_nothing(record):
            yield record, PassedThrough(record.data)
            continue
        outcome = proven(record.data, how.settings, how.verify)
        counts.faults += is_fault(outcome)
        yield record, outcome


def is_fault(outcome: Outcome) -> bool:
    return isinstance(outcome, Stopped) and any(refusal.code == FAULT for refusal in outcome.refusals)


def tallied(counts: Counts, tally: Tally) -> Counts:
    return Counts(tally.read, tally.translated, tally.refused, tally.passed, tally.remainders, counts.faults)


def write(
    outcomes: Iterator[tuple[Record, Outcome]],
    file: File,
    paths: Paths,
    gauge: Gauge,
    is_checked: bool,
    begin: int = 0,
) -> tuple[Tally, Files]:
    """Write outcomes as `turncodec.migrate.run` writes them for one file: records, remainders, refused. `begin` is
    where the bytes begin that they are cut from; `is_checked`: what was written is read again."""

    def watch(record: Record, tally: Tally) -> None:
        gauge.show(record.offset + len(record.data) - begin, tally.read, tally.refused)

    assert file.shape != "parquet"
    parts = Part(paths.records, file.packing), Part(paths.remainders), Part(paths.refused)
    with in_the_making(*parts):
        records, remainders, refused = parts
        if file.shape != "document":
            records.open()
        tally = run(outcomes, Framed(records.write, file.shape), remainders.write, refused.write, watch)
        files = Files(*(part.commit(is_checked) for part in parts))
    for folder in {path.parent for path in paths}:
        flush_folder(folder)
    return tally, files


def part_paths(folder: Path, name: str) -> Paths:
    """The files of a piece, or what they are joined to, in the folder of their source."""
    return Paths(*(folder / f"{name}.{field}" for field in Paths._fields))
