"""What a migration of a table would do: how much there is to read, and what becomes of a sample. Writes nothing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from turncodec.migrate.outcomes import Stopped, Translated
from turncodec.migrate.report import counted, reasons, sum_of
from turncodec.migrate.run import Tally
from turncodec.store.plan import SAMPLE, SHOWN, kind, side_by_side
from turncodec.store.progress import span
from turncodec.store.proof import proven
from turncodec.tables.database import Database
from turncodec.tables.ledger import Asked
from turncodec.tables.migration import layout_of, record_of
from turncodec.tables.report import by_key


@dataclass(slots=True)
class Plan:
    """What there is to read, and what became of a sample."""

    asked: Asked
    transcripts: int
    nulls: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    shown: list[tuple[str, bytes, bytes]] = field(default_factory=list)
    seconds: float = 0.0

    def expected(self) -> float:
        """Seconds that the run may take: each transcript is translated once, and brought back once."""
        return 2 * self.transcripts * self.seconds / max(self.tally.read, 1)


def plan(base: Database, asked: Asked) -> Plan:
    """Look at a table, and translate a sample of it in memory. Raises `DatabaseFault`."""
    layout, how = layout_of(base, asked), asked.options.how()
    layout.refuse_unfit()
    made = Plan(asked, layout.count())
    began = time.perf_counter()
    for number, row in enumerate(layout.sample(SAMPLE), 1):
        if row.body is None:
            made.nulls += 1
            continue
        record = record_of(asked, row, number)
        outcome = proven(row.body, how.settings, how.verify)
        made.tally.count(record, outcome)
        if isinstance(outcome, Stopped):
            by_key(made.tally, record, outcome.refusals)
        made.kinds[kind(row.body, how.settings)] += 1
        if isinstance(outcome, Translated) and len(made.shown) < SHOWN:
            made.shown.append((record.source, row.body, outcome.data))
    made.seconds = time.perf_counter() - began
    return made


def told(made: Plan, where: str) -> Iterator[str]:
    """The plan for a person."""
    asked = made.asked
    yield f"{where}, {asked.table}: {counted(made.transcripts, 'transcript')}, to {asked.options.to}"
    yield ""
    kinds = ", ".join(f"{number:,} {name}" for name, number in made.kinds.most_common())
    yield f"of a sample of {counted(made.tally.read, 'transcript')} ({kinds or 'nothing'}):"
    yield sum_of(made.tally)
    yield from reasons(made.tally, in_words=True)
    for source, before, after in made.shown:
        yield ""
        yield source
        yield from side_by_side(before, after, asked.options)
    yield ""
    yield f"it may take {span(made.expected())}; nothing was written"
