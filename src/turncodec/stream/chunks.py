"""A `chat.completion` that grows chunk by chunk.

Knows Chat alone: which fragments belong together, and where each came from. A call is told by its `index`, or by its
id where it has none, and never by standing next to another. What the completion means is asked of it when it is whole.

(Chat Completions, "The chat completion chunk object"; specification digest g4.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from turncodec.equality import same
from turncodec.refusals import Finding, Path, Refused, raise_all, refused
from turncodec.stream.growth import Text, grown, grown_apart, ripe, sown
from turncodec.translate import plain
from turncodec.validate import type_findings
from turncodec.wire import chat

Chunk = dict[str, Any]
DONE = "[DONE]"
PADDING = "abcdefghijklmnopqrstuvwxyz0123456789"
"""What Mistral pads its chunks with, under the key `p`, as OpenAI does with `obfuscation`."""
NOTHING: tuple[Any, ...] = (None, "", [], {})
MISSING = object()
PLAIN = (str, int, type(None))


def assemble_chunks(chunks: Iterable[Any]) -> dict[str, Any]:
    """The `chat.completion` that a stream amounts to.

    `chunks` are `chat.completion.chunk` objects (JSON values, or objects of the `openai` package), and may end with
    `"[DONE]"`. Text is joined, calls stand in the order of their `index`, the id and the time are those of the first
    chunk that has an id, usage and fingerprint those of the last that gives them; obfuscation is dropped. A stream
    that was cut off has null for its `finish_reason`.

    Raises `Refused` where fragments cannot be joined: `malformed`, `out_of_place`, `contradiction`; and with
    `stream_failed` where the stream reports an error. Pointers begin with the number of the chunk, from 0.
    """
    growing = GrowingCompletion()
    for chunk in chunks:
        growing.add(chunk)
    return growing.value()


class Said(NamedTuple):
    """One thing that a chunk or an event adds to the whole.

    `what` is "text", "refusal", "arguments", "call", or "key" for any other place that says something for the first
    time; `value` the fragment; `of` the call that it belongs to; `path` where a "key" stands in the whole.
    """

    what: str
    value: Any = None
    of: Any = None
    path: Path = ()


class Places:
    """Where the keys of an object stand in a stream."""

    __slots__ = ("first", "spoken")

    def __init__(self) -> None:
        self.first: dict[str, Path] = {}
        """The first place of each that says something, or else the first of all."""
        self.spoken: set[str] = set()


def is_news(places: Places, key: str, value: Any, at: Path) -> bool:
    """Whether a key is there for the first time, or says something for the first time. Notes where."""
    speaks = value not in NOTHING
    if key in places.spoken or (key in places.first and not speaks):
        return False
    places.first[key] = at
    if speaks:
        places.spoken.add(key)
    return True


class GrowingCall:
    """One tool call. `at` is where it began."""

    __slots__ = ("at", "call_id", "function", "index", "is_followed", "name", "rest", "text")

    def __init__(self, index: int, at: Path) -> None:
        self.index, self.at = index, at
        self.call_id: str | None = None
        self.name: str | None = None
        self.text = Text()
        self.is_followed = False
        self.function: dict[str, Any] | None = None
        self.rest: dict[str, Any] = {}

    def add(self, entry: dict[str, Any], at: Path) -> str | None:
        """Take one more entry. The fragment of its arguments, None where there is none."""
        if entry.get("id") is not None:
            self.identify(entry["id"], (*at, "id"))
        for key, value in entry.items():
            if key not in ("index", "id", "function") and value not in (None, ""):
                self.rest[key] = grown(self.rest.get(key), value, key)
        function = entry.get("function")
        if function is None:
            return None
        if self.function is None:
            self.function = {}
        for key, value in function.items():
            if key == "name" and value is not None:
                self.name_it(value, (*at, "function", "name"))
            elif key not in ("name", "arguments") and value is not None:
                self.function[key] = grown(self.function.get(key), value, key)
        arguments: str | None = function.get("arguments")
        if arguments:
            self.text.append(arguments)
        return arguments

    @property
    def is_named(self) -> bool:
        """Whether the name is whole: the arguments have begun, or another call has."""
        return bool(self.name) and (bool(self.text) or self.is_followed)

    def identify(self, call_id: str, at: Path) -> None:
        if call_id and self.call_id not in (None, "", call_id):
            raise refused("contradiction", at, f"the call has the id {self.call_id!r:.80} already")
        self.call_id = call_id or self.call_id or ""

    def name_it(self, name: str, at: Path) -> None:
        """Take a name, or a fragment of one. Some servers repeat it."""
        if name and self.is_named and self.name != name:
            raise refused("contradiction", at, f"the call is named {self.name!r:.80} already")
        if self.name != name:
            self.name = (self.name or "") + name

    def value(self) -> dict[str, Any]:
        """The call as a message has it."""
        call: dict[str, Any] = {} if self.call_id is None else {"id": self.call_id}
        call |= {"type": "function", **ripe(self.rest)}
        if self.function is not None or call["type"] == "function":
            name = {} if self.name is None else {"name": self.name}
            call["function"] = {**name, "arguments": ripe(self.text), **ripe(self.function or {})}
        return call


class GrowingChoice:
    """One choice: its message, its end, and what stands beside them. `at` is where it began."""

    def __init__(self, index: int, at: Path) -> None:
        self.index, self.at = index, at
        self.message: dict[str, Any] = {}
        self.calls: list[GrowingCall] = []
        self.by_index: dict[int, list[GrowingCall]] = {}
        self.finish: str | None = None
        self.logprobs: dict[str, Any] | None = None
        self.rest: dict[str, Any] = {}
        self.places = Places()
        self.known = {"index", "delta", "finish_reason", "logprobs"}
        self.whole: tuple[dict[str, Any], Path] | None = None

    def add(self, choice: dict[str, Any], at: Path) -> Iterator[Said]:
        self.known |= choice.keys()
        delta, message = choice.get("delta") or {}, choice.get("message")
        if not delta and type(message) is dict and not self.message and not self.calls:
            # a server that answers as a whole although a stream was asked for
            raise_all(finding.under((*at, "message")) for finding in type_findings(chat.DELTA, message))
            yield from self.add_delta(message, (*at, "message"))
        yield from self.add_delta(delta, (*at, "delta"))
        for key, value in choice.items():
            if key == "finish_reason" and value:
                self.end(value, (*at, key))
            elif key == "logprobs" and value is not None:
                self.logprobs = grown(self.logprobs or {}, value)
                yield from self.first("logprobs", value, at, ("logprobs",))
            elif key == "message":
                self.take_whole(value, (*at, key))
            elif key not in ("index", "delta", "finish_reason", "logprobs"):
                self.rest[key] = grown(self.rest.get(key), value, key)
                yield from self.first(key, value, at, (key,))

    def take_whole(self, message: Any, at: Path) -> None:
        if message is not None and type(message) is not dict:
            raise refused("malformed", at, "a message is an object")
        self.whole = (message, at) if message else self.whole

    def end(self, finish: str, at: Path) -> None:
        if self.finish not in (None, finish):
            raise refused("contradiction", at, f"the stream ended with {self.finish!r:.40} before")
        self.finish = finish
        self.places.first.setdefault("finish_reason", at)

    def first(self, key: str, value: Any, at: Path, path: Path) -> Iterator[Said]:
        """The first time that a key stands there, and the first time that it says something."""
        if is_news(self.places, key, value, (*at, key)):
            yield Said("key", value, path=("choices", self.index, *path))

    def add_delta(self, delta: dict[str, Any], at: Path) -> Iterator[Said]:
        for key in sorted(delta, key=place_in_a_turn):
            value = delta[key]
            if key == "tool_calls":
                for n, entry in enumerate(value or ()):
                    yield from self.add_call(entry, (*at, key, n))
                continue
            if key == "content" and (type(value) is list or type(self.message.get(key)) is list):
                self.message[key] = grown(as_parts(self.message.get(key)), as_parts(value))
                yield from (Said("text", text) for text in texts_in(value))
            else:
                self.message[key] = grown(self.message[key], value, key) if key in self.message else sown(value, key)
            if key in ("content", "refusal") and type(value) is str:
                if value:
                    is_news(self.places, key, value, (*at, key))
                    yield Said("text" if key == "content" else key, value)
            elif not (key == "role" and value in (None, "", "assistant")):
                yield from self.first(key, value, at, ("message", key))

    # ------------------------------------------------------------ calls

    def add_call(self, entry: dict[str, Any], at: Path) -> Iterator[Said]:
        call = self.call_of(entry, at)
        before = call.call_id, call.name
        fragment = call.add(entry, at)
        if before != (call.call_id, call.name) or entry.keys() - {"index", "id", "type", "function"}:
            yield Said("call", of=call)
        if fragment:
            yield Said("arguments", fragment, call)

    def call_of(self, entry: dict[str, Any], at: Path) -> GrowingCall:
        """The call that an entry belongs to; a new one where it is the first of its index, or of its id."""
        index, call_id = entry.get("index"), entry.get("id")
        if index is not None:
            sharing = self.by_index.get(index, ())
            if len(sharing) == 1 and not is_another(sharing[0], entry):
                return sharing[0]
            if not sharing or is_another(sharing[-1], entry):
                return self.begin(index, at)
        if call_id:
            named = [call for call in self.calls if call.call_id == call_id]
            return named[-1] if named else self.begin(self.next_index(), at)
        if not self.calls and call_id == "":
            return self.begin(0, at)
        if len(self.calls) == 1 and not (entry.get("function") or {}).get("name"):
            return self.calls[0]
        raise refused("out_of_place", (*at, "index"), "neither an index nor an id says which call it belongs to")

    def begin(self, index: int, at: Path) -> GrowingCall:
        call = GrowingCall(index, at)
        if self.calls and self.calls[-1].name:
            self.calls[-1].is_followed = True
        self.calls.append(call)
        self.by_index.setdefault(index, []).append(call)
        return call

    def next_index(self) -> int:
        return max((call.index for call in self.calls), default=-1) + 1

    def in_order(self) -> list[GrowingCall]:
        """The calls by their index; those that share one as they came."""
        return sorted(self.calls, key=lambda call: call.index)

    # ------------------------------------------------------------ the whole

    def value(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
        message |= {key: value for key, value in ripe(self.message).items() if key != "role" or value}
        if self.calls:
            message["tool_calls"] = [call.value() for call in self.in_order()]
        self.compare_with_whole(message)
        logprobs = None if self.logprobs is None else ripe(self.logprobs)
        head = {"index": self.index, "message": message, "logprobs": logprobs, "finish_reason": self.finish}
        return {**head, **ripe(self.rest)}

    def compare_with_whole(self, message: dict[str, Any]) -> None:
        """A whole message that a chunk has beside its delta (Perplexity sends one) must say what the deltas said."""
        if self.whole is None:
            return
        whole, at = self.whole
        wrong = [key for key, value in whole.items() if value not in NOTHING and not same(value, message.get(key))]
        raise_all(Finding("contradiction", (*at, key), "the deltas said something else") for key in wrong)


def place_in_a_turn(key: str) -> int:
    """Where a key of a delta stands among the others: an object has no order, but a turn says its text before its
    calls."""
    return {"content": 0, "refusal": 1, "tool_calls": 3}.get(key, 2)


def is_another(call: GrowingCall, entry: dict[str, Any]) -> bool:
    """Whether an entry begins another call although it has the index of this one: it has another id, and a name too.
    Some servers give all their calls, each of them whole, the index 0."""
    call_id = entry.get("id")
    return bool(call_id and call.call_id and call_id != call.call_id and (entry.get("function") or {}).get("name"))


def as_parts(content: Any) -> Any:
    """The content of a delta as parts; Mistral streams its reasoning as parts, and text as a string."""
    if isinstance(content, str | Text):
        return [{"type": "text", "text": content}] if ripe(content) else None
    return content


def texts_in(content: Any) -> Iterator[str]:
    """The texts in a content of parts."""
    for part in content if type(content) is list else ():
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]


class GrowingCompletion:
    """A completion from its chunks."""

    def __init__(self) -> None:
        self.number = 0
        self.head: dict[str, Any] = {}
        self.frame: dict[str, Any] = {}
        """The head of the last chunk that was read in full."""
        self.choices: dict[int, GrowingChoice] = {}
        self.usage: dict[str, Any] | None = None
        self.places = Places()
        self.ended = False

    def add(self, chunk: Any) -> list[Said]:
        """Take one more chunk, or `"[DONE]"`. What it adds, in its order."""
        number = self.number
        self.number += 1
        if self.ended:
            raise refused("out_of_place", (number,), "the stream has ended")
        if type(chunk) is str and chunk.strip() == DONE:
            self.ended = True
            return []
        said = self.glance(chunk)
        return list(self.read(plain(chunk), number)) if said is None else said

    # ------------------------------------------------------------ the plain case

    def glance(self, chunk: Any) -> list[Said] | None:
        """A chunk that only adds to a text, or to the arguments of a call; None where a closer look is needed.

        For speed alone: whatever it is unsure of is read in full.
        """
        if type(chunk) is not dict:
            return None
        frame, choices = self.frame, chunk.get("choices")
        if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
            return None
        for key, value in chunk.items():
            if key == "choices":
                continue
            old = frame.get(key, MISSING)
            if type(value) not in PLAIN or type(old) is not type(value):
                return None
            if old != value and not is_padding(key, value):
                return None
        delta = None
        choice = choices[0]
        growing = self.choices.get(0)
        if growing is None:
            return None
        for key, value in choice.items():
            if key == "delta":
                delta = value
            elif key == "index":
                if type(value) is not int or value:
                    return None
            elif value is not None or key not in growing.known:
                return None
        return None if type(delta) is not dict else growing_text(growing, delta)

    # ------------------------------------------------------------ any case

    def read(self, chunk: Any, number: int) -> Iterator[Said]:
        if type(chunk) is not dict:
            raise refused("malformed", (number,), "a chunk is an object")
        if chunk.get("error"):
            raise refused("stream_failed", (number, "error"), f"the provider says: {message_of_error(chunk['error'])}")
        if "choices" not in chunk and str(chunk.get("type")).startswith("response."):
            raise refused("wrong_direction", (number,), "an event of Responses, where chunks of Chat are translated")
        if chunk and chunk.keys().isdisjoint(("choices", "usage", "object")):
            raise refused("malformed", (number,), "this is no chunk: it has no choices")
        raise_all(finding.under((number,)) for finding in type_findings(chat.CHUNK, chunk))
        self.frame = {**self.frame, **{key: value for key, value in chunk.items() if key != "choices"}}
        yield from self.read_head(chunk, number)
        for n, choice in enumerate(chunk.get("choices") or ()):
            at: Path = (number, "choices", n)
            index = choice.get("index") or 0
            if index not in self.choices:
                self.choices[index] = GrowingChoice(index, (*at, "index") if choice.get("index") else at)
                if len(self.choices) > 1:
                    yield Said("choice", path=self.choices[index].at)
            yield from self.choices[index].add(choice, at)

    def read_head(self, chunk: Chunk, number: int) -> Iterator[Said]:
        if chunk.get("id") and not self.head.get("id"):
            self.head |= {key: chunk[key] for key in ("id", "created", "model") if key in chunk}
        for key, value in chunk.items():
            at: Path = (number, key)
            if key in ("id", "created", "model"):
                if not self.head.get(key) and value is not None:
                    self.head[key] = value
            elif key == "object":
                if value and not value.startswith("chat.completion"):
                    raise refused("malformed", at, f"{value!r:.60} is no chunk of Chat")
            elif key == "usage":
                if value is not None:
                    self.usage, self.places.first[key] = value, at
            elif key in ("service_tier", "system_fingerprint"):
                if value is not None or key not in self.head:
                    self.head[key] = value
                yield from self.first(key, value, at)
            elif key != "choices" and not is_padding(key, value):
                old = self.head.get(key)
                self.head[key] = value if old is None else old if value is None else grown_apart(old, value)
                yield from self.first(key, value, at)

    def first(self, key: str, value: Any, at: Path) -> Iterator[Said]:
        if is_news(self.places, key, value, at):
            yield Said("key", value, path=(key,))

    # ------------------------------------------------------------ the whole

    def value(self) -> dict[str, Any]:
        """The completion so far."""
        first: dict[str, Any] = {key: self.head[key] for key in ("id", "created", "model") if key in self.head}
        choices = [self.choices[index].value() for index in sorted(self.choices)]
        whole: dict[str, Any] = {**first, "object": "chat.completion", "choices": choices}
        whole |= {key: ripe(value) for key, value in self.head.items() if key not in first}
        return whole if self.usage is None else {**whole, "usage": self.usage}

    def place(self, path: Path) -> Path:
        """Where in the stream that stands, or began, which stands at a path of the completion."""
        if path[:1] != ("choices",) or len(path) < 2:
            return self.places.first.get(str(path[0]), ()) if path else ()
        choices = [self.choices[index] for index in sorted(self.choices)]
        if not choices:
            return ()
        choice, inner = choices[int(path[1])], path[2:]
        if inner[:2] == ("message", "tool_calls") and len(inner) > 2:
            return (*choice.in_order()[int(inner[2])].at, *inner[3:])
        key = str(inner[1]) if inner[:1] == ("message",) and len(inner) > 1 else str(inner[0]) if inner else ""
        return choice.places.first.get(key, () if key == "finish_reason" else choice.at)


def growing_text(growing: GrowingChoice, delta: dict[str, Any]) -> list[Said] | None:
    """The plain case of a delta: nothing but one fragment of one text that has begun."""
    message, found, fragment = growing.message, "", None
    for key, value in delta.items():
        if value is None:
            if key not in message:
                return None
        elif value == "":
            if type(message.get(key)) is not Text:
                return None
        elif key == "role":
            if value != message.get(key):
                return None
        elif found:
            return None
        else:
            found, fragment = key, value
    if not found:
        return []
    if found == "tool_calls":
        return growing_arguments(growing, fragment)
    text = message.get(found)
    if type(text) is not Text or type(fragment) is not str or found not in growing.places.spoken:
        return None
    text.append(fragment)
    if found == "content":
        return [Said("text", fragment)]
    return [Said("refusal", fragment)] if found == "refusal" else []


def growing_arguments(growing: GrowingChoice, calls: Any) -> list[Said] | None:
    """The plain case of an entry: nothing but a fragment of the arguments of a call that has begun."""
    if type(calls) is not list or len(calls) != 1 or type(calls[0]) is not dict:
        return None
    entry = calls[0]
    function = entry.get("function")
    if entry.keys() - {"index", "function", "type"} or entry.get("type") not in (None, "function"):
        return None
    if type(function) is not dict or function.keys() != {"arguments"} or type(function["arguments"]) is not str:
        return None
    found = growing.by_index.get(entry["index"], ()) if type(entry.get("index")) is int else ()
    if len(found) != 1:
        return None
    fragment = function["arguments"]
    found[0].text.append(fragment)
    return [Said("arguments", fragment, found[0])] if fragment else []


def is_padding(key: str, value: Any) -> bool:
    return (key == "obfuscation" and type(value) is str) or (
        key == "p" and type(value) is str and PADDING.startswith(value)
    )


def message_of_error(error: Any) -> str:
    """What went wrong, in the words of the provider."""
    if not isinstance(error, dict):
        return f"{error!r:.300}"
    words = [str(error[key]) for key in ("message", "code", "type") if error.get(key) not in (None, "")]
    return "; ".join(words)[:300] or "nothing more"


def error_of(refused: Refused) -> dict[str, Any]:
    """A refusal as an error of a stream."""
    first = refused.refusals[0]
    return {"type": "server_error", "code": first.code, "message": str(refused), "param": first.pointer}
