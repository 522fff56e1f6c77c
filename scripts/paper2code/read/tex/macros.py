"""What the engine does by itself: definitions, TeX's and LaTeX's tools to expand, conditionals, counters as text."""

from __future__ import annotations

import re

from paper2code.read.tex.counters import SYMBOLS, alphabetic, roman
from paper2code.read.tex.engine import CONDITIONALS, KEPT_ENVIRONMENTS, Engine, Macro, parameters, stripped
from paper2code.read.tex.lexer import lex, written

COMMANDS = Engine.commands


def command(*names: str):
    def keep(function):
        for name in names:
            COMMANDS["\\" + name] = function
        return function
    return keep


# --- definitions -------------------------------------------------------------------------------------------------------


@command("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand", "newrobustcmd", "renewrobustcmd")
def newcommand(engine: Engine, token: str) -> None:
    engine.star()
    name = engine.name_arg()
    count = engine.optional()
    default = engine.optional() if count is not None else None
    body = engine.arg()
    number = re.sub(r"\D", "", written(count or [])) or "0"
    if token == "\\providecommand" and (name in engine.macros or name in engine.native):
        return
    if token == "\\renewcommand" and name == "\\appendix":
        name = "\\appendix@own"
    engine.define(name, Macro(parameters(body), int(number[:1]), default))


@command("DeclareMathOperator")
def math_operator(engine: Engine, token: str) -> None:
    star = "*" if engine.star() else ""
    name = engine.name_arg()
    engine.define(name, Macro([f"\\operatorname{star}", "{", *engine.arg(), "}"]), globally=True)


@command("DeclarePairedDelimiter")
def paired(engine: Engine, token: str) -> None:
    name, left, right = engine.name_arg(), engine.arg(), engine.arg()
    engine.define(name, Macro(["\\@paired", "{", *left, "}", "{", *right, "}"]))


@command("DeclarePairedDelimiterX", "DeclarePairedDelimiterXPP")
def paired_x(engine: Engine, token: str) -> None:
    name = engine.name_arg()
    count = int((re.findall(r"\d", written(engine.optional() or ["1"])) or ["1"])[0])
    parts = [engine.arg() for _ in range(5 if token.endswith("PP") else 3)]
    if token.endswith("PP"):
        before, left, right, after, body = parts
    else:
        (left, right, body), before, after = parts, [], []
    engine.define(name, Macro(parameters([*before, *left, *body, *right, *after]), count, None, None,
                              [("P",), *[("m",)] * count]))


@command("@paired")
def use_paired(engine: Engine, token: str) -> None:
    left, right = engine.arg(), engine.arg()
    star, size = engine.star(), engine.optional()
    held = engine.arg()
    if star:
        engine.push(["\\left", *left, *held, "\\right", *right])
    elif size:
        engine.push([*size, *left, *held, *size, *right])
    else:
        engine.push([*left, *held, *right])


@command("def", "gdef", "edef", "xdef")
def definition(engine: Engine, token: str) -> None:
    name = engine.next()
    while name == " ":
        name = engine.next()
    if name is None:
        return
    pattern: list[list[str]] = [[]]
    for _ in range(500):
        part = engine.next()
        if part is None or part == "{":
            break
        if part == "#":
            after = engine.next()
            if after == "{":
                part = after
                break
            if after and after[0] in "0123456789":
                pattern.append([])
                if after[1:]:
                    pattern[-1] += list(after[1:])
            continue
        pattern[-1] += [part] if part[0] in "\\\0" else list(part)
    body = engine.balanced()
    if token in ("\\edef", "\\xdef"):
        body = engine.expanded(body)
    if name == "\\appendix":
        name = "\\appendix@own"
    globally = token in ("\\gdef", "\\xdef")
    if len(pattern) == 1 and not pattern[0]:
        engine.define(name, Macro(parameters(body)), globally=globally)
    else:
        engine.define(name, Macro(parameters(body), len(pattern) - 1, None, pattern), globally=globally)


