"""A small file of Chat transcripts, as `turncodec demo` writes it: one that needs a remainder, a plain one, and one
that holds something that no item can say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turncodec.edge import decode, encode
from turncodec.equality import same

_WEATHER = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Zürich", "unit": "C"}'},
}

SAMPLE: list[dict[str, Any]] = [
    {
        "messages": [
            {"role": "system", "content": "Answer in one sentence."},
            {"role": "user", "content": "Do I need an umbrella in Zürich?"},
            {"role": "assistant", "content": None, "refusal": None, "tool_calls": [_WEATHER]},
            {"role": "tool", "tool_call_id": "call_1", "content": '{"rain": 0.8, "temperature": 12.50}'},
            {"role": "assistant", "content": "Yes, take one: it will probably rain.", "refusal": None},
        ]
    },
    {
        "messages": [
            {"role": "user", "content": "What is 2 + 2?"},
            {"role": "assistant", "content": "4"},
        ]
    },
    {
        "messages": [
            {"role": "user", "content": "And 2 + 3?"},
            {"role": "assistant", "content": "5", "reasoning_content": "Two and three make five."},
        ]
    },
]


def write(path: Path) -> None:
    """Write the sample; a file that is there already is left alone (FileExistsError)."""
    with path.open("xb") as file:
        file.writelines(encode(record) + b"\n" for record in SAMPLE)


def records(path: Path) -> list[Any]:
    return [decode(line) for line in path.read_bytes().splitlines()]


def is_equal(path: Path) -> bool:
    """Whether a file holds the sample."""
    return same(records(path), SAMPLE)


def shown(path: Path) -> str:
    """The records of a file, each message or item on a line of its own."""
    return "\n".join(
        f"{record} {encode(turn).decode()}"
        for record, document in enumerate(records(path), 1)
        for turn in document.get("messages") or document["input"]
    )
