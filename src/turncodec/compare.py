"""Are two conversations the same? Two documents of either format, compared as what they mean.

For those who do not trust a translation, ours or another's. So this room reads both formats on its own and knows
nothing of `mapping`: a fault there cannot hide here. Two documents agree when the same is said, by the same speakers,
in the same order; when the same calls are made, with the same ids, names and argument bytes, and answered with the same
outputs; when the same tools are offered, with the same schemas, to the same model with the same settings; and when an
answer comes to the same end. What is not known here must be the same as it stands.

Not compared: the ids of items, which only name them to their own server; the order of tools; whether a text of the
assistant stood before or after the calls of its turn; and, between the two formats, what only one of them can say of
an answer: the settings that a response echoes, its second moment, the fingerprint of a server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from turncodec.edge import decode
from turncodec.equality import same
from turncodec.refusals import Path, Refused, pointer

Json = Any


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same.

    `what` is one of `WHAT`; `left` and `right` are JSON pointers, None where a side has nothing there; `said` shows
    the two.
    """

    what: str
    left: str | None
    right: str | None
    said: str

    def __str__(self) -> str:
        return f"{self.what}: {self.left if self.left is not None else '-'} | {self.right or '-'}: {self.said}"

    def as_json(self) -> dict[str, str | None]:
        """The difference as a JSON object with the four fields by name."""
        return {"what": self.what, "left": self.left, "right": self.right, "said": self.said}


WHAT = {
    "record": "a record is missing, new, or no conversation",
    "model": "another model",
    "setting": "a parameter of a request is missing, new, or not the same",
    "text": "a text, image, file or refusal is missing, new, or not the same",
    "call": "a call is missing or new",
    "call_id": "a call has another id",
    "name": "a call is of another function",
    "arguments": "the bytes of the arguments are not the same",
    "status": "a message, call or result is completed on one side only",
    "result": "a result is missing or new",
    "output": "the output of a call is not the same",
    "detail": "what stands beside a text, call or result is not the same: a name, citations, probabilities",
    "order": "the same things in another order",
    "item": "an item of a type that only one format or provider has is missing or new",
    "tool": "a tool is missing or new",
    "schema": "a tool is described in another way",
    "finish": "an answer came to another end",
    "answer": "what an answer says of itself is not the same: its id, moment, tokens, error",
    "unread": "something that this reader does not know is not the same",
}
"""What can differ, and what that means."""


# ---------------------------------------------------------------- JSON


def mark(value: Json) -> str:
    """A value as a string that only the same value has, where `==` says that 1, 1.0 and true are one."""
    return json.dumps(value, sort_keys=True)


def given(value: dict[str, Json], *but: str) -> dict[str, Json]:
    """The keys of an object that say something."""
    return {key: inner for key, inner in value.items() if key not in but and inner is not None}


def opened(value: dict[str, Json], key: str) -> dict[str, Json]:
    """What is nested in Chat as the flat object that it is in Responses; with a key on both levels it stays."""
    inner = value.get(key)
    if not isinstance(inner, dict) or (value.keys() - {key}) & inner.keys():
        return value
    return {**{name: other for name, other in value.items() if name != key}, **inner}


# ---------------------------------------------------------------- reading


Beside = dict[str, Json]
"""What stands beside a fact, by key; a status that is not there is completed."""


class Said(NamedTuple):
    """A text, image, file or refusal; or None, where somebody else than the assistant says nothing."""

    path: Path
    speaker: Json
    content: Json
    beside: Beside


class Call(NamedTuple):
    path: Path
    call_id: Json
    name: Json
    arguments: Json
    beside: Beside


class Result(NamedTuple):
    path: Path
    call_id: Json
    output: list[Json]
    name: Json
    beside: Beside


class Item(NamedTuple):
    """An item of which only its type is known."""

    path: Path
    kind: Json
    value: Json


Fact = Said | Call | Result | Item
Places = dict[str, tuple[Path, Json]]
"""Values by a name that both formats share, each with its place."""


