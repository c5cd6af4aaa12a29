"""The table of spellings: differences that mean nothing to the other side.

After a translation and its way back, the result may differ from the original only as a row here says, or in what the
caller allowed to stay behind. Everything else is the refusal `not_reversible`. So a mapping that loses something is
found out by each document that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from turncodec.equality import same
from turncodec.mapping.output import DEFAULTS
from turncodec.mapping.parameters import PARAMETERS
from turncodec.mapping.tools import can_be_strict
from turncodec.refusals import Path
from turncodec.remainder import Op
from turncodec.wire.chat import REASONING_KEYS

ABSENT = object()


def is_empty(value: Any) -> bool:
    """Null, an empty string, an empty list, or nothing at all."""
    return value is ABSENT or value is None or value == "" or value == []


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a patch as a row sees it: what stood there, what will, and the elements around it."""

    path: Path
    old: Any
    new: Any
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Spelling:
    """One row: where (`*` is any key or index, the first step is the element), when, and why it means nothing."""

    name: str
    where: tuple[str, ...]
    holds: Callable[[Change], bool]
    why: str
    source: str

    def covers(self, change: Change) -> bool:
        return (
            len(self.where) == len(change.path)
            and all(want in ("*", step) for want, step in zip(self.where, change.path, strict=True))
            and self.holds(change)
        )


def _only_empty(change: Change) -> bool:
    return is_empty(change.old) and is_empty(change.new)


def _empty_content(change: Change) -> bool:
    """Null, absent and "" are one beside calls or a refusal; so is an empty list, beside a refusal alone."""
    calls, refusal = change.after.get("tool_calls"), change.after.get("refusal")
    return bool(refusal or (calls and change.new != [])) and _only_empty(change)


def _text_beside_refusal(change: Change) -> bool:
    one_part = [{"type": "text", "text": change.new}]
    return bool(change.after.get("refusal")) and type(change.new) is str and same(change.old, one_part)


def _refusal_part(change: Change) -> bool:
    """The refusal stood as the last part of the content, or beside it."""
    before, after = with_refusal(change.before), with_refusal(change.after)
    return before is not None and same(before, after)


def with_refusal(message: dict[str, Any]) -> list[Any] | None:
    """The parts of a message, its refusal among them; None where the content is a string."""
    content, refusal = message.get("content"), message.get("refusal")
    if isinstance(content, str) and content:
        return None
    return [*(content or []), *([{"type": "refusal", "refusal": refusal}] if refusal else [])]


def _in_place(change: Change) -> bool:
    return change.old is ABSENT and change.new == change.path[2]


CHAT: tuple[Spelling, ...] = (
    *(
        Spelling(
            "empty key",
            ("*", key),
            _only_empty,
            "client libraries write keys that say nothing as null or empty",
            "Chat Completions, message objects",
        )
        for key in ("refusal", "audio", "function_call", "annotations", "tool_calls", "name", *sorted(REASONING_KEYS))
    ),
    Spelling(
        "no content",
        ("*", "content"),
        _empty_content,
        'null, absent and "" are three ways to say that there are only calls, or only a refusal',
        "specification digest g2",
    ),
    Spelling(
        "text beside a refusal",
        ("*", "content"),
        _text_beside_refusal,
        "text and refusal are two parts of one content in Responses, so the text comes back as a part",
        "specification digest g2",
    ),
    *(
        Spelling(
            "refusal as a part",
            where,
            _refusal_part,
            "a refusal may stand beside the content or be its last part",
            "specification digest g2",
        )
        for where in (("*", "refusal"), ("*", "content"), ("*", "content", "*"))
    ),
    Spelling(
        "call without a type",
        ("*", "tool_calls", "*", "type"),
        lambda change: change.old == "function" and change.new is ABSENT,
        "stored calls often lack the type; function is the only one that maps",
        "Chat Completions, tool_calls[].type",
    ),
    Spelling(
        "index of a call",
        ("*", "tool_calls", "*", "index"),
        _in_place,
        "an index that is the place of the call, left over from a stream",
        "Chat Completions, chunk delta.tool_calls[].index",
    ),
    Spelling(
        "name of a tool result",
        ("*", "name"),
        lambda change: change.after.get("role") == "tool" and type(change.new) is str,
        "the name of the function that the result answers, known from the call",
        "Chat Completions, tool message",
    ),
)

_ITEM_NULLS = ("phase", "namespace", "caller", "created_by", "name")
_PART_NULLS = ("annotations", "logprobs", "detail", "filename", "file_data", "file_url", "file_id")

