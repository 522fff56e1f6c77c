#!/usr/bin/env python3
"""The main job on the bundled paper: every stage and gate, no network, no account."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  demo.py
  demo.py --out /tmp/demo
"""
EXAMPLE = HERE.parent / "examples" / "staggered_gates"


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser("Run every stage on the bundled paper, with the gates, and end with the evidence report. What an agent writes "
                        "(contribution, ledger, code, notebook) is taken from the finished example.", examples=EXAMPLES,
                        codes=(cli.DONE, cli.FINDINGS, cli.USAGE, cli.ENVIRONMENT))
    parser.add_argument("--out", metavar="DIR", default="paper2code_demo", help="where to (default: paper2code_demo in this folder)")
    args = parser.parse_args(argv)
    out = Path(args.out).resolve()
    if out.exists() and not (out / "demo.json").is_file() and any(out.iterdir()):
        raise cli.Stop(f"{out} exists and was not made by this demo", code=cli.USAGE, fix="name another folder with --out")
    environment.ensure()

    from paper2code.show import demonstration

    return demonstration.run(EXAMPLE, out, HERE)


if __name__ == "__main__":
    sys.exit(cli.run(main))
