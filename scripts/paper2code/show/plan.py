"""What a result folder will hold, worked out from contribution, ledger, paper and job: the data that the templates are filled with.

Nothing is typed twice: values, anchors and flags come from the ledger, components and shapes from the contribution, equations
from the paper.
"""

from __future__ import annotations

import keyword
import re
import textwrap
from collections import Counter
from dataclasses import dataclass, field

from paper2code import files
from paper2code.check import census, dimensions
from paper2code.check.contribution import TYPES, Component, Contribution
from paper2code.check.ledger import ASSUMPTION, NOT_APPLICABLE, OFFICIAL, PARTIALLY, SPECIFIED, UNSPECIFIED, Item, Ledger
from paper2code.check.places import Places
from paper2code.cli import USAGE, Stop
from paper2code.paper import Equation, Paper
from paper2code.workspace import Job

WIDTH = 120
FRAMEWORKS = {"pytorch": "PyTorch", "jax": "JAX (Flax NNX and Optax)", "numpy": "NumPy"}
FILES = {
    "model": "src/model.py",
    "loss": "src/loss.py",
    "data": "src/data.py",
    "training": "src/train.py",
    "schedule": "src/train.py",
    "inference": "src/inference.py",
    "evaluation": "src/evaluate.py",
    "system": "src/system.py",
    "utility": "src/utils.py",
}
ABOUT = {
    "src/model.py": "The model",
    "src/loss.py": "The objective",
    "src/data.py": "The data",
    "src/train.py": "The training",
    "src/inference.py": "The inference algorithm",
    "src/evaluate.py": "The evaluation",
    "src/system.py": "The system",
    "src/utils.py": "Settings and helpers",
}
ORDER = (
    "src/utils.py",
    "src/model.py",
    "src/system.py",
    "src/inference.py",
    "src/loss.py",
    "src/data.py",
    "src/train.py",
    "src/evaluate.py",
)
# What full mode has for each type of paper (file → kind of the component that stands in for a missing one).
FULL = {
    "a": ("training", "data", "evaluation"),
    "b": ("training", "data", "evaluation"),
    "c": ("evaluation",),
    "d": ("data", "evaluation"),
    "e": ("training", "data", "evaluation"),
    "f": (),
}
STAND_INS = {
    "training": ("train", {"seed": "scalar int"}, {"model": "text"}),
    "data": ("draw_batch", {"size": "scalar int"}, {"batch": "text"}),
    "evaluation": ("evaluate", {"model": "text"}, {"score": "scalar"}),
}
LAYERS = ("model", "loss", "inference", "system", "utility")  # kinds whose classes are modules of the framework
TENSOR = {"pytorch": "Tensor", "jax": "jax.Array", "numpy": "np.ndarray"}
OBJECTS = {
    "pytorch": {"model": "nn.Module", "optimizer": "torch.optim.Optimizer", "optimiser": "torch.optim.Optimizer"},
    "jax": {"model": "nnx.Module", "optimizer": "nnx.Optimizer", "optimiser": "nnx.Optimizer"},
    "numpy": {},
}
RANDOM = {"pytorch": ("generator", "torch.Generator"), "jax": ("key", "jax.Array"), "numpy": ("rng", "np.random.Generator")}


@dataclass
class Part:
    """One component as it will stand in src/. `doc`: blocks of docstring lines; `inputs`: name → shape as the contribution has it."""

    name: str
    kind: str
    file: str
    where: str
    is_class: bool
    places: str
    headline: str = ""
    signature: str = ""
    returns: str = ""
    raw: bool = False
    doc: list[list[str]] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    axes: list[str] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    stand_in: bool = False
    index: str = ""  # a data class: the argument of its __getitem__
    built: str = ""  # a data class: what it is made from besides the config

    @property
    def tensors(self) -> bool:
        """Whether every input is a tensor or a number, so that a check can make one up."""
        return bool(self.inputs) and all(kind_of(text) != dimensions.OBJECT for text in self.inputs.values())

    @property
    def layer(self) -> bool:
        """Whether it is a class that may have parameters; the others are plain classes."""
        return self.is_class and self.kind in LAYERS


