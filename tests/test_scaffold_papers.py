"""What following the skill on real papers showed of the scaffold: signatures, values, masks, toy sizes, documents, each as a kind."""

from __future__ import annotations

import ast
import copy
import importlib.util
import json
import re
import subprocess
import symtable
import sys
import types
from pathlib import Path

import nbformat
import numpy as np
import pytest
import scaffold_fixture as fixture
import yaml
from conftest import run_lines
from paper2code.check import anchors, dimensions, flags, notes
from paper2code.check.contribution import Component
from paper2code.check.ledger import Entry, Item, Ledger
from paper2code.check.notebook import read as read_notebook
from paper2code.check.notebook import structure
from paper2code.check.places import Places
from paper2code.check.repository import Repository
from paper2code.findings import errors
from paper2code.show import audit, plan, scaffold, signatures, toys, walkthrough

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "lay_scaffold.py"
FRAMEWORKS = ("pytorch", "jax", "numpy")


def laid(folder, parts, framework="pytorch", mode="minimal", type="a", items=(), front=None, change=None):
    """The files and cells of a contribution with these components, its ledger with `items` added."""
    work = fixture.workspace(folder / "work", type, mode, framework)
    _, head, prose = work.contribution.read_text(encoding="utf-8").split("---\n", 2)
    told = yaml.safe_load(head) | copy.deepcopy({"components": json.loads(json.dumps(parts))} | (front or {}))
    work.contribution.write_text(f"---\n{yaml.safe_dump(told, allow_unicode=True, sort_keys=False)}---\n{prose}", encoding="utf-8")
    ledger = yaml.safe_load(work.ledger.read_text(encoding="utf-8"))
    ledger["items"] += [{"group": "method", "item": item["id"], "status": "UNSPECIFIED", "using": "so", "alternatives": ["else"],
                         "why": "our choice: nothing is said"} | item for item in items]
    (change or (lambda ledger: None))(ledger)
    work.ledger.write_text(yaml.safe_dump(ledger, sort_keys=False, allow_unicode=True), encoding="utf-8")
    scaffold.lay(work, folder / "result")
    files = {path.relative_to(folder / "result").as_posix(): path.read_text(encoding="utf-8") for path in (folder / "result").rglob("*") if path.is_file()}
    for name, text in files.items():
        if name.endswith(".py"):
            compiles(text)
    cells = {cell.metadata["paper2code"]["id"]: cell.source for cell in nbformat.read(folder / "result" / walkthrough.FILE, 4).cells}
    for cell in cells.values():
        if cell.startswith(("import", "#", "for", "config", "def")) and not cell.startswith("##") and not cell.startswith("# Walk"):
            ast.parse(cell)
    return files, cells


def compiles(text):
    tree = ast.parse(text)
    symtable.symtable(text, "laid", "exec")
    # Nothing that is imported is left unused but what the bodies will need, and no name of a signature is undefined.
    bound = {(alias.asname or alias.name).split(".")[0] for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    defined = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))} | bound | set(dir(__builtins__)) | {"int", "float", "str"}
    for node in ast.walk(tree):
        note = node.annotation if isinstance(node, ast.arg) else node.returns if isinstance(node, ast.FunctionDef) else None
        if note is not None:
            for name in (each.id for each in ast.walk(note) if isinstance(each, ast.Name)):
                assert name in defined or name in ("object", "tuple", "dict", "list", "bool", "type"), (name, ast.unparse(note))


def methods(text, name):
    """Method → arguments of a class, or the arguments of a function under "": as laid."""
    node = next(node for node in ast.parse(text).body if getattr(node, "name", "") == name)
    if isinstance(node, ast.FunctionDef):
        return {"": ast.unparse(node.args), "->": ast.unparse(node.returns)}
    bases = [ast.unparse(each) for each in node.bases]
    return {each.name: ast.unparse(each.args) for each in node.body if isinstance(each, ast.FunctionDef)} | {"bases": bases}


# --- 1 and 4: classes ----------------------------------------------------------------------------------------------------------------

DATA = [
    {"name": "Texts", "kind": "data", "where": "§4.1", "inputs": {"corpus_path": "text"}, "outputs": {"text": "text", "y": "int"}},
    {"name": "Pairs", "kind": "data", "where": "§4.1", "inputs": {"texts": "object", "seed": "int"}, "outputs": {"a": "text"}},
    {"name": "Empty", "kind": "data", "where": "§4.1", "inputs": {}, "outputs": {"x": "(n,) int"}},
    {"name": "Third", "kind": "data", "where": "§4.1", "inputs": {"idx": "int", "folder": "text"}, "outputs": {"x": "(n,)"}},
    {"name": "TfIdf", "kind": "data", "where": "§4.1", "inputs": {"texts": "object", "query": "text"}, "outputs": {"similarity": "(documents,)"}},
    {"name": "Crop", "kind": "data", "where": "§4.1", "inputs": {"image": "(c, h, w)"}, "outputs": {"crop": "(c, m, m)"}},
]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_class_of_the_data_is_a_collection_only_where_a_number_picks_from_it(tmp_path, framework):
    files, _ = laid(tmp_path, DATA, framework)
    text = files["src/data.py"]
    bases = ["Dataset"] if framework == "pytorch" else []
    wanted = {"__init__": "self, config: Config, corpus_path: str", "__len__": "self", "__getitem__": "self, index: int", "bases": bases}
    assert methods(text, "Texts") == wanted
    assert methods(text, "Pairs")["__init__"] == "self, config: Config, texts: Texts, seed: int" and methods(text, "Pairs")["bases"] == bases
    assert methods(text, "Empty")["__getitem__"] == "self, index: int"
    assert methods(text, "Third") == {"__init__": "self, config: Config, folder: str", "__len__": "self", "__getitem__": "self, idx: int", "bases": bases}
    assert methods(text, "TfIdf") == {"__init__": "self, config: Config", "__call__": "self, texts: Texts, query: str", "bases": []}
    assert methods(text, "Crop").keys() == {"__init__", "__call__", "bases"}


