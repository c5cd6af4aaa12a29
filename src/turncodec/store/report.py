"""What was done, as a record for programs. Reads the ledger and the refused files; what it looks like is for `page`."""

from __future__ import annotations

import json
import platform
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import turncodec
from turncodec.edge import decode, encode
from turncodec.equality import same
from turncodec.migrate import restore
from turncodec.migrate.outcomes import Settings, Translated, outcome
from turncodec.migrate.records import of_lines
from turncodec.migrate.restore import Kept
from turncodec.migrate.run import Tally, at, kept, shown
from turncodec.migrate.targets import write_whole
from turncodec.refusals import CODES, Refusal, Refused, path_of
from turncodec.store.ledger import Options, Retry
from turncodec.store.migration import Store, unequal
from turncodec.store.proof import FAULT
from turncodec.store.work import Counts

EXAMPLES = 3
AROUND, LONGEST = 12, 160
"""How many lines of a record are shown around a place, and how much of each."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an example; `is_here`: it belongs to the place that is refused."""

    text: str
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """A refused record: where it stands, what is so, the lines around the place, what allowing the code would do."""

    file: str
    line: int
    ordinal: int
    pointer: str
    message: str
    hint: str
    before: list[Line]
    allowed: list[Line]


@dataclass(slots=True)
class CodeReport:
    """A refusal code, how many records it concerns, and the first of them."""

    code: str
    meaning: str
    allowing: str | None
    """What allowing it does, or null where that is not possible for all of them."""
    records: int = 0
    examples: list[Example] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FileReport:
    """A source. `state` is `placed` where all of it is done; `why` says why not. The digests are the SHA-256 of the
    source (by piece) and of the files in the store; null where there is no such file."""

    name: str
    source: str
    bytes: int
    shape: str
    packing: str
    state: str
    why: str
    counts: Counts
    counted: int | None
    """How many records the source has by its own count."""
    source_digests: list[str]
    records_digest: str | None
    remainders_digest: str | None
    refused_digest: str | None
    rows_digest: str | None
    """Of the whole rows of refused records of a Parquet file."""


