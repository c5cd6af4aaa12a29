"""A request on its way: its turns, its tools and every other parameter; and a row, which has only turns and tools.

What a parameter corresponds to is said in `mapping.parameters`; here is what stands in its way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

from turncodec.equality import json_faults, same
from turncodec.formats import CHAT, RESPONSES, Format
from turncodec.mapping.output import settings_of
from turncodec.mapping.parameters import (
    LOGPROBS,
    MISSING,
    PARAMETERS,
    get,
    parameters_to_chat,
    parameters_to_responses,
)
from turncodec.mapping.tools import tool_to_chat, tool_to_responses
from turncodec.refusals import Finding, Path, raise_all, refused
from turncodec.remainder import Op, difference
from turncodec.spellings import unspelled_parameters
from turncodec.transcript import Elements, NotReversible, Transcript
from turncodec.validate import in_order, name_findings, type_findings
from turncodec.wire import chat, responses

Body = dict[str, Any]

AS_ROW = "remove the key, or say that this is a row (kind row), whose other columns pass as they are"
AS_REQUEST = "make them a message, rename the column, or say what this is (kind request)"
CHOICES = ("function", "allowed_tools")
EFFORTS = ("none", "low", "medium", "high", "xhigh")
CORE_TIERS = ("auto", "default", "flex", "priority")

# ---------------------------------------------------------------- the body of a request


class Request:
    """The body of a request in one format."""

    def __init__(self, value: Body, format_: Format) -> None:
        self.value, self.format, self.key = value, format_, format_.key
        self.turns = Transcript(value[self.key], format_)
        self.rest = self.resolved = {key: value for key, value in value.items() if key != self.key}
        self.again: Elements = []
        self.count = 0

    def examine(self) -> list[Finding]:
        """What is wrong with it, or has no place in the other format."""
        findings = list(json_faults(self.rest))
        if not findings:
            found = shape_findings(self.rest, self.format)
            rules = chat_rules if self.format is CHAT else responses_rules
            findings = found + [
                finding
                for finding in [*rules(self.rest, {f.path for f in found}), *tools_findings(self.rest, self.format)]
                if not any(bad.path == finding.path[: len(bad.path)] for bad in found)
            ]
        findings += [finding.under((self.key,)) for finding in self.turns.examine()]
        self.findings = in_order(self.value, findings)
        return self.findings

    def allow(self, codes: Collection[str]) -> list[Finding]:
        """Resolve the findings with these codes. What the rest then still has against it."""
        left = [finding.under((self.key,)) for finding in self.turns.allow(codes)]
        own = [f for f in self.findings if f.code in codes and f.path[:1] != (self.key,)]
        if own:
            self.resolved = without(self.rest, [f.leave for f in own if f.leave is not None])
            if any(f.code == "legacy_function" for f in own):
                self.resolved = modern(self.resolved)
        return left

    def map(self) -> Body:
        """The request in the other format."""
        to = parameters_to_responses if self.format is CHAT else parameters_to_chat
        turns = self.turns.map()
        instructions = self.resolved.get("instructions")
        if self.format is not CHAT and instructions is not None:
            turns = [{"role": "system", "content": instructions}, *turns]
        self.count = len(turns)
        return ordered(to(self.resolved), self.format.other.key, turns)

    def prove(self, mapped: Body) -> list[Op]:
        """Translate back and compare: the steps from there to the original. Raises `NotReversible`."""
        turns = mapped[self.format.other.key]
        front = int(self.format is not CHAT and self.resolved.get("instructions") is not None)
        ops = [op.under((self.key,)) for op in self.turns.prove(turns[front:])]
        back = parameters_to_chat if self.format is CHAT else parameters_to_responses
        again = back(mapped)
        self.again = self.format.other.map(turns)
        self.back = ordered(again, self.key, self.again)
        own = difference(again, self.resolved)
        wrong = unspelled_parameters(own, again, self.resolved, self.format.name)
        if wrong:
            raise NotReversible(wrong)
        first = [Op("remove", (self.key, 0))] if front else []
        return [*first, *own, *difference(self.resolved, self.rest), *ops]


def shape_findings(body: Body, format_: Format) -> list[Finding]:
    """What the types of the format say, but of a choice of another type, which `choice_findings` knows by name."""
    wire = chat if format_ is CHAT else responses
    choice = body.get("tool_choice")
    foreign = isinstance(choice, dict) and isinstance(choice.get("type"), str) and choice["type"] not in CHOICES
    typed = {key: value for key, value in body.items() if not (foreign and key == "tool_choice")}
    return [as_value(finding) for finding in type_findings(wire.REQUEST, {**typed, format_.key: []})]


def as_value(finding: Finding) -> Finding:
    """A parameter whose value its format does not know can stay behind as one that the format does not know."""
    if finding.code == "unknown_value" and len(finding.path) == 1:
        return replace(finding, leave=finding.path, allowable=True)
    if finding.code == "unknown_field" and len(finding.path) == 1:
        return replace(finding, hint=AS_ROW)
    return finding


def settings_from(request: Any) -> Body:
    """What a response to a request echoes of it. The request may be of either format.

    Raises `Refused` where it is none; a parameter that cannot cross is simply not echoed.
    """
    if not isinstance(request, dict):
        raise refused("unknown_shape", (), "request= must be the body of a request")
    format_ = RESPONSES if "input" in request else CHAT
    sent = Request({**request, format_.key: []}, format_)
    wrong = sent.examine()
    raise_all(replace(f, message=f"in the request: {f.message}") for f in wrong if not f.can_be_allowed)
    sent.allow({finding.code for finding in wrong})
    return settings_of(parameters_to_responses(sent.resolved) if format_ is CHAT else sent.resolved)


def ordered(parameters: Body, key: str, turns: Elements) -> Body:
    """The parameters with the turns after the model."""
    model = {"model": parameters["model"]} if "model" in parameters else {}
    return {**model, key: turns, **parameters}


def without(body: Body, leaves: list[Path]) -> Body:
    """A copy of the body without the parts that stay behind."""
    copy = deepcopy(body)
    outer = {leave for leave in leaves if not any(leave[:n] in leaves for n in range(len(leave)))}
    for leave in sorted(outer, key=lambda path: tuple((isinstance(s, str), s) for s in path), reverse=True):
        holder: Any = copy
        for step in leave[:-1]:
            holder = holder[step]
        del holder[leave[-1]]
    return copy


def modern(body: Body) -> Body:
    """The deprecated `functions` and `function_call` as tools and the choice among them."""
    copy = {key: value for key, value in body.items() if key not in ("functions", "function_call")}
    if body.get("functions") is not None:
        copy["tools"] = [{"type": "function", "function": function} for function in body["functions"]]
    choice = body.get("function_call")
    if choice is not None:
        copy["tool_choice"] = choice if isinstance(choice, str) else {"type": "function", "function": choice}
    return copy


# ---------------------------------------------------------------- what stands in the way of a parameter


def chat_rules(body: Body, bad: set[Path]) -> Iterator[Finding]:
    yield from no_partner(body, "chat")
    yield from limits(body, "max_completion_tokens")
    yield from one_of(body, ("reasoning_effort",), EFFORTS)
    if body.get("max_tokens") is not None:
        yield from limits(body, "max_tokens")
        if body.get("max_completion_tokens") is not None:
            said = "max_completion_tokens is given too"
            yield Finding("no_counterpart", ("max_tokens",), said, leave=("max_tokens",))
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        yield Finding("no_counterpart", ("top_logprobs",), "only with logprobs: true", leave=("top_logprobs",))
    yield from json_object(body, ("response_format",))
    both = body.get("functions") is not None and body.get("tools") is not None
    both = both or (body.get("function_call") is not None and body.get("tool_choice") is not None)
    for key in ("functions", "function_call"):
        if body.get(key) is not None:
            said = "the deprecated form" + (" beside tools: which one is meant?" if both else " of tools")
            yield Finding("legacy_function", (key,), said, allowable=not both and not bad)
    yield from functions_findings(body, bad)


def functions_findings(body: Body, bad: set[Path]) -> Iterator[Finding]:
    """What is wrong with deprecated functions, seen as the tools that they become."""
    functions = body["functions"] if isinstance(body.get("functions"), list) and ("functions",) not in bad else []
    names = [function.get("name") for function in functions if isinstance(function, dict)]
    for n, name in enumerate(names):
        if isinstance(name, str) and not any(path[:2] == ("functions", n) for path in bad):
            yield from (finding.under(("functions", n)) for finding in name_findings(name, ("name",)))
    choice = body.get("function_call")
    if isinstance(choice, dict) and isinstance(choice.get("name"), str) and choice["name"] not in names:
        yield Finding("malformed", ("function_call",), f"no function of this request is called {choice['name']!r:.80}")


def responses_rules(body: Body, _: set[Path]) -> Iterator[Finding]:
    yield from no_partner(body, "responses")
    yield from limits(body, "max_output_tokens")
    yield from one_of(body, ("reasoning", "effort"), EFFORTS)
    yield from json_object(body, ("text", "format"))
    include = body["include"] if isinstance(body.get("include"), list) else []
    for n, word in enumerate(include):
        if word != LOGPROBS or include.index(word) < n:
            yield Finding("no_counterpart", ("include", n), f"{word!r:.60} has no counterpart", leave=("include", n))
    if body.get("top_logprobs") and LOGPROBS not in include:
        said = f"only with {LOGPROBS} in include"
        yield Finding("no_counterpart", ("top_logprobs",), said, leave=("top_logprobs",))


def no_partner(body: Body, side: str) -> Iterator[Finding]:
    """A finding for each parameter that the table has no partner for, unless its value says nothing."""
    for row in PARAMETERS:
        name = getattr(row, side)
        if row.mark != "x" or not name or "[" in name:
            continue
        value = get(body, name)
        if value is not MISSING and value is not None and not any(same(value, n) for n in row.neutral):
            path = tuple(name.split("."))
            yield Finding("no_counterpart", path, f"{name} has no counterpart", leave=path)


def one_of(body: Body, path: Path, words: Collection[str]) -> Iterator[Finding]:
    value = get(body, ".".join(map(str, path)))
    if isinstance(value, str) and value not in words:
        yield Finding("no_counterpart", path, f"{value!r:.40} has no counterpart", leave=path)


def json_object(body: Body, path: Path) -> Iterator[Finding]:
    form = get(body, ".".join(map(str, path)))
    if isinstance(form, dict) and form.get("type") == "json_object":
        yield Finding("no_counterpart", path, "json_object is no format that a request of the core has", leave=path)


def limits(body: Body, tokens: str) -> Iterator[Finding]:
    """What Open Responses takes at most and at least (specification, `CreateResponseBody`)."""
    yield from one_of(body, ("service_tier",), CORE_TIERS)
    if isinstance(body.get(tokens), int) and body[tokens] < 16:
        yield beyond((tokens,), "at least 16")
    if isinstance(body.get("top_logprobs"), int) and not 0 <= body["top_logprobs"] <= 20:
        yield beyond(("top_logprobs",), "0 to 20")
    for key in ("safety_identifier", "prompt_cache_key"):
        if isinstance(body.get(key), str) and len(body[key]) > 64:
            yield beyond((key,), "at most 64 characters")
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        if len(metadata) > 16:
            yield beyond(("metadata",), "at most 16 keys")
        for key, value in metadata.items():
            if len(key) > 64 or (isinstance(value, str) and len(value) > 512):
                yield beyond(("metadata", key), "keys of at most 64 characters, values of at most 512")


def beyond(path: Path, said: str) -> Finding:
    return Finding("limit", path, f"Open Responses takes {said}", leave=path)


# ---------------------------------------------------------------- tools


Fates = dict[str, str | None]
"""The tools of a request by their names, each with the code for which it stays behind if that is allowed."""


def tools_findings(body: Body, format_: Format) -> Iterator[Finding]:
    tools = body.get("tools")
    fates: Fates = {}
    for n, tool in enumerate(tools if isinstance(tools, list) else ()):
        found = list(tool_findings(tool, format_))
        yield from (finding.under(("tools", n)) for finding in found)
        if isinstance(name := name_of(tool), str):
            fates[name] = next((finding.code for finding in found if finding.leave == ()), None)
    yield from choice_findings(body.get("tool_choice"), fates, format_)


def tool_findings(tool: Any, format_: Format) -> Iterator[Finding]:
    """What is wrong with one tool definition."""
    kind = tool.get("type") if isinstance(tool, dict) else None
    if isinstance(kind, str) and kind != "function":
        if ":" in kind:
            yield Finding("namespaced", (), f"a tool of type {kind!r:.80} belongs to one provider", leave=())
        elif kind == "custom":
            yield Finding("custom_tool", (), "a custom tool takes free text", leave=())
        else:
            yield Finding("hosted_tool", (), f"a tool of type {kind!r:.80} is run by one provider", leave=())
        return
    if isinstance(tool, dict) and ("function" in tool) != (format_ is CHAT):
        said = "a tool of Chat has its function nested, one of Responses is flat: this is the other format's"
        yield Finding("mixed_formats", (), said)
        return
    wire = chat if format_ is CHAT else responses
    found = list(type_findings(wire.TOOL, tool))
    yield from found
    name, path = name_of(tool), ("function", "name") if format_ is CHAT else ("name",)
    if isinstance(name, str) and not any(f.path == path for f in found):
        yield from name_findings(name, path)


def name_of(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return None
    function = tool.get("function", tool.get("custom", tool))
    return function.get("name") if isinstance(function, dict) else None


def choice_findings(choice: Any, fates: Fates, format_: Format) -> Iterator[Finding]:
    """A choice must be among the tools that are there, and stays behind with them."""
    if not isinstance(choice, dict):
        return
    kind = choice.get("type")
    base: Path = ("tool_choice",)
    if kind == "function":
        yield from unknown_name(choice, fates, base)
    elif kind == "allowed_tools":
        nested = format_ is CHAT
        allowed = choice.get("allowed_tools") if nested else choice
        path: Path = (*base, "allowed_tools") if nested else base
        tools = allowed.get("tools") if isinstance(allowed, dict) else None
        for n, tool in enumerate(tools if isinstance(tools, list) else ()):
            yield from unknown_name(tool, fates, (*path, "tools", n))
        if isinstance(tools, list) and not 0 < len(tools) <= 128:
            yield replace(beyond((*path, "tools"), "1 to 128 allowed tools"), leave=base)
        if not nested and choice.get("mode") == "none":
            yield Finding("no_counterpart", (*path, "mode"), "allowed_tools with the mode none", leave=base)
    elif isinstance(kind, str):
        code = "namespaced" if ":" in kind else "custom_tool" if kind == "custom" else "hosted_tool"
        yield Finding(code, base, f"a choice of type {kind!r:.80} has no counterpart", leave=base)


def unknown_name(choice: Any, fates: Fates, path: Path) -> Iterator[Finding]:
    name = name_of(choice)
    if not isinstance(name, str):
        return
    fate = fates.get(name)
    if name not in fates:
        yield Finding("malformed", path, f"no tool of this request is called {name!r:.80}")
    elif fate:
        yield Finding(fate, path, f"the tool {name!r:.80} cannot cross, nor can a choice of it", leave=path[:1])


# ---------------------------------------------------------------- a row


class Row:
    """An object with a transcript in one column, perhaps tools in another, and others that pass through untouched."""

    def __init__(self, value: Body, format_: Format, key: str) -> None:
        self.value, self.format, self.key = value, format_, key
        self.target = format_.other.key if key == format_.key else key
        self.back_key = format_.key if self.target == format_.other.key else key
        """What the way back calls the column: messages under `input` come back under their own name."""
        self.turns = Transcript(value[key], format_)
        self.tools = value.get("tools")
        self.findings: list[Finding] = []
        self.again: Elements = []
        self.count = 0

    def examine(self) -> list[Finding]:
        if len(self.value) == 1:
            return [finding.under((self.key,)) for finding in self.turns.examine()]
        faults = list(json_faults({key: value for key, value in self.value.items() if key != self.key}))
        findings = list(faults)
        for key in (self.target, self.back_key):
            if key != self.key and key in self.value:
                said = f"the transcript would go to the column {key!r}, there or on the way back, and that is taken"
                findings.append(Finding("mixed_formats", (key,), said))
        if isinstance(self.value.get("instructions"), str) and self.target != self.key:
            said = "instructions belong to the conversation of a request; in a row they would stay behind in a column"
            findings.append(Finding("no_counterpart", ("instructions",), said, hint=AS_REQUEST))
        if not faults and self.tools is not None:
            findings += self.tools_findings()
        self.findings = findings
        findings += [finding.under((self.key,)) for finding in self.turns.examine()]
        return in_order(self.value, findings)

    def tools_findings(self) -> list[Finding]:
        if not isinstance(self.tools, list):
            return [Finding("malformed", ("tools",), "a column of tools that is no list of tools")]
        return list(tools_findings({"tools": self.tools}, self.format))

    def allow(self, codes: Collection[str]) -> list[Finding]:
        left = [finding.under((self.key,)) for finding in self.turns.allow(codes)]
        own = [f for f in self.findings if f.code in codes and f.path[:1] == ("tools",)]
        if own:
            self.tools = without({"tools": self.tools}, [f.leave for f in own if f.leave is not None])["tools"]
        return left

    def map(self) -> Body:
        turns = self.turns.map()
        self.count = len(turns)
        to = tool_to_responses if self.format is CHAT else tool_to_chat
        tools = self.tools if self.tools is None else [to(tool) for tool in self.tools]
        return renamed(self.value, self.key, self.target, turns, tools)

    def prove(self, mapped: Body) -> list[Op]:
        renaming = [Op("move", (self.key,), source=(self.back_key,))] if self.back_key != self.key else []
        ops = renaming + [op.under((self.key,)) for op in self.turns.prove(mapped[self.target])]
        self.again = self.turns.again
        to = tool_to_chat if self.format is CHAT else tool_to_responses
        again = self.tools if self.tools is None else [to(tool) for tool in mapped["tools"]]
        self.back = renamed(mapped, self.target, self.back_key, self.again, again)
        if "tools" not in self.value:
            return ops
        before, after = {"tools": again}, {"tools": self.tools}
        own = difference(before, after)
        wrong = unspelled_parameters(own, before, after, self.format.name)
        if wrong:
            raise NotReversible(wrong)
        return [*own, *difference(after, {"tools": self.value.get("tools")}), *ops]


def renamed(row: Body, key: str, target: str, turns: Any, tools: Any) -> Body:
    """A row with other turns, in a column of another name, and other tools; every key keeps its place."""
    return {
        target if name == key else name: turns if name == key else tools if name == "tools" else value
        for name, value in row.items()
    }
