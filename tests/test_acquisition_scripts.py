"""doctor.py and extract_structure.py, and what every script of this part says about itself."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from paper2code import cli, diagnosis
from paper2code.paper import Paper
from standin import ABSTRACT, PROSE, TITLE, Served, Standin, html
from test_acquisition_faults import script

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
TEXT = f"# {TITLE}\n\n## Abstract\n\n{ABSTRACT}\n\n## 1 Method\n\n{PROSE * 8}\n\n## References\n\n[1] A. Author. A first work. 2001.\n"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(name: str, *arguments: object) -> tuple[int, str, str]:
        code = cli.run(lambda: script(name).main([*map(str, arguments)]))
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.mark.parametrize("name", ["fetch_paper", "extract_structure", "doctor"])
def test_help_has_examples_and_exit_codes_and_no_heavy_import(name):
    code = (f"import sys; sys.argv = ['{name}.py', '--help']; sys.path.insert(0, {str(SCRIPTS)!r})\n"
            f"import runpy\ntry: runpy.run_path({str(SCRIPTS / name)!r} + '.py', run_name='__main__')\n"
            "except SystemExit as end: print('code', end.code, [m for m in ('requests', 'lxml', 'numpy', 'pymupdf') if m in sys.modules])")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "examples:" in told and "exit codes:" in told and re.search(r"^\s+130  interrupted", told, re.M)
    assert told.rstrip().endswith("code 0 []"), "nothing heavy is loaded before the arguments are read"


def test_structure_of_a_text(run, tmp_path):
    (tmp_path / "pasted.txt").write_text(TEXT, encoding="utf-8")
    code, out, err = run("extract_structure", "pasted.txt", "work", "--mode", "full", "--json")
    data = json.loads(out)
    assert code == cli.DONE and data["title"] == TITLE and data["read_from"] == ["text"], err
    assert json.loads((tmp_path / "work" / "job.json").read_text(encoding="utf-8"))["mode"] == "full"
    assert (tmp_path / "work" / "raw" / "paper.txt").read_text(encoding="utf-8") == TEXT


def test_a_view_is_never_read_back(run, tmp_path):
    (tmp_path / "paper.html").write_bytes(html())
    assert run("fetch_paper", "paper.html", "work")[0] == cli.DONE
    before = (tmp_path / "work" / "paper.json").read_bytes()
    (tmp_path / "work" / "outline.md").unlink()
    code, out, err = run("extract_structure", "work/paper_text.md", "work")
    assert code == cli.DONE and "is taken instead" in err
    assert (tmp_path / "work" / "paper.json").read_bytes() == before and (tmp_path / "work" / "outline.md").is_file()


def test_structure_of_a_document_from_elsewhere(run, tmp_path):
    (tmp_path / "paper.html").write_bytes(html())
    assert run("fetch_paper", "paper.html", "one")[0] == cli.DONE
    code, out, err = run("extract_structure", "one/paper.json", "two", "--json")
    assert code == cli.DONE and json.loads(out)["title"] == TITLE, err
    assert Paper.load(tmp_path / "two" / "paper.json") == Paper.load(tmp_path / "one" / "paper.json")


@pytest.mark.parametrize(("content", "words"), [(None, "no file"), ("{", "paper.json"), ('{"schema": 99}', "fetch")])
def test_structure_of_nothing(run, tmp_path, content, words):
    if content is not None:
        (tmp_path / "paper.json").write_text(content, encoding="utf-8")
    code, _, err = run("extract_structure", "paper.json", "work")
    assert code == cli.USAGE and words in err and not (tmp_path / "work" / "paper.json").exists()


def test_doctor_without_network(run, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PAPER2CODE_PYTHON", sys.executable)
    code, out, err = run("doctor", "--offline", "--json")
    facts = {fact["what"]: fact for fact in json.loads(out)["facts"]}
    assert code == cli.DONE and not err, "no host is asked"
    assert {facts[name]["state"] for name in ("Python", "environment", "cache", "this folder")} == {"fine"}
    assert facts["agents"]["state"] == "attention" and facts["agents"]["fix"]


def test_doctor_finds_agents_and_the_skill(run, monkeypatch, tmp_path):
    for command in ("claude", "codex"):
        (tmp_path / command).write_text("#!/bin/sh\n", encoding="utf-8")
        os.chmod(tmp_path / command, 0o755)
    (tmp_path / ".claude" / "skills" / "paper2code").mkdir(parents=True)
    (tmp_path / ".claude" / "skills" / "paper2code" / "SKILL.md").write_text("x", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    facts = {fact.what: fact for fact in diagnosis.agents()}
    monkeypatch.chdir(tmp_path)
    assert facts["Claude Code"].state == "fine" and facts["Codex"].state == "attention"
    assert "ln -s" in facts["Codex"].fix and "Gemini CLI" not in facts


def test_doctor_tells_what_is_broken(run, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("PAPER2CODE_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setenv("PAPER2CODE_PYTHON", str(tmp_path / "no-python"))
    code, out, _ = run("doctor", "--offline")
    assert code == cli.FINDINGS and "2 things are broken" in out
    assert out.count("do: ") >= 2 and "PAPER2CODE_CACHE" in out


def test_doctor_asks_the_hosts(run, monkeypatch):
    with Standin({"2101.00001": Served()}) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PAPER2CODE_HF_URL", "http://nothing.invalid")
        facts = diagnosis.hosts(lambda line: None)
    assert [fact.state for fact in facts] == ["fine", "fine", "fine", "attention", "fine"]
    assert "code links" in facts[3].told and facts[3].fix
