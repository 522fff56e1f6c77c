"""The laid checks are ones that a right implementation passes: counts with their units, made-up inputs, what applies to a part."""

from __future__ import annotations

import ast
import re
import types

import nbformat
import numpy as np
import pytest
import scaffold_fixture as fixture
import yaml
from conftest import run_lines
from paper2code.check import code, dimensions, marked
from paper2code.check import contribution as contributions
from paper2code.check.contribution import Component
from paper2code.check.flags import flag_form
from paper2code.check.ledger import Item
from paper2code.check.repository import Module
from paper2code.findings import errors
from paper2code.paper import Paper, Section, Table, give_ids
from paper2code.show import audit, plan, scaffold, walkthrough
from paper2code.show.counts import count_of

ROWS = {
    "power below": [["", "N", "params"], ["", "", "$\\times 10^{6}$"], ["base", "6", "65"], ["big", "6", "213"]],
    "letter": [["model", "#Params (M)"], ["base", "65"], ["big", "213"]],
    "words": [["model", "parameters, in millions"], ["base", "65"]],
    "on its side": [["", "base", "big"], ["layers", "6", "6"], ["params (M)", "65", "213"]],
    "none": [["model", "params"], ["base", "65"]],
}


def counted(rows="none", quote="65", value=65, where="Table 1", claim=None):
    paper = Paper(sections=[Section("1", "Method", "1")], tables=[Table("", "1", "Sizes.", ROWS[rows])])
    give_ids(paper)
    contribution = types.SimpleNamespace(get={"minimal_claim": claim}.get)
    found = count_of(Item(1, quote=quote, value=value, where=where), paper, contribution)
    return found and (found.value, found.within)


@pytest.mark.parametrize("rows", [name for name in ROWS if name != "none"])
@pytest.mark.parametrize("value", [65, 65_000_000])
def test_a_count_has_the_unit_of_its_column_and_the_precision_of_its_print(rows, value):
    assert counted(rows, value=value) == (65_000_000, 500_000)


@pytest.mark.parametrize(
    ("quote", "value", "wanted"),
    [
        ("the model has 65M parameters", 65_000_000, (65_000_000, 500_000)),
        ("the model has 65.4 million parameters", 65.4, (65_400_000, 50_000)),
        ("1.5B parameters", 1.5e9, (1_500_000_000, 50_000_000)),
        ("1,234,567 parameters", 1_234_567, (1_234_567, 0)),
        ("330,000 parameters", 330_000, (330_000, 5_000)),
        ("65", 65, None),
        ("65.4", 65.4, None),
    ],
)
def test_a_count_from_its_quote(quote, value, wanted):
    assert counted(quote=quote, value=value, where="§1") == wanted


def test_the_minimal_claim_s_own_value_goes_first():
    claim = {"claim": "the base model has 65 million parameters", "check": "count", "value": 65_000_000, "tolerance": 0.04}
    assert counted("power below", claim=claim) == (65_000_000, 2_600_000)
    assert counted("power below", claim={**claim, "claim": "a loss of 3", "value": 3}) == (65_000_000, 500_000)


@pytest.mark.parametrize(
    ("text", "dims", "kind"),
    [
        ("(batch, n, d)", ("batch", "n", "d"), "float"),
        ("(batch, n) int", ("batch", "n"), "int"),
        ("int (batch, n)", ("batch", "n"), "int"),
        ("int64 tensor of shape [batch, n]", ("batch", "n"), "int"),
        ("bool (batch, 1, n, n)", ("batch", "1", "n", "n"), "bool"),
        ("(n + 1, 2*d) float32", ("n + 1", "2*d"), "float"),
        ("(…, d), normalised", ("…", "d"), "float"),
        ("()", (), "float"),
        ("scalar", None, "float"),
        ("scalar int", None, "int"),
        ("int", None, "int"),
        ("int (the step)", None, "int"),
        ("bool", None, "bool"),
        ("text", None, "object"),
        ("(parameters)", None, "object"),
    ],
)
def test_forms_of_shapes_in_both_orders(text, dims, kind):
    assert dimensions.read(text) == dimensions.Form(dims, kind)


@pytest.mark.parametrize("text", ["a number", "list of (batch, n)", "(batch, (n, d))", "(h d_v, d)", "(batch, n)(m)", "", "two of (n,)"])
def test_forms_that_cannot_be_laid_are_refused_by_gate_2(text):
    assert dimensions.read(text) is None
    found = []
    part = Component("f", "model", "§1", 1, inputs={"x": text})
    contributions.components(types.SimpleNamespace(components=[part]), lambda check, message, line, **more: found.append((check, more["expected"])))
    assert found == [("contribution-shape", dimensions.FORMS)]


# --- what is laid for components of other kinds ------------------------------------------------------------------------

