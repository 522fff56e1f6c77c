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
            if (paper / "source").is_dir():
                wall, cpu, memory, code = measure(python, str(SCRIPTS / "fetch_paper.py"), str(paper), f"{folder}/{name}-all")
                wanted = 4 * max(1, count / 15)
                row(f"{name}: LaTeX, HTML and PDF, {count} pages", f"{cpu:.1f} s CPU", f"< {wanted:.1f} s", cpu < wanted and code == 0)
                row("    peak memory", f"{memory} MB", "< 700 MB", memory < 700)
    return 0


if __name__ == "__main__":
    sys.exit(main())
