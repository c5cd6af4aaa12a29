"""OpenAI Chat Completions, as sent and as stored.

Dict in, dict out. A key that is here may stand in a document; whether it can cross to the other format is not decided
here. Keys typed as `None` alone are those that client libraries write as null where they have nothing to say.
"""

from __future__ import annotations

from typing import Annotated, Literal, Union

from pydantic import Field, TypeAdapter
from typing_extensions import NotRequired, TypedDict

from turncodec.wire.closed import Json, closed

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
    annotations: NotRequired[list[Annotation] | None]
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
MESSAGES = TypeAdapter[list[Message]](list[Message])

ROLES = ("system", "developer", "user", "assistant", "tool", "function")

__all__ = ["MESSAGE", "MESSAGES", "PARTS_OF_ROLE", "ROLES", "Json"]
