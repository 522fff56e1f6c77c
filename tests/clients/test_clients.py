"""The skill in the real agents: installed, listed, validated, and its scripts run without a question. No account, no network."""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import harness
import pytest
from harness import run
from stand_in_model import Call, StandIn
from test_run_agent import CONTRIBUTION, NOTES, PAPER

AGENTS = ("claude-code", "codex", "gemini-cli", "cursor", "github-copilot", "opencode")


@pytest.fixture(scope="session")
def skill(tmp_path_factory):
    return harness.clone(tmp_path_factory.mktemp("clone") / "paper2code")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path):
    """An empty project of a user, foreign to the skill."""
    folder = tmp_path / "some project"
    folder.mkdir()
    run(["git", "init", "-q"], folder, tmp_path / "home")
    return folder


@pytest.fixture
def row(record_property):
    """`row(client, what)` names the client (with its version) and what the test shows; gives the command that starts it."""
    def add(name, shows):
        record_property("client", name)
        record_property("shows", shows)
        command = harness.client(name)
        record_property("client", f"{name} {harness.version(name)}")
        return command
    return add


def put(skill, place):
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(skill, place)
    return place


# --- installers ---------------------------------------------------------------------------------------------------------


def test_skills_adds_it_for_six_agents(skill, project, home, row):
    skills = row("skills", "add for six agents into an empty project; what lands is whole and works")
    run([skills, "add", str(skill), "-a", *AGENTS, "-y"], project, home)
    here = project / ".agents" / "skills" / "paper2code"
    assert (project / ".claude" / "skills" / "paper2code" / "SKILL.md").is_file()
    names = {path.relative_to(skill).as_posix() for path in skill.rglob("*") if path.is_file()}
    landed = {path.relative_to(here).as_posix() for path in here.rglob("*") if path.is_file()}
    assert len(landed) > 100 and {name for name in names - landed if not name.startswith((".git", "README"))} == set()
    told = run([sys.executable, str(here / "scripts" / "fetch_paper.py"), str(here / "examples" / "staggered_gates" / "paper" / "paper.pdf"), "work"],
               project, home)
    assert (project / "work" / "paper.json").is_file(), told


def test_skills_lists_one_skill(skill, project, home, row):
    told = run([row("skills", "add --list names this one skill"), "add", str(skill), "--list"], project, home)
    assert re.search(r"\bpaper2code\b", told) and re.search(r"Found .*?1.*? skill", told), told


def test_the_standards_own_validator(skill, record_property):
    from importlib import metadata

    from skills_ref import validate

    record_property("client", f"skills-ref {metadata.version('skills-ref')}")
    record_property("shows", "the standard's validator finds nothing")
    assert validate(skill) == []


# --- scanners -----------------------------------------------------------------------------------------------------------


def test_the_scanner_rates_high_what_the_triage_explains_and_nothing_else(skill, project, home, row):
    """Without a model and without a network. The table in SECURITY.md names rules and the places they were found in."""
    told = run([row("skill-scanner", "static, YARA, correlation: all that is rated high is explained in SECURITY.md"), "scan", str(skill),
                "--format", "json"], project, home, seconds=400)
    found = {(finding["rule_id"], finding["file_path"]) for finding in json.loads(told[told.index("{"):])["findings"]
             if finding["severity"] in ("HIGH", "CRITICAL")}
    rows = re.findall(r"^\| ([A-Z_, ]+) \| (.+?) \|", (skill / "SECURITY.md").read_text(encoding="utf-8"), re.M)
    explained = {(rule, place) for rules, places in rows for rule in rules.split(", ") for place in re.findall(r"`([^`]*/?[^`]*)`", places)
                 if "(" not in place}
    assert found and explained
    assert {one for one in found if not any(one[0] == rule and one[1].startswith(place) for rule, place in explained)} == set()
    assert {one for one in explained if not any(rule == one[0] and place.startswith(one[1]) for rule, place in found)} == set(), "out of date"


