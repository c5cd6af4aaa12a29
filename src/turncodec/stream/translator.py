"""What both translators have in common: they are fed one by one, end once, and stay refused.

Knows neither format. A translator can be put around an iterable, or an asynchronous one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from turncodec.refusals import Finding, Path, Refused, allowed_codes, raise_all
from turncodec.stream.chunks import DONE


class Translator(ABC):
    """A stream on its way into the other format.

    `remainder` is what the way back needs when the stream has ended, or None where it needs nothing.
    """

    def __init__(self, allow: str | Collection[str] = ()) -> None:
        self.remainder: dict[str, Any] | None = None
        self._codes = allowed_codes(allow) if allow else frozenset()
        self._refused: Refused | None = None

    def feed(self, one: Any) -> list[Any]:
        """Take one chunk or event, or `"[DONE]"`. What is due in the other format, and `"[DONE]"` behind the last.

        Raises `Refused`, and the same again each time after that.
        """
        if self._refused is not None:
            raise self._refused
        try:
            return self._take(one)
        except Refused as refusal:
            self._refused = refusal
            raise

    def close(self) -> list[Any]:
        """The stream has no more. What is still due; nothing where `"[DONE]"` was fed."""
        if self._refused is not None:
            raise self._refused
        return [] if self._has_ended() else self.feed(DONE)

    @abstractmethod
    def failure(self, refused: Refused) -> list[Any]:
        """What tells a client, in the format that goes out, that the stream has failed."""

    @abstractmethod
    def _take(self, one: Any) -> list[Any]: ...

    @abstractmethod
    def _has_ended(self) -> bool: ...

    def _raise_what_is_not_allowed(self, findings: Iterable[Finding], place: Callable[[Path], Path]) -> None:
        """Raise `Refused` for findings in what grows, at their places in the stream."""
        wrong = (f for f in findings if not (f.can_be_allowed and f.code in self._codes))
        raise_all(replace(finding, path=place(finding.path), leave=None) for finding in wrong)


def through(translator: Translator, stream: Iterable[Any]) -> Iterator[Any]:
    """The translation of a stream, as it comes: `through(ChunksToEvents(), chunks)` gives events, the last of them
    `"[DONE]"`. Raises what the translator raises, at the place in the stream where it does."""
    for one in stream:
        yield from translator.feed(one)
    yield from translator.close()


async def athrough(translator: Translator, stream: AsyncIterable[Any]) -> AsyncIterator[Any]:
    """The same for an asynchronous stream."""
    async for one in stream:
        for other in translator.feed(one):
            yield other
    for other in translator.close():
        yield other
