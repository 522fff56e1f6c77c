"""What gates refused though it was right, or told in a way that misled: as it was met when real papers were worked through."""

import ast

import nbformat
import pytest
from paper2code.check import bodies, census, contribution, defaults, ledger, mutate, notebook, scope
from paper2code.check.flags import flag_form
from paper2code.check.places import Places
from paper2code.check.repository import Repository
from paper2code.paper import Equation, Paper, Section, Table, give_ids
from paper2code.show import audit, closing

LINK = "https://github.com/owner/name/blob/" + "a" * 40 + "/train.py#L12"


def laid(tmp_path, text, config="model:\n  width: 8  # §3 — \"width of 8\"\n"):
    (tmp_path / "src").mkdir()
    (tmp_path / "configs").mkdir()
    (tmp_path / "src/model.py").write_text(text, encoding="utf-8")
    (tmp_path / "configs/base.yaml").write_text(config, encoding="utf-8")
    return Repository(tmp_path)


# --- contradictions -------------------------------------------------------------------------------------------------------------

BOOK = f"""
paper: 2101.00001v1
items:
- {{id: a, group: method, item: a, status: NOT_APPLICABLE, why: the paper has no such thing}}
contradictions:
- about: clipping
  first: {{where: "§4", quote: "we clip at 1.0"}}
  second: {{source: "{LINK}", says: clips at 0.5}}
  decision: the paper's 1.0
  why: the paper goes before code
- about: optimiser
  first: {{where: "§4.1", quote: "SGD"}}
  second: {{where: "§4.2", quote: "Adam"}}
  no_contradiction: two experiments, each with its own
"""


def book(tmp_path, text=BOOK):
    (tmp_path / "ledger.yaml").write_text(text, encoding="utf-8")
    return ledger.read(tmp_path / "ledger.yaml")


def test_official_code_can_contradict_the_paper_and_a_seen_pair_may_be_none(tmp_path):
    read, findings = book(tmp_path)
    assert not findings and not [f for f in ledger.check_rows(read) if f.check == "ledger-contradiction"]
    assert [row.fields["about"] for row in read.disagreements()] == ["clipping"]
    told = audit.contradictions(read.contradictions)
    assert f"but the official code clips at 0.5 ({LINK}). Decision: the paper's 1.0. Why: the paper goes before code" in told
    assert "No contradiction: two experiments, each with its own" in told
    assert [line for line in closing.look_first(read) if "optimiser" in line] == []


@pytest.mark.parametrize("old, new", [(f'source: "{LINK}"', 'source: "https://github.com/owner/name"'), (", says: clips at 0.5", ""),
                                      ("no_contradiction: two experiments, each with its own", "no_contradiction: true"),
                                      ("no_contradiction: two experiments, each with its own", "no_contradiction: fine"),
                                      (', quote: "we clip at 1.0"', "")])
def test_a_side_without_its_evidence_is_refused(tmp_path, old, new):
    read, _ = book(tmp_path, BOOK.replace(old, new))
    assert [f.check for f in ledger.check_rows(read) if f.check == "ledger-contradiction"]


@pytest.mark.parametrize("old", ["  decision: the paper's 1.0\n", "  no_contradiction: two experiments, each with its own\n"])
def test_a_row_decides_or_says_why_both_hold(tmp_path, old):
    _, findings = book(tmp_path, BOOK.replace(old, ""))
    assert {f.check for f in findings} == {"ledger-field"}


# --- code ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, held", [
    (r"$a \in\widehat{{\mathcal{E}}}(c)$", False), (r"x_{{i}} and \hat{{x}}", False), ("{{ name }}", True), ("FILL IN: what it does", True),
    ("a dict {{'a': 1}}", False), ("{{component.name}}", True), (r"$p\left( {{x}} \right)$", False), ("$p( {{x}}\n    + y)$", False),
    (r"$x$ and {{ name }}", True)])
def test_double_braces_of_latex_are_no_placeholder(text, held):
    assert bool(bodies.placeholder(text)) == held


def test_a_derived_dataclass_is_no_section_of_the_config(tmp_path):
    text = ("from dataclasses import dataclass\n\n@dataclass\nclass ModelConfig:\n    width: int\n    depth: int\n\n"
            "@dataclass\nclass Config:\n    model: ModelConfig\n\n"
            "@dataclass\nclass Settings:\n    width: int\n    depth: int\n    epochs: int\n\n"
            "def use(config: Config) -> Settings:\n    return Settings(config.model.width, config.model.depth, 3)\n")
    repository = laid(tmp_path, text, "model:\n  width: 8\n  depth: 2\n")
    assert [f.message for f in census.agreement(repository)] == []
    (tmp_path / "src/model.py").write_text(text.replace("    depth: int\n\n@dataclass\nclass Config", "    height: int\n\n@dataclass\nclass Config"),
                                           encoding="utf-8")
    assert "ModelConfig.height is not in the config's section 'model'" in [f.message for f in census.agreement(Repository(tmp_path))]


