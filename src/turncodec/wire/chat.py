"""OpenAI Chat Completions, as sent and as stored.

Dict in, dict out. A key that is here may stand in a document; whether it can cross to the other format is not decided
here. Keys typed as `None` alone are those that client libraries write as null where they have nothing to say.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, Union

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from turncodec.wire.closed import Json, closed, open_ended

REASONING_KEYS = frozenset({"reasoning", "reasoning_content", "reasoning_details", "reasoning_text", "thinking"})
"""A provider's own keys for reasoning, on a message or a delta."""

# ---------------------------------------------------------------- content parts


@closed
class CacheBreakpoint(TypedDict):
    mode: Literal["explicit"]
    ttl: NotRequired[Literal["30m", "12h"]]


@closed
class TextPart(TypedDict):
    type: Literal["text"]
    text: str
    prompt_cache_breakpoint: NotRequired[CacheBreakpoint]


@closed
class RefusalPart(TypedDict):
    type: Literal["refusal"]
    refusal: str


@closed
class ImageUrl(TypedDict):
    url: str
    detail: NotRequired[Literal["auto", "low", "high", "original"]]


@closed
class ImagePart(TypedDict):
    type: Literal["image_url"]
    image_url: ImageUrl
    prompt_cache_breakpoint: NotRequired[CacheBreakpoint]


@closed
class InputAudio(TypedDict):
    data: str
    format: str


@closed
class AudioPart(TypedDict):
    type: Literal["input_audio"]
    input_audio: InputAudio
    prompt_cache_breakpoint: NotRequired[CacheBreakpoint]


@closed
class File(TypedDict):
    file_data: NotRequired[str]
    file_id: NotRequired[str]
    filename: NotRequired[str]


@closed
class FilePart(TypedDict):
    type: Literal["file"]
    file: File
    prompt_cache_breakpoint: NotRequired[CacheBreakpoint]


Part = Annotated[Union[TextPart, ImagePart, FilePart, AudioPart, RefusalPart], Field(discriminator="type")]
"""Every content part. Which role may hold which: `PARTS_OF_ROLE`."""

Content = Union[str, list[Part]]

PARTS_OF_ROLE: dict[str, frozenset[str]] = {
    "system": frozenset({"text"}),
    "developer": frozenset({"text"}),
    "user": frozenset({"text", "image_url", "file", "input_audio"}),
    "assistant": frozenset({"text", "refusal"}),
    "tool": frozenset({"text"}),
}

# ---------------------------------------------------------------- tool calls


@closed
class FunctionOfCall(TypedDict):
    name: str
    arguments: str


@closed
class FunctionCall(TypedDict):
    """One call. `type` may be missing and `index` may be there in stored data, so both are optional."""

    id: str
    type: NotRequired[Literal["function"]]
    function: FunctionOfCall
    index: NotRequired[int]


# ---------------------------------------------------------------- messages


@closed
class SystemMessage(TypedDict):
    role: Literal["system"]
    content: Content
    name: NotRequired[str | None]
    tool_calls: NotRequired[None]


@closed
class DeveloperMessage(TypedDict):
    role: Literal["developer"]
    content: Content
    name: NotRequired[str | None]
    tool_calls: NotRequired[None]


@closed
class UserMessage(TypedDict):
    role: Literal["user"]
    content: Content
    name: NotRequired[str | None]
    tool_calls: NotRequired[None]


@closed
class AudioReference(TypedDict):
    id: str


@closed
class LegacyFunctionCall(TypedDict):
    name: str
    arguments: str


@closed
class UrlCitation(TypedDict):
    start_index: int
    end_index: int
    url: str
    title: str


@closed
class Annotation(TypedDict):
    type: Literal["url_citation"]
    url_citation: UrlCitation


@closed
class AssistantMessage(TypedDict):
    role: Literal["assistant"]
    content: NotRequired[Content | None]
    refusal: NotRequired[str | None]
    tool_calls: NotRequired[list[FunctionCall] | None]
    name: NotRequired[str | None]
    audio: NotRequired[AudioReference | None]
    function_call: NotRequired[LegacyFunctionCall | None]
    annotations: NotRequired[list[Json] | None]
    """`Annotation` in the format; some servers have more."""
    weight: NotRequired[int]
    """Of fine-tuning files: 0 leaves the message out of training, 1 takes it in."""


