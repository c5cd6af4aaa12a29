"""What must be true of every transcript, in both directions.

`T` is the translation, `B` the way back. The documents are drawn by `strategies`; what is wrong with some of them
comes from the table in `faults`; what they say is read by `reader`, which knows nothing of the mapping.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import faults
import pytest
import strategies
from faults import FAULTS, Fault, put_in
from hypothesis import HealthCheck, Phase, assume, find, given, settings
from hypothesis import strategies as st
from reader import Turn, canon, read_chat, read_items
from strategies import Document, Json, json_values, places, pointer, put, value_at

from turncodec import CODES, Refusal, Refused, Translation, check, to_chat, to_responses
from turncodec.equality import same
from turncodec.formats import CHAT as CHAT_FORMAT
from turncodec.formats import RESPONSES as RESPONSES_FORMAT
from turncodec.formats import Format
from turncodec.mapping import turns
from turncodec.pairing import pair

FEW = settings(max_examples=settings().max_examples // 4)
"""For tests with many rows."""


@dataclass(frozen=True)
class Way:
    """One direction."""

    name: str
    there: Callable[..., Translation]
    back: Callable[..., Translation]
    key: str
    other: str
    transcripts: Callable[..., st.SearchStrategy[Any]]
    grown: Callable[..., st.SearchStrategy[Any]]
    """Transcripts of the other format."""
    plain: Callable[..., st.SearchStrategy[Any]]
    documents: Callable[..., st.SearchStrategy[Document]]
    read: Callable[[Any], list[Turn]]
    read_there: Callable[[Any], list[Turn]]
    format: Format

    def __str__(self) -> str:
        return self.name

    @property
    def faults(self) -> list[Fault]:
        return [fault for fault in FAULTS if fault.format == self.format.name]

    def around(self, transcript: Json) -> st.SearchStrategy[Document]:
        """Documents around one transcript."""
        return strategies.documents(st.just(transcript), self.key, self.other)


CHAT = Way(
    "to_responses",
    to_responses,
    to_chat,
    "messages",
    "input",
    strategies.chat_transcripts,
    strategies.item_transcripts,
    strategies.plain_chat_transcripts,
    strategies.chat_documents,
    read_chat,
    read_items,
    CHAT_FORMAT,
)
RESPONSES = Way(
    "to_chat",
    to_chat,
    to_responses,
    "input",
    "messages",
    strategies.item_transcripts,
    strategies.chat_transcripts,
    strategies.plain_item_transcripts,
    strategies.item_documents,
    read_items,
    read_chat,
    RESPONSES_FORMAT,
)
WAYS = {"chat": CHAT, "responses": RESPONSES}

both_ways = pytest.mark.parametrize("way", WAYS.values(), ids=str)
each_fault = pytest.mark.parametrize("fault", FAULTS, ids=str)
data = st.data()


def found(refusals: Any) -> list[tuple[str, str]]:
    """Codes and pointers, which is what refusals are compared by."""
    return [(refusal.code, refusal.pointer) for refusal in refusals]


def refusals_of(translate: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Refusal, ...]:
    """What a translation is refused for."""
    with pytest.raises(Refused) as refused:
        translate(*arguments, **options)
    return refused.value.refusals


def attempt(
    translate: Callable[..., Translation], *arguments: Any, **options: Any
) -> Translation | tuple[Refusal, ...]:
    """What comes of a translation: itself, or the refusals."""
    try:
        return translate(*arguments, **options)
    except Refused as refused:
        return refused.refusals


@st.composite
def damaged(draw: Callable[..., Any], way: Way) -> Json:
    """A transcript, perhaps with faults in it, that was changed blindly."""
    transcript = draw(way.transcripts())
    written = [fault for fault in way.faults if fault.code not in ("not_json", "too_deep")]
    chosen = draw(st.lists(st.sampled_from(written), max_size=3))
    document = put_in(draw, transcript, chosen)[0].document if chosen else transcript
    return draw(strategies.mutated(st.just(document)))


def restored(way: Way, translation: Translation, at: str | None = None) -> Json:
    return restored_by(way.back, translation, at)


def restored_by(translate: Callable[..., Translation], translation: Translation, at: str | None = None) -> Json:
    return translate(translation.document, at=at, remainder=translation.remainder).document


# ---------------------------------------------------------------- round trips


@both_ways
@given(data=data)
def test_round_trip(way: Way, data: st.DataObject) -> None:
    """What was translated comes back with its remainder exactly as it was."""
    document = data.draw(way.documents())

    translation = way.there(document.value, at=document.at)

    assert canon(document.value) == canon(restored(way, translation, document.at_there))


@both_ways
@given(data=data)
def test_plain_round_trip(way: Way, data: st.DataObject) -> None:
    """Where nothing remains, the translation alone comes back exactly."""
    document = data.draw(way.documents())

    translation = way.there(document.value, at=document.at)

    assume(translation.remainder is None)
    assert canon(document.value) == canon(way.back(translation.document, at=document.at_there).document)


@both_ways
@given(data=data)
def test_plain_spelling_leaves_nothing(way: Way, data: st.DataObject) -> None:
    """A document in this library's own spelling has no remainder."""
    document = data.draw(way.around(data.draw(way.plain())))

    assert way.there(document.value, at=document.at).remainder is None


