"""Are two conversations the same? Two documents of either format, compared as what they mean.

For those who do not trust a translation, ours or another's. So this room reads both formats on its own and knows
nothing of `mapping`: a fault there cannot hide here. Two documents agree when the same is said, by the same speakers,
in the same order; when the same calls are made, with the same ids, names and argument bytes, and answered with the same
outputs; and when the same tools are offered, with the same schemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from turncodec.equality import same
from turncodec.refusals import Path, pointer

Json = Any


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same.

    `what` is one of `WHAT`; `left` and `right` are JSON pointers, None where a side has nothing there; `said` shows
    the two.
    """

    what: str
    left: str | None
    right: str | None
    said: str

    def __str__(self) -> str:
        return f"{self.what}: {self.left if self.left is not None else '-'} | {self.right or '-'}: {self.said}"

    def as_json(self) -> dict[str, str | None]:
        """The difference as a JSON object with the four fields by name."""
        return {"what": self.what, "left": self.left, "right": self.right, "said": self.said}


WHAT = {
    "record": "a record is missing, new, or no conversation",
    "model": "another model",
    "text": "a text, image, file or refusal is missing, new, or not the same",
    "call": "a call is missing or new",
    "call_id": "a call has another id",
    "name": "a call is of another function",
    "arguments": "the bytes of the arguments are not the same",
    "status": "a call is completed on one side only",
    "result": "a result is missing or new",
    "output": "the output of a call is not the same",
    "order": "the same things in another order",
    "item": "an item of a type that only one format or provider has is missing or new",
    "tool": "a tool is missing or new",
    "schema": "a tool is described in another way",
}
"""What can differ, and what that means."""


# ---------------------------------------------------------------- reading


class Said(NamedTuple):
    """A text, image, file or refusal."""

    path: Path
    speaker: str
    content: tuple[Any, ...]


class Call(NamedTuple):
    path: Path
    call_id: Any
    name: Any
    arguments: Any
    completed: bool


class Result(NamedTuple):
    path: Path
    call_id: Any
    output: tuple[tuple[Any, ...], ...]


class Item(NamedTuple):
    """An item of which only its type is known."""

    path: Path
    kind: Any
    value: Json


@dataclass
class Conversation:
    """What a document says, in order; `order` holds the kind and the identity of each fact, turn by turn."""

    said: list[Said] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    tools: dict[str, tuple[Path, dict[str, Any]]] = field(default_factory=dict)
    model: Any = None
    order: list[tuple[str, Any]] = field(default_factory=list)

    def add(self, fact: Said | Call | Result | Item) -> None:
        if isinstance(fact, Call):
            self.calls.append(fact)
        elif isinstance(fact, Result):
            self.results.append(fact)
        elif isinstance(fact, Item):
            self.items.append(fact)
        else:
            self.said.append(fact)


def read(document: Json) -> Conversation:
    """What a document of either format says: a transcript, a request, a row, an answer, or a line of a batch file.

    Raises ValueError where there is no conversation in it.
    """
    conversation = Conversation()
    turns, path, holder = conversation_in(document)
    facts = [*instructions_of(holder, path), *facts_of(turns, path)]
    for fact in facts:
        conversation.add(fact)
    conversation.order = turn_order(facts)
    if isinstance(holder, dict):
        conversation.model = holder.get("model")
        at = path[:-1] if path else ()
        conversation.tools = tools_of(holder.get("tools"), at) if "object" not in holder else {}
    return conversation


def instructions_of(holder: Json, path: Path) -> Iterator[Said]:
    """The instructions of a request, which Chat says in a system message; of a response they are an echo."""
    if isinstance(holder, dict) and "object" not in holder and isinstance(holder.get("instructions"), str):
        for content in contents(holder["instructions"]):
            yield Said((*path[:-1], "instructions"), "system", content)


def conversation_in(document: Json, path: Path = ()) -> tuple[list[Any], Path, Json]:
    """The turns of a document, their place, and the object that they stand in."""
    if isinstance(document, list):
        return document, path, None
    if isinstance(document, dict):
        for key in ("messages", "input", "output"):
            if isinstance(document.get(key), list):
                return document[key], (*path, key), document
        if isinstance(document.get("input"), str):
            return [{"role": "user", "content": document["input"]}], (*path, "input"), document
        if isinstance(document.get("choices"), list):
            messages = [choice.get("message") for choice in document["choices"] if isinstance(choice, dict)]
            return messages, (*path, "choices"), document
        for key in ("body", "response"):
            if isinstance(document.get(key), dict):
                return conversation_in(document[key], (*path, key))
    raise ValueError("there is no conversation in it")


Fact = Said | Call | Result | Item


def facts_of(turns: list[Any], path: Path) -> Iterator[Fact]:
    for n, turn in enumerate(turns):
        place = (*path, n)
        if not isinstance(turn, dict):
            yield Item(place, None, turn)
        elif "type" in turn and turn["type"] != "message":
            yield item_fact(turn, place)
        elif turn.get("role") == "tool":
            yield Result(place, turn.get("tool_call_id"), contents(turn.get("content")))
        else:
            yield from message_facts(turn, place)


