"""Valid documents as people store them: every role, part and spelling, in lists, requests, rows and nested columns.

Written by hand, not derived from the types of the library, so that a hole in those is not a hole here. Everything
drawn by `chat_transcripts` and `item_transcripts` holds only what both formats have: it must be accepted as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from hypothesis import strategies as st

Json = Any
Draw = Callable[..., Any]
Element = dict[str, Any]

# ---------------------------------------------------------------- values

TEXTS = (
    "",
    " ",
    "hello",
    "two\nlines\r\n",
    "tab\tand nul\x00",
    'quotes " and \\ and /',
    "{}",
    '{"a": 1.0}',
    "null",
    "é ü \u2028 \U0001f600",
    "e\u0301",
    "\ufeffbom",
    "a:b",
)
ARGUMENTS = (
    "{}",
    "",
    '{"city":"Oslo"}',
    ' { "b" : 2,\n"a":1.0 }\n',
    '{"a":1,"a":2}',
    '{"n":18446744073709551617,"f":1E5,"z":-0.0,"big":1e400}',
    r'{"t":"\u00e9\/"}' + "é",
    '{"cut',
    "[1]",
    "null",
    "not json",
)
STEMS = ("call_1", "c", "c_2", "0", "call_abc123XYZ", "tool:0", "a/b~1", "é✓", "fc_c", "x" * 64)
NAMES = ("f", "get_weather", "a-b_C9", "0", "n" * 64)
ITEM_IDS = ("msg_1", "fc_1", "", "é", "x" * 100)
URLS = ("https://example.com/a.png", "data:image/png;base64,iVBORw0KGgo=", "")
FILE_DATA = ("data:application/pdf;base64,JVBERi0=", "JVBERi0=", "")
ODD_KEYS = (
    "trace",
    "",
    "a/b",
    "m~n",
    "~1",
    "0",
    "-",
    "é",
    "str",
    "list",
    "tagged-union",
    "message",
    "user",
    "none",
    "x y",
)
"""Keys of no format, some of which must be escaped in a pointer or are names of something else."""

texts = st.one_of(st.sampled_from(TEXTS), st.text(st.characters(codec="utf-8"), max_size=6))
arguments = st.one_of(st.sampled_from(ARGUMENTS), st.text(st.characters(codec="utf-8"), max_size=6))
numbers = st.one_of(
    st.sampled_from((0, 1, -1, 0.0, -0.0, 1.0, 2**64, -(2**70), 1e300, 5e-324)),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
leaves = st.one_of(st.none(), st.booleans(), numbers, texts)
json_values = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
"""Any JSON value."""


def copied(value: Json) -> Json:
    """A JSON value that shares nothing with the given one."""
    return json.loads(json.dumps(value))


def one_of(draw: Draw, *choices: Any) -> Any:
    return draw(st.sampled_from(choices))


def spelled(draw: Draw, element: Element, *extras: Element) -> Element:
    """The element with one of several sets of keys that say nothing, in front or behind."""
    extra = one_of(draw, {}, *extras)
    return {**copied(extra), **element} if extra and draw(st.booleans()) else {**element, **copied(extra)}


def fresh_id(draw: Draw, used: set[str]) -> str:
    """A call id of 1 to 64 characters that nobody has."""
    stem: str = one_of(draw, *STEMS)
    call_id, number = stem, 2
    while call_id in used:
        call_id, number = f"{stem[:60]}_{number}", number + 1
    used.add(call_id)
    return call_id


# ---------------------------------------------------------------- Chat

USER_NULLS: tuple[Element, ...] = ({"name": None}, {"tool_calls": None}, {"name": None, "tool_calls": None})
ASSISTANT_NULLS: tuple[Element, ...] = (
    {"refusal": None},
    {"audio": None, "function_call": None},
    {"annotations": []},
    {"annotations": None, "name": None},
    {"refusal": None, "audio": None, "function_call": None, "annotations": []},
)
NO_CALLS: tuple[Element, ...] = ({"tool_calls": None}, {"tool_calls": []}, {"tool_calls": None, "refusal": None})


def chat_text(draw: Draw) -> Element:
    return {"type": "text", "text": draw(texts)}


def chat_part(draw: Draw) -> Element:
    """A part that a user may send."""
    kind = one_of(draw, "text", "image_url", "file")
    if kind == "text":
        return chat_text(draw)
    if kind == "image_url":
        detail = one_of(draw, {}, {"detail": "auto"}, {"detail": "low"}, {"detail": "high"})
        return {"type": "image_url", "image_url": {"url": one_of(draw, *URLS), **detail}}
    file = {"file_data": one_of(draw, *FILE_DATA), "filename": "report.pdf"}
    return {"type": "file", "file": {key: file[key] for key in one_of(draw, *FILE_KEYS)}}


FILE_KEYS = (("file_data", "filename"), ("filename", "file_data"), ("file_data",), ("filename",), ())


def chat_content(draw: Draw, part: Callable[[Draw], Element]) -> Json:
    if draw(st.booleans()):
        return draw(texts)
    return [part(draw) for _ in range(one_of(draw, 0, 1, 1, 2, 3))]


def chat_other(draw: Draw) -> Element:
    """A message of anybody but the assistant and the tools."""
    role = one_of(draw, "user", "user", "system", "developer")
    content = chat_content(draw, chat_part if role == "user" else chat_text)
    return spelled(draw, {"role": role, "content": content}, *USER_NULLS)


def chat_call(draw: Draw, used: set[str], place: int) -> Element:
    function = {"name": one_of(draw, *NAMES), "arguments": draw(arguments)}
    call = {"id": fresh_id(draw, used), "type": "function", "function": function}
    if one_of(draw, True, False, False):
        del call["type"]
    return spelled(draw, call, {"index": place})


def chat_assistant(draw: Draw, used: set[str]) -> Element:
    """A message of the assistant that says something: text, parts, a refusal, calls, in every form of nothing else."""
    calls = [chat_call(draw, used, n) for n in range(one_of(draw, 0, 0, 1, 1, 2, 3))]
    saying = one_of(draw, "text", "parts", "refusal", "both", "refusal part", "nothing", "nothing")
    message: Element = {"role": "assistant"}
    if saying == "nothing":
        if calls:
            message |= one_of(draw, {"content": None}, {}, {"content": ""})
        else:
            message["content"] = ""
    elif saying == "refusal":
        message |= one_of(draw, {"content": None}, {}, {"content": ""}, {"content": []})
        message["refusal"] = draw(refusals.filter(bool))
    else:
        parts = [] if saying == "text" else [chat_text(draw) for _ in range(one_of(draw, 0, 1, 2))]
        message["content"] = draw(texts) if saying == "text" else parts
        if saying == "both":
            message["content"] = one_of(draw, message["content"], draw(texts))
            message["refusal"] = draw(refusals)
        elif saying == "refusal part":
            message["content"] = [*message["content"], {"type": "refusal", "refusal": draw(refusals)}]
    if calls:
        message["tool_calls"] = calls
        return spelled(draw, message, *(nulls for nulls in ASSISTANT_NULLS if not set(nulls) & set(message)))
    choices = (*ASSISTANT_NULLS, *NO_CALLS)
    return spelled(draw, message, *(nulls for nulls in choices if not set(nulls) & set(message)))


refusals = st.one_of(st.sampled_from(("I can't.", "", "no")), texts)


def chat_result(draw: Draw, call: Element) -> Element:
    message = {"role": "tool", "tool_call_id": call["id"], "content": chat_content(draw, chat_text)}
    return spelled(draw, message, {"name": call["function"]["name"]}, {"name": None})


def chat_turn(draw: Draw, used: set[str], last: bool) -> list[Element]:
    """Some messages of the assistant in a row, then the results of their calls in any order; the last turn of a
    transcript may leave calls pending."""
    messages = [chat_assistant(draw, used) for _ in range(one_of(draw, 1, 1, 1, 2, 3))]
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    order = draw(st.permutations(calls)) if len(calls) > 1 else calls
    answered = draw(st.integers(0, len(order))) if last and calls else len(order)
    return messages + [chat_result(draw, call) for call in order[:answered]]


@st.composite
def chat_transcripts(draw: Draw, taken: Iterable[str] = (), most: int = 5) -> list[Element]:
    """A valid list of Chat messages; `taken` are call ids that it does not use, `most` the turns it has at most."""
    used = set(taken)
    turns = draw(st.lists(st.booleans(), max_size=most))
    messages: list[Element] = []
    for n, spoken in enumerate(turns):
        messages += chat_turn(draw, used, n == len(turns) - 1) if spoken else [chat_other(draw)]
    return messages


@st.composite
def plain_chat_transcripts(draw: Draw) -> list[Element]:
    """Chat messages in the spelling that this library itself writes."""
    used: set[str] = set()
    messages: list[Element] = []
    for spoken in draw(st.lists(st.booleans(), max_size=5)):
        if not spoken:
            messages.append({"role": one_of(draw, "user", "system"), "content": chat_content(draw, chat_text)})
            continue
        ids = [fresh_id(draw, used) for _ in range(one_of(draw, 0, 1, 2))]
        message: Element = {"role": "assistant", "content": "so" if not ids else one_of(draw, None, "so")}
        if messages and messages[-1]["role"] == "assistant":
            messages.append({"role": "user", "content": "go on"})
        if ids:
            message["tool_calls"] = [
                {"id": i, "type": "function", "function": {"name": one_of(draw, *NAMES), "arguments": draw(arguments)}}
                for i in ids
            ]
        messages += [message, *({"role": "tool", "tool_call_id": i, "content": draw(texts)} for i in reversed(ids))]
    return messages


# ---------------------------------------------------------------- Responses

ITEM_KEYS = (
    {"id": "msg_1", "status": "completed"},
    {"id": None},
    {"status": None},
    {"id": None, "status": "completed"},
    {"id": "item é"},
    {"status": "completed"},
)
CALL_NULLS = ({"namespace": None}, {"caller": None, "created_by": None})


def with_item_keys(draw: Draw, item: Element, *nulls: Element) -> Element:
    item = spelled(draw, item, *ITEM_KEYS)
    return {**item, **one_of(draw, {}, {}, {}, *nulls)}


def input_text(draw: Draw) -> Element:
    return {"type": "input_text", "text": draw(texts)}


def input_part(draw: Draw) -> Element:
    kind = one_of(draw, "input_text", "input_image", "input_file")
    if kind == "input_text":
        return input_text(draw)
    if kind == "input_image":
        image = {"type": kind, "image_url": one_of(draw, *URLS)}
        details = ({"detail": detail} for detail in ("auto", "low", "high", None))
        return spelled(draw, image, *details, {"file_id": None}, {"file_id": None, "detail": None})
    file = {"file_data": one_of(draw, *FILE_DATA), "filename": "report.pdf"}
    part = {"type": kind, **{key: file[key] for key in one_of(draw, *FILE_KEYS)}}
    nulls = {key: None for key in ("file_id", "file_url", "file_data", "filename") if key not in part}
    return spelled(draw, part, nulls)


def output_text(draw: Draw) -> Element:
    part = {"type": "output_text", "text": draw(texts)}
    return spelled(
        draw, part, {"annotations": []}, {"annotations": None}, {"annotations": [], "logprobs": []}, {"logprobs": None}
    )


def item_content(draw: Draw, part: Callable[[Draw], Element]) -> Json:
    if draw(st.booleans()):
        return draw(texts)
    return [part(draw) for _ in range(one_of(draw, 0, 1, 1, 2, 3))]


def message_item(draw: Draw, item: Element) -> Element:
    """A message item, with its type or without."""
    typed = {**item} if one_of(draw, True, False, False) else {"type": "message", **item}
    return with_item_keys(draw, typed, {"phase": None})


def item_other(draw: Draw) -> Element:
    role = one_of(draw, "user", "user", "system", "developer")
    content = item_content(draw, input_part if role == "user" else input_text)
    return message_item(draw, {"role": role, "content": content})


def item_said(draw: Draw) -> Element:
    content = item_content(draw, output_text)
    if isinstance(content, list) and one_of(draw, True, False, False):
        content.append({"type": "refusal", "refusal": draw(refusals)})
    return message_item(draw, {"role": "assistant", "content": content})


def item_call(draw: Draw, used: set[str]) -> Element:
    call = {
        "type": "function_call",
        "call_id": fresh_id(draw, used),
        "name": one_of(draw, *NAMES),
        "arguments": draw(arguments),
    }
    return with_item_keys(draw, call, *CALL_NULLS)


def item_result(draw: Draw, call: Element) -> Element:
    item = {"type": "function_call_output", "call_id": call["call_id"], "output": item_content(draw, input_text)}
    return with_item_keys(draw, item, *CALL_NULLS, {"name": None})


def item_turn(draw: Draw, used: set[str], last: bool) -> list[Element]:
    """Messages and calls of the assistant in any order, then the outputs in any order; the last may be missing."""
    spoken = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    items = [item_said(draw) if said else item_call(draw, used) for said in spoken]
    calls = [item for item in items if item.get("type") == "function_call"]
    order = draw(st.permutations(calls)) if len(calls) > 1 else calls
    answered = draw(st.integers(0, len(order))) if last and calls else len(order)
    return items + [item_result(draw, call) for call in order[:answered]]


@st.composite
def item_transcripts(draw: Draw, taken: Iterable[str] = (), most: int = 5) -> list[Element]:
    """A valid list of items; `taken` are call ids that it does not use, `most` the turns it has at most."""
    used = set(taken)
    turns = draw(st.lists(st.booleans(), max_size=most))
    items: list[Element] = []
    for n, spoken in enumerate(turns):
        items += item_turn(draw, used, n == len(turns) - 1) if spoken else [item_other(draw)]
    return items


@st.composite
def plain_item_transcripts(draw: Draw) -> list[Element]:
    """Items in the spelling that this library itself writes."""
    used: set[str] = set()
    items: list[Element] = []
    for spoken in draw(st.lists(st.booleans(), max_size=5)):
        if not spoken:
            items.append({"type": "message", "role": one_of(draw, "user", "system"), "content": draw(texts)})
            continue
        ids = [fresh_id(draw, used) for _ in range(one_of(draw, 0, 1, 2))]
        if not ids or draw(st.booleans()):
            items.append({"type": "message", "role": "assistant", "content": "so"})
        items += [
            {
                "type": "function_call",
                "id": "fc_" + i,
                "call_id": i,
                "name": one_of(draw, *NAMES),
                "arguments": draw(arguments),
                "status": "completed",
            }
            for i in ids
        ]
        items += [{"type": "function_call_output", "call_id": i, "output": draw(texts)} for i in reversed(ids)]
    return items


# ---------------------------------------------------------------- documents


class Document(NamedTuple):
    """A document with a transcript in it."""

    value: Json
    path: tuple[str | int, ...]
    """Where the transcript stands."""
    at: str | None
    """The pointer to give, or None where the place is recognised."""
    at_there: str | None
    """The pointer to give for the translated document."""
    there: tuple[str | int, ...]
    """Where the transcript stands in the translated document."""

    @property
    def transcript(self) -> Json:
        return value_at(self.value, self.path)


def put(value: Json, path: tuple[str | int, ...], new: Json) -> Json:
    """A copy of a JSON value with something else at a path."""
    if not path:
        return new
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


def pointer(path: tuple[str | int, ...]) -> str:
    """The RFC 6901 pointer of a path."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


