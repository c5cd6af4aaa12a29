"""What is this? A transcript, a request, a row with a transcript in it; in which format; and where the transcript is.

Recognised by parsing, never by substring, and never guessed: a document that fits nothing is refused with what was
found and what to say instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from turncodec.edge import decode
from turncodec.equality import DEEPEST, json_faults
from turncodec.formats import CHAT, RESPONSES, Format
from turncodec.lines import LINE_PRESETS, Lines
from turncodec.mapping.parameters import PARAMETERS
from turncodec.record import URLS, BatchLine, InText, Part, Record, Unchanged, Unreadable, settings_in
from turncodec.refusals import Finding, Path, Refused, follow, path_of, raise_all, refused
from turncodec.remainder import Op
from turncodec.request import Request, Row
from turncodec.response import Completion, Response
from turncodec.transcript import Transcript

Settings = dict[str, Any]

ALIASES = {"chat": "row", "finetune": "request", "batch-in": "batch", "batch-out": "batch"}
"""Other names of kinds, by what people call their files."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A row of a log: where its request and its answer stand, and whether as strings of JSON."""

    request: str
    response: str
    text: bool = False
    turns: str = ""
    """A column that has the turns of the request once more, and keeps its name."""
    note: str = ""


PRESETS: dict[str, Preset] = {
    "pair": Preset("/request", "/response", note="a request and its answer in one row"),
    "helicone": Preset("/request_body", "/response_body", note="export of Helicone"),
    "openpipe": Preset("/input", "/output", note="logs of OpenPipe"),
    "langfuse": Preset("/input", "/output", text=True, note="export of Langfuse: strings that hold JSON"),
    "litellm": Preset(
        "/proxy_server_request", "/response", turns="messages", note="spend logs of LiteLLM; `messages` keeps its name"
    ),
}
"""Shapes in which requests and answers are stored together, exactly as they went over the wire."""


KINDS = ("transcript", "request", "response", "batch", "row", *PRESETS, *LINE_PRESETS, *ALIASES)
"""What a document may be said to be."""


class Subject(Protocol):
    """What is translated: a transcript, a request, ... . Paths begin at its value."""

    format: Format
    back: Any
    """The back-translation, once proved."""
    count: int
    """How many turns the translation has."""

    @property
    def turns(self) -> Transcript | None:
        """Its list of turns, which may grow; an answer has none."""

    def examine(self) -> list[Finding]: ...
    def allow(self, codes: Collection[str]) -> list[Finding]: ...
    def map(self) -> Any: ...
    def prove(self, mapped: Any) -> list[Op]: ...


@dataclass(slots=True)
class Layout:
    """What a document is, and where the subject and its list of turns stand in it."""

    subject: Subject
    path: Path = ()
    target: Path = ()
    """Where the translated subject stands in the translated document."""
    turns_path: Path = ()
    turns_target: Path = ()
    turns_back: Path | None = None
    """Where the list stands in the back-translation, if not at `turns_path`."""


def layout_of(
    document: Any,
    format_: Format,
    kind: str | None = None,
    at: Path | None = None,
    settings: Settings | None = None,
    places: Preset | None = None,
) -> Layout:
    """The layout of a document in `format_`. Raises `Refused` where it has none, ValueError for an unknown kind.
    `settings` is what a response echoes of its request, where that is known; `places` where a row has a request and
    its answer."""
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    if at is not None:
        return layout_at(document, format_, at)
    if places is not None:
        return pair(document, format_, places)
    if kind is None:
        kind = kind_of(document, format_)
    return LAYOUTS[kind](document, format_, settings or {})


def kind_of(document: Any, format_: Format) -> str:
    """What a document is, by its keys: one of `KINDS`, or error."""
    if not isinstance(document, dict):
        return "transcript"
    if document.get("object") in ("chat.completion", "response"):
        return "response"
    if "custom_id" in document and is_batch(document):
        return "batch"
    if not has_transcript(document, format_):
        if "custom_id" in document and not {"body", "response", "error"}.isdisjoint(document):
            return "batch"
        if is_error(document):
            return "error"
        if isinstance(document.get("choices"), list):
            return "response"
    if len(document) == 1:
        return "row"  # as a request it would be the same to look at, with more to look for
    return "request" if "model" in document or document.keys() <= REQUEST_KEYS else "row"


