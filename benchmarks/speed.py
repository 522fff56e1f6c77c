#!/usr/bin/env python3
"""How long things take and how much memory: a table of figures beside what they should be.

    python3 benchmarks/speed.py                               on the bundled paper
    python3 benchmarks/speed.py --papers DIR                  also on a folder of papers (paper.pdf, source/, paper.html each)
    python3 benchmarks/speed.py --papers DIR --longest 3      of those, the three longest PDFs

CPU seconds are the process's own and its children's; on a busy machine they are a little higher than on a quiet one, wall time is much.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "scripts"
BUNDLED = ROOT / "examples" / "staggered_gates" / "paper"


def measure(*command: str) -> tuple[float, float, int, int]:
    """(wall seconds, CPU seconds, peak megabytes, exit code) of a command and all it starts."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # a process of its own, so that the children's usage is this command's alone
        os.close(reader)
        started = time.perf_counter()
        code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = [time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, code]
        os.write(writer, json.dumps(told).encode())
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 4096)
    os.waitpid(child, 0)
    os.close(reader)
    return tuple(json.loads(told))


def row(what: str, figure: str, wanted: str = "", good: bool | None = None) -> None:
    print(f"{what:<64}{figure:>18}  {wanted:<18}{'' if good is None else 'reached' if good else 'NOT REACHED'}", flush=True)


def pages(pdf: Path) -> int:
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    try:
        return len(document)
    finally:
        document.close()


def repository(folder: Path, paper_file: Path, anchors: int = 300, lines: int = 2000) -> tuple[int, int]:
    """A repository whose functions quote sentences of the paper, one in ten of them altered; (lines, anchors) of its src/."""
    sys.path.insert(0, str(SCRIPTS))
    from paper2code.find.statements import statements
    from paper2code.paper import Paper

    paper = Paper.from_data(json.loads(paper_file.read_text(encoding="utf-8")))
    said = [one for one in statements(paper) if one.kind == "paragraph" and one.place.startswith("§") and 8 <= len(one.text.split()) <= 60]
    said = [one for one in said if not set(one.text) & set('"\\')]
    chosen = [said[at * len(said) // anchors] for at in range(anchors)]
    body = -(-lines // anchors) - 6
    (folder / "src").mkdir(parents=True)
    total = 0
    for part in range(6):
        text = ['"""Part of the model."""', "", "from torch import Tensor", ""]
        for at, one in enumerate(chosen[part::6]):
            quote = " ".join(one.text.split())
            quote = quote.replace(" the ", " every ", 1) if at % 10 == 9 else quote
            text += ["", f"def step_{part}_{at}(x: Tensor) -> Tensor:", f'    """{one.place.split(",")[0]} — "{quote}"', '    """']
            text += [f"    x = x + x.mean(dim=-1, keepdim=True)  # (batch, {name})" for name in "abcdefgh"[:body]] + ["    return x", ""]
        (folder / "src" / f"part_{part}.py").write_text("\n".join(text) + "\n", encoding="utf-8")
        total += len(text)
    return total, len(chosen)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=Path)
    parser.add_argument("--longest", type=int, default=3, help="of the folder, the N longest PDFs (default 3)")
    args = parser.parse_args()
    python = sys.executable
    plain = min(measure(python, "-c", "pass")[0] for _ in range(5))
    helps = {path.name: min(measure(python, str(path), "--help")[0] for _ in range(3)) for path in SCRIPTS.glob("*.py") if path.stem != "stop_hook"}
    slowest = max(helps, key=helps.get)
    row(f"--help, slowest of {len(helps)} ({slowest})", f"{helps[slowest]:.2f} s wall", "< 0.3 s", helps[slowest] < 0.3)
    start = min(measure(python, str(SCRIPTS / "doctor.py"), "--help")[0] for _ in range(5))
    row("a start that needs no environment, over plain Python", f"{start - plain:.2f} s wall", "< 0.15 s", start - plain < 0.15)
    with tempfile.TemporaryDirectory() as folder:
        todo = [("bundled", BUNDLED)]
        if args.papers:
            found = [path for path in args.papers.iterdir() if (path / "paper.pdf").is_file()]
            found.sort(key=lambda path: pages(path / "paper.pdf"), reverse=True)
            todo += [(path.name, path) for path in found[: args.longest]]
        for name, paper in todo:
            count = pages(paper / "paper.pdf")
            wall, cpu, memory, code = measure(python, str(SCRIPTS / "fetch_paper.py"), str(paper / "paper.pdf"), f"{folder}/{name}-pdf")
            row(f"{name}: PDF alone, {count} pages", f"{cpu / count:.2f} s CPU a page", "< 1.2", cpu / count < 1.2 and code == 0)
            row("    peak memory", f"{memory} MB", "< 700 MB", memory < 700)
            if count >= 30:
                size = repository(Path(folder) / f"{name}-code", Path(folder) / f"{name}-pdf" / "paper.json")
                wall, cpu, memory, code = measure(python, str(SCRIPTS / "check_result.py"), f"{folder}/{name}-code", "--paper",
                                                  f"{folder}/{name}-pdf/paper.json")
                row(f"    check_result.py: {size[0]} lines, {size[1]} anchors, {count} pages", f"{cpu:.1f} s CPU", "< 3 s", cpu < 3 and code == 1)
                row("    peak memory", f"{memory} MB", "< 500 MB", memory < 500)
            if (paper / "source").is_dir():
                wall, cpu, memory, code = measure(python, str(SCRIPTS / "fetch_paper.py"), str(paper), f"{folder}/{name}-all")
                wanted = 4 * max(1, count / 15)
                row(f"{name}: LaTeX, HTML and PDF, {count} pages", f"{cpu:.1f} s CPU", f"< {wanted:.1f} s", cpu < wanted and code == 0)
                row("    peak memory", f"{memory} MB", "< 700 MB", memory < 700)
    return 0


if __name__ == "__main__":
    sys.exit(main())
