"""Streams as servers send them, for Hypothesis: an answer that is known whole, cut into chunks or into events.

Written by hand, like `strategies`: what an answer amounts to is drawn first, and the stream is made from it, so that a
stream that is read in another way than it was written shows. What `answers(odd=False)` and `bodies.responses` draw has
a place in both formats; what `answers(odd=True)` and `replies` draw has not always.

How an answer is cut is decided by a `Random` of one drawn seed: examples shrink by what they say, not by how it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import bodies
import strategies
from bodies import CITATION, TOKEN
from hypothesis import strategies as st
from strategies import copied

Body = dict[str, Any]
DONE = "[DONE]"

# ---------------------------------------------------------------- fragments


def pieces(random: Random, text: str) -> list[str]:
    """A text in fragments, some of them empty; at least one."""
    cuts = sorted(random.randint(0, len(text)) for _ in range(random.choice((0, 0, 1, 2, 4))))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def portions(random: Random, values: list[Any]) -> list[list[Any]]:
    """A list in one piece, or in two."""
    cut = random.randint(0, len(values))
    return [part for part in (values[:cut], values[cut:]) if part]


def riffled(random: Random, queues: list[list[Any]]) -> list[Any]:
    """The entries of several lists in one, in any order that keeps that of each list."""
    turns = [n for n, queue in enumerate(queues) for _ in queue]
    random.shuffle(turns)
    rest = [iter(queue) for queue in queues]
    return [next(rest[n]) for n in turns]


# ---------------------------------------------------------------- a completion, in chunks

QUIET: tuple[Body, ...] = ({}, {}, {"audio": None}, {"function_call": None, "annotations": []})
THOUGHT = ("reasoning_content", "reasoning")
ODD_HEADS: tuple[Body, ...] = (
    {},
    {},
    {"provider": "Acme"},
    {"citations": ["https://example.com"]},
    {"service_tier": "on_demand"},
)
ODD_CHOICES: tuple[Body, ...] = (
    {},
    {},
    {"native_finish_reason": "STOP"},
    {"content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}},
    {"matched_stop": 3},
    {"stop_reason": None},
)
ODD_CALLS: tuple[Body, ...] = ({}, {}, {"extra_content": {"google": {"thought_signature": "Eo4="}}})


def token(text: str, **keys: Any) -> Body:
    return {**TOKEN, "token": text, **keys}


@st.composite
def answers(draw: st.DrawFn, odd: bool = False) -> Body:
    """A completion as a stream amounts to it. An odd one may have what Responses has no place for, and may be cut off;
    then it has no reason to finish."""
    message: Body = {"role": "assistant", "content": draw(st.none() | bodies.TEXTS)}
    message["refusal"] = draw(st.sampled_from((None, None, None, "", "I cannot.")))
    message |= draw(st.sampled_from(QUIET))
    used: set[str] = set()
    if number := draw(st.sampled_from((0, 0, 1, 2, 3))):
        message["tool_calls"] = [call_of(draw, strategies.fresh_id(draw, used), odd) for _ in range(number)]
    logprobs: Body | None = None
    if message["content"] and draw(st.booleans()):
        cited = [{"type": "url_citation", "url_citation": {**CITATION, "title": title}} for title in ("E", "F", "F")]
        message["annotations"] = cited[: draw(st.integers(1, 3))]
    if message["content"] and draw(st.booleans()):
        logprobs = {"content": [token("a"), token("a"), token("é", bytes=[195, 169])], "refusal": None}
    choice: Body = {"index": 0, "message": message, "logprobs": logprobs}
    choice["finish_reason"] = draw(st.sampled_from(("stop", "tool_calls")))
    head: Body = {}
    if odd:
        choice["finish_reason"] = draw(st.sampled_from(("stop", "tool_calls", "length", "content_filter", None)))
        choice |= draw(st.sampled_from(ODD_CHOICES))
        head |= draw(st.sampled_from(ODD_HEADS))
        message |= draw(st.sampled_from(({}, {}, {"reasoning": None}, {"reasoning_content": None})))
        if draw(st.booleans()):
            message[draw(st.sampled_from(THOUGHT))] = draw(st.sampled_from(("", "two and two", "é\n")))
        if draw(st.booleans()):
            message["reasoning_details"] = [{"type": "reasoning.text", "text": "first, then", "index": 0}]
        if logprobs and draw(st.booleans()):
            logprobs["content"][1]["bytes"] = None
    usage = bodies.usages("prompt", "completion", "prompt_tokens_details", "completion_tokens_details")
    optional = {"usage": usage, "system_fingerprint": st.sampled_from(("fp_1", None)), "metadata": st.just({"a": "b"})}
    if "service_tier" not in head:
        optional["service_tier"] = st.sampled_from(("default", "flex", None))
    head |= draw(st.fixed_dictionaries({}, optional=optional))
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": "m", **head} | {
        "choices": [choice]
    }


def call_of(draw: st.DrawFn, call_id: str, odd: bool) -> Body:
    function = {"name": draw(st.sampled_from(bodies.NAMES)), "arguments": draw(bodies.ARGUMENTS)}
    extra = draw(st.sampled_from(ODD_CALLS)) if odd else {}
    return {"id": call_id, "type": "function", "function": function, **copied(extra)}


seeds = st.integers(0, 2**32)


def chunks_of(completion: Body, seed: int) -> list[Any]:
    """A completion in chunks, one of the many ways; `"[DONE]"` may be missing."""
    random = Random(seed)
    chunks = [*packed(random, completion)]
    end(random, completion, chunks)
    dress(random, completion, chunks)
    return [*chunks, DONE] if random.random() < 0.7 else chunks


def packed(random: Random, completion: Body) -> Iterator[Body]:
    """The chunks with all that the message says; several steps may share one delta where their keys differ."""
    choice = completion["choices"][0]
    delta: Body = {"role": "assistant"} if random.random() < 0.8 else {}
    held: Body = {}
    for key, value in steps(random, choice):
        holder = held if key == "logprobs" else delta
        if (key in holder and key != "tool_calls") or random.random() < 0.5:
            yield chunk(completion, delta, **held)
            delta, held = {}, {}
            holder = held if key == "logprobs" else delta
        if key == "tool_calls":
            delta.setdefault(key, []).append(value)
        else:
            holder[key] = value
    yield chunk(completion, delta, **held)


def chunk(completion: Body, delta: Body, **choice: Any) -> Body:
    head = {key: completion[key] for key in ("id", "created", "model")}
    return {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, **choice}]}


def steps(random: Random, choice: Body) -> list[tuple[str, Any]]:
    """What the message says, bit by bit: the key of each bit in a delta, and its value. The text begins before the
    calls, and before a refusal beside it: so it stands in the answer, and later it would have no place."""
    message = choice["message"]
    opening: list[tuple[str, Any]] = []
    queues: list[list[tuple[str, Any]]] = []
    for key in ("content", "refusal"):
        if message[key] is not None:
            said = [(key, piece) for piece in pieces(random, message[key])]
            if not opening and message[key]:
                first = next(n for n, (_, piece) in enumerate(said) if piece)
                opening, said = said[: first + 1], said[first + 1 :]
            queues.append(said)
    entries = entries_of(random, message.get("tool_calls", []))
    queues.append([("tool_calls", entry) for entry in entries])
    rest = {key: value for key, value in message.items() if key not in ("role", "content", "refusal", "tool_calls")}
    for key, value in rest.items():
        if isinstance(value, str):
            queues.append([(key, piece) for piece in pieces(random, value)])
        elif key == "reasoning_details":
            queues.append([(key, [{**value[0], "text": piece}]) for piece in pieces(random, value[0]["text"])])
        else:
            queues.append([(key, part) for part in portions(random, value)] if value else [(key, value)])
    if choice["logprobs"]:
        tokens = portions(random, choice["logprobs"]["content"])
        queues.append([("logprobs", {"content": part, "refusal": None}) for part in tokens])
    return opening + riffled(random, queues)


def entries_of(random: Random, calls: list[Body]) -> list[Body]:
    """The calls as entries of deltas: interleaved, or one behind the other; told by their index, by their id, by being
    the only one, or each of them whole under the index 0."""
    how = random.choice(("index", "index", "gaps", "id", "alone", "whole"))
    if how == "alone" and len(calls) != 1:
        how = "index"
    if how == "whole":
        same_index = random.choice(({"index": 0}, {}, {"index": None}))
        return [{**copied(entry), **same_index} for entry in calls]
    offset, factor = (random.choice((0, 1)), random.choice((1, 2))) if how == "gaps" else (0, 1)
    queues = [entries_of_call(random, call, how, offset + factor * n) for n, call in enumerate(calls)]
    if how != "id" and random.random() < 0.5:
        return riffled(random, queues)
    return [entry for queue in queues for entry in queue]


def entries_of_call(random: Random, call: Body, how: str, index: int) -> list[Body]:
    function, extra = call["function"], {k: v for k, v in call.items() if k not in ("id", "type", "function")}
    fragments: list[Any] = [*pieces(random, function["arguments"])]
    first = {"id": call["id"], **({"type": "function"} if random.random() < 0.8 else {}), **copied(extra)}
    opening = random.choice(("together", "without arguments", "empty arguments", "id first"))
    if how == "id" and opening == "id first":
        opening = "together"
    entries: list[Body] = []
    if opening == "together":
        entries.append({**first, "function": {"name": function["name"], "arguments": fragments.pop(0)}})
    elif opening == "id first":
        entries += [first, {"function": {"name": function["name"]}}]
    else:
        empty = {} if opening == "without arguments" else {"arguments": ""}
        entries.append({**first, "function": {"name": function["name"], **empty}})
    again = random.choice(({}, {}, {"type": "function"}, {"id": call["id"]}, {"id": None}, {"id": ""}))
    named = random.choice(({}, {}, {"name": None}, {"name": ""}, {"name": function["name"]}))
    if how == "alone":
        named = {}
        entries = [{**first, "function": {"name": function["name"]}}] if opening == "id first" else entries
    entries += [{**copied(again), "function": {**named, "arguments": piece}} for piece in fragments]
    if how == "id":
        return [{**entry, "id": call["id"]} for entry in entries]
    return entries if how == "alone" else [{"index": index, **entry} for entry in entries]


ROLES = ("assistant", "", None)
NULLABLE = ("finish_reason", "logprobs", "usage", "role", "content", "tool_calls")


def end(random: Random, completion: Body, chunks: list[Body]) -> None:
    """Put in how it ended, and the usage."""
    finish, usage = completion["choices"][0]["finish_reason"], completion.get("usage")
    if random.random() < 0.6:
        chunks.append(chunk(completion, random.choice(({}, {"content": None}, {"role": "assistant"}))))
    if finish:
        chunks[-1]["choices"][0]["finish_reason"] = finish
        if random.random() < 0.3:
            chunks.append(chunk(completion, {}, finish_reason=finish))
    if usage is not None:
        where = random.choice(("own", "own", "last", "growing", "twice"))
        if where == "growing":
            for n, earlier in enumerate(chunks):
                earlier["usage"] = {"prompt_tokens": 1, "completion_tokens": n, "total_tokens": 1 + n}
        if where in ("last", "twice"):
            chunks[-1]["usage"] = copied(usage)
        if where != "last":
            chunks.append({**chunk(completion, {}), "choices": [], "usage": copied(usage)})


def dress(random: Random, completion: Body, chunks: list[Body]) -> None:
    """Put in what says nothing, and what stands beside the message."""
    choice = completion["choices"][0]
    own = ("id", "object", "created", "model", "choices", "usage")
    beside = {key: value for key, value in completion.items() if key not in own}
    beside_choice = {k: v for k, v in choice.items() if k not in ("index", "message", "logprobs", "finish_reason")}
    everywhere = random.random() < 0.5
    nulls = [key for key in NULLABLE if random.random() < 0.3]
    padding, empties = random.choice((None, None, "obfuscation", "p")), random.random() < 0.2
    if empties:
        for _ in range(random.randint(0, 2)):
            chunks.insert(random.randint(0, len(chunks)), chunk(completion, random.choice(({}, {"role": "assistant"}))))
    for n, one in enumerate(chunks):
        if everywhere or n == 0:
            one.update(copied(beside))
        if padding:
            one[padding] = "abcdef"[: random.randint(0, 6)]
        if "usage" in nulls:
            one.setdefault("usage", None)
        for entry in one["choices"]:
            if everywhere or n == 0:
                entry.update(copied(beside_choice))
            for key in nulls:
                if key in ("finish_reason", "logprobs"):
                    entry.setdefault(key, None)
                elif key == "role":
                    entry["delta"].setdefault("role", random.choice(ROLES))
                elif key in ("content", "tool_calls"):
                    entry["delta"].setdefault(key, None)
    if random.random() < 0.1:
        # As Azure begins: a chunk without an id and without choices.
        chunks.insert(0, {"id": "", "object": "", "created": 0, "model": "", "choices": []})


# ---------------------------------------------------------------- a response, in events

SPELLINGS = ("response.reasoning", "response.reasoning_text")
STYLES = ("whole", "whole", "closing without output", "parts alone", "no done events", "done events alone")
"""What is left out: nothing; the output of the last event; that and the items' own ends; all that ends something but
the stream; every delta."""


@st.composite
def replies(draw: st.DrawFn) -> Body:
    """A response that may have what Chat has no place for, or may not be completed."""
    response: Body = copied(draw(bodies.responses()))
    output = response["output"]
    for odd in draw(st.lists(st.sampled_from(ODD_ITEMS), max_size=2, unique_by=lambda item: item["id"])):
        output.insert(draw(st.integers(0, len(output))), copied(odd))
    if draw(st.booleans()):
        if output and "status" in output[-1] and draw(st.booleans()):
            output[-1]["status"] = "incomplete"
        response["status"] = draw(st.sampled_from(("incomplete", "completed", "failed")))
        if response["status"] == "incomplete":
            response["incomplete_details"] = {"reason": draw(st.sampled_from(("max_output_tokens", "steered")))}
    return response


ODD_ITEMS: tuple[Body, ...] = (
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "**So**"}]},
    {
        "type": "reasoning",
        "id": "rs_2",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "two"}, {"type": "reasoning_text", "text": "and two"}],
        "encrypted_content": "gAAAA",
    },
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "acme:thing", "id": "at_1", "status": "completed"},
    {
        "type": "message",
        "id": "msg_9",
        "status": "completed",
        "role": "assistant",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "looking", "annotations": []}],
    },
)


def events_of(response: Body, seed: int, style: str | None = None) -> list[Any]:
    """A response in events, one of the many ways; `"[DONE]"` may be missing."""
    random = Random(seed)
    style = style or random.choice(STYLES)
    counted = random.random() < 0.8
    output = [copied(item) for item in response["output"]]
    queues = [[*item_events(random, item, n, style)] for n, item in enumerate(output)]
    body = [event for queue in queues for event in queue]
    if counted and random.random() < 0.5:
        body = [queue.pop(0) for queue in queues] + riffled(random, queues)
    begun = {key: copied(value) for key, value in response.items()}
    begun |= {"status": "in_progress", "output": []}
    begun |= {key: None for key in ("usage", "completed_at", "incomplete_details") if key in response}
    opening = random.choice((("created", "in_progress"), ("created",), ("created", "queued", "in_progress")))
    last = {**copied(response), "output": [] if style in ("closing without output", "parts alone") else output}
    events: list[Any] = [{"type": f"response.{state}", "response": copied(begun)} for state in opening]
    events += [*body, {"type": f"response.{response['status']}", "response": last}]
    events = [*dressed(random, events, counted)]
    return [*events, DONE] if random.random() < 0.7 else events


def item_events(random: Random, item: Body, n: int, style: str) -> Iterator[Body]:
    """The events of one item, in their order."""
    place = {"item_id": item["id"], "output_index": n}
    begun = {**item, **({"status": "in_progress"} if "status" in item else {})}
    begun |= {key: [] for key in ("content", "summary") if key in item}
    yield {
        "type": "response.output_item.added",
        "output_index": n,
        "item": {**begun, "arguments": ""} if "arguments" in item else begun,
    }
    spoken = [*texts_of(random, item, place, style)]
    if style == "done events alone":
        spoken = [event for event in spoken if not event["type"].endswith((".delta", ".added"))]
    elif style == "no done events":
        spoken = [event for event in spoken if not event["type"].endswith(".done")]
    yield from spoken
    if style != "no done events" and not (style == "parts alone" and is_told_by_parts(item)):
        yield {"type": "response.output_item.done", "output_index": n, "item": copied(item)}


def is_told_by_parts(item: Body) -> bool:
    """Whether the events of its parts say all of an item."""
    return item.get("status") == "completed" and item["type"] in ("message", "function_call")


def texts_of(random: Random, item: Body, place: Body, style: str) -> Iterator[Body]:
    if item["type"] == "function_call":
        name = "response.function_call_arguments"
        for piece in pieces(random, item["arguments"]):
            yield {"type": name + ".delta", **place, "delta": piece}
        named = random.choice(({}, {"name": item["name"]}))
        yield {"type": name + ".done", **place, "arguments": item["arguments"], **named}
    if item["type"] in ("message", "reasoning"):
        for n, part in enumerate(item.get("content", ())):
            yield from part_events(random, part, {**place, "content_index": n}, "content", style)
        for n, part in enumerate(item.get("summary", ())):
            yield from part_events(random, part, {**place, "summary_index": n}, "summary", style)


def part_events(random: Random, part: Body, place: Body, of: str, style: str) -> Iterator[Body]:
    kind = part["type"]
    key = "refusal" if kind == "refusal" else "text"
    name = {"summary_text": "response.reasoning_summary_text", "reasoning_text": random.choice(SPELLINGS)}.get(
        kind, "response." + kind
    )
    holder = "response.content_part" if of == "content" else "response.reasoning_summary_part"
    empty = {**part, key: "", **({"annotations": []} if "annotations" in part else {})}
    yield {"type": holder + ".added", **place, "part": empty}
    logprobs: Body = random.choice(({}, {"logprobs": []})) if kind == "output_text" else {}
    for piece in pieces(random, part[key]):
        yield {"type": name + ".delta", **place, "delta": piece, **logprobs}
    for n, annotation in enumerate(part.get("annotations", ()) if style != "parts alone" else ()):
        added = "response.output_text.annotation.added"
        yield {"type": added, **place, "annotation_index": n, "annotation": copied(annotation)}
    yield {"type": name + ".done", **place, key: part[key], **logprobs}
    yield {"type": holder + ".done", **place, "part": copied(part)}


def dressed(random: Random, events: list[Body], counted: bool) -> Iterator[Body]:
    """Put in what says nothing: numbers, padding, events of somebody's own; and take out what can be spared."""
    numbered, padded = random.random() < 0.8, random.random() < 0.3
    restless, foreign = counted and random.random() < 0.3, random.random() < 0.3
    number = 0
    for event in events:
        if foreign and random.random() < 0.3:
            yield {"type": "acme:trace", "sequence_number": number, "span": {"a": 1}}
            number += 1
        one = {**event, **({"sequence_number": number} if numbered else {})}
        number += 1
        if padded and one["type"].endswith(".delta"):
            one["obfuscation"] = "x" * random.randint(0, 9)
        if restless and "item_id" in one:
            one["item_id"] = f"item_{number}"
        if not counted:
            one.pop("output_index", None)
        yield one


