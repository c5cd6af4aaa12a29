"""What must be true of requests, answers, batch lines and rows of logs, in both directions."""

from __future__ import annotations

import copy
import json
import typing
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import bodies
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from openresponses_types.types import CreateResponseBody, ResponseResource
from pydantic import TypeAdapter, ValidationError

from turncodec import Refused, Translation, check, to_chat, to_responses
from turncodec.compare import compare
from turncodec.equality import same
from turncodec.mapping.output import DEFAULTS
from turncodec.mapping.parameters import PARAMETERS
from turncodec.wire.responses import WRITTEN_ITEM, WRITTEN_RESPONSE

SPECIFICATION = Path(__file__).parents[2] / "shared" / "specs" / "openresponses-openapi.json"

Body = dict[str, Any]
Way = tuple[Callable[..., Translation], Callable[..., Translation], st.SearchStrategy[Body]]


def line(body: Body, url: str) -> Body:
    return {"custom_id": "r1", "method": "POST", "url": url, "body": body}


def answer_line(body: Body) -> Body:
    response = {"status_code": 200, "request_id": "q", "body": body}
    return {"id": "b1", "custom_id": "r1", "response": response, "error": None}


WAYS: dict[str, Way] = {
    "chat request": (to_responses, to_chat, bodies.chat_requests()),
    "responses request": (to_chat, to_responses, bodies.responses_requests()),
    "completion": (to_responses, to_chat, bodies.completions()),
    "response": (to_chat, to_responses, bodies.responses()),
    "chat batch line": (
        to_responses,
        to_chat,
        bodies.chat_requests().map(lambda body: line(body, "/v1/chat/completions")),
    ),
    "responses batch line": (
        to_chat,
        to_responses,
        bodies.responses_requests().map(lambda body: line(body, "/v1/responses")),
    ),
    "chat batch output": (to_responses, to_chat, bodies.completions().map(answer_line)),
    "responses batch output": (to_chat, to_responses, bodies.responses().map(answer_line)),
}
every_way = pytest.mark.parametrize("name", WAYS)
data = st.data()


# ---------------------------------------------------------------- the laws


@every_way
@given(data=data)
def test_round_trip(name: str, data: st.DataObject) -> None:
    """Everything comes across, nothing is changed on the way, and the remainder brings the original back."""
    there, back, drawn = WAYS[name]
    body = data.draw(drawn)
    before = copy.deepcopy(body)

    translation = there(body)

    assert same(body, before)
    assert same(back(translation.document, remainder=translation.remainder).document, body)
    assert translation == there(copy.deepcopy(body))


@every_way
@given(data=data)
def test_plain_and_canonical(name: str, data: st.DataObject) -> None:
    """What comes back alone is written in the canonical way, and goes there and back for ever."""
    there, back, drawn = WAYS[name]
    body = data.draw(drawn)
    translation = there(body)
    alone = back(translation.document).document

    assert translation.remainder is not None or same(alone, body)
    assert same(back(there(alone).document).document, alone)


@every_way
@given(data=data)
def test_compared(name: str, data: st.DataObject) -> None:
    """A reader that knows nothing of the mapping finds the same said, called and offered."""
    there, _, drawn = WAYS[name]
    body = data.draw(drawn)

    assert compare(body, there(body).document) == []


@pytest.mark.parametrize("name", ["chat request", "responses request", "completion", "response"])
@given(data=data)
def test_closed_world(name: str, data: st.DataObject) -> None:
    """A key that no rule mentions is refused at its place, and kept where that is allowed."""
    there, back, drawn = WAYS[name]
    body = {**data.draw(drawn), "zz/top": {"n": 1.0}}

    assert [(r.code, r.pointer) for r in check(body, "responses" if there is to_responses else "chat")] == [
        ("unknown_field", "/zz~1top")
    ]
    translation = there(body, allow="unknown_field")
    assert "zz/top" not in translation.document
    assert same(back(translation.document, remainder=translation.remainder).document, body)


# ---------------------------------------------------------------- validity


def exhausted(value: Any) -> Any:
    """A validated value with every lazy list read, which validates its entries."""
    if isinstance(value, dict):
        return {key: exhausted(inner) for key, inner in value.items()}
    return value if value is None or isinstance(value, str | int | float) else [exhausted(inner) for inner in value]


@cache
def adapter(type_: Any) -> TypeAdapter[Any]:
    return TypeAdapter(type_)


@cache
def published(name: str) -> Draft202012Validator | None:
    if not SPECIFICATION.exists():
        return None
    whole = json.loads(SPECIFICATION.read_text())
    return Draft202012Validator({**whole, "$ref": f"#/components/schemas/{name}"})


def in_specification(name: str, value: Any) -> None:
    schema = published(name)
    if schema is not None:
        schema.validate(value)