@closed
class ToolMessage(TypedDict):
    role: Literal["tool"]
    content: Content
    tool_call_id: str
    name: NotRequired[str | None]
    tool_calls: NotRequired[None]


@closed
class FunctionMessage(TypedDict):
    """A result of the deprecated function calling, which knows names and no ids."""

    role: Literal["function"]
    content: str | None
    name: str


Message = Annotated[
    Union[SystemMessage, DeveloperMessage, UserMessage, AssistantMessage, ToolMessage, FunctionMessage],
    Field(discriminator="role"),
]

MESSAGE = TypeAdapter[Message](Message)
CITATION = TypeAdapter[Annotation](Annotation)

ROLES = ("system", "developer", "user", "assistant", "tool", "function")


# ---------------------------------------------------------------- requests


@closed
class FunctionDefinition(TypedDict):
    name: str
    description: NotRequired[str | None]
    parameters: NotRequired[dict[str, Json] | None]
    strict: NotRequired[bool | None]


@closed
class FunctionTool(TypedDict):
    """A tool definition; `type` may be missing in stored data."""

    type: NotRequired[Literal["function"]]
    function: FunctionDefinition


@closed
class NameOfFunction(TypedDict):
    name: str


@closed
class ForcedFunction(TypedDict):
    type: Literal["function"]
    function: NameOfFunction


@closed
class AllowedTools(TypedDict):
    mode: Literal["auto", "required"]
    tools: list[ForcedFunction]


@closed
class AllowedToolsChoice(TypedDict):
    type: Literal["allowed_tools"]
    allowed_tools: AllowedTools


ToolChoice = Annotated[Union[ForcedFunction, AllowedToolsChoice], Field(discriminator="type")]


@closed
class JsonSchema(TypedDict):
    name: str
    schema: NotRequired[dict[str, Json]]
    description: NotRequired[str]
    strict: NotRequired[bool | None]


@closed
class TextFormat(TypedDict):
    type: Literal["text"]


@closed
class JsonSchemaFormat(TypedDict):
    type: Literal["json_schema"]
    json_schema: JsonSchema


@closed
class JsonObjectFormat(TypedDict):
    type: Literal["json_object"]


ResponseFormat = Annotated[Union[TextFormat, JsonSchemaFormat, JsonObjectFormat], Field(discriminator="type")]


@closed
class StreamOptions(TypedDict):
    include_usage: NotRequired[bool | None]
    include_obfuscation: NotRequired[bool | None]


@closed
class LegacyFunction(TypedDict):
    name: str
    description: NotRequired[str]
    parameters: NotRequired[dict[str, Json]]


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


@closed
class Request(TypedDict):
    """The body of a request. The messages and tools are examined one by one, so that each fault has its place."""

    model: NotRequired[str]
    messages: list[Json]
    tools: NotRequired[list[Json] | None]
    tool_choice: NotRequired[Literal["none", "auto", "required"] | ToolChoice | None]
    parallel_tool_calls: NotRequired[bool | None]
    response_format: NotRequired[ResponseFormat | None]
    verbosity: NotRequired[Literal["low", "medium", "high"] | None]
    reasoning_effort: NotRequired[Effort | None]
    max_completion_tokens: NotRequired[int | None]
    max_tokens: NotRequired[int | None]
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    presence_penalty: NotRequired[float | None]
    frequency_penalty: NotRequired[float | None]
    logprobs: NotRequired[bool | None]
    top_logprobs: NotRequired[int | None]
    stream: NotRequired[bool | None]
    stream_options: NotRequired[StreamOptions | None]
    metadata: NotRequired[dict[str, str] | None]
    store: NotRequired[bool | None]
    service_tier: NotRequired[Literal["auto", "default", "flex", "scale", "priority", "fast"] | None]
    safety_identifier: NotRequired[str | None]
    prompt_cache_key: NotRequired[str | None]
    functions: NotRequired[list[LegacyFunction] | None]
    function_call: NotRequired[Literal["none", "auto"] | NameOfFunction | None]
    n: NotRequired[int | None]
    modalities: NotRequired[list[str] | None]
    stop: NotRequired[str | list[str] | None]
    seed: NotRequired[int | None]
    logit_bias: NotRequired[dict[str, int | float] | None]
    user: NotRequired[str | None]
    audio: NotRequired[Json]
    prediction: NotRequired[Json]
    web_search_options: NotRequired[Json]
    moderation: NotRequired[Json]
    prompt_cache_options: NotRequired[Json]
    prompt_cache_retention: NotRequired[str | None]


