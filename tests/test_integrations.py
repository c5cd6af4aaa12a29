"""The doors for other people's libraries: the same records give the same digests through each of them.

A test is skipped only where its guest is not installed; `sh tests/run-engines` installs them all.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import databases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import chat_documents, chat_transcripts, item_documents, mutated
from test_docs import ROOT, blocks

from turncodec.edge import decode, encode
from turncodec.equality import same
from turncodec.integrations.options import settings
from turncodec.migrate.outcomes import PassedThrough, Stopped, Translated, outcome
from turncodec.migrate.sample import SAMPLE
from turncodec.refusals import CODES

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from turncodec.integrations import arrow, parquet  # noqa: E402

USER = {"role": "user", "content": "hi"}
ITEM = {"type": "message", "role": "user", "content": "hi"}
NAMED = {"role": "user", "content": "hi", "name": "ann"}
SHORT = json.dumps([USER])


class Row(NamedTuple):
    """What became of one record, as every door must say it."""

    outcome: str
    translated: str | None
    remainder: str | None
    refusals: list[dict[str, Any]] | None


def row_of(made: Translated | PassedThrough | Stopped) -> Row:
    if isinstance(made, Translated):
        remainder = None if made.remainder is None else encode(made.remainder).decode()
        return Row("translated", made.data.decode(), remainder, None)
    if isinstance(made, PassedThrough):
        return Row("passed_through", made.data.decode(), None, None)
    return Row("refused", None, None, [refusal.as_json() for refusal in made.refusals])


def rows_of(made: Any) -> list[Row]:
    """The rows of a struct array, or of a table with the four columns."""
    if isinstance(made, pa.Table):
        return [Row(*values) for values in zip(*(made.column(name).to_pylist() for name in Row._fields), strict=True)]
    return [Row(**value) for value in made.to_pylist()]


# ---------------------------------------------------------------- the same records, the same digests

RECORDS = [
    *(encode(record).decode() for record in SAMPLE),
    *(json.dumps(record) for record in SAMPLE),
    *(code.example for code in CODES.values() if code.example),
    json.dumps([USER, ITEM]),
    json.dumps([ITEM, {"type": "acme:thing", "id": "x"}]),
    json.dumps({"input": [ITEM], "rating": 12345678901234567890123, "é": "\u2028\U0001f600\u0000"}, ensure_ascii=False),
    json.dumps({"messages": [NAMED, {**USER, "content": "\u2028\U0001f600\u0000"}], "n": 1e300}),
    ' [{"role": "user", "content": "\\ud800"}] ',
    '{"messages": [], "messages": []}',
    '{"messages": [{"role": "user"',
    "NaN",
    "[" * 300 + "]" * 300,
]  # fmt: skip

Asked = dict[str, Any]
Door = Callable[[Path, Path, Asked], list[Row]]
"""A folder with the records as `records.jsonl` and as Parquet files under `chats`, a folder to work in, and what is
asked for; the rows in the order of the records."""


def through_files(given: Path, folder: Path, asked: Asked) -> list[Row]:
    """`turncodec convert`, and what it writes beside."""
    out = folder / "out.jsonl"
    words = [sys.executable, "-m", "turncodec", "convert", str(given / "records.jsonl"), "--out", str(out)]
    words += ["--to", asked["to"], *(["--allow", asked["allow"]] if "allow" in asked else [])]
    done = subprocess.run(words, capture_output=True, timeout=60)
    assert done.returncode == 1, done.stderr

    def beside(name: str) -> list[Any]:
        file = folder / f"out.{name}.jsonl"
        return [decode(line) for line in file.read_bytes().split(b"\n")[:-1]] if file.exists() else []

    rows = {line["place"]: Row("refused", None, None, line["refusals"]) for line in beside("refused")}
    notes = {line["record"]: line for line in beside("remainder")}
    place = 0
    for number, data in enumerate(out.read_bytes().split(b"\n")[:-1], 1):
        place = next(free for free in range(place + 1, len(RECORDS) + 1) if free not in rows)
        note = notes.get(number, {})
        word = "passed_through" if note.get("passed_through") else "translated"
        remainder = encode(note["remainder"]).decode() if "remainder" in note else None
        rows[place] = Row(word, data.decode(), remainder, None)
    return [row for _, row in sorted(rows.items())]


def through_arrow(given: Path, folder: Path, asked: Asked) -> list[Row]:  # noqa: ARG001
    table = pq.read_table(given / "chats").sort_by("id")
    return rows_of(pa.Table.from_batches(arrow.translate_batches(table.to_batches(), "body", **asked)))


def through_parquet(given: Path, folder: Path, asked: Asked) -> list[Row]:
    counts = parquet.translate_folder(given / "chats", folder / "out", "body", workers=2, **asked)
    rows = written(folder / "out")
    assert counts == parquet.Counts(len(rows), *(sum(row.outcome == word for row in rows) for word in WORDS))
    return rows


def through_dask(scheduler: str, given: Path, folder: Path, asked: Asked) -> list[Row]:
    dask = pytest.importorskip("dask")
    from turncodec.integrations.dask import translate_folder

    tasks = translate_folder(given / "chats", folder / "out", "body", **asked)
    counts = dask.compute(*tasks, scheduler=scheduler, num_workers=2)
    assert len(counts) == FILES
    assert sum(count.read for count in counts) == len(RECORDS)
    return written(folder / "out")


def through_spark(given: Path, folder: Path, asked: Asked) -> list[Row]:
    pytest.importorskip("pyspark")
    from turncodec.integrations.spark import translate

    chats = spark().read.option("recursiveFileLookup", "true").parquet(str(given / "chats"))
    translate(chats, "body", **asked).write.parquet(str(folder / "out"))
    return written(folder / "out")


def through_table(door: Callable[..., list[databases.Through]], given: Path, folder: Path, asked: Asked) -> list[Row]:
    if door is databases.through_postgresql and (why := databases.missing()):
        pytest.skip(why)
    return [Row(*row) for row in door(given, folder, asked)]


DOORS: dict[str, Door] = {
    "files": through_files,
    "sqlite": functools.partial(through_table, databases.through_sqlite),
    "postgresql": functools.partial(through_table, databases.through_postgresql),
    "arrow": through_arrow,
    "parquet": through_parquet,
    "dask threads": functools.partial(through_dask, "threads"),
    "dask processes": functools.partial(through_dask, "processes"),
    "spark": through_spark,
}

WORDS = ("translated", "passed_through", "refused")
FILES = 3


@functools.cache
def spark() -> Any:
    """A Spark of two threads, on this machine alone."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    local = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
    }
    return SparkSession.builder.master("local[2]").config(map=local).getOrCreate()


