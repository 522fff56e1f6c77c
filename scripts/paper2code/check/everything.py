"""All checks on a result folder: gate 4, and `check_result.py` on any repository with a paper, also one that this skill never wrote."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from paper2code.check import against as papers
from paper2code.check import anchors as reading
from paper2code.check import census, code, defaults, notes, numbers, overrides, quotes, references, scope, trace
from paper2code.check import ledger as ledgers
from paper2code.check.contribution import Contribution
from paper2code.check.flags import PERMALINK
from paper2code.check.outcome import Outcome
from paper2code.check.quotes import VERIFIED
from paper2code.check.repository import Repository
from paper2code.findings import WARNING, Finding
from paper2code.paper import Paper
from paper2code.workspace import Workspace

NOTEBOOK = "notebooks/walkthrough.ipynb"


def notebook_code(repository: Repository) -> str:
    """The code cells of the notebook as one text, for what counts as used; "" where there is none or it cannot be read."""
    text = repository.text(NOTEBOOK)
    try:
        cells = json.loads(text)["cells"] if text else []
        sources = ["".join(cell["source"]) for cell in cells if cell.get("cell_type") == "code"]
    except (ValueError, TypeError, KeyError, AttributeError):
        return ""
    return "\n".join(re.sub(r"(?m)^\s*[%!].*$", "pass", source) for source in sources)


def permalinks(links: Iterable[tuple[str, str, int]], official: Path) -> list[Finding]:
    """Permalinks (address, file, line) into a repository that was brought for reading name a commit, file and lines that are there."""
    out: list[Finding] = []
    if not official.is_dir():
        return out
    record = " ".join(path.read_text(encoding="utf-8", errors="replace") for path in official.glob("*.json") if path.stat().st_size < 5_000_000)
    for address, file, line in links:
        link = PERMALINK.search(address)
        if link is None:
            continue
        name, last = link["file"], int(link["last"] or link["first"])
        at = next((path / name for path in sorted(official.iterdir()) if path.is_dir() and (path / name).is_file()), None)
        if at is None:
            out.append(
                Finding(
                    "permalink-missing",
                    f"the official code that was brought has no {name}",
                    file,
                    line,
                    fix="name a file that is there (search it under official_code/)",
                )
            )
            continue
        if re.search(r"\b[0-9a-f]{40}\b", record) and link["commit"] not in record:
            out.append(
                Finding(
                    "permalink-missing",
                    f"the official code was brought at another commit than {link['commit'][:12]}",
                    file,
                    line,
                    fix="cite the commit that was read (brought.json names it)",
                )
            )
        lines = at.read_text(encoding="utf-8", errors="replace").count("\n") + 1
        if last > lines:
            out.append(Finding("permalink-missing", f"{name} has {lines} lines, not {last}", file, line, fix="cite the line that says it"))
    return out


def check(
    root: Path,
    paper: Paper,
    *,
    work: Workspace | None = None,
    contribution: Contribution | None = None,
    mode: str = "",
    matcher=None,
    notebooks: bool = True,
) -> Outcome:
    """Everything that gates 1 to 4 ask of a result, on the files as they are. Without a workspace, what only its files could say
    (type, mode, components, decisions) is not asked. `notebooks`: their anchors too (gate 4 leaves them to gate 5)."""
    outcome = Outcome()
    repository = Repository(root)
    against = papers.Against(paper, matcher)
    nothing = contribution is not None and contribution.nothing
    ledger = None
    audit = None
    if work is not None and not nothing:
        ledger, problems = ledgers.read(work.ledger)
        outcome.add(problems)
        audit = work.audit.read_text(encoding="utf-8") if work.audit.is_file() else None
        mode = work.job().mode
    if nothing:
        outcome.add(scope.files(repository, contribution.type, mode, [], False, nothing=True))
        outcome.add(notes.check(repository, nothing=True))
        outcome.counts = {"files": len(repository.files)}
        return outcome
    found, problems = reading.scan(root)
    if not notebooks:
        found = [anchor for anchor in found if not anchor.file.endswith(".ipynb")]
        problems = [problem for problem in problems if not (problem.file or "").endswith(".ipynb")]
    outcome.add([problem for problem in problems if problem.check not in ("python-syntax", "code-syntax")], anchors=len(found))
    judged = Counter()
    for anchor in found:
        if not anchor.place and not anchor.quote:
            continue
        verdict = against.judge(anchor.place, anchor.quote or "")
        entry = papers.entry(anchor.file, anchor.line, anchor.place, anchor.kind, verdict)
        outcome.anchors.append(entry | ({"tag": anchor.tag} if anchor.tag else {}))
        judged[verdict.state] += 1
        outcome.findings += quotes.findings_of(anchor, verdict, against.places.resolve(anchor.place) if anchor.place else None)
    # Values beside anchors: of configs here, of src/ by the census, which knows what each number of the syntax tree is.
    ours = [anchor for anchor in found if not anchor.file.endswith((".md", ".ipynb"))]
    outcome.add(numbers.unsupported(against.matcher, [anchor for anchor in ours if anchor.file.endswith((".yaml", ".yml"))]))
    for anchor in ours:
        if anchor.file.endswith(".py"):
            outcome.findings += numbers.misquoted(against.matcher, anchor, {})
    outcome.add([*numbers.reused(ours), *numbers.formulas(against.matcher, ours)])
    outcome.add(references.check(root, paper))
    told = {(finding.file, finding.line) for finding in outcome.findings if finding.check == "value-not-cited"}

    looked = 0
    for module in repository.modules:
        if module.tree is None:
            continue
        findings, count = census.number_findings(module, against.states)
        outcome.add([finding for finding in findings if (finding.file, finding.line) not in told])
        looked += count
    values = 0
    for config in repository.configs:
        findings, count = census.config_findings(config, against.states)
        outcome.add([finding for finding in findings if finding.check != "census-config" or (finding.file, finding.line) not in told])
        values += count
    outcome.looked.update({"numbers in src": looked, "config values": values})
    outcome.add(census.agreement(repository))
    outcome.add(overrides.check(repository, ledger))
    silent, calls = defaults.check(repository)
    outcome.add(silent, **{"framework calls": calls})

    components = contribution.components if contribution is not None else []
    notebook = notebook_code(repository)
    findings, counts = code.check(
        repository,
        type=contribution.type if contribution else "",
        mode=mode or ("minimal" if contribution is not None else "full"),  # what is not known excludes nothing
        components=components,
        trains=contribution.trains if contribution else True,
        notebook=notebook,
        notebook_due=bool(notebook),
    )
    if contribution is None:
        findings = [finding for finding in findings if not finding.check.startswith("code-file")]
    outcome.add(findings, **counts)
    outcome.add(notes.check(repository, ledger, audit))
    if work is not None:
        outcome.add(permalinks(((anchor.source, anchor.file, anchor.line) for anchor in found if anchor.source), work.official_code))
    findings, rows = trace.check(repository, found, against.places, paper, ledger, contribution)
    outcome.add(findings)
    outcome.trace = [row.data() for row in rows]
    outcome.must_have_looked("anchors", "modules", "definitions")
    if repository.ours:
        outcome.must_have_looked("config values")
    outcome.findings, waiting = written_first(outcome.findings)
    if waiting:
        outcome.notes.append(f"{waiting} findings that follow from bodies not yet written are held back; write what says FILL IN first")
    if not repository.ours:
        outcome.findings = [soften(finding) for finding in outcome.findings]
    outcome.counts = {
        "files": len(repository.files),
        "anchors": len(found),
        "quotes verified": judged[VERIFIED],
        "quotes not verified": sum(count for state, count in judged.items() if state not in (VERIFIED, "cited")),
        "places cited": judged["cited"],
        "numbers": looked,
        "config values": values,
        **{f"[{tag}]": count for tag, count in sorted(notes.tags(repository).items())},
    }
    return outcome


FOLLOWING = ("config-unused", "trace-uncovered", "code-dead", "code-stub")


def written_first(findings: list[Finding]) -> tuple[list[Finding], int]:
    """While bodies are still to be written, what only follows from that is held back: (what is shown, how many are not)."""
    if not any(finding.check == "code-placeholder" for finding in findings):
        return findings, 0
    kept = [finding for finding in findings if finding.check not in FOLLOWING]
    return kept, len(findings) - len(kept)


# In a repository of another layout these say how it could be better, not that it is wrong.
STYLE = (
    "code-shape",
    "code-anchor",
    "code-hints",
    "code-excluded",
    "code-dead",
    "census-",
    "config-",
    "requirements-",
    "default-silent",
    "code-import",
    "phrase-",
    "readme-",
    "notes-",
)


def soften(finding: Finding) -> Finding:
    """A finding about our own conventions as a warning; what is false stays an error."""
    if finding.check.startswith(STYLE):
        return Finding(finding.check, finding.message, finding.file, finding.line, WARNING, finding.expected, finding.fix, finding.evidence)
    return finding
