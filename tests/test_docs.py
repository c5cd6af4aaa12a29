"""Documentation that cannot go stale: what is written from the code is compared with it, what is shown is run.

    python tests/test_docs.py

writes the generated parts anew.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from loopback import provider
from pydantic import TypeAdapter

import turncodec
from turncodec.documents import PRESETS
from turncodec.lines import LINE_PRESETS
from turncodec.mapping.output import DEFAULTS
from turncodec.mapping.parameters import PARAMETERS
from turncodec.refusals import CODES, Refusal
from turncodec.remainder import Remainder
from turncodec.store.report import Report
from turncodec.stream.events import STREAMED
from turncodec.stream.to_chunks import STEPS as EVENT_STEPS
from turncodec.stream.to_events import STEPS as CHUNK_STEPS
from turncodec.tables.report import TableReport

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"

# ---------------------------------------------------------------- written from the code


def table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def parameters() -> str:
    """The table of parameters as the README shows it."""

    def name(text: str) -> str:
        return f"`{text}`" if text else ""

    rows = ((name(row.chat), name(row.responses), row.mark, row.note) for row in PARAMETERS)
    return table(("Chat Completions", "Open Responses", "", ""), rows)


def refusals() -> str:
    """The table of refusals as the README shows it."""
    rows = ((f"`{code.name}`", code.meaning, code.hint, code.allowing or "never") for code in CODES.values())
    return table(("code", "means", "what to do", "`allow`"), rows)


def gate() -> str:
    """The words of the gate as the README shows them."""
    return table(("word", "means"), ((f"`{word}`", meaning) for word, meaning in turncodec.GATE_WORDS.items()))


def presets() -> str:
    """The shapes of logs as the README shows them."""
    rows = (
        (f"`{name}`", f"`{preset.request}`", f"`{preset.response}`", preset.note) for name, preset in PRESETS.items()
    )
    lines = (
        (f"`{name}`", f"`/{preset.turn}`, one turn a line", "", preset.note) for name, preset in LINE_PRESETS.items()
    )
    return table(("`--kind`", "request", "answer", ""), chain(rows, lines))


def defaults() -> str:
    """What a response says of its request where that is not known, as the README shows it."""
    rows = ((f"`{key}`", f"`{json.dumps(value)}`") for key, value in DEFAULTS.items())
    return table(("setting", "default"), rows)


def to_events() -> str:
    """The state machine from chunks to events, as the page on streams shows it."""
    events = ((step.when, "<br>".join(f"`{name}`" for name in step.events), step.note) for step in CHUNK_STEPS.values())
    return diagram(CHUNK_STEPS) + table(("when", "events", ""), events)


def to_chunks() -> str:
    """The state machine from events to chunks, as the page on streams shows it."""
    deltas = ((step.when, "<br>".join(f"`{name}`" for name in step.delta), step.note) for step in EVENT_STEPS.values())
    return diagram(EVENT_STEPS) + table(("when", "delta", ""), deltas)


def diagram(steps: Mapping[str, Any]) -> str:
    """The states and what leads from one to the other."""
    begin, end = next(iter(steps.values())).state, [*steps.values()][-1].then
    moves: dict[tuple[str, str], list[str]] = {}
    for name, step in steps.items():
        moves.setdefault((step.state, step.then), []).append(name)
    lines = [f"    {state} --> {then}: {', '.join(names)}" for (state, then), names in moves.items()]
    drawn = ["```mermaid", "stateDiagram-v2", f"    [*] --> {begin}", *lines, f"    {end} --> [*]", "```", "", ""]
    return "\n".join(drawn)


def streamed() -> str:
    """The texts that are streamed, as the page on streams shows them."""
    rows = (
        (
            f"`{row.name}.delta`, `.done`",
            f"`{row.item}`",
            f"`{row.list}[{row.index}].{row.key}`" if row.list else f"`{row.key}`",
        )
        for row in STREAMED
    )
    return table(("events", "item", "fill"), rows)


def spark() -> str:
    """The lines for Spark, as the README shows them; it has none of its own, and does not run them."""
    (block,) = (block for block in blocks(ROOT / "docs/engines.md", "python") if "spark.read" in block)
    return f"```py\n{block}```\n"


SECTIONS = {
    "README.md": {
        "spark": spark,
        "defaults": defaults,
        "presets": presets,
        "parameters": parameters,
        "refusals": refusals,
        "gate": gate,
    },
    "docs/streams.md": {"to_events": to_events, "to_chunks": to_chunks, "streamed": streamed},
}


def page_written(page: str) -> str:
    """A page with its generated parts as the code has them now."""
    text = (ROOT / page).read_text()
    for name, made in SECTIONS[page].items():
        begin, end = f"<!-- {name}: written by tests/test_docs.py -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = before + begin + made() + end + after
    return text


def written(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def codes_for_others() -> str:
    """specs/refusals.json: the codes for implementations in any language."""
    return written([
        {
            "code": code.name,
            "meaning": code.meaning,
            "hint": code.hint,
            "allowing": code.allowing,
            "example": code.example,
        }
        for code in CODES.values()
    ])  # fmt: skip


def schema(record: type, title: str) -> str:
    made = TypeAdapter(record).json_schema()
    draft = "https://json-schema.org/draft/2020-12/schema"
    return written({"$schema": draft, **made, "title": title, "additionalProperties": False})


GENERATED = {
    "README.md": lambda: page_written("README.md"),
    "docs/streams.md": lambda: page_written("docs/streams.md"),
    "specs/refusals.json": codes_for_others,
    "specs/schemas/refusal.json": lambda: schema(Refusal, "Refusal"),
    "specs/schemas/remainder.json": lambda: schema(Remainder, "Remainder"),
    "specs/schemas/report.json": lambda: schema(Report, "Report"),
    "specs/schemas/table-report.json": lambda: schema(TableReport, "Report on a table"),
}


@pytest.mark.parametrize("name", GENERATED)
def test_generated_is_fresh(name: str) -> None:
    """What is generated from the code is what the code says now."""
    assert (ROOT / name).read_text() == GENERATED[name]()


# ---------------------------------------------------------------- shown, and run


PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that is shown."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


@every_page
def test_console(page: Path, tmp_path: Path) -> None:
    """Each command of a page prints what is shown; a file that is shown before it exists is made from that."""
    for command, shown in (entry for block in blocks(page, "console") for entry in commands(block)):
        words = shlex.split(command)
        if words[0] == "cat":
            file = tmp_path / words[1]
            if not file.exists():
                file.write_text(shown)
            actual = file.read_text()
        else:
            words = [sys.executable, "-m", *words]
            done = subprocess.run(words, cwd=tmp_path, stdout=-1, stderr=-2, text=True, timeout=60)
            actual = done.stdout

        assert actual.rstrip("\n") == shown.rstrip("\n"), command


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "engines.md"], ids=lambda page: page.name)
def test_python(page: Path) -> None:
    """The Python of a page runs, block after block, and prints what is shown beneath it. That of engines.md needs its
    engines, and is run by test_integrations.py."""
    printed = io.StringIO()
    names: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        if page.name == "streams.md":
            names["PROVIDER"] = stack.enter_context(provider())
        stack.enter_context(contextlib.redirect_stdout(printed))
        for block in blocks(page, "python"):
            exec(compile(block, page.name, "exec"), names)

    assert printed.getvalue() == "".join(blocks(page, "text"))


def test_commands_are_documented() -> None:
    """Every command of the command line has a line in the README, and a help text."""
    from turncodec.cli import cli

    text = README.read_text()
    for name, command in cli.commands.items():
        assert re.search(rf"^\| `{name}\b", text, re.MULTILINE), name
        assert command.help, name


def test_laws_are_stated() -> None:
    """Each law of the README has a test of that name, or a file of tests."""
    laws = re.search(r"^## What is promised$.*?(?=^## )", README.read_text(), re.MULTILINE | re.DOTALL)
    assert laws is not None
    names = re.findall(r"^\| ([a-z ]+) \| ", laws.group(), re.MULTILINE)
    tests = "\n".join(f"{file.name}\n{file.read_text()}" for file in sorted((ROOT / "tests").glob("test_*.py")))
    stated = [name for name in names if name != "law"]

    assert len(stated) == 10
    for name in stated:
        own = {"purity": "test_pure", "streams commute": "test_square_of"}.get(name, f"test_{name.replace(' ', '_')}")
        assert f"def {own}" in tests or f"{own}.py" in tests, name


def main() -> None:
    for name, made in GENERATED.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(made())
        sys.stderr.write(f"{name}\n")


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
