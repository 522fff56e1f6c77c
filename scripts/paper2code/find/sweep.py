"""The evidence sweep: for each item of the checklist, every statement of the paper that speaks of it, with place, page and
the values read. It says where to look; it decides nothing.

A statement *states* an item when it names it together with a value (or, for items whose value is words, in words of doing:
"we use", "is applied"); otherwise it *mentions* it. Related work never states.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from paper2code.find.checklist import Checklist, Item, Words, load
from paper2code.find.statements import Statement, looks_like_header, statements
from paper2code.find.values import INDEX, NAME, VALUE, Number, numbers
from paper2code.paper import Paper

STATES, MENTIONS = "states", "mentions"
REACH = 90  # how far, in characters (with what stands between counted extra), a number may be from the words it belongs to
ROWS_A_COLUMN = 4  # rows of one table that are shown for a heading cell


class Term(NamedTuple):
    """Words of an item, at a place in a statement. `kind`: phrase, named (the words are themselves a value) or pattern."""

    start: int
    end: int
    kind: str


Terms = dict[str, list[Term]]  # by the item's name


@dataclass(frozen=True)
class Value:
    """A value read in a statement: `text` as written, `number` where it is one. `sure`: joined to the item's words directly,
    not only near them."""

    text: str
    number: Number | None = None
    sure: bool = False


@dataclass(frozen=True)
class Evidence:
    """One statement about one item. `terms`: the words found, with their places in the statement's text. `column`: the head
    of the table's column that the value stands in."""

    item: str
    statement: Statement
    tier: str
    score: float
    terms: tuple[tuple[int, int], ...] = ()
    values: tuple[Value, ...] = ()
    column: str = ""


@dataclass
class Sweep:
    """All evidence of a paper: for each item of the checklist that may concern it, in the checklist's order, best first."""

    kinds: list[str]
    items: list[Item]
    evidence: dict[str, list[Evidence]] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)

    def states(self, item: str) -> list[Evidence]:
        return [entry for entry in self.evidence.get(item, ()) if entry.tier == STATES]

    def mentions(self, item: str) -> list[Evidence]:
        return [entry for entry in self.evidence.get(item, ()) if entry.tier == MENTIONS]


DONE = (
    "set trained used applied initiali[sz]ed fixed chosen added shared optimi[sz]ed evaluated reported normali[sz]ed "
    "resized sampled split varied increased decreased decayed clipped placed replaced removed fine-?tuned "
    "pre-?trained selected tuned performed implemented run computed kept frozen measured averaged repeated divided "
    "annealed reduced multiplied composed encoded tokeni[sz]ed truncated batched employed adopted conducted stacked "
    "scaled tied written filtered cropped padded halved drawn subtracted augmented stored adapted inserted calculated "
    "masked updated"
).replace(" ", "|")
DO = (
    "uses? used sets? trains? trained employ(?:s|ed)? appl(?:y|ies|ied) adopt(?:s|ed)? initiali[sz]e[ds]? choose "
    "chose fix(?:ed)? add(?:ed)? share[ds]? follow(?:ed)? optimi[sz]e[ds]? evaluate[ds]? report(?:ed)? "
    "normali[sz]e[ds]? resize[ds]? sample[ds]? split var(?:y|ied) increase[ds]? decrease[ds]? decay(?:ed)? "
    "clip(?:ped)? place[ds]? replace[ds]? remove[ds]? fine-?tune[ds]? pre-?train(?:ed)? select(?:ed)? tune[ds]? "
    "perform(?:ed)? implement(?:ed)? run ran take took compute[ds]? keep kept freeze froze start(?:ed)? measure[ds]? "
    "average[ds]? repeat(?:ed)? consider(?:ed)? conduct(?:ed)? divide[ds]? filter(?:ed)? crop(?:ped)? pad(?:ded)? "
    "truncate[ds]? limit(?:ed)? minimi[sz]e[ds]? maximi[sz]e[ds]? stack(?:ed)? define[ds]? scale[ds]? exempt(?:ed)?"
).replace(" ", "|")
DOING = re.compile(rf"\b(?:we|our \w+|i)\s+(?:\w+ly\s+|also\s+|then\s+|first\s+)?(?:{DO})\b"
                   rf"|\b(?:is|are|was|were|being)\s+(?:\w+ly\s+|not\s+|then\s+|also\s+|all\s+|always\s+)?(?:{DONE}|followed by)\b"
                   r"|\b(?:using|trained (?:for|with|on|using)|with (?:a|an|the)|consists? of|comprises?|contains?|has|have|"
                   r"there (?:is|are) no|employs?|uses?|set to|train|apply|we)\b", re.I)