@command("let", "glet")
def let(engine: Engine, token: str) -> None:
    engine.skip_spaces()
    name = engine.next()
    engine.skip_spaces()
    other = engine.next()
    if other == "=":
        other = engine.next()
        if other == " ":
            other = engine.next()
    elif other and other[0] == "=" and len(other) > 1:
        other = other[1:]
    if name and other:
        same(engine, name, other, globally=token == "\\glet")


def same(engine: Engine, name: str, other: str, *, globally: bool = False) -> None:
    if not other:
        return
    if len(other) > 1 and other[0] not in "\\\0":
        engine.back.append(other[1:])
        other = other[0]
    macro = engine.macros.get(other)
    if macro is None:
        if name == other:
            macro = None
        elif other[0] == "\\" and other[1:2] != "\x01":
            macro = Macro(["\\\x01" + other[1:]])
        else:
            macro = Macro([other])
    engine.define(name, macro, globally=globally)


@command("csdef", "csgdef", "@namedef", "csedef", "csxdef")
def name_definition(engine: Engine, token: str) -> None:
    engine.push(["\\def", "\\" + engine.word_arg()])


@command("cslet", "csletcs")
def name_let(engine: Engine, token: str) -> None:
    name = "\\" + engine.word_arg()
    other = "\\" + engine.word_arg() if token == "\\csletcs" else engine.name_arg()
    same(engine, name, other)


@command("NewDocumentCommand", "RenewDocumentCommand", "ProvideDocumentCommand", "DeclareDocumentCommand",
         "NewExpandableDocumentCommand", "DeclareExpandableDocumentCommand")
def document_command(engine: Engine, token: str) -> None:
    name, spec, body = engine.name_arg(), kinds(engine.arg()), engine.arg()
    if token.startswith("\\Provide") and (name in engine.macros or name in engine.native):
        return
    engine.define(name, Macro(parameters(body), len(spec), None, None, spec))


def kinds(tokens: list[str]) -> list[tuple]:
    """An xparse argument specification as the tuples `Engine.special` takes."""
    text = written(tokens)
    out: list[tuple] = []
    at = 0

    def group() -> list[str]:
        nonlocal at
        while at < len(text) and text[at] == " ":
            at += 1
        if at < len(text) and text[at] == "{":
            depth, start = 0, at
            while at < len(text):
                depth += (text[at] == "{") - (text[at] == "}")
                at += 1
                if not depth:
                    break
            return lex(text[start + 1:at - 1])
        at += 1
        return [text[at - 1]] if at <= len(text) else []

    while at < len(text):
        kind = text[at]
        at += 1
        if kind in "+! \n":
            continue
        if kind == ">":
            group()
        elif kind in "mvb":
            out.append((kind,))
        elif kind == "o":
            out.append(("o", "[", "]", None))
        elif kind == "O":
            out.append(("o", "[", "]", group()))
        elif kind == "s":
            out.append(("s",))
        elif kind == "t":
            out.append(("t", "".join(group())))
        elif kind in "dr":
            out.append(("d", "".join(group()), "".join(group()), None))
        elif kind in "DR":
            out.append(("d", "".join(group()), "".join(group()), group()))
        elif kind == "g":
            out.append(("g", "", "", None))
        elif kind == "G":
            out.append(("g", "", "", group()))
        elif kind in "eE":
            group()
            if kind == "E":
                group()
    return out


@command("newenvironment", "renewenvironment", "provideenvironment")
def newenvironment(engine: Engine, token: str) -> None:
    engine.star()
    name = engine.word_arg()
    count = engine.optional()
    default = engine.optional() if count is not None else None
    begin, end = engine.arg(), engine.arg()
    number = int((re.findall(r"\d", written(count or [])) or ["0"])[0])
    keep_environment(engine, name, Macro(parameters(begin), number, default), parameters(end))


@command("NewDocumentEnvironment", "RenewDocumentEnvironment", "DeclareDocumentEnvironment", "ProvideDocumentEnvironment")
def document_environment(engine: Engine, token: str) -> None:
    name, spec, begin, end = engine.word_arg(), kinds(engine.arg()), engine.arg(), engine.arg()
    keep_environment(engine, name, Macro(parameters(begin), len(spec), None, None, spec), parameters(end))


