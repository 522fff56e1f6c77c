"""Footnotes: small type at a column's foot, each begun by its mark; the marks must count up."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.engine import Char
from paper2code.read.pdfparts.front import AFFILIATION
from paper2code.read.pdfparts.lines import Line

SIGN = re.compile(r"^[*∗†‡§¶‖♯♠♣♦♥⋆#⇤]+")


@dataclass
class Note:
    number: str | None
    lines: list[Line] = field(default_factory=list)
    kind: str = "footnote"
    mark: list[int] = field(default_factory=list)  # indices of the mark's characters on its page

    @property
    def page(self) -> int:
        return self.lines[0].page


def mark_of(line: Line) -> tuple[str, list[int]] | None:
    """The raised mark a line begins with, and its characters."""
    out, indices = "", []
    for word in line.words[:2]:
        for char in word.chars:
            small = char.font.size <= 0.89 * line.size
            if small and char.base < line.base - 0.12 * line.size and (char.text.isdigit() or SIGN.match(char.text)):
                out += char.text
                indices.append(char.index)
            elif not out and SIGN.match(char.text) and char.text not in "#":
                return char.text, [char.index]
            else:
                return (out, indices) if out else None
    return (out, indices) if out else None


def find(document: Document) -> list[Note]:
    """The paper's footnotes in order. Numbers must not fall; signs count as title notes on the first pages."""
    notes: list[Note] = []
    for page in document.pages:
        lines = [l for l in document.page_lines(page.number) if l.role is None]
        starts = [line for line in lines if starts_note(document, line)]
        for line in starts:
            if line.role is not None:
                continue
            number, indices = mark_of(line)
            note = Note(number, [line], mark=indices)
            note.lines += rest(document, line, starts)
            if not number.isdecimal() or page.number == 1 and about_authors(document, note):
                note.kind = "thanks" if page.number == 1 else "footnote"
            notes.append(note)
            for one in note.lines:
                one.role = "footnote"
    return in_order(document, notes)


def starts_note(document: Document, line: Line) -> bool:
    if line.size > document.body - 0.4 and not (line.size <= document.body + 0.1 and under_rule(document, line)):
        return False
    found = mark_of(line)
    if found is None or len(found[0]) > 3:
        return False
    text = "".join(c.text for w in line.words for c in w.chars if c.index not in found[1])
    if len(re.sub(r"[^A-Za-z]", "", text)) < 3:
        return False
    left, right = document.column(line)
    page = document.pages[line.page - 1]
    if line.x0 > left + 0.3 * (right - left):
        return False
    if not found[0].isdigit() and line.page > 1:
        return under_rule(document, line)
    return under_rule(document, line) or line.y0 > 0.55 * page.height


ABOUT = re.compile(r"correspond(?:ence|ing)|[\w.}]@[\w.]+|equal (?:contribution|advis)|work (?:done|performed|was done)", re.I)


def about_authors(document: Document, note: Note) -> bool:
    """Whether a note of the first page tells where its authors are, as affiliations set at its foot do."""
    text = document.text(note.lines)
    return bool(ABOUT.search(text) or AFFILIATION.search(text[:160])) and not re.search(r"https?:|\bcode\b", text[:200])


def under_rule(document: Document, line: Line) -> bool:
    """Whether a footnote rule (short, at the column's left) stands above the line with nothing but small type between."""
    left, right = document.column(line)
    found = [r for r in document.shapes(line.page, "rule") if r.y1 <= line.y0 + 3 and abs(r.x0 - left) < 5 and
             40 < r.x1 - r.x0 < 0.75 * (right - left) and line.y0 - r.y1 < 200]
    for rule in found:
        between = [l for l in document.page_lines(line.page) if rule.y1 - 1 < l.base < line.base - 1 and l.x0 < right and l.x1 > left
                   and l.role != "furniture"]
        if all(l.size < document.body - 0.3 for l in between):
            return True
    return False


