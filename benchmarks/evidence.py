#!/usr/bin/env python3
"""Score the evidence sweep and the official-code ranking on a folder of real papers.

    python benchmarks/evidence.py --papers DIR [--only ID …] [--read auto|latex|html|pdf] [--official] [--show N] [--json FILE]

DIR holds one folder a paper: paper.pdf, source/, paper.html (what there is), meta.json. The labels are in
`evidence_labels.yaml` (what the papers state, labelled by hand) and `evidence_judged.yaml` (which sentences that the sweep
listed for the most asked items do state them, judged by hand; a sentence is known by a hash of its letters and digits).

    recall      labelled values that a statement of that item holds, in that place
    anywhere    the same, wherever the statement stands
    precision   judged sentences that do state the item
    official    the first link is the authors' own (meta.json's official_code); papers without one: none at 0.5 or more

Papers called `tuned` were looked at while the sweep was written; `held_out` ones were labelled afterwards.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import time
from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

MOST_ASKED = ("learning-rate", "batch-size", "training-length", "optimiser", "dropout-rate", "weight-decay", "warm-up", "depth",
              "hidden-size", "schedule")


def plain(text: str) -> str:
    return "".join(char for char in re.sub(r"\\[A-Za-z]+", "", text).lower() if char.isalnum())


def key(text: str) -> str:
    return hashlib.sha256(plain(text).encode("utf-8")).hexdigest()[:12]


def number(value: object) -> Decimal | None:
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None


def holds(entry, value: object) -> bool:
    """Whether a statement of the sweep holds a labelled value: among the values read, or (for words) in its text."""
    wanted = number(value)
    if wanted is None:
        folded = plain(str(value))
        return folded in plain(entry.statement.text) or any(folded in plain(v.text) for v in entry.values)
    return any(v.number is not None and (v.number.equals(wanted) or close(v.number.value, wanted)) for v in entry.values)


def close(a: Decimal, b: Decimal) -> bool:
    return a == b or (b != 0 and abs(a - b) / abs(b) < Decimal("1e-9"))


def in_place(entry, where: str) -> bool:
    """Whether a statement stands where the label says: the section (with its subsections), and the table if one is named."""
    wanted, _, item = where.partition(", ")
    place = entry.statement.place
    if item:  # a float stands in the section where its source puts it, or where it is shown: both are right
        return item in place
    return bool(re.match(re.escape(wanted) + r"(?![0-9A-Za-z])", place))


def score_sweep(swept, labels: list, tally: Counter, missed: list, name: str) -> None:
    for item, value, where in labels:
        entries = swept.evidence.get(item, [])
        stating = [entry for entry in entries if entry.tier == "states"]
        words = number(value) is None
        anywhere = any(holds(entry, value) for entry in stating) or (words and any(holds(entry, value) for entry in entries))
        here = any(holds(entry, value) and in_place(entry, where) for entry in (entries if words else stating))
        tally["labels"] += 1
        tally["anywhere"] += anywhere
        tally["recall"] += here
        if not here:
            missed.append(f"{name} {item} = {value} at {where}" + (" (found elsewhere)" if anywhere else ""))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=__doc__)
    parser.add_argument("--papers", type=Path, required=True)
    parser.add_argument("--only", nargs="*", help="ids of papers")
    parser.add_argument("--read", choices=("auto", "latex", "html", "pdf"), default="auto")
    parser.add_argument("--official", action="store_true", help="score the official-code ranking instead, on all papers of the folder")
    parser.add_argument("--keep", type=Path, help="folder for the papers read, so that a second run need not read again")
    parser.add_argument("--show", type=int, default=0, help="how many misses to print")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.official:
        return score_official(args)
    import yaml
    from paper2code.find.sweep import sweep

    here = Path(__file__).parent
    labels = yaml.safe_load((here / "evidence_labels.yaml").read_text(encoding="utf-8"))
    judged = yaml.safe_load((here / "evidence_judged.yaml").read_text(encoding="utf-8")) or {}
    result, missed, unjudged = {}, [], Counter()
    for part, papers in labels.items():
        tally: Counter = Counter()
        for name, wanted in papers.items():
            if args.only and name not in args.only:
                continue
            paper = read(args.papers / name, args.read, args.keep)
            if paper is None:
                tally["unreadable"] += 1
                continue
            started = time.process_time()
            swept = sweep(paper)
            tally["seconds"] += time.process_time() - started
            tally["papers"] += 1
            score_sweep(swept, wanted, tally, missed, name)
            verdicts = judged.get(name, {})
            for item in MOST_ASKED:
                for entry in swept.states(item):
                    verdict = verdicts.get(item, {}).get(key(entry.statement.text))
                    tally["listed"] += 1
                    if verdict is None:
                        unjudged[name] += 1
                    else:
                        tally["judged"] += 1
                        tally["true"] += verdict
        result[part] = tally
    for part, tally in result.items():
        if not tally["papers"]:
            continue
        print(f"{part}: {tally['papers']} papers, {tally['labels']} labels, recall {tally['recall'] / tally['labels']:.3f}, "
              f"anywhere {tally['anywhere'] / tally['labels']:.3f}, "
              f"precision {tally['true'] / tally['judged'] if tally['judged'] else float('nan'):.3f} "
              f"({tally['judged']} of {tally['listed']} sentences judged), {tally['seconds'] / tally['papers']:.2f} s a paper")
    for line in missed[: args.show]:
        print("  missed:", line)
    if args.json:
        args.json.write_text(json.dumps({part: dict(tally) for part, tally in result.items()}, indent=1), encoding="utf-8")
    return 0


def address(url: str | None) -> str:
    return re.sub(r"(\.git|/)$", "", re.sub(r"^https?://(www\.)?", "", (url or "").lower()))


def score_official(args: argparse.Namespace) -> int:
    """Rank the links of every paper. A PDF is ranked without what arXiv says of the paper."""
    from paper2code.find import code

    tally: Counter = Counter()
    for folder in sorted(path.parent for path in args.papers.glob("*/meta.json")):
        if args.only and folder.name not in args.only:
            continue
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        paper = read(folder, args.read, args.keep)
        if paper is None:
            continue
        known = {} if args.read == "pdf" else {key: meta.get(key) for key in ("title", "authors", "abstract", "comments")}
        found, wanted = code.rank(paper, known), address(meta.get("official_code"))
        if wanted:
            right = bool(found) and address(found[0]["url"]) == wanted
            tally["papers with code"] += 1
            tally["first is the official one"] += right
            tally["and at 0.5 or more"] += right and found[0]["confidence"] >= 0.5
        else:
            bold = [entry for entry in found if entry["confidence"] >= 0.5]
            tally["papers without"] += 1
            tally["called official wrongly"] += len(bold)
            right = not bold
        if not right:
            print(f"  {folder.name}: wanted {wanted or 'none'}, got {[(entry['url'], entry['confidence']) for entry in found[:2]]}")
    print(", ".join(f"{name}: {count}" for name, count in tally.items()) or "no paper could be read")
    if args.json:
        args.json.write_text(json.dumps(dict(tally), indent=1), encoding="utf-8")
    return 0 if tally else 1


def read(folder: Path, how: str, keep: Path | None):
    """The paper of a folder, read from all that is there ("auto") or from one source; None when that is not there."""
    from paper2code.paper import Paper
    from paper2code.read import open as reading

    kept = keep / f"{folder.name}.{how}.json" if keep else None
    if kept and kept.is_file():
        return Paper.load(kept)
    sources = {"source": folder / "source", "html": folder / "paper.html", "pdf": folder / "paper.pdf"}
    wanted = {"auto": tuple(sources), "latex": ("source",)}.get(how, (how,))
    found = {role: path for role, path in sources.items() if role in wanted and path.exists()}
    if not found:
        return None
    paper, _ = reading.read_all(found, say=lambda line: None)
    if kept:
        paper.save(kept)
    return paper


if __name__ == "__main__":
    sys.exit(main())
