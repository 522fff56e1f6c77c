"""Algorithm boxes as readable lines: algorithmic, algpseudocode and algorithmicx, algorithm2e, or plain text and code."""

from __future__ import annotations

import re
from collections.abc import Callable

from paper2code.paper import Algorithm, Block
from paper2code.read.tex import structure  # noqa: F401  its `\;` is extended here
from paper2code.read.tex.document import COMMANDS, ENVIRONMENTS, Document, command, flowed
from paper2code.read.tex.lexer import written


class Lines:
    """The lines of an algorithm that is being read, and the numbers that are printed before them. `every` line is numbered
    from `count` on where the author asked for numbers; `number` is the one of the line that is being read."""

    def __init__(self, doc: Document, style: str):
        self.doc, self.style = doc, style
        self.lines: list[str] = []
        self.numbers: list[str] = []
        self.indent = 0
        self.every = self.bare = False
        self.count = 0
        self.number = ""

    def newline(self) -> None:
        """End the line that is being read. algorithm2e numbers every line but inputs, outputs and comments (`bare`)."""
        text = flowed(self.doc.context.parts)
        self.doc.context.parts.clear()
        if text and len(self.lines) < 20_000:
            two_e = self.style == "algorithm2e"
            if two_e and not self.bare:
                self.step()
            self.lines.append("  " * min(max(self.indent, 0), 40) + text)
            self.numbers.append(self.number)
            self.number, self.bare = "", False
            if two_e and self.every:
                self.doc.label_now = (str(self.count), "line", "")

    def step(self) -> None:
        """The line that begins here has a number; a blank one uses its number up."""
        if self.every:
            self.count += 1
            self.number = str(self.count)
            self.doc.label_now = (self.number, "line", "")

    def labelled(self) -> None:
        """A label names the line that it stands in, at whose end algorithm2e's lines get their numbers, or the one just ended."""
        if self.style == "algorithm2e" and self.every and not self.bare and "".join(self.doc.context.parts).strip():
            self.doc.label_now = (str(self.count + 1), "line", "")

    def broken(self) -> None:
        """A line was broken by hand: the rest has a number of its own in algorithmicx."""
        if self.style == "algorithmic" and {"algorithmicx", "algpseudocode", "algcompatible", "algpascal", "algc"} & self.doc.packages.keys():
            self.step()

    def code(self, lines: list[str]) -> None:
        self.newline()
        lines = [line for line in lines if line.strip()]
        self.lines += lines
        self.numbers += [""] * len(lines)

    def taken(self) -> tuple[list[str], list[str]]:
        """The lines and, where any has one, their numbers; none are left."""
        lines, numbers = self.lines, self.numbers if any(self.numbers) else []
        self.lines, self.numbers = [], []
        return lines, numbers


def begin_float_lines(doc: Document, item: object) -> None:
    """Inside an algorithm float all text is lines until something better is known."""
    style = "algorithm2e" if "algorithm2e" in doc.packages else "float"
    item.algorithm = Lines(doc, style)
    item.algorithm.every = style == "algorithm2e" and two_e_option(doc, "linesnumbered")
    item.outside = (*item.outside,)
    doc.styles.setdefault("algorithms open", []).append(doc.algorithm)
    doc.algorithm = item.algorithm
    doc.context.kind = "line"


def end_float_lines(doc: Document, item: object) -> None:
    item.algorithm.newline()
    opened = doc.styles.get("algorithms open")
    doc.algorithm = opened.pop() if opened else None


def begin_algorithmic(doc: Document, name: str) -> object:
    every = written(doc.optional() or []).strip()
    if name == "algtab":
        doc.optional()
    outer = doc.algorithm
    if outer is None:
        doc.par()
        doc.algorithm = Lines(doc, "algorithmic")
        doc.enter("line")
    else:
        outer.newline()
    lines = doc.algorithm
    before = lines.style, lines.every, doc.label_now
    lines.style, lines.every, lines.count, lines.number = "algorithmic", every.isdecimal() and every.strip("0") != "", 0, ""
    return outer, before, lines.indent, doc.context


