"""One quantity given two values in two places, and arithmetic between stated values.

Told apart are values of different models, data sets, phases and ablations: a pair is reported when nothing in the two
statements, their captions, heads or sections says that they speak of different things. What is reported is where to look;
which side holds is said only where a rule decides (equation over prose, text over figure, method section over abstract,
algorithm over prose, appendix table over prose).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from paper2code.find.statements import Statement
from paper2code.find.sweep import STATES, Evidence, Sweep, bearing
from paper2code.find.values import VALUE, Number, numbers, spans
from paper2code.paper import Paper

LIKELY, POSSIBLE = "likely", "possible"
SHOWN = 40


@dataclass(frozen=True)
class Side:
    """One of the two: the statement and the value it gives, as written."""

    statement: Statement
    value: str


@dataclass(frozen=True)
class Contradiction:
    """`about`: the checklist item, or the formula. `strength`: likely (both speak of the same thing, as far as the words
    tell) or possible (only one of them says what it speaks of). `rule`: which side holds and why, or that no rule decides."""

    about: str
    first: Side
    second: Side
    strength: str
    rule: str


@dataclass(frozen=True)
class Relation:
    """Arithmetic that the paper states. `expr` with plain numbers, `equals` as stated, `result` as recomputed. `form`:
    product, sum, difference, quotient, percentage, average or count."""

    about: str
    expr: str
    equals: Decimal
    result: Decimal
    holds: bool
    statement: Statement
    form: str


# --- what a statement speaks of -------------------------------------------------------------------------------------------

PHASES = {
    "pretraining": r"pre-?train", "finetuning": r"fine-?tun|downstream|\bsft\b", "inference": r"inference|at test time|decoding|"
                                                                                              r"sampling|"
    r"generation|evaluat", "reinforcement": r"\brl\b|reinforcement", "distillation": r"distill", "first": r"\bfirst (?:phase|stage|"
                                                                                                          r"step)",
    "second": r"\bsecond (?:phase|stage|step)", "extension": r"context (?:length )?extension|long[- ]context", "probe": r"linear prob",
    "search": r"\b(?:sweep|swept|grid search|search(?:ed)?|tun(?:e|ed|ing)|select(?:ed)? from|candidates?)\b",
}
PARTS = ("encoder decoder generator discriminator actor critic teacher student policy value adapter adapters router head embedding "
         "attention convolution convolutional backbone classifier predictor projector mlp fully-connected prompt prompts lora baseline "
         "baselines ablation ablations variant variants toy synthetic warm-up ema numerical categorical query key inner outer "
         "hypernetwork autoencoder vae tokenizer tokeniser detector descriptor descriptors transformer lstm cnn unet u-net").split()
SIZES = "base large small big tiny xl xxl huge medium mini nano deep shallow long short low high".split()
PHASE = {name: re.compile(pattern, re.I) for name, pattern in PHASES.items()}
PART = re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, PARTS), key=len, reverse=True)) + r")\b", re.I)
SIZE = re.compile(r"\b(?:" + "|".join(SIZES) + r")\b(?=[\s)-]*(?:models?|networks?|variants?|versions?|transformers?|config\w*|"
                                               r"settings?|sizes?|"
                  r"encoders?|decoders?|[)|,.;:]|$))|\b\d+(?:\.\d+)?[BM]\b", re.I)
PROPER = re.compile(r"\b(?:[A-Z][a-z]+[A-Z]|[A-Z]{2,}|[A-Z][a-z]*-?\d)[\w+/-]*|\b[A-Z]\w*(?:-(?:to-)?[A-Z]\w*)+")
COMMON = re.compile(r"^(?:adam\w*|sgd|gpus?|tpus?|cpus?|nvidia|lr|bs|relu|gelu|eq|eqn|fig|tab|we|wd|ema|iid|id|ffn|ln|layernorm|mlp|"
                    r"[vahp]100|"
                    r"rmsprop|pytorch|jax|tensorflow|h800|rtx|ours|bf16|fp16|fp32|fp8|cosine|relu|sota|t|k|n|b|l)$", re.I)
VARIED = re.compile(r"\binstead of\b|\bvar(?:y|ied|ying)\b|\bdifferent\b|\bablat|\bswe(?:ep|pt)\b|\bgrid search\b|\bsearch(?:ed)? "
                    r"(?:over|space)|"
                    r"\bcompar|\brang(?:e|ing)\b|\bincreas|\bdecreas|\breduc|\bdecay|\blarger\b|\bsmaller\b|\brespectively\b|"
                    r"\bexcept\b|"
                    r"\bonly\b|\bper (?:gpu|device)\b|\bsensitiv|\beffect of\b|\bup to\b|\bat least\b|\bat most\b|\bmore than\b|"
                    r"\bless than\b|"
                    r"\bbaseline of that name\b|\bunlike\b|\bwhile\b|\bwhereas\b|\beach of\b|\bevery\b|\bfirst \d|\blast \d|"
                    r"\bremaining\b|\badditional", re.I)

GENERAL = re.compile(r"experiment|implement|training|set-?up|setting|hyper|details?\b|architect|method|approach|optimi|regulari|"
                     r"abstract|introduction|conclusion|overview|model|configur|schedule|objective|results?$|appendix|protocol|data", re.I)


@dataclass(frozen=True)
class About:
    """What a statement says it speaks of: names (models, data), sizes, phases and parts."""

    names: frozenset[str]
    sizes: frozenset[str]
    phases: frozenset[str]
    parts: frozenset[str]
    scope: str = ""  # a section's title that names one experiment of several

FLOATING = ("caption", "row", "line")  # where these are set says little of what they belong to


def about(statement: Statement, column: str = "") -> About:
    text = f"{statement.text} {column}"
    titled = f"{text} {statement.title}"
    names = frozenset(name.lower().replace("-to-", "-") for name in PROPER.findall(text) if not COMMON.match(name))
    return About(names, frozenset(match.lower() for match in SIZE.findall(text)),
                 frozenset(name for name, pattern in PHASE.items() if pattern.search(titled)),
                 frozenset(match.lower() for match in PART.findall(text)),
                 "" if GENERAL.search(statement.title) or not statement.section or statement.kind in FLOATING else statement.section)


def same(one: About, other: About) -> str | None:
    """How sure it is that two statements speak of the same thing; None when they say that they do not."""
    strength = LIKELY if bool(one.scope) == bool(other.scope) else POSSIBLE
    if one.scope and other.scope and one.scope != other.scope:
        return None
    for a, b in ((one.names, other.names), (one.sizes, other.sizes), (one.phases, other.phases), (one.parts, other.parts)):
        if a and b and not a & b:
            return None
        if a != b:
            strength = POSSIBLE
    return strength


# --- numbers --------------------------------------------------------------------------------------------------------------

SINGLE = frozenset(
    "learning-rate batch-size betas optimiser-epsilon weight-decay warm-up training-length dropout-rate label-smoothing "
    "gradient-clipping heads head-size hidden-size feed-forward-size depth vocabulary-size maximum-length ema seeds patch-size rank "
    "temperature discount replay-buffer target-update clip-range guidance kl-weight latent-space experts masking accumulation "
    "adapter-scaling preference-beta diffusion-steps entropy-coefficient evaluation-episodes rollout condition-dropping".split())
TRAINED = re.compile(r"train|optimi|fine-?tun", re.I)


def claims(swept: Sweep) -> Iterator[tuple[str, Evidence, Number]]:
    """The single values that statements give: (quantity, evidence, number). A quantity is an item, with the index of a symbol
    where it has one (\\beta_1) and the unit where steps and epochs must not be compared."""
    for item in swept.items:
        if item.name not in SINGLE:
            continue
        for entry in swept.evidence[item.name]:
            statement = entry.statement
            if entry.tier != STATES or entry.column or statement.related or statement.kind in ("heading", "title", "equation"):
                continue
            if item.name == "training-length" and statement.kind != "row" and not TRAINED.search(statement.text):
                continue
            given = [value.number for value in entry.values if value.number and value.sure and value.number.kind == VALUE
                     and (not value.text.isalpha() or value.number.unit == "epoch")]
            if not given or (statement.kind != "row" and VARIED.search(statement.text)):
                continue
            grouped = {number.span for span in spans(statement.text) for number in span.numbers} if statement.kind != "row" else set()
            if item.name == "betas":
                yield from betas(entry, given)
                continue
            distinct = {number.value for number in given}
            if len(distinct) != 1 or given[0].span in grouped:
                continue
            number = given[0]
            unit = number.unit if item.name in ("training-length", "warm-up", "batch-size", "seeds", "ema") else None
            yield f"{item.name}{f' in {unit}s' if unit and unit != '%' else ''}", entry, number


def betas(entry: Evidence, given: list[Number]) -> Iterator[tuple[str, Evidence, Number]]:
    """β₁ and β₂ apart, by the symbol before each, or by their order where two stand together."""
    text = entry.statement.text
    for place, number in enumerate(given):
        if not Decimal("0.5") <= number.value < 1:  # a bound or a limit
            continue
        before = text[max(0, number.span[0] - 24):number.span[0]]
        symbol = re.findall(r"(?:\\beta|β)_?\{?([12])", before) if entry.statement.kind != "row" else []
        if symbol:
            yield f"betas ({symbol[-1]})", entry, number
        elif len(given) == 2:
            yield f"betas ({place + 1})", entry, number


def parallel(one: Statement, other: Statement) -> bool:
    """Whether two sentences of a section, or of two sections side by side, are the same but for a few words: settings of
    several things, one after the other."""
    beside = one.section == other.section or ("." in one.place and one.place.rpartition(".")[0] == other.place.rpartition(".")[0])
    if not beside or "row" in (one.kind, other.kind):
        return False
    a, b = (re.findall(r"[a-z]{3,}", statement.text.lower()) for statement in (one, other))
    return len(set(a) & set(b)) * 3 >= 2 * max(len(set(a)), len(set(b)))


def unequal(one: Number, other: Number) -> bool:
    readings = {one.value, *one.also}
    return not readings & {other.value, *other.also}


def numeric(swept: Sweep) -> list[Contradiction]:
    """Pairs of single values of one quantity that differ and are not told apart."""
    groups: dict[str, list[tuple[Evidence, Number, About]]] = defaultdict(list)
    for quantity, entry, number in claims(swept):
        groups[quantity].append((entry, number, about(entry.statement, entry.column)))
    out = []
    for quantity, found in groups.items():
        values = len({number.value for _, number, _ in found})
        crowded = values > 4  # a quantity that the paper varies
        seen: set[frozenset[Decimal]] = set()
        pairs = []
        for at, (one, first, of_one) in enumerate(found):
            for other, second, of_other in found[at + 1:]:
                a, b = one.statement, other.statement
                if not unequal(first, second) or (a.item and a.item == b.item) or a.number == b.number:
                    continue
                if a.kind == b.kind != "row" and a.paragraph == b.paragraph:
                    continue
                strength = same(of_one, of_other)
                if strength is None or crowded or (values > 2 and strength == POSSIBLE) or parallel(a, b):
                    continue
                if a.kind == b.kind == "row":  # two tables, of two experiments as a rule
                    strength = POSSIBLE
                if "caption" in (a.kind, b.kind):  # a caption speaks of its own experiment
                    if a.kind == b.kind:
                        continue
                    strength = POSSIBLE
                pair = (one, first, other, second) if a.number < b.number else (other, second, one, first)
                pairs.append((strength, *pair))
        for strength, one, first, other, second in sorted(pairs, key=lambda pair: pair[0] != LIKELY):
            key = frozenset((first.value, second.value))
            if key in seen:
                continue
            seen.add(key)
            out.append(Contradiction(quantity.replace("-", " "), Side(one.statement, first.text), Side(other.statement, second.text),
                                     strength, rule(one.statement, other.statement)))
    return out


# --- words ----------------------------------------------------------------------------------------------------------------

# Choices that exclude each other: statements that take different sides contradict.
CHOICES: dict[str, dict[str, re.Pattern]] = {
    "normalisation-placement": {
        "before": re.compile(r"\bpre-?(?:norm|ln)\b|normali[sz]ed first\b|\bnorm\w*[^.]{0,25}\b(?:before|prior to) (?:each|every|"
                             r"the)\b|"
                             r"\b(?:before|prior to) (?:each|every|the)[^.]{0,30}(?:,| we) [^.]{0,12}normali|input (?:is|"
                             r"of[^.]{0,20}is) normali[sz]ed|"
                             r"norm\w* (?:is|are) (?:applied|placed|used) (?:before|to the input)", re.I),
        "after": re.compile(r"\bpost-?(?:norm|ln)\b|norm\w*[^.]{0,25}\bafter (?:each|every|the)\b|norm\w*\}?\s*\(\s*x\s*\+|followed "
                            r"by (?:a )?layer "
                            r"norm|norm\w* (?:is|are) (?:applied|placed|used) after", re.I)},
    "weight-tying": {
        "tied": re.compile(r"(?<!not )\b(?:is|are) tied\b|\bshare the same weight matrix|\bwe (?:tie|share)\b[^.]{0,60}embedding", re.I),
        "not tied": re.compile(r"\bnot tied\b|\buntied\b|\bnot share[sd]?\b[^.]{0,40}embedding|\bwithout (?:weight )?tying", re.I)},
    "schedule": {
        "cosine": re.compile(r"\bcosine\b", re.I), "inverse square root": re.compile(r"\binverse square[- ]root", re.I),
        "constant": re.compile(r"\bconstant (?:learning[- ]rate|lr)\b|learning rate is (?:kept )?constant", re.I),
        "linear": re.compile(r"\blinear(?:ly)? (?:learning[- ]rate )?(?:decay|anneal|schedule)\w*|(?:decay|anneal|fall|decrease)\w* "
                             r"linearly", re.I)},
}
PLAIN = {"optimiser", "activation", "normalisation"}  # items whose named values exclude each other where one thing is spoken of
ALIKE = {"stochastic gradient descent": "sgd", "momentum sgd": "sgd", "sgd with momentum": "sgd",
         "layer norm": "layernorm", "batch norm": "batchnorm", "glu": ""}


def worded(swept: Sweep) -> list[Contradiction]:
    """Statements that take different sides of a choice: normalised before or after, tied or not, this optimiser or that."""
    out = []
    for item in swept.items:
        sides: list[tuple[str, Statement, str, About]] = []
        for entry in swept.evidence[item.name]:
            statement = entry.statement
            if statement.related or statement.kind in ("heading", "title", "equation") or VARIED.search(statement.text):
                continue
            if item.name in CHOICES:
                taken = [(side, match.group()) for side, pattern in CHOICES[item.name].items() if (match := pattern.search(statement.text))]
                if len(taken) == 1 and (bearing(statement) > 0 or statement.kind == "caption"):
                    sides.append((taken[0][0], statement, taken[0][1], about(statement)))
            elif item.name in PLAIN and entry.tier == STATES and bearing(statement) >= 1.0:
                named = {fold(value.text): value.text for value in entry.values if value.number is None}
                named.pop("", None)
                if len(named) == 1:
                    (side, word), = named.items()
                    sides.append((side, statement, word, about(statement)))
        seen: set[frozenset[str]] = set()
        if item.name in PLAIN and len({side for side, *_ in sides}) > 2:
            continue  # a paper that compares them
        for at, (side, statement, words, of) in enumerate(sides):
            for other_side, other, other_words, of_other in sides[at + 1:]:
                key = frozenset((side, other_side))
                strength = same(of, of_other)
                if side == other_side or key in seen or strength is None or (item.name in PLAIN and strength != LIKELY):
                    continue
                seen.add(key)
                out.append(Contradiction(item.title, Side(statement, words), Side(other, other_words), strength, rule(statement, other)))
    return out


def fold(word: str) -> str:
    plain = re.sub(r"[\s_-]+", " ", word.lower()).strip()
    plain = re.sub(r" (?:activation|function|optimi[sz]er)$", "", plain)
    return ALIKE.get(plain, plain.replace(" ", ""))


# --- formulas -------------------------------------------------------------------------------------------------------------

CALL = re.compile(r"\\(?:operatorname\*?|mathrm|text|mathsf|textrm)\{([A-Za-z]{2,})\}\s*\(|\\(log|exp|min|max|clip)\s*\(|\b(clip|"
                  r"softmax|sigmoid)\s*\(")
TOKENS = re.compile(r"\\[A-Za-z]+|[A-Za-z]|\d+(?:\.\d+)?|[^\sA-Za-z\d\\]")
SPACING = re.compile(r"\\(?:left|right|[bB]igg?[lrm]?|,|;|!|:|quad|qquad|displaystyle|mathbf|mathrm|boldsymbol|bm|mathit|cdot|"
                     r"times)(?![A-Za-z])|\\[,;!: ]|~|\\\s")


def calls(latex: str) -> Iterator[tuple[str, str]]:
    """Named functions in a formula with what stands between their brackets, fractions written with a slash."""
    text = flat(latex)
    for match in CALL.finditer(text):
        depth, end = 1, match.end()
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if not depth:
            yield (match[1] or match[2] or match[3]).lower(), text[match.end():end - 1]


def flat(latex: str) -> str:
    text = re.sub(r"\\(?:left|right|[bB]igg?[lrm]?)(?![A-Za-z])\s*\{?([()\[\]|.])\}?", r"\1", latex)
    for _ in range(4):
        text = re.sub(r"\\[dt]?frac\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", r"(\1)/\2", text)
    return text.replace("\\clip", "\\operatorname{clip}")


def tokens(formula: str) -> list[str]:
    return [token for token in TOKENS.findall(SPACING.sub(" ", formula)) if token not in "{}$"]


def formulas(paper: Paper, said: list[Statement]) -> list[Contradiction]:
    """A function in an algorithm box that nearly, but not quite, has the arguments it has in an equation."""
    from rapidfuzz.distance import Levenshtein

    lines = [(statement, name, tokens(inside)) for statement in said if statement.kind == "line" for name, inside in calls(statement.text)]
    out = []
    for equation in (statement for statement in said if statement.kind == "equation"):
        for name, inside in calls(equation.text):
            there = tokens(inside)
            for line, other, here in lines:
                if other != name or here == there or len(there) < 6:
                    continue
                bare = [[token for token in side if token not in "()"] for side in (here, there)]
                if bare[0] != bare[1] and Levenshtein.normalized_similarity(*bare) >= 0.7:
                    out.append(Contradiction(f"formula: {name}", Side(equation, f"{name}({inside.strip()})"), Side(line, line.text.strip()),
                                             LIKELY, rule(equation, line)))
    return out


# --- which side holds -----------------------------------------------------------------------------------------------------


def rank(statement: Statement) -> str:
    if statement.kind == "equation":
        return "equation"
    if statement.kind == "line":
        return "algorithm box"
    if statement.kind == "row":
        return "appendix table" if statement.appendix else "table"
    if statement.kind == "caption" and statement.place.rpartition(", ")[2].startswith("Figure"):
        return "figure"
    if statement.kind == "abstract":
        return "abstract"
    return "prose"


# As in guardrails/badly_written_papers.md, "Precedence"; the equation's rank is for one that is consistent in itself.
RULES = {("equation", "algorithm box"), ("equation", "prose"), ("equation", "figure"), ("equation", "abstract"), ("prose", "figure"), ("prose", "abstract"),
         ("algorithm box", "prose"), ("algorithm box", "abstract"), ("algorithm box", "figure"), ("appendix table", "prose"),
         ("appendix table", "abstract"), ("appendix table", "figure"), ("table", "abstract"), ("table", "prose"), ("table", "figure")}


def rule(one: Statement, other: Statement) -> str:
    """Which of the two holds by the order of precedence, in words."""
    a, b = rank(one), rank(other)
    if {a, b} == {"equation", "algorithm box"}:
        held, place = ("first", one.place) if a == "equation" else ("second", other.place)
        return f"equation over algorithm box: the {held} holds ({place}), if it is consistent (dimensions, signs, limits); else the box"
    if (a, b) in RULES:
        return f"{a} over {b}: the first holds ({one.place})"
    if (b, a) in RULES:
        return f"{b} over {a}: the second holds ({other.place})"
    return f"no rule decides between {a} and {b}: look at later versions and the official code, choose, and flag it"


# --- results --------------------------------------------------------------------------------------------------------------

MEASURE = re.compile(r"\b(BLEU|FID|ROUGE-?\w*|METEOR|mAP|mIoU|PSNR|SSIM|WER|AUROC|perplexity|accuracy|F1|BPD|exact match)\b")
OURS = re.compile(r"\b(?:we|our|ours|the (?:transformer|model|proposed))\b", re.I)
AGAINST = re.compile(r"\b(?:by|over|than|improv\w+|outperform\w+|gain|increase|drop|worse|better|more|less|difference|"
                     r"points?)\b[^.]{0,30}$", re.I)


def results(swept: Sweep) -> list[Contradiction]:
    """The paper's own result on one task, stated with two values in prose."""
    found: dict[tuple[str, frozenset[str]], list[tuple[Statement, Number, About]]] = defaultdict(list)
    for statement in swept.statements:
        if statement.kind not in ("paragraph", "abstract", "list", "caption") or statement.related or not OURS.search(statement.text):
            continue
        here = numbers(statement.text)
        for match in MEASURE.finditer(statement.text):
            beside = [number for number in here if number.kind == VALUE and number.value >= 1 and "." in number.text
                      and (0 <= number.span[0] - match.end() <= 14 or 0 <= match.start() - number.span[1] <= 3)]
            if len(beside) != 1 or AGAINST.search(statement.text[:beside[0].span[0]]):
                continue
            of = about(statement)
            tasks = frozenset(name for name in of.names if "-" in name or any(char.isdigit() for char in name))
            if tasks:
                found[match[1].lower(), tasks].append((statement, beside[0], of))
    out = []
    for (measure, tasks), entries in found.items():
        for at, (statement, number, of) in enumerate(entries):
            for other, second, of_other in entries[at + 1:]:
                if unequal(number, second) and statement.paragraph != other.paragraph and not (of.sizes and of_other.sizes
                                                                                               and not of.sizes & of_other.sizes):
                    out.append(Contradiction(f"{measure} on {', '.join(sorted(tasks))}", Side(statement, number.text),
                                             Side(other, second.text), POSSIBLE, rule(statement, other)))
    return out[:6]


