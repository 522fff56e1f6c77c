"""The result folder laid from the ledger: configuration, notes, README, the skeleton of src/, the notebook.

What was laid is kept under `laid/` in the workspace. Laying again merges three ways (laid before, standing now, laid today), so
that a changed ledger reaches every file and nothing written by hand is lost; where both changed the same lines the hand's stay,
and the new ones are told. Rendered regions and `configs/base.yaml` belong to the ledger.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
from paper2code import environment, files
from paper2code.check.contribution import read as read_contribution
from paper2code.check.ledger import read as read_ledger
from paper2code.cli import USAGE, Stop
from paper2code.findings import errors
from paper2code.paper import Paper
from paper2code.show import audit, signatures, walkthrough
from paper2code.show import plan as plans
from paper2code.show.merge import merge
from paper2code.show.plan import Plan, one_line
from paper2code.workspace import Workspace

TEMPLATES = environment.SKILL / "scaffolds"
CONFIG, NOTES, README, GUIDE, NEEDS = ("configs/base.yaml", "REPRODUCTION_NOTES.md", "README.md", "PAPER_GUIDE.md", "requirements.txt")
NOTEBOOK = walkthrough.FILE


@dataclass
class Laid:
    """What happened to each file: new, updated, kept (nothing changed), merged, and the places where the hand's lines stayed."""

    folder: Path
    new: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    conflicts: list[tuple[str, int, str]] = field(default_factory=list)
    to_write: list[str] = field(default_factory=list)


def templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


# --- what goes into each template -----------------------------------------------------------------------------------------


def link_of(paper: Paper) -> str:
    if paper.id:
        return f"https://arxiv.org/abs/{paper.id}{f'v{paper.version}' if paper.version else ''}"
    named = next((link.url for link in paper.links if "doi.org" in link.url), None)
    return named or "no public address is known (read from a local file)"


def year_of(paper: Paper) -> str:
    """The year of an arXiv id; "" where nothing says it."""
    new, old = re.match(r"(\d\d)\d\d\.\d", paper.id), re.search(r"/(\d\d)\d{5}", paper.id)
    if new:
        return f"20{new.group(1)}"
    return (f"19{old.group(1)}" if int(old.group(1)) > 90 else f"20{old.group(1)}") if old else ""


def bibtex(plan: Plan) -> str:
    paper = plan.paper
    first = files.slug(paper.authors[0].split()[-1] if paper.authors and paper.authors[0].split() else "paper")
    rows = {"title": plan.title, "author": " and ".join(paper.authors) or "unknown", "year": year_of(paper)}
    if paper.id:
        rows |= {"eprint": paper.id, "archivePrefix": "arXiv"}
    body = ",\n".join(f"  {key} = {{{value}}}" for key, value in rows.items() if value)
    return f"@article{{{first}{rows['year']}_{plan.slug.split('_')[0]},\n{body}\n}}"


def common(plan: Plan) -> dict:
    get = plan.contribution.get
    code = get("official_code")
    claim = get("minimal_claim")
    return {
        "title": plan.title or "Untitled paper",
        "authors": ", ".join(plan.paper.authors) or "unknown authors",
        "year": year_of(plan.paper),
        "link": link_of(plan.paper),
        "summary": one_line(get("summary") or ""),
        "framework": plan.framework,
        "framework_name": framework_name(plan),
        "mode": plan.mode,
        "educational": plan.mode == "educational",
        "type_name": plans.type_text(plan.contribution),
        "type_reason": one_line(get("type_reason") or ""),
        "official_code": code.get("url") if isinstance(code, dict) else "none was found",
        "cost": one_line(get("cost") or ""),
        "minimal_claim": claim if isinstance(claim, dict) else {"claim": "none", "where": "", "check": ""},
        "parts": plan.parts,
        "implement": plan.contribution.rows("implement"),
        "reference": plan.contribution.rows("reference"),
        "out_of_scope": plan.contribution.rows("out_of_scope"),
        "bibtex": bibtex(plan),
    }