def test_skilllint_finds_no_error(skill, project, home, row, tmp_path):
    """It says nothing where it finds nothing: that it looked is seen by a copy with a fault."""
    command = row("skilllint", "check finds no error, and the one in a copy with a bad name")
    run([command, "check", str(skill)], project, home)
    bad = put(skill, tmp_path / "bad" / "paper2code") / "SKILL.md"
    bad.write_text(bad.read_text(encoding="utf-8").replace("\nname: paper2code\n", "\nname: Paper_2 Code\n", 1), encoding="utf-8")
    assert "SKILL.md" in run([command, "check", str(bad.parent)], project, home, code=1)


def test_skill_check_finds_no_error(skill, project, home, row):
    told = run([row("skill-check", "check finds no error"), "check", str(skill), "--no-security-scan"], project, home)
    assert re.search(r"0 errors.*1 skill\b", told), told


# --- Claude Code --------------------------------------------------------------------------------------------------------


def claude(command, prompt, project, home, decide, *more):
    with StandIn(decide) as model:
        told = run([command, "-p", prompt, "--output-format", "json", *more], project, home, ANTHROPIC_BASE_URL=model.address,
                   ANTHROPIC_API_KEY="none", seconds=300)
    assert not model.faults, model.faults
    return model.talks, json.loads(told[told.index("{"):])


def steps(*calls):
    """A model that calls these tools one after another, then ends."""
    def decide(talk):
        if not talk.tools:
            return "a title"
        return calls[len(talk.results)] if len(talk.results) < len(calls) else "That is all."
    return decide


def bash(command):
    return Call("Bash", {"command": command, "description": "a script of the skill"})


@pytest.mark.parametrize("place", ["home", "project"])
def test_claude_runs_the_scripts_without_a_question(skill, project, home, row, place):
    """The project's path has a space in it, where only the quoted form is a command."""
    command = row("claude", f"/paper2code: base folder given, doctor.py and fetch_paper.py run unasked, bare and quoted; others ask (skill in {place})")
    folder = put(skill, {"home": home, "project": project}[place] / ".claude" / "skills" / "paper2code")
    paper, scripts = folder / "examples" / "staggered_gates" / "paper" / "source", str(folder / "scripts")
    quoted = [bash(f'python3 "{scripts}/doctor.py" --offline'), bash(f'python3 "{scripts}/fetch_paper.py" "{paper}" quoted --mode minimal')]
    bare = [bash(call.arguments["command"].replace('"', "").replace(" quoted ", " bare ")) for call in quoted] if " " not in scripts else []
    calls = [*quoted, *bare, bash("python3 -c 'print(6 * 7)'"), bash(f"python3 {shlex.quote(scripts + '/stop_hook.py')} --help")]
    talks, ended = claude(command, "/paper2code 1706.03762 --mode full", project, home, steps(*calls))
    asked = [talk for talk in talks if talk.tools]
    assert f"Base directory for this skill: {folder}" in asked[0].text
    assert "1706.03762 --mode full" in asked[0].text and "A stage is done when its gate prints" in asked[0].text
    results = asked[-1].results
    assert len(results) == len(calls), results
    # What is not listed in allowed-tools is asked for: so that the others were not is due to that list.
    assert [denied["tool_input"]["command"] for denied in ended["permission_denials"]] == [call.arguments["command"] for call in calls[-2:]]
    for at in range(0, len(quoted + bare), 2):
        assert "nothing is broken" in results[at], results[at]
    for name in ("quoted", *(("bare",) if bare else ())):
        assert (project / name / "paper.json").is_file(), results


def test_claude_lists_it_with_its_whole_description(skill, project, home, row):
    command = row("claude", "lists the skill with its whole description in a session that has not called it")
    put(skill, home / ".claude" / "skills" / "paper2code")
    talks, _ = claude(command, "hello", project, home, steps())
    description = re.search(r'^description: "(.*)"$', (skill / "SKILL.md").read_text(encoding="utf-8"), re.M).group(1)
    assert any(description in talk.text for talk in talks)


