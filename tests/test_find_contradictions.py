"""One quantity with two values, what is left to others, what is called standard, arithmetic recomputed."""

from decimal import Decimal

import pytest
from paper2code.find.contradictions import LIKELY, contradictions, relations
from paper2code.find.deferred import DEFAULT, DEFERRED, OMITTED, SUPPLEMENT, deferrals
from paper2code.find.evidence import collect, write_evidence
from paper2code.find.statements import statements
from paper2code.find.sweep import sweep
from paper2code.paper import Algorithm, Block, Equation, Figure, Paper, Reference, Section, Table
from paper2code.workspace import Workspace


def section(number: str, title: str, *texts: str, **more) -> Section:
    return Section(number, title, number, blocks=[Block("paragraph", text, page=1) for text in texts], page=1, **more)


def paper(*sections: Section, **more) -> Paper:
    return Paper(id="x", title="A transformer for translation", sections=list(sections), **more)


def found(whole: Paper) -> list:
    return contradictions(whole, sweep(whole))


# --- two values -----------------------------------------------------------------------------------------------------------


def test_text_against_an_appendix_table():
    whole = paper(section("4", "Training", "Models are trained with a batch of 64 sequences."),
                  section("A", "Hyperparameters", "See the table.", appendix=True))
    whole.tables = [Table("tab-1", "1", "Hyperparameters.", [["Name", "Value"], ["batch size (sequences)", "32"]], section="A")]
    (entry,) = found(whole)
    assert (entry.about, entry.strength, entry.first.value, entry.second.value) == ("batch size", LIKELY, "64", "32")
    assert entry.rule == "appendix table over prose: the second holds (Appendix A, Table 1)"


def test_abstract_against_method():
    whole = paper(section("3", "Training", "We use a learning rate of 3e-4."), abstract="We train with a learning rate of 1e-4.")
    (entry,) = found(whole)
    assert {entry.first.value, entry.second.value} == {"1e-4", "3e-4"} and "prose over abstract: the second holds" in entry.rule


def test_two_sections_without_a_rule():
    whole = paper(section("3", "Training", "The dropout rate is 0.1."), section("4", "Experiments", "We use a dropout rate of 0.2."))
    (entry,) = found(whole)
    assert entry.rule.startswith("no rule decides")


@pytest.mark.parametrize("one, other", [
    ("We use a learning rate of 3e-4.", "We use a learning rate of $3\\times 10^{-4}$."),
    ("For the base model the dropout rate is 0.1.", "For the large model the dropout rate is 0.3."),
    ("On CIFAR-10 we use a batch size of 128.", "On WMT-14 we use a batch size of 64."),
    ("Pre-training uses a learning rate of 1e-3.", "For fine-tuning the learning rate is 1e-5."),
    ("The encoder is a stack of 6 layers.", "The decoder is a stack of 4 layers."),
    ("We use a batch size of 32.", "We also vary the batch size, and 64 works as well."),
    ("We use a batch size of 32.", "The batch size was searched over {16, 32, 64}."),
    ("We train for 10 epochs.", "We train for 5000 steps."),
    (r"We use Adam with $\beta_1 = 0.9$.", r"In Adam $\beta_2 = 0.98$ is used."),
    ("The batch size is 10k.", "The batch size is 10,000."),
])
def test_what_is_told_apart_or_equal_is_no_contradiction(one, other):
    assert found(paper(section("3", "Training", one), section("4", "Experiments", other))) == []


def test_related_work_contradicts_nothing():
    assert found(paper(section("2", "Related work", "They use a learning rate of 0.5."),
                       section("4", "Training", "We use a learning rate of 0.1."))) == []


def test_a_figure_that_normalises_first():
    whole = paper(section("3", "Method", "Layer normalisation is applied after each sub-layer."))
    whole.figures = [Figure("fig-1", "1", "A block. The input is normalised first, then attention is applied.", section="3")]
    (entry,) = found(whole)
    assert entry.about == "normalisation placement" and entry.rule == "prose over figure: the first holds (§3)"


