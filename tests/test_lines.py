"""Conversations with one turn a line, in both directions, and as files on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import strategies
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from turncodec import Refused, check, to_chat, to_responses
from turncodec.cli import cli
from turncodec.equality import same

data = st.data()
WAYS = {
    "to_chat": (to_chat, to_responses, strategies.item_transcripts()),
    "to_responses": (to_responses, to_chat, strategies.chat_transcripts()),
}

CALLS: list[Any] = [
    {"type": "message", "role": "user", "content": "hi"},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call", "call_id": "d", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "d", "output": "2"},
    {"type": "function_call_output", "call_id": "c", "output": "1"},
]


def rollout(turns: list[Any]) -> list[Any]:
    """A recording, with lines of other kinds between."""
    lines: list[Any] = [{"timestamp": "t", "type": "session_meta", "payload": {"id": "s"}}]
    for n, turn in enumerate(turns):
        lines.append({"timestamp": f"t{n}", "type": "response_item", "payload": turn})
        if n % 2:
            lines.append({"timestamp": f"u{n}", "type": "event_msg", "payload": {"type": "token_count", "n": 1.0}})
    return lines


def session(*threads: list[Any]) -> list[Any]:
    """A table in which the rows of several sessions stand among each other."""
    longest = max(map(len, threads))
    return [
        {"id": 10 * n + s, "session_id": f"s{s}", "message_data": json.dumps(thread[n])}
        for n in range(longest)
        for s, thread in enumerate(threads)
        if n < len(thread)
    ]


@pytest.mark.parametrize("name", WAYS)
@given(data=data)
def test_rollout(name: str, data: st.DataObject) -> None:
    """The turns are translated as one conversation, the other lines stay, and all of it comes back."""
    there, back, transcripts = WAYS[name]
    turns = data.draw(transcripts.filter(bool))
    lines = rollout(turns)

    translation = there(lines, kind="codex-rollout")

    payloads = [line["payload"] for line in translation.document if line["type"] == "response_item"]
    others = [line for line in translation.document if line["type"] != "response_item"]
    assert payloads == there(turns).document
    assert others == [line for line in lines if line["type"] != "response_item"]
    assert same(back(translation.document, kind="codex-rollout", remainder=translation.remainder).document, lines)


@pytest.mark.parametrize("name", WAYS)
@given(data=data)
def test_session(name: str, data: st.DataObject) -> None:
    """Each session is a conversation of its own, however its rows stand among those of others."""
    there, back, transcripts = WAYS[name]
    threads = data.draw(st.lists(transcripts.filter(bool), min_size=1, max_size=2))
    rows = session(*threads)

    translation = there(rows, kind="agents-session")

    for s, thread in enumerate(threads):
        own = [json.loads(row["message_data"]) for row in translation.document if row["session_id"] == f"s{s}"]
        assert own == there(thread).document
    assert same(back(translation.document, kind="agents-session", remainder=translation.remainder).document, rows)


def test_bundled_calls() -> None:
    """A message that bundles two lines stands in the place of the first."""
    document = to_chat(rollout(CALLS), kind="codex-rollout").document

    assert [line["timestamp"] for line in document] == ["t", "t0", "t1", "u1", "t3", "u3", "t4"]


def test_refusals_in_their_lines() -> None:
    """What is refused is refused at its line; in a string of JSON a pointer does not lead on."""
    reasoning = {"type": "reasoning", "summary": []}
    lines = rollout([*CALLS, reasoning])
    rows = session([*CALLS, reasoning])

    assert [(r.code, r.pointer) for r in check(lines, "chat", kind="codex-rollout")] == [("reasoning", "/8/payload")]
    assert [(r.code, r.pointer) for r in check(rows, "chat", kind="agents-session")] == [
        ("reasoning", "/5/message_data")
    ]
    there = to_chat(lines, kind="codex-rollout", allow="reasoning")
    assert to_responses(there.document, kind="codex-rollout", remainder=there.remainder).document == lines


@pytest.mark.parametrize(
    ("lines", "code", "pointer"),
    [
        ([], "unknown_shape", ""),
        ({}, "unknown_shape", ""),
        ([{"type": "event_msg", "payload": 1}], "unknown_shape", ""),
        ([7, *rollout(CALLS)], "malformed", "/0"),
        (rollout([{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "c", "content": "1"}]),
         "wrong_direction", ""),
        (rollout([*CALLS, float("nan")]), "not_json", "/8/payload"),
        ([*rollout(CALLS), {"type": "x", "n": float("nan")}], "not_json", "/8/n"),
    ],
)  # fmt: skip
def test_lines_that_are_none(lines: Any, code: str, pointer: str) -> None:
    """Lines of another shape are refused with their place."""
    assert [(r.code, r.pointer) for r in check(lines, "chat", kind="codex-rollout")] == [(code, pointer)]


def test_a_string_that_is_no_json() -> None:
    """A turn that cannot be read is refused at its row."""
    rows = [{"session_id": "s", "message_data": "{"}, {"session_id": "s", "message_data": None}]

    with pytest.raises(Refused) as refused:
        to_chat(rows, kind="agents-session")
    assert [(r.code, r.pointer) for r in refused.value.refusals] == [
        ("not_json", "/0/message_data"),
        ("not_json", "/1/message_data"),
    ]


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of such lines is one record; it is written line by line, restored, and refused whole."""
    monkeypatch.chdir(tmp_path)
    lines = rollout(CALLS)
    Path("in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = CliRunner().invoke
    kind = ["--kind", "codex-rollout"]

    done = run(cli, ["convert", "in.jsonl", "--to", "chat", *kind, "--out", "out.jsonl"])

    assert done.exit_code == 0, done.output
    assert "1 read = 1 translated" in done.output
    assert len(Path("out.jsonl").read_text().splitlines()) == len(lines) - 1
    assert run(cli, ["restore", "out.jsonl", *kind, "--out", "again.jsonl"]).exit_code == 0
    assert [json.loads(line) for line in Path("again.jsonl").read_text().splitlines()] == lines

    Path("bad.jsonl").write_text('{"type": "response_item", "payload": {}}\n{"a": 1, "a": 2}\n')
    done = run(cli, ["convert", "bad.jsonl", "--to", "chat", *kind, "--out", "bad-out.jsonl"])
    assert done.exit_code == 1
    kept = json.loads(Path("bad-out.refused.jsonl").read_text())
    assert kept["text"] == Path("bad.jsonl").read_text().rstrip("\n")
    assert [r["pointer"] for r in kept["refusals"]] == ["/1/a"]
