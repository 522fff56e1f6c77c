"""Text folded for exact comparison, with a way back to the original.

`fold(text)` keeps what a quote must have in common with its paper and leaves out what typing, copying and typesetting
change. What stays are letters (case folded, accents off, ligatures spelled out), numbers and operators, without white
space; `text` is their string. Mathematics comes out the same whether it was written as LaTeX, Unicode or plain text:
`$d_{\\text{model}}$`, `d_model` and `dmodel` are "dmodel"; `\\beta_1`, `β₁` and `beta1` are "β1"; `10^{-9}`, `10⁻⁹` and
`1e-9` are "10 9" with a power mark and a minus mark. A blank keeps two numbers apart, so that 1 05 is not 105.

What may be lost on one side alone is not in the string but in `marks`, each with the offset where it stands: minus
signs and hyphens, primes, fraction bars, powers and indices, citations. `agree` says whether the marks of a quote and
of the passage it was found in are those of one text: a minus must be a dash on the other side too, while a hyphen may
be missing; a power is not an index; a citation may be left out, but not changed. So −0.1 is not 0.1, 10⁴ is neither
10⁻⁴ nor 104, and `x − y` is not `x y`.

Not compared: brackets, commas, full stops, accents over symbols, multiplication dots. Similarity plays no part here.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

BROKEN = re.compile(r"[\ufffd\ue000-\uf8ff]|\(cid:\d+\)")  # signs that a PDF gives no meaning
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "vartheta": "θ", "iota": "ι", "kappa": "κ", "varkappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "varpi": "π", "rho": "ρ", "varrho": "ρ", "sigma": "σ", "varsigma": "σ", "tau": "τ", "upsilon": "υ",
    "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
}
# What a LaTeX command stands for; operators as in OPERATORS, letters as letters.
COMMANDS = {
    "times": "×", "div": "÷", "pm": "±", "mp": "∓", "leq": "≤", "le": "≤", "leqslant": "≤", "geq": "≥", "ge": "≥",
    "geqslant": "≥", "neq": "≠", "ne": "≠", "approx": "≈", "equiv": "≡", "ll": "≪", "gg": "≫", "lt": "<", "gt": ">",
    "coloneqq": "=", "eqqcolon": "=", "triangleq": "≜", "propto": "∝", "in": "∈", "notin": "∉", "ni": "∋",
    "subset": "⊂", "subseteq": "⊆", "supset": "⊃", "supseteq": "⊇", "cup": "∪", "cap": "∩", "setminus": "∖", "emptyset": "∅",
    "varnothing": "∅", "land": "∧", "wedge": "∧", "lor": "∨", "vee": "∨", "neg": "¬", "lnot": "¬", "forall": "∀", "exists": "∃",
    "to": "→", "rightarrow": "→", "longrightarrow": "→", "leftarrow": "←", "gets": "←", "leftrightarrow": "↔",
    "Rightarrow": "⇒", "implies": "⇒", "Leftrightarrow": "⇔", "iff": "⇔", "mapsto": "↦", "uparrow": "↑", "downarrow": "↓",
    "sum": "∑", "prod": "∏", "int": "∫", "oint": "∮", "partial": "∂", "nabla": "∇", "infty": "∞", "sqrt": "√",
    "odot": "⊙", "otimes": "⊗", "oplus": "⊕", "ominus": "⊖", "circ": "°", "degree": "°", "perp": "⊥", "bot": "⊥",
    "mid": "|", "vert": "|", "lvert": "|", "rvert": "|", "Vert": "‖", "lVert": "‖", "rVert": "‖", "parallel": "‖",
    "top": "t", "intercal": "t", "ell": "l", "hbar": "h", "imath": "i", "jmath": "j", "Re": "re", "Im": "im", "aleph": "ℵ",
    "ae": "ae", "AE": "ae", "oe": "oe", "OE": "oe", "ss": "ss", "o": "o", "O": "o", "l": "l", "L": "l", "aa": "a", "AA": "a",
    "percent": "%", "checkmark": "✓", "dagger": "†", "ddagger": "‡", "star": "", "ast": "", "cdot": "", "bullet": "",
    "sim": "", "simeq": "≃", "cong": "≅", "prime": "′", "colon": "", "slash": "/", "textasciitilde": "", "textbackslash": "",
}
# Commands that dress what follows, or only move it: nothing of them is compared.
SILENT = frozenset("""
 left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm displaystyle textstyle scriptstyle
 scriptscriptstyle limits nolimits nonumber notag mathrm mathbf mathit mathsf mathtt mathcal mathbb mathfrak mathscr mathbbm
 boldsymbol bm pmb bold text textrm textbf textit textsf texttt textsc textnormal textup emph mbox hbox operatorname mathop
 mathbin mathrel mathord mathopen mathclose underline overline underbrace overbrace hat widehat bar tilde widetilde vec dot
 ddot breve check acute grave mathring overrightarrow overleftarrow underset overset stackrel substack ensuremath quad qquad
 hfill hfil space thinspace medspace thickspace enspace negthinspace vphantom phantom hphantom mathstrut strut dots ldots
 cdots vdots ddots dotsc dotsb dotsm dotso dotsi textellipsis xspace null relax allowbreak linebreak newline par noindent
 centering small footnotesize scriptsize tiny normalsize large Large LARGE huge rm bf it sf tt sc em cal lbrace rbrace lbrack
 rbrack langle rangle lfloor rfloor lceil rceil textsuperscript textsubscript protect smash mathpalette tfrac dfrac cfrac
 frac over binom cr hline
