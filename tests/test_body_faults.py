"""Requests, answers and records with one fault put in: exactly that fault is reported, at exactly its place; and where
it can be allowed, the rest comes across and all of it comes back."""

from __future__ import annotations

from typing import Any

import pytest

from turncodec import CODES, Translation, check, to_chat, to_responses
from turncodec.equality import same

Body = dict[str, Any]

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ITEM = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}", "status": "completed"}
TOKEN = {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}
CITATION = {"type": "url_citation", "start_index": 0, "end_index": 1, "url": "u", "title": "t"}


def chat(**more: Any) -> Body:
    return {"model": "m", "messages": [{"role": "user", "content": "hi"}], **more}


def asked(**more: Any) -> Body:
    return {"model": "m", "input": [{"type": "message", "role": "user", "content": "hi"}], **more}


def completion(message: Body | None = None, choice: Body | None = None, **more: Any) -> Body:
    said = {"role": "assistant", "content": "a", **(message or {})}
    whole = {"index": 0, "finish_reason": "stop", "message": said, **(choice or {})}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [whole], **more}


def part(**more: Any) -> Body:
    return {"type": "output_text", "text": "a", "annotations": [], **more}


def said(*parts: Body, **more: Any) -> Body:
    whole = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [*parts] or [part()]}
    return whole | more


def response(*items: Any, **more: Any) -> Body:
    output = [*items] or [said()]
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": output,
    } | more


def tool(**more: Any) -> Body:
    return {"type": "function", "function": {"name": "f", **more}}


Fault = tuple[str, Body, list[tuple[str, str]]]

REQUESTS: list[Fault] = [
    ("a parameter that is none", chat(zz=1), [("unknown_field", "/zz")]),
    ("a provider's key for reasoning", chat(thinking={"type": "enabled"}), [("reasoning", "/thinking")]),
    ("a temperature that is no number", chat(temperature="hot"), [("malformed", "/temperature")]),
    ("a true for a number", chat(top_p=True), [("malformed", "/top_p")]),
    ("an effort of nobody", chat(reasoning_effort="huge"), [("unknown_value", "/reasoning_effort")]),
    ("a tier of one side", chat(service_tier="scale"), [("no_counterpart", "/service_tier")]),
    ("both limits", chat(max_tokens=20, max_completion_tokens=20), [("no_counterpart", "/max_tokens")]),
    ("log probabilities of nothing", chat(top_logprobs=2), [("no_counterpart", "/top_logprobs")]),
    ("nan in the metadata", chat(metadata={"a": float("nan")}), [("not_json", "/metadata/a")]),
    ("tools that are no list", chat(tools={}), [("malformed", "/tools")]),
    ("a tool that is none", chat(tools=[7]), [("malformed", "/tools/0")]),
    ("a flat tool", chat(tools=[{"type": "function", "name": "f"}]), [("mixed_formats", "/tools/0")]),
    ("a tool with another key", chat(tools=[tool(zz=1)]), [("unknown_field", "/tools/0/function/zz")]),
    ("a tool without a name", chat(tools=[{"type": "function", "function": {}}]), [("malformed", "/tools/0/function")]),
    ("a tool of a bad name", chat(tools=[{"function": {"name": "a.b"}}]),
     [("function_name", "/tools/0/function/name")]),
    ("a hosted tool", chat(tools=[{"type": "web_search"}]), [("hosted_tool", "/tools/0")]),
    ("a choice of nobody", chat(tool_choice="any"), [("unknown_value", "/tool_choice")]),
    ("a choice of a custom tool", chat(tool_choice={"type": "custom", "custom": {"name": "x"}}),
     [("custom_tool", "/tool_choice")]),
    ("an allowed tool that is not there",
     chat(tools=[tool()], tool_choice={"type": "allowed_tools", "allowed_tools": {
         "mode": "auto", "tools": [{"type": "function", "function": {"name": "g"}}]}}),
     [("malformed", "/tool_choice/allowed_tools/tools/0")]),
    ("no allowed tool", chat(tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}),
     [("limit", "/tool_choice/allowed_tools/tools")]),
    ("a choice of a custom tool that is there",
     chat(tools=[{"type": "custom", "custom": {"name": "c"}}],
          tool_choice={"type": "function", "function": {"name": "c"}}),
     [("custom_tool", "/tools/0"), ("custom_tool", "/tool_choice")]),
    ("a deprecated choice of nobody", chat(function_call={"name": "a"}),
     [("legacy_function", "/function_call"), ("malformed", "/function_call")]),
    ("a deprecated function of a bad name", chat(functions=[{"name": "a.b"}]),
     [("legacy_function", "/functions"), ("function_name", "/functions/0/name")]),
    ("metadata with the name of arguments", chat(metadata={"arguments": 5}), [("malformed", "/metadata/arguments")]),
    ("the deprecated functions beside tools", chat(functions=[{"name": "a"}], tools=[]),
     [("legacy_function", "/functions")]),
    ("parameters before messages", {"stop": "x", **chat(seed=1)},
     [("no_counterpart", "/stop"), ("no_counterpart", "/seed")]),
    ("faults of all kinds", chat(zz=1, messages=[{"role": "critic", "content": "x"}], n=2),
     [("malformed", "/messages/0/role"), ("unknown_field", "/zz"), ("no_counterpart", "/n")]),
    ("json_object", asked(text={"format": {"type": "json_object"}}), [("no_counterpart", "/text/format")]),
    ("a format without a name", asked(text={"format": {"type": "json_schema"}}), [("malformed", "/text/format")]),
    ("a summary", asked(reasoning={"effort": "low", "summary": "auto"}), [("no_counterpart", "/reasoning/summary")]),
    ("the same include twice", asked(include=["message.output_text.logprobs"] * 2), [("no_counterpart", "/include/1")]),
    ("an include of nobody", asked(include=["x", 7]), [("no_counterpart", "/include/0"), ("malformed", "/include/1")]),
    ("allowed tools with the mode none",
     asked(tools=[{"type": "function", "name": "f"}],
           tool_choice={"type": "allowed_tools", "mode": "none", "tools": [{"type": "function", "name": "f"}]}),
     [("no_counterpart", "/tool_choice/mode")]),
    ("a nested tool", asked(tools=[tool()]), [("mixed_formats", "/tools/0")]),
    ("a choice of a hosted tool", asked(tool_choice={"type": "web_search"}),
     [("hosted_tool", "/tool_choice")]),
    ("tokens below the least", asked(max_output_tokens=1), [("limit", "/max_output_tokens")]),
    ("an input of another type", {"model": "m", "input": 7}, [("unknown_shape", "")]),
]  # fmt: skip

