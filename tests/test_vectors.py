"""The cases of specs/vectors, each in every direction that it claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from reader import canon
from strategies import Json, put

from turncodec import CODES, Refused, Translation, to_chat, to_responses
from turncodec.refusals import path_of

SPECS = Path(__file__).parents[1] / "specs"
VECTORS = SPECS / "vectors"

WITHOUT_A_VECTOR = {"not_reversible"}
"""Says that this library has a fault; a document that provokes it would be mended, not kept."""

TRANSLATE = {"to_responses": to_responses, "to_chat": to_chat}
BACK = {"to_responses": to_chat, "to_chat": to_responses}
SIDES = {"to_responses": ("chat", "responses"), "to_chat": ("responses", "chat")}


def read(path: Path) -> Json:
    return json.loads(path.read_text(encoding="utf-8"))


def vectors(folder: Path) -> list[Any]:
    return [pytest.param(read(path), id=path.stem) for path in sorted(folder.glob("*.json"))]


def refusals(folder: Path = VECTORS / "refusals") -> list[Any]:
    return vectors(folder)


def directions(kind: str) -> list[Any]:
    """The vectors that are run in a direction alone (`one`) or in each direction (`both`), with the direction."""
    return [
        pytest.param(vector, direction, id=f"{param.id}-{direction}")
        for param in vectors(VECTORS)
        for vector in param.values
        for direction in (TRANSLATE if vector["direction"] == "both" else [vector["direction"]])
        if (vector["direction"] == "both") == (kind == "both")
    ]


def translated(vector: Json, direction: str, document: Json) -> Translation:
    return TRANSLATE[direction](document, at=vector.get("at"), allow=vector.get("allow", ()))


@pytest.mark.parametrize(("vector", "direction"), directions("both"))
def test_both_directions(vector: Json, direction: str) -> None:
    """Each side of a vector of both directions is the translation of the other, and nothing remains."""
    source, target = SIDES[direction]

    translation = translated(vector, direction, vector[source])

    assert canon(vector[target]) == canon(translation.document)
    assert translation.remainder is None


@pytest.mark.parametrize(("vector", "direction"), directions("one"))
def test_one_direction(vector: Json, direction: str) -> None:
    """A vector of one direction gives its other side, and comes back exactly with what remains."""
    source, target = SIDES[direction]

    translation = translated(vector, direction, vector[source])
    back = BACK[direction](translation.document, at=vector.get("at"), remainder=translation.remainder)

    assert canon(vector[target]) == canon(translation.document)
    assert translation.remainder is not None
    assert canon(vector[source]) == canon(back.document)


@pytest.mark.parametrize(
    ("vector", "direction"), [param for param in directions("one") if "remainder" in param.values[0]]
)
def test_stored_remainder(vector: Json, direction: str) -> None:
    """A remainder that was stored restores the document."""
    source, target = SIDES[direction]

    back = BACK[direction](vector[target], at=vector.get("at"), remainder=vector["remainder"])

    assert canon(vector[source]) == canon(back.document)


@pytest.mark.parametrize("vector", refusals())
def test_refusals(vector: Json) -> None:
    """A vector of refusals is refused for its reasons, at their places, in this order, and for nothing else."""
    with pytest.raises(Refused) as refused:
        TRANSLATE[vector["direction"]](
            input_of(vector), at=vector.get("at"), allow=vector.get("allow", ()), remainder=vector.get("remainder")
        )

    assert [(r["code"], r["pointer"]) for r in vector["refusals"]] == [
        (refusal.code, refusal.pointer) for refusal in refused.value.refusals
    ]


def input_of(vector: Json) -> Json:
    """The document of a vector: as it is written, made by its recipe, or read from its text."""
    if "text" in vector:
        return pytest.importorskip("turncodec.edge").decode(vector["text"].encode())
    recipe = vector.get("recipe")
    return vector["input"] if recipe is None else put(vector["input"], path_of(recipe["at"]), made(recipe))


def made(recipe: Json) -> Json:
    if "repeat" in recipe:
        return recipe["repeat"] * recipe["times"]
    value: Json = []
    for _ in range(recipe["nest"]):
        value = [value]
    return value


# ---------------------------------------------------------------- the vectors themselves


@pytest.mark.parametrize("vector", [*vectors(VECTORS), *refusals()])
def test_vectors_are_well_formed(vector: Json) -> None:
    """Every vector is of the form that specs/schemas/vector.json describes."""
    schema = read(SPECS / "schemas" / "vector.json")
    Draft202012Validator.check_schema(schema)

    assert [error.message for error in Draft202012Validator(schema).iter_errors(vector)] == []


def test_every_code_has_a_vector() -> None:
    """Every code of the table is provoked by a vector, and no vector names another one."""
    provoked = {refusal["code"] for param in refusals() for refusal in param.values[0]["refusals"]}

    assert CODES.keys() - WITHOUT_A_VECTOR == provoked


def test_every_file_is_named_for_its_code() -> None:
    """The file of a refusal begins with the code that it is about, unless it is about several."""
    several = {"several-faults", "allowed-in-part"}

    strays = [p.id for p in refusals() if p.id.partition("-")[0] not in CODES and p.id not in several]

    assert strays == []


def test_allowed_codes_have_a_vector() -> None:
    """For every code that can be allowed a vector shows what allowing it does."""
    shown = {code for param in vectors(VECTORS) for code in param.values[0].get("allow", ())}

    assert {code.name for code in CODES.values() if code.allowing} == shown
