"""Open Responses 2026-04-24, core: the items and parts that a request may hold, and those that a response holds.

The two shapes differ on purpose (specification, "Items"): on the way in most keys are optional and content may be a
string; a response has every key. Items of other types are known here by name only, so that they can be refused by
name. Keys typed as `None` alone are those that client libraries write as null where they have nothing to say.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, Union

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from turncodec.wire.closed import Json, closed

Status = Literal["in_progress", "completed", "incomplete"]

# ---------------------------------------------------------------- content parts


@closed
class CacheBreakpoint(TypedDict):
    mode: Literal["explicit"]
    ttl: NotRequired[Literal["30m", "12h"]]


@closed
class InputText(TypedDict):
    type: Literal["input_text"]
    text: str
    prompt_cache_breakpoint: NotRequired[CacheBreakpoint]


@closed
class InputImage(TypedDict):
    type: Literal["input_image"]
    image_url: NotRequired[str | None]
    detail: NotRequired[Literal["low", "high", "auto", "original"] | None]
    file_id: NotRequired[str | None]


@closed
class InputFile(TypedDict):
    type: Literal["input_file"]
    filename: NotRequired[str | None]
    file_data: NotRequired[str | None]
    file_url: NotRequired[str | None]
    file_id: NotRequired[str | None]


@closed
class InputVideo(TypedDict):
    type: Literal["input_video"]
    video_url: str


@closed
class UrlCitation(TypedDict):
    type: Literal["url_citation"]
    url: str
    title: str
    start_index: int
    end_index: int


@closed
class TopLogProb(TypedDict):
    token: str
    logprob: float
    bytes: list[int]


@closed
class LogProb(TypedDict):
    token: str
    logprob: float
    bytes: list[int]
    top_logprobs: list[TopLogProb]


@closed
class OutputText(TypedDict):
    type: Literal["output_text"]
    text: str
    annotations: NotRequired[list[Json] | None]
    """`UrlCitation` in the core; OpenAI's own API has more."""
    logprobs: NotRequired[list[LogProb] | None]


@closed
class Refusal(TypedDict):
    type: Literal["refusal"]
    refusal: str


Part = Annotated[Union[InputText, OutputText, Refusal, InputImage, InputFile, InputVideo], Field(discriminator="type")]
"""Every content part of the input. Which role may hold which: `PARTS_OF_ROLE`."""

Content = Union[str, list[Part]]

PARTS_OF_ROLE: dict[str, frozenset[str]] = {
    "user": frozenset({"input_text", "input_image", "input_file"}),
    "system": frozenset({"input_text"}),
    "developer": frozenset({"input_text"}),
    "assistant": frozenset({"output_text", "refusal"}),
    "output": frozenset({"input_text", "input_image", "input_file", "input_video"}),
}
"""Part types by role of the message; `output` stands for the output of a function call."""

# ---------------------------------------------------------------- items


@closed
class Message(TypedDict):
    """A message of any of the four roles; `type` may be missing in stored data."""

    type: NotRequired[Literal["message"]]
    role: Literal["user", "system", "developer", "assistant"]
    content: Content
    id: NotRequired[str | None]
    status: NotRequired[str | None]
    phase: NotRequired[Literal["commentary", "final_answer"] | None]


@closed
class FunctionCall(TypedDict):
    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str
    id: NotRequired[str | None]
    status: NotRequired[Status | None]
    namespace: NotRequired[str | None]
    caller: NotRequired[Json]
    created_by: NotRequired[None]


@closed
class FunctionCallOutput(TypedDict):
    type: Literal["function_call_output"]
    call_id: str
    output: Content
    id: NotRequired[str | None]
    status: NotRequired[Status | None]
    namespace: NotRequired[str | None]
    name: NotRequired[None]
    caller: NotRequired[Json]
    created_by: NotRequired[None]


@closed
class SummaryText(TypedDict):
    type: Literal["summary_text"]
    text: str


@closed
class Reasoning(TypedDict):
    """A reasoning item. `content` is null in a request and a list in a response; `encrypted_content` is opaque."""

    type: Literal["reasoning"]
    summary: list[SummaryText]
    id: NotRequired[str | None]
    content: NotRequired[list[Json] | None]
    encrypted_content: NotRequired[str | None]
    status: NotRequired[Status | None]


