"""What a transcript says, read a second time by other code.

The conservation law compares what this reader finds before and after a translation, so it shares nothing with the
mapping that it judges. A turn is a tuple:

    ("assistant", said, calls)   said: the facts of each message; calls: (id, name, arguments)
    ("result", id, facts)
    (role, facts)                a message of anybody else

and a fact is ("text", text), ("refusal", text), ("image", url, detail) or ("file", name, data). Two spellings of the
same turn give the same tuple; two turns that say different things do not.
"""

from __future__ import annotations

import json
from typing import Any

Json = Any
Fact = tuple[Any, ...]
Turn = tuple[Any, ...]


def canon(value: Json) -> str:
    """A text that two JSON values share when they are the same document: 1, 1.0, true and "1" differ, the order of
    keys does not matter."""
    return json.dumps(value, sort_keys=True, allow_nan=False)


def read_chat(messages: list[Json]) -> list[Turn]:
    """The turns of a list of Chat messages."""
    turns: list[Turn] = []
    for message in messages:
        role = message["role"]
        if role == "assistant":
            said, calls = _run(turns)
            facts = _facts(message.get("content") or [])
            if message.get("refusal"):
                facts.append(("refusal", message["refusal"]))
            if facts:
                said.append(facts)
            for call in message.get("tool_calls") or []:
                calls.append((call["id"], call["function"]["name"], call["function"]["arguments"]))
        elif role == "tool":
            turns.append(("result", message["tool_call_id"], _facts(message["content"])))
        else:
            turns.append((role, _facts(message["content"])))
    return turns


def read_items(items: list[Json] | str) -> list[Turn]:
    """The turns of a list of items, or of the string that stands for one message."""
    if isinstance(items, str):
        return [("user", [("text", items)])]
    turns: list[Turn] = []
    for item in items:
        kind = item.get("type") or "message"
        if kind == "function_call":
            _run(turns)[1].append((item["call_id"], item["name"], item["arguments"]))
        elif kind == "function_call_output":
            turns.append(("result", item["call_id"], _facts(item["output"])))
        elif item["role"] == "assistant":
            said, _ = _run(turns)
            facts = _facts(item["content"] or [])
            if facts:
                said.append(facts)
        else:
            turns.append((item["role"], _facts(item["content"])))
    return turns


def _run(turns: list[Turn]) -> tuple[list[list[Fact]], list[Fact]]:
    """What the assistant has said and called since anybody else spoke."""
    if not turns or turns[-1][0] != "assistant":
        turns.append(("assistant", [], []))
    return turns[-1][1], turns[-1][2]


def _facts(content: Json) -> list[Fact]:
    if isinstance(content, str):
        return [("text", content)]
    return [_fact(part) for part in content]


def _fact(part: Json) -> Fact:
    kind = part["type"]
    if kind in ("text", "input_text", "output_text"):
        return ("text", part["text"])
    if kind == "refusal":
        return ("refusal", part["refusal"])
    if kind == "image_url":
        return ("image", part["image_url"]["url"], part["image_url"].get("detail"))
    if kind == "input_image":
        return ("image", part["image_url"], part.get("detail"))
    file = part["file"] if kind == "file" else part
    return ("file", file.get("filename"), file.get("file_data"))
