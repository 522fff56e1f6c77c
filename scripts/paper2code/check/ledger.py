"""`ledger.yaml`: every decision of an implementation, written once, each with its quote or its flag.

    paper: 1706.03762v7
    items:
    - id: warmup-steps            # unique, kebab-case
      group: training             # architecture | training | data | evaluation | method
      item: warm-up               # a name of the checklist, or a new one
      status: SPECIFIED           # PARTIALLY_SPECIFIED | UNSPECIFIED | FROM_OFFICIAL_CODE | ASSUMPTION | NOT_APPLICABLE
      where: "§5.3"
      quote: "…"                  # exact words of the paper
      value: 4000                 # what configs/base.yaml holds under `config`
      config: training.warmup_steps
      code: src/train.py:warmup   # where a decision without a config value lives (file, file:name)
      unclear: "…"                # what a PARTIALLY_SPECIFIED quote leaves open
      using: "…"                  # our choice, where the paper leaves one
      alternatives: ["…"]
      why: "our choice: …"        # begins with its kind: cited work | area convention | our choice
      source: "https://…/blob/<commit>/file.py#L42"
      checked_by: "notebook: parameter count"
      reviewed: held              # held | changed | doubtful, after the second reading; why_reviewed says why
    contradictions: [{about, first: {where, quote}, second: {where, quote}, decision, why}]
    #   a side that is official code is {source: permalink, says: "…"}; a pair that was looked at and agrees has, instead of
    #   decision and why, no_contradiction: "why both hold"
    deferred: [{item, cites, says, to_check}]
    relations: [{about, expr: "training.steps * training.batch_tokens", equals: 1.0e12, tolerance: 0.02, where: "§3.1"}]

What each status needs:

| status | needs |
|---|---|
| SPECIFIED | where, quote; a numeric value stands in the quote (or in the table, equation or caption cited) |
| PARTIALLY_SPECIFIED | where, quote, unclear, using |
| UNSPECIFIED | using, alternatives, why |
| FROM_OFFICIAL_CODE | source (a permalink: commit, file, line), using or value |
| ASSUMPTION | using, why |
| NOT_APPLICABLE | why |

"Standard", "default" and "usual" settings are UNSPECIFIED, "following [X]" and a bare "we use Adam" are
PARTIALLY_SPECIFIED. What a replication by others chose is never SPECIFIED: it may be named in `why` as cited work.
"""

from __future__ import annotations

import keyword
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from paper2code.check import expression, marked
from paper2code.check.flags import PERMALINK
from paper2code.check.marked import Node
from paper2code.findings import WARNING, Finding

GROUPS = ("architecture", "training", "data", "evaluation", "method")
SPECIFIED, PARTIALLY, UNSPECIFIED = "SPECIFIED", "PARTIALLY_SPECIFIED", "UNSPECIFIED"
OFFICIAL, ASSUMPTION, NOT_APPLICABLE = "FROM_OFFICIAL_CODE", "ASSUMPTION", "NOT_APPLICABLE"
STATUSES = (SPECIFIED, PARTIALLY, UNSPECIFIED, OFFICIAL, ASSUMPTION, NOT_APPLICABLE)
FLAGS = (PARTIALLY, UNSPECIFIED, OFFICIAL, ASSUMPTION)
VERDICTS = ("held", "changed", "doubtful")
KINDS_OF_REASON = ("cited work", "area convention", "our choice")

TEXT_FIELDS = (
    "id",
    "group",
    "item",
    "status",
    "where",
    "quote",
    "config",
    "code",
    "unclear",
    "using",
    "why",
    "source",
    "checked_by",
    "reviewed",
    "why_reviewed",
)
NEEDED = {
    SPECIFIED: ("where", "quote"),
    PARTIALLY: ("where", "quote", "unclear", "using"),
    UNSPECIFIED: ("using", "alternatives", "why"),
    OFFICIAL: ("source",),
    ASSUMPTION: ("using", "why"),
    NOT_APPLICABLE: ("why",),
}
HOW = {
    "where": 'where: "§3.2" (the section, table, equation … that says it)',
    "quote": "quote: the paper's exact words (search_paper.py prints them ready to copy)",
    "unclear": "unclear: what the quote leaves open",
    "using": "using: what the code will do",
    "alternatives": 'alternatives: ["…", "…"], what else a careful reader might have chosen',
    "why": 'why: "our choice: …", "area convention: …" or "cited work: …"',
    "source": "source: a permalink https://…/blob/<40-digit commit>/file.py#L42",
}
LISTS = {
    "contradictions": ("about", "first", "second", "decision", "why", "no_contradiction"),
    "deferred": ("item", "cites", "says", "to_check"),
    "relations": ("about", "expr", "equals", "tolerance", "where"),
}
OPTIONAL = {"tolerance", "where", "says", "no_contradiction"}

