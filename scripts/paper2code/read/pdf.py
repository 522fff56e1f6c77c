"""A paper's PDF → Paper. PDFium gives characters, rules, links and outline; pymupdf4llm's layout model tells text from
pictures, tables and formulas; pdfplumber reads the characters again where they are garbled.

Formulas come as what their glyphs read (`text`), never as LaTeX: a PDF does not hold it.
"""

from __future__ import annotations

import re
from pathlib import Path

from paper2code import cli
from paper2code.fold import fold
from paper2code.paper import Algorithm, Block, Equation, Figure, Footnote, Paper, Section, Table, give_ids
from paper2code.read import garbled
from paper2code.read.pdfparts import (
    algorithms,
    captions,
    engine,
    equations,
    figures,
    footnotes,
    front,
    furniture,
    headings,
    hidden,
    layout,
    links,
    paragraphs,
    plumber,
    references,
    rules,
    tables,
)
from paper2code.read.pdfparts.document import Document, build
from paper2code.read.pdfparts.lines import line_text, lines_of, text_of_word
from paper2code.read.pdfparts.written import written

MOST_LAID = 50  # pages that the layout model is asked about; at 0.6 s a page, half a minute
MOST_TRIES = 40  # pages read a second time


def read(path: str | Path, *, pages: tuple[int, int] | None = None, light: bool = False) -> Paper:
    """The paper that the PDF at `path` holds, or of its pages from–to (counted from 1, both included).

    `light`: PDFium alone, about 0.05 s a page, for a paper whose words come from its source and which only needs pages and
    places. Raises cli.Stop with what is wrong: not a PDF (2); encrypted, damaged, no pages, no text (4).
    """
    path = Path(path)
    with engine.opened(path) as opened:
        total = len(opened)
        first, last = pages or (1, total)
        if not 1 <= first <= last:
            raise cli.Stop(f"pages {first}-{last} are no range", code=cli.USAGE, expected=f"pages between 1 and {total}")
        if first > total:
            raise cli.Stop(f"{path.name} has {total} pages, so there is no page {first}", code=cli.USAGE,
                           expected=f"pages between 1 and {total}")
        last = min(last, total, engine.MOST_PAGES)
        sheets = [engine.read_page(opened, number) if first <= number <= last else engine.Page(number, 612.0, 792.0)
                  for number in range(1, last + 1)]
        outline = engine.outline(opened)
        information = (opened.get_metadata_dict() or {}) if hasattr(opened, "get_metadata_dict") else {}
    paper = Paper(pages=total)
    for sheet in sheets:
        leave_out_hidden(sheet, paper)
    if sum(len(sheet.chars) for sheet in sheets) < 40:
        raise cli.Stop(f"{path.name} holds no text: its pages are pictures (a scan)", code=cli.UNUSABLE, expected="a PDF with a text layer",
                       fix="run OCR over it first (ocrmypdf), or give the LaTeX source, the HTML or a text file")
    if last < total and pages is None:
        paper.warn("pages-left-out", f"pages {last + 1} to {total} were not read")
    mend_garbled(path, sheets, paper)
    document = build(sheets, outline)
    if not light:
        needs = {page.number: layout_need(document, page) for page in sheets if first <= page.number <= last}
        ranked = sorted((number for number in needs if needs[number]), key=lambda number: (-needs[number], number))
        if ranked[MOST_LAID:]:
            paper.warn("layout-left-out", f"read by rules alone, as the layout model is asked about {MOST_LAID} pages at most: page "
                       + ", ".join(map(str, sorted(ranked[MOST_LAID:]))))
        document.regions, problem = layout.regions(path, sorted(ranked[:MOST_LAID]))
        if problem:
            paper.warn("no-layout", problem)
        layout.assign(document)
    structure(document, paper, information.get("Title") or None, whole=first == 1)
    give_ids(paper)
    judge(paper)
    turn_back(sheets, paper)
    return paper


def turn_back(sheets: list[engine.Page], paper: Paper) -> None:
    """Boxes on pages that were read turned, as the viewer's."""
    turned = {sheet.number: sheet for sheet in sheets if sheet.turned}
    blocks = (block for section in paper.sections for block in section.blocks)
    for item in (*paper.sections, *blocks, *paper.items(), *paper.links) if turned else ():
        if item.page in turned and item.bbox:
            item.bbox = [round(value, 1) for value in engine.turned_back(turned[item.page], item.bbox)]


