"""Everything that can be wrong with a transcript, one row a fault.

A row is a function that draws a *fragment*: a few elements that would be valid but for one thing, the paths from the
fragment down where that must be reported, and nothing else wrong with them. `put_in` puts a fragment into a valid
transcript, at a place where no call waits for its result, so that what must be reported of the whole is known exactly.

The name of the function is the name of the fault; the decorator says the format, the code that must be reported and
whether allowing that code lets this very fault through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from hypothesis import strategies as st
from strategies import ODD_KEYS, Draw, Element, Json, json_values, one_of, pointer, texts

Path = tuple[str | int, ...]


class Fragment(NamedTuple):
    elements: list[Json]
    paths: list[Path]
    """Where the fault must be reported, from the fragment down, in document order."""
    last: bool = False
    """Whether nothing may follow: a call of it is still pending."""


DrawFragment = Callable[[Draw, str], Fragment]


class Faulty(NamedTuple):
    """A transcript, valid but for one fault, and what must be reported of it: one code, and where."""

    document: list[Json]
    code: str
    pointers: list[str]


@dataclass(frozen=True)
class Fault:
    name: str
    format: str
    code: str
    allowable: bool
    draw: DrawFragment
    """`draw(draw, call_id)`; the id is one that nobody else has."""

    def __str__(self) -> str:
        return f"{self.format}-{self.code}-{self.name}"


FAULTS: list[Fault] = []


def fault(format_: str, code: str, allowable: bool = True) -> Callable[[DrawFragment], DrawFragment]:
    """A row of the table."""

    def add(function: DrawFragment) -> DrawFragment:
        FAULTS.append(Fault(function.__name__.removesuffix("_"), format_, code, allowable, function))
        return function

    return add


# ---------------------------------------------------------------- putting in


def boundaries(elements: Iterable[Json]) -> list[int]:
    """The places of a valid transcript where every call so far has its result."""
    waiting = 0
    found = [0]
    for n, element in enumerate(elements):
        waiting += len(element.get("tool_calls") or ()) + (element.get("type") == "function_call")
        waiting -= element.get("role") == "tool" or element.get("type") == "function_call_output"
        if not waiting:
            found.append(n + 1)
    return found


def put_in(draw: Draw, elements: list[Json], chosen: list[Fault]) -> list[Faulty]:
    """A valid transcript with faults put in, as one entry for each in document order, all with the same document.

    Of those that nothing may follow only one is put in.
    """
    drawn = [(fault, fault.draw(draw, f"fault_{n}")) for n, fault in enumerate(chosen)]
    lasting = [pair for pair in drawn if pair[1].last][:1]
    pairs = [pair for pair in drawn if not pair[1].last] + lasting
    if lasting:
        elements = elements[: boundaries(elements)[-1]]
    places = sorted(one_of(draw, *boundaries(elements)) for _ in pairs)
    if lasting:
        places[-1] = len(elements)
    whole: list[Json] = []
    found: list[Faulty] = []
    done = 0
    for place, (fault_, fragment) in zip(places, pairs, strict=True):
        whole += elements[done:place]
        done = place
        pointers = [pointer((len(whole) + int(path[0]), *path[1:])) for path in fragment.paths]
        found.append(Faulty(whole, fault_.code, pointers))
        whole += fragment.elements
    whole += elements[done:]
    return found


# ---------------------------------------------------------------- Chat, well formed pieces


def user(content: Json, **keys: Json) -> Element:
    return {"role": "user", "content": content, **keys}


def says(content: Json, **keys: Json) -> Element:
    return {"role": "assistant", "content": content, **keys}


def call(call_id: str, **keys: Json) -> Element:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}, **keys}


def calls(*several: Json, **keys: Json) -> Element:
    return {"role": "assistant", "content": None, "tool_calls": list(several), **keys}


def result(call_id: str, content: Json = "1", **keys: Json) -> Element:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **keys}


TEXT = {"type": "text", "text": "see"}


def deep(draw: Draw) -> Json:
    """A value of more levels than may be."""
    value: Json = "the bottom"
    wrap = one_of(draw, lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: [{"a": inner}])
    for _ in range(draw(st.integers(205, 300))):
        value = wrap(value)
    return value


def beside(draw: Draw, part: Json, text: Element) -> tuple[list[Json], int]:
    """A content with an odd part in it and something else left to say, and the place of the part."""
    return ([dict(text), part], 1) if draw(st.booleans()) else ([part, dict(text)], 0)


# ---------------------------------------------------------------- Chat, keys and parts


@fault("chat", "unknown_field")
def key_of_a_message(draw: Draw, _: str) -> Fragment:
    message = one_of(draw, user("hi"), says("hi"), {"role": "system", "content": "hi"})
    key = one_of(draw, *ODD_KEYS)
    return Fragment([{**message, key: draw(json_values)}], [(0, key)])


@fault("chat", "unknown_field")
def key_of_a_part(draw: Draw, _: str) -> Fragment:
    content, n = beside(draw, {**TEXT, "cache_control": {"type": "ephemeral"}}, TEXT)
    message = one_of(draw, user(content), says(content), {"role": "developer", "content": content})
    return Fragment([message], [(0, "content", n, "cache_control")])


@fault("chat", "unknown_field")
def key_of_an_image(draw: Draw, _: str) -> Fragment:
    image = {"type": "image_url", "image_url": {"url": "data:", "a/b": draw(json_values)}}
    return Fragment([user([image])], [(0, "content", 0, "image_url", "a/b")])


@fault("chat", "unknown_field")
def key_of_a_call(draw: Draw, call_id: str) -> Fragment:
    message = calls(call(call_id, provider=draw(json_values)))
    return Fragment([message, result(call_id)], [(0, "tool_calls", 0, "provider")])


@fault("chat", "unknown_field")
def key_of_a_function(draw: Draw, call_id: str) -> Fragment:
    message = calls(call(call_id))
    message["tool_calls"][0]["function"]["strict"] = draw(json_values)
    return Fragment([message, result(call_id)], [(0, "tool_calls", 0, "function", "strict")])


@fault("chat", "unknown_field")
def key_of_a_result(draw: Draw, call_id: str) -> Fragment:
    return Fragment([calls(call(call_id)), result(call_id, is_error=draw(json_values))], [(1, "is_error")])


@fault("chat", "unknown_field")
def index_of_another_place(draw: Draw, call_id: str) -> Fragment:
    index = draw(st.integers().filter(bool))
    return Fragment([calls(call(call_id, index=index)), result(call_id)], [(0, "tool_calls", 0, "index")])


@fault("chat", "unknown_part")
def part_of_no_type(draw: Draw, _: str) -> Fragment:
    content, n = beside(draw, {"type": one_of(draw, "sketch", "", "Text"), "x": draw(json_values)}, TEXT)
    return Fragment([one_of(draw, user, says)(content)], [(0, "content", n)])


@fault("chat", "unknown_part")
def several_parts_of_no_type(draw: Draw, _: str) -> Fragment:
    odd = {"type": "sketch", "x": draw(json_values)}
    return Fragment([user([odd, TEXT, odd, TEXT, odd])], [(0, "content", n) for n in (0, 2, 4)])


@fault("chat", "unknown_part", allowable=False)
def nothing_but_a_part_of_no_type(draw: Draw, _: str) -> Fragment:
    return Fragment([one_of(draw, user, says)([{"type": "sketch"}])], [(0, "content", 0)])


@fault("chat", "no_counterpart")
def cache_breakpoint(draw: Draw, _: str) -> Fragment:
    mark = {"prompt_cache_breakpoint": one_of(draw, {"mode": "explicit"}, {"mode": "explicit", "ttl": "30m"})}
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    part = one_of(draw, TEXT, image, {"type": "file", "file": {"file_data": "x"}})
    return Fragment([user([{**part, **mark}])], [(0, "content", 0, "prompt_cache_breakpoint")])


@fault("chat", "namespaced")
def namespaced_element(draw: Draw, _: str) -> Fragment:
    element = one_of(draw, {}, says("hi"), {"call_id": "c", "name": "f", "arguments": "{}"}, {"id": 1, "x": [None]})
    return Fragment([user("hi"), {**element, "type": one_of(draw, "acme:thing", "a:", ":")}], [(1,)])


@fault("chat", "namespaced")
def namespaced_part(draw: Draw, _: str) -> Fragment:
    content, n = beside(draw, {"type": "acme:part", "text": draw(json_values)}, TEXT)
    return Fragment([one_of(draw, user, says)(content)], [(0, "content", n)])


@fault("chat", "namespaced", allowable=False)
def nothing_but_a_namespaced_part(_: Draw, __: str) -> Fragment:
    return Fragment([user([{"type": "acme:part"}])], [(0, "content", 0)])


@fault("chat", "namespaced")
def namespaced_call(_: Draw, call_id: str) -> Fragment:
    odd = {"id": call_id, "type": "acme:call", "acme": {"name": "f"}}
    return Fragment([calls(odd), result(call_id)], [(0, "tool_calls", 0), (1,)])


@fault("chat", "namespaced")
def namespaced_call_beside_another(draw: Draw, call_id: str) -> Fragment:
    odd = {"id": call_id, "type": "acme:call"}
    first, second = one_of(draw, ({}, {}), ({"index": 0}, {"index": 1}))
    both, n = [odd, call(call_id + "b", **second)], 0
    if draw(st.booleans()):
        both, n = [call(call_id + "b", **first), odd], 1
    return Fragment(
        [calls(*both, content=one_of(draw, None, "so")), result(call_id + "b"), result(call_id)],
        [(0, "tool_calls", n), (2,)],
    )


@fault("chat", "custom_tool")
def custom_call(draw: Draw, call_id: str) -> Fragment:
    odd = {"id": call_id, "type": "custom", "custom": {"name": "sql", "input": draw(texts)}}
    said = one_of(draw, None, "on it")
    return Fragment([calls(odd, content=said), result(call_id)], [(0, "tool_calls", 0), (1,)])


@fault("chat", "custom_tool")
def custom_call_pending(draw: Draw, call_id: str) -> Fragment:
    odd = {"id": call_id, "type": "custom", "custom": {"name": "sql", "input": draw(texts)}}
    return Fragment([calls(call(call_id + "b"), odd)], [(0, "tool_calls", 1)], last=True)


@fault("chat", "unknown_item")
def call_of_no_type(draw: Draw, call_id: str) -> Fragment:
    odd = {"id": call_id, "type": one_of(draw, "search", "")}
    return Fragment([calls(odd, content="so"), result(call_id)], [(0, "tool_calls", 0), (1,)])


@fault("chat", "mixed_formats", allowable=False)
def item_among_messages(draw: Draw, call_id: str) -> Fragment:
    item = one_of(
        draw,
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "1"},
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "reasoning", "summary": []},
        {"type": "web_search_call", "id": "ws_1"},
    )
    return Fragment([calls(call(call_id)), result(call_id), item], [(2,)])


@fault("chat", "mixed_formats", allowable=False)
def part_of_the_other_format(draw: Draw, _: str) -> Fragment:
    part = {"type": one_of(draw, "input_text", "output_text"), "text": "hi"}
    return Fragment([one_of(draw, user, says)([TEXT, part])], [(0, "content", 1)])


@fault("chat", "reasoning")
def reasoning_key(draw: Draw, call_id: str) -> Fragment:
    key = one_of(draw, "reasoning", "reasoning_content", "reasoning_details")
    value = draw(st.one_of(texts, json_values).filter(lambda value: value not in (None, "", [])))
    if draw(st.booleans()):
        return Fragment([{**says("4"), key: value}], [(0, key)])
    return Fragment([{key: value, **calls(call(call_id))}, result(call_id)], [(0, key)])


@fault("chat", "reasoning")
def reasoning_part(draw: Draw, _: str) -> Fragment:
    content, n = beside(draw, {"type": one_of(draw, "thinking", "reasoning"), "thinking": draw(texts)}, TEXT)
    return Fragment([says(content)], [(0, "content", n)])


@fault("chat", "reasoning", allowable=False)
def nothing_but_reasoning(_: Draw, __: str) -> Fragment:
    return Fragment([says([{"type": "thinking", "thinking": "hm"}])], [(0, "content", 0)])


@fault("chat", "message_name")
def name_of_the_speaker(draw: Draw, _: str) -> Fragment:
    message = one_of(draw, user("hi"), says("hi"), {"role": "system", "content": "hi"})
    return Fragment([{**message, "name": draw(texts.filter(bool))}], [(0, "name")])


@fault("chat", "message_name")
def name_of_another_function(draw: Draw, call_id: str) -> Fragment:
    name = draw(texts.filter(lambda name: name != "f"))
    return Fragment([calls(call(call_id)), result(call_id, name=name)], [(1, "name")])


@fault("chat", "weight")
def weight(draw: Draw, _: str) -> Fragment:
    return Fragment([says("hi", weight=one_of(draw, 0, 1))], [(0, "weight")])


@fault("chat", "annotations")
def annotations_of_a_message(_: Draw, __: str) -> Fragment:
    citation = {"start_index": 0, "end_index": 3, "url": "https://example.com", "title": "E"}
    annotations = [{"type": "url_citation", "url_citation": citation}]
    return Fragment([says("see", annotations=annotations)], [(0, "annotations")])


@fault("chat", "audio")
def audio_part(draw: Draw, _: str) -> Fragment:
    audio = {"type": "input_audio", "input_audio": {"data": "UklG", "format": one_of(draw, "wav", "mp3")}}
    content, n = beside(draw, audio, TEXT)
    return Fragment([user(content)], [(0, "content", n)])


@fault("chat", "audio", allowable=False)
def nothing_but_audio(_: Draw, __: str) -> Fragment:
    audio = {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}
    return Fragment([user([audio, audio])], [(0, "content", 0), (0, "content", 1)])


@fault("chat", "audio")
def audio_of_the_assistant(_: Draw, __: str) -> Fragment:
    return Fragment([says("hi", audio={"id": "audio_1"})], [(0, "audio")])


@fault("chat", "image_detail")
def image_detail_original(_: Draw, __: str) -> Fragment:
    image = {"type": "image_url", "image_url": {"url": "data:", "detail": "original"}}
    return Fragment([user([image])], [(0, "content", 0, "image_url", "detail")])


@fault("chat", "file_id")
def file_by_its_id(draw: Draw, _: str) -> Fragment:
    file = {"type": "file", "file": {"file_id": "file-1", **one_of(draw, {}, {"filename": "a.pdf"})}}
    content, n = beside(draw, file, TEXT)
    return Fragment([user(content)], [(0, "content", n, "file", "file_id")])


@fault("chat", "file_id", allowable=False)
def nothing_but_a_file_by_its_id(_: Draw, __: str) -> Fragment:
    return Fragment([user([{"type": "file", "file": {"file_id": "file-1"}}])], [(0, "content", 0, "file", "file_id")])


@fault("chat", "refusal_order")
def refusal_not_last(draw: Draw, _: str) -> Fragment:
    no = {"type": "refusal", "refusal": draw(texts)}
    content = one_of(draw, [no, TEXT], [no, no], [TEXT, no, TEXT])
    return Fragment([says(content)], [(0, "content")])


@fault("chat", "refusal_order")
def two_refusals(draw: Draw, _: str) -> Fragment:
    content = [{"type": "refusal", "refusal": draw(texts)}]
    return Fragment([says(content, refusal="no")], [(0, "content")])


@fault("chat", "empty_message")
def empty_message(draw: Draw, _: str) -> Fragment:
    keys = one_of(draw, {}, {"content": None}, {"content": None, "refusal": ""}, {"content": None, "tool_calls": []})
    return Fragment([{"role": "assistant", **keys}], [(0,)])


# ---------------------------------------------------------------- Chat, calls and results


@fault("chat", "legacy_function")
def legacy_call_and_result(draw: Draw, _: str) -> Fragment:
    old = {"role": "assistant", **one_of(draw, {"content": None}, {"content": "so"}, {})}
    old["function_call"] = {"name": "f", "arguments": "{}"}
    answer = {"role": "function", "name": "f", "content": draw(texts)}
    return Fragment([old, answer], [(0, "function_call"), (1,)])


@fault("chat", "legacy_function")
def legacy_call_pending(draw: Draw, _: str) -> Fragment:
    old = says(one_of(draw, None, "so"), function_call={"name": "f", "arguments": draw(texts)})
    return Fragment([old], [(0, "function_call")], last=True)


@fault("chat", "arguments_type", allowable=False)
def arguments_not_text(draw: Draw, call_id: str) -> Fragment:
    value = draw(json_values.filter(lambda value: not isinstance(value, str)))
    odd = call(call_id, function={"name": "f", "arguments": value})
    return Fragment([calls(odd), result(call_id)], [(0, "tool_calls", 0, "function", "arguments")])


@fault("chat", "call_id_length")
def call_id_too_long(draw: Draw, call_id: str) -> Fragment:
    long = call_id + "é" * one_of(draw, 65, 100)
    return Fragment([calls(call(long)), result(long)], [(0, "tool_calls", 0, "id"), (1, "tool_call_id")])


@fault("chat", "call_id_length")
def call_id_empty(_: Draw, __: str) -> Fragment:
    return Fragment([calls(call(""))], [(0, "tool_calls", 0, "id")], last=True)


@fault("chat", "function_name")
def function_name(draw: Draw, call_id: str) -> Fragment:
    odd = call(call_id, function={"name": one_of(draw, "docs.search", "", "n" * 65, "é", "f\n"), "arguments": "{}"})
    return Fragment([calls(odd), result(call_id)], [(0, "tool_calls", 0, "function", "name")])


@fault("chat", "duplicate_call_id")
def call_id_used_again(_: Draw, call_id: str) -> Fragment:
    once = [calls(call(call_id)), result(call_id)]
    return Fragment([*once, user("again"), *once], [(3, "tool_calls", 0, "id")])


@fault("chat", "duplicate_call_id")
def call_id_used_thrice(_: Draw, call_id: str) -> Fragment:
    once = [calls(call(call_id)), result(call_id)]
    return Fragment([*once, *once, *once], [(2, "tool_calls", 0, "id"), (4, "tool_calls", 0, "id")])


@fault("chat", "duplicate_call_id", allowable=False)
def call_id_used_twice_at_once(_: Draw, call_id: str) -> Fragment:
    return Fragment(
        [calls(call(call_id), call(call_id)), result(call_id), result(call_id)], [(0, "tool_calls", 1, "id")]
    )


@fault("chat", "orphan_result", allowable=False)
def orphan_result(_: Draw, call_id: str) -> Fragment:
    return Fragment([result(call_id)], [(0, "tool_call_id")])


@fault("chat", "orphan_result", allowable=False)
def result_before_its_call(_: Draw, call_id: str) -> Fragment:
    return Fragment([result(call_id), calls(call(call_id))], [(0, "tool_call_id")], last=True)


@fault("chat", "duplicate_result", allowable=False)
def duplicate_result(draw: Draw, call_id: str) -> Fragment:
    between = one_of(draw, [], [user("hm")])
    return Fragment(
        [calls(call(call_id)), result(call_id), *between, result(call_id, "2")], [(2 + len(between), "tool_call_id")]
    )


@fault("chat", "unanswered_call")
def unanswered_call(_: Draw, call_id: str) -> Fragment:
    return Fragment([calls(call(call_id)), user("hello?")], [(0, "tool_calls", 0, "id")])


@fault("chat", "unanswered_call")
def one_call_of_two_unanswered(draw: Draw, call_id: str) -> Fragment:
    both = calls(call(call_id), call(call_id + "b"))
    n, answered = one_of(draw, (0, call_id + "b"), (1, call_id))
    return Fragment([both, result(answered), says("done")], [(0, "tool_calls", n, "id")])


@fault("chat", "interleaved")
def somebody_before_the_result(draw: Draw, call_id: str) -> Fragment:
    between = one_of(draw, [user("hurry")], [user("a"), {"role": "system", "content": "b"}], [user("a"), says("b")])
    return Fragment([calls(call(call_id)), *between, result(call_id)], [(1 + n,) for n in range(len(between))])


@fault("chat", "interleaved")
def assistant_between_two_results(_: Draw, call_id: str) -> Fragment:
    both = calls(call(call_id), call(call_id + "b"))
    return Fragment([both, result(call_id), says("one"), result(call_id + "b")], [(2,)])


# ---------------------------------------------------------------- Chat, not well formed


@fault("chat", "malformed", allowable=False)
def no_message(draw: Draw, _: str) -> Fragment:
    return Fragment([one_of(draw, None, 5, "hi", [], True, 1.5)], [(0,)])


@fault("chat", "malformed", allowable=False)
def no_role(draw: Draw, _: str) -> Fragment:
    return Fragment([user("hi"), one_of(draw, {}, {"content": "hi"}, {"type": "text", "text": "hi"})], [(1,)])


@fault("chat", "malformed", allowable=False)
def role_of_nobody(draw: Draw, _: str) -> Fragment:
    return Fragment([{"role": one_of(draw, "critic", "", "User", None, 5, [], {}), "content": "hi"}], [(0, "role")])


@fault("chat", "malformed", allowable=False)
def content_missing(draw: Draw, _: str) -> Fragment:
    return Fragment([{"role": one_of(draw, "user", "system", "developer")}], [(0,)])


@fault("chat", "malformed", allowable=False)
def content_of_another_type(draw: Draw, _: str) -> Fragment:
    role = one_of(draw, "user", "system", "developer")
    return Fragment([{"role": role, "content": one_of(draw, None, 5, True, {}, {"type": "text"})}], [(0, "content")])


@fault("chat", "malformed", allowable=False)
def content_of_the_assistant(draw: Draw, _: str) -> Fragment:
    return Fragment([says(one_of(draw, 5, {}, False))], [(0, "content")])


@fault("chat", "malformed", allowable=False)
def part_of_another_type(draw: Draw, _: str) -> Fragment:
    part = one_of(draw, None, 5, "hi", [], {}, {"text": "hi"}, {"type": None}, {"type": 5})
    return Fragment([one_of(draw, user, says)([TEXT, part])], [(0, "content", 1)])


@fault("chat", "malformed", allowable=False)
def part_in_the_wrong_place(draw: Draw, _: str) -> Fragment:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    refusal = {"type": "refusal", "refusal": "no"}
    role, part = one_of(draw, ("system", image), ("assistant", image), ("user", refusal), ("developer", refusal))
    return Fragment([{"role": role, "content": [TEXT, part]}], [(0, "content", 1)])


@fault("chat", "malformed", allowable=False)
def text_missing(_: Draw, __: str) -> Fragment:
    return Fragment([user([{"type": "text"}])], [(0, "content", 0)])


@fault("chat", "malformed", allowable=False)
def text_of_another_type(draw: Draw, _: str) -> Fragment:
    return Fragment([user([{"type": "text", "text": one_of(draw, None, 5, [], {})}])], [(0, "content", 0, "text")])


@fault("chat", "unknown_value", allowable=False)
def image_detail_of_no_kind(draw: Draw, _: str) -> Fragment:
    image = {"url": "data:", "detail": one_of(draw, "medium", "", None, 5)}
    return Fragment([user([{"type": "image_url", "image_url": image}])], [(0, "content", 0, "image_url", "detail")])


@fault("chat", "malformed", allowable=False)
def image_as_text(_: Draw, __: str) -> Fragment:
    return Fragment([user([{"type": "image_url", "image_url": "data:"}])], [(0, "content", 0, "image_url")])


@fault("chat", "malformed", allowable=False)
def result_without_an_id(draw: Draw, call_id: str) -> Fragment:
    odd, path = one_of(draw, ({}, (1,)), ({"tool_call_id": 5}, (1, "tool_call_id")))
    message = {"role": "tool", "content": "1", **odd}
    return Fragment([calls(call(call_id)), message, result(call_id)], [path])


@fault("chat", "malformed", allowable=False)
def result_of_another_type(draw: Draw, call_id: str) -> Fragment:
    content = one_of(draw, None, 5, {"a": 1})
    return Fragment([calls(call(call_id)), result(call_id, content)], [(1, "content")])


@fault("chat", "malformed", allowable=False)
def calls_of_another_type(draw: Draw, _: str) -> Fragment:
    return Fragment([says("hi", tool_calls=one_of(draw, {}, 5, "f", True))], [(0, "tool_calls")])


@fault("chat", "malformed", allowable=False)
def calls_of_somebody_else(_: Draw, __: str) -> Fragment:
    return Fragment([user("hi", tool_calls=[call("c")])], [(0, "tool_calls")])


@fault("chat", "malformed", allowable=False)
def call_of_another_type(draw: Draw, _: str) -> Fragment:
    return Fragment([says("hi", tool_calls=[one_of(draw, None, 5, "f", [])])], [(0, "tool_calls", 0)])


@fault("chat", "malformed", allowable=False)
def call_without_a_function(_: Draw, call_id: str) -> Fragment:
    return Fragment([calls({"id": call_id, "type": "function"}), result(call_id)], [(0, "tool_calls", 0)])


@fault("chat", "malformed", allowable=False)
def call_without_a_name(draw: Draw, call_id: str) -> Fragment:
    function, path = one_of(
        draw,
        ({"arguments": "{}"}, (0, "tool_calls", 0, "function")),
        ({"name": None, "arguments": "{}"}, (0, "tool_calls", 0, "function", "name")),
        ({"name": "f"}, (0, "tool_calls", 0, "function")),
    )
    return Fragment([calls(call(call_id, function=function)), result(call_id)], [path])


@fault("chat", "unknown_value", allowable=False)
def call_type_of_another_type(draw: Draw, call_id: str) -> Fragment:
    odd = call(call_id, type=one_of(draw, None, 5))
    return Fragment([calls(odd), result(call_id)], [(0, "tool_calls", 0, "type")])


@fault("chat", "malformed", allowable=False)
def refusal_of_another_type(draw: Draw, _: str) -> Fragment:
    return Fragment([says("hi", refusal=one_of(draw, 5, [], {}, True))], [(0, "refusal")])


@fault("chat", "malformed", allowable=False)
def name_of_another_type(draw: Draw, _: str) -> Fragment:
    return Fragment([user("hi", name=one_of(draw, 5, [], {}))], [(0, "name")])


@fault("chat", "not_json", allowable=False)
def no_json(draw: Draw, _: str) -> Fragment:
    return odd_value(draw, user("hi"))


@fault("chat", "not_json", allowable=False)
def surrogate_in_arguments(_: Draw, call_id: str) -> Fragment:
    odd = call(call_id, function={"name": "f", "arguments": '{"a":"\ud800"}'})
    return Fragment([calls(odd), result(call_id)], [(0, "tool_calls", 0, "function", "arguments")])


@fault("chat", "too_deep", allowable=False)
def too_deep(draw: Draw, _: str) -> Fragment:
    key = one_of(draw, "trace", "content")
    return Fragment([{**user("hi"), key: deep(draw)}], [(0, key)])


def odd_value(draw: Draw, element: Element) -> Fragment:
    """A Python value that is no JSON value."""
    nan, surrogate = float("nan"), "lone \udfff"
    odd, path = one_of(
        draw,
        ({"content": surrogate}, (0, "content")),
        ({"trace": nan}, (0, "trace")),
        ({"trace": {"a": [1, -float("inf")]}}, (0, "trace", "a", 1)),
        ({"trace": (1, 2)}, (0, "trace")),
        ({"trace": {1: 2}}, (0, "trace")),
        ({"content": b"bytes"}, (0, "content")),
        ({surrogate: 1}, (0,)),
        ({"trace": {"a"}}, (0, "trace")),
    )
    return Fragment([{**element, **odd}], [path])


# ---------------------------------------------------------------- Responses, well formed pieces


def item(role: str, content: Json, **keys: Json) -> Element:
    return {"type": "message", "role": role, "content": content, **keys}


def function_call(call_id: str, **keys: Json) -> Element:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}", **keys}


def output(call_id: str, value: Json = "1", **keys: Json) -> Element:
    return {"type": "function_call_output", "call_id": call_id, "output": value, **keys}


IN = {"type": "input_text", "text": "see"}
OUT = {"type": "output_text", "text": "see"}


def text_of(role: str) -> Element:
    return OUT if role == "assistant" else IN


# ---------------------------------------------------------------- Responses, keys and parts


@fault("responses", "unknown_field")
def key_of_an_item(draw: Draw, _: str) -> Fragment:
    key = one_of(draw, *ODD_KEYS)
    return Fragment([{**item(one_of(draw, "user", "assistant"), "hi"), key: draw(json_values)}], [(0, key)])


@fault("responses", "unknown_field")
def key_of_a_part_(draw: Draw, _: str) -> Fragment:
    role = one_of(draw, "user", "assistant", "system")
    return Fragment([item(role, [{**text_of(role), "m~n": draw(json_values)}])], [(0, "content", 0, "m~n")])


@fault("responses", "unknown_field")
def key_of_a_call_(draw: Draw, call_id: str) -> Fragment:
    return Fragment([function_call(call_id, strict=draw(json_values)), output(call_id)], [(0, "strict")])


@fault("responses", "unknown_field")
def key_of_an_output(draw: Draw, call_id: str) -> Fragment:
    return Fragment([function_call(call_id), output(call_id, is_error=draw(json_values))], [(1, "is_error")])


@fault("responses", "unknown_part")
def part_of_no_type_(draw: Draw, _: str) -> Fragment:
    role = one_of(draw, "user", "assistant")
    content, n = beside(draw, {"type": one_of(draw, "sketch", "summary"), "x": draw(json_values)}, text_of(role))
    return Fragment([item(role, content)], [(0, "content", n)])


@fault("responses", "unknown_part")
def several_parts_of_no_type_(draw: Draw, call_id: str) -> Fragment:
    odd = {"type": "sketch", "x": draw(json_values)}
    return Fragment([function_call(call_id), output(call_id, [odd, IN, odd])], [(1, "output", 0), (1, "output", 2)])


@fault("responses", "unknown_part", allowable=False)
def nothing_but_a_part_of_no_type_(_: Draw, call_id: str) -> Fragment:
    return Fragment([function_call(call_id), output(call_id, [{"type": "sketch"}])], [(1, "output", 0)])


@fault("responses", "no_counterpart")
def cache_breakpoint_(_: Draw, __: str) -> Fragment:
    part = {**IN, "prompt_cache_breakpoint": {"mode": "explicit"}}
    return Fragment([item("user", [part])], [(0, "content", 0, "prompt_cache_breakpoint")])


@fault("responses", "namespaced")
def namespaced_item(draw: Draw, _: str) -> Fragment:
    half = {"status": "in_progress", "x": [1]}
    element = one_of(draw, {}, item("user", "hi"), function_call("c", namespace="x"), half)
    return Fragment([{**element, "type": one_of(draw, "acme:search_call", "openai:web_search_call", ":")}], [(0,)])


@fault("responses", "namespaced")
def namespaced_part_(draw: Draw, _: str) -> Fragment:
    role = one_of(draw, "user", "assistant")
    content, n = beside(draw, {"type": "acme:part", "text": draw(json_values)}, text_of(role))
    return Fragment([item(role, content)], [(0, "content", n)])


@fault("responses", "namespaced")
def call_with_a_namespace(draw: Draw, call_id: str) -> Fragment:
    call_ = function_call(call_id, namespace=one_of(draw, "crm", ""))
    return Fragment([call_, output(call_id)], [(0, "namespace"), (1,)])


@fault("responses", "namespaced")
def output_with_a_namespace(_: Draw, call_id: str) -> Fragment:
    return Fragment([function_call(call_id), output(call_id, namespace="crm")], [(1, "namespace")], last=True)


@fault("responses", "unsupported_item")
def item_of_one_api(draw: Draw, _: str) -> Fragment:
    odd = one_of(
        draw,
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "mcp_call", "id": "mcp_1", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT 1"},
        {"type": "item_reference", "id": "msg_1"},
        {"id": "msg_1"},
        {"type": None, "id": "msg_1"},
        {"type": "compaction", "encrypted_content": "x"},
        {"type": "computer_call_output", "x": draw(json_values)},
    )
    return Fragment([odd], [(0,)])


@fault("responses", "unknown_item")
def item_of_no_type(draw: Draw, _: str) -> Fragment:
    return Fragment([{"type": one_of(draw, "thought", "", "Message"), "text": draw(json_values)}], [(0,)])


@fault("responses", "mixed_formats", allowable=False)
def message_among_items(draw: Draw, _: str) -> Fragment:
    odd, key = one_of(
        draw,
        (result("c"), "tool_call_id"),
        ({"role": "function", "name": "f", "content": "1"}, "role"),
        (calls(call("c")), "tool_calls"),
        ({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}, "function_call"),
    )
    return Fragment([item("user", "hi"), odd], [(1, key)])


@fault("responses", "mixed_formats", allowable=False)
def part_of_the_other_format_(draw: Draw, _: str) -> Fragment:
    role = one_of(draw, "user", "assistant")
    part = one_of(draw, TEXT, {"type": "image_url", "image_url": {"url": "data:"}})
    return Fragment([item(role, [text_of(role), part])], [(0, "content", 1)])


@fault("responses", "reasoning")
def reasoning_item(draw: Draw, _: str) -> Fragment:
    summary = one_of(draw, [], [{"type": "summary_text", "text": "hm"}])
    keys = one_of(draw, {}, {"encrypted_content": "x"}, {"content": None, "status": "completed"})
    return Fragment([{"type": "reasoning", "id": "rs_1", "summary": summary, **keys}], [(0,)])


@fault("responses", "reasoning")
def reasoning_before_a_call(_: Draw, call_id: str) -> Fragment:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    return Fragment([thought, function_call(call_id), thought, output(call_id)], [(0,), (2,)])


@fault("responses", "phase")
def phase(draw: Draw, _: str) -> Fragment:
    return Fragment([item("assistant", "hi", phase=one_of(draw, "commentary", "final_answer"))], [(0, "phase")])


@fault("responses", "annotations")
def annotations_of_a_part(_: Draw, __: str) -> Fragment:
    citation = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 3}
    part = {**OUT, "annotations": [citation]}
    return Fragment([item("assistant", [part])], [(0, "content", 0, "annotations")])


@fault("responses", "logprobs")
def logprobs_of_a_part(_: Draw, __: str) -> Fragment:
    logprob = {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}
    part = {**OUT, "logprobs": [logprob]}
    return Fragment([item("assistant", [part])], [(0, "content", 0, "logprobs")])


@fault("responses", "image_url")
def image_without_a_url(draw: Draw, _: str) -> Fragment:
    image = {"type": "input_image", **one_of(draw, {}, {"image_url": None}, {"detail": "low"})}
    content, n = beside(draw, image, IN)
    return Fragment([item("user", content)], [(0, "content", n)])


@fault("responses", "image_url", allowable=False)
def nothing_but_an_image_without_a_url(_: Draw, __: str) -> Fragment:
    return Fragment([item("user", [{"type": "input_image", "image_url": None}])], [(0, "content", 0)])


@fault("responses", "image_detail")
def image_detail_original_(_: Draw, __: str) -> Fragment:
    image = {"type": "input_image", "image_url": "data:", "detail": "original"}
    return Fragment([item("user", [image])], [(0, "content", 0, "detail")])


@fault("responses", "file_id")
def file_by_its_id_(draw: Draw, _: str) -> Fragment:
    part = one_of(draw, {"type": "input_file", "file_id": "file-1"}, {"type": "input_image", "file_id": "file-1"})
    content, n = beside(draw, part, IN)
    return Fragment([item("user", content)], [(0, "content", n, "file_id")])


@fault("responses", "file_url")
def file_by_its_url(draw: Draw, _: str) -> Fragment:
    content, n = beside(draw, {"type": "input_file", "file_url": "https://example.com/a.pdf"}, IN)
    return Fragment([item("user", content)], [(0, "content", n, "file_url")])


@fault("responses", "result_media")
def media_in_an_output(draw: Draw, call_id: str) -> Fragment:
    part = one_of(
        draw,
        {"type": "input_image", "image_url": "data:"},
        {"type": "input_file", "file_data": "x"},
        {"type": "input_video", "video_url": "data:"},
    )
    content, n = beside(draw, part, IN)
    return Fragment([function_call(call_id), output(call_id, content)], [(1, "output", n)])


@fault("responses", "result_media", allowable=False)
def nothing_but_media_in_an_output(_: Draw, call_id: str) -> Fragment:
    part = {"type": "input_image", "image_url": "data:"}
    return Fragment([function_call(call_id), output(call_id, [part])], [(1, "output", 0)])


@fault("responses", "refusal_order")
def refusal_not_last_(draw: Draw, _: str) -> Fragment:
    no = {"type": "refusal", "refusal": draw(texts)}
    content = one_of(draw, [no, OUT], [no, no], [OUT, no, OUT])
    return Fragment([item("assistant", content)], [(0, "content")])


@fault("responses", "incomplete", allowable=False)
def message_not_completed(draw: Draw, _: str) -> Fragment:
    status = one_of(draw, "in_progress", "incomplete", "failed")
    return Fragment([item(one_of(draw, "assistant", "user"), "hi", status=status)], [(0, "status")])


@fault("responses", "incomplete", allowable=False)
def call_not_completed(draw: Draw, call_id: str) -> Fragment:
    call_ = function_call(call_id, status=one_of(draw, "in_progress", "incomplete", "failed", ""))
    return Fragment([call_, output(call_id)], [(0, "status")])


@fault("responses", "incomplete", allowable=False)
def output_not_completed(draw: Draw, call_id: str) -> Fragment:
    result_ = output(call_id, status=one_of(draw, "in_progress", "incomplete", "done"))
    return Fragment([function_call(call_id), result_], [(1, "status")])


# ---------------------------------------------------------------- Responses, calls and outputs


@fault("responses", "arguments_type", allowable=False)
def arguments_not_text_(draw: Draw, call_id: str) -> Fragment:
    value = draw(json_values.filter(lambda value: not isinstance(value, str)))
    return Fragment([function_call(call_id, arguments=value), output(call_id)], [(0, "arguments")])


@fault("responses", "call_id_length")
def call_id_too_long_(draw: Draw, call_id: str) -> Fragment:
    long = call_id + "x" * one_of(draw, 65, 100)
    return Fragment([function_call(long), output(long)], [(0, "call_id"), (1, "call_id")])


@fault("responses", "function_name")
def function_name_(draw: Draw, call_id: str) -> Fragment:
    name = one_of(draw, "docs.search", "", "n" * 65, "é", "f\n")
    return Fragment([function_call(call_id, name=name), output(call_id)], [(0, "name")])


@fault("responses", "duplicate_call_id")
def call_id_used_again_(draw: Draw, call_id: str) -> Fragment:
    once = [function_call(call_id), output(call_id)]
    between = one_of(draw, [], [item("user", "again")])
    return Fragment([*once, *between, *once], [(2 + len(between), "call_id")])


@fault("responses", "duplicate_call_id", allowable=False)
def call_id_used_twice_at_once_(_: Draw, call_id: str) -> Fragment:
    return Fragment(
        [function_call(call_id), function_call(call_id), output(call_id), output(call_id)], [(1, "call_id")]
    )


@fault("responses", "orphan_result", allowable=False)
def orphan_output(_: Draw, call_id: str) -> Fragment:
    return Fragment([output(call_id)], [(0, "call_id")])


@fault("responses", "duplicate_result", allowable=False)
def duplicate_output(_: Draw, call_id: str) -> Fragment:
    return Fragment([function_call(call_id), output(call_id), output(call_id)], [(2, "call_id")])


@fault("responses", "unanswered_call")
def unanswered_call_(draw: Draw, call_id: str) -> Fragment:
    return Fragment([function_call(call_id), item(one_of(draw, "user", "developer"), "hello?")], [(0, "call_id")])


@fault("responses", "unanswered_call")
def one_call_of_two_unanswered_(_: Draw, call_id: str) -> Fragment:
    first, second = function_call(call_id), function_call(call_id + "b")
    return Fragment([first, second, output(call_id), item("assistant", "done")], [(1, "call_id")])


@fault("responses", "interleaved")
def somebody_before_the_output(draw: Draw, call_id: str) -> Fragment:
    between = one_of(draw, [item("user", "a")], [item("user", "a"), item("assistant", "b")])
    return Fragment([function_call(call_id), *between, output(call_id)], [(1 + n,) for n in range(len(between))])


@fault("responses", "interleaved")
def another_call_before_the_output(_: Draw, call_id: str) -> Fragment:
    other = call_id + "b"
    return Fragment(
        [function_call(call_id), item("user", "and?"), function_call(other), output(other), output(call_id)],
        [(1,), (2,)],
    )


# ---------------------------------------------------------------- Responses, not well formed


@fault("responses", "malformed", allowable=False)
def no_item(draw: Draw, _: str) -> Fragment:
    return Fragment([one_of(draw, None, 5, "hi", [], {}, {"content": "hi"})], [(0,)])


@fault("responses", "malformed", allowable=False)
def type_of_another_type(draw: Draw, _: str) -> Fragment:
    return Fragment([{"type": one_of(draw, 5, [], {}, True), "role": "user", "content": "hi"}], [(0, "type")])


@fault("responses", "malformed", allowable=False)
def role_of_nobody_(draw: Draw, _: str) -> Fragment:
    return Fragment([item(one_of(draw, "critic", "tool", "", None, 5, [], {}), "hi")], [(0, "role")])


@fault("responses", "malformed", allowable=False)
def something_missing(draw: Draw, call_id: str) -> Fragment:
    odd = one_of(draw, {"type": "message", "role": "user"}, {"type": "message", "content": "hi"}, {"type": "message"})
    call_ = function_call(call_id)
    del call_[one_of(draw, "name", "arguments")]
    fragment = one_of(draw, [odd], [call_, output(call_id)])
    missing = 2 if fragment == [{"type": "message"}] else 1
    return Fragment(fragment, [(0,)] * missing)


@fault("responses", "malformed", allowable=False)
def content_of_another_type_(draw: Draw, _: str) -> Fragment:
    role = one_of(draw, "user", "assistant", "system")
    return Fragment([item(role, one_of(draw, None, 5, {}, True))], [(0, "content")])


@fault("responses", "malformed", allowable=False)
def part_of_another_type_(draw: Draw, _: str) -> Fragment:
    part = one_of(draw, None, 5, "hi", [], {}, {"text": "hi"}, {"type": 5})
    return Fragment([item("user", [IN, part])], [(0, "content", 1)])


@fault("responses", "malformed", allowable=False)
def part_in_the_wrong_place_(draw: Draw, _: str) -> Fragment:
    image = {"type": "input_image", "image_url": "data:"}
    role, part = one_of(draw, ("system", image), ("assistant", IN), ("user", OUT), ("assistant", image))
    return Fragment([item(role, [text_of(role), part])], [(0, "content", 1)])


@fault("responses", "malformed", allowable=False)
def output_of_another_type(draw: Draw, call_id: str) -> Fragment:
    return Fragment([function_call(call_id), output(call_id, one_of(draw, None, 5, {"a": 1}))], [(1, "output")])


@fault("responses", "malformed", allowable=False)
def output_without_a_value(_: Draw, call_id: str) -> Fragment:
    odd = output(call_id)
    del odd["output"]
    return Fragment([function_call(call_id), odd], [(1,)])


@fault("responses", "unknown_value", allowable=False)
def status_of_no_kind(draw: Draw, call_id: str) -> Fragment:
    status = one_of(draw, 5, [], {}, True)
    return Fragment([function_call(call_id, status=status), output(call_id)], [(0, "status")])


@fault("responses", "malformed", allowable=False)
def name_of_another_type_(draw: Draw, call_id: str) -> Fragment:
    return Fragment([function_call(call_id, name=one_of(draw, None, 5, {})), output(call_id)], [(0, "name")])


@fault("responses", "malformed", allowable=False)
def id_of_another_type(draw: Draw, _: str) -> Fragment:
    return Fragment([item("user", "hi", id=one_of(draw, 5, {}, []))], [(0, "id")])


@fault("responses", "unknown_value", allowable=False)
def image_detail_of_no_kind_(draw: Draw, _: str) -> Fragment:
    image = {"type": "input_image", "image_url": "data:", "detail": one_of(draw, "medium", "", 5)}
    return Fragment([item("user", [image])], [(0, "content", 0, "detail")])


@fault("responses", "unknown_value", allowable=False)
def phase_of_no_kind(_: Draw, __: str) -> Fragment:
    return Fragment([item("assistant", "hi", phase="late")], [(0, "phase")])


@fault("responses", "not_json", allowable=False)
def no_json_(draw: Draw, _: str) -> Fragment:
    return odd_value(draw, item("user", "hi"))


@fault("responses", "not_json", allowable=False)
def surrogate_in_an_id(draw: Draw, call_id: str) -> Fragment:
    odd = {"id": "\udc00"}
    which = draw(st.integers(0, 2))
    items = [item("user", "hi"), function_call(call_id), output(call_id)]
    items[which] |= odd
    return Fragment(items, [(which, "id")])


@fault("responses", "too_deep", allowable=False)
def too_deep_(draw: Draw, _: str) -> Fragment:
    key = one_of(draw, "trace", "content")
    return Fragment([{**item("user", "hi"), key: deep(draw)}], [(0, key)])
