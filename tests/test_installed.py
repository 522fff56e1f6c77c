"""Several installations and other systems' paths: versions side by side, Windows spellings."""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import PureWindowsPath

import pytest
from conftest import ROOT

PAPER = ("# A Title of Some Length\n\nA. Author\n\n## Abstract\n\n" + "We study a thing and measure it with great care. " * 8 +
         "\n\n## 1 Method\n\n" + "We train for 100 steps with a learning rate of 0.1 and a batch size of 8. " * 30 +
         "\n\n$$y = x^2 \\tag{1}$$\n\n## References\n\n[1] A. Author. A paper. 2020.\n")


def install(place, version):
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns("tests", "examples", "evals", "benchmarks", ".*", "scaffolds", "knowledge"))
    for name, old in (("pyproject.toml", r'^version = ".*"'), ("SKILL.md", r'^  version: ".*"')):
        text = (place / name).read_text(encoding="utf-8")
        changed = re.sub(old, lambda found: re.sub(r'".*"', f'"{version}"', found.group()), text, count=1, flags=re.M)
        assert changed != text
        (place / name).write_text(changed, encoding="utf-8")
    return place


def start(skill, script, *arguments, where):
    return subprocess.run([sys.executable, str(skill / "scripts" / script), *map(str, arguments)], cwd=where, capture_output=True, text=True,
                          encoding="utf-8")


def test_two_versions_side_by_side(tmp_path):
    """Each runs its own code, and a run begun with one goes on with the other, once its own checks have passed."""
    old, new = install(tmp_path / "old" / "paper2code", "0.0.9"), install(tmp_path / "new" / "paper2code", "9.9.9")
    (tmp_path / "paper.md").write_text(PAPER, encoding="utf-8")
    assert start(old, "fetch_paper.py", "paper.md", "work", where=tmp_path).returncode == 0
    assert "0.0.9" in json.loads((tmp_path / "work" / "job.json").read_text(encoding="utf-8"))["tool"]
    done = start(new, "check_stage.py", 1, "work", where=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    status = {skill: json.loads(start(skill, "check_stage.py", "--status", "work", "--json", where=tmp_path).stdout) for skill in (old, new)}
    assert status[new]["next"] == 2
    # What one version's checks passed has to pass the other's too.
    assert status[old]["next"] == 1 and "9.9.9" in status[old]["stages"][0]["why"]
    assert start(old, "check_stage.py", 1, "work", where=tmp_path).returncode == 0


def test_doctor_tells_another_version_that_an_agent_finds(tmp_path, monkeypatch):
    from paper2code import diagnosis

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(diagnosis.shutil, "which", lambda name: name if name == "claude" else None)
    place = install(tmp_path / ".claude" / "skills" / "paper2code", "0.0.9")
    fact, = diagnosis.agents()
    assert fact.state == diagnosis.ATTENTION and "0.0.9" in fact.told and str(place) in fact.told and fact.fix
    shutil.rmtree(place)
    place.symlink_to(ROOT, target_is_directory=True)
    fact, = diagnosis.agents()
    assert fact.state == diagnosis.FINE


@pytest.mark.parametrize("text", [r"C:\papers\2106.09685\paper.pdf", r"..\papers\x.tex", "C:/papers/paper.pdf", r"\\server\share\paper.pdf"])
def test_a_windows_path_is_a_path(text):
    """Never an arXiv id, a host or a DOI."""
    from paper2code import cli
    from paper2code.acquire import identifiers

    with pytest.raises(cli.Stop, match="no file or folder"):
        identifiers.either(text)


def test_an_agents_grants_are_windows_paths_on_windows(monkeypatch):
    from paper2code import headless

    class Folder(PureWindowsPath):
        def glob(self, pattern):
            return [self / "fetch_paper.py", self / "run_agent.py"]

    monkeypatch.setattr(headless, "SKILL", Folder(r"C:\My Skills\paper2code"))
    grants = [part for part in headless.claude("prompt", headless.Limits()) if part.startswith("Bash(")]
    assert grants == ['Bash(python3 C:\\My Skills\\paper2code\\scripts\\fetch_paper.py *)',
                      'Bash(python3 "C:\\My Skills\\paper2code\\scripts\\fetch_paper.py" *)']


def test_relative_paths_are_written_with_slashes():
    """What lands in files and reports is the same on every system."""
    wrong = []
    for path in sorted((ROOT / "scripts").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            inner = node.value if isinstance(node, ast.FormattedValue) else node.args[0] if (
                isinstance(node, ast.Call) and ast.unparse(node.func) == "str" and node.args) else None
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "relative_to":
                wrong.append(f"{path.name}:{node.lineno}")
    assert not wrong
