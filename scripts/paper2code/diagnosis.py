"""What works on this machine and what to do about the rest. Standard library only, so that it runs where nothing else does."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from paper2code import cli, environment, workspace
from paper2code.acquire.addresses import HOSTS, POLITE, address

FINE, ATTENTION, BROKEN = "fine", "attention", "broken"
SKILL = environment.SKILL
# client -> (command, folders in which it looks for skills: in the project, at the user's)
AGENTS = {
    "Claude Code": ("claude", (".claude/skills", "~/.claude/skills")),
    "Codex": ("codex", (".agents/skills", "~/.agents/skills", "~/.codex/skills")),
    "Gemini CLI": ("gemini", (".agents/skills", ".gemini/skills", "~/.gemini/skills", "~/.agents/skills")),
    "OpenCode": ("opencode", (".agents/skills", ".claude/skills", ".opencode/skills", "~/.agents/skills", "~/.claude/skills",
                              "~/.config/opencode/skills")),
    "Copilot CLI": ("copilot", (".github/skills", ".agents/skills", ".claude/skills", "~/.copilot/skills", "~/.agents/skills")),
    "Cursor": ("cursor-agent", (".cursor/skills", ".claude/skills", ".agents/skills", "~/.cursor/skills")),
}
PATIENCE = 8  # seconds for one host
LEAST = 1500  # free megabytes below which the environment and a few papers will not fit


@dataclass(frozen=True)
class Fact:
    """One thing looked at: `state` is fine, attention or broken; `fix` is what to do when it is not fine."""

    what: str
    state: str
    told: str
    fix: str = ""

    def text(self) -> str:
        return f"{self.state:>9}  {self.what}: {self.told}" + (f"\n           do: {self.fix}" if self.fix else "")

    def data(self) -> dict:
        return asdict(self)


def look(*, offline: bool = False, say: Callable[[str], None] = cli.say) -> list[Fact]:
    """Everything there is to look at. Only the hosts need the network, and they are left alone when `offline`."""
    facts = [python(), private_environment(), cache(), current_folder()]
    facts += agents()
    return facts + ([] if offline else hosts(say))


def python() -> Fact:
    told = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.version_info < environment.OLDEST:
        return Fact("Python", BROKEN, told, "install Python 3.10 or newer, or name one in PAPER2CODE_PYTHON")
    return Fact("Python", FINE, told)


def private_environment() -> Fact:
    if own := os.environ.get("PAPER2CODE_PYTHON"):
        missing = environment.lacking(environment.requirements(), own)
        if missing:
            return Fact("environment", BROKEN, f"PAPER2CODE_PYTHON={own} lacks {', '.join(missing)}",
                        "install them there, or unset PAPER2CODE_PYTHON")
        return Fact("environment", FINE, f"your own, {own}")
    if environment.installed():
        return Fact("environment", FINE, "paper2code is installed as a package")
    folder = environment.cache() / "environments" / environment.key(environment.requirements())
    if (folder / "paper2code.json").is_file():
        return Fact("environment", FINE, str(folder))
    if not environment.has_venv() and not shutil.which("uv"):
        return Fact("environment", BROKEN, "not made yet, and neither venv nor uv is here to make it",
                    "install python3-venv or uv, or name an interpreter in PAPER2CODE_PYTHON")
    return Fact("environment", ATTENTION, "not made yet", "nothing: the first script that needs it makes it, once, with a network")


def writable(folder: Path) -> str | None:
    """Why nothing can be written into a folder, or None."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"paper2code")
    except OSError as problem:
        return problem.strerror or str(problem)
    return None


def cache() -> Fact:
    folder = environment.cache()
    if why := writable(folder):
        return Fact("cache", BROKEN, f"{folder}: {why}", "name a folder that can be written to in PAPER2CODE_CACHE")
    free = shutil.disk_usage(folder).free >> 20
    papers = folder / "papers"
    count = sum(1 for _ in papers.glob("*")) if papers.is_dir() else 0
    told = f"{folder}: {count} papers, {environment.size_of(papers)} MB; {free} MB free on the disk"
    return Fact("cache", FINE, told) if free > LEAST else Fact("cache", ATTENTION, told, f"free some space: {LEAST} MB are wanted")


def current_folder() -> Fact:
    here = Path.cwd()
    if why := writable(here):
        return Fact("this folder", ATTENTION, f"{here}: {why}", "work in a folder of your own, or name a workspace elsewhere")
    return Fact("this folder", FINE, str(here))


def agents() -> list[Fact]:
    """The clients on PATH, and whether each finds this skill."""
    facts = []
    for name, (command, folders) in AGENTS.items():
        if not shutil.which(command):
            continue
        places = [Path(folder).expanduser() / "paper2code" / "SKILL.md" for folder in folders]
        there = next((place for place in places if place.is_file()), None)
        other = next((place for place in places if place.is_file() and version_in(place) not in (None, workspace.version())), None)
        if other:
            facts.append(Fact(name, ATTENTION, f"finds version {version_in(other)} in {other.parent.absolute()}; this is {workspace.version()} in {SKILL}",
                              "update or remove the one that is not wanted, so that all commands of a run are of one version"))
        elif there:
            facts.append(Fact(name, FINE, f"finds the skill in {there.parent}"))
        else:
            user = next(folder for folder in folders if folder.startswith("~"))
            facts.append(Fact(name, ATTENTION, "is here, but finds no skill paper2code",
                              f"put this folder there: ln -s {SKILL} {user}/paper2code"))
    return facts or [Fact("agents", ATTENTION, f"none of {', '.join(AGENTS)} is on PATH",
                          "install one to use the skill; the scripts work without")]


def version_in(skill: Path) -> str | None:
    found = re.search(r'^  version: "?([^"\n]+)', skill.read_text(encoding="utf-8", errors="replace"), re.M)
    return found.group(1) if found else None


def hosts(say: Callable[[str], None]) -> list[Fact]:
    """Which hosts answer. One HEAD request each, spaced as arXiv wants it."""
    facts = []
    try:
        delay = min(max(float(os.environ.get("PAPER2CODE_DELAY") or 3), 0), 60)
    except ValueError:
        delay = 3.0
    for number, (name, (_, purpose)) in enumerate(HOSTS.items()):
        url = address(name)
        say(f"asking {url}")
        if number and name in POLITE:
            time.sleep(delay)
        request = urllib.request.Request(url, method="HEAD", headers={"User-Agent": f"paper2code/{workspace.version()}"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                told = f"answers ({response.status})"
        except urllib.error.HTTPError as problem:
            told = f"answers ({problem.code})"
        except (OSError, ValueError) as problem:
            why = getattr(problem, "reason", None) or problem
            facts.append(Fact(url, ATTENTION, f"does not answer ({why}); it has {purpose}",
                              "check network, proxy (HTTPS_PROXY) and certificates; local files and cached papers work without"))
            continue
        facts.append(Fact(url, FINE, f"{told}; it has {purpose}"))
    return facts
