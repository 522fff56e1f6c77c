"""What a result has to hold for its paper's type and mode, and what it must never hold (requirements of scope_enforcement.md)."""

from __future__ import annotations

import ast
import re

from paper2code.check.bodies import FUNCTIONS, docstring_only, qualified
from paper2code.check.names import full_name, imported
from paper2code.check.repository import Repository
from paper2code.findings import Finding

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
    name: what
    for what, names in {
        "experiment tracking": "wandb tensorboard tensorboardX mlflow neptune comet_ml clearml aim torch.utils.tensorboard",
        "a web page": "gradio streamlit flask fastapi dash",
        "argument parsing": "argparse click typer fire hydra tyro optparse simple_parsing",
        "distributed training": "torch.distributed torch.nn.parallel deepspeed accelerate horovod fairscale",
        "a download": "wget gdown urllib.request requests huggingface_hub",
        "a unit test": "pytest unittest",
    }.items()
    for name in names.split()
}

NEVER_CALLS = {
    name: what
    for what, names in {
        "a weight download": "from_pretrained hub.load load_state_dict_from_url",
        "a dataset download": "load_dataset",
        "a download": "hub.download_url_to_file urlretrieve urlopen hf_hub_download snapshot_download",
        "distributed training": "DistributedDataParallel DataParallel init_process_group pmap",
    }.items()
    for name in names.split()
}

CONVENIENCE = re.compile(
    r"^(save|load|save_\w+|load_\w+|from_pretrained|to_pretrained|push_to_hub|(num|count|n)_param(eter)?s|summary|"
    r"print_\w+|export\w*|"
    r"freeze|unfreeze|get_config|from_config|generate_report|visuali[sz]e\w*)$"
)

VARIANTS = re.compile(r"(?i)(baseline|ablat|^vanilla|without_?\w+variant)")

DISTRIBUTED = {"distributed training"}


def from_disk(node: ast.Call) -> bool:
    """Whether a call says that it takes files from this machine alone."""
    return any(key.arg == "local_files_only" and isinstance(key.value, ast.Constant) and key.value.value is True for key in node.keywords)


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
                and not any(not isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass)) and not docstring_only(node) for node in module.tree.body)
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
                    if (name == known or name.endswith("." + known)) and not from_disk(node) and not (what in DISTRIBUTED and (system or known == "pmap")):
                        out.append(
                            Finding(
                                "code-excluded",
                                f"{known}: {what} is never part of a result",
                                module.file,
                                node.lineno,
                                fix="name in a docstring where it can be had"
                                + (", and load it from the disk (local_files_only=True)" if known == "from_pretrained" else ""),
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
