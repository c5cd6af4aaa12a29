"""What allowing a code does to a list of messages or items, before it is mapped.

Some parts are left behind, ids are renamed, results move up to their calls, deprecated calls take the form of today.
Knows no mapping: whatever was changed here comes back through the remainder.
"""

from __future__ import annotations

import hashlib
from copy import deepcopy
from typing import Any, NamedTuple

from turncodec.glance import LONGEST_ID
from turncodec.pairing import Event, Pairs, legacy_call_id
from turncodec.refusals import Finding, Path


class Resolved(NamedTuple):
    """The list that goes on to the mapping, and for each of its elements the index that it had in the original."""

    elements: list[Any]
    origin: list[int]


def resolve(elements: list[Any], allowed: list[Finding], pairs: Pairs) -> Resolved:
    """Apply the findings that were allowed to a list of elements, leaving the original as it is."""
    changed = {n: deepcopy(elements[n]) for n in touched_elements(allowed, pairs)}
    rename(changed, allowed, pairs)
    gone = leave_out(changed, allowed)
    modernise(changed, allowed, pairs)
    order = moved_up(len(elements), pairs) if any(f.code == "interleaved" for f in allowed) else range(len(elements))
    kept = [n for n in order if n not in gone]
    return Resolved([changed.get(n, elements[n]) for n in kept], kept)


def touched_elements(allowed: list[Finding], pairs: Pairs) -> set[int]:
    touched = {int(f.path[0]) for f in allowed}
    return touched | {result.element for call, result in pairs.joined if call.element in touched}


def set_at(element: Any, path: Path, value: Any) -> None:
    for step in path[:-1]:
        element = element[step]
    element[path[-1]] = value


# ---------------------------------------------------------------- left behind


def leave_out(changed: dict[int, Any], allowed: list[Finding]) -> set[int]:
    """Take the parts out that stay behind; the indices of elements that stay behind as a whole."""
    leaves = {f.leave for f in allowed if f.leave is not None}
    gone = {int(leave[0]) for leave in leaves if len(leave) == 1}
    inner = [leave for leave in leaves if len(leave) > 1 and leave[0] not in gone]
    inner = [leave for leave in inner if not any(leave[:n] in leaves for n in range(2, len(leave)))]
    for leave in sorted(inner, key=lambda path: tuple((isinstance(s, str), s) for s in path), reverse=True):
        holder = changed[int(leave[0])]
        for step in leave[1:-1]:
            holder = holder[step]
        del holder[leave[-1]]
        if leave[1] == "tool_calls" and len(leave) == 3:
            for call in holder:  # the places that they counted have changed
                call.pop("index", None)
    return gone


# ---------------------------------------------------------------- renamed


def rename(changed: dict[int, Any], allowed: list[Finding], pairs: Pairs) -> None:
    """Give a new id to each call that needs one, and to its result."""
    places = {f.path for f in allowed if f.code in ("duplicate_call_id", "call_id_length")}
    if not places:
        return
    answers = {call.path: result for call, result in pairs.joined}
    taken = {call.call_id for call in pairs.calls}
    for call in pairs.calls:
        if call.path in places:
            new = new_call_id(call.call_id, taken)
            taken.add(new)
            for event in (call, answers.get(call.path)):
                if event is not None:
                    set_at(changed[event.element], event.path[1:], new)


def new_call_id(call_id: str, taken: set[str]) -> str:
    """A short id that nobody has, the same every time: the old one with a number, or a digest where it is too long."""
    stem = call_id
    if not 0 < len(call_id) <= LONGEST_ID - 8:
        stem = call_id[:32] + "_" + hashlib.sha256(call_id.encode()).hexdigest()[:16]
        if stem not in taken:
            return stem
    number = 2
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"


# ---------------------------------------------------------------- moved


def moved_up(length: int, pairs: Pairs) -> list[int]:
    """The order of the elements when each result follows the turn of its call at once."""
    last_of_turn = dict(pairs.turn_ends)
    after: dict[int, list[int]] = {}
    for call, result in pairs.joined:
        after.setdefault(last_of_turn[call.element], []).append(result.element)
    moved = {n for group in after.values() for n in group}
    order: list[int] = []
    for n in range(length):
        if n not in moved:
            order.append(n)
            order += sorted(after.get(n, ()))
    return order


# ---------------------------------------------------------------- brought up to date


def modernise(changed: dict[int, Any], allowed: list[Finding], pairs: Pairs) -> None:
    """Write deprecated function calls and their results as tool calls with derived ids."""
    if not any(f.code == "legacy_function" for f in allowed):
        return
    answers = {call.path: result for call, result in pairs.joined}
    for call in pairs.calls:
        if call.path[-1] == "function_call":
            message = changed[call.element]
            function = message.pop("function_call")
            message.pop("tool_calls", None)
            call_id = legacy_call_id(call.element)
            message["tool_calls"] = [{"id": call_id, "type": "function", "function": function}]
            answer(changed, answers.get(call.path), call_id)


def answer(changed: dict[int, Any], result: Event | None, call_id: str) -> None:
    if result is not None:
        message = changed[result.element]
        changed[result.element] = {"role": "tool", "tool_call_id": call_id, "content": message["content"]}
