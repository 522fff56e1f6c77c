"""`notebooks/walkthrough.ipynb`: built with the result, refreshed with src/, its hand-written cells kept.

Every cell that was laid carries in its metadata its id, role and a hash of its laid text; a cell whose text still has that hash
is ours to refresh, any other is the hand's. Code is shown as a block rendered from src/, so that it cannot drift; checks import
src/ and exercise it. The patterns of checks are templates in `scaffolds/checks/FRAMEWORK/`, written out in plain code.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from paper2code import files
from paper2code.check.dimensions import OBJECT, REAL, TRUTH, WHOLE
from paper2code.check.ledger import NOT_APPLICABLE, PARTIALLY, UNSPECIFIED, Item
from paper2code.show import toys
from paper2code.show.counts import count_of
from paper2code.show.plan import Part, Plan, formula, one_line, shape_of
from paper2code.show.signatures import CALLED, NETWORK, bare, identifier, kind_of

if TYPE_CHECKING:
    from paper2code.show.scaffold import Laid

FILE = "notebooks/walkthrough.ipynb"
KEY = "paper2code"  # of the cells' metadata
@dataclass
class Cell:
    """A cell to lay. `role`: text, excerpt, shown, code, check."""

    id: str
    kind: str
    text: str
    role: str
    part: str = ""
    pattern: str = ""


def mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# --- which checks apply ---------------------------------------------------------------------------------------------------

# Why a pattern is left out: "" where it applies, None where it is not about such a component at all (and so not told).
Reason = str | None


@dataclass(frozen=True)
class Pattern:
    """A kind of check."""

    name: str
    title: str
    why_not: Callable[[Part, Plan], Reason]


def dimension(part: Part, name: str) -> bool:
    return any(name in (shape_of(shape) or ()) for shape in part.inputs.values())


def made_up(part: Part, plan: Plan) -> Reason:
    return "" if part.tensors else "its inputs cannot be made up from their shapes"


def computes(part: Part) -> bool:
    return part.kind in ("model", "loss", "schedule", "inference", "system", "utility")


def shape(part: Part, plan: Plan) -> Reason:
    if not computes(part):
        return None
    if any(kind_of(text) == OBJECT for text in part.outputs.values()):
        return "what it gives is no tensor"
    return made_up(part, plan) if part.outputs else "it works in place and gives nothing back"


def layer(part: Part, plan: Plan) -> Reason:
    """Whether it is a class of the model that can be run on made-up inputs."""
    if not (part.is_class and part.kind == "model"):
        return None
    if not part.outputs or kind_of(next(iter(part.outputs.values()))) == OBJECT:
        return "it gives no tensor back"
    return made_up(part, plan)


def seeds(part: Part, plan: Plan) -> Reason:
    if (reason := layer(part, plan)) != "" or part is whole_model(plan):
        return reason
    outside = next((other.name for other in plan.parts if re.match(r"init|reset_param", other.name)), "")
    return f"{outside} draws the parameters, once the whole model stands" if outside else ""


def real(part: Part) -> bool:
    """Whether its first output is a tensor of real numbers."""
    return bool(part.outputs) and kind_of(next(iter(part.outputs.values()))) == REAL


def gradients(part: Part, plan: Plan) -> Reason:
    if (reason := layer(part, plan)) != "":
        return reason
    if not real(part):
        return "its outputs are no real numbers"
    return "NumPy does not differentiate" if plan.framework == "numpy" else ""


def changed(part: Part) -> list[str]:
    """The inputs whose first example can be changed by turning it round."""
    return [key for key, text in part.inputs.items() if (shape_of(text) or [""])[0] == "batch" and len(shape_of(text)) > 1]


def batch(part: Part, plan: Plan) -> Reason:
    if (reason := layer(part, plan)) != "":
        return reason
    if not dimension(part, "batch") or "batch" not in (shape_of(next(iter(part.outputs.values()))) or ()):
        return "it has no batch dimension"
    if not changed(part) or shape_of(next(iter(part.outputs.values())))[0] != "batch":
        return "its batch is not the first of several dimensions"
    norm = plan.find("normalisation")
    if norm is not None and re.search(r"\bbatch norm", f"{norm.quote} {norm.using}", re.I):
        return "batch normalisation couples the examples of a batch"
    return ""


DROPS = re.compile(r"\bdrop(?:s|ped|[- ]?outs?|[- ]?path)?\b|\bP_\W*drop|stochastic depth", re.I)
MASK = re.compile(r"mask(?!ed_?(?:lm|token|language|image))", re.I)  # an input that says what is seen
HIDES = re.compile(r"pad|ignor|hid(?:e|den)|dropped|masked_?out|invisible", re.I)  # … or what is not
CAUSAL = re.compile(r"\bcausal|look[- ]?ahead|subsequent position|(?:future|later|following) (?:position|token)s?|auto-?regressive (?:mask|attention)", re.I)
PRUNES = re.compile(r"prun|sparsif|winning_?ticket", re.I)


def told(item: Item) -> str:
    return f"{item.id} {item.item} {item.quote} {item.using} {item.config}"


def whole_model(plan: Plan) -> Part | None:
    """The last class of the model: it holds the others."""
    return next((part for part in reversed(plan.parts) if part.kind == "model" and part.is_class), None)


def off(item: Item) -> bool:
    """Whether a decision is that there is none of it."""
    said = item.using if item.value is None else str(item.value)
    return bool(re.match(r"(?:0(?:\.0*)?(?![.\d])|none\b|no\b|not\b|off\b|false\b|without\b)", said.strip(), re.I))


def modes(part: Part, plan: Plan) -> Reason:
    if (reason := layer(part, plan)) != "":
        return reason
    if plan.framework == "numpy":
        return "the NumPy form has no training mode"
    if not real(part):
        return "its outputs are no real numbers"
    rate = plan.find("dropout-rate")
    if rate is None or not rate.config or not rate.value:
        return "nothing in it differs between training and evaluation"
    if part is whole_model(plan) or any(DROPS.search(told(item)) and not off(item) for item in part.items):
        return ""
    return "no decision about dropout is written at it"


def is_mask(key: str, text: str) -> bool:
    """Whether an input says what is seen: truth values, or a tensor or an object that is named a mask."""
    return (kind_of(text) == TRUTH and shape_of(text) is not None) or bool(MASK.search(key) and (shape_of(text) is not None or kind_of(text) == OBJECT))


def masks(part: Part, plan: Plan) -> Reason:
    """A mask is an input, or stands in the component's axes ("softmax over the keys, causal"); the whole model has those of its parts."""
    if part.kind != "model" or PRUNES.search(part.name) or (part.outputs and all(kind_of(text) == TRUTH for text in part.outputs.values())):
        return None

    def masked(other: Part) -> bool:
        seen = any(is_mask(key, text) for key, text in other.inputs.items() if shape_of(text) is not None)
        return seen or any(CAUSAL.search(axis) for axis in other.axes)

    if masked(part) or any(is_mask(key, text) or key in plan.context.masks for key, text in part.inputs.items()):
        return ""
    others = [other for other in plan.parts if other is not part and other.kind == "model" and not PRUNES.search(other.name)]
    hides = any(map(masked, others)) or any(
        item.group == "architecture" and item.status != NOT_APPLICABLE and CAUSAL.search(told(item)) and not off(item) for item in plan.ledger.items
    )
    if not hides:
        return "no component of the model takes a mask"
    return "" if part is whole_model(plan) else "neither its inputs nor its axes name a mask"


