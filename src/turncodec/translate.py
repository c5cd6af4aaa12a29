"""The four steps: validate, allow, map, prove. The same for both directions and for every kind of document."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from turncodec.documents import PRESETS, Layout, Preset, format_of, layout_of, put_at
from turncodec.equality import DEEPEST, same
from turncodec.formats import CHAT, RESPONSES, Format
from turncodec.refusals import (
    Finding,
    Path,
    Refusal,
    Refused,
    allowed_codes,
    follow,
    path_of,
    pointer,
    raise_all,
    refused,
)
from turncodec.remainder import Remainder, apply, difference, read_remainder, restore, spoken_of
from turncodec.request import settings_from
from turncodec.transcript import NotReversible, Transcript

Json = Any


@dataclass(frozen=True, slots=True)
class Translation:
    """`document` is the translated JSON value; `remainder` a JSON object to store beside it, or None when the
    document alone comes back exactly."""

    document: Json
    remainder: dict[str, Any] | None = None


def to_responses(
    document: Json,
    kind: str | None = None,
    allow: str | Collection[str] = (),
    request: Json = None,
    *,
    at: str | None = None,
    request_at: str | None = None,
    response_at: str | None = None,
    remainder: dict[str, Any] | None = None,
) -> Translation:
    """Translate a Chat Completions document into Open Responses.

    `document` is a list of messages, an object with `messages` (a request, or a row with other columns), a
    `chat.completion`, a line of a batch file, or an object with the list at the JSON pointer `at`. `kind` says what it
    is where that cannot be seen: one of `turncodec.KINDS`. `allow` names refusal codes to let through, or `"all"`.
    `request` is the request (of either format) that a completion answers: a response echoes its settings, and has
    defaults without it. `remainder` is what `to_chat` gave beside this document: with it the original comes back
    exactly. `request_at` and `response_at` say where a row has a request and its answer, which are then translated
    together.

    Returns a `Translation`. Raises `Refused` with every reason, and ValueError or TypeError only for an argument that
    is wrong in itself (an unknown code or kind, a malformed pointer). The input is not changed.

    The mapping is that of the specification digest, section g.
    """
    settings = {} if request is None else settings_from(plain(request))
    return translate(document, CHAT, kind, allow, at, remainder, settings, places(request_at, response_at))


def to_chat(
    document: Json,
    kind: str | None = None,
    allow: str | Collection[str] = (),
    *,
    at: str | None = None,
    request_at: str | None = None,
    response_at: str | None = None,
    remainder: dict[str, Any] | None = None,
) -> Translation:
    """Translate an Open Responses document into Chat Completions.

    `document` is a list of items, an object with `input` (a request, or a row with other columns), a response object, a
    line of a batch file, or an object with the list at the JSON pointer `at`; a string for `input` is one user
    message. The other arguments, what is returned and what is raised are those of `to_responses`.
    """
    return translate(document, RESPONSES, kind, allow, at, remainder, None, places(request_at, response_at))


def check(
    document: Json,
    to: str | None = None,
    kind: str | None = None,
    allow: str | Collection[str] = (),
    *,
    at: str | None = None,
) -> list[Refusal]:
    """Every refusal that translating a document to `"responses"` or `"chat"` would meet, in document order; an empty
    list where it would succeed. Without `to` it is the format that the document is not in, by its keys. Raises nothing
    but ValueError and TypeError for a wrong argument."""
    source = format_of(document) if to is None else source_of(to)
    try:
        translate(document, source, kind, allow, at)
    except Refused as refused:
        return list(refused.refusals)
    return []


def places(request_at: str | None, response_at: str | None) -> Preset | None:
    """Where a row has a request and its answer, as JSON pointers; None where neither is given."""
    if request_at is None and response_at is None:
        return None
    for place in (request_at, response_at):
        if place is not None and not path_of(place):
            raise ValueError("request_at and response_at lead into the document, and cannot be the whole of it")
    usual = PRESETS["pair"]
    preset = Preset(request_at or usual.request, response_at or usual.response)
    first, second = sorted((path_of(preset.request), path_of(preset.response)), key=len)
    if second[: len(first)] == first:
        raise ValueError(f"{preset.request} and {preset.response}: one place cannot be inside the other")
    return preset


def source_of(to: str) -> Format:
    """The format that is translated from when one translates `to` a format."""
    if to not in ("responses", "chat"):
        raise ValueError(f"to must be 'responses' or 'chat', not {to!r}")
    return CHAT if to == "responses" else RESPONSES


def translate(
    document: Json,
    source: Format,
    kind: str | None = None,
    allow: str | Collection[str] = (),
    at: str | None = None,
    remainder: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    pair: Preset | None = None,
) -> Translation:
    """The one function behind both directions: validate, allow, map, prove."""
    try:
        return four_steps(document, source, kind, allow, at, remainder, settings, pair)
    except Refused:
        if (values := plain(document)) is document:
            raise
    return four_steps(values, source, kind, allow, at, remainder, settings, pair)


def four_steps(
    document: Json,
    source: Format,
    kind: str | None,
    allow: str | Collection[str],
    at: str | None,
    remainder: dict[str, Any] | None,
    settings: dict[str, Any] | None,
    pair: Preset | None,
) -> Translation:
    codes = allowed_codes(allow) if allow else frozenset()
    belonging = None if remainder is None else read_remainder(remainder, source.other.name)
    layout = layout_of(document, source, kind, None if at is None else path_of(at), settings, pair)
    translated, mapped, used = three_steps(document, layout, codes, belonging)
    translation = Translation(translated, prove(document, translated, layout, mapped, used))
    if belonging is None:
        return translation
    whole = restored(translation.document, belonging, layout)
    return Translation(whole, remainder_of_restored(whole, document, belonging, layout, codes, kind, at))


def three_steps(
    document: Json, layout: Layout, codes: frozenset[str], belonging: Remainder | None
) -> tuple[Json, Any, list[str]]:
    """Validate, allow, map: the translated document, what its subject was mapped to, and the codes that had something
    to let through."""
    subject = layout.subject

    findings = subject.examine()
    if findings:
        passing = Passing(codes, belonging, layout)
        raise_all(f.under(layout.path) for f in findings if not (passing(f) and f.can_be_allowed))
        left = subject.allow(passing.codes)
        raise_all(f.under(layout.path) for f in left if not passing(f))
        findings += left

    mapped = subject.map()
    translated = put_at(document, layout.path, layout.target, mapped)
    return translated, mapped, sorted({f.code for f in findings}) if findings else []


def brought_back(
    document: Json,
    source: Format,
    kind: str | None,
    at: str | None,
    remainder: dict[str, Any] | None,
    pair: Preset | None,
) -> Json:
    """The original that a translation leads back to, for a caller who compares it with the original. That comparison
    is a proof of its own, so the fourth step is left out. Raises `Refused`."""
    belonging = None if remainder is None else read_remainder(remainder, source.other.name)
    layout = layout_of(document, source, kind, None if at is None else path_of(at), None, pair)
    translated, _, _ = three_steps(document, layout, frozenset(), belonging)
    return translated if belonging is None else restored(translated, belonging, layout)


class Passing:
    """Which findings are let through: those that the caller allows; and in the turns that a remainder speaks of, not in
    those that were added since, the ones that had been allowed when it was made."""

    def __init__(self, codes: frozenset[str], belonging: Remainder | None, layout: Layout) -> None:
        self.own = codes
        self.count = belonging.count if belonging and layout.subject.turns else math.inf
        self.codes = codes | belonging.allowed if belonging else codes
        self.turns = layout.turns_path[len(layout.path) :]

    def __call__(self, finding: Finding) -> bool:
        return finding.code in (self.own if self.is_added(finding.path) else self.codes)

    def is_added(self, path: Path) -> bool:
        depth = len(self.turns)
        inside = len(path) > depth and path[:depth] == self.turns and isinstance(path[depth], int)
        return inside and int(path[depth]) >= self.count


def prove(document: Json, translated: Json, layout: Layout, mapped: Json, used: list[str]) -> dict[str, Any] | None:
    """The remainder of a translation, or None where it alone comes back. Raises `Refused` with `not_reversible`."""
    subject = layout.subject
    try:
        ops = subject.prove(mapped)
    except NotReversible as lost:
        raise Refused(not_reversible(layout.path + path).refusal() for path in lost.paths) from None
    if not ops and not used:
        return None
    if layout.path:
        ops = [op.under(layout.path) for op in ops]
    back = put_at(translated, layout.target, layout.path, subject.back)
    if not same(apply(ops, back), document):
        raise Refused([not_reversible(layout.path).refusal()])
    concerned = spoken_of(ops, back, layout.turns_back or layout.turns_path)
    patch = [op.as_json() for op in ops]
    return Remainder.of(subject.format.name, subject.count, concerned, used, patch).as_json()


def not_reversible(path: Path) -> Finding:
    return Finding("not_reversible", path, "the way back gives something else here")


def restored(document: Json, belonging: Remainder, layout: Layout) -> Json:
    """The original that a remainder belongs to, with whatever was added after it."""
    turns, base = layout.subject.turns, layout.turns_target
    if turns is None:
        return restore(belonging, document, base, layout.turns_path)
    own, grown = turns.resolved[: belonging.count], turns.resolved[belonging.count :]
    first = put_at(document, base, base, turns.format.map(own))
    whole = restore(belonging, first, base, layout.turns_path)
    if not grown:
        return whole
    holder = follow(whole, base[:-1])
    if isinstance(holder, dict) and base[-1] not in holder:
        raise refused("stale_remainder", layout.turns_path, "turns were added, and the column had another name")
    return append(whole, base, turns.format.map(grown), turns.format.other)


def remainder_of_restored(
    whole: Json,
    document: Json,
    belonging: Remainder,
    layout: Layout,
    codes: frozenset[str],
    kind: str | None,
    at: str | None,
) -> dict[str, Any] | None:
    """What leads from a restored document with added turns back to the document that it was restored from; None where
    nothing was added, and the restored document alone does. Raises `Refused` with `stale_remainder` where the added
    turns do not fit the original: a result may answer a call that had another id there."""
    turns, source = layout.subject.turns, layout.subject.format
    if turns is None or len(turns.resolved) <= belonging.count:
        return None
    place = None if at is None else pointer(layout.turns_target)
    try:
        there = four_steps(whole, source.other, kind, codes | belonging.allowed, place, None, None, None)
    except Refused as refusal:
        said = f"the turns that were added do not fit the original: {refusal.refusals[0]}"
        raise refused("stale_remainder", layout.turns_path, said) from None
    ops = difference(there.document, document)
    used = sorted(set((there.remainder or {}).get("allowed", ())))
    if not ops and not used:
        return None
    concerned = spoken_of(ops, there.document, layout.turns_path)
    count = len(Transcript(follow(whole, layout.turns_target), source.other).elements)
    return Remainder.of(source.name, count, concerned, used, [op.as_json() for op in ops]).as_json()


def append(document: Json, path: Path, turns: list[Any], format_: Format) -> Json:
    """A document whose list of turns has grown."""
    value = follow(document, path)
    return put_at(document, path, path, [*Transcript(value, format_).elements, *turns])


def plain(value: Any, levels: int = DEEPEST) -> Any:
    """A document of dicts and lists alone. Objects of client libraries (anything with `model_dump`) become what they
    were made from, wherever they stand, keys that were never set left out. What has none in it is returned itself."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    if not levels or type(value) not in (dict, list):
        return value
    inner = value.items() if type(value) is dict else enumerate(value)
    changed = {step: new for step, old in inner if (new := plain(old, levels - 1)) is not old}
    if not changed:
        return value
    if type(value) is dict:
        return {**value, **changed}
    return [changed.get(n, old) for n, old in enumerate(value)]
