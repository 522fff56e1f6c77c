"""Captions of figures, tables and algorithms: where they begin and end."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.lines import Line

START = re.compile(
    r"^(?P<kind>(?:Extended Data |Supplementary )?(?:Figure|Fig|Table|Tab|Algorithm|Listing|Scheme)|FIGURE|FIG|TABLE|ALGORITHM)s?\.?\s*"
    r"(?P<number>(?:[A-Z]{1,2}[.\-]?)?\d{1,3}(?:[.\-]\d{1,3})*[a-z]?|[IVX]{1,5}|[A-Z])\s*(?P<mark>[:.|—–]|\.\s|$|(?=\s))\s*(?P<rest>.*)$")
ALGORITHM = {"algorithm": "algorithm", "figure": "figure", "fig": "figure", "table": "table", "tab": "table", "listing": "listing",
             "scheme": "figure"}


@dataclass
class Caption:
    kind: str
    number: str
    lines: list[Line]
    text: str = ""
    body: list[Line] = field(default_factory=list)
    bbox: list[float] | None = None

    @property
    def page(self) -> int:
        return self.lines[0].page

    @property
    def y0(self) -> float:
        return min(line.y0 for line in self.lines)

    @property
    def y1(self) -> float:
        return max(line.y1 for line in self.lines)

    @property
    def x0(self) -> float:
        return min(line.x0 for line in self.lines)

    @property
    def x1(self) -> float:
        return max(line.x1 for line in self.lines)


def union(boxes) -> list[float]:
    boxes = list(boxes)
    return [round(min(b[0] for b in boxes), 1), round(min(b[1] for b in boxes), 1),
            round(max(b[2] for b in boxes), 1), round(max(b[3] for b in boxes), 1)]


def find(document: Document) -> list[Caption]:
    """All captions, in reading order. A sentence that begins "Figure 2 shows" is none."""
    out: list[Caption] = []
    seen: dict[tuple[str, str], Caption] = {}
    lines = document.lines
    for at, line in enumerate(lines):
        if line.role is not None:
            continue
        match = START.match(line.text)
        if not match:
            continue
        kind = ALGORITHM[re.sub(r"^(extended data|supplementary) ", "", match.group("kind").lower())]
        if not set_apart(document, line, at, match, kind):
            continue
        taken = [line]
        if kind in ("algorithm", "listing"):
            taken += algorithm_caption(document, at)
        else:
            taken += continued(document, at)
        caption = Caption(kind, match.group("number"), taken)
        text = document.text(taken)
        caption.text = START.match(text).group("rest").strip() if START.match(text) else text
        caption.text = re.sub(r"^[:.|—–]\s*", "", caption.text)
        key = kind, caption.number
        if key in seen:
            # The same number twice: "(continued)", or a sentence that looked like one. The one with its own mark wins.
            old = seen[key]
            if min(strength(document, old), strength(document, caption)) >= 2 and caption.text[:40] != old.text[:40] and \
                    "continued" not in caption.text[:40].lower():
                out.append(caption)  # a paper that counts twice to ten
                for one in taken:
                    one.role = "caption"
                continue
            if strength(document, old) >= strength(document, caption):
                continue
            out.remove(old)
            for gone in old.lines:
                gone.role = None
        seen[key] = caption
        out.append(caption)
        for one in taken:
            one.role = "caption"
    return out


def strength(document: Document, caption: Caption) -> float:
    line = caption.lines[0]
    match = START.match(line.text)
    score = 0.0
    if match and match.group("mark").strip():
        score += 1
    if line.words[0].font.bold:
        score += 1
    if line.region == "caption":
        score += 1
    return score


def set_apart(document: Document, line: Line, at: int, match: re.Match, kind: str) -> bool:
    """Whether the words "Figure 2" at the start of a line are a label: by its mark, type and surroundings."""
    first = line.words[0].font
    rest = match.group("rest")
    mark = match.group("mark").strip()
    bold = first.bold and not line.bold > 0.99 or first.bold and mark
    odd = abs(line.main - document.body) > 0.4
    before = document.lines[at - 1] if at else None
    flows = before is not None and before.page == line.page and before.role is None and \
        0 < line.base - before.base < 1.25 * document.leading and abs(before.size - line.size) < 0.3 and \
        before.x1 > document.column(before)[1] - 12 and abs(before.x0 - line.x0) < 25 and before.text[-1] not in ".:"
    if kind == "algorithm":
        if len(line.text) > 200 or rest[:1].islower() and not mark and not bold:
            return False
        return bool(bold or mark in (":", ".") and not flows or not rest or ruled(document, line))
    if re.fullmatch(r"[A-Z]", match.group("number")) and not mark:
        return False
    if mark in (":", "|"):
        return not flows or bold or odd
    if mark in (".", "—", "–"):
        return bold or odd or not flows
    if not rest:
        return not flows
    if bold or line.region == "caption":
        return not re.match(r"(?:shows?|presents?|illustrates?|and|in|is|gives|reports?|lists?|summari[sz]es)\b", rest)
    return odd and rest[:1].isupper() and not flows


def ruled(document: Document, line: Line) -> bool:
    """Whether a rule of some width runs just above or below the line."""
    return any(shape.x1 - shape.x0 > 60 and shape.x0 < line.x0 + 20 and
               (0 <= line.y0 - shape.y1 < 9 or 0 <= shape.y0 - line.y1 < 9) for shape in document.shapes(line.page, "rule"))


def rule_between(document: Document, upper: Line, lower: Line) -> bool:
    return any(shape.x1 - shape.x0 > 40 and upper.base - 1 <= shape.y0 and shape.y1 <= lower.base - 0.35 * lower.size
               and shape.x0 < lower.x1 and shape.x1 > lower.x0 for shape in document.shapes(lower.page, "rule"))


def continued(document: Document, at: int) -> list[Line]:
    """The lines after `at` that belong to its caption: same size, even steps, no rule between, no new paragraph far off."""
    lines = document.lines
    first = lines[at]
    out: list[Line] = []
    last, step = first, None
    left, right = document.column(first)
    x0, x1 = first.x0, first.x1
    for line in lines[at + 1:at + 40]:
        if line.page != first.page or line.role is not None:
            break
        if START.match(line.text) and line.base > last.base + 1:
            break
        here = line.base - last.base
        if abs(here) <= 1.5 and line.x0 >= last.x1 - 2:  # the rest of the same line
            out.append(line)
            x1 = max(x1, line.x1)
            last = line if line.base > last.base else last
            continue
        if here < 0 or here > 1.6 * max(first.main, line.main) + 1:
            if line.math > 0.5 and -first.size < here < 2 * first.size and len(line.text) < 12 and x0 - 2 <= line.x0 <= x1 + 2:
                out.append(line)  # a piece of a formula inside the caption
                continue
            break
        if not re.search(r"\w", line.text) and len(line.text) <= 3:
            continue  # an accent above a letter
        if abs(line.main - first.main) > 0.45 and abs(line.size - first.size) > 0.45 and line.math < 0.4:
            break
        if step is not None and here > step + 0.28 * first.size + 0.6:
            break
        if line.x1 < x0 or line.x0 > x1 + 5 or line.x0 < x0 - 30 and first.x1 < right - 30:
            break
        if rule_between(document, last, line):
            break
        # The line before ended short, so the caption's paragraph was over (centred last lines apart).
        if last.x1 < x1 - 0.25 * (x1 - x0) and abs((last.x0 + last.x1) / 2 - (x0 + x1) / 2) > 6 and len(out) >= 1 and \
                (step is None or here > step + 1.2 or line.bold > 0.8 and first.bold < 0.8):
            break
        if step is None and here > 1.35 * first.size + 1.2 and here > document.leading + 1.5:
            break
        out.append(line)
        x0, x1 = min(x0, line.x0), max(x1, line.x1)
        if line.math < 0.5:
            step = here if step is None else max(step, min(here, step + 0.8))
            last = line
    return out


def algorithm_caption(document: Document, at: int) -> list[Line]:
    """The caption of an algorithm goes on to the rule below it: all of it between the box's first two rules, else two lines."""
    lines = document.lines
    first = last = lines[at]
    wide = [r for r in document.shapes(first.page, "rule") if r.x1 - r.x0 > 60 and r.x0 < first.x0 + 8 and r.x1 > first.x0 + 40]
    above = any(0 <= first.y0 - r.y1 < 9 for r in wide)
    below = min((r.y0 for r in wide if first.y1 - 1 <= r.y0 < first.y1 + 8 * document.leading), default=None)
    further = [r for r in wide if below is not None and r.y0 > below + 6]
    if above and below is not None and further:
        taken = []
        for line in lines[at + 1:at + 12]:
            if line.page != first.page or line.role is not None or line.y1 > below + 1.5 or line.base < first.base - 2:
                break
            taken.append(line)
        if not any(re.match(r"(?:\d+:|input|output|require|ensure|for\b|while\b|if\b|return\b)", l.text, re.I) for l in taken):
            return taken
    out: list[Line] = []
    for line in lines[at + 1:at + 6]:
        if line.page != first.page or line.role is not None:
            break
        step = line.base - last.base
        if abs(step) <= 1.5 and line.x0 >= last.x1 - 2:
            out.append(line)
            continue
        if not 0 < step <= 1.6 * first.size or rule_between(document, last, line) or abs(line.size - first.size) > 0.5:
            break
        right = next((shape.x1 for shape in document.shapes(first.page, "rule") if 0 <= first.y0 - shape.y1 < 9 and
                      shape.x0 <= first.x0 + 3), document.column(first)[1])
        below = any(shape.x1 - shape.x0 > 60 and 0 <= shape.y0 - line.y1 < 9 for shape in document.shapes(first.page, "rule"))
        if not (below and last.x1 > right - 40):
            break
        out.append(line)
        last = line
    return out
