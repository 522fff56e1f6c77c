"""The gates, stage by stage: what each looks at, in which order, and what it writes when it passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from paper2code import cli
from paper2code.check import contribution as contributions
from paper2code.check import gates as ledger_of_gates
from paper2code.check.gates import LOCK, PASSED, STAGES, Gates, hashes
from paper2code.check.outcome import Outcome
from paper2code.findings import errors
from paper2code.workspace import Workspace

AFTER_NOTHING = (3, 5)


def open_gates(work: Workspace) -> Gates:
    """The gate ledger, with the stages that this paper does not have."""
    contribution, _ = contributions.read(work.contribution) if work.contribution.is_file() else (None, [])
    return Gates(work, AFTER_NOTHING if contribution is not None and contribution.nothing else ())


def workspace(folder: Path) -> Workspace:
    work = Workspace(folder)
    if not folder.is_dir():
        raise cli.Stop(
            f"{folder} is no folder",
            code=cli.USAGE,
            expected="the workspace that fetch_paper.py made",
            fix="fetch_paper.py PAPER says where it is (.paper2code_work/ID)",
        )
    work.must_exist(work.job_file)
    return work


def run(
    stage: int,
    folder: Path,
    result: Path | None,
    *,
    as_json: bool = False,
    out: str | None = None,
    annotate: str | None = None,
    most: int = 40,
    afterwards: Callable[[int, Workspace], None] | None = None,
) -> int:
    """Run one gate, record its verdict, show it; the exit code. `afterwards(stage, work)` is called before the verdict is
    shown, passed or not: what is rendered from the stage's files is rendered there."""
    work = workspace(folder)
    gates = open_gates(work)
    gates.must_be_open(stage, result)
    result = gates.result(result) if stage >= 4 else None
    hold_again(stage, work, gates, result)
    if stage >= 4:
        if result is None:
            raise cli.Stop(
                f"gate {stage} needs the folder of the generated code",
                code=cli.USAGE,
                expected="--result DIR",
                fix=f"check_stage.py {stage} {folder} --result FOLDER",
            )
        if not result.is_dir():
            raise cli.Stop(f"{result} is no folder", code=cli.USAGE, expected="the folder of the generated code")
    taken = hashes(stage, work, result)
    outcome = GATES[stage](work, result)
    if stage == 5:  # the gate itself keeps the outputs of the run in the notebook
        taken |= {name: value for name, value in hashes(stage, work, result).items() if name.startswith("notebooks/")}
    if stage == 5 and result is not None and (result / LOCK).is_file():
        outcome.notes.append(f"{LOCK} is of an earlier state: check_stage.py --summary {folder} writes it again")
    passed = gates.record(stage, outcome.findings, outcome.counts, result, taken)
    if afterwards:
        afterwards(stage, work)
    failed = len(errors(outcome.findings))
    warned = len(outcome.findings) - failed
    verdict = "passed" if passed else f"failed with {failed} error{'s' * (failed != 1)}"
    told = ", ".join(f"{value} {name}" for name, value in outcome.counts.items() if value or name == "findings")
    summary = f"gate {stage} ({STAGES[stage]}) {verdict}" + (f", {warned} warning{'s' * (warned != 1)}" if warned else "")
    summary += f": {told}" if told else ""
    after = gates.next(result)
    if passed:
        summary += f"\nnext: {ledger_of_gates.protocol(after)}" if after else "\nall gates have passed"
    return outcome.show(summary, as_json=as_json, out=out, annotate=annotate, most=most, more={"stage": stage, "passed": passed, "next": after})


def hold_again(stage: int, work: Workspace, gates: Gates, result: Path | None) -> None:
    """Judge the files of every earlier stage anew. What `gates.json` says is a record and no proof, for whoever can write it can
    also work out its seals. Gate 5 alone is not run again: it takes minutes. Raises Stop (exit 6) and records the failure."""
    for earlier in range(1, min(stage, 5)):
        if earlier in gates.skipped or earlier == 4 and result is None:
            continue
        outcome = GATES[earlier](work, result)
        failed = errors(outcome.findings)
        if failed:
            gates.record(earlier, outcome.findings, outcome.counts, result)
            raise cli.Stop(
                f"gate {earlier} ({STAGES[earlier]}) is recorded as passed, but its files do not pass: {failed[0].text()}",
                code=cli.GATE_ORDER,
                expected="files that pass the gate that was recorded",
                fix=f"check_stage.py {earlier} {work.folder} (errors: {len(failed)})",
            )