# Words that name a setting without giving it; and the same words where they are terms.
VAGUE = re.compile(r"\b(standard|default|defaults|usual|usually|common practice|commonly used|conventional)\b", re.I)
TERMS = re.compile(r"\bstandard(ized)?[ -](deviations?|normal|gaussian|errors?|basis|uniform)\b", re.I)
DEFERS = re.compile(
    r"\b(following|follows?|as in|similar(ly)? to|same as in|identical to|adopted from|based on|the same \w+ as)\b"
    r"(?=[^.;]{0,60}(\[[\w ,;–-]+\]|\bet al\b|\(\s*[A-Z][^()]*\b(19|20)\d\d[a-z]?\)|\\cite|\b(19|20)\d\d[a-z]?\b))",
    re.I,
)
OPTIMISERS = re.compile(r"\b(adam|adamw|sgd|rmsprop|adagrad|adafactor|lamb|lars|lion|adadelta)\b", re.I)


@dataclass
class Item:
    """One decision. `lines` gives the line of each of its fields; `line` is its first."""

    line: int
    lines: dict[str, int] = field(default_factory=dict)
    id: str = ""
    group: str = ""
    item: str = ""
    status: str = ""
    where: str = ""
    quote: str = ""
    value: object = None
    config: str = ""
    code: str = ""
    unclear: str = ""
    using: str = ""
    alternatives: list[str] = field(default_factory=list)
    why: str = ""
    source: str = ""
    checked_by: str = ""
    reviewed: str = ""
    why_reviewed: str = ""

    def at(self, name: str) -> int:
        """The line of a field, or the item's own."""
        return self.lines.get(name, self.line)

    def numbers(self) -> list[float]:
        """The numbers among its value; booleans are none."""
        values = self.value if isinstance(self.value, list) else [self.value]
        return [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]


@dataclass
class Entry:
    """A row of contradictions, deferred or relations: its fields as plain values, and their lines."""

    line: int
    fields: dict
    lines: dict[str, int]


@dataclass
class Ledger:
    file: str
    paper: str = ""
    items: list[Item] = field(default_factory=list)
    contradictions: list[Entry] = field(default_factory=list)
    deferred: list[Entry] = field(default_factory=list)
    relations: list[Entry] = field(default_factory=list)

    def disagreements(self) -> list[Entry]:
        """The contradictions without the pairs that were looked at and agree."""
        return [row for row in self.contradictions if not row.fields.get("no_contradiction")]

    def by_config(self) -> dict[str, Item]:
        """Config path → decision; a mapping has a path for each of its keys."""
        return {part.config: part for item in self.items if item.config for part in apart(item)}

    def counts(self) -> dict[str, int]:
        """Items of each status, in the order of `STATUSES`."""
        found = Counter(item.status for item in self.items)
        return {status: found[status] for status in STATUSES}

    def values(self) -> dict[str, object]:
        """Config path, and id with underscores, → value: the names a relation may use."""
        out: dict[str, object] = {}
        for item in self.items:
            if item.value is not None:
                out[item.id.replace("-", "_")] = item.value
                if item.config:
                    out[item.config] = item.value
        return out


def mapping(value: object) -> bool:
    """Whether a value is a mapping that can be a section of its own: its keys are identifiers."""
    return isinstance(value, dict) and bool(value) and all(isinstance(key, str) and key.isidentifier() and not keyword.iskeyword(key) for key in value)


def apart(item: Item) -> list[Item]:
    """A decision about a mapping as one for each of its keys, with the path that the key has; any other as it is."""
    if not mapping(item.value):
        return [item]
    return [part for key, value in item.value.items() for part in apart(replace(item, config=f"{item.config}.{key}", value=value))]


def text_of(node: Node) -> str | None:
    """A scalar as text (numbers and dates too), None for lists and mappings."""
    if isinstance(node.value, (dict, list)):
        return None
    return "" if node.value is None else node.text.strip() if not isinstance(node.value, str) else node.value.strip()