def end_algorithmic(doc: Document, name: str, state: object) -> None:
    outer, before, indent, _ = state
    lines = doc.algorithm
    lines.newline()
    (lines.style, lines.every, doc.label_now), lines.indent, lines.number = before, indent, ""
    if outer is not None:
        return
    doc.leave()
    doc.algorithm = None
    if doc.floats:
        item = doc.floats[-1]
        if item.algorithm is None:
            item.algorithm = lines
        return
    if lines.lines:
        made = Algorithm(doc.new_id(), None, "", *lines.taken(), section=doc.here, source="latex")
        doc.paper.algorithms.append(made)
        doc.add_later(Block("algorithm", ref=made.id, source="latex"))


for _name in ("algorithmic", "algorithmicx", "algorithmic*", "pseudocode", "algpseudocode", "algtab", "codebox", "pseudo",
              "algsteps"):
    ENVIRONMENTS[_name] = (begin_algorithmic, end_algorithmic)

WORDS = {"if": "if", "then": "then", "else": "else", "elsif": "else if", "endif": "end if", "for": "for", "forall": "for all",
         "do": "do", "endfor": "end for", "while": "while", "endwhile": "end while", "repeat": "repeat", "until": "until",
         "loop": "loop", "endloop": "end loop", "require": "Require:", "ensure": "Ensure:", "procedure": "procedure",
         "endprocedure": "end procedure", "function": "function", "endfunction": "end function", "return": "return",
         "end": "end", "comment": "▷ "}


def word(doc: Document, name: str) -> str:
    """A keyword as printed: what the author made of `\\algorithmicrequire`, else the package's word."""
    own = doc.macros.get(f"\\algorithmic{name}")
    if own is not None and own.plain:
        return doc.text([f"\\algorithmic{name}"])
    return WORDS[name]


def ends_printed(doc: Document) -> bool:
    if "algpseudocodex" in doc.packages:
        return bool(re.search(r"noend\s*=\s*false", doc.packages["algpseudocodex"], re.I))
    return not any("noend" in options for options in doc.packages.values())


def in_lines(doc: Document) -> bool:
    return doc.algorithm is not None and doc.context.kind == "line"


def two_e(doc: Document) -> bool:
    """Whether `\\If` and its kin are algorithm2e's here."""
    return doc.algorithm is not None and doc.algorithm.style == "algorithm2e"


def inside(function: Callable) -> Callable:
    """`function` inside an algorithm, nothing outside: there a command's text stays text."""
    def run(doc: Document, name: str) -> None:
        if in_lines(doc):
            function(doc, name)
    return run


def statement(*names: str):
    """Commands that mean something inside an algorithm only."""
    def keep(function):
        for name in names:
            COMMANDS[name] = inside(function)
        return function
    return keep


@statement("State", "STATE", "Statex", "STMT", "algstore", "algrestore", "zi", "li", "STATEx")
def state(doc: Document, name: str) -> None:
    lines = doc.algorithm
    if name.startswith("alg"):
        doc.star()
        stored, key = doc.styles.setdefault("algorithms stored", {}), doc.word_arg()
        if name == "algstore":
            stored[key] = lines.count
        else:
            lines.count = stored.get(key, lines.count)
        return
    lines.newline()
    doc.star()
    lines.number = ""
    if name.casefold() != "statex":
        lines.step()


def opens(before: str, after: str = "", *, takes: bool = True):
    def run(doc: Document, name: str) -> None:
        lines = doc.algorithm
        lines.newline()
        lines.step()
        doc.optional() if name.isupper() and doc.peek() in ("[",) else None
        held = doc.text(doc.arg()) if takes else ""
        text = " ".join(part for part in (word(doc, before), held, word(doc, after) if after else "") if part)
        doc.put(text)
        doc.par()
        lines.indent += 1
    return run


def closes(before: str):
    def run(doc: Document, name: str) -> None:
        lines = doc.algorithm
        lines.newline()
        lines.indent -= 1
        if ends_printed(doc):
            lines.step()
            doc.put(word(doc, before))
            if name.isupper() and doc.peek() == "[":
                doc.optional()
    return run


def middle(before: str, after: str = "", *, takes: bool = True):
    def run(doc: Document, name: str) -> None:
        lines = doc.algorithm
        lines.newline()
        lines.step()
        lines.indent -= 1
        held = doc.text(doc.arg()) if takes else ""
        doc.put(" ".join(part for part in (word(doc, before), held, word(doc, after) if after else "") if part))
        doc.par()
        lines.indent += 1
    return run


