"""A store from its beginning to its end: begun, gone on with, joined, counted. Gives out the work and does none.

A file is joined when all its pieces are done. The joined files are written beside the parts, the ledger is told, and
only then are they moved to their names: wherever that breaks off, going on finishes it.
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from turncodec.migrate import JobError
from turncodec.migrate.run import with_place_moved, with_record_moved
from turncodec.store.ledger import Entry, Ledger, Options, rules
from turncodec.store.parts import Part, Written, flush_folder, is_as_written, lines_of, new_folder
from turncodec.store.pieces import BLOCK, SourceFault, cut, digest_of
from turncodec.store.pool import Task, each, wait_for_others
from turncodec.store.progress import Progress
from turncodec.store.sources import File, Found, find, side_name
from turncodec.store.work import CountRecords, Counts, Done, Files, Paths, TranslatePiece, is_cut, part_name, part_paths

JOINED = "joined"
PARTS = "parts"


class Halted(JobError):
    """A run that cannot go on, though what is done is safe: a full disk, a worker that is gone."""


@dataclass(frozen=True, slots=True)
class Store:
    """A folder with a ledger."""

    folder: Path
    ledger: Ledger

    @property
    def lock(self) -> Path:
        """The file that workers hold while they write."""
        return self.folder / PARTS / "lock"

    def parts_of(self, number: int) -> Path:
        return self.folder / PARTS / f"{number:06}"

    def paths(self, file: File) -> Paths:
        """Where the records of a file, their remainders and the refused ones are in the end."""
        name, side = file.name, side_name(file.name)
        folder = self.folder
        return Paths(
            folder / "records" / name, folder / "remainders" / side, folder / "refused" / side, folder / "rows" / name
        )


# ---------------------------------------------------------------- begun, and gone on with


def begin(sources: Sequence[str], out: Path, options: Options) -> tuple[Store, Found]:
    """A new store. Raises `JobError` where its folder is not empty."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise JobError(f"{out} is not empty; name a new folder, or give --resume to go on with what was begun there")
    found = find(sources, out, options.how().settings)
    new_folder(out)
    return Store(out, Ledger.create(out, options, found.files, found.unusable)), found


def resume(sources: Sequence[str], out: Path, options: Options) -> tuple[Store, Found]:
    """A store that was begun, as far as it is proven done. Raises `JobError` where the options, the rules or the
    sources are not what they were."""
    store = open_store(out)
    try:
        refuse_other_options(store.ledger, options)
        found = find(sources, out, options.how().settings)
        refuse_other_sources(store, found)
        for entry in store.ledger.entries():
            forget_unproven(store, entry)
    except BaseException:
        store.ledger.close()
        raise
    return store, found


def open_store(folder: Path) -> Store:
    """The store in a folder, with what was only to be moved to its names there. Raises `JobError`."""
    store = Store(folder, Ledger(folder))
    try:
        wait_for_others(store.lock)
        for entry in store.ledger.entries():
            finish_placing(store, entry)
    except BaseException:
        store.ledger.close()
        raise
    return store


def refuse_other_options(ledger: Ledger, options: Options) -> None:
    if ledger.options != options:
        was, now = ledger.options.by_name(), options.by_name()
        told = [
            f"{name} was {was.get(name, 'not given')}, and is {now.get(name, 'not given')}"
            for name in sorted({*was, *now})
            if was.get(name) != now.get(name)
        ]
        raise JobError(f"the store was begun with other options: {'; '.join(told)}")
    if ledger.rules != rules():
        said = f"the store was begun by turncodec {ledger.rules}, and this is {rules()}, which may translate otherwise"
        raise JobError(f"{said}; go on with that version, or begin anew in another folder")


def refuse_other_sources(store: Store, found: Found) -> None:
    """Raise `JobError` where a source is not what it was. One that is gone, or cannot be read any more, is set aside
    unless all of it is done; one that could not be read before has another try."""
    now = {file.name: file for file in found.files}
    unusable = {one.name: one.why for one in found.unusable}
    entries = {entry.file.name: entry for entry in store.ledger.entries()}
    if new := sorted({*now, *unusable} - entries.keys()):
        raise JobError(f"{', '.join(new)}: not among the sources when the store was begun; migrate to another folder")
    for name, entry in entries.items():
        file = now.get(name)
        if file is None:
            if entry.state != "placed":
                store.ledger.set_unusable(entry.number, unusable.get(name, f"{entry.file.path} is not there any more"))
        elif entry.state == "unusable":
            if file != entry.file:
                store.ledger.set_file(entry.number, file)
                remove(store.parts_of(entry.number))
                store.ledger.begin_again(entry.number)
            else:
                store.ledger.set_waiting(entry.number)
        elif file != entry.file:
            refuse_changed(store, entry, file)
            store.ledger.set_file(entry.number, file)


