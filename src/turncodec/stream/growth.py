"""How the fragments of a JSON value grow together, where nobody has said what they are.

Knows nothing about either format. What stands under a key that holds text is joined; lists are joined, and the entry
that ends one fragment is continued by the next where both say that they are the same; objects grow key by key; what
is said again stands once; values that differ stand in a list, in the order in which they came. So nothing that was
streamed is lost, and the work is linear: a text is a list of its fragments until it is ripe.
"""

from __future__ import annotations

from typing import Any

from turncodec.equality import same
from turncodec.wire.chat import REASONING_KEYS

TEXTS = REASONING_KEYS | {"content", "refusal", "text", "summary", "arguments", "input", "transcript"}
"""The keys whose strings are fragments of one text."""


class Text(list[str]):
    """A text by its fragments."""


class Several(list[Any]):
    """Values that differ."""


def sown(value: Any, key: str = "") -> Any:
    """A first fragment, as a value that can grow; the fragment itself is not changed later."""
    if type(value) is str:
        return Text([value]) if key in TEXTS else value
    if type(value) is dict:
        return {name: sown(inner, name) for name, inner in value.items()}
    if type(value) is list:
        return [sown(entry) for entry in value]
    return value


def grown(old: Any, new: Any, key: str = "") -> Any:
    """What has grown so far, with one more fragment. Null adds nothing, and neither does an empty string."""
    if new is None or (new == "" and old is not None):
        return old
    if old is None or old == "":
        return sown(new, key)
    if type(old) is Text and type(new) is str:
        old.append(new)
        return old
    if type(old) is dict and type(new) is dict:
        for name, inner in new.items():
            old[name] = grown(old[name], inner, name) if name in old else sown(inner, name)
        return old
    if type(old) is list and type(new) is list:
        for entry in new:
            if old and continues(old[-1], entry):
                grown(old[-1], entry)
            else:
                old.append(sown(entry))
        return old
    return grown_apart(old, new)


def grown_apart(old: Any, new: Any) -> Any:
    """A value that is no text and no list: it stands once while it stays the same."""
    last = old[-1] if type(old) is Several else ripe(old)
    if same(last, new):
        return old
    return Several([*old, new] if type(old) is Several else [last, new])


def continues(last: Any, entry: Any) -> bool:
    """Whether an entry of a list goes on with the one before: they agree in all but their texts, and have one."""
    if type(last) is not dict or type(entry) is not dict or last.get("type") != entry.get("type"):
        return False
    shared = last.keys() & entry.keys()
    texts = [key for key in shared if type(last[key]) is Text or (key in TEXTS and type(last[key]) is list)]
    rest = [key for key in shared if key not in texts]
    agree = all(last[key] is None or entry[key] is None or same(ripe(last[key]), entry[key]) for key in rest)
    return bool(texts) and agree and last.get("index") == entry.get("index")


def ripe(value: Any) -> Any:
    """What has grown, as a JSON value of its own."""
    if type(value) is Text:
        return "".join(value)
    if type(value) is dict:
        return {key: ripe(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [ripe(entry) for entry in value]
    return value
