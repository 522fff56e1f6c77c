"""The order of the stages, and `gates.json`: which gate passed on which inputs.

A gate runs only when the one before it has passed on the files as they are now. Each passed gate is recorded with the
SHA-256 of everything its verdict rests on, its counts, and a seal over all of that and the seal before it; so a changed
input, and a line of `gates.json` changed by hand, both make that gate and all later ones stale.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from paper2code import cli, environment, files, workspace
from paper2code.findings import Finding, errors
from paper2code.workspace import Workspace

SCHEMA = 1
STAGES = {1: "acquisition", 2: "contribution", 3: "ambiguity audit", 4: "code", 5: "notebook"}
PIPELINE = environment.SKILL / "pipeline"
PASSED, FAILED, STALE, OPEN, SKIPPED = "passed", "failed", "stale", "open", "does not apply"


@dataclass
class State:
    """How a stage stands: `state` is one of the words above, `why` says what changed or what is missing."""

    stage: int
    state: str
    why: str = ""
    counts: dict = field(default_factory=dict)
    time: str = ""


def protocol(stage: int) -> str:
    """The name of a stage's protocol, as an agent opens it from the skill's folder."""
    return next((f"pipeline/{path.name}" for path in sorted(PIPELINE.glob(f"{stage:02}_*.md"))), f"the protocol of stage {stage}")


def inputs(stage: int, work: Workspace, result: Path | None) -> list[Path]:
    """The files that the verdict of a stage rests on, those of the stages before it left out."""
    own = {1: [work.job_file, work.paper_file], 2: [work.contribution], 3: [work.ledger]}
    if stage in own:
        return own[stage]
    if result is None:
        return []
    return [path for path in walk(result) if stage == 5 or "notebooks" not in path.relative_to(result).parts]


LEFT_OUT = {"__pycache__", ".git", ".ipynb_checkpoints", ".venv", "venv", "node_modules", ".pytest_cache", ".ruff_cache"}
# Written from the result by other scripts, and so no input of a verdict about it.
LOCK = "paper2code.lock.json"
PRODUCED = {LOCK, "evidence.html"}
MOST = 5000


def walk(folder: Path) -> list[Path]:
    """All files of a result folder in order, without caches; links are not followed."""
    out: list[Path] = []
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not name.startswith("."))
        out += [Path(at) / name for name in sorted(names) if name not in PRODUCED and not name.endswith((".pyc", ".part"))]
        if len(out) > MOST:
            raise cli.Stop(
                f"{folder} holds more than {MOST} files",
                code=cli.USAGE,
                expected="the folder of the generated code",
                fix="name the result folder itself, without data or environments in it",
            )
    return out


def hashes(stage: int, work: Workspace, result: Path | None) -> dict[str, str]:
    """Name → SHA-256 of a stage's inputs; a missing file has the hash ""."""
    out = {}
    for path in inputs(stage, work, result):
        inside = path.is_relative_to(work.folder) and stage < 4
        name = path.relative_to(work.folder).as_posix() if inside else path.relative_to(result).as_posix()
        out[name] = content(path) if path.is_file() else ""
    return out


def content(path: Path) -> str:
    """The SHA-256 of a file; of a notebook, of its cells without their outputs, since the gate itself writes those."""
    if path.suffix == ".ipynb":
        try:
            cells = [(cell["cell_type"], cell["source"]) for cell in files.read_json(path)["cells"]]
            return files.sha256(json.dumps(cells, ensure_ascii=True).encode())
        except (ValueError, TypeError, KeyError):
            pass
    return files.sha256(path)


def seal(entry: dict, before: str) -> str:
    """The seal of an entry: a hash over its verdict, counts and inputs and over the seal of the stage before.

    The time is left out, so that running a gate again on the same files keeps the later ones."""
    body = {key: value for key, value in entry.items() if key not in ("seal", "time", "result")}
    return hashlib.sha256((before + json.dumps(body, sort_keys=True, ensure_ascii=True)).encode()).hexdigest()


