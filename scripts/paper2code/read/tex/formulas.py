"""Formulas: inline ones as `$…$`, displays row by row with the numbers they are printed with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from paper2code.paper import Block, Equation
from paper2code.read.tex.document import ENVIRONMENTS, Document, command, environment
from paper2code.read.tex.engine import stripped
from paper2code.read.tex.lexer import written
from paper2code.read.tex.structure import REFERENCES, mark, note, note_text, refer

# How a display's rows are numbered: each row, the whole, or not at all; and the arguments that come first.
DISPLAYS = {
    "equation": ("whole", ""), "align": ("rows", ""), "gather": ("rows", ""), "multline": ("whole", ""), "eqnarray": ("rows", ""),
    "flalign": ("rows", ""), "alignat": ("rows", "{"), "xalignat": ("rows", "{"), "xxalignat": ("none", "{"), "dmath": ("whole",
        "["),
    "displaymath": ("none", ""), "math": ("inline", ""), "IEEEeqnarray": ("rows", "[{"), "darray": ("rows", "[{"),

    "numcases": ("cases", "{"), "subnumcases": ("cases", "{"), "empheq": ("named", "[{"), "eqnalign": ("rows", ""),

    "tightalign": ("rows", ""), "tightequation": ("whole", ""),
    "gathered*": ("none", ""), "equations": ("rows", ""),
}
STARRED = {f"{name}*": ("none" if how[0] != "inline" else "inline", how[1]) for name,
           how in DISPLAYS.items() if not name.endswith("*")}
DISPLAYS |= STARRED
Document.display_names = frozenset(name for name in DISPLAYS if name.isalpha())

# Commands that take their arguments unbraced too; an author macro there is one argument, whatever it expands to.
ARGUMENTS = {f"\\{name}": count for count, names in {
    1: "sqrt mathbf mathrm mathit mathsf mathtt mathcal mathbb mathscr mathfrak bm boldsymbol hat tilde bar vec dot ddot check "
       "breve acute grave "
       "widehat widetilde overline underline overrightarrow overleftarrow mathring textbf text textrm mathop operatorname mbox",
    2: "frac dfrac tfrac binom dbinom tbinom overset underset stackrel cfrac nicefrac sfrac",
}.items() for name in names.split()}
REFERENCE_TOKENS = frozenset("\\" + name for name in REFERENCES)
CITE_TOKENS = frozenset(("\\cite", "\\citep", "\\citet", "\\citealp", "\\citealt", "\\parencite", "\\textcite"))
DROPPED = frozenset(("\\displaybreak", "\\allowdisplaybreaks", "\\xspace", "\\relax", "\\protect", "\\unskip", "\\par",
                     "\\noindent", "\\strut", "\\mathstrut", "\\centering", "\\small", "\\footnotesize", "\\scriptsize",
                     "\\normalsize", "\\null", "\\tiny", "\\large", "\\hfill", "\\hfil", "\\vfill", "\\smallskip", "\\medskip",
                     "\\bigskip", "\\leavevmode", "\\endgraf", "\\nobreak", "\\ignorespaces", "\\BooleanFalse", "\\BooleanTrue",
                     "\\NoValue", "\\newline", "\\/"))
SIZED = {"\\vspace": "*{", "\\vskip": "=", "\\hskip": "=", "\\mkern": "=", "\\kern": "=", "\\mskip": "=", "\\setlength": "{{",
         "\\resizebox": "*{{", "\\scalebox": "{[", "\\abovedisplayskip": "=", "\\belowdisplayskip": "=", "\\colorbox": "[{",
         "\\phantomsection": "", "\\jot": "=", "\\arraycolsep": "=", "\\hypertarget": "{", "\\hyperlink": "{",
         "\\vphantom": "{", "\\captionsetup": "{", "\\pagebreak": "[", "\\nopagebreak": "[", "\\cellcolor": "[{",
         "\\raisebox": "{[[", "\\IEEEnonumber": "", "\\thickmuskip": "=", "\\medmuskip": "=", "\\thinmuskip": "=",
         "\\addtolength": "{{", "\\todo": "[{", "\\index": "{"}


@dataclass
class Row:
    tokens: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    tag: str | None = None
    plain: bool = False  # \nonumber
    stepped: bool = False  # \refstepcounter{equation} by hand
    number: bool = False  # \yesnumber
    start: int | None = None
    stop: int | None = None
    said: str = ""  # \intertext after this row


def collect(doc: Document, stops: frozenset[str] | set[str], *, rows: bool = False, name: str = "") -> list[Row]:
    """The tokens of a formula up to one of `stops`, expanded; in rows when asked to."""
    row = Row(start=place(doc))
    out = [row]
    depth = nested = 0
    append = row.tokens.append
    doc.math += 1
    token_of = doc.token
    try:
        while True:
            before = place(doc)
            token = token_of()
            if token is None:
                doc.warn("no-end", f"a formula{f' ({name})' if name else ''} has no end")
                break
            first = token[0]
            if first == "{":
                depth += 1
                doc.begin_group()
                append(token)
                continue
            if first == "}":
                if depth:
                    depth -= 1
                    doc.end_group()
                    append(token)
                continue
            if token in stops and not depth and not nested:
                row.stop = before
                break
            if first != "\\":
                append(token)
                if len(row.tokens) > 300_000:
                    doc.warn("too-long", "a formula is longer than 300,000 tokens; the rest of it is left out")
                    break
                continue
            if token[1:2] == "\x01":
                token = "\\" + token[2:]
            if token.startswith("\\begin{"):
                nested += 1
                append(token)
            elif token.startswith("\\end{"):
                if nested:
                    nested -= 1
                    append(token)
                elif token in stops or doc.inside(token[5:-1]) or token == "\\end{document}":
                    if token not in stops or depth:
                        doc.warn("unbalanced-braces", f"a formula{f' ({name})' if name else ''} ends with an open brace or "
                                                      f"without its own end")
                    if token not in stops:
                        doc.back.append(token)
                    else:
                        row.stop = before
                    break
            elif token in ("\\\\", "\\cr", "\\tabularnewline", "\\newline") and rows and not depth and not nested:
                if token == "\\\\":
                    doc.star()
                    doc.length()
                row.stop = before
                row = Row(start=place(doc))
                out.append(row)
                append = row.tokens.append
            elif token == "\\par":
                if stops == {"$"}:
                    doc.warn("no-end", "a formula between dollar signs is never closed")
                    doc.back.append(token)
                    break
            elif token in ("\\section", "\\subsection", "\\enddocument"):
                doc.warn("no-end", f"a formula{f' ({name})' if name else ''} has no end before the next section")
                doc.back.append(token)
                break
            elif token == "\\label":
                row.labels.append(doc.word_arg())
            elif token == "\\tag":
                star = doc.star()
                doc.math, maths = 0, doc.math
                tag = doc.text(doc.arg())
                doc.math = maths
                row.tag = tag if tag else None
                if star:
                    row.tag = tag
            elif token in ("\\eqno", "\\leqno") and not depth:
                held: list[str] = []
                while True:
                    held_token = doc.token()
                    if held_token is None or held_token in stops or held_token == "\\label":
                        if held_token is not None:
                            doc.back.append(held_token)
                        break
                    held.append(held_token)
                doc.math, maths = 0, doc.math
                row.tag = re.sub(r"^\s*[(\[]?\s*|\s*[)\]]?\s*$", "", doc.text(held)) or None
                doc.math = maths
            elif token in ("\\nonumber", "\\notag", "\\IEEEnonumber"):
                row.plain = True
            elif token in ("\\yesnumber", "\\IEEEyesnumber", "\\IEEEyessubnumber"):
                row.number = True
            elif token in ("\\refstepcounter", "\\stepcounter"):
                counter = doc.word_arg()
                doc.counters.new(counter)
                if token == "\\refstepcounter":
                    doc.step(counter)
                    row.stepped = row.stepped or counter == "equation"
                else:
                    doc.counters.step(counter)
            elif token in ("\\addtocounter", "\\setcounter"):
                counter = doc.word_arg()
                doc.math, maths = 0, doc.math
                value = doc.number_of(doc.arg())
                doc.math = maths
                doc.values[counter] = value + (doc.values.get(counter, 0) if token == "\\addtocounter" else 0)
            elif token in DROPPED:
                pass
            elif token in SIZED:
                doc.skip_arguments(SIZED[token])
            elif token in ("\\intertext", "\\shortintertext") and not depth:
                row.said = row.said or ""
                held = doc.arg()
                doc.math, maths = 0, doc.math
                target = out[-2] if len(out) > 1 and not stripped(row.tokens) else row
                target.said = f"{target.said} {doc.text(held)}".strip()
                doc.math = maths
            elif token in REFERENCE_TOKENS:
                doc.star()
                keys = doc.word_arg()
                refer(doc, token[1:], keys)
                append("\0" + mark(token[1:], keys))
            elif token in CITE_TOKENS:
                optional, second = doc.optional(), doc.optional()
                keys = doc.word_arg()
                doc.cited += [key.strip() for key in keys.split(",")]
                append("\0" + mark(token[1:], keys, doc.text(optional or []), doc.text(second or [])))
            elif token in ("\\footnote", "\\footnotemark", "\\footnotetext"):
                given = doc.optional()
                if token != "\\footnotemark":
                    number = doc.step("footnote", "footnote") if token == "\\footnote" and given is None else None
                    doc.math, maths = 0, doc.math
                    note(doc, note_text(doc, doc.arg()), number)
                    doc.math = maths
                elif given is None:
                    doc.counters.step("footnote")
            elif token in ARGUMENTS:
                append(token)
                arguments(doc, row, ARGUMENTS[token])
            else:
                append(token)
    finally:
        doc.math -= 1
        while depth > 0:
            doc.end_group()
            depth -= 1
    return out


def arguments(doc: Document, row: Row, count: int) -> None:
    """The arguments of a command; an author macro among them is put in braces when it is more than one token."""
    for _ in range(count):
        token = doc.next()
        while token == " ":
            token = doc.next()
        if token is None:
            return
        if token in doc.macros and doc.macros[token].plain:
            held = doc.expanded([token])
            row.tokens += held if len(held) == 1 and len(held[0]) == 1 else ["{", *held, "}"]
            continue
        doc.back.append(token)
        if token == "{" and count > 1:
            doc.next()
            inner = doc.balanced()
            doc.math += 1
            row.tokens += ["{", *tidy_inner(doc, inner), "}"]
            doc.math -= 1
            continue
        if token == "{" or token[0] == "\\":
            return
        doc.next()
        if len(token) > 1 and token[0] not in "\0" and count > 1:
            doc.back.append(token[1:])
            token = token[0]
        row.tokens.append(token)


def tidy_inner(doc: Document, tokens: list[str]) -> list[str]:
    """Tokens of an argument inside a formula, read as the formula itself is."""
    if len(doc.stack) > 100:
        return tokens
    doc.open(tokens=[*tokens, "\\\x02stop"], barrier=True)
    try:
        rows = collect(doc, {"\\\x02stop"})
    finally:
        doc.close()
    return rows[0].tokens


def place(doc: Document) -> int | None:
    """Where in its file the reader stands, when it reads straight from the file."""
    lexer = doc.lexer
    return lexer.pos if lexer is not None and not doc.back and not lexer.queue else None


def latex(tokens: list[str]) -> str:
    text = written(tokens)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"^\\!|\\(?:qquad|quad|,|;|:|!)\s*$", "", text).strip()
    return text


# --- inline ----------------------------------------------------------------------------------------------------------------


@command("math$", "(")
def inline(doc: Document, name: str) -> None:
    if doc.context.kind == "void":
        return
    if name == "math$" and doc.peek() == "$":
        doc.next()
        display(doc, "$$")
        return
    rows = collect(doc, {"$"} if name == "math$" else {"\\)"}, name="inline")
    text = latex(decolored(rows[0].tokens))
    if text:
        doc.put(f"${text}$")
    for row in rows:
        for label in row.labels:
            doc.set_label(label)


def decolored(tokens: list[str]) -> list[str]:
    """Without colours: in running text they say nothing that is printed."""
    if "\\color" not in tokens and "\\textcolor" not in tokens:
        return tokens
    out: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token in ("\\color", "\\textcolor"):
            while at < len(tokens) and tokens[at] != "{":
                at += 1
            while at < len(tokens) and tokens[at] != "}":
                at += 1
            at += 1
        else:
            out.append(token)
    return out


# --- displays --------------------------------------------------------------------------------------------------------------


@command("[")
def bracket(doc: Document, name: str) -> None:
    display(doc, "\\[")


@environment(*DISPLAYS)
def begin_display(doc: Document, name: str) -> object:
    display(doc, name)
    return None


def display(doc: Document, name: str) -> None:
    """Read a display and keep its equations."""
    how, spec = DISPLAYS.get(name, ("none", ""))
    stops = {"$"} if name == "$$" else {"\\]"} if name == "\\[" else {f"\\end{{{name}}}"}
    head: list[str] = []
    inner = name
    if how == "named":
        doc.optional()
        inner = doc.word_arg().strip()
        inner = re.sub(r"^\{?[^=]*=>\s*", "", inner)
        inner = re.sub(r"[\s{=].*", "", inner) or "equation"
        how = DISPLAYS.get(inner, ("whole", ""))[0]
        if name.endswith("*"):
            how = "none"
    elif how == "cases":
        head = doc.arg()
        how = "rows"
    else:
        doc.skip_arguments(spec)
    if how == "inline":
        rows = collect(doc, stops, name=name)
        doc.put(f"${latex(rows[0].tokens)}$")
        return
    whole = how == "whole" or name in ("$$", "\\[") or inner.rstrip("*") in ("equation", "multline", "dmath", "displaymath")
    stepped = False
    before = doc.label_now
    skip = doc.only_referenced is not None
    if how == "whole" and not skip:
        doc.step("equation")
        stepped = True
    rows = collect(doc, stops, rows=not whole, name=name)
    if name == "$$":
        token = doc.next()
        if token != "$" and token is not None:
            doc.back.append(token)
    if len(rows) == 1 or how == "none" or not stripped(rows[-1].tokens) and rows[-1].plain:
        rows = [row for row in rows if stripped(row.tokens) or row.labels or row.tag is not None]
    if head:
        head_text = doc.text(["$", *head, "$"])[1:-1]
        if rows and head_text:
            rows[0].tokens[:0] = [head_text, " "]
    keep_rows(doc, rows, how, stepped, before)


def keep_rows(doc: Document, rows: list[Row], how: str, stepped: bool, before: object) -> None:
    """Number the rows and make an equation of each number; a row without one joins the next that has one."""
    group = doc.new_id()
    made: list[Equation] = []
    waiting: list[Row] = []
    labels: list[str] = []
    skip = doc.only_referenced
    for row in rows:
        labels += row.labels
        number: str | None = None
        numbered = (how in ("rows", "whole") and not row.plain) or row.number
        if numbered and row.tag is None and skip is not None and not any(label in skip for label in labels):
            numbered = False
        if row.tag is not None:
            number = row.tag
            if stepped:
                doc.values["equation"] -= 1
            if row.labels or labels:
                doc.label_now = (number, "equation", "")
        elif numbered:
            if not stepped:
                doc.step("equation")
            number = doc.printed("equation")
            doc.label_now = (number, "equation", "")
        elif stepped:
            doc.values["equation"] -= 1
        elif row.stepped:
            number = doc.printed("equation")
        if number is None and waiting and not continues(row):
            follow(doc, made, waiting, group)
            waiting = []
        waiting.append(row)
        if number is not None:
            for label in labels:
                doc.labels[label] = (number, "equation", "")
            if len(waiting) > 1 and not continues(row):
                follow(doc, made, waiting[:-1], group)
                waiting = [row]
            made.append(make(doc, waiting, number.strip(), labels[-1] if labels else None, group))
            waiting, labels = [], []
    if waiting:
        for label in labels:
            doc.set_label(label)
        follow(doc, made, waiting, group, labels[-1] if labels else None)
    doc.label_now = before if not any(row.labels for row in rows) else doc.label_now
    put(doc, made, [row.said for row in rows if row.said])


# A row that begins so goes on with the row before: a relation or an operator with nothing to its left.
CONTINUES = re.compile(r"(?:[&\s{}~]|\\(?:quad|qquad|,|;|:|!|>| |hspace\*?\{[^}]*\}|displaystyle|left\.|phantom\{[^}]*\}|mathrel|"
                       r"mathbin))*"
                       r"(?:[=<>+\-*/,.;:|)\]]|\\(?:leq?|geq?|neq?|equiv|approx|sim|simeq|cong|propto|to|rightarrow|leftarrow|"
                       r"Rightarrow|"
                       r"Leftrightarrow|iff|implies|times|cdot|cdots|otimes|oplus|cup|cap|wedge|vee|land|lor|in|subset|subseteq|pm|mp|"
                       r"triangleq|coloneqq|stackrel|overset|underset|lesssim|gtrsim|ll|gg|leqslant|geqslant|le|ge|ne|div|mid|right|"
                       r"Big|"
                       r"qquad|text\{\s*(?:s\.t\.|subject to|where|and|with|if|for))\b|$)")


def continues(row: Row) -> bool:
    text = latex(row.tokens)
    if CONTINUES.match(text):
        return True
    # Set off to the right of an alignment point that the first row filled.
    return bool(re.match(r"\s*&", text))


def follow(doc: Document, made: list[Equation], rows: list[Row], group: str, label: str | None = None) -> None:
    """Rows that lead up to no number: they go on with the equation before, or are an unnumbered one."""
    if not any(stripped(row.tokens) for row in rows):
        return
    if made and made[-1].number and continues(rows[0]):
        last = made[-1]
        last.latex = f"{last.latex} \\\\ {joined(rows)}"
        last.raw = f"{last.raw} \\\\ {raw(doc, rows) or joined(rows)}"
    else:
        made.append(make(doc, rows, None, label, group))


def make(doc: Document, rows: list[Row], number: str | None, label: str | None, group: str) -> Equation:
    text = joined(rows)
    return Equation(doc.new_id(), number or None, text, raw(doc, rows) or text, label=label, group=group, section=doc.here,
                    source="latex")


def joined(rows: list[Row]) -> str:
    return " \\\\ ".join(text for row in rows if (text := latex(row.tokens)))


def raw(doc: Document, rows: list[Row]) -> str:
    """What the author wrote, where the rows were read straight from a file."""
    lexer = doc.lexer
    out = []
    for row in rows:
        if lexer is None or row.start is None or row.stop is None or row.stop < row.start or row.stop - row.start > 200_000:
            return ""
        out.append(lexer.text[row.start:row.stop].strip())
    return " \\\\ ".join(out)


def put(doc: Document, made: list[Equation], said: list[str]) -> None:
    """Put equations where the reader stands."""
    kind = doc.context.kind
    if kind == "body":
        doc.par()
        for equation in made:
            doc.paper.equations.append(equation)
            doc.add(Block("equation", ref=equation.id, source="latex"))
        for text in said:
            doc.paragraph(text)
        return
    for equation in made:
        if equation.number is not None or kind == "void":
            doc.paper.equations.append(equation)
            doc.add_later(Block("equation", ref=equation.id, source="latex"))
        doc.put(f" ${equation.latex}$ ")
    for text in said:
        doc.put(f" {text} ")


def begin_subequations(doc: Document, name: str) -> object:
    doc.optional()
    number = doc.step("equation")
    saved = doc.values["equation"]
    macro = doc.macros.get("\\theequation")
    doc.values["parentequation"] = saved
    doc.values["equation"] = 0
    doc.counters.show("equation", f"{{{number}}}\\alph{{equation}}")
    own = doc.macros.get("\\thesubequation")
    if own is not None:
        doc.macros["\\theequation"] = own
    doc.styles["subequations"] = doc.styles.get("subequations", 0)
    return saved, macro


def end_subequations(doc: Document, name: str, state: object) -> None:
    saved, macro = state
    doc.values["equation"] = saved
    doc.macros["\\theequation"] = macro


ENVIRONMENTS["subequations"] = (begin_subequations, end_subequations)
ENVIRONMENTS["dgroup"] = (begin_subequations, end_subequations)
for _name in ("dgroup*", "dseries", "dseries*"):
    ENVIRONMENTS[_name] = (lambda doc, name: True, None)
