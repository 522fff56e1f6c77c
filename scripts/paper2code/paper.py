"""The one document model: what a paper says and where. Every reader makes a `Paper`, everything else reads one.

`paper.json` is `Paper.data()` as JSON. Coordinates are PDF points with the origin at the top left of the page,
pages count from 1. Ids are unique within a paper: a numbered section's id is its printed number, an item's is its
kind and printed number (`eq-4`, `tab-2`, `alg-1`, `fig-3`, `fn-5`), unnumbered ones get `-u1`, `-u2` … (`eq-u1`).
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from paper2code import files

SCHEMA = 1
SOURCES = ("latex", "html", "pdf", "text")
BLOCK_KINDS = ("paragraph", "equation", "algorithm", "table", "figure", "list", "code", "theorem", "footnote-mark")

Bbox = list[float]  # x0, y0, x1, y1


@dataclass
class Block:
    """A piece of a section in reading order. `text` holds the words of paragraph, list, code and theorem blocks, with
    inline mathematics as `$…$`; for the other kinds `ref` is the id of the item and `text` may be empty.
    `cites` are keys of `Paper.references`. `number` is a theorem's printed name ("Theorem 3.1")."""

    kind: str
    text: str = ""
    ref: str | None = None
    number: str | None = None
    cites: list[str] = field(default_factory=list)
    page: int | None = None
    bbox: Bbox | None = None
    source: str | None = None


@dataclass
class Section:
    """`number` as printed ("3.2.1", "A.1"; None when starred). `level` counts from 1. The list of sections is flat and
    in reading order; a section's parent is the nearest one before it with a smaller level."""

    id: str
    title: str
    number: str | None = None
    level: int = 1
    appendix: bool = False
    page: int | None = None
    bbox: Bbox | None = None
    source: str | None = None
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Equation:
    """A display formula; of a multi-row display one equation a printed number (a row without number belongs to the
    numbered row it leads up to). `latex`: author macros expanded, None when only the PDF gave it; `raw`: as the author
    wrote it; `text`: what the PDF's glyphs read. `group`: the same for all rows of one display."""

    id: str
    number: str | None = None
    latex: str | None = None
    raw: str | None = None
    text: str | None = None
    label: str | None = None
    group: str | None = None
    section: str | None = None
    page: int | None = None
    bbox: Bbox | None = None
    source: str | None = None
    confirmed_by: list[str] = field(default_factory=list)


@dataclass
class Algorithm:
    """`lines`: readable, indentation kept as two spaces a level, mathematics as `$…$`, without printed line numbers.
    `numbers`: for each line the number printed before it, "" where none is (Require and Input, a comment or a piece on a row
    of its own); empty where the lines are not numbered. Numbers skip where a numbered line is blank."""

    id: str
    number: str | None = None
    caption: str = ""
    lines: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    label: str | None = None
    section: str | None = None
    page: int | None = None
    bbox: Bbox | None = None
    source: str | None = None
    confirmed_by: list[str] = field(default_factory=list)


    def called(self, row: int) -> str:
        """The number by which a line (a row from 1) is cited: the printed one; that of the line which a piece without a number
        goes on from, "" for what stands before the first; the row itself where lines are not numbered."""
        if not self.numbers:
            return str(row)
        return next((number for number in reversed(self.numbers[:row]) if number), "")

    def numbered(self) -> list[str]:
        """The lines with the numbers by which they are cited before them."""
        numbers = self.numbers or [str(row) for row in range(1, len(self.lines) + 1)]
        return [f"{number:>3}  {line}" for number, line in zip(numbers, self.lines, strict=True)]

    def rows_called(self, first: int, last: int) -> set[int]:
        """The rows (from 1) of the lines that are cited as first–last."""
        called = {row: self.called(row) for row in range(1, len(self.lines) + 1)}
        return {row for row, number in called.items() if number.isdecimal() and first <= int(number) <= last}


@dataclass
class Table:
    """`rows`: the grid as strings; a cell that spans columns is followed by empty cells."""

    id: str
    number: str | None = None
    caption: str = ""
    rows: list[list[str]] = field(default_factory=list)
    label: str | None = None
    section: str | None = None
    page: int | None = None
    bbox: Bbox | None = None
    source: str | None = None
    confirmed_by: list[str] = field(default_factory=list)


