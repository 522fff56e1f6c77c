"""Shape comments on tensor operations.

What counts as a **tensor operation** (and so needs a shape comment): a statement inside a function, in a module that imports a
tensor library, that binds or returns a value and whose expression holds `@`, a call of one of `SHAPING` (view, reshape,
transpose, matmul, einsum, cat, softmax, sum with an axis …), or a call of a submodule (`self.attention(x)`). A **shape
comment** is a parenthesised or bracketed list of dimensions such as `(batch, n_heads, length, d_k)`, `(B,)`, `()` or the word
scalar, on the statement's lines or the line above it; an einops or einsum pattern says the shapes itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paper2code.check.bodies import FUNCTIONS
from paper2code.check.flags import QUOTED
from paper2code.check.names import TENSOR_LIBRARIES, full_name, imported, library
from paper2code.check.repository import Module, end
from paper2code.findings import Finding

SHAPING = set(
    """
    view reshape transpose permute swapaxes moveaxis matmul bmm mm einsum dot tensordot cat concat concatenate stack split
    chunk unbind unsqueeze squeeze expand expand_dims broadcast_to repeat tile repeat_interleave flatten unflatten gather
    take_along_axis index_select softmax log_softmax logsumexp cumsum cumprod linear conv1d conv2d conv3d
    dot_product_attention scaled_dot_product_attention pad roll outer rearrange reduce mean sum norm one_hot embedding
    masked_fill tril triu topk sort argsort multinomial cross_entropy interpolate unfold fold cdist logdet inv solve
""".split()
)

SHAPE = re.compile(
    r"\(\s*\)|\(\s*[^()\"']{0,60}?,[^()\"']{0,80}\)|\([^()\s,]{1,20}\)\s*(?:->|→)"
    r"|\[\s*[A-Za-z_*.\d]+\s*(?:,[^\]\"']{0,80})?\](?!\()"
    r"|\bscalar\b|(?:->|→)\s*\(|\bFloat\[|\bInt\[|\b\w+ x \w+\b|\bsame shape\b|\bshape:?\s*\("
)


def shaping(module: Module, node: ast.Call) -> bool:
    """Whether a call is a tensor operation by the definition at the top of this module."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in SHAPING:
        return False
    if isinstance(node.func, ast.Name):
        return imported(module).get(name, "").split(".")[0] in TENSOR_LIBRARIES
    root = full_name(module, node.func).split(".")[0]
    if root in ("re", "os", "str", "json", "random", "string", "itertools", "math", "functools", "Path"):
        return False
    if name in ("split", "sum", "mean", "sort", "index_select", "reduce", "repeat", "norm", "fold", "pad") and root not in TENSOR_LIBRARIES:
        return any(key.arg in ("dim", "axis", "axes") for key in node.keywords) or (
            name not in ("split", "sort") and bool(node.args) and not is_text(node.args[0])
        )
    return not (node.args and is_text(node.args[0]) and name not in ("einsum", "rearrange", "reduce"))


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, str)


def submodules(module: Module) -> dict[str, set[str]]:
    """Class name → attributes that its __init__ or setup binds to a call (its layers)."""
    out: dict[str, set[str]] = {}
    for node in module.definitions:
        if isinstance(node, ast.ClassDef):
            names = out.setdefault(node.name, set())
            for part in node.body:
                if isinstance(part, FUNCTIONS) and part.name in ("__init__", "setup"):
                    for at in ast.walk(part):
                        if isinstance(at, ast.Assign) and isinstance(at.value, ast.Call) and isinstance(at.targets[0], ast.Attribute):
                            called = at.value.func.attr if isinstance(at.value.func, ast.Attribute) else getattr(at.value.func, "id", "")
                            if called[:1].isupper():
                                names.add(at.targets[0].attr)
    return out


def tensor_statements(module: Module) -> Iterator[ast.stmt]:
    """The statements that need a shape comment."""
    if module.tree is None or not library(module):
        return
    layers = submodules(module)
    for statement in module.statements:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)) or statement.value is None:
            continue
        holders = list(module.enclosing(statement))
        function = next((holder for holder in holders if isinstance(holder, FUNCTIONS)), None)
        if function is None or function.name in ("__init__", "setup") or isinstance(statement.value, ast.Lambda):
            continue
        owner = next((holder.name for holder in holders if isinstance(holder, ast.ClassDef)), "")
        for at in ast.walk(statement.value):
            if isinstance(at, ast.BinOp) and isinstance(at.op, ast.MatMult):
                yield statement
                break
            if isinstance(at, ast.Call):
                mine = (
                    isinstance(at.func, ast.Attribute)
                    and isinstance(at.func.value, ast.Name)
                    and at.func.value.id == "self"
                    and at.func.attr in layers.get(owner, ())
                )
                if mine or shaping(module, at):
                    yield statement
                    break


def shapes(module: Module) -> tuple[list[Finding], int]:
    """Every tensor operation has a shape comment; how many were looked at."""
    out: list[Finding] = []
    looked = 0
    for statement in tensor_statements(module):
        looked += 1
        lines = range(statement.lineno - 1, end(statement) + 1)
        near = [module.comments[line][0] for line in lines if line in module.comments and (line >= statement.lineno or module.comments[line][1])]
        pattern = any(
            is_text(at) and re.search(r"->", getattr(at, "value", "") if isinstance(getattr(at, "value", ""), str) else "") for at in ast.walk(statement.value)
        )
        if not pattern and not any(SHAPE.search(re.sub(QUOTED, " ", text)) for text in near):
            name = ast.unparse(statement).splitlines()[0][:60]
            out.append(
                Finding(
                    "code-shape",
                    f"no shape comment on the tensor operation: {name}",
                    module.file,
                    statement.lineno,
                    expected="# (batch, length, d_model) at the end of the line",
                    fix="write the shape of the result in the paper's symbols",
                )
            )
    return out, looked
