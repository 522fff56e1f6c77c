"""A result folder read once: its Python modules with syntax trees and comments, its configs, its texts.

Nothing here is ever imported or run. A file that cannot be read or parsed stays in the list with its `problem`.

A **mark** is a stretch of commentary that may cite or flag: a block of comment lines, a trailing comment, a docstring. It
covers the lines of the statement it belongs to: a trailing comment its own statement; comment lines the statement after them
and those that follow it without a blank line or another comment; a docstring its function or class.
"""

from __future__ import annotations

import ast
import functools
import io
import os
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from paper2code.check import marked
from paper2code.check.gates import LEFT_OUT
from paper2code.findings import Finding

LARGEST = 2_000_000  # bytes of one source file

CITES = re.compile(
    r"§|\b(?:Sec(?:tion|\.)\s*[A-Z]?\d|Eqs?\.?\s*\(?\d|Equations?\s*\(?\d|Algorithms?\s*\d|Alg\.\s*\d|Tab(?:le|\.)\s*[A-Z]?\d"
    r"|Fig(?:ure|\.)\s*[A-Z]?\d|Appendix\s+[A-Z\d]|App\.\s*(?:[A-Z](?![A-Za-z])|\d)|Appendices\s+[A-Z\d]|(?:Theorem|Lemma|Proposition|Corollary|Definition)\s*(?:[A-Z]\.?)?\d|Footnote\s*\d|Abstract\b)"
)
TAGS = ("UNSPECIFIED", "PARTIALLY_SPECIFIED", "ASSUMPTION", "FROM_OFFICIAL_CODE")
FLAG = re.compile(r"\[(" + "|".join(TAGS) + r")\]")


@dataclass
class Mark:
    """A comment or docstring. `first`/`last`: its own lines; `start`/`end`: the lines it covers."""

    text: str
    first: int
    last: int
    start: int
    end: int
    docstring: bool = False

    @property
    def cites(self) -> bool:
        return bool(CITES.search(self.text))

    @property
    def flags(self) -> list[str]:
        return FLAG.findall(self.text)

    @property
    def counts(self) -> bool:
        """Whether it cites or flags at all."""
        return self.cites or bool(self.flags)


def parts(text: str) -> list[str]:
    """A mark's text cut into its separate statements: each flag or citation with what follows it, up to the next."""
    cuts = [found.start() for found in re.finditer(r"(?m)^\s*(?=§|\[(?:" + "|".join(TAGS) + r")\])", text)]
    if not cuts:
        return [text]
    edges = sorted({0, *cuts, len(text)})
    return [text[a:b] for a, b in zip(edges, edges[1:], strict=False) if text[a:b].strip()]


