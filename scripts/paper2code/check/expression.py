"""Arithmetic from a ledger, evaluated without ever running code: names, numbers, + - * / // % **, and a few functions."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Mapping

FUNCTIONS = {
    "abs": abs,
    "min": min,
    "max": max,
    "round": round,
    "sum": lambda *parts: sum(parts),
    "sqrt": math.sqrt,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "exp": math.exp,
    "floor": math.floor,
    "ceil": math.ceil,
}
BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
LONGEST = 500


class NotArithmetic(ValueError):
    """The text is not arithmetic on known names; the message says which part."""


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` of a Name or Attribute, else None."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = dotted(node.value)
        return f"{head}.{node.attr}" if head else None
    return None


def names(text: str) -> list[str]:
    """The dotted names an expression uses, without its functions. Raises NotArithmetic when it is no expression."""
    out: list[str] = []

    def walk(node: ast.AST) -> None:
        name = dotted(node)
        if name is not None:
            out.append(name)
        elif isinstance(node, ast.Call):
            for part in node.args:
                walk(part)
        else:
            for part in ast.iter_child_nodes(node):
                walk(part)

    walk(parse(text))
    return list(dict.fromkeys(out))


def parse(text: str) -> ast.AST:
    if len(text) > LONGEST:
        raise NotArithmetic(f"longer than {LONGEST} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise NotArithmetic(f"{text!r} is not an expression ({getattr(problem, 'msg', problem)})") from None


def evaluate(text: str, values: Mapping[str, object]) -> float:
    """The value of `text` with the names in `values` (numbers, or lists of numbers indexed like `x[0]`)."""

    def number(value: object, name: str) -> object:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise NotArithmetic(f"{name} is {value!r}, not a number")
        return value

    def walk(node: ast.AST) -> float:
        if isinstance(node, ast.Constant):
            return number(node.value, "a constant")
        name = dotted(node)
        if name is not None:
            if name not in values:
                raise NotArithmetic(f"nothing in the ledger has the config path or id {name!r}")
            return number(values[name], name)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            name = dotted(node.value)
            held = values.get(name) if name else None
            if not isinstance(held, list) or not -len(held) <= node.slice.value < len(held):
                raise NotArithmetic(f"{name}[{node.slice.value}] is not there")
            return number(held[node.slice.value], f"{name}[{node.slice.value}]")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = walk(node.operand)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp):
            left, right = walk(node.left), walk(node.right)
            if isinstance(node.op, ast.Pow):
                if abs(right) > 1000 or (abs(left) > 1 and abs(right) * math.log2(abs(left)) > 2000):
                    raise NotArithmetic("a power is too large")
                out = left**right
                return number(out, "a power of a negative number")
            if type(node.op) in BINARY:
                return BINARY[type(node.op)](left, right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords:
            return FUNCTIONS[node.func.id](*(walk(part) for part in node.args))
        raise NotArithmetic(
            f"{ast.unparse(node)!r} is not taken; numbers, names, + - * / // % ** and {', '.join(sorted(FUNCTIONS))} are"
        )

    try:
        return float(walk(parse(text)))
    except NotArithmetic:
        raise
    except (ArithmeticError, ValueError, TypeError, RecursionError) as problem:
        raise NotArithmetic(f"{text!r} cannot be computed: {problem}") from None
