"""Run the tests: `python3 tests/run.py [pytest arguments]`. Brings up what they need by itself, in the private environment.

    python3 tests/run.py                    all of them
    python3 tests/run.py -k acquisition     those of one part
    python3 tests/run.py --clients          the tests with real agents alone; npm installs those into the cache, or PAPER2CODE_CLIENTS names
                                            a folder whose node_modules has them
    python3 tests/run.py --without torch    where PyTorch (or jax) cannot be had; the tests that need it are then left out
"""

import os
import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts"))

from paper2code import cli, environment  # noqa: E402


def main() -> int:
    arguments = sys.argv[1:]
    extras = ["test", "notebook", "torch", "jax"]
    while "--without" in arguments:
        at = arguments.index("--without")
        extras.remove(arguments[at + 1])
        del arguments[at:at + 2]
    tests = HERE
    if "--clients" in arguments:
        extras, tests = ["test", "clients"], HERE / "clients"
    environment.ensure(*extras)
    if "--clients" in arguments:
        arguments.remove("--clients")
        os.environ["PAPER2CODE_CLIENTS"] = str(clients())
    import pytest

    settings = ["--rootdir", str(HERE.parent), "-c", str(HERE.parent / "pyproject.toml")]
    return int(pytest.main([*settings, *arguments, *([] if any(Path(a).exists() for a in arguments) else [str(tests)])]))


def clients() -> Path:
    """The folder that holds the agents and scanners. At least one must be there: a run that skips every test shows nothing."""
    sys.path.insert(0, str(HERE / "clients"))
    import packages

    fix = "install Node.js 20 or newer, or name a folder whose node_modules has them in PAPER2CODE_CLIENTS"
    named = os.environ.get("PAPER2CODE_CLIENTS")
    try:
        folder = Path(named) if named else packages.install(environment.cache(), cli.say)
    except FileNotFoundError as problem:
        raise cli.Stop(str(problem), code=cli.ENVIRONMENT, expected="npm, to install the agents with", fix=fix) from problem
    if not any(packages.command_of(folder, client) for client in packages.PACKAGES):
        raise cli.Stop(f"none of {', '.join(packages.PACKAGES)} is in {folder / 'node_modules'}", code=cli.ENVIRONMENT, fix=fix)
    return folder


if __name__ == "__main__":
    sys.exit(cli.run(main))
