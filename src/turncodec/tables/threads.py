"""Transcripts of which every message, or every item, is a row: those with one value in a column, in the order of
another. Their translations go to a table beside, since one row becomes several and several become one.

A transcript is read as the lines of a session, the preset of `turncodec.lines`, with the order of a row as its `id`. A
row of a translation tells from which row it comes (`origin`), so that the other columns can be joined to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from turncodec.edge import decode, encode
from turncodec.lines import LINE_PRESETS
from turncodec.tables.cells import column_of, index_of
from turncodec.tables.database import Database, DatabaseFault, data, quoted, quoted_table
from turncodec.tables.ledger import Asked
from turncodec.tables.notes import Notes
from turncodec.tables.rows import Change, Note, Row, digest

KIND = "agents-session"
TURN, GROUP = LINE_PRESETS[KIND].turn, str(LINE_PRESETS[KIND].group)
ORIGIN, POSITION = quoted("origin"), quoted("position")


class Threads:
    """The transcripts in the rows of a table."""

    in_place = False

    def __init__(self, base: Database, asked: Asked) -> None:
        assert asked.group is not None
        assert asked.order is not None
        self.base, self.asked = base, asked
        self.column = column_of(base, asked.table, asked.column)
        self.table, self.into = quoted_table(asked.table), quoted_table(asked.into)
        self.group, self.order, self.body = quoted(asked.group), quoted(asked.order), quoted(asked.column)
        self.notes = Notes(base, asked.notes)
        self.put = base.put(self.column.type)

    # ------------------------------------------------------------ the tables

    def refuse_unfit(self) -> None:
        base, asked = self.base, self.asked
        for name in (asked.group, asked.order):
            column_of(base, asked.table, str(name))
        base.refuse_type(self.column)
        if {asked.group, asked.column} & {"origin", "position"}:
            raise DatabaseFault(
                f"{asked.table} has a column origin or position; turncodec has no other name for its own"
            )
        if unseen := self.unseen():
            raise DatabaseFault(f"{unseen:,} rows of {asked.table} have no {asked.group}, and belong to no transcript")
        pairs = f"select {self.group}, {self.order} from {self.table} group by 1, 2 having count(*) > 1"
        (twice,) = base.rows(f"select count(*) from ({pairs}) twice")[0]
        if twice:
            said = f"{asked.order} does not order the rows of {asked.table}: it has a value twice in one {asked.group}"
            raise DatabaseFault(f"{said}, {twice:,} times; name another column with --order")
        self.notes.refuse_begun(asked)
        if base.columns(asked.into):
            raise DatabaseFault(f"there is a table {asked.into} already; name another one with --into")

    def prepare(self) -> None:
        self.notes.prepare(self.table, self.group)
        self.make(self.asked.into)

    def make(self, table: str) -> None:
        """Make a table of translations, unless it is there."""
        base, name = self.base, quoted_table(table)
        if base.columns(table):
            return
        with base.transaction():
            columns = f"t.{self.group}, t.{self.order} as {ORIGIN}, t.{self.body}"
            base.rows(f"create table {name} as select {columns} from {self.table} t where 1 = 0")
            base.rows(f"alter table {name} add column {POSITION} integer")
            base.rows(f"create unique index {quoted(index_of(table))} on {name} ({self.group}, {POSITION})")

    # ------------------------------------------------------------ read

    def sample(self, number: int) -> list[Row]:
        keys = self.keys(None, number)
        lines = self.lines(self.table, self.order, self.order, (keys[0], keys[-1])) if keys else {}
        return [Row(key, lines.get(key), None, None, None) for key in keys]

    def keys(self, after: Any, number: int) -> list[Any]:
        """The next transcripts behind one."""
        where, given = (f"{self.group} is not null", []) if after is None else (f"{self.group} > ?", [after])
        found = f"select distinct {self.group} from {self.table} where {where} order by {self.group} limit {number}"
        return [row[0] for row in self.base.rows(found, given)]

    def page(self, after: Any, number: int) -> list[Row]:
        base = self.base
        keys = self.keys(after, number)
        if not keys:
            return []
        ends = keys[0], keys[-1]
        source = self.lines(self.table, self.order, self.order, ends)
        there = self.lines(self.into, ORIGIN, POSITION, ends)
        wanted = f"select {self.notes.key}, {self.notes.columns('n')} from {self.notes.table} n"
        found = base.rows(f"{wanted} where {self.notes.key} between ? and ?", ends)
        notes = {key: Note(*note) for key, *note in found}
        return [Row(key, source.get(key), there.get(key), None, notes.get(key)) for key in keys]

    def lines(self, table: str, origin: str, order: str, ends: tuple[Any, Any]) -> dict[Any, bytes]:
        """The transcripts between two keys, each as its lines."""
        text = self.base.text(self.body)
        found = self.base.rows(
            f"select {self.group}, {origin}, {text} from {table} where {self.group} between ? and ?"
            f" order by {self.group}, {order}",
            ends,
        )
        return {
            key: b"\n".join(line(key, origin, data(body)) for _, origin, body in rows)
            for key, rows in groupby(found, lambda row: row[0])
        }

    # ------------------------------------------------------------ write

    def write(self, changes: Sequence[Change]) -> None:
        if not changes:
            return
        with self.base.transaction():
            # A row is not updated here but replaced, so that what stands there is looked at once more.
            there = self.lines(self.into, ORIGIN, POSITION, ends_of(changes))
            untouched = [change for change in changes if there.get(change.row.key) == change.row.there]
            self.put_rows(self.asked.into, untouched)
            there = self.lines(self.into, ORIGIN, POSITION, ends_of(changes))
            self.notes.put([(one, digest(one.row.body), digest(there.get(one.row.key))) for one in untouched])

    def put_rows(self, table: str, changes: Sequence[Change]) -> None:
        """Write transcripts as rows, in place of those that are there."""
        base, name = self.base, quoted_table(table)
        base.each(f"delete from {name} where {self.group} = ?", [(change.row.key,) for change in changes])
        if not changes:
            return
        sources = f"select {self.group}, {self.order} from {self.table} where {self.group} between ? and ?"
        origins = {(key, plain(order)): order for key, order in base.rows(sources, ends_of(changes))}
        columns = f"({self.group}, {ORIGIN}, {self.body}, {POSITION})"
        base.each(
            f"insert into {name} {columns} values (?, ?, {self.put}, ?)",
            [
                (
                    change.row.key,
                    origins.get((change.row.key, row["id"]), row["id"]),
                    base.given(text_of(row)),
                    position,
                )
                for change in changes
                if change.out is not None
                for position, row in enumerate(map(decode, change.out.split(b"\n")), 1)
            ],
        )

    # ------------------------------------------------------------ back

    def put_back(self, texts: Sequence[tuple[Row, bytes | None]]) -> int:
        """The rows of transcripts as they were, in a table beside."""
        self.make(self.asked.restored)
        with self.base.transaction():
            self.put_rows(self.asked.restored, [Change(row, "translated", text) for row, text in texts])
        return len(texts)

    def gone(self) -> int:
        return self.notes.without(self.table, self.group)

    def count(self) -> int:
        """Rows without a transcript are counted as one."""
        (found,) = self.base.rows(f"select count(distinct {self.group}) from {self.table}")[0]
        return int(found) + bool(self.unseen())

    def unseen(self) -> int:
        """How many rows belong to no transcript."""
        (found,) = self.base.rows(f"select count(*) from {self.table} where {self.group} is null")[0]
        return int(found)


# ---------------------------------------------------------------- rows as lines


def ends_of(changes: Sequence[Change]) -> tuple[Any, Any]:
    """The first and the last key of changes, which are in the order of the database."""
    return changes[0].row.key, changes[-1].row.key


def line(key: Any, order: Any, body: bytes | None) -> bytes:
    """A row as a line of a session. One whose text is broken makes a line that is as broken, and is refused so."""
    row: dict[str, Any] = {"id": plain(order), GROUP: plain(key)}
    if body is not None:
        try:
            row[TURN] = body.decode()
        except UnicodeDecodeError:
            return b'{"message_data":"' + body.replace(b"\n", b" ") + b'"}'
    return encode(row)


def text_of(row: dict[str, Any]) -> bytes | None:
    text = row.get(TURN)
    return None if text is None else str(text).encode()


def plain(value: Any) -> int | str:
    """A key, or what rows are ordered by, in JSON."""
    return value if isinstance(value, int) else str(value)
