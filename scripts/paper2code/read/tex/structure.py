"""Preamble, front matter, sections, footnotes, lists, theorems, and the commands of running text."""

from __future__ import annotations

import re

from paper2code.paper import Block, Footnote, Link
from paper2code.read.tex.document import COMMANDS, END, ENVIRONMENTS, MARK, SEP, Document, command, environment
from paper2code.read.tex.engine import Macro
from paper2code.read.tex.lexer import lex, written
from paper2code.read.tex.passed import CARRIED, CITE_IS_CITEP, PASSED, VENUES
from paper2code.read.tex.symbols import ACCENTS, DINGS, SYMBOLS, TEXT, accent

# --- text ----------------------------------------------------------------------------------------------------------------

for _name, _text in {**TEXT, **SYMBOLS}.items():
    def _put(doc: Document, name: str, text: str = _text) -> None:
        doc.context.parts.append(text)
    COMMANDS[_name] = _put

for _name in ACCENTS:
    def _accent(doc: Document, name: str) -> None:
        doc.put(accent(name, doc.text(doc.arg())))
    COMMANDS[_name] = _accent


@command("textcircled")
def circled(doc: Document, name: str) -> None:
    held = doc.text(doc.arg())
    doc.put({str(n): chr(0x245F + n) for n in range(1, 21)}.get(held, f"({held})"))


@command("char", "symbol")
def char(doc: Document, name: str) -> None:
    if name == "symbol":
        value = doc.number_of(doc.arg())
    else:
        value = doc.number()
    if 32 <= value < 0x11000:
        doc.put(chr(value))


@command("ding", "Pisymbol")
def ding(doc: Document, name: str) -> None:
    if name == "Pisymbol":
        doc.arg()
    doc.put(DINGS.get(doc.number_of(doc.arg()), ""))


@command("texttt", "code", "lstinline", "mintinline")
def texttt(doc: Document, name: str) -> None:
    if name in ("lstinline", "mintinline"):
        doc.optional()
    if name == "mintinline":
        doc.arg()
    if name == "code" and doc.peek() != "{":
        return
    doc.typewriter += 1
    try:
        doc.put(doc.text(doc.arg()))
    finally:
        doc.typewriter -= 1


@command("textsuperscript", "textsubscript", "textsu", "up", "fup")
def raised(doc: Document, name: str) -> None:
    held = doc.text(doc.arg())
    if re.fullmatch(r"[-−–+]?[\d.,]+", held):
        doc.put(f"${'_' if name.endswith('subscript') else '^'}{{{held}}}$")
    else:
        doc.put(held.replace("$", "") if held.count("$") == 2 and len(held) < 8 else held)


@command("uppercase", "MakeUppercase", "lowercase", "MakeLowercase", "MakeTextUppercase", "MakeTextLowercase")
def cased(doc: Document, name: str) -> None:
    held = doc.text(doc.arg())
    doc.put(held if MARK in held or "$" in held else held.upper() if "pper" in name else held.lower())


@command("num", "qty", "SI", "si", "unit", "ang", "numrange", "SIrange", "numlist", "numproduct")
def siunitx(doc: Document, name: str) -> None:
    doc.optional()
    if name in ("si", "unit"):
        doc.put(units(doc))
        return
    value = number_text(doc.text(doc.arg()))
    if name == "ang":
        value += "°"
    elif name in ("numrange", "SIrange"):
        value = f"{value} to {number_text(doc.text(doc.arg()))}"
    elif name == "numlist":
        value = value.replace(";", ", ")
    doc.put(value)
    if name in ("qty", "SI", "SIrange"):
        doc.optional()
        unit = units(doc)
        doc.put(unit if unit in ("°", "%") else f" {unit}")


UNITS = {"kilo": "k", "mega": "M", "giga": "G", "tera": "T", "milli": "m", "micro": "µ", "nano": "n", "pico": "p", "centi": "c",
         "deci": "d", "femto": "f", "peta": "P", "meter": "m", "metre": "m", "second": "s", "gram": "g", "kilogram": "kg",
         "hertz": "Hz", "byte": "B", "bit": "bit", "watt": "W", "joule": "J", "kelvin": "K", "ampere": "A", "volt": "V",
         "newton": "N", "pascal": "Pa", "hour": "h", "minute": "min", "day": "d", "percent": "%", "degree": "°",
         "celsius": "°C", "degreeCelsius": "°C", "liter": "l", "litre": "l", "mole": "mol", "electronvolt": "eV", "per": "/",
         "squared": "²", "cubed": "³", "of": "", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti", "radian": "rad",
         "ohm": "Ω", "farad": "F", "tesla": "T", "decibel": "dB", "angstrom": "Å", "square": "", "cubic": ""}


def units(doc: Document) -> str:
    out = ""
    for token in doc.arg():
        if token[0] == "\\":
            out += UNITS.get(token[1:], "" if not token[1:].isalpha() else token[1:])
        elif token not in "{}~ ":
            out += token
    return out


def number_text(text: str) -> str:
    found = re.fullmatch(r"\s*([-+]?[\d.,]*)\s*[eEdD]\s*([-+]?\d+)\s*", text)
    if found:
        factor = f"{found[1]} \\times " if found[1] else ""
        return f"${factor}10^{{{found[2].lstrip('+')}}}$"
    return text.strip()


# --- what is passed over ----------------------------------------------------------------------------------------------------

for _spec, _names in PASSED.items():
    for _name in _names.split():
        def _skip(doc: Document, name: str, spec: str = _spec) -> None:
            if spec:
                doc.skip_arguments(spec)
        COMMANDS.setdefault(_name, _skip)


@command("tolerance", "penalty", "clubpenalty", "widowpenalty", "interlinepenalty", "pdfoutput", "hyphenpenalty",
         "exhyphenpenalty", "pretolerance", "looseness", "displaywidowpenalty", "interdisplaylinepenalty", "brokenpenalty",
         "hbadness", "vbadness", "pdfcompresslevel", "pdfminorversion", "predisplaypenalty", "postdisplaypenalty",
         "binoppenalty", "relpenalty", "hangafter")
def integer_parameter(doc: Document, name: str) -> None:
    doc.skip_spaces()
    token = doc.peek() or ""
    if token[0:1] == "=":
        doc.next()
        if token[1:]:
            doc.back.append(token[1:])
    doc.number()


@command("hspace", "hskip")
def hspace(doc: Document, name: str) -> None:
    if name == "hskip":
        doc.dimension()
    else:
        doc.star()
        if written(doc.arg()).lstrip().startswith("-"):
            return
    doc.put(" ")


@command("vrule", "hrule")
def ruled(doc: Document, name: str) -> None:
    box_size(doc, ("width", "height", "depth"))


@command("hbox", "vbox", "vtop", "vcenter", "hss", "leaders", "cleaders", "xleaders")
def hbox(doc: Document, name: str) -> None:
    box_size(doc, ("to", "spread"))


def box_size(doc: Document, words: tuple[str, ...]) -> None:
    """Pass `to 3pt`, `height .8ex depth 2pt` and their like."""
    for _ in range(4):
        doc.skip_spaces()
        token = doc.peek() or ""
        found = next((word for word in words if token.startswith(word)), None)
        if found is None or not (token == found or token[len(found)] in "-.0123456789"):
            return
        doc.next()
        if token[len(found):]:
            doc.back.append(token[len(found):])
        before = doc.peek()
        doc.dimension()
        if doc.peek() is before:
            return


@command("par", "bigbreak", "endgraf")
def par(doc: Document, name: str) -> None:
    doc.par()


@command("\\")
def line_end(doc: Document, name: str) -> None:
    if doc.tables and doc.context.kind == "cell":
        COMMANDS["tabularnewline"](doc, name)
        return
    doc.star()
    doc.length()
    if doc.context.kind == "line":
        doc.par()
        if doc.algorithm is not None:
            doc.algorithm.broken()
    else:
        doc.put(" ")


