"""Places in a paper as people write them, and what they name in a `Paper`.

    §3.2 · Sec. 3.2 · Section 3.2 · Sections 3 and 4 · Appendix B · Eq. 4 · Eqs. (3)-(5) · Table 2 · Figure 2
    Algorithm 1, lines 3-5 · Footnote 3 · Theorem 2 · Abstract · p. 4 · §Experiments (by title, where sections have no numbers)

Several are joined by commas, semicolons or "and". `parse` reads them, `Places(paper).resolve` finds them.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field

from paper2code.fold import fold
from paper2code.paper import Algorithm, Paper, Section

SECTION_NUMBER = r"(?:[A-Z]{1,4}|\d{1,3}|[A-Z]\d{1,2})(?:[.\-\u2010\u2011](?:\d{1,3}|[A-Z](?![A-Za-z])))*(?![A-Za-z\d])"
ITEM_NUMBER = r"(?:[A-Z]{1,2}\.?\-?)?\d{1,3}(?:\.\d{1,3})*[a-z]?(?![A-Za-z\d])"
WORDS = {
    "section": (r"§|\b(?:[Ss]ection|SECTION|[Ss]ect?\.|Sec)(?=[\s\d\u00a0A-Z])", r"§§|\b(?:[Ss]ections|[Ss]ecs\.?)(?=\s)"),
    "equation": (r"\b(?:[Ee]quation|[Ee]qn?\.|Eqn?)(?=[\s\d(\u00a0])", r"\b(?:[Ee]quations|[Ee]qn?s\.?)(?=[\s\d(])"),
    "table": (r"\b(?:[Tt]able|TABLE|Tab\.)(?=[\s\d\u00a0])", r"\b(?:Tables|Tabs\.)(?=\s)"),
    "figure": (r"\b(?:[Ff]igure|[Ff]ig\.|Fig)(?=[\s\d\u00a0])", r"\b(?:[Ff]igures|[Ff]igs\.)(?=\s)"),
    "algorithm": (r"\b(?:[Aa]lgorithm|[Aa]lgo?\.)(?=[\s\d\u00a0])", r"\b(?:Algorithms|Algs\.)(?=\s)"),
    "footnote": (r"\b[Ff]ootnote(?=[\s\d])", r"\b[Ff]ootnotes(?=\s)"),
    "page": (r"\b(?:[Pp]age|[Pp]\.)(?=[\s\d])", r"\b(?:[Pp]ages|[Pp]p\.)(?=[\s\d])"),
    "theorem": (r"\b(?:Theorem|Lemma|Proposition|Corollary|Definition|Assumption|Remark|Example|Claim)"
                r"(?=\s\d|\s[A-Z]\.?\d)", None),
    "line": (r"\b(?:[Ll]ine|l\.)(?=\s\d)", r"\b(?:[Ll]ines|ll\.)(?=\s\d)"),
}
TO = r"\s?(?:-|\u2010|\u2013|to)\s?"


def written(kind: str) -> str:
    number = SECTION_NUMBER if kind == "section" else r"\d{1,4}" if kind in ("page", "line") else ITEM_NUMBER
    one, many = WORDS[kind]
    number = rf"\(?{number}\)?" if kind == "equation" else number
    ranged = rf"{number}(?:{TO}{number})?"
    if kind == "section":  # "§IV-B" is one number, "§3-4" two
        ranged = rf"{number}(?:\s?\u2013\s?(?={number}){number})?"
    pattern = rf"(?:{one})\s*{ranged}"
    if many:
        pattern += rf"|(?:{many})\s*{ranged}(?:(?:\s*,\s*(?:and\s)?|\s+(?:and|&)\s+){ranged})*"
    return pattern


KINDS = ("section", "equation", "table", "figure", "algorithm", "footnote", "page", "theorem", "line")
ONE = "|".join([rf"(?P<appendix>\b(?:Appendix|APPENDIX|App\.)\s*(?:{SECTION_NUMBER}|(?=[\s]*[\u2014\u2013:\-,]|\s*$))"
                rf"|\bAppendices\s+{SECTION_NUMBER}(?:(?:\s*,\s*|\s+and\s+){SECTION_NUMBER})*)",
                *(rf"(?P<{kind}>{written(kind)})" for kind in KINDS),
                r"(?P<abstract>\bAbstract\b|^\s*(?i:the\s+)?(?:abstract|ABSTRACT)\b|§\s*(?i:abstract)\b)",
                r"(?P<title>§\s*(?=[^\W\d_])[^\"\u201c\u201d§\n|]{2,120}?(?=\s*(?:[\u2014|;]|\s\u2013|\s-{1,3}\s|[:\"\u201c(\])]|\.\s|\.?$|\n"
                r"|,\s*(?:p\.|pp\.|[Pp]age|Eq|Table|Fig|Alg|App|Foot|§))))"])
PLACE = re.compile(ONE)
JOIN = re.compile(r"\s*(?:,|;|/|&|\band\b|\+|\(|\)|\bin\b|\bof\b)?\s*(?:and\s+)?(?:the\s+)?")
BACK_MATTER = re.compile(r"(?i)\W*(?:acknowledg|references|bibliography|.{0,12}impact|.{0,12}ethic|reproducib|.{0,12}availability|"
                         r".{0,12}contributions|funding|conflict|supplement|appendi|limitation|disclosure|checklist)")


@dataclass(frozen=True)
class Place:
    """One place. `numbers` as written, ranges as pairs; empty for the abstract, a title or "Appendix" alone.
    `title` for a section named by its title. `lines`: first and last line of an algorithm."""

    kind: str
    text: str
    numbers: tuple[str | tuple[str, str], ...] = ()
    title: str | None = None
    lines: tuple[int, int] | None = None


@dataclass
class Target:
    """What places name: a quote lies in it when its passage is in one of `sections` (ids, subsections included), of
    `items` (ids; of an algorithm only `rows[id]` where lines are named, by the numbers printed before them) or, when neither is named, on one of `pages`."""

    text: str
    sections: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)
    rows: dict[str, set[int]] = field(default_factory=dict)
    theorems: set[str] = field(default_factory=set)
    pages: set[int] = field(default_factory=set)
    missing: list[tuple[str, str | None]] = field(default_factory=list)  # (what does not exist, what may be meant)
    misplaced: list[tuple[str, str, bool]] = field(default_factory=list)  # (item, where it is, whether that is certain)

    @property
    def exists(self) -> bool:
        return not self.missing and bool(self.sections or self.items or self.theorems or self.pages)


def bare(number: str) -> str:
    """A printed number without what surrounds it: "(4)" is 4, "Appendix B." is B, "IV–B" is iv-b."""
    number = re.sub(r"^(?:appendix|section|table|figure|algorithm|equation)\s+", "", number.strip(), flags=re.I)
    return re.sub(r"[\u2010\u2011\u2013]", "-", number).strip("().: ").casefold()


def parse(text: str) -> list[Place]:
    """The places in `text`, in order; what is not a place is passed over."""
    out: list[Place] = []
    for found in PLACE.finditer(text):
        kind, raw = found.lastgroup, found.group().strip()
        if kind in ("abstract", "title"):
            title = re.sub(r"^§\s*", "", raw).strip() if kind == "title" else None
            out.append(Place("abstract" if kind == "abstract" else "section", raw, title=title))
            continue
        body = re.sub(r"^(?:§+|[A-Za-z]+\.?)\s*", "", raw)
        number = rf"(?:{SECTION_NUMBER})" if kind in ("section", "appendix") else rf"(?:{ITEM_NUMBER})"
        dash = r"\s?\u2013\s?" if kind == "section" else TO
        numbers = tuple(
            (pair.group(1), pair.group(2)) if pair.group(2) else pair.group(1)
            for pair in re.finditer(rf"\(?({number})\)?(?:{dash}\(?({number})\)?)?", body))
        if kind == "theorem":
            raw_kind = re.match(r"[A-Za-z]+", raw).group()
            numbers = tuple(f"{raw_kind} {n}" for n in numbers if isinstance(n, str))
        if kind == "line":
            pair = numbers[0] if numbers else None
            if out and out[-1].kind == "algorithm" and pair:
                first, last = (int(pair[0]), int(pair[1])) if isinstance(pair, tuple) else (int(pair), int(pair))
                out[-1] = Place("algorithm", f"{out[-1].text}, {raw}", out[-1].numbers, None, (first, last))
            continue
        out.append(Place(kind, raw, numbers))
    return out


class Places:
    """The places of one paper, indexed once."""

    def __init__(self, paper: Paper):
        self.paper = paper
        self.sections: dict[str, list[Section]] = {}
        self.titles: dict[str, list[Section]] = {}
        self.inside: dict[str, set[str]] = {}
        for section in paper.sections:
            if section.number:
                self.sections.setdefault(bare(section.number), []).append(section)
            self.titles.setdefault(fold(section.title).text, []).append(section)
        open_sections: list[tuple[int, Section]] = []
        for section, level in zip(paper.sections, levels(paper.sections), strict=True):
            while open_sections and open_sections[-1][0] >= level:
                open_sections.pop()
            open_sections.append((level, section))
            for _, parent in open_sections:
                self.inside.setdefault(parent.id, set()).add(section.id)
        self.items: dict[str, dict[str, list]] = {}
        for kind, items in (("equation", paper.equations), ("table", paper.tables), ("figure", paper.figures),
                            ("algorithm", paper.algorithms), ("footnote", paper.footnotes)):
            by_number = self.items[kind] = {}
            for item in items:
                if item.number:
                    by_number.setdefault(bare(item.number), []).append(item)
        self.theorems = {fold(block.number).text: block.number
                         for section in paper.sections for block in section.blocks if block.number}

    def resolve(self, text: str) -> Target:
        """What the places in `text` name; `missing` and `misplaced` say what is wrong with them."""
        target = Target(text)
        places = self.titled(text) + parse(text) if text.lstrip().startswith("§") else parse(text) or self.titled(text)
        if not places:
            target.missing.append((" ".join(text.split())[:80] or "no place", None))
        found_items: list[tuple[str, object]] = []
        for place in places:
            if place.kind == "abstract":
                target.sections.add("abstract") if self.paper.abstract else target.missing.append(("the abstract", None))
                for section in self.titles.get("abstract", ()):
                    target.sections.add(section.id)
            elif place.title is not None:
                self.by_title(place, target)
            elif place.kind in ("section", "appendix"):
                self.by_number(place, target)
            elif place.kind == "page":
                self.by_page(place, target)
            elif place.kind == "theorem":
                for number in place.numbers:
                    if fold(number).text in self.theorems:
                        target.theorems.add(fold(number).text)
                    else:
                        target.missing.append((number, close(number, list(self.theorems.values()))))
            else:
                found_items += self.by_item(place, target)
        named = target.sections - {"abstract"}
        within = not re.search(r";|\band\b|&", text)  # "§3.2, Eq. 4" is one place, "§3.2 and Eq. 4" are two
        if named and within and any(place.kind in ("section", "appendix") for place in places):
            for label, item in found_items:
                if item.section is not None and item.section not in named:
                    sure = label.startswith(("Equation", "Eq", "eq"))  # tables and figures float
                    target.misplaced.append((label, self.label(item.section), sure))
        return target

    def titled(self, text: str) -> list[Place]:
        """The section whose title, whatever it holds, is all that the text names."""
        wanted = fold(text).text
        return [Place("section", text, title=title[0].title) for key, title in self.titles.items() if key and key == wanted][:1]

    def by_title(self, place: Place, target: Target) -> None:
        wanted = fold(place.title).text
        hits = self.titles.get(wanted)
        if not hits and re.fullmatch(r"(?i)abstract", place.title) and self.paper.abstract:
            target.sections.add("abstract")
            return
        if not hits:
            hits = [each for title, sections in self.titles.items() for each in sections
                    if title and wanted.startswith(title) and len(title) >= 0.6 * len(wanted)]
        if not hits and len(wanted) >= 8:  # cut at a bracket or a dash
            starting = [title for title in self.titles if title.startswith(wanted)]
            hits = self.titles[starting[0]] if len(starting) == 1 else []
        if hits:
            for section in hits:
                target.sections |= self.inside[section.id]
        else:
            near = close(place.title, [section.title for section in self.paper.sections])
            target.missing.append((f"§{place.title}", f"§{near}" if near else None))

    def by_number(self, place: Place, target: Target) -> None:
        if not place.numbers:
            appendix = [section.id for section in self.paper.sections if section.appendix]
            target.sections |= set(appendix)
            if not appendix:
                target.missing.append(("an appendix", None))
        for number in spread(place.numbers, list(self.sections)):
            hits = self.sections.get(bare(number))
            if not hits:
                shown = f"Appendix {number}" if place.kind == "appendix" else f"§{number}"
                near = self.near_section(number)
                target.missing.append((shown, near))
                continue
            for section in hits:
                target.sections |= self.inside[section.id]

    def near_section(self, number: str) -> str | None:
        number = bare(number)
        parent = number.rpartition(".")[0]
        near = difflib.get_close_matches(number, list(self.sections), n=1, cutoff=0.5) or [parent] * (parent in self.sections)
        return self.label(self.sections[near[0]][0].id, title=True) if near else None

    def by_page(self, place: Place, target: Target) -> None:
        for number in place.numbers:
            first, last = number if isinstance(number, tuple) else (number, number)
            pages = range(int(first), min(int(last), int(first) + 500) + 1) if first.isdigit() and last.isdigit() else ()
            for page in pages:
                if self.paper.pages and page > self.paper.pages:
                    target.missing.append((f"page {page}", f"the paper has {self.paper.pages} pages"))
                    break
                target.pages.add(page)

    def by_item(self, place: Place, target: Target) -> list[tuple[str, object]]:
        out = []
        have = self.items[place.kind]
        for number in spread(place.numbers, list(have)):
            label = f"{place.kind.capitalize()} {number}"
            hits = have.get(bare(number)) or [item for key, items in have.items() for item in items
                                              if re.fullmatch(re.escape(bare(number)) + "[a-z]", key)]  # 3 is 3a and 3b
            if not hits and place.kind in ("table", "figure") and (part := re.fullmatch(r"(\d+)[a-h]", bare(number))):
                # 2b is a part of 2, where the caption numbers no parts
                hits = have.get(part.group(1))
            if not hits:
                near = close(bare(number), list(have))
                target.missing.append((label, f"{place.kind.capitalize()} {have[near][0].number}" if near else None))
                continue
            for item in hits:
                target.items.add(item.id)
                out.append((label, item))
                if place.lines:
                    first, last = place.lines
                    end = last_line(item)
                    if first < 1 or last > end or last < first:
                        target.missing.append((f"{label}, lines {first}-{last}", f"it has {end} lines"))
                    elif rows := item.rows_called(first, last):
                        target.rows[item.id] = rows
                    else:
                        target.missing.append((f"{label}, lines {first}-{last}", "nothing is printed there"))
        return out

    def label(self, section: str | None, *, title: bool = False) -> str:
        """How a section's id is cited: §3.2, Appendix B, §Title, Abstract."""
        if section == "abstract":
            return "Abstract"
        found = self.paper.section(section)
        if found is None:
            return "the paper"
        if not found.number:
            return f"§{found.title}" if found.title.strip() else f"p. {found.page}" if found.page else "the paper"
        lettered = found.appendix and bare(found.number).isalpha()
        name = f"Appendix {bare(found.number).upper()}" if lettered else f"§{found.number.strip('. ')}"
        return f"{name} ({found.title})" if title else name


