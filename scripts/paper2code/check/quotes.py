"""Is this quote in the paper, at the place named? `Matcher(paper).judge(place, quote)` says so, and what to put if not.

A quote is verified when its folded text (`paper2code.fold`) occurs, whole tokens from end to end, in the place named: a
section with its subsections, captions, tables, algorithms and footnotes, or an item. `…` skips a little text of the same
stream, in order. Nothing is accepted for being similar; similarity only finds the passage to show instead.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from paper2code.check import numbers
from paper2code.check.anchors import Anchor
from paper2code.check.places import Places, Target
from paper2code.findings import ERROR, WARNING, Finding
from paper2code.fold import BROKEN, Folded, Mark, agree, cited_alike, fold, legible
from paper2code.paper import Algorithm, Block, Equation, Figure, Footnote, Paper, Passage, Table, box
from paper2code.sentences import sentences
from rapidfuzz import fuzz

VERIFIED, MOVED, ALTERED, MISSING, DEFERRED, UNREADABLE = "verified", "moved", "altered", "missing", "deferred", "unreadable"
CITED, NO_SUCH_PLACE = "cited", "no-such-place"
STATES = (VERIFIED, MOVED, ALTERED, MISSING, DEFERRED, UNREADABLE, CITED, NO_SUCH_PLACE)

LONGEST = 8_000  # characters; a longer quote is no quote
LONGEST_GAP = 400  # folded characters that one `…` may skip
MOST_OCCURRENCES = 500
CLOSE = 70.0  # similarity (0-100) from which a passage counts as the altered quote's original
SKIP = re.compile(r"\s*(?:\[\s*(?:\.{3,}|…)\s*\]|\.\s\.\s\.|\.{3,}|…)\s*")
NEGATION = re.compile(r"(?:\b(?:not|no|never|without|cannot|neither|nor|hardly|non)|n['\u2019]t)\b", re.I)
TURNED = r"\b(?:instead of|rather than|unlike|except(?: for)?|as opposed to|(?:lack|absence) of|excluding|omitting|removing)"
NEGATED = re.compile(rf"(?<!or )(?:{NEGATION.pattern}|{TURNED})[\s\u2010\u2011-]*$", re.I)
# "We do not use | weight decay", "we do not claim that | the stagger helps"
NEGATED_VERB = re.compile(
    r"(?:\b(?:not|never|cannot|without|avoid(?:s|ed)?)|n['\u2019]t)\s+(?:(?!only\b)(?:\w+ly|yet|even|also)\s+)?"
    r"(?:us(?:e|ed|ing)|appl(?:y|ied|ying)|employ(?:ed|ing)?|add(?:ed|ing)?|includ(?:e|ed|ing)|requir(?:e|ed|ing)|need(?:ed|ing)?|"
    r"perform(?:ed|ing)?|adopt(?:ed|ing)?|claim(?:ed|ing)?|find|found|observ(?:e|ed|ing)|see|show|believe|assum(?:e|ed|ing)|"
    r"rely(?:ing)? on|shar(?:e|ed|ing)|ha(?:ve|s|d|ving)|contain(?:ed|ing)?|consider(?:ed|ing)?|tun(?:e|ed|ing))"
    r"(?:\s+(?:that|any|an?|the|to|of|on|such|additional|extra|further|explicit))*[\s~]*$", re.I)
PROSE = {"paragraph", "list", "theorem", "footnote", "caption", "abstract"}
SENTENCE_END = re.compile(r"[.!?][)\"'\u201d\u2019]*\s+(?=[A-Z\"\u201c(])")
TOUCHING = re.compile(r"[\s${(\\]*(?:\\[A-Za-z]+[\s{]*)*")  # what may stand between a sign and what it belongs to
CLOSED = re.compile(r"[\s}$]*(?:\\[A-Za-z]+\s*)*[)\]][\s}$]*")
CLOSING = re.compile(r"[)\]][\s}$.,;]*$")
SUM = re.compile("[+\u2212-]")
BUILT = re.compile(r"\\(?:[dtc]?frac|nicefrac|sfrac|over|binom|sqrt|hat|widehat|bar|overline|tilde|widetilde|vec)(?![A-Za-z])")
BARS = re.compile(r"(?:(?<=\s)|^)\|(?=\s|$)")  # between the cells of a row
HYPHENS = ("-", "\u2010", "\u2011")
CONTROL = re.compile(r"[\x00-\x06\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Verdict:
    """What became of one place-and-quote pair.

    found_at: where the quote (or, when altered, the nearest passage) stands, as it is cited. nearest: the paper's own
    words there. difference: what to change, word by word. fix: what to do. problems: what is wrong with the place.
    unconfirmed: the passage was read from the PDF's glyphs alone.
    """

    state: str
    place: str = ""
    quote: str = ""
    found_at: str | None = None
    page: int | None = None
    bbox: tuple[float, ...] | None = None
    nearest: str | None = None
    difference: str | None = None
    fix: str | None = None
    message: str = ""
    section: str | None = None
    item: str | None = None
    problems: tuple[str, ...] = ()
    unconfirmed: bool = False

    @property
    def good(self) -> bool:
        return self.state in (VERIFIED, CITED)

    @property
    def severity(self) -> str:
        """A warning where the paper's own text cannot be compared; else an error."""
        return WARNING if self.state == UNREADABLE and not BROKEN.search(self.quote) else ERROR


