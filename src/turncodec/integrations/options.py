"""What may be said to every integration, and what is said wrongly. Knows no guest library."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any, TypedDict, Unpack

from turncodec.migrate.outcomes import DIRECTIONS, Settings
from turncodec.refusals import Refused, allowed_codes


class Options(TypedDict, total=False):
    """The options of `turncodec.to_responses` and `to_chat` that speak of every record alike."""

    kind: str | None
    allow: str | Collection[str]
    at: str | None
    request_at: str | None
    response_at: str | None


def settings(to: str, **options: Unpack[Options]) -> Settings:
    """The settings of a job. Raises ValueError or TypeError for what is wrong with any record, before there is one."""
    if to not in DIRECTIONS:
        raise ValueError(f"to must be 'responses' or 'chat', not {to!r}")
    allow = allowed_codes(options.get("allow", ()))
    said: dict[str, Any] = {name: value for name, value in options.items() if name != "allow"}
    for name, value in said.items():
        if not isinstance(value, str | None):
            raise TypeError(f"{name} must be a string, not {value!r:.60}")
    with suppress(Refused):  # of this document nobody wants to know; but a wrong argument is one for any document
        DIRECTIONS[to]([], allow=allow, **said)
    return Settings(to, allow=allow, **said)
