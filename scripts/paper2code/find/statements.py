"""A paper as a list of statements: the stretches that can be quoted alone, each with its place.

A statement is a sentence of a paragraph, list, caption, footnote or abstract, a row of a table, a line of an algorithm, or
an equation. Sweep, search, contradictions and deferrals all read this one list.
"""

from __future__ import annotations

from dataclasses import dataclass

from paper2code.paper import Algorithm, Equation, Figure, Footnote, Paper, Section, Table
from paper2code.sentences import sentences


@dataclass(frozen=True)
class Statement:
    """`text` is exact, but for a table's row, whose cells are joined by " | ". `kind`: title, heading, abstract, paragraph,
    list, theorem, code, caption, footnote, line, row or equation. `place` is written as an anchor writes it ("§5.3, Table 2").
    `number` counts the statements of a paper from 0; `paragraph` is the same for sentences of one block."""

    number: int
    text: str
    kind: str
    place: str
    section: str | None = None
    title: str = ""  # of the section
    item: str | None = None
    row: int | None = None
    page: int | None = None
    appendix: bool = False
    related: bool = False
    cites: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    caption: str = ""  # of the table or algorithm a row or line belongs to
    paragraph: int = -1

    @property
    def where(self) -> str:
        """Place and page, for a reader: "§5.3, p. 7"."""
        return f"{self.place}, p. {self.page}" if self.page else self.place


def place_of_section(paper: Paper, section: Section | None) -> str:
    """How a section is cited: by its number, by that of the section it lies in, else by its title."""
    if section is None:
        return ""
    numbered = next((part for part in paper.parents(section) if part.number), None)
    if numbered is None:
        return f"§{section.title.strip().rstrip(':.')}"
    return f"Appendix {numbered.number}" if numbered.appendix and numbered.number[:1].isalpha() else f"§{numbered.number}"


NOUNS = {Table: "Table", Figure: "Figure", Algorithm: "Algorithm", Equation: "Eq.", Footnote: "footnote"}


def place_of_item(item: object, before: str) -> str:
    """Where an item stands, `before` being its section's place: "§3.2, Eq. 4"; an unnumbered equation has that place alone."""
    noun, number = NOUNS[type(item)], getattr(item, "number", None)
    name = f"{noun} {number}" if number else "" if isinstance(item, Equation) else f"unnumbered {noun.lower()}"
    return ", ".join(part for part in (before, name) if part)


def statements(paper: Paper) -> list[Statement]:
    """All statements of a paper: title, abstract, sections in order, then what stands in items."""
    out: list[Statement] = []
    sections = {section.id: section for section in paper.sections}
    related = {section.id: paper.is_related(section) for section in paper.sections}
    places = {section.id: place_of_section(paper, section) for section in paper.sections}
    paragraphs = 0

    def add(text: str, kind: str, place: str, inside: Section | None = None, **more: object) -> None:
        if inside is not None:
            more = {"section": inside.id, "title": inside.title, "appendix": inside.appendix, "related": related[inside.id],
                    **more}
        out.append(Statement(len(out), text, kind, place, **more))

    def prose(text: str, kind: str, place: str, inside: Section | None = None, **more: object) -> None:
        nonlocal paragraphs
        paragraphs += 1
        for sentence in sentences(text):
            add(sentence.text, kind, place, inside, paragraph=paragraphs, **more)

    first_page = 1 if paper.pages else None
    if paper.title:
        add(paper.title, "title", "title", page=first_page)
    if paper.abstract:
        prose(paper.abstract, "abstract", "Abstract", page=first_page, title="Abstract", section="abstract")
    for section in paper.sections:
        place = places[section.id]
        add(section.title, "heading", place, section, page=section.page)
        for block in section.blocks:
            if block.text and block.kind in ("paragraph", "list", "code", "theorem"):
                prose(block.text, block.kind, place, section, page=block.page or section.page, cites=tuple(block.cites))
    for item in paper.items():
        section = sections.get(item.section)
        floating = isinstance(item, (Figure, Algorithm))  # where it is set, not where it belongs: never others' work for that
        here = {**({"related": False} if floating and section else {}), "item": item.id,
                "page": item.page or (section.page if section and isinstance(item, Equation) else None)}
        place = place_of_item(item, places.get(item.section, ""))
        if isinstance(item, Equation):
            if item.latex or item.text:
                add(item.latex or item.text, "equation", place, section, **here)
        elif isinstance(item, Footnote):
            prose(item.text, "footnote", place, section, **here)
        else:
            prose(item.caption, "caption", place, section, **here)
            if isinstance(item, Algorithm):
                for number, line in enumerate(item.lines, 1):
                    if line.strip():
                        called = item.called(number)
                        add(line.strip(), "line", f"{place}, line {called}" if called else place, section, row=number,
                            caption=item.caption, **here)
            elif isinstance(item, Table):
                header: tuple[str, ...] = ()
                for number, row in enumerate(item.rows, 1):
                    cells = tuple(cell.strip() for cell in row)
                    if not any(cells):
                        continue
                    add(" | ".join(cell for cell in cells if cell), "row", place, section, row=number, cells=cells,
                        header=header, caption=item.caption, **here)
                    if not header or (number == 2 and looks_like_header(cells)):
                        header = merged(header, cells)
    return out


def looks_like_header(cells: tuple[str, ...]) -> bool:
    """Whether a row has hardly any numbers, as the second row of a two-row head does."""
    filled = [cell for cell in cells if cell]
    return bool(filled) and sum(any(c.isdigit() for c in cell) for cell in filled) * 4 <= len(filled)


def merged(above: tuple[str, ...], below: tuple[str, ...]) -> tuple[str, ...]:
    """A two-row head as one: what spans columns is repeated over them."""
    if not above:
        return below
    out, last = [], ""
    for at in range(max(len(above), len(below))):
        last = (above[at] if at < len(above) else "") or last
        out.append(f"{last} {below[at] if at < len(below) else ''}".strip())
    return tuple(out)
