"""Stores of files that need an extra: packed with zstd, and Parquet with a column of JSON texts."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import stores
from stores import ITEMS, NEVER, PLAIN, REASONS, REMAINS, contents, is_equal, left_over, migrate, totals, turncodec

from turncodec.equality import same
from turncodec.migrate import JobError, packing
from turncodec.store import columns

pytestmark = pytest.mark.skipif(find_spec("pyarrow") is None, reason="needs Arrow")

RECORDS = [PLAIN, REMAINS, None, NEVER, ITEMS, REASONS]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def arrow(part: str = "") -> Any:
    """Arrow, loaded late: with its threads at work, processes are made in a slower way, in other tests too."""
    return import_module(f"pyarrow{part}")


def write_table(path: str, records: list[Any], kind: Any = None, groups: int = 4, **others: list[Any]) -> Path:
    """A Parquet file with a row for each record, its number, and other columns."""
    texts = [None if record is None else json.dumps(record) for record in records]
    columns = {"n": list(range(len(records))), "record": arrow().array(texts, kind or arrow().string()), **others}
    table = arrow().table(columns).replace_schema_metadata({"made by": "a test"})
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    arrow(".parquet").write_table(table, path, row_group_size=groups)
    return Path(path)


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = arrow(".parquet").read_table(path).to_pylist()
    return found


def are_same_rows(one: Path, other: Path) -> bool:
    left, right = arrow(".parquet").read_table(one), arrow(".parquet").read_table(other)
    pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
    return left.schema.equals(right.schema, check_metadata=True) and all(
        a["n"] == b["n"] and same(json.loads(a["record"] or "null"), json.loads(b["record"] or "null"))
        for a, b in pairs
    )


class TestParquet:
    @pytest.mark.parametrize("kind", ["string", "binary"])
    def test_a_row_is_a_record(self, kind: str) -> None:
        """The text is translated, the other columns and the schema are as they were, a null passes through."""
        write_table("in.parquet", RECORDS * 3, getattr(arrow(), kind)())
        migrate("in.parquet", Path("out"), "-j", "2")

        made = rows(Path("out/records/in.parquet"))
        assert [row["n"] % 6 for row in made] == [0, 1, 2, 4] * 3
        assert json.loads(made[0]["record"]) == {
            "input": [*ITEMS["input"], {"type": "message", "role": "assistant", "content": "yes"}]
        }
        assert made[2]["record"] is None
        counts = totals(Path("out"))
        assert [counts[key] for key in ("read", "translated", "refused", "passed_through")] == [18, 6, 6, 6]
        schemas = [arrow(".parquet").read_schema(path) for path in ("in.parquet", "out/records/in.parquet")]
        assert schemas[0].equals(schemas[1], check_metadata=True)

    def test_refused_rows_are_kept_whole(self) -> None:
        write_table("in.parquet", RECORDS * 3)
        migrate("in.parquet", Path("out"))
        kept = [json.loads(line) for line in Path("out/refused/in.parquet.jsonl").read_bytes().splitlines()]
        assert [entry["place"] for entry in kept] == [4, 6, 10, 12, 16, 18]
        assert [row["n"] + 1 for row in rows(Path("out/rows/in.parquet"))] == [entry["place"] for entry in kept]

    @pytest.mark.parametrize("groups", [5])
    def test_retried_and_restored(self, groups: int) -> None:
        source = write_table("in/deep/in.parquet", RECORDS * 4, groups=groups)
        migrate("in", Path("out"))
        turncodec("restore", "out", "--out", "back")
        assert are_same_rows(source, Path("back/deep/in.parquet"))

        assert turncodec("retry", "out", "--allow", "reasoning").returncode == 1
        migrate("in", Path("once"), "--allow", "reasoning")
        assert are_same_rows(Path("out/records/deep/in.parquet"), Path("once/records/deep/in.parquet"))
        assert totals(Path("out")) == totals(Path("once"))
        turncodec("restore", "out", "--out", "again")
        assert are_same_rows(source, Path("again/deep/in.parquet"))
        assert left_over(Path("out")) == []

    def test_nothing_left_to_come_out(self) -> None:
        """A file of which every row is refused, and one without any."""
        source = write_table("in/a.parquet", [NEVER] * 5)
        empty = write_table("in/b.parquet", [], arrow().string())
        migrate("in", Path("out"), "--column", "record")
        assert rows(Path("out/records/a.parquet")) == rows(Path("out/records/b.parquet")) == []
        assert turncodec("restore", "out", "--out", "back").returncode == 0
        assert are_same_rows(source, Path("back/a.parquet"))
        assert are_same_rows(empty, Path("back/b.parquet"))

    def test_which_column(self) -> None:
        """It is seen from what is in it; where several hold JSON and no name tells, it has to be said."""
        texts = [json.dumps([])] * 6
        write_table("in.parquet", RECORDS, other=texts, messages=["no JSON"] * 6)
        done = turncodec("migrate", "in.parquet", "--to", "responses", "--out", "out")
        assert done.returncode == 2
        assert "record, other of n, record, other, messages hold JSON; name it with --column" in done.stderr
        assert (
            "is no column of texts; these are: record, other, messages"
            in turncodec("migrate", "in.parquet", "--to", "responses", "--out", "out2", "--column", "n").stderr
        )
        migrate("in.parquet", Path("out3"), "--column", "record")

    def test_a_damaged_file(self) -> None:
        path = write_table("in/a.parquet", RECORDS)
        stores.write_lines(Path("in/b.jsonl"), [json.dumps(PLAIN).encode()])
        path.write_bytes(path.read_bytes()[:-20])
        done = turncodec("migrate", "in", "--to", "responses", "--out", "out")
        assert done.returncode == 2
        assert "in/a.parquet" in done.stderr
        assert totals(Path("out"))["translated"] == 1


class TestZstd:
    def test_packed_as_it_was(self) -> None:
        packer = packing.packer("zstd")
        assert packer is not None
        lines = b"\n".join(stores.some_lines(50))
        Path("in.jsonl.zst").write_bytes(packer.compress(lines) + packer.flush())
        migrate("in.jsonl.zst", Path("out"))
        stores.write_lines(Path("plain/in.jsonl"), [lines], b"")
        migrate("plain", Path("plainly"))

        assert [r.data for r in stores.records(Path("out/records/in.jsonl.zst"))] == [
            r.data for r in stores.records(Path("plainly/records/in.jsonl"))
        ]
        turncodec("restore", "out", "--out", "back")
        assert is_equal(Path("in.jsonl.zst"), Path("back/in.jsonl.zst"))

    def test_damaged(self) -> None:
        Path("in").mkdir()
        Path("in/a.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfdnonsense")
        stores.write_lines(Path("in/b.jsonl"), [json.dumps(PLAIN).encode()])
        done = turncodec("migrate", "in", "--to", "responses", "--out", "out")
        assert (done.returncode, totals(Path("out"))["translated"]) == (2, 1)


def test_without_the_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is named with the command that brings it."""
    for name in ("pyarrow", "pyarrow.parquet", "backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(JobError, match=r"turncodec\[arrow\]"):
        columns.arrow()
    with pytest.raises(JobError, match=r"turncodec\[zstd\]"):
        packing.zstd()
    assert packing.unreadable()


def test_contents_do_not_depend_on_workers() -> None:
    write_table("in/a.parquet", RECORDS * 5)
    for workers in (1, 3):
        migrate("in", Path(f"out{workers}"), "-j", workers)
    assert contents(Path("out1")) == contents(Path("out3"))
