"""The command line on requests, answers, batch files and logs, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from turncodec.cli import cli

Body = dict[str, Any]

REQUEST: Body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.2}
ANSWER: Body = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


def write(name: str, *lines: Body) -> None:
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def read(name: str) -> list[Body]:
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


def requested(custom_id: str, **body: Any) -> Body:
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": REQUEST | body}


def answered(custom_id: str) -> Body:
    return {"id": "b", "custom_id": custom_id, "response": {"status_code": 200, "body": ANSWER}, "error": None}


def test_batch_input() -> None:
    """Url and body change together, ids and order stay; a line for another endpoint is refused with its line."""
    write("in.jsonl", requested("r1"), {**requested("r2"), "url": "/v1/embeddings"}, requested("r3"))

    done = run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl")

    assert done.exit_code == 1
    assert "in.jsonl:2 /url" in done.output
    assert [(line["custom_id"], line["url"]) for line in read("out.jsonl")] == [
        ("r1", "/v1/responses"),
        ("r3", "/v1/responses"),
    ]


def test_batch_output_with_its_requests() -> None:
    """An answer echoes the settings of the request with its id, wherever that stands; errors pass; all comes back."""
    error = {"id": "b", "custom_id": "r9", "response": None, "error": {"code": "expired", "message": "late"}}
    write("in.jsonl", requested("r1"), requested("r2", temperature=0.7))
    write("out.jsonl", answered("r2"), error, answered("r1"), answered("r0"))

    done = run("convert", "out.jsonl", "--to", "responses", "--requests", "in.jsonl", "--out", "new.jsonl")

    assert done.exit_code == 0, done.output
    bodies = [line["response"]["body"] for line in read("new.jsonl") if line["response"]]
    assert [body["temperature"] for body in bodies] == [0.7, 0.2, 1.0]
    assert read("new.jsonl")[1] == error
    assert run("restore", "new.jsonl", "--out", "again.jsonl").exit_code == 0
    assert read("again.jsonl") == read("out.jsonl")


def test_requests_that_are_none() -> None:
    """A file that is no input of a batch is told, with its line."""
    write("in.jsonl", requested("r1"), REQUEST)
    write("out.jsonl", answered("r1"))

    done = run("convert", "out.jsonl", "--to", "responses", "--requests", "in.jsonl", "--out", "new.jsonl")

    assert done.exit_code == 2
    assert "in.jsonl:2" in done.output
    assert not Path("new.jsonl").exists()


def test_pairs() -> None:
    """A row with a request and its answer is translated as one, and restored with the same words."""
    places = ("--request-at", "/log/sent", "--response-at", "/got")
    write(
        "rows.jsonl",
        {"n": 1, "log": {"sent": REQUEST}, "got": ANSWER},
        {"n": 2, "log": {"sent": {"x": 1}}, "got": None},
    )

    done = run("convert", "rows.jsonl", "--to", "responses", *places, "--out", "new.jsonl")

    assert done.exit_code == 1
    assert "rows.jsonl:2 /log/sent" in done.output
    (row,) = read("new.jsonl")
    assert row["log"]["sent"]["input"][0]["content"] == "hi"
    assert row["got"]["temperature"] == 0.2
    sides = ("--remainder", "new.remainder.jsonl", "--refused", "new.refused.jsonl")
    assert f"restore new.jsonl {' '.join(sides)} {' '.join(places)}" in done.output
    assert run("restore", "new.jsonl", *sides, *places, "--out", "again.jsonl").exit_code == 0
    assert read("again.jsonl") == read("rows.jsonl")
    assert run("check", "rows.jsonl", "--to", "responses", *places).exit_code == 1


def test_pairs_at_the_whole() -> None:
    """A pair cannot be the whole of a record."""
    write("rows.jsonl", REQUEST)

    assert run("check", "rows.jsonl", "--to", "responses", "--request-at", "").exit_code == 2


def test_diff_of_a_faithful_replay() -> None:
    """Nothing is found between a file and its translation."""
    write("in.jsonl", REQUEST, requested("r1"), ANSWER)
    run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl")

    done = run("diff", "in.jsonl", "out.jsonl")

    assert done.exit_code == 0, done.output
    assert done.output == "3 compared, 0 not the same\n"


def test_diff() -> None:
    """What is not the same is shown with its places, for a person or a program, and ends with 1."""
    write("left.jsonl", REQUEST, REQUEST)
    write("right.jsonl", {**REQUEST, "messages": [{"role": "user", "content": "ho"}]})

    done = run("diff", "left.jsonl", "right.jsonl")
    listed = run("diff", "left.jsonl", "right.jsonl", "--format", "json")

    assert done.exit_code == listed.exit_code == 1
    assert done.output.splitlines()[0].startswith("left.jsonl:1 right.jsonl:1 text: /messages/0 | /messages/0: ")
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    assert [(row["what"], row["left"], row["records"]) for row in rows] == [
        ("text", "/messages/0", ["left.jsonl:1", "right.jsonl:1"]),
        ("record", None, ["left.jsonl:2", "-"]),
    ]


def test_diff_at() -> None:
    """The conversation may stand anywhere in a record; where there is none, that is a difference."""
    write("left.jsonl", {"a": {"b": REQUEST["messages"]}}, {"a": 1})
    write("right.jsonl", {"a": {"b": [{"type": "message", "role": "user", "content": "hi"}]}}, {"a": 2})

    done = run("diff", "left.jsonl", "right.jsonl", "--at", "/a/b")

    assert done.exit_code == 1
    assert "there is nothing at /a/b" in done.output
    assert "2 compared, 1 not the same" in done.output
    assert run("diff", "-", "-").exit_code == 2