def sections_of(plan: Plan) -> list[dict]:
    """The paper's sections for PAPER_GUIDE.md."""
    out = []
    paper = plan.paper
    for section in paper.sections:
        heading = f"§{section.number} {section.title}" if section.number else section.title
        mine = [part for part in plan.parts if section.number and re.match(rf"§{re.escape(section.number)}(?![\w.])", part.where)]
        equations = [
            {"number": item.number, "latex": one_line(item.latex)}
            for item in paper.equations
            if item.section == section.id and item.number and item.latex
        ]
        out.append({"depth": min(section.level + 1, 4), "heading": one_line(heading), "parts": mine, "equations": equations})
    return out


def framework_name(plan: Plan) -> str:
    """The framework with those of its libraries that the laid code imports."""
    if plan.framework != "jax":
        return plans.FRAMEWORKS[plan.framework]
    libraries = [name for name, wanted in (("Flax NNX", plan.layers), ("Optax", plan.optimises)) if wanted]
    return f"JAX ({' and '.join(libraries)})" if libraries else "JAX"


LENGTH = re.compile(r"\A(?:(?:n|num|max|total)_)?(?:epochs|steps|iterations|updates|iters)\Z|\A(?:T|total|length|training_length)\Z")
LENGTHS = ("training-length", "training length", "steps", "epochs", "iterations", "schedule")


def schedule_of(plan: Plan) -> dict | None:
    """What the plot of the schedule needs: the function and its call, what it counts, and how far, as the row of the training's length
    says. `steps`: "" where that row counts something else than the schedule does."""

    def counts(part: plans.Part) -> bool:
        keys = list(part.inputs)
        single = keys and all(plans.shape_of(shape) is None and plans.kind_of(shape) in ("int", "float") for shape in part.inputs.values())
        return bool(single) and not part.is_class and all(LENGTH.match(key) for key in keys[1:])

    rates = [part for part in plan.parts if part.kind == "schedule" and counts(part)]
    lengths = [
        item
        for item in plan.config().values()
        if type(item.value) is int and (item.item in LENGTHS or re.search(r"(?:\A|_)(?:epochs|steps|iterations|updates)\Z", item.config.rpartition(".")[2]))
        and not re.search(r"warm|accum|interval|every", f"{item.config} {item.item}", re.I)
    ]
    if not rates or not lengths:
        return None
    rate = next((part for part in rates if "rate" in part.name or "lr" in part.name), rates[-1])
    first, *rest = rate.inputs

    def unit(item) -> str:
        leaf = item.config.rpartition(".")[2]
        return signatures.unit_of(leaf) or signatures.unit_of(item.item) or signatures.unit_of(f"{item.quote} {item.using}")

    lengths.sort(key=lambda item: (item.item != "training-length", item.item not in LENGTHS))
    wanted = signatures.unit_of(first)
    found = next((item for item in lengths if not wanted or unit(item) in (wanted, "")), None)
    length = f"config.{found.config}" if found is not None else ""
    label = wanted or (unit(found) if found is not None else "") or "step"
    named = {"iteration": "iteration", "update": "update"}.get(first, label)
    call = ["t", *(length or "steps" for _ in rest)]
    if re.search(r"\bconfig\b", rate.signature):
        call.append("config")
    return {"name": rate.name, "where": rate.where, "steps": length, "label": named, "call": ", ".join(call)}