@given(body=bodies.chat_requests())
def test_requests_to_responses_are_valid(body: Body) -> None:
    """A translated request is one by both packages and by the published schema.

    OpenAI's own types have no form for an assistant's parts without ids, and want the parameters of a tool and the
    schema of a format, which the specification lets be left out: those are left out there.
    """
    request = to_responses(body).document

    CreateResponseBody.model_validate(request)
    in_specification("CreateResponseBody", request)
    whole = {**request, "input": "hi", "stream": False}
    if all("parameters" in tool for tool in request.get("tools", ())) and "schema" in form_of(request):
        exhausted(adapter(ResponseCreateParamsNonStreaming).validate_python(whole))


def form_of(request: Body) -> Body:
    form = request.get("text", {}).get("format", {})
    return form if form.get("type") == "json_schema" else {"schema": None}


@given(body=bodies.responses_requests())
def test_requests_to_chat_are_valid(body: Body) -> None:
    """A translated request is one by the types of `openai`."""
    request = {**to_chat(body).document, "stream": False}

    exhausted(adapter(CompletionCreateParamsNonStreaming).validate_python(request))


@given(body=bodies.completions(), request=bodies.chat_requests() | bodies.responses_requests() | st.none())
def test_answers_to_responses_are_valid(body: Body, request: Body | None) -> None:
    """A translated completion is a response by both packages and by the published schema, with and without the request
    that it answers. The two disagree about the schema that a response repeats: the specification lets it say null only.
    """
    response = to_responses(body, request=request).document

    WRITTEN_RESPONSE.validate_python(response)
    ResponseResource.model_validate(response)
    in_specification("ResponseResource", response)
    if response["text"]["format"]["type"] != "json_schema":
        adapter(Response).validate_python(response)


@given(body=bodies.responses())
def test_answers_to_chat_are_valid(body: Body) -> None:
    """A translated response is a completion by the types of `openai`."""
    adapter(ChatCompletion).validate_python(to_chat(body).document)


REQUIRED: dict[str, Body] = {
    "message": {"id": "m", "status": "completed", "role": "assistant", "content": []},
    "function_call": {"id": "f", "call_id": "c", "name": "f", "arguments": "", "status": "completed"},
    "function_call_output": {"id": "o", "call_id": "c", "output": "", "status": "completed"},
    "reasoning": {"id": "r", "summary": []},
    "compaction": {"id": "k", "encrypted_content": "x"},
}


@pytest.mark.parametrize("kind", REQUIRED)
def test_written_items(kind: str) -> None:
    """Of an item of a response, each key that the published schema requires is required, and no other may be there."""
    item = {"type": kind, **REQUIRED[kind]}

    WRITTEN_ITEM.validate_python(item)
    in_specification("ItemField", item)
    for wrong in (*({k: v for k, v in item.items() if k != key} for key in item), {**item, "zz": 1}):
        with pytest.raises(ValidationError):
            WRITTEN_ITEM.validate_python(wrong)


# ---------------------------------------------------------------- the table of parameters


def names(side: str) -> set[str]:
    return {getattr(row, side).partition(".")[0].partition("[")[0] for row in PARAMETERS} - {""}


def test_every_parameter_has_a_row() -> None:
    """Each parameter that the packages know stands in the table; a new release with a new one makes this fail."""
    chat = set(typing.get_type_hints(CompletionCreateParamsNonStreaming))
    responses = set(typing.get_type_hints(ResponseCreateParamsNonStreaming)) | set(CreateResponseBody.model_fields)

    assert chat <= names("chat")
    assert responses <= names("responses")


def test_every_row_is_known() -> None:
    """The table names no parameter that nobody knows."""
    chat = set(typing.get_type_hints(CompletionCreateParamsNonStreaming))
    responses = set(typing.get_type_hints(ResponseCreateParamsNonStreaming)) | set(CreateResponseBody.model_fields)

    assert names("chat") <= chat
    assert names("responses") <= responses


def test_every_setting_of_a_response_has_a_default() -> None:
    """What a response requires and a completion does not have is among the defaults."""
    own = {"id", "object", "created_at", "status", "model", "output", "usage"}

    assert own | set(DEFAULTS) == set(ResponseResource.model_fields)


