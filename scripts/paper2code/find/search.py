"""Search in a paper: statements ranked by BM25, a phrase, a regular expression, the items of the checklist; places by number.

What comes out can be quoted as it stands, with the place written as an anchor writes it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import asdict, dataclass, field

from paper2code import cli
from paper2code.find.checklist import load
from paper2code.find.statements import Statement, place_of_item, place_of_section, statements
from paper2code.find.sweep import sweep
from paper2code.fold import legible
from paper2code.paper import Algorithm, Bbox, Equation, Figure, Footnote, Paper, Section, Table

REGEX_SECONDS = 5.0
LONGEST_QUERY = 2000
KINDS = {
    "equation": ("equations", "Eq."),
    "table": ("tables", "Table"),
    "algorithm": ("algorithms", "Algorithm"),
    "figure": ("figures", "Figure"),
}


@dataclass
class Hit:
    """A statement that was found. `note`: what a sweep read there."""

    statement: Statement
    score: float = 0.0
    note: str = ""

    def anchor(self) -> str:
        """`§5.3 — "…"`, ready to be put into code; a table's row as its cells."""
        text = legible(" ".join(self.statement.text.split()))
        if self.statement.kind == "row":
            return f"{self.statement.place} — {text}"
        marks = "“”" if '"' in text else '""'
        return f"{self.statement.place} — {marks[0]}{text}{marks[1]}"

    def data(self) -> dict:
        statement = self.statement
        return {
            "where": statement.place,
            "page": statement.page,
            "section": statement.section,
            "kind": statement.kind,
            "quote": legible(statement.text),
            "related": statement.related,
            "score": round(self.score, 3),
            "note": self.note,
            **({"item": statement.item} if statement.item else {}),
            **({"row": statement.row} if statement.row else {}),
        }


# --- sections -------------------------------------------------------------------------------------------------------------


def sections_named(paper: Paper, name: str) -> set[str]:
    """The ids of the sections (with those inside them) that a number or a piece of a title names. Raises Stop when none does."""
    wanted = re.sub(r"^(?:§|sec(?:tion|\.)?|appendix)\s*", "", name.strip(), flags=re.I).strip().rstrip(".")
    if wanted.lower() == "abstract":
        return {"abstract"}
    named = [section for section in paper.sections if (section.number or "").rstrip(".").lower() == wanted.lower()]
    named = named or [section for section in paper.sections if wanted and wanted.lower() in section.title.lower()]
    if not named:
        raise cli.Stop(
            f"there is no section {name!r}",
            code=cli.USAGE,
            expected=some([label(section) for section in paper.sections]),
            fix="name a section by its number or a piece of its title",
        )
    return {inner.id for section in named for inner in paper.inside(section)}


def label(section: Section) -> str:
    return f"{section.number} {section.title}" if section.number else section.title


def some(names: list[str], most: int = 30) -> str:
    shown = ", ".join(name for name in names[:most] if name)
    return shown + (f" … ({len(names)} in all)" if len(names) > most else "") if shown else "the paper has none"


# --- words ----------------------------------------------------------------------------------------------------------------

WORD = re.compile(r"[a-z0-9]+(?:[.,]\d+)*|[α-ω]", re.I)
ENDING = re.compile(r"(?<=[a-z]{3})(?:ies|es|s|ing|ed|isation|ization)$")
EMPTY = frozenset("the a an of and or to in on for with is are was were be by as at it that this we our from up per each all".split())


def words(text: str) -> list[str]:
    """Words for ranking: lower case, endings cut, `warm-up` also as `warmup`, LaTeX commands by their names."""
    text = text.lower().replace("ﬁ", "fi").replace("ﬂ", "fl")
    joined = [match[1] + match[2] for match in re.finditer(r"([a-z]{2,})[-‐‑]([a-z]{2,})", text)]
    out = [ENDING.sub("", token) for token in [*WORD.findall(text), *joined]]
    return [token for token in out if token and token not in EMPTY]


def bm25s():
    """The ranking library, without the accelerator that it would import for nothing (two seconds, where it is installed)."""
    keep_out = "jax" not in sys.modules
    if keep_out:
        sys.modules["jax"] = None
    try:
        import bm25s as library
    finally:
        if keep_out:
            del sys.modules["jax"]
    return library


