"""Turns: one Chat message <-> the items of its turn. The only place that knows grouping.

Chat bundles what the assistant does at one go into one message; Responses lists it flat. Going flat is one message
after the other: its text, then its calls. Going back needs a rule, and it is this one:

    A turn is a run of assistant messages and function calls. A result, or a message of anybody else, closes it.
    Its messages stay messages, in order, and the last one carries all calls of the turn, in order.

A turn of calls alone is a message whose content is null. A message with the string "" carries no calls, since
an empty text beside calls would not be written as an item of its own.
"""

from __future__ import annotations

from typing import Any

from turncodec.mapping.calls import call_to_item, item_to_call, item_to_result, result_to_item
from turncodec.mapping.content import content_to_chat, content_to_responses

Message = dict[str, Any]
Item = dict[str, Any]


def messages_to_items(messages: list[Message]) -> list[Item]:
    """Chat messages as items, in the same order."""
    items: list[Item] = []
    add = items.append
    for message in messages:
        role = message["role"]
        if role == "tool":
            add(result_to_item(message))
        elif role == "assistant":
            content, calls = message.get("content"), message.get("tool_calls")
            if type(content) is not str or not content or len(message) != 2:
                content = assistant_content_to_item(message)
            if content is not None:
                add({"type": "message", "role": role, "content": content})
            if calls:
                items += map(call_to_item, calls)
        else:
            content = message["content"]
            if type(content) is not str:
                content = content_to_responses(content, role)
            add({"type": "message", "role": role, "content": content})
    return items


def items_to_messages(items: list[Item]) -> list[Message]:
    """Items as Chat messages, grouped by turn."""
    messages: list[Message] = []
    add = messages.append
    turn: list[Message] = []
    calls: list[dict[str, Any]] = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            calls.append(item_to_call(item))
            continue
        if kind == "message":
            role, content = item["role"], item["content"]
            if role == "assistant":
                turn.append(item_to_assistant(role, content))
                continue
            message = {"role": role, "content": content if type(content) is str else content_to_chat(content)}
        else:
            message = item_to_result(item)
        if turn or calls:
            close(turn, calls, messages)
            turn, calls = [], []
        add(message)
    close(turn, calls, messages)
    return messages


def close(turn: list[Message], calls: list[dict[str, Any]], messages: list[Message]) -> None:
    """Add the messages of one turn; the last one carries the calls."""
    messages += turn
    if calls:
        if turn and turn[-1]["content"] != "":
            turn[-1]["tool_calls"] = calls
        else:
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})


def assistant_content_to_item(message: Message) -> Any:
    """The content of an assistant's message item, or None where the message has only calls.

    A refusal stands beside the content in Chat and is its last part in Responses (specification digest g2).
    """
    content = message.get("content")
    refusal = message.get("refusal")
    if not refusal:
        if content is None or (content == "" and message.get("tool_calls")):
            return None
        return content if type(content) is str else content_to_responses(content, "assistant")
    parts = [{"type": "text", "text": content}] if type(content) is str and content else content or []
    return [*content_to_responses(parts, "assistant"), {"type": "refusal", "refusal": refusal}]


def item_to_assistant(role: str, content: Any) -> Message:
    """An assistant's message item as a Chat message; a refusal in last place moves beside the content.

    An empty refusal stays a part: beside the content it would say that there is none.
    """
    if type(content) is str:
        return {"role": role, "content": content}
    if content and content[-1].get("refusal") and all(part["type"] != "refusal" for part in content[:-1]):
        return {"role": role, "content": content_to_chat(content[:-1]) or None, "refusal": content[-1]["refusal"]}
    return {"role": role, "content": content_to_chat(content)}


def sources_of_items(messages: list[Message]) -> list[int]:
    """For each item of `messages_to_items(messages)` the index of the message that it comes from."""
    return [n for n, message in enumerate(messages) for _ in messages_to_items([message])]


def sources_of_messages(items: list[Item]) -> list[list[int]]:
    """For each message of `items_to_messages(items)` the indices of its items: its own message first, then its calls.

    Done by grouping the items again with their positions in place of what they say.
    """
    marked: list[Item] = []
    for n, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "function_call":
            marked.append({"type": kind, "call_id": n, "name": "", "arguments": ""})
        elif kind == "message":
            empty = item["role"] == "assistant" and item["content"] == ""
            marked.append({"type": kind, "role": item["role"], "content": "" if empty else "x", "at": n})
        else:
            marked.append({"type": kind, "call_id": n, "output": ""})
    return _positions(marked)


def _positions(marked: list[Item]) -> list[list[int]]:
    at = iter([item["at"] for item in marked if "at" in item])
    groups: list[list[int]] = []
    for message in items_to_messages(marked):
        own = [message["tool_call_id"]] if message["role"] == "tool" else []
        if message["role"] != "tool" and message["content"] is not None:
            own = [next(at)]
        groups.append(own + [call["id"] for call in message.get("tool_calls", ())])
    return groups
