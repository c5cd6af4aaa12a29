"""Whole files: records in, records out, and everything accounted for.

- `records`: where records come from; files and pipes, cut into records;
- `outcomes`: what becomes of one record: translated, passed through, refused, or restored;
- `targets`: where results go; files that appear whole or not at all;
- `run`: records through the one into the other, and the tally.

Data flows in this order. No room here knows a format: what a record means is asked of `turncodec.translate`.
"""
