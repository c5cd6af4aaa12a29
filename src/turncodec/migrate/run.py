"""Records through: each outcome to its file, and the tally in which everything adds up.

Beside the records that come out lie two files of lines. The *remainder file* has a line for each of them that needs
one to come back: `{"record": n, "remainder": {...}}`, and `{"record": n, "passed_through": true}` for one that was in
the target's format already, so that restoring leaves it alone; n counts the records of the output from 1. The
*refused file* has each refused record whole: its place among everything that was read (counted from 1, so that it can
be put back there), where it stood, why it was refused, and its bytes, as `text`, or as `base64` where they are not
UTF-8.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from turncodec.edge import encode
from turncodec.migrate.outcomes import Outcome, PassedThrough, Stopped
from turncodec.migrate.records import Record
from turncodec.migrate.targets import Output, Write
from turncodec.refusals import Refusal


@dataclass(slots=True)
class Reason:
    """All refusals of one code: how many records, the first one and where it stands, whether all can be allowed."""

    records: int
    at: str
    first: Refusal
    allowable: bool


@dataclass(slots=True)
class Tally:
    """What became of the records. `read == translated + passed + refused`."""

    read: int = 0
    translated: int = 0
    passed: int = 0
    refused: int = 0
    remainders: int = 0
    unasked: int = 0
    first_unasked: str = ""
    reasons: dict[str, Reason] = field(default_factory=dict)

    def count(self, record: Record, outcome: Outcome) -> None:
        self.read += 1
        if isinstance(outcome, Stopped):
            self.refused += 1
            self.note(record, outcome.refusals)
        elif isinstance(outcome, PassedThrough):
            self.passed += 1
        else:
            self.translated += 1
            self.remainders += outcome.remainder is not None
            if outcome.is_unasked:
                self.unasked += 1
                self.first_unasked = self.first_unasked or at(record, "")

    def note(self, record: Record, refusals: Iterable[Refusal]) -> None:
        seen = set()
        for refusal in refusals:
            if refusal.code not in self.reasons:
                self.reasons[refusal.code] = Reason(0, at(record, refusal.pointer), refusal, True)
            reason = self.reasons[refusal.code]
            reason.allowable &= refusal.allowable
            reason.records += refusal.code not in seen
            seen.add(refusal.code)


Pairs = Iterable[tuple[Record, Outcome]]
Watch = Callable[[Record, Tally], object]
"""Called after each record: a progress bar, for instance."""


def run(pairs: Pairs, output: Output, remainder: Write, refused: Write, watch: Watch | None = None) -> Tally:
    """Put each outcome where it belongs. Raises OSError where reading or writing fails."""
    tally = Tally()
    for record, outcome in pairs:
        tally.count(record, outcome)
        if isinstance(outcome, Stopped):
            refused(line(refused_record(tally.read, record, outcome.refusals)))
        else:
            output.add(outcome.data)
            if isinstance(outcome, PassedThrough):
                remainder(line({"record": output.count, "passed_through": True}))
            elif outcome.remainder is not None:
                remainder(line({"record": output.count, "remainder": outcome.remainder}))
        if watch:
            watch(record, tally)
    output.end()
    return tally


def line(value: dict[str, Any]) -> bytes:
    return encode(value) + b"\n"


# ---------------------------------------------------------------- lines of side files that were joined


def with_record_moved(line: bytes, by: int) -> bytes:
    """A line of a remainder file whose record has so many others before it."""
    return _moved(line, {"record": by})


def with_place_moved(line: bytes, records: int, lines: int) -> bytes:
    """A line of a refused file whose record has so many others, on so many lines, before it."""
    return _moved(line, {"place": records, "ordinal": records, "line": lines})


def _moved(line: bytes, by: dict[str, int]) -> bytes:
    entry = _entry(line)
    moved = {key: msgspec.json.decode(entry[key], type=int) + number for key, number in by.items()}
    return encode(entry | moved) + b"\n"


_entry: Callable[[bytes], dict[str, Any]] = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


# ---------------------------------------------------------------- where something stands


def at(record: Record, pointer: str) -> str:
    """Where something stands, as editors and compilers say it, and the pointer inside the record."""
    return shown(f"{written(record.source)}:{record.line} {pointer}".rstrip())


def standing(place: int, record: Record) -> dict[str, Any]:
    """Where a record stands, for a program: among everything that was read, and in its source."""
    return {
        "place": place,
        "source": written(record.source),
        "ordinal": record.ordinal,
        "line": record.line,
        "offset": record.offset,
    }


def shown(text: str) -> str:
    """A text from a document as it may be shown on a terminal: on one line, and with nothing that steers it."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def written(name: str) -> str:
    """A file name that can be written as UTF-8, whatever its bytes."""
    return os.fsencode(name).decode(errors="backslashreplace")


# ---------------------------------------------------------------- refused records


def refused_record(place: int, record: Record, refusals: Iterable[Refusal]) -> dict[str, Any]:
    """A refused record, kept whole."""
    return {**standing(place, record), "refusals": [refusal.as_json() for refusal in refusals], **kept(record.data)}


def kept(data: bytes) -> dict[str, str]:
    """Bytes in JSON: as text where they are UTF-8, else in base64."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def unkept(entry: dict[str, Any]) -> bytes:
    """The bytes that `kept` has kept."""
    if "text" in entry:
        return str.encode(entry["text"])
    return base64.b64decode(entry["base64"], validate=True)