REQUEST = TypeAdapter[Request](Request)
TOOL = TypeAdapter[FunctionTool](FunctionTool)

# ---------------------------------------------------------------- completions


@closed
class TopLogProb(TypedDict):
    token: str
    logprob: float
    bytes: NotRequired[list[int] | None]


@closed
class LogProb(TypedDict):
    token: str
    logprob: float
    bytes: NotRequired[list[int] | None]
    top_logprobs: list[TopLogProb]


@closed
class ChoiceLogprobs(TypedDict):
    content: NotRequired[list[LogProb] | None]
    refusal: NotRequired[list[LogProb] | None]


@closed
class Choice(TypedDict):
    """One answer. Its message is examined as a message."""

    index: NotRequired[int]
    message: Json
    finish_reason: Literal["stop", "tool_calls", "length", "content_filter", "function_call"] | None
    logprobs: NotRequired[ChoiceLogprobs | None]


@closed
class PromptDetails(TypedDict):
    cached_tokens: NotRequired[int | None]
    audio_tokens: NotRequired[int | None]
    text_tokens: NotRequired[int | None]
    image_tokens: NotRequired[int | None]
    cache_write_tokens: NotRequired[int | None]


@closed
class CompletionDetails(TypedDict):
    reasoning_tokens: NotRequired[int | None]
    audio_tokens: NotRequired[int | None]
    text_tokens: NotRequired[int | None]
    image_tokens: NotRequired[int | None]
    accepted_prediction_tokens: NotRequired[int | None]
    rejected_prediction_tokens: NotRequired[int | None]


@closed
class Usage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: NotRequired[PromptDetails | None]
    completion_tokens_details: NotRequired[CompletionDetails | None]


@closed
class Completion(TypedDict):
    """The body of a response to a request: `chat.completion`."""

    id: str
    object: NotRequired[Literal["chat.completion"]]
    created: int
    model: str
    choices: list[Choice]
    usage: NotRequired[Usage | None]
    service_tier: NotRequired[str | None]
    system_fingerprint: NotRequired[str | None]
    metadata: NotRequired[dict[str, str] | None]
    moderation: NotRequired[Json]


COMPLETION = TypeAdapter[Completion](Completion)

# ---------------------------------------------------------------- chunks
#
# Of a fragment only that is checked which must be known to join it to the others. What the fragments amount to is a
# completion, and is examined as one.


@open_ended
class FunctionDelta(TypedDict):
    name: NotRequired[str | None]
    arguments: NotRequired[str | None]


@open_ended
class CallDelta(TypedDict):
    index: NotRequired[int | None]
    id: NotRequired[str | None]
    type: NotRequired[str | None]
    function: NotRequired[FunctionDelta | None]


@open_ended
class Delta(TypedDict):
    role: NotRequired[str | None]
    content: NotRequired[str | list[Json] | None]
    refusal: NotRequired[str | None]
    tool_calls: NotRequired[list[CallDelta] | None]
    function_call: NotRequired[FunctionDelta | None]


@open_ended
class LogprobsDelta(TypedDict):
    content: NotRequired[list[Json] | None]
    refusal: NotRequired[list[Json] | None]


@open_ended
class ChunkChoice(TypedDict):
    index: NotRequired[int | None]
    delta: NotRequired[Delta | None]
    finish_reason: NotRequired[str | None]
    logprobs: NotRequired[LogprobsDelta | None]


@open_ended
class Chunk(TypedDict):
    """One event of a stream: `chat.completion.chunk`."""

    id: NotRequired[str | None]
    object: NotRequired[str | None]
    created: NotRequired[int | None]
    model: NotRequired[str | None]
    choices: NotRequired[list[ChunkChoice] | None]
    usage: NotRequired[dict[str, Json] | None]


CHUNK = TypeAdapter[Chunk](Chunk)
DELTA = TypeAdapter[Delta](Delta)
