"""Traceability: each decision of the ledger → config → code → check in the notebook, and back; each numbered equation and algorithm of the
method → code, or out of scope with a reason.

States of a decision, an equation or an algorithm:

| state | means |
|---|---|
| covered | the config holds its value and the code uses it, or the code cites or flags it |
| uncovered | nothing in the result does |
| stale | the result holds another value than the ledger, or the ledger belongs to another version of the paper |
| orphaned | code or config cites or sets what no decision names |
| unwanted | it is implemented although it is out of scope or does not apply |
| out of scope | said so, with a reason |
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field

from paper2code.check.anchors import Anchor
from paper2code.check.census import equal, used_names
from paper2code.check.contribution import Contribution
from paper2code.check.ledger import NOT_APPLICABLE, PARTIALLY, SPECIFIED, Item, Ledger, apart, out_of_scope
from paper2code.check.numbers import plain
from paper2code.check.places import Places
from paper2code.check.repository import Repository
from paper2code.findings import WARNING, Finding
from paper2code.paper import Paper

COVERED, UNCOVERED, STALE, ORPHANED, UNWANTED, OUT = "covered", "uncovered", "stale", "orphaned", "unwanted", "out of scope"


@dataclass
class Row:
    """One line of the table. `code`: "file:line" of what implements it; `check`: how a reader can test it."""

    id: str
    kind: str
    status: str = ""
    config: str = ""
    code: list[str] = field(default_factory=list)
    check: str = ""
    state: str = UNCOVERED

    def data(self) -> dict:
        return asdict(self)


def words(text: str) -> set[str]:
    return {
        word
        for word in re.findall(r"[a-z]{4,}|\d[\d.]*", text.lower())
        if word not in ("paper", "does", "state", "stated", "using", "that", "this", "with", "from", "default", "specified", "unspecified")
    }


def of_code(anchors: list[Anchor]) -> list[Anchor]:
    """Anchors in src/ and configs/."""
    return [anchor for anchor in anchors if not anchor.file.endswith((".md", ".ipynb", ".txt"))]


class Trace:
    def __init__(self, repository: Repository, anchors: list[Anchor], places: Places, paper: Paper):
        self.repository, self.places, self.paper = repository, places, paper
        self.anchors = of_code(anchors)
        self.quotes: dict[str, list[Anchor]] = {}
        for anchor in self.anchors:
            if anchor.quote:
                self.quotes.setdefault(plain(anchor.quote), []).append(anchor)
        self.targets = {place: places.resolve(place) for place in {anchor.place for anchor in self.anchors if anchor.place}}
        self.used, _ = used_names(repository) if repository.modules else ({}, set())
        self.findings: list[Finding] = []
        self.rows: list[Row] = []

    def citing(self, item: Item) -> list[Anchor]:
        """Anchors that cite a decision's words, or its place with a quote that overlaps, or flag the same thing."""
        out: list[Anchor] = []
        if item.quote:
            wanted = plain(item.quote)
            for text, anchors in self.quotes.items():
                if wanted and (wanted in text or (len(text) > 12 and text in wanted)):
                    out += anchors
        if not out and item.where:
            target = self.places.resolve(item.where)
            for anchor in self.anchors:
                mine = self.targets.get(anchor.place)
                if mine is None:
                    continue
                if (
                    target.items
                    and target.items & mine.items
                    or not target.items
                    and target.sections
                    and target.sections == mine.sections
                    and (item.status != SPECIFIED or not anchor.quote or words(item.quote) & words(anchor.quote))
                ):
                    out.append(anchor)
        if item.status not in (SPECIFIED, NOT_APPLICABLE):
            mine = words(f"{item.item} {item.id} {item.using}")
            named = words(f"{item.item} {item.id}".replace("-", " "))
            flagged = [
                anchor
                for anchor in self.anchors
                if anchor.tag == item.status and (named & words(anchor.text) or len(mine & words(anchor.text)) >= 2)
            ]
            out = flagged or (out if item.status == PARTIALLY else [])
        return out

    def decision(self, item: Item, file: str) -> None:
        row = Row(item.id, "decision", item.status, item.config, check=item.checked_by)
        self.rows.append(row)
        if item.status == NOT_APPLICABLE:
            row.state = OUT
            return
        if out_of_scope(item.code):
            row.state = OUT
            if len(item.code.split()) < 5:
                self.findings.append(
                    Finding(
                        "trace-scope",
                        f"{item.id} is out of scope without a reason",
                        file,
                        item.at("code"),
                        expected='code: "out of scope: why"',
                    )
                )
            return
        cited = self.citing(item)
        row.code = sorted({f"{anchor.file}:{anchor.line}" for anchor in cited})[:12]
        if item.config:
            states = []
            for part in apart(item):
                self.configured(part, row, file)
                states.append(row.state)
            row.state = next((state for state in (STALE, UNCOVERED) if state in states), COVERED)
            if item.code:
                row.code = list(dict.fromkeys([*self.defined(item.code), *row.code]))
        elif item.code:
            name, _, part = item.code.partition(":")
            text = self.repository.text(name)
            if text is None or part and not re.search(rf"\b(def|class)\s+{re.escape(part.split('.')[-1])}\b|\b{re.escape(part)}\s*=", text):
                self.findings.append(
                    Finding(
                        "trace-uncovered",
                        f"{item.id}: {item.code} is not there",
                        file,
                        item.at("code"),
                        expected="code: src/file.py or src/file.py:name",
                    )
                )
            else:
                row.state = COVERED
                row.code = list(dict.fromkeys([*self.defined(item.code), *row.code])) or [name]
        elif cited:
            row.state = COVERED
        # A key that is set and never read is told by config-unused, a place that is missing by what looked for it.
        told = any(part.config in self.repository.values for part in apart(item)) or any(
            finding.check.startswith("trace") and finding.message.startswith(f"{item.id}:") for finding in self.findings
        )
        if row.state == UNCOVERED and not told:
            self.findings.append(
                Finding(
                    "trace-uncovered",
                    f"{item.id}: nothing in src/ or configs/ implements, cites or flags it",
                    file,
                    item.line,
                    severity="error" if item.group in ("architecture", "training", "method") else WARNING,
                    expected="its quote or flag where it is made",
                    fix='implement it, or say code: "out of scope: why" in the ledger',
                )
            )

    def defined(self, code: str) -> list[str]:
        """Where `src/file.py:name` begins, as "file:line"; [] where it is not defined."""
        file, _, name = code.partition(":")
        return [f"{module.file}:{node.lineno}" for module in self.repository.modules if module.file == file
                for node in module.definitions if node.name == name.split(".")[0]]

    def configured(self, item: Item, row: Row, file: str) -> None:
        held = self.repository.values.get(item.config)
        if held is None:
            self.findings.append(
                Finding(
                    "trace-uncovered",
                    f"{item.id}: configs/ has no {item.config}",
                    file,
                    item.at("config"),
                    expected=f"{item.config}: {item.value!r} in configs/base.yaml",
                )
            )
            return
        value, where, line = held
        row.code = list(dict.fromkeys([f"{where}:{line}", *row.code]))
        if not equal(value, item.value):
            row.state = STALE
            self.findings.append(
                Finding(
                    "trace-stale",
                    f"{item.config} is {value!r}, the ledger decides {item.value!r} ({item.id})",
                    where,
                    line,
                    expected=repr(item.value),
                    fix="put the ledger's value back; a deviation is a decision of its own, flagged there",
                )
            )
            return
        flags = {
            anchor.tag for anchor in self.anchors if anchor.file == where and (anchor.at == line or anchor.line <= line <= anchor.end_line)
        }
        cites = any(
            anchor.place
            for anchor in self.anchors
            if anchor.file == where and (anchor.at == line or anchor.line <= line <= anchor.end_line)
        )
        flags.discard(None)
        if item.status == SPECIFIED and flags or item.status != SPECIFIED and item.status not in flags:
            said = f"[{sorted(flags)[0]}]" if flags else "a citation" if cites else "nothing"
            self.findings.append(
                Finding(
                    "trace-status",
                    f"{item.config}: the ledger says {item.status}, the config says {said}",
                    where,
                    line,
                    expected=f"[{item.status}]" if item.status != SPECIFIED else "the citation without a flag",
                    fix="one decision, one status: mend the one that is wrong",
                )
            )
        row.state = COVERED if self.used.get(item.config.rpartition(".")[2]) else UNCOVERED

    def backwards(self, ledger: Ledger) -> None:
        """Config keys that no decision names, and flags in the code that no decision made."""
        known = ledger.by_config()
        for path, (_, file, line) in self.repository.values.items():
            item = known.get(path)
            if item is None:
                self.rows.append(Row(path, "config", config=path, code=[f"{file}:{line}"], state=ORPHANED))
                self.findings.append(
                    Finding(
                        "trace-orphaned",
                        f"{path} belongs to no decision of the ledger",
                        file,
                        line,
                        expected="a decision with this config path",
                        fix="add the decision, or drop the key",
                    )
                )
            elif item.status == NOT_APPLICABLE:
                self.rows.append(Row(path, "config", item.status, path, [f"{file}:{line}"], state=UNWANTED))
                self.findings.append(Finding("trace-unwanted", f"{path} is set, but {item.id} does not apply", file, line))
        flagged = [item for item in ledger.items if item.status not in (SPECIFIED, NOT_APPLICABLE)]
        for anchor in self.anchors:
            if not anchor.tag or anchor.file.startswith("configs/"):
                continue
            mine = words(anchor.text)
            if not any(
                words(f"{item.item} {item.id} {item.using} {item.unclear} {item.config}".replace("-", " ").replace("_", " ")) & mine
                for item in flagged
                if item.status == anchor.tag
            ):
                self.findings.append(
                    Finding(
                        "trace-orphaned",
                        f"no decision of the ledger made this [{anchor.tag}] choice: {anchor.text[:80]}",
                        anchor.file,
                        anchor.line,
                        expected="a decision of the same status",
                        fix="add it to the ledger, or mend its status",
                    )
                )

    def items(self, contribution: Contribution | None) -> None:
        """Numbered equations and algorithms of the sections that the contribution builds on."""
        method = self.method(contribution)
        cited = {id for target in self.targets.values() for id in target.items}
        excused, unwanted = self.excused(contribution)
        for item in (*self.paper.equations, *self.paper.algorithms):
            if not item.number or item.section not in method:
                continue
            kind = "equation" if item.id.startswith("eq") else "algorithm"
            places = [anchor for anchor in self.anchors if item.id in getattr(self.targets.get(anchor.place), "items", ())]
            row = Row(item.id, kind, code=sorted({f"{anchor.file}:{anchor.line}" for anchor in places})[:12])
            self.rows.append(row)
            if item.id in excused:
                row.state = UNWANTED if item.id in cited and item.id in unwanted else OUT
            elif item.id in cited:
                row.state = COVERED
            else:
                name = f"{'Eq.' if kind == 'equation' else 'Algorithm'} {item.number}"
                self.findings.append(
                    Finding(
                        "trace-uncovered",
                        f"{name} of the method is neither implemented nor out of scope",
                        None,
                        None,
                        expected=f'code that cites {name}, or out_of_scope: - {{what: …, where: "{name}", why: …}}',
                        evidence=(getattr(item, "latex", None) or getattr(item, "caption", "") or "")[:200],
                    )
                )

    def method(self, contribution: Contribution | None) -> set[str]:
        """Ids of the sections whose equations and algorithms must be accounted for."""
        named: set[str] = set()
        if contribution is not None:
            for part in contribution.components:
                named |= self.places.resolve(part.where).sections if part.where else set()
                for id in self.places.resolve(part.where).items if part.where else ():
                    section = getattr(self.paper.item(id), "section", None)
                    named |= {section} if section else set()
            return named
        for section in self.paper.sections:
            if re.search(r"method|model|approach|architecture|objective|algorithm", section.title, re.I) and not self.paper.is_related(
                section
            ):
                named |= {part.id for part in self.paper.inside(section)}
        return named

    def excused(self, contribution: Contribution | None) -> tuple[set[str], set[str]]:
        out: set[str] = set()
        unwanted: set[str] = set()
        for name in ("out_of_scope", "reference"):
            for row in contribution.rows(name) if contribution is not None else []:
                if row.get("where"):
                    found = self.places.resolve(str(row["where"])).items
                    out |= found
                    unwanted |= found if name == "out_of_scope" else set()
        return out, unwanted

    def components(self, contribution: Contribution | None) -> None:
        """Every component of the contribution is defined in src/, and cites its place."""
        if contribution is None:
            return
        defined = {node.name: (module.file, node.lineno) for module in self.repository.modules for node in module.definitions}
        for part in contribution.components:
            row = Row(part.name, "component", code=[f"{defined[part.name][0]}:{defined[part.name][1]}"] if part.name in defined else [])
            self.rows.append(row)
            if part.name in defined:
                row.state = COVERED
            else:
                self.findings.append(
                    Finding(
                        "trace-uncovered",
                        f"the component {part.name} is not in src/",
                        contribution.file,
                        part.line,
                        expected=f"class or def {part.name}",
                        fix="write it, or mend the contribution",
                    )
                )


def check(
    repository: Repository, anchors: list[Anchor], places: Places, paper: Paper, ledger: Ledger | None, contribution: Contribution | None
) -> tuple[list[Finding], list[Row]]:
    """The findings and the table."""
    trace = Trace(repository, anchors, places, paper)
    if ledger is not None:
        for item in ledger.items:
            trace.decision(item, ledger.file)
        trace.backwards(ledger)
    if ledger is not None or contribution is not None:
        trace.items(contribution)
    trace.components(contribution)
    return trace.findings, trace.rows
