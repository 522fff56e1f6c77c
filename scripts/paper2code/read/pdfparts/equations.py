"""Display formulas: the printed number at the margin, the lines that form the formula, its box."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from paper2code.read.pdfparts.captions import union
from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.lines import Line

NUMBER = re.compile(r"^[(\[]((?:[A-Z]{1,3}[.\-]?)?\d{1,3}(?:[.\-–]\d{1,3})*[a-z]?['′*]{0,2}|[A-Z]\d?|\*{1,3}|†)[)\]]$")
NUMERAL = re.compile(r"^\(((?:[A-Z]{1,3}[.\-]?)?\d{1,3}(?:[.\-–]\d{1,3})*[a-z]?['′]{0,2})\)$")

ENUMERATED = re.compile(r"^(?:\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]|[•◦▪–-])\s+[A-Z]?[a-z]{2}")


@dataclass
class Display:
    lines: list[Line]
    number: str | None = None
    mark: Line | None = None
    group: list[Line] = field(default_factory=list)

    @property
    def page(self) -> int:
        return (self.lines or [self.mark])[0].page

    @property
    def bbox(self) -> list[float]:
        return union([l.bbox for l in self.lines + ([self.mark] if self.mark else [])])


def wordy(line: Line) -> int:
    """How many plain words a line has: three letters or more, not in a mathematics font."""
    return sum(1 for w in line.words if len(re.sub(r"[^A-Za-z]", "", w.text)) >= 3 and not w.font.math
               and re.search(r"[a-z]{2}", w.text) and not re.search(r"[(=]", w.text))


def prose(document: Document, line: Line) -> bool:
    """Whether a line is running text rather than part of a formula."""
    left, right = document.column(line)
    words = wordy(line)
    if words >= 6 and line.math < 0.45:
        return True
    share = words / max(1, len(line.words))
    flush = line.x0 <= left + 2.5 * document.body
    if words >= 2 and share >= 0.5 and flush and line.math < 0.3:
        return True
    if line.x0 <= left + 3 and words >= 1 and line.math < 0.6 and share > 0.25:
        return True
    return line.bold > 0.7 and words >= 1


def find(document: Document) -> list[Display]:
    """All displays in reading order: numbered ones, one a printed number, and unnumbered ones."""
    out: list[Display] = []
    by_page: dict[int, list[Line]] = {}
    for line in document.lines:
        if line.role is None:
            by_page.setdefault(line.page, []).append(line)
    left_style = left_numbers(document, by_page)
    for lines in by_page.values():
        marks = []
        for line in lines:
            found = number_of(document, line, lines, left_style)
            if found:
                marks.append(found)
        taken: set[int] = set()
        mathy = [l for l in lines if not prose(document, l) and (l.math > 0.05 or l.region == "formula" or symbols(l))]
        for line, _ in marks:
            taken.add(line.index)
        for line, number in marks:
            own = formula(document, line, [l for l in lines if l.index not in taken and not prose(document, l)], marks)
            for one in own:
                taken.add(one.index)
                one.role = "equation"
            line.role = "equation"
            out.append(Display(own, number, line))
        run: list[Line] = []
        rest = [l for l in mathy if l.index not in taken and l.role is None]
        for line in rest:
            if run and (line.index - run[-1].index > 2 or abs(line.base - run[-1].base) > 2.2 * document.leading
                        and line.y0 - max(l.y1 for l in run) > 0.4 * document.body):
                out += unnumbered(document, run)
                run = []
            run.append(line)
        out += unnumbered(document, run)
    out.sort(key=lambda d: min(l.index for l in d.lines + ([d.mark] if d.mark else [])))
    return sequence(out)


def symbols(line: Line) -> bool:
    return bool(re.search(r"[=≤≥∑∏∫∈∼≈←→∂∇×⊤]", line.text))


def left_numbers(document: Document, by_page: dict[int, list[Line]]) -> bool:
    """Whether the paper puts its numbers at the left margin: more formulas begin with one than end with one."""
    left = right = 0
    for lines in by_page.values():
        for line in lines:
            edges = document.column(line)
            if NUMERAL.match(line.words[-1].text) and abs(line.x1 - edges[1]) < 5 and gap_before_last(line) > 1.0 * line.size:
                right += 1
            elif NUMERAL.match(line.words[0].text) and line.x0 < edges[0] + 5 and (
                    len(line.words) == 1 or line.words[1].x0 - line.words[0].x1 > 1.5 * line.size):
                left += 1
    return left > 2 * right and left >= 3


def gap_before_last(line: Line) -> float:
    return line.words[-1].x0 - line.words[-2].x1 if len(line.words) > 1 else 1e9


def number_of(document: Document, line: Line, lines: list[Line], left_style: bool) -> tuple[Line, str] | None:
    """The printed number that a line carries at its column's edge."""
    left, right = document.column(line)
    if left_style:
        match = NUMERAL.match(line.words[0].text)
        if match and line.x0 < left + 6 and (len(line.words) == 1 or line.words[1].x0 - line.words[0].x1 > 1.2 * line.size):
            return line, match.group(1)
        return None
    last = line.words[-1]
    text = last.text
    match = NUMBER.match(text)
    if not match and len(line.words) >= 2 and NUMBER.match(line.words[-2].text + text):
        match = NUMBER.match(line.words[-2].text + text)
    if not match:
        return None
    if abs(line.x1 - right) > 7 and not (document.columns[line.page].gutter and abs(line.x1 - document.columns[line.page].right) <= 5):
        return None
    if len(line.words) > 1:
        if gap_before_last(line) < 0.9 * line.size:
            return None
        if gap_before_last(line) < 2.5 * line.size and prose(document, line):
            return None
        return line, match.group(1)
    # The number alone: a formula must stand on its height, to the left.
    beside = [l for l in lines if l is not line and l.x1 <= line.x0 + 2 and l.x0 >= left - 20 and l.y0 - 14 <= line.base <= l.y1 + 14]
    if not beside:
        # Or the formula fills its column, or goes beyond it, and the number stands on the next line, below any limits.
        full = [l for l in lines if l.x1 > line.x0 + 2 and l.x0 >= left - 3 and l.x1 <= right + 2 * document.body and l.math > 0.25 and not prose(document, l)
                and 0.6 * document.leading < line.base - l.base < 1.9 * document.leading]
        return (line, match.group(1)) if full else None
    level = [l for l in beside if abs(l.base - line.base) < 3 and prose(document, l)]
    if level and all(prose(document, l) for l in beside) and max(l.x1 for l in level) > line.x0 - 0.9 * line.size:
        return None
    return line, match.group(1)


