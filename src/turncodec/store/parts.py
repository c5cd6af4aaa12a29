"""Files that appear whole, with their digest, and are read again before they count. Knows nothing of what they hold."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from turncodec.migrate import JobError
from turncodec.migrate.packing import Packing, packer, unpacked
from turncodec.migrate.targets import AtomicFile
from turncodec.store.pieces import BLOCK, digest_of


@dataclass(frozen=True, slots=True)
class Written:
    """A file that is there: its size and the SHA-256 of its bytes."""

    size: int
    digest: str


class Part:
    """A file in the making, packed or not. It begins to exist with the first write."""

    def __init__(self, path: Path, packing: Packing = "") -> None:
        self.path, self.packing = path, packing
        self.file = AtomicFile(path)
        self.packer = packer(packing)
        self.raw = hashlib.sha256()
        self.size = 0

    def open(self) -> None:
        """Begin, though there may be nothing to write."""
        self.file.open()

    def write(self, data: bytes) -> None:
        self.raw.update(data)
        self.size += len(data)
        self.file.write(self.packer.compress(data) if self.packer else data)

    def commit(self, is_checked: bool) -> Written | None:
        """Put it in its place; None where nothing was written. `is_checked`: it is read again, and raises OSError where
        it does not hold what was written."""
        is_there = self.file.file is not None
        if is_there and self.packer:
            self.file.write(self.packer.flush())
        self.file.commit()
        if not is_there:
            return None
        if is_checked and content_digest(self.path, self.packing) != self.raw.hexdigest():
            raise OSError(None, "does not hold what was written to it; is the disk sound?", str(self.path))
        if self.packer:
            return seen(self.path)
        return Written(self.size, self.raw.hexdigest())

    def discard(self) -> None:
        self.file.discard()


def content_digest(path: Path, packing: Packing) -> str:
    """The SHA-256 of what is in a file, unpacked."""
    if not packing:
        return digest_of(path)
    digest = hashlib.sha256()
    with path.open("rb") as raw, unpacked(raw, packing) as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def seen(path: Path) -> Written:
    return Written(path.stat().st_size, digest_of(path))


def is_as_written(path: Path, written: Written | None) -> bool:
    """Whether a file is the one that was written; None where there must be none."""
    if written is None:
        return not path.exists()
    return path.is_file() and path.stat().st_size == written.size and digest_of(path) == written.digest


def lines_of(path: Path, written: Written | None) -> Iterator[bytes]:
    """The lines of a file; none where nothing was written."""
    if written is not None:
        with path.open("rb") as file:
            yield from file


@contextlib.contextmanager
def in_the_making(*parts: Part) -> Iterator[None]:
    """Around the writing of parts: they leave nothing behind where it fails."""
    try:
        yield
    except BaseException:
        for part in parts:
            part.discard()
        raise


def flush_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    with contextlib.suppress(OSError):  # not every system lets one open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def new_folder(folder: Path) -> None:
    """Make a folder that may be there already. Raises `JobError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise JobError(f"{folder}: {(wrong.strerror or str(wrong)).lower()}") from wrong
