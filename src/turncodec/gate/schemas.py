"""JSON Schema, checked with bounded work and without a network. Knows nothing about calls.

Three things are done differently from a plain call of the `jsonschema` package, which is imported only when something
has to be checked:

- nothing reaches the network: the registry is empty, and a `$ref` that leads nowhere fits nothing;
- work is counted and limited, so that neither a schema nor a value can keep the check busy. A step is about a
  microsecond. Each keyword of a schema costs the size of its own value times that of the value it is applied to, which
  is what its loops, its comparisons and the text of its error can cost at most. That also ends what grows otherwise:
  `$ref`s that double at each level, and values made to be slow;
- patterns are not run by Python's `re`, whose time can double with each character (see `patterns`).

What cannot be checked so lets nothing pass: a schema of more than 200,000 characters, a draft within another draft,
`patternProperties` together with `unevaluatedProperties` (the package would run the patterns), and patterns with back
references, look behinds, atomic groups, flags, or what Python's parser does not know (`\\p{L}`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

from turncodec.equality import is_json
from turncodec.gate.patterns import compiled, occurs
from turncodec.gate.work import WORK, Work

Json = Any

NO_PARAMETERS: dict[str, Json] = {"type": "object", "properties": {}, "additionalProperties": False}
"""What a function without `parameters` takes: `{}` and nothing else. ("Omitting `parameters` defines a function with
an empty parameter list", Chat API reference, `FunctionDefinition`.)"""

LARGEST_SCHEMA = 200_000
"""Characters of the largest schema that is looked at."""


# ---------------------------------------------------------------- schemas


def canonical(schema: Json) -> str | None:
    """The text that stands for a schema in the cache, or None for a value that is no schema by its looks."""
    if schema is None:
        schema = NO_PARAMETERS
    if type(schema) not in (dict, bool) or not is_json(schema, LARGEST_SCHEMA):
        return None
    try:
        text = json.dumps(schema, sort_keys=True, separators=(",", ":"))
    except ValueError:  # an integer too long to be written
        return None
    return text if len(text) <= LARGEST_SCHEMA else None


@lru_cache(maxsize=256)
def checker(canonical: str) -> Callable[[Json], bool]:
    """Whether a value fits a schema: one validator for each distinct schema, itself checked once."""
    try:
        return build(canonical)
    except Exception:  # a schema that cannot be used, whatever the reason, lets nothing pass
        return lambda _: False


def build(canonical: str) -> Callable[[Json], bool]:
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
    checker.checks("regex")(lambda source: type(source) is not str or bool(compiled(source)))
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


# ---------------------------------------------------------------- the price of a keyword

_SUBSCHEMA = 10
_REFERENCE = 10
_ANCHORED = re.compile(r'"(\$?id|\$(a|dynamicA|recursiveA)nchor)":["t]')
"""A schema with ids or anchors: `referencing` may search the whole of it for each `$ref`."""
_UNEVALUATED = 2_000
"""Price of each member under `unevaluatedItems` and `unevaluatedProperties`, which compare members one by one."""


def _fits(validator: Any, value: Json, reference: int) -> bool:
    """Whether a value is valid; no is also the answer to a check that fails or costs too much."""
    work = Work(reference)
    token = WORK.set(work)
    try:
        work.measure(value)
        return bool(validator.is_valid(value))
    except Exception:  # an unresolvable reference, endless recursion, too much work, a fault of the checker
        return False
    finally:
        WORK.reset(token)


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
        WORK.get().spend(_SUBSCHEMA)
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
        work = WORK.get()
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
    if type(instance) is str and not occurs(pattern, instance):
        yield _error()


def _pattern_properties(validator: Any, patterns: dict[str, Json], instance: Json, _: Json) -> Iterator[Any]:
    if type(instance) is dict:
        for pattern, subschema in patterns.items():
            for key in instance:
                if occurs(pattern, key):
                    yield from validator.descend(instance[key], subschema, path=key)


def _additional_properties(validator: Any, additional: Json, instance: Json, schema: Json) -> Iterator[Any]:
    if type(instance) is dict:
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for key in instance:
            if key not in named and not any(occurs(pattern, key) for pattern in patterns):
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
    WORK.get().spend(len(text) // 16)
    return text


def _normal(value: Json) -> Json:
    kind = type(value)
    if kind is list:
        return [_normal(inner) for inner in value]
    if kind is dict:
        return {key: _normal(inner) for key, inner in value.items()}
    return int(value) if kind is float and value.is_integer() else value
