"""A whole store: many files, many hours, and nothing lost whatever happens meanwhile.

- `sources`: which files there are, and under which names they stand in the store;
- `pieces`: how a file is cut into pieces of work, and the records of a piece;
- `parts`: files that workers write, whole or not at all, with their digests;
- `proof`: a translation is brought back from the bytes that are written;
- `work`: what a worker does with a piece, or with a file as a whole;
- `pool`: the workers, and what they send back: counts and digests, never records;
- `ledger`: what is done, so that nothing is done twice and nothing is left out;
- `migration`: these put together: begin, go on, join, count;
- `again`: the refused records once more, and the way back of all of it;
- `columns`: the same for Parquet files with a column of JSON texts;
- `plan`: what would be done;
- `report`, `page`: what was done, for a program and for a person;
- `progress`: what is said while it goes on;
- `bench`: what it costs.

A store lies in one folder: `records/` has a file for each source, in its framing and its packing; `remainders/` what
its records need to come back; `refused/` those that did not go across, whole (`rows/` their rows, of Parquet files);
`ledger.sqlite` what is proven done.

The rooms of `turncodec.migrate` know one file, and are used here; none of them knows this one.
"""