def read(path: Path, name: str | None = None) -> tuple[Ledger | None, list[Finding]]:
    """The ledger of a file and everything wrong with its form; None when nothing can be read from it."""
    file = name or path.name
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None, [Finding("ledger-missing", f"there is no {file}", file, expected="the ledger written in stage 3")]
    except (UnicodeDecodeError, OSError) as problem:
        return None, [Finding("ledger-unreadable", f"{file} cannot be read as UTF-8 text: {problem}", file)]
    root, findings = marked.read(text, file, check="ledger")
    if root is None:
        return None, findings
    if not isinstance(root.value, dict):
        return None, [
            *findings,
            Finding(
                "ledger-form",
                "the ledger is not a mapping",
                file,
                root.line,
                expected="paper:, items:, and where needed contradictions:, deferred:, relations:",
            ),
        ]
    ledger = Ledger(file, str(root.get("paper") or ""))
    for key in root.value.keys() - {"paper", "items", *LISTS}:
        findings.append(
            Finding(
                "ledger-field",
                f"{key!r} is not a part of a ledger",
                file,
                root.line_of(key),
                expected="paper, items, contradictions, deferred, relations",
            )
        )
    for node in entries(root, "items", file, findings):
        ledger.items.append(item_of(node, file, findings))
    for name in LISTS:
        for node in entries(root, name, file, findings):
            getattr(ledger, name).append(entry_of(node, name, file, findings))
    if not ledger.items:
        findings.append(
            Finding(
                "ledger-empty",
                "the ledger has no items",
                file,
                root.line_of("items"),
                expected="a row for each point of the checklist and for each further decision",
            )
        )
    return ledger, findings


def entries(root: Node, name: str, file: str, findings: list[Finding]) -> Iterable[Node]:
    node = root.value.get(name)
    if node is None or node.value is None:
        return []
    if not isinstance(node.value, list):
        findings.append(Finding("ledger-form", f"{name} is not a list", file, node.line, expected=f"{name}: then rows with '- '"))
        return []
    good = []
    for part in node.value:
        if isinstance(part.value, dict):
            good.append(part)
        else:
            findings.append(
                Finding(
                    "ledger-form",
                    f"a row of {name} is not a mapping",
                    file,
                    part.line,
                    expected="- id: …" if name == "items" else f"- {{{', '.join(LISTS[name])}}}",
                )
            )
    return good


def item_of(node: Node, file: str, findings: list[Finding]) -> Item:
    item = Item(node.line, {key: part.line for key, part in node.value.items()})
    named = node.get("id") or f"the row on line {node.line}"
    for key, part in node.value.items():
        if key == "value":
            item.value = part.plain()
        elif key == "alternatives":
            given = part.value if isinstance(part.value, list) else [part]
            item.alternatives = [text for text in map(text_of, given) if text and text.lower() not in ("none", "n/a", "-", "—")]
        elif key in TEXT_FIELDS:
            text = text_of(part)
            if text is None:
                findings.append(
                    Finding(
                        "ledger-field",
                        f"{named}: {key} is not a single text",
                        file,
                        part.line,
                        expected=HOW.get(key, f"{key}: one text"),
                    )
                )
            setattr(item, key, text or "")
        else:
            close = [name for name in (*TEXT_FIELDS, "value", "alternatives") if name.startswith(key[:4])]
            findings.append(
                Finding(
                    "ledger-field",
                    f"{named}: {key!r} is not a field of a decision",
                    file,
                    part.line,
                    expected=", ".join((*TEXT_FIELDS, "value", "alternatives")),
                    fix=f"{close[0]}:" if close else None,
                )
            )
    return item


def entry_of(node: Node, name: str, file: str, findings: list[Finding]) -> Entry:
    settled = {"decision", "why"} if name == "contradictions" and node.get("no_contradiction") else set()
    for key in LISTS[name]:
        if key not in OPTIONAL | settled and node.get(key) in (None, "", [], {}):
            findings.append(
                Finding("ledger-field", f"a row of {name} has no {key}", file, node.line, expected=f"{{{', '.join(LISTS[name])}}}")
            )
    for key in node.value.keys() - set(LISTS[name]):
        findings.append(
            Finding("ledger-field", f"{key!r} is not a field of {name}", file, node.line_of(key), expected=", ".join(LISTS[name]))
        )
    return Entry(node.line, node.plain(), {key: part.line for key, part in node.value.items()})


# --- what each row must hold ------------------------------------------------------------------------------------------


