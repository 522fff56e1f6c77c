"""Section headings: from the bookmarks, checked against the page; else from numbering and type."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.lines import Line

NUMBER = re.compile(
    r"^(?:(?:appendix|section)\s+)?"
    r"(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,4}|[IVX]{1,5}|[A-Z]{1,2}\.\d{1,2}(?:\.\d{1,2})*)(?P<dot>[.:)]?)\s+(?P<title>\S.*)$",
    re.I)
APPENDIX = re.compile(r"^(?:appendix|supplementary|supplemental|supporting information)\b", re.I)
PLAIN = re.compile(
    r"^(?:abstract|references?|bibliography|acknowledge?ments?(?: and disclosure of funding)?|"
    r"appendix|appendices|introduction|conclusions?|discussion|"
    r"broader impacts?(?: statement)?|impact statement|ethics statement|ethical considerations|reproducibility statement|limitations|"
    r"author contributions|contributions|supplementary materials?|supplemental materials?|funding|notation|related works?|contents|"
    r"checklist|data availability|code availability|competing interests)\s*[.:]?$", re.I)
REFERENCES = re.compile(r"^(?:\d{1,2}\.?\s+|[IVX]+\.\s+)?(?:references?|bibliography|literature cited|references and notes)\s*[.:]?$", re.I)


CAPITALS = re.compile(r"csc\d|small-?caps|-SC\b|SCaps", re.I)  # fonts of small capitals


def plain(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text).lower() if c.isalnum())


@dataclass
class Heading:
    number: str | None
    title: str
    level: int
    lines: list[Line]
    appendix: bool = False
    run_in: bool = False
    sure: bool = False

    @property
    def page(self) -> int:
        return self.lines[0].page


def small_caps(line: Line) -> bool:
    """Whether the line is set in capitals of two sizes, or all in capitals."""
    letters = [c for w in line.words for c in w.chars if c.text.isalpha()]
    if len(letters) <= 3:
        return False
    if len([c for c in letters if c.text.isupper()]) >= 0.9 * len(letters):
        return True
    return len([c for c in letters if of_capitals(c.font.name)]) >= 0.8 * len(letters)


@lru_cache(maxsize=512)
def of_capitals(font: str) -> bool:
    return bool(CAPITALS.search(font))


def distinct(document: Document, line: Line) -> bool:
    """Whether a line is set apart from the text by its type."""
    return line.bold >= 0.6 or line.size >= document.body + 0.7 or small_caps(line)


def gap_above(document: Document, line: Line) -> float:
    """Distance to the nearest line above it in its column, in leadings; large at the top of a column."""
    above = [other.base for other in document.page_lines(line.page)
             if other is not line and other.base < line.base - 2 and other.x0 < line.x1 and other.x1 > line.x0
             and other.role != "furniture"]
    return (line.base - max(above)) / document.leading if above else 9.0


def level_of(number: str) -> int:
    return number.rstrip(".").count(".") + 1


def find(document: Document) -> list[Heading]:
    """All headings in reading order."""
    candidates = [line for line in document.lines if line.role is None]
    marked = from_outline(document, candidates)
    typed = from_type(document, candidates)
    if len(marked) >= 3 and len(marked) >= 0.6 * len([h for h in typed if h.number]):
        out = merge(marked, typed, document)
    else:
        out = typed
    out.sort(key=lambda h: h.lines[0].index)
    out = [h for h in out if h.number or not before_abstract(document, h)]
    appendices(out)
    for heading in out:
        for line in heading.lines:
            line.role = "heading"
    return [heading for at, heading in enumerate(out) if not drop(document, heading, out[at + 1] if at + 1 < len(out) else None)]


def drop(document: Document, heading: Heading, following: Heading | None) -> bool:
    """Whether a heading opens no section: the table of contents (whose lines go too), and a title over the appendix alone."""
    start = heading.lines[-1].index + 1
    between = document.lines[start:following.lines[0].index if following else None]
    if re.fullmatch(r"(?:table of )?contents", heading.title, re.I):
        for line in between:
            line.role = line.role or "contents"
        return True
    return heading.number is None and bool(APPENDIX.match(heading.title)) and following is not None and \
        not any(line.role is None for line in between)


def before_abstract(document: Document, heading: Heading) -> bool:
    """Whether a line without number stands where the authors do: between the title and the abstract."""
    line = heading.lines[0]
    if line.page > 2 or PLAIN.match(heading.title):
        return False
    return any(re.match(r"^a\s*b\s*s\s*t\s*r\s*a\s*c\s*t\b", l.text, re.I) and l.page == line.page for l in document.lines[line.index + 1:line.index + 80])


def merge(marked: list[Heading], typed: list[Heading], document: Document) -> list[Heading]:
    """Bookmarks, with what they lack: headings without bookmark that look just like those that have one."""
    taken = {line.index for heading in marked for line in heading.lines}
    looks = {look(document, h.lines[0]) for h in marked if h.level <= 2}
    numbers = {h.number for h in marked if h.number}
    extra = []
    for heading in typed:
        if any(line.index in taken for line in heading.lines):
            continue
        if REFERENCES.match(heading.title) or PLAIN.match(heading.title) and not heading.number:
            extra.append(heading)
        elif not heading.number and look(document, heading.lines[0]) in looks:
            extra.append(heading)
        elif heading.number and heading.number not in numbers and look(document, heading.lines[0]) in looks \
                and heading.level <= max(h.level for h in marked):
            extra.append(heading)
    return marked + extra


def look(document: Document, line: Line) -> tuple:
    largest = max(c.font.size for w in line.words for c in w.chars)
    return round(largest * 2), line.bold > 0.5, small_caps(line)


def from_outline(document: Document, lines: list[Line]) -> list[Heading]:
    """Headings that a bookmark names and a line on its page bears out."""
    if len(document.outline) < 3:
        return []
    by_page: dict[int, list[Line]] = {}
    for line in lines:
        by_page.setdefault(line.page, []).append(line)
    out: list[Heading] = []
    used: set[int] = set()
    first: dict[int, str] = {}  # the text of single lines, which several bookmarks are compared with
    top = min(mark.level for mark in document.outline)
    for mark in document.outline:
        want = plain(mark.title)
        if not want or mark.page is None:
            continue
        best = None
        for page in (mark.page, mark.page + 1):
            here = by_page.get(page, [])
            for at, line in enumerate(here):
                if line.index in used:
                    continue
                if line.index not in first:
                    first[line.index] = document.joiner.text([line])
                match = matched(document, here, at, mark.title, first[line.index])
                if match is None:
                    continue
                far = abs((mark.y if mark.y is not None else line.y0) - line.y0) if page == mark.page else 300
                score = (far < 60, distinct(document, line), -far)
                if best is None or score > best[0]:
                    best = (score, match, line)
            if best:
                break
        if best is None:
            continue
        number, title, taken = best[1]
        if not best[0][1] and not best[0][0]:
            continue
        used.update(line.index for line in taken)
        level = level_of(number) if number and re.match(r"[\dA-Z]+(\.\d+)*$", number) and not re.fullmatch(r"[IVX]{2,}", number) \
            else mark.level - top + 1
        out.append(Heading(number, title, level, taken, sure=True))
    return out


def matched(document: Document, lines: list[Line], at: int, title: str, first: str) -> tuple[str | None, str, list[Line]] | None:
    """Number, title and lines of the heading at `lines[at]`, which reads `first`, when it reads `title`; two-line headings too."""
    want = plain(title)
    taken: list[Line] = []
    alike = None
    for line in lines[at:at + 4]:
        if taken and (line.base - taken[-1].base > 2.2 * max(line.size, taken[-1].size) or line.base < taken[-1].base - 0.5
                      or abs(line.size - taken[-1].size) > 1.5):
            break
        taken.append(line)
        text = document.joiner.text(taken) if len(taken) > 1 else first
        have = plain(text)
        stripped = NUMBER.match(text)
        forms = [(None, text)]
        if stripped:
            forms.append((stripped.group("number"), stripped.group("title")))
        for number, rest in reversed(forms):
            got = plain(rest)
            if got == want or number and have == want:
                return number, clean(rest), list(taken)
            if similar(got, want) and not want.startswith(got):
                alike = alike or (number, clean(rest), list(taken))
        if len(have) > len(want) + 12:
            return alike or run_in(taken, want)
        if have and not want.startswith(have[:8]) and not (stripped and want.startswith(plain(stripped.group("title"))[:8])):
            return alike
    return alike


def run_in(taken: list[Line], want: str):
    """A heading at the start of a paragraph's first line, bold or italic: "Masking. We …"."""
    if len(taken) != 1 or len(want) < 4:
        return None
    words, text = [], ""
    for word in taken[0].words:
        if not (word.font.bold or word.font.italic):
            break
        words.append(word.text)
        text = " ".join(words)
        stripped = NUMBER.match(text)
        if plain(text).rstrip() == want or stripped and plain(stripped.group("title")) == want:
            return (stripped.group("number") if stripped else None), clean(stripped.group("title") if stripped else text), taken
    return None


