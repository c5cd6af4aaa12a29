"""Databases of the tests' own: a file of SQLite, and a PostgreSQL server on a loopback port with a folder of its own.

The server is Debian's (`apt-get install postgresql`, which `.ci/run` sees to), run by a user who is not root. Also what
one does with a database: fill it, change it while turncodec is at work, look at all of it.
"""

from __future__ import annotations

import json
import os
import pwd
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PASSWORD = "s3cret%word"
"""Also as it stands in a URL, where a percent sign is spelled %25."""


def programs() -> Path | None:
    """Where the programs of the newest PostgreSQL are, if there is one."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    named = shutil.which("initdb")
    return Path(named).resolve().parent if named else None


def missing() -> str | None:
    """Why there can be no server, or None."""
    if programs() is None:
        return "PostgreSQL is not installed here: apt-get install postgresql"
    if os.getuid() == 0 and user() is None:
        return "PostgreSQL does not run as root, and there is no user postgres or nobody"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed here: pip install 'turncodec[pg]'"
    return None


def user() -> str | None:
    """Who runs the server, where the tests are run by root."""
    return next((name for name in ("postgres", "nobody") if name in {one.pw_name for one in pwd.getpwall()}), None)


class Server:
    """A PostgreSQL server."""

    def __init__(self) -> None:
        self.bin = programs()
        self.folder = Path(tempfile.mkdtemp(prefix="turncodec-pg-"))
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        if os.getuid() == 0:
            shutil.chown(self.folder, user())
        self.data = self.folder / "data"
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        how = ["-U", "app", "--auth=scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--locale=C.UTF-8", "-N"]
        self.run("initdb", "-D", self.data, *how)
        self.start()
        self.number = 0

    def run(self, program: str, *given: object) -> None:
        words = [str(self.bin / program), *map(str, given)]  # type: ignore[operator]
        if os.getuid() == 0:
            words = [
                "setpriv",
                f"--reuid={user()}",
                f"--regid={pwd.getpwnam(str(user())).pw_gid}",
                "--clear-groups",
                *words,
            ]
        with (self.folder / "said").open("ab") as said:
            subprocess.run(words, check=True, stdout=said, stderr=said, cwd=self.folder, timeout=90)

    def start(self) -> None:
        settings = f"-h 127.0.0.1 -p {self.port} -c unix_socket_directories= -c fsync=off"
        for wait in (0.2, 0.5, 1, 2, 0):  # the processes of one that was killed take a moment to end
            try:
                self.run("pg_ctl", "-D", self.data, "-l", self.folder / "log", "-o", settings, "-w", "start")
                return
            except subprocess.CalledProcessError:
                if not wait:
                    raise
                time.sleep(wait)

    def kill(self) -> None:
        """End the server without a word, as a power cut does; its processes see that it is gone, and end."""
        postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, signal.SIGKILL)

    def stop(self) -> None:
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def new(self) -> str:
        """A schema of its own in one database, which is made sooner than a database: its URL, with the password."""
        self.number += 1
        name = f"base{self.number}"
        Base(self.url("postgres")).rows(f"create schema {name}")
        return f"{self.url('postgres')}?options=-csearch_path%3D{name}"

    def url(self, database: str) -> str:
        return f"postgresql://app:{PASSWORD.replace('%', '%25')}@127.0.0.1:{self.port}/{database}"


# ---------------------------------------------------------------- one face for both


class Base:
    """A database as an application uses it; `?` stands for a parameter."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.is_server = "://" in where

    @contextmanager
    def open(self) -> Iterator[Any]:
        if self.is_server:
            import psycopg

            with psycopg.connect(self.where, autocommit=True) as base:
                yield base
        else:
            with closing(sqlite3.connect(self.where, timeout=60, isolation_level=None)) as base:
                yield base

    def sql(self, text: str) -> str:
        return text.replace("?", "%s") if self.is_server else text

    def rows(self, text: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.open() as base:
            found = base.execute(self.sql(text), given) if given else base.execute(text)
            return list(found.fetchall()) if found.description else []

    def many(self, text: str, given: list[tuple[Any, ...]]) -> None:
        with self.open() as base:
            base.execute("begin")
            base.cursor().executemany(self.sql(text), given)
            base.execute("commit")

    def texts(self, table: str, *columns: str, order: str) -> list[tuple[Any, ...]]:
        """Columns of a table, all of them as text."""
        wanted = ", ".join(f"cast(t.{column} as text)" for column in columns)
        ordered = ", ".join(f"t.{column}" for column in order.split(", "))  # as they are, not as texts
        return self.rows(f"select {wanted} from {table} t order by {ordered}")

    def tables(self) -> list[str]:
        if self.is_server:
            found = self.rows("select tablename from pg_tables where schemaname = current_schema() order by 1")
        else:
            found = self.rows(
                "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by 1"
            )
        return [row[0] for row in found]

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """All rows of all tables, in an order of their own."""
        cast = "select cast(t as text) from {} t" if self.is_server else "select * from {}"
        return {table: sorted(self.rows(cast.format(table)), key=repr) for table in self.tables()}


# ---------------------------------------------------------------- transcripts


def chat(number: int, dice: random.Random) -> Any:
    """A transcript of Chat, of one kind or another."""
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "f", "arguments": f'{{"n": {number}}}'}}
    turns: list[Any] = [{"role": "user", "content": f"question {number} " + "ü" * dice.randrange(90)}]
    if dice.random() < 0.6:
        turns += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": "42"},
        ]
    turns.append({"role": "assistant", "content": "answer", **({"refusal": None} if dice.random() < 0.3 else {})})
    what = dice.random()
    if what < 0.05:
        turns[-1]["reasoning_content"] = "because"
    elif what < 0.08:
        turns.append({"role": "tool", "tool_call_id": "nowhere", "content": "1"})
    elif what < 0.11:
        return [{"type": "message", "role": "user", "content": f"items already {number}"}]
    return turns


