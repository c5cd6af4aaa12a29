"""The events of a stream of Open Responses: pydantic types, no logic.

The specification requires `sequence_number`, `item_id` and `output_index`. Some servers leave out one of them, which
is no loss where another one tells the item, so that each may be absent here. Items, parts and responses are examined
when they are whole.
"""

from __future__ import annotations

from typing import NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from turncodec.wire.closed import Json, closed


@closed
class StateEvent(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    response: dict[str, Json]


@closed
class ItemEvent(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    output_index: NotRequired[int]
    item: dict[str, Json]


@closed
class PartEvent(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    item_id: NotRequired[str | None]
    output_index: NotRequired[int]
    content_index: int
    part: dict[str, Json]


@closed
class SummaryPartEvent(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    item_id: NotRequired[str | None]
    output_index: NotRequired[int]
    summary_index: int
    part: dict[str, Json]


@closed
class AnnotationEvent(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    item_id: NotRequired[str | None]
    output_index: NotRequired[int]
    content_index: int
    annotation_index: NotRequired[int]
    annotation: dict[str, Json] | None


@closed
class ContentDelta(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    item_id: NotRequired[str | None]
    output_index: NotRequired[int]
    content_index: int
    delta: str
    logprobs: NotRequired[list[Json] | None]
    obfuscation: NotRequired[str | None]


@closed
class TextDone(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    item_id: NotRequired[str | None]
    output_index: NotRequired[int]
    content_index: int
    text: str
    logprobs: NotRequired[list[Json] | None]


@closed
class RefusalDone(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    item_id: NotRequired[str | None]
    output_index: NotRequired[int]
    content_index: int
    refusal: str


@closed
class SummaryDelta(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    item_id: NotRequired[str | None]
    output_index: NotRequired[int]
    summary_index: int
    delta: str
    obfuscation: NotRequired[str | None]


@closed
class SummaryDone(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    item_id: NotRequired[str | None]
    output_index: NotRequired[int]
    summary_index: int
    text: str


@closed
class ArgumentsDelta(TypedDict):
    type: str
    sequence_number: NotRequired[int]
    item_id: NotRequired[str | None]
    output_index: NotRequired[int]
    delta: str
    obfuscation: NotRequired[str | None]


@closed
class ArgumentsDone(TypedDict):
    """The specification gives it no name; OpenAI's own API does."""

    type: str
    sequence_number: NotRequired[int]
    item_id: NotRequired[str | None]
    output_index: NotRequired[int]
    arguments: str
    name: NotRequired[str | None]


@closed
class ErrorEvent(TypedDict):
    """The specification nests what went wrong under `error`; OpenAI's own API says it flat."""

    type: str
    sequence_number: NotRequired[int]
    error: NotRequired[dict[str, Json] | str | None]
    code: NotRequired[str | None]
    message: NotRequired[str | None]
    param: NotRequired[str | None]


def _events() -> dict[str, TypeAdapter[Json]]:
    content = ("response.output_text", "response.refusal", "response.reasoning", "response.reasoning_text")
    summary = ("response.reasoning_summary_text", "response.reasoning_summary")
    states = ("created", "queued", "in_progress", "completed", "failed", "incomplete")
    parts = ("response.content_part", "response.reasoning_part")
    rows: list[tuple[str, type]] = [
        *((f"response.{state}", StateEvent) for state in states),
        *((f"response.output_item.{end}", ItemEvent) for end in ("added", "done")),
        *((f"{part}.{end}", PartEvent) for part in parts for end in ("added", "done")),
        *((f"response.reasoning_summary_part.{end}", SummaryPartEvent) for end in ("added", "done")),
        *((f"{name}.delta", ContentDelta) for name in content),
        *((f"{name}.done", RefusalDone if name == "response.refusal" else TextDone) for name in content),
        *((f"{name}.delta", SummaryDelta) for name in summary),
        *((f"{name}.done", SummaryDone) for name in summary),
        ("response.output_text.annotation.added", AnnotationEvent),
        ("response.function_call_arguments.delta", ArgumentsDelta),
        ("response.function_call_arguments.done", ArgumentsDone),
        ("error", ErrorEvent),
    ]
    return {name: TypeAdapter(shape) for name, shape in rows}


EVENT = _events()
"""The shape of each event by its type; of those for reasoning in both spellings."""
