"""The Arrow door: a column of JSON text in, four columns beside it out.

Knows Arrow's arrays and batches. What becomes of a record is asked of `turncodec.migrate.outcomes`; no engine, no file
and no rule of the mapping is known here. Needs the extra `arrow`.

| column | holds |
| --- | --- |
| `outcome` | `translated`, `passed_through` (it was in the target's format, or says nothing in either) or `refused` |
| `translated` | the record in the target's format, as JSON text; null where it was refused |
| `remainder` | what the record needs to come back, as JSON text to store beside it; null where it needs nothing |
| `refusals` | why it was refused, a list of objects as in specs/schemas/refusal.json; null where it was not |

Text is a column of strings or of UTF-8 bytes in any of Arrow's layouts: large, view, dictionary, chunked, sliced.
Columns of structs are none: they do not keep a conversation as it was (absent and null become one, numbers change).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Unpack

import pyarrow as pa

from turncodec import edge
from turncodec.integrations.options import Options, settings
from turncodec.migrate.outcomes import Outcome, PassedThrough, Settings, Stopped, outcome
from turncodec.refusals import Finding, Refused, raise_all

# Large offsets, so that no batch is too big for its own answers.
REFUSAL = pa.struct(
    [
        ("code", pa.large_string()),
        ("pointer", pa.large_string()),
        ("message", pa.large_string()),
        ("hint", pa.large_string()),
        ("allowable", pa.bool_()),
    ]
)
COLUMNS = pa.struct(
    [
        ("outcome", pa.large_string()),
        ("translated", pa.large_string()),
        ("remainder", pa.large_string()),
        ("refusals", pa.list_(REFUSAL)),
    ]
)

TEXT = frozenset(
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(), pa.null()]
)
"""The types that hold text; a column without a single value may be of type null."""

NULL = Finding("not_json", (), "the value is null")


def translate_array(
    array: pa.Array | pa.ChunkedArray,
    to: str,
    *,
    remainders: pa.Array | pa.ChunkedArray | None = None,
    **options: Unpack[Options],
) -> pa.StructArray | pa.ChunkedArray:
    """What becomes of each record of an array of JSON text, translated `to` `"responses"` or `"chat"`.

    Returns a struct array of `COLUMNS`, as long as `array`, and chunked as that is. `remainders` is what was stored
    beside the records when they came from there: with it the originals come back. The options are those of
    `turncodec.to_responses`. A record that cannot be translated, is no JSON, or is null, has its reasons in
    `refusals`, and its bytes are those that `turncodec convert` writes for it.

    Raises ValueError or TypeError where the call itself is wrong, and nothing because of a record.
    """
    made = outcomes(array, remainders, settings(to, **options))
    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array([columns(islice(made, len(chunk))) for chunk in array.chunks], COLUMNS)
    return columns(made)


def translate_batch(
    batch: pa.RecordBatch | pa.Table,
    column: str,
    to: str,
    *,
    remainder: str | None = None,
    prefix: str = "",
    **options: Unpack[Options],
) -> pa.RecordBatch | pa.Table:
    """A batch or a table with the four columns of `COLUMNS` behind its own, which stay as they are.

    `column` names the one with the JSON text, `remainder` the one with remainders where it has one; `prefix` is put
    before the names of the new columns. Raises ValueError or TypeError, as `translate_array` does, and also for a
    column that is not there or whose name is taken.
    """
    schema = output_schema(batch.schema, prefix)
    remainders = None if remainder is None else column_of(batch, remainder)
    made = translate_array(column_of(batch, column), to, remainders=remainders, **options)
    return type(batch).from_arrays([*batch.columns, *made.flatten()], schema=schema)


def translate_batches(
    batches: Iterable[pa.RecordBatch],
    column: str,
    to: str,
    *,
    remainder: str | None = None,
    prefix: str = "",
    **options: Unpack[Options],
) -> Iterator[pa.RecordBatch]:
    """The same for batches as they come, one held at a time; what engines call. A wrong option shows at once."""
    settings(to, **options)
    return (translate_batch(batch, column, to, remainder=remainder, prefix=prefix, **options) for batch in batches)


def output_schema(schema: pa.Schema, prefix: str = "") -> pa.Schema:
    """The schema of what `translate_batch` makes of a batch. Raises ValueError where a name is taken."""
    names = [prefix + field.name for field in COLUMNS]
    if taken := sorted(set(names) & set(schema.names)):
        raise ValueError(f"there is a column {taken[0]!r} already; put a prefix before the new ones (prefix=)")
    new = [pa.field(name, field.type) for name, field in zip(names, COLUMNS, strict=True)]
    return pa.schema([*schema, *new], metadata=schema.metadata)


# ---------------------------------------------------------------- records out of arrays


def column_of(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array | pa.ChunkedArray:
    found = batch.schema.get_all_field_indices(name)
    if len(found) != 1:
        raise ValueError(f"there are {len(found)} columns {name!r} among {', '.join(batch.schema.names)}")
    return batch.column(found[0])


def texts(array: pa.Array | pa.ChunkedArray) -> Iterator[bytes | None]:
    """The bytes of each value. Raises TypeError, at once, where it is no array of text."""
    if not isinstance(array, pa.Array | pa.ChunkedArray):
        raise TypeError(f"an Arrow array is needed, not {type(array).__name__}")
    if not is_text(array.type):
        raise TypeError(f"a column of JSON text is needed, not of {array.type}")
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    return (value.as_py() for chunk in chunks for value in binary(chunk))


def is_text(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.DictionaryType):
        return is_text(kind.value_type)
    return (kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind) in TEXT


def binary(array: pa.Array) -> pa.Array:
    """An array of text as plain bytes: half the price of making strings of it, and bytes that are no UTF-8 pass."""
    if isinstance(array, pa.DictionaryArray):
        return binary(array.dictionary).take(array.indices)
    return (array.storage if isinstance(array, pa.ExtensionArray) else array).cast(pa.large_binary())


def outcomes(
    array: pa.Array | pa.ChunkedArray, remainders: pa.Array | pa.ChunkedArray | None, asked: Settings
) -> Iterator[Outcome]:
    data = texts(array)
    if remainders is None:
        return (what_becomes(record, None, asked) for record in data)
    beside = texts(remainders)
    if len(remainders) != len(array):
        raise ValueError(f"there are {len(remainders)} remainders for {len(array)} records")
    return (what_becomes(record, remainder, asked) for record, remainder in zip(data, beside, strict=True))


def what_becomes(record: bytes | None, remainder: bytes | None, asked: Settings) -> Outcome:
    if record is None:
        return Stopped((NULL.refusal(),))
    try:
        return outcome(record, asked, None if remainder is None else read_remainder(remainder))
    except Refused as refused:
        return Stopped(refused.refusals)


def read_remainder(data: bytes) -> Any:
    """A remainder from its text. Raises `Refused` with `bad_remainder` where it cannot be read."""
    try:
        return edge.decode(data)
    except Refused as refused:
        raise_all([Finding("bad_remainder", (), f"the remainder: {refused.refusals[0].message}")])


# ---------------------------------------------------------------- outcomes into arrays


def columns(made: Iterable[Outcome]) -> pa.StructArray:
    """Outcomes as a struct array of `COLUMNS`."""
    rows = list(map(row, made))
    words, data, remainders, refusals = (list(values) for values in zip(*rows, strict=True)) if rows else ([],) * 4
    arrays = [pa.array(words, pa.large_string()), text(data), text(remainders), pa.array(refusals, COLUMNS[3].type)]
    return pa.StructArray.from_arrays(arrays, fields=list(COLUMNS))


def row(made: Outcome) -> tuple[str, bytes | None, bytes | None, list[dict[str, Any]] | None]:
    if isinstance(made, Stopped):
        return "refused", None, None, [refusal.as_json() for refusal in made.refusals]
    if isinstance(made, PassedThrough):
        return "passed_through", made.data, None, None
    return "translated", made.data, None if made.remainder is None else edge.encode(made.remainder), None


def text(data: list[bytes | None]) -> pa.Array:
    return pa.array(data, pa.large_binary()).cast(pa.large_string())