class Gates:
    """The gate ledger of one workspace.

    `skipped`: stages that do not apply (a paper with nothing to implement has no audit and no notebook).
    """

    def __init__(self, work: Workspace, skipped: Iterable[int] = ()):
        self.work, self.skipped = work, set(skipped)
        self.problem = ""
        self.entries: dict[int, dict] = {}
        if not work.gates.exists():
            return
        try:
            data = files.read_json(work.gates)
            if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("stages"), dict):
                raise ValueError("not a gate ledger of this version")
            self.entries = {
                int(stage): entry for stage, entry in data["stages"].items() if int(stage) in STAGES and isinstance(entry, dict)
            }
        except (ValueError, OSError) as problem:
            self.problem = f"{work.gates.name} cannot be read ({problem}); every gate has to be run again"

    def result(self, given: str | Path | None = None) -> Path | None:
        """The result folder: the one given, else the one remembered from an earlier gate."""
        if given:
            return Path(given)
        kept = next(
            (entry.get("result") for stage, entry in sorted(self.entries.items(), reverse=True) if entry.get("result")), None
        )
        return (self.work.folder / kept).resolve() if isinstance(kept, str) else None

    def state(self, stage: int, result: Path | None = None) -> State:
        """How one stage stands on the files as they are now."""
        if stage in self.skipped:
            return State(stage, SKIPPED, "the paper has nothing to implement")
        entry = self.entries.get(stage)
        if entry is None:
            return State(stage, OPEN, self.problem)
        counts, time = entry.get("counts", {}), str(entry.get("time", ""))
        if entry.get("passed") is not True:
            return State(stage, FAILED, f"{entry.get('errors', '?')} errors when it last ran", counts, time)
        before = self.before(stage)
        if before is not None:
            earlier = self.state(before, result)
            if earlier.state != PASSED:
                return State(stage, STALE, f"gate {before} is {earlier.state}", counts, time)
        if entry.get("seal") != seal(entry, self.entries[before]["seal"] if before is not None else ""):
            return State(stage, STALE, "its entry in gates.json was changed by hand, or an earlier gate ran again", counts, time)
        if entry.get("tool") != workspace.version():
            return State(stage, STALE, f"it passed with version {entry.get('tool')} of the checks", counts, time)
        now, then = hashes(stage, self.work, self.result(result)), entry.get("inputs", {})
        changed = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
        if changed:
            more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            return State(stage, STALE, f"changed since: {', '.join(changed[:3])}{more}", counts, time)
        return State(stage, PASSED, "", counts, time)

    def before(self, stage: int) -> int | None:
        """The stage whose gate must have passed before this one runs."""
        return next((earlier for earlier in range(stage - 1, 0, -1) if earlier not in self.skipped), None)

    def states(self, result: Path | None = None) -> list[State]:
        return [self.state(stage, result) for stage in STAGES]

    def next(self, result: Path | None = None) -> int | None:
        """The stage to work on now, None when all gates have passed."""
        return next((s.stage for s in self.states(result) if s.state not in (PASSED, SKIPPED)), None)

    def must_be_open(self, stage: int, result: Path | None = None) -> None:
        """Raise Stop (exit 6) unless the gate before this stage has passed on the present inputs (of `result`, where it is given)."""
        if stage in self.skipped:
            raise cli.Stop(
                f"gate {stage} does not apply: contribution.md says that the paper has nothing to implement",
                code=cli.USAGE,
                expected="REPRODUCTION_NOTES.md that says why, and gate 4 on its folder",
                fix=f"check_stage.py 4 {self.work.folder} --result FOLDER",
            )
        before = self.before(stage)
        if before is None:
            return
        state = self.state(before, result)
        if state.state != PASSED:
            first = next(s for s in self.states(result) if s.state not in (PASSED, SKIPPED))
            raise cli.Stop(
                f"gate {stage} ({STAGES[stage]}) does not run: gate {first.stage} ({STAGES[first.stage]}) is "
                f"{first.state}{': ' + first.why if first.why else ''}",
                code=cli.GATE_ORDER,
                expected=f"gate{'' if before == 1 else 's 1 to'} {before} passed on the files as they are now",
                fix=f"check_stage.py {first.stage} {self.work.folder}, following {protocol(first.stage)}",
            )

    def record(
        self, stage: int, findings: list[Finding], counts: dict, result: Path | None = None, taken: dict[str, str] | None = None
    ) -> bool:
        """Write the verdict of a stage; a stage with errors is recorded as failed. `taken`: hashes taken before the checks
        ran, so that a file changed meanwhile is not passed unseen."""
        failed = len(errors(findings))
        entry = {
            "passed": failed == 0,
            "errors": failed,
            "warnings": len(findings) - failed,
            "time": workspace.now(),
            "tool": workspace.version(),
            "counts": counts,
            "inputs": taken if taken is not None else hashes(stage, self.work, result),
        }
        if result is not None and stage >= 4:
            entry["result"] = os.path.relpath(result.resolve(), self.work.folder.resolve())
        before = self.before(stage)
        entry["seal"] = seal(entry, self.entries[before]["seal"] if before is not None else "")
        self.entries[stage] = entry
        files.write_json(self.work.gates, {"schema": SCHEMA, "stages": {str(n): e for n, e in sorted(self.entries.items())}})
        return failed == 0

    def text(self) -> str:
        """The table of `--status`, and what comes next."""
        lines = []
        for state in self.states():
            counts = ", ".join(f"{value} {name}" for name, value in state.counts.items() if isinstance(value, (int, float)))
            tail = "; ".join(part for part in (state.why, counts if state.state == PASSED else "", state.time) if part)
            lines.append(f"  {state.stage}  {STAGES[state.stage]:16} {state.state:15} {tail}".rstrip())
        after = self.next()
        if after is None:
            lines.append("all gates have passed")
        else:
            where = " --result FOLDER" if after >= 4 and self.result() is None else ""
            lines.append(f"next: stage {after} by {protocol(after)}, then check_stage.py {after} {self.work.folder}{where}")
        return "\n".join(lines)
