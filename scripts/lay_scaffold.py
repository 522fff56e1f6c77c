"""Lay the result folder from contribution.md, ledger.yaml and paper.json; run again, it updates what it laid."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  python3 lay_scaffold.py .paper2code_work/2106.09685
  python3 lay_scaffold.py .paper2code_work/2106.09685 --out lora --json
  python3 lay_scaffold.py .paper2code_work/2106.09685 lora
"""


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser(
        "Lay the result folder: configs/base.yaml filled, src/ with a class or function for each component, notes, "
        "README and notebook. Run again after the ledger changed, it updates what it laid and keeps what was written "
        "by hand.",
        examples=EXAMPLES,
        codes=(cli.DONE, cli.USAGE, cli.ENVIRONMENT, cli.GATE_ORDER),
    )
    parser.add_argument("work", type=Path, metavar="WORK", help="the workspace, with gate 3 passed")
    parser.add_argument("result", type=Path, nargs="?", metavar="RESULT", help="the result folder, instead of --out")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the result folder (default: the title as a slug, in the current folder)")
    parser.add_argument("--result", type=Path, dest="named", help=argparse.SUPPRESS)  # its name in check_stage.py
    parser.add_argument("--json", action="store_true", help="what was laid, as JSON")
    args = parser.parse_args(argv)
    environment.ensure()
    from paper2code.check import stages
    from paper2code.show import scaffold

    named = {each.resolve() for each in (args.result, args.out, args.named) if each is not None}
    if len(named) > 1:
        parser.error("two result folders are named; name one")
    out = args.result or args.out or args.named
    work = stages.workspace(args.work)
    stages.open_gates(work).must_be_open(4)
    laid = scaffold.lay(work, out)
    lines = [f"result: {laid.folder}"]
    for word, names in (
        ("new", laid.new),
        ("updated", laid.updated),
        ("merged with what was written by hand", laid.merged),
        ("unchanged", laid.kept),
    ):
        if names:
            lines.append(f"{word}: {', '.join(names)}")
    for name, line, text in laid.conflicts:
        lines.append(
            f"{name}:{line}: written by hand and also changed by the ledger; yours was kept. The ledger's lines:\n"
            + "\n".join(f"    {row}" for row in text.splitlines()[:12])
        )
    if laid.new:
        lines.append("to write: " + "; ".join(laid.to_write))
    lines.append(f"next: write what says FILL IN, then check_stage.py 4 {args.work} --result {laid.folder}")
    cli.show(
        "\n".join(lines),
        data={
            "result": str(laid.folder),
            "new": laid.new,
            "updated": laid.updated,
            "merged": laid.merged,
            "unchanged": laid.kept,
            "to_write": laid.to_write,
            "conflicts": [{"file": n, "line": at, "laid": text} for n, at, text in laid.conflicts],
        },
        as_json=args.json,
    )
    return cli.DONE


if __name__ == "__main__":
    sys.exit(cli.run(main))
