"""The command as a person runs it: what it writes, what it says, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import turncodec
from turncodec.cli import cli
from turncodec.refusals import CODES

USER = {"role": "user", "content": "hi"}
ITEM = {"type": "message", "role": "user", "content": "hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
ROW = {"messages": [USER]}
REMAINS = {"messages": [USER, {"role": "assistant", "content": None, "refusal": None, "tool_calls": [CALL]}]}
WEIGHT = {"messages": [USER, {"role": "assistant", "content": "x", "weight": 0}]}
ITEMS = {"input": [ITEM]}
TOOLS = {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and processes that write to pipes as usual."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    return tmp_path


def run(*words: str, stdin: bytes | None = None) -> Result:
    """Run the command in this process. A traceback is a failed test, never an exit status."""
    result = CliRunner().invoke(cli, words, input=stdin, prog_name="turncodec")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def process(*words: str, **given: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process of its own."""
    return subprocess.run([sys.executable, "-m", "turncodec", *words], capture_output=True, timeout=60, **given)


def write(name: str, *records: Any) -> bytes:
    """Write a file of JSON lines; bytes are written as they are."""
    data = b"".join(r + b"\n" if isinstance(r, bytes) else json.dumps(r).encode() + b"\n" for r in records)
    Path(name).write_bytes(data)
    return data


def read(name: str) -> list[Any]:
    return [json.loads(line) for line in Path(name).read_bytes().splitlines()]


def names() -> list[str]:
    """The files of the folder."""
    return sorted(path.name for path in Path().iterdir())


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without the rights of root, who may read and write everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


