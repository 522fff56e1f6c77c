#!/usr/bin/env python3
"""The evidence report: one HTML page with the paper on one side, the code on the other, and every citation linked both ways."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  write_report.py lora --paper .paper2code_work/2106.09685v2
  write_report.py my_repo --paper paper.pdf --out evidence.html
  write_report.py lora --paper .paper2code_work/2106.09685v2 --text
"""


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser(__doc__, examples=EXAMPLES, codes=(cli.DONE, cli.USAGE, cli.UNUSABLE, cli.ENVIRONMENT))
    parser.add_argument("result", metavar="RESULT", help="the repository's folder")
    parser.add_argument("--paper", required=True, metavar="PAPER_OR_WORK", help="a workspace, or the paper in any form check_result.py takes")
    parser.add_argument("--out", metavar="FILE", help="where the page is written (default: evidence.html in RESULT)")
    parser.add_argument("--text", action="store_true", help="print the summary for a terminal, write no page")
    parser.add_argument("--json", action="store_true", help="print the same as JSON, write no page")
    args = parser.parse_args(argv)
    environment.ensure()

    from paper2code import files
    from paper2code.show import lock, report

    root = Path(args.result)
    made = report.gather(root, Path(args.paper))
    if args.text or args.json:
        cli.show(report.text(made), data=report.data(made), as_json=args.json, out=args.out)
        return cli.DONE
    out = Path(args.out) if args.out else root / "evidence.html"
    files.write(out, report.html(made))
    lock.write(root, made.paper, made.outcome, Path(args.paper))
    print(report.badge(made))
    print(f"report: {out}")
    return cli.DONE


if __name__ == "__main__":
    sys.exit(cli.run(main))
