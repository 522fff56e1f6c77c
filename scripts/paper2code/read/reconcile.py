"""Several readings of one paper → one Paper: each thing from its best source, pages and places from the PDF.

The best source (LaTeX, then HTML, then PDF, then text) gives the frame: sections, paragraphs, items, references. The others
confirm its items, fill what it lacks, and give what it missed; where they disagree a warning says so. The PDF alone knows
what is printed where, so its numbers correct the frame's where both show one run of formulae under different numbers.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from difflib import SequenceMatcher

from paper2code.paper import SOURCES, Algorithm, Block, Equation, Figure, Footnote, Paper, Section, Table, give_ids
from paper2code.read import garbled
from paper2code.read.alignment import Placer, counted, plain, printed_words, recall, runs, words
from rapidfuzz.fuzz import ratio

ENOUGH = 0.6  # of the PDF's words, for a source to be this paper
WORDY = ("paragraph", "list", "theorem", "code")
FLOWING = (*WORDY, "equation")  # what stands where it is read; floats do not
NAMES = {"latex": "the LaTeX source", "html": "the HTML", "pdf": "the PDF", "text": "the text"}
Item = Equation | Algorithm | Table | Figure


def reconcile(papers: dict[str, Paper]) -> Paper:
    """One Paper out of several readings, by source. The given Papers stay as they are.

    `measures["word_recall"]` is the share of the PDF's words that stand in the result. Raises ValueError without a Paper.
    """
    unknown = papers.keys() - set(SOURCES)
    if unknown or not papers:
        raise ValueError(f"sources are {', '.join(SOURCES)}; given: {', '.join(map(str, papers)) or 'none'}")
    readings = {source: papers[source] for source in SOURCES if source in papers}
    return Reconciliation(readings).run()


def number_of(text: str | None) -> str:
    return re.sub(r"[^0-9A-Za-z.]", "", text or "").rstrip(".").upper()


def letters(text: str | None) -> str:
    """Letters and digits of a text or a formula, for comparison: commands and accents fall away."""
    text = re.sub(r"\\(?:mathbf|mathrm|mathcal|mathbb|text\w*|operatorname|left|right|displaystyle|label\{[^}]*\})", "", text or "")
    return "".join(re.findall(r"[^\W_]+", plain(text)))


def alike(one: str | None, other: str | None) -> float:
    one, other = letters(one), letters(other)
    if not one or not other:
        return 0.0
    return ratio(one[:2000], other[:2000]) / 100


class Reconciliation:
    def __init__(self, readings: dict[str, Paper]):
        self.readings = readings
        self.pdf = readings.get("pdf")
        self.counts = {source: counted(paper) for source, paper in readings.items()}
        self.told: list[tuple[str, str]] = []
        self.frame = self.choose()
        self.paper = copy.deepcopy(readings[self.frame])
        self.others = {source: paper for source, paper in readings.items() if source != self.frame}
        self.sections: dict[str, dict[str, str]] = {}  # source → its section's id → ours

    def choose(self) -> str:
        """The source that gives the frame: the best one that really is this paper."""
        order = list(self.readings)
        if len(order) == 1:
            return order[0]
        judge = self.counts["pdf"] if self.pdf else max((self.counts[source] for source in order), key=Counter.total)
        shares = {source: recall(judge, self.counts[source]) for source in order}
        for source in order:
            if shares[source] >= ENOUGH:
                return source
            if source in ("latex", "html"):
                self.told.append(("source-incomplete", f"{NAMES[source]} holds only {shares[source]:.0%} of the words of "
                                  f"{NAMES['pdf'] if self.pdf else 'the fullest source'}; another source was read in its stead"))
        return max(order, key=lambda source: shares[source])

    def run(self) -> Paper:
        paper = self.paper
        for kind, message in self.told:
            paper.warn(kind, message)
        for section in paper.sections:
            section.source = section.source or self.frame
            for block in section.blocks:
                block.source = block.source or self.frame
        self.front()
        for source, other in self.others.items():
            self.match_sections(source, other)
        if self.pdf is not None and self.frame != "pdf":
            self.known = self.runs_known()
            self.take_in_sections()
        self.correct_numbers()
        for name in ("equations", "algorithms", "tables", "figures"):
            for source, other in self.others.items():
                self.merge(name, source, other)
        self.mend()
        self.references()
        self.links()
        self.hidden()
        if self.pdf is not None and self.frame != "pdf":
            self.place()
            self.take_in_paragraphs()
        for other in self.others.values():
            for warning in other.warnings:
                paper.warn(warning.kind, warning.message, warning.where)
            for name, value in other.measures.items():
                paper.measures.setdefault(name, value)
            paper.pages = paper.pages or other.pages
        self.sources()
        if self.pdf is not None:
            paper.pages = self.pdf.pages
            paper.measures["word_recall"] = round(recall(self.counts["pdf"], counted(paper)), 4)
        give_ids(paper)
        return paper

    # --- front matter, sections -----------------------------------------------------------------------------------------

    def front(self) -> None:
        paper = self.paper
        for source, other in self.others.items():
            if paper.title and other.title and alike(paper.title, other.title) < 0.9:
                paper.warn("title-differs", f"the title is {paper.title!r} in {NAMES[self.frame]}, {other.title!r} in {NAMES[source]}")
            paper.title = paper.title or other.title
            paper.abstract = paper.abstract or other.abstract
            paper.authors = paper.authors or list(other.authors)
            paper.id = paper.id or other.id
            paper.version = paper.version or other.version

    def match_sections(self, source: str, other: Paper) -> None:
        """Which section of another source is which of ours: by number and title, by title, then by number alone."""
        ours = {section.id: section for section in self.paper.sections}
        free = list(ours.values())
        matched: dict[str, str] = {}
        tests = (
            lambda mine, its: number_of(mine.number) == number_of(its.number) and alike(mine.title, its.title) >= 0.8,
            lambda mine, its: alike(mine.title, its.title) >= 0.95,
            lambda mine, its: bool(mine.number) and number_of(mine.number) == number_of(its.number),
        )
        keyed = {"number": {}, "title": {}}
        for section in free:
            keyed["number"].setdefault(number_of(section.number), []).append(section)
            keyed["title"].setdefault(letters(section.title), []).append(section)
        for test in tests:
            for theirs in other.sections:
                if theirs.id in matched:
                    continue
                near = [*keyed["title"].get(letters(theirs.title), ()),
                        *(keyed["number"].get(number_of(theirs.number), ()) if theirs.number else ())]
                mine = next((section for section in near if section.id in ours and test(section, theirs)), None)
                if mine is not None:
                    matched[theirs.id] = mine.id
                    del ours[mine.id]
                    if source == "pdf":
                        mine.page, mine.bbox = theirs.page, theirs.bbox
        self.sections[source] = matched
        lost = [f"{section.number} {section.title}" for section in other.sections if section.number and section.id not in matched]
        alone = [f"{section.number} {section.title}" for section in ours.values() if section.number]
        self.differ("sections-differ", "sections", source, alone, lost)

    def differ(self, kind: str, what: str, source: str, ours: list[str], theirs: list[str]) -> None:
        if not ours and not theirs:
            return

        def told(names: list[str]) -> str:
            return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")

        parts = [f"only in {NAMES[name]}: {told(names)}" for name, names in ((self.frame, ours), (source, theirs)) if names]
        self.paper.warn(kind, f"{what} {'; '.join(parts)}")

    def our_section(self, source: str, id: str | None) -> str | None:
        """Our section for one of another source; for one that we lack, the nearest before it that we have."""
        matched = self.sections.get(source, {})
        nearest = None
        for section in self.readings[source].sections:
            nearest = matched.get(section.id, nearest)
            if section.id == id:
                return nearest
        return None

    # --- items ----------------------------------------------------------------------------------------------------------

    def correct_numbers(self) -> None:
        """Formulae that the frame counts otherwise than the PDF prints get the printed numbers: a run of ours that stands
        between the same numbers as an equally long run of the PDF, and reads like it."""
        if self.pdf is None or self.frame == "pdf":
            return
        ours = [item for item in self.paper.equations if item.number]
        theirs = [item for item in self.pdf.equations if item.number]
        known, printed = {number_of(item.number) for item in ours}, {number_of(item.number) for item in theirs}
        matcher = SequenceMatcher(None, [number_of(i.number) for i in ours], [number_of(i.number) for i in theirs], autojunk=False)
        for tag, start, end, from_, to in matcher.get_opcodes():
            if tag != "replace" or end - start != to - from_:
                continue
            pairs = list(zip(ours[start:end], theirs[from_:to], strict=True))
            if any(number_of(mine.number) in printed or number_of(its.number) in known for mine, its in pairs):
                continue
            for mine, its in pairs:
                self.paper.warn("equation-renumbered", f"{NAMES[self.frame]} counts ({mine.number}) where the PDF prints ({its.number})",
                                where=f"eq-{its.number}")
                mine.number = its.number

    def merge(self, name: str, source: str, other: Paper) -> None:
        """Confirm and complete our items of one kind by those of another source; take in the numbered ones we miss."""
        ours: list[Item] = getattr(self.paper, name)
        theirs: list[Item] = getattr(other, name)
        free = {}
        for item in ours:
            if item.number:
                free.setdefault(number_of(item.number), []).append(item)
        lost = []
        for its in theirs:
            if not its.number:
                continue
            same = free.get(number_of(its.number))
            if same:
                mine = max(same, key=lambda item: alike(says(item), says(its))) if len(same) > 1 else same[0]
                same.remove(mine)
                self.complete(mine, its, source)
            else:
                lost.append(its)
        alone = [item.number for items in free.values() for item in items]
        for its in lost:
            if self.believed(ours, its, source):
                self.take_in(name, its, source)
        self.differ(f"{name[:-1]}-numbers-differ", name, source, alone, [its.number for its in lost])
        if (name in ("algorithms", "tables", "figures") and not (alone or lost)
                and (mine := sum(bool(i.number) for i in ours)) != (its := sum(bool(i.number) for i in theirs))):
            self.paper.warn(f"{name[:-1]}-counts-differ", f"{mine} numbered {name} in {NAMES[self.frame]}, {its} in {NAMES[source]}")

    def complete(self, mine: Item, its: Item, source: str) -> None:
        if source == "pdf":
            mine.page, mine.bbox = its.page, its.bbox
        if isinstance(mine, Equation):
            agrees = source == "pdf" or alike(mine.latex, its.latex) >= 0.5
        else:
            agrees = not its.caption or alike(mine.caption, its.caption) >= 0.6
        if agrees and source not in mine.confirmed_by:
            mine.confirmed_by.append(source)
        if isinstance(mine, Equation):
            mine.latex, mine.text = mine.latex or its.latex, mine.text or its.text
            return
        if not mine.caption and its.caption:
            mine.caption = its.caption
        for part in ("rows", "lines", "files"):
            if hasattr(mine, part) and not getattr(mine, part):
                setattr(mine, part, copy.deepcopy(getattr(its, part)))
        if isinstance(mine, Algorithm):
            self.number_lines(mine, its, source)
        if isinstance(mine, Algorithm) and source == "pdf":
            ours, printed = (len(printed_words(" ".join(lines))) for lines in (mine.lines, its.lines))
            if printed >= 10 and ours < 0.5 * printed and len(mine.lines) < 0.6 * len(its.lines):
                mine.lines, mine.numbers = list(its.lines), list(its.numbers)
                self.paper.warn("algorithm-cut", f"{NAMES[self.frame]} has {ours} words of algorithm {mine.number}, the PDF {printed}: "
                                "its lines are the PDF's", where=f"alg-{mine.number}")

    def number_lines(self, mine: Algorithm, its: Algorithm, source: str) -> None:
        """Lines that have no numbers here get those printed before the same words elsewhere; numbers that differ are told."""
        if len(its.numbers) != len(its.lines) or not its.numbers or not mine.lines:
            return
        found = [""] * len(mine.lines)
        for row, other in same_lines(mine.lines, its.lines):
            found[row] = its.numbers[other]
        if not mine.numbers:
            if sum(map(bool, found)) >= 0.6 * sum(map(bool, its.numbers)):
                mine.numbers = found
            return
        differ = [f"line {number} is {other} there" for number, other in zip(mine.numbers, found, strict=True) if number and other and number != other]
        if differ and source == "pdf":
            self.paper.warn("line-numbers-differ", f"the lines of algorithm {mine.number} are numbered otherwise in the PDF: "
                            + ", ".join(differ[:3]), where=f"alg-{mine.number}")

    def believed(self, ours: list[Item], its: Item, source: str) -> bool:
        """Whether an item that the frame lacks is there: the HTML is believed, the PDF where the number closes a gap."""
        if source == "text" or not says(its):
            return False
        if source == "html" and self.pdf is None:
            return True
        if source == "html":
            return any(number_of(item.number) == number_of(its.number) for name in ("equations", "algorithms", "tables", "figures")
                       for item in getattr(self.pdf, name) if type(item) is type(its))
        have = {number_of(item.number) for item in ours}
        match = re.fullmatch(r"(.*?)(\d+)", number_of(its.number))
        if not match:
            return False
        before = f"{match[1]}{int(match[2]) - 1}"
        return before in have or int(match[2]) == 1 and (bool(match[1]) or not have)

    def take_in(self, name: str, its: Item, source: str) -> None:
        """Put a copy of another source's item after the one whose number goes before it, or at its section's end."""
        paper = self.paper
        item = copy.deepcopy(its)
        item.id = f"{source}:{its.id}"
        item.section = self.our_section(source, its.section)
        if isinstance(item, Equation):
            item.group = f"{source}:{item.group}" if item.group else None
        ours: list[Item] = getattr(paper, name)
        match = re.fullmatch(r"(.*?)(\d+)", number_of(its.number))
        before = match and next((mine for mine in ours if number_of(mine.number) == f"{match[1]}{int(match[2]) - 1}"), None)
        ours.insert(ours.index(before) + 1 if before in ours else len(ours), item)
        section = paper.section(item.section) or (paper.sections[-1] if paper.sections else None)
        if section is None:
            return
        item.section = section.id
        at = next((number + 1 for number, block in enumerate(section.blocks) if before is not None and block.ref == before.id),
                  len(section.blocks))
        section.blocks.insert(at, Block(name[:-1], ref=item.id, page=item.page, bbox=item.bbox, source=source))

    # --- garbled sections -------------------------------------------------------------------------------------------------

    def mend(self) -> None:
        """Sections whose text is garbled get their words from the best source that reads them clean. Our items stay."""
        printed = self.frame in ("pdf", "text")
        for section in self.paper.sections:
            words = said(section.blocks)
            # LaTeX and HTML have no fonts that could garble them: there only signs that formulas cannot give are believed.
            if not (printed or garbled.shows(words)) or not garbled.measure(words).bad:
                continue
            for source, other in self.others.items():
                its = next((one for one in other.sections if self.sections[source].get(one.id) == section.id), None)
                if its is None or len(said(its.blocks)) < 0.5 * len(said(section.blocks)) or garbled.measure(said(its.blocks)).bad:
                    continue
                section.blocks = self.with_our_items(section.blocks, its.blocks, other, source)
                self.paper.warn("section-mended", f"section {section.number or section.title} is garbled in {NAMES[self.frame]}; "
                                f"its words come from {NAMES[source]}", where=section.id)
                break

    def with_our_items(self, ours: list[Block], theirs: list[Block], other: Paper, source: str) -> list[Block]:
        """Another source's words with our items where it has those of the same kind and number; the rest of ours after them."""
        mine = {(type(item).__name__, number_of(item.number)): item.id for item in self.paper.items() if item.number}
        its = {item.id: (type(item).__name__, number_of(item.number)) for item in other.items() if item.number}
        left = {block.ref: block for block in ours if block.ref}
        out = []
        for block in theirs:
            if block.kind in WORDY and block.text:
                new = copy.deepcopy(block)
                new.cites, new.source = [], source
                out.append(new)
            elif (own := mine.get(its.get(block.ref))) in left:
                out.append(left.pop(own))
        return [*out, *left.values()]

    # --- references, links, hidden text ---------------------------------------------------------------------------------

    def references(self) -> None:
        paper = self.paper
        for source, other in self.others.items():
            if not other.references:
                continue
            if not paper.references:
                paper.references = copy.deepcopy(other.references)
                keys = {number: reference.key for number, reference in enumerate(other.references)}
                if keys:
                    paper.warn("references-from", f"the references come from {NAMES[source]}: {NAMES[self.frame]} holds none")
                continue
            index: dict[tuple[str, ...], list[int]] = {}
            for number, reference in enumerate(other.references):
                for run in set(runs(words(reference.text))):
                    index.setdefault(run, []).append(number)
            for reference in paper.references:
                votes: Counter[int] = Counter()
                tokens = words(reference.text)
                for run in runs(tokens):
                    places = index.get(run, ())
                    if 0 < len(places) <= 3:
                        votes.update(places)
                best = votes.most_common(1)
                if not best or best[0][1] < 0.3 * max(1, len(tokens) - 2):
                    continue
                its = other.references[best[0][0]]
                for part in ("label", "title", "year", "arxiv", "doi", "url", "page"):
                    if getattr(reference, part) is None:
                        setattr(reference, part, getattr(its, part))

    def links(self) -> None:
        """The union of all links; a PDF's annotation gives the page, and its target wins over one read off the page."""

        def key(url: str) -> str:
            return re.sub(r"(\.git)?/*$", "", re.sub(r"^https?://(www\.)?", "", url.strip().lower()))

        ours = {key(link.url): link for link in self.paper.links}
        for source, other in self.others.items():
            for link in other.links:
                known = ours.get(key(link.url))
                if known is not None:
                    if source == "pdf" and known.page is None:
                        known.page, known.bbox = link.page, link.bbox
                    known.context = known.context or link.context
                    continue
                if source == "pdf" and link.where != "annotation" and any(key(link.url).startswith(url) for url in ours if len(url) > 12):
                    continue  # one of ours with the next word run into it
                new = copy.deepcopy(link)
                new.section = self.our_section(source, link.section)
                self.paper.links.append(new)
                ours[key(link.url)] = new

    def hidden(self) -> None:
        """What any source hides is told, and cut out of the text where the frame's source shows it."""
        known = {letters(entry["text"]) for entry in self.paper.hidden}
        for source, other in self.others.items():
            for entry in other.hidden:
                if letters(entry["text"]) in known:
                    continue
                known.add(letters(entry["text"]))
                self.paper.hidden.append({**entry, "how": f"{entry['how']} ({source})"})
                if source == "pdf":
                    self.cut(entry["text"])

    def cut(self, text: str) -> None:
        tokens = re.findall(r"\w+", text)
        if len(tokens) < 4 or len(tokens) > 400:
            return
        pattern = re.compile(r"\W+".join(map(re.escape, tokens)) + r"[.!?]?\s*", re.I)
        for section in self.paper.sections:
            for block in section.blocks:
                if block.text and tokens[0].lower() in block.text.lower():
                    block.text, cuts = pattern.subn("", block.text)
                    if cuts:
                        self.paper.warn("hidden-text-cut", f"text that the PDF hides was left out: {text[:80]!r}", where=section.id)

    # --- places ---------------------------------------------------------------------------------------------------------

    def place(self) -> None:
        """Page and box of whatever the PDF can place."""
        placer = self.placer = Placer(self.pdf)
        items = {item.id: item for item in self.paper.items()}
        at: int | None = None
        for section in self.paper.sections:
            for block in section.blocks:
                if block.text and block.kind in WORDY:
                    found = placer.find(block.text, (*WORDY, "abstract"), at) or placer.find(block.text, None, at)
                    if found:
                        block.page, block.bbox, at = found
        for item in (*self.paper.tables, *self.paper.figures, *self.paper.algorithms):
            if item.page is None:
                text = " ".join((item.caption, *getattr(item, "lines", ()), *(" ".join(row) for row in getattr(item, "rows", ()))))
                found = placer.find(text, ("caption",)) or placer.find(text)
                if found:
                    item.page, item.bbox, _ = found
        for note in (*self.paper.footnotes, *self.paper.thanks):
            found = placer.find(note.text, ("footnote",)) or self.note_by_letters(note) or placer.find(note.text)
            if found:
                note.page, note.bbox = found[:2]
        self.unnumbered()
        for section in self.paper.sections:
            for block in section.blocks:
                if block.ref in items and block.kind != "footnote-mark":
                    block.page, block.bbox = items[block.ref].page, items[block.ref].bbox
        self.between()
        for item in items.values():
            if item.page is None:
                item.page = next((block.page for section in self.paper.sections for block in section.blocks if block.ref == item.id), None)

    def note_by_letters(self, note: Footnote) -> tuple | None:
        """A footnote that is only a URL or a few words has no runs of its own: compare it whole."""
        its = max(self.pdf.footnotes, key=lambda its: alike(note.text, its.text), default=None)
        return (its.page, its.bbox) if its is not None and alike(note.text, its.text) >= 0.85 else None

    def unnumbered(self) -> None:
        """Formulae without a number: the PDF's formula that reads most like ours between the places around it."""
        free = [item for item in self.pdf.equations if not item.number and item.page]
        order = [block for section in self.paper.sections for block in section.blocks]
        mine = {item.id: item for item in self.paper.equations}
        page_before = 1
        for number, block in enumerate(order):
            if block.page and block.kind in WORDY:
                page_before = block.page
            item = mine.get(block.ref) if block.kind == "equation" else None
            if item is None or item.page is not None:
                continue
            after = next((later.page for later in order[number + 1: number + 12] if later.page and later.kind in WORDY), page_before + 1)
            near = [its for its in free if page_before <= its.page <= max(after, page_before) + 1]
            best = max(near, key=lambda its: alike(item.latex, its.text), default=None)
            if best is not None and alike(item.latex, best.text) >= 0.45:
                item.page, item.bbox = best.page, best.bbox
                if "pdf" not in item.confirmed_by:
                    item.confirmed_by.append("pdf")
                item.text = item.text or best.text
                free.remove(best)

    def between(self) -> None:
        """A block that was not found stands on the page of its neighbours where these agree; sections begin with their blocks."""
        order = [part for section in self.paper.sections for part in (section, *section.blocks)]
        flowing = [part for part in order if isinstance(part, Section) or part.kind not in ("figure", "table", "algorithm")]
        later: list[int | None] = [None] * len(flowing)
        page = None
        for number in range(len(flowing) - 1, -1, -1):
            later[number] = page
            page = flowing[number].page or page
        page = None
        for number, part in enumerate(flowing):
            if part.page is None and (page == later[number] or isinstance(part, Section)):
                part.page = later[number] if isinstance(part, Section) else page
            page = part.page or page

    # --- what only the PDF has -----------------------------------------------------------------------------------------

    def runs_known(self) -> set[tuple[str, ...]]:
        """All runs of words in our text."""
        known: set[tuple[str, ...]] = set()
        for text in (*(passage.text for passage in self.paper.passages()), *(reference.text for reference in self.paper.references)):
            known.update(runs(spoken(text)))
        return known

    def missing(self, blocks: list[Block], most: float = 0.2) -> bool:
        """Whether blocks of the PDF are prose of which our text has at most the share `most`."""
        tokens = [token for block in blocks for token in spoken(block.text)]
        triples = list(runs(tokens))
        return len(tokens) >= 15 and is_prose(tokens) and sum(triple in self.known for triple in triples) <= most * len(triples)

    def take_in_sections(self) -> None:
        """Whole numbered sections that the frame lost, put where the PDF has them, and told."""
        matched = self.sections["pdf"]
        before = None
        for section in self.pdf.sections:
            if section.id in matched:
                before = matched[section.id]
                continue
            blocks = [copy.deepcopy(block) for block in section.blocks if block.kind in WORDY and block.text]
            if not section.number or not self.missing(blocks, 0.6):  # a conclusion repeats the abstract
                continue
            for block in blocks:
                block.ref, block.cites, block.source = None, [], "pdf"
            new = Section(f"pdf:{section.id}", section.title, section.number, section.level, section.appendix, section.page, section.bbox,
                          "pdf", blocks)
            at = next((number + 1 for number, mine in enumerate(self.paper.sections) if mine.id == before), 0)
            self.paper.sections.insert(at, new)
            before = matched[section.id] = new.id
            for block in blocks:
                self.known.update(runs(spoken(block.text)))
            self.paper.warn("section-only-in-pdf", f"{NAMES[self.frame]} lacks the section {section.number} {section.title}; "
                            "its text is the PDF's", where=section.number)

    def take_in_paragraphs(self) -> None:
        """Paragraphs that only the PDF has, put where the PDF has them, so that nothing is lost, and told."""
        told = 0
        for section in self.pdf.sections:
            home = self.paper.section(self.our_section("pdf", section.id))
            for block in section.blocks if home is not None else ():
                if block.kind not in WORDY or not self.missing([block]):
                    continue
                new = copy.deepcopy(block)
                new.ref, new.cites, new.source = None, [], "pdf"
                before = [number for number, mine in enumerate(home.blocks)
                          if mine.kind in FLOWING and block.page and height(mine) <= height(block)]
                home.blocks.insert(before[-1] + 1 if before else 0, new)
                told += 1
                if told <= 20:
                    self.paper.warn("text-only-in-pdf", f"{NAMES[self.frame]} lacks a paragraph that the PDF has: "
                                    f"{' '.join(block.text.split()[:8])} …", where=f"page {block.page}" if block.page else None)

    def sources(self) -> None:
        known = {(source.role, source.name) for source in self.paper.sources}
        for other in self.others.values():
            self.paper.sources += [source for source in copy.deepcopy(other.sources) if (source.role, source.name) not in known]


