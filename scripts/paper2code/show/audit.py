"""The ledger for people: `ambiguity_audit.md`, and the tables of `REPRODUCTION_NOTES.md` inside marked regions.

A marked region is what stands between `<!-- paper2code:begin NAME -->` and `<!-- paper2code:end NAME -->`. What is inside is
rendered again from the ledger; what is outside is never touched.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path

from paper2code import files
from paper2code.check import contribution as contributions
from paper2code.check.against import wanted_items
from paper2code.check.ledger import (
    ASSUMPTION,
    FLAGS,
    GROUPS,
    NOT_APPLICABLE,
    OFFICIAL,
    PARTIALLY,
    SPECIFIED,
    STATUSES,
    UNSPECIFIED,
    Entry,
    Item,
    Ledger,
    read,
)
from paper2code.paper import Paper
from paper2code.workspace import Workspace

REGION = "<!-- paper2code:begin {0} -->\n{1}\n<!-- paper2code:end {0} -->"
NAMES = {
    SPECIFIED: "specified",
    PARTIALLY: "partially specified",
    UNSPECIFIED: "unspecified",
    OFFICIAL: "from official code",
    ASSUMPTION: "assumed",
    NOT_APPLICABLE: "not applicable",
}


def cell(text: object) -> str:
    """Text as a cell of a Markdown table."""
    plain = " ".join(str(text).split()).replace("|", "\\|")
    return plain or "—"


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = list(head)
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell(value) for value in row)} |" for row in rows]
    return "\n".join(lines)


def quoted(text: str) -> str:
    return f"“{text}”" if text else "—"


def choice(item: Item) -> str:
    """What the code does: the value, or the choice in words, or both."""
    value = "" if item.value is None else "`" + (item.value if isinstance(item.value, str) else repr(item.value)) + "`"
    same = item.value is not None and item.using.strip().strip("`'\"") in (str(item.value), repr(item.value))
    if not same and isinstance(item.value, (int, float)) and not isinstance(item.value, bool):
        with contextlib.suppress(ValueError):
            same = float(item.using) == item.value
    # "0.0: none on the weights" begins with the value: it is told in words alone.
    begins = value and re.match(rf"{re.escape(value.strip('`'))}(?![\w.])", item.using)
    if begins and not same:
        return f"{value}{item.using[len(value) - 2 :]}"
    return " ".join(part for part in (value, "" if same else item.using) if part) or "—"


def remarks(item: Item) -> str:
    parts = [f"open: {item.unclear}" if item.unclear else "", "; ".join(item.alternatives), item.why, item.source]
    return " · ".join(part for part in parts if part) or "—"


def decisions(items: Iterable[Item]) -> str:
    return table(
        ("Component", "Status", "Paper quote", "Section", "Our choice", "Alternatives"),
        ((item.item, item.status, quoted(item.quote), item.where, choice(item), remarks(item)) for item in items),
    )


def counts(ledger: Ledger) -> str:
    """The table of counts, as audit, notes and README show it."""
    found = ledger.counts()
    return table(("Status", "Decisions"), [*((status, found[status]) for status in STATUSES), ("all", len(ledger.items))])


def count_line(ledger: Ledger) -> str:
    """ "12 specified, 3 partially specified, …" for a summary."""
    found = ledger.counts()
    return ", ".join(f"{found[status]} {NAMES[status]}" for status in STATUSES if found[status])


def contradictions(rows: Iterable[Entry]) -> str:
    def side(row: Entry, name: str) -> str:
        given = row.fields.get(name)
        if not isinstance(given, dict):
            return ""
        if given.get("source"):
            return f"the official code {given.get('says', '')} ({given['source']})"
        return f"{given.get('where', '')} {quoted(given.get('quote', ''))}"

    lines = []
    for row in rows:
        head = f"- **{row.fields.get('about')}**: {side(row, 'first')}, "
        if row.fields.get("no_contradiction"):
            lines.append(f"{head}and {side(row, 'second')}. No contradiction: {row.fields['no_contradiction']}")
        else:
            decision = str(row.fields.get("decision")).strip().rstrip(".")
            lines.append(f"{head}but {side(row, 'second')}. Decision: {decision}. Why: {row.fields.get('why')}")
    return "\n".join(lines) or "None found."


def deferred(rows: Iterable[Entry]) -> str:
    return (
        "\n".join(
            f"- **{row.fields.get('item')}** defers to {row.fields.get('cites')}: "
            f"{row.fields.get('says') or 'not looked up'}; to check: "
            f"{row.fields.get('to_check')}"
            for row in rows
        )
        or "None."
    )


def relations(rows: Iterable[Entry]) -> str:
    return (
        table(
            ("About", "Relation", "Equals", "Tolerance", "Section"),
            (
                (
                    row.fields.get("about"),
                    f"`{row.fields.get('expr')}`",
                    row.fields.get("equals"),
                    row.fields.get("tolerance") or "exact",
                    row.fields.get("where") or "—",
                )
                for row in rows
            ),
        )
        if rows
        else "None stated."
    )


def official(items: Iterable[Item]) -> str:
    return "\n".join(f"- **{item.item}**: {choice(item)} ({item.source})" for item in items) or "Nothing was taken from it."


def ambiguity_audit(ledger: Ledger, paper: Paper) -> str:
    """The whole of `ambiguity_audit.md`."""
    out = [f"# Ambiguity audit: {paper.title}", "", "Rendered from `ledger.yaml`; change it there.", "", counts(ledger), ""]
    for group in GROUPS:
        rows = [item for item in ledger.items if item.group == group and item.status != NOT_APPLICABLE]
        if rows:
            out += [f"## {group.capitalize()}", "", decisions(rows), ""]
    out += [
        "## Contradictions",
        "",
        contradictions(ledger.contradictions),
        "",
        "## References to check",
        "",
        deferred(ledger.deferred),
        "",
        "## Arithmetic between values",
        "",
        relations(ledger.relations),
        "",
        "## Official code",
        "",
        official(item for item in ledger.items if item.status == OFFICIAL),
        "",
    ]
    absent = [item for item in ledger.items if item.status == NOT_APPLICABLE]
    if absent:
        out += ["## Not applicable", "", table(("Component", "Why"), ((item.item, item.why) for item in absent)), ""]
    reviewed = [item for item in ledger.items if item.reviewed]
    if reviewed:
        out += [
            "## Second reading",
            "",
            table(("Component", "Verdict", "Why"), ((item.item, item.reviewed, item.why_reviewed) for item in reviewed)),
            "",
        ]
    return "\n".join(out)


# --- the regions of REPRODUCTION_NOTES.md -----------------------------------------------------------------------------


def regions(ledger: Ledger) -> dict[str, str]:
    """Name → content of every region that the notes and the README may hold."""
    flagged = [item for item in ledger.items if item.status in FLAGS]
    return {
        "counts": counts(ledger),
        "count-line": count_line(ledger),
        "unspecified": table(
            ("Component", "Status", "What the paper says", "Our choice", "Alternatives, or source", "Where"),
            (
                (
                    item.item,
                    item.status,
                    f"{item.where} {quoted(item.quote)}" if item.quote else "nothing",
                    choice(item),
                    item.source if item.status == OFFICIAL else "; ".join(item.alternatives) or item.unclear or item.why,
                    item.config or item.code,
                )
                for item in flagged
            ),
        ),
        "specified": table(
            ("Component", "Value", "Paper quote", "Section"),
            ((item.item, choice(item), quoted(item.quote), item.where) for item in ledger.items if item.status == SPECIFIED),
        ),
        "official": official(item for item in ledger.items if item.status == OFFICIAL),
        "contradictions": contradictions(ledger.contradictions),
        "deferred": deferred(ledger.deferred),
        "relations": relations(ledger.relations),
        "second-reading": table(
            ("Component", "Verdict", "Why"),
            ((item.item, item.reviewed, item.why_reviewed) for item in ledger.items if item.reviewed),
        ),
    }


def fill(text: str, ledger: Ledger) -> str:
    """A text with every region that it holds rendered from the ledger; unknown regions stay as they are."""
    contents = regions(ledger)

    def replace(found: re.Match) -> str:
        name = found.group(1)
        return REGION.format(name, contents[name]) if name in contents else found.group(0)

    return re.sub(r"<!-- paper2code:begin ([\w-]+) -->\n.*?<!-- paper2code:end \1 -->", replace, text, flags=re.S)


def refresh(path: Path, ledger: Ledger) -> bool:
    """Render the regions of a file again; whether anything changed."""
    before = path.read_text(encoding="utf-8")
    after = fill(before, ledger)
    if after != before:
        files.write(path, after)
    return after != before


def render(work: Workspace) -> None:
    """Write `ambiguity_audit.md` of a workspace from its ledger, when that can be read at all."""
    ledger, _ = read(work.ledger)
    if ledger is not None and ledger.items:
        files.write(work.audit, ambiguity_audit(ledger, work.paper()))


def write_skeleton(work: Workspace) -> None:
    """`ledger_skeleton.yaml`: a row for each point of the checklist that gate 3 will ask for, with what it asks and where the sweep
    found it spoken of. Nothing is decided in it."""
    contribution, _ = contributions.read(work.contribution)
    if contribution is None or contribution.nothing:
        return
    paper = work.paper()
    found = work.evidence / "evidence.json"
    known = files.read_json(found).get("items", {}) if found.is_file() else {}
    lines = ["# The rows that gate 3 asks for. Copy this to ledger.yaml and fill it: status and what the status needs; add further decisions.",
             f"paper: {work.job().paper}", "items:"]
    for item in wanted_items(paper, contribution.domains):
        said = [entry["where"] for entry in known.get(item.name, {}).get("states", ()) if not entry.get("related")]
        places = ", ".join(dict.fromkeys(said[:4])) or "nothing found"
        lines += [f"# {item.asks}; the sweep: {places}", f"- id: {item.name}", f"  group: {item.group}", f"  item: {item.name}", "  status:"]
    files.write(work.folder / "ledger_skeleton.yaml", "\n".join([*lines, "contradictions: []", "deferred: []", "relations: []"]) + "\n")