def reference(part: Part, plan: Plan) -> Reason:
    return "" if computes(part) else None


def identity(part: Part, plan: Plan) -> Reason:
    return None if not computes(part) else "" if part.equations else "no equation of its own is numbered; its parts have theirs"


def of_kind(kind: str) -> Callable[[Part, Plan], Reason]:
    return lambda part, plan: "" if part.kind == kind else None


PATTERNS = (
    Pattern("shape", "the contract: shapes, a batch of one, finite values", shape),
    Pattern("reference", "agreement with an independent slow formula", reference),
    Pattern("identity", "limits and identities of the paper's equations", identity),
    Pattern("batch_independence", "the examples of a batch do not see each other", batch),
    Pattern("gradients", "gradients reach every parameter", gradients),
    Pattern("modes", "training and evaluation mode differ, and only by dropout", modes),
    Pattern("seeds", "the same seed gives the same parameters and values", seeds),
    Pattern("masks", "what is masked has no influence", masks),
    Pattern("data", "what the batches hold", of_kind("data")),
    Pattern("evaluation", "the metrics on cases counted by hand", of_kind("evaluation")),
    Pattern("training", "what is built and done against the config; a handful of examples is learned", of_kind("training")),
)


# --- code for made-up inputs ----------------------------------------------------------------------------------------------


