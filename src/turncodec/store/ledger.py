"""The ledger: what a store is made of and what of it is proven done. Knows SQLite, and nothing of how work is done.

It is written by the one process that gives out the work, a transaction for each thing that is done, after that thing is
safely on the disk. So whatever happens, what the ledger says is there; what it does not say is done again.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

import turncodec
from turncodec.migrate import JobError
from turncodec.migrate.outcomes import Settings
from turncodec.store.proof import Verify
from turncodec.store.sources import File, Unusable
from turncodec.store.work import Counts, Done, Files, How

NAME = "ledger.sqlite"
LAYOUT = "1"

State = Literal["waiting", "placing", "placed", "unusable"]
"""`placing`: its files are whole and only to be moved to their names. `placed`: they are there."""

T = TypeVar("T")

_TABLES = """
create table about (key text primary key, value text not null);
create table files (
    number integer primary key, name text not null unique, file text not null, state text not null,
    counts text, files text, counted integer, why text not null default ''
);
create table pieces (
    file integer not null, number integer not null, begin integer not null, "end" integer not null,
    done text not null, primary key (file, number)
);
create table retries (number integer primary key, retry text not null);
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What a person asked for, as far as the result depends on it."""

    to: str
    kind: str | None = None
    allow: tuple[str, ...] = ()
    at: str | None = None
    request_at: str | None = None
    response_at: str | None = None
    column: str | None = None
    verify: Verify = "full"

    @classmethod
    def of(cls, settings: Settings, verify: Verify, column: str | None = None) -> Options:
        allow = tuple(sorted(settings.allow))
        at, request_at, response_at = settings.at, settings.request_at, settings.response_at
        return cls(settings.to, settings.kind, allow, at, request_at, response_at, column, verify)

    def how(self, allow: Sequence[str] = ()) -> How:
        """How records are translated, with more codes allowed."""
        codes = frozenset((*self.allow, *allow))
        settings = Settings(self.to, self.kind, codes, self.at, self.request_at, self.response_at)
        return How(settings, self.verify, self.column)

    def by_name(self) -> dict[str, str]:
        """The options that were given, by the names that one types."""
        given = {name.replace("_", "-"): getattr(self, name) for name in self.__dataclass_fields__}
        given["allow"] = ",".join(self.allow)
        return {f"--{name}": value for name, value in given.items() if value and (name, value) != ("verify", "full")}

    def named(self) -> list[str]:
        """The options as one types them."""
        return [word for option in self.by_name().items() for word in option]


@dataclass(frozen=True, slots=True)
class Retry:
    """A later pass over the refused records: with which codes, by which rules, and what came of it."""

    allow: tuple[str, ...]
    rules: str
    tried: int
    translated: int


@dataclass(slots=True)
class Entry:
    """A file of the store, and how far it is. `counted` is how many records the source has by its own count."""

    number: int
    file: File
    state: State
    counts: Counts = field(default_factory=Counts)
    files: Files = field(default_factory=Files)
    counted: int | None = None
    why: str = ""


class Ledger:
    """The ledger of one store, held by one process at a time."""

    def __init__(self, folder: Path) -> None:
        """Open the ledger of a folder. Raises `JobError` where there is none, or another process holds it."""
        self.path = folder / NAME
        if not self.path.is_file():
            raise JobError(f"{folder} is no store: it has no {NAME}")
        self.base = sqlite3.connect(self.path, isolation_level=None, timeout=1)
        try:
            self.base.execute("pragma locking_mode = exclusive")
            self.base.execute("begin exclusive")
            layout = self.about("layout", str)
            self.base.execute("commit")
        except sqlite3.OperationalError as wrong:
            self.close()
            if "locked" in str(wrong):
                raise JobError(f"{folder}: another turncodec is at work on this store") from wrong
            raise JobError(f"{self.path}: {wrong}") from wrong
        except (sqlite3.DatabaseError, msgspec.MsgspecError, TypeError) as wrong:
            self.close()
            raise JobError(f"{self.path} is no ledger of a store: {wrong}") from wrong
        if layout != LAYOUT:
            self.close()
            raise JobError(f"{self.path} was written by another turncodec, which has to finish it")

    @classmethod
    def create(cls, folder: Path, options: Options, files: Sequence[File], unusable: Sequence[Unusable]) -> Ledger:
        """Write a new ledger. It appears under its name when all of it is written."""
        making = folder / f".{NAME}.part"
        making.unlink(missing_ok=True)
        about = {"layout": LAYOUT, "options": options, "rules": rules()}
        entries = [(file.name, text(file), "waiting", "") for file in files]
        entries += [(one.name, text(File(one.path, one.name, 0, 0)), "unusable", one.why) for one in unusable]
        rows = [(number, *entry) for number, entry in enumerate(sorted(entries))]
        try:
            with closing(sqlite3.connect(making, isolation_level=None)) as base:
                base.executescript("begin;" + _TABLES)
                base.executemany(
                    "insert into about values (?, ?)", [(key, text(value)) for key, value in about.items()]
                )
                base.executemany("insert into files (number, name, file, state, why) values (?, ?, ?, ?, ?)", rows)
                base.execute("commit")
        except sqlite3.Error as wrong:
            making.unlink(missing_ok=True)
            raise unwritable(making, wrong) from wrong
        making.replace(folder / NAME)
        return cls(folder)

    def close(self) -> None:
        """Let go of the ledger. SQLite keeps its journal while it holds a file, and removes it when it lets go."""
        with suppress(sqlite3.Error):
            self.base.execute("pragma locking_mode = normal")
            self.base.execute("select value from about").fetchall()
        self.base.close()

    def write(self, statement: str, *values: object) -> None:
        """Change the ledger, all of it or nothing. Raises OSError where the disk takes no more."""
        try:
            self.base.execute(statement, values)
        except sqlite3.Error as wrong:
            raise unwritable(self.path, wrong) from wrong

    # ------------------------------------------------------------ what it says

    def about(self, key: str, kind: type[T]) -> T:
        row = self.base.execute("select value from about where key = ?", (key,)).fetchone()
        return value(row[0], kind)

    @property
    def options(self) -> Options:
        return self.about("options", Options)

    @property
    def rules(self) -> str:
        return self.about("rules", str)

    def entries(self) -> list[Entry]:
        """All files, in the order of their names."""
        rows = self.base.execute("select number, file, state, counts, files, counted, why from files order by number")
        return [
            Entry(number, value(file, File), state, value(counts, Counts), value(files, Files), counted, why)
            for number, file, state, counts, files, counted, why in (
                (*row[:3], row[3] or "{}", row[4] or "[]", *row[5:]) for row in rows
            )
        ]

    def done(self, number: int) -> dict[int, Done]:
        """What is done of a file, by the numbers of its pieces."""
        rows = self.base.execute("select number, done from pieces where file = ? order by number", (number,))
        return {piece: value(done, Done) for piece, done in rows}

    def retries(self) -> list[Retry]:
        return [value(row[0], Retry) for row in self.base.execute("select retry from retries order by number")]

    # ------------------------------------------------------------ what it is told

    def add_piece(self, number: int, piece: int, begin: int, end: int, done: Done) -> None:
        values = (number, piece, begin, end, text(done))
        self.write("insert or replace into pieces values (?, ?, ?, ?, ?)", *values)

    def forget_piece(self, number: int, piece: int) -> None:
        self.write("delete from pieces where file = ? and number = ?", number, piece)

    def set_file(self, number: int, file: File) -> None:
        self.write("update files set file = ? where number = ?", text(file), number)

    def set_waiting(self, number: int) -> None:
        self.write("update files set state = 'waiting', why = '' where number = ?", number)

    def set_placing(self, number: int, counts: Counts, files: Files) -> None:
        """The files of a source are whole, and wait under other names."""
        statement = "update files set state = 'placing', counts = ?, files = ?, why = '' where number = ?"
        self.write(statement, text(counts), text(files), number)

    def set_placed(self, number: int) -> None:
        self.write("update files set state = 'placed' where number = ?", number)

    def set_counted(self, number: int, counted: int) -> None:
        self.write("update files set counted = ? where number = ?", counted, number)

    def set_unusable(self, number: int, why: str) -> None:
        self.write("update files set state = 'unusable', why = ? where number = ?", why, number)

    def begin_again(self, number: int) -> None:
        """Nothing of a file is done."""
        again = "update files set state = 'waiting', counts = null, files = null, counted = null, why = ''"
        self.write(f"{again} where number = ?", number)
        self.write("delete from pieces where file = ?", number)

    def add_retry(self, retry: Retry) -> None:
        self.write("insert into retries (retry) values (?)", text(retry))


def unwritable(path: Path, wrong: sqlite3.Error) -> OSError:
    return OSError(None, str(wrong), str(path))


def text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def value(text: str, kind: type[T]) -> T:
    return msgspec.json.decode(text, type=kind)


def rules() -> str:
    """The version of the rules by which records are translated: that of turncodec, and a digest of the rooms that
    decide what a record becomes."""
    digest = hashlib.sha256()
    package = Path(turncodec.__file__).parent
    deciding = [*package.glob("*.py"), *package.glob("wire/*.py"), *package.glob("mapping/*.py")]
    for path in sorted(path for path in deciding if path.name not in ("cli.py", "bench.py")):
        digest.update(path.read_bytes())
    return f"{turncodec.__version__}+{digest.hexdigest()[:12]}"
