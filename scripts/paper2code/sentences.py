"""Sentences of a paragraph with their exact places in it. Standard library only.

`$…$`, `\\(…\\)`, bracketed citations, URLs, decimals, initials and abbreviations are never cut. A sentence is a slice of the
text it came from, so it can be quoted as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Sentence:
    """`text` is exactly the paragraph's text[start:end], without white space at either end."""

    text: str
    start: int
    end: int


# After these a full stop does not end a sentence. Compared in lower case, without their last full stop.
ABBREVIATIONS = frozenset(
    "al e.g i.e eg ie cf viz vs resp approx ca fig figs eq eqs eqn eqns sec secs sect tab tabs ch chap app appx suppl supp alg "
    "algo thm lem prop cor def defn rem ref refs no nos vol vols pp p ed eds dr mr mrs ms prof st jr sr inc ltd co corp dept "
    "univ w.r.t wrt a.k.a aka s.t i.i.d iid w.l.o.g wlog a.e a.s u.s u.k u.n ph.d m.sc b.sc d.o.f incl excl max min avg std dev "
    "est intl conf proc trans symp jan feb mar apr jun jul aug sep sept oct nov dec et n.b dim dims".split())
# These may end a sentence: they do when what follows looks like the start of one.
EITHER = frozenset("etc al i.i.d iid u.s u.k a.m p.m ph.d inc ltd co corp no max min std dev est app dim dims w.l.o.g wlog".split())
NOT_AFTER_NAME = frozenset("no max min std dev est app dim dims co".split())  # words too: "no." before a number is a number's

PROTECTED = re.compile(
    r"(?<!\\)\$\$.+?(?<!\\)\$\$"                       # display mathematics left in a paragraph
    r"|(?<!\\)\$(?:\\.|[^$\\\n]|\n(?!\s*\n)){1,1200}?\$"    # inline mathematics
    r"|\\\(.{1,1200}?\\\)"
    r"|(?:https?://|www\.)[^\s<>\"]*[^\s<>\".,;:!?)\]}]"
    r"|\[(?:cite|ref|eqref):[^\]]{0,400}\]"
    r"|\([^()\n]{0,300}?\b(?:19|20)\d\d[a-z]?[^()\n]{0,300}?\)"   # (Kingma et al., 2014; …)
    r"|\[[^\[\]\n]{0,200}?\]", re.S)
END = re.compile(r"[.!?…]+|[。！？]+")
CLOSERS = "\"'”’»)]}"
OPENERS = "\"'“‘«([{`*_"
BREAK = re.compile(r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*•‣–][ \t]+|\(?[0-9ivx]{1,4}[.)][ \t]+|\([a-z]\)[ \t]+|#{1,6} ))")
WORD_BEFORE = re.compile(r"[^\s(\[{“\"'‘/~—–$]+$")
MARK = re.compile(r"(?:\$\^\{?[^$]{1,12}\}?\$|\[\d[\d,\s–-]*\]|[¹²³⁴⁵⁶⁷⁸⁹⁰]+)(?=\s|$)")


def sentences(text: str) -> list[Sentence]:
    """The sentences of a paragraph, in order. What has no full stop (a caption, a list item) is one sentence."""
    kept = [match.span() for match in PROTECTED.finditer(text)]
    cuts = set()
    for match in BREAK.finditer(text):
        cuts.add(match.end())
    inside = iter(kept)
    span = next(inside, None)
    for match in END.finditer(text):
        while span and span[1] <= match.start():
            span = next(inside, None)
        if span and span[0] <= match.start() < span[1]:
            # a formula or a citation that ends with the full stop of its sentence: "$x = 1.$ Then"
            if not (match.end() == span[1] - 1 and text[span[0]] == "$"):
                continue
            after = span[1]
        else:
            after = match.end()
        cut = ends_here(text, match, after)
        if cut is not None:
            cuts.add(cut)
    out, start = [], 0
    for cut in sorted({*cuts, len(text)}):
        piece = text[start:cut]
        bare = piece.strip()
        if bare:
            begin = start + len(piece) - len(piece.lstrip())
            out.append(Sentence(bare, begin, begin + len(bare)))
        start = cut
    return out


def ends_here(text: str, match: re.Match, after: int) -> int | None:
    """Where the sentence that this mark ends is over; None when it does not end one."""
    if match.group()[0] in "。！？":
        return after
    while after < len(text) and (text[after] in CLOSERS or text.startswith("\\end", after)):
        after += 1
    mark = MARK.match(text, after)
    if mark:
        after = mark.end()
    rest = text[after:after + 60]
    if not rest.strip():
        return after
    if not rest[0].isspace():
        return None
    following = rest.lstrip().lstrip(OPENERS)
    first = following[:1]
    starts = bool(first) and (first.isupper() or first in "$\\" or first.isdigit() or (first.isalpha() and not first.islower()))
    if not starts:
        return None
    if match.group() != ".":
        return after if match.group()[0] in "!?" or first.isupper() else None
    before = WORD_BEFORE.search(text[max(0, match.start() - 40):match.start()])
    word = before.group().lower().strip("\"'()[]{},;:*_") if before else ""
    if word in ABBREVIATIONS:
        if word in EITHER and first.isupper() and word not in NOT_AFTER_NAME:
            # "et al. (2014) show", "et al. We" : the second starts a sentence when a common opening follows
            return after if word != "al" or OPENING.match(following) else None
        if word in NOT_AFTER_NAME and not first.isdigit():
            return after
        return None
    if len(word) == 1 and word.isalpha() and before and before.group().strip("\"'()[]{}*_").isupper():
        # An initial ("A. Gomez"), unless a common opening follows ("option A. We")
        return after if OPENING.match(following) else None
    return after


OPENING = re.compile(r"(?:We|The|This|These|Those|That|In|On|For|It|Our|An?|However|To|As|When|While|Since|All|Each|Then|Thus|"
                     r"Here|Note|Moreover|Furthermore|Finally|With|By|At|If|From|Both|Following|Using|Unlike|They|Their|Its)\b")
