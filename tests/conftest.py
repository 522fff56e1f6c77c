"""What all tests share."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
# Scripts that the tests start run in the interpreter the tests run in.
os.environ.setdefault("PAPER2CODE_PYTHON", sys.executable)


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
