"""A conversation with one item or message a line: a session of an agent, a recording of its run.

Lines that hold no turn pass through in their places. A line whose turn becomes several, or is bundled with others,
lends its other keys to each; the remainder restores what every line had of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from turncodec.edge import decode, encode
from turncodec.equality import json_faults
from turncodec.formats import CHAT, Format
from turncodec.mapping.turns import sources_of_items, sources_of_messages
from turncodec.record import in_text
from turncodec.refusals import Finding, Path, Refused
from turncodec.remainder import Op, list_difference
from turncodec.transcript import NotReversible, Transcript, alignment, origins
from turncodec.validate import in_order, spelled

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LinePreset:
    """How such lines are made: the key of the turn, whether it is kept as a string of JSON, which lines have one (those
    where a key has a value), and the key by which lines of several conversations are told apart."""

    turn: str
    text: bool = False
    where: tuple[str, str] | None = None
    group: str | None = None
    note: str = ""

    def has_turn(self, row: Row) -> bool:
        return self.turn in row and (self.where is None or row.get(self.where[0]) == self.where[1])


LINE_PRESETS: dict[str, LinePreset] = {
    "agents-session": LinePreset("message_data", True, None, "session_id", "a table of sessions of openai-agents"),
    "codex-rollout": LinePreset("payload", False, ("type", "response_item"), None, "a session file of Codex"),
}


class Thread:
    """The turns of one conversation among the lines, and the line of each."""

    def __init__(self, name: str, turns: list[Any], lines: list[int], format_: Format) -> None:
        self.name, self.lines = name, lines
        self.transcript = Transcript(turns, format_)

    def line(self, path: Path, preset: LinePreset, finding: Finding) -> Finding:
        """A finding in a turn as one in its line."""
        if not path:
            return finding
        own: Path = (self.lines[int(path[0])], preset.turn)
        inner = Finding(finding.code, path[1:], finding.message, None, finding.can_be_allowed, finding.hint)
        return (in_text(inner) if preset.text else inner).under(own)


class Lines:
    """The lines of a file as one document."""

    turns = None
    count = 0

    def __init__(self, value: list[Any], format_: Format, preset: LinePreset) -> None:
        self.value, self.format, self.preset = value, format_, preset
        self.back: Any = value
        self.unread: list[Finding] = []
        self.threads = list(self.read(value, format_))

    def read(self, rows: list[Any], format_: Format) -> Iterator[Thread]:
        """The conversations in rows, each with its lines."""
        threads: dict[str, tuple[list[Any], list[int]]] = {}
        for n, row in enumerate(rows):
            if isinstance(row, dict) and self.preset.has_turn(row):
                key = row.get(self.preset.group) if self.preset.group else None
                turns, lines = threads.setdefault(repr(key), ([], []))
                turns.append(self.turn_of(row, n))
                lines.append(n)
        for name, (turns, lines) in threads.items():
            yield Thread(name, turns, lines, format_)

    def turn_of(self, row: Row, n: int) -> Any:
        turn = row[self.preset.turn]
        if not self.preset.text:
            return turn
        try:
            return decode(str(turn).encode(errors="surrogatepass"))
        except Refused as refused:
            self.unread += [in_text(finding).under((n, self.preset.turn)) for finding in refused.findings]
            return {}

    def examine(self) -> list[Finding]:
        rest = [self.without_turn(row) for row in self.value]
        findings = [*json_faults(rest), *self.unread]
        findings += [
            Finding("malformed", (n,), f"{spelled(row)} where a line must be an object")
            for n, row in enumerate(self.value)
            if not isinstance(row, dict)
        ]
        if not findings:
            findings = [
                thread.line(finding.path, self.preset, finding)
                for thread in self.threads
                for finding in thread.transcript.examine()
            ]
        return in_order(self.value, findings)

    def without_turn(self, row: Any) -> Any:
        if not isinstance(row, dict) or not self.preset.has_turn(row) or self.preset.text:
            return row
        return {key: value for key, value in row.items() if key != self.preset.turn}

    def allow(self, codes: Collection[str]) -> list[Finding]:
        left = [
            thread.line(finding.path, self.preset, finding)
            for thread in self.threads
            for finding in thread.transcript.allow(codes)
        ]
        if any(thread.transcript.resolved for thread in self.threads):
            return left
        return [*left, Finding("unknown_shape", (), "no turn would be left in any line", allowable=False)]

    def map(self) -> list[Any]:
        placed: dict[int, list[Any]] = {}
        for thread in self.threads:
            transcript = thread.transcript
            kept = transcript.origin or range(len(thread.lines))
            lines = [thread.lines[n] for n in kept]
            place(placed, transcript.map(), sources(transcript.resolved, self.format), lines)
        return [row for row, _ in self.woven(self.value, self.threads, placed)]

    def woven(
        self, rows: list[Any], threads: list[Thread], placed: dict[int, list[Any]]
    ) -> Iterator[tuple[Any, int | None]]:
        """Rows with other turns in them; and for each of the rest the number of the row it is."""
        lines = {n for thread in threads for n in thread.lines}
        for n, row in enumerate(rows):
            if n not in lines:
                yield row, n
            for turn in placed.get(n, ()):
                yield {**row, self.preset.turn: encode(turn).decode() if self.preset.text else turn}, None

    def prove(self, mapped: list[Any]) -> list[Op]:
        """Translate back and compare, turn by turn; then line by line."""
        threads = list(self.read(mapped, self.format.other))
        placed: dict[int, list[Any]] = {}
        origin: dict[int, list[int | None]] = {}
        own_threads = {thread.name: thread for thread in self.threads if thread.transcript.resolved}
        if own_threads.keys() != {thread.name for thread in threads}:
            raise NotReversible([()])
        for there in threads:
            own, turns = own_threads[there.name], there.transcript.elements
            own.transcript.prove(turns)
            place(placed, own.transcript.again, sources(turns, self.format.other), there.lines)
            place(origin, self.lines_of(own), sources(turns, self.format.other), there.lines)
        own_lines = {n for thread in self.threads for n in thread.lines}
        others = iter([n for n in range(len(self.value)) if n not in own_lines])
        back: list[Any] = []
        came: list[int | None] = []
        turn_lines = {n: iter(lines) for n, lines in origin.items()}
        order = iter([n for n in sorted(placed) for _ in placed[n]])
        for row, other in self.woven(mapped, threads, placed):
            back.append(row)
            came.append(next(others) if other is not None else next(turn_lines[next(order)]))
        self.back = back
        return list_difference(back, self.value, came)

    def lines_of(self, thread: Thread) -> list[int | None]:
        """The line that each turn of the back-translation of a thread is compared with."""
        transcript = thread.transcript
        kept = transcript.origin or range(len(thread.lines))
        found, _ = origins(alignment(transcript.resolved, self.format))
        if len(found) != len(transcript.again):
            raise NotReversible([()])
        return [None if n is None else thread.lines[kept[n]] for n in found]


def sources(turns: list[Any], format_: Format) -> list[int]:
    """For each turn that these are mapped to, which of these it comes from first."""
    if format_ is CHAT:
        return sources_of_items(turns)
    return [group[0] for group in sources_of_messages(turns)]


def place(placed: dict[int, list[Any]], turns: list[Any], where: list[int], lines: list[int]) -> None:
    """Put each turn to the line it comes from; none goes before the one that stands before it."""
    last = 0
    for turn, source in zip(turns, where, strict=True):
        last = max(last, lines[source])
        placed.setdefault(last, []).append(turn)
