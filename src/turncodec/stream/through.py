"""A translator around an iterable: what goes in one by one comes out one by one."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, Protocol

from turncodec.refusals import Refused


class Translator(Protocol):
    """What `ChunksToEvents` and `EventsToChunks` have in common."""

    def feed(self, one: Any) -> list[Any]: ...

    def close(self) -> list[Any]: ...

    def failure(self, refused: Refused) -> list[Any]: ...


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
