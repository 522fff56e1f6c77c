"""The audit's checklist (`checklist.yaml`): what an implementation needs to know, and the words by which papers say it."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import yaml
from paper2code.find.values import Number
from paper2code.paper import Paper

FILE = Path(__file__).with_name("checklist.yaml")
GROUPS = ("architecture", "training", "data", "evaluation", "method")
VALUES = ("number", "name", "either", "words")
GAP = r"[\s\-‐‑~]{1,3}"
TOKEN = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class Phrase:
    """A phrase of the checklist, and the tokens that a text must have before its pattern is worth making and trying."""

    text: str
    tokens: tuple[str, ...]

    @functools.cached_property
    def pattern(self) -> re.Pattern:
        """Made on first use: a paper has few of the three thousand phrases, and making a pattern costs more than using it."""
        body = GAP.join(re.escape(word) for word in re.split(r"[\s-]+", self.text) if word)
        start = r"(?<![a-z0-9\\])(?<![a-z]-)" if self.text[:1].isalnum() else ""
        end = r"(?![a-z0-9])" if self.text[-1:].isalnum() else ""
        return re.compile(start + body + end)


@dataclass(frozen=True)
class Item:
    """One thing to decide. The fields are explained in `checklist.yaml`."""

    name: str
    group: str
    asks: str
    kinds: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    value: str = "words"
    low: Decimal | None = None
    high: Decimal | None = None
    integer: bool = False
    percent: bool = False
    units: tuple[str, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    named: tuple[Phrase, ...] = ()
    patterns: tuple[re.Pattern, ...] = ()
    excluded: tuple[re.Pattern, ...] = ()

    @property
    def title(self) -> str:
        return self.name.replace("-", " ")

    def takes(self, number: Number) -> bool:
        """Whether a number can be this item's value, by its unit, its size and its being whole."""
        if self.value not in ("number", "either") or number.kind in ("place", "year", "index"):
            return False
        if self.units and (number.unit or "none") not in self.units:
            return False
        value = number.value
        if self.percent and number.unit == "%":
            value = value / 100
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            return False
        return not self.integer or value == value.to_integral_value()


@dataclass(frozen=True)
class Checklist:
    items: tuple[Item, ...]
    kinds: dict[str, tuple[tuple[Phrase, ...], int]]

    def find(self, name: str) -> Item | None:
        """The item of that name or of one of its other names, spaces and American spelling allowed."""
        wanted = american(name)
        for item in self.items:
            if wanted in {american(known) for known in (item.name, *item.also)}:
                return item
        return None

    def near(self, name: str) -> list[str]:
        """Names of items whose name, other names or question share a word with `name`, for a message."""
        words = {word for word in TOKEN.findall(name.lower()) if len(word) > 2} - {"the", "and", "for"}

        def shared(item: Item) -> int:
            names = set(TOKEN.findall(" ".join((item.name, *item.also))))
            return 2 * len(words & names) + len(words & set(TOKEN.findall(item.asks)))

        return [item.name for item in sorted(self.items, key=lambda item: -shared(item)) if shared(item)][:8]

    def kinds_of(self, paper: Paper, *, loosely: bool = False) -> list[str]:
        """The kinds of paper this one is, by the words it uses: those of its title and abstract count at once. `loosely`: one
        word of the text fewer is enough."""
        front = Words([f"{paper.title}\n{paper.abstract}".lower()])
        body = Words([" ".join(block.text for block in section.blocks).lower() for section in paper.sections
                      if not paper.is_related(section)])
        out = []
        for kind, (phrases, least) in self.kinds.items():
            if any(front.has(phrase) for phrase in phrases) or sum(body.has(phrase) for phrase in phrases) > least - loosely:
                out.append(kind)
        return out

    def for_paper(self, paper: Paper, *, loosely: bool = False) -> list[Item]:
        """The items that concern this paper: those for every paper, and those of its kinds."""
        kinds = set(self.kinds_of(paper, loosely=loosely))
        return [item for item in self.items if not item.kinds or kinds & set(item.kinds)]


def american(name: str) -> str:
    plain = "-".join(TOKEN.findall(name.lower()))
    return re.sub(r"is(?=e|er|ers|ed|ing|ation)", "iz", plain).replace("izse", "ise") if plain else plain