@both_ways
@given(data=data)
def test_canonical(way: Way, data: st.DataObject) -> None:
    """The way back gives a document in canonical form: it translates without a remainder and comes back as itself."""
    translation = way.there(data.draw(way.transcripts()))
    canonical = way.back(translation.document).document

    again = way.there(canonical)

    assert again.remainder is None
    assert canon(canonical) == canon(way.back(again.document).document)


# ---------------------------------------------------------------- conservation and validity


@both_ways
@given(data=data)
def test_conservation(way: Way, data: st.DataObject) -> None:
    """Every call, result, text, image, file and refusal stands in the translation once, in its turn, in its order."""
    document = data.draw(way.documents())

    translated = way.there(document.value, at=document.at).document

    assert way.read(document.transcript) == way.read_there(value_at(translated, document.there))


@both_ways
@given(data=data)
def test_columns_pass_through(way: Way, data: st.DataObject) -> None:
    """What stands beside a transcript is the same in the translation, at the same place."""
    document = data.draw(way.documents())

    translated = way.there(document.value, at=document.at).document

    assert json.dumps(put(document.value, document.path, "here")) == json.dumps(
        renamed(put(translated, document.there, "here"), document.there, document.path)
    )


def renamed(value: Json, path: tuple[str | int, ...], new: tuple[str | int, ...]) -> Json:
    """A JSON value with the last key of a path under another name."""
    if not path:
        return value
    if isinstance(value, list):
        return [renamed(v, path[1:], new[1:]) if n == path[0] else v for n, v in enumerate(value)]
    return {
        new[0] if key == path[0] else key: renamed(v, path[1:], new[1:]) if key == path[0] else v
        for key, v in value.items()
    }


@both_ways
@given(data=data)
def test_the_rest_is_conserved(way: Way, data: st.DataObject) -> None:
    """Where something is allowed to stay behind, to be renamed or to move, everything beside it stands in the
    translation, in its order."""
    chosen = data.draw(
        st.lists(st.sampled_from([fault for fault in way.faults if fault.allowable]), min_size=1, max_size=3)
    )
    transcript = data.draw(way.transcripts())
    document = put_in(data.draw, transcript, chosen)[0].document

    translated = way.there(document, allow="all").document

    for before, after in zip(
        by_kind(way.read(of_both(transcript, document))), by_kind(way.read_there(translated)), strict=True
    ):
        rest = iter(after)
        assert all(fact in rest for fact in before)


def of_both(transcript: list[Json], document: list[Json]) -> list[Json]:
    """The elements of a transcript that are in a document with faults still."""
    here = {id(element) for element in document}
    return [element for element in transcript if id(element) in here]


def by_kind(turns: list[Turn]) -> list[list[Any]]:
    """What is said by the assistant, what it calls, the results, and what is said by everybody else."""
    runs = [turn for turn in turns if turn[0] == "assistant"]
    return [
        [message for run in runs for message in run[1]],
        [call for run in runs for call in run[2]],
        [turn for turn in turns if turn[0] == "result"],
        [turn for turn in turns if turn[0] not in ("assistant", "result")],
    ]


SAYINGS = ("text", "content", "output", "arguments", "name", "refusal", "url", "image_url", "file_data", "filename")


@both_ways
@given(data=data)
def test_nothing_is_invented(way: Way, data: st.DataObject) -> None:
    """Every text, name, argument, url and file of a translation stands in the original, whatever was allowed."""
    chosen = data.draw(st.lists(st.sampled_from([fault for fault in way.faults if fault.allowable]), max_size=3))
    transcript = data.draw(way.transcripts())
    document = put_in(data.draw, transcript, chosen)[0].document if chosen else transcript

    translated = way.there(document, allow="all").document

    texts = {value_at(document, path) for path in places(document) if isinstance(value_at(document, path), str)}
    sayings = [path for path in places(translated) if path and path[-1] in SAYINGS]
    assert {said for path in sayings if isinstance(said := value_at(translated, path), str)} <= texts


# ---------------------------------------------------------------- the closed world


KNOWN_KEYS = {*strategies.BORROWED_KEYS, "url", "filename", "file_data", "file_url", "audio", "thinking", "logprobs"}
odd_keys = st.one_of(st.sampled_from(strategies.ODD_KEYS), strategies.texts).filter(lambda key: key not in KNOWN_KEYS)


def with_key(draw: Callable[..., Any], value: Json, path: tuple[str | int, ...], key: str) -> Json:
    """A JSON value with one more key in the object at a path, in front or behind."""
    holder, new = value_at(value, path), {key: draw(json_values)}
    return put(value, path, {**new, **holder} if draw(st.booleans()) else {**holder, **new})


