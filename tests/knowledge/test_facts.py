"""Each number about a paper stands in a table with its source and how that was confirmed."""

import pytest
import yaml
from knowledge.blocks import ROOT

FACTS = yaml.safe_load((ROOT / "tests" / "knowledge" / "facts.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["says"][:40])
def test_fact_stands_in_its_file_with_a_source(fact):
    text = " ".join((ROOT / "knowledge" / f"{fact['file']}.md").read_text(encoding="utf-8").split())
    assert fact["says"] in text, f"{fact['file']}.md does not say: {fact['says']}"
    assert fact["source"] and fact["confirmed"] in ("text", "code", "library", "memory")
