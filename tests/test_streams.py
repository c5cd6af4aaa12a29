"""What must be true of every stream, in both directions.

The streams are made by `streams` from an answer that is known whole, cut in every way that servers cut; `Reading` below
reads events a second time and knows nothing of the code that wrote them.
"""

from __future__ import annotations

import asyncio
import copy
import importlib.util
import tracemalloc
from collections.abc import AsyncIterator, Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

import bodies
import openresponses_types.types as openresponses
import pytest
import strategies
import streams
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter
from reader import canon
from streams import DONE, Body, chunks_of, events_of, seeds

from turncodec import Refusal, Refused, to_chat, to_responses
from turncodec.stream import ChunksToEvents, EventsToChunks, assemble_chunks, assemble_events, athrough, sse, through
from turncodec.stream.chunks import GrowingCompletion
from turncodec.stream.events import GrowingResponse

DATA = Path(__file__).parents[2] / "shared" / "data"

Stream = list[Any]
allowing = st.sampled_from(((), "all"))
completions = st.one_of(streams.answers(), streams.answers(odd=True))
replies = st.one_of(bodies.responses(), streams.replies())
chunk_streams = st.builds(chunks_of, completions, seeds)
event_streams = st.builds(events_of, replies, seeds)
any_chunks = st.one_of(chunk_streams, streams.damaged(chunk_streams), st.lists(strategies.json_values, max_size=3))
any_events = st.one_of(event_streams, streams.damaged(event_streams), st.lists(strategies.json_values, max_size=3))


def fed(translator: Any, stream: Stream) -> Stream:
    """All that comes out of a translator."""
    return [*through(translator, stream)]


def attempt(work: Callable[[], Any]) -> Any:
    """What comes of it, or the refusals."""
    try:
        return work()
    except Refused as refused:
        return refused.refusals


def is_refused(outcome: Any) -> bool:
    return isinstance(outcome, tuple)


def codes(refusals: tuple[Refusal, ...]) -> set[str]:
    return {refusal.code for refusal in refusals}


def places_of(refusals: tuple[Refusal, ...]) -> list[tuple[str, str]]:
    return [(refusal.code, refusal.pointer) for refusal in refusals]


# ---------------------------------------------------------------- chunks to events


@given(completions, seeds)
def test_chunks_assemble(completion: Body, seed: int) -> None:
    """A completion comes out of its chunks as it was, however it was cut."""
    assert canon(completion) == canon(assemble_chunks(chunks_of(completion, seed)))


def square_of_chunks(chunks: Stream, allow: Any, request: Body | None = None) -> tuple[Stream, Any] | None:
    """The events of a stream and its translator, where it is translated; then the square holds. None where both ways
    are refused, and the stream for nothing that the whole is not refused for."""
    translator = ChunksToEvents(request, allow)
    events = attempt(lambda: fed(translator, chunks))
    whole = attempt(lambda: to_responses(assemble_chunks(chunks), allow=allow, request=request))
    if is_refused(events) or is_refused(whole):
        assert is_refused(events), whole
        assert is_refused(whole), events
        assert codes(events) <= codes(whole)
        return None
    assert canon(whole.document) == canon(assemble_events(events))
    assert canon(whole.remainder) == canon(translator.remainder)
    return events, translator


@settings(max_examples=settings().max_examples * 3)
@given(completions, seeds, allowing)
def test_square_of_chunks(completion: Body, seed: int, allow: Any) -> None:
    """Translating and assembling commute; and the way back gives the completion that the chunks amount to."""
    chunks = chunks_of(completion, seed)

    if (translated := square_of_chunks(chunks, allow)) is None:
        return

    back = to_chat(assemble_events(translated[0]), remainder=translated[1].remainder).document
    assert canon(completion) == canon(back)


@given(streams.answers(), seeds)
def test_plain_chunks_are_accepted(completion: Body, seed: int) -> None:
    """What has a place in both formats is translated as it is."""
    assert square_of_chunks(chunks_of(completion, seed), ()) is not None


@given(streams.answers(), seeds, bodies.chat_requests() | bodies.responses_requests())
def test_square_of_chunks_with_their_request(completion: Body, seed: int, request: Body) -> None:
    """The response echoes the settings of its request, from its first event on."""
    assume(not is_refused(attempt(lambda: to_responses(completion, request=request))))
    translated = square_of_chunks(chunks_of(completion, seed), (), request)

    assert translated
    first, last = translated[0][0]["response"], translated[0][-2]["response"]
    own = ("status", "output", "usage", "service_tier", "metadata")
    assert canon({**first, **{key: last[key] for key in own}}) == canon(last)


@given(completions, seeds, seeds)
def test_cuts_make_no_difference(completion: Body, seed: int, other: int) -> None:
    """Two cuts of one completion give the same end, the same remainder, and the same texts on the way."""
    one, two = ChunksToEvents(allow="all"), ChunksToEvents(allow="all")
    events, again = (
        attempt(lambda: fed(one, chunks_of(completion, seed))),
        attempt(lambda: fed(two, chunks_of(completion, other))),
    )
    if is_refused(events) or is_refused(again):
        assert codes(events) == codes(again)
        return

    assert canon(without_numbers(events[-2])) == canon(without_numbers(again[-2]))
    assert in_any_order(one.remainder) == in_any_order(two.remainder)
    assert Reading(events).texts == Reading(again).texts


def in_any_order(remainder: Body | None) -> Any:
    """A remainder with the steps of its patch sorted: they come in the order of the keys that they restore."""
    return remainder and {**remainder, "patch": sorted(map(canon, remainder["patch"]))}


def without_numbers(event: Body) -> Body:
    return {key: value for key, value in event.items() if key != "sequence_number"}


