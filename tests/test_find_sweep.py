"""The evidence sweep on small papers made here."""

from decimal import Decimal

import pytest
from paper2code.find import checklist
from paper2code.find.sweep import MENTIONS, STATES, sweep
from paper2code.paper import Algorithm, Block, Figure, Footnote, Paper, Section, Table


def section(number: str, title: str, *texts: str, **more) -> Section:
    return Section(number, title, number, blocks=[Block("paragraph", text, page=1) for text in texts], page=1, **more)


def one(text: str, title: str = "Training details") -> Paper:
    return Paper(id="x", title="A transformer language model for images", abstract="A language model.", pages=2,
                 sections=[section("4", title, text)])


def values(paper: Paper, item: str) -> list[Decimal]:
    return [value.number.value for entry in sweep(paper).states(item) for value in entry.values if value.number]


@pytest.mark.parametrize("item, text, value", [
    ("learning-rate", "We use a learning rate of 3e-4.", "3e-4"),
    ("learning-rate", r"The peak learning rate is $2\times 10^{-4}$.", "2e-4"),
    ("learning-rate", "We keep a constant learning rate of 0.001 for all tasks.", "0.001"),
    ("batch-size", "Training used a batch size of 256 per GPU.", "256"),
    ("batch-size", "Each training batch contained sentence pairs with approximately 25,000 source tokens.", "25000"),
    ("warm-up", "We used 4000 warm-up steps.", "4000"),
    ("warm-up", "The rate is linearly increased during the first 2K steps.", "2000"),
    ("training-length", "Models are trained for 100k steps.", "100000"),
    ("training-length", "We train for three epochs.", "3"),
    ("dropout-rate", r"We apply dropout with $P_{drop}=0.1$.", "0.1"),
    ("dropout-rate", "We use 10% dropout.", "10"),
    ("weight-decay", r"We set $\mathrm{weight\_decay}=0.1$.", "0.1"),
    ("betas", r"We use Adam with $\beta_1 = 0.9$ throughout.", "0.9"),
    ("optimiser-epsilon", r"We use Adam with $\epsilon=10^{-9}$.", "1e-9"),
    ("depth", "The encoder is a stack of $N=6$ identical layers.", "6"),
    ("depth", "We train a 12-layer model.", "12"),
    ("heads", "We employ $h=8$ parallel attention layers, or heads.", "8"),
    ("head-size", r"For each of these we use $d_k=d_v=d_{\text{model}}/h=64$.", "64"),
    ("feed-forward-size", "The intermediate hidden dimension of each block is 2048.", "2048"),
    ("gradient-clipping", "The gradient clipping norm is set to 1.0.", "1.0"),
    ("seeds", "All numbers are averaged over five runs.", "5"),
    ("label-smoothing", r"We employ label smoothing of value $\epsilon_{ls}=0.1$.", "0.1"),
    ("vocabulary-size", "It has a shared vocabulary of about 37000 tokens.", "37000"),
    ("ema", "We average the weights with an EMA decay of 0.9999.", "0.9999"),
])
def test_a_value_is_read_for_its_item(item, text, value):
    assert Decimal(value) in values(one(text), item)


@pytest.mark.parametrize("item, text", [
    ("learning-rate", "We used beam search with a beam size of 4 and a length penalty of 0.6."),
    ("training-length", "We used 4000 warm-up steps."),
    ("batch-size", "We apply batch normalization after each of the 3 layers."),
    ("depth", "Each of the two sub-layers has a residual connection."),
    ("warm-up", r"We linearly increase it from 0 to $2.2\times 10^{-4}$."),
    ("betas", "Particles carry a momentum encoder of size 0.5."),
    ("learning-rate", "As shown in Section 0.1 of the appendix, the learning rate matters."),
])
def test_a_number_of_something_else_is_not_taken(item, text):
    assert values(one(text), item) == []


@pytest.mark.parametrize("item, text, word", [
    ("optimiser", "We optimize with AdamW.", "AdamW"), ("activation", "We use a GELU activation.", "GELU"),

    ("normalisation", "We apply LayerNorm to the output.", "LayerNorm"),
    ("tokeniser", "Text is encoded using SentencePiece.", "SentencePiece"),
])
def test_a_value_that_is_a_word(item, text, word):
    (entry,) = sweep(one(text)).states(item)
    assert [value.text for value in entry.values] == [word]


def test_tables_are_read_by_row_and_by_column():
    paper = one("See the tables.")
    paper.tables = [
        Table("tab-1", "1", "Settings", [["Learning rate", "3e-4"], ["Batch size", "64"], ["Optimizer", "Adam"]], section="4"),
        Table("tab-2", "2", "Sizes", [["", "$N$ layers", r"$d_{model}$", "train steps"], ["base", "6", "512", "100K"],
                                      ["big", "6", "1024", "300K"]], section="4"),
        Table("tab-3", "3", "Levels", [["", "", "small", "large"], ["hidden dim", "g1", "1024", "2048"],
                                       ["", "g2", "128", "256"]], section="4")]
    assert {Decimal("3e-4")} == set(values(paper, "learning-rate"))
    assert {64} == set(values(paper, "batch-size"))
    assert {512, 1024, 2048, 128, 256} == set(values(paper, "hidden-size"))
    assert {100000, 300000} <= set(values(paper, "training-length"))
    entry = next(entry for entry in sweep(paper).states("training-length"))
    assert entry.statement.where == "§4, Table 2" and entry.column == "train steps"
    assert entry.statement.text == "base | 6 | 512 | 100K"


