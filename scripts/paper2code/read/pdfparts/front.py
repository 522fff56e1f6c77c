"""Title, authors and abstract of the first page."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.headings import Heading, plain
from paper2code.read.pdfparts.lines import Line

AFFILIATION = re.compile(
    r"\b(?:universit|institut|department|dept\b|school of|college|laborator|research|google|facebook|meta\b|microsoft|openai|"
                         r"deepmind|inria|"
    r"cnrs|mit\b|eth\b|nvidia|amazon|apple|ibm|tencent|alibaba|bytedance|academy|inc\.|corporation|centre|"
                         r"center|faculty|hospital|équipe|lab\b|labs\b|company|group\b|france|germany|china|usa\b|canada|switzerland|"
                         r"japan|korea|australia|netherlands|israel|singapore|street|avenue|team\b)", re.I)
NOT_NAMES = re.compile(r"摘\s*要|要\s*旨|초\s*록|"
                       r"equal contribution|corresponding|anonymous|under review|preprint|published|abstract|draft|version|@|https?:|arxiv|"
                       r"\d{4}|permission|conference|proceedings|work done|intern\b|correspondence", re.I)
ABSTRACT = re.compile(r"^a\s*b\s*s\s*t\s*r\s*a\s*c\s*t\b\s*[.:—–-]*\s*", re.I)
DATE = re.compile(r"^(?:\(?dated|january|february|march|april|may|june|july|august|september|"
                  r"october|november|december|\d{1,2}\s+\w+\s+\d{4})\b", re.I)


def title(document: Document, metadata: str | None) -> tuple[str, list[Line]]:
    """The title and its lines: the largest type in the upper part of the first page with text."""
    page = next((p.number for p in document.pages if document.page_lines(p.number)), 1)
    lines = [l for l in document.page_lines(page) if l.role in (None, "heading") and l.y0 < 0.62 * document.pages[page - 1].height]
    lines = [l for l in lines if len(re.sub(r"[^\w]", "", l.text)) >= 2]
    if not lines:
        return metadata or "", []
    known = plain(metadata or "")
    named = [l for l in lines if len(known) > 12 and len(plain(l.text)) >= 8 and known.startswith(plain(l.text))]
    stop = next((l.index for l in lines if ABSTRACT.match(l.text) or re.match(r"^(?:1|I)\.?\s+Introduction", l.text, re.I)), 10**9)
    early = [l for l in lines if l.index < stop] or lines
    top = max(early, key=lambda l: (largest(l), -l.index))
    if named and named[0].size >= document.body + 0.5:
        top = named[0]
    elif top.size < document.body + 0.8:
        bold = [l for l in early if l.bold > 0.7 and len(l.text) > 8]
        top = bold[0] if bold else top
    taken = [top]
    for direction in (1, -1):
        at = top.index + direction
        while 0 <= at < len(document.lines):
            line = document.lines[at]
            last = taken[-1] if direction == 1 else taken[0]
            step = (line.base - last.base) * direction
            alike = abs(largest(line) - largest(top)) <= 0.12 * largest(top) and not (line.bold < 0.5 <= top.bold or line.bold > 0.7 and top.bold < 0.5)
            if line.page != page or not alike or not -2 <= step <= 2.1 * top.size or line.role not in (None, "heading") or \
                    ABSTRACT.match(line.text):
                break
            if direction == 1:
                taken.append(line)
            else:
                taken.insert(0, line)
            at += direction
    text = re.sub(r"\s+", " ", joined_title(document, taken)).strip()
    text = re.sub(r"[*∗†‡§¶]+$|\^\{\d+\}$", "", text).strip()
    if metadata and len(plain(metadata)) > 12 and plain(metadata) == plain(text):
        text = metadata.strip() if sum(c.isupper() for c in text) > 0.8 * sum(c.isalpha() for c in text) else text
    return text, taken


def joined_title(document: Document, lines: list[Line]) -> str:
    """A title's lines; a word broken at a line's end in capitals is joined too, which running text never breaks so."""
    text = document.joiner.text(lines)
    if sum(c.isupper() for c in text) > 0.8 * sum(c.isalpha() for c in text):
        for before, after in pairwise(lines):
            if before.hyphen and before.words[-1].chars[-1].hyphen:
                left, right = before.words[-1].text, after.words[0].text
                text = text.replace(left + right, left[:-1] + right)
    return text


def largest(line: Line) -> float:
    """The size of the line's capitals, where small capitals make most of it smaller."""
    return max((c.font.size for w in line.words for c in w.chars if c.text.isalpha()), default=line.size)