PHRASE = re.compile(r'"([^"]+)"|“([^”]+)”')


def search(paper: Paper, query: str, *, section: str | None = None, limit: int = 20) -> list[Hit]:
    """Statements by words, best first. A piece of the query in double quotes must stand in the statement as it is (spaces,
    hyphens and case aside)."""
    said = within(statements(paper), paper, section)
    phrases = [squeezed(match[1] or match[2]) for match in PHRASE.finditer(query)]
    if phrases:
        said = [statement for statement in said if all(phrase in squeezed(statement.text) for phrase in phrases)]
    wanted = words(query)
    if not said or not wanted:
        return []
    library = bm25s()
    corpus = [words(f"{statement.text} {statement.caption if statement.kind == 'row' else ''}") or ["-"] for statement in said]
    vocabulary = {token: number for number, token in enumerate(sorted({token for text in corpus for token in text}))}
    asked = [vocabulary[token] for token in dict.fromkeys(wanted) if token in vocabulary]
    if not asked:
        return []
    index = library.BM25()
    index.index(
        library.tokenization.Tokenized(ids=[[vocabulary[token] for token in text] for text in corpus], vocab=vocabulary),
        show_progress=False,
    )
    scores = index.get_scores_from_ids(asked)
    hits = []
    for number, score in enumerate(scores):
        if score > 0:
            weight = 0.6 if said[number].related else 0.5 if said[number].kind in ("heading", "title") else 1.0
            hits.append(Hit(said[number], float(score) * weight))
    return sorted(hits, key=lambda hit: (-hit.score, hit.statement.number))[:limit]


def phrase(paper: Paper, text: str, *, section: str | None = None, limit: int = 20) -> list[Hit]:
    """Statements that hold a text, spaces, hyphens and case aside, in the paper's order."""
    wanted = squeezed(text)
    said = within(statements(paper), paper, section)
    return [Hit(statement, 1.0) for statement in said if wanted and wanted in squeezed(statement.text)][:limit]


def squeezed(text: str) -> str:
    return re.sub(r"[\s\-‐‑–—\u00ad]+", "", text).lower()


def within(said: list[Statement], paper: Paper, section: str | None) -> list[Statement]:
    if section is None:
        return said
    ids = sections_named(paper, section)
    return [statement for statement in said if statement.section in ids]


# --- regular expressions ----------------------------------------------------------------------------------------------------

MATCHER = """
import json, re, sys
asked = json.load(sys.stdin)
pattern = re.compile(asked["pattern"], re.IGNORECASE)
for number, text in enumerate(asked["texts"]):
    if pattern.search(text):
        print(number, flush=True)
"""


