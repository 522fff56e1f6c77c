"""Imports and names: absolute, there, listed in requirements.txt with bounds; nothing undefined."""

from __future__ import annotations

import ast
import builtins
import difflib
import re
import symtable
import sys

from paper2code.check.bodies import FUNCTIONS
from paper2code.check.repository import Module, Repository
from paper2code.findings import Finding

TENSOR_LIBRARIES = {"torch", "jax", "numpy", "flax", "tensorflow", "einops", "optax", "keras"}


def imported(module: Module) -> dict[str, str]:
    """Local name → full dotted name of what the module imports."""
    if "imported" in module.__dict__:
        return module.__dict__["imported"]
    out: dict[str, str] = {}
    for node in module.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                out[alias.asname or alias.name.split(".")[0]] = alias.name if alias.asname else alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                out[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    module.__dict__["imported"] = out
    return out


def full_name(module: Module, node: ast.AST) -> str:
    """The dotted name of what is called, with imports resolved: `nn.Linear` is torch.nn.Linear."""
    trail: list[str] = []
    while isinstance(node, ast.Attribute):
        trail.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ".".join(["?", *reversed(trail)])
    root = imported(module).get(node.id, node.id)
    return ".".join([root, *reversed(trail)])


def library(module: Module) -> bool:
    return any(name.split(".")[0] in TENSOR_LIBRARIES for name in imported(module).values())

PACKAGES = {
    "yaml": "pyyaml",
    "PIL": "pillow",
    "sklearn": "scikit-learn",
    "cv2": "opencv-python",
    "skimage": "scikit-image",
    "nltk": "nltk",
    "google.protobuf": "protobuf",
    "dateutil": "python-dateutil",
    "flax": "flax",
}


def requirements(repository: Repository) -> tuple[dict[str, int], list[Finding]]:
    """Package → line of requirements.txt, and what is wrong with the file."""
    out: dict[str, int] = {}
    findings: list[Finding] = []
    name = "requirements.txt"
    for number, line in enumerate((repository.text(name) or "").splitlines(), 1):
        plain = line.split("#")[0].strip()
        if not plain or plain.startswith("-"):
            continue
        match = re.match(r"([A-Za-z0-9][\w.-]*)(\[[^\]]*\])?\s*(.*)", plain)
        if not match:
            findings.append(Finding("requirements-form", f"{plain!r} is no requirement", name, number, expected="torch>=2.4,<3"))
            continue
        package = re.sub(r"[-_.]+", "-", match.group(1)).lower()
        out[package] = number
        bounds = match.group(3).split(";")[0]
        if not re.search(r"==|~=|<|@", bounds):
            findings.append(
                Finding(
                    "requirements-unpinned",
                    f"{plain!r} has no upper bound, so it pins nothing",
                    name,
                    number,
                    expected=f"{match.group(1)}>=X,<Y",
                    fix="bound it below the next major version",
                )
            )
    return out, findings


def imports(repository: Repository) -> list[Finding]:
    """Imports are absolute, resolve, and are listed in requirements.txt; excluded libraries are absent."""
    packages, out = requirements(repository)
    local = {re.sub(r"(/__init__)?\.py$", "", module.file).replace("/", "."): module for module in repository.modules}
    folders = {name.rsplit("/", 1)[0].replace("/", ".") for name in repository.files if name.endswith(".py") and "/" in name}
    for module in repository.modules:
        for node in module.nodes:
            if isinstance(node, ast.ImportFrom) and node.level:
                out.append(
                    Finding(
                        "code-import",
                        "a relative import",
                        module.file,
                        node.lineno,
                        expected="from src.model import …",
                        fix="write the module's full name",
                    )
                )
                continue
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
                out.append(
                    Finding(
                        "code-import",
                        f"from {node.module} import * hides where names come from",
                        module.file,
                        node.lineno,
                        expected="the names that are used",
                    )
                )
                continue
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                top = name.split(".")[0]
                if name in local or name in folders or top in {path.split(".")[0] for path in local} and repository.ours and top == "src":
                    if name not in local and name not in folders:
                        out.append(
                            Finding(
                                "code-import",
                                f"there is no module {name}",
                                module.file,
                                node.lineno,
                                expected=", ".join(sorted(local)) or "a module of src/",
                            )
                        )
                    elif isinstance(node, ast.ImportFrom) and name in local and local[name].tree:
                        defined = top_names(local[name])
                        for alias in node.names:
                            if alias.name not in defined and f"{name}.{alias.name}" not in local:
                                near = difflib.get_close_matches(alias.name, defined, n=1)
                                out.append(
                                    Finding(
                                        "code-import",
                                        f"{local[name].file} defines no {alias.name}",
                                        module.file,
                                        node.lineno,
                                        expected=near[0] if near else "a name that is there",
                                    )
                                )
                    continue
                if top in sys.stdlib_module_names or top in {path.split(".")[-1] for path in local} and not repository.ours:
                    continue
                if not repository.ours:
                    continue
                package = re.sub(r"[-_.]+", "-", PACKAGES.get(top, top)).lower()
                known = packages.keys() | {"jaxlib"} if "jax" in packages else packages.keys()
                if package not in known and package != "src":
                    out.append(
                        Finding(
                            "code-import",
                            f"{top} is imported but not in requirements.txt",
                            module.file,
                            node.lineno,
                            expected=f"{package}>=X,<Y in requirements.txt",
                        )
                    )
    return out


def top_names(module: Module) -> set[str]:
    """Names that a module binds at its top."""
    out: set[str] = set()
    for node in module.tree.body:
        for at in ast.walk(node) if isinstance(node, (ast.If, ast.Try, ast.With)) else [node]:
            if isinstance(at, (*FUNCTIONS, ast.ClassDef)):
                out.add(at.name)
            elif isinstance(at, (ast.Assign, ast.AnnAssign)):
                targets = at.targets if isinstance(at, ast.Assign) else [at.target]
                out |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
            elif isinstance(at, (ast.Import, ast.ImportFrom)):
                out |= {(alias.asname or alias.name).split(".")[0] for alias in at.names}
    return out


def undefined(module: Module) -> list[Finding]:
    """Names that nothing defines: a broken import, a typing error."""
    if module.tree is None or any(isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names) for node in module.nodes):
        return []
    try:
        top = symtable.symtable(module.text, module.file, "exec")
    except (SyntaxError, ValueError):
        return []
    known = (
        {name for name in top.get_identifiers() if top.lookup(name).is_assigned() or top.lookup(name).is_imported() or top.lookup(name).is_namespace()}
        | set(dir(builtins))
        | {"__file__", "__name__", "__doc__", "__annotations__"}
    )
    missing: set[str] = set()

    def walk(table: symtable.SymbolTable) -> None:
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if (
                symbol.is_referenced()
                and name not in known
                and not symbol.is_assigned()
                and not symbol.is_imported()
                and not symbol.is_parameter()
                and (symbol.is_global() or table is top)
                and not symbol.is_free()
            ):
                missing.add(name)
            if symbol.is_global() and symbol.is_assigned():
                known.add(name)
        for child in table.get_children():
            walk(child)

    walk(top)
    first: dict[str, int] = {}
    for node in module.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in missing:
            first[node.id] = min(first.get(node.id, node.lineno), node.lineno)
    return [
        Finding("code-undefined", f"nothing defines or imports {name}", module.file, line, expected="an import or a definition") for name, line in first.items()
    ]
