"""The JSON edge: bytes to values and values to bytes, and the proof that reading lost nothing.

Knows JSON (RFC 8259) and nothing about either format, files or records. msgspec reads and writes: it keeps integers
of any size and is strict where other readers are lenient. What it does let pass in silence is noticed here:

- *a key that stands twice*: the last one would win. If writing the value again gives the source, white space apart,
  no key was dropped; else a dropped key shows in the number of quotation marks; else the slow parse decides;
- *a number with more digits than a double keeps*: each number with a fraction or an exponent is compared with what
  became of it.

`1.50`, `1E5`, `-0`, `\\/` and `\\u00e9` are other spellings of the same value and pass. All that is wrong with a
document is found by one slow parse that makes a note where each fault stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, NoReturn

import msgspec

from turncodec.refusals import Finding, Path, raise_all

BOM = b"\xef\xbb\xbf"
OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x00\x00\xfe\xff": "UTF-32"}
UNREADABLE = (ValueError, RecursionError, msgspec.MsgspecError)
"""What reading may raise; an error of msgspec is no ValueError in every version."""
DEEP = "nested more levels deep than can be read"

encode = msgspec.json.Encoder().encode
"""A value as compact UTF-8 JSON; keys keep their order. For values of `decode` and of translations only: it writes
nan as null, and tuples as lists."""


def decode(data: bytes) -> Any:
    """The value of a JSON document, with nothing lost.

    Raises `Refused` with every reason: `duplicate_key`, `too_deep`, or `not_json` for all that is not JSON or that
    would not come back. Pointers lead to the place; where there is none (broken syntax) the message says the byte,
    line and column.
    """
    try:
        value = _decode(data)
        again = encode(value)
    except UNREADABLE as wrong:
        refuse(data, wrong)
    if not no_key_dropped(data, again):
        raise_all(faults(data))
    return value


def compact(data: bytes) -> bytes:
    """A JSON document without white space between its tokens, which stay as they are written."""
    return msgspec.json.format(data, indent=-1)


def no_key_dropped(data: bytes, again: bytes) -> bool:
    """Whether it is certain that `data` has no key twice, when `again` is its value written anew.

    False only says that a closer look is needed. The cheapest test comes first. In the last one: a string costs two
    quotation marks and one for each that it contains (unless that is written as an escape of six characters), so
    that a key that was dropped would be missing from the count.
    """
    return (
        data == again
        or (data.isascii() == again.isascii() and compact(data) == again)
        or (data.count(b'"') == again.count(b'"') and b"\\u0022" not in data)
    )


# ---------------------------------------------------------------- numbers


class DigitsLost(ValueError):
    """A number with more digits than a double keeps."""


def number(text: str) -> float:
    """A number with a fraction or an exponent. Raises `DigitsLost` where the double is another number."""
    value = float(text)
    if repr(value) != text and not is_kept(text, value):
        raise DigitsLost(text)
    return value


def is_kept(text: str, value: float) -> bool:
    """Whether a text is one of the ways to write a double: the shortest, the one with 17 digits, the whole of it."""
    try:
        exact = Decimal(text)
    except InvalidOperation:  # an exponent of nineteen digits and more
        return False
    return any(exact == Decimal(written) for written in (repr(value), f"{value:.17g}", value))


_decode = msgspec.json.Decoder(float_hook=number).decode


# ---------------------------------------------------------------- what is wrong


def refuse(data: bytes, wrong: Exception) -> NoReturn:
    """Raise `Refused` for a document that could not be read."""
    raise_all(faults(data))
    raise_all([Finding("not_json", (), str(wrong)[:200])])
    raise wrong


def faults(data: bytes) -> list[Finding]:
    """Every reason not to take a document, by an exact and slow parse; an empty list where it lost nothing."""
    try:
        return not_utf8(data) or list(notes(_SLOW.decode(data.decode())))
    except json.JSONDecodeError as wrong:
        said = wrong.msg[:1].lower() + wrong.msg[1:].removesuffix(" at")
        return [Finding("not_json", (), f"{said}, {place(wrong.doc, wrong.pos)}")]
    except RecursionError:
        return [Finding("too_deep", (), DEEP)]


def not_utf8(data: bytes) -> list[Finding]:
    """Why bytes are not the UTF-8 text of anything, or nothing."""
    if data.startswith(BOM):
        return [Finding("not_json", (), "begins with a byte-order mark")]
    if encoding := other_encoding(data):
        return [Finding("not_json", (), f"this is {encoding}, not UTF-8")]
    if not data.strip():
        return [Finding("not_json", (), "there is nothing here")]
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        where = place(data[: wrong.start].decode(), wrong.start)
        return [Finding("not_json", (), f"byte 0x{data[wrong.start]:02X} is not UTF-8 ({wrong.reason}), {where}")]
    return []


def other_encoding(data: bytes) -> str | None:
    """The encoding that the first bytes give away, where it is not UTF-8."""
    return next((name for mark, name in OTHER_ENCODINGS.items() if data.startswith(mark)), None)


def place(text: str, position: int) -> str:
    """A position in a text as a person and a program find it again."""
    before = text[:position]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return f"at byte {len(before.encode(errors='surrogatepass'))} (line {line}, column {column})"


class Note(NamedTuple):
    """Stands where a value cannot."""

    fault: str


class Twice(dict[str, Any]):
    """An object with keys that stand twice."""

    keys_twice: list[str]


def noting_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    twice = Twice(made)
    twice.keys_twice = sorted({key for key, _ in pairs if key in seen or seen.add(key)})  # type: ignore[func-returns-value]
    return twice


def noting_integer(text: str) -> int | Note:
    try:
        return int(text)
    except ValueError:
        return Note(f"an integer of {len(text.lstrip('-')):,} digits is too long to read")


def noting_number(text: str) -> float | Note:
    try:
        return number(text)
    except DigitsLost:
        return Note(f"{shown(text)} is not kept by a double; it would become {float(text)!r}")


def noting_constant(text: str) -> Note:
    return Note(f"{text} is no JSON number")


_SLOW = json.JSONDecoder(
    object_pairs_hook=noting_pairs,
    parse_int=noting_integer,
    parse_float=noting_number,
    parse_constant=noting_constant,
)


def notes(value: Any) -> Iterator[Finding]:
    """What the slow parse has noted, in the order of the document."""
    waiting: list[tuple[Any, Path]] = [(value, ())]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, Note):
            yield Finding("not_json", path, value.fault)
        elif isinstance(value, str):
            yield from surrogates(value, path)
        elif isinstance(value, list):
            waiting += [(inner, (*path, n)) for n, inner in reversed(list(enumerate(value)))]
        elif isinstance(value, dict):
            if isinstance(value, Twice):
                for key in value.keys_twice:
                    said = f"the key {key!r:.80} stands more than once in one object"
                    yield Finding("duplicate_key", (*path, writable(key)), said)
            for key in value:
                yield from surrogates(key, path)
            waiting += [(inner, (*path, writable(key))) for key, inner in reversed(value.items())]


def surrogates(text: str, path: Path) -> Iterator[Finding]:
    lone = next((char for char in text if "\ud800" <= char <= "\udfff"), None) if not text.isascii() else None
    if lone:
        yield Finding("not_json", path, f"lone surrogate U+{ord(lone):04X} cannot be written as UTF-8")


def writable(key: str) -> str:
    """A key for a pointer that can be written into a file: a lone surrogate is spelled out."""
    return key.encode(errors="backslashreplace").decode()


def shown(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:30]}... ({len(text):,} characters)"