@pytest.fixture(scope="module", autouse=True)
def _spark_ends() -> Iterator[None]:
    yield
    if spark.cache_info().currsize:
        spark().stop()


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records as lines, and as Parquet files in a folder within a folder."""
    folder = tmp_path_factory.mktemp("records")
    (folder / "records.jsonl").write_bytes(b"".join(record.encode() + b"\n" for record in RECORDS))
    (folder / "chats" / "more").mkdir(parents=True)
    table = pa.table({"id": range(len(RECORDS)), "body": RECORDS, "tag": [record[:1] for record in RECORDS]})
    size = -(-len(RECORDS) // FILES)
    for n in range(FILES):
        pq.write_table(table.slice(n * size, size), folder / "chats" / ("more" if n else ".") / f"{n}.parquet")
    return folder


def written(folder: Path) -> list[Row]:
    """The rows of Parquet files that were written; the other columns are as they were."""
    table = pq.read_table(folder).sort_by("id")
    assert table.column_names == ["id", "body", "tag", *Row._fields]
    assert table.column("body").to_pylist() == RECORDS
    return rows_of(table)


def digest(rows: list[Row]) -> str:
    return hashlib.sha256(encode(rows)).hexdigest()


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas", "ignore::ResourceWarning")
@pytest.mark.parametrize("asked", [{"to": "responses"}, {"to": "chat", "allow": "all"}], ids=lambda asked: asked["to"])
@pytest.mark.parametrize("door", DOORS)
def test_the_same_digests(records: Path, tmp_path: Path, door: str, asked: Asked) -> None:
    """The same records give the same digests through every door: those of the records by themselves."""
    alone = [row_of(outcome(record.encode(), settings(**asked))) for record in RECORDS]
    assert {row.outcome for row in alone} == set(WORDS)

    rows = DOORS[door](records, tmp_path, asked)

    assert rows == alone
    assert digest(rows) == digest(alone)


def test_no_rule_is_here() -> None:
    """An integration asks what becomes of a record, and has no rule of its own; it asks no other guest's file."""
    allowed = {"edge", "refusals", "migrate.outcomes", "migrate.targets", "bench"}
    for file in (ROOT / "src/turncodec/integrations").glob("*.py"):
        tree = ast.parse(file.read_text())
        names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        rooms = {name.removeprefix("turncodec.") for name in names if name.startswith("turncodec.")}
        doors = {f"integrations.{door}" for door in ("options", "arrow", "parquet")}
        guests = {"integrations.dask", "integrations.spark"} if file.stem == "bench" else set()
        assert rooms <= allowed | doors | guests, file.name


