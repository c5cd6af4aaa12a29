"""The notes: a table beside, with a row for each transcript that was looked at. Knows the SQL of that table alone.

They are written in the same transaction as what they speak of.
"""

from __future__ import annotations

from collections.abc import Sequence

from turncodec.tables.database import Database, DatabaseFault, quoted, quoted_table
from turncodec.tables.ledger import Asked
from turncodec.tables.rows import Change, Note


class Notes:
    """The notes of one migration."""

    key = quoted("key")

    def __init__(self, base: Database, name: str) -> None:
        self.base, self.name = base, name
        self.table = quoted_table(name)

    def refuse_begun(self, asked: Asked) -> None:
        """Raise `DatabaseFault` where there are notes of another migration."""
        if self.base.columns(self.name):
            said = f"{asked.table} has a migration already, of which the table {self.name} takes notes"
            raise DatabaseFault(f"{said}; go on with it: --resume and its folder; or name another table with --into")

    def prepare(self, table: str, key: str) -> None:
        """Make the table, unless it is there. Its key is of the type of the column that it is taken from."""
        base = self.base
        if base.columns(self.name):
            return
        index = quoted(f"{self.name.rpartition('.')[2]}_key")
        with base.transaction():
            base.rows(f"create table {self.table} as select {key} as {self.key} from {table} where 1 = 0")
            for name in Note._fields:
                base.rows(f"alter table {self.table} add column {quoted(name)} text")
            base.rows(f"create unique index {index} on {self.table} ({self.key})")

    def columns(self, alias: str) -> str:
        return ", ".join(f"{alias}.{quoted(name)}" for name in Note._fields)

    def put(self, noted: Sequence[tuple[Change, str, str]]) -> None:
        """Note changes, each with the digest of what was read and of what is written."""
        names = [quoted(name) for name in Note._fields]
        values = f"({self.key}, {', '.join(names)}) values (?, ?, ?, ?, ?, ?)"
        again = ", ".join(f"{name} = excluded.{name}" for name in names)
        self.base.each(
            f"insert into {self.table} {values} on conflict ({self.key}) do update set {again}",
            [
                (change.row.key, change.state, read, written, text(change.remainder), text(change.refusals))
                for change, read, written in noted
            ],
        )

    def without(self, table: str, key: str) -> int:
        """How many notes there are of which the row is gone."""
        there = f"select 1 from {table} t where t.{key} = n.{self.key}"
        (found,) = self.base.rows(f"select count(*) from {self.table} n where not exists ({there})")[0]
        return int(found)


def text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
