"""What a migration would do: what there is to read, and what becomes of a sample of it. Writes nothing."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from turncodec.documents import kind_of
from turncodec.edge import decode, encode
from turncodec.formats import CHAT, RESPONSES
from turncodec.migrate.outcomes import Outcome, Settings, Translated
from turncodec.migrate.records import Record
from turncodec.migrate.report import counted, reasons, size, sum_of, table
from turncodec.migrate.run import Tally, at, shown
from turncodec.refusals import Refused, follow, path_of
from turncodec.store import pieces
from turncodec.store.ledger import Options
from turncodec.store.pieces import Piece, SourceFault
from turncodec.store.progress import span
from turncodec.store.proof import proven
from turncodec.store.sources import File, Found, find

SAMPLE = 1000
"""So many records are looked at in all, the first ones of each file or of files spread over all of them."""
SHOWN = 3
"""So many of those that were translated are shown."""
UNPACKED = 5
"""A packed file is taken to hold so many times its size."""
WIDTH = 120
MOST_FILES = 20


@dataclass(slots=True)
class Plan:
    """What there is to read, and what became of a sample."""

    found: Found
    options: Options
    workers: int
    kinds: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    shown: list[tuple[Record, Translated]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    bytes: int = 0
    seconds: float = 0.0

    def expected(self) -> float:
        """Seconds that the run may take."""
        much = sum(file.size * (UNPACKED if file.packing else 1) for file in self.found.files)
        return much * self.seconds / self.bytes / self.workers if self.bytes else 0.0


def plan(sources: Sequence[str], out: Path | None, options: Options, workers: int) -> Plan:
    """Look at the sources and translate a sample of them in memory. Raises `JobError`."""
    how = options.how()
    made = Plan(find(sources, out, how.settings), options, workers)
    for file, number in spread(made.found.files):
        try:
            for record in islice(records(file, options.column), number):
                began = time.perf_counter()
                outcome = proven(record.data, how.settings, how.verify)
                made.seconds += time.perf_counter() - began
                take(made, record, outcome, how.settings)
        except SourceFault as wrong:
            made.faults.append(str(wrong))
    return made


def spread(files: Sequence[File]) -> Iterator[tuple[File, int]]:
    """The files to look at, and how many records of each."""
    step = max(len(files) // SAMPLE, 1)
    looked_at = files[::step][:SAMPLE]
    for file in looked_at:
        yield file, max(SAMPLE // len(looked_at), 1)


def records(file: File, column: str | None) -> Iterator[Record]:
    if file.shape == "parquet":
        from turncodec.store import columns

        return columns.records(Piece(file, 0, 0, file.size), column)
    return pieces.records(Piece(file, 0, 0, file.size))


def take(made: Plan, record: Record, outcome: Outcome, settings: Settings) -> None:
    made.bytes += len(record.data)
    made.tally.count(record, outcome)
    made.kinds[kind(record.data, settings)] += 1
    if isinstance(outcome, Translated) and len(made.shown) < SHOWN:
        made.shown.append((record, outcome))


def kind(data: bytes, settings: Settings) -> str:
    """What a record is, in a word."""
    if settings.kind or settings.at is not None or settings.request_at or settings.response_at:
        return settings.kind or "row"
    try:
        return kind_of(decode(data), CHAT if settings.to == "responses" else RESPONSES)
    except Refused:
        return "no JSON"


# ---------------------------------------------------------------- in words


def told(made: Plan) -> Iterator[str]:
    """The plan for a person."""
    yield from sources(made)
    yield ""
    kinds = ", ".join(f"{number:,} {name}" for name, number in made.kinds.most_common())
    yield f"of a sample of {counted(made.tally.read, 'record')} ({kinds or 'nothing'}):"
    yield sum_of(made.tally)
    yield from reasons(made.tally, in_words=True)
    for record, outcome in made.shown:
        yield ""
        yield at(record, "")
        yield from side_by_side(record.data, outcome.data, made.options)
    yield ""
    yield f"it may take {span(made.expected())} with {counted(made.workers, 'worker')}; nothing was written"


def sources(made: Plan) -> Iterator[str]:
    files = sorted(made.found.files, key=lambda file: (-file.size, file.name))
    total = sum(file.size for file in files)
    yield f"{counted(len(files), 'file')}, {size(total)}, to {made.options.to}"
    rows = [(file.path, size(file.size), " ".join(filter(None, (file.shape, file.packing)))) for file in files]
    yield from ("  " + line for line in (table(rows[:MOST_FILES], right=(1,)) if rows else ()))
    if len(rows) > MOST_FILES:
        yield f"  and {len(rows) - MOST_FILES:,} smaller ones"
    yield from (f"not to be read: {shown(one.why)}" for one in made.found.unusable)
    yield from (f"not to be read: {shown(why)}" for why in made.faults)
    aside = made.found.left_aside
    if aside:
        yield f"left aside, by their names: {counted(len(aside), 'file')}, first {shown(aside[0])}"


def side_by_side(before: bytes, after: bytes, options: Options) -> Iterator[str]:
    """The turns of a record beside those of its translation."""
    settings = options.how().settings
    left = turns(decode(before.splitlines()[0] if options.kind else before), settings.at)
    right = turns(decode(after.splitlines()[0] if options.kind else after), settings.back().at)
    half = (min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH) - 7) // 2
    for one, other in zip_longest(left, right, fillvalue=""):
        yield f"  {cut(one, half).ljust(half)} | {cut(other, half)}".rstrip()


def turns(document: Any, at: str | None) -> list[str]:
    """The turns of a document, each on a line; of one that has none, its keys."""
    if at is not None:
        document = follow(document, path_of(at))
    if isinstance(document, dict):
        inner = next((document[key] for key in ("messages", "input", "output") if key in document), None)
        document = inner if isinstance(inner, list) else [{key: value} for key, value in document.items()]
    return [shown(encode(turn).decode()) for turn in document]


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