""".split())
FRACTIONS = frozenset(("frac", "tfrac", "dfrac", "cfrac", "nicefrac", "sfrac", "flatfrac"))
OPERATORS = {
    "<=": "≤", ">=": "≥", "!=": "≠", "==": "=", ":=": "=", "->": "→", "=>": "⇒", "<-": "←", "+/-": "±", "||": "‖", "⩽": "≤",
    "⩾": "≥", "≦": "≤", "≧": "≥", "∣": "|", "∥": "‖", "∘": "°", "⊺": "t", "⊤": "t", "−": "-", "∼": "", "∗": "", "⋅": "",
    "·": "", "⋯": "", "⋆": "", "∶": "", "⟶": "→", "⟵": "←", "∕": "/", "√": "√", "Σ": "σ", "∆": "δ", "⟨": "", "⟩": "", "◦": "°",
    "\u0338=": "≠", "\u0338 =": "≠",
}
# "Equation 4", "Eq. (4)": a reading of the source writes one, the printed page may have the other.
REFERENCES = {"equation": "eq", "eqn": "eq", "equations": "eqs", "eqns": "eqs", "figure": "fig", "figures": "figs", "section": "sec",
              "sections": "secs", "appendix": "app", "algorithm": "alg", "table": "tab", "tables": "tabs"}
NUMBERED = re.compile(r"\.?[\s~]*[(\[]?[A-Z]?\.?\d|\.?[\s~]+[A-Z](?![A-Za-z])|\.?[\s~]*\(?\\(?:eq|auto|c)?ref")
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼ⁿⁱ", "0123456789+-=ni", strict=True))
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ", "0123456789+-=aeoxhklmnpstijruv", strict=True))
HIGH, LOW = "".join(SUPERSCRIPTS), "".join(SUBSCRIPTS)
# A Python string turns the first letter of some LaTeX commands into a control character; it is turned back.
CONTROLS = {"\x07": r"\a", "\x08": r"\b", "\x0b": r"\v", "\x0c": r"\f"}
DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"

# "Kingma and Ba, 2014", "Vaswani et al., 2017a, 2018": names without digits, then years.
NAME_LETTER = r"(?:[^\W\d_]|['\u2019-])"
NAMED = (rf"[^\W\d_a-z]{NAME_LETTER}*(?:[\s,&.~\u00a8\u00b4`\u02c6\u02dc]+{NAME_LETTER}+){{0,12}}[\s,.~]+"
         r"(?:19|20)\d\d[a-z]?(?:,\s*(?:19|20)\d\d[a-z]?)*")
# What a bibliography that is not at hand leaves: "[?]", "[adam, bn]", "(??)", "(kingma2014adam; bahdanau, )".
KEY = r"[^\W\d_][\w:+./-]{1,60}"
TEXTUAL = rf"[^\W\d_a-z]{NAME_LETTER}+(?:\s+(?:and|&)\s+[^\W\d_a-z]{NAME_LETTER}+|\s+et\s+al\.?)?,?\s*\(\s*(?:19|20)\d\d[a-z]?" \
          r"(?:\s*[,;]\s*(?:19|20)\d\d[a-z]?)*\s*\)"
NOTE = r"\[\d{1,3},\s*(?:[A-Z][a-z]{0,8}\.?|pp?\.|§)[\s~]*[\d.\u2013-]+(?:,\s*\d{1,3})?\]"
BRACKET_ITEM = rf"(?:\d{{1,3}}[a-z]?(?:\s*[\u2013-]\s*\d{{1,3}})?|\?+|{KEY})"
YEAR_KEY = r"[^\W\d_][\w:+./-]{0,40}?(?:19|20)\d\d[\w:+./-]{0,40}"
PAREN_ITEM = rf"(?:\?+|{YEAR_KEY}|{KEY}(?=,?\s*(?:[;,]\s*[\w:+./-]+)*,\s*\)))"
TOKEN = re.compile(rf"""
  (?P<skip>\\(?:label|tag\*?|vspace\*?|hspace\*?|ref|eqref|autoref|[cC]ref|pageref|begin|end|color|textcolor)\s*\{{[^{{}}]*\}}|\xad)
 |(?P<cite>\\cite[a-zA-Z]*\*?(?:\[[^\]]*\])*\{{[^{{}}]*\}}|\[cite:[^\]]*\]|\[\?+\]
    |\[\s*{BRACKET_ITEM}(?:\s*[,;]\s*{BRACKET_ITEM})*\s*\]
    |\(\s*{PAREN_ITEM}(?:[\s,;]+{PAREN_ITEM})*[\s,;]*\)
    |{NOTE}|{TEXTUAL}
    |\((?:e\.g\.,?\s|see\s|cf\.\s)?{NAMED}(?:\s*[;,]\s*{NAMED})*\)|\[(?:e\.g\.,?\s|see\s|cf\.\s)?{NAMED}(?:\s*[;,]\s*{NAMED})*\])
 |(?P<power>\d+(?:\.\d+)?[eE][{DASHES}+]?\d+(?![^\W_]|\.\d))
 |(?P<number>[1-9]\d{{0,2}}(?:(?:,|\{{,\}}|\\,|[\u2009\u202f])\d{{3}})+(?![\d])(?:\.\d+)?|\d+(?:\.\d+)*|(?<![^\W_])\.\d+)
 |(?P<command>\\(?:[a-zA-Z]+|.))
 |(?P<word>[^\W\d_{HIGH}{LOW}]+)
 |(?P<dash>[{DASHES}]+(?!>))
 |(?P<high>[{HIGH}]+)
 |(?P<low>[{LOW}]+)
 |(?P<script>[\^_])
 |(?P<dollar>\$+)
 |(?P<slash>[/\u2044\u2215])
 |(?P<prime>[\u2032\u2033\u2034]|['\u2019](?!['\u2019]))
 |(?P<operator>\u0338\s?=|<=|>=|!=|==|:=|->|=>|<-|\+/-|\|\||[+=<>|%×÷±¬°∞*\u2190-\u22ff\u27c0-\u27ef\u2980-\u2aff\u22a4†‡✓‰·])
 |(?P<other>[^\x00-\x7f\s\u2018-\u201f\u00ab\u00bb\u2026\u200b-\u200f\u2060\ufeff])
