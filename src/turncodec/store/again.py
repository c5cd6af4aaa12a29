"""The refused records once more, and the way back of all of it. Both read a store file by file, each record in its old
place, and write files that take the places of others whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from turncodec.migrate import JobError, restore
from turncodec.migrate.outcomes import Outcome, PassedThrough, Settings, Translated
from turncodec.migrate.records import Record, of_lines
from turncodec.migrate.restore import Placed
from turncodec.store.ledger import Retry, rules
from turncodec.store.migration import JOINED, PARTS, Store, halted, remove, settle
from turncodec.store.parts import is_as_written, new_folder
from turncodec.store.pieces import of_file
from turncodec.store.pool import Gauge, Task, each
from turncodec.store.progress import Progress
from turncodec.store.proof import proven
from turncodec.store.sources import File
from turncodec.store.work import Counts, Files, How, Paths, is_fault, part_paths, tallied, write


def placed(file: File, paths: Paths) -> Iterator[Placed]:
    """All records of a source, as they are now in a store. Raises `JobError`."""
    records = of_file(str(paths.records), file.shape, file.packing) if paths.records.exists() else iter(())
    kept = restore.kept_records(lines(paths.refused))
    return restore.in_old_places(records, restore.notes(lines(paths.remainders)), kept)


def lines(path: Path) -> Iterator[Record]:
    """The lines of a side file; none where there is no file."""
    if path.exists():
        with path.open("rb") as file:
            yield from of_lines(file, str(path))


# ---------------------------------------------------------------- the refused once more


@dataclass(frozen=True, slots=True)
class RetryFile:
    """The task to translate the refused records of a file again, and to write its three files anew."""

    number: int
    file: File
    paths: Paths
    folder: Path
    how: How

    def __call__(self, gauge: Gauge) -> tuple[Counts, Files]:
        if self.file.shape == "parquet":
            from turncodec.store import columns

            return columns.retry(self, gauge)
        counts = Counts()
        paths = part_paths(self.folder, JOINED)
        tally, files = write(self.outcomes(counts), self.file, paths, gauge, self.how.verify != "none")
        return tallied(counts, tally), files

    def outcomes(self, counts: Counts) -> Iterator[tuple[Record, Outcome]]:
        for one in placed(self.file, self.paths):
            made = as_it_was(one) or proven_again(one, self.how)
            counts.faults += is_fault(made)
            yield one.record, made


def as_it_was(placed: Placed) -> Outcome | None:
    """What became of a record, or None where it was refused."""
    record, note, is_refused = placed
    if is_refused:
        return None
    if note and note.remainder is None:
        return PassedThrough(record.data)
    return Translated(record.data, note.remainder if note else None)


def proven_again(placed: Placed, how: How) -> Outcome:
    return proven(placed.record.data, how.settings, how.verify)


def retry(store: Store, allow: frozenset[str], workers: int, progress: Progress) -> Retry:
    """Translate the refused records of a store again, with more codes allowed or by newer rules. Raises `Halted`."""
    refuse_changed(store)
    how = store.ledger.options.how((*allow, *(code for one in store.ledger.retries() for code in one.allow)))
    crew: deque[Task] = deque()
    entries = {entry.number: entry for entry in store.ledger.entries()}
    tried = 0
    before = sum((entry.counts for entry in entries.values()), Counts())
    for entry in entries.values():
        if entry.state == "placed" and entry.counts.refused:
            tried += entry.counts.refused
            folder = store.parts_of(entry.number)
            remove(folder)
            new_folder(folder)
            crew.append(RetryFile(entry.number, entry.file, store.paths(entry.file), folder, how))
    try:
        for task, result, wrong in each(crew, workers, progress.tick, store.lock):
            assert isinstance(task, RetryFile)
            if wrong is not None:
                raise halted(wrong)
            settle(store, entries[task.number], *result)
    except (OSError, JobError) as wrong:
        raise halted(wrong) from wrong
    remove(store.folder / PARTS)
    after = sum((entry.counts for entry in entries.values()), Counts())
    done = Retry(tuple(sorted(allow)), rules(), tried, before.refused - after.refused)
    if tried:
        store.ledger.add_retry(done)
    return done


# ---------------------------------------------------------------- the way back


@dataclass(frozen=True, slots=True)
class RestoreFile:
    """The task to give a source back."""

    number: int
    file: File
    paths: Paths
    to: Path
    how: How

    def __call__(self, gauge: Gauge) -> Counts:
        if self.file.shape == "parquet":
            from turncodec.store import columns

            return columns.restore_file(self, gauge)
        tally, _ = write(self.outcomes(), self.file, self.targets(), gauge, is_checked=True)
        return tallied(Counts(), tally)

    def targets(self) -> Paths:
        """The file, and what is beside it only if something cannot come back."""
        beside = (self.to.with_name(f"{self.to.name}.{what}") for what in ("remainders", "refused", "rows"))
        return Paths(self.to, *beside)

    def outcomes(self) -> Iterator[tuple[Record, Outcome]]:
        settings = self.how.settings.back()
        for one in placed(self.file, self.paths):
            yield one.record, came_back(one, settings)


def came_back(placed: Placed, settings: Settings) -> Outcome:
    """What a record was; one that was refused or passed through is in the store as it was. It needs no remainder."""
    if placed.is_refused or (placed.note and placed.note.remainder is None):
        return Translated(placed.record.data, None)
    return restore.back(placed.record, settings, placed.note.remainder if placed.note else None)


def restore_all(store: Store, out: Path, workers: int, progress: Progress) -> Counts:
    """Give all sources back, below a folder. What cannot come back is told in the counts. Raises `Halted`."""
    refuse_changed(store)
    crew: deque[Task] = deque()
    how = store.ledger.options.how()
    for entry in store.ledger.entries():
        to = out / entry.file.name
        new_folder(to.parent)
        crew.append(RestoreFile(entry.number, entry.file, store.paths(entry.file), to, how))
    counts = Counts()
    try:
        for _, result, wrong in each(crew, workers, progress.tick):
            if wrong is not None:
                raise halted(wrong)
            counts += result
    except (OSError, JobError) as wrong:
        raise halted(wrong) from wrong
    return counts


def refuse_changed(store: Store) -> None:
    """Raise `JobError` where a store is not finished, or a file in it is not what was written."""
    for entry in store.ledger.entries():
        if entry.state != "placed":
            raise JobError(f"{store.folder} is not finished ({entry.file.name}); go on with migrate --resume first")
        for path, written in zip(store.paths(entry.file), entry.files, strict=True):
            if not is_as_written(path, written):
                raise JobError(f"{path} is not what was written; put it back, or migrate into a new folder")
