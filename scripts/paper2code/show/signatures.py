"""What a component's definition takes and gives: names that Python accepts, types of the framework, what the constructor takes.

The rules are told in `scaffolds/README.md`. They read what contribution.md and ledger.yaml say; nothing is asked again.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from paper2code import files
from paper2code.check import dimensions
from paper2code.check.contribution import Component, Contribution
from paper2code.check.ledger import NOT_APPLICABLE, Item

TENSOR = {"pytorch": "Tensor", "jax": "jax.Array", "numpy": "np.ndarray"}
RANDOM = {"pytorch": ("generator", "torch.Generator"), "jax": ("key", "jax.Array"), "numpy": ("rng", "np.random.Generator")}
# What an object is, by its name.
NETWORK = re.compile(
    r"(?:\A|_)(?:model|network|net|module|encoder|decoder|backbone|trunk|denoiser|unet|vae|autoencoder|policy|actor|critic|discriminator"
    r"|teacher|student|embedder|extractor|classifier|predictor|lm|llm)\d*\Z",
    re.I,
)
CALLED = re.compile(r"(?:\A|_)(?:tokeni[sz]er?|fn|func|function|callback|callable)\Z|\A[fg]\Z", re.I)
OPTIMISER = re.compile(r"(?:\A|_)(?:optimi[sz]er|opt)\Z", re.I)
CONFIG = re.compile(r"\A(?:config|cfg|settings|hparams|hyper_?parameters)\Z", re.I)
DRAWN_FROM = re.compile(r"(?:\A|_)(?:rng|generator|random_state|prng(?:_key)?)\Z", re.I)
ADVERSARY = re.compile(r"discriminator|critic|adversar", re.I)
# What an object is, by the remark after its form: "object (a function of x)".
REMARKS = (
    ("Callable", r"\b(?:function|callable)\b"),
    ("dict", r"\b(?:dict|mapping)\b"),
    ("list", r"\b(?:list|sequence)\b"),
    ("Iterator", r"\b(?:iterator|iterable|stream)\b"),
    ("network", r"\b(?:model|network|module)\b"),
)
# Words that say that something is drawn: in a name, and in what the paper or the choice says.
DRAWS_NAME = re.compile(
    r"(?:\A|_)(?:sampl\w*|draw\w*|shuffl\w*|random\w*|(?:mini)?_?batch\w*|augment\w*|permut\w*|bootstrap\w*|noise|noisy|dropout|jitter)", re.I
)
DRAWS = re.compile(
    r"\brandom(?:ly|i[sz]\w*)?\b|\bsampl(?:ed|ing)\b|\bsamples?\s+(?:from|uniformly|with|without)\b|\bdrawn?\b|\bshuffl\w+|\bstochastic\w*"
    r"|\bpermut(?:e[ds]?|ation\w*)\b|\bbootstrap\w*|\bat random\b|\b(?:Gaussian|uniform|white) noise\b",
    re.I,
)
NONE = re.compile(r"(?:none\b|no\b|not\b|off\b|false\b|without\b)", re.I)
LEARNS = re.compile(
    r"\blearn(?:ed|able|t)\b|\btrainable\b|(?<!hyper)(?<!hyper-)\bparameters?\b(?! count)|\bnn\.(?:Module|Parameter)\b|\binitiali[sz](?:ed|ation)\b",
    re.I,
)
# Sections of the config that belong to a kind of component, where the rows do not say whose they are.
SECTIONS = {
    "model": ("model", "architecture", "network"),
    "loss": ("loss", "objective"),
    "data": ("data", "dataset"),
    "schedule": ("schedule", "training", "optimizer", "optimiser", "optim", "learning_rate", "lr"),
    "inference": ("inference", "sampling", "sampler", "decoding", "generation", "search"),
    "evaluation": ("evaluation", "eval", "metrics"),
    "system": ("system",),
    "utility": (),
}
INDEX = re.compile(r"\A(?:i|j|k|n|idx|index|item|position|example)\Z", re.I)
SOURCE = re.compile(
    r"(?:\A|_)(?:paths?|files?|folder|root|dir(?:ectory)?|split|fold|subset|seed|size|length|count|number|n|num|data(?:set)?|corpus|rows|records"
    r"|examples|pairs|train|images|labels|texts|sentences|documents|sequences|vocab(?:ulary)?|tokeni[sz]er?|transform\w*)\Z",
    re.I,
)
COLLECTION = re.compile(r"(?:Dataset|Data|Examples|Samples|Pairs|Corpus|Images|Sequences|Episodes|Split|Set|Batches)\Z")
UNITS = (("epoch", r"epochs?"), ("step", r"steps?|iterations?|updates?|iters?|batches"))


@dataclass
class Context:
    """What all components of a paper share. `components`: name → (file, class?); `sections`: config section → settings class."""

    framework: str
    components: dict[str, tuple[str, bool]] = field(default_factory=dict)
    sections: dict[str, str] = field(default_factory=dict)
    parameters: set[str] = field(default_factory=set)  # variables that the table of symbols calls a model's parameters
    masks: set[str] = field(default_factory=set)  # … and those that it calls a mask
    places: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # kind → its components, with their places in the paper
    flax: bool = False
    taken: dict[str, list[str]] = field(default_factory=dict)  # class → networks that other works have and it is built on

    def component(self, key: str, *, only_class: bool = False) -> str:
        """The component that an input is named after: "encoder" after Encoder, "sci_fact" after SciFact; "" where none is."""
        for name, (_, is_class) in self.components.items():
            if bare(name) == bare(key) and (is_class or not only_class):
                return name
        return ""

    def section(self, key: str, shape: str) -> str:
        """The section of the config that an input is named after: "conv_config" is the section `conv`."""
        found = re.fullmatch(r"(\w+)_(?:config|cfg|settings)", key)
        return found.group(1) if found and found.group(1) in self.sections and kind_of(shape) == dimensions.OBJECT else ""

    def random(self, key: str, shape: str, others: Iterable[str]) -> bool:
        """Whether an input is what random numbers are drawn from."""
        if kind_of(shape) != dimensions.OBJECT or self.component(key):
            return False
        if key.lower() == "key":
            return self.framework == "jax"
        return bool(DRAWN_FROM.search(key)) and not any(ADVERSARY.search(other) for other in (*others, *self.components))


def bare(name: str) -> str:
    return name.replace("_", "").lower()


def kind_of(text: str) -> str:
    form = dimensions.read(text)
    return form.kind if form is not None else dimensions.OBJECT


def tensor(text: str) -> bool:
    form = dimensions.read(text)
    return form is not None and form.dims is not None


def is_config(key: str, shape: str) -> bool:
    return kind_of(shape) == dimensions.OBJECT and bool(CONFIG.match(key))


def identifier(name: str) -> str:
    """A name of the contribution as one that Python accepts: "x'" → x_prime, "lambda" → lambda_, "$\\theta_0$" → theta_0."""
    name = str(name).strip()
    if not name.isidentifier():
        primes = len(re.findall(r"['’′]", name))
        words = re.findall(r"[^\W_]+|_", re.sub(r"\\(?:text|mathrm|mathit|mathbf|mathcal|operatorname|hat|tilde|bar)(?![A-Za-z])|['’′]", " ", name))
        plain = re.sub(r"_{2,}", "_", "_".join(words)).strip("_")
        plain = plain if plain.isidentifier() else files.slug(name, otherwise="x") if not re.match(r"\d", plain) else f"x_{plain}"
        name = plain + "_prime" * bool(primes)
    return f"{name}_" if keyword.iskeyword(name) or name == "self" else name


def identifiers(keys: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Names → identifiers, each once."""
    out: dict[str, str] = {}
    for key in keys:
        plain = name = identifier(key)
        number = 2
        while name in out.values() or name in taken:
            name, number = f"{plain}_{number}", number + 1
        out[key] = name
    return out