def regex(
    paper: Paper, pattern: str, *, section: str | None = None, limit: int = 20, seconds: float = REGEX_SECONDS
) -> tuple[list[Hit], bool]:
    """Statements that a regular expression finds, and whether the time was enough. It runs in a process of its own: an
    expression that never ends must not keep this one. Raises Stop when it is none."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as problem:
        raise cli.Stop(
            f"{pattern!r} is not a regular expression: {problem}",
            code=cli.USAGE,
            expected="Python's syntax",
            fix="escape \\ . ( ) [ ] { } + * ? | with a backslash, or search without --regex",
        ) from problem
    said = within(statements(paper), paper, section)
    asked = json.dumps({"pattern": pattern, "texts": [statement.text for statement in said]})
    whole = True
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", MATCHER],
            input=asked,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=seconds,
            check=False,
        )
        out = done.stdout
    except subprocess.TimeoutExpired as problem:
        out, whole = (
            (problem.stdout or b"").decode("utf-8", "replace") if isinstance(problem.stdout, bytes) else (problem.stdout or ""),
            False,
        )
    return [Hit(said[int(line)], 1.0) for line in out.split() if line.isdigit()][:limit], whole


# --- the checklist ----------------------------------------------------------------------------------------------------------


def by_item(paper: Paper, name: str, *, section: str | None = None, limit: int = 20, named: bool = False) -> tuple[str, list[Hit], int]:
    """What the sweep found for an item of the checklist: its name, the statements that state it (with `named` also those that
    only name it), and how many there are in all. Raises Stop for an item that there is not."""
    item = load().find(name)
    if item is None:
        near = load().near(name)
        raise cli.Stop(
            f"the checklist has no item {name!r}",
            code=cli.USAGE,
            expected=some(near or [entry.name for entry in load().items], 60),
            fix="name one of these, or search for the words without --item",
        )
    swept = sweep(paper, only=item.name)
    ids = sections_named(paper, section) if section else None
    entries = [entry for entry in swept.evidence.get(item.name, ()) if ids is None or entry.statement.section in ids]
    stating = [entry for entry in entries if entry.tier == "states"]
    shown = entries if named or not stating else stating
    hits = []
    for entry in shown[:limit]:
        values = ", ".join(dict.fromkeys(" ".join(value.text.split()) for value in entry.values))
        note = "; ".join(
            part
            for part in (
                f"read: {values}" if values else "",
                f"column: {entry.column}" if entry.column else "",
                "" if entry.tier == "states" else "only named",
            )
            if part
        )
        hits.append(Hit(entry.statement, entry.score, note))
    return item.name, hits, len(entries)


# --- places -----------------------------------------------------------------------------------------------------------------


@dataclass
class Place:
    """An item or a page: what it says, where it is, and what part of the page shows it."""

    kind: str
    where: str
    text: str
    page: int | None = None
    bbox: Bbox | None = None
    data: dict = field(default_factory=dict)


def item_numbered(paper: Paper, kind: str, number: str) -> Place:
    """The equation, table, algorithm or figure with that printed number (or id). Raises Stop, naming those there are."""
    attribute, noun = KINDS[kind]
    items = getattr(paper, attribute)
    wanted = re.sub(r"^(?:eqn?|equation|table|tab|algorithm|alg|figure|fig)\b\.?", "", number.strip(), flags=re.I).strip(" ().").lower()
    found = next(
        (item for item in items if (item.number or "").strip("()").lower() == wanted or item.id.lower() == number.strip().lower()), None
    )
    if found is None:
        raise cli.Stop(
            f"there is no {kind} {number!r}",
            code=cli.USAGE,
            expected=some([item.number or item.id for item in items], 60),
            fix=f"name one of these, or search for words of its caption ({noun} numbers are as printed)",
        )
    section = paper.section(found.section)
    return Place(
        kind,
        place_of_item(found, place_of_section(paper, section)),
        text_of(found, paper),
        found.page or None,
        found.bbox,
        asdict(found),
    )


def text_of(item: Equation | Table | Algorithm | Figure | Footnote, paper: Paper) -> str:
    """An item as text: LaTeX, caption, lines, or a grid of cells."""
    if isinstance(item, Equation):
        lines = [item.latex or item.text or "(no text)"]
        if item.raw and item.raw != item.latex:
            lines += ["as the authors wrote it:", item.raw]
        if not item.latex:
            lines.append("(the PDF's characters only: look at the picture before trusting a sign or an index)")
        return "\n".join(lines)
    if isinstance(item, Footnote):
        return item.text
    lines = [item.caption] if item.caption else []
    if isinstance(item, Algorithm):
        lines += item.numbered()
    elif isinstance(item, Table):
        lines += [" | ".join(cell.strip() for cell in row) for row in item.rows]
    elif isinstance(item, Figure):
        lines += [f"file: {name}" for name in item.files]
    return "\n".join(lines) or "(no text)"


def page_text(paper: Paper, number: int) -> Place:
    """All statements of a page, in the paper's order. Raises Stop when the paper has no such page."""
    pages = paper.pages or max((statement.page or 0 for statement in statements(paper)), default=0)
    if not 1 <= number <= pages:
        raise cli.Stop(
            f"there is no page {number}",
            code=cli.USAGE,
            expected=f"a page between 1 and {pages}" if pages else "a paper with pages; this one was read without its PDF",
            fix="name a page of the PDF, counted from 1",
        )
    said = [statement for statement in statements(paper) if statement.page == number]
    lines, last = [], None
    for statement in said:
        if statement.place != last:
            lines.append(f"{statement.place}:")
            last = statement.place
        lines.append("  " + " ".join(statement.text.split()))
    return Place("page", f"p. {number}", "\n".join(lines) or "(nothing was read from this page: look at its picture)", number)
