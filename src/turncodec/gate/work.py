"""Bounded work: what one check may cost. Knows neither schemas nor patterns, which spend it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

Json = Any

STEPS = 5_000_000
"""Steps of work that checking one value may cost; some seconds. What costs more is not said to fit."""


class TooMuch(Exception):
    """The work of a check is used up."""


class Work:
    """What one check may still cost, and the size of each container in the value that is checked."""

    __slots__ = ("left", "reference", "sizes")

    def __init__(self, reference: int) -> None:
        self.left = STEPS
        self.reference = reference
        self.sizes: dict[int, int] = {}

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooMuch

    def measure(self, value: Json) -> int:
        """The number of values in a value; long strings count more."""
        kind = type(value)
        if kind is str:
            return 1 + len(value) // 64
        if kind is dict:
            size = len(value) + sum(map(self.measure, value)) + sum(map(self.measure, value.values()))
        elif kind is list:
            size = 1 + sum(map(self.measure, value))
        else:
            return 1
        self.sizes[id(value)] = size
        return size

    def size(self, value: Json) -> int:
        return self.sizes.get(id(value), 1) if type(value) is not str else 1 + len(value) // 64


WORK: ContextVar[Work] = ContextVar("work")
