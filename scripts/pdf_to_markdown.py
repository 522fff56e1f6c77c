#!/usr/bin/env python3
"""A PDF alone as Markdown, with page marks: sections, equations as their glyphs read, tables, algorithms, footnotes, references."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  pdf_to_markdown.py paper.pdf --out paper.md
  pdf_to_markdown.py paper.pdf --pages 3-5
  pdf_to_markdown.py paper.pdf --json --out paper.json      (the whole document, as fetch_paper.py keeps it)
"""


def pages(text: str) -> tuple[int, int]:
    """`3`, `3-5`: a range of pages, counted from 1."""
    match = re.fullmatch(r"\s*(\d{1,5})\s*(?:[-–:]\s*(\d{1,5})\s*)?", text)
    if not match or not int(match.group(1)) or match.group(2) and int(match.group(2)) < int(match.group(1)):
        raise cli.Stop(f"--pages {text!r} is no range of pages", code=cli.USAGE, expected="A or A-B, counted from 1, such as 3-5")
    return int(match.group(1)), int(match.group(2) or match.group(1))


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser("A PDF alone as Markdown, with page marks.", examples=EXAMPLES,
                        codes=(cli.DONE, cli.USAGE, cli.UNUSABLE, cli.ENVIRONMENT))
    parser.add_argument("pdf", metavar="PDF", help="the file")
    parser.add_argument("--pages", metavar="A-B", help="these pages alone")
    parser.add_argument("--fast", action="store_true",
                        help="without the layout model: ten times as fast, pictures told from text less well")
    parser.add_argument("--json", action="store_true", help="the document as JSON")
    parser.add_argument("--out", metavar="FILE", help="write to FILE instead of stdout")
    args = parser.parse_args(argv)
    asked = pages(args.pages) if args.pages else None
    path = Path(args.pdf).expanduser()
    if not path.exists():
        raise cli.Stop(f"there is no file {args.pdf!r}", code=cli.USAGE, expected="a PDF",
                       fix="check the path; fetch_paper.py takes arXiv ids")
    environment.ensure()

    from paper2code.read import pdf
    from paper2code.show import views

    paper = pdf.read(path, pages=asked, light=args.fast)
    for warning in paper.warnings:
        cli.say(f"warning: {warning.message}")
    if paper.hidden:
        cli.say(f"warning: {len(paper.hidden)} places of hidden text were left out; --json shows them")
    cli.show(views.markdown(paper), data=paper.data(), as_json=args.json, out=args.out)
    return cli.DONE


if __name__ == "__main__":
    sys.exit(cli.run(main))
