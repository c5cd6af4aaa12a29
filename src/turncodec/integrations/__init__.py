"""Doors for other people's libraries, one short file each.

An integration hands records to `turncodec.migrate.outcomes`, which says what becomes of each, and puts the answers
where the guest library wants them. All are of one shape: a column of JSON text in, one record a value; beside it out
come `outcome`, `translated`, `remainder` and `refusals`, and every other column as it was. A record never raises: what
cannot go across is a row with its reasons. What may be said besides (`allow`, `kind`, ...) is in `options`. No rule of
the mapping is here, so the same records give the same bytes through every door. A guest is imported by its own file
alone, and is an extra of the package.

- `arrow`: arrays and batches, the door that the others use;
- `parquet`: files and folders of Parquet, on one machine;
- `dask`, `spark`: the same on many.
"""
