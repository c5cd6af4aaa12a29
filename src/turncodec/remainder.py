"""The remainder: what a translation could not carry, as an RFC 6902 patch from the back-translation to the original.

Kept beside a translation it makes the way back exact. It says what it belongs to, so that it still applies when the
conversation has grown, and is refused when the part it speaks of has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from turncodec.equality import same
from turncodec.refusals import CODES, Path, follow, path_of, pointer, refused

Document = Any

_ENCODER = msgspec.json.Encoder(order="sorted")


class Op(NamedTuple):
    """One step of a patch: add, remove, replace or move. `old` and `value` are what was and what will be there."""

    op: str
    path: Path
    value: Any = None
    old: Any = None
    source: Path = ()

    def under(self, base: Path) -> Op:
        return Op(self.op, base + self.path, self.value, self.old, base + self.source if self.source else ())

    def as_json(self) -> dict[str, Any]:
        """The operation as RFC 6902 writes it."""
        if self.op == "remove":
            return {"op": "remove", "path": pointer(self.path)}
        if self.op == "move":
            return {"op": "move", "from": pointer(self.source), "path": pointer(self.path)}
        return {"op": self.op, "path": pointer(self.path), "value": self.value}


# ---------------------------------------------------------------- the difference


def difference(before: Any, after: Any, path: Path = ()) -> list[Op]:
    """The steps that make `before` into `after`. Entries of lists are compared place by place."""
    ops: list[Op] = []
    _collect(before, after, path, ops)
    return ops


def _collect(before: Any, after: Any, path: Path, ops: list[Op]) -> None:
    if type(before) is dict and type(after) is dict:
        for key, old in before.items():
            if key not in after:
                ops.append(Op("remove", (*path, key), old=old))
        for key, new in after.items():
            if key not in before:
                ops.append(Op("add", (*path, key), new))
            elif before[key] is not new:
                _collect(before[key], new, (*path, key), ops)
    elif type(before) is list and type(after) is list:
        for n, (old, new) in enumerate(zip(before, after, strict=False)):
            if old is not new:
                _collect(old, new, (*path, n), ops)
        ops += [Op("remove", (*path, n), old=before[n]) for n in range(len(before) - 1, len(after) - 1, -1)]
        ops += [Op("add", (*path, n), after[n]) for n in range(len(before), len(after))]
    elif not same(before, after):
        ops.append(Op("replace", path, after, before))


def rearrangement(origin: list[int]) -> Iterator[Op]:
    """The moves that put entries in order when `origin` says, for each, where it belongs among the others."""
    order = list(origin)
    for place, wanted in enumerate(sorted(origin)):
        found = order.index(wanted, place)
        if found != place:
            order.insert(place, order.pop(found))
            yield Op("move", (place,), source=(found,))


def list_difference(before: list[Any], after: list[Any], origin: Sequence[int | None]) -> list[Op]:
    """The steps that make one list of turns into another when `before[n]` came from `after[origin[n]]`, or from
    nowhere.

    Entries from nowhere are removed, the others moved, missing ones added; then each is compared with the one that it
    came from. Plain equality passes one over: what both sides have was checked by type or taken from the other.
    """
    ops = [Op("remove", (n,), old=before[n]) for n in range(len(before) - 1, -1, -1) if origin[n] is None]
    ops += rearrangement([source for source in origin if source is not None])
    place = {source: n for n, source in enumerate(origin) if source is not None}
    ops += [Op("add", (n,), entry) for n, entry in enumerate(after) if n not in place]
    for n in sorted(place):
        old, new = before[place[n]], after[n]
        if old != new:
            _collect(old, new, (n,), ops)
    return ops


# ---------------------------------------------------------------- applying


class BadPatch(Exception):
    """A patch that is none, or that does not fit the document."""


def read_patch(patch: list[Any]) -> list[Op]:
    """The steps of a stored patch: add, remove, replace and move (RFC 6902). Raises `BadPatch`."""
    try:
        return [read_step(step) for step in patch]
    except (AttributeError, KeyError, TypeError, ValueError) as wrong:
        raise BadPatch("it is no list of steps to add, remove, replace and move") from wrong


def read_step(step: dict[str, Any]) -> Op:
    kind, path = step["op"], path_of(step["path"])
    if kind == "move":
        return Op(kind, path, source=path_of(step["from"]))
    if kind == "remove":
        return Op(kind, path)
    if kind in ("add", "replace"):
        return Op(kind, path, step["value"])
    raise ValueError(kind)


def apply(ops: list[Op], document: Document) -> Document:
    """The document after the steps of a patch. The document is not changed. Raises `BadPatch`."""
    editor = _Editor(document)
    for op in ops:
        try:
            editor.step(op)
        except (AttributeError, KeyError, IndexError, TypeError) as wrong:
            raise BadPatch(f"{op.op} at {pointer(op.path)!r:.80} does not fit") from wrong
    return editor.root[0]


class _Editor:
    """Copies each object and list on the way to a change once, and shares the rest with the original."""

    def __init__(self, document: Document) -> None:
        self.root: list[Any] = [document]
        self.own: set[int] = {id(self.root)}

    def step(self, op: Op) -> None:
        if op.op == "move":
            self.add(op.path, self.remove(op.source))
        elif op.op == "remove":
            self.remove(op.path)
        else:
            if op.op == "replace":
                self.remove(op.path)
            self.add(op.path, op.value)

    def holder(self, path: Path) -> tuple[Any, str | int]:
        """The object or list that a path ends in, made our own, and the last step."""
        inside: Any = self.root
        last: str | int = 0
        for step in path:
            child = inside[last]
            if not isinstance(child, dict | list):
                raise TypeError(child)
            if id(child) not in self.own:
                child = dict(child) if isinstance(child, dict) else list(child)
                inside[last] = child
                self.own.add(id(child))
            inside, last = child, str(step) if isinstance(child, dict) else step
        return inside, last

    def remove(self, path: Path) -> Any:
        inside, last = self.holder(path)
        return inside.pop(last) if path else inside[0]

    def add(self, path: Path, value: Any) -> None:
        inside, last = self.holder(path)
        if not path:
            inside[0] = value
        elif isinstance(inside, list):
            if not isinstance(last, int) or last > len(inside):
                raise IndexError(last)
            inside.insert(last, value)
        else:
            inside[last] = value


# ---------------------------------------------------------------- what it belongs to


def digest(value: Any) -> str:
    """A digest of a JSON value that does not depend on the order of keys: SHA-256 of its compact UTF-8 text with
    sorted keys."""
    return "sha256:" + hashlib.sha256(_ENCODER.encode(value)).hexdigest()


@dataclass(frozen=True, slots=True)
class Remainder:
    """A remainder as it is stored.

    `format` is the format that it restores; `count` how many messages or items the back-translation had and `digest`
    what they were; `allowed` the codes that had something to let through; `patch` the way from there to the original.
    """

    format: str
    count: int
    digest: str
    allowed: frozenset[str]
    patch: list[dict[str, Any]]

    @classmethod
    def of(cls, format_: str, count: int, concerned: Any, allowed: list[str], patch: list[dict[str, Any]]) -> Remainder:
        return cls(format_, count, digest(concerned), frozenset(allowed), patch)

    def as_json(self) -> dict[str, Any]:
        allowed = {"allowed": sorted(self.allowed)} if self.allowed else {}
        return {"format": self.format, "count": self.count, "digest": self.digest, **allowed, "patch": self.patch}


KEYS = {"format": str, "count": int, "digest": str, "allowed": list, "patch": list}


def read_remainder(value: Any, format_: str) -> Remainder:
    """A stored remainder that restores `format_`. Raises `Refused` with `bad_remainder` where it is none."""
    if not isinstance(value, dict) or set(value) - {"allowed"} != set(KEYS) - {"allowed"}:
        raise refused("bad_remainder", (), "a remainder is an object with format, count, digest and patch")
    for key, kind in KEYS.items():
        if type(value.get(key, [])) is not kind:
            raise refused("bad_remainder", (), f"{key} of the remainder is not a {kind.__name__}")
    if value["format"] != format_:
        raise refused("bad_remainder", (), f"the remainder restores {value['format']!r:.40}, not {format_!r}")
    allowed = value.get("allowed", [])
    unknown = [code for code in allowed if not (isinstance(code, str) and code in CODES and CODES[code].allowing)]
    if unknown:
        raise refused("bad_remainder", (), f"{unknown[0]!r:.60} is no code that can be allowed")
    return Remainder(value["format"], value["count"], value["digest"], frozenset(allowed), value["patch"])


def spoken_of(ops: list[Op], document: Document, turns: Path) -> dict[str, Any]:
    """The part of a back-translation that a remainder speaks of: its list of turns (at the path `turns`), and each
    neighbour of the list that a step of the patch changes."""
    depth = len(turns)
    places = {op.path[:depth] for op in ops} | {turns}
    concerned = {pointer(place): value_at(document, place) for place in sorted(places, key=pointer)}
    return {place: value for place, value in concerned.items() if value is not _NOTHING}


_NOTHING = object()


def value_at(document: Document, path: Path) -> Any:
    try:
        return follow(document, path)
    except (KeyError, IndexError, TypeError):
        return _NOTHING


def restore(remainder: Remainder, document: Document, turns: Path, given: Path) -> Document:
    """The original document from its back-translation as it was, whose list of turns stands at `turns`, and at `given`
    in the document that is restored.

    Raises `Refused` with `stale_remainder` where the part that the remainder speaks of has changed.
    """
    try:
        ops = read_patch(remainder.patch)
        if digest(spoken_of(ops, document, turns)) == remainder.digest:
            return apply(ops, document)
    except BadPatch as wrong:
        raise refused("stale_remainder", given, f"the remainder does not fit: {wrong}") from None
    raise refused("stale_remainder", given, "these are not the turns that the remainder was made for")
