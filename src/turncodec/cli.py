"""The command `turncodec`: arguments, exit status, and what is said to the person.

Everything else is asked of the rooms that know it. They are imported when a command needs them, so that
`turncodec --version` and completion are quick.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, chdir, closing, nullcontext
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

import turncodec
from turncodec.migrate import JobError
from turncodec.refusals import CODES, Code, Refused, allowed_codes, path_of, pointer

if TYPE_CHECKING:
    from turncodec.migrate.jobs import Job, Targets
    from turncodec.migrate.outcomes import Settings
    from turncodec.migrate.run import Pairs, Tally, Watch

STDOUT = Path("-")
REFUSED, MISUSE, FAULT, INTERRUPTED, BROKEN_PIPE, TERMINATED = 1, 2, 3, 130, 141, 143

STATUS = """\b
Exit status:
  0    all is well
  1    something was refused; it is told which, where and why
  2    the command or a file cannot be used as asked; no file was written
  130  interrupted; no file was written"""

STORE_STATUS = """\b
Exit status:
  0    every record is translated, or was in the format already
  1    some were refused; they are kept whole, with the reasons
  2    the command or a file cannot be used as asked, or the run had to stop; what is done is safe
  3    a verification failed: a fault of turncodec, with a ready-made report
  130  interrupted; what is done is safe"""

TABLE_STATUS = STORE_STATUS.replace(
    "1    some were refused; they are kept whole, with the reasons",
    "1    some were refused, and are kept with the reasons; or changed by others meanwhile, and left as they are",
)

TABLE_LEDGER = "table.sqlite"
TABLE_PRESETS = {"agents-session": ("session_id", "id", "message_data")}
"""Tables of a known make, one message a row: the columns that group them, order them, and hold the turn."""

COMPLETION = """\b
Completion in the shell, for bash (zsh and fish likewise):
  eval "$(_TURNCODEC_COMPLETE=bash_source turncodec)"
"""


Option = Callable[[Callable[..., Any]], Callable[..., Any]]


class Commands(click.Group):
    """A group of commands of which every failure is one line and an exit status, never a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted; no file was written", err=True)
            ctx.exit(INTERRUPTED)
        except JobError as wrong:
            fail(str(wrong))
        except OSError as wrong:
            drop_stdout()
            if isinstance(wrong, BrokenPipeError):
                ctx.exit(BROKEN_PIPE)
            name = f"{os.fsdecode(wrong.filename)}: " if isinstance(wrong.filename, str | bytes) else ""
            fail(name + (wrong.strerror or str(wrong)).lower())


def fail(said: str) -> NoReturn:
    """End with one line on stderr and the status of misuse."""
    click.echo(f"Error: {said}", err=True)
    sys.exit(MISUSE)


