"""A record around what is translated: a line of a batch file, or a row of a log with a request and its answer.

The parts change together; everything else of the record passes through untouched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any, Protocol

from turncodec.edge import decode, encode
from turncodec.equality import json_faults
from turncodec.formats import Format
from turncodec.refusals import Finding, Path, Refused, follow
from turncodec.remainder import Op
from turncodec.request import Request, settings_from
from turncodec.response import Response
from turncodec.transcript import NotReversible
from turncodec.validate import in_order

URLS = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}


class Part(Protocol):
    """What stands in a record and is translated with it."""

    back: Any

    def examine(self) -> list[Finding]: ...
    def allow(self, codes: Collection[str]) -> list[Finding]: ...
    def map(self) -> Any: ...
    def prove(self, mapped: Any) -> list[Op]: ...


class Record:
    """A record with parts at paths of its own. An answer beside its request echoes the settings of that request."""

    turns = None
    count = 0

    def __init__(self, value: dict[str, Any], format_: Format, parts: dict[Path, Part]) -> None:
        self.value, self.format, self.parts = value, format_, parts
        self.back: Any = value

    def examine(self) -> list[Finding]:
        rest = self.value
        for path in self.parts:
            rest = put(rest, path, None)
        findings = list(json_faults(rest)) + self.own_findings()
        findings += [f.under(path) for path, part in self.parts.items() for f in part.examine()]
        return in_order(self.value, findings)

    def own_findings(self) -> list[Finding]:
        return []

    def allow(self, codes: Collection[str]) -> list[Finding]:
        return [f.under(path) for path, part in self.parts.items() for f in part.allow(codes)]

    def map(self) -> dict[str, Any]:
        mapped = self.turned(self.value, self.format.other)
        for path, part in self.parts.items():
            mapped = put(mapped, path, part.map())
        return mapped

    def turned(self, record: dict[str, Any], format_: Format) -> dict[str, Any]:  # noqa: ARG002 - see `BatchLine`
        """The record with its own keys as they are in a format."""
        return record

    def prove(self, mapped: dict[str, Any]) -> list[Op]:
        self.back = self.turned(mapped, self.format)
        ops: list[Op] = []
        lost: list[Path] = []
        settings: dict[str, Any] = {}
        for path, part in self.parts.items():
            answer = part.part if isinstance(part, InText) else part
            if isinstance(answer, Response):
                answer.settings = settings
            try:
                ops += [op.under(path) for op in part.prove(follow(mapped, path))]
            except NotReversible as wrong:
                lost += [path + inner for inner in wrong.paths]
            self.back = put(self.back, path, part.back)
            settings = settings or settings_in(part, follow(mapped, path))
        if lost:
            raise NotReversible(lost)
        return ops


class BatchLine(Record):
    """A line of a batch file: its `url` changes together with its body."""

    def own_findings(self) -> list[Finding]:
        url = self.value.get("url")
        if url is None or url == URLS[self.format.name]:
            return []
        if url == URLS[self.format.other.name]:
            said = f"the url is that of {self.format.other.title}, the body is not"
            return [Finding("mixed_formats", ("url",), said)]
        return [Finding("batch_url", ("url",), f"{url!r:.80} is neither {' nor '.join(URLS.values())}")]

    def turned(self, record: dict[str, Any], format_: Format) -> dict[str, Any]:
        return {**record, "url": URLS[format_.name]} if isinstance(record.get("url"), str) else record


def put(record: Any, path: Path, value: Any) -> Any:
    """A copy of a record with another value at a path that exists."""
    step: Any = path[0]
    inner = path[1:]
    copy: Any = list(record) if isinstance(record, list) else dict(record)
    copy[step] = put(copy[step], inner, value) if inner else value
    return copy


def settings_in(part: Part, value: Any) -> dict[str, Any]:
    """What an answer echoes of the part before it, if that is a request; `value` is the request or its translation."""
    if isinstance(part, InText):
        return settings_in(part.part, decode(value.encode(errors="surrogatepass")))
    if isinstance(part, Request):
        with suppress(Refused):
            return settings_from(value)
    return {}


# ---------------------------------------------------------------- parts of another dress


class InText:
    """A part that is kept as a string of JSON. Where the string is not written as we would write it, the remainder
    keeps it whole."""

    def __init__(self, text: str, part: Part) -> None:
        self.text, self.part = text, part
        self.back: Any = text

    def examine(self) -> list[Finding]:
        """The findings in the text, all at the place of the string: a pointer does not lead into it."""
        return [in_text(finding) for finding in self.part.examine()]

    def allow(self, codes: Collection[str]) -> list[Finding]:
        return [in_text(finding) for finding in self.part.allow(codes)]

    def map(self) -> str:
        return encode(self.part.map()).decode()

    def prove(self, mapped: str) -> list[Op]:
        try:
            ops = self.part.prove(decode(mapped.encode()))
        except NotReversible:
            raise NotReversible([()]) from None
        self.back = encode(self.part.back).decode()
        return [Op("replace", (), self.text, self.back)] if ops or self.back != self.text else []


def in_text(finding: Finding) -> Finding:
    place = "".join(f"/{step}" for step in finding.path)
    said = f"in the text, at {place}: {finding.message}" if place else f"in the text: {finding.message}"
    return Finding(finding.code, (), said, None, finding.can_be_allowed, finding.hint)


class Unreadable:
    """A part that is of no shape that can be translated: its findings are all there is to say."""

    def __init__(self, value: Any, refusal: Refused) -> None:
        self.back = value
        self.refusal = refusal

    def examine(self) -> list[Finding]:
        return list(self.refusal.findings)

    def allow(self, codes: Iterable[str]) -> list[Finding]:  # noqa: ARG002 - nothing can be allowed here
        return []

    def map(self) -> Any:
        return self.back

    def prove(self, mapped: Any) -> list[Op]:  # noqa: ARG002 - nothing was changed
        return []


class Unchanged:
    """What says nothing in either format and passes through as it is: the error that came in place of an answer."""

    turns = None
    count = 0

    def __init__(self, value: Any, format_: Format) -> None:
        self.value = self.back = value
        self.format = format_

    def examine(self) -> list[Finding]:
        return list(json_faults(self.value))

    def allow(self, codes: Collection[str]) -> list[Finding]:  # noqa: ARG002 - nothing can be allowed here
        return []

    def map(self) -> Any:
        return self.value

    def prove(self, mapped: Any) -> list[Op]:  # noqa: ARG002 - nothing was changed
        return []