def transcripts(number: int, seed: int = 1) -> list[str]:
    """Transcripts as texts, spelled in several ways; the same for the same seed."""
    dice = random.Random(seed)
    spelled: list[dict[str, Any]] = [{}, {"separators": (",", ":")}, {"ensure_ascii": False}]
    return [json.dumps(chat(n, dice), **dice.choice(spelled)) for n in range(1, number + 1)]


def fill(base: Base, texts: list[str], type: str = "text") -> None:
    """A table of an application, with a transcript in a column."""
    base.rows(f"create table chats (id integer primary key, title text, messages {type})")
    rows = [(n, f"title {n}", text) for n, text in enumerate(texts, 1)]
    base.many("insert into chats values (?, ?, ?)", rows)


def fill_sessions(base: Base, texts: list[str]) -> None:
    """The tables of a session store, one message a row, the sessions in turns."""
    counted = "bigint generated by default as identity" if base.is_server else "integer"
    key = f"id {counted} primary key"
    base.rows("create table agent_sessions (session_id varchar(99) primary key)")
    base.rows(f"create table agent_messages ({key}, session_id varchar(99), message_data text, created_at text)")
    base.many("insert into agent_sessions values (?)", [(f"s{n:05}",) for n in range(len(texts))])
    turns = [(f"s{n:05}", at, turn) for n, text in enumerate(texts) for at, turn in enumerate(json.loads(text))]
    turns.sort(key=lambda row: row[1])
    rows = [(name, json.dumps(turn, separators=(",", ":")), f"at {at}") for name, at, turn in turns]
    base.many("insert into agent_messages (session_id, message_data, created_at) values (?, ?, ?)", rows)


# ---------------------------------------------------------------- the command


def turncodec(*given: object, before: str = "", **how: Any) -> subprocess.CompletedProcess[str]:
    """Run the command; a traceback or a password in what it says is a failed test."""
    done = subprocess.run(words(*given, before=before), capture_output=True, text=True, timeout=600, **how)
    refuse_told(done.stdout + done.stderr)
    return done


def words(*given: object, before: str = "") -> list[str]:
    script = f"{before}\nfrom turncodec.cli import main\nmain()"
    return [sys.executable, "-c", script, *map(str, given)]


def refuse_told(said: str) -> None:
    assert "Traceback" not in said, said
    for secret in (PASSWORD, PASSWORD.replace("%", "%25")):
        assert secret not in said, said


