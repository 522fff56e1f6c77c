#!/usr/bin/env python3
"""The structure of a paper from a Markdown or text file, or from paper.json: sections, equations, tables and the other views."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  extract_structure.py paper_text.md work/pasted
  extract_structure.py notes.txt work/notes --mode educational
  extract_structure.py .paper2code_work/2106.09685/paper.json .paper2code_work/2106.09685    (the views again)
"""


def main(argv: list[str] | None = None) -> int:
    from paper2code.workspace import FRAMEWORKS, MODES

    parser = cli.parser(
        "Lay out a workspace (paper.json and the views made from it) from a Markdown or text file, or the views alone from a "
        "paper.json. Any other file that fetch_paper.py reads is taken too.",
        examples=EXAMPLES, codes=(cli.DONE, cli.USAGE, cli.UNUSABLE, cli.ENVIRONMENT))
    parser.add_argument("paper", metavar="TEXT_OR_PAPER_JSON", help="the text, or a paper.json")
    parser.add_argument("work", metavar="WORK", help="the workspace to write to")
    parser.add_argument("--mode", choices=MODES, help="remembered for the later stages (default: minimal)")
    parser.add_argument("--framework", choices=FRAMEWORKS, help="remembered for the later stages (default: pytorch)")
    parser.add_argument("--json", action="store_true", help="the closing note as JSON")
    parser.add_argument("--out", metavar="FILE", help="write the closing note to FILE instead of stdout")
    args = parser.parse_args(argv)
    paper = Path(args.paper).expanduser()
    if not paper.exists():
        raise cli.Stop(f"there is no file {args.paper!r}", code=cli.USAGE, expected="a Markdown or text file, or a paper.json",
                       fix="check the path; fetch_paper.py takes arXiv ids")
    environment.ensure()

    from paper2code import intake

    request = intake.Request(paper, args.paper, args.mode, args.framework)
    result = intake.structure(request, Path(args.work))
    text, data = intake.summary(result, script=str(Path(__file__).resolve().with_name("check_stage.py")))
    cli.show(text, data=data, as_json=args.json, out=args.out)
    return cli.DONE


if __name__ == "__main__":
    sys.exit(cli.run(main))