def module_data(plan: Plan, file: str, parts: list) -> dict:
    extras = plan.mode == "full" and file == "src/train.py"
    needs = plan.needs() if extras else {}
    signed = " ".join(f"{part.signature} {part.returns} {part.init}" for part in parts)
    written = f"{signed} {' '.join(needs.values())}"
    layers = any(part.layer for part in parts)
    schedule = schedule_of(plan) if extras else None
    trained = next((part.where for part in plan.parts if part.kind == "training"), plan.parts[0].where)
    if plan.framework == "pytorch":
        names = [name for name, wanted in (("Tensor", "Tensor" in written), ("nn", layers or "nn." in written or extras)) if wanted]
        library = "torch." in written or extras
    elif plan.framework == "jax":
        names = ["nnx"] if layers or "nnx." in written else []
        library = "jax.Array" in written or extras
    else:
        names = []
        library = "np." in written or layers or extras
    settings = [name for name in dict.fromkeys(re.findall(r"\b(\w*Config)\b", signed)) if name in ("Config", *plan.context.sections.values())]
    if extras and schedule and "Config" not in settings:
        settings.append("Config")
    collections = [name for name in ("Callable", "Iterator") if re.search(rf"\b{name}\b", written)]
    return {
        "about": plans.ABOUT.get(file, "Components") + f" of the paper ({', '.join(dict.fromkeys(place for p in parts for place in p.where.split(', ')))}).",
        "parts": parts,
        "extras": extras,
        "schedule": schedule,
        "training_place": trained,
        "flax": plan.layers,
        "needs": ", ".join(f"{name}: {kind}" for name, kind in needs.items()),
        "imports": {
            "torch": library,
            "names": names,
            "collections": collections,
            "config": settings,
            "dataset": plan.framework == "pytorch" and any(part.indexed for part in parts),
            "pathlib": extras,
            "sys": extras and not needs,
            "yaml": False,
            "checkpoint": extras and plan.framework == "jax",
        },
    }


def render(plan: Plan) -> dict[str, str]:
    """Every text file of the result, the notebook left out: name → content."""
    engine, data = templates(), common(plan)
    tree = plans.tree(plan.config())
    by_file = plan.by_file()
    out: dict[str, str] = {}

    def fill(template: str, **more) -> str:
        text = engine.get_template(template).render({**data, **more})
        return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n") + "\n"

    out[CONFIG] = fill("base.yaml.j2", lines=plans.yaml_lines(tree))
    symbols = plans.symbol_lines(plan.contribution)
    out["src/utils.py"] = fill("utils.py.j2", config_classes=plans.config_classes(tree), symbols=symbols)
    if any("\\" in line for line in symbols):
        out["src/utils.py"] = "r" + out["src/utils.py"]
    for file, parts in by_file.items():
        text = fill("module.py.j2", **module_data(plan, file, parts))
        if file == "src/utils.py":
            body = text.split("from __future__ import annotations", 1)[1]
            text = (
                out[file].rstrip("\n")
                + "\n\n\n"
                + re.sub(r"(?m)^from src\.utils import .*\n", "", body).lstrip("\n")
            )
            text = gathered(text)
        out[file] = tidy(text)
    out[NEEDS] = fill(
        f"{plan.framework}/requirements.txt.j2",
        plots="src/train.py" in by_file and plan.mode == "full" and schedule_of(plan) is not None,
        flax=plan.layers,
        optax=plan.optimises,
    )
    results = plan.find("reported-numbers")
    out[NOTES] = fill("REPRODUCTION_NOTES.md.j2", results_place=results.where if results is not None and results.where else "name it")
    full = "src/train.py" in out and plan.mode == "full"
    needs = plan.needs() if full else {}
    runs = "src.train" if full and not needs else ""
    names = [
        (file, ", ".join(f"`{part.name}`" for part in parts) or "settings") for file, parts in by_file.items() if file != "src/utils.py"
    ]
    holds = [("src/utils.py", "the settings classes and the glossary of symbols"), *names]
    out[README] = fill("README.md.j2", files=holds, runs=runs, needs=", ".join(f"`{name}`" for name in needs))
    if plan.mode == "educational":
        out[GUIDE] = fill("PAPER_GUIDE.md.j2", sections=sections_of(plan))
    for name in (NOTES, README):
        out[name] = audit.fill(out[name], plan.ledger)
    return out