@dataclass
class Module:
    """One Python file. `tree` is None when it does not parse (`problem` says why)."""

    file: str
    text: str
    tree: ast.Module | None = None
    problem: Finding | None = None
    lines: list[str] = field(default_factory=list)

    @cached_property
    def comments(self) -> dict[int, tuple[str, bool]]:
        """Line → (comment without `#`, whether it stands alone on its line)."""
        out: dict[int, tuple[str, bool]] = {}
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
                if token.type == tokenize.COMMENT:
                    out[token.start[0]] = (token.string.lstrip("#").strip(), not token.line[: token.start[1]].strip())
        except (tokenize.TokenError, SyntaxError, IndentationError):
            pass
        return out

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree)) if self.tree else []

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def statements(self) -> list[ast.stmt]:
        return sorted((node for node in self.nodes if isinstance(node, ast.stmt)), key=lambda node: (node.lineno, -end(node)))

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement a node belongs to."""
        while node is not None and not isinstance(node, ast.stmt):
            node = self.parents.get(node)
        return node

    def enclosing(self, node: ast.AST) -> Iterator[ast.AST]:
        """Functions and classes around a node, innermost first."""
        node = self.parents.get(node)
        while node is not None:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield node
            node = self.parents.get(node)

    def scope(self, node: ast.AST) -> str:
        """`Class.method` around a node, "" at the top."""
        return ".".join(reversed([part.name for part in self.enclosing(node)]))

    @cached_property
    def definitions(self) -> list[ast.AST]:
        return [node for node in self.nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]

    @cached_property
    def marks(self) -> list[Mark]:
        out: list[Mark] = []
        for node in [self.tree, *self.definitions] if self.tree else []:
            text = ast.get_docstring(node, clean=True) if node is not None else None
            if text:
                first = node.body[0]
                start, last = (1, len(self.lines)) if isinstance(node, ast.Module) else (head(node), end(node))
                out.append(Mark(text, first.lineno, end(first), start, last, docstring=True))
        simple = {}
        for statement in self.statements:
            for line in range(statement.lineno, header_end(statement) + 1):
                simple[line] = statement  # later (inner) statements win
        block: list[int] = []
        for line in sorted(self.comments):
            text, alone = self.comments[line]
            if not alone:
                holder = simple.get(line)
                # A trailing comment goes on over the comment lines right below that are set as its continuation.
                more, following = [text], line + 1
                while (
                    following in self.comments
                    and self.comments[following][1]
                    and self.column(following) > self.column_of_code(line)
                ):
                    more.append(self.comments[following][0])
                    following += 1
                span = (holder.lineno, header_end(holder)) if holder else (line, line)
                out.append(Mark("\n".join(more), line, following - 1, min(span[0], line), max(span[1], line)))
                continue
            if block and line == block[-1] + 1 and self.column(line) == self.column(block[-1]):
                block.append(line)
            else:
                out += self.of_block(block, simple)
                block = [line]
        out += self.of_block(block, simple)
        return sorted(out, key=lambda mark: (mark.first, mark.last))

    def column(self, line: int) -> int:
        text = self.lines[line - 1]
        return len(text) - len(text.lstrip())

    column_of_code = column

    def of_block(self, block: list[int], simple: dict[int, ast.stmt]) -> list[Mark]:
        """The mark of a block of comment lines: it covers the statements below it up to a blank line or another comment."""
        if not block:
            return []
        text = "\n".join(self.comments[line][0] for line in block)
        start, last = block[-1] + 1, block[-1]
        line, indent = start, self.column(block[0])
        while line <= len(self.lines) and self.lines[line - 1].strip():
            if line in self.comments and self.comments[line][1] or self.column(line) < indent:
                break
            holder = simple.get(line)
            if holder is None:
                last = line
                line += 1
                continue
            definition = isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            if line != start and definition:
                break
            last = max(last, header_end(holder))
            if definition:
                last = end(holder)
                break
            line = max(line, header_end(holder)) + 1
        return [Mark(text, block[0], block[-1], start if last >= start else block[0], max(last, block[-1]))]

    def marks_on(self, first: int, last: int) -> list[Mark]:
        """Marks that belong to these lines directly: comments that cover one of them, docstrings left out."""
        return [
            mark
            for mark in self.marks
            if not mark.docstring and mark.start <= last and mark.end >= first and not self.covers_definition(mark)
        ]

    def covers_definition(self, mark: Mark) -> bool:
        return not mark.docstring and any(head(node) == mark.start for node in self.definitions)

    def marks_around(self, node: ast.AST) -> list[Mark]:
        """Marks of the functions and classes around a node: their docstrings and the comments above them."""
        holders = list(self.enclosing(node))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            holders.insert(0, node)
        starts = {head(holder) for holder in holders}
        return [mark for mark in self.marks if mark.start in starts and (mark.docstring or self.covers_definition(mark))]


def head(node: ast.AST) -> int:
    """The first line of a definition, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(part.lineno for part in decorators)])


def end(node: ast.AST) -> int:
    return getattr(node, "end_lineno", None) or node.lineno


def header_end(node: ast.stmt) -> int:
    """The last line of a statement, without its body: `if …:` ends where its body begins."""
    body = getattr(node, "body", None)
    return max(node.lineno, body[0].lineno - 1) if body and isinstance(body, list) else end(node)


