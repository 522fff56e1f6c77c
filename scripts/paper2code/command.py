"""`paper2code NAME ARGUMENTS`: the scripts under one command, for those who installed the package."""

from __future__ import annotations

import ast
import runpy
import sys

from paper2code import cli, environment

HIDDEN = {"stop_hook"}


def names() -> dict[str, str]:
    """Each script's name and the first line of what it says of itself."""
    out = {}
    for path in sorted((environment.SKILL / "scripts").glob("*.py")):
        if path.stem not in HIDDEN:
            out[path.stem] = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").splitlines()[0]
    return out


def main() -> int:
    known = names()
    wanted = sys.argv[1].replace("-", "_").removesuffix(".py") if len(sys.argv) > 1 else ""
    if wanted in ("version", "__version"):
        from paper2code.workspace import version

        print(version())
        return cli.DONE
    if wanted not in known:
        width = max(map(len, known), default=0)
        told = "\n".join(f"  {name:<{width}}  {what}" for name, what in known.items())
        text = f"usage: paper2code NAME [ARGUMENTS]\n\n{told}\n\nEach answers --help. The folder for agents: {environment.SKILL}"
        asked = wanted in ("", "h", "help", "__help", "_h")
        print(text, file=sys.stdout if asked else sys.stderr)
        return cli.DONE if asked else cli.USAGE
    script = environment.SKILL / "scripts" / f"{wanted}.py"
    sys.argv = [str(script), *sys.argv[2:]]
    runpy.run_path(str(script), run_name="__main__")
    return cli.DONE


if __name__ == "__main__":
    sys.exit(main())
