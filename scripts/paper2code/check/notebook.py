"""Gate 5: the walkthrough notebook. It is whole, shows the code that is in src/, asserts, runs from start to end, and its checks bite.

The notebook runs in a copy of the result, in an environment that has the framework, under limits of time and memory, without
network where the system can do that. Then small seeded faults are put into src/, one at a time: the checks must notice each
component's.
"""

from __future__ import annotations

import ast
import json
import os
import random
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from paper2code import cli, environment, files
from paper2code.check import against as papers
from paper2code.check import anchors, contribution, mutate, supervise
from paper2code.check.bodies import placeholder
from paper2code.check.outcome import Outcome
from paper2code.findings import WARNING, Finding, errors
from paper2code.paper import Paper
from paper2code.workspace import Workspace

FILE = "notebooks/walkthrough.ipynb"
INSIDE = Path(__file__).with_name("inside")
SECONDS, MEMORY = 300.0, 4_000_000_000
MUTANT_SECONDS, EACH, MOST_MUTANTS = 270.0, 2, 40
MOST_OUTPUT = 2_000_000
LARGEST = 20_000_000  # bytes of a notebook that is read
EXTRAS = {"pytorch": "torch", "jax": "jax", "numpy": ""}
PRELOAD = {"pytorch": ["torch", "yaml"], "jax": ["jax", "flax.nnx", "optax", "yaml"], "numpy": ["numpy", "yaml"]}
SECTIONS = (("set-up", r"set-?up"), ("configuration", r"configuration"), ("common pitfalls", r"pitfalls"))
EDUCATIONAL = (("background", r"background"), ("what if", r"what[ -]if"), ("further reading", r"further reading"))
SHOWN = re.compile(r"`([A-Za-z_]\w*)` as it stands in `(src/[\w./-]+\.py)`")
FENCE = re.compile(r"(`{3,})python\n(.*?)\n\1", re.S)
ASSERTING = re.compile(r"^(assert|check|verify)|assert_|^raises$")
DEVICES = re.compile(r"\.cuda\(|\bdevice\s*=\s*['\"](cuda|gpu|mps|tpu)|\.to\(\s*['\"](cuda|mps)|jax\.devices\(\s*['\"](gpu|tpu)")
NETWORK = {
    "requests",
    "urllib",
    "http",
    "socket",
    "ftplib",
    "wget",
    "gdown",
    "huggingface_hub",
    "datasets",
    "aiohttp",
    "httpx",
    "torchvision.datasets",
    "tensorflow_datasets",
}
INSTALLS = re.compile(r"^\s*(!|%)\s*(pip|conda|apt|curl|wget|git)\b|^\s*!", re.M)


@dataclass
class Book:
    """A notebook read once. `cells`: (index, kind, text, what its metadata says of how it was laid)."""

    path: Path
    node: nbformat.NotebookNode
    cells: list[tuple[int, str, str, dict]] = field(default_factory=list)

    def code(self) -> list[tuple[int, str, dict]]:
        return [(at, text, laid) for at, kind, text, laid in self.cells if kind == "code"]


