"""Calls and results: which result answers which call, and where that goes wrong.

Both formats are read as one flat sequence of events, so each rule stands here once. A result is joined to the nearest
open call of its id, never through one map over the whole conversation: real transcripts use an id again turns later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from turncodec.refusals import Finding, Path


class Event(NamedTuple):
    """`kind` is call, result, said (an assistant's text) or other (anybody else's message)."""

    kind: str
    element: int
    """Index of the message or item."""
    call_id: str = ""
    path: Path = ()
    """Where the id stands, from the list down."""


@dataclass
class OpenCall:
    event: Event
    turn: int


@dataclass
class Pairs:
    """What was read: findings, the calls, each result with its call, and where turns end."""

    findings: list[Finding] = field(default_factory=list)
    calls: list[Event] = field(default_factory=list)
    joined: list[tuple[Event, Event]] = field(default_factory=list)
    turn_ends: dict[int, int] = field(default_factory=dict)
    """For the element of each call, the last element of its turn."""


# ---------------------------------------------------------------- reading


def message_events(messages: list[Any]) -> Iterator[Event]:
    """The events of Chat messages; what is not well formed enough to be one is passed over.

    The deprecated function calls have no ids: a derived one stands for it, and a result of theirs is joined to the
    last open call of its name.
    """
    legacy: dict[str, list[str]] = defaultdict(list)
    for n, message in enumerate(messages):
        if not isinstance(message, dict):
            continue
        role = message.get("role")
        if role == "assistant":
            yield from assistant_events(n, message, legacy)
        elif role == "tool":
            if isinstance(call_id := message.get("tool_call_id"), str):
                yield Event("result", n, call_id, (n, "tool_call_id"))
        elif role == "function":
            waiting = legacy[str(message.get("name"))]
            yield Event("result", n, waiting.pop() if waiting else "", (n,))
        elif isinstance(role, str):
            yield Event("other", n)


def assistant_events(n: int, message: dict[str, Any], legacy: dict[str, list[str]]) -> Iterator[Event]:
    calls, old = message.get("tool_calls"), message.get("function_call")
    if message.get("content") or not (calls or old):
        yield Event("said", n)
    if isinstance(calls, list):
        for k, call in enumerate(calls):
            if isinstance(call, dict) and isinstance(call.get("id"), str):
                yield Event("call", n, call["id"], (n, "tool_calls", k, "id"))
    if isinstance(old, dict):
        call_id = legacy_call_id(n)
        legacy[str(old.get("name"))].append(call_id)
        yield Event("call", n, call_id, (n, "function_call"))


def legacy_call_id(n: int) -> str:
    """The id derived for the deprecated function call of message n, the same every time."""
    return f"call_legacy_{n}"


def item_events(items: list[Any]) -> Iterator[Event]:
    """The events of items; reasoning and what belongs to one provider is nobody's turn."""
    for n, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        kind = item.get("type", "message")
        call_id = item.get("call_id")
        if kind == "message":
            yield Event("said" if item.get("role") == "assistant" else "other", n)
        elif kind == "function_call" and isinstance(call_id, str):
            yield Event("call", n, call_id, (n, "call_id"))
        elif kind == "function_call_output" and isinstance(call_id, str):
            yield Event("result", n, call_id, (n, "call_id"))


# ---------------------------------------------------------------- judging


def pair(events: Iterable[Event], left: dict[Path, str]) -> Pairs:
    """Join results to calls and find every fault.

    `left` holds the calls that cannot cross themselves, by the path of the call, each with its code: a result of
    such a call shares its fate.
    """
    pairs = Pairs()
    waiting: dict[str, list[OpenCall]] = defaultdict(list)
    used: dict[str, Event] = {}
    answered: dict[str, Event] = {}
    turn, answering = 0, False
    opened: list[tuple[int, Event]] = []
    late: list[tuple[int, int]] = []
    for event in events:
        if event.kind == "result":
            calls = waiting[event.call_id]
            if calls:
                call = calls.pop()
                pairs.joined.append((call.event, event))
                answered[event.call_id] = event
                if call.turn != turn:
                    late.append((call.turn, turn))
                if code := left.get(parent(call.event.path)):
                    element: Path = (event.element,)
                    pairs.findings.append(Finding(code, element, "it answers a call that cannot cross", leave=element))
            else:
                pairs.findings.append(lost_result(event, answered.get(event.call_id)))
            answering = True
            continue
        if event.kind == "other" or answering:
            turn, answering = turn + 1, False
        opened.append((turn, event))
        if event.kind == "call":
            if event.call_id in used:
                pairs.findings.append(used_again(event, used[event.call_id], bool(waiting[event.call_id])))
            pairs.calls.append(event)
            used[event.call_id] = event
            waiting[event.call_id].append(OpenCall(event, turn))
    ends = {turn: event.element for turn, event in opened}
    pairs.turn_ends = {event.element: ends[turn] for turn, event in opened if event.kind == "call"}
    pairs.findings += interleaved(opened, late)
    pairs.findings += [unanswered(call.event) for calls in waiting.values() for call in calls if call.turn < turn]
    pairs.findings.sort(key=lambda finding: finding.path[0])
    return pairs


def parent(path: Path) -> Path:
    """The path of the call whose id stands at a path."""
    return path[:-1] if path[-1] in ("id", "call_id") else path


def lost_result(event: Event, earlier: Event | None) -> Finding:
    if earlier is not None:
        said = f"{event.call_id!r:.80} was already answered by entry {earlier.element}"
        return Finding("duplicate_result", event.path, said)
    return Finding("orphan_result", event.path, f"no call {event.call_id!r:.80} stands before it")


def used_again(event: Event, earlier: Event, still_open: bool) -> Finding:
    said = f"{event.call_id!r:.80} is already the id of a call of entry {earlier.element}"
    return Finding("duplicate_call_id", event.path, said, allowable=not still_open)


def unanswered(event: Event) -> Finding:
    return Finding("unanswered_call", event.path, f"{event.call_id!r:.80} has no result before the next turn")


def interleaved(opened: list[tuple[int, Event]], late: list[tuple[int, int]]) -> list[Finding]:
    """A finding for each element that stands between a call and its result."""
    if not late:
        return []
    depth: dict[int, int] = defaultdict(int)
    for call_turn, result_turn in late:
        depth[call_turn + 1] += 1
        depth[result_turn + 1] -= 1
    findings: dict[int, Finding] = {}
    current, at_turn = 0, 0
    for turn, event in opened:
        while at_turn < turn:
            at_turn += 1
            current += depth[at_turn]
        if current and event.element not in findings:
            said = "it stands between a call and its result"
            findings[event.element] = Finding("interleaved", (event.element,), said)
    return list(findings.values())
