"""What must be true of the gate: one word for anything, the first that applies, and never an `ok` that is not earned.

The verdicts on schemas are held against the `jsonschema` package itself, those on patterns against Python's `re`, on
small inputs where both are safe to run.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema.validators import Draft7Validator, Draft202012Validator
from referencing import Registry
from strategies import json_values

from turncodec import gate
from turncodec.gate import GATE_WORDS, NO_PARAMETERS, NotAnswerable, ToolGate, replay_gate
from turncodec.gate import schemas as checking

Json = Any

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
GOOD = '{"city":"Oslo"}'
DRAFTS = {
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "7": "http://json-schema.org/draft-07/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "4": "http://json-schema.org/draft-04/schema#",
    "3": "http://json-schema.org/draft-03/schema#",
}
SOON = 300.0
"""Seconds within which every check ends on a slow machine that others use; most take a few hundredths."""


def item(arguments: Json = GOOD, **changes: Json) -> dict[str, Json]:
    """A completed `function_call` item; a change to `...` takes the key away."""
    whole = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "weather",
        "arguments": arguments,
        "status": "completed",
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def chat_call(arguments: Json = GOOD, name: Json = "weather", **changes: Json) -> dict[str, Json]:
    """A Chat tool call; a change to `...` takes the key away."""
    whole = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}, **changes}
    return {key: value for key, value in whole.items() if value is not ...}


def says(schema: Json, value: Json) -> bool:
    """Whether the gate lets a value pass as arguments under a schema; there is no third answer."""
    word = replay_gate(item(json.dumps(value)), schema)
    assert word in ("ok", "arguments_schema")
    return word == "ok"


def flat(name: str, parameters: Json = CITY) -> dict[str, Json]:
    return {"type": "function", "name": name, "parameters": parameters, "strict": None}


def nested(name: str, parameters: Json = CITY) -> dict[str, Json]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


# ---------------------------------------------------------------- the words and their order

PROVOKED = {
    "namespaced": [
        item(type=...),
        item(type=None),
        item(type=7),
        item(type=["function_call"]),
        item(type="acme:function_call"),
        item(type=":"),
        item(namespace="acme"),
        item(namespace=""),
        None,
        "function_call",
        17,
        ["function_call"],
        [],
        {},
        object(),
    ],
    "not_function_call": [
        item(type="message"),
        item(type=""),
        item(type="Function_call"),
        item(type="function_call_output"),
        item(type="custom_tool_call"),
        item(type="message", namespace="acme"),
        chat_call(),
    ],
    "status": [
        item(status=...),
        item(status=None),
        item(status="in_progress"),
        item(status="incomplete"),
        item(status="Completed"),
        item(status=True),
        item(status=["completed"]),
    ],
    "arguments_type": [item(...), item(None), item({"city": "Oslo"}), item(b"{}"), item(1), item([])],
    "arguments_parse": [item(""), item('{"city":"Os'), item("not json")],
    "arguments_schema": [item("{}"), item('{"city":1}'), item('{"city":"Oslo","x":1}'), item("[]"), item("null")],
    "ok": [item(), item('\n{ "city" : "Osl\\u006f" } '), item(namespace=None), item(unknown_key=1)],
}


@pytest.mark.parametrize(
    ("word", "call"),
    [(word, call) for word, calls in PROVOKED.items() for call in calls],
    ids=lambda value: repr(value)[:60],
)
def test_word(word: str, call: Json) -> None:
    """Each word of `replay_gate` is said where it applies."""
    assert replay_gate(call, CITY) == word


def test_order_of_an_item() -> None:
    """Of several faults the first in the order of the specification names the word."""
    call = item(..., type="acme:call", status="incomplete")
    repairs = [
        {"type": "message"},
        {"type": "function_call"},
        {"status": "completed"},
        {"arguments": "{"},
        {"arguments": "{}"},
        {"arguments": GOOD},
    ]
    words = [replay_gate(call, CITY)]
    for repair in repairs:
        call |= repair
        words.append(replay_gate(call, CITY))

    assert words == [
        "namespaced",
        "not_function_call",
        "status",
        "arguments_type",
        "arguments_parse",
        "arguments_schema",
        "ok",
    ]


@pytest.mark.parametrize("make", [item, chat_call])
def test_order_of_a_tool_gate(make: Any) -> None:
    """The tool gate asks who is called before how, and how long before what."""
    gate_ = ToolGate([flat("weather"), flat("other")], ["weather"], max_argument_bytes=20)
    long = '{"city": "Oslo", "country": "Norw'
    call_of = [
        make(None, name="nobody", type="acme:call"),
        make(None, name="nobody", type="message"),
        make(None, name="nobody"),
        make(None, name="other"),
        make(None),
        make(long),
        make(long[:20]),
        make("{}"),
        make(),
    ]

    assert [gate_.check(call) for call in call_of] == [
        "namespaced",
        "not_function_call",
        "unknown_function",
        "not_allowed",
        "arguments_type",
        "arguments_size",
        "arguments_parse",
        "arguments_schema",
        "ok",
    ]


def test_status_before_function() -> None:
    """An unfinished item is not looked up among the tools."""
    assert ToolGate([]).check(item(status="incomplete", name="nobody")) == "status"
    assert ToolGate([]).check(item(namespace="acme", status="incomplete")) == "namespaced"


def test_table_of_words() -> None:
    """The table has every word, in the order of the tests, and a meaning for each."""
    assert list(GATE_WORDS) == [
        "namespaced",
        "not_function_call",
        "status",
        "unknown_function",
        "not_allowed",
        "arguments_type",
        "arguments_size",
        "arguments_parse",
        "arguments_schema",
        "call_id",
        "output",
        "ok",
    ]
    assert all(meaning.endswith(".") for meaning in GATE_WORDS.values())


# ---------------------------------------------------------------- total

CYCLE: list[Json] = []
CYCLE.append(CYCLE)
TWINS: dict[str, Json] = {}
TWINS |= {"allOf": [TWINS, TWINS]}
SHARED: Json = {"title": ""}
for _ in range(60):
    SHARED = {"allOf": [SHARED, SHARED]}
"""Small, and of 2 ** 60 values when written out."""


class Hostile:
    """An object that can be asked nothing."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        return 1