def check_rows(ledger: Ledger) -> list[Finding]:
    """The form of every row, without the paper: ids, groups, statuses, needed fields, config paths, links, reviews."""
    out: list[Finding] = []
    file = ledger.file
    ids: dict[str, int] = {}
    configs: dict[str, Item] = {}
    for item in ledger.items:
        named = item.id or f"the row on line {item.line}"

        def add(check: str, message: str, at: str, item=item, named=named, **more) -> None:
            out.append(Finding(check, f"{named}: {message}", file, item.at(at), **more))

        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", item.id):
            add(
                "ledger-id",
                f"the id {item.id!r} is not kebab-case" if item.id else "has no id",
                "id",
                expected="id: lower-case-words-with-hyphens",
            )
        elif item.id in ids:
            add("ledger-duplicate-id", f"the id is used on line {ids[item.id]} already", "id", fix="give each decision its own id")
        ids.setdefault(item.id, item.line)
        if item.group not in GROUPS:
            add("ledger-group", f"the group {item.group!r} is none of the ledger's", "group", expected=" | ".join(GROUPS))
        if not item.item:
            add("ledger-item", "names no item", "item", expected="item: the checklist's name, or a new one")
        if item.status not in STATUSES:
            add("ledger-status", f"the status {item.status!r} is not known", "status", expected=" | ".join(STATUSES))
            continue
        for name in NEEDED[item.status]:
            if not getattr(item, name):
                add(
                    f"ledger-{name}-missing",
                    f"{item.status} without {name}",
                    "status",
                    expected=HOW[name],
                    fix=None if name != "quote" else "find the words with search_paper.py; without words it is UNSPECIFIED",
                )
        if item.why and not says_something(re.sub(rf"^(?:{'|'.join(KINDS_OF_REASON)})\\b", "", item.why, flags=re.I)):
            add("ledger-why-missing", f"the reason {item.why!r} says nothing", "why", expected=HOW["why"])
        if item.status in (UNSPECIFIED, ASSUMPTION) and item.why and not item.why.lower().startswith(KINDS_OF_REASON):
            add(
                "ledger-why-kind",
                "the reason does not begin with its kind",
                "why",
                expected=" | ".join(f'"{kind}: …"' for kind in KINDS_OF_REASON),
            )
        if item.status == OFFICIAL:
            if item.source and not PERMALINK.fullmatch(item.source):
                add(
                    "ledger-source",
                    f"{item.source!r} is no permalink",
                    "source",
                    expected=HOW["source"],
                    fix="a branch moves; name the commit (find_official_code.py --bring says which)",
                )
            if not item.using and item.value is None:
                add("ledger-using-missing", "FROM_OFFICIAL_CODE without what was taken", "status", expected="using: … or value: …")
        if item.status == UNSPECIFIED and item.quote:
            add(
                "ledger-status",
                "UNSPECIFIED with a quote: what the paper says is either enough or partial",
                "quote",
                expected="SPECIFIED or PARTIALLY_SPECIFIED, or no quote (words that rule a passage out belong into why)",
            )
        if item.status == NOT_APPLICABLE and (item.config or item.value is not None):
            add("ledger-status", "NOT_APPLICABLE with a value", "value", fix="drop the value, or give the row its true status")
        if item.using and item.alternatives and any(same(item.using, other) for other in item.alternatives):
            add(
                "ledger-alternatives",
                "the choice itself is listed as an alternative",
                "alternatives",
                expected="what else might have been chosen",
            )
        if item.config:
            if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", item.config):
                add(
                    "ledger-config",
                    f"{item.config!r} is no path into configs/base.yaml",
                    "config",
                    expected="config: section.key",
                )
            elif item.config in configs and configs[item.config].value != item.value:
                add(
                    "ledger-config",
                    f"{item.config} has another value in {configs[item.config].id!r}",
                    "config",
                    fix="one value, one decision: merge the rows or name another key",
                )
            configs.setdefault(item.config, item)
            if item.value is None:
                add("ledger-config", f"{item.config} has no value to hold", "config", expected="value: …")
        if item.reviewed:
            if item.reviewed not in VERDICTS:
                add("ledger-review", f"reviewed: {item.reviewed!r} is not known", "reviewed", expected=" | ".join(VERDICTS))
            elif not says_something(item.why_reviewed):
                add(
                    "ledger-review",
                    f"reviewed without why_reviewed ({item.why_reviewed!r} says nothing)" if item.why_reviewed else "reviewed without why_reviewed",
                    "reviewed",
                    expected="why_reviewed: what was looked at, and what it said",
                )
            elif item.reviewed == "doubtful" and item.status == SPECIFIED:
                add(
                    "ledger-review",
                    "the second reading doubts it, yet it is SPECIFIED",
                    "status",
                    expected=f"{PARTIALLY} with what is unclear",
                )
    reasons: dict[str, list[Item]] = defaultdict(list)
    for item in ledger.items:
        if item.reviewed and item.why_reviewed:
            reasons[" ".join(item.why_reviewed.lower().split())].append(item)
    for same_reason in reasons.values():
        if len({item.quote or item.id for item in same_reason}) > 2:  # rows that share their quote may share what was read again
            out.append(
                Finding(
                    "ledger-review",
                    f"{len(same_reason)} rows have one why_reviewed: {', '.join(item.id for item in same_reason[:6])}",
                    file,
                    same_reason[2].at("why_reviewed"),
                    expected="for each row what was looked at again, and what it said of this row",
                    evidence=same_reason[0].why_reviewed[:160],
                )
            )
    for entry in ledger.contradictions:
        reason = entry.fields.get("no_contradiction")
        if reason is not None and not (isinstance(reason, str) and says_something(reason)):
            out.append(
                Finding(
                    "ledger-contradiction",
                    f"no_contradiction: {reason!r} says nothing",
                    file,
                    entry.lines.get("no_contradiction", entry.line),
                    expected='no_contradiction: "why both hold" (two models, two experiments, a bound and a value)',
                    fix="say of what each of the two sentences speaks, or decide",
                )
            )
        for side in ("first", "second"):
            given = entry.fields.get(side)
            if isinstance(given, dict) and given.get("source"):
                if not PERMALINK.fullmatch(str(given["source"])) or not given.get("says"):
                    out.append(
                        Finding(
                            "ledger-contradiction",
                            f"{side} has a source that is no permalink, or does not say what the code does",
                            file,
                            entry.lines.get(side, entry.line),
                            expected=f'{side}: {{source: "https://…/blob/<40-digit commit>/file.py#L42", says: "…"}}',
                        )
                    )
            elif given is not None and not (isinstance(given, dict) and given.get("where") and given.get("quote")):
                out.append(
                    Finding(
                        "ledger-contradiction",
                        f"{side} has no where and quote (for official code: no source and says)",
                        file,
                        entry.lines.get(side, entry.line),
                        expected=f'{side}: {{where: "§…", quote: "…"}}',
                    )
                )
    return out


