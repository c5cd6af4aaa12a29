"""An answer on its way: a `chat.completion`, or a response object; and what stands in the way of either.

What corresponds to what is said in `mapping.output`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from turncodec.equality import json_faults, same
from turncodec.formats import CHAT, RESPONSES, calls_left
from turncodec.mapping.output import FINISHES, REASONS, completion_to_response, response_to_completion
from turncodec.pairing import item_events, pair
from turncodec.refusals import Finding, Path
from turncodec.remainder import Op, difference, list_difference
from turncodec.request import without
from turncodec.spellings import means_nothing, unspelled_answer
from turncodec.transcript import NotReversible, Transcript
from turncodec.validate import in_order, item_findings, touched, type_findings, unreadable
from turncodec.wire import chat, responses

Body = dict[str, Any]

UNRESOLVED = ("refusal_order", "call_id_length")
"""What may be allowed in a transcript, where it is resolved, but not in a response."""
CUT = ("length", "content_filter")
CARRIED = ("cached_tokens", "reasoning_tokens", "cache_write_tokens")
TIERS = ("auto", "default", "flex", "scale", "priority", "fast")
"""The service tiers that Chat knows; a response may name any."""

# ---------------------------------------------------------------- a completion


class Completion:
    """A `chat.completion`, going to Responses."""

    format = CHAT
    turns = None

    def __init__(self, value: Body, settings: Body) -> None:
        self.value = self.resolved = self.back = value
        self.settings = settings
        self.count = 0
        self.message = Transcript([message_in(value)], CHAT)

    def examine(self) -> list[Finding]:
        self.findings = list(json_faults(self.value))
        if not self.findings:
            self.findings = in_order(self.value, list(completion_findings(self.value, self.message)))
        return self.findings

    def allow(self, codes: Collection[str]) -> list[Finding]:
        """Resolve the findings with these codes, those in the message as a transcript would."""
        self.message.findings = [inward(f) for f in self.findings if f.path[:3] == MESSAGE]
        self.message.allow(codes)
        outside = [f for f in self.findings if f.code in codes and f.path[:3] != MESSAGE]
        self.resolved = without(self.value, [f.leave for f in outside if f.leave is not None])
        choice = self.resolved["choices"][0]
        choice["message"] = self.message.resolved[0]
        if choice["finish_reason"] == "function_call":
            choice["finish_reason"] = "tool_calls"
        return []

    def map(self) -> Body:
        self.speak_in_one_string()
        return completion_to_response(self.resolved, self.settings)

    def speak_in_one_string(self) -> None:
        """Write a content that is a list with one text, or none, as the format has it. Some servers answer with a list
        whose other parts are reasoning."""
        choice = self.resolved["choices"][0]
        content = choice["message"].get("content")
        if isinstance(content, list):
            message = {**choice["message"], "content": content[0]["text"] if content else None}
            self.resolved = {**self.resolved, "choices": [{**choice, "message": message}]}

    def prove(self, mapped: Body) -> list[Op]:
        self.back = response_to_completion(mapped)
        ops = difference(self.back, self.resolved)
        own = [op for op in ops if not self.is_echo(op)]
        wrong = unspelled_answer(own, self.back, self.resolved, "chat")
        if wrong:
            raise NotReversible(wrong)
        return [*ops, *difference(self.resolved, self.value)]

    def is_echo(self, op: Op) -> bool:
        """Whether a step takes back what the response only echoes of the request that it was given."""
        return len(op.path) == 1 and op.path[0] in self.settings and same(op.old, self.settings[op.path[0]])


MESSAGE: Path = ("choices", 0, "message")


def message_in(body: Body) -> Any:
    """The message of the first choice, or None."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice.get("message") if isinstance(choice, dict) else None


def inward(finding: Finding) -> Finding:
    """A finding in the message as seen from a transcript of that message alone."""
    leave = None if finding.leave is None else (0, *finding.leave[3:])
    return replace(finding, path=(0, *finding.path[3:]), leave=leave)


def outward(finding: Finding) -> Finding:
    """The way back of `inward`. A completion without its message would say nothing: that cannot be allowed."""
    leave = None if finding.leave is None else (*MESSAGE, *finding.leave[1:])
    whole = finding.leave == (0,)
    return replace(finding, path=(*MESSAGE, *finding.path[1:]), leave=leave, allowable=finding.allowable and not whole)


