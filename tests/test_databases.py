"""Tables of SQLite and of PostgreSQL: all of it across, accounted for, and back; while others write, and whatever is
killed.

`TABLE_ROWS` says how many rows the run beside a live writer has, `TABLE_KILLS` at how many moments turncodec is killed;
`tests/run-slow` takes many. With TURNCODEC_FIGURES=1 the times are printed.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import databases
import pages
import pytest
import stores
from click.testing import CliRunner
from databases import PASSWORD, Base, Server, fill, fill_sessions, lost, transcripts, turncodec, words, writer

from turncodec import Refused, to_responses
from turncodec.cli import cli
from turncodec.edge import decode, encode
from turncodec.equality import same
from turncodec.migrate import outcomes
from turncodec.refusals import CODES, allowed_codes
from turncodec.tables import migration, session
from turncodec.tables.database import DatabaseFault, opened, quoted_table, shown
from turncodec.tables.proof import alike

ROWS = int(os.environ.get("TABLE_ROWS", "2000"))
KILLS = int(os.environ.get("TABLE_KILLS", "3"))
FIGURES = bool(os.environ.get("TURNCODEC_FIGURES"))

PLACES: dict[str, tuple[str, ...]] = {
    "beside": (),
    "column": ("--into-column", "items"),
    "in place": ("--in-place",),
}
every_place = pytest.mark.parametrize("place", PLACES)

SLOWER = """
from turncodec.tables import rows
import time
quick = rows.proven
def proven(*given):
    time.sleep(0.002)
    return quick(*given)
