"""A translation is brought back from the bytes that are written, and compared with the record that was read.

The library proves every translation before it gives it out. What is proved here goes on to the bytes: that what is
written is read as what was proven (`values`), and that the very way by which the store is restored leads from there to
the record (`full`). That the file holds these bytes is seen by `parts`.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from turncodec import translate
from turncodec.edge import encode
from turncodec.equality import same
from turncodec.migrate.outcomes import Outcome, PassedThrough, Settings, Translated, guarded, made_of, read, written
from turncodec.refusals import Finding, Refused, refused_for

Verify = Literal["full", "values", "none"]
VERIFY: tuple[Verify, ...] = get_args(Verify)

FAULT = "not_reversible"
"""The code of what is never the record's fault, but ours."""


def proven(data: bytes, settings: Settings, verify: Verify) -> Outcome:
    """What becomes of a record, brought back as far as is asked for. A translation that does not come back is refused
    with `not_reversible`."""
    return guarded(data, lambda: translated(data, settings, verify))


def translated(data: bytes, settings: Settings, verify: Verify) -> Outcome:
    document = read(data, settings)
    made, is_unasked = made_of(document, settings, None)
    if made.document is document:
        return PassedThrough(data)
    out = written(made.document, settings)
    if verify == "full":
        refuse_other(brought_back(out, made.remainder, settings), document, data)
    elif verify == "values":
        refuse_other(read(out, settings), made.document, out)
    return Translated(out, made.remainder, is_unasked)


def brought_back(out: bytes, remainder: dict[str, Any] | None, settings: Settings) -> Any:
    """The record that the bytes of a translation lead back to, by the way on which a store is restored."""
    back = settings.back()
    pair = translate.places(back.request_at, back.response_at)
    try:
        return translate.brought_back(
            read(out, settings), translate.source_of(back.to), back.kind, back.at, remainder, pair
        )
    except Refused as refused:
        raise lost(f"the way back is refused: {refused.refusals[0]}") from refused


def refuse_other(found: Any, wanted: Any, text: bytes) -> None:
    """Raise `Refused` where two values differ. `text` is perhaps how the wanted one is written, which is seen sooner
    than every value in it."""
    if not (encode(found) == text or same(found, wanted)):
        raise lost("what was written comes back as something else than what was read")


def lost(said: str) -> Refused:
    return refused_for([Finding(FAULT, (), said[:500])])