def leave_out_hidden(sheet: engine.Page, paper: Paper) -> None:
    """Move the text that nobody sees from the page to `paper.hidden`."""
    found = hidden.on_page(sheet)
    paper.hidden += [run.entry() for run in found]
    gone = frozenset().union(*(run.indices for run in found))
    if gone:
        sheet.chars = [char for char in sheet.chars if char.index not in gone]
        sheet.aside = [char for char in sheet.aside if char.index not in gone]


def mend_garbled(path: Path, sheets: list[engine.Page], paper: Paper) -> None:
    """Read a garbled page again with pdfplumber and keep the better reading; tell what happened."""
    tried = 0
    for sheet in sheets:
        before = garbled.measure(words_of(sheet), prose=False)
        if not before.bad:
            continue
        place = f"page {sheet.number}"
        again = plumber.characters(path, sheet) if tried < MOST_TRIES and not sheet.turned else None
        tried += 1
        if again:
            other = engine.Page(sheet.number, sheet.width, sheet.height, again)
            after = garbled.measure(words_of(other), prose=False)
            if after.score < before.score - 0.2 and len(again) > 0.5 * len(sheet.chars):
                sheet.chars = again
                paper.warn("read-again", f"{place} was garbled ({before.why}); pdfplumber read it better"
                           + (f", but not well ({after.why})" if after.bad else ""), place)
                if not after.bad:
                    continue
        paper.warn("garbled", f"{place} is garbled: {before.why}", place)


def words_of(sheet: engine.Page) -> str:
    return "".join((" " if char.space else "") + char.text for char in sheet.chars)


def judge(paper: Paper) -> None:
    """Measure each section's text; `measures["garbled"]` is the share of the text that stands in garbled ones."""
    total = bad = 0
    for section in paper.sections:
        text = " ".join(block.text for block in section.blocks if block.kind in ("paragraph", "theorem", "list"))
        found = garbled.measure(text)
        total += len(text)
        if found.bad:
            bad += len(text)
            paper.warn("garbled", f"section {section.number or section.title!r} is garbled: {found.why}", section.id)
    paper.measures["garbled"] = round(bad / total, 3) if total else 0.0


def layout_need(document: Document, page: engine.Page) -> int:
    """How many signs of pictures and tables a page shows, which the layout model tells from text better than rules do."""
    if page.turned:
        return 0
    captioned = any(captions.START.match(line.text) for line in document.page_lines(page.number))
    return captioned + (page.images > 0.02) + (len(rules.wide(document, page.number)) >= 3)


def structure(document: Document, paper: Paper, metadata: str | None, whole: bool) -> None:
    """Everything the lines of the document are, put into the paper. `whole`: the first page, with the title, is among them."""
    furniture.mark(document)
    paper.title, title_lines = front.title(document, metadata) if whole else (metadata or "", [])
    for line in title_lines:
        line.role = "title"
    found_captions = captions.find(document)
    found_headings = headings.find(document)
    algorithms.find(document, found_captions)
    tables.find(document, found_captions)
    figures.find(document, found_captions)
    notes = footnotes.find(document)
    footnotes.marks_in_text(document, notes)
    body_start = next((h.lines[0].index for h in found_headings if not front.ABSTRACT.match(h.title)), None)
    abstract = front.abstract(document, found_headings) if whole else []
    for line in abstract:
        line.role = "abstract"
    paper.abstract = front.ABSTRACT.sub("", document.text(abstract))
    stop = min([l.index for l in abstract[:1]] + ([body_start] if body_start is not None else []) + [len(document.lines)])
    paper.authors = front.authors(document, title_lines, stop)
    start = max([l.index for l in title_lines], default=-1)
    for line in document.lines[: (body_start if body_start is not None else start + 1)]:
        if line.role is None and line.page == (title_lines[0].page if title_lines else 1) and body_start is not None and whole:
            line.role = "front"
    references_lines(document, found_headings, paper)
    displays = equations.find(document)
    assemble(document, paper, found_headings, found_captions, notes, displays)
    paper.links = links.find(document)
    for link in paper.links:
        link.section = None
    place_links(document, paper, found_headings)