def gathered(text: str) -> str:
    """A module whose imports stand in two places, with all of them at its head."""
    later = re.compile(r"(?m)^(?:import|from) .*\n")
    head, mark, body = text.partition("import yaml\n")
    names = later.findall(body)
    body = later.sub("", body)
    standard = [line for line in names if re.match(r"(?:import|from) (?:sys|pathlib|collections)", line) and line not in head]
    others = [line for line in names if line not in standard and line not in head]
    head = head.replace("import dataclasses\n", "import dataclasses\n" + "".join(standard), 1)
    # Alphabetical, as the tools sort them: torch and jax stand before yaml.
    return head + "".join(others) + mark + body


def tidy(text: str) -> str:
    """Two blank lines between definitions at the top, one elsewhere, none at the ends."""
    text = re.sub(r"[ \t]+\n", "\n", text)
    text = re.sub(r"\n{3,}(?=[ \t])", "\n\n", text)
    text = re.sub(r"\n{2,}(?=(?:class|def|@)\b|@)", "\n\n\n", text)
    return re.sub(r"(@\w[^\n]*\n)\n+(?=class|def)", r"\1", text).strip("\n") + "\n"


# --- laying --------------------------------------------------------------------------------------------------------------


def plan_of(work: Workspace) -> Plan:
    """The plan of a workspace. Raises Stop naming the first things that keep it from being laid."""
    contribution, one = read_contribution(work.contribution)
    ledger, two = read_ledger(work.ledger)
    wrong = errors([*one, *two])
    if contribution is None or ledger is None or wrong:
        told = "\n  ".join(finding.text() for finding in wrong[:5])
        raise Stop(f"contribution.md or ledger.yaml cannot be used:\n  {told}", code=USAGE, fix=f"check_stage.py 2 and 3 on {work.folder}")
    return plans.make(contribution, ledger, work.paper(), work.job())


def ours(folder: Path, kept: Path) -> bool:
    """Whether a folder was laid by us, from this workspace or an earlier one."""
    if kept.is_dir():
        return True
    notes = folder / NOTES
    return notes.is_file() and "<!-- paper2code:begin" in notes.read_text(encoding="utf-8", errors="replace")


def lay(work: Workspace, out: Path | None = None) -> Laid:
    """Lay or update the result folder of a workspace."""
    plan = plan_of(work)
    folder = Path(out) if out else Path(plan.slug)
    kept = work.folder / "laid"
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir()) and not ours(folder, kept)):
        raise Stop(
            f"{folder} exists and was not laid by paper2code; nothing in it was touched",
            code=USAGE,
            expected="a folder that does not exist, is empty, or was laid before",
            fix="name another one with --out, or move it away",
        )
    rendered = render(plan)
    done = Laid(folder)
    for name, text in rendered.items():
        put(folder / name, kept / name, name, text, done, plan)
    walkthrough.update(plan, folder, done)
    done.to_write = [f"{part.file}: {part.name}" for part in plan.parts]
    return done


def said(lines: str) -> bool:
    """Whether laid lines that were not taken say more than a placeholder: a new component stands there with its flags."""
    return any(line.strip() and "FILL IN" not in line for line in lines.splitlines())


def put(path: Path, base: Path, name: str, text: str, done: Laid, plan: Plan) -> None:
    """One text file: new, rendered again, or merged with what was written by hand."""
    if not path.is_file():
        files.write(path, text)
        done.new.append(name)
    else:
        now = path.read_text(encoding="utf-8")
        if base.is_file():
            merged = merge(base.read_text(encoding="utf-8"), now, text)
            result, clashes = merged.text, merged.conflicts
        else:  # the workspace of that time is gone: only what is marked as rendered is rendered again
            result, clashes = (text if name == CONFIG else now), []
        if name in (NOTES, README):
            result = audit.fill(result, plan.ledger)
        # A placeholder that was written over, and a rendered table, are no loss.
        done.conflicts += [(name, line, lines) for line, lines in clashes if "|" not in lines and said(lines)]
        if result == now:
            done.kept.append(name)
        else:
            files.write(path, result)
            (done.updated if result == text else done.merged).append(name)
    files.write(base, text)
