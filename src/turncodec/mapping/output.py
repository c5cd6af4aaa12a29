"""The answer: `chat.completion` <-> response object.

One choice is one turn: its message is at most one message item and then the function calls. A response also echoes
the settings of its request, which a completion does not; where nobody knows them they are the defaults of `DEFAULTS`,
and the remainder keeps them from coming back as facts.
"""

from __future__ import annotations

from typing import Any

from turncodec.mapping.calls import call_to_item, item_to_call

Completion = dict[str, Any]
Response = dict[str, Any]
Item = dict[str, Any]

DEFAULTS: dict[str, Any] = {
    "completed_at": None,
    "error": None,
    "incomplete_details": None,
    "previous_response_id": None,
    "instructions": None,
    "tools": [],
    "tool_choice": "auto",
    "truncation": "disabled",
    "parallel_tool_calls": True,
    "text": {"format": {"type": "text"}},
    "top_p": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "temperature": 1.0,
    "reasoning": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "store": True,
    "background": False,
    "service_tier": "default",
    "metadata": {},
    "safety_identifier": None,
    "prompt_cache_key": None,
}
"""What a response says of its request where the request is not known (specification, `ResponseResource`)."""

REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""finish_reason of a cut text -> incomplete_details.reason."""

FINISHES = {reason: finish for finish, reason in REASONS.items()}

# ---------------------------------------------------------------- the whole


def completion_to_response(completion: Completion, settings: dict[str, Any]) -> Response:
    """A completion with one choice as a response. `settings` are those of its request, by their Responses names."""
    choice = completion["choices"][0]
    reason = REASONS.get(choice["finish_reason"])
    status = "incomplete" if reason else "completed"
    known = {"service_tier": completion["service_tier"]} if completion.get("service_tier") else {}
    if completion.get("metadata") is not None:
        known["metadata"] = completion["metadata"]
    return {
        "id": completion["id"],
        "object": "response",
        "created_at": completion["created"],
        **DEFAULTS,
        **settings,
        **known,
        "status": status,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": completion["model"],
        "output": output_of(choice, completion["id"], status),
        "usage": usage_to_responses(completion.get("usage")),
    }


def response_to_completion(response: Response) -> Completion:
    """A response with one turn as a completion."""
    message, logprobs = message_of(response["output"])
    reason = (response.get("incomplete_details") or {}).get("reason") if response["status"] == "incomplete" else None
    finish = FINISHES[reason] if reason else "tool_calls" if "tool_calls" in message else "stop"
    completion: Completion = {
        "id": response["id"],
        "object": "chat.completion",
        "created": int(response["created_at"]),
        "model": response["model"],
        "choices": [{"index": 0, "message": message, "logprobs": logprobs, "finish_reason": finish}],
    }
    for key in ("service_tier", "metadata"):
        if response.get(key):
            completion[key] = response[key]
    if response.get("usage") is not None:
        completion["usage"] = usage_to_chat(response["usage"])
    return completion


def settings_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a request, by their Responses names, as a response to it echoes them: what the request left
    out is left to `DEFAULTS`, and every object has all the keys that a response requires."""
    echo = {key: parameters[key] for key in DEFAULTS if parameters.get(key) is not None}
    if "tools" in echo:
        whole = {"description": None, "parameters": None, "strict": None}
        echo["tools"] = [{"type": "function", **whole, **tool} for tool in echo["tools"]]
    choice = echo.get("tool_choice")
    if isinstance(choice, dict) and choice["type"] == "allowed_tools":
        echo["tool_choice"] = {**choice, "mode": choice.get("mode") or "auto"}
    if "reasoning" in echo:
        echo["reasoning"] = {"effort": None, "summary": None, **echo["reasoning"]}
    if "text" in echo:
        echo["text"] = {**echo["text"], "format": format_echoed(echo["text"].get("format"))}
    return echo