""", re.X)
SCRIPT = r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+(?:\{[^{}]*\})?|[^\s{}\\])"
HIGH_LOW = re.compile(rf"(\^{SCRIPT}|[{HIGH}]+)(_{SCRIPT}|[{LOW}]+)")
SOME_HIGH, SOME_LOW = re.compile(f"[{HIGH}]"), re.compile(f"[{LOW}]")
TYPED = rf"(?:\{{[^{{}}]*\}}|[^\W_{HIGH}{LOW}]+(?:[\u2212+-][^\W_{HIGH}{LOW}]+)?)"  # "D_R^Test", typed without LaTeX
TYPED_HIGH_LOW = re.compile(rf"(\^{TYPED}|[{HIGH}]+)(_{TYPED}|[{LOW}]+)")
TYPED_LOW_HIGH = re.compile(rf"(_{TYPED}|[{LOW}]+)(\^{TYPED}|[{HIGH}]+)")
LOW_HIGH = re.compile(rf"(_{SCRIPT}|[{LOW}]+)(\^{SCRIPT}|[{HIGH}]+)")
PRIME_LOW = re.compile(rf"((?<=[^\W\d_])['\u2032\u2033]+)(_{SCRIPT}|[{LOW}]+)")  # x'_i is x_i'
LOW_PRIME = re.compile(rf"((?<=[^\W\d_])(?:_{SCRIPT}|[{LOW}]+))(['\u2032\u2033]+)")  # x_i' is set as x'_i
TYPED_LOW_PRIME = re.compile(rf"((?<=[^\W\d_])(?:_{TYPED}|[{LOW}]+))(['\u2032\u2033]+)")
TYPED_PRIME_LOW = re.compile(rf"((?<=[^\W\d_])['\u2032\u2033]+)(_{TYPED}|[{LOW}]+)")
ONE_TIMES_TEN = re.compile(r"\s*\$?\s*(?:×|x|\\times|\\cdot|·|⋅|\*)\s*\$?\s*10\s*(?:\^|[⁻⁰-⁹¹²³]|[−-]\s?\d)")
TIMES = re.compile(r"[\s${}]*\d")
EXPONENT = re.compile(r"[\s${]*\d")
POWER = re.compile(rf"(\d+(?:\.\d+)?)[eE]([{DASHES}+]?)(\d+)")


class Mark(NamedTuple):
    """`at`: the offset in the folded text. `kind`: dash, prime, slash, high, low or cite. `must`: the other side needs
    one of the same kind there. `what`: a citation's numbers, years or keys. `place`: the offset in the original."""

    at: int
    kind: str
    must: bool = False
    what: str = ""
    place: int = 0