BLOCKS = {"If": opens("if", "then"), "For": opens("for", "do"), "ForAll": opens("forall", "do"), "While": opens("while", "do"),
          "Loop": opens("loop", takes=False), "Repeat": opens("repeat", takes=False), "ElsIf": middle("elsif", "then"),
          "ElseIf": middle("elsif", "then"), "Else": middle("else", takes=False), "EndIf": closes("endif"),
          "EndFor": closes("endfor"), "EndWhile": closes("endwhile"), "EndLoop": closes("endloop"),
          "EndProcedure": closes("endprocedure"), "EndFunction": closes("endfunction")}
UPPER = {"IF": "If", "FOR": "For", "FORALL": "ForAll", "WHILE": "While", "LOOP": "Loop", "REPEAT": "Repeat", "ELSIF": "ElsIf",
         "ELSE": "Else", "ENDIF": "EndIf", "ENDFOR": "EndFor", "ENDWHILE": "EndWhile", "ENDLOOP": "EndLoop", "ELSEIF": "ElsIf",
         "ForEach": "ForAll", "FOREACH": "ForAll"}


def block(doc: Document, name: str) -> None:
    plain = UPPER.get(name, name)
    if two_e(doc) and name in TWO_E:
        TWO_E[name](doc, name)
    elif plain in BLOCKS:
        if name.isupper() and plain in ("If", "For", "ForAll", "While", "Loop", "Repeat", "ElsIf", "Else"):
            comment = doc.optional()
            BLOCKS[plain](doc, name)
            if comment and doc.algorithm.lines:
                doc.algorithm.lines[-1] += f" {word(doc, 'comment').strip()} {doc.text(comment)}"
        else:
            BLOCKS[plain](doc, name)


@statement("Until", "UNTIL")
def until(doc: Document, name: str) -> None:
    doc.algorithm.newline()
    doc.algorithm.step()
    doc.algorithm.indent -= 1
    doc.put(f"{word(doc, 'until')} {doc.text(doc.arg())}")
    doc.par()


@statement("Procedure", "Function", "PROCEDURE", "FUNCTION")
def procedure(doc: Document, name: str) -> None:
    if two_e(doc):
        return
    doc.algorithm.newline()
    doc.algorithm.step()
    title, args = doc.text(doc.arg()), doc.text(doc.arg())
    doc.put(f"{word(doc, name.lower())} {title}({args})")
    doc.par()
    doc.algorithm.indent += 1


@command("Call", "CALL")
def call(doc: Document, name: str) -> None:
    doc.put(f"{doc.text(doc.arg())}({doc.text(doc.arg())})")


@statement("Require", "REQUIRE", "Ensure", "ENSURE")
def require(doc: Document, name: str) -> None:
    doc.algorithm.newline()
    doc.put(word(doc, name.lower()) + " ")


@statement("INPUT", "OUTPUT", "Input", "Output", "INPUTS", "OUTPUTS", "Inputs", "Outputs", "Initialize", "INITIALIZE", "Init")
def given(doc: Document, name: str) -> None:
    if two_e(doc):
        two_e_words(doc, name)
        return
    doc.algorithm.newline()
    own = doc.macros.get(f"\\algorithmic{name.lower()}")
    text = doc.text([f"\\algorithmic{name.lower()}"]) if own is not None else name.capitalize() + ":"
    doc.put(text + " ")


@statement("RETURN", "PRINT")
def result(doc: Document, name: str) -> None:
    doc.algorithm.newline()
    doc.algorithm.step()
    doc.put(name.lower() + " ")


@command("Return", "KwRet", "KwReturn", "Ret")
def returns(doc: Document, name: str) -> None:
    if not in_lines(doc):
        return
    if two_e(doc):
        doc.put("return ")
        return
    doc.put(word(doc, "return") + " ")


@command("Comment", "COMMENT", "LComment", "LineComment", "LINECOMMENT", "CommentInline")
def comment(doc: Document, name: str) -> None:
    if doc.algorithm is None and name in ("Comment", "COMMENT") and doc.context.kind == "void":
        return
    doc.optional()
    doc.star()
    if name in ("LComment", "LineComment", "LINECOMMENT") and in_lines(doc):
        doc.algorithm.newline()
        doc.algorithm.step()
    doc.put(f" ▷ {doc.text(doc.arg())}")