# --- all, and arithmetic ----------------------------------------------------------------------------------------------------


def settled(entry: Contradiction, paper: Paper) -> Contradiction:
    """A reported number that differs between two texts, where a table prints just one of the two: the table decides."""
    if {rank(entry.first.statement), rank(entry.second.statement)} & {"table", "appendix table"}:
        return entry
    values = [re.sub(r"[^\d.]", "", side.value).strip(".") for side in (entry.first, entry.second)]
    printed: dict[str, str] = {}
    for table in paper.tables:
        for row in table.rows:
            for cell in row:
                for number in re.findall(r"\d+(?:\.\d+)?", cell):
                    printed.setdefault(number, f"Table {table.number}" if table.number else "a table")
    held = [value in printed for value in values]
    if held[0] == held[1]:
        return entry
    side, where = ("first", printed[values[0]]) if held[0] else ("second", printed[values[1]])
    return replace(entry, rule=f"table over prose: the {side} holds, {where} prints it")


ANOTHER = re.compile(r"\b(?:also|instead|another|alternatively|respectively|in contrast|as with|compared (?:to|with)|finally|lastly|\w+ results)\b", re.I)


def softened(entry: Contradiction) -> Contradiction:
    """One section that goes on to another experiment or model, by its own words, has two values because there are two things."""
    sides = (entry.first.statement, entry.second.statement)
    if entry.strength == LIKELY and sides[0].section == sides[1].section and sides[0].item == sides[1].item is None and any(
            ANOTHER.search(side.text) for side in sides):
        return replace(entry, strength=POSSIBLE)
    return entry


