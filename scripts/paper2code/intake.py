"""Stage 1 from end to end: a paper's name in, a workspace out. It stands above the layers and calls them in turn."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import filelock
from paper2code import cli, files
from paper2code.acquire import local, provenance, unpack
from paper2code.acquire.addresses import Addresses
from paper2code.acquire.arxiv import Arxiv, Got, Metadata
from paper2code.acquire.cache import Cache
from paper2code.acquire.client import Client
from paper2code.acquire.identifiers import ArxivId, refuse
from paper2code.acquire.provenance import Entry
from paper2code.check import stage1
from paper2code.find import code, evidence, hidden
from paper2code.paper import Paper
from paper2code.read import open as reading
from paper2code.show import views
from paper2code.workspace import Job, Workspace

ROLES = {"auto": ("source", "html", "pdf"), "latex": ("source",), "html": ("html",), "pdf": ("pdf",)}
NAMES = {"source": "LaTeX source", "latex": "LaTeX source", "html": "HTML", "pdf": "PDF", "text": "text"}
ABSTRACT = 30  # words: a shorter abstract than this was not found whole


@dataclass
class Request:
    """What fetch_paper.py was asked for; None for mode, framework and without keeps what the workspace remembers."""

    paper: ArxivId | Path
    asked: str
    mode: str | None = None
    framework: str | None = None
    source: str = "auto"
    offline: bool = False
    no_cache: bool = False
    without: list[str] | None = None
    bar: bool = True


@dataclass
class Result:
    workspace: Workspace
    paper: Paper
    metadata: Metadata
    used: list[str]
    missing: dict[str, str]


def run(request: Request, work: Path | None = None, say: Callable[[str], None] = cli.say) -> Result:
    """Fetch (or copy), read, find and write everything of stage 1. Raises Stop; what was whole before stays whole."""
    name = request.paper.folder if isinstance(request.paper, ArxivId) else local.name(request.paper)
    workspace = Workspace(work) if work else Workspace.named(name)
    told = None if isinstance(request.paper, ArxivId) else local.role(request.paper, request.source)
    if told is None and request.source == "text":
        raise refuse(request.asked, "is on arXiv, which has no plain text of it; --source text is for a local file")
    with taken(workspace, say):
        job = start(workspace, request)
        clean(workspace)
        if told is None:
            got, found = from_arxiv(request, workspace, say)
            metadata, missing, warnings = got.metadata, got.missing, got.warnings
            job.paper = str(got.paper)
        else:
            found, missing, warnings = from_disk(request.paper, told, workspace, say)
            stamped = local.stamp(request.paper) if told[0] == "pdf" else None
            metadata = Metadata(id=stamped.id, version=stamped.version) if stamped else Metadata()
        workspace.save_job(job)
        paper, unread = reading.read_all(found, say)
        missing |= unread
        complete(paper, metadata, workspace, warnings)
        write(paper, metadata, workspace, say)
    return Result(workspace, paper, metadata, [role for role in reading.ORDER if role in found and role not in unread], missing)


def structure(request: Request, work: Path, say: Callable[[str], None] = cli.say) -> Result:
    """What `run` does for a local file; from a `paper.json` the views alone. A text that is itself a view of the workspace
    is never read back: the document it was made from is."""
    workspace = Workspace(work)
    given = request.paper.resolve()
    if given == workspace.text.resolve() and workspace.paper_file.is_file():
        say(f"{given.name} was made from {workspace.paper_file.name}, which is taken instead")
        given = workspace.paper_file.resolve()
    if given.suffix != ".json":
        return run(request, work, say)
    paper = reading.open_paper(given)
    with taken(workspace, say):
        if given != workspace.paper_file.resolve() or not workspace.job_file.is_file():
            start(workspace, dataclasses.replace(request, paper=given))
            provenance.write(workspace.provenance, [Entry("paper", given.name, path=str(given))], {})
        clean(workspace)
        metadata = Metadata.from_data(files.read_json(workspace.metadata)) if workspace.metadata.is_file() else Metadata()
        join(paper, metadata)
        write(paper, metadata, workspace, say)
    return Result(workspace, paper, metadata, list(dict.fromkeys(part.role for part in paper.sources if part.role != "metadata")), {})


def write(paper: Paper, metadata: Metadata, workspace: Workspace, say: Callable[[str], None]) -> None:
    """Find what the evidence is, and write everything that is made from the paper."""
    say("looking for what the paper says and leaves open; writing the views")
    hidden.set_aside(paper)
    views.write(paper, workspace)
    evidence.write_evidence(paper, workspace)
    metadata.official_code = code.rank(paper, metadata.data())
    files.write_json(workspace.metadata, metadata.data())


# --- the workspace ------------------------------------------------------------------------------------------------------


def taken(workspace: Workspace, say: Callable[[str], None]) -> filelock.BaseFileLock:
    """The workspace's lock, acquired: two fetches into one folder go one after the other."""
    folder = workspace.folder
    if folder.exists() and not folder.is_dir():
        raise cli.Stop(
            f"{folder} is a file", code=cli.USAGE, expected="a folder, or a name that is free", fix="name another folder"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(folder / ".lock")
        return lock.acquire(timeout=0)
    except TimeoutError:
        say(f"another paper2code is writing {folder}; waiting for it")
    except OSError as problem:
        raise cli.Stop(f"the workspace {folder} cannot be written: {problem.strerror or problem}", code=cli.ENVIRONMENT,
                       expected="a folder that can be made and written to", fix="name another folder") from problem
    try:
        return lock.acquire(timeout=600)
    except TimeoutError as problem:
        raise cli.Stop(f"another paper2code has been writing {folder} for ten minutes", code=cli.ENVIRONMENT,
                       fix="end it, or name another folder") from problem


def start(workspace: Workspace, request: Request) -> Job:
    """The job as it is now, remembered at once. Raises Stop when the folder holds something else that would be lost."""
    before = None
    if workspace.job_file.is_file():
        before = workspace.job()
    elif others := [path.name for path in workspace.folder.iterdir() if not path.name.startswith(".")]:
        raise cli.Stop(f"{workspace.folder} is not empty ({', '.join(sorted(others)[:3])}) and not a workspace", code=cli.USAGE,
                       expected="a new folder, or one that fetch_paper.py made", fix="name another folder")
    wanted = str(request.paper) if isinstance(request.paper, ArxivId) else request.paper.resolve().name
    if before:
        same = (
            unversioned(before.paper) == unversioned(wanted) if isinstance(request.paper, ArxivId) else before.paper == wanted
        )
        held = [path for path in (workspace.paper_file, workspace.contribution, workspace.ledger) if path.exists()]
        if not same and not held:  # that paper never came: nothing of it is worth keeping
            shutil.rmtree(workspace.raw, ignore_errors=True)
            before = None
        elif not same:
            raise cli.Stop(f"{workspace.folder} is the workspace of another paper ({before.paper})", code=cli.USAGE,
                           expected="a new folder, or this paper's own", fix="name another folder")
        begun = [path.name for path in (workspace.contribution, workspace.ledger) if path.exists()]
        if before and begun and isinstance(request.paper, ArxivId) and request.paper.version and before.paper != wanted:
            raise cli.Stop(
                f"{workspace.folder} holds work ({', '.join(begun)}) on {before.paper}, not on {wanted}",
                code=cli.USAGE,
                expected="a new folder for another version",
                fix=f"name another folder, or ask for {before.paper}",
            )
    job = Job(paper=before.paper if before else wanted, asked=request.asked,
              mode=request.mode or (before.mode if before else "minimal"),
              framework=request.framework or (before.framework if before else "pytorch"),
              started=before.started if before else "",
              without=sorted(set(request.without)) if request.without is not None else before.without if before else [])
    workspace.save_job(job)
    return job


def unversioned(paper: str) -> str:
    """An arXiv id without its version. `solv-int/9901001v2` has another v in it."""
    return re.sub(r"v\d+\Z", "", paper)


def clean(workspace: Workspace) -> None:
    """Remove what a run that was killed left half written."""
    for folder in (workspace.folder, workspace.raw):
        for left in folder.glob(".*.part") if folder.is_dir() else ():
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)