def type_of(key: str, shape: str, context: Context, *, file: str = "", others: Iterable[str] = ()) -> str:
    """The annotation of something taken or given: every form of check/dimensions.py has one in each framework."""
    array = TENSOR[context.framework]
    form = dimensions.read(shape)
    if form is not None and form.dims is not None:
        return array
    if form is not None and form.kind != dimensions.OBJECT:
        return form.kind
    network = {"pytorch": "nn.Module", "jax": "nnx.Module" if context.flax else "Callable", "numpy": "Callable"}[context.framework]
    if re.match(r"\(parameters\)", str(shape).strip()) or key in context.parameters:
        return f"dict[str, {array}]"
    if is_config(key, shape):
        return "Config"
    if section := context.section(key, shape):
        return context.sections[section]
    if context.random(key, shape, others):
        return RANDOM[context.framework][1]
    if name := context.component(key):
        where, is_class = context.components[name]
        return "Callable" if not is_class else name if where == file else network if NETWORK.search(key) else "object"
    if key in context.sections:  # a network, data or settings of that name: it is not said
        return "object"
    if NETWORK.search(key):
        return network
    if OPTIMISER.search(key):
        return {"pytorch": "torch.optim.Optimizer", "jax": "nnx.Optimizer" if context.flax else "object", "numpy": "object"}[context.framework]
    if CALLED.search(key):
        return "Callable"
    if form is not None and re.match(r"(?:text|str(?:ing)?)\b", shape.strip(), re.I):
        return "str"
    remark = re.sub(r"\A\s*object\b", "", str(shape), flags=re.I)
    found = next((name for name, words in REMARKS if re.search(words, remark, re.I)), "object")
    return network if found == "network" else found