COLUMNS = st.dictionaries(
    st.sampled_from(("task_id", "reward", "info", "split", "a/b", "", "é", "0")), json_values, max_size=3
)


@st.composite
def documents(draw: Draw, transcripts: st.SearchStrategy[Json], key: str, other: str) -> Document:
    """A transcript alone, as `key` of an object, of a request or beside other columns, or at a pointer."""
    transcript = draw(transcripts)
    shape = one_of(draw, "list", "list", "object", "request", "row", "row", "pointer", "key at a pointer", "in a list")
    if shape == "list" and isinstance(transcript, list):
        return Document(transcript, (), None, None, ())
    if shape in ("list", "object"):
        return Document({key: transcript}, (key,), None, None, (other,))
    if shape == "request":
        return Document({"model": "m", key: transcript}, (key,), None, None, (other,))
    before, after = draw(COLUMNS), draw(COLUMNS)
    if shape == "row":
        return Document({**before, key: transcript, **after}, (key,), None, None, (other,))
    if shape == "pointer":
        column = one_of(draw, "conversations", "a/b~c", "~1", "", "é", "12")
        document: Json = {"data": {**before, column: transcript}, **after}
        at = pointer(("data", column))
        return Document(document, ("data", column), at, at, ("data", column))
    if shape == "key at a pointer":
        row = {"row": {key: transcript, **before}}
        return Document(row, ("row", key), f"/row/{key}", f"/row/{other}", ("row", other))
    return Document([after, {"turns": transcript}, before], (1, "turns"), "/1/turns", "/1/turns", (1, "turns"))