def keep_environment(engine: Engine, name: str, begin: Macro, end: list) -> None:
    if name in KEPT_ENVIRONMENTS or (engine.package and name in engine.native_environments):
        return
    engine.environments[name] = (begin, end)


@command("newif")
def newif(engine: Engine, token: str) -> None:
    name = engine.next() or ""
    if name.startswith("\\if"):
        engine.switches.setdefault(name[3:], False)


@command("newtoggle", "providetoggle", "newbool", "providebool")
def newtoggle(engine: Engine, token: str) -> None:
    engine.switches.setdefault(engine.word_arg(), False)


@command("toggletrue", "booltrue", "togglefalse", "boolfalse")
def set_toggle(engine: Engine, token: str) -> None:
    engine.switches[engine.word_arg()] = token.endswith("true")


@command("settoggle", "setbool", "setboolean")
def set_boolean(engine: Engine, token: str) -> None:
    name = engine.word_arg()
    engine.switches[name] = engine.word_arg().strip() == "true"


@command("newboolean", "provideboolean")
def newboolean(engine: Engine, token: str) -> None:
    engine.switches.setdefault(engine.word_arg(), False)


@command("global")
def globally(engine: Engine, token: str) -> None:
    engine.skip_spaces()
    after = engine.peek()
    if after in ("\\def", "\\let", "\\edef", "\\long", "\\newcommand", "\\renewcommand"):
        if after == "\\long":
            engine.next()
            after = engine.peek()
        engine.globals = True
        try:
            COMMANDS.get(engine.next() or "", ignore)(engine, {"\\def": "\\gdef", "\\let": "\\glet"}.get(after, after))
        finally:
            engine.globals = False


@command("long", "outer", "protected", "protect", "relax", "@nil", "ignorespaces", "unskip", "leavevmode", "allowbreak",
         "nobreak", "null", "strut", "mathstrut")
def ignore(engine: Engine, token: str) -> str | None:
    return token if token == "\\relax" and not engine.math else None


@command("makeatletter", "makeatother", "ExplSyntaxOn", "ExplSyntaxOff")
def at_letter(engine: Engine, token: str) -> None:
    if token.startswith("\\make"):
        engine.setting_letters(token == "\\makeatletter" or bool(engine.package))
    elif token == "\\ExplSyntaxOn":
        lexer = engine.file()
        if lexer is not None and not engine.back:
            lexer.until("\\ExplSyntaxOff")
            engine.warn("not-read", "code between \\ExplSyntaxOn and \\ExplSyntaxOff is not read")


@command("AtBeginDocument", "AtEndOfClass", "AtEndOfPackage", "AtEndPreamble", "AfterEndPreamble")
def later(engine: Engine, token: str) -> None:
    engine.push(engine.arg())


@command("AtEndDocument", "AtBeginEnvironment", "AtEndEnvironment", "BeforeBeginEnvironment", "AfterEndEnvironment", "pretocmd",
         "apptocmd", "patchcmd", "xpatchcmd", "xpretocmd", "xapptocmd", "preto", "appto", "g@addto@macro", "addto", "AddToHook",
         "hook_gput_code", "IfFileExists", "InputIfFileExists", "@ifpackageloaded", "@ifclassloaded")
def hooks(engine: Engine, token: str) -> None:
    name = token[1:]
    first = engine.arg()
    if name in ("IfFileExists", "InputIfFileExists", "@ifpackageloaded", "@ifclassloaded"):
        there = engine.is_there(name, engine.words(first))
        yes, no = engine.arg(), engine.arg()
        if there and name == "InputIfFileExists":
            engine.push(["\\input", "{", *first, "}"])
        engine.push(yes if there else no)
    elif name in ("AtEndDocument",):
        return
    elif name in ("patchcmd", "xpatchcmd"):
        for _ in range(4):
            engine.arg()
    elif name in ("pretocmd", "apptocmd", "xpretocmd", "xapptocmd"):
        for _ in range(3):
            engine.arg()
    elif name == "AddToHook":
        engine.optional()
        engine.arg()
    elif name in ("g@addto@macro", "appto", "preto"):
        added, target = engine.arg(), (first or [""])[0]
        macro = engine.macros.get(target)
        if macro is not None and macro.plain:
            body = [*macro.body, *added] if name != "preto" else [*added, *macro.body]
            engine.define(target, Macro(body))
    else:
        engine.arg()


