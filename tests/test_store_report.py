"""The report of a store: its schema, what it says, and how the page looks in a browser, if there is one."""

from __future__ import annotations

import html
import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import stores
from stores import NEVER, PLAIN, REASONS, migrate

ROOT = Path(__file__).resolve().parent.parent
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = {
    "messages": [{"role": "user", "content": "hi", "<script>alert(1)</script>": "\u202e</pre><img src=x>" + "w" * 400}]
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of files of all kinds, one with names and texts that would break a page that took them as they are."""
    monkeypatch.chdir(tmp_path)
    stores.write_store(Path("in"))
    lines = [json.dumps(record, ensure_ascii=False).encode() for record in (HOSTILE, PLAIN, REASONS, NEVER)]
    stores.write_lines(Path("in", "0" * 90 + "&<b>.jsonl"), lines)
    migrate("in", Path("out"))
    return Path("out")


def report(store: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((store / "report.json").read_text())
    return made


def test_schema(store: Path) -> None:
    """The report is as the schema says, before and after a retry."""
    schema = json.loads((ROOT / "specs/schemas/report.json").read_text())
    jsonschema.validate(report(store), schema)
    stores.turncodec("retry", store, "--allow", "reasoning,unknown_field")
    jsonschema.validate(report(store), schema)


def test_what_it_says(store: Path) -> None:
    """The codes add up with the refused files, examples mark the place, and say what allowing would do."""
    made = report(store)
    lines = [
        json.loads(line) for path in (store / "refused").rglob("*.jsonl") for line in path.read_bytes().splitlines()
    ]
    for code in made["refusals"]:
        concerned = [line for line in lines if code["code"] in {refusal["code"] for refusal in line["refusals"]}]
        assert code["records"] == len(concerned)
    assert made["totals"]["refused"] == len(lines)

    codes = {code["code"]: code for code in made["refusals"]}
    reasoning = codes["reasoning"]["examples"][0]
    here = [line["text"].strip() for line in reasoning["before"] if line["is_here"]]
    assert here == ['"reasoning_content": "because"']
    told = "\n".join(line["text"] for line in reasoning["allowed"])
    assert "--allow reasoning" in told
    assert '"path": "/messages/1/reasoning_content"' in told
    assert codes["orphan_result"]["allowing"] is None
    assert "cannot be allowed" in codes["orphan_result"]["examples"][0]["allowed"][0]["text"]


def test_only_timings_differ(store: Path) -> None:
    """Two runs on the same sources report the same, but for how long they took."""
    migrate("in", Path("again"), "-j", "1")
    one, other = report(store), report(Path("again"))
    for made in (one, other):
        del made["timings"]
    assert one == other


class Page(html.parser.HTMLParser):
    """The tags of a page, those that are open, and its text."""

    VOID = ("meta", "rect", "img", "br", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_nothing_else(store: Path) -> None:
    """No script, nothing to fetch, every tag closed, and whatever stands in a record is text."""
    text = (store / "report.html").read_text()
    page = Page(text)

    assert page.open == []
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "audio", "video", "form"}
    assert not any(
        key in attributes for _, attributes in page.tags for key in ("src", "href", "onclick", "onload", "style")
    )
    assert not re.search(r"https?:|//\w|url\(|@import", text.replace("<!doctype html>", ""))
    assert "default-src 'none'" in text
    assert "<script>alert(1)</script>" in page.text
    assert "&<b>.jsonl" in page.text
    assert "\u202e" not in text


def test_the_page_tells_all(store: Path) -> None:
    """Totals, a bar for each file and each code, the meaning of each code and its first example."""
    page, made = Page((store / "report.html").read_text()), report(store)
    for code in made["refusals"]:
        assert code["meaning"] in page.text
        assert code["examples"][0]["message"] in page.text
    assert sum(tag == "svg" for tag, _ in page.tags) == len(made["files"]) + len(made["refusals"])
    assert f"{made['totals']['translated']:,}" in page.text
    assert "what allowing would do" in page.text


PROBE = """
<script>addEventListener("load", () => {
  const parts = [...document.querySelectorAll("main *")];
  const wide = parts.filter(e => e.getBoundingClientRect().right > innerWidth + 1);
  parent.postMessage(JSON.stringify({
    width: innerWidth, page: document.documentElement.scrollWidth, wide: wide.map(e => e.tagName + e.className),
    marks: document.querySelectorAll("mark").length,
    bars: [...document.querySelectorAll("rect")].filter(e => e.getBoundingClientRect().width > 0).length,
  }), "*");
})</script>
"""
FRAME = """<script>addEventListener("message", e => { document.title = e.data })</script>
<iframe src="probed.html" style="border: 0; width: %dpx; height: 900px"></iframe>
"""


@pytest.mark.skipif(BROWSER is None, reason="there is no browser here")
@pytest.mark.parametrize("width", [360, 1280])
def test_in_a_browser(store: Path, width: int) -> None:
    """In a real browser without a network, at the width of a phone and of a desk: nothing runs out of the page.

    A window of a browser has a least width, so the page is seen in a frame. It forbids scripts, so what is measured is
    a copy that does not.
    """
    assert BROWSER is not None
    text = (store / "report.html").read_text()
    Path("probed.html").write_text(re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", PROBE + "</body>"))
    Path("frame.html").write_text(FRAME % width)
    options = [
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        "--disable-gpu",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--dump-dom",
    ]
    words = [BROWSER, *options, "--window-size=1400,1000", Path("frame.html").resolve().as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title, done.stderr
    told = json.loads(html.unescape(title[1]))

    assert told["width"] == told["page"] == width
    assert told["wide"] == []
    assert told["marks"] > 0
    assert told["bars"] > 0
