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
from paper2code.check.ledger import ASSUMPTION, NOT_APPLICABLE, OFFICIAL, PARTIALLY, SPECIFIED, UNSPECIFIED, Item, Ledger, apart
from paper2code.check.places import Places
from paper2code.cli import USAGE, Stop
from paper2code.paper import Equation, Paper
from paper2code.show import signatures
from paper2code.show.signatures import RANDOM, Context, identifier, kind_of
from paper2code.workspace import Job

WIDTH = 120
FRAMEWORKS = {"pytorch": "PyTorch", "jax": "JAX", "numpy": "NumPy"}
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
    "training": ("train", {"seed": "scalar int"}, {"model": "object"}),
    "data": ("draw_batch", {"size": "scalar int"}, {"batch": "object"}),
    "evaluation": ("evaluate", {"model": "object"}, {"score": "scalar"}),
}
LAYERS = ("model", "loss")  # kinds whose classes are modules of the framework; of those below only where they have parameters
PERHAPS = ("inference", "system", "utility")


@dataclass
class Part:
    """One component as it will stand in src/. `doc`: blocks of docstring lines; `inputs`: what its call takes, name → shape as the
    contribution has it, without the configuration and what a class is built on; `names`: those names as Python has them."""

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
    names: dict[str, str] = field(default_factory=dict)
    stand_in: bool = False
    layer: bool = False  # a class that may have parameters; the others are plain classes
    indexed: bool = False  # a class of the data that a whole number picks from
    index: str = ""  # the argument of its __getitem__
    built: dict[str, str] = field(default_factory=dict)  # a class: what its constructor takes besides the config, name → shape
    init: str = ""  # a class: the arguments of its constructor
    said: Item | None = None  # where no decision stands at it: the first whose quote is from its place
    possible: set[str] = field(default_factory=set)  # objects among the inputs that a check can make: random numbers, sections

    @property
    def tensors(self) -> bool:
        """Whether every input is a tensor, a number or what can be made, so that a check can make one up."""
        return bool(self.inputs) and all(kind_of(text) != dimensions.OBJECT or key in self.possible for key, text in self.inputs.items())


@dataclass
class Plan:
    title: str
    slug: str
    job: Job
    paper: Paper
    contribution: Contribution
    ledger: Ledger
    parts: list[Part]
    context: Context

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
        return settings(self.ledger.items)

    @property
    def layers(self) -> bool:
        """Whether something is a module of the framework, or takes one."""
        return any(part.layer for part in self.parts) or any("nnx." in f"{part.signature} {part.init} {part.returns}" for part in self.parts)

    @property
    def optimises(self) -> bool:
        """Whether an optimiser of the framework's library has to be there: something is trained, by an optimiser that is named."""
        chosen = self.find("optimiser", "optimizer")
        return any(part.kind == "training" for part in self.parts) and (chosen is None or chosen.status != NOT_APPLICABLE)

    def needs(self) -> dict[str, str]:
        """What the run of full mode takes that this repository does not hold, as names → types: networks of other works, files, data.

        An input of a component is held where another component gives it, is it or builds it; numbers, settings and random numbers are
        made. What the checks' tensors stand for comes out of the data.
        """
        held = {key for part in self.parts for key in part.outputs}
        collections = [signatures.bare(part.name) for part in self.parts if part.kind == "data"]
        built = any(part.is_class and part.kind in ("model", "system", "inference") for part in self.parts)
        out: dict[str, str] = {}
        for part in self.parts:
            for key, shape in part.built.items():
                outside = signatures.NETWORK.search(key) or signatures.CALLED.search(key)
                here = self.context.component(key) or self.context.section(key, shape) or (key == "model" and built)
                if outside and not here:
                    out.setdefault(part.names[key], signatures.type_of(key, shape, self.context))
            if part.kind not in ("data", "training"):
                continue
            for key, shape in {**part.built, **part.inputs}.items():
                made = key in held or key in part.possible or self.context.component(key) or self.context.section(key, shape)
                made = made or (part.kind == "training" and any(signatures.bare(key) in name for name in collections))
                whole = part.kind == "data" and shape_of(shape) is not None and len(shape_of(shape)) > 0 and key not in held
                text = kind_of(shape) == dimensions.OBJECT and (
                    re.search(r"(?:\A|_)(?:paths?|files?|folder|root|dir(?:ectory)?)\Z", key)
                    or re.search(r"(?:\A|_)(?:data(?:set)?|corpus|documents|texts?|images|examples|rows|records|train(?:_set)?|reviews|loader)\Z", key)
                )
                if (whole or text) and not made and part.kind == ("data" if whole else part.kind):
                    out.setdefault(part.names[key], signatures.type_of(key, shape, self.context))
        names = signatures.identifiers(out, taken=("path",))  # main has the config's path
        return {names[key]: kind for key, kind in out.items()}

    def find(self, *names: str) -> Item | None:
        """The first decision about one of these points of the checklist."""
        return next((item for item in self.ledger.items if item.item in names), None)


