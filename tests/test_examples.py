"""The worked examples, without their papers: locked, whole, and quoting no more than quotes."""

import json

import pytest
from conftest import ROOT
from paper2code.findings import errors
from paper2code.show import lock

RESULTS = sorted(path.parent for path in (ROOT / "examples").rglob(lock.NAME))


def test_there_are_examples():
    assert RESULTS


@pytest.mark.parametrize("result", RESULTS, ids=lambda path: path.relative_to(ROOT / "examples").as_posix())
def test_every_citation_is_one_that_was_verified(result):
    outcome = lock.compare(result)
    assert not errors(outcome.findings), outcome.text()
    locked = lock.read(result)
    assert locked["findings"] == 0 and outcome.counts["as locked"] == len(locked["anchors"]) > 20
    assert all(source["sha256"] for source in locked["paper"]["sources"])
    assert not any("127.0.0.1" in str(source["url"]) or str(source["url"]).startswith("/") for source in locked["paper"]["sources"])


@pytest.mark.parametrize("result", RESULTS, ids=lambda path: path.relative_to(ROOT / "examples").as_posix())
def test_every_example_has_its_notebook_executed(result):
    notebook = json.loads((result / "notebooks" / "walkthrough.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code and all(cell["execution_count"] for cell in code if "".join(cell["source"]).strip())
    assert not [output for cell in code for output in cell["outputs"] if output["output_type"] == "error"]
    assert any("assert" in "".join(cell["source"]) for cell in code)
