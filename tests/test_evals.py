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


def test_a_comparison_of_nothing_is_refused(tmp_path):
    import subprocess
    import sys

    paper = ROOT / "examples/staggered_gates/paper/source"
    for given, words in (([f"a={tmp_path}", "--paper", paper], "no Python code"), ([f"a={tmp_path}", "--paper", tmp_path / "none"], "does not exist")):
        run = subprocess.run([sys.executable, ROOT / "evals/compare.py", *given], capture_output=True, text=True)
        assert run.returncode == 2 and words in run.stderr and "Traceback" not in run.stderr


def test_a_comparison_measures_the_finished_example():
    import subprocess
    import sys

    example = ROOT / "examples/staggered_gates"
    command = [sys.executable, ROOT / "evals/compare.py", f"a={example / 'minimal/result'}", "--paper", example / "paper/source", "--faults", "0", "--json"]
    run = subprocess.run(command, capture_output=True, text=True)
    row = json.loads(run.stdout)["a"]
    quotes = row["quotes whose words are in the paper, of all"].split(" of ")
    numbers = row["numbers and config values cited or flagged, of all"].split(" of ")
    assert run.returncode == 0 and quotes[0] == quotes[1] != "0" and numbers[0] == numbers[1] != "0"
