"""The commands `stream` and `assemble`, as processes and as a person would call them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loopback import scripted

from turncodec import to_chat, to_responses
from turncodec.stream import assemble_chunks, assemble_events, sse

Json = Any
CHUNKS = [*scripted(), "[DONE]"]
WORDS = [sys.executable, "-m", "turncodec"]


def run(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*WORDS, *words], input=stdin, capture_output=True, timeout=60)


def stream_of(ones: list[Json]) -> bytes:
    return b"".join(map(sse.encode, ones))


def read(data: bytes) -> list[Json]:
    decoder = sse.Decoder()
    return [sse.read(message) for message in decoder.feed(data) + decoder.close()]


def chunk(delta: Json, finish: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def test_stream_there_and_back(tmp_path: Path) -> None:
    """A file goes across and, through a pipe, back; the remainder that was kept restores the whole answer."""
    source, remainder = tmp_path / "answer.sse", tmp_path / "answer.remainder.json"
    source.write_bytes(stream_of(CHUNKS))

    there = run("stream", str(source), "--to", "responses", "--remainder", str(remainder))
    back = run("stream", "--to", "chat", stdin=there.stdout)

    events = read(there.stdout)
    assert (there.returncode, back.returncode) == (0, 0)
    assert there.stdout.startswith(b"event: response.created\ndata: {")
    assert events[-1] == "[DONE]"
    whole = assemble_events(events)
    assert whole == to_responses(assemble_chunks(CHUNKS)).document
    assert to_chat(whole, remainder=json.loads(remainder.read_bytes())).document == assemble_chunks(CHUNKS)
    assert assemble_chunks(read(back.stdout)) == to_chat(whole).document


def test_stream_with_its_request(tmp_path: Path) -> None:
    """The response echoes the settings of the request that the stream answers."""
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"model": "m", "messages": [{"role": "user", "content": "?"}], "temperature": 0.5}))

    done = run("stream", "--to", "responses", "--request", str(request), stdin=stream_of(CHUNKS))

    events = read(done.stdout)
    assert done.returncode == 0
    assert [events[0]["response"]["temperature"], assemble_events(events)["temperature"]] == [0.5, 0.5]


def test_an_event_comes_as_soon_as_its_chunk() -> None:
    """Nothing waits for the end: what a chunk says is there before the next one is sent."""
    with subprocess.Popen([*WORDS, "stream", "--to", "responses"], stdin=-1, stdout=-1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(sse.encode(chunk({"content": "hi"})))
        process.stdin.flush()
        seen = b""
        while b"response.output_text.delta" not in seen:
            seen += process.stdout.readline()
        process.stdin.write(sse.encode(chunk({}, "stop")))
        process.stdin.close()
        rest = process.stdout.read()

    assert process.returncode == 0
    assert b"event: response.completed" in rest


def test_lines_of_json() -> None:
    """A stream that was kept as one object a line is read like one of server-sent events."""
    lines = b"\xef\xbb\xbf" + b"".join(json.dumps(one).encode() + b"\n" for one in CHUNKS[:-1])

    assert run("assemble", stdin=lines).stdout == run("assemble", stdin=stream_of(CHUNKS)).stdout
    assert run("stream", "--to", "responses", stdin=lines.rstrip()).returncode == 0


def test_assemble(tmp_path: Path) -> None:
    """`assemble` prints the object that a stream of either format amounts to, or writes it to a file."""
    events = run("stream", "--to", "responses", stdin=stream_of(CHUNKS)).stdout
    out = tmp_path / "response.json"

    of_chat = run("assemble", stdin=stream_of(CHUNKS))
    of_responses = run("assemble", "-", "--out", str(out), stdin=events)
    again = run("assemble", "-", "--out", str(out), stdin=events)

    assert json.loads(of_chat.stdout) == assemble_chunks(CHUNKS)
    assert (of_responses.returncode, of_responses.stdout) == (0, b"")
    assert json.loads(out.read_bytes()) == to_responses(assemble_chunks(CHUNKS)).document
    assert again.returncode == 2
    assert b"--force" in again.stderr


def test_assemble_what_was_cut() -> None:
    """What a stream that was cut off amounts to shows that it was."""
    assert json.loads(run("assemble", stdin=stream_of(CHUNKS[:3])).stdout)["choices"][0]["finish_reason"] is None
    assert (run("assemble", stdin=b"").returncode, run("stream", "--to", "chat", stdin=b"").returncode) == (1, 1)


REFUSED = [
    ("cut", stream_of(CHUNKS[:3]), "incomplete"),
    ("a provider's key", stream_of([chunk({"reasoning": "hm"})]), "reasoning at /0/choices/0/delta/reasoning"),
    ("no JSON", stream_of(CHUNKS[:1]) + b"data: {\n\n", "not_json"),
    ("something else", b'data: {"a": 1}\n\n', "malformed at /0: this is no chunk"),
    ("no UTF-8", b"data: \xff\n\n", "byte 6"),
    ("an error", b'data: {"error": {"message": "Slow down", "code": 429}}\n\n', "Slow down; 429"),
    ("the other format", stream_of([{"type": "response.created", "response": {}}]), "wrong_direction"),
]  # fmt: skip


@pytest.mark.parametrize(("_", "data", "said"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused(_: str, data: bytes, said: str) -> None:
    """What is refused is said on stderr with its place; the output ends with an error and never with a whole answer."""
    done = run("stream", "--to", "responses", stdin=data)

    assert done.returncode == 1
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    written = read(done.stdout)
    assert [one["type"] for one in written[:-1] if one["type"] in ("error", "response.completed")] == ["error"]
    assert written[-1] == "[DONE]"


def test_refused_on_the_way_to_chat() -> None:
    """The same for chunks, whose failure is an object with an `error`."""
    error = {"type": "error", "code": "server_error", "message": "try again", "param": None}

    done = run("stream", "--to", "chat", stdin=stream_of([error]))

    assert done.returncode == 1
    assert b"the provider says: try again; server_error" in done.stderr
    assert read(done.stdout)[0]["error"]["code"] == "stream_failed"


MISUSED = [
    (["stream", "nowhere.sse", "--to", "chat"], "nowhere.sse: no such file"),
    (["stream", "--to", "chat", "--request", "r.json"], "--request goes with --to responses"),
    (["stream", "--to", "responses", "--request", "nowhere.json"], "nowhere.json"),
    (["assemble", "."], "is a directory"),
]


@pytest.mark.parametrize(("words", "said"), MISUSED, ids=[" ".join(row[0]) for row in MISUSED])
def test_misused(words: list[str], said: str) -> None:
    """What cannot be used as asked is one line, and the status of misuse."""
    done = run(*words)

    assert done.returncode == 2
    assert said in done.stderr.decode().lower() or said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_compressed() -> None:
    """A compressed recording is named as what it is."""
    done = run("assemble", stdin=b"\x1f\x8b\x08\x00")

    assert (done.returncode, b"gzip" in done.stderr) == (2, True)


def test_a_request_that_is_refused(tmp_path: Path) -> None:
    """A request whose settings cannot be read is named, before anything is read of the stream."""
    request = tmp_path / "request.json"
    request.write_text('{"model": 7, "messages": []}')

    done = run("stream", "--to", "responses", "--request", str(request))

    assert done.returncode == 2
    assert b"request.json: malformed at /model" in done.stderr
