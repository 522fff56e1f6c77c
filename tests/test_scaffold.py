"""What is laid from ledger, contribution and paper: for every framework, mode and type; laid again; and what cannot be laid."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import scaffold_fixture as fixture
import yaml
from paper2code import cli
from paper2code.check import notebook
from paper2code.findings import errors
from paper2code.show import plan, scaffold

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "lay_scaffold.py"


@pytest.mark.parametrize("type", fixture.TYPES)
@pytest.mark.parametrize("mode", fixture.MODES)
@pytest.mark.parametrize("framework", fixture.FRAMEWORKS)
def test_unfilled_fails_and_says_what_to_fill_and_filled_passes_gate_4(tmp_path, framework, mode, type):
    work, result = fixture.lay(tmp_path, type, mode, framework)
    empty = errors(fixture.gate_4(work, result).findings)
    missing = " ".join(finding.message for finding in empty)
    for name in fixture.names(type, mode):
        assert name in missing, f"nothing says that {name} is to be written"
    assert {finding.check for finding in empty} <= {"code-placeholder", "code-stub", "notes-placeholder", "config-unused", "code-dead", "trace-uncovered"}
    book, _ = notebook.read(result)
    assert "notebook-placeholder" in {finding.check for finding in notebook.structure(book, [], mode)}
    fixture.fill(result, framework)
    outcome = fixture.gate_4(work, result)
    assert outcome.ok, outcome.text()
    assert (result / "PAPER_GUIDE.md").is_file() == (mode == "educational")
    assert not list(result.rglob("*.part"))


@pytest.mark.parametrize(
    "framework", [pytest.param("pytorch", marks=[pytest.mark.torch, pytest.mark.slow]), pytest.param("jax", marks=[pytest.mark.jax, pytest.mark.slow]), "numpy"]
)
def test_a_filled_scaffold_runs_and_its_checks_bite(tmp_path, framework):
    if importlib.util.find_spec("nbclient") is None:
        pytest.skip("nbclient is not here")
    work, result = fixture.lay(tmp_path, "b", "educational", framework)
    fixture.fill(result, framework)
    outcome = fixture.gate_5(work, result, Path(sys.executable), mutants=framework == "numpy")
    assert outcome.ok, outcome.text()
    if framework == "numpy":
        assert outcome.counts["faults noticed"] >= 0.8 * outcome.counts["faults tried"] > 0


def lay(tmp_path, type="b", mode="full", framework="pytorch"):
    return fixture.lay(tmp_path, type, mode, framework)


def test_nothing_is_typed_twice(tmp_path):
    work, result = lay(tmp_path)
    config = yaml.safe_load((result / "configs/base.yaml").read_text(encoding="utf-8"))
    ledger = yaml.safe_load(work.ledger.read_text(encoding="utf-8"))
    wanted = {item["config"]: item["value"] for item in ledger["items"] if item.get("config")}
    got = {f"{section}.{key}": value for section, rows in config.items() for key, value in rows.items()}
    assert got == wanted and all(type(got[key]) is type(value) for key, value in wanted.items())


def test_laid_again_nothing_changes(tmp_path):
    work, result = lay(tmp_path)
    before = {path: path.read_bytes() for path in result.rglob("*") if path.is_file()}
    again = scaffold.lay(work, result)
    assert not (again.new or again.updated or again.merged or again.conflicts)
    assert before == {path: path.read_bytes() for path in result.rglob("*") if path.is_file()}


def change(work, id, **fields):
    ledger = yaml.safe_load(work.ledger.read_text(encoding="utf-8"))
    next(item for item in ledger["items"] if item["id"] == id).update(fields)
    work.ledger.write_text(yaml.safe_dump(ledger, sort_keys=False, allow_unicode=True), encoding="utf-8")


def test_a_changed_ledger_reaches_every_file_and_the_hands_work_stays(tmp_path):
    work, result = lay(tmp_path)
    fixture.fill(result, "pytorch")
    loss = (result / "src/loss.py").read_text(encoding="utf-8")
    notes = (result / "REPRODUCTION_NOTES.md").read_text(encoding="utf-8")
    assert "Written for this fixture" in notes
    change(work, "smoothing-form", unclear="something new that is unclear", using="another choice altogether")
    change(work, "ramp", status="SPECIFIED")
    change(work, "learning-rate", value=0.5)
    laid = scaffold.lay(work, result)
    assert "eta_0: 0.5" in (result / "configs/base.yaml").read_text(encoding="utf-8")
    merged = (result / "src/loss.py").read_text(encoding="utf-8")
    assert "another choice altogether" in merged and "return cross_entropy + config.loss.lambda_z * penalty" in merged
    ast.parse(merged)
    assert merged != loss and laid.conflicts == []
    notes = (result / "REPRODUCTION_NOTES.md").read_text(encoding="utf-8")
    assert "another choice altogether" in notes and "Written for this fixture" in notes
    book = nbformat.read(result / notebook.FILE, 4)
    assert any("return cross_entropy + config.loss.lambda_z * penalty" in cell.source for cell in book.cells if cell.cell_type == "markdown")
    assert notebook.shown(notebook.read(result)[0], result)[0] == []


def test_a_docstring_changed_by_hand_and_by_the_ledger_is_told(tmp_path):
    work, result = lay(tmp_path)
    path = result / "src/loss.py"
    text = path.read_text(encoding="utf-8")
    line = next(row for row in text.splitlines() if "[PARTIALLY_SPECIFIED]" in row)
    path.write_text(text.replace(line, line + " (looked at again)"), encoding="utf-8")
    change(work, "smoothing-form", item="the smoothing's form")
    laid = scaffold.lay(work, result)
    assert "(looked at again)" in path.read_text(encoding="utf-8")
    assert any(name == "src/loss.py" and "the smoothing's form" in lines for name, _, lines in laid.conflicts)


def test_cells_written_by_hand_stay_where_they_are(tmp_path):
    work, result = lay(tmp_path)
    path = result / notebook.FILE
    book = nbformat.read(path, 4)
    mine = nbformat.v4.new_code_cell("assert 'mine'")
    at = next(n for n, cell in enumerate(book.cells) if cell.metadata.get("paper2code", {}).get("id") == "objective-shape")
    book.cells.insert(at + 1, mine)
    book.cells[at].source = "# by hand"
    nbformat.write(book, path)
    change(work, "depth", status="SPECIFIED")
    scaffold.lay(work, result)
    sources = [cell.source for cell in nbformat.read(path, 4).cells]
    assert sources.index("assert 'mine'") == sources.index("# by hand") + 1


def test_a_folder_that_is_not_ours_is_left_alone(tmp_path):
    work = fixture.workspace(tmp_path / "work", "b", "full", "pytorch")
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(cli.Stop, match="not laid by paper2code") as stop:
        scaffold.lay(work, other)
    assert stop.value.code == cli.USAGE and [path.name for path in other.iterdir()] == ["thesis.tex"]


def test_a_ledger_without_config_paths_is_refused(tmp_path):
    work = fixture.workspace(tmp_path / "work", "b", "minimal", "pytorch")
    ledger = yaml.safe_load(work.ledger.read_text(encoding="utf-8"))
    for item in ledger["items"]:
        item.pop("config", None)
    work.ledger.write_text(yaml.safe_dump(ledger), encoding="utf-8")
    with pytest.raises(cli.Stop, match="no decision of ledger.yaml has a config path"):
        scaffold.lay(work, tmp_path / "result")
    assert not (tmp_path / "result").exists()


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("", "opening_residual_branches_in_turn_post_norm_transformers"),
        ("深度学习", "paper"),
        ("Word " * 60, "word_" * 11 + "word"),
        ("$\\alpha$-Nets: {A} \\emph{study}", "nets_a_study"),
    ],
)
def test_titles(tmp_path, title, slug):
    work = fixture.workspace(tmp_path / "work", "b", "minimal", "numpy")
    contents = json.loads(work.paper_file.read_text(encoding="utf-8"))
    contents["title"] = title
    work.paper_file.write_text(json.dumps(contents), encoding="utf-8")
    made = scaffold.plan_of(work)
    assert made.slug == slug
    scaffold.lay(work, tmp_path / "result")
    for path in (tmp_path / "result").rglob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"))
    yaml.safe_load((tmp_path / "result/configs/base.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["class", "$\\mathcal{L}$", "two words", "objective"])
def test_component_names_that_cannot_be_laid(tmp_path, name):
    work = fixture.workspace(tmp_path / "work", "b", "minimal", "numpy")
    text = work.contribution.read_text(encoding="utf-8")
    work.contribution.write_text(text.replace("name: learning_rate", f"name: {json.dumps(name)}"), encoding="utf-8")
    with pytest.raises(cli.Stop, match="cannot be laid"):
        scaffold.lay(work, tmp_path / "result")
    assert not (tmp_path / "result").exists()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-9, "1.0e-9"),
        (4000, "4000"),
        (True, "true"),
        ("yes", '"yes"'),
        ("adam", "adam"),
        ("a: b # c", '"a: b # c"'),
        ([0.9, 0.98], "[0.9, 0.98]"),
        (1e22, "1.0e+22"),
        (None, "null"),
        ('say "x"', '"say \\"x\\""'),
        ("1e-3", '"1e-3"'),
    ],
)
def test_values_as_yaml(value, text):
    assert plan.scalar(value) == text
    assert yaml.safe_load(f"key: {text}") == {"key": value}


def test_the_script_needs_gate_3_and_has_help(tmp_path):
    work = fixture.workspace(tmp_path / "work", "b", "minimal", "numpy")
    done = subprocess.run([sys.executable, SCRIPT, work.folder], capture_output=True, text=True, encoding="utf-8", cwd=tmp_path)
    assert done.returncode == cli.GATE_ORDER and "gate 1" in done.stderr
    done = subprocess.run([sys.executable, SCRIPT, "--help"], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0 and "examples:" in done.stdout and "exit codes:" in done.stdout


def test_an_equation_of_another_section_is_a_place_of_its_own():
    def places(misplaced):
        return SimpleNamespace(resolve=lambda text: SimpleNamespace(misplaced=misplaced))

    assert plan.place_of("§3.2", ["Eq. 1", "Eq. 2"], places([])) == "§3.2, Eq. 1, Eq. 2"
    assert plan.place_of("§B.4, Algorithm 4", ["Eq. 3", "Eq. 4"], places(["Eq. 3"])) == "§B.4, Algorithm 4; Eq. 3, Eq. 4"
    assert plan.place_of("§3.2", [], places([])) == "§3.2"