@dataclass
class Piece:
    """One passage of the index: its folded text lies at `at` … `end` of the whole."""

    passage: Passage
    folded: Folded
    at: int
    end: int
    stream: int
    theorem: str | None = None


class Index:
    """All quotable text folded into one string, and the way back to passages. NUL parts the streams."""

    def __init__(self, paper: Paper, *, high_first: bool = False):
        self.pieces: list[Piece] = []
        self.marks: list[Mark] = []
        parts: list[str] = []
        at = 0
        for stream, passages in enumerate(streams(paper)):
            for passage, theorem in passages:
                folded = fold(passage.text, math=passage.kind == "equation", high_first=high_first)
                if not folded.text:
                    continue
                between = ""
                if self.pieces:
                    last = self.pieces[-1]
                    numbers = last.folded.text[-1].isdigit() and folded.text[0].isdigit()
                    between = "\0" if last.stream != stream else " " if numbers else ""
                parts += (between, folded.text)
                at += len(between)
                self.pieces.append(Piece(passage, folded, at, at + len(folded.text), stream, theorem))
                self.marks += [mark._replace(at=mark.at + at) for mark in folded.marks]
                at += len(folded.text)
        self.text = "".join(parts)
        self.begins = [piece.at for piece in self.pieces]

    def at(self, offset: int) -> int:
        """The number of the piece at an offset of the text."""
        return max(0, bisect_right(self.begins, offset) - 1)


@dataclass(frozen=True)
class Hit:
    """A quote found: folded characters `start` to `end` of an index, in its pieces `first` … `last`."""

    index: Index
    start: int
    end: int
    first: int
    last: int
    problem: str | None = None

    @property
    def pieces(self) -> list[Piece]:
        return self.index.pieces[self.first : self.last + 1]

    @property
    def passage(self) -> Passage:
        return self.index.pieces[self.first].passage


