"""The private environment: what it reads, what it makes, how it fails."""

import json
import os
import subprocess
import sys
import textwrap
import time

import pytest
from conftest import ROOT
from paper2code import cli, environment

try:
    import tomllib
except ImportError:
    tomllib = None


@pytest.mark.skipif(tomllib is None, reason="tomllib came with Python 3.11")
def test_requirements_are_those_that_toml_says():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert environment.requirements() == project["dependencies"]
    for extra, wanted in project["optional-dependencies"].items():
        assert environment.requirements(extra, base=False) == wanted
    assert environment.requirements("jax", "stats") == project["dependencies"] + sum(
        (project["optional-dependencies"][extra] for extra in ("jax", "stats")), [])
    with pytest.raises(KeyError):
        environment.requirements("no-such-extra")


def test_every_requirement_is_bounded():
    for extra in ("", "notebook", "torch", "jax", "stats", "test"):
        for requirement in environment.requirements(*([extra] if extra else [])):
            _, bounds = environment.split(requirement)
            assert {"<", "=="} & {sign for sign, _ in bounds}, f"{requirement} has no upper bound"


@pytest.mark.parametrize("version, bounds, good", [
    ("1.28.2", ">=1.27,<2", True), ("2.0", ">=1.27,<2", False), ("1.3", ">=1.27,<2", False), ("0.11.10", ">=0.11,<0.12", True),
    ("2.13.0+cpu", "==2.13.0", True), ("2.4.1", "==2.13.0", True), ("1.13", "==2.13.0", False), ("0.12.0", "<0.12", False),
])
def test_bounds(version, bounds, good):
    assert environment.fits(version, environment.split(f"name{bounds}")[1]) is good


def test_key_changes_with_what_is_wanted():
    assert environment.key(["a<2", "b<3"]) == environment.key(["b<3", "a<2"])
    assert environment.key(["a<2"]) != environment.key(["a<3"])


def test_lacking_tells_what_an_interpreter_misses():
    assert environment.lacking(["pytest>=8,<10"], sys.executable) == []
    assert environment.lacking(["pytest<2", "no-such-thing<1"], sys.executable)[1] == "no-such-thing (not installed)"
    assert environment.lacking(["pytest<99"], "/no/such/python") == ["pytest<99"]


@pytest.fixture
def bare(tmp_path):
    """Start the tool's first lines with a bare Python: `bare(body, **environment)` → (exit code, stdout, stderr)."""
    def start(body="print(sys.prefix)", **changes):
        script = tmp_path / "start.py"
        script.write_text(textwrap.dedent(f"""
            import sys
            sys.path.insert(0, {str(ROOT / 'scripts')!r})
            sys.dont_write_bytecode = sys.pycache_prefix is None
            from paper2code import cli, environment
            environment.requirements = lambda *extras, base=True: []
            {changes.pop('patch', '')}
            def main():
                environment.ensure()
                {body}
            sys.exit(cli.run(main))
        """), encoding="utf-8")
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PAPER2CODE")}
        environ.update({"PAPER2CODE_CACHE": str(tmp_path / "cache"), **changes})
        python = getattr(sys, "_base_executable", sys.executable)
        return subprocess.Popen([python, str(script)], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return start


def end(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_two_starts_at_once_make_one_environment(bare, tmp_path):
    first, second = bare(), bare()
    (code1, out1, err1), (code2, out2, err2) = end(first), end(second)
    assert (code1, code2) == (0, 0), err1 + err2
    assert out1 == out2 and str(tmp_path / "cache") in out1
    assert (err1 + err2).count("making paper2code's private environment") == 1
    homes = list((tmp_path / "cache" / "environments").iterdir())
    assert len([home for home in homes if home.is_dir()]) == 1
    code, out, err = end(bare())
    assert code == 0 and out == out1 and not err


def test_a_build_that_was_killed_leaves_nothing_that_is_taken_for_whole(bare, tmp_path):
    process = bare(patch="environment.lacking = lambda *a: __import__('time').sleep(60)")
    deadline = time.monotonic() + 60
    homes = tmp_path / "cache" / "environments"
    while not list(homes.glob("*.part-*/pyvenv.cfg")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.communicate()
    assert not list(homes.glob("*/paper2code.json"))
    code, out, err = end(bare())
    assert code == 0 and "private environment" in err
    assert not list(homes.glob("*.part-*"))


@pytest.mark.parametrize("patch, told", [
    ("environment.has_venv = lambda: False; import shutil; shutil.which = lambda name: None", "venv"),
    ("import shutil; shutil.disk_usage = lambda path: type('U', (), {'free': 5 << 20})", "5 MB are free"),
    ("environment.requirements = lambda *e, base=True: ['paper2code-no-such-package<1']", "private environment cannot be made"),
])
def test_what_stands_in_the_way_is_said_once_and_ends_with_5(bare, tmp_path, patch, told):
    code, out, err = end(bare(patch=patch, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0", PIP_CONFIG_FILE=os.devnull,
                              PATH="/usr/bin:/bin"))
    assert code == cli.ENVIRONMENT
    assert told in err and err.count("error:") == 1 and "Traceback" not in err
    assert "try:" in err
    assert not list((tmp_path / "cache" / "environments").glob("*/paper2code.json"))


def test_no_network_is_told_as_such(bare):
    patch = "environment.requirements = lambda *e, base=True: ['requests>=2,<3']"
    code, _, err = end(bare(patch=patch, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0", PIP_CONFIG_FILE=os.devnull,
                            PIP_NO_CACHE_DIR="1", PATH="/usr/bin:/bin"))
    assert code == cli.ENVIRONMENT and "cannot be reached" in err


def test_cache_that_cannot_be_written(bare, tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    code, _, err = end(bare(PAPER2CODE_CACHE=str(tmp_path / "file")))
    assert code == cli.ENVIRONMENT and "PAPER2CODE_CACHE" in err and "Traceback" not in err


def test_own_interpreter(bare, tmp_path):
    code, out, err = end(bare("print(sys.executable)", PAPER2CODE_PYTHON=sys.executable))
    assert (code, err) == (0, "") and out.strip() == sys.executable
    assert not (tmp_path / "cache" / "environments").exists()
    code, _, err = end(bare(PAPER2CODE_PYTHON="/no/such/python"))
    assert code == cli.ENVIRONMENT and "no interpreter at" in err
    patch = "environment.requirements = lambda *e, base=True: ['no-such-thing>=1,<2']"
    code, _, err = end(bare(patch=patch, PAPER2CODE_PYTHON=sys.executable))
    assert code == cli.ENVIRONMENT and "lacks no-such-thing" in err


def test_nothing_of_the_users_gets_in(bare, tmp_path):
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "json.py").write_text("raise SystemExit('shadowed')", encoding="utf-8")
    ask = "import json; print(json.dumps([json.__file__, sys.flags.ignore_environment]))"
    process = bare(ask, PYTHONPATH=str(tmp_path / "evil"))
    code, out, _ = end(process)
    # The bare first start sees PYTHONPATH, as any Python does; it must not reach the private environment.
    if code == 0:
        assert json.loads(out)[1] == 1