for _name, _text in {"TRUE": "true", "FALSE": "false", "AND": "and", "OR": "or", "NOT": "not", "XOR": "xor", "TO": "to",
                     "DOWNTO": "downto", "KwTo": "to", "KwDownTo": "downto", "And": "and", "Or": "or", "Not": "not",
                     "Break": "break", "Continue": "continue", "BREAK": "break", "CONTINUE": "continue"}.items():
    def _keyword(doc: Document, name: str, text: str = _text) -> None:
        if in_lines(doc):
            doc.put(f" {text} ")
    COMMANDS.setdefault(_name, _keyword)


@command("algnewcommand", "algrenewcommand", "algdef", "algblock", "algblockdefx", "algblockdef", "algloopdefx", "algcblock",
         "algtext", "algnotext", "algrenewtext", "algsetblock", "algnewlanguage", "alglanguage", "algloopdef", "algcblockdefx",
         "algloop", "algcloop", "algrenewcomment", "algnewblockcomment", "algsetup", "algsetlanguage", "algorithmicindent",
         "algorithmiccomment")
def define(doc: Document, name: str) -> None:
    if name in ("algnewcommand", "algrenewcommand"):
        doc.push(["\\newcommand"])
        return
    if name == "algorithmiccomment":
        doc.put(f" ▷ {doc.text(doc.arg())}")
        return
    if name == "algorithmicindent":
        doc.dimension()
        return
    kind = written(doc.optional() or [])
    if name == "algdef":
        names = re.match(r"([SEC]*)", kind)[1] if re.match(r"[SEC]", kind) else "SE"
        doc.bracketed("<", ">")
        option = doc.optional()
        starts = "S" in names
        ends = "E" in names
        if option is not None and not starts and not ends:
            return
        first = doc.word_arg() if starts else ""
        last = doc.word_arg() if ends else ""
        for one, role in ((first, "S"), (last, "E")):
            if not one:
                continue
            count = doc.optional()
            default = doc.optional() if count is not None else None
            body = doc.arg()
            from paper2code.read.tex.engine import Macro, parameters
            number = int((re.findall(r"\d", written(count or [])) or ["0"])[0])
            step = ["\\@algopen"] if role == "S" else ["\\@algclose"]
            doc.macros["\\" + one] = Macro([*step, *parameters(body), *(["\\@algindent"] if role == "S" else [])], number,
                                           default)
        return
    if name in ("algrenewtext", "algtext", "algnotext"):
        doc.star()
        one = doc.word_arg()
        count = doc.optional() if name != "algnotext" else None
        default = doc.optional() if count is not None else None
        body = doc.arg() if name != "algnotext" else []
        from paper2code.read.tex.engine import Macro, parameters
        number = int((re.findall(r"\d", written(count or [])) or ["0"])[0])
        before = doc.macros.get("\\" + one)
        opening = "\\@algindent" in before.body if before is not None else one in BLOCKS and not one.startswith("End")
        step = ["\\@algopen"] if opening else ["\\@algclose"] if body else ["\\@algshut"]
        doc.macros["\\" + one] = Macro([*step, *parameters(body), *(["\\@algindent"] if opening else [])], number, default)
        return
    if name in ("algblock", "algloop"):
        first = doc.word_arg()
        doc.macros["\\" + first] = _plain(["\\@algopen", f"\0{first} ", "\\@algindent"])
        if name == "algblock":
            last = doc.word_arg()
            doc.macros["\\" + last] = _plain(["\\@algclose", f"\0{last}"])
        return
    if name in ("algblockdefx", "algblockdef", "algcblockdefx"):
        first, last = doc.word_arg(), doc.word_arg()
        from paper2code.read.tex.engine import Macro, parameters
        for one, step in ((first, "\\@algopen"), (last, "\\@algclose")):
            count = doc.optional()
            default = doc.optional() if count is not None else None
            body = doc.arg()
            number = int((re.findall(r"\d", written(count or [])) or ["0"])[0])
            doc.macros["\\" + one] = Macro([step, *parameters(body), *(["\\@algindent"] if one == first else [])], number,
                                           default)
        return
    doc.star()
    while doc.peek() in ("{", "["):
        doc.arg() if doc.peek() == "{" else doc.optional()


