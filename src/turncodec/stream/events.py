"""A response that grows event by event.

Knows Open Responses alone: which event says what of which item, and where it stood. Items are joined by their
`output_index`, since some servers change the id of an item from event to event. What is said twice (by the deltas, by
the events that end a text or an item, and by the response that ends the stream) must agree; where one of them is
silent the others speak. What the response means is asked of it when it is whole.

(Open Responses, "Streaming"; specification digest e.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from turncodec.refusals import Finding, Path, raise_all, refused
from turncodec.stream.chunks import DONE, message_of_error
from turncodec.translate import plain
from turncodec.validate import type_findings
from turncodec.wire.events import EVENT

Event = dict[str, Any]
Place = tuple[str, int]
"""A text of an item: the list that it stands in and its place there; arguments stand in no list."""

ARGUMENTS: Place = ("arguments", 0)


@dataclass(frozen=True, slots=True)
class Streamed:
    """A kind of text that is streamed: by events named `name` + `.delta` and `.done`, into the key `key` of the part
    at `index` of the list `list` of an item of the type `item`; `list` and `index` are empty for the arguments of a
    call, which stand in no part."""

    name: str
    item: str
    list: str
    index: str
    part: str
    key: str


STREAMED = (
    Streamed("response.output_text", "message", "content", "content_index", "output_text", "text"),
    Streamed("response.refusal", "message", "content", "content_index", "refusal", "refusal"),
    Streamed("response.reasoning", "reasoning", "content", "content_index", "reasoning_text", "text"),
    Streamed("response.reasoning_text", "reasoning", "content", "content_index", "reasoning_text", "text"),
    Streamed("response.reasoning_summary_text", "reasoning", "summary", "summary_index", "summary_text", "text"),
    Streamed("response.reasoning_summary", "reasoning", "summary", "summary_index", "summary_text", "text"),
    Streamed("response.function_call_arguments", "function_call", "", "", "", "arguments"),
)
"""Reasoning in both spellings: the specification's names, and those of OpenAI's own API."""

DELTA = {row.name + ".delta": row for row in STREAMED}
DONE_TEXT = {row.name + ".done": row for row in STREAMED}
PART_ADDED = {
    "response.content_part.added": ("content", "content_index"),
    "response.reasoning_part.added": ("content", "content_index"),
    "response.reasoning_summary_part.added": ("summary", "summary_index"),
}
PART_DONE = {name.replace("added", "done"): value for name, value in PART_ADDED.items()}
OPENING = ("response.created", "response.queued", "response.in_progress")
CLOSING = ("response.completed", "response.incomplete", "response.failed")
TEXT_KEY = {row.part: row.key for row in STREAMED if row.part} | {"text": "text"}
LISTS = ("content", "summary")
NO_LOGPROBS: list[Any] = []
SPOKEN = (*dict.fromkeys(row.item for row in STREAMED), "function_call_output")
"""The items whose texts are streamed. What is said of any other comes whole, and the last word counts."""
SILENT: tuple[Any, ...] = (None, "", [])
PLAIN_KEYS = {
    name: frozenset(
        {"type", "sequence_number", "item_id", "output_index", "delta", "logprobs", "obfuscation", row.index}
    )
    for name, row in DELTA.items()
}


def assemble_events(events: Iterable[Any]) -> dict[str, Any]:
    """The response object that a stream amounts to.

    `events` are events of Responses (JSON values, or objects of the `openai` package), and may end with `"[DONE]"`.
    The response is that of the event that ends the stream, with what was streamed where it leaves something out; of a
    stream that was cut off it is the one that began it, with its items as far as they came. Obfuscation is dropped, and
    events (and keys of events) that the specification does not have are ignored: they belong to no response.

    Raises `Refused` where events cannot be joined: `malformed`, `out_of_place`, `contradiction`; and `stream_failed`
    for an `error` event that no response follows. Pointers begin with the number of the event, from 0.
    """
    growing = GrowingResponse()
    for event in events:
        growing.add(event)
    return growing.value()


class Said(NamedTuple):
    """One thing that an event adds to the whole.

    `what` is "opening" (a response that is begun), "item" (an item begins), "part" (a part of it), "text" (a fragment
    of the text at `place`), "whole" (an item has ended), or "closing"; `value` is the response, item, part or fragment.
    """

    what: str
    value: Any
    item: GrowingItem | None = None
    place: Place = ARGUMENTS


class GrowingText:
    """A text by its fragments, and what was said of it as a whole."""

    __slots__ = ("fragments", "is_done", "logprobs", "part", "whole")

    def __init__(self) -> None:
        self.fragments: list[str] = []
        self.whole: str | None = None
        self.part: dict[str, Any] | None = None
        self.logprobs: list[Any] = []
        self.is_done = False

    @property
    def text(self) -> str:
        if self.whole is None and len(self.fragments) > 1:
            self.fragments = ["".join(self.fragments)]
        return self.whole or "".join(self.fragments)

    def agree(self, whole: str, at: Path) -> None:
        """Take what is said of the whole text; where nothing was streamed, or nothing is said, the other one speaks."""
        if self.text and whole and self.text != whole:
            raise refused("contradiction", at, "it is not what was streamed")
        self.whole = whole or self.whole


class GrowingItem:
    """An item of the output. `index` is its `output_index`, `at` where it began."""

    def __init__(self, index: int, item: dict[str, Any], at: Path) -> None:
        self.index, self.item, self.at = index, item, at
        self.ids: list[Any] = [item.get("id")]
        self.texts: dict[Place, GrowingText] = {}
        self.is_done = False

    def text_at(self, place: Place) -> GrowingText:
        if place not in self.texts:
            self.texts[place] = GrowingText()
        return self.texts[place]

    def take(self, item: dict[str, Any], at: Path) -> None:
        """Take the whole item, as an event that ends it has it, or the response that ends the stream."""
        is_spoken = (item.get("type") or self.item.get("type") or "message") in SPOKEN
        keys = ("type", "call_id", "name", "status") if is_spoken else ("type",)
        for key in keys:
            old, new = self.item.get(key), item.get(key)
            if old and new and old != new and (key != "status" or self.is_done):
                raise refused("contradiction", (*at, key), f"{old!r:.60} was said before")
        if is_spoken and isinstance(item.get("arguments"), str):
            self.text_at(ARGUMENTS).agree(item["arguments"], (*at, "arguments"))
        for place, part, path in self.parts_of(item) if is_spoken else ():
            self.take_part(place, part, (*at, *path))
        for key in LISTS:
            parts, indices = item.get(key), self.streamed(key)
            if isinstance(parts, list) and parts and len(parts) < len(indices) and is_spoken:
                said = f"{len(indices)} parts were streamed, and here are {len(parts)}"
                raise refused("contradiction", (*at, key), said)
        self.ids.append(item.get("id"))
        spoken = {key: value for key, value in item.items() if value not in SILENT or not self.item.get(key)}
        self.item, self.at = {**self.item, **spoken}, at
        self.is_done = True

    def take_part(self, place: Place, part: dict[str, Any], at: Path) -> None:
        """Take a part of a whole item: it must be of the type, and have the text, that was streamed."""
        text = self.texts.get(place)
        was = text.part.get("type") if text and text.part and text.text else None
        if was and part.get("type") != was:
            raise refused("contradiction", (*at, "type"), f"it was streamed as {was!r:.60}")
        key = text_key(part)
        if key and isinstance(part.get(key), str):
            self.text_at(place).agree(part[key], (*at, key))

    def parts_of(self, item: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any], Path]]:
        """The parts of a whole item: where each was streamed, what it says, and where it stands in the item."""
        for key in LISTS:
            parts = item.get(key)
            parts = parts if isinstance(parts, list) else []
            for n, part in enumerate(parts):
                if isinstance(part, dict):
                    yield self.place_of(key, n, len(parts)), part, (key, n)

    def streamed(self, key: str) -> list[int]:
        """The indices in a list at which a text was streamed."""
        return sorted(n for name, n in self.texts if name == key and self.texts[name, n].text)

    def place_of(self, key: str, n: int, count: int) -> Place:
        """Where a part of a whole list was streamed: some servers do not count the parts from 0."""
        streamed = self.streamed(key)
        return (key, streamed[n]) if len(streamed) == count else (key, n)

    def take_name(self, name: str, at: Path) -> None:
        if self.item.get("name") not in (None, "", name):
            raise refused("contradiction", at, f"{self.item['name']!r:.60} was said before")
        self.item = {**self.item, "name": name}

    def value(self) -> dict[str, Any]:
        """The item, with what was streamed where it says nothing itself."""
        item = dict(self.item)
        for key in LISTS:
            parts, streamed = item.get(key), sorted(n for name, n in self.texts if name == key)
            if streamed and not parts:
                item[key] = [self.part_at(key, n) for n in streamed]
            elif streamed and isinstance(parts, list):
                places = [self.place_of(key, n, len(parts)) for n in range(len(parts))]
                item[key] = [filled(part, self.texts.get(place)) for part, place in zip(parts, places, strict=True)]
        if ARGUMENTS in self.texts and not item.get("arguments"):
            item["arguments"] = self.texts[ARGUMENTS].text
        if not self.is_done and self.texts and all(text.is_done for text in self.texts.values()):
            item["status"] = "completed"
        return item

    def part_at(self, key: str, n: int) -> dict[str, Any]:
        """A part by its events alone."""
        text = self.texts[key, n]
        part = text.part or {"type": "summary_text" if key == "summary" else "output_text"}
        whole: dict[str, Any] = filled({**part, text_key(part): ""} if text_key(part) else part, text)
        return whole


def text_key(part: Any) -> str:
    """The key under which a part has its text; empty where it has none."""
    return TEXT_KEY.get(str(part.get("type")), "") if isinstance(part, dict) else ""


def filled(part: Any, text: GrowingText | None) -> Any:
    """A part with its text where it has none of its own."""
    key = text_key(part)
    if not key or text is None:
        return part
    silent = {} if part.get(key) else {key: text.text}
    logprobs = {"logprobs": text.logprobs} if text.logprobs and not part.get("logprobs") else {}
    return {**part, **silent, **logprobs}


class GrowingResponse:
    """A response from its events."""

    def __init__(self, passed: frozenset[str] = frozenset({"unknown_event"})) -> None:
        self.passed = passed
        """The codes of events that are passed over."""
        self.number = 0
        self.head: dict[str, Any] = {}
        """The response as the first events have it."""
        self.head_at: Path = ()
        self.items: dict[int, GrowingItem] = {}
        self.closing: dict[str, Any] | None = None
        self.closing_at: Path = ()
        self.error: tuple[Any, Path] | None = None
        self.ended = False

    def add(self, event: Any) -> list[Said]:
        """Take one more event, or `"[DONE]"`. What it adds, in its order."""
        number = self.number
        self.number += 1
        if self.ended:
            raise refused("out_of_place", (number,), "the stream has ended")
        if type(event) is str and event.strip() == DONE:
            self.ended = True
            return []
        said = self.glance(event)
        return self.read(plain(event), number) if said is None else said

    # ------------------------------------------------------------ the plain case

    def glance(self, event: Any) -> list[Said] | None:
        """An event that only adds a fragment to a text; None where a closer look is needed.

        For speed alone: whatever it is unsure of is read in full.
        """
        if type(event) is not dict or self.closing is not None:
            return None
        kind = event.get("type")
        if not isinstance(kind, str):
            return None
        row = DELTA.get(kind)
        if row is None or not event.keys() <= PLAIN_KEYS[kind]:
            return None
        index = event.get("output_index")
        item = self.items.get(index) if type(index) is int else None
        delta, n = event.get("delta"), event.get(row.index) if row.index else 0
        if item is None or item.is_done or type(delta) is not str or type(n) is not int:
            return None
        if event.get("logprobs", NO_LOGPROBS) != NO_LOGPROBS or type(event.get("sequence_number", 0)) is not int:
            return None
        if type(event.get("item_id", "")) is not str or type(event.get("obfuscation", "")) is not str:
            return None
        place = (row.list, n) if row.list else ARGUMENTS
        text = item.texts.get(place)
        if text is None or text.is_done or not text.fragments:
            return None
        text.fragments.append(delta)
        return [Said("text", delta, item, place)]

    # ------------------------------------------------------------ any case

    def read(self, event: Any, number: int) -> list[Said]:
        if type(event) is dict and "choices" in event and "type" not in event:
            raise refused("wrong_direction", (number,), "a chunk of Chat, where events of Responses are translated")
        if type(event) is not dict or type(event.get("type")) is not str:
            raise refused("malformed", (number,), "an event is an object with a type")
        kind = event["type"]
        if kind not in EVENT:
            return self.pass_over(event, number)
        findings = [finding.under((number,)) for finding in type_findings(EVENT[kind], event)]
        unknown = [known_as_event(f) for f in findings if f.code == "unknown_field" and len(f.path) == 2]
        raise_all(f for f in findings if not (f.code == "unknown_field" and len(f.path) == 2))
        raise_all(f for f in unknown if f.code not in self.passed)
        if self.closing is not None:
            raise refused("out_of_place", (number,), "the response has ended")
        if kind == "error":
            self.error = event, (number, *(("error",) if event.get("error") else ()))
            return [Said("error", event.get("error") or event)]
        if kind in OPENING:
            return self.open(event["response"], number)
        if kind in CLOSING:
            return self.close(event["response"], number)
        if kind == "response.output_item.added":
            return self.add_item(event, number)
        item = self.item_of(event, number)
        if kind == "response.output_item.done":
            item.take(event["item"], (number, "item"))
            return [Said("whole", item.item, item)]
        return self.read_text(event, item, number)

    def pass_over(self, event: Event, number: int) -> list[Said]:
        """An event that the specification does not have. A namespaced one may be ignored ("Extension events"); what is
        said of an item that has a type of its own comes whole with the item."""
        kind, index = event["type"], event.get("output_index")
        item = self.items.get(index) if type(index) is int else None
        own = item is not None and item.item.get("type") not in ("message", "function_call", "function_call_output")
        if ":" not in kind and not own and "unknown_event" not in self.passed:
            raise refused("unknown_event", (number, "type"), f"no event has the type {kind!r:.80}")
        return []

    def open(self, response: dict[str, Any], number: int) -> list[Said]:
        self.head = {**self.head, **response, **known(self.head)}
        self.head_at = (number, "response")
        return [Said("opening", response)]

    def close(self, response: dict[str, Any], number: int) -> list[Said]:
        self.closing, self.closing_at = response, (number, "response")
        output = response.get("output")
        output = output if isinstance(output, list) else []
        streamed = [self.items[index] for index in sorted(self.items)]
        in_step = len(output) == len(streamed)
        for n, entry in enumerate(output):
            at: Path = (number, "response", "output", n)
            if not isinstance(entry, dict):
                raise refused("malformed", at, "an item is an object")
            item = streamed[n] if in_step else self.items.get(n)
            if item is None:
                item = self.items[n] = GrowingItem(n, entry, at)
            item.take(entry, at)
        return [Said("closing", response)]

    # ------------------------------------------------------------ items

    def add_item(self, event: Event, number: int) -> list[Said]:
        index = event.get("output_index", max(self.items, default=-1) + 1)
        if index in self.items:
            raise refused("contradiction", (number, "output_index"), f"item {index} has begun before")
        item = self.items[index] = GrowingItem(index, event["item"], (number, "item"))
        if event["item"].get("arguments") and isinstance(event["item"]["arguments"], str):
            item.text_at(ARGUMENTS).fragments.append(event["item"]["arguments"])
        return [Said("item", event["item"], item)]

    def item_of(self, event: Event, number: int) -> GrowingItem:
        """The item that an event is about: by its index, by its id where it has no index, or the only open one."""
        index, kind = event.get("output_index"), event["type"]
        if index is not None:
            if index not in self.items and kind == "response.output_item.done":
                self.items[index] = GrowingItem(index, {}, (number, "item"))
            if index not in self.items:
                raise refused("out_of_place", (number, "output_index"), f"item {index} has not begun")
            return self.items[index]
        item_id = event.get("item_id") or (event.get("item") or {}).get("id")
        found = [item for item in self.items.values() if item_id is not None and item_id in item.ids]
        found = found or [item for item in self.items.values() if not item.is_done]
        if len(found) != 1:
            raise refused("out_of_place", (number,), "neither an index nor an id says which item it belongs to")
        return found[0]

    def read_text(self, event: Event, item: GrowingItem, number: int) -> list[Said]:
        """An event about a part of an item, or its text."""
        kind = event["type"]
        if event.get("item_id") is not None and event["item_id"] not in item.ids:
            item.ids.append(event["item_id"])
        if kind in PART_ADDED or kind in PART_DONE:
            list_, key = PART_ADDED.get(kind) or PART_DONE[kind]
            return self.read_part(event, item, (list_, event[key]), number)
        if kind == "response.output_text.annotation.added":
            return self.annotate(event, item)
        row = DELTA.get(kind) or DONE_TEXT[kind]
        if item.item.get("type") not in (row.item, None):
            raise refused(
                "out_of_place", (number, "type"), f"an item of type {item.item['type']!r:.60} has no such text"
            )
        place = (row.list, event[row.index]) if row.list else ARGUMENTS
        text = item.text_at(place)
        if row.part and text.part is None:
            text.part = {"type": row.part, **({"annotations": []} if row.part == "output_text" else {})}
        if kind in DELTA:
            if text.is_done or item.is_done:
                raise refused("out_of_place", (number, "delta"), "the text that it adds to has ended")
            text.fragments.append(event["delta"])
            text.logprobs += event.get("logprobs") or ()
            return [Said("text", event["delta"], item, place)]
        text.agree(event[row.key], (number, row.key))
        text.logprobs = [*(event.get("logprobs") or text.logprobs)]
        if event.get("name"):
            item.take_name(event["name"], (number, "name"))
        text.is_done = True
        return []

    def read_part(self, event: Event, item: GrowingItem, place: Place, number: int) -> list[Said]:
        text = item.text_at(place)
        part = event["part"]
        was = text.part.get("type") if text.part else None
        if was and part.get("type") != was:
            raise refused("contradiction", (number, "part", "type"), f"{was!r:.60} was said before")
        begun = text.part is None
        text.part = {**(text.part or {}), **part}
        key = text_key(part)
        if key and isinstance(part.get(key), str):
            text.agree(part[key], (number, "part", key))
        return [Said("part", part, item, place)] if begun and event["type"] in PART_ADDED else []

    def annotate(self, event: Event, item: GrowingItem) -> list[Said]:
        text = item.text_at(("content", event["content_index"]))
        part = text.part or {"type": "output_text"}
        if event["annotation"] is not None:
            text.part = {**part, "annotations": [*(part.get("annotations") or ()), event["annotation"]]}
        return []

    # ------------------------------------------------------------ the whole

    def value(self) -> dict[str, Any]:
        """The response so far."""
        if self.closing is None and self.error is not None:
            event, at = self.error
            raise refused("stream_failed", at, f"the provider says: {message_of_error(event.get('error') or event)}")
        output = [self.items[index].value() for index in sorted(self.items)]
        whole = {"object": "response", "status": "in_progress", **self.head, **(self.closing or {}), **known(self.head)}
        return {**whole, "output": output}

    def place(self, path: Path) -> Path:
        """Where in the stream that stands which stands at a path of the response."""
        if path[:1] == ("output",) and len(path) > 1:
            item = self.items[sorted(self.items)[int(path[1])]]
            return (*item.at, *path[2:])
        return (*(self.closing_at or self.head_at), *path)


def known(head: dict[str, Any]) -> dict[str, Any]:
    """By what the client knows the response, from its first event; some servers give each event another id."""
    return {key: head[key] for key in ("id", "created_at", "model") if head.get(key) is not None}


def known_as_event(finding: Finding) -> Finding:
    """A key that an event does not have: it is none of the response, so that no remainder could keep it."""
    return Finding("unknown_event", finding.path, finding.message)
