"""The gate: may this stored call be replayed? Mapping a call and executing it are two questions; this is the second.

This room knows what a function call, its definition and its result look like in either format, and how JSON Schema
is checked with bounded work. It knows nothing about transcripts and never executes, sends or translates anything:
values in, one word out. The words are `GATE_WORDS`; every doubt ends in a word that is not `ok`.

A call that passes is well formed, no more. It is no permission to execute: `rm -rf /` fits `{"type": "string"}`, and
whoever runs tools still has to decide who asked, for what, and whether to ask somebody first.

Three things are done differently from a plain call of the `jsonschema` package, which is imported only when an
argument has to be checked:

- nothing reaches the network: the registry is empty, and a `$ref` that leads nowhere is no `ok`;
- work is counted and limited, so that neither a schema nor arguments can keep the gate busy (see "bounded work");
- patterns are not run by Python's `re`, whose time can double with each character, but by walking the set of
  reachable positions, and they mean what the specification says: ECMA 262 (see "patterns").

What cannot be checked so lets nothing pass: a schema of more than 200,000 characters, a draft within another draft,
`patternProperties` together with `unevaluatedProperties` (the package would run the patterns), and patterns with back
references, look behinds, atomic groups, flags, or what Python's parser does not know (`\\p{L}`).
"""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from turncodec.equality import DEEPEST, is_utf8
from turncodec.glance import is_plain_content

Json = Any

GATE_WORDS: dict[str, str] = {
    "namespaced": "It belongs to one provider: its type is missing, no string, or has a colon, or it has a namespace.",
    "not_function_call": "It is something else than a function call.",
    "status": "It is not completed. Only `completed` is; a status that is absent or null is not.",
    "unknown_function": "No function of this name is among the tools.",
    "not_allowed": "The function is among the tools, but not allowed.",
    "arguments_type": "The arguments are not a string.",
    "arguments_size": "The arguments are longer than allowed.",
    "arguments_parse": "The arguments are not JSON that every reader reads alike.",
    "arguments_schema": "The arguments do not fit the schema of the function, or nobody can say that they do.",
    "call_id": "The call has no id that a result could name.",
    "output": "The output is neither a string nor a list of text parts of the call's format.",
    "ok": "The call is well formed. That is no permission to execute it.",
}
"""What each word means, in the order of the tests. `call_id` and `output` are said by `ToolGate.answer` alone."""

NO_PARAMETERS: dict[str, Json] = {"type": "object", "properties": {}, "additionalProperties": False}
"""What a function without `parameters` takes: `{}` and nothing else. ("Omitting `parameters` defines a function with
an empty parameter list", Chat API reference, `FunctionDefinition`.)"""

LARGEST_SCHEMA = 200_000
"""Characters of the largest schema that is looked at."""

LONGEST_INTEGER = 4_300
"""Digits of the longest integer in arguments; Python reads no longer ones unless told to."""


def replay_gate(item: Json, schema: Json) -> str:
    """Whether a stored Responses item may be replayed, as one word of `GATE_WORDS`.

    `item` is a `function_call` item, `schema` the JSON Schema of its arguments. The tests are made in this order, and
    the first that fails names the word: `namespaced` (a type that is missing, no string, or has a colon; or a
    `namespace` beside the type), `not_function_call`, `status` (anything but `"completed"`), `arguments_type`,
    `arguments_parse`, `arguments_schema`; else `ok`, which is no permission to execute (see this module).

    `schema` is an object, `True` (anything) or `False` (nothing), in draft 2020-12 unless its `$schema` names another
    draft that `jsonschema` knows; `None` stands for a function without parameters (`NO_PARAMETERS`). `format` is an
    annotation, as the specification has it. A schema that is none, a `$schema` nobody knows, a `$ref` that cannot be
    resolved without the network, a pattern that cannot be matched in bounded time, and a check that costs too much
    all give `arguments_schema`.

    Never raises: any value whatever gives a word. (Open Responses 2026-04-24, "Items" and their states, "Extending";
    JSON Schema 2020-12; RFC 8259.)
    """
    item = _plain(item)
    return _envelope(item) or _arguments(item.get("arguments"), _canonical(schema))


class NotAnswerable(ValueError):
    """Raised where a call must not get a result; `word` says why and is a key of `GATE_WORDS`."""

    def __init__(self, word: str) -> None:
        self.word = word
        super().__init__(word)

    def __str__(self) -> str:
        return f"{self.word}: {GATE_WORDS[self.word]}"