@dataclass
class Plan:
    title: str
    slug: str
    job: Job
    paper: Paper
    contribution: Contribution
    ledger: Ledger
    parts: list[Part]

    @property
    def framework(self) -> str:
        return self.job.framework

    @property
    def mode(self) -> str:
        return self.job.mode

    def by_file(self) -> dict[str, list[Part]]:
        out: dict[str, list[Part]] = {}
        for name in ORDER:
            if mine := [part for part in self.parts if part.file == name]:
                out[name] = mine
        for part in self.parts:
            if part.file not in out:
                out[part.file] = [other for other in self.parts if other.file == part.file]
        return out

    def config(self) -> dict[str, Item]:
        """Config path → decision, in the ledger's order, sections kept together."""
        chosen = [item for item in self.ledger.items if item.config and item.status != NOT_APPLICABLE and item.value is not None]
        return {item.config: item for item in chosen}

    def find(self, *names: str) -> Item | None:
        """The first decision about one of these points of the checklist."""
        return next((item for item in self.ledger.items if item.item in names), None)


def shape_of(text: str) -> list[str] | None:
    """The dimensions of "(batch, n, d) int" or "int (batch, n, d)"; None for what is no tensor."""
    form = dimensions.read(text)
    return list(form.dims) if form is not None and form.dims is not None else None


def kind_of(text: str) -> str:
    """What a shape is made of: float, int, bool, or object for what is neither tensor nor number."""
    form = dimensions.read(text)
    return form.kind if form is not None else dimensions.OBJECT


def identifier(name: str) -> str:
    return name if name.isidentifier() and not keyword.iskeyword(name) else files.slug(name, otherwise="x")


def one_line(text: object) -> str:
    return " ".join(str(text).split())


def formula(latex: str | None) -> str:
    """A display formula for a docstring or a cell: without alignment marks, sized brackets and empty scripts."""
    plain = re.sub(r"\\(?:big|Big|bigg|Bigg)[lrm]?(?=[^A-Za-z])|(?<!\\)&|[\^_]\{\}", "", latex or "")
    return one_line(re.sub(r"\{([()\[\]])\}", r"\1", plain))


def bare(latex: str) -> str:
    """A formula without what does not change it: spaces, braces, dollars, sizes of brackets."""
    return re.sub(r"\\(?:left|right|[,;:!]|quad|limits)(?![A-Za-z])|[\s${}]|\.$", "", formula(latex))


def anchor_lines(item: Item) -> list[str]:
    """A decision as the comment that stands beside its value or its code: a citation, or a flag with its parts."""
    quote = f'"{one_line(item.quote)}"' if item.quote else ""
    place = f"{item.where} — {quote}" if quote else item.where
    using = one_line(item.using)
    lost = [number for number in item.numbers() if not census.holds(using, number)]
    if item.status != SPECIFIED and (lost or (isinstance(item.value, str) and item.value not in using)):
        # A list is told with semicolons: "0, 1" could be a decimal comma or the numbers of places.
        value = "; ".join(map(scalar, item.value)) if isinstance(item.value, list) else scalar(item.value)
        using = f"{value}: {using}" if using else value
    others = "; ".join(one_line(other) for other in item.alternatives)
    if item.status == SPECIFIED:
        return [place]
    reason = [f"Reason: {one_line(item.why)}"] if item.why else []
    open_to = [f"Alternatives: {others}"] if others else []
    if item.status == PARTIALLY:
        lines = [f"[PARTIALLY_SPECIFIED] {item.item}: {place}; open: {one_line(item.unclear)}", f"Using: {using}"]
        return [*lines, *reason, *open_to]
    if item.status == UNSPECIFIED:
        return [f"[UNSPECIFIED] {item.item}", f"Using: {using}", *reason, f"Alternatives: {others}"]
    if item.status == OFFICIAL:
        return [f"[FROM_OFFICIAL_CODE] {item.item}: {using}", *reason, f"Source: {item.source}"]
    if item.status == ASSUMPTION:
        return [f"[ASSUMPTION] {item.item}: {using}", f"Reason: {one_line(item.why)}", *open_to]
    return []