class TestConvert:
    def test_a_bad_line(self) -> None:
        """A line that is not JSON is named and kept; the other lines are in the output."""
        data = write("in.jsonl", ROW, b'{"messages": nope}', REMAINS)
        done = process("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl")

        assert done.returncode == 1
        assert done.stdout == b""
        assert b"in.jsonl:2" in done.stderr
        assert b"3 read = 2 translated + 1 refused + 0 passed through" in done.stderr
        assert [ITEMS["input"], 2] == [read("out.jsonl")[0]["input"], len(read("out.jsonl"))]
        assert data == Path("in.jsonl").read_bytes()
        assert names() == ["in.jsonl", "out.jsonl", "out.refused.jsonl", "out.remainder.jsonl"]

    def test_the_side_files(self) -> None:
        """The remainder file counts the records that came out; the refused file holds the very bytes and reasons."""
        write("in.jsonl", ITEMS, b"\xff?", b' {"messages": [], "messages": []}', REMAINS)
        assert run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl").exit_code == 1

        passed, remainder = read("out.remainder.jsonl")
        assert passed == {"record": 1, "passed_through": True}
        assert [remainder["record"], remainder["remainder"]["format"]] == [2, "chat"]
        bytes_, twice = read("out.refused.jsonl")
        assert bytes_.pop("refusals")[0]["code"] == "not_json"
        assert twice.pop("refusals")[0]["pointer"] == "/messages"
        offset = len(json.dumps(ITEMS)) + 1
        assert bytes_ == {"place": 2, "source": "in.jsonl", "ordinal": 2, "line": 2, "offset": offset, "base64": "/z8="}
        assert twice == {"place": 3, "source": "in.jsonl", "ordinal": 3, "line": 3, "offset": offset + 3} | {
            "text": ' {"messages": [], "messages": []}'
        }

    def test_nothing_beside_when_there_is_nothing(self) -> None:
        """No side file is written when there is nothing to keep."""
        write("in.jsonl", ROW)

        assert run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl").exit_code == 0
        assert names() == ["in.jsonl", "out.jsonl"]

    def test_the_table(self) -> None:
        """The table counts records by code, names the first place of each, and says what to type next."""
        write("in.jsonl", ROW, {"messages": WEIGHT["messages"] * 2}, b"nope", WEIGHT, ITEMS)
        said = run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl").stderr

        assert "5 read = 1 translated + 3 refused + 1 passed through" in said
        assert "weight                    2  in.jsonl:2 /messages/1/weight  --allow weight" in said
        assert "not_json                  1  in.jsonl:3                     turncodec explain not_json" in said
        again = "turncodec convert in.jsonl --to responses --out out.jsonl --allow weight --force"
        back = "turncodec restore out.jsonl --to chat --remainder out.remainder.jsonl --refused out.refused.jsonl"
        assert again in said
        assert back in said
        assert run(*back.split()[1:]).exit_code == 0
        assert "5 read = 3 translated + 1 refused + 1 passed through" in run(*again.split()[1:]).stderr

    def test_an_array(self) -> None:
        """An array of records becomes an array, and a refused one is missing from it and named by its line."""
        Path("in.json").write_text(json.dumps([ROW, WEIGHT, ITEMS], indent=1), "utf-8")
        done = run("convert", "in.json", "--to", "responses", "--out", "out.json")

        assert "in.json:10 /messages/1/weight" in done.stderr
        assert json.loads(Path("out.json").read_bytes()) == [ITEMS, ITEMS]

    @pytest.mark.parametrize("document", [ROW, ROW["messages"]])
    def test_a_document(self, document: Any) -> None:
        """A document becomes a document: an object, or a transcript that is a bare list."""
        Path("in.json").write_text(json.dumps(document, indent=1), "utf-8")
        done = run("convert", "in.json", "--to", "responses")

        assert json.loads(done.stdout) == (ITEMS if document is ROW else [ITEM])
        assert done.exit_code == 0

    def test_a_refused_document(self) -> None:
        """A document that is refused leaves no output that pretends to be one."""
        Path("in.json").write_text(json.dumps(WEIGHT, indent=1), "utf-8")

        assert run("convert", "in.json", "--to", "responses", "--out", "out.json").exit_code == 1
        assert names() == ["in.json", "out.refused.jsonl"]

    def test_through_a_pipe(self) -> None:
        """From standard input to standard output nothing but records is written, and what is not kept is told."""
        done = run("convert", "-", "--to", "responses", stdin=write("in.jsonl", ROW, REMAINS, WEIGHT))

        assert [json.loads(line)["input"][0] for line in done.stdout.splitlines()] == [ITEM, ITEM]
        assert "not kept: the remainder of 1 record" in done.stderr
        assert "not kept: the refused of 1 record" in done.stderr
        assert names() == ["in.jsonl"]

    def test_side_files_of_a_pipe(self) -> None:
        """With --remainder and --refused the side files are kept though the records go to standard output."""
        write("in.jsonl", REMAINS, WEIGHT)
        words = ("convert", "in.jsonl", "--to", "responses", "--out", "-", "--remainder", "r", "--refused", "f")
        done = run(*words)
        Path("out.jsonl").write_text(done.stdout, "utf-8")

        assert "not kept" not in done.stderr
        assert run("restore", "out.jsonl", "--remainder", "r", "--refused", "f", "--out", "back.jsonl").exit_code == 0
        assert read("back.jsonl") == [REMAINS, WEIGHT]

    def test_again(self) -> None:
        """A second run over the output changes nothing, and says so; a mixed store converts."""
        write("in.jsonl", ROW, REMAINS, json.dumps(ITEMS, indent=None, separators=(" ,", " :")).encode())
        run("convert", "in.jsonl", "--to", "responses", "--out", "one.jsonl")
        done = run("convert", "one.jsonl", "--to", "responses", "--out", "two.jsonl")

        assert done.exit_code == 0
        assert "3 read = 0 translated + 0 refused + 3 passed through" in done.stderr
        assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
        assert b'{"input" :[' in Path("one.jsonl").read_bytes()

    def test_several_sources(self) -> None:
        """Several sources of any framing become lines, in their order; each place names its own source."""
        write("a.jsonl", ROW, b"nope")
        Path("b.json").write_text(json.dumps([ITEMS, WEIGHT], indent=1), "utf-8")
        Path("c.json").write_text("", "utf-8")
        done = run("convert", "a.jsonl", "b.json", "c.json", "--to", "responses", "--out", "out.jsonl")

        assert read("out.jsonl") == [ITEMS, ITEMS]
        assert "a.jsonl:2" in done.stderr
        assert "b.json:11 /messages/1/weight" in done.stderr
        assert "c.json: is empty" in done.stderr
        run("restore", "out.jsonl", "--refused", "out.refused.jsonl", "--to", "chat", "--out", "back.jsonl")
        assert Path("back.jsonl").read_bytes().splitlines()[1] == b"nope"
        assert [read("out.refused.jsonl")[n]["place"] for n in (0, 1)] == [2, 4]

    def test_several_arrays(self) -> None:
        """Several arrays become one array; a file without records makes no difference."""
        for name, text in (("a.json", json.dumps([ROW])), ("b.json", json.dumps([ROW])), ("c.json", "")):
            Path(name).write_text(text, "utf-8")

        assert json.loads(run("convert", "a.json", "b.json", "c.json", "--to", "responses").stdout) == [ITEMS, ITEMS]

    def test_a_column(self) -> None:
        """--at names the column of the transcript; the way back that is printed works."""
        row = {"id": 7, "conversations": REMAINS["messages"]}
        write("in.jsonl", row)
        done = run("convert", "in.jsonl", "--to", "responses", "--at", "/conversations", "--out", "out.jsonl")
        back = done.stderr.splitlines()[-1].split()

        assert read("out.jsonl")[0]["conversations"][0] == ITEM
        assert json.loads(run(*back[1:]).stdout) == row

    def test_a_column_that_is_renamed(self) -> None:
        """Where the column has another name in the other format, the way back that is printed says the new one."""
        row = {"id": 7, "log": {"messages": [USER], "n": 1}}
        write("in.jsonl", row)
        done = run("convert", "in.jsonl", "--to", "responses", "--at", "/log/messages", "--out", "out.jsonl")

        assert read("out.jsonl")[0]["log"] == {"input": [ITEM], "n": 1}
        assert json.loads(run(*done.stderr.splitlines()[-1].split()[1:]).stdout) == row

    @pytest.mark.parametrize(
        ("to", "at", "turns", "back"),
        [
            ("responses", "/messages", [USER], "/input"),
            ("responses", "/input", [USER], "/input"),
            ("chat", "/input", [ITEM], "/messages"),
            ("chat", "/messages", [ITEM], "/messages"),
            ("chat", "/log/input", [ITEM], "/log/messages"),
            ("responses", "", [USER], "''"),
        ],
    )
    def test_the_way_back_of_a_column(self, to: str, at: str, turns: list[Any], back: str) -> None:
        """The way back says what the column is called after the translation, which depends on the direction."""
        row: Any = turns
        for key in reversed(at.split("/")[1:]):
            row = {key: row}
        write("in.jsonl", row)
        said = run("convert", "in.jsonl", "--to", to, "--at", at, "--out", "out.jsonl").stderr.splitlines()[-1]

        assert said.endswith(f"--at {back}")
        done = run(*shlex.split(said)[1:])
        assert done.exit_code == 0
        assert json.dumps(turns, separators=(",", ":")) in done.stdout

    def test_what_was_found(self) -> None:
        """The summary says what the first refusal of each code has found, cut where it is long, and what to do."""
        write("in.jsonl", ROW, {"messages": [USER | {"x\n" * 200: 1}]})
        said = run("convert", "in.jsonl", "--to", "responses", "--kind", "batch").stderr.splitlines()
        n = next(n for n, line in enumerate(said) if line.startswith("unknown_shape"))
        assert said[n + 1].startswith("  a batch line has a body, or a response with a body, or an error. name the")

        said = run("convert", "in.jsonl", "--to", "responses").stderr.splitlines()
        n = next(n for n, line in enumerate(said) if line.startswith("unknown_field"))
        found, _, todo = said[n + 1].partition(". ")
        assert len(found) <= 2 + 100
        assert todo

    def test_every_option_again(self) -> None:
        """The command that lets through what can be has all that was given."""
        write("in.jsonl", {"n": 1, "messages": [*WEIGHT["messages"], USER | {"name": "al"}]})
        words = ["convert", "in.jsonl", "--to", "responses", "--at", "/messages", "--kind", "row", "--allow", "weight"]
        done = run(*words, "--remainder", "my r", "--refused", "f")
        again = next(line for line in done.stderr.splitlines() if line.startswith("  turncodec convert"))

        assert again == "  " + shlex.join(
            ["turncodec", *words[:-1], "message_name,weight", "--remainder", "my r", "--refused", "f", "--force"]
        )
        assert run(*shlex.split(again)[1:]).exit_code == 0
        assert names() == ["in.jsonl", "my r"]

    def test_allow(self) -> None:
        """--allow takes one code, several with commas, several times, or all."""
        write("in.jsonl", WEIGHT, {"messages": [USER | {"name": "al"}]})
        for words in (["weight,message_name"], ["weight", "message_name"], ["all"], [" weight , ", "message_name"]):
            allow = [word for code in words for word in ("--allow", code)]
            assert run("convert", "in.jsonl", "--to", "responses", *allow).exit_code == 0
        assert run("convert", "in.jsonl", "--to", "responses", "--allow", "weight").exit_code == 1

    def test_back_to_chat(self) -> None:
        """The other direction is the same command."""
        write("in.jsonl", ITEMS, {"input": "hi"})

        assert [json.loads(line) for line in run("convert", "in.jsonl", "--to", "chat").stdout.splitlines()] == [
            ROW,
            ROW,
        ]