class ToolGate:
    """The gate of one request: its tools, those of them that are allowed, and how long arguments may be.

    `tools` is the list of tool definitions of a Chat request (`{"type": "function", "function": {...}}`) or of a
    Responses request (`{"type": "function", "name": ...}`), or None. Tools of other types are no functions and are
    passed over.

    `allowed` is an iterable of function names or the `tool_choice` of a request in either format: None, `"auto"` and
    `"required"` allow every tool, `"none"` allows none, a function allows itself, `allowed_tools` what it lists (with
    mode `none`: nothing), and any other object no function.

    What is given is read once; changing it later changes nothing. Raises ValueError for a definition of a function
    without a name or with a name that was there before, and for an `allowed` that is none of the above.
    """

    def __init__(self, tools: Iterable[Json] | None, allowed: Json = None, max_argument_bytes: int = 1_000_000) -> None:
        self._schemas = _schemas_by_name(tools or ())
        self._allowed = frozenset(self._schemas) if allowed is None else _allowed_names(_plain(allowed), self._schemas)
        self._max_argument_bytes = max_argument_bytes

    def check(self, call: Json) -> str:
        """Whether a call may be replayed, as one word of `GATE_WORDS`.

        `call` is a Chat tool call (`{"id", "type": "function", "function": {"name", "arguments"}}`) or a Responses
        `function_call` item. The tests are those of `replay_gate` in their order, and three more on the way:
        `unknown_function` and `not_allowed` after the status, `arguments_size` (bytes of UTF-8) after
        `arguments_type`, so that nothing is parsed that is too long.

        A Chat call has no status: a whole call in a stored message counts as completed. Whoever has the completion
        must not ask about calls that its `finish_reason` (`length`, `content_filter`) may have cut. A Chat call
        without a type is `namespaced`, like any other: mapping forgives what executing does not.

        Never raises. `ok` is no permission to execute.
        """
        return self._word(_as_item(_plain(call)))

    def answer(self, call: Json, output: Json) -> dict[str, Json]:
        """The result of a call: what the tool gave, addressed to the very id of the call.

        A Responses item gets `{"type": "function_call_output", "call_id", "output"}`, a Chat call
        `{"role": "tool", "tool_call_id", "content"}`. `output` is a string or a list, not empty, of text parts:
        `input_text` parts for an item, `text` parts for a Chat call.

        The call is checked again. Raises `NotAnswerable` with the word of `check` where that is not `ok`, with
        `call_id` where the call has no id, and with `output` where the output does not fit the format.
        """
        call = _plain(call)
        word = self._word(_as_item(call))
        if word == "ok":
            word = _answer_fault(call, output)
        if word != "ok":
            raise NotAnswerable(word)
        content = output if type(output) is str else [dict(part) for part in output]
        if _is_chat(call):
            return {"role": "tool", "tool_call_id": call["id"], "content": content}
        return {"type": "function_call_output", "call_id": call["call_id"], "output": content}

    def _word(self, item: Json) -> str:
        fault = _envelope(item)
        if fault:
            return fault
        name = item.get("name")
        if type(name) is not str or name not in self._schemas:
            return "unknown_function"
        if name not in self._allowed:
            return "not_allowed"
        return _arguments(item.get("arguments"), self._schemas[name], self._max_argument_bytes)


# ---------------------------------------------------------------- calls and results


def _plain(value: Json) -> Json:
    """Objects of client libraries (anything with `model_dump`) as the dicts they were made from."""
    if type(value) is dict:
        return value
    try:
        return value.model_dump(mode="json", exclude_unset=True)
    except Exception:  # no such object: what it is instead is seen by whoever looks at it
        return value


def _is_chat(call: Json) -> bool:
    return type(call) is dict and _text_at(call, "type") == "function"


def _as_item(call: Json) -> Json:
    """A Chat tool call as the item it stands for, completed since it is whole; anything else as it is."""
    if not _is_chat(call):
        return call
    function = call.get("function")
    inner = function if type(function) is dict else {}
    return {
        "type": "function_call",
        "call_id": call.get("id"),
        "name": inner.get("name"),
        "arguments": inner.get("arguments"),
        "status": "completed",
    }


