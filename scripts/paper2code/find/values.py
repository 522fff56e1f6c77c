"""Numbers as papers write them, read: "3e-4", "$2\\times 10^{-4}$", "100k", "0.25M tokens", "10\\%", "1,000", "twenty-four".

`numbers(text)` lists every number with its exact place; `ranges(text)` the intervals and the sets that were searched over.
Nothing here decides what a number is about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

MINUS = "-−–‐‑"
SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
VULGAR = {"½": "0.5", "¼": "0.25", "¾": "0.75", "⅛": "0.125", "⅓": "0.333333", "⅔": "0.666667"}
SCALES = {"k": 3, "K": 3, "M": 6, "B": 9, "T": 12, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "mio": 6, "bn": 9}
BINARY = {3: Decimal(1024), 6: Decimal(1024 ** 2), 9: Decimal(1024 ** 3)}
EXPONENT_LIMIT = 400

# kinds of number: a value; part of a name (ResNet-50, V100, top-1); an index (\beta_1, x1); a place (Section 3.2, [12]); a year
VALUE, NAME, INDEX, PLACE, YEAR = "value", "name", "index", "place", "year"


@dataclass(frozen=True)
class Number:
    """`value` as meant ("100k" is 100000, "10%" is 10 with unit "%"); `text` exactly as written at `span` of the text.

    `also` holds other readings that the same characters allow: 0.1 for "10%", 32768 for "32K", 2e5 for a PDF's "2×105".
    `unit` is the counted thing in the singular ("step", "token", "gpu", "%") where it follows the number.
    """

    value: Decimal
    span: tuple[int, int]
    unit: str | None
    text: str
    kind: str = VALUE
    also: tuple[Decimal, ...] = ()

    def equals(self, other: Decimal | float | int | str) -> bool:
        """Whether this number, in one of its readings, is exactly `other`."""
        try:
            wanted = Decimal(str(other))
        except ArithmeticError:
            return False
        return any(reading == wanted for reading in (self.value, *self.also))


UNITS = {
    "step": "steps? iterations? iters? updates?", "batch": "batches minibatches microbatches",
    "epoch": "epochs?", "token": "tokens?", "layer": "layers? layered",
    "block": "blocks?", "head": "heads?", "gpu": "gpus? tpus? accelerators? devices? cores? chips?", "hour": "hours? hrs? h",
    "day": "days?", "week": "weeks?", "minute": "minutes? mins?", "second": "seconds? secs? s", "ms": "ms milliseconds?",
    "byte": "bytes? gb mb kb gib mib tb", "pixel": "pixels? px", "hz": "hz khz", "parameter": "parameters? params?",
    "image": "images? pictures?", "example": "examples? samples? instances? datapoints?", "sentence": "sentences? pairs?",
    "class": "classes categories labels?", "dimension": "dimensions? dimensional dims? d", "unit": "units? neurons?",
    "channel": "channels? filters? kernels?", "episode": "episodes? trajectories rollouts?", "frame": "frames? fps",
    "word": "words? subwords?",
    "seed": "seeds?", "run": "runs? trials?", "point": "points?", "node": "nodes?", "expert": "experts?", "times": "times fold x",
    "environment": "environments? envs? actors? workers?", "bit": "bits?", "crop": "crops?", "stage": "stages?", "beam": "beams?",
}
UNIT_OF = {}
for unit_name, written in UNITS.items():
    for pattern in written.split():
        UNIT_OF[pattern.replace("?", "")] = unit_name
        if pattern.endswith("s?"):
            UNIT_OF[pattern[:-2]] = unit_name

SMALL = {word: n for n, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen".split())}
TENS = {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
LARGE = {"hundred": 100, "thousand": 1000, "million": 10 ** 6, "billion": 10 ** 9, "trillion": 10 ** 12}
NUMBER_WORD = "|".join([*TENS, *sorted(SMALL, key=len, reverse=True), *LARGE])

DIGITS = (r"(?:\d{1,3}(?:(?:\{,\}|,|\\,|[\u2009\u202f])\d{3})+(?![\d])(?:\.\d+)?"   # 1,000 · 1{,}000 · 1\,000
          r"|\d+(?:_\d{3})+(?!\d)|\d+\.\d+|\d+|(?<![\w\d)])\.\d+)")
GAP = r"(?:\s|~|\\[,;:! ]|\{\}|\\thinspace){0,4}"  # bounded: a run of spaces must not cost more than its length
FONT = r"(?:\\(?:mathrm|mathit|mathsf|mathtt|text|textrm|texttt|textit|rm|operatorname)\s*\{?\s*)"
SIGN = rf"(?:[{MINUS}+]|\\textminus|\\text\{{-\}}|\{{-\}}|\\minus|\$-\$|\$−\$)"
TIMES = r"\{?(?:\\times|\\cdot|\\ast|×|·|⋅|∗|\*|(?<=[\d\s])x(?=\s?10))"
POWER = (rf"(?:{GAP}\$?\^{GAP}\{{?{GAP}{FONT}?(?P<{{0}}sign>{SIGN})?{GAP}\}}?{GAP}(?P<{{0}}exp>\d+(?:\.\d+)?){GAP}\}}?\}}?"
         rf"|\\textsuperscript\{{(?P<{{0}}tsign>{SIGN})?(?P<{{0}}texp>\d+)\}}"
         rf"|(?P<{{0}}super>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))")


def power(prefix: str) -> str:
    return POWER.replace("{0}", prefix)


NUMBER = re.compile(
    rf"(?P<sign>(?:(?<![\w)\]}}.$\d])|(?<=^\$)|(?<=[\s(\[,]\$))[{MINUS}])?\s?"
    rf"(?P<mantissa>{DIGITS}|[½¼¾⅛⅓⅔])"
    rf"(?:"
    rf"(?P<sci>\$?{GAP}{FONT}?[eE]\}}?\$?\^?\{{?\$?{GAP}(?P<ssign>{SIGN})?{GAP}\$?\}}?\{{?(?P<sexp>\d+)(?![\d.]*\d?[A-Za-df-zA-Z])\}}?)"
    rf"|(?P<times>\}}?\$?{GAP}{TIMES}\}}?{GAP}\$?\{{?10(?:{power('t')}|(?P<tflat>[−]\s?\d{{1,2}}(?!\d))|(?P<tplain>[{MINUS}]\d{{1,2}}(?!\d))"
    rf"|(?P<tglued>\d)(?!\d|\.\d)))"
    rf"|(?P<pow>{power('p')})"
    rf"|(?P<flat>(?<=10)−\d{{1,2}}(?![\d.]))"
    rf")?")
SCALE = re.compile(rf"(?:\}}?\$)?(?:{GAP}{FONT})?(?P<letter>[kKMBT])(?![A-Za-z])\}}?"
                   rf"|(?:\s|~|-|\$)*(?P<spaced>[MB])(?=[\s~$]+(?:param|tok|step|image|example|sample|word|pair|frame|iteration))"
                   rf"|(?:\s|~|-|\$)*(?P<word>thousand|million|billion|trillion|mio|bn)\b")
PERCENT = re.compile(r"(?:\s|~|\\,|\$|\})*(?:\\?%|\\percent|per\s?cent\b|percent\b|percentage points?\b)")
FOLLOWING = re.compile(r"(?:\s|~|-|‑|\\[, ;]|\$|"
                       r"\})*(?P<first>[A-Za-z][\w]*)(?:[\s~-]+(?P<second>[A-Za-z][\w-]*))?(?:[\s~-]+(?P<third>[A-Za-z][\w-]*))?"
                       r"(?:[\s~-]+(?P<fourth>[A-Za-z]+))?")
NO_ADJECTIVE = frozenset("of for in and or with the a an at per on to by is are was were all each from as than if when using we our "
                         "it its "
                         "that which while so both other only but not into over".split())
WORDS = re.compile(rf"(?<![A-Za-z])(?:{NUMBER_WORD})(?:(?:[\s-]+(?:and\s+)?)(?:{NUMBER_WORD}))*(?![A-Za-z])", re.I)
PLACE_BEFORE = re.compile(r"(?:§+|\b(?:Sec(?:tion|t)?s?|Eqn?s?|Equations?|Tab(?:le)?s?|Fig(?:ure)?s?|Alg(?:orithm)?s?|"
                          r"App(?:endix|endices)?|Chapters?|Lines?|Theorems?|Lemmas?|Propositions?|Refs?|Footnotes?|Definitions?|"
                          r"Corollary|Remark|Assumption|Examples?|pages?)\.?)[\s~]*[(\[]?"
                          r"(?:[\dA-Z]{1,3}[\d.]*[)\]]?(?:\s*(?:,|and|to|&|[-–])\s*)[(\[]?){0,6}$", re.I)
BRACKETED = re.compile(r"\[\s*(?:\d{1,3}\s*[,;–-]\s*)*$")
BRACKET_END = re.compile(r"\s*(?:[,;–-]\s*\d{1,3}\s*)*\]")
YEARLIKE = re.compile(r"(?:19[5-9]\d|20[0-3]\d)[a-z]?$")
COUNTED = re.compile(r"(?:\b(?:of|is|are|size|about|every|than|approximately)|[=$])\s*$")
BETWEEN = re.compile(r"[\s$}\\{,]*(?:(?:-|–|—|−|--|\\sim|\\l?dots|…|\.\.\.?|to|and|or|up to|through)[\s$}{\\,]*)?[\s$(\[]*$"
                     r"|[\s$}]*,[\s\\$!;:{]*(?:and|or)?[\s${]*$")
DASH = re.compile(r"[\s$}]*(?:-|–|—|−|--|to|through|up to|\\sim|\\dots|\\ldots|…|\.\.\.)[\s$}{]*")


def numbers(text: str) -> list[Number]:
    """Every number of the text in order, each with its exact span. Mathematics may be LaTeX, Unicode or plain."""
    out = []
    for match in NUMBER.finditer(text):
        out += read(text, match)
    taken = {number.span[1] for number in out}
    for match in WORDS.finditer(text):
        value = word_value(match.group())
        if value is not None and match.end() not in taken:
            out.append(Number(Decimal(value), match.span(), unit_after(text, match.end()), match.group()))
    return sorted(out, key=lambda number: number.span)


def read(text: str, match: re.Match) -> list[Number]:
    """The number (or, for an unspaced list such as `64,128,256`, the numbers) that a match of NUMBER holds."""
    mantissa = match["mantissa"]
    start, end = match.start("mantissa"), match.end()
    if mantissa in VULGAR:
        return [Number(Decimal(VULGAR[mantissa]), (start, end), unit_after(text, end), text[start:end])]
    if "," in mantissa and "{,}" not in mantissa and is_list(text, mantissa, start, match.end("mantissa")):
        out, at = [], start
        for part in mantissa.split(","):
            out.append(Number(Decimal(part), (at, at + len(part)), None, part))
            at += len(part) + 1
        return out
    negative = match["sign"] is not None and not is_range(text, match.start("sign"))
    if negative:
        start = match.start("sign")
    value = Decimal(re.sub(r"\{,\}|,|\\,|[\u2009\u202f_]", "", mantissa))
    also: list[Decimal] = []
    exponent, base = exponent_of(match)
    if exponent is not None:
        if abs(exponent) > EXPONENT_LIMIT or (base is None and abs(exponent) > 64):
            return []
        if base is None:  # a power of the mantissa itself: 10^{-4}, 2^{15}, 224^2
            if value == 0 and exponent < 0:
                return []
            if value != 10:  # "224^2" speaks of 224 too; "10^{-4}" does not speak of 10
                also.append(value)
            value = value ** exponent if value != 10 or exponent != int(exponent) else Decimal(1).scaleb(int(exponent))
        else:
            value = value.scaleb(int(exponent))
        if match["tglued"]:  # a PDF that lost the superscript: "2×105" may be 2×10⁵
            middle = match.end("mantissa")
            return [Number(Decimal(mantissa), (start, middle), None, text[start:middle], also=(value,)),
                    Number(Decimal(text[end - 3:end]), (end - 3, end), unit_after(text, end), text[end - 3:end], also=(value,))]
    scale = SCALE.match(text, end)
    if scale and not (scale["letter"] == "T" and text[end:end + 1] == " "):
        places = SCALES[(scale["letter"] or scale["spaced"] or scale["word"])]
        if places in BINARY and scale["word"] is None:
            also.append(value * BINARY[places])
        value = value.scaleb(places)
        end = scale.end()
    if negative:
        value, also = -value, [-reading for reading in also]
    percent = PERCENT.match(text, end)
    if percent:
        also.append(value.scaleb(-2))
        end, unit = percent.end(), "%"
    else:
        unit = unit_after(text, end, value == value.to_integral_value())
    kind = kind_of(text, match, start, end, mantissa, unit)
    end = start + len(text[start:end].rstrip(" ~\n\t"))
    return [Number(value, (start, end), unit, text[start:end], kind, tuple(also))]


def exponent_of(match: re.Match) -> tuple[Decimal | None, int | None]:
    """The exponent that a match carries and its base (10, or None when the mantissa is the base)."""
    def signed(sign: str | None, digits: str) -> Decimal:
        return Decimal(digits) * (-1 if sign and "+" not in sign else 1)

    if match["sci"]:
        return signed(match["ssign"], match["sexp"]), 10
    if match["times"]:
        if match["texp"]:
            return signed(match["tsign"], match["texp"]), 10
        if match["ttexp"]:
            return signed(match["ttsign"], match["ttexp"]), 10
        if match["tsuper"]:
            return Decimal(match["tsuper"].translate(SUPER)), 10
        if match["tglued"]:
            return Decimal(match["tglued"]), 10
        return -Decimal((match["tflat"] or match["tplain"]).lstrip(MINUS).strip()), 10
    if match["pow"]:
        if match["pexp"]:
            return signed(match["psign"], match["pexp"]), None
        if match["ptexp"]:
            return signed(match["ptsign"], match["ptexp"]), None
        return Decimal(match["psuper"].translate(SUPER)), None
    if match["flat"]:
        return -Decimal(match["flat"][1:]), None
    return None, None


def is_list(text: str, mantissa: str, start: int, end: int) -> bool:
    """Whether `64,128,256` is a list and not a number with thousands commas."""
    parts = mantissa.split(",")
    if any(part.startswith("0") for part in parts[1:]) or any("." in part for part in parts):
        return False
    before, after = text[max(0, start - 2):start].rstrip(), text[end:end + 2].lstrip()
    enclosed = before[-1:] in ("{", "[", "(") and (after[:1] in ("}", "]", ")") or after[:2] == "\\}")
    powers = all(int(part) & (int(part) - 1) == 0 for part in parts)
    return powers or (enclosed and before[-1:] != "(") or (enclosed and len(parts) > 2)


def is_range(text: str, at: int) -> bool:
    """Whether the dash at this place stands between two numbers, and so is no sign."""
    return bool(re.search(r"[\d%kKMB]\s?\$?$", text[max(0, at - 4):at])) and not text[at - 1:at].isspace()


def unit_after(text: str, end: int, whole: bool = True) -> str | None:
    """The thing that a number counts: the word after it, or (for a whole number) one after up to three adjectives."""
    match = FOLLOWING.match(text, end)
    if match is None:
        return None
    word = match["first"]
    if len(word) == 1:  # "3h", "12 s", "224 d": a lone letter is a unit only beside its number, and not before "=" or "_"
        apart, rest = text[end:match.start("first")], text[match.end("first"):match.end("first") + 4]
        symbol = word.isupper() or re.match(r"[\s$]*[=_^(]|\s*[+*/×-]", rest)
        if symbol or apart not in ("", " ", "~", "\\,") or (word in "xd" and apart):
            return None
    for word in match.group("first", "second", "third", "fourth") if whole else (match["first"],):
        if word is None or word.lower() in NO_ADJECTIVE:
            return None
        if word.lower() in UNIT_OF:
            return UNIT_OF[word.lower()]
    return None


SUBSCRIPT = re.compile(r"_\{?(?:\\(?:text|mathrm)\{)?[A-Za-z,]{0,12}[-,\s]?$")
COMMAND = re.compile(r"\\(?:times|cdot|sim|approx|leq?|geq?|in|to|pm|text|mathrm|num|SI|ast)$")
SYMBOL = re.compile(r"(?:[α-ωΑ-Ωϵϕ]|\\[a-z]+|(?<![A-Za-z])[B-GI-KM-OQ-SU-Za-z])$")  # not V, A, H, P, T, L: V100, L2
HYPHENED = re.compile(r"(?:[A-Za-z]{2,}|\b[A-Za-z])[-‑]$")
SMALL_WORD = re.compile(r"\b(?:of|to|by|with|is|the|a|per)-$")
INTERVAL_WORD = re.compile(r"\b(?:range|interval|in|from|within|over|of|to|between)\s*\[[^\[\]]*$")
ASSIGNED_LIST = re.compile(r"\[\s*0\s*,\s*$|=\s*\[[^\]]*$")


def kind_of(text: str, match: re.Match, start: int, end: int, mantissa: str, unit: str | None) -> str:
    """What role the number plays where it stands: see the kinds above."""
    at = match.start("mantissa")
    before, after = text[max(0, at - 60):at], text[end:end + 12]
    last = before[-1:]
    if SUBSCRIPT.search(before):
        return INDEX
    if last.isalpha() and not COMMAND.search(before):
        return INDEX if len(mantissa) <= 2 and SYMBOL.search(before) else NAME
    if re.search(r"\d\.$", before) or re.match(r"\.\d", after):
        return NAME  # a version: 1.2.3
    if PLACE_BEFORE.search(before):
        return PLACE
    if is_citation(text, before, at, end, mantissa):
        return PLACE
    if YEARLIKE.match(mantissa) and unit is None and not match["sci"] and not match["pow"]:
        if re.search(r"(?:[(,\s]|[A-Za-z]\s?)$", before) and re.match(r"[a-z]?(?:[),;\].\s]|$)", after):
            return VALUE if COUNTED.search(before) else YEAR
    if HYPHENED.search(before) and not SMALL_WORD.search(before):
        return NAME
    if re.search(r"[A-Za-z]/$", before) or re.match(r"(?:st|nd|rd|th)\b", after) or (unit is None and re.match(r"D\b", after)):
        return NAME
    if len(mantissa) == 1 and re.search(r"(?:^|[\s,;:])\($", before) and re.match(r"\) [A-Za-z]", after):
        return PLACE  # "(1) the first, (2) the second"
    return VALUE


def is_citation(text: str, before: str, at: int, end: int, mantissa: str) -> bool:
    """Whether the number is a citation's, as in `[12]` or `[3, 5-7]`, and not an interval's end."""
    closed = BRACKET_END.match(text, end)
    if not closed or "." in mantissa or len(mantissa) > 3 or not BRACKETED.search(before) or "$" in before[-3:]:
        return False
    if INTERVAL_WORD.search(before) and closed.group().strip() != "]":
        return False
    return not ASSIGNED_LIST.search(before) and not text[at:].startswith("0")


def word_value(words: str) -> int | None:
    """The number that a run of number words names: "two hundred and fifty thousand" is 250000. None when they name none."""
    parts = [part for part in re.split(r"[\s-]+", words.lower()) if part != "and"]
    if parts[0] in LARGE:
        return LARGE[parts[0]] if len(parts) == 1 and parts[0] != "thousand" else None
    total, current = 0, 0
    for part in parts:
        if part in SMALL:
            current += SMALL[part]
        elif part in TENS:
            current += TENS[part]
        elif part == "hundred":
            current = max(current, 1) * 100
        else:
            total += max(current, 1) * LARGE[part]
            current = 0
    return total + current


@dataclass(frozen=True)
class Span:
    """Several numbers that are given together: the ends of a range ("1e-5 to 1e-3"), or a list or set ("{16, 32, 64}")."""

    kind: str  # range or set
    numbers: tuple[Number, ...]
    span: tuple[int, int]
    text: str


def spans(text: str, found: list[Number] | None = None) -> list[Span]:
    """The ranges and sets of a text. A pair joined by a dash or by "to" is a range, three or more in a row, or what stands
    in braces, a set."""
    found = [number for number in (numbers(text) if found is None else found) if number.kind == VALUE]
    out, run = [], found[:1]

    def close() -> None:
        if len(run) < 2:
            return
        start, end = run[0].span[0], run[-1].span[1]
        between = text[run[0].span[1]:run[1].span[0]]
        braced = bool(re.search(r"(?:[{\[(]|\\lbrace)\s*\$?$", text[max(0, start - 9):start]))
        before = text[max(0, start - 12):start]
        if len(run) == 2 and (DASH.fullmatch(between) or re.search(r"\b(?:between|from)[\s$]*$", before)):
            kind = "range"
        elif len(run) == 2 and re.search(r"(?<!\\)[\[(]\s*\$?$", before) and "," in between:
            kind = "range"
        elif len(run) > 2 or braced or re.search(r"\b(?:and|or)\b", between):
            kind = "set"
        else:
            return
        out.append(Span(kind, tuple(run), (start, end), text[start:end]))

    for number in found[1:]:
        gap = text[run[-1].span[1]:number.span[0]]
        if len(gap) <= 24 and BETWEEN.fullmatch(gap) and gap.strip(" $~"):
            run.append(number)
            continue
        close()
        run = [number]
    close()
    return out
