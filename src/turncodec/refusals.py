"""Refusals: what cannot go across, where, why, and what to do next.

This room knows the closed table of codes and nothing about either format. A code is public and stable: it is
matched by programs, written into files, and has a vector in specs/vectors/refusals. A new kind of refusal is a new
row here first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
"""Where something stands in a document: object keys and list indices from the root."""


@dataclass(frozen=True, slots=True)
class Code:
    """One row of the table: what a code means and what a caller can do about it."""

    name: str
    meaning: str
    hint: str
    allowing: str | None = None
    """What `allow={name}` does, or None where it can never be allowed."""
    example: str = ""
    """A small JSON document that is refused with this code."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing that cannot go across.

    `code` is a name of `CODES`; `pointer` an RFC 6901 JSON pointer into the document as it was given (`""` is the
    whole document); `message` says what is so, `hint` what to do next; `allowable` whether `allow={code}` would let
    this one through.
    """

    code: str
    pointer: str
    message: str
    hint: str
    allowable: bool = False

    def as_json(self) -> dict[str, Any]:
        """The refusal as a JSON object with the five fields by name."""
        return {
            "code": self.code,
            "pointer": self.pointer,
            "message": self.message,
            "hint": self.hint,
            "allowable": self.allowable,
        }

    def __str__(self) -> str:
        return f"{self.code} at {self.pointer or '(the document)'}: {self.message}. {self.hint}"


class Refused(Exception):
    """Raised when a document cannot be translated as asked; `refusals` holds every reason, in document order."""

    def __init__(self, refusals: Iterable[Refusal], findings: Iterable[Finding] = ()) -> None:
        self.refusals: tuple[Refusal, ...] = tuple(refusals)
        self.findings: tuple[Finding, ...] = tuple(findings)
        super().__init__(self.refusals)

    def __str__(self) -> str:
        return "\n".join(map(str, self.refusals))


@dataclass(frozen=True, slots=True)
class Finding:
    """A refusal in the making: a path instead of a pointer, and what allowing it would leave behind.

    `leave` is the path of the part that stays behind when the code is allowed; None where allowing needs something
    else (a renaming, a move, nothing at all). `allowable` can only take away what the table grants.
    """

    code: str
    path: Path
    message: str
    leave: Path | None = None
    allowable: bool = True
    hint: str = ""

    @property
    def can_be_allowed(self) -> bool:
        return self.allowable and CODES[self.code].allowing is not None

    def under(self, base: Path) -> Finding:
        """The same finding, seen from further out."""
        leave = None if self.leave is None else base + self.leave
        return Finding(self.code, base + self.path, self.message, leave, self.allowable, self.hint)

    def refusal(self) -> Refusal:
        hint = self.hint or CODES[self.code].hint
        if self.can_be_allowed:
            hint += f", or allow {self.code}: {CODES[self.code].allowing}"
        return Refusal(self.code, pointer(self.path), self.message, hint, self.can_be_allowed)


def pointer(path: Path) -> str:
    """The RFC 6901 pointer of a path. `pointer(("a/b", 0))` is `"/a~1b/0"`."""
    return "".join(["/" + (str(step) if isinstance(step, int) else escaped(step)) for step in path])


def escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def path_of(text: str) -> Path:
    """The path that an RFC 6901 pointer spells; digits become indices. Raises ValueError when it is no pointer."""
    if text and not text.startswith("/"):
        raise ValueError(f"{text!r} is not a JSON pointer: it must be empty or begin with '/'")
    steps = (step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])
    return tuple(int(step) if step.isascii() and step.isdigit() and str(int(step)) == step else step for step in steps)


def follow(document: Any, path: Path) -> Any:
    """The value at a path. Raises KeyError, IndexError or TypeError where there is none."""
    for step in path:
        document = document[str(step) if isinstance(document, dict) else step]
    return document


def allowed_codes(allow: str | Collection[str]) -> frozenset[str]:
    """`allow` as a set of codes: one code, several, or `"all"` for every code that can be allowed.

    Raises ValueError for a word that is no code, or one that can never be allowed.
    """
    names = {allow} if isinstance(allow, str) else set(allow)
    if "all" in names:
        names = (names - {"all"}) | {code.name for code in CODES.values() if code.allowing}
    for name in sorted(map(str, names)):
        if name not in CODES:
            raise ValueError(f"{name!r} is not a refusal code; `turncodec explain` lists them")
        if CODES[name].allowing is None:
            raise ValueError(f"{name!r} can never be allowed: {CODES[name].meaning}")
    return frozenset(names)


def refused(code: str, path: Path, message: str) -> Refused:
    """The exception for one reason alone."""
    return refused_for([Finding(code, path, message)])


def refused_for(findings: list[Finding]) -> Refused:
    """The exception for these findings, which it keeps beside their refusals."""
    return Refused([finding.refusal() for finding in findings], findings)


def raise_all(findings: Iterable[Finding]) -> None:
    """Raise `Refused` with every finding, in document order; do nothing when there is none."""
    found = list(findings)
    if found:
        raise refused_for(found)


# ---------------------------------------------------------------- the table

_CHAT_CALL = '{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}'

_TABLE = (
    # the document
    Code(
        "not_json",
        "This is not JSON, or holds a value that JSON cannot write: nan, a lone surrogate, bytes that are not UTF-8.",
        "repair the value at its source",
        None,
        '{"messages": [{"role": "user", "content": NaN}]}',
    ),
    Code(
        "duplicate_key",
        "An object has the same key twice, and every JSON reader would drop one of the two without a word.",
        "remove one of the two",
        None,
        '{"messages": [{"role": "user", "role": "system", "content": "hi"}]}',
    ),
    Code(
        "too_deep",
        "The document is nested more than 200 levels deep, further than many JSON readers go.",
        "flatten the value, or keep it as text",
        None,
        '{"messages": [], "note": [[[[ ... 200 more ... ]]]]}',
    ),
    Code(
        "unknown_shape",
        "The document is none of those that can be recognised, or there is no transcript where one should be.",
        "name the place of the transcript (--at /pointer, at=) or what the document is (--kind, kind=)",
        None,
        '{"dialogue": [{"role": "user", "content": "hi"}]}',
    ),
    Code(
        "wrong_direction",
        "The document is in the target format already.",
        "nothing to do, or translate in the other direction",
        None,
        '{"input": [{"type": "message", "role": "user", "content": "hi"}]}',
    ),
    Code(
        "mixed_formats",
        "Keys or types of both formats stand in one document, so that nobody can say which one it is.",
        "split it by format, or translate the part that is in the other one first",
        None,
        '{"messages": [{"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}]}',
    ),
    Code(
        "malformed",
        "Something is not of its format: a required key is missing, a value has the wrong type, a role is none.",
        "repair the value at its source",
        None,
        '{"messages": [{"role": "critic", "content": "hm"}]}',
    ),
    # keys and parts
    Code(
        "unknown_field",
        "A key that the format does not have.",
        "remove the key",
        "the key is kept in the remainder",
        '{"messages": [{"role": "user", "content": "hi", "trace": "7f3a"}]}',
    ),
    Code(
        "unknown_value",
        "A value that is not one of those that the format has for its key.",
        "choose one of the format's values",
        "where it can stay behind, as a parameter of a request can, it is kept in the remainder",
        '{"model": "m", "messages": [{"role": "user", "content": "hi"}], "tool_choice": "any"}',
    ),
    Code(
        "unknown_part",
        "A content part of a type that the format does not have.",
        "remove the part, or write it as one that both formats have",
        "the part is kept in the remainder",
        '{"messages": [{"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "sketch"}]}]}',
    ),
    Code(
        "no_counterpart",
        "A key that one format has and the other has not.",
        "remove the key",
        "the key is kept in the remainder",
        '{"messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "prompt_cache_breakpoint": {"mode": "explicit"}}]}]}',
    ),
    Code(
        "namespaced",
        "An item, part or call that belongs to one provider (its type has a colon, or it has a namespace): a "
        "conversation that holds one is not portable.",
        "keep the conversation with its provider",
        "it is kept in the remainder, untouched, and returns to its provider",
        '{"input": [{"type": "acme:search_call", "id": "s1", "status": "completed"}]}',
    ),
    Code(
        "unsupported_item",
        "An item that one API has and the other format cannot write: hosted tools, custom tool calls, references, "
        "compactions.",
        "keep the conversation with its provider",
        "the item is kept in the remainder",
        '{"input": [{"type": "web_search_call", "id": "ws_1", "status": "completed"}]}',
    ),
    Code(
        "unknown_item",
        "An item or call of a type that nobody has specified.",
        "find out what wrote it",
        "the item is kept in the remainder",
        '{"input": [{"type": "thought", "text": "hm"}]}',
    ),
    Code(
        "custom_tool",
        "A custom tool: its calls have free text for arguments, which a function call cannot say.",
        "describe the tool as a function",
        "the tool, or the call and its result, is kept in the remainder",
        '{"messages": [{"role": "assistant", "content": "on it", "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}]}]}',
    ),
    Code(
        "reasoning",
        "Reasoning: an item of Responses, or a provider's own key or part in Chat. It is often sealed and means "
        "nothing to another provider.",
        "remove it",
        "it is kept in the remainder",
        '{"messages": [{"role": "assistant", "content": "4", "reasoning_content": "2 and 2"}]}',
    ),
    Code(
        "phase",
        "An assistant's message says which phase it belongs to; Chat has no such key.",
        "remove the key",
        "the key is kept in the remainder",
        '{"input": [{"type": "message", "role": "assistant", "content": "looking", "phase": "commentary"}]}',
    ),
    Code(
        "message_name",
        "A message names its speaker; items have no such key.",
        "remove the name, or write it into the text",
        "the name is kept in the remainder",
        '{"messages": [{"role": "user", "content": "hi", "name": "alice"}]}',
    ),
    Code(
        "weight",
        "An assistant's message has a weight for training; items have no such key.",
        "remove the weight",
        "the weight is kept in the remainder",
        '{"messages": [{"role": "assistant", "content": "hi", "weight": 0}]}',
    ),
    Code(
        "annotations",
        "Annotations (citations) of a stored message have no place on the other side.",
        "remove the annotations, or write them into the text",
        "the annotations are kept in the remainder",
        '{"messages": [{"role": "assistant", "content": "see", "annotations": [{"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 3, "url": "https://example.com", "title": "E"}}]}]}',
    ),
    Code(
        "logprobs",
        "Log probabilities that have no place on the other side.",
        "remove them",
        "they are kept in the remainder",
        '{"input": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a", "logprobs": [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]}]}]}',
    ),
    Code(
        "audio",
        "Audio: Open Responses has no audio part.",
        "transcribe it",
        "the audio is kept in the remainder, where something else is left to say",
        '{"messages": [{"role": "user", "content": [{"type": "text", "text": "transcribe"}, {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}]}]}',
    ),
    Code(
        "image_detail",
        "detail: original is an image detail that Open Responses does not have.",
        "choose low, high or auto",
        "the detail is kept in the remainder",
        '{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "original"}}]}]}',
    ),
    Code(
        "image_url",
        "An image without its url.",
        "write the image as a url or a data url",
        "the part is kept in the remainder, where something else is left to say",
        '{"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": null}]}]}',
    ),
    Code(
        "file_id",
        "A file or image named by its id, which is known to one server only.",
        "write the file as data",
        "the part is kept in the remainder, where something else is left to say",
        '{"messages": [{"role": "user", "content": [{"type": "text", "text": "read"}, {"type": "file", "file": {"file_id": "file-1"}}]}]}',
    ),
    Code(
        "file_url",
        "A file named by its url, which Chat cannot say.",
        "write the file as data",
        "the part is kept in the remainder, where something else is left to say",
        '{"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "read"}, {"type": "input_file", "file_url": "https://example.com/a.pdf"}]}]}',
    ),
    Code(
        "result_media",
        "The result of a tool call holds an image, a file or a video; in Chat a result is text.",
        "describe it in words, or write it as a message of the user",
        "the part is kept in the remainder, where something else is left to say",
        '{"input": [{"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "done"}, {"type": "input_image", "image_url": "https://example.com/a.png"}]}]}',
    ),
    Code(
        "refusal_order",
        "A refusal stands before other parts, or there are several; beside the content there is room for one.",
        "put the refusal last",
        "the parts pass as they are, in a list that not every server takes",
        '{"input": [{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}, {"type": "output_text", "text": "but"}]}]}',
    ),
    Code(
        "too_long",
        "A text, an image or a file is longer than Open Responses takes (10 MiB, 20 MiB and 32 MiB of characters).",
        "shorten it",
        None,
        '{"messages": [{"role": "user", "content": "... more than 10,485,760 characters ..."}]}',
    ),
    # requests
    Code(
        "hosted_tool",
        "A tool that one provider runs itself (web search, code interpreter and the like).",
        "offer a function of your own instead",
        "the tool is kept in the remainder",
        '{"model": "m", "input": "hi", "tools": [{"type": "web_search"}]}',
    ),
    Code(
        "limit",
        "A value that Open Responses does not take: too small, too large, too long or too many.",
        "choose a value inside the limit",
        "the value is kept in the remainder",
        '{"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_completion_tokens": 8}',
    ),
    Code(
        "batch_url",
        "A line of a batch file for another endpoint than Chat Completions or Responses.",
        "keep such lines in a file of their own",
        None,
        '{"custom_id": "r1", "method": "POST", "url": "/v1/embeddings", "body": {"model": "m", "input": "hi"}}',
    ),
    # answers
    Code(
        "truncated",
        "A text that was cut off by the limit of tokens or by a content filter.",
        "ask again with more room",
        "the answer crosses as an unfinished one, with the reason, and is never shown as finished",
        '{"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "Once up"}}]}',
    ),
    Code(
        "several_choices",
        "A completion with several choices, or none; a response gives one answer.",
        "split the completion into one for each choice",
        None,
        '{"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []}',
    ),
    Code(
        "several_messages",
        "A response with several messages; a completion has one, and joining them would lose their bounds.",
        "translate its output as a transcript, where they are simply several messages",
        None,
        '{"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "a", "annotations": []}]}, {"type": "message", "id": "m2", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "b", "annotations": []}]}]}',
    ),
    Code(
        "several_parts",
        "An answer with several text parts; a completion has one string, and joining them would lose their bounds.",
        "translate the output as a transcript, where content may be a list",
        None,
        '{"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "a", "annotations": []}, {"type": "output_text", "text": "b", "annotations": []}]}]}',
    ),
    # messages
    Code(
        "empty_message",
        "An assistant's message with neither text nor refusal nor calls: no item would be left of it.",
        "remove the message",
        "the message is kept in the remainder",
        '{"messages": [{"role": "assistant", "content": null}]}',
    ),
    Code(
        "legacy_function",
        "The deprecated function calling: its calls and results have no ids.",
        "rewrite it with tool_calls",
        "ids are derived from the places of the calls, and the remainder restores the old form",
        '{"messages": [{"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}}, {"role": "function", "name": "f", "content": "1"}]}',
    ),
    # calls and results
    Code(
        "incomplete",
        "An item, or a call, that was not completed. It may be cut off anywhere, so nobody can say what it means.",
        "drop it, or ask again",
        None,
        '{"input": [{"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{\\"a", "status": "incomplete"}]}',
    ),
    Code(
        "arguments_type",
        "The arguments of a call are not a string. Both formats carry them as text; writing them anew would invent it.",
        "find the text that the model wrote",
        None,
        '{"input": [{"type": "function_call", "call_id": "c1", "name": "f", "arguments": {"a": 1}}]}',
    ),
    Code(
        "call_id_length",
        "A call id that is empty or longer than 64 characters.",
        "shorten it, in the call and in its result",
        "the call gets a new id, and so does its result; the remainder restores both",
        '{"messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": "", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}]}',
    ),
    Code(
        "function_name",
        "A function name that is not 1 to 64 of a-z, A-Z, 0-9, _ and -.",
        "rename the function, in the tools too",
        "the name passes as it is",
        '{"messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "docs.search", "arguments": "{}"}}]}]}',
    ),
    Code(
        "duplicate_call_id",
        "Two calls have one id. Chat forgives that, Responses joins each id to one call and one output.",
        "give each call an id of its own",
        "the later call and its result get a new id; the remainder restores it",
        '{"messages": ['
        + _CHAT_CALL
        + ', {"role": "tool", "tool_call_id": "c1", "content": "1"}, '
        + _CHAT_CALL
        + "]}",
    ),
    Code(
        "orphan_result",
        "A result without a call before it.",
        "find the call; it may be in an earlier response on the server",
        None,
        '{"messages": [{"role": "tool", "tool_call_id": "c9", "content": "1"}]}',
    ),
    Code(
        "duplicate_result",
        "A second result for a call that was answered already.",
        "remove one of the two",
        None,
        '{"messages": ['
        + _CHAT_CALL
        + ', {"role": "tool", "tool_call_id": "c1", "content": "1"}, {"role": "tool", "tool_call_id": "c1", "content": "1"}]}',
    ),
    Code(
        "unanswered_call",
        "A call that has no result although the conversation goes on. Calls at the very end are pending and pass.",
        "add the result, or remove the call",
        "the call passes as it is; servers may refuse the conversation",
        '{"messages": [' + _CHAT_CALL + ', {"role": "user", "content": "hello?"}]}',
    ),
    Code(
        "interleaved",
        "Something stands between a call and its result; Chat wants results directly after the calls.",
        "move the result up to its call",
        "the result moves up to its call, and the remainder restores the order",
        '{"input": [{"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}, {"type": "message", "role": "user", "content": "hurry"}, {"type": "function_call_output", "call_id": "c1", "output": "1"}]}',
    ),
    # streams
    Code(
        "out_of_place",
        "A chunk or an event of a stream that cannot be joined to the rest: after the end, without the item or call "
        "that it belongs to, or where its place was given away.",
        "find out what wrote the stream; a stream that was recorded must be whole and in order",
        None,
        '[{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {"tool_calls": [{"function": {"arguments": "{}"}}]}, "finish_reason": null}]}]',
    ),
    Code(
        "contradiction",
        "Two places of a stream say different things of one text, call or end.",
        "find out what wrote the stream",
        None,
        '[{"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "id": "i", "call_id": "c1", "name": "f", "arguments": "", "status": "in_progress"}}, {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "i", "delta": "{}"}, {"type": "response.function_call_arguments.done", "output_index": 0, "item_id": "i", "arguments": "[]"}]',
    ),
    Code(
        "unknown_event",
        "An event of a stream, or a key of one, that the specification does not have.",
        "find out what it says",
        "it is passed over, and nothing of it reaches the result",
        '[{"type": "response.mood.delta", "delta": "cheerful"}]',
    ),
    Code(
        "stream_failed",
        "The stream itself says that it failed.",
        "see what the provider says, and ask again",
        None,
        '[{"type": "error", "error": {"type": "server_error", "code": null, "message": "try again", "param": null}}]',
    ),
    # the way back
    Code(
        "not_reversible",
        "The way back gives something else than the original, and no spelling explains it.",
        "this is a fault of turncodec: please report the document",
        None,
        "",
    ),
    Code(
        "bad_remainder",
        "The remainder is none, or belongs to the other direction.",
        "give the remainder that was stored beside this document",
        None,
        "",
    ),
    Code(
        "stale_remainder",
        "The document has changed in the part that the remainder speaks of.",
        "restore from the translation as it was written, or translate without the remainder",
        None,
        "",
    ),
)

CODES: dict[str, Code] = {code.name: code for code in _TABLE}
"""Every refusal code by name, in the order of the documentation."""
