"""A translation is brought back from what the database holds, and compared with what was read."""

from __future__ import annotations

from typing import Any

from turncodec.edge import decode, encode
from turncodec.equality import same
from turncodec.migrate.outcomes import read
from turncodec.refusals import Refused
from turncodec.store.proof import brought_back
from turncodec.store.work import How


def unlike(out: bytes, remainder: str | None, original: bytes, how: How, is_kept: bool) -> str | None:
    """What is wrong with a translation; None where it leads back to the original. `is_kept`: the database keeps texts
    byte for byte; else numbers are compared by their value."""
    try:
        if how.verify == "full":
            back = brought_back(out, None if remainder is None else decode(remainder.encode()), how.settings)
            wanted = read(original, how.settings)
            if not (encode(back) == original or same(back, wanted) or (not is_kept and alike(back, wanted))):
                return "what the database holds comes back as something else than what was read"
        elif how.verify == "values":
            read(out, how.settings)
    except Refused as refused:
        return f"{refused.refusals[0]}"[:300]
    except Exception as fault:  # whatever it is, it is told with the key, and the others are verified
        return f"{type(fault).__name__}: {fault}"[:300]
    return None


def alike(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same for a database that keeps the values of numbers and not their spelling: 1E2
    and 100, 0.0 and -0.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(alike(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(alike, left, right))
    if is_number(left) and is_number(right):
        return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
