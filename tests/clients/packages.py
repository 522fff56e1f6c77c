"""The clients and scanners of the client tests: packages, their versions, and how each is started. Standard library only."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

SYSTEM = {"linux": "linux", "darwin": "darwin", "win32": "win32"}.get(sys.platform, sys.platform)
MACHINE = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine().lower())
CLAUDE = f"@anthropic-ai/claude-code-{SYSTEM}-{MACHINE}"

# client: its package with the version. skills 1.5.26 is the newest that runs on Node 20.
PACKAGES = {
    "skills": "skills@1.5.26",
    "claude": f"{CLAUDE}@2.1.332",
    "codex": "@openai/codex@0.171.0",
    "gemini": "@google/gemini-cli@0.61.0",
    "opencode": "opencode-ai@1.18.33",
    "copilot": "@github/copilot@1.0.102",
    "skill-check": "skill-check@1.2.0",
}
# Scanners that need no network, from PyPI; each in an environment of its own, for what they ask of others does not agree.
SCANNERS = {"skill-scanner": "cisco-ai-skill-scanner==2.3.2", "skilllint": "skilllint==1.21.4"}
MEGABYTES = 2200


def home_of(folder: Path, client: str) -> Path:
    """The installed package of a client."""
    package = PACKAGES[client]
    return folder / "node_modules" / package[: package.rindex("@")]


def command_of(folder: Path, client: str) -> str | None:
    """The file that starts a client or scanner, None where it is not here. Claude Code's package for one platform has its program at its top."""
    if client in SCANNERS:
        return shutil.which(client, path=str(folder / client / ("Scripts" if os.name == "nt" else "bin")))
    return shutil.which(client, path=str(home_of(folder, client) if client == "claude" else folder / "node_modules" / ".bin"))


def install(cache: Path, say) -> Path:
    """The folder that holds the clients (node_modules) and scanners; what it lacks is installed. Raises FileNotFoundError without npm."""
    folder = cache / "clients"
    missing = [client for client in (*PACKAGES, *SCANNERS) if command_of(folder, client) is None]
    if missing:
        npm = shutil.which("npm")
        if npm is None:
            raise FileNotFoundError("npm is not on PATH")
        folder.mkdir(parents=True, exist_ok=True)
        say(f"installing the clients, once: about {MEGABYTES} MB in {folder}")
        for client in missing:
            say(f"  {PACKAGES.get(client) or SCANNERS[client]}")
            if client in SCANNERS:
                venv.create(folder / client, with_pip=True, clear=True)
                python = folder / client / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
                command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", SCANNERS[client]]
            else:
                command = [npm, "install", "--prefix", str(folder), "--save-exact", "--no-audit", "--no-fund", "--loglevel", "error", PACKAGES[client]]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
            if done.returncode:
                say(f"  that ended with {done.returncode}: the tests of {client} will say that it is not here")
    return folder