rows.proven = proven
"""


@pytest.fixture(scope="module")
def running() -> Iterator[Server | None]:
    if databases.missing():
        yield None
        return
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def server(running: Server | None) -> Server:
    if running is None:
        pytest.skip(str(databases.missing()))
    return running


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Base:
    """An empty database, of either kind."""
    if request.param == "SQLite":
        path = tmp_path / "app.db"
        sqlite3.connect(path).close()
        return Base(str(path))
    return Base(request.getfixturevalue("server").new())


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def migrate(base: Base, *options: object, status: int = 1, out: str = "out", before: str = "") -> str:
    given = ("migrate-table", base.where, "chats", "--to", "responses", "--column", "messages", "--out", out)
    done = turncodec(*given, *options, before=before)
    assert done.returncode == status, done.stderr
    return done.stderr


def restore(base: Base, status: int = 0, out: str = "out") -> str:
    done = turncodec("restore", out, "--database", base.where)
    assert done.returncode == status, done.stderr
    return done.stderr


def report(out: str = "out") -> dict[str, Any]:
    told: dict[str, Any] = json.loads(Path(out, "report.json").read_text())
    counts = told["totals"]
    named = ("translated", "refused", "passed_through", "changed_meanwhile")
    assert counts["read"] == sum(counts[name] for name in named)
    assert not told["faults"]
    return told


def totals(out: str = "out") -> tuple[int, ...]:
    """Translated, refused, passed through, changed meanwhile."""
    counts = report(out)["totals"]
    return tuple(counts[name] for name in ("translated", "refused", "passed_through", "changed_meanwhile"))


def translations(base: Base, place: str) -> dict[str, str | None]:
    """What stands where the translations are, by key."""
    table, column = {"beside": ("chats_responses", "messages"), "column": ("chats", "items")}.get(
        place, ("chats", "messages")
    )
    return dict(base.texts(table, "id", column, order="id"))


def expected(texts: list[str]) -> dict[str, Any]:
    """What the library makes of transcripts, by key; without those that are refused, or items already."""
    made = {}
    for n, text in enumerate(texts, 1):
        with contextlib.suppress(Refused):
            made[str(n)] = to_responses(decode(text.encode())).document
    return made


# ---------------------------------------------------------------- across, and back


@every_place
@pytest.mark.parametrize("type", ["text", "json", "jsonb"])
def test_across_and_back(base: Base, place: str, type: str) -> None:
    """Every transcript is what the library makes of it, the notes tell the rest, and the way back gives the very
    table; a second run has nothing to do."""
    if type != "text" and not base.is_server:
        pytest.skip("SQLite has one type of text")
    texts = transcripts(120)
    fill(base, texts, type)
    base.rows("insert into chats values (500, 'nothing', null)")
    before = base.texts("chats", "id", "title", "messages", order="id")

    said = migrate(base, *PLACES[place])
    made, wanted = translations(base, place), expected(texts)
    counts = report()["totals"]
    notes = {row[0]: row[1:] for row in base.texts("chats_responses_notes", "key", "state", "remainder", order="key")}
    after = base.everything()

    assert counts["read"] == 121
    assert counts["translated"] == len(wanted) > 80
    assert counts["refused"] > 2
    assert counts["passed_through"] > 2
    assert counts["remainders"] == sum(remainder is not None for _, remainder in notes.values()) > 10
    assert len(notes) == 121
    assert ("compared by value" in said) == (type == "jsonb")
    for key, document in wanted.items():
        assert same(decode(str(made[key]).encode()), document)
        assert notes[key][0] == "translated"
    if place != "in place":
        assert [row[:3] for row in base.texts("chats", "id", "title", "messages", order="id")] == before

    migrate(base, *PLACES[place], "--resume")
    assert base.everything() == after

    said = restore(base)
    assert base.texts("chats", "id", "title", "messages", order="id") == before
    if place == "in place":
        assert f"{len(wanted)} restored" in said
        migrate(base, *PLACES[place], "--resume")
        assert base.everything() == after


@every_place
def test_back_without_the_old_column(base: Base, place: str) -> None:
    """Where the application has gone over to the translations and cleared the old column, the way back fills it."""
    if place == "in place":
        pytest.skip("there is one column")
    texts = transcripts(40)
    fill(base, texts)
    migrate(base, *PLACES[place])
    gone_over = list(expected(texts))
    base.rows(f"update chats set messages = null where id in ({', '.join(gone_over)})")
    restore(base)

    again = dict(base.texts("chats", "id", "messages", order="id"))
    assert all(same(json.loads(str(again[str(n)])), json.loads(text)) for n, text in enumerate(texts, 1))


def test_sessions_across_and_back(base: Base) -> None:
    """One message a row: each session becomes rows in order, that tell from which rows they come; and back."""
    texts = [text for text in transcripts(60) if '"type": "message"' not in text and '"type":"message"' not in text]
    fill_sessions(base, texts)
    given = ("migrate-table", base.where, "agent_messages", "--preset", "agents-session", "--to", "responses")
    done = turncodec(*given, "--out", "out")
    assert done.returncode == 1, done.stderr
    columns = ("session_id", "id", "message_data")
    before = base.texts("agent_messages", *columns, order="session_id, id")
    rows = base.rows(
        "select session_id, message_data, origin from agent_messages_responses order by session_id, position"
    )
    wanted = {f"s{int(key) - 1:05}": document for key, document in expected(texts).items()}
    made: dict[str, list[Any]] = {}
    for name, text, _ in rows:
        made.setdefault(name, []).append(json.loads(text))
    origins = dict(base.rows("select id, session_id from agent_messages"))

    assert made == wanted
    assert all(origins[origin] == name for name, _, origin in rows)
    assert totals()[3] == 0
    assert "--kind" not in done.stderr

    after = base.everything()
    done = turncodec(*given, "--out", "out", "--resume")
    assert base.everything() == after
    restore(base)
    restored = base.texts(
        "agent_messages_responses_restored", "session_id", "origin", "message_data", order="session_id, position"
    )
    assert restored == before


def test_sessions_written_between(base: Base) -> None:
    """Rows that others write where a session belongs stay; a session that grows is told, and taken again."""
    fill_sessions(base, [json.dumps([{"role": "user", "content": f"{n}"}]) for n in range(3)])
    options = session.options(outcomes.Settings("responses", session.KIND), "full", None)
    columns = {"group": "session_id", "order": "id", "into": None, "into_column": None, "in_place": False}
    asked = session.asked_of(base.where, "agent_messages", None, "message_data", options, **columns)  # type: ignore[arg-type]
    with (
        closing(opened(base.where)) as connection,
        closing(migration.begin(Path("out"), connection, asked, 10)) as done,
    ):
        done.layout.prepare()
        page = done.layout.page(None, 10)
        base.rows("insert into agent_messages_responses values ('s00000', 1, '[1]', 1)")
        new = "insert into agent_messages (session_id, message_data) values (?, ?)"
        base.rows(new, "s00001", json.dumps({"role": "user", "content": "more"}))
        done.layout.write([migration.change_of(row, done.how(), False) for row in page])
        first = migration.account(done, lambda _: None)
        migration.translate(done, lambda _: None)
        second = migration.account(done, lambda _: None)

    assert first.changed == ["s00000", "s00001"]
    assert second.changed == ["s00000"]
    rows = base.texts("agent_messages_responses", "session_id", "message_data", order="session_id, position")
    assert [name for name, _ in rows] == ["s00000", "s00001", "s00001", "s00002"]
    assert rows[0][1] == "[1]"


def test_other_way(base: Base) -> None:
    """Items to Chat, in place, and back."""
    items = [json.dumps(document) for document in expected(transcripts(60)).values()]
    fill(base, items)
    given = ("migrate-table", base.where, "chats", "--to", "chat", "--column", "messages", "--out", "out", "--in-place")
    done = turncodec(*given)
    assert done.returncode == 0, done.stderr
    assert totals() == (len(items), 0, 0, 0)
    restore(base)
    assert [row[0] for row in base.texts("chats", "messages", order="id")] == items


def test_rows_with_requests(base: Base) -> None:
    """What a record is may be said as for files: a transcript at a pointer, in a row of a log."""
    body = {"id": 7, "conversation": {"messages": [{"role": "user", "content": "hi"}]}}
    fill(base, [json.dumps(body)])
    migrate(base, "--at", "/conversation/messages", "--in-place", status=0)
    (row,) = base.rows("select messages from chats")

    assert json.loads(row[0])["conversation"] == {"input": [{"type": "message", "role": "user", "content": "hi"}]}
    restore(base)
    assert base.rows("select messages from chats") == [(json.dumps(body),)]


ODD = [
    *(code.example for code in CODES.values() if code.example),
    json.dumps({"messages": [{"role": "user", "content": "\u2028\U0001f600\u0000", "name": "ann"}], "n": 1e300}),
    json.dumps({"input": [], "rating": 12345678901234567890123, "\u00e9": "\u2028"}, ensure_ascii=False),
    ' [{"role": "user", "content": "\\ud800"}] ',
    '{"messages": [], "messages": []}',
    "NaN",
]


@pytest.mark.parametrize("asked", [{"to": "responses"}, {"to": "chat", "allow": "all"}], ids=lambda asked: asked["to"])
@pytest.mark.parametrize("door", ["SQLite", "PostgreSQL"])
def test_same_rows(door: str, asked: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """What a table makes of a record, its remainder and its refusals are, to the byte, what comes of it alone."""
    texts = [*transcripts(60), *ODD]
    stores.write_lines(tmp_path / "records.jsonl", [text.encode() for text in texts])
    alone = [row_of(outcome(text.encode(), asked)) for text in texts]
    if door == "SQLite":
        rows = databases.through_sqlite(tmp_path, tmp_path, asked)
    else:
        rows = databases.through(request.getfixturevalue("server").new(), tmp_path, tmp_path, asked)

    assert rows == alone
    assert {row[0] for row in rows} == {"translated", "passed_through", "refused"}


def outcome(data: bytes, asked: dict[str, Any]) -> outcomes.Outcome:
    allow = allowed_codes({"all"}) if asked.get("allow") else frozenset()
    return outcomes.outcome(data, outcomes.Settings(asked["to"], None, allow))


def row_of(made: outcomes.Outcome) -> databases.Through:
    if isinstance(made, outcomes.Translated):
        remainder = None if made.remainder is None else encode(made.remainder).decode()
        return "translated", made.data.decode(), remainder, None
    if isinstance(made, outcomes.PassedThrough):
        return "passed_through", made.data.decode(), None, None
    return "refused", None, None, [refusal.as_json() for refusal in made.refusals]


def test_same_digests(tmp_path: Path, server: Server) -> None:
    """The same records give the same bytes, and the same remainders, from a file, from SQLite and from PostgreSQL."""
    texts = transcripts(150)
    digests = digests_of_file(texts, tmp_path)
    for type in ("text", "json"):
        for where in (str(tmp_path / f"{type}.db"), server.new()):
            assert digests_of_table(texts, where, type, tmp_path) == digests


def digests_of_file(texts: list[str], folder: Path) -> tuple[str, str]:
    """The digests of what comes out of a file of these records, and of its remainders."""
    source = stores.write_lines(folder / "records.jsonl", [text.encode() for text in texts])
    stores.migrate(source, folder / "store")
    (told,) = json.loads((folder / "store" / "report.json").read_text())["files"]
    return told["records_digest"], told["remainders_digest"]


def digests_of_table(texts: list[str], where: str, type: str, folder: Path) -> tuple[str, str]:
    """The same of a table with these records."""
    if "://" not in where:
        sqlite3.connect(where).close()
    out = folder / f"out-{abs(hash(where))}"
    fill(Base(where), texts, type)
    migrate(Base(where), out=str(out))
    told = report(str(out))
    return told["records_digest"], told["remainders_digest"]


# ---------------------------------------------------------------- others write meanwhile


def begun(base: Base, place: str) -> migration.Migration:
    given = dict(zip(("into_column", "in_place"), {"column": ("items", False), "in place": (None, True)}.get(
        place, (None, False)), strict=True))  # fmt: skip
    options = session.options(outcomes.Settings("responses"), "full", None)
    asked = session.asked_of(base.where, "chats", None, "messages", options, None, group=None, order=None, **given)  # type: ignore[arg-type]
    done = migration.begin(Path("out"), opened(base.where), asked, 10)
    done.layout.prepare()
    return done


@every_place
def test_written_between(base: Base, place: str) -> None:
    """What is written between the reading of a page and the writing of its translations stays, is told, and is taken
    again; a row that is removed stays removed."""
    fill(base, [json.dumps([{"role": "user", "content": "old"}])] * 12)
    new = json.dumps([{"role": "user", "content": "new"}])
    done = begun(base, place)
    page = done.layout.page(None, 10)
    base.rows("update chats set messages = ? where id in (3, 4)", new)
    base.rows("delete from chats where id = 5")
    changes = [migration.change_of(row, done.how(), done.layout.in_place) for row in page]
    done.layout.write(changes)
    account = migration.account(done, lambda _: None)
    done.close()
    done.base.close()

    assert [row[0] for row in base.texts("chats", "messages", order="id")][2:4] == [new, new]
    assert (account.counts.translated, account.counts.changed_meanwhile) == (7, 4)  # two were on no page yet
    assert account.changed == ["3", "4", "11", "12"]
    assert account.counts.gone == (1 if place == "beside" else 0)

    migrate(base, *PLACES[place], "--resume", status=0)
    assert totals() == (11, 0, 0, 0)
    made = translations(base, place)
    assert "new" in str(made["3"])
    assert made.get("5") is None or place == "beside"


TAKEN = {
    "beside": "insert into chats_responses values (3, '[1]')",
    "column": "update chats set items = '[1]' where id = 3",
}


@pytest.mark.parametrize("place", TAKEN)
def test_translation_written_between(base: Base, place: str) -> None:
    """What others write where a translation belongs, between the reading of a page and the writing, stays as well."""
    fill(base, [json.dumps([{"role": "user", "content": "old"}])] * 4)
    done = begun(base, place)
    page = done.layout.page(None, 10)
    base.rows(TAKEN[place])
    done.layout.write([migration.change_of(row, done.how(), False) for row in page])
    account = migration.account(done, lambda _: None)
    done.close()
    done.base.close()

    assert translations(base, place)["3"] == "[1]"
    assert account.changed == ["3"]
    migrate(base, *PLACES[place], "--resume")
    assert translations(base, place)["3"] == "[1]"


def test_come_behind_the_last_page(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that comes when all pages were read is counted, as one that was changed meanwhile."""
    fill(base, [json.dumps([{"role": "user", "content": "old"}])] * 3)
    done = begun(base, "beside")
    migration.translate(done, lambda _: None)

    def written() -> int:
        base.rows("insert into chats values (9, 'late', '[]')")
        return 0

    monkeypatch.setattr(done.layout, "gone", written)  # it is asked for when all pages were read
    account = migration.account(done, lambda _: None)
    done.close()
    done.base.close()

    assert (account.counts.read, account.counts.translated, account.counts.changed_meanwhile) == (4, 3, 1)
    assert account.counts.add_up