@pytest.mark.parametrize(
    ("name", "quote", "drawn"),
    [
        ("encode_pairs", "we encode the concatenated sequence", False),
        ("draw_pairs", "", True),
        ("minibatches", "", True),
        ("pairs", "at each epoch, the entire training set is shuffled", True),
        ("pairs", "the samples are images of 28 by 28", False),
        ("pairs", "k is sampled from {0, 1}", True),
    ],
)
def test_random_numbers_are_given_to_what_draws(tmp_path, name, quote, drawn):
    part = {"name": name, "kind": "data", "where": "§4.1", "inputs": {"first": "object"}, "outputs": {"x": "(batch, n) int"}}
    row = {"id": "said", "status": "SPECIFIED", "where": "§4.1", "quote": quote or "in pairs", "code": f"src/data.py:{name}"}
    files, _ = laid(tmp_path, [part], items=[row])
    assert methods(files["src/data.py"], name)[""] == "first: object" + ", generator: torch.Generator" * drawn
    given = {**part, "inputs": {"first": "object", "generator": "object"}}
    files, _ = laid(tmp_path / "given", [given])
    assert methods(files["src/data.py"], name)[""] == "first: object, generator: torch.Generator"


BUILT = [
    {"name": "Reader", "kind": "model", "where": "§3.1", "inputs": {"encoder": "object", "ids": "(batch, n) int", "attention_mask": "(batch, n) int"},
     "outputs": {"out": "(batch, 3)"}},
    {"name": "Head", "kind": "model", "where": "§3.1", "inputs": {"reader": "object", "ids": "(batch, n) int"}, "outputs": {"out": "(batch, 3)"}},
    {"name": "Search", "kind": "inference", "where": "§3.2", "inputs": {"head": "object", "x": "(batch, d)"}, "outputs": {"found": "(batch,) int"}},
    {"name": "Ranks", "kind": "utility", "where": "§3.2", "inputs": {"x": "(n,)"}, "outputs": {"ranks": "(n,) int"}},
    {"name": "Scales", "kind": "utility", "where": "§3.2", "inputs": {"x": "(n,)"}, "outputs": {"y": "(n,)"}},
]
LEARNED = {"id": "scale", "status": "SPECIFIED", "where": "§3.2", "quote": "a learned scale", "code": "src/utils.py:Scales"}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_a_class_is_built_on_goes_into_its_constructor_and_every_check(tmp_path, framework):
    files, cells = laid(tmp_path, BUILT, framework, items=[LEARNED])
    network = {"pytorch": "nn.Module", "jax": "nnx.Module", "numpy": "Callable"}[framework]
    tail = {"pytorch": "", "jax": ", *, rngs: nnx.Rngs", "numpy": ", rng: np.random.Generator"}[framework]
    call = "forward" if framework == "pytorch" else "__call__"
    array = signatures.TENSOR[framework]
    assert methods(files["src/model.py"], "Reader")["__init__"] == f"self, config: Config, encoder: {network}{tail}"
    assert methods(files["src/model.py"], "Reader")[call] == f"self, ids: {array}, attention_mask: {array}"
    assert methods(files["src/model.py"], "Head")["__init__"] == f"self, config: Config, reader: Reader{tail}"
    assert methods(files["src/inference.py"], "Search")["__init__"] == "self, config: Config, head: object"
    assert not [base for base in methods(files["src/inference.py"], "Search")["bases"]]
    assert methods(files["src/utils.py"], "Ranks")["bases"] == [] and "rng" not in methods(files["src/utils.py"], "Ranks")["__init__"]
    assert methods(files["src/utils.py"], "Scales")["bases"] == {"pytorch": ["nn.Module"], "jax": ["nnx.Module"], "numpy": []}[framework]
    seed = "" if framework == "pytorch" else "0"
    rest = {"pytorch": "", "jax": ", rngs=nnx.Rngs(0)", "numpy": ", rng=np.random.default_rng(0)"}[framework]
    reader = f"Reader(toy, encoder=stand_in_encoder({seed}){rest})"
    assert f"def stand_in_encoder({'seed' * (framework != 'pytorch')}):" in cells["stand-ins"] and "FILL IN" in cells["stand-ins"]
    for pattern in ("shape", "batch_independence", *(["gradients"] if framework != "numpy" else [])):
        assert reader in cells[f"Reader-{pattern}"], cells[f"Reader-{pattern}"]
    assert f"Head(toy, reader={reader}{rest})" in cells["Head-shape"]
    assert f"Search(toy, head=Head(toy, reader={reader}{rest}))" in cells["Search-shape"]
    assert {"Reader(toy)", "Head(toy)"}.isdisjoint(re.findall(r"\w+\(toy\)", " ".join(cells.values())))


def test_a_network_that_is_referenced_and_set_in_the_config_is_taken_by_the_classes_that_its_quote_names(tmp_path):
    parts = [{"name": "Selection", "kind": "model", "where": "§3.1", "inputs": {"ids": "(batch, n) int"}, "outputs": {"logit": "(batch,)"}},
             {"name": "Other", "kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n)"}, "outputs": {"y": "(batch,)"}}]
    row = {"id": "encoder", "status": "SPECIFIED", "where": "§3.1", "quote": "RoBERTa-large for Selection", "value": "roberta-large", "config": "model.encoder"}
    front = {"reference": [{"what": "RoBERTa-large and its tokenizer", "where": "§3.1", "from": "Liu et al. (2019); passed in"}]}
    files, cells = laid(tmp_path, parts, items=[row], front=front)
    assert methods(files["src/model.py"], "Selection")["__init__"] == "self, config: Config, encoder: nn.Module"
    assert methods(files["src/model.py"], "Other")["__init__"] == "self, config: Config"
    assert "Selection(toy, encoder=stand_in_encoder())" in cells["Selection-shape"] and "RoBERTa-large and its tokenizer" in cells["stand-ins-head"]


def test_checks_follow_the_constructor_that_was_written(tmp_path):
    part = {"name": "ConvNet", "kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n)"}, "outputs": {"y": "(batch, n)"}}
    laid(tmp_path, [part])
    path = tmp_path / "result/src/model.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("self, config: Config", "self, backbone: nn.Module, network: ModelConfig | None, config: Config"), encoding="utf-8")
    scaffold.lay(fixture.Workspace(tmp_path / "work"), tmp_path / "result")
    cells = {cell.metadata["paper2code"]["id"]: cell.source for cell in nbformat.read(tmp_path / "result" / walkthrough.FILE, 4).cells}
    assert "ConvNet(backbone=stand_in_backbone(), network=toy.model, config=toy)" in cells["ConvNet-shape"] and "def stand_in_backbone():" in cells["stand-ins"]


