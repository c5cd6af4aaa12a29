"""Events of Responses in, chunks of Chat out.

Text and arguments go out as they come; what only the whole answer tells (the reason to finish, citations, usage) goes
out when the response has ended. Then the response that the events amount to is translated as any other, and the chunks
are brought to what that translation says. So the mapping, its refusals and its proof are those of
`turncodec.translate`; what is said here is only when each thing is known. What the table below says is what the code
does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from turncodec.formats import CHAT, RESPONSES
from turncodec.refusals import Path, Refused, refused
from turncodec.remainder import Op, Remainder, read_patch, spoken_of
from turncodec.response import output_findings
from turncodec.stream.chunks import DONE, error_of, message_of_error
from turncodec.stream.events import ARGUMENTS, GrowingItem, GrowingResponse, Said
from turncodec.stream.translator import Translator
from turncodec.translate import Translation, translate

Chunk = dict[str, Any]
PREMATURE = ("incomplete", "empty_message")
"""What an item that has only begun cannot be blamed for."""


WAITING, RUNNING, FINISHED, ENDED = "waiting", "running", "finished", "ended"
"""The states of a stream: before its id is known, while it goes on, when the response is whole, and at the end."""


class Step(NamedTuple):
    """When a chunk is written, what its delta holds, and on what conditions."""

    state: str
    then: str
    """The state of the stream before and after."""
    when: str
    delta: tuple[str, ...]
    note: str


STEPS: dict[str, Step] = {
    "begin": Step(
        WAITING,
        RUNNING,
        "the first response (`response.created`)",
        ("role",),
        "with the id, time and model of every chunk",
    ),
    "text": Step(RUNNING, RUNNING, "`response.output_text.delta`", ("content",), "one chunk for each fragment"),
    "refusal": Step(RUNNING, RUNNING, "`response.refusal.delta`", ("refusal",), "one chunk for each fragment"),
    "call": Step(
        RUNNING,
        RUNNING,
        "`response.output_item.added` of a function_call",
        ("tool_calls[].index", "tool_calls[].id", "tool_calls[].type", "tool_calls[].function.name"),
        "`index` counts the calls from 0; the other keys stand in the first chunk of the call alone",
    ),
    "arguments": Step(
        RUNNING,
        RUNNING,
        "`response.function_call_arguments.delta`",
        ("tool_calls[].index", "tool_calls[].function.arguments"),
        "one chunk for each fragment",
    ),
    "rest": Step(
        RUNNING,
        RUNNING,
        "the response that ends the stream",
        ("content", "refusal", "tool_calls"),
        "what was not streamed",
    ),
    "finish": Step(
        RUNNING,
        FINISHED,
        "the response that ends the stream",
        ("annotations",),
        "with `finish_reason`, log probabilities, service tier and metadata",
    ),
    "usage": Step(
        FINISHED,
        FINISHED,
        "the response that ends the stream",
        (),
        "a chunk without choices, where `include_usage` is true",
    ),
    "end": Step(FINISHED, ENDED, "`[DONE]`, or the end", (), "`[DONE]`"),
}
"""The chunks that are written, step by step."""


class EventsToChunks(Translator):
    """Translates a stream of events of Responses into `chat.completion.chunk`, as it comes.

    `allow` names refusal codes to let through, or `"all"`. `include_usage` says whether a last chunk gives the usage
    (Chat's `stream_options.include_usage`); without it the usage stays in the remainder.

    Feed it each event (a JSON value, or an object of the `openai` package), then `"[DONE]"` if the stream has it, and
    close it; each call returns the chunks that are due, the last of them `"[DONE]"`. When it has ended, `remainder` is
    what the way back needs to restore the response that the events amount to, or None where it needs nothing:
    `to_responses(assemble_chunks(chunks), remainder=...)` gives `assemble_events(events)`.

    Raises `Refused` with pointers that begin with the number of the event, from 0; after that it stays refused. An
    `error` event and `response.failed` are refused as `stream_failed`, with what they say.
    (Open Responses, "Streaming"; specification digest g4.)
    """

    def __init__(self, allow: str | Collection[str] = (), *, include_usage: bool = True) -> None:
        super().__init__(allow)
        self._include_usage = include_usage
        self._growing = GrowingResponse(self._codes & {"unknown_event"})
        self._frame: dict[str, Any] = {}
        self._waiting: list[Said] = []
        self._state = WAITING
        self._content: list[str] = []
        self._refusal_sent: list[str] = []
        self._calls: list[tuple[GrowingItem, list[str]]] = []
        """The calls that have begun, each with the arguments that were sent."""
        self._place: dict[int, int] = {}
        """The place of each call among them, by its output_index."""
        self._left: set[int] = set()
        """The items that stay behind, by their output_index."""
        self._message: int | None = None
        self._steps: dict[str, Callable[[Said, list[Any]], None]] = {
            "item": self._item,
            "part": self._part,
            "text": self._text,
            "whole": self._whole,
            "error": self._error,
        }

    def failure(self, refused: Refused) -> list[Any]:
        """What tells a client that the stream has failed: a chunk cannot say so, and like Chat's own servers this sends
        an object with the `error` in its place, and `"[DONE]"`; nothing where the answer had ended before."""
        return [] if self._state == ENDED else [{"error": error_of(refused)}, DONE]

    # ------------------------------------------------------------ while it runs

    def _has_ended(self) -> bool:
        return self._growing.ended

    def _take(self, one: Any) -> list[Any]:
        said = self._growing.add(one)
        out: list[Any] = []
        if self._state == WAITING:
            said = self._begin(said, out)
        for thing in said:
            if step := self._steps.get(thing.what):
                step(thing, out)
        if self._growing.closing is not None and self._state in (WAITING, RUNNING):
            self._finish(out)
        return [*out, *self._end()] if self._growing.ended else out

    def _begin(self, said: list[Said], out: list[Any]) -> list[Said]:
        """Begin once the id is known; until then whatever is said has to wait."""
        response = {**(self._growing.closing or {}), **self._growing.head}
        self._waiting += said
        if not all(response.get(key) is not None for key in ("id", "created_at", "model")):
            return [thing for thing in said if thing.what in ("item", "error")] if not self._growing.closing else said
        created = response["created_at"]
        self._frame = {
            "id": response["id"],
            "object": "chat.completion.chunk",
            "created": int(created) if isinstance(created, float) and created.is_integer() else created,
            "model": response["model"],
        }
        out.append(self._chunk({"role": "assistant"}))
        self._state = STEPS["begin"].then
        waiting, self._waiting = self._waiting, []
        return waiting

    def _chunk(self, delta: dict[str, Any], **choice: Any) -> Chunk:
        only = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None, **choice}
        return {**self._frame, "choices": [only]}

    def _item(self, said: Said, out: list[Any]) -> None:
        """An item begins: what it would be refused for is refused at once."""
        item = said.item
        assert item is not None
        if item.index in self._left or item.index in self._place:
            return
        if said.value.get("type") == "function_call" and not (said.value.get("call_id") and said.value.get("name")):
            return  # they may come later; what never comes is found at the end
        begun = {**said.value, **({"status": "completed"} if "status" in said.value else {})}
        findings = [f for f in output_findings([begun], "completed") if f.code not in PREMATURE]
        self._raise_what_is_not_allowed(findings, lambda path: (*item.at, *path[2:]))
        if any(f.leave == ("output", 0) for f in findings):
            self._left.add(item.index)
        elif said.value.get("type") == "function_call":
            self._begin_call(item, out)
        elif self._message not in (None, item.index):
            raise refused("several_messages", item.at, "a second message, where a completion has one")
        else:
            self._message = item.index

    def _begin_call(self, item: GrowingItem, out: list[Any]) -> None:
        """The first chunk of a call, once its id and name are known."""
        call_id, name = item.item.get("call_id"), item.item.get("name")
        if self._state == WAITING or not call_id or not name:
            return
        if any(other.index > item.index for other, _ in self._calls):
            raise refused("out_of_place", item.at, "a call that stands before one that has begun")
        place = self._place[item.index] = len(self._calls)
        self._calls.append((item, []))
        function = {"name": name, "arguments": ""}
        entry = {"index": place, "id": call_id, "type": "function", "function": function}
        out.append(self._chunk({"tool_calls": [entry]}))

    def _part(self, said: Said, _: list[Any]) -> None:
        item = said.item
        assert item is not None
        texts = [text for text in item.texts.values() if text.part and text.part.get("type") == "output_text"]
        if item.index == self._message and len(texts) > 1 and said.value.get("type") == "output_text":
            at: Path = (self._growing.number - 1, "part")
            raise refused("several_parts", at, "a second text, where a completion has one")

    def _text(self, said: Said, out: list[Any]) -> None:
        item, text = said.item, said.value
        assert item is not None
        if item.index in self._left or not text:
            return
        if said.place == ARGUMENTS:
            self._arguments(item, text, out)
            return
        part = item.texts[said.place].part or {}
        if part.get("type") == "refusal":
            self._refusal_sent.append(text)
            out.append(self._chunk({"refusal": text}))
        elif item.index == self._message:
            self._content.append(text)
            only = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": None}
            out.append({**self._frame, "choices": [only]})

    def _arguments(self, item: GrowingItem, text: str, out: list[Any]) -> None:
        place = self._place.get(item.index)
        if place is not None:
            self._calls[place][1].append(text)
            entry = {"index": place, "function": {"arguments": text}}
            only = {"index": 0, "delta": {"tool_calls": [entry]}, "logprobs": None, "finish_reason": None}
            out.append({**self._frame, "choices": [only]})

    def _whole(self, said: Said, out: list[Any]) -> None:
        """An item that ends without having begun begins here."""
        item = said.item
        assert item is not None
        known = item.index in self._left or item.index in self._place or item.index == self._message
        if not known:
            self._item(said, out)

    def _error(self, said: Said, _: list[Any]) -> None:
        at = self._growing.error[1] if self._growing.error else ()
        raise refused("stream_failed", at, f"the provider says: {message_of_error(said.value)}")

    # ------------------------------------------------------------ at the end

    def _finish(self, out: list[Any]) -> None:
        response = self._growing.value()
        if response.get("status") == "failed" or response.get("error") is not None:
            said = message_of_error(response.get("error") or {})
            raise refused("stream_failed", (*self._growing.closing_at, "error"), f"the provider says: {said}")
        usage = None if self._include_usage else response.get("usage")
        try:
            translation = translate({**response, "usage": None} if usage else response, RESPONSES, allow=self._codes)
        except Refused as refusal:
            self._raise_what_is_not_allowed([*refusal.findings], self._growing.place)
            raise
        completion = translation.document
        self._rest(completion["choices"][0]["message"], out)
        out.append(self._last(completion))
        if "usage" in completion:
            out.append({**self._frame, "choices": [], "usage": completion["usage"]})
        self.remainder = remainder_with_usage(translation, usage) if usage else translation.remainder
        self._state = STEPS["finish"].then

    def _rest(self, message: dict[str, Any], out: list[Any]) -> None:
        """What was not streamed of the message."""
        for key, sent in (("content", self._content), ("refusal", self._refusal_sent)):
            rest = self._unsent(message.get(key), sent)
            if rest or (rest == "" and not sent):
                out.append(self._chunk({key: rest}))
        calls = message.get("tool_calls", [])
        for n, call in enumerate(calls):
            if n == len(self._calls):
                out.append(self._chunk({"tool_calls": [{"index": n, **call}]}))
            elif n < len(self._calls):
                item, fragments = self._calls[n]
                if item.item.get("call_id") != call["id"]:
                    raise refused("out_of_place", item.at, "a call that was not streamed stands before it")
                if rest := self._unsent(call["function"]["arguments"], fragments):
                    out.append(self._chunk({"tool_calls": [{"index": n, "function": {"arguments": rest}}]}))
        if len(calls) < len(self._calls):
            raise refused("not_reversible", (), "more calls were begun than the completion has")

    def _unsent(self, whole: str | None, fragments: list[str]) -> str | None:
        sent = "".join(fragments)
        if whole is None and not sent:
            return None
        if whole is None or not whole.startswith(sent):
            raise refused("not_reversible", (), "the text is not what was sent of it")
        return whole[len(sent) :]

    def _last(self, completion: dict[str, Any]) -> Chunk:
        """The chunk with the reason to finish, and with all that only the whole answer tells."""
        choice = completion["choices"][0]
        annotations = choice["message"].get("annotations")
        delta = {"annotations": annotations} if annotations else {}
        chunk = self._chunk(delta, logprobs=choice["logprobs"], finish_reason=choice["finish_reason"])
        return {**chunk, **{key: completion[key] for key in ("service_tier", "metadata") if key in completion}}

    def _end(self) -> list[Any]:
        if self._state != FINISHED:
            raise refused("incomplete", (), "the stream ended before the response was completed")
        self._state = STEPS["end"].then
        return [DONE]


def remainder_with_usage(translation: Translation, usage: dict[str, Any]) -> dict[str, Any]:
    """The remainder of a translation without the usage, which brings back the usage too."""
    known = translation.remainder or {"patch": [], "allowed": []}
    ops = [*read_patch(known["patch"]), Op("replace", ("usage",), usage)]
    back = translate(translation.document, CHAT, allow=known.get("allowed", ())).document
    patch = [op.as_json() for op in ops]
    return Remainder.of(RESPONSES.name, 0, spoken_of(ops, back, ()), known.get("allowed", []), patch).as_json()
