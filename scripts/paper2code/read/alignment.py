"""Where in the PDF a text of another source stands, and how much of the PDF's text another source has.

Texts are aligned by their runs of three words: a run that occurs in few places of the PDF votes for them. Formulae are left
out, since a PDF spells them by its glyphs. Cost grows linearly with the paper's length.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from paper2code.paper import Bbox, Paper

RUN = 3  # words that make a run
BEGIN = 40  # words of a text that may stand at the end of a page before the rest
COMMON = 4  # a run in more places than this says nothing
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.S)
WORD = re.compile(r"[a-z0-9]+|\x00")
# Commands whose name is printed; every other command's name is not a word of the text.
PRINTED = frozenset("log ln exp sin cos tan tanh sinh cosh max min sup inf lim det dim arg argmax argmin ker gcd mod Pr".split())
GREEK_NAMES = re.compile(r"\\([A-Za-z]+)")


def plain(text: str) -> str:
    text = unicodedata.normalize("NFKD", text)
    return "".join(char for char in text if not unicodedata.combining(char)).lower()


def words(text: str) -> list[str]:
    """The words of a text, lower case, with a `\\x00` where a formula stood."""
    return WORD.findall(plain(FORMULA.sub(" \x00 ", text)))


def runs(tokens: list[str], length: int = RUN) -> Iterator[tuple[str, ...]]:
    for start in range(len(tokens) - length + 1):
        run = tuple(tokens[start: start + length])
        if "\x00" not in run:
            yield run


def printed_words(text: str) -> list[str]:
    """Words of three letters and more, those inside formulae too (`\\text{model}` prints "model")."""
    text = GREEK_NAMES.sub(lambda match: f" {match[1]} " if match[1] in PRINTED else " ", text)
    return re.findall(r"[a-z]{3,}", plain(text))


@dataclass
class Spot:
    """A stretch of the PDF: its words, its place, what it is (a block's kind, or caption, line, rows, footnote, reference)."""

    kind: str
    text: str
    page: int | None
    bbox: Bbox | None
    section: str | None = None
    tokens: list[str] = field(default_factory=list)


def spots(pdf: Paper) -> list[Spot]:
    """All text of the PDF's Paper in reading order, each stretch once."""
    out = [Spot("title", pdf.title, 1, None), Spot("abstract", pdf.abstract, 1, None)]
    for section in pdf.sections:
        out.append(Spot("heading", f"{section.number or ''} {section.title}", section.page, section.bbox, section.id))
        out += [Spot(block.kind, block.text, block.page, block.bbox, section.id) for block in section.blocks if block.text]
    for item in (*pdf.figures, *pdf.tables, *pdf.algorithms):
        text = " ".join((item.caption, *getattr(item, "lines", ()), *(cell for row in getattr(item, "rows", ()) for cell in row)))
        out.append(Spot("caption", text, item.page, item.bbox, item.section))
    out += [Spot("footnote", note.text, note.page, note.bbox, note.section) for note in pdf.footnotes]
    out += [Spot("reference", reference.text, reference.page, None) for reference in pdf.references]
    out = [spot for spot in out if spot.text.strip()]
    for spot in out:
        spot.tokens = words(spot.text)
    return out


class Placer:
    """The PDF's stretches, found again by the words of a text."""

    def __init__(self, pdf: Paper):
        self.spots = spots(pdf)
        self.by_run: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self.by_word: dict[str, list[int]] = defaultdict(list)
        self.whole: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, spot in enumerate(self.spots):
            self.whole[tuple(spot.tokens)].append(number)
            for run in set(runs(spot.tokens)):
                self.by_run[run].append(number)
            for word in set(spot.tokens):
                if len(word) > 5:
                    self.by_word[word].append(number)

    def votes(self, tokens: list[str], kinds: Iterable[str] | None = None) -> Counter[int]:
        """The stretches that share rare runs of words with a text's, with how many; failing that, rare words."""
        votes: Counter[int] = Counter()
        if len(tokens) <= RUN:
            for number in self.whole.get(tuple(tokens), ()):
                votes[number] += 1
        for run in runs(tokens):
            places = self.by_run.get(run, ())
            if 0 < len(places) <= COMMON:
                for number in places:
                    votes[number] += 1 / len(places)
        if not votes:
            for word in tokens:
                places = self.by_word.get(word, ())
                if 0 < len(places) <= 2:
                    for number in places:
                        votes[number] += 0.5 / len(places)
        if kinds is not None:
            kinds = set(kinds)
            votes = Counter({number: count for number, count in votes.items() if self.spots[number].kind in kinds})
        return votes

    def find(self, text: str, kinds: Iterable[str] | None = None, after: int | None = None) -> tuple[int, Bbox | None, int] | None:
        """Page, box and number of the stretch where the text begins; of equals the one next to stretch `after` wins.

        The box covers what of the text stands in that page's same column.
        """
        tokens = words(text)
        votes = self.votes(tokens, kinds)
        if not votes:
            return None
        most = max(votes.values())
        if most < 0.5:
            return None
        close = [number for number, count in votes.items() if count >= 0.75 * most]
        best = min(close, key=lambda number: (abs(number - after) if after is not None else 0, number))
        early = list(runs(tokens[:BEGIN]))
        first_words = {number for run in early[:4] for number in self.by_run.get(run, ())}

        def begins(number: int) -> bool:
            """Whether a stretch before the best one ends with the text's first words: the last lines of a page or column."""
            return number < best and number in first_words and tuple(self.spots[number].tokens[-RUN:]) in early

        chosen = sorted(number for number, count in votes.items()
                        if abs(number - best) <= 4 and (count >= max(0.2 * most, 0.75) or begins(number)))
        first = chosen[0] if chosen else best
        spot = self.spots[first]
        if spot.page is None:
            return None
        boxes = [self.spots[number].bbox for number in chosen or [best]
                 if self.spots[number].page == spot.page and same_column(spot.bbox, self.spots[number].bbox)]
        return spot.page, union(boxes) if spot.bbox else None, first


def same_column(one: Bbox | None, other: Bbox | None) -> bool:
    if not one or not other:
        return False
    shared = min(one[2], other[2]) - max(one[0], other[0])
    return shared > 0.5 * min(one[2] - one[0], other[2] - other[0])


def union(boxes: list[Bbox]) -> Bbox | None:
    if not boxes:
        return None
    return [min(box[0] for box in boxes), min(box[1] for box in boxes), max(box[2] for box in boxes), max(box[3] for box in boxes)]


def counted(paper: Paper) -> Counter[str]:
    """How often each word stands in a paper, in whatever of it."""
    count: Counter[str] = Counter()
    for passage in paper.passages():
        count.update(printed_words(passage.text))
    for name in paper.authors:
        count.update(printed_words(name))
    for reference in paper.references:
        count.update(printed_words(reference.text))
    return count


def recall(wanted: Counter[str], found: Counter[str]) -> float:
    """The share of `wanted` words that are found, each as often as it is wanted; 1.0 where nothing is wanted."""
    total = wanted.total()
    return (wanted & found).total() / total if total else 1.0