def same_lines(ours: list[str], theirs: list[str]) -> list[tuple[int, int]]:
    """Lines of two readings of an algorithm that are the same, in order: those alike, then what lies even between them."""
    mine, its = ([re.sub(r"[^a-z0-9]", "", plain(re.sub(r"\\[A-Za-z]+", " ", line))) for line in lines[:2000]] for lines in (ours, theirs))
    pairs: list[tuple[int, int]] = []
    start = 0
    for row, text in enumerate(mine):
        best, other = max(((ratio(text, its[at]), -at) for at in range(start, min(start + 8, len(its))) if text and its[at]), default=(0, 0))
        if best >= 75:
            pairs.append((row, -other))
            start = 1 - other
    out: list[tuple[int, int]] = []
    last = (-1, -1)
    for row, other in [*pairs, (len(mine), len(its))]:
        if row - last[0] == other - last[1]:
            out += [(last[0] + step, last[1] + step) for step in range(1, row - last[0])]
        out.append((row, other))
        last = row, other
    return out[:-1]


def said(blocks: list[Block]) -> str:
    return " ".join(block.text for block in blocks if block.kind in WORDY)


def spoken(text: str) -> list[str]:
    """The words of three letters and more outside formulae: what a PDF and a source have in common, however it sets symbols."""
    return [word for word in words(text) if len(word) > 2 and word.isalpha()]


def height(block: Block) -> tuple[int, float]:
    """Where a block begins, for comparison down the pages."""
    return block.page or 0, block.bbox[1] if block.bbox else 0.0


COMMON_WORDS = frozenset("the and that for are with this from which can our not was were has have also each than these".split())


def is_prose(tokens: list[str]) -> bool:
    return sum(token in COMMON_WORDS for token in tokens) >= 0.06 * len(tokens)


def says(item: Item) -> str:
    """What is compared of an item."""
    if isinstance(item, Equation):
        return item.latex or item.text or ""
    return item.caption or " ".join(getattr(item, "lines", ())) or " ".join(cell for row in getattr(item, "rows", ()) for cell in row)
