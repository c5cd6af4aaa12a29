"""What was done with a table: a record for programs, a page for a person, lines for a terminal."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from html import escape

import turncodec
from turncodec.migrate import report as words
from turncodec.migrate.records import Record
from turncodec.migrate.report import counted
from turncodec.migrate.run import Reason, Tally, shown
from turncodec.refusals import Refusal
from turncodec.store.ledger import Retry
from turncodec.store.page import HEAD, STYLE, bar, by_code
from turncodec.store.progress import span
from turncodec.store.report import CodeReport, Timings
from turncodec.store.report import by_code as codes_of
from turncodec.tables.ledger import Asked
from turncodec.tables.migration import Account, Counts, Migration, refused


@dataclass(frozen=True, slots=True)
class Fault:
    """A translation that does not come back from the database: a fault of turncodec."""

    key: str
    said: str


@dataclass(frozen=True, slots=True)
class TableReport:
    """What became of a table, read back from the database. In `totals`, `read == translated + refused + passed_through
    + changed_meanwhile`."""

    turncodec: str
    rules: str
    python: str
    asked: Asked
    compared: str
    """How the translations were compared with what was read: `exactly`, or `by value` where the type of the column
    changes the spelling of numbers and the order of keys."""
    totals: Counts
    records_digest: str
    """SHA-256 of what came out, in the order of the keys, as of a file of lines."""
    remainders_digest: str
    """SHA-256 of its remainder file, likewise."""
    refusals: list[CodeReport]
    changed: list[str]
    """The keys of the first that were changed meanwhile; a run with --resume takes them again."""
    faults: list[Fault]
    retries: list[Retry]
    timings: Timings


def made(migration: Migration, account: Account, seconds: float) -> TableReport:
    """The report of a migration as it is now."""
    is_kept = migration.base.is_kept(migration.layout.column.type)
    with closing(refused(migration)) as records:
        codes = codes_of(records, migration.how().settings)
    return TableReport(
        turncodec.__version__,
        migration.ledger.rules,
        platform.python_version(),
        migration.asked,
        "exactly" if is_kept else "by value",
        account.counts,
        account.records.hexdigest(),
        account.remainders.hexdigest(),
        codes,
        account.changed,
        [Fault(*fault) for fault in account.faults],
        migration.ledger.retries(),
        Timings(round(seconds, 3), 1, 0),
    )


# ---------------------------------------------------------------- on a terminal


def sum_of(counts: Counts) -> str:
    """The line in which everything adds up."""
    told = f"{counts.read:,} read = {counts.translated:,} translated + {counts.refused:,} refused"
    told += f" + {counts.passed_through:,} passed through"
    return told + (f" + {counts.changed_meanwhile:,} changed meanwhile" if counts.changed_meanwhile else "")


def tally_of(migration: Migration) -> Tally:
    """The refusals by code, each with the key of the first."""
    tally = Tally()
    with closing(refused(migration)) as records:
        for one, refusals in records:
            tally.note(one.record, refusals)
            by_key(tally, one.record, refusals)
    return tally


def by_key(tally: Tally, record: Record, refusals: Iterable[Refusal]) -> None:
    """Say of what was just counted by which key it is found; a table has no lines."""
    for code in {refusal.code for refusal in refusals}:
        reason = tally.reasons[code]
        if reason.records == 1:
            at = f"{record.source} {shown(reason.first.pointer)}".rstrip()
            tally.reasons[code] = Reason(1, at, reason.first, reason.allowable)


def told(migration: Migration, report: TableReport, again: str) -> Iterator[str]:
    """What is said of a migration at its end. `again` is how one goes on with it."""
    asked, counts, folder = migration.asked, report.totals, migration.folder
    yield sum_of(counts)
    tally = tally_of(migration)
    yield from words.reasons(tally, in_words=True)
    yield ""
    yield from words.table(list(places(asked, counts, str(folder))))
    if report.compared == "by value":
        yield "jsonb keeps the values of numbers and not their spelling, and no order of keys: compared by value"
    if counts.gone:
        yield f"{counted(counts.gone, 'transcript')} that was looked at is not there any more"
    yield from (f"a fault of turncodec, {asked.table} {asked.key}={one.key}: {one.said}" for one in report.faults)
    if counts.changed_meanwhile:
        first = ", ".join(report.changed[:3]) or "at the end of the table"
        yield f"\nchanged by others meanwhile, and left as it is, first {first}; take it again:\n  {again}"
    if more := words.allowable(tally):
        yield f"\nlet through what can be:\n  {words.command('retry', str(folder), '--allow', ','.join(sorted(more)))}"
    if counts.translated:
        yield f"\nthe originals again:\n  {words.command('restore', str(folder))}"


def places(asked: Asked, counts: Counts, folder: str) -> Iterator[tuple[str, str]]:
    """What is where."""
    came_out = counted(counts.translated, "translation")
    if asked.in_place:
        yield f"{asked.table}.{asked.column}", f"{came_out}, in place"
        yield asked.backup, "what the column held before"
    elif asked.into_column:
        yield f"{asked.table}.{asked.into_column}", came_out
    else:
        yield asked.into, came_out
    yield asked.notes, f"what became of each; what {counts.remainders:,} of them need to come back"
    if counts.refused:
        yield f"{folder}/refused.jsonl", f"{counted(counts.refused, 'refused transcript')}, whole"
    yield f"{folder}/report.html", "what became of it, with examples"


# ---------------------------------------------------------------- the page


def page(report: TableReport) -> str:
    """The report as one page for a person."""
    title = {"responses": "Open Responses", "chat": "Chat Completions"}[report.asked.options.to]
    name = f"{report.asked.table} to {title}"
    parts = [
        f"{HEAD}<title>{escape(name)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
        f"<h1>{escape(name)}</h1>",
        *summary(report),
        *by_code(report.refusals),
        *details(report),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def summary(report: TableReport) -> Iterator[str]:
    counts = report.totals
    how = {
        "full": f"read back from the database, brought back and compared {report.compared}",
        "values": "read back from the database",
        "none": "written",
    }
    yield f"<p>Each translated transcript was {how[report.asked.options.verify]}; each refused one is kept whole.</p>"
    yield f'<p class="quiet">{span(report.timings.seconds)} &middot; turncodec {escape(report.rules)}</p>'
    numbers = {
        "read": counts.read,
        "translated": counts.translated,
        "refused": counts.refused,
        "passed through": counts.passed_through,
        "changed meanwhile": counts.changed_meanwhile,
    }
    yield '<dl class="totals">'
    for name, number in numbers.items():
        yield f"<div><dt>{name}</dt><dd>{number:,}</dd></div>"
    yield "</dl>"
    parts = (("ok", counts.translated), ("as", counts.passed_through), ("no", counts.refused))
    yield f'<div class="bars"><div>{escape(report.asked.table)}</div>{bar(parts, max(counts.read, 1), "")}</div>'
    if counts.changed_meanwhile:
        first = escape(", ".join(report.changed))
        yield f"<p>Changed by others meanwhile, first: {first}. --resume takes them again.</p>"
    if report.faults:
        yield '<section class="bad"><h2>Not in order: faults of turncodec</h2>'
        yield from (f"<p>{escape(one.key)}: {escape(one.said)}</p>" for one in report.faults)
        yield "</section>"


def details(report: TableReport) -> Iterator[str]:
    yield "<h2>How it was done</h2>"
    told = ", ".join(f"{name} {said}" for name, said in report.asked.by_name().items())
    yield f"<p>{escape(told)}; Python {escape(report.python)}</p>"
    for retry in report.retries:
        allow = ", ".join(retry.allow) or "nothing more"
        said = f"{retry.tried:,} refused transcripts tried again, allowing {allow}: {retry.translated:,} translated"
        yield f"<p>{escape(said)}</p>"
    yield f"<pre>records {report.records_digest}\nremainders {report.remainders_digest}</pre>"
