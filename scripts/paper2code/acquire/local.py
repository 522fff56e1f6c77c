"""A file or folder of the user's own, told by its bytes and brought into the workspace's `raw/`."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path

from paper2code import cli, files
from paper2code.acquire import forms, identifiers, unpack
from paper2code.acquire.provenance import Entry

LARGEST = 500 << 20
ENDS = {forms.PDF: "pdf", forms.HTML: "html", forms.ZIP: "zip", forms.TAR: "tar", "tar.gz": "tar.gz", "tex.gz": "tex.gz",
        forms.LATEX: "tex", forms.TEXT: "md"}
STAMP = re.compile(r"\barXiv:(\S+v\d+)\s+\[[a-z-]+(?:\.[A-Za-z-]+)?\]")
PLAIN = {".md", ".markdown", ".txt", ".rst"}


def name(path: Path) -> str:
    """A workspace's name for a local file: what it is called, and a mark of where it lies, so that two do not collide."""
    real = path.resolve()
    stem = real.name if real.is_dir() else real.name.split(".")[0]
    return f"{files.slug(stem)}_{hashlib.sha256(os.fsencode(real)).hexdigest()[:8]}"


def several(folder: Path) -> dict[str, Path]:
    """A folder that holds one paper in several forms (a PDF, an HTML page, a folder with its LaTeX), by role; empty for any other
    folder, one with LaTeX of its own above all."""
    if not folder.is_dir() or any(folder.glob("*.tex")):
        return {}
    found: dict[str, Path] = {}
    for kind, pattern in (("pdf", "*.pdf"), ("html", "*.htm*")):
        here = sorted(path for path in folder.glob(pattern) if path.is_file())
        if len(here) == 1:
            found[kind] = here[0]
    sources = [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith(".") and any(path.glob("*.tex"))]
    if len(sources) == 1:
        found["source"] = sources[0]
    return found if len(found) > 1 else {}


def role(path: Path, wanted: str = "auto") -> tuple[str, str]:
    """(role, form) of a local file or folder: role is source, html, pdf or text. Raises Stop: 2 when it is nothing to read."""
    if not path.is_dir() and not path.is_file():
        raise cli.Stop(f"{path} is neither a file nor a folder", code=cli.USAGE, expected="a file or folder",
                       fix="name the paper's file")
    if path.is_file() and path.stat().st_size > LARGEST:
        raise cli.Stop(f"{path.name} has {path.stat().st_size >> 20} MB", code=cli.UNUSABLE,
                       expected=f"a paper of at most {LARGEST >> 20} MB", fix="name the paper's own file")
    if found := several(path):
        kept = {"latex": "source"}.get(wanted, wanted)
        if wanted == "auto":
            return "several", "folder with " + ", ".join(sorted(found))
        if kept in found:
            return role(found[kept], wanted)
    form = unpack.form(path)
    if wanted == "text" and form in (forms.TEXT, forms.LATEX, forms.HTML):
        return "text", form
    if form == forms.EMPTY:
        raise cli.Stop(f"{path.name} is empty", code=cli.USAGE, expected="a PDF, LaTeX source, HTML, Markdown or text file",
                       fix="save or download the file again")
    if form == forms.LATEX and path.suffix.lower() in PLAIN:
        form = forms.TEXT  # a text that shows some TeX
    if form == forms.TEXT and path.suffix.lower() in (".tex", ".ltx", ".latex"):
        form = forms.LATEX
    told = {forms.PDF: "pdf", forms.HTML: "html", forms.TEXT: "text", forms.LATEX: "source", forms.TAR: "source",
            forms.ZIP: "source", "tar.gz": "source", "tex.gz": "source", "folder": "source"}.get(form)
    if told is None:
        with open(path, "rb") as file:
            what = forms.name_other(file.read(64)) or "none of the forms that can be read"
        raise cli.Stop(
            f"{path.name} is {what}",
            code=cli.USAGE,
            expected="a PDF, LaTeX source (folder, .tex, .tar.gz, .gz, .zip), HTML, Markdown or text file",
            fix="convert it to PDF or plain text",
        )
    if path.suffix.lower() == ".pdf" and told != "pdf":
        raise cli.Stop(f"{path.name} is called a PDF but is {'a web page' if told == 'html' else form}", code=cli.USAGE,
                       expected="a file that begins with %PDF-", fix="download the PDF again (a site may have answered with a "
                       "page instead), or rename the file if that is what you meant")
    wanted_role = {"latex": "source"}.get(wanted, wanted)
    if wanted not in ("auto", "text") and wanted_role != told or wanted == "text" and told != "text":
        raise cli.Stop(f"--source {wanted} was asked for, but {path.name} is {form}", code=cli.USAGE,
                       expected="a file of that form", fix="leave --source out")
    return told, form


def bring(path: Path, told: str, form: str, raw: Path) -> tuple[dict[str, Path], list[Entry], list[str]]:
    """Copy (and unpack) a local file into `raw`. Gives the files by role, their provenance, and warnings."""
    if form == "folder":
        done = unpack.unpack(path, raw / "source")
        entry = Entry(
            "source", "source", None, str(path.resolve()), size=done.bytes, type="folder", sha256=tree_hash(done.folder)
        )
        return {"source": done.folder}, [entry], done.left_out
    stem = "source" if told == "source" else "paper"
    copy = raw / f"{stem}.{ENDS[form] if path.suffix.lower() not in PLAIN else path.suffix.lower()[1:]}"
    raw.mkdir(parents=True, exist_ok=True)
    copy_whole(path, copy)
    entry = Entry(told, copy.name, None, str(path.resolve()), sha256=files.sha256(copy), size=copy.stat().st_size, type=form)
    if told != "source":
        return {told: copy}, [entry], []
    done = unpack.unpack(copy, raw / "source")
    return {"source": done.folder}, [entry], done.left_out


def stamp(path: Path) -> identifiers.ArxivId | None:
    """The arXiv id that is printed up the margin of a PDF's first page; None where there is none."""
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(path) as document:
            text = document[0].get_textpage().get_text_bounded()
        found = STAMP.search(text)
        return identifiers.exact(found[1]) if found else None
    except (pypdfium2.PdfiumError, IndexError, cli.Stop):  # its reader will say what is wrong with it
        return None


def copy_whole(source: Path, target: Path) -> None:
    """Copy a file by way of one beside the target, so that the target is whole or as it was."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            shutil.copyfile(source, beside)
        except OSError as problem:  # it names the file that is read, also when the other cannot be written
            raise OSError(problem.errno, problem.strerror, os.fspath(target)) from problem
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def tree_hash(folder: Path) -> str:
    """One SHA-256 for all files of a folder and their names."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(folder).as_posix()}\0{files.sha256(file)}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
