"""A table from the first page to the last: translated, accounted for and verified, tried again, brought back.

Each of these goes through all transcripts in the order of their keys, a page at a time, and asks the notes what is
done. None remembers where it was, so none can be wrong about it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turncodec.edge import decode
from turncodec.migrate import JobError
from turncodec.migrate.outcomes import PassedThrough, Settings, Translated, outcome
from turncodec.migrate.records import Record
from turncodec.migrate.restore import Kept
from turncodec.migrate.run import line, refused_record, shown, unkept
from turncodec.migrate.targets import AtomicFile
from turncodec.refusals import Refusal
from turncodec.store.ledger import Retry, rules
from turncodec.store.parts import new_folder
from turncodec.store.proof import FAULT
from turncodec.store.work import How
from turncodec.tables.cells import Cells
from turncodec.tables.database import Database
from turncodec.tables.ledger import Asked, Ledger, is_unborn
from turncodec.tables.proof import unlike
from turncodec.tables.rows import Layout, Row, change_of, digest, is_done, is_untouched, pages, refusals_of
from turncodec.tables.threads import Threads

PAGE = 500
"""So many transcripts are read, and written in one transaction, at a time."""
REFUSED = "refused.jsonl"

Tick = Callable[[int], object]
"""Called after each page, with the number of transcripts in it."""


@dataclass(frozen=True, slots=True)
class Migration:
    """A migration that is begun: its ledger, and how the transcripts lie in the database."""

    folder: Path
    ledger: Ledger
    base: Database
    layout: Layout
    asked: Asked
    page: int = PAGE

    def close(self) -> None:
        """Let the ledger go; the connection belongs to whoever opened it."""
        self.ledger.close()

    def how(self) -> How:
        return self.asked.options.how(self.ledger.allowed())


def layout_of(base: Database, asked: Asked) -> Layout:
    return Threads(base, asked) if asked.group else Cells(base, asked)


def begin(folder: Path, base: Database, asked: Asked, page: int) -> Migration:
    """A new migration. Nothing is written before all is seen to be fit. Raises `JobError`."""
    if folder.exists() and (not folder.is_dir() or any(not is_unborn(path) for path in folder.iterdir())):
        raise JobError(f"{folder} is not empty; name a new folder, or give --resume to go on with what was begun there")
    layout = layout_of(base, asked)
    layout.refuse_unfit()
    new_folder(folder)
    return Migration(folder, Ledger.create(folder, asked), base, layout, asked, page)


def opened(folder: Path, base: Database, page: int = PAGE) -> Migration:
    """A migration that was begun, in the database where it was begun. Raises `JobError`."""
    ledger = Ledger(folder)
    try:
        asked = ledger.asked
        return Migration(folder, ledger, base, layout_of(base, asked), asked, page)
    except BaseException:
        ledger.close()
        raise


def refuse_other(ledger: Ledger, asked: Asked) -> None:
    """Raise `JobError` where something else is asked for than when a migration was begun."""
    if ledger.asked != asked:
        was, now = ledger.asked.by_name(), asked.by_name()
        told = [
            f"{name} was {was.get(name, 'not given')}, and is {now.get(name, 'not given')}"
            for name in sorted({*was, *now})
            if was.get(name) != now.get(name)
        ]
        raise JobError(f"the migration was begun with other options: {'; '.join(told)}")
    if ledger.rules != rules():
        said = (
            f"the migration was begun by turncodec {ledger.rules}, and this is {rules()}, which may translate otherwise"
        )
        raise JobError(f"{said}; go on with that version, or begin anew in another folder with another --into")


# ---------------------------------------------------------------- translate


def translate(migration: Migration, tick: Tick) -> None:
    """Translate what is not done."""
    layout, how = migration.layout, migration.how()
    layout.prepare()
    for page in pages(layout, migration.page):
        waiting = [row for row in page if is_waiting(row, layout.in_place)]
        if waiting:
            layout.write([change_of(row, how, layout.in_place) for row in waiting])
        tick(len(page))


def is_waiting(row: Row, in_place: bool) -> bool:
    """Whether a transcript is to be translated. Where the application has written into the place of a translation, it
    has taken that over."""
    return not is_done(row, in_place) and (in_place or is_untouched(row))


def retry(migration: Migration, allow: frozenset[str], tick: Tick) -> Retry:
    """Translate what was refused once more, with more codes allowed or by newer rules."""
    layout = migration.layout
    how = migration.asked.options.how((*migration.ledger.allowed(), *allow))
    tried = translated = 0
    for page in pages(layout, migration.page):
        waiting = [row for row in page if row.note and row.note.state == "refused" and is_done(row, layout.in_place)]
        if waiting:
            changes = [change_of(row, how, layout.in_place) for row in waiting]
            layout.write(changes)
            tried += len(changes)
            translated += sum(change.state == "translated" for change in changes)
        tick(len(page))
    done = Retry(tuple(sorted(allow)), rules(), tried, translated)
    if tried:
        migration.ledger.add_retry(done)
    return done


# ---------------------------------------------------------------- account, and verify


@dataclass(slots=True)
class Counts:
    """What became of the transcripts. `read == translated + refused + passed_through + changed_meanwhile`."""

    read: int = 0
    translated: int = 0
    refused: int = 0
    passed_through: int = 0
    changed_meanwhile: int = 0
    remainders: int = 0
    faults: int = 0
    gone: int = 0
    """Transcripts that were looked at and are not there any more; none of those that were read."""

    @property
    def add_up(self) -> bool:
        return self.read == self.translated + self.refused + self.passed_through + self.changed_meanwhile


@dataclass(slots=True)
class Account:
    """What a database holds of a migration, read from it at the end."""

    counts: Counts = field(default_factory=Counts)
    records: Any = field(default_factory=hashlib.sha256)
    remainders: Any = field(default_factory=hashlib.sha256)
    changed: list[str] = field(default_factory=list)
    """The keys of the first that were changed meanwhile."""
    faults: list[tuple[str, str]] = field(default_factory=list)
    """The keys of translations that do not come back, and why."""

    def came_out(self, data: bytes, note: bytes | None) -> None:
        """Take the digests of what came out as of a file of lines, and of its remainder file."""
        self.records.update(data + b"\n")
        number = self.counts.translated + self.counts.passed_through
        if note is not None:
            self.remainders.update(line({"record": number} | decode(note)))


MOST_KEYS = 20


def account(migration: Migration, tick: Tick) -> Account:
    """Read everything back, count it, and bring the translations back; the refused ones are kept in the folder."""
    made = Account()
    file = AtomicFile(migration.folder / REFUSED)
    try:
        file.open()
        for page in pages(migration.layout, migration.page):
            for row in page:
                take(made, migration, row, file)
            tick(len(page))
        file.commit()
    except BaseException:
        file.discard()
        raise
    made.counts.gone = migration.layout.gone()
    came = max(migration.layout.count() - made.counts.read, 0)  # behind the last page, or since it was read
    made.counts.read += came
    made.counts.changed_meanwhile += came
    return made


def take(made: Account, migration: Migration, row: Row, file: AtomicFile) -> None:
    """Count one transcript by what stands in the tables now."""
    counts, in_place = made.counts, migration.layout.in_place
    counts.read += 1
    note = row.note
    if note is None or not is_done(row, in_place):
        counts.changed_meanwhile += 1
        if len(made.changed) < MOST_KEYS:
            made.changed.append(shown(str(row.key)))
    elif note.state == "refused":
        counts.refused += 1
        refusals = refusals_of(note)
        counts.faults += any(refusal.code == FAULT for refusal in refusals)
        record = record_of(migration.asked, row, counts.read)
        file.write(line({"key": str(row.key)} | refused_record(counts.read, record, refusals)))
    elif note.state == "translated":
        counts.translated += 1
        counts.remainders += note.remainder is not None
        out = (row.body if in_place else row.there) or b""
        made.came_out(out, None if note.remainder is None else b'{"remainder":%s}' % note.remainder.encode())
        verified(made, migration, row, out)
    else:
        counts.passed_through += 1
        made.came_out(row.body or b"null", b'{"passed_through":true}')


def record_of(asked: Asked, row: Row, ordinal: int) -> Record:
    """A transcript as a record of which one can say where it stands."""
    source = f"{asked.table} {asked.group or asked.key}={shown(str(row.key))}"
    return Record(row.body or b"", source, ordinal, ordinal, 0)


def verified(made: Account, migration: Migration, row: Row, out: bytes) -> None:
    """Bring a translation back from what the database holds, and compare it with what was read."""
    original = row.original if migration.layout.in_place else row.body
    assert row.note
    is_kept = migration.base.is_kept(migration.layout.column.type)
    wrong = unlike(out, row.note.remainder, original or b"", migration.how(), is_kept)
    if wrong:
        made.counts.faults += 1
        made.faults.append((shown(str(row.key)), wrong))


# ---------------------------------------------------------------- what was refused


def refused(migration: Migration) -> Generator[tuple[Kept, list[Refusal]], None, None]:
    """The refused transcripts, as they are kept in the folder."""
    with (migration.folder / REFUSED).open("rb") as file:
        for text in file:
            value = decode(text)
            where = (value["source"], value["ordinal"], value["line"], value["offset"])
            yield Kept(value["place"], Record(unkept(value), *where)), [Refusal(**one) for one in value["refusals"]]


# ---------------------------------------------------------------- back


@dataclass(slots=True)
class Returned:
    """What became of transcripts on the way back. `read` is the sum of the others."""

    read: int = 0
    restored: int = 0
    as_they_were: int = 0
    changed_meanwhile: int = 0
    refused: int = 0
    reasons: list[str] = field(default_factory=list)


def bring_back(migration: Migration, tick: Tick) -> Returned:
    """Give every transcript back as it was; one that the application has gone on with, with what was added."""
    made, layout = Returned(), migration.layout
    settings = migration.how().settings
    back = threads_back if migration.asked.group else in_place_back if layout.in_place else beside_back
    for page in pages(layout, migration.page):
        texts: list[tuple[Row, bytes | None]] = []
        for row in page:
            made.read += 1
            texts += back(made, migration, row, settings)
        done = layout.put_back(texts) if texts else 0
        made.restored += done
        made.changed_meanwhile += len(texts) - done
        tick(len(page))
    return made


Texts = list[tuple[Row, bytes | None]]


def in_place_back(made: Returned, migration: Migration, row: Row, settings: Settings) -> Texts:
    """What is to be written in the place of a transcript."""
    note = row.note
    if note is None or note.state in ("refused", "passed_through") or row.body is None:
        made.as_they_were += 1
        return []
    if note.state == "translated" and digest(row.body) == note.written:
        return [(row, None)]
    if note.state == "translated" and digest(row.body) == note.read:
        made.as_they_were += 1
        return []
    return translated_back(made, migration, row, row.body, settings)


def beside_back(made: Returned, migration: Migration, row: Row, settings: Settings) -> Texts:
    """What is to be written in the place from which a transcript was read. Where that still holds it, and nobody has
    gone on with the translation, there is nothing to do."""
    note = row.note
    if note is None or note.state != "translated" or row.there is None:
        made.as_they_were += 1
        return []
    is_there = digest(row.body) == note.read
    if is_there and digest(row.there) == note.written:
        made.as_they_were += 1
        return []
    if not is_there and row.body is not None:
        made.changed_meanwhile += 1
        return []
    return translated_back(made, migration, row, row.there, settings)


def threads_back(made: Returned, migration: Migration, row: Row, settings: Settings) -> Texts:
    """The rows of a transcript, in a table that is made for them."""
    if row.note is None or row.note.state != "translated" or row.there is None:
        return [(row, row.body)]
    return translated_back(made, migration, row, row.there, settings)


def translated_back(made: Returned, migration: Migration, row: Row, text: bytes, settings: Settings) -> Texts:
    note = row.note
    remainder = decode(note.remainder.encode()) if note and note.remainder else None
    came = outcome(text, settings.back(), remainder)
    if isinstance(came, Translated):
        return [(row, came.data)]
    if isinstance(came, PassedThrough):
        made.as_they_were += 1
        return []
    made.refused += 1
    if len(made.reasons) < MOST_KEYS:
        where, first = record_of(migration.asked, row, made.read).source, came.refusals[0]
        made.reasons.append(shown(f"{where} {first.pointer}: {first.code}: {first.message}. {first.hint}"))
    return []