WHITE = re.compile(r"\s*(?:white|white!\d+|1(?:\.0*)?(?:\s*,\s*1(?:\.0*)?){2}|FFFFFF|255\s*,\s*255\s*,\s*255|0\s*,\s*0\s*,\s*0\s*,\s*0)\s*", re.I)


@command("textcolor")
def textcolor(doc: Document, name: str) -> None:
    doc.optional()
    if WHITE.fullmatch(written(doc.arg())) and on_paper(doc):
        hide(doc, doc.arg(), "white text")


@command("color")
def color(doc: Document, name: str) -> None:
    """From here to the end of the group text has this colour."""
    doc.optional()
    if not WHITE.fullmatch(written(doc.arg())) or not on_paper(doc):
        return
    around = doc.open_environments[-1] if doc.open_environments else None
    if len(doc.groups) > (0 if around is None else around.groups + (around.name != "document")):
        hide(doc, doc.balanced(), "white text")
        doc.back.append("}")


def on_paper(doc: Document) -> bool:
    """Whether text is set on the page itself: in tables, boxes and floats the ground may be dark."""
    return doc.context.kind in ("body", "abstract") and not doc.inside("tcolorbox", "mdframed", "shaded", "framed", "minipage")


def hide(doc: Document, tokens: list[str], how: str) -> None:
    """Keep text that is not meant to be seen out of the paper, and in the list of such text."""
    text = doc.text(tokens)
    if len(re.findall(r"\w", text)) >= 8:
        doc.paper.hidden.append({"text": text, "how": how, "where": doc.where(), "page": None})
    else:
        doc.put(text)


@command("colorbox", "highlight", "todocolor")
def colorbox(doc: Document, name: str) -> None:
    doc.optional()
    doc.arg()
    held = doc.arg()
    doc.put(doc.text(held))


@command("fcolorbox")
def fcolorbox(doc: Document, name: str) -> None:
    doc.skip_arguments("[{{")


@command("resizebox", "scalebox", "rotatebox", "parbox", "raisebox", "makebox", "framebox", "adjustbox", "clipbox",
         "reflectbox", "shortstack", "makecell", "thead", "rothead", "multirowcell", "fbox", "tcbox", "hyperlink",
         "hypertarget", "foreignlanguage", "textls", "specialcell", "tabincell", "Centerstack", "resizebox*")
def boxed(doc: Document, name: str) -> None:
    """Sizes and places of boxes go, what is in them stays."""
    if name in ("makecell", "thead", "rothead", "shortstack", "Centerstack", "specialcell"):
        doc.star()
        doc.optional()
        doc.put(doc.text([t if t != "\\\\" else " " for t in doc.arg()]))
        return
    doc.skip_arguments({"resizebox": "*{{", "scalebox": "{[", "rotatebox": "[{", "parbox": "[[[{", "raisebox": "{[[",
                        "makebox": "([[", "framebox": "([[", "adjustbox": "{", "clipbox": "{", "multirowcell": "{[",
                        "tcbox": "[", "hyperlink": "{", "hypertarget": "{", "foreignlanguage": "[{", "textls": "[",
                        "tabincell": "{"}.get(name, ""))


@command("phantom", "vphantom", "hphantom", "marginpar", "marginnote", "todo", "missingfigure", "glsadd", "fxnote",
         "pdfcomment", "lipsum", "blindtext")
def unprinted(doc: Document, name: str) -> None:
    doc.star()
    doc.optional()
    if name not in ("lipsum", "blindtext"):
        doc.arg()


@command("rule", "includesvg", "includepdf")
def rule(doc: Document, name: str) -> None:
    doc.optional()
    doc.arg()
    if name == "rule":
        doc.arg()


@command("advance")
def advance(doc: Document, name: str) -> None:
    token = doc.next() or ""
    if token == " ":
        token = doc.next() or ""
    doc.follows([" "])
    doc.follows(["b", "y"])
    if token.startswith("\\c@"):
        doc.values[token[3:]] = doc.values.get(token[3:], 0) + doc.number()
    else:
        doc.dimension()


@command("catcode")
def catcode(doc: Document, name: str) -> None:
    doc.number()
    integer_parameter(doc, name)


@command("setbox", "newbox", "newcount", "newdimen", "newskip", "newtoks", "newread", "newwrite")
def register(doc: Document, name: str) -> None:
    doc.next()


@command("endinput")
def endinput(doc: Document, name: str) -> None:
    lexer = doc.file()
    if lexer is not None:
        lexer.pos = len(lexer.text)
        lexer.queue.clear()


# --- preamble ------------------------------------------------------------------------------------------------------------

@command("documentclass", "documentstyle", "LoadClass", "LoadClassWithOptions")
def documentclass(doc: Document, name: str) -> None:
    options = written(doc.optional() or [])
    wanted = doc.word_arg()
    doc.optional()
    if name.startswith("document"):
        doc.class_name = wanted
        doc.packages.setdefault("@class", options)
    if name == "documentstyle":
        for package in options.split(","):
            load(doc, package.strip(), "")
    if wanted.startswith("subfiles"):
        main = options.strip()
        if main and doc.source.find(main):
            head = re.split(r"\\begin\s*\{document\}", doc.source.text(doc.source.find(main)))[0]
            head = re.sub(r"\\documentclass\s*(\[[^\]]*\])?\s*\{[^}]*\}", "", head)
            doc.push(lex(head))
        return
    class_defaults(doc, wanted, options)
    load(doc, wanted, options, ".cls")


def class_defaults(doc: Document, name: str, options: str) -> None:
    """How the well-known classes number things."""
    counters = doc.counters
    if re.match(r"(book|report|memoir|scrbook|scrreprt|.*thesis|amsbook|svmono|svmult)", name, re.I):
        counters.number_within("section", "chapter")
        for item in ("equation", "figure", "table"):
            counters.number_within(item, "chapter")
        counters.within("footnote", "chapter")
    elif name.startswith("IEEEtran"):
        counters.show("section", "\\Roman{section}")
        counters.show("subsection", "\\thesection-\\Alph{subsection}")
        counters.show("subsubsection", "\\thesubsection\\arabic{subsubsection}")
        counters.show("table", "\\Roman{table}")
    elif name.startswith("revtex"):
        counters.show("section", "\\Roman{section}")
        counters.show("subsection", "\\thesection.\\Alph{subsection}")
        counters.show("subsubsection", "\\thesubsection.\\arabic{subsubsection}")
        counters.show("table", "\\Roman{table}")


@command("usepackage", "RequirePackage", "RequirePackageWithOptions")
def usepackage(doc: Document, name: str) -> None:
    options = written(doc.optional() or [])
    names = doc.word_arg()
    doc.optional()
    for package in reversed(names.split(",")):
        load(doc, package.strip(), options)


