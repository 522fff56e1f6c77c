"""`check_result.py`: find the paper, run all checks, show them."""

from __future__ import annotations

from pathlib import Path

from paper2code import cli, files
from paper2code.check import against as papers
from paper2code.check import contribution as contributions
from paper2code.check import everything
from paper2code.check import ledger as ledgers
from paper2code.check.outcome import Outcome
from paper2code.findings import Finding, errors
from paper2code.paper import Paper
from paper2code.workspace import Workspace


def paper_of(path: Path) -> tuple[Paper, Workspace | None]:
    """The paper at a path in any form, and the workspace where it is one."""
    if not path.exists():
        raise cli.Stop(f"{path} does not exist", code=cli.USAGE, expected="a workspace, paper.json, PDF, LaTeX source or HTML file")
    work = Workspace(path)
    if path.is_dir() and work.paper_file.is_file():
        return work.paper(), work if work.job_file.is_file() else None
    if path.suffix == ".json":
        try:
            return Paper.from_data(files.read_json(path)), None
        except ValueError as problem:
            raise cli.Stop(
                f"{path}: {problem}",
                code=cli.USAGE,
                expected="a paper.json written by this version of paper2code",
                fix="fetch_paper.py PAPER writes one",
            ) from problem
    from paper2code.read.open import open_paper

    return open_paper(path), None


def decided(work: Workspace, paper: Paper, contribution: contributions.Contribution) -> list[Finding]:
    """What gates 2 and 3 say of the decisions that the result rests on."""
    against = papers.Against(paper)
    out = papers.check_contribution(contribution, against)
    ledger, _ = ledgers.read(work.ledger) if work.ledger.is_file() and not contribution.nothing else (None, [])  # its form is told already
    return out + papers.check_ledger(ledger, paper, contribution, Outcome(), against).findings if ledger is not None else out


def run(root: Path, given: Path, *, as_json: bool = False, out: str | None = None, annotate: str | None = None, most: int = 100,
        afterwards=None) -> int:
    """`afterwards(root, paper, outcome, given)` is called with what was found (the lock file is written there)."""
    if not root.is_dir():
        raise cli.Stop(f"{root} is no folder", code=cli.USAGE, expected="the folder of a repository")
    paper, work = paper_of(given)
    contribution = None
    if work is not None and work.contribution.is_file():
        contribution, _ = contributions.read(work.contribution)
    outcome = everything.check(
        root,
        paper,
        work=work if work is not None and work.ledger.is_file() else None,
        contribution=contribution,
        mode=work.job().mode if work is not None else "",
    )
    if work is not None and contribution is not None:
        outcome.add(decided(work, paper, contribution))
    if afterwards:
        afterwards(root, paper, outcome, given)
    failed = len(errors(outcome.findings))
    warned = len(outcome.findings) - failed
    told = ", ".join(f"{value} {name}" for name, value in outcome.counts.items() if value)
    summary = f"{root}: {failed} error{'s' * (failed != 1)}, {warned} warning{'s' * (warned != 1)}; {told}"
    return outcome.show(summary, as_json=as_json, out=out, annotate=annotate, most=most, more={"result": str(root), "paper": paper.id})
