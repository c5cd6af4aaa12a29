"""Chunks of Chat in, events of Responses out.

Every item stays open until the stream has ended: text may go on after a call has begun (some providers do that), and
only the reason to finish tells whether what was said is complete. Then the completion that the chunks amount to is
translated as any other, the items are brought to what that translation says, and its response ends the stream. So the
mapping, its refusals and its proof are those of `turncodec.translate`; what is said here is only when each thing is
known. What the table below says is what the code does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from turncodec.formats import CHAT
from turncodec.mapping.calls import call_to_item
from turncodec.mapping.output import completion_to_response
from turncodec.refusals import Path, Refused, refused
from turncodec.request import settings_from
from turncodec.response import Completion
from turncodec.stream.chunks import DONE, GrowingCall, GrowingCompletion, Said, error_of, texts_in
from turncodec.stream.translator import Translator
from turncodec.translate import plain, translate

Event = dict[str, Any]


WAITING, RUNNING, ENDED = "waiting", "running", "ended"
"""The states of a stream: before its id is known, while it goes on, and when all of it is known."""


class Step(NamedTuple):
    """When events are written, which ones in which order, and on what conditions."""

    state: str
    then: str
    """The state of the stream before and after."""
    when: str
    events: tuple[str, ...]
    note: str


STEPS: dict[str, Step] = {
    "begin": Step(
        WAITING,
        RUNNING,
        "the first chunk with an id",
        ("response.created", "response.in_progress"),
        "the response with the settings of `request`, or defaults, and an empty output",
    ),
    "text": Step(
        RUNNING,
        RUNNING,
        "the first text",
        ("response.output_item.added", "response.content_part.added", "response.output_text.delta"),
        "the message has the next output_index; text that begins after a call has begun is `out_of_place`, as the "
        "message stands before the calls",
    ),
    "more text": Step(RUNNING, RUNNING, "text", ("response.output_text.delta",), "one event for each fragment"),
    "refusal": Step(
        RUNNING,
        RUNNING,
        "the first refusal",
        ("response.output_item.added", "response.content_part.added", "response.refusal.delta"),
        "beside a text it waits for the end, since the parts of a message follow one another",
    ),
    "more refusal": Step(RUNNING, RUNNING, "refusal", ("response.refusal.delta",), "one event for each fragment"),
    "call": Step(
        RUNNING,
        RUNNING,
        "a call whose id and whole name are known",
        ("response.output_item.added", "response.function_call_arguments.delta"),
        "in the order of `index`: a call waits for those before it. The name is whole when the arguments, or the next "
        "call, begin",
    ),
    "arguments": Step(
        RUNNING, RUNNING, "arguments", ("response.function_call_arguments.delta",), "one event for each fragment"
    ),
    "end of a text": Step(
        RUNNING,
        RUNNING,
        "`[DONE]`, or the end",
        (
            "response.output_text.annotation.added",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
        ),
        "for each message, with the whole values; an annotation event for each citation",
    ),
    "end of a refusal": Step(
        RUNNING,
        RUNNING,
        "`[DONE]`, or the end",
        ("response.refusal.done", "response.content_part.done", "response.output_item.done"),
        "the same for a refusal",
    ),
    "end of a call": Step(
        RUNNING,
        RUNNING,
        "`[DONE]`, or the end",
        ("response.function_call_arguments.done", "response.output_item.done"),
        "for each call, with the whole arguments",
    ),
    "end": Step(
        RUNNING,
        ENDED,
        "after the last item",
        ("response.completed", "[DONE]"),
        "`response.incomplete` for a text that was cut off, where `truncated` is allowed",
    ),
}
"""The events that are written, step by step. Without a reason to finish, or where a cut call would be completed, the
end is refused, and nothing after it is written."""

CREATED, IN_PROGRESS = STEPS["begin"].events
ITEM_ADDED, PART_ADDED, TEXT_DELTA = STEPS["text"].events
REFUSAL_DELTA = STEPS["refusal"].events[-1]
ARGUMENTS_DELTA = STEPS["call"].events[-1]
ANNOTATION_ADDED, TEXT_DONE, PART_DONE, ITEM_DONE = STEPS["end of a text"].events
REFUSAL_DONE = STEPS["end of a refusal"].events[0]
ARGUMENTS_DONE = STEPS["end of a call"].events[0]


class OpenItem:
    """An item whose events have begun: its index in the output, its id, and for each of its texts what was sent."""

    __slots__ = ("index", "item_id", "kind", "sent")

    def __init__(self, kind: str, item_id: str, index: int) -> None:
        self.kind, self.item_id, self.index = kind, item_id, index
        self.sent: list[tuple[str, list[str]]] = []
        """The parts of a message that have begun, by type; one entry for the arguments of a call."""


class ChunksToEvents(Translator):
    """Translates a stream of `chat.completion.chunk` into events of Responses, as it comes.

    `request` is the request that the stream answers (of either format): the response echoes its settings, and has
    defaults without it. `allow` names refusal codes to let through, or `"all"`.

    Feed it each chunk (a JSON value, or an object of the `openai` package), then `"[DONE]"` if the stream has it, and
    close it; each call returns the events that are due, the last of them `"[DONE]"`. When it has ended, `remainder` is
    what the way back needs to restore the completion that the chunks amount to, or None where it needs nothing:
    `to_chat(assemble_events(events), remainder=...)` gives `assemble_chunks(chunks)`.

    Raises `Refused` with pointers that begin with the number of the chunk, from 0; after that it stays refused.
    (Open Responses, "Streaming"; specification digest g4.)
    """

    def __init__(self, request: Any = None, allow: str | Collection[str] = ()) -> None:
        super().__init__(allow)
        self._settings = {} if request is None else settings_from(plain(request))
        self._growing = GrowingCompletion()
        self._number = 0
        self._state = WAITING
        self._waiting: list[Said] = []
        self._items: list[OpenItem] = []
        self._calls: dict[int, OpenItem] = {}
        """The calls that have begun, by the identity of what grows."""
        self._named: dict[str, GrowingCall] = {}
        """The calls by their ids."""
        self._held = False
        """Whether something was allowed that decides only at the end which calls there are."""
        self._steps: dict[str, Callable[[Said, list[Any]], None]] = {
            "text": self._text,
            "refusal": self._refusal,
            "call": self._call,
            "arguments": self._arguments,
            "key": self._key,
            "choice": self._choice,
        }

    def failure(self, refused: Refused) -> list[Any]:
        """The events that tell a client that the stream has failed, and `"[DONE]"` (Open Responses, "Streaming": any
        error is followed by `response.failed`); nothing where the response had ended before."""
        if self._state == ENDED:
            return []
        error = error_of(refused)
        out: list[Any] = [self._event("error", error=error)]
        if self._state != WAITING:
            said = {"code": error["code"], "message": error["message"]}
            out.append(self._event("response.failed", response=self._response("failed", said)))
        return [*out, DONE]

    # ------------------------------------------------------------ while it runs

    def _has_ended(self) -> bool:
        return self._growing.ended

    def _take(self, one: Any) -> list[Any]:
        number, state = self._number, self._state
        try:
            return self._events_for(self._growing.add(one))
        except Refused:
            # what was due from this chunk is not sent
            self._number, self._state = number, state
            raise

    def _events_for(self, said: list[Said]) -> list[Any]:
        out: list[Any] = []
        if self._state == WAITING:
            said = self._begin(said, out)
        for thing in said:
            self._steps[thing.what](thing, out)
        return [*out, *self._end()] if self._growing.ended else out

    def _event(self, kind: str, **fields: Any) -> Event:
        event = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        return event

    def _begin(self, said: list[Said], out: list[Any]) -> list[Said]:
        """Begin the response once its id is known; until then whatever is said has to wait."""
        head = self._growing.head
        self._waiting += said
        if not head.get("id") or not head.get("model") or "created" not in head:
            return [thing for thing in said if thing.what in ("key", "choice")]
        self._open(out)
        waiting, self._waiting = self._waiting, []
        return waiting

    def _open(self, out: list[Any]) -> None:
        self._state = STEPS["begin"].then
        response = self._response("in_progress")
        out += [self._event(CREATED, response=response), self._event(IN_PROGRESS, response=response)]

    def _response(self, status: str, error: dict[str, Any] | None = None) -> dict[str, Any]:
        """The response before anything is known of its output."""
        bare: dict[str, Any] = {"message": {}, "finish_reason": None}
        response = completion_to_response({**first_of(self._growing.head), "choices": [bare]}, self._settings)
        return {**response, "status": status, "error": error, "output": []}

    def _text(self, said: Said, out: list[Any]) -> None:
        message = self._message(said, "content", out)
        if not message.sent:
            self._add_part(message, "output_text", out)
        kind, sent = message.sent[0]
        if kind != "output_text":
            raise refused("out_of_place", self._place("content"), "text that begins after a refusal has begun")
        sent.append(said.value)
        out.append(
            {
                "type": TEXT_DELTA,
                "sequence_number": self._number,
                "item_id": message.item_id,
                "output_index": message.index,
                "content_index": 0,
                "delta": said.value,
                "logprobs": [],
            }
        )
        self._number += 1

    def _refusal(self, said: Said, out: list[Any]) -> None:
        message = self._message(said, "refusal", out)
        if not message.sent:
            self._add_part(message, "refusal", out)
        kind, sent = message.sent[0]
        if kind == "refusal":
            sent.append(said.value)
            out.append(self._delta(message, REFUSAL_DELTA, said.value, content_index=0))

    def _message(self, said: Said, key: str, out: list[Any]) -> OpenItem:
        """The message, which begins with its first text."""
        if self._items and self._items[0].kind == "message":
            return self._items[0]
        if self._items:
            raise refused("out_of_place", self._place(key), f"{said.what} that begins after a call has begun")
        item = {"type": "message", "id": "msg_" + self._growing.head["id"], "status": "in_progress"}
        return self._add_item({**item, "role": "assistant", "content": []}, out)

    def _place(self, key: str) -> Path:
        return self._growing.place(("choices", 0, "message", key))

    def _call(self, _: Said, out: list[Any]) -> None:
        """Begin each call whose id and name are known, in the order of their indices. The name is known to be whole
        when the arguments, or the next call, have begun."""
        if self._held:
            return
        for call in self._growing.choices[0].in_order():
            if id(call) in self._calls:
                continue
            if call.index > len(self._calls) or not call.call_id or not call.is_named:
                return
            if not self._may_begin(call):
                self._held = True
                return
            item = {**call_to_item(call.value()), "arguments": "", "status": "in_progress"}
            opened = self._calls[id(call)] = self._add_item(item, out)
            opened.sent.append(("arguments", []))
            self._send_arguments(opened, call.text, out)

    def _may_begin(self, call: GrowingCall) -> bool:
        """Whether a call is as plain as it looks. Raises `Refused` for what is wrong with it and not allowed."""
        before = [other.value() for other in (self._named.get(call.call_id or ""),) if other is not None]
        skeleton = completion_with(message={"tool_calls": [*before, call.value()]})
        own = ("choices", 0, "message", "tool_calls", len(before))
        findings = [f for f in Completion(skeleton, {}).examine() if f.path[:5] == own]
        self._raise_what_is_not_allowed(findings, lambda path: (*call.at, *path[5:]))
        self._named[call.call_id or ""] = call
        return not findings

    def _arguments(self, said: Said, out: list[Any]) -> None:
        opened = self._calls.get(id(said.of))
        if opened is None:
            self._call(said, out)
        else:
            self._send_arguments(opened, said.of.text, out)

    def _send_arguments(self, opened: OpenItem, fragments: list[str], out: list[Any]) -> None:
        """Send those fragments of the arguments that have not been sent."""
        sent = opened.sent[0][1]
        fresh = fragments[len(sent) :]
        sent += fresh
        if not (text := "".join(fresh)):
            return
        out.append(
            {
                "type": ARGUMENTS_DELTA,
                "sequence_number": self._number,
                "item_id": opened.item_id,
                "output_index": opened.index,
                "delta": text,
            }
        )
        self._number += 1

    def _key(self, said: Said, _: list[Any]) -> None:
        """Something that is neither text nor call says something for the first time: what a completion would be
        refused for is refused at once."""
        path = said.path
        whole = completion_with(**self._alone(path, said.value))
        seen = ("choices", 0, *path[2:]) if path[0] == "choices" else path
        findings = [f for f in Completion(whole, {}).examine() if f.path[: len(seen)] == seen]
        self._raise_what_is_not_allowed(findings, lambda found: (*self._growing.place(path), *found[len(seen) :]))

    def _alone(self, path: Path, value: Any) -> dict[str, Any]:
        if path[0] != "choices":
            return {"head": {path[0]: value}}
        if path[2] != "message":
            return {"choice": {path[2]: value}}
        if path[3] == "content" and type(value) is list and not [*texts_in(value)]:
            value = [*value, {"type": "text", "text": "-"}]
        return {"message": {path[3]: value}}

    def _choice(self, said: Said, _: list[Any]) -> None:
        raise refused("several_choices", said.path, "several choices where a response gives one answer")

    # ------------------------------------------------------------ items and parts

    def _add_item(self, item: dict[str, Any], out: list[Any]) -> OpenItem:
        opened = OpenItem(item["type"], item["id"], len(self._items))
        self._items.append(opened)
        out.append(self._event(ITEM_ADDED, output_index=opened.index, item=item))
        return opened

    def _add_part(self, opened: OpenItem, kind: str, out: list[Any]) -> None:
        part = {"type": kind, "text": "", "annotations": []} if kind == "output_text" else {"type": kind, "refusal": ""}
        out.append(self._of(opened, PART_ADDED, content_index=len(opened.sent), part=part))
        opened.sent.append((kind, []))

    def _of(self, opened: OpenItem, kind: str, **fields: Any) -> Event:
        return self._event(kind, item_id=opened.item_id, output_index=opened.index, **fields)

    def _delta(self, opened: OpenItem, kind: str, text: str, **fields: Any) -> Event:
        return self._of(opened, kind, **fields, delta=text)

    # ------------------------------------------------------------ at the end

    def _end(self) -> list[Any]:
        if not self._growing.choices:
            raise refused("incomplete", (), "the stream ended before it said anything")
        completion = self._growing.value()
        try:
            translation = translate(completion, CHAT, allow=self._codes, settings=self._settings)
        except Refused as refusal:
            self._raise_what_is_not_allowed([*refusal.findings], self._growing.place)
            raise
        response = translation.document
        out: list[Any] = []
        if self._state == WAITING:
            self._open(out)
        for n, item in enumerate(response["output"]):
            self._finish(n, item, out)
        if len(self._items) != len(response["output"]):
            raise refused("not_reversible", (), "more items were begun than the response has")
        self.remainder = translation.remainder
        self._state = STEPS["end"].then
        return [*out, self._event("response." + response["status"], response=response), DONE]

    def _finish(self, n: int, item: dict[str, Any], out: list[Any]) -> None:
        """Bring an item to what it is in the response, and end it."""
        if n == len(self._items):
            empty: Any = [] if item["type"] == "message" else ""
            key = "content" if item["type"] == "message" else "arguments"
            self._add_item({**item, key: empty, "status": "in_progress"}, out)
        opened = self._items[n]
        if (opened.kind, opened.item_id) != (item["type"], item["id"]):
            raise refused("not_reversible", (), f"item {n} is not the one that was begun")
        if item["type"] == "message":
            self._finish_parts(opened, item["content"], out)
        else:
            if not opened.sent:
                opened.sent.append(("arguments", []))
            if rest := self._rest(opened, 0, "arguments", item["arguments"]):
                self._send_arguments(opened, [*opened.sent[0][1], rest], out)
            out.append(self._of(opened, ARGUMENTS_DONE, arguments=item["arguments"], name=item["name"]))
        out.append(self._event(ITEM_DONE, output_index=n, item=item))

    def _finish_parts(self, opened: OpenItem, parts: list[dict[str, Any]], out: list[Any]) -> None:
        for n, part in enumerate(parts):
            if n == len(opened.sent):
                self._add_part(opened, part["type"], out)
            if part["type"] == "refusal":
                if rest := self._rest(opened, n, "refusal", part["refusal"]):
                    out.append(self._delta(opened, REFUSAL_DELTA, rest, content_index=n))
                out.append(self._of(opened, REFUSAL_DONE, content_index=n, refusal=part["refusal"]))
            else:
                if rest := self._rest(opened, n, "output_text", part["text"]):
                    out.append(self._delta(opened, TEXT_DELTA, rest, content_index=n, logprobs=[]))
                for k, annotation in enumerate(part["annotations"]):
                    place = {"content_index": n, "annotation_index": k}
                    out.append(self._of(opened, ANNOTATION_ADDED, **place, annotation=annotation))
                logprobs = part.get("logprobs", [])
                out.append(self._of(opened, TEXT_DONE, content_index=n, text=part["text"], logprobs=logprobs))
            out.append(self._of(opened, PART_DONE, content_index=n, part=part))

    def _rest(self, opened: OpenItem, n: int, kind: str, whole: str) -> str:
        """What is left to send of a text."""
        begun, fragments = opened.sent[n]
        sent = "".join(fragments)
        if begun != kind or not whole.startswith(sent):
            raise refused("not_reversible", (), f"item {opened.index} is not what was sent of it")
        return whole[len(sent) :]


def first_of(head: dict[str, Any]) -> dict[str, Any]:
    return {key: head[key] for key in ("id", "created", "model")}


def completion_with(
    head: dict[str, Any] | None = None, choice: dict[str, Any] | None = None, message: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A completion that says nothing but what is given, to see what is wrong with that."""
    whole = {"role": "assistant", "content": "-", **(message or {})}
    only = {"index": 0, "message": whole, "finish_reason": "stop", **(choice or {})}
    return {"id": "-", "object": "chat.completion", "created": 0, "model": "-", "choices": [only], **(head or {})}