# --- environments of the author's own ----------------------------------------------------------------------------------


@command("begin")
def begin(engine: Engine, token: str) -> str | None:
    name = engine.word_arg()
    if name in engine.comments:
        skip_comment(engine, name)
        return None
    known = engine.environments.get(name)
    own = name not in KEPT_ENVIRONMENTS and name not in engine.native_environments
    if known is None and own and "\\" + name in engine.macros:
        ends = ["\\end" + name] if "\\end" + name in engine.macros else []
        known = (Macro(["\\" + name]), ends)
    if known is None:
        return f"\\begin{{{name}}}"
    if sum(1 for opened, _ in engine.opened if opened == name) > 40:
        engine.warn("macro-loop", f"the environment {name} opens itself; it is left out")
        engine.environments.pop(name, None)
        return None
    start, end = known
    engine.expansions += 1
    # Arguments are read for the beginning and used in the end too.
    opening = Macro([*start.body, None], start.count, start.default, start.pattern, start.spec)
    opening.body = [*start.body, "\\\x02split", *end]
    body = engine.filled("\\begin", opening) if not start.plain else [*start.body, "\\\x02split", *end]
    body = [part if isinstance(part, str) else "#" for part in body]
    cut = body.index("\\\x02split")
    engine.opened.append((name, body[cut + 1:]))
    engine.begin_group()
    engine.push(body[:cut])
    return None


@command("end")
def end(engine: Engine, token: str) -> str | None:
    name = engine.word_arg()
    for at in range(len(engine.opened) - 1, -1, -1):
        if engine.opened[at][0] == name:
            closing = engine.opened[at][1]
            del engine.opened[at]
            engine.push([*closing, "\\\x02endgroup"])
            return None
    return f"\\end{{{name}}}"


@command("\x02endgroup")
def close_group(engine: Engine, token: str) -> None:
    engine.end_group()


def skip_comment(engine: Engine, name: str) -> None:
    """Pass an environment whose content is not printed."""
    if not engine.back and engine.lexer is not None:
        if engine.lexer.until(f"\\end{{{name}}}") is None:
            engine.warn("no-end", f"\\begin{{{name}}} has no \\end; what follows is read as text")
        return
    engine.delimited(["\\end", "{", name, "}"])


@command("excludecomment", "includecomment", "excludeversion", "includeversion")
def comment_environment(engine: Engine, token: str) -> None:
    name = engine.word_arg()
    if token.startswith("\\exclude"):
        engine.comments.add(name)
        return
    engine.comments.discard(name)
    engine.environments[name] = (Macro([]), [])


# --- expansion tools ---------------------------------------------------------------------------------------------------


@command("expandafter")
def expandafter(engine: Engine, token: str) -> None:
    first, second = engine.next(), engine.next()
    if first is None:
        return
    if second is not None:
        macro = engine.macros.get(second)
        if macro is not None:
            engine.expand(second, macro)
        elif second in ("\\csname", "\\expandafter", "\\string", "\\the", "\\number", "\\romannumeral"):
            engine.expansions += 1
            if engine.expansions < 5000:
                COMMANDS[second](engine, second)
        else:
            engine.back.append(second)
    engine.back.append(first)


@command("csname")
def csname(engine: Engine, token: str) -> None:
    name = ""
    for _ in range(2000):
        part = engine.token()
        if part is None or part == "\\endcsname":
            break
        name += part
    engine.back.append("\\" + name.strip() if name.strip() else "\\relax")


@command("csuse", "@nameuse")
def csuse(engine: Engine, token: str) -> None:
    name = "\\" + engine.word_arg()
    if name in engine.macros or name in engine.native:
        engine.back.append(name)


