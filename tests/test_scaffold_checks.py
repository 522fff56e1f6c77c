"""The laid checks are ones that a right implementation passes: counts with their units, made-up inputs, what applies to a part."""

from __future__ import annotations

import types

import pytest
from paper2code.check import contribution as contributions
from paper2code.check import dimensions
from paper2code.check.contribution import Component
from paper2code.check.ledger import Item
from paper2code.paper import Paper, Section, Table, give_ids
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
