"""The four steps: validate, allow, map, prove. The same for both directions and for every kind of document."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from turncodec.documents import Layout, get_at, layout_of, put_at
from turncodec.equality import json_faults, same
from turncodec.formats import CHAT, RESPONSES, Format
from turncodec.refusals import Finding, Path, Refusal, Refused, allowed_codes, path_of, raise_all
from turncodec.remainder import Remainder, apply, read_remainder, restore
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
    *,
    at: str | None = None,
    remainder: dict[str, Any] | None = None,
) -> Translation:
    """Translate a Chat Completions document into Open Responses.

    `document` is a list of messages, an object with `messages` (a request, or a row with other columns), or an object
    with the list at the JSON pointer `at`. `kind` says what it is where that cannot be seen: one of
    `turncodec.KINDS`. `allow` names refusal codes to let through, or `"all"`. `remainder` is what `to_chat` gave
    beside this document: with it the original comes back exactly.

    Returns a `Translation`. Raises `Refused` with every reason, and ValueError or TypeError only for an argument that
    is wrong in itself (an unknown code or kind, a malformed pointer). The input is not changed.

    The mapping is that of the specification digest, section g.
    """
    return translate(document, CHAT, kind, allow, at, remainder)


def to_chat(
    document: Json,
    kind: str | None = None,
    allow: str | Collection[str] = (),
    *,
    at: str | None = None,
    remainder: dict[str, Any] | None = None,
) -> Translation:
    """Translate an Open Responses document into Chat Completions.

    `document` is a list of items, an object with `input` (a request, or a row with other columns), or an object with
    the list at the JSON pointer `at`; a string for `input` is one user message. The other arguments, what is
    returned and what is raised are those of `to_responses`.
    """
    return translate(document, RESPONSES, kind, allow, at, remainder)


def check(
    document: Json,
    to: str,
    kind: str | None = None,
    allow: str | Collection[str] = (),
    *,
    at: str | None = None,
) -> list[Refusal]:
    """Every refusal that translating a document to `"responses"` or `"chat"` would meet, in document order; an empty
    list where it would succeed. Raises nothing but ValueError and TypeError for a wrong argument."""
    try:
        translate(document, source_of(to), kind, allow, at, None)
    except Refused as refused:
        return list(refused.refusals)
    return []


def source_of(to: str) -> Format:
    """The format that is translated from when one translates `to` a format."""
    if to not in ("responses", "chat"):
        raise ValueError(f"to must be 'responses' or 'chat', not {to!r}")
    return CHAT if to == "responses" else RESPONSES


def translate(
    document: Json,
    source: Format,
    kind: str | None,
    allow: str | Collection[str],
    at: str | None,
    remainder: dict[str, Any] | None,
) -> Translation:
    """The one function behind both directions."""
    codes = allowed_codes(allow)
    belonging = None if remainder is None else read_remainder(remainder, source.other.name)
    if belonging:
        codes |= belonging.allowed
    document = plain(document)
    layout = layout_of(document, source, kind, None if at is None else path_of(at))
    turns = Transcript(get_at(document, layout.path), source)

    findings = outside(document, layout) + [f.under(layout.path) for f in turns.examine()]
    raise_all(f for f in findings if f.code not in codes or not f.can_be_allowed)
    raise_all(f.under(layout.path) for f in turns.allow(codes))

    mapped = turns.map()
    translated = put_at(document, layout.path, layout.target, mapped)
    used = sorted({f.code for f in findings})
    translation = Translation(translated, prove(document, layout, turns, mapped, used))
    if belonging is None:
        return translation
    return replace(translation, document=restored(translation, belonging, layout, turns))


def outside(document: Json, layout: Layout) -> list[Finding]:
    """What is not JSON in the columns beside the transcript."""
    if not layout.path:
        return []
    return list(json_faults(put_at(document, layout.path, layout.path, None)))


def prove(document: Json, layout: Layout, turns: Transcript, mapped: Json, used: list[str]) -> dict[str, Any] | None:
    """The remainder of a translation, or None where it alone comes back. Raises `Refused` with `not_reversible`."""
    try:
        ops = [op.under(layout.path) for op in turns.prove(mapped)]
    except NotReversible as lost:
        raise_all(not_reversible(layout.path + path) for path in lost.paths)
        raise
    if not ops and not used:
        return None
    patch = [op.as_json() for op in ops]
    back = put_at(document, layout.path, layout.path, turns.again)
    if not same(apply(patch, back), document):
        raise_all([not_reversible(layout.path)])
    return Remainder.of(turns.format.name, len(mapped), turns.again, used, patch).as_json()


def not_reversible(path: Path) -> Finding:
    return Finding("not_reversible", path, "the way back gives something else here")


def restored(translation: Translation, belonging: Remainder, layout: Layout, turns: Transcript) -> Json:
    """The original that a remainder belongs to, with whatever was added after it."""
    base = layout.target
    own, grown = turns.resolved[: belonging.count], turns.resolved[belonging.count :]
    first = turns.format.map(own)
    document = restore(belonging, put_at(translation.document, base, base, first), first, base)
    return append(document, base, turns.format.map(grown)) if grown else document


def append(document: Json, path: Path, turns: list[Any]) -> Json:
    """A document whose list of turns has grown."""
    value = get_at(document, path)
    return put_at(document, path, path, [*Transcript(value, RESPONSES).elements, *turns])


def plain(value: Any) -> Any:
    """A document of dicts and lists: objects of client libraries (anything with `model_dump`) as what they were made
    from, keys that were never set left out."""
    if isinstance(value, dict | list | str):
        return [plain(entry) if hasattr(entry, "model_dump") else entry for entry in value] if (
            isinstance(value, list) and any(hasattr(entry, "model_dump") for entry in value)
        ) else value
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    return value