class TestTargets:
    @pytest.mark.parametrize("there", ["out.jsonl", "out.remainder.jsonl", "out.refused.jsonl"])
    def test_an_existing_file(self, there: str) -> None:
        """No file is overwritten without --force, not even a side file; with it none of an older run is left."""
        write("in.jsonl", ROW)
        Path(there).write_text("precious", "utf-8")
        done = run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl")
        assert (done.exit_code, Path(there).read_text("utf-8")) == (2, "precious")
        assert f"{there} exists" in done.stderr

        assert run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl", "--force").exit_code == 0
        assert names() == ["in.jsonl", "out.jsonl"]

    def test_a_source(self) -> None:
        """A source is never written to, not even with --force, and not as a side file of something else."""
        data = write("in.jsonl", ROW)
        write("out.refused.jsonl", ROW)
        for source, out in (("in.jsonl", "in.jsonl"), ("in.jsonl", "./in.jsonl"), ("out.refused.jsonl", "out.jsonl")):
            done = run("convert", source, "--to", "responses", "--out", out, "--force")
            assert (done.exit_code, "source" in done.stderr) == (2, True)
        assert data == Path("in.jsonl").read_bytes()

    def test_a_source_of_restore(self) -> None:
        """What restore reads, or could, is never written to: records, remainders, refused records."""
        write("in.jsonl", REMAINS, WEIGHT)
        run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl")
        before = {name: Path(name).read_bytes() for name in names()}
        for target in ("out.jsonl", "out.remainder.jsonl", "out.refused.jsonl", "out.json"):
            done = run("restore", "out.jsonl", "--out", target, "--force")
            assert (done.exit_code, "source" in done.stderr) == (2, True)
        assert before == {name: Path(name).read_bytes() for name in names()}

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--out", "no/such/out.jsonl"], "there is no folder"),
            (["--out", "."], "no regular file"),
            (["--out", "/dev/null", "--force"], "no regular file"),
            (["--out", "a", "--refused", "a"], "one file"),
        ],
    )
    def test_no_target(self, words: Sequence[str], said: str) -> None:
        """A target that cannot be one is said in one line, before anything is read."""
        write("in.jsonl", ROW)
        done = run("convert", "in.jsonl", "--to", "responses", *words)

        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert said in done.stderr
        assert names() == ["in.jsonl"]

    def test_a_full_disk(self) -> None:
        """When writing fails it is said in one line."""
        write("in.jsonl", *[ROW] * 2000)
        write("one.jsonl", ROW)
        for name in ("in.jsonl", "one.jsonl"):
            with Path("/dev/full").open("wb") as full:
                command = [sys.executable, "-m", "turncodec", "convert", name, "--to", "responses"]
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
            assert done.returncode == 2
            assert done.stderr == b"Error: no space left on device\n"

    def test_no_permission(self) -> None:
        """A folder that must not be written to, and a file that must not be read, are said in one line."""
        write("in.jsonl", ROW)
        Path("shut").mkdir(0o555)
        Path.cwd().chmod(0o755)
        assert run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl").exit_code == 0
        with as_nobody():
            assert "permission denied" in run("convert", "in.jsonl", "--to", "responses", "--out", "shut/out").stderr
        Path("in.jsonl").chmod(0)
        with as_nobody():
            assert "permission denied" in run("convert", "in.jsonl", "--to", "responses").stderr