def test_claude_validates_it_as_a_plugin(skill, project, home, row):
    told = run([row("claude", "plugin validate --strict --profile directory"), "plugin", "validate", "--strict", "--profile", "directory", str(skill)],
               project, home)
    assert "passed" in told.lower(), told


def test_claude_installs_the_plugin(skill, project, home, row):
    command = row("claude", "plugin marketplace add, install, details; the plugin's /paper2code works")
    run([command, "plugin", "marketplace", "add", str(skill)], project, home)
    run([command, "plugin", "install", "paper2code@paper2code"], project, home)
    details = run([command, "plugin", "details", "paper2code"], project, home)
    assert re.search(r"Skills \(1\)\s+paper2code", details), details
    talks, _ = claude(command, "/paper2code 1706.03762", project, home, steps())
    given = [talk.text for talk in talks if talk.tools]
    assert re.search(r"Base directory for this skill: \S+", given[0]) and "A stage is done when its gate prints" in given[0]


def test_claude_is_told_of_an_open_gate_by_the_stop_hook(skill, project, home, row):
    command = row("claude", "the Stop hook names the open gate once, and says nothing where no run is open")
    hook = f'python3 "{skill}/scripts/stop_hook.py"'
    settings = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": hook}]}]}})
    talks, _ = claude(command, "hello", project, home, lambda talk: "Done.", "--settings", settings)
    assert not any("gate" in talk.text and "has not passed" in talk.text for talk in talks)
    run([sys.executable, str(skill / "scripts" / "fetch_paper.py"), str(skill / "examples" / "staggered_gates" / "paper" / "source")], project, home)
    talks, _ = claude(command, "hello", project, home, lambda talk: "Done.", "--settings", settings)
    told = [talk.text for talk in talks if "has not passed" in talk.text]
    assert told and "gate 1 (acquisition)" in told[-1] and len(talks) == 2


# --- the others ---------------------------------------------------------------------------------------------------------


def test_codex_lists_it(skill, project, home, row):
    command = row("codex", "its prompt lists the skill, and that one alone of this folder")
    put(skill, home / ".agents" / "skills" / "paper2code")
    told = run([command, "debug", "prompt-input", "hello"], project, home)
    assert "Turns a research paper into code that cites it" in told
    assert len(set(re.findall(r"[\w./-]*paper2code[\w./-]*/SKILL\.md", told))) == 1, told


def test_gemini_lists_it(skill, project, home, row):
    command = row("gemini", "skills list, in a trusted project")
    put(skill, project / ".agents" / "skills" / "paper2code")
    told = run([command, "skills", "list"], project, home, GEMINI_CLI_TRUST_WORKSPACE="true")
    assert re.search(r"^paper2code\b.*\[Enabled\]", told, re.M), told


def test_gemini_installs_the_checkout(skill, project, home, row):
    command = row("gemini", "skills install of the checkout")
    run([command, "skills", "install", str(skill), "--consent"], project, home)
    assert re.search(r"^paper2code\b", run([command, "skills", "list"], project, home), re.M)


def test_opencode_lists_it(skill, project, home, row):
    command = row("opencode", "debug skill, and no other skill of this folder")
    folder = put(skill, home / ".agents" / "skills" / "paper2code")
    told = run([command, "debug", "skill"], project, home)
    found = [entry for entry in json.loads(told[told.index("["):]) if str(folder) in entry.get("location", "")]
    assert [entry["name"] for entry in found] == ["paper2code"], told[:2000]


