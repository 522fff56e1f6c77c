"""Running text: lines to paragraphs, across columns and pages, list items and run-in headings kept apart."""

from __future__ import annotations

import re

from paper2code.paper import Block
from paper2code.read.pdfparts.captions import union
from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.lines import Line

BULLET = re.compile(r"^(?:[•◦▪■–‣∙·∗]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+\S")
THEOREM = re.compile(r"^((?:Theorem|Lemma|Proposition|Corollary|Definition|Assumption|Remark|Claim|Conjecture|Example|Observation|"
                     r"Hypothesis|Fact|"
                     r"Property)\s+(?:[A-Z]?\.?\d+(?:\.\d+)*|[A-Z](?:\.\d+)*))\b")


def blocks(document: Document, lines: list[Line]) -> list[tuple[int, Block]]:
    """(index of the first line, block) for each paragraph, list item and theorem that `lines` hold."""
    out: list[tuple[int, Block]] = []
    run: list[Line] = []

    def close():
        if run:
            block = make(document, run)
            if block:
                out.append((run[0].index, block))
            run.clear()

    for line in lines:
        if run and begins(document, run, line):
            close()
        run.append(line)
    close()
    return out


def make(document: Document, lines: list[Line]) -> Block | None:
    text = document.text(lines)
    if not text.strip():
        return None
    kind, number = "paragraph", None
    theorem = THEOREM.match(text)
    if BULLET.match(text) and not theorem:
        kind = "list"
    if theorem and (lines[0].words[0].font.bold or lines[0].words[0].font.italic or small(lines[0])):
        kind, number = "theorem", theorem.group(1)
    if sum(l.mono for l in lines) >= 0.8 * len(lines) and len(lines) >= 3:
        kind = "code"
        text = "\n".join(l.text for l in lines)
    first = lines[0].page
    here = [l.bbox for l in lines if l.page == first and same_side(document, lines[0], l)]
    return Block(kind, text, number=number, page=first, bbox=union(here), source="pdf")


def small(line: Line) -> bool:
    return line.words[0].text.isupper()


def same_side(document: Document, a: Line, b: Line) -> bool:
    return document.column(a) == document.column(b) or document.columns[a.page].gutter is None


def begins(document: Document, run: list[Line], line: Line) -> bool:
    """Whether a paragraph begins with `line`."""
    last = run[-1]
    left, right = document.column(line)
    if line.index != last.index + 1 and any(other.role in ("equation", "heading", "algorithm", "table", "code")
                                            for other in document.lines[last.index + 1:line.index]):
        return True
    if BULLET.match(line.text) and (line.x0 > left + 4 or BULLET.match(run[0].text)) and line.base != last.base:
        return True
    if THEOREM.match(line.text) and (line.words[0].font.bold or line.words[0].font.italic) and line.words[0].x0 <= left + 2 * line.size:
        return True
    jumped = line.page != last.page or line.base < last.base - 1 or line.x0 > last.x1 + 40 and line.base < last.base + 1
    if jumped:
        ended = re.search(r"[.!?:][”\"')\]]?$", last.text.rstrip()) is not None
        last_right = document.column(last)[1]
        if abs(line.size - last.size) > 0.6:
            return True
        return ended and (last.x1 < last_right - 12 or line.x0 > left + 0.8 * document.body) or line.text[:1].isupper() and ended and \
            line.bold > 0.5
    step = line.base - last.base
    if abs(step) < 2:
        return False
    if step > max(1.32 * document.leading, 1.5 * line.size):
        return not (line.math > 0.4 or last.math > 0.4) or step > 2.4 * document.leading
    if abs(line.size - last.size) > 0.6 and line.math < 0.4 and last.math < 0.4 and len(line.text) > 12 and len(last.text) > 12:
        return True
    usual = min(l.x0 for l in run if l.page == line.page) if len(run) > 1 else left
    indented = line.x0 > left + 0.7 * document.body and line.x0 < left + 3.2 * document.body
    if indented and line.x0 > usual + 0.7 * document.body and last.x1 > left and re.search(r"[.!?:)”\"]$", last.text.rstrip()):
        return True
    # A short last line that ends a sentence, and bold at the start of the next.
    if last.x1 < document.column(last)[1] - 0.18 * (right - left) and re.search(r"[.!?:]$", last.text.rstrip()) and \
            line.words[0].font.bold and not last.words[-1].font.bold:
        return True
    return step > 1.12 * document.leading and line.words[0].font.bold and not last.words[-1].font.bold and last.text.rstrip()[-1:] in ".:!?"

