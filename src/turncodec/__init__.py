"""Translate conversations between OpenAI Chat Completions and Open Responses.

All of it comes across and is proven to come back, or it is refused with a code, the exact place and what to do.

The names below are loaded when they are first used, so that `turncodec --version` does not wait for what it does not
need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turncodec.documents import KINDS
    from turncodec.gate import GATE_WORDS, NotAnswerable, ToolGate, replay_gate
    from turncodec.refusals import CODES, Code, Refusal, Refused
    from turncodec.translate import Translation, check, to_chat, to_responses

__version__ = "0.1.0"

__all__ = [
    "CODES",
    "GATE_WORDS",
    "KINDS",
    "Code",
    "NotAnswerable",
    "Refusal",
    "Refused",
    "ToolGate",
    "Translation",
    "__version__",
    "check",
    "replay_gate",
    "to_chat",
    "to_responses",
]

_ROOMS = {
    "documents": ("KINDS",),
    "gate": ("GATE_WORDS", "NotAnswerable", "ToolGate", "replay_gate"),
    "refusals": ("CODES", "Code", "Refusal", "Refused"),
    "translate": ("Translation", "check", "to_chat", "to_responses"),
}


def __getattr__(name: str) -> Any:
    for room, names in _ROOMS.items():
        if name in names:
            value = getattr(import_module(f"turncodec.{room}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'turncodec' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
