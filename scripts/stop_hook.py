#!/usr/bin/env python3
"""For Claude Code's Stop hook: when a paper2code run is open in this folder and a gate has not passed, tell the agent which.

Reads the hook's JSON on stdin. Prints a decision only when a run is open; never blocks other work, and never twice in a row.
Standard library only, so that it costs nothing where there is no run.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None

FOLDER = ".paper2code_work"
FRESH = 6 * 3600  # seconds: a run that was not touched for longer is not this session's
STAGES = {1: "acquisition", 2: "contribution", 3: "ambiguity audit", 4: "code", 5: "notebook"}


def open_runs(folder: Path, now: float) -> list[tuple[Path, int]]:
    """(workspace, first stage whose gate has not passed) of the runs in a folder that were worked on lately."""
    out = []
    for job in sorted((folder / FOLDER).glob("*/job.json")):
        work = job.parent
        touched = max((path.stat().st_mtime for path in work.glob("*.*")), default=0)
        if now - touched > FRESH:
            continue
        try:
            stages = json.loads((work / "gates.json").read_text(encoding="utf-8"))["stages"]
            passed = {int(stage) for stage, entry in stages.items() if entry.get("passed") is True}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            passed = set()
        stage = next((stage for stage in STAGES if stage not in passed), None)
        if stage is not None and not nothing_to_build(work):
            out.append((work, stage))
    return out


def nothing_to_build(work: Path) -> bool:
    try:
        return "\nnothing_to_implement:" in (work / "contribution.md").read_text(encoding="utf-8")
    except OSError:
        return False


def main() -> int:
    try:
        event = json.load(sys.stdin)
    except ValueError:
        return 0
    if not isinstance(event, dict) or event.get("stop_hook_active"):
        return 0
    folder = Path(event.get("cwd") or ".")
    runs = open_runs(folder, time.time())
    if not runs:
        return 0
    work, stage = runs[-1]
    reason = (f"A paper2code run is open in {work}: gate {stage} ({STAGES[stage]}) has not passed. Run check_stage.py --status {work} and go "
              "on with that stage; or, if you are waiting for the user or cannot go on, say so and stop.")
    print(json.dumps({"decision": "block", "reason": reason}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
