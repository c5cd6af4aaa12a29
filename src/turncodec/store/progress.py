"""What is said while a run goes on: a line on a terminal, or a line of JSON for a machine, or nothing.

Adds up what is done and what the workers are at; knows nothing of how it is done.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, TextIO

from turncodec.edge import encode
from turncodec.migrate.report import size
from turncodec.store.pieces import Piece
from turncodec.store.pool import Gauge
from turncodec.store.work import Done


class Progress:
    """How far a run is. Says nothing; its kinds below do."""

    every = 3600.0
    """Seconds between two times that it is said."""

    def __init__(self, stream: TextIO, total: int = 0) -> None:
        self.stream, self.total = stream, total
        self.bytes = self.records = self.refused = 0
        self.skipped = self.skipped_records = 0
        self.began = self.shown = time.monotonic()

    def skip(self, size: int) -> None:
        """So much was done before."""
        self.bytes += size
        self.skipped += size

    def piece(self, piece: Piece, done: Done, is_new: bool = True) -> None:
        """A piece is done, now or before."""
        self.bytes += piece.end - piece.begin
        self.records += done.counts.read
        self.refused += done.counts.refused
        if not is_new:
            self.skipped += piece.end - piece.begin
            self.skipped_records += done.counts.read

    def tick(self, gauges: Sequence[Gauge]) -> None:
        """Ten times a second."""
        now = time.monotonic()
        if now - self.shown >= self.every:
            self.shown = now
            done, records, refused = (sum(gauge.numbers[n] for gauge in gauges) for n in range(3))
            self.show(min(self.bytes + done, self.total), self.records + records, self.refused + refused)

    def show(self, done: int, records: int, refused: int) -> None:
        pass

    def say(self, text: str) -> None:
        """Something that is worth a line of its own."""
        self.stream.write(f"{text}\n")
        self.stream.flush()

    def tell(self, event: str, **facts: Any) -> None:
        """Something that happened, for those who follow."""

    def end(self) -> None:
        pass

    def seconds(self) -> float:
        return max(time.monotonic() - self.began, 1e-9)


class Line(Progress):
    """One line on a terminal, written anew as long as the run goes on."""

    every = 0.1
    width = 0

    def show(self, done: int, records: int, refused: int) -> None:
        new = done - self.skipped
        part = done / self.total if self.total else 1.0
        speed = new / self.seconds()
        rate = (records - self.skipped_records) / self.seconds()
        left = f", {span((self.total - done) / speed)} left" if new > 0 else ""
        much = f"{part:4.0%}  {size(done)} of {size(self.total)}, {size(speed)}/s"
        text = f"{much}  {records:,} records, {rate:,.0f}/s, {refused:,} refused{left}"
        self.stream.write("\r" + text.ljust(self.width))
        self.stream.flush()
        self.width = len(text)

    def say(self, text: str) -> None:
        self.end()
        super().say(text)

    def end(self) -> None:
        if self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()
            self.width = 0


class Log(Progress):
    """A line of JSON for everything that happens, and every few seconds one on how far it is."""

    every = 5.0

    def show(self, done: int, records: int, refused: int) -> None:
        self.tell("progress", bytes=done, total=self.total, records=records, refused=refused)

    def piece(self, piece: Piece, done: Done, is_new: bool = True) -> None:
        super().piece(piece, done, is_new)
        counts = done.counts
        numbers = {"read": counts.read, "translated": counts.translated, "refused": counts.refused}
        where = {"file": piece.file.name, "piece": piece.number, "done_before": not is_new}
        self.tell("piece", **where, **numbers, passed_through=counts.passed_through)

    def say(self, text: str) -> None:
        self.tell("said", text=text)

    def tell(self, event: str, **facts: Any) -> None:
        self.stream.write(encode({"event": event, "seconds": round(self.seconds(), 3), **facts}).decode() + "\n")
        self.stream.flush()


def span(seconds: float) -> str:
    """A time as a person reads it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