class Model:
    """What client libraries have, gone wrong."""

    def model_dump(self) -> None:
        """Takes no arguments, gives nothing."""


STRANGE = (
    CYCLE,
    {Hostile(): 1},
    Hostile(),
    {"type": Hostile()},
    {"type": "function_call", "status": Hostile()},
    {"type": "function_call", "status": "completed", "namespace": None, "arguments": Hostile()},
    {"type": "function_call", "status": "completed", "name": Hostile(), "arguments": GOOD},
    {"type": "function", "function": Hostile()},
    {"enum": CYCLE},
    TWINS,
    SHARED,
    {"const": 10**5000},
    10**5000,
    Model(),
    Model,
)
python_values = st.sampled_from(
    (
        {1: 2},
        (1, 2),
        {1, 2},
        b"{}",
        float("nan"),
        float("inf"),
        "\ud800",
        {"\ud800": 1},
        object,
        json,
        range(3),
    )
)
words = st.sampled_from(("function_call", "message", "a:b", "function", "completed", "incomplete", "weather"))
anything = json_values | python_values | words
calls = st.fixed_dictionaries(
    {},
    optional={
        "type": words | anything,
        "status": st.just("completed") | anything,
        "name": words | anything,
        "call_id": words | anything,
        "id": words | anything,
        "namespace": anything,
        "function": st.fixed_dictionaries({}, optional={"name": words | anything, "arguments": anything}) | anything,
        "arguments": json_values.map(json.dumps) | st.text() | anything,
    },
)
schemas = st.recursive(
    anything,
    lambda inner: st.dictionaries(
        st.sampled_from((
            "type", "properties", "items", "$ref", "$schema", "$id", "enum", "const", "pattern", "patternProperties",
            "additionalProperties", "anyOf", "not", "required", "uniqueItems", "minimum", "unevaluatedProperties",
            "$defs",
        )),
        inner | st.lists(inner, max_size=2) | st.sampled_from(("#", "#/$defs", "object", "(", *DRAFTS.values())),
        max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip


@given(call=calls | anything, schema=schemas | anything)
def test_total(call: Json, schema: Json) -> None:
    """Any value as item and any as schema give a word, and never an exception."""
    assert replay_gate(call, schema) in GATE_WORDS


@given(call=calls | anything, parameters=schemas | anything, output=anything)
def test_tool_gate_is_total(call: Json, parameters: Json, output: Json) -> None:
    """Any value as call gives a word, and where it is not `ok` no answer."""
    gate_ = ToolGate([nested("weather", parameters)])

    word = gate_.check(call)

    assert word in GATE_WORDS
    if word != "ok":
        with pytest.raises(NotAnswerable) as refused:
            gate_.answer(call, output)
        assert refused.value.word == word


@pytest.mark.parametrize("strange", range(len(STRANGE)))
def test_strange_values(strange: int) -> None:
    """Values that are no JSON, and objects that answer every question with an exception, give a word too."""
    value = STRANGE[strange]

    assert replay_gate(value, CITY) in GATE_WORDS
    assert replay_gate(item(), value) == "arguments_schema"
    assert replay_gate(item(value), CITY) == "arguments_type"
    assert replay_gate(item(type=value), CITY) == "namespaced"
    assert ToolGate([flat("weather")]).check(value) in GATE_WORDS
    assert ToolGate([flat("weather", value)]).check(item()) == "arguments_schema"
    assert ToolGate([flat("weather")]).check(item(name=value)) == "unknown_function"


@given(call=calls, schema=schemas)
def test_pure(call: Json, schema: Json) -> None:
    """What is asked is not changed, and asking again gives the same word."""
    before = repr(call), repr(schema)

    first, second = replay_gate(call, schema), replay_gate(call, schema)

    assert first == second
    assert (repr(call), repr(schema)) == before


# ---------------------------------------------------------------- exact JSON


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        " ",
        "\ufeff{}",
        "{}{}",
        "{,}",
        "[1,]",
        "{'a':1}",
        "// no\n{}",
        "[01]",
        "[+1]",
        "[.5]",
        "[NaN]",
        "[Infinity]",
        "[-Infinity]",
        "[1e400]",
        "[-1e400]",
        '{"a":1,"a":1}',
        '{"a":1,"\\u0061":2}',
        '[{"deep":{"a":1,"a":2}}]',
        '["\\ud800"]',
        '["\\udc00\\ud800"]',
        '{"\\ud800":1}',
        '["\ud800"]',
        '["\t"]',
        "[" * 201 + "]" * 201,
        '{"a":' * 200 + "1" + "}" * 200,
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000,
        "1" * 4_301,
        "-" + "1" * 100_000,
        "undefined",
    ],
    ids=lambda text: ascii(text[:24]),
)
def test_not_exact(arguments: str) -> None:
    """Text that one JSON reader may read and another refuse, or read as something else, is not parsed at all."""
    assert replay_gate(item(arguments), True) == "arguments_parse"


@pytest.mark.parametrize(
    "arguments",
    [
        "{}",
        " \t\r\n{ } ",
        '{"a":{"a":1},"b":{"a":2}}',
        '"\\ud83d\\ude00"',
        '["\u2028 \U0001f600 \\u0000"]',
        "[-0.0, 1E5, 5e-324, 1e-400, 18446744073709551617]",
        "9" * 4_299,
        "[" * 199 + "]" * 199,
        "null",
        "0",
    ],
    ids=lambda text: ascii(text[:24]),
)
def test_exact(arguments: str) -> None:
    """Every JSON value passes where the schema asks for nothing."""
    assert replay_gate(item(arguments), True) == "ok"
    assert replay_gate(item(arguments), {}) == "ok"
    assert replay_gate(item(arguments), False) == "arguments_schema"


