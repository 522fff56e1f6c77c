"""What stands on pages and is no text of the paper: running heads, page numbers, line numbers, stamps."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.lines import Line

PAGE_NUMBER = re.compile(r"^[-–—\s]*(?:page\s+)?(?:\d{1,4}|[ivxl]{1,6})(?:\s*(?:of|/)\s*\d{1,4})?[-–—\s]*$", re.I)
NOTICE = re.compile(r"^(?:preprint\b|under review|published (?:as|at)|proceedings of|accepted (?:at|to|by)|to appear|.{0,30}conference on|"
                    r"advances in neural|arxiv:|work in progress|copyright|©)", re.I)
STAMP = re.compile(r"^arXiv:\s*(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})v\d+\s+\[?[a-z-]+", re.I)


def mask(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text.lower()).strip()


def mark(document: Document) -> None:
    """Give the role `furniture` to running heads, page numbers and line numbers, and `stamp` to the arXiv stamp."""
    number_lines(document)
    heads: dict[tuple[str, int], set[int]] = defaultdict(set)
    edges: dict[int, list[Line]] = {}
    for page in document.pages:
        lines = [l for l in document.page_lines(page.number) if l.role is None]
        top, bottom = 0.115 * page.height, 0.885 * page.height
        near = [l for l in lines if l.y1 < top or l.y0 > bottom]
        edges[page.number] = near
        for line in near:
            heads[(mask(line), round(line.base / 6))].add(page.number)
    need = 2 if len(document.pages) < 8 else 3
    for page in document.pages:
        lines = [l for l in document.page_lines(page.number) if l.role is None]
        if not lines:
            continue
        first, last = min(l.y0 for l in lines), max(l.y1 for l in lines)
        for line in edges[page.number]:
            at = round(line.base / 6)
            pages = set().union(*(heads.get((mask(line), at + d), set()) for d in (-1, 0, 1)))
            outermost = line.y0 <= first + 3 or line.y1 >= last - 3
            if re.fullmatch(r"\(\d{1,3}\)", line.text) and any(abs(other.base - line.base) < 3 and other.x1 < line.x0 for other in lines):
                continue  # an equation's number, beside its formula
            if len(pages) >= need and len(line.text) < 160 and not line_of_prose(document, line, lines):
                line.role = "furniture"
            elif PAGE_NUMBER.match(line.text) and outermost:
                line.role = "furniture"
            elif outermost and line.y0 > 0.885 * page.height and NOTICE.match(line.text) and page.number == 1:
                line.role = "furniture"
            elif outermost and line.y1 < 0.1 * page.height and page.number == 1 and NOTICE.match(line.text):
                line.role = "furniture"
            elif STAMP.search(line.text) and len(line.text) < 60:
                line.role = "stamp"


def line_of_prose(document: Document, line: Line, lines: list[Line]) -> bool:
    """Whether a line at the page's edge goes on in the line after it, so that it belongs to the text."""
    left, right = document.column(line)
    if abs(line.size - document.body) > 0.3 or line.x1 < right - 8 or line.x0 > left + 2:
        return False
    return any(0 < other.base - line.base < 1.4 * document.leading and abs(other.size - line.size) < 0.3 and other.x0 < line.x1 and
               other.x1 > line.x0 for other in lines)


def number_lines(document: Document) -> None:
    """Line numbers of review copies: bare integers at one x, at least 15 a page on most pages, counting up."""
    columns: Counter[int] = Counter()
    found: list[Line] = []
    for page in document.pages:
        area = document.columns[page.number]
        for line in document.page_lines(page.number):
            if re.fullmatch(r"\d{1,4}", line.text) and (line.x1 < area.left - 2 or line.x0 > area.right + 2):
                found.append(line)
                columns[round(line.x1 / 4)] += 1
    pages = max(1, len(document.pages))
    for line in found:
        if sum(columns[round(line.x1 / 4) + d] for d in (-1, 0, 1)) >= 15 * pages * 0.5:
            line.role = "furniture"
