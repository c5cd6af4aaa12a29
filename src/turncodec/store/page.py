"""The report as one page for a person: no script, nothing from a network, readable on a phone. Knows HTML alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from turncodec.migrate.report import counted, size
from turncodec.store.progress import span
from turncodec.store.report import CodeReport, Example, FileReport, Line, Report
from turncodec.store.work import Counts

MOST_FILES = 25
"""So many files are shown one by one, those with the most refused records first."""
MOST_DIGESTS = 1000

STYLE = """
:root { color-scheme: light dark; --ok: #2f7d4f; --as: #7a8794; --no: #c2452d; --line: #8884; --mark: #ffb30044; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .25rem 0; } .quiet { opacity: .75; font-size: .9rem; }
.totals { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .5rem; padding: 0; }
.totals div { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; }
.totals dt { font-size: .9rem; } .totals dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.bars { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr) minmax(0, 2fr); gap: .25rem .75rem; }
.bars > * { min-width: 0; font-size: .9rem; } .bars svg { width: 100%; height: 1.2em; display: block; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.sides { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .75rem; }
.sides > * { min-width: 0; }
pre { margin: .25rem 0; padding: .5rem; border: 1px solid var(--line); border-radius: .5rem; font-size: .8rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: var(--mark); color: inherit; display: block; border-left: 3px solid var(--no); }
.ok { fill: var(--ok); } .as { fill: var(--as); } .no { fill: var(--no); }
.key::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .3em; }
.key.ok::before { background: var(--ok); } .key.as::before { background: var(--as); }
.key.no::before { background: var(--no); }
.bad { border-left: 4px solid var(--no); padding-left: .75rem; }
details { margin: .25rem 0; } summary { cursor: pointer; }
@media (max-width: 40rem) {
  .sides { grid-template-columns: minmax(0, 1fr); }
  .bars { grid-template-columns: minmax(0, 1fr); gap: 0; } .bars .number { text-align: left; margin-bottom: .5rem; }
}
"""

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
"""