def says_something(reason: str) -> bool:
    """Whether a reason has words at all: "ok", "..." and "n/a" are none."""
    return len(re.findall(r"\w", reason)) >= 8


def same(one: str, other: str) -> bool:
    def bare(text: str) -> str:
        return re.sub(r"\W+", "", re.split(r"[(,;:]", text)[0]).lower()

    return bool(bare(one)) and bare(one) == bare(other)


def check_paper_named(ledger: Ledger, id: str, version: int | None) -> list[Finding]:
    """A ledger belongs to one paper and one version of it. A paper from a local file has no id to compare with."""
    if not id and ledger.paper:
        return []
    given = ledger.paper
    bare, _, number = given.partition("v") if re.search(r"\dv\d+\Z", given) else (given, "", "")
    if not given:
        return [
            Finding(
                "ledger-paper",
                "the ledger does not name its paper",
                ledger.file,
                1,
                expected=f"paper: {id}{f'v{version}' if version else ''}",
            )
        ]
    if id and (bare != id or (number and version and int(number) != version)):  # a local file has no id
        return [
            Finding(
                "ledger-paper",
                f"the ledger is about {given}, the paper at hand is {id}{f'v{version}' if version else ''}",
                ledger.file,
                1,
                fix="check the quotes again on this paper and then name it, or fetch the ledger's paper",
            )
        ]
    return []


def name_key(name: str) -> str:
    """A checklist name for comparison: letters and digits only, lower case."""
    return re.sub(r"[^a-z0-9]+", "", name.lower())