def test_long_integers_whatever_the_interpreter_reads() -> None:
    """An interpreter that was told to read integers of any length does not change the word."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert replay_gate(item("1" * 4_301), True) == "arguments_parse"
        assert replay_gate(item("1" * 4_300), True) == "ok"
    finally:
        sys.set_int_max_str_digits(limit)


# ---------------------------------------------------------------- schemas


@pytest.mark.parametrize("schema", [None, NO_PARAMETERS])
def test_no_parameters(schema: Json) -> None:
    """A function without parameters takes the empty object and nothing else."""
    assert replay_gate(item("{}"), schema) == "ok"
    assert replay_gate(item('{"a":1}'), schema) == "arguments_schema"
    assert replay_gate(item("[]"), schema) == "arguments_schema"
    assert replay_gate(item("null"), schema) == "arguments_schema"
    assert replay_gate(item(""), schema) == "arguments_parse"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"type": 5},
        {"required": "city"},
        {"properties": []},
        {"minimum": "1"},
        {"pattern": "("},
        {"patternProperties": {"[": True}},
        {"properties": {"a": {"properties": {"b": {"type": "strin"}}}}},
        {"$schema": "https://example.com/my-dialect"},
        {"$schema": 5},
        {"$schema": None},
        {"$schema": DRAFTS["4"], "exclusiveMinimum": 5},
        {"$ref": 5},
        {"$defs": {"a": {"$schema": DRAFTS["7"]}}, "$ref": "#/$defs/a"},
        5,
        "object",
        [],
        [True],
        0,
        1,
        1.0,
        {"const": float("nan")},
        {"default": (1, 2)},
        {"title": "x" * 200_000},
    ],
    ids=lambda schema: repr(schema)[:60],
)
def test_no_schema(schema: Json) -> None:
    """What is no schema, or one in a dialect that nobody knows, lets nothing pass."""
    assert replay_gate(item("{}"), schema) == "arguments_schema"
    assert replay_gate(item("{}"), schema) == "arguments_schema"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "http://127.0.0.1:9/x"},
        {"$ref": "other.json"},
        {"$ref": "file:///etc/hostname"},
        {"$ref": "#/$defs/nowhere"},
        {"$ref": "#nowhere"},
        {"$dynamicRef": "https://example.com/#meta"},
        {"$id": "https://example.com/root", "$ref": "sub"},
        {"properties": {"a": True}, "allOf": [{"$ref": "https://example.com/schema.json"}]},
        {"$schema": DRAFTS["7"], "$ref": "https://example.com/schema.json"},
        {"$schema": DRAFTS["2019-09"], "not": {"$ref": "https://example.com/schema.json"}},
        {"$schema": "https://example.com/schema.json"},
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$dynamicAnchor": "a", "$dynamicRef": "#a"},
        {"$schema": DRAFTS["2019-09"], "$recursiveAnchor": True, "$recursiveRef": "#"},
        {"unevaluatedProperties": False, "$ref": "#"},
    ],
    ids=repr,
)
def test_references_that_lead_nowhere(schema: Json, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference that cannot be resolved, or that turns in a circle, is no `ok`, and nobody asks the network."""

    asked: list[object] = []
    for name in ("socket.socket", "socket.getaddrinfo", "urllib.request.urlopen", "builtins.open"):
        monkeypatch.setattr(name, lambda *args, **_: asked.append(args) or args[99])

    word = replay_gate(item("{}"), schema)

    monkeypatch.undo()
    assert (word, asked) == ("arguments_schema", [])


def test_references_within() -> None:
    """References inside the schema work: by pointer, by anchor, by id, and recursive."""
    tree = {
        "$schema": DRAFTS["2020-12"],
        "type": "object",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["name"],
    }
    three = {
        "$id": "https://example.com/root",
        "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#s"}, "c": {"$ref": "sub"}},
        "$defs": {
            "n": {"type": "integer"},
            "s": {"$anchor": "s", "type": "string"},
            "u": {"$id": "sub", "type": "null"},
        },
    }

    assert says(tree, {"name": "a", "children": [{"name": "b", "children": []}]})
    assert not says(tree, {"name": "a", "children": [{"name": "b", "children": [{}]}]})
    assert says(three, {"a": 1, "b": "", "c": None})
    assert not any(says(three, {key: []}) for key in "abc")


