"""Reading results from a CSV file, and saying a comparison in plain words."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

from paper2code import cli
from paper2code.reproduce.statistics import CONSISTENT, INCONSISTENT, Comparison, Reported

COLUMNS = ("metric", "paper", "paper_std", "paper_n", "mine")


def read_csv(path: str | Path) -> list[tuple[str, Reported, list[float]]]:
    """Rows of metric, paper's number, its spread and runs (may be empty), and my runs separated by spaces or semicolons.

    Raises cli.Stop naming the line that is wrong.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise cli.Stop(f"{path} cannot be read: {problem}", code=cli.USAGE, expected="a CSV file in UTF-8") from problem
    table = csv.DictReader(text.splitlines())
    columns = set(table.fieldnames or ())
    missing, unknown = {"metric", "paper", "mine"} - columns, columns - set(COLUMNS)
    if missing or unknown:
        told = [f"{word} {', '.join(sorted(map(str, names)))}" for word, names in (("lacks", missing), ("has", unknown)) if names]
        raise cli.Stop(f"{path}: the header {' and '.join(told)}", code=cli.USAGE, expected=",".join(COLUMNS))
    out = []
    for line, row in enumerate(table, 2):
        def numbers(name: str, row=row, line=line) -> list[float]:
            try:
                return [float(part) for part in re.split(r"[;\s]+", (row.get(name) or "").strip()) if part]
            except ValueError:
                raise cli.Stop(f"{path}:{line}: {name} is {row[name]!r}", code=cli.USAGE, expected="numbers") from None

        paper, std, runs = (numbers(name) for name in ("paper", "paper_std", "paper_n"))
        if len(paper) != 1 or len(std) > 1 or len(runs) > 1:
            raise cli.Stop(f"{path}:{line}: paper, paper_std and paper_n hold one number each", code=cli.USAGE,
                           expected="the paper's number, and its spread and number of runs or nothing")
        reported = Reported(paper[0], std[0] if std else None, int(runs[0]) if runs else None)
        out.append((row["metric"] or f"row {line}", reported, numbers("mine")))
    if not out:
        raise cli.Stop(f"{path} has a header but no rows", code=cli.USAGE, expected="one row a metric")
    return out


def text(one: Comparison) -> str:
    """The comparison for a reader who never had statistics, then the numbers for one who had."""
    given = f"{one.reported.value:g}"
    given += f" ± {one.reported.std:g}" if one.reported.std is not None else ""
    given += f" over {one.reported.runs} runs" if one.reported.runs is not None else ""
    spread = f", standard deviation {one.std:.3g}" if one.std is not None else ""
    lines = [
        f"{one.metric}: {one.verdict.upper()}",
        f"  mine: mean {one.mean:.4g} of {one.n} run{'s' * (one.n != 1)}{spread}; the paper: {given}; "
        f"difference {one.difference:+.3g}",
        f"  why: {one.reason}",
    ]
    if one.verdict == CONSISTENT:
        lines.append("  what that means: these runs give no reason to doubt the reproduction; they do not prove it")
    elif one.verdict == INCONSISTENT:
        lines.append("  what that means: chance alone would rarely bring this gap; look for a difference in what was run")
    if one.detectable is not None:
        lines.append(f"  how sharp: with {one.n} runs a true difference of {one.detectable:.3g} is found four times in five; "
                     "smaller ones mostly hide")
    if one.runs_needed is not None:
        delta, more = one.matters or abs(one.difference), one.runs_needed - one.n
        told = f"{one.runs_needed} in all would tell a difference of {delta:.3g}: {more} more" if more > 0 else \
            f"{one.runs_needed} are enough to tell a difference of {delta:.3g}, and there are {one.n}"
        lines.append(f"  how many runs: {told}")
    figures = [f"p = {one.p:.3f}"] if one.p is not None else []
    if one.adjusted_p is not None and not math.isclose(one.adjusted_p, one.p):
        figures.append(f"{one.adjusted_p:.3f} after Holm's correction")
    lines.append(f"  method: {one.method}" + (f" ({', '.join(figures)})" if figures else ""))
    return "\n".join(lines + [f"  note: {note}" for note in one.notes])
