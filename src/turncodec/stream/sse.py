"""Event streams: bytes to messages and back, as both APIs send them.

Knows the format `text/event-stream` (WHATWG HTML, Server-sent events), that a message's data is one JSON value, and
that the last message is the word `[DONE]`. Must not know what a chunk or an event means, which of them follow each
other, or where the bytes come from.

Nothing is guessed and nothing is lost: a stream that is not UTF-8 is refused with the byte, where a browser would put
replacement characters. What the format itself tells a reader to ignore (comments, `id`, `retry`, unknown fields) holds
nothing of an answer.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

from turncodec import edge
from turncodec.refusals import Finding, Refused, pointer, refused, refused_for

DONE: Final = "[DONE]"
"""The data of the last message (Open Responses, Streaming); no JSON."""


class Message(NamedTuple):
    """One message of a stream, as its lines say it; nothing in it has been read as JSON."""

    event: str | None
    """The value of the last `event` line; None where there was none."""
    data: str
    """The values of the `data` lines, joined with LF."""
    offset: int
    """Where its first field begins: bytes from the beginning of the stream, a byte-order mark included."""


class Decoder:
    """One stream of bytes, in fragments that may be cut anywhere, into its messages (WHATWG HTML, Server-sent events,
    "Parsing an event stream" and "Interpreting an event stream").

    Messages and refusals do not depend on the cuts. Work is linear in the bytes; what is held is the message that is
    not complete yet.
    """

    def __init__(self) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._fault = ""
        self._at = 0
        self._line = bytearray()
        self._after_cr = False
        self._block = _Block()

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are complete with the next bytes: those whose blank line has come.

        Raises `Refused` (`not_json`) where the stream is not UTF-8; the message says the byte, counted from the
        beginning of the stream. Messages that were complete before that byte are given first, and the refusal comes
        with the next call. Every call after a refusal is refused in the same way.
        """
        self._raise_fault()
        messages = list(self._messages(self._lines(self._sound(data))))
        if not messages:
            self._raise_fault()
        return messages

    def close(self) -> list[Message]:
        """The last message, where its blank line is missing; else nothing. The stream ends here: feed no more.

        Raises `Refused` as `feed` does, also where the stream ends in the middle of a character.
        """
        self._raise_fault()
        self._sound(b"", last=True)
        # The standard discards a message without its blank line. Servers forget that line, and the end of an answer
        # would be lost without a word; one that was really cut off is no JSON any more, and is refused as that.
        return self.feed(b"\n\n")

    def _raise_fault(self) -> None:
        if self._fault:
            raise refused("not_json", (), self._fault)

    def _sound(self, data: bytes, last: bool = False) -> bytes:
        """The next bytes as far as they are UTF-8, or the beginning of it; the first that are not become the fault."""
        held = len(self._utf8.getstate()[0])
        try:
            self._utf8.decode(data, last)
        except UnicodeDecodeError as wrong:
            byte, at = wrong.object[wrong.start], self._at - held + wrong.start
            self._fault = f"byte 0x{byte:02X} is not UTF-8 ({wrong.reason}), at byte {at} of the stream"
            return data[: max(wrong.start - held, 0)]
        return data

    def _lines(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """The lines that are complete with the next bytes, without their ends, and the byte where each begins."""
        for piece in data.splitlines(keepends=True):
            second_half = self._after_cr and piece == b"\n"
            self._after_cr = piece.endswith(b"\r")
            self._at += len(piece)
            if second_half:
                continue  # a CR ends its line at once, for the LF may be long in coming, or never come
            self._line += piece
            if piece.endswith((b"\n", b"\r")):
                yield self._without_mark(self._at - len(self._line), bytes(self._line).rstrip(b"\r\n"))
                self._line.clear()

    def _without_mark(self, begins: int, line: bytes) -> tuple[int, bytes]:
        if begins == 0 and line.startswith(edge.BOM):
            return len(edge.BOM), line.removeprefix(edge.BOM)
        return begins, line

    def _messages(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[Message]:
        """The messages that are complete with these lines."""
        for begins, line in lines:
            if line:
                self._block.take(begins, line)
            else:
                yield from self._block.messages()
                self._block = _Block()


class _Block:
    """The lines between two blank lines."""

    def __init__(self) -> None:
        self.begins: int | None = None
        self.event: bytes | None = None
        self.data: list[bytes] = []

    def take(self, begins: int, line: bytes) -> None:
        """A field, or a comment, which is nothing."""
        if line.startswith(b":"):
            return
        if self.begins is None:
            self.begins = begins
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self.data.append(value)
        elif name == b"event":
            self.event = value

    def messages(self) -> Iterator[Message]:
        """The message of these lines, or none where there are no data."""
        if self.data and self.begins is not None:
            event = None if self.event is None else self.event.decode()
            yield Message(event, b"\n".join(self.data).decode(), self.begins)


def read(message: Message) -> Any:
    """The JSON value of a message's data, with nothing lost, or `DONE` where they are that word (white space around it
    is forgiven: servers send it).

    Raises `Refused` with the codes of `turncodec.edge.decode`. A stream is no JSON document, so that pointers are
    empty; the text says the byte where the message begins, and the place in its value.
    """
    if message.data.strip() == DONE:
        return DONE
    try:
        return edge.decode(message.data.encode(errors="surrogatepass"))
    except Refused as wrong:
        raise refused_for([_in_stream(finding, message.offset) for finding in wrong.findings]) from None


def _in_stream(finding: Finding, offset: int) -> Finding:
    place = f", at {pointer(finding.path)}" if finding.path else ""
    said = f"in the message at byte {offset} of the stream{place}: {finding.message}"
    return Finding(finding.code, (), said)


def encode(one: dict[str, Any] | Literal["[DONE]"]) -> bytes:
    """One message as UTF-8: an event of Responses (an object with a text `type`) under its name (Open Responses,
    Streaming: `event` equals the `type` of the body); a chunk of Chat without a name; or `DONE`.

    For values of `read` and of translations. Raises `Refused` (`malformed`) for a `type` with a line break, which
    would begin a line of its own, and ValueError for any other word than `DONE`.
    """
    if isinstance(one, str):
        if one != DONE:
            raise ValueError(f"{one!r:.40} is no message: an object or {DONE!r} is")
        return b"data: [DONE]\n\n"
    return _event_line(one.get("type")) + b"data: " + edge.encode(one) + b"\n\n"


def _event_line(kind: Any) -> bytes:
    if not isinstance(kind, str):
        return b""
    if "\n" in kind or "\r" in kind:
        # Left out, the line would not equal the type; no event that anyone has specified is lost by this.
        raise refused("malformed", ("type",), f"{kind!r:.60} has a line break, and cannot be the name of an event")
    return b"event: " + kind.encode() + b"\n"
