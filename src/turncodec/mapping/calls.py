"""A tool call and its result: `tool_calls[]` <-> `function_call`, `role: "tool"` <-> `function_call_output`.

Ids, names, arguments and outputs travel as the very strings they are. Only `call_id` joins a call to its result; the
item id is this side's own and says nothing to Chat.
"""

from __future__ import annotations

from typing import Any

from turncodec.mapping.content import content_to_chat, content_to_responses


def call_to_item(call: dict[str, Any]) -> dict[str, Any]:
    """One entry of `tool_calls` as a `function_call` item, with all six fields, since a replay gate demands them."""
    call_id, function = call["id"], call["function"]
    return {
        "type": "function_call",
        "id": "fc_" + call_id,
        "call_id": call_id,
        "name": function["name"],
        "arguments": function["arguments"],
        "status": "completed",
    }


def item_to_call(item: dict[str, Any]) -> dict[str, Any]:
    """A `function_call` item as one entry of `tool_calls`."""
    return {
        "id": item["call_id"],
        "type": "function",
        "function": {"name": item["name"], "arguments": item["arguments"]},
    }


def result_to_item(message: dict[str, Any]) -> dict[str, Any]:
    """A tool message as a `function_call_output` item."""
    content = message["content"]
    return {
        "type": "function_call_output",
        "call_id": message["tool_call_id"],
        "output": content if type(content) is str else content_to_responses(content, "output"),
    }


def item_to_result(item: dict[str, Any]) -> dict[str, Any]:
    """A `function_call_output` item as a tool message."""
    output = item["output"]
    return {
        "role": "tool",
        "tool_call_id": item["call_id"],
        "content": output if type(output) is str else content_to_chat(output),
    }