def similar(a: str, b: str) -> bool:
    """Alike but for a formula, which bookmarks leave out or spell."""
    if not a or not b or min(len(a), len(b)) < 8:
        return False
    from rapidfuzz.fuzz import ratio
    return ratio(a, b) >= 88 and abs(len(a) - len(b)) <= 12


def clean(title: str) -> str:
    return re.sub(r"\s+", " ", title).strip().rstrip(" .:").strip() if not title.endswith("etc.") else title.strip()


SENTENCE = re.compile(r"[.!?]\s+[A-Z][a-z]+\s+[a-z]+")


def from_type(document: Document, lines: list[Line]) -> list[Heading]:
    """Headings by number and type. Numbers must follow one another; unnumbered ones must be known words or look like the rest."""
    rough: list[Heading] = []
    used: set[int] = set()
    for at, line in enumerate(lines):
        text = line.text
        if line.index in used:
            continue
        if len(text) > 160 or len(text) < 3 or line.size < document.body - 0.6 and line.bold < 0.6 and not small_caps(line):
            continue
        if not distinct(document, line):
            if not (line.italic >= 0.6 and NUMBER.match(text)):
                continue
        match = NUMBER.match(text)
        bare = re.fullmatch(r"(?:appendix\s+)?((?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,3}|[IVX]{1,4})\.?", text, re.I)
        taken = [line]
        if bare and at + 1 < len(lines) and abs(lines[at + 1].base - line.base) < 2 and lines[at + 1].x0 > line.x1:
            taken.append(lines[at + 1])
            text = f"{text} {lines[at + 1].text}"
            match = NUMBER.match(text)
        if not match and not PLAIN.match(text) and not APPENDIX.match(text) and not looks_free(document, line):
            continue
        if match and not good_number(match, line):
            continue
        following = lines[at + len(taken)] if at + len(taken) < len(lines) else None
        while following is not None and goes_on(document, taken[-1], following, match is not None):
            taken.append(following)
            text = f"{text} {following.text}" if not text.endswith("-") else document.joiner.glue(text, following.text)
            at += 1
            following = lines[at + len(taken)] if at + len(taken) < len(lines) else None
            if len(taken) > 3:
                break
        match = NUMBER.match(text) if match else None
        title = match.group("title") if match else text
        if SENTENCE.search(title) or len(plain(title)) < 2 or len(title) > 200:
            continue
        number = match.group("number") if match else None
        used.update(one.index for one in taken)
        rough.append(Heading(number, clean(title), level_of(number) if number else 1, taken))
    return in_sequence(document, rough)


