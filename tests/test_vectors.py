"""The cases of specs/vectors, each in every direction that it claims; of specs/vectors/streams, each fed one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openresponses_types as openresponses
import pytest
from jsonschema import Draft202012Validator
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter
from reader import canon
from strategies import Json, put

from turncodec import CODES, Refused, Translation, to_chat, to_responses
from turncodec.refusals import path_of
from turncodec.stream import ChunksToEvents, EventsToChunks, assemble_chunks, assemble_events
from turncodec.stream.to_events import STEPS

SPECS = Path(__file__).parents[1] / "specs"
VECTORS = SPECS / "vectors"
STREAMS = VECTORS / "streams"

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


# ---------------------------------------------------------------- streams

DONE = "[DONE]"
ASSEMBLE = {"chunks": assemble_chunks, "events": assemble_events}
WHOLE = {"chunks": "completion", "events": "response"}
OF_THE_STREAM = {"out_of_place", "unknown_event"}
"""The codes that speak of a stream alone: what it amounts to may be sound."""

streams = pytest.mark.parametrize("vector", vectors(STREAMS))
refused_streams = pytest.mark.parametrize("vector", vectors(STREAMS / "refusals"))


def sides(vector: Json) -> tuple[str, str]:
    """The names of what is fed, and of what is written."""
    return ("chunks", "events") if vector["direction"] == "to_events" else ("events", "chunks")


def translator(vector: Json) -> ChunksToEvents | EventsToChunks:
    if vector["direction"] == "to_events":
        return ChunksToEvents(vector.get("request"), vector.get("allow", ()))
    return EventsToChunks(vector.get("allow", ()), include_usage=vector.get("include_usage", True))


def whole_translation(vector: Json, whole: Json) -> Translation:
    """The translation of what was fed, assembled."""
    if vector["direction"] == "to_events":
        return to_responses(whole, request=vector.get("request"), allow=vector.get("allow", ()))
    return to_chat(whole, allow=vector.get("allow", ()))


def way_back(vector: Json, whole: Json, remainder: Json) -> Json:
    back = to_chat if vector["direction"] == "to_events" else to_responses
    return back(whole, remainder=remainder).document


def found(refused: Refused) -> list[tuple[str, str]]:
    return [(refusal.code, refusal.pointer) for refusal in refused.refusals]


@streams
def test_streams(vector: Json) -> None:
    """What is fed one by one gives exactly what is expected, and leaves a remainder where the vector has one."""
    source, target = sides(vector)
    stream = translator(vector)

    written = [other for one in vector[source] for other in stream.feed(one)]
    written += stream.close()

    assert [canon(one) for one in written] == [canon(one) for one in vector[target]]
    assert written[-1] == DONE
    assert (stream.remainder is None) == ("remainder" not in vector)
    assert stream.close() == []


@streams
def test_streams_are_not_changed(vector: Json) -> None:
    """Neither what is fed nor what was written changes when the stream goes on."""
    source, _ = sides(vector)
    stream, fed = translator(vector), json.loads(json.dumps(vector[source]))
    written = [(other, canon(other)) for one in fed for other in stream.feed(one)]
    stream.close()

    assert canon(fed) == canon(vector[source])
    assert [canon(one) for one, _ in written] == [text for _, text in written]


@streams
def test_assembled(vector: Json) -> None:
    """Both streams amount to what the vector says."""
    for name, assemble in ASSEMBLE.items():
        assert canon(assemble(vector[name])) == canon(vector[WHOLE[name]])


@streams
def test_square(vector: Json) -> None:
    """Translating what was fed, once it is assembled, gives what the written stream assembles to; and it comes back
    with what the translator left, and with what was stored."""
    source, target = (WHOLE[name] for name in sides(vector))
    stream = translator(vector)
    for one in vector[sides(vector)[0]]:
        stream.feed(one)
    stream.close()

    translation = whole_translation(vector, vector[source])

    if vector.get("include_usage", True):
        assert canon(translation.document) == canon(vector[target])
        assert canon(translation.remainder) == canon(stream.remainder)
    else:
        assert canon({**vector[target], "usage": translation.document["usage"]}) == canon(translation.document)
    for remainder in (stream.remainder, vector.get("remainder")):
        assert canon(way_back(vector, vector[target], remainder)) == canon(vector[source])


@refused_streams
def test_refused_streams(vector: Json) -> None:
    """A stream is refused for its reasons, at their places; what was written before is what the vector says, and
    nothing is written after."""
    source, target = sides(vector)
    stream, written = translator(vector), []

    def feed() -> None:
        for one in vector[source]:
            written.extend(stream.feed(one))
        written.extend(stream.close())

    with pytest.raises(Refused) as refused:
        feed()

    assert found(refused.value) == [(r["code"], r["pointer"]) for r in vector["refusals"]]
    assert [canon(one) for one in written] == [canon(one) for one in vector[target]]
    for again in (stream.close, lambda: stream.feed(vector[source][0]), lambda: stream.feed(DONE)):
        with pytest.raises(Refused) as later:
            again()
        assert found(later.value) == found(refused.value)


@refused_streams
def test_failures_are_told(vector: Json) -> None:
    """What tells a client of the refusal goes on where the stream stopped, and is valid."""
    source, target = sides(vector)
    stream, written = translator(vector), vector[target]

    def feed() -> None:
        for one in [*vector[source], DONE]:
            stream.feed(one)

    with pytest.raises(Refused) as refused:
        feed()
    told = stream.failure(refused.value)

    if DONE in written:
        return
    assert told[-1] == DONE
    if vector["direction"] == "to_chunks":
        assert [list(one) for one in told[:-1]] == [["error"]]
        return
    assert [one["type"] for one in told[:-1]] == ["error", "response.failed"][: 2 if written else 1]
    count = len([one for one in written if one != DONE])
    for n, event in enumerate(told[:-1]):
        assert event["sequence_number"] == count + n
        OPENAI_EVENT.validate_python(for_openai(event))
        valid = EVENT_TYPES[event["type"]].model_validate(event).model_dump(mode="json", exclude_unset=True)
        assert canon(valid) == canon(core(event))


def for_openai(event: Json) -> Json:
    """A failure as OpenAI's own API has it: what an error event says stands flat in it, and the code of a failed
    response is one of a closed list, where the specification has any string."""
    if event["type"] == "error":
        return {**event["error"], **event}
    return {**event, "response": {**event["response"], "error": {**event["response"]["error"], "code": "server_error"}}}


@refused_streams
def test_refused_streams_assembled(vector: Json) -> None:
    """What a refused stream amounts to is what the vector says, and is refused too; or it amounts to nothing, for the
    same reasons."""
    source, _ = sides(vector)
    codes = {refusal["code"] for refusal in vector["refusals"]}
    if WHOLE[source] not in vector:
        with pytest.raises(Refused) as refused:
            ASSEMBLE[source](vector[source])
        assert found(refused.value) == [(r["code"], r["pointer"]) for r in vector["refusals"]]
        return

    assert canon(ASSEMBLE[source](vector[source])) == canon(vector[WHOLE[source]])
    if not codes & OF_THE_STREAM:
        with pytest.raises(Refused):
            whole_translation(vector, vector[WHOLE[source]])


@refused_streams
def test_refused_streams_never_end(vector: Json) -> None:
    """Before a refusal nothing is ended, unless the stream has ended and goes on: a client sees it cut off."""
    _, target = sides(vector)
    if {refusal["code"] for refusal in vector["refusals"]} == {"out_of_place"}:
        return
    ends = [one for one in vector[target] if one == DONE or ends_something(one)]

    assert ends == []


def ends_something(one: Json) -> bool:
    if "type" in one:
        return bool(one["type"].endswith((".done", ".completed", ".incomplete")))
    return any(choice["finish_reason"] for choice in one["choices"])


# ---------------------------------------------------------------- streams that are valid by types of others

OPENAI_EVENT = TypeAdapter[Any](ResponseStreamEvent)
EVENT_TYPES = {
    name.value: event
    for event in vars(openresponses).values()
    if str(getattr(event, "__name__", "")).endswith("StreamingEvent")
    for name in event.model_fields["type"].annotation
}


def core(event: Json) -> Json:
    """An event without what is written beyond the specification: what OpenAI's own API has besides."""
    if event["type"] == "response.function_call_arguments.done":
        return {key: value for key, value in event.items() if key != "name"}
    if not (event.get("response") or {}).get("usage"):
        return event
    event = json.loads(json.dumps(event))
    del event["response"]["usage"]["input_tokens_details"]["cache_write_tokens"]
    return event


