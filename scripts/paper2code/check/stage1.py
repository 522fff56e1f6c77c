"""Gate 1: is what was acquired and read good enough to work on? One check for each point of the stage's checklist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from paper2code import cli, files
from paper2code.acquire.local import tree_hash
from paper2code.findings import ERROR, WARNING, Finding
from paper2code.paper import Paper, Section
from paper2code.workspace import PARTS, Workspace

ABSTRACT_WORDS, BODY_WORDS, METHOD_WORDS = 25, 500, 120
ANOTHER = "give the paper in another form: fetch_paper.py with the LaTeX source, the HTML, or a better PDF"
NONE = "; if the paper really has none, look at its pages to be sure, then run fetch_paper.py again with --without"
# Sections that are about something else than how the thing is done.
ASIDE = re.compile(
    r"\b(introduction|abstract|conclusions?|concluding|acknowledge?ments?|references|bibliography|discussion|outlook"
    r"|limitations?|future work|broader impacts?|ethic\w*|contributions?|funding|checklist)\b",
    re.I,
)
METHOD = re.compile(
    r"\b(methods?|methodology|approach|models?|architectures?|algorithms?|proposed|framework|formulation|training"
    r"|implementation|design|system|background|preliminaries|objective|loss|experiment\w*|evaluation|setup)\b",
    re.I,
)
MENTIONED = {
    "equation": (re.compile(r"\b(?:Eqs?\.|Equations?|Eqn?s?\.?)[\s~]*\(?(\d{1,3})\)?"), "equations"),
    "algorithm": (re.compile(r"\bAlgorithms?[\s~]+(\d{1,2})\b"), "algorithms"),
    "table": (re.compile(r"\b(?:Tables?|Tab\.)[\s~]+(\d{1,3})\b"), "tables"),
    "figure": (re.compile(r"\b(?:Figures?|Figs?\.)[\s~]+(\d{1,3})\b"), "figures"),
}
APPENDIX = re.compile(r"\b(?:Appendix|Appendices)(?:[\s~]+([A-Z])\b)?")


def check(workspace: Workspace) -> tuple[list[Finding], dict[str, int]]:
    """The findings of gate 1 and what was looked at, in counts. Raises Stop when the folder is no workspace."""
    workspace.must_exist(workspace.job_file)
    findings = list(whole(workspace))
    try:
        paper = workspace.paper()
    except cli.Stop as stop:
        findings.append(Finding("paper-json", stop.message, "paper.json", expected=stop.expected, fix=stop.fix))
        return findings, {"sections": 0}
    for part in (title, abstract, headings, equations, references, method, appendices, algorithms, tables_and_figures, garbled):
        findings += part(paper)
    findings += code(workspace)
    without = set(workspace.job().without) & set(PARTS)
    findings = [accepted(finding) if finding.check in without else finding for finding in findings]
    counts = {
        name: len(getattr(paper, name))
        for name in ("sections", "equations", "algorithms", "tables", "figures", "footnotes", "references", "links", "warnings")
    }
    counts |= {"numbered_equations": sum(1 for item in paper.equations if item.number),
               "appendix_sections": sum(section.appendix for section in paper.sections),
               "words": sum(len(passage.text.split()) for passage in paper.passages()), "pages": paper.pages or 0}
    return findings, counts


def accepted(finding: Finding) -> Finding:
    """A part that is missing and was said not to be in the paper: told, but no failure."""
    return replace(finding, severity=WARNING, message=f"{finding.message}; accepted, since the paper was said to have none",
                   fix="nothing, if that is so; else fetch the paper in another form and leave --without out")


def whole(workspace: Workspace) -> Iterator[Finding]:
    """Every output of the stage is there, and the raw files are the ones that were read."""
    for path in (
        workspace.metadata,
        workspace.text,
        workspace.outline,
        workspace.footnotes,
        workspace.references,
        workspace.sections,
        workspace.algorithms,
        workspace.equations,
        workspace.tables,
        workspace.figures,
        workspace.evidence,
    ):
        there = path.is_file() and path.stat().st_size > 0 if path.suffix else path.is_dir() and any(path.iterdir())
        if not there:
            yield Finding("output-missing", f"{path.name} is missing or empty", path.name, expected="every output of stage 1",
                          fix="run fetch_paper.py again on the same paper and folder")
    try:
        entries = files.read_json(workspace.provenance)["files"]
        named = [(workspace.raw / entry["name"], entry["sha256"]) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError):
        yield Finding("provenance", "raw/provenance.json is missing or cannot be read", "raw/provenance.json",
                      expected="where each file of raw/ is from", fix="run fetch_paper.py again on the same paper and folder")
        return
    if not named:
        yield Finding("provenance", "raw/provenance.json names no file", "raw/provenance.json", fix="run fetch_paper.py again")
    for path, digest in named:
        if not path.exists() or (tree_hash if path.is_dir() else files.sha256)(path) != digest:
            yield Finding("raw-changed", f"{path.name} is not the file that was read", f"raw/{path.name}",
                          expected=f"SHA-256 {digest}", fix="run fetch_paper.py again; raw/ is not to be edited")


def title(paper: Paper) -> Iterator[Finding]:
    if not re.search(r"\w{2}", paper.title):
        yield Finding("title", "no title was found", "paper.json", expected="the paper's title", fix=ANOTHER)
    elif len(paper.title) > 400:
        yield Finding("title", "the title is longer than any title: the front of the paper was misread", "paper.json",
                      evidence=paper.title[:120], fix=ANOTHER)


def abstract(paper: Paper) -> Iterator[Finding]:
    count = len(paper.abstract.split())
    if count < ABSTRACT_WORDS:
        yield Finding("abstract", f"the abstract has {count} words", "paper.json", expected=f"at least {ABSTRACT_WORDS} words",
                      evidence=paper.abstract[:120] or None, fix=f"{ANOTHER}{NONE} abstract")


def headings(paper: Paper) -> Iterator[Finding]:
    if len(paper.sections) < 2:
        yield Finding("headings", f"{len(paper.sections)} sections were found", "paper.json", expected="the paper's headings",
                      fix=f"{ANOTHER}; for a text file mark headings with # or numbers{NONE} headings")
        return
    tops = [section.number for section in paper.sections if section.number and section.number.isdigit()]
    missing = [str(number) for number in range(1, max(map(int, tops), default=0)) if str(number) not in tops]
    if missing:
        yield Finding("headings", f"section {', '.join(missing)} was not found though later ones were", "outline.md",
                      severity=WARNING, fix="look at the pages between as pictures: search_paper.py WORK --page N --image FILE")


def mentioned(paper: Paper, kind: str) -> list[str]:
    """The printed numbers of a kind of item that the text speaks of and that were not found."""
    pattern, name = MENTIONED[kind]
    there = {re.sub(r"[^\dA-Za-z.]", "", item.number) for item in getattr(paper, name) if item.number}
    spoken = {
        found
        for passage in paper.passages()
        if passage.kind in ("paragraph", "list", "caption", "theorem") and not passage.related
        for found in pattern.findall(passage.text)
    }
    return sorted(spoken - there, key=int)


def not_found(paper: Paper, kind: str) -> Iterator[Finding]:
    if missing := mentioned(paper, kind):
        yield Finding(
            f"{kind}-not-found",
            f"the text speaks of {kind} {', '.join(missing[:12])}, which was not found",
            "outline.md",
            severity=WARNING,
            fix="it may be another paper's; if not, look at its page as a picture: search_paper.py WORK --page N --image FILE",
        )


def equations(paper: Paper) -> Iterator[Finding]:
    missing = mentioned(paper, "equation")
    if not paper.equations and missing:
        yield Finding(
            "equations",
            f"no equation was found, but the text speaks of equation {', '.join(missing[:6])}",
            "equations/all.md",
            expected="the paper's display formulas",
            fix=f"{ANOTHER}{NONE} equations",
        )
    elif not paper.equations:
        yield Finding(
            "equations",
            "no display formula was found, and the text speaks of none",
            "equations/all.md",
            severity=WARNING,
            fix="look at a page of the method as a picture to see whether there is one",
        )
    else:
        yield from not_found(paper, "equation")
        if not any(item.latex for item in paper.equations):
            yield Finding("equations", "equations are known from the PDF's glyphs only, which lose fractions and roots",
                          "equations/all.md", severity=WARNING,
                          fix="look at each one as a picture before using it: search_paper.py WORK --equation N --image FILE "
                          f"(N: its number, or its name in equations/all.md, such as {paper.equations[0].id})")


def references(paper: Paper) -> Iterator[Finding]:
    if paper.references:
        return
    cites = sum(len(block.cites) for section in paper.sections for block in section.blocks)
    told = f", though the text cites {cites} times" if cites else ""
    yield Finding(
        "references", f"no reference list was found{told}", "references.md", expected="the paper's references", fix=f"{ANOTHER}{NONE} references"
    )


def method(paper: Paper) -> Iterator[Finding]:
    """What the work is about must be readable: enough words outside of introduction, related work and the like."""
    def count(sections: list[Section]) -> int:
        return sum(len(block.text.split()) for section in sections for block in section.blocks)

    body = [section for section in paper.sections if len(paper.sections) == 1  # one heading says nothing of what is below it
            or not ASIDE.search(section.title) and not paper.is_related(section)]
    if (words := count(body)) < BODY_WORDS:
        yield Finding("method", f"the sections that say how it is done hold {words} words", "paper.json",
                      expected=f"at least {BODY_WORDS} words", fix=ANOTHER)
        return
    named = [section for section in body if METHOD.search(section.title)]
    if named and count([part for section in named for part in paper.inside(section)]) < METHOD_WORDS:
        yield Finding("method", f"§{named[0].id} {named[0].title} and its like are nearly empty", "paper.json",
                      expected=f"at least {METHOD_WORDS} words", fix=ANOTHER)


def appendices(paper: Paper) -> Iterator[Finding]:
    letters = {found for passage in paper.passages() for found in APPENDIX.findall(passage.text)}
    there = {section.number[0] for section in paper.sections if section.appendix and section.number}
    appendix = any(section.appendix for section in paper.sections)
    if letters and not appendix:
        yield Finding("appendices", "the text speaks of an appendix, and none was found", "outline.md", severity=WARNING,
                      fix="it may be a supplement of its own: ask for it, or look at the last pages as pictures")
    elif missing := sorted(letters - there - {""}):
        if there:
            yield Finding("appendices", f"the text speaks of appendix {', '.join(missing)}, which was not found", "outline.md",
                          severity=WARNING, fix="look at the last pages as pictures: search_paper.py WORK --page N --image FILE")


def algorithms(paper: Paper) -> Iterator[Finding]:
    yield from not_found(paper, "algorithm")
    for item in paper.algorithms:
        if not item.lines:
            yield Finding(
                "algorithm-empty",
                f"algorithm {item.number or item.id} has a caption and no lines",
                "algorithms/all.md",
                severity=WARNING,
                fix=f"look at it as a picture: search_paper.py WORK --algorithm {item.number or item.id} --image FILE",
            )


def tables_and_figures(paper: Paper) -> Iterator[Finding]:
    yield from not_found(paper, "table")
    yield from not_found(paper, "figure")


def garbled(paper: Paper) -> Iterator[Finding]:
    """A paper that is garbled as a whole, or in what it says of its method, cannot be worked from; elsewhere it is told."""
    for warning in paper.warnings:
        if warning.kind != "garbled":
            continue
        section = paper.section(warning.where)
        vital = section is not None and not ASIDE.search(section.title) and not paper.is_related(section)
        yield Finding("garbled", warning.message, "paper.json", severity=ERROR if vital or warning.where is None else WARNING,
                      expected="readable text", fix=f"{ANOTHER}; or read the pages as pictures: search_paper.py WORK --page N --image FILE")


def code(workspace: Workspace) -> Iterator[Finding]:
    try:
        told = files.read_json(Path(workspace.metadata))["official_code"]
    except (OSError, ValueError, KeyError, TypeError):
        told = None
    if not isinstance(told, list):
        yield Finding("official-code", "the authors' code was not looked for", "paper_metadata.json",
                      expected="a list official_code, which may be empty", fix="run find_official_code.py WORK")
    elif not told:
        yield Finding("official-code", "no link to code was found", "paper_metadata.json", severity=WARNING,
                      fix="nothing, if the paper has none; the project page or the authors' pages may know one")