class TestBadInput:
    @pytest.mark.parametrize(
        ("data", "code"),
        [
            (b"null", "unknown_shape"),
            (b"5", "unknown_shape"),
            (b"[1, 2]", "malformed"),
            (b"nope", "not_json"),
            (b"NaN", "not_json"),
            (b"\xe9t\xe9", "not_json"),
            (b"[" * 100_000, "too_deep"),
            (b"[" * 100_000 + b"]" * 100_000, "too_deep"),
            (b'{"messages": ' + b"[" * 300 + b"]" * 300 + b"}", "too_deep"),
            (json.dumps([USER, ITEM]).encode(), "mixed_formats"),
            (b'{"messages": [{"role": "user", "content": "\\ud800"}]}', "not_json"),
            (b'{"messages": [{"role": "user", "content": 1e999}]}', "not_json"),
            (b'{"messages": 5}', "unknown_shape"),
            (b"{}", "unknown_shape"),
        ],
    )
    def test_a_record(self, data: bytes, code: str) -> None:
        """A bad record is refused by name and kept whole, alone in its file or on a line among others."""
        for name, lines in (("alone", [data]), ("among.jsonl", [json.dumps(ROW).encode(), data, b"{}"])):
            Path(name).write_bytes(b"\n".join(lines))
            done = run("convert", name, "--to", "responses", "--refused", "refused", "--force")
            assert done.exit_code == 1
            assert f"\n{code} " in done.stderr
            kept = [line.get("text") or line.get("base64") for line in read("refused")]
            assert len(kept) == len(lines[-2:])
            assert kept[0] == "6XTp" or kept[0] == data.decode() or (name == "alone" and kept[0] in data.decode())

    def test_a_long_string(self) -> None:
        """A string of 10 MB is translated."""
        write("in.jsonl", {"messages": [USER | {"content": "x" * 10_000_000}]})

        assert run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl").exit_code == 0
        assert len(read("out.jsonl")[0]["input"][0]["content"]) == 10_000_000

    @pytest.mark.parametrize("data", [b"", b"\n \n"])
    def test_an_empty_file(self, data: bytes) -> None:
        """An empty file holds no records: that is said, the output is empty too, and all is well."""
        Path("in.jsonl").write_bytes(data)
        done = run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl")

        assert done.exit_code == 0
        assert "in.jsonl: is empty" in done.stderr
        assert Path("out.jsonl").read_bytes() == b""

    def test_a_byte_order_mark(self) -> None:
        """A byte-order mark at the start of a file is skipped, and that is said."""
        Path("in.jsonl").write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW).encode())
        done = run("convert", "in.jsonl", "--to", "responses")

        assert json.loads(done.stdout) == ITEMS
        assert "byte-order mark" in done.stderr

    @pytest.mark.parametrize(
        ("source", "said"),
        [
            ("missing.jsonl", "missing.jsonl: no such file or directory"),
            (".", ".: is a directory"),
            ("utf16.jsonl", "utf16.jsonl is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"),
            ("in.jsonl.gz", "in.jsonl.gz is compressed with gzip; unpack it first, or give it to turncodec migrate"),
        ],
    )
    def test_no_source(self, source: str, said: str) -> None:
        """A source that cannot be read is said in one line, and nothing is written."""
        write("good.jsonl", ROW)
        Path("utf16.jsonl").write_bytes(json.dumps(ROW).encode("utf-16"))
        Path("in.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00")
        before = names()
        for words in (["convert", "good.jsonl", source, "--out", "out.jsonl"], ["check", source]):
            done = run(*words, "--to", "responses")
            assert (done.exit_code, done.stderr) == (2, f"Error: {said}\n")
        assert before == names()

    def test_standard_input_twice(self) -> None:
        """Standard input can be read once only."""
        assert run("convert", "-", "-", "--to", "chat", stdin=b"").exit_code == 2

    def test_a_named_pipe(self) -> None:
        """A named pipe is read like standard input."""
        os.mkfifo("pipe")
        with subprocess.Popen(["/bin/sh", "-c", f"echo '{json.dumps(ROW)}' > pipe"]):
            done = process("convert", "pipe", "--to", "responses", "--out", "out.jsonl")

        assert (done.returncode, read("out.jsonl")) == (0, [ITEMS])

    def test_an_odd_name(self) -> None:
        """A file name that is no UTF-8 is no reason to fail."""
        Path(os.fsdecode(b"\xff.jsonl")).write_bytes(b"nope\n")
        done = process("check", os.fsdecode(b"\xff.jsonl"), "--to", "chat", "--format", "json")

        assert json.loads(done.stdout)["refusals"][0]["source"] == "\\xff.jsonl"


