"""A transcript as it lies in the tables, what is noted of it, and what is to become of it. Knows no SQL.

The state of a transcript is known by digests, never by a mark that says "done": a note holds the digest of the text
that was read and that of the text that was written. Where the tables hold other texts by now, somebody else has
written meanwhile.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from turncodec.edge import decode, encode
from turncodec.migrate.outcomes import Outcome, PassedThrough, Translated
from turncodec.refusals import Refusal
from turncodec.store.proof import proven
from turncodec.store.work import How, is_fault
from turncodec.tables.database import Column

State = Literal["translated", "refused", "passed_through", "continued"]
"""`continued`: it was translated in place, and the application has gone on with it in the new format."""


class Note(NamedTuple):
    """What is noted of a transcript. `read` and `written` are digests; the others are JSON texts."""

    state: State
    read: str
    written: str
    remainder: str | None
    refusals: str | None


class Row(NamedTuple):
    """A transcript: its key, its text now, the text that stands where its translation belongs now, the text that it had
    in place before, and the note."""

    key: Any
    body: bytes | None
    there: bytes | None
    original: bytes | None
    note: Note | None


class Change(NamedTuple):
    """What is to become of a transcript. `out` is None where nothing is to stand in the place of its translation."""

    row: Row
    state: State
    out: bytes | None
    remainder: bytes | None = None
    refusals: bytes | None = None
    is_fault: bool = False


class Layout(Protocol):
    """How transcripts lie in the tables. Each method may raise `DatabaseFault`."""

    in_place: bool
    column: Column
    """The column with the texts."""

    def refuse_unfit(self) -> None:
        """Raise `DatabaseFault` where the tables are not as they must be."""

    def prepare(self) -> None:
        """Make the tables that are not there yet."""

    def sample(self, number: int) -> list[Row]:
        """The first transcripts, whether or not there are tables of ours."""

    def page(self, after: Any, number: int) -> list[Row]:
        """The next transcripts behind a key, in the order of the keys; from the beginning where that is None."""

    def write(self, changes: Sequence[Change]) -> None:
        """Write what became of transcripts, and the notes of it, where nobody has written meanwhile."""

    def put_back(self, texts: Sequence[tuple[Row, bytes | None]]) -> int:
        """Give transcripts their texts back, where nobody has written meanwhile; None stands for the very text that was
        kept. Gives how many."""

    def gone(self) -> int:
        """How many transcripts there are notes of that are there no more."""

    def count(self) -> int:
        """How many transcripts there are, by the database's own count."""


def pages(layout: Layout, number: int) -> Iterator[list[Row]]:
    """All transcripts."""
    after = None
    while page := layout.page(after, number):
        yield page
        after = page[-1].key


def digest(data: bytes | None) -> str:
    return "null" if data is None else hashlib.sha256(data).hexdigest()


# ---------------------------------------------------------------- who has written last


def is_done(row: Row, in_place: bool) -> bool:
    """Whether both texts are those that the note speaks of."""
    note = row.note
    if note is None:
        return False
    if in_place:
        return digest(row.body) == (note.written if note.state in ("translated", "continued") else note.read)
    return digest(row.body) == note.read and digest(row.there) == note.written


def is_untouched(row: Row) -> bool:
    """Whether nobody else has written where the translation belongs."""
    return digest(row.there) == (row.note.written if row.note else digest(None))


# ---------------------------------------------------------------- what is to become of it


def change_of(row: Row, how: How, in_place: bool) -> Change:
    """What is to become of a transcript. A null is nothing, and passes."""
    if row.body is None:
        return Change(row, "passed_through", None)
    return change_by(row, proven(row.body, how.settings, how.verify), in_place)


def change_by(row: Row, outcome: Outcome, in_place: bool) -> Change:
    if isinstance(outcome, Translated):
        remainder = None if outcome.remainder is None else encode(outcome.remainder)
        return Change(row, "translated", outcome.data, remainder)
    if isinstance(outcome, PassedThrough):
        note = row.note
        if in_place and note and note.state in ("translated", "continued"):
            kept = None if note.remainder is None else note.remainder.encode()
            return Change(row, "continued", outcome.data, kept)
        return Change(row, "passed_through", outcome.data)
    refusals = encode([refusal.as_json() for refusal in outcome.refusals])
    return Change(row, "refused", None, None, refusals, is_fault(outcome))


def refusals_of(note: Note) -> list[Refusal]:
    """The refusals that a note holds."""
    return [Refusal(**refusal) for refusal in decode((note.refusals or "[]").encode())]
