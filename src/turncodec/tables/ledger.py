"""What was asked for, kept in the folder of a migration, and held by one process at a time. What is done stands in the
database itself, in the notes; no password stands anywhere."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from turncodec.migrate import JobError
from turncodec.store.ledger import Options, Retry, rules, text, value

NAME = "table.sqlite"
LAYOUT = "1"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which transcripts are to be migrated, where to, and how."""

    database: str
    """Where it is, without a password."""
    table: str
    key: str
    column: str
    options: Options
    into: str
    """The table beside that is made; the names of the others that are made begin with it."""
    into_column: str | None = None
    in_place: bool = False
    group: str | None = None
    order: str | None = None

    @property
    def notes(self) -> str:
        return f"{self.into}_notes"

    @property
    def backup(self) -> str:
        return f"{self.into}_backup"

    @property
    def restored(self) -> str:
        return f"{self.into}_restored"

    def by_name(self) -> dict[str, str]:
        """What was asked for, by the names of arguments and options."""
        own = {
            "DATABASE": self.database,
            "TABLE": self.table,
            "--key": "" if self.group else self.key,
            "--column": self.column,
            "--group": self.group,
            "--order": self.order,
            "--into": "" if self.into == f"{self.table}_{self.options.to}" else self.into,
            "--into-column": self.into_column,
            "--in-place": "yes" if self.in_place else "",
        }
        others = self.options.by_name()
        if self.group:
            del others["--kind"]  # it says no more than --group does
        return {name: said for name, said in own.items() if said} | others

    def words(self) -> list[str]:
        """What was asked for, as one types it."""
        words: list[str] = []
        for name, said in self.by_name().items():
            words += [] if name.isupper() else [name]
            words += [] if name == "--in-place" else [said]
        return words


def is_unborn(path: Path) -> bool:
    """Whether a file is what is left of a ledger that was killed before it was one."""
    return path.name.startswith(f".{NAME}.part")


class Ledger:
    """The ledger of one migration."""

    def __init__(self, folder: Path) -> None:
        """Open the ledger of a folder. Raises `JobError` where there is none, or another process holds it."""
        self.path = folder / NAME
        if not self.path.is_file():
            raise JobError(f"{folder} holds no migration of a table: it has no {NAME}")
        self.base = sqlite3.connect(self.path, isolation_level=None, timeout=1)
        try:
            self.base.execute("pragma locking_mode = exclusive")
            self.base.execute("begin exclusive")
            self.base.execute("commit")
            layout = self.about("layout", str)
        except (sqlite3.Error, msgspec.MsgspecError, TypeError) as wrong:
            self.close()
            if "locked" in str(wrong):
                raise JobError(f"{folder}: another turncodec is at work on this migration") from wrong
            raise JobError(f"{self.path} is no ledger of a table: {wrong}") from wrong
        if layout != LAYOUT:
            self.close()
            raise JobError(f"{self.path} was written by another turncodec, which has to finish it")

    @classmethod
    def create(cls, folder: Path, asked: Asked) -> Ledger:
        """Write a new ledger. It appears under its name when all of it is written."""
        making = folder / f".{NAME}.part"
        for left in folder.iterdir():
            if is_unborn(left):
                left.unlink()
        base = sqlite3.connect(making, isolation_level=None)
        base.executescript(
            "begin; create table about (key text primary key, value text not null);"
            "create table retries (number integer primary key, retry text not null);"
        )
        about = {"layout": LAYOUT, "asked": asked, "rules": rules()}
        base.executemany("insert into about values (?, ?)", [(key, text(one)) for key, one in about.items()])
        base.execute("commit")
        base.close()
        making.replace(folder / NAME)
        return cls(folder)

    def close(self) -> None:
        self.base.close()

    def about(self, key: str, kind: type[T]) -> T:
        row = self.base.execute("select value from about where key = ?", (key,)).fetchone()
        return value(row[0], kind)

    @property
    def asked(self) -> Asked:
        return self.about("asked", Asked)

    @property
    def rules(self) -> str:
        return self.about("rules", str)

    def retries(self) -> list[Retry]:
        return [value(row[0], Retry) for row in self.base.execute("select retry from retries order by number")]

    def add_retry(self, retry: Retry) -> None:
        self.base.execute("insert into retries (retry) values (?)", (text(retry),))

    def allowed(self) -> tuple[str, ...]:
        """The codes that later passes have allowed."""
        return tuple(code for retry in self.retries() for code in retry.allow)
