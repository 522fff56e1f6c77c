"""Lay, fill, check and run the small contribution of the bundled paper for every framework, mode and type of paper.

    python benchmarks/scaffolds.py                         # gates 4 and 5 for all 54
    python benchmarks/scaffolds.py --frameworks numpy --mutants

One line each: CPU seconds of laying, what gate 4 says of the unfilled scaffold (it must fail), of the filled one, what gate 5 says, the
seconds of the notebook and, with --mutants, how many seeded faults of src/ it notices.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import scaffold_fixture as fixture  # noqa: E402
from paper2code.check.notebook import python_for  # noqa: E402
from paper2code.findings import errors  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frameworks", nargs="+", choices=fixture.FRAMEWORKS, default=fixture.FRAMEWORKS)
    parser.add_argument("--modes", nargs="+", choices=fixture.MODES, default=fixture.MODES)
    parser.add_argument("--types", nargs="+", choices=list(fixture.TYPES), default=list(fixture.TYPES))
    parser.add_argument("--mutants", action="store_true", help="also put faults into src/")
    args = parser.parse_args()
    fixture.paper()
    bad = done = 0
    print(f"{'framework':10}{'mode':13}{'type':6}{'lay s':>7}  {'unfilled':>8}  {'gate 4':>7}  {'gate 5':>7}  {'run s':>6}  faults noticed")
    for framework in args.frameworks:
        python = python_for(framework)
        for mode in args.modes:
            for kind in args.types:
                with tempfile.TemporaryDirectory() as folder:
                    started = time.process_time()
                    work, result = fixture.lay(Path(folder), kind, mode, framework)
                    laying = time.process_time() - started
                    empty = errors(fixture.gate_4(work, result).findings)
                    fixture.fill(result, framework)
                    four = fixture.gate_4(work, result)
                    five = fixture.gate_5(work, result, python, mutants=args.mutants)
                    counts = five.counts
                    noticed = f"{counts.get('faults noticed', '-')} of {counts.get('faults tried', '-')}"
                    print(
                        f"{framework:10}{mode:13}{kind:6}{laying:7.2f}  {len(empty):8}  {len(errors(four.findings)):7}  {len(errors(five.findings)):7}  "
                        f"{counts.get('seconds', '-'):>6}  {noticed}",
                        flush=True,
                    )
                    for finding in [*errors(four.findings), *errors(five.findings)]:
                        print(f"    {finding.text()[:300]}")
                    bad += not empty or not four.ok or not five.ok
                    done += 1
    print(f"{done - bad} of {done} as they should be (errors are counted in the columns of the gates; the unfilled scaffold must have some)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
