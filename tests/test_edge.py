"""The JSON edge: what is read comes back, and what would not is refused with its place."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turncodec import edge
from turncodec.equality import same
from turncodec.refusals import Refused, pointer

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
styles: list[dict[str, Any]] = [
    {},
    {"ensure_ascii": False},
    {"separators": (",", ":")},
    {"separators": (" ,", " : ")},
    {"indent": 1, "ensure_ascii": False},
]


def refusals(data: bytes) -> list[tuple[str, str]]:
    """The code and the pointer of every refusal of a document."""
    with pytest.raises(Refused) as caught:
        edge.decode(data)
    return [(refusal.code, refusal.pointer) for refusal in caught.value.refusals]


def message(data: bytes) -> str:
    with pytest.raises(Refused) as caught:
        edge.decode(data)
    return caught.value.refusals[0].message


class TestLaws:
    @given(json_values, st.sampled_from(styles))
    def test_reads_what_json_wrote(self, value: Any, style: dict[str, Any]) -> None:
        """A value in any style of writing is read as that very value."""
        assert same(value, edge.decode(json.dumps(value, **style).encode()))

    @given(json_values)
    def test_comes_back(self, value: Any) -> None:
        """Writing and reading gives the same value, with its keys in the same order."""
        again = edge.decode(edge.encode(value))

        assert same(value, again)
        assert json.dumps(value) == json.dumps(again)

    @given(json_values)
    def test_is_compact_utf8(self, value: Any) -> None:
        """What is written holds no white space between tokens and no escape that is not needed."""
        data = edge.encode(value)

        assert data == edge.compact(data)
        assert value == json.loads(data.decode())

    @given(st.dictionaries(text, json_values, min_size=1, max_size=4), st.sampled_from(styles), st.data())
    def test_a_key_twice_is_seen(self, value: dict[str, Any], style: dict[str, Any], data: st.DataObject) -> None:
        """An object that has one of its keys twice is refused, in any style of writing, whatever the values are."""
        key = data.draw(st.sampled_from(sorted(value)))
        other = data.draw(json_values)
        colon = style.get("separators", (", ", ": "))[1]
        entry = json.dumps(key, **style) + colon + json.dumps(other, **style)
        twice = "{" + entry + "," + json.dumps(value, **style)[1:]

        assert ("duplicate_key", pointer((key,))) in refusals(twice.encode())

    @given(st.binary(max_size=40))
    def test_any_bytes(self, data: bytes) -> None:
        """Bytes are read as what the standard library reads, or refused; nothing else is ever raised."""
        with contextlib.suppress(Refused):
            assert same(edge.decode(data), json.loads(data.decode()))

    @given(json_values, st.data())
    def test_broken_json(self, value: Any, data: st.DataObject) -> None:
        """A document with some bytes cut out or put in is read or refused; nothing else is ever raised."""
        document = bytearray(json.dumps(value).encode())
        at = data.draw(st.integers(0, len(document)))
        document[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        with contextlib.suppress(Refused):
            assert same(edge.decode(bytes(document)), json.loads(document.decode()))


class TestNumbers:
    @pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64 - 1, 2**64 + 1, -(2**63) - 1, -(2**64), 10**4000])
    def test_integers_of_any_size(self, number: int) -> None:
        """An integer keeps every digit, on the way in and on the way out."""
        assert number == edge.decode(str(number).encode())
        assert str(number).encode() == edge.encode(number)

    @pytest.mark.parametrize(
        ("spelled", "value"),
        [
            (b"1.50", 1.5),
            (b"1E5", 100000.0),
            (b"1e0", 1.0),
            (b"1.0", 1.0),
            (b"-0.0", -0.0),
            (b"0.1", 0.1),
            (b"0.10000000000000001", 0.1),
            (b"0.1000000000000000055511151231257827021181583404541015625", 0.1),
            (b"5e-324", 5e-324),
            (b"4.9406564584124654e-324", 5e-324),
            (b"1.7976931348623157e308", 1.7976931348623157e308),
            (b"0e5", 0.0),
        ],
    )
    def test_other_spellings(self, spelled: bytes, value: float) -> None:
        """Another spelling of the same double is read as that double: shorter, longer, with 17 digits, or all."""
        assert same(value, edge.decode(spelled))
        assert same([value], edge.decode(b"[ " + spelled + b" ]"))

    def test_zero_with_a_sign(self) -> None:
        """-0 is the integer 0 in another spelling; -0.0 keeps its sign."""
        assert same(0, edge.decode(b"-0"))
        assert math.copysign(1, edge.decode(b"[-0.0]")[0]) == -1

    @pytest.mark.parametrize(
        "number",
        [
            b"0.1234567890123456789012345",
            b"9007199254740993.0",
            b"1e400",
            b"-1e400",
            b"1e-400",
            b"2.5e-324",
            b"1e99999999999999999999",
            b"0." + b"0" * 400 + b"1",
        ],
    )
    def test_digits_that_would_be_lost(self, number: bytes) -> None:
        """A number that a double would change is refused at its place, with what it would have become."""
        assert refusals(b'{"a":[1,' + number + b"]}") == [("not_json", "/a/1")]
        assert "it would become" in message(number)

    def test_an_integer_too_long_to_read(self) -> None:
        """An integer of 5,000 digits is refused, not an error of Python."""
        assert refusals(b'{"n": ' + b"7" * 5000 + b"}") == [("not_json", "/n")]
        assert "5,000 digits" in message(b"7" * 5000)


class TestKeys:
    @pytest.mark.parametrize(
        ("document", "pointers"),
        [
            (b'{"a":1,"a":1}', ["/a"]),
            (b'{"a":1,"a" :2}', ["/a"]),
            (b'{"a":1,"\\u0061":2}', ["/a"]),
            (b'{"":1,"":2}', ["/"]),
            (b'{"a/b":1,"a/b":2}', ["/a~1b"]),
            (b'[{"x":{"k":[],"k":{}}},{"k":1},{"k":1,"k":1}]', ["/0/x/k", "/2/k"]),
            (b'{"a":"\\u0022\\u0022\\u0022\\u0022","a":""}', ["/a"]),
            (b'{"a":"","a":"\\u0022\\u0022\\u0022\\u0022"}', ["/a"]),
            ('{"é":1,"é":"\\u00e9"}'.encode(), ["/é"]),
            (b'{"a":1,"b":2,"a":{"c":1,"c":2},"b":3}', ["/a", "/b", "/a/c"]),
        ],
    )
    def test_twice(self, document: bytes, pointers: list[str]) -> None:
        """Every key that stands twice is named with its pointer, however it is written."""
        assert [("duplicate_key", pointer) for pointer in pointers] == refusals(document)

    def test_looks_like_one(self) -> None:
        """Texts that look like keys, and equal keys of different objects, are no key twice."""
        value = {"a": '{"a":1,"a":2}', "b": {"a": "\\"}, "c\\": '":"'}
        for style in styles:
            assert value == edge.decode(json.dumps(value, **style).encode())


class TestNotJson:
    @pytest.mark.parametrize(
        ("document", "pointer"),
        [
            (b"NaN", ""),
            (b'{"a":[Infinity]}', "/a/0"),
            (b'[1,{"b":-Infinity}]', "/1/b"),
            (b'{"a":"\\ud800"}', "/a"),
            (b'["\\udc00\\ud800"]', "/0"),
            (b'{"\\ud800":1}', ""),
        ],
    )
    def test_values_that_json_cannot_write(self, document: bytes, pointer: str) -> None:
        """NaN, the infinities and lone surrogates are refused at their pointer."""
        assert [("not_json", pointer)] == refusals(document)

    @pytest.mark.parametrize(
        "document",
        [
            *(b"", b" \n", b"{", b"[1,2", b"{'a':1}", b'{"a":1,}', b"[1,]", b"{1:2}", b'{"a" 1}', b"nul", b"1 2"),
            *(b"01", b"+1", b".5", b"1.", b"[1] // one", b'"a\nb"', b'"\\x"', b"\x00", b"[1]\x00"),
        ],
    )
    def test_broken_syntax(self, document: bytes) -> None:
        """What is not JSON is refused as that, for the whole document."""
        assert refusals(document) == [("not_json", "")]

    def test_the_place_is_told(self) -> None:
        """The message of broken syntax says the byte, and the line and column in characters."""
        assert "at byte 10 (line 2, column 4)" in message('{"é":\n1, nix}'.encode())

    @pytest.mark.parametrize(
        ("document", "said"),
        [
            (b'["a", "b\xffc"]', "byte 0xFF is not UTF-8 (invalid start byte), at byte 8 (line 1, column 9)"),
            (b'"\xed\xa0\x80"', "byte 0xED is not UTF-8"),
            (b"\xef\xbb\xbf{}", "byte-order mark"),
            ('{"a": 1}'.encode("utf-16"), "this is UTF-16, not UTF-8"),
            (b"\x00\x00\xfe\xff\x00\x00\x00\x31", "this is UTF-32, not UTF-8"),
        ],
    )
    def test_wrong_encoding(self, document: bytes, said: str) -> None:
        """Bytes that are not UTF-8, and a byte-order mark inside a record, are refused and named."""
        assert said in message(document)

    @pytest.mark.parametrize("document", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000])
    def test_nesting(self, document: bytes) -> None:
        """100,000 levels of nesting are refused; the stack holds."""
        assert refusals(document) == [("too_deep", "")]

    def test_all_at_once(self) -> None:
        """Every fault of a document that can be parsed is reported, in the order of the document."""
        found = refusals(b'{"a":NaN,"b":{"c":1,"c":1e400},"d":"\\ud800"}')

        assert found == [("not_json", "/a"), ("duplicate_key", "/b/c"), ("not_json", "/b/c"), ("not_json", "/d")]

    def test_a_fault_that_only_one_reader_sees(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where the slow parse finds nothing wrong the word of the fast one is passed on: never no refusal."""
        monkeypatch.setattr(edge, "faults", lambda _: [])

        assert message(b"nope").startswith("JSON is malformed")

    def test_refusals_can_be_written(self) -> None:
        """A pointer through a key with a lone surrogate can be written into a file."""
        with pytest.raises(Refused) as caught:
            edge.decode(b'{"\\ud800":NaN}')

        edge.encode([refusal.as_json() for refusal in caught.value.refusals])


def test_a_string_of_ten_megabytes() -> None:
    """Length is no fault."""
    value = "é" * 5_000_000

    assert value == edge.decode(edge.encode(value))
    assert value == edge.decode(json.dumps(value).encode())