def _envelope(item: Json) -> str:
    """The word for what is wrong around the arguments of an item, or nothing."""
    kind = _text_at(item, "type")
    if kind is None or ":" in kind or (kind == "function_call" and item.get("namespace") is not None):
        return "namespaced"
    if kind != "function_call":
        return "not_function_call"
    return "" if _text_at(item, "status") == "completed" else "status"


def _answer_fault(call: dict[str, Json], output: Json) -> str:
    """The word for what keeps a call that passed from being answered so, or `ok`."""
    key, part = ("id", "text") if _is_chat(call) else ("call_id", "input_text")
    call_id = _text_at(call, key)
    if not call_id or not is_utf8(call_id):
        return "call_id"
    return "ok" if is_plain_content(output, part) and output != [] else "output"


def _text_at(value: Json, key: str) -> str | None:
    """The string under a key of an object, or None."""
    found = value.get(key) if type(value) is dict else None
    return found if type(found) is str else None


# ---------------------------------------------------------------- tools and tool_choice


def _schemas_by_name(tools: Iterable[Json]) -> dict[str, str | None]:
    """The canonical schema of each function among tool definitions."""
    schemas: dict[str, str | None] = {}
    for tool in map(_plain, tools):
        if _text_at(tool, "type") is None:
            raise ValueError(f"a tool is an object with a type, not {tool!r:.80}")
        if tool["type"] == "function":
            function = tool.get("function", tool)
            name = _function_name(tool)
            if name in schemas:
                raise ValueError(f"two tools have the name {name!r}")
            schemas[name] = _canonical(function.get("parameters"))
    return schemas


def _function_name(tool: dict[str, Json]) -> str:
    """The name in a definition or a choice of a function, nested (Chat) or flat (Responses)."""
    name = _text_at(tool.get("function", tool), "name")
    if name is None or ("function" in tool and "name" in tool):
        raise ValueError(f"a function has one name, {tool!r:.80} has not")
    return name


def _allowed_names(allowed: Json, names: Iterable[str]) -> frozenset[str]:
    """The names that an allowlist or a `tool_choice` leaves of all names."""
    if type(allowed) is str and allowed in ("auto", "required", "none"):
        return frozenset(() if allowed == "none" else names)
    if type(allowed) is dict:
        return frozenset(_chosen(allowed))
    listed: list[Any] = list(allowed) if isinstance(allowed, Iterable) and type(allowed) is not str else [None]
    if any(type(name) is not str for name in listed):
        raise ValueError(f"allowed is a list of names or a tool_choice, not {allowed!r:.80}")
    return frozenset(listed)


def _chosen(choice: dict[str, Json]) -> Iterator[str]:
    """The functions that a `tool_choice` object names."""
    kind = choice.get("type")
    if kind == "function":
        yield _function_name(choice)
    elif kind == "allowed_tools":
        inner = choice.get("allowed_tools", choice)
        if type(inner) is not dict or type(inner.get("tools")) is not list:
            raise ValueError(f"allowed_tools lists tools, {choice!r:.80} does not")
        if inner.get("mode") != "none":
            yield from (_function_name(tool) for tool in inner["tools"] if _text_at(tool, "type") == "function")


# ---------------------------------------------------------------- arguments


def _arguments(arguments: Json, schema: str | None, max_bytes: int | None = None) -> str:
    """The word for the arguments of a call against a canonical schema."""
    if type(arguments) is not str:
        return "arguments_type"
    if max_bytes is not None and _is_longer(arguments, max_bytes):
        return "arguments_size"
    try:
        value = _parse(arguments)
    except (ValueError, RecursionError):
        return "arguments_parse"
    return "ok" if schema is not None and _checker(schema)(value) else "arguments_schema"


def _is_longer(text: str, most: int) -> bool:
    """Whether a text has more bytes of UTF-8; a lone surrogate, which has none, counts three."""
    return len(text) > most or (4 * len(text) > most and len(text.encode("utf-8", "surrogatepass")) > most)


def _parse(text: str) -> Json:
    """JSON that every reader reads alike. Raises ValueError or RecursionError for everything else.

    Refused beside what is no JSON: a key that comes twice (one reader takes the first, another the last: two calls),
    NaN and infinities, also as `1e400`, lone surrogates, more than 200 levels, integers of more than 4,300 digits.
    (RFC 8259, sections 4, 6, 8.2 and 9.)
    """
    value = _DECODER.decode(text)
    if not _is_json(value, len(text)):
        raise ValueError("something that JSON cannot write")
    return value