def objects(value: Json) -> list[tuple[str | int, ...]]:
    return [path for path in places(value) if isinstance(value_at(value, path), dict)]


@both_ways
@given(data=data)
def test_closed_world(way: Way, data: st.DataObject) -> None:
    """A key that no rule mentions is refused at its place, wherever it stands, and nothing else is."""
    transcript = data.draw(way.transcripts().filter(bool))
    path, key = data.draw(st.sampled_from(objects(transcript))), data.draw(odd_keys)

    refusals = refusals_of(way.there, with_key(data.draw, transcript, path, key))

    assert [("unknown_field", pointer((*path, key)))] == found(refusals)


@both_ways
@given(data=data)
def test_closed_world_all_at_once(way: Way, data: st.DataObject) -> None:
    """Of several keys that no rule mentions each is refused, in document order."""
    transcript = data.draw(way.transcripts().filter(bool))
    paths = data.draw(st.lists(st.sampled_from(objects(transcript)), min_size=1, max_size=4, unique=True))
    for path in paths:
        transcript = with_key(data.draw, transcript, path, "odd/key")
    expected = [("unknown_field", pointer(path)) for path in places(transcript) if path and path[-1] == "odd/key"]

    assert expected == found(refusals_of(way.there, transcript))


# ---------------------------------------------------------------- refusals


@each_fault
@FEW
@given(data=data)
def test_fault(fault: Fault, data: st.DataObject) -> None:
    """A valid document with one fault put in is refused with the code of that fault, at its place, and for nothing
    else."""
    way = WAYS[fault.format]
    faulty = put_in(data.draw, data.draw(way.transcripts(most=2)), [fault])[0]
    document = data.draw(way.around(faulty.document))
    base = pointer(document.path)

    refusals = refusals_of(way.there, document.value, at=document.at)

    assert [(faulty.code, base + place) for place in faulty.pointers] == found(refusals)
    assert {fault.allowable} == {refusal.allowable for refusal in refusals}


@both_ways
@given(data=data)
def test_all_at_once(way: Way, data: st.DataObject) -> None:
    """Of several faults each is refused, in document order."""
    chosen = data.draw(st.lists(st.sampled_from(way.faults), min_size=2, max_size=4))
    faulty = put_in(data.draw, data.draw(way.transcripts()), chosen)

    refusals = refusals_of(way.there, faulty[0].document)

    assert [(entry.code, place) for entry in faulty for place in entry.pointers] == found(refusals)


@both_ways
@given(data=data)
def test_refusals_lead_into_the_document(way: Way, data: st.DataObject) -> None:
    """Every pointer leads to something in the document as given, and they come in its order."""
    document = data.draw(way.around(data.draw(damaged(way))))
    order = [pointer(path) for path in places(document.value)]

    pointers = [refusal.pointer for refusal in check(document.value, way.name.removeprefix("to_"), at=document.at)]

    assert set(pointers) <= set(order)
    assert sorted(pointers, key=order.index) == pointers


@both_ways
@given(data=data)
def test_check(way: Way, data: st.DataObject) -> None:
    """`check` finds what the translation would be refused for, and raises nothing."""
    document = data.draw(st.one_of(damaged(way), way.transcripts()))

    outcome = attempt(way.there, document)

    expected = [] if isinstance(outcome, Translation) else list(outcome)
    assert expected == check(document, way.name.removeprefix("to_"))


def test_refusal_as_text_and_json() -> None:
    """A refusal says in text and in JSON what it says in its fields."""
    refusal, another = check([{"role": "user", "content": "hi", "a/b": 1}, 5], "responses")

    assert refusal.as_json() == {
        "code": "unknown_field",
        "pointer": "/0/a~1b",
        "message": refusal.message,
        "hint": refusal.hint,
        "allowable": True,
    }
    assert str(Refused([refusal, another])).splitlines() == [str(refusal), str(another)]
    assert "unknown_field at /0/a~1b: " in str(refusal)
    assert "malformed at (the document): " in str(Refusal("malformed", "", "no", "mend it"))


# ---------------------------------------------------------------- allowing


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.allowable], ids=str)
@FEW
@given(data=data)
def test_allowed(fault: Fault, data: st.DataObject) -> None:
    """What can be allowed comes through when its code is named, and comes back exactly."""
    way = WAYS[fault.format]
    faulty = put_in(data.draw, data.draw(way.transcripts(most=2)), [fault])[0]
    document = data.draw(way.around(faulty.document))

    translation = way.there(document.value, at=document.at, allow={fault.code})

    assert translation.remainder is not None
    assert canon(document.value) == canon(restored(way, translation, document.at_there))


