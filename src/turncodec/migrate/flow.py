"""A stream on its way through: bytes in, bytes out as they come.

Knows files and pipes, and that a recorded stream is an event stream or one JSON object a line. What its objects mean
is asked of `turncodec.stream`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from turncodec.migrate import JobError
from turncodec.migrate.records import FOREIGN, STDIN
from turncodec.refusals import Refused, refused
from turncodec.stream import assemble_chunks, assemble_events
from turncodec.stream.sse import Decoder, Message, encode, read
from turncodec.stream.translator import Translator, through

PIECE = 1 << 16
BOM = b"\xef\xbb\xbf"


class Lines:
    """A stream that was kept as one JSON object a line, in the manner of `sse.Decoder`."""

    def __init__(self) -> None:
        self._at = 0
        self._rest: list[bytes] = []

    def feed(self, data: bytes) -> list[Message]:
        first, *others = data.split(b"\n")
        self._rest.append(first)
        messages: list[Message] = []
        for line in others:
            messages += self.close()
            self._at += 1
            self._rest = [line]
        return messages

    def close(self) -> list[Message]:
        line, self._rest = b"".join(self._rest), []
        begins, self._at = self._at, self._at + len(line)
        return [Message(None, line.decode(errors="surrogateescape"), begins)] if line.strip() else []


def pieces(name: str) -> Iterator[bytes]:
    """The bytes of a file, or of standard input, as they come. Raises `JobError` where it cannot be read."""
    if name == STDIN:
        yield from read_on(sys.stdin.buffer)
        return
    try:
        with Path(name).open("rb") as file:
            yield from read_on(file)
    except OSError as wrong:
        raise JobError(f"{name}: {(wrong.strerror or str(wrong)).lower()}") from wrong


def read_on(file: BinaryIO) -> Iterator[bytes]:
    read1 = getattr(file, "read1", file.read)
    while data := read1(PIECE):
        yield data


def objects(name: str) -> Iterator[Any]:
    """What a stream holds, one by one: objects, and `"[DONE]"`. Raises `Refused` for what is no JSON."""
    data = pieces(name)
    head = b""
    for piece in data:
        head += piece
        if head.removeprefix(BOM).strip():
            break
    for magic, said in FOREIGN.items():
        if head.startswith(magic):
            raise JobError(f"{name}: is {said}; unpack it first")
    decoder = Lines() if head.removeprefix(BOM).lstrip().startswith(b"{") else Decoder()
    if isinstance(decoder, Lines):
        head = head.removeprefix(BOM)
    for piece in chain([head], data):
        yield from map(read, filter(says_something, decoder.feed(piece)))
    yield from map(read, filter(says_something, decoder.close()))


def says_something(message: Message) -> bool:
    """Whether a message has data; some servers keep a connection open with messages that have none."""
    return bool(message.data.strip())


def translated(stream: Iterable[Any], translator: Translator) -> Iterator[bytes]:
    """The messages of the translation, as they come."""
    return map(encode, through(translator, stream))


def failed(translator: Translator, refusal: Refused) -> Iterator[bytes]:
    """What tells the reader of a stream that it ends in a failure."""
    return map(encode, translator.failure(refusal))


def send(messages: Iterable[bytes], out: BinaryIO) -> None:
    """Write each message at once."""
    for message in messages:
        out.write(message)
        out.flush()


def assembled(stream: Iterable[Any]) -> dict[str, Any]:
    """The completion or response that a stream amounts to; which of them is seen from its first object."""
    ones = iter(stream)
    first = next(ones, None)
    if first is None:
        raise refused("incomplete", (), "there is nothing in this stream")
    of_responses = isinstance(first, dict) and "choices" not in first and "type" in first
    whole = chain([first], ones)
    return assemble_events(whole) if of_responses else assemble_chunks(whole)
