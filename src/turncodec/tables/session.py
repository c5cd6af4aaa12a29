"""A command on a table, from what a person asked for to what is said at the end, and the exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TextIO

from turncodec.migrate import JobError
from turncodec.migrate import report as words
from turncodec.migrate.targets import write_whole
from turncodec.store import report as store_report
from turncodec.store.ledger import Options
from turncodec.store.progress import Log, Progress
from turncodec.store.session import DONE, FAULT, INTERRUPTED, REFUSED, STOPPED, options
from turncodec.tables import migration, report
from turncodec.tables.database import Database, DatabaseFault, opened, shown
from turncodec.tables.ledger import Asked, Ledger
from turncodec.tables.migration import Migration
from turncodec.tables.plan import Plan, plan
from turncodec.tables.threads import KIND

__all__ = ["KIND", "asked_of", "look", "migrate", "options", "restore", "retry"]


class Line(Progress):
    """One line on a terminal: how many transcripts were gone through."""

    every = 0.1

    def show(self, done: int, records: int, refused: int) -> None:  # noqa: ARG002
        self.stream.write(f"\r{records:,} transcripts, {records / self.seconds():,.0f}/s ")
        self.stream.flush()


def asked_of(
    where: str,
    table: str,
    key: str | None,
    column: str,
    options: Options,
    into: str | None,
    into_column: str | None,
    in_place: bool,
    group: str | None,
    order: str | None,
) -> Asked:
    """What a person asked for, with what they left out. Raises `JobError`."""
    place = shown(where)
    if "://" not in where:
        place = str(Path(where).resolve())
    if group and (in_place or into_column):
        said = "of one message a row, a translation has more or fewer rows: it goes to a table beside"
        raise JobError(f"{said}; leave out {'--in-place' if in_place else '--into-column'}")
    if in_place and into_column:
        raise JobError("--in-place and --into-column are two places; give one of them")
    if group is None and key is None:
        with closing(opened(where)) as base:
            found = base.primary_key(table)
            if not found and not base.columns(table):
                raise DatabaseFault(f"there is no table {table}")
        if len(found) != 1:
            raise DatabaseFault(f"{table} has no primary key of one column; name a column without equals with --key")
        key = found[0]
    return Asked(place, table, key or group or "", column, options, into or f"{table}_{options.to}", into_column,
                 in_place, group, order)  # fmt: skip


def look(where: str, asked: Asked) -> Plan:
    """What would be done. Writes nothing."""
    with closing(opened(where)) as base:
        return plan(base, asked)


def migrate(where: str, asked: Asked, folder: Path, page: int, is_resumed: bool, log_json: bool) -> int:
    """Begin a migration, or go on with it."""
    command = words.command("migrate-table", *asked.words(), "--out", str(folder), "--resume")
    progress = progress_of(log_json)
    with closing(opened(where)) as base, closing(begun(base, asked, folder, page, is_resumed)) as done:
        progress.tell("begun", transcripts=done.layout.count())
        return guarded(progress, command, lambda: translated(done, progress, command))


def begun(base: Database, asked: Asked, folder: Path, page: int, is_resumed: bool) -> Migration:
    """A migration, as it is asked for. Raises `JobError`."""
    if not is_resumed:
        return migration.begin(folder, base, asked, page)
    done = migration.opened(folder, base, page)
    try:
        migration.refuse_other(done.ledger, asked)
    except BaseException:
        done.close()
        raise
    return done


def translated(done: Migration, progress: Progress, command: str) -> int:
    migration.translate(done, tick_of(progress))
    return finish(done, progress, command)


def retry(folder: Path, where: str | None, allow: frozenset[str], log_json: bool) -> int:
    """The refused transcripts once more."""
    command = words.command("retry", str(folder), *(["--allow", ",".join(sorted(allow))] if allow else []))
    progress = progress_of(log_json)
    with again(folder, where) as done:
        return guarded(progress, command, lambda: tried(done, allow, progress, command))


def tried(done: Migration, allow: frozenset[str], progress: Progress, command: str) -> int:
    made = migration.retry(done, allow, tick_of(progress))
    progress.say(f"{made.tried:,} refused transcripts tried again, {made.translated:,} translated")
    return finish(done, progress, command)


def restore(folder: Path, where: str | None) -> int:
    """The transcripts as they were, in the database."""
    command = words.command("restore", str(folder))
    progress = progress_of(False)
    with again(folder, where) as done:
        return guarded(progress, command, lambda: restored(done, progress))


def restored(done: Migration, progress: Progress) -> int:
    made = migration.bring_back(done, tick_of(progress))
    end(progress)
    said = f"{made.read:,} read = {made.restored:,} restored + {made.as_they_were:,} as they were"
    said += f" + {made.refused:,} refused" if made.refused else ""
    said += f" + {made.changed_meanwhile:,} changed meanwhile, and left as they are" if made.changed_meanwhile else ""
    progress.say(said)
    for reason in made.reasons:
        progress.say(f"  {reason}")
    if done.asked.group:
        progress.say(f"their rows are in the table {done.asked.restored}")
    return REFUSED if made.refused or made.changed_meanwhile else DONE


@contextmanager
def again(folder: Path, where: str | None) -> Iterator[Migration]:
    """A migration that was begun. `where` is its database, if that is elsewhere now, or needs a password."""
    with closing(Ledger(folder)) as ledger:
        place = where or ledger.asked.database
    with closing(opened(place)) as base, closing(migration.opened(folder, base)) as done:
        yield done


# ---------------------------------------------------------------- while it goes on, and the end


def guarded(progress: Progress, command: str, work: Callable[[], int]) -> int:
    """Do work that can be gone on with, and say how where it breaks off."""
    try:
        return work()
    except KeyboardInterrupt:
        end(progress)
        progress.say(f"interrupted; what is done is safe. To go on:\n  {command}")
        return INTERRUPTED
    except (JobError, OSError) as wrong:
        end(progress)
        progress.say(f"Error: {wrong}\nstopped; what is done is safe. When that is mended, go on:\n  {command}")
        return STOPPED


def finish(done: Migration, progress: Progress, command: str) -> int:
    """Account for everything, write the reports, say what became of it, and give the exit status."""
    account = migration.account(done, lambda _: None)
    end(progress)
    made = report.made(done, account, progress.seconds())
    store_report.write(made, done.folder / "report.json")
    write_whole(done.folder / "report.html", report.page(made).encode())
    for line in report.told(done, made, command):
        progress.say(line)
    counts = made.totals
    status = FAULT if counts.faults or not counts.add_up else DONE
    if status == DONE and (counts.refused or counts.changed_meanwhile):
        status = REFUSED
    progress.tell("ended", status=status)
    return status


def tick_of(progress: Progress) -> Callable[[int], None]:
    def tick(number: int) -> None:
        progress.records += number
        progress.tell("page", transcripts=progress.records)
        progress.tick(())

    return tick


def end(progress: Progress) -> None:
    if isinstance(progress, Line):
        progress.stream.write("\r" + " " * 40 + "\r")


def progress_of(log_json: bool, stream: TextIO | None = None) -> Progress:
    stream = stream or sys.stderr
    if log_json:
        return Log(stream)
    return (Line if stream.isatty() else Progress)(stream)