def name_of(at: int, text: str) -> str:
    """A cell as a person finds it: its number among all cells and its first line."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return f"cell {at + 1} ({first[:60]})"


def read(result: Path) -> tuple[Book | None, list[Finding]]:
    """The notebook of a result, and what keeps it from being one."""
    path = result / FILE
    if not path.is_file():
        return None, [Finding("notebook-missing", f"there is no {FILE}", FILE, fix="lay_scaffold.py WORK lays it, with its checks")]
    if path.stat().st_size > LARGEST:
        return None, [
            Finding("notebook-too-large", f"{path.stat().st_size:,} bytes; at most {LARGEST:,} are read", FILE, fix="clear its outputs")
        ]
    try:
        node = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        nbformat.validate(node)
    except Exception as problem:  # noqa: BLE001 - nbformat and jsonschema raise many kinds, each says what is wrong
        first = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
        return None, [
            Finding("notebook-form", f"not a notebook of format 4: {first[:300]}", FILE, expected="what Jupyter or nbformat writes")
        ]
    cells = []
    for at, cell in enumerate(node.cells):
        laid = cell.metadata.get("paper2code")
        cells.append((at, cell.cell_type, cell.source, dict(laid) if isinstance(laid, dict) else {}))
    return Book(path, node, cells), []


# --- what can be seen without running it ---------------------------------------------------------------------------------------


def structure(book: Book, components: list, mode: str) -> list[Finding]:
    """The sections that the mode asks for, a section and a check for each component, nothing left to fill in."""
    out: list[Finding] = []
    headings = [found for _, kind, text, _ in book.cells if kind == "markdown" for found in re.findall(r"(?m)^#{1,6}\s+(.*)", text)]
    for name, pattern in (*SECTIONS, *(EDUCATIONAL if mode == "educational" else ())):
        if not any(re.search(pattern, heading, re.I) for heading in headings):
            out.append(
                Finding(
                    "notebook-section",
                    f"there is no section {name!r}",
                    FILE,
                    expected=f"a heading ## {name.capitalize()}",
                    fix="lay_scaffold.py WORK lays it again",
                )
            )
    used = used_by_checks(book)
    for part in components:
        if not any(re.search(rf"(?<!\w){re.escape(part.name)}(?!\w)", heading) for heading in headings):
            out.append(Finding("notebook-section", f"no section is about {part.name}", FILE, expected=f"## {part.name}: {part.where}"))
        if part.name not in used:
            out.append(
                Finding(
                    "notebook-unchecked",
                    f"no check uses {part.name}",
                    FILE,
                    expected=f"a cell with assertions that calls {part.name}, or asserts on what another cell made of it",
                    fix="write one: a shape, a reference formula, a closed form",
                )
            )
    for at, _, text, _ in book.cells:
        if placeholder(text):
            out.append(Finding("notebook-placeholder", f"{name_of(at, text)} is still to be written", FILE, fix=told(text) or "write it"))
    return out


def used_by_checks(book: Book) -> set[str]:
    """Names that asserting cells use, and the names of which the cells before them made what they use."""
    used: set[str] = set()
    wanted: set[str] = set()  # by what comes later, and not made since
    for _, text, _ in reversed(book.code()):
        try:
            body = ast.parse(re.sub(r"(?m)^\s*%.*$", "", text)).body
        except (SyntaxError, ValueError):
            continue
        asserting = checks(text) > 0
        for statement in reversed(body):
            names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
            made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
            made |= {statement.name} if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else set()
            if asserting or made & wanted:
                needed = {node.id for node in names if isinstance(node.ctx, ast.Load)}
                used |= needed
                wanted = (wanted - made) | needed
    return used


def told(text: str) -> str:
    """What a placeholder asks for."""
    found = re.search(r"FILL IN:?\s*([^\"\n]+)", text)
    return found.group(1).strip() if found else ""


def names_in(text: str) -> set[str]:
    try:
        return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError):
        return set()


def checks(text: str) -> int:
    """How many assertions a cell makes that can fail."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return 0
    count = 0
    for node in nodes:
        if isinstance(node, ast.Assert):
            count += not isinstance(node.test, ast.Constant)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            count += bool(ASSERTING.search(name))
    return count


