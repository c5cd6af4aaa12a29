"""The two formats as two records of the same functions, so that what is done with a transcript is written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from turncodec.glance import Glance, glance_at_items, glance_at_messages
from turncodec.mapping import turns
from turncodec.pairing import Event, Pairs, item_events, message_events, pair
from turncodec.refusals import Finding, Path
from turncodec.validate import in_order, item_findings, message_findings


@dataclass(frozen=True, slots=True)
class Format:
    """What one format knows about a transcript in it."""

    name: str
    title: str
    key: str
    """The key of an object under which its transcript stands."""
    glance: Callable[[list[Any]], Glance]
    findings: Callable[[Any], list[Finding]]
    events: Callable[[list[Any]], Iterator[Event]]
    map: Callable[[list[Any]], list[Any]]
    """A valid list of this format as a list of the other."""

    @property
    def other(self) -> Format:
        return RESPONSES if self is CHAT else CHAT


CHAT = Format(
    name="chat",
    title="Chat Completions",
    key="messages",
    glance=glance_at_messages,
    findings=message_findings,
    events=message_events,
    map=turns.messages_to_items,
)

RESPONSES = Format(
    name="responses",
    title="Open Responses",
    key="input",
    glance=glance_at_items,
    findings=item_findings,
    events=item_events,
    map=turns.items_to_messages,
)


NO_PAIRS = Pairs()
"""Of a transcript whose calls need no closer look."""


def examine(elements: list[Any], format_: Format) -> tuple[list[Finding], Pairs]:
    """Everything that is wrong with a transcript, in document order, and its calls joined to their results."""
    odd, paired = format_.glance(elements)
    if paired and not odd:
        return [], NO_PAIRS
    findings = [found.under((n,)) for n in odd for found in format_.findings(elements[n])]
    pairs = NO_PAIRS
    if not paired:
        pairs = pair(format_.events(elements), calls_left(findings))
        known = {finding.path[0] for finding in findings if finding.leave == finding.path[:1]}
        findings += [finding for finding in pairs.findings if finding.path[0] not in known]
        findings += misnamed_results(elements, pairs)
    return in_order(elements, findings), pairs


def misnamed_results(elements: list[Any], pairs: Pairs) -> list[Finding]:
    """Tool messages whose name is not that of the function they answer; the right name is only a spelling."""
    findings = []
    for call, result in pairs.joined:
        name = elements[result.element].get("name")
        if elements[result.element].get("role") == "tool" and isinstance(name, str) and call.path[1] == "tool_calls":
            function = elements[call.element]["tool_calls"][call.path[2]].get("function")
            if not isinstance(function, dict) or function.get("name") != name:
                said = f"{name!r:.80} is not the function that the result answers"
                path: Path = (result.element, "name")
                findings.append(Finding("message_name", path, said, leave=path))
    return findings


def calls_left(findings: list[Finding]) -> dict[Path, str]:
    """The calls that cannot cross, each with its code."""
    left = {f.path: f.code for f in findings if f.path[1:2] == ("tool_calls",) and len(f.path) == 3 and f.leave}
    return left | {f.path[:1]: f.code for f in findings if f.path[1:] == ("namespace",)}
