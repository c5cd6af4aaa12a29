"""Transcripts that lie in a database, which goes on being used while they are migrated.

- `database`: what is asked of a database, whichever it is, and how one is opened without its password being told;
- `sqlite`, `postgresql`: the two, each the only room that knows its driver and its dialect;
- `rows`: a transcript as it lies in the tables, what is noted of it, and what is to become of it;
- `cells`: transcripts in one column, a row each; `threads`: one message a row;
- `ledger`: what was asked for;
- `migration`: these put together: translate, account and verify, try again, bring back;
- `plan`: what would be done; `report`: what was done; `session`: a command from its arguments to its exit status.

What is done of each transcript is noted in a table of the same database, in the same transaction as what is written.
So whatever happens to turncodec or to the server, the notes are true, and going on is to look again at every row.

No room here knows what a record means: what becomes of one is asked of `turncodec.store.proof`, as for files.
"""
