"""Parquet files with a column of JSON texts. The only room that knows Arrow, which the extra `arrow` brings.

Each row is a record: the text in one column is translated, the other columns stay as they are. A row group is a piece
of work. A row whose text is null passes through. Of refused rows the text is kept with the reasons, as of any record,
and the whole row in a Parquet file beside.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from turncodec.edge import decode
from turncodec.migrate import JobError, restore
from turncodec.migrate.outcomes import Outcome, Stopped
from turncodec.migrate.records import TRANSCRIPT_KEYS, Record
from turncodec.migrate.run import Tally, run, with_place_moved, with_record_moved
from turncodec.refusals import Refused
from turncodec.store import pieces
from turncodec.store.parts import Part, Written, in_the_making, lines_of, seen
from turncodec.store.pieces import Piece, SourceFault
from turncodec.store.pool import Gauge
from turncodec.store.sources import File
from turncodec.store.work import (
    Counts,
    Done,
    Files,
    Paths,
    TranslatePiece,
    accounted,
    is_fault,
    part_name,
    part_paths,
    tallied,
)

if TYPE_CHECKING:
    from turncodec.store.again import RestoreFile, RetryFile

LOOKED_AT = 100
"""Rows that are looked at to find the column."""


def arrow(part: str = "") -> Any:
    """A module of Arrow. Raises `JobError` where there is none."""
    try:
        return import_module(f"pyarrow{part}")
    except ImportError as wrong:
        raise JobError("Parquet needs the extra: pip install 'turncodec[arrow]'") from wrong


def opened(path: str | os.PathLike[str]) -> Any:
    """A Parquet file. Raises `SourceFault` where it is none."""
    try:
        return arrow(".parquet").ParquetFile(path)
    except (OSError, arrow().ArrowException) as wrong:
        raise SourceFault(f"{os.fspath(path)}: {str(wrong).splitlines()[0]}") from wrong


def row_groups(file: File) -> int:
    with opened(file.path) as source:
        return max(int(source.num_row_groups), 1)


def rows(path: str | os.PathLike[str]) -> int:
    with opened(path) as source:
        return int(source.metadata.num_rows)


def group(source: Any, number: int) -> Any:
    """A row group as a table; an empty one where the file has none."""
    try:
        return source.read_row_group(number) if source.num_row_groups else source.schema_arrow.empty_table()
    except (OSError, arrow().ArrowException) as wrong:
        raise SourceFault(f"row group {number}: {str(wrong).splitlines()[0]}") from wrong


# ---------------------------------------------------------------- which column


def column_of(source: Any, named: str | None, path: str) -> str:
    """The column with the JSON texts. Raises `SourceFault` where that cannot be seen."""
    schema = source.schema_arrow
    texts: list[str] = [field.name for field in schema if is_text(field.type)]
    if named is not None:
        if named not in texts:
            raise SourceFault(f"{path}: {named} is no column of texts; these are: {', '.join(texts) or 'none'}")
        return named
    table = group(source, 0).slice(0, LOOKED_AT)
    holding = [name for name in texts if holds_json(table.column(name).to_pylist())]
    telling = [name for name in holding if name in TRANSCRIPT_KEYS] if len(holding) > 1 else holding
    if len(telling) == 1:
        return telling[0]
    said = f"which column holds the transcripts? {', '.join(holding) or 'none'} of {', '.join(schema.names)} hold JSON"
    raise SourceFault(f"{path}: {said}; name it with --column")


def is_text(kind: Any) -> bool:
    types = arrow().types
    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary))


def holds_json(cells: list[str | bytes | None]) -> bool:
    """Whether the first cell that is not null holds a JSON object or array."""
    first = next((cell for cell in cells if cell is not None), "")
    data = first.encode() if isinstance(first, str) else first
    try:
        return data.lstrip()[:1] in (b"{", b"[") and isinstance(decode(data), dict | list)
    except Refused:
        return False


# ---------------------------------------------------------------- rows as records


def cells(table: Any, column: str) -> Iterator[bytes | None]:
    """The texts of a column as bytes."""
    binary = arrow().large_binary()
    for chunk in table.column(column).cast(binary).chunks:
        for cell in chunk:
            yield cell.as_py()


def records_of(table: Any, column: str, path: str) -> Iterator[Record]:
    """The rows of a table as records; that of a null is empty, which no text of a record is that goes across."""
    for n, cell in enumerate(cells(table, column), 1):
        yield Record(cell or b"", path, n, n, 0)


class Cells:
    """Records that come out, as the cells of a column."""

    def __init__(self) -> None:
        self.values: list[bytes | None] = []
        self.count = 0

    def add(self, data: bytes) -> None:
        self.count += 1
        self.values.append(data or None)

    def end(self) -> None:
        pass


def replaced(table: Any, column: str, values: list[bytes | None]) -> Any:
    """A table with other texts in a column."""
    place = table.schema.get_field_index(column)
    field = table.schema.field(place)
    texts = arrow().array(values, arrow().large_binary()).cast(field.type)
    return table.set_column(place, field, texts)


def write(
    table: Any,
    column: str,
    outcomes: Iterator[tuple[Record, Outcome]],
    paths: Paths,
    gauge: Gauge,
    is_checked: bool,
    codec: str,
) -> tuple[Tally, Files]:
    """Write the outcomes of the rows of a table: those that come out, what they need, the refused, and their rows."""
    out: list[int] = []
    left: list[int] = []

    def sorted_out() -> Iterator[tuple[Record, Outcome]]:
        for n, (record, outcome) in enumerate(outcomes):
            (left if isinstance(outcome, Stopped) else out).append(n)
            yield record, outcome

    def watch(_: Record, tally: Tally) -> None:
        gauge.show(0, tally.read, tally.refused)

    parts = [Part(path) for path in paths]
    with in_the_making(*parts):
        made = Cells()
        tally = run(sorted_out(), made, parts[1].write, parts[2].write, watch)
        parts[0].write(as_bytes(replaced(taken(table, out), column, made.values), codec))
        if left:
            parts[3].write(as_bytes(taken(table, left), codec))
        return tally, Files(*(part.commit(is_checked) for part in parts))


def taken(table: Any, rows: list[int]) -> Any:
    """Some rows of a table."""
    return table.take(arrow().array(rows, arrow().int64()))


def as_bytes(table: Any, codec: str) -> Any:
    """A table as a Parquet file of one row group."""
    sink = arrow().BufferOutputStream()
    arrow(".parquet").write_table(table, sink, compression=codec, row_group_size=max(len(table), 1))
    return sink.getvalue().to_pybytes()


def codec_of(source: Any) -> str:
    """How the file is packed inside: what comes out is packed likewise."""
    if not source.num_row_groups:
        return "snappy"
    return str(source.metadata.row_group(0).column(0).compression).lower().replace("uncompressed", "none")


# ---------------------------------------------------------------- what the tasks do


def records(piece: Piece, named: str | None) -> Iterator[Record]:
    """The records of a piece, to look at. Nulls are left out."""
    with opened(piece.file.path) as source:
        column = column_of(source, named, piece.file.path)
        for record in records_of(group(source, piece.number), column, piece.file.path):
            if record.data:
                yield record


def translate(task: TranslatePiece, gauge: Gauge) -> Done:
    """A row group into part files."""
    file, how = task.piece.file, task.how
    pieces.refuse_changed(file)
    with opened(file.path) as source:
        column = column_of(source, how.column, file.path)
        table, codec = group(source, task.piece.number), codec_of(source)
    nulls = {n for n, cell in enumerate(cells(table, column), 1) if cell is None}
    counts = Counts()
    outcomes = accounted(records_of(table, column, file.path), how, counts, lambda record: record.ordinal in nulls)
    paths = part_paths(task.folder, part_name(task.piece.number))
    tally, files = write(table, column, outcomes, paths, gauge, how.verify != "none", codec)
    pieces.refuse_changed(file)
    return Done(pieces.source_digest(task.piece), len(table), tallied(counts, tally), files)


def join(folder: Any, file: File, done: list[Done]) -> tuple[Counts, Files]:
    """The part files of a Parquet file as one, a row group for each."""
    joined = part_paths(folder, "joined")
    remainders, refused = Part(joined.remainders), Part(joined.refused)
    parts = [part_paths(folder, part_name(number)) for number in range(len(done))]
    counts = Counts()
    with opened(file.path) as source:
        codec = codec_of(source)
    with in_the_making(remainders, refused):
        for part, piece in zip(parts, done, strict=True):
            for line in lines_of(part.remainders, piece.files.remainders):
                remainders.write(with_record_moved(line, counts.translated + counts.passed_through))
            for line in lines_of(part.refused, piece.files.refused):
                refused.write(with_place_moved(line, counts.read, counts.read))
            counts += piece.counts
        left, kept = remainders.commit(is_checked=False), refused.commit(is_checked=False)
    out = stacked([part.records for part in parts], joined.records, codec)
    rows = [part.rows for part, piece in zip(parts, done, strict=True) if piece.files.rows]
    return counts, Files(out, left, kept, stacked(rows, joined.rows, codec) if rows else None)


def stacked(parts: list[Any], path: Any, codec: str) -> Written:
    """Parquet files one after the other in a new one."""
    parquet = arrow(".parquet")
    with opened(parts[0]) as first, path.open("wb") as file:
        with parquet.ParquetWriter(file, first.schema_arrow, compression=codec) as writer:
            for part in parts:
                table = parquet.read_table(part)
                writer.write_table(table, row_group_size=max(len(table), 1))
        file.flush()
        os.fsync(file.fileno())
    return seen(path)


def retry(task: RetryFile, gauge: Gauge) -> tuple[Counts, Files]:
    """The refused rows of a file once more."""
    from turncodec.store.again import as_it_was, proven_again

    table, column, codec, placed = in_old_order(task.paths, task.how.column)
    counts = Counts()

    def outcomes() -> Iterator[tuple[Record, Outcome]]:
        for one in placed:
            made = as_it_was(one) or proven_again(one, task.how)
            counts.faults += is_fault(made)
            yield one.record, made

    paths = part_paths(task.folder, "joined")
    tally, files = write(table, column, outcomes(), paths, gauge, task.how.verify != "none", codec)
    return tallied(counts, tally), files


def restore_file(task: RestoreFile, gauge: Gauge) -> Counts:
    """A Parquet file as it was."""
    from turncodec.store.again import came_back

    table, column, codec, placed = in_old_order(task.paths, task.how.column)
    settings = task.how.settings.back()
    outcomes = ((one.record, came_back(one, settings)) for one in placed)
    tally, _ = write(table, column, outcomes, task.targets(), gauge, True, codec)
    return tallied(Counts(), tally)


def in_old_order(paths: Paths, named: str | None) -> tuple[Any, str, str, list[restore.Placed]]:
    """All rows of a source as they are in a store, in their old places: the table, its column, its codec, and what
    each row is."""
    from turncodec.store.again import lines

    with opened(paths.records) as source:
        codec = codec_of(source)
        table = source.read()
        both = [table]
        if paths.rows.exists():
            both.append(arrow(".parquet").read_table(paths.rows))
        column = named or column_of_store(paths, source)
    records = records_of(table, column, str(paths.records))
    kept = restore.kept_records(lines(paths.refused))
    placed = list(restore.in_old_places(records, restore.notes(lines(paths.remainders)), kept))
    out, left = iter(range(len(table))), iter(range(len(table), sum(map(len, both))))
    order = [next(left if one.is_refused else out) for one in placed]
    return taken(arrow().concat_tables(both), order), column, codec, placed


def column_of_store(paths: Paths, source: Any) -> str:
    """The column that was translated: seen in the rows that came out, or in those that were refused."""
    try:
        return column_of(source, None, str(paths.records))
    except SourceFault:
        with opened(paths.rows) as rows:
            return column_of(rows, None, str(paths.rows))
