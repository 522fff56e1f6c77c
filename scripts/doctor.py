#!/usr/bin/env python3
"""What works here: Python, environment, cache, disk, agents, and which hosts answer; what to do about the rest."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli  # noqa: E402

EXAMPLES = """
  doctor.py
  doctor.py --offline        (asks no host)
  doctor.py --json
"""


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser(
        "What works on this machine: Python, the private environment, cache and disk, agents and whether they find the skill, "
        "and which hosts answer (the one part that uses the network). Changes nothing.",
        examples=EXAMPLES, codes=(cli.DONE, cli.FINDINGS, cli.USAGE))
    parser.add_argument("--offline", action="store_true", help="ask no host")
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    parser.add_argument("--out", metavar="FILE", help="write the result to FILE instead of stdout")
    args = parser.parse_args(argv)

    from paper2code import diagnosis

    facts = diagnosis.look(offline=args.offline)
    broken = [fact for fact in facts if fact.state == diagnosis.BROKEN]
    note = f"{len(broken)} things are broken" if broken else "nothing is broken"
    cli.show("\n".join([*(fact.text() for fact in facts), note]), as_json=args.json, out=args.out,
             data={"ok": not broken, "facts": [fact.data() for fact in facts]})
    return cli.FINDINGS if broken else cli.DONE


if __name__ == "__main__":
    sys.exit(cli.run(main))
