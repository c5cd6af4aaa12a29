"""Everything that is written is valid by types that others have made: those of the packages `openai` and
`openresponses-types`, and the OpenAPI document of Open Responses where it is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import faults
import openresponses_types as openresponses
import pytest
import strategies
from faults import FAULTS, Fault, put_in
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter
from reader import canon
from strategies import Json

from turncodec import to_chat, to_responses

SPECIFICATION = Path(__file__).parents[2] / "shared" / "specs" / "openresponses-openapi.json"

data = st.data()
items_translated = strategies.item_transcripts().map(lambda items: to_chat(items).document)
messages_translated = strategies.chat_transcripts().map(lambda messages: to_responses(messages).document)

# ---------------------------------------------------------------- the types


def exhausted(value: Any) -> Json:
    """A validated value with every lazy list read, which validates its entries."""
    if isinstance(value, dict):
        return {key: exhausted(inner) for key, inner in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    return [exhausted(inner) for inner in value]


@cache
def adapter(type_: Any) -> TypeAdapter[Any]:
    return TypeAdapter(type_)


def validated(type_: Any, value: Json) -> Json:
    """A value as a type of the `openai` package has it: raises where it is invalid, and lacks the keys that the type
    does not have."""
    return exhausted(adapter(type_).validate_python(value))


ITEM_TYPES: dict[str, Callable[[Json], Any]] = {
    "user": openresponses.UserMessageItemParam.model_validate,
    "system": openresponses.SystemMessageItemParam.model_validate,
    "developer": openresponses.DeveloperMessageItemParam.model_validate,
    "assistant": openresponses.AssistantMessageItemParam.model_validate,
    "function_call": openresponses.FunctionCallItemParam.model_validate,
    "function_call_output": openresponses.FunctionCallOutputItemParam.model_validate,
}


def valid_item(item: Json) -> Json:
    """An item as `openresponses-types` has it."""
    kind = item["role"] if item["type"] == "message" else item["type"]
    return ITEM_TYPES[kind](item).model_dump(mode="json", exclude_unset=True)


def has_openai_form(item: Json) -> bool:
    """Whether the `openai` package has a type for an item of the core at all.

    It has none for an assistant's message with a list of parts that lacks an id, a status or annotations
    (`ResponseOutputMessageParam` requires them; `EasyInputMessageParam` takes a string), although the specification
    has them optional on input; and none for an image of a message without `detail`, which is optional there too.
    """
    if item["type"] != "message" or isinstance(item["content"], str):
        return True
    if item["role"] == "assistant":
        return False
    return all("detail" in part for part in item["content"] if part["type"] == "input_image")


@cache
def schema_of_items() -> Draft202012Validator:
    """The specification's own schema of the items of a request."""
    if not SPECIFICATION.is_file():
        pytest.skip(f"{SPECIFICATION} is not there")
    document = json.loads(SPECIFICATION.read_text(encoding="utf-8"))
    return Draft202012Validator({**document, "$ref": "#/components/schemas/ItemParam"})


# ---------------------------------------------------------------- what is written


@given(items_translated)
def test_messages_are_valid(messages: list[Json]) -> None:
    """Chat messages are valid by the types of the `openai` package, and have no keys but theirs."""
    assert canon(messages) == canon([validated(ChatCompletionMessageParam, message) for message in messages])


@given(messages_translated)
def test_items_are_valid(items: list[Json]) -> None:
    """Items are valid by the types of `openresponses-types`, and have no keys but theirs."""
    assert canon(items) == canon([valid_item(item) for item in items])


@given(messages_translated)
def test_items_are_valid_for_openai(items: list[Json]) -> None:
    """Items are valid by the types of the `openai` package, where it has one for them."""
    items = [item for item in items if has_openai_form(item)]

    assert canon(items) == canon([validated(ResponseInputItemParam, item) for item in items])


@given(messages_translated)
def test_items_meet_the_specification(items: list[Json]) -> None:
    """Items are valid by the schema of the specification."""
    assert [error.message for item in items for error in schema_of_items().iter_errors(item)] == []


@given(items_translated)
def test_calls_are_answered_at_once(messages: list[Json]) -> None:
    """In Chat the results of a message's calls stand directly behind it, as servers demand."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting
            waiting = {call["id"] for call in message.get("tool_calls", ())}


@given(messages_translated)
def test_calls_can_be_replayed(items: list[Json]) -> None:
    """A call written from Chat has the six fields that a replay gate demands; ids are unique in the document."""
    calls = [item for item in items if item["type"] == "function_call"]

    assert all(list(c) == ["type", "id", "call_id", "name", "arguments", "status"] for c in calls)
    assert all(call["status"] == "completed" for call in calls)
    assert len({call["id"] for call in calls}) == len(calls)


@given(messages_translated)
def test_nothing_more_is_written(items: list[Json]) -> None:
    """Messages and outputs written from Chat have three keys and no more."""
    keys = {tuple(item) for item in items if item["type"] != "function_call"}

    assert {("type", "role", "content"), ("type", "call_id", "output")} >= keys


# ---------------------------------------------------------------- what is written when something was allowed

AS_THEY_ARE = {"function_name", "refusal_order", "unanswered_call"}
"""Codes that let their part pass as it is, valid or not."""


def allowed(format_: str) -> list[Fault]:
    return [f for f in FAULTS if f.format == format_ and f.allowable and f.code not in AS_THEY_ARE]


@settings(max_examples=settings().max_examples * 2)
@given(data)
def test_items_are_valid_with_parts_left_out(data: st.DataObject) -> None:
    """Items are valid also where something was allowed to stay behind, to be renamed or to move."""
    chosen = data.draw(st.lists(st.sampled_from(allowed("chat")), min_size=1, max_size=3))
    document = put_in(data.draw, data.draw(strategies.chat_transcripts()), chosen)[0].document

    items = to_responses(document, allow="all").document

    assert canon(items) == canon([valid_item(item) for item in items])


@settings(max_examples=settings().max_examples * 2)
@given(data)
def test_messages_are_valid_with_parts_left_out(data: st.DataObject) -> None:
    """Messages are valid also where something was allowed to stay behind, to be renamed or to move."""
    chosen = data.draw(st.lists(st.sampled_from(allowed("responses")), min_size=1, max_size=3))
    document = put_in(data.draw, data.draw(strategies.item_transcripts()), chosen)[0].document

    messages = to_chat(document, allow="all").document

    assert canon(messages) == canon([validated(ChatCompletionMessageParam, message) for message in messages])


# ---------------------------------------------------------------- these types are strict enough to tell


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}]},
        {"role": "critic", "content": "hi"},
    ],
)
def test_invalid_messages_are_told(message: Json) -> None:
    """An invalid message is not taken for a valid one."""
    with pytest.raises(ValueError, match="validation error"):
        validated(ChatCompletionMessageParam, message)


def test_unknown_keys_are_told() -> None:
    """A key that the type does not have is missed."""
    assert "trace" not in validated(ChatCompletionMessageParam, {**faults.user("hi"), "trace": 1})
