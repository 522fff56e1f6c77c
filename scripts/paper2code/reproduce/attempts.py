"""The log of attempts: a table in REPRODUCTION_NOTES.md that survives the session. Rows are added, never changed."""

from __future__ import annotations

import re
from pathlib import Path

from paper2code import cli, files
from paper2code.workspace import now

NOTES = "REPRODUCTION_NOTES.md"
HEADING = "## Attempts and deviations"
HEAD = "| date | change | result | verdict |\n|---|---|---|---|\n"


def cell(text: str) -> str:
    """One line without what would break a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def append(result: Path, change: str, outcome: str, verdict: str) -> Path:
    """Add a row to the table of `result`'s notes; the section is made at the end if it is not there. Raises Stop without notes."""
    path = result / NOTES
    if not path.is_file():
        raise cli.Stop(f"{result} has no {NOTES}", code=cli.USAGE, expected="the folder of a reproduction with its notes")
    text = path.read_text(encoding="utf-8")
    row = f"| {now()[:10]} | {cell(change)} | {cell(outcome)} | {cell(verdict)} |\n"
    section = re.search(rf"^{re.escape(HEADING)}$\n(?:(?!^## ).*\n?)*", text, re.M)
    if section is None:
        return files.write(path, f"{text.rstrip()}\n\n{HEADING}\n\n{HEAD}{row}")
    body = section.group()
    rows = [found.end() for found in re.finditer(r"^\|.*\|[ \t]*\n?", body, re.M)]
    if rows:
        before = body[: rows[-1]]
        body = before + ("" if before.endswith("\n") else "\n") + row + body[rows[-1]:]
    else:
        body = f"{body.rstrip()}\n\n{HEAD}{row}\n"
    return files.write(path, text[: section.start()] + body + text[section.end():])