@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        ({"type": "integer"}, [1, 1.0, -0.0, 2**70], [1.5, True, "1", None]),
        ({"type": "number"}, [1, 1.5], [True, "1"]),
        ({"const": 1}, [1, 1.0], [True, "1"]),
        ({"const": False}, [False], [0, 0.0, None]),
        ({"enum": [1, "a", None, [1, {"b": 0}]]}, [1.0, "a", None, [1.0, {"b": -0.0}]], [True, [True, {"b": 0}], "1"]),
        ({"uniqueItems": True}, [[1, True, "1", None], [{"a": 1}, {"a": True}], 5], [[1, 1.0], [{"a": 1}, {"a": 1.0}]]),
        ({"uniqueItems": False}, [[1, 1]], []),
        ({"additionalProperties": False, "properties": {"a": True}}, [{}, {"a": 1}, []], [{"b": 1}]),
        ({"additionalProperties": {"type": "null"}, "patternProperties": {"^x": {"type": "string"}}},
         [{"x": "", "a": None}], [{"x": None}, {"a": ""}]),
        ({"propertyNames": {"pattern": "^[a-z]+$"}}, [{"a": 1}], [{"A": 1}, {"a\n": 1}]),
        ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, ["", 5, None], [4]),
        ({"oneOf": [{"type": "string"}, {"maxLength": 2}]}, ["abc", 1], ["ab"]),
        ({"not": {"pattern": "^a"}}, ["b"], ["a", 1]),
        ({"if": {"pattern": "^a"}, "then": {"maxLength": 1}, "else": {"minLength": 2}}, ["a", "bb"], ["aa", "b"]),
        ({"format": "ipv4"}, ["no address"], []),
        ({"dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 1}, {"b": 1}], [{"a": 1}]),
        ({"prefixItems": [{"type": "string"}], "items": False}, [["a"], []], [["a", 1], [1]]),
        ({"properties": {"a": True}, "unevaluatedProperties": False}, [{"a": 1}], [{"b": 1}]),
        ({"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False}, [{"a": 1}], [{"b": 1}]),
        ({"prefixItems": [True], "unevaluatedItems": False}, [[1]], [[1, 2]]),
        ({"items": [{"type": "string"}], "$schema": DRAFTS["7"]}, [["a"], []], [[1]]),
        ({"exclusiveMinimum": True, "minimum": 1, "$schema": DRAFTS["4"]}, [2], [1]),
        ({"properties": {"$schema": {"type": "string"}, "enum": {}}}, [{"$schema": "x"}], [{"$schema": 1}]),
    ],
    ids=lambda value: repr(value)[:70],
)  # fmt: skip
def test_keywords(schema: Json, yes: list[Json], no: list[Json]) -> None:
    """Keywords mean what the specification says, the ones of our own too."""
    assert [value for value in yes if not says(schema, value)] == []
    assert [value for value in no if says(schema, value)] == []


small_values = st.recursive(
    st.sampled_from((None, True, False, 0, 1, 1.0, 1.5, -0.0, "", "a", "ab", "b")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("a", "b", "ab")), inner, max_size=3),
    max_leaves=6,
)
small_patterns = st.sampled_from(("a", "^a", "b$", "^ab?$", "(a|b)+", "^(?!a)"))


def subschemas(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Schemas over the values above, with every keyword that the gate does in its own way and some that it does not."""
    some = st.lists(inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(("integer", "number", "string", "array", "object", "null", "boolean")),
            "pattern": small_patterns,
            "properties": st.dictionaries(st.sampled_from(("a", "b")), inner, max_size=2),
            "additionalProperties": inner,
            "propertyNames": inner,
            "items": inner,
            "contains": inner,
            "uniqueItems": st.booleans(),
            "const": small_values,
            "enum": st.lists(small_values, min_size=1, max_size=3),
            "anyOf": some,
            "oneOf": some,
            "allOf": some,
            "not": inner,
            "if": inner,
            "then": inner,
            "minLength": st.integers(0, 2),
            "$ref": st.sampled_from(("#/$defs/one", "#/$defs/two")),
        },
    )


small_schemas = st.recursive(st.booleans() | subschemas(st.booleans()), subschemas, max_leaves=5).filter(
    lambda schema: type(schema) is dict
)


def plain_verdict(validator: Any, schema: Json, value: Json) -> bool:
    try:
        return bool(validator(schema, registry=Registry()).is_valid(value))
    except RecursionError:
        return False


@pytest.mark.parametrize("validator", [Draft202012Validator, Draft7Validator])
@given(root=small_schemas, one=small_schemas, two=small_schemas, value=small_values, names=st.booleans())
def test_agrees_with_jsonschema(validator: Any, root: Json, one: Json, two: Json, value: Json, names: bool) -> None:
    """Bounded work changes no verdict: the package itself, without bounds, says the same."""
    schema = {**root, "$defs": {"one": one, "two": two}}
    if names or validator is Draft7Validator:
        schema["$schema"] = validator.META_SCHEMA.get("$id")

    assert says(schema, value) == plain_verdict(validator, schema, value)


@given(
    patterns=st.dictionaries(small_patterns, st.booleans() | subschemas(st.booleans()), max_size=3),
    additional=st.booleans() | subschemas(st.booleans()),
    value=small_values,
)
def test_pattern_properties_agree(patterns: Json, additional: Json, value: Json) -> None:
    """The same for patterns as names."""
    schema = {"patternProperties": patterns, "additionalProperties": additional, "$defs": {"one": True, "two": False}}

    assert says(schema, value) == plain_verdict(Draft202012Validator, schema, value)


def test_unevaluated_with_patterns_is_not_checked() -> None:
    """The package would run these patterns itself, so that a schema with both keywords lets nothing pass."""
    schema = {"patternProperties": {"^a": True}, "unevaluatedProperties": False}

    assert not says(schema, {"a": 1})
    assert says({"properties": {"patternProperties": True}, "unevaluatedProperties": False}, {}) is False


def test_one_validator_for_each_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema is checked once, however often it is asked about and in whatever order its keys stand."""
    built = []
    build = checking.build
    monkeypatch.setattr(checking, "build", lambda canonical: built.append(canonical) or build(canonical))
    checking.checker.cache_clear()

    for _ in range(3):
        replay_gate(item(), CITY)
        replay_gate(item(), dict(reversed(CITY.items())))
        ToolGate([flat("weather")]).check(item())
        replay_gate(item("1"), {"const": 1})
        replay_gate(item("1"), {"const": True})
        replay_gate(item("1"), {"type": "nothing"})

    assert len(built) == len(set(built)) == 4
    assert checking.checker.cache_info().maxsize == 256


def test_a_schema_changed_later_is_another() -> None:
    """What was cached does not belong to the caller's object but to what it said."""
    schema = {"type": "string"}
    assert says(schema, "a")

    schema["type"] = "integer"

    assert not says(schema, "a")


def test_jsonschema_is_imported_late() -> None:
    """Importing the gate, and words that need no schema, load no checker."""
    code = (
        "import sys\nfrom turncodec.gate import ToolGate, replay_gate\n"
        "replay_gate({}, {}); ToolGate([]).check({'type': 'function_call', 'status': 'completed'})\n"
        "assert not {'jsonschema', 'referencing', 'attrs'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# ---------------------------------------------------------------- patterns

HOSTILE = (
    r"(a+)+$",
    r"(a|a)*b",
    r"(a*)*c",
    r"([a-zA-Z]+)*$",
    r"(.*a){25}",
    r"^(\w+\s?)*$",
    r"(a|aa)+$",
    r"(a?){60}a{60}",
    r"((a{1,100}){1,100}){1,100}b",
    r"a*a*a*a*a*a*b",
    r"\s*\s*\s*x",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(a|b)*a(a|b){60}$",
    r"(?=(a+)+b)",
    r"^(?!(a+)+b)(a+)+!$",
    r"((((((((((a*)*)*)*)*)*)*)*)*)*)*b",
    r"(){65535}((){65535}){65535}b",
    r"(a{0,65535}){0,65535}b",
    r"(a+)\1+$",
    r"(?:a|a){40}b",
)

MATCHING = (r"([a-zA-Z]+)*$", r"(.*a){25}", r"^(?!(a+)+b)(a+)+!$", r"(a?){60}a{60}")
"""Those that do match, where there is time to find out."""

PLACES = {
    "pattern": lambda p: {"properties": {"x": {"pattern": p}}},
    "patternProperties": lambda p: {"patternProperties": {p: False}},
    "additionalProperties": lambda p: {"patternProperties": {p: True}, "additionalProperties": False},
    "propertyNames": lambda p: {"propertyNames": {"pattern": p}},
    "defs": lambda p: {"properties": {"x": {"$ref": "#/$defs/p"}}, "$defs": {"p": {"pattern": p}}},
    "unknown place": lambda p: {"properties": {"x": {"$ref": "#/x-own/p"}}, "x-own": {"p": {"pattern": p}}},
    "not": lambda p: {"properties": {"x": {"not": {"pattern": p}}}},
    "if": lambda p: {"properties": {"x": {"if": {"pattern": p}, "then": False}}},
    "contains": lambda p: {"properties": {"y": {"contains": {"pattern": p}}}},
    "unevaluated": lambda p: {"patternProperties": {p: True}, "unevaluatedProperties": False},
    "unevaluated, hidden": lambda p: {
        "$ref": "#/x-own", "unevaluatedProperties": False, "x-own": {"patternProperties": {p: True}},
    },
    "unevaluated names": lambda p: {"unevaluatedProperties": {"propertyNames": {"pattern": p}}},
    "named dialect": lambda p: {
        "$schema": DRAFTS["2020-12"], "properties": {"x": {"pattern": p}, "z": {"$ref": "#"}}, "minProperties": 1,
    },
    "dialect within": lambda p: {"properties": {"x": {"$schema": DRAFTS["2020-12"], "pattern": p}}},
    "resource within": lambda p: {
        "properties": {"x": {"$id": "https://example.com/x", "$schema": DRAFTS["7"], "pattern": p}},
    },
    **{
        f"draft {draft}": lambda p, uri=uri: {
            "$schema": uri, "properties": {"x": {"pattern": p}, "z": {"$ref": "#"}}, "patternProperties": {p: {}},
        }
        for draft, uri in DRAFTS.items()
    },
}  # fmt: skip
"""Where a pattern can stand in a schema."""


@pytest.mark.parametrize("pattern", HOSTILE)
@pytest.mark.parametrize("length", [28, 50_000])
def test_hostile_pattern(pattern: str, length: int) -> None:
    """No pattern keeps the gate busy, and one that must not match does not."""
    started = time.process_time()

    word = replay_gate(item(json.dumps({"x": "a" * length + "!"})), PLACES["pattern"](pattern))

    assert time.process_time() - started < SOON
    assert word == "arguments_schema" or pattern in MATCHING


@pytest.mark.parametrize("place", PLACES)
def test_hostile_place(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a pattern stands, it is never Python's `re` that runs it."""
    text = "a" * 50_000 + "!"
    deep = {"x": text, text: 1, "y": [text], "z": {"x": text, text: 2}}
    schema = PLACES[place](r"(a+)+$")
    replay_gate(item("{}"), schema)
    started = time.process_time()

    run: list[object] = []
    with monkeypatch.context() as patched:
        for name in ("search", "match", "fullmatch"):
            patched.setattr(re, name, lambda *args: run.append(args))
        word = replay_gate(item(json.dumps(deep)), schema)

    assert time.process_time() - started < SOON
    assert run == []
    assert word in GATE_WORDS


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (r"^[a-z0-9_-]{1,64}$", ["a", "a-b_9", "x" * 64], ["", "A", "x" * 65, "a b", "é"]),
        (r"^\d{4}-\d{2}-\d{2}$", ["2026-04-24"], ["2026-4-24", "x2026-04-24", "2026-04-24x"]),
        (r"^(foo|bar)$", ["foo", "bar"], ["", "foobar", "fo", "xfoo"]),
        (r"foo", ["foo", "a foo b"], ["fo", "FOO"]),
        (r"", ["", "a"], []),
        (r"^$", [""], ["a"]),
        (r"^[a-z]+(-[a-z]+)*$", ["a", "ab-cd-e"], ["", "-", "a-", "a--b"]),
        (r"^https?://[^\s/$.?#].[^\s]*$", ["http://ab", "https://example.com/x"], ["ftp://ab", "http:// x"]),
        (r"^(?=.*[A-Z])(?=.*\d).{8,}$", ["Abcdefg1"], ["abcdefg1", "Abcdefgh", "Ab1"]),
        (r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$",
         ["a.b@example.com"], ["a..b@example.com", ".a@example.com", "a@b"]),
        (r"^#[0-9a-fA-F]{6}\b", ["#00ff00", "#00ff00 "], ["#00ff0", "#00ff000"]),
        (r"\Boo", ["foo"], ["oo"]),
        (r"^[^\W\d]+$", ["ab_"], ["a1", "a "]),
        (r"^a.c$", ["abc", "a\U0001f600c"], ["a\nc", "a\u2028c", "ac"]),
        (r"^\S+$", ["a"], ["a\u00a0", "\ufeff", "a\u2003b"]),
        (r"^a??b+?$", ["b", "abb"], ["aab"]),
        (r"a{2,3}", ["aa", "baaaab"], ["a", "aba"]),
        (r"^(a?){3}$", ["", "a", "aaa"], ["aaaa"]),
        (r"^(?P<year>\d+)/\/\-$", ["1//-"], ["//-"]),
        (r"(?!)", [], ["", "a"]),
        (r"^a$", ["a"], ["a\n", "a\r"]),
        (r"^\d+$", ["12"], ["\u0661\u0662"]),
        (r"^\w+$", ["ab"], ["é"]),
    ],
    ids=lambda value: ascii(value)[:50],
)  # fmt: skip
def test_pattern(pattern: str, yes: list[str], no: list[str]) -> None:
    """Ordinary patterns work, and mean what ECMA 262 says where Python would say something else."""
    assert [text for text in yes if not says({"pattern": pattern}, text)] == []
    assert [text for text in no if says({"pattern": pattern}, text)] == []
    assert says({"pattern": pattern}, 5)


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", r"(?P<n>a)(?P=n)", r"(a)?(?(1)b|c)", r"(?>a)", r"a++", r"(?i)a", r"(?i:a)", r"(?<=a)b", r"(?<!a)b"],
)
def test_pattern_that_cannot_be_bounded(pattern: str) -> None:
    """A pattern that sets of positions cannot match, or that ECMA 262 does not have, lets nothing pass."""
    assert replay_gate(item("{}"), {"properties": {"x": {"pattern": pattern}}}) == "arguments_schema"


atoms = st.sampled_from(
    ("a", "b", "c", ".", "[ab]", "[^a]", r"\d", r"\w", r"\s", r"\W", "^", "$", r"\b", r"\B", "(?:)")
)
quantifiers = st.sampled_from(("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,1}", "{2,}"))
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, quantifiers).map(lambda two: f"({two[0]}){two[1]}"),
        inner.map(lambda one: f"(?={one})"),
        inner.map(lambda one: f"(?!{one})"),
    ),
    max_leaves=6,
)


