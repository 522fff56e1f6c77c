"""Checks of the generated code that need no paper: files for type and mode, anchors on every class and non-trivial function,
the form of flags, shape comments, type hints, imports, forbidden phrases, dead code, stubs, what is never written.

What counts as a **tensor operation** (and so needs a shape comment): a statement inside a function, in a module that imports a
tensor library, that binds or returns a value and whose expression holds `@`, a call of one of `SHAPING` (view, reshape,
transpose, matmul, einsum, cat, softmax, sum with an axis …), or a call of a submodule (`self.attention(x)`). A **shape
comment** is a parenthesised or bracketed list of dimensions such as `(batch, n_heads, length, d_k)`, `(B,)`, `()` or the word
scalar, on the statement's lines or the line above it; an einops or einsum pattern says the shapes itself.

A function is **trivial** when its body is one or two statements without loop, branch, tensor operation or arithmetic, or when
it is a dunder method other than `__call__`; everything else has a citation or flag in its docstring, above it, or in its body
(`forward` and `__call__` also in their class's docstring). A class has its own, in its docstring or above it.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import re
import symtable
import sys
from collections.abc import Iterator

from paper2code.check.repository import CITES, FLAG, TAGS, Mark, Module, Repository, end, head, parts
from paper2code.findings import WARNING, Finding

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# --- files ------------------------------------------------------------------------------------------------------------

ALWAYS = ("configs/base.yaml", "requirements.txt", "REPRODUCTION_NOTES.md", "README.md")
# For each type of paper: every group must have one file of it; then what the type forbids.
BY_TYPE = {
    "a": ([("src/model.py",)], []),
    "b": ([("src/loss.py", "src/objective.py"), ("src/train.py",)], []),
    "c": ([("src/inference.py", "src/sample.py", "src/generate.py", "src/decode.py", "src/model.py")], ["src/train.py"]),
    "d": ([("src/data.py",), ("src/evaluate.py",)], []),
    "e": ([("src/evaluate.py", "src/measure.py"), ("src/train.py", "src/experiment.py", "src/model.py")], []),
    "f": ([("src/",)], []),
}
FULL = {
    "a": ("src/train.py", "src/data.py", "src/evaluate.py"),
    "b": ("src/train.py", "src/data.py", "src/evaluate.py"),
    "c": ("src/evaluate.py",),
    "d": ("src/data.py", "src/evaluate.py"),
    "e": ("src/train.py", "src/data.py", "src/evaluate.py"),
    "f": (),
}
KIND_FILES = {"loss": "src/loss.py", "data": "src/data.py", "evaluation": "src/evaluate.py"}

NEVER_FILES = (
    (r"(^|/)(Dockerfile|docker-compose\.ya?ml|\.dockerignore|Containerfile)$", "a container file"),
    (
        r"(^|/)\.github/|(^|/)(\.gitlab-ci\.yml|\.travis\.yml|Jenkinsfile|tox\.ini|\.pre-commit-config\.yaml|\.flake8|\.pylintrc"
        r"|ruff\.toml|mypy\.ini)$",
        "a CI or lint file",
    ),
    (r"(^|/)tests?/|(^|/)(test_\w+|\w+_test|conftest)\.py$", "a unit test"),
)
NEVER_IMPORTS = {
    "wandb": "experiment tracking",
    "tensorboard": "experiment tracking",
    "tensorboardX": "experiment tracking",
    "mlflow": "experiment tracking",
    "neptune": "experiment tracking",
    "comet_ml": "experiment tracking",
    "clearml": "experiment tracking",
    "aim": "experiment tracking",
    "gradio": "a web page",
    "streamlit": "a web page",
    "flask": "a web page",
    "fastapi": "a web page",
    "dash": "a web page",
    "argparse": "argument parsing",
    "click": "argument parsing",
    "typer": "argument parsing",
    "fire": "argument parsing",
    "hydra": "argument parsing",
    "tyro": "argument parsing",
    "optparse": "argument parsing",
    "simple_parsing": "argument parsing",
    "torch.distributed": "distributed training",
    "torch.nn.parallel": "distributed training",
    "deepspeed": "distributed training",
    "accelerate": "distributed training",
    "horovod": "distributed training",
    "fairscale": "distributed training",
    "torch.utils.tensorboard": "experiment tracking",
    "wget": "a download",
    "gdown": "a download",
    "urllib.request": "a download",
    "requests": "a download",
    "huggingface_hub": "a download",
    "pytest": "a unit test",
    "unittest": "a unit test",
}
NEVER_CALLS = {
    "from_pretrained": "a weight download",
    "load_dataset": "a dataset download",
    "hub.load": "a weight download",
    "hub.download_url_to_file": "a download",
    "load_state_dict_from_url": "a weight download",
    "DistributedDataParallel": "distributed training",
    "DataParallel": "distributed training",
    "init_process_group": "distributed training",
    "pmap": "distributed training",
    "urlretrieve": "a download",
    "urlopen": "a download",
    "hf_hub_download": "a download",
    "snapshot_download": "a download",
}
CONVENIENCE = re.compile(
    r"^(save|load|save_\w+|load_\w+|from_pretrained|to_pretrained|push_to_hub|(num|count|n)_param(eter)?s|summary|"
    r"print_\w+|export\w*|"
    r"freeze|unfreeze|get_config|from_config|generate_report|visuali[sz]e\w*)$"
)
VARIANTS = re.compile(r"(?i)(baseline|ablat|^vanilla|without_?\w+variant)")
DISTRIBUTED = {"distributed training"}

FORBIDDEN = re.compile(
    r"\b(standard practice|standard choice|as usual|as is (?:usual|common|customary)|obviously|of course|typically|"
    r"it(?:'|’)?s well[- ]known|(?:it )?is well[- ]known|well[- ]known that|for simplicity|"
    r"should work|should be fine|common(?:ly)? (?:practice|used)|"
    r"commonly|conventionally|"
    r"best practice|sensible default|reasonable default|rule of thumb|everyone uses|"
    r"most (?:people|implementations|common in)|by convention|"
    r"usual(?:ly)?|trivially|clearly|as expected|good enough|widely used|customary)\b",
    re.I,
)


def files(repository: Repository, type: str, mode: str, components: list, trains: bool, nothing: bool = False) -> list[Finding]:
    """The files that type and mode ask for are there and not empty; the excluded ones are not."""
    out: list[Finding] = []
    have = set(repository.files)

    def missing(names: tuple[str, ...], why: str) -> None:
        there = [name for name in names if any(file == name or (name.endswith("/") and file.startswith(name)) for file in have)]
        if not there:
            out.append(
                Finding(
                    "code-file-missing",
                    f"there is no {' or '.join(names)} ({why})",
                    names[0],
                    expected=names[0],
                    fix="write it, or mend type and mode in contribution.md and job.json",
                )
            )

    if nothing:
        if "REPRODUCTION_NOTES.md" not in have:
            missing(("REPRODUCTION_NOTES.md",), "it says why nothing is implemented")
        for name in sorted(have):
            if name.startswith("src/") and name.endswith(".py"):
                out.append(
                    Finding(
                        "code-file-unwanted",
                        "code for a paper that has nothing to implement",
                        name,
                        fix="no fake implementation: delete it",
                    )
                )
        return out
    for name in ALWAYS:
        missing((name,), "every result has it")
    needed, forbidden = BY_TYPE.get(type, ([("src/",)], []))
    for group in needed:
        missing(group, f"a paper of type {type} has it")
    for part in components:
        if part.kind in KIND_FILES and not part.file:
            missing((KIND_FILES[part.kind],), f"the contribution lists {part.name} ({part.kind})")
        if part.file and part.file not in have:
            missing((part.file,), f"the contribution places {part.name} there")
    if mode == "full":
        for name in FULL.get(type, ()):
            missing((name,), "full mode has it")
    if mode == "educational":
        missing(("PAPER_GUIDE.md",), "educational mode has it")
    for name in forbidden:
        if name in have and not trains:
            out.append(
                Finding(
                    "code-file-unwanted",
                    f"a paper of type {type} has no {name}",
                    name,
                    expected="what scope_enforcement.md lists for the type",
                    fix="delete it, or say training_is_contribution: true in contribution.md with the reason",
                )
            )
    if type == "a" and mode == "minimal" and not trains and "src/train.py" in have:
        text = repository.text("src/train.py") or ""
        if re.search(r"for\s+\w+\s+in\s+range\([^)]*epoch", text):
            out.append(
                Finding(
                    "code-file-unwanted",
                    "a training loop in minimal mode, where training is not the contribution",
                    "src/train.py",
                    expected="one training step",
                    fix="keep the step alone, or run with --mode full",
                )
            )
    for name in sorted(have):
        for pattern, what in NEVER_FILES:
            if re.search(pattern, name):
                out.append(Finding("code-excluded", f"{what} is never part of a result", name, fix="delete it"))
        if name.startswith("src/") and name.endswith(".py") and not name.endswith("__init__.py"):
            module = next((m for m in repository.modules if m.file == name), None)
            if (
                module
                and module.tree
                and not any(
                    not isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)) and not docstring_only(node) for node in module.tree.body
                )
            ):
                out.append(
                    Finding(
                        "code-file-empty",
                        "the file holds no code",
                        name,
                        fix="write it, or leave it out of scope in contribution.md",
                    )
                )
    return out


def docstring_only(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


# --- anchors and flags ------------------------------------------------------------------------------------------------


def anchors(module: Module) -> tuple[list[Finding], int]:
    """Every class and non-trivial function cites the paper or flags what is not in it; how many were looked at."""
    out: list[Finding] = []
    looked = 0
    for node in module.definitions:
        own = [
            mark
            for mark in module.marks
            if (mark.docstring and mark.start == head(node) and mark.end == end(node) and is_docstring_of(mark, node))
            or (not mark.docstring and mark.start == head(node))
        ]
        if isinstance(node, ast.ClassDef):
            looked += 1
            if not any(mark.counts for mark in own) and not is_config(node):
                out.append(
                    Finding(
                        "code-anchor",
                        f"class {node.name} has no anchor",
                        module.file,
                        node.lineno,
                        expected='in its docstring or above it: §3.2 — "…" (or a flag)',
                        fix="search_paper.py WORK prints sentences ready to quote",
                    )
                )
            elif (
                is_config(node)
                and not any(mark.counts for mark in module.marks if head(node) <= mark.first <= end(node))
                and not re.search(r"configs?/\w+\.ya?ml", " ".join(mark.text for mark in own))
            ):
                out.append(
                    Finding(
                        "code-anchor",
                        f"class {node.name} says neither where its values are cited nor cites them",
                        module.file,
                        node.lineno,
                        expected="a docstring that names configs/base.yaml, or an anchor on each field",
                    )
                )
            continue
        if trivial(module, node):
            continue
        looked += 1
        inside = [mark for mark in module.marks if not mark.docstring and node.lineno <= mark.first <= end(node)]
        if node.name in ("forward", "__call__"):  # what a class computes is what its own anchor speaks of
            inside += [mark for mark in module.marks_around(node) if mark.docstring]
        if not any(mark.counts for mark in (*own, *inside)):
            out.append(
                Finding(
                    "code-anchor",
                    f"function {qualified(module, node)} has no anchor",
                    module.file,
                    node.lineno,
                    expected="in its docstring, above it or in its body: §3.2, Eq. 4 — … (or a flag)",
                    fix="cite what it implements; what the paper does not say is [UNSPECIFIED]",
                )
            )
    return out, looked


def is_docstring_of(mark: Mark, node: ast.AST) -> bool:
    return bool(node.body) and mark.first == node.body[0].lineno


def is_config(node: ast.ClassDef) -> bool:
    return bool(re.search(r"Config|Hyper|Settings|HParams", node.name)) and any(
        "dataclass" in ast.unparse(part) for part in node.decorator_list
    )


def qualified(module: Module, node: ast.AST) -> str:
    scope = module.scope(node)
    return f"{scope}.{node.name}" if scope else node.name


def body_of(node: ast.AST) -> list[ast.stmt]:
    """A function's statements without its docstring."""
    body = node.body
    return body[1:] if body and docstring_only(body[0]) and isinstance(body[0].value.value, str) else body