def _is_json(value: Json, most: int) -> bool:
    """Whether a value is JSON, with at most so many values in it, none of them below 200 levels.

    `json_faults` also says where a fault is, and pays for it with memory for each value and level.
    """
    level = [value]
    for _ in range(DEEPEST):
        most -= len(level)
        if most < 0 or not all(map(_is_json_alone, level)):
            return False
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return True
    return False


def _is_json_alone(value: Json) -> bool:
    """The same for a value without those inside it."""
    kind = type(value)
    if kind is str:
        return is_utf8(value)
    if kind is dict:
        return all(type(key) is str and is_utf8(key) for key in value)
    if kind is float:
        return math.isfinite(value)
    return value is None or kind in (bool, int, list)


def _inside(value: Json) -> Iterable[Json]:
    kind = type(value)
    return value.values() if kind is dict else value if kind is list else ()


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key comes twice")
    return value


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_INTEGER:
        raise ValueError("an integer is too long")
    return int(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer)


# ---------------------------------------------------------------- schemas


def _canonical(schema: Json) -> str | None:
    """The text that stands for a schema in the cache, or None for a value that is no schema by its looks."""
    if schema is None:
        schema = NO_PARAMETERS
    if type(schema) not in (dict, bool) or not _is_json(schema, LARGEST_SCHEMA):
        return None
    try:
        text = json.dumps(schema, sort_keys=True, separators=(",", ":"))
    except ValueError:  # an integer too long to be written
        return None
    return text if len(text) <= LARGEST_SCHEMA else None


@lru_cache(maxsize=256)
def _checker(canonical: str) -> Callable[[Json], bool]:
    """Whether a value fits a schema: one validator for each distinct schema, itself checked once."""
    try:
        return _build(canonical)
    except Exception:  # a schema that cannot be used, whatever the reason, lets nothing pass
        return lambda _: False


def _build(canonical: str) -> Callable[[Json], bool]:
    """The checker of a schema. Raises an exception for a schema that is none, or cannot be checked in bounded time."""
    from referencing import Registry

    if '"unevaluatedProperties":' in canonical and '"patternProperties":' in canonical:
        raise ValueError("where the two meet, jsonschema runs the patterns itself")
    schema = json.loads(canonical)
    dialect = _dialect_of(schema)
    validator_class = _bounded(dialect)
    metaschema = validator_class(dialect.META_SCHEMA, registry=Registry(), format_checker=_pattern_checker())
    if not _fits(metaschema, schema, _REFERENCE):
        raise ValueError("not a schema")
    validator = validator_class(schema, registry=Registry())
    reference = len(canonical) // 4 if _ANCHORED.search(canonical) else _REFERENCE
    return lambda value: _fits(validator, value, reference)