def formula(document: Document, mark: Line, lines: list[Line], marks: list[tuple[Line, str]]) -> list[Line]:
    """The lines of the formula that a number stands beside: near it in height and column, up to the next number."""
    left, right = document.column(mark)
    others = sorted(other.base for other, _ in marks if other is not mark and document.column(other) == (left, right))
    above = max((b for b in others if b < mark.base), default=-1e9)
    below = min((b for b in others if b > mark.base), default=1e9)
    # What stands level with another number is that one's, however near a tall sign brings it.
    column = [l for l in lines if l is not mark and l.x0 >= left - 20 and l.x1 <= right + 20
              and (abs(l.base - mark.base) < 3 or not any(abs(l.base - base) < 3 for base in others))]
    out: list[Line] = []
    top, bottom = mark.y0 - 2, mark.y1 + 2
    changed = True
    while changed:
        changed = False
        for line in column:
            if line in out:
                continue
            middle = (line.y0 + line.y1) / 2
            if line.x1 - line.x0 < 6 * document.body and any(abs(middle - base) < abs(middle - mark.base) for base in others):
                continue  # a sign or exponent that stands off its line's height
            if others and (middle < (above + mark.base) / 2 - 4 and above > mark.base - 3.2 * document.leading or
                           middle > (below + mark.base) / 2 + 2 and below < mark.base + 3.2 * document.leading):
                continue
            if line.y1 >= top - 0.75 * document.body and line.y0 <= bottom + 0.75 * document.body:
                out.append(line)
                top, bottom = min(top, line.y0), max(bottom, line.y1)
                changed = True
    return sorted(out, key=lambda l: l.index)


def goes_on(document: Document, line: Line) -> bool:
    """Whether a line is the next one of running text: at its left edge, one leading below it. A display is set apart or in."""
    before = document.lines[line.index - 1] if line.index > 0 else None
    if before is None or before.page != line.page or not prose_like(before) or not 0 < line.base - before.base <= 1.12 * document.leading:
        return False
    edges = [before.x0, *(word.x0 for word in before.words[1:2] if ENUMERATED.match(before.text))]  # an item's text hangs behind its mark
    return any(abs(edge - line.x0) < 1.0 for edge in edges)


def prose_like(line: Line) -> bool:
    """Whether a line has more plain words than anything else, wherever it stands."""
    return wordy(line) >= 3 and line.math < 0.45


def unnumbered(document: Document, run: list[Line]) -> list[Display]:
    """A display without number: set off from both margins, and mathematics enough."""
    if not run:
        return []
    if ENUMERATED.match(run[0].text) and wordy(run[0]) or goes_on(document, run[0]):
        return []
    left, right = document.column(run[0])
    x0, x1 = min(l.x0 for l in run), max(l.x1 for l in run)
    letters = sum(len(l.text) for l in run)
    share = sum(l.math * len(l.text) for l in run) / max(1, letters)
    shown = any(l.region == "formula" for l in run) or share > 0.12 and any(symbols(l) for l in run)
    if x0 > left + 1.2 * document.body and shown and letters >= 3 and any(symbols(l) for l in run) and x1 > x0 + 15:
        for line in run:
            line.role = "equation"
        return [Display(list(run))]
    return []


def sequence(displays: list[Display]) -> list[Display]:
    """Drop printed numbers that break the paper's own counting and occur twice; take one that ends a formula too near to be seen as
    its number, when it is the one that is missing in the count."""
    seen: dict[str, Display] = {}
    numbers = {display.number for display in displays}
    for at, display in enumerate(displays):
        last = max(display.lines, key=lambda l: (l.x1, l.index), default=None) if display.number is None else None
        found = NUMBER.match(last.words[-1].text) if last is not None and len(last.words) > 1 else None
        if found and found[1].isdigit() and found[1] not in numbers:
            before = next((d.number for d in reversed(displays[:at]) if d.number), None)
            after = next((d.number for d in displays[at:] if d.number), None)
            if before == str(int(found[1]) - 1) and after in (None, str(int(found[1]) + 1)):
                display.number, display.mark = found[1], last
    for display in displays:
        if display.number is None:
            continue
        if display.number in seen:
            display.number = None
        else:
            seen[display.number] = display
    return [d for d in displays if d.lines or d.number]