def drop_stdout() -> None:
    """Where standard output takes nothing any more, what is still in its buffer goes nowhere; Python would try again
    at the very end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# ---------------------------------------------------------------- arguments


def codes(_: click.Context, __: click.Parameter, values: Sequence[str]) -> frozenset[str]:
    """`--allow a,b --allow c` as a set of codes."""
    names = {name.strip() for value in values for name in value.split(",") if name.strip()}
    try:
        return allowed_codes(names)
    except ValueError as wrong:
        raise click.BadParameter(f"{wrong}{nearest(names)}") from wrong


def nearest(names: Iterable[str]) -> str:
    """The code that an unknown name was meant to be, as a question; or nothing."""
    unknown = sorted(set(names) - CODES.keys() - {"all"})
    near = get_close_matches(unknown[0], CODES, 1) if unknown else []
    return f"; did you mean {near[0]}?" if near else ""


def json_pointer(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    try:
        path_of(value or "")
    except ValueError as wrong:
        raise click.BadParameter(str(wrong)) from wrong
    return value


def complete_codes(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """The codes that go on with what was typed after the last comma."""
    before, comma, last = begun.rpartition(",")
    return [before + comma + name for name in ("all", *CODES) if name.startswith(last)]


def file_option(name: str, text: str) -> Option:
    return click.option(name, metavar="FILE", type=click.Path(path_type=Path), help=text)


FILE = click.Path(allow_dash=True)
SOURCES = click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=FILE)
TO = click.option("--to", type=click.Choice(["responses", "chat"]), required=True, help="The format to translate to.")
AT = click.option(
    "--at",
    metavar="POINTER",
    callback=json_pointer,
    help="Where the transcript stands in each record, as a JSON pointer: /conversations.",
)
KIND = click.option(
    "--kind", metavar="KIND", help="What each record is, where that cannot be seen: transcript, request, row, ..."
)
ALLOW = click.option(
    "--allow",
    metavar="CODE,...",
    multiple=True,
    callback=codes,
    shell_complete=complete_codes,
    help="Refusals to let through, or all. What that does: turncodec explain CODE.",
)
REQUEST_AT = click.option(
    "--request-at",
    metavar="POINTER",
    callback=json_pointer,
    help="Where a row has its request; with --response-at, the two are translated together.",
)
RESPONSE_AT = click.option(
    "--response-at", metavar="POINTER", callback=json_pointer, help="Where a row has the answer to its request."
)
OUT = file_option("--out", "The file to write; without it, standard output.")
FORCE = click.option("--force", is_flag=True, help="Overwrite files that are there already.")


def settings_of(
    to: str,
    at: str | None,
    kind: str | None,
    allow: frozenset[str] = frozenset(),
    request_at: str | None = None,
    response_at: str | None = None,
) -> Settings:
    from turncodec.documents import KINDS
    from turncodec.migrate.outcomes import Settings

    if kind is not None and kind not in KINDS:
        raise click.BadParameter(f"{kind!r} is none of {', '.join(KINDS)}", param_hint="--kind")
    if "" in (request_at, response_at):
        raise click.UsageError("--request-at and --response-at lead into a record, and cannot be the whole of it")
    settings = Settings(to, kind, allow, at, request_at, response_at)
    refuse_beside(settings)
    return settings


def refuse_beside(settings: Settings) -> None:
    """Raise UsageError where two options say different things of a record, one of which would be passed over."""
    from turncodec.documents import ALIASES

    kind = ALIASES.get(settings.kind or "", settings.kind)
    in_pairs = settings.request_at is not None or settings.response_at is not None
    if settings.at is not None and in_pairs:
        raise click.UsageError("--at is where a transcript stands; with --request-at and --response-at there is none")
    if settings.at is not None and kind not in (None, "row", "transcript"):
        raise click.UsageError(f"--at is where a transcript stands in a row; leave out --kind {settings.kind}")
    if in_pairs and kind not in (None, "row", "pair"):
        raise click.UsageError(f"--request-at and --response-at are for rows; leave out --kind {settings.kind}")


def refuse_requests(settings: Settings) -> None:
    """Raise UsageError where the requests of a batch would be passed over."""
    from turncodec.documents import ALIASES

    if settings.to != "responses":
        raise click.UsageError("--requests goes with --to responses; a completion echoes nothing of its request")
    kind = ALIASES.get(settings.kind or "", settings.kind)
    if kind not in (None, "batch") or (settings.at, settings.request_at, settings.response_at) != (None, None, None):
        raise click.UsageError("--requests is for the output of a batch; leave out --kind, --at and the like")


# ---------------------------------------------------------------- what the commands share


def look(sources: Sequence[str], at: str | None, kind: str | None = None) -> Job:
    """Look at the sources, and say what is odd about them."""
    from turncodec.migrate import jobs

    job = jobs.job(sources, at, kind)
    for source in job.sources:
        if source.has_bom:
            say(f"{source.name}: begins with a byte-order mark, which is skipped")
        if source.is_empty:
            say(f"{source.name}: is empty, there are no records in it")
    return job


def write(pairs: Pairs, job: Job, targets: Targets) -> Tally:
    """Run a job, with a bar on a terminal while it goes on."""
    from turncodec.migrate import jobs

    stdout = sys.stdout.buffer
    with bar_of(job, beside_data=targets.out is None) as bar:
        tally = jobs.convert(pairs, job.framing, targets, stdout.write, bar)
    stdout.flush()
    return tally


def bar_of(job: Job, beside_data: bool) -> AbstractContextManager[Watch | None]:
    """A progress bar where stderr is a terminal and no data come out on the same one."""
    from turncodec.migrate.report import Bar

    if not sys.stderr.isatty() or (beside_data and sys.stdout.isatty()):
        return nullcontext()
    return Bar(sys.stderr, job.sources)


def say(*lines: str) -> None:
    for line in lines:
        click.echo(line, err=True)


def options(**given: object) -> list[str]:
    """Options as one types them; those that were not given are left out."""
    words: list[str] = []
    for name, value in given.items():
        if value is not None and value is not False:
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return words


def options_again(ctx: click.Context, **changed: object) -> list[str]:
    """The options of a command as they were given, all of them but those that are changed."""
    named = {param.name: param.opts[0] for param in ctx.command.params if isinstance(param, click.Option)}
    values = {**ctx.params, **changed}
    return options(**{option.removeprefix("--"): values[str(name)] for name, option in named.items()})


def refuse_options(ctx: click.Context, names: set[str], why: str, of: str = "for files") -> None:
    """Raise UsageError where options were given that would be passed over."""
    given = [param for param in ctx.command.params if param.name in names and ctx.params[param.name] is not None]
    if given:
        raise click.UsageError(f"{given[0].opts[0]} is {of}; {why}")


# ---------------------------------------------------------------- the commands


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"{STATUS}\n\n{COMPLETION}",
)
@click.version_option(turncodec.__version__, message="turncodec %(version)s")
def cli() -> None:
    """Translate conversations between Chat Completions and Open Responses.

    All of it comes across and is proven to come back, or it is refused with a code, the exact place and what to do.
    Try it: turncodec demo
    """


@cli.command(epilog=STATUS)
@SOURCES
@TO
@OUT
@AT
@REQUEST_AT
@RESPONSE_AT
@KIND
@ALLOW
@file_option("--requests", "The input of the batch whose output is translated: its answers echo their settings.")
@file_option("--remainder", "Where to keep what records need to come back; beside --out if not given.")
@file_option("--refused", "Where to keep refused records whole; beside --out if not given.")
@FORCE
@click.pass_context
def convert(
    ctx: click.Context,
    sources: tuple[str, ...],
    to: str,
    out: Path | None,
    at: str | None,
    request_at: str | None,
    response_at: str | None,
    kind: str | None,
    allow: frozenset[str],
    requests: Path | None,
    remainder: Path | None,
    refused: Path | None,
    force: bool,
) -> None:
    """Translate every record of files, or of standard input (-).

    A source is JSON lines, a JSON array of records, or one JSON document, which is seen from what stands in it: an
    array of messages or items is one document, any other array holds records. The output has the same framing.
    Records that are in the target's format already pass through unchanged.

    Beside --out chat.jsonl are written, where there is something to keep: chat.remainder.jsonl, with which `turncodec
    restore` gives the originals back exactly, and chat.refused.jsonl with every refused record whole. No file appears
    before all of it is written, none is overwritten without --force, and a source never.
    """
    from turncodec.migrate import jobs, report
    from turncodec.migrate.batch import Requests

    settings = settings_of(to, at, kind, allow, request_at, response_at)
    if requests:
        refuse_requests(settings)
    out = None if out == STDOUT else out
    targets = jobs.Targets(out, remainder, refused).beside()
    jobs.ready(targets, [*sources, *([str(requests)] if requests else [])], force)
    if requests:
        settings = replace(settings, requests=ctx.with_resource(closing(Requests(requests))))
    job = look(sources, at, kind)
    tally = write(job.outcomes(settings), job, targets)
    say(report.sum_of(tally), *report.reasons(tally, in_words=True))
    say(*report.unasked(tally, requests))
    say(*report.files(tally, targets), *report.not_kept(tally, targets))
    more = report.allowable(tally)
    if more:
        again = options_again(ctx, out=out, allow=",".join(sorted(allow | set(more))), force=bool(targets.named()))
        say("", "let through what can be:", "  " + report.command("convert", *sources, *again))
    if out and tally.translated:
        given = options(**report.way_back(tally, targets, settings))
        say("", "the originals again:", "  " + report.command("restore", str(out), *given))
    ctx.exit(REFUSED if tally.refused else 0)


@cli.command(epilog=STATUS)
@SOURCES
@TO
@AT
@REQUEST_AT
@RESPONSE_AT
@KIND
@ALLOW
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="For a person or a program."
)
@click.pass_context
def check(
    ctx: click.Context,
    sources: tuple[str, ...],
    to: str,
    at: str | None,
    request_at: str | None,
    response_at: str | None,
    kind: str | None,
    allow: frozenset[str],
    form: str,
) -> None:
    """List everything that convert would refuse, and write nothing.

    One refusal a line: file:line, the JSON pointer inside the record, the code, what is so, and what to do.
    """
    from turncodec.migrate import report

    settings = settings_of(to, at, kind, allow, request_at, response_at)
    job = look(sources, at, kind)
    stdout = sys.stdout.buffer
    listing = report.as_json if form == "json" else report.as_text
    with bar_of(job, beside_data=True) as bar:
        tally = listing(job.outcomes(settings), stdout.write, bar)
    stdout.flush()
    say(report.sum_of(tally, "can be translated"), *report.reasons(tally))
    ctx.exit(REFUSED if tally.refused else 0)


WORKERS = click.option(
    "-j", "workers", type=click.IntRange(1, 1024), metavar="N", help="How many processes work; all cores if not given."
)
LOG_JSON = click.option("--log-json", is_flag=True, help="Say what happens as lines of JSON, for a machine.")


@cli.command(epilog=STORE_STATUS)
@SOURCES
@TO
@click.option("--out", metavar="FOLDER", type=click.Path(path_type=Path), help="The folder of the new store.")
@AT
@REQUEST_AT
@RESPONSE_AT
@KIND
@ALLOW
@click.option("--column", metavar="NAME", help="The column with the JSON texts, in Parquet files.")
@click.option(
    "--verify",
    type=click.Choice(["full", "values", "none"]),
    default="full",
    help="full: what is written is brought back and compared with the source; values: it is read again; none.",
)
@WORKERS
@click.option("--dry-run", is_flag=True, help="Say what would be done, on a sample, and write nothing.")
@click.option("--resume", is_flag=True, help="Go on with a run that was interrupted.")
@LOG_JSON
@click.pass_context
def migrate(
    ctx: click.Context,
    sources: tuple[str, ...],
    to: str,
    out: Path | None,
    at: str | None,
    request_at: str | None,
    response_at: str | None,
    kind: str | None,
    allow: frozenset[str],
    column: str | None,
    verify: str,
    workers: int | None,
    dry_run: bool,
    resume: bool,
    log_json: bool,
) -> None:
    """Translate a whole store into a new folder: files, folders, globs.

    Sources are JSON lines, arrays or documents, also packed with gzip or zstd, and Parquet files with a column of JSON
    texts; of a folder those that end in .jsonl, .ndjson, .json or .parquet (and .gz or .zst). In FOLDER are written
    records/ with a file for each source, remainders/ with what they need to come back, refused/ with every refused
    record whole, report.html for a person and report.json for a program.

    A run that was interrupted, however, goes on with the same command and --resume, and gives the very same files.
    """
    from turncodec.store import session

    options = session.options(settings_of(to, at, kind, allow, request_at, response_at), verify, column)
    if dry_run:
        from turncodec.store import plan

        made = plan.plan(sources, out, options, workers or os.cpu_count() or 1)
        click.echo("\n".join(plan.told(made)))
        ctx.exit(REFUSED if made.tally.refused else 0)
    if out is None:
        raise click.UsageError("say where the new store is to be: --out FOLDER; or look first: --dry-run")
    ctx.exit(session.migrate(sources, out, options, workers, resume, log_json))


@cli.command("migrate-table", epilog=TABLE_STATUS)
@click.argument("database")
@click.argument("table")
@TO
@click.option("--out", metavar="FOLDER", type=click.Path(path_type=Path), help="The folder of the ledger and report.")
@click.option("--column", metavar="NAME", help="The column with the transcripts, or with the messages.")
@click.option("--key", metavar="NAME", help="The column that tells rows apart; the primary key if not given.")
@click.option("--group", metavar="NAME", help="One message a row: the column that tells transcripts apart.")
@click.option("--order", metavar="NAME", help="One message a row: the column by which they are in order.")
@click.option(
    "--preset",
    type=click.Choice(sorted(TABLE_PRESETS)),
    help="Tables of a known make: agents-session is agent_messages.",
)
@click.option(
    "--into", metavar="TABLE", help="The table beside that is made; TABLE_responses or TABLE_chat if not given."
)
@click.option("--into-column", metavar="NAME", help="Write into this column of the same table, which is made.")
@click.option(
    "--in-place", is_flag=True, help="Write into the column itself, after a backup of it is made and verified."
)
@AT
@REQUEST_AT
@RESPONSE_AT
@KIND
@ALLOW
@click.option(
    "--verify",
    type=click.Choice(["full", "values", "none"]),
    default="full",
    help="full: what the database holds is brought back and compared; values: it is read again; none.",
)
@click.option(
    "--batch", type=click.IntRange(1, 100_000), default=500, metavar="N", help="Rows a page and a transaction; 500."
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, on a sample, and write nothing.")
@click.option(
    "--resume", is_flag=True, help="Go on with a run that was interrupted, or take what was changed meanwhile."
)
@LOG_JSON
@click.pass_context
def migrate_table(
    ctx: click.Context,
    database: str,
    table: str,
    to: str,
    out: Path | None,
    column: str | None,
    key: str | None,
    group: str | None,
    order: str | None,
    preset: str | None,
    into: str | None,
    into_column: str | None,
    in_place: bool,
    at: str | None,
    request_at: str | None,
    response_at: str | None,
    kind: str | None,
    allow: frozenset[str],
    verify: str,
    batch: int,
    dry_run: bool,
    resume: bool,
    log_json: bool,
) -> None:
    """Translate the transcripts in a table of a database, while an application goes on using it.

    DATABASE is a file of SQLite, or a URL of PostgreSQL: postgresql://user@host/name. Leave the password to PGPASSWORD
    or ~/.pgpass; it is never shown or kept.

    A transcript is the JSON text in a column of a row; or, with --group and --order, one message a row. Translations
    go to a table beside, and TABLE is only read; or to a column beside it, or in its place. What became of each is
    noted in a table beside, with what it needs to come back. What others write meanwhile is never overwritten.

    A run that was interrupted, however, goes on with the same command and --resume.
    """
    from turncodec.tables import session
    from turncodec.tables.database import shown

    if preset:
        group, order, column = TABLE_PRESETS[preset]
    if (group is None) != (order is None):
        raise click.UsageError("--group and --order go together: one message a row")
    if column is None:
        raise click.UsageError("say which column holds the transcripts: --column NAME")
    settings = settings_of(to, at, kind, allow, request_at, response_at)
    if group:
        refuse_options(
            ctx,
            {"key", "at", "request_at", "response_at", "kind"},
            "leave it out with --group",
            "for one transcript a row",
        )
        settings = replace(settings, kind=session.KIND)
    options = session.options(settings, verify)
    asked = session.asked_of(database, table, key, column, options, into, into_column, in_place, group, order)
    if dry_run:
        from turncodec.tables import plan

        made = session.look(database, asked)
        click.echo("\n".join(plan.told(made, shown(database))))
        ctx.exit(REFUSED if made.tally.refused else 0)
    if out is None:
        raise click.UsageError("say where the ledger and the report are to be: --out FOLDER; or look first: --dry-run")
    ctx.exit(session.migrate(database, asked, out, batch, resume, log_json))


DATABASE = click.option(
    "--database", metavar="DATABASE", help="Of a table: where its database is, if elsewhere or with a password."
)


@cli.command(epilog=STORE_STATUS)
@click.argument("folder", type=click.Path(path_type=Path))
@ALLOW
@WORKERS
@DATABASE
@LOG_JSON
@click.pass_context
def retry(
    ctx: click.Context,
    folder: Path,
    allow: frozenset[str],
    workers: int | None,
    database: str | None,
    log_json: bool,
) -> None:
    """Translate the refused records of a store, or of a table, again, and only those.

    FOLDER was written by turncodec migrate or migrate-table. With --allow, codes are let through that were not; without
    it, the records are tried by the rules of this version. Those that go across take their old places.
    """
    from turncodec.store import session

    if (folder / TABLE_LEDGER).is_file():
        from turncodec.tables import session as tables

        ctx.exit(tables.retry(folder, database, allow, log_json))
    ctx.exit(session.retry(folder, allow, workers, log_json))


@cli.command(epilog=STATUS)
@click.argument("translated", type=FILE)
@file_option("--remainder", "What convert kept beside the records; else TRANSLATED's own, if there.")
@file_option("--refused", "Put the refused records of this file back in their old places.")
@OUT
@click.option("--to", type=click.Choice(["responses", "chat"]), help="What they were, if no remainder says.")
@AT
@REQUEST_AT
@RESPONSE_AT
@KIND
@DATABASE
@FORCE
@click.pass_context
def restore(
    ctx: click.Context,
    translated: str,
    remainder: Path | None,
    refused: Path | None,
    out: Path | None,
    to: str | None,
    at: str | None,
    request_at: str | None,
    response_at: str | None,
    kind: str | None,
    database: str | None,
    force: bool,
) -> None:
    """Give back the records that a file, a store or a table was translated from.

    TRANSLATED is a file that turncodec convert wrote, or the folder of a store or of a table; of a store, --out names
    the folder in which every source gets its file again. Those of a table come back in the database.

    They are equal to the originals as JSON values. White space between tokens, escapes in strings and the spelling of
    numbers (1.50, 1E5) may differ; records that had passed through or had been refused are the very bytes they were.
    """
    from turncodec.migrate import jobs, report

    if (Path(translated) / TABLE_LEDGER).is_file():
        from turncodec.tables import session as tables

        named = {"remainder", "refused", "to", "at", "request_at", "response_at", "kind", "out"}
        refuse_options(ctx, named, "the ledger of a table knows it")
        ctx.exit(tables.restore(Path(translated), database))
    if Path(translated).is_dir():
        from turncodec.store import session

        refuse_options(
            ctx,
            {"remainder", "refused", "to", "at", "request_at", "response_at", "kind"},
            "the ledger of a store knows it",
        )
        if out is None or out == STDOUT:
            raise click.UsageError("say where the sources are to be: --out FOLDER")
        ctx.exit(session.restore(Path(translated), out, force))
    own = jobs.own_side_files(translated)
    remainder = remainder or own.remainder
    targets = jobs.Targets(None if out == STDOUT else out).for_restored()
    read = {str(path) for path in (remainder, refused, own.refused) if path}
    jobs.ready(targets, [translated, *sorted(read)], force)
    job = look([translated], at, kind)
    settings = settings_of(to or "chat", at, kind, request_at=request_at, response_at=response_at)
    tally = write(jobs.restored(job, remainder, refused, to, settings), job, targets)
    say(report.sum_of(tally, "restored", "as they were"), *report.reasons(tally, in_words=True))
    say(*report.files(tally, targets))
    if own.refused and not refused:
        say(f"refused records are kept in {own.refused}; --refused {own.refused} puts them back")
    ctx.exit(REFUSED if tally.refused else 0)


STREAM = click.argument("source", default="-", type=FILE)


@cli.command(epilog=STATUS)
@STREAM
@TO
@ALLOW
@file_option("--request", "The request that a Chat stream answers: the response echoes its settings.")
@file_option("--remainder", "Where to keep what the whole answer needs to come back.")
@FORCE
@click.pass_context
def stream(
    ctx: click.Context,
    source: str,
    to: str,
    allow: frozenset[str],
    request: Path | None,
    remainder: Path | None,
    force: bool,
) -> None:
    """Translate a stream as it comes: server-sent events in, server-sent events out.

    SOURCE is a recorded stream, or standard input: `curl -N ... | turncodec stream --to responses`. One JSON object a
    line is read too. What is refused ends the output there, with an error in the format of the output; its pointer
    begins with the number of the chunk or event, from 0.
    """
    from turncodec.edge import encode
    from turncodec.migrate import flow, jobs
    from turncodec.migrate.targets import write_whole
    from turncodec.stream import ChunksToEvents, EventsToChunks

    if request and to != "responses":
        raise click.UsageError("--request goes with --to responses; a completion echoes nothing of its request")
    jobs.ready(jobs.Targets(None, remainder), [source, *([str(request)] if request else [])], force)
    settings = jobs.document(request) if request else None
    try:
        translator = ChunksToEvents(settings, allow) if to == "responses" else EventsToChunks(allow)
    except Refused as refused:
        fail(f"{request}: {refused.refusals[0]}")
    try:
        flow.send(flow.translated(flow.objects(source), translator), sys.stdout.buffer)
    except Refused as refused:
        flow.send(flow.failed(translator, refused), sys.stdout.buffer)
        say(*(f"{source}:{refusal}" for refusal in refused.refusals))
        ctx.exit(REFUSED)
    if remainder and translator.remainder is not None:
        write_whole(remainder, encode(translator.remainder) + b"\n")
        say(f"what the whole answer needs to come back is in {remainder}")


@cli.command(epilog=STATUS)
@STREAM
@OUT
@FORCE
@click.pass_context
def assemble(ctx: click.Context, source: str, out: Path | None, force: bool) -> None:
    """Print the object that a stream amounts to: a chat.completion, or a response.

    SOURCE is a recorded stream of either format, or standard input. A stream that was cut off shows it: the completion
    has no finish_reason, the response is in_progress.
    """
    from turncodec.edge import encode
    from turncodec.migrate import flow, jobs
    from turncodec.migrate.targets import write_whole

    out = None if out == STDOUT else out
    jobs.ready(jobs.Targets(out), [source], force)
    try:
        whole = encode(flow.assembled(flow.objects(source))) + b"\n"
    except Refused as refused:
        say(*(f"{source}:{refusal}" for refusal in refused.refusals))
        ctx.exit(REFUSED)
    if out:
        write_whole(out, whole)
    else:
        sys.stdout.buffer.write(whole)
        sys.stdout.buffer.flush()


@cli.command(epilog=STATUS)
@click.argument("left", type=FILE)
@click.argument("right", type=FILE)
@AT
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="For a person or a program."
)
@click.pass_context
def diff(ctx: click.Context, left: str, right: str, at: str | None, form: str) -> None:
    """Compare two documents, or files of them, as what they mean.

    Either may be of either format: is RIGHT a faithful replay of LEFT? A line for each difference: where, what, and
    the two beside each other. Records are compared in order, the first with the first. Exit status 1 where anything
    is not the same. For those who do not trust a translation, this one or another: it has a reader of its own.
    """
    import json

    from turncodec.migrate import diffs, jobs
    from turncodec.migrate.run import at as place

    jobs.read_once([left, right])
    total = other = 0
    for found in diffs.compared(look([left], at).records(), look([right], at).records(), at):
        total, other = total + 1, other + bool(found.differences)
        places = [place(record, "") if record else "-" for record in (found.left, found.right)]
        for difference in found.differences:
            row = {"records": places, **difference.as_json()}
            click.echo(json.dumps(row) if form == "json" else f"{places[0]} {places[1]} {difference}")
    say(f"{total:,} compared, {other:,} not the same")
    ctx.exit(REFUSED if other else 0)


@cli.command(epilog=STATUS)
@click.argument("source", default="-", type=FILE)
@file_option("--tools", "The tools: a list of definitions, or a request that holds one.")
@file_option("--schema", "The JSON Schema of the arguments of every call, for items of Responses.")
@click.option("--allowed", metavar="NAME,...", help="The functions that may be called; all of the tools if not given.")
@click.pass_context
def gate(ctx: click.Context, source: str, tools: Path | None, schema: Path | None, allowed: str | None) -> None:
    """Say of each call whether it may be replayed, in one word.

    SOURCE holds calls, lists of calls, transcripts, requests or responses of either format, one or many; without it,
    standard input is read. A line for each call: the word, where the call stands, and the name of its function. The
    words are those of the library's gate: ok, or the first test that failed. ok is no permission to execute.
    """
    from turncodec.edge import decode
    from turncodec.migrate import calls, jobs
    from turncodec.migrate.run import at, shown

    if (tools is None) == (schema is None):
        raise click.UsageError("give either --tools or --schema")
    jobs.read_once([source, str(tools or schema)])
    if tools:
        judge = calls.by_tools(jobs.document(tools), allowed.split(",") if allowed else None)
    else:
        judge = calls.by_schema(jobs.document(Path(str(schema))))
    words: Counter[str] = Counter()
    for record in look([source], None).records():
        try:
            found = calls.calls_in(decode(record.data))
        except Refused as refused:
            words["refused"] += 1
            say(*(f"{at(record, refusal.pointer)}: {refusal.code}: {refusal.message}" for refusal in refused.refusals))
            continue
        for call in found:
            word = calls.word(call, judge)
            words[word] += 1
            click.echo(f"{word}  {at(record, pointer(call.path))}  {shown(call.name)}")
    if not words:
        say("there are no calls here")
    ctx.exit(REFUSED if words.keys() - {"ok"} else 0)


@cli.command()
@click.argument("code", required=False, shell_complete=complete_codes)
def explain(code: str | None) -> None:
    """Explain a refusal: what it means, an example, the way out, and what allowing it does.

    Without CODE, list all codes. The list is closed: nothing is ever refused for a reason that is not in it.
    """
    from turncodec.migrate.report import table

    if code is None:
        rows = [("code", "--allow", "meaning")]
        rows += [(one.name, "yes" if one.allowing else "", one.meaning) for one in CODES.values()]
        click.echo("\n".join(table(rows)))
    elif code in CODES:
        click.echo("\n".join(explained(CODES[code])))
    else:
        raise click.BadParameter(f"{code!r} is no refusal code{nearest([code])}", param_hint="CODE")


def explained(code: Code) -> Iterator[str]:
    yield from (code.name, "", code.meaning)
    if code.example:
        yield from ("", "For example:", f"  {code.example}")
    yield from ("", "The way out:", f"  {code.hint}")
    if code.allowing:
        yield from ("", f"With --allow {code.name}:", f"  {code.allowing}")
    else:
        yield from ("", "It can never be allowed.")


@cli.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def demo(folder: Path | None) -> None:
    """Show what turncodec does, on a small sample, in a new folder (or in FOLDER).

    Writes a sample of Chat transcripts, converts it, shows the items and what was refused, and restores it.
    """
    from turncodec.migrate import sample

    folder = folder or Path(tempfile.mkdtemp(prefix="turncodec-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    with chdir(folder):
        sample.write(Path("chat.jsonl"))
        click.echo(
            f"chat.jsonl, {len(sample.SAMPLE)} transcripts, one message a line:\n{sample.shown(Path('chat.jsonl'))}"
        )
        run_typed("convert", "chat.jsonl", "--to", "responses", "--out", "items.jsonl")
        click.echo(f"\nitems.jsonl, one item a line:\n{sample.shown(Path('items.jsonl'))}")
        run_typed("explain", "reasoning")
        sides = ("--remainder", "items.remainder.jsonl", "--refused", "items.refused.jsonl")
        run_typed("restore", "items.jsonl", *sides, "--out", "again.jsonl")
        equal = sample.is_equal(Path("again.jsonl"))
    click.echo(f"\nagain.jsonl {'equals' if equal else 'DIFFERS FROM'} chat.jsonl. All files are in {folder}")
    sys.exit(0 if equal else REFUSED)


def run_typed(*words: str) -> None:
    """Show a command, and run it."""
    click.secho(f"\n$ {shlex.join(['turncodec', *words])}", bold=True)
    sys.stdout.flush()
    cli.main(list(words), prog_name="turncodec", standalone_mode=False)


def main() -> None:
    """Run the command with the arguments of the process, and end with its exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    cli(prog_name="turncodec")
