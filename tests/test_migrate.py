"""Whole files: how a source is cut, how targets appear, and that a restored file is the old one."""

from __future__ import annotations

import dataclasses
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turncodec.cli import cli
from turncodec.edge import decode, encode
from turncodec.equality import same
from turncodec.migrate import JobError, calls, jobs, outcomes
from turncodec.migrate.outcomes import PassedThrough, Settings, Stopped, Translated, outcome
from turncodec.migrate.records import Record, look, look_at_pipe
from turncodec.migrate.report import Bar, size
from turncodec.migrate.run import Tally, kept, unkept
from turncodec.migrate.targets import AtomicFile, Framed, refuse_targets
from turncodec.refusals import allowed_codes

USER = {"role": "user", "content": "hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
CHAT = [USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}]
ITEM = {"type": "message", "role": "user", "content": "hi"}
ROW = {"messages": [USER]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cut(data: bytes, name: str = "in.json", at: str | None = None) -> tuple[str, list[Record]]:
    """How a file is cut, and its records."""
    Path(name).write_bytes(data)
    source = look(name, at)
    return source.framing, list(source.records())


def cut_pipe(data: bytes, name: str = "-", at: str | None = None) -> tuple[str, list[Record]]:
    source = look_at_pipe(io.BytesIO(data), name, at)
    return source.framing, list(source.records())


def both(data: bytes, name: str = "in.json", at: str | None = None) -> tuple[str, list[bytes]]:
    """How a file is cut, which must be how the same bytes from a pipe are cut."""
    framing, records = cut(data, name, at)
    assert (framing, records) == cut_pipe(data, name, at)
    for record in records:
        assert data[record.offset :].startswith(record.data)
        assert record.line == data[: record.offset].count(b"\n") + 1
    assert [record.ordinal for record in records] == list(range(1, len(records) + 1))
    return framing, [record.data for record in records]


@pytest.mark.usefixtures("folder")
class TestCutting:
    @pytest.mark.parametrize("end", [b"\n", b"\r\n"])
    @pytest.mark.parametrize("last", [b"", b"\n", b"\r\n", b"\n\n \t\n"])
    def test_lines(self, end: bytes, last: bytes) -> None:
        """Each line that is not blank is a record, with or without a newline at the end, LF or CRLF."""
        assert both(end.join([b'{"a":1}', b"", b"[2]", b" nope "]) + last) == ("lines", [b'{"a":1}', b"[2]", b" nope "])

    def test_a_document(self) -> None:
        """One JSON value on several lines is one record, without the space around it."""
        data = json.dumps(ROW, indent=2).encode()

        assert ("document", [data]) == both(b"\n " + data + b"\n\n")

    @pytest.mark.parametrize("indent", [None, 1])
    @pytest.mark.parametrize(
        "elements",
        [
            [ROW, ROW],
            [CHAT, []],
            [{"conversations": [USER], "type": "train"}],
            [{"input": [ITEM], "role": "x"}, 5],
            [{"prompt": "hi"}],
            [None, 5, ROW],
        ],
    )
    def test_an_array_of_records(self, elements: list[Any], indent: int | None) -> None:
        """Lists, objects that hold turns, and objects with neither role nor type are records of an array."""
        framing, records = both(json.dumps(elements, indent=indent).encode())

        assert framing == "array"
        assert elements == [json.loads(record) for record in records]

    @pytest.mark.parametrize("indent", [None, 1])
    @pytest.mark.parametrize(
        "elements",
        [CHAT, [ITEM], [{"type": "custom_tool_call", "input": "x"}], [USER, ROW], [1, 2], [None], ["a", USER]],
    )
    def test_an_array_that_is_one_transcript(self, elements: list[Any], indent: int | None) -> None:
        """Messages, items, and an array that holds nothing telling are one record."""
        framing, records = both(json.dumps(elements, indent=indent).encode())

        assert framing == "document"
        assert [elements] == [json.loads(record) for record in records]

    def test_the_pointer_tells(self) -> None:
        """An object that holds the key of the pointer is a record, whatever else it holds."""
        data = json.dumps([{"role": "x", "log": {"turns": [USER]}}]).encode()

        assert both(data)[0] == "document"
        assert both(data, at="/log/turns")[0] == "array"

    @pytest.mark.parametrize("data", [b"[]", b" [ ]\n"])
    def test_an_empty_array(self, data: bytes) -> None:
        """An empty array is one of no records."""
        assert both(data) == ("array", [])

    @pytest.mark.parametrize("data", [b"", b"\n\n", b" \r\n\t"])
    def test_nothing(self, data: bytes) -> None:
        """An empty file, and one of blank lines, holds no records."""
        assert both(data) == ("lines", [])
        assert look("in.json").is_empty

    def test_a_bad_first_line(self) -> None:
        """Lines are lines though the first is broken: the second one tells, or the name of the file."""
        assert both(b"{nope}\n[2]\n") == ("lines", [b"{nope}", b"[2]"])
        assert both(b'{"messages": [\nnope\n', "in.jsonl") == ("lines", [b'{"messages": [', b"nope"])
        assert both(b'{"messages": [\n{"a": 1}\n') == ("lines", [b'{"messages": [', b'{"a": 1}'])

    def test_a_broken_document(self) -> None:
        """A document of several lines that is no JSON is one record, not one for each of its lines."""
        data = b'{\n "messages": [\n  nope\n ]\n}'

        assert ("document", [data]) == both(data)

    def test_comma_first(self) -> None:
        """A second line that is an object by itself makes no lines of an array that is whole."""
        assert both(b'[\n{"messages":[]}\n,\n[]\n]') == ("array", [b'{"messages":[]}', b"[]"])

    @pytest.mark.parametrize(
        ("data", "records"),
        [
            (b'[{"messages":[]}, {"a":NaN}, [1]]', [b'{"messages":[]}', b'{"a":NaN}', b"[1]"]),
            (b'[[], {"a":"]}\\"]"}, [,], ]', [b"[]", b'{"a":"]}\\"]"}', b"[,]", b""]),
            (b'[[1], {"messages":[{"role"', [b"[1]", b'{"messages":[{"role"']),
            (b"[[1], [2]] [3]", [b"[1]", b"[2]", b"[3]"]),
            (b"[[1], " + b"[" * 5000 + b"]" * 5000 + b", nope]", [b"[1]", b"[" * 5000 + b"]" * 5000, b"nope"]),
        ],
    )
    def test_an_array_with_a_fault(self, data: bytes, records: list[bytes]) -> None:
        """A fault in one element leaves the others as they are; a torn end is one more element."""
        framing, found = cut(data)

        assert framing == "array"
        assert records == [record.data for record in found]

    @given(st.lists(st.sampled_from([b'{"a":1}', b"[]", b" {} ", b"nope", b"", b"  ", b'"x"']), max_size=6))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_no_line_is_lost(self, lines: list[bytes]) -> None:
        """In a file named as lines, every line that is not blank is a record, whatever it is."""
        assert both(b"\n".join(lines), "in.jsonl") == ("lines", [line for line in lines if line.strip()])

    def test_one_line(self) -> None:
        """A single line is a record where the name says so, else it may be an array; several lines may be one too."""
        data = json.dumps([ROW, ROW]).encode()

        assert [both(data)[0], both(data, "in.jsonl")[0]] == ["array", "lines"]
        assert [both(b"[\n]")[0], both(b"[\n]", "in.jsonl")[0]] == ["array", "array"]

    def test_a_byte_order_mark(self) -> None:
        """A byte-order mark at the start of a file is no part of the first record, and is noticed."""
        for data in (b'{"a":1}\n[]', b"[[1], [2]]", b'{\n"a":1}', b"[1, 2"):
            framing, records = cut(data)
            assert not look("in.json").has_bom
            marked = [record._replace(offset=record.offset + 3) for record in records]
            assert (framing, marked) == cut(b"\xef\xbb\xbf" + data)
            assert look("in.json").has_bom

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"\x1f\x8b\x08\x00rest", "gzip"),
            (b"\x28\xb5\x2f\xfdrest", "zstd"),
            (b"PAR1rest", "Parquet"),
            ('{"a": 1}\n'.encode("utf-16"), "UTF-16"),
            (b"\x00\x00\xfe\xff\x00\x00\x00\x31", "UTF-32"),
        ],
    )
    def test_not_text(self, data: bytes, said: str) -> None:
        """A file that is compressed or in another encoding is named as such, not cut into nonsense."""
        with pytest.raises(JobError, match=said):
            cut(data)
        with pytest.raises(JobError, match=said):
            cut_pipe(data)

    def test_a_line_longer_than_is_looked_at(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A first line that is too long to be looked at is still a line, and an array on one line still an array."""
        monkeypatch.setattr("turncodec.migrate.records.LONGEST_FIRST_LINE", 16)
        long = json.dumps(ROW).encode()

        assert ("lines", [long, long]) == both(long + b"\n" + long)
        assert ("array", [long, long]) == both(b"[" + long + b"," + long + b"]")
        assert ("document", [long]) == both(long)


class TestOutcomes:
    def test_translated(self) -> None:
        """A record becomes the compact text of its translation, and has a remainder where it needs one."""
        assert Translated(encode({"input": [ITEM]}), None) == outcome(json.dumps(ROW).encode(), Settings("responses"))
        named = json.dumps({"messages": [USER | {"name": "al"}]}).encode()
        made = outcome(named, Settings("responses", allow=frozenset({"message_name"})))
        assert isinstance(made, Translated)
        assert made.remainder is not None

    @pytest.mark.parametrize("document", [{"input": [ITEM]}, [ITEM]])
    def test_passed_through(self, document: Any) -> None:
        """A record that is in the target's format already keeps its very bytes."""
        data = json.dumps(document, indent=3).encode()

        assert PassedThrough(data) == outcome(data, Settings("responses"))

    def test_a_fault_of_ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """An exception that should never be stops one record, and says whose fault it is."""

        def broken(*_: object, **__: object) -> None:
            raise KeyError("oops")

        monkeypatch.setitem(outcomes.DIRECTIONS, "chat", broken)
        made = outcome(b"[]", Settings("chat"))

        assert isinstance(made, Stopped)
        assert made.refusals[0].code == "not_reversible"
        assert made.refusals[0].message == "a fault of turncodec: KeyError: 'oops'"

    def test_a_fault_among_others(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The record of such a fault is kept whole, with the exception's type and message; the others are translated.
        Inside, the exception is itself: only `outcome` turns it into a refusal."""
        monkeypatch.chdir(tmp_path)
        really = outcomes.DIRECTIONS["responses"]

        def broken(document: Any, *given: Any, **named: Any) -> Any:
            if document == ROW:
                raise RuntimeError("a loop")
            return really(document, *given, **named)

        monkeypatch.setitem(outcomes.DIRECTIONS, "responses", broken)
        bad = json.dumps(ROW, indent=None).encode() + b" "
        Path("in.jsonl").write_bytes(bad + b"\n" + encode({"messages": CHAT}) + b"\n")
        with pytest.raises(SystemExit, match="1"):
            cli(["convert", "in.jsonl", "--to", "responses", "--out", "out.jsonl"])

        (line,) = [decode(line) for line in Path("out.refused.jsonl").read_bytes().splitlines()]
        assert (unkept(line), line["line"]) == (bad, 1)
        assert line["refusals"][0]["message"] == "a fault of turncodec: RuntimeError: a loop"
        assert "a fault of turncodec: RuntimeError: a loop" in capsys.readouterr().err
        assert len(Path("out.jsonl").read_bytes().splitlines()) == 1
        with pytest.raises(RuntimeError, match="a loop"):
            outcomes.translated(bad, Settings("responses"), None)

    @given(st.binary(max_size=60))
    def test_any_bytes(self, data: bytes) -> None:
        """Any bytes at all have an outcome, in both directions."""
        for to in ("chat", "responses"):
            made = outcome(data, Settings(to))
            assert not isinstance(made, Stopped) or all(r.code != "not_reversible" for r in made.refusals)

    @given(st.binary(max_size=60))
    def test_kept_whole(self, data: bytes) -> None:
        """A refused record can be had back from the refused file byte for byte."""
        assert data == unkept(decode(encode(kept(data))))


@pytest.mark.usefixtures("folder")
class TestTargets:
    def test_appears_whole(self) -> None:
        """A file is not there under its name before it is committed, and then holds everything."""
        file = AtomicFile(Path("out"))
        file.write(b"one")
        assert not Path("out").exists()
        file.commit()

        assert Path("out").read_bytes() == b"one"
        assert list(Path().iterdir()) == [Path("out")]

    def test_discarded(self) -> None:
        """A file that is discarded leaves no trace, and what was there before stays."""
        Path("out").write_bytes(b"old")
        file = AtomicFile(Path("out"))
        file.write(b"new")
        file.discard()

        assert Path("out").read_bytes() == b"old"
        assert list(Path().iterdir()) == [Path("out")]

    def test_interrupted_while_it_opens(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Wherever the person interrupts, no temporary file is left: not even right after it came to be."""

        def interrupted(path: str, flags: int) -> int:
            os.close(os.open(path, flags))
            raise KeyboardInterrupt

        monkeypatch.setattr("turncodec.migrate.targets.for_oneself", interrupted)
        file = AtomicFile(Path("out"))
        with pytest.raises(KeyboardInterrupt):
            file.open()
        assert [path.suffix for path in Path().iterdir()] == [".part"]
        file.discard()

        assert list(Path().iterdir()) == []

    def test_permissions(self) -> None:
        """A new file has the permissions of any new file, one that replaces another has those of the other."""
        Path("old").touch(0o640)
        os.umask(mask := os.umask(0o022))
        for name in ("old", "new"):
            file = AtomicFile(Path(name))
            file.write(b"x")
            file.commit()

        assert Path("old").stat().st_mode & 0o777 == 0o640
        assert Path("new").stat().st_mode & 0o777 == 0o666 & ~mask

    def test_through_a_link(self) -> None:
        """A symbolic link stays one; the file that it names is replaced."""
        Path("real").write_bytes(b"old")
        Path("link").symlink_to("real")
        file = AtomicFile(Path("link"))
        file.write(b"new")
        file.commit()

        assert Path("link").is_symlink()
        assert Path("real").read_bytes() == b"new"

    def test_refused(self) -> None:
        """A source by any name, a folder, a device, a missing folder and a file that exists are refused."""
        Path("in").touch()
        Path("other").hardlink_to("in")
        Path("out").touch()
        for target, said in [
            ("in", "also a source"),
            ("other", "also a source"),
            (".", "no regular file"),
            ("/dev/null", "no regular file"),
            ("no/out", "no folder"),
            ("out", "--force"),
        ]:
            with pytest.raises(JobError, match=said):
                refuse_targets([Path(target)], ["in"], force=target != "out")
        refuse_targets([Path("out"), Path("new")], ["in"], force=True)

    def test_framings(self) -> None:
        """Records come out as lines, as an array or as a document, and read back as they went in."""
        for framing, wanted in [("lines", b"1\n{}\n"), ("array", b"[\n1,\n{}\n]\n"), ("document", b"1\n{}\n")]:
            out = io.BytesIO()
            framed = Framed(out.write, framing)  # type: ignore[arg-type]
            for record in (b"1", b"{}"):
                framed.add(record)
            framed.end()
            assert wanted == out.getvalue()
        empty = io.BytesIO()
        Framed(empty.write, "array").end()
        assert empty.getvalue() == b"[\n]\n"

    def test_several_lines_among_lines(self) -> None:
        """A record of several lines becomes one among lines, with its numbers and escapes as they were."""
        out = io.BytesIO()
        Framed(out.write, "lines").add(b'{\n "a": 1.50,\r\n "b": "\\u00e9\\n"}')

        assert out.getvalue() == b'{"a":1.50,"b":"\\u00e9\\n"}\n'
        with pytest.raises(JobError):
            Framed(out.write, "lines").add(b"{\nnope}")

    @pytest.mark.parametrize(
        ("out", "remainder"),
        [("a.jsonl", "a.remainder.jsonl"), ("a.b.json", "a.b.remainder.jsonl"), ("v1.2", "v1.2.remainder.jsonl")],
    )
    def test_side_files(self, out: str, remainder: str) -> None:
        """The side files have the name of the output, with their own word before the suffix."""
        assert Path("x") / remainder == jobs.Targets(Path("x") / out).beside().remainder

    def test_nothing_is_written_when_reading_fails(self) -> None:
        """A source that fails in the middle leaves no output, no side file and no temporary file."""

        def failing() -> Iterator[tuple[Record, Any]]:
            yield Record(b"{}", "in", 1, 1, 0), Translated(b"{}", {"a": 1})
            raise OSError("the disk is gone")

        with pytest.raises(OSError, match="gone"):
            jobs.convert(failing(), "lines", jobs.Targets(Path("out.jsonl")).beside(), lambda _: None, None)

        assert list(Path().iterdir()) == []


class TestCalls:
    def test_places(self) -> None:
        """Calls are found in calls, lists, messages, items, requests, answers and batch lines, with their pointers."""
        item = {"type": "function_call", "call_id": "c", "name": "g", "arguments": "{}", "status": "completed"}
        odd = {"type": "acme:search_call", "role": "x"}
        result = {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "1"}]}
        for document, paths in [
            (CALL, [()]),
            (item, [()]),
            ({}, [()]),
            (5, [()]),
            ([CALL, item], [(0,), (1,)]),
            (CHAT, [(1, "tool_calls", 0)]),
            ({"messages": CHAT, "tools": [CALL]}, [("messages", 1, "tool_calls", 0)]),
            ({"input": [ITEM, item, result, odd, {"type": "reasoning"}]}, [("input", 1), ("input", 3)]),
            ({"object": "response", "output": [item]}, [("output", 0)]),
            ({"choices": [{"message": CHAT[1]}]}, [("choices", 0, "message", "tool_calls", 0)]),
            ({"body": {"input": [item]}}, [("body", "input", 0)]),
            ([{"role": "assistant", "function_call": {"name": "f"}}], [(0, "function_call")]),
            (["text", None], [(0,), (1,)]),
        ]:
            assert paths == [call.path for call in calls.calls_in(document)]

    def test_a_cut_call(self) -> None:
        """A call of a completion that ran out of tokens is not completed, however whole it looks."""
        choice = {"message": CHAT[1], "finish_reason": "length"}

        assert [calls.word(call, lambda _: "ok") for call in calls.calls_in({"choices": [choice]})] == ["status"]

    def test_names(self) -> None:
        """A call is named by its function, in either format."""
        assert [call.name for call in calls.calls_in([CALL, 5, {"function": {"name": 1}}])] == ["f", "?", "?"]