# Other names that papers and code give to the sizes of the checklist.
NAMES = {
    "hidden-size": "d_model d D hidden_size model_dim d_hidden width embed_dim n_embd",
    "vocabulary-size": "V vocab vocab_size vocabulary vocabulary_size n_vocab",
    "heads": "h heads n_heads num_heads n_head H",
    "head-size": "d_k d_v d_head head_dim head_size",
    "feed-forward-size": "d_ff d_ffn ffn_dim d_inner intermediate_size",
    "depth": "L N layers n_layers num_layers n_blocks depth",
}


class Sizes:
    """Dimensions of shapes as expressions on the toy configuration."""

    OTHERS = (4, 5, 3)  # none above the toy length, and all large enough for masks that hide one and leave two

    def __init__(self, plan: Plan):
        self.leaves: dict[str, str] = {}
        self.paths: dict[str, list[str]] = {}
        for path in plan.config():
            leaf = path.rpartition(".")[2]
            self.leaves.setdefault(leaf, f"toy.{path}")
            self.paths.setdefault(leaf, []).append(path)
        for row in plan.contribution.rows("symbols"):
            plain = re.sub(r"\\(?:text|mathrm|mathit|operatorname)|[\s${}\\]", "", str(row.get("symbol")))
            variable = str(row.get("variable"))
            if variable in self.leaves:
                self.leaves.setdefault(plain, self.leaves[variable])
            elif plain in self.leaves:
                self.leaves.setdefault(variable, self.leaves[plain])
        for size, names in NAMES.items():
            item = plan.find(size)
            if item is not None and item.config in plan.config():
                for name in names.split():
                    self.leaves.setdefault(name, f"toy.{item.config}")
        self.others: dict[str, str] = {}
        vocabulary = plan.find("vocabulary-size")
        self.top = f"toy.{vocabulary.config}" if vocabulary is not None and vocabulary.config else "5"
        numbers = [item for item in plan.config().values() if type(item.value) is int]
        pad = next((item for item in numbers if re.search(r"\bpad(?:ding)?\b", re.sub(r"[_.-]", " ", f"{item.id} {item.item} {item.config}"))), None)
        self.pad = f"toy.{pad.config}" if pad is not None else ""

    def of_part(self, part: Part) -> Sizes:
        """The sizes as a component sees them: a name that several sections have is that of its own section, which is the one that its
        decisions, its other dimensions and its name speak of."""
        dims = {word for text in (*part.inputs.values(), *part.outputs.values()) for dim in shape_of(text) or () for word in re.findall(r"[^\W\d]\w*", dim)}
        votes: Counter = Counter(item.config.rpartition(".")[0] for item in part.items if item.config)
        votes.update(paths[0].rpartition(".")[0] for name in dims if len(paths := self.paths.get(name, [])) == 1)
        for section in {path.rpartition(".")[0] for paths in self.paths.values() for path in paths}:
            if section and bare(section) in bare(part.name):
                votes[section] += 3
        mine = copy(self)
        mine.leaves = dict(self.leaves)
        for name, paths in self.paths.items():
            best = max(paths, key=lambda path: votes[path.rpartition(".")[0]])  # the first of equals
            if len(paths) > 1 and votes[best.rpartition(".")[0]]:
                mine.leaves[name] = f"toy.{best}"
        return mine

    def known(self, name: str, part: Part) -> bool:
        """Whether a dimension is given: by the config, by an input's shape, or by a number that is passed in."""
        given = {word for text in part.inputs.values() for dim in shape_of(text) or () for word in re.findall(r"[^\W\d]\w*", dim)}
        return all(word in self.leaves or word in given or word in part.inputs for word in re.findall(r"[^\W\d]\w*", name)) and not (
            name.startswith("*") or name in ("…", "...")
        )

    def of(self, name: str) -> str:
        if name == "batch" or name.isdigit():
            return name
        if name in self.leaves:
            return self.leaves[name]
        if name.isidentifier() or name.startswith("*") or not re.search(r"\w", name):
            return self.others.setdefault(name, str(self.OTHERS[len(self.others) % len(self.OTHERS)]))
        return re.sub(r"[^\W\d]\w*", lambda found: self.of(found.group()), name)

    def tuple(self, text: str) -> str:
        names = [self.of(name) for name in shape_of(text)]
        return f"({', '.join(names)}{',' if len(names) == 1 else ''})"

    def given(self, text: str, part: Part, at: int) -> str:
        """The shape of an output; a dimension that nothing gives is whatever it is."""
        names = [self.of(name) if self.known(name, part) else f"outs[{at}].shape[{axis}]" for axis, name in enumerate(shape_of(text))]
        return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


