"""A command on a store, from what a person asked for to what is said at the end, and the exit status.

Puts the rooms of this package together; the only one that writes to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from turncodec.migrate import JobError
from turncodec.migrate import report as words
from turncodec.migrate.outcomes import Settings
from turncodec.migrate.targets import write_whole
from turncodec.store import again, migration, page, report
from turncodec.store.ledger import Options
from turncodec.store.migration import Halted, Store
from turncodec.store.parts import new_folder
from turncodec.store.progress import Line, Log, Progress
from turncodec.store.proof import VERIFY
from turncodec.store.report import Report, Timings
from turncodec.store.work import Counts

DONE, REFUSED, STOPPED, FAULT, INTERRUPTED = 0, 1, 2, 3, 130


def options(settings: Settings, verify: str, column: str | None = None) -> Options:
    """What a person asked for."""
    return Options.of(settings, next(one for one in VERIFY if one == verify), column)


def migrate(
    sources: tuple[str, ...],
    out: Path,
    options: Options,
    workers: int | None,
    is_resumed: bool,
    log_json: bool,
) -> int:
    """Begin a store, or go on with it."""
    given = (*options.named(), "--out", str(out), *(["-j", str(workers)] if workers else []))
    command = words.command("migrate", *sources, *given, "--resume")
    store, found = (migration.resume if is_resumed else migration.begin)(sources, out, options)
    with closing(store.ledger):
        entries = store.ledger.entries()
        progress = progress_of(log_json, sum(entry.file.size for entry in entries))
        for entry in entries:
            if entry.state == "unusable":
                progress.say(f"{entry.why}; it is set aside, the others go on")
        workers = workers or os.cpu_count() or 1
        progress.tell("begun", files=len(entries), bytes=progress.total, workers=workers)
        try:
            migration.run(store, workers, progress)
            progress.end()
            return finish(store, progress, workers, found.left_aside, command)
        except KeyboardInterrupt:
            progress.end()
            progress.say(f"interrupted; what is done is safe. To go on:\n  {command}")
            return INTERRUPTED
        except Halted as halt:
            progress.end()
            progress.say(f"Error: {halt}\nstopped; what is done is safe. When that is mended, go on:\n  {command}")
            return STOPPED


def retry(folder: Path, allow: frozenset[str], workers: int | None, log_json: bool) -> int:
    """The refused records of a store once more."""
    store = migration.open_store(folder)
    with closing(store.ledger):
        progress = progress_of(log_json, 0)
        workers = workers or os.cpu_count() or 1
        command = words.command("retry", str(folder), *(["--allow", ",".join(sorted(allow))] if allow else []))
        try:
            done = again.retry(store, allow, workers, progress)
        except KeyboardInterrupt:
            progress.say(f"interrupted; what is done is safe. To go on:\n  {command}")
            return INTERRUPTED
        except Halted as halt:
            progress.say(f"Error: {halt}\nstopped; what is done is safe. When that is mended:\n  {command}")
            return STOPPED
        progress.say(f"{done.tried:,} refused records tried again, {done.translated:,} translated")
        aside = left_aside_of(folder)
        return finish(store, progress, workers, aside, command)


def restore(folder: Path, out: Path, force: bool) -> int:
    """The sources of a store again, in a folder."""
    store = migration.open_store(folder)
    with closing(store.ledger):
        if out.exists() and any(out.iterdir() if out.is_dir() else [out]) and not force:
            raise JobError(f"{out} is there already and not empty; name a new folder, or give --force")
        new_folder(out)
        progress = progress_of(False, 0)
        try:
            counts = again.restore_all(store, out, os.cpu_count() or 1, progress)
        except KeyboardInterrupt:
            progress.say("interrupted; every file that is there is whole")
            return INTERRUPTED
        totals = sum((entry.counts for entry in store.ledger.entries()), Counts())
        restored = totals.translated - counts.refused
        as_they_were = totals.refused + totals.passed_through
        said = f"{counts.read:,} read = {restored:,} restored + {counts.refused:,} refused"
        progress.say(f"{said} + {as_they_were:,} as they were")
        return FAULT if counts.refused or counts.read != totals.read else DONE


def progress_of(log_json: bool, total: int) -> Progress:
    if log_json:
        return Log(sys.stderr, total)
    return (Line if sys.stderr.isatty() else Progress)(sys.stderr, total)


def left_aside_of(folder: Path) -> list[str]:
    """What an earlier report says that was left aside."""
    from turncodec.edge import decode

    try:
        return list(decode((folder / "report.json").read_bytes())["left_aside"])
    except (OSError, KeyError):
        return []


# ---------------------------------------------------------------- the end


def finish(store: Store, progress: Progress, workers: int, left_aside: list[str], command: str) -> int:
    """Write the reports, say what became of it, and give the exit status."""
    much = progress.bytes - progress.skipped
    made = report.made(store, left_aside, Timings(round(progress.seconds(), 3), workers, much))
    faults = report.write_faults(store)
    report.write(made, store.folder / "report.json")
    write_whole(store.folder / "report.html", page.page(made).encode())
    for line in told(store, made, command):
        progress.say(line)
    for path in faults:
        progress.say(f"a fault of turncodec; please report it: {path}")
    status = status_of(made)
    progress.tell("ended", status=status)
    return status


def status_of(made: Report) -> int:
    if made.totals.faults or made.unequal:
        return FAULT
    if not made.is_complete:
        return STOPPED
    return REFUSED if made.totals.refused else DONE


def told(store: Store, made: Report, command: str) -> Iterator[str]:
    """What is said of a store, for a person."""
    yield sum_of(made.totals)
    tally = report.tally(store)
    yield from words.reasons(tally, in_words=True)
    yield ""
    yield from words.table(list(files(store, made)))
    yield from (f"the numbers do not add up, a fault of turncodec: {text}" for text in made.unequal)
    aside = [file for file in made.files if file.state != "placed" or file.counted is None]
    if aside:
        said = f"{words.counted(len(aside), 'file')} not read to the end, first {aside[0].source}"
        yield f"{said}; to try again:\n  {command}"
    if more := words.allowable(tally):
        retry = words.command("retry", str(store.folder), "--allow", ",".join(sorted(more)))
        yield f"\nlet through what can be:\n  {retry}"
    if made.totals.translated:
        yield f"\nthe originals again:\n  {words.command('restore', str(store.folder), '--out')} FOLDER"


def sum_of(counts: Counts) -> str:
    numbers = (counts.translated, counts.refused, counts.passed_through)
    return "{:,} read = {:,} translated + {:,} refused + {:,} passed through".format(counts.read, *numbers)


def files(store: Store, made: Report) -> Iterator[tuple[str, str]]:
    totals = made.totals
    number = sum(file.records_digest is not None for file in made.files)
    records = words.counted(totals.translated + totals.passed_through, "record")
    yield str(store.folder / "records"), f"{words.counted(number, 'file')}, {records}"
    if totals.remainders:
        yield str(store.folder / "remainders"), f"what {totals.remainders:,} of them need to come back"
    if totals.refused:
        yield str(store.folder / "refused"), f"{words.counted(totals.refused, 'refused record')}, whole"
    yield str(store.folder / "report.html"), "what became of it, with examples"
