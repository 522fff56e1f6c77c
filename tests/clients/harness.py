"""The real clients: where they are, a fresh home for each, the skill as a clone would have it, the row each test adds to the table."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import packages
import pytest
from conftest import ROOT

FOLDER = Path(os.environ["PAPER2CODE_CLIENTS"]).resolve() if os.environ.get("PAPER2CODE_CLIENTS") else None


def client(name: str) -> str:
    """The file that starts a client; the test is skipped, with the reason, where it is not here."""
    command = packages.command_of(FOLDER, name)
    if command is None:
        pytest.skip(f"{packages.PACKAGES.get(name) or packages.SCANNERS[name]} is not in {FOLDER}")
    return command


def version(name: str) -> str:
    if name in packages.SCANNERS:
        return packages.SCANNERS[name].rpartition("=")[2]
    return json.loads((packages.home_of(FOLDER, name) / "package.json").read_text(encoding="utf-8"))["version"]


def environ(home: Path, **more: str) -> dict[str, str]:
    """A fresh home, no proxy to the outside, nothing inherited but the path: a client that asks the network for something fails at once."""
    home.mkdir(exist_ok=True)
    dead = "http://127.0.0.1:9"
    return {"PATH": os.environ["PATH"], "HOME": str(home), "CI": "1", "TERM": "dumb", "LANG": "C.UTF-8",
            "HTTP_PROXY": dead, "HTTPS_PROXY": dead, "http_proxy": dead, "https_proxy": dead, "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "COPILOT_OFFLINE": "true", "GIT_CONFIG_GLOBAL": os.devnull,
            "PAPER2CODE_PYTHON": sys.executable, "PAPER2CODE_CACHE": os.environ["PAPER2CODE_CACHE"], **more}


def run(command: list[str], where: Path, home: Path, *, seconds: float = 180, code: int | None = 0, **more: str) -> str:
    """What a command printed (both streams). Fails when it does not end with `code`."""
    done = subprocess.run(command, cwd=where, env=environ(home, **more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, encoding="utf-8", errors="replace", timeout=seconds)
    assert code is None or done.returncode == code, f"{command} ended with {done.returncode}:\n{done.stdout[-4000:]}"
    return done.stdout


def clone(place: Path) -> Path:
    """The files that a clone of this checkout has, at `place`."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    names = listed.stdout.splitlines() or [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file()]
    for name in names:
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    return place
