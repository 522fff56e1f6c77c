"""Figures: the area of a figure by its caption, and the words inside pictures, which are no running text."""

from __future__ import annotations

import re

from paper2code.read.pdfparts.captions import Caption, union
from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.lines import Line


def find(document: Document, captions: list[Caption]) -> None:
    """Take the labels inside pictures out of the text (role `picture`), and give each figure its box."""
    for page in document.pages:
        boxes = [(r.x0, r.y0, r.x1, r.y1) for r in document.regions.get(page.number, ()) if r.kind == "picture"]
        boxes += [(s.x0, s.y0, s.x1, s.y1) for s in page.shapes if s.kind == "image" and s.x1 - s.x0 > 30 and s.y1 - s.y0 > 30
                  and (s.x1 - s.x0) * (s.y1 - s.y0) < 0.85 * page.width * page.height]
        lines = document.page_lines(page.number)
        # A picture that holds several full lines of the text is a page's own frame or background.
        boxes = [box for box in boxes if sum(is_prose(document, l) and box[1] <= l.base <= box[3] and box[0] - 2 <= l.x0 and
                                             l.x1 <= box[2] + 2 for l in lines) < 5]
        if not boxes:
            continue
        for line in lines:
            if line.role is None and any(x0 - 2 <= line.x0 and line.x1 <= x1 + 2 and y0 - 2 <= (line.y0 + line.y1) / 2 <= y1 + 2
                                         for x0, y0, x1, y1 in boxes):
                if not is_prose(document, line):
                    line.role = "picture"
        for caption in captions:
            if caption.kind != "figure" or caption.page != page.number:
                continue
            own = [b for b in boxes if b[0] < caption.x1 + 10 and b[2] > caption.x0 - 10 and
                   (-15 <= caption.y0 - b[3] < 60 or -15 <= b[1] - caption.y1 < 25)]
            if own:
                caption.bbox = union([l.bbox for l in caption.lines] + [list(b) for b in own])


def is_prose(document: Document, line: Line) -> bool:
    left, right = document.column(line)
    wide = line.x1 - line.x0 > 0.85 * (right - left)
    return wide and abs(line.size - document.body) < 0.3 and len(re.findall(r"[a-z]{2,}", line.text)) >= 6