RESPONSES: tuple[Spelling, ...] = (
    Spelling(
        "item id",
        ("*", "id"),
        lambda _: True,
        "an id names the item to its own server; only call_id joins calls and outputs",
        "Open Responses, Items: ids are opaque",
    ),
    Spelling(
        "completed",
        ("*", "status"),
        lambda change: all(value in (None, "completed") or value is ABSENT for value in (change.old, change.new)),
        "stored input items may lack the status; what is mapped is completed",
        "Open Responses, Items: states",
    ),
    Spelling(
        "message without a type",
        ("*", "type"),
        lambda change: change.old == "message" and change.new is ABSENT,
        "an object with role and content is a message",
        "Open Responses, the prose's own examples",
    ),
    *(
        Spelling(
            "null key",
            ("*", key),
            lambda change: change.new is None and change.old is ABSENT,
            "client libraries write keys that say nothing as null",
            "Open Responses, nullable properties",
        )
        for key in _ITEM_NULLS
    ),
    *(
        Spelling(
            "empty key of a part",
            ("*", field, "*", key),
            _only_empty,
            "client libraries write keys that say nothing as null or empty",
            "Open Responses, content parts",
        )
        for field in ("content", "output")
        for key in _PART_NULLS
    ),
)

Place = Mapping[int, int] | Sequence[int]
"""For an index of the original the one of the back-translation."""


def by_place(rows: Iterable[Spelling]) -> dict[tuple[int, str], list[Spelling]]:
    """The rows by the length of their place and its last step, `*` for any."""
    table: dict[tuple[int, str], list[Spelling]] = {}
    for row in rows:
        table.setdefault((len(row.where), row.where[-1]), []).append(row)
    return table


TABLES = {"chat": by_place(CHAT), "responses": by_place(RESPONSES)}


def unspelled(ops: Iterable[Op], before: list[Any], after: list[Any], place: Place, name: str) -> list[Path]:
    """The places of the steps that no row covers."""
    table = TABLES[name]
    found: list[Path] = []
    for op in ops:
        n = int(op.path[0])
        old = ABSENT if op.op == "add" else op.old
        new = ABSENT if op.op == "remove" else op.value
        if len(op.path) == 1 and op.op != "replace":
            found.append(op.path)
            continue
        change = Change(op.path, old, new, before[place[n]], after[n])
        last = op.path[-1]
        rows = table.get((len(op.path), last if isinstance(last, str) else "*"), ())
        if not any(row.covers(change) for row in rows):
            found.append(op.path)
    return found


# ---------------------------------------------------------------- parameters of a request


def says_nothing(value: Any) -> bool:
    """Null, or an object of nothing else."""
    return value is None or (isinstance(value, dict) and all(map(says_nothing, value.values())))


class Step(NamedTuple):
    """A step of a patch as such a row sees it, with the back-translation and the original around it."""

    op: Op
    before: Any
    after: Any

    @property
    def path(self) -> Path:
        return self.op.path

    @property
    def old(self) -> Any:
        return self.op.old

    @property
    def value(self) -> Any:
        return self.op.value


@dataclass(frozen=True, slots=True)
class Setting:
    """One row for the parameters of requests: when a step of the patch means nothing, and why."""

    name: str
    side: str
    """chat, responses, or both."""
    holds: Callable[[Step], bool]
    why: str


def _neutral(step: Step) -> bool:
    if step.op.op != "add":
        return False
    if step.path == ("include",) and step.value == []:
        return True
    if step.path == ("logprobs",) and step.value is False:
        return True
    name = ".".join(map(str, step.path))
    rows = [row for row in PARAMETERS if name in (row.chat, row.responses)]
    return any(same(step.value, value) for row in rows for value in row.neutral)


def _older_name(step: Step) -> bool:
    old, new = step.before.get("max_completion_tokens"), step.after.get("max_tokens")
    return step.path in (("max_tokens",), ("max_completion_tokens",)) and old is not None and same(old, new)


def _chat_strict(step: Step) -> bool:
    return _of_tools(step, 4, "strict") and step.op.op == "add" and step.value in (False, None)


def _responses_strict(step: Step) -> bool:
    if not (_of_tools(step, 3, "strict") and isinstance(step.old, bool) and step.value is None):
        return False
    return step.op.op in ("remove", "replace") and step.old == can_be_strict(
        step.after["tools"][step.path[1]].get("parameters")
    )


def _of_tools(step: Step, length: int, key: str) -> bool:
    return step.path[:1] == ("tools",) and len(step.path) == length and step.path[-1] == key


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "null parameter",
        "both",
        lambda step: step.op.op == "add" and says_nothing(step.value),
        "null, or an object with nothing but nulls in it, gives no value",
    ),
    Setting("default", "both", _neutral, "a value that says no more than leaving the parameter out"),
    Setting("older name", "chat", _older_name, "max_tokens is the deprecated name of max_completion_tokens"),
    Setting(
        "tool without a type",
        "chat",
        lambda step: _of_tools(step, 3, "type") and step.op.op == "remove" and step.old == "function",
        "stored tools often lack the type; function is the only one that maps",
    ),
    Setting("strict", "chat", _chat_strict, "strict is false in Chat where it is left out"),
    Setting(
        "strict",
        "responses",
        _responses_strict,
        "strict is true in Responses where it is left out and the schema can be strict",
    ),
    Setting(
        "instructions",
        "responses",
        lambda step: step.path == ("instructions",) and step.op.op == "add" and type(step.value) is str,
        "Chat says instructions in a system message in front",
    ),
    Setting(
        "no top_logprobs",
        "responses",
        lambda step: step.path == ("top_logprobs",) and type(step.value) is int and step.value == 0,
        "the most likely tokens beside each token, of which there are to be none",
    ),
    Setting(
        "mode",
        "responses",
        lambda step: step.path == ("tool_choice", "mode") and step.old == "auto" and step.value is None,
        "the mode of allowed_tools is auto where it is left out",
    ),
)