def wrapped(lines: list[str], width: int) -> list[str]:
    """Lines folded to a width; what follows the first is set in by two."""
    out: list[str] = []
    for number, line in enumerate(lines):
        out += textwrap.wrap(
            line, width, initial_indent="  " if number else "", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        ) or [""]
    return out


# --- the configuration -------------------------------------------------------------------------------------------------


def scalar(value: object) -> str:
    """A value as YAML, numbers so that every YAML reader takes them for numbers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = repr(value)
        if "e" in text:
            mantissa, exponent = text.split("e")
            sign = "-" if exponent.startswith("-") else "+"
            return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{sign}{exponent.lstrip('+-0') or '0'}"
        return text
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(scalar(part) for part in value)}]"
    text = str(value)
    if re.fullmatch(r"[A-Za-z_][\w./-]*", text) and text.lower() not in ("null", "true", "false", "yes", "no", "on", "off", "y", "n"):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def tree(paths: dict[str, Item]) -> dict:
    """Config paths as nested mappings with decisions at the leaves."""
    out: dict = {}
    for path, item in paths.items():
        keys = path.split(".")
        if not all(key.isidentifier() for key in keys):
            raise Stop(
                f"{item.id}: config: {path} is no dotted path of identifiers",
                code=USAGE,
                expected="config: training.warmup_steps",
                fix="name it by words joined with _ and levels joined with .",
            )
        at = out
        for key in keys[:-1]:
            at = at.setdefault(key, {})
            if isinstance(at, Item):
                raise Stop(
                    f"{item.id}: config: {path} lies below {at.config}, which holds a value itself",
                    code=USAGE,
                    fix=f"rename one of {path} and {at.config}",
                )
        if isinstance(at.get(keys[-1]), dict):
            raise Stop(f"{item.id}: config: {path} is a section of other values already", code=USAGE, fix="rename it")
        at[keys[-1]] = item
    return out


def yaml_lines(level: dict, depth: int = 0) -> list[str]:
    """The configuration, each value below its anchor or flag."""
    pad, out = "  " * depth, []
    for key, value in level.items():
        if isinstance(value, dict):
            out += ([""] if depth == 0 and out else []) + [f"{pad}{key}:", *yaml_lines(value, depth + 1)]
        else:
            out += [f"{pad}# {line}" for line in wrapped(anchor_lines(value), WIDTH - len(pad) - 2)]
            out.append(f"{pad}{key}: {scalar(value.value)}")
    return out


def type_name(value: object) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (list, tuple)):
        kinds = list(dict.fromkeys(type_name(part) for part in value)) or ["float"]
        return f"list[{' | '.join(kinds)}]"
    return {int: "int", float: "float", str: "str"}.get(type(value), "object")


def config_classes(level: dict, name: str = "Config", path: str = "") -> list[dict]:
    """The settings classes, inner ones first."""
    out, fields = [], []
    for key, value in level.items():
        if isinstance(value, dict):
            inner = "".join(word.capitalize() for word in f"{path}.{key}".strip(".").replace(".", "_").split("_")) + "Config"
            out += config_classes(value, inner, f"{path}.{key}".strip("."))
            fields.append({"name": key, "type": inner})
        else:
            fields.append({"name": key, "type": type_name(value.value)})
    about = (
        f"The section `{path}` of configs/base.yaml, where each value is cited or flagged."
        if path
        else "All of configs/base.yaml, where each value is cited or flagged."
    )
    return [*out, {"name": name, "about": about, "fields": fields}]


# --- components ---------------------------------------------------------------------------------------------------------


def file_of(component: Component, items: list[Item], no_training: bool) -> str:
    """Where a component stands: what it says itself, else where most decisions about it are, else where its kind goes."""
    if component.file:
        return component.file
    named = Counter(
        found.group(1) for item in items if (found := re.match(rf"(src/[\w/]+\.py):{re.escape(component.name)}(?!\w)", item.code.strip()))
    )
    if named:
        return named.most_common(1)[0][0]
    if component.kind == "schedule" and no_training:  # such a result has no src/train.py
        return "src/inference.py"
    return FILES.get(component.kind, "src/model.py")


def argument(name: str, shape: str, framework: str) -> str:
    plain = identifier(name)
    if shape_of(shape) is not None:
        return f"{plain}: {TENSOR[framework]}"
    kind = kind_of(shape)
    if kind == dimensions.OBJECT:
        kind = OBJECTS[framework].get(plain, "object")
    return f"{plain}: {kind}"


def returned(outputs: dict[str, str], kind: str, framework: str) -> str:
    def one(name: str, shape: str) -> str:
        if shape_of(shape) is not None or (kind_of(shape) == dimensions.REAL and kind == "loss"):
            return TENSOR[framework]
        return argument(name, shape, framework).split(": ")[1]

    kinds = [one(name, shape) for name, shape in outputs.items()]
    return "None" if not kinds else kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"


def place_of(where: str, equations: list[str], places: Places) -> str:
    """A component's place and its equations: one place, or two where an equation stands in another section than its code."""
    together = ", ".join([where, *equations])
    return "; ".join([where, ", ".join(equations)]) if places.resolve(together).misplaced else together


