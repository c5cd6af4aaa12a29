"""Whole jobs: files that a person names in, files out. Puts the other rooms together, and prints nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from turncodec.edge import decode
from turncodec.lines import LINE_PRESETS
from turncodec.migrate import JobError, restore
from turncodec.migrate.outcomes import Outcome, Settings, outcome
from turncodec.migrate.records import STDIN, Framing, Record, Source, look, of_lines
from turncodec.migrate.run import Pairs, Tally, Watch, run
from turncodec.migrate.targets import AtomicFile, Framed, Write, refuse_targets
from turncodec.refusals import Refused

SUFFIXES = (".jsonl", ".ndjson", ".json")


@dataclass(frozen=True, slots=True)
class Targets:
    """Where a job writes; None for the records is standard output, for the others nowhere."""

    out: Path | None = None
    remainder: Path | None = None
    refused: Path | None = None

    def beside(self) -> Targets:
        """With the side files beside the output, where they were not named."""
        if self.out is None:
            return self
        return Targets(
            self.out, self.remainder or beside(self.out, "remainder"), self.refused or beside(self.out, "refused")
        )

    def for_restored(self) -> Targets:
        """The targets of originals: these need no remainder; what cannot be restored is kept like what is refused."""
        return Targets(self.out, None, self.refused or (self.out and beside(self.out, "refused")))

    def named(self) -> list[Path]:
        return [path for path in (self.out, self.remainder, self.refused) if path is not None]


def own_side_files(name: str) -> Targets:
    """The side files that lie beside a translated file, those that are there."""
    if name == STDIN:
        return Targets()
    remainder, refused = (path if path.exists() else None for path in Targets(Path(name)).beside().named()[1:])
    return Targets(None, remainder, refused)


def beside(out: Path, what: str) -> Path:
    """`out.jsonl` and `remainder` give `out.remainder.jsonl`."""
    stem = out.name.removesuffix(out.suffix) if out.suffix in SUFFIXES else out.name
    return out.parent / f"{stem}.{what}.jsonl"


class Job(NamedTuple):
    """What was looked at before anything is written."""

    sources: list[Source]
    framing: Framing

    def records(self) -> Iterator[Record]:
        for source in self.sources:
            yield from source.records()

    def outcomes(self, settings: Settings) -> Iterator[tuple[Record, Outcome]]:
        for record in self.records():
            yield record, outcome(record.data, settings)


def job(names: Sequence[str], at: str | None = None, kind: str | None = None) -> Job:
    """Look at the sources. The lines of a kind whose lines are turns are one record. Raises `JobError`."""
    read_once(names)
    sources = [look(name, at) for name in names]
    if kind in LINE_PRESETS:
        whole = [replace(source, framing="document") for source in sources if not source.is_empty]
        return Job(whole, "document")
    return Job(sources, framing_of(sources))


def framing_of(sources: Sequence[Source]) -> Framing:
    """The framing of what comes out: that of the source; of several, an array if all of them are, else lines."""
    telling = [source.framing for source in sources if not source.is_empty]
    if len(telling) == 1 or set(telling) == {"array"}:
        return telling[0]
    return "lines"


def restored(
    job: Job, remainder: Path | None, refused: Path | None, to: str | None, settings: Settings
) -> Iterator[tuple[Record, Outcome]]:
    """What becomes of translated records on the way back. `to` is what they were, where no remainder says so;
    `settings` says the rest."""
    notes = restore.notes(lines(remainder)) if remainder else iter(())
    kept = restore.kept_records(lines(refused)) if refused else iter(())
    told, notes = restore.direction(notes)
    to = to or told
    return restore.restored(job.records(), notes, kept, replace(settings, to=to) if to else None)


def lines(path: Path) -> Iterator[Record]:
    """The lines of a side file."""
    with path.open("rb") as file:
        yield from of_lines(file, str(path))


def convert(pairs: Pairs, framing: Framing, targets: Targets, stdout: Write, watch: Watch | None) -> Tally:
    """Write every outcome to its target. Nothing appears under its name before all of it is written."""
    with written(targets) as (out, remainder, refused):
        if out is not None and framing != "document":
            out.open()
        output = Framed(stdout if out is None else out.write, framing)
        return run(pairs, output, remainder, refused, watch)


@contextmanager
def written(targets: Targets) -> Iterator[tuple[AtomicFile | None, Write, Write]]:
    """The targets, open; put in their places at the end, the records last, or removed on any failure."""
    out, remainder, refused = (
        None if path is None else AtomicFile(path) for path in (targets.out, targets.remainder, targets.refused)
    )
    files = [file for file in (remainder, refused, out) if file is not None]
    try:
        yield out, remainder.write if remainder else nowhere, refused.write if refused else nowhere
        for file in files:
            file.commit()
    except BaseException:
        for file in files:
            file.discard()
        raise


def nowhere(data: bytes) -> None:
    """Write nothing."""


def ready(targets: Targets, sources: Sequence[str], force: bool) -> None:
    """Raise `JobError` unless every target may be written, and every source be read; those that are read beside the
    records are sources too."""
    read_once(sources)
    named = targets.named()
    if len({path.resolve() for path in named}) < len(named):
        raise JobError("one file cannot take the records and what belongs beside them")
    refuse_targets(named, [source for source in sources if source != STDIN], force)


def read_once(names: Sequence[str]) -> None:
    """Raise `JobError` where what gives its bytes only once, standard input or a named pipe, is to be read twice."""
    if names.count(STDIN) > 1:
        raise JobError("standard input (-) can be read only once; name a file in all places but one")
    pipes: set[tuple[int, int]] = set()
    for name in names:
        with suppress(OSError):
            status = os.fstat(0) if name == STDIN else Path(name).stat()
            if stat.S_ISFIFO(status.st_mode):
                if (status.st_dev, status.st_ino) in pipes:
                    raise JobError(f"{name} is a pipe, and can be read only once")
                pipes.add((status.st_dev, status.st_ino))


def document(path: Path) -> Any:
    """The JSON document of a file that is read beside the sources. Raises `JobError` where it is none."""
    try:
        return decode(path.read_bytes())
    except Refused as refused:
        raise JobError(f"{path}: {refused.refusals[0].message}") from refused
