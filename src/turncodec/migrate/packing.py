"""Files that are packed with gzip or zstd: how they are known, read and written. Knows nothing of what is in them.

zstd is in Python from 3.14 on; before, the extra `zstd` brings it.
"""

from __future__ import annotations

import gzip
import zlib
from importlib import import_module
from typing import Any, BinaryIO, Literal, Protocol, cast

from turncodec.migrate import JobError

Packing = Literal["", "gzip", "zstd"]

MAGIC: dict[bytes, Packing] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
SUFFIXES: dict[Packing, str] = {"gzip": ".gz", "zstd": ".zst"}

GZIP_LEVEL = 1
ZSTD_LEVEL = 3
"""Levels at which packing costs less than translating; higher ones would make a run a run of the packer."""


class Packer(Protocol):
    """Packs bytes piece by piece."""

    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


def packing_of(head: bytes) -> Packing:
    """The packing that the first bytes of a file tell."""
    return next((packing for magic, packing in MAGIC.items() if head.startswith(magic)), "")


def unpacked(file: BinaryIO, packing: Packing) -> BinaryIO:
    """A packed file as what is in it. Raises `JobError` where that cannot be read here."""
    if packing == "gzip":
        return cast(BinaryIO, gzip.GzipFile(fileobj=file, mode="rb"))
    if packing == "zstd":
        return cast(BinaryIO, zstd().ZstdFile(file, "rb"))
    return file


def packer(packing: Packing) -> Packer | None:
    """What packs; None where nothing is to be packed. The same bytes give the same, whenever they are packed."""
    if packing == "gzip":
        return zlib.compressobj(GZIP_LEVEL, wbits=31)
    if packing == "zstd":
        return cast(Packer, zstd().ZstdCompressor(ZSTD_LEVEL))
    return None


def zstd() -> Any:
    """The module that knows zstd. Raises `JobError` where there is none."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            module = import_module(name)
        except ImportError:
            continue
        return module
    raise JobError("zstd needs Python 3.14, or the extra: pip install 'turncodec[zstd]'")


def unreadable() -> tuple[type[Exception], ...]:
    """What reading a file may raise, packed or not, that is torn or damaged, or not to be read at all."""
    try:
        return OSError, EOFError, zlib.error, zstd().ZstdError
    except JobError:
        return OSError, EOFError, zlib.error
