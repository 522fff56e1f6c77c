"""PDFs of odd fonts, scripts, sizes and lengths: read, or told what is wrong with them, in little time."""

from __future__ import annotations

import time

import pytest
from paper2code import cli
from paper2code.paper import Paper, check
from paper2code.read import garbled
from paper2code.read import pdf as reader
from pdfs import Sheet, pdf

PROSE = """We train the small model with the plain rule and we show that
the step which the rule takes is the one that the data asks for The
model is not large and the data is not new so that each of the runs
ends after a few minutes on one machine and can be done again by all"""


def read(tmp_path, *sheets: Sheet, within: float = 10, **more) -> Paper:
    path = tmp_path / "paper.pdf"
    path.write_bytes(pdf(*sheets, **more))
    started = time.process_time()
    paper = reader.read(path, light=True)
    assert time.process_time() - started < within
    assert check(paper.data()) == []
    return paper


def said(paper: Paper) -> str:
    return " ".join(block.text for section in paper.sections for block in section.blocks)


def opening(title: str = "A Small Rule", font: str = "bold") -> Sheet:
    return Sheet().text(150, 90, title, 17, font).text(100, 230, "1   Introduction", 12, "bold")


def spaced(sheet: Sheet, text: str, y: float, font: str) -> Sheet:
    """Words one by one, as a font without a space has them."""
    for at, line in enumerate(text.split("\n")):
        x = 100.0
        for word in line.split():
            sheet.text(x, y + 12 * at, word, 10, font)
            x += 5 * len(word) + 4
    return sheet


def test_a_font_of_drawings_is_read_by_the_names_of_its_glyphs(tmp_path):
    text = said(read(tmp_path, spaced(opening(), PROSE, 250, "drawn")))
    assert text == " ".join(PROSE.split())


def test_drawings_whose_names_say_nothing_are_no_silent_nonsense(tmp_path):
    changed = PROSE.translate(str.maketrans("abcdefghijklmnopqrstuvwxyz", "qwkzxvbnmlasdfghjypoiutrec"))
    paper = read(tmp_path, spaced(opening(), f"{changed}\n{changed}", 250, "nameless"))
    assert {"page 1", "1"} <= {warning.where for warning in paper.warnings if warning.kind == "garbled"} and garbled.measure(said(paper)).bad


CHINESE = "我们用简单的规则训练小模型并且说明规则所走的步正是数据要求的步"


def test_chinese_is_read_with_its_headings_and_names(tmp_path):
    sheet = Sheet().text(150, 90, "小模型的小规则", 17, "any").text(250, 120, "张三", 10, "any").text(290, 160, "摘要", 11, "any")
    sheet.text(100, 230, "1", 12, "bold").text(120, 230, "引言", 12, "any").lines(100, 250, "\n".join([CHINESE] * 8), 10, "any")
    sheet.text(100, 400, "1.1", 12, "bold").text(130, 400, "方法", 12, "any").lines(100, 420, "\n".join([CHINESE] * 8), 10, "any")
    paper = read(tmp_path, sheet)
    assert (paper.title, paper.authors) == ("小模型的小规则", ["张三"])
    assert [(section.number, section.title) for section in paper.sections] == [("1", "引言"), ("1.1", "方法")]
    assert CHINESE in said(paper) and not paper.warnings


@pytest.mark.parametrize("name", ["משה כהן", "محمد علي"])
def test_names_that_run_to_the_left_keep_their_letters_and_words_in_order(tmp_path, name):
    sheet = Sheet().text(150, 90, "A Small Rule", 17, "bold").text(250, 120, name[::-1], 10, "any").text(330, 120, "Ada Muster")
    sheet.text(290, 160, "Abstract", 11, "bold").lines(130, 180, "We give a rule and test it on data.")
    paper = read(tmp_path, sheet.text(100, 230, "1   Introduction", 12, "bold").lines(100, 250, PROSE))
    assert paper.authors == [name, "Ada Muster"]


def test_every_way_of_turning_a_page_and_no_outline(tmp_path):
    for rotate in (0, 90, 180, 270):
        sheet = Sheet(rotate=rotate).text(100, 100, "1   Introduction", 12, "bold").lines(100, 120, PROSE)
        paper = read(tmp_path, sheet, Sheet().text(100, 100, "2   Method", 12, "bold").lines(100, 120, PROSE))
        assert [section.page for section in paper.sections if section.title == "Method"] == [2]
        assert "We train the small model" in said(paper)
        for section in paper.sections:
            assert section.bbox is None or all(-1 <= value <= 793 for value in section.bbox)