PARTS = [
    {"name": "Attention", "kind": "model", "where": "§3.1", "inputs": {"x": "(batch, n, d)",
     "mask": "bool (batch, 1, n, m)"}, "outputs": {"out": "(batch, n, d_unknown)"}},
    {"name": "rows_before", "kind": "model", "where": "§3.1", "inputs": {"m": "int"}, "outputs": {"hidden": "(m, m + 1) bool"}},
    {"name": "Rotation", "kind": "model", "where": "§3.1", "inputs": {"tokens": "int (batch, n)", "pair": "(batch, n, 2)"}, "outputs": {"x": "(batch, n, d)"}},
    {"name": "normalise_", "kind": "utility", "where": "§3.1", "inputs": {"x": "(batch, d)"}, "outputs": {}},
    {"name": "Sequences", "kind": "data", "where": "§4.1", "inputs": {"i": "int", "path": "text"}, "outputs": {"x": "(n,) int"}},
    {"name": "rate", "kind": "schedule", "where": "§4.2", "equations": ["Eq. 8"], "inputs": {"t": "int"}, "outputs": {"eta": "scalar"}},
    {"name": "Score", "kind": "evaluation", "where": "§4.3", "inputs": {"y": "(batch, n) int"}, "outputs": {"score": "scalar"}},
]


def laid(tmp_path, framework="pytorch", change=None):
    work = fixture.workspace(tmp_path / "work", "a", "minimal", framework)
    _, head, prose = work.contribution.read_text(encoding="utf-8").split("---\n", 2)
    front = yaml.safe_load(head) | {"components": PARTS}
    work.contribution.write_text(f"---\n{yaml.safe_dump(front, allow_unicode=True)}---\n{prose}", encoding="utf-8")
    ledger = yaml.safe_load(work.ledger.read_text(encoding="utf-8"))
    (change or (lambda items: None))({item["id"]: item for item in ledger["items"]})
    work.ledger.write_text(yaml.safe_dump(ledger, sort_keys=False, allow_unicode=True), encoding="utf-8")
    scaffold.lay(work, tmp_path / "result")
    book = nbformat.read(tmp_path / "result" / walkthrough.FILE, 4)
    for cell in book.cells:
        if cell.cell_type == "code":
            ast.parse(cell.source)
    files = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "result/src").glob("*.py")}
    for text in files.values():
        ast.parse(text)
    return {cell.metadata["paper2code"]["id"]: cell.source for cell in book.cells}, files


@pytest.mark.parametrize("framework", ["pytorch", "jax", "numpy"])
def test_data_sets_and_other_classes_are_no_modules(tmp_path, framework):
    _, files = laid(tmp_path, framework)
    data = next(node for node in ast.parse(files["data.py"]).body if isinstance(node, ast.ClassDef))
    assert [ast.unparse(base) for base in data.bases] == (["Dataset"] if framework == "pytorch" else [])
    methods = {node.name: ast.unparse(node.args) for node in data.body if isinstance(node, ast.FunctionDef)}
    assert methods == {"__init__": "self, config: Config, path: str", "__len__": "self", "__getitem__": "self, i: int"}
    assert "class Score:" in files["evaluate.py"]


def test_a_schedule_is_training_and_a_ledger_row_may_place_it(tmp_path):
    _, files = laid(tmp_path / "one")
    assert "def rate" in files["train.py"]
    _, files = laid(tmp_path / "two", change=lambda items: items["schedule"].update(code="src/optimiser.py:rate"))
    assert "def rate" in files["optimiser.py"] and "train.py" not in files


def test_what_works_in_place_gives_nothing_and_has_no_check_of_its_shape(tmp_path):
    cells, files = laid(tmp_path)
    assert "-> None:" in files["utils.py"] and "normalise_-shape" not in cells and "works in place" in cells["left-out"]
    found = []
    contribution = types.SimpleNamespace(root=types.SimpleNamespace(value={}), rows=lambda name: [], lines=lambda name: [], components=[])
    for inputs, outputs, wrong in (({"x": "(n,)"}, {}, False), ({}, {"x": "(n,)"}, False), ({}, {}, True)):
        root, _ = marked.read(yaml.safe_dump({"components": [{**PARTS[3], "inputs": inputs, "outputs": outputs}]}), "f", first_line=1, check="c")
        contribution.root = root
        found.clear()
        contributions.rows(contribution, lambda *told, **more: found.append(told))
        assert bool(found) == wrong


def test_masks_are_seen_wherever_they_are_named(tmp_path):
    cells, _ = laid(tmp_path / "one")
    assert "Attention-masks" in cells and "rows_before-masks" not in cells
    assert "the paper speaks of no mask" not in cells["left-out"]


@pytest.mark.torch
def test_made_up_inputs_fit_each_other(tmp_path):
    torch = pytest.importorskip("torch")
    cells, _ = laid(tmp_path)
    toy = types.SimpleNamespace(model=types.SimpleNamespace(d=8, n=4, L=2))
    for line in cells["Attention-seeds"].splitlines():
        if line.startswith("mask = "):
            made = run_lines(line, torch=torch, toy=toy, batch=3)
    assert made["mask"].dtype == torch.bool and made["mask"].any(-1).all() and not made["mask"].all(-1).any()
    assert "outs[0].shape[2]" in cells["Attention-shape"]
    shape = cells["rows_before-shape"]
    number = re.search(r"m = (\d+)", shape).group(1)
    assert f"({number}, {number} + 1)" in shape