@dataclass
class Figure:
    id: str
    number: str | None = None
    caption: str = ""
    label: str | None = None
    files: list[str] = field(default_factory=list)
    section: str | None = None
    page: int | None = None
    bbox: Bbox | None = None
    source: str | None = None
    confirmed_by: list[str] = field(default_factory=list)


@dataclass
class Footnote:
    """`kind`: footnote, thanks (title notes) or tablenote."""

    id: str
    text: str
    number: str | None = None
    kind: str = "footnote"
    section: str | None = None
    page: int | None = None
    bbox: Bbox | None = None
    source: str | None = None


@dataclass
class Reference:
    """`label` as printed in the text ("12", "Kingma and Ba, 2014")."""

    key: str
    text: str
    label: str | None = None
    title: str | None = None
    authors: list[str] = field(default_factory=list)
    year: str | None = None
    arxiv: str | None = None
    doi: str | None = None
    url: str | None = None
    page: int | None = None


@dataclass
class Link:
    """`where`: abstract, text, footnote, reference, caption, comments, annotation. `context`: the sentence around it."""

    url: str
    text: str = ""
    context: str = ""
    where: str = "text"
    section: str | None = None
    page: int | None = None
    bbox: Bbox | None = None


@dataclass
class SourceFile:
    """What a part was read from. `role`: latex, html, pdf, text, metadata. `sha256` of the file as downloaded."""

    role: str
    name: str
    url: str | None = None
    time: str | None = None
    sha256: str | None = None
    size: int | None = None


@dataclass
class Warning:
    """Something a reader of the paper must know of the reading. `kind` is kebab-case; `where` an id, a file or a page."""

    kind: str
    message: str
    where: str | None = None


@dataclass(frozen=True)
class Passage:
    """A stretch of quotable text and its place. `kind` is the block's or item's kind (paragraph, caption, cell, …);
    `item` the id of the table, figure, algorithm, equation or footnote it belongs to; `row` a table's row or an
    algorithm's line, from 1 (how a line is cited: `Algorithm.called`). `related`: it stands in a section about others' work."""

    text: str
    kind: str
    section: str | None = None
    item: str | None = None
    row: int | None = None
    page: int | None = None
    bbox: tuple[float, ...] | None = None
    source: str | None = None
    appendix: bool = False
    related: bool = False
    cites: tuple[str, ...] = ()


