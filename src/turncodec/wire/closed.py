"""What "closed and strict" means here: an unknown key is an error, and `1`, `1.0`, `true` and `"1"` are four things."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, with_config

closed = with_config(ConfigDict(extra="forbid", strict=True))
"""Class decorator for every TypedDict of a wire format."""

open_ended = with_config(ConfigDict(extra="allow", strict=True))
"""Class decorator for a fragment of which only a part is read here; what else it holds is examined when it is whole."""

Json = Any
"""A value that the format leaves open (a JSON Schema, say); it travels as it is."""
