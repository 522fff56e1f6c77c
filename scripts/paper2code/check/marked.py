"""YAML and front matter read with line numbers kept, so that every finding can name its line.

`read` gives a tree of `Node` and never raises for what a file may hold: what is wrong becomes findings. Aliases are
refused (a ledger needs none, and they can blow up a small file).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml
from paper2code.findings import Finding

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST = 40

# YAML 1.1 reads "1e-9" as text; everyone who writes a ledger means the number.
NUMBER = re.compile(r"[-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?\Z")
WORDS = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


@dataclass
class Node:
    """A value and its first and last line (1-based). `value`: a dict of Nodes, a list of Nodes, or a plain scalar.

    `text`: a scalar as written; `quoted`: whether it stood in quotes or a block.
    """

    value: object
    line: int
    end: int
    text: str = ""
    quoted: bool = False

    def plain(self) -> object:
        """The value without lines."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def get(self, key: str) -> object:
        """The plain value under a key, or None."""
        node = self.value.get(key) if isinstance(self.value, dict) else None
        return node.plain() if node is not None else None

    def line_of(self, key: str) -> int:
        """The line of a key's value, or this node's own."""
        node = self.value.get(key) if isinstance(self.value, dict) else None
        return node.line if node is not None else self.line

    def leaves(self, path: str = "") -> Iterator[tuple[str, Node]]:
        """Every scalar and every list of scalars with its dotted path, in order."""
        if isinstance(self.value, dict):
            for key, node in self.value.items():
                yield from node.leaves(f"{path}.{key}" if path else key)
        elif isinstance(self.value, list) and any(isinstance(node.value, (dict, list)) for node in self.value):
            for number, node in enumerate(self.value):
                yield from node.leaves(f"{path}[{number}]")
        else:
            yield path, self


def scalar(node: yaml.ScalarNode) -> object:
    """A scalar's value as YAML's core schema has it, with `1e-9` read as the number it is."""
    text = node.value
    if node.style in ("'", '"', "|", ">"):
        return text
    if text in WORDS:
        return WORDS[text]
    if NUMBER.match(text) and len(text) < 400:
        digits = text.replace("_", "")
        return int(digits) if digits.lstrip("+-").isdigit() else float(digits)
    return text


def read(text: str, file: str, *, first_line: int = 1, check: str = "yaml") -> tuple[Node | None, list[Finding]]:
    """The tree of a YAML text, and what is wrong with it. The tree is None when it is not YAML at all; it is not to be changed."""
    root, findings = parsed(text, file, first_line, check)
    return root, list(findings)


@functools.lru_cache(maxsize=64)
def parsed(text: str, file: str, first_line: int, check: str) -> tuple[Node | None, list[Finding]]:
    offset = first_line - 1
    tabs = [number for number, line in enumerate(text.splitlines(), first_line) if re.match(r" *\t", line) and line.strip()]
    try:
        root = yaml.compose(text, Loader=LOADER)
    except yaml.MarkedYAMLError as problem:
        if tabs:
            return None, [
                Finding(
                    f"{check}-tab",
                    "a tab is used as indentation, which YAML does not take",
                    file,
                    tabs[0],
                    expected="spaces",
                    fix="replace each tab by two spaces a level",
                )
            ]
        mark = problem.problem_mark or problem.context_mark
        about = " ".join(part for part in (problem.context, problem.problem) if part)
        return None, [
            Finding(
                f"{check}-unreadable",
                f"not YAML: {about}",
                file,
                (mark.line + 1 if mark else 1) + offset,
                expected="YAML",
                fix="put text that holds ': ', '#' or quotes between quotes; indent by two spaces",
            )
        ]
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        first = (str(problem).splitlines() or [type(problem).__name__])[0]
        return None, [Finding(f"{check}-unreadable", f"not YAML: {first}", file, first_line, expected="YAML text in UTF-8")]
    if root is None:
        return None, [Finding(f"{check}-empty", "the file is empty", file, first_line)]
    findings: list[Finding] = []
    seen: set[int] = set()

    def build(node: yaml.Node, depth: int) -> Node:
        line, end = node.start_mark.line + 1 + offset, node.end_mark.line + 1 + offset
        if id(node) in seen or depth > DEEPEST:
            findings.append(
                Finding(
                    f"{check}-alias",
                    "an alias (*name) or very deep nesting is not read here",
                    file,
                    line,
                    fix="write the value out",
                )
            )
            return Node(None, line, line)
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            return Node(scalar(node), line, end, node.value, node.style in ("'", '"', "|", ">"))
        if isinstance(node, yaml.SequenceNode):
            return Node([build(part, depth + 1) for part in node.value], line, end)
        out: dict[str, Node] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else "?"
            if name in out:
                findings.append(
                    Finding(
                        f"{check}-duplicate-key",
                        f"{name!r} is given twice in one mapping, and YAML keeps the last one silently",
                        file,
                        key.start_mark.line + 1 + offset,
                        fix=f"keep one {name!r}",
                    )
                )
            out[name] = build(value, depth + 1)
        return Node(out, line, end)

    return build(root, 0), findings


def front_matter(text: str) -> tuple[str | None, str, int]:
    """(YAML between the leading `---` lines, the prose after it, the prose's first line); None where there is none."""
    lines = text.removeprefix("\ufeff").splitlines()
    if lines and lines[0].strip() == "---":
        for number, line in enumerate(lines[1:], 1):
            if line.strip() == "---":
                return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :]), number + 2
    return None, text, 1