def check_complete(ledger: Ledger, wanted: Iterable[tuple[str, str]]) -> list[Finding]:
    """Every point of the checklist (group, name) has a row. Raises nothing; an empty checklist is itself a finding."""
    wanted = list(wanted)
    if not wanted:
        return [Finding("ledger-checklist", "there is no checklist to hold the ledger against", ledger.file)]
    have = {name_key(item.item) for item in ledger.items} | {name_key(item.id) for item in ledger.items}
    missing = [(group, name) for group, name in wanted if name_key(name) not in have]
    return [
        Finding(
            "ledger-incomplete",
            f"no row for {name!r} ({group})",
            ledger.file,
            expected=f"a row with item: {name}",
            fix=f"search_paper.py WORK --item {name!r} shows what the paper says of it; where it has no place in this "
            "paper, NOT_APPLICABLE with why",
        )
        for group, name in missing
    ]


# --- against the paper ------------------------------------------------------------------------------------------------


def check_wording(ledger: Ledger, states: Callable[[Item], bool | None]) -> list[Finding]:
    """The rules on "standard", "following [X]" and a bare optimiser. `states(item)`: whether the quote or the place states
    the item's value (None: the value is no number or word that could be looked for)."""
    out: list[Finding] = []
    details = {name_key(item.item): item for item in ledger.items}
    listed = {str(entry.fields.get("item", "")) for entry in ledger.deferred}
    for item in ledger.items:
        quote = TERMS.sub(" ", item.quote)
        if item.status == SPECIFIED and quote:
            vague, defers = VAGUE.search(quote), DEFERS.search(quote)
            if vague and not states(item):
                out.append(
                    Finding(
                        "ledger-vague",
                        f"{item.id}: SPECIFIED by {vague.group(0)!r}, which gives no value",
                        ledger.file,
                        item.at("quote"),
                        expected=f"{UNSPECIFIED} with choice and alternatives",
                        fix=f"status: {UNSPECIFIED}, using:, alternatives:, why: (where the quote does hold the value, put it under value:)",
                        evidence=item.quote,
                    )
                )
            elif defers and not states(item):
                out.append(
                    Finding(
                        "ledger-deferred",
                        f"{item.id}: SPECIFIED by {defers.group(0)!r} another work",
                        ledger.file,
                        item.at("quote"),
                        expected=f"{PARTIALLY}, with the work under deferred:",
                        fix="look the work up, and say in using: what it says",
                        evidence=item.quote,
                    )
                )
            if (
                "optimis" in name_key(item.item) + name_key(item.item).replace("optimiz", "optimis")
                and OPTIMISERS.search(quote)
                and not re.search(r"\d", re.sub(r"\[[\d, –-]+\]", "", quote))
            ):
                open_ones = [
                    row.item
                    for key, row in details.items()
                    if key in ("betas", "momentum", "epsilon", "optimiserepsilon") and row.status in (UNSPECIFIED, ASSUMPTION)
                ]
                if open_ones:
                    out.append(
                        Finding(
                            "ledger-bare-optimiser",
                            f"{item.id}: the optimiser is named but its {', '.join(open_ones)} are not",
                            ledger.file,
                            item.at("status"),
                            expected=f"{PARTIALLY} with what is unclear",
                            evidence=item.quote,
                        )
                    )
        if item.status == PARTIALLY and DEFERS.search(quote) and item.id not in listed and item.item not in listed:
            out.append(
                Finding(
                    "ledger-deferred",
                    f"{item.id}: defers to another work that deferred: does not list",
                    ledger.file,
                    item.at("quote"),
                    expected=f"deferred: - {{item: {item.id}, cites: …, says: …, to_check: …}}",
                    severity=WARNING,
                )
            )
    return out


def can_fail(expr: str, equals: str, values: dict[str, object], difference: float) -> bool:
    """Whether the two sides of a relation drift apart or together when one of the values it names is another."""
    for name in expression.names(expr):
        given = values.get(name)
        if isinstance(given, bool) or not isinstance(given, (int, float)):
            return True  # an element of a list: taken as it is
        for changed in (given * 3 + 1, given / 3 - 1):
            other = {**values, name: changed}
            try:
                if abs(expression.evaluate(expr, other) - expression.evaluate(equals, other) - difference) > 1e-12 * max(abs(difference), 1e-9):
                    return True
            except expression.NotArithmetic:
                return True
    return False