def of_direction(direction: str) -> list[Any]:
    """Vectors of a direction, and those that are refused: what is written before is valid too."""
    folders = (STREAMS, STREAMS / "refusals")
    return [param for folder in folders for param in vectors(folder) if param.values[0]["direction"] == direction]


@pytest.mark.parametrize("vector", of_direction("to_events"))
def test_written_events_are_valid(vector: Json) -> None:
    """Events are valid by the types of `openresponses-types`, with no keys but theirs, and by those of `openai`."""
    for event in vector["events"]:
        if event != DONE:
            OPENAI_EVENT.validate_python(event)
            valid = EVENT_TYPES[event["type"]].model_validate(event).model_dump(mode="json", exclude_unset=True)
            assert canon(valid) == canon(core(event))


@pytest.mark.parametrize("vector", of_direction("to_events"))
def test_written_events_are_in_order(vector: Json) -> None:
    """Events are numbered from 0; each item has one index and one id; its parts and deltas stand inside it."""
    events = [event for event in vector["events"] if event != DONE]
    ids: list[str] = []
    ended: set[int] = set()

    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"][: len(events)]
    for event in events:
        if event["type"] == "response.output_item.added":
            assert event["output_index"] == len(ids)
            ids.append(event["item"]["id"])
        elif "output_index" in event:
            assert event["output_index"] not in ended
            assert ids[event["output_index"]] == event.get("item_id", event.get("item", {}).get("id"))
        if event["type"] == "response.output_item.done":
            ended.add(event["output_index"])