def item_fact(item: dict[str, Any], place: Path) -> Fact:
    kind = item["type"]
    if kind == "function_call" and item.get("namespace") is None:
        completed = item.get("status") in (None, "completed")
        return Call(place, item.get("call_id"), item.get("name"), item.get("arguments"), completed)
    if kind == "function_call_output":
        return Result(place, item.get("call_id"), contents(item.get("output")))
    return Item(place, kind, item)


def message_facts(message: dict[str, Any], place: Path) -> Iterator[Fact]:
    speaker = str(message.get("role"))
    for content in contents(message.get("content")):
        yield Said(place, speaker, content)
    if message.get("refusal"):
        yield Said(place, speaker, ("refusal", message["refusal"]))
    calls = message.get("tool_calls")
    for n, call in enumerate(calls if isinstance(calls, list) else ()):
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            at = (*place, "tool_calls", n)
            yield Call(at, call.get("id"), function.get("name"), function.get("arguments"), True)
        else:
            yield Item((*place, "tool_calls", n), "tool_call", call)
    for key in ("function_call", "reasoning", "reasoning_content", "reasoning_details", "audio"):
        if message.get(key):
            yield Item((*place, key), key, message[key])


def contents(content: Json) -> tuple[tuple[Any, ...], ...]:
    """A content as what it holds: a string is one text, and an empty one nothing."""
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (("text", content),)
    found = map(part_content, content if isinstance(content, list) else [content])
    return tuple(said for said in found if said != ("text", ""))


def part_content(part: Json) -> tuple[Any, ...]:
    if not isinstance(part, dict):
        return ("part", part)
    kind = part.get("type")
    if kind in ("text", "input_text", "output_text"):
        return ("text", part.get("text"))
    if kind == "refusal":
        return ("refusal", part.get("refusal"))
    if kind in ("image_url", "input_image"):
        image = part.get("image_url")
        flat = image if isinstance(image, dict) else {"url": image, "detail": part.get("detail")}
        return ("image", flat.get("url"), flat.get("detail"))
    if kind in ("file", "input_file"):
        file = part.get("file", part)
        keys = ("filename", "file_data", "file_id", "file_url")
        return ("file", *(file.get(key) if isinstance(file, dict) else file for key in keys))
    return ("part", part)


def turn_order(facts: Iterable[Fact]) -> list[tuple[str, Any]]:
    """The order that both formats can express: within a turn of the assistant what it says stands before its calls."""
    order: list[tuple[str, Any]] = []
    calls: list[tuple[str, Any]] = []
    for fact in facts:
        if isinstance(fact, Call):
            calls.append(("call", fact.call_id))
        elif isinstance(fact, Said) and fact.speaker == "assistant":
            order.append(("said", fact.content))
        elif not isinstance(fact, Item):
            order += calls
            calls = []
            order.append(("result", fact.call_id) if isinstance(fact, Result) else ("said", fact.content))
    return order + calls


