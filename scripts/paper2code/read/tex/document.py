"""From tokens to a `Paper`: the loop that reads text, the contexts it fills, sections, labels, blocks.

The commands and environments themselves are in the modules beside this one (`structure`, `formulas`, `floats`, `tables`,
`algorithms`, `citations`); each registers functions of a `Document` under the names they answer to.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from paper2code.paper import Block, Link, Paper, Section
from paper2code.read.tex import macros  # noqa: F401  fills Engine.commands
from paper2code.read.tex.counters import Counters
from paper2code.read.tex.engine import Engine
from paper2code.read.tex.lexer import Lexer, written
from paper2code.read.tex.source import Source
from paper2code.read.tex.symbols import ligatures

COMMANDS: dict[str, Callable] = {}  # name without backslash → function(document, name)
ENVIRONMENTS: dict[str, tuple[Callable | None, Callable | None]] = {}  # name → what begins it, what ends it

# Private characters that stand for a reference until all numbers are known: MARK kind SEP part SEP part … END.
MARK, SEP, END = "\ue000", "\ue001", "\ue002"
MARKED = re.compile(f"{MARK}([^{END}]*){END}")
MOST_INPUTS = 2000


def command(*names: str):
    def keep(function):
        for name in names:
            COMMANDS[name] = function
        return function
    return keep


def environment(*names: str, end: Callable | None = None):
    def keep(function):
        for name in names:
            ENVIRONMENTS[name] = (function, end)
        return function
    return keep


@dataclass
class Context:
    """Where text goes. `kind`: void, body, inline, abstract, cell, line, bibliography, note."""

    kind: str
    parts: list[str] = field(default_factory=list)
    after: list[Block] = field(default_factory=list)  # blocks of floats and notes met inside a paragraph
    links: list[Link] = field(default_factory=list)


@dataclass
class Open:
    """An environment that has begun: what ends it, what it keeps, and how things stood before."""

    name: str
    end: Callable | None
    state: object
    groups: int
    label: tuple[str, str, str] | None


class Document(Engine):
    """One reading of a source."""

    def __init__(self, source: Source, seconds: float = 30.0, only_referenced: set[str] | None = None):
        super().__init__(seconds)
        self.handlers = dict(COMMANDS)  # a paper may add its own
        self.frames = dict(ENVIRONMENTS)
        self.source = source
        self.paper = Paper()
        self.counters = Counters(self)
        self.context = Context("void")
        self.outer: list[Context] = []
        self.open_environments: list[Open] = []
        self.section: Section | None = None
        self.in_document = False
        self.finished = False
        self.appendix = False
        self.class_name = ""
        self.packages: dict[str, str] = {}
        self.inputs = 0
        self.main = ""
        self.times: dict[str, int] = {}  # how often each file was read
        self.reading: list[str] = []  # files that are open, innermost last
        self.label_now: tuple[str, str, str] | None = None  # printed number, kind, title of what a \label would name
        self.labels: dict[str, tuple[str, str, str]] = {}
        self.lists: list = []
        self.theorems: dict[str, tuple[str, str | None]] = {}  # environment → printed name, counter
        self.theorem: tuple[str, int] | None = None
        self.tables: list = []  # tabulars that are open
        self.floats: list = []
        self.algorithm = None
        self.titles: dict[str, list[str]] = {}
        self.authors: list = []
        self.abstract: list[str] = []
        self.cited: list[str] = []
        self.all_cited = False
        self.bib_files: list[str] = []
        self.bib_style = ""
        self.items: list = []
        self.reading_bibliography = False
        self.bibliography_seen = False
        self.styles: dict[str, object] = {}  # citation style, names for \cref
        self.only_referenced = only_referenced
        self.referenced: set[str] = set()
        self.count = 0
        self.typewriter = 0
        self.dropped: list[str] = []

    # --- whole ---------------------------------------------------------------------------------------------------------

    def read(self, main: str) -> None:
        """Read the main file to its end."""
        depth = sys.getrecursionlimit()
        if depth < 5000:
            sys.setrecursionlimit(5000)
        text = self.source.text(main)
        self.in_document = not re.search(r"\\begin\s*\{document\}", self.flat(main))
        if self.in_document:
            self.context = Context("body")
        self.main = main
        self.reading.append(main)
        self.open(Lexer(text, main, base=folder(main)))
        self.run()
        while self.open_environments:
            missing = self.open_environments[-1]
            if missing.name != "document":
                self.warn("no-end", f"\\begin{{{missing.name}}} has no \\end")
            self.end_environment(missing.name)
        self.par()
        self.finished = False  # titles and references are still to be read

    def flat(self, main: str) -> str:
        parts = [self.source.text(main)]
        for name in re.findall(r"\\(?:input|include)\s*\{?([^}\s]+)", parts[0])[:60]:
            found = self.source.find(name, base=folder(main))
            if found:
                parts.append(self.source.text(found))
        return "\n".join(parts)

    def ended(self, name: str) -> None:
        if name in self.reading:
            self.reading.remove(name)

    def is_there(self, kind: str, name: str) -> bool:
        if kind == "@ifpackageloaded":
            return name in self.packages
        if kind == "@ifclassloaded":
            return name == self.class_name
        return self.source.find(name, (".tex", "", ".sty")) is not None

    def number_of(self, tokens: list[str]) -> int:
        self.open(tokens=tokens, barrier=True)
        value = self.number()
        self.close()
        return value

    # --- the loop ------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Read until the tokens of this frame are used up."""
        token_of, commands = self.token, self.handlers
        while not self.finished:
            token = token_of()
            if token is None:
                return
            first = token[0]
            if first == "\\":
                name = token[1:]
                if name[:1] == "\x01":
                    name = name[1:]
                handler = commands.get(name)
                if handler is not None:
                    handler(self, name)
                elif name.startswith("begin{"):
                    self.begin_environment(name[6:-1])
                elif name.startswith("end{"):
                    self.end_environment(name[4:-1])
                elif self.context.kind != "void":
                    self.unknown(name)
            elif first == "$":
                commands["math$"](self, "math$")
            elif first == "{":
                self.begin_group()
            elif first == "}":
                self.end_group()
            elif first == "&":
                commands["cell&"](self, "cell&")
            elif first == "~":
                self.context.parts.append(" ")
            elif first == "\0":
                self.context.parts.append(token[1:])
            elif self.context.kind != "void":
                self.context.parts.append(token if self.typewriter else ligatures(token))

    def unknown(self, name: str) -> None:
        if name and name not in self.dropped and len(self.dropped) < 500:
            self.dropped.append(name)

    def text(self, tokens: list[str], kind: str = "inline") -> str:
        """Tokens as printed text, in one line."""
        if not tokens:
            return ""
        if len(tokens) == 1 and tokens[0][0] not in "\\\0{}$&#^_~ ":
            return tokens[0] if self.typewriter else ligatures(tokens[0])
        if len(self.stack) > 100 or len(self.outer) > 60:
            return plain(written(tokens))
        outer, context = self.context, Context(kind)
        self.outer.append(outer)
        self.context = context
        depth = len(self.groups)
        environments, self.open_environments = self.open_environments, []
        tables, self.tables = self.tables, []
        lists, self.lists = self.lists, []
        maths, self.math = self.math, 0
        self.open(tokens=tokens, barrier=True)
        try:
            self.run()
            while self.open_environments:
                self.end_environment(self.open_environments[-1].name)
        finally:
            self.close()
            while len(self.groups) > depth:
                self.end_group()
            self.open_environments, self.tables, self.lists, self.math = environments, tables, lists, maths
            self.context = outer
            self.outer.pop()
        outer.after += context.after
        outer.links += context.links
        return flowed(context.parts)

    # --- environments --------------------------------------------------------------------------------------------------

    def begin_environment(self, name: str) -> None:
        if len(self.open_environments) > 300:
            self.warn("too-deep", f"\\begin{{{name}}} lies more than 300 environments deep; it is left out")
            return
        begin, end = self.frames.get(name, (None, None))
        if begin is None and end is None and name in self.theorems:
            begin, end = self.frames["theorem*"]
        entry = Open(name, end, None, len(self.groups), self.label_now)
        self.begin_group()
        if begin is None:
            if self.context.kind != "void" or self.in_document:
                self.open_environments.append(entry)
            self.optional()
            return
        # A handler that reads its own end (a formula, a listing) returns None and is not kept.
        state = begin(self, name)
        if state is None:
            self.end_group()
            return
        entry.state = state
        if name == "document":
            entry.label = None
        self.open_environments.append(entry)

    def end_environment(self, name: str) -> None:
        """Close what `\\end{name}` closes, and whatever was left open inside it."""
        at = next((k for k in range(len(self.open_environments) - 1, -1, -1) if self.open_environments[k].name == name), None)
        if at is None:
            if name == "document":
                self.finished = True
            elif name not in ("comment",) and self.in_document:
                self.warn("stray-end", f"\\end{{{name}}} closes nothing")
            return
        while len(self.open_environments) > at:
            entry = self.open_environments.pop()
            if entry.name != name and len(self.open_environments) >= at and entry.end is not None:
                self.warn("no-end", f"\\begin{{{entry.name}}} has no \\end before \\end{{{name}}}")
            if entry.end is not None:
                entry.end(self, entry.name, entry.state)
            while len(self.groups) > entry.groups:
                self.end_group()
            if entry.name not in ("document",):
                self.label_now = entry.label

    def inside(self, *names: str) -> bool:
        return any(entry.name in names for entry in self.open_environments)

    # --- contexts and paragraphs -----------------------------------------------------------------------------------------

    def enter(self, kind: str) -> Context:
        self.outer.append(self.context)
        self.context = Context(kind)
        return self.context

    def leave(self) -> Context:
        """Go back to the context before; notes and links of the one left are carried on."""
        context, self.context = self.context, self.outer.pop()
        self.context.after += context.after
        self.context.links += context.links
        return context

    def put(self, text: str) -> None:
        self.context.parts.append(text)

    def par(self) -> None:
        """End the paragraph."""
        context = self.context
        kind = context.kind
        if kind == "body":
            text = flowed(context.parts)
            context.parts.clear()
            self.paragraph(text)
        elif kind == "abstract":
            text = flowed(context.parts)
            context.parts.clear()
            if text:
                self.abstract.append(text)
            self.note_links(context, text, "abstract")
        elif kind == "line":
            self.algorithm.newline()
        elif kind in ("void", "bibliography"):
            if kind == "bibliography":
                context.parts.append(" ")
            else:
                context.parts.clear()
        else:
            context.parts.append(" ")

    def paragraph(self, text: str) -> None:
        """A paragraph of the body, with what was met inside it after it."""
        context = self.context
        if text and text not in ("•", "–", "*"):
            kind, number = "paragraph", None
            if self.lists:
                kind = "list"
                mark = self.lists[-1].take_mark()
                if mark:
                    text = f"{mark} {text}"
            if self.theorem is not None:
                number = self.theorem[0]
                if kind == "paragraph":
                    kind = "theorem"
            self.note_links(context, text, "text")
            self.add(Block(kind, text, number=number, source="latex"))
        elif context.links:
            self.note_links(context, text, "text")
        after, context.after = context.after, []
        for block in after:
            self.add(block)

    def note_links(self, context: Context, text: str, where: str) -> None:
        for link in context.links:
            if not link.context:
                link.context, link.where = text, where
                link.section = self.section.id if self.section else None
                self.paper.links.append(link)
        context.links.clear()

    def add(self, block: Block) -> None:
        if self.section is None:
            self.new_section("", None, 1)  # what stands before the first heading; it gets the paper's title
        self.section.blocks.append(block)

    def add_later(self, block: Block) -> None:
        """A block for what floats or is noted: after the paragraph it is met in."""
        context = self.context
        if context.kind == "body" and not "".join(context.parts).strip():
            self.add(block)
        else:
            context.after.append(block)

    def new_section(self, title: str, number: str | None, level: int) -> Section:
        self.count += 1
        self.section = Section(f"s{self.count}", title, number, level, self.appendix, source="latex")
        self.paper.sections.append(self.section)
        return self.section

    def new_id(self) -> str:
        self.count += 1
        return f"i{self.count}"

    @property
    def here(self) -> str | None:
        return self.section.id if self.section else None

    # --- numbers and labels ----------------------------------------------------------------------------------------------

    def printed(self, counter: str) -> str:
        """What `\\the<counter>` prints now."""
        return self.text([f"\\the{counter}"])

    def step(self, counter: str, kind: str | None = None, title: str = "") -> str:
        """`\\refstepcounter`: step, and let the next label name it."""
        self.counters.new(counter)
        self.counters.step(counter)
        number = self.printed(counter)
        self.label_now = (number, kind or counter, title)
        return number

    def set_label(self, name: str) -> None:
        if not name:
            return
        if self.algorithm is not None and self.context.kind == "line":
            self.algorithm.labelled()
        self.labels[name] = self.label_now or ("", "section", "")
        captions = self.floats[-1].captions if self.floats else ()
        if captions and captions[-1].label is None and self.labels[name][0] == captions[-1].number:
            captions[-1].label = name

    def skip_arguments(self, spec: str) -> None:
        """Read and forget arguments: `*` a star, `[` optional, `{` one argument, `=` a length, `(` in parentheses."""
        for kind in spec:
            if kind == "*":
                self.star()
            elif kind == "[":
                self.optional()
            elif kind == "{":
                self.arg()
            elif kind == "(":
                self.bracketed("(", ")")
            elif kind == "<":
                self.bracketed("<", ">")
            elif kind == "=":
                self.dimension()

    # --- files -----------------------------------------------------------------------------------------------------------

    def input(self, name: str, *, base: str | None = None, endings: tuple[str, ...] = (".tex", "")) -> bool:
        """Read a file of the source here. Missing, looping and outside ones become warnings."""
        lexer = self.file()
        found = self.source.find(name, endings, base if base is not None else (lexer.base if lexer else ""))
        if found is None:
            if name.startswith("|") or name.startswith("/") or ".." in name:
                self.warn("outside", f"\\input{{{name[:80]}}} would leave the source; it is not read")
            elif self.in_document or not name.endswith((".sty", ".cls")):
                self.warn("missing-input", f"{name[:120]} is asked for and is not in the source")
            return False
        times = self.times[found] = self.times.get(found, 0) + 1
        if found in self.reading or found == self.main or len(self.reading) > 60 or times > 60 or self.inputs > MOST_INPUTS:
            self.warn("input-loop", f"{found} takes itself in; it is not read again")
            return False
        self.inputs += 1
        self.reading.append(found)
        self.open(Lexer(self.source.text(found), found, base=lexer.base if base is None and lexer else base or ""))
        return True


def folder(name: str) -> str:
    return name.rpartition("/")[0]


def flowed(parts: list[str]) -> str:
    """Parts of a paragraph as one line."""
    return re.sub(r"[ \t\n\u00a0]+", " ", "".join(parts)).strip()


def plain(latex: str) -> str:
    """LaTeX as text, roughly: for what could not be read properly."""
    return re.sub(r"\s+", " ", re.sub(r"\\[A-Za-z@]+\*?|[{}\\]", " ", latex)).strip()