# Names that a laid cell has a use of its own for.
RESERVED = frozenset(
    "part parts out outs batch toy config before after learned missing count drawn seed leaves weighted taken handed model parameters plan ROOT sys "
    "replace torch np jax jnp nnx optax key rng".split()
)
GENERATOR = {"pytorch": "torch.Generator().manual_seed(0)", "jax": "jax.random.key(0)", "numpy": "np.random.default_rng(0)"}


def variable(plain: str) -> str:
    """The variable of a cell that holds an input."""
    return f"{plain}_" if plain in RESERVED else plain


def labels(part: Part, sizes: Sizes) -> dict[str, str]:
    """The inputs of a loss that are class labels of another one: the classes lie on the axis that the labels do not have."""
    out = {}
    for key, text in part.inputs.items() if part.kind == "loss" else ():
        dims = shape_of(text)
        if dims is None or kind_of(text) != WHOLE or MASK.search(key):
            continue
        for other in part.inputs.values():
            wide = shape_of(other)
            if wide is None or kind_of(other) != REAL or len(wide) != len(dims) + 1:
                continue
            # The last axis first: (batch, n, V) for (batch, n); then the second, (batch, classes, h, w) for (batch, h, w).
            axis = next((axis for axis in (len(wide) - 1, *range(1, len(wide) - 1)) if [*wide[:axis], *wide[axis + 1 :]] == dims), None)
            if axis is not None:
                out[key] = sizes.of(wide[axis])
                break
    return out


def made(
    name: str, text: str, sizes: Sizes, framework: str, scale: str = "", dims: frozenset[str] = frozenset(), *, plain: str = "", classes: str = ""
) -> str:
    """One made-up input as an assignment. `dims`: the dimensions of the part's shapes, which a number passed in may be; `classes`: how
    many values a label has."""
    plain = variable(plain or identifier(name))
    kind = kind_of(text)
    if shape_of(text) is None:
        number = sizes.of(name) if kind == WHOLE and name in dims else {WHOLE: "1", TRUTH: "True"}.get(kind, "0.5")
        return f"{plain} = {number}"
    shape = sizes.tuple(text)
    if shape_of(text) and (kind == TRUTH or MASK.search(name)):
        last = sizes.of(shape_of(text)[-1])
        drawn = {"pytorch": "torch.rand({0})", "jax": "jax.random.uniform(key, {0})", "numpy": "rng.random({0})"}[framework].format(shape)
        first = {"pytorch": "torch.arange({0})", "jax": "jnp.arange({0})", "numpy": "np.arange({0})"}[framework].format(last)
        # In a random order that position 0 heads, the first half (rounded up) is seen: never a row without any, nor position 0 unseen.
        ranks = f"({drawn} * ({first} > 0)).argsort(-1).argsort(-1)"
        seen = f"{ranks} {'>=' if HIDES.search(name) else '<'} ({last} + 1) // 2"
        number = {WHOLE: {"pytorch": ".long()"}.get(framework, ".astype(int)"), REAL: {"pytorch": ".float()"}.get(framework, ".astype(float)")}
        return f"{plain} = {seen}" if kind == TRUTH else f"{plain} = ({seen}){number[kind]}"
    if kind == WHOLE:
        top = classes or sizes.top
        made_ = {
            "pytorch": "torch.randint({top}, {shape})",
            "jax": "jax.random.randint(key, {shape}, 0, {top})",
            "numpy": "rng.integers({top}, size={shape})",
        }[framework]
        if sizes.pad and top == sizes.top:  # none of them is padding
            made_ = f"({sizes.pad} + 1 + {made_.format(top=f'{top} - 1', shape=shape)}) % {top}"
        else:
            made_ = made_.format(top=top, shape=shape)
    elif kind == TRUTH:
        made_ = {"pytorch": "torch.tensor(True)", "jax": "jnp.array(True)", "numpy": "np.array(True)"}[framework]
    else:
        made_ = {
            "pytorch": f"torch.randn{shape if shape.count(',') > 1 or not shape.endswith(',)') else shape[:-2] + ')'}",
            "jax": f"jax.random.normal(key, {shape})",
            "numpy": f"rng.standard_normal({shape})",
        }[framework]
    return f"{plain} = {made_}{scale}"


