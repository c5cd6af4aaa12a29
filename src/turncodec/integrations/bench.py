"""What each door costs: seconds for a folder of Parquet files on this machine, and the digest of what came out.

    python -m turncodec.integrations.bench [--rows N] [--files N] [--rounds N] [--cores N] [--doors NAME ...]

The rows are the transcript of `turncodec.bench`, each with a number of its own, about 7 kB of JSON. `first` is the
first round, in which an engine starts; `best` the best of the others. The digest is that of the translated records as
lines, so that every door must have the same.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from turncodec.bench import transcript
from turncodec.edge import encode
from turncodec.integrations.parquet import translate_folder

Way = Callable[[Path, Path], object]
"""A folder with `chats.jsonl` and `chats/*.parquet`, and the place of what comes out."""


def ways(cores: int) -> dict[str, Way]:
    return {
        "convert, JSON lines, one process": convert,
        "parquet, one process": partial(parquet, 1),
        f"parquet, {cores} processes": partial(parquet, cores),
        f"dask, {cores} processes": partial(dask, cores),
        f"spark, local[{cores}]": partial(spark, cores),
    }


def convert(given: Path, out: Path) -> None:
    words = [sys.executable, "-m", "turncodec", "convert", str(given / "chats.jsonl"), "--to", "responses"]
    subprocess.run([*words, "--out", str(out)], check=True, stderr=subprocess.DEVNULL)


def parquet(workers: int, given: Path, out: Path) -> None:
    translate_folder(given / "chats", out, "body", "responses", workers=workers)


def dask(workers: int, given: Path, out: Path) -> None:
    tasks = import_module("turncodec.integrations.dask").translate_folder(given / "chats", out, "body", "responses")
    import_module("dask").compute(*tasks, scheduler="processes", num_workers=workers)


def spark(cores: int, given: Path, out: Path) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    local = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    }
    session = import_module("pyspark.sql").SparkSession.builder.master(f"local[{cores}]").config(map=local)
    chats = session.getOrCreate().read.parquet(str(given / "chats"))
    made = import_module("turncodec.integrations.spark").translate(chats, "body", "responses")
    made.write.option("compression", "zstd").parquet(str(out))


def make(folder: Path, rows: int, files: int) -> int:
    """The same rows as JSON lines and as Parquet files; their size as JSON."""
    (folder / "chats").mkdir()
    size = -(-rows // files)
    with (folder / "chats.jsonl").open("wb") as lines:
        for file in range(files):
            ids = list(range(file * size, min((file + 1) * size, rows)))
            bodies = [encode({"id": n, "messages": transcript()}).decode() for n in ids]
            lines.writelines(body.encode() + b"\n" for body in bodies)
            table: Any = pa.table({"id": ids, "body": bodies})
            pq.write_table(table, folder / "chats" / f"{file:04}.parquet", compression="zstd", use_dictionary=False)
    return (folder / "chats.jsonl").stat().st_size


def digest(out: Path) -> str:
    """The digest of the translated records as lines, in the order of their numbers."""
    if out.is_file():
        data = out.read_bytes()
    else:
        made = pq.read_table(out, columns=["id", "translated"]).sort_by("id").column("translated")
        data = "".join(f"{line}\n" for line in made.to_pylist()).encode()
    return hashlib.sha256(data).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what each door costs.")
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--doors", nargs="+", default=[""], help="the beginnings of the names of those to measure")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = make(folder, asked.rows, asked.files)
        sys.stdout.write(f"{asked.rows:,} rows in {asked.files} files, {size / 1e6:.0f} MB of JSON\n")
        chosen = {door: way for door, way in ways(asked.cores).items() if door.startswith(tuple(asked.doors))}
        took: dict[str, list[float]] = {door: [] for door in chosen}
        for n in range(asked.rounds):  # in turns, on a machine that others use too
            for door, way in chosen.items():
                begin = time.perf_counter()
                way(folder, folder / f"{door}.{n}")
                took[door].append(time.perf_counter() - begin)
        for door, (first, *others) in took.items():
            best = min(others or [first])
            figures = f"{first:6.1f} s first  {best:6.1f} s best  {size / 1e6 / best:5.0f} MB/s"
            sys.stdout.write(f"{door:33} {figures}  sha256 {digest(folder / f'{door}.0')[:12]}\n")


if __name__ == "__main__":
    main()
