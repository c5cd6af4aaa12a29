"""A transcript on its way: examined, resolved, mapped, and the difference after the way back explained.

Everything here is about one list of messages or items, with paths that begin at the list.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from turncodec.formats import CHAT, NO_PAIRS, Format, examine
from turncodec.mapping.turns import sources_of_items, sources_of_messages
from turncodec.refusals import Finding, Path
from turncodec.remainder import Op, list_difference
from turncodec.resolve import resolve
from turncodec.spellings import unspelled

Elements = list[Any]


class NotReversible(Exception):
    """A difference that no spelling explains; `paths` say where."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths
        super().__init__(paths)


class Transcript:
    """One list of turns in one format, or a string that stands for one user message."""

    def __init__(self, value: Any, format_: Format) -> None:
        self.value, self.format = value, format_
        self.elements: Elements = value if isinstance(value, list) else [spoken(value)]
        self.findings: list[Finding] = []
        self.pairs = NO_PAIRS
        self.resolved = self.elements
        self.origin: list[int] | None = None
        self.again: Elements = []
        self.count = 0

    @property
    def turns(self) -> Transcript:
        """Its list of turns, which is itself. Not kept as an attribute: the cycle would outlive the translation."""
        return self

    def examine(self) -> list[Finding]:
        """What is wrong with it, or has no place in the other format."""
        self.findings, self.pairs = examine(self.elements, self.format)
        if self.value is not self.elements:
            self.findings = [replace(finding, path=()) for finding in self.findings]
        return self.findings

    def allow(self, codes: Collection[str]) -> list[Finding]:
        """Resolve the findings with these codes. What is found then, in the places of the original."""
        allowed = [finding for finding in self.findings if finding.code in codes]
        if not allowed or self.value is not self.elements:
            return []
        self.resolved, self.origin = resolve(self.elements, allowed, self.pairs)
        found, _ = examine(self.resolved, self.format)
        return [replace(f, path=(self.origin[int(f.path[0])], *f.path[1:])) for f in found]

    def map(self) -> Elements:
        """The transcript in the other format."""
        return self.format.map(self.resolved)

    def prove(self, mapped: Elements) -> list[Op]:
        """Translate back and compare: the steps from there to the original. Raises `NotReversible`."""
        self.count = len(mapped)
        self.again = self.back = self.format.other.map(mapped)
        ops = explain(self.again, self.resolved, self.format)
        if self.origin is not None:
            ops += list_difference(self.resolved, self.elements, self.origin)
        if self.value is not self.elements:
            ops = [Op("replace", (), self.value)]
        return ops


def spoken(text: str) -> dict[str, Any]:
    """A string of input is one user message (specification, `CreateResponseBody.input`)."""
    return {"type": "message", "role": "user", "content": text}


def explain(again: Elements, resolved: Elements, format_: Format) -> list[Op]:
    """The steps from the back-translation to what was mapped. Raises `NotReversible` where one is no spelling.

    Plain equality is strict enough to compare the two: the types were checked, and no place of a transcript that is
    mapped may hold numbers of two kinds.
    """
    if again == resolved:
        return []
    if len(again) == len(resolved):
        everyone = range(len(again))
        ops = list_difference(again, resolved, everyone)
        if not unspelled(ops, again, resolved, everyone, format_.name):
            return ops
    return explain_regrouped(again, resolved, format_)


def explain_regrouped(again: Elements, resolved: Elements, format_: Format) -> list[Op]:
    """The same where the way back bundled or ordered a turn in another way."""
    sources = alignment(resolved, format_)
    if len(sources) != len(again):
        raise NotReversible([()])
    origin, regrouped = origins(sources)
    ops = list_difference(again, resolved, origin)
    place = {source: n for n, source in enumerate(origin) if source is not None}
    single = [op for op in ops if op.op in ("add", "remove", "replace") and op.path[0] not in regrouped]
    single = [op for op in single if len(op.path) > 1 or op.op != "remove"]
    wrong = unspelled(single, again, resolved, place, format_.name)
    if regrouped:
        mixed = [again[n] for n, group in enumerate(sources) if not regrouped.isdisjoint(group)]
        if facts(mixed) != facts([resolved[n] for n in sorted(regrouped)]):
            wrong += [(n,) for n in sorted(regrouped)]
    if format_ is not CHAT:
        wrong += [(n,) for n in out_of_turn([group[0] for group in sources], resolved)]
    if wrong:
        raise NotReversible(wrong)
    return ops


def alignment(resolved: Elements, format_: Format) -> list[list[int]]:
    """For each element of the back-translation the indices of those of the original that it comes from."""
    if format_ is not CHAT:
        return [[n] for group in sources_of_messages(resolved) for n in group]
    source_of_item = sources_of_items(resolved)
    return [[source_of_item[n] for n in group] for group in sources_of_messages(CHAT.map(resolved))]


def origins(sources: list[list[int]]) -> tuple[list[int | None], set[int]]:
    """The one element that each is compared with, None where another one is already; and the elements of the original
    that are not one to one with those of the back-translation."""
    origin: list[int | None] = []
    fed: set[int] = set()
    regrouped: set[int] = set()
    for group in sources:
        origin.append(None if group[0] in fed else group[0])
        if len(set(group)) > 1 or not fed.isdisjoint(group):
            regrouped.update(group)
        fed.update(group)
    return origin, regrouped


def facts(messages: Elements) -> tuple[list[Any], list[Any]]:
    """What the assistant says and what it calls, each in order: two ways to bundle the same turn agree in this."""
    said: list[Any] = []
    calls: list[Any] = []
    for message in messages:
        content, refusal = message.get("content"), message.get("refusal")
        if refusal:
            parts = [{"type": "text", "text": content}] if isinstance(content, str) and content else content or []
            said.append([*parts, {"type": "refusal", "refusal": refusal}])
        elif content is not None and content != "":
            said.append(content)
        for call in message.get("tool_calls") or ():
            calls.append((call["id"], call["function"]["name"], call["function"]["arguments"]))
    return said, calls


def out_of_turn(origin: list[int], items: Elements) -> list[int]:
    """The items that came back elsewhere than in their own turn, or in another order among their like."""
    wrong: list[int] = []
    last = {"message": -1, "function_call": -1}
    for n, source in enumerate(origin):
        item = items[source]
        kind = item.get("type", "message")
        if kind == "function_call_output" or item.get("role", "assistant") != "assistant":
            if n != source:
                wrong.append(source)
        elif source < last[kind]:
            wrong.append(source)
        else:
            last[kind] = source
    return wrong