def _plain(tokens: list[str]):
    from paper2code.read.tex.engine import Macro
    return Macro(tokens)


@statement("@algopen")
def alg_open(doc: Document, name: str) -> None:
    doc.algorithm.newline()
    doc.algorithm.step()


@statement("@algindent")
def alg_indent(doc: Document, name: str) -> None:
    doc.algorithm.newline()
    doc.algorithm.indent += 1


@statement("@algclose", "@algshut")
def alg_close(doc: Document, name: str) -> None:
    """The end of a block: a line of its own, or (`shut`) one that is not printed."""
    doc.algorithm.newline()
    if name == "@algclose":
        doc.algorithm.step()
    doc.algorithm.indent -= 1


# --- algorithm2e -------------------------------------------------------------------------------------------------------------


@command(";")
def semicolon(doc: Document, name: str) -> None:
    if in_lines(doc) and not doc.math:
        if not doc.styles.get("no semicolon"):
            text = "".join(doc.context.parts).rstrip()
            if text and not text.endswith(";"):
                doc.put(";")
        doc.par()
    else:
        doc.put(" ")


@command("DontPrintSemicolon", "PrintSemicolon")
def print_semicolon(doc: Document, name: str) -> None:
    doc.styles["no semicolon"] = name.startswith("Dont")


def body_of(doc: Document, before: str, after: str, *, end: str = "end", takes: bool = True):
    doc.bracketed("(", ")")
    held = doc.text(doc.arg()) if takes else ""
    doc.algorithm.newline()
    doc.put(re.sub(r" ([:;,.])$", r"\1", " ".join(part for part in (before, held, after) if part)))
    comment_ = doc.bracketed("(", ")")
    if comment_:
        doc.push(comment_)
        doc.put(" ")
    body = doc.arg()
    doc.push(["\\@indent", *body, "\\@dedent", *(["\0" + end, "\\par"] if end else [])])


@statement("@indent", "@dedent")
def indentation(doc: Document, name: str) -> None:
    doc.algorithm.newline()
    doc.algorithm.indent += 1 if name == "@indent" else -1


def two_e_option(doc: Document, name: str) -> bool:
    """Whether an option of algorithm2e is on: as the author set it in the text, else as the package was loaded."""
    return bool(doc.styles.get(f"algorithm2e {name}", name in re.split(r"[,\s]+", doc.packages.get("algorithm2e", ""))))


def ends(doc: Document, of: str = "") -> str:
    """The line that ends a block: none with `noend` and with the lines of `vlined`; "end if" with `longend`."""
    if two_e_option(doc, "noend") or two_e_option(doc, "vlined"):
        return ""
    return f"end {of}" if of and two_e_option(doc, "longend") else "end"


def if_else(doc: Document, name: str) -> None:
    held = doc.text(doc.arg())
    yes, no = doc.arg(), doc.arg()
    doc.algorithm.newline()
    doc.put(f"if {held} then")
    end = ends(doc, "if")
    doc.push(["\\@indent", *yes, "\\@dedent", "\0else", "\\par", "\\@indent",
              *no, "\\@dedent",
              *(["\0" + end, "\\par"] if end else [])])


def one_line(before: str, after: str):
    def run(doc: Document, name: str) -> None:
        doc.bracketed("(", ")")
        held = doc.text(doc.arg()) if before != "else" else ""
        doc.algorithm.newline()
        doc.put(" ".join(part for part in (before, held, after) if part) + " ")
        doc.bracketed("(", ")")
        doc.push([*doc.arg(), "\\par"])
    return run


def block2(before: str, after: str, *, takes: bool = True, end: bool = True):
    of = "if" if before.startswith("else") else before if before in ("if", "for", "foreach", "forall", "while") else ""

    def run(doc: Document, name: str) -> None:
        body_of(doc, before, after, takes=takes, end=ends(doc, of) if end else "")
    return run


