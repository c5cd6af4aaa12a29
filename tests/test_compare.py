"""What makes two conversations the same, and each way in which they can differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import turncodec.compare as names
from turncodec.compare import WHAT, compare

Body = dict[str, Any]


def call(arguments: str = "{}", call_id: str = "c1", name: str = "f") -> Body:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, "status": "completed"}


def result(output: Any = "1", call_id: str = "c1") -> Body:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def said(text: Any, role: str = "user") -> Body:
    return {"type": "message", "role": role, "content": text}


CHAT: Body = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "assistant", "content": None, "refusal": "no"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
}
ITEMS: Body = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        said([{"type": "input_text", "text": "hi"}, {"type": "input_image", "image_url": "u"}]),
        call(),
        result([{"type": "input_text", "text": "1"}]),
        said([{"type": "refusal", "refusal": "no"}], "assistant"),
    ],
    "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}],
}


def test_the_same() -> None:
    """The same conversation in two formats has no difference, from either side."""
    assert compare(CHAT, ITEMS) == []
    assert compare(ITEMS, CHAT) == []


ABOUT: list[tuple[str, Any, Any, tuple[str | None, str | None]]] = [
    ("text", [said("a")], [said("b")], ("/0", "/0")),
    ("text", [said("a")], [said("a", "system")], ("/0", "/0")),
    ("text", [said("a"), said("b")], [said("b")], ("/0", None)),
    ("text", [said("b")], [said("a"), said("b")], (None, "/0")),
    ("call", [call()], [], ("/0", None)),
    ("call", [], [call()], (None, "/0")),
    ("call_id", [call()], [call(call_id="c2")], ("/0", "/0")),
    ("name", [call()], [call(name="g")], ("/0", "/0")),
    ("arguments", [call()], [call("{ }")], ("/0", "/0")),
    ("status", [call()], [call() | {"status": "incomplete"}], ("/0", "/0")),
    ("result", [call(), result()], [call()], ("/1", None)),
    ("result", [call()], [call(), result()], (None, "/1")),
    ("output", [call(), result()], [call(), result("2")], ("/1", "/1")),
    ("order", [said("a"), call(), result()], [call(), result(), said("a")], ("", "")),
    ("item", [{"type": "acme:x", "n": 1}], [], ("/0", None)),
    ("item", [call()], [call(), {"type": "reasoning", "summary": []}], (None, "/1")),
    ("model", CHAT, {**CHAT, "model": "n"}, ("/model", "/model")),
    ("tool", CHAT, {**CHAT, "tools": []}, ("/tools/0", None)),
    ("tool", {**CHAT, "tools": []}, CHAT, (None, "/tools/0")),
    ("schema", ITEMS, {**ITEMS, "tools": [{**ITEMS["tools"][0], "description": "d"}]}, ("/tools/0", "/tools/0")),
    ("schema", ITEMS, {**ITEMS, "tools": [{**ITEMS["tools"][0], "strict": True}]}, ("/tools/0", "/tools/0")),
]


@pytest.mark.parametrize(("what", "left", "right", "places"), ABOUT)
def test_each_difference(what: str, left: Any, right: Any, places: tuple[str | None, str | None]) -> None:
    """Each difference is found alone, by its name and at its places."""
    found = compare(left, right)

    assert [(difference.what, difference.left, difference.right) for difference in found] == [(what, *places)]
    assert str(found[0]).startswith(f"{what}: ")
    assert found[0].as_json()["what"] == what


def test_every_difference_is_tried() -> None:
    """No name of a difference is without a test; of records only files know."""
    assert {what for what, *_ in ABOUT} | {"record"} == set(WHAT)


def test_an_id_used_again() -> None:
    """Calls of one id are joined in order, not through one map over the whole conversation."""
    turns = [call("1"), result("a"), call("2"), result("b")]

    assert compare(turns, turns) == []
    assert [d.what for d in compare(turns, [call("1"), result("a"), call("2"), result("c")])] == ["output"]


def test_the_place_of_a_long_text() -> None:
    """Of two long strings the part around the first byte that differs is shown."""
    left, right = "x" * 100 + "a" + "y" * 100, "x" * 100 + "b" + "y" * 100
    (found,) = compare([call(left)], [call(right)])

    assert "at character 100 of 201 and 201" in found.said


@pytest.mark.parametrize("value", [None, 7, "x", {}, {"messages": "x"}, {"choices": None}])
def test_no_conversation(value: Any) -> None:
    """A document without a conversation is told, not compared."""
    with pytest.raises(ValueError, match="no conversation"):
        compare(value, [])
    assert compare(value, value) == []


@pytest.mark.parametrize(
    "turns",
    [[None], [{"role": "assistant", "tool_calls": [None]}], [said([None])], [said({"type": "image_url"})],
     [{"role": "assistant", "function_call": {"name": "f"}}], [said([{"type": "file", "file": 7}])]],
)  # fmt: skip
def test_anything_can_be_read(turns: list[Any]) -> None:
    """Turns of no known shape are the same as themselves, and as nothing else."""
    assert compare(turns, turns) == []
    assert compare(turns, []) != []


def test_it_knows_no_mapping() -> None:
    """The reader shares no line with the translation, so that a fault there cannot hide here."""
    assert "from turncodec.mapping" not in Path(str(names.__file__)).read_text()
