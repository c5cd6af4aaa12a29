"""Dask: one task for each Parquet file of a folder. Knows how a task is made, and nothing of what it does.

Needs the extra `dask`. The tasks run on whatever scheduler Dask is told: threads, processes, a cluster that sees the
same folder.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Unpack

from dask.delayed import delayed

from turncodec.integrations.options import Options, settings
from turncodec.integrations.parquet import pairs, translate_file


def translate_folder(
    source: str | Path,
    target: str | Path,
    column: str,
    to: str,
    *,
    remainder: str | None = None,
    prefix: str = "",
    **options: Unpack[Options],
) -> list[Any]:
    """The tasks (`Delayed`) that translate every Parquet file under a folder into one of the same name under another;
    `dask.compute(*tasks)` gives the `Counts` of each. The arguments and what is raised are those of
    `parquet.translate_folder`."""
    settings(to, **options)
    task = partial(delayed(translate_file), column=column, to=to, remainder=remainder, prefix=prefix, **options)
    return [task(old, new) for old, new in pairs(source, target)]
