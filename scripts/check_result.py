#!/usr/bin/env python3
"""All checks on any repository with its paper, without a workspace's history; also on one that this skill never wrote."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  check_result.py lora --paper .paper2code_work/2106.09685
  check_result.py lora --paper 2106.09685v2.pdf
  check_result.py . --paper paper.json --annotate github
  check_result.py lora --paper source.tar.gz --json --out findings.json
  check_result.py lora --paper .paper2code_work/2106.09685 --lock
  check_result.py lora                        (against its lock file alone)
"""


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser(
        "Check a repository against its paper: every quote, place, number, flag and file. With a workspace also its decisions. "
        "The repository may be anyone's: what is false is an error there too, what only breaks this skill's conventions a warning.",
        examples=EXAMPLES,
        codes=(cli.DONE, cli.FINDINGS, cli.USAGE, cli.UNUSABLE, cli.ENVIRONMENT),
    )
    parser.add_argument("result", metavar="RESULT", help="the repository's folder")
    parser.add_argument(
        "--paper",
        metavar="PAPER_OR_WORK",
        help="a workspace, paper.json, PDF, LaTeX source (folder, .tex, archive) or HTML file of the paper; left out: only what changed since "
        "the result was locked is told",
    )
    parser.add_argument("--lock", action="store_true", help="also write paper2code.lock.json, to check by later")
    parser.add_argument("--most", type=int, default=100, metavar="K", help="show at most K findings in the text form (default 100)")
    parser.add_argument("--annotate", choices=("github",), help="print findings as annotations of GitHub Actions")
    parser.add_argument("--json", action="store_true", help="everything as JSON on stdout")
    parser.add_argument("--out", metavar="FILE", help="write the result to FILE instead of stdout")
    args = parser.parse_args(argv)
    environment.ensure()

    from paper2code.check import result
    from paper2code.show import lock

    root, shown = Path(args.result), {"as_json": args.json, "out": args.out, "annotate": args.annotate, "most": args.most}
    if args.paper is None:
        return lock.run(root, **shown)
    return result.run(root, Path(args.paper), afterwards=lock.write if args.lock else None, **shown)


if __name__ == "__main__":
    sys.exit(cli.run(main))
