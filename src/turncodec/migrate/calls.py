"""The calls that stand in a record, which may be a call, a list of calls, or whatever holds messages or items, and the
word for each. Finds them; what is to be thought of one is asked of `turncodec.gate`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from turncodec.gate import ToolGate, replay_gate
from turncodec.migrate import JobError
from turncodec.refusals import Path

Judge = Callable[[Any], str]

HOLDERS = ("messages", "input", "output", "choices", "message", "tool_calls", "body", "request", "response")
"""Keys under which calls may stand, in the objects around messages and items."""

NO_CALLS = ("message", "function_call_output", "reasoning")
"""Items that are no call of any kind. Whatever else stands among items is looked at as if it were one."""

CUT = ("length", "content_filter")
"""Reasons to finish that may have cut the calls of a completion anywhere."""


class Call(NamedTuple):
    """A call, or something that might be taken for one. `is_cut`: the completion says that it may be unfinished."""

    path: Path
    value: Any
    is_cut: bool = False

    @property
    def name(self) -> str:
        """The name of the function, for a person; `?` where there is none."""
        value = self.value if isinstance(self.value, dict) else {}
        function = value.get("function")
        name = (function if isinstance(function, dict) else value).get("name")
        return name if isinstance(name, str) else "?"


def by_tools(document: Any, allowed: Collection[str] | None) -> Judge:
    """The gate of a list of tools, or of a request that has one. Raises `JobError` where it is no such thing."""
    tools = document.get("tools") if isinstance(document, dict) else document
    if not isinstance(tools, list):
        raise JobError("the tools are neither a list nor in an object that holds one under 'tools'")
    try:
        return ToolGate(tools, allowed).check
    except ValueError as wrong:
        raise JobError(f"the tools cannot be used: {wrong}") from wrong


def by_schema(schema: Any) -> Judge:
    """The gate of one schema for every call."""
    return lambda item: replay_gate(item, schema)


def word(call: Call, judge: Judge) -> str:
    """The word for a call. One that may be cut is not completed, whatever is left of it."""
    return "status" if call.is_cut else judge(call.value)


def calls_in(value: Any) -> Iterator[Call]:
    """The calls of a record, in document order. An object that holds nothing that could hold calls is one itself."""
    if isinstance(value, list) or holders(value):
        return inside(value, ())
    return iter([Call((), value)])


def holders(value: Any) -> list[str]:
    """The keys of an object around messages or items under which calls may stand."""
    if not isinstance(value, dict) or isinstance(value.get("call_id"), str):
        return []
    return [key for key in value if key in HOLDERS and isinstance(value[key], list | dict)]


def inside(value: Any, path: Path) -> Iterator[Call]:
    if isinstance(value, list):
        for n, entry in enumerate(value):
            yield from of_turn(entry, (*path, n))
        return
    for key in holders(value):
        yield from inside(value[key], (*path, key))
    if isinstance(value.get("function_call"), dict):
        yield Call((*path, "function_call"), value["function_call"])


def of_turn(turn: Any, path: Path) -> Iterator[Call]:
    """The calls of one message, item or choice; a call is one itself."""
    if is_choice(turn):
        cut = turn.get("finish_reason") in CUT
        yield from (call._replace(is_cut=cut) for call in inside(turn, path))
    elif is_message(turn):
        yield from inside({key: turn[key] for key in ("tool_calls", "function_call") if key in turn}, path)
    elif not (isinstance(turn, dict) and turn.get("type") in NO_CALLS):
        yield Call(path, turn)


def is_choice(turn: Any) -> bool:
    return isinstance(turn, dict) and isinstance(turn.get("message"), dict) and "type" not in turn


def is_message(turn: Any) -> bool:
    """Whether it has a role and no type of its own: an item may have both, and is then judged by its type."""
    return isinstance(turn, dict) and "role" in turn and turn.get("type", "message") == "message"