@closed
class Compaction(TypedDict):
    type: Literal["compaction"]
    encrypted_content: str
    id: NotRequired[str | None]
    created_by: NotRequired[str | None]


@closed
class ItemReference(TypedDict):
    type: NotRequired[Literal["item_reference"] | None]
    id: str


MESSAGE = TypeAdapter[Message](Message)

CITATION = TypeAdapter[UrlCitation](UrlCitation)

ITEM: dict[str, TypeAdapter[Json]] = {
    "message": MESSAGE,
    "function_call": TypeAdapter(FunctionCall),
    "function_call_output": TypeAdapter(FunctionCallOutput),
    "reasoning": TypeAdapter(Reasoning),
    "compaction": TypeAdapter(Compaction),
    "item_reference": TypeAdapter(ItemReference),
}
"""The core items by type."""

ELSEWHERE = frozenset({
    "additional_tools",
    "apply_patch_call", "apply_patch_call_output",
    "code_interpreter_call",
    "compaction_trigger",
    "computer_call", "computer_call_output",
    "configuration_update",
    "custom_tool_call", "custom_tool_call_output",
    "file_search_call",
    "image_generation_call",
    "local_shell_call", "local_shell_call_output",
    "mcp_approval_request", "mcp_approval_response", "mcp_call", "mcp_list_tools",
    "program", "program_output",
    "shell_call", "shell_call_output",
    "tool_search_call", "tool_search_output",
    "web_search_call",
})  # fmt: skip
"""Item types that OpenAI's own API has and the core has not."""

# ---------------------------------------------------------------- requests


@closed
class FunctionTool(TypedDict):
    type: Literal["function"]
    name: str
    description: NotRequired[str | None]
    parameters: NotRequired[dict[str, Json] | None]
    strict: NotRequired[bool | None]


@closed
class ForcedFunction(TypedDict):
    type: Literal["function"]
    name: str


@closed
class AllowedToolsChoice(TypedDict):
    type: Literal["allowed_tools"]
    tools: list[ForcedFunction]
    mode: NotRequired[Literal["none", "auto", "required"] | None]


ToolChoice = Annotated[Union[ForcedFunction, AllowedToolsChoice], Field(discriminator="type")]


@closed
class TextFormat(TypedDict):
    type: Literal["text"]


@closed
class JsonSchemaFormat(TypedDict):
    type: Literal["json_schema"]
    name: str
    schema: NotRequired[dict[str, Json] | None]
    description: NotRequired[str | None]
    strict: NotRequired[bool | None]


@closed
class JsonObjectFormat(TypedDict):
    type: Literal["json_object"]


Format = Annotated[Union[TextFormat, JsonSchemaFormat, JsonObjectFormat], Field(discriminator="type")]


@closed
class TextSettings(TypedDict):
    format: NotRequired[Format | None]
    verbosity: NotRequired[Literal["low", "medium", "high"] | None]


@closed
class ReasoningSettings(TypedDict):
    effort: NotRequired[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None]
    summary: NotRequired[Literal["concise", "detailed", "auto"] | None]


@closed
class StreamOptions(TypedDict):
    include_obfuscation: NotRequired[bool | None]


@closed
class Request(TypedDict):
    """The body of a request. Items and tools are examined one by one, so that each fault has its place. The keys of
    OpenAI's own API stand here so that they can be refused by name."""

    model: NotRequired[str | None]
    input: str | list[Json]
    instructions: NotRequired[str | None]
    tools: NotRequired[list[Json] | None]
    tool_choice: NotRequired[Literal["none", "auto", "required"] | ToolChoice | None]
    parallel_tool_calls: NotRequired[bool | None]
    text: NotRequired[TextSettings | None]
    reasoning: NotRequired[ReasoningSettings | None]
    max_output_tokens: NotRequired[int | None]
    max_tool_calls: NotRequired[int | None]
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    presence_penalty: NotRequired[float | None]
    frequency_penalty: NotRequired[float | None]
    include: NotRequired[list[str] | None]
    top_logprobs: NotRequired[int | None]
    stream: NotRequired[bool | None]
    stream_options: NotRequired[StreamOptions | None]
    metadata: NotRequired[dict[str, str] | None]
    store: NotRequired[bool | None]
    background: NotRequired[bool | None]
    truncation: NotRequired[Literal["auto", "disabled"] | None]
    service_tier: NotRequired[Literal["auto", "default", "flex", "scale", "priority", "fast"] | None]
    safety_identifier: NotRequired[str | None]
    prompt_cache_key: NotRequired[str | None]
    previous_response_id: NotRequired[str | None]
    access_programs: NotRequired[Json]
    background_options: NotRequired[Json]
    context_management: NotRequired[Json]
    conversation: NotRequired[Json]
    image: NotRequired[Json]
    moderation: NotRequired[Json]
    prompt: NotRequired[Json]
    prompt_cache_options: NotRequired[Json]
    prompt_cache_retention: NotRequired[Json]
    user: NotRequired[str | None]