def load(doc: Document, name: str, options: str, ending: str = ".sty") -> None:
    """Note a package; take the definitions of one that came with the source and is not a well-known one."""
    if not name:
        return
    again = name in doc.packages
    doc.packages[name] = doc.packages.get(name, "") + "," + options
    if name in ("autonum",) or "showonlyrefs" in options:
        doc.styles["only referenced"] = True
    if name == "cite":
        doc.styles["cite sort"] = doc.styles["cite compress"] = True
    if CITE_IS_CITEP.match(name):
        doc.styles["cite is citep"] = True
    if name == "natbib":
        cite_options(doc, options)
    if name in ("algorithm2e", "algorithm") and not again:
        for within in ("chapter", "section", "part"):
            if re.search(rf"(algo{within}|\b{within}\b)", options):
                doc.counters.number_within("algorithm", within)
    if name == "appendix" and "title" in options:
        doc.styles["appendix title"] = True
    found = doc.source.find(name, (ending,))
    if found is None or again:
        return
    text = doc.source.text(found)
    if re.search(r"\\(?:let\s*\\cite\s*=?\s*\\citep|renewcommand\s*\{?\\cite\}?\s*(?:\[1\])?\s*\{\s*\\citep|def\\cite\{\\citep)\b", text):
        doc.styles["cite is citep"] = True
    for given, wanted in re.findall(r"^[^%\n]*\\RequirePackage\s*(?:\[([^\]]*)\])?\s*\{([^}]*)\}", text, re.M):
        for package in wanted.split(","):
            doc.packages.setdefault(package.strip(), given)
    for style in re.findall(r"^[^%\n]*\\(?:bibpunct\s*(?:\[[^\]]*\])?\s*\{[^}]*\}\s*\{[^}]*\}\s*\{[^}]*\}\s*\{([ans])\}|"
                            r"setcitestyle\s*\{([^}]*)\})",
                            text, re.M):
        cite_options(doc, {"n": "numbers", "s": "super", "a": "authoryear"}.get(style[0], style[1]))
    for options in re.findall(r"^[^%\n]*\\RequirePackage\s*\[([^\]]*)\]\s*\{natbib\}", text, re.M):
        cite_options(doc, options)
    if ending == ".sty" and (re.fullmatch(CARRIED, name) or VENUES.match(name)) or ending == ".cls" and VENUES.match(name):
        numbering(doc, text)
        return
    doc.package += 1
    depth, ifs = len(doc.groups), doc.letters
    doc.setting_letters(True)
    lexer_depth = len(doc.stack)
    doc.reading.append(found)
    outer, doc.context = doc.context, type(doc.context)("void")
    from paper2code.read.tex.lexer import Lexer
    doc.open(Lexer(text, found, at=True), barrier=True)
    try:
        doc.run()
    finally:
        while len(doc.stack) > lexer_depth:
            doc.close()
        doc.context = outer
        doc.package -= 1
        doc.setting_letters(ifs)
        while len(doc.groups) > depth:
            doc.groups.pop()  # what a style left open stays defined
    if found in doc.reading:
        doc.reading.remove(found)


def numbering(doc: Document, text: str) -> None:
    """The numbering that a well-known style or class sets, without reading the rest of it."""
    for inner, outer in re.findall(r"^[^%\n]*\\(?:numberwithin|counterwithin)\*?\s*\{(\w+)\}\s*\{(\w+)\}", text, re.M):
        doc.counters.number_within(inner, outer)


def cite_options(doc: Document, options: str) -> None:
    for word in ("sort", "compress"):
        if word in options:
            doc.styles[f"cite {word}"] = True
    years = re.search(r"yysep\s*=\s*\{?([,;])", options)
    if years:
        doc.styles["years"] = years[1]
    for word, style in (("numbers", "numeric"), ("super", "numeric"), ("authoryear", "author-year"), ("round", None), ("square",
        None)):
        if re.search(rf"\b{word}\b", options):
            if style:
                doc.styles["cite"] = style
            else:
                doc.styles["brackets"] = "()" if word == "round" else "[]"


@command("setcitestyle", "citestyle")
def setcitestyle(doc: Document, name: str) -> None:
    cite_options(doc, written(doc.arg()))


@command("bibpunct")
def bibpunct(doc: Document, name: str) -> None:
    doc.optional()
    parts = [written(doc.arg()) for _ in range(6)]
    cite_options(doc, {"n": "numbers", "s": "super", "a": "authoryear"}.get(parts[3].strip(), ""))
    if parts[0].strip() and parts[1].strip():
        doc.styles["brackets"] = parts[0].strip()[0] + parts[1].strip()[0]


@command("mathtoolsset")
def mathtoolsset(doc: Document, name: str) -> None:
    options = written(doc.arg()).replace(" ", "")
    if "showonlyrefs" in options:
        doc.styles["only referenced"] = "showonlyrefs=false" not in options


@command("PassOptionsToPackage")
def pass_options(doc: Document, name: str) -> None:
    options, package = written(doc.arg()), doc.word_arg()
    if package == "natbib":
        cite_options(doc, options)
    elif "noend" in options:
        doc.packages[package] = options


@command("input", "include", "@input", "subfile", "subfileinclude")
def take_in(doc: Document, name: str) -> None:
    token = doc.peek()
    while token == " ":
        doc.next()
        token = doc.peek()
    if token == "{":
        wanted = doc.word_arg()
    else:
        wanted = ""
        while (token := doc.next()) is not None and token not in (" ", "\\par", "}") and token[0] != "\\":
            wanted += token
        if token is not None and token != " ":
            doc.back.append(token)
    if doc.package and not doc.source.find(wanted):
        return
    if name == "include":
        doc.par()
    if name.startswith("subfile"):
        take_subfile(doc, wanted)
    elif doc.late:
        doc.warn("time-limit", f"reading took too long; {wanted} is not read")
    else:
        doc.input(wanted)


def take_subfile(doc: Document, wanted: str) -> None:
    """A file with a preamble of its own: only its body counts."""
    lexer = doc.file()
    found = doc.source.find(wanted, (".tex", ""), lexer.base if lexer else "")
    if doc.input(wanted) and found:
        body = re.search(r"\\begin\s*\{document\}", doc.lexer.text)
        end = re.search(r"\\end\s*\{document\}", doc.lexer.text)
        if body:
            doc.lexer.pos = body.end()
        if end:
            doc.lexer.text = doc.lexer.text[:end.start()]
        doc.lexer.base = found.rpartition("/")[0]


@command("import", "subimport", "inputfrom", "subinputfrom", "includefrom", "subincludefrom")
def take_from(doc: Document, name: str) -> None:
    doc.star()
    where, wanted = doc.word_arg(), doc.word_arg()
    lexer = doc.file()
    base = where.strip("/")
    if name.startswith("sub") and lexer and lexer.base:
        base = f"{lexer.base}/{base}" if base else lexer.base
    doc.input(wanted, base=base)


@command("bye")
def bye(doc: Document, name: str) -> None:
    doc.par()
    doc.finished = True


def begin_document(doc: Document, name: str) -> object:
    if doc.in_document:
        return None
    doc.in_document = True
    doc.groups.clear()
    doc.note_links(doc.context, "", "text")
    doc.context = type(doc.context)("body")
    return True


def end_document(doc: Document, name: str, state: object) -> None:
    doc.par()
    doc.finished = True


ENVIRONMENTS["document"] = (begin_document, end_document)
# Nothing to do at the beginning or the end: what is inside counts as if the environment were not there.
for _name, _spec in {"minipage": "[[[{", "adjustbox": "{", "adjustwidth": "{{", "adjustwidth*": "{{", "spacing": "{",
                     "multicols": "{[", "multicols*": "{[", "tcolorbox": "[", "mdframed": "[", "framed": "", "shaded": "",
                     "small": "", "footnotesize": "", "scriptsize": "", "tiny": "", "normalsize": "", "large": "",
                     "landscape": "", "sideways": "", "turn": "{", "rotate": "{", "threeparttable": "[", "threeparttablex": "",
                     "measuredfigure": "", "center": "", "flushleft": "", "flushright": "", "centering": "", "sloppypar": "",
                     "singlespace": "", "doublespace": "", "singlespace*": "", "onehalfspace": "", "titlepage": "",
                     "frontmatter": "", "strip": "", "widetext": "", "raggedright": "", "CJK": "{{", "CJK*": "{{",
                     "otherlanguage": "{", "savenotes": "", "refsection": "", "refsegment": "", "fullwidth": "", "bibunit": "[",
                     "samepage": "", "boxedminipage": "[[[{", "Overpic": "[{", "scope": "[", "em": "", "bf": "", "it": "",
                     "sf": "", "changemargin": "{{", "addmargin": "[{", "NoHyper": ""}.items():
    def _plain_begin(doc: Document, name: str, spec: str = _spec) -> object:
        if name in ("center", "flushleft", "flushright", "minipage", "tcolorbox", "mdframed"):
            doc.par()
        doc.skip_arguments(spec)
        return True

    def _plain_end(doc: Document, name: str, state: object) -> None:
        if name not in ("small", "footnotesize", "normalsize", "spacing", "adjustbox"):
            doc.par()
    ENVIRONMENTS[_name] = (_plain_begin, _plain_end)