def refuse_changed(store: Store, entry: Entry, file: File) -> None:
    """Raise `JobError` unless a source still holds the bytes that were read: it was only touched, or moved."""
    old = entry.file
    is_same = (file.size, file.mtime_ns, file.shape, file.packing) == (old.size, old.mtime_ns, old.shape, old.packing)
    if is_same:
        return
    done = store.ledger.done(entry.number)
    pieces = cut(file)
    known = len(done) == len(pieces) and file.size == old.size and file.shape == old.shape
    if not (known and all(digest_of(file.path, p.begin, p.end) == done[p.number].source for p in pieces)):
        raise JobError(f"{file.path} has changed since the store was begun; begin anew in another folder")


def forget_unproven(store: Store, entry: Entry) -> None:
    """Forget what is said to be done where its files are not there, or not what they were."""
    if entry.state == "placed":
        if not all(map(is_as_written, store.paths(entry.file), entry.files)):
            store.ledger.begin_again(entry.number)
        return
    folder = store.parts_of(entry.number)
    for number, done in store.ledger.done(entry.number).items():
        if not all(map(is_as_written, part_paths(folder, part_name(number)), done.files)):
            store.ledger.forget_piece(entry.number, number)
    known = {path.name for n in store.ledger.done(entry.number) for path in part_paths(folder, part_name(n))}
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            if path.name not in known:
                path.unlink()


# ---------------------------------------------------------------- the run


def run(store: Store, workers: int, progress: Progress) -> None:
    """Do all that is not done. Raises `Halted` where nothing more can be done; a source that cannot be read is set
    aside, and the others go on."""
    crew: deque[Task] = deque()
    entries = {entry.number: entry for entry in store.ledger.entries()}
    joinings: dict[int, Joining] = {}
    left: dict[int, int] = {}
    new_folder(store.folder / PARTS)
    try:
        for number, entry in entries.items():
            joinings[number] = Joining(store, entry)
            waiting = list(tasks_of(store, entry, joinings[number], progress))
            left[number] = sum(isinstance(task, TranslatePiece) for task in waiting)
            crew += waiting
            if entry.state == "waiting" and not waiting:
                crew.append(place(store, entry, joinings.pop(number)))
        for task, result, wrong in each(crew, workers, progress.tick, store.lock):
            assert isinstance(task, TranslatePiece | CountRecords)
            entry = entries[task.number]
            if isinstance(wrong, SourceFault):
                set_aside(store, crew, entry, wrong, progress)
            elif wrong is not None:
                raise halted(wrong)
            elif isinstance(task, CountRecords):
                store.ledger.set_counted(task.number, result)
            else:
                piece = task.piece
                store.ledger.add_piece(task.number, piece.number, piece.begin, piece.end, result)
                progress.piece(piece, result)
                joinings[task.number].add(piece.number, result)
                left[task.number] -= 1
                if not left[task.number] and entry.state == "waiting":
                    crew.append(place(store, entry, joinings.pop(task.number)))
    except (OSError, JobError) as wrong:
        raise halted(wrong) from wrong
    remove(store.folder / PARTS)


def tasks_of(store: Store, entry: Entry, joining: Joining, progress: Progress) -> Iterator[Task]:
    """What is to be done for a file, before it can be joined."""
    if entry.state == "placed" and entry.counted is None:
        yield CountRecords(entry.number, entry.file)
    if entry.state != "waiting":
        progress.skip(entry.file.size)
        return
    new_folder(store.parts_of(entry.number))
    done = store.ledger.done(entry.number)
    try:
        pieces = cut(entry.file)
    except (SourceFault, OSError) as wrong:
        set_aside(store, deque(), entry, wrong, progress)
        return
    how = store.ledger.options.how()
    for piece in pieces:
        if piece.number in done:
            joining.add(piece.number, done[piece.number])
            progress.piece(piece, done[piece.number], is_new=False)
        else:
            yield TranslatePiece(entry.number, piece, store.parts_of(entry.number), how)


def set_aside(store: Store, crew: deque[Task], entry: Entry, wrong: Exception, progress: Progress) -> None:
    """Leave a source that cannot be read, and go on with the others. One that is placed is done, though it can not be
    counted any more."""
    progress.say(f"{wrong}; it is set aside, the others go on")
    if entry.state != "placed":
        store.ledger.set_unusable(entry.number, str(wrong))
        entry.state, entry.why = "unusable", str(wrong)
    others = [task for task in crew if getattr(task, "number", None) != entry.number]
    crew.clear()
    crew.extend(others)


