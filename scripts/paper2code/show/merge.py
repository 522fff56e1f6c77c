"""Three-way merge of text by lines: what was laid before, what stands there now, what would be laid today."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher


@dataclass
class Merged:
    """`text`: both sides' changes where they do not touch, the hand's where they do. `conflicts`: (line in `text`, laid lines)."""

    text: str
    conflicts: list[tuple[int, str]] = field(default_factory=list)


def same(base: list[str], other: list[str]) -> list[tuple[int, int, int]]:
    """Runs of lines that both have: (start in base, start in other, length), closed by an empty run at the ends."""
    return [tuple(block) for block in SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()]


def merge(base: str, mine: str, laid: str) -> Merged:
    """`mine` (by hand) and `laid` (rendered anew) grown from `base`; where both changed the same lines, `mine` stays."""
    if mine == laid or laid == base:
        return Merged(mine)
    if mine == base:
        return Merged(laid)
    b, m, l = (text.splitlines(keepends=True) for text in (base, mine, laid))
    stable = []  # runs of base lines that both sides kept: (base, mine, laid, length)
    one, two = same(b, m), same(b, l)
    i = j = 0
    while i < len(one) and j < len(two):
        start, stop = max(one[i][0], two[j][0]), min(one[i][0] + one[i][2], two[j][0] + two[j][2])
        if start < stop:
            stable.append((start, one[i][1] + start - one[i][0], two[j][1] + start - two[j][0], stop - start))
        if one[i][0] + one[i][2] < two[j][0] + two[j][2]:
            i += 1
        else:
            j += 1
    stable.append((len(b), len(m), len(l), 0))
    out: list[str] = []
    conflicts: list[tuple[int, str]] = []
    at_b = at_m = at_l = 0
    for in_b, in_m, in_l, length in stable:
        was, hand, new = b[at_b:in_b], m[at_m:in_m], l[at_l:in_l]
        if hand == was:
            out += new
        elif new in (was, hand):
            out += hand
        else:
            conflicts.append((len(out) + 1, "".join(new)))
            out += hand
        out += m[in_m : in_m + length]
        at_b, at_m, at_l = in_b + length, in_m + length, in_l + length
    return Merged("".join(out), conflicts)