REQUEST = TypeAdapter[Request](Request)
TOOL = TypeAdapter[FunctionTool](FunctionTool)

# ---------------------------------------------------------------- responses


@closed
class InputDetails(TypedDict):
    cached_tokens: NotRequired[int | None]
    audio_tokens: NotRequired[int | None]
    text_tokens: NotRequired[int | None]
    image_tokens: NotRequired[int | None]
    cache_write_tokens: NotRequired[int | None]


@closed
class OutputDetails(TypedDict):
    reasoning_tokens: NotRequired[int | None]
    audio_tokens: NotRequired[int | None]
    text_tokens: NotRequired[int | None]
    image_tokens: NotRequired[int | None]


@closed
class Usage(TypedDict):
    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: NotRequired[InputDetails | None]
    output_tokens_details: NotRequired[OutputDetails | None]


@closed
class IncompleteDetails(TypedDict):
    reason: str | None


@closed
class Error(TypedDict):
    code: str
    message: str


@closed
class Response(TypedDict):
    """The response object. The specification requires 31 properties; stored ones often lack some, and what only
    echoes the request is not needed to read the answer, so that it may be missing and have any value."""

    id: str
    object: Literal["response"]
    created_at: int | float
    model: str
    output: list[Json]
    status: str
    completed_at: NotRequired[int | float | None]
    error: NotRequired[Error | None]
    incomplete_details: NotRequired[IncompleteDetails | None]
    usage: NotRequired[Usage | None]
    service_tier: NotRequired[str | None]
    metadata: NotRequired[dict[str, str] | None]
    # The echo of the request.
    instructions: NotRequired[Json]
    tools: NotRequired[Json]
    tool_choice: NotRequired[Json]
    parallel_tool_calls: NotRequired[Json]
    text: NotRequired[Json]
    reasoning: NotRequired[Json]
    temperature: NotRequired[Json]
    top_p: NotRequired[Json]
    presence_penalty: NotRequired[Json]
    frequency_penalty: NotRequired[Json]
    top_logprobs: NotRequired[Json]
    truncation: NotRequired[Json]
    store: NotRequired[Json]
    background: NotRequired[Json]
    max_output_tokens: NotRequired[Json]
    max_tool_calls: NotRequired[Json]
    previous_response_id: NotRequired[Json]
    safety_identifier: NotRequired[Json]
    prompt_cache_key: NotRequired[Json]
    # The echo of what only OpenAI's own API takes, or echoes.
    input: NotRequired[Json]
    conversation: NotRequired[Json]
    prompt: NotRequired[Json]
    prompt_cache_options: NotRequired[Json]
    prompt_cache_retention: NotRequired[Json]
    user: NotRequired[Json]
    moderation: NotRequired[Json]


RESPONSE = TypeAdapter[Response](Response)

# ---------------------------------------------------------------- what a server writes
#
# The shapes of a response have every key, and more kinds of parts ("Items", output). What is read is held against the
# lenient types above, since stored responses lack some; what is written must be of these.


@closed
class WrittenText(TypedDict):
    """A part with a text; each of these types is one of its own in the specification."""

    type: Literal["input_text", "text", "summary_text", "reasoning_text"]
    text: str


@closed
class WrittenOutputText(TypedDict):
    type: Literal["output_text"]
    text: str
    annotations: list[UrlCitation]
    logprobs: NotRequired[list[LogProb]]


@closed
class WrittenImage(TypedDict):
    type: Literal["input_image"]
    image_url: str | None
    detail: Literal["low", "high", "auto"]


