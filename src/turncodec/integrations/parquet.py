"""Parquet files and folders, on one machine: a file in, a file out, whole or not at all.

Knows files, processes and the Arrow door. Engines with a scheduler of their own run `translate_file` for each of
`pairs`. Needs the extra `arrow`.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple, Unpack

import pyarrow as pa
import pyarrow.parquet as pq

from turncodec.integrations.arrow import output_schema, translate_batches
from turncodec.integrations.options import Options, settings
from turncodec.migrate.targets import AtomicFile

BATCH = 1000
"""Records that are held at a time."""
GROUP = 64 << 20
"""Bytes of a row group, about: what readers like to take in one piece."""


class Counts(NamedTuple):
    """What became of the records. `read == translated + passed_through + refused`."""

    read: int
    translated: int
    passed_through: int
    refused: int

    @classmethod
    def of(cls, words: Counter[str]) -> Counts:
        return cls(words.total(), words["translated"], words["passed_through"], words["refused"])


def translate_file(
    source: str | Path,
    target: str | Path,
    column: str,
    to: str,
    *,
    remainder: str | None = None,
    prefix: str = "",
    **options: Unpack[Options],
) -> Counts:
    """Translate a Parquet file into another one, which has the four columns of the Arrow door behind the old ones.

    The target appears under its name when it is whole, in the place of what was there before; the same source gives
    the same target, so that an engine may run it again. Raises what `arrow.translate_batch` raises, and OSError or
    pyarrow's own errors where a file cannot be read.
    """
    if Path(source).resolve() == Path(target).resolve():
        raise ValueError(f"{source} is the source; it is never written to")
    words: Counter[str] = Counter()
    file = AtomicFile(Path(target))
    try:
        with pq.ParquetFile(source) as old:
            made = translate_batches(old.iter_batches(BATCH), column, to, remainder=remainder, prefix=prefix, **options)
            with pq.ParquetWriter(file.open(), output_schema(old.schema_arrow, prefix), compression="zstd") as new:
                for group in groups(made):
                    words.update(group.column(prefix + "outcome").to_pylist())
                    new.write_table(group)
        file.commit()
    except BaseException:
        file.discard()
        raise
    return Counts.of(words)


def groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches put together until they are a row group."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.nbytes for one in waiting) >= GROUP:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def translate_folder(
    source: str | Path,
    target: str | Path,
    column: str,
    to: str,
    *,
    workers: int | None = None,
    remainder: str | None = None,
    prefix: str = "",
    **options: Unpack[Options],
) -> Counts:
    """Translate every Parquet file under a folder into one of the same name under another, in processes of this
    machine (`workers` of them; one a core). Raises what `pairs` and `translate_file` raise."""
    settings(to, **options)
    task = partial(translate_file, column=column, to=to, remainder=remainder, prefix=prefix, **options)
    sources, targets = zip(*pairs(source, target), strict=True)
    # Not forked: Arrow has threads, and a forked process has not what they hold.
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        done = list(pool.map(task, sources, targets))
    return Counts(*map(sum, zip(*done, strict=True)))


def pairs(source: str | Path, target: str | Path) -> list[tuple[Path, Path]]:
    """Each Parquet file under a folder, and the file that is made of it, whose folder is made here.

    Names that begin with `.` or `_` are what engines write for themselves. Raises FileNotFoundError where there is
    no Parquet file, and FileExistsError where something is in the target folder already.
    """
    old, new = Path(source), Path(target)
    if new.exists() and any(new.iterdir()):
        raise FileExistsError(f"{new} is not empty")
    names = sorted(path.relative_to(old) for path in old.rglob("*.parquet"))
    found = [name for name in names if not any(part.startswith((".", "_")) for part in name.parts)]
    if not found:
        raise FileNotFoundError(f"{old}: there is no Parquet file in it")
    for folder in {(new / name).parent for name in found}:
        folder.mkdir(parents=True, exist_ok=True)
    return [(old / name, new / name) for name in found]
