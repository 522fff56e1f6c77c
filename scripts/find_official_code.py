#!/usr/bin/env python3
"""Find the authors' own code among a paper's links, and bring a repository at a fixed commit for reading."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  find_official_code.py WORK                                          links, ranked, with the reasons
  find_official_code.py WORK --bring https://github.com/OWNER/NAME    its default branch, at the commit it has now
  find_official_code.py WORK --bring https://github.com/OWNER/NAME --commit v1.0
  find_official_code.py WORK --bring https://github.com/OWNER/NAME --from ~/clones/NAME   a clone or an archive, no network
"""


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser(
        "Rank the links of a paper by how sure it is that they are the authors' own code (no network), or bring one repository as an "
        "archive at a resolved commit into official_code/ (never run, never installed).",
        examples=EXAMPLES, codes=(cli.DONE, cli.USAGE, cli.UNREACHABLE, cli.UNUSABLE, cli.ENVIRONMENT))
    parser.add_argument("work", metavar="WORK", help="the workspace that fetch_paper.py wrote")
    parser.add_argument("--bring", metavar="URL", help="bring this repository for reading")
    parser.add_argument("--from", dest="copy", metavar="PATH", help="with --bring: take a clone or an archive of it on this machine")
    parser.add_argument("--commit", metavar="C", help="with --bring: a commit, branch or tag (default: the default branch)")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.add_argument("--out", metavar="FILE", help="write the result to FILE instead of stdout")
    args = parser.parse_args(argv)
    if args.commit and not args.bring:
        parser.error("--commit goes with --bring")
    if args.copy and not args.bring:
        parser.error("--from goes with --bring, which says whose code it is")
    environment.ensure()

    from paper2code import files
    from paper2code.workspace import Workspace

    workspace = Workspace(args.work)
    if args.bring:
        from dataclasses import asdict

        from paper2code.find import bring

        workspace.must_exist(workspace.paper_file)
        done = bring.bring(args.bring, workspace, commit=args.commit, copy=Path(args.copy) if args.copy else None)
        cli.show(bring.told(done), data=asdict(done), as_json=args.json, out=args.out)
        return cli.DONE

    from paper2code.find import code

    paper = workspace.paper()
    metadata = files.read_json(workspace.metadata) if workspace.metadata.is_file() else {}
    found = code.rank(paper, metadata)
    if metadata:
        files.write_json(workspace.metadata, {**metadata, "official_code": found})
    cli.show(listing(found, args.work), data={"official_code": found}, as_json=args.json, out=args.out)
    return cli.DONE


def listing(found: list[dict], work: str) -> str:
    from paper2code.find import code

    best = code.official(found)
    if not found:
        return "no link that may hold code: not in the text, footnotes, annotations, abstract, comments or public record"
    lines = ["official: " + (f"{best['url']} (confidence {best['confidence']:.2f})" if best else
                             "none of the links is sure enough (0.5) to be the authors' own; look at them before using one"), ""]
    for entry in found[:12]:
        where = entry["source"] + (f", p. {entry['page']}" if entry.get("page") else "")
        lines.append(f"{entry['confidence']:.2f}  {entry['url']}   [{where}]")
        lines += [f"        {reason}" for reason in entry["reasons"][:6]]
        if entry["context"]:
            lines.append(f"        in: “{' '.join(entry['context'].split())[:200]}”")
    if len(found) > 12:
        lines.append(f"… and {len(found) - 12} more with --json")
    if best and best["kind"] == code.REPOSITORY:
        lines += ["", f"to read it: find_official_code.py {work} --bring {best['url']}"]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(cli.run(main))