def last_line(item: Algorithm) -> int:
    """The number of an algorithm's last line, as it is cited."""
    return max((int(number) for number in item.numbers if number.isdecimal()), default=0) if item.numbers else len(item.lines)


def levels(sections: list[Section]) -> list[int]:
    """The levels of sections as they count for what lies in what. A PDF does not tell the level of a heading without a
    number: one that stands among numbered sections, and is no back matter, belongs to the one before it."""
    out: list[int] = []
    last = max((place for place, section in enumerate(sections) if section.number), default=-1)
    numbered: Section | None = None
    for place, section in enumerate(sections):
        level = section.level
        if section.number:
            numbered = section
        elif section.source == "pdf" and numbered and numbered.appendix == section.appendix and not BACK_MATTER.match(section.title):
            level = max(level, numbered.level + 1) if place < last or section.appendix else level
        out.append(level)
    return out


def spread(numbers: tuple[str | tuple[str, str], ...], known: list[str]) -> list[str]:
    """Ranges written out: by counting where both ends are whole numbers, else by the order in the paper."""
    out: list[str] = []
    for number in numbers:
        if isinstance(number, str):
            out.append(number)
            continue
        first, last = number
        if first.isdigit() and last.isdigit() and int(first) <= int(last) <= int(first) + 200:
            out += [str(n) for n in range(int(first), int(last) + 1)]
        elif bare(first) in known and bare(last) in known and known.index(bare(first)) <= known.index(bare(last)):
            out += known[known.index(bare(first)): known.index(bare(last)) + 1]
        else:
            out += [first, last]
    return out


def close(wanted: str, names: list[str]) -> str | None:
    near = difflib.get_close_matches(wanted, names, n=1, cutoff=0.6)
    return near[0] if near else None
