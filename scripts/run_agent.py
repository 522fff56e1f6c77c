#!/usr/bin/env python3
"""Drive an installed agent through all stages without a person: each stage a fresh call, each gate run from outside."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli, environment  # noqa: E402
from paper2code.workspace import FRAMEWORKS, MODES  # noqa: E402

EXAMPLES = """
  run_agent.py 2106.09685 --agent claude
  run_agent.py paper.pdf --agent codex --mode full --framework jax --rounds 4
  run_agent.py --list reading.txt --jobs 2 --agent claude --out papers/
      (one paper a line; the same command goes on where it stopped)
"""


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser(__doc__, examples=EXAMPLES, codes=(cli.DONE, cli.FINDINGS, cli.USAGE, cli.ENVIRONMENT))
    parser.add_argument("paper", metavar="PAPER", nargs="?", help="what fetch_paper.py takes")
    parser.add_argument("--agent", required=True, choices=("claude", "codex", "gemini", "opencode", "copilot"), help="which installed agent")
    parser.add_argument("--list", metavar="FILE", help="a reading list: one PAPER a line, # begins a comment")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="papers of the list at a time (default 1)")
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--framework", choices=FRAMEWORKS)
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="calls of the agent for one stage at most (default 3)")
    parser.add_argument("--minutes", type=float, default=60, metavar="M", help="for one call (default 60)")
    parser.add_argument("--turns", type=int, default=200, metavar="N", help="of the agent within one call, where it counts them (default 200)")
    parser.add_argument("--out", metavar="DIR", default=".", help="where workspaces and results are put (default: this folder)")
    parser.add_argument("--json", action="store_true", help="the report for a machine")
    args = parser.parse_args(argv)
    if (args.paper is None) == (args.list is None):
        parser.error("give one PAPER, or --list FILE")
    if min(args.rounds, args.jobs, args.turns) < 1 or args.minutes <= 0:
        parser.error("--rounds, --jobs, --turns and --minutes must be positive")
    environment.ensure()

    from dataclasses import asdict

    from paper2code import headless

    papers = [args.paper] if args.paper else read_list(Path(args.list))
    headless.must_have(args.agent)
    limits = headless.Limits(args.rounds, int(args.minutes * 60), args.turns)
    out = Path(args.out).resolve()
    drivers = [headless.Driver(paper if not Path(paper).exists() else str(Path(paper).resolve()), args.agent, mode=args.mode,
                               framework=args.framework, limits=limits, out=out) for paper in papers]
    records = headless.run_all(drivers, args.jobs)
    cli.show(headless.report(records), data={"runs": [asdict(record) for record in records]}, as_json=args.json)
    return cli.DONE if all(record.state == "complete" for record in records) else cli.FINDINGS


def read_list(path: Path) -> list[str]:
    try:
        lines = [re.split(r"(?:^|\s)#", line)[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as problem:
        raise cli.Stop(f"{path} cannot be read: {problem}", code=cli.USAGE, expected="a text file with one paper a line") from problem
    papers = list(dict.fromkeys(line for line in lines if line))
    if not papers:
        raise cli.Stop(f"{path} names no paper", code=cli.USAGE, expected="one paper a line")
    return papers


if __name__ == "__main__":
    sys.exit(cli.run(main))