def test_guests_are_no_burden() -> None:
    """The core, the command line and the package of integrations do without any guest."""
    code = "import sys, turncodec.cli, turncodec.integrations.options, turncodec.migrate.jobs; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert {"pyarrow", "dask", "pyspark", "pandas", "numpy"}.isdisjoint(done.stdout.split())


# ---------------------------------------------------------------- arrays in any layout

VALUES = st.one_of(
    st.none(),
    st.sampled_from(["", " ", *RECORDS]),
    st.one_of(chat_documents(), item_documents()).map(lambda document: json.dumps(document.value)),
    mutated(chat_transcripts()).map(encode).map(bytes.decode),
    st.text(st.characters(codec="utf-8"), max_size=6),
)
STRINGS = (pa.string(), pa.large_string(), pa.string_view())
BINARIES = (pa.binary(), pa.large_binary(), pa.binary_view())


NO_TEXT = st.sampled_from([b"\xff[]", b"[\xed\xa0\x80]", b"\xef\xbb\xbf[]", b"\x1f\x8b"]) | st.binary(max_size=6)


@st.composite
def arrays(draw: st.DrawFn) -> tuple[list[bytes | None], Any]:
    """Records, and an array of them in any layout."""
    kind = draw(st.sampled_from(STRINGS + BINARIES))
    values = draw(st.lists(VALUES if kind in STRINGS else VALUES | NO_TEXT, max_size=6))
    data = [value.encode() if isinstance(value, str) else value for value in values]
    if draw(st.booleans()):
        chosen = sorted(set(data) - {None}, key=bytes) + draw(st.sampled_from([[], [None], [b"unused"]]))
        places = [None if value is None else chosen.index(value) for value in data]
        array = pa.DictionaryArray.from_arrays(
            pa.array(places, draw(st.sampled_from([pa.int8(), pa.uint32()]))), typed(chosen, kind)
        )
    else:
        array = typed(data, kind)
    begin = draw(st.integers(0, len(data)))
    end = draw(st.integers(begin, len(data)))
    if draw(st.booleans()):
        array, data = array[begin:end], data[begin:end]
    elif draw(st.booleans()):
        array = pa.chunked_array([array[:begin], array[begin:end], array[end:]], array.type)
    return data, array


def typed(data: list[bytes | None], kind: Any) -> Any:
    return pa.array([value if value is None or kind in BINARIES else value.decode() for value in data], kind)


@given(arrays(), st.sampled_from(["responses", "chat"]), st.sampled_from([(), "all", {"reasoning", "message_name"}]))
def test_any_layout(drawn: tuple[list[bytes | None], Any], to: str, allow: Any) -> None:
    """An array in any layout gives what each record gives by itself, in the same chunks; and it comes back."""
    data, array = drawn
    asked = settings(to, allow=allow)

    made = arrow.translate_array(array, to, allow=allow)

    assert made.type == arrow.COLUMNS
    made.validate(full=True)
    rows = rows_of(made)
    for value, row in zip(data, rows, strict=True):
        if value is None:
            assert (row.outcome, row.translated, row.remainder) == ("refused", None, None)
            assert [refusal["code"] for refusal in row.refusals or ()] == ["not_json"]
        else:
            assert row == row_of(outcome(value, asked))
    if isinstance(array, pa.ChunkedArray):
        assert [len(chunk) for chunk in made.chunks] == [len(chunk) for chunk in array.chunks]
    columns = dict(zip(Row._fields, made.flatten(), strict=True))
    back = arrow.translate_array(
        columns["translated"], "chat" if to == "responses" else "responses", remainders=columns["remainder"]
    )
    for value, row, old in zip(data, rows, rows_of(back), strict=True):
        if row.outcome == "translated" and value is not None and row.remainder is not None:
            assert old.translated is not None
            assert same(decode(old.translated.encode()), decode(value))