def repeat2(doc: Document, name: str) -> None:
    held = doc.text(doc.arg())
    doc.bracketed("(", ")")
    body = doc.arg()
    doc.algorithm.newline()
    doc.put("repeat")
    doc.push(["\\@indent", *body, "\\@dedent", "\0" + f"until {held}", "\\par"])


TWO_E = {"If": block2("if", "then"), "uIf": block2("if", "then", end=False), "ElseIf": block2("else if", "then"),
         "uElseIf": block2("else if", "then", end=False), "Else": block2("else", "", takes=False), "uElse": block2("else", "",
             takes=False, end=False),
         "eIf": if_else, "For": block2("for", "do"), "ForEach": block2("foreach", "do"), "ForAll": block2("forall", "do"),
         "While": block2("while", "do"),
         "Repeat": repeat2, "lIf": one_line("if", "then"), "lElse": one_line("else", ""), "lElseIf": one_line("else if", "then"),
         "lFor": one_line("for", "do"), "lForEach": one_line("foreach", "do"), "lForAll": one_line("forall", "do"),
         "lWhile": one_line("while", "do"),
         "Begin": block2("begin", "", takes=False), "Loop": block2("loop", "", takes=False), "Switch": block2("switch", "do"),
         "Case": block2("case", "do"), "uCase": block2("case", "do", end=False), "Other": block2("otherwise", "do", takes=False),
         "ForPar": block2("for", "do in parallel"), "lRepeat": repeat2}

for _name in {*BLOCKS, *UPPER, *TWO_E}:
    statement(_name)(block)


@statement("KwIn", "KwOut", "KwData", "KwResult", "KwInput", "KwOutput")
def two_e_words(doc: Document, name: str) -> None:
    doc.algorithm.newline()
    doc.algorithm.bare = not two_e_option(doc, "inoutnumbered")
    own = doc.styles.get(f"kw:{name}")
    text = own or {"KwIn": "Input", "KwOut": "Output", "KwData": "Data", "KwResult": "Result", "KwInput": "Input",
                   "KwOutput": "Output"}.get(name, name)
    doc.put(f"{text.rstrip(':')}: ")
    doc.push(["{", *doc.arg(), "}", "\\par"])


@command("SetKwInOut", "SetKwInput", "SetKwFunction", "SetKwProg", "SetKw", "SetKwData", "SetKwArray", "SetKwFor", "SetKwIF",
         "SetKwRepeat", "SetKwBlock", "SetKwHangingKw", "SetKwSwitch")
def set_keyword(doc: Document, name: str) -> None:
    key = doc.word_arg()
    text = doc.text(doc.arg())
    if name in ("SetKwInOut", "SetKwInput", "SetKwHangingKw"):
        doc.styles[f"kw:{key}"] = text
        doc.handlers[key] = inside(two_e_words)
    elif name in ("SetKwFunction", "SetKwArray"):
        doc.styles[f"kw:{key}"] = text
        doc.handlers.setdefault(key, function_name)
    elif name in ("SetKw", "SetKwData"):
        doc.styles[f"kw:{key}"] = text
        doc.handlers.setdefault(key, keyword)
    elif name == "SetKwProg":
        middle_, end = doc.text(doc.arg()), doc.text(doc.arg())
        doc.styles[f"kw:{key}"] = (text, middle_, end)
        doc.handlers[key] = inside(program)
    elif name == "SetKwBlock":
        end = doc.text(doc.arg())
        doc.styles[f"kw:{key}"] = (text, "", end)
        doc.handlers[key] = inside(kw_block)
    elif name == "SetKwFor":
        middle_, end = doc.text(doc.arg()), doc.text(doc.arg())
        doc.styles[f"kw:{key}"] = (text, middle_, end)
        doc.handlers[key] = inside(program)
    elif name == "SetKwRepeat":
        doc.arg()
    elif name == "SetKwIF":
        for _ in range(6):
            doc.arg()
    elif name == "SetKwSwitch":
        for _ in range(7):
            doc.arg()


def function_name(doc: Document, name: str) -> None:
    doc.put(str(doc.styles.get(f"kw:{name}", name)))
    if doc.peek() == "{":
        doc.put(f"({doc.text(doc.arg())})")


def keyword(doc: Document, name: str) -> None:
    doc.put(str(doc.styles.get(f"kw:{name}", name)) + " ")
    if doc.peek() == "{":
        doc.push(["{", *doc.arg(), "}"])


