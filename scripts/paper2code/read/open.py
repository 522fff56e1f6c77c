"""Files of any form in, one Paper out: each file to its reader, what they read reconciled, garbled text told."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from paper2code import cli
from paper2code.acquire import local, unpack
from paper2code.acquire.provenance import SOURCE_OF
from paper2code.paper import Paper, Section
from paper2code.read import garbled, reconcile

FEWEST_WORDS = 80  # a text with less is no paper
SCANNED = 20  # words a page: a PDF with less is pictures of pages
ORDER = ("source", "html", "pdf", "text")  # of trust
RUNNING = ("paragraph", "list", "theorem")


def reader(role: str, *, alone: bool = True) -> Callable[[Path], Paper]:
    """The reader of a role; imported only when it is needed, since each brings its own libraries.

    `alone`: no better source gave the words, so a PDF is read with all that can be done for it, not for its places alone.
    """
    if role == "source":
        from paper2code.read import latex

        return latex.read
    if role == "html":
        from paper2code.read import html

        return lambda path: html.read(path.read_bytes())
    if role == "pdf":
        from paper2code.read import pdf

        return lambda path: pdf.read(path, light=not alone)
    from paper2code.read import text

    return lambda path: text.read(decode(path.read_bytes()))


def decode(data: bytes) -> str:
    """Text in whatever encoding it was saved: by its byte order mark, as UTF-8, else as Windows-1252."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def words(paper: Paper) -> int:
    """About how many words a paper has; scripts that put no spaces between words are counted by their characters."""
    return sum(max(len(passage.text.split()), len(passage.text) // 12) for passage in paper.passages())


def read_all(found: dict[str, Path], say: Callable[[str], None] = cli.say) -> tuple[Paper, dict[str, str]]:
    """Read every file (by role: source, html, pdf, text) and reconcile. Gives the paper, and for each role that could not
    be read, or is garbled and was left aside, the reason. Raises Stop (exit 4) when none could be read."""
    good: dict[str, Paper] = {}
    poor: dict[str, tuple[float, Paper]] = {}  # garbled readings, and how much
    failed: dict[str, cli.Stop] = {}  # by role
    for role in ORDER:
        if role not in found:
            continue
        source = SOURCE_OF[role]
        try:
            paper = reader(role, alone=not good)(found[role])
            enough(paper, role, found[role])
        except cli.Stop as stop:
            failed[role] = stop
        except (MemoryError, RecursionError, Exception) as problem:  # noqa: BLE001  one reader's fault is not the run's
            failed[role] = cli.Stop(f"the {source} reader failed on it ({type(problem).__name__}: {str(problem)[:200]})",
                                    code=cli.UNUSABLE, expected="a file that can be read", fix="give the paper in another form")
        else:
            say(f"reading {source}: {summary(paper)}")
            judged = garbled.measure(prose(paper))
            if judged.bad:
                poor[role] = judged.score, paper
                failed[role] = cli.Stop(f"its text is garbled: {judged.why}", code=cli.UNUSABLE, expected="readable text",
                                        fix="give the paper in another form")
            else:
                good[source] = paper
        if role in failed:
            say(f"reading {source}: {failed[role].message}")
    if not good and not poor:
        raise none_readable(failed)
    if not good:  # better garbled words, told as such, than none
        role = min(poor, key=lambda role: poor[role][0])
        paper = poor[role][1]
        retell(paper)
        paper.warn("garbled", f"{SOURCE_OF[role]}: {failed.pop(role).message}, and there is no other source")
    else:
        paper = reconcile.reconcile(good)
        retell(paper)
    for role, stop in failed.items():
        paper.warn("source-unreadable", f"{SOURCE_OF[role]}: {stop.message}")
    return paper, {role: stop.message for role, stop in failed.items()}


# --- garbled text -------------------------------------------------------------------------------------------------------


def prose(paper: Paper) -> str:
    """The running text of a paper."""
    return "\n".join([words_alone(paper.abstract), *(text_of(section) for section in paper.sections)])


def text_of(section: Section) -> str:
    return "\n".join(words_alone(block.text) for block in section.blocks if block.kind in RUNNING)


def words_alone(text: str) -> str:
    """A text without its formulas, of which letters and common words mean nothing."""
    return re.sub(r"\$[^$]*\$", " ", text)


def retell(paper: Paper) -> None:
    """Tell the garbled places of the paper that came out: what another source replaced or mended is garbled no longer.

    `measures["garbled"]` is the share of the running text that stands in garbled sections.
    """
    printed = {f"page {block.page}" for section in paper.sections for block in section.blocks if block.source == "pdf"}
    paper.warnings = [warning for warning in paper.warnings if warning.kind != "garbled" or warning.where in printed]
    total = bad = 0
    for section in paper.sections:
        text = text_of(section)
        judged = garbled.measure(text)
        total += len(text)
        if judged.bad:
            bad += len(text)
            paper.warn("garbled", f"section {section.number or section.title!r} is garbled: {judged.why}", section.id)
    paper.measures["garbled"] = round(bad / total, 3) if total else 0.0


def enough(paper: Paper, role: str, path: Path) -> None:
    """Raise Stop when what was read is too little to be a paper."""
    count = words(paper)
    if role == "pdf" and paper.pages and count < SCANNED * paper.pages:
        raise cli.Stop(f"{path.name} has {count} words on {paper.pages} pages: it is scanned, its pages are pictures",
                       code=cli.UNUSABLE, expected="a PDF with a text layer",
                       fix="run OCR over it (for example ocrmypdf), or give the LaTeX source, the HTML, or the text")
    if count < FEWEST_WORDS:
        why = f" ({paper.warnings[0].message})" if paper.warnings else ""
        raise cli.Stop(f"{path.name} holds {count} words, which is no paper{why}", code=cli.UNUSABLE,
                       expected=f"a paper's text, at least {FEWEST_WORDS} words", fix="check that it is the right file, and whole")


def none_readable(failed: dict[str, cli.Stop]) -> cli.Stop:
    if len(failed) == 1:
        return next(iter(failed.values()))
    told = "; ".join(f"{source}: {stop.message}" for source, stop in failed.items())
    return cli.Stop(f"nothing readable was found ({told})", code=cli.UNUSABLE, expected="one form of the paper that can be read",
                    fix="paste the paper's text into a file and name that file")


def summary(paper: Paper) -> str:
    """What a paper holds, in counts, on one line."""
    appendix = sum(section.appendix for section in paper.sections)
    numbered = sum(item.number is not None for item in paper.equations)
    parts = [f"{words(paper)} words", f"{len(paper.sections)} sections" + (f" ({appendix} in the appendix)" if appendix else ""),
             f"{len(paper.equations)} equations ({numbered} numbered)"]
    parts += [f"{len(getattr(paper, name))} {name}" for name in ("algorithms", "tables", "figures", "footnotes", "references")]
    return ", ".join(parts)


def open_paper(path: Path, wanted: str = "auto", say: Callable[[str], None] = cli.say) -> Paper:
    """The paper in a local file of any form (PDF, LaTeX source, HTML, Markdown, text) or in a `paper.json`."""
    path = Path(path)
    if path.is_file() and path.suffix == ".json":
        try:
            return Paper.load(path)
        except ValueError as problem:
            raise cli.Stop(f"{path.name}: {problem}", code=cli.USAGE, expected="a paper.json of this version of paper2code",
                           fix="fetch the paper again with fetch_paper.py") from problem
    told, form = local.role(path, wanted)
    if told == "several":
        return read_all(local.several(path), say)[0]
    path = local.several(path).get(told, path)
    if told != "source" or form == "folder":
        return read_all({told: path}, say)[0]
    with tempfile.TemporaryDirectory(prefix="paper2code-") as folder:
        return read_all({"source": unpack.unpack(path, Path(folder) / "source").folder}, say)[0]
