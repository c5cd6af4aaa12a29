"""PostgreSQL, by psycopg, which the extra `pg` brings. The only room that knows either.

JSON is read as text and written as text: a driver that parses it would lose the spelling of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from turncodec.tables.database import Column, DatabaseFault, Row, quoted_table, secrets, shown, without

TEXTS = ("text", "json", "jsonb", "character varying")


def driver() -> Any:
    """The module psycopg. Raises `DatabaseFault` where there is none."""
    try:
        return import_module("psycopg")
    except ImportError as wrong:
        raise DatabaseFault("PostgreSQL needs the extra: pip install 'turncodec[pg]'") from wrong


class PostgreSQL:
    """A database on a server."""

    name = "PostgreSQL"
    same = "is not distinct from"

    def __init__(self, where: str) -> None:
        self.where, self.hidden = shown(where), secrets(where)
        self.psycopg = driver()
        try:
            self.base = self.psycopg.connect(where, autocommit=True, client_encoding="UTF8")
        except self.psycopg.Error as wrong:
            said = without(str(wrong), self.hidden)
            hint = "; PGPASSWORD or ~/.pgpass gives a password" if "password" in said else ""
            raise DatabaseFault(f"{self.where}: {said}{hint}") from None

    @contextmanager
    def in_words(self) -> Iterator[None]:
        try:
            yield
        except (self.psycopg.Error, UnicodeError) as wrong:
            raise DatabaseFault(f"{self.where}: {without(str(wrong), self.hidden)}") from None

    def rows(self, sql: str, given: Sequence[Any] = ()) -> list[Row]:
        with self.in_words():
            done = self.base.execute(ours(sql), given)
            return list(done.fetchall()) if done.description else []

    def each(self, sql: str, given: Sequence[Sequence[Any]]) -> list[list[Row]]:
        if not given:
            return []
        found: list[list[Row]] = []
        with self.in_words(), self.base.cursor() as cursor:
            cursor.executemany(ours(sql), given, returning="returning" in sql)
            while cursor.description:
                found.append(list(cursor.fetchall()))
                if not cursor.nextset():
                    break
        return found

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield from self.between("begin")

    @contextmanager
    def standstill(self) -> Iterator[None]:
        yield from self.between("begin isolation level repeatable read")

    def between(self, begin: str) -> Iterator[None]:
        self.rows(begin)
        try:
            yield
            self.rows("commit")
        except BaseException:
            with suppress(DatabaseFault):  # the server may be gone, and has then taken all of it back
                self.rows("rollback")
            raise

    def columns(self, table: str) -> list[Column]:
        named = "select attname, format_type(atttypid, atttypmod) from pg_attribute"
        where = "attrelid = to_regclass(?) and attnum > 0 and not attisdropped"
        return [Column(*row) for row in self.rows(f"{named} where {where} order by attnum", [quoted_table(table)])]

    def primary_key(self, table: str) -> list[str]:
        joined = "pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)"
        where = "i.indrelid = to_regclass(?) and i.indisprimary"
        return [row[0] for row in self.rows(f"select a.attname from {joined} where {where}", [quoted_table(table)])]

    def text(self, column: str) -> str:
        return f"{column}::text"

    def put(self, type: str) -> str:
        return f"?::{type}" if type in ("json", "jsonb") else "?::text"  # a cast to varchar(9) would cut, silently

    def given(self, data: bytes | None) -> Any:
        return None if data is None else data.decode()

    def is_kept(self, type: str) -> bool:
        return type != "jsonb"

    def refuse_type(self, column: Column) -> None:
        if not column.type.startswith(TEXTS):
            raise DatabaseFault(f"the column {column.name} is of type {column.type}, and must be json, jsonb or text")

    def close(self) -> None:
        self.base.close()


def ours(sql: str) -> str:
    """A statement as psycopg takes it; what stands in quotation marks is a name."""
    parts = sql.replace("%", "%%").split('"')
    return '"'.join(part if n % 2 else part.replace("?", "%s") for n, part in enumerate(parts))
