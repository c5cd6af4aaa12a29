"""Tool definitions and the choice among them: nested in Chat (`function: {...}`), flat in Responses.

Schemas travel untouched; absent, null and `{}` are three different things. What differs is the default of `strict`:
left out it means false to Chat and true to Responses, so that it has to be said.

    Chat       Responses
    absent <-> false
    true   <-> true
    false   -> false
    true   <-  absent or null, where the schema can be strict
    absent <-  absent or null, where it cannot
"""

from __future__ import annotations

from typing import Any

Tool = dict[str, Any]

DEFINITION = ("name", "description", "parameters")

# ---------------------------------------------------------------- definitions


def tool_to_responses(tool: Tool) -> Tool:
    """A Chat function tool, flat. Null says nothing here, so such a key is left out."""
    function = tool["function"]
    flat = {key: function[key] for key in DEFINITION if function.get(key) is not None}
    return {"type": "function", **flat, "strict": function.get("strict") or False}


def tool_to_chat(tool: Tool) -> Tool:
    """A Responses function tool, nested."""
    function = {key: tool[key] for key in DEFINITION if tool.get(key) is not None}
    strict = tool.get("strict")
    if strict or (strict is None and can_be_strict(tool.get("parameters"))):
        function["strict"] = True
    return {"type": "function", "function": function}


def can_be_strict(schema: Any) -> bool:
    """Whether a schema meets the rules of strict mode: every object is closed and requires all its properties."""
    return isinstance(schema, dict) and schema.get("type") == "object" and is_closed(schema)


def is_closed(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(map(is_closed, schema))
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    kind = schema.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind) or isinstance(properties, dict):
        required = schema.get("required")
        wanted = set(properties) if isinstance(properties, dict) else set()
        if schema.get("additionalProperties") is not False:
            return False
        if not isinstance(required, list | type(None)) or wanted - {
            name for name in required or () if type(name) is str
        }:
            return False
    inner = [schema.get(key) for key in ("items", "anyOf", "allOf", "oneOf")]
    named = [schema.get(key) for key in ("properties", "$defs", "definitions")]
    return all(map(is_closed, inner)) and all(
        is_closed(value) for group in named if isinstance(group, dict) for value in group.values()
    )


# ---------------------------------------------------------------- the choice


def choice_to_responses(choice: Any) -> Any:
    """`tool_choice` of Chat, flat. A word stays a word."""
    if isinstance(choice, str):
        return choice
    if choice["type"] == "function":
        return {"type": "function", "name": choice["function"]["name"]}
    allowed = choice["allowed_tools"]
    tools = [{"type": "function", "name": tool["function"]["name"]} for tool in allowed["tools"]]
    return {"type": "allowed_tools", "mode": allowed["mode"], "tools": tools}


def choice_to_chat(choice: Any) -> Any:
    """`tool_choice` of Responses, nested. `mode` left out means auto there and has to be said here."""
    if isinstance(choice, str):
        return choice
    if choice["type"] == "function":
        return {"type": "function", "function": {"name": choice["name"]}}
    tools = [{"type": "function", "function": {"name": tool["name"]}} for tool in choice["tools"]]
    return {"type": "allowed_tools", "allowed_tools": {"mode": choice.get("mode") or "auto", "tools": tools}}