def make_part(
    component: Component, plan_items: list[Item], paper: Paper, places: Places, framework: str, file: str, sections: set[str]
) -> Part:
    name = component.name
    is_class = name[:1].isupper()
    mine = [item for item in plan_items if item.code in (f"{file}:{name}", f"{name}") or item.code.startswith(f"{file}:{name}.")]
    equations = [paper.item(id) for place in component.equations for id in sorted(places.resolve(place).items)]
    formulas = [item for item in equations if isinstance(item, Equation)]
    part = Part(
        name,
        component.kind,
        file,
        component.where,
        is_class,
        place_of(component.where, component.equations, places),
        inputs={str(k): str(v) for k, v in component.inputs.items()},
        outputs={str(k): str(v) for k, v in component.outputs.items()},
        axes=component.axes,
        items=mine,
        equations=formulas,
    )
    arguments = [argument(key, shape, framework) for key, shape in part.inputs.items()]
    if not is_class:
        makes_random = component.kind == "data" and not any(shape_of(shape) for shape in part.inputs.values())
        if makes_random:
            arguments.append(": ".join(RANDOM[framework]))
        if component.kind in ("schedule", "training", "data", "evaluation", "inference", "system") or component.kind in sections:
            arguments.append("config: Config")
    part.signature = ", ".join(arguments)
    if is_class and component.kind == "data":
        picks = [key for key, shape in part.inputs.items() if shape_of(shape) is None and kind_of(shape) == dimensions.WHOLE]
        picked = next((key for key in picks if re.match(r"(?:i|idx|index|item|n|k)\Z", key)), picks[0] if len(part.inputs) == 1 and picks else "")
        part.index = argument(picked or "index", "int", framework)
        part.built = ", ".join(argument(key, shape, framework) for key, shape in part.inputs.items() if key != picked)
    part.returns = returned(part.outputs, component.kind, framework)
    part.headline = place_of(component.where, component.equations, places)
    stated = []
    for item in formulas:
        latex = formula(item.latex or item.text)
        stated.append(bare(latex))
        part.doc.append(wrapped([f"{place_of(component.where, [f'Eq. {item.number}'], places)} — {latex}"], WIDTH - 4))
    quotes = [one_line(item.quote) for item in mine if item.status == SPECIFIED]
    for item in mine:
        quote = one_line(item.quote)
        again = item.status == SPECIFIED and any(quote in other and quote != other for other in quotes)  # said by a longer one
        again = again or (item.status == SPECIFIED and len(bare(quote)) > 3 and "=" in quote and any(bare(quote) in latex for latex in stated))
        if item.status != NOT_APPLICABLE and not again and (lines := wrapped(anchor_lines(item), WIDTH - 4)) not in part.doc:
            part.doc.append(lines)
    shapes = [f"{key}: {shape}" for key, shape in part.inputs.items()]
    gives = [f"{key}: {shape}" for key, shape in part.outputs.items()]
    part.doc.append(
        [
            f"Takes {'; '.join(shapes) or 'nothing'}.",
            f"Gives {'; '.join(gives) or 'nothing: it works in place'}.",
            *([f"Axes: {'; '.join(component.axes)}."] if component.axes else []),
        ]
    )
    part.raw = any("\\" in line for block in part.doc for line in block)
    return part