def tools_of(tools: Json, path: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """The tools by name: what a model is told of each, as both formats can say it."""
    found: dict[str, tuple[Path, dict[str, Any]]] = {}
    for n, tool in enumerate(tools if isinstance(tools, list) else ()):
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        if isinstance(function, dict):
            nested = function is not tool
            strict = function.get("strict")
            told = {key: function.get(key) for key in ("description", "parameters")}
            # Left out, strict is false in Chat; in Responses it depends on the schema, so that nothing can be said.
            told["strict"] = strict or False if nested else strict
            name = function.get("name") or f"({tool.get('type')})"
            found[str(name)] = ((*path, "tools", n), told)
    return found


# ---------------------------------------------------------------- comparing


def compare(left: Json, right: Json) -> list[Difference]:
    """Everything in which two documents do not mean the same; an empty list where `right` is a faithful replay of
    `left`. Raises ValueError where one holds no conversation."""
    if same(left, right):
        return []
    one, other = read(left), read(right)
    found = [
        *models(one, other),
        *texts(one.said, other.said),
        *calls(one.calls, other.calls),
        *results(one.results, other.results),
        *items(one.items, other.items),
        *tools(one.tools, other.tools),
    ]
    if not found and one.order != other.order:
        n = next(n for n, (a, b) in enumerate(zip(one.order, other.order, strict=False)) if a != b)
        found.append(Difference("order", "", "", f"{shown(one.order[n])} on the left, {shown(other.order[n])} here"))
    return found


def models(one: Conversation, other: Conversation) -> Iterator[Difference]:
    if one.model is not None and other.model is not None and not same(one.model, other.model):
        yield Difference("model", "/model", "/model", beside(one.model, other.model))


def texts(one: list[Said], other: list[Said]) -> Iterator[Difference]:
    """What is said, in order. One that is missing does not make all that follow differ."""
    left, right = [(s.speaker, s.content) for s in one], [(s.speaker, s.content) for s in other]
    n = m = 0
    while n < len(left) or m < len(right):
        if n < len(left) and m < len(right) and left[n] == right[m]:
            n, m = n + 1, m + 1
        elif m < len(right) and left[n : n + 1] and left[n] in right[m + 1 :] and right[m] not in left[n + 1 :]:
            yield Difference("text", None, pointer(other[m].path), f"new: {shown(right[m])}")
            m += 1
        elif n < len(left) and m < len(right) and left[n] not in right[m:] and right[m] not in left[n:]:
            yield Difference("text", pointer(one[n].path), pointer(other[m].path), beside(left[n], right[m]))
            n, m = n + 1, m + 1
        elif n < len(left):
            yield Difference("text", pointer(one[n].path), None, f"missing: {shown(left[n])}")
            n += 1
        else:
            yield Difference("text", None, pointer(other[m].path), f"new: {shown(right[m])}")
            m += 1


def occurrences(ids: Iterable[Any]) -> list[tuple[str, int]]:
    """Each id with how often it stood before: an id may be used again turns later."""
    count: dict[str, int] = {}
    numbered = []
    for call_id in map(repr, ids):
        numbered.append((call_id, count.get(call_id, 0)))
        count[call_id] = count.get(call_id, 0) + 1
    return numbered


def calls(one: list[Call], other: list[Call]) -> Iterator[Difference]:
    """The calls, joined by id; where an id has gone and another has come for the same call, that is said."""
    left = dict(zip(occurrences(call.call_id for call in one), one, strict=True))
    right = dict(zip(occurrences(call.call_id for call in other), other, strict=True))
    come = [right[key] for key in right if key not in left]
    for key, call in left.items():
        twin = right.get(key)
        if twin is None:
            twin = next((c for c in come if (c.name, c.arguments) == (call.name, call.arguments)), None)
            if twin is None:
                yield Difference("call", pointer(call.path), None, f"missing: {shown(call.call_id)}")
                continue
            come.remove(twin)
            yield Difference("call_id", pointer(call.path), pointer(twin.path), beside(call.call_id, twin.call_id))
        yield from call_parts(call, twin)
    for call in come:
        yield Difference("call", None, pointer(call.path), f"new: {shown(call.call_id)}")


def call_parts(call: Call, twin: Call) -> Iterator[Difference]:
    places = pointer(call.path), pointer(twin.path)
    if not same(call.name, twin.name):
        yield Difference("name", *places, beside(call.name, twin.name))
    if not same(call.arguments, twin.arguments):
        yield Difference("arguments", *places, beside(call.arguments, twin.arguments))
    if call.completed != twin.completed:
        words = ["completed" if completed else "unfinished" for completed in (call.completed, twin.completed)]
        yield Difference("status", *places, " -> ".join(words))


def results(one: list[Result], other: list[Result]) -> Iterator[Difference]:
    left = dict(zip(occurrences(result.call_id for result in one), one, strict=True))
    right = dict(zip(occurrences(result.call_id for result in other), other, strict=True))
    for key, result in left.items():
        twin = right.get(key)
        if twin is None:
            yield Difference("result", pointer(result.path), None, f"missing: of {shown(result.call_id)}")
        elif result.output != twin.output:
            yield Difference("output", pointer(result.path), pointer(twin.path), beside(result.output, twin.output))
    for key, result in right.items():
        if key not in left:
            yield Difference("result", None, pointer(result.path), f"new: of {shown(result.call_id)}")


def items(one: list[Item], other: list[Item]) -> Iterator[Difference]:
    left, right = [item.value for item in one], [item.value for item in other]
    for item in one:
        if not any(same(item.value, value) for value in right):
            yield Difference("item", pointer(item.path), None, f"missing: {shown(item.kind)}")
    for item in other:
        if not any(same(item.value, value) for value in left):
            yield Difference("item", None, pointer(item.path), f"new: {shown(item.kind)}")


Tools = dict[str, tuple[Path, dict[str, Any]]]


def tools(one: Tools, other: Tools) -> Iterator[Difference]:
    for name, (path, told) in one.items():
        if name not in other:
            yield Difference("tool", pointer(path), None, f"missing: {shown(name)}")
            continue
        place, twin = other[name]
        for key in told:
            unsaid = key == "strict" and None in (told[key], twin[key])
            if not unsaid and not same(told[key], twin[key]):
                said = f"{key}: {beside(told[key], twin[key])}"
                yield Difference("schema", pointer(path), pointer(place), said)
    for name, (path, _) in other.items():
        if name not in one:
            yield Difference("tool", None, pointer(path), f"new: {shown(name)}")


# ---------------------------------------------------------------- showing


def shown(value: Any) -> str:
    return f"{value!r:.120}"


def beside(left: Any, right: Any) -> str:
    """Two values beside each other; of two strings the bytes around the first that differs."""
    if isinstance(left, str) and isinstance(right, str):
        n = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
        start = max(0, n - 20)
        at = f", at character {n} of {len(left):,} and {len(right):,}" if start else ""
        return f"{left[start : n + 40]!r} -> {right[start : n + 40]!r}{at}"
    return f"{shown(left)} -> {shown(right)}"
