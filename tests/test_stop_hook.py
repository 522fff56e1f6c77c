"""The Stop hook speaks only when a run is open, names its stage, and never blocks other work."""

import json
import os
import subprocess
import sys
import time

import pytest
from conftest import ROOT


def ask(folder, **event):
    told = json.dumps({"cwd": str(folder), **event})
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "stop_hook.py")], input=told, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
    return json.loads(done.stdout) if done.stdout else None


def run_of(folder, passed, contribution="---\ntype: a\n---\n"):
    work = folder / ".paper2code_work" / "1706.03762"
    work.mkdir(parents=True)
    (work / "job.json").write_text("{}", encoding="utf-8")
    (work / "contribution.md").write_text(contribution, encoding="utf-8")
    (work / "gates.json").write_text(json.dumps({"stages": {str(stage): {"passed": True} for stage in passed}}), encoding="utf-8")
    return work


def test_says_nothing_where_there_is_no_run(tmp_path):
    assert ask(tmp_path) is None


@pytest.mark.parametrize("passed, stage", [((), "gate 1"), ((1, 2), "gate 3"), ((1, 2, 3, 4), "gate 5")])
def test_names_the_open_stage(tmp_path, passed, stage):
    run_of(tmp_path, passed)
    told = ask(tmp_path)
    assert told["decision"] == "block" and stage in told["reason"]


def test_is_quiet_when_done_old_or_already_asked(tmp_path):
    work = run_of(tmp_path, (1, 2))
    assert ask(tmp_path, stop_hook_active=True) is None
    old = time.time() - 7 * 3600
    for path in work.iterdir():
        os.utime(path, (old, old))
    assert ask(tmp_path) is None


def test_is_quiet_when_all_gates_passed_or_nothing_is_to_be_built(tmp_path):
    run_of(tmp_path, (1, 2, 3, 4, 5))
    assert ask(tmp_path) is None


def test_is_quiet_for_a_paper_with_nothing_to_implement(tmp_path):
    run_of(tmp_path, (1, 2), "---\ntype: f\nnothing_to_implement:\n  why: a survey\n---\n")
    assert ask(tmp_path) is None


@pytest.mark.parametrize("given", ["", "[]", "not json", "null"])
def test_bad_input_is_no_reason_to_block(tmp_path, given):
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "stop_hook.py")], input=given, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_broken_gates_count_as_open(tmp_path):
    work = run_of(tmp_path, (1,))
    (work / "gates.json").write_text("{", encoding="utf-8")
    assert "gate 1" in ask(tmp_path)["reason"]