class Matcher:
    """The index of one paper; build it once and judge many quotes with it. A verdict is remembered."""

    def __init__(self, paper: Paper):
        self.paper = paper
        self.places = Places(paper)
        self.index = Index(paper)
        self.pieces = self.index.pieces
        self.references = len(paper.references) or 999
        self.judged: dict[tuple[str, str], Verdict] = {}
        self.words: dict[str, list[int]] | None = None
        self.garbled = garbled_places(paper)
        self.copied: Index | None = None  # powers before indices, as a PDF's text has them; made when it is needed

    # --- judging -----------------------------------------------------------------------------------------------------

    def judge(self, place: str, quote: str | None = None) -> Verdict:
        """What is true of this quote at this place. An empty place means anywhere in the paper."""
        key = (place or "", quote or "")
        if key not in self.judged:
            self.judged[key] = self.decide(*key)
        return self.judged[key]

    def decide(self, place: str, quote: str) -> Verdict:
        target = self.places.resolve(place) if place.strip() else None
        problems = place_problems(target)
        if not quote.strip():
            return self.cited(place, target, problems)
        if len(quote) > LONGEST:
            return Verdict(
                MISSING,
                place,
                quote[:200] + " …",
                message=f"a quote of {len(quote):,} characters is not compared",
                fix="quote the one sentence that says it",
                problems=problems,
            )
        quote = CONTROL.sub("", quote)
        if BROKEN.search(quote):  # it may well be what the PDF yields, and still nobody can read or compare it
            return Verdict(
                UNREADABLE,
                place,
                quote,
                problems=problems,
                message="the quote holds signs that the PDF gives no meaning (�, (cid:…))",
                fix=f'quote the legible words: {place} — "{legible(quote)}"' if len(legible(quote).split()) > 3
                else "look at the page's picture (search_paper.py --page N --image FILE), and cite the place without a quote",
            )
        folded = fold(quote)
        if not folded.text:
            return Verdict(
                MISSING,
                place,
                quote,
                message="the quote has no letter or number to compare",
                fix="quote the paper's words",
                problems=problems,
            )
        hits = self.occurrences(quote)
        good = [hit for hit in hits if hit.problem is None]
        here = [hit for hit in good if target is None or self.inside(hit, target)]
        own = [hit for hit in here if not hit.passage.related]
        if own:
            return self.verdict(VERIFIED, own[0], place, quote, problems, target)
        if here:
            return self.verdict(
                DEFERRED,
                here[0],
                place,
                quote,
                problems,
                target,
                message="the sentence stands among the paper's words about others' work, which specify nothing of its own method",
                fix="cite where the paper describes its own method, or flag the choice as [UNSPECIFIED]",
            )
        if good:
            hit = min(good, key=lambda hit: hit.passage.related)
            where = self.label(hit)
            return self.verdict(
                MOVED, hit, place, quote, problems, target, message=f"the quote is in {where}, not in {place}", fix=f'{where} — "{quote}"'
            )
        return self.refused(place, quote, folded, hits, target, problems)

    def cited(self, place: str, target: Target | None, problems: tuple[str, ...]) -> Verdict:
        if target is not None and target.exists:
            sections = [id for id in target.sections if id != "abstract"]
            item = next((self.paper.item(id) for id in target.items), None)
            section = None if item else self.paper.section(min(sections, key=len, default=None))
            found = item or section
            return Verdict(
                CITED,
                place,
                found_at=place,
                page=found and found.page,
                bbox=found and box(found.bbox),
                section=section.id if section else item.section if item else None,
                item=item.id if item else None,
                problems=problems,
                message="; ".join(problems),
            )
        what, near = target.missing[0] if target else ("a place without a name", None)
        return Verdict(
            NO_SUCH_PLACE,
            place,
            message=f"there is no {what} in the paper",
            problems=problems,
            nearest=near,
            fix=f"did you mean {near}?" if near else "name a place that the paper has",
        )

    def refused(
        self, place: str, quote: str, folded: Folded, hits: list[Hit], target: Target | None, problems: tuple[str, ...]
    ) -> Verdict:
        """The quote is nowhere as it stands: what the paper says instead, and how it differs."""
        reason = None
        if hits:
            hit = next((hit for hit in hits if target and self.inside(hit, target)), hits[0])
            reason, similarity = hit.problem, 100.0
        else:
            hit, similarity = self.nearest(folded, target)
        if self.unreadable(target) and (hit is None or similarity < 95):
            return Verdict(
                UNREADABLE,
                place,
                quote,
                found_at=place,
                problems=problems,
                message="the paper's own text is garbled there, so the quote cannot be compared",
                fix="look at the page's picture (search_paper.py --page N --image FILE), and cite the place without a quote",
            )
        if hit is None or similarity < 60:
            return Verdict(
                MISSING,
                place,
                quote,
                problems=problems,
                message="nothing like it is in the paper",
                fix="quote the paper's own words (search_paper.py finds them), or flag the choice as [UNSPECIFIED]",
            )
        nearest = self.original(hit)
        where = self.label(hit)
        state = ALTERED if similarity >= CLOSE else MISSING
        difference = word_difference(quote, nearest)
        message = reason or (f"the paper says it differently: {difference}" if state == ALTERED else "it is not in the paper")
        return self.verdict(
            state,
            hit,
            place,
            quote,
            problems,
            target,
            message=message,
            nearest=nearest,
            difference=difference,
            fix=f'{where} — "{nearest}"'
            if state == ALTERED
            else f'quote the paper\'s own words, perhaps: {where} — "{nearest}"; or flag the choice as [UNSPECIFIED]',
        )

    def verdict(
        self,
        state: str,
        hit: Hit,
        place: str,
        quote: str,
        problems: tuple[str, ...],
        target: Target | None,
        *,
        message: str = "",
        nearest: str | None = None,
        difference: str | None = None,
        fix: str | None = None,
    ) -> Verdict:
        passage = hit.passage
        item = self.paper.item(passage.item)
        unconfirmed = passage.source == "pdf" and not (item is not None and getattr(item, "confirmed_by", None))
        page = passage.page
        if page is None and passage.section:
            section = self.paper.section(passage.section)
            page = section.page if section and len(section.blocks) < 2 else None
        return Verdict(
            state,
            place,
            quote,
            self.label(hit),
            page,
            passage.bbox,
            nearest,
            difference,
            fix,
            message,
            passage.section,
            passage.item,
            problems,
            unconfirmed,
        )

    # --- finding -----------------------------------------------------------------------------------------------------

    def occurrences(self, quote: str) -> list[Hit]:
        """Where a quote stands, good ones if there are any; else where only its letters stand, with what differs."""
        refused: list[Hit] = []
        one, other = fold(quote), fold(quote, high_first=True)
        orders = (False, True)[: 2 if (one.text, one.marks) != (other.text, other.marks) else 1]
        for index in (self.index, None):
            index = index or self.as_copied()
            for high_first in orders:
                for hits in (self.whole(index, quote, high_first), self.skipping(index, quote, high_first)):
                    found = list(hits)
                    if any(hit.problem is None for hit in found):
                        return found
                    refused = refused or found
        if BARS.search(quote) and not refused:
            found = list(self.whole(self.index, BARS.sub(" ", quote), False))
            refused = [hit for hit in found if all(piece.passage.kind == "cell" for piece in hit.pieces)]
            refused = [hit for hit in refused if hit.problem is None] or refused
        return refused

    def as_copied(self) -> Index:
        if self.copied is None:
            self.copied = Index(self.paper, high_first=True)
        return self.copied

    def whole(self, index: Index, quote: str, high_first: bool) -> Iterator[Hit]:
        folded = fold(quote, high_first=high_first)
        found = list(self.hits(index, folded)) if folded.text else []
        if "\\" in quote and "$" not in quote and not any(hit.problem is None for hit in found):
            formula = fold(quote, math=True, high_first=high_first)  # z[i-1] of a display formula is an index, not a citation
            if formula.text and formula.text != folded.text:
                good = [hit for hit in self.hits(index, formula) if hit.problem is None]
                found = good or found
        return iter(found)

    def hits(self, index: Index, quote: Folded, start: int = 0, end: int | None = None) -> Iterator[Hit]:
        """Every occurrence of the folded quote, those that do not hold with the reason."""
        at, count = index.text.find(quote.text, start, end), 0
        while at >= 0 and count < MOST_OCCURRENCES:
            count += 1
            stop = at + len(quote.text)
            hit = Hit(index, at, stop, index.at(at), index.at(stop - 1))
            yield replace(hit, problem=self.problem(quote, hit))
            at = index.text.find(quote.text, at + 1, end)

    def problem(self, quote: Folded, hit: Hit) -> str | None:
        """Why an occurrence of the letters is not the quote; None when it is."""
        head, tail = hit.pieces[0], hit.pieces[-1]
        begin, finish = hit.start - head.at, hit.end - tail.at
        one = bisect_left(head.folded.starts, begin)
        two = bisect_left(tail.folded.ends, finish)
        if one == len(head.folded.starts) or head.folded.starts[one] != begin:
            return "the quote begins in the middle of a word or number of the paper"
        if two == len(tail.folded.ends) or tail.folded.ends[two] != finish:
            return "the quote ends in the middle of a word or number of the paper"
        lossy = head.passage.source in ("pdf", "text", None)
        if not agree(quote.marks, hit.index.marks, hit.start, hit.end - hit.start, lossy=lossy, references=self.references):
            return "a sign, power, index or citation differs from the paper's"
        if row_begun(hit):
            return "the quote takes the end of one row of the table for the beginning of the next"
        if differs := other_case(quote, hit) or other_grouping(quote, hit):
            return differs
        return self.cut_before(quote, head, one, hit) or self.cut_after(quote, tail, two, hit)

    def cut_before(self, quote: Folded, head: Piece, token: int, hit: Hit) -> str | None:
        """What the quote cuts off at its beginning although it belongs to its first token."""
        original, begin = head.folded.original, head.folded.begins[token]
        stop = head.folded.stops[token - 1] if token else max(0, begin - 40)
        between = original[stop:begin]
        ours = {mark.kind for mark in quote.marks if mark.at == 0}
        here = [mark for mark in marks_at(head.folded, hit.start - head.at) if mark.place >= stop]
        number = quote.text[0].isdigit()
        if any(mark.kind == "dash" and mark.must and mark.at == 0 for mark in quote.marks) and not any(
            mark.kind == "dash" for mark in here
        ):
            return "the paper has no minus sign there"
        first = [mark for mark in quote.marks if mark.at == 0 and mark.kind == "cite"]
        if first and not cited_alike(first, here, self.references):
            return "the citation differs from the paper's"
        for mark in here:
            if not TOUCHING.fullmatch(original[mark.place + 1 : begin]):
                continue  # it belongs to what stands before
            if mark.kind == "dash" and mark.must and "dash" not in ours:
                return "the quote leaves out a minus sign"
            if mark.kind in ("high", "low") and mark.kind not in ours:
                return "the quote begins inside a power or an index"
        if token:
            before = head.folded.text[head.folded.starts[token - 1] : head.folded.ends[token - 1]]
            if not between and (before[-1].isalnum() and quote.text[0].isalnum() or number and before in ("^", "×", "±")):
                return "the quote begins in the middle of a word or number of the paper"
            if number and before == "×" and not between.strip(" $\\{}"):
                return "the quote begins in the middle of a product"
            if between in HYPHENS and before[-1].isalnum() and original[stop - 1 : stop].isalnum():
                return f"the quote cuts a word in two: {original[head.folded.begins[token - 1] : head.folded.stops[token]]}"
        if NEGATED.search(original[max(0, begin - 24) : begin]) or NEGATED_VERB.search(original[max(0, begin - 80) : begin]):
            return "the quote leaves out the negation before it"
        return None

    def cut_after(self, quote: Folded, tail: Piece, token: int, hit: Hit) -> str | None:
        """What the quote cuts off at its end although it belongs to its last token."""
        folded = tail.folded
        original, end = folded.original, folded.stops[token]
        more = token + 1 < len(folded.starts)
        between = original[end : folded.begins[token + 1]] if more else original[end : end + 4]
        following = folded.text[folded.starts[token + 1] : folded.ends[token + 1]] if more else ""
        own = [mark for mark in quote.marks if mark.at == len(quote.text)]
        ours = {mark.kind for mark in own}
        number = quote.text[-1].isdigit()
        here = marks_at(folded, hit.end - tail.at)
        if any(mark.must and mark.kind == "prime" for mark in own) and not any(mark.kind == "prime" for mark in here):
            return "the paper has no prime there"
        if own and not cited_alike(own, here, self.references):
            return "the citation differs from the paper's"
        for mark in here:
            if mark.kind == "slash" and tail.passage.kind == "equation" and more:
                return "the quote cuts off a denominator"
            touching = TOUCHING.fullmatch(original[end : mark.place])
            if not touching:
                if mark.kind == "high" and more and "high" not in ours and tail.passage.kind == "equation" \
                        and CLOSED.fullmatch(original[end : mark.place]) and CLOSING.search(quote.original):
                    return "the quote cuts off a power"
                continue
            if mark.kind == "prime" and mark.must and "prime" not in ours:
                return "the quote leaves out a prime"
            if not more:
                continue
            if mark.kind == "low" and "low" not in ours:
                return "the quote cuts off an index"
            if mark.kind == "high" and "high" not in ours and (number or folded.ends[token] - folded.starts[token] <= 2):
                return "the quote cuts off a power"  # a longer word has a footnote's mark there
            if mark.must and number and mark.kind in ("dash", "slash") and following[:1].isdigit():
                if TOUCHING.fullmatch(original[mark.place + 1 : folded.begins[token + 1]]):
                    return "the quote cuts a number off"
        if not more:
            return None
        if number and (following == "^" or following in ("%", "‰", "×") and not between.strip(" $\\{}")):
            return "the quote cuts off what belongs to its last number"
        if not between and quote.text[-1].isalnum() and following[0].isalnum():
            return "the quote ends in the middle of a word or number of the paper"
        if between in HYPHENS and following[0].isalpha() and quote.text[-1].isalpha():
            return f"the quote cuts a word in two: {original[folded.begins[token] : folded.stops[token + 1]]}"
        return None

    def skipping(self, index: Index, quote: str, high_first: bool) -> Iterator[Hit]:
        """A quote with `…`: its parts in order, in one stream, with bounded gaps that hide no negation."""
        parts = [part for part in (fold(part, high_first=high_first) for part in SKIP.split(quote)) if part.text]
        if len(parts) < 2 or len(parts) > 40:
            return
        for hit in self.hits(index, parts[0]):
            whole: Hit | None = hit
            for part in parts[1:]:
                following = self.hits(index, part, whole.end, whole.end + LONGEST_GAP + len(part.text))
                found = min(following, default=None, key=lambda each: (each.problem is not None, each.start))
                if found is None or found.pieces[0].stream != hit.pieces[0].stream:
                    whole = None
                    break
                problem = whole.problem or found.problem or self.gap_problem(whole, found, part)
                whole = Hit(index, hit.start, found.end, hit.first, found.last, problem)
            if whole is not None:
                yield whole

    def gap_problem(self, before: Hit, after: Hit, part: Folded) -> str | None:
        if len(re.findall(r"[^\W\d_]+", part.original)) < 2 and len(part.text) < 12:
            return "after … the quote goes on with less than two words: give the words that the value belongs to"
        gap = self.original(Hit(before.index, before.end, after.start, before.last, after.first), raw=True)
        ends = [found.start() for found in SENTENCE_END.finditer(gap)]
        touching = (gap[: ends[0]], gap[ends[-1] :]) if ends else (gap,)
        if any(NEGATION.search(part) for part in touching):
            return "the … leaves out a negation"
        if joins_sentences(before, after):
            return "the … joins pieces of two sentences: go on with the first word of the second, or quote them apart"
        return None

    def inside(self, hit: Hit, target: Target) -> bool:
        placed = False
        for piece in hit.pieces:
            passage = piece.passage
            if passage.item in target.items:
                rows = target.rows.get(passage.item)
                placed |= rows is None or passage.row is None or passage.row in rows
            placed |= passage.section in target.sections or piece.theorem in target.theorems
        if target.pages:
            pages = {piece.passage.page for piece in hit.pieces if piece.passage.page is not None}
            pages |= {page + 1 for page in pages}  # a paragraph goes on over the page
            on_page = not pages or bool(pages & target.pages)
            return on_page and (placed or not (target.sections or target.items or target.theorems))
        return placed

    def label(self, hit: Hit) -> str:
        """Where a hit is, as it is cited."""
        passage = hit.passage
        item = self.paper.item(passage.item)
        if item is not None and item.number:
            name = {Equation: "Eq.", Table: "Table", Algorithm: "Algorithm", Figure: "Figure", Footnote: "Footnote"}[type(item)]
            place = f"{name} {item.number.strip('(). ')}"
            if isinstance(item, Equation) and passage.section:
                return f"{self.places.label(passage.section)}, {place}"
            line = item.called(passage.row) if passage.kind == "line" else ""
            return f"{place}, line {line}" if line else place
        return "the title" if passage.kind == "title" else self.places.label(passage.section)

    def original(self, hit: Hit, *, raw: bool = False) -> str:
        """The paper's own characters from a hit's first token to its last; a formula cut open is taken whole."""
        out = []
        for piece in hit.pieces:
            folded, text = piece.folded, piece.folded.original
            one = bisect_left(folded.starts, max(0, hit.start - piece.at))
            two = min(bisect_left(folded.ends, min(len(folded.text), hit.end - piece.at)), len(folded.stops) - 1)
            if one > two:
                continue
            begin, stop = folded.begins[one], folded.stops[two]
            if not raw:
                closing = re.match(r"[}$)\]]+", text[stop:])
                stop += closing.end() if closing else 0
                if text[begin:stop].count("$") % 2:
                    if text.count("$", 0, begin) % 2:
                        begin = text.rfind("$", 0, begin)
                    else:
                        stop = text.find("$", stop) + 1 or stop
            out.append(text[begin:stop])
        return " ".join(out) if raw else " ".join(" ".join(out).split())

    def nearest(self, quote: Folded, target: Target | None) -> tuple[Hit | None, float]:
        """The passage most like a quote, to show and never to accept: windows that share its rarest words, compared."""
        words = set(re.findall(r"[^\W\d_]{3,}|\d+(?:\.\d+)?", quote.original.casefold()))
        known = self.rare_words()
        places: Counter[int] = Counter()
        size = max(len(quote.text), 20)
        for word in sorted((word for word in words if word in known), key=lambda word: (len(known[word]), word))[:24]:
            for at in known[word][:400]:
                places[at // size] += 1.0 / (1 + len(known[word]) / 20)
        scored = Counter({bucket: score + places.get(bucket + 1, 0) for bucket, score in places.items()})
        best: tuple[float, int, int] | None = None
        for bucket, _ in scored.most_common(6):
            low = max(0, (bucket - 1) * size)
            found = fuzz.partial_ratio_alignment(quote.text[:2000], self.index.text[low : (bucket + 3) * size])
            if found is None:
                continue
            score = found.score
            passage = self.pieces[self.index.at(low + found.dest_start)].passage
            if target is not None and (passage.section in target.sections or passage.item in target.items):
                score += 0.5  # of two alike, the one in the place named
            if best is None or score > best[0]:
                best = (score, low + found.dest_start, low + found.dest_end)
        return (self.snapped(best[1], best[2]), min(best[0], 100.0)) if best else (None, 0.0)

    def snapped(self, start: int, end: int) -> Hit:
        """A stretch of the index brought to whole tokens of one stream."""
        first = self.index.at(start)
        if start >= self.pieces[first].end:
            first = min(first + 1, len(self.pieces) - 1)
        piece = self.pieces[first]
        starts, ends = piece.folded.starts, piece.folded.ends
        offset = max(0, start - piece.at)
        token = max(0, bisect_right(starts, offset) - 1)
        if token + 1 < len(starts) and offset > (starts[token] + ends[token]) / 2:
            token += 1
        start = piece.at + starts[token]
        last = max(first, self.index.at(max(start, end - 1)))
        while last > first and self.pieces[last].stream != piece.stream:
            last -= 1
        tail = self.pieces[last]
        finish = min(bisect_left(tail.folded.ends, min(end, tail.end) - tail.at), len(tail.folded.ends) - 1)
        return Hit(self.index, start, max(start, tail.at + tail.folded.ends[finish]), first, last)

    def rare_words(self) -> dict[str, list[int]]:
        """Each word and number with its places in the index; made when the first quote fails."""
        if self.words is None:
            self.words = {}
            for piece in self.pieces:
                folded = piece.folded
                for start, end in zip(folded.starts, folded.ends, strict=True):
                    if end - start > 2 or folded.text[start].isdigit():
                        self.words.setdefault(folded.text[start:end], []).append(piece.at + start)
        return self.words

    def unreadable(self, target: Target | None) -> bool:
        """Whether the text of a place is garbled, so that nothing can be compared with it."""
        if target is None or not target.exists:
            return False
        if self.garbled & (target.sections | target.items | {f"page {page}" for page in target.pages}):
            return True
        passages = [piece.passage for piece in self.pieces]
        passages = [passage for passage in passages if passage.section in target.sections or passage.item in target.items]
        pages = [f"page {passage.page}" for passage in passages if passage.page is not None]
        if 2 * sum(page in self.garbled for page in pages) > len(pages):
            return True
        text = " ".join(passage.text for passage in passages)
        return len(BROKEN.findall(text)) > 0.02 * len(text)


def joins_sentences(before: Hit, after: Hit) -> bool:
    """Whether the part of a quote after its `…` goes on in the middle of another sentence of running text than the part before."""
    one, two = before.pieces[-1], after.pieces[0]
    if not {one.passage.kind, two.passage.kind} <= PROSE:
        return False
    left = one.folded.stops[bisect_left(one.folded.ends, before.end - one.at)]
    right = two.folded.begins[bisect_left(two.folded.starts, after.start - two.at)]
    text = two.folded.original
    begins = [sentence.start for sentence in sentences(text)]
    own = max((begin for begin in begins if begin <= right), default=0)
    if not re.search(r"\w", text[own:right]):
        return False
    if one is two:
        return own >= left
    # a display formula in between goes on with the sentence
    return own > begins[0] or bool(re.search(r"[.!?][)\"'\u201d\u2019]*\s*$", one.folded.original))


def row_begun(hit: Hit) -> bool:
    """Whether a hit in a table takes the end of one row, without that row's label, for the beginning of the next."""
    pieces = hit.pieces
    head = pieces[0].passage
    own = [piece for piece in pieces if piece.passage.row == head.row]
    if head.kind != "cell" or len(own) == len(pieces) or not hit.first:
        return False
    previous = hit.index.pieces[hit.first - 1].passage
    return (previous.item, previous.row) == (head.item, head.row) and not any(re.search(r"[^\W\d_]{2}", piece.passage.text) for piece in own)


def other_case(quote: Folded, hit: Hit) -> str | None:
    """A symbol of one letter that the quote has in the other case: t/T is not T/t. The first word may begin a sentence."""
    for token, start in enumerate(quote.starts):
        if not token or quote.ends[token] - start != 1:
            continue
        ours = quote.original[quote.begins[token] : quote.stops[token]]
        piece = hit.index.pieces[hit.index.at(hit.start + start)]
        at = bisect_left(piece.folded.starts, hit.start + start - piece.at)
        if at == len(piece.folded.starts) or piece.folded.starts[at] != hit.start + start - piece.at:
            continue
        theirs = piece.folded.original[piece.folded.begins[at] : piece.folded.stops[at]]
        if ours != theirs and ours.isascii() and ours.isalpha() and ours.casefold() == theirs.casefold() and theirs not in "aAiI":
            return f"the paper writes {theirs}, not {ours}"
    return None


def brackets(folded: Folded, start: int, end: int) -> list[tuple[int, str, bool]]:
    """The round brackets strictly between two offsets of a folded text: offset from `start`, which one, and whether a sum or a
    difference stands in its group. Those of indices and powers are left out."""
    first, last = bisect_left(folded.starts, start), bisect_left(folded.ends, end)
    low, high = folded.begins[first], folded.stops[min(last, len(folded.stops) - 1)]
    out: list[tuple[int, str, bool]] = []
    open_ones: list[tuple[int | None, int, bool]] = []  # its place in `out`, its place in the text, whether in an index
    for found in re.finditer(r"(?P<script>[\^_]\s*\{?\s*)?(?P<open>\()|\)", folded.original[low:high]):
        place = low + found.end() - 1
        token = bisect_left(folded.begins, place)
        at = (folded.starts[token] if token < len(folded.starts) else len(folded.text)) - start
        if found["open"]:
            hidden = bool(found["script"]) or bool(open_ones and open_ones[-1][2])
            shown = not hidden and 0 < at < end - start
            open_ones.append((len(out) if shown else None, place, hidden))
            if shown:
                out.append((at, "(", bool(SUM.search(folded.original[place:high]))))
        else:
            index, begin, hidden = open_ones.pop() if open_ones else (None, low, False)
            sums = bool(SUM.search(folded.original[begin:place]))
            if index is not None:
                out[index] = (*out[index][:2], sums)
            if not hidden and 0 < at < end - start:
                out.append((at, ")", sums))
    return out


def other_grouping(quote: Folded, hit: Hit) -> str | None:
    """Brackets of a formula that the quote moves, adds or leaves out. What a fraction, root or accent needs on one line is taken."""
    piece = hit.pieces[0]
    if hit.first != hit.last or piece.passage.kind != "equation" and "$" not in piece.folded.original:
        return None
    theirs = brackets(piece.folded, hit.start - piece.at, hit.end - piece.at)
    ours = Counter(each[:2] for each in brackets(quote, 0, len(quote.text)))
    missing = Counter(each[:2] for each in theirs) - ours
    if not BUILT.search(quote.original) and any(each[2] and missing[each[:2]] for each in theirs):
        return "the quote leaves out or moves brackets"
    more = ours - Counter(each[:2] for each in theirs)
    if more and piece.passage.kind == "equation" and piece.passage.source in ("latex", "html") and not BUILT.search(original_of(piece, hit)):
        return "the quote has brackets that the paper has not"
    return None


def original_of(piece: Piece, hit: Hit) -> str:
    """The characters of a piece that a hit within it covers."""
    folded = piece.folded
    one, two = bisect_left(folded.starts, hit.start - piece.at), bisect_left(folded.ends, hit.end - piece.at)
    return folded.original[folded.begins[one] : folded.stops[two]]


def marks_at(folded: Folded, offset: int) -> list[Mark]:
    """The marks of one passage at an offset of its folded text."""
    return folded.marks[bisect_left(folded.marks, (offset,)) : bisect_left(folded.marks, (offset + 1,))]


def streams(paper: Paper) -> Iterator[list[tuple[Passage, str | None]]]:
    """The quotable text as runs that a quote may cross: a section's blocks with their display formulas in place, and apart
    from them each heading, caption, footnote, the lines of an algorithm, the rows of a table."""
    shown: set[str] = set()
    if paper.title:
        yield [(Passage(paper.title, "title", page=1 if paper.pages else None), None)]
    if paper.abstract:
        yield [(Passage(paper.abstract, "abstract", section="abstract", page=1 if paper.pages else None), None)]
    formulas = {equation.id: equation for equation in paper.equations}
    state: dict[str, dict] = {}
    for section in paper.sections:
        state[section.id] = here = {"section": section.id, "appendix": section.appendix, "related": paper.is_related(section)}
        yield [(Passage(section.title, "heading", page=section.page, source=section.source, **here), None)]
        run = []
        for block in section.blocks:
            if block.kind == "equation" and block.ref in formulas:
                equation = formulas[block.ref]
                shown.add(equation.id)
                if equation.latex or equation.text:
                    run.append((formula(equation, here), None))
            elif block.text and block.kind in ("paragraph", "list", "code", "theorem"):
                run.append(
                    (
                        Passage(block.text, block.kind, page=block.page, bbox=box(block.bbox), source=block.source, **here),
                        theorem_of(block),
                    )
                )
        if run:
            yield run
    for equation in paper.equations:
        if equation.id not in shown and (equation.latex or equation.text):
            yield [(formula(equation, state.get(equation.section, {"section": equation.section})), None)]
    for item in (*paper.algorithms, *paper.tables, *paper.figures, *paper.footnotes, *paper.thanks):
        here = {
            **state.get(item.section, {"section": item.section}),
            "item": item.id,
            "page": item.page,
            "bbox": box(item.bbox),
            "source": item.source,
        }
        if item.source == "pdf" and not isinstance(item, Footnote):
            here["related"] = False  # a float drifts: where it is printed does not say whose work it is about
        if getattr(item, "caption", ""):
            yield [(Passage(item.caption, "caption", **here), None)]
        if getattr(item, "text", ""):
            yield [(Passage(item.text, "footnote", **here), None)]
        if lines := getattr(item, "lines", ()):
            yield [(Passage(line, "line", row=row, **here), None) for row, line in enumerate(lines, 1)]
        if rows := getattr(item, "rows", ()):
            yield [(Passage(cell, "cell", row=row, **here), None) for row, cells in enumerate(rows, 1) for cell in cells if cell.strip()]


def formula(equation, here: dict) -> Passage:
    return Passage(
        equation.latex or equation.text,
        "equation",
        item=equation.id,
        page=equation.page,
        bbox=box(equation.bbox),
        source=equation.source if equation.latex else "pdf",
        **here,
    )


def theorem_of(block: Block) -> str | None:
    return fold(block.number).text if block.number else None


def garbled_places(paper: Paper) -> set[str]:
    """Ids and pages ("page 3") that the readers warned of as garbled."""
    out = set()
    for warning in paper.warnings:
        if "garbled" in warning.kind and warning.where:
            out.add(warning.where)
            if page := re.search(r"\d+", warning.where if warning.where.lower().startswith("p") else ""):
                out.add(f"page {page.group()}")
    return out


def place_problems(target: Target | None) -> tuple[str, ...]:
    if target is None:
        return ()
    return (
        *(f"there is no {what} in the paper" + (f" (did you mean {near}?)" if near else "") for what, near in target.missing),
        *(f"{item} is in {where}" for item, where, _ in target.misplaced),
    )


def word_difference(quote: str, passage: str) -> str:
    """What differs between a quote and the paper's words, word by word, compared as quotes are."""
    ours, theirs = quote.split()[:400], passage.split()[:400]
    folded = [[fold(word).text or word for word in words] for words in (ours, theirs)]
    out = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, *folded, autojunk=False).get_opcodes():
        one, two = " ".join(ours[a:b]), " ".join(theirs[c:d])
        if kind == "replace":
            out.append(f'"{one}" should be "{two}"')
        elif kind == "delete":
            out.append(f'"{one}" is not there')
        elif kind == "insert":
            out.append(f'"{two}" is left out')
    return "; ".join(out[:12]) or "signs, powers or indices"


