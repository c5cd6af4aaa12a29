"""Documents in the shapes in which real ones are stored: small ones of our own, and every transcript of the data sets
beside the checkout where they are there."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from reader import canon, read_chat, read_items
from strategies import Json

from turncodec import Refused, Translation, check, to_chat, to_responses

DATA = Path(__file__).parents[2] / "shared" / "data"

Translate = Callable[..., Translation]


class Shape(NamedTuple):
    """A document, the format that it goes to, and the codes of what stands in its way."""

    to: str
    document: Json
    codes: list[str]


def tool_call(call_id: str, name: str, arguments: str) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


SHAPES: dict[str, Shape] = {
    "a message as the client library dumps it": Shape(
        "responses",
        [
            {"role": "user", "content": "What is the tallest tower?"},
            {
                "content": None,
                "refusal": None,
                "role": "assistant",
                "annotations": [],
                "audio": None,
                "function_call": None,
                "tool_calls": [
                    {"id": "call_hT5", "function": {"arguments": '{"q":"tower"}', "name": "search"}, "type": "function"}
                ],
            },
            {"role": "tool", "tool_call_id": "call_hT5", "name": "search", "content": '[{"title": "Tower"}]'},
        ],
        [],
    ),
    "a benchmark's row, call ids used again": Shape(
        "responses",
        {
            "task_id": 12,
            "reward": 1.0,
            "info": {"task": {"user_id": "mia_li_3668"}, "source": None},
            "messages": [
                {"role": "system", "content": "# Airline policy\n\n- one flight at a time"},
                {"role": "user", "content": "Cancel it."},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [tool_call("call_0", "cancel", '{"id": "EHGLP3"}')],
                },
                {"role": "tool", "tool_call_id": "call_0", "name": "cancel", "content": "Error: not allowed"},
                {"role": "assistant", "content": "I cannot."},
                {"role": "user", "content": "Try again."},
                {"role": "assistant", "content": "", "tool_calls": [tool_call("call_0", "cancel", '{"id": "EHGLP3"}')]},
                {"role": "tool", "tool_call_id": "call_0", "name": "cancel", "content": "ok"},
            ],
            "trial": 0,
        },
        ["duplicate_call_id"],
    ),
    "a line of a fine-tuning file": Shape(
        "responses",
        {
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "go away", "weight": 0},
                {"role": "user", "content": "sorry?"},
                {"role": "assistant", "content": "Hello!", "weight": 1},
            ]
        },
        ["weight", "weight"],
    ),
    "deprecated function calling": Shape(
        "responses",
        [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": "",
                "function_call": {"name": "weather", "arguments": '{\n  "city": "Oslo"\n}'},
            },
            {"role": "function", "name": "weather", "content": '{"error": "", "response": "7"}'},
            {"role": "assistant", "content": "7 degrees"},
        ],
        ["legacy_function", "legacy_function"],
    ),
    "a provider's reasoning": Shape(
        "responses",
        [
            {"role": "user", "content": [{"type": "text", "text": "17 * 3?", "cache_control": {"type": "ephemeral"}}]},
            {
                "role": "assistant",
                "content": "51",
                "reasoning_content": "17 and 17 and 17",
                "provider_specific_fields": {},
            },
        ],
        ["unknown_field", "reasoning", "unknown_field"],
    ),
    "an agent with steps in parallel": Shape(
        "responses",
        [
            {"role": "developer", "content": "Use the tools."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Compare"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}},
                ],
            },
            {
                "role": "assistant",
                "tool_calls": [tool_call("call_a", "ls", '{"path":"/"}'), tool_call("call_b", "ls", '{"path":"/tmp"}')],
            },
            {"role": "tool", "tool_call_id": "call_b", "content": [{"type": "text", "text": "a.txt\n"}]},
            {"role": "tool", "tool_call_id": "call_a", "content": ""},
            {"role": "assistant", "content": "Both have files."},
        ],
        [],
    ),
    "the output of a response, sent back as input": Shape(
        "chat",
        {
            "model": "m",
            "input": [
                {"role": "user", "content": "Weather in Oslo?"},
                {
                    "type": "function_call",
                    "id": "fc_68a1",
                    "call_id": "call_9xQ",
                    "name": "weather",
                    "arguments": '{"city":"Oslo"}',
                    "status": "completed",
                },
                {"type": "function_call_output", "call_id": "call_9xQ", "output": "7"},
                {
                    "type": "message",
                    "id": "msg_68a2",
                    "status": "completed",
                    "role": "assistant",
                    "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": "7 degrees"}],
                },
            ],
        },
        [],
    ),
    "a session with sealed reasoning and a hosted tool": Shape(
        "chat",
        [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix the build"}]},
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "**Looking**"}],
                "content": None,
                "encrypted_content": "gAAAA",
            },
            {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "call_1"},
            {
                "type": "function_call_output",
                "call_id": "call_1",
                "output": '{"output":"a\\n","metadata":{"exit_code":0}}',
            },
            {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "build"}},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "fixed"}],
                "phase": "final_answer",
            },
        ],
        ["reasoning", "unsupported_item", "phase"],
    ),
    "a call that was never answered": Shape(
        "chat",
        {
            "input": [
                {"type": "message", "role": "user", "content": "search"},
                {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"},
                {"type": "message", "role": "user", "content": "hello?"},
            ]
        },
        ["unanswered_call"],
    ),
    "a call that was cut off": Shape(
        "chat",
        [
            {"type": "message", "role": "user", "content": "search"},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "search",
                "arguments": '{"q":"to',
                "status": "incomplete",
            },
        ],
        ["incomplete"],
    ),
    "an image as the result of a tool": Shape(
        "chat",
        [
            {"type": "function_call", "call_id": "c1", "name": "screenshot", "arguments": "{}"},
            {
                "type": "function_call_output",
                "call_id": "c1",
                "output": [
                    {"type": "input_text", "text": "done"},
                    {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
                ],
            },
        ],
        ["result_media"],
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str) -> None:
    """A document in a real shape is refused for exactly what has no place on the other side."""
    shape = SHAPES[name]

    assert shape.codes == [refusal.code for refusal in check(shape.document, shape.to)]


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if "incomplete" not in shape.codes])
def test_shape_comes_back(name: str) -> None:
    """With that allowed it is translated, and comes back exactly."""
    shape = SHAPES[name]
    there, back = (to_responses, to_chat) if shape.to == "responses" else (to_chat, to_responses)

    translation = there(shape.document, allow=set(shape.codes))

    assert canon(shape.document) == canon(back(translation.document, remainder=translation.remainder).document)


# ---------------------------------------------------------------- the client library's own objects


def test_objects_of_the_client_library() -> None:
    """Objects of the `openai` package are taken for what they were made from, in a list and in a request."""
    chat = pytest.importorskip("openai.types.chat")
    message = chat.ChatCompletionMessage(role="assistant", content="hello")
    user = {"role": "user", "content": "hi"}
    plain = [user, {"role": "assistant", "content": "hello"}]

    assert to_responses(plain) == to_responses([user, message])
    assert to_responses({"model": "m", "messages": plain}) == to_responses({"model": "m", "messages": [user, message]})


def test_items_of_the_client_library() -> None:
    """So are items of a response that go back as input."""
    responses = pytest.importorskip("openai.types.responses")
    item = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}

    assert to_chat([item]) == to_chat([responses.ResponseFunctionToolCall(**item)])


# ---------------------------------------------------------------- the data sets


class Stored(NamedTuple):
    where: str
    there: Translate
    back: Translate
    transcript: Json
    read: Callable[[Any], Any]
    read_there: Callable[[Any], Any]


@cache
def stored() -> dict[str, list[Stored]]:
    """Every transcript of the data sets, by set; nothing where they are not there."""
    if not (DATA / "walk.py").is_file():
        return {}
    spec = importlib.util.spec_from_file_location("walk", DATA / "walk.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sets: dict[str, list[Stored]] = defaultdict(list)
    for document in module.walk():
        if document.kind in ("chat.row", "chat.request"):
            turns = document.body.get("messages", document.body.get("conversations"))
            sets[document.set].append(Stored(document.where, to_responses, to_chat, turns, read_chat, read_items))
        elif document.kind in ("responses.request", "responses.items"):
            turns = document.body if isinstance(document.body, list) else {"input": document.body["input"]}
            sets[document.set].append(Stored(document.where, to_chat, to_responses, turns, read_items, read_chat))
    return dict(sets)


def of_set(name: str) -> list[Stored]:
    if not stored():
        pytest.skip(f"{DATA} is not there")
    return stored().get(name, [])


SETS = sorted(path.name for path in DATA.iterdir() if path.is_dir()) if DATA.is_dir() else ["none"]


@pytest.mark.parametrize("name", SETS)
def test_stored_transcripts_come_back(name: str) -> None:
    """Whatever is accepted comes back exactly, and nothing but `Refused` is raised."""
    assert [entry.where for entry in of_set(name) if comes_back(entry, ()) is False] == []


@pytest.mark.parametrize("name", SETS)
def test_stored_transcripts_come_back_with_all_allowed(name: str) -> None:
    """So it is with everything allowed."""
    assert [entry.where for entry in of_set(name) if comes_back(entry, "all") is False] == []


@pytest.mark.parametrize("name", SETS)
def test_stored_transcripts_say_the_same(name: str) -> None:
    """What is accepted as it is says the same in the other format, turn by turn."""
    assert [entry.where for entry in of_set(name) if not says_the_same(entry)] == []


def test_stored_transcripts_are_accepted() -> None:
    """At least 97 of 100 stored transcripts come through with everything allowed."""
    came = [comes_back(entry, "all") for name in SETS for entry in of_set(name)]

    assert came.count(True) >= 0.97 * len(came)


def comes_back(entry: Stored, allow: Any) -> bool | None:
    """Whether a transcript comes back exactly; None where it is refused, and not for a fault of this library."""
    try:
        translation = entry.there(entry.transcript, allow=allow)
    except Refused as refused:
        return False if "not_reversible" in {refusal.code for refusal in refused.refusals} else None
    back = entry.back(translation.document, remainder=translation.remainder).document
    return canon(entry.transcript) == canon(back)


def says_the_same(entry: Stored) -> bool:
    try:
        translated = entry.there(entry.transcript).document
    except Refused:
        return True
    return bool(entry.read(inner(entry.transcript)) == entry.read_there(inner(translated)))


def inner(document: Json) -> Json:
    """The list of turns of a document, or its string."""
    return document if isinstance(document, list) else document.get("input", document.get("messages"))
