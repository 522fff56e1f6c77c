"""The PDF as its parts see it: pages, lines in reading order, body size, columns, and what has been taken for what."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from paper2code.read.pdfparts.engine import Bookmark, Page, Shape
from paper2code.read.pdfparts.lines import Joiner, Line, lines_of

LETTERS = re.compile(r"[^\W\d_]{2,}")


@dataclass
class Columns:
    """The text area of a page: its left and right edge, and the middle of the gutter where there are two columns."""

    left: float
    right: float
    gutter: float | None = None
    left_end: float = 0.0  # right edge of the left column
    right_start: float = 0.0  # left edge of the right column

    def of(self, x0: float, x1: float) -> tuple[float, float]:
        """The edges of the column that something from x0 to x1 stands in."""
        if self.gutter is None or (x0 < self.gutter - 12 and x1 > self.gutter + 12):
            return self.left, self.right
        return (self.left, self.left_end) if (x0 + x1) / 2 < self.gutter else (self.right_start, self.right)


@dataclass
class Region:
    """What the page's layout model sees in a box: text, formula, table, picture, caption, footnote, …"""

    kind: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass
class Document:
    pages: list[Page]
    lines: list[Line] = field(default_factory=list)
    outline: list[Bookmark] = field(default_factory=list)
    regions: dict[int, list[Region]] = field(default_factory=dict)
    columns: dict[int, Columns] = field(default_factory=dict)
    body: float = 10.0
    leading: float = 12.0
    marks: set[tuple[int, int]] = field(default_factory=set)  # (page, character index) of footnote marks
    joiner: Joiner | None = None
    paged: tuple[list[Line], dict[int, list[Line]]] | None = None  # the lines that were last put by page

    def page_lines(self, page: int) -> list[Line]:
        if self.paged is None or self.paged[0] is not self.lines:
            by_page: dict[int, list[Line]] = {}
            for line in self.lines:
                by_page.setdefault(line.page, []).append(line)
            self.paged = self.lines, by_page
        return self.paged[1].get(page, [])

    def cut(self, page: int, x: float, y0: float, y1: float) -> None:
        """Cut the lines between two heights of a page where a gap between their words lies at x."""
        out: list[Line] = []
        for line in self.lines:
            here = line.page == page and y0 <= line.base <= y1 and line.x0 < x < line.x1
            left = [word for word in line.words if (word.x0 + word.x1) / 2 < x] if here else []
            if left and len(left) < len(line.words):
                out += [Line(page, left), Line(page, line.words[len(left):])]
            else:
                out.append(line)
        if len(out) > len(self.lines):
            self.lines = out
            for index, line in enumerate(out):
                line.index = index

    def column(self, line: Line) -> tuple[float, float]:
        return self.columns[line.page].of(line.x0, line.x1)

    def shapes(self, page: int, kind: str) -> list[Shape]:
        return [shape for shape in self.pages[page - 1].shapes if shape.kind == kind]

    def text(self, lines: list[Line]) -> str:
        skip: dict[int, set[int]] = {line.page: set() for line in lines}
        for page, index in self.marks:
            if page in skip:
                skip[page].add(index)
        return self.joiner.text(lines, skip)


def build(pages: list[Page], outline: list[Bookmark]) -> Document:
    document = Document(pages, outline=outline)
    for page in pages:
        document.lines += lines_of(page)
    for index, line in enumerate(document.lines):
        line.index = index
    sizes: Counter[float] = Counter()
    for line in document.lines:
        if len(LETTERS.findall(line.text)) >= 5:
            sizes[round(line.size * 2) / 2] += len(line.text)
    document.body = sizes.most_common(1)[0][0] if sizes else 10.0
    steps: Counter[float] = Counter()
    for before, after in pairwise(document.lines):
        step = round(after.base - before.base, 1)
        if before.page == after.page and abs(after.size - document.body) < 0.6 and 0.9 * document.body < step < 2.2 * document.body:
            steps[round(step * 2) / 2] += 1
    document.leading = steps.most_common(1)[0][0] if steps else 1.2 * document.body
    find_columns(document)
    document.joiner = Joiner(document.lines)
    return document


def find_columns(document: Document) -> None:
    """The columns of each page: two where lines of prose keep to either half, as most pages of the paper do."""
    by_page: dict[int, list[Line]] = {}
    for line in document.lines:
        if line.x1 - line.x0 > 12 * document.body * 0.5 and len(LETTERS.findall(line.text)) >= 4:
            by_page.setdefault(line.page, []).append(line)
    found: dict[int, Columns] = {}
    for page in document.pages:
        prose = by_page.get(page.number, [])
        if len(prose) < 3:
            continue
        middle = gutter_of(prose, page.width)
        if middle is None:
            left, right = edge([l.x0 for l in prose], low=True), edge([l.x1 for l in prose], low=False)
            found[page.number] = Columns(left, right)
        else:
            lefts = [l for l in prose if l.x1 <= middle + 4]
            rights = [l for l in prose if l.x0 >= middle - 4]
            found[page.number] = Columns(edge([l.x0 for l in lefts], low=True), edge([l.x1 for l in rights], low=False), middle,
                                         edge([l.x1 for l in lefts], low=False), edge([l.x0 for l in rights], low=True))
    two = [c for c in found.values() if c.gutter is not None]
    one = [c for c in found.values() if c.gutter is None]
    for page in document.pages:
        if page.number not in found:
            likely = two if len(two) > len(one) else one
            same = [c for c in likely] or [Columns(0.12 * page.width, 0.88 * page.width)]
            found[page.number] = same[len(same) // 2]
    document.columns = found


def gutter_of(prose: list[Line], width: float) -> float | None:
    """The middle of the gutter when the prose of a page stands in two columns, else None."""
    best = None
    for middle in (width * share / 100 for share in range(44, 57)):
        left = sum(1 for l in prose if l.x1 <= middle + 2)
        right = sum(1 for l in prose if l.x0 >= middle - 2)
        across = len(prose) - left - right
        if left >= 3 and right >= 3 and across <= 0.45 * len(prose) and left + right >= 12 or \
                min(left, right) >= 1 and left + right >= 25 and across <= 0.35 * len(prose):
            if best is None or across < best[0]:
                best = across, middle
    if best is None:
        return None
    middle = best[1]
    lefts = [l.x1 for l in prose if l.x1 <= middle + 2]
    rights = [l.x0 for l in prose if l.x0 >= middle - 2]
    return (max(lefts) + min(rights)) / 2 if lefts and rights else middle


def edge(values: list[float], *, low: bool) -> float:
    """The edge that most of the values keep to: the outermost one shared by at least a tenth of them."""
    bins = Counter(round(v / 2) for v in values)
    need = max(2, len(values) // 10)
    good = [b for b, n in bins.items() if n + bins.get(b - 1, 0) + bins.get(b + 1, 0) >= need] or list(bins)
    at = min(good) if low else max(good)
    near = [v for v in values if abs(round(v / 2) - at) <= 1]
    return sorted(near)[len(near) // 2]