def completion_findings(body: Body, message: Transcript) -> Iterator[Finding]:
    found = list(type_findings(chat.COMPLETION, body))
    yield from found
    choices = body.get("choices")
    if isinstance(choices, list) and len(choices) != 1:
        path: Path = ("choices", 1) if choices else ("choices",)
        yield Finding("several_choices", path, f"{len(choices)} choices where a response gives one answer")
    for n, choice in enumerate(choices if isinstance(choices, list) else ()):
        if isinstance(choice, dict):
            readable = not touched(unreadable(found), ("choices", n, "logprobs"))
            yield from (finding.under(("choices", n)) for finding in choice_findings(choice, readable))
    if isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], dict) and choices[0].get("index"):
        yield Finding("unknown_value", ("choices", 0, "index"), "the only choice has the index 0", allowable=False)
    if isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], dict) and "message" in choices[0]:
        yield from map(outward, answer_findings(message))
    for n, choice in enumerate(choices if isinstance(choices, list) and len(choices) > 1 else ()):
        if isinstance(choice, dict) and "message" in choice:
            other = answer_findings(Transcript([choice["message"]], CHAT))
            yield from (replace(outward(f), path=("choices", n, "message", *f.path[1:])) for f in other)
    bad = {finding.path for finding in found}
    yield from tier_findings(body)
    yield from details_findings(body.get("usage"), ("prompt_tokens_details", "completion_tokens_details"), bad)
    if body.get("moderation") is not None:
        yield Finding("no_counterpart", ("moderation",), "moderation has no counterpart", leave=("moderation",))


def choice_findings(choice: Body, readable: bool) -> Iterator[Finding]:
    message, finish = choice.get("message"), choice.get("finish_reason")
    calls = isinstance(message, dict) and (message.get("tool_calls") or message.get("function_call"))
    if finish in CUT and calls:
        yield Finding("incomplete", ("finish_reason",), f"cut off by {finish}: nobody knows what its calls would be")
    elif finish in CUT:
        yield Finding("truncated", ("finish_reason",), f"cut off by {finish}")
    elif finish == "function_call" and not (isinstance(message, dict) and message.get("function_call")):
        said = "there is no call of a function to finish with"
        yield Finding("unknown_value", ("finish_reason",), said, allowable=False)
    elif "finish_reason" in choice and finish is None:
        yield Finding("incomplete", ("finish_reason",), "without a reason to finish it is not finished")
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, dict) and readable:
        yield from logprobs_findings(logprobs, isinstance(message, dict) and bool(message.get("content")))


def answer_findings(transcript: Transcript) -> list[Finding]:
    """What is wrong with the message of a choice: as in a transcript, but that it may be empty and have citations."""
    message = transcript.elements[0]
    findings = [f for f in transcript.examine() if f.code not in ("empty_message", "annotations")]
    if not isinstance(message, dict) or message.get("role") in ("system", "developer", "user", "tool", "function"):
        return [Finding("malformed", (0,), "an answer is a message of the assistant")]
    findings += several_parts(message.get("content"), findings)
    annotations = message["annotations"] if isinstance(message.get("annotations"), list) else []
    bad = any(finding.path[:2] == (0, "annotations") for finding in findings)
    leave: Path = (0, "annotations")
    if annotations and not bad and not message.get("content"):
        findings.append(Finding("annotations", leave, "citations without a text that they belong to", leave=leave))
    elif annotations and not bad and not all(is_citation(entry, chat.CITATION) for entry in annotations):
        findings.append(Finding("annotations", leave, "a response of the core can cite urls only", leave=leave))
    return findings


def several_parts(content: Any, findings: list[Finding]) -> list[Finding]:
    """The content of a completion is one string; a list will do where it holds one text beside what stays behind."""
    left = {finding.leave for finding in findings}
    parts = content if isinstance(content, list) else []
    spoken = [n for n, _ in enumerate(parts) if (0, "content", n) not in left]
    texts = [n for n in spoken if isinstance(parts[n], dict) and parts[n].get("type") == "text"]
    if spoken == texts and len(spoken) < 2:
        return []
    return [Finding("several_parts", (0, "content"), "the content of a completion is one string")]


def logprobs_findings(logprobs: Body, text: bool) -> Iterator[Finding]:
    if logprobs.get("refusal"):
        path: Path = ("logprobs", "refusal")
        yield Finding("logprobs", path, "log probabilities of a refusal have no place in Responses", leave=path)
    content = logprobs.get("content")
    if not content or not isinstance(content, list):
        return
    if not text or any(without_bytes(entry) for entry in content):
        path = ("logprobs", "content")
        said = "log probabilities need bytes in Responses" if text else "log probabilities without a text"
        yield Finding("logprobs", path, said, leave=path)


def without_bytes(entry: Any) -> bool:
    """Whether a token lacks its bytes, which Responses requires and Chat may leave null."""
    entries = [entry, *(entry.get("top_logprobs") or ())] if isinstance(entry, dict) else []
    return any(isinstance(token, dict) and token.get("bytes") is None for token in entries)


