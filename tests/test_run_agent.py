"""run_agent.py with a stand-in for an agent: it fails a gate twice and then passes; it hangs, floods, does nothing, deletes, forges."""

import json
import os
import stat
import subprocess
import sys
import textwrap
import time

import pytest
from conftest import ROOT

PAPER = ("# A Paper about Adding Numbers\n\nA. Author\n\n## Abstract\n\n" + "We add numbers with a network and measure how well that works. " * 6 +
         "\n\n## 1 Introduction\n\n" + "Adding is a task that is older than networks, and this paper treats it anew. " * 6 +
         "\n\n## 2 Method\n\n" + "The sum is computed by one layer, as the equation says, and the loss is the squared error. " * 30 +
         "\n\n$$y = w^\\top x \\tag{1}$$\n\n" + "We train with a learning rate of 0.1 for 100 steps with batches of 8 sequences. " * 12 +
         "\n\n## References\n\n[1] A. Author. Another paper. 2020.\n")
# What a paper with nothing to implement needs: the short way through all gates.
CONTRIBUTION = """---
paper: {paper}
title: A Paper about Adding Numbers
summary: A position on adding numbers.
type: f
type_reason: it describes a system in words alone
claim: adding works
worth: nothing here can be run
cost: none
nothing_to_implement: {{why: the paper gives no method that could be run, needed: a description of the network}}
---
## Core contribution

There is nothing to implement: §2 describes no method in enough detail.
"""
NOTES = """# Reproduction notes: A Paper about Adding Numbers

## Why nothing is implemented

§2 describes no method in enough detail. What would be needed: a description of the network, its sizes and its data.
"""


@pytest.fixture
def stand_in(tmp_path):
    """`stand_in(body)` puts a `claude` on PATH that runs `body` with `stage`, `work`, `result`, `call` (1, 2 … per stage) and `prompt`."""
    def make(body):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        script = folder / "claude"
        script.write_text(f"#!{sys.executable}\n" + textwrap.dedent("""\
            import json, pathlib, re, shutil, sys, time
            prompt = sys.argv[sys.argv.index("-p") + 1]
            stage = int(re.search(r"stage (\\d)", prompt).group(1))
            work = pathlib.Path(re.search(r"Workspace: (.+?)\\. Mode", prompt).group(1))
            found = re.search(r"Result folder: (.+?)\\.\\n", prompt)
            result = pathlib.Path(found.group(1)) if found else None
            calls = pathlib.Path(sys.argv[0]).with_name("calls.json")
            counts = json.loads(calls.read_text()) if calls.exists() else {}
            counts[str(stage)] = call = counts.get(str(stage), 0) + 1
            calls.write_text(json.dumps(counts))
            paper = json.loads((work / "job.json").read_text())["paper"]
            """) + f"CONTRIBUTION, NOTES = {CONTRIBUTION!r}, {NOTES!r}\n" + textwrap.dedent(body), encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return folder
    return make


HONEST = """
if stage == 2:
    (work / "contribution.md").write_text(CONTRIBUTION.format(paper=paper), encoding="utf-8")
if stage == 4:
    result.mkdir(exist_ok=True)
    (result / "REPRODUCTION_NOTES.md").write_text(NOTES, encoding="utf-8")
"""


def drive(tmp_path, folder, *more, papers=("paper.md",)):
    for name in papers:
        (tmp_path / name).write_text(PAPER, encoding="utf-8")
    started = time.monotonic()
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "run_agent.py"), *([str(tmp_path / papers[0])] if "--list" not in more else []),
                           "--agent", "claude", "--out", str(tmp_path / "out"), "--json", *more], capture_output=True, text=True, encoding="utf-8",
                          env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}, timeout=240)
    runs = json.loads(done.stdout)["runs"] if done.stdout.startswith("{") else []
    return done, runs, time.monotonic() - started