# --- counters by hand ------------------------------------------------------------------------------------------------------


@command("newcounter")
def newcounter(doc: Document, name: str) -> None:
    counter = doc.word_arg()
    within = doc.optional()
    doc.counters.new(counter, doc.words(within) if within else None)


@command("setcounter")
def setcounter(doc: Document, name: str) -> None:
    counter = doc.word_arg()
    doc.values[counter] = doc.number_of(doc.arg())


@command("addtocounter")
def addtocounter(doc: Document, name: str) -> None:
    counter = doc.word_arg()
    doc.values[counter] = doc.values.get(counter, 0) + doc.number_of(doc.arg())


@command("stepcounter", "refstepcounter")
def stepcounter(doc: Document, name: str) -> None:
    counter = doc.word_arg()
    if name == "refstepcounter":
        doc.step(counter)
    else:
        doc.counters.new(counter)
        doc.counters.step(counter)


@command("numberwithin", "counterwithin", "counterwithin*", "@addtoreset", "counterwithout", "counterwithout*",
         "@removefromreset")
def numberwithin(doc: Document, name: str) -> None:
    star = doc.star()
    form = written(doc.optional() or ["\\arabic"])
    inner, outer = doc.word_arg(), doc.word_arg()
    if "without" in name or name == "@removefromreset":
        doc.counters.without(inner, outer)
        if name == "counterwithout" and not star:
            doc.counters.show(inner, f"\\arabic{{{inner}}}")
    elif name == "@addtoreset" or star:
        doc.counters.within(inner, outer)
    else:
        doc.counters.number_within(inner, outer, form)


# --- front matter ------------------------------------------------------------------------------------------------------------


@command("title", "icmltitle", "papertitle", "Title", "acmtitle", "jmlrtitle", "mlsystitle", "twocolumntitle", "inclusivetitle")
def title(doc: Document, name: str) -> None:
    if name != "title":
        doc.star()
    doc.optional()
    tokens = doc.arg()
    if tokens and not (doc.titles.get("title") and doc.in_document):
        doc.titles["title"] = tokens


@command("subtitle")
def subtitle(doc: Document, name: str) -> None:
    doc.titles["subtitle"] = doc.arg()


@command("aistatstitle")
def aistatstitle(doc: Document, name: str) -> None:
    title(doc, "icmltitle")


@command("author", "Author", "authors", "icmlauthor", "mlsysauthor", "fullauthor", "aistatsauthor", "name")
def author(doc: Document, name: str) -> None:
    if name == "name" and doc.peek() != "{":
        return
    doc.optional()
    tokens = doc.arg()
    if name in ("icmlauthor", "mlsysauthor"):
        doc.arg()
    doc.authors.append((name, tokens))


@command("affiliation", "affil", "address", "institute", "icmlaffiliation", "icmlcorrespondingauthor", "email", "orcid",
         "icmlkeywords", "keywords", "emailAdd", "correspondingauthor", "corresp", "ead", "institution", "altaffiltext",
         "altaffilmark", "fnmsep", "mlsysaffiliation", "mlsyscorrespondingauthor", "editors", "editor", "dedicatory",
         "subjclass", "PACS", "pacs", "IEEEspecialpapernotice", "IEEEauthorblockA", "orcidlink", "orcidID",
         "icmlsetsymbol", "mlsyssetsymbol", "authornote", "authornotemark", "aistatsaddress", "cortext", "fntext", "tnotetext",
         "corref", "fnref", "tnoteref", "received", "accepted", "revised", "acmJournal", "country", "city", "department",
         "streetaddress", "postcode", "affiliations", "thankstext", "runauthor", "jmlrheading", "ShortHeadings", "firstpageno",
         "collaboration", "homepage", "preprint", "shortauthor", "shorttitle", "authorrunning", "titlerunning",
         "IEEEmembership", "terms", "category")
def affiliation(doc: Document, name: str) -> None:
    count = {"icmlaffiliation": 2, "icmlcorrespondingauthor": 2, "mlsysaffiliation": 2, "mlsyscorrespondingauthor": 2,
             "altaffiltext": 2, "icmlsetsymbol": 2, "mlsyssetsymbol": 2, "thankstext": 2, "jmlrheading": 6, "ShortHeadings": 2,
             "category": 3}.get(name, 1)
    doc.star()
    doc.optional()
    for _ in range(count):
        if doc.peek() in ("{", " ") or count == 1:
            doc.arg()
    if name in ("category",):
        doc.optional()


@command("icmltitlerunning", "printAffiliationsAndNotice", "printAffiliations")
def icml_notice(doc: Document, name: str) -> None:
    held = doc.arg()
    if name == "printAffiliationsAndNotice" and held:
        doc.text(held)


for _name in ("icmlauthorlist", "mlsysauthorlist", "aug", "authorgrp"):
    ENVIRONMENTS[_name] = (lambda doc, name: True, None)


@command("twocolumn")
def twocolumn(doc: Document, name: str) -> None:
    held = doc.optional()
    if held:
        doc.push([*held, "\\par"])


def begin_abstract(doc: Document, name: str) -> object:
    doc.par()
    doc.optional()
    doc.enter("abstract")
    return True


def end_abstract(doc: Document, name: str, state: object) -> None:
    if doc.context.kind == "abstract":
        doc.par()
        doc.leave()


for _name in ("abstract", "abstract*", "onecolabstract", "Abstract", "IEEEabstract", "summary"):
    ENVIRONMENTS[_name] = (begin_abstract, end_abstract)


@command("abstract", "abstracttext", "Abstract")
def abstract(doc: Document, name: str) -> None:
    if doc.peek() == "{" or doc.peek() == " ":
        held = doc.arg()
        if len(held) > 3:
            before = doc.in_document
            doc.enter("abstract")
            doc.open(tokens=[*held, "\\par"], barrier=True)
            doc.run()
            doc.close()
            doc.par()
            doc.leave()
            doc.in_document = before
    elif doc.in_document:
        doc.back.append("\\begin{abstract}")


@command("endabstract")
def endabstract(doc: Document, name: str) -> None:
    doc.end_environment("abstract")


@command("IEEEtitleabstractindextext", "IEEEcompsoctitleabstractindextext")
def ieee_front(doc: Document, name: str) -> None:
    doc.push(doc.arg())


def skip_environment(doc: Document, name: str) -> None:
    """Pass an environment that holds nothing to read."""
    if not doc.back and doc.lexer is not None:
        if doc.lexer.until(f"\\end{{{name}}}") is None:
            doc.warn("no-end", f"\\begin{{{name}}} has no \\end; it is passed over")
        return
    doc.delimited(["\\end", "{", name, "}"])


for _name in ("tikzpicture", "pspicture", "picture", "forest", "axis", "tikzpicture*", "pgfpicture", "CCSXML", "filecontents",
              "filecontents*", "keywords", "keyword", "IEEEkeywords", "asy", "pycode", "luacode", "overpic", "tikzcd",
              "feynmandiagram", "circuitikz", "dot2tex", "quantikz", "xy", "diagram", "IEEEbiography", "IEEEbiographynophoto",
              "biography", "wordcount", "mpost"):
    ENVIRONMENTS[_name] = (skip_environment, None)