def test_bar() -> None:
    """The bar says how much is done, over all sources, and leaves a clean line behind."""
    stream = io.StringIO()
    pipe = look_at_pipe(io.BytesIO(b""), "-", None)
    first, second = (dataclasses.replace(pipe, name=name, size=size) for name, size in [("a", 100), ("b", 300)])
    with Bar(stream, [first, second]) as bar:
        bar.drawn = 0  # type: ignore[attr-defined]
        bar(Record(b"x" * 50, "b", 1, 1, 50), Tally(read=3, refused=1))
    drawn, blank = stream.getvalue().split("\r")[1:3]

    assert drawn.startswith(" 50%  200 B of 400 B  3 records, ")
    assert drawn.endswith("1 refused")
    assert blank == " " * len(drawn)
    assert [size(999), size(20_000), size(1.5e9), size(3e12)] == ["999 B", "20 kB", "1.5 GB", "3 TB"]


# ---------------------------------------------------------------- there and back

broken = st.sampled_from([b"nope", b'{"messages":[],"messages":[]}', b'{"a":NaN}', b'{"x":1}', b"\xf0\xff", b"5"])
turn = st.fixed_dictionaries(
    {"role": st.just("user"), "content": st.text(max_size=5)},
    optional={"name": st.text("ab", min_size=1, max_size=3), "tool_calls": st.none(), "extra": st.just(1)},
)
row = st.lists(turn, min_size=1, max_size=3).map(lambda turns: json.dumps({"messages": turns}).encode())
there_already = st.just(b'{"input": [ {"type": "message", "role": "user", "content": "hi"} ]}')


