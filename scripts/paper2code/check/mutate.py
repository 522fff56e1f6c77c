"""Small seeded faults in src/, of the kinds that reproductions really have: a sign, a scale, an axis, a mask, the order of norm and
residual, an argument of an optimiser, an off-by-one, a call left out, a branch or a reduction exchanged. Each makes one altered text
of one file."""

from __future__ import annotations

import ast
import copy
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

AXES = {"dim", "axis"}
MASKS = {"masked_fill", "masked_fill_"}
STEPS = {"zero_grad", "clip_grad_norm_", "train", "eval", "normal_", "zeros_", "manual_seed", "xavier_uniform_", "kaiming_normal_"}
SETTINGS = {"betas", "eps", "weight_decay", "lr", "b1", "b2", "momentum", "learning_rate", "p", "rate", "mask", "attn_mask"}
# Switches that change no value where the code is right: a planted fault there could never be noticed.
HARMLESS = {"strict", "set_to_none", "inplace", "copy", "non_blocking", "pin_memory", "foreach", "fused", "deep"}
TWINS = {"min": "max", "minimum": "maximum", "amin": "amax", "argmin": "argmax", "sum": "mean", "sin": "cos", "floor": "ceil", "cumsum": "cumprod",
         "logical_and": "logical_or", "triu": "tril"}
TWINS |= {two: one for one, two in TWINS.items()}
WANTED = 12  # faults of a result, where its components have so many


@dataclass(frozen=True)
class Mutant:
    """One fault: `what` was done in `name` of `file` on `line`; `text` is the whole altered file."""

    id: str
    file: str
    name: str
    line: int
    kind: str
    what: str
    text: str


Change = tuple[str, ast.AST, Callable[[], ast.AST | None]]  # kind, the node, what to put in its place (None: leave it out)


def difference(before: str, after: str, around: int = 24, most: int = 60) -> str:
    """`before → after`, of long ones the part that differs."""
    if max(len(before), len(after)) > most and after != "left out":
        head = len(os.path.commonprefix([before, after]))
        tail = len(os.path.commonprefix([before[head:][::-1], after[head:][::-1]]))
        start = max(0, head - around)
        before, after = (f"{'…' * (start > 0)}{text[start : len(text) - max(0, tail - around)]}{'…' * (tail > around)}" for text in (before, after))
    return " → ".join(" ".join(text.split())[: 2 * most] for text in (before, after))


def changes(root: ast.AST) -> Iterator[Change]:
    """Every change that can be made under a definition."""
    skipped: set[int] = set()
    for node in ast.walk(root):
        if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.arguments)):
            skipped |= {id(inner) for inner in ast.walk(node)}
        for name in ("annotation", "returns"):
            if isinstance(getattr(node, name, None), ast.AST):
                skipped |= {id(inner) for inner in ast.walk(getattr(node, name))}
        for decorator in getattr(node, "decorator_list", ()):  # frozen or not, compiled or not: the values are the same
            skipped |= {id(inner) for inner in ast.walk(decorator)}
    for node in ast.walk(root):
        if id(node) not in skipped:
            yield from changes_of(node)


def changed(node: ast.AST, **fields) -> Callable[[], ast.AST]:
    def make() -> ast.AST:
        new = copy.copy(node)
        for key, value in fields.items():
            setattr(new, key, value)
        return new

    return make


def without(node: ast.Call, keyword: ast.keyword) -> Callable[[], ast.AST]:
    return changed(node, keywords=[key for key in node.keywords if key is not keyword])


def changes_of(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp):
        swap = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}.get(type(node.op))
        if swap is not None and not isinstance(node.left, (ast.Constant, ast.JoinedStr)) | isinstance(
            getattr(node.left, "value", None), str
        ):
            yield ("sign" if swap in (ast.Add, ast.Sub) else "scale"), node, changed(node, op=swap())
        if isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, (int, float)):
            yield "sign", node, changed(node, op=ast.Sub() if isinstance(node.op, ast.Add) else ast.Add())
        for side in ("left", "right"):
            part = getattr(node, side)
            if isinstance(part, ast.Constant) and isinstance(part.value, (int, float)) and not isinstance(part.value, bool):
                yield (
                    "off-by-one" if isinstance(part.value, int) else "scale",
                    node,
                    changed(node, **{side: ast.Constant(part.value + 1 if isinstance(part.value, int) else part.value * 2)}),
                )
    elif isinstance(node, ast.AugAssign):
        swap = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}.get(type(node.op))
        if swap is not None and not isinstance(getattr(node.value, "value", None), str):
            yield ("sign" if swap in (ast.Add, ast.Sub) else "scale"), node, changed(node, op=swap())
    elif isinstance(node, ast.BoolOp):
        yield "branch", node, changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.IfExp):
        yield "branch", node, changed(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "branch", node, lambda: node.operand
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "sign", node, lambda: node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        swap = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq}.get(type(node.ops[0]))
        if swap is not None:
            yield "off-by-one", node, changed(node, ops=[swap()])
    elif isinstance(node, ast.Call):
        yield from changes_of_call(node)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func.attr if isinstance(node.value.func, ast.Attribute) else getattr(node.value.func, "id", "")
        if called in STEPS:
            yield "left-out", node, ast.Pass
    elif isinstance(node, ast.Slice):
        for side in ("lower", "upper"):
            bound = getattr(node, side)
            if isinstance(bound, ast.Constant) and isinstance(bound.value, int):
                yield "off-by-one", node, changed(node, **{side: ast.Constant(bound.value + 1)})
            elif isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub) and isinstance(bound.operand, ast.Constant):
                yield "off-by-one", node, changed(node, **{side: None})
    elif (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, int)
        and isinstance(node.ctx, ast.Load)
    ):
        yield "off-by-one", node, changed(node, slice=ast.Constant(node.slice.value - 1))