@both_ways
@given(data=data)
def test_all_allowed(way: Way, data: st.DataObject) -> None:
    """Several faults that can be allowed come through together, and come back exactly."""
    allowable = [fault for fault in way.faults if fault.allowable]
    chosen = data.draw(st.lists(st.sampled_from(allowable), min_size=1, max_size=4))
    document = put_in(data.draw, data.draw(way.transcripts()), chosen)[0].document

    translation = way.there(document, allow="all")

    assert canon(document) == canon(restored(way, translation))


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if not fault.allowable], ids=str)
@FEW
@given(data=data)
def test_not_allowed(fault: Fault, data: st.DataObject) -> None:
    """What cannot be allowed is refused in the same way when everything is allowed."""
    way = WAYS[fault.format]
    faulty = put_in(data.draw, data.draw(way.transcripts(most=2)), [fault])[0]

    refusals = refusals_of(way.there, faulty.document, allow="all")

    assert [(faulty.code, place) for place in faulty.pointers] == found(refusals)


@pytest.mark.parametrize("code", [code.name for code in CODES.values() if code.allowing is None])
@both_ways
def test_never_allowed(way: Way, code: str) -> None:
    """A code that can never be allowed cannot be named."""
    with pytest.raises(ValueError, match=code):
        way.there([], allow={code})


@pytest.mark.parametrize("allow", ["unknown", {"all", "unknown"}, {"phase", "ALL"}])
@both_ways
def test_unknown_code(way: Way, allow: Any) -> None:
    """A word that is no code cannot be named."""
    with pytest.raises(ValueError, match="is not a refusal code"):
        way.there([], allow=allow)


@both_ways
@given(data=data)
def test_allowing_says_what_it_does(way: Way, data: st.DataObject) -> None:
    """With every code allowed that was found, what is left is what said that it cannot be allowed, and calls whose
    results were allowed to stay behind."""
    document = data.draw(damaged(way))
    refusals = check(document, way.name.removeprefix("to_"))
    codes = {refusal.code for refusal in refusals if CODES[refusal.code].allowing}

    left = check(document, way.name.removeprefix("to_"), allow=codes)

    assert [r for r in refusals if not r.allowable] == [r for r in left if r in refusals]
    assert {r.code for r in left if r not in refusals} <= {"unanswered_call"}


def test_legacy_result_of_null() -> None:
    """A deprecated result without a content is refused for that at once, not only when the rest was allowed."""
    call = faults.says(None, function_call={"name": "f", "arguments": "{}"})
    document = [call, {"role": "function", "name": "f", "content": None}]

    assert set(check(document, "responses", allow={"legacy_function"})) <= set(check(document, "responses"))


CONSEQUENCES = {
    "chat": (
        [faults.calls(faults.call("c1")), faults.result("c1", type="acme:x"), faults.user("hi")],
        "/0/tool_calls/0/id",
    ),
    "responses": (
        [faults.function_call("c1"), faults.output("c1", namespace="crm"), faults.item("user", "hi")],
        "/0/call_id",
    ),
}


@both_ways
def test_consequences_of_allowing(way: Way) -> None:
    """A result that is allowed to stay behind leaves its call unanswered: refused, unless that is allowed too."""
    document, call_id = CONSEQUENCES[way.format.name]

    assert [("unanswered_call", call_id)] == found(refusals_of(way.there, document, allow={"namespaced"}))
    for allow in ({"namespaced", "unanswered_call"}, "all"):
        assert canon(document) == canon(restored(way, way.there(document, allow=allow)))


# ---------------------------------------------------------------- purity


@both_ways
@given(data=data)
def test_pure(way: Way, data: st.DataObject) -> None:
    """The input is not changed, and the same input gives the same bytes."""
    document = data.draw(st.one_of(way.transcripts(), damaged(way)))
    before = json.dumps(document)

    first, second = everything(way, document), everything(way, document)

    assert before == json.dumps(document)
    assert first == second


def everything(way: Way, document: Json) -> str:
    """All that comes of translating a document, as a text, and of restoring it."""
    there = attempt(way.there, document, allow="all")
    if not isinstance(there, Translation):
        return json.dumps([refusal.as_json() for refusal in there])
    before = json.dumps([there.document, there.remainder])
    back = restored(way, there)
    assert before == json.dumps([there.document, there.remainder])
    return before + json.dumps(back)


PROCESS = """
import json, sys
from turncodec import Refused, to_chat, to_responses
for line in sys.stdin:
    way, document = json.loads(line)
    try:
        there = {"to_chat": to_chat, "to_responses": to_responses}[way](document, allow="all")
        print(json.dumps([there.document, there.remainder]))
    except Refused as refused:
        print(json.dumps([refusal.as_json() for refusal in refused.refusals]))
"""


def test_same_in_every_process() -> None:
    """Two processes that hash in different ways give the same bytes."""
    lines: list[str] = []

    @settings(max_examples=30)
    @given(data=data)
    def collect(data: st.DataObject) -> None:
        for way in WAYS.values():
            allowable = [fault for fault in way.faults if fault.allowable]
            for several in (way.faults, allowable):
                chosen = data.draw(st.lists(st.sampled_from(several), min_size=2, max_size=4))
                document = put_in(data.draw, data.draw(way.transcripts(most=2)), chosen)[0].document
                lines.append(json.dumps([way.name, document], default=str))

    collect()

    assert run("\n".join(lines), seed="1") == run("\n".join(lines), seed="2")


