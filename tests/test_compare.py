"""What makes two conversations the same, and each way in which they can differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bodies
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import turncodec.compare as names
from turncodec import to_chat, to_responses
from turncodec.compare import WHAT, compare
from turncodec.documents import PRESETS

Body = dict[str, Any]


def call(arguments: str = "{}", call_id: str = "c1", name: str = "f") -> Body:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, "status": "completed"}


def result(output: Any = "1", call_id: str = "c1") -> Body:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def said(text: Any, role: str = "user") -> Body:
    return {"type": "message", "role": role, "content": text}


CHAT: Body = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "assistant", "content": None, "refusal": "no"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
}
ITEMS: Body = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        said([{"type": "input_text", "text": "hi"}, {"type": "input_image", "image_url": "u"}]),
        call(),
        result([{"type": "input_text", "text": "1"}]),
        said([{"type": "refusal", "refusal": "no"}], "assistant"),
    ],
    "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}],
}


COMPLETION: Body = {
    "id": "r",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
}
RESPONSE: Body = to_responses(COMPLETION).document
CITATION: Body = {"url": "u", "title": "t", "start_index": 0, "end_index": 1}
CITED: Body = {
    "role": "assistant",
    "content": "hi",
    "annotations": [{"type": "url_citation", "url_citation": CITATION}],
}


def chose(**changes: Any) -> Body:
    """The completion with its choice changed."""
    return {**COMPLETION, "choices": [{**COMPLETION["choices"][0], **changes}]}


def responded(annotations: list[Body], status: str = "completed") -> Body:
    """The response with its message changed."""
    part = {"type": "output_text", "text": "hi", "annotations": annotations}
    return {**RESPONSE, "output": [{**RESPONSE["output"][0], "status": status, "content": [part]}]}


def chat(**parameters: Any) -> Body:
    return {"model": "m", "messages": [{"role": "user", "content": "hi"}], **parameters}


def asked(**parameters: Any) -> Body:
    return {"model": "m", "input": [said("hi")], **parameters}


def test_the_same() -> None:
    """The same conversation in two formats has no difference, from either side."""
    assert compare(CHAT, ITEMS) == []
    assert compare(ITEMS, CHAT) == []


ABOUT: list[tuple[str, Any, Any, tuple[str | None, str | None]]] = [
    ("text", [said("a")], [said("b")], ("/0", "/0")),
    ("text", [said("a")], [said("a", "system")], ("/0", "/0")),
    ("text", [said("a"), said("b")], [said("b")], ("/0", None)),
    ("text", [said("b")], [said("a"), said("b")], (None, "/0")),
    ("call", [call()], [], ("/0", None)),
    ("call", [], [call()], (None, "/0")),
    ("call_id", [call()], [call(call_id="c2")], ("/0", "/0")),
    ("name", [call()], [call(name="g")], ("/0", "/0")),
    ("arguments", [call()], [call("{ }")], ("/0", "/0")),
    ("status", [call()], [call() | {"status": "incomplete"}], ("/0", "/0")),
    ("result", [call(), result()], [call()], ("/1", None)),
    ("result", [call()], [call(), result()], (None, "/1")),
    ("output", [call(), result()], [call(), result("2")], ("/1", "/1")),
    ("order", [said("a"), call(), result()], [call(), result(), said("a")], ("", "")),
    ("item", [{"type": "acme:x", "n": 1}], [], ("/0", None)),
    ("item", [call()], [call(), {"type": "reasoning", "summary": []}], (None, "/1")),
    ("model", CHAT, {**CHAT, "model": "n"}, ("/model", "/model")),
    ("tool", CHAT, {**CHAT, "tools": []}, ("/tools/0", None)),
    ("tool", {**CHAT, "tools": []}, CHAT, (None, "/tools/0")),
    ("schema", ITEMS, {**ITEMS, "tools": [{**ITEMS["tools"][0], "description": "d"}]}, ("/tools/0", "/tools/0")),
    ("schema", ITEMS, {**ITEMS, "tools": [{**ITEMS["tools"][0], "strict": True}]}, ("/tools/0", "/tools/0")),
    ("model", asked(), {"input": [said("hi")]}, ("/model", None)),
    # Numbers that Python says are equal.
    ("text", [said(1)], [said(True)], ("/0", "/0")),
    ("text", [said([{"type": "x", "n": 1}])], [said([{"type": "x", "n": 1.0}])], ("/0", "/0")),
    ("text", [said("a"), said("")], [said("a")], ("/1", None)),
    ("output", [call(), result([1])], [call(), result([True])], ("/1", "/1")),
    ("order", [{"type": "x"}, call()], [call(), {"type": "x"}], ("", "")),
    ("item", [{"type": "x"}, {"type": "x"}], [{"type": "x"}], ("/1", None)),
    # States and ends.
    ("status", [said("a")], [said("a") | {"status": "incomplete"}], ("/0", "/0")),
    ("status", [call(), result()], [call(), result() | {"status": "in_progress"}], ("/1", "/1")),
    ("status", RESPONSE, responded([], "incomplete"), ("/output/0", "/output/0")),
    ("finish", COMPLETION, chose(finish_reason="length"), ("/choices/0/finish_reason", "/choices/0/finish_reason")),
    ("finish", COMPLETION, chose(finish_reason=None), ("/choices/0/finish_reason", "/choices/0/finish_reason")),
    ("finish", COMPLETION, {**RESPONSE, "status": "incomplete"}, ("/choices/0/finish_reason", "/status")),
    ("finish", RESPONSE, {**RESPONSE, "status": "failed"}, ("/status", "/status")),
    ("finish", RESPONSE, {**RESPONSE, "incomplete_details": {"reason": "x"}}, ("/status", "/status")),
    # Beside the text.
    ("detail", [said("a") | {"name": "x"}], [said("a")], ("/0", "/0")),
    ("detail", [said("a") | {"name": "x"}], [said("a") | {"name": "y"}], ("/0", "/0")),
    ("detail", [CITED], [said("hi", "assistant")], ("/0", "/0")),
    ("detail", chose(message=CITED), RESPONSE, ("/choices/0/message", "/output/0")),
    (
        "detail",
        chose(message=CITED),
        responded([{"type": "url_citation", **CITATION, "url": "v"}]),
        ("/choices/0/message", "/output/0"),
    ),
    ("detail", chose(logprobs={"content": [{"token": "a"}]}), COMPLETION, ("/choices/0/message", "/choices/0/message")),
    ("detail", chose(logprobs={"refusal": [{"token": "a"}]}), RESPONSE, ("/choices/0/message", "/output/0")),
    ("detail", [call() | {"caller": {}}], [call()], ("/0", "/0")),
    (
        "detail",
        [{"role": "tool", "content": "1", "name": "f"}],
        [{"role": "tool", "content": "1", "name": "g"}],
        ("/0", "/0"),
    ),
    # Answers.
    ("answer", COMPLETION, {**COMPLETION, "id": "s"}, ("/id", "/id")),
    ("answer", COMPLETION, {**RESPONSE, "created_at": 2}, ("/created", "/created_at")),
    ("answer", COMPLETION, {**COMPLETION, "usage": None}, ("/usage", None)),
    ("answer", RESPONSE, {**RESPONSE, "error": {"code": "x", "message": "y"}}, (None, "/error")),
    ("answer", {**COMPLETION, "metadata": {"a": "b"}}, RESPONSE, ("/metadata", None)),
    ("answer", {**COMPLETION, "service_tier": "flex"}, RESPONSE, ("/service_tier", None)),
    ("setting", RESPONSE, {**RESPONSE, "temperature": 0.5}, (None, "/temperature")),
    ("unread", COMPLETION, {**RESPONSE, "acme": 1}, (None, "/acme")),
    ("unread", COMPLETION, {**COMPLETION, "object": "acme"}, (None, "/object")),
    ("item", COMPLETION, chose(acme=1), (None, "/choices/0/acme")),
    ("item", COMPLETION, {**COMPLETION, "choices": [*COMPLETION["choices"], 7]}, (None, "/choices/1")),
    # Parameters.
    ("setting", chat(tool_choice="none"), asked(), ("/tool_choice", None)),
    (
        "setting",
        chat(tool_choice={"type": "function", "function": {"name": "f"}}),
        asked(tool_choice={"type": "function", "name": "g"}),
        ("/tool_choice", "/tool_choice"),
    ),
    ("setting", chat(temperature=0.5), asked(temperature=0.7), ("/temperature", "/temperature")),
    (
        "setting",
        chat(reasoning_effort="low"),
        asked(reasoning={"effort": "high"}),
        ("/reasoning_effort", "/reasoning/effort"),
    ),
    ("setting", chat(max_tokens=16), asked(max_output_tokens=17), ("/max_tokens", "/max_output_tokens")),
    ("setting", chat(max_completion_tokens=16, max_tokens=16), asked(max_output_tokens=16), ("/max_tokens", None)),
    ("setting", chat(logprobs=True), asked(), ("/logprobs", None)),
    ("setting", chat(), asked(include=["reasoning.encrypted_content"]), (None, "/include")),
    ("setting", chat(seed=1), chat(seed=True), ("/seed", "/seed")),
    ("setting", chat(stop="x"), asked(), ("/stop", None)),
    ("unread", chat(acme=1), asked(acme=2), ("/acme", "/acme")),
    (
        "schema",
        chat(tools=[{"type": "web_search", "size": 1}]),
        chat(tools=[{"type": "web_search"}]),
        ("/tools/0", "/tools/0"),
    ),
    ("schema", chat(tools=["f"]), chat(tools=["g"]), ("/tools/0", "/tools/0")),
    ("tool", chat(tools=[{"type": "x"}, {"type": "x"}]), chat(tools=[{"type": "x"}]), ("/tools/1", None)),
    # Rows around documents.
    ("unread", {"messages": [], "output": "a"}, {"input": [], "output": "b"}, ("/output", "/output")),
    ("unread", {"messages": [], "output": "[1, 2]"}, {"input": [], "output": "[1,2]"}, ("/output", "/output")),
    ("unread", {"messages": [], "output": '{"a": 1}'}, {"input": [], "output": '{"a":1}'}, ("/output", "/output")),
    ("detail", [said("a") | {"acme": ""}], [said("a")], ("/0", "/0")),
    ("text", [said([{"type": "x", "a": []}])], [said([{"type": "x"}])], ("/0", "/0")),
    ("unread", {"messages": [], "label": 1}, {"messages": [], "label": 2}, ("/label", "/label")),
    ("unread", {"request": CHAT, "response": COMPLETION}, {"request": ITEMS}, ("/response", None)),
    (
        "unread",
        {"request": CHAT, "response": COMPLETION},
        {"request": ITEMS, "response": {}},
        ("/response", "/response"),
    ),
    ("unread", {"custom_id": "a", "body": CHAT}, {"custom_id": "b", "body": CHAT}, ("/custom_id", "/custom_id")),
]


@pytest.mark.parametrize(("what", "left", "right", "places"), ABOUT)
def test_each_difference(what: str, left: Any, right: Any, places: tuple[str | None, str | None]) -> None:
    """Each difference is found alone, by its name and at its places."""
    found = compare(left, right)

    assert [(difference.what, difference.left, difference.right) for difference in found] == [(what, *places)]
    assert str(found[0]).startswith(f"{what}: ")
    assert found[0].as_json()["what"] == what


@pytest.mark.parametrize("name", PRESETS)
def test_rows_of_logs(name: str) -> None:
    """Of a request and its answer in one row both are read; the translation of the row is the same."""
    preset = PRESETS[name]

    def row(request: Body, response: Body) -> Body:
        inside = [json.dumps(value) if preset.text else value for value in (request, response)]
        return {preset.request[1:]: inside[0], preset.response[1:]: inside[1], "id": "x"}

    left = row(chat(temperature=0.5), COMPLETION)
    right = to_responses(left, kind=name).document

    def found(right: Body) -> list[tuple[str, str | None]]:
        return [(difference.what, difference.right) for difference in compare(left, right)]

    assert found(right) == []
    assert found({**right, "id": "y"}) == [("unread", "/id")]
    spoken = {**asked(temperature=0.5), "input": "DIFFERENT"}
    assert found(row(spoken, RESPONSE)) == [("text", f"{preset.request}/input/0")]
    assert found(row(asked(temperature=0.5), {**RESPONSE, "model": "n"})) == [("model", f"{preset.response}/model")]


def test_a_line_of_a_batch() -> None:
    """A line is the same with the url of the other format, and not with any other."""
    line = {"custom_id": "a", "url": "/v1/chat/completions", "body": chat()}

    assert compare(line, to_responses(line).document) == []
    assert [d.what for d in compare(line, {**line, "url": "/v1/embeddings"})] == ["unread"]


STRICT: Body = {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}
OPEN: Body = {"type": "object", "properties": {"a": {}}}


def nested(**told: Any) -> list[Body]:
    return [{"type": "function", "function": {"name": "f", **told}}]


def flat(**told: Any) -> list[Body]:
    return [{"type": "function", "name": "f", **told}]


FORMAT: Body = {"name": "n", "schema": {"type": "object"}}
ALLOWED: Body = {"type": "function", "function": {"name": "f"}}

SPELLED: list[tuple[Any, Any]] = [
    # Absent, null, and empty.
    ([{"role": "user", "content": "a", "name": None, "tool_calls": None}], [said("a")]),
    ([{"role": "assistant", "content": "a", "annotations": [], "refusal": None}], [said("a", "assistant")]),
    ([said([{"type": "output_text", "text": "a", "annotations": [], "logprobs": []}], "assistant")],
     [said("a", "assistant")]),
    ([said("a") | {"status": "completed", "id": "x"}], [said("a") | {"phase": None}]),
    ([call() | {"id": "x", "status": None, "namespace": None}], [call()]),
    ([result() | {"id": "x", "status": "completed", "name": None}], [result()]),
    ([{"role": "tool", "tool_call_id": "c1", "content": "1", "name": "f"}], [result()]),
    ([said("")], [said([])]),
    ([said([{"type": "x", "a": 1, "b": 2}])], [said([{"b": 2, "a": 1, "type": "x"}])]),
    ({"input": json.dumps(CHAT), "output": '{"error": {}}'}, {"input": json.dumps(ITEMS), "output": '{"error":{}}'}),
    (chat(temperature=None, metadata={}, tools=[]), asked(reasoning={"effort": None}, text={})),
    # Strings and parts; system and instructions.
    ([said("a")], [said([{"type": "input_text", "text": "a"}])]),
    (chat(), {"model": "m", "input": "hi"}),
    ({"messages": [said("", "system")]}, {"input": [], "instructions": ""}),
    ([said([{"type": "image_url", "image_url": {"url": "u", "detail": "auto"}}])],
     [said([{"type": "input_image", "image_url": "u", "detail": None}])]),
    ([said([{"type": "file", "file": {"file_data": "d"}}])],
     [said([{"type": "input_file", "file_data": "d", "filename": None}])]),
    # Names of parameters.
    (chat(max_tokens=16), asked(max_output_tokens=16)),
    (chat(max_completion_tokens=16), asked(max_output_tokens=16)),
    (chat(reasoning_effort="low", verbosity="low"), asked(reasoning={"effort": "low"}, text={"verbosity": "low"})),
    (chat(logprobs=True), asked(include=["message.output_text.logprobs"])),
    (chat(logprobs=False), asked(include=[])),
    (chat(stream_options={"include_obfuscation": False}), asked(stream_options={"include_obfuscation": False})),
    (chat(response_format={"type": "json_schema", "json_schema": FORMAT}),
     asked(text={"format": {"type": "json_schema", "strict": False, **FORMAT}})),
    (chat(tool_choice={"type": "function", "function": {"name": "f"}}),
     asked(tool_choice={"type": "function", "name": "f"})),
    (chat(tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [ALLOWED]}}),
     asked(tool_choice={"type": "allowed_tools", "tools": [{"type": "function", "name": "f"}]})),
    # Stated defaults.
    (chat(temperature=1, top_p=1.0, n=1, stream=False, response_format={"type": "text"}, tool_choice="auto"),
     asked(truncation="disabled", background=False, parallel_tool_calls=True, service_tier="auto")),
    (chat(tools=nested(parameters=STRICT)), asked(tools=flat(parameters=STRICT, strict=False))),
    (chat(tools=nested(parameters=STRICT, strict=True)), asked(tools=flat(parameters=STRICT))),
    (chat(tools=nested(parameters=OPEN, description=None)), asked(tools=flat(parameters=OPEN, strict=None))),
    # Answers.
    (COMPLETION, RESPONSE),
    (COMPLETION, {**RESPONSE, "temperature": 0.5, "metadata": {"a": "b"}, "completed_at": 5}),
    (RESPONSE, {key: RESPONSE[key] for key in ("id", "object", "created_at", "model", "status", "output", "usage")}),
    (RESPONSE, {**RESPONSE, "created_at": 1.0}),
    (COMPLETION, chose(finish_reason="tool_calls")),
    ({**COMPLETION, "system_fingerprint": "x"}, RESPONSE),
    (chose(message=CITED), responded([{"type": "url_citation", **CITATION}])),
    (chose(finish_reason="length"), to_responses(chose(finish_reason="length"), allow=["truncated"]).document),
    ({**COMPLETION, "service_tier": "flex"}, {**RESPONSE, "service_tier": "flex"}),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SPELLED)
def test_spellings(left: Any, right: Any) -> None:
    """What is only written in another way is no difference, from either side."""
    assert compare(left, right) == []
    assert compare(right, left) == []


WAYS: list[tuple[Any, Any]] = [
    (strategies.chat_documents().filter(lambda document: document.at is None).map(lambda d: d.value), to_responses),
    (strategies.item_documents().filter(lambda document: document.at is None).map(lambda d: d.value), to_chat),
    (bodies.chat_requests(), to_responses),
    (bodies.responses_requests(), to_chat),
    (bodies.completions(), to_responses),
    (bodies.responses(), to_chat),
]


@pytest.mark.parametrize(("documents", "translate"), WAYS)
@given(data=st.data())
def test_translations(documents: st.SearchStrategy[Any], translate: Any, data: st.DataObject) -> None:
    """Every translation is the same as its original, from either side."""
    document = data.draw(documents)
    translation = translate(document).document

    assert compare(document, translation) == []
    assert compare(translation, document) == []


NOT_SPELLED: list[tuple[Body, Body]] = [
    (chat(tools=nested(parameters=STRICT)), asked(tools=flat(parameters=STRICT))),
    (chat(tools=nested(parameters=OPEN, strict=True)), asked(tools=flat(parameters=OPEN))),
]


@pytest.mark.parametrize(("left", "right"), NOT_SPELLED)
def test_strict_left_out(left: Body, right: Body) -> None:
    """Left out in both, strict is not the same where the schema can be strict."""
    assert [(d.what, d.said.partition(":")[0]) for d in compare(left, right)] == [("schema", "strict")]
    assert compare(right, to_chat(right).document) == []


def test_every_difference_is_tried() -> None:
    """No name of a difference is without a test; of records only files know."""
    assert {what for what, *_ in ABOUT} | {"record"} == set(WHAT)


def test_an_id_used_again() -> None:
    """Calls of one id are joined in order, not through one map over the whole conversation."""
    turns = [call("1"), result("a"), call("2"), result("b")]

    assert compare(turns, turns) == []
    assert [d.what for d in compare(turns, [call("1"), result("a"), call("2"), result("c")])] == ["output"]


def test_the_place_of_a_long_text() -> None:
    """Of two long strings the part around the first byte that differs is shown."""
    left, right = "x" * 100 + "a" + "y" * 100, "x" * 100 + "b" + "y" * 100
    (found,) = compare([call(left)], [call(right)])

    assert "at character 100 of 201 and 201" in found.said


@pytest.mark.parametrize("value", [None, 7, "x", {}, {"messages": "x"}, {"choices": None}])
def test_no_conversation(value: Any) -> None:
    """A document without a conversation is told, not compared."""
    with pytest.raises(ValueError, match="no conversation"):
        compare(value, [])
    assert compare(value, value) == []


@pytest.mark.parametrize(
    "turns",
    [[None], [{"role": "assistant", "tool_calls": [None]}], [said([None])], [said({"type": "image_url"})],
     [{"role": "assistant", "function_call": {"name": "f"}}], [said([{"type": "file", "file": 7}])]],
)  # fmt: skip
def test_anything_can_be_read(turns: list[Any]) -> None:
    """Turns of no known shape are the same as themselves, and as nothing else."""
    assert compare(turns, turns) == []
    assert compare(turns, []) != []


def test_it_knows_no_mapping() -> None:
    """The reader shares no line with the translation, so that a fault there cannot hide here."""
    assert "from turncodec.mapping" not in Path(str(names.__file__)).read_text()
