"""Checks of `REPRODUCTION_NOTES.md` and of the result's `README.md`: the parts that must be there, what each must hold, and that the
counts of audit, code tags, notes and README agree."""

from __future__ import annotations

import re
from collections import Counter

from paper2code.check.flags import phrases
from paper2code.check.ledger import (
    ASSUMPTION,
    NOT_APPLICABLE,
    OFFICIAL,
    PARTIALLY,
    SPECIFIED,
    UNSPECIFIED,
    Ledger,
    out_of_scope,
)
from paper2code.check.repository import FLAG, Repository
from paper2code.findings import WARNING, Finding

NOTES, README = "REPRODUCTION_NOTES.md", "README.md"
# What the notes must have: a name for messages, and the words by which its heading is known.
PARTS = (
    ("Paper", r"^paper\b"),
    ("What is implemented", r"\bimplemented\b(?!.*out)|what (?:this|is) "),
    ("Verified against", r"verif"),
    ("Unspecified choices", r"unspecified|choices"),
    ("Known deviations", r"deviation"),
    ("Expected results", r"expected result|results"),
    ("Minimal claim", r"minimal claim|smallest claim"),
    ("Debugging tips", r"debug|troubleshoot"),
    ("Scope decisions", r"scope"),
    ("References", r"references?"),
)
SCOPE = (
    ("implemented", r"implemented"),
    ("left out", r"left out|excluded|out of scope|not implemented"),
    ("needed for a full reproduction", r"full reproduction|would need|needed"),
)
README_PARTS = (
    ("the paper's link", r"https?://|arXiv:\d|read from a local file"),
    ("how to run it", r"```"),
    ("the files", r"src/"),
    ("REPRODUCTION_NOTES.md", r"REPRODUCTION_NOTES\.md"),
)
COUNT_WORDS = {
    UNSPECIFIED: r"unspecified",
    PARTIALLY: r"partial(?:ly)?[ _-]?specified",
    SPECIFIED: r"specified",
    OFFICIAL: r"from[ _-]official[ _-]code",
    ASSUMPTION: r"assum(?:ption|ed)s?",
    NOT_APPLICABLE: r"not[ _-]applicable",
}


def headings(text: str) -> list[tuple[int, int, str]]:
    """(level, line, title) of each Markdown heading; fenced blocks are passed over."""
    out, fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        found = re.match(r"(#{1,6})\s+(.*)", line)
        if found and not fenced:
            out.append((len(found.group(1)), number, found.group(2).strip(" #*_")))
    return out


def body(text: str, heading: tuple[int, int, str], following: list[tuple[int, int, str]]) -> str:
    """The text under a heading, up to the next one of its level or higher."""
    lines = text.splitlines()
    stop = next((line for level, line, _ in following if level <= heading[0]), len(lines) + 1)
    return "\n".join(lines[heading[1] : stop - 1])


def parts(text: str, wanted: tuple[tuple[str, str], ...], file: str, *, at: int = 1) -> list[Finding]:
    """Every part has a heading, and something under it."""
    out = []
    found = headings(text)
    for name, pattern in wanted:
        at_heading = next((index for index, (level, _, title) in enumerate(found) if level <= 2 and re.search(pattern, title, re.I)), None)
        if at_heading is None:
            out.append(
                Finding(
                    "notes-part-missing",
                    f"there is no part {name!r}",
                    file,
                    at,
                    expected=f"## {name}",
                    fix="take the headings from scaffolds/, and write the part",
                )
            )
            continue
        inside = re.sub(r"(?s:<!--.*?-->)|^#.*$", "", body(text, found[at_heading], found[at_heading + 1 :]), flags=re.M).strip()
        if len(inside.split()) < 3:
            out.append(
                Finding(
                    "notes-part-empty",
                    f"the part {name!r} says nothing",
                    file,
                    found[at_heading][1],
                    expected="a few true sentences",
                    fix="where there is nothing to say, say that and why",
                )
            )
        elif re.search(r"\{\{.*?\}\}|\bTODO\b|\bTBD\b|\bfill (?:this )?in\b", inside, re.I):
            out.append(
                Finding("notes-placeholder", f"the part {name!r} still holds a placeholder", file, found[at_heading][1], fix="fill it in")
            )
    return out


def stated_counts(text: str) -> dict[str, list[tuple[int, int]]]:
    """Status → (count, line) for every count that a text states: "5 unspecified", "UNSPECIFIED: 5", "| UNSPECIFIED | 5 |"."""
    out: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        plain = re.sub(r"[*`_]{1,2}(?=\W|$)|(?<=\W)[*`]{1,2}", "", line)
        taken: list[tuple[int, int]] = []
        for status, words in COUNT_WORDS.items():
            words = rf"(?<![A-Za-z_-]){words}(?:\s+(?:choices?|items?|decisions?))?"
            for found in re.finditer(rf"(?:\|?\s*{words}\s*(?:\||:|=)\s*(\d+)\b)|(?:\b(\d+)\s+(?:are\s+)?{words})(?![\w-])", plain, re.I):
                if any(found.start() < end and start < found.end() for start, end in taken):
                    continue
                taken.append(found.span())
                out.setdefault(status, []).append((int(found.group(1) or found.group(2)), number))
    return out


def tags(repository: Repository) -> Counter:
    """How many flags of each kind stand in src/ and configs/."""
    out: Counter = Counter()
    for module in repository.modules:
        for mark in module.marks:
            out.update(FLAG.findall(mark.text))
    for config in repository.configs:
        for line in config.lines:
            if "#" in line:
                out.update(FLAG.findall(line[line.index("#") :]))
    return out


