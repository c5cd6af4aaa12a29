"""Where results go: files that appear whole or not at all, beside standard output. Knows framings, not their meaning.

A file is written under a temporary name in its own folder, flushed to the disk, and renamed at the end; on any failure
the temporary file is removed and what was there before is as it was.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, Protocol

from turncodec import edge
from turncodec.migrate import JobError
from turncodec.migrate.records import Framing

Write = Callable[[bytes], object]


def refuse_targets(targets: Iterable[Path], sources: Iterable[str], force: bool) -> None:
    """Raise `JobError` for a target that is a source, no regular file, in no folder, or there already (unless
    `force`)."""
    read = [Path(source) for source in sources]
    for target in targets:
        if not target.parent.is_dir():
            raise JobError(f"{target}: there is no folder {target.parent}")
        if not target.exists():
            continue
        if any(source.exists() and source.samefile(target) for source in read):
            raise JobError(f"{target} is also a source; sources are never written to")
        if not target.is_file():
            raise JobError(f"{target} is no regular file; leave out --out to write to standard output")
        if not force:
            raise JobError(f"{target} exists; give --force to overwrite it")


class AtomicFile:
    """A file that appears whole at `commit`, or not at all. It begins to exist with the first write."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.file: BinaryIO | None = None
        self.temporary: Path | None = None

    def open(self) -> BinaryIO:
        if self.file is None:
            # known before it is there, so that it is removed wherever the person interrupts
            self.temporary = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.part")
            try:
                self.file = open(self.temporary, "xb", buffering=1 << 20, opener=for_oneself)  # noqa: SIM115
            except OSError as wrong:
                raise JobError(f"{self.path}: {(wrong.strerror or str(wrong)).lower()}") from wrong
        return self.file

    def write(self, data: bytes) -> None:
        (self.file or self.open()).write(data)

    def commit(self) -> None:
        """Put the file in its place. Where nothing was written there is none, and what another run left is removed."""
        if self.file is None or self.temporary is None:
            self.path.unlink(missing_ok=True)
            return
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        self.temporary.chmod(mode_of(self.path))
        self.temporary.replace(self.path)
        self.file = self.temporary = None

    def discard(self) -> None:
        if self.file is not None:
            with contextlib.suppress(OSError):
                self.file.close()
        if self.temporary is not None:
            with contextlib.suppress(OSError):
                self.temporary.unlink(missing_ok=True)
        self.file = self.temporary = None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that appears whole, or not at all; what was there is replaced."""
    file = AtomicFile(path)
    try:
        file.write(data)
        file.commit()
    except BaseException:
        file.discard()
        raise


def for_oneself(path: str, flags: int) -> int:
    """Open a file that nobody else may read before it is whole."""
    return os.open(path, flags, 0o600)


def mode_of(path: Path) -> int:
    """The permissions of the file that is replaced, or those that any new file would get."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


class Output(Protocol):
    """Where records go, one after the other; `count` is how many have."""

    count: int

    def add(self, data: bytes) -> None: ...
    def end(self) -> None: ...


class Framed:
    """Records one after the other, in the framing of their source."""

    def __init__(self, write: Write, framing: Framing) -> None:
        self.write, self.framing, self.count = write, framing, 0

    def add(self, data: bytes) -> None:
        self.count += 1
        if self.framing == "array":
            self.write((b"[\n" if self.count == 1 else b",\n") + data)
        else:
            self.write(on_one_line(data) + b"\n" if self.framing == "lines" else data + b"\n")

    def end(self) -> None:
        if self.framing == "array":
            self.write(b"\n]\n" if self.count else b"[\n]\n")


def on_one_line(data: bytes) -> bytes:
    """A JSON document as one line; its tokens stay as they are written. Raises `JobError` where it is no JSON."""
    if b"\n" not in data:
        return data
    try:
        return edge.compact(data)
    except edge.UNREADABLE as wrong:
        raise JobError("a record of several lines that is no JSON cannot stand among JSON lines") from wrong