def object_of(part: Part, key: str, plan: Plan) -> str:
    """An object among the inputs that can be made, as an assignment."""
    section = plan.context.section(key, part.inputs[key])
    return f"{variable(part.names[key])} = {f'toy.{section}' if section else GENERATOR[plan.framework]}"


def call_of(part: Part, written: str | None) -> str:
    """The arguments of a component's call: its inputs by name, and the configuration where it takes one, as laid or as `written`."""
    rest = []
    if not part.is_class:
        head = part.signature if written is None else ast.unparse(ast.parse(written).body[0].args)
        if re.search(r"\bconfig\b", head):
            rest.append("config=toy")
    return ", ".join([f"{part.names[key]}={variable(part.names[key])}" for key in part.inputs] + rest)


def constructor(part: Part, written: str | None) -> list[tuple[str, str, bool]]:
    """(name, annotation, by name only) of each argument of a class's constructor, as it is written, or else as it was laid."""
    nodes = ast.parse(written).body[0].body if written else []
    init = next((node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)
    if init is None:
        init = ast.parse(f"def __init__(self, {part.init}): pass").body[0]
    args = init.args
    free = len(args.args) - len(args.defaults)
    out = [(arg.arg, ast.unparse(arg.annotation) if arg.annotation else "", False) for arg in args.args[1:free]]
    return out + [
        (arg.arg, ast.unparse(arg.annotation) if arg.annotation else "", True)
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        if default is None
    ]


def stand_in(name: str) -> str:
    return f"stand_in_{name}"


def make_of(part: Part, plan: Plan, seed: str = "0", folder: Path | None = None, inside: tuple[str, ...] = ()) -> str:
    """The expression that builds a component at toy sizes: with the sections, the other components and the stand-ins that it takes."""
    if not part.is_class:
        return part.name
    context, framework = plan.context, plan.framework
    sections = {name: path for path, name in context.sections.items()}
    keys = {name: key for key, name in part.names.items()}
    given: list[tuple[str, str, bool]] = []
    for name, annotation, only in constructor(part, source_of(folder, part.file, part.name) if folder else None):
        key = keys.get(name, name)
        kinds = [each.strip() for each in annotation.split("|")]
        section = next((sections[each] for each in kinds if each in sections), "") or context.section(key, "object")
        other = next((each for each in plan.parts if each.name == context.component(key)), None)
        if name == "config" or annotation == "Config":
            value = "toy"
        elif section:
            value = f"toy.{section}"
        elif "Rngs" in annotation:
            value = f"nnx.Rngs({seed})"
        elif "Generator" in annotation or (framework == "jax" and name == "key"):
            value = GENERATOR[framework].replace("0", seed)
        elif other is not None and other.name not in (part.name, *inside):
            value = make_of(other, plan, seed, folder, (*inside, part.name))
        elif NETWORK.search(key) or CALLED.search(key) or "Module" in annotation or annotation == "Callable":
            value = f"{stand_in(name)}({'' if framework == 'pytorch' else seed})"
        else:
            return f"{part.name}(toy)"  # what it takes cannot be made up
        given.append((name, value, only))
    plain = [value for _, value, _ in given]
    if [name for name, _, _ in given] in (["config"], ["config", "rng"]):
        return f"{part.name}({', '.join(plain)})"
    by_name = [value if at == 0 and value == "toy" and not only else f"{name}={value}" for at, (name, value, only) in enumerate(given)]
    return f"{part.name}({', '.join(by_name)})"


# --- cells ------------------------------------------------------------------------------------------------------------------


def source_of(folder: Path, file: str, name: str) -> str | None:
    """A top-level definition of a file of the result as it stands; None where it is not there or does not parse."""
    path = folder / file
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError):
        return None
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    return None


def shown(folder: Path, part: Part) -> str:
    body = source_of(folder, part.file, part.name)
    fence = "````" if body and "```" in body else "```"
    return f"`{part.name}` as it stands in `{part.file}`:\n\n{fence}python\n{body if body is not None else '# not written yet'}\n{fence}"