def shape_of(text: str) -> list[str] | None:
    """The dimensions of "(batch, n, d) int" or "int (batch, n, d)"; None for what is no tensor."""
    form = dimensions.read(text)
    return list(form.dims) if form is not None and form.dims is not None else None


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
    using = chosen(item)
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


def told(value: object) -> str:
    """A value as words of a comment. A list is told with semicolons: "0, 1" could be a decimal comma or the numbers of places."""
    if isinstance(value, dict):
        return "; ".join(f"{key}: {told(part)}" for key, part in value.items())
    return "; ".join(map(scalar, value)) if isinstance(value, list) else scalar(value)


def chosen(item: Item) -> str:
    """What the code does, in words that hold the value, once: the value goes first where `using` does not say it."""
    using, value = one_line(item.using), item.value
    if item.status == SPECIFIED or value is None:
        return using
    if isinstance(value, list) and value:
        written = r"\s*[,;]\s*".join(rf"['\"]?{re.escape(str(part))}['\"]?" for part in value)
        using = re.sub(rf"[\[(]\s*{written}\s*[\])]", lambda found: told(value), using)
    parts = leaves(value)
    lost = any(
        not census.holds(using, part) if isinstance(part, (int, float)) and not isinstance(part, bool) else isinstance(part, str) and part not in using
        for part in parts
    )
    if any(isinstance(part, bool) or not isinstance(part, (int, float, str)) for part in parts) or not parts:
        # A truth value has no word that would have to stand in the choice; where nothing else tells of it, it is told.
        said = re.match(rf"{re.escape(told(value))}(?![\w.])", using)
        lost = lost or (not said and (item.status == OFFICIAL or not using))
    if not lost:
        return using
    return f"{told(value)}: {using}" if using and told(value) != using else told(value)


def leaves(value: object) -> list[object]:
    """The single values of a list or a mapping."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (list, tuple)) else [value]


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
    if isinstance(value, dict):
        return f"{{{', '.join(f'{scalar(key)}: {scalar(part)}' for key, part in value.items())}}}"
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


def settings(items: list[Item]) -> dict[str, Item]:
    """Config path → decision, in the ledger's order. A decision whose value is a mapping has a path for each of its keys, and stands at
    each of them with its anchor or flag."""
    chosen = [item for item in items if item.config and item.status != NOT_APPLICABLE and item.value is not None]
    return {part.config: part for item in chosen for part in apart(item)}


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
    if isinstance(value, dict):
        kinds = list(dict.fromkeys(type_name(part) for part in value.values())) or ["object"]
        keys = list(dict.fromkeys(type_name(key) for key in value)) or ["str"]
        return f"dict[{' | '.join(keys)}, {' | '.join(kinds)}]"
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
    return [*out, {"name": name, "about": about, "fields": fields, "path": path}]


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


def place_of(where: str, equations: list[str], places: Places) -> str:
    """A component's place and its equations: one place, or two where an equation stands in another section than its code."""
    if not equations:
        return where
    together = ", ".join([where, *equations])
    return "; ".join([where, ", ".join(equations)]) if places.resolve(together).misplaced else together


def make_part(component: Component, plan_items: list[Item], paper: Paper, places: Places, context: Context, file: str) -> Part:
    name = component.name
    is_class = name[:1].isupper()
    mine = [item for item in plan_items if signatures.stands_at(item, file, name)]
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
    define(part, component, mine, plan_items, context)
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
    if not any(item.quote for item in mine) and not formulas:
        here = signatures.places_in(component.where)
        spoken = (item for item in plan_items if item.quote and item.status in (SPECIFIED, PARTIALLY) and not item.code)
        part.said = next((item for item in spoken if here & signatures.places_in(item.where)), None)
        if part.said is not None:
            part.doc.append(wrapped([f'{part.said.where} — "{one_line(part.said.quote)}"'], WIDTH - 4))
    shapes = [f"{key}: {shape}" for key, shape in component.inputs.items()]
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