def contradictions(paper: Paper, swept: Sweep) -> list[Contradiction]:
    """Everything found, the likely before the possible."""
    found = [*map(softened, (*numeric(swept), *worded(swept))), *formulas(paper, swept.statements), *(settled(entry, paper) for entry in results(swept))]
    return sorted(found, key=lambda entry: entry.strength != LIKELY)[:SHOWN]


OPERATOR = re.compile(r"[\s$}{]*(\\times|\\cdot|×|·|\*|\+|/|−|-)[\s${]*")
EQUALS = re.compile(r"[\s$}{]*(?:=|\\approx|≈)[\s${]*")
SYMBOLS = {"\\times": "*", "\\cdot": "*", "×": "*", "·": "*", "*": "*", "+": "+", "/": "/", "−": "-", "-": "-"}
FORMS = {"*": "product", "+": "sum", "-": "difference", "/": "quotient"}
OPERAND = re.compile(r"(?:[*/+^×·−-]\s*\$?|[A-Za-z}\d)_])$")  # something before it belongs to the calculation
CHANGED = re.compile(r"\b(?:improv|gain|increas|decreas|reduc|drop|differ|relative)\w*", re.I)
CHANGE = re.compile(r"\bfrom\s*\$?\s*$", re.I)


def relations(swept: Sweep, said: Iterable[Statement] | None = None) -> list[Relation]:
    """Products, sums, percentages and averages that the paper writes out, recomputed."""
    out: list[Relation] = []
    rows: dict[str, list[Statement]] = defaultdict(list)
    for statement in swept.statements if said is None else said:
        if statement.kind == "row":
            rows[statement.item or ""].append(statement)
            continue
        if statement.related or statement.kind in ("title", "heading"):
            continue
        found = [number for number in numbers(statement.text) if number.kind == VALUE]
        out += written_out(statement, found)
        out += changes(statement, found)
    for table in rows.values():
        out += averages(table)
    out += products(swept)
    return out