def excerpt(part: Part) -> str:
    lines = [f"## {part.name}: {part.places}", ""]
    said = set()
    for item in part.items:
        if item.status != NOT_APPLICABLE and item.quote and (item.where, item.quote) not in said:
            said.add((item.where, item.quote))
            lines += [f'> {item.where} — "{one_line(item.quote)}"', ""]
    for equation in part.equations:
        if equation.latex:
            lines += [f"Eq. {equation.number}:", "", f"$${formula(equation.latex)}$$", ""]
    if not said and part.said is not None:
        lines += [f'> {part.said.where} — "{one_line(part.said.quote)}"', ""]
    elif not said and not part.equations:
        lines += [f"See {part.places}.", ""]
    return "\n".join(lines).rstrip()


def toy(plan: Plan) -> str:
    """The expression of the toy configuration."""
    names = {name: size for size, words in NAMES.items() for name in words.split()}
    small = toys.choose(plan.config().values(), plan.ledger, names)
    level: dict = {}
    for path, value in small.items():
        *sections, key = path.split(".")
        at = level
        for section in sections:
            at = at.setdefault(section, {})
        at[key] = value
    if not level:
        return "toy = config"

    def changed(level: dict, path: str) -> str:
        parts = [f"{key}={changed(value, f'{path}.{key}') if isinstance(value, dict) else value}" for key, value in level.items()]
        return f"replace({path}, {', '.join(parts)})"

    rows = [f"    {key}={changed(value, f'config.{key}') if isinstance(value, dict) else value}," for key, value in level.items()]
    return "toy = replace(\n    config,\n" + "\n".join(rows) + "\n)"


NO_PITFALLS = ("software", "hardware", "precision", "seeds", "hyperparameter-search", "training-time")


def pitfalls(plan: Plan) -> str:
    lines = ["## Common pitfalls", ""]
    for row in plan.ledger.disagreements():
        first, second = (row.fields.get(side) if isinstance(row.fields.get(side), dict) else {} for side in ("first", "second"))
        decision = one_line(row.fields.get("decision") or "").rstrip(".;")
        lines.append(
            f"- **{one_line(row.fields.get('about'))}**: the paper says two things, the first in {first.get('where') or 'one place'}, the second in "
            f"{second.get('where') or 'another'}. Decision: {decision}."
        )
    for item in plan.ledger.items:
        # What nobody gets wrong in code is no pitfall: only decisions that stand in src/ or are a setting.
        used = item.config or item.code.startswith("src/")
        if item.status in (PARTIALLY, UNSPECIFIED) and item.group in ("architecture", "training", "method") and used and item.item not in NO_PITFALLS:
            lines.append(
                f"- **{item.item}** is left open by the paper: {one_line(item.using).rstrip('.')}."
                + (f" It might also be {one_line('; '.join(item.alternatives))}." if item.alternatives else "")
            )
    if len(lines) == 2:
        lines.append(
            "- The paper contradicts itself nowhere and leaves no setting of the method open; the shapes and axes above are where to look."
        )
    return "\n".join(lines)


