"""Run the code cells of a notebook against altered copies of its src/. Started by the gate in the environment of the notebook.

    python run_mutants.py JOB.json

The job: {"root": folder with src/, configs/ and notebooks/, "cells": [{"text", "part"}], "preload": [module], "scratch": folder,
"mutants": [{"id", "name", "file", "text"}], "seconds": for all, "memory": bytes}. One JSON line for each: {"id", "state":
killed | survived | slow | skipped, "cell", "error"}; the first, with the id "", is the unaltered notebook.
Heavy modules are imported once, each run is a fork. A fault in a component meets that component's own checks first, and the
whole notebook only when those do not notice it.
Standard library only.
"""

import bisect
import importlib
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run_cells(cells, folder, scratch, report):
    """In a process of its own: the cells in order, as one script; writes {"cell", "error"} to `report` when one fails, and ends."""
    script, starts = Path(report).with_suffix(".py"), []
    text = ""
    for cell in cells:
        starts.append(text.count("\n") + 1)
        text += cell + "\n"
    script.write_text(text, encoding="utf-8")
    os.chdir(folder)
    sys.path.insert(0, str(HERE))
    import guard

    sys.path.pop(0)
    guard.install([str(Path(folder).parent), scratch])
    failure = None
    try:
        runpy.run_path(str(script), run_name="__main__")
    except BaseException as problem:  # noqa: BLE001 - whatever a cell raises is the answer
        lines = [line for frame, line in traceback.walk_tb(problem.__traceback__) if frame.f_code.co_filename == str(script)]
        line = lines[0] if lines else getattr(problem, "lineno", None) or 1
        failure = {"cell": bisect.bisect(starts, line) - 1, "error": f"{type(problem).__name__}: {problem}"[:300]}
    Path(report).write_text(json.dumps(failure), encoding="utf-8")
    os._exit(0)


def rss(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def one(job, mutant, number, limit, cells):
    """The state of one mutant under some of the cells, and the seconds it took."""
    root, scratch = Path(job["root"]), Path(job["scratch"])
    copy, report = scratch / f"m{number}", scratch / f"m{number}.json"
    copy.mkdir()
    for name in ("src", "configs"):
        if (root / name).is_dir():
            shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "notebooks").mkdir()
    if mutant["id"]:
        (copy / mutant["file"]).write_text(mutant["text"], encoding="utf-8")
    started = time.monotonic()
    arguments = (cells, str(copy / "notebooks"), job["scratch"], str(report))
    if hasattr(os, "fork"):
        child = os.fork()
        if not child:
            try:
                os.setsid()
                null = os.open(os.devnull, os.O_RDWR)
                for stream in (0, 1, 2):
                    os.dup2(null, stream)
                run_cells(*arguments)
            finally:
                os._exit(1)
        done = poll = None
        while done is None and time.monotonic() - started < limit and rss(child) < job["memory"]:
            ended, _ = os.waitpid(child, os.WNOHANG)
            done = True if ended else None
            poll = min(0.2, (poll or 0.005) * 1.5)
            time.sleep(0 if done else poll)
        if done is None:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
    else:
        wait = scratch / f"m{number}.args"
        wait.write_text(json.dumps(arguments), encoding="utf-8")
        try:
            done = (
                subprocess.run(
                    [sys.executable, __file__, "--one", str(wait)],
                    timeout=limit,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    check=False,
                )
                is not None
            )
        except subprocess.TimeoutExpired:
            done = None
    took = time.monotonic() - started
    shutil.rmtree(copy, ignore_errors=True)
    if done is None:
        return {"id": mutant["id"], "state": "slow", "error": "ran too long or took too much memory"}, took
    try:
        failure = json.loads(report.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        failure = {"cell": None, "error": "the process died"}
    return {"id": mutant["id"], "state": "killed" if failure else "survived", **(failure or {})}, took


def main():
    if sys.argv[1] == "--one":
        run_cells(*json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")))
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    end = time.monotonic() + job["seconds"]
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]
    for name in job["preload"]:
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    limit = job["seconds"]
    alone = {}
    for number, mutant in enumerate([{"id": ""}, *job["mutants"]]):
        left = end - time.monotonic()
        if left <= 0:
            print(json.dumps({"id": mutant["id"], "state": "skipped", "error": "no time was left"}), flush=True)
            continue
        whole = [cell["text"] for cell in job["cells"]]
        name, state = mutant.get("name"), None
        if name:
            own = [cell["text"] for cell in job["cells"] if cell["part"] in ("", name)]
            if name not in alone:  # checks that lean on cells of other components cannot go first
                alone[name] = one(job, {"id": ""}, f"{number}b", min(limit, left), own)[0]["state"] == "survived"
            if alone[name]:
                state, took = one(job, mutant, f"{number}a", min(limit, left), own)
        if state is None or state["state"] == "survived":
            state, took = one(job, mutant, number, min(limit, max(end - time.monotonic(), 1.0)), whole)
        if not number:
            limit = max(10.0, 4 * took)
        print(json.dumps(state), flush=True)
        if not number and state["state"] != "survived":
            break


if __name__ == "__main__":
    main()