@closed
class WrittenFile(TypedDict):
    type: Literal["input_file"]
    filename: NotRequired[str]
    file_url: NotRequired[str]


WrittenPart = Annotated[
    Union[WrittenText, WrittenOutputText, Refusal, WrittenImage, WrittenFile, InputVideo], Field(discriminator="type")
]


@closed
class WrittenMessage(TypedDict):
    type: Literal["message"]
    id: str
    status: Status
    role: Literal["user", "assistant", "system", "developer"]
    content: list[WrittenPart]
    phase: NotRequired[Literal["commentary", "final_answer"]]


@closed
class WrittenFunctionCall(TypedDict):
    type: Literal["function_call"]
    id: str
    call_id: str
    name: str
    arguments: str
    status: Status


@closed
class WrittenFunctionCallOutput(TypedDict):
    type: Literal["function_call_output"]
    id: str
    call_id: str
    output: str | list[WrittenPart]
    status: Status


@closed
class WrittenReasoning(TypedDict):
    type: Literal["reasoning"]
    id: str
    summary: list[WrittenPart]
    content: NotRequired[list[WrittenPart]]
    encrypted_content: NotRequired[str]


@closed
class WrittenCompaction(TypedDict):
    type: Literal["compaction"]
    id: str
    encrypted_content: str
    created_by: NotRequired[str]


WrittenItem = Annotated[
    Union[WrittenMessage, WrittenFunctionCall, WrittenFunctionCallOutput, WrittenReasoning, WrittenCompaction],
    Field(discriminator="type"),
]


@closed
class WrittenTool(TypedDict):
    type: Literal["function"]
    name: str
    description: str | None
    parameters: dict[str, Json] | None
    strict: bool | None


@closed
class WrittenAllowedTools(TypedDict):
    type: Literal["allowed_tools"]
    tools: list[ForcedFunction]
    mode: Literal["none", "auto", "required"]


@closed
class WrittenJsonSchema(TypedDict):
    type: Literal["json_schema"]
    name: str
    description: str | None
    schema: None
    strict: bool


@closed
class WrittenTextSettings(TypedDict):
    format: Annotated[Union[TextFormat, JsonObjectFormat, WrittenJsonSchema], Field(discriminator="type")]
    verbosity: NotRequired[Literal["low", "medium", "high"]]


@closed
class WrittenReasoningSettings(TypedDict):
    effort: Literal["none", "low", "medium", "high", "xhigh"] | None
    summary: Literal["concise", "detailed", "auto"] | None


@closed
class WrittenInputDetails(TypedDict):
    cached_tokens: int
    cache_write_tokens: NotRequired[int]


@closed
class WrittenOutputDetails(TypedDict):
    reasoning_tokens: int


@closed
class WrittenUsage(TypedDict):
    input_tokens: int
    input_tokens_details: WrittenInputDetails
    output_tokens: int
    output_tokens_details: WrittenOutputDetails
    total_tokens: int


@closed
class WrittenIncompleteDetails(TypedDict):
    reason: str


@closed
class WrittenResponse(TypedDict):
    """`ResponseResource`: all of it is required."""

    id: str
    object: Literal["response"]
    created_at: int
    completed_at: int | None
    status: str
    incomplete_details: WrittenIncompleteDetails | None
    model: str
    previous_response_id: str | None
    instructions: str | None
    output: list[WrittenItem]
    error: Error | None
    tools: list[WrittenTool]
    tool_choice: (
        Literal["none", "auto", "required"]
        | Annotated[Union[ForcedFunction, WrittenAllowedTools], Field(discriminator="type")]
    )
    truncation: Literal["auto", "disabled"]
    parallel_tool_calls: bool
    text: WrittenTextSettings
    top_p: float
    presence_penalty: float
    frequency_penalty: float
    top_logprobs: int
    temperature: float
    reasoning: WrittenReasoningSettings | None
    usage: WrittenUsage | None
    max_output_tokens: int | None
    max_tool_calls: int | None
    store: bool
    background: bool
    service_tier: str
    metadata: dict[str, str]
    safety_identifier: str | None
    prompt_cache_key: str | None


WRITTEN_RESPONSE = TypeAdapter[WrittenResponse](WrittenResponse)
WRITTEN_ITEM = TypeAdapter[WrittenItem](WrittenItem)