def build(plan: Plan, folder: Path) -> list[Cell]:
    """All cells in order."""
    from paper2code.show.scaffold import templates

    engine, framework, whole = templates(), plan.framework, Sizes(plan)
    out: list[Cell] = []
    left: dict[str, list[tuple[str, str]]] = {}

    def text(id: str, body: str, role: str = "text", part: str = "") -> None:
        out.append(Cell(id, "markdown", body, role, part))

    def code(id: str, body: str, role: str = "code", part: str = "", pattern: str = "") -> None:
        out.append(Cell(id, "code", body.strip("\n"), role, part, pattern))

    def template(name: str, **more) -> str:
        return engine.get_template(f"checks/{framework}/{name}.py.j2").render(plan=plan, framework=framework, **more)

    text(
        "title",
        f"# Walkthrough: {plan.title}\n\nEach component beside the paper's words, with checks that exercise `src/`. Sizes are toy "
        "sizes, so that everything runs on a CPU in seconds; the structure is the paper's. Nothing is downloaded.",
    )
    if plan.mode == "educational":
        text(
            "background",
            "## Background\n\nFILL IN: what a reader has to know before the paper: the problem, what was done about it before, and the "
            "idea in plain words.",
        )
    text("setup-head", "## Set-up")
    modules: dict[str, list[str]] = {}
    for part in plan.parts:
        modules.setdefault(part.file.removesuffix(".py").replace("/", "."), []).append(part.name)
    imports = "\n".join(f"from {module} import {', '.join(names)}" for module, names in modules.items() if module != "src.utils")
    helpers = ", ".join(["load_config", *modules.get("src.utils", [])])
    code("setup", template("setup", imports=imports, helpers=helpers, flax=plan.layers, optax=plan.optimises))
    text("config-head", "## Configuration\n\nThe settings of the paper, and toy sizes of them for the checks.")
    code("config", 'config = load_config(ROOT / "configs" / "base.yaml")\n' + toy(plan))
    makes = {part.name: make_of(part, plan, folder=folder) for part in plan.parts}
    if missing := list(dict.fromkeys(name for make in makes.values() for name in re.findall(r"\bstand_in_(\w+)\(", make))):
        rows = plan.contribution.rows("reference")
        taken = "; ".join(one_line(row.get("what")) + (f", {row.get('where')}" if row.get("where") else "") for row in rows)
        text("stand-ins-head", f"What `src/` takes from elsewhere ({taken or 'it is passed in'}) is small here, with the same interface.")
        code("stand-ins", template("stand_ins", names=missing))
    for part in plan.parts:
        name, sizes = part.name, whole.of_part(part)
        classes = labels(part, sizes)
        dims = frozenset(dim for value in (*part.inputs.values(), *part.outputs.values()) for dim in shape_of(value) or ())
        text(f"{name}-excerpt", excerpt(part), "excerpt", name)
        text(f"{name}-shown", shown(folder, part), "shown", name)
        names = {key: variable(part.names[key]) for key in part.inputs}
        floating = [key for key, value in part.inputs.items() if shape_of(value) is not None and kind_of(value) == REAL and not MASK.search(key)]
        for pattern in PATTERNS:
            reason = pattern.why_not(part, plan)
            if reason is None:
                continue
            if reason:
                left.setdefault(pattern.name, []).append((name, reason))
                continue
            data = {
                "part": part,
                "inputs": [
                    object_of(part, key, plan)
                    if key in part.possible
                    else made(key, value, sizes, framework, dims=dims, plain=part.names[key], classes=classes.get(key, ""))
                    for key, value in part.inputs.items()
                ],
                "batched": [key for key, value in part.inputs.items() if "batch" in (shape_of(value) or ())],
                "changed": [names[key] for key in changed(part) if not is_mask(key, part.inputs[key])],
                "floating": [names[key] for key in floating],
                "make": makes[name],
                "again": make_of(part, plan, "1", folder),
                "call": call_of(part, None if part.is_class else source_of(folder, part.file, part.name)),
                "taken_call": ", ".join(
                    f'{part.names[key]}=taken["{names[key]}"]' if key in floating else f"{part.names[key]}={names[key]}" for key in part.inputs
                ),
                "first": "[0]" if len(part.outputs) > 1 else "",
                "shapes": [
                    sizes.given(value, part, at) if shape_of(value) is not None else None for at, value in enumerate(part.outputs.values())
                ],
                "title": pattern.title,
                "whole": part is whole_model(plan),
            }
            code(f"{name}-{pattern.name}", template(pattern.name, **data), "check", name, pattern.name)
    models = [part for part in plan.parts if part.kind == "model" and part.is_class]
    if models:
        text("assembly-head", f"## Assembly\n\nThe whole model is `{models[-1].name}`, at the paper's size.")
        count = plan.find("parameter-count")
        if count is not None and count.numbers() and not count.config:
            code(
                "assembly-count",
                template(
                    "parameter_count",
                    part=models[-1],
                    count=count_of(count, plan.paper, plan.contribution),
                    printed=count.numbers()[0],
                    where=count.where,
                    make=re.sub(r"\btoy\b", "config", makes[models[-1].name]),
                ),
                "check",
                models[-1].name,
                "parameter_count",
            )
        else:
            code(
                "assembly-count",
                template("assembly", part=models[-1], make=makes[models[-1].name]),
                "check",
                models[-1].name,
                "assembly",
            )
    if any(part.kind == "loss" for part in plan.parts) and models:
        text("training-head", "## Loss and training step")
        last = [part for part in plan.parts if part.kind == "loss"][-1]
        code("training-start", template("initial_loss", model=models[-1], part=last), "check", last.name, "initial_loss")
    if plan.mode == "educational":
        text("what-if-head", "## What if\n\nFILL IN: one choice of the paper that is changed below, and what you expect.")
        code(
            "what-if",
            '# What happens when one choice is changed?\nraise NotImplementedError("FILL IN: change one setting of toy, show the effect")',
            "check",
            "",
            "what_if",
        )
        listed = "\n".join(f"- {one_line(reference.text)}" for reference in plan.paper.references[:8])
        text("reading", f"## Further reading\n\nFILL IN: which of the paper's references to read first, and why.\n\n{listed}")
    text("pitfalls", pitfalls(plan))
    rows = [
        f"- {next(p.title for p in PATTERNS if p.name == name)} (`{name}`): "
        + "; ".join(f"{reason} ({', '.join(f'`{n}`' for n, r in names if r == reason)})" for reason in dict.fromkeys(r for _, r in names))
        for name, names in left.items()
    ]
    text("left-out", "## Checks left out\n\n" + ("\n".join(rows) or "None."))
    return out