NOT_OURS = re.compile(
    r"\b(?:previous(?:ly)?|prior) (?:work|approach|method|stud)|\bet al\.?,? (?:\(\d{4}\) |\[\d+\] )?(?:use|show|propose|train|"
    r"find|introduce|report|demonstrate|observe|apply|suggest)|\b(?:can|could|would|might|may) (?:be|also|have)\b|\bin general\b|"
    r"\bfuture work\b|\bis (?:known|common) to\b|\bha(?:s|ve) been (?:shown|proposed|used)\b|\bpopular\b|\bwidely\b", re.I)
SETUP = re.compile(r"experiment|implement|train|set-?up|setting|hyper|detail|architect|model|data|evaluat|optimi|method|"
                   r"configur|regulari|pre-?process|approach|protocol|baseline|benchmark|tun(?:e|ing)|infrastruct|hardware|"
                   r"schedule", re.I)
TALK = re.compile(r"introduction|conclusion|discussion|abstract|background|motivation|acknowledg|limitation|impact|future|"
                  r"prelimin|ethic|contribution statement|broader", re.I)


def bearing(statement: Statement) -> float:
    """How much a statement tells what was done here, by its words and by where it stands: above 0 speaks for it."""
    if statement.related or statement.kind in ("title", "heading"):
        return -3.0
    score = 0.0
    if statement.kind in ("row", "line"):
        score += 1.0
    elif DOING.search(statement.text):
        score += 1.0
    if SETUP.search(statement.title) or statement.appendix:
        score += 0.6
    if TALK.search(statement.title) or statement.kind == "abstract":
        score -= 0.8
    if statement.kind in ("paragraph", "list", "abstract", "footnote") and NOT_OURS.search(statement.text):
        score -= 1.0
    return score


def sweep(paper: Paper, checklist: Checklist | None = None, *, only: str | None = None) -> Sweep:
    """All evidence in a paper for the items of the checklist that concern it. `only`: that item is asked for, whether it
    concerns this kind of paper or not (the others still take the numbers that are theirs)."""
    checklist = checklist or load()
    said = statements(paper)
    items = checklist.for_paper(paper, loosely=True)
    if only and not any(item.name == only for item in items):
        items += [item for item in checklist.items if item.name == only]
    out = Sweep(checklist.kinds_of(paper), items, statements=said)
    lowered = [lower(statement.text) for statement in said]
    found = terms(out.items, lowered)
    read: dict[int, list[Number]] = {}
    bearings: dict[int, float] = {}
    by_item = {item.name: item for item in out.items}
    collected: dict[str, list[Evidence]] = defaultdict(list)
    for number in sorted(found):
        statement = said[number]
        read[number] = numbers(statement.text)
        bearings[number] = bearing(statement)
        if statement.kind == "row":
            entries = from_row(statement, found[number], by_item)
        else:
            entries = from_prose(statement, found[number], read[number], by_item, bearings[number])
        for entry in entries:
            collected[entry.item].append(entry)
    for entry in (*from_columns(said, found, by_item), *from_spanning(said, found, by_item)):
        collected[entry.item].append(entry)
    for item in out.items:
        out.evidence[item.name] = best_first(collected.get(item.name, ()))
    return out