@command("noexpand", "unexpanded", "detokenize", "expanded")
def noexpand(engine: Engine, token: str) -> str | None:
    if token == "\\noexpand":
        return engine.next()
    engine.push(engine.arg())
    return None


@command("string")
def string(engine: Engine, token: str) -> str | None:
    after = engine.next()
    return None if after is None else "\0" + after.replace("\x01", "")


@command("number", "the")
def number(engine: Engine, token: str) -> None:
    after = engine.peek()
    if after is None or (token == "\\the" and not (after in ("\\value", "\\numexpr") or after.startswith("\\c@"))):
        if after is not None and after[0] == "\\" and after not in engine.macros:
            engine.next()
        return
    engine.push([str(engine.number())])


@command("romannumeral")
def romannumeral(engine: Engine, token: str) -> None:
    engine.push([roman(engine.number()) or "\\relax"])


@command("arabic", "alph", "Alph", "roman", "Roman", "fnsymbol", "@arabic", "@alph", "@Alph", "@roman", "@Roman", "@fnsymbol",
         "two@digits")
def counter_text(engine: Engine, token: str) -> None:
    name = token.lstrip("\\@")
    if token[1] == "@" or name == "two@digits":
        value = engine.number_of(engine.arg())
    else:
        counter = engine.word_arg()
        if counter == "*":
            engine.push(["*"])
            return
        value = engine.values.get(counter, 0)
    if name == "alph":
        text = alphabetic(value).lower()
    elif name == "Alph":
        text = alphabetic(value)
    elif name in ("roman", "Roman"):
        text = roman(value)
        text = text.upper() if name == "Roman" else text
    elif name == "fnsymbol":
        text = SYMBOLS[value] if 0 <= value < len(SYMBOLS) else str(value)
    else:
        text = f"{value:02d}" if name == "two@digits" else str(value)
    if text:
        engine.push([text])


@command("ensuremath")
def ensuremath(engine: Engine, token: str) -> None:
    held = engine.arg()
    engine.push(["{", *held, "}"] if engine.math else ["$", *held, "$"])


@command("texorpdfstring")
def texorpdfstring(engine: Engine, token: str) -> None:
    first = engine.arg()
    engine.arg()
    engine.push(first)


@command("xspace")
def xspace(engine: Engine, token: str) -> str | None:
    if engine.math:
        return None
    after = engine.next()
    if after is None:
        return None
    engine.back.append(after)
    if after[0] in ".,;:!?'/)]-~} \0" or after in ("\\par", "\\/", "\\ ", "\\footnote", "\\footnotemark", "\\xspace", "\\@",
                                                   "\\\x02endgroup"):
        return None
    if after == "{":
        return None
    return " "


@command("@firstofone", "@firstoftwo", "@secondoftwo", "@gobble", "@gobbletwo", "@empty", "@iden")
def pick(engine: Engine, token: str) -> None:
    if token == "\\@empty":
        return
    first = engine.arg()
    if token in ("\\@firstofone", "\\@iden"):
        engine.push(first)
    elif token != "\\@gobble":
        second = engine.arg()
        if token != "\\@gobbletwo":
            engine.push(first if token == "\\@firstoftwo" else second)


@command("@ifnextchar", "kernel@ifnextchar")
def ifnextchar(engine: Engine, token: str) -> None:
    wanted = engine.next()
    yes, no = engine.arg(), engine.arg()
    engine.skip_spaces()
    after = engine.peek() or ""
    engine.push(yes if wanted and (after == wanted or (after[0:1] not in "\\\0" and after[:1] == wanted)) else no)


@command("@ifstar")
def ifstar(engine: Engine, token: str) -> None:
    yes, no = engine.arg(), engine.arg()
    engine.push(yes if engine.star() else no)


@command("@ifundefined", "ifcsundef", "ifcsdef", "ifundef", "ifdef", "ifdefmacro")
def ifundefined(engine: Engine, token: str) -> None:
    name = "\\" + engine.word_arg() if token in ("\\@ifundefined", "\\ifcsundef", "\\ifcsdef") else engine.name_arg()
    there = name in engine.macros or name in engine.native or name in COMMANDS
    yes, no = engine.arg(), engine.arg()
    engine.push(yes if there == (token in ("\\ifcsdef", "\\ifdef", "\\ifdefmacro")) else no)


