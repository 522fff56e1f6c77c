"""Fractions, roots and limits: what stands over and under a fraction's rule, how far a root's rule reaches, what is over and under a sum.

As text a fraction is two small numbers one after the other, so that t + ½ reads `t + 1 2`; a root has no end, and a sum's limits are
lines of their own. Where they stand says what they are. The characters are marked with the LaTeX that begins and ends beside them.
"""

from __future__ import annotations

from bisect import bisect_left

from paper2code.read.pdfparts.engine import Char, Page, Shape
from paper2code.read.pdfparts.written import FRACTION, HALF, ROOT, SMALL, hanging, text_of_chars

THICKEST = 1.6  # points
WIDEST = 400.0  # a rule that is wider is a table's or a box's
FAR = 24.0  # points above and below the rule within which a part's baselines lie
BIG = "∑∏∐⋃⋂⋁⋀⊕⊗"
NAMES = ("argmax", "argmin", "max", "min", "lim", "sup", "inf", "maximize", "minimize", "maximise", "minimise")


def marked(page: Page) -> list[Char]:
    """The page's characters without those of limits, which their operator carries; those of fractions stand on the baseline of
    the line that they are in."""
    bars = [shape for shape in page.shapes if shape.kind in ("rule", "stroke") and shape.y1 - shape.y0 <= THICKEST]
    chars = limits(page.chars)
    if not bars:
        return chars
    chars = list(chars)
    heights = sorted((char.base, at) for at, char in enumerate(chars))
    taken: set[int] = set()
    for bar in bars:
        if bar.x1 - bar.x0 > WIDEST:
            continue
        near = [at for _, at in heights[bisect_left(heights, (bar.y0 - FAR, -1)):bisect_left(heights, (bar.y1 + FAR, -1))]
                if bar.x0 - 1 <= (chars[at].x0 + chars[at].x1) / 2 <= bar.x1 + 1 and at not in taken]
        over = {at for at in near if chars[at].y1 <= bar.y0 + 0.5}
        under = {at for at in near if chars[at].y0 >= bar.y1 - 0.5}
        if over and under:
            border = min(under)
            root = run(over, border + 1, 1) if chars[border].text == "√" else []
            if root:  # PDFium puts a root under the rule before what stands over it
                chars[border:root[-1] + 1] = [*chars[border + 1:root[-1] + 1], chars[border]]
                border, over, under = root[-1], {at for at in over if at < border} | {at - 1 for at in root}, under - {border} | {root[-1]}
            taken.update(fraction(chars, bar, run(over, border - 1, -1), run(under, border, 1)))
    roots(chars, bars)
    return chars


def limits(chars: list[Char]) -> list[Char]:
    """Take what is set small over and under the middle of an operator out of the stream, and give it to the operator's last character,
    whose box then holds it too."""
    found: dict[int, Char] = {}
    gone: set[int] = set()
    heights: list[tuple[float, int]] = []
    found_operators = operators(chars)
    middles = [((chars[first].x0 + chars[last].x1) / 2, chars[last].base) for first, last in found_operators]
    for first, last in found_operators:
        x0, x1, size = chars[first].x0, chars[last].x1, chars[last].font.size
        y0, y1 = min(char.y0 for char in chars[first:last + 1]), max(char.y1 for char in chars[first:last + 1])
        if not heights:
            heights = sorted((char.y0, at) for at, char in enumerate(chars))
        near = [at for _, at in heights[bisect_left(heights, (y0 - 2 * size, -1)):bisect_left(heights, (y1 + size, -1))]
                if chars[at].font.size <= SMALL * size and x0 - 2 * size < chars[at].x0 and chars[at].x1 < x1 + 2 * size and at not in gone]
        middle = (x0 + x1) / 2
        over = [at for at in near if -1.0 < y0 - chars[at].base < 0.45 * size]
        under = [at for at in near if -1.0 < chars[at].y0 - y1 and chars[at].base - y1 < 1.25 * size]
        # Limits of two operators without space between them: each has what is nearest to it.
        others = [x for x, base in middles if abs(base - chars[last].base) < size and x != middle]
        over, under = (stacked(chars, part, x0, x1) or stacked(chars, [at for at in part if nearest(chars[at], middle, others)], x0, x1)
                       for part in (over, under))
        if under:  # nothing has a limit above alone, but a line below may begin with something small
            gone.update(over + under)
            char = chars[last]
            text = "".join(sign + "{" + limit([chars[at] for at in part]) + "}" for sign, part in (("_", under), ("^", over)) if part)
            all_of = [*chars[first:last + 1], *(chars[at] for at in over + under)]
            # Room for a limit that is wider than its operator is kept on both sides of it.
            found[first] = chars[first]._replace(x0=min(c.x0 for c in all_of))
            found[last] = found.get(last, char)._replace(closes=char.closes + text, y0=min(c.y0 for c in all_of), x1=max(c.x1 for c in all_of),
                                                         y1=max(c.y1 for c in all_of))
    return [found.get(at, char) for at, char in enumerate(chars) if at not in gone] if found else chars


def nearest(char: Char, middle: float, others: list[float]) -> bool:
    at = (char.x0 + char.x1) / 2
    return all(abs(at - middle) < abs(at - other) for other in others)


