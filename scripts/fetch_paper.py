#!/usr/bin/env python3
"""Stage 1: a paper in (an arXiv id or address, or a local file), a workspace out."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli, environment  # noqa: E402
from paper2code.acquire import identifiers  # noqa: E402
from paper2code.workspace import FRAMEWORKS, MODES, PARTS  # noqa: E402

EXAMPLES = """
  fetch_paper.py 2106.09685
  fetch_paper.py https://arxiv.org/abs/2106.09685v2 --mode full --framework jax
  fetch_paper.py cs/0601007 work/boosting --source pdf
  fetch_paper.py paper.pdf
  fetch_paper.py paper-source/ work/mine --json
  fetch_paper.py 2106.09685 --offline        (from the cache alone)
"""


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser(
        "Stage 1: get a paper, read it, and lay out the workspace: paper.json, Markdown views, metadata, code links.",
        examples=EXAMPLES, codes=(cli.DONE, cli.USAGE, cli.UNREACHABLE, cli.UNUSABLE, cli.ENVIRONMENT))
    parser.add_argument("paper", metavar="PAPER", help=f"what to read: {identifiers.FORMS}")
    parser.add_argument("work", metavar="WORK", nargs="?", help="the workspace (default: .paper2code_work/{id}/ in this folder)")
    parser.add_argument("--mode", choices=MODES, help="how much to build (default: minimal, or what the workspace remembers)")
    parser.add_argument(
        "--framework", choices=FRAMEWORKS, help="for the code (default: pytorch, or what the workspace remembers)"
    )
    parser.add_argument("--source", choices=("auto", "latex", "html", "pdf", "text"), default="auto",
                        help="read this form of the paper alone (default: auto, all that can be had)")
    parser.add_argument("--without", choices=PARTS, action="append", metavar="PART",
                        help=f"the paper really has no {', '.join(PARTS[:-1])} or {PARTS[-1]}: gate 1 does not ask for it "
                        "(may be given several times; remembered)")
    parser.add_argument("--offline", action="store_true", help="use the cache alone")
    parser.add_argument("--no-cache", action="store_true", help="download again and keep nothing")
    parser.add_argument("--json", action="store_true", help="the closing note as JSON")
    parser.add_argument("--out", metavar="FILE", help="write the closing note to FILE instead of stdout")
    args = parser.parse_args(argv)
    if args.offline and args.no_cache:
        parser.error("--offline uses the cache alone, --no-cache does without it: choose one")
    paper = identifiers.either(args.paper)
    environment.ensure()

    from paper2code import intake

    request = intake.Request(paper, args.paper, args.mode, args.framework, args.source, args.offline, args.no_cache, args.without)
    result = intake.run(request, Path(args.work) if args.work else None)
    text, data = intake.summary(result, script=str(Path(__file__).resolve().with_name("check_stage.py")))
    cli.show(text, data=data, as_json=args.json, out=args.out)
    return cli.DONE


if __name__ == "__main__":
    sys.exit(cli.run(main))