class TestCheck:
    def test_text(self) -> None:
        """Every refusal is a line: file and line, pointer, code, what is so, what to do. Nothing is written."""
        bad = {"messages": [USER | {"name": "al", "trace": 1}]}
        write("in.jsonl", ROW, b"nope", bad)
        done = run("check", "in.jsonl", "--to", "responses")
        lines = done.stdout.splitlines()

        assert done.exit_code == 1
        assert lines[0].startswith("in.jsonl:2: not_json: expecting value, at byte 0 (line 1, column 1). repair")
        assert [line.split(": ")[0] for line in lines[1:]] == [
            f"in.jsonl:3 /messages/0/{key}" for key in ("name", "trace")
        ]
        assert "3 read = 1 can be translated + 2 refused + 0 passed through" in done.stderr
        assert names() == ["in.jsonl"]

    def test_json(self) -> None:
        """--format json gives one JSON object with every refusal, its place, and the numbers."""
        data = write("in.jsonl", ROW, WEIGHT, ITEMS)
        done = json.loads(run("check", "in.jsonl", "--to", "responses", "--format", "json").stdout)
        (refusal,) = done.pop("refusals")

        assert done == {"read": 3, "translated": 1, "refused": 1, "passed_through": 1}
        assert {
            "source": "in.jsonl",
            "line": 2,
            "ordinal": 2,
            "place": 2,
            "offset": data.index(b"\n") + 1,
        }.items() <= refusal.items()
        assert (refusal["code"], refusal["pointer"], refusal["allowable"]) == ("weight", "/messages/1/weight", True)
        assert refusal["message"]
        assert refusal["hint"]

    def test_all_well(self) -> None:
        """When nothing would be refused nothing is listed."""
        write("in.jsonl", ROW)
        assert run("check", "in.jsonl", "--to", "responses").stdout == ""
        done = run("check", "in.jsonl", "--to", "responses", "--format", "json")

        assert done.exit_code == 0
        assert json.loads(done.stdout) == {
            "refusals": [],
            "read": 1,
            "translated": 1,
            "refused": 0,
            "passed_through": 0,
        }

    def test_nothing_steers_the_terminal(self) -> None:
        """Whatever stands in a document is shown on one line, without a control character."""
        write("in.jsonl", {"messages": [USER | {"a\n\x1b[31m": 1, "é": 1}]})
        done = run("check", "in.jsonl", "--to", "responses")

        assert "in.jsonl:1 /messages/0/a\\n\\x1b[31m: unknown_field" in done.stdout
        assert "/messages/0/é: " in done.stdout
        assert "first at" in done.stderr
        assert "in.jsonl:1 /messages/0/a\\n\\x1b[31m" in done.stderr
        assert "\x1b" not in done.stdout + done.stderr

    def test_agrees_with_convert(self) -> None:
        """check counts what convert counts."""
        write("in.jsonl", ROW, WEIGHT, b"nope", ITEMS, REMAINS)
        one = run("check", "in.jsonl", "--to", "responses", "--allow", "weight").stderr
        two = run("convert", "in.jsonl", "--to", "responses", "--allow", "weight").stderr

        assert one.splitlines()[0].replace("can be ", "") == two.splitlines()[0]