def limit(part: list[Char]) -> str:
    largest = max(part, key=lambda char: char.font.size)
    return text_of_chars(part, largest.base, largest.font.size)


def operators(chars: list[Char]) -> list[tuple[int, int]]:
    """First and last places of what may have limits over and under it: big signs and names of operators."""
    out = []
    for at, char in enumerate(chars):
        if char.text in BIG and char.y1 - char.y0 > 1.2 * char.font.size:  # as large as a display has it: else its limits stand beside
            out.append((at, at))
        elif char.text in "xnmpfe":
            name = next((name for name in NAMES if at + 1 >= len(name) and name[-1] == char.text
                         and "".join(c.text for c in chars[at + 1 - len(name):at + 1]) == name), None)
            following = chars[at + 1] if at + 1 < len(chars) else char
            if name and (following.space or not following.text.isalpha() or abs(following.base - char.base) > 0.3 * char.font.size):
                out.append((at + 1 - len(name), at))
    return out


def stacked(chars: list[Char], places: list[int], x0: float, x1: float) -> list[int]:
    """Those of `places` that stand together about the middle between x0 and x1, from left to right."""
    places = sorted(places, key=lambda at: chars[at].x0)
    middle = (x0 + x1) / 2
    groups: list[list[int]] = []
    for at in places:
        if groups and chars[at].x0 - chars[groups[-1][-1]].x1 < 0.6 * chars[at].font.size and abs(at - groups[-1][-1]) <= 3:
            groups[-1].append(at)
        else:
            groups.append([at])
    return next((group for group in groups if abs((chars[group[0]].x0 + chars[group[-1]].x1) / 2 - middle) < 2.0), [])


def run(among: set[int], at: int, step: int) -> list[int]:
    """From `at` on, those that follow each other without a gap."""
    out = []
    while at in among:
        out.append(at)
        at += step
    return sorted(out)


def fraction(chars: list[Char], bar: Shape, over: list[int], under: list[int]) -> list[int]:
    """Mark one fraction, when there is one: both parts stand over the rule's middle, near it, one as wide as the rule, no larger than
    the text beside, whose baseline lies a quarter of its size below the rule. The places of its characters."""
    if not over or not under:
        return []
    size = max(chars[at].font.size for at in over + under)
    for part, gap in ((over, bar.y0 - max(chars[at].y1 for at in over)), (under, min(chars[at].y0 for at in under) - bar.y1)):
        left, right = min(chars[at].x0 for at in part), max(chars[at].x1 for at in part)
        if abs(left + right - bar.x0 - bar.x1) / 2 > max(1.0, 0.12 * (bar.x1 - bar.x0)) or gap > 0.5 * size:
            return []
    if max(max(chars[at].x1 for at in part) - min(chars[at].x0 for at in part) for part in (over, under)) + 0.25 * size < 0.6 * (bar.x1 - bar.x0):
        return []
    # Brackets of the extension font hang from baselines of their own, so what is beyond them is looked at too.
    beside = [chars[at] for away in (1, 2, 3) for at in (over[0] - away, under[-1] + away) if 0 <= at < len(chars) and not hanging(chars[at])]
    line = next((char for char in beside if 1.02 * char.font.size >= size and 0.1 <= (char.base - bar.y0) / char.font.size <= 0.45
                 and min(abs(char.x1 - bar.x0), abs(char.x0 - bar.x1)) < 2.5 * char.font.size), None)
    if line is None:
        return []
    for part in (over, under):
        letters = [chars[at] for at in part if not hanging(chars[at])] or [chars[part[0]]]
        largest = max(char.font.size for char in letters)
        base = next(char.base for char in letters if char.font.size == largest)
        for at in part:
            moved = chars[at].base - base if abs(chars[at].base - base) < 1.5 * largest else 0.0
            chars[at] = chars[at]._replace(base=line.base + moved)
    first, last, end = over[0], over[-1], under[-1]
    chars[first] = chars[first]._replace(opens=FRACTION + chars[first].opens)
    chars[last] = chars[last]._replace(closes=chars[last].closes + HALF)
    chars[under[0]] = chars[under[0]]._replace(space=False)
    chars[end] = chars[end]._replace(closes=chars[end].closes + "}")
    return [*over, *under]


def roots(chars: list[Char], bars: list[Shape]) -> None:
    """Mark what stands under the rule that begins at a root's upper end."""
    for at, char in enumerate(chars):
        if char.text != "√":
            continue
        bar = next((bar for bar in bars if abs(bar.x0 - char.x1) < 1.2 and abs(bar.y0 - char.y0) < 1.5), None)
        if bar is None:
            continue
        end = at
        while end + 1 < len(chars) and bar.x0 - 1 <= (chars[end + 1].x0 + chars[end + 1].x1) / 2 <= bar.x1 + 0.5 and \
                -0.5 <= chars[end + 1].y0 - bar.y0 and chars[end + 1].y1 <= char.y1 + 0.15 * char.font.size:
            end += 1
        if end > at:
            chars[at] = char._replace(opens=char.opens + ROOT)
            chars[at + 1] = chars[at + 1]._replace(space=False)
            chars[end] = chars[end]._replace(closes="}" + chars[end].closes)