VALUES: dict[str, Any] = {
    "stop": ["END"], "seed": 7, "logit_bias": {"50256": -100}, "user": "u", "n": 2, "modalities": ["text", "audio"],
    "audio": {"voice": "alloy", "format": "wav"}, "prediction": {"type": "content", "content": "x"},
    "web_search_options": {}, "moderation": {"model": "m"}, "prompt_cache_options": {"mode": "implicit"},
    "prompt_cache_retention": "24h", "stream_options.include_usage": True, "reasoning.summary": "auto",
    "include[reasoning.encrypted_content]": ["reasoning.encrypted_content"], "max_tool_calls": 1,
    "previous_response_id": "resp_1", "truncation": "auto", "background": True, "access_programs": {"a": 1},
    "background_options": {"a": 1}, "context_management": [{"type": "compaction"}], "conversation": "conv_1",
    "image": {"a": 1}, "prompt": {"id": "p"},
}  # fmt: skip
WITHOUT_PARTNER = [
    (side, getattr(row, side)) for row in PARAMETERS if row.mark == "x" for side in ("chat", "responses")
    if getattr(row, side)
]  # fmt: skip


@pytest.mark.parametrize(("side", "name"), WITHOUT_PARTNER)
def test_no_counterpart(side: str, name: str) -> None:
    """A parameter without a partner is refused at its place; allowed, it stays in the remainder."""
    there, back = (to_responses, to_chat) if side == "chat" else (to_chat, to_responses)
    key, _, inner = name.partition("[")[0].partition(".")
    value = {inner: VALUES[name]} if inner else VALUES[name]
    body = {"model": "m", "messages" if side == "chat" else "input": [{"role": "user", "content": "hi"}], key: value}
    place = f"/{key}" + (f"/{inner}" if inner else "/0" if "[" in name else "")

    assert [(r.code, r.pointer) for r in check(body)] == [("no_counterpart", place)]
    translation = there(body, allow="no_counterpart")
    assert VALUES[name] not in translation.document.values()
    assert same(back(translation.document, remainder=translation.remainder).document, body)


# ---------------------------------------------------------------- tools


ABSENT = object()


@pytest.mark.parametrize(
    ("side", "strict", "schema", "expected"),
    [
        ("chat", ABSENT, bodies.CLOSED, False),
        ("chat", None, bodies.CLOSED, False),
        ("chat", True, bodies.OPEN, True),
        ("chat", False, bodies.CLOSED, False),
        ("responses", ABSENT, bodies.CLOSED, True),
        ("responses", ABSENT, bodies.OPEN, ABSENT),
        ("responses", None, bodies.CLOSED, True),
        ("responses", None, bodies.OPEN, ABSENT),
        ("responses", True, bodies.OPEN, True),
        ("responses", False, bodies.CLOSED, ABSENT),
    ],
)
def test_strict(side: str, strict: Any, schema: Body, expected: Any) -> None:
    """Left out, strict is false to Chat and true to Responses, where the schema can be; so it is said."""
    function = {"name": "f", "parameters": schema} | ({} if strict is ABSENT else {"strict": strict})
    if side == "chat":
        body = {"model": "m", "messages": [], "tools": [{"type": "function", "function": function}]}
        (tool,) = to_responses(body).document["tools"]
    else:
        body = {"model": "m", "input": [], "tools": [{"type": "function", **function}]}
        tool = to_chat(body).document["tools"][0]["function"]

    assert tool.get("strict", ABSENT) is expected
    assert tool["parameters"] is schema


def test_choice_among_the_tools() -> None:
    """A choice names a tool of the request, or it is refused at the place of the name."""
    body = {"model": "m", "messages": [], "tool_choice": {"type": "function", "function": {"name": "g"}}}

    assert [(r.code, r.pointer) for r in check(body)] == [("malformed", "/tool_choice")]


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("max_completion_tokens", 15, ""),
        ("max_tokens", 0, ""),
        ("top_logprobs", 21, ""),
        ("safety_identifier", "u" * 65, ""),
        ("prompt_cache_key", "k" * 65, ""),
        ("metadata", {str(n): "" for n in range(17)}, ""),
        ("metadata", {"k" * 65: ""}, "/" + "k" * 65),
        ("metadata", {"k": "v" * 513}, "/k"),
    ],
)
def test_limits(key: str, value: Any, place: str) -> None:
    """What Open Responses would not take is refused before a server does it."""
    body = {"model": "m", "messages": [], "logprobs": True, key: value}

    assert [(r.code, r.pointer) for r in check(body)] == [("limit", f"/{key}{place}")]


# ---------------------------------------------------------------- answers


def completion(finish: str, **message: Any) -> Body:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


CALLS = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a'}}]