def trivial(module: Module, node: ast.AST) -> bool:
    if re.fullmatch(r"__\w+__", node.name) and node.name not in ("__call__",):
        return node.name != "__init__" or len(body_of(node)) <= 3 or in_anchored_class(module, node)
    body = body_of(node)
    if len(body) > 2:
        return False
    for part in body:
        for at in ast.walk(part):
            if isinstance(at, (ast.For, ast.While, ast.If, ast.BinOp, ast.IfExp, ast.With, ast.Try)) or (
                isinstance(at, ast.Call) and shaping(module, at)
            ):
                return False
    return True


def in_anchored_class(module: Module, node: ast.AST) -> bool:
    holder = next(module.enclosing(node), None)
    return isinstance(holder, ast.ClassDef)


def close_tag(word: str) -> str | None:
    near = difflib.get_close_matches(word.upper().replace(" ", "_").replace("-", "_"), TAGS, n=1, cutoff=0.75)
    return near[0] if near else None


def flag_form(text: str, file: str, line: int, *, needs_quote: bool = True) -> list[Finding]:
    """The form of the flags in one comment: three parts for [UNSPECIFIED], a reason for [ASSUMPTION], a permalink for
    [FROM_OFFICIAL_CODE], words and choice for [PARTIALLY_SPECIFIED]; misspelt tags."""
    out: list[Finding] = []

    def add(check: str, message: str, **more) -> None:
        out.append(Finding(check, message, file, line, **more))

    for found in re.finditer(r"\[([A-Za-z][A-Za-z_ -]{6,24})\]", text):
        word = found.group(1)
        if word not in TAGS and (near := close_tag(word)):
            add("flag-unknown", f"[{word}] is no tag", expected=f"[{near}]", fix=f"write [{near}]")
    for part in parts(text):
        tags = FLAG.findall(part)
        body = FLAG.sub("", part)
        if not tags:
            continue
        if "UNSPECIFIED" in tags:
            using = re.search(r"\bUsing:\s*(.*?)(?=\bAlternatives?:|\Z)", part, re.S)
            others = re.search(r"\bAlternatives?:\s*(.*)", part, re.S)
            said = re.split(r"\bUsing:", body)[0].strip(" .:;—–-\n")
            if not said:
                add(
                    "flag-form",
                    "[UNSPECIFIED] does not say what the paper leaves out",
                    expected="# [UNSPECIFIED] what is not stated",
                )
            if not using or not using.group(1).strip(" .:;—–-\n"):
                add("flag-form", "[UNSPECIFIED] without Using:", expected="# Using: the choice made here")
            if not others or not re.sub(r"[\s.:;—–-]|none|n/a", "", others.group(1), flags=re.I):
                add("flag-form", "[UNSPECIFIED] without Alternatives:", expected="# Alternatives: what else might be meant")
        if "PARTIALLY_SPECIFIED" in tags:
            if needs_quote and not re.search(r"[\"“”][^\"“”]{3,}[\"“”]", part):
                add(
                    "flag-form",
                    "[PARTIALLY_SPECIFIED] without the words that the paper has",
                    expected='# [PARTIALLY_SPECIFIED] §5 — "…"',
                )
            if len(re.sub(r"[\"“][^\"”]*[\"”]", "", body).split()) < 4:
                add(
                    "flag-form",
                    "[PARTIALLY_SPECIFIED] does not say what is open and what is done",
                    expected="what is unclear, and Using: …",
                )
        if "ASSUMPTION" in tags and len(body.split()) < 5:
            add("flag-form", "[ASSUMPTION] without its reason", expected="# [ASSUMPTION] what is assumed, because …")
        if "FROM_OFFICIAL_CODE" in tags:
            link = re.search(r"\bSource:\s*(\S+)|(https?://\S+)", part)
            url = (link.group(1) or link.group(2)) if link else ""
            if not re.search(r"/[0-9a-f]{40}/.+#L\d+", url):
                add(
                    "flag-form",
                    "[FROM_OFFICIAL_CODE] without a permalink",
                    expected="# Source: https://…/blob/<40-digit commit>/file.py#L42",
                    fix="a branch moves: name the commit and the line",
                )
    return out