class TestRestore:
    def test_all_of_it(self) -> None:
        """With both side files every record is back in its old place, in either framing."""
        records = [WEIGHT, REMAINS, ITEMS, ROW, {"messages": [5]}]
        write("in.jsonl", *records)
        Path("in.json").write_text(json.dumps(records, indent=1), "utf-8")
        for name in ("in.jsonl", "in.json"):
            run("convert", name, "--to", "responses", "--out", "out", "--force")
            done = run("restore", "out", "--refused", "out.refused.jsonl", "--out", "back", "--force")
            assert done.exit_code == 0
            assert "5 read = 2 restored + 0 refused + 3 as they were" in done.stderr
            text = Path("back").read_text("utf-8")
            assert records == (json.loads(text) if name == "in.json" else read("back"))

    def test_without_the_refused(self) -> None:
        """Without --refused the refused records stay where they are, and that is said."""
        write("in.jsonl", WEIGHT, ROW)
        run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl")
        done = run("restore", "out.jsonl", "--to", "chat")

        assert json.loads(done.stdout) == ROW
        assert "--refused out.refused.jsonl puts them back" in done.stderr

    def test_the_own_remainder(self) -> None:
        """The remainder file beside the records is used though it is not named: without it something would be lost."""
        write("in.jsonl", REMAINS)
        run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl")

        assert json.loads(run("restore", "out.jsonl").stdout) == REMAINS

    def test_through_a_pipe(self) -> None:
        """Records from standard input are restored too; nothing lies beside them."""
        assert json.loads(run("restore", "-", "--to", "chat", stdin=json.dumps(ITEMS).encode()).stdout) == ROW

    def test_no_direction(self) -> None:
        """Where no remainder says what the originals were it is not guessed."""
        write("in.jsonl", ROW)
        run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl")
        done = run("restore", "out.jsonl", "--out", "back.jsonl")

        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert "--to" in done.stderr
        assert "back.jsonl" not in names()
        assert json.loads(run("restore", "out.jsonl", "--to", "chat").stdout) == ROW

    def test_a_record_that_has_changed(self) -> None:
        """A remainder that no longer fits its record is refused; the record is kept and the others are restored."""
        write("in.jsonl", REMAINS, REMAINS)
        run("convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl")
        first, second = read("out.jsonl")
        second["input"][1]["name"] = "g"
        write("out.jsonl", first, second)
        done = run("restore", "out.jsonl", "--out", "back.jsonl")

        assert done.exit_code == 1
        assert "stale_remainder" in done.stderr
        assert read("back.jsonl") == [REMAINS]
        assert json.loads(read("back.refused.jsonl")[0]["text"]) == second

    @pytest.mark.parametrize(
        "lines",
        [
            [b"nope"],
            [{"record": 1}],
            [{"record": True, "remainder": {}}],
            [{"record": 0, "passed_through": True}],
            [{"record": 1, "passed_through": False}],
            [{"record": 1, "passed_through": True}, {"record": 1, "passed_through": True}],
            [{"record": 1, "passed_through": True}, {"record": 9, "passed_through": True}],
            [5],
        ],
    )
    def test_no_remainder_file(self, lines: list[Any]) -> None:
        """A file that is no remainder file, or speaks of records that are not there, is said in one line."""
        write("out.jsonl", ITEMS)
        write("r.jsonl", *lines)
        done = run("restore", "out.jsonl", "--remainder", "r.jsonl", "--to", "chat", "--out", "back.jsonl")

        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert any(
            said in done.stderr for said in ("is no line of a remainder file", "r.jsonl:1: expecting", "record 9")
        )
        assert names() == ["out.jsonl", "r.jsonl"]

    @pytest.mark.parametrize(
        "line",
        [
            b"nope",
            {},
            [],
            {"place": 1},
            {"place": "1", "text": ""},
            {"place": 1, "base64": "?"},
            {"place": 1, "text": 5},
        ],
    )
    def test_no_refused_file(self, line: Any) -> None:
        """A file that is no refused file is said in one line."""
        write("out.jsonl", ITEMS)
        write("f.jsonl", line)
        done = run("restore", "out.jsonl", "--refused", "f.jsonl", "--to", "chat", "--out", "back.jsonl")

        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert names() == ["f.jsonl", "out.jsonl"]


