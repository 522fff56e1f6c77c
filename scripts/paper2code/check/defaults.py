"""The census of defaults: what a framework decides when the code says nothing.

`defaults/pytorch.yaml`, `jax.yaml` and `numpy.yaml` list callables and the arguments whose default is itself a decision (bias, epsilon,
affine, an optimiser's betas, reduction, padding …). A call either gives such an argument, or a comment on it, or on the function or class
around it, says that it is left to the default: it speaks of the argument by one of its words and says "default" (or cites the paper for
it). Parameters that no initialiser of the repository touches are such a default too.
"""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path

import yaml
from paper2code.check.names import full_name
from paper2code.check.repository import Mark, Module, Repository
from paper2code.findings import Finding

FOLDER = Path(__file__).with_name("defaults")
LEFT = re.compile(r"\b(default|defaults|left (?:to|at|as)|unset|framework's|library's|leaves? (?:it|them) )", re.I)


@dataclass(frozen=True)
class Argument:
    """One argument whose default decides something. `needs`: it matters only when this other argument is given."""

    name: str
    default: str
    at: int | None
    words: tuple[str, ...]
    unless: str | None = None
    needs: str | None = None


@dataclass(frozen=True)
class Framework:
    callables: dict[str, tuple[Argument, ...]]
    with_parameters: frozenset[str]
    initialisers: tuple[str, ...]
    init_words: tuple[str, ...]


@functools.cache
def load(name: str) -> Framework:
    """The data file of a framework. Raises ValueError naming what is wrong with it."""
    data = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    out: dict[str, tuple[Argument, ...]] = {}
    for callable_, entry in data["callables"].items():
        arguments = []
        for argument, given in entry["arguments"].items():
            if unknown := given.keys() - {"default", "at", "words", "unless", "with"}:
                raise ValueError(f"{name}.yaml: {callable_}.{argument}: {sorted(unknown)} is no field")
            words = tuple(str(word).lower() for word in (argument, *given["words"]))
            arguments.append(Argument(argument, str(given["default"]), given.get("at"), words, given.get("unless"), given.get("with")))
        out[callable_] = tuple(arguments)
    with_parameters = frozenset(key for key, entry in data["callables"].items() if entry.get("init"))
    return Framework(out, with_parameters, tuple(data["initialisers"]), tuple(data["init_words"]))


FRAMEWORKS = ("pytorch", "jax", "numpy")


def speaks(text: str, words: tuple[str, ...]) -> bool:
    """Whether a text has one of these words (a word may be a beginning: `initialis`)."""
    low = text.lower()
    return any(re.search(rf"(?<![a-z]){re.escape(word.strip())}", low) for word in words)


def told(marks: list[Mark], words: tuple[str, ...]) -> bool:
    """Whether a citation or flag says that this is left to the default, or cites the paper for the default's value."""
    for mark in marks:
        if not mark.counts:
            continue
        for sentence in re.split(r"(?m)^\s*(?=§|\[[A-Z_]{8,}\])|\n\s*\n", mark.text):
            if speaks(sentence, words) and LEFT.search(sentence):
                return True
    return False


def given(node: ast.Call, argument: Argument, module: Module | None = None) -> bool:
    """Whether a call gives an argument, by name, by position, or through `*args` or `**kwargs` (whose keys are looked up where they
    are written down in the same module)."""
    for key in node.keywords:
        if key.arg == argument.name or key.arg is None and argument.name in (keys(key.value, module) or {argument.name}):
            return True
    count = 0
    for part in node.args:
        if isinstance(part, ast.Starred):
            if not isinstance(part.value, (ast.List, ast.Tuple)):
                return True
            count += len(part.value.elts)
        else:
            count += 1
    return argument.at is not None and count > argument.at


def keys(node: ast.AST, module: Module | None) -> set[str] | None:
    """The keys of a mapping that is written out (`{…}`, `dict(…)`, or a name bound to one of them); None where they cannot be known."""
    if isinstance(node, ast.Name) and module is not None:
        bound = [
            each.value
            for each in module.nodes
            if isinstance(each, ast.Assign) and any(isinstance(target, ast.Name) and target.id == node.id for target in each.targets)
        ]
        return keys(bound[0], None) if len(bound) == 1 else None
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        return {str(key.value) for key in node.keys} | {""}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        return {key.arg for key in node.keywords} | {""} if all(key.arg for key in node.keywords) else None
    return None


ASKS = {"isinstance", "issubclass", "type", "hasattr", "cast", "register_forward_hook"}