@command("iftoggle", "ifbool", "nottoggle", "notbool")
def iftoggle(engine: Engine, token: str) -> None:
    truth = engine.switches.get(engine.word_arg(), False) != token.startswith("\\not")
    yes, no = engine.arg(), engine.arg()
    engine.push(yes if truth else no)


@command("ifblank", "notblank", "ifstrempty", "ifdefempty", "ifcsempty", "ifx@empty")
def ifblank(engine: Engine, token: str) -> None:
    held = engine.arg()
    if token == "\\ifdefempty" and held:
        macro = engine.macros.get(held[0])
        empty = macro is None or not macro.body
    else:
        empty = not stripped(held)
    yes, no = engine.arg(), engine.arg()
    engine.push(yes if empty != (token == "\\notblank") else no)


@command("ifstrequal", "ifdefstring", "ifdefstrequal")
def ifstrequal(engine: Engine, token: str) -> None:
    first, second = engine.arg(), engine.arg()
    if token != "\\ifstrequal":
        first = engine.expanded(first)
    equal = written(first).strip() == written(second).strip()
    yes, no = engine.arg(), engine.arg()
    engine.push(yes if equal else no)


@command("IfNoValueTF", "IfNoValueT", "IfNoValueF", "IfValueTF", "IfValueT", "IfValueF", "IfBooleanTF", "IfBooleanT",
         "IfBooleanF")
def ifvalue(engine: Engine, token: str) -> None:
    held = engine.arg()
    if "Boolean" in token:
        truth = held == ["\\BooleanTrue"]
    else:
        truth = (held == ["\\NoValue"]) == ("NoValue" in token)
    kind = "TF" if token.endswith("TF") else token[-1]
    yes = engine.arg() if "T" in kind else []
    no = engine.arg() if "F" in kind else []
    engine.push(yes if truth else no)


@command("ifthenelse")
def ifthenelse(engine: Engine, token: str) -> None:
    test, yes, no = engine.arg(), engine.arg(), engine.arg()
    engine.push(yes if truth_of(engine, test) else no)


def truth_of(engine: Engine, test: list[str]) -> bool:
    """A test of ifthen's: `\\equal`, `\\boolean`, `\\isodd`, comparisons, `\\not`, `\\and`, `\\or`."""
    for word, both in (("\\or", any), ("\\OR", any), ("\\and", all), ("\\AND", all)):
        if word in test:
            cut = test.index(word)
            return both((truth_of(engine, test[:cut]), truth_of(engine, test[cut + 1:])))
    test = stripped(test)
    if test and test[0] in ("\\not", "\\NOT"):
        return not truth_of(engine, test[1:])
    if not test:
        return False
    engine.open(tokens=test, barrier=True)
    try:
        first = engine.next()
        if first == "\\equal":
            return written(engine.expanded(engine.arg())).strip() == written(engine.expanded(engine.arg())).strip()
        if first == "\\boolean":
            return engine.switches.get(engine.word_arg(), False)
        if first == "\\isundefined":
            return engine.name_arg() not in engine.macros
        if first == "\\isodd":
            return engine.number() % 2 == 1
        if first == "\\(":
            return truth_of(engine, test[1:-1])
        if first is not None:
            engine.back.append(first)
        return compared(engine)
    finally:
        engine.close()


def compared(engine: Engine) -> bool:
    left = engine.number()
    engine.skip_spaces()
    sign = engine.next() or "="
    if sign[0] not in "<>=":
        return False
    if sign[1:]:
        engine.back.append(sign[1:])
    right = engine.number()
    return left < right if sign[0] == "<" else left > right if sign[0] == ">" else left == right


# --- TeX's conditionals --------------------------------------------------------------------------------------------------


def conditional(*names: str):
    def keep(function):
        for name in names:
            CONDITIONALS["\\" + name] = function
            COMMANDS["\\" + name] = run_conditional
        return function
    return keep


