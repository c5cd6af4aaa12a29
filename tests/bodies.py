"""Requests and answers as people send and store them, for Hypothesis. Written by hand, like `strategies`.

What `chat_requests`, `responses_requests`, `completions` and `responses` draw holds only what both formats have: it
must be accepted as it is.
"""

from __future__ import annotations

from typing import Any

import strategies
from hypothesis import strategies as st

Json = Any
Body = dict[str, Any]

NAMES = ("weather", "get_order", "x", "A-1_b")
CLOSED: Body = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
OPEN: Body = {
    "type": "object",
    "properties": {"n": {"type": "integer", "default": 1.0}, "q": {"type": ["string", "null"]}},
}
NUMBERS = (0, 1, 1.0, 0.0, -0.0, 0.3, 2)

# ---------------------------------------------------------------- tools

functions = st.fixed_dictionaries(
    {"name": st.sampled_from(NAMES)},
    optional={
        "description": st.sampled_from(["", "Looks it up.", None]),
        "parameters": st.sampled_from([{}, CLOSED, OPEN, None]),
        "strict": st.sampled_from([True, False, None]),
    },
)
chat_tools = st.lists(
    st.builds(
        lambda function, typed: {**({"type": "function"} if typed else {}), "function": function},
        functions,
        st.booleans(),
    ),
    max_size=3,
    unique_by=lambda tool: tool["function"]["name"],
)
responses_tools = st.lists(
    functions.map(lambda function: {"type": "function", **function}), max_size=3, unique_by=lambda tool: tool["name"]
)


@st.composite
def choices(draw: st.DrawFn, names: list[str], nested: bool) -> Json:
    """A tool_choice among tools of these names."""
    words: list[Json] = ["none", "auto", "required"]
    if not names:
        return draw(st.sampled_from(words))
    name = draw(st.sampled_from(names))
    forced = {"type": "function", "function": {"name": name}} if nested else {"type": "function", "name": name}
    allowed: Body = {"mode": draw(st.sampled_from(["auto", "required"])), "tools": [forced]}
    if not nested and draw(st.booleans()):
        allowed["mode"] = None
    return draw(
        st.sampled_from([
            *words,
            forced,
            {"type": "allowed_tools", "allowed_tools": allowed} if nested else {"type": "allowed_tools", **allowed},
        ])
    )  # fmt: skip


# ---------------------------------------------------------------- requests

SHARED = {
    "temperature": st.sampled_from([*NUMBERS, None]),
    "top_p": st.sampled_from([*NUMBERS, None]),
    "presence_penalty": st.sampled_from([*NUMBERS, None]),
    "frequency_penalty": st.sampled_from([*NUMBERS, None]),
    "parallel_tool_calls": st.sampled_from([True, False, None]),
    "metadata": st.sampled_from([{}, {"ticket": "T-1"}, None]),
    "store": st.sampled_from([True, False, None]),
    "stream": st.sampled_from([True, False, None]),
    "stream_options": st.sampled_from([{}, {"include_obfuscation": False}, None]),
    "service_tier": st.sampled_from(["auto", "default", "flex", "priority", None]),
    "safety_identifier": st.sampled_from(["", "u" * 64, None]),
    "prompt_cache_key": st.sampled_from(["k", None]),
}
SCHEMA = st.fixed_dictionaries(
    {"name": st.just("verdict")},
    optional={
        "schema": st.sampled_from([{}, CLOSED]),
        "description": st.just("A verdict."),
        "strict": st.sampled_from([True, False, None]),
    },
)
EFFORTS = st.sampled_from(["none", "low", "medium", "high", "xhigh", None])
VERBOSITIES = st.sampled_from(["low", "medium", "high"])
TEXT_FORMAT = st.just({"type": "text"})
TOKENS = st.sampled_from([16, 4096, 10**30])


@st.composite
def chat_requests(draw: st.DrawFn) -> Body:
    request: Body = {"model": "m", "messages": draw(strategies.chat_transcripts())}
    request |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                **SHARED,
                "tools": chat_tools,
                "reasoning_effort": EFFORTS,
                "verbosity": VERBOSITIES | st.none(),
                "max_completion_tokens": TOKENS | st.none(),
                "response_format": st.just({"type": "text"})
                | SCHEMA.map(lambda schema: {"type": "json_schema", "json_schema": schema}),
                "n": st.sampled_from([1, None]),
                "modalities": st.sampled_from([["text"], None]),
                "stop": st.none(),
                "logprobs": st.sampled_from([False, None]),
            },
        )
    )
    if draw(st.booleans()):
        request |= {"logprobs": True, "top_logprobs": draw(st.sampled_from([0, 20, None]))}
    if "max_completion_tokens" not in request and draw(st.booleans()):
        request["max_tokens"] = draw(TOKENS | st.none())
    if draw(st.booleans()):
        names = [tool["function"]["name"] for tool in request.get("tools", ())]
        request["tool_choice"] = draw(choices(names, nested=True))
    return request


