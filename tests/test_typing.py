"""Every public name, used as a user would use it. Read by mypy --strict, and run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

import turncodec
from turncodec import (
    CODES,
    GATE_WORDS,
    KINDS,
    Code,
    NotAnswerable,
    Refusal,
    Refused,
    ToolGate,
    Translation,
    __version__,
    check,
    replay_gate,
    to_chat,
    to_responses,
)
from turncodec.stream import (
    ChunksToEvents,
    EventsToChunks,
    assemble_chunks,
    assemble_events,
    athrough,
    sse,
    through,
)

CALL: dict[str, Any] = {
    "type": "function_call",
    "call_id": "call_1",
    "name": "weather",
    "arguments": "{}",
    "status": "completed",
}


def test_every_name_is_here() -> None:
    """Nothing public is missing from this file."""
    assert set(turncodec.__all__) <= set(globals())
    assert set(turncodec.__all__) <= set(dir(turncodec))


def test_translate() -> None:
    """There and back, with every argument."""
    there: Translation = to_responses([{"role": "user", "content": "hi", "name": "ann"}], allow={"message_name"})
    remainder: dict[str, Any] | None = there.remainder
    back: Translation = to_chat(there.document, kind="transcript", remainder=remainder)

    assert back.document == [{"role": "user", "content": "hi", "name": "ann"}]
    assert to_chat({"rows": there.document}, at="/rows").document == {"rows": [{"role": "user", "content": "hi"}]}


def test_refuse() -> None:
    """A refusal as a user reads it."""
    refusals: list[Refusal] = check([{"role": "user", "content": "hi", "name": "ann"}])
    with pytest.raises(Refused) as refused:
        to_responses([{"role": "user", "content": "hi", "name": "ann"}])
    assert refused.value.refusals == tuple(refusals)

    first: Refusal = refusals[0]
    code: Code = CODES[first.code]
    meaning: str = code.meaning
    places: list[tuple[str, str, str, bool]] = [(r.pointer, r.message, r.hint, r.allowable) for r in refusals]

    assert meaning
    assert places[0][0] == "/0/name"
    assert str(first).startswith("message_name at /0/name")


def test_gate() -> None:
    """A call is tried before it is executed."""
    word: str = replay_gate(CALL, {"type": "object"})
    gate = ToolGate([{"type": "function", "name": "weather", "parameters": {"type": "object"}}])

    assert word == gate.check(CALL) == "ok"
    assert word in GATE_WORDS
    assert gate.answer(CALL, "7 C") == {"type": "function_call_output", "call_id": "call_1", "output": "7 C"}
    with pytest.raises(NotAnswerable) as refused:
        gate.answer({**CALL, "status": None}, "7 C")
    wrong: str = refused.value.word
    assert wrong == "status"


def test_the_rest() -> None:
    """Kinds and the version."""
    assert "transcript" in KINDS
    assert __version__.count(".") == 2


# ---------------------------------------------------------------- streams

CHUNKS: list[dict[str, Any]] = [
    {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}],
    }
]


def test_every_name_of_streams_is_here() -> None:
    """Nothing public is missing from this file."""
    import turncodec.stream

    assert set(turncodec.stream.__all__) <= set(globals())


def test_streams() -> None:
    """A stream goes across and back, and each side amounts to the translation of the other."""
    translator = ChunksToEvents(request={"model": "m", "messages": []}, allow="all")
    events: list[Any] = [*translator.feed(CHUNKS[0]), *translator.close()]
    response: dict[str, Any] = assemble_events(events)
    remainder: dict[str, Any] | None = translator.remainder

    back = EventsToChunks(allow={"reasoning"}, include_usage=False)
    chunks: list[Any] = list(through(back, events))

    assert to_chat(response, remainder=remainder).document == assemble_chunks(CHUNKS)
    assert assemble_chunks(chunks)["choices"][0]["message"]["content"] == "hi"


def test_failure() -> None:
    """A refused stream can tell its client so."""
    for translator in (ChunksToEvents(), EventsToChunks()):
        with pytest.raises(Refused) as refused:
            translator.close()

        assert translator.failure(refused.value)[-1] == "[DONE]"


def test_asynchronous() -> None:
    """The same for an asynchronous stream."""

    async def stream() -> AsyncIterator[dict[str, Any]]:
        for chunk in CHUNKS:
            yield chunk

    async def collect() -> list[Any]:
        return [event async for event in athrough(ChunksToEvents(), stream())]

    assert asyncio.run(collect()) == list(through(ChunksToEvents(), CHUNKS))


def test_bytes() -> None:
    """Events and chunks are written as server-sent events, and read again."""
    messages: list[sse.Message] = sse.Decoder().feed(sse.encode(CHUNKS[0]) + sse.encode("[DONE]"))

    assert [sse.read(message) for message in messages] == [CHUNKS[0], "[DONE]"]