def flags(module: Module) -> list[Finding]:
    out = []
    for mark in module.marks:
        if "[" in mark.text:
            out += flag_form(mark.text, module.file, mark.first)
    return out


QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]", re.S)


def phrases(text: str, file: str, line: int) -> list[Finding]:
    """Forbidden phrases in one comment or paragraph; the paper's own words in quotes are free, so is a sentence that cites."""
    out = []
    # A quote that ends its line ends the sentence that it carries.
    plain = QUOTED.sub(" ", re.sub(r"[\"\u201d](?=[.;,]?[ \t]*\n)", "\"\n\n", text))
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z#])|\n\s*\n", plain):
        found = FORBIDDEN.search(sentence)
        # The citation stands on the phrase's own line or after it; one on a line before belongs to what that line says.
        after = sentence[sentence.rfind("\n", 0, found.start()) + 1 :] if found else ""
        if found and not CITES.search(after) and not re.search(r"https?://|\barXiv|\(\w[\w .&]+,? (19|20)\d\d\)|\[\d+\]", after):
            before = text[: text.find(found.group(0))].count("\n") if found.group(0) in text else 0
            out.append(
                Finding(
                    "phrase-forbidden",
                    f"{found.group(0)!r} stands where a citation belongs",
                    file,
                    line + before,
                    expected="the place that says so, or [UNSPECIFIED] with the choice and its alternatives",
                    fix="say whose choice it is",
                )
            )
    return out


