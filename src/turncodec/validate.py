"""Is every message, every item of its format, and does it hold only what the other format has a place for?

The types of `wire` decide what is valid; this room turns what they find into findings with a code and a place, and
adds the rules about one element that types cannot say. What concerns several elements together is `pairing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from turncodec.equality import json_faults
from turncodec.glance import LONGEST_ID, LONGEST_TEXT, is_function_name
from turncodec.refusals import Finding, Path
from turncodec.wire import chat, responses

LONGEST_IMAGE_URL = 20_971_520
LONGEST_FILE_DATA = 33_554_432

REASONING_PARTS = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_text"})
CHAT_PARTS = frozenset({"text", "image_url", "file", "input_audio", "refusal"})
RESPONSES_PARTS = frozenset({"input_text", "output_text", "input_image", "input_file", "input_video", "refusal"})

# ---------------------------------------------------------------- what the types found


def type_findings(adapter: TypeAdapter[Any], value: Any) -> Iterator[Finding]:
    """A finding for each thing that is wrong with the type of a value."""
    try:
        adapter.validate_python(value)
    except ValidationError as invalid:
        seen: set[tuple[str, Path]] = set()
        for error in invalid.errors(include_url=False, include_context=False):
            kind = error["type"]
            path, words = reading(adapter, error["loc"])
            missing = str(path[-1]) if kind == "missing" else ""
            path = path[:-1] if missing else path
            finding = finding_of(kind, path, missing or "".join(words[-1:]), error["msg"], at(value, path))
            # Each branch of a union complains; the first one speaks for all.
            what = "union" if words and not missing else finding.message if finding else ""
            if finding and (what, finding.path) not in seen:
                seen.add((what, finding.path))
                yield finding


def finding_of(kind: str, path: Path, word: str, said: str, here: Any) -> Finding | None:
    """One error of the types as a finding, or None where another error says the same better.

    `word` is the branch of a union where the error ends in one, or the key that is missing; `here` is the value at the
    path.
    """
    if kind in ("string_type", "list_type") and word in ("str", "list"):
        if type(here) is list and word != "list":
            return None
        if type(here) is str and word != "str":
            return None
        if type(here) not in (list, str):
            return Finding("malformed", path, f"{spelled(here)} where a string or a list of parts must stand")
    if kind == "extra_forbidden":
        return unknown_key(path)
    if kind == "missing":
        return Finding("malformed", path, f"the required key {word!r} is missing")
    if kind == "invalid_key":
        return None  # not JSON at all: `json_faults` says so
    if kind.startswith("union_tag"):
        return unknown_tag(path, here)
    if path[-1:] == ("arguments",) and (len(path) == 1 or path[-2] in ("function", "function_call")):
        return Finding("arguments_type", path, f"arguments are {spelled(here)}, not a string")
    if kind == "literal_error" and path[-1:] == ("role",):
        return Finding("malformed", path, f"{spelled(here)} is no role that may stand here")
    if kind == "literal_error":
        said = f"{spelled(here)} is not one of the values that may stand here"
        return Finding("unknown_value", path, said, allowable=False)
    return Finding("malformed", path, said[:1].lower() + said[1:] + f", got {spelled(here)}")


def reading(adapter: TypeAdapter[Any], loc: tuple[int | str, ...]) -> tuple[Path, list[str]]:
    """The path that the location of an error stands for; and the words that it ends in, where they are no part of it.

    Between keys and indices the types put the names of union branches, and a branch may be called like a key. Which is
    which is read from the types themselves.
    """
    schema: Any = adapter.core_schema
    definitions = {entry["ref"]: entry for entry in schema.get("definitions", ())}
    path: list[int | str] = []
    words: list[str] = []
    for step in loc:
        schema = opened(schema, definitions)
        kind = schema.get("type")
        if kind in ("typed-dict", "list", "dict"):
            path.append(step)
            words = []
            if kind == "typed-dict":
                schema = schema["fields"].get(step, {}).get("schema", {})
            else:
                schema = schema.get("items_schema" if kind == "list" else "values_schema", {})
        else:
            words.append(str(step).partition("[")[0])
            schema = branch(schema, step, definitions)
    return tuple(path), words


def opened(schema: Any, definitions: dict[str, Any]) -> Any:
    """A schema without what only wraps it."""
    while schema.get("type") in ("nullable", "default", "definitions", "definition-ref"):
        schema = definitions[schema["schema_ref"]] if schema["type"] == "definition-ref" else schema["schema"]
    return schema


def branch(schema: Any, step: int | str, definitions: dict[str, Any]) -> Any:
    """The branch of a union that a word names."""
    if schema.get("type") == "tagged-union":
        return schema["choices"].get(step, {})
    word = str(step).partition("[")[0]
    choices = [choice[0] if isinstance(choice, tuple) else choice for choice in schema.get("choices", ())]
    return next(
        (choice for choice in (opened(choice, definitions) for choice in choices) if choice["type"] == word), {}
    )


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def spelled(value: Any) -> str:
    """A value as a person would name it in a message."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"{value!r:.60}"