def test_copilot_lists_it(skill, project, home, row):
    command = row("copilot", "skill list, and no other skill of this folder")
    folder = put(skill, home / ".agents" / "skills" / "paper2code")
    listed = json.loads(run([command, "skill", "list", "--json"], project, home))
    assert [(entry["name"], entry["enabled"]) for entry in listed if str(folder) in entry["path"]] == [("paper2code", True)], listed


def test_copilot_loads_it_and_runs_a_script(skill, project, home, row):
    command = row("copilot", "/paper2code: base folder given; doctor.py runs where python3 is allowed, and is asked for where it is not")
    folder = put(skill, home / ".agents" / "skills" / "paper2code")
    doctor = Call("bash", {"command": f'python3 "{folder}/scripts/doctor.py" --offline', "description": "a script of the skill"})
    for allowed, told in (((), "Permission denied"), (("--allow-tool", "shell(python3:*)"), "nothing is broken")):
        with StandIn(steps(Call("skill", {"skill": "paper2code"}), doctor)) as model:
            run([command, "-p", "/paper2code 1706.03762", "--no-ask-user", *allowed], project, home, **settings_of("copilot", home, model.address))
        assert not model.faults and len(model.talks[-1].results) == 2, model.faults
        assert f"Base directory for this skill: {folder}" in model.talks[-1].text and "A stage is done when its gate prints" in model.talks[-1].text
        assert told in model.talks[-1].results[1]


# --- run_agent.py -------------------------------------------------------------------------------------------------------


def drive(skill, project, home, agent, model, *more, seconds=420, **environ):
    """run_agent.py on a paper with nothing to implement (the short way through the gates), driven by the real agent."""
    paper = project / "paper.md"
    paper.write_text(PAPER, encoding="utf-8")
    told = run([sys.executable, str(skill / "scripts" / "run_agent.py"), str(paper), "--agent", agent, "--out", str(project), "--json", *more],
               project, home, code=None, seconds=seconds,
               PATH=f"{Path(harness.client(agent)).parent}{os.pathsep}{os.environ['PATH']}", **environ)
    assert not model.faults, model.faults
    at = told.find("{\n")
    assert at >= 0, told
    return json.JSONDecoder().raw_decode(told[at:])[0]["runs"][0], told


class Beginner:
    """Plays an agent: does nothing; searches the paper and writes a contribution with a fault; mends it; in stage 4 writes the notes."""

    def __init__(self, skill, shell, write):
        self.skill, self.shell, self.write, self.rounds, self.prompts, self.found = skill, shell, write, {}, [], ""

    def __call__(self, talk):
        asked = re.findall(r"Carry out stage (\d)", talk.text)
        if not asked or not talk.tools:
            return "a title"
        stage = int(asked[-1])
        if not talk.results:
            self.rounds[stage] = self.rounds.get(stage, 0) + 1
            self.prompts.append(talk.text)
        work = Path(re.search(r"Workspace: (.+?)\. Mode", talk.text).group(1))
        good = CONTRIBUTION.format(paper=json.loads((work / "job.json").read_text(encoding="utf-8"))["paper"])
        result = Path(re.search(r"Result folder: (.+?)\.\n", talk.text).group(1)) if stage == 4 else None
        plan = {
            (2, 2): (lambda: self.shell(f'python3 "{self.skill}/scripts/search_paper.py" "{work}" "learning rate"'),
                     lambda: self.write(work / "contribution.md", good.replace("type: f", "type: z"))),
            (2, 3): (lambda: self.write(work / "contribution.md", good),),
            (4, 1): (lambda: self.shell(f'mkdir -p "{result}"'), lambda: self.write(result / "REPRODUCTION_NOTES.md", NOTES)),
        }.get((stage, self.rounds[stage]), ())
        if (stage, self.rounds[stage], len(talk.results)) == (2, 2, 1):
            self.found = talk.results[0]
        return plan[len(talk.results)]() if len(talk.results) < len(plan) else "Stage done, the gate passes."