def define(part: Part, component: Component, mine: list[Item], items: list[Item], context: Context) -> None:
    """The signature of a part: what its call takes, what its constructor takes, what it gives."""
    framework = context.framework
    given = {key: shape for key, shape in part.inputs.items() if not signatures.is_config(key, shape)}
    part.layer = part.is_class and (part.kind in LAYERS or (part.kind in PERHAPS and signatures.learns(component, mine)))
    if part.is_class and part.kind == "data":
        part.indexed, picked = signatures.indexed(component, context)
        part.index = f"{identifier(picked or 'index')}: int"
        part.built = {key: shape for key, shape in given.items() if part.indexed and key != picked}
    elif part.is_class:
        part.built = {key: shape for key, shape in given.items() if signatures.built_on(key, shape, context, part.name)}
        part.built |= {key: "object" for key in context.taken.get(part.name, ()) if key not in part.built}
    part.inputs = {key: shape for key, shape in given.items() if key not in part.built}
    if part.is_class and part.kind == "data" and part.indexed:
        part.inputs = {}
    random = next((key for key, shape in given.items() if context.random(key, shape, given)), "")
    part.possible = {
        key for key, shape in part.inputs.items() if context.random(key, shape, given) or context.section(key, shape)
    }
    part.names = signatures.identifiers([*part.built, *part.inputs], taken=("config",))

    def typed(keys: dict[str, str]) -> list[str]:
        return [f"{part.names[key]}: {signatures.type_of(key, shape, context, file=part.file, others=given)}" for key, shape in keys.items()]

    arguments = typed(part.inputs)
    if part.is_class:
        part.init = ", ".join(["config: Config", *typed(part.built)])
        if part.layer and framework == "jax":
            part.init += ", *, rngs: nnx.Rngs"
        elif part.layer and framework == "numpy":
            part.init += ", rng: np.random.Generator"
    else:
        free = not random and "seed" not in given and RANDOM[framework][0] not in part.names.values()
        if part.kind == "data" and free and signatures.draws(component, mine):
            arguments.append(": ".join(RANDOM[framework]))
        if signatures.needs_config(component, items, part.file, context):
            arguments.append("config: Config")
    part.signature = ", ".join(arguments)
    part.returns = signatures.returned(part.outputs, part.kind, context, part.file)


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
    where = {part.name: file_of(part, ledger.items, no_training) for part in contribution.components}
    context = context_of(contribution, ledger, job.framework, where)
    parts = [make_part(part, ledger.items, paper, places, context, where[part.name]) for part in contribution.components]
    for kind in FULL.get(contribution.type, ()) if job.mode == "full" else ():
        if kind not in kinds and not (kind == "training" and "inference" in kinds):
            name, inputs, outputs = STAND_INS[kind]
            where = next((item.where for item in ledger.items if item.group == kind and item.where), contribution.components[0].where)
            stand_in = Component(name, kind, where.split(",")[0], 0, inputs, outputs)
            parts.append(make_part(stand_in, ledger.items, paper, places, context, FILES[kind]))
            parts[-1].stand_in = True
    return Plan(title, files.slug(title), job, paper, contribution, ledger, parts, context)


def context_of(contribution: Contribution, ledger: Ledger, framework: str, where: dict[str, str]) -> Context:
    """What the signatures of all components are worked out from."""
    sections = {row["path"]: row["name"] for row in config_classes(tree(settings(ledger.items))) if row["path"]}
    context = Context(framework, {name: (file, name[:1].isupper()) for name, file in where.items()}, sections)
    for row in contribution.rows("symbols"):
        if re.match(r"\(parameters\)", str(row.get("shape")).strip()):
            context.parameters.add(str(row.get("variable")))
        if re.search(r"\bmasks?\b", str(row.get("meaning")), re.I):
            context.masks.add(str(row.get("variable")))
    for part in contribution.components:
        context.places.setdefault(part.kind, []).append((part.name, part.where))
    context.taken = signatures.taken_networks(contribution, ledger.items)
    at = {part.name: [item for item in ledger.items if signatures.stands_at(item, where[part.name], part.name)] for part in contribution.components}
    context.flax = framework == "jax" and any(
        part.name[:1].isupper() and (part.kind in LAYERS or (part.kind in PERHAPS and signatures.learns(part, at[part.name])))
        for part in contribution.components
    )
    return context


def type_text(contribution: Contribution) -> str:
    return TYPES.get(contribution.type, contribution.type)
