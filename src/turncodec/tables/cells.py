"""Transcripts in one column, a row each: their translations in a table beside, in another column, or in their place.

Everything that is written is guarded by the text that was read: `and body is not distinct from old`. Whoever wrote
between the reading and the writing is not overwritten; the row is taken again by another run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turncodec.tables.database import Column, Database, DatabaseFault, data, quoted, quoted_table
from turncodec.tables.ledger import Asked
from turncodec.tables.notes import Notes
from turncodec.tables.rows import Change, Note, Row, digest


def column_of(base: Database, table: str, name: str) -> Column:
    """A column of a table. Raises `DatabaseFault` where there is none."""
    columns = base.columns(table)
    if not columns:
        raise DatabaseFault(f"there is no table {table}")
    found = next((column for column in columns if column.name == name), None)
    if found is None:
        raise DatabaseFault(f"{table} has no column {name}; it has {', '.join(column.name for column in columns)}")
    return found


class Cells:
    """The transcripts in a column."""

    def __init__(self, base: Database, asked: Asked) -> None:
        self.base, self.asked = base, asked
        self.column = column_of(base, asked.table, asked.column)
        self.in_place = asked.in_place
        self.table, self.into = quoted_table(asked.table), quoted_table(asked.into)
        self.backup = quoted_table(asked.backup)
        self.key, self.body = quoted(asked.key), quoted(asked.column)
        self.there = quoted(asked.into_column) if asked.into_column else None
        self.notes = Notes(base, asked.notes)
        self.put = base.put(self.column.type)

    # ------------------------------------------------------------ the tables

    def refuse_unfit(self) -> None:
        base, asked = self.base, self.asked
        column_of(base, asked.table, asked.key)
        base.refuse_type(self.column)
        (unlike,) = base.rows(f"select count(*) - count(distinct {self.key}) from {self.table}")[0]
        if unlike:
            said = f"the column {asked.key} of {asked.table} has a value twice, or null, in {unlike:,} rows"
            raise DatabaseFault(f"{said}; name a unique one with --key")
        self.notes.refuse_begun(asked)
        made = None if asked.into_column else asked.backup if asked.in_place else asked.into
        if made and base.columns(made):
            raise DatabaseFault(f"there is a table {made} already; name another one with --into")
        if asked.into_column:
            self.refuse_used(asked.into_column)

    def refuse_used(self, name: str) -> None:
        """Raise `DatabaseFault` where a column cannot take the translations."""
        found = next((one for one in self.base.columns(self.asked.table) if one.name == name), None)
        if found is None:
            return
        if found.type != self.column.type:
            said = f"{name} is of type {found.type}, and {self.column.name} of type {self.column.type}"
            raise DatabaseFault(f"{said}; leave it out, it will be made, or make it of the same type")
        (used,) = self.base.rows(f"select count({quoted(name)}) from {self.table}")[0]
        if used:
            raise DatabaseFault(f"the column {name} holds something in {used:,} rows; name an empty or a new one")

    def prepare(self) -> None:
        self.notes.prepare(self.table, self.key)
        base, asked = self.base, self.asked
        if asked.in_place:
            if not base.columns(asked.backup):
                self.make_backup()
        elif self.there:
            if all(column.name != asked.into_column for column in base.columns(asked.table)):
                base.rows(f"alter table {self.table} add column {self.there} {self.column.type}")
        elif not base.columns(asked.into):
            with base.transaction():
                columns = f"{self.key}, {self.body}"
                base.rows(f"create table {self.into} as select {columns} from {self.table} where 1 = 0")
                base.rows(f"create unique index {quoted(index_of(asked.into))} on {self.indexed(asked.into)}")

    def make_backup(self) -> None:
        """Copy the column, and compare the copy, before anything is written. Both or nothing."""
        base, key, text = self.base, self.key, self.base.text
        with base.standstill():
            base.rows(f"create table {self.backup} as select {key}, {self.body} from {self.table}")
            base.rows(f"create unique index {quoted(index_of(self.asked.backup))} on {self.indexed(self.asked.backup)}")
            (rows,) = base.rows(f"select count(*) from {self.table}")[0]
            equal = f"{text(f't.{self.body}')} {base.same} {text(f'b.{self.body}')}"
            joined = f"{self.table} t join {self.backup} b on b.{key} = t.{key}"
            (found,) = base.rows(f"select count(*) from {joined} where {equal}")[0]
            if rows != found:
                raise DatabaseFault(f"of {rows:,} rows the backup {self.asked.backup} holds {found:,}; none was made")

    def indexed(self, table: str) -> str:
        return f"{quoted_table(table)} ({self.key})"

    # ------------------------------------------------------------ read

    def sample(self, number: int) -> list[Row]:
        text = self.base.text(self.body)
        found = self.base.rows(f"select {self.key}, {text} from {self.table} order by {self.key} limit {number}")
        return [Row(key, data(body), None, None, None) for key, body in found]

    def page(self, after: Any, number: int) -> list[Row]:
        text, key = self.base.text, self.key
        there, joined = "null", ""
        if self.there:
            there = text(f"t.{self.there}")
        elif not self.in_place:
            there, joined = text(f"r.{self.body}"), f" left join {self.into} r on r.{key} = t.{key}"
        original = "null"
        if self.in_place:
            original, joined = text(f"b.{self.body}"), f" left join {self.backup} b on b.{key} = t.{key}"
        wanted = f"select t.{key}, {text(f't.{self.body}')}, {there}, {original}, {self.notes.columns('n')}"
        source = f"from {self.table} t{joined} left join {self.notes.table} n on n.{self.notes.key} = t.{key}"
        where = "" if after is None else f" where t.{key} > ?"
        found = self.base.rows(
            f"{wanted} {source}{where} order by t.{key} limit {number}", [] if after is None else [after]
        )
        return [
            Row(key, data(body), data(there), data(original), Note(*note) if note[0] else None)
            for key, body, there, original, *note in found
        ]

    # ------------------------------------------------------------ write

    def write(self, changes: Sequence[Change]) -> None:
        with self.base.transaction():
            written = self.written(changes)
            self.notes.put([
                (change, digest(change.row.body), written[n]) for n, change in enumerate(changes) if n in written
            ])  # fmt: skip

    def written(self, changes: Sequence[Change]) -> dict[int, str]:
        """Write the texts; give the digest of what stands there now for each that could be written."""
        if self.in_place:
            return self.written_in_place(changes)
        if self.there:
            return self.written_in_column(changes)
        return self.written_beside(changes)

    def written_in_place(self, changes: Sequence[Change]) -> dict[int, str]:
        base, given = self.base, self.base.given
        into = [n for n, change in enumerate(changes) if change.state == "translated"]
        rows = [changes[n].row for n in into]
        # What came or was changed since the backup was made is kept as well, in the transaction that overwrites it.
        kept = (
            f"insert into {self.backup} select {self.key}, {self.body} from {self.table} where {self.guard(self.body)}"
        )
        again = f"on conflict ({self.key}) do update set {self.body} = excluded.{self.body}"
        base.each(f"{kept} {again}", [(row.key, given(row.body)) for row in rows if row.original != row.body])
        set_ = f"update {self.table} set {self.body} = {self.put} where {self.guard(self.body)} {self.returning}"
        answers = base.each(
            set_, [(given(changes[n].out), changes[n].row.key, given(changes[n].row.body)) for n in into]
        )
        as_it_is = {n: digest(change.row.body) for n, change in enumerate(changes) if change.state != "translated"}
        return as_it_is | {n: digest(data(rows[0][0])) for n, rows in zip(into, answers, strict=True) if rows}

    def written_in_column(self, changes: Sequence[Change]) -> dict[int, str]:
        assert self.there
        given = self.base.given
        guards = f"{self.guard(self.body)} and {self.base.text(self.there)} {self.base.same} ?"
        returning = f"returning {self.base.text(self.there)}"
        answers = self.base.each(
            f"update {self.table} set {self.there} = {self.put} where {guards} {returning}",
            [(given(c.out), c.row.key, given(c.row.body), given(c.row.there)) for c in changes],
        )
        return {n: digest(data(rows[0][0])) for n, rows in enumerate(answers) if rows}

    def written_beside(self, changes: Sequence[Change]) -> dict[int, str]:
        base, given, body = self.base, self.base.given, self.body
        put = [n for n, change in enumerate(changes) if change.out is not None]
        removed = [n for n, change in enumerate(changes) if change.out is None and change.row.there is not None]
        mine = base.text(f"r.{body}")
        values = f"insert into {self.into} as r ({self.key}, {body}) values (?, {self.put}) on conflict ({self.key})"
        answers = base.each(
            f"{values} do update set {body} = excluded.{body} where {mine} {base.same} ? returning {base.text(body)}",
            [(changes[n].row.key, given(changes[n].out), given(changes[n].row.there)) for n in put],
        )
        made = {n: digest(data(rows[0][0])) for n, rows in zip(put, answers, strict=True) if rows}
        answers = base.each(
            f"delete from {self.into} where {self.guard(body)} returning 1",
            [(changes[n].row.key, given(changes[n].row.there)) for n in removed],
        )
        made |= {n: digest(None) for n, rows in zip(removed, answers, strict=True) if rows}
        nothing = (n for n, change in enumerate(changes) if change.out is None and change.row.there is None)
        return made | dict.fromkeys(nothing, digest(None))

    def guard(self, column: str) -> str:
        """The row with a key, if a column still holds what was read."""
        return f"{self.key} = ? and {self.base.text(column)} {self.base.same} ?"

    @property
    def returning(self) -> str:
        return f"returning {self.base.text(self.body)}"

    # ------------------------------------------------------------ back

    def put_back(self, texts: Sequence[tuple[Row, bytes | None]]) -> int:
        base, given = self.base, self.base.given
        kept = f"(select b.{self.body} from {self.backup} b where b.{self.key} = ?)"
        guarded = f"where {self.guard(self.body)} returning 1"
        with base.transaction():
            answers = base.each(
                f"update {self.table} set {self.body} = {kept} {guarded}",
                [(row.key, row.key, given(row.body)) for row, text in texts if text is None],
            )
            answers += base.each(
                f"update {self.table} set {self.body} = {self.put} {guarded}",
                [(given(text), row.key, given(row.body)) for row, text in texts if text is not None],
            )
        return sum(map(bool, answers))

    def gone(self) -> int:
        return self.notes.without(self.table, self.key)

    def count(self) -> int:
        (found,) = self.base.rows(f"select count(*) from {self.table}")[0]
        return int(found)


def index_of(table: str) -> str:
    """The name of an index, which stands in the schema of its table."""
    return f"{table.rpartition('.')[2]}_key"
