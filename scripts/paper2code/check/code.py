"""Checks of the generated code that need no paper, put together: scope, anchors, flags, shapes, names, bodies.

A function is **trivial** when its body is one or two statements without loop, branch, tensor operation or arithmetic, or when
it is a dunder method other than `__call__`; it is **plumbing** when it has no arithmetic, tensor operation or number of its own and
its docstring names the configuration whose values are cited (`configs/base.yaml`). Everything else has a citation or flag in its
docstring, above it, or in its body (`forward` and `__call__` also in their class's docstring). A class has its own, in its
docstring or above it.
"""

from __future__ import annotations

import ast
import re

from paper2code.check.bodies import body_of, dead, hints, qualified, stubs
from paper2code.check.flags import flag_form, flags, phrases
from paper2code.check.names import imports, undefined
from paper2code.check.repository import Mark, Module, Repository, end, head
from paper2code.check.scope import excluded, files
from paper2code.check.shapes import shapes, shaping
from paper2code.findings import Finding


def anchors(module: Module) -> tuple[list[Finding], int]:
    """Every class and non-trivial function cites the paper or flags what is not in it; how many were looked at."""
    out: list[Finding] = []
    looked = 0
    for node in module.definitions:
        own = [
            mark
            for mark in module.marks
            if (mark.docstring and mark.start == head(node) and mark.end == end(node) and is_docstring_of(mark, node))
            or (not mark.docstring and mark.start == head(node))
        ]
        if isinstance(node, ast.ClassDef):
            looked += 1
            if not any(mark.counts for mark in own) and not is_config(node):
                out.append(
                    Finding(
                        "code-anchor",
                        f"class {node.name} has no anchor",
                        module.file,
                        node.lineno,
                        expected='in its docstring or above it: §3.2 — "…" (or a flag)',
                        fix="search_paper.py WORK prints sentences ready to quote",
                    )
                )
            elif (
                is_config(node)
                and not any(mark.counts for mark in module.marks if head(node) <= mark.first <= end(node))
                and not re.search(r"configs?/\w+\.ya?ml", " ".join(mark.text for mark in own))
            ):
                out.append(
                    Finding(
                        "code-anchor",
                        f"class {node.name} says neither where its values are cited nor cites them",
                        module.file,
                        node.lineno,
                        expected="a docstring that names configs/base.yaml, or an anchor on each field",
                    )
                )
            continue
        if trivial(module, node) or plumbing(module, node, own):
            continue
        looked += 1
        inside = [mark for mark in module.marks if not mark.docstring and node.lineno <= mark.first <= end(node)]
        if node.name in ("forward", "__call__"):  # what a class computes is what its own anchor speaks of
            inside += [mark for mark in module.marks_around(node) if mark.docstring]
        if not any(mark.counts for mark in (*own, *inside)):
            out.append(
                Finding(
                    "code-anchor",
                    f"function {qualified(module, node)} has no anchor",
                    module.file,
                    node.lineno,
                    expected="in its docstring, above it or in its body: §3.2, Eq. 4 — … (or a flag)",
                    fix="cite what it implements; what the paper does not say is [UNSPECIFIED]",
                )
            )
    return out, looked


def is_docstring_of(mark: Mark, node: ast.AST) -> bool:
    return bool(node.body) and mark.first == node.body[0].lineno


def is_config(node: ast.ClassDef) -> bool:
    return bool(re.search(r"Config|Hyper|Settings|HParams", node.name)) and any("dataclass" in ast.unparse(part) for part in node.decorator_list)


def trivial(module: Module, node: ast.AST) -> bool:
    if re.fullmatch(r"__\w+__", node.name) and node.name not in ("__call__",):
        return node.name != "__init__" or len(body_of(node)) <= 3 or in_anchored_class(module, node)
    body = body_of(node)
    if len(body) > 2:
        return False
    for part in body:
        for at in ast.walk(part):
            if isinstance(at, (ast.For, ast.While, ast.If, ast.BinOp, ast.IfExp, ast.With, ast.Try)) or (isinstance(at, ast.Call) and shaping(module, at)):
                return False
    return True


def plumbing(module: Module, node: ast.AST, own: list[Mark]) -> bool:
    """Whether a function only hands on what the configuration holds: its docstring names the file, and it computes nothing."""
    if not any(mark.docstring and re.search(r"configs?/\w+\.ya?ml", mark.text) for mark in own):
        return False
    return not any(
        isinstance(at, (ast.BinOp, ast.AugAssign))
        or (isinstance(at, ast.Constant) and isinstance(at.value, (int, float, complex)) and not isinstance(at.value, bool))
        or (isinstance(at, ast.Call) and shaping(module, at))
        for part in body_of(node)
        for at in ast.walk(part)
    )


def in_anchored_class(module: Module, node: ast.AST) -> bool:
    holder = next(module.enclosing(node), None)
    return isinstance(holder, ast.ClassDef)


def check(
    repository: Repository,
    *,
    type: str = "",
    mode: str = "minimal",
    components: list = (),
    trains: bool = False,
    nothing: bool = False,
    notebook: str = "",
    notebook_due: bool = False,
    system: bool = False,
) -> tuple[list[Finding], dict[str, int]]:
    """All of the above on one result folder, and how many things were looked at."""
    out: list[Finding] = []
    looked = {"modules": 0, "definitions": 0, "tensor operations": 0}
    listed = {part.name for part in components}
    if repository.ours or nothing:
        out += files(repository, type, mode, list(components), trains, nothing)
    for module in repository.modules:
        looked["modules"] += 1
        if module.problem:
            out.append(module.problem)
            continue
        for checked, name in ((anchors, "definitions"), (shapes, "tensor operations")):
            found, count = checked(module)
            out += found
            looked[name] += count
        out += [*flags(module), *hints(module), *undefined(module), *stubs(module)]
        for mark in module.marks:
            out += phrases(mark.text, module.file, mark.first)
    out += imports(repository)
    out += excluded(repository, type=type, mode=mode, listed=listed, system=system or type == "f")
    out += dead(repository, listed, notebook, notebook_due)
    for config in repository.configs:
        seen: set[str] = set()
        for _, node in config.leaves:
            text = config.comment(node)
            if text in seen:
                continue
            seen.add(text)
            out += [*flag_form(text, config.file, node.line), *phrases(text, config.file, node.line)]
    return out, looked
