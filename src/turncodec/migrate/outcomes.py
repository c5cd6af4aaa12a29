"""What becomes of one record. Bytes in, an outcome out; never an exception, whatever the bytes are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from turncodec import edge, translate
from turncodec.lines import LINE_PRESETS
from turncodec.migrate.batch import Requests, is_answer
from turncodec.refusals import Finding, Refusal, Refused, pointer, raise_all
from turncodec.request import settings_from
from turncodec.translate import Translation

DIRECTIONS: dict[str, Callable[..., Translation]] = {"responses": translate.to_responses, "chat": translate.to_chat}
OPPOSITE = {"responses": "chat", "chat": "responses"}
RENAMED = {"responses": ("messages", "input"), "chat": ("input", "messages")}
"""What a list of turns was called, and is called when it has been translated to a format; any other name stays."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How each record of a run is to be translated."""

    to: str
    kind: str | None = None
    allow: frozenset[str] = frozenset()
    at: str | None = None
    request_at: str | None = None
    response_at: str | None = None
    requests: Requests | None = None
    """The input of the batch whose output is translated to Responses, where it is at hand."""

    def back(self) -> Settings:
        """The settings of the way back."""
        at = self.at
        if at:
            holder, _, key = at.rpartition("/")
            old, new = RENAMED[self.to]
            at = f"{holder}/{new if key == old else key}"
        return Settings(OPPOSITE[self.to], self.kind, frozenset(), at, self.request_at, self.response_at)


class Translated(NamedTuple):
    """The translated record, and the remainder where it has one. `is_unasked`: it is an answer whose request is not
    among those of its batch, so that its settings are the defaults."""

    data: bytes
    remainder: dict[str, Any] | None
    is_unasked: bool = False


class PassedThrough(NamedTuple):
    """The record as it was: it is in the target's format already, or says nothing in either, as an error does."""

    data: bytes


class Stopped(NamedTuple):
    """The record cannot go across."""

    refusals: tuple[Refusal, ...]


Outcome = Translated | PassedThrough | Stopped


def outcome(data: bytes, settings: Settings, remainder: dict[str, Any] | None = None) -> Outcome:
    """Translate one record. `remainder` is the one that was stored beside it, when a record is restored."""
    return guarded(data, lambda: translated(data, settings, remainder))


def guarded(data: bytes, make: Callable[[], Outcome]) -> Outcome:
    """What is made of a record, whatever exception there is on the way."""
    try:
        return make()
    except Refused as refused:
        if {refusal.code for refusal in refused.refusals} == {"wrong_direction"}:
            return PassedThrough(data)
        return Stopped(refused.refusals)
    except Exception as fault:  # a fault of ours in one record must not take a million others with it
        said = f"a fault of turncodec: {type(fault).__name__}: {fault}"
        return Stopped((Finding("not_reversible", (), f"{said:.300}").refusal(),))


def translated(data: bytes, settings: Settings, remainder: dict[str, Any] | None) -> Outcome:
    """The same, with whatever exception there is. Raises `Refused` where the record cannot go across."""
    document = read(data, settings)
    made, is_unasked = made_of(document, settings, remainder)
    if made.document is document:
        return PassedThrough(data)
    return Translated(written(made.document, settings), made.remainder, is_unasked)


def made_of(document: Any, settings: Settings, remainder: dict[str, Any] | None) -> tuple[Translation, bool]:
    """The translation of a document, and whether it is an answer whose request is not at hand. Raises `Refused`."""
    request = settings.requests.of(document) if settings.requests else None
    given: dict[str, Any] = {} if request is None else {"request": request}
    places = {"at": settings.at, "request_at": settings.request_at, "response_at": settings.response_at}
    to = DIRECTIONS[settings.to]
    try:
        made = to(document, settings.kind, settings.allow, remainder=remainder, **places, **given)
    except Refused:
        if request is not None:
            raise_all(in_request(request))
        raise
    return made, settings.requests is not None and request is None and is_answer(document)


def in_request(request: Any) -> list[Finding]:
    """Why a request has no settings to echo; all at the whole of the answer, since they stand in another file."""
    try:
        settings_from(request)
    except Refused as refused:
        return [in_file(found) for found in refused.findings]
    return []


def in_file(found: Finding) -> Finding:
    said = f"in its request, at {pointer(found.path)}: {found.message}"
    return Finding(found.code, (), said, None, allowable=False, hint=found.hint)


def read(data: bytes, settings: Settings) -> Any:
    """The document of a record; of a kind whose lines are turns, the list of its lines."""
    if settings.kind not in LINE_PRESETS:
        return edge.decode(data)
    faults: list[Finding] = []
    lines: list[Any] = []
    for line in data.split(b"\n"):
        try:
            if line.strip():
                lines.append(edge.decode(line))
        except Refused as refused:
            faults += [finding.under((len(lines),)) for finding in refused.findings]
            lines.append(None)
    raise_all(faults)
    return lines


def written(document: Any, settings: Settings) -> bytes:
    """The bytes of a translated document, as `read` reads them."""
    if settings.kind in LINE_PRESETS:
        return b"\n".join(map(edge.encode, document))
    return edge.encode(document)