def references_lines(document: Document, found: list[headings.Heading], paper: Paper) -> None:
    """Take the lines under the references' heading, up to the next heading, as references."""
    for at, heading in enumerate(found):
        if not headings.REFERENCES.match(heading.title):
            continue
        start = heading.lines[-1].index + 1
        stop = found[at + 1].lines[0].index if at + 1 < len(found) else len(document.lines)
        lines = [l for l in document.lines[start:stop] if l.role is None]
        entries = references.find(document, lines)
        if len(entries) > len(paper.references):
            paper.references = entries
        for line in lines:
            line.role = "reference"


def assemble(document: Document, paper: Paper, found: list[headings.Heading], marks: list[captions.Caption],
             notes: list[footnotes.Note], displays: list[equations.Display]) -> None:
    """Sections with their blocks, and the items, each in its section."""
    starts: list[tuple[int, Section]] = []
    for at, heading in enumerate(found):
        if front.ABSTRACT.fullmatch(heading.title) or headings.REFERENCES.match(heading.title):
            continue
        section = Section(f"s{at}", heading.title, heading.number, heading.level, heading.appendix, heading.page,
                          captions.union([l.bbox for l in heading.lines]), "pdf")
        starts.append((heading.lines[0].index, section))
        paper.sections.append(section)
    # What stands before the first heading: front matter, or the whole text of a paper without headings.
    starts.insert(0, (-1, Section("s-lead", "", None, 1, False, 1, None, "pdf")))

    def home(index: int) -> Section:
        return next(section for start, section in reversed(starts) if start <= index)

    pieces: list[tuple[int, Section, Block]] = []
    runs: dict[str, list] = {}
    for line in document.lines:
        if line.role is None:
            runs.setdefault(home(line.index).id, []).append(line)
    by_id = {section.id: section for _, section in starts}
    for id, lines in runs.items():
        for index, block in paragraphs.blocks(document, lines):
            pieces.append((index, by_id[id], block))

    def known(section: Section) -> str | None:
        return section.id if section in paper.sections else None

    for at, display in enumerate(displays):
        lines = display.lines or [display.mark]
        index = min(l.index for l in lines)
        section = home(index)
        text = " ".join(line_text(l) for l in sorted(lines, key=lambda l: l.index))
        if display.number and display.mark is not None:
            text = re.sub(r"\s*[(\[]" + re.escape(display.number) + r"[)\]]\s*$", "", text)
        if display.mark is not None and display.mark not in lines and len(display.mark.words) > 1:
            text = f"{text} " + " ".join(text_of_word(w, display.mark.base, display.mark.size) for w in display.mark.words
                                         if not equations.NUMBER.match(w.text))
        text = text.replace("\ufffd", " ").strip()
        item = Equation(f"e{at}", display.number, text=re.sub(r"\s+", " ", text), section=known(section), page=display.page,
                        bbox=display.bbox, source="pdf")
        paper.equations.append(item)
        pieces.append((index, section, Block("equation", ref=item.id, page=item.page, bbox=item.bbox, source="pdf")))
    for at, caption in enumerate(marks):
        index = caption.lines[0].index
        section = home(index)
        common = {"number": caption.number, "caption": caption.text, "section": known(section), "page": caption.page,
                  "bbox": caption.bbox or captions.union([l.bbox for l in caption.lines]), "source": "pdf"}
        if caption.kind == "table":
            levels = rules.wide(document, caption.page)
            item = Table(f"t{at}", rows=tables.grid(caption.body, levels), **common)
            paper.tables.append(item)
        elif caption.kind == "algorithm" or caption.kind == "listing" and caption.body:
            lines, numbers = algorithms.steps(caption)
            item = Algorithm(f"a{at}", lines=lines, numbers=numbers, **common)
            paper.algorithms.append(item)
        else:
            item = Figure(f"f{at}", **common)
            paper.figures.append(item)
            if caption.body:  # what it shows is a table; it has no number of its own
                table = Table(f"f{at}t", rows=tables.grid(caption.body, rules.wide(document, caption.page)), **{**common, "number": None, "caption": ""})
                paper.tables.append(table)
                pieces.append((index + 0.5, section, Block("table", ref=table.id, page=item.page, bbox=item.bbox, source="pdf")))
        kind = "table" if caption.kind == "table" else "algorithm" if isinstance(item, Algorithm) else "figure"
        pieces.append((index, section, Block(kind, ref=item.id, page=item.page, bbox=item.bbox, source="pdf")))
    for at, note in enumerate(note for note in notes if note.kind != "thanks"):
        section = home(note.lines[0].index)
        text = document.text(note.lines)
        text = re.sub(r"^[*∗†‡§¶‖]+\s*", "", text)
        paper.footnotes.append(Footnote(f"n{at}", text.strip(), note.number, note.kind, known(section), note.page,
                                        captions.union([l.bbox for l in note.lines]), "pdf"))
    for _, section, block in sorted(pieces, key=lambda piece: piece[0]):
        section.blocks.append(block)
    if starts[0][1] not in paper.sections and starts[0][1].blocks and sum(len(b.text) for b in starts[0][1].blocks) > 200:
        lead = starts[0][1]
        lead.title = "Text" if not paper.sections else "Opening text"
        paper.sections.insert(0, lead)


