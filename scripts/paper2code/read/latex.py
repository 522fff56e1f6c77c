"""The LaTeX reader: a source folder (or one .tex file) as a `Paper`, numbered as it is printed. No TeX is run.

The parts are in `read/tex/`: `source` (files, encodings, main file), `lexer` and `engine` with `macros` (tokens, expansion),
`counters`, `document` with `structure`, `formulas`, `floats`, `tables`, `algorithms` (what text and environments make),
`citations` and `resolve` (references as printed).
"""

from __future__ import annotations

from pathlib import Path

from paper2code import cli
from paper2code.paper import Paper, SourceFile, give_ids
from paper2code.read.tex import algorithms, floats, formulas, structure, tables  # noqa: F401  each registers what it reads
from paper2code.read.tex.citations import finish
from paper2code.read.tex.document import COMMANDS, ENVIRONMENTS, Document
from paper2code.read.tex.engine import Engine
from paper2code.read.tex.front import finish_front
from paper2code.read.tex.resolve import resolve
from paper2code.read.tex.source import Source

Engine.native = frozenset("\\" + name for name in COMMANDS)
Engine.native_environments = frozenset(ENVIRONMENTS)


def read(path: Path, *, seconds: float = 30.0) -> Paper:
    """The paper that a LaTeX source makes.

    `path`: the folder of an e-print, or a .tex file whose folder is then the source. `seconds` bounds the time spent; what
    could not be read is left out with a warning that names the place. Raises `cli.Stop` when there is no TeX in it.
    """
    path = Path(path)
    if not path.exists():
        raise cli.Stop(f"{path} does not exist", code=cli.USAGE, expected="a folder with LaTeX source, or a .tex file")
    source = Source(path)
    main, others = source.main()
    if main is None:
        raise cli.Stop(f"{path} holds no TeX file", code=cli.UNUSABLE, expected="a folder with LaTeX source, or a .tex file",
                       fix="give the PDF instead")
    doc = reading(source, main, seconds)
    if doc.styles.get("only referenced"):
        doc = reading(source, main, seconds, doc.referenced)
    paper = doc.paper
    finish_front(doc)
    finish(doc)
    resolve(doc)
    paper.sources.append(SourceFile("latex", main))
    if others:
        paper.warn("main-file", f"{main} was taken for the main file; also found: {', '.join(others[:5])}", main)
    for kind, message, where in (*source.problems, *doc.warnings):
        paper.warn(kind, message, where)
    paper.sections = [s for s in paper.sections if s.title or any(block.kind != "footnote-mark" for block in s.blocks)]
    kept = {section.id for section in paper.sections}
    for item in (*paper.items(), *paper.links):
        if item.section not in kept:
            item.section = None
    for section in paper.sections:
        section.title = section.title or paper.title
    give_ids(paper)
    return paper


def reading(source: Source, main: str, seconds: float, only: set[str] | None = None) -> Document:
    doc = Document(source, seconds, only)
    doc.read(main)
    return doc