# --- sections ----------------------------------------------------------------------------------------------------------------

LEVELS = {"part": 0, "chapter": 0, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4, "subparagraph": 5}
AFTER = re.compile(r"^\W*(appendi|supplement|supporting information|technical appendi|online appendi)", re.I)


@command(*LEVELS, "addsec", "addchap", "specialsection", "subsubsubsection")
def section(doc: Document, name: str) -> None:
    star = doc.star() or name.startswith("add")
    name = {"addsec": "section", "addchap": "chapter", "specialsection": "section", "subsubsubsection": "paragraph"}.get(name,
        name)
    doc.optional()
    doc.optional()
    tokens = doc.arg()
    if doc.context.kind == "void":
        return
    if doc.context.kind in ("cell", "line", "float") and not star and LEVELS[name] <= 2 and doc.open_environments:
        unclosed = doc.open_environments[-1].name
        doc.warn("no-end", f"\\begin{{{unclosed}}} has no \\end before the next section")
        while doc.open_environments and doc.context.kind not in ("body", "abstract"):
            doc.end_environment(doc.open_environments[-1].name)
    if doc.context.kind in ("cell", "line", "inline", "float"):
        doc.put(doc.text(tokens) + " ")
        return
    doc.par()
    if doc.context.kind == "abstract" and LEVELS[name] < 4:
        doc.warn("no-end", "the abstract has no end before the first section")
        doc.end_environment("abstract")
    if name == "chapter" or (name == "part" and "chapters" in doc.styles):
        doc.styles["chapters"] = True
    level = LEVELS[name] + ("chapters" in doc.styles)
    numbered = not star and LEVELS[name] <= doc.values.get("secnumdepth", 3) and doc.styles.get("numbered sections", True)
    if name == "part":
        level = 1
    number = None
    if numbered:
        number = doc.step(name).strip() or None
    text = doc.text(tokens)
    labels = doc.label_now if numbered else None
    if AFTER.match(text) and level <= 2 and not doc.appendix and late(doc, text):
        doc.appendix = True
    elif doc.bibliography_seen and not doc.appendix and not re.match(r"\W*(acknowledg|author|funding|conflict|data avail|code "
                                                                     r"avail|ethic)", text, re.I):
        doc.appendix = True
    kind = name
    if doc.appendix and name in ("section", "chapter"):
        kind = "appendix"
    doc.label_now = (labels[0] if labels else (doc.label_now[0] if doc.label_now else ""), kind, text)
    if level - ("chapters" in doc.styles) >= 4 and not numbered:
        # A run-in heading is printed at the head of its paragraph.
        if text:
            doc.put(text + " ")
        return
    if number and name == "part":
        number = None if not doc.styles.get("part numbers") else number
    doc.new_section(text, number, level)
    after, doc.context.after = doc.context.after, []
    for block in after:
        doc.add(block)


def late(doc: Document, text: str) -> bool:
    """Whether a heading that speaks of an appendix begins one."""
    return doc.bibliography_seen or bool(re.fullmatch(r"\W*(appendi(x|ces)|(supplement(ary|al)?)\s*(materials?|information|"
                                                      r"text)?|"
                                                      r"supporting information|technical appendix|online appendix)\b.*", text,
                                                      re.I | re.S))


@command("appendix", "beginsupplement", "beginappendix", "appendices", "supplement")
def appendix(doc: Document, name: str) -> None:
    start_appendix(doc)


def start_appendix(doc: Document) -> None:
    if doc.context.kind == "void":
        return
    doc.par()
    doc.appendix = True
    chapters = "chapters" in doc.styles or "section" in doc.counters.inside.get("chapter", ())
    top = "chapter" if chapters else "section"
    doc.values[top] = 0
    doc.counters.reset(top, 0)
    doc.counters.show(top, f"\\Alph{{{top}}}")
    if doc.class_name.startswith("IEEEtran"):
        doc.counters.show("subsection", "\\thesection-\\Alph{subsection}")
    own = doc.macros.get("\\appendix@own")
    if own is not None and own.plain:
        doc.push([t for t in own.body if t not in ("\\appendix", "\\\x01appendix", "\\onecolumn")])


def begin_appendices(doc: Document, name: str) -> object:
    doc.optional()
    start_appendix(doc)
    return True


def end_appendices(doc: Document, name: str, state: object) -> None:
    doc.par()


for _name in ("appendices", "subappendices", "appendix", "appendix*", "Appendix", "appendixes"):
    ENVIRONMENTS[_name] = (begin_appendices, end_appendices)


@command("maketitlesupplementary", "supplementarytitle")
def supplementary(doc: Document, name: str) -> None:
    doc.par()
    doc.appendix = True


for _name, _heading in (("acks", "Acknowledgments"), ("ack", "Acknowledgments"), ("acknowledgments", "Acknowledgments"),
                        ("acknowledgements", "Acknowledgements"), ("acknowledgment", "Acknowledgment"),
                        ("acknowledgement", "Acknowledgement"), ("ethics", "Ethics Statement"),
                        ("contributions", "Contributions")):
    def _heading_begin(doc: Document, name: str, heading: str = _heading) -> object:
        doc.par()
        doc.optional()
        doc.new_section(heading, None, 1)
        return True

    def _heading_end(doc: Document, name: str, state: object) -> None:
        doc.par()
    ENVIRONMENTS.setdefault(_name, (_heading_begin, _heading_end))

    def _heading_command(doc: Document, name: str, heading: str = _heading) -> None:
        if doc.context.kind != "body" or doc.peek() == "{":
            return
        doc.par()
        doc.new_section(heading, None, 1)
    if _name.startswith("acknowledg") or _name == "ack":
        COMMANDS.setdefault(_name, _heading_command)


# --- labels and references ------------------------------------------------------------------------------------------------


@command("label", "zlabel")
def label(doc: Document, name: str) -> None:
    doc.optional()
    doc.set_label(doc.word_arg())


def mark(kind: str, *parts: str) -> str:
    return MARK + SEP.join((kind, *parts)) + END


REFERENCES = ("ref", "eqref", "cref", "Cref", "autoref", "Autoref", "pageref", "nameref", "vref", "Vref", "fref", "Fref",
              "prettyref", "subref", "labelcref", "labelcpageref", "cpageref", "namecref", "nameCref", "thref", "zcref", "Ref",
              "sref")


@command(*REFERENCES)
def reference(doc: Document, name: str) -> None:
    doc.star()
    doc.optional()
    keys = doc.word_arg()
    refer(doc, name, keys)
    doc.put(mark(name, keys))


def refer(doc: Document, name: str, keys: str) -> None:
    for key in keys.split(","):
        doc.referenced.add(key.strip())


@command("crefrange", "Crefrange", "refrange")
def crefrange(doc: Document, name: str) -> None:
    doc.star()
    first, last = doc.word_arg(), doc.word_arg()
    refer(doc, name, f"{first},{last}")
    doc.put(mark(name, first, last))


@command("hyperref")
def hyperref(doc: Document, name: str) -> None:
    if doc.optional() is None:
        for _ in range(3):
            doc.arg()


@command("crefname", "Crefname")
def crefname(doc: Document, name: str) -> None:
    kind = doc.word_arg()
    doc.styles[f"{name}:{kind}"] = (doc.text(doc.arg()), doc.text(doc.arg()))


@command("creflabelformat", "crefrangelabelformat", "crefformat", "Crefformat", "crefmultiformat", "crefrangeformat",
         "Crefmultiformat")