# --- shapes -----------------------------------------------------------------------------------------------------------

SHAPING = set(
    """
    view reshape transpose permute swapaxes moveaxis matmul bmm mm einsum dot tensordot cat concat concatenate stack split
    chunk unbind unsqueeze squeeze expand expand_dims broadcast_to repeat tile repeat_interleave flatten unflatten gather
    take_along_axis index_select softmax log_softmax logsumexp cumsum cumprod linear conv1d conv2d conv3d
    dot_product_attention scaled_dot_product_attention pad roll outer rearrange reduce mean sum norm one_hot embedding
    masked_fill tril triu topk sort argsort multinomial cross_entropy interpolate unfold fold cdist logdet inv solve
""".split()
)
TENSOR_LIBRARIES = {"torch", "jax", "numpy", "flax", "tensorflow", "einops", "optax", "keras"}
SHAPE = re.compile(
    r"\(\s*\)|\(\s*[^()\"']{0,60}?,[^()\"']{0,80}\)|\([^()\s,]{1,20}\)\s*(?:->|→)"
    r"|\[\s*[A-Za-z_*.\d]+\s*(?:,[^\]\"']{0,80})?\](?!\()"
    r"|\bscalar\b|(?:->|→)\s*\(|\bFloat\[|\bInt\[|\b\w+ x \w+\b|\bsame shape\b|\bshape:?\s*\("
)