# --- the files ----------------------------------------------------------------------------------------------------------


def from_arxiv(request: Request, workspace: Workspace, say: Callable[[str], None]) -> tuple[Got, dict[str, Path]]:
    with tempfile.TemporaryDirectory(prefix="paper2code-") as folder:
        cache = Cache(Path(folder)) if request.no_cache else Cache()
        client = None if request.offline else Client(Cache(), Addresses.given(), say=say, bar=request.bar)
        got = Arxiv(cache, client, say).bring(request.paper, ROLES[request.source])
        held = workspace.job().paper
        begun = workspace.contribution.exists() or workspace.ledger.exists()
        if begun and "v" in held and held != str(got.paper):
            raise cli.Stop(f"{workspace.folder} holds work on {held}, and arXiv now has {got.paper}", code=cli.USAGE,
                           expected="the version that the work is about", fix=f"ask for {held}, or name another folder")
        return got, lay(got, workspace)


def lay(got: Got, workspace: Workspace) -> dict[str, Path]:
    """Copy what was brought into `raw/`, unpack the source, write the provenance. Gives the files to read by role."""
    ends = {"tar.gz": "source.tar.gz", "tar": "source.tar", "tex.gz": "source.tex.gz", "latex": "source.tex", "zip": "source.zip"}
    found: dict[str, Path] = {}
    entries: list[Entry] = []
    for role, (record, body) in got.files.items():
        form = unpack.form(body)
        name = {"source": ends.get(form, "source"), "html": "paper.html", "pdf": "paper.pdf", "api": "api.xml", "abs": "abs.html",
                "hf": "huggingface.json"}[role]
        local.copy_whole(body, workspace.raw / name)
        entries.append(Entry(role, name, record.url, None, record.time, record.sha256, record.size, form))
        if role == "source":
            try:
                done = unpack.unpack(workspace.raw / name, workspace.raw / "source")
            except cli.Stop as stop:
                if stop.code != cli.UNUSABLE:
                    raise
                got.missing["source"] = stop.message
                continue
            got.warnings += [f"source: {line}" for line in done.left_out]
            found[role] = done.folder
        elif role in NAMES:
            found[role] = workspace.raw / name
    tidy(workspace, entries)
    provenance.write(workspace.provenance, entries, got.missing)
    return found