def test_an_algorithm_that_differs_from_its_equation():
    whole = paper(section("3", "Method", "As follows."))
    whole.equations = [Equation("eq-1", "1", r"g(t) = \operatorname{clip}\left(\frac{t-(\ell-1)s}{r}, 0, 1\right)", section="3")]
    line = r"$g \gets \operatorname{clip}((t - \ell\, s)/r,\, 0,\, 1)$"
    whole.algorithms = [Algorithm("alg-1", "1", "Train", ["for all t", line], section="3")]
    (entry,) = found(whole)
    assert entry.about == "formula: clip" and entry.second.statement.place == "§3, Algorithm 1, line 2"
    whole.algorithms[0].lines[1] = r"$g \gets \operatorname{clip}((t - (\ell-1) s)/r, 0, 1)$"
    assert found(whole) == []


# --- left to others ---------------------------------------------------------------------------------------------------------

REFERENCES = [Reference("a", "He et al. Deep nets. 2016.", "12", "Deep nets", ["Kaiming He"], "2016", arxiv="1512.03385"),
              Reference("b", "Kingma and Ba. Adam. 2014.", "Kingma and Ba, 2014", "Adam", ["Diederik Kingma"], "2014")]


def left(text: str, title: str = "Training") -> list:
    whole = paper(section("4", title, text), references=REFERENCES)
    return deferrals(whole, statements(whole))


@pytest.mark.parametrize("text, title", [
    ("Following [12], we use random crops.", "Deep nets"), ("The network is built as in [12].", "Deep nets"),
    ("We use the same setting as [12].", "Deep nets"), ("We follow Kingma and Ba (2014) in all else.", "Adam"),
    ("The optimiser is configured as described in (Kingma and Ba, 2014).", "Adam"),
    ("We use weights similar to those of [3, 11-13].", "Deep nets"),
    ("We adopt the hyperparameters from [12].", "Deep nets"), ("The decoder is identical to [12].", "Deep nets"),
])
def test_what_is_left_to_a_cited_work(text, title):
    (entry,) = [entry for entry in left(text) if entry.kind == DEFERRED]
    assert [reference.title for reference in entry.cites] == [title]


def test_what_is_left_to_a_named_work():
    (entry,) = left("Normalisation comes last, as in the original Transformer.")
    assert entry.cites == () and entry.names == ("the original Transformer",)


@pytest.mark.parametrize("text", [
    "We use the following settings [12].", "As in Section 3, we train longer [12].", "Then follows the proof.",
    "A layer followed by a softmax [12].", "As follows: we train.", "The values are as described in Table 2.",
    "It reaches the same accuracy as ResNet.",
])
def test_what_is_left_to_nobody(text):
    assert [entry for entry in left(text) if entry.kind == DEFERRED] == []


@pytest.mark.parametrize("text, kind", [
    ("Weights are drawn with the standard initialisation.", DEFAULT), ("All else keeps its default value.", DEFAULT),
    ("We use the usual data augmentation.", DEFAULT), ("As is common practice, we clip.", DEFAULT),
    ("We omit the details.", OMITTED), ("For brevity the proof is short.", OMITTED), ("See the supplementary material.", SUPPLEMENT),
])
def test_standard_omitted_supplement(text, kind):
    assert [entry.kind for entry in left(text)] == [kind]


@pytest.mark.parametrize("text", ["The standard deviation is 1.", "A standard normal prior.", "It is the gold standard."])
def test_what_only_sounds_standard(text):
    assert left(text) == []


def test_related_work_leaves_nothing_to_others():
    assert left("Following [12], they use the standard crops.", "Related Work") == []


# --- arithmetic -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, form, result, holds", [
    (r"Thus $8 \times 64 = 512$ channels.", "product", "512", True), (r"Thus $8 \times 60 = 512$ channels.", "product", "480", False),
    ("In all 2,664 + 119 + 5 = 2,788 hours.", "sum", "2788", True),
    ("The score rose from 27.3 to 28.4, a gain of 1.1.", "difference", "1.1", True),
    ("It drops from 200 to 150, a reduction of 25%.", "percentage", "25", True),
    ("It drops from 200 to 150, a reduction of 35%.", "percentage", "25", False),
])
def test_arithmetic_in_prose(text, form, result, holds):
    (entry,) = relations(sweep(paper(section("4", "Results", text))))
    assert (entry.form, entry.holds) == (form, holds) and entry.result == Decimal(result)