def test_a_config_class_is_held_to_the_section_of_its_field(tmp_path):
    """`value: ValueConfig` is the section value, whatever other section shares as many keys."""
    (tmp_path / "src").mkdir()
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "base.yaml").write_text("policy:\n  width: 1\n  start: 2\nvalue:\n  width: 3\n", encoding="utf-8")
    (tmp_path / "src" / "utils.py").write_text(
        "from dataclasses import dataclass\n\n\n@dataclass\nclass PolicyConfig:\n    width: int\n    start: int\n\n\n"
        "@dataclass\nclass ValueConfig:\n    width: int\n\n\n@dataclass\nclass Config:\n    policy: PolicyConfig\n    value: ValueConfig\n\n\n"
        "def used(config):\n    return config.policy.width, config.policy.start, config.value.width\n", encoding="utf-8")
    assert [f.message for f in census.agreement(Repository(tmp_path))] == []


@pytest.mark.parametrize("call, refused", [
    ("from_pretrained(path)", True), ("from_pretrained(path, local_files_only=True)", False), ("from_pretrained(path, local_files_only=False)", True)])
def test_weights_from_the_disk_are_no_download(tmp_path, call, refused):
    repository = laid(tmp_path, f"import json\nfrom transformers import AutoModel\n\ndef f(path):\n    return json, AutoModel.{call}\n")
    found = scope.excluded(repository, type="a", mode="full", listed=set(), system=False)
    assert bool([f for f in found if "weight download" in f.message]) == refused


@pytest.mark.parametrize("groups, silent", [
    ("[{'params': a, 'lr': 1}, {'params': b, 'lr': 2}]", False), ("[{'params': a, 'lr': 1}, {'params': b}]", True), ("model.parameters()", True)])
def test_a_rate_given_by_every_group_is_given(groups, silent):
    node = ast.parse(f"torch.optim.SGD({groups})").body[0].value
    assert defaults.matters(node, defaults.Argument("lr", "1e-3", 1, ("learning rate", "the learning rate"))) == silent


def test_an_open_choice_without_alternatives_is_told_as_it_stands():
    found = flag_form("[UNSPECIFIED] the bias Using: none at all Alternatives: none", "src/model.py", 3)
    assert [f.message for f in found] == ["[UNSPECIFIED] with Alternatives: none"] and found[0].fix


@pytest.mark.parametrize("text, value, stated", [
    ("pruned at half of the rate", 0.5, True), ("at twice the rate", 2, True), ("halving it each time", 0.5, True), ("behalf of all", 0.5, False),
    ("at half of the rate", 0.25, False), ("half the learning rate", 0.5, True), ("by one half", 0.5, True), ("in half precision", 0.5, False),
    ("in half-precision", 0.5, False), ("the first half of training", 0.5, False), ("double Q-learning", 2, False), ("double precision", 2, False),
    ("doubling the width", 2, True), ("the last quarter of training", 0.25, False)])
def test_fractions_in_words_state_a_number(text, value, stated):
    assert census.holds(text, value) == stated


@pytest.mark.parametrize("place", ["App. G.1", "App. G", "Appendices A and B", "Theorem 2", "Lemma A.1", "Appendix G.1"])
def test_every_form_of_a_place_cites(place):
    from paper2code.check.repository import CITES

    assert CITES.search(f'# {place} — "used the remaining 55,000 examples"')
    assert not CITES.search("# an apple, approx. 3, see App.Config, the theorem of old")


def test_a_value_beside_its_fraction_in_words_is_cited():
    from paper2code.check import numbers

    assert numbers.states("Connections to outputs are pruned at half of the rate", 0.5)
    assert not numbers.states("Connections to outputs are pruned at half of the rate", 0.3)


@pytest.mark.parametrize("shape, good", [("object", True), ("(parameters)", True), ("text", True), ("a set", False)])
def test_a_symbol_may_be_no_tensor(shape, good):
    assert bool(contribution.SHAPE.match(shape)) == good


def test_a_part_of_a_table_is_the_table_where_captions_number_no_parts():
    paper = Paper(id="0", title="T", sections=[Section(id="s3", title="Data", number="3", level=1)],
                  tables=[Table("table2", "2", "Counts.", rows=[["a", "1"]], section="s3")])
    give_ids(paper)
    places = Places(paper)
    assert places.resolve("Table 2b").items == places.resolve("Table 2").items != set()
    assert places.resolve("Table 3b").missing and places.resolve("Table 2z").missing
    paper.equations.append(Equation("eq1", "(1)", "x = 1", section=paper.sections[0].id))
    assert Places(paper).resolve("Eq. 1").items and Places(paper).resolve("Eq. 1b").missing  # parts of an equation have numbers of their own


# --- faults and the notebook -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [
    "return list(zip(a, b, strict=True))", "opt.step(set_to_none=True)", "return Adam(groups, lr=rate)", "return x.to(d, non_blocking=True)"])