def returned(outputs: dict[str, str], kind: str, context: Context, file: str) -> str:
    def one(key: str, shape: str) -> str:
        if kind == "loss" and not tensor(shape) and kind_of(shape) == dimensions.REAL:
            return TENSOR[context.framework]
        return type_of(key, shape, context, file=file)

    kinds = [one(key, shape) for key, shape in outputs.items()]
    return "None" if not kinds else kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"


# --- what the rows of the ledger say of a component ------------------------------------------------------------------------


def stands_at(item: Item, file: str, name: str) -> bool:
    """Whether a decision's `code:` is this component (or a part of it), alone or among others."""
    for piece in re.split(r"[,;]\s*|\s+and\s+", item.code.strip()):
        if re.match(rf"{re.escape(file)}:{re.escape(name)}(?!\w)", piece) or re.fullmatch(rf"{re.escape(name)}(?:\.\w+)*", piece):
            return True
    return False


def places_in(where: str) -> set[str]:
    """The sections and items that a place names: "§2, Appendix H.1" → both; pages and lines left out."""
    parts = {" ".join(part.split()) for part in re.split(r"[,;]", where)}
    return {part for part in parts if part and not re.match(r"(?:pp?\.|page|lines?)\s", part, re.I)}


def needs_config(component: Component, items: list[Item], file: str, context: Context) -> bool:
    """Whether a function is given the configuration: a setting of the ledger has its `code:` at it, or it trains.

    A setting without any `code:` belongs to the components of the kind that its section names: those at its place of the paper where
    there are such, else all (where none of them is a class, which has the configuration anyway). It also belongs to a component whose
    output has it as a size that no input gives.
    """
    if component.kind == "training" or any(is_config(key, str(shape)) for key, shape in component.inputs.items()):
        return True
    given = words_of(component.inputs) | set(component.inputs)
    wanted = words_of(component.outputs) - given
    here = places_in(component.where)
    for item in items:
        if not item.config or item.value is None or item.status == NOT_APPLICABLE:
            continue
        if stands_at(item, file, component.name):
            return True
        if item.code:
            continue
        section, _, leaf = item.config.partition(".")
        if leaf.rpartition(".")[2] in wanted:
            return True
        if section.lower() in (component.name.lower(), *SECTIONS.get(component.kind, ())):
            there = places_in(item.where)
            peers = context.places.get(component.kind, [])
            nobody = not any(there & places_in(where) for _, where in peers) and not any(name[:1].isupper() for name, _ in peers)
            if here & there or nobody:
                return True
    return False


