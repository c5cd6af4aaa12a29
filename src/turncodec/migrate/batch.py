"""The requests of a batch, found again by `custom_id`, so that its answers can echo their settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turncodec.edge import decode
from turncodec.migrate import JobError
from turncodec.migrate.records import look
from turncodec.refusals import Refused


class Requests:
    """The lines of a batch's input file: where each one stands is kept, not what it says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[str, tuple[int, int]] = {}
        for record in look(str(path)).records():
            try:
                line = decode(record.data)
            except Refused as refused:
                raise JobError(f"{path}:{record.line}: {refused.refusals[0].message}") from refused
            if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
                raise JobError(f"{path}:{record.line}: no line of a batch, it has no custom_id")
            self.places[line["custom_id"]] = (record.offset, len(record.data))

    def of(self, line: Any) -> Any:
        """The body of the request that a line of the output answers, or None where there is none."""
        custom_id = line.get("custom_id") if isinstance(line, dict) else None
        if not isinstance(custom_id, str) or custom_id not in self.places:
            return None
        offset, length = self.places[custom_id]
        with self.path.open("rb") as file:
            file.seek(offset)
            return decode(file.read(length)).get("body")