@pytest.mark.parametrize("vector", of_direction("to_chunks"))
def test_written_chunks_are_valid(vector: Json) -> None:
    """Chunks are valid by the type of the `openai` package, and each has the head of the first."""
    chunks = [chunk for chunk in vector["chunks"] if chunk != DONE]
    for chunk in chunks:
        ChatCompletionChunk.model_validate(chunk)
        assert [chunk[key] for key in ("id", "object", "created", "model")] == [
            chunks[0][key] for key in ("id", "object", "created", "model")
        ]


# ---------------------------------------------------------------- the vectors themselves


def all_vectors() -> list[Any]:
    return [*vectors(VECTORS), *refusals(), *vectors(STREAMS), *refusals(STREAMS / "refusals")]


@pytest.mark.parametrize("vector", all_vectors())
def test_vectors_are_well_formed(vector: Json) -> None:
    """Every vector is of the form that specs/schemas/vector.json describes."""
    schema = read(SPECS / "schemas" / "vector.json")
    Draft202012Validator.check_schema(schema)

    assert [error.message for error in Draft202012Validator(schema).iter_errors(vector)] == []


def test_every_code_has_a_vector() -> None:
    """Every code of the table is provoked by a vector, and no vector names another one."""
    everywhere = [*refusals(), *refusals(STREAMS / "refusals")]
    provoked = {refusal["code"] for param in everywhere for refusal in param.values[0]["refusals"]}

    assert CODES.keys() - WITHOUT_A_VECTOR == provoked


def test_every_event_has_a_vector() -> None:
    """Every event that the table of steps has is written in a vector, and no vector has another one."""
    tabled = {name for step in STEPS.values() for name in step.events} | {"response.incomplete"}
    written = {
        event if event == DONE else event["type"]
        for param in of_direction("to_events")
        for event in param.values[0]["events"]
    }

    assert tabled == written


def test_every_file_is_named_for_its_code() -> None:
    """The file of a refusal begins with the code that it is about, unless it is about several."""
    several = {"several-faults", "allowed-in-part"}

    strays = [p.id for p in refusals() if p.id.partition("-")[0] not in CODES and p.id not in several]
    for param in refusals(STREAMS / "refusals"):
        if param.id.partition("-")[0] != param.values[0]["refusals"][0]["code"]:
            strays.append(param.id)

    assert strays == []


def test_every_stream_is_named_for_what_is_fed() -> None:
    """The file of a stream begins with what is fed, and then with `allow` where something is allowed."""
    for param in vectors(STREAMS):
        vector = param.values[0]
        assert param.id.startswith(f"{sides(vector)[0]}-")
        assert param.id.startswith(f"{sides(vector)[0]}-allow-") == ("allow" in vector)


def test_allowed_codes_have_a_vector() -> None:
    """For every code that can be allowed a vector shows what allowing it does."""
    shown = {code for param in [*vectors(VECTORS), *vectors(STREAMS)] for code in param.values[0].get("allow", ())}

    assert {code.name for code in CODES.values() if code.allowing} == shown
