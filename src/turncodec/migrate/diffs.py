"""Two files of conversations, compared record by record. Knows files; what makes two records the same is `compare`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from turncodec.compare import Difference, compare
from turncodec.edge import decode
from turncodec.migrate.records import Record
from turncodec.refusals import Refused, follow, path_of


class Compared(NamedTuple):
    """A record of each side, None where a side has no more, and what is not the same."""

    left: Record | None
    right: Record | None
    differences: list[Difference]


def compared(left: Iterable[Record], right: Iterable[Record], at: str | None) -> Iterator[Compared]:
    """The records of two sides, the first with the first, and so on. `at` is where the conversation stands in each."""
    for one, other in zip_longest(left, right):
        yield Compared(one, other, differences(one, other, at))


def differences(one: Record | None, other: Record | None, at: str | None) -> list[Difference]:
    if one is None or other is None:
        side = "left" if other is None else "right"
        return [Difference("record", None, None, f"only the {side} side has this record")]
    try:
        return compare(conversation(one, at), conversation(other, at))
    except Refused as refused:
        return [Difference("record", None, None, f"{refusal.code}: {refusal.message}") for refusal in refused.refusals]
    except RecursionError:
        return [Difference("record", None, None, "nested too deeply to be read")]
    except (ValueError, KeyError, IndexError, TypeError) as wrong:
        said = str(wrong) if isinstance(wrong, ValueError) else f"there is nothing at {at}"
        return [Difference("record", None, None, said)]


def conversation(record: Record, at: str | None) -> object:
    document = decode(record.data)
    return document if at is None else follow(document, path_of(at))