class TestGate:
    def test_tools(self) -> None:
        """A word for each call, with its place and name; anything but ok ends with 1."""
        Path("tools.json").write_text(json.dumps(TOOLS), "utf-8")
        other = {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}}
        write("in.jsonl", REMAINS, [CALL, other], b"nope")
        done = run("gate", "in.jsonl", "--tools", "tools.json")

        assert done.stdout.splitlines() == [
            "ok  in.jsonl:1 /messages/1/tool_calls/0  f",
            "ok  in.jsonl:2 /0  f",
            "unknown_function  in.jsonl:2 /1  g",
        ]
        assert "in.jsonl:3: not_json" in done.stderr
        assert done.exit_code == 1
        assert run("gate", "--tools", "tools.json", stdin=json.dumps(CALL).encode()).exit_code == 0
        done = run("gate", "--tools", "tools.json", "--allowed", "g", stdin=json.dumps(CALL).encode())
        assert done.stdout.startswith("not_allowed  -:1  f")

    def test_schema(self) -> None:
        """A schema is held against the arguments of every item."""
        Path("schema.json").write_text('{"required": ["a"]}', "utf-8")
        item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "status": "completed"}
        items = [item, item | {"arguments": '{"a": 1}'}, item | {"status": "incomplete"}]
        done = run("gate", "--schema", "schema.json", stdin=json.dumps(items).encode())

        assert [line.split()[0] for line in done.stdout.splitlines()] == ["arguments_schema", "ok", "status"]

    def test_no_calls(self) -> None:
        """Where there are no calls that is said, and all is well."""
        Path("tools.json").write_text("[]", "utf-8")
        done = run("gate", "--tools", "tools.json", stdin=json.dumps(ROW).encode())

        assert (done.exit_code, done.stdout, done.stderr) == (0, "", "there are no calls here\n")

    @pytest.mark.parametrize("tools", [b"5", b"{}", b"nope", b'[{"type": "function", "function": {}}]'])
    def test_no_tools(self, tools: bytes) -> None:
        """A file that is no list of tools is said in one line."""
        Path("tools.json").write_bytes(tools)
        done = run("gate", "--tools", "tools.json", stdin=b"[]")

        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)

    def test_one_of_two(self) -> None:
        """The tools or a schema must be given, not both."""
        assert run("gate", stdin=b"[]").exit_code == 2
        assert run("gate", "--tools", "a", "--schema", "b", stdin=b"[]").exit_code == 2


class TestExplain:
    def test_the_list(self) -> None:
        """Every code stands in the list."""
        assert [line.split()[0] for line in run("explain").stdout.splitlines()[1:]] == list(CODES)

    @pytest.mark.parametrize("code", CODES)
    def test_one(self, code: str) -> None:
        """Each code is explained with its meaning, its example, the way out, and whether it can be allowed."""
        said = run("explain", code).stdout

        assert CODES[code].meaning in said
        assert CODES[code].example in said
        assert CODES[code].hint in said
        assert (CODES[code].allowing or "It can never be allowed.") in said

    def test_a_slip(self) -> None:
        """An unknown code is answered with the one that was meant."""
        done = run("explain", "reasonin")

        assert done.exit_code == 2
        assert "did you mean reasoning?" in done.stderr