ANSWERS: list[Fault] = [
    ("no choice", {**completion(), "choices": []}, [("several_choices", "/choices")]),
    ("a choice without a message", completion() | {"choices": [{"index": 0, "finish_reason": "stop"}]},
     [("malformed", "/choices/0")]),
    ("another index", completion(choice={"index": 1}), [("unknown_value", "/choices/0/index")]),
    ("a reason of nobody", completion(choice={"finish_reason": "eos"}),
     [("unknown_value", "/choices/0/finish_reason")]),
    ("no reason yet", completion(choice={"finish_reason": None}), [("incomplete", "/choices/0/finish_reason")]),
    ("finished by a call that is not there", completion(choice={"finish_reason": "function_call"}),
     [("unknown_value", "/choices/0/finish_reason")]),
    ("an answer of the user", completion({"role": "user"}), [("malformed", "/choices/0/message")]),
    ("an answer that is none", completion(choice={"message": 7}), [("malformed", "/choices/0/message")]),
    ("a list of parts", completion({"content": [{"type": "text", "text": "a"}] * 2}),
     [("several_parts", "/choices/0/message/content")]),
    ("reasoning", completion({"reasoning_content": "hm"}), [("reasoning", "/choices/0/message/reasoning_content")]),
    ("audio", completion({"audio": {"id": "a"}}), [("audio", "/choices/0/message/audio")]),
    ("a citation of a file", completion({"annotations": [{"type": "file"}]}),
     [("annotations", "/choices/0/message/annotations")]),
    ("a citation of nothing", completion({"content": None, "annotations": [{"type": "url_citation", "url_citation": {
        "start_index": 0, "end_index": 1, "url": "u", "title": "t"}}]}),
     [("annotations", "/choices/0/message/annotations")]),
    ("a custom call alone", completion({"content": None, "tool_calls": [{"id": "c1", "type": "custom", "custom": {}}]}),
     [("custom_tool", "/choices/0/message/tool_calls/0")]),
    ("one id twice", completion({"tool_calls": [CALL, CALL]}),
     [("duplicate_call_id", "/choices/0/message/tool_calls/1/id")]),
    ("a deprecated call", completion({"content": None, "function_call": {"name": "f", "arguments": ""}},
                                     {"finish_reason": "function_call"}),
     [("legacy_function", "/choices/0/message/function_call")]),
    ("a token without bytes", completion(choice={"logprobs": {"content": [{**TOKEN, "bytes": None}], "refusal": None}}),
     [("logprobs", "/choices/0/logprobs/content")]),
    ("a candidate without bytes", completion(choice={"logprobs": {"content": [{**TOKEN, "top_logprobs": [
        {"token": "b", "logprob": -1.0}]}]}}), [("logprobs", "/choices/0/logprobs/content")]),
    ("tokens of a refusal", completion(choice={"logprobs": {"content": None, "refusal": [TOKEN]}}),
     [("logprobs", "/choices/0/logprobs/refusal")]),
    ("tokens of no text", completion({"content": None, "refusal": "no"}, {"logprobs": {"content": [TOKEN]}}),
     [("logprobs", "/choices/0/logprobs/content")]),
    ("counts of audio", completion(usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2,
                                          "prompt_tokens_details": {"audio_tokens": 3}}),
     [("no_counterpart", "/usage/prompt_tokens_details/audio_tokens")]),
    ("half a usage", completion(usage={"prompt_tokens": 1}), [("malformed", "/usage"), ("malformed", "/usage")]),
    ("a tier of one server", completion(service_tier="on_demand"), [("unknown_value", "/service_tier")]),
    ("moderation", completion(moderation={"a": 1}), [("no_counterpart", "/moderation")]),
    ("a key of a server", completion(x_groq={"id": 1}), [("unknown_field", "/x_groq")]),
    ("nan in an answer", completion(usage=float("nan")), [("not_json", "/usage")]),
    ("details of a completed response", response(incomplete_details={"reason": "max_output_tokens"}),
     [("incomplete", "/incomplete_details")]),
    ("metadata of numbers", response(metadata={"a": 1}), [("malformed", "/metadata/a")]),
    ("an empty refusal", response(said({"type": "refusal", "refusal": ""})),
     [("empty_message", "/output/0/content/0")]),
    ("another key in log probabilities",
     response(said(part(logprobs=[{"token": "a", "logprob": 0.0, "bytes": [], "top_logprobs": [], "score": 1}]))),
     [("unknown_field", "/output/0/content/0/logprobs/0/score")]),
    ("a long call id in a response", response({**ITEM, "call_id": "L" * 70}),
     [("call_id_length", "/output/0/call_id")]),
    ("a second message", response(said(), said()), [("several_messages", "/output/1")]),
    ("a second text", response(said(part(), part())), [("several_parts", "/output/0/content/1")]),
    ("a refusal before a text", response(said({"type": "refusal", "refusal": "no"}, part())),
     [("refusal_order", "/output/0/content")]),
    ("a message of the user", response(said({"type": "input_text", "text": "a"}, role="user")),
     [("unsupported_item", "/output/0")]),
    ("a message that is a string", response(said() | {"content": "a"}), [("malformed", "/output/0/content")]),
    ("a message without a part", response({**said(), "content": []}), [("empty_message", "/output/0")]),
    ("an output that is none", response(7), [("malformed", "/output/0")]),
    ("the result of a call",
     response(ITEM, {"type": "function_call_output", "id": "o", "call_id": "c1", "output": "1"}),
     [("unsupported_item", "/output/1")]),
    ("reasoning before a text", response({"type": "reasoning", "id": "rs", "summary": []}, said()),
     [("reasoning", "/output/0")]),
    ("a namespaced item", response({"type": "acme:x"}, said()), [("namespaced", "/output/0")]),
    ("a phase", response(said(phase="final_answer")), [("phase", "/output/0/phase")]),
    ("a cut message in a finished response", response(said(status="incomplete")), [("incomplete", "/output/0/status")]),
    ("a citation of a file in a response", response(said(part(annotations=[{"type": "file_citation"}]))),
     [("annotations", "/output/0/content/0/annotations")]),
    ("citations and tokens of an empty text", response(said(part(text="", annotations=[CITATION], logprobs=[TOKEN]))),
     [("annotations", "/output/0/content/0/annotations"), ("logprobs", "/output/0/content/0/logprobs")]),
    ("one call id twice", response(ITEM, ITEM), [("duplicate_call_id", "/output/1/call_id")]),
    ("an unknown reason to stop", response(status="incomplete", incomplete_details={"reason": "steered"}),
     [("incomplete", "/status")]),
    ("no reason to stop", response(status="incomplete"), [("incomplete", "/status")]),
    ("a call in an unfinished response", response(ITEM, status="incomplete",
                                                   incomplete_details={"reason": "max_output_tokens"}),
     [("incomplete", "/status")]),
    ("nothing yet", response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
     [("truncated", "/status")]),
    ("an error beside an answer", response(error={"code": "x", "message": "y"}), [("incomplete", "/error")]),
    ("half a second", response(created_at=1.5), [("unknown_value", "/created_at")]),
    ("counts of images", response(usage={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                                         "input_tokens_details": {"image_tokens": 1}}),
     [("no_counterpart", "/usage/input_tokens_details/image_tokens")]),
    ("a key of one server", response(billing={"payer": "d"}), [("unknown_field", "/billing")]),
    ("moderation of a response", response(moderation={"a": 1}), [("no_counterpart", "/moderation")]),
    ("an output that is no list", response() | {"output": {}}, [("malformed", "/output")]),
]  # fmt: skip

