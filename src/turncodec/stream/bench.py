"""What translating a stream costs: microseconds an event, beside the cost of reading the same event's JSON.

    python -m turncodec.stream.bench [--rounds N] [--events N]

For each stream the events are read from their bytes with msgspec, and fed to a translator; a figure is the median,
over the rounds, of the CPU time. The last figure of a row compares a stream with one ten times as long: 10 is linear.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from turncodec.edge import encode
from turncodec.stream import ChunksToEvents, EventsToChunks, through

ROUNDS = 7
EVENTS = 10_000
LONGER = 10
WORDS = ("The ", "order ", "#W2378156 ", "was ", "delivered ", "to ", "Rue de l’Église – ", "yesterday", ". ", "\n")

read = msgspec.json.Decoder().decode


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """A chunk as OpenAI's API sends it."""
    return {
        "id": "chatcmpl-CK1a2b3c4d5e6f7g8h9i0jKlMnOpQ",
        "object": "chat.completion.chunk",
        "created": 1764547200,
        "model": "gpt-5-mini-2025-08-07",
        "service_tier": "default",
        "system_fingerprint": None,
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
        "usage": None,
        "obfuscation": "aB3dE6gH",
    }


def text_chunks(count: int) -> list[dict[str, Any]]:
    """An answer in words."""
    first = chunk({"role": "assistant", "content": "", "refusal": None})
    return [first, *(chunk({"content": WORDS[n % len(WORDS)]}) for n in range(count)), chunk({}, "stop")]


def call_chunks(count: int) -> list[dict[str, Any]]:
    """Four calls whose arguments come in turns."""
    chunks = [chunk({"role": "assistant", "content": None})]
    for n in range(4):
        function = {"name": "get_order_details", "arguments": ""}
        chunks.append(
            chunk({"tool_calls": [{"index": n, "id": f"call_{n}", "type": "function", "function": function}]})
        )
    for n in range(count):
        entry = {"index": n % 4, "function": {"arguments": WORDS[n % len(WORDS)]}}
        chunks.append(chunk({"tool_calls": [entry]}))
    return [*chunks, chunk({}, "tool_calls")]


def events_of(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in through(ChunksToEvents(), chunks) if isinstance(event, dict)]


def to_events(chunks: Iterable[Any]) -> int:
    return sum(1 for _ in through(ChunksToEvents(), chunks))


def to_chunks(events: Iterable[Any]) -> int:
    return sum(1 for _ in through(EventsToChunks(), events))


ROWS: tuple[tuple[str, Callable[[int], list[dict[str, Any]]], Callable[[Iterable[Any]], int]], ...] = (
    ("text, chunks to events", text_chunks, to_events),
    ("text, events to chunks", lambda count: events_of(text_chunks(count)), to_chunks),
    ("calls, chunks to events", call_chunks, to_events),
    ("calls, events to chunks", lambda count: events_of(call_chunks(count)), to_chunks),
)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(
    make: Callable[[int], list[Any]], work: Callable[[Iterable[Any]], int], rounds: int, count: int
) -> list[float]:
    """Microseconds to read an event and to translate it; and how many times as long a longer stream takes."""
    stream, longer = make(count), make(count * LONGER)
    lines = [encode(one) for one in stream]
    reading, translating, growing = [], [], []
    for _ in range(rounds):
        reading.append(seconds(lambda: [read(line) for line in lines]) / len(lines))
        short, long = seconds(lambda: work(stream)), seconds(lambda: work(longer))
        translating.append(short / len(lines))
        growing.append(long / short)
    return [statistics.median(figures) for figures in (reading, translating, growing)]


def main(rounds: int = ROUNDS, count: int = EVENTS) -> int:
    """Measure and print; the exit status."""
    print(f"{count:,} deltas, and {count * LONGER:,}; Python {sys.version.split()[0]}\n")  # noqa: T201
    print("  read  translate   ratio   longer")  # noqa: T201
    for name, make, work in ROWS:
        reading, translating, growing = measure(make, work, rounds, count)
        figures = f"{reading * 1e6:6.2f} {translating * 1e6:7.2f} µs {translating / reading:7.2f} {growing:8.1f}"
        print(f"{figures}  {name}")  # noqa: T201
    return 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(prog="python -m turncodec.stream.bench", description="Microseconds an event.")
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    arguments.add_argument("--events", type=int, default=EVENTS)
    chosen = arguments.parse_args()
    sys.exit(main(chosen.rounds, chosen.events))