@given(row, st.lists(broken | row | there_already, max_size=7), st.sampled_from(["lines", "array"]), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_comes_back(
    tmp_path_factory: pytest.TempPathFactory, first: bytes, others: list[bytes], framing: str, allow: bool
) -> None:
    """Whatever the records: each is translated, passed through or refused, and all come back in their places."""
    folder, records = tmp_path_factory.mktemp("lines"), [first, *others]
    source, out, back = folder / ("in.jsonl" if framing == "lines" else "in"), folder / "out", folder / "back"
    source.write_bytes(b"\n".join([*records, b""]) if framing == "lines" else b"[" + b",\n".join(records) + b"]")

    job = jobs.job([str(source)])
    settings = Settings("responses", allow=allowed_codes("all" if allow else ()))
    tally = jobs.convert(job.outcomes(settings), job.framing, jobs.Targets(out).beside(), lambda _: None, None)
    assert tally.read == len(records) == tally.translated + tally.passed + tally.refused

    own = jobs.own_side_files(str(out))
    pairs = jobs.restored(jobs.job([str(out)]), own.remainder, own.refused, "chat", Settings("chat"))
    jobs.convert(pairs, "lines", jobs.Targets(back), lambda _: None, None)

    again = back.read_bytes().split(b"\n")[:-1]
    assert len(records) == len(again)
    for old, new in zip(records, again, strict=True):
        assert old == new or same(decode(old), decode(new))