def tier_findings(body: Body) -> Iterator[Finding]:
    tier = body.get("service_tier")
    if isinstance(tier, str) and tier and tier not in TIERS:
        leave = ("service_tier",)
        yield Finding("unknown_value", leave, f"{tier!r:.40} is no service tier of Chat", leave=leave)


def details_findings(usage: Any, groups: Iterable[str], bad: set[Path]) -> Iterator[Finding]:
    """Token counts of a kind that the other format does not count, unless there were none."""
    for group in groups:
        details = usage.get(group) if isinstance(usage, dict) else None
        for key, count in details.items() if isinstance(details, dict) else ():
            path: Path = ("usage", group, key)
            if count and key not in CARRIED and path not in bad:
                yield Finding("no_counterpart", path, f"{key} has no counterpart", leave=path)


# ---------------------------------------------------------------- a response


class Response:
    """A response object, going to Chat."""

    format = RESPONSES
    turns = None

    def __init__(self, value: Body) -> None:
        self.value = self.resolved = self.back = value
        self.settings: Body = {}
        """What the way back will echo, where the request stands beside it."""
        self.count = 0
        self.origin: list[int] = list(range(len(value["output"]) if isinstance(value.get("output"), list) else 0))

    def examine(self) -> list[Finding]:
        self.findings = list(json_faults(self.value)) or in_order(self.value, list(response_findings(self.value)))
        return self.findings

    def allow(self, codes: Collection[str]) -> list[Finding]:
        leaves = [f.leave for f in self.findings if f.code in codes and f.leave is not None]
        if leaves:
            self.resolved = without(self.value, leaves)
            gone = {leave[1] for leave in leaves if len(leave) == 2 and leave[0] == "output"}
            self.origin = [n for n in self.origin if n not in gone]
        return []

    def map(self) -> Body:
        self.keep_quiet()
        return response_to_completion(self.resolved)

    def keep_quiet(self) -> None:
        """Leave out empty texts beside a call or a refusal: there a completion has no room for what says nothing."""
        output = self.resolved["output"]
        calls = any(item.get("type") == "function_call" for item in output)
        kept = [(n, speaking(item)) for n, item in zip(self.origin, output, strict=True)]
        kept = [(n, item) for n, item in kept if not (calls and is_silent(item))]
        self.origin = [n for n, _ in kept]
        self.resolved = {**self.resolved, "output": [item for _, item in kept]}

    def prove(self, mapped: Body) -> list[Op]:
        self.back = completion_to_response(mapped, self.settings)
        again, output = self.back["output"], self.resolved["output"]
        order = [n for n, item in enumerate(output) if item.get("type", "message") != "function_call"]
        order += [n for n, item in enumerate(output) if item.get("type") == "function_call"]
        if len(again) != len(order):
            raise NotReversible([("output",)])
        items = list_difference(again, output, order)
        head = difference({**self.back, "output": None}, {**self.resolved, "output": None})
        wrong = unspelled_answer(head, self.back, self.resolved, "responses")
        place = {source: n for n, source in enumerate(order)}
        wrong += [
            ("output", *op.path)
            for op in items
            if op.op != "move" and not means_nothing(op, again, output, place, self.resolved["status"])
        ]
        if wrong:
            raise NotReversible(wrong)
        left = list_difference(output, self.value["output"], self.origin)
        rest = difference({**self.resolved, "output": None}, {**self.value, "output": None})
        return [*head, *(op.under(("output",)) for op in [*items, *left]), *rest]


def is_silent(item: Body) -> bool:
    """Whether a message says nothing at all."""
    return item.get("type", "message") == "message" and all(map(is_empty_text, item["content"]))


def speaking(item: Body) -> Body:
    """A message without empty texts beside a refusal."""
    content = item.get("content")
    if item.get("type", "message") != "message" or not any(part["type"] == "refusal" for part in content or ()):
        return item
    return {**item, "content": [part for part in item["content"] if not is_empty_text(part)]}


def is_empty_text(part: Body) -> bool:
    return part.get("text") == "" and not part.get("annotations") and not part.get("logprobs")


def response_findings(body: Body) -> Iterator[Finding]:
    found = list(type_findings(responses.RESPONSE, body))
    yield from found
    bad = {finding.path for finding in found}
    created = body.get("created_at")
    if isinstance(created, float) and not created.is_integer():
        yield Finding("unknown_value", ("created_at",), "a moment between two seconds", allowable=False)
    output = body.get("output")
    output = output if isinstance(output, list) else []
    yield from tier_findings(body)
    yield from status_findings(body, output)
    yield from output_findings(output, body.get("status"))
    yield from details_findings(body.get("usage"), ("input_tokens_details", "output_tokens_details"), bad)
    if body.get("moderation") is not None:
        yield Finding("no_counterpart", ("moderation",), "moderation has no counterpart", leave=("moderation",))
    if body.get("status") == "completed":
        for key in ("error", "incomplete_details"):
            if body.get(key) is not None:
                yield Finding("incomplete", (key,), f"a completed response with {key}")


