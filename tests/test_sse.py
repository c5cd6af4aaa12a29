"""Event streams: any bytes, cut anywhere, give the same messages or the same refusal."""

from __future__ import annotations

import contextlib
import gc
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, Literal, assert_type

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from turncodec.equality import same
from turncodec.refusals import Refused
from turncodec.stream.sse import DONE, Decoder, Message, encode, read

BOM = b"\xef\xbb\xbf"
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
names = text.filter(lambda name: "\n" not in name and "\r" not in name)
chunks = st.dictionaries(text.filter(lambda key: key != "type"), values, max_size=4)
events = st.builds(lambda name, rest: {"type": name, **rest}, names, chunks)

words = [
    *(b"data", b"event", b"id", b"retry", b"Data", b":", b": ", b" ", b"x", b"[DONE]", b"{}", BOM),
    *("é".encode(), "€".encode(), "😀".encode(), "\u2028".encode(), b"\x00", b"\x0b", b"\x85", b"\xff", b"\xe2\x82"),
]
ends = [b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r", b"\r\n\r\n"]
streams = st.lists(st.sampled_from(words + ends * 2 + [b"data: "] * 3), max_size=24).map(b"".join)
"""Streams made of what matters, most of them well formed for some lines, many of them not UTF-8."""

Said = tuple[list[Message], str]
"""The messages that a stream gives, and the refusal at its end."""


def heard(fragments: Iterable[bytes]) -> Said:
    decoder, messages = Decoder(), []
    try:
        for fragment in fragments:
            messages += decoder.feed(fragment)
        messages += decoder.close()
    except Refused as refused:
        return messages, str(refused)
    return messages, ""


def messages_of(*fragments: bytes) -> list[Message]:
    messages, refusal = heard(fragments)
    assert not refusal
    return messages


def data_of(stream: bytes) -> list[str]:
    return [message.data for message in messages_of(stream)]


def cut(stream: bytes, places: Iterable[int]) -> Iterator[bytes]:
    begin = 0
    for place in [*sorted(places), len(stream)]:
        yield stream[begin:place]
        begin = place


def one_by_one(stream: bytes) -> list[bytes]:
    return [stream[n : n + 1] for n in range(len(stream))]


def plainly(stream: bytes) -> list[tuple[str | None, str]]:
    """The event and the data of each message of a whole stream, read as the standard is written."""
    found: list[tuple[str | None, str]] = []
    event: str | None = None
    data = ""
    unified = stream.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for line in [*unified.split("\n"), ""]:
        name, colon, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if line == "":
            found += [(event, data[:-1])] if data else []
            event, data = None, ""
        elif colon and not name:
            continue
        elif name == "event":
            event = value
        elif name == "data":
            data += value + "\n"
    return found


def first_not_utf8(stream: bytes) -> int | None:
    try:
        stream.decode()
    except UnicodeDecodeError as wrong:
        return wrong.start
    return None


class TestLaws:
    @given(streams | st.binary(max_size=40), st.lists(st.integers(0, 60), max_size=8))
    @example(b"data: a\n\n\xff", [9])
    def test_any_cut(self, stream: bytes, places: list[int]) -> None:
        """However a stream is cut, it gives the same messages, and then the same refusal or none."""
        whole = heard([stream])

        assert whole == heard(cut(stream, (min(place, len(stream)) for place in places)))
        assert whole == heard(one_by_one(stream))

    @given(streams | st.binary(max_size=40))
    def test_the_standard(self, stream: bytes) -> None:
        """A stream in UTF-8 gives what the standard says; any other is refused at the byte that Python names."""
        messages, refusal = heard([stream])
        fault = first_not_utf8(stream)
        if fault is None:
            assert plainly(stream) == [(message.event, message.data) for message in messages]
            assert not refusal
        else:
            assert f"at byte {fault} of the stream" in refusal

    @given(streams | st.binary(max_size=40))
    def test_offsets(self, stream: bytes) -> None:
        """A stream from the offset of a message on gives that message and those after it."""
        messages, _ = heard([stream])
        for n, (_, _, begins) in enumerate(messages):
            rest, _ = heard([b"\n" + stream[begins:]])
            assert rest == [message._replace(offset=message.offset - begins + 1) for message in messages[n:]]

    @given(st.lists(events | chunks | st.just(DONE), max_size=6), st.lists(st.integers(0, 200), max_size=6))
    def test_comes_back(self, sent: list[Any], places: list[int]) -> None:
        """What is encoded comes back as it was, under its name, at the byte where it was written, and without close."""
        written = [encode(one) for one in sent]
        stream = b"".join(written)
        decoder = Decoder()
        messages = [m for part in cut(stream, (min(p, len(stream)) for p in places)) for m in decoder.feed(part)]

        assert same(sent, [read(message) for message in messages])
        assert [None if one == DONE else one.get("type") for one in sent] == [message.event for message in messages]
        assert [len(b"".join(written[:n])) for n in range(len(sent))] == [message.offset for message in messages]
        assert decoder.close() == []

    @given(events | chunks)
    def test_lines_written(self, one: dict[str, Any]) -> None:
        """A message is an event line where it has a type, a data line and a blank line; no value begins another."""
        written = encode(one)
        fields = [b"event", b"data"] if "type" in one else [b"data"]

        assert b"\r" not in written
        assert [*fields, b"", b""] == [line.partition(b": ")[0] for line in written.split(b"\n")]

    @given(st.lists(streams | st.binary(max_size=20), max_size=4))
    def test_any_bytes(self, fragments: list[bytes]) -> None:
        """Bytes are read or refused; nothing else is ever raised, by the decoder or by the reader of its messages."""
        for message in heard(fragments)[0]:
            with contextlib.suppress(Refused):
                read(message)


class TestLines:
    @pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
    def test_ends(self, end: bytes) -> None:
        """LF, CRLF and CR end a line, and nothing else does."""
        stream = end.join([b"event: e", "data: a\x0b\x0c\x1c\x85\u2028b".encode(), b"", b"data: c", b"", b""])

        assert messages_of(stream) == [
            Message("e", "a\x0b\x0c\x1c\x85\u2028b", 0),
            Message(None, "c", stream.index(b"data: c")),
        ]

    def test_mixed_ends(self) -> None:
        """The ends of lines may differ in one stream; CR LF is one end, LF CR are two."""
        assert data_of(b"data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\rdata: e\r\r\n") == ["a\nb\nc", "d", "e"]

    @pytest.mark.parametrize("blank", [b"\n", b"\r", b"\r\n"])
    @pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
    def test_at_once(self, end: bytes, blank: bytes) -> None:
        """A message is given with the byte that completes its blank line: for CR LF that is the CR."""
        decoder = Decoder()
        stream = b"data: a" + end + blank
        given = [len(decoder.feed(byte)) for byte in one_by_one(stream)]
        if end == b"\r" and blank == b"\n":
            assert sum(given) == 0  # these two are one end
        else:
            assert given.index(1) == len(b"data: a" + end)
            assert sum(given) == 1
        assert len(decoder.feed(b"data: b\n\n")) == 1

    @pytest.mark.parametrize("fragments", [(b"\r", b"\n"), (b"\r", b"", b"\n"), (b"\r\n",)])
    def test_cr_and_lf_apart(self, fragments: tuple[bytes, ...]) -> None:
        """A LF belongs to the CR before it, whatever lies between two fragments."""
        assert messages_of(b"data: a", *fragments, b"data: b", *fragments, *fragments) == [Message(None, "a\nb", 0)]

    @pytest.mark.parametrize("fragments", [[BOM + b"data: a\n\n"], [b"\xef", b"\xbb", b"\xbfdata: a\n\n"]])
    def test_byte_order_mark(self, fragments: list[bytes]) -> None:
        """The mark at the very beginning is dropped; it counts in the offsets."""
        assert messages_of(*fragments, b"data: b\n\n") == [Message(None, "a", 3), Message(None, "b", 12)]

    @pytest.mark.parametrize("before", [BOM, b"\n", b": hello\n"])
    def test_byte_order_mark_elsewhere(self, before: bytes) -> None:
        """Elsewhere, even right behind another, the mark is a character of its line."""
        assert data_of(before + BOM + b"data: a\n\ndata: " + BOM + b"b\n\n") == ["\ufeffb"]

    def test_nothing(self) -> None:
        """No bytes, a lone mark and blank lines are streams without messages."""
        assert [] == messages_of() == messages_of(b"") == messages_of(BOM) == messages_of(b"\n\r\n\r\r\n")


class TestFields:
    @pytest.mark.parametrize(
        ("block", "event", "data"),
        [
            (b"data: a\n", None, "a"),
            (b"data:a\n", None, "a"),
            (b"data:  a \n", None, " a "),
            (b"data:\ta\n", None, "\ta"),
            (b"data: a: b\n", None, "a: b"),
            (b"data::\n", None, ":"),
            (b"data\n", None, ""),
            (b"data:\n", None, ""),
            (b"data\ndata\n", None, "\n"),
            (b"data: a\ndata:\ndata: b\n", None, "a\n\nb"),
            (b"data: +1\ndata: 2\ndata: 3\n", None, "+1\n2\n3"),
            (b"event: e\ndata: a\n", "e", "a"),
            (b"data: a\nevent: e\n", "e", "a"),
            (b"event: e\nevent: f\ndata: a\n", "f", "a"),
            (b"event\ndata: a\n", "", "a"),
            ("event: é\ndata: 😀\n".encode(), "é", "😀"),
            (b"data: a\n: comment\n:data: b\n:\ndata: c\n", None, "a\nc"),
            (b"data: a\nid: 1\nretry: 10\nid\n", None, "a"),
            (b"data: a\nDATA: b\n data: c\ndata : d\nnone\ndatas: e\nEvent: e\n", None, "a"),
        ],
    )
    def test_block(self, block: bytes, event: str | None, data: str) -> None:
        """What the lines of one message mean."""
        assert messages_of(block + b"\n") == [Message(event, data, 0)]

    @pytest.mark.parametrize(
        "block", [b"event: e\n", b": data: a\n", b"id: 1\n", b"retry: 1\n", b"dat: a\n", b"event\n"]
    )
    def test_no_data(self, block: bytes) -> None:
        """Without a data line there is no message, and nothing is left over for the next one."""
        assert messages_of(block + b"\ndata: a\n\n") == [Message(None, "a", len(block) + 1)]

    def test_examples_of_the_standard(self) -> None:
        """The streams that the standard explains; its last message has no blank line and is given all the same."""
        assert data_of(b"data: YHOO\ndata: +2\ndata: 10\n\n") == ["YHOO\n+2\n10"]
        assert data_of(
            b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
        ) == [
            "first event",
            "second event",
            " third event",
        ]
        assert data_of(b"data\n\ndata\ndata\n\ndata:") == ["", "\n", ""]
        assert data_of(b"data:test\n\ndata: test\n\n") == ["test", "test"]

    @pytest.mark.parametrize(
        ("before", "offset"),
        [(b"", 0), (b": ping\n", 7), (b"\r\n\n", 3), ("data: é\n\n".encode(), 10), (b": a\r\n\r\n: b\r\n", 12)],
    )
    @pytest.mark.parametrize("first", [b"event: e\n", b"data: x\n", b"id: 1\n", b"other\n"])
    def test_offset(self, before: bytes, offset: int, first: bytes) -> None:
        """A message begins with its first field, in bytes; comments and blank lines before it are not of it."""
        assert messages_of(before + first + b": c\ndata: a\n\n")[-1].offset == offset


class TestClose:
    @pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n", b"\nevent: e", b"\n: bye", b"\nda"])
    def test_the_blank_line_is_missing(self, end: bytes) -> None:
        """The last message is given although its blank line, or the end of its line, never came; and only once."""
        decoder = Decoder()

        assert decoder.feed(b"data: [DONE]" + end) == []
        assert decoder.close() == [Message("e" if b"event" in end else None, DONE, 0)]
        assert decoder.close() == []

    def test_nothing_is_left(self) -> None:
        """Where the blank line came there is nothing left to give."""
        decoder = Decoder()
        decoder.feed(b"data: a\n\nevent: e\n: bye")

        assert decoder.close() == []

    def test_a_message_that_was_cut_off(self) -> None:
        """Half a message is given as it is, so that reading it is refused: it is not lost without a word."""
        (message,) = messages_of(b'data: {"a": [1, 2')

        assert message.data == '{"a": [1, 2'
        with pytest.raises(Refused, match="in the message at byte 0 of the stream"):
            read(message)


NOT_UTF8 = [
    (b"\xff", "0xFF"),
    (b"\x80", "0x80"),
    (b"\xc3(", "0xC3"),
    (b"\xe2\x82(", "0xE2"),
    (b"\xc0\xaf", "0xC0"),
    (b"\xed\xa0\x80", "0xED"),
    (b"\xf0\x9f\x98(", "0xF0"),
    (b"\xf4\x90\x80\x80", "0xF4"),
]


class TestNotUtf8:
    @pytest.mark.parametrize(("wrong", "byte"), NOT_UTF8)
    @pytest.mark.parametrize("before", ["", "data: ", "data: é€😀", ": ", "data: a\r\n", "data: a\r\n\r\nid: "])
    def test_the_byte_is_told(self, wrong: bytes, byte: str, before: str) -> None:
        """Wherever the fault stands and wherever the stream is cut, the refusal says the byte that is wrong."""
        at = len(before.encode())
        stream = before.encode() + wrong + b"\n\ndata: after\n\n"
        for first in range(len(stream)):
            for second in range(first, len(stream), 3):
                messages, refusal = heard(cut(stream, [first, second]))
                assert f"byte {byte} is not UTF-8" in refusal
                assert f"at byte {at} of the stream" in refusal
                assert [message.data for message in messages] == ["a"] * before.count("\r\n\r\n")

    @pytest.mark.parametrize("part", [b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xef\xbb"])
    def test_ends_in_a_character(self, part: bytes) -> None:
        """A stream that ends in the middle of a character is refused when it is closed, not before."""
        decoder = Decoder()
        assert decoder.feed(b"data: a\n\ndata: b" + part) == [Message(None, "a", 0)]

        with pytest.raises(Refused, match=f"0x{part[0]:02X} .*unexpected end of data.*, at byte 16 of the stream"):
            decoder.close()

    def test_as_soon_as_it_is_known(self) -> None:
        """A fault is told in the call that brings it, before its line is complete."""
        decoder = Decoder()
        assert decoder.feed(b"data: \xe2") == []

        with pytest.raises(Refused, match="at byte 6 of the stream"):
            decoder.feed(b"(")

    def test_messages_before_it(self) -> None:
        """Messages that were complete before the fault are given; the refusal comes with the next call."""
        decoder = Decoder()
        assert decoder.feed(b"data: a\n\ndata: \xff\n\ndata: b\n\n") == [Message(None, "a", 0)]

        with pytest.raises(Refused, match="at byte 15 of the stream"):
            decoder.close()

    def test_stays_refused(self) -> None:
        """After a refusal every call raises the same one: nothing can be heard past the fault."""
        decoder = Decoder()
        decoder.feed(b"data: \xe2")
        calls: list[Callable[[], object]] = [
            lambda: decoder.feed(b"("),
            decoder.close,
            lambda: decoder.feed(b"data: a\n\n"),
            lambda: decoder.feed(b"\xff"),
            decoder.close,
            lambda: decoder.feed(b""),
            decoder.close,
        ]
        said = []
        for call in calls:
            with pytest.raises(Refused) as caught:
                call()
            said.append(caught.value.refusals)

        assert len(set(said)) == 1
        assert [(refusal.code, refusal.pointer, refusal.allowable) for refusal in said[0]] == [("not_json", "", False)]

    def test_decoders_share_nothing(self) -> None:
        """Two streams at the same time do not see each other."""
        one, other = Decoder(), Decoder()
        one.feed(b"data: a\nevent: \xe2\x82")
        other.feed(b"data: b\r")

        assert other.feed(b"\n\n") == [Message(None, "b", 0)]
        assert one.feed(b"\xac\n\n") == [Message("€", "a", 0)]


class TestEncode:
    @pytest.mark.parametrize(
        ("one", "written"),
        [
            (DONE, b"data: [DONE]\n\n"),
            ({"type": "error", "code": None}, b'event: error\ndata: {"type":"error","code":null}\n\n'),
            ({"id": "c", "choices": []}, b'data: {"id":"c","choices":[]}\n\n'),
            ({"type": None}, b'data: {"type":null}\n\n'),
            ({"type": 1}, b'data: {"type":1}\n\n'),
            ({"type": "é"}, 'event: é\ndata: {"type":"é"}\n\n'.encode()),
            ({"type": ""}, b'event: \ndata: {"type":""}\n\n'),
            ({"a": "1\n2\r3\u2028"}, 'data: {"a":"1\\n2\\r3\u2028"}\n\n'.encode()),
            ({}, b"data: {}\n\n"),
        ],
    )
    def test_written(self, one: Any, written: bytes) -> None:
        """The bytes of a message."""
        assert encode(one) == written

    @pytest.mark.parametrize("kind", ["a\ndata: {}", "a\r", "\r\n\r\ndata: [DONE]", "\n"])
    def test_a_type_with_a_line_break(self, kind: str) -> None:
        """A type that would begin a line of its own is refused where it stands."""
        with pytest.raises(Refused) as caught:
            encode({"type": kind})

        assert [(refusal.code, refusal.pointer) for refusal in caught.value.refusals] == [("malformed", "/type")]

    def test_other_words(self) -> None:
        """A text that is not the last word is no message."""
        with pytest.raises(ValueError, match="'DONE' is no message"):
            encode("DONE")  # type: ignore[arg-type]


class TestRead:
    @pytest.mark.parametrize("data", ["[DONE]", "[DONE] ", "\t[DONE]\n"])
    def test_done(self, data: str) -> None:
        """The last word is known with white space around it."""
        assert read(Message(None, data, 0)) == DONE

    @pytest.mark.parametrize("data", ["[done]", "[DONE", "DONE", "[ DONE ]", "[DONE][DONE]", "", " "])
    def test_not_done(self, data: str) -> None:
        """What only looks like the last word is no JSON."""
        with pytest.raises(Refused):
            read(Message(None, data, 0))

    def test_value(self) -> None:
        """JSON over several lines is one value, exactly: integers of any size, keys in their order."""
        (message,) = messages_of(b'data: {"b": 1,\ndata:  "a": 123456789012345678901234567890}\n\n')

        assert json.dumps(read(message)) == '{"b": 1, "a": 123456789012345678901234567890}'

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            ('{"x": [{"a": 1, "a": 2}]}', [("duplicate_key", "of the stream, at /x/0/a: the key 'a' stands")]),
            ('{"n": NaN}', [("not_json", "of the stream, at /n: NaN is no JSON number")]),
            ('["\\ud800"]', [("not_json", "of the stream, at /0: lone surrogate U+D800")]),
            ("{", [("not_json", "of the stream: expecting property name")]),
            ("[DONE]x", [("not_json", "of the stream: expecting value, at byte 1 ")]),
            ("\ud800", [("not_json", "of the stream: byte 0xED is not UTF-8")]),
            ("[" * 100_000, [("too_deep", "of the stream: nested more")]),
            ("[NaN,1e400]", [("not_json", "of the stream, at /0: NaN"), ("not_json", "of the stream, at /1: 1e400")]),
        ],
        ids=lambda value: repr(value)[:40],
    )
    def test_refused(self, data: str, said: list[tuple[str, str]]) -> None:
        """What JSON is refused for, each with the byte of its message, and the place in its value in words."""
        with pytest.raises(Refused) as caught:
            read(Message(None, data, 1234))

        assert len(said) == len(caught.value.refusals)
        for (code, words), refusal in zip(said, caught.value.refusals, strict=True):
            assert (code, "") == (refusal.code, refusal.pointer)
            assert refusal.message.startswith("in the message at byte 1234 " + words)


def copied(fragments: list[bytes]) -> int:
    """How many bytes of memory a decoder asks for, call by call, above what it held before: a copy counts whole."""
    decoder, total = Decoder(), 0
    gc.collect()
    tracemalloc.start()
    try:
        for fragment in fragments:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            decoder.feed(fragment)
            total += tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    return total


def scanned(fragments: list[bytes]) -> int:
    """How many bytes a decoder looks at, where each method of bytes looks at all of them."""
    decoder, total = Decoder(), 0

    def called(_: FrameType | None, event: str, function: Any) -> None:
        nonlocal total
        whole = getattr(function, "__self__", None)
        if event == "c_call" and isinstance(whole, bytes | bytearray):
            total += len(whole)

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        for fragment in fragments:
            decoder.feed(fragment)
    finally:
        sys.setprofile(before)
    return total


@pytest.mark.parametrize("work", [copied, scanned])
@pytest.mark.parametrize(
    "fragments",
    [
        lambda n: one_by_one(b"data: " + b"x" * n * 20),
        lambda n: one_by_one(b"data: " + "é".encode() * n * 10),
        lambda n: [b"data: some words that are not so few\n"] * n * 10,
        lambda n: [b"data\r"] * n * 10,
        lambda n: [b": " + b"x" * 100] * n * 10,
    ],
    ids=["a long line", "a long line of two bytes each", "many data lines", "many empty ones", "a long comment"],
)
def test_linear(fragments: Callable[[int], list[bytes]], work: Callable[[list[bytes]], int]) -> None:
    """Twice the stream is twice the work, however small the fragments: what is held is not gone over again."""
    assert work(fragments(1000)) < 2.6 * work(fragments(500))


def test_types() -> None:
    """What a caller sees of it with a checker of types."""
    decoder = Decoder()
    assert_type(decoder.feed(encode({"type": "error"})), list[Message])
    assert_type(decoder.close(), list[Message])
    assert_type(encode(DONE), bytes)
    assert_type(DONE, Literal["[DONE]"])
    event, data, offset = Message(None, "1", 0)
    assert_type(event, str | None)
    assert_type(data, str)
    assert_type(offset, int)