# --- 2, 8, 14: values ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "using", "wanted"),
    [
        (["SUPPORT", "CONTRADICT"], "", "SUPPORT; CONTRADICT"),
        ([1, 2], "[1, 2]: the smallest and the largest n", "1; 2: the smallest and the largest n"),
        ([0, 2, 1], "[0, 2, 1] for CLS, SEP and padding", "0; 2; 1 for CLS, SEP and padding"),
        ([0.9, 0.999], "0.9 and 0.999", "0.9 and 0.999"),
        ([0.9, 0.999], "", "0.9; 0.999"),
        ([300, 100], "as there", "300; 100: as there"),
        (["a", "b"], "a and b", "a and b"),
        (True, "", "true"),
        (False, "no bias in the layers", "false: no bias in the layers"),
        (True, "true: with bias", "true: with bias"),
        (512, "", "512"),
        (512, "512 tokens", "512 tokens"),
        ("gelu", "the tanh form of gelu", "the tanh form of gelu"),
        ({"first": 1, "second": 2}, "", "first: 1; second: 2"),
        ({"first": 1, "second": 2}, "1 in the first, 2 in the second", "1 in the first, 2 in the second"),
        ([True, False], "", "true; false"),
        (None, "one update a batch", "one update a batch"),
    ],
)
def test_a_value_from_official_code_is_told_once(value, using, wanted):
    link = f"https://github.com/a/b/blob/{'0' * 40}/c.py#L1"
    lines = plan.anchor_lines(Item(1, status="FROM_OFFICIAL_CODE", item="the thing", value=value, using=using, source=link))
    assert lines == [f"[FROM_OFFICIAL_CODE] the thing: {wanted}", f"Source: {link}"]
    assert not errors(flags.flag_form("\n".join(lines), "f", 1))
    if value is not None and not isinstance(value, bool):
        other = plan.anchor_lines(Item(1, status="UNSPECIFIED", item="the thing", value=value, using=using, alternatives=["x"]))
        assert other[1] == f"Using: {wanted}"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_mapping_is_a_section_with_its_anchor_at_each_value(tmp_path, monkeypatch, framework):
    rows = {"id": "rates", "using": "3 for the first, 0.25 within", "value": {"first": 3, "inner": {"deep": 0.25, "flag": True}}, "config": "training.rates"}
    odd = {"id": "odd-keys", "using": "7", "value": {"conv-2": 7}, "config": "training.odd"}
    part = {"name": "Net", "kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n)"}, "outputs": {"y": "(batch, n)"}}
    files, _ = laid(tmp_path, [part], framework, items=[rows, odd])
    text = files["configs/base.yaml"]
    assert yaml.safe_load(text)["training"] == {"rates": rows["value"], "odd": odd["value"]}
    assert text.count("[UNSPECIFIED] rates") == 3
    spec = importlib.util.spec_from_file_location("laid_utils", tmp_path / "result/src/utils.py")
    code = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "laid_utils", code)
    spec.loader.exec_module(code)
    read = code.load_config(tmp_path / "result/configs/base.yaml").training
    assert (read.rates.first, read.rates.inner.deep, read.rates.inner.flag, read.odd) == (3, 0.25, True, {"conv-2": 7})


# --- 3: contradictions ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["second", "both are kept as settings of their own.", "nothing depends on it; the release decides", "none; not built"])
def test_a_decision_of_any_form_reads_well(tmp_path, decision):
    def change(ledger):
        ledger["contradictions"] = [{"about": "the rate", "first": {"where": "§3.1", "quote": "a"}, "second": {"where": "§4.2", "quote": "b"},
                                     "decision": decision, "why": "the table says so"},
                                   {"about": "the width", "first": {"where": "§3.1", "quote": "a"}, "second": {"where": "§4.2", "quote": "b"},
                                     "no_contradiction": "two models, each with its own"}]

    net = {"name": "Net", "kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n)"}, "outputs": {"y": "(batch, n)"}}
    files, cells = laid(tmp_path, [net], change=change)
    told = next(line for line in cells["pitfalls"].splitlines() if "the rate" in line)
    assert "the width" not in cells["pitfalls"], "a pair that agrees is none"
    assert told == f"- **the rate**: the paper says two things, the first in §3.1, the second in §4.2. Decision: {decision.rstrip('.')}."
    assert f"Decision: {decision.rstrip('.')}. Why: the table says so" in files["REPRODUCTION_NOTES.md"]


# --- 5: what is made up -------------------------------------------------------------------------------------------------------------------


class Plan(types.SimpleNamespace):
    @classmethod
    def of(cls, **values):
        items = {path: Item(1, config=path, value=value) for path, value in values.items()}
        return cls(config=lambda: items, contribution=types.SimpleNamespace(rows=lambda name: []), find=lambda *names: None)


@pytest.mark.parametrize("shape", ["(batch, n)", "(batch, 1, n, n)", "(batch, 1)"])
@pytest.mark.parametrize("kind", ["int", "bool", ""])
@pytest.mark.parametrize("name", ["attention_mask", "key_padding_mask"])
def test_a_mask_hides_some_and_never_position_0(name, kind, shape):
    line = walkthrough.made(name, f"{shape} {kind}".strip(), walkthrough.Sizes(Plan.of()), "numpy")
    for seed in range(20):
        mask = run_lines(line, np=np, rng=np.random.default_rng(seed), batch=4)[name]
        assert mask.dtype == {"int": np.int64, "bool": bool, "": np.float64}[kind] and set(np.unique(mask)) <= {0, 1}
        seen = mask == (0 if "padding" in name else 1)
        assert seen[..., 0].all()
        assert mask.shape[-1] == 1 or not seen.all(-1).any()


@pytest.mark.torch
def test_masks_are_the_same_in_torch():
    torch = pytest.importorskip("torch")
    for kind, dtype in (("int", torch.int64), ("bool", torch.bool)):
        space = run_lines(walkthrough.made("mask", f"(batch, n) {kind}", walkthrough.Sizes(Plan.of()), "pytorch"), torch=torch, batch=3)
        assert space["mask"].dtype == dtype and (space["mask"][:, 0] == 1).all() and not (space["mask"] == 1).all(-1).any()