def library(module: Module) -> bool:
    return any(name.split(".")[0] in TENSOR_LIBRARIES for name in imported(module).values())


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
        near = [
            module.comments[line][0] for line in lines if line in module.comments and (line >= statement.lineno or module.comments[line][1])
        ]
        pattern = any(
            is_text(at) and re.search(r"->", getattr(at, "value", "") if isinstance(getattr(at, "value", ""), str) else "")
            for at in ast.walk(statement.value)
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


# --- hints, imports, names --------------------------------------------------------------------------------------------


def hints(module: Module) -> list[Finding]:
    """Type hints on every argument and return."""
    out = []
    for node in module.definitions:
        if not isinstance(node, FUNCTIONS):
            continue
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        holder = next(module.enclosing(node), None)
        if isinstance(holder, ast.ClassDef) and arguments and not any(ast.unparse(d).endswith("staticmethod") for d in node.decorator_list):
            arguments = arguments[1:]
        bare = [argument.arg for argument in arguments if argument.annotation is None]
        if bare:
            out.append(
                Finding(
                    "code-hints",
                    f"{qualified(module, node)}: no type on {', '.join(bare)}",
                    module.file,
                    node.lineno,
                    expected="name: Type",
                )
            )
        if node.returns is None:
            out.append(Finding("code-hints", f"{qualified(module, node)}: no return type", module.file, node.lineno, expected="-> Type"))
    return out


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
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
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
        {
            name
            for name in top.get_identifiers()
            if top.lookup(name).is_assigned() or top.lookup(name).is_imported() or top.lookup(name).is_namespace()
        }
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
        Finding("code-undefined", f"nothing defines or imports {name}", module.file, line, expected="an import or a definition")
        for name, line in first.items()
    ]