def is_batch(document: dict[str, Any]) -> bool:
    """Whether a record has the frame of a batch line, whatever other columns it has."""
    answer = document.get("response")
    return isinstance(document.get("body"), dict) or (isinstance(answer, dict) and "body" in answer)


def format_of(document: Any) -> Format:
    """The format that a document is in, by its keys; Chat where nothing tells."""
    inner = [path_of(pointer) for row in PRESETS.values() for pointer in (row.request, row.response)]
    for path in ((), ("body",), ("response", "body"), *inner):
        told = told_by(follow(document, path)) if is_filled(document, path) else None
        if told:
            return told
    return CHAT


def told_by(value: Any) -> Format | None:
    """The format that the keys of a body or the turns of a list tell, or None."""
    if isinstance(value, list):
        turns = [turn for turn in value if isinstance(turn, dict)]
        return RESPONSES if any("type" in turn or has_item_parts(turn) for turn in turns) else CHAT
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("messages"), list) or isinstance(value.get("choices"), list):
        return CHAT
    if value.get("object") == "response" or has_transcript(value, RESPONSES):
        return RESPONSES
    return None


def has_item_parts(turn: dict[str, Any]) -> bool:
    content = turn.get("content")
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and str(part.get("type")).startswith(("input_", "output_")) for part in parts)


REQUEST_KEYS = frozenset(
    name.partition(".")[0].partition("[")[0] for row in PARAMETERS for name in (row.chat, row.responses) if name
)
"""The keys of a request of either format: so a request is one, and a row a row, on both sides of a translation."""


def transcript(document: Any, format_: Format, _: Settings) -> Layout:
    if not isinstance(document, list):
        raise refused("unknown_shape", (), "a document is a list of turns or an object that holds one")
    raise_all(turned_already(document, (), format_))
    return Layout(Transcript(document, format_))


def request(document: Any, format_: Format, _: Settings) -> Layout:
    raise_all(no_transcript(document, format_))
    return Layout(Request(document, format_), (), (), (format_.key,), (format_.other.key,))


def row(document: Any, format_: Format, _: Settings) -> Layout:
    if not (isinstance(document, dict) and type(document.get(format_.key)) is list):
        raise_all(no_transcript(document, format_))
    return Layout(Row(document, format_, format_.key), (), (), (format_.key,), (format_.other.key,))


def response(document: Any, format_: Format, settings: Settings) -> Layout:
    answer = answer_in(document, format_, settings) if isinstance(document, dict) else None
    if answer is None:
        raise refused("unknown_shape", (), "an answer is a chat.completion or a response object")
    return Layout(answer)


def error(document: Any, format_: Format, _: Settings) -> Layout:
    return Layout(Unchanged(document, format_))


def layout_at(document: Any, format_: Format, at: Path) -> Layout:
    """The layout of a document whose list of turns stands at a path: a row is around it, or only a list."""
    raise_all(nothing_at(document, at, format_))
    at = as_found(document, at)
    holder = follow(document, at[:-1]) if at else document
    if not at or not isinstance(holder, dict):
        raise_all(json_faults(put_at(document, at, at, None)) if at else [])
        return Layout(Transcript(follow(document, at), format_), at, at, at, at)
    raise_all(turned_already(holder[at[-1]], at, format_))
    raise_all(json_faults(put_at(document, at[:-1], at[:-1], None)) if at[1:] else [])
    subject = Row(holder, format_, str(at[-1]))
    around = at[:-1]
    return Layout(subject, around, around, at, (*around, subject.target), (*around, subject.back_key))


def is_error(document: Any) -> bool:
    """The body that a server sends in place of an answer (specification, Errors)."""
    if not isinstance(document, dict) or not document.keys().isdisjoint(SAYING):
        return False
    error = document.get("error")
    return document.get("object") == "error" or isinstance(error, dict) or (isinstance(error, str) and error != "")


SAYING = ("messages", "input", "choices", "output", "body", "response")
"""Keys under which a document says more than an error."""