def unknown_key(path: Path) -> Finding:
    key = str(path[-1])
    if key in chat.REASONING_KEYS:
        return Finding("reasoning", path, f"{key} is a provider's own key for reasoning", leave=path)
    return Finding("unknown_field", path, f"{key:.60} is no key of this format", leave=path)


def unknown_tag(path: Path, here: Any) -> Finding:
    """A part of a type that the format does not have, or of none."""
    if not isinstance(here, dict):
        return Finding("malformed", path, f"{spelled(here)} where a content part must stand")
    kind = here.get("type")
    if not isinstance(kind, str):
        return Finding("malformed", path, "a content part needs a type")
    if ":" in kind:
        return Finding("namespaced", path, f"{kind!r:.80} belongs to one provider", leave=path)
    if kind in REASONING_PARTS:
        return Finding("reasoning", path, f"a part of type {kind!r} is a provider's own form of reasoning", leave=path)
    if kind in CHAT_PARTS | RESPONSES_PARTS:
        return Finding("mixed_formats", path, f"a part of type {kind!r} belongs to the other format")
    return Finding("unknown_part", path, f"no content part has the type {kind!r:.80}", leave=path)


# ---------------------------------------------------------------- one element


def element_findings(element: Any, checks: Callable[[dict[str, Any]], Iterable[Finding]]) -> list[Finding]:
    """Everything that is wrong with one element: first whether it is JSON, then what `checks` say of it."""
    faults = list(json_faults(element))
    if faults:
        return faults
    if not isinstance(element, dict):
        return [Finding("malformed", (), f"{spelled(element)} where a message or an item must stand")]
    return in_order(element, something_left(element, without_shadowed(list(checks(element)))))


def something_left(element: dict[str, Any], findings: list[Finding]) -> list[Finding]:
    """Leaving out every part of a content would leave a message that says nothing: that cannot be allowed."""
    parts: dict[Path, set[Path]] = {}
    for finding in findings:
        leave = finding.leave
        if leave is not None and len(leave) == 2 and leave[0] in ("content", "output"):
            parts.setdefault(leave[:1], set()).add(leave)
    hollow = {base for base, leaves in parts.items() if len(leaves) == len(element[str(base[0])])}
    return [
        replace(finding, allowable=False) if finding.leave is not None and finding.leave[:1] in hollow else finding
        for finding in findings
    ]


def without_shadowed(findings: list[Finding]) -> list[Finding]:
    """A part that is refused as a whole says nothing more about what is in it."""
    whole = {f.path for f in findings if f.code in ("namespaced", "unsupported_item", "unknown_item", "custom_tool")}
    whole |= {f.leave for f in findings if f.leave is not None and f.leave == f.path and f.code != "empty_message"}
    return [f for f in findings if not any(f.path[:n] in whole for n in range(len(f.path)))]