def written_out(statement: Statement, found: list[Number]) -> Iterator[Relation]:
    """`12 × 64 = 768`, `4 + 8 = 12`."""
    text, at = statement.text, 0
    while at < len(found) - 2:
        run, signs, last = [found[at]], [], at
        while last + 1 < len(found):
            gap = text[found[last].span[1]:found[last + 1].span[0]]
            match = OPERATOR.fullmatch(gap)
            if not match:
                break
            signs.append(SYMBOLS[match[1]])
            run.append(found[last + 1])
            last += 1
        if signs and last + 1 < len(found) and EQUALS.fullmatch(text[found[last].span[1]:found[last + 1].span[0]]) \
                and not OPERAND.search(text[max(0, run[0].span[0] - 4):run[0].span[0]]):
            expr = f"{run[0].value:f}" + "".join(f" {sign} {number.value:f}" for sign, number in zip(signs, run[1:], strict=True))
            result = calculated([number.value for number in run], signs)
            if result is not None:
                stated = found[last + 1]
                what = f"{statement.place}: {text[run[0].span[0]:stated.span[1]]}"
                yield relation(what, expr, stated, result, statement, FORMS[signs[0]])
        at = last + 1 if signs else at + 1


def calculated(values: list[Decimal], signs: list[str]) -> Decimal | None:
    """The value of a chain of operations, products first."""
    terms, ops = [values[0]], []
    for sign, value in zip(signs, values[1:], strict=True):
        if sign == "*":
            terms[-1] *= value
        elif sign == "/":
            if value == 0:
                return None
            terms[-1] /= value
        else:
            ops.append(sign)
            terms.append(value)
    total = terms[0]
    for op, term in zip(ops, terms[1:], strict=True):
        total = total + term if op == "+" else total - term
    return total