def run(lines: str, seed: str) -> bytes:
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", PROCESS], input=lines.encode(), env=env, capture_output=True, check=True
    )
    return done.stdout


# ---------------------------------------------------------------- totality


def comes_back_or_is_refused(way: Way, document: Json, **options: Any) -> None:
    """The one of two things that must come of any document. `not_reversible` is neither: it says that this library
    lost something."""
    outcome = attempt(way.there, document, **options)
    if isinstance(outcome, Translation):
        assert canon(document) == canon(restored(way, outcome))
    else:
        assert outcome
        assert "not_reversible" not in {refusal.code for refusal in outcome}


@pytest.mark.parametrize("allow", ["", "all"], ids=["", "allow all"])
@both_ways
@given(data=data)
def test_total(way: Way, allow: str, data: st.DataObject) -> None:
    """Of a transcript that was changed blindly nothing comes but its translation, which comes back, or `Refused`."""
    comes_back_or_is_refused(way, data.draw(damaged(way)), allow=allow or ())


@both_ways
@given(data=data)
def test_total_of_any_json(way: Way, data: st.DataObject) -> None:
    """So it is of any JSON value whatever, alone or as a transcript."""
    value = data.draw(json_values)
    for document in (value, [value], {way.key: value}, {way.key: [value]}, [{"role": value}], [{"type": value}]):
        comes_back_or_is_refused(way, document, allow="all")


NOT_JSON = [
    object(),
    (),
    b"[]",
    {1},
    float("nan"),
    OrderedDict(role="user", content="hi"),
    {1: "user"},
    {"role": "user", "content": ("hi",)},
    {"type": "message", "role": "user", "content": Path("hi")},
]


@pytest.mark.parametrize("value", NOT_JSON, ids=lambda value: type(value).__name__)
@both_ways
def test_total_of_python_values(way: Way, value: Any) -> None:
    """A Python value that is no JSON value is refused, wherever it stands."""
    for document in (value, [value], {way.key: value}, {way.key: [value]}, {way.key: [], "column": value}):
        assert refusals_of(way.there, document, allow="all")


@pytest.mark.parametrize("depth", [199, 300, 5000])
@both_ways
def test_total_of_deep_pointers(way: Way, depth: int) -> None:
    """A transcript far down is translated or refused."""
    document: Json = []
    for _ in range(depth):
        document = {"a": document}

    outcome = attempt(way.there, document, at="/a" * depth)

    assert isinstance(outcome, Translation) or found(outcome) == [("too_deep", "")]


@both_ways
@given(data=data)
def test_total_of_pointers(way: Way, data: st.DataObject) -> None:
    """So it is of a pointer to any place."""
    document = data.draw(way.documents())
    at = pointer(data.draw(st.sampled_from(places(document.value))))

    assert attempt(way.there, document.value, at=at)


@both_ways
@given(data=data)
def test_total_of_remainders(way: Way, data: st.DataObject) -> None:
    """A remainder that was changed blindly restores something or is refused."""
    translation = way.there(data.draw(way.transcripts()))
    assume(translation.remainder)
    remainder = data.draw(strategies.mutated(st.just(translation.remainder)))
    assume(remainder is not None)

    outcome = attempt(way.back, translation.document, remainder=remainder)

    codes = set() if isinstance(outcome, Translation) else {refusal.code for refusal in outcome}
    assert {"bad_remainder", "stale_remainder"} >= codes


# ---------------------------------------------------------------- what belongs to a remainder


def call_ids(transcript: Json) -> tuple[list[str], list[str]]:
    """The ids of all calls of a transcript, and of those that are pending."""
    turns = read_items(transcript) if is_items(transcript) else read_chat(transcript)
    ids = [call[0] for turn in turns if turn[0] == "assistant" for call in turn[2]]
    answered = {turn[1] for turn in turns if turn[0] == "result"}
    return ids, [call_id for call_id in ids if call_id not in answered]


def is_items(transcript: Json) -> bool:
    return isinstance(transcript, str) or any("type" in element for element in transcript)


def growth(way: Way, draw: Callable[..., Any], transcript: Json) -> list[Json]:
    """Turns of the other format that may follow the translation of a transcript."""
    ids, pending = call_ids(transcript)
    answer = faults.output if way is CHAT else faults.result
    return [*(answer(call_id) for call_id in pending), *draw(way.grown(ids))]