def changes_of_call(node: ast.Call) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in TWINS:
        func = ast.Attribute(node.func.value, TWINS[name], node.func.ctx) if isinstance(node.func, ast.Attribute) else None
        if func is not None or TWINS[name] in ("min", "max", "sum"):
            yield "reduction", node, changed(node, func=func or ast.Name(TWINS[name], ast.Load()))
    if name == "range" and isinstance(node.func, ast.Name) and 1 <= len(node.args) <= 2:
        yield "off-by-one", node, changed(node, args=[*node.args[:-1], ast.BinOp(node.args[-1], ast.Sub(), ast.Constant(1))])
    if name in MASKS and isinstance(node.func, ast.Attribute):
        yield "mask", node, lambda: node.func.value
    if name == "where" and len(node.args) == 3:
        yield "mask", node, lambda: node.args[1]
    if name in ("transpose", "swapaxes") and len(node.args) == 2:
        yield "axis", node, lambda: node.func.value if isinstance(node.func, ast.Attribute) else node.args[0]
    if (
        len(node.args) == 1
        and not node.keywords
        and isinstance(node.args[0], ast.BinOp)
        and isinstance(node.args[0].op, ast.Add)
        and isinstance(node.func, ast.Attribute)
        and getattr(node.func.value, "id", "") == "self"
    ):
        inner = node.args[0]
        yield "order", node, lambda: ast.BinOp(inner.left, ast.Add(), ast.Call(node.func, [inner.right], []))
    for keyword in node.keywords:
        value = keyword.value
        number = (
            value.operand.value
            if isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant)
            else getattr(value, "value", None)
        )
        if keyword.arg in AXES and isinstance(number, int):
            signed = -number if isinstance(value, ast.UnaryOp) else number
            other = ast.UnaryOp(ast.USub(), ast.Constant(2)) if signed == -1 else ast.Constant(signed - 1 if signed > 0 else 1)
            yield "axis", node, changed(node, keywords=[k if k is not keyword else ast.keyword(k.arg, other) for k in node.keywords])
        elif keyword.arg in HARMLESS or keyword.arg in ("lr", "learning_rate") and not plain_parameters(node):
            continue
        elif isinstance(value, ast.Constant) and isinstance(value.value, bool):
            flip = ast.Constant(not value.value)
            yield "argument", node, changed(node, keywords=[k if k is not keyword else ast.keyword(k.arg, flip) for k in node.keywords])
        elif keyword.arg in SETTINGS and not isinstance(value, ast.Constant):
            yield "argument", node, without(node, keyword)


def plain_parameters(node: ast.Call) -> bool:
    """Whether an optimiser is given parameters without groups (which may have a rate of their own)."""
    return not node.args or isinstance(node.args[0], ast.Call) and ast.unparse(node.args[0].func).endswith("parameters")


class Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, new: ast.AST):
        self.target, self.new = target, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.target else super().generic_visit(node)


def mutants(file: str, text: str, names: list[str], *, each: int = 2, seed: int = 0) -> list[Mutant]:
    """Up to `each` faults in each of these top-level definitions of a file, of different kinds where there are several; the same
    seed gives the same ones."""
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    out: list[Mutant] = []
    for definition in tree.body:
        if not isinstance(definition, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) or definition.name not in names:
            continue
        chance = random.Random(f"{seed}:{file}:{definition.name}")
        found = [(*change, number) for number, change in enumerate(changes(definition))]
        chance.shuffle(found)
        kinds: dict[str, int] = {}
        for kind, *_ in found:
            kinds[kind] = kinds.get(kind, 0) + 1
        taken: list[str] = []
        order = sorted(range(len(found)), key=lambda at: sum(found[b][0] == found[at][0] for b in range(at)))  # kinds in turn
        for at in order:
            if len(taken) >= each:
                break
            kind, node, _, number = found[at]
            fresh = copy.deepcopy(definition)
            _, target, make = list(changes(fresh))[number]  # the same change of a copy, which then is altered
            new = make()
            line = getattr(node, "lineno", definition.lineno)
            told = difference(ast.unparse(node), "left out" if isinstance(new, ast.Pass) else ast.unparse(new))
            body = ast.unparse(ast.fix_missing_locations(Replace(target, new).visit(fresh)))
            first = min([definition.lineno, *(part.lineno for part in definition.decorator_list)])
            altered = "".join(lines[: first - 1]) + body + "\n" + "".join(lines[definition.end_lineno :])
            out.append(Mutant(f"{definition.name}-{kind}-{len(taken) + 1}", file, definition.name, line, kind, told, altered))
            taken.append(kind)
    return out