def relation(what: str, expr: str, stated: Number, result: Decimal, statement: Statement, form: str) -> Relation:
    return Relation(what, expr, stated.value, result, agrees(stated, result, Decimal(1 if form == "average" else "0.5000001")), statement,
                    form)


def agrees(stated: Number, result: Decimal, units: Decimal) -> bool:
    """Whether a stated number is the result, rounded as it is written: off by no more than so many units of its last place
    (a whole one for the mean of numbers that are rounded themselves)."""
    for reading in (stated.value, *stated.also):
        digits = re.search(r"\d[\d,]*(?:\.(\d+))?", stated.text)
        decimals = len(digits[1]) if digits and digits[1] else 0
        written = Decimal(digits.group().replace(",", "")) if digits else reading
        scale = abs(reading / written) if written else Decimal(1)
        if abs(reading - result) <= units * scale * Decimal(1).scaleb(-decimals):
            return True
    return False


def changes(statement: Statement, found: list[Number]) -> Iterator[Relation]:
    """"from 59.6% to 70.5%, an improvement of 10.9": the difference, or the percentage of change."""
    text = statement.text
    for first, second, third in zip(found, found[1:], found[2:], strict=False):
        gaps = text[first.span[1]:second.span[0]], text[second.span[1]:third.span[0]]
        before = text[max(0, first.span[0] - 8):first.span[0]]
        if not (CHANGE.search(before) and re.fullmatch(r"[\s$\\%a-zA-Z]{0,24}\bto\b[\s$]*", gaps[0])):
            continue
        said = CHANGED.search(gaps[1] + text[third.span[1]:third.span[1] + 24])
        if not said or len(gaps[1]) > 40 or re.search(r"\band\b|[;:]", gaps[1]) or third.unit not in ("%", "point", None):
            continue
        difference = abs(second.value - first.value)
        yield_relative = third.unit == "%" and (first.unit != "%" or "relative" in text.lower())
        if yield_relative and first.value:
            result = difference / abs(first.value) * 100
            yield relation(f"{statement.place}: change from {first.text} to {second.text}",
                           f"abs({second.value:f} - {first.value:f}) / {abs(first.value):f} * 100", third, result, statement, "percentage")
        elif (third.unit == "%") == (first.unit == "%"):
            yield relation(f"{statement.place}: change from {first.text} to {second.text}", f"abs({second.value:f} - {first.value:f})",
                           third, difference, statement, "difference")


