#!/usr/bin/env python3
"""Compare the results of one's own runs with the number a paper reports."""

import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  compare_results.py --paper 27.3 --mine 26.7 27.1 26.8 27.2 26.9
  compare_results.py --paper 27.3 --paper-std 0.2 --paper-n 5 --mine 26.7 27.1 26.8 27.2 26.9 --matters 0.3
  compare_results.py --paper 3.1 --mine 3.3 3.2 3.4 --lower-is-better --plot compared.svg
  compare_results.py --paper 27.3 --mine 26.7 27.1 26.8 --log transformer --change "label smoothing on"
  compare_results.py --csv results.csv --json
      (header metric,paper,paper_std,paper_n,mine; the runs in `mine` are separated by spaces)
"""


def main(argv=None) -> int:
    parser = cli.parser(__doc__, examples=EXAMPLES, codes=(cli.DONE, cli.FINDINGS, cli.USAGE, cli.ENVIRONMENT))
    parser.add_argument("--paper", type=float, metavar="X", help="the number the paper reports")
    parser.add_argument("--paper-std", type=float, metavar="S", help="its standard deviation over runs, where given")
    parser.add_argument("--paper-n", type=int, metavar="N", help="the number of runs it is the mean of, where the paper says so")
    parser.add_argument("--mine", type=float, nargs="+", metavar="X", help="my results, one a seed")
    parser.add_argument("--metric", default="metric", help="its name")
    parser.add_argument("--csv", metavar="FILE", help="several metrics at once, with correction for their number")
    parser.add_argument("--lower-is-better", action="store_true", help="for losses, error rates, FID")
    parser.add_argument("--matters", type=float, metavar="D", help="the smallest difference that would count")
    parser.add_argument("--test-size", type=int, metavar="N", help="examples in the test set, for accuracies and the like")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level (default 0.95)")
    parser.add_argument("--log", metavar="RESULT", help="also add a row to the log of attempts in RESULT's REPRODUCTION_NOTES.md")
    parser.add_argument("--change", metavar="TEXT", default="", help="with --log: what was changed against the run before")
    parser.add_argument("--plot", metavar="FILE", help="also draw it, as SVG")
    parser.add_argument("--json", action="store_true", help="the result for a machine")
    parser.add_argument("--out", metavar="FILE", help="write the result there instead of printing it")
    args = parser.parse_args(argv)
    if args.csv is None and (args.paper is None or not args.mine):
        parser.error("give --paper and --mine, or --csv (see the examples in --help)")
    if args.csv is not None and (args.paper is not None or args.mine):
        parser.error("--csv holds the numbers itself: leave out --paper and --mine")
    if args.log and not args.change:
        parser.error("--log needs --change: what was changed against the run before")
    environment.ensure("stats")

    from dataclasses import asdict

    from paper2code import files
    from paper2code.reproduce import attempts, plot, statistics, telling

    if args.csv:
        rows = telling.read_csv(args.csv)
    else:
        rows = [(args.metric, statistics.Reported(args.paper, args.paper_std, args.paper_n), args.mine)]
    try:
        results = statistics.compare_many(rows, level=args.level, matters=args.matters, test_size=args.test_size,
                                          higher_is_better=not args.lower_is_better)
    except ValueError as problem:
        raise cli.Stop(str(problem), code=cli.USAGE, fix="see the examples in --help") from problem
    if args.plot:
        files.write(args.plot, plot.svg([(one, mine) for one, (_, _, mine) in zip(results, rows, strict=True)]))
        cli.say(f"written: {args.plot}")
    if args.log:
        outcome = "; ".join(f"{one.metric} {one.mean:.4g} of {one.n} (paper {one.reported.value:g})" for one in results)
        cli.say(f"logged: {attempts.append(Path(args.log), args.change, outcome, '; '.join(one.verdict for one in results))}")
    cli.show("\n\n".join(telling.text(one) for one in results), data={"comparisons": [asdict(one) for one in results]},
             as_json=args.json, out=args.out)
    return cli.FINDINGS if any(one.verdict == statistics.INCONSISTENT for one in results) else cli.DONE


if __name__ == "__main__":
    sys.exit(cli.run(main))