@pytest.mark.jax
def test_masks_are_the_same_in_jax():
    jax = pytest.importorskip("jax")
    for kind, dtype in (("int", "int32"), ("bool", "bool")):
        line = walkthrough.made("mask", f"(batch, n) {kind}", walkthrough.Sizes(Plan.of()), "jax")
        space = run_lines(line, jax=jax, jnp=jax.numpy, key=jax.random.key(0), batch=3)
        assert str(space["mask"].dtype) == dtype and (space["mask"][:, 0] == 1).all() and not (space["mask"] == 1).all(-1).any()


@pytest.mark.parametrize(
    ("logits", "y", "classes"),
    [
        ("(batch, 3)", "(batch,) int", "3"),
        ("(batch, n, V)", "(batch, n) int", "toy.data.V"),
        ("(batch, 4, h, w)", "(batch, h, w) int", "4"),
        ("(batch, k)", "(n,) int", None),
    ],
)
def test_labels_lie_in_the_range_of_their_logits(logits, y, classes):
    part = plan.Part("loss", "loss", "src/loss.py", "§1", False, "§1", inputs={"logits": logits, "y": y}, outputs={"loss": "scalar"})
    found = walkthrough.labels(part, walkthrough.Sizes(Plan.of(**{"data.V": 9})))
    assert found == ({"y": classes} if classes else {})
    if classes == "3":
        line = walkthrough.made("y", y, walkthrough.Sizes(Plan.of()), "numpy", classes=classes)
        space = run_lines(line, np=np, rng=np.random.default_rng(0), batch=200)
        assert set(space["y"]) == {0, 1, 2}


# --- 6 and 12: places ----------------------------------------------------------------------------------------------------------------------


def test_a_place_that_is_misplaced_itself_gets_no_semicolon():
    places = types.SimpleNamespace(resolve=lambda text: types.SimpleNamespace(misplaced=["Figure 2"]))
    assert plan.place_of("§2, Appendix H.1, Figure 2", [], places) == "§2, Appendix H.1, Figure 2"
    assert plan.place_of("§2, Figure 2", ["Eq. 3"], places) == "§2, Figure 2; Eq. 3"


@pytest.mark.parametrize("where", ["§3.1", "§3.1, Table 1", "§4.2, Figure 1", "§3.1, Eq. 1", "Table 1, §3.2"])
def test_no_place_ends_in_a_stray_sign(tmp_path, where):
    files, cells = laid(tmp_path, [{"name": "Net", "kind": "model", "where": where, "inputs": {"x": "(batch, n)"}, "outputs": {"y": "(batch, n)"}}])
    for text in (files["src/model.py"], *cells.values()):
        assert not re.search(r"[;,] *(?:\"\"\"|$|what\b|\.\s)|;  ", re.sub(r"(?m)^    (?:Takes|Gives|\[).*$", "", text)), text
    assert Places(fixture.paper()).resolve(where).exists


def test_a_component_without_a_row_shows_the_first_quote_of_its_place(tmp_path):
    rows = [{"id": "elsewhere", "status": "SPECIFIED", "where": "§4.2", "quote": "of another place"},
            {"id": "taken", "status": "SPECIFIED", "where": "§4.3", "quote": "is of another component", "code": "src/model.py:Other"},
            {"id": "free", "status": "SPECIFIED", "where": "§4.3, p. 2", "quote": "Two layers are used", "value": 2, "config": "model.two"}]
    shape = {"kind": "model", "inputs": {"x": "(batch, n)"}, "outputs": {"y": "(batch, n)"}}
    files, cells = laid(tmp_path, [{"name": "Net", "where": "§3.1, §4.3", **shape}, {"name": "Other", "where": "§4.3", **shape}], items=rows,
                        change=lambda ledger: [item.pop("quote", None) for item in ledger["items"][:-3]])
    assert '§4.3, p. 2 — "Two layers are used"' in cells["Net-excerpt"] and "See " not in cells["Net-excerpt"]
    assert '§4.3, p. 2 — "Two layers are used"' in files["src/model.py"]
    assert '"is of another component"' in cells["Other-excerpt"] and "Two layers" not in cells["Other-excerpt"]


# --- 7: signatures ---------------------------------------------------------------------------------------------------------------------------

FORMS = {  # form → what it is in a signature of PyTorch, JAX with Flax, NumPy
    "(batch, n, d)": ("Tensor", "jax.Array", "np.ndarray"),
    "(batch, n) int": ("Tensor", "jax.Array", "np.ndarray"),
    "int (batch, n)": ("Tensor", "jax.Array", "np.ndarray"),
    "(n, n) bool": ("Tensor", "jax.Array", "np.ndarray"),
    "()": ("Tensor", "jax.Array", "np.ndarray"),
    "scalar": ("float", "float", "float"),
    "scalar int": ("int", "int", "int"),
    "int (the step)": ("int", "int", "int"),
    "float": ("float", "float", "float"),
    "bool": ("bool", "bool", "bool"),
    "text": ("str", "str", "str"),
    "string": ("str", "str", "str"),
    "object": ("object", "object", "object"),
    "object (a function of x)": ("Callable", "Callable", "Callable"),
    "object, a mapping of names": ("dict", "dict", "dict"),
    "(parameters)": ("dict[str, Tensor]", "dict[str, jax.Array]", "dict[str, np.ndarray]"),
}
NAMED = {  # name of an object → the same
    "model": ("nn.Module", "nnx.Module", "Callable"),
    "text_encoder": ("nn.Module", "nnx.Module", "Callable"),
    "reward_model": ("nn.Module", "nnx.Module", "Callable"),
    "optimizer": ("torch.optim.Optimizer", "nnx.Optimizer", "object"),
    "tokenizer": ("Callable", "Callable", "Callable"),
    "reward_fn": ("Callable", "Callable", "Callable"),
    "generator": ("torch.Generator", "jax.Array", "np.random.Generator"),
    "rng": ("torch.Generator", "jax.Array", "np.random.Generator"),
    "config": ("Config", "Config", "Config"),
    "conv_config": ("ConvConfig", "ConvConfig", "ConvConfig"),
    "conv": ("object", "object", "object"),
    "theta": ("dict[str, Tensor]", "dict[str, jax.Array]", "dict[str, np.ndarray]"),
    "cross_entropy": ("Callable", "Callable", "Callable"),
    "history": ("object", "object", "object"),
}