# --- the anchors of a repository ---------------------------------------------------------------------------------------

FIRST_WORDS = {
    MOVED: "the quote is elsewhere",
    ALTERED: "the quote is not what the paper says",
    MISSING: "the quote is not in the paper",
    DEFERRED: "the quote is about others' work",
    UNREADABLE: "the quote cannot be compared",
}


def check_anchors(paper: Paper, anchors: list[Anchor], matcher: Matcher | None = None) -> tuple[list[Finding], list[dict]]:
    """Judge every anchor's place and quote, and the values cited. Gives the findings, and one entry
    `{file, line, place, kind, quote, state, found_at, page}` for each place-and-quote pair (a flag without either has none)."""
    matcher = matcher or Matcher(paper)
    findings: list[Finding] = []
    entries: list[dict] = []
    for anchor in anchors:
        if not anchor.place and not anchor.quote:
            continue
        verdict = matcher.judge(anchor.place, anchor.quote)
        entries.append(
            {
                "file": anchor.file,
                "line": anchor.line,
                "place": anchor.place,
                "kind": anchor.kind,
                "quote": anchor.quote,
                "state": verdict.state,
                "found_at": verdict.found_at,
                "page": verdict.page,
            }
        )
        findings += findings_of(anchor, verdict, matcher.places.resolve(anchor.place) if anchor.place else None)
    findings += numbers.check(matcher, anchors)
    return findings, entries