def creflabelformat(doc: Document, name: str) -> None:
    kind, form = doc.word_arg(), doc.arg()
    if name in ("crefformat", "Crefformat"):
        body = written(form)
        doc.styles[f"{name}:{kind}"] = body
    for _ in range({"crefmultiformat": 3, "Crefmultiformat": 3}.get(name, 0)):
        doc.arg()


# --- notes -----------------------------------------------------------------------------------------------------------------


def note(doc: Document, text: str, number: str | None, kind: str = "footnote") -> None:
    if not text:
        return
    item = Footnote(doc.new_id(), text, number, kind, doc.here, source="latex")
    doc.paper.footnotes.append(item)
    if doc.in_document and kind == "footnote":
        doc.add_later(Block("footnote-mark", ref=item.id, source="latex"))


def note_text(doc: Document, tokens: list[str]) -> str:
    """A note's text; its links know where they stand."""
    links, doc.context.links = doc.context.links, []
    label_now = doc.label_now
    text = doc.text(tokens)
    doc.label_now = label_now
    doc.note_links(doc.context, text, "footnote")
    doc.context.links = links
    return text


@command("footnote", "tablefootnote", "sidenote", "blfootnote", "endnote", "freefootnote", "footnotenonumber", "plainfootnote")
def footnote(doc: Document, name: str) -> None:
    given = doc.optional()
    tokens = doc.arg()
    if doc.context.kind == "void" and not doc.in_document:
        return
    bare = name in ("blfootnote", "freefootnote", "footnotenonumber", "plainfootnote")
    counter = "mpfootnote" if doc.inside("minipage") and name == "footnote" else "footnote"
    label_before = doc.label_now
    if bare:
        number = None
    elif given is not None:
        number = doc.words(given)
    else:
        number = doc.step(counter, "footnote")
    if number is not None and not number:
        number = None
    if number:
        doc.label_now = (number, "footnote", "")
    for at, token in enumerate(tokens):
        if token == "\\label" and number:
            doc.set_label("".join(tokens[at + 2:at + 3]))
    text = note_text(doc, tokens)
    doc.label_now = label_before
    note(doc, text, number)


@command("footnotemark")
def footnotemark(doc: Document, name: str) -> None:
    given = doc.optional()
    if given is None and doc.in_document:
        doc.counters.step("footnote")
        doc.styles.setdefault("marks", []).append(doc.printed("footnote"))


@command("footnotetext")
def footnotetext(doc: Document, name: str) -> None:
    given = doc.optional()
    tokens = doc.arg()
    number: str | None = None
    if given is not None:
        value = doc.words(given)
        saved = doc.values["footnote"]
        if value.isdecimal():
            doc.values["footnote"] = int(value[:9])
            number = doc.printed("footnote")
        doc.values["footnote"] = saved
    else:
        marks = doc.styles.get("marks")
        number = marks.pop(0) if marks else doc.printed("footnote")
    note(doc, note_text(doc, tokens), number if number and number != "0" else None)


@command("thanks", "titlenote", "subtitlenote", "equalcont")
def thanks(doc: Document, name: str) -> None:
    doc.optional()
    note(doc, note_text(doc, doc.arg()), None, "thanks")


# --- lists -----------------------------------------------------------------------------------------------------------------


class List:
    """A list that is open. `mark` is what the next paragraph begins with."""

    def __init__(self, kind: str, counter: str, form: str | None):
        self.kind, self.counter, self.form = kind, counter, form
        self.mark: str | None = None

    def take_mark(self) -> str | None:
        mark, self.mark = self.mark, None
        return mark


LIST_KINDS = {"itemize": "itemize", "enumerate": "enumerate", "description": "description", "compactitem": "itemize",
              "compactenum": "enumerate", "inparaenum": "enumerate", "inparaitem": "itemize", "asparaenum": "enumerate",
              "asparaitem": "itemize", "list": "itemize", "trivlist": "itemize", "itemize*": "itemize",
              "enumerate*": "enumerate", "description*": "description", "compactdesc": "description", "tablenotes": "notes",
              "labeling": "description", "easylist": "itemize", "dinglist": "itemize", "parts": "enumerate",
              "questions": "enumerate", "TableNotes": "notes", "todolist": "itemize", "citemize": "itemize"}


def begin_list(doc: Document, name: str) -> object:
    kind = LIST_KINDS[name]
    options = doc.optional()
    inline = name.startswith("inpara") or name.endswith("*")
    if name in ("list", "dinglist", "labeling"):
        doc.arg()
        if name == "list":
            doc.arg()
    if not inline:
        doc.par()
    depth = 1 + sum(1 for other in doc.lists if other.kind == "enumerate")
    counter = "enum" + ("i", "ii", "iii", "iv")[min(depth, 4) - 1]
    form = None
    if kind == "enumerate":
        resume = options and "resume" in options
        if not resume:
            doc.values[counter] = 0
        form = list_form(written(options or []))
    doc.lists.append(List("inline" if inline else kind, counter, form))
    doc.lists[-1].kind = kind
    doc.lists[-1].inline = inline
    return True


def list_form(options: str) -> str | None:
    """`(a)`, `i.`, `label=(\\alph*)`, `label={\\bf A\\arabic*:}` as LaTeX with `*` for the counter; None for the default."""
    found = re.search(r"label\s*=\s*(\{(?:[^{}]|\{[^{}]*\})*\}|[^,]*)", options)
    if found:
        return found[1].strip().removeprefix("{").removesuffix("}") if found[1].startswith("{") else found[1].strip()
    if "=" in options or not options.strip() or re.match(r"\s*(no|resume|left|wide|itemsep|series)", options):
        return None
    kinds = {"1": "\\arabic*", "a": "\\alph*", "A": "\\Alph*", "i": "\\roman*", "I": "\\Roman*"}
    bare = re.sub(r"\\(textbf|textit|bf|it|bfseries|itshape|rm|textup|upshape|normalfont)\b\s*", "", options)
    found = re.search(r"(?<![A-Za-z\\])([1aAiI])(?![A-Za-z])", re.sub(r"\{[^{}]*\}", lambda m: " " * len(m[0]),
                                                                      bare) if re.search(r"\{[A-Za-z]{2}", bare) else bare)
    if not found:
        return None
    return bare[:found.start()] + kinds[found[1]] + bare[found.end():]


DEFAULT_FORMS = {"enumi": "\\arabic*.", "enumii": "(\\alph*)", "enumiii": "\\roman*.", "enumiv": "\\Alph*."}


@command("item")
def item(doc: Document, name: str) -> None:
    given = doc.optional()
    if not doc.lists:
        if given is not None:
            doc.put(doc.text(given) + " ")
        return
    here = doc.lists[-1]
    if doc.context.kind == "line":
        doc.par()
    elif not here.inline:
        doc.par()
    if given is not None:
        text = doc.text(given)
        here.mark = text or None
    elif here.kind == "enumerate":
        doc.step(here.counter, "item")
        if here.form is not None:
            form = re.sub(r"\\(arabic|alph|Alph|roman|Roman|fnsymbol)\s*\*", rf"\\\1{{{here.counter}}}", here.form)
            here.mark = doc.text(lex(form))
            doc.label_now = (re.sub(r"[().:\s]+$|^[(\s]+", "", here.mark), "item", "")
        else:
            own = "\\label" + here.counter
            form = [own] if own in doc.macros else lex(DEFAULT_FORMS[here.counter].replace("*", f"{{{here.counter}}}"))
            here.mark = doc.text(form)
            # \ref prints the numbers of the lists around it too: 2a, 1(b)iii.
            levels = ["\\theenum" + level for level in ("i", "ii", "iii", "iv")]
            depth = levels.index("\\the" + here.counter)
            parts = [doc.text([level]) for level in levels[:depth + 1]]
            parts = [f"({part})" if at == 1 and depth > 1 else part for at, part in enumerate(parts)]
            doc.label_now = ("".join(parts), "item", "")
    else:
        here.mark = "•" if here.kind == "itemize" else None
    if here.inline or doc.context.kind not in ("body", "abstract"):
        mark = here.take_mark()
        if mark:
            doc.put(f"{mark} ")