@pytest.mark.parametrize(("at", "framework"), list(enumerate(FRAMEWORKS)))
def test_every_form_has_its_type(at, framework):
    context = signatures.Context(framework, {"cross_entropy": ("src/loss.py", False)}, {"conv": "ConvConfig"}, {"theta"}, flax=True)
    for form, wanted in FORMS.items():
        assert dimensions.read(form) is not None, form
        assert signatures.type_of("thing", form, context) == wanted[at], form
    for name, wanted in NAMED.items():
        assert signatures.type_of(name, "object", context) == wanted[at], name
    bare = signatures.Context("jax")
    assert signatures.type_of("model", "object", bare) == "Callable"  # where nothing is of Flax, nothing names it
    assert signatures.type_of("generator", "object", context, others=["discriminator"]) != NAMED["generator"][at]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("x", "x"), ("lambda", "lambda_"), ("x'", "x_prime"), ("$\\theta_0$", "theta_0"), ("input ids", "input_ids"), ("θ", "θ"), ("self", "self_"),
     ("2d map", "x_2d_map"), ("$\\hat{y}$", "y"), ("P(x)", "P_x"), ("", "x")],
)
def test_names_are_ones_that_python_accepts(name, wanted):
    assert signatures.identifier(name) == wanted
    assert run_lines(f"{wanted} = 1")[wanted] == 1


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_names_that_meet_stay_apart_and_cells_lose_none_of_their_own(tmp_path, framework):
    part = {"name": "Attention", "kind": "model", "where": "§3.1", "outputs": {"out": "(batch, n, d)"},
            "inputs": dict.fromkeys(("query", "key", "x", "x'", "$x$"), "(batch, n, d)") | {"lambda": "scalar"}}
    files, cells = laid(tmp_path, [part], framework)
    names = [piece.split(":")[0] for piece in methods(files["src/model.py"], "Attention")["forward" if framework == "pytorch" else "__call__"].split(", ")]
    assert names == ["self", "query", "key", "x", "x_prime", "x_2", "lambda_"]
    cell = cells["Attention-shape"]
    assert "key_ = " in cell and "key=key_" in cell and not re.search(r"(?m)^\s*key = ", cell)
    ast.parse(cell)


ROWS = [
    {"id": "share", "value": 0.5, "config": "pruning.share", "code": "src/prune.py:prune, src/train.py:fit"},
    {"id": "size", "value": 20, "config": "evaluation.size", "code": "src/evaluate.py:sample"},
    {"id": "rate", "value": 0.1, "config": "training.rate", "where": "§4.2"},
]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_configuration_is_given_where_settings_have_their_code(tmp_path, framework):
    number = {"inputs": {"x": "scalar"}, "outputs": {"y": "scalar"}, "where": "§4.3"}
    parts = [
        {"name": "prune", "kind": "utility", "file": "src/prune.py", **number},
        {"name": "remaining", "kind": "utility", "file": "src/prune.py", **number},
        {"name": "sample", "kind": "evaluation", **number},
        {"name": "accuracy", "kind": "evaluation", **number},
        {"name": "fit", "kind": "training", **number},
        {"name": "rate_at", "kind": "schedule", **number, "where": "§4.2"},
        {"name": "attend", "kind": "model", **number},
        {"name": "Net", "kind": "model", **number},
        {"name": "read", "kind": "data", **number},
        {"name": "decode", "kind": "inference", **number},
        {"name": "gates", "kind": "inference", **number, "outputs": {"g": "(levels,)"}},
        {"name": "told", "kind": "evaluation", **number, "inputs": {"x": "scalar", "config": "object"}},
    ]
    files, _ = laid(tmp_path, parts, framework, items=[*ROWS, {"id": "levels", "value": 3, "config": "model.levels", "where": "§3.1"}])
    with_config = {name for text in files.values() for name, args in re.findall(r"(?m)^def (\w+)\((.*)\) ->", text) if "config: Config" in args}
    assert with_config - {"load_config"} == {"prune", "sample", "fit", "rate_at", "gates", "told"}
    assert all(args.count("config") == 1 for text in files.values() for args in re.findall(r"(?m)^def told\((.*)\) ->", text))


def test_what_a_written_signature_says_goes_first():
    part = plan.Part("f", "evaluation", "src/evaluate.py", "§1", False, "§1", signature="x: Tensor", inputs={"x": "(n,)"}, names={"x": "x"})
    assert walkthrough.call_of(part, None) == "x=x"
    assert walkthrough.call_of(part, "def f(x, config):\n    return x") == "x=x, config=toy"


# --- 9: quotes in tables ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quote", ["such that ‖m‖0 ≪ |θ| (fewer parameters)", "the norm \\|x\\| is one", "p(a|b) and |c|", "no bar at all"])
def test_a_quote_in_a_table_is_read_as_it_was(quote):
    item = Item(1, status="PARTIALLY_SPECIFIED", item="size", where="§2", quote=quote, unclear="how many", using="fewer")
    text = audit.regions(Ledger("ledger.yaml", items=[item]))["unspecified"]
    found, problems = anchors.scan_text(f"# Notes\n\n{text}\n", "REPRODUCTION_NOTES.md")
    assert [anchor.quote for anchor in found if anchor.quote] == [quote] and not problems


# --- 10: toy sizes -------------------------------------------------------------------------------------------------------------------------------


def chosen(rows, relations=()):
    items = [Item(1, id=row.get("id", path.replace(".", "-").replace("_", "-")), config=path, item=row.get("item", ""), group=row.get("group", "architecture"),
                  quote=row.get("quote", ""), value=row["value"], status="SPECIFIED") for path, row in rows.items()]
    ledger = Ledger("ledger.yaml", items=items, relations=[Entry(1, {"expr": expr, "equals": equals}, {}) for expr, equals in relations])
    small = toys.choose(items, ledger, {})
    return {path: small.get(path, row["value"]) for path, row in rows.items()}


def test_transformer_sizes_keep_what_divides_them():
    rows = {"model.d_model": {"value": 512, "item": "hidden-size"}, "model.h": {"value": 8, "item": "heads"}, "model.d_k": {"value": 64, "item": "head-size"},
            "model.d_ff": {"value": 2048, "item": "feed-forward-size"}, "model.N": {"value": 6, "item": "depth"}}
    now = chosen(rows, [("model.h * model.d_k", 512), ("model.d_ff / model.d_model", 4)])
    assert now["model.h"] * now["model.d_k"] == now["model.d_model"] <= 16 and now["model.d_ff"] == 4 * now["model.d_model"]
    assert now["model.h"] > 1 and now["model.d_k"] > 1 and now["model.N"] == 2
    odd = chosen({"model.width": {"value": 768}, "model.n_heads": {"value": 12}})
    assert odd["model.width"] % odd["model.n_heads"] == 0 and odd["model.n_heads"] == 2