def in_order(document: Any, findings: list[Finding]) -> list[Finding]:
    """Findings in the order in which their places stand in the document."""

    def rank(finding: Finding) -> tuple[int, ...]:
        ranks, value = [], document
        for step in finding.path:
            if isinstance(value, dict) and step in value:
                ranks.append(list(value).index(str(step)))
                value = value[str(step)]
            elif isinstance(value, list) and isinstance(step, int):
                ranks.append(step)
                value = value[step] if step < len(value) else None
        return tuple(ranks)

    return sorted(findings, key=rank)


# ---------------------------------------------------------------- Chat


def message_findings(message: Any) -> list[Finding]:
    """Everything that is wrong with one Chat message, or has no place among items. Paths begin at the message."""
    return element_findings(message, _message_findings)


def _message_findings(message: dict[str, Any]) -> Iterator[Finding]:
    role, kind = message.get("role"), message.get("type")
    if isinstance(kind, str) and (kind in responses.ITEM or kind in responses.ELSEWHERE or ":" in kind):
        if ":" in kind:
            yield Finding("namespaced", (), f"an item of type {kind!r:.80} belongs to one provider", leave=())
        else:
            yield Finding("mixed_formats", (), f"a Responses item of type {kind!r} among Chat messages")
        return
    if role not in chat.ROLES or not isinstance(role, str):
        if "role" in message:
            yield Finding("malformed", ("role",), f"{spelled(role)} is no role")
        else:
            yield Finding("malformed", (), "a message needs a role")
        return
    others, rest = split_calls(message)
    yield from others
    if not rest.keys().isdisjoint(chat.REASONING_KEYS):
        rest = {
            key: value for key, value in rest.items() if key not in chat.REASONING_KEYS or value not in (None, "", [])
        }
    found = list(type_findings(chat.MESSAGE, rest))
    yield from found
    bad = unreadable(found)
    yield from chat_part_findings(message, bad)
    yield from message_key_findings(message, bad)