def excluded(repository: Repository, *, type: str, mode: str, listed: set[str], system: bool) -> list[Finding]:
    """What is never written, unless it is the contribution: tracking, distributed training, downloads, argument parsing,
    convenience methods, baselines and variants. `listed`: the contribution's component names."""
    out: list[Finding] = []
    for module in repository.modules:
        for local, name in imported(module).items():
            for known, what in NEVER_IMPORTS.items():
                if (name == known or name.startswith(known + ".")) and not (what in DISTRIBUTED and system):
                    line = next(
                        (
                            node.lineno
                            for node in module.nodes
                            if isinstance(node, (ast.Import, ast.ImportFrom))
                            and any((alias.asname or alias.name).split(".")[0] == local.split(".")[0] for alias in node.names)
                        ),
                        1,
                    )
                    out.append(
                        Finding(
                            "code-excluded",
                            f"{known}: {what} is never part of a result",
                            module.file,
                            line,
                            fix="delete it; say in REPRODUCTION_NOTES.md what the user has to add",
                        )
                    )
        for node in module.nodes:
            if isinstance(node, ast.Call):
                name = full_name(module, node.func)
                for known, what in NEVER_CALLS.items():
                    if (name == known or name.endswith("." + known)) and not (what in DISTRIBUTED and (system or known == "pmap")):
                        out.append(
                            Finding(
                                "code-excluded",
                                f"{known}: {what} is never part of a result",
                                module.file,
                                node.lineno,
                                fix="name in a docstring where it can be had",
                            )
                        )
                if any(key.arg == "download" and isinstance(key.value, ast.Constant) and key.value.value is True for key in node.keywords):
                    out.append(
                        Finding(
                            "code-excluded",
                            "download=True: a dataset download is never part of a result",
                            module.file,
                            node.lineno,
                            fix="take the folder from the config, and say in the docstring where the data can be had",
                        )
                    )
        for node in module.definitions:
            if node.name in listed:
                continue
            if (
                isinstance(node, FUNCTIONS)
                and CONVENIENCE.match(node.name)
                and not node.name.startswith("load_config")
                and not (mode == "full" and re.search(r"checkpoint|schedule", node.name))
            ):
                out.append(
                    Finding(
                        "code-excluded",
                        f"{qualified(module, node)} is a convenience that the paper does not have",
                        module.file,
                        node.lineno,
                        fix="delete it, or list it as a component of the contribution with its place in the paper",
                    )
                )
            if VARIANTS.search(node.name):
                out.append(
                    Finding(
                        "code-excluded",
                        f"{qualified(module, node)}: baselines and ablation variants are never implemented",
                        module.file,
                        node.lineno,
                        fix="delete it; list it under out_of_scope",
                    )
                )
    return out


# --- bodies -----------------------------------------------------------------------------------------------------------


def stubs(module: Module) -> list[Finding]:
    """A body that does nothing is no implementation; one that raises says what is known, what is not, and how to find out."""
    out = []
    for node in module.definitions:
        if not isinstance(node, FUNCTIONS):
            continue
        body = body_of(node)
        decorators = " ".join(ast.unparse(part) for part in node.decorator_list)
        if "abstract" in decorators or "overload" in decorators:
            continue
        name = qualified(module, node)
        if not body or all(isinstance(part, ast.Pass) or docstring_only(part) for part in body):
            out.append(
                Finding(
                    "code-empty-body",
                    f"{name} does nothing",
                    module.file,
                    node.lineno,
                    expected="the code, or a stub that raises and explains",
                    fix='raise NotImplementedError("known: §… ; not stated: … ; to find out: …")',
                )
            )
        raises = [
            part for part in body if isinstance(part, ast.Raise) and part.exc is not None and "NotImplemented" in ast.unparse(part.exc)
        ]
        if raises and raises[0] is body[0]:
            told = " ".join(mark.text for mark in module.marks if head(node) <= mark.first <= end(node)) + " " + ast.unparse(raises[0].exc)
            lacking = [
                what
                for what, words in (
                    ("what is known and where from", CITES),
                    ("what is not stated", re.compile(r"\b(not|unstated|missing|unknown|nowhere|un\w+ed|leaves?)\b", re.I)),
                    (
                        "how to find out",
                        re.compile(r"\b(ask|see|look|find|check|read|search|from|authors?|official|supplement)\b", re.I),
                    ),
                )
                if not words.search(told)
            ]
            if lacking or len(told.split()) < 15:
                out.append(
                    Finding(
                        "code-stub",
                        f"the stub {name} does not explain itself: {', '.join(lacking) or 'a few words only'}",
                        module.file,
                        node.lineno,
                        expected="what is known (with its place), what is not, and how to find out",
                    )
                )
        if re.search(r"\{\{.*?\}\}|\bFILL[ _-]?IN\b|\bYOUR CODE HERE\b", "\n".join(module.lines[node.lineno - 1 : end(node)])):
            out.append(Finding("code-placeholder", f"{name} still holds a placeholder", module.file, node.lineno, fix="fill it in"))
    return out