def batch_line(line: Any, format_: Format, settings: Settings) -> Layout:
    """A line of a batch input (a request in `body`) or output (an answer in `response.body`, or an error)."""
    if not isinstance(line, dict):
        raise refused("unknown_shape", (), "a line of a batch file is an object")
    if isinstance(line.get("body"), dict):
        body = line["body"]
        if line.get("url") in (None, *URLS.values()):
            nothing = [finding.under(("body",)) for finding in no_transcript(body, format_)]
            if line.get("url") == URLS[format_.name] and any(f.code == "wrong_direction" for f in nothing):
                raise refused("mixed_formats", ("url",), f"the url is that of {format_.title}, the body is not")
            raise_all(nothing)
        return Layout(BatchLine(line, format_, {("body",): Request(body, format_)} if format_.key in body else {}))
    response = line.get("response")
    answer = response.get("body") if isinstance(response, dict) else None
    if is_error(answer) or (answer is None and line.get("error") is not None):
        return Layout(Unchanged(line, format_))
    if not isinstance(answer, dict):
        path: Path = ("response",) if "response" in line else ()
        raise refused("unknown_shape", path, "a batch line has a body, or a response with a body, or an error")
    part = answer_in(answer, format_, settings, ("response", "body"))
    if part is None:
        raise refused("unknown_shape", ("response", "body"), "this is no answer of either format")
    return Layout(BatchLine(line, format_, {("response", "body"): part}))


def answer_in(
    document: dict[str, Any], format_: Format, settings: Settings, base: Path = ()
) -> Completion | Response | None:
    """The answer that a document is, or None. Raises `Refused` where it is one of the other format."""
    chat_answer = document.get("object") == "chat.completion" or isinstance(document.get("choices"), list)
    if not chat_answer and document.get("object") != "response":
        return None
    if chat_answer != (format_ is CHAT):
        key = "choices" if chat_answer else "output"
        said = f"the document is in {format_.other.title} already"
        raise refused("wrong_direction", (*base, key) if key in document else base, said)
    return Completion(document, settings) if chat_answer else Response(document)


def turned_already(turns: Any, path: Path, format_: Format) -> list[Finding]:
    """Whether a list under no name of its own is one of the other format, from its first entry to its last."""
    first = turns[0] if isinstance(turns, list) and turns else None
    if not isinstance(first, dict) or ("type" in first) != (format_ is CHAT):
        return []
    if format_ is CHAT:
        other = all(isinstance(turn, dict) and "type" in turn for turn in turns)
    else:
        other = all(isinstance(turn, dict) and "role" in turn and "type" not in turn for turn in turns) and any(
            "tool_calls" in turn or "tool_call_id" in turn for turn in turns
        )
    said = f"the turns are in {format_.other.title} already"
    return [Finding("wrong_direction", path, said)] if other else []


def _preset(name: str, document: Any, format_: Format, _: Settings) -> Layout:
    return pair(document, format_, PRESETS[name])


def pair(document: Any, format_: Format, preset: Preset) -> Layout:
    """A row with a request and its answer. A place that is missing, null or empty has nothing to translate."""
    if not isinstance(document, dict):
        raise refused("unknown_shape", (), "a row with a request and its answer is an object")
    places = [path_of(preset.request), path_of(preset.response)]
    filled = {path: follow(document, path) for path in places if is_filled(document, path)}
    if not filled:
        said = f"there is nothing at {preset.request} and {preset.response}"
        raise refused("unknown_shape", (), said)
    parts: dict[Path, Part] = {}
    settings: Settings = {}
    for path, value in filled.items():
        parts[path] = part_of(value, format_, settings, preset.text)
        settings = settings or settings_in(parts[path], value)
    if preset.turns and isinstance(document.get(preset.turns), list) and document[preset.turns]:
        parts[(preset.turns,)] = Transcript(document[preset.turns], format_)
    return Layout(Record(document, format_, parts))


def is_filled(document: Any, path: Path) -> bool:
    try:
        return follow(document, path) not in (None, {}, [], "")
    except (KeyError, IndexError, TypeError):
        return False


def part_of(value: Any, format_: Format, settings: Settings, text: bool) -> Part:
    """What stands at one place of a row: a document of any kind, or where `text` a string that holds one. A string
    that is no JSON is text, and stays it."""
    if text and isinstance(value, str):
        try:
            inner = decode(value.encode(errors="surrogatepass"))
        except Refused as broken:
            opens = value.lstrip().startswith(('{"', "[{"))
            return Unreadable(value, broken) if opens else Unchanged(value, format_)
        if not isinstance(inner, dict | list):
            return Unchanged(value, format_)
        return InText(value, part_of(inner, format_, settings, text=False))
    try:
        return layout_of(value, format_, settings=settings).subject
    except Refused as nothing:
        return Unreadable(value, nothing)