def check_relations(ledger: Ledger) -> list[Finding]:
    """Arithmetic between values. A relation that fails is an error, unless the paper's own inconsistency is listed under
    contradictions with the same `about`."""
    out: list[Finding] = []
    values = ledger.values()
    admitted = {name_key(str(entry.fields.get("about", ""))) for entry in ledger.disagreements()}
    for entry in ledger.relations:
        about, expr = str(entry.fields.get("about", "")), str(entry.fields.get("expr", ""))
        line = entry.lines.get("expr", entry.line)
        try:
            if not expression.names(expr):
                raise expression.NotArithmetic(f"{expr!r} uses no value of the ledger, so it cannot fail")
            left = expression.evaluate(expr, values)
            right = expression.evaluate(str(entry.fields.get("equals", "")), values)
            if not (math.isfinite(left) and math.isfinite(right)):
                raise expression.NotArithmetic(f"{left:g} against {right:g} compares nothing")
            if not can_fail(expr, str(entry.fields.get("equals", "")), values, left - right):
                raise expression.NotArithmetic(f"{expr!r} is the same whatever the ledger's values are, so it cannot fail")
            tolerance = float(entry.fields.get("tolerance") or 1e-9)
            if not 0 <= tolerance < 0.5:
                raise expression.NotArithmetic(f"a tolerance of {tolerance} checks nothing; it is relative, such as 0.02")
        except (expression.NotArithmetic, ValueError, TypeError) as problem:
            out.append(
                Finding(
                    "ledger-relation",
                    f"{about}: {problem}",
                    ledger.file,
                    line,
                    expected="expr: arithmetic on config paths or ids of the ledger; equals: a number or the like",
                )
            )
            continue
        if abs(left - right) > tolerance * max(abs(left), abs(right)):
            known = name_key(about) in admitted
            out.append(
                Finding(
                    "ledger-relation",
                    f"{about}: {expr} = {left:.6g}, not {right:.6g} (tolerance {tolerance:g})",
                    ledger.file,
                    line,
                    severity=WARNING if known else "error",
                    expected="values that agree" if not known else "listed as a contradiction of the paper",
                    fix=None
                    if known
                    else f"read both places again; when the paper itself disagrees, list it under contradictions: with about: {about}",
                )
            )
    return out


SECTION_WORD = re.compile(r"\b(?:section|sec\.?|appendix|app\.?)\s*(?=§|\d|(?-i:[A-Z]))§?", re.I)  # "Appendix E.2" is "§E.2"


def check_evidence(ledger: Ledger, found: Callable[[str], list[tuple[str, str]]]) -> list[Finding]:
    """Nothing that the sweep found is called UNSPECIFIED without a word on why.

    `found(name)`: (place, sentence) of each statement with a value, about this work, that the sweep has for a checklist
    name. The reason must name one of those places (`§5.3 speaks of the baseline`), so that it shows it was read.
    """
    out = []
    for item in ledger.items:
        if item.status not in (UNSPECIFIED, NOT_APPLICABLE, ASSUMPTION):
            continue
        evidence = found(item.item)
        places = {place for place, _ in evidence}
        named = SECTION_WORD.sub("§", item.why)
        if evidence and not any(
            re.search(rf"(?<![\w.]){re.escape(SECTION_WORD.sub('§', place))}(?![\w]|\.\d)", named, re.I) for place in places
        ):
            place, sentence = evidence[0]
            out.append(
                Finding(
                    "ledger-evidence",
                    f"{item.id} is {item.status}, but the paper speaks of {item.item!r} in {', '.join(sorted(places)[:4])}",
                    ledger.file,
                    item.at("status"),
                    expected="the status that this evidence gives, or a why that names the place and says why it does not settle it",
                    fix=f'read {place} again; e.g. why: "our choice: {place} speaks of …"',
                    evidence=sentence[:300],
                )
            )
    return out


