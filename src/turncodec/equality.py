"""Strict JSON equality, and what counts as a JSON value at all. Knows neither format.

Python says that `1 == 1.0 == True` and that `-0.0 == 0.0`; JSON documents that differ in these are different
documents. Objects are equal whatever the order of their keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from turncodec.refusals import Finding, Path

DEEPEST = 200
"""Levels of nesting that every part of the program, and every usual JSON reader, can follow."""

_ABSENT = object()


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same document. Values nested deeper than `DEEPEST` are the caller's to refuse."""
    if left is right:
        return True
    kind = type(left)
    if kind is not type(right):
        return False
    if kind is dict:
        if len(left) != len(right):
            return False
        for key, value in left.items():
            other = right.get(key, _ABSENT)
            if value is not other and not same(value, other):
                return False
        return True
    if kind is list:
        return len(left) == len(right) and all(map(same, left, right))
    if kind is float:
        return bool(left == right and math.copysign(1.0, left) == math.copysign(1.0, right))
    return bool(left == right)


def is_utf8(text: str) -> bool:
    """Whether a string can be written at all: one with a lone surrogate cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_json(value: Any, most: float = math.inf) -> bool:
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


def _is_json_alone(value: Any) -> bool:
    """The same for a value without those inside it."""
    kind = type(value)
    if kind is str:
        return is_utf8(value)
    if kind is dict:
        return all(type(key) is str and is_utf8(key) for key in value)
    if kind is float:
        return math.isfinite(value)
    return value is None or kind in (bool, int, list)


def _inside(value: Any) -> Iterable[Any]:
    kind = type(value)
    return value.values() if kind is dict else value if kind is list else ()


def json_faults(value: Any, path: Path = ()) -> Iterator[Finding]:
    """A finding for each place where a Python value is not JSON: nan, a lone surrogate, a key that is no string, a
    tuple, a set, any object; and one where it is nested too deeply."""
    if is_json(value):
        return
    waiting = [(value, path)]
    while waiting:
        value, path = waiting.pop()
        kind = type(value)
        if kind is str:
            if not is_utf8(value):
                yield Finding("not_json", path, lone_surrogate(value))
        elif kind is dict:
            if len(path) >= DEEPEST:
                yield Finding("too_deep", path[:1], f"nested more than {DEEPEST} levels deep")
                continue
            for key, inner in reversed(value.items()):
                if type(key) is not str:
                    yield Finding("not_json", path, f"the key {key!r:.60} is not a string")
                elif not is_utf8(key):
                    yield Finding("not_json", path, "a key: " + lone_surrogate(key))
                else:
                    waiting.append((inner, (*path, key)))
        elif kind is list:
            if len(path) >= DEEPEST:
                yield Finding("too_deep", path[:1], f"nested more than {DEEPEST} levels deep")
                continue
            waiting += [(inner, (*path, n)) for n, inner in reversed(list(enumerate(value)))]
        elif kind is float:
            if not math.isfinite(value):
                yield Finding("not_json", path, f"{value!r} is no JSON number")
        elif value is not None and kind is not bool and kind is not int:
            yield Finding("not_json", path, f"a Python {kind.__name__} is no JSON value")


def lone_surrogate(text: str) -> str:
    """Where a string has a surrogate without its other half."""
    at = next(n for n, char in enumerate(text) if 0xD800 <= ord(char) <= 0xDFFF)
    return f"lone surrogate U+{ord(text[at]):04X} at offset {at} cannot be written as UTF-8"