@dataclass
class Conversation:
    """What a document says; `order` holds the kind and the identity of each fact, turn by turn."""

    said: list[Said] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    tools: Places = field(default_factory=dict)
    model: Places = field(default_factory=dict)
    settings: Places = field(default_factory=dict)
    answer: Places = field(default_factory=dict)
    finish: Places = field(default_factory=dict)
    format: str = ""
    """Of an answer: chat or responses."""
    inner: Places = field(default_factory=dict)
    """Documents inside this one."""
    logged: bool = False
    """Whether this is a row of a log, which may keep them as strings."""

    def add(self, facts: list[Fact]) -> None:
        for fact in facts:
            if isinstance(fact, Call):
                self.calls.append(fact)
            elif isinstance(fact, Result):
                self.results.append(fact)
            elif isinstance(fact, Item):
                self.items.append(fact)
            else:
                self.said.append(fact)
        self.order = turn_order(facts)


CARRIERS = ("body", "request", "response", "request_body", "response_body", "input", "output", "proxy_server_request")
"""Where a row or a line of a batch file has a document in it."""


def read(document: Json, path: Path = ()) -> Conversation:
    """What a document of either format says: a transcript, a request, a row, an answer, or a line of a batch file.

    Raises ValueError where there is no conversation in it.
    """
    if isinstance(document, list):
        found = Conversation()
        found.add(list(facts_of(document, path)))
        return found
    if isinstance(document, dict):
        if isinstance(document.get("output"), list) and document.get("object") == "response":
            return read_response(document, path)
        if isinstance(document.get("choices"), list) and turns_key(document) is None:
            return read_completion(document, path)
        if turns_key(document) is not None or any(holds(document.get(key)) for key in CARRIERS):
            return read_request(document, path)
    raise ValueError("there is no conversation in it")


def holds(document: Json) -> bool:
    """Whether there is a conversation in it."""
    document = unwrapped(document)
    try:
        return document is not None and bool(read(document))
    except ValueError:
        return False