def _pattern_checker() -> Any:
    """What the format `regex` of the metaschemas means here: a pattern that can be matched in bounded time."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    checker.checks("regex")(lambda source: type(source) is not str or bool(_pattern(source)))
    return checker


def _dialect_of(schema: Json) -> Any:
    """The validator class for the draft that a schema names, 2020-12 where it names none."""
    from jsonschema.validators import Draft202012Validator, validator_for

    if type(schema) is not dict or "$schema" not in schema:
        return Draft202012Validator
    nothing: Any = None
    dialect = validator_for(schema, default=nothing)
    if dialect is None:
        raise ValueError(f"nobody knows the dialect {schema['$schema']!r:.80}")
    return dialect


# ---------------------------------------------------------------- bounded work
#
# A step is about a microsecond. Each keyword of a schema costs the size of its own value times that of the value it
# is applied to, which is what its loops, its comparisons and the text of its error can cost at most. That also ends
# what grows otherwise: `$ref`s that double at each level, and arguments made to be slow.

STEPS = 5_000_000
"""Steps of work that checking one value may cost; some seconds. What costs more is not said to fit."""

_SUBSCHEMA = 10
_REFERENCE = 10
_ANCHORED = re.compile(r'"(\$?id|\$(a|dynamicA|recursiveA)nchor)":["t]')
"""A schema with ids or anchors: `referencing` may search the whole of it for each `$ref`."""
_UNEVALUATED = 2_000
"""Price of each member under `unevaluatedItems` and `unevaluatedProperties`, which compare members one by one."""


class _TooMuch(Exception):
    """The work of a check is used up."""


class _Work:
    """What one check may still cost, and the size of each container in the value that is checked."""

    __slots__ = ("left", "reference", "sizes")

    def __init__(self, reference: int) -> None:
        self.left = STEPS
        self.reference = reference
        self.sizes: dict[int, int] = {}

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise _TooMuch

    def measure(self, value: Json) -> int:
        """The number of values in a value; long strings count more."""
        kind = type(value)
        if kind is str:
            return 1 + len(value) // 64
        if kind is dict:
            size = len(value) + sum(map(self.measure, value)) + sum(map(self.measure, value.values()))
        elif kind is list:
            size = 1 + sum(map(self.measure, value))
        else:
            return 1
        self.sizes[id(value)] = size
        return size

    def size(self, value: Json) -> int:
        return self.sizes.get(id(value), 1) if type(value) is not str else 1 + len(value) // 64


_WORK: ContextVar[_Work] = ContextVar("work")


def _fits(validator: Any, value: Json, reference: int) -> bool:
    """Whether a value is valid; no is also the answer to a check that fails or costs too much."""
    work = _Work(reference)
    token = _WORK.set(work)
    try:
        work.measure(value)
        return bool(validator.is_valid(value))
    except Exception:  # an unresolvable reference, endless recursion, too much work, a fault of the checker
        return False
    finally:
        _WORK.reset(token)


@cache
def _bounded(dialect: Any) -> Any:
    """A draft's validator class whose every keyword costs steps, with our own where the package's are unbounded."""
    from jsonschema.validators import extend

    keywords = dialect.VALIDATORS | {name: own for name, own in _KEYWORDS.items() if name in dialect.VALIDATORS}
    priced = {name: _priced(name, keyword) for name, keyword in keywords.items()}
    bounded: Any = extend(dialect, priced)  # type: ignore[no-untyped-call]
    evolve = bounded.evolve

    def evolve_bounded(self: Any, **changes: Any) -> Any:
        """The validator of a subschema. A `$schema` in it would lead back to the class without bounds."""
        _WORK.get().spend(_SUBSCHEMA)
        schema = changes.setdefault("schema", self.schema)
        if type(schema) is dict and "$schema" in schema:
            if _dialect_of(schema) is not dialect:
                raise ValueError("one draft within another")
            changes["schema"] = {key: value for key, value in schema.items() if key != "$schema"}
        return evolve(self, **changes)

    bounded.evolve = evolve_bounded
    return bounded


Keyword = Callable[[Any, Json, Json, Json], Iterator[Any] | None]
"""How `jsonschema` calls a keyword: validator, value of the keyword, instance, schema; it yields errors."""


def _priced(name: str, keyword: Keyword) -> Keyword:
    """A keyword that costs steps."""
    is_reference = name.endswith(("Ref", "$ref"))
    is_slow = name.startswith("unevaluated")

    def priced(validator: Any, value: Json, instance: Json, schema: Json) -> Iterator[Any] | None:
        work = _WORK.get()
        work.spend((1 + _length(value)) * (1 + work.size(instance) // 8))
        if is_reference:
            work.spend(work.reference)
        elif is_slow:
            work.spend(_length(instance) * _UNEVALUATED)
        return keyword(validator, value, instance, schema)

    return priced


def _length(value: Json) -> int:
    return len(value) if type(value) in (dict, list) else 0


# ---------------------------------------------------------------- keywords of our own


def _pattern_keyword(_: Any, pattern: str, instance: Json, __: Json) -> Iterator[Any]:
    if type(instance) is str and not _occurs(pattern, instance):
        yield _error()


def _pattern_properties(validator: Any, patterns: dict[str, Json], instance: Json, _: Json) -> Iterator[Any]:
    if type(instance) is dict:
        for pattern, subschema in patterns.items():
            for key in instance:
                if _occurs(pattern, key):
                    yield from validator.descend(instance[key], subschema, path=key)


def _additional_properties(validator: Any, additional: Json, instance: Json, schema: Json) -> Iterator[Any]:
    if type(instance) is dict:
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for key in instance:
            if key not in named and not any(_occurs(pattern, key) for pattern in patterns):
                yield from validator.descend(instance[key], additional, path=key)


def _const(_: Any, constant: Json, instance: Json, __: Json) -> Iterator[Any]:
    if _identity(constant) != _identity(instance):
        yield _error()


def _enum(_: Any, values: list[Json], instance: Json, __: Json) -> Iterator[Any]:
    if _identity(instance) not in map(_identity, values):
        yield _error()


def _unique_items(_: Any, unique: bool, instance: Json, __: Json) -> Iterator[Any]:
    if unique and type(instance) is list and len(set(map(_identity, instance))) != len(instance):
        yield _error()


def _any_of(validator: Any, subschemas: list[Json], instance: Json, _: Json) -> Iterator[Any]:
    if not any(_holds(validator, subschema, instance) for subschema in subschemas):
        yield _error()


def _one_of(validator: Any, subschemas: list[Json], instance: Json, _: Json) -> Iterator[Any]:
    if sum(_holds(validator, subschema, instance) for subschema in subschemas) != 1:
        yield _error()


def _holds(validator: Any, subschema: Json, instance: Json) -> bool:
    """Whether a subschema holds. One error is enough; the package would collect, and describe, all of them."""
    return next(validator.descend(instance, subschema), None) is None


_KEYWORDS: dict[str, Keyword] = {
    "pattern": _pattern_keyword,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "const": _const,
    "enum": _enum,
    "uniqueItems": _unique_items,
    "anyOf": _any_of,
    "oneOf": _one_of,
}


def _error() -> Any:
    from jsonschema import ValidationError

    return ValidationError("")


def _identity(value: Json) -> str:
    """A text that two values share exactly where they are equal: `1` and `1.0` are, `1` and `true` are not.
    (JSON Schema Core, section 4.2.2, "Instance Equality".)"""
    text = json.dumps(_normal(value), sort_keys=True, separators=(",", ":"))
    _WORK.get().spend(len(text) // 16)
    return text


def _normal(value: Json) -> Json:
    kind = type(value)
    if kind is list:
        return [_normal(inner) for inner in value]
    if kind is dict:
        return {key: _normal(inner) for key, inner in value.items()}
    return int(value) if kind is float and value.is_integer() else value


# ---------------------------------------------------------------- patterns
#
# A pattern is a chain of steps; a step takes the set of positions reached so far to the set reached after one more
# piece. Sets do not remember the way, so that no number of ways can make them slow, and `(a+)+$` costs what `a+$`
# does. What needs the way itself (a back reference, an atomic group), and what ECMA 262 does not have, is refused.
#
# Python's own parser reads the pattern, so that it is the same expression that `re` would run. Where the two dialects
# give one expression two meanings, that of ECMA 262 holds (JSON Schema Core, section 6.4): `$` is the very end, `\d`
# and `\w` are ASCII, `\s` and `.` know ECMA's white space and ends of lines.

Positions = set[int]
Step = Callable[[str, Positions], Positions]

_DIGITS = frozenset(string.digits)
_WORDS = frozenset(string.ascii_letters + string.digits + "_")
_LINE_ENDS = frozenset("\n\r\u2028\u2029")
_SPACES = _LINE_ENDS | frozenset("\t\v\f \u00a0\u1680\u202f\u205f\u3000\ufeff") | {*map(chr, range(0x2000, 0x200B))}


def _occurs(pattern: str, text: str) -> bool:
    """Whether a pattern matches somewhere in a text."""
    _WORK.get().spend(1 + len(text) // 8)
    return bool(_pattern(pattern)(text, set(range(len(text) + 1))))


@lru_cache(maxsize=1024)
def _pattern(source: str) -> Step:
    """The steps of a pattern. Raises an exception for one that is none or cannot be matched in bounded time."""
    tree = import_module("re._parser").parse(source)
    if tree.state.flags & ~re.UNICODE:
        raise ValueError(f"flags in a pattern: {source!r:.80}")
    return _sequence(tree)


def _sequence(pieces: Iterable[tuple[Any, Any]]) -> Step:
    steps = [_PIECES[str(name)](value) for name, value in pieces]

    def sequence(text: str, at: Positions) -> Positions:
        for step in steps:
            if not at:
                break
            at = step(text, at)
        return at

    return sequence


def _char(test: Callable[[str], bool]) -> Step:
    """One character."""

    def char(text: str, at: Positions) -> Positions:
        _WORK.get().spend(1 + len(at) // 2)
        end = len(text)
        return {n + 1 for n in at if n < end and test(text[n])}

    return char


def _set(members: list[tuple[Any, Any]]) -> Step:
    """One of a set of characters, `[a-z]`, or none of it, `[^a-z]`."""
    tests = [_MEMBERS[str(name)](value) for name, value in members if str(name) != "NEGATE"]
    negated = len(tests) < len(members)
    return _char(lambda char: any(test(char) for test in tests) is not negated)


def _branch(branches: tuple[None, list[Any]]) -> Step:
    steps = [_sequence(pieces) for pieces in branches[1]]
    return lambda text, at: {n for step in steps for n in step(text, at)}


def _group(group: tuple[Any, int, int, Any]) -> Step:
    _, added, removed, pieces = group
    if added or removed:
        raise ValueError("flags in a pattern")
    return _sequence(pieces)


def _repeat(repeat: tuple[int, int, Any]) -> Step:
    """`*`, `+`, `?`, `{least,most}`, greedy or not: how often matters, in which order does not."""
    least, most, pieces = repeat
    step = _sequence(pieces)

    def repeated(text: str, at: Positions) -> Positions:
        work = _WORK.get()
        for _ in range(least):
            if not at:
                break
            work.spend(1)
            at = step(text, at)
        found = set(at)
        rounds = least
        while at and rounds < most:
            work.spend(1 + len(at) // 2)
            at = step(text, at) - found
            found |= at
            rounds += 1
        return found

    return repeated


def _place(place: Any) -> Step:
    """`^`, `$`, `\\b`, `\\B`."""
    test = _PLACES[str(place)]

    def placed(text: str, at: Positions) -> Positions:
        _WORK.get().spend(1 + len(at) // 2)
        return {n for n in at if test(text, n)}

    return placed


def _is_boundary(text: str, at: int) -> bool:
    return (at > 0 and text[at - 1] in _WORDS) is not (at < len(text) and text[at] in _WORDS)


def _ahead(wanted: bool) -> Callable[[tuple[int, Any]], Step]:
    """`(?=...)`, and `(?!...)` where it is not wanted."""

    def ahead(assertion: tuple[int, Any]) -> Step:
        direction, pieces = assertion
        if direction < 0:
            raise ValueError("a look behind in a pattern")
        step = _sequence(pieces)

        def looked(text: str, at: Positions) -> Positions:
            _WORK.get().spend(1 + len(at))
            return {n for n in at if bool(step(text, {n})) is wanted}

        return looked

    return ahead


_PIECES: dict[str, Callable[[Any], Step]] = {
    "LITERAL": lambda code: _char(chr(code).__eq__),
    "NOT_LITERAL": lambda code: _char(chr(code).__ne__),
    "ANY": lambda _: _char(lambda char: char not in _LINE_ENDS),
    "IN": _set,
    "BRANCH": _branch,
    "SUBPATTERN": _group,
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "AT": _place,
    "ASSERT": _ahead(True),
    "ASSERT_NOT": _ahead(False),
    "FAILURE": lambda _: lambda _text, _at: set(),
}
"""What Python's parser can find in a pattern, less what cannot be matched this way."""

_MEMBERS: dict[str, Callable[[Any], Callable[[str], bool]]] = {
    "LITERAL": lambda code: chr(code).__eq__,
    "RANGE": lambda codes: lambda char: codes[0] <= ord(char) <= codes[1],
    "CATEGORY": lambda name: _CATEGORIES[str(name)],
}

_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": _DIGITS.__contains__,
    "CATEGORY_NOT_DIGIT": lambda char: char not in _DIGITS,
    "CATEGORY_SPACE": _SPACES.__contains__,
    "CATEGORY_NOT_SPACE": lambda char: char not in _SPACES,
    "CATEGORY_WORD": _WORDS.__contains__,
    "CATEGORY_NOT_WORD": lambda char: char not in _WORDS,
}

_PLACES: dict[str, Callable[[str, int], bool]] = {
    "AT_BEGINNING": lambda _, at: at == 0,
    "AT_BEGINNING_STRING": lambda _, at: at == 0,
    "AT_END": lambda text, at: at == len(text),
    "AT_END_STRING": lambda text, at: at == len(text),
    "AT_BOUNDARY": _is_boundary,
    "AT_NON_BOUNDARY": lambda text, at: not _is_boundary(text, at),
}
