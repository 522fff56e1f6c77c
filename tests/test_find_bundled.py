"""The evidence search on the bundled paper: everything that was planted in it is found, whichever source it is read from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from paper2code.find import checklist, code
from paper2code.find.deferred import DEFAULT, DEFERRED
from paper2code.find.evidence import collect
from paper2code.read import open as reading

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "staggered_gates" / "paper"
TRUTH = yaml.safe_load((FOLDER / "truth.yaml").read_text(encoding="utf-8"))
FORMS = {"source": "source", "html": "paper.html", "pdf": "paper.pdf"}


@pytest.fixture(scope="module", params=FORMS)
def paper(request):
    return reading.read_all({request.param: FOLDER / FORMS[request.param]}, say=lambda line: None)[0]


@pytest.fixture(scope="module")
def found(paper):
    return collect(paper)


def folded(text: str) -> str:
    """Letters and digits: what LaTeX, HTML and PDF have in common."""
    names = {"ℓ": "ell", "β": "beta", "ℎ": "h"}
    text = "".join(names.get(char, char) for char in text)
    return re.sub(r"[^a-z0-9]", "", re.sub(r"\\([a-zA-Z]+)", r"\1", text).lower())


def holds(statement, quote: str, section: str, table: str | None = None) -> bool:
    place = statement.place.split(",")[0].removeprefix("§").removeprefix("Appendix ")
    return folded(quote) in folded(statement.text) and place == section and (table is None or f"Table {table}" in statement.place)


@pytest.mark.parametrize("entry", TRUTH["statements"], ids=lambda entry: entry["item"].replace(" ", "-"))
def test_every_planted_statement_is_found(found, entry):
    item = checklist.load().find(entry["item"])
    items = [item.name] if item else list(found.sweep.evidence)  # a quantity of this paper alone: under whichever item
    hits = [hit for name in items for hit in found.sweep.evidence[name] if holds(hit.statement, entry["quote"], entry["section"], entry.get("table"))]
    assert hits
    value = entry.get("value")
    if item and item.value == "number" and entry["status"] == "SPECIFIED" and isinstance(value, (int, float)) and value:
        read = [number.value for hit in found.sweep.states(item.name) for number in (v.number for v in hit.values) if number]
        assert any(float(number) == pytest.approx(value) for number in read)


@pytest.mark.parametrize("entry", TRUTH["others_settings"], ids=lambda entry: entry["quote"][:20])
def test_what_others_did_states_nothing(found, entry):
    for item in found.sweep.items:
        assert not [hit for hit in found.sweep.states(item.name) if holds(hit.statement, entry["quote"], entry["section"])]


@pytest.mark.parametrize("entry", TRUTH["contradictions"], ids=lambda entry: entry["about"].replace(" ", "-"))
def test_every_planted_contradiction_is_found(paper, found, entry):
    if any(side.get("equation") for side in (entry["first"], entry["second"])) and not any(equation.latex for equation in paper.equations):
        pytest.skip("a PDF alone has no formulas to compare")
    sides = [(folded(entry[side]["quote"]), entry[side]) for side in ("first", "second")]

    def both(pair) -> bool:
        texts = (folded(pair.first.statement.text), folded(pair.second.statement.text))
        return all(any(quote in text for text in texts) for quote, _ in sides)

    assert any(both(pair) for pair in found.contradictions), [pair.about for pair in found.contradictions]


def test_nothing_else_is_called_a_likely_contradiction(found):
    assert len([pair for pair in found.contradictions if pair.strength == "likely"]) <= 2


@pytest.mark.parametrize("entry", TRUTH["deferred"], ids=lambda entry: entry["quote"][:20])
def test_every_planted_deferral_is_found(paper, found, entry):
    hits = [hit for hit in found.deferrals if hit.kind == DEFERRED and holds(hit.statement, entry["quote"], entry["section"])]
    assert hits
    if entry["cites"] and paper.references:
        wanted = next(reference for reference in TRUTH["references"] if reference["number"] == entry["cites"])
        titles = [folded(reference.title or reference.text) for hit in hits for reference in hit.cites]
        assert any(folded(wanted["title"]) in title for title in titles)


@pytest.mark.parametrize("entry", TRUTH["defaults"], ids=lambda entry: entry["quote"][:20])
def test_every_planted_default_is_found(found, entry):
    assert [hit for hit in found.deferrals if hit.kind == DEFAULT and holds(hit.statement, entry["quote"], entry["section"])]


def test_the_official_code_is_first(paper):
    ranked = code.rank(paper)
    assert ranked[0]["url"] == TRUTH["official_code"] and ranked[0]["confidence"] >= 0.5
    assert all(entry["confidence"] < 0.5 for entry in ranked if entry["url"] in TRUTH["other_links"])