def riskiest(ledger: Ledger, limit: int = 10) -> list[tuple[Item, str]]:
    """The rows that a second reader should try to refute first, each with the reason. What no program can check is worst:
    a true quote that carries a claim it may not support."""
    used = Counter(re.sub(r"\W+", "", item.quote.lower()) for item in ledger.items if item.quote)
    contradicted = {name_key(str(entry.fields.get("about", ""))) for entry in ledger.disagreements()}
    scored: list[tuple[float, int, Item, str]] = []
    for item in ledger.items:
        reasons: dict[str, float] = {}
        words = len(item.quote.split())
        if item.status == SPECIFIED:
            if item.value is not None and not item.numbers():
                reasons["the value is a reading of the quote, not a number in it"] = 3
            if item.value is None:
                reasons["nothing but the quote says what was decided"] = 2
            if words and words < 5 and not item.numbers():
                reasons["a very short quote"] = 1.5
        if item.status == PARTIALLY:
            reasons["the paper leaves it open"] = 2.5
        if item.status == ASSUMPTION:
            reasons["an assumption"] = 2.5
        if item.status == UNSPECIFIED and item.group in ("architecture", "method"):
            reasons["called UNSPECIFIED in the method itself"] = 1.5
        if item.quote and used[re.sub(r"\W+", "", item.quote.lower())] > 2:
            reasons["its quote serves several rows"] = 1.5
        if name_key(item.id) in contradicted or name_key(item.item) in contradicted:
            reasons["the paper contradicts itself about it"] = 2
        if re.search(r"\bfig(ure)?\b", item.where, re.I):
            reasons["read from a figure"] = 2
        if reasons and item.group == "method":
            reasons["it is the method"] = 1
        if reasons:
            scored.append((-sum(reasons.values()), item.line, item, "; ".join(reasons)))
    scored.sort(key=lambda entry: entry[:2])
    # Flags say themselves that they are unsure; half the places are kept for what is called certain.
    certain = [entry for entry in scored if entry[2].status == SPECIFIED]
    flagged = [entry for entry in scored if entry[2].status != SPECIFIED]
    kept = max(limit - limit // 2, limit - len(certain))
    chosen = certain[: limit - min(kept, len(flagged))] + flagged[:kept]
    return [(item, why) for _, _, item, why in sorted(chosen, key=lambda entry: entry[:2])[:limit]]


def out_of_scope(code: str) -> bool:
    """Whether a row's `code` says that nothing implements it."""
    return code.lower().startswith(("out of scope", "none", "not implemented"))


CODE_PLACE = re.compile(
    r"(?P<file>(?:src|configs|notebooks)/[\w./-]+\.(?:py|ya?ml|ipynb)|README\.md|REPRODUCTION_NOTES\.md|requirements\.txt)"
    r"(?::(?P<name>[A-Za-z_]\w*)(?:\.\w+)*)?"
)


def check_code(ledger: Ledger, components: dict[str, str]) -> list[Finding]:
    """`code` names a file of src/ and one place for each component. `components`: name → the file it says itself, or ""."""
    out: list[Finding] = []
    files = dict(components)
    for item in ledger.items:
        if not item.code or out_of_scope(item.code) or item.code in components:
            continue
        named = CODE_PLACE.fullmatch(item.code)
        if named is None:
            out.append(
                Finding(
                    "ledger-code",
                    f"{item.id}: code: {item.code!r} is no place in the result",
                    ledger.file,
                    item.at("code"),
                    expected='src/file.py, src/file.py:name, a component\'s name, or "out of scope: why"',
                )
            )
            continue
        name, file = named["name"], named["file"]
        if name in files and files[name] and files[name] != file:
            out.append(
                Finding(
                    "ledger-code",
                    f"{item.id}: {name} is put into {file}, elsewhere into {files[name]}",
                    ledger.file,
                    item.at("code"),
                    expected="one file for each component",
                    fix=f"code: {files[name]}:{name}, or file: {file} in contribution.md",
                )
            )
        elif name in files:
            files[name] = file
    return out


def check_reviews(ledger: Ledger, limit: int = 10) -> list[Finding]:
    """The riskiest rows have had their second reading."""
    return [
        Finding(
            "ledger-unreviewed",
            f"{item.id}: no second reading yet ({why})",
            ledger.file,
            item.line,
            expected="reviewed: held | changed | doubtful, and why_reviewed",
            fix=f"try to refute it from {item.where or 'the paper'} alone, then write the verdict",
        )
        for item, why in riskiest(ledger, limit)
        if not item.reviewed
    ]


def check_reuse(ledger: Ledger) -> list[Finding]:
    """One quote that carries many unlike decisions, none of whose values stand in it."""
    by_quote: dict[str, list[Item]] = defaultdict(list)
    for item in ledger.items:
        if item.quote and item.status == SPECIFIED and not item.numbers():
            by_quote[re.sub(r"\W+", "", item.quote.lower())].append(item)
    return [
        Finding(
            "ledger-quote-reused",
            f"one quote carries {len(items)} decisions: {', '.join(i.id for i in items[:5])}",
            ledger.file,
            items[0].at("quote"),
            severity=WARNING,
            expected="for each decision the words that settle it",
            evidence=items[0].quote[:200],
        )
        for items in by_quote.values()
        if len(items) > 2
    ]