def test_application_takes_over_a_translation(base: Base) -> None:
    """A translation with which the application has gone on is never written over; the way back takes what was added."""
    fill(base, [json.dumps([{"role": "user", "content": "old", "name": "kim"}])] * 2)
    migrate(base, "--allow", "message_name", status=0)
    grown = json.dumps([*json.loads(str(translations(base, "beside")["1"])), item("more")])
    base.rows("update chats_responses set messages = ? where id = 1", grown)
    migrate(base, "--allow", "message_name", "--resume")

    assert translations(base, "beside")["1"] == grown
    assert totals() == (1, 0, 0, 1)
    restore(base)
    (text,) = base.rows("select messages from chats where id = 1")[0]
    assert json.loads(text) == [{"role": "user", "content": "old", "name": "kim"}, {"role": "user", "content": "more"}]


def test_gone_on_with_in_place(base: Base) -> None:
    """A transcript that was translated in place, and that the application has gone on with, comes back with what was
    added, and with what only the remainder knows."""
    old = [{"role": "user", "content": "old", "name": "kim"}]
    fill(base, [json.dumps(old)] * 2 + [json.dumps([item("always")])])
    options = ("--in-place", "--allow", "message_name")
    migrate(base, *options, status=0)
    for key in (1, 3):
        (text,) = base.rows("select messages from chats where id = ?", key)[0]
        base.rows("update chats set messages = ? where id = ?", json.dumps([*json.loads(text), item("more")]), key)
    migrate(base, *options, "--resume", status=0)
    assert totals() == (1, 0, 2, 0)

    restore(base)
    texts = [json.loads(row[0]) for row in base.rows("select messages from chats order by id")]
    assert texts == [[*old, {"role": "user", "content": "more"}], old, [item("always"), item("more")]]


