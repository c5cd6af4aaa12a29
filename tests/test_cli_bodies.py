"""The command line on requests, answers, batch files and logs, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
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


class TestRequests:
    """The file of requests beside the output of a batch."""

    WORDS = ("convert", "out.jsonl", "--to", "responses", "--requests")

    def test_through_a_pipe(self) -> None:
        """A pipe, which gives its bytes only once, does as well as a file; one that is kept on the disk too."""
        write("in.jsonl", requested("r1"), requested("r2", temperature=0.7))
        write("out.jsonl", answered("r2"), answered("r1"), answered("r2"))
        os.mkfifo("pipe")
        with subprocess.Popen(["/bin/sh", "-c", "cat in.jsonl > pipe"]):
            done = run(*self.WORDS, "pipe")
        again = CliRunner().invoke(cli, [*self.WORDS, "-"], input=Path("in.jsonl").read_bytes())

        assert done.exit_code == 0, done.output
        bodies = [json.loads(line)["response"]["body"] for line in done.stdout.splitlines()]
        assert [body["temperature"] for body in bodies] == [0.7, 0.2, 0.7]
        assert done.stdout == again.stdout == run(*self.WORDS, "in.jsonl").stdout

    def test_on_the_disk(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A big file of requests is not kept in memory."""
        monkeypatch.setattr("turncodec.migrate.batch.IN_MEMORY", 10)
        write("in.jsonl", requested("r1"), requested("r2", temperature=0.7))
        write("out.jsonl", answered("r2"), answered("r1"))
        done = run(*self.WORDS, "in.jsonl")

        bodies = [json.loads(line)["response"]["body"] for line in done.stdout.splitlines()]
        assert [body["temperature"] for body in bodies] == [0.7, 0.2]

    def test_standard_input_twice(self) -> None:
        """Only one of the records and the requests can come from standard input, by whatever name."""
        done = run("convert", "-", "--to", "responses", "--requests", "-")
        assert done.exit_code == 2
        assert "standard input (-) can be read only once" in done.stderr

        os.mkfifo("pipe")
        done = run("convert", "pipe", "--to", "responses", "--requests", "pipe")
        assert done.exit_code == 2
        assert "pipe is a pipe, and can be read only once" in done.stderr
        assert run("diff", "pipe", "pipe").exit_code == run("gate", "pipe", "--tools", "pipe").exit_code == 2

    @pytest.mark.parametrize("target", ["--out", "--remainder", "--refused"])
    def test_is_never_written(self, target: str) -> None:
        """The requests are a source: no target can be their file, not even with --force."""
        write("in.jsonl", requested("r1"))
        write("out.jsonl", answered("r1"))
        before = Path("in.jsonl").read_bytes()
        done = run(*self.WORDS, "in.jsonl", target, "./in.jsonl", "--force")

        assert (done.exit_code, "source" in done.stderr) == (2, True)
        assert before == Path("in.jsonl").read_bytes()

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            (requested("r1"), "in.jsonl:3: custom_id 'r1' stands on line 1 already"),
            ({**requested("r3"), "body": None}, "in.jsonl:3: no line of a batch's input, it has no body"),
            ({**requested("r3"), "custom_id": 3}, "in.jsonl:3: no line of a batch, it has no custom_id"),
        ],
    )
    def test_a_bad_line(self, line: Body, said: str) -> None:
        """A line that cannot be joined to one answer is named, and nothing is written."""
        write("in.jsonl", requested("r1"), requested("r2"), line)
        write("out.jsonl", answered("r1"))
        done = run(*self.WORDS, "in.jsonl", "--out", "new.jsonl")

        assert (done.exit_code, done.stderr) == (2, f"Error: {said}\n")
        assert not Path("new.jsonl").exists()

    def test_a_bad_request(self) -> None:
        """What is wrong in a request is said to be there, not in the answer."""
        write("in.jsonl", requested("r1", tools=5))
        write("out.jsonl", answered("r1"))
        done = run(*self.WORDS, "in.jsonl")

        assert done.exit_code == 1
        assert "malformed                 1  out.jsonl:1  turncodec" in done.stderr
        assert "  in its request, at /tools: " in done.stderr

    def test_no_request(self) -> None:
        """Answers without a request are counted; errors, which echo nothing, are none of them."""
        error = {"id": "b", "custom_id": "r9", "response": None, "error": {"code": "expired", "message": "late"}}
        write("in.jsonl", requested("r1"))
        write("out.jsonl", answered("r1"), error, answered("r2"), ANSWER)

        assert "2 answers without a request in in.jsonl, first at out.jsonl:3" in run(*self.WORDS, "in.jsonl").stderr
        assert "without a request" not in run("convert", "out.jsonl", "--to", "responses").stderr

    @pytest.mark.parametrize(
        "words",
        [("--to", "chat"), ("--to", "responses", "--at", "/a"), ("--to", "responses", "--kind", "request")],
    )
    def test_would_be_passed_over(self, words: Sequence[str]) -> None:
        """Where the requests would have no say that is told."""
        write("in.jsonl", requested("r1"))
        write("out.jsonl", answered("r1"))

        assert run("convert", "out.jsonl", *words, "--requests", "in.jsonl").exit_code == 2


def test_errors_pass_through() -> None:
    """An error in place of an answer says nothing in either format: it passes as it is, and is so counted."""
    body = {"error": {"message": "late", "type": "x", "param": None, "code": None}}
    write(
        "out.jsonl",
        {"id": "b", "custom_id": "r1", "response": None, "error": {"code": "expired", "message": "late"}},
        {"id": "b", "custom_id": "r2", "response": {"status_code": 400, "body": body}, "error": None},
        body,
        answered("r3"),
    )

    for to, translated in (("responses", 1), ("chat", 0)):
        done = run("convert", "out.jsonl", "--to", to, "--out", "new.jsonl", "--force")
        assert f"4 read = {translated} translated + 0 refused + {4 - translated} passed through" in done.stderr
        assert Path("new.jsonl").read_bytes().splitlines()[:3] == Path("out.jsonl").read_bytes().splitlines()[:3]
        counted = json.loads(run("check", "out.jsonl", "--to", to, "--format", "json").stdout)
        assert (counted["translated"], counted["passed_through"]) == (translated, 4 - translated)
    run("convert", "out.jsonl", "--to", "responses", "--out", "new.jsonl", "--force")
    assert run("restore", "new.jsonl", "--out", "again.jsonl").exit_code == 0
    assert read("again.jsonl") == read("out.jsonl")