def split_calls(message: dict[str, Any]) -> tuple[list[Finding], dict[str, Any]]:
    """Calls that are no function calls, as findings; and the message with those shown as if they were in order."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return [], message
    others = [
        finding
        for n, call in enumerate(calls)
        if isinstance(call, dict) and (finding := other_call(call, ("tool_calls", n)))
    ]
    if not others:
        return [], message
    if len(others) == len(calls) and not message.get("content") and not message.get("refusal"):
        others = [replace(finding, leave=()) for finding in others]
    skip = {f.path[1] for f in others}
    harmless = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    return others, {**message, "tool_calls": [harmless if n in skip else call for n, call in enumerate(calls)]}


def other_call(call: dict[str, Any], path: Path) -> Finding | None:
    kind = call.get("type")
    if not isinstance(kind, str) or kind == "function":
        return None
    if ":" in kind:
        return Finding("namespaced", path, f"a call of type {kind!r:.80} belongs to one provider", leave=path)
    if kind == "custom":
        return Finding("custom_tool", path, "a call of a custom tool has free text for arguments", leave=path)
    return Finding("unknown_item", path, f"no tool call has the type {kind!r:.80}", leave=path)


def chat_part_findings(message: dict[str, Any], bad: set[Path]) -> Iterator[Finding]:
    role, content = message["role"], message.get("content")
    if not isinstance(content, list):
        yield from too_long(content, ("content",), LONGEST_TEXT)
        return
    kinds = []
    for n, part in enumerate(content):
        path: Path = ("content", n)
        kind = type_of(part)
        if path in bad or kind not in CHAT_PARTS:
            continue
        kinds.append(kind)
        if kind not in chat.PARTS_OF_ROLE.get(role, ()):
            yield wrong_place(kind, role, path)
        elif kind == "input_audio":
            yield Finding("audio", path, "items have no audio", leave=path)
        elif touched(bad, (*path, kind)):
            continue
        elif kind == "image_url":
            image = part["image_url"]
            if image.get("detail") == "original":
                leave = (*path, "image_url", "detail")
                yield Finding("image_detail", leave, "the core has only low, high and auto", leave=leave)
            yield from too_long(image["url"], (*path, "image_url", "url"), LONGEST_IMAGE_URL)
        elif kind == "file":
            if "file_id" in part["file"]:
                yield Finding("file_id", (*path, "file", "file_id"), "items name no file by its id", leave=path)
            yield from too_long(part["file"].get("file_data"), (*path, "file", "file_data"), LONGEST_FILE_DATA)
        elif kind == "text":
            yield from too_long(part.get("text"), (*path, "text"), LONGEST_TEXT)
        if "prompt_cache_breakpoint" in part and not touched(bad, (*path, "prompt_cache_breakpoint")):
            yield no_key((*path, "prompt_cache_breakpoint"))
    if role == "assistant":
        refusals = kinds.count("refusal") + bool(message.get("refusal"))
        if refusals > 1 or (refusals == 1 and "refusal" in kinds[:-1]):
            yield Finding("refusal_order", ("content",), "a refusal must be alone and last")


def type_of(part: Any) -> str:
    """The type of a part, or "" where it has none."""
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""


def unreadable(found: list[Finding]) -> set[Path]:
    """The places where a value is not what its type says; an unknown key beside it does no harm."""
    return {finding.path for finding in found if finding.leave is None}


def touched(bad: set[Path], path: Path) -> bool:
    """Whether the types found something at a place or in it."""
    return any(b[: len(path)] == path for b in bad)


def no_key(path: Path) -> Finding:
    return Finding("no_counterpart", path, f"{path[-1]} has no counterpart", leave=path)


def wrong_place(kind: str, role: str, path: Path) -> Finding:
    if role in ("tool", "output") and kind in ("image_url", "file", "input_image", "input_file", "input_video"):
        return Finding("result_media", path, "the result of a Chat tool call holds text only", leave=path)
    where = {"tool": "a tool result", "output": "an output"}.get(role, f"a message of role {role}")
    return Finding("malformed", path, f"{where} cannot hold a part of type {kind}")


def too_long(text: Any, path: Path, limit: int) -> Iterator[Finding]:
    if isinstance(text, str) and len(text) > limit:
        yield Finding("too_long", path, f"{len(text):,} characters, and at most {limit:,} may stand here")


def message_key_findings(message: dict[str, Any], bad: set[Path]) -> Iterator[Finding]:
    role = message["role"]
    if role != "tool" and role != "function" and isinstance(message.get("name"), str):
        yield Finding("message_name", ("name",), "items have no name of the speaker", leave=("name",))
    if role == "tool" and isinstance(message.get("tool_call_id"), str):
        yield from call_id_findings(message["tool_call_id"], ("tool_call_id",))
    if role == "function":
        nothing = "content" in message and message["content"] is None
        said = "a result of the deprecated function calling has no call id"
        yield Finding("legacy_function", (), said, allowable=not bad and not nothing)
        if nothing:
            yield Finding("malformed", ("content",), "null where the result of a function must stand")
    if role != "assistant":
        return
    calls = message.get("tool_calls")
    for n, call in enumerate(calls if isinstance(calls, list) else ()):
        path: Path = ("tool_calls", n)
        if touched(bad, path) or other_call(call, ()):
            continue
        yield from call_id_findings(call["id"], (*path, "id"))
        yield from name_findings(call["function"]["name"], (*path, "function", "name"))
        if "index" in call and call["index"] != n:
            leave = (*path, "index")
            yield Finding("unknown_field", leave, "an index that is not the call's place", leave=leave)
    if message.get("function_call"):
        allowable = not bad and not message.get("tool_calls")
        said = "the deprecated function calling has no call id"
        yield Finding("legacy_function", ("function_call",), said, allowable=allowable)
        if not touched(bad, ("function_call",)):
            yield from name_findings(message["function_call"]["name"], ("function_call", "name"))
    if message.get("audio"):
        yield Finding("audio", ("audio",), "items have no audio", leave=("audio",))
    if message.get("annotations"):
        said = "annotations of a stored message have no place among items"
        yield Finding("annotations", ("annotations",), said, leave=("annotations",))
    if "weight" in message:
        yield Finding("weight", ("weight",), "items have no weight for training", leave=("weight",))
    if not says_anything(message):
        yield Finding("empty_message", (), "neither text nor refusal nor calls: it would vanish among items", leave=())


def says_anything(message: dict[str, Any]) -> bool:
    """Whether an assistant's message becomes an item at all."""
    return bool(
        message.get("content") is not None
        or message.get("refusal")
        or message.get("tool_calls")
        or message.get("function_call")
    )


