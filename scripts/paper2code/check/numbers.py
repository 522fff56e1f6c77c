"""Is a value that cites the paper in what it cites? The value must be in the quote, or in the table, equation, caption or
algorithm cited; one quote may not carry many unlike values; a formula written after an equation's number has its symbols.

How numbers are written ("100k", "10%", "1,000", "twenty-four", "$2\\times10^{-4}$") is read by `find.values`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING

from paper2code.check.anchors import Anchor
from paper2code.find import values
from paper2code.findings import ERROR, WARNING, Finding
from paper2code.fold import fold
from paper2code.paper import Equation

if TYPE_CHECKING:
    from paper2code.check.quotes import Matcher

# Indices, axes, halves of a formula: not values that a paper has to state.
PLAIN = frozenset(Decimal(each) for each in ("0", "1", "2", "-1", "-2", "0.5", "-0.5"))
MOST_USES = 2  # unlike things that one quote may speak for without naming their values
MOST_WORDS = 3  # words that are not the equation's, in what still counts as a formula
PERCENT = re.compile(r"%|\bper\s?cent")
MATHEMATICS = re.compile(r"[=+*/^_<>≤≥∑∏√\\]|\w\(")


def number(value: object) -> Decimal | None:
    """A value as a number; None when it is none ("gelu", true)."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        read = Decimal(str(value).strip().replace("_", ""))
    except InvalidOperation:
        return None
    return read if read.is_finite() else None


@lru_cache(maxsize=4096)
def read(text: str) -> tuple[values.Number, ...]:
    return tuple(values.numbers(text[:100_000]))


# Only where the word multiplies something: "half precision", "the first half" and "double Q-learning" state no number.
OF = r"(?=\s+(?:of|the|as|that|its|their|this|these|our)\b)"
FRACTIONS = (
    (0.5, re.compile(rf"(?<!first )(?<!second )(?<!last )(?<!other )\b(?:half{OF}|(?:one|a)[\s-]half\b(?![\s-]precision)|halve[sd]?\b|halving\b)", re.I)),
    (0.25, re.compile(rf"\b(?:a|one) quarter{OF}", re.I)),
    (2, re.compile(rf"\b(?:twice|doubled|doubling|doubles?{OF})\b", re.I)),
)


def in_words(text: str, value: float) -> bool:
    """Whether a text names a fraction or a multiple by its word (half, twice)."""
    return any(abs(value - number) < 1e-9 for number, words in FRACTIONS if words.search(text))


def states(text: str, value: object) -> bool:
    """Whether a text states a value: as a number in any of the ways papers write it, or, for a word, as that word."""
    wanted = number(value)
    if wanted is None:
        word = fold(str(value).strip().strip("\"'")).text
        return bool(word) and word in fold(text).text
    return any(each.equals(wanted) for each in read(text)) or (wanted == 100 and PERCENT.search(text) is not None) or in_words(text, float(wanted))


@lru_cache(maxsize=16384)
def plain(text: str) -> str:
    """A text as it is compared (`paper2code.fold`)."""
    return fold(text).text


def row_of(item: object, quote: str) -> str:
    """What stands with quoted words in a table or algorithm: the row of the quoted cell, or its column under a heading; the
    line; all of it where the words are its caption's or span rows."""
    wanted = plain(quote)
    rows = [[str(cell) for cell in row] for row in getattr(item, "rows", ())] or [[line] for line in getattr(item, "lines", ())]
    out: list[str] = []
    for number, row in enumerate(rows):
        folded = [plain(cell) for cell in row]
        at = [index for index, cell in enumerate(folded) if wanted and wanted in cell]
        if not at and wanted and wanted not in "".join(folded):
            continue
        out += row
        if number < 2 and at:
            out += [below[index] for below in rows[number + 1 :] for index in at if index < len(below)]
    return "\n".join(out)


def cited_text(matcher: Matcher, anchor: Anchor) -> str:
    """What an anchor cites: its quote, with what stands in the same row of a table or line of an algorithm that it names; else
    the items named (captions, cells, lines, formulas); else its sections' text."""
    if anchor.quote:
        target = matcher.places.resolve(anchor.place)
        return "\n".join([anchor.quote, *(row_of(matcher.paper.item(id), anchor.quote) for id in sorted(target.items))])
    target = matcher.places.resolve(anchor.place)
    pieces = [piece.passage for piece in matcher.pieces]
    chosen = [
        passage
        for passage in pieces
        if passage.item in target.items
        and (passage.row is None or passage.item not in target.rows or passage.row in target.rows[passage.item])
    ]
    if not chosen:
        chosen = [passage for passage in pieces if passage.section in target.sections]
    return "\n".join(passage.text for passage in chosen)


def check(matcher: Matcher, anchors: list[Anchor]) -> list[Finding]:
    """Everything wrong between the anchors and the values beside them."""
    return [*unsupported(matcher, anchors), *reused(anchors), *formulas(matcher, anchors)]


