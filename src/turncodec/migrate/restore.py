"""The way back of a whole file: each translated record with its remainder, the refused ones in their old places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from turncodec import edge
from turncodec.migrate import JobError
from turncodec.migrate.outcomes import OPPOSITE, Outcome, PassedThrough, Settings, outcome
from turncodec.migrate.records import Record
from turncodec.migrate.run import unkept
from turncodec.refusals import Refused


class Note(NamedTuple):
    """A line of a remainder file: what belongs to one record. No remainder: it was passed through."""

    record: int
    remainder: dict[str, Any] | None


class Kept(NamedTuple):
    """A line of a refused file: a record and the place that it had among all that were read."""

    place: int
    record: Record


def notes(lines: Iterable[Record]) -> Iterator[Note]:
    """The lines of a remainder file. Raises `JobError`."""
    last = 0
    for record in lines:
        value = read(record)
        number, remainder = value.get("record"), value.get("remainder")
        passed = value == {"record": number, "passed_through": True}
        if type(number) is not int or number <= last or not (passed or isinstance(remainder, dict)):
            raise JobError(f"{record.source}:{record.line} is no line of a remainder file")
        last = number
        yield Note(number, None if passed else remainder)


def kept_records(lines: Iterable[Record]) -> Iterator[Kept]:
    """The lines of a refused file. Raises `JobError`."""
    last = 0
    for record in lines:
        value = read(record)
        try:
            place, data = value["place"], unkept(value)
            old = Record(data, str(value["source"]), value["ordinal"], value["line"], value["offset"])
        except (KeyError, AttributeError, ValueError, TypeError):
            place = 0
        if type(place) is not int or place <= last:
            raise JobError(f"{record.source}:{record.line} is no line of a refused file")
        last = place
        yield Kept(place, old)


def read(record: Record) -> dict[str, Any]:
    try:
        value = edge.decode(record.data)
    except Refused as refused:
        raise JobError(f"{record.source}:{record.line}: {refused.refusals[0].message}") from refused
    return value if isinstance(value, dict) else {}


def direction(notes: Iterator[Note]) -> tuple[str | None, Iterator[Note]]:
    """The format that the remainders restore, by the first of them; and the notes, all of them still to come."""
    seen = []
    for note in notes:
        seen.append(note)
        if note.remainder is not None:
            told = note.remainder.get("format")
            return told if told in OPPOSITE else None, chain(seen, notes)
    return None, iter(seen)


class Placed(NamedTuple):
    """A record among all that were read: one that came out, with its note where it has one, or one that was refused."""

    record: Record
    note: Note | None = None
    is_refused: bool = False


def in_old_places(records: Iterable[Record], notes: Iterator[Note], kept: Iterator[Kept]) -> Iterator[Placed]:
    """Every record in its old place. Raises `JobError` where the side files do not belong to the records."""
    place = number = 0
    note, refused = next(notes, None), next(kept, None)
    for number, record in enumerate(records, 1):
        place += 1
        while refused and refused.place == place:
            yield Placed(refused.record, is_refused=True)
            refused, place = next(kept, None), place + 1
        if note and note.record == number:
            yield Placed(record, note)
            note = next(notes, None)
        else:
            yield Placed(record)
    while refused:
        yield Placed(refused.record, is_refused=True)
        refused = next(kept, None)
    if note:
        raise JobError(f"the remainder file speaks of record {note.record}, and there are only {number}")


def restored(
    records: Iterable[Record], notes: Iterator[Note], kept: Iterator[Kept], settings: Settings | None
) -> Iterator[tuple[Record, Outcome]]:
    """Every original record in its old place. `settings` say in which format the originals were, where that is known.

    Raises `JobError` where the side files do not belong to the records.
    """
    for record, note, is_refused in in_old_places(records, notes, kept):
        if is_refused or (note and note.remainder is None):
            yield record, PassedThrough(record.data)
        else:
            yield record, back(record, settings, note.remainder if note else None)


def back(record: Record, settings: Settings | None, remainder: dict[str, Any] | None) -> Outcome:
    if settings is None:
        raise JobError(f"no remainder says in which format {record.source}:{record.line} was; say it with --to")
    return outcome(record.data, settings, remainder)