def run_conditional(engine: Engine, token: str) -> None:
    engine.choose(CONDITIONALS[token](engine, token))


@conditional("iftrue", "ifpdf", "ifPDFTeX", "ifpdftex", "ifhmode", "ifpdfoutput")
def iftrue(engine: Engine, token: str) -> bool:
    return True


@conditional("iffalse", "ifxetex", "ifluatex", "ifXeTeX", "ifLuaTeX", "ifvmode", "ifinner", "if@twoside", "if@twocolumn",
             "ifxetexorluatex", "iftutex", "ifTUTeX", "ifHy@pdf", "if@draft", "if@tempswa", "if@filesw", "if@inlabel", "ifvtex")
def iffalse(engine: Engine, token: str) -> bool:
    return False


@conditional("ifmmode")
def ifmmode(engine: Engine, token: str) -> bool:
    return engine.math > 0


def one(engine: Engine) -> str:
    token = engine.next() or ""
    if len(token) > 1 and token[0] not in "\\\0":
        engine.back.append(token[1:])
        return token[0]
    return token


@conditional("ifx")
def ifx(engine: Engine, token: str) -> bool:
    first, second = one(engine), one(engine)
    a, b = engine.macros.get(first), engine.macros.get(second)
    if a is None and first == "\\@empty":
        a = Macro([])
    if b is None and second == "\\@empty":
        b = Macro([])
    if a is None and b is None:
        undefined = [t[0:1] == "\\" and t not in engine.native and t not in COMMANDS for t in (first, second)]
        return first == second or all(undefined)
    if a is None or b is None:
        return False
    return a.body == b.body and a.count == b.count and a.pattern == b.pattern


@conditional("if", "ifcat")
def if_characters(engine: Engine, token: str) -> bool:
    pair: list[str] = []
    while len(pair) < 2:
        found = engine.token()
        if found is None:
            return False
        if len(found) > 1 and found[0] not in "\\\0":
            engine.back.append(found[1:])
            found = found[0]
        pair.append(found.lstrip("\0"))
    if token == "\\ifcat":
        kinds_ = ["letter" if t.isalpha() else "command" if t[0:1] == "\\" else "other" for t in pair]
        return kinds_[0] == kinds_[1]
    return pair[0] == pair[1]


@conditional("ifnum")
def ifnum(engine: Engine, token: str) -> bool:
    return compared(engine)


@conditional("ifodd")
def ifodd(engine: Engine, token: str) -> bool:
    return engine.number() % 2 == 1


@conditional("ifdim")
def ifdim(engine: Engine, token: str) -> bool:
    engine.dimension()
    engine.skip_spaces()
    one(engine)
    engine.dimension()
    return False


@conditional("ifdefined")
def ifdefined(engine: Engine, token: str) -> bool:
    name = engine.next() or ""
    return name in engine.macros or name in engine.native or name in COMMANDS


@conditional("ifcsname")
def ifcsname(engine: Engine, token: str) -> bool:
    csname(engine, token)
    name = engine.next() or ""
    return name in engine.macros or name in engine.native or name in COMMANDS


@conditional("ifvoid", "ifhbox", "ifvbox", "ifeof")
def ifbox(engine: Engine, token: str) -> bool:
    engine.number()
    return False


CONDITIONALS["\\unless"] = iffalse


@command("unless")
def unless(engine: Engine, token: str) -> None:
    test = engine.next() or ""
    decide = CONDITIONALS.get(test)
    if decide is not None:
        engine.choose(not decide(engine, test))


CONDITIONALS["\\ifcase"] = iffalse


@command("ifcase")
def ifcase(engine: Engine, token: str) -> None:
    value = engine.number()
    if value < 0:
        engine.skip_branch(("\\else",))
    for _ in range(min(value, 1000)):
        stop = engine.skip_branch(("\\or", "\\else"))
        if stop != "\\or":
            return


@command("else", "or")
def other_branch(engine: Engine, token: str) -> None:
    engine.skip_branch(())


@command("fi")
def fi(engine: Engine, token: str) -> None:
    return None