def code_cells(book: Book) -> tuple[list[Finding], int]:
    """Each code cell parses, asserts where it is a check, and reaches for nothing outside; how many checks there are."""
    out: list[Finding] = []
    found = 0
    for at, text, laid in book.code():
        if INSTALLS.search(text):
            out.append(
                Finding(
                    "notebook-shell",
                    f"{name_of(at, text)} runs a command of the shell",
                    FILE,
                    expected="Python alone",
                    fix="requirements.txt says what to install",
                )
            )
            continue
        plain = re.sub(r"(?m)^\s*%.*$", "", text)
        try:
            tree = ast.parse(plain)
        except SyntaxError as problem:
            out.append(Finding("notebook-syntax", f"{name_of(at, text)} does not parse: {problem.msg} (its line {problem.lineno})", FILE))
            continue
        number = checks(plain)
        found += number > 0
        if laid.get("role") == "check" and not number and "FILL IN" not in text:
            out.append(
                Finding(
                    "notebook-no-assertion",
                    f"{name_of(at, text)} asserts nothing",
                    FILE,
                    expected="assert …, with values",
                    fix="a print shows, an assertion checks",
                )
            )
        for node in ast.walk(tree):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            for name in names:
                if name in NETWORK or name.split(".")[0] in NETWORK:
                    out.append(
                        Finding(
                            "notebook-network",
                            f"{name_of(at, text)} imports {name}",
                            FILE,
                            expected="no data and no network",
                            fix="make up inputs",
                        )
                    )
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "input":
                out.append(Finding("notebook-input", f"{name_of(at, text)} waits for input", FILE, fix="write the value"))
        if DEVICES.search(plain):
            out.append(
                Finding("notebook-device", f"{name_of(at, text)} asks for a GPU", FILE, expected="CPU", fix="toy sizes run on a CPU")
            )
    return out, found


def shown(book: Book, result: Path) -> tuple[list[Finding], int]:
    """The code that is shown is the code in src/, by syntax tree; how many pieces were compared."""
    out: list[Finding] = []
    looked = 0
    for at, kind, text, laid in book.cells:
        named = SHOWN.search(text) if kind == "markdown" else None
        if not named:
            if laid.get("role") == "shown":
                out.append(
                    Finding(
                        "notebook-shown",
                        f"{name_of(at, text)} no longer says what it shows",
                        FILE,
                        expected="`Name` as it stands in `src/file.py`:",
                        fix="lay_scaffold.py WORK renders it again",
                    )
                )
            continue
        looked += 1
        name, file = named.groups()
        fence = FENCE.search(text)
        now = definition(result / file, name)
        if now is None:
            out.append(
                Finding("notebook-shown", f"{file} has no {name}, which {name_of(at, text)} shows", FILE, fix="lay_scaffold.py WORK")
            )
            continue
        try:
            same = fence is not None and ast.dump(ast.parse(fence.group(2)).body[0]) == ast.dump(now)
        except (SyntaxError, IndexError, ValueError):
            same = False
        if not same:
            out.append(
                Finding(
                    "notebook-drift",
                    f"{name} as shown is not {name} as it stands in {file}",
                    FILE,
                    fix="lay_scaffold.py WORK renders it again",
                )
            )
    return out, looked


def definition(path: Path, name: str) -> ast.stmt | None:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None
    return next((node for node in tree.body if getattr(node, "name", None) == name), None)


def quotes(book: Book, against: papers.Against, outcome: Outcome) -> None:
    """The quotes of the notebook's own text, as those of the code are: places exist, quotes are true. Shown code is left to src/."""
    found, problems = anchors.scan_file(book.path, FILE)
    told_of = {number + 1 for number, kind, text, laid in book.cells if kind == "markdown" and SHOWN.search(text)}
    outcome.add([problem for problem in problems if not problem.check.startswith("quote-unclosed")])
    looked = 0
    for anchor in found:
        if not anchor.place or anchor.cell in told_of:
            continue
        looked += 1
        verdict = against.judge(anchor.place, anchor.quote or "")
        outcome.anchors.append(papers.entry(FILE, anchor.line, anchor.place, anchor.kind, verdict))
        if finding := papers.verdict_finding(verdict, FILE, anchor.line):
            outcome.findings.append(finding)
    outcome.looked["quotes and places"] += looked


# --- running it ------------------------------------------------------------------------------------------------------------------


