"""The expanding half of a small TeX: an input stack of tokens, author macros, groups, conditionals, counters' values.

Nothing here knows what a paper is. `Engine.token()` gives the next token that cannot be expanded; whoever reads it
decides what it means. Every loop is bounded: by expansions since the last character of a file was read, by the size of
what is pushed back, and by time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable

from paper2code.read.tex.lexer import Lexer, written

MOST_NESTED = 400  # commands that wait for what stands in them
MOST_EXPANSIONS = 5_000  # without a character read from a file: a macro that calls itself
MOST_TOKENS = 1_000_000  # pushed back at once, or in all without a character read
MOST_DEPTH = 150  # frames inside one another
LENGTH = re.compile(r"\s*[-+]?\s*(?:[\d.,]+\s*(?:pt|em|ex|cm|mm|in|pc|bp|sp|\\)|\\[A-Za-z@]+\s*$|$)")

# Read natively whatever a paper or its class makes of them: they carry the structure.
KEPT = frozenset(
    r"""\part \chapter \section \subsection \subsubsection \paragraph \subparagraph \caption \label \footnote \footnotetext
    \footnotemark \begin \end \item \maketitle \title \author \document \enddocument \par \\ \input \include \bibitem
    \bibliography \bibliographystyle \thebibliography \endthebibliography \tableofcontents \captionof
    \newcommand \renewcommand \providecommand \def \let \newenvironment \renewenvironment \usepackage \RequirePackage
    \documentclass \includegraphics \subfigure \subfloat \multicolumn \multirow \hline \cline \verb \thanks \newblock
    \addcontentsline \newtheorem \@startsection \verbatim \abstract \endabstract \figure \table \equation \endequation
    \align \endalign \tabular \endtabular \endfigure \endtable \left \right \frac \sqrt \State \date
    \@maketitle \cr \tabularnewline \subsubparagraph \enumerate \itemize \refstepcounter \stepcounter \setcounter
    \addtocounter \newcounter \numberwithin \numberline \ttfamily \rm \bf \it \sf \tt \sc \em""".split()
)
KEPT_ENVIRONMENTS = frozenset(
    """document abstract equation equation* align align* gather gather* multline multline* eqnarray eqnarray* figure figure*
    table table* tabular tabular* algorithm algorithmic itemize enumerate description thebibliography verbatim lstlisting
    algorithm2e center appendices""".split()
)


class Macro:
    """What a control sequence stands for: `body` with parameters as the integers 1-9.

    `pattern` are the delimiters of `\\def` (before `#1`, after `#1`, …); `spec` the argument kinds of xparse; else
    `count` plain arguments, the first optional when `default` is given.
    """

    __slots__ = ("body", "backward", "count", "default", "pattern", "spec", "plain")

    def __init__(self, body: list, count: int = 0, default: list[str] | None = None,
                 pattern: list[list[str]] | None = None, spec: list | None = None):
        self.count, self.default, self.pattern, self.spec = count, default, pattern, spec
        if "" in body:
            body = [token for token in body if token != ""]
        self.plain = not count and pattern is None and spec is None
        self.body = body
        self.backward = [t if isinstance(t, str) else "#" for t in reversed(body)] if self.plain else None


def parameters(tokens: list[str]) -> list:
    """A body with `#1` as 1 and `##` as `#`."""
    if "#" not in tokens:
        return tokens
    out: list = []
    at, size = 0, len(tokens)
    while at < size:
        token = tokens[at]
        at += 1
        if token == "#" and at < size:
            after = tokens[at]
            if after == "#":
                out.append("#")
                at += 1
            elif after[0] in "0123456789":
                out.append(int(after[0]))
                at += 1
                if after[1:]:
                    out.append(after[1:])
            else:
                out.append("#")
        else:
            out.append(token)
    return out


def stripped(tokens: list[str]) -> list[str]:
    """Without spaces at the ends."""
    start, end = 0, len(tokens)
    while start < end and tokens[start] in (" ", "\\par"):
        start += 1
    while end > start and tokens[end - 1] in (" ", "\\par"):
        end -= 1
    return tokens[start:end]


class Engine:
    commands: dict[str, Callable] = {}  # what the engine itself does on a token: expand, define, decide
    native: frozenset[str] = frozenset()  # control sequences that the layer above understands
    native_environments: frozenset[str] = frozenset()
    display_names: frozenset[str] = frozenset()

    def __init__(self, seconds: float = 30.0):
        self.lexer: Lexer | None = None
        self.back: list[str] = []
        self.barrier = True
        self.stack: list[tuple] = []
        self.macros: dict[str, Macro] = {}
        self.environments: dict[str, tuple[Macro, list]] = {}
        self.opened: list[tuple[str, list[str]]] = []  # author environments that are open, with what ends them
        self.groups: list[list[tuple[str, Macro | None]]] = []
        self.switches: dict[str, bool] = {}  # \newif
        self.values: dict[str, int] = {}  # counters
        self.math = 0  # how many formulas we are inside of
        self.package = 0  # inside a style or class file
        self.letters = False
        self.nested = 0
        self.expansions = self.pushed = 0
        self.deadline = time.monotonic() + seconds
        self.late = False
        self.endless: set[str] = set()  # macros that were found to call themselves
        self.warnings: list[tuple[str, str, str | None]] = []
        self.comments: set[str] = {"comment"}
        self.globals = False
        self.last: str | None = None  # where the file that was read last ended

    # --- where we are ------------------------------------------------------------------------------------------------

    def where(self) -> str | None:
        for lexer in (self.lexer, *(frame[0] for frame in reversed(self.stack))):
            if lexer is not None:
                return f"{lexer.name}:{lexer.line()}"
        return None

    def file(self) -> Lexer | None:
        """The lexer of the file being read, looking through frames of tokens."""
        for lexer in (self.lexer, *(frame[0] for frame in reversed(self.stack))):
            if lexer is not None:
                return lexer
        return None

    def warn(self, kind: str, message: str) -> None:
        if len(self.warnings) < 200:
            self.warnings.append((kind, message, self.where() or self.last))

    # --- the input stack ---------------------------------------------------------------------------------------------

    def open(self, lexer: Lexer | None = None, tokens: Iterable[str] = (), *, barrier: bool = False) -> None:
        """Read from a file, or from tokens; behind a barrier the end is seen as None until `close`."""
        self.stack.append((self.lexer, self.back, self.barrier))
        self.lexer, self.back, self.barrier = lexer, list(tokens)[::-1], barrier
        if lexer is not None:
            lexer.letters(self.letters)

    def close(self) -> None:
        self.lexer, self.back, self.barrier = self.stack.pop()
        if self.lexer is not None:
            self.lexer.letters(self.letters)

    def next(self) -> str | None:
        while True:
            if self.back:
                return self.back.pop()
            if self.lexer is not None:
                token = self.lexer.next()
                if token is not None:
                    self.expansions = self.pushed = 0
                    return token
                ended = self.lexer.name
                self.last = f"{ended}:{self.lexer.line()}"
                self.lexer = None
                self.ended(ended)
                continue
            if self.barrier or not self.stack:
                return None
            self.close()

    def ended(self, name: str) -> None:
        """A file came to its end."""

    def push(self, tokens: list[str]) -> None:
        self.pushed += len(tokens)
        self.back += [token for token in reversed(tokens) if token]

    def peek(self) -> str | None:
        token = self.next()
        if token is not None:
            self.back.append(token)
        return token

    def skip_spaces(self) -> None:
        while (token := self.next()) is not None:
            if token != " ":
                self.back.append(token)
                return

    def setting_letters(self, on: bool) -> None:
        self.letters = on
        lexer = self.file()
        if lexer is not None:
            lexer.letters(on)

    # --- reading arguments -------------------------------------------------------------------------------------------

    def balanced(self, opening: str = "{", closing: str = "}") -> list[str]:
        """Tokens up to the brace that closes one already read. A brace that never closes ends at the paragraph."""
        out: list[str] = []
        depth = 1
        while True:
            token = self.next()
            if token == "{":
                depth += 1
            elif token == "}":
                depth -= 1
                if not depth:
                    return out
            elif token is None or token == "\\enddocument" or (token == "document"
                                                               and out[-2:-1] == ["\\end"]) or len(out) > 400_000:
                if token is not None:
                    out.append(token)
                break
            out.append(token)
        if not self.package:
            self.warn("unbalanced-braces", "a brace is opened here or above and never closed")
        cut = next((at for at, token in enumerate(out) if token == "\\par"), None)
        if cut is None:
            cut = next((at for at, token in enumerate(out) if token in ("\\section", "\\subsection", "\\end")), len(out))
        self.push(out[cut:])
        return out[:cut]

    def arg(self) -> list[str]:
        """One undelimited argument, without its braces."""
        while True:
            token = self.next()
            if token is None:
                return []
            if token == " " or token == "\\par":
                continue
            if token == "{":
                return self.balanced()
            if token == "}":
                self.back.append(token)
                return []
            if len(token) > 1 and token[0] not in "\\\0":
                self.back.append(token[1:])
                return [token[0]]
            return [token]

    def optional(self) -> list[str] | None:
        """What stands in `[…]` right here, or None."""
        return self.bracketed("[", "]")

    def bracketed(self, opening: str, closing: str) -> list[str] | None:
        spaces = 0
        token = self.next()
        while token == " ":
            spaces += 1
            token = self.next()
        if token is None or token[0] != opening:
            if token is not None:
                self.back.append(token)
            if spaces:
                self.back.append(" ")
            return None
        out: list[str] = []
        if token[1:]:
            self.back.append(token[1:])
        depth = inner = 0
        seen = 0
        while (token := self.next()) is not None:
            seen += 1
            if token == "{":
                depth += 1
            elif token == "}":
                depth -= 1
                if depth < 0:
                    self.back.append(token)
                    break
            elif not depth and token[0] not in "\\\0" and (closing in token or opening in token):
                for at, char in enumerate(token):
                    if char == opening:
                        inner += 1
                    elif char == closing:
                        if not inner:
                            if token[:at]:
                                out.append(token[:at])
                            if token[at + 1:]:
                                self.back.append(token[at + 1:])
                            return out
                        inner -= 1
            elif seen > 20_000 or (token == "\\par" and seen > 2000):
                break
            out.append(token)
        self.warn("unbalanced-brackets", f"a {opening} is opened here or above and never closed")
        cut = next((at for at, token in enumerate(out) if token == "\\par"), len(out))
        self.push(out[cut:])
        return out[:cut]

    def length(self) -> None:
        """Pass the `[2pt]` after a line's end; a bracket that holds no length is text."""
        held = self.optional()
        if held is not None and not LENGTH.match(written(held)):
            self.push(["[", *held, "]"])

    def star(self) -> bool:
        token = self.next()
        spaces = False
        while token == " ":
            spaces, token = True, self.next()
        if token is not None and token[0] == "*":
            if token[1:]:
                self.back.append(token[1:])
            return True
        if token is not None:
            self.back.append(token)
        if spaces:
            self.back.append(" ")
        return False

    def delimited(self, stop: list[str]) -> list[str]:
        """An argument that ends at the tokens `stop` (words are cut as needed)."""
        out: list[str] = []
        depth = 0
        first = stop[0]
        for _ in range(200_000):
            token = self.next()
            if token is None:
                break
            if not depth and token[0] not in "\\\0" and first[0] not in "\\\0" and len(token) > 1:
                at = token.find(first[0])
                if at > 0:
                    self.back.append(token[at:])
                    out.append(token[:at])
                    continue
                if at == 0:
                    self.back.append(token[1:])
                    token = token[0]
            if not depth and token == first:
                if self.follows(stop[1:]):
                    return out
            elif token == "{":
                depth += 1
            elif token == "}":
                depth -= 1
                if depth < 0:
                    self.back.append(token)
                    break
            out.append(token)
        self.warn("macro-use", f"an argument that should end with {written(stop)!r} does not")
        if "\\par" in out:
            cut = out.index("\\par")
            self.push(out[cut:])
            out = out[:cut]
        return out

    def follows(self, wanted: list[str]) -> bool:
        """Whether the tokens `wanted` come next; they are taken when they do."""
        taken: list[str] = []
        for want in wanted:
            token = self.next()
            if token is not None and len(token) > 1 and token[0] not in "\\\0" and len(want) == 1:
                self.back.append(token[1:])
                token = token[0]
            if token is not None:
                taken.append(token)
            if token != want:
                self.push(taken)
                return False
        return True

    def name_arg(self) -> str:
        """The control sequence of a definition: `\\foo` or `{\\foo}`."""
        tokens = stripped(self.arg())
        if tokens and tokens[0][0] == "\\":
            return tokens[0]
        return "\\" + "".join(tokens) if tokens else ""

    def word_arg(self) -> str:
        """An argument that is a name or a list of names, expanded: `{theorem}`."""
        return self.words(self.arg())

    def words(self, tokens: list[str]) -> str:
        if any(token[0] == "\\" for token in tokens):
            tokens = self.expanded(tokens)
        return "".join(token[1:] if token[0] == "\0" else token for token in tokens if token != "\\relax").strip()

    def expanded(self, tokens: list[str]) -> list[str]:
        """All of `tokens` with every macro expanded."""
        if len(self.stack) > MOST_DEPTH:
            return []
        self.open(tokens=tokens, barrier=True)
        out: list[str] = []
        while (token := self.token()) is not None:
            out.append(token)
        self.close()
        return out

    # --- numbers -----------------------------------------------------------------------------------------------------

    def number(self) -> int:
        """A TeX integer: digits, a counter, `\\value{…}`, simple sums in `\\numexpr`."""
        sign = 1
        while True:
            token = self.token()
            if token is None:
                return 0
            if token in (" ", "+"):
                continue
            if token[0] == "-":
                sign = -sign
                if token[1:]:
                    self.back.append(token[1:])
                continue
            break
        if token == "\\value":
            return sign * self.values.get(self.word_arg(), 0)
        if token.startswith("\\c@"):
            return sign * self.values.get(token[3:], 0)
        if token == "\\numexpr":
            return sign * self.sum()
        if token in ("\\z@", "\\@ne", "\\tw@", "\\thr@@", "\\m@ne"):
            return sign * {"\\z@": 0, "\\@ne": 1, "\\tw@": 2, "\\thr@@": 3, "\\m@ne": -1}[token]
        if token[0] in "0123456789":
            digits = token
            while (token := self.token()) is not None and token[0] in "0123456789":
                digits += token
            if token is not None and token != " " and token != "\\relax":
                self.back.append(token)
            found = re.match(r"\d+", digits)
            if len(found[0]) < len(digits):
                self.back.append(digits[found.end():])
            return sign * int(found[0][:9])
        if token[0] == "`":
            token = token[1:] or self.next() or "\0\0"
            if token[0] == "\\" and len(token) == 2:
                return sign * ord(token[1])
            if token[1:]:
                self.back.append(token[1:])
            return sign * ord(token[0])
        self.back.append(token)
        return 0

    def sum(self) -> int:
        total, sign = 0, 1
        while True:
            total += sign * self.number()
            self.skip_spaces()
            token = self.next()
            if token is None or token == "\\relax":
                return total
            if token[0] in "+-":
                sign = 1 if token[0] == "+" else -1
                if token[1:]:
                    self.back.append(token[1:])
            else:
                self.back.append(token)
                return total

    def dimension(self) -> None:
        """Pass a length: `1.5em plus 1fil`, `\\textwidth`, `-\\baselineskip`."""
        self.skip_spaces()
        for _ in range(6):
            token = self.next()
            if token is None:
                return
            if token[0] == "\\":
                if token[1:2].isalpha() and token not in ("\\begin", "\\end", "\\par", "\\item"):
                    continue_ = self.peek()
                    if continue_ not in ("plus", "minus"):
                        return
                    continue
                self.back.append(token)
                return
            found = re.match(r"\s*=?\s*[-+]?[\d.,]*\s*(?:true)?(?:pt|em|ex|cm|mm|in|pc|bp|sp|fill?l?|mu|dd|cc)?", token)
            if token == " ":
                after = self.peek()
                if after is not None and re.match(r"plus|minus", after):
                    word = self.next()
                    if re.sub(r"^(plus|minus)", "", word):
                        self.back.append(re.sub(r"^(plus|minus)", "", word))
                    continue
                if after is not None and re.match(r"(pt|em|ex|cm|mm|in|pc|bp|sp|fill?l?|mu)\b", after):
                    continue
                self.back.append(" ")
                return
            if not found or not found.end():
                self.back.append(token)
                return
            rest = token[found.end():]
            if rest:
                self.back.append(rest)
                if not re.match(r"plus|minus", rest):
                    return
                self.next()
                rest = re.sub(r"^(plus|minus)", "", rest)
                if rest:
                    self.back.append(rest)
                continue
            if re.search(r"[a-z]$", token):
                after = self.peek()
                if after != " ":
                    return

    # --- macros ------------------------------------------------------------------------------------------------------

    def token(self) -> str | None:
        """The next token that does not expand. `\\begin{x}` and `\\end{x}` come as one token."""
        macros, commands = self.macros, self.commands
        while True:
            token = self.next()
            if token is None or token[0] != "\\":
                return token
            macro = macros.get(token)
            if macro is not None:
                self.expand(token, macro)
                continue
            plain = token if token[1:2] != "\x01" else "\\" + token[2:]
            command = commands.get(plain)
            if command is None:
                name = plain[1:]
                if name in self.display_names:
                    return f"\\begin{{{name}}}"
                if name[:3] == "end" and name[3:] in self.display_names:
                    return f"\\end{{{name[3:]}}}"
                if self.switches and self.switch(name):
                    continue
                return token
            if self.nested > MOST_NESTED:
                self.warn("too-deep", f"{plain} stands in more than {MOST_NESTED} others that are still being read; it is left out")
                continue
            self.nested += 1
            result = command(self, plain)
            self.nested -= 1
            if result is not None:
                return result

    def expand(self, token: str, macro: Macro) -> None:
        self.expansions += 1
        if self.late or token in self.endless:
            return
        if self.expansions > MOST_EXPANSIONS or self.pushed > MOST_TOKENS or len(self.back) > MOST_TOKENS:
            self.runaway(token)
            return
        if not self.expansions & 255 and time.monotonic() > self.deadline:
            self.late = True
            self.warn("time-limit", f"reading took too long; macros are no longer expanded from {token} on")
            return
        if macro.plain:
            self.pushed += len(macro.backward)
            self.back += macro.backward
            return
        self.push(self.filled(token, macro))

    def runaway(self, token: str) -> None:
        self.warn("macro-loop", f"{token} calls itself without end; it is left out")
        self.endless.add(token)
        if len(self.endless) > 8:
            self.late = True
            self.warn("macro-loop", "too many macros call themselves without end; macros are no longer expanded")
        self.back.clear()
        self.expansions = self.pushed = 0

    def filled(self, token: str, macro: Macro) -> list[str]:
        """A macro's body with its arguments, which are read here."""
        args: list[list[str]] = []
        if macro.pattern is not None:
            if macro.pattern[0] and not self.follows(macro.pattern[0]):
                self.warn("macro-use", f"{token} is not followed by what its definition asks for")
                return []
            for stop in macro.pattern[1:]:
                args.append(self.unbraced(self.delimited(stop)) if stop else self.arg())
        elif macro.spec is not None:
            for kind in macro.spec:
                if kind[0] == "P":  # the star and the size of a paired delimiter
                    self.star()
                    self.optional()
                else:
                    args.append(self.special(kind))
        else:
            left = macro.count
            if macro.default is not None:
                given = self.optional()
                args.append(macro.default if given is None else given)
                left -= 1
            for _ in range(left):
                args.append(self.arg())
        out: list[str] = []
        for part in macro.body:
            if isinstance(part, int):
                if part <= len(args):
                    out += args[part - 1]
            else:
                out.append(part)
        return out

    @staticmethod
    def unbraced(tokens: list[str]) -> list[str]:
        """Without one pair of braces that encloses all of it."""
        if len(tokens) >= 2 and tokens[0] == "{" and tokens[-1] == "}":
            depth = 0
            for at, token in enumerate(tokens):
                depth += (token == "{") - (token == "}")
                if not depth:
                    return tokens[1:-1] if at == len(tokens) - 1 else tokens
        return tokens

    def special(self, kind: tuple) -> list[str]:
        """An argument of an xparse kind: (m), (o), (O, default), (s), (d, open, close, default), (t, char), (g)."""
        if kind[0] in "mv":
            return self.arg()
        if kind[0] == "s":
            return ["\\BooleanTrue" if self.star() else "\\BooleanFalse"]
        if kind[0] == "t":
            self.skip_spaces()
            return ["\\BooleanTrue" if self.follows([kind[1]]) else "\\BooleanFalse"]
        if kind[0] in "gG":
            self.skip_spaces()
            given = self.arg() if self.peek() == "{" else None
        elif kind[0] == "b":
            return []
        else:
            given = self.bracketed(kind[1], kind[2])
        if given is None:
            return kind[3] if kind[3] is not None else ["\\NoValue"]
        return given

    def define(self, token: str, macro: Macro | None, *, globally: bool = False) -> None:
        if not token or token[0] != "\\" or token in KEPT:
            return
        if self.package and token in self.native and not token.startswith("\\the"):
            return
        if self.groups and not (globally or self.globals):
            self.groups[-1].append((token, self.macros.get(token)))
        if macro is None:
            self.macros.pop(token, None)
        else:
            self.macros[token] = macro

    def begin_group(self) -> None:
        self.groups.append([])

    def end_group(self) -> None:
        if not self.groups:
            return
        for token, macro in reversed(self.groups.pop()):
            if macro is None:
                self.macros.pop(token, None)
            else:
                self.macros[token] = macro

    # --- conditionals ------------------------------------------------------------------------------------------------

    def is_conditional(self, token: str) -> bool:
        if token in CONDITIONALS or (token[:3] == "\\if" and token[3:] in self.switches):
            return True
        macro = self.macros.get(token)  # \let\ifdraft\iftrue
        return macro is not None and len(macro.body) == 1 and "\\" + str(macro.body[0])[2:] in CONDITIONALS

    def switch(self, name: str) -> bool:
        """Do what `\\ifx`, `\\xtrue`, `\\xfalse` do for a switch x of `\\newif`; False when it is none of them."""
        if name[:2] == "if" and name[2:] in self.switches:
            self.choose(self.switches[name[2:]])
        elif name[-4:] == "true" and name[:-4] in self.switches:
            self.switches[name[:-4]] = True
        elif name[-5:] == "false" and name[:-5] in self.switches:
            self.switches[name[:-5]] = False
        else:
            return False
        return True

    def choose(self, truth: bool) -> None:
        if not truth:
            self.skip_branch(("\\else",))

    def skip_branch(self, stops: tuple[str, ...]) -> str | None:
        """Pass to one of `stops` or to the `\\fi` of this level."""
        depth = 0
        conditional = self.is_conditional
        start = self.where()
        while (token := self.next()) is not None:
            if token[0] != "\\":
                continue
            if token == "\\fi":
                if not depth:
                    return token
                depth -= 1
            elif not depth and token in stops:
                return token
            elif token[:3] in ("\\if", "\\un") and conditional(token):
                depth += 1
        self.warn("conditional", f"an \\if that is false is never closed{f' (from {start})' if start else ''}")
        return None


CONDITIONALS: dict[str, Callable] = {}