def test_a_page_without_size_and_one_that_is_not_there(tmp_path):
    data = pdf(opening().lines(100, 250, PROSE)).replace(b"/MediaBox [0 0 612 792]", b"/MediaBox [0 0 0   0  ]")
    path = tmp_path / "paper.pdf"
    path.write_bytes(data)
    assert "We train the small model" in said(reader.read(path, light=True))
    path.write_bytes(pdf(opening().lines(100, 250, PROSE)).replace(b"/Kids [", b"/Kids [99 0 R "))
    try:
        assert check(reader.read(path, light=True).data()) == []
    except cli.Stop as stop:
        assert stop.code == cli.UNUSABLE


def test_a_table_of_two_thousand_rows(tmp_path):
    sheets = [opening().lines(100, 250, PROSE)]
    for start in range(0, 2000, 50):
        sheet = Sheet()
        if not start:
            sheet.text(100, 78, "Table 1: All runs.")
        sheet.rule(100, 84, 400).rule(100, 87.5, 400)
        for at in range(50):
            if at % 10 == 9:
                sheet.rule(100, 99.5 + 12 * at, 400)
            for column, cell in enumerate((f"run {start + at}", f"{start + at}.5", "yes")):
                sheet.text(110 + 90 * column, 96 + 12 * at, cell)
        sheets.append(sheet)
    paper = read(tmp_path, *sheets, within=30)
    assert len(paper.tables) == 1 and paper.pages == 41
    rows = {tuple(cell for cell in row if cell) for row in paper.tables[0].rows}
    assert ("run 7", "7.5", "yes") in rows
    assert "run 1999" in " ".join(passage.text for passage in paper.passages()), "no row is lost, whatever becomes of its grid"


def test_a_formula_of_fifty_thousand_signs(tmp_path):
    sheet = opening().lines(100, 250, PROSE)
    for line in range(250):
        sheet.text(100, 310 + line * 1.8, "x + y = z + " * 17, 1.5, "italic")
    paper = read(tmp_path, sheet.text(540, 500, "(1)"), within=20)
    assert "We train the small model" in said(paper)


def called(number: int) -> str:
    words = ["Steps", "Rules", "Models", "Data", "Runs", "Losses", "Signs", "Words", "Trees", "Graphs", "Costs", "Proofs"]
    return f"{words[number % 12]} and {words[(number + 1 + number // 12) % 12]}"


def long_paper(pages: int) -> list[Sheet]:
    sheets = [Sheet().text(150, 90, "A Long Work on Small Rules", 17, "bold").lines(100, 300, PROSE)]
    for number in range(1, pages):
        sheet = Sheet().text(100, 40, "A Long Work on Small Rules", 9, "italic").text(300, 770, str(number))
        own = PROSE.replace("small", f"small{number}x").replace("The", f"Thus{number}")
        sheet.text(100, 80 + number % 4, f"{number}   {called(number)}", 12, "bold").lines(100, 110, "\n".join([own] * 2))
        sheet.text(220, 555 + number % 7, f"y = {'abc'[number % 3]} x + {number}", 10, "italic").text(371, 555 + number % 7, f"({number})", 10)
        sheets.append(sheet.lines(100, 600, PROSE.replace("small", called(number).lower())))
    return sheets


def test_a_thesis_costs_as_much_a_page_as_a_paper(tmp_path):
    import resource

    path, cost = tmp_path / "paper.pdf", {}
    for pages in (30, 120):
        path.write_bytes(pdf(*long_paper(pages), bookmarks=[(f"{n}   {called(n)}", n + 1, 80) for n in range(1, pages)]))
        started = time.process_time()
        paper = reader.read(path, light=True)
        cost[pages] = (time.process_time() - started) / pages
        assert len([section for section in paper.sections if section.number]) == min(pages - 1, 99)
    assert cost[120] * 120 < 60
    assert cost[120] < 2.5 * cost[30], "the cost of a page does not grow with the pages"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3 << 20  # kB, of all tests that ran here
