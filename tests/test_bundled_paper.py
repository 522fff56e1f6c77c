"""The bundled paper's truth file against its own files, and every reader against the truth file."""

from __future__ import annotations

import importlib.util
import json
import re
import statistics
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from paper2code.check import expression

PAPER = Path(__file__).resolve().parents[1] / "examples" / "staggered_gates" / "paper"
TRUTH = yaml.safe_load((PAPER / "truth.yaml").read_text(encoding="utf-8"))
FORMS = {"source": PAPER / "source", "html": PAPER / "paper.html", "pdf": PAPER / "paper.pdf"}


@cache
def read(form: str):
    from paper2code.read import open as opener

    name = {"source": "latex"}.get(form, form)
    if importlib.util.find_spec(f"paper2code.read.{name}") is None:
        pytest.skip(f"there is no {name} reader")
    return opener.open_paper(FORMS[form])


def squeeze(latex: str | None) -> str:
    """LaTeX without spacing, braces and sizes, for finding pieces in it."""
    latex = re.sub(r"\\(left|right|bigl|bigr|Bigl|Bigr|,|!|;|displaystyle)(?![A-Za-z])", "", latex or "")
    latex = latex.replace(r"\operatorname*", r"\operatorname").replace(r"{\prime}", r"\prime").replace("'", r"\prime")
    return re.sub(r"[\s{}]", "", latex).replace(r"^\prime", r"\prime")  # x' and x^\prime are one