def lower(text: str) -> str:
    """Lower case without changing the length, so that places stay."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


UNDERSCORE = re.compile(r"(?<=[a-z])\\?_(?=[a-z])")


def terms(items: Iterable[Item], lowered: list[str]) -> dict[int, Terms]:
    """For each statement (by its number) the items whose words it has, and where."""
    words = Words([UNDERSCORE.sub(lambda match: " " * len(match.group()), text) for text in lowered])
    joined = "\n.\n".join(lowered)  # a full stop between them: the patterns that reach on stop there
    starts, at = [], 0
    for text in lowered:
        starts.append(at)
        at += len(text) + 3
    found: dict[int, Terms] = defaultdict(lambda: defaultdict(list))
    for item in items:
        for group, kind in ((item.phrases, "phrase"), (item.named, "named")):
            for phrase in group:
                for number, match in words.search(phrase):
                    found[number][item.name].append(Term(*match.span(), kind))
        for pattern in item.patterns:
            for match in pattern.finditer(joined):
                number = bisect_right(starts, match.start()) - 1
                start, end = match.start() - starts[number], match.end() - starts[number]
                if 0 <= start < end <= len(lowered[number]):
                    found[number][item.name].append(Term(start, end, "pattern"))
    for item in items:
        for pattern in item.excluded:
            for number, here in found.items():
                if item.name in here and pattern.search(lowered[number]):
                    del here[item.name]
    return {number: {name: outermost(places) for name, places in here.items()} for number, here in found.items() if here}


def outermost(places: list[Term]) -> list[Term]:
    """Places sorted, without those that lie inside another phrase of the same item. A pattern, which may reach far, hides
    no phrase; a phrase that is a value too is told as one."""
    out: list[Term] = []
    for place in sorted(set(places), key=lambda p: (p.kind == "pattern", p.start, -p.end, p.kind != "named")):
        outer = next((k for k, known in enumerate(out) if known.start <= place.start and place.end <= known.end), None)
        if outer is None:
            out.append(place)
        elif place.kind == "named":
            out[outer] = out[outer]._replace(kind="named")
    return sorted(out)


def own(here: Terms, numeric: set[str]) -> Terms:
    """The terms without those that are part of a longer phrase of another item whose value is a number: the "steps" of
    "warm-up steps", but not the "learning rate" of "constant learning rate"."""
    wide = [(name, place) for name in numeric for place in here[name] if place.kind == "phrase"]

    def within(name: str, place: Term) -> bool:
        for other, outer in wide:
            if other == name or place.end != outer.end or outer[:2] == place[:2]:
                continue
            if outer.start <= place.start or (place.kind == "pattern" and outer.end - outer.start > 9):
                return True  # also a pattern's "4000 warm-up steps"
        return False

    kept = {name: [place for place in places if not within(name, place)] for name, places in here.items()}
    return {name: places for name, places in kept.items() if places}


LINK = re.compile(
    r"(?: (?:of|for|in|per) (?:[a-z]+ ){1,2}(?=is|are|was|to|=))?[\s$~]*(?:\([^()]{0,30}\)|\$[^$]{1,20}\$|[a-z]{2,12})?[\s$~]*"
    r"(?:is|was|are|were|of|to|at|=|:|\||set to|fixed to|by|with|for|equal to|in|from|between|\\in|\\sim|\\approx|\\leq?)?"
    r"[\s$~{\\]*(?:a|an|the|about|around|approximately|all|fixed at)?[\s$~(\[{\\]*$", re.I)
COORDINATED = re.compile(r"s?,? (?:and|or) |s?, (?=[a-z])")
OWN_UNIT = 18.0  # how far a number is from the words "steps" that only say what it counts
TOTALS = frozenset(("depth", "training-length", "batch-size", "hidden-size"))
COUNTED = re.compile(r"\b(?:every|each|per|divisible by)[\s$~]*$")  # "every 5 layers" is no number of layers
PRODUCT = re.compile(r"(?:×|\bx|\\times|\\cdot)[\s${}]*$")
TIMES = re.compile(r"[\s${}]*(?:×|x\b|x(?=\d)|\\times|\\cdot)")
IN_FORMULA = re.compile(r"\s*\$?\s*[-−+/]\s*(?:√|\\sqrt|\\beta|[α-ω]|\()")
CHAIN = re.compile(r"[^\d,;.$]*=[^\d,;.$]*")


def distance(text: str, term: Term, number: Number) -> float:
    """How far a number is from an item's words, in characters, with what separates them counted extra."""
    start, end = term.start, term.end
    low, high = number.span
    if low < end and start < high:
        return 0.0
    if low >= end:
        between = text[end:low]
        far = float(len(between))
        if LINK.match(between):
            return min(far, 4.0)
        if CHAIN.fullmatch(between):  # d_k = d_v = d_model / h = 64
            return min(far, 6.0)
    else:
        between = text[high:start]
        far = len(between) * 1.5 + (60 if re.search(r"\b(?:every|each|per)\b", between) else 3)
        if re.fullmatch(r"[\s~$-]*(?:(?!(?:and|with|of|for|in|to|per|at|by|on|from|using)\b)[a-z]+[\s-]){0,3}", between, re.I):
            far = min(far, 6.0)
    return far + 12 * len(re.findall(r"[;:]|\.\s", between)) + 6 * len(re.findall(r",\s|\band\b|\bwhile\b|\(|\)", between))


