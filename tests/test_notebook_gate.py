"""Gate 5: what it sees without running, how it runs, what it stops, and whether it notices that checks do not bite."""

from __future__ import annotations

import ast
import os
import re
import sys
import time
from pathlib import Path

import nbformat
import pytest
from paper2code.check import gates, mutate, notebook, supervise
from paper2code.check.contribution import Component
from paper2code.check.outcome import Outcome
from paper2code.paper import Block, Paper, Section, give_ids

SOURCE = '''"""§1"""


def halve(x: float) -> float:
    """§1 — "the half of a number"."""
    return x / 2 - 0.0 * x
'''
FOREVER = "import itertools\nfor each in itertools.repeat(0): "
GOOD = "assert halve(4.0) == 2.0 and halve(-1.0) == -0.5"


def paper() -> Paper:
    out = Paper(title="Halves", sections=[Section("1", "Method", "1", blocks=[Block("paragraph", "We take the half of a number.")])])
    give_ids(out)
    return out


def result(folder: Path, *cells: str, shown: str | None = None) -> Path:
    (folder / "src").mkdir()
    (folder / "src" / "model.py").write_text(SOURCE, encoding="utf-8")
    book = nbformat.v4.new_notebook()
    setup = "import sys\nfrom pathlib import Path\nsys.path.insert(0, str(Path.cwd().parent))\nfrom src.model import halve"
    body = shown if shown is not None else SOURCE.split("\n\n\n")[1].rstrip()
    book.cells = [
        nbformat.v4.new_markdown_cell("# Walkthrough\n\n## Set-up"),
        nbformat.v4.new_code_cell(setup),
        nbformat.v4.new_markdown_cell('## Configuration\n\n## halve: §1\n\n> §1 — "the half of a number"'),
        nbformat.v4.new_markdown_cell(f"`halve` as it stands in `src/model.py`:\n\n```python\n{body}\n```"),
        *(nbformat.v4.new_code_cell(cell) for cell in cells),
        nbformat.v4.new_markdown_cell("## Common pitfalls\n\nNone."),
    ]
    (folder / "notebooks").mkdir()
    nbformat.write(book, folder / notebook.FILE)
    return folder


HALVE = [Component("halve", "utility", "§1", 1)]


def examine(folder: Path, **more) -> Outcome:
    return notebook.examine(folder, paper(), HALVE, mode="minimal", framework="numpy", python=Path(sys.executable), **more)


def kinds(outcome: Outcome) -> set[str]:
    return {finding.check for finding in outcome.findings if finding.severity == "error"}


def test_a_good_notebook_passes_and_keeps_its_outputs(tmp_path):
    folder = result(tmp_path, GOOD, "print(halve(3.0))")
    outcome = examine(folder)
    assert kinds(outcome) == set(), outcome.text()
    assert outcome.counts["faults tried"] >= 1
    book = nbformat.read(folder / notebook.FILE, 4)
    assert any(out.get("text") == "1.5\n" for cell in book.cells for out in cell.get("outputs", []))
    assert str(tmp_path) not in (folder / notebook.FILE).read_text(encoding="utf-8")


def test_checks_that_do_not_bite_are_told(tmp_path):
    outcome = examine(result(tmp_path, "assert isinstance(halve(4.0), float)"))
    assert "notebook-toothless" in kinds(outcome)
    assert any(finding.check == "mutant-survived" for finding in outcome.findings)


def test_code_beside_the_components_is_altered_too_and_only_warned_of(tmp_path):
    folder = result(tmp_path, GOOD)
    more = '\n\ndef helper(x: float) -> float:\n    """§1."""\n    return x + x / 3\n'
    (folder / "src" / "model.py").write_text(SOURCE + more, encoding="utf-8")
    outcome = examine(folder)
    assert kinds(outcome) == set() and outcome.counts["faults noticed"] >= 1
    assert (outcome.counts["faults tried beside the components"], outcome.counts["of them noticed"]) == (1, 0)
    assert "helper" in [finding.message.split(":")[0] for finding in outcome.findings if finding.check == "mutant-survived"]