def looks_free(document: Document, line: Line) -> bool:
    """An unnumbered heading: larger or bold, alone on its line, with room above, no sentence."""
    if gap_above(document, line) < 1.15 or line.math > 0.3 or re.search(r"[=<>|]", line.text) or line.region in ("table", "picture", "caption"):
        return False
    if document.regions.get(line.page) and line.region not in ("section-header", "title") and not small_caps(line):
        return False
    largest = max(c.font.size for w in line.words for c in w.chars)
    if largest < document.body - 0.3 or line.text[-1] in ".,;" or not line.text[0].isupper() or STATEMENT.match(line.text):
        return False
    after = next((l for l in document.lines[line.index + 1:line.index + 2] if l.page == line.page), None)
    if after is not None and 0 < after.base - line.base < 1.3 * document.leading and after.words[0].font.bold and after.bold < 0.95 \
            and line.bold > 0.5:
        return False  # a bold phrase of two lines that begins a paragraph
    return line.bold >= 0.97 or line.size >= document.body + 1.2 or small_caps(line)


STATEMENT = re.compile(r"^(?:proof|theorem|lemma|proposition|corollary|definition|remark|claim|example|assumption|case|step)\b", re.I)


def good_number(match: re.Match, line: Line) -> bool:
    number, title = match.group("number"), match.group("title")
    if not re.match(r"[A-Z0-9]", number):
        return False
    if not re.search(r"[^\W\d_]{2,}", title):
        return False
    if re.match(r"^[A-Z]$", number) and not match.group("dot") and title[:1].islower():
        return False  # "A method for …"
    return not re.fullmatch(r"[A-Z][a-z]", number)


def goes_on(document: Document, line: Line, following: Line, numbered: bool) -> bool:
    """Whether a heading goes on in the next line: same type, next line's distance, same column, not itself numbered."""
    if following.page != line.page or following.role is not None:
        return False
    step = following.base - line.base
    if not 0 < step <= 1.45 * max(line.size, following.size) + 1:
        return False
    if abs(following.size - line.size) > 0.4 or (line.bold > 0.5) != (following.bold > 0.5):
        return False
    match = NUMBER.match(following.text)
    if match and good_number(match, following) and re.match(r"\d|[A-Z]\.\d|[A-Z]\s", following.text):
        return False
    left, right = document.column(line)
    # A title that broke must have filled its line.
    if line.hyphen:
        return True
    first = following.words[0].x1 - following.words[0].x0
    return line.x1 + first + 0.3 * line.size > right - 2 or abs((line.x0 + line.x1) / 2 - (left + right) / 2) < 8


