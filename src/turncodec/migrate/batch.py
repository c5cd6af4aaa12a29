"""The requests of a batch, found again by `custom_id`, so that its answers can echo their settings."""

from __future__ import annotations

from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple

from turncodec.edge import decode
from turncodec.migrate import JobError
from turncodec.migrate.records import Record, look
from turncodec.refusals import Refused

IN_MEMORY = 1 << 26


class Place(NamedTuple):
    """Where a line stands among the kept ones, and which line of the file it was."""

    offset: int
    length: int
    line: int


class Requests:
    """The lines of a batch's input file. It is read once, since it may be a pipe; a big one is kept on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[str, Place] = {}
        self.kept = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  read until the run is over
        try:
            for record in look(str(path)).records():
                self.keep(record)
        except BaseException:
            self.close()
            raise

    def keep(self, record: Record) -> None:
        where = f"{self.path}:{record.line}"
        try:
            line = decode(record.data)
        except Refused as refused:
            raise JobError(f"{where}: {refused.refusals[0].message}") from refused
        custom_id = custom_id_of(line)
        if custom_id is None:
            raise JobError(f"{where}: no line of a batch, it has no custom_id")
        if not isinstance(line.get("body"), dict):
            raise JobError(f"{where}: no line of a batch's input, it has no body")
        if custom_id in self.places:
            raise JobError(f"{where}: custom_id {custom_id!r:.80} stands on line {self.places[custom_id].line} already")
        self.places[custom_id] = Place(self.kept.tell(), len(record.data), record.line)
        self.kept.write(record.data)

    def of(self, line: Any) -> Any:
        """The body of the request that a line of the output answers, or None where there is none."""
        place = self.places.get(custom_id_of(line) or "")
        if place is None:
            return None
        self.kept.seek(place.offset)
        return decode(self.kept.read(place.length))["body"]

    def close(self) -> None:
        self.kept.close()


def custom_id_of(line: Any) -> str | None:
    custom_id = line.get("custom_id") if isinstance(line, dict) else None
    return custom_id if isinstance(custom_id, str) else None


def is_answer(line: Any) -> bool:
    """Whether a record is an answer: a line of a batch's output, or one that stands alone."""
    return isinstance(line, dict) and not {"response", "choices"}.isdisjoint(line)