def status(folder: Path, *, as_json: bool = False, out: str | None = None) -> int:
    """Where a run stands; always exit 0, for it is a question."""
    work = workspace(folder)
    gates = open_gates(work)
    job = work.job()
    states = gates.states()
    head = f"{job.paper}, mode {job.mode}, framework {job.framework}, started {job.started}"
    cli.show(
        "\n".join(part for part in (head, gates.problem, gates.text()) if part),
        data={
            "paper": job.paper,
            "mode": job.mode,
            "framework": job.framework,
            "problem": gates.problem,
            "stages": [vars(state) | {"name": STAGES[state.stage]} for state in states],
            "next": gates.next(),
            "done": all(state.state in (PASSED, ledger_of_gates.SKIPPED) for state in states),
        },
        as_json=as_json,
        out=out,
    )
    return cli.DONE


def gate_1(work: Workspace, result: Path | None) -> Outcome:
    from paper2code.check import stage1

    outcome = Outcome()
    findings, outcome.counts = stage1.check(work)
    outcome.add(findings)
    return outcome


def gate_2(work: Workspace, result: Path | None) -> Outcome:
    """The contribution, against the paper's places."""
    from paper2code.check import against

    outcome = Outcome()
    paper = work.paper()
    contribution, problems = contributions.read(work.contribution)
    outcome.add(problems)
    if contribution is None:
        return outcome
    places = against.Against(paper)
    outcome.add(
        against.check_contribution(contribution, places),
        components=len(contribution.components),
        symbols=len(contribution.rows("symbols")),
    )
    if contribution.nothing:
        outcome.notes.append(
            "this paper has nothing to implement: write REPRODUCTION_NOTES.md with why and what would be needed, "
            "then gate 4 on its folder; stages 3 and 5 do not apply"
        )
    else:
        outcome.must_have_looked("components", "symbols")
    outcome.counts = {
        "components": len(contribution.components),
        "symbols": len(contribution.rows("symbols")),
        "to implement": len(contribution.rows("implement")),
        "out of scope": len(contribution.rows("out_of_scope")),
    }
    return outcome


def gate_3(work: Workspace, result: Path | None) -> Outcome:
    """The ledger, against the checklist and the paper."""
    from paper2code.check import against, everything
    from paper2code.check import ledger as ledgers

    paper = work.paper()
    contribution, _ = contributions.read(work.contribution)
    ledger, problems = ledgers.read(work.ledger)
    outcome = Outcome()
    outcome.add(problems)
    if ledger is None:
        return outcome
    outcome = against.check_ledger(ledger, paper, contribution, outcome)
    links = [(item.source, ledger.file, item.at("source")) for item in ledger.items if item.source]
    sides = [(row, side) for row in ledger.contradictions for side in ("first", "second") if isinstance(row.fields.get(side), dict)]
    links += [(str(row.fields[side]["source"]), ledger.file, row.lines.get(side, row.line)) for row, side in sides if row.fields[side].get("source")]
    outcome.add(everything.permalinks(links, work.official_code))
    if links and not work.official_code.is_dir():
        outcome.notes.append(f"{len(links)} permalinks were not looked up: the official code was not brought (find_official_code.py WORK --bring)")
    return outcome


def gate_4(work: Workspace, result: Path | None) -> Outcome:
    from paper2code.check import everything
    from paper2code.check import ledger as ledgers

    contribution, _ = contributions.read(work.contribution)
    outcome = everything.check(result, work.paper(), work=work, contribution=contribution, notebooks=False)
    ledger, _ = ledgers.read(work.ledger) if work.ledger.is_file() else (None, [])
    if outcome.ok and ledger is not None:
        places = {row["id"]: row["code"] for row in outcome.trace}
        outcome.notes.append("for the second reading, each row against the code it governs (verdicts go into the ledger):")
        outcome.notes += [f"  {item.id}: {why}; {', '.join(places.get(item.id, [])[:3]) or 'no place'}" for item, why in ledgers.riskiest(ledger, 8)]
    return outcome


def gate_5(work: Workspace, result: Path | None) -> Outcome:
    from paper2code.check import notebook

    given = notebook.check(work, result)
    if isinstance(given, Outcome):
        return given
    outcome = Outcome()
    outcome.add(given, cells=1)
    return outcome


GATES: dict[int, Callable[[Workspace, Path | None], Outcome]] = {1: gate_1, 2: gate_2, 3: gate_3, 4: gate_4, 5: gate_5}