@both_ways
@given(data=data)
def test_growth(way: Way, data: st.DataObject) -> None:
    """Turns that were added to a translation come back behind the original, which is exactly as it was."""
    document = data.draw(way.documents())
    translation = way.there(document.value, at=document.at)
    turns = value_at(translation.document, document.there)
    more = growth(way, data.draw, document.transcript)
    grown = put(translation.document, document.there, [*turns, *more])
    assume(translation.remainder)

    back = way.back(grown, at=document.at_there, remainder=translation.remainder).document

    whole = value_at(back, document.path)
    assert way.read_there([*turns, *more]) == way.read(whole)
    if more:
        assert canon(as_list(document.transcript)) == canon(whole[: len(as_list(document.transcript))])


@pytest.mark.parametrize("way", [CHAT, RESPONSES], ids=str)
@given(data=data)
def test_growth_and_back(way: Way, data: st.DataObject) -> None:
    """An original that has grown in this way leads back to the translation that has grown, exactly."""
    document = data.draw(way.documents())
    translation = way.there(document.value, at=document.at)
    turns = value_at(translation.document, document.there)
    grown = put(translation.document, document.there, [*turns, *growth(way, data.draw, document.transcript)])
    assume(translation.remainder)

    back = way.back(grown, at=document.at_there, remainder=translation.remainder)

    assert canon(grown) == canon(restored_by(way.there, back, document.at))


ALLOWED_ONCE: dict[str, tuple[list[Json], list[Json]]] = {
    "chat": (
        [faults.user("hi"), faults.says("hello", reasoning_content="hm")],
        [{"type": "reasoning", "id": "rs_1", "summary": []}, faults.item("assistant", "bye")],
    ),
    "responses": (
        [{"type": "reasoning", "id": "rs_1", "summary": []}, faults.item("user", "hi")],
        [faults.says("bye", reasoning_content="hm")],
    ),
}


@both_ways
def test_what_was_added_is_not_allowed(way: Way) -> None:
    """What was allowed for the original is not allowed for the turns that were added to its translation."""
    document, more = ALLOWED_ONCE[way.format.name]
    translation = way.there(document, allow={"reasoning"})
    grown = [*translation.document, *more]

    refusals = refusals_of(way.back, grown, remainder=translation.remainder)

    assert {refusal.code for refusal in refusals} == {"reasoning"}


def as_list(transcript: Json) -> list[Json]:
    """A string of input is one message of the user."""
    return [faults.item("user", transcript)] if isinstance(transcript, str) else list(transcript)


@both_ways
@given(data=data)
def test_stale(way: Way, data: st.DataObject) -> None:
    """A remainder is refused when a text, a name or an argument has changed in the part that it speaks of."""
    translation = way.there(data.draw(way.transcripts()))
    assume(translation.remainder)
    sayings = [path for path in places(translation.document) if says_something(translation.document, path)]
    assume(sayings)
    path = data.draw(st.sampled_from(sayings))
    new = "other" if path[-1] == "name" else value_at(translation.document, path) + "!"
    changed = put(translation.document, path, new)

    refusals = refusals_of(way.back, changed, remainder=translation.remainder)

    assert found(refusals) == [("stale_remainder", "")]


def says_something(value: Json, path: tuple[str | int, ...]) -> bool:
    return bool(path) and path[-1] in SAYINGS and isinstance(value_at(value, path), str)


@both_ways
@given(data=data)
def test_stale_when_shorter(way: Way, data: st.DataObject) -> None:
    """A remainder is refused when the last turn is gone."""
    translation = way.there(data.draw(way.transcripts()))
    assume(translation.remainder)

    refusals = refusals_of(way.back, translation.document[:-1], remainder=translation.remainder)

    assert found(refusals) == [("stale_remainder", "")]


@both_ways
def test_remainder_of_the_other_direction(way: Way) -> None:
    """A remainder restores the format that it was made from, and no other."""
    document = [faults.item("user", "hi", id=None)] if way is RESPONSES else [faults.says("hi", audio=None)]
    remainder = way.there(document).remainder

    assert found(refusals_of(way.there, document, remainder=remainder)) == [("bad_remainder", "")]


UNFIT: list[list[Json]] = [
    [5],
    [{}],
    [{"op": "add", "path": "/0/x"}],
    [{"op": "copy", "from": "/0", "path": "/1"}],
    [{"op": "move", "from": 5, "path": "/0"}],
    [{"op": "add", "path": "0", "value": 1}],
    [{"op": "add", "path": "/7", "value": 1}],
    [{"op": "add", "path": "/x", "value": 1}],
    [{"op": "remove", "path": "/0/nothing"}],
    [{"op": "remove", "path": "/0/role/0"}],
    [{"op": "replace", "path": "/9", "value": 1}],
    [{"op": "move", "from": "/9", "path": "/0"}],
]


@pytest.mark.parametrize("patch", UNFIT, ids=json.dumps)
@both_ways
def test_patch_that_does_not_fit(way: Way, patch: list[Json]) -> None:
    """A remainder whose patch does not fit its document is refused, not followed half way."""
    translation = way.there(
        [faults.item("user", "hi", id=None)] if way is RESPONSES else [faults.user("hi", name=None)]
    )
    assert translation.remainder

    refusals = refusals_of(way.back, translation.document, remainder={**translation.remainder, "patch": patch})

    assert found(refusals) in ([("stale_remainder", "")], [("bad_remainder", "")])