def words(text: str) -> str:
    """Letters and digits alone: for finding a phrase whatever became of its mathematics and spacing."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"\\[A-Za-z]+", "", text).lower())


def everything(paper) -> str:
    return " ".join(passage.text for passage in paper.passages())


# --- the paper itself ----------------------------------------------------------------------------------------------


def test_built_files_belong_to_the_source():
    done = subprocess.run([sys.executable, PAPER / "build.py", "--check"], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


def test_tables_hold_what_the_experiment_gave():
    rows = {}
    for line in (PAPER / "results.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        rows[record.get("method", "")] = record
    assert rows[""]["parameters"] == 101642
    tables = {table["number"]: table["rows"] for table in TRUTH["tables"]}
    for method, result, losses in zip(("open", "warm-up", "together", "staggered"), tables["1"], tables["2"], strict=True):
        record = rows[method]
        assert [float(cell) for cell in result[1:]] == [record["token"], record["exact"], record["exact_std"]]
        assert [float(cell) for cell in losses[1:]] == record["curve"]
        assert round(statistics.mean(record["exact_runs"]), 1) == record["exact"]


def test_relations_hold():
    for relation in TRUTH["relations"]:
        assert expression.evaluate(relation["expr"], {}) == relation["value"], relation["about"]


def test_source_says_what_the_truth_file_quotes():
    source = words(" ".join(path.read_text(encoding="utf-8") for path in sorted((PAPER / "source").rglob("*.tex")))
                   .replace(r"\dmodel", "d"))
    quotes = [entry["quote"] for name in ("statements", "deferred", "defaults", "others_settings") for entry in TRUTH[name]]
    assert len(quotes) > 40
    assert [quote for quote in quotes if words(quote) not in source] == []


def test_pdf_and_html_name_no_machine():
    for form in ("pdf", "html"):
        data = FORMS[form].read_bytes()
        assert not [mark for mark in (b"/home/", b"/tmp/", b"/work", b"/root") if mark in data]
    assert sum(path.stat().st_size for path in PAPER.rglob("*") if path.is_file()) < 600_000


# --- what the readers make of it -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_front_matter(form):
    paper = read(form)
    assert words(paper.title) == words(TRUTH["title"])
    assert words(paper.abstract).startswith(words(TRUTH["abstract_starts"]))
    assert words(paper.abstract).endswith(words(TRUTH["abstract_ends"]))
    if form != "pdf":
        assert [words(author) for author in paper.authors] == [words(author) for author in TRUTH["authors"]]
    else:
        assert paper.pages == TRUTH["pages"]


@pytest.mark.parametrize("form", FORMS)
def test_sections(form):
    paper = read(form)
    got = [(section.number, words(section.title), section.appendix) for section in paper.sections
           if words(section.title) not in ("abstract", "references")]
    assert got == [(s["number"], words(s["title"]), s.get("appendix", False)) for s in TRUTH["sections"]]
    if form == "pdf":
        pages = {section.title: section.page for section in paper.sections}
        assert {s["title"]: pages.get(s["title"]) for s in TRUTH["sections"]} == {s["title"]: s["page"] for s in TRUTH["sections"]}


@pytest.mark.parametrize("form", FORMS)
def test_equations(form):
    paper = read(form)
    got = paper.equations if form != "pdf" else [equation for equation in paper.equations if equation.number]
    wanted = TRUTH["equations"] if form != "pdf" else [equation for equation in TRUTH["equations"] if equation["number"]]
    assert [equation.number for equation in got] == [equation["number"] for equation in wanted]
    for equation, truth in zip(got, wanted, strict=True):
        here = paper.section(equation.section)
        assert here and here.number == truth["section"], truth["number"]
        if form != "pdf":
            latex = squeeze(equation.latex)
            assert [piece for piece in truth["has"] if squeeze(piece) not in latex] == [], equation.latex
        else:
            assert equation.page == truth["page"]


@pytest.mark.parametrize("form", FORMS)
def test_algorithm(form):
    paper = read(form)
    assert [algorithm.number for algorithm in paper.algorithms] == ["1"]
    algorithm, truth = paper.algorithms[0], TRUTH["algorithms"][0]
    assert words(algorithm.caption) == words(truth["caption"])
    assert "peak rate" in algorithm.lines[0]
    assert form == "html" or algorithm.lines[0].startswith("Require"), "LaTeXML 0.8.7 loses the word, the others do not"
    first = next(at for at, line in enumerate(algorithm.lines) if words(line).startswith("for"))
    numbered = algorithm.lines[first:]
    assert len(numbered) == truth["lines"], numbered
    for number, pieces in truth["has"].items():
        line = numbered[number - 1]
        for piece in pieces:
            if piece.startswith("\\"):
                assert form == "pdf" or squeeze(piece).lstrip("\\") in squeeze(line), (number, line)
            else:
                assert words(piece) in words(line), (number, line)


@pytest.mark.parametrize("form", FORMS)
def test_tables(form):
    paper = read(form)
    assert [table.number for table in paper.tables] == [table["number"] for table in TRUTH["tables"]]
    for table, truth in zip(paper.tables, TRUTH["tables"], strict=True):
        assert words(table.caption).startswith(words(truth["caption_starts"]))
        rows = [[words(cell) for cell in row if words(cell)] for row in table.rows]
        for wanted in truth["rows"]:
            name, values = words(wanted[0]), [words(cell) for cell in wanted[1:]]
            assert any(row[-len(values):] == values and any(name in cell for cell in row) for row in rows), (wanted, table.rows)


@pytest.mark.parametrize("form", FORMS)
def test_figures_and_footnotes(form):
    paper = read(form)
    assert [figure.number for figure in paper.figures] == [figure["number"] for figure in TRUTH["figures"]]
    for figure, truth in zip(paper.figures, TRUTH["figures"], strict=True):
        assert words(figure.caption).startswith(words(truth["caption_starts"]))
    notes = [note for note in paper.footnotes if note.kind == "footnote"]
    assert [note.number for note in notes] == [note["number"] for note in TRUTH["footnotes"]]
    for note, truth in zip(notes, TRUTH["footnotes"], strict=True):
        assert words(truth["has"]) in words(note.text)


@pytest.mark.parametrize("form", FORMS)
def test_references(form):
    paper = read(form)
    assert len(paper.references) == len(TRUTH["references"])
    for reference, truth in zip(paper.references, TRUTH["references"], strict=True):
        text = words(f"{reference.text} {reference.title or ''}")
        assert words(truth["author"]) in text and words(truth["title"]) in text, reference.text
        assert reference.year == truth["year"]
        assert reference.arxiv == truth.get("arxiv")


@pytest.mark.parametrize("form", FORMS)
def test_links(form):
    urls = {link.url for link in read(form).links}
    assert {TRUTH["official_code"], *TRUTH["other_links"]} <= urls


@pytest.mark.parametrize("form", FORMS)
def test_text_is_whole_and_nothing_else(form):
    paper = read(form)
    text = words(everything(paper))
    for name in ("statements", "deferred", "defaults", "others_settings"):
        for entry in TRUTH[name]:
            plain = re.split(r"\$[^$]*\$", entry["quote"])
            assert [part for part in plain if words(part) not in text] == [], entry
    for hidden in TRUTH["never_paper_text"]:
        assert hidden not in everything(paper)


@pytest.mark.parametrize("form", FORMS)
def test_quotes_are_verified(form):
    """Each planted statement, quoted as a reader would, is found true in the section that the truth file names."""
    from paper2code.check.quotes import Matcher

    matcher = Matcher(read(form))
    judged = {entry["quote"]: matcher.judge(f"§{entry['section']}" if entry["section"].isdigit() or "." in entry["section"]
                                            else f"Appendix {entry['section']}", entry["quote"]).state
              for entry in TRUTH["statements"]}
    assert {quote: state for quote, state in judged.items() if state != "verified"} == {}


@pytest.mark.parametrize("form", FORMS)
def test_both_sides_of_each_contradiction_are_found(form):
    """Captions are the paper's own words even where the page sets their float beside the related work."""
    from paper2code.check.quotes import Matcher

    matcher = Matcher(read(form))
    for row in TRUTH["contradictions"]:
        for side in (row["first"], row["second"]):
            place = f"Figure {side['figure']}" if "figure" in side else f"Table {side['table']}" if "table" in side else f"§{side['section']}"
            if not side["quote"].startswith("\\") and not side["quote"].startswith("(\\"):
                assert matcher.judge(place, side["quote"]).state == "verified", (place, side["quote"])