def from_disk(path: Path, told: tuple[str, str], workspace: Workspace,
              say: Callable[[str], None]) -> tuple[dict[str, Path], dict[str, str], list[str]]:
    role, form = told
    forms = local.several(path)
    if role == "several":
        say(f"{path.name}: {form}")
        found, entries, warnings = {}, [], []
        for part in forms.values():
            brought = local.bring(part, *local.role(part), workspace.raw)
            found |= brought[0]
            entries += brought[1]
            warnings += brought[2]
    else:
        part = forms.get(role, path)
        say(f"{part.name}: {form}, read as {NAMES[role]}")
        found, entries, warnings = local.bring(part, role, form, workspace.raw)
    if workspace.provenance.is_file():  # the same bytes as before: the time they were first had
        known = {entry.get("sha256"): entry.get("time") for entry in files.read_json(workspace.provenance).get("files", ())}
        entries = [dataclasses.replace(entry, time=known.get(entry.sha256) or entry.time) for entry in entries]
    tidy(workspace, entries)
    provenance.write(workspace.provenance, entries, {})
    return found, {}, warnings


def tidy(workspace: Workspace, entries: list[Entry]) -> None:
    """Remove from `raw/` what is of an earlier run with other sources, so that nothing there is without provenance."""
    named = {entry.name for entry in entries} | {workspace.provenance.name}
    if any(entry.role == "source" for entry in entries):
        named.add("source")
    for path in workspace.raw.iterdir():
        if path.name not in named:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


