"""Run the tests: `python3 tests/run.py [pytest arguments]`. Brings up what they need by itself, in the private environment.

    python3 tests/run.py                    all of them
    python3 tests/run.py -k acquisition     those of one part
    python3 tests/run.py --without torch    where PyTorch (or jax) cannot be had; the tests that need it are then left out
"""

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
    environment.ensure(*extras)
    import pytest

    settings = ["--rootdir", str(HERE.parent), "-c", str(HERE.parent / "pyproject.toml")]
    return int(pytest.main([*settings, *arguments, *([] if any(Path(a).exists() for a in arguments) else [str(HERE)])]))


if __name__ == "__main__":
    sys.exit(cli.run(main))
