"""Records with several parts, turns that were added, documents around a transcript: what must hold across the parts."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from openai.types.chat import ChatCompletion

from turncodec import Refused, check, to_chat, to_responses

Body = dict[str, Any]

USER = {"role": "user", "content": "hi"}
ITEM = {"type": "message", "role": "user", "content": "hi"}
COMPLETION: Body = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
}
RESPONSE = to_responses(COMPLETION).document


def codes(document: Any, to: str, **how: Any) -> list[tuple[str, str]]:
    return [(refusal.code, refusal.pointer) for refusal in check(document, to, **how)]


# ---------------------------------------------------------------- a request and its answer


@pytest.mark.parametrize("turns", [[ITEM], "hi"])
def test_pair_comes_back(turns: Any) -> None:
    """The way back echoes the settings of the request beside the answer; the original had others."""
    row = {"request": {"model": "m", "input": turns, "temperature": 0.3}, "response": RESPONSE}

    there = to_chat(row, kind="pair")

    assert to_responses(there.document, kind="pair", remainder=there.remainder).document == row
    assert to_responses(there.document, kind="pair").document["response"]["temperature"] == 0.3


def test_text_of_a_request_is_echoed() -> None:
    """A request that is kept as a string of JSON is one too."""
    row = {"input": '{"model":"m","messages":[],"temperature":0.3}', "output": COMPLETION}

    assert to_responses(row, kind="langfuse").document["output"]["temperature"] == 0.3


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ({"response_format": {"type": "json_object"}}, "text"),
        ({"service_tier": "warp"}, "service_tier"),
        ({"tool_choice": {"type": "custom", "custom": {"name": "c"}}}, "tool_choice"),
        ({"top_logprobs": 3}, "top_logprobs"),
    ],
)
def test_what_cannot_cross_is_not_echoed(sent: Body, key: str) -> None:
    request = {"model": "m", "messages": [USER], "temperature": 0.3, **sent}

    echoed = to_responses(COMPLETION, request=request).document

    assert (echoed["temperature"], echoed[key]) == (0.3, RESPONSE[key])


def test_functions_are_echoed_as_tools() -> None:
    request = {"model": "m", "messages": [USER], "functions": [{"name": "a.b"}]}

    assert to_responses(COMPLETION, request=request).document["tools"] == [
        {"type": "function", "name": "a.b", "description": None, "parameters": None, "strict": False}
    ]


def test_a_request_that_is_none() -> None:
    with pytest.raises(Refused, match="in the request"):
        to_responses(COMPLETION, request={"model": "m", "messages": [USER], "temperature": "hot"})


def test_places_in_lists() -> None:
    log = {"log": [{"model": "m", "messages": [USER]}, COMPLETION]}

    there = to_responses(log, request_at="/log/0", response_at="/log/1")

    assert there.document["log"][0] == {"model": "m", "input": [ITEM]}
    back = to_chat(there.document, request_at="/log/0", response_at="/log/1", remainder=there.remainder)
    assert back.document == log


@pytest.mark.parametrize("places", [("/a", "/a/b"), ("/a/b", "/a"), ("/a", "/a")])
def test_places_within_each_other(places: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="inside"):
        to_responses({"a": {}}, request_at=places[0], response_at=places[1])


def test_broken_text_is_not_translated() -> None:
    assert codes({"input": '{"model":"m","mess', "output": "a"}, "responses", kind="langfuse") == [
        ("not_json", "/input")
    ]


# ---------------------------------------------------------------- a line of a batch file


def test_url_without_a_custom_id() -> None:
    line = {"method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [USER]}}

    assert to_responses(line, kind="batch").document["url"] == "/v1/responses"


@pytest.mark.parametrize("to", ["responses", "chat"])
def test_url_and_body_of_two_formats(to: str) -> None:
    line = {"custom_id": "1", "url": "/v1/chat/completions", "body": {"model": "m", "input": "x"}}

    assert codes(line, to) == [("mixed_formats", "/url")]


def test_a_column_with_the_name_of_turns() -> None:
    """What frames a record decides, in both directions, and not a column that happens to be there."""
    line = {"custom_id": "1", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [USER]}, "input": "x"}

    there = to_responses(line)

    assert there.document["body"] == {"model": "m", "input": [ITEM]}
    assert to_chat(there.document, remainder=there.remainder).document == line


@pytest.mark.parametrize(
    "body", [{"error": "no"}, {"error": {"message": "no"}, "request_id": "1"}, {"object": "error"}]
)
def test_errors_pass(body: Body) -> None:
    assert to_responses(body).document == to_chat(body).document == body


# ---------------------------------------------------------------- turns that were added


@pytest.mark.parametrize("place", ["", "messages", "conv"])
def test_growth_comes_back_from_the_restored(place: str) -> None:
    """What is restored has a remainder of its own, for what was added and has no place in it."""
    turns: Any = [USER, {"role": "assistant", "content": "t", "refusal": None}]
    at = "/conv" if place == "conv" else None
    there = to_responses({place: turns, "k": 1} if place else turns, at=at)
    grown = deepcopy(there.document)
    items = grown[{"messages": "input"}.get(place, place)] if place else grown
    items.append({**ITEM, "id": "x"})

    back = to_chat(grown, at=at, remainder=there.remainder)

    assert to_responses(back.document, at=at, remainder=back.remainder).document == grown


def test_growth_that_answers_a_renamed_call() -> None:
    """The original has the call under its own id: a result that was added would belong to none."""
    call = {"id": "L" * 70, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    there = to_responses([USER, {"role": "assistant", "content": None, "tool_calls": [call]}], allow="all")
    call_id = there.document[1]["call_id"]

    with pytest.raises(Refused, match="stale_remainder"):
        to_chat(
            [*there.document, {"type": "function_call_output", "call_id": call_id, "output": "r"}],
            remainder=there.remainder,
        )


# ---------------------------------------------------------------- what is around, and what it is


@pytest.mark.parametrize(
    ("document", "at", "found"),
    [
        ({"x": float("nan"), "row": {"conv": [USER]}}, "/row/conv", ("not_json", "/x")),
        ({"x": (1,), "row": [USER]}, "/row", ("not_json", "/x")),
        ([[USER], "\ud800"], "/0", ("not_json", "/1")),
    ],
)
def test_around_a_transcript(document: Any, at: str, found: tuple[str, str]) -> None:
    assert codes(document, "responses", at=at) == [found]


def test_objects_anywhere() -> None:
    """Objects of the client library, where people really have them."""
    completion = ChatCompletion.model_validate(COMPLETION)
    message = completion.choices[0].message
    plain = {"role": "assistant", "content": "hi"}

    assert to_responses({"conv": [USER, message]}, at="/conv") == to_responses({"conv": [USER, plain]}, at="/conv")
    row = {"request": {"model": "m", "messages": [USER]}, "response": completion}
    assert to_responses(row, kind="pair") == to_responses({**row, "response": COMPLETION}, kind="pair")


def test_the_direction_is_seen() -> None:
    deep: Body = {}
    for _ in range(3000):
        deep = {"body": deep}

    assert check([{"role": "user", "content": [{"type": "input_text", "text": "a"}]}]) == []
    assert check({"custom_id": "1", "body": {"model": "m", "input": "x"}}) == []
    assert [refusal.code for refusal in check(deep)] == ["unknown_shape"]


@pytest.mark.parametrize("to", ["responses", "chat"])
def test_a_table_for_training_is_no_conversation(to: str) -> None:
    assert codes({"instruction": "say", "input": "cat", "output": "b"}, to) == [("unknown_shape", "")]


def test_instructions_in_a_row() -> None:
    """As a column they would say nothing any more."""
    assert codes({"input": [ITEM], "instructions": "be brief", "rating": 5}, "chat") == [
        ("no_counterpart", "/instructions")
    ]


@pytest.mark.parametrize("kind", ["codex-rollout", "agents-session"])
def test_lines_of_which_none_is_left(kind: str) -> None:
    key = "payload" if kind == "codex-rollout" else "message_data"
    turn: Any = {"type": "zz"} if kind == "codex-rollout" else '{"type": "zz"}'

    with pytest.raises(Refused, match="no turn would be left"):
        to_chat([{"type": "response_item", key: turn}], kind=kind, allow="all")


@pytest.mark.parametrize(
    ("row", "at"),
    [({"k": 1, "input": [USER]}, "/input"), ({"row": {"input": [{**USER, "name": None}], "k": 1}}, "/row/input")],
)
def test_messages_under_the_name_of_items(row: Body, at: str) -> None:
    """The way back gives messages their own name; the remainder gives the column the one that it had."""
    there = to_responses(row, at=at)

    assert there.remainder
    assert to_chat(there.document, at=at, remainder=there.remainder).document == row

    items = there.document["row"]["input"] if "row" in row else there.document["input"]
    items.append(ITEM)
    with pytest.raises(Refused, match="stale_remainder"):
        to_chat(there.document, at=at, remainder=there.remainder)


def test_items_under_the_name_of_messages() -> None:
    there = to_chat({"messages": [ITEM]}, at="/messages")

    assert there.document == {"messages": [USER]}
    assert to_responses(there.document, at="/messages", remainder=there.remainder).document == {"messages": [ITEM]}


def test_a_name_that_is_taken_on_the_way_back() -> None:
    assert codes({"input": [USER], "messages": 1}, "responses", at="/input") == [("mixed_formats", "/messages")]