# --- what is known of the paper -----------------------------------------------------------------------------------------


def complete(paper: Paper, metadata: Metadata, workspace: Workspace, warnings: list[str]) -> None:
    """Join what arXiv says of the paper and what it says of itself; its sources and the warnings go into it."""
    join(paper, metadata)
    told = files.read_json(workspace.provenance)["files"]
    paper.sources = [Entry(**entry).source_file() for entry in told]
    for line in warnings:
        paper.warn("acquisition", line)


def join(paper: Paper, metadata: Metadata) -> None:
    """Each fills what the other lacks; of title and authors arXiv's are the cleaner, of the abstract the paper's own is quoted."""
    if metadata.id:
        paper.id, paper.version = metadata.id, metadata.version
        paper.title, paper.authors = metadata.title or paper.title, metadata.authors or paper.authors
        if len(paper.abstract.split()) < ABSTRACT <= len(metadata.abstract.split()):
            paper.abstract = metadata.abstract
    metadata.title, metadata.authors = metadata.title or paper.title, metadata.authors or paper.authors
    metadata.abstract = metadata.abstract or paper.abstract
    metadata.id, metadata.version = metadata.id or paper.id, metadata.version or paper.version


# --- what to say at the end ---------------------------------------------------------------------------------------------


def summary(result: Result, *, script: str) -> tuple[str, dict]:
    """The closing note, as text and as data: what was found from which source, what is missing, what to do next."""
    paper, workspace, metadata = result.paper, result.workspace, result.metadata
    findings, counts = stage1.check(workspace)
    by_source: dict[str, dict[str, int]] = {}
    for name in ("sections", "equations", "algorithms", "tables", "figures", "footnotes"):
        for item in getattr(paper, name):
            told = by_source.setdefault(name, {})
            told[item.source or "unknown"] = told.get(item.source or "unknown", 0) + 1
    lines = [f"{paper.title or '(no title found)'} ({workspace.job().paper})", f"workspace: {workspace.folder}",
             f"read from: {', '.join(NAMES.get(role, role) for role in result.used)}"]
    lines += [f"not there: {NAMES.get(role, role)}: {why}" for role, why in result.missing.items() if role in NAMES]
    lines.append(f"found: {reading.summary(paper)}, {paper.pages or 'an unknown number of'} pages")
    for name, told in by_source.items():
        lines.append(f"  {name} from {', '.join(f'{source} {count}' for source, count in told.items())}")
    if metadata.official_code:
        best = metadata.official_code[0]
        lines.append(f"code: {len(metadata.official_code)} links, first {best.get('url')} (confidence {best.get('confidence')})")
    else:
        lines.append("code: no link found")
    if paper.id and not metadata.url:
        lines.append(f"this file is arXiv's {paper.id}: fetch_paper.py {paper.id} gets its LaTeX and HTML too, which have the formulas")
    if paper.warnings:
        lines.append(f"warnings: {len(paper.warnings)}, listed in outline.md")
    failing = [finding for finding in findings if finding.severity == "error"]
    if failing:
        lines.append(f"gate 1 would fail on {len(failing)}:")
        lines += [f"  {finding.text()}" for finding in failing[:12]]
    else:
        lines.append("gate 1 would pass")
    lines.append(f"next: read {workspace.outline}, then: {script} 1 {workspace.folder}")
    data = {
        "ok": not failing,
        "paper": workspace.job().paper,
        "title": paper.title,
        "workspace": os.fspath(workspace.folder),
        "read_from": result.used,
        "missing": result.missing,
        "counts": counts,
        "by_source": by_source,
        "official_code": metadata.official_code,
        "warnings": [dataclasses.asdict(warning) for warning in paper.warnings[:200]],
        "findings": [finding.data() for finding in findings],
    }
    return "\n".join(lines), data
