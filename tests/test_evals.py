"""The evaluation files have the standard's form."""

import json

from conftest import ROOT


def test_evals():
    data = json.loads((ROOT / "evals" / "evals.json").read_text(encoding="utf-8"))
    assert data["skill_name"] == "paper2code" and len(data["evals"]) >= 8
    ids = [case["id"] for case in data["evals"]]
    assert len(ids) == len(set(ids))
    for case in data["evals"]:
        assert set(case) == {"id", "prompt", "expected_output", "files", "assertions"} and case["assertions"]
        for name in case["files"]:
            assert " " in name or (ROOT / name).exists(), name


def test_triggers():
    queries = json.loads((ROOT / "evals" / "triggers.json").read_text(encoding="utf-8"))["queries"]
    assert len(queries) == 20 and sum(query["should_trigger"] for query in queries) == 10
    assert sum(query["split"] == "train" for query in queries) == 12
    assert len({query["query"] for query in queries}) == 20