def unwrapped(value: Json, logged: bool = False) -> Json:
    """A document that may be kept as a string of JSON. Of any other string the bytes count, but of an object in a log:
    it is what a server sent in place of an answer."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            inside = decode(value.encode(errors="surrogatepass"))
        except Refused:
            return value
        return inside if is_document(inside) or (logged and isinstance(inside, dict)) else value
    return value


def is_document(value: Json) -> bool:
    """Whether a value looks like a transcript, or like an object with a conversation in it. Only its first level is
    looked at: strings in strings would be read again and again."""
    if isinstance(value, list):
        return all(isinstance(turn, dict) and not {"role", "type"}.isdisjoint(turn) for turn in value)
    return isinstance(value, dict) and not {"messages", "choices", *CARRIERS}.isdisjoint(value)


def turns_key(document: dict[str, Json]) -> str | None:
    """Where the turns of a request or a row stand. In a row with an output, an input may be a string of JSON."""
    if isinstance(document.get("messages"), list):
        return "messages"
    value = document.get("input")
    logged = isinstance(value, str) and "output" in document and "model" not in document and value != unwrapped(value)
    if isinstance(value, list) or (isinstance(value, str) and not logged):
        return "input"
    return "output" if isinstance(document.get("output"), list) and value is None else None


def read_request(body: dict[str, Json], path: Path) -> Conversation:
    found = Conversation()
    key = turns_key(body)
    facts: list[Fact] = []
    if isinstance(body.get("instructions"), str):
        facts += message_facts({"role": "system", "content": body["instructions"]}, (*path, "instructions"), {})
    if key is not None:
        turns = body[key]
        listed = turns if isinstance(turns, list) else [{"role": "user", "content": turns}]
        facts += facts_of(listed, (*path, key))
    found.add(facts)
    own = {key, "instructions"} if isinstance(body.get("instructions"), str) else {key}
    rest = {name: value for name, value in body.items() if name not in own}
    found.logged = key != "messages" and "model" not in body
    found.inner = {name: ((*path, name), rest.pop(name)) for name in CARRIERS if rest.get(name) is not None}
    found.tools = tools_of(rest, path)
    found.model = places(rest, path, "model")
    found.settings = settings_of(rest, path)
    return found


def read_completion(body: dict[str, Json], path: Path) -> Conversation:
    found = Conversation(format="chat")
    facts: list[Fact] = []
    for n, choice in enumerate(body["choices"]):
        place = (*path, "choices", n)
        if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
            facts.append(Item(place, "choice", choice))
            continue
        facts += message_facts(choice["message"], (*place, "message"), logprobs_of(choice.get("logprobs")))
        for key, value in given(choice, "message", "finish_reason", "logprobs").items():
            if key != "index" or not same(value, n):
                facts.append(Item((*place, key), key, value))
        found.finish[f"choice {n}"] = (
            (*place, "finish_reason"),
            FINISHES.get(str(choice.get("finish_reason")), choice.get("finish_reason")),
        )
    found.add(facts)
    found.model = places(body, path, "model")
    found.answer = answer_of(given(body, "choices", "model"), path)
    return found


def logprobs_of(logprobs: Json) -> Beside:
    """Those of the text as they stand beside it in Responses; those of a refusal have no place there."""
    if not isinstance(logprobs, dict):
        return {"logprobs": logprobs}
    others = filled(given(logprobs, "content"))
    return {"logprobs": logprobs.get("content"), "logprobs of another kind": others or None}


FINISHES = {
    # Some servers say stop where there are calls; the calls say it themselves.
    "stop": "completed",
    "tool_calls": "completed",
    "function_call": "completed",
    "length": "incomplete: max_output_tokens",
    "content_filter": "incomplete: content_filter",
}
"""How an answer of Chat ended, as Responses says it."""


def read_response(body: dict[str, Json], path: Path) -> Conversation:
    found = Conversation(format="responses")
    output, details = body["output"], body.get("incomplete_details")
    if body.get("status") == "incomplete" and output and isinstance(output[-1], dict) and "role" in output[-1]:
        # The text that was cut is said to be so by the response.
        output = [*output[:-1], {**output[-1], "status": None}]
    found.add(list(facts_of(output, (*path, "output"))))
    reason = details.get("reason", details) if isinstance(details, dict) else details
    finish = body.get("status") if reason is None else f"{body.get('status')}: {reason}"
    found.finish["choice 0"] = (*path, "status"), finish
    found.model = places(body, path, "model")
    rest = given(body, "output", "model", "status", "incomplete_details")
    found.settings = settings_of({key: rest.pop(key) for key in ECHO if key in rest}, path, ECHOED)
    found.tools = tools_of(body, path)
    found.answer = answer_of(rest, path)
    return found


def places(body: dict[str, Json], path: Path, *keys: str) -> Places:
    return {key: ((*path, key), body[key]) for key in keys if body.get(key) is not None}


# ---------------------------------------------------------------- turns


def facts_of(turns: list[Json], path: Path) -> Iterator[Fact]:
    for n, turn in enumerate(turns):
        place = (*path, n)
        if not isinstance(turn, dict):
            yield Item(place, None, turn)
        elif "type" in turn and turn["type"] != "message":
            yield item_fact(turn, place)
        elif turn.get("role") == "tool":
            beside = filled(given(turn, "role", "tool_call_id", "content", "name"))
            yield Result(place, turn.get("tool_call_id"), contents(turn.get("content")), turn.get("name"), beside)
        else:
            yield from message_facts(turn, place, {})


EMPTY = (
    "refusal", "audio", "function_call", "annotations", "tool_calls", "name", "logprobs", "detail", "filename",
    "file_data", "file_url", "file_id", "reasoning", "reasoning_content", "reasoning_details", "reasoning_text",
    "thinking",
)  # fmt: skip
"""What client libraries write as an empty string or list where it is not there."""


def filled(beside: Beside) -> Beside:
    """Without what says nothing: null, known keys that are empty, and a status of what is completed."""
    return {
        key: value
        for key, value in beside.items()
        if value is not None and not (key in EMPTY and value in ("", [])) and (key, value) != ("status", "completed")
    }


def item_fact(item: dict[str, Json], place: Path) -> Fact:
    kind = item["type"]
    if kind == "function_call" and item.get("namespace") is None:
        beside = filled(given(item, "type", "id", "call_id", "name", "arguments"))
        return Call(place, item.get("call_id"), item.get("name"), item.get("arguments"), beside)
    if kind == "function_call_output":
        beside = filled(given(item, "type", "id", "call_id", "output", "name"))
        return Result(place, item.get("call_id"), contents(item.get("output")), item.get("name"), beside)
    return Item(place, kind, item)


def message_facts(message: dict[str, Json], place: Path, more: Beside) -> Iterator[Fact]:
    """What a message says, with what stands beside it at its first text; then its calls."""
    speaker, calls = message.get("role"), message.get("tool_calls")
    known = ("role", "content", "refusal", "type", "id", *(["tool_calls"] if isinstance(calls, list) else []))
    beside = filled({**more, **given(message, *known)})
    if isinstance(beside.get("annotations"), list):
        beside["annotations"] = list(map(citation, beside["annotations"]))
    said = [Said(place, speaker, part, {}) for part in contents(message.get("content"))]
    if message.get("refusal"):
        said.append(Said(place, speaker, {"type": "refusal", "refusal": message["refusal"]}, {}))
    if not said and speaker != "assistant":
        said.append(Said(place, speaker, None, {}))
    for n, one in enumerate(said):
        content, own = apart(one.content)
        yield one._replace(content=content, beside={**own, **beside} if n == 0 else own)
    if not said:
        yield from (Item((*place, key), key, value) for key, value in beside.items())
    for n, call in enumerate(calls if isinstance(calls, list) else ()):
        yield call_fact(call, (*place, "tool_calls", n), n)


def call_fact(call: Json, place: Path, n: int) -> Fact:
    if not isinstance(call, dict) or call.get("type") not in (None, "function"):
        return Item(place, "tool_call", call)
    flat = opened(call, "function")
    if flat is call:
        return Item(place, "tool_call", call)
    beside = filled(given(flat, "type", "id", "name", "arguments"))
    if same(beside.get("index"), n):
        del beside["index"]
    return Call(place, flat.get("id"), flat.get("name"), flat.get("arguments"), beside)


def contents(content: Json) -> list[Json]:
    """A content as what it holds: a string is one text, and an empty one nothing."""
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    found = map(part_content, content if isinstance(content, list) else [content])
    return [part for part in found if not same(part, {"type": "text", "text": ""})]


KINDS = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "image_url": "image",
    "input_image": "image",
    "file": "file",
    "input_file": "file",
}
"""The types of parts that have two names or more."""


def part_content(part: Json) -> Json:
    """A part of either format, flat, without keys that say nothing."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return {"part": part}
    kind = KINDS.get(str(part["type"]), str(part["type"]))
    flat = {**filled(opened_part(part, kind)), "type": kind}
    if kind == "text":
        flat["text"] = part.get("text")
    if kind == "image" and flat.get("detail") == "auto":
        del flat["detail"]
    if isinstance(flat.get("annotations"), list):
        flat["annotations"] = list(map(citation, flat["annotations"]))
    return flat


