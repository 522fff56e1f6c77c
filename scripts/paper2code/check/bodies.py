"""What stands in functions: type hints, bodies that do something, stubs that explain themselves, nothing unused."""

from __future__ import annotations

import ast
import re

from paper2code.check.repository import CITES, Module, Repository, end, head
from paper2code.findings import WARNING, Finding

# Double braces of a template; those of LaTeX (\hat{{x}}, x_{{i}}) follow a letter, a sign or another brace.
TEMPLATE = re.compile(r"(?<![\w\\^_{}])\{\{\s*[A-Za-z][\w .|-]*\}\}|\bFILL[ _-]?IN\b|\bYOUR CODE HERE\b")
MATHEMATICS = re.compile(r"\$[^$\"]{1,400}\$")


def placeholder(text: str) -> bool:
    """Whether a text still holds something to be filled in. What stands in mathematics is LaTeX's own."""
    return bool(TEMPLATE.search(MATHEMATICS.sub("", text)))


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_only(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def qualified(module: Module, node: ast.AST) -> str:
    scope = module.scope(node)
    return f"{scope}.{node.name}" if scope else node.name


def body_of(node: ast.AST) -> list[ast.stmt]:
    """A function's statements without its docstring."""
    body = node.body
    return body[1:] if body and docstring_only(body[0]) and isinstance(body[0].value.value, str) else body


def hints(module: Module) -> list[Finding]:
    """Type hints on every argument and return."""
    out = []
    for node in module.definitions:
        if not isinstance(node, FUNCTIONS):
            continue
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        holder = next(module.enclosing(node), None)
        if isinstance(holder, ast.ClassDef) and arguments and not any(ast.unparse(d).endswith("staticmethod") for d in node.decorator_list):
            arguments = arguments[1:]
        bare = [argument.arg for argument in arguments if argument.annotation is None]
        if bare:
            out.append(
                Finding(
                    "code-hints",
                    f"{qualified(module, node)}: no type on {', '.join(bare)}",
                    module.file,
                    node.lineno,
                    expected="name: Type",
                )
            )
        if node.returns is None:
            out.append(Finding("code-hints", f"{qualified(module, node)}: no return type", module.file, node.lineno, expected="-> Type"))
    return out


def stubs(module: Module) -> list[Finding]:
    """A body that does nothing is no implementation; one that raises says what is known, what is not, and how to find out."""
    out = []
    for node in module.definitions:
        if not isinstance(node, FUNCTIONS):
            continue
        body = body_of(node)
        decorators = " ".join(ast.unparse(part) for part in node.decorator_list)
        if "abstract" in decorators or "overload" in decorators:
            continue
        name = qualified(module, node)
        if not body or all(isinstance(part, ast.Pass) or docstring_only(part) for part in body):
            out.append(
                Finding(
                    "code-empty-body",
                    f"{name} does nothing",
                    module.file,
                    node.lineno,
                    expected="the code, or a stub that raises and explains",
                    fix='raise NotImplementedError("known: §… ; not stated: … ; to find out: …")',
                )
            )
        raises = [part for part in body if isinstance(part, ast.Raise) and part.exc is not None and "NotImplemented" in ast.unparse(part.exc)]
        if raises and raises[0] is body[0]:
            told = " ".join(mark.text for mark in module.marks if head(node) <= mark.first <= end(node)) + " " + ast.unparse(raises[0].exc)
            lacking = [
                what
                for what, words in (
                    ("what is known and where from", CITES),
                    ("what is not stated", re.compile(r"\b(not|unstated|missing|unknown|nowhere|un\w+ed|leaves?)\b", re.I)),
                    (
                        "how to find out",
                        re.compile(r"\b(ask|see|look|find|check|read|search|from|authors?|official|supplement)\b", re.I),
                    ),
                )
                if not words.search(told)
            ]
            if lacking or len(told.split()) < 15:
                out.append(
                    Finding(
                        "code-stub",
                        f"the stub {name} does not explain itself: {', '.join(lacking) or 'a few words only'}",
                        module.file,
                        node.lineno,
                        expected="what is known (with its place), what is not, and how to find out",
                    )
                )
        if placeholder("\n".join(module.lines[node.lineno - 1 : end(node)])):
            out.append(Finding("code-placeholder", f"{name} still holds a placeholder", module.file, node.lineno, fix="fill it in"))
    return out

IGNORED_NAMES = [
    "forward",
    "setup",
    "__*__",
    "main",
    "training_step",
    "backward",
    "extra_repr",
    "collate_fn",
    "tree_flatten",
    "tree_unflatten",
    "test_*",
]


def dead(repository: Repository, listed: set[str], notebook: str, notebook_due: bool) -> list[Finding]:
    """Code that nothing uses (vulture's verdict at 60%), uses in the notebook counted. Before the notebook exists, components of the
    contribution count as used, and other top-level functions that nothing calls are only warned of."""
    import vulture

    tool = vulture.Vulture(ignore_names=IGNORED_NAMES)
    for module in repository.modules:
        if module.tree is not None:
            tool.scan(module.text, filename=module.file)
    if notebook:
        tool.scan(notebook, filename="notebooks/walkthrough.ipynb")
    out = []
    data_fields = {
        (module.file, name)
        for module in repository.modules
        for node in module.definitions
        if isinstance(node, ast.ClassDef) and node.decorator_list
        for name in {part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)}
    }
    top_level = {
        (module.file, node.lineno) for module in repository.modules if module.tree for node in module.tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))
    } | {(module.file, head(node)) for module in repository.modules if module.tree for node in module.tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))}
    for item in tool.get_unused_code(min_confidence=60):
        file, name = str(item.filename), item.name
        if file.endswith(".ipynb") or name in listed or (file, name) in data_fields or name.startswith("_") and item.typ == "variable":
            continue
        public = item.typ in ("function", "class") and (file, item.first_lineno) in top_level
        soft = not repository.ours or (public and not notebook_due)
        out.append(
            Finding(
                "code-dead",
                f"{item.typ} {name!r} is never used",
                file,
                item.first_lineno,
                severity=WARNING if soft else "error",
                fix="delete it, or use it; nothing is kept for convenience",
            )
        )
    return out