@dataclass(frozen=True, slots=True)
class Timings:
    """How long the last run took. Nothing else of a store depends on a clock."""

    seconds: float
    workers: int
    bytes: int
    """Bytes of the sources that this run has gone through."""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a store. In `totals`, as in each file, `read == translated + refused + passed_through`."""

    turncodec: str
    rules: str
    python: str
    options: Options
    is_complete: bool
    """Whether every source is done, and all numbers add up."""
    totals: Counts
    files: list[FileReport]
    refusals: list[CodeReport]
    unequal: list[str]
    """Where the numbers do not add up; empty unless turncodec is at fault."""
    left_aside: list[str]
    """Files of the folders that were not asked for, by their names."""
    retries: list[Retry]
    timings: Timings


def made(store: Store, left_aside: list[str], timings: Timings) -> Report:
    """The report of a store as it is now."""
    ledger = store.ledger
    entries = ledger.entries()
    files = []
    for entry in entries:
        sources = [done.source for done in ledger.done(entry.number).values()]
        digests = [written.digest if written else None for written in entry.files]
        told = (entry.file.shape, entry.file.packing, entry.state, shown(entry.why), entry.counts, entry.counted)
        files.append(FileReport(entry.file.name, shown(entry.file.path), entry.file.size, *told, sources, *digests))
    wrong = [f"{one.name}: {one.said}" for one in unequal(entries)]
    complete = not wrong and all(entry.state == "placed" and entry.counted is not None for entry in entries)
    totals = sum((entry.counts for entry in entries), Counts())
    return Report(
        turncodec.__version__,
        ledger.rules,
        platform.python_version(),
        ledger.options,
        complete,
        totals,
        files,
        codes(store),
        wrong,
        left_aside,
        ledger.retries(),
        timings,
    )


def write(report: object, path: Path) -> None:
    write_whole(path, json.dumps(decode(encode(report)), indent=1, ensure_ascii=False).encode() + b"\n")


# ---------------------------------------------------------------- the refused records


def refused(store: Store) -> Generator[tuple[Kept, list[Refusal]], None, None]:
    """Every refused record of a store, in the order of the files and of their records. Raises `JobError`."""
    for entry in store.ledger.entries():
        path = store.paths(entry.file).refused
        if entry.state == "placed" and entry.files.refused is not None:
            with path.open("rb") as file:
                for record in of_lines(file, str(path)):
                    line = decode(record.data)
                    reasons = [Refusal(**refusal) for refusal in line["refusals"]]
                    yield next(restore.kept_records([record])), reasons


def tally(store: Store) -> Tally:
    """The refusals by code, as they are told on a terminal."""
    made = Tally()
    for one, refusals in refused(store):
        made.note(one.record, refusals)
    return made


def codes(store: Store) -> list[CodeReport]:
    """The refusals of a store by code."""
    with closing(refused(store)) as records:
        return by_code(records, store.ledger.options.how().settings)


def by_code(records: Iterable[tuple[Kept, list[Refusal]]], settings: Settings) -> list[CodeReport]:
    """The refusals of records by code, those that concern most records first, each with its first examples."""
    found: dict[str, CodeReport] = {}
    for one, refusals in records:
        for code in dict.fromkeys(refusal.code for refusal in refusals):
            first = next(refusal for refusal in refusals if refusal.code == code)
            told = found.setdefault(code, CodeReport(code, CODES[code].meaning, CODES[code].allowing))
            told.records += 1
            if not all(refusal.allowable for refusal in refusals if refusal.code == code):
                told.allowing = None
            if len(told.examples) < EXAMPLES:
                told.examples.append(example(one, first, refusals, settings))
    return sorted(found.values(), key=lambda told: (-told.records, told.code))


def example(one: Kept, refusal: Refusal, all_of_it: list[Refusal], settings: Settings) -> Example:
    record = one.record
    standing = (shown(record.source), record.line, record.ordinal)
    said = (shown(refusal.pointer), shown(refusal.message), shown(refusal.hint))
    return Example(*standing, *said, before(record.data, refusal), allowed(record.data, all_of_it, settings))


def before(data: bytes, refusal: Refusal) -> list[Line]:
    """The lines of a record around the place of a refusal."""
    try:
        lines = list(lines_of(decode(data), path_of(refusal.pointer)))
    except (Refused, RecursionError):
        text = data[: LONGEST * AROUND].decode(errors="backslashreplace")
        return [Line(shown(text[at : at + LONGEST]), True) for at in range(0, len(text), LONGEST)]
    here = next((n for n, line in enumerate(lines) if line.is_here), 0)
    begin, end = max(here - AROUND, 0), here + AROUND
    cut = [Line("...")] if begin else []
    return cut + lines[begin:end] + ([Line("...")] if end < len(lines) else [])


def lines_of(
    value: Any, place: tuple[str | int, ...] | None, key: str = "", depth: int = 0, end: str = ""
) -> Iterator[Line]:
    """A value as indented JSON. `place` is the path from here to what is marked; None where that is elsewhere."""
    is_here = place == ()
    indent = "  " * depth
    if isinstance(value, dict | list) and value:
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        yield Line(shown(f"{indent}{key}{opening}"), is_here)
        entries = list(value.items() if isinstance(value, dict) else enumerate(value))
        for n, (step, inner) in enumerate(entries, 1):
            leads_on = place is not None and len(place) > 0 and str(place[0]) == str(step)
            name = f"{json.dumps(step, ensure_ascii=False)}: " if isinstance(value, dict) else ""
            rest = () if is_here else place[1:] if place and leads_on else None
            yield from lines_of(inner, rest, name, depth + 1, "," if n < len(entries) else "")
        yield Line(indent + closing + end, is_here)
    else:
        text = shown(indent + key + encode(value).decode() + end)
        yield Line(text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}...", is_here)


def allowed(data: bytes, refusals: list[Refusal], settings: Settings) -> list[Line]:
    """What would become of a record if all of its codes that can be allowed were."""
    never = sorted({refusal.code for refusal in refusals if not refusal.allowable})
    if never:
        return [Line(f"{', '.join(never)} cannot be allowed: {CODES[never[0]].hint}")]
    also = frozenset(refusal.code for refusal in refusals)
    more = Settings(settings.to, settings.kind, settings.allow | also, settings.at, settings.request_at)
    made = outcome(data, more)
    head = Line(f"--allow {','.join(sorted(also))}")
    if not isinstance(made, Translated):
        return [head, Line("is not enough: the record is refused for other reasons then")]
    if made.remainder is None:
        return [head, Line("the record goes across, and nothing needs to be kept beside it")]
    lines = [line for op in made.remainder["patch"] for line in lines_of(op, None)]
    cut = lines[: 2 * AROUND] + ([Line("...")] if len(lines) > 2 * AROUND else [])
    return [head, Line("the record goes across; kept beside it, to come back:"), *cut]


# ---------------------------------------------------------------- faults of ours


def write_faults(store: Store) -> list[Path]:
    """A ready-made report for every record that was refused for a fault of turncodec. Gives the files."""
    folder = store.folder / "faults"
    written: list[Path] = []
    for one, refusals in refused(store):
        if any(refusal.code == FAULT for refusal in refusals):
            folder.mkdir(exist_ok=True)
            path = folder / f"{len(written) + 1:04}.json"
            write_whole(path, fault(one, refusals, store) + b"\n")
            written.append(path)
    return written


def fault(one: Kept, refusals: list[Refusal], store: Store) -> bytes:
    report = {
        "title": f"{FAULT}: {refusals[0].message}",
        "turncodec": store.ledger.rules,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "options": store.ledger.options,
        "at": at(one.record, refusals[0].pointer),
        "refusals": [refusal.as_json() for refusal in refusals],
        **kept(one.record.data),
    }
    return encode(report)


def is_same_report(one: Report, other: Report) -> bool:
    """Whether two reports say the same, timings apart."""
    plain = [decode(encode(report)) | {"timings": None} for report in (one, other)]
    return same(*plain)