AVERAGE = re.compile(r"\b(?:avg|average|mean)\b\.?", re.I)
TOTAL = re.compile(r"\b(?:total|sum)\b", re.I)


def averages(table: list[Statement]) -> Iterator[Relation]:
    """A column "Avg." or "Total": recomputed from the row's other numbers, when that fits some row of the table (else the
    column is over something else)."""
    columns = [(index, cell) for index, cell in enumerate(table[0].header or table[0].cells) if AVERAGE.search(cell) or TOTAL.search(cell)]
    head = next((row for row in table if any(AVERAGE.search(cell) or TOTAL.search(cell) for cell in row.cells)), None)
    if head is None and not columns:
        return
    columns = [(index, cell) for index, cell in enumerate(head.cells if head else ()) if AVERAGE.search(cell) or TOTAL.search(cell)]
    for index, cell in columns[:2]:
        mean, found = bool(AVERAGE.search(cell)), []
        for row in table:
            if row.row <= head.row or index >= len(row.cells):
                continue
            stated = [number for number in numbers(row.cells[index]) if number.kind == VALUE]
            others = [first for at, other in enumerate(row.cells) if at not in (index, 0)
                      and (first := next((n for n in numbers(other) if n.kind == VALUE), None))]
            if len(stated) >= 1 and len(others) >= 2:
                total = sum((number.value for number in others), Decimal(0))
                result = total / len(others) if mean else total
                values = " + ".join(f"{number.value:f}" for number in others)
                found.append(relation(f"{row.place}, row {row.row}: {cell}", f"({values}) / {len(others)}" if mean else values,
                                      stated[0], result, row, "average" if mean else "sum"))
        right = sum(entry.holds for entry in found)
        if right >= 2 and right * 2 >= len(found):
            yield from found


def products(swept: Sweep) -> Iterator[Relation]:
    """Width = heads × head size, where the paper states one value of each in the same sentence or table."""
    by_statement: dict[int, dict[str, list[Decimal]]] = defaultdict(dict)
    places: dict[int, Statement] = {}
    for name in ("hidden-size", "heads", "head-size"):
        for entry in swept.evidence.get(name, ()):
            given = sorted({value.number.value for value in entry.values if value.number and value.sure})
            if entry.tier == STATES and len(given) == 1:
                by_statement[entry.statement.number][name] = given
                places[entry.statement.number] = entry.statement
    for number, held in by_statement.items():
        if len(held) == 3:
            width, heads, size = (held[name][0] for name in ("hidden-size", "heads", "head-size"))
            yield Relation(f"{places[number].place}: width = heads × head size", f"{heads:f} * {size:f}", width, heads * size,
                           heads * size == width, places[number], "product")