def halted(wrong: Exception) -> Halted:
    if isinstance(wrong, OSError):
        name = f"{wrong.filename}: " if wrong.filename else ""
        return Halted(name + (wrong.strerror or str(wrong)).lower())
    if isinstance(wrong, JobError | SourceFault):
        return Halted(str(wrong))
    return Halted(f"a fault of turncodec, please report it: {type(wrong).__name__}: {wrong}")


# ---------------------------------------------------------------- joined


class Joining:
    """The pieces of a file on their way to one, each joined as soon as all before it are."""

    def __init__(self, store: Store, entry: Entry) -> None:
        self.folder, self.file = store.parts_of(entry.number), entry.file
        self.done: dict[int, Done] = {}
        self.parts: list[Part] = []
        self.counts, self.lines, self.joined = Counts(), 0, 0

    def add(self, number: int, done: Done) -> None:
        """A piece is done. Raises OSError and `JobError` where it cannot be joined."""
        self.done[number] = done
        while is_cut(self.file) and self.joined in self.done:
            self.join(self.joined, self.done[self.joined])
            self.joined += 1

    def join(self, number: int, done: Done) -> None:
        if not self.parts:
            self.parts = [Part(path) for path in part_paths(self.folder, JOINED)[:3]]
        records, remainders, refused = self.parts
        parts = part_paths(self.folder, part_name(number))
        copy(parts.records, done.files.records, records)
        came_out = self.counts.translated + self.counts.passed_through
        for line in lines_of(parts.remainders, done.files.remainders):
            remainders.write(with_record_moved(line, came_out))
        for line in lines_of(parts.refused, done.files.refused):
            refused.write(with_place_moved(line, self.counts.read, self.lines))
        self.counts += done.counts
        self.lines += done.lines

    def finish(self) -> tuple[Counts, Files]:
        """All pieces are done: what they are joined to stands under the names of what is joined."""
        if self.file.shape == "parquet":
            from turncodec.store import columns

            return columns.join(self.folder, self.file, [self.done[number] for number in sorted(self.done)])
        if not is_cut(self.file):
            for part, joined in zip(
                part_paths(self.folder, part_name(0)), part_paths(self.folder, JOINED), strict=True
            ):
                with suppress(FileNotFoundError):
                    part.replace(joined)
            return self.done[0].counts, self.done[0].files
        files = Files(*(part.commit(is_checked=False) for part in self.parts))
        flush_folder(self.folder)
        return self.counts, files


def place(store: Store, entry: Entry, joining: Joining) -> CountRecords:
    """Move what a file was joined to to its names. What is left to do is to count the source."""
    settle(store, entry, *joining.finish())
    return CountRecords(entry.number, entry.file)


def settle(store: Store, entry: Entry, counts: Counts, files: Files) -> None:
    """Move the joined files of a source to their names, with the ledger knowing of it before and after."""
    store.ledger.set_placing(entry.number, counts, files)
    entry.state, entry.counts, entry.files = "placing", counts, files
    finish_placing(store, entry)


def finish_placing(store: Store, entry: Entry) -> None:
    if entry.state != "placing":
        return
    folder = store.parts_of(entry.number)
    for joined, path, written in zip(part_paths(folder, JOINED), store.paths(entry.file), entry.files, strict=True):
        if written is None:
            unplace(path, store.folder)
        elif joined.exists():
            new_folder(path.parent)
            joined.replace(path)
            flush_folder(path.parent)
    store.ledger.set_placed(entry.number)
    entry.state = "placed"
    remove(folder)


def unplace(path: Path, folder: Path) -> None:
    """Remove what another pass has left under a name, and the folders that held nothing else."""
    path.unlink(missing_ok=True)
    for above in path.parents:
        if above == folder or not above.exists() or any(above.iterdir()):
            return
        above.rmdir()


def copy(path: Path, written: Written | None, to: Part) -> None:
    if written is not None:
        to.open()
        with path.open("rb", buffering=0) as file:
            while block := file.read(BLOCK):
                to.write(block)


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------- what must add up


class Unequal(NamedTuple):
    """A file whose numbers do not add up, and how."""

    name: str
    said: str


def unequal(entries: Sequence[Entry]) -> Iterator[Unequal]:
    """Where the numbers do not add up: read against what became of it, and against the source's own count."""
    for entry in entries:
        if entry.state != "placed":
            continue
        if not entry.counts.add_up:
            yield Unequal(entry.file.name, f"{entry.counts}")
        if entry.counted is not None and entry.counted != entry.counts.read:
            said = f"{entry.counts.read} records were read, and the source has {entry.counted}"
            yield Unequal(entry.file.name, said)