def unspelled_parameters(ops: Iterable[Op], before: Any, after: Any, side: str) -> list[Path]:
    """The places of the steps that no row of `SETTINGS` covers."""
    rows = [row for row in SETTINGS if row.side in (side, "both")]
    return [op.path for op in ops if not any(row.holds(Step(op, before, after)) for row in rows)]


# ---------------------------------------------------------------- answers

ECHO = frozenset(DEFAULTS) - {"error"}
"""What a response says beside its answer: an echo of the request, and when and where it was made."""

ELSEWHERE = frozenset(
    {"input", "conversation", "prompt", "prompt_cache_options", "prompt_cache_retention", "user", "moderation"}
)


def _zero(value: Any) -> bool:
    """No tokens of a kind, however that is said."""
    return (
        value is None
        or (type(value) is int and value == 0)
        or (isinstance(value, dict) and all(map(_zero, value.values())))
    )


def _counts(step: Step) -> bool:
    return step.path[:1] == ("usage",) and len(step.path) > 1 and _zero(step.old) and _zero(step.value)


def _finish(step: Step) -> bool:
    words = ("stop", "tool_calls")
    return step.path == ("choices", 0, "finish_reason") and step.old in words and step.value in words


def _message(step: Step) -> bool:
    """A step inside the message of the choice, judged as one in a transcript."""
    if step.path[:3] != ("choices", 0, "message") or len(step.path) < 4:
        return False
    inner = Op(step.op.op, (0, *step.path[3:]), step.value, step.old)
    old, new = step.before["choices"][0]["message"], step.after["choices"][0]["message"]
    return not unspelled([inner], [old], [new], {0: 0}, "chat")


ANSWERS: tuple[Setting, ...] = (
    Setting("message", "chat", _message, "the spellings of a message"),
    Setting("finish", "chat", _finish, "some servers say stop where there are calls; the calls say it themselves"),
    Setting(
        "no tokens",
        "both",
        _counts,
        "a count that the format requires and nobody gave is written as 0, and 0 of a kind is none",
    ),
    Setting(
        "no usage",
        "both",
        lambda step: step.path == ("usage",) and step.value is None and step.old is None,
        "usage is null or left out where it is not known",
    ),
    Setting(
        "null key",
        "both",
        lambda step: step.value is None and step.old is None,
        "client libraries write keys that say nothing as null",
    ),
    Setting(
        "server",
        "chat",
        lambda step: step.path == ("system_fingerprint",) and step.op.op == "add",
        "the fingerprint names the state of one server",
    ),
    Setting(
        "tier",
        "chat",
        lambda step: step.path == ("service_tier",) and step.old == "default" and not step.value,
        "a response must name a tier; where nobody gave one it says default",
    ),
    Setting(
        "nothing to report",
        "chat",
        lambda step: (
            step.path in (("metadata",), ("choices", 0, "logprobs")) and is_nothing(step.old) and is_nothing(step.value)
        ),
        "an object with nothing in it",
    ),
    Setting(
        "no log probabilities",
        "chat",
        lambda step: step.path == ("choices", 0, "logprobs", "refusal") and is_empty(step.value) and is_empty(step.old),
        "an empty list of what a refusal would have",
    ),
    Setting(
        "constant",
        "chat",
        lambda step: step.op.op == "remove" and step.path in (("object",), ("choices", 0, "index")),
        "the kind of the object, and the place of the only choice",
    ),
    Setting(
        "echo",
        "responses",
        lambda step: step.path[0] in ECHO and step.path[0] != "incomplete_details",
        "the response echoes the settings of its request, which say nothing about the answer",
    ),
    Setting(
        "echo elsewhere",
        "responses",
        lambda step: step.path[0] in ELSEWHERE,
        "the same, for settings that only OpenAI's own API has",
    ),
    Setting(
        "whole seconds",
        "responses",
        lambda step: step.path == ("created_at",) and type(step.value) is float and step.value == step.old,
        "a moment written as a float without a fraction",
    ),
)


def is_nothing(value: Any) -> bool:
    """Null, or an object of nothing but nulls and empty lists."""
    return value is None or (isinstance(value, dict) and all(v is None or v == [] for v in value.values()))


def unspelled_answer(ops: Iterable[Op], before: Any, after: Any, side: str) -> list[Path]:
    """The places of the steps outside the items that no row of `ANSWERS` covers."""
    rows = [row for row in ANSWERS if row.side in (side, "both")]
    return [op.path for op in ops if not any(row.holds(Step(op, before, after)) for row in rows)]


def means_nothing(op: Op, before: list[Any], after: list[Any], place: Place, status: str) -> bool:
    """Whether a step inside an item of an answer means nothing: as in a transcript, or the state of a cut text."""
    if len(op.path) == 2 and op.path[1] == "status" and status == "incomplete":
        return True
    return not unspelled([op], before, after, place, "responses")