def test_every_type_of_text() -> None:
    """Types that are text by another name, arrays without a value, and without a chunk."""
    plain = arrow.translate_array(pa.array([SHORT]), "responses")

    assert plain.to_pylist()[0]["translated"] == encode([ITEM]).decode()
    assert arrow.translate_array(pa.array([None, None]), "chat").field("outcome").to_pylist() == ["refused"] * 2
    assert len(arrow.translate_array(pa.array([], pa.string()), "chat")) == 0
    empty = arrow.translate_array(pa.chunked_array([], pa.string()), "chat")
    assert (len(empty), empty.type) == (0, arrow.COLUMNS)
    nested = pa.array([SHORT]).dictionary_encode()
    assert arrow.translate_array(nested, "responses") == plain
    if hasattr(pa, "json_"):
        kept = pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array([SHORT]))
        assert arrow.translate_array(kept, "responses") == plain


def test_no_utf8_in_strings() -> None:
    """A column of strings whose bytes are none is refused, row by row."""
    ends, data = pa.array([0, 1, 3], pa.int32()).buffers()[1], pa.py_buffer(b"\xff[]")
    bad = pa.Array.from_buffers(pa.string(), 2, [None, ends, data])

    assert [row.outcome for row in rows_of(arrow.translate_array(bad, "responses"))] == ["refused", "translated"]


def test_a_broken_remainder() -> None:
    """A remainder that is none is the row's refusal, and a null is none at all."""
    data = pa.array([json.dumps([ITEM])] * 5)
    beside = pa.array([None, "nope", "[]", '{"a": 1, "a": 1}', '{"format": "chat"}'])

    rows = rows_of(arrow.translate_array(data, "chat", remainders=beside))

    assert [row.outcome for row in rows] == ["translated", *["refused"] * 4]
    assert {refusal["code"] for row in rows for refusal in row.refusals or ()} == {"bad_remainder"}


# ---------------------------------------------------------------- batches and tables


def table() -> Any:
    schema = pa.schema([("id", pa.int8()), ("messages", pa.string()), ("list", pa.list_(pa.int8()))], {"k": "v"})
    return pa.table([[1, None], [json.dumps([NAMED]), SHORT], [[1], None]], schema=schema)


def test_batches_keep_the_rest() -> None:
    """The other columns, the metadata and the kind of thing stay; the new columns stand behind, under any prefix."""
    whole = arrow.translate_batch(table(), "messages", "responses", prefix="new_", allow="all")

    assert whole.select(table().column_names).equals(table(), check_metadata=True)
    assert whole.column_names[3:] == ["new_outcome", "new_translated", "new_remainder", "new_refusals"]
    assert whole.schema.equals(arrow.output_schema(table().schema, "new_"), check_metadata=True)
    assert whole.column("new_remainder").null_count == 1
    batches = list(arrow.translate_batches(table().to_batches(1), "messages", "responses", prefix="new_", allow="all"))
    assert [type(batch) for batch in batches] == [pa.RecordBatch] * 2
    assert pa.Table.from_batches(batches).equals(whole)
    assert arrow.translate_batch(table().slice(0, 0), "messages", "chat").num_rows == 0


def test_a_batch_comes_back() -> None:
    """With the column of remainders the originals are there again."""
    there = arrow.translate_batch(table(), "messages", "responses", allow="all")

    back = arrow.translate_batch(there, "translated", "chat", remainder="remainder", prefix="old_")

    assert [json.loads(text) for text in back.column("old_translated").to_pylist()] == [[NAMED], [USER]]


