"""SQLite, of the standard library. The only room that knows its dialect.

Texts are read and compared as the bytes they are, so that neither a zero byte nor broken UTF-8 in them is a surprise.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from turncodec.tables.database import Column, DatabaseFault, Row, quoted

PATIENCE = 60.0
"""Seconds to wait for another writer: SQLite has one at a time."""
OLDEST = (3, 35)
"""The first with `returning`."""


class SQLite:
    """A database in a file."""

    name = "SQLite"
    same = "is"

    def __init__(self, where: str) -> None:
        self.where = where
        if sqlite3.sqlite_version_info < OLDEST:
            raise DatabaseFault(f"SQLite {sqlite3.sqlite_version} is too old, 3.35 is needed")
        if not Path(where).is_file():
            raise DatabaseFault(f"{where}: there is no such file; name a file of SQLite, or a URL: postgresql://...")
        with self.in_words():
            self.base = sqlite3.connect(where, timeout=PATIENCE, isolation_level=None)
        try:
            self.rows("select count(*) from sqlite_master")
        except DatabaseFault:
            self.close()
            raise

    @contextmanager
    def in_words(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError, OverflowError) as wrong:
            raise DatabaseFault(f"{self.where}: {wrong}") from wrong

    def rows(self, sql: str, given: Sequence[Any] = ()) -> list[Row]:
        with self.in_words():
            return self.base.execute(sql, given).fetchall()

    def each(self, sql: str, given: Sequence[Sequence[Any]]) -> list[list[Row]]:
        with self.in_words():
            return [self.base.execute(sql, one).fetchall() for one in given]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.rows("begin immediate")
        try:
            yield
            self.rows("commit")
        except BaseException:
            if self.base.in_transaction:
                self.base.execute("rollback")
            raise

    standstill = transaction
    """Nobody else writes meanwhile."""

    def columns(self, table: str) -> list[Column]:
        schema, name = self.parts(table)
        return [Column(row[1], row[2]) for row in self.rows(f"pragma {schema}table_info({quoted(name)})")]

    def primary_key(self, table: str) -> list[str]:
        schema, name = self.parts(table)
        found = [(row[5], row[1]) for row in self.rows(f"pragma {schema}table_info({quoted(name)})") if row[5]]
        return [name for _, name in sorted(found)]

    def parts(self, table: str) -> tuple[str, str]:
        schema, dot, name = table.rpartition(".")
        return (quoted(schema) + dot if schema else "", name)

    def text(self, column: str) -> str:
        return f"cast({column} as blob)"

    def put(self, type: str) -> str:  # noqa: ARG002  any column takes a text
        return "cast(? as text)"

    def given(self, data: bytes | None) -> Any:
        return data

    def is_kept(self, type: str) -> bool:  # noqa: ARG002
        return True

    def refuse_type(self, column: Column) -> None:
        """None is refused: a column of SQLite holds what one puts there."""

    def close(self) -> None:
        self.base.close()