# ---------------------------------------------------------------- the net

LOSING: dict[str, tuple[Way, str, Callable[[Any], Any], list[Json], list[str]]] = {
    "arguments of a call": (
        CHAT,
        "call_to_item",
        lambda item: {**item, "arguments": "{}"},
        [faults.calls(faults.call("c1", function={"name": "f", "arguments": "[]"}))],
        ["/0/tool_calls/0/function/arguments"],
    ),
    "content of a result": (
        CHAT,
        "result_to_item",
        lambda item: {**item, "output": ""},
        [faults.calls(faults.call("c1")), faults.result("c1")],
        ["/1/content"],
    ),
    "arguments of a call in a turn of several messages": (
        CHAT,
        "call_to_item",
        lambda item: {**item, "name": "g"},
        [faults.user("go"), faults.says("so"), faults.calls(faults.call("c1"))],
        ["/1", "/2"],
    ),
    "name of a call item": (
        RESPONSES,
        "item_to_call",
        lambda call: {**call, "function": {**call["function"], "name": "g"}},
        [faults.item("user", "go"), faults.function_call("c1")],
        ["/1/name"],
    ),
    "text of a message item": (
        RESPONSES,
        "item_to_assistant",
        lambda message: {**message, "content": "hi"},
        [faults.item("assistant", "hello")],
        ["/0/content"],
    ),
    "a whole item": (
        RESPONSES,
        "item_to_assistant",
        lambda message: {**message, "content": None},
        [faults.item("assistant", "hello")],
        ["/0"],
    ),
}


@pytest.mark.parametrize("name", LOSING)
def test_what_a_mapping_loses_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mapping with a mistake in it cannot translate what it would lose: the way back shows it."""
    way, function, spoil, document, pointers = LOSING[name]
    right = getattr(turns, function)
    assert way.there(document)

    monkeypatch.setattr(turns, function, lambda *arguments: spoil(right(*arguments)))

    assert found(refusals_of(way.there, document, allow="all")) == [("not_reversible", place) for place in pointers]


@both_ways
def test_remainder_that_would_not_restore_is_noticed(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """A remainder is not given unless applying it gives the original."""
    document = [faults.item("user", "hi", id=None)] if way is RESPONSES else [faults.user("hi", name=None)]
    assert way.there(document).remainder

    monkeypatch.setattr("turncodec.translate.apply", lambda _, document: document)

    assert found(refusals_of(way.there, document)) == [("not_reversible", "")]


def test_order_that_a_mapping_loses_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is with the order of calls."""
    right = turns.close
    document = [faults.function_call("c1"), faults.function_call("c2")]

    monkeypatch.setattr(turns, "close", lambda turn, calls, messages: right(turn, calls[::-1], messages))

    assert "not_reversible" in {refusal.code for refusal in refusals_of(to_chat, document)}


@given(json_values, data)
def test_strict_equality(value: Json, data: st.DataObject) -> None:
    """Two JSON values are the same when they are the same document: of the same types, whatever the order of keys."""
    other = data.draw(st.one_of(json_values, strategies.mutated(st.just(value)), st.just(upside_down(value))))

    assert same(value, other) == (canon(value) == canon(other))
    assert same(value, upside_down(value))


def upside_down(value: Json) -> Json:
    """The same JSON value with the keys of its objects in another order."""
    if isinstance(value, list):
        return [upside_down(entry) for entry in value]
    if isinstance(value, dict):
        return {key: upside_down(inner) for key, inner in reversed(value.items())}
    return value


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, 1.0), (1, True), (0, False), (0.0, -0.0), (1, "1"), (None, False), ([], {}), ({"a": None}, {}), ([1], [1, 1])],
)
def test_different_values(left: Json, right: Json) -> None:
    """These differ, whatever Python says."""
    assert not same(left, right)
    assert not same({"a": [left]}, {"a": [right]})


# ---------------------------------------------------------------- what is seen at a glance


def anything(way: Way) -> st.SearchStrategy[Any]:
    """Lists of turns, valid and not."""

    @st.composite
    def faulty(draw: Callable[..., Any]) -> Any:
        chosen = draw(st.lists(st.sampled_from(way.faults), min_size=1, max_size=3))
        return put_in(draw, draw(way.transcripts()), chosen)[0].document

    lists = st.one_of(way.transcripts(), way.plain(), faulty(), strategies.mutated(way.plain()))
    return lists.filter(lambda value: isinstance(value, list))


@both_ways
@given(data=data)
def test_plain_at_a_glance_is_valid(way: Way, data: st.DataObject) -> None:
    """An element that is plain at a glance has nothing wrong with it at a closer look."""
    elements = data.draw(anything(way))
    odd, _ = way.format.glance(elements)

    plain = [element for n, element in enumerate(elements) if n not in odd]

    assert [finding for element in plain for finding in way.format.findings(element)] == []


