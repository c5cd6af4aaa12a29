"""Which files there are: those that a person names, those of folders and globs, and what each of them is.

Knows names and framings; nothing of records. A file of a folder keeps its path below the folder, one of a glob its path
below the part of the glob that has no wildcard, any other its own name: so it is found again in the store.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from turncodec.lines import LINE_PRESETS
from turncodec.migrate import JobError
from turncodec.migrate.outcomes import Settings
from turncodec.migrate.packing import SUFFIXES, Packing, packing_of, unpacked, unreadable
from turncodec.migrate.records import STDIN, look, look_at_pipe
from turncodec.migrate.run import written

Shape = Literal["lines", "array", "document", "parquet"]

READ = (".jsonl", ".ndjson", ".json", ".parquet")
"""What a file of a folder is called, before a suffix of its packing. Others are left aside, and told."""

PARQUET = b"PAR1"


@dataclass(frozen=True, slots=True)
class File:
    """A source: where it lies, what it is called in the store, how it is cut and packed, and how it is known again."""

    path: str
    name: str
    size: int
    mtime_ns: int
    shape: Shape = "lines"
    packing: Packing = ""


class Unusable(NamedTuple):
    """A file that cannot be read as it is, and why."""

    path: str
    name: str
    why: str


class Found(NamedTuple):
    """The files of a store in the order of their names; those that cannot be read; and those that nobody asked for."""

    files: list[File]
    unusable: list[Unusable]
    left_aside: list[str]


def find(sources: Sequence[str], out: Path | None, settings: Settings) -> Found:
    """Look at all sources. Raises `JobError` where there is nothing to read, or two files have one name."""
    named, aside = names_of(sources, out)
    if not named:
        raise JobError(f"there is nothing to read in {', '.join(sources)}; files end in {', '.join(READ)}")
    files: list[File] = []
    unusable: list[Unusable] = []
    for name, path in sorted(named.items()):
        try:
            files.append(look_at(path, name, settings))
        except JobError as wrong:
            unusable.append(Unusable(written(path), written(name), str(wrong)))
    if not files:
        raise JobError(unusable[0].why)
    return Found(files, unusable, aside)


def names_of(sources: Sequence[str], out: Path | None) -> tuple[dict[str, str], list[str]]:
    """The paths of all files by their names in the store, and the paths of those that nobody asked for."""
    named: dict[str, str] = {}
    sides: dict[str, str] = {}
    aside: list[str] = []
    for source in sources:
        if out is not None and Path(source).is_dir():
            refuse_inside(str(out), Path(source))
        for path, name in below(source):
            if out is not None:
                refuse_inside(path, out)
            if not is_read(name) and path != source:
                aside.append(written(path))
            elif named.setdefault(name, path) != path or sides.setdefault(side_name(name), path) != path:
                said = f"{sides.get(side_name(name))} and {path} would both be called {name} in the store"
                raise JobError(f"{said}; name the folder above them, or migrate them into two stores")
    return named, sorted(aside)


def side_name(name: str) -> str:
    """What the files of lines beside a file are called: `a.jsonl` for itself, `a.json.jsonl` for `a.json`."""
    return name if name.endswith(".jsonl") else f"{name}.jsonl"


def below(source: str) -> Iterator[tuple[str, str]]:
    """The files of one source, with their names in the store."""
    if source == STDIN:
        raise JobError("standard input is no store; turncodec convert reads it")
    path = Path(source)
    if path.is_dir():
        yield from of_folder(path, path)
    elif path.exists() or not glob.has_magic(source):
        yield source, path.name
    else:
        base = fixed(path)
        found = sorted(glob.glob(source, recursive=True))  # noqa: PTH207  takes what a shell takes
        if not found:
            raise JobError(f"{source}: no file is called so")
        for match in found:
            if Path(match).is_dir():
                if not source.endswith("**"):
                    yield from of_folder(Path(match), base)
            else:
                yield match, PurePath(match).relative_to(base).as_posix()


def of_folder(folder: Path, base: Path) -> Iterator[tuple[str, str]]:
    for where, folders, names in os.walk(folder, onerror=unlisted):
        folders.sort()
        for name in sorted(names):
            path = Path(where, name)
            yield str(path), path.relative_to(base).as_posix()


def unlisted(wrong: OSError) -> None:
    """Raise `JobError` for a folder that cannot be looked into: what is in it would be left out without a word."""
    raise JobError(f"{wrong.filename}: {(wrong.strerror or str(wrong)).lower()}") from wrong


def fixed(pattern: Path) -> Path:
    """The folders of a glob before its first wildcard."""
    parts = pattern.parts
    plain = next(n for n, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:plain])


def is_read(name: str) -> bool:
    return without_packing(name).lower().endswith(READ)


def without_packing(name: str) -> str:
    for suffix in SUFFIXES.values():
        name = name.removesuffix(suffix)
    return name


def refuse_inside(path: str, folder: Path) -> None:
    if Path(path).resolve().is_relative_to(folder.resolve()):
        raise JobError(f"{path} lies in {folder}; a store does not read itself, name a folder elsewhere")


def look_at(path: str, name: str, settings: Settings) -> File:
    """What a file is. Raises `JobError` where it cannot be read."""
    try:
        if not name.isprintable():
            raise JobError(f"{written(path)!r}: a name that cannot be shown cannot be kept in a ledger; rename it")
        status = Path(path).stat()
        with Path(path).open("rb") as file:
            head = file.read(4)
    except OSError as wrong:
        raise JobError(f"{path}: {(wrong.strerror or str(wrong)).lower()}") from wrong
    if not Path(path).is_file():
        raise JobError(f"{path} is no regular file; turncodec convert reads pipes")
    packing = packing_of(head)
    shape: Shape = "parquet" if head == PARQUET else shape_of(path, packing, settings)
    return File(path, name, status.st_size, status.st_mtime_ns, shape, packing)


def shape_of(path: str, packing: Packing, settings: Settings) -> Shape:
    if packing:
        try:
            with Path(path).open("rb") as raw, unpacked(raw, packing) as file:
                source = look_at_pipe(file, without_packing(path), settings.at)
        except unreadable() as wrong:
            raise JobError(f"{path}: cannot be unpacked: {wrong}") from wrong
    else:
        source = look(path, settings.at)
    if settings.kind in LINE_PRESETS and not source.is_empty:
        return "document"
    return source.framing
