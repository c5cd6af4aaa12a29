"""Arguments: JSON that every reader reads alike. Knows nothing about schemas and calls."""

from __future__ import annotations

import json
from typing import Any

from turncodec.equality import is_json

Json = Any

LONGEST_INTEGER = 4_300
"""Digits of the longest integer in arguments; Python reads no longer ones unless told to."""


def parse(text: str) -> Json:
    """JSON that every reader reads alike. Raises ValueError or RecursionError for everything else.

    Refused beside what is no JSON: a key that comes twice (one reader takes the first, another the last: two calls),
    NaN and infinities, also as `1e400`, lone surrogates, more than 200 levels, integers of more than 4,300 digits.
    (RFC 8259, sections 4, 6, 8.2 and 9.)
    """
    value = _DECODER.decode(text)
    if not is_json(value, len(text)):
        raise ValueError("something that JSON cannot write")
    return value


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key comes twice")
    return value


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_INTEGER:
        raise ValueError("an integer is too long")
    return int(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer)


def is_longer(text: str, most: int) -> bool:
    """Whether a text has more bytes of UTF-8; a lone surrogate, which has none, counts three."""
    return len(text) > most or (4 * len(text) > most and len(text.encode("utf-8", "surrogatepass")) > most)