def symbol_lines(contribution: Contribution) -> list[str]:
    rows = contribution.rows("symbols")
    return [
        f"  {row.get('variable')}: {one_line(row.get('symbol'))} of {row.get('where')}, {one_line(row.get('meaning'))}, "
        f"{one_line(row.get('shape'))}"
        for row in rows
    ]


def make(contribution: Contribution, ledger: Ledger, paper: Paper, job: Job) -> Plan:
    """The plan of a result. Raises Stop for what cannot be laid: no config paths, components that cannot be named."""
    if contribution.nothing:
        raise Stop(
            "contribution.md says that the paper has nothing to implement",
            code=USAGE,
            expected="components",
            fix="write REPRODUCTION_NOTES.md with why and what would be needed, then gate 4",
        )
    if not contribution.components:
        raise Stop(
            "contribution.md lists no components",
            code=USAGE,
            expected="components: - {name, kind, where, inputs, outputs}",
            fix="finish stage 2",
        )
    if not any(item.config and item.value is not None for item in ledger.items):
        raise Stop(
            "no decision of ledger.yaml has a config path and a value, so configs/base.yaml would be empty",
            code=USAGE,
            expected="config: training.warmup_steps and value: 4000 where the code needs a value",
            fix="give each setting of the ledger its config path",
        )
    names = [part.name for part in contribution.components]
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name) or names.count(name) > 1:
            raise Stop(
                f"the component {name!r} cannot be laid",
                code=USAGE,
                expected="names that are identifiers, each once",
                fix="check_stage.py 2 WORK names the line",
            )
    title = one_line(paper.title or contribution.get("title") or "")
    places = Places(paper)
    kinds = {part.kind for part in contribution.components}
    no_training = contribution.type == "c" and not (contribution.trains or job.mode == "full" or "training" in kinds)
    sections = {item.config.split(".")[0] for item in ledger.items if item.config}
    parts = [
        make_part(part, ledger.items, paper, places, job.framework, file_of(part, ledger.items, no_training), sections)
        for part in contribution.components
    ]
    for kind in FULL.get(contribution.type, ()) if job.mode == "full" else ():
        if kind not in kinds and not (kind == "training" and "inference" in kinds):
            name, inputs, outputs = STAND_INS[kind]
            where = next((item.where for item in ledger.items if item.group == kind and item.where), contribution.components[0].where)
            stand_in = Component(name, kind, where.split(",")[0], 0, inputs, outputs)
            parts.append(make_part(stand_in, ledger.items, paper, places, job.framework, FILES[kind], sections))
            parts[-1].stand_in = True
    return Plan(title, files.slug(title), job, paper, contribution, ledger, parts)


def type_text(contribution: Contribution) -> str:
    return TYPES.get(contribution.type, contribution.type)