def end_list(doc: Document, name: str, state: object) -> None:
    if doc.lists and not doc.lists[-1].inline:
        doc.par()
    if doc.lists:
        doc.lists.pop()


for _name in LIST_KINDS:
    ENVIRONMENTS[_name] = (begin_list, end_list)

for _name in ("quote", "quotation", "verse", "displayquote", "quoting"):
    def _quote_begin(doc: Document, name: str) -> object:
        doc.par()
        doc.optional()
        return True

    def _quote_end(doc: Document, name: str, state: object) -> None:
        doc.par()
    ENVIRONMENTS[_name] = (_quote_begin, _quote_end)


# --- theorems ----------------------------------------------------------------------------------------------------------------


@command("newtheorem", "spnewtheorem", "newtheoremrep", "newshadetheorem", "newmdtheoremenv")
def newtheorem(doc: Document, name: str) -> None:
    star = doc.star()
    theorem = doc.word_arg()
    shared = doc.optional()
    printed = doc.text(doc.arg())
    within = doc.optional()
    if name == "spnewtheorem":
        doc.arg()
        doc.arg()
    keep_theorem(doc, theorem, printed, doc.words(shared) if shared else None, doc.words(within) if within else None, star)


def keep_theorem(doc: Document, theorem: str, printed: str, shared: str | None, within: str | None, star: bool) -> None:
    if theorem in doc.frames and theorem not in ("summary", "contributions", "notes", "parts", "questions", "ethics"):
        return
    if star:
        doc.theorems[theorem] = (printed, None)
        return
    counter = shared or theorem
    if shared is None:
        doc.counters.new(theorem)
        if within:
            doc.counters.number_within(theorem, within)
    elif shared in doc.theorems:
        counter = doc.theorems[shared][1] or shared
    else:
        doc.counters.new(shared)
    doc.theorems[theorem] = (printed, counter)
    doc.theorems.setdefault(theorem + "*", (printed, None))


@command("declaretheorem")
def declaretheorem(doc: Document, name: str) -> None:
    options = written(doc.optional() or [])
    theorem = doc.word_arg()
    options += "," + written(doc.optional() or [])
    pairs = {key.strip(): value.strip(" {}") for key, value in re.findall(r"(\w+)\s*=\s*(\{[^}]*\}|[^,]*)", options)}
    for one in theorem.split(","):
        keep_theorem(doc, one.strip(), pairs.get("name") or pairs.get("title") or one.strip().capitalize(),
                     pairs.get("sibling") or pairs.get("numberlike") or pairs.get("sharenumber"),
                     pairs.get("numberwithin") or pairs.get("parent") or pairs.get("within"), pairs.get("numbered") == "no")


@environment("theorem*", end=None)
def begin_theorem(doc: Document, name: str) -> object:
    printed, counter = doc.theorems.get(name, ("Theorem", None))
    doc.par()
    note_ = doc.optional()
    number = doc.step(counter, name) if counter else ""
    head = f"{printed} {number}".strip()
    outer = doc.theorem
    doc.theorem = (head, 0)
    if number:
        doc.label_now = (number, name, doc.text(note_) if note_ else "")
    doc.put(head + (f" ({doc.text(note_)})" if note_ else "") + ". ")
    return (outer,)


def end_theorem(doc: Document, name: str, state: object) -> None:
    doc.par()
    doc.theorem = state[0]


ENVIRONMENTS["theorem*"] = (begin_theorem, end_theorem)


@environment("proof", "Proof")
def begin_proof(doc: Document, name: str) -> object:
    doc.par()
    given = doc.optional()
    outer, doc.theorem = doc.theorem, None
    doc.put((doc.text(given) if given else "Proof").rstrip(". ") + ". ")
    return (outer,)


ENVIRONMENTS["proof"] = ENVIRONMENTS["Proof"] = (begin_proof, end_theorem)


@environment("restatable", "restatable*")
def begin_restatable(doc: Document, name: str) -> object:
    note_ = doc.optional()
    theorem, macro = doc.word_arg(), doc.word_arg()
    body = doc.delimited(["\\end", "{", name, "}"])
    given = ["[", *note_, "]"] if note_ else []
    doc.push(["\\begin", "{", theorem, "}", *given, *body, "\\end", "{", theorem, "}"])
    doc.styles[f"restated:{macro}"] = True
    doc.macros["\\" + macro] = Macro(["\\restated", "{", macro, "}"])
    doc.styles[f"restate:{macro}"] = (theorem, given, [t for t in body])
    return None


@command("restated")
def restated(doc: Document, name: str) -> None:
    macro = doc.word_arg()
    doc.star()
    theorem, given, body = doc.styles.get(f"restate:{macro}", ("", [], []))
    if not theorem or not isinstance(theorem, str):
        return
    printed, counter = doc.theorems.get(theorem, ("Theorem", None))
    # It is printed again with the number it had.
    key = next((written(body[k + 2:k + 3]) for k, t in enumerate(body) if t == "\\label" and k + 2 < len(body)), "")
    number = doc.labels.get(key, ("", "", ""))[0]
    clean: list[str] = []
    k = 0
    while k < len(body):
        if body[k] == "\\label":
            while k < len(body) and body[k] != "}":
                k += 1
        else:
            clean.append(body[k])
        k += 1
    doc.par()
    doc.push([*lex(f"{printed} {number}. ".replace(" .", ".")), *clean, "\\par"])


# --- links -----------------------------------------------------------------------------------------------------------------


def address(tokens: list[str]) -> str:
    """A URL's tokens as the URL."""
    out = []
    for token in tokens:
        if token[0] == "\0":
            out.append(token[1:])
        elif token[0] == "\\":
            out.append({"\\textasciitilde": "~", "\\textunderscore": "_", "\\allowbreak": "", "\\-": "", "\\par": "",
                        "\\string": "", "\\slash": "/", "\\discretionary": "", "\\linebreak": "", "\\break": "", "\\hskip": "",
                        "\\~": "~", "\\sim": "~"}.get(
                token, token[1:] if len(token) == 2 else token))
        elif token not in " {}$":
            out.append(token)
    return re.sub(r"\\(?=[%#&_~])", "", "".join(out)).strip()


@command("url", "nolinkurl", "path", "burl")
def url(doc: Document, name: str) -> None:
    held = address(doc.arg())
    doc.put(held)
    if name != "path" or re.match(r"https?://", held):
        link(doc, held, held)


@command("href")
def href(doc: Document, name: str) -> None:
    doc.optional()
    target = address(doc.arg())
    text = doc.text(doc.arg())
    doc.put(text)
    link(doc, target, text)


def link(doc: Document, target: str, text: str) -> None:
    if target and not target.startswith("mailto:") and "." in target and len(target) < 2000:
        if not re.match(r"[a-z]+://", target, re.I):
            if not re.match(r"(www\.|[\w.-]+\.(com|org|io|net|edu|ai|gov|dev|uk|de|fr)(/|$))", target):
                return
            target = "https://" + target
        doc.context.links.append(Link(target, text))


# --- code ------------------------------------------------------------------------------------------------------------------


def verbatim(doc: Document, name: str) -> str:
    """The characters of a verbatim environment."""
    stop = f"\\end{{{name}}}"
    if doc.back:
        tokens = doc.delimited(["\\end", "{", name, "}"])
        return written(t if t != "\\par" else "\n\n" for t in tokens)
    if doc.lexer is None:
        return ""
    held = doc.lexer.until(stop)
    if held is None:
        doc.warn("no-end", f"\\begin{{{name}}} has no \\end; what follows is read as text")
        return ""
    return held


