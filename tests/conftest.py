"""What all tests share."""

import importlib.util
import os
import runpy
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
# Scripts that the tests start run in the interpreter the tests run in.
os.environ.setdefault("PAPER2CODE_PYTHON", sys.executable)
# The tests with real agents are heavy and need npm: `run.py --clients`.
collect_ignore = [] if os.environ.get("PAPER2CODE_CLIENTS") else ["clients"]


def run_lines(lines: str, **given) -> dict:
    """The names that lines of Python leave behind, begun with those `given`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines.py"
        file.write_text(lines, encoding="utf-8")
        return runpy.run_path(str(file), init_globals=given)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """No test reads or fills the user's cache, and none waits between requests."""
    monkeypatch.setenv("PAPER2CODE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("PAPER2CODE_DELAY", os.environ.get("PAPER2CODE_DELAY", "0"))


def pytest_collection_modifyitems(items):
    for item in items:
        for package in ("torch", "jax"):
            if item.get_closest_marker(package) and importlib.util.find_spec(package) is None:
                item.add_marker(pytest.mark.skip(reason=f"{package} is not here"))


def pytest_terminal_summary(terminalreporter):
    """The table of the tests with real agents: client, what was shown, how it ended."""
    rows = []
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, ()):
            told = dict(report.user_properties)
            if "client" in told and (report.when == "call" or outcome != "passed"):
                why = report.longrepr[2].removeprefix("Skipped: ") if outcome == "skipped" and isinstance(report.longrepr, tuple) else ""
                rows.append((str(told["client"]), told["shows"], outcome + (f": {why}" if why else "")))
    if rows:
        terminalreporter.section("clients")
        width = max(len(row[0]) for row in rows)
        for row in sorted(rows):
            terminalreporter.write_line(f"{row[0]:<{width}}  {row[2]:<7}  {row[1]}")