@pytest.mark.parametrize(
    ("cells", "shown", "expected"),
    [
        (["halve(4.0)"], None, "notebook-unchecked"),
        ([GOOD, 'raise NotImplementedError("FILL IN: x")'], None, "notebook-placeholder"),
        ([GOOD], "def halve(x):\n    return x", "notebook-drift"),
        ([GOOD, "!pip install torch"], None, "notebook-shell"),
        ([GOOD, "import requests"], None, "notebook-network"),
        ([GOOD, "def ("], None, "notebook-syntax"),
        ([GOOD, "name = input()"], None, "notebook-input"),
        ([GOOD, "x = model.cuda()"], None, "notebook-device"),
    ],
)
def test_what_is_seen_without_running(tmp_path, cells, shown, expected):
    assert expected in kinds(examine(result(tmp_path, *cells, shown=shown), mutants=False, seconds=60))


def test_wrong_quotes_missing_sections_and_broken_files(tmp_path):
    folder = result(tmp_path, GOOD)
    text = (folder / notebook.FILE).read_text(encoding="utf-8")
    (folder / notebook.FILE).write_text(
        text.replace("half of a number", "third of a number", 1).replace("Common pitfalls", "The end"), encoding="utf-8"
    )
    found = kinds(examine(folder, mutants=False))
    assert "notebook-section" in found and found & {"quote-altered", "quote-missing"}
    (folder / notebook.FILE).write_text("{", encoding="utf-8")
    assert kinds(examine(folder)) == {"notebook-form"}
    (folder / notebook.FILE).unlink()
    assert kinds(examine(folder)) == {"notebook-missing"}


def test_a_failing_cell_is_told_with_its_traceback(tmp_path):
    outcome = examine(result(tmp_path, GOOD, "assert halve(4.0) == 3.0, 'not three'"), mutants=False)
    failed = next(finding for finding in outcome.findings if finding.check == "notebook-cell-failed")
    assert "not three" in failed.message and "cell 6" in failed.message and "assert halve(4.0) == 3.0" in failed.evidence


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (f"{FOREVER}pass", "longer than"),
        (f"kept = []\n{FOREVER}kept.append(bytearray(50_000_000))", "memory"),
        (f"{FOREVER}print('x' * 100_000)", "stopped|output"),  # by its output, memory or time, whichever is noticed first
        ("import subprocess; subprocess.run(['sleep', '60'])", "starts a process"),
        ("import os; os.fork()", "starts a process"),
        ("open('/tmp/paper2code-outside', 'w')", "outside its folder"),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "network"),
        ("import os; os.abort()", "died"),
    ],
)
@pytest.mark.slow
def test_what_is_stopped(tmp_path, cell, said):
    folder = result(tmp_path, GOOD, cell)
    started = time.monotonic()
    outcome = examine(folder, mutants=False, seconds=12, memory=1_000_000_000)
    assert re.search(said, " ".join(finding.message for finding in outcome.findings)), outcome.text()
    assert time.monotonic() - started < 60
    assert not Path("/tmp/paper2code-outside").exists()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_nothing_is_left_running(tmp_path):
    child = "[sys.executable, '-c', 'import time; time.sleep(77)'], start_new_session=True"
    code = f"import subprocess, sys, time\nsubprocess.Popen({child})\ntime.sleep(77)"
    before = set(supervise.marked(f"{supervise.MARK}="))  # other notebooks may be running on this machine
    ended = supervise.run(
        [sys.executable, "-c", code], cwd=tmp_path, seconds=2, memory=1_000_000_000, environ=dict(os.environ), scratch=tmp_path
    )
    assert "longer" in ended.stopped
    until = time.monotonic() + 5  # what was killed takes a moment to be gone
    while left := [pid for pid in supervise.marked(f"{supervise.MARK}=")
                   if pid not in before and str(tmp_path) in os.path.realpath(f"/proc/{pid}/cwd")]:
        assert time.monotonic() < until, left
        time.sleep(0.1)


def test_the_network_is_cut_where_the_system_can(tmp_path):
    if not supervise.namespaces():
        pytest.skip("no namespaces for plain users here")
    code = "import socket; s = socket.socket(); s.settimeout(2); s.connect(('10.255.255.1', 80))"
    ended = supervise.run(
        [sys.executable, "-c", code], cwd=tmp_path, seconds=12, memory=1_000_000_000, environ=dict(os.environ), scratch=tmp_path
    )
    assert "unreachable" in ended.err.lower()