def status_findings(body: Body, output: list[Any]) -> Iterator[Finding]:
    status = body.get("status")
    if status == "incomplete":
        details = body.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        calls = any(isinstance(item, dict) and item.get("type") == "function_call" for item in output)
        if isinstance(reason, str) and reason in FINISHES and not calls:
            last: Path = ("output", len(output) - 1, "status") if output else ()
            cut = last if last and isinstance(output[-1], dict) and output[-1].get("status") == "incomplete" else None
            yield Finding("truncated", cut or ("status",), f"cut off by {REASONS[FINISHES[reason]]}")
        else:
            why = "nobody knows what its calls would be" if calls else f"the reason {reason!r:.40} has no counterpart"
            yield Finding("incomplete", ("status",), f"the response is incomplete, and {why}")
    elif isinstance(status, str) and status != "completed":
        yield Finding("incomplete", ("status",), f"the response is {status!r:.40}, not completed")


def output_findings(output: list[Any], status: Any) -> Iterator[Finding]:
    messages = 0
    all_findings: list[Finding] = []
    for n, item in enumerate(output):
        kind = item.get("type", "message") if isinstance(item, dict) else None
        findings = item_findings(item)
        kept = {f.path for f in findings if f.code in ("annotations", "logprobs")}
        findings = [replace(f, allowable=False) if f.code in UNRESOLVED else f for f in findings if f.path not in kept]
        if kept:
            findings += [f for f in type_findings(responses.ITEM["message"], item) if f.path[:3] in kept - {f.path}]
        if kind == "message" and status == "incomplete" and n == len(output) - 1:
            findings = [f for f in findings if f.code != "incomplete"]
        if kind == "message" and not any(f.path == () for f in findings):
            messages += 1
            findings += spoken_findings(item)
            if messages > 1:
                findings.append(Finding("several_messages", (), "a second message, where a completion has one"))
        if kind == "function_call_output":
            said = "a completion cannot hold the result of a call"
            findings = [Finding("unsupported_item", (), said, leave=())]
        all_findings += [finding.under(("output", n)) for finding in findings]
    yield from all_findings
    inner = [replace(finding, path=finding.path[1:]) for finding in all_findings]
    yield from (
        replace(finding.under(("output",)), allowable=False)
        for finding in pair(item_events(output), calls_left(inner)).findings
        if finding.code in ("duplicate_call_id",)
    )


def spoken_findings(item: Body) -> list[Finding]:
    """What stands in the way of one message of an answer: it is the assistant's, with one text and one refusal."""
    content = item.get("content")
    if item.get("role") != "assistant":
        return [Finding("unsupported_item", (), "a completion holds the assistant's message alone", leave=())]
    if isinstance(content, str):
        return [Finding("malformed", ("content",), "the content of a message of a response is a list of parts")]
    if not isinstance(content, list):
        return []
    if not content:
        return [Finding("empty_message", (), "without any part it would vanish from the completion", leave=())]
    found = list(empty_refusals(content))
    texts = [n for n, part in enumerate(content) if isinstance(part, dict) and part.get("type") == "output_text"]
    found += [Finding("several_parts", ("content", n), "a second text, where a completion has one") for n in texts[1:]]
    for n in texts:
        annotations = content[n].get("annotations")
        for key in ("annotations", "logprobs"):
            if content[n].get("text") == "" and content[n].get(key):
                empty: Path = ("content", n, key)
                found.append(Finding(key, empty, f"{key} of an empty text", leave=empty))
        path: Path = ("content", n, "annotations")
        if (
            content[n].get("text")
            and isinstance(annotations, list)
            and not all(is_citation(entry, responses.CITATION) for entry in annotations)
        ):
            found.append(Finding("annotations", path, "a completion can cite urls only", leave=path))
    return found


def empty_refusals(content: list[Any]) -> Iterator[Finding]:
    for n, part in enumerate(content):
        if isinstance(part, dict) and part.get("type") == "refusal" and part.get("refusal") == "":
            leave: Path = ("content", n) if len(content) > 1 else ()
            yield Finding("empty_message", ("content", n), "a refusal that says nothing", leave=leave)


def is_citation(annotation: Any, citation: TypeAdapter[Any]) -> bool:
    return not any(type_findings(citation, annotation))