def abstract(document: Document, headings: list[Heading]) -> list[Line]:
    """The lines of the abstract, without its heading."""
    lines = document.lines
    first = next((l for l in lines if l.page <= 2 and ABSTRACT.match(l.text)), None)
    stop = next((h.lines[0].index for h in headings if not ABSTRACT.match(h.title) and h.lines[0].page <= 3 and
                 (first is None or h.lines[0].index > first.index)), None)
    if first is None:
        return []
    out = []
    rest = ABSTRACT.sub("", first.text)
    if len(rest) > 20:
        out.append(first)
    for line in lines[first.index + 1:stop if stop is not None else first.index + 60]:
        if line.page > first.page + 1 or line.role not in (None,):
            continue
        if out and out[0].page == line.page and line.size < out[0].size - 0.6 and line.math < 0.3 and line.y0 > out[-1].y1:
            continue
        if re.match(r"^(?:key\s?words?|index terms|ccs concepts|acm reference|pacs|msc|mathematics subject)\b", line.text, re.I):
            break
        if out and line.page == out[-1].page and line.base - out[-1].base > 3.2 * document.leading:
            break
        out.append(line)
    return out


def authors(document: Document, title_lines: list[Line], stop: int) -> list[str]:
    """Names between the title and the abstract: capitalised words, no affiliation, address or note."""
    if not title_lines:
        return []
    found: list[str] = []
    page = title_lines[-1].page
    for line in document.lines[title_lines[-1].index + 1:stop]:
        if line.page != page or line.role is not None or len(found) > 400:
            continue
        text = names_text(line)
        if DATE.match(text) or NOT_NAMES.search(text) or len(text) > 250:
            continue
        for piece in re.split(r"\s*(?:,|;|\band\b|&|·|•|\s{2,}|\|)\s*", text):
            piece = re.sub(r"[\d*∗†‡§¶‖♯⋆♠♣♦{}^,\s⇤]+$|^[\d*∗†‡§¶‖♯⋆{}^,\s]+", "", piece).strip()
            if is_name(piece) and piece not in found:
                found.append(piece)
    return found


def names_text(line: Line) -> str:
    """The line without raised marks; a wide gap reads as a comma."""
    out = ""
    last = None
    for word in line.words:
        text = "".join(c.text for c in word.chars if not (c.font.size <= 0.89 * line.size and c.base < line.base - 0.15 * line.size))
        raised = len(text) < len(word.text)
        if last is not None and word.x0 - last.x1 > 1.1 * line.size:
            out += ", "
        out += text + (", " if raised and word is not line.words[-1] and text.strip(",") and text else " ")
        last = word
    return re.sub(r"\s+", " ", re.sub(r"\s*,(?:\s*,)+\s*", ", ", out)).strip(" ,")


PART = re.compile(r"^(?:[A-ZÀ-ÞŁŠŽČĆŚŻŹŐ][\w’'\-.À-ž]*|de|del|della|der|den|van|von|di|da|dos|la|le|bin|ben|el|al|ter|ten|\w\.)$")


def uncased(word: str) -> bool:
    """Whether a word is of a script without capitals (Chinese, Hebrew, Arabic …)."""
    return all(unicodedata.category(char) in ("Lo", "Mn", "Lm") for char in word)


def is_name(text: str) -> bool:
    words = text.split()
    if words and all(uncased(word) for word in words):
        return 2 <= len(words) <= 5 and len(text) <= 40 or len(words) == 1 and 2 <= len(text) <= 4
    if not 2 <= len(words) <= 6 or AFFILIATION.search(text) or len(text) > 50:
        return False
    return all(PART.match(w) for w in words) and words[0][0].isupper() and words[-1][0].isupper() and \
        not all(w.isupper() and len(w) > 3 for w in words) or \
        2 <= len(words) <= 4 and all(w.isupper() and len(w) > 1 for w in words) and not AFFILIATION.search(text)