def test_what_nothing_could_notice_is_not_planted(line):
    made = mutate.mutants("src/f.py", f"def f(a, b, x, d, opt, groups, rate):\n    {line}\n", ["f"], each=9)
    assert [mutant.what for mutant in made] == []
    assert mutate.mutants("src/f.py", "def f(x):\n    return Parameter(x, requires_grad=False)\n", ["f"], each=9)
    assert mutate.mutants("src/f.py", "def f(model, rate):\n    return Adam(model.parameters(), lr=rate)\n", ["f"], each=9)


def test_what_a_check_asserts_on_may_be_made_in_another_cell(tmp_path):
    (tmp_path / "notebooks").mkdir()
    node = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell("from src.model import Reader, Other\n\ndef built():\n    return Reader(2)\n\nreader = built()"),
        nbformat.v4.new_code_cell("assert reader.width == 2")])
    nbformat.write(node, tmp_path / notebook.FILE)
    read, _ = notebook.read(tmp_path)
    used = notebook.used_by_checks(read)
    assert "Reader" in used and "Other" not in used


def test_a_name_made_again_by_the_check_is_not_what_another_cell_made(tmp_path):
    (tmp_path / "notebooks").mkdir()
    node = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell("shown = Other(1)\nmodel = Reader(2)"), nbformat.v4.new_code_cell("model = model.train()"),
        nbformat.v4.new_code_cell("shown = 3\nassert shown == 3 and model.width == 2")])
    nbformat.write(node, tmp_path / notebook.FILE)
    used = notebook.used_by_checks(notebook.read(tmp_path)[0])
    assert "Reader" in used and "Other" not in used


def test_a_notebook_that_did_not_run_is_not_taken_for_one_that_did(tmp_path):
    (tmp_path / "notebooks").mkdir()
    cells = [nbformat.v4.new_code_cell("a = 1"), nbformat.v4.new_code_cell("assert a == 1")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / notebook.FILE)
    assert len(notebook.has_run(notebook.read(tmp_path)[0])) == 2
    for count, cell in enumerate(cells, start=1):
        cell.execution_count = count
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / notebook.FILE)
    assert notebook.has_run(notebook.read(tmp_path)[0]) == []
    cells[1].outputs = [nbformat.v4.new_output("error", ename="AssertionError", evalue="", traceback=[])]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / notebook.FILE)
    assert "ended in an error" in notebook.has_run(notebook.read(tmp_path)[0])[0].message


# --- results without their workspace ---------------------------------------------------------------------------------------------


def test_what_full_mode_lays_is_no_error_where_the_mode_is_not_known(tmp_path):
    from paper2code.check import everything

    paper = Paper(id="2101.00001", title="A Rule", sections=[Section(id="s1", title="Rule", number="1", level=1)])
    give_ids(paper)
    laid(tmp_path, "def save_checkpoint(path: str) -> None:\n    '''§1 — the state.'''\n    open(path, 'w', encoding='utf-8').close()\n")
    (tmp_path / "REPRODUCTION_NOTES.md").write_text("<!-- paper2code:begin x -->\n<!-- paper2code:end x -->\n", encoding="utf-8")
    found = everything.check(tmp_path, paper).findings
    assert found and not [f for f in found if f.check == "code-excluded" and f.severity == "error"]


@pytest.mark.parametrize("id, told", [("2101.00009", False), ("1999.00001", True)])
def test_a_paper_without_an_id_is_known_by_its_title(tmp_path, id, told):
    from paper2code.check import references
    from paper2code.paper import Reference

    listed = [Reference(str(n), f"A. Author. Title number {n} of all. 2020.") for n in range(4)]
    paper = Paper(id="", title="A Rule for Small Models", references=listed)
    name = "A Rule for Small Models" if not told else "Another Work"
    (tmp_path / "README.md").write_text(f"This implements {name} (arXiv:{id}).\n", encoding="utf-8")
    assert bool(references.check(tmp_path, paper)) == told


@pytest.mark.parametrize("held, state, told", [
    ("8\n    k: 3", "covered", set()), ("8\n    k: 4", "stale", {"trace-stale"}), ("8", "covered", {"trace-uncovered"})])
def test_a_mapping_is_traced_key_by_key(tmp_path, held, state, told):
    from paper2code.check import trace

    cited = '  # §3 — "widths of 8 and 3"\n'
    config = f"model:\n  layers:\n  {cited}    w: {held}\n".replace("\n    k:", f"\n  {cited}    k:")
    repository = laid(tmp_path, "def f(config):\n    return config.model.layers.w + config.model.layers.k\n", config)
    row = ledger.Item(1, id="layers", group="architecture", item="layers", status="SPECIFIED", where="§3", quote="widths of 8 and 3",
                      value={"w": 8, "k": 3}, config="model.layers")
    read = ledger.Ledger("ledger.yaml", items=[row])
    assert set(read.by_config()) == {"model.layers.w", "model.layers.k"}
    paper = Paper(id="0", title="T", sections=[Section(id="s3", title="Model", number="3", level=1)])
    give_ids(paper)
    from paper2code.check import anchors

    found, _ = anchors.scan(tmp_path)
    findings, rows = trace.check(repository, found, Places(paper), paper, read, None)
    assert {f.check for f in findings} == told and (told == {"trace-uncovered"} or rows[0].state == state)
