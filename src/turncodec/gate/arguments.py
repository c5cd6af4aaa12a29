"""Arguments: JSON that every reader reads alike. Knows nothing about schemas and calls."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from turncodec.equality import DEEPEST, is_utf8

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


def is_json(value: Json, most: int) -> bool:
    """Whether a value is JSON, with at most so many values in it, none of them below 200 levels.

    `json_faults` also says where a fault is, and pays for it with memory for each value and level.
    """
    level = [value]
    for _ in range(DEEPEST):
        most -= len(level)
        if most < 0 or not all(map(_is_json_alone, level)):
            return False
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return True
    return False


def _is_json_alone(value: Json) -> bool:
    """The same for a value without those inside it."""
    kind = type(value)
    if kind is str:
        return is_utf8(value)
    if kind is dict:
        return all(type(key) is str and is_utf8(key) for key in value)
    if kind is float:
        return math.isfinite(value)
    return value is None or kind in (bool, int, list)


def _inside(value: Json) -> Iterable[Json]:
    kind = type(value)
    return value.values() if kind is dict else value if kind is list else ()


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
