"""What is asked of a database, whichever it is. Knows no dialect and no driver, and nothing of transcripts.

SQL is written once, for both, with `?` for its parameters. What they do not have in common, a database says itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from turncodec.migrate import JobError

POSTGRESQL = ("postgresql://", "postgres://")
SECRETS = ("password", "sslpassword", "passfile")

Row = tuple[Any, ...]


class DatabaseFault(JobError):
    """What a database refused or could not do, in one line."""


class Column(NamedTuple):
    """A column of a table and its type, as the database writes it."""

    name: str
    type: str


class Database(Protocol):
    """A connection. Each of its methods may raise `DatabaseFault`."""

    name: str
    same: str
    """The operator that compares two values of which either may be null."""

    def rows(self, sql: str, given: Sequence[Any] = ()) -> list[Row]:
        """The rows of one statement; none of one that has no result."""

    def each(self, sql: str, given: Sequence[Sequence[Any]]) -> list[list[Row]]:
        """A statement for each of several parameters, and the rows of each."""

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing of what is written in it, seen by others at its end."""

    def standstill(self) -> AbstractContextManager[None]:
        """A transaction in which the database looks as it did at its beginning."""

    def columns(self, table: str) -> list[Column]:
        """The columns of a table; none where there is no such table."""

    def primary_key(self, table: str) -> list[str]: ...

    def text(self, column: str) -> str:
        """The expression that reads a column as the text it holds."""

    def put(self, type: str) -> str:
        """The parameter that writes a text into a column of a type."""

    def given(self, data: bytes | None) -> Any:
        """A text as it is given for a parameter."""

    def is_kept(self, type: str) -> bool:
        """Whether a column of a type keeps a text byte for byte."""

    def refuse_type(self, column: Column) -> None:
        """Raise `DatabaseFault` where a column cannot hold JSON texts."""

    def close(self) -> None: ...


def data(value: Any) -> bytes | None:
    """A text as it was read, in bytes."""
    return value.encode() if isinstance(value, str) else value


# ---------------------------------------------------------------- names


def quoted(name: str) -> str:
    """A name as SQL, whatever characters it has. Raises `DatabaseFault` where it is none."""
    if not name or "\0" in name:
        raise DatabaseFault(f"{name!r} is no name of a table or a column")
    return '"' + name.replace('"', '""') + '"'


def quoted_table(table: str) -> str:
    """The name of a table, after that of its schema and a dot where one is given."""
    return ".".join(map(quoted, table.split(".", 1)))


# ---------------------------------------------------------------- where a database is


def is_url(where: str) -> bool:
    return where.startswith(POSTGRESQL)


def shown(where: str) -> str:
    """Where a database is, as it may be told and kept: without passwords."""
    if not is_url(where):
        return where
    parts = urlsplit(where)
    user, at, host = parts.netloc.rpartition("@")
    query = urlencode([one for one in parse_qsl(parts.query) if one[0] not in SECRETS], quote_via=quote)
    named = f"{parts.scheme}://{user.partition(':')[0]}{at}{host}{parts.path}"
    return f"{named}?{query}" if query else named


def secrets(where: str) -> list[str]:
    """The passwords in a URL, as they may turn up in what a driver says."""
    if not is_url(where):
        return []
    user, _, _ = urlsplit(where).netloc.rpartition("@")
    found = [user.partition(":")[2]]
    found += [value for key, value in parse_qsl(urlsplit(where).query) if key in SECRETS]
    return [secret for one in found if one for secret in (one, unquote(one))]


def without(text: str, hidden: Sequence[str]) -> str:
    """What a driver says, on one line, without passwords."""
    for secret in hidden:
        text = text.replace(secret, "***")
    return re.sub(r"\s+", " ", text).strip()


def opened(where: str) -> Database:
    """Connect to a database: a URL of PostgreSQL, or a file of SQLite. Raises `DatabaseFault`."""
    if is_url(where):
        from turncodec.tables.postgresql import PostgreSQL

        return PostgreSQL(where)
    from turncodec.tables.sqlite import SQLite

    return SQLite(where)