def call_id_findings(call_id: str, path: Path) -> Iterator[Finding]:
    if not 0 < len(call_id) <= LONGEST_ID:
        yield Finding(
            "call_id_length", path, f"a call id has 1 to {LONGEST_ID} characters, this one has {len(call_id)}"
        )


def name_findings(name: str, path: Path) -> Iterator[Finding]:
    if not is_function_name(name):
        yield Finding("function_name", path, f"{name!r:.80} is not 1 to 64 of a-z, A-Z, 0-9, _ and -")


# ---------------------------------------------------------------- Responses


def item_findings(item: Any) -> list[Finding]:
    """Everything that is wrong with one item, or has no place among Chat messages. Paths begin at the item."""
    return element_findings(item, _item_findings)


def _item_findings(item: dict[str, Any]) -> Iterator[Finding]:
    kind = item.get("type")
    if kind is not None and not isinstance(kind, str):
        yield Finding("malformed", ("type",), f"{spelled(kind)} where the type of an item must stand")
        return
    if isinstance(kind, str) and ":" in kind:
        yield Finding("namespaced", (), f"an item of type {kind!r:.80} belongs to one provider", leave=())
        return
    if kind is None:
        chat_keys = [key for key in ("tool_calls", "tool_call_id", "function_call") if key in item]
        if chat_keys:
            for key in chat_keys:
                yield Finding("mixed_formats", (key,), f"{key} is a key of Chat messages, not of items")
            return
        if item.get("role") in ("tool", "function"):
            yield Finding("mixed_formats", ("role",), f"the role {item['role']!r} is one of Chat messages")
            return
        kind = "message" if "role" in item else "item_reference" if "id" in item else None
    if kind in ("compaction", "item_reference") or kind in responses.ELSEWHERE:
        yield Finding("unsupported_item", (), f"an item of type {kind!r} has no Chat form", leave=())
    elif kind == "reasoning":
        yield Finding("reasoning", (), "a reasoning item has no Chat form", leave=())
    elif kind in ("message", "function_call", "function_call_output"):
        status = item.get("status")
        undone = isinstance(status, str) and status != "completed"
        if undone:
            yield Finding("incomplete", ("status",), f"the item is {status!r:.40}, not completed")
        found = [f for f in type_findings(responses.ITEM[kind], item) if not (undone and f.path == ("status",))]
        yield from found
        yield from ITEM_RULES[kind](item, unreadable(found))
    elif isinstance(kind, str):
        yield Finding("unknown_item", (), f"no item has the type {kind!r:.80}", leave=())
    else:
        yield Finding("malformed", (), "an item needs a type")


def message_item_findings(item: dict[str, Any], bad: set[Path]) -> Iterator[Finding]:
    role = item.get("role")
    if isinstance(role, str) and role in responses.PARTS_OF_ROLE:
        yield from responses_part_findings(item.get("content"), role, ("content",), bad)
    if isinstance(item.get("phase"), str) and ("phase",) not in bad:
        yield Finding("phase", ("phase",), "Chat messages have no phase", leave=("phase",))