class Words:
    """Lower-cased texts with an index from word to text, so that a phrase is looked for only where its words occur."""

    def __init__(self, texts: Iterable[str]):
        self.texts = list(texts)
        self.index: dict[str, set[int]] = defaultdict(set)
        for number, text in enumerate(self.texts):
            for token in set(TOKEN.findall(text)):
                self.index[token].add(number)

    def candidates(self, phrase: Phrase) -> set[int]:
        found: set[int] | None = None
        for token in phrase.tokens:
            here = self.index.get(token, set())
            found = here if found is None else found & here
            if not found:
                return set()
        return found or set()

    def search(self, phrase: Phrase) -> Iterator[tuple[int, re.Match]]:
        for number in sorted(self.candidates(phrase)):
            for match in phrase.pattern.finditer(self.texts[number]):
                yield number, match

    def has(self, phrase: Phrase) -> bool:
        return next(self.search(phrase), None) is not None


def phrases(text: str) -> list[Phrase]:
    """A phrase of the data file, once for each spelling that changes its words (hyphen or none, z or s, plural)."""
    spellings = {text}
    if re.search(r"[a-z]-[a-z]", text):
        spellings |= {re.sub(r"(?<=[a-z])-(?=[a-z])", "", text)}
    spellings |= {re.sub(r"iz(?=e|ation|ing)", "is", spelling) for spelling in spellings} \
        | {re.sub(r"(?<!no)is(?=ation|ed\b|ing\b)", "iz", spelling) for spelling in spellings if "is" in spelling}
    plural = set()
    for spelling in spellings:
        if spelling[-1:].isalpha() and not spelling.endswith("s"):
            plural.add(spelling + ("es" if spelling.endswith(("x", "ch", "sh")) else "s"))
    return [Phrase(spelling, tuple(sorted(TOKEN.findall(spelling), key=len, reverse=True)))
            for spelling in sorted(spellings | plural)]


def pattern_of(text: str) -> re.Pattern:
    """A pattern of the data file: its `[^.]`, "up to the end of the sentence", goes on over the point of a decimal."""
    return re.compile(re.sub(r"\[\^\.(\|?)\]", r"(?:[^.\1]|\\.(?=\\d))", text))


@functools.cache
def load(path: Path = FILE) -> Checklist:
    """The checklist of a data file. Raises ValueError naming every entry that is not sound."""
    data = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    problems, items, seen = [], [], set()
    kinds = {name: (tuple(phrase for word in entry["words"] for phrase in phrases(word)), entry["least"])
             for name, entry in data["kinds"].items()}
    known = {"name", "group", "kinds", "also", "asks", "words", "patterns", "named", "value", "range", "integer", "percent",
             "units", "not"}
    for number, entry in enumerate(data["items"], 1):
        place = entry.get("name", f"item {number}")
        problems += [f"{place}: {key!r} is no field" for key in entry.keys() - known]
        problems += [f"{place}: {key!r} is missing" for key in ("name", "group", "asks", "value") if key not in entry]
        problems += [f"{place}: there is no kind {kind!r}" for kind in entry.get("kinds", ()) if kind not in kinds]
        if entry.get("group") not in GROUPS:
            problems.append(f"{place}: group is one of {', '.join(GROUPS)}")
        if entry.get("value") not in VALUES:
            problems.append(f"{place}: value is one of {', '.join(VALUES)}")
        if not any(entry.get(key) for key in ("words", "patterns", "named")):
            problems.append(f"{place}: nothing to look for")
        if place in seen:
            problems.append(f"{place}: twice")
        seen.add(place)
        if problems:
            continue
        low, high = entry.get("range", (None, None))
        try:
            items.append(Item(
                name=entry["name"], group=entry["group"], asks=entry["asks"], kinds=tuple(entry.get("kinds", ())),
                also=tuple(entry.get("also", ())), value=entry["value"],
                low=None if low is None else Decimal(str(low)), high=None if high is None else Decimal(str(high)),
                integer=entry.get("integer", False), percent=entry.get("percent", False), units=tuple(entry.get("units", ())),
                phrases=tuple(phrase for word in entry.get("words", ()) for phrase in phrases(word)),
                named=tuple(phrase for word in entry.get("named", ()) for phrase in phrases(word)),
                patterns=tuple(pattern_of(pattern) for pattern in entry.get("patterns", ())),
                excluded=tuple(pattern_of(pattern) for pattern in entry.get("not", ()))))
        except re.error as problem:
            problems.append(f"{place}: {problem.pattern!r}: {problem}")
    if problems:
        raise ValueError(f"{path.name}: {'; '.join(problems)}")
    return Checklist(tuple(items), kinds)