def handed_on(module: Module, node: ast.AST) -> tuple[ast.Call, str] | None:
    """A callable of the books that is not called here but handed on to be called elsewhere (an alias, a table of classes,
    functools.partial, getattr by name): taken as a call with the arguments that are bound here. None for everything else."""
    if isinstance(node, ast.Call) and full_name(module, node.func) == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
        name = canonical(f"{full_name(module, node.args[0])}.{node.args[1].value}")
    elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
        name = canonical(full_name(module, node))
    else:
        return None
    if not any(name in load(framework).callables for framework in FRAMEWORKS):
        return None
    at, below = module.parents.get(node), node
    while isinstance(at, (ast.Tuple, ast.List, ast.Dict, ast.IfExp, ast.Subscript, ast.BinOp)):
        if isinstance(at, (ast.Subscript, ast.BinOp)) and below is not getattr(at, "value", None):
            return None  # an annotation such as X | None
        at, below = module.parents.get(at), at
    if isinstance(at, ast.Call) and below is at.func:
        return (at, name) if below is not node or isinstance(node, ast.Call) else None
    call = module.__dict__.setdefault("handed on", {}).setdefault(node, ast.copy_location(ast.Call(node, [], []), node))
    module.parents[call] = module.parents[node]
    if isinstance(at, ast.Call) and below is not at.func:
        asked = full_name(module, at.func).split(".")[-1]
        if asked in ASKS:
            return None
        if asked == "partial" and at.args and at.args[0] is node:
            call.args, call.keywords = at.args[1:], at.keywords
        return call, name
    if isinstance(at, (ast.Assign, ast.Return, ast.Lambda)) or isinstance(at, (ast.AnnAssign, ast.keyword)) and below is at.value:
        return call, name
    return None


def check(repository: Repository) -> tuple[list[Finding], int]:
    """Findings, and how many calls were looked at."""
    out: list[Finding] = []
    looked = 0
    for module in repository.modules:
        if module.tree is None:
            continue
        seen: set[tuple[str, str, str]] = set()
        for node in module.nodes:
            named = handed_on(module, node)
            if named is None and not isinstance(node, ast.Call):
                continue
            node, name = named or (node, canonical(full_name(module, node.func)))
            for framework in FRAMEWORKS:
                book = load(framework)
                if name not in book.callables:
                    continue
                looked += 1
                for argument in book.callables[name]:
                    key = (module.scope(node), name, argument.name)
                    if given(node, argument, module) or key in seen or not matters(node, argument):
                        continue
                    if told(marks_for(module, node), argument.words):
                        continue
                    seen.add(key)
                    scope = f" in {key[0]}" if key[0] else ""
                    out.append(
                        Finding(
                            "default-silent",
                            f"{name.split('.')[-1]}{scope} leaves {argument.name} to the framework: {argument.default}",
                            module.file,
                            node.lineno,
                            expected=f"{argument.name}=…, cited or flagged, or a flag that says it is the default",
                            fix=f"set it from the config, or write above: # [UNSPECIFIED] the paper does not state {argument.words[1]} "
                            f"Using: the framework's default ({argument.default}) Alternatives: …",
                        )
                    )
    return out + initialisation(repository), looked


def matters(node: ast.Call, argument: Argument) -> bool:
    names = {key.arg for key in node.keywords}
    if argument.unless and argument.unless in names:
        return False
    if node.args and isinstance(node.args[0], (ast.List, ast.Tuple)) and node.args[0].elts:  # groups of parameters, each with its own
        groups = [keys(group, None) for group in node.args[0].elts]
        if all(group is not None and argument.name in group for group in groups):
            return False
    return not argument.needs or argument.needs in names


def marks_for(module: Module, node: ast.Call) -> list[Mark]:
    """The marks that may speak for a call: on its statement, in and on the function around it, on the class around that."""
    statement = module.statement(node) or node
    marks = module.marks_on(statement.lineno, getattr(statement, "end_lineno", statement.lineno) or statement.lineno)
    around = module.marks_around(node)
    function = next((holder for holder in module.enclosing(node) if isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    if function is not None:
        around += [
            mark
            for mark in module.marks
            if function.lineno <= mark.first <= (function.end_lineno or function.lineno) and not mark.docstring
        ]
    return marks + around


def canonical(name: str) -> str:
    """One name for a callable however it was imported."""
    for short, long in (("np.", "numpy."), ("jnp.", "jax.numpy."), ("nnx.", "flax.nnx."), ("linen.", "flax.linen.")):
        if name.startswith(short):
            return long + name[len(short) :]
    return name


def initialisation(repository: Repository) -> list[Finding]:
    """Modules with parameters in a repository that neither initialises them nor says that it leaves them as they come."""
    out: list[Finding] = []
    for framework in FRAMEWORKS:
        book = load(framework)
        if not book.with_parameters:
            continue
        first: dict[str, tuple[Module, ast.Call]] = {}
        decided = False
        for module in repository.modules:
            for node in module.nodes:
                if isinstance(node, ast.Call):
                    name = canonical(full_name(module, node.func))
                    if name in book.with_parameters:
                        first.setdefault(name.split(".")[-1], (module, node))
                    decided = decided or any(
                        name.startswith(word) or word.startswith(".") and word in f".{name.split('.')[-1]}" for word in book.initialisers
                    )
            for mark in module.marks:
                decided = decided or mark.counts and speaks(mark.text, book.init_words)
        if first and not decided:
            module, node = next(iter(first.values()))
            out.append(
                Finding(
                    "default-silent",
                    f"the initialisation of {', '.join(sorted(first))} is left to the framework, and nothing says so",
                    module.file,
                    node.lineno,
                    expected="an initialisation, cited or flagged, or a flag that says it is the default",
                    fix="# [UNSPECIFIED] the paper does not state the initialisation Using: the framework's default Alternatives: …",
                )
            )
    return out