@dataclass
class Config:
    """A YAML file of `configs/` with its comments. `leaves`: dotted path → Node."""

    file: str
    text: str
    root: marked.Node | None
    problems: list[Finding]
    lines: list[str] = field(default_factory=list)

    @cached_property
    def leaves(self) -> list[tuple[str, marked.Node]]:
        return list(self.root.leaves()) if self.root is not None else []

    def comment(self, node: marked.Node) -> str:
        """The comments of a leaf: those on its lines, continuation lines below them, and the block right above."""
        line = node.line
        found = [
            text
            for at in range(line, max(node.end, line) + 1)
            if at <= len(self.lines) and (text := trailing(self.lines[at - 1]))
        ]
        below = max(line, node.end if isinstance(node.value, list) else line) + 1
        while (
            found
            and below <= len(self.lines)
            and re.match(r"\s+#", self.lines[below - 1])
            and self.lines[below - 1].index("#") > indent_of(self.lines[line - 1]) + 4
        ):
            found.append(self.lines[below - 1].strip().lstrip("#").strip())
            below += 1
        above: list[str] = []
        at = line - 1
        while (
            at >= 1
            and self.lines[at - 1].strip().startswith("#")
            and indent_of(self.lines[at - 1]) == indent_of(self.lines[line - 1])
        ):
            above.insert(0, self.lines[at - 1].strip().lstrip("#").strip())
            at -= 1
        return "\n".join([*above, *found])


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def trailing(line: str) -> str:
    """The comment of a YAML line, "" where there is none; a `#` inside quotes starts none."""
    quote = ""
    for at, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and (at == 0 or line[at - 1] in " [{,:"):
            quote = char
        elif char == "#" and (at == 0 or line[at - 1] in " \t"):
            return line[at + 1 :].strip()
    return ""


def text_of(path: Path) -> str:
    """A file's text with what is not UTF-8 replaced, without a byte order mark."""
    return path.read_bytes()[:LARGEST].decode("utf-8", errors="replace").removeprefix("\ufeff").replace("\r\n", "\n")


class Repository:
    """A result folder. `ours`: it has the layout of this skill (`src/`, `configs/`)."""

    def __init__(self, root: Path):
        self.root = root
        self.files = self.walk()
        self.ours = any(name.startswith("src/") for name in self.files)

    def walk(self) -> list[str]:
        out: list[str] = []
        for at, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
            out += [(Path(at) / name).relative_to(self.root).as_posix() for name in sorted(names)]
        return out

    def path(self, name: str) -> Path:
        return self.root / name

    def text(self, name: str) -> str | None:
        path = self.root / name
        return text_of(path) if path.is_file() else None

    @cached_property
    def modules(self) -> list[Module]:
        """The implementation: `src/`, or in a repository of another layout all Python but tests, set-up and examples."""
        names = [name for name in self.files if name.endswith(".py")]
        if self.ours:
            names = [name for name in names if name.startswith("src/")]
        else:
            names = [
                name
                for name in names
                if not re.search(r"(^|/)(tests?|docs?|examples?|benchmarks?)/|(^|/)(setup|conftest|test_\w+)\.py$", name)
            ]
        return [self.module(name) for name in names]

    def module(self, name: str) -> Module:
        return parsed(name, text_of(self.root / name))

    @cached_property
    def configs(self) -> list[Config]:
        out = []
        for name in self.files:
            if name.startswith("configs/") and name.endswith((".yaml", ".yml")):
                text = text_of(self.root / name)
                root, problems = marked.read(text, name, check="config")
                out.append(Config(name, text, root, problems, text.split("\n")))
        return out

    @cached_property
    def values(self) -> dict[str, tuple[object, str, int]]:
        """Config path → (value, file, line), the first file that has it."""
        out: dict[str, tuple[object, str, int]] = {}
        for config in self.configs:
            for path, node in config.leaves:
                out.setdefault(path, (node.plain(), config.file, node.line))
        return out


@functools.lru_cache(maxsize=512)
def parsed(name: str, text: str) -> Module:
    """The module of a text; the same text is parsed once, however often a folder is looked at."""
    module = Module(name, text, lines=text.split("\n"))
    try:
        module.tree = ast.parse(text, filename=name)
    except SyntaxError as problem:
        module.problem = Finding(
            "code-syntax",
            f"does not parse: {problem.msg}",
            name,
            problem.lineno or 1,
            expected="Python 3.10+",
            evidence=(problem.text or "").strip()[:200] or None,
        )
    except (ValueError, RecursionError, MemoryError) as problem:
        module.problem = Finding("code-syntax", f"does not parse: {problem}", name, 1, expected="Python 3.10+")
    return module
