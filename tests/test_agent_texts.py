"""What the agent reads: front matter, links, scripts and flags that exist, size, own words."""

import re
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT

SKILL = ROOT / "SKILL.md"
PIPELINE = sorted((ROOT / "pipeline").glob("*.md"))
GUARDRAILS = sorted((ROOT / "guardrails").glob("*.md"))
KNOWLEDGE = sorted((ROOT / "knowledge").glob("*.md"))
TEXTS = [SKILL, *PIPELINE, *GUARDRAILS, *KNOWLEDGE]
# What a minimal run of an architecture paper is sent to.
ARCHITECTURE_RUN = [SKILL, *PIPELINE, *GUARDRAILS, *(ROOT / "knowledge" / f"{name}.md" for name in (
    "paper_to_code_mistakes", "framework_counterparts", "transformer_components", "training_recipes"))]


def text(path):
    return path.read_text(encoding="utf-8")


def tokens(path):
    """An estimate from above for English and code: a token for every 3.6 characters. No tokenizer carries its data in a small package."""
    return round(len(text(path)) / 3.6)


def front_matter():
    _, head, body = text(SKILL).split("---\n", 2)
    return yaml.safe_load(head), body


def test_front_matter_has_the_six_fields():
    head, body = front_matter()
    assert list(head) == ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
    assert head["name"] == "paper2code" and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"])
    assert 200 < len(head["description"]) <= 1024 and not set("<>") & set(head["description"])
    assert len(head["compatibility"]) <= 500
    assert all(isinstance(value, str) for value in head["metadata"].values())
    version = re.search(r'^version = "(.+)"', text(ROOT / "pyproject.toml"), re.M).group(1)
    assert head["metadata"]["version"] == version
    assert "Do not use" in head["description"] and "/paper2code" in head["description"]
    assert not re.search(r"stage|acquisition|audit", head["description"], re.I), "a list of stages invites running them from memory"


def test_allowed_tools_name_each_script_in_both_forms():
    granted = front_matter()[0]["allowed-tools"]
    for script in sorted((ROOT / "scripts").glob("*.py")):
        if script.name in ("run_agent.py", "stop_hook.py"):  # started by a person and by the client, never by the agent
            assert script.name not in granted
            continue
        assert f"Bash(python3 ${{CLAUDE_SKILL_DIR}}/scripts/{script.name} *)" in granted, script.name
        assert f'Bash(python3 "${{CLAUDE_SKILL_DIR}}/scripts/{script.name}" *)' in granted, script.name
    assert not set(re.findall(r"scripts/(\w+\.py)", granted)) - {script.name for script in (ROOT / "scripts").glob("*.py")}


def test_body_is_short():
    _, body = front_matter()
    assert body.count("\n") < 200
    assert len(body) / 3.6 < 3500


def test_what_a_run_must_load(capsys):
    table = {path.relative_to(ROOT).as_posix(): tokens(path) for path in ARCHITECTURE_RUN}
    before = tokens(SKILL) + tokens(PIPELINE[0])
    with capsys.disabled():
        print("\ntokens to load for a minimal run of an architecture paper (characters / 3.6)")
        print("\n".join(f"  {name:<44}{count:>6}" for name, count in table.items()))
        print(f"  {'in all':<44}{sum(table.values()):>6}   (at most 28000)\n  {'before stage 1':<44}{before:>6}   (at most 9000)")
    assert sum(table.values()) <= 28_000
    assert before <= 9_000


@pytest.mark.parametrize("path", PIPELINE, ids=lambda p: p.name)
def test_protocols_have_the_same_headings(path):
    assert re.findall(r"^## (.+)$", text(path), re.M) == ["Read first", "Inputs", "Do", "Outputs", "Gate", "If it fails"]
    assert re.search(rf"check_stage\.py {int(path.name[:2])} WORK", text(path))


@pytest.mark.parametrize("path", [*TEXTS, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_links_and_named_files_exist(path):
    missing = [target for target in re.findall(r"\]\(([^)#:]+)\)", text(path)) if not (path.parent / target).exists()]
    named = re.findall(r"`((?:guardrails|knowledge|pipeline|scaffolds)/[\w/.-]+\.\w+)`", text(path))
    named += [f"knowledge/{name}" for name in re.findall(r"`([a-z_]+\.md)`", text(path)) if path in KNOWLEDGE]
    missing += [name for name in named if not (ROOT / name).exists()]
    assert not missing


def commands(path):
    """(script, arguments) of every command in the text, in fences and in backticks."""
    found = re.findall(r"<skill-dir>/scripts/(\w+\.py)([^`\n]*)", text(path))
    found += re.findall(r"`(?:… )?(\w+\.py)((?: [^`\n]*)?)`", text(path))
    return [(name, rest) for name, rest in found if not name.startswith(("model", "loss", "data", "train", "evaluate", "utils"))]


HELP = {}


def help_of(script):
    if script not in HELP:
        HELP[script] = subprocess.run([sys.executable, str(ROOT / "scripts" / script), "--help"], capture_output=True, text=True,
                                      encoding="utf-8").stdout
    return HELP[script]


@pytest.mark.parametrize("path", [*TEXTS, ROOT / "README.md"], ids=lambda p: p.name)
def test_scripts_and_flags_exist(path):
    for script, rest in commands(path):
        assert (ROOT / "scripts" / script).is_file(), f"{path.name} names {script}"
        for flag in re.findall(r"(?<!\S)(--[a-z-]+)", rest):
            assert flag in help_of(script), f"{path.name}: {script} has no {flag}"


@pytest.mark.parametrize("path", [SKILL, *PIPELINE], ids=lambda p: p.name)
def test_commands_are_what_clients_accept(path):
    body = text(path).split("---\n", 2)[2] if path == SKILL else text(path)
    for line in re.findall(r"^.*python3 .*scripts/.*$", body, re.M):
        assert "<skill-dir>/scripts/" in line, f"a bare scripts/ path: {line}"
        command = re.search(r"python3 [^`]*", line).group()
        assert not re.search(r"[>|;&$]", command.replace("<skill-dir>", "")), f"a shell trick: {line}"


def test_every_knowledge_file_is_in_the_reading_table():
    body = text(SKILL)
    for path in (*KNOWLEDGE, *GUARDRAILS, *PIPELINE):
        assert f"{path.parent.name}/{path.name}" in body, path.name


def test_one_skill_md_and_no_dropped_names():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split() or [
        str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
    assert sum(name.endswith("SKILL.md") for name in names) == 1
    assert not [name for name in names if any(part.startswith("_") for part in name.split("/")) or name.endswith("metadata.json")]