class Reading:
    """Events, read in their order; AssertionError where one stands where it must not. `texts` are what the deltas of
    each part, and of the arguments of each call, amount to.

    (Open Responses, "Streaming"; specification digest e.)
    """

    def __init__(self, events: Stream) -> None:
        assert events[-1] == DONE
        self.events: list[Body] = events[:-1]
        self.items: list[Body] = []
        self.done: dict[int, Body] = {}
        self.texts: dict[tuple[int, int], str] = {}
        self.parts: dict[tuple[int, int], str] = {}
        self.cited: dict[tuple[int, int], list[Body]] = {}
        assert [event["sequence_number"] for event in self.events] == list(range(len(self.events)))
        created, in_progress, *between, last = self.events
        assert (created["type"], in_progress["type"]) == ("response.created", "response.in_progress")
        assert created["response"] == in_progress["response"]
        assert (created["response"]["status"], created["response"]["output"]) == ("in_progress", [])
        for event in between:
            self.read(event)
        self.end(last, created["response"])

    def read(self, event: Body) -> None:
        kind, index = event["type"], event["output_index"]
        if kind == "response.output_item.added":
            assert index == len(self.items)
            assert event["item"]["status"] == "in_progress"
            assert event["item"].get("content", []) == []
            assert event["item"].get("arguments", "") == ""
            self.items.append(event["item"])
            return
        assert index < len(self.items)
        assert index not in self.done
        assert event.get("item_id", event.get("item", {}).get("id")) == self.items[index]["id"]
        if kind == "response.output_item.done":
            self.end_item(event["item"], index)
        elif kind.startswith("response.function_call_arguments"):
            assert self.items[index]["type"] == "function_call"
            self.read_text(event, (index, 0), "arguments")
        else:
            assert self.items[index]["type"] == "message"
            self.read_part(event, (index, event["content_index"]))

    def read_part(self, event: Body, place: tuple[int, int]) -> None:
        kind = event["type"]
        if kind == "response.content_part.added":
            assert place[1] == sum(index == place[0] for index, _ in self.parts)
            assert all(state == "done" for at, state in self.parts.items() if at[0] == place[0])
            assert event["part"] in (
                {"type": "output_text", "text": "", "annotations": []},
                {"type": "refusal", "refusal": ""},
            )
            self.parts[place], self.texts[place] = event["part"]["type"], ""
        elif kind == "response.content_part.done":
            assert self.parts[place] == "text done"
            assert event["part"].get("text", event["part"].get("refusal")) == self.texts[place]
            assert event["part"].get("annotations", []) == self.cited.get(place, [])
            self.parts[place] = "done"
        elif kind == "response.output_text.annotation.added":
            assert self.parts[place] == "output_text"
            assert event["annotation_index"] == len(self.cited.setdefault(place, []))
            self.cited[place].append(event["annotation"])
        else:
            key = kind.split(".")[1]
            assert self.parts[place] == key
            self.read_text(event, place, "text" if key == "output_text" else key)

    def read_text(self, event: Body, place: tuple[int, int], key: str) -> None:
        if event["type"].endswith(".delta"):
            assert event["delta"]
            assert self.parts.get(place) != "text done"
            self.texts[place] = self.texts.get(place, "") + event["delta"]
        else:
            assert event[key] == self.texts.get(place, "")
            self.parts[place] = "text done"

    def end_item(self, item: Body, index: int) -> None:
        begun = self.items[index]
        for key in ("type", "id", "role", "call_id", "name"):
            assert item.get(key) == begun.get(key)
        states = [state for at, state in self.parts.items() if at[0] == index]
        if item["type"] == "message":
            assert states == ["done"] * len(item["content"])
            said = [part.get("text", part.get("refusal")) for part in item["content"]]
            assert said == [self.texts[index, n] for n in range(len(said))]
        else:
            assert states == ["text done"]
            assert item["arguments"] == self.texts.get((index, 0), "")
        self.done[index] = item

    def end(self, last: Body, first: Body) -> None:
        response = last["response"]
        assert last["type"] == "response." + response["status"]
        assert response["status"] in ("completed", "incomplete")
        assert response["output"] == [self.done[n] for n in range(len(self.items))]
        assert [response[key] for key in ("id", "created_at", "model")] == [
            first[key] for key in ("id", "created_at", "model")
        ]


