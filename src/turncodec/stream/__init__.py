"""Streams: the same mapping, filled slowly.

- `chunks`: a completion that grows chunk by chunk; `events`: a response that grows event by event;
- `growth`: how fragments grow together where nobody has said what they are;
- `to_events`: chunks in, events out; `to_chunks`: events in, chunks out;
- `translator`: what both have in common, and a translator around an iterable;
- `sse`: the bytes of a stream, which the others know nothing of.

Nothing here does I/O. What an answer means, and what is refused, is asked of `turncodec.translate`.
"""

from turncodec.stream.chunks import assemble_chunks
from turncodec.stream.events import assemble_events
from turncodec.stream.to_chunks import EventsToChunks
from turncodec.stream.to_events import ChunksToEvents
from turncodec.stream.translator import athrough, through

__all__ = ["ChunksToEvents", "EventsToChunks", "assemble_chunks", "assemble_events", "athrough", "through"]