def is_in_formula(text: str, number: Number) -> bool:
    """Whether a number is a term of a written-out formula: the 1 of "1/√t" and of "1 − β"."""
    return bool(IN_FORMULA.match(text, number.span[1]))


def is_unit(text: str, place: Term, number: Number) -> bool:
    """Whether words are the number's own unit ("100k steps"), and not a name that it belongs to."""
    return number.unit is not None and 0 <= place.start - number.span[1] <= 2 and " " not in text[place.start:place.end]


def attribute(statement: Statement, here: Terms, found: list[Number], items: dict[str, Item]) -> dict[str, list[Value]]:
    """To which items each number of a sentence belongs: to the nearest words of an item that can have such a value.

    Only items whose value is always a number compete; where a value may be a word too, the number is offered as well.
    """
    out: dict[str, list[Value]] = defaultdict(list)
    here = own(here, {name for name in here if items[name].value == "number"})
    for number in found:
        if number.kind not in (VALUE, NAME) or is_in_formula(statement.text, number):
            continue
        counted = bool(COUNTED.search(statement.text, 0, number.span[0]))
        product = bool(PRODUCT.search(statement.text[max(0, number.span[0] - 12):number.span[0]]) or TIMES.match(statement.text, number.span[1]))
        ways = []
        for name, places in here.items():
            item = items[name]
            if not item.takes(number) or (number.text.isalpha() and number.unit not in item.units):
                continue
            if number.kind == NAME and not any(place.start <= number.span[0] < place.end for place in places):
                continue
            if (counted and name in TOTALS) or (product and "pixel" not in item.units and item.units[:1] != ("example",)):
                continue
            far = min(distance(statement.text, place, number) for place in places if not is_unit(statement.text, place, number)) \
                if not all(is_unit(statement.text, place, number) for place in places) else OWN_UNIT
            if number.unit and number.unit in item.units and far != OWN_UNIT:
                far = max(0.0, far - 15)
            ways.append((far, name))
        nearest = min((far for far, name in ways if items[name].value == "number"), default=REACH)
        for far, name in ways:
            if far <= REACH and (far <= nearest + 4 or far <= 6):
                out[name].append(Value(number.text, number, far <= 25))
    for name, places in here.items():  # "the weight decay and momentum are 0.05 and 0.9": the first of several gets its number too
        if items[name].value == "number" and name not in out:
            ends = [place.end for place in places if COORDINATED.match(statement.text, place.end)]
            fitting = [number for number in found for end in ends if number.kind == VALUE and 0 < number.span[0] - end <= REACH
                       and items[name].takes(number) and not number.text.isalpha()]
            if fitting:
                out[name].append(Value(fitting[0].text, fitting[0]))
    return out


CAN_BE_ABSENT = frozenset(
    "dropout-rate weight-decay warm-up label-smoothing gradient-clipping ema accumulation augmentation test-time-augmentation guidance "
    "normalisation masking regularisation condition-dropping".split())
# Items whose named values papers speak of a lot without using them: they count where the words say that they are used.
USED = frozenset(("optimiser", "activation", "normalisation", "precision", "software", "sampler"))
USING = re.compile(r"\b(?:us(?:e[sd]?|ing)|with|employ\w*|adopt\w*|appl\w+|train\w*|optimi[sz]\w*|via|by|choose|chose|choice of|set "
                   r"to|in|is|are|based on|"
                   r"implement\w*|follow\w*|followed by|replac\w+|through|have|has|introduc\w+|:|=)\b[^.;]{0,48}$|[:=|]\s*$", re.I)