@given(completions, seeds)
def test_order_of_events(completion: Body, seed: int) -> None:
    """Events stand in the normative order, agree with each other and with the response that ends the stream."""
    events = attempt(lambda: fed(ChunksToEvents(allow="all"), chunks_of(completion, seed)))
    assume(not is_refused(events))

    reading = Reading(events)

    message, finish = completion["choices"][0]["message"], completion["choices"][0]["finish_reason"]
    calls = [
        (call["id"], call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", ())
    ]
    output = reading.events[-1]["response"]["output"]
    assert calls == [
        (item["call_id"], item["name"], item["arguments"]) for item in output if item["type"] == "function_call"
    ]
    said = [
        part.get("text", part.get("refusal"))
        for item in output
        if item["type"] == "message"
        for part in item["content"]
    ]
    assert [text for text in (message["content"], message["refusal"]) if text] == [text for text in said if text]
    status = "incomplete" if finish in ("length", "content_filter") else "completed"
    assert reading.events[-1]["response"]["status"] == status


@given(streams.answers(), seeds)
def test_events_come_at_once(completion: Body, seed: int) -> None:
    """A text goes out with the chunk that it came in, and so do the arguments of the first call."""
    translator, chunks = ChunksToEvents(), chunks_of(completion, seed)
    sent: Stream = []

    for n, chunk in enumerate(chunks):
        sent += translator.feed(chunk)
        said = assemble_chunks(chunks[: n + 1])
        message = said["choices"][0]["message"] if said["choices"] else {}
        assert deltas(sent, "response.output_text.delta") == (message.get("content") or "")
        first = next(iter(message.get("tool_calls", ())), None)
        if first and first.get("id") and first["function"].get("name") and indices(chunks[: n + 1]) == {0}:
            assert deltas(sent, "response.function_call_arguments.delta") == first["function"]["arguments"]


def deltas(events: Stream, kind: str) -> str:
    return "".join(event["delta"] for event in events if event != DONE and event["type"] == kind)


def indices(chunks: Stream) -> set[Any]:
    """The indices of the calls that have begun; None for a call without one, and where several share one."""
    entries = [
        entry
        for chunk in chunks
        if chunk != DONE
        for choice in chunk["choices"]
        for entry in choice["delta"].get("tool_calls") or ()
    ]
    ids = {entry["id"] for entry in entries if entry.get("id")}
    return {entry.get("index") for entry in entries} if len(ids) < 2 else {None}


# ---------------------------------------------------------------- events to chunks


@given(replies, seeds)
def test_events_assemble(response: Body, seed: int) -> None:
    """A response comes out of its events as it was, however it was cut, and whatever they leave out."""
    assert canon(response) == canon(assemble_events(events_of(response, seed)))


def square_of_events(events: Stream, allow: Any, include_usage: bool) -> tuple[Stream, Any] | None:
    """The chunks of a stream and its translator, where it is translated; then the square holds."""
    translator = EventsToChunks(allow, include_usage=include_usage)
    chunks = attempt(lambda: fed(translator, events))
    assembled = attempt(lambda: assemble_events(events))
    whole = assembled if is_refused(assembled) else attempt(lambda: to_chat(assembled, allow=allow))
    if is_refused(chunks) or is_refused(whole):
        assert is_refused(chunks), whole
        assert is_refused(whole), chunks
        assert codes(chunks) - {"stream_failed"} <= codes(whole)
        return None
    expected = {key: value for key, value in whole.document.items() if include_usage or key != "usage"}
    assert canon(expected) == canon(assemble_chunks(chunks))
    if "usage" in expected or "usage" not in whole.document:
        assert canon(whole.remainder) == canon(translator.remainder)
    return chunks, translator


@settings(max_examples=settings().max_examples * 3)
@given(replies, seeds, allowing, st.booleans())
def test_square_of_events(response: Body, seed: int, allow: Any, include_usage: bool) -> None:
    """Translating and assembling commute; and the way back gives the response that the events amount to."""
    if (translated := square_of_events(events_of(response, seed), allow, include_usage)) is None:
        return

    back = to_responses(assemble_chunks(translated[0]), remainder=translated[1].remainder).document
    assert canon(response) == canon(back)


@given(bodies.responses(), seeds)
def test_plain_events_are_accepted(response: Body, seed: int) -> None:
    """What has a place in both formats is translated as it is."""
    assume(not is_refused(attempt(lambda: to_chat(response))))

    assert square_of_events(events_of(response, seed), (), True) is not None


@given(bodies.responses(), seeds, st.booleans())
def test_form_of_chunks(response: Body, seed: int, include_usage: bool) -> None:
    """Calls are counted from 0 and introduced once; there is one end, and the usage is there when asked for."""
    chunks = attempt(lambda: fed(EventsToChunks(include_usage=include_usage), events_of(response, seed)))
    assume(not is_refused(chunks))
    assert chunks[-1] == DONE

    choices = [chunk["choices"][0] for chunk in chunks[:-1] if chunk["choices"]]
    entries = [entry for choice in choices for entry in choice["delta"].get("tool_calls", ())]
    introduced: list[int] = []
    for entry in entries:
        if entry["index"] not in introduced:
            introduced.append(entry["index"])
            assert set(entry) == {"index", "id", "type", "function"}
            assert set(entry["function"]) == {"name", "arguments"}
        else:
            assert set(entry) == {"index", "function"}
            assert set(entry["function"]) == {"arguments"}
    assert introduced == list(range(len(introduced)))
    assert choices[0]["delta"] == {"role": "assistant"}
    assert all("role" not in choice["delta"] for choice in choices[1:])
    assert [bool(choice["finish_reason"]) for choice in choices] == [False] * (len(choices) - 1) + [True]
    usages = [n for n, chunk in enumerate(chunks[:-1]) if "usage" in chunk]
    assert usages == ([len(chunks) - 2] if include_usage and response.get("usage") else [])
    assert all(chunk["choices"] == [] for n, chunk in enumerate(chunks[:-1]) if n in usages)
    heads = {canon([chunk[key] for key in ("id", "object", "created", "model")]) for chunk in chunks[:-1]}
    assert len(heads) == 1


@given(bodies.responses(), seeds)
def test_chunks_come_at_once(response: Body, seed: int) -> None:
    """A text or a fragment of arguments goes out with the event that it came in."""
    events, translator = events_of(response, seed, "whole"), EventsToChunks()
    assume(not is_refused(attempt(lambda: fed(EventsToChunks(), events))))

    for event in events:
        chunks = translator.feed(event)
        kind = event["type"] if event != DONE else ""
        if kind.endswith(".delta") and event["delta"]:
            assert canon(event["delta"]) in canon(chunks)
        elif kind.endswith((".done", ".part.added")) or event == DONE:
            assert [chunk for chunk in chunks if chunk != DONE] == []


# ---------------------------------------------------------------- validity

OPENRESPONSES: dict[str, Any] = {
    next(iter(type_.model_fields["type"].annotation)).value: type_
    for name, type_ in vars(openresponses).items()
    if name.endswith("StreamingEvent")
}


@cache
def adapter(type_: Any) -> TypeAdapter[Any]:
    return TypeAdapter(type_)


@given(completions, seeds)
def test_events_are_valid(completion: Body, seed: int) -> None:
    """Every event is valid by the types of `openresponses-types` and of the `openai` package."""
    events = attempt(lambda: fed(ChunksToEvents(allow="all"), chunks_of(completion, seed)))
    assume(not is_refused(events))

    for event in events[:-1]:
        OPENRESPONSES[event["type"]].model_validate(event)
        model = adapter(ResponseStreamEvent).validate_python(event, strict=True)
        assert model.type == event["type"]
        # The specification gives the end of arguments no name; OpenAI's own API does.
        assert set(model.model_extra or ()) <= ({"name"} if "arguments" in event else set())


@given(bodies.responses(), seeds, st.booleans())
def test_chunks_are_valid(response: Body, seed: int, include_usage: bool) -> None:
    """Every chunk is valid by the types of the `openai` package."""
    chunks = attempt(lambda: fed(EventsToChunks(include_usage=include_usage), events_of(response, seed)))
    assume(not is_refused(chunks))

    for chunk in chunks[:-1]:
        model = ChatCompletionChunk.model_validate(chunk, strict=True)
        assert set(model.model_extra or ()) <= {"metadata"}
        for choice in model.choices:
            assert not choice.model_extra
            assert set(choice.delta.model_extra or ()) <= {"annotations"}


# ---------------------------------------------------------------- purity

TRANSLATORS: dict[str, tuple[Callable[..., Any], Callable[[Stream], Body], Callable[[Body, int], Stream], Any]] = {
    "chunks": (ChunksToEvents, assemble_chunks, chunks_of, completions),
    "events": (EventsToChunks, assemble_events, events_of, replies),
}
both_ways = pytest.mark.parametrize("way", TRANSLATORS)
data = st.data()


def outcome(translator: Any, stream: Stream) -> Any:
    """All that a translator gives, step by step, up to the refusal."""
    steps: list[Any] = []
    for one in stream:
        steps.append(attempt(partial(translator.feed, one)))
    return [*steps, attempt(translator.close), translator.remainder]


@both_ways
@given(data=data)
def test_inputs_are_not_changed(way: str, data: st.DataObject) -> None:
    """Neither a translator nor assembling changes what it is given, nor does anything that comes out share with it or
    change later; and the same input gives the same output."""
    make, assemble, _, _ = TRANSLATORS[way]
    stream = data.draw(any_chunks if way == "chunks" else any_events)
    before = copy.deepcopy(stream)

    translator = make(allow="all")
    steps, copies = [], []
    for one in stream:
        steps.append(attempt(partial(translator.feed, one)))
        copies.append(copy.deepcopy(steps[-1]))
    attempt(translator.close)
    once = attempt(lambda: assemble(stream))

    assert canon(before) == canon(stream)
    assert copies == steps
    assert outcome(make(allow="all"), stream) == outcome(make(allow="all"), before)
    assert once == attempt(lambda: assemble(before))


@both_ways
@given(data=data)
def test_translators_share_nothing(way: str, data: st.DataObject) -> None:
    """Two translators that are fed in turns do what each does alone."""
    make, _, cut, answers = TRANSLATORS[way]
    one, two = (cut(data.draw(answers), data.draw(seeds)) for _ in range(2))
    left, right = make(allow="all"), make(allow="all")
    alone = outcome(make(allow="all"), one), outcome(make(allow="all"), two)

    steps: tuple[list[Any], list[Any]] = ([], [])
    for n in range(max(len(one), len(two))):
        for stream, translator, said in ((one, left, steps[0]), (two, right, steps[1])):
            if n < len(stream):
                said.append(attempt(partial(translator.feed, stream[n])))
    steps[0].extend([attempt(left.close), left.remainder])
    steps[1].extend([attempt(right.close), right.remainder])

    assert alone == steps


@both_ways
@given(data=data)
def test_refused_for_good(way: str, data: st.DataObject) -> None:
    """After a refusal every call is refused in the same way, and there is no remainder."""
    make, _, cut, answers = TRANSLATORS[way]
    stream = data.draw(any_chunks if way == "chunks" else any_events)
    translator = make()
    refused = attempt(lambda: fed(translator, stream))
    assume(is_refused(refused))

    for one in (*cut(data.draw(answers), 0), 5, None):
        assert refused == attempt(partial(translator.feed, one))
    assert refused == attempt(translator.close) == attempt(translator.close)
    assert translator.remainder is None


@given(st.one_of(streams.answers(), streams.answers(odd=True)), seeds)
def test_chunks_of_the_client_library(completion: Body, seed: int) -> None:
    """Objects of the `openai` package are taken for what they were made from."""
    chunks = chunks_of(completion, seed)
    models = [chunk if chunk == DONE else ChatCompletionChunk.construct(**chunk) for chunk in chunks]

    # The library has its own order of keys: within one delta things may come in another order, and in a patch too.
    one, two = ChunksToEvents(allow="all"), ChunksToEvents(allow="all")
    events, again = attempt(lambda: fed(one, chunks)), attempt(lambda: fed(two, models))
    assert is_refused(events) == is_refused(again)
    if not is_refused(events):
        assert canon(without_numbers(events[-2])) == canon(without_numbers(again[-2]))
        assert Reading(events).texts == Reading(again).texts
    assert in_any_order(one.remainder) == in_any_order(two.remainder)
    assert canon(assemble_chunks(chunks)) == canon(assemble_chunks(models))


@given(bodies.responses(), seeds)
def test_events_of_the_client_library(response: Body, seed: int) -> None:
    """So are events."""
    events = [one if one == DONE else {"sequence_number": n, **one} for n, one in enumerate(events_of(response, seed))]
    models = [one if one == DONE or ":" in one["type"] else built(one) for one in events]

    # Which number was an integer is not known to the library, so that the remainders differ.
    assert outcome(EventsToChunks(allow="all"), events)[:-1] == outcome(EventsToChunks(allow="all"), models)[:-1]


def built(event: Body) -> Any:
    """An event as the client library reads it, which checks little: what servers leave out is left out there too."""
    kinds = get_args(get_args(ResponseStreamEvent)[0])
    return next(kind for kind in kinds if event["type"] in get_args(kind.model_fields["type"].annotation)).construct(
        **event
    )


@both_ways
@given(data=data)
def test_through(way: str, data: st.DataObject) -> None:
    """Around an iterable, or an asynchronous one, a translator gives what it gives by itself."""
    make, _, cut, answers = TRANSLATORS[way]
    stream = cut(data.draw(answers), data.draw(seeds))
    translator = make()

    def by_hand() -> Stream:
        return [*(one for each in stream for one in translator.feed(each)), *translator.close()]

    async def later() -> AsyncIterator[Any]:
        for one in stream:
            yield one

    async def all_of() -> Stream:
        return [one async for one in athrough(make(), later())]

    expected = attempt(by_hand)
    assert expected == attempt(lambda: fed(make(), stream))
    assert expected == attempt(lambda: asyncio.run(all_of()))


# ---------------------------------------------------------------- whatever is fed


@both_ways
@settings(max_examples=settings().max_examples * 4)
@given(data=data, allow=allowing)
def test_only_refusals_leave(way: str, data: st.DataObject, allow: Any) -> None:
    """Whatever is fed, nothing but `Refused` is raised; it leads into the stream, and never says `not_reversible`."""
    make, assemble, _, _ = TRANSLATORS[way]
    stream = data.draw(any_chunks if way == "chunks" else any_events)

    for refusals in (attempt(lambda: fed(make(allow=allow), stream)), attempt(lambda: assemble(stream))):
        if is_refused(refusals):
            assert "not_reversible" not in codes(refusals)
            for _, place in places_of(refusals):
                assert place == "" or int(place.split("/")[1]) < len(stream)


@settings(max_examples=settings().max_examples * 4)
@given(any_chunks, allowing)
def test_square_of_whatever_chunks(chunks: Stream, allow: Any) -> None:
    """A stream that was damaged is refused, or the square holds, the events are in order, and it has an end. Only that
    text comes too late is told of a stream alone."""
    events = attempt(lambda: fed(ChunksToEvents(allow=allow), chunks))
    if is_refused(events):
        return

    whole = to_responses(assemble_chunks(chunks), allow=allow)
    assert canon(whole.document) == canon(assemble_events(events))
    assert Reading(events).events[-1]["response"]["status"] in ("completed", "incomplete")
    choices = [
        choice
        for chunk in chunks
        if isinstance(chunk, dict)
        for choice in chunk["choices"]
        if choice.get("finish_reason")
    ]
    assert choices


@settings(max_examples=settings().max_examples * 4)
@given(any_events, allowing)
def test_square_of_whatever_events(events: Stream, allow: Any) -> None:
    """A stream that was damaged is refused, or the square holds."""
    chunks = attempt(lambda: fed(EventsToChunks(allow=allow), events))
    if is_refused(chunks):
        return

    assert canon(to_chat(assemble_events(events), allow=allow).document) == canon(assemble_chunks(chunks))
    assert any(isinstance(one, dict) and one["type"] in ("response.completed", "response.incomplete") for one in events)


@both_ways
@settings(max_examples=settings().max_examples * 4)
@given(data=data)
def test_a_glance_tells_the_same(way: str, data: st.DataObject) -> None:
    """What is seen at a glance is what a closer look tells."""
    kind: Any = GrowingCompletion if way == "chunks" else GrowingResponse
    stream = data.draw(any_chunks if way == "chunks" else any_events)

    def grow(careful: bool) -> Any:
        growing = kind()
        if careful:
            growing.glance = lambda _: None
        said = [[thing[:2] for thing in growing.add(one) if thing.what != "call"] for one in stream]
        return canon(growing.value()), [[(s[0], s[1] if isinstance(s[1], str) else 0) for s in step] for step in said]

    assert attempt(lambda: grow(careful=False)) == attempt(lambda: grow(careful=True))


# ---------------------------------------------------------------- streams of real servers, and what comes of them


def delta(delta: Any, finish: str | None = None, **keys: Any) -> Body:
    """A chunk with one delta; `keys` stand beside its choices."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **keys}


def without_choices(**keys: Any) -> Body:
    return {**delta({}), "choices": [], **keys}


def said(text: str, finish: str | None = None, **keys: Any) -> Body:
    return delta({"content": text}, finish, **keys)


def entry(index: Any = None, call_id: Any = None, name: Any = None, arguments: Any = None, **keys: Any) -> Body:
    """An entry of a call: what is None is left out."""
    given = {"name": name, "arguments": arguments}
    function = {key: value for key, value in given.items() if value is not None}
    given = {"index": index, "id": call_id, "function": function or None}
    return {**{key: value for key, value in given.items() if value is not None}, **keys}


def called(*entries: Body, finish: str | None = None) -> Body:
    return delta({"tool_calls": [*entries]}, finish)


STOP, CALLS = delta({}, "stop"), delta({}, "tool_calls")
COUNTS = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
TWO = [("c1", "f", "{}"), ("c2", "g", "[]")]

SERVED: dict[str, tuple[Stream, str, list[tuple[str, str, str]]]] = {
    "an empty role in later deltas": (
        [delta({"role": "assistant"}), delta({"role": "", "content": "a"}), STOP],
        "a",
        [],
    ),
    "null, then an empty text": ([delta({"content": None}), said(""), STOP], "", []),
    "an empty reason to finish": ([said("a", ""), STOP], "a", []),
    "text behind the reason to finish": ([said("a", "stop"), said("b")], "ab", []),
    "no content at all": ([STOP], "", []),
    "a delta that is null": ([delta(None, "stop")], "", []),
    "usage on each chunk": ([said("a", usage=COUNTS), said("b", "stop", usage=COUNTS)], "ab", []),
    "usage and no choices": ([said("a", "stop"), {**without_choices(usage=COUNTS), "choices": None}], "a", []),
    "another id in each chunk": ([said("a"), {**said("b", "stop"), "id": "d", "created": 2}], "ab", []),
    "a first chunk without an id": (
        [without_choices(id="", created=0, model="", object=""), said("a", "stop")],
        "a",
        [],
    ),
    "one choice twice in a chunk": (
        [{**STOP, "choices": [*said("a")["choices"], *said("b", "stop")["choices"]]}],
        "ab",
        [],
    ),
    "a text before a call, and more of it behind": (
        [said("a"), called(entry(0, "c1", "f", "{}")), said("b"), CALLS],
        "ab",
        TWO[:1],
    ),
    "a text in one delta with calls, behind them": (
        [delta({"tool_calls": [entry(0, "c1", "f", "{}")], "content": "a"}, "tool_calls")],
        "a",
        TWO[:1],
    ),
    "calls and stop": ([called(entry(0, "c1", "f", "{}"), finish="stop")], "", TWO[:1]),
    "a call without arguments": ([called(entry(0, "c1", "f")), CALLS], "", [("c1", "f", "")]),
    "arguments that are null": (
        [called({**entry(0, "c1"), "function": {"name": "f", "arguments": None}}), CALLS],
        "",
        [("c1", "f", "")],
    ),
    "whole calls without an index": (
        [called(entry(None, "c1", "f", "{}"), entry(None, "c2", "g", "[]")), CALLS],
        "",
        TWO,
    ),
    "whole calls of the index 0": (
        [called(entry(0, "c1", "f", "{}")), called(entry(0, "c2", "g", "[]")), CALLS],
        "",
        TWO,
    ),
    "one call without an index": (
        [called(entry(None, "c1", "f", "")), called(entry(None, None, None, "{}")), CALLS],
        "",
        TWO[:1],
    ),
    "calls from the index 1": ([called(entry(1, "c1", "f", "{}"), entry(2, "c2", "g", "[]")), CALLS], "", TWO),
    "the second call first": ([called(entry(1, "c2", "g", "[]")), called(entry(0, "c1", "f", "{}")), CALLS], "", TWO),
    "an id in each entry": ([called(entry(0, "c1", "f", "{")), called(entry(0, "c1", None, "}")), CALLS], "", TWO[:1]),
    "a name in each entry": ([called(entry(0, "c1", "f", "{")), called(entry(0, None, "f", "}")), CALLS], "", TWO[:1]),
    "an id that comes late": (
        [called(entry(0, None, "f", "{")), called(entry(0, "c1", None, "}")), CALLS],
        "",
        TWO[:1],
    ),
    "a name in fragments": (
        [called(entry(0, "c1", "get_")), called(entry(0, None, "order")), called(entry(0, None, None, "{}")), CALLS],
        "",
        [("c1", "get_order", "{}")],
    ),
    "several entries of one call in a chunk": (
        [
            called(
                entry(0, "c1", "f", ""), entry(0, None, None, "{"), entry(1, "c2", "g", "["), entry(0, None, None, "}")
            ),
            called(entry(1, None, None, "]")),
            CALLS,
        ],
        "",
        TWO,
    ),
    "a whole message instead of deltas": (
        [
            {
                **STOP,
                "choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}],
            }
        ],
        "a",
        [],
    ),
    "a whole message beside the deltas": (
        [
            said("a"),
            {**STOP, "choices": [{"index": 0, "delta": {}, "message": {"role": "assistant", "content": "a"}}]},
            STOP,
        ],
        "a",
        [],
    ),
    "the end as a message of its own": ([said("a"), STOP, STOP, without_choices(usage=COUNTS), " [DONE]\n"], "a", []),
}


@pytest.mark.parametrize("name", SERVED)
def test_served(name: str) -> None:
    """A stream as some servers send it is accepted as it is, and says what it says."""
    chunks, text, calls = SERVED[name]

    translated = square_of_chunks(chunks, ())

    assert translated
    output = Reading(translated[0]).events[-1]["response"]["output"]
    assert calls == [(item["call_id"], item["name"], item["arguments"]) for item in output if "call_id" in item]
    assert text == "".join(part["text"] for item in output for part in item.get("content", ()))
    again = EventsToChunks()
    assert canon(to_chat(assemble_events(translated[0])).document) == canon(assemble_chunks(fed(again, translated[0])))


KEYS: dict[str, tuple[Stream, str, str, Any]] = {
    "reasoning_content": (
        [
            delta({"role": "assistant", "content": None, "reasoning_content": "h"}),
            delta({"content": None, "reasoning_content": "m"}),
            said("a"),
            STOP,
        ],
        "reasoning",
        "/0/choices/0/delta/reasoning_content",
        ("choices", 0, "message", "reasoning_content", "hm"),
    ),
    "reasoning": (
        [said(""), delta({"content": "", "reasoning": "hm"}), said("a"), STOP],
        "reasoning",
        "/1/choices/0/delta/reasoning",
        ("choices", 0, "message", "reasoning", "hm"),
    ),
    "reasoning that begins empty": (
        [
            delta({"role": "assistant", "content": None, "reasoning_content": ""}),
            delta({"content": None, "reasoning_content": "h"}),
            delta({"content": None, "reasoning_content": "m"}),
            said("a"),
            STOP,
        ],
        "reasoning",
        "/1/choices/0/delta/reasoning_content",
        ("choices", 0, "message", "reasoning_content", "hm"),
    ),
    "a key of a server": (
        [said("a"), delta({}, "stop", x_groq={"id": "r"})],
        "unknown_field",
        "/1/x_groq",
        ("x_groq", {"id": "r"}),
    ),
    "a key that changes": (
        [said("a", n=1), said("b", n=True), said("", n=1.0), STOP],
        "unknown_field",
        "/0/n",
        ("n", [1, True, 1.0]),
    ),
    "a key of a choice": (
        [{**said("a"), "choices": [{"index": 0, "delta": {"content": "a"}, "seen": 1}]}, STOP],
        "unknown_field",
        "/0/choices/0/seen",
        ("choices", 0, "seen", 1),
    ),
    "a key of a call": (
        [called(entry(0, "c1", "f", "{}")), called(entry(1, "c2", "g", "{}", extra_content={"a": 1})), CALLS],
        "unknown_field",
        "/1/choices/0/delta/tool_calls/0/extra_content",
        ("choices", 0, "message", "tool_calls", 1, "extra_content", {"a": 1}),
    ),
    "reasoning in parts": (
        [delta({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": t}]}]}) for t in "hm"]
        + [said("a"), STOP],
        "reasoning",
        "/0/choices/0/delta/content/0",
        ("choices", 0, "message", "content", 0, "thinking", 0, "text", "hm"),
    ),
    "the deprecated function calling": (
        [
            delta({"function_call": {"name": "f", "arguments": ""}}),
            delta({"function_call": {"arguments": "{}"}}, "function_call"),
        ],
        "legacy_function",
        "/0/choices/0/delta/function_call",
        ("choices", 0, "message", "function_call", "arguments", "{}"),
    ),
    "log probabilities without bytes": (
        [
            {
                **STOP,
                "choices": [
                    {
                        "index": 0,
                        "delta": {"content": "a"},
                        "finish_reason": "stop",
                        "logprobs": {"content": [{"token": "a", "logprob": -1, "bytes": None, "top_logprobs": []}]},
                    }
                ],
            }
        ],
        "logprobs",
        "/0/choices/0/logprobs/content",
        ("choices", 0, "logprobs", "content", 0, "token", "a"),
    ),
    "cut off by the limit": (
        [said("a"), delta({}, "length")],
        "truncated",
        "/1/choices/0/finish_reason",
        ("choices", 0, "finish_reason", "length"),
    ),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_a_provider(name: str) -> None:
    """What has no place in Responses is refused where it first says something, as early as that is known; allowed, it
    is in what the way back restores."""
    chunks, code, place, (*path, value) = KEYS[name]
    number = int(place.split("/")[1])
    translator = ChunksToEvents()

    if code != "truncated":
        steps = [attempt(partial(translator.feed, chunk)) for chunk in chunks[: number + 1]]
        assert [is_refused(step) for step in steps] == [False] * number + [True]
    assert places_of(attempt(lambda: fed(ChunksToEvents(), chunks))) == [(code, place)]

    translated = square_of_chunks(chunks, {code})
    assert translated
    back = to_chat(assemble_events(translated[0]), remainder=translated[1].remainder).document
    assert canon(value) == canon(strategies.value_at(back, tuple(path)))


# ---------------------------------------------------------------- faults of streams, each at its place

FIRST: Body = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "in_progress", "output": []}
MESSAGE: Body = {"type": "message", "id": "m1", "role": "assistant", "status": "in_progress", "content": []}
CALL: Body = {
    "type": "function_call",
    "id": "f1",
    "call_id": "c1",
    "name": "f",
    "arguments": "",
    "status": "in_progress",
}


def event(kind: str, **fields: Any) -> Body:
    return {"type": "response." + kind, **fields}


def ended(*output: Body, status: str = "completed", **keys: Any) -> Body:
    return event(status, response={**FIRST, "status": status, "output": [*output], **keys})


def added(item: Body, index: int = 0) -> Body:
    return event("output_item.added", output_index=index, item=item)


def text(delta: str, index: int = 0, **keys: Any) -> Body:
    place = {"item_id": "m1", "output_index": index, "content_index": 0}
    return event("output_text.delta", **place, delta=delta, **keys)


def argued(delta: str, index: int = 0) -> Body:
    return event("function_call_arguments.delta", item_id="f1", output_index=index, delta=delta)


def message(text: str, **keys: Any) -> Body:
    return {
        **MESSAGE,
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
        **keys,
    }


def finished(arguments: str, **keys: Any) -> Body:
    return {**CALL, "arguments": arguments, "status": "completed", **keys}


CREATED = event("created", response=FIRST)
BOOM = {"type": "server_error", "code": "x", "message": "boom", "param": None}
REFUSAL = {"type": "refusal", "refusal": "a"}

CHUNK_FAULTS: dict[str, tuple[Stream, str, str]] = {
    "nothing": ([], "incomplete", ""),
    "nothing but the end": ([DONE], "incomplete", ""),
    "no chunk": ([said("a"), 5], "malformed", "/1"),
    "bytes": ([b"[DONE]"], "malformed", "/0"),
    "a chunk behind the end": ([STOP, DONE, STOP], "out_of_place", "/2"),
    "the end twice": ([STOP, DONE, DONE], "out_of_place", "/2"),
    "an event": ([CREATED], "wrong_direction", "/0"),
    "an error": ([said("a"), {"error": BOOM}], "stream_failed", "/1/error"),
    "an error in a chunk": ([said("a"), delta({}, "error", error=BOOM)], "stream_failed", "/1/error"),
    "an error that is a string": ([{"error": "boom"}], "stream_failed", "/0/error"),
    "no reason to finish": ([said("a"), DONE], "incomplete", ""),
    "no reason to finish, and cut off": ([said("a")], "incomplete", ""),
    "no reason to finish a call": ([called(entry(0, "c1", "f", "{}")), DONE], "incomplete", ""),
    "a cut call": (
        [called(entry(0, "c1", "f", '{"a')), delta({}, "length")],
        "incomplete",
        "/1/choices/0/finish_reason",
    ),
    "a filtered call": (
        [called(entry(0, "c1", "f", "{}"), finish="content_filter")],
        "incomplete",
        "/0/choices/0/finish_reason",
    ),
    "a cut text": ([said("a", "length")], "truncated", "/0/choices/0/finish_reason"),
    "two ends": ([said("a", "length"), STOP], "contradiction", "/1/choices/0/finish_reason"),
    "an unknown end": ([said("a", "eos")], "unknown_value", "/0/choices/0/finish_reason"),
    "a second choice": (
        [said("a"), {**STOP, "choices": [{"index": 1, "delta": {"content": "b"}}]}],
        "several_choices",
        "/1/choices/0/index",
    ),
    "a text behind a call": (
        [called(entry(0, "c1", "f", "{}")), said("a"), CALLS],
        "out_of_place",
        "/1/choices/0/delta/content",
    ),
    "a text behind a refusal": (
        [delta({"refusal": "no"}), said("a"), STOP],
        "out_of_place",
        "/1/choices/0/delta/content",
    ),
    "neither index nor id": (
        [called(entry(None, "c1", "f", "")), called(entry(None, "c2", "g", "")), called(entry(None, None, None, "{}"))],
        "out_of_place",
        "/2/choices/0/delta/tool_calls/0/index",
    ),
    "two calls of one index, and a fragment": (
        [called(entry(0, "c1", "f", "{}")), called(entry(0, "c2", "g", "")), called(entry(0, None, None, "{}"))],
        "out_of_place",
        "/2/choices/0/delta/tool_calls/0/index",
    ),
    "another id": (
        [called(entry(0, "c1", "f", "{")), called(entry(0, "c2", None, "}"))],
        "contradiction",
        "/1/choices/0/delta/tool_calls/0/id",
    ),
    "another name": (
        [called(entry(0, "c1", "f", "{")), called(entry(0, None, "g", "}"))],
        "contradiction",
        "/1/choices/0/delta/tool_calls/0/function/name",
    ),
    "one id twice": (
        [called(entry(0, "c1", "f", "{}")), called(entry(1, "c1", "f", "{}")), CALLS],
        "duplicate_call_id",
        "/1/choices/0/delta/tool_calls/0/id",
    ),
    "a long id": ([called(entry(0, "c" * 65, "f", "{}"))], "call_id_length", "/0/choices/0/delta/tool_calls/0/id"),
    "a name with a dot": (
        [called(entry(0, "c1", "a.b", "{}"))],
        "function_name",
        "/0/choices/0/delta/tool_calls/0/function/name",
    ),
    "arguments that are an object": (
        [called(entry(0, "c1", "f", {"a": 1}))],
        "arguments_type",
        "/0/choices/0/delta/tool_calls/0/function/arguments",
    ),
    "a custom tool": (
        [called({"index": 0, "id": "c1", "type": "custom", "custom": {"name": "f", "input": "x"}}), CALLS],
        "custom_tool",
        "/0/choices/0/delta/tool_calls/0",
    ),
    "an index that is a string": (
        [called(entry("0", "c1", "f", "{}"))],
        "malformed",
        "/0/choices/0/delta/tool_calls/0/index",
    ),
    "content that is a number": ([said("a"), delta({"content": 5})], "malformed", "/1/choices/0/delta/content"),
    "half of a character": ([said("\ud83d")], "not_json", "/0/choices/0/delta/content"),
    "a whole message that is none": (
        [{**STOP, "choices": [{"index": 0, "delta": {}, "message": 1}]}],
        "malformed",
        "/0/choices/0/message",
    ),
    "a whole message that says something else": (
        [said("a"), {**STOP, "choices": [{"index": 0, "message": {"role": "assistant", "content": "b"}}]}, STOP],
        "contradiction",
        "/1/choices/0/message/content",
    ),
    "a key that is null": ([said("a"), said("b", mood=None), STOP], "unknown_field", "/1/mood"),
    "a key of a choice that is null": (
        [{**STOP, "choices": [{"index": 0, "delta": {"content": "a"}, "stop_reason": None, "finish_reason": "stop"}]}],
        "unknown_field",
        "/0/choices/0/stop_reason",
    ),
    "a key of a delta that is null": (
        [said("a"), delta({"content": "b", "mood": None}), STOP],
        "unknown_field",
        "/1/choices/0/delta/mood",
    ),
}
EVENT_FAULTS: dict[str, tuple[Stream, str, str]] = {
    "nothing": ([], "incomplete", ""),
    "no event": ([CREATED, 5], "malformed", "/1"),
    "an event without a type": ([{"response": FIRST}], "malformed", "/0"),
    "a chunk": ([said("a")], "wrong_direction", "/0"),
    "an event behind the end": ([CREATED, ended(), DONE, CREATED], "out_of_place", "/3"),
    "an event behind the last response": ([CREATED, ended(), added(MESSAGE)], "out_of_place", "/2"),
    "cut off": ([CREATED, added(MESSAGE), text("a")], "incomplete", ""),
    "cut off, with an end": ([CREATED, added(MESSAGE), text("a"), DONE], "incomplete", ""),
    "an error": ([CREATED, {"type": "error", "error": BOOM}], "stream_failed", "/1/error"),
    "an error that is flat": ([CREATED, {**BOOM, "type": "error"}], "stream_failed", "/1"),
    "failed": (
        [CREATED, ended(status="failed", error={"code": "x", "message": "boom"})],
        "stream_failed",
        "/1/response/error",
    ),
    "completed, in progress": ([CREATED, event("completed", response=FIRST)], "incomplete", "/1/response/status"),
    "a cut call": (
        [CREATED, added(CALL), argued("{"), ended({**CALL, "arguments": "{", "status": "incomplete"})],
        "incomplete",
        "/3/response/output/0/status",
    ),
    "a call that never ended": ([CREATED, added(CALL), argued("{"), ended()], "incomplete", "/1/item/status"),
    "a cut text": (
        [
            CREATED,
            ended(
                message("a", status="incomplete"),
                status="incomplete",
                incomplete_details={"reason": "max_output_tokens"},
            ),
        ],
        "truncated",
        "/1/response/output/0/status",
    ),
    "other arguments": (
        [CREATED, added(CALL), argued("{}"), ended(finished("[]"))],
        "contradiction",
        "/3/response/output/0/arguments",
    ),
    "other arguments at the end of the item": (
        [CREATED, added(CALL), argued("{}"), event("output_item.done", output_index=0, item=finished("[]"))],
        "contradiction",
        "/3/item/arguments",
    ),
    "other arguments at their end": (
        [
            CREATED,
            added(CALL),
            argued("{}"),
            event("function_call_arguments.done", output_index=0, item_id="f1", arguments="[]"),
        ],
        "contradiction",
        "/3/arguments",
    ),
    "another name": (
        [CREATED, added(CALL), ended(finished("{}", name="g"))],
        "contradiction",
        "/2/response/output/0/name",
    ),
    "another call": (
        [CREATED, added(CALL), ended(finished("{}", call_id="c2"))],
        "contradiction",
        "/2/response/output/0/call_id",
    ),
    "another text": (
        [CREATED, added(MESSAGE), text("a"), ended(message("b"))],
        "contradiction",
        "/3/response/output/0/content/0/text",
    ),
    "a refusal for a text": (
        [CREATED, added(MESSAGE), text("a"), ended({**message(""), "content": [REFUSAL]})],
        "contradiction",
        "/3/response/output/0/content/0/type",
    ),
    "an item twice": ([CREATED, added(MESSAGE), added(MESSAGE)], "contradiction", "/2/output_index"),
    "an item that has not begun": ([CREATED, text("a")], "out_of_place", "/1/output_index"),
    "an index that nobody has": ([CREATED, added(MESSAGE), text("a", 1)], "out_of_place", "/2/output_index"),
    "a text of a call": ([CREATED, added(CALL), text("a")], "out_of_place", "/2/type"),
    "more text behind its end": (
        [CREATED, added(MESSAGE), event("output_item.done", output_index=0, item=message("a")), text("b")],
        "out_of_place",
        "/3/delta",
    ),
    "more text behind the end of its item": (
        [CREATED, added(MESSAGE), text("a"), event("output_item.done", output_index=0, item=message("a")), text("b")],
        "out_of_place",
        "/4/delta",
    ),
    "more text behind its own end": (
        [
            CREATED,
            added(MESSAGE),
            text("a"),
            event("output_text.done", item_id="m1", output_index=0, content_index=0, text="a"),
            text("b"),
        ],
        "out_of_place",
        "/4/delta",
    ),
    "another name at the end of the arguments": (
        [
            CREATED,
            added(CALL),
            event("function_call_arguments.done", item_id="f1", output_index=0, arguments="", name="g"),
        ],
        "contradiction",
        "/2/name",
    ),
    "neither index nor id": (
        [CREATED, added(MESSAGE), added(CALL, 1), event("function_call_arguments.delta", delta="{}")],
        "out_of_place",
        "/3",
    ),
    "two messages": ([CREATED, added(MESSAGE), added({**MESSAGE, "id": "m2"}, 1)], "several_messages", "/2/item"),
    "two texts": (
        [
            CREATED,
            *(added(MESSAGE) for _ in "a"),
            text("a"),
            ended({**message("a"), "content": [*message("a")["content"], *message("b")["content"]]}),
        ],
        "several_parts",
        "/3/response/output/0/content/1",
    ),
    "reasoning": ([CREATED, added({"type": "reasoning", "id": "rs", "summary": []})], "reasoning", "/1/item"),
    "a namespaced item": ([CREATED, added({"type": "acme:x", "id": "a"})], "namespaced", "/1/item"),
    "an item of one server": (
        [CREATED, added({"type": "web_search_call", "id": "w", "status": "in_progress"})],
        "unsupported_item",
        "/1/item",
    ),
    "an item whose id is a list": ([CREATED, added({**CALL, "id": []}), ended()], "malformed", "/1/item/id"),
    "arguments that are an object": (
        [CREATED, added({**CALL, "arguments": {"a": []}}), argued("{}")],
        "arguments_type",
        "/1/item/arguments",
    ),
    "an unknown event": ([CREATED, {"type": "response.mood"}], "unknown_event", "/1/type"),
    "an unknown key of an event": ([CREATED, added(MESSAGE), text("a", mood=1)], "unknown_event", "/2/mood"),
    "an index that is true": ([CREATED, {**added(MESSAGE), "output_index": True}], "malformed", "/1/output_index"),
    "a text that is a number": ([CREATED, added(MESSAGE), {**text("a"), "delta": 5}], "malformed", "/2/delta"),
}


@pytest.mark.parametrize("name", CHUNK_FAULTS)
def test_fault_of_chunks(name: str) -> None:
    """A fault in a stream of chunks is refused with its code at its place, the number of the chunk first."""
    chunks, code, place = CHUNK_FAULTS[name]

    assert places_of(attempt(lambda: fed(ChunksToEvents(), chunks))) == [(code, place)]


@pytest.mark.parametrize("name", EVENT_FAULTS)
def test_fault_of_events(name: str) -> None:
    """So is one in a stream of events."""
    events, code, place = EVENT_FAULTS[name]

    assert (code, place) in places_of(attempt(lambda: fed(EventsToChunks(), events)))


DAMAGED: dict[str, tuple[str, Stream]] = {
    "arguments that are no text": (
        "events",
        [
            event("output_item.added", item={"arguments": {"a": []}}),
            event("function_call_arguments.delta", delta="{}"),
            event("function_call_arguments.done", arguments="{}"),
        ],
    ),
    "a part whose type comes late": (
        "events",
        [
            event("output_item.added", item={}),
            event("content_part.added", content_index=0, part={"text": ""}),
            event("content_part.done", content_index=0, part={"type": "reasoning_text"}),
        ],
    ),
    "an item whose id is an object": ("events", [CREATED, added({**CALL, "id": {}}), ended(finished("{}", id=[]))]),
    "a whole message that is a number": (
        "chunks",
        [{**STOP, "choices": [{"index": 0, "delta": {}, "message": 1, "finish_reason": "stop"}]}],
    ),
    "a refusal that became a text": (
        "events",
        [
            CREATED,
            added({"id": "m1", "role": "assistant", "content": []}),
            event("refusal.delta", output_index=0, content_index=1, delta="o"),
            ended({"content": [{"type": "output_text"}]}),
        ],
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged(name: str) -> None:
    """What was found by damaging streams: nothing but `Refused` leaves, and never `not_reversible`."""
    way, stream = DAMAGED[name]
    make, assemble, _, _ = TRANSLATORS[way]

    for refusals in (attempt(lambda: fed(make(allow="all"), stream)), attempt(lambda: assemble(stream))):
        assert not (is_refused(refusals) and "not_reversible" in codes(refusals))


@pytest.mark.parametrize("name", ["no reason to finish", "no reason to finish a call", "a cut call", "a filtered call"])
def test_never_completed(name: str) -> None:
    """What was cut off is not called completed, whatever is allowed: neither a call of it nor the whole."""
    translator = ChunksToEvents(allow="all")
    came: Stream = []
    refusals = ()
    for chunk in CHUNK_FAULTS[name][0]:
        step = attempt(partial(translator.feed, chunk))
        came, refusals = (came, step) if is_refused(step) else (came + step, refusals)

    assert codes(refusals or attempt(translator.close)) == {"incomplete"}
    assert not [one for one in came if one["type"].endswith((".done", ".completed", ".incomplete"))]


def test_a_name_in_fragments_around_another_call() -> None:
    """A call does not begin under the fragment of a name: it waits, or is refused."""
    chunks = [
        called(entry(0, "c1", "get_")),
        called(entry(1, "c2", "g")),
        called(entry(0, None, "order")),
        called(entry(0, None, None, "{}")),
        CALLS,
    ]

    events = attempt(lambda: fed(ChunksToEvents(), chunks))

    if not is_refused(events):
        assert Reading(events).items[0]["name"] == "get_order"


def test_unfinished_calls_of_an_unfinished_response() -> None:
    """A response that is incomplete and has a call is refused, whatever is allowed."""
    cut = ended(
        {**CALL, "status": "incomplete"}, status="incomplete", incomplete_details={"reason": "max_output_tokens"}
    )

    refusals = attempt(lambda: fed(EventsToChunks(allow="all"), [CREATED, added(CALL), argued("{"), cut]))

    assert codes(refusals) == {"incomplete"}


def test_an_odd_call_beside_another() -> None:
    """A call of which something stays behind keeps its place before the next one."""
    calls = [{**finished("{}"), "mood": 1}, finished("[]", id="f2", call_id="c2")]
    begun = [{**call, "arguments": "", "status": "in_progress"} for call in calls]
    events = [CREATED, added(begun[0]), added(begun[1], 1), argued("{}"), argued("[]", 1), ended(*calls)]

    assert square_of_events(events, "all", include_usage=True) is not None


def test_logprobs_that_only_the_deltas_have() -> None:
    """Log probabilities of the deltas are not lost where no part repeats them."""
    token = bodies.TOKEN
    place = {"item_id": "m1", "output_index": 0, "content_index": 0}
    done = event("output_text.done", **place, text="a", logprobs=[token])
    events = [CREATED, added(MESSAGE), text("a", logprobs=[token]), done, ended()]

    outcome = attempt(lambda: assemble_chunks(fed(EventsToChunks(), events)))

    assert is_refused(outcome) or outcome["choices"][0]["logprobs"] == {"content": [token], "refusal": None}


@pytest.mark.parametrize("kind", ["response.reasoning", "response.reasoning_text"])
def test_spellings_of_reasoning(kind: str) -> None:
    """Events of reasoning are known in both spellings; allowed, the item is in what the way back restores."""
    place = {"item_id": "rs", "output_index": 0, "content_index": 0}
    item = {"type": "reasoning", "id": "rs", "summary": [], "content": []}
    events = [
        CREATED,
        added(item),
        {"type": kind + ".delta", **place, "delta": "hm"},
        {"type": kind + ".done", **place, "text": "hm"},
    ]
    events += [added(MESSAGE, 1), text("a", 1), event("output_item.done", output_index=1, item=message("a")), ended()]
    translator = EventsToChunks({"reasoning"})

    chunks = fed(translator, events)

    back = to_responses(assemble_chunks(chunks), remainder=translator.remainder).document
    assert back["output"][0]["content"] == [{"type": "reasoning_text", "text": "hm"}]
    assert canon(back) == canon(assemble_events(events))


# ---------------------------------------------------------------- work and memory


@pytest.mark.parametrize("of", ["text", "arguments"])
@both_ways
def test_no_text_is_built_anew_for_each_delta(way: str, of: str) -> None:
    """While a long text streams by, each step holds little more than its delta: the text so far is not joined."""
    long = "x" * 2000
    if way == "chunks":
        begin: Stream = [called(entry(0, "c1", "f", "{"))] if of == "arguments" else [said("{")]
        step = called(entry(0, None, None, long)) if of == "arguments" else said(long)
    else:
        begin = [CREATED, added(CALL), argued("{")] if of == "arguments" else [CREATED, added(MESSAGE), text("{")]
        step = argued(long) if of == "arguments" else text(long)
    translator = TRANSLATORS[way][0]()
    for one in begin:
        translator.feed(one)
    for _ in range(200):
        translator.feed(step)

    tracemalloc.start()
    try:
        for _ in range(20):
            translator.feed(step)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 200 * len(long) / 4


# ---------------------------------------------------------------- the recorded streams


class Recorded(NamedTuple):
    where: str
    way: str
    stream: Stream


@cache
def recorded() -> list[Recorded]:
    """Every stream of the data sets that can be read; nothing where they are not there."""
    if not (DATA / "walk.py").is_file():
        return []
    spec = importlib.util.spec_from_file_location("walk", DATA / "walk.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: list[Recorded] = []
    for document in module.walk():
        if document.kind in ("chat.stream", "responses.stream"):
            way = "chunks" if document.kind == "chat.stream" else "events"
            if not is_refused(stream := attempt(partial(decoded, document.body))):
                found.append(Recorded(document.where, way, stream))
    return found


def decoded(body: bytes) -> Stream:
    decoder = sse.Decoder()
    return [sse.read(message) for message in (*decoder.feed(body), *decoder.close())]


@pytest.mark.parametrize("allow", ["all", ""])
def test_recorded_streams(allow: str) -> None:
    """For every recorded stream the square holds, and the way back too; or it is refused."""
    if not recorded():
        pytest.skip(f"{DATA} is not there")

    assert [entry.where for entry in recorded() if not commutes(entry, allow or ())] == []


def commutes(entry: Recorded, allow: Any) -> bool:
    make, assemble, _, _ = TRANSLATORS[entry.way]
    there, back = (to_responses, to_chat) if entry.way == "chunks" else (to_chat, to_responses)
    translator = make(allow=allow)
    came = attempt(lambda: fed(translator, entry.stream))
    if is_refused(came):
        return "not_reversible" not in codes(came)
    if entry.way == "chunks":
        Reading(came)
    whole, document = (
        there(assemble(entry.stream), allow=allow),
        (assemble_events if entry.way == "chunks" else assemble_chunks)(came),
    )
    returned = back(document, remainder=translator.remainder).document
    return canon(whole.document) == canon(document) and canon(returned) == canon(assemble(entry.stream))


def test_recorded_streams_are_accepted() -> None:
    """At least 95 of 100 recorded streams that ended come through with everything allowed."""
    if not recorded():
        pytest.skip(f"{DATA} is not there")
    came = [attempt(partial(fed, TRANSLATORS[entry.way][0](allow="all"), entry.stream)) for entry in recorded()]
    own = [one for one in came if not (is_refused(one) and codes(one) & {"stream_failed", "incomplete"})]

    assert sum(not is_refused(one) for one in own) >= 0.95 * len(own)