def page(report: Report) -> str:
    """The whole page."""
    parts = [
        f"{HEAD}<title>Migration to {escape(title(report))}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
        *summary(report),
        *troubles(report),
        *by_file(report.files),
        *by_code(report.refusals),
        *details(report),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def title(report: Report) -> str:
    return {"responses": "Open Responses", "chat": "Chat Completions"}[report.options.to]


def summary(report: Report) -> Iterator[str]:
    totals, timings = report.totals, report.timings
    yield f"<h1>Migration to {title(report)}</h1>"
    done = "Every record is accounted for" if report.is_complete else "The migration is not complete"
    how = {"full": "written, read back and brought back", "values": "written and read back", "none": "written"}
    yield f"<p>{done}: each translated one was {how[report.options.verify]}, each refused one is kept whole.</p>"
    much = f"{size(timings.bytes)} in {span(timings.seconds)} with {counted(timings.workers, 'worker')}"
    yield f'<p class="quiet">{much} &middot; turncodec {escape(report.rules)}</p>'
    yield '<dl class="totals">'
    numbers = (totals.read, totals.translated, totals.refused, totals.passed_through)
    for name, number in zip(("read", "translated", "refused", "passed through"), numbers, strict=True):
        yield f"<div><dt>{name}</dt><dd>{number:,}</dd></div>"
    yield "</dl>"


def troubles(report: Report) -> Iterator[str]:
    """What keeps the migration from being complete."""
    unfinished = [file for file in report.files if file.state != "placed" or file.counted is None]
    if unfinished or report.unequal or report.totals.faults:
        yield '<section class="bad"><h2>Not in order</h2>'
        yield from (
            f"<p>{escape(file.source)}: {escape(file.why or 'not counted to the end')}</p>" for file in unfinished
        )
        yield from (
            f"<p>The numbers do not add up, a fault of turncodec: {escape(text)}</p>" for text in report.unequal
        )
        if report.totals.faults:
            said = f"{counted(report.totals.faults, 'record')} refused for a fault of turncodec"
            yield f"<p>{said}: ready-made reports are in the folder faults.</p>"
        yield "</section>"


# ---------------------------------------------------------------- charts


def by_file(files: Sequence[FileReport]) -> Iterator[str]:
    yield "<h2>Files</h2>"
    keys = (("ok", "translated"), ("as", "passed through"), ("no", "refused"))
    yield "<p>" + " ".join(f'<span class="key {key}">{name}</span>' for key, name in keys) + "</p>"
    yield '<div class="bars">'
    ranked = sorted(files, key=lambda file: (-file.counts.refused, file.name))
    for file in ranked[:MOST_FILES]:
        yield from row(file.name, file.counts, f"{outcomes(file.counts)} of {file.counts.read:,}")
    rest = ranked[MOST_FILES:]
    if rest:
        counts = sum((file.counts for file in rest), Counts())
        yield from row(f"{len(rest):,} more files", counts, f"{outcomes(counts)} of {counts.read:,}")
    yield "</div>"


def row(name: str, counts: Counts, said: str) -> Iterator[str]:
    parts = (("ok", counts.translated), ("as", counts.passed_through), ("no", counts.refused))
    yield f"<div>{escape(name)}</div>{bar(parts, counts.read, said)}"
    yield f'<div class="number">{said}</div>'


def outcomes(counts: Counts) -> str:
    named = ((counts.translated, "translated"), (counts.passed_through, "passed"), (counts.refused, "refused"))
    return ", ".join(f"{number:,} {name}" for number, name in named if number) or "nothing"


def bar(parts: Sequence[tuple[str, int]], whole: int, said: str) -> str:
    """A bar of coloured parts."""
    drawn, left = [], 0.0
    for key, number in parts:
        width = 100 * number / whole if whole else 0
        if width:
            drawn.append(f'<rect class="{key}" x="{left:.3f}" y="0" width="{width:.3f}" height="10"/>')
        left += width
    label = f'role="img" aria-label="{escape(said)}"'
    return f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" {label}>{"".join(drawn)}</svg>'


def by_code(codes: Sequence[CodeReport]) -> Iterator[str]:
    if not codes:
        return
    yield "<h2>Why records were refused</h2>"
    most = max(code.records for code in codes)
    yield '<div class="bars">'
    for code in codes:
        said = counted(code.records, "record")
        seen = max(code.records, most // 100)  # a bar that is there can be seen
        yield f"<div>{escape(code.code)}</div>{bar([('no', seen)], most, said)}"
        yield f'<div class="number">{said}</div>'
    yield "</div>"
    for code in codes:
        yield f"<h3>{escape(code.code)}</h3><p>{escape(code.meaning)}</p>"
        if code.allowing:
            yield f"<p>If it is allowed: {escape(code.allowing)}</p>"
        else:
            yield "<p>It cannot be allowed, or not for all of these records.</p>"
        for n, one in enumerate(code.examples):
            yield from example(one, is_open=n == 0)


def example(one: Example, is_open: bool) -> Iterator[str]:
    where = f"{one.file}, line {one.line:,} (record {one.ordinal:,}) {one.pointer}"
    yield f"<details{' open' if is_open else ''}><summary>{escape(where)}</summary>"
    yield f"<p>{escape(one.message)}. {escape(one.hint)}</p>"
    yield f'<div class="sides"><div><p class="quiet">the record</p>{lines(one.before)}</div>'
    yield f'<div><p class="quiet">what allowing would do</p>{lines(one.allowed)}</div></div></details>'


def lines(texts: Sequence[Line]) -> str:
    shown = [f"<mark>{escape(one.text)}</mark>" if one.is_here else f"{escape(one.text)}\n" for one in texts]
    return f"<pre>{''.join(shown)}</pre>"


# ---------------------------------------------------------------- the rest


def details(report: Report) -> Iterator[str]:
    yield "<h2>How it was done</h2>"
    given = {name: value for name, value in ((n, report.options.__getattribute__(n)) for n in OPTIONS) if value}
    told = ", ".join(f"{name} {', '.join(v) if isinstance(v, tuple) else v}" for name, v in given.items())
    yield f"<p>{escape(told)}; turncodec {escape(report.rules)}, Python {escape(report.python)}</p>"
    for retry in report.retries:
        allow = ", ".join(retry.allow) or "nothing more"
        said = f"{retry.tried:,} refused records tried again, allowing {escape(allow)}"
        yield f"<p>{said}: {retry.translated:,} translated</p>"
    if report.left_aside:
        yield f"<details><summary>{counted(len(report.left_aside), 'file')} left aside, by their names</summary>"
        yield f"<p>{escape(', '.join(report.left_aside[:1000]))}</p></details>"
    yield "<details><summary>Digests (SHA-256)</summary>"
    for file in report.files[:MOST_DIGESTS]:
        digests = {"records": file.records_digest, "remainders": file.remainders_digest, "refused": file.refused_digest}
        told = "".join(f"{name} {digest}\n" for name, digest in digests.items() if digest)
        yield f"<p>{escape(file.name)}, {size(file.bytes)}</p><pre>{escape(told)}</pre>"
    if len(report.files) > MOST_DIGESTS:
        yield f"<p>{len(report.files) - MOST_DIGESTS:,} more are in report.json</p>"
    yield "</details>"


OPTIONS = ("to", "kind", "allow", "at", "request_at", "response_at", "column", "verify")
