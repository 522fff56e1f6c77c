#!/usr/bin/env python3
"""Kill fetch_paper.py at random moments, run it again, and see whether it ends as an undisturbed run does.

    python3 benchmarks/interruption.py [--times 50] [--seed 0]

Everything comes from a stand-in server on this machine. Prints one line a kill and a count; exit code 1 unless all are equal.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from paper2code import cli, environment  # noqa: E402

ID = "2101.00001"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")


def start(folder: Path, env: dict) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, str(ROOT / "scripts" / "fetch_paper.py"), ID, "work"], cwd=folder, env=env,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def tree(folder: Path) -> dict[str, str]:
    """Name → hash of every file of a workspace, the times of day taken out."""
    out = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != ".lock":
            data = path.read_bytes()
            if path.suffix in (".json", ".md"):
                data = TIME.sub("<time>", data.decode("utf-8")).encode()
            out[path.relative_to(folder).as_posix()] = hashlib.sha256(data).hexdigest()
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    environment.ensure()
    from standin import Served, Standin

    chance = random.Random(args.seed)
    equal = 0
    with Standin({ID: Served()}) as server, tempfile.TemporaryDirectory() as scratch:
        def env(name: str) -> dict:
            return {**os.environ, **server.environ(), "PAPER2CODE_DELAY": "0", "PAPER2CODE_CACHE": str(Path(scratch, name, "cache")),
                    "PAPER2CODE_PYTHON": sys.executable}

        Path(scratch, "whole").mkdir()
        took = []
        for _ in range(2):  # the second has its bytecode, like the runs that follow
            began = time.monotonic()
            if start(Path(scratch, "whole"), env("whole")).wait() != 0:
                raise cli.Stop("an undisturbed run fails", code=cli.FINDINGS)
            took.append(time.monotonic() - began)
        wanted = tree(Path(scratch, "whole", "work"))
        for number in range(1, args.times + 1):
            name = f"run{number}"
            folder = Path(scratch, name)
            folder.mkdir()
            process = start(folder, env(name))
            moment = chance.uniform(0.05, 1.0) * min(took)
            time.sleep(moment)
            killed = process.poll() is None
            os.killpg(process.pid, signal.SIGKILL) if killed else None
            process.wait()
            there = sum(path.is_file() for path in folder.rglob("work/*"))
            code = start(folder, env(name)).wait()
            got = tree(folder / "work")
            same = code == 0 and got == wanted
            equal += same
            differ = sorted(key for key in got.keys() | wanted.keys() if got.get(key) != wanted.get(key))
            print(f"{number:>3}  killed after {moment:4.2f} s{'' if killed else ' (had ended)'}, {there} files there  "
                  f"{'same' if same else f'DIFFERENT: exit {code}, {differ[:5]}'}", flush=True)
    print(f"{equal} of {args.times} end as an undisturbed run does")
    return cli.DONE if equal == args.times else cli.FINDINGS


if __name__ == "__main__":
    sys.exit(cli.run(main))