def opened_part(part: dict[str, Json], kind: str) -> dict[str, Json]:
    if kind == "image":
        nested = part.get("image_url")
        return opened(part if isinstance(nested, dict) else {**part, "image_url": {"url": nested}}, "image_url")
    return opened(part, "file") if kind == "file" else part


def apart(content: Json) -> tuple[Json, Beside]:
    """A text, and what stands beside it; of other parts all is content."""
    if not isinstance(content, dict) or content.get("type") != "text":
        return content, {}
    return {"type": "text", "text": content["text"]}, given(content, "type", "text")


def citation(annotation: Json) -> Json:
    return given(opened(annotation, "url_citation")) if isinstance(annotation, dict) else annotation


def turn_order(facts: Iterable[Fact]) -> list[str]:
    """The order that both formats can express: within a turn of the assistant what it says stands before its calls."""
    order: list[str] = []
    calls: list[str] = []
    for fact in facts:
        if isinstance(fact, Call):
            calls.append(mark(["call", fact.call_id]))
        elif isinstance(fact, Said) and fact.speaker == "assistant":
            order.append(mark(["said", fact.content]))
        else:
            order += calls
            calls = []
            order.append(mark(identity(fact)))
    return order + calls


def identity(fact: Said | Result | Item) -> Json:
    if isinstance(fact, Result):
        return ["result", fact.call_id]
    return ["said", fact.content] if isinstance(fact, Said) else ["item", fact.value]


# ---------------------------------------------------------------- tools


def tools_of(body: dict[str, Json], path: Path) -> Places:
    """The tools by name: all that a model is told of each, flat."""
    found: Places = {}
    tools = body.get("tools")
    for n, tool in enumerate(tools if isinstance(tools, list) else ()):
        told = tool_told(tool) if isinstance(tool, dict) else {"tool": tool}
        name = shown_name(told)
        while name in found:
            name += " (again)"
        found[name] = ((*path, "tools", n), told)
    return found


