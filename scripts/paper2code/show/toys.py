"""Toy sizes: every setting that is a size or a count, small enough for a check, in the proportions that the paper's own numbers have.

A setting is known by the checklist's name of its row, by its key, or by the words of its row. What is divided by what stays so, an
equation of the ledger's relations that does not depend on the scale stays true, and what cannot be kept at a small size keeps the
paper's.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from paper2code.check import expression
from paper2code.check.ledger import NOT_APPLICABLE, Item, Ledger

# Role → the value that its largest setting becomes; the others follow in proportion.
CAPS = {
    "width": 8,
    "heads": 2,
    "depth": 2,
    "classes": 5,
    "vocabulary": 7,
    "length": 5,
    "image": 16,
    "patch": 4,
    "batch": 4,
    "epochs": 6,
    "steps": 40,
    "rounds": 3,
    "examples": 20,
    "resamples": 200,
}
BY_ITEM = {
    "depth": "depth",
    "hidden-size": "width",
    "heads": "heads",
    "head-size": "width",
    "feed-forward-size": "width",
    "vocabulary-size": "vocabulary",
    "maximum-length": "length",
    "batch-size": "batch",
    "input-size": "image",
}
# What looks like a size and is none: what names a thing, what a small input could not do without.
KEPT = re.compile(
    r"seed|\bids?\b|index|\bpad|padding|kernel|filter size|window|stride|pool|dilat|n ?gram|power|exponent|order|degree|separator|class weight"
    r"|accumul|patience|version|precision|bits|port|threshold|correction|labels?\b(?! count)|factor\b",
    re.I,
)
ROLES = (
    ("resamples", r"n ?boot|bootstrap\w*|resamples?|replicates"),
    ("rounds", r"rounds?|generations|cycles"),
    ("epochs", r"epochs?"),
    ("steps", r"(?:time)?steps?|iterations?|iters?|updates?|warm ?up|drops?|milestones?|decay (?:at|steps)"),
    ("batch", r"(?:micro|mini)? ?batch(?:es)?(?: size)?"),
    ("patch", r"patch(?: size)?"),
    ("image", r"image(?: (?:size|height|width))?|resolution|crop(?: size)?|height"),
    ("heads", r"heads?"),
    ("vocabulary", r"vocab(?:ulary)?(?: size)?"),
    ("classes", r"(?:n |num )?classes|categories"),
    ("depth", r"layers?|depth|blocks?|modules?|stages?|repeats"),
    ("length", r"(?:max(?:imum)?|seq(?:uence)?|context|source|target|input)? ?len(?:gth)?|tokens|positions|n ?frames|horizon"),
    ("examples", r"(?:n |num )?(?:\w+ )?(?:examples|samples|points|pairs|images|documents|episodes)"),
    (
        "width",
        r"hidden(?: (?:size|dim|units|width))?|d ?model|widths?|dims?|dimensions?|d ?ff|d ?ffn|d ?inner|d ?k|d ?v|d ?head|head dim|channels?|units"
        r"|features?|embed(?:ding)?(?: (?:size|dim))?|latent(?: dim)?|n ?pixels|bottleneck|experts?|rank",
    ),
)
PATTERNS = [(role, re.compile(rf"\A(?:n |num |number of |total |max )?(?:\w+ )?(?:{words})(?: \w+)?\Z", re.I)) for role, words in ROLES]
COUNTED = (  # words after a number in a quote
    ("epochs", "epochs?"),
    ("steps", r"(?:\w+ )?(?:steps|iterations|updates)"),
    ("depth", r"(?:\w+ )?(?:layers|blocks)"),
    ("heads", "(?:attention )?heads"),
)
TRIES = 20_000


@dataclass
class Toy:
    """A setting and what it becomes. `item`: its row."""

    path: str
    role: str
    value: object  # an int, or a list of them
    item: Item

    @property
    def numbers(self) -> list[int]:
        return self.value if isinstance(self.value, list) else [self.value]


def plain(text: str) -> str:
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[_.\-/]+", " ", text).lower().split())


def role_of(item: Item, names: dict[str, str]) -> str:
    """What kind of size a setting is; "" where it is none that can be made small. `names`: other names of the checklist's sizes."""
    key = plain(item.config.rpartition(".")[2])
    if item.item in BY_ITEM:
        return BY_ITEM[item.item]
    if item.item in ("training-length", "training length", "warm-up"):
        return "epochs" if re.search(r"epoch", key) or (not re.search(r"step|iter|update", key) and re.search(r"\bepochs?\b", item.quote)) else "steps"
    if KEPT.search(key):
        return ""
    for role, whole in PATTERNS:
        if whole.match(key):
            return role
    if item.item == "seeds":
        return ""
    if re.fullmatch(r"(?:n |num )?(?:train(?:ing)?|valid(?:ation)?|test|dev|total)?(?: ?set)? ?size|train|valid(?:ation)?|test|dev", key):
        return "examples" if item.group in ("data", "evaluation") else ""
    for text in (plain(item.item), plain(item.id)):
        if KEPT.search(text):
            return ""
        for role, whole in PATTERNS:
            if whole.match(text) and not re.search(r"\bstd\b|deviation|rate", text):
                return role
    # "every 100 iterations": the quote says what is counted.
    if type(item.value) is int:
        number = rf"(?<![\d.,])(?:{item.value}|{item.value:,})[ -]"
        for role, words in COUNTED:
            if re.search(rf"{number}{words}\b", item.quote, re.I):
                return role
    return BY_ITEM.get(names.get(item.config.rpartition(".")[2], ""), "")


