"""The gate: may this stored call be replayed? Mapping a call and executing it are two questions; this is the second.

This room knows what a function call, its definition and its result look like in either format. It knows nothing about
transcripts and never executes, sends or translates anything: values in, one word out. The words are `GATE_WORDS`;
every doubt ends in a word that is not `ok`.

A call that passes is well formed, no more. It is no permission to execute: `rm -rf /` fits `{"type": "string"}`, and
whoever runs tools still has to decide who asked, for what, and whether to ask somebody first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from turncodec.equality import is_utf8
from turncodec.gate.arguments import is_longer, parse
from turncodec.gate.schemas import NO_PARAMETERS, canonical, checker
from turncodec.glance import is_plain_content

Json = Any

GATE_WORDS: dict[str, str] = {
    "namespaced": "It belongs to one provider: its type is missing, no string, or has a colon, or it has a namespace.",
    "not_function_call": "It is something else than a function call.",
    "status": "It is not completed. Only `completed` is; a status that is absent or null is not.",
    "unknown_function": "No function of this name is among the tools.",
    "not_allowed": "The function is among the tools, but not allowed.",
    "arguments_type": "The arguments are not a string.",
    "arguments_size": "The arguments are longer than allowed.",
    "arguments_parse": "The arguments are not JSON that every reader reads alike.",
    "arguments_schema": "The arguments do not fit the schema of the function, or nobody can say that they do.",
    "call_id": "The call has no id that a result could name.",
    "output": "The output is neither a string nor a list of text parts of the call's format.",
    "ok": "The call is well formed. That is no permission to execute it.",
}
"""What each word means, in the order of the tests. `call_id` and `output` are said by `ToolGate.answer` alone."""


def replay_gate(item: Json, schema: Json) -> str:
    """Whether a stored Responses item may be replayed, as one word of `GATE_WORDS`.

    `item` is a `function_call` item, `schema` the JSON Schema of its arguments. The tests are made in this order, and
    the first that fails names the word: `namespaced` (a type that is missing, no string, or has a colon; or a
    `namespace` beside the type), `not_function_call`, `status` (anything but `"completed"`), `arguments_type`,
    `arguments_parse`, `arguments_schema`; else `ok`, which is no permission to execute (see this module).

    `schema` is an object, `True` (anything) or `False` (nothing), in draft 2020-12 unless its `$schema` names another
    draft that `jsonschema` knows; `None` stands for a function without parameters (`NO_PARAMETERS`). `format` is an
    annotation, as the specification has it. A schema that is none, a `$schema` nobody knows, a `$ref` that cannot be
    resolved without the network, a pattern that cannot be matched in bounded time, and a check that costs too much
    all give `arguments_schema`.

    Never raises: any value whatever gives a word. (Open Responses 2026-04-24, "Items" and their states, "Extending";
    JSON Schema 2020-12; RFC 8259.)
    """
    item = _plain(item)
    return _envelope(item) or _arguments(item.get("arguments"), canonical(schema))


class NotAnswerable(ValueError):
    """Raised where a call must not get a result; `word` says why and is a key of `GATE_WORDS`."""

    def __init__(self, word: str) -> None:
        self.word = word
        super().__init__(word)

    def __str__(self) -> str:
        return f"{self.word}: {GATE_WORDS[self.word]}"


class ToolGate:
    """The gate of one request: its tools, those of them that are allowed, and how long arguments may be.

    `tools` is the list of tool definitions of a Chat request (`{"type": "function", "function": {...}}`) or of a
    Responses request (`{"type": "function", "name": ...}`), or None. Tools of other types are no functions and are
    passed over.

    `allowed` is an iterable of function names or the `tool_choice` of a request in either format: None, `"auto"` and
    `"required"` allow every tool, `"none"` allows none, a function allows itself, `allowed_tools` what it lists (with
    mode `none`: nothing), and any other object no function.

    What is given is read once; changing it later changes nothing. Raises ValueError for a definition of a function
    without a name or with a name that was there before, and for an `allowed` that is none of the above.
    """

    def __init__(self, tools: Iterable[Json] | None, allowed: Json = None, max_argument_bytes: int = 1_000_000) -> None:
        self._schemas = _schemas_by_name(tools or ())
        self._allowed = frozenset(self._schemas) if allowed is None else _allowed_names(_plain(allowed), self._schemas)
        self._max_argument_bytes = max_argument_bytes

    def check(self, call: Json) -> str:
        """Whether a call may be replayed, as one word of `GATE_WORDS`.

        `call` is a Chat tool call (`{"id", "type": "function", "function": {"name", "arguments"}}`) or a Responses
        `function_call` item. The tests are those of `replay_gate` in their order, and three more on the way:
        `unknown_function` and `not_allowed` after the status, `arguments_size` (bytes of UTF-8) after
        `arguments_type`, so that nothing is parsed that is too long.

        A Chat call has no status: a whole call in a stored message counts as completed. Whoever has the completion
        must not ask about calls that its `finish_reason` (`length`, `content_filter`) may have cut. A Chat call
        without a type is `namespaced`, like any other: mapping forgives what executing does not.

        Never raises. `ok` is no permission to execute.
        """
        return self._word(_as_item(_plain(call)))

    def answer(self, call: Json, output: Json) -> dict[str, Json]:
        """The result of a call: what the tool gave, addressed to the very id of the call.

        A Responses item gets `{"type": "function_call_output", "call_id", "output"}`, a Chat call
        `{"role": "tool", "tool_call_id", "content"}`. `output` is a string or a list, not empty, of text parts:
        `input_text` parts for an item, `text` parts for a Chat call.

        The call is checked again. Raises `NotAnswerable` with the word of `check` where that is not `ok`, with
        `call_id` where the call has no id, and with `output` where the output does not fit the format.
        """
        call = _plain(call)
        word = self._word(_as_item(call))
        if word == "ok":
            word = _answer_fault(call, output)
        if word != "ok":
            raise NotAnswerable(word)
        content = output if type(output) is str else [dict(part) for part in output]
        if _is_chat(call):
            return {"role": "tool", "tool_call_id": call["id"], "content": content}
        return {"type": "function_call_output", "call_id": call["call_id"], "output": content}

    def _word(self, item: Json) -> str:
        fault = _envelope(item)
        if fault:
            return fault
        name = item.get("name")
        if type(name) is not str or name not in self._schemas:
            return "unknown_function"
        if name not in self._allowed:
            return "not_allowed"
        return _arguments(item.get("arguments"), self._schemas[name], self._max_argument_bytes)


# ---------------------------------------------------------------- calls and results


def _plain(value: Json) -> Json:
    """Objects of client libraries (anything with `model_dump`) as the dicts they were made from."""
    if type(value) is dict:
        return value
    try:
        return value.model_dump(mode="json", exclude_unset=True)
    except Exception:  # no such object: what it is instead is seen by whoever looks at it
        return value


def _is_chat(call: Json) -> bool:
    return type(call) is dict and _text_at(call, "type") == "function"


def _as_item(call: Json) -> Json:
    """A Chat tool call as the item it stands for, completed since it is whole; anything else as it is."""
    if not _is_chat(call):
        return call
    function = call.get("function")
    inner = function if type(function) is dict else {}
    return {
        "type": "function_call",
        "call_id": call.get("id"),
        "name": inner.get("name"),
        "arguments": inner.get("arguments"),
        "status": "completed",
    }


def _envelope(item: Json) -> str:
    """The word for what is wrong around the arguments of an item, or nothing."""
    kind = _text_at(item, "type")
    if kind is None or ":" in kind or (kind == "function_call" and item.get("namespace") is not None):
        return "namespaced"
    if kind != "function_call":
        return "not_function_call"
    return "" if _text_at(item, "status") == "completed" else "status"


def _answer_fault(call: dict[str, Json], output: Json) -> str:
    """The word for what keeps a call that passed from being answered so, or `ok`."""
    key, part = ("id", "text") if _is_chat(call) else ("call_id", "input_text")
    call_id = _text_at(call, key)
    if not call_id or not is_utf8(call_id):
        return "call_id"
    return "ok" if is_plain_content(output, part) and output != [] else "output"


def _text_at(value: Json, key: str) -> str | None:
    """The string under a key of an object, or None."""
    found = value.get(key) if type(value) is dict else None
    return found if type(found) is str else None


# ---------------------------------------------------------------- tools and tool_choice


def _schemas_by_name(tools: Iterable[Json]) -> dict[str, str | None]:
    """The canonical schema of each function among tool definitions."""
    schemas: dict[str, str | None] = {}
    for tool in map(_plain, tools):
        if _text_at(tool, "type") is None:
            raise ValueError(f"a tool is an object with a type, not {tool!r:.80}")
        if tool["type"] == "function":
            function = tool.get("function", tool)
            name = _function_name(tool)
            if name in schemas:
                raise ValueError(f"two tools have the name {name!r}")
            schemas[name] = canonical(function.get("parameters"))
    return schemas


def _function_name(tool: dict[str, Json]) -> str:
    """The name in a definition or a choice of a function, nested (Chat) or flat (Responses)."""
    name = _text_at(tool.get("function", tool), "name")
    if name is None or ("function" in tool and "name" in tool):
        raise ValueError(f"a function has one name, {tool!r:.80} has not")
    return name


def _allowed_names(allowed: Json, names: Iterable[str]) -> frozenset[str]:
    """The names that an allowlist or a `tool_choice` leaves of all names."""
    if type(allowed) is str and allowed in ("auto", "required", "none"):
        return frozenset(() if allowed == "none" else names)
    if type(allowed) is dict:
        return frozenset(_chosen(allowed))
    listed: list[Any] = list(allowed) if isinstance(allowed, Iterable) and type(allowed) is not str else [None]
    if any(type(name) is not str for name in listed):
        raise ValueError(f"allowed is a list of names or a tool_choice, not {allowed!r:.80}")
    return frozenset(listed)


def _chosen(choice: dict[str, Json]) -> Iterator[str]:
    """The functions that a `tool_choice` object names."""
    kind = choice.get("type")
    if kind == "function":
        yield _function_name(choice)
    elif kind == "allowed_tools":
        inner = choice.get("allowed_tools", choice)
        if type(inner) is not dict or type(inner.get("tools")) is not list:
            raise ValueError(f"allowed_tools lists tools, {choice!r:.80} does not")
        if inner.get("mode") != "none":
            yield from (_function_name(tool) for tool in inner["tools"] if _text_at(tool, "type") == "function")


# ---------------------------------------------------------------- arguments


def _arguments(arguments: Json, schema: str | None, max_bytes: int | None = None) -> str:
    """The word for the arguments of a call against a canonical schema."""
    if type(arguments) is not str:
        return "arguments_type"
    if max_bytes is not None and is_longer(arguments, max_bytes):
        return "arguments_size"
    try:
        value = parse(arguments)
    except (ValueError, RecursionError):
        return "arguments_parse"
    return "ok" if schema is not None and checker(schema)(value) else "arguments_schema"


__all__ = ["GATE_WORDS", "NO_PARAMETERS", "NotAnswerable", "ToolGate", "replay_gate"]