class TestDemo:
    def test_in_a_folder(self) -> None:
        """The demo shows its commands, the items, a refusal, and that everything came back."""
        done = run("demo", "here")

        assert done.exit_code == 0
        assert "$ turncodec convert chat.jsonl --to responses --out items.jsonl" in done.stdout
        assert '"type":"function_call"' in done.stdout
        assert "reasoning_content" in done.stderr
        assert "again.jsonl equals chat.jsonl" in done.stdout
        assert read("here/chat.jsonl") == read("here/again.jsonl")

    def test_not_twice(self) -> None:
        """A folder that holds a demo already is left alone."""
        run("demo", "here")
        before = Path("here/chat.jsonl").stat()
        done = run("demo", "here")

        assert (done.exit_code, done.stderr) == (2, "Error: chat.jsonl: file exists\n")
        assert before == Path("here/chat.jsonl").stat()

    def test_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without a folder it makes a new one and says which."""
        monkeypatch.setenv("TMPDIR", str(Path.cwd()))
        done = process("demo")

        assert done.returncode == 0
        assert str(Path.cwd() / "turncodec-demo-").encode() in done.stdout


class TestMisuse:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["convert"], "SOURCE"),
            (["convert", "in.jsonl"], "--to"),
            (["convert", "in.jsonl", "--to", "xml"], "xml"),
            (["convert", "in.jsonl", "--to", "chat", "--allow", "reasonig"], "did you mean reasoning?"),
            (["convert", "in.jsonl", "--to", "chat", "--allow", "not_json"], "can never be allowed"),
            (["convert", "in.jsonl", "--to", "chat", "--at", "input"], "is not a JSON pointer"),
            (["convert", "in.jsonl", "--to", "chat", "--kind", "poem"], "transcript"),
            (["convert", "in.jsonl", "--to", "chat", "--at", "/input", "--kind", "batch"], "leave out --kind batch"),
            (["check", "in.jsonl", "--to", "chat", "--at", "/input", "--kind", "pair"], "leave out --kind pair"),
            (["restore", "in.jsonl", "--to", "chat", "--at", "/input", "--kind", "finetune"], "--kind finetune"),
            (["check", "in.jsonl", "--to", "chat", "--request-at", "/a", "--kind", "batch"], "leave out --kind batch"),
            (["check", "in.jsonl", "--to", "chat", "--response-at", "/a", "--at", "/b"], "--at"),
            (["check", "in.jsonl", "--to", "chat", "--format", "xml"], "xml"),
            (["frobnicate"], "frobnicate"),
        ],
    )
    def test_is_answered(self, words: Sequence[str], said: str) -> None:
        """A command that makes no sense ends with 2 and says what is wrong with it."""
        write("in.jsonl", ITEMS)
        done = run(*words)

        assert done.exit_code == 2
        assert said in done.stderr

    def test_help(self) -> None:
        """Every command has a help text; that of the whole says the exit status and how completion is switched on."""
        for name, command in cli.commands.items():
            assert command.help
            assert run(name, "-h").stdout == run(name, "--help").stdout
        assert "_TURNCODEC_COMPLETE" in run("-h").stdout
        assert "130  interrupted" in run("-h").stdout
        assert all(isinstance(p, click.Argument) or p.help for c in cli.commands.values() for p in c.params)  # type: ignore[attr-defined]


class TestProcess:
    def test_version(self) -> None:
        """The version is said without importing what it does not need."""
        code = "import sys, turncodec.cli as c\ntry: c.main()\nfinally: print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=False)
        version, modules = done.stdout.splitlines()

        assert version == f"turncodec {turncodec.__version__}"
        assert not {"pydantic", "jsonschema", "msgspec"} & set(modules.split())

    @pytest.mark.parametrize(
        ("line", "wanted"),
        [
            ("turncodec re", "restore"),
            ("turncodec convert --allow reas", "reasoning"),
            ("turncodec convert --allow weight,mess", "weight,message_name"),
            ("turncodec explain not_j", "not_json"),
            ("turncodec convert --to r", "responses"),
        ],
    )
    def test_completion(self, line: str, wanted: str) -> None:
        """The shell completes commands, options' values and codes."""
        words = {"_TURNCODEC_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        done = process(env=os.environ | words)

        assert f"plain,{wanted}" in done.stdout.decode().splitlines()

    def test_completion_is_offered(self) -> None:
        """The script that the help names is there."""
        assert b"complete" in process(env=os.environ | {"_TURNCODEC_COMPLETE": "bash_source"}).stdout

    def test_a_broken_pipe(self) -> None:
        """When nobody reads any more the command ends without a word."""
        write("in.jsonl", *[b"nope"] * 20_000)
        command = f"{sys.executable} -m turncodec check in.jsonl --to chat | head -n 1"
        script = f"set -o pipefail; {command}"
        done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, timeout=60, check=False)

        assert done.stdout.count(b"\n") == 1
        assert done.stderr == b""
        assert done.returncode == 141

    @pytest.mark.parametrize(
        "words", [["explain"], ["check", "in.jsonl", "--to", "chat"], ["convert", "in.jsonl", "--to", "chat"]]
    )
    def test_a_pipe_that_is_shut(self, words: Sequence[str]) -> None:
        """When nobody has ever read, whatever is written, the command ends without a word too."""
        write("in.jsonl", ROW, b"nope")
        ours, theirs = os.pipe()
        os.close(ours)
        command = [sys.executable, "-m", "turncodec", *words]
        done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, timeout=60, check=False)
        os.close(theirs)

        assert (done.returncode, done.stderr) == (141, b"")

    @pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_interrupted(self, number: signal.Signals, status: int) -> None:
        """Ctrl-C and kill end it with the usual status, no traceback, and no file left behind."""
        command = [sys.executable, "-m", "turncodec", "convert", "-", "--to", "responses", "--out", "out.jsonl"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            assert running.stdin is not None
            assert running.stderr is not None
            running.stdin.write((json.dumps(REMAINS).encode() + b"\n") * 50)
            running.stdin.flush()
            deadline = time.monotonic() + 30
            while len(names()) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert all(name.endswith(".part") for name in names())
            running.send_signal(number)
            said = running.stderr.read()

        assert running.returncode == status
        assert b"Traceback" not in said
        assert names() == []

    def test_a_bar(self) -> None:
        """On a terminal a bar shows what is going on; it is gone at the end, and never there in a pipe."""
        write("in.jsonl", *[REMAINS] * 20_000)
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "turncodec", "convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl"]
        with subprocess.Popen(command, stderr=theirs) as running:
            os.close(theirs)
            seen = b""
            while True:
                try:
                    seen += os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
        os.close(ours)

        assert running.returncode == 0
        assert b"records, " in seen
        assert b"/s, 0 refused" in seen
        assert seen.split(b"\r")[-1].startswith(b"\n") or b"\r20,000 read = 20,000 translated" in seen
        Path("out.jsonl").unlink()
        assert b"\r" not in process(*command[3:], "--force").stderr