# ---------------------------------------------------------------- a stream that was damaged

WORDS = (
    "", "assistant", "tool", "stop", "length", "tool_calls", "c", "call_1", "f", "{}", "function", "error", "acme:x"
)  # fmt: skip
KEYS = (
    "id", "index", "delta", "choices", "finish_reason", "content", "refusal", "tool_calls", "function", "name",
    "arguments", "type", "usage", "logprobs", "error", "role", "function_call", "message", "item", "output_index",
    "item_id", "part", "content_index", "summary_index", "text", "response", "output", "status", "annotation",
    "sequence_number", "created", "created_at", "model", "object", "call_id", "p", "obfuscation", "annotations",
    "reasoning"
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, streams: st.SearchStrategy[list[Any]]) -> list[Any]:
    """A stream changed blindly: keys dropped and added, values replaced, chunks doubled, dropped and moved."""
    stream: Any = copied(draw(streams))
    random = Random(draw(seeds))
    for _ in range(random.choice((1, 1, 2, 3))):
        path = random.choice(strategies.places(stream))
        here = strategies.value_at(stream, path)
        stream = strategies.put(stream, path, changed(draw, random, here, stream))
        stream = stream if isinstance(stream, list) else [stream]
    return [*stream]


def changed(draw: st.DrawFn, random: Random, here: Any, whole: Any) -> Any:
    how = random.choice(("inside", "inside", "inside", "word", "value", "elsewhere"))
    if how == "inside" and isinstance(here, dict):
        key = random.choice((*KEYS, *here, *here, *here))
        if key in here and random.random() < 0.5:
            return {other: value for other, value in here.items() if other != key}
        return {**here, key: random.choice((None, [], {}, 0, 1, True, *WORDS))}
    if how == "inside" and isinstance(here, list) and here:
        n, m = random.randrange(len(here)), random.randrange(len(here) + 1)
        rest = here[:n] + here[n + 1 :]
        return random.choice((rest, [*here[:m], copied(here[n]), *here[m:]], [*rest[:m], here[n], *rest[m:]]))
    if how == "elsewhere":
        return copied(strategies.value_at(whole, random.choice(strategies.places(whole))))
    return draw(strategies.json_values) if how == "value" else random.choice(WORDS)