def sized(items: Iterable[Item], names: dict[str, str]) -> list[Toy]:
    """The settings that have a role, with the paper's values."""
    out = []
    for item in items:
        value = item.value
        whole = type(value) is int or (isinstance(value, list) and value and all(type(part) is int for part in value))
        if whole and item.config and item.status != NOT_APPLICABLE and (role := role_of(item, names)):
            out.append(Toy(item.config, role, value, item))
    return out


def shrunk(values: set[int], cap: int, most: int) -> dict[int, int]:
    """The values of one role made small together, in order and in proportion where that leaves them whole and apart."""
    top = max(values)
    if top <= cap:
        return {value: value for value in values}
    positive = sorted(value for value in values if value > 0)
    least = positive[0]
    out = {value: value for value in values if value <= 0}
    if len(positive) == 1:
        return {**out, top: cap}
    ratios = [value // least for value in positive]
    base = max(2, min(4, least)) if least > 1 else 1
    if all(value % least == 0 for value in positive) and base * ratios[-1] <= most:  # 64, 128, 256 → 4, 8, 16
        return {**out, **{value: base * ratio for value, ratio in zip(positive, ratios, strict=True)}}
    small = {value: max(2 if value > 1 else 1, round(value * cap / top)) for value in positive}
    if len(set(small.values())) == len(positive):
        return {**out, **small}
    last = 0
    for value in positive:  # in order, though no longer in proportion
        small[value] = last = min(max(small[value], last + 1), value)
    return {**out, **small}


class Demands:
    """What has to hold of the toy sizes, since it holds of the paper's."""

    def __init__(self, toys: list[Toy], ledger: Ledger):
        self.toys = toys
        self.paper = {name: value for name, value in ledger.values().items()}
        self.ids = {toy.item.id.replace("-", "_"): toy.path for toy in toys}
        self.rules: list[tuple[set[str], object]] = []
        one = {toy.path: toy.value for toy in toys if isinstance(toy.value, int) and toy.value > 0}
        roles = {toy.path: toy.role for toy in toys}
        for big, small in itertools.permutations(one, 2):
            pair = (roles[big], roles[small])
            near = big.rpartition(".")[0] == small.rpartition(".")[0]
            if pair in (("width", "heads"), ("image", "patch"), ("batch", "batch")) and near and one[big] % one[small] == 0 and one[big] > one[small]:
                self.rules.append(({big, small}, lambda now, big=big, small=small: now[big] % now[small] == 0))
        for head in one:
            if not re.search(r"d ?k|d ?v|head", plain(head.rpartition(".")[2])) or roles[head] != "width":
                continue
            for many, whole in itertools.permutations(one, 2):
                if roles[many] == "heads" and roles[whole] == "width" and whole != head and one[head] * one[many] == one[whole]:
                    self.rules.append(({head, many, whole}, lambda now, head=head, many=many, whole=whole: now[head] * now[many] == now[whole]))
        for row in ledger.relations:
            self.relation(str(row.fields.get("expr") or ""), one)

    def relation(self, expr: str, one: dict[str, int]) -> None:
        """A relation that is about proportions, or whose result is another setting."""
        try:
            used = set(expression.names(expr))
            mine = {name if name in one else self.ids.get(name, "") for name in used} & {toy.path for toy in self.toys}
            result = expression.evaluate(expr, self.paper)
            if not mine:
                return
            double = self.value(expr, {path: [2 * part for part in toy.value] if isinstance(toy.value, list) else 2 * toy.value
                                       for toy in self.toys for path in [toy.path] if path in mine})
        except (expression.NotArithmetic, ArithmeticError, TypeError, KeyError, IndexError, ValueError):
            return
        scaleless = abs(double - result) <= 1e-9 * max(1.0, abs(result))
        alike = len({toy.role for toy in self.toys if toy.path in mine}) == 1
        other = next((path for path, value in one.items() if path not in mine and value == result and value > 1), None)
        if result == 0 or (scaleless and (alike or (other is None and result == 1))):
            self.rules.append((mine, lambda now: abs(self.value(expr, now) - result) <= 1e-9 * max(1.0, abs(result))))
        elif other is not None:
            self.rules.append((mine | {other}, lambda now: self.value(expr, now) == now[other]))

    def value(self, expr: str, now: dict[str, object]) -> float:
        ids = {toy.item.id.replace("-", "_"): now[toy.path] for toy in self.toys if toy.path in now}
        return expression.evaluate(expr, {**self.paper, **ids, **now})

    def broken(self, now: dict[str, object]) -> list[set[str]]:
        out = []
        for paths, rule in self.rules:
            try:
                good = rule(now)
            except (expression.NotArithmetic, ArithmeticError, TypeError, KeyError, IndexError, ValueError):
                good = False
            if not good:
                out.append(paths)
        return out


def choose(items: Iterable[Item], ledger: Ledger, names: dict[str, str]) -> dict[str, object]:
    """Config path → toy value, where it differs from the paper's."""
    toys = sized(items, names)
    if not toys:
        return {}
    now: dict[str, object] = {}
    for role in dict.fromkeys(toy.role for toy in toys):
        mine = [toy for toy in toys if toy.role == role]
        # Lists of widths are stages of one network: their proportions stay their own.
        groups = [[toy] for toy in mine] if role == "width" else [mine]
        for group in groups:
            small = shrunk({number for toy in group for number in toy.numbers}, CAPS[role], CAPS[role] * (4 if role == "width" else 1))
            now |= {toy.path: [small[part] for part in toy.value] if isinstance(toy.value, list) else small[toy.value] for toy in group}
    demands = Demands(toys, ledger)
    paper = {toy.path: toy.value for toy in toys}
    if broken := demands.broken(now):
        # What hangs together with a broken demand, over all demands that share a setting with it.
        loose = set().union(*broken)
        while more := set().union(*[paths for paths, _ in demands.rules if paths & loose]) - loose:
            loose |= more
        # Nearest to what was chosen first; the settings that small values suit least (heads) last.
        loose = sorted(loose, key=lambda path: next(toy.role for toy in toys if toy.path == path) == "heads")
        options = [candidates(now[path], paper[path]) for path in loose]
        for combination in itertools.islice(sorted_product(options), TRIES):
            tried = {**now, **dict(zip(loose, combination, strict=True))}
            if not demands.broken(tried):
                now = tried
                break
        else:
            now |= {path: paper[path] for path in loose}
    return {path: value for path, value in now.items() if value != paper[path]}


def candidates(first: object, paper: object) -> list[object]:
    """Values that a setting may become, the preferred one first."""
    if isinstance(paper, list):
        return [first, paper]
    return list(dict.fromkeys([first, *(value for value in (4, 2, 8, 16, 6, 12, 32, 3, 1, 24, 64) if value < paper), paper]))


def sorted_product(options: list[list[object]]) -> Iterable[tuple]:
    """All combinations, those near the heads of the lists first."""
    most = sum(len(each) - 1 for each in options)
    for far in range(most + 1):
        yield from at_distance(options, far)


def at_distance(options: list[list[object]], far: int) -> Iterable[tuple]:
    if not options:
        if far == 0:
            yield ()
        return
    for step in range(min(far, len(options[0]) - 1) + 1):
        for rest in at_distance(options[1:], far - step):
            yield (options[0][step], *rest)
