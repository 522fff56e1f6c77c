"""Counters as they are printed: their values, which resets which, `\\theequation` and its kin."""

from __future__ import annotations

from paper2code.read.tex.engine import Engine, Macro
from paper2code.read.tex.lexer import lex

SYMBOLS = ["", "*", "†", "‡", "§", "¶", "‖", "**", "††", "‡‡"]
SECTIONS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")


def alphabetic(value: int) -> str:
    """1 → A, 26 → Z, 27 → AA (as alphalph does where LaTeX stops)."""
    out = ""
    while value > 0:
        value, rest = divmod(value - 1, 26)
        out = chr(65 + rest) + out
    return out


def roman(value: int) -> str:
    if not 0 < value < 4000:
        return str(value) if value else ""
    out = ""
    for size, text in ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10,
        "x"),
                       (9, "ix"), (5, "v"), (4, "iv"), (1, "i")):
        while value >= size:
            out, value = out + text, value - size
    return out


class Counters:
    """The counters of a document, on an engine whose `values` they are."""

    def __init__(self, engine: Engine):
        self.engine = engine
        self.values = engine.values
        self.inside: dict[str, list[str]] = {}  # a counter → those it sets to zero when it steps
        for name in ("part", "chapter", "section", "equation", "figure", "table", "footnote", "mpfootnote", "page", "enumi",
                     "enumii", "enumiii", "enumiv", "algorithm", "lstlisting", "parentequation", "subfigure", "subtable",
                     "secnumdepth", "tocdepth", "ALG@line", "AlgoLine", "algocf", "MaxMatrixCols", "listing", "algocfline"):
            self.new(name)
        for parent, name in zip(SECTIONS[1:], SECTIONS[2:], strict=False):
            self.new(name, parent if parent != "chapter" else None)
            if parent != "chapter":
                self.show(name, f"\\the{parent}.\\arabic{{{name}}}")
        self.show("part", "\\Roman{part}")
        self.show("enumi", "\\arabic{enumi}")
        self.show("enumii", "\\alph{enumii}")
        self.show("enumiii", "\\roman{enumiii}")
        self.show("enumiv", "\\Alph{enumiv}")
        self.show("mpfootnote", "\\alph{mpfootnote}")
        for name in ("figure", "table"):
            self.within("sub" + name, name)
            self.show("sub" + name, f"\\alph{{sub{name}}}")
        self.values["secnumdepth"] = 3

    def new(self, name: str, within: str | None = None) -> None:
        self.values.setdefault(name, 0)
        self.engine.macros.setdefault(f"\\the{name}", Macro(["\\arabic", "{", name, "}"]))
        if within:
            self.within(name, within)

    def show(self, name: str, form: str) -> None:
        """Print `name` in the form given, as LaTeX."""
        self.engine.macros[f"\\the{name}"] = Macro(lex(form))

    def within(self, name: str, parent: str) -> None:
        """`name` starts again whenever `parent` steps."""
        for others in self.inside.values():
            if name in others:
                others.remove(name)
        if parent != name:
            self.inside.setdefault(parent, []).append(name)

    def without(self, name: str, parent: str) -> None:
        if name in self.inside.get(parent, ()):
            self.inside[parent].remove(name)

    def number_within(self, name: str, parent: str, form: str = "\\arabic") -> None:
        self.new(name)
        self.within(name, parent)
        self.show(name, f"\\the{parent}.{form}{{{name}}}")

    def step(self, name: str) -> None:
        self.values[name] = self.values.get(name, 0) + 1
        self.reset(name, 0)

    def reset(self, name: str, depth: int) -> None:
        if depth < 12:
            for inner in self.inside.get(name, ()):
                self.values[inner] = 0
                self.reset(inner, depth + 1)