CODE = ("verbatim", "verbatim*", "lstlisting", "minted", "Verbatim", "alltt", "BVerbatim", "lstlisting*", "code", "codeblock",
        "python", "pythoncode", "Verbatim*", "LVerbatim", "tcblisting", "minted*", "spverbatim", "sourcecode", "pyconsole")


@environment(*CODE)
def code(doc: Document, name: str) -> object:
    held = verbatim(doc, name)
    options = ""
    found = re.match(r"\s*\[((?:[^\[\]{}]|\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\]]*\])*)\]", held) if name not in ("verbatim",
        "verbatim*", "alltt") else None
    if found:
        options, held = found[1], held[found.end():]
    if name in ("minted", "minted*", "tcblisting"):
        held = re.sub(r"^\s*\{[^{}\n]*(?:\{[^{}]*\}[^{}\n]*)*\}", "", held)
    lines = [line.rstrip() for line in held.expandtabs(4).split("\n")]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    caption = re.search(r"caption\s*=\s*(\{(?:[^{}]|\{[^{}]*\})*\}|[^,]*)", options)
    label_ = re.search(r"label\s*=\s*\{?([^,{}]+)", options)
    if caption and doc.algorithm is None:
        number = doc.step("lstlisting", "listing")
        text = doc.text(lex(re.sub(r"^\{(.*)\}$", r"\1", caption[1], flags=re.S)))
        doc.par()
        doc.add(Block("paragraph", f"Listing {number}: {text}", source="latex"))
        if label_:
            doc.set_label(label_[1].strip())
    keep_code(doc, lines)
    return None


def keep_code(doc: Document, lines: list[str]) -> None:
    if doc.algorithm is not None:
        doc.algorithm.code(lines)
        return
    if doc.context.kind in ("body", "abstract") and lines:
        doc.par()
        if doc.context.kind == "body":
            doc.add(Block("code", "\n".join(lines), source="latex"))
        else:
            doc.put(" ".join(lines))
    elif lines:
        doc.put(" ".join(lines))


@command("lstinputlisting", "verbatiminput", "inputminted", "VerbatimInput")
def code_file(doc: Document, name: str) -> None:
    doc.star()
    doc.optional()
    if name == "inputminted":
        doc.arg()
    wanted = doc.word_arg()
    lexer = doc.file()
    found = doc.source.find(wanted, ("", ".tex"), lexer.base if lexer else "")
    if found is None:
        doc.warn("missing-input", f"{wanted[:120]} is asked for and is not in the source")
        return
    keep_code(doc, doc.source.text(found).rstrip().split("\n")[:5000])


@command("lstnewenvironment", "newminted", "DefineVerbatimEnvironment", "newtcblisting")
def new_code(doc: Document, name: str) -> None:
    doc.optional()
    if name == "newminted" and doc.peek() != "{":
        return
    held = doc.word_arg()
    if name == "newminted":
        held += "code"
    doc.frames.setdefault(held, (code, None))
    if name in ("lstnewenvironment", "newtcblisting"):
        doc.optional()
        doc.optional()
        doc.arg()
        if name == "lstnewenvironment":
            doc.arg()
    else:
        doc.arg()
        if name == "DefineVerbatimEnvironment":
            doc.arg()


@command("newtcolorbox", "newmdenv", "newtcbtheorem", "newfloat", "DeclareFloatingEnvironment", "NewTColorBox", "DeclareNewTOC",
         "newframedtheorem", "newcolumntype", "newglossaryentry", "newacronym", "DeclareAcronym", "titleformat", "titlespacing",
         "tikzstyle", "newlist", "setlist")
def new_things(doc: Document, name: str) -> None:
    doc.star()
    first = doc.optional()
    held = doc.word_arg()
    if name == "newtcbtheorem":
        doc.optional()
        printed = doc.text(doc.arg())
        doc.arg()
        doc.arg()
        keep_theorem(doc, held, printed, None, None, False)
    elif name == "newtcolorbox":
        count, default = doc.optional(), doc.optional()
        doc.arg()
        number = int((re.findall(r"\d", written(count or [])) or ["0"])[0])
        doc.environments[held] = (Macro(["\\par"], number, default), ["\\par"])
    elif name == "NewTColorBox":
        from paper2code.read.tex.macros import kinds
        spec = kinds(doc.arg())
        doc.arg()
        doc.environments[held] = (Macro(["\\par"], len(spec), None, None, spec), ["\\par"])
    elif name in ("newfloat", "DeclareFloatingEnvironment"):
        if name == "newfloat":
            doc.arg()
            doc.arg()
            within = doc.optional()
            doc.counters.new(held)
            if within:
                doc.counters.number_within(held, doc.words(within))
        elif not held:
            return
        from paper2code.read.tex.floats import new_float
        new_float(doc, held)
    elif name == "newlist":
        kind = doc.word_arg()
        doc.arg()
        LIST_KINDS.setdefault(held, kind.rstrip("*") if kind.rstrip("*") in ("itemize", "enumerate",
                                                                             "description") else "itemize")
        doc.environments[held] = (Macro(["\\begin", "{", kind.rstrip("*"), "}"]), ["\\end", "{", kind.rstrip("*"), "}"])
    elif name in ("newcolumntype",):
        doc.optional()
        doc.arg()
    elif name in ("newglossaryentry", "DeclareAcronym"):
        options = written(doc.arg())
        pairs = {k: v.strip("{} ") for k, v in re.findall(r"(\w+)\s*=\s*(\{[^{}]*\}|[^,]*)", options)}
        doc.styles[f"gls:{held}"] = (pairs.get("name") or pairs.get("short") or held,
                                     pairs.get("description") or pairs.get("long") or "")
    elif name == "newacronym":
        doc.styles[f"gls:{held}"] = (doc.text(doc.arg()), doc.text(doc.arg()))
        doc.styles[f"glsfirst:{held}"] = True
    elif name == "titleformat":
        if first is None and doc.peek() == "[":
            doc.optional()
        for _ in range(4):
            if doc.peek() in ("{", " "):
                doc.arg()
        doc.optional()
    elif name == "titlespacing":
        for _ in range(3):
            doc.arg()
    elif name in ("tikzstyle",):
        doc.delimited(["]"])
    elif name == "setlist" and first is None:
        return


@command("gls", "Gls", "glspl", "Glspl", "acrshort", "acrlong", "acrfull", "ac", "acs", "acl", "acf", "acp", "glsentryshort",
         "glsentrylong")
def glossary(doc: Document, name: str) -> None:
    doc.star()
    doc.optional()
    key = doc.word_arg()
    short, long = doc.styles.get(f"gls:{key}", (key, ""))
    first = doc.styles.pop(f"glsfirst:{key}", None)
    plural = "s" if name.endswith(("pl", "acp")) else ""
    if name in ("acrlong", "acl", "glsentrylong"):
        text = long or short
    elif name in ("acrfull", "acf") or (first and long and name in ("gls", "Gls", "glspl", "Glspl", "ac", "acp")):
        text = f"{long}{plural} ({short}{plural})"
    else:
        text = short + plural
    doc.put(text[:1].upper() + text[1:] if name[0] == "G" else text)


@command("acro", "acrodef")
def acrodef(doc: Document, name: str) -> None:
    key = doc.word_arg()
    short = doc.optional()
    doc.styles[f"gls:{key}"] = (doc.text(short) if short else key, doc.text(doc.arg()))
    doc.styles[f"glsfirst:{key}"] = True


@command("today")
def today(doc: Document, name: str) -> None:
    return None


@command("enquote", "textquote", "say")
def enquote(doc: Document, name: str) -> None:
    doc.star()
    doc.put(f"“{doc.text(doc.arg())}”")
