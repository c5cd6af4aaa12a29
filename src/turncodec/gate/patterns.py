"""Patterns: whether one occurs in a text, in bounded time, by what ECMA 262 means. Knows nothing about schemas.

A pattern is a chain of steps; a step takes the set of positions reached so far to the set reached after one more piece.
Sets do not remember the way, so that no number of ways can make them slow, and `(a+)+$` costs what `a+$` does. What
needs the way itself (a back reference, an atomic group), and what ECMA 262 does not have, is refused.

Python's own parser reads the pattern, so that it is the same expression that `re` would run. Where the two dialects
give one expression two meanings, that of ECMA 262 holds (JSON Schema Core, section 6.4): `$` is the very end, `\\d`
and `\\w` are ASCII, `\\s` and `.` know ECMA's white space and ends of lines.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any

from turncodec.gate.work import WORK

Positions = set[int]
Step = Callable[[str, Positions], Positions]

_DIGITS = frozenset(string.digits)
_WORDS = frozenset(string.ascii_letters + string.digits + "_")
_LINE_ENDS = frozenset("\n\r\u2028\u2029")
_SPACES = _LINE_ENDS | frozenset("\t\v\f \u00a0\u1680\u202f\u205f\u3000\ufeff") | {*map(chr, range(0x2000, 0x200B))}


def occurs(pattern: str, text: str) -> bool:
    """Whether a pattern matches somewhere in a text."""
    WORK.get().spend(1 + len(text) // 8)
    return bool(compiled(pattern)(text, set(range(len(text) + 1))))


@lru_cache(maxsize=1024)
def compiled(source: str) -> Step:
    """The steps of a pattern. Raises an exception for one that is none or cannot be matched in bounded time."""
    tree = import_module("re._parser").parse(source)
    if tree.state.flags & ~re.UNICODE:
        raise ValueError(f"flags in a pattern: {source!r:.80}")
    return _sequence(tree)


def _sequence(pieces: Iterable[tuple[Any, Any]]) -> Step:
    steps = [_PIECES[str(name)](value) for name, value in pieces]

    def sequence(text: str, at: Positions) -> Positions:
        for step in steps:
            if not at:
                break
            at = step(text, at)
        return at

    return sequence


def _char(test: Callable[[str], bool]) -> Step:
    """One character."""

    def char(text: str, at: Positions) -> Positions:
        WORK.get().spend(1 + len(at) // 2)
        end = len(text)
        return {n + 1 for n in at if n < end and test(text[n])}

    return char


def _set(members: list[tuple[Any, Any]]) -> Step:
    """One of a set of characters, `[a-z]`, or none of it, `[^a-z]`."""
    tests = [_MEMBERS[str(name)](value) for name, value in members if str(name) != "NEGATE"]
    negated = len(tests) < len(members)
    return _char(lambda char: any(test(char) for test in tests) is not negated)


def _branch(branches: tuple[None, list[Any]]) -> Step:
    steps = [_sequence(pieces) for pieces in branches[1]]
    return lambda text, at: {n for step in steps for n in step(text, at)}


def _group(group: tuple[Any, int, int, Any]) -> Step:
    _, added, removed, pieces = group
    if added or removed:
        raise ValueError("flags in a pattern")
    return _sequence(pieces)


def _repeat(repeat: tuple[int, int, Any]) -> Step:
    """`*`, `+`, `?`, `{least,most}`, greedy or not: how often matters, in which order does not."""
    least, most, pieces = repeat
    step = _sequence(pieces)

    def repeated(text: str, at: Positions) -> Positions:
        work = WORK.get()
        for _ in range(least):
            if not at:
                break
            work.spend(1)
            at = step(text, at)
        found = set(at)
        rounds = least
        while at and rounds < most:
            work.spend(1 + len(at) // 2)
            at = step(text, at) - found
            found |= at
            rounds += 1
        return found

    return repeated


def _place(place: Any) -> Step:
    """`^`, `$`, `\\b`, `\\B`."""
    test = _PLACES[str(place)]

    def placed(text: str, at: Positions) -> Positions:
        WORK.get().spend(1 + len(at) // 2)
        return {n for n in at if test(text, n)}

    return placed


def _is_boundary(text: str, at: int) -> bool:
    return (at > 0 and text[at - 1] in _WORDS) is not (at < len(text) and text[at] in _WORDS)


def _ahead(wanted: bool) -> Callable[[tuple[int, Any]], Step]:
    """`(?=...)`, and `(?!...)` where it is not wanted."""

    def ahead(assertion: tuple[int, Any]) -> Step:
        direction, pieces = assertion
        if direction < 0:
            raise ValueError("a look behind in a pattern")
        step = _sequence(pieces)

        def looked(text: str, at: Positions) -> Positions:
            WORK.get().spend(1 + len(at))
            return {n for n in at if bool(step(text, {n})) is wanted}

        return looked

    return ahead


_PIECES: dict[str, Callable[[Any], Step]] = {
    "LITERAL": lambda code: _char(chr(code).__eq__),
    "NOT_LITERAL": lambda code: _char(chr(code).__ne__),
    "ANY": lambda _: _char(lambda char: char not in _LINE_ENDS),
    "IN": _set,
    "BRANCH": _branch,
    "SUBPATTERN": _group,
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "AT": _place,
    "ASSERT": _ahead(True),
    "ASSERT_NOT": _ahead(False),
    "FAILURE": lambda _: lambda _text, _at: set(),
}
"""What Python's parser can find in a pattern, less what cannot be matched this way."""

_MEMBERS: dict[str, Callable[[Any], Callable[[str], bool]]] = {
    "LITERAL": lambda code: chr(code).__eq__,
    "RANGE": lambda codes: lambda char: codes[0] <= ord(char) <= codes[1],
    "CATEGORY": lambda name: _CATEGORIES[str(name)],
}

_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": _DIGITS.__contains__,
    "CATEGORY_NOT_DIGIT": lambda char: char not in _DIGITS,
    "CATEGORY_SPACE": _SPACES.__contains__,
    "CATEGORY_NOT_SPACE": lambda char: char not in _SPACES,
    "CATEGORY_WORD": _WORDS.__contains__,
    "CATEGORY_NOT_WORD": lambda char: char not in _WORDS,
}

_PLACES: dict[str, Callable[[str, int], bool]] = {
    "AT_BEGINNING": lambda _, at: at == 0,
    "AT_BEGINNING_STRING": lambda _, at: at == 0,
    "AT_END": lambda text, at: at == len(text),
    "AT_END_STRING": lambda text, at: at == len(text),
    "AT_BOUNDARY": _is_boundary,
    "AT_NON_BOUNDARY": lambda text, at: not _is_boundary(text, at),
}