@both_ways
@given(data=data)
def test_paired_at_a_glance_is_paired(way: Way, data: st.DataObject) -> None:
    """Calls and results that are in order at a glance are in order at a closer look."""
    elements = data.draw(anything(way))
    _, paired = way.format.glance(elements)
    assume(paired)

    assert pair(way.format.events(elements), {}).findings == []


# ---------------------------------------------------------------- kinds


@pytest.mark.parametrize("kind", ["row", "request"])
@both_ways
@FEW
@given(data=data)
def test_kind(way: Way, kind: str, data: st.DataObject) -> None:
    """Saying what an object is that holds nothing but a transcript changes nothing."""
    document = {way.key: data.draw(way.transcripts(most=2))}

    assert way.there(document, kind=kind) == way.there(document)


@both_ways
def test_kind_that_it_is_not(way: Way) -> None:
    """A document that is not what it is said to be is refused."""
    assert found(refusals_of(way.there, {way.key: []}, kind="transcript")) == [("unknown_shape", "")]
    assert found(refusals_of(way.there, [], kind="row")) == [("unknown_shape", "")]


# ---------------------------------------------------------------- misuse


@both_ways
def test_unknown_kind(way: Way) -> None:
    """A word that is no kind of document is a mistake of the caller."""
    with pytest.raises(ValueError, match="kind"):
        way.there([], kind="conversation")


@pytest.mark.parametrize("at", ["messages", "a/b"])
@both_ways
def test_no_pointer(way: Way, at: str) -> None:
    """A text that is no JSON pointer is a mistake of the caller."""
    with pytest.raises(ValueError, match="pointer"):
        way.there({"messages": []}, at=at)


def test_unknown_target() -> None:
    """A word that is no format is a mistake of the caller."""
    with pytest.raises(ValueError, match="'items'"):
        check([], "items")


# ---------------------------------------------------------------- the strategies themselves


def calls_in(messages: Json) -> list[int]:
    return [len(message.get("tool_calls") or ()) for message in messages]


def orders(turns: list[Turn]) -> tuple[list[str], list[str]]:
    called = [call[0] for turn in turns if turn[0] == "assistant" for call in turn[2]]
    return called, [turn[1] for turn in turns if turn[0] == "result"]


REACHED: dict[str, tuple[Way, Callable[[Json], bool]]] = {
    "parallel calls": (CHAT, lambda x: max(calls_in(x), default=0) > 1),
    "results in another order": (CHAT, lambda x: len(set(orders(read_chat(x))[1])) > 1 and differ(read_chat(x))),
    "outputs in another order": (RESPONSES, lambda x: len(orders(read_items(x))[1]) > 1 and differ(read_items(x))),
    "pending calls": (CHAT, lambda x: bool(call_ids(x)[1])),
    "pending call items": (RESPONSES, lambda x: is_items(x) and bool(call_ids(x)[1])),
    "assistant messages in a row": (CHAT, lambda x: any(a["role"] == b["role"] == "assistant" for a, b in pairs(x))),
    "calls, then text": (RESPONSES, lambda x: any("name" in a and b.get("role") == "assistant" for a, b in pairs(x))),
    "refusal": (CHAT, lambda x: any(message.get("refusal") for message in x)),
    "refusal part": (RESPONSES, lambda x: '"refusal"' in json.dumps(x)),
    "image": (CHAT, lambda x: '"image_url"' in json.dumps(x)),
    "file": (RESPONSES, lambda x: '"input_file"' in json.dumps(x)),
    "call without a type": (CHAT, lambda x: any("type" not in c for m in x for c in m.get("tool_calls") or ())),
    "index": (CHAT, lambda x: any(c.get("index") for m in x for c in m.get("tool_calls") or ())),
    "name of a result": (CHAT, lambda x: any(m["role"] == "tool" and m.get("name") for m in x)),
    "message without a type": (RESPONSES, lambda x: any("type" not in item for item in x)),
    "annotations": (RESPONSES, lambda x: '"annotations": []' in json.dumps(x)),
}


def pairs(elements: list[Json]) -> list[tuple[Json, Json]]:
    return list(pairwise(elements))


def differ(turns: list[Turn]) -> bool:
    called, answered = orders(turns)
    return answered != [call_id for call_id in called if call_id in answered]


@pytest.mark.parametrize("name", REACHED)
def test_strategies_reach(name: str) -> None:
    """The documents of these tests include the forms that matter."""
    way, holds = REACHED[name]
    quick = settings(max_examples=2000, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None)

    assert find(way.transcripts(), holds, settings=quick, random=Random(0))


@pytest.mark.parametrize("code", sorted(fault.code for fault in FAULTS))
def test_faults_have_codes(code: str) -> None:
    """Every fault is reported by a code of the table."""
    assert code in CODES
