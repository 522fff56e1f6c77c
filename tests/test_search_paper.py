"""Search: words, phrases, expressions, items of the checklist, places as text and picture."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from paper2code import cli
from paper2code.find import search
from paper2code.paper import Algorithm, Block, Equation, Figure, Paper, Section, Table
from paper2code.workspace import Workspace

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "search_paper.py"


def whole() -> Paper:
    return Paper(
        id="x",
        title="A transformer for sorting",
        abstract="We sort. A warm-up is not needed.",
        pages=3,
        sections=[
            Section(
                "1", "Introduction", "1", blocks=[Block("paragraph", "Many use a warm-up of the rate. We do not.", page=1)], page=1
            ),
            Section("2", "Related Work", "2", blocks=[Block("paragraph", "They use 4000 warm-up steps.", page=1)], page=1),
            Section(
                "3",
                "Training",
                "3",
                page=2,
                blocks=[
                    Block(
                        "paragraph",
                        r"We use a learning rate of $10^{-3}$ and label smoothing. The \"best\" value is kept. Dropout is 0.1.",
                        page=2,
                    )
                ],
            ),
            Section("3.1", "Details", "3.1", level=2, page=2, blocks=[Block("paragraph", "The warm-up has 40 steps.", page=2)]),
        ],
        equations=[Equation("eq-1", "1", r"a = b + c", section="3", page=2), Equation("eq-u1", None, "x", section="3", page=2)],
        tables=[Table("tab-1", "1", "Settings.", [["Name", "Value"], ["batch size", "32"]], section="3", page=2)],
        algorithms=[Algorithm("alg-1", "1", "Training", ["for all x do", "  update"], section="3", page=2)],
        figures=[Figure("fig-1", "1", "The block.", section="3", page=2, bbox=[100, 100, 300, 300])],
    )


def test_words_are_ranked_and_related_work_comes_later():
    places = [hit.statement.place for hit in search.search(whole(), "warm-up steps")]
    assert places[0] == "§3.1" and "§2" in places
    assert search.search(whole(), "warmup")[0].statement.text.count("warm-up") == 1


def test_a_piece_in_quotes_must_be_there():
    assert [hit.statement.place for hit in search.search(whole(), '"label smoothing"')] == ["§3"]
    assert search.search(whole(), '"label  smoothing" nothing else')[0].statement.place == "§3"
    assert search.search(whole(), '"no such words"') == [] and search.search(whole(), "zzz") == []


def test_hits_are_exact_and_ready_to_quote():
    (hit,) = search.phrase(whole(), "learning RATE of")
    assert hit.anchor() == '§3 — "We use a learning rate of $10^{-3}$ and label smoothing."'
    (hit,) = search.phrase(whole(), "value is kept")
    assert "“" in hit.anchor()


def test_a_section_holds_its_subsections():
    assert [hit.statement.place for hit in search.search(whole(), "warm-up", section="3")] == ["§3.1"]
    assert [hit.statement.place for hit in search.search(whole(), "warm-up", section="Training")] == ["§3.1"]
    assert search.search(whole(), "warm-up", section="abstract")[0].statement.place == "Abstract"
    with pytest.raises(cli.Stop) as stop:
        search.search(whole(), "warm-up", section="9")
    assert "1 Introduction" in stop.value.expected


def test_regular_expressions():
    hits, all_of_them = search.regex(whole(), r"10\^\{-\d\}")
    assert all_of_them and [hit.statement.place for hit in hits] == ["§3"]
    with pytest.raises(cli.Stop) as stop:
        search.regex(whole(), "(")
    assert stop.value.code == cli.USAGE


def test_an_expression_that_never_ends_is_stopped():
    paper = whole()
    paper.sections[0].blocks[0].text = "a" * 60 + "!"
    start = time.monotonic()
    hits, all_of_them = search.regex(paper, "(a+)+$", seconds=1.5)
    assert not all_of_them and time.monotonic() - start < 20


def test_items_of_the_checklist():
    name, hits, _ = search.by_item(whole(), "lr")
    assert name == "learning-rate" and hits[0].statement.place == "§3" and "read: 10^{-3}" in hits[0].note
    name, hits, total = search.by_item(whole(), "warm-up")
    assert {hit.statement.place for hit in hits} >= {"§3.1"} and total > len(hits)
    assert search.by_item(whole(), "discount")[1] == []  # an item of another kind of paper
    with pytest.raises(cli.Stop) as stop:
        search.by_item(whole(), "colour of the rate")
    assert "learning-rate" in stop.value.expected


def test_places():
    assert search.item_numbered(whole(), "equation", "(1)").text.startswith("a = b + c")
    assert search.item_numbered(whole(), "equation", "eq-u1").where == "§3"
    assert search.item_numbered(whole(), "table", "1").text == "Settings.\nName | Value\nbatch size | 32"
    assert search.item_numbered(whole(), "algorithm", "Algorithm 1").text == "Training\n  1  for all x do\n  2    update"
    assert search.item_numbered(whole(), "figure", "1").bbox == [100, 100, 300, 300]
    assert "They use 4000 warm-up steps." in search.page_text(whole(), 1).text
    for kind, number in (("equation", "7"), ("table", "x"), ("figure", "")):
        with pytest.raises(cli.Stop) as stop:
            search.item_numbered(whole(), kind, number)
        assert "1" in stop.value.expected
    with pytest.raises(cli.Stop):
        search.page_text(whole(), 9)


def test_an_empty_paper():
    assert search.search(Paper(), "anything") == []
    with pytest.raises(cli.Stop):
        search.item_numbered(Paper(), "table", "1")


def test_a_long_paper_is_searched_quickly():
    paper = whole()
    text = " ".join(f"The learning rate of run {n} is 0.{n:03}, and the batch size is {n}." for n in range(1, 120))
    paper.sections += [Section(f"9.{n}", f"More {n}", f"9.{n}", blocks=[Block("paragraph", text)]) for n in range(15)]
    search.search(paper, "warm up the library")
    start = time.process_time()
    search.search(paper, "learning rate of run 7")
    assert time.process_time() - start < 2


# --- the script -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def work(tmp_path):
    place = Workspace(tmp_path / "work")
    whole().save(place.paper_file)
    return place


def run(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", check=False
    )


def test_the_script(work, tmp_path):
    done = run(work.folder, "--section", "3", "warm-up")
    assert done.returncode == cli.DONE and done.stdout.startswith('§3.1 — "The warm-up has 40 steps."   [p. 2]')
    data = json.loads(run(work.folder, "--item", "batch-size", "--json").stdout)
    assert data["hits"][0]["where"] == "§3, Table 1" and data["hits"][0]["row"] == 2
    done = run(work.folder, "--equation", "1", "--out", tmp_path / "eq.txt")
    assert (tmp_path / "eq.txt").read_text(encoding="utf-8").startswith("§3, Eq. 1, p. 2\n\na = b + c")
    done = run(work.folder, "zebra")
    assert done.returncode == cli.FINDINGS and "nothing found" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a", "--item", "depth"),
        ("--image", "x.png", "words"),
        ("--limit", "0", "a"),
        ("--page", "x"),
        ("--equation", "77"),
        ("--item", "nothing-such"),
    ],
)
def test_wrong_arguments(work, arguments):
    assert run(work.folder, *arguments).returncode == cli.USAGE


def test_a_picture_needs_a_pdf(work, tmp_path):
    done = run(work.folder, "--figure", "1", "--image", tmp_path / "x.png")
    assert done.returncode == cli.UNUSABLE and "no PDF" in done.stderr and not (tmp_path / "x.png").exists()


def test_no_workspace(tmp_path):
    assert run(tmp_path, "words").returncode == cli.USAGE


def test_the_listing_is_bounded(work):
    paper = whole()
    paper.sections[0].blocks[0].text = " ".join(f"We use a rate of 0.{n}." for n in range(100, 200))
    paper.save(work.paper_file)
    assert len(run(work.folder, "rate", "--limit", "5").stdout.splitlines()) == 6


def test_a_place_as_a_picture(tmp_path):
    import shutil

    place = Workspace(tmp_path / "work")
    paper = whole()
    paper.figures[0].page = paper.equations[0].page = 1
    paper.save(place.paper_file)
    place.raw.mkdir()
    shutil.copy(Path(__file__).resolve().parents[1] / "examples" / "staggered_gates" / "paper" / "paper.pdf", place.raw / "paper.pdf")
    done = run(place.folder, "--figure", "1", "--image", tmp_path / "x.png", "--pixels", "300")
    data = (tmp_path / "x.png").read_bytes()
    assert done.returncode == cli.DONE and data.startswith(b"\x89PNG")
    assert max(int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")) <= 300
    done = run(place.folder, "--equation", "1", "--image", tmp_path / "y.png")
    assert done.returncode == cli.DONE and "the whole page is shown" in done.stderr
    assert run(place.folder, "--table", "1", "--image", tmp_path / "z.png").returncode == cli.DONE