@given(pattern=expressions, text=st.text("ab1 -", max_size=6))
def test_agrees_with_re(pattern: str, text: str) -> None:
    """On ASCII without ends of lines, where the dialects are one, a pattern matches where `re` finds it."""
    assume(not (text == "" and r"\B" in pattern))  # before Python 3.14, `\B` does not match in an empty text

    assert says({"pattern": pattern}, text) == bool(re.search(pattern, text, re.ASCII))


# ---------------------------------------------------------------- bounded work


def doubled(keyword: str, end: Json, times: int = 40) -> Json:
    """A small schema that asks the same thing 2 ** times times."""
    defs = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(times)}
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{times}": end}}


BOMBS: dict[str, tuple[Json, Json]] = {
    "allOf": (doubled("allOf", True), {}),
    "anyOf": (doubled("anyOf", False), {}),
    "oneOf": (doubled("oneOf", {"type": "null"}), [[n] for n in range(20_000)]),
    "false": ({"anyOf": [False] * 20_000}, [[n] for n in range(100_000)]),
    "type": ({"anyOf": [{"type": "null"}] * 10_000}, [[n] for n in range(100_000)]),
    "required": ({"items": {"required": [str(n) for n in range(20_000)]}}, [{}] * 100_000),
    "anchors": (
        {"items": {"$ref": "#a"}, "$defs": {"a": {"$anchor": "a"}, **{f"d{n}": {"title": ""} for n in range(4_000)}}},
        [1] * 100_000,
    ),
    "enum": ({"items": {"enum": [[0] * 500 + [n] for n in range(100)]}}, [[0] * 500 + [-1]] * 500),
    "const": ({"items": {"anyOf": [{"const": [[0] * 50_000]}, True]}}, [1] * 50_000),
    "unevaluatedItems": ({"items": True, "unevaluatedItems": False}, [1] * 300_000),
    "unevaluatedProperties": (
        {"additionalProperties": True, "unevaluatedProperties": False},
        {str(n): 1 for n in range(80_000)},
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb(name: str) -> None:
    """A check that would take minutes or years ends soon, and is no `ok`."""
    schema, value = BOMBS[name]
    started = time.process_time()

    word = replay_gate(item(json.dumps(value)), schema)

    assert word == "arguments_schema"
    assert time.process_time() - started < SOON


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"uniqueItems": True}, [{"a": n} for n in range(30_000)]),
        ({"uniqueItems": True}, [(2**61 - 1) * n for n in range(30_000)]),
        ({"items": {"type": "integer", "minimum": 0}}, list(range(100_000))),
        ({"items": {"$ref": "#/$defs/row"}, "$defs": {"row": CITY}}, [{"city": "Oslo"}] * 5_000),
        ({"properties": {"text": {"type": "string", "minLength": 1, "pattern": r"\S"}}}, {"text": "word " * 100_000}),
        ({"type": "array", "items": {"$ref": "#"}}, json.loads("[" * 60 + "]" * 60)),
        ({"items": True, "unevaluatedItems": False}, [1] * 1_000),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_large_but_honest(schema: Json, value: Json) -> None:
    """Arguments much larger than a model writes are still checked to the end, the slow keywords of the package too."""
    started = time.process_time()

    assert says(schema, value)
    assert time.process_time() - started < SOON