# ---------------------------------------------------------------- the same records through a table

Through = tuple[str, str | None, str | None, list[dict[str, Any]] | None]
"""What became of a record: the word for it, what came out, the remainder, the refusals."""


def through(where: str, given: Path, folder: Path, asked: dict[str, Any]) -> list[Through]:
    """The records of the file `records.jsonl` in a folder, a row each, through the command: what became of each, in
    their order. `folder` is one to work in, `asked` the options."""
    base = Base(where)
    fill(base, (given / "records.jsonl").read_bytes().decode().split("\n")[:-1])
    options = [word for name, value in asked.items() for word in (f"--{name}", value)]
    done = turncodec("migrate-table", where, "chats", "--column", "messages", *options, "--out", folder / "out")
    assert done.returncode == 1, done.stderr
    table = f"chats_{asked['to']}"
    wanted = "n.state, r.messages, n.remainder, n.refusals"
    joined = f"{table}_notes n left join {table} r on r.id = n.key order by n.key"
    rows = base.rows(f"select {wanted} from {joined}")
    return [(*row[:3], json.loads(row[3]) if row[3] else None) for row in rows]


def through_sqlite(given: Path, folder: Path, asked: dict[str, Any]) -> list[Through]:
    where = str(folder / "app.db")
    sqlite3.connect(where).close()
    return through(where, given, folder, asked)


def through_postgresql(given: Path, folder: Path, asked: dict[str, Any]) -> list[Through]:
    server = Server()
    try:
        return through(server.new(), given, folder, asked)
    finally:
        server.stop()


# ---------------------------------------------------------------- an application at work

MARK = "live"


def write_on(where: str, rows: int, seed: int, log: Path, stop: Path, pause: float) -> None:
    """Add a turn to a transcript now and then, as an application does: read, think, write if nobody else has. What was
    written is noted when it is safe. Goes on until there is a file `stop`."""
    base = Base(where)
    dice = random.Random(seed)
    as_text = "messages::text" if base.is_server else "messages"
    put = "cast(? as text)" if not base.is_server else "?"
    same = "is not distinct from" if base.is_server else "is"
    number = 0
    with log.open("a") as noted:
        while not stop.exists():
            try:
                with base.open() as open_base:
                    while not stop.exists():
                        number += 1
                        key, mark = dice.randrange(1, rows + 1), f"{MARK} {seed} {number}"
                        found = open_base.execute(
                            base.sql(f"select {as_text} from chats where id = ?"), (key,)
                        ).fetchone()
                        turns = json.loads(found[0])
                        kind = {"type": "message"} if any("type" in turn for turn in turns) else {}
                        turns.append({**kind, "role": "user", "content": mark})
                        set_ = f"update chats set messages = {put} where id = ? and {as_text} {same} ?"
                        done = open_base.execute(base.sql(set_), (json.dumps(turns), key, found[0]))
                        if done.rowcount == 1:
                            noted.write(f"{key}\t{mark}\n")
                            noted.flush()
                        time.sleep(pause)
            except Exception:  # the server is gone; applications come back
                time.sleep(0.1)


@contextmanager
def writer(base: Base, rows: int, folder: Path, seed: int = 7, pause: float = 0.002) -> Iterator[Path]:
    """An application that goes on writing meanwhile, in a process of its own. Gives the file of what it wrote."""
    log, stop = folder / "written", folder / "stop"
    log.touch()
    stop.unlink(missing_ok=True)
    given = (base.where, rows, seed, log, stop, pause)
    words = [sys.executable, str(HERE / "databases.py"), *map(str, given)]
    process = subprocess.Popen(words)
    try:
        yield log
    finally:
        stop.touch()
        process.wait(60)


def lost(base: Base, log: Path) -> list[str]:
    """What the application has written and what is not there any more."""
    texts = dict(base.texts("chats", "id", "messages", order="id"))
    written = [line.split("\t") for line in log.read_text().splitlines()]
    return [mark for key, mark in written if json.dumps(mark) not in str(texts[key])]


if __name__ == "__main__":
    write_on(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), Path(sys.argv[5]), float(sys.argv[6]))