USED_AFTER = re.compile(r"\W{0,3}(?:(?:\([^()]{0,60}\)|\[[^\]]{0,30}\])\W{0,2})?(?:optimi[sz]er|activations?|non-?linearit\w+|is used|"
                        r"are used|was used|layers?\b|"
                        r"with\b|precision|stepsize|learning|format|function)", re.I)


def is_used(text: str, place: Term) -> bool:
    """Whether the words around a named value say that it is used: "trained with AdamW", "ReLU activation"."""
    return bool(USING.search(text[max(0, place.start - 70):place.start]) or USED_AFTER.match(text, place.end))


ABSENT = re.compile(r"\b(?:no|without|not use|neither)\s+(?:any\s+|an?\s+)?$", re.I)
SEVERAL = re.compile(r"[\s\-‐‑]")


def from_prose(statement: Statement, here: Terms, found: list[Number], items: dict[str, Item], score: float) -> list[Evidence]:
    """The evidence in a sentence, a caption's or footnote's sentence, a line of an algorithm or an equation."""
    owned = attribute(statement, here, found, items) if any(items[name].value in ("number", "either") for name in here) else {}
    out = []
    for name, places in here.items():
        item = items[name]
        values = list(owned.get(name, ()))
        values += [Value(statement.text[place.start:place.end]) for place in places
                   if place.kind == "named" and (item.name not in USED or is_used(statement.text, place))]
        values += [Value(statement.text[none.start():place.end]) for place in places if name in CAN_BE_ABSENT
                   and (none := ABSENT.search(statement.text, max(0, place.start - 24), place.start))]
        if item.value == "number":
            states = bool(values) and score > -1.0 and statement.kind != "equation"
        elif item.value == "words":  # a phrase of several words, or a pattern, says more than one word
            states = score >= (0.6 if any(place.kind == "pattern" or SEVERAL.search(statement.text, *place[:2]) for place in places)
                               else 1.0)
        else:
            states = (score >= 1.0 and name not in USED) if not values else score >= 0.0
        gain = (1.0 if values else 0.0) + (0.5 if any(value.sure for value in values) else 0.0)
        out.append(Evidence(name, statement, STATES if states else MENTIONS, score + gain,
                            tuple((place.start, place.end) for place in places), tuple(values)))
    return out


def from_row(statement: Statement, here: Terms, items: dict[str, Item]) -> list[Evidence]:
    """The evidence in a table's row: a cell that names an item, and the values in the cells that follow it."""
    places, at = [], 0
    cells = [cell for cell in statement.cells if cell]
    here = own(here, {name for name in here if items[name].value == "number"})
    for cell in cells:
        places.append((at, at + len(cell)))
        at += len(cell) + 3
    named_cells = {index for index, (start, end) in enumerate(places)
                   for spots in here.values() for spot in spots if spot.start >= start and spot.end <= end}
    out = []
    for name, spots in here.items():
        item, values, heads = items[name], [], []
        for low, high, kind in spots:
            named = kind == "named"
            index = next((k for k, (start, end) in enumerate(places) if start <= low and high <= end), None)
            if index is None:
                continue
            if re.search(r"[A-Za-z]\s*\([^)]*$", cells[index][:low - places[index][0]]):
                continue  # "ramp (steps)": the unit of another thing
            heads.append((low, high))
            if named:
                values.append(Value(statement.text[low:high], None, True))
            inside = [number for number in numbers(cells[index]) if item.takes(number) and number.kind != INDEX]
            after = []
            for later in range(index + 1, len(cells)):
                if later in named_cells and not numbers(cells[later]):
                    break
                after += [Value(number.text, number, True) for number in numbers(cells[later]) if item.takes(number)]
                if item.value in ("name", "words", "either") and not numbers(cells[later]):
                    after.append(Value(cells[later], None, True))
            values += after or ([Value(number.text, number, True) for number in inside] if named or len(cells) > 1 else [])
        if not heads:
            continue
        labelled = any(spot.kind != "named" for spot in spots) or (item.group in ("architecture", "training") and name not in USED)
        states = bool(values) and labelled and not statement.related and len(cells) > 1
        out.append(Evidence(name, statement, STATES if states else MENTIONS, 1.6 + (1.0 if values else 0.0),
                            tuple(heads), tuple(values)))
    return out