def chat_documents(transcripts: st.SearchStrategy[Json] | None = None) -> st.SearchStrategy[Document]:
    return documents(transcripts or st.one_of(chat_transcripts(), plain_chat_transcripts()), "messages", "input")


def item_documents(transcripts: st.SearchStrategy[Json] | None = None) -> st.SearchStrategy[Document]:
    """Documents with a list of items, or with the string that stands for one message of the user."""
    return documents(
        transcripts or st.one_of(item_transcripts(), item_transcripts(), plain_item_transcripts(), texts),
        "input",
        "messages",
    )


# ---------------------------------------------------------------- damage


def places(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every value in a JSON value, in document order, itself first."""
    found = [path]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key))
    elif isinstance(value, list):
        for n, inner in enumerate(value):
            found += places(inner, (*path, n))
    return found


def value_at(value: Json, path: tuple[str | int, ...]) -> Json:
    for step in path:
        value = value[step]
    return value


BORROWED_KEYS = (
    "role", "type", "content", "tool_calls", "tool_call_id", "id", "call_id", "name", "arguments", "function", "output",
    "status", "refusal", "text", "image_url", "file", "annotations", "namespace", "phase", "function_call", "weight",
    "reasoning_content", "summary", "index", "detail", "file_id",
)  # fmt: skip
BORROWED_VALUES = (
    "user", "assistant", "tool", "system", "function", "message", "function_call", "function_call_output", "text",
    "input_text", "output_text", "refusal", "input_image", "image_url", "reasoning", "acme:thing", "custom",
    "web_search_call", "in_progress", "incomplete", "completed", "original", "call_1", "c", "",
)  # fmt: skip


@st.composite
def mutated(draw: Draw, transcripts: st.SearchStrategy[Json]) -> Json:
    """A transcript with a few changes made blindly: values replaced, keys added, removed and renamed, entries doubled
    and swapped, values of one place put in another."""
    value = copied(draw(transcripts))
    for _ in range(one_of(draw, 1, 1, 2, 3)):
        path = one_of(draw, *places(value))
        value = put(value, path, draw(changes(value_at(value, path), value)))
    return value


@st.composite
def changes(draw: Draw, here: Json, whole: Json) -> Json:
    """Something else in place of a value."""
    how = one_of(draw, "value", "word", "elsewhere", "inside", "inside", "inside")
    if how == "value":
        return draw(json_values)
    if how == "elsewhere":
        return copied(value_at(whole, one_of(draw, *places(whole))))
    if isinstance(here, dict) and how == "inside":
        return changed_object(draw, here)
    if isinstance(here, list) and here and how == "inside":
        return changed_list(draw, here)
    return one_of(draw, *BORROWED_VALUES)


def changed_object(draw: Draw, here: Element) -> Element:
    key = one_of(draw, *BORROWED_KEYS, *here, *here)
    if key in here and draw(st.booleans()):
        return {other: value for other, value in here.items() if other != key}
    value = draw(st.one_of(json_values, st.sampled_from(BORROWED_VALUES), st.sampled_from((None, [], {}))))
    return {**here, key: value}


def changed_list(draw: Draw, here: list[Json]) -> list[Json]:
    n, m = draw(st.integers(0, len(here) - 1)), draw(st.integers(0, len(here) - 1))
    entry = here[n]
    how = one_of(draw, "drop", "double", "move")
    if how == "drop":
        return here[:n] + here[n + 1 :]
    if how == "double":
        return [*here[:m], copied(entry), *here[m:]]
    rest = here[:n] + here[n + 1 :]
    return [*rest[:m], entry, *rest[m:]]