def test_random_tokens_are_never_padding():
    plan = types.SimpleNamespace(
        config=lambda: {"data.pad": Item(1, id="padding-token", config="data.pad", value=0)},
        contribution=types.SimpleNamespace(rows=lambda name: []),
        find=lambda *names: Item(1, config="data.V", value=7) if "vocabulary-size" in names else None,
    )
    line = walkthrough.made("tokens", "int (batch, n)", walkthrough.Sizes(plan), "numpy")
    for pad in (0, 3, 6):
        toy = types.SimpleNamespace(data=types.SimpleNamespace(pad=pad, V=7))
        space = run_lines(line, np=np, rng=np.random.default_rng(0), batch=50, toy=toy)
        assert set(space["tokens"].ravel()) == set(range(7)) - {pad}


def test_checks_that_cannot_pass_are_left_out(tmp_path):
    cells, _ = laid(tmp_path)
    assert "rows_before-gradients" not in cells and "Attention-modes" not in cells  # no dropout is decided at it
    assert "if not learned" in cells["Rotation-gradients"]  # it may have no parameters


# --- rendering ----------------------------------------------------------------------------------------------------------


def test_flags_keep_their_reason_and_their_alternatives():
    common = {"item": "padding", "using": "0", "alternatives": ["1"],
              "why": "our choice: none is said", "where": "§2", "quote": "padded", "unclear": "with what"}
    for status in ("UNSPECIFIED", "PARTIALLY_SPECIFIED", "ASSUMPTION"):
        text = "\n".join(plan.anchor_lines(Item(1, status=status, **common)))
        assert "Reason: our choice: none is said" in text and "Alternatives: 1" in text and not errors(flag_form(text, "f", 1))


@pytest.mark.parametrize(
    ("value", "using", "wanted"),
    [
        (0.0, "0.0", "`0.0`"),
        (1e-5, "1.0e-5", "`1e-05`"),
        (0.0, "0.0: none, since nothing is said", "`0.0`: none, since nothing is said"),
        ("gelu", "gelu", "`gelu`"),
        (8, "80 of them", "`8` 80 of them"),
        (None, "none", "none"),
        (4, "", "`4`"),
    ],
)
def test_a_choice_is_told_once(value, using, wanted):
    assert audit.choice(Item(1, value=value, using=using)) == wanted


def test_an_equation_is_printed_once(tmp_path):
    latex = next(item.latex for item in fixture.paper().equations if item.number == "8")
    _, files = laid(tmp_path, change=lambda items: items["schedule"].update(code="src/train.py:rate", status="SPECIFIED", where="§4.2, Eq. 8", quote=latex))
    assert files["train.py"].count("Eq. 8 —") == 1


def test_pitfalls_are_about_the_method(tmp_path):
    cells, _ = laid(tmp_path)
    assert "**software**" not in cells["pitfalls"] and "**activation**" in cells["pitfalls"]


def test_reading_the_config_needs_no_citation_and_computing_does():
    def looked(body):
        source = f'"""§1"""\n\n\ndef load(path: str) -> dict:\n    """Every setting of configs/base.yaml."""\n{body}\n'
        return [finding.check for finding in code.anchors(Module("src/utils.py", source, ast.parse(source), lines=source.splitlines()))[0]]

    assert looked("    rows = read(path)\n    if not rows:\n        raise ValueError(path)\n    return rows") == []
    assert looked("    rows = read(path)\n    if not rows:\n        raise ValueError(path)\n    return rows * 2") == ["code-anchor"]


MODULES = {
    "pytorch": """
import torch
x = torch.ones(2, 3)
class Turn(torch.nn.Module):
    def forward(self, x):
        return BODY
""",
    "jax": """
import jax
import numpy as np
from flax import nnx
x = jax.numpy.ones((2, 3))
class Turn(nnx.Module):
    def __call__(self, x):
        return BODY
""",
}


@pytest.mark.parametrize("framework", [pytest.param("pytorch", marks=pytest.mark.torch), pytest.param("jax", marks=pytest.mark.jax)])
def test_a_part_without_parameters_hands_gradients_on(framework):
    pytest.importorskip({"pytorch": "torch", "jax": "flax"}[framework])
    given = {"part": types.SimpleNamespace(name="Turn"), "title": "", "make": "Turn()", "again": "Turn()", "inputs": [], "call": "x=x"}
    given |= {"taken_call": 'x=taken["x"]', "first": "", "whole": False, "floating": ["x"]}
    engine = scaffold.templates()
    gradients, seeds = (engine.get_template(f"checks/{framework}/{name}.py.j2").render(given) for name in ("gradients", "seeds"))
    run_lines(MODULES[framework].replace("BODY", "-x") + seeds + "\n" + gradients)
    with pytest.raises(AssertionError):  # what it takes has no influence
        run_lines(MODULES[framework].replace("BODY", "0 * x") + gradients)
