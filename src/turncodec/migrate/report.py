"""What is said about a run: the tally and the files for a person, every refusal for a person or a program, and a bar
while it goes on. Makes text; printing it is for the command line."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TextIO

from turncodec.edge import encode
from turncodec.migrate.jobs import Targets
from turncodec.migrate.outcomes import OPPOSITE, Settings, Stopped
from turncodec.migrate.records import Record, Source
from turncodec.migrate.run import Pairs, Tally, Watch, at, shown, standing
from turncodec.migrate.targets import Write
from turncodec.refusals import Refusal

LONGEST_FOUND = 100

# ---------------------------------------------------------------- the tally


def sum_of(tally: Tally, done: str = "translated", left: str = "passed through") -> str:
    """The line in which everything adds up."""
    return f"{tally.read:,} read = {tally.translated:,} {done} + {tally.refused:,} refused + {tally.passed:,} {left}"


def reasons(tally: Tally, in_words: bool = False) -> Iterator[str]:
    """The refusals by code: how many records, where the first one stands, and what can be done. `in_words`: and what
    the first one says."""
    rows = [("refused because of", "records", "first at", "")]
    said = [""]
    for code, reason in sorted(tally.reasons.items(), key=lambda item: -item[1].records):
        way = f"--allow {code}" if reason.allowable else f"turncodec explain {code}"
        rows.append((code, f"{reason.records:,}", reason.at, way))
        said.append(f"  {in_short(reason.first)}")
    if tally.reasons:
        yield ""
        for row, words in zip(table(rows, right=(1,)), said, strict=True):
            yield row
            if in_words and words:
                yield words


def in_short(refusal: Refusal) -> str:
    """What was found, cut where it is long, and what to do."""
    found = shown(refusal.message)
    cut = found if len(found) <= LONGEST_FOUND else f"{found[: LONGEST_FOUND - 3]}..."
    return f"{cut}. {shown(refusal.hint)}"


def unasked(tally: Tally, requests: Path | None) -> Iterator[str]:
    """The answers that echo defaults, because their requests are not in the file of requests."""
    if tally.unasked:
        which = f"{counted(tally.unasked, 'answer')} without a request in {requests}, first at {tally.first_unasked}"
        yield f"{which}: in place of its settings there are the defaults"


def files(tally: Tally, targets: Targets) -> Iterator[str]:
    """What was written where, and what was not kept."""
    rows = []
    if targets.out and targets.out.exists():
        rows.append((str(targets.out), counted(tally.translated + tally.passed, "record")))
    if targets.remainder and tally.remainders + tally.passed:
        rows.append((str(targets.remainder), f"what {tally.remainders:,} of them need to come back"))
    if targets.refused and tally.refused:
        rows.append((str(targets.refused), f"{counted(tally.refused, 'refused record')}, whole"))
    if rows:
        yield ""
        yield from table(rows)


def not_kept(tally: Tally, targets: Targets) -> Iterator[str]:
    """What a run could have kept and had no file for."""
    lost = {"remainder": tally.remainders, "refused": tally.refused}
    for what, number in lost.items():
        if number and not getattr(targets, what):
            yield f"not kept: the {what} of {counted(number, 'record')}; --out or --{what} FILE would keep it"


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def allowable(tally: Tally) -> list[str]:
    """The codes that would let something through."""
    return [code for code, reason in tally.reasons.items() if reason.allowable]


def way_back(tally: Tally, targets: Targets, settings: Settings) -> dict[str, object]:
    """The options with which `restore` gives the originals back."""
    return {
        "to": None if tally.remainders else OPPOSITE[settings.to],
        "remainder": targets.remainder if tally.remainders + tally.passed else None,
        "refused": targets.refused if tally.refused else None,
        "at": settings.back().at,
        "kind": settings.kind,
        "request-at": settings.request_at,
        "response-at": settings.response_at,
    }


def command(*words: str) -> str:
    """A command as one types it."""
    return shlex.join(["turncodec", *words])


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Iterator[str]:
    """Rows as lines of aligned columns; the columns in `right` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if n in right else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


# ---------------------------------------------------------------- every refusal


def as_text(pairs: Pairs, write: Write, watch: Watch | None = None) -> Tally:
    """Each refusal as one line: where, what, and what to do."""

    def refused(_: int, record: Record, refusal: Refusal) -> None:
        said = f"{at(record, refusal.pointer)}: {refusal.code}: {refusal.message}. {refusal.hint}"
        write(shown(said).encode() + b"\n")

    return listed(pairs, refused, watch)


def as_json(pairs: Pairs, write: Write, watch: Watch | None = None) -> Tally:
    """One JSON object: `refusals`, each with its place, and the numbers of the tally."""
    between = b'{"refusals":[\n'

    def refused(place: int, record: Record, refusal: Refusal) -> None:
        nonlocal between
        write(between + encode(standing(place, record) | refusal.as_json()))
        between = b",\n"

    tally = listed(pairs, refused, watch)
    write(b'{"refusals":[' if not tally.refused else b"\n")
    numbers = {"read": tally.read, "translated": tally.translated, "refused": tally.refused}
    write(b"]," + encode(numbers | {"passed_through": tally.passed})[1:] + b"\n")
    return tally


def listed(pairs: Pairs, refused: Callable[[int, Record, Refusal], None], watch: Watch | None) -> Tally:
    tally = Tally()
    for record, outcome in pairs:
        tally.count(record, outcome)
        if isinstance(outcome, Stopped):
            for refusal in outcome.refusals:
                refused(tally.read, record, refusal)
        if watch:
            watch(record, tally)
    return tally


# ---------------------------------------------------------------- while it goes on


class Bar:
    """One line on a terminal: how much is done, how fast, how much was refused. Rewritten ten times a second."""

    def __init__(self, stream: TextIO, sources: Sequence[Source]) -> None:
        self.stream = stream
        sizes = [source.size or 0 for source in sources]
        self.total = sum(sizes) if all(source.size is not None for source in sources) else None
        self.before = dict(zip((source.name for source in sources), accumulate(sizes, initial=0), strict=False))
        self.began = self.drawn = time.monotonic()
        self.width = 0

    def __call__(self, record: Record, tally: Tally) -> None:
        now = time.monotonic()
        if now - self.drawn >= 0.1:
            self.drawn = now
            self.draw(self.before.get(record.source, 0) + record.offset + len(record.data), tally, now - self.began)

    def draw(self, done: int, tally: Tally, seconds: float) -> None:
        much = f"{done / self.total:4.0%}  {size(done)} of {size(self.total)}" if self.total else size(done)
        text = f"{much}  {tally.read:,} records, {tally.read / seconds:,.0f}/s, {tally.refused:,} refused"
        self.stream.write("\r" + text.ljust(self.width))
        self.stream.flush()
        self.width = len(text)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        if self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()


def size(number: float) -> str:
    """A number of bytes as a person reads it."""
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB"
