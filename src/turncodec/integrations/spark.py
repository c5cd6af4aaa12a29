"""Spark: a frame in, a frame out, batch by batch through the Arrow door (`mapInArrow`). Knows Spark's types.

Needs the extra `spark`, on the workers too.
"""

from __future__ import annotations

from functools import partial
from typing import Unpack

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, BinaryType, BooleanType, StringType, StructField, StructType

from turncodec.integrations.arrow import translate_batches
from turncodec.integrations.options import Options, settings

REFUSAL = StructType(
    [StructField(name, StringType()) for name in ("code", "pointer", "message", "hint")]
    + [StructField("allowable", BooleanType())]
)
COLUMNS = StructType(
    [StructField(name, StringType()) for name in ("outcome", "translated", "remainder")]
    + [StructField("refusals", ArrayType(REFUSAL))]
)
"""The columns of the Arrow door, in Spark's types."""


def translate(
    frame: DataFrame,
    column: str,
    to: str,
    *,
    remainder: str | None = None,
    prefix: str = "",
    **options: Unpack[Options],
) -> DataFrame:
    """A frame with the four columns of the Arrow door behind its own. The arguments and what is raised are those of
    `arrow.translate_batch`; nothing is computed before Spark is asked for rows."""
    settings(to, **options)
    for name in [column] if remainder is None else [column, remainder]:
        refuse_column(frame.schema, name)
    batches = partial(translate_batches, column=column, to=to, remainder=remainder, prefix=prefix, **options)
    return frame.mapInArrow(batches, output_schema(frame.schema, prefix))


def output_schema(schema: StructType, prefix: str = "") -> StructType:
    """The schema of what `translate` makes of a frame. Raises ValueError where a name is taken."""
    new = [StructField(prefix + field.name, field.dataType) for field in COLUMNS]
    if taken := sorted({field.name for field in new} & set(schema.names)):
        raise ValueError(f"there is a column {taken[0]!r} already; put a prefix before the new ones (prefix=)")
    return StructType([*schema, *new])


def refuse_column(schema: StructType, name: str) -> None:
    """Raise ValueError or TypeError unless a column is there and holds text: on the driver, before a job begins."""
    if schema.names.count(name) != 1:
        raise ValueError(f"there are {schema.names.count(name)} columns {name!r} among {', '.join(schema.names)}")
    if not isinstance(schema[name].dataType, StringType | BinaryType):
        raise TypeError(f"a column of JSON text is needed, not of {schema[name].dataType.simpleString()}")