def test_lists_steps_and_counts_keep_order_and_proportion():
    rows = {"lenet.hidden": {"value": [300, 100]}, "conv.widths": {"value": [64, 128, 256]}, "conv.hidden": {"value": [256, 256]},
            "conv.image_size": {"value": 32},
            "conv.kernel_size": {"value": 3}, "conv.pool": {"value": 2}, "conv.padding": {"value": 1}, "conv.stride": {"value": 1},
            "training.iterations": {"value": 30000}, "schedule.drops": {"value": [20000, 25000]}, "schedule.warmup": {"value": 20000},
            "evaluation.interval": {"value": 100, "quote": "performance every 100 iterations"}, "pruning.rounds": {"value": 15},
            "training.epochs": {"value": 20}, "training.warmup_epochs": {"value": 0}, "training.batch_size": {"value": 256},
            "training.micro_batch": {"value": 8},
            "training.seed": {"value": 1234}, "training.seeds": {"value": [0, 1, 2], "item": "seeds"}, "data.special_ids": {"value": [0, 2, 1]},
            "data.validation_examples": {"value": 5000}, "vit.image_size": {"value": 224}, "vit.patch_size": {"value": 16}}
    now = chosen(rows)
    assert now["lenet.hidden"][0] > now["lenet.hidden"][1] and max(now["lenet.hidden"]) <= 16
    assert now["conv.widths"] == [4, 8, 16] and now["conv.hidden"] == [8, 8] and now["conv.image_size"] < 32
    assert now["training.iterations"] <= 40 and now["schedule.drops"][0] < now["schedule.drops"][1] < now["training.iterations"]
    assert now["schedule.warmup"] == now["schedule.drops"][0] and 1 < now["evaluation.interval"] < now["schedule.warmup"]
    assert now["pruning.rounds"] == 3 and now["training.epochs"] <= 6 and now["training.warmup_epochs"] == 0
    assert now["training.batch_size"] == 4 and now["training.batch_size"] % now["training.micro_batch"] == 0
    assert now["data.validation_examples"] <= 20 and now["vit.image_size"] % now["vit.patch_size"] == 0 and now["vit.image_size"] < 64
    for kept in ("conv.kernel_size", "conv.pool", "conv.padding", "conv.stride", "training.seed", "training.seeds", "data.special_ids"):
        assert now[kept] == rows[kept]["value"], kept


def test_what_cannot_be_kept_small_keeps_the_paper_s_size():
    rows = {"a.width": {"value": 100}, "b.width": {"value": 7}}
    now = chosen(rows, [("a.width - 13 * b.width - 9 + a.width * 0", 0)])
    assert now["a.width"] - 13 * now["b.width"] - 9 == 0


def test_a_dimension_is_that_of_the_component_s_own_section(tmp_path):
    rows = [{"id": f"{name.replace('_', '-')}-{section}", "value": value, "config": f"{section}.{name}"}
            for section, name, value in (("lenet", "n_classes", 10), ("lenet", "n_pixels", 784), ("conv", "n_classes", 20), ("conv", "n_channels", 3))]
    parts = [{"name": "Lenet", "kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n_pixels)"}, "outputs": {"y": "(batch, n_classes)"}},
             {"name": "ConvNet", "kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n_channels, 8, 8)"}, "outputs": {"y": "(batch, n_classes)"}}]
    _, cells = laid(tmp_path, parts, items=rows)
    assert "(batch, toy.lenet.n_classes)" in cells["Lenet-shape"] and "(batch, toy.conv.n_classes)" in cells["ConvNet-shape"]


# --- 11: masks ------------------------------------------------------------------------------------------------------------------------------------


def test_the_mask_pattern_is_for_what_takes_a_mask(tmp_path):
    tokens = {"inputs": {"x": "(batch, n) int"}, "outputs": {"y": "(batch, n, d)"}, "kind": "model", "where": "§3.1"}
    parts = [
        {"name": "sample_start", **tokens},
        {"name": "prune_layers", **tokens, "inputs": {"mask": "(n,) bool", "x": "(batch, n)"}},
        {"name": "masked_forward", **tokens, "inputs": {"theta": "object", "m": "object", "x": "(batch, n)"}},
        {"name": "Attend", **tokens, "inputs": {"x": "(batch, n, d)", "attention_mask": "(batch, n) int"}},
        {"name": "Causal", **tokens, "axes": ["softmax over the keys, causal"]},
        {"name": "Plain", **tokens},
        {"name": "Whole", **tokens},
    ]
    quoted = {"id": "structure", "status": "SPECIFIED", "where": "§3.1", "quote": "we retain the mask and sample anew", "code": "src/model.py:sample_start"}
    front = {"symbols": [{"symbol": "$m$", "meaning": "mask of zeros and ones", "shape": "(parameters)", "variable": "m", "where": "§3.1"}]}
    _, cells = laid(tmp_path, parts, items=[quoted], front=front)
    assert {name.removesuffix("-masks") for name in cells if name.endswith("-masks")} == {"masked_forward", "Attend", "Causal", "Whole"}
    _, cells = laid(tmp_path / "none", [parts[0], parts[5], parts[6]], items=[quoted])
    assert not [name for name in cells if name.endswith("-masks")] and "no component of the model takes a mask" in cells["left-out"]


# --- 13 and 14: what is named and what runs ---------------------------------------------------------------------------------------------------------

FUNCTION = {"name": "attend", "kind": "system", "where": "§3.1", "inputs": {"q": "(n, d)"}, "outputs": {"o": "(n, d)"}}


