"""The other parameters of a request: one table, read in both directions.

A row names a parameter on each side; a dot reaches into an object (`reasoning.effort`). A parameter without a partner
stands in the table too, with nothing on the other side, so that each parameter of both formats is accounted for. What
is left out of a format is not the same as null there: `null` says on which sides null may stand for "no value given";
where only one side has it, null is a way to say nothing, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from turncodec.mapping.tools import choice_to_chat, choice_to_responses, tool_to_chat, tool_to_responses


@dataclass(frozen=True, slots=True)
class Parameter:
    """One row of the table.

    `mark` is `=` where the value goes across as it is or re-nested, `~` where a rule is needed, `x` where there is no
    partner. `neutral` are values that say no more than leaving the parameter out.
    """

    chat: str = ""
    responses: str = ""
    mark: str = "="
    null: str = ""
    neutral: tuple[Any, ...] = ()
    note: str = ""


def same(name: str, null: str = "", note: str = "") -> Parameter:
    return Parameter(name, name, "=", null, (), note)


def chat_only(name: str, *neutral: Any, note: str = "") -> Parameter:
    return Parameter(name, "", "x", "", neutral, note)


def responses_only(name: str, *neutral: Any, note: str = "") -> Parameter:
    return Parameter("", name, "x", "", neutral, note)


PARAMETERS: tuple[Parameter, ...] = (
    same("model", note="null in Responses is left out"),
    Parameter("messages", "input", "~", note="a string is one user message"),
    Parameter("messages", "instructions", "~", note="a system message in front"),
    Parameter("tools", "tools", "~", note="nested <-> flat; `strict` is said where the defaults differ"),
    Parameter("tool_choice", "tool_choice", "~", note="nested <-> flat"),
    same("parallel_tool_calls"),
    Parameter("response_format", "text.format", "~", note="text and json_schema; json_object has no partner"),
    Parameter("verbosity", "text.verbosity"),
    Parameter("reasoning_effort", "reasoning.effort", null="both", note="minimal and max have no partner"),
    Parameter("max_completion_tokens", "max_output_tokens", null="both", note="at least 16"),
    Parameter("max_tokens", "max_output_tokens", "~", note="the older name; the remainder restores it"),
    same("temperature", "both"),
    same("top_p", "both"),
    same("presence_penalty", "both"),
    same("frequency_penalty", "both"),
    Parameter("logprobs", "include[message.output_text.logprobs]", "~", note="false is left out"),
    same("top_logprobs", "both", note="0 to 20, with logprobs"),
    same("stream"),
    same("stream_options.include_obfuscation"),
    same("metadata", "both", note="at most 16 keys of 64 characters, values of 512"),
    same("store"),
    same("service_tier", note="auto, default, flex, priority"),
    same("safety_identifier", "both", note="at most 64 characters"),
    same("prompt_cache_key", "both", note="at most 64 characters"),
    Parameter("functions", "tools", "~", note="deprecated: `legacy_function`"),
    Parameter("function_call", "tool_choice", "~", note="deprecated: `legacy_function`"),
    chat_only("n", 1, note="one answer is what Responses gives"),
    chat_only("modalities", ["text"]),
    chat_only("stream_options.include_usage", note="Responses always reports usage"),
    chat_only("stop"),
    chat_only("seed"),
    chat_only("logit_bias", {}),
    chat_only("user"),
    chat_only("audio"),
    chat_only("prediction"),
    chat_only("web_search_options"),
    chat_only("moderation"),
    chat_only("prompt_cache_options"),
    chat_only("prompt_cache_retention"),
    responses_only("reasoning.summary"),
    responses_only("include[reasoning.encrypted_content]"),
    responses_only("max_tool_calls"),
    responses_only("previous_response_id", note="the earlier turns are on the server"),
    responses_only("truncation", "disabled"),
    responses_only("background", False),
    # What OpenAI's own Responses API adds; a request that has it says something that the core cannot.
    responses_only("access_programs"),
    responses_only("background_options"),
    responses_only("context_management"),
    responses_only("conversation"),
    responses_only("image"),
    responses_only("moderation"),
    responses_only("prompt"),
    responses_only("prompt_cache_options"),
    responses_only("prompt_cache_retention"),
    responses_only("user"),
)

LOGPROBS = "message.output_text.logprobs"

Value = dict[str, Any]

# ---------------------------------------------------------------- formats of the answer


def format_to_responses(form: Value) -> Value:
    """`response_format` as `text.format`: a schema with its name and flags is nested in Chat and flat in Responses."""
    if form["type"] == "text":
        return {"type": "text"}
    return {"type": "json_schema", **form["json_schema"]}


def format_to_chat(form: Value) -> Value:
    if form["type"] == "text":
        return {"type": "text"}
    schema = {key: value for key, value in form.items() if key != "type" and (value is not None or key == "strict")}
    return {"type": "json_schema", "json_schema": schema}


# ---------------------------------------------------------------- the parameters with a rule of their own

CONVERT: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "tools": (
        lambda tools: [tool_to_responses(tool) for tool in tools],
        lambda tools: [tool_to_chat(tool) for tool in tools],
    ),
    "tool_choice": (choice_to_responses, choice_to_chat),
    "response_format": (format_to_responses, format_to_chat),
}
"""By Chat's name: to Responses, to Chat."""


def crossing(row: Parameter) -> bool:
    """Whether a row is carried by the generic rule: one value here, one value there."""
    return row.mark == "=" or row.chat in CONVERT


CROSSING = tuple(row for row in PARAMETERS if crossing(row))


def parameters_to_responses(request: Value) -> Value:
    """Everything of a Chat request but its messages."""
    out: Value = {}
    for row in CROSSING:
        value = get(request, row.chat)
        if value is MISSING or (value is None and row.null != "both"):
            continue
        put(out, row.responses, CONVERT[row.chat][0](value) if row.chat in CONVERT else value)
    if "max_output_tokens" not in out and request.get("max_tokens") is not None:
        out["max_output_tokens"] = request["max_tokens"]
    if request.get("logprobs"):
        out["include"] = [LOGPROBS]
    return out


def parameters_to_chat(request: Value) -> Value:
    """Everything of a Responses request but its input and instructions."""
    out: Value = {}
    for row in CROSSING:
        value = get(request, row.responses)
        if value is MISSING or (value is None and row.null != "both"):
            continue
        put(out, row.chat, CONVERT[row.chat][1](value) if row.chat in CONVERT else value)
    if LOGPROBS in (request.get("include") or ()):
        out["logprobs"] = True
    elif out.get("top_logprobs") == 0:
        del out["top_logprobs"]  # Chat takes it only beside logprobs, and it asks for nothing
    return out


MISSING = object()


def get(request: Value, name: str) -> Any:
    """The value at a dotted name, or MISSING."""
    value: Any = request
    for step in name.split("."):
        if not isinstance(value, dict) or step not in value:
            return MISSING
        value = value[step]
    return value


def put(request: Value, name: str, value: Any) -> None:
    *way, last = name.split(".")
    for step in way:
        request = request.setdefault(step, {})
    request[last] = value
