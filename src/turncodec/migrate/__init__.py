"""Whole files: records in, records out, and everything accounted for.

- `records`: where records come from; files and pipes, cut into records;
- `outcomes`: what becomes of one record: translated, passed through, or refused;
- `targets`: where results go; files that appear whole or not at all;
- `run`: outcomes into targets, and the tally;
- `restore`: the way back of a whole file;
- `jobs`: these put together for files that a person names;
- `report`: what is said about it;
- `flow`: a stream on its way through, which is no file of records.

No room here knows a format: what a record means is asked of `turncodec.translate`, by `outcomes` alone.
"""


class JobError(Exception):
    """A job that cannot be done as asked: a source that cannot be read, a target that must not be written, a side file
    that does not belong. One line for a person; nothing was written."""
