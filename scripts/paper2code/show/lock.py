"""The lock file of a result: which paper, which version, and where each citation was found, so that anyone can check again
later, also without the paper.

It holds places, hashes and positions, never the paper's text. With the paper, `check_result.py` decides anew; without it, the
lock tells which citations are still those that were verified, which were changed, added or taken away since.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from pathlib import Path

from paper2code import cli, files
from paper2code.check import anchors as reading
from paper2code.check.outcome import Outcome
from paper2code.findings import WARNING, Finding, errors
from paper2code.paper import Paper
from paper2code.workspace import Workspace, now, version

NAME = "paper2code.lock.json"
PUBLIC = re.compile(r"https?://(?!127\.|localhost|\[::1\])")
SCHEMA = 1


def digest(text: str) -> str:
    """Of a quotation's words: a changed line break does not count, a changed digit does. Independent of how quotes are compared with
    papers, which may change from version to version."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8")).hexdigest()[:24]


def make(root: Path, paper: Paper, outcome: Outcome, given: Path) -> dict:
    work = Workspace(given) if given.is_dir() else None
    gates = files.read_json(work.gates) if work is not None and work.gates.is_file() else {}
    passed = {stage: {"passed": entry.get("passed"), "time": entry.get("time"), "counts": entry.get("counts")}
              for stage, entry in sorted(gates.get("stages", {}).items())} if isinstance(gates, dict) else {}
    return {
        "schema": SCHEMA,
        "tool": version(),
        "time": now(),
        "paper": {"id": paper.id, "version": paper.version, "title": paper.title,
                  "sources": [{"role": source.role, "name": source.name, "sha256": source.sha256,
                               # A local file's path, or a server on this machine, is nobody else's business.
                               "url": source.url if PUBLIC.match(source.url or "") else None}
                              for source in paper.sources]},
        "files": {name: files.sha256(root / name) for name in code_files(root)},
        "anchors": [{"file": entry["file"], "line": entry["line"], "place": entry["place"], "state": entry["state"],
                     "quote": digest(entry["quote"]) if entry.get("quote") else None, "found_at": entry.get("found_at"),
                     "page": entry.get("page"), "bbox": entry.get("bbox")} for entry in outcome.anchors],
        "findings": len(errors(outcome.findings)),
        "gates": passed,
    }


def code_files(root: Path) -> list[str]:
    from paper2code.check.repository import Repository

    return [name for name in Repository(root).files if name != NAME and not name.endswith(".html")]


def write(root: Path, paper: Paper, outcome: Outcome, given: Path) -> Path:
    return files.write_json(root / NAME, make(root, paper, outcome, given))


def read(root: Path) -> dict:
    """The lock of a result. Raises Stop when there is none or it is not one."""
    path = root / NAME
    if not path.is_file():
        raise cli.Stop(f"{root} has no {NAME}, and no paper was named", code=cli.USAGE,
                       expected="--paper with a workspace or the paper in any form, or a result that was locked",
                       fix="name the paper: check_result.py RESULT --paper PAPER")
    try:
        data = files.read_json(path)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("anchors"), list):
            raise ValueError(f"schema {SCHEMA} was expected")
        for entry in data["anchors"]:
            entry["file"], entry["line"], entry["place"], entry["state"], entry["quote"]  # noqa: B018  (KeyError, TypeError)
        return data
    except (ValueError, KeyError, TypeError, OSError) as problem:
        raise cli.Stop(f"{path} cannot be read: {problem}", code=cli.USAGE, expected="a lock file written by this version",
                       fix="write it again: check_result.py RESULT --paper PAPER --lock") from problem


def compare(root: Path) -> Outcome:
    """What changed since the lock was written, on the files as they are. Says how far that reaches."""
    locked = read(root)
    outcome = Outcome()
    known: dict[tuple[str, str, str | None], list[dict]] = defaultdict(list)
    for entry in locked["anchors"]:
        known[entry["file"], entry["place"], entry["quote"]].append(entry)
    counts: Counter = Counter()
    found, problems = reading.scan(root)
    outcome.add(problems, anchors=len(found))
    for anchor in found:
        if not anchor.place and not anchor.quote:
            continue
        key = (anchor.file, anchor.place, digest(anchor.quote) if anchor.quote else None)
        if known[key]:
            entry = known[key].pop()
            counts["as locked"] += 1
            outcome.anchors.append({"file": anchor.file, "line": anchor.line, "place": anchor.place, "kind": anchor.kind,
                                    "quote": anchor.quote, "state": entry["state"], "found_at": entry["found_at"], "page": entry["page"]})
            continue
        place_alone = any(rows for (file, place, _), rows in known.items() if (file, place) == key[:2])
        counts["changed or new"] += 1
        outcome.findings.append(Finding(
            "lock-changed", f"{anchor.place or 'no place'}: this {'quote' if anchor.quote else 'citation'} is not one that was verified"
            + (" (another one of this place was)" if place_alone and anchor.quote else ""), anchor.file, anchor.line,
            fix="check it against the paper: check_result.py RESULT --paper PAPER --lock"))
    for (file, place, _), rows in known.items():
        for entry in rows:
            counts["gone"] += 1
            outcome.findings.append(Finding("lock-gone", f"{place or 'a quote without a place'}, cited at line {entry['line']} when the lock was "
                                            "written, is not cited any more", file, severity=WARNING, fix="lock the result again if that was meant"))
    for name, sha256 in locked.get("files", {}).items():
        if not (root / name).is_file():
            outcome.findings.append(Finding("lock-file", "the file was there when the lock was written", name, severity=WARNING))
        elif files.sha256(root / name) != sha256:
            counts["files changed"] += 1
    for entry in locked["anchors"]:
        if entry["state"] not in ("verified", "cited"):
            outcome.findings.append(Finding("lock-state", f"{entry['place']} was {entry['state']} when the lock was written", entry["file"], entry["line"]))
    outcome.must_have_looked("anchors")
    paper = locked.get("paper", {})
    outcome.counts = dict(counts)
    outcome.notes.append(f"checked against the lock of {locked.get('time', '?')} alone, for {paper.get('id') or paper.get('title') or 'a paper'}"
                         f"{'' if paper.get('version') is None or 'v' in str(paper.get('id')) else ' v' + str(paper['version'])}: whether citations are those "
                         "that were verified. Numbers, code and new quotes need the paper: --paper")
    return outcome


def run(root: Path, **shown) -> int:
    """`check_result.py RESULT` without a paper."""
    if not root.is_dir():
        raise cli.Stop(f"{root} is no folder", code=cli.USAGE, expected="the folder of a repository")
    outcome = compare(root)
    told = ", ".join(f"{value} {name}" for name, value in outcome.counts.items())
    return outcome.show(f"{root}: {len(errors(outcome.findings))} errors against its lock file; {told}", more={"result": str(root)}, **shown)