def numeric(number: str) -> tuple:
    parts = number.rstrip(".").split(".")
    out = []
    for part in parts:
        if part.isdecimal():
            out.append((0, int(part)))
        elif re.fullmatch(r"[IVX]{2,}", part):
            out.append((2, roman(part)))
        else:
            out.append((1, ord(part[0].upper()) - 64))
    return tuple(out)


def roman(text: str) -> int:
    values = {"I": 1, "V": 5, "X": 10}
    total = 0
    for a, b in pairwise(text + " "):
        total += -values[a] if b in values and values[b] > values[a] else values[a]
    return total


def in_sequence(document: Document, rough: list[Heading]) -> list[Heading]:
    """Keep the numbered headings that form a rising sequence, and the unnumbered that look like headings of this paper."""
    numbered = [h for h in rough if h.number]
    roman_style = sum(bool(re.fullmatch(r"[IVX]+", h.number)) for h in numbered) >= 3 and \
        not any(h.number == "1" for h in numbered)
    best: list[Heading] = []
    # The longest chain in which each number may follow the one before it.
    chains: list[tuple[float, int]] = []
    for i, heading in enumerate(numbered):
        score, came = weight(document, heading), -1
        if not may_start(heading.number):
            score -= 1.5
        for j in range(max(0, i - 60), i):
            if follows(numbered[j].number, heading.number, roman_style) and chains[j][0] + weight(document, heading) > score:
                score, came = chains[j][0] + weight(document, heading), j
        chains.append((score, came))
    if chains:
        at = max(range(len(chains)), key=lambda i: chains[i][0])
        while at >= 0:
            best.append(numbered[at])
            at = chains[at][1]
    kept = set(map(id, best))
    looks = Counter(look(document, h.lines[0]) for h in best if h.level <= 2)
    out = []
    for heading in rough:
        if id(heading) in kept:
            if roman_style and re.fullmatch(r"[A-Z]", heading.number) and heading.number not in "IVX":
                heading.level = 2
            out.append(heading)
        elif heading.number is None:
            if PLAIN.match(heading.title) or APPENDIX.match(heading.title):
                out.append(heading)
            elif looks[look(document, heading.lines[0])] >= 1 or not best:
                out.append(heading)
    return out


def weight(document: Document, heading: Heading) -> float:
    line = heading.lines[0]
    score = 1.0 + 0.3 * (line.bold >= 0.6) + 0.2 * (line.size > document.body + 0.5)
    left, _ = document.column(line)
    if abs(line.x0 - left) < 3:
        score += 0.3
    if gap_above(document, line) >= 1.3:
        score += 0.4
    if heading.title[:1].islower():
        score -= 0.8
    return score


def may_start(number: str) -> bool:
    return number in ("0", "1", "I", "A", "1.")


def follows(before: str, after: str, roman_style: bool) -> bool:
    """Whether a heading numbered `after` may come next after one numbered `before`."""
    if roman_style and re.fullmatch(r"[IVX]+", after) and re.fullmatch(r"[IVX]+", before):
        return roman(after) == roman(before) + 1
    if roman_style and re.fullmatch(r"[A-Z]", after) and after not in "IVX":
        return after == "A" or (re.fullmatch(r"[A-Z]", before) is not None and ord(after) == ord(before) + 1)
    if roman_style and re.fullmatch(r"[IVX]+", after):
        return True
    a, b = numeric(before), numeric(after)
    if len(b) == len(a) + 1 and b[:-1] == a and b[-1][1] in (0, 1):
        return True
    if len(b) <= len(a):
        head = a[:len(b)]
        if head[:-1] == b[:-1] and head[-1][0] == b[-1][0] and b[-1][1] == head[-1][1] + 1:
            return True
        if len(b) == 1 and b[0] == (1, 1) and a[0][0] != 1:
            return True  # the appendices begin
    return False


def appendices(headings: list[Heading]) -> None:
    """Mark what lies in the appendix: lettered after numbered, or whatever follows the references."""
    started = False
    after_references = False
    numeric_before = any(h.number and h.number[0].isdigit() for h in headings)
    for heading in headings:
        number = heading.number or ""
        if REFERENCES.match(heading.title):
            after_references = True
            continue
        lettered = bool(re.match(r"^[A-Z](\.\d|$)", number)) and numeric_before and not re.fullmatch(r"[IVX]+", number)
        if lettered or APPENDIX.match(heading.title) or re.match(r"^appendix\b", heading.lines[0].text, re.I):
            started = True
        elif after_references and not PLAIN.match(heading.title):
            started = True
        elif started and number and number[0].isdigit() and not after_references:
            started = False
        heading.appendix = started and not REFERENCES.match(heading.title)