MISUSE = {
    "no such column": (ValueError, "0 columns 'body'", {"column": "body"}),
    "no such remainder": (ValueError, "0 columns 'r'", {"remainder": "r"}),
    "no text": (TypeError, "not of int8", {"column": "id"}),
    "no text in the remainder": (TypeError, "not of list", {"remainder": "list"}),
    "no direction": (ValueError, "to must be", {"to": "items"}),
    "no code": (ValueError, "no_such_code", {"allow": {"no_such_code"}}),
    "never allowed": (ValueError, "can never be allowed", {"allow": "incomplete"}),
    "no kind": (ValueError, "kind must be one of", {"kind": "nope"}),
    "no pointer": (ValueError, "not a JSON pointer", {"at": "messages"}),
    "no string": (TypeError, "at must be a string", {"at": 3}),
    "the whole": (ValueError, "cannot be the whole of it", {"request_at": ""}),
    "no option": (TypeError, "nope", {"nope": "x"}),
    "no option here": (TypeError, "remainders", {"remainders": "x"}),
    "a name that is taken": (ValueError, "already; put a prefix", {"prefix": "my_"}),
}


@pytest.mark.parametrize("case", MISUSE)
def test_misuse(tmp_path: Path, case: str) -> None:
    """A call that is wrong in itself raises, says why, and leaves nothing behind."""
    error, said, wrong = MISUSE[case]
    asked: dict[str, Any] = {"column": "messages", "to": "responses", **wrong}
    with_clash = table().append_column("my_refusals", table().column("id"))
    pq.write_table(with_clash, tmp_path / "a.parquet")

    with pytest.raises(error, match=said):
        arrow.translate_batch(with_clash, **asked)
    with pytest.raises(error, match=said):
        list(arrow.translate_batches(with_clash.to_batches(), **asked))
    with pytest.raises(error, match=said):
        parquet.translate_file(tmp_path / "a.parquet", tmp_path / "b.parquet", **asked)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_misuse_shows_at_once() -> None:
    """A wrong option is not left for the first batch, and what is no array is told so."""
    with pytest.raises(ValueError, match="no_such_code"):
        arrow.translate_batches([], "messages", "chat", allow="no_such_code")
    with pytest.raises(TypeError, match="an Arrow array is needed, not list"):
        arrow.translate_array([SHORT], "responses")
    with pytest.raises(ValueError, match="1 remainders for 2 records"):
        arrow.translate_array(pa.array([SHORT] * 2), "chat", remainders=pa.array([None]))
    twice = pa.table([pa.array([SHORT])] * 2, names=["a", "a"])
    with pytest.raises(ValueError, match="2 columns 'a'"):
        arrow.translate_batch(twice, "a", "responses")


def test_jobs_travel() -> None:
    """What an engine sends to its workers can be sent, options and all."""
    job = functools.partial(arrow.translate_batches, column="messages", to="responses", allow=frozenset({"reasoning"}))

    assert len(list(pickle.loads(pickle.dumps(job))(table().to_batches()))) == 1


# ---------------------------------------------------------------- Parquet


def test_a_file_appears_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The target is replaced when the new one is whole, and left alone where it cannot be; nothing else is left."""
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(table(), source)
    target.write_bytes(b"old")
    monkeypatch.setattr(parquet, "BATCH", 1)
    monkeypatch.setattr(parquet, "groups", lambda batches: (pa.Table.from_batches([batch]) for batch in batches))

    with monkeypatch.context() as patch:
        patch.setattr(pq.ParquetWriter, "write_table", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            parquet.translate_file(source, target, "messages", "responses")
    assert target.read_bytes() == b"old"

    assert parquet.translate_file(source, target, "messages", "responses") == (2, 1, 0, 1)
    assert pq.read_table(target).equals(arrow.translate_batch(table(), "messages", "responses"))
    assert pq.ParquetFile(target).num_row_groups == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "b.parquet"]
    with pytest.raises(ValueError, match="never written to"):
        parquet.translate_file(source, tmp_path / "." / "a.parquet", "messages", "responses")


def test_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are put together until they have the size of a row group; the last one may be small."""
    batches = table().to_batches(1) * 5
    monkeypatch.setattr(parquet, "GROUP", sum(batch.nbytes for batch in batches[:4]))

    assert [group.num_rows for group in parquet.groups(batches)] == [4, 4, 2]
    assert list(parquet.groups([])) == []