def words_of(shapes: dict[str, str]) -> set[str]:
    """The names among the dimensions of shapes."""
    forms = [dimensions.read(shape) for shape in shapes.values()]
    return {word for form in forms if form is not None for dim in form.dims or () for word in re.findall(r"[^\W\d]\w*", dim)}


def draws(component: Component, mine: list[Item]) -> bool:
    """Whether a component of the data draws something: its name, its axes or a decision at it say so."""
    if DRAWS_NAME.search(component.name):
        return True
    said = [
        f"{item.item} {item.quote} {item.using}" for item in mine if item.status != NOT_APPLICABLE and not NONE.match(item.using.strip())
    ]
    return bool(DRAWS.search(" ".join([*component.axes, *said])))


def learns(component: Component, mine: list[Item]) -> bool:
    """Whether the rows of a component say that it has parameters of its own."""
    return bool(LEARNS.search(" ".join([*component.axes, *(f"{item.item} {item.quote} {item.using}" for item in mine if item.status != NOT_APPLICABLE)])))


def indexed(component: Component, context: Context) -> tuple[bool, str]:
    """Whether a class of the data is a collection that one whole number picks from, and the input that is that number.

    It is where an input is such a number, where nothing is taken, where its name is that of a collection, and where all that it takes is
    what a collection is made from: paths, a split, a seed, another component of the data.
    """
    shapes = {key: str(shape) for key, shape in component.inputs.items()}
    numbers = [key for key, shape in shapes.items() if not tensor(shape) and kind_of(shape) == dimensions.WHOLE]
    picked = next((key for key in numbers if INDEX.match(key)), "")
    if not picked and len(numbers) == len(shapes) == 1 and not SOURCE.search(numbers[0]):
        picked = numbers[0]
    if picked:
        return True, picked
    sources = [
        key
        for key, shape in shapes.items()
        if SOURCE.search(key) or context.component(key) or context.random(key, shape, shapes) or is_config(key, shape) or context.section(key, shape)
    ]
    return len(sources) == len(shapes) or bool(COLLECTION.search(component.name)), ""


def built_on(key: str, shape: str, context: Context, own: str) -> bool:
    """Whether an input of a class is something its constructor takes: an object named as a network, a tokenizer or another class."""
    if kind_of(shape) != dimensions.OBJECT or re.match(r"\(parameters\)", str(shape).strip()):
        return False
    other = context.component(key)
    return bool(NETWORK.search(key) or CALLED.search(key) or (other and other != own) or context.section(key, shape))


def taken_networks(contribution: Contribution, items: list[Item]) -> dict[str, list[str]]:
    """Class → names of networks that it is built on and that `reference` takes from elsewhere: a setting such as `model.encoder` whose
    value a row of `reference` names, and whose `code:` or quote names the class."""
    out: dict[str, list[str]] = {}
    told = " ".join(bare(re.sub(r"\W", "", str(row.get("what")))) for row in contribution.rows("reference"))
    for item in items:
        leaf = item.config.rpartition(".")[2]
        if item.status == NOT_APPLICABLE or not (NETWORK.search(leaf) or CALLED.search(leaf)) or not isinstance(item.value, str) or len(item.value) < 3:
            continue
        if bare(re.sub(r"\W", "", item.value)) not in told:
            continue
        for component in contribution.components:
            if component.name[:1].isupper() and re.search(rf"(?<!\w){re.escape(component.name)}(?!\w)", f"{item.code} {item.quote}"):
                out.setdefault(component.name, []).append(leaf)
    return out


def unit_of(text: str) -> str:
    """What a length or an argument counts: "epoch", "step", or "" where it is not said."""
    words = re.sub(r"[_.-]", " ", text)
    return next((unit for unit, names in UNITS if re.search(rf"\b(?:{names})\b", words, re.I)), "")
