#!/usr/bin/env python3
"""The gate of a stage: 0 when it passed, else every failure with file, line, what was expected and how to mend it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  check_stage.py 1 .paper2code_work/2106.09685
  check_stage.py 3 .paper2code_work/2106.09685 --json
  check_stage.py 4 .paper2code_work/2106.09685 --result lora
  check_stage.py --status .paper2code_work/2106.09685
  check_stage.py --summary .paper2code_work/2106.09685 --result lora
  check_stage.py --self-test
"""


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser(
        "The gate of a stage, 1 to 5. A gate runs only when the one before it has passed on the files as they are now; "
        "what passed is kept in gates.json of the workspace.",
        examples=EXAMPLES,
        codes=(cli.DONE, cli.FINDINGS, cli.USAGE, cli.UNUSABLE, cli.ENVIRONMENT, cli.GATE_ORDER),
    )
    parser.add_argument("what", nargs="*", metavar="N WORK", help="the stage (1 to 5) and the workspace that fetch_paper.py made")
    parser.add_argument(
        "--result", metavar="DIR", help="the folder of the generated code (stages 4 and 5; remembered afterwards)"
    )
    parser.add_argument("--status", action="store_true", help="where the run stands and what comes next (takes WORK alone)")
    parser.add_argument("--summary", action="store_true",
                        help="the end of a run, once all gates have passed: what was made, the lock file; removes WORK under .paper2code_work")
    parser.add_argument("--keep", action="store_true", help="with --summary: keep the workspace")
    parser.add_argument("--self-test", action="store_true", help="every check on a good case and on known-bad ones")
    parser.add_argument("--most", type=int, default=40, metavar="K", help="show at most K findings in the text form (default 40)")
    parser.add_argument("--annotate", choices=("github",), help="print findings as annotations of GitHub Actions")
    parser.add_argument("--json", action="store_true", help="everything as JSON on stdout")
    parser.add_argument("--out", metavar="FILE", help="write the result to FILE instead of stdout")
    args = parser.parse_args(argv)
    stage, work = None, None
    if args.self_test:
        if args.what:
            parser.error("--self-test takes no stage and no workspace")
    elif args.status or args.summary:
        if len(args.what) != 1:
            parser.error("--status and --summary take the workspace alone: check_stage.py --status WORK")
        work = args.what[0]
    else:
        if len(args.what) != 2 or args.what[0] not in "12345" or len(args.what[0]) != 1:
            parser.error(
                "two arguments are needed, the stage (1 to 5) and the workspace: check_stage.py 3 .paper2code_work/2106.09685"
            )
        stage, work = int(args.what[0]), args.what[1]
    environment.ensure()

    from paper2code.check import selftest, stages
    from paper2code.show import audit

    def render(stage: int, work) -> None:
        """What is made of a stage's file: after stage 2 the rows that the audit has to fill, after stage 3 the audit to read."""
        if stage == 2:
            audit.write_skeleton(work)
        if stage == 3:
            audit.render(work)

    if args.self_test:
        return selftest.main(as_json=args.json, out=args.out)
    if args.summary:
        from paper2code.show import closing

        return closing.run(Path(work), Path(args.result) if args.result else None, keep=args.keep, as_json=args.json, out=args.out)
    if args.status:
        return stages.status(Path(work), as_json=args.json, out=args.out)
    return stages.run(
        stage,
        Path(work),
        Path(args.result) if args.result else None,
        as_json=args.json,
        out=args.out,
        annotate=args.annotate,
        most=args.most,
        afterwards=render,
    )


if __name__ == "__main__":
    sys.exit(cli.run(main))