def test_run_agent_drives_claude_through_two_failures(skill, project, home, row):
    row("claude", "run_agent.py end to end: gate 2 fails twice, then passes; stage 4; complete")
    skill = put(skill, home / "a skill" / "paper2code")
    agent = Beginner(skill, bash, lambda path, text: Call("Write", {"file_path": str(path), "content": text}))
    with StandIn(agent) as model:
        ran, told = drive(skill, project, home, "claude", model, ANTHROPIC_BASE_URL=model.address, ANTHROPIC_API_KEY="none")
    assert ran["state"] == "complete", told
    assert [(entry["stage"], entry["passed"]) for entry in ran["rounds"]] == [(2, False), (2, False), (2, True), (4, True)]
    assert "No file was changed" in agent.prompts[1] and "did not pass" in agent.prompts[2] and "type" in agent.prompts[2]
    assert "learning rate of 0.1 for 100 steps" in agent.found, agent.found


def settings_of(agent, home, address):
    """What points an agent at the stand-in; the command line stays that of run_agent.py."""
    if agent == "codex":
        (home / ".codex").mkdir(parents=True)
        (home / ".codex" / "config.toml").write_text(
            'model = "stand-in"\nmodel_provider = "loopback"\n\n[model_providers.loopback]\nname = "loopback"\n'
            f'base_url = "{address}/v1"\nwire_api = "responses"\n', encoding="utf-8")
        return {}
    if agent == "gemini":
        (home / ".gemini").mkdir(parents=True)
        (home / ".gemini" / "settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}', encoding="utf-8")
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": address, "GEMINI_MODEL": "gemini-2.5-pro"}
    if agent == "copilot":
        return {"COPILOT_PROVIDER_BASE_URL": f"{address}/v1", "COPILOT_MODEL": "stand-in"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{address}/v1", "apiKey": "none"}, "models": {"stand-in": {"name": "stand-in"}}}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps({"model": "loopback/stand-in", "small_model": "loopback/stand-in", "provider": {"loopback": provider}})}


def by_shell(shell, path, text):
    return shell(f"cat > {shlex.quote(str(path))} <<'END'\n{text}\nEND")


def by_fields(tool, place, content):
    return lambda shell, path, text: Call(tool, {place: str(path), content: text})


def by_create_or_edit(shell, path, text):
    """`create` refuses a file that is there."""
    if path.is_file():
        return Call("edit", {"path": str(path), "old_str": path.read_text(encoding="utf-8"), "new_str": text})
    return Call("create", {"path": str(path), "file_text": text})


@pytest.mark.parametrize("agent, tool, key, writer", [
    ("codex", "exec_command", "cmd", by_shell),
    ("gemini", "run_shell_command", "command", by_fields("write_file", "file_path", "content")),
    ("opencode", "bash", "command", by_fields("write", "filePath", "content")),
    ("copilot", "bash", "command", by_create_or_edit),
])
def test_run_agent_drives_the_others(skill, project, home, row, agent, tool, key, writer):
    row(agent, "run_agent.py end to end, with its own tools: gate 2 fails twice, then passes; stage 4; complete")
    skill = put(skill, home / "a skill" / "paper2code")

    def shell(command):
        return Call(tool, {key: command, "description": "a command"})

    beginner = Beginner(skill, shell, lambda path, text: writer(shell, path, text))
    with StandIn(beginner) as model:
        ran, told = drive(skill, project, home, agent, model, **settings_of(agent, home, model.address))
    logs = "\n".join(path.read_text(encoding="utf-8", errors="replace")[-3000:] for path in sorted(project.rglob("logs/*.log")))
    assert ran["state"] == "complete", f"{told}\n{logs}\n{[(talk.path, talk.tools, talk.results) for talk in model.talks]}"
    assert [(entry["stage"], entry["passed"]) for entry in ran["rounds"]] == [(2, False), (2, False), (2, True), (4, True)]
    assert "learning rate of 0.1 for 100 steps" in beginner.found, beginner.found