def tool_told(tool: dict[str, Json]) -> dict[str, Json]:
    """A tool, flat. Left out, strict is false in Chat; in Responses it is true where the schema can be strict."""
    flat = {"type": "function", **given(opened(tool, "function"))}
    if flat["type"] == "function":
        nested = isinstance(tool.get("function"), dict)
        flat.setdefault("strict", not nested and can_be_strict(flat.get("parameters")))
    return flat


def shown_name(told: dict[str, Json]) -> str:
    name = told.get("name")
    return str(name) if name else f"({told.get('type')})"


def can_be_strict(schema: Json) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object" and closed(schema)


def closed(schema: Json) -> bool:
    """Whether every object in a schema takes no other property than those that it names, and requires all of them."""
    if isinstance(schema, list):
        return all(map(closed, schema))
    if not isinstance(schema, dict):
        return True
    kind, properties = schema.get("type"), schema.get("properties")
    named = properties if isinstance(properties, dict) else {}
    if kind == "object" or (isinstance(kind, list) and "object" in kind) or isinstance(properties, dict):
        required = schema.get("required")
        wanted = required if isinstance(required, list) else []
        if schema.get("additionalProperties") is not False or not all(name in wanted for name in named):
            return False
    groups = [group for key in ("$defs", "definitions") if isinstance(group := schema.get(key), dict)]
    lists = [schema.get(key) for key in ("items", "anyOf", "allOf", "oneOf")]
    return closed(lists) and closed([inner for group in (named, *groups) for inner in group.values()])


# ---------------------------------------------------------------- settings


SAID_IN = {
    "response_format": "text.format",
    "verbosity": "text.verbosity",
    "reasoning_effort": "reasoning.effort",
    "max_completion_tokens": "max_output_tokens",
    "max_tokens": "max_output_tokens",
}
"""Names of Chat, and what Responses calls them."""

NEUTRAL: dict[str, tuple[Json, ...]] = {
    "temperature": (1, 1.0),
    "top_p": (1, 1.0),
    "presence_penalty": (0, 0.0),
    "frequency_penalty": (0, 0.0),
    "top_logprobs": (0,),
    "tool_choice": ("auto",),
    "parallel_tool_calls": (True,),
    "text.format": ({"type": "text"},),
    "truncation": ("disabled",),
    "background": (False,),
    "service_tier": ("auto",),
    "stream": (False,),
    "n": (1,),
    "modalities": (["text"],),
    "logit_bias": ({},),
    "metadata": ({},),
}
"""The defaults that the formats state, which say no more than leaving the parameter out."""

ECHOED = {**NEUTRAL, "store": (True,)}
"""The same of a response."""

ECHO = (
    "instructions", "previous_response_id", "tools", "tool_choice", "truncation", "parallel_tool_calls", "text",
    "top_p", "presence_penalty", "frequency_penalty", "top_logprobs", "temperature", "reasoning", "max_output_tokens",
    "max_tool_calls", "store", "background", "safety_identifier", "prompt_cache_key", "input", "conversation",
    "prompt", "prompt_cache_options", "prompt_cache_retention", "user",
)  # fmt: skip
"""What a response only repeats of its request."""

SETTINGS = {
    *NEUTRAL, *ECHO, *SAID_IN.values(), "max_tokens", "reasoning.summary", "metadata", "store", "stop", "seed", "user",
    "stream_options.include_usage", "stream_options.include_obfuscation", "audio", "prediction", "web_search_options",
    "functions", "function_call",
}  # fmt: skip
"""The names of parameters; a key of another name is told as one that is not read."""

LOGPROBS = "include[message.output_text.logprobs]"


def settings_of(body: dict[str, Json], path: Path, neutral: dict[str, tuple[Json, ...]] = NEUTRAL) -> Places:
    """Every key of a request or a row but its turns, tools and model, by the name that Responses has for it."""
    found: Places = {}
    for place, value in spread(body):
        name = ".".join(place)
        shared = SAID_IN.get(name, name)
        meant = RULES[shared](value) if shared in RULES else value
        if meant is None or any(same(meant, nothing) for nothing in neutral.get(shared, ())):
            continue
        # Given twice, under its older name too, it stays under both.
        free = next(key for key in (shared, name, mark(place)) if key not in found)
        found[free] = (*path, *place), meant
    include = found.pop("include", None)
    for word in include[1] if include else ():
        found[f"include[{word if isinstance(word, str) else mark(word)}]"] = (*path, "include"), True
    if "logprobs" in found and found["logprobs"][1] is True:
        found[LOGPROBS] = found.pop("logprobs")
    return found