def place_links(document: Document, paper: Paper, found: list[headings.Heading]) -> None:
    """Give each link the section its place lies in: the last heading before it on its page or an earlier one."""
    for link in paper.links:
        before = [s for s in paper.sections if s.page is not None and link.page is not None and
                  (s.page < link.page or s.page == link.page and (s.bbox is None or link.bbox is None or s.bbox[1] <= link.bbox[1]))]
        link.section = before[-1].id if before else None


# --- where a quote stands ------------------------------------------------------------------------------------------------


def find_boxes(path: str | Path, page: int, text: str) -> list[list[float]]:
    """The boxes (points, origin top left), one a line, that `text` fills on `page` of the PDF; empty when it is not there.

    Compared as quotes are (`fold`), so ligatures, hyphens at line ends and spacing do not matter; "…" skips text. Of a text
    that goes on on the next page the part on this one is found.
    """
    with engine.opened(path) as opened:
        if not 1 <= page <= len(opened):
            return []
        sheet = engine.read_page(opened, page)
    boxes = boxes_on(sheet, text)
    return [[round(value, 1) for value in engine.turned_back(sheet, box)] for box in boxes]


def boxes_on(sheet: engine.Page, text: str) -> list[list[float]]:
    drawn, owner = "", []
    found_lines = lines_of(sheet)
    chars = [char for line in found_lines for word in line.words for char in word.chars]
    first_of_word = {id(word.chars[0]) for line in found_lines for word in line.words}
    for number, char in enumerate(chars):
        if id(char) in first_of_word and drawn and not drawn.endswith("-"):
            drawn += " "
            owner.append(number)
        piece = written(char)
        drawn += piece
        owner += [number] * len(piece)
    whole = fold(drawn)
    hit: set[int] = set()
    start = 0
    for piece in re.split(r"\s*(?:…|\.\.\.|\[\.\.\.\])\s*", text):
        wanted = fold(piece).text
        if len(wanted) < 2:
            continue
        at = whole.text.find(wanted, start)
        if at < 0:
            at = whole.text.find(wanted)
        length = len(wanted)
        if at < 0 and length > 24:
            at, length = part_of(whole.text, wanted)
        if at < 0:
            continue
        start = at + length
        for token in range(len(whole.starts)):
            if whole.starts[token] < at + length and whole.ends[token] > at:
                hit.update(owner[whole.begins[token]:whole.stops[token]])
    out: list[list[float]] = []
    last = None
    for number in sorted(hit):
        char = chars[number]
        box = [char.x0, char.y0, char.x1, char.y1]
        if last is not None and number - last <= 6 and abs(char.base - chars[last].base) < 0.8 * char.font.size and \
                -2 * char.font.size < char.x0 - out[-1][2] < 4 * char.font.size:
            out[-1] = captions.union([out[-1], box])
        else:
            out.append(box)
        last = number
    return out


def part_of(whole: str, wanted: str) -> tuple[int, int]:
    """Where the longest beginning or end of `wanted`, at least a third of it, stands at the end or beginning of `whole`."""
    for length in range(len(wanted) - 1, max(20, len(wanted) // 3), -1):
        if (at := whole.find(wanted[:length])) >= 0:
            return at, length
        if (at := whole.find(wanted[-length:])) >= 0:
            return at, length
    return -1, 0