def test_an_agent_that_fails_a_gate_twice_and_then_passes(tmp_path, stand_in):
    folder = stand_in("""
        if stage == 2 and call == 1:
            sys.exit(0)                                   # did nothing, and says it is done
        if stage == 2 and call == 2:
            assert "did not pass" in prompt and "contribution" in prompt
            (work / "contribution.md").write_text(CONTRIBUTION.format(paper=paper).replace("type: f", "type: z"), encoding="utf-8")
            sys.exit(0)
        """ + textwrap.indent(HONEST, "        "))
    done, runs, _ = drive(tmp_path, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert runs[0]["state"] == "complete"
    assert [(r["stage"], r["passed"]) for r in runs[0]["rounds"]] == [(2, False), (2, False), (2, True), (4, True)]
    assert "No file was changed" in runs[0]["rounds"][0]["said"]
    # The same command again finds all done and calls nobody.
    done, runs, _ = drive(tmp_path, folder)
    assert done.returncode == 0 and runs[0]["rounds"] == []


@pytest.mark.parametrize("body, told", [
    ("time.sleep(600)", "stopped after 2 s"),
    ("for _ in range(900): sys.stdout.write('x' * 100_000)", "printed more than"),
    ("sys.exit(3)", "ended with 3"),
    ("import subprocess; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\ntime.sleep(600)", "stopped after 2 s"),
])
def test_agents_that_misbehave_are_bounded(tmp_path, stand_in, body, told):
    done, runs, seconds = drive(tmp_path, stand_in(body), "--minutes", "0.034" if "sleep" in body else "2", "--rounds", "1")
    assert done.returncode == 1 and runs[0]["state"] == "stopped"
    assert told in runs[0]["rounds"][0]["agent"]
    assert "gate 2" in runs[0]["why"]
    assert seconds < 120
    logs = list((tmp_path / "out").rglob("*.log"))
    assert logs and all(log.stat().st_size <= 6_000_000 for log in logs)


def test_an_agent_that_deletes_the_workspace(tmp_path, stand_in):
    done, runs, _ = drive(tmp_path, stand_in("shutil.rmtree(work)"))
    assert done.returncode == 1 and "deleted the workspace" in runs[0]["why"]


def test_an_agent_that_forges_the_gate_ledger(tmp_path, stand_in):
    folder = stand_in("""
        gates = json.loads((work / "gates.json").read_text())
        gates["stages"]["2"] = {**gates["stages"]["1"], "passed": True}
        gates["stages"]["3"] = {**gates["stages"]["1"], "passed": True}
        (work / "gates.json").write_text(json.dumps(gates))
    """)
    done, runs, _ = drive(tmp_path, folder, "--rounds", "1")
    assert done.returncode == 1 and runs[0]["state"] == "stopped" and not runs[0]["rounds"][0]["passed"]


def test_a_reading_list(tmp_path, stand_in):
    for name in ("one.md", "two.md"):
        (tmp_path / name).write_text(PAPER, encoding="utf-8")
    (tmp_path / "list.txt").write_text(f"{tmp_path / 'one.md'}  # first\n\n# none\n{tmp_path / 'two.md'}\n2413.99999\n", encoding="utf-8")
    done, runs, _ = drive(tmp_path, stand_in(HONEST), "--list", str(tmp_path / "list.txt"), "--jobs", "2", papers=())
    assert [run["state"] for run in runs] == ["complete", "complete", "stopped"], done.stdout
    assert "2413.99999" in runs[2]["why"] and done.returncode == 1


def test_no_agent_installed(tmp_path):
    (tmp_path / "paper.md").write_text(PAPER, encoding="utf-8")
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "run_agent.py"), str(tmp_path / "paper.md"), "--agent", "gemini"],
                          capture_output=True, text=True, encoding="utf-8", env={**os.environ, "PATH": str(tmp_path)})
    assert done.returncode == 2 and "gemini is not on PATH" in done.stderr


@pytest.mark.parametrize("arguments", [[], ["x.pdf", "--list", "y"], ["x.pdf", "--rounds", "0"], ["--list", "/no/such/list"]])
def test_wrong_arguments(arguments):
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "run_agent.py"), "--agent", "claude", *arguments],
                          capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 2 and "Traceback" not in done.stderr
