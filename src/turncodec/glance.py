"""What can be seen at a glance: plain elements, and calls that are answered as they should be.

This room exists for speed alone. An element that is plain here is valid by `validate`, and a list whose calls are in
order here passes `pairing` (two laws of the test suite); what is not plain is none the worse, it is only looked at
closely. It knows nothing that those rooms do not know better.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from turncodec.equality import is_utf8

LONGEST_TEXT = 10_485_760
"""Characters of a text or an output (specification, `InputTextContentParam` and kin: 10 MiB)."""

LONGEST_ID = 64
_FUNCTION_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@lru_cache(maxsize=1024)
def is_function_name(name: str) -> bool:
    """Whether a name is 1 to 64 of a-z, A-Z, 0-9, _ and - (specification, `FunctionCallItemParam.name`)."""
    return _FUNCTION_NAME.fullmatch(name) is not None


Glance = tuple[list[int], bool]
"""The indices of the elements that need a closer look, and whether calls and results are in order."""


def is_plain_text(text: Any) -> bool:
    return type(text) is str and (text.isascii() or is_utf8(text)) and len(text) <= LONGEST_TEXT


def is_plain_call_id(call_id: Any) -> bool:
    return type(call_id) is str and 0 < len(call_id) <= LONGEST_ID and (call_id.isascii() or is_utf8(call_id))


def is_plain_content(content: Any, text_type: str) -> bool:
    """A string, or a list of nothing but text parts."""
    if type(content) is not list:
        return is_plain_text(content)
    for part in content:
        if type(part) is not dict or len(part) != 2 or part.get("type") != text_type:
            return False
        if not is_plain_text(part.get("text")):
            return False
    return True


def glance_at_messages(messages: list[Any]) -> Glance:
    """Look over Chat messages once."""
    odd: list[int] = []
    paired = True
    seen: set[str] = set()
    waiting: set[str] = set()
    answering = False
    for n, message in enumerate(messages):
        if type(message) is not dict:
            odd.append(n)
            continue
        role, content, size = message.get("role"), message.get("content"), len(message)
        if type(content) is str:
            plain = (content.isascii() or is_utf8(content)) and len(content) <= LONGEST_TEXT
        else:
            plain = is_plain_content(content, "text")
        if role == "tool":
            call_id = message.get("tool_call_id")
            if plain and size == 3 and type(call_id) is str and call_id in waiting:
                waiting.remove(call_id)
                answering = True
            else:
                odd.append(n)
                paired = False
        elif role == "assistant":
            if answering:
                paired = paired and not waiting
                answering = False
            if size == 2 and plain:
                continue
            calls = message.get("tool_calls")
            if calls and (plain or content is None) and size == 2 + ("content" in message) and are_plain_calls(calls):
                for call in calls:
                    call_id = call["id"]
                    if call_id in seen:
                        paired = False
                    seen.add(call_id)
                    waiting.add(call_id)
            else:
                odd.append(n)
                paired = False
        elif role == "user" or role == "system" or role == "developer":
            if not plain or size != 2:
                odd.append(n)
            if waiting:
                paired = False
        else:
            odd.append(n)
            paired = False
    return odd, paired


def are_plain_calls(calls: Any) -> bool:
    if type(calls) is not list:
        return False
    for call in calls:
        if type(call) is not dict or len(call) != 3 or call.get("type") != "function":
            return False
        call_id, function = call.get("id"), call.get("function")
        if type(function) is not dict or len(function) != 2 or not is_plain_call_id(call_id):
            return False
        name, arguments = function.get("name"), function.get("arguments")
        if type(name) is not str or type(arguments) is not str or not is_function_name(name):
            return False
        if not (arguments.isascii() or is_utf8(arguments)):
            return False
    return True


def glance_at_items(items: list[Any]) -> Glance:
    """Look over Responses items once."""
    odd: list[int] = []
    paired = True
    seen: set[str] = set()
    waiting: set[str] = set()
    answering = False
    for n, item in enumerate(items):
        kind = item.get("type") if type(item) is dict else None
        if kind == "message":
            role, content = item.get("role"), item.get("content")
            said = role == "assistant"
            if type(content) is str:
                plain = (content.isascii() or is_utf8(content)) and len(content) <= LONGEST_TEXT
            else:
                plain = is_plain_said(content) if said else is_plain_content(content, "input_text")
            if said:
                if answering:
                    paired = paired and not waiting
                    answering = False
            elif role == "user" or role == "system" or role == "developer":
                if waiting:
                    paired = False
            else:
                plain = paired = False
            if not plain or not (len(item) == 3 or len(item) == 3 + bookkeeping(item)):
                odd.append(n)
        elif kind == "function_call" and is_plain_call(item):
            if answering:
                paired = paired and not waiting
                answering = False
            call_id = item["call_id"]
            if call_id in seen:
                paired = False
            seen.add(call_id)
            waiting.add(call_id)
        elif kind == "function_call_output" and is_plain_output(item):
            call_id = item["call_id"]
            if call_id in waiting:
                waiting.remove(call_id)
                answering = True
            else:
                paired = False
        else:
            odd.append(n)
            paired = False
    return odd, paired


def bookkeeping(item: dict[str, Any]) -> int:
    """How many of the keys that every item may have stand here and are plain; a large number where one is not."""
    count = 0
    if "id" in item:
        item_id = item["id"]
        if item_id is not None and not (type(item_id) is str and is_utf8(item_id)):
            return 99
        count = 1
    if "status" in item:
        if item["status"] != "completed" and item["status"] is not None:
            return 99
        count += 1
    return count


def is_plain_said(content: Any) -> bool:
    """An assistant's list of content: text parts whose annotations, if there, are empty."""
    if type(content) is not list:
        return False
    for part in content:
        if type(part) is not dict or part.get("type") != "output_text" or not is_plain_text(part.get("text")):
            return False
        if len(part) != 2 and not (len(part) == 3 and part.get("annotations", 0) == []):
            return False
    return True


def is_plain_call(item: dict[str, Any]) -> bool:
    call_id, name, arguments = item.get("call_id"), item.get("name"), item.get("arguments")
    return (
        type(name) is str
        and type(arguments) is str
        and is_function_name(name)
        and (arguments.isascii() or is_utf8(arguments))
        and is_plain_call_id(call_id)
        and len(item) == 4 + bookkeeping(item)
    )


def is_plain_output(item: dict[str, Any]) -> bool:
    return (
        is_plain_call_id(item.get("call_id"))
        and is_plain_content(item.get("output"), "input_text")
        and (len(item) == 3 or len(item) == 3 + bookkeeping(item))
    )
