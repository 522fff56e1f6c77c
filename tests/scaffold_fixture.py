"""A small contribution of the bundled paper for each type, laid for each mode and framework, and filled as an agent would fill it.

Used by the tests and by `benchmarks/scaffolds.py`.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
from pathlib import Path

import nbformat
import yaml
from paper2code import files
from paper2code.check import contribution as contributions
from paper2code.check import everything, notebook
from paper2code.check.outcome import Outcome
from paper2code.paper import Paper
from paper2code.read import html
from paper2code.show import scaffold
from paper2code.workspace import Job, Workspace

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "staggered_gates"
BODIES = Path(__file__).with_name("fixtures") / "scaffolds"
TYPES, MODES, FRAMEWORKS = "abcdef", ("minimal", "full", "educational"), ("pytorch", "jax", "numpy")

BATCH, LOGITS = "(batch, n) int", "(batch, n, V)"
COMPONENTS = {
    "FeedForward": {"kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n, d)"}, "outputs": {"x": "(batch, n, d)"}},
    "objective": {
        "kind": "loss",
        "where": "§3.3",
        "equations": ["Eq. 5", "Eq. 6", "Eq. 7"],
        "inputs": {"z": LOGITS, "y": BATCH},
        "outputs": {"loss": "scalar"},
        "axes": ["softmax over V"],
    },
    "opening_gates": {"kind": "inference", "where": "§3.2", "equations": ["Eq. 3", "Eq. 4"], "inputs": {"t": "scalar int"}, "outputs": {"gates": "(L,)"}},
    "learning_rate": {"kind": "schedule", "where": "§4.2", "equations": ["Eq. 8"], "inputs": {"t": "scalar int"}, "outputs": {"rate": "scalar"}},
    "train": {"kind": "training", "where": "§4.2", "inputs": {"seed": "scalar int"}, "outputs": {"w": "(V,)"}},
    "draw_batch": {"kind": "data", "where": "§4.1", "inputs": {"size": "scalar int"}, "outputs": {"tokens": BATCH, "y": BATCH}},
    "evaluate": {"kind": "evaluation", "where": "§4.3", "inputs": {"guess": BATCH, "y": BATCH}, "outputs": {"exact_match": "scalar"}},
}
PARTS = {
    "a": ("FeedForward",),
    "b": ("objective", "learning_rate", "train"),
    "c": ("opening_gates",),
    "d": ("draw_batch", "evaluate"),
    "e": ("learning_rate", "train", "evaluate"),
    "f": ("opening_gates",),
}
# What full mode is given besides; train and draw_batch are left to the scaffold's stand-ins where they are not here.
FULL = {"a": ("learning_rate", "evaluate"), "b": ("evaluate",), "c": ("evaluate",)}
USES = {
    "FeedForward": ("model.d", "model.d_ff", "model.gelu_approximate"),
    "objective": ("loss.alpha", "loss.lambda_z"),
    "opening_gates": ("model.L", "schedule.ramp", "schedule.stagger"),
    "learning_rate": ("training.eta_0", "training.T"),
    "train": ("data.V", "training.batch_size", "training.T"),
    "draw_batch": ("data.V", "data.n"),
    "evaluate": (),
}
FILE = {
    "FeedForward": "src/model.py",
    "objective": "src/loss.py",
    "learning_rate": "src/train.py",
    "train": "src/train.py",
    "draw_batch": "src/data.py",
    "evaluate": "src/evaluate.py",
}
# Decisions of the example's ledger that belong to a component here.
CODE = {
    "loss": "objective",
    "smoothing-form": "objective",
    "cubic-step": "opening_gates",
    "first-step": "opening_gates",
    "schedule": "learning_rate",
    "warm-up": "learning_rate",
    "initialisation": "FeedForward",
    "dataset": "draw_batch",
    "target": "draw_batch",
    "preprocessing": "draw_batch",
    "metric-computation": "evaluate",
}
NAME = {
    "pytorch": ("torch.as_tensor", "value.detach().numpy() if torch.is_tensor(value) else np.asarray(value)"),
    "jax": ("jnp.asarray", "np.asarray(value)"),
    "numpy": ("np.asarray", "np.asarray(value)"),
}
MAKE = {"pytorch": "FeedForward(toy)", "jax": "FeedForward(toy, rngs=nnx.Rngs(0))", "numpy": "FeedForward(toy, np.random.default_rng(0))"}
RANDOM = {"pytorch": "torch.Generator().manual_seed(0)", "jax": "jax.random.key(0)", "numpy": "np.random.default_rng(0)"}
WEIGHTS = {
    "pytorch": "W_1, b_1, W_2, b_2 = (plain(p) for p in (part.W_1.weight.T, part.W_1.bias, part.W_2.weight.T, part.W_2.bias))",
    "jax": "W_1, b_1, W_2, b_2 = (plain(p[...]) for p in (part.W_1.kernel, part.W_1.bias, part.W_2.kernel, part.W_2.bias))",
    "numpy": "W_1, b_1, W_2, b_2 = part.W_1, part.b_1, part.W_2, part.b_2",
}


@functools.cache
def paper() -> Paper:
    return html.read((EXAMPLE / "paper" / "paper.html").read_bytes())


def names(type: str, mode: str) -> list[str]:
    """The components that the contribution lists."""
    return [*PARTS[type], *(name for name in (FULL.get(type, ()) if mode == "full" else ()) if name not in PARTS[type])]


def built(type: str, mode: str) -> set[str]:
    """All that will be in src/, stand-ins too."""
    return {*names(type, mode), *(("train", "draw_batch", "evaluate") if mode == "full" and type in "abe" else ())}


def file_of(name: str, type: str) -> str:
    return {"c": "src/inference.py", "f": "src/system.py"}.get(type, "src/train.py") if name == "opening_gates" else FILE[name]


def contribution(type: str, mode: str) -> dict:
    text = (EXAMPLE / "work" / "contribution.md").read_text(encoding="utf-8")
    out = yaml.safe_load(text.split("---\n")[1])
    rows = []
    for name in names(type, mode):
        kind = "system" if type == "f" and name == "opening_gates" else COMPONENTS[name]["kind"]
        rows.append({"name": name, **copy.deepcopy(COMPONENTS[name]), "kind": kind})
    cited = {equation for name in built(type, mode) for equation in COMPONENTS[name].get("equations", ())}
    missing = [equation for equation in ("Eq. 1", "Eq. 2", "Eq. 3", "Eq. 4", "Eq. 5", "Eq. 6", "Eq. 7", "Eq. 8") if equation not in cited]
    out["minimal_claim"]["check"] = "run the checks of the notebook"
    out |= {
        "type": type,
        "components": rows,
        "training_is_contribution": "train" in PARTS[type],
        "out_of_scope": [{"what": equation, "where": equation, "why": "not among the components of this fixture"} for equation in [*missing, "Algorithm 1"]],
    }
    return out


def ledger(type: str, mode: str) -> dict:
    out = yaml.safe_load((EXAMPLE / "work" / "ledger.yaml").read_text(encoding="utf-8"))
    there = built(type, mode)
    used = {path for name in there for path in USES[name]}
    for item in out["items"]:
        if item["status"] == "NOT_APPLICABLE" or item.get("config") in used:
            continue
        item.pop("config", None)
        item.pop("value", None)
        name = CODE.get(item["id"])
        item["code"] = f"{file_of(name, type)}:{name}" if name in there else "out of scope: not among the components of this fixture"
    out["relations"] = []
    return out


def workspace(folder: Path, type: str, mode: str, framework: str) -> Workspace:
    work = Workspace(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paper().save(work.paper_file)
    work.save_job(Job("paper.html", "paper.html", mode, framework))
    front = yaml.safe_dump(contribution(type, mode), sort_keys=False, allow_unicode=True)
    prose = (EXAMPLE / "work" / "contribution.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    files.write(work.contribution, f"---\n{front}---\n{prose}")
    files.write(work.ledger, yaml.safe_dump(ledger(type, mode), sort_keys=False, allow_unicode=True))
    return work


# --- filling ---------------------------------------------------------------------------------------------------------------------


def definitions(tree: ast.Module) -> dict[str, ast.AST]:
    """Qualified name → function."""
    out = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            out[node.name] = node
        elif isinstance(node, ast.ClassDef):
            out |= {f"{node.name}.{part.name}": part for part in node.body if isinstance(part, ast.FunctionDef)}
    return out


def fill_file(path: Path, framework: str) -> None:
    """Write the bodies of the fixture over what says FILL IN, and the imports that they need."""
    source = (BODIES / f"{framework}.py").read_text(encoding="utf-8")
    rows = source.splitlines()
    bodies = definitions(ast.parse(source))
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"FILL IN: what it is for, and what breaks without it\.", "without it the paper's claim could not be checked.", text)
    lines = text.splitlines()
    for name, node in sorted(definitions(ast.parse(text)).items(), key=lambda entry: -entry[1].lineno):
        last = node.body[-1]
        if not (isinstance(last, ast.Raise) and "FILL IN" in ast.unparse(last)):
            continue
        body = bodies[name]
        first = body.body[0].lineno - 1
        while rows[first - 1].strip().startswith("#"):
            first -= 1
        new = rows[first : body.end_lineno]
        if any("super().__init__()" in row for row in new):
            new = [row for row in new if "super().__init__()" not in row]
        lines[last.lineno - 1 : last.end_lineno] = new
        if "config" not in "\n".join(new):
            at = node.lineno - 1
            lines[at] = lines[at].replace(", config: Config", "")
    text = "\n".join(lines) + "\n"
    here = ast.parse(text)
    used = {node.id for node in ast.walk(here) if isinstance(node, ast.Name)} | set(re.findall(r"\b(Config|Tensor)\b", re.sub(r"from src.*", "", text)))
    bound = {(alias.asname or alias.name).split(".")[0] for node in here.body if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    needed = [
        ast.unparse(node)
        for node in ast.parse(source).body
        if isinstance(node, (ast.Import, ast.ImportFrom)) and any((alias.asname or alias.name).split(".")[0] in used - bound for alias in node.names)
    ]
    needed = [re.sub(r"from torch import nn$", "from torch import nn", line) for line in needed]
    if "optax" in used - bound:
        needed.append("import optax")
    if "load_config" in used - bound and "def load_config" not in text:
        needed.append("from src.utils import load_config")
    if needed:
        text = text.replace("from __future__ import annotations\n", "from __future__ import annotations\n\n" + "\n".join(needed) + "\n", 1)
    if not re.search(r"\bConfig\b", re.sub(r"(?m)^from src\.utils import.*", "", text)):
        text = re.sub(r"(?m)^from src\.utils import Config\n+", "", text)
    path.write_text(text, encoding="utf-8", newline="\n")


def check_cells(framework: str) -> dict[str, str]:
    text = (BODIES / "checks.py").read_text(encoding="utf-8")
    out = {}
    for part in re.split(r"(?m)^# %% ", text)[1:]:
        name, _, body = part.partition("\n")
        for key, value in (("{FeedForward}", MAKE[framework]), ("{random}", RANDOM[framework]), ("{weights}", WEIGHTS[framework])):
            body = body.replace(key, value)
        out[name.strip()] = body.strip()
    return out


def fill(folder: Path, framework: str) -> None:
    for path in sorted((folder / "src").glob("*.py")):
        fill_file(path, framework)
    for path in folder.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        path.write_text(
            re.sub(r"FILL IN: [^\n]*", "Written for this fixture: nothing deviates from §4.2, and Table 1 has the numbers.", text), encoding="utf-8"
        )
    from paper2code.show import walkthrough

    walkthrough.refresh(folder / notebook.FILE)
    book, cells = nbformat.read(folder / notebook.FILE, 4), check_cells(framework)
    made, plain = NAME[framework]
    for cell in book.cells:
        own = cell.metadata.get("paper2code", {})
        if own.get("id") == "config":
            cell.source += f"\nmade = {made}\n\n\ndef plain(value):\n    return {plain}"
        elif "FILL IN" in cell.source and own.get("id") in cells:
            cell.source = cells[own["id"]]
        elif cell.cell_type == "markdown":
            cell.source = re.sub(r"FILL IN: [^\n]*", "Written for this fixture.", cell.source)
    nbformat.write(book, folder / notebook.FILE)


def lay(folder: Path, type: str, mode: str, framework: str) -> tuple[Workspace, Path]:
    work = workspace(folder / "work", type, mode, framework)
    scaffold.lay(work, folder / "result")
    return work, folder / "result"


def gate_4(work: Workspace, result: Path) -> Outcome:
    return everything.check(result, work.paper(), work=work, contribution=contributions.read(work.contribution)[0])


def gate_5(work: Workspace, result: Path, python: Path, *, mutants: bool) -> Outcome:
    told, job = contributions.read(work.contribution)[0], work.job()
    return notebook.examine(result, work.paper(), told.components, mode=job.mode, framework=job.framework, python=python, mutants=mutants)
