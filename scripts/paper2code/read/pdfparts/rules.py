"""Groups of horizontal rules: what frames tables and algorithm boxes."""

from __future__ import annotations

from dataclasses import dataclass

from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.engine import Shape


@dataclass
class Frame:
    """Rules of one x-range, from the first to the last."""

    page: int
    rules: list[Shape]

    @property
    def x0(self) -> float:
        return min(r.x0 for r in self.rules)

    @property
    def x1(self) -> float:
        return max(r.x1 for r in self.rules)

    @property
    def y0(self) -> float:
        return min(r.y0 for r in self.rules)

    @property
    def y1(self) -> float:
        return max(r.y1 for r in self.rules)


def wide(document: Document, page: int) -> list[Shape]:
    """Horizontal rules at least 30 points wide, pieces on one height joined (a table's cells rule by rule), from the top."""
    rules = sorted((r for r in document.shapes(page, "rule") if r.x1 - r.x0 >= 4), key=lambda r: (round(r.y0), r.x0))
    out: list[Shape] = []
    for rule in rules:
        last = out[-1] if out else None
        if last is not None and abs(last.y0 - rule.y0) <= 1 and rule.x0 <= last.x1 + 7 and rule.x1 > last.x0:
            last.x1 = max(last.x1, rule.x1)
            continue
        out.append(Shape("rule", rule.x0, rule.y0, rule.x1, rule.y1, order=rule.order))
    return [r for r in out if r.x1 - r.x0 >= 30]
