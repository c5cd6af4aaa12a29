"""Pages whose commands are run by a shell, one after the other, in one folder: what they print is what the page shows.

A block is marked `sh`. A line that begins with `$ ` is a command (one that ends with a backslash goes on), and the
lines after it are what it prints. With WRITE_PAGES=1 the pages are written anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

SQLITE3 = f"""#!{sys.executable}
import sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
for row in base.execute(sys.argv[2]):
    print("|".join("" if cell is None else str(cell) for cell in row))
base.close()
"""
"""What the pages need of the program sqlite3, where that is not installed."""

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.MULTILINE)


def again(page: str, folder: Path, env: dict[str, str]) -> str:
    """A page with what its commands print now. A block without a command is only shown."""

    def made(block: re.Match[str]) -> str:
        return f"```sh\n{block_again(block[1], folder, env)}```" if block[1].startswith("$ ") else block[0]

    return BLOCK.sub(made, page)


def block_again(block: str, folder: Path, env: dict[str, str]) -> str:
    return "".join(f"$ {command}\n{printed(command, folder, env)}" for command in COMMAND.findall(block))


def printed(command: str, folder: Path, env: dict[str, str]) -> str:
    # A status of 1 says that something was refused; anything else is a page that does not work.
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdout=-1, stderr=-2, text=True, timeout=120)
    assert done.returncode in (0, 1), f"{command}\n{done.stdout}"
    return done.stdout


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Where the commands of this Python are found first, and then a program sqlite3."""
    shims = folder / "bin"
    shims.mkdir()
    (shims / "sqlite3").write_text(SQLITE3)
    (shims / "sqlite3").chmod(0o755)
    (shims / "turncodec").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m turncodec "$@"\n')
    (shims / "turncodec").chmod(0o755)
    path = os.pathsep.join([str(shims), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8", **more}


def compare(page: Path, folder: Path, env: dict[str, str]) -> None:
    """A page prints what it shows."""
    work = folder / "work"
    work.mkdir()
    made = again(page.read_text(), work, env).replace(str(work.resolve()), "/srv/app")
    if os.environ.get("WRITE_PAGES"):
        page.write_text(made)
    assert page.read_text() == made
