"""How garbled a text is, and why: a measure from 0 (clean) to 1 (unreadable), each part of it explained.

Each sign is a share of the text; its limits say where it begins to count and where the text is lost. The measure is the
worst sign's. Signs that presume Latin letters or English are left out where the text has few of them (CJK, formulas).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field

FEWEST_WORDS = 60  # lower-case words; less is not judged by its words
BAD = 0.5  # from here on a text is called garbled

COMMON = frozenset("""
the of and to in a is we that for with as are on by this be our from an it can which at or not these have has their model
data training using two one each then than more also into where when such all both used learning method results show only
other between if its any was were they been but may some no over set number time new first based same different while given
""".split())
# Words with ff, fi, fl, ffi, ffl as they read when the ligature's glyph is lost.
LOST = re.compile(
    r"\b(?:di\s?erent\w*|e\s?cient\w*|e\s?ect\w*|coe\s?cient\w*|su\s?cient\w*|speci\s?c\w*|de\s?ne[ds]?|de\s?nition\w*|classi\s?cation|"
    r"classi\s?ers?|rst|signi\s?cant\w*|bene\s?ts?|con\s?dence|modi\s?ed|identi\s?ed|ne-tun\w+|o\s?ine|di\s?usion|di\s?culty?|"
    r"in\s?uence\w*|re\s?ects?|speci\s?ed|su\s?er\w*|a\s?ects?)\b")
KEPT = re.compile(
    r"\b(?:different\w*|efficient\w*|effect\w*|coefficient\w*|sufficient\w*|specific\w*|define[ds]?|definition\w*|classification|"
    r"classifiers?|first|significant\w*|benefits?|confidence|modified|identified|fine-tun\w+|offline|diffusion|difficulty?|"
    r"influence\w*|reflects?|specified|suffer\w*|affects?)\b", re.I)


@dataclass(frozen=True)
class Sign:
    """One sign of garbling: what was counted, its share of the text, and how much that weighs (0 to 1)."""

    name: str
    share: float
    weight: float
    told: str


@dataclass(frozen=True)
class Measure:
    """`score`: 0 clean, 1 unreadable, that of the worst sign. `signs`: those above 0, worst first."""

    score: float
    signs: tuple[Sign, ...] = field(default=())

    @property
    def bad(self) -> bool:
        return self.score >= BAD

    @property
    def why(self) -> str:
        return "; ".join(sign.told for sign in self.signs) or "nothing found"


def between(share: float, starts: float, lost: float) -> float:
    """0 up to `starts`, 1 from `lost` on, straight between them; `starts` may be the larger one."""
    return min(1.0, max(0.0, (share - starts) / (lost - starts)))


def shows(text: str) -> bool:
    """Whether a text has signs of garbling that neither formulas nor code nor another language give; quick."""
    return bool(re.search(r"[\ufffd\ue000-\uf8ff\x00-\x08]|\(cid:\d", text)) or text.count(" eht ") > text.count(" the ")


def measure(text: str, *, prose: bool = True) -> Measure:
    """Measure a text; `prose` when it is running text, not a whole page with its tables, formulas, names and references,
    whose few letters and common words mean nothing. Too short a text (150 characters) comes out clean."""
    solid = re.sub(r"\s+", "", text)
    if len(solid) < 150:
        return Measure(0.0)
    signs: list[Sign] = []

    def add(name: str, share: float, starts: float, lost: float, told: str) -> None:
        weight = between(share, starts, lost)
        if weight > 0:
            signs.append(Sign(name, round(share, 4), round(weight, 3), told))

    total = len(solid)
    cids = re.findall(r"\(cid:\d+\)", text)
    counts = Counter(solid)
    private = sum(count for c, count in counts.items() if unicodedata.category(c) == "Co")
    control = sum(count for c, count in counts.items() if unicodedata.category(c) == "Cc")
    missing = solid.count("\ufffd")
    add("replacement characters", missing / total, 0.01, 0.08, f"{missing} of {total} characters are U+FFFD (glyphs without meaning)")
    add("private use", private / total, 0.01, 0.08, f"{private} of {total} characters are private use glyphs")
    add("control characters", control / total, 0.005, 0.05, f"{control} control characters")
    add("cid", sum(map(len, cids)) / total, 0.02, 0.15, f"{len(cids)} glyphs came as (cid:N)")
    bare = re.sub(r"\(cid:\d+\)", " ", text)
    letters = sum(count for c, count in counts.items() if c.isalpha())
    if prose:
        add("few letters", letters / total, 0.5, 0.25,
            f"only {letters / total:.0%} of the characters are letters (usual: over 70%)")

    plain = re.sub(r"\S*(?:https?:|www\.|[\w.]@|[\w]/\w|_)\S{0,200}", " ", bare)  # addresses and file names are no prose
    long = sum(map(len, re.findall(r"[^\W\d_]{22,}", plain)))
    add("run together", long / max(1, letters), 0.08, 0.35,
        f"{long / max(1, letters):.0%} of the letters stand in words of 22 and more: spaces were lost")
    words = [w for w in re.findall(r"[^\W\d_]+", plain) if w.islower()]  # names and labels are capitalised
    latin = sum(len(w) for w in words if w.isascii() or all("LATIN" in unicodedata.name(c, "") for c in w[:2]))
    if len(words) >= FEWEST_WORDS and latin > 0.7 * max(1, letters):
        known = sum(w in COMMON for w in words) / len(words)
        backwards = sum(w[::-1] in COMMON for w in words if len(w) > 2) / len(words)
        forwards = sum(w in COMMON for w in words if len(w) > 2) / len(words)
        if backwards > 0.08 and backwards > 2 * forwards:
            add("reversed", backwards, 0.05, 0.15, f"{backwards:.0%} of the words are common ones spelt backwards")
        else:
            varied = len(set(words)) >= min(FEWEST_WORDS, len(words) / 4)  # a table's rows say few words, over and over
            add("few common words", known if varied else 1.0, 0.15 if prose else 0.1, 0.05 if prose else 0.02,
                f"only {known:.0%} of the words are common English ones (usual: 25% to 45%)")
        single = sum(len(w) == 1 and w != "a" for w in words) / len(words)
        add("letters apart", single, 0.5 if prose else 0.7, 0.8 if prose else 0.9,
            f"{single:.0%} of the words are single letters: words fell apart")
        lost, kept = len(LOST.findall(bare)), len(KEPT.findall(bare))
        if lost + kept >= 3:
            add("ligatures lost", lost / (lost + kept), 0.25, 0.75,
                f"{lost} of {lost + kept} words with ff, fi or fl lost it ({example(bare)})")
    signs.sort(key=lambda sign: -sign.weight)
    return Measure(max((sign.weight for sign in signs), default=0.0), tuple(signs))


def example(text: str) -> str:
    match = LOST.search(text)
    return f"“{match.group(0)}”" if match else ""
