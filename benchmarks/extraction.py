#!/usr/bin/env python3
"""Structure extraction on a folder of real papers, by route: F1 against a truth, CPU time, peak memory, cost against pages.

    python benchmarks/extraction.py --papers DIR [--scorer FILE] [--route ROUTE …] [--only ID …] [--work DIR] [--json FILE]

DIR holds one folder a paper: paper.pdf, source/, paper.html (what there is) and truth.json. The scorer is a program that
takes WORK=TRUTH pairs, compares each WORK/paper.json with TRUTH/truth.json, and writes precision, recall and F1 with --json.
Every paper is read in a process of its own, so that its time and memory are its own (start and imports included).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

SCORER = ROOT.parent / "shared" / "tools" / "score_extraction.py"
ROUTES = {"source+PDF": {"source": "source", "pdf": "paper.pdf"}, "HTML": {"html": "paper.html"}, "PDF": {"pdf": "paper.pdf"}}
# F1 to reach by route, in the routes' order; for footnotes recall, and below it the largest share of false ones.
TARGETS = {
    "sections": (0.985, 0.97, 0.965), "appendix": (0.98, 0.95, 0.92), "eq.numbers": (0.985, 0.90, 0.88),
    "equations": (0.96, 0.85, None), "algorithms": (0.97, 0.90, 0.88), "alg.lines": (0.93, 0.75, 0.70),
    "tables": (0.98, 0.95, 0.95), "cells": (0.93, 0.90, 0.68), "figures": (0.98, 0.97, 0.97), "footnotes": (0.95, 0.95, 0.88),
    "official": (0.93, None, 0.90),
}
MOST_FALSE = 0.05  # footnotes
CPU = {"source+PDF": ("s a paper", 2.0), "HTML": ("s a paper", 1.0), "PDF": ("s a page", 1.0)}  # medians
BUCKETS = ((1, 10), (11, 20), (21, 30), (31, 10_000))  # pages


def read_one(route: str, folder: Path, work: Path) -> dict:
    """Read one paper by one route, save paper.json and the code links; what it cost. Runs in a process of its own."""
    import resource

    from paper2code import files
    from paper2code.find import code
    from paper2code.read.open import read_all

    started = time.perf_counter()
    paper, failed = read_all({role: folder / name for role, name in ROUTES[route].items()}, lambda line: None)
    if failed:
        raise SystemExit(f"not read: {failed}")
    paper.save(work / "paper.json")
    used = resource.getrusage(resource.RUSAGE_SELF)
    files.write_json(work / "paper_metadata.json", {"official_code": code.rank(paper)})
    return {"cpu": used.ru_utime + used.ru_stime, "wall": time.perf_counter() - started, "memory": used.ru_maxrss / 1024,
            "recall": paper.measures.get("word_recall")}


def pages_of(folder: Path) -> int:
    import pypdfium2

    document = pypdfium2.PdfDocument(folder / "paper.pdf")
    try:
        return len(document)
    finally:
        document.close()


def run(route: str, folders: list[Path], work: Path) -> dict[str, dict]:
    """Read all papers by one route; by paper its cost, or why it failed."""
    out = {}
    for folder in folders:
        into = work / route.replace("+", "-") / folder.name
        into.mkdir(parents=True, exist_ok=True)
        (into / "paper.json").unlink(missing_ok=True)
        done = subprocess.run([sys.executable, __file__, "--one", route, str(folder), str(into)], capture_output=True, text=True,
                              encoding="utf-8", timeout=1800)
        try:
            out[folder.name] = json.loads(done.stdout.splitlines()[-1])
        except (IndexError, json.JSONDecodeError):
            out[folder.name] = {"failed": (done.stderr.strip().splitlines() or ["no output"])[-1]}
        out[folder.name]["pages"] = pages_of(folder)
        print(f"{route:<11}{folder.name:<18}{told(out[folder.name])}", file=sys.stderr, flush=True)
    return out


def told(cost: dict) -> str:
    if "failed" in cost:
        return f"FAILED: {cost['failed'][:120]}"
    recall = f", {cost['recall']:.1%} of the PDF's words" if cost["recall"] is not None else ""
    return f"{cost['cpu']:6.2f} s CPU, {cost['memory']:4.0f} MB, {cost['pages']} pages{recall}"


def score(scorer: Path, work: Path, route: str, folders: list[Path]) -> dict[str, dict]:
    figures = work / f"{route.replace('+', '-')}.json"
    pairs = [f"{work / route.replace('+', '-') / folder.name}={folder}" for folder in folders]
    done = subprocess.run([sys.executable, str(scorer), *pairs, "--json", str(figures)], capture_output=True, text=True, encoding="utf-8")
    if done.returncode or not figures.is_file():
        raise SystemExit(f"error: the scorer failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return json.loads(figures.read_text(encoding="utf-8"))


def judged(kind: str, scores: dict[str, dict], route: str) -> tuple[str, bool]:
    """Our figure beside the target, and whether it is reached."""
    target = TARGETS[kind][list(ROUTES).index(route)]
    figure = scores.get(kind)
    if target is None or figure is None or not figure["truth"]:
        return "–", True
    ours, reached = (figure["recall"], True) if kind == "footnotes" else (figure["f1"], True)
    reached = ours >= target
    note = ""
    if kind == "footnotes":
        false = 1 - figure["precision"]
        reached = reached and false <= MOST_FALSE
        note = f", {false:.1%} false"
    return f"{ours:.3f} ({target:.3f}){note}{'' if reached else ' <'}", reached


def table(scores: dict[str, dict[str, dict]]) -> tuple[str, int]:
    lines = ["F1, in brackets the target (footnotes: recall); < marks what is missed",
             f"{'':<12}" + "".join(f"{route:<30}" for route in scores)]
    missed = 0
    for kind in TARGETS:
        cells = [judged(kind, figures, route) for route, figures in scores.items()]
        missed += sum(not reached for _, reached in cells)
        lines.append(f"{kind:<12}" + "".join(f"{cell:<30}" for cell, _ in cells))
    return "\n".join(lines), missed


def costs(all_costs: dict[str, dict[str, dict]]) -> tuple[str, int]:
    lines, missed = [f"{'cost':<12}{'CPU median':<28}{'slowest':<24}{'peak MB median / most':<24}failed"], 0
    for route, by_paper in all_costs.items():
        good = {name: cost for name, cost in by_paper.items() if "failed" not in cost}
        unit, target = CPU[route]
        if not good:
            lines.append(f"{route:<12}no paper was read")
            missed += 1
            continue
        each = [cost["cpu"] / (cost["pages"] if unit == "s a page" else 1) for cost in good.values()]
        slowest = max(good, key=lambda name: good[name]["cpu"])
        memory = [cost["memory"] for cost in good.values()]
        median = statistics.median(each)
        reached = median <= target and len(good) == len(by_paper)
        missed += not reached
        lines.append(f"{route:<12}{f'{median:.2f} {unit} ({target:.0f}){str() if reached else str(chr(60))}':<28}"
                     f"{good[slowest]['cpu']:.1f} s: {slowest:<15}{statistics.median(memory):>6.0f} / {max(memory):<15.0f}"
                     f"{len(by_paper) - len(good)}")
    lines.append("")
    names = [f"{low}-{high} pages" if high < 10_000 else f"over {low - 1} pages" for low, high in BUCKETS]
    lines.append(f"{'CPU s a page':<12}" + "".join(f"{name:>16}" for name in names))
    for route, by_paper in all_costs.items():
        cells = []
        for low, high in BUCKETS:
            each = [cost["cpu"] / cost["pages"] for cost in by_paper.values() if "failed" not in cost and low <= cost["pages"] <= high]
            cells.append(f"{f'{statistics.median(each):.3f} ({len(each)})' if each else '–':>16}")
        lines.append(f"{route:<12}" + "".join(cells))
    return "\n".join(lines), missed


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="exit codes: 0 every target reached, 1 some missed, 2 wrong arguments")
    parser.add_argument("--papers", type=Path, metavar="DIR")
    parser.add_argument("--scorer", type=Path, default=SCORER, metavar="FILE", help="default: %(default)s")
    parser.add_argument("--route", action="append", choices=list(ROUTES), help="only this route (may be repeated)")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="only these papers")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep what was read there (default: a temporary folder)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    parser.add_argument("--one", nargs=3, metavar=("ROUTE", "FOLDER", "INTO"), help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.one:
        print(json.dumps(read_one(args.one[0], Path(args.one[1]), Path(args.one[2]))))
        return 0
    if args.papers is None or not args.papers.is_dir():
        parser.error(f"--papers: a folder of papers was expected, not {args.papers}")
    if not args.scorer.is_file():
        parser.error(f"--scorer: {args.scorer} does not exist")
    folders = [folder for folder in sorted(args.papers.iterdir())
               if (folder / "truth.json").is_file() and (not args.only or folder.name in args.only)]
    if not folders:
        parser.error(f"no folder of {args.papers} has a truth.json" + (" and one of the names asked for" if args.only else ""))
    with tempfile.TemporaryDirectory(prefix="paper2code-extraction-") as temporary:
        work = args.work or Path(temporary)
        all_costs, scores = {}, {}
        for route in args.route or ROUTES:
            able = [folder for folder in folders if all((folder / name).exists() for name in ROUTES[route].values())]
            all_costs[route] = run(route, able, work)
            scores[route] = score(args.scorer, work, route, able)
    quality, missed = table(scores)
    cost, dear = costs(all_costs)
    print(f"{len(folders)} papers\n\n{quality}\n\n{cost}")
    print(f"\n{missed + dear} of the targets missed" if missed + dear else "\nevery target reached")
    if args.json:
        args.json.write_text(json.dumps({"scores": scores, "costs": all_costs}, indent=1) + "\n", encoding="utf-8")
    return 1 if missed + dear else 0


if __name__ == "__main__":
    from paper2code import environment

    environment.ensure()
    sys.exit(main())