def call_item_findings(item: dict[str, Any], _: set[Path]) -> Iterator[Finding]:
    if isinstance(item.get("call_id"), str):
        yield from call_id_findings(item["call_id"], ("call_id",))
    if isinstance(item.get("name"), str):
        yield from name_findings(item["name"], ("name",))
    yield from namespace_findings(item)


def output_item_findings(item: dict[str, Any], bad: set[Path]) -> Iterator[Finding]:
    if isinstance(item.get("call_id"), str):
        yield from call_id_findings(item["call_id"], ("call_id",))
    yield from responses_part_findings(item.get("output"), "output", ("output",), bad)
    yield from namespace_findings(item)


def namespace_findings(item: dict[str, Any]) -> Iterator[Finding]:
    if isinstance(item.get("namespace"), str):
        said = "a namespaced call: the name alone would call another tool"
        yield Finding("namespaced", ("namespace",), said, leave=())
    if item.get("caller") is not None:
        yield no_key(("caller",))


ITEM_RULES: dict[str, Callable[[dict[str, Any], set[Path]], Iterator[Finding]]] = {
    "message": message_item_findings,
    "function_call": call_item_findings,
    "function_call_output": output_item_findings,
}


def responses_part_findings(content: Any, role: str, base: Path, bad: set[Path]) -> Iterator[Finding]:
    if not isinstance(content, list):
        yield from too_long(content, base, LONGEST_TEXT)
        return
    kinds = []
    for n, part in enumerate(content):
        path: Path = (*base, n)
        kind = type_of(part)
        if kind not in RESPONSES_PARTS:
            continue
        kinds.append(kind)
        if (
            role == "output" and kind in ("input_image", "input_file", "input_video")
        ) or kind not in responses.PARTS_OF_ROLE[role]:
            yield wrong_place(kind, role, path)
        elif touched(bad, path):
            continue
        else:
            yield from PART_RULES[kind](part, path)
        if "prompt_cache_breakpoint" in part and not touched(bad, (*path, "prompt_cache_breakpoint")):
            yield no_key((*path, "prompt_cache_breakpoint"))
    if "refusal" in kinds[:-1]:
        yield Finding("refusal_order", base, "a refusal must be alone and last")


def text_rules(part: dict[str, Any], path: Path) -> Iterator[Finding]:
    yield from too_long(part.get("text", part.get("refusal")), (*path, "text"), LONGEST_TEXT)
    for key in ("annotations", "logprobs"):
        if part.get(key):
            yield Finding(key, (*path, key), f"{key} of a stored message have no place in Chat", leave=(*path, key))


def image_rules(part: dict[str, Any], path: Path) -> Iterator[Finding]:
    if part.get("file_id") is not None:
        yield Finding("file_id", (*path, "file_id"), "the core names no image by its id", leave=path)
    elif part.get("image_url") is None:
        yield Finding("image_url", path, "an image without its url", leave=path)
    if part.get("detail") == "original":
        yield Finding(
            "image_detail", (*path, "detail"), "the core has only low, high and auto", leave=(*path, "detail")
        )
    yield from too_long(part.get("image_url"), (*path, "image_url"), LONGEST_IMAGE_URL)


def file_rules(part: dict[str, Any], path: Path) -> Iterator[Finding]:
    for key, said in (("file_id", "the core names no file by its id"), ("file_url", "Chat has no file by url")):
        if part.get(key) is not None:
            yield Finding(key, (*path, key), said, leave=path)
    yield from too_long(part.get("file_data"), (*path, "file_data"), LONGEST_FILE_DATA)


PART_RULES: dict[str, Callable[[dict[str, Any], Path], Iterator[Finding]]] = {
    "input_text": text_rules,
    "output_text": text_rules,
    "refusal": text_rules,
    "input_image": image_rules,
    "input_file": file_rules,
}