def rest(document: Document, line: Line, starts: list[Line]) -> list[Line]:
    out: list[Line] = []
    last = line
    begins = {id(s) for s in starts}
    for other in document.lines[line.index + 1:line.index + 40]:
        if other.page != line.page or other.role is not None or id(other) in begins:
            break
        step = other.base - last.base
        if other.math > 0.4 and len(other.text) < 10 and abs(step) < 1.2 * line.size:
            out.append(other)
            continue
        if not -1.5 <= step <= 1.6 * line.size or abs(other.size - line.size) > 0.5:
            break
        if step <= 1.5 and other.x0 < last.x1 - 3:
            break
        out.append(other)
        last = other
    return out


def in_order(document: Document, notes: list[Note]) -> list[Note]:
    """Numbered notes in a rising chain (each next number at most three on); what breaks it goes back to the text."""
    numbered = [n for n in notes if n.number.isdecimal() and n.kind == "footnote"]
    best: list[tuple[float, int]] = []
    for i, note in enumerate(numbered):
        value = int(note.number)
        score, came = (1.0 if value <= 3 else 0.2), -1
        for j in range(i):
            gap = value - int(numbered[j].number)
            if 1 <= gap <= 4 and best[j][0] + 1.2 - 0.2 * gap > score:
                score, came = best[j][0] + 1.2 - 0.2 * gap, j
        best.append((score, came))
    kept: set[int] = set()
    if best:
        at = max(range(len(best)), key=lambda i: best[i][0])
        while at >= 0:
            kept.add(id(numbered[at]))
            at = best[at][1]
    out = []
    for note in notes:
        if note.kind == "thanks" or not note.number.isdecimal() or id(note) in kept:
            out.append(note)
        else:
            for line in note.lines:
                line.role = None
    return out


def marks_in_text(document: Document, notes: list[Note]) -> None:
    """Remember the raised numbers in the text that call a note, so that "gradients4" reads "gradients": those on the note's page, else on
    the page before it. The 2 of (V − 1)² calls none."""
    numbers = {n.number for n in notes}
    for note in notes:
        document.marks.update((note.page, index) for index in note.mark)
    if not numbers:
        return
    near = {n.number: n.page for n in notes}
    found: dict[str, list[tuple[int, list[int]]]] = {}
    for line in document.lines:
        if line.role in ("furniture", "table", "algorithm", "equation"):
            continue
        chars = [c for w in line.words for c in w.chars]
        at = 0
        while at < len(chars):
            char = chars[at]
            if not (char.font.size <= 0.89 * line.size and char.base < line.base - 0.2 * line.size and char.text.isdigit()):
                at += 1
                continue
            end = at
            while end < len(chars) and chars[end].font.size <= 0.89 * line.size and chars[end].text.isdigit() and \
                    not (end > at and chars[end].space):
                end += 1
            digits = "".join(c.text for c in chars[at:end])
            before = chars[at - 1] if at else None
            if digits in near and near[digits] - line.page in (0, 1) and before is not None and not before.font.math and \
                    (before.text.isalpha() or before.text in ".,;:!?)]”\"'’") and not char.font.math and not closes_formula(chars[:at]):
                found.setdefault(digits, []).append((line.page, [c.index for c in chars[at:end]]))
            at = max(end, at + 1)
    for number, places in found.items():
        own = [place for place in places if place[0] == near[number]]
        document.marks.update((page, index) for page, indices in own or places for index in indices)


def closes_formula(chars: list[Char]) -> bool:
    """Whether characters end in a bracket that holds mathematics, so that a raised number after it is a power."""
    if not chars or chars[-1].text not in ")]":
        return False
    depth = 0
    for char in reversed(chars):
        depth += (char.text in ")]") - (char.text in "([")
        if char.font.math and char.text.isalpha() or char.text in "=+−<>":
            return True
        if depth == 0:
            break
    return False
