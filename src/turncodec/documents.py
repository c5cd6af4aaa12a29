"""What is this? A transcript, a request, a row with a transcript in it; in which format; and where the transcript is.

Recognised by parsing, never by substring, and never guessed: a document that fits nothing is refused with what was
found and what to say instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from turncodec.formats import Format
from turncodec.refusals import Finding, Path, raise_all

KINDS = ("transcript", "request", "row")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the transcript of a document stands."""

    kind: str
    path: Path
    """In the document as given."""
    target: Path
    """In the translated document."""

    @property
    def turned(self) -> Layout:
        """The layout of the translated document."""
        return Layout(self.kind, self.target, self.path)


def layout_of(document: Any, format_: Format, kind: str | None = None, at: Path | None = None) -> Layout:
    """The layout of a document in `format_`. Raises `Refused` where it has none."""
    if at is not None:
        raise_all(nothing_at(document, at, format_))
        key = format_.other.key if at and at[-1] == format_.key else None
        return Layout("row", at, at if key is None else (*at[:-1], key))
    if isinstance(document, list):
        return Layout("transcript", (), ())
    raise_all(no_transcript(document, format_))
    return Layout(kind or kind_of(document, format_), (format_.key,), (format_.other.key,))


def kind_of(document: dict[str, Any], format_: Format) -> str:
    return "request" if "model" in document or set(document) == {format_.key} else "row"


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
