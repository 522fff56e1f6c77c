#!/usr/bin/env python3
"""Results made from one brief, side by side: what of each can be measured without asking who made it.

    python3 evals/compare.py --paper WORK with=DIR without=DIR

For each folder: quotes whose words are in the paper, of all quotes; numbers of src/ and values of configs/ that are
cited or flagged, of all; framework defaults that decide something and are left silent; whether the notebook runs, in how many seconds;
seeded faults in src/ (the same kinds for all, in every top-level function and class) that its checks notice. Nothing of a result is read
by a person here, and nothing is asked that only this skill's own layout could answer.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from paper2code import cli, environment  # noqa: E402


def measured(folder: Path, paper, framework: str, most: int) -> dict[str, str]:
    """Row name → figure of one result."""
    from paper2code.check import everything, notebook
    from paper2code.check.outcome import Outcome

    outcome = everything.check(folder, paper)
    quotes = Counter(entry["state"] for entry in outcome.anchors if entry["quote"])
    checks = Counter(finding.check for finding in outcome.findings)
    numbers, values = outcome.looked["numbers in src"], outcome.looked["config values"]
    bare = checks["census-number"] + checks["census-config"] + checks["value-not-cited"]
    out = {
        "quotes whose words are in the paper, of all": f"{quotes['verified'] + quotes['moved']} of {sum(quotes.values())}",
        "numbers and config values cited or flagged, of all": f"{numbers + values - bare} of {numbers + values}",
        "silent framework defaults": str(checks["default-silent"]),
        "places that the paper does not have": str(checks["place-missing"] + checks["place-mismatch"]),
    }
    if not most:
        return out
    book, problems = notebook.read(folder)
    if book is None:
        return out | {"notebook": problems[0].message}
    python, run = notebook.python_for(framework), Outcome()
    ran = notebook.run(book, folder, python, run)
    out["notebook"] = f"runs, {run.counts['seconds']} s" if ran else f"fails: {run.findings[-1].message[:80]}"
    notebook.MOST_MUTANTS = most
    faults = Outcome()
    notebook.bites(book, folder, [], python, framework, faults, seconds=1200.0)
    tried = faults.counts.get("faults tried beside the components", 0)
    out["seeded faults noticed, one in each function and class"] = f"{faults.counts.get('of them noticed', 0)} of {tried}"
    out["lines of src/"] = str(sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (folder / "src").rglob("*.py")))
    return out


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="NAME=DIR")
    parser.add_argument("--paper", required=True, type=Path, help="a workspace, paper.json, or a file of the paper")
    parser.add_argument("--framework", default="pytorch", choices=("pytorch", "jax", "numpy"))
    parser.add_argument("--faults", type=int, default=60, help="at most this many seeded faults in each (default 60; 0: the notebook is left alone)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    environment.ensure()
    from paper2code.check.result import paper_of

    paper, _ = paper_of(args.paper)
    results = {name: Path(folder) for name, _, folder in (one.partition("=") for one in args.results)}
    for name, folder in results.items():
        if not any((folder / "src").rglob("*.py")):
            raise cli.Stop(f"{name}: there is no Python code in {folder / 'src'}, so nothing can be measured", code=cli.USAGE,
                           expected="NAME=DIR, where DIR holds src/, configs/ and notebooks/")
    table = {name: measured(folder, paper, args.framework, args.faults) for name, folder in results.items()}
    if args.json:
        print(json.dumps(table, indent=2))
        return 0
    names = list(table)
    print(f"| | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for row in dict.fromkeys(key for figures in table.values() for key in figures):
        print(f"| {row} | {' | '.join(table[name].get(row, '–') for name in names)} |")
    return 0


if __name__ == "__main__":
    sys.exit(cli.run(main))