@st.composite
def responses_requests(draw: st.DrawFn) -> Body:
    request: Body = {"model": "m", "input": draw(st.just("hi") | strategies.item_transcripts())}
    flat = SCHEMA.map(lambda schema: {"type": "json_schema", **schema})
    request |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                **SHARED,
                "instructions": st.sampled_from(["", "Be brief.", None]),
                "tools": responses_tools | st.none(),
                "reasoning": st.sampled_from([None, {}, {"effort": None}, {"summary": None}])
                | EFFORTS.map(lambda effort: {"effort": effort, "summary": None}),
                "text": st.sampled_from([None, {}, {"format": None}])
                | st.fixed_dictionaries(
                    {"format": flat | st.just({"type": "text"})}, optional={"verbosity": VERBOSITIES}
                ),
                "max_output_tokens": TOKENS | st.none(),
                "include": st.sampled_from([[], None]),
                "truncation": st.sampled_from(["disabled", None]),
                "background": st.sampled_from([False, None]),
                "previous_response_id": st.none(),
                "max_tool_calls": st.none(),
            },
        )
    )
    if draw(st.booleans()):
        request |= {"include": ["message.output_text.logprobs"], "top_logprobs": draw(st.sampled_from([0, 20, None]))}
    if draw(st.booleans()):
        names = [tool["name"] for tool in request.get("tools") or ()]
        request["tool_choice"] = draw(choices(names, nested=False) | st.none())
    return request


# ---------------------------------------------------------------- answers

TEXTS = st.sampled_from(strategies.TEXTS)
ARGUMENTS = st.sampled_from(strategies.ARGUMENTS)
CITATION: Body = {"start_index": 0, "end_index": 3, "url": "https://example.com", "title": "E"}
TOKEN: Body = {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}
COUNTS = st.sampled_from([0, 7, 10**20])


@st.composite
def chat_calls(draw: st.DrawFn) -> list[Body]:
    number = draw(st.integers(1, 3))
    return [
        {
            "id": f"call_{n}",
            "type": "function",
            "function": {
                "name": draw(st.sampled_from(NAMES)),
                "arguments": draw(st.sampled_from(strategies.ARGUMENTS)),
            },
        }
        for n in range(number)
    ]


@st.composite
def completions(draw: st.DrawFn) -> Body:
    message: Body = {"role": "assistant", "content": draw(TEXTS | st.none())}
    message |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "refusal": st.sampled_from([None, "", "I cannot."]),
                "tool_calls": chat_calls() | st.sampled_from([None, []]),
                "audio": st.none(),
                "function_call": st.none(),
                "annotations": st.sampled_from([None, []]),
            },
        )
    )
    choice: Body = {"index": 0, "message": message}
    choice["finish_reason"] = draw(st.sampled_from(["stop", "tool_calls"]))
    if message["content"] and draw(st.booleans()):
        message["annotations"] = [{"type": "url_citation", "url_citation": CITATION}]
    if draw(st.booleans()):
        tokens = [TOKEN] if message["content"] else None
        choice["logprobs"] = draw(st.sampled_from([None, {"content": None, "refusal": None}, {"content": tokens}]))
    completion: Body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": "m"}
    completion["choices"] = [choice]
    return completion | draw(
        st.fixed_dictionaries(
            {},
            optional={
                "usage": st.none()
                | usages("prompt", "completion", "prompt_tokens_details", "completion_tokens_details"),
                "service_tier": st.sampled_from(["default", "flex", "", None]),
                "system_fingerprint": st.sampled_from(["fp_1", None]),
                "metadata": st.sampled_from([{}, {"a": "b"}, None]),
            },
        )
    )


def usages(given: str, made: str, details_given: str, details_made: str) -> st.SearchStrategy[Body]:
    zero = st.sampled_from([0, None])
    cached = st.fixed_dictionaries({}, optional={"cached_tokens": COUNTS, "audio_tokens": zero})
    thought = st.fixed_dictionaries({}, optional={"reasoning_tokens": COUNTS, "audio_tokens": zero})
    return st.fixed_dictionaries(
        {f"{given}_tokens": COUNTS, f"{made}_tokens": COUNTS, "total_tokens": COUNTS},
        optional={details_given: st.none() | cached, details_made: st.none() | thought},
    )


@st.composite
def responses(draw: st.DrawFn) -> Body:
    text: Body = {"type": "output_text", "text": draw(TEXTS), "annotations": []}
    if text["text"] and draw(st.booleans()):
        text["annotations"] = [{"type": "url_citation", **CITATION}]
    if draw(st.booleans()):
        text["logprobs"] = draw(st.sampled_from([[], [TOKEN]])) if text["text"] else []
    parts = draw(
        st.sampled_from([[text], [text, {"type": "refusal", "refusal": "no"}], [{"type": "refusal", "refusal": "no"}]])
    )
    said: Body = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts}
    calls = [
        {
            "type": "function_call",
            "id": f"fc_x{n}",
            "call_id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
            "status": "completed",
        }
        for n, call in enumerate(draw(chat_calls()))
    ]
    output = draw(st.sampled_from([[], [said], calls, [said, *calls], [*calls, said]]))
    response: Body = {"id": "resp_1", "object": "response", "model": "m", "status": "completed", "output": output}
    response["created_at"] = draw(st.sampled_from([1, 1700000000.0]))
    return response | draw(
        st.fixed_dictionaries(
            {},
            optional={
                "usage": st.none() | usages("input", "output", "input_tokens_details", "output_tokens_details"),
                "error": st.none(),
                "incomplete_details": st.none(),
                "service_tier": st.sampled_from(["default", "flex", None]),
                "metadata": st.sampled_from([{}, {"a": "b"}]),
                "completed_at": st.sampled_from([None, 1700000001]),
                "tools": st.sampled_from([[], [{"type": "web_search"}]]),
                "temperature": st.sampled_from(NUMBERS),
                "instructions": st.sampled_from([None, "Be brief."]),
                "previous_response_id": st.sampled_from([None, "resp_0"]),
            },
        )
    )