def spread(body: dict[str, Json]) -> Iterator[tuple[tuple[str, ...], Json]]:
    """The parameters, one by one, each with its place."""
    for key, value in body.items():
        if key == "model" or (key == "tools" and isinstance(value, list)):
            continue
        if key in ("text", "reasoning", "stream_options") and isinstance(value, dict):
            yield from (((key, inner), of) for inner, of in value.items())
        else:
            yield (key,), value


def choice_meant(choice: Json) -> Json:
    if not isinstance(choice, dict):
        return choice
    flat = given(opened(opened(choice, "function"), "allowed_tools"))
    if flat.get("type") == "allowed_tools":
        flat.setdefault("mode", "auto")
        if isinstance(flat.get("tools"), list):
            flat["tools"] = [given(opened(t, "function")) if isinstance(t, dict) else t for t in flat["tools"]]
    return flat


def format_meant(form: Json) -> Json:
    if not isinstance(form, dict):
        return form
    flat = given(opened(form, "json_schema"))
    return flat if flat.get("strict") is not False else given(flat, "strict")


def url_meant(url: Json) -> Json:
    return "either format" if url in ("/v1/chat/completions", "/v1/responses") else url


RULES: dict[str, Callable[[Json], Json]] = {
    "tool_choice": choice_meant,
    "text.format": format_meant,
    "url": url_meant,
    "logprobs": lambda value: None if value is False else value,
    "include": lambda value: value if isinstance(value, list) else None if value is None else [value],
}
"""The parameters that the formats write in two ways."""

# ---------------------------------------------------------------- answers


def answer_of(body: dict[str, Json], path: Path) -> Places:
    """What an answer says beside its turn, by the name that Responses has for it."""
    found: Places = {}
    for key, value in body.items():
        name, meant = ("created_at" if key == "created" else key), value
        if key == "usage":
            meant = usage_meant(value)
        if name == "created_at" and isinstance(value, float) and value.is_integer():
            meant = int(value)
        if not any(same(meant, nothing) for nothing in SAYS_NOTHING.get(key, ())):
            found[name] = (*path, key), meant
    return found


SAYS_NOTHING: dict[str, tuple[Json, ...]] = {
    "object": ("chat.completion", "response"),
    "service_tier": ("default", ""),
    "metadata": ({},),
}

COUNTS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "prompt_tokens_details": "input_tokens_details",
    "completion_tokens_details": "output_tokens_details",
}


def usage_meant(usage: Json) -> Json:
    """Token counts; none of a kind may be said or not."""
    if not isinstance(usage, dict):
        return usage
    flat = {COUNTS.get(key, key): usage_meant(value) for key, value in usage.items()}
    return {key: value for key, value in flat.items() if value is not None and value != {} and not same(value, 0)}


ONE_FORMAT = ("system_fingerprint", "completed_at")
"""What only one format can say of an answer."""

OF_REQUEST = ("metadata", "service_tier")
"""What a completion may leave out, while a response repeats that of the request."""

ANSWER = ("id", "created_at", "usage", "error", *ONE_FORMAT, *OF_REQUEST)


# ---------------------------------------------------------------- comparing


def compare(left: Json, right: Json, at: tuple[Path, Path] = ((), ())) -> list[Difference]:
    """Everything in which two documents do not mean the same; an empty list where `right` is a faithful replay of
    `left`. Raises ValueError where one holds no conversation."""
    if same(left, right):
        return []
    one, other = read(left, at[0]), read(right, at[1])
    # Between the formats there is nothing to hold the echo of a response against.
    answers = {one.format, other.format}
    echo = answers == {"responses"} or "responses" not in answers
    found = [
        *values(one.model, other.model, lambda _: "model"),
        *texts(one.said, other.said),
        *calls(one.calls, other.calls),
        *results(one.results, other.results),
        *items(one.items, other.items),
        *(tools(one.tools, other.tools) if echo else ()),
        *(values(one.settings, other.settings, setting_kind) if echo else ()),
        *values(one.finish, other.finish, lambda _: "finish"),
        *values(*answers_beside(one, other), lambda name: "answer" if name in ANSWER else "unread"),
        *inner(one.inner, other.inner, one.logged and other.logged),
    ]
    if not found and one.order != other.order:
        found.append(order(one.order, other.order, at))
    return found