def test_outputs_do_not_make_a_gate_stale_but_a_changed_cell_does(tmp_path):
    path = result(tmp_path, GOOD, "print(halve(3.0))") / notebook.FILE
    before = gates.content(path)
    book = nbformat.read(path, 4)
    book.cells[1].outputs = [nbformat.v4.new_output("stream", text="1.5")]
    nbformat.write(book, path)
    assert gates.content(path) == before
    book.cells[1].source += "\nx = 1"
    nbformat.write(book, path)
    assert gates.content(path) != before
    path.write_text("{", encoding="utf-8")
    assert gates.content(path) != before


# --- faults ---------------------------------------------------------------------------------------------------------------------


def test_faults_are_of_the_kinds_that_reproductions_have():
    text = (
        "class Block(Module):\n"
        "    def forward(self, x: Tensor, mask: Tensor) -> Tensor:\n"
        "        scores = (self.q(x) @ self.k(x).transpose(1, 2)) / self.scale\n"
        "        weights = scores.masked_fill(mask, -inf).softmax(dim=-1)\n"
        "        return self.norm(x + weights @ x)\n"
        "\n\ndef optimiser(model, config):\n    return AdamW(model.parameters(), lr=config.lr, betas=config.betas)\n"
        "\n\ndef other(x):\n    return x + 1\n"
    )
    made = mutate.mutants("src/model.py", text, ["Block", "optimiser"], each=20)
    assert {mutant.kind for mutant in made} >= {"axis", "scale", "mask", "order", "sign", "argument"}
    assert {mutant.name for mutant in made} == {"Block", "optimiser"}
    for mutant in made:
        ast.parse(mutant.text, mutant.file)
        assert mutant.text != text and "def other(x):\n    return x + 1\n" in mutant.text
    assert made == mutate.mutants("src/model.py", text, ["Block", "optimiser"], each=20)
    assert any("x + self.norm(weights @ x)" in mutant.text for mutant in made)


@pytest.mark.parametrize("line, kind, altered", [
    ("total += x", "sign", "total -= x"),
    ("return a if done else b", "branch", "return b if done else a"),
    ("return a and b", "branch", "return a or b"),
    ("return not a", "branch", "return a"),
    ("return x.max(0)", "reduction", "return x.min(0)"),
    ("return max(a, b)", "reduction", "return min(a, b)"),
    ("return np.argmin(x)", "reduction", "return np.argmax(x)"),
    ("for i in range(n): pass", "off-by-one", "for i in range(n - 1):\n        pass"),
    ("return x[1:]", "off-by-one", "return x[2:]"),
    ("return x[:-1]", "off-by-one", "return x[:]"),
])
def test_short_numerical_code_has_faults_too(line, kind, altered):
    made = mutate.mutants("src/f.py", f"def f(x, a, b, n, done, total):\n    {line}\n", ["f"], each=9)
    assert any(mutant.kind == kind and altered in mutant.text for mutant in made), [mutant.text for mutant in made]


def test_a_fault_in_a_long_call_is_told_by_what_differs():
    call = "torch.optim.Adam(model.parameters(), betas=(config.training.beta1, config.training.beta2), eps=config.training.eps)"
    told = [mutant.what for mutant in mutate.mutants("src/f.py", f"def f(model, config):\n    return {call}\n", ["f"], each=9)]
    assert any("eps=config.training.eps)" in what.split(" → ")[0] and "eps" not in what.split(" → ")[1] for what in told), told


def test_faults_leave_messages_and_types_alone():
    body = '    """1 - 2."""\n    if x is None:\n        raise ValueError(f"{x - 1} of {2 - 1}")\n    return x\n'
    text = f'def f(x: "Tensor[3 - 1]") -> int:\n{body}'
    assert mutate.mutants("src/f.py", text, ["f"], each=9) == []
    assert mutate.mutants("src/c.py", "@dataclass(frozen=True)\nclass C:\n    a: int\n", ["C"], each=9) == []
