"""The checks on a whole result: nothing on the good one, the right thing on changed ones, no traceback on anything."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from paper2code.check import everything, selftest
from paper2code.check.quotes import Matcher
from paper2code.findings import errors
from paper2code.paper import Paper

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def paper():
    return selftest.paper_of()


@pytest.fixture(scope="module")
def trial(paper, tmp_path_factory):
    return selftest.Trial(tmp_path_factory.mktemp("trial"), selftest.EXAMPLE / "work", selftest.EXAMPLE / "result", paper, "minimal")


def test_the_finished_repository_has_no_finding(trial):
    assert [finding.text() for finding in trial.findings()] == []


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in selftest.CASES
        if case.check
        in (
            "quote-moved",
            "value-not-cited",
            "census-number",
            "default-silent",
            "trace-stale",
            "code-import",
            "notes-count",
            "code-undefined",
        )
    ],
    ids=lambda case: case.check,
)
def test_known_bad_cases_are_seen(trial, case):
    with trial.changed(case.file, case.content(trial.text(case.file))):
        found = trial.findings(case.file)
    assert case.check in {finding.check for finding in found}
    shown = next(finding for finding in found if finding.check == case.check)
    assert shown.file and (shown.fix or shown.expected)


@pytest.mark.slow
def test_every_check_has_a_good_and_a_known_bad_case():
    report = selftest.run()
    assert report.failed == []
    assert len(report.passed) > 110


@pytest.mark.parametrize(
    "name, content",
    [
        ("src/broken.py", b"def f(:\n"),
        ("src/bytes.py", b"\xff\xfe\x00\x01"),
        ("src/null.py", b"x = 1\x00\n"),
        ("src/deep.py", b"x = " + b"(" * 900),
        ("src/empty.py", b""),
        ("src/tabs.py", b"def f():\n\treturn 1\n        return 2\n"),
        ("src/huge.py", b"x = '" + b"q" * 1_000_000 + b"'\n"),
        ("src/quote.py", '"""§3.1 — "{}"\n"""\n'.format("word " * 200_000).encode()),
        ("configs/base.yaml", b"a: [1, 2\n"),
        ("configs/base.yaml", b"\xff\xff"),
        ("configs/base.yaml", b"a: &a [*a]\n"),
        ("configs/base.yaml", b"- 1\n- 2\n"),
        ("configs/base.yaml", b"!!python/object:os.system x\n"),
        ("notebooks/walkthrough.ipynb", b"{not json"),
        ("notebooks/walkthrough.ipynb", b"[]"),
        ("notebooks/walkthrough.ipynb", b'{"cells": [{"cell_type": 3}]}'),
        ("REPRODUCTION_NOTES.md", b"\xff\xfe"),
        ("README.md", b""),
        ("requirements.txt", b"===\n\xff"),
        ("src/foreign.py", "# Раздел 3.1 — «Обе ветви»\nx = 1\n".encode()),
        ("src/kapitel.py", 'def f() -> int:\n    """Abschnitt 3.1: „Beide Zweige“"""\n    return 7\n'.encode()),
    ],
)
def test_bad_files_are_findings_and_never_a_traceback(trial, name, content):
    path = trial.folder / "result" / name
    before = path.read_bytes() if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    try:
        outcome = everything.check(trial.folder / "result", trial.paper, work=trial.work, contribution=None, matcher=trial.matcher)
    finally:
        path.unlink() if before is None else path.write_bytes(before)
    assert outcome.findings
    json.dumps(outcome.data())


def test_a_repository_that_this_skill_never_wrote(paper, tmp_path):
    (tmp_path / "model.py").write_text(
        '"""Blocks of the paper.\n\nSection 3.1: "Both branches of a block share one gate."\n"""\nimport torch\n\n\n'
        'def gate(t):\n    # Section 3.2: "a ramp of 50 steps"\n    return min(t / 50, 1)\n',
        encoding="utf-8",
    )
    outcome = everything.check(tmp_path, paper)
    assert {finding.check for finding in errors(outcome.findings)} == {"quote-altered"} or {
        finding.check for finding in errors(outcome.findings)
    } <= {"quote-altered", "quote-missing", "quote-moved"}
    assert outcome.counts["quotes verified"] == 1
    assert any(finding.check == "code-hints" and finding.severity == "warning" for finding in outcome.findings)


def test_an_empty_folder_is_no_success(paper, tmp_path):
    outcome = everything.check(tmp_path, paper)
    assert not outcome.ok and "nothing-inspected" in {finding.check for finding in outcome.findings}


def script(*args, cwd=None):
    return subprocess.run([sys.executable, *map(str, args)], capture_output=True, text=True, encoding="utf-8", cwd=cwd, timeout=120)


def test_check_result_speaks_text_json_and_annotations(trial, paper, tmp_path):
    paper.save(tmp_path / "paper.json")
    run = script(ROOT / "scripts/check_result.py", selftest.EXAMPLE / "result", "--paper", tmp_path / "paper.json", "--json")
    data = json.loads(run.stdout)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr
    assert data["ok"] and data["counts"]["quotes verified"] > 60
    assert {"file", "line", "place", "kind", "quote", "state", "found_at", "page"} <= data["anchors"][0].keys()
    copy = trial.folder / "result"
    with trial.changed("result/src/loss.py", trial.text("result/src/loss.py").replace("Eq. 5", "Eq. 15")):
        run = script(ROOT / "scripts/check_result.py", copy, "--paper", tmp_path / "paper.json", "--annotate", "github")
        assert run.returncode == 1 and "::error file=src/loss.py,line=" in run.stdout
        run = script(ROOT / "scripts/check_result.py", copy, "--paper", tmp_path / "paper.json")
        assert "src/loss.py:" in run.stdout and "place-missing" in run.stdout


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 99}', '{"schema": 1, "sections": 3}'])
def test_a_paper_json_of_another_version_is_one_message(tmp_path, text):
    (tmp_path / "paper.json").write_text(text, encoding="utf-8")
    run = script(ROOT / "scripts/check_result.py", tmp_path, "--paper", tmp_path / "paper.json")
    assert run.returncode == 2 and "Traceback" not in run.stderr and "paper.json" in run.stderr


def test_gates_1_to_4_on_the_example(tmp_path):
    import shutil

    from paper2code.check import stages
    from paper2code.check.gates import PASSED
    from paper2code.workspace import Workspace

    fetched = script(ROOT / "scripts/fetch_paper.py", selftest.EXAMPLE.parent / "paper" / "source", tmp_path / "w")
    assert fetched.returncode == 0, fetched.stderr
    work = Workspace(tmp_path / "w")
    shutil.copytree(selftest.EXAMPLE / "work", work.folder, dirs_exist_ok=True)
    run = script(ROOT / "scripts/check_stage.py", 4, work.folder, "--result", selftest.EXAMPLE / "result")
    assert run.returncode == 6 and "gate 1" in run.stderr
    for stage in (1, 2, 3, 4):
        run = script(ROOT / "scripts/check_stage.py", stage, work.folder, "--result", selftest.EXAMPLE / "result")
        assert run.returncode == 0, run.stdout
    assert [state.state for state in stages.open_gates(work).states()][:4] == [PASSED] * 4
    audit = work.audit.read_text(encoding="utf-8")
    assert "| Component | Status | Paper quote | Section | Our choice | Alternatives |" in audit and "## Contradictions" in audit
    run = script(ROOT / "scripts/check_stage.py", "--status", work.folder)
    assert run.returncode == 0 and "next: stage 5" in run.stdout
    work.ledger.write_text(work.ledger.read_text(encoding="utf-8").replace("value: 240", "value: 250"), encoding="utf-8")
    assert script(ROOT / "scripts/check_stage.py", 4, work.folder).returncode == 6
    run = script(ROOT / "scripts/check_stage.py", 3, work.folder)
    assert run.returncode == 1 and "ledger.yaml:" in run.stdout and "ledger-number" in run.stdout


def test_speed_on_a_large_repository(paper, tmp_path):
    """2,000 lines with 300 anchors; the whole of it, the paper's index included, in 3 s of CPU."""
    import time

    lines = ['"""Blocks of §3.1."""\n\nimport torch\n\n']
    quote = '§3.1 — "Both branches of a block share one gate."'
    for number in range(300):
        head = f"\ndef gate_{number}(x: torch.Tensor) -> torch.Tensor:\n"
        lines.append(f'{head}    """{quote}\n\n    Plain.\n    """\n    return x  # (batch, length)\n')
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "model.py").write_text("".join(lines), encoding="utf-8")
    start = time.process_time()
    outcome = everything.check(tmp_path, paper, matcher=Matcher(paper))
    taken = time.process_time() - start
    assert len(outcome.anchors) > 300 and sum(text.count("\n") for text in lines) > 2000
    assert taken < 3


def test_a_paper_is_needed(tmp_path):
    assert script(ROOT / "scripts/check_result.py", tmp_path, "--paper", tmp_path / "none.json").returncode == 2
    assert script(ROOT / "scripts/check_stage.py", 9, tmp_path).returncode == 2
    assert script(ROOT / "scripts/check_stage.py", 1, tmp_path / "none").returncode == 2
    assert isinstance(Paper(), Paper)
