"""What a config says is what runs: no code changes its values on the way, and each reaches the argument it is meant for.

    config-overridden   a value of configs/ is set again in src/ (assignment, setattr, dataclasses.replace, update), or the surroundings decide
    config-crossed      an optimiser's argument is given the value of another of its arguments (lr=config.weight_decay)
    choice-differs      src/ builds another optimiser than the ledger decides

A statement whose own comment carries a flag is a decision that is told, and is left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paper2code.check.expression import dotted
from paper2code.check.ledger import NOT_APPLICABLE, OPTIMISERS, Ledger, name_key
from paper2code.check.names import full_name
from paper2code.check.repository import FLAG, Module, Repository
from paper2code.findings import Finding

HOLDS = re.compile(r"(?:^|_)(?:config|cfg|conf|settings|hparams|hp|hyperparameters|args|options)$", re.I)
LOADS = {"safe_load", "load", "loads", "full_load", "asdict", "vars", "to_dict"}
OPTIMISING = ("torch.optim.", "optax.")
ALSO = {"sgd": ("stochastic gradient", "momentum", "gradient descent"), "adamw": ("decoupled",)}


def check(repository: Repository, ledger: Ledger | None = None) -> list[Finding]:
    out: list[Finding] = []
    leaves = {path.rpartition(".")[2] for path in repository.values}
    keys = leaves | {part for path in repository.values for part in path.split(".")}
    for module in repository.modules:
        if module.tree is None:
            continue
        loaded = {
            target.id
            for node in module.nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and full_name(module, node.value.func).split(".")[-1] in LOADS
            for target in node.targets
            if isinstance(target, ast.Name)
        }  # fmt: skip
        for node in module.nodes:
            for said in (*overridden(module, node, leaves, keys, loaded), *crossed(module, node)):
                if not flagged(module, node):
                    out.append(said)
    return out + (optimiser(repository, ledger) if ledger is not None else [])


def flagged(module: Module, node: ast.AST) -> bool:
    statement = module.statement(node) or node
    return any(FLAG.search(mark.text) for mark in module.marks_on(statement.lineno, getattr(statement, "end_lineno", 0) or statement.lineno))


def of_config(node: ast.AST, loaded: set[str]) -> bool:
    """Whether an expression is the config or a part of it: `config`, `self.config.training`, `values["training"]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    name = dotted(node)
    return name is not None and (name in loaded or any(HOLDS.search(part) for part in name.split(".")))


def overridden(module: Module, node: ast.AST, leaves: set[str], keys: set[str], loaded: set[str]) -> Iterator[Finding]:
    def found(name: str) -> Finding:
        return Finding(
            "config-overridden",
            f"{name} is set again here, so that the config's value is not what runs",
            module.file,
            node.lineno,
            expected="one value, defined once, in configs/base.yaml",
            fix="change the value there (and its decision in the ledger), or flag the deviation on this statement: # [ASSUMPTION] uses X whereas …",
        )

    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                if isinstance(part, ast.Attribute) and part.attr in leaves and of_config(part.value, loaded):
                    yield found(part.attr)
                elif isinstance(part, ast.Subscript) and text_of(part.slice) in keys and of_config(part.value, loaded):
                    yield found(text_of(part.slice))
    elif isinstance(node, ast.Call):
        name = full_name(module, node.func).split(".")[-1]
        first = node.args[0] if node.args else None
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name in ("setattr", "__setattr__") and len(node.args) == 3:
            if text_of(node.args[1]) in leaves and of_config(first, loaded):
                yield found(text_of(node.args[1]))
        elif name in ("replace", "_replace", "update", "evolve", "model_copy"):
            held = first if name in ("replace", "evolve") else owner
            if held is not None and of_config(held, loaded):
                given = {key.arg for key in node.keywords if key.arg}
                for part in (*node.args, *(key.value for key in node.keywords)):
                    if isinstance(part, ast.Dict):
                        given |= {text_of(key) for key in part.keys}
                yield from (found(each) for each in sorted(given & keys - {None}))
        elif full_name(module, node.func) in ("os.getenv", "os.environ.get"):
            yield outside(module, node)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and full_name(module, node.value) == "os.environ":
        yield outside(module, node)


def outside(module: Module, node: ast.AST) -> Finding:
    return Finding(
        "config-overridden",
        "a variable of the environment decides here, which neither config nor ledger knows",
        module.file,
        node.lineno,
        expected="a value of configs/base.yaml",
        fix="move it there, with its anchor",
    )


def text_of(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def crossed(module: Module, node: ast.AST) -> Iterator[Finding]:
    if not isinstance(node, ast.Call) or not full_name(module, node.func).startswith(OPTIMISING):
        return
    names = {key.arg for key in node.keywords if key.arg}
    for key in node.keywords:
        for part in ast.walk(key.value):
            if isinstance(part, ast.Attribute) and part.attr in names - {key.arg} and of_config(part.value, set()):
                yield Finding(
                    "config-crossed",
                    f"{key.arg} is given the config's {part.attr}",
                    module.file,
                    node.lineno,
                    expected=f"{key.arg}=…{key.arg}",
                    fix="give each argument its own value",
                )


def optimiser(repository: Repository, ledger: Ledger) -> list[Finding]:
    """Whether src/ builds the optimiser that the ledger decides."""
    rows = [item for item in ledger.items if name_key(item.item) in ("optimiser", "optimizer") and item.status != NOT_APPLICABLE]
    text = " ".join(f"{item.quote} {item.using} {item.unclear} {item.value or ''}" for item in rows).lower()
    decided = {found.group().lower() for found in OPTIMISERS.finditer(text)}
    if not decided:
        return []
    built: dict[str, tuple[Module, ast.Call]] = {}
    for module in repository.modules:
        for node in module.nodes:
            if isinstance(node, ast.Call) and full_name(module, node.func).startswith(OPTIMISING):
                name = full_name(module, node.func).split(".")[-1]
                if OPTIMISERS.fullmatch(name) and not flagged(module, node):
                    built.setdefault(name.lower(), (module, node))
    if not built or any(name in decided or any(word in text for word in ALSO.get(name, ())) for name in built):
        return []
    name, (module, node) = next(iter(built.items()))
    return [
        Finding(
            "choice-differs",
            f"the ledger decides {' and '.join(sorted(decided))} ({rows[0].id}), the code builds {full_name(module, node.func)}",
            module.file,
            node.lineno,
            expected=" or ".join(sorted(decided)),
            fix="build what was decided; a deviation is a decision of its own, flagged here",
        )
    ]
