"""What is this? A transcript, a request, a row with a transcript in it; in which format; and where the transcript is.

Recognised by parsing, never by substring, and never guessed: a document that fits nothing is refused with what was
found and what to say instead.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

from turncodec.formats import CHAT, Format
from turncodec.mapping.parameters import PARAMETERS
from turncodec.refusals import Finding, Path, raise_all
from turncodec.remainder import Op
from turncodec.request import Request, Row
from turncodec.response import Completion, Response
from turncodec.transcript import Transcript

KINDS = ("transcript", "request", "response", "row")


class Subject(Protocol):
    """What is translated: a transcript, a request, ... . Paths begin at its value."""

    format: Format
    turns: Transcript | None
    """Its list of turns, which may grow; an answer has none."""
    back: Any
    """The back-translation, once proved."""
    count: int
    """How many turns the translation has."""

    def examine(self) -> list[Finding]: ...
    def allow(self, codes: Collection[str]) -> list[Finding]: ...
    def map(self) -> Any: ...
    def prove(self, mapped: Any) -> list[Op]: ...


@dataclass(frozen=True, slots=True)
class Layout:
    """What a document is, and where the subject and its list of turns stand in it."""

    subject: Subject
    path: Path = ()
    target: Path = ()
    """Where the translated subject stands in the translated document."""
    turns_path: Path = ()
    turns_target: Path = ()


def layout_of(document: Any, format_: Format, kind: str | None = None, at: Path | None = None) -> Layout:
    """The layout of a document in `format_`. Raises `Refused` where it has none, ValueError for an unknown kind."""
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    if at is not None:
        return layout_at(document, format_, at)
    if isinstance(document, list) and kind in (None, "transcript"):
        return Layout(Transcript(document, format_))
    if isinstance(document, dict) and kind in (None, "response") and (answer := answer_in(document, format_)):
        return Layout(answer)
    raise_all(no_transcript(document, format_))
    subject = (Request if (kind or kind_of(document, format_)) == "request" else row)(document, format_)
    return Layout(subject, (), (), (format_.key,), (format_.other.key,))


def answer_in(document: dict[str, Any], format_: Format) -> Subject | None:
    """The answer that a document is, or None. Raises `Refused` where it is one of the other format."""
    chat_answer = document.get("object") == "chat.completion" or isinstance(document.get("choices"), list)
    if not chat_answer and document.get("object") != "response":
        return None
    if chat_answer != (format_ is CHAT):
        key = "choices" if chat_answer else "output"
        said = f"this is a {format_.other.title} document already"
        raise_all([Finding("wrong_direction", (key,) if key in document else (), said)])
    return Completion(document, {}) if chat_answer else Response(document, {})


def row(document: dict[str, Any], format_: Format) -> Row:
    return Row(document, format_, format_.key)


def layout_at(document: Any, format_: Format, at: Path) -> Layout:
    """The layout of a document whose list of turns stands at a path: a row is around it, or only a list."""
    raise_all(nothing_at(document, at, format_))
    holder = get_at(document, at[:-1]) if at else document
    if not at or not isinstance(holder, dict):
        return Layout(Transcript(get_at(document, at), format_), at, at, at, at)
    subject = Row(holder, format_, str(at[-1]))
    return Layout(subject, at[:-1], at[:-1], at, (*at[:-1], subject.target))


def kind_of(document: dict[str, Any], format_: Format) -> str:
    """A request names a model, or holds nothing but what a request may hold; everything else is a row."""
    return "request" if "model" in document or document.keys() <= REQUEST_KEYS[format_.name] else "row"


REQUEST_KEYS = {
    side: frozenset(getattr(row, side).partition(".")[0].partition("[")[0] for row in PARAMETERS) - {""}
    for side in ("chat", "responses")
}

def nothing_at(document: Any, at: Path, format_: Format) -> list[Finding]:
    value = document
    for n, step in enumerate(at):
        try:
            value = value[step] if isinstance(value, list) == isinstance(step, int) else value[str(step)]
        except (KeyError, IndexError, TypeError):
            return [Finding("unknown_shape", at[:n], f"there is no {step!r} here")]
    if isinstance(value, list) or (isinstance(value, str) and format_.key == "input"):
        return []
    return [Finding("unknown_shape", at, f"a list of {format_.title} turns must stand here")]


def no_transcript(document: Any, format_: Format) -> list[Finding]:
    """Why an object holds no transcript of the format, or nothing."""
    if not isinstance(document, dict):
        return [Finding("unknown_shape", (), "a document is a list of turns or an object that holds one")]
    here, there = document.get(format_.key), document.get(format_.other.key)
    if is_transcript(here, format_):
        if format_.other.key in document:
            said = f"both {format_.key} and {format_.other.key} stand in one object"
            return [Finding("mixed_formats", (format_.other.key,), said)]
        return []
    if is_transcript(there, format_.other):
        said = f"this is a {format_.other.title} document already"
        return [Finding("wrong_direction", (format_.other.key,), said)]
    found = ", ".join(sorted(map(str, document))[:12]) or "nothing"
    return [Finding("unknown_shape", (), f"no list of turns under {format_.key!r}; the keys are {found}")]


def is_transcript(value: Any, format_: Format) -> bool:
    return isinstance(value, list) or (isinstance(value, str) and format_.key == "input")


# ---------------------------------------------------------------- reaching in


def get_at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


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