def private(scratch: Path) -> dict[str, str]:
    """The environment variables of a run: nothing of the user's but what the system needs; every folder of its own."""
    keep = {
        key: value
        for key, value in os.environ.items()
        if key in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH")
    }
    home = str(scratch)
    return {
        **keep,
        "HOME": home,
        "USERPROFILE": home,
        "TMPDIR": home,
        "JUPYTER_CONFIG_DIR": home,
        "JUPYTER_DATA_DIR": home,
        "JUPYTER_RUNTIME_DIR": home,
        "IPYTHONDIR": home,
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": home,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "JAX_PLATFORMS": "cpu",
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
    }


def copy_of(result: Path, folder: Path) -> Path:
    """A copy of what the notebook needs of a result."""
    copy = folder / "result"
    copy.mkdir(parents=True)
    for name in ("src", "configs", "notebooks"):
        if (result / name).is_dir():
            shutil.copytree(result / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "*.part"))
    return copy


def python_for(framework: str) -> Path:
    extra = EXTRAS.get(framework, "")
    return environment.interpreter(*([extra] if extra else []), "notebook", base=True)


def run(book: Book, result: Path, python: Path, outcome: Outcome, *, seconds: float = SECONDS, memory: int = MEMORY) -> bool:
    """Run the notebook from start to end, keep its outputs, and say what failed; whether it ran through."""
    with tempfile.TemporaryDirectory(prefix="p2c-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        copy, scratch, done = copy_of(result, folder), folder / "s", folder / "done.ipynb"
        scratch.mkdir()
        ended = supervise.run(
            [str(python), "-s", str(INSIDE / "run_notebook.py"), str(copy / FILE), str(done), str(scratch), str(MOST_OUTPUT)],
            cwd=copy,
            seconds=seconds,
            memory=memory,
            environ=private(scratch),
            scratch=folder,
        )
        outcome.counts |= {"seconds": round(ended.seconds, 1), "peak MB": round(ended.peak / 1e6)}
        if ended.network:
            outcome.notes.append("the system has no namespaces for plain users: the network was forbidden by the guard alone")
        if ended.stopped:
            outcome.findings.append(
                Finding(
                    "notebook-stopped",
                    f"the notebook was stopped: {ended.stopped}",
                    FILE,
                    expected=f"at most {seconds:g} s and {memory / 1e9:g} GB",
                    fix="smaller toy sizes, not fewer checks",
                )
            )
            return False
        try:
            failure = json.loads(ended.out.strip().splitlines()[-1])
        except (ValueError, IndexError):
            last = "\n".join(ended.err.strip().splitlines()[-4:])
            outcome.findings.append(
                Finding("notebook-not-run", f"the notebook could not be run: {last[-600:] or f'exit code {ended.code}'}", FILE)
            )
            return False
        text = done.read_text(encoding="utf-8") if done.is_file() else ""
        if text:
            text = text.replace(str(folder), "…")
            if text != book.path.read_text(encoding="utf-8"):
                files.write(book.path, text)
        if failure:
            at = failure.get("cell", 0)
            source = book.cells[at][2] if 0 <= at < len(book.cells) else ""
            trace = [line for line in re.sub(r"\x1b\[[\d;]*m", "", failure.get("traceback", "")).strip().splitlines() if line.strip()]
            outcome.findings.append(
                Finding(
                    "notebook-cell-failed",
                    f"{name_of(at, source)}: {failure['name']}: {failure['value'][:300]}",
                    FILE,
                    fix="decide from the paper which side is wrong, the check or src/",
                    evidence="\n".join(trace[-6:])[-800:] or None,
                )
            )
            return False
    return True


def bites(
    book: Book,
    result: Path,
    components: list,
    python: Path,
    framework: str,
    outcome: Outcome,
    *,
    each: int = EACH,
    seed: int = 0,
    seconds: float = MUTANT_SECONDS,
    memory: int = MEMORY,
) -> None:
    """Put seeded faults into src/, one at a time, and see whether the notebook notices: first into the components, then one into each
    other function and class, as far as the time goes."""
    made: list[mutate.Mutant] = []
    beside: list[mutate.Mutant] = []
    names = [part.name for part in components]
    for path in sorted((result / "src").rglob("*.py")):
        file = path.relative_to(result).as_posix()
        try:
            text = path.read_text(encoding="utf-8")
            others = [node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name not in names]
        except (SyntaxError, ValueError):
            continue  # gate 4 says so
        made += mutate.mutants(file, text, names, each=max(each, -(-mutate.WANTED // max(1, len(names)))), seed=seed)
        beside += mutate.mutants(file, text, others, each=1, seed=seed)
    made = made[:MOST_MUTANTS]
    room = max(0, MOST_MUTANTS - len(made))
    made += beside if len(beside) <= room else random.Random(seed).sample(beside, room)  # from all files alike
    if made:
        cli.say(f"planting {len(made)} faults in src/, one run of the notebook each: at most {MUTANT_SECONDS:.0f} s")
    if not made:
        outcome.findings.append(
            Finding(
                "notebook-no-mutants", "nothing in src/ could be altered, so it is not shown that the checks bite", FILE, severity=WARNING
            )
        )
        return
    with tempfile.TemporaryDirectory(prefix="p2c-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        copy, scratch = copy_of(result, folder), folder / "s"
        scratch.mkdir()
        cells = [{"text": re.sub(r"(?m)^(\s*)%.*$", r"\1pass", text), "part": str(laid.get("part", "")) if laid.get("role") == "check" else ""}
                 for _, text, laid in book.code()]
        job = {
            "root": str(copy),
            "cells": cells,
            "preload": PRELOAD.get(framework, []),
            "scratch": str(scratch),
            "seconds": seconds,
            "memory": memory,
            "mutants": [{"id": f"{at}", "name": mutant.name, "file": mutant.file, "text": mutant.text} for at, mutant in enumerate(made)],
        }
        files.write_json(folder / "job.json", job)
        ended = supervise.run(
            [str(python), "-s", str(INSIDE / "run_mutants.py"), str(folder / "job.json")],
            cwd=copy,
            seconds=seconds + 30,
            memory=2 * memory,
            environ=private(scratch),
            scratch=folder,
        )
    states = {}
    for line in ended.out.splitlines():
        try:
            row = json.loads(line)
            states[row["id"]] = row
        except (ValueError, KeyError, TypeError):
            continue
    if states.get("", {}).get("state") != "survived":
        why = states.get("", {}).get("error") or ended.err.strip()[-300:] or ended.stopped
        outcome.findings.append(
            Finding(
                "notebook-not-plain",
                f"as plain Python, cell after cell, the notebook fails: {why}",
                FILE,
                fix="leave out what only Jupyter understands",
            )
        )
        return
    killed = [mutant for at, mutant in enumerate(made) if states.get(str(at), {}).get("state") in ("killed", "slow")]
    survived = [mutant for at, mutant in enumerate(made) if states.get(str(at), {}).get("state") == "survived"]
    skipped = len(made) - len(killed) - len(survived)
    caught = {mutant.name for mutant in killed}
    inside = [sum(mutant.name in names for mutant in some) for some in (killed, survived)]
    outcome.counts |= {
        "faults tried": sum(inside),
        "faults noticed": inside[0],
        "mutation seconds": round(ended.seconds, 1),
    }
    if len(killed) + len(survived) > sum(inside):
        outcome.counts |= {"faults tried beside the components": len(killed) + len(survived) - sum(inside), "of them noticed": len(killed) - inside[0]}
    if skipped:
        outcome.notes.append(f"{skipped} faults were not tried: no time was left")
    for mutant in survived:
        outcome.findings.append(
            Finding(
                "mutant-survived",
                f"{mutant.name}: no check notices {mutant.what} ({mutant.kind}); {len(survived)} of "
                f"{len(killed) + len(survived)} faults go unnoticed",
                mutant.file,
                mutant.line,
                severity=WARNING,
                fix="add an assertion on a value that depends on this line, computed independently",
            )
        )
    for name in dict.fromkeys(mutant.name for mutant in survived):
        if name not in caught and name in names:
            outcome.findings.append(
                Finding(
                    "notebook-toothless",
                    f"no fault that was put into {name} made the notebook fail",
                    FILE,
                    expected="at least one seeded fault of each component noticed",
                    fix=f"compare {name} with an independent formula written from the paper",
                )
            )


def still(book: Book, result: Path, against: papers.Against, components: list, mode: str, outcome: Outcome) -> None:
    """All that gate 5 sees without running the notebook."""
    outcome.add(structure(book, components, mode), cells=len(book.cells))
    found, asserting = code_cells(book)
    outcome.add(found, checks=asserting)
    found, looked = shown(book, result)
    outcome.add(found, **{"pieces of shown code": looked})
    quotes(book, against, outcome)
    outcome.must_have_looked("cells", "checks", "pieces of shown code")
    outcome.counts |= {"cells": len(book.cells), "checks": asserting}


def has_run(book: Book) -> list[Finding]:
    """The notebook holds the outputs of a run from start to end: every code cell was executed, in order, none ended in an error."""
    cells = [(at, cell) for at, cell in enumerate(book.node.cells) if cell.cell_type == "code" and cell.source.strip()]
    out: list[Finding] = []
    for number, (at, cell) in enumerate(cells, start=1):
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed or cell.execution_count != number:
            why = "ended in an error" if failed else f"has the execution count {cell.execution_count}, not {number}"
            out.append(Finding("notebook-not-run", f"{name_of(at, cell.source)} {why}", FILE, expected="a run from start to end",
                               fix="check_stage.py 5 WORK runs it and keeps its outputs"))
    return out


def examine(
    result: Path,
    paper: Paper,
    components: list,
    *,
    mode: str,
    framework: str,
    python: Path | None = None,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    mutants: bool = True,
) -> Outcome:
    """All of gate 5 on a result, without the history of a workspace."""
    outcome = Outcome()
    book, problems = read(result)
    outcome.add(problems)
    if book is None:
        return outcome
    still(book, result, papers.Against(paper), components, mode, outcome)
    if any(
        finding.check in ("notebook-placeholder", "notebook-syntax", "notebook-shell", "notebook-input")
        for finding in errors(outcome.findings)
    ):
        outcome.notes.append("the notebook was not run: first write what is missing")
        return outcome
    python = python or python_for(framework)
    if run(book, result, python, outcome, seconds=seconds, memory=memory) and mutants:
        bites(book, result, components, python, framework, outcome, memory=memory)
    return outcome


def check(work: Workspace, result: Path | None) -> Outcome:
    """Gate 5 of a workspace."""
    if result is None:
        raise cli.Stop("gate 5 needs the folder of the generated code", code=cli.USAGE, expected="--result DIR")
    told_of, problems = contribution.read(work.contribution)
    job = work.job()
    outcome = examine(result, work.paper(), told_of.components if told_of is not None else [], mode=job.mode, framework=job.framework)
    outcome.add(problems)
    return outcome


def stands(work: Workspace, result: Path) -> Outcome:
    """Gate 5 of a workspace without its run: what can be seen of the notebook, and that it holds the outputs of a whole run."""
    outcome = Outcome()
    book, problems = read(result)
    outcome.add(problems)
    if book is not None:
        told_of, _ = contribution.read(work.contribution)
        still(book, result, papers.Against(work.paper()), told_of.components if told_of is not None else [], work.job().mode, outcome)
        outcome.add(has_run(book))
    return outcome