def setting_kind(name: str) -> str:
    return "setting" if name in SETTINGS or name.startswith("include[") else "unread"


def answers_beside(one: Conversation, other: Conversation) -> tuple[Places, Places]:
    """What the answers say of themselves, as far as both could."""
    if {one.format, other.format} != {"chat", "responses"}:
        return one.answer, other.answer
    chat = one if one.format == "chat" else other
    unsaid = {key for key in OF_REQUEST if key not in chat.answer} | {*ONE_FORMAT}
    left, right = ({key: value for key, value in side.answer.items() if key not in unsaid} for side in (one, other))
    return left, right


def values(one: Places, other: Places, kind: Callable[[str], str]) -> Iterator[Difference]:
    """Values by name."""
    for name in {**one, **other}:
        left, right = one.get(name), other.get(name)
        if left is None or right is None or not same(left[1], right[1]):
            said = beside(left and left[1], right and right[1])
            yield Difference(kind(name), left and pointer(left[0]), right and pointer(right[0]), f"{name}: {said}")


def inner(one: Places, other: Places, logged: bool) -> Iterator[Difference]:
    """The documents inside of two others. What is none must be the same as it stands."""
    for name in {**one, **other}:
        left, right = ({name: side[name]} if name in side else {} for side in (one, other))
        if left and right and isinstance(left[name][1], str) == isinstance(right[name][1], str):
            left, right = ({name: (path, unwrapped(value, logged))} for path, value in (left[name], right[name]))
            if holds(left[name][1]) and holds(right[name][1]):
                yield from compare(left[name][1], right[name][1], (left[name][0], right[name][0]))
                continue
        yield from values(left, right, lambda _: "unread")


def order(one: list[str], other: list[str], at: tuple[Path, Path]) -> Difference:
    n = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    left, right = (shown(side[n]) if n < len(side) else "nothing" for side in (one, other))
    return Difference("order", pointer(at[0]), pointer(at[1]), f"{left} on the left, {right} here")


def texts(one: list[Said], other: list[Said]) -> Iterator[Difference]:
    """What is said, in order. One that is missing does not make all that follow differ."""
    left, right = [mark([s.speaker, s.content]) for s in one], [mark([s.speaker, s.content]) for s in other]
    n = m = 0
    while n < len(left) or m < len(right):
        if n < len(left) and m < len(right) and left[n] == right[m]:
            yield from details(one[n], other[m])
            n, m = n + 1, m + 1
        elif m < len(right) and left[n : n + 1] and left[n] in right[m + 1 :] and right[m] not in left[n + 1 :]:
            yield Difference("text", None, pointer(other[m].path), f"new: {shown(*spoken(other[m]))}")
            m += 1
        elif n < len(left) and m < len(right) and left[n] not in right[m:] and right[m] not in left[n:]:
            yield Difference("text", pointer(one[n].path), pointer(other[m].path), beside(*spoken(one[n], other[m])))
            yield from details(one[n], other[m])
            n, m = n + 1, m + 1
        elif n < len(left):
            yield Difference("text", pointer(one[n].path), None, f"missing: {shown(*spoken(one[n]))}")
            n += 1
        else:
            yield Difference("text", None, pointer(other[m].path), f"new: {shown(*spoken(other[m]))}")
            m += 1


def spoken(*said: Said) -> list[Json]:
    """What is said as it is shown: of one speaker texts alone."""
    alone = [text_alone(one.content) for one in said]
    return (
        alone
        if len({mark(one.speaker) for one in said}) == 1 < len(said)
        else [[one.speaker, text] for one, text in zip(said, alone, strict=True)]
    )


def text_alone(content: Json) -> Json:
    text = isinstance(content, dict) and content.keys() == {"type", "text"}
    return content["text"] if text else content


def details(one: Said | Call | Result, other: Said | Call | Result) -> Iterator[Difference]:
    """What stands beside two facts that belong together."""
    for key in {**one.beside, **other.beside}:
        left, right = (fact.beside.get(key, "completed" if key == "status" else None) for fact in (one, other))
        if not same(left, right):
            kind = "status" if key == "status" else "detail"
            yield Difference(kind, pointer(one.path), pointer(other.path), f"{key}: {beside(left, right)}")