def program(doc: Document, name: str) -> None:
    text, middle_, end = doc.styles[f"kw:{name}"]
    body_of(doc, text, middle_, end=end if ends(doc) else "")


def kw_block(doc: Document, name: str) -> None:
    text, middle_, end = doc.styles[f"kw:{name}"]
    body_of(doc, text, middle_, takes=False, end=end if ends(doc) else "")


@command("tcp", "tcc", "tcpx")
def two_e_comment(doc: Document, name: str) -> None:
    side = doc.star()
    where = written(doc.bracketed("[", "]") or [])
    held = doc.text(doc.arg())
    if in_lines(doc):
        before = "".join(doc.context.parts).strip()
        if not before:
            doc.algorithm.bare = not two_e_option(doc, "commentsnumbered")
        elif side and where not in ("f", "h") and not before.endswith(";") and not doc.styles.get("no semicolon"):
            doc.put(";")  # a comment at the side ends the statement
    doc.put(f" // {held}" if name == "tcp" else f" /* {held} */")
    if in_lines(doc):
        doc.par()


@statement("BlankLine", "nl", "lnl", "Indp", "Indm", "SetNoFillComment",
           "RestyleAlgo", "dontprintsemicolon", "IncMargin", "DecMargin", "ShowLn", "showln", "AlgoDisplayBlockMarkers", "SetInd", "SetNlSty",
           "nlset", "Indentp", "algomargin", "SetAlgoCaptionSeparator", "SetNlSkip", "SetAlCapSkip",
           "SetKwInParam", "SetAlgoInsideSkip", "SetAlCapHSkip")
def two_e_setting(doc: Document, name: str) -> None:
    if name in ("nl", "lnl") and two_e(doc):
        lines = doc.algorithm
        every, lines.every = lines.every, True
        lines.step()
        lines.every, lines.bare = every, True
        if name == "lnl":
            doc.set_label(doc.word_arg())
    elif name in ("lnl", "RestyleAlgo", "IncMargin", "DecMargin", "nlset", "Indentp", "SetAlgoCaptionSeparator", "SetNlSkip",
                "SetAlCapSkip", "SetAlgoInsideSkip", "SetAlCapHSkip"):
        doc.arg()
    elif name == "SetInd":
        doc.skip_arguments("{{")
    elif name in ("SetNlSty", "SetKwInParam"):
        doc.skip_arguments("{{{")
    elif name == "algomargin":
        doc.dimension()
    elif name in ("Indp", "Indm"):
        doc.algorithm.newline()
        doc.algorithm.indent += 1 if name == "Indp" else -1


for _name in ("IncMargin", "DecMargin", "RestyleAlgo", "SetAlgoCaptionSeparator", "SetAlCapSkip", "SetAlgoSkip"):
    COMMANDS[_name] = lambda doc, name: doc.skip_arguments("{")
for _name in ("SetInd",):
    COMMANDS[_name] = lambda doc, name: doc.skip_arguments("{{")
for _name in ("SetNlSty",):
    COMMANDS[_name] = lambda doc, name: doc.skip_arguments("{{{")


SWITCHES = {"SetAlgoNoEnd": {"noend": True}, "SetAlgoShortEnd": {"noend": False, "longend": False},
            "SetAlgoLongEnd": {"noend": False, "longend": True}, "SetAlgoVlined": {"vlined": True}, "SetVline": {"vlined": True},
            "SetAlgoLined": {"vlined": False}, "SetLine": {"vlined": False}, "SetAlgoNoLine": {"vlined": False},
            "SetNoline": {"vlined": False}, "LinesNumbered": {"linesnumbered": True}, "LinesNotNumbered": {"linesnumbered": False},
            "LinesNumberedHidden": {"linesnumbered": False}}


@command(*SWITCHES)
def switch(doc: Document, name: str) -> None:
    """How algorithm2e prints from here on."""
    for option, on in SWITCHES[name].items():
        doc.styles[f"algorithm2e {option}"] = on
    if doc.algorithm is not None and doc.algorithm.style == "algorithm2e":
        doc.algorithm.every = two_e_option(doc, "linesnumbered")