@pytest.mark.parametrize(("finish", "reason"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_truncated(finish: str, reason: str) -> None:
    """A cut text crosses only where that is allowed, and as an unfinished one; it comes back as what it was."""
    body = completion(finish, content="Once up")

    assert [(r.code, r.pointer) for r in check(body)] == [("truncated", "/choices/0/finish_reason")]
    there = to_responses(body, allow="truncated")
    assert there.document["status"] == "incomplete"
    assert there.document["incomplete_details"] == {"reason": reason}
    assert there.document["output"][0]["status"] == "incomplete"
    assert to_chat(there.document, remainder=there.remainder).document == body
    assert [r.code for r in check(there.document)] == ["truncated"]
    assert to_chat(there.document, allow="truncated").document["choices"][0]["finish_reason"] == finish


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_cut_call_never_crosses(finish: str) -> None:
    """Nobody knows what a cut call would be: it is refused whatever is allowed."""
    body = completion(finish, tool_calls=CALLS)

    assert [(r.code, r.pointer) for r in check(body, allow="all")] == [("incomplete", "/choices/0/finish_reason")]


@pytest.mark.parametrize("status", ["queued", "in_progress", "failed", "cancelled", "halted", ""])
def test_an_unfinished_response_never_crosses(status: str) -> None:
    """A response that is not completed is refused whatever is allowed."""
    body = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": status, "output": []}

    assert [(r.code, r.pointer) for r in check(body, allow="all")] == [("incomplete", "/status")]


def test_an_error_passes() -> None:
    """The error that came in place of an answer passes through as it is, alone and in a batch."""
    error = {"error": {"message": "bad", "type": "invalid_request_error", "param": None, "code": None}}

    for body in (error, answer_line(error), {"custom_id": "r", "response": None, "error": {"code": "expired"}}):
        assert to_responses(body) == Translation(body)
        assert to_chat(body) == Translation(body)


def test_settings_of_the_request() -> None:
    """A response echoes the settings of its request, in either format, and its defaults without it."""
    body = completion("stop", content="hi")
    tool = {"type": "function", "function": {"name": "f"}}
    request = {"model": "m", "messages": [], "temperature": 0.2, "tools": [tool], "stop": "x", "verbosity": "low"}
    flat = to_responses(request, allow="no_counterpart").document

    echoed = to_responses(body, request=request).document

    assert echoed == to_responses(body, request=flat).document
    assert echoed["temperature"] == 0.2
    assert echoed["text"] == {"verbosity": "low", "format": {"type": "text"}}
    assert [tool["name"] for tool in echoed["tools"]] == ["f"]
    assert to_responses(body).document["temperature"] == DEFAULTS["temperature"]
    with pytest.raises(Refused):
        to_responses(body, request={"model": 7, "messages": []})


# ---------------------------------------------------------------- batch lines and rows


def test_a_line_without_method_and_url() -> None:
    """Some servers write lines of an id and a body alone."""
    body = {"custom_id": "a", "body": {"model": "m", "messages": [{"role": "user", "content": "hi"}]}}

    assert to_responses(body).document == {
        "custom_id": "a",
        "body": {"model": "m", "input": [{"type": "message", "role": "user", "content": "hi"}]},
    }


@pytest.mark.parametrize(
    ("url", "code"), [("/v1/embeddings", "batch_url"), (7, "batch_url"), ("/v1/responses", "mixed_formats")]
)
def test_a_line_for_another_endpoint(url: Any, code: str) -> None:
    """A line for another endpoint, or whose url and body disagree, is refused at the url."""
    body = line({"model": "m", "messages": [{"role": "user", "content": "hi"}]}, url)

    assert [(r.code, r.pointer) for r in check(body, "responses")] == [(code, "/url")]


@pytest.mark.parametrize("kind", ["pair", "helicone", "openpipe", "langfuse", "litellm"])
@given(data=data)
def test_pairs(kind: str, data: st.DataObject) -> None:
    """A request and its answer in one row are translated together, everything else of the row stays, and it all comes
    back."""
    request, answer = data.draw(bodies.chat_requests()), data.draw(bodies.completions())
    columns = {"pair": ("request", "response"), "helicone": ("request_body", "response_body"),
               "openpipe": ("input", "output"), "langfuse": ("input", "output"),
               "litellm": ("proxy_server_request", "response")}[kind]  # fmt: skip
    written = json.dumps if kind == "langfuse" else lambda value: value
    row = {"id": 1, columns[0]: written(request), "note": {"n": 1.0}, columns[1]: written(answer)}

    there = to_responses(row, kind=kind)

    assert list(there.document) == list(row)
    assert there.document["note"] is row["note"]
    assert same(to_chat(there.document, kind=kind, remainder=there.remainder).document, row)


def test_pairs_at_places() -> None:
    """The places of a pair may be anywhere, one may be empty, and what cannot be translated is refused there."""
    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    row = {"log": {"sent": request}, "got": None}

    there = to_responses(row, request_at="/log/sent", response_at="/got")

    assert there.document["log"]["sent"]["input"][0]["content"] == "hi"
    assert there.document["got"] is None
    places = [(r.code, r.pointer) for r in check({"request": 5, "response": {}}, "responses", kind="pair")]
    assert places == [("unknown_shape", "/request")]
    assert [r.code for r in check({}, "responses", kind="pair")] == ["unknown_shape"]