def item(text: str) -> dict[str, str]:
    return {"type": "message", "role": "user", "content": text}


@every_place
def test_beside_a_live_application(base: Base, place: str, tmp_path: Path) -> None:
    """An application goes on writing, and turncodec is killed once in the middle: nothing is overwritten, everything is
    accounted for; and when the application rests, all is across."""
    fill(base, transcripts(ROWS))
    given = ("migrate-table", base.where, "chats", "--to", "responses", "--column", "messages", "--out", "out")
    began = time.monotonic()
    with writer(base, ROWS, tmp_path) as log:
        command = words(*given, *PLACES[place], "--batch", "100", before=SLOWER if ROWS < 10_000 else "")
        with subprocess.Popen(command, stdout=-1, stderr=-1) as process:
            wait_for(base, ROWS // 4)
            process.kill()
        assert process.returncode == -signal.SIGKILL
        migrate(base, *PLACES[place], "--batch", "100", "--resume")
        seconds = time.monotonic() - began
    written = len(log.read_text().splitlines())
    first = report()["totals"]

    assert written > 20
    assert lost(base, log) == []
    assert first["read"] == ROWS

    migrate(base, *PLACES[place], "--resume")
    last = report()["totals"]
    figures(f"{ROWS} rows, {name_of(base)}, {place}: {seconds:.1f} s beside {written} writes", first, last)
    assert lost(base, log) == []
    assert last["changed_meanwhile"] == 0
    assert last["read"] == ROWS
    made = translations(base, place)
    marks = [line.split("\t") for line in log.read_text().splitlines()]
    states = dict(base.texts("chats_responses_notes", "key", "state", order="key"))
    assert all(json.dumps(mark) in str(made[key]) for key, mark in marks if states[key] == "translated")


def figures(said: str, *more: Any) -> None:
    if FIGURES:
        print("\n" + said, *more, sep="\n  ")  # noqa: T201


def name_of(base: Base) -> str:
    return "PostgreSQL" if base.is_server else "SQLite"


# ---------------------------------------------------------------- killed


STEPS = """
import os, signal
from turncodec.tables import ledger, {room}
left = {step}
def counted(do):
    def step(*given):
        global left
        left -= 1
        if left == 0 and {step} % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        result = do(*given)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return step
for name in ("rows", "each"):
    setattr({room}.{kind}, name, counted(getattr({room}.{kind}, name)))
ledger.text = counted(ledger.text)
"""
"""Killed before or after a statement of the database, or a word in the ledger."""


@every_place
def test_killed_at_any_moment(base: Base, place: str) -> None:
    """Killed and gone on with, a migration is what it would have been: at statements, and at moments of the clock."""
    number = 150
    fill(base, transcripts(number))
    original = base.everything()
    options = ("--batch", "7", *PLACES[place])
    migrate(base, *options, out="calm")
    calm, told = base.everything(), without_timings("calm")
    dice = random.Random(f"{place} {base.is_server}")
    for attempt in range(KILLS):
        put_back(base, original)
        out = f"out{attempt}"
        for steps in (25, 60, 150):
            step = dice.randrange(1, steps)
            kind, room = ("PostgreSQL", "postgresql") if base.is_server else ("SQLite", "sqlite")
            killed_by(base, out, options, STEPS.format(step=step, kind=kind, room=room))
        killed_by(base, out, options, SLOWER, dice.uniform(0.3, 1.2))
        migrate(base, *options, *resumed(out), out=out)

        assert base.everything() == calm
        assert without_timings(out) == told


def killed_by(base: Base, out: str, options: tuple[str, ...], before: str, seconds: float = 60) -> None:
    """Run the command until it is killed, by itself or after some time."""
    given = ("migrate-table", base.where, "chats", "--to", "responses", "--column", "messages", "--out", out)
    process = subprocess.Popen(words(*given, *options, *resumed(out), before=before), stdout=-1, stderr=-1)
    try:
        said = process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate()[1]
    assert process.returncode in (-signal.SIGKILL, 1), said


def resumed(out: str) -> tuple[str, ...]:
    return ("--resume",) if Path(out, "table.sqlite").exists() else ()


def put_back(base: Base, original: dict[str, list[tuple[Any, ...]]]) -> None:
    """The database as it was before."""
    for table in base.tables():
        base.rows(f"drop table {table}")
    fill(base, transcripts(len(original["chats"])))
    assert base.everything() == original


def without_timings(out: str) -> Any:
    return report(out) | {"timings": None}


@pytest.mark.parametrize("place", ["beside", "in place"])
def test_killed_on_the_way_back(base: Base, place: str) -> None:
    fill(base, transcripts(200))
    original = base.texts("chats", "id", "messages", order="id")
    migrate(base, *PLACES[place])
    slow = "from turncodec.tables import migration\nimport time\nmigration.PAGE = 5\nquick = migration.pages\n"
    slow += "def pages(*given):\n    for page in quick(given[0], 5):\n        time.sleep(0.02)\n        yield page\n"
    slow += "migration.pages = pages\n"
    process = subprocess.Popen(words("restore", "out", "--database", base.where, before=slow), stdout=-1, stderr=-1)
    with process:
        time.sleep(0.8)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    restore(base)
    assert base.texts("chats", "id", "messages", order="id") == original


@pytest.mark.parametrize("place", ["beside", "in place"])
def test_server_killed(server: Server, place: str, tmp_path: Path) -> None:
    """The server is killed in the middle, beside a live application: the run stops, says how to go on, and going on
    ends it; nothing is overwritten, and everything is accounted for."""
    base = Base(server.new())
    fill(base, transcripts(ROWS))
    given = ("migrate-table", base.where, "chats", "--to", "responses", "--column", "messages", "--out", "out")
    began = time.monotonic()
    with writer(base, ROWS, tmp_path) as log:
        command = words(*given, *PLACES[place], "--batch", "100", before=SLOWER if ROWS < 10_000 else "")
        process = subprocess.Popen(command, stdout=-1, stderr=-1, text=True)
        wait_for(base, ROWS // 4)
        server.kill()
        said = process.communicate(timeout=60)[1]
        databases.refuse_told(said)

        assert process.returncode == 2
        assert "what is done is safe" in said
        assert shown(base.where) in said
        assert "--resume" in said

        server.start()
        noted = base.rows("select count(*) from chats_responses_notes")[0][0]
        assert ROWS // 4 <= noted < ROWS
        migrate(base, *PLACES[place], "--batch", "100", "--resume")
        seconds = time.monotonic() - began
    assert lost(base, log) == []
    first = report()["totals"]
    migrate(base, *PLACES[place], "--resume")
    written = len(log.read_text().splitlines())
    figures(f"{ROWS} rows, server killed at {noted}, {place}: {seconds:.1f} s beside {written} writes", first, totals())

    assert lost(base, log) == []
    assert totals()[3] == 0
    assert report()["totals"]["read"] == ROWS


def wait_for(base: Base, notes: int) -> None:
    """Wait until so many transcripts are noted."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        found = "chats_responses_notes" in base.tables()
        if found and base.rows("select count(*) from chats_responses_notes")[0][0] >= notes:
            return
        time.sleep(0.02)
    raise AssertionError("nothing was noted")


def test_interrupted(base: Base) -> None:
    """Ctrl-C stops between two pages, and says how to go on."""
    fill(base, transcripts(300))
    given = ("migrate-table", base.where, "chats", "--to", "responses", "--column", "messages", "--out", "out")
    process = subprocess.Popen(words(*given, "--batch", "10", before=SLOWER), stdout=-1, stderr=-1, text=True)
    wait_for(base, 20)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    databases.refuse_told(said)

    assert process.returncode == 130
    assert "--resume" in said
    migrate(base, "--resume")
    assert sum(totals()) == 300


# ---------------------------------------------------------------- refused, and tried again


@every_place
def test_retry(base: Base, place: str) -> None:
    """Refused transcripts are kept whole, with the reasons; allowed later, they take their places."""
    texts = transcripts(100)
    fill(base, texts)
    said = migrate(base, *PLACES[place])
    before = totals()
    kept = [json.loads(line) for line in Path("out", "refused.jsonl").read_text().splitlines()]

    assert len(kept) == before[1] > 2
    assert all(line["text"] == texts[int(line["key"]) - 1] and line["refusals"] for line in kept)
    assert "turncodec retry out --allow reasoning" in said

    done = turncodec("retry", "out", "--allow", "reasoning", "--database", base.where)
    after = totals()
    reasons = sum(line["refusals"][0]["code"] == "reasoning" for line in kept)
    assert done.returncode == 1
    assert after[:2] == (before[0] + reasons, before[1] - reasons)
    assert report()["retries"] == [
        {"allow": ["reasoning"], "rules": report()["rules"], "tried": before[1], "translated": reasons}
    ]
    restore(base)
    assert [row[0] for row in base.texts("chats", "messages", order="id")] == texts


def test_texts_that_are_no_json(base: Base) -> None:
    """Whatever a column holds is kept as it is, and refused with the reason."""
    odd = ["", " ", "{", '{"a": 1, "a": 2}', "NaN", '"\\ud800"', "null", "[" * 10_000]
    fill(base, odd)
    migrate(base, "--in-place")
    assert totals() == (0, len(odd), 0, 0)
    assert [row[0] for row in base.texts("chats", "messages", order="id")] == odd


def test_bytes_in_sqlite(tmp_path: Path) -> None:
    """Text with a zero byte, bytes that are no UTF-8, and a transcript kept as bytes."""
    path = tmp_path / "odd.db"
    good = b'[{"role": "user", "content": "hi"}]'
    with sqlite3.connect(path) as base:
        base.execute("create table chats (id text primary key, messages)")
        rows = [("a'\u00fc", good), ("b", "x\0y"), ("c", b"\xff\xfe")]
        base.executemany("insert into chats values (?, ?)", rows)
        base.execute("insert into chats values ('d', cast(x'5bff5d' as text))")
        base.text_factory = bytes
        before = base.execute("select * from chats order by id").fetchall()
    base.close()
    migrate(Base(str(path)), "--in-place")
    assert totals() == (1, 3, 0, 0)
    restore(Base(str(path)))
    with sqlite3.connect(path) as base:
        base.text_factory = bytes
        assert base.execute("select * from chats order by id").fetchall() == before
    base.close()


def test_numbers_of_jsonb(server: Server) -> None:
    """jsonb keeps the values of numbers, not their spelling; what comes back is compared so."""
    base = Base(server.new())
    schema = '{"minimum": -0.0, "maximum": 1E2, "x": 1.50, "y": 123456789012345678901234567890}'
    tools = f'[{{"type": "function", "function": {{"name": "f", "parameters": {schema}}}}}]'
    fill(base, [f'{{"model": "m", "messages": [{{"role": "user", "content": "hi"}}], "tools": {tools}}}'], "jsonb")
    before = base.texts("chats", "messages", order="id")
    migrate(base, "--in-place", status=0)
    assert report()["compared"] == "by value"
    restore(base)
    assert base.texts("chats", "messages", order="id") == before


def test_alike() -> None:
    assert alike({"a": [1, 0.0, "x"]}, {"a": [1.0, -0.0, "x"]})
    assert not alike(True, 1)
    assert not alike([1], [1, 1])
    assert not alike({"a": 1}, {"b": 1})
    assert not alike("1", 1)
    assert not alike(None, 0)


# ---------------------------------------------------------------- said, and not done


def test_dry_run_writes_nothing(base: Base) -> None:
    fill(base, transcripts(50))
    before = base.everything()
    given = ("migrate-table", base.where, "chats", "--to", "responses", "--column", "messages", "--dry-run")
    done = turncodec(*given)

    assert done.returncode == 1
    assert "50 read = " in done.stdout
    assert "chats id=" in done.stdout
    assert "nothing was written" in done.stdout
    assert base.everything() == before
    assert not Path("out").exists()


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "no table": (("nowhere", "--column", "messages"), "there is no table nowhere"),
    "no column": (("chats", "--column", "nothing"), "chats has no column nothing; it has id, title, messages"),
    "no key": (("chats", "--column", "messages", "--key", "nokey"), "chats has no column nokey"),
    "key twice": (("chats", "--column", "messages", "--key", "title"), "name a unique one with --key"),
    "no column named": (("chats",), "--column NAME"),
    "two places": (("chats", "--column", "messages", "--in-place", "--into-column", "x"), "give one of them"),
    "used column": (("chats", "--column", "messages", "--into-column", "title"), "holds something in 2 rows"),
    "table there": (("chats", "--column", "messages", "--into", "other"), "there is a table other already"),
    "group alone": (("chats", "--column", "messages", "--group", "id"), "go together"),
    "rows in place": (
        ("chats", "--column", "messages", "--group", "title", "--order", "id", "--in-place"),
        "leave out --in-place",
    ),
    "no order": (("chats", "--column", "messages", "--group", "title", "--order", "title"), "does not order"),
    "kind of rows": (
        ("chats", "--column", "messages", "--group", "title", "--order", "id", "--kind", "row"),
        "leave it out with --group",
    ),
}


def test_misuse(base: Base) -> None:
    """What cannot be done is said in one line, and nothing is done."""
    fill(base, ["[]"] * 2)
    base.rows("update chats set title = 'same'")
    base.rows("create table other (x integer)")
    before = base.everything()
    for wrong, (given, said) in WRONG.items():
        done = CliRunner().invoke(cli, ["migrate-table", base.where, *given, "--to", "responses", "--out", "out"])

        assert done.exit_code == 2, wrong
        assert said in " ".join(done.output.split()), wrong
        assert base.everything() == before, wrong
        assert not Path("out").exists(), wrong


def test_begun_already(base: Base) -> None:
    """A migration is gone on with as it was begun, or not at all."""
    fill(base, transcripts(20))
    migrate(base)
    before = base.everything()

    assert "out is not empty" in migrate(base, status=2)
    assert "has a migration already" in migrate(base, status=2, out="other")
    assert "--in-place was not given, and is yes" in migrate(base, "--in-place", "--resume", status=2)
    assert "--allow was not given" in migrate(base, "--allow", "reasoning", "--resume", status=2)
    assert "holds no migration" in migrate(base, "--resume", status=2, out="nowhere")
    assert base.everything() == before

    held = sqlite3.connect("out/table.sqlite", isolation_level=None)
    held.execute("begin exclusive")
    assert "another turncodec is at work" in migrate(base, "--resume", status=2)
    held.close()
    with sqlite3.connect("out/table.sqlite") as ledger:
        ledger.execute("update about set value = '\"0.0.1\"' where key = 'rules'")
    ledger.close()
    assert "may translate otherwise" in migrate(base, "--resume", status=2)


def test_backup_that_does_not_hold(base: Base) -> None:
    """Where the backup is not equal to the column, nothing is written, and no backup is left."""
    fill(base, transcripts(20))
    before = base.everything()
    spoilt = """
from turncodec.tables import cells
class Spoilt(cells.Cells):
    def indexed(self, table):
        if table.endswith("_backup"):
            self.base.rows(f"delete from {self.backup} where id = 7")
        return super().indexed(table)
from turncodec.tables import migration
migration.Cells = Spoilt
"""
    said = migrate(base, "--in-place", status=2, before=spoilt)
    left = base.everything()

    assert "of 20 rows the backup chats_responses_backup holds 19" in said
    assert left["chats"] == before["chats"]
    assert "chats_responses_backup" not in left


def test_fault_is_told(base: Base) -> None:
    """A translation that does not come back from the database is a fault of turncodec: status 3, with the key."""
    fill(base, transcripts(20))
    migrate(base)
    base.rows("update chats_responses_notes set remainder = null where remainder is not null")
    given = ("migrate-table", base.where, "chats", "--to", "responses", "--column", "messages", "--out", "out")
    done = turncodec(*given, "--resume")

    assert done.returncode == 3
    assert "a fault of turncodec, chats id=" in done.stderr


def test_types_of_postgresql(server: Server) -> None:
    """Columns that can hold no JSON text are named; keys may be of other types than numbers; names of any kind."""
    base = Base(server.new())
    base.rows("create table chats (id uuid primary key, messages bytea)")
    assert "is of type bytea, and must be json, jsonb or text" in migrate(base, status=2)
    base.rows("drop table chats")
    base.rows('create schema "My App"')
    base.rows('create table "My App"."Chat?s%" ("the ""Key""" uuid primary key, "Te xt" json)')
    for n in range(30):
        text = json.dumps([{"role": "user", "content": f"{n}"}])
        with base.open() as one:
            one.execute('insert into "My App"."Chat?s%%" values (gen_random_uuid(), %s)', (text,))
    given = ("migrate-table", base.where, "My App.Chat?s%", "--to", "responses", "--column", "Te xt", "--out", "out")
    for more in ((), ("--resume",)):
        done = turncodec(*given, "--in-place", *more)
        assert done.returncode == 0, done.stderr
        assert totals() == (30, 0, 0, 0)
    restore(base)
    found = base.rows('select count(*) from "My App"."Chat?s%" where "Te xt"::text like \'%"role": "user"%\'')
    assert found == [(30,)]


def test_password_is_kept_nowhere(server: Server) -> None:
    """No password in what is said, in the ledger, in the reports or in the notes, and a wrong one neither."""
    base = Base(server.new())
    fill(base, transcripts(10))
    migrate(base)
    wrong = base.where.replace(PASSWORD.replace("%", "%25"), "wr0ng%25pw")
    done = turncodec("migrate-table", wrong, "chats", "--to", "responses", "--column", "messages", "--out", "x")

    assert done.returncode == 2
    assert "PGPASSWORD or ~/.pgpass" in done.stderr
    assert "wr0ng" not in done.stderr
    for path in Path("out").iterdir():
        assert PASSWORD.encode() not in path.read_bytes()
        assert PASSWORD.replace("%", "%25").encode() not in path.read_bytes()
    done = turncodec("restore", "out", env={**os.environ, "PGPASSWORD": PASSWORD})
    assert done.returncode == 0, done.stderr


def test_shown() -> None:
    """Where a database is, without what opens it."""
    assert shown("app.db") == "app.db"
    assert shown("postgresql://me:pw@host:1/db") == "postgresql://me@host:1/db"
    assert shown("postgres://host/db?password=pw&sslmode=require") == "postgres://host/db?sslmode=require"
    assert shown("postgresql://me:p@w@host/db") == "postgresql://me@host/db"


def test_no_server_and_no_file(tmp_path: Path) -> None:
    said = migrate(Base("postgresql://me:pw@127.0.0.1:1/x"), status=2)
    assert "postgresql://me@127.0.0.1:1/x" in said
    assert "there is no such file" in migrate(Base("nowhere.db"), status=2)
    (tmp_path / "no.db").write_text("this is no database, by far not one, and long enough to be read as something")
    assert "no.db" in migrate(Base("no.db"), status=2)


def test_without_driver(server: Server) -> None:
    before = "import sys\nsys.modules['psycopg'] = None"
    assert "pip install 'turncodec[pg]'" in migrate(Base(server.new()), status=2, before=before)


def test_machine_log(base: Base) -> None:
    fill(base, transcripts(30))
    said = [json.loads(line) for line in migrate(base, "--log-json", "--batch", "10").splitlines()]
    assert [line["event"] for line in said if line["event"] != "said"] == ["begun", "page", "page", "page", "ended"]


def test_report_page(base: Base) -> None:
    """The page names the table, the numbers and the reasons, and asks nothing of a network."""
    fill(base, transcripts(60))
    migrate(base)
    page = Path("out", "report.html").read_text()

    assert "<h1>chats to Open Responses</h1>" in page
    assert "changed meanwhile" in page
    assert "chats id=" in page
    assert "http" not in page.replace("http-equiv", "")


def test_names() -> None:
    """A name is a name, whatever characters it has; nothing is none."""
    assert quoted_table('a"b.c.d') == '"a""b"."c.d"'
    with pytest.raises(DatabaseFault, match="no name"):
        quoted_table("a.")


# ---------------------------------------------------------------- the pages


DOCS = Path(__file__).resolve().parent.parent / "docs"


def test_page_of_sqlite(tmp_path: Path) -> None:
    pages.compare(DOCS / "sqlite.md", tmp_path, pages.environment(tmp_path))


def test_page_of_postgresql(server: Server, tmp_path: Path) -> None:
    Base(server.url("postgres")).rows("create database shop")
    env = pages.environment(tmp_path, PGHOST="127.0.0.1", PGPORT=str(server.port), PGUSER="app", PGPASSWORD=PASSWORD)
    env["PATH"] = f"{env['PATH']}:{server.bin}"
    pages.compare(DOCS / "postgresql.md", tmp_path, env)