def from_columns(said: list[Statement], found: dict[int, Terms], items: dict[str, Item]) -> list[Evidence]:
    """The evidence in a table's columns: a head that names an item, and the values under it, row by row."""
    out = []
    heads: dict[str, list[tuple[int, Statement]]] = defaultdict(list)
    for number, statement in enumerate(said):
        if statement.kind == "row":
            heads[statement.item].append((number, statement))
    for rows in heads.values():
        shown: dict[tuple[str, int], int] = defaultdict(int)
        for head_number, head in rows[:2]:
            if head.row > 2 or (head is not rows[0][1] and sum(c.isdigit() for c in head.text) * 4 > len(head.text)):
                continue
            at, columns = 0, []
            for index, cell in enumerate(head.cells):
                if cell:
                    columns.append((index, at, at + len(cell)))
                    at += len(cell) + 3
            for name, spots in found.get(head_number, {}).items():
                item = items[name]
                if item.value not in ("number", "either", "name"):
                    continue
                for index, start, end in columns:
                    if index == 0 and len(head.cells) > 1 and not head.cells[0]:
                        continue
                    if not any(start <= spot.start and spot.end <= end and (item.value != "name" or spot.kind != "named") for spot in spots):
                        continue
                    for _, row in rows:
                        if row.row <= head.row or index >= len(row.cells) or (row.row == 2 and looks_like_header(row.cells)):
                            continue
                        if item.value == "name":
                            cell = row.cells[index]
                            given = [Value(cell, None, True)] if cell and not numbers(cell) and shown[name, index] < ROWS_A_COLUMN else []
                            if given and name in USED:
                                shown[name, index] += 1
                                tier = MENTIONS if row.related else STATES
                                out.append(Evidence(name, row, tier, 2.0 - 0.3 * shown[name, index], (), tuple(given), head.cells[index]))
                            continue
                        here = [number for number in numbers(row.cells[index]) if item.takes(number)]
                        if any(item.takes(number) for number in numbers(head.cells[index])):
                            break  # a head "batch size = 1" has its value itself
                        if not here or shown[name, index] >= ROWS_A_COLUMN:
                            continue
                        shown[name, index] += 1
                        out.append(Evidence(name, row, MENTIONS if row.related else STATES, 2.0 - 0.3 * shown[name, index], (),
                                            tuple(Value(number.text, number, True) for number in here), head.cells[index]))
    return out


def from_spanning(said: list[Statement], found: dict[int, Terms], items: dict[str, Item]) -> list[Evidence]:
    """The evidence in rows whose first cell is empty because the one above reaches down over them."""
    out = []
    label: tuple[int, Statement] | None = None
    for number, statement in enumerate(said):
        if statement.kind != "row":
            label = None
            continue
        if statement.cells[0] or label is None or label[1].item != statement.item:
            label = (number, statement) if statement.cells[0] and any(statement.cells[1:]) else None
            continue
        reach = len(label[1].cells[0])
        for name, spots in found.get(label[0], {}).items():
            if items[name].value in ("number", "either") and any(spot.end <= reach for spot in spots):
                values = [Value(number.text, number, True) for cell in statement.cells for number in numbers(cell)
                          if items[name].takes(number)]
                if values:
                    tier = MENTIONS if statement.related else STATES
                    out.append(Evidence(name, statement, tier, 1.5, (), tuple(values), label[1].cells[0]))
    return out


def best_first(entries: Iterable[Evidence]) -> list[Evidence]:
    """One entry a statement, those that state before those that mention, higher scores first, else in the paper's order."""
    kept: dict[tuple[int, str], Evidence] = {}
    for entry in entries:
        key = (entry.statement.number, entry.column)
        if key not in kept or kept[key].score < entry.score:
            kept[key] = entry
    return sorted(kept.values(), key=lambda e: (e.tier != STATES, -round(e.score, 1), e.statement.number))