@pytest.mark.parametrize("mode", ["minimal", "full"])
def test_a_jax_result_of_functions_names_no_flax(tmp_path, mode):
    files, cells = laid(tmp_path, [FUNCTION, {**FUNCTION, "name": "model_of", "inputs": {"model": "object"}}], "jax", mode, "f")
    assert not re.search(r"flax|nnx|optax", " ".join([*files.values(), *cells.values()]), re.I)
    net = {"name": "Net", "kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n)"}, "outputs": {"y": "(batch, n)"}}
    files, cells = laid(tmp_path / "net", [net], "jax", mode, "a")
    assert "flax" in files["requirements.txt"] and "from flax import nnx" in cells["setup"] and "Flax NNX" in files["README.md"]
    assert ("optax" in files["requirements.txt"]) == ("import optax" in cells["setup"]) == ("Optax" in files["README.md"]) == (mode == "full")


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(
    ("inputs", "config", "quote", "steps", "label", "call"),
    [
        ({"t": "int"}, "training.T", "for 240 steps", "config.training.T", "step", "t"),
        ({"t": "int"}, "training.epochs", "for 20 epochs", "config.training.epochs", "epoch", "t"),
        ({"iteration": "int"}, "training.iterations", "for 240 iterations", "config.training.iterations", "iteration", "t"),
        ({"epoch": "int", "epochs": "int"}, "training.epochs", "20 epochs", "config.training.epochs", "epoch", "t, config.training.epochs"),
        ({"step": "int"}, "training.epochs", "for 20 epochs", "steps", "step", "t"),
    ],
)
def test_the_schedule_is_plotted_in_its_own_unit(tmp_path, framework, inputs, config, quote, steps, label, call):
    length = {"id": "length", "item": "training-length", "status": "SPECIFIED", "where": "§4.2", "quote": quote, "value": 20, "config": config}
    part = {"name": "rate", "kind": "schedule", "where": "§4.2", "inputs": inputs, "outputs": {"eta": "scalar"}}

    def alone(ledger):
        ledger["items"] = [item for item in ledger["items"] if item.get("item") not in ("training-length", "steps") or item["id"] == "length"]

    files, _ = laid(tmp_path, [part], framework, "full", "b", items=[length], change=alone)
    text = files["src/train.py"]
    assert f"range({steps})" in text and f'set_xlabel("{label}")' in text and f"[rate({call}, config) for t in ts]" in text
    assert ("steps: int" in text) == (steps == "steps") and "matplotlib" in files["requirements.txt"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(
    ("parts", "needs"),
    [
        ([FUNCTION], ""),
        ([{"name": "Net", "kind": "model", "where": "§3.1", "inputs": {"encoder": "object", "x": "(batch, n)"}, "outputs": {"y": "(batch, n)"}}], "`encoder`"),
        ([{"name": "Rows", "kind": "data", "where": "§4.1", "inputs": {"path": "text"}, "outputs": {"row": "text"}}], "`path`"),
        ([{"name": "split", "kind": "data", "where": "§4.1", "inputs": {"images": "(n, d)", "seed": "int"}, "outputs": {"train": "object"}}], "`images`"),
        ([{"name": "draw", "kind": "data", "where": "§4.1", "inputs": {"size": "int"}, "outputs": {"x": "(batch, n)"}}], ""),
        ([{"name": "fit", "kind": "training", "where": "§4.2", "inputs": {"model": "object", "corpus": "object"}, "outputs": {"loss": "scalar"}}], "`corpus`"),
    ],
)
def test_a_command_is_promised_only_where_main_can_be_one(tmp_path, framework, parts, needs):
    front = {"reference": [{"what": "the corpus", "where": "§4.1", "from": "its authors"}]}
    net = {"name": "Base", "kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n)"}, "outputs": {"y": "(batch, n)"}}
    files, _ = laid(tmp_path, [net, *parts], framework, "full", "a", front=front)
    assert ("python -m src.train configs/base.yaml" in files["README.md"]) == ('if __name__ == "__main__":' in files["src/train.py"]) == (not needs)
    if needs:
        assert needs in files["README.md"].replace("path_2", "path") and "the corpus (§4.1): its authors" in files["README.md"]
        assert re.search(rf"def main\(path: str, {needs.strip('`')}: ", files["src/train.py"].replace("path_2", "path"))