def format_echoed(form: dict[str, Any] | None) -> dict[str, Any]:
    """The format of the text; by the specification a response names a schema and does not repeat it."""
    if form is None or form["type"] != "json_schema":
        return form or {"type": "text"}
    name, description = form["name"], form.get("description")
    strict = form.get("strict") or False
    return {"type": "json_schema", "name": name, "description": description, "schema": None, "strict": strict}


# ---------------------------------------------------------------- the turn


def output_of(choice: dict[str, Any], completion_id: str, status: str) -> list[Item]:
    """The items of a choice: a message where there is text or a refusal, then its calls."""
    message = choice["message"]
    content, refusal, calls = message.get("content"), message.get("refusal"), message.get("tool_calls") or ()
    parts: list[dict[str, Any]] = []
    if content is not None and (content or not (calls or refusal)):
        parts.append(text_part(content, message, choice))
    if refusal:
        parts.append({"type": "refusal", "refusal": refusal})
    said = {"type": "message", "id": "msg_" + completion_id, "status": status, "role": "assistant", "content": parts}
    return [*([said] if parts else []), *map(call_to_item, calls)]


def text_part(text: str, message: dict[str, Any], choice: dict[str, Any]) -> dict[str, Any]:
    annotations = [annotation_to_responses(entry) for entry in message.get("annotations") or ()]
    part = {"type": "output_text", "text": text, "annotations": annotations}
    logprobs = (choice.get("logprobs") or {}).get("content")
    return {**part, "logprobs": logprobs} if logprobs else part


def message_of(output: list[Item]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The message of a choice, and its logprobs."""
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    logprobs = None
    for item in output:
        if item.get("type") == "function_call":
            message.setdefault("tool_calls", []).append(item_to_call(item))
            continue
        for part in item["content"]:
            if part["type"] == "refusal":
                message["refusal"] = part["refusal"]
                continue
            message["content"] = part["text"]
            if part.get("annotations"):
                message["annotations"] = [annotation_to_chat(entry) for entry in part["annotations"]]
            if part.get("logprobs"):
                logprobs = {"content": part["logprobs"], "refusal": None}
    return message, logprobs


def annotation_to_responses(annotation: dict[str, Any]) -> dict[str, Any]:
    """A citation, flat."""
    return {"type": "url_citation", **annotation["url_citation"]}


def annotation_to_chat(annotation: dict[str, Any]) -> dict[str, Any]:
    """A citation, nested."""
    return {"type": "url_citation", "url_citation": {key: v for key, v in annotation.items() if key != "type"}}


# ---------------------------------------------------------------- usage


def usage_to_responses(usage: dict[str, Any] | None) -> dict[str, Any] | None:
    """Token counts. Details that Responses requires and nobody gave are 0, and come back as not given."""
    if usage is None:
        return None
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": {
            "cached_tokens": detail(usage, "prompt_tokens_details", "cached_tokens"),
            # Not of the core, and required by the types of OpenAI's own API.
            "cache_write_tokens": detail(usage, "prompt_tokens_details", "cache_write_tokens"),
        },
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": detail(usage, "completion_tokens_details", "reasoning_tokens")},
        "total_tokens": usage["total_tokens"],
    }


def usage_to_chat(usage: dict[str, Any]) -> dict[str, Any]:
    return {
        "prompt_tokens": usage["input_tokens"],
        "completion_tokens": usage["output_tokens"],
        "total_tokens": usage["total_tokens"],
        "prompt_tokens_details": {
            "cached_tokens": detail(usage, "input_tokens_details", "cached_tokens"),
            **written(usage),
        },
        "completion_tokens_details": {"reasoning_tokens": detail(usage, "output_tokens_details", "reasoning_tokens")},
    }


def written(usage: dict[str, Any]) -> dict[str, int]:
    count = detail(usage, "input_tokens_details", "cache_write_tokens")
    return {"cache_write_tokens": count} if count else {}


def detail(usage: dict[str, Any], group: str, key: str) -> int:
    return (usage.get(group) or {}).get(key) or 0