def test_memory() -> None:
    """A megabyte of arguments made to be large in memory costs no more than a few times what JSON itself costs."""
    arguments = "[" * 198 + "[" + "1," * 400_000 + "1]" + "]" * 198
    tracemalloc.start()
    try:
        assert replay_gate(item(arguments), True) == "ok"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 50_000_000


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_memory_of_errors(keyword: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alternatives that fail leave nothing behind: their errors are not collected."""
    monkeypatch.setattr("turncodec.gate.work.STEPS", 300_000)
    schema = doubled(keyword, False)
    replay_gate(item("{}"), schema)
    tracemalloc.start()
    try:
        assert replay_gate(item("{}"), schema) == "arguments_schema"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 3_000_000


# ---------------------------------------------------------------- tools


@pytest.mark.parametrize("tools", [[flat("weather")], [nested("weather")]], ids=["responses", "chat"])
@pytest.mark.parametrize("make", [item, chat_call])
def test_both_formats(tools: Json, make: Any) -> None:
    """Tools of either format judge calls of either format alike."""
    gate_ = ToolGate(tools)

    assert gate_.check(make()) == "ok"
    assert gate_.check(make("{}")) == "arguments_schema"
    assert gate_.check(make("")) == "arguments_parse"
    assert gate_.check(make({})) == "arguments_type"
    assert gate_.check(make(name="other")) == "unknown_function"
    assert gate_.check(make(name=None)) == "unknown_function"
    assert gate_.check(make(name=["weather"])) == "unknown_function"


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (chat_call(type=...), "namespaced"),
        (chat_call(type=None), "namespaced"),
        (chat_call(type="acme:function"), "namespaced"),
        (chat_call(type="custom"), "not_function_call"),
        ({"id": "c", "type": "custom", "custom": {"name": "weather", "input": "x"}}, "not_function_call"),
        (chat_call(function=...), "unknown_function"),
        (chat_call(function="weather"), "unknown_function"),
        (chat_call(status="incomplete"), "ok"),
        (item(namespace="acme"), "namespaced"),
        (item(namespace=None), "ok"),
        (item(type="function_call", function={"name": "weather", "arguments": "{}"}), "ok"),
        (item(name=..., function={"name": "weather", "arguments": GOOD}), "unknown_function"),
    ],
    ids=lambda value: repr(value)[:70],
)
def test_calls(call: Json, word: str) -> None:
    """A call is read in its own format only, and a Chat call without a type is not executed."""
    assert ToolGate([flat("weather")]).check(call) == word


def test_tools_without_parameters() -> None:
    """A function defined without parameters, or with null, takes `{}` alone."""
    for tool in (
        {"type": "function", "name": "weather"},
        flat("weather", None),
        {"type": "function", "function": {"name": "weather"}},
        nested("weather", None),
    ):
        gate_ = ToolGate([tool])
        assert gate_.check(item("{}")) == "ok"
        assert gate_.check(item()) == "arguments_schema"


def test_other_tools_are_no_functions() -> None:
    """Hosted and custom tools are passed over: a call to such a name is a call to nobody."""
    tools = [
        {"type": "web_search"},
        {"type": "custom", "custom": {"name": "weather"}},
        {"type": "mcp", "name": "weather"},
    ]

    assert ToolGate(tools).check(item()) == "unknown_function"
    assert ToolGate([*tools, flat("weather")]).check(item()) == "ok"
    assert ToolGate(None).check(item()) == "unknown_function"


@pytest.mark.parametrize(
    ("allowed", "weather", "other"),
    [
        (None, True, True),
        ("auto", True, True),
        ("required", True, True),
        ("none", False, False),
        ([], False, False),
        (["weather"], True, False),
        ({"weather", "other"}, True, True),
        (iter(("other", "nobody")), False, True),
        ({"type": "function", "name": "weather"}, True, False),
        ({"type": "function", "function": {"name": "weather"}}, True, False),
        ({"type": "allowed_tools", "tools": [{"type": "function", "name": "other"}]}, False, True),
        ({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "other"}]}, False, True),
        ({"type": "allowed_tools", "mode": "none", "tools": [{"type": "function", "name": "other"}]}, False, False),
        ({"type": "allowed_tools", "tools": []}, False, False),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [nested("weather")]}}, True, False),
        ({"type": "allowed_tools", "tools": [{"type": "mcp", "server_label": "x"}, flat("weather")]}, True, False),
        ({"type": "custom", "custom": {"name": "weather"}}, False, False),
        ({"type": "web_search"}, False, False),
        ({}, False, False),
    ],
    ids=lambda value: repr(value)[:70],
)
def test_allowed(allowed: Json, weather: bool, other: bool) -> None:
    """An allowlist, or a tool_choice of either format, says which functions may be called; anything else, none."""
    gate_ = ToolGate([flat("weather"), nested("other")], allowed)

    assert gate_.check(item()) == ("ok" if weather else "not_allowed")
    assert gate_.check(chat_call(name="other")) == ("ok" if other else "not_allowed")
    assert gate_.check(item(name="nobody")) == "unknown_function"


@pytest.mark.parametrize(
    ("tools", "allowed"),
    [
        ([{"name": "weather"}], None),
        ([{"name": "weather", "parameters": {}}], None),
        (["weather"], None),
        ([None], None),
        ([{"type": "function"}], None),
        ([{"type": "function", "name": 5}], None),
        ([{"type": "function", "function": "weather"}], None),
        ([{"type": "function", "function": {}}], None),
        ([{"type": "function", "name": "a", "function": {"name": "b"}}], None),
        ([flat("weather"), nested("weather")], None),
        ([], "weather"),
        ([], 5),
        ([], [5]),
        ([], [["weather"]]),
        ([], b"weather"),
        ([], Model),
        ([], {"type": "function"}),
        ([], {"type": "allowed_tools"}),
        ([], {"type": "allowed_tools", "allowed_tools": []}),
        ([], {"type": "allowed_tools", "tools": [{"type": "function"}]}),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_misuse(tools: Json, allowed: Json) -> None:
    """Definitions and allowlists that could be read in two ways, or in none, are not accepted."""
    with pytest.raises(ValueError, match=r"tool|function|allowed"):
        ToolGate(tools, allowed)


def test_what_was_given_is_read_once() -> None:
    """Changing the tools afterwards changes nothing."""
    tools, allowed = [flat("weather", {"type": "object", "required": ["city"]})], ["weather"]
    gate_ = ToolGate(tools, allowed)

    tools[0]["parameters"]["required"].append("country")
    tools.clear()
    allowed.clear()

    assert gate_.check(item()) == "ok"


@pytest.mark.parametrize(
    ("text", "size"),
    [("aaaa", 6), ("éé", 6), ("\u20ac", 5), ("\U0001f600", 6), ("\\u00e9", 8), ("\ud800", 5)],
    ids=ascii,
)
def test_size(text: str, size: int) -> None:
    """The size is that of the UTF-8, to the byte."""
    arguments = f'"{text}"'
    assert len(arguments.encode("utf-8", "surrogatepass")) == size

    assert ToolGate([flat("weather", {})], None, size).check(item(arguments)) != "arguments_size"
    assert ToolGate([flat("weather", {})], None, size - 1).check(item(arguments)) == "arguments_size"


def test_size_is_asked_before_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments that are too long are not parsed; a million bytes are allowed where nothing else is said."""
    monkeypatch.setattr(gate, "parse", lambda _: pytest.fail("parsed"))

    assert ToolGate([flat("weather")]).check(item("[" * 1_000_001)) == "arguments_size"


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize("output", ["", "18 C", "é \U0001f600 \x00", "x" * 1000])
def test_answer_with_text(output: str) -> None:
    """A result is addressed to the id of the call, as it is, and carries the output, as it is."""
    gate_ = ToolGate([flat("weather")])

    assert gate_.answer(item(call_id=" a:b/é "), output) == {
        "type": "function_call_output",
        "call_id": " a:b/é ",
        "output": output,
    }
    assert gate_.answer(chat_call(id="x" * 100), output) == {
        "role": "tool",
        "tool_call_id": "x" * 100,
        "content": output,
    }


def test_answer_with_parts() -> None:
    """Text parts of the call's own format pass, as copies."""
    gate_ = ToolGate([flat("weather")])
    here = [{"type": "input_text", "text": "18"}, {"type": "input_text", "text": ""}]
    there = [{"type": "text", "text": "18"}]

    answer = gate_.answer(item(), here)

    assert answer["output"] == here
    assert answer["output"] is not here
    assert answer["output"][0] is not here[0]
    assert gate_.answer(chat_call(), there)["content"] == there


@pytest.mark.parametrize(
    "output",
    [
        None,
        5,
        {"temperature": 18},
        b"18",
        [],
        ["18"],
        ("18",),
        [{"type": "output_text", "text": "18"}],
        [{"type": "input_text", "text": 18}],
        [{"type": "input_text"}],
        [{"type": "text", "text": "18", "extra": 1}],
        [{"type": "input_image", "image_url": "https://example.com/a.png"}],
        [{"type": "text", "text": "18"}, {"type": "input_text", "text": "18"}],
        "\ud800",
        [{"type": "text", "text": "\ud800"}],
        Hostile,
        float("nan"),
    ],
    ids=ascii,
)
@pytest.mark.parametrize("call", [item(), chat_call()], ids=["responses", "chat"])
def test_output_that_does_not_fit(call: Json, output: Json) -> None:
    """Anything else than text is refused, and so are the parts of the other format."""
    with pytest.raises(NotAnswerable) as refused:
        ToolGate([flat("weather")]).answer(call, output)

    assert refused.value.word == "output"


def test_parts_of_the_other_format() -> None:
    """A Chat call gets no `input_text`, an item no `text`."""
    gate_ = ToolGate([flat("weather")])

    for call, kind in ((item(), "text"), (chat_call(), "input_text")):
        with pytest.raises(NotAnswerable, match="output"):
            gate_.answer(call, [{"type": kind, "text": "18"}])


@pytest.mark.parametrize("call_id", [..., None, "", 5, ["call_1"], "\ud800"], ids=ascii)
def test_calls_without_an_id(call_id: Json) -> None:
    """A call that no result could name gets none, and the item's own `id` does not stand in for it."""
    for call in (item(call_id=call_id), chat_call(id=call_id, call_id="call_1")):
        with pytest.raises(NotAnswerable) as refused:
            ToolGate([flat("weather")]).answer(call, "18")
        assert refused.value.word == "call_id"


@pytest.mark.parametrize(
    "call",
    [
        item(type="acme:call"),
        item(namespace="acme"),
        item(type="message"),
        item(status=...),
        item(status="incomplete"),
        item(name="nobody"),
        item(name="other"),
        item({}),
        item(" " * 200),
        item("{"),
        item("{}"),
        chat_call(type=...),
        chat_call("{}"),
        chat_call(name="other"),
    ],
    ids=lambda value: repr(value)[:80],
)
def test_no_answer_without_ok(call: Json) -> None:
    """A call that does not pass gets no result; the word says why, and the text what it means."""
    gate_ = ToolGate([flat("weather"), flat("other")], ["weather"], max_argument_bytes=100)
    word = gate_.check(call)

    with pytest.raises(NotAnswerable) as refused:
        gate_.answer(call, "18")

    assert refused.value.word == word != "ok"
    assert isinstance(refused.value, ValueError)
    assert str(refused.value) == f"{word}: {GATE_WORDS[word]}"


def test_an_answer_is_checked_anew() -> None:
    """That a call passed before says nothing about what it has become."""
    gate_ = ToolGate([flat("weather")])
    call = item()
    assert gate_.check(call) == "ok"

    call["arguments"] = "{}"

    with pytest.raises(NotAnswerable):
        gate_.answer(call, "18")


def test_objects_of_the_client_library() -> None:
    """Calls and tools may be objects of the `openai` package."""
    from openai.types.chat import ChatCompletionMessageFunctionToolCall
    from openai.types.responses import FunctionTool, ResponseFunctionToolCall

    gate_ = ToolGate([FunctionTool.model_validate(flat("weather"))])
    call = ResponseFunctionToolCall.model_validate(item())
    other = ChatCompletionMessageFunctionToolCall.model_validate(chat_call())

    assert replay_gate(call, CITY) == "ok"
    assert gate_.check(call) == gate_.check(other) == "ok"
    assert gate_.answer(call, "18")["call_id"] == gate_.answer(other, "18")["tool_call_id"] == "call_1"