# --- 15 and 16 ----------------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [["--out", "there"], ["--result", "there"], ["there"], ["there", "--result", "./there"]])
def test_the_folder_may_be_named_in_each_way(given, monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location("lay_scaffold", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    seen = []
    from paper2code.check import stages

    monkeypatch.setattr(script.environment, "ensure", lambda *a, **k: None)
    monkeypatch.setattr(stages, "workspace", lambda folder: folder)
    monkeypatch.setattr(stages, "open_gates", lambda work: types.SimpleNamespace(must_be_open=lambda stage: None))
    monkeypatch.setattr(scaffold, "lay", lambda work, out: seen.append(out) or scaffold.Laid(Path("there")))
    assert script.main([str(tmp_path), *given]) == 0 and [path.as_posix() for path in seen] == ["there"]


def test_two_folders_are_refused(tmp_path):
    done = subprocess.run([sys.executable, SCRIPT, tmp_path, "one", "--out", "two"], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 2 and "two result folders" in done.stderr


def test_what_comes_from_official_code_is_among_the_choices(tmp_path):
    link = f"https://github.com/a/b/blob/{'0' * 40}/c.py#L1"
    row = {"id": "bias", "status": "FROM_OFFICIAL_CODE", "value": True, "source": link, "code": "src/model.py:Net", "using": ""}
    net = {"name": "Net", "kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n)"}, "outputs": {"y": "(batch, n)"}}
    files, _ = laid(tmp_path, [net], items=[row])
    table = files["REPRODUCTION_NOTES.md"].split("## Unspecified choices")[1].split("## ")[0]
    assert f"| bias | FROM_OFFICIAL_CODE | nothing | `True` | {link} | src/model.py:Net |" in table
    counted = {status: {count for count, _ in found} for status, found in notes.stated_counts(files["REPRODUCTION_NOTES.md"]).items()}
    assert counted["FROM_OFFICIAL_CODE"] == {1}
    assert not [finding for finding in notes.check_counts(Repository(tmp_path / "result"), None, None) if "FROM_OFFICIAL_CODE" in finding.message]


def test_unfilled_stand_ins_are_told_by_gate_5(tmp_path):
    laid(tmp_path, BUILT, items=[LEARNED])
    book, _ = read_notebook(tmp_path / "result")
    told = [finding for finding in structure(book, [Component("Reader", "model", "§3.1", 1)], "minimal") if finding.check == "notebook-placeholder"]
    assert any("a small encoder that takes and gives" in finding.text() for finding in told)


# --- what is laid passes where the bodies are right, and notices where they are not ----------------------------------------------------------------------

RUN = [
    {"name": "Reader", "kind": "model", "where": "§3.1", "inputs": {"encoder": "object", "ids": "(batch, n) int", "attention_mask": "(batch, n) int"},
     "outputs": {"out": "(batch, 3)"}},
    {"name": "Attend", "kind": "model", "where": "§3.1", "inputs": {"query": "(batch, n, d)", "key": "(batch, n, d)", "seen": "(batch, n) bool"},
     "outputs": {"out": "(batch, n, d)"}},
    {"name": "label_loss", "kind": "loss", "where": "§3.3", "inputs": {"logits": "(batch, 3)", "y": "(batch,) int"}, "outputs": {"loss": "scalar"}},
]
BODIES = {
    "pytorch": {
        "Reader.__init__": "super().__init__()\n        self.encoder, self.f = encoder, nn.Linear(encoder.size, 3)",
        "Reader.forward": "assert set(attention_mask.unique().tolist()) <= {0, 1} and (attention_mask[:, 0] == 1).all()\n"
                          "        return self.f(self.encoder(ids, attention_mask)[:, 0])",
        "Attend.__init__": "super().__init__()\n        self.q = nn.Linear(config.model.d, config.model.d)",
        "Attend.forward": "scores = (self.q(query) @ key.mT).masked_fill(~seen[:, None], -1e9)\n        return scores.softmax(-1) @ key",
        "label_loss": "import torch\n    return torch.nn.functional.cross_entropy(logits, y)",
        "stand_in_encoder": "class Encoder(torch.nn.Module):\n        size = 6\n        def __init__(self):\n            super().__init__()\n"
                            "            self.e = torch.nn.Embedding(9, 6)\n        def forward(self, ids, mask):\n"
                            "            e = self.e(ids) * mask[..., None]\n"
                            "            return e + e.sum(1, keepdim=True)\n    return Encoder()",
    },
    "jax": {
        "Reader.__init__": "self.encoder, self.f = encoder, nnx.Linear(6, 3, rngs=rngs)",
        "Reader.__call__": "assert (attention_mask[:, 0] == 1).all() and attention_mask.max() == 1\n"
                           "        return self.f(self.encoder(ids, attention_mask)[:, 0])",
        "Attend.__init__": "self.q = nnx.Linear(config.model.d, config.model.d, rngs=rngs)",
        "Attend.__call__": "scores = jax.numpy.where(seen[:, None], self.q(query) @ key.swapaxes(1, 2), -1e9)\n"
                           "        return jax.nn.softmax(scores, axis=-1) @ key",
        "label_loss": "assert y.max() < 3\n    return -jax.nn.log_softmax(logits)[jax.numpy.arange(len(y)), y].mean()",
        "stand_in_encoder": "class Encoder(nnx.Module):\n        def __init__(self):\n            self.e = nnx.Embed(9, 6, rngs=nnx.Rngs(seed))\n"
                            "        def __call__(self, ids, mask):\n            e = self.e(ids) * mask[..., None]\n"
                            "            return e + e.sum(1, keepdims=True)\n"
                            "    return Encoder()",
    },
    "numpy": {
        "Reader.__init__": "self.encoder, self.f = encoder, rng.standard_normal((6, 3))",
        "Reader.__call__": "assert (attention_mask[:, 0] == 1).all() and attention_mask.max() == 1\n"
                           "        return self.encoder(ids, attention_mask)[:, 0] @ self.f",
        "Attend.__init__": "self.q = rng.standard_normal((config.model.d, config.model.d))",
        "Attend.__call__": "scores = np.where(seen[:, None], query @ self.q @ key.swapaxes(1, 2), -1e9)\n"
                           "        e = np.exp(scores - scores.max(-1, keepdims=True))\n"
                           "        return e / e.sum(-1, keepdims=True) @ key",
        "label_loss": "assert y.max() < 3\n    e = np.exp(logits)\n    return -np.log(e / e.sum(-1, keepdims=True))[np.arange(len(y)), y].mean()",
        "stand_in_encoder": "table = np.random.default_rng(seed).standard_normal((9, 6))\n    def encoder(ids, mask):\n"
                            "        e = table[ids] * mask[..., None]\n"
                            "        return e + e.sum(1, keepdims=True)\n    return encoder",
    },
}


def written(text, bodies, indent=""):
    """A laid text with bodies in the place of what says FILL IN."""
    for name, body in bodies.items():
        owner, _, method = name.rpartition(".")
        head = rf"(class {owner}\b(?:(?!\nclass |\ndef ).)*?def {method}\(" if owner else rf"(def {name}\("
        text = re.sub(head + r"(?:(?!\ndef ).)*?)(?:super\(\).__init__\(\)\n\s*)?raise NotImplementedError\(\"FILL IN[^\n"
        "]*", lambda m, body=body: m[1] + body, text,
                      count=1, flags=re.S)
    return text


@pytest.mark.parametrize(
    "framework", [pytest.param("pytorch", marks=[pytest.mark.torch, pytest.mark.slow]), pytest.param("jax", marks=[pytest.mark.jax, pytest.mark.slow]), "numpy"]
)
def test_laid_checks_pass_on_right_bodies(tmp_path, framework):
    pytest.importorskip({"pytorch": "torch", "jax": "flax", "numpy": "numpy"}[framework])
    _, cells = laid(tmp_path, RUN, framework)
    for name in ("model", "loss"):
        path = tmp_path / f"result/src/{name}.py"
        path.write_text(written(path.read_text(encoding="utf-8"), BODIES[framework]), encoding="utf-8")
    cells["stand-ins"] = written(cells["stand-ins"], {"stand_in_encoder": BODIES[framework]["stand_in_encoder"]})
    book = nbformat.read(tmp_path / "result" / walkthrough.FILE, 4)
    names = [cell.metadata["paper2code"]["id"] for cell in book.cells if cell.cell_type == "code"]
    run = [name for name in names if "FILL IN" not in cells[name]]
    patterns = {"shape", "batch_independence", "seeds"} | ({"gradients"} if framework != "numpy" else set())
    assert {f"{part}-{name}" for part in ("Reader", "Attend") for name in patterns} | {"label_loss-shape", "stand-ins"} <= set(run)
    script = tmp_path / "cells.py"
    script.write_text("\n\n".join(cells[name] for name in run), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, encoding="utf-8", cwd=tmp_path / "result")
    assert done.returncode == 0, done.stderr[-2000:]