IGNORED_NAMES = [
    "forward",
    "setup",
    "__*__",
    "main",
    "training_step",
    "backward",
    "extra_repr",
    "collate_fn",
    "tree_flatten",
    "tree_unflatten",
    "test_*",
]


def dead(repository: Repository, listed: set[str], notebook: str, notebook_due: bool) -> list[Finding]:
    """Code that nothing uses (vulture's verdict at 60%), uses in the notebook counted. Before the notebook exists, components of the
    contribution count as used, and other top-level functions that nothing calls are only warned of."""
    import vulture

    tool = vulture.Vulture(ignore_names=IGNORED_NAMES)
    for module in repository.modules:
        if module.tree is not None:
            tool.scan(module.text, filename=module.file)
    if notebook:
        tool.scan(notebook, filename="notebooks/walkthrough.ipynb")
    out = []
    data_fields = {
        (module.file, name)
        for module in repository.modules
        for node in module.definitions
        if isinstance(node, ast.ClassDef) and node.decorator_list
        for name in {part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)}
    }
    top_level = {
        (module.file, node.lineno)
        for module in repository.modules
        if module.tree
        for node in module.tree.body
        if isinstance(node, (*FUNCTIONS, ast.ClassDef))
    } | {
        (module.file, head(node))
        for module in repository.modules
        if module.tree
        for node in module.tree.body
        if isinstance(node, (*FUNCTIONS, ast.ClassDef))
    }
    for item in tool.get_unused_code(min_confidence=60):
        file, name = str(item.filename), item.name
        if file.endswith(".ipynb") or name in listed or (file, name) in data_fields or name.startswith("_") and item.typ == "variable":
            continue
        public = item.typ in ("function", "class") and (file, item.first_lineno) in top_level
        soft = not repository.ours or (public and not notebook_due)
        out.append(
            Finding(
                "code-dead",
                f"{item.typ} {name!r} is never used",
                file,
                item.first_lineno,
                severity=WARNING if soft else "error",
                fix="delete it, or use it; nothing is kept for convenience",
            )
        )
    return out


def check(
    repository: Repository,
    *,
    type: str = "",
    mode: str = "minimal",
    components: list = (),
    trains: bool = False,
    nothing: bool = False,
    notebook: str = "",
    notebook_due: bool = False,
    system: bool = False,
) -> tuple[list[Finding], dict[str, int]]:
    """All of the above on one result folder, and how many things were looked at."""
    out: list[Finding] = []
    looked = {"modules": 0, "definitions": 0, "tensor operations": 0}
    listed = {part.name for part in components}
    if repository.ours or nothing:
        out += files(repository, type, mode, list(components), trains, nothing)
    for module in repository.modules:
        looked["modules"] += 1
        if module.problem:
            out.append(module.problem)
            continue
        for checked, name in ((anchors, "definitions"), (shapes, "tensor operations")):
            found, count = checked(module)
            out += found
            looked[name] += count
        out += [*flags(module), *hints(module), *undefined(module), *stubs(module)]
        for mark in module.marks:
            out += phrases(mark.text, module.file, mark.first)
    out += imports(repository)
    out += excluded(repository, type=type, mode=mode, listed=listed, system=system or type == "f")
    out += dead(repository, listed, notebook, notebook_due)
    for config in repository.configs:
        seen: set[str] = set()
        for _, node in config.leaves:
            text = config.comment(node)
            if text in seen:
                continue
            seen.add(text)
            out += [*flag_form(text, config.file, node.line), *phrases(text, config.file, node.line)]
    return out, looked
