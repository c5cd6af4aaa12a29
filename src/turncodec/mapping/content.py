"""Content: a string stays a string, a list stays a list, part by part; nothing is joined or split.

The type of a text part depends on who speaks: `output_text` for the assistant, `input_text` for everybody else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Part = dict[str, Any]


def content_to_responses(content: Any, role: str) -> Any:
    """Chat content of a message (or of a result, where `role` is `"output"`) as Responses content."""
    if type(content) is str:
        return content
    text = "output_text" if role == "assistant" else "input_text"
    return [
        {"type": text, "text": part["text"]} if part["type"] == "text" else TO_RESPONSES[part["type"]](part)
        for part in content
    ]


def content_to_chat(content: Any) -> Any:
    """Responses content as Chat content."""
    if type(content) is str:
        return content
    return [TO_CHAT[part["type"]](part) for part in content]


def text_to_chat(part: Part) -> Part:
    return {"type": "text", "text": part["text"]}


def refusal_to_responses(part: Part) -> Part:
    return {"type": "refusal", "refusal": part["refusal"]}


refusal_to_chat = refusal_to_responses


def image_to_responses(part: Part) -> Part:
    """The url object opens: `detail` moves beside the url; absent stays absent."""
    image = part["image_url"]
    detail = {"detail": image["detail"]} if "detail" in image else {}
    return {"type": "input_image", "image_url": image["url"], **detail}


def image_to_chat(part: Part) -> Part:
    detail = {"detail": part["detail"]} if part.get("detail") is not None else {}
    return {"type": "image_url", "image_url": {"url": part["image_url"], **detail}}


FILE_KEYS = ("filename", "file_data")


def file_to_responses(part: Part) -> Part:
    file = part["file"]
    return {"type": "input_file", **{key: file[key] for key in FILE_KEYS if key in file}}


def file_to_chat(part: Part) -> Part:
    return {"type": "file", "file": {key: part[key] for key in FILE_KEYS if part.get(key) is not None}}


TO_RESPONSES: dict[str, Callable[[Part], Part]] = {
    "image_url": image_to_responses,
    "file": file_to_responses,
    "refusal": refusal_to_responses,
}

TO_CHAT: dict[str, Callable[[Part], Part]] = {
    "input_text": text_to_chat,
    "output_text": text_to_chat,
    "input_image": image_to_chat,
    "input_file": file_to_chat,
    "refusal": refusal_to_chat,
}