def test_averages_and_totals_of_a_table():
    whole = paper(section("4", "Results", "See the table."))
    whole.tables = [Table("tab-1", "1", "Scores", [["Model", "A", "B", "Avg."], ["one", "1.0", "2.0", "1.5"], ["two", "4.0", "6.0", "5.0"],
                                                   ["three", "1.0", "1.0", "3.0"]], section="4")]
    found = relations(sweep(whole))
    assert [(entry.form, entry.holds) for entry in found] == [("average", True), ("average", True), ("average", False)]


def test_text_that_only_looks_like_arithmetic():
    assert relations(sweep(paper(section("4", "Results", "We set $x - 3 = 4$, use 2x4 tiles, pages 3-5, and $\\beta = 0.9$.")))) == []


# --- the folder ---------------------------------------------------------------------------------------------------------------


def test_the_evidence_folder(tmp_path):
    whole = paper(section("4", "Training", "We use a learning rate of 3e-4. We follow [12]. Dropout is standard."), references=REFERENCES)
    workspace = Workspace(tmp_path / "work")
    write_evidence(whole, workspace)
    assert sorted(path.name for path in workspace.evidence.iterdir()) == [
        "architecture.md", "contradictions.md", "data.md", "defaults.md", "deferred.md", "evaluation.md", "evidence.json",
        "hidden_text.md", "method.md", "training.md"]
    training = (workspace.evidence / "training.md").read_text(encoding="utf-8")
    assert "> We use a learning rate of 3e-4.\n— §4, p. 1 · read: `3e-4`" in training
    assert "- [12] Deep nets, 2016 (arXiv:1512.03385)" in (workspace.evidence / "deferred.md").read_text(encoding="utf-8")
    assert "> Dropout is standard." in (workspace.evidence / "defaults.md").read_text(encoding="utf-8")
    (workspace.evidence / "old.md").write_text("of an earlier paper", encoding="utf-8")
    write_evidence(whole, workspace)
    assert not (workspace.evidence / "old.md").exists()


def test_a_paper_without_settings_is_said_to_have_none(tmp_path):
    workspace = Workspace(tmp_path / "work")
    found = write_evidence(paper(section("1", "Theorem", "Let $X$ be a curve. Then it holds.")), workspace)
    assert found.contradictions == found.deferrals == found.relations == []
    assert "No statement of any setting was found" in (workspace.evidence / "training.md").read_text(encoding="utf-8")


def test_a_statement_cannot_leave_its_quote(tmp_path):
    workspace = Workspace(tmp_path / "work")
    write_evidence(paper(section("4", "Training", "We use a learning rate\n# Ignore this\n> of 0.1 in all.")), workspace)
    lines = (workspace.evidence / "training.md").read_text(encoding="utf-8").splitlines()
    assert not any(line.startswith("# Ignore") for line in lines)


def test_collecting_is_repeatable():
    whole = paper(section("4", "Training", "We use a learning rate of 3e-4 and Adam [12]."), references=REFERENCES)
    assert collect(whole).sweep.evidence == collect(whole).sweep.evidence


def test_a_table_decides_between_two_texts_that_report_a_result():
    from paper2code.find.contradictions import POSSIBLE, Contradiction, Side, settled
    from paper2code.paper import Table

    whole = paper(section("6", "Results", "We reach 41.0 BLEU."), abstract="It reaches 41.8 BLEU.")
    first, second = (entry for entry in sweep(whole).statements if "BLEU" in entry.text)
    entry = Contradiction("bleu", Side(first, "41.8"), Side(second, "41.0"), POSSIBLE, "prose over abstract: the second holds (§6)")
    assert settled(entry, whole) is entry
    whole.tables = [Table("t", "2", "Results.", [["Ours", "28.4", "41.8"]])]
    held = "first" if first.kind == "abstract" or "41.8" in first.text else "second"
    assert f"the {held} holds, Table 2 prints it" in settled(entry, whole).rule


@pytest.mark.parametrize("second, strength", [
    ("Lastly, the batch size is 32 sequences.", "possible"), ("The batch size is 32 sequences.", LIKELY)])
def test_a_section_that_goes_on_to_another_thing_is_no_likely_contradiction(second, strength):
    entries = found(paper(section("4", "Training", "Models are trained with a batch of 64 sequences.", second)))
    assert [entry.strength for entry in entries] == [strength]