def lines(name: str, document: Any, format_: Format, _: Settings) -> Layout:
    """The lines of a file, each with one turn."""
    if not isinstance(document, list):
        raise refused("unknown_shape", (), "the lines of a file are a list of objects")
    subject = Lines(document, format_, LINE_PRESETS[name])
    if not subject.threads:
        raise refused("unknown_shape", (), f"no line has a turn under {LINE_PRESETS[name].turn!r}")
    if all(turned_already(thread.transcript.elements, (), format_) for thread in subject.threads):
        raise refused("wrong_direction", (), f"the turns are in {format_.other.title} already")
    return Layout(subject)


LAYOUTS: dict[str, Callable[[Any, Format, Settings], Layout]] = {
    "transcript": transcript,
    "request": request,
    "response": response,
    "batch": batch_line,
    "row": row,
    "error": error,
    **{name: partial(_preset, name) for name in PRESETS},
    **{name: partial(lines, name) for name in LINE_PRESETS},
}
LAYOUTS |= {name: LAYOUTS[usual] for name, usual in ALIASES.items()}


def nothing_at(document: Any, at: Path, format_: Format) -> list[Finding]:
    """Why there is no list of turns at a path, or nothing."""
    if len(at) > DEEPEST:
        return [Finding("too_deep", (), f"nested more than {DEEPEST} levels deep")]
    for n in range(len(at) + 1):
        try:
            value = follow(document, at[:n])
        except (KeyError, IndexError, TypeError):
            return [Finding("unknown_shape", at[: n - 1], f"there is no {at[n - 1]!r:.60} here")]
    if is_transcript(value, format_):
        return []
    return [Finding("unknown_shape", at, f"a list of {format_.title} turns must stand here")]


def as_found(document: Any, at: Path) -> Path:
    """A path with each step as what it is in this document: digits may be a key or an index."""
    steps: list[str | int] = []
    for step in at:
        steps.append(str(step) if isinstance(document, dict) else step)
        document = document[steps[-1]]
    return tuple(steps)


def no_transcript(document: Any, format_: Format) -> list[Finding]:
    """Why an object holds no transcript of the format, or nothing."""
    if not isinstance(document, dict):
        return [Finding("unknown_shape", (), "a document is a list of turns or an object that holds one")]
    if has_transcript(document, format_):
        if format_.other.key in document:
            said = f"both {format_.key} and {format_.other.key} stand in one object"
            return [Finding("mixed_formats", (format_.other.key,), said)]
        return []
    if has_transcript(document, format_.other):
        said = f"the document is in {format_.other.title} already"
        return [Finding("wrong_direction", (format_.other.key,), said)]
    found = ", ".join(sorted(map(str, document))[:12]) or "nothing"
    return [Finding("unknown_shape", (), f"no list of turns under {format_.key!r}; the keys are {found}")]


def has_transcript(document: dict[str, Any], format_: Format) -> bool:
    """Whether an object has turns under the key of the format. A text `input` beside a text `output` is the row of a
    table for training, and no conversation."""
    value = document.get(format_.key)
    return is_transcript(value, format_) and not (isinstance(value, str) and isinstance(document.get("output"), str))


def is_transcript(value: Any, format_: Format) -> bool:
    return isinstance(value, list) or (isinstance(value, str) and format_.key == "input")


# ---------------------------------------------------------------- reaching in


def put_at(document: Any, path: Path, target: Path, value: Any) -> Any:
    """The document with `value` at `target` in place of what stood at `path`; everything else is shared with it.

    The two paths differ at most in their last key, which keeps its place among the other keys.
    """
    if not path:
        return value
    step, new = path[0], target[0]
    if isinstance(document, list):
        copy = list(document)
        copy[int(step)] = put_at(document[int(step)], path[1:], target[1:], value)
        return copy
    inner = put_at(document[step], path[1:], target[1:], value)
    return {new if key == step else key: inner if key == step else old for key, old in document.items()}
