"""The end of a run: the summary for the user, the lock file, and the workspace taken away (unless it is to be kept)."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

from paper2code import cli
from paper2code.check import contribution as contributions
from paper2code.check import everything, gates, notebook, stages
from paper2code.check import ledger as ledgers
from paper2code.findings import errors
from paper2code.show import lock
from paper2code.workspace import FOLDER, Workspace

MOST_FILES = 30


def look_first(ledger: ledgers.Ledger) -> list[str]:
    """What a reader should look at first: doubtful readings, contradictions, assumptions, then what the paper leaves open."""
    out = [
        f"doubtful: {item.item or item.id}{f' ({item.where})' if item.where else ''}: {item.why_reviewed}"
        for item in ledger.items
        if item.reviewed == "doubtful"
    ]
    out += [f"the paper contradicts itself: {row.fields.get('about')}; followed: {row.fields.get('decision')}" for row in ledger.disagreements()]
    out += [f"assumed: {item.item or item.id}; using {item.using}: {item.why}" for item in ledger.items
            if item.status == ledgers.ASSUMPTION and item.reviewed != "doubtful"][:3]
    open_rows = [item for item in ledger.items if item.status == ledgers.UNSPECIFIED and item.group in ("architecture", "training", "method")]
    place = {item.id: rank for rank, (item, _) in enumerate(ledgers.riskiest(ledger, len(ledger.items)))}
    weight = {"method": 0, "training": 1, "architecture": 1}
    # What moves the result most: a number that the code reads, in the method before elsewhere, as the second reading ranks it.
    open_rows.sort(key=lambda item: (not (item.config and item.numbers()), weight[item.group], place.get(item.id, len(place))))
    out += [f"not in the paper: {item.item or item.id}; using {item.using}" for item in open_rows]
    return out[:8]


def run(folder: Path, given: Path | None, *, keep: bool, as_json: bool, out: str | None) -> int:
    """Print the closing summary and write the lock file. Raises Stop (exit 6) while a gate has not passed."""
    work = Workspace(folder)
    table = stages.open_gates(work)
    result = table.result(given)
    open_ = [state for state in table.states(result) if state.state not in (gates.PASSED, gates.SKIPPED)]
    if open_:
        raise cli.Stop(f"gate {open_[0].stage} is {open_[0].state}{': ' + open_[0].why if open_[0].why else ''}; the run is not complete",
                       code=cli.GATE_ORDER, expected="all five gates passed on the files as they are now",
                       fix=f"check_stage.py --status {folder}")
    if result is None or not result.is_dir():
        raise cli.Stop("the folder of the generated code is not known", code=cli.USAGE, fix="name it with --result")
    stages.hold_again(6, work, table, result)
    wrong = errors(notebook.stands(work, result).findings) if 5 not in table.skipped else []
    if wrong:
        raise cli.Stop(f"gate 5 is recorded as passed, but the notebook does not pass: {wrong[0].text()}", code=cli.GATE_ORDER,
                       expected="the notebook that passed", fix=f"check_stage.py 5 {folder}")
    paper, job = work.paper(), work.job()
    contribution, _ = contributions.read(work.contribution)
    ledger = ledgers.read(work.ledger)[0] if work.ledger.is_file() else ledgers.Ledger("ledger.yaml")
    outcome = everything.check(result, paper, work=work if work.ledger.is_file() else None, contribution=contribution, mode=job.mode)
    lock.write(result, paper, outcome, folder)
    states = Counter(entry["state"] for entry in outcome.anchors if entry.get("quote"))
    names = [path.relative_to(result).as_posix() for path in (*gates.walk(result), *(result / name for name in sorted(gates.PRODUCED))) if path.is_file()]
    counts = ledger.counts()
    removed = not keep and FOLDER in folder.resolve().parts
    data = {"title": paper.title, "paper": job.paper, "result": str(result), "mode": job.mode, "framework": job.framework, "files": names,
            "decisions": counts, "quotes_verified": states["verified"], "errors": len(errors(outcome.findings)),
            "look_first": look_first(ledger), "workspace_removed": removed}
    told = ", ".join(f"{count} {status.replace('_', ' ').lower()}" for status, count in counts.items() if count)
    lines = [f"paper2code complete: {paper.title} ({job.paper})", f"  folder: {result}", f"  mode {job.mode}, framework {job.framework}",
             f"  decisions: {told or 'none'}", f"  quotes verified: {states['verified']} of {sum(states.values())}",
             f"  files: {', '.join(names[:MOST_FILES])}" + (f" and {len(names) - MOST_FILES} more" if len(names) > MOST_FILES else ""),
             "  look first at:", *(f"    - {line}" for line in data["look_first"] or ["REPRODUCTION_NOTES.md"])]
    if removed:
        shutil.rmtree(folder)
        lines.append(f"  the workspace {folder} was removed; {lock.NAME} lets anyone check again")
    cli.show("\n".join(lines), data=data, as_json=as_json, out=out)
    return cli.DONE