@dataclass
class Paper:
    schema: int = SCHEMA
    id: str = ""
    version: int | None = None
    title: str = ""
    authors: list[str] = field(default_factory=list)
    abstract: str = ""
    sections: list[Section] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    algorithms: list[Algorithm] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    footnotes: list[Footnote] = field(default_factory=list)
    thanks: list[Footnote] = field(default_factory=list)  # notes of title and authors (kind thanks); quotable like footnotes
    references: list[Reference] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    hidden: list[dict] = field(default_factory=list)  # text not meant to be seen: {text, how, where, page}; never quotable
    pages: int | None = None
    sources: list[SourceFile] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
    measures: dict[str, float] = field(default_factory=dict)  # e.g. word_recall, garbled

    # --- as JSON ---------------------------------------------------------------------------------------------------

    def data(self) -> dict:
        return dataclasses.asdict(self)

    @classmethod
    def from_data(cls, data: object) -> Paper:
        """The paper a JSON object holds. Raises ValueError naming every wrong place when it holds none."""
        problems = check(data)
        if problems:
            raise ValueError(f"not a paper.json of schema {SCHEMA}: {'; '.join(problems[:8])}")
        return build(cls, data)

    def save(self, path: str | Path) -> Path:
        return files.write_json(path, self.data())

    @classmethod
    def load(cls, path: str | Path) -> Paper:
        return cls.from_data(files.read_json(path))

    # --- looking things up -----------------------------------------------------------------------------------------

    def section(self, id: str | None) -> Section | None:
        return next((section for section in self.sections if section.id == id), None)

    def parents(self, section: Section) -> list[Section]:
        """The section itself and those it lies in, innermost first."""
        chain, level = [section], section.level
        for before in reversed(self.sections[: self.sections.index(section)]):
            if before.level < level:
                chain.append(before)
                level = before.level
        return chain

    def inside(self, section: Section) -> list[Section]:
        """The section itself and all its subsections, in reading order."""
        start = self.sections.index(section)
        out = [section]
        for after in self.sections[start + 1:]:
            if after.level <= section.level:
                break
            out.append(after)
        return out

    def is_related(self, section: Section) -> bool:
        """Whether a section speaks of others' work, by its own title or a parent's."""
        return any(RELATED.search(part.title) for part in self.parents(section))

    def items(self) -> Iterator[Equation | Algorithm | Table | Figure | Footnote]:
        for kind in (self.equations, self.algorithms, self.tables, self.figures, self.footnotes, self.thanks):
            yield from kind

    def item(self, id: str | None) -> Equation | Algorithm | Table | Figure | Footnote | None:
        return next((item for item in self.items() if item.id == id), None)

    def passages(self) -> Iterator[Passage]:
        """All quotable text, each stretch once: title, abstract, blocks in order, then what stands in items.

        Equations come as their LaTeX (the PDF's glyphs where there is none), tables cell by cell, algorithms line by
        line. References and hidden text are not among them.
        """
        if self.title:
            yield Passage(self.title, "title", page=1 if self.pages else None)
        if self.abstract:
            yield Passage(self.abstract, "abstract", section="abstract", page=1 if self.pages else None)
        state = {}
        for section in self.sections:
            state[section.id] = here = {"section": section.id, "appendix": section.appendix, "related": self.is_related(section)}
            yield Passage(section.title, "heading", page=section.page, source=section.source, **here)
            for block in section.blocks:
                if block.text and block.kind in ("paragraph", "list", "code", "theorem"):
                    yield Passage(block.text, block.kind, page=block.page, bbox=box(block.bbox), source=block.source,
                                  cites=tuple(block.cites), **here)
        for item in self.items():
            here = {**state.get(item.section, {"section": item.section}), "item": item.id, "page": item.page,
                    "bbox": box(item.bbox), "source": item.source}
            if isinstance(item, Equation):
                if item.latex or item.text:
                    yield Passage(item.latex or item.text, "equation", **here)
            elif isinstance(item, Footnote):
                yield Passage(item.text, "footnote", **here)
            else:
                if item.caption:
                    yield Passage(item.caption, "caption", **here)
                for number, line in enumerate(getattr(item, "lines", ()), 1):
                    yield Passage(line, "line", row=number, **here)
                for number, row in enumerate(getattr(item, "rows", ()), 1):
                    for cell in row:
                        if cell.strip():
                            yield Passage(cell, "cell", row=number, **here)

    def warn(self, kind: str, message: str, where: str | None = None) -> None:
        warning = Warning(kind, message, where)
        if warning not in self.warnings:
            self.warnings.append(warning)


RELATED = re.compile(r"\b(related|prior|previous|earlier|existing)\s+(works?|literature|research|approaches|methods|studies)\b"
                     r"|\bbackground and related\b|\bliterature review\b", re.I)


def box(bbox: Bbox | None) -> tuple[float, ...] | None:
    return tuple(bbox) if bbox else None


# --- from and to JSON, and what is wrong with it -----------------------------------------------------------------------


def build(kind: object, value: object) -> object:
    """`value` (JSON) as an instance of `kind`, a dataclass or the type of one of its fields."""
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{name: build(hints[name], given) for name, given in value.items() if name in hints})
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return [build(inner[0], part) for part in value]
    if origin in (typing.Union, types.UnionType) and value is not None:
        return build(next(part for part in inner if part is not type(None)), value)
    if kind is float and isinstance(value, int):
        return float(value)
    return value


def wrong(kind: object, value: object, place: str) -> Iterator[str]:
    """What keeps `value` from being a `kind`, each with its place."""
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            yield f"{place}: an object was expected, not {type(value).__name__}"
            return
        hints = typing.get_type_hints(kind)
        for entry in dataclasses.fields(kind):
            if entry.name in value:
                yield from wrong(hints[entry.name], value[entry.name], f"{place}.{entry.name}")
            elif entry.default is dataclasses.MISSING and entry.default_factory is dataclasses.MISSING:
                yield f"{place}.{entry.name}: missing"
        for name in value.keys() - hints.keys():
            yield f"{place}.{name}: not a field of {kind.__name__}"
        return
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if value is not None:
            yield from wrong(next(part for part in inner if part is not type(None)), value, place)
    elif origin is list:
        if not isinstance(value, list):
            yield f"{place}: a list was expected, not {type(value).__name__}"
            return
        for number, part in enumerate(value):
            yield from wrong(inner[0], part, f"{place}[{number}]")
    else:
        plain = origin or kind
        good = isinstance(value, (int, float)) if plain is float else isinstance(value, plain)
        if not good or (isinstance(value, bool) and plain is not bool):
            yield f"{place}: {plain.__name__} was expected, not {type(value).__name__}"