@dataclass
class Folded:
    """`text`: what is compared. Token n is `text[starts[n]:ends[n]]` and was `original[begins[n]:stops[n]]`."""

    original: str
    text: str = ""
    starts: array = field(default_factory=lambda: array("l"))
    ends: array = field(default_factory=lambda: array("l"))
    begins: array = field(default_factory=lambda: array("l"))
    stops: array = field(default_factory=lambda: array("l"))
    marks: list[Mark] = field(default_factory=list)


@lru_cache(maxsize=1 << 16)
def letters(word: str) -> str:
    """A run of letters as it is compared: compatibility forms and ligatures resolved, accents off, case folded."""
    plain = word if word.isascii() else "".join(
        c for c in unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", word)) if not unicodedata.combining(c) and c not in "\u02c6\u02c7")
    plain = plain.casefold().replace("ς", "σ").replace("ϵ", "ε").replace("ϕ", "φ").replace("ı", "i").replace("ȷ", "j")
    return GREEK.get(plain, plain) if len(plain) > 2 else plain  # "xi" is x_i as a PDF's text has it, not ξ


def fold(text: str, *, math: bool = False, high_first: bool = False) -> Folded:
    """Fold `text`; `math` when all of it is mathematics (a display formula's LaTeX), not only what stands in `$…$`.

    x_i^2 and x^2_i come out alike, the index first; with `high_first` the power or prime first, as TeX sets them and as they
    are therefore copied from a PDF.
    """
    for control, meant in CONTROLS.items():
        if control in text:
            text = re.sub(f"{control}(?=[a-z])", lambda _, meant=meant: meant, text)
    out = Folded(text)
    if ("^" in text or SOME_HIGH.search(text)) and ("_" in text or SOME_LOW.search(text)):
        typed = not math and "$" not in text and "\\" not in text
        swap = ((TYPED_LOW_HIGH if typed else LOW_HIGH) if high_first else TYPED_HIGH_LOW if typed else HIGH_LOW)
        text = swap.sub(r"\2\1", text)  # as long as before, so places stay right
    if ("'" in text or "\u2032" in text) and ("_" in text or SOME_LOW.search(text)):
        typed = "$" not in text and "\\" not in text and not math
        swap = (TYPED_LOW_PRIME if typed else LOW_PRIME) if high_first else TYPED_PRIME_LOW if typed else PRIME_LOW
        text = swap.sub(r"\2\1", text)
    dollars = math or text.count("$") % 2 == 0
    parts: list[str] = []
    starts, ends, begins, stops, marks = out.starts, out.ends, out.begins, out.stops, out.marks
    at = 0
    number_before = False  # the last thing emitted ends in a number
    last_length = 2  # letters in the last word; 1 makes what follows look like mathematics
    skipped = 0
    braces: dict[int, int] | None = None
    bars: list[int] = []  # places in the original where a numerator ends

    def emit(piece: str, begin: int, stop: int, *, number: bool = False) -> None:
        nonlocal at, number_before, last_length
        if not piece:
            return
        if number and number_before:
            parts.append(" ")
            at += 1
        parts.append(piece)
        starts.append(at)
        at += len(piece)
        ends.append(at)
        begins.append(begin)
        stops.append(stop)
        number_before, last_length = number, 0 if number else len(piece)

    def script(kind: str, stop: int) -> None:
        """A raised or lowered part begins. Between two unsigned numbers the sign is kept in the text: 10^4 is not 104."""
        if kind == "high" and number_before and EXPONENT.match(text, stop):
            emit("^", stop - 1, stop)
        else:
            marks.append(Mark(at, kind, place=stop - 1))

    def prime(must: bool, begin: int) -> None:
        if marks and marks[-1].at == at and marks[-1].kind == "high":  # x^\prime is x'
            marks.pop()
        marks.append(Mark(at, "prime", must, place=begin))

    following = 0
    while found := TOKEN.search(text, following):
        group, begin, stop, piece = found.lastgroup, found.start(), found.end(), found.group()
        following = stop
        if begin < skipped:  # 1 × 10^4 is 10^4
            continue
        while bars and begin > bars[-1]:
            bars.pop()
            marks.append(Mark(at, "slash", place=begin))
        if group == "word":
            plain = letters(piece)
            if plain == "x" and number_before:  # 16x16, 2x faster
                plain = "×"
            elif plain in REFERENCES and NUMBERED.match(text, stop):
                plain = REFERENCES[plain]
            elif plain == "sqrt" and text[stop: stop + 1] == "(":
                plain = "√"
            emit(plain, begin, stop)
        elif group == "number":
            if piece == "1" and ONE_TIMES_TEN.match(text, stop):
                skipped = text.index("10", stop)
                continue
            plain = re.sub(r"[^\d.]", "", piece) if len(piece) > 3 and not piece.replace(".", "").isdigit() else piece
            plain = f"0{plain}" if plain[0] == "." else plain
            emit(plain, begin, stop, number=True)
        elif group == "power":
            mantissa, sign, exponent = POWER.fullmatch(piece).groups()
            if mantissa != "1":
                emit(mantissa, begin, begin + len(mantissa), number=True)
                emit("×", begin + len(mantissa), begin + len(mantissa) + 1)
            emit("10", begin, stop, number=True)
            if sign and sign != "+":
                marks.extend((Mark(at, "high", place=begin), Mark(at, "dash", True, place=begin)))
            else:
                emit("^", begin, stop)
            emit(exponent, begin, stop, number=True)
        elif group == "command":
            name = piece[1:]
            if name in FRACTIONS:
                braces = closings(text) if braces is None else braces
                argument = stop + len(text[stop : stop + 40]) - len(text[stop : stop + 40].lstrip())
                bars.append(braces.get(argument, argument))
                bars.sort(reverse=True)
            elif name in SILENT:
                continue
            elif name == "prime":
                prime(True, begin)
            elif name in COMMANDS:
                plain = COMMANDS[name]
                if name in ("cdot", "ast") and number_before and TIMES.match(text, stop):
                    plain = "×"
                emit(plain, begin, stop)
            elif name == "%":
                emit("%", begin, stop)
            elif name == "|":
                emit("‖", begin, stop)
            elif name in ("(", "[", ")", "]"):
                math = name in ("(", "[")
            elif name.isalpha():
                emit(GREEK.get(name.lower(), letters(name)), begin, stop)
        elif group == "dash":
            minus = is_minus(text, piece, begin, stop, math, number_before, last_length)
            marks.append(Mark(at, "dash", minus, place=begin))
        elif group == "dollar":
            math = not math if dollars else math
        elif group == "script":
            script("high" if piece == "^" else "low", stop)
        elif group in ("high", "low"):
            plain = "".join((SUPERSCRIPTS if group == "high" else SUBSCRIPTS)[c] for c in piece)
            if group == "high" and number_before and plain[0].isdigit():
                emit("^", begin, stop)
            else:
                marks.append(Mark(at, group, place=begin))
            for part in re.findall(r"\d+|[a-z]+|[-+=]", plain):
                if part == "-":
                    marks.append(Mark(at, "dash", True, place=begin))
                else:
                    emit(part, begin, stop, number=part.isdigit())
        elif group == "slash":
            marks.append(Mark(at, "slash", True, place=begin))
        elif group == "prime":
            prime(math or piece not in "'\u2019", begin)
        elif group == "cite":
            if math and piece[0] in "[(":  # z[i-1] is an index: its signs are read like all others
                following = begin + 1
            elif math or (piece[0] == "[" and re.search(r"(?<![\w.])0(?!\w)", piece)):
                for inner in re.finditer(r"\d+|[^\W\d_]+", piece):  # an interval or a set
                    word = inner.group()
                    emit(word if word.isdigit() else letters(word), begin + inner.start(), begin + inner.end(),
                         number=word.isdigit())
            else:
                marks.append(Mark(at, "cite", False, citation(piece), begin))
        elif group == "operator":
            plain = OPERATORS.get(piece, piece)
            if piece in "*·⋅∗" and number_before and TIMES.match(text, stop):
                plain = "×"
            emit("" if plain == "*" else plain, begin, stop)
        elif group == "other" and not unicodedata.combining(piece):
            plain = OPERATORS.get(piece, letters(piece))
            emit(plain if plain.strip() else "", begin, stop, number=plain.isdigit())
    out.text = "".join(parts)
    return out


def is_minus(text: str, dash: str, begin: int, stop: int, math: bool, number_before: bool, last_length: int) -> bool:
    """Whether a dash is a minus sign or a range between numbers, which must not be lost, rather than a hyphen or a dash."""
    if len(dash) > 2 or "\u2014" in dash or "\u2015" in dash:
        return False
    if math or "\u2212" in dash:
        return True
    following = text[stop: stop + 2].lstrip(" $")[:1]
    before = text[begin - 1: begin] if begin else ""
    if following.isdigit():
        if number_before or last_length == 1:
            return not (before.isspace() and dash != "-")
        return text[stop: stop + 1].strip(" ") != "" and not before.isalnum()
    return last_length == 1 and dash == "-" and following.isalpha() and not text[stop: stop + 4].lstrip(" $")[1:2].isalpha()


def closings(text: str) -> dict[int, int]:
    """Where each opening brace of a text is closed."""
    out: dict[int, int] = {}
    open_braces: list[int] = []
    for found in re.finditer(r"[{}]", text):
        if found[0] == "{":
            open_braces.append(found.start())
        elif open_braces:
            out[open_braces.pop()] = found.start()
    return out


def citation(piece: str) -> str:
    """What a citation says that may not be changed: numbers ("#3,5"), years ("2014") or keys ("@adam"); "?" when unknown."""
    if piece.startswith(("\\", "[cite:")) or "?" in piece:
        return "?"
    if years := re.findall(r"(?<!\w)(?:19|20)\d\d(?=[a-z]?(?!\w))", piece):
        return ",".join(years)
    items = re.split(r"[\s,;]+", piece.strip("()[] \t\n,;"))
    if items[0][:1].isdigit():
        return "#" + (",".join(items) if all(item[:1].isdigit() for item in items) else ":".join(items))  # [4, Ch. 3] is 4:Ch.:3
    return "@" + ",".join(items)


def agree(quote: list[Mark], passage: list[Mark], shift: int, length: int, *, lossy: bool, references: int) -> bool:
    """Whether the marks inside a quote of `length` folded characters, found at `shift`, are those of the passage.

    `lossy`: the passage comes from a source that loses powers and indices (the glyphs of a PDF). `references`: how many
    entries the bibliography has; a number in brackets above that is no citation.
    """
    here: dict[int, list[Mark]] = {}
    first = bisect_left(passage, (shift + 1,))
    for mark in passage[first: bisect_left(passage, (shift + length,))]:
        here.setdefault(mark.at - shift, []).append(mark)
    there: dict[int, list[Mark]] = {}
    for mark in quote:
        if 0 < mark.at < length:
            there.setdefault(mark.at, []).append(mark)
    for at in here.keys() | there.keys():
        ours, theirs = there.get(at, ()), here.get(at, ())
        if not cited_alike(ours, theirs, references):
            return False
        for one, other in ((ours, theirs), (theirs, ours)):
            kinds = {mark.kind for mark in other}
            for mark in one:
                if mark.must and mark.kind not in kinds:
                    return False
                if mark.kind == "high" and ("low" in kinds and "high" not in kinds):
                    return False
                if mark.kind == "high" and one is ours and "high" not in kinds and not lossy:
                    return False
    return True


def cited_alike(ours: Iterable[Mark], theirs: Iterable[Mark], references: int) -> bool:
    """Whether a quote cites what the paper does at one place. It may leave the citation out, or name it by another system (numbers,
    years, keys); within one system they must be equal. A number above `references` is no citation and may not be left out."""
    said, printed = systems(ours), systems(theirs)
    if any(system in printed and printed[system] != what for system, what in said.items()):
        return False
    if said and not printed:
        return False
    numbers = (int(number) for each in printed.get("#", ()) for number in re.findall(r"\d+", each.partition(":")[0]))
    return bool(said) or all(number <= references for number in numbers)


def systems(marks: Iterable[Mark]) -> dict[str, set[str]]:
    """The citations among some marks by how they are named: "#" numbers, "@" keys, "year", "?"."""
    out: dict[str, set[str]] = {}
    for mark in marks:
        if mark.kind == "cite":
            system = mark.what[0] if mark.what[0] in "#@?" else "year"
            out.setdefault(system, set()).update(mark.what.lstrip("#@").split(","))
    return out


def legible(text: str) -> str:
    """The longest part of a text without signs that have no meaning: what can be quoted of it."""
    return max((part.strip(" ,;") for part in BROKEN.split(text)), key=len)