def check_counts(repository: Repository, ledger: Ledger | None, audit: str | None) -> list[Finding]:
    """Counts in audit, notes, README and code agree with the ledger, or where there is none with each other."""
    out: list[Finding] = []
    texts = {NOTES: repository.text(NOTES), README: repository.text(README)}
    if audit is not None:
        texts["ambiguity_audit.md"] = audit
    stated = {name: stated_counts(text) for name, text in texts.items() if text}
    if ledger is not None:
        true = ledger.counts()
        for name, counts in stated.items():
            for status, found in counts.items():
                out += [
                    Finding(
                        "notes-count",
                        f"{count} {status}, but the ledger has {true[status]}",
                        name,
                        line,
                        expected=str(true[status]),
                        fix="render the tables from the ledger again; never type a count",
                    )
                    for count, line in found
                    if count != true[status]
                ]
        if NOTES in stated and not stated[NOTES].get(UNSPECIFIED):
            out.append(
                Finding(
                    "notes-count",
                    "the notes do not say how many choices are unspecified",
                    NOTES,
                    1,
                    expected="the table of counts, rendered from the ledger",
                )
            )
        placed = Counter(item.status for item in ledger.items if item.config or item.code and not out_of_scope(item.code))
        tagged = tags(repository)
        for status in (UNSPECIFIED, PARTIALLY, ASSUMPTION, OFFICIAL):
            if tagged[status] < placed[status]:
                out.append(
                    Finding(
                        "notes-count",
                        f"{placed[status]} decisions with a place in the code are {status}, but src/ and configs/ carry "
                        f"{tagged[status]} such flags",
                        NOTES,
                        None,
                        expected=f"a [{status}] flag at each of them",
                        fix="flag each where it is made, or mend its config: or code: in the ledger",
                    )
                )
            if tagged[status] and not ledger.counts()[status]:
                out.append(
                    Finding(
                        "notes-count",
                        f"src/ and configs/ carry {tagged[status]} [{status}] flags, the ledger has no such decision",
                        NOTES,
                        None,
                        expected="every flag is a decision of the ledger",
                    )
                )
    else:
        for status in (UNSPECIFIED, ASSUMPTION, OFFICIAL):
            numbers = {(name, count) for name, counts in stated.items() for count, _ in counts.get(status, ())}
            if len({count for _, count in numbers}) > 1:
                told = ", ".join(f"{name}: {count}" for name, count in sorted(numbers))
                out.append(Finding("notes-count", f"the counts of {status} differ ({told})", NOTES, None, expected="one count"))
    return out


def check(repository: Repository, ledger: Ledger | None = None, audit: str | None = None, *, nothing: bool = False) -> list[Finding]:
    """Everything about the notes and the README."""
    out: list[Finding] = []
    text = repository.text(NOTES)
    if text is None:
        return out if not repository.ours else [Finding("notes-missing", f"there is no {NOTES}", NOTES, fix="write it from its scaffold")]
    if nothing:
        if not re.search(r"nothing (?:here )?(?:to|is) implement|not (?:be )?implemented|cannot be implemented", text, re.I):
            out.append(
                Finding(
                    "notes-part-missing",
                    "the notes do not say that nothing is implemented, and why",
                    NOTES,
                    1,
                    expected="why nothing is implemented, and what would be needed",
                )
            )
        return out
    out += parts(text, PARTS, NOTES)
    found = headings(text)
    scope = next((index for index, (_, _, title) in enumerate(found) if re.search("scope", title, re.I)), None)
    if scope is not None:
        inside = body(text, found[scope], found[scope + 1 :])
        for name, pattern in SCOPE:
            if not re.search(pattern, inside, re.I):
                out.append(
                    Finding(
                        "notes-part-missing",
                        f"the scope decisions do not say what is {name}",
                        NOTES,
                        found[scope][1],
                        expected=f"### {name.capitalize()}",
                    )
                )
    results = next((index for index, (_, _, title) in enumerate(found) if re.search("expected result", title, re.I)), None)
    if results is not None and not re.search(
        r"\bTable\s|\bFig|§|\bno (?:numbers|results|table)", body(text, found[results], found[results + 1 :]), re.I
    ):
        out.append(
            Finding(
                "notes-results",
                "the expected results name no table of the paper",
                NOTES,
                found[results][1],
                expected="the paper's numbers, with their table",
            )
        )
    for number, paragraph in paragraphs(text):
        out += [finding for finding in phrases(paragraph, NOTES, number)]
    readme = repository.text(README)
    if readme is not None:
        for name, pattern in README_PARTS:
            if not re.search(pattern, readme):
                out.append(Finding("readme-part-missing", f"README.md does not give {name}", README, 1))
        if re.search(r"\{\{.*?\}\}", readme):
            out.append(Finding("notes-placeholder", "README.md still holds a placeholder", README, 1, fix="fill it in"))
        for name in sorted(set(re.findall(r"(?<![\w/.])((?:src|configs|notebooks)/[\w./-]+\.\w+)", readme + text))):
            if name not in repository.files and "*" not in name:
                where = README if name in readme else NOTES
                soft = name.startswith("notebooks/")
                out.append(
                    Finding(
                        "readme-file",
                        f"{where} names {name}, which is not there",
                        where,
                        None,
                        severity=WARNING if soft else "error",
                        fix="write it, or do not name it",
                    )
                )
    return out + check_counts(repository, ledger, audit)


def paragraphs(text: str) -> list[tuple[int, str]]:
    """(first line, text) of each paragraph outside fenced blocks, tables and quotes."""
    out, run, start, fenced = [], [], 1, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if fenced or not line.strip() or line.lstrip().startswith(("|", ">", "#", "<!--", "```")):
            if run:
                out.append((start, "\n".join(run)))
            run = []
            continue
        if not run:
            start = number
        run.append(line)
    return out