def check(data: object) -> list[str]:
    """Everything wrong with a `paper.json`, each naming its place; empty when it is sound."""
    if not isinstance(data, dict):
        return [f"paper: an object was expected, not {type(data).__name__}"]
    if data.get("schema") != SCHEMA:
        return [f"paper.schema: {data.get('schema')!r}, but this version reads {SCHEMA}; fetch the paper again"]
    problems = list(wrong(Paper, data, "paper"))
    if problems:
        return problems
    ids: set[str] = set()
    known = {section["id"] for section in data.get("sections", ())} | {"abstract", None}
    for name in ("sections", "equations", "algorithms", "tables", "figures", "footnotes", "thanks"):
        for number, item in enumerate(data.get(name, ())):
            place = f"paper.{name}[{number}]"
            if item["id"] in ids:
                problems.append(f"{place}.id: {item['id']!r} is used twice")
            ids.add(item["id"])
            if name == "sections" and item.get("level", 1) < 1:
                problems.append(f"{place}.level: {item['level']} is less than 1")
            if item.get("section") not in known:
                problems.append(f"{place}.section: there is no section {item['section']!r}")
            if name == "algorithms" and len(item.get("numbers", ())) not in (0, len(item.get("lines", ()))):
                problems.append(f"{place}.numbers: {len(item['numbers'])} numbers for {len(item.get('lines', ()))} lines")
            if item.get("source") not in (*SOURCES, None):
                problems.append(f"{place}.source: {item['source']!r} is none of {', '.join(SOURCES)}")
            if item.get("bbox") is not None and len(item["bbox"]) != 4:
                problems.append(f"{place}.bbox: four numbers were expected")
    for number, section in enumerate(data.get("sections", ())):
        for at, block in enumerate(section.get("blocks", ())):
            place = f"paper.sections[{number}].blocks[{at}]"
            if block["kind"] not in BLOCK_KINDS:
                problems.append(f"{place}.kind: {block['kind']!r} is none of {', '.join(BLOCK_KINDS)}")
            if block.get("ref") is not None and block["ref"] not in ids:
                problems.append(f"{place}.ref: nothing has the id {block['ref']!r}")
    return problems


def unique_id(wanted: str, taken: set[str]) -> str:
    """`wanted`, or `wanted~2`, `~3` … when it is taken; the result is added to `taken`."""
    out, count = wanted, 1
    while out in taken:
        count += 1
        out = f"{wanted}~{count}"
    taken.add(out)
    return out


PREFIX = {Equation: "eq", Algorithm: "alg", Table: "tab", Figure: "fig", Footnote: "fn"}


def give_ids(paper: Paper) -> None:
    """Give every section and item its id as this module's text says, and carry the new ids into what points at them.

    Readers may use any ids while they work; this is their last step. Items are numbered in the order of their lists.
    """
    paper.thanks += [note for note in paper.footnotes if note.kind == "thanks"]
    paper.footnotes = [note for note in paper.footnotes if note.kind != "thanks"]
    taken: set[str] = {"abstract"}
    new: dict[str, str] = {}
    for section in paper.sections:
        wanted = section.number or files.slug(section.title, otherwise="section").replace("_", "-")
        new[section.id] = section.id = unique_id(wanted, taken)
    for items in (paper.equations, paper.algorithms, paper.tables, paper.figures, paper.footnotes, paper.thanks):
        unnumbered = 0
        for item in items:
            unnumbered += item.number is None
            name = re.sub(r"\s+", "", item.number) if item.number else f"u{unnumbered}"
            prefix = "note" if items is paper.thanks else PREFIX[type(item)]
            new[item.id] = item.id = unique_id(f"{prefix}-{name}", taken)
    for item in (*paper.items(), *paper.links):
        item.section = new.get(item.section, item.section)
    for section in paper.sections:
        for block in section.blocks:
            block.ref = new.get(block.ref, block.ref)