def unsupported(matcher: Matcher, anchors: list[Anchor]) -> list[Finding]:
    """Values on a cited line that none of its anchors states. A flagged line owes the paper nothing."""
    lines: dict[tuple[str, int], list[Anchor]] = defaultdict(list)
    for anchor in anchors:
        if anchor.at is not None:
            lines[anchor.file, anchor.at].append(anchor)
    out = []
    texts: dict[tuple[str, str | None], str] = {}
    for (file, at), beside in lines.items():
        cited = [anchor for anchor in beside if anchor.place]
        if not cited or any(anchor.tag for anchor in beside):
            continue
        for value in dict.fromkeys(beside[0].values):
            wanted = number(value)
            if wanted is None or wanted in PLAIN and not beside[0].assigned:
                continue
            for anchor in cited:
                key = (anchor.place, anchor.quote)
                if key not in texts:
                    texts[key] = cited_text(matcher, anchor)
                if states(texts[key], value):
                    break
            else:
                first = cited[0]
                where = f'the quote "{first.quote[:100]}"' if first.quote else first.place
                out.append(
                    Finding(
                        "value-not-cited",
                        f"{beside[0].code or 'the value'} is {value}, which {where} does not state",
                        file,
                        at,
                        ERROR if beside[0].assigned else WARNING,
                        expected=f"a quote, table cell, caption or equation with {value}",
                        fix="cite where the paper states this value, correct it, or flag it as [UNSPECIFIED] or [ASSUMPTION]",
                        evidence=first.text[:200],
                    )
                )
    for anchor in anchors:
        out += misquoted(matcher, anchor, texts)
    return out


def misquoted(matcher: Matcher, anchor: Anchor, texts: dict) -> list[Finding]:
    """Numbers in `§4.1, Table 2 — d_model = 512` that the table, caption or equation does not have."""
    if not anchor.formula or anchor.tag or anchor.kind not in ("table", "figure", "algorithm", "footnote"):
        return []
    key = (anchor.place, None)
    if key not in texts:
        texts[key] = cited_text(matcher, anchor)
    if not texts[key]:
        return []
    wrong = [
        each.text
        for each in read(anchor.formula)
        if each.kind == values.VALUE and each.value not in PLAIN and not states(texts[key], each.value)
    ]
    return (
        [
            Finding(
                "value-not-cited",
                f"{anchor.place} does not have {', '.join(wrong)}",
                anchor.file,
                anchor.line,
                expected=f"a number that {anchor.place} has",
                evidence=anchor.text[:200],
                fix="write the number that the paper gives there, or cite where this one stands",
            )
        ]
        if wrong
        else []
    )


def reused(anchors: list[Anchor]) -> list[Finding]:
    """One quote that stands for many unlike values, although it does not name them."""
    uses: dict[str, dict[str, Anchor]] = defaultdict(dict)
    for anchor in anchors:
        if anchor.quote and anchor.assigned and anchor.code and anchor.where in ("yaml", "comment", "string"):
            numeric = [value for value in anchor.values if number(value) is not None]
            if not numeric or not all(states(anchor.quote, value) for value in numeric):
                uses[fold(anchor.quote).text].setdefault(anchor.code, anchor)
    out = []
    for things in uses.values():
        if len(things) > MOST_USES:
            first, *rest = things.values()
            names = ", ".join(list(things)[:6])
            out.append(
                Finding(
                    "quote-reused",
                    f'one quote speaks for {len(things)} unlike things ({names}): "{first.quote[:100]}"',
                    first.file,
                    first.line,
                    expected="a quote that says what the value is",
                    fix="quote for each the sentence that states it, or flag it",
                    evidence="; ".join(f"{each.file}:{each.line}" for each in rest[:8]),
                )
            )
    return out


def formulas(matcher: Matcher, anchors: list[Anchor]) -> list[Finding]:
    """Symbols of a formula written after an equation's number which that equation does not have."""
    out = []
    for anchor in anchors:
        if anchor.kind != "equation" or not anchor.formula or not MATHEMATICS.search(anchor.formula):
            continue
        target = matcher.places.resolve(anchor.place)
        items = [matcher.paper.item(id) for id in target.items]
        equations = [item.latex for item in items if isinstance(item, Equation) and item.latex]
        known = "".join(fold(latex, math=True).text for latex in equations)
        if not known:
            continue
        plain = re.findall(r"(?<!\\)\b[A-Za-z]{3,}", anchor.formula)
        if sum(word.lower() not in known for word in plain) > MOST_WORDS:
            continue  # a sentence about the equation, not a formula
        missing = [symbol for symbol in symbols(anchor.formula) if symbol not in known]
        if missing:
            out.append(
                Finding(
                    "formula-differs",
                    f"{anchor.place} has no {', '.join(missing[:8])}",
                    anchor.file,
                    anchor.line,
                    WARNING,
                    expected=" ; ".join(equations)[:300],
                    fix="write the formula with the paper's symbols, and a code name beside it where it differs",
                    evidence=anchor.formula[:200],
                )
            )
    return out


def symbols(formula: str) -> list[str]:
    """The symbols of a formula as they are compared: single letters, Greek, numbers, operators; not the words around it."""
    folded = fold(formula.partition("  ")[0], math=True)
    tokens = [folded.text[start:end] for start, end in zip(folded.starts, folded.ends, strict=True)]
    return list(dict.fromkeys(token for token in tokens if len(token) == 1 and token not in "a=" or token[0].isdigit()))