# --- the file ---------------------------------------------------------------------------------------------------------------


def cell_of(spec: Cell) -> nbformat.NotebookNode:
    make = nbformat.v4.new_markdown_cell if spec.kind == "markdown" else nbformat.v4.new_code_cell
    cell = make(spec.text, metadata={KEY: meta(spec)})
    cell["id"] = re.sub(r"[^A-Za-z0-9_-]", "-", spec.id)[:60]
    return cell


def meta(spec: Cell) -> dict:
    return {
        key: value
        for key, value in (("id", spec.id), ("role", spec.role), ("part", spec.part), ("pattern", spec.pattern), ("laid", mark(spec.text)))
        if value
    }


def update(plan: Plan, folder: Path, done: Laid) -> None:
    """Build the notebook, or bring an existing one up to date."""
    specs = build(plan, folder)
    path = folder / FILE
    if not path.is_file():
        book = nbformat.v4.new_notebook(cells=[cell_of(spec) for spec in specs])
        book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        book.metadata["language_info"] = {"name": "python"}
        files.write(path, nbformat.writes(book) + "\n")
        done.new.append(FILE)
        return
    try:
        book = nbformat.read(path, as_version=4)
    except Exception:  # noqa: BLE001 - nbformat raises many kinds; the gate says what is wrong with the file
        done.conflicts.append((FILE, 1, "the notebook cannot be read; mend or delete it, and lay again"))
        return
    before = nbformat.writes(book)
    known = {cell.metadata.get(KEY, {}).get("id"): cell for cell in book.cells if cell.metadata.get(KEY, {}).get("id")}
    wanted = {spec.id for spec in specs}
    at = 0
    for spec in specs:
        cell = known.get(spec.id)
        if cell is None:
            book.cells.insert(at, cell_of(spec))
            at += 1
            continue
        at = book.cells.index(cell) + 1
        laid = cell.metadata[KEY].get("laid")
        if spec.role == "shown" or mark(cell.source) == laid:
            if cell.source != spec.text and cell.cell_type == "code":
                cell["outputs"], cell["execution_count"] = [], None
            cell.source = spec.text
            cell.metadata[KEY] = meta(spec)
    book.cells = [
        cell
        for cell in book.cells
        if not (own := cell.metadata.get(KEY, {})).get("id") or own["id"] in wanted or mark(cell.source) != own.get("laid")
    ]
    after = nbformat.writes(book)
    if after == before:
        done.kept.append(FILE)
    else:
        files.write(path, after + "\n")
        done.updated.append(FILE)


def refresh(path: Path) -> bool:
    """Render the shown code of a notebook again from the src/ beside it; whether anything changed."""
    book = nbformat.read(path, as_version=4)
    folder, changed = path.parent.parent, False
    for cell in book.cells:
        own = cell.metadata.get(KEY, {})
        found = re.match(r"`(\w+)` as it stands in `([\w./]+)`", cell.source) if own.get("role") == "shown" else None
        if found:
            body = source_of(folder, found.group(2), found.group(1))
            text = re.sub(
                r"(`{3,})python\n.*\n\1", lambda m, body=body: f"{m.group(1)}python\n{body}\n{m.group(1)}", cell.source, flags=re.S
            )
            if body is not None and text != cell.source:
                cell.source, changed = text, True
    if changed:
        files.write(path, nbformat.writes(book) + "\n")
    return changed