def occurrences(ids: Iterable[Any]) -> list[tuple[str, int]]:
    """Each id with how often it stood before: an id may be used again turns later."""
    count: dict[str, int] = {}
    numbered = []
    for call_id in map(repr, ids):
        numbered.append((call_id, count.get(call_id, 0)))
        count[call_id] = count.get(call_id, 0) + 1
    return numbered


def calls(one: list[Call], other: list[Call]) -> Iterator[Difference]:
    """The calls, joined by id; where an id has gone and another has come for the same call, that is said."""
    left = dict(zip(occurrences(call.call_id for call in one), one, strict=True))
    right = dict(zip(occurrences(call.call_id for call in other), other, strict=True))
    come = [right[key] for key in right if key not in left]
    for key, call in left.items():
        twin = right.get(key)
        if twin is None:
            twin = next((c for c in come if (c.name, c.arguments) == (call.name, call.arguments)), None)
            if twin is None:
                yield Difference("call", pointer(call.path), None, f"missing: {shown(call.call_id)}")
                continue
            come.remove(twin)
            yield Difference("call_id", pointer(call.path), pointer(twin.path), beside(call.call_id, twin.call_id))
        yield from call_parts(call, twin)
    for call in come:
        yield Difference("call", None, pointer(call.path), f"new: {shown(call.call_id)}")


def call_parts(call: Call, twin: Call) -> Iterator[Difference]:
    at = pointer(call.path), pointer(twin.path)
    if not same(call.name, twin.name):
        yield Difference("name", *at, beside(call.name, twin.name))
    if not same(call.arguments, twin.arguments):
        yield Difference("arguments", *at, beside(call.arguments, twin.arguments))
    yield from details(call, twin)


def results(one: list[Result], other: list[Result]) -> Iterator[Difference]:
    left = dict(zip(occurrences(result.call_id for result in one), one, strict=True))
    right = dict(zip(occurrences(result.call_id for result in other), other, strict=True))
    for key, result in left.items():
        twin = right.get(key)
        if twin is None:
            yield Difference("result", pointer(result.path), None, f"missing: of {shown(result.call_id)}")
        else:
            yield from result_parts(result, twin)
    for key, result in right.items():
        if key not in left:
            yield Difference("result", None, pointer(result.path), f"new: of {shown(result.call_id)}")


def result_parts(result: Result, twin: Result) -> Iterator[Difference]:
    at = pointer(result.path), pointer(twin.path)
    if not same(result.output, twin.output):
        yield Difference("output", *at, beside(*map(output_alone, (result.output, twin.output))))
    # Only Chat can name the function again, which the call has named.
    if result.name and twin.name and not same(result.name, twin.name):
        yield Difference("detail", *at, f"name: {beside(result.name, twin.name)}")
    yield from details(result, twin)


def output_alone(output: list[Json]) -> Json:
    return text_alone(output[0]) if len(output) == 1 else output


def items(one: list[Item], other: list[Item]) -> Iterator[Difference]:
    new = [*other]
    for item in one:
        twin = next((n for n, candidate in enumerate(new) if same(item.value, candidate.value)), None)
        if twin is None:
            yield Difference("item", pointer(item.path), None, f"missing: {shown(item.kind)}")
        else:
            del new[twin]
    for item in new:
        yield Difference("item", None, pointer(item.path), f"new: {shown(item.kind)}")


def tools(one: Places, other: Places) -> Iterator[Difference]:
    for name, (path, told) in one.items():
        if name not in other:
            yield Difference("tool", pointer(path), None, f"missing: {shown(name)}")
            continue
        place, twin = other[name]
        for key in {**told, **twin}:
            if not same(told.get(key), twin.get(key)):
                said = f"{key}: {beside(told.get(key), twin.get(key))}"
                yield Difference("schema", pointer(path), pointer(place), said)
    for name, (path, _) in other.items():
        if name not in one:
            yield Difference("tool", None, pointer(path), f"new: {shown(name)}")


# ---------------------------------------------------------------- showing


def shown(value: Any) -> str:
    return f"{value!r:.120}"


def beside(left: Any, right: Any) -> str:
    """Two values beside each other; of two strings the bytes around the first that differs."""
    if isinstance(left, str) and isinstance(right, str):
        n = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
        start = max(0, n - 20)
        at = f", at character {n} of {len(left):,} and {len(right):,}" if start else ""
        return f"{left[start : n + 40]!r} -> {right[start : n + 40]!r}{at}"
    return f"{shown(left)} -> {shown(right)}"