def findings_of(anchor: Anchor, verdict: Verdict, target: Target | None) -> Iterator[Finding]:
    """What is wrong with one anchor."""
    quote = shortened(anchor.quote or "")
    if verdict.state in FIRST_WORDS:
        soft = verdict.severity == WARNING or (verdict.state == DEFERRED and anchor.tag is not None)
        yield Finding(
            f"quote-{verdict.state}",
            f'{FIRST_WORDS[verdict.state]}: {verdict.message}; quoted: "{quote}"',
            anchor.file,
            anchor.line,
            WARNING if soft else ERROR,
            expected=verdict.found_at if verdict.state == MOVED else shortened(verdict.nearest or "") or None,
            fix=verdict.fix and shortened(verdict.fix, 600),
            evidence=verdict.nearest and shortened(verdict.nearest, 600),
        )
    if anchor.quote and CONTROL.search(anchor.quote):
        yield Finding(
            "quote-control-characters",
            f"the quote holds control characters: {quote!r}",
            anchor.file,
            anchor.line,
            WARNING,
            fix="write it in a raw string, or with doubled backslashes",
        )
    if target is None:
        return
    for what, near in target.missing:
        yield Finding(
            "place-missing",
            f"there is no {what} in the paper",
            anchor.file,
            anchor.line,
            expected=near,
            fix=f"perhaps {near} is meant; outline.md lists the places" if near else "outline.md lists the paper's places",
            evidence=anchor.text[:200],
        )
    for item, where, sure in target.misplaced:
        yield Finding(
            "place-mismatch",
            f"{item} is in {where}, not where the anchor says ({anchor.place})",
            anchor.file,
            anchor.line,
            ERROR if sure else WARNING,
            expected=f"{where}, {item}",
            fix=f"write {where}, {item}",
        )


def shortened(text: str, limit: int = 160) -> str:
    return text if len(text) <= limit else f"{text[: limit - 2]} …"