def test_an_empty_file(tmp_path: Path) -> None:
    """A file without rows gives one with the columns and without rows."""
    pq.write_table(table().slice(0, 0), tmp_path / "a.parquet")

    assert parquet.translate_file(tmp_path / "a.parquet", tmp_path / "b.parquet", "messages", "chat") == (0, 0, 0, 0)
    assert pq.read_schema(tmp_path / "b.parquet").names[3:] == list(Row._fields)


def test_pairs(tmp_path: Path) -> None:
    """Every Parquet file of a folder has its place in the other one; what engines keep for themselves has none."""
    old, new = tmp_path / "old", tmp_path / "new"
    for name in ("a.parquet", "d=1/b.parquet", "_temporary/c.parquet", ".hidden.parquet", "_SUCCESS", "notes.txt"):
        (old / name).parent.mkdir(parents=True, exist_ok=True)
        (old / name).touch()

    assert parquet.pairs(old, new) == [(old / name, new / name) for name in ("a.parquet", "d=1/b.parquet")]
    assert (new / "d=1").is_dir()
    with pytest.raises(FileExistsError):
        parquet.pairs(old, new)
    with pytest.raises(FileNotFoundError):
        parquet.pairs(tmp_path / "nowhere", tmp_path / "other")
    assert not (tmp_path / "other").exists()


# ---------------------------------------------------------------- Spark, and what is shown


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas", "ignore::ResourceWarning")
def test_spark_misuse() -> None:
    """What is wrong with the call shows before a job begins."""
    pytest.importorskip("pyspark")
    from turncodec.integrations.spark import translate

    frame = spark().createDataFrame([(1, SHORT)], "id int, messages string")
    wrong: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (ValueError, "0 columns 'body'", {"column": "body"}),
        (ValueError, "0 columns 'r'", {"remainder": "r"}),
        (TypeError, "not of int", {"column": "id"}),
        (ValueError, "no_such_code", {"allow": "no_such_code"}),
    ]
    for error, said, asked in wrong:
        with pytest.raises(error, match=said):
            translate(frame, **{"column": "messages", "to": "responses", **asked})
    there = translate(frame, "messages", "responses")
    with pytest.raises(ValueError, match="already; put a prefix"):
        translate(there, "translated", "chat")
    back = translate(there, "translated", "chat", remainder="remainder", prefix="old_")
    assert json.loads(back.first()["old_translated"]) == [USER]


PAGE = ROOT / "docs/engines.md"


def shown(door: str) -> str:
    """The lines that the page shows for a door."""
    (block,) = (block for block in blocks(PAGE, "python") if f"turncodec.integrations.{door} import" in block)
    return block


def run(block: str, **names: Any) -> str:
    """Run lines of the page, and return what they print."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, PAGE.name, "exec"), {"__name__": "__main__", **names})
    return printed.getvalue()


def test_arrow_as_shown() -> None:
    """There and back on a table, as the page shows it, and with what it prints."""
    assert run(shown("arrow")) == "".join(blocks(PAGE, "text"))


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas", "ignore::ResourceWarning")
@pytest.mark.parametrize(("door", "guest"), [("parquet", "pyarrow"), ("spark", "pyspark"), ("dask", "dask")])
def test_folders_as_shown(tmp_path: Path, door: str, guest: str) -> None:
    """The lines to paste, as the page shows them: a folder of Parquet files becomes another one."""
    pytest.importorskip(guest)
    block = shown(door)
    for folder in ("chats", "items"):  # Spark cannot change its working directory
        block = block.replace(f'"{folder}"', repr(str(tmp_path / folder)))
    (tmp_path / "chats").mkdir()
    sample = pa.table({"messages": [json.dumps(record) for record in SAMPLE]})
    pq.write_table(sample, tmp_path / "chats" / "a.parquet")

    printed = run(block, **({"spark": spark()} if door == "spark" else {}))

    made = pq.read_table(tmp_path / "items").select(["messages", *Row._fields])
    assert rows_of(made) == rows_of(arrow.translate_batch(sample, "messages", "responses"))
    assert "refused" in printed