RECORDS: list[Fault] = [
    ("a line of an id alone", {"custom_id": "a", "body": 7}, [("unknown_shape", "")]),
    ("a body of nobody", {"custom_id": "a", "body": {"model": "m"}}, [("unknown_shape", "/body")]),
    ("an answer of nobody", {"custom_id": "a", "response": {"body": {"a": 1}}}, [("unknown_shape", "/response/body")]),
    ("no answer", {"custom_id": "a", "response": None, "error": None}, [("unknown_shape", "/response")]),
    ("a column that is not JSON", {"custom_id": "a", "body": chat(), "n": float("inf")}, [("not_json", "/n")]),
    ("a fault in a line", {"custom_id": "a", "body": chat(stop="x")}, [("no_counterpart", "/body/stop")]),
    ("a row whose tools are none", {"messages": [], "rating": 1, "tools": "f"}, [("malformed", "/tools")]),
    ("a row with a hosted tool", {"messages": [], "rating": 1, "tools": [{"type": "web_search"}]},
     [("hosted_tool", "/tools/0")]),
]  # fmt: skip


def direction(body: Body) -> str:
    """The format to translate to."""
    inner = body.get("body") if isinstance(body.get("body"), dict) else body
    return "chat" if "input" in inner or "output" in inner else "responses"