def test_captions_footnotes_and_algorithm_lines_are_looked_at():
    paper = one("Nothing here.")
    paper.figures = [Figure("fig-1", "1", "Loss with a batch size of 32.", section="4", page=2)]
    paper.footnotes = [Footnote("fn-1", "The learning rate was 0.1 there.", "1", section="4")]
    paper.algorithms = [Algorithm("alg-1", "1", "Training", ["Require: weight decay 0.01", "repeat"], section="4")]
    swept = sweep(paper)
    assert swept.states("batch-size")[0].statement.where == "§4, Figure 1, p. 2"
    assert swept.states("learning-rate")[0].statement.where == "§4, footnote 1"
    assert swept.states("weight-decay")[0].statement.where == "§4, Algorithm 1, line 1"


def test_related_work_states_nothing():
    paper = one("They use a learning rate of 0.5.", "Related work")
    (entry,) = sweep(paper).evidence["learning-rate"]
    assert entry.tier == MENTIONS and entry.statement.related


def test_statements_are_exact_and_states_come_first():
    text = "The learning rate matters. We use a learning rate of $10^{-3}$ (Kingma et al., 2014)."
    entries = sweep(one(text)).evidence["learning-rate"]
    assert [entry.tier for entry in entries] == [STATES, MENTIONS]
    assert all(entry.statement.text in text for entry in entries)


def test_a_paper_without_any_setting_gives_nothing():
    paper = Paper(id="x", title="On duality", sections=[section("1", "Results", "Let $X$ be a curve. Then the theorem holds.")])
    swept = sweep(paper)
    assert all(not entries for entries in swept.evidence.values()) and swept.kinds == []


def test_an_empty_paper_gives_nothing():
    assert all(not entries for entries in sweep(Paper()).evidence.values())


def test_a_paper_in_another_language_gives_nothing_invented():
    swept = sweep(one("Wir trainieren mit einer Lernrate von 0,001 und vielen Daten."))
    assert not swept.states("learning-rate")


# --- the data file --------------------------------------------------------------------------------------------------------


def test_the_checklist_has_every_point_the_audit_asks_for():
    wanted = ("depth hidden-size heads head-size feed-forward-size activation normalisation normalisation-placement "
              "normalisation-epsilon initialisation dropout-rate dropout-placement residual-connections bias-terms weight-tying "
              "vocabulary-size maximum-length optimiser learning-rate betas optimiser-epsilon weight-decay weight-decay-scope "
              "schedule warm-up training-length batch-size accumulation gradient-clipping precision seeds hardware ema dataset "
              "preprocessing augmentation splits input-size tokeniser metrics metric-computation evaluation-time "
              "test-time-augmentation reported-numbers").split()
    names = {item.name for item in checklist.load().items}
    assert set(wanted) <= names and len(names) > 100


@pytest.mark.parametrize("name, item", [
    ("learning rate", "learning-rate"), ("Optimizer", "optimiser"), ("normalization", "normalisation"), ("warmup", "warm-up"),
    ("tokenizer", "tokeniser"), ("gamma", "discount"), ("steps", "training-length")])
def test_items_answer_to_their_other_names(name, item):
    assert checklist.load().find(name).name == item


def test_no_name_is_used_twice():
    names = [name for item in checklist.load().items for name in {checklist.american(name) for name in (item.name, *item.also)}]
    assert sorted(names) == sorted(set(names))


def test_each_wrong_entry_is_named(tmp_path):
    path = tmp_path / "list.yaml"
    path.write_text("kinds: {}\nitems:\n- {name: a, group: nowhere, asks: x, value: number, words: [a], colour: red}\n"
                    "- {name: b, group: data, asks: x, value: words, patterns: ['(']}\n", encoding="utf-8")
    with pytest.raises(ValueError) as problem:
        checklist.load(path)
    assert "colour" in str(problem.value) and "group is one of" in str(problem.value)


def test_a_new_field_is_an_edit(tmp_path):
    path = tmp_path / "list.yaml"
    path.write_text("kinds: {origami: {words: [paper crane], least: 1}}\nitems:\n- {name: folds, group: method, kinds: "
                    "[origami], asks: how many, value: number, units: [none], words: [number of folds]}\n", encoding="utf-8")
    paper = Paper(title="Paper cranes", sections=[section("1", "Method", "We set the number of folds to 7.")])
    swept = sweep(paper, checklist.load(path))
    assert swept.kinds == ["origami"] and swept.states("folds")[0].values[0].number.value == 7
