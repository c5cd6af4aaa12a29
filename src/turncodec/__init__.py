"""Translate conversations between OpenAI Chat Completions and Open Responses.

All of it comes across and is proven to come back, or it is refused with a code, the exact place and what to do.
"""

from turncodec.documents import KINDS
from turncodec.refusals import CODES, Code, Refusal, Refused
from turncodec.translate import Translation, check, to_chat, to_responses

__version__ = "0.1.0"

__all__ = [
    "CODES",
    "KINDS",
    "Code",
    "Refusal",
    "Refused",
    "Translation",
    "__version__",
    "check",
    "to_chat",
    "to_responses",
]