@pytest.mark.parametrize(
    ("body", "found"), [pytest.param(b, f, id=name) for name, b, f in REQUESTS + ANSWERS + RECORDS]
)
def test_fault(body: Body, found: list[tuple[str, str]]) -> None:
    """Exactly the fault is reported, at exactly its place."""
    assert [(refusal.code, refusal.pointer) for refusal in check(body, direction(body))] == found


ALLOWABLE = [
    pytest.param(body, id=name)
    for name, body, _ in REQUESTS + ANSWERS + RECORDS
    if all(refusal.allowable for refusal in check(body, direction(body)))
]


@pytest.mark.parametrize("body", ALLOWABLE)
def test_allowed(body: Body) -> None:
    """What can be allowed stays behind, the rest comes across, and with the remainder all of it comes back."""
    there, back = (to_responses, to_chat) if direction(body) == "responses" else (to_chat, to_responses)
    codes = {refusal.code for refusal in check(body, direction(body))}

    translation: Translation = there(body, allow=codes)

    assert translation.remainder is not None
    assert set(translation.remainder["allowed"]) == codes
    assert same(back(translation.document, remainder=translation.remainder).document, body)


def test_most_can_be_allowed() -> None:
    """The cases above try both: what can be allowed, and what never can."""
    tried = {code for _, _, found in REQUESTS + ANSWERS + RECORDS for code, _ in found}

    assert len(ALLOWABLE) > 30
    assert {code for code in tried if CODES[code].allowing is None} >= {"incomplete", "malformed", "several_choices"}
