"""Lines of algorithms have the numbers that the paper prints, whichever form it is read from, and are cited by them."""

from __future__ import annotations

import pytest
from paper2code.check.quotes import Matcher
from paper2code.find.search import text_of
from paper2code.paper import Algorithm, Paper, Section, check
from paper2code.read import html, latex, text
from paper2code.read import pdf as reader
from paper2code.read.reconcile import reconcile
from paper2code.show import views
from pdfs import Sheet, pdf

MADE = r"""\documentclass{article}%s\begin{document}\section{Rule}\begin{algorithm}\caption{The rule.}
%s
\end{algorithm} See line~\ref{here}.\end{document}"""
PSEUDOCODE = r"""\begin{algorithmic}[1]\Require a\Ensure b
\State one \Comment{why}\State
\For{$i$}\State two\\ broken\label{here}\EndFor\If{q}\State y\ElsIf{c}\State z\EndIf
\Statex aside \Repeat\State x\Until{y}\State \Return s\end{algorithmic}"""
TWO_E = r"""\KwIn{a list}\KwOut{a sum} set $s$ to zero\;
\tcc{a comment here}
\For{$i$}{ add\tcp*{why}
\tcp{own line}
\eIf{a}{yes\;\label{here}}{no\;} \uIf{b}{one\;}\Else{three\;} }
\While{t}{u\;} \Return{s}\;"""

# As pdfTeX prints them: packages, body, the numbers before the lines, the line that \ref names.
PRINTED = {
    "algpseudocode": (r"\usepackage{algorithm,algpseudocode}", PSEUDOCODE,
                      ["", "", 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, "", 12, 13, 14, 15], "5"),
    "a broken line of algorithmic": (r"\usepackage{algorithm,algorithmic}",
                                     PSEUDOCODE.replace("Require", "REQUIRE").replace("Ensure", "ENSURE").replace("State ", "STATE ")
                                     .replace("Statex aside", "STATE aside").replace("ElsIf", "ELSIF").replace("EndIf", "ENDIF")
                                     .replace("EndFor", "ENDFOR").replace("For", "FOR").replace("If", "IF").replace("Repeat", "REPEAT")
                                     .replace("Until", "UNTIL").replace("\\State", "\\STATE").replace("\\Return", "return"),
                                     ["", "", 1, 3, 4, "", 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], "4"),
    "ends that algpseudocodex leaves out": (r"\usepackage{algorithm,algpseudocodex}", PSEUDOCODE,
                                            ["", "", 1, 3, 4, "", 5, 6, 7, 8, "", 9, 10, 11, 12], "4"),
    "ends left out by an option": (r"\usepackage{algorithm}\usepackage[noend]{algpseudocode}", PSEUDOCODE,
                                   ["", "", 1, 3, 4, 5, 6, 7, 8, 9, "", 10, 11, 12, 13], "5"),
    "algorithm2e": (r"\usepackage[linesnumbered,ruled]{algorithm2e}", TWO_E,
                    ["", "", 1, "", 2, 3, "", 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18], "5"),
    "rules of algorithm2e in place of ends": (r"\usepackage[linesnumbered,vlined]{algorithm2e}", TWO_E,
                                              ["", "", 1, "", 2, 3, "", 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], "5"),
    "numbered by a command": (r"\usepackage{algorithm2e}\LinesNumbered\SetAlgoVlined", TWO_E,
                              ["", "", 1, "", 2, 3, "", 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], "5"),
}


def read_latex(tmp_path, uses: str, body: str) -> Paper:
    (tmp_path / "main.tex").write_text(MADE % (uses, body), encoding="utf-8")
    return latex.read(tmp_path)


@pytest.mark.parametrize("name", PRINTED)
def test_latex_lines_have_the_numbers_that_tex_prints(tmp_path, name):
    uses, body, numbers, named = PRINTED[name]
    paper = read_latex(tmp_path, uses, body)
    box, = paper.algorithms
    if name == "ends that algpseudocodex leaves out" or "option" in name:
        assert not any(line.strip().startswith("end") for line in box.lines)
    assert box.numbers == [str(number) for number in numbers]
    assert paper.sections[0].blocks[-1].text == f"See line {named}."
    assert check(paper.data()) == []


def test_latex_lines_without_numbers_have_none(tmp_path):
    assert read_latex(tmp_path, r"\usepackage{algorithm,algpseudocode}", PSEUDOCODE.replace("[1]", "")).algorithms[0].numbers == []
    assert read_latex(tmp_path, r"\usepackage{algorithm2e}", TWO_E).algorithms[0].numbers == []


def test_numbers_go_on_where_an_algorithm_was_parted(tmp_path):
    parted = PSEUDOCODE.replace(r"\Statex aside", r"\algstore{k}\end{algorithmic}\end{algorithm}\begin{algorithm}\caption{On.}"
                                r"\begin{algorithmic}[1]\algrestore{k}")
    first, second = read_latex(tmp_path, r"\usepackage{algorithm,algpseudocode}", parted).algorithms
    assert (first.numbers[-1], second.numbers[0]) == ("11", "12")


def test_an_option_in_the_style_that_came_with_the_source_counts(tmp_path):
    (tmp_path / "venue.sty").write_text("\\ProvidesPackage{venue}\n\\RequirePackage[noend]{algorithmic}\n", encoding="utf-8")
    box, = read_latex(tmp_path, r"\usepackage{venue,algorithm}", r"\begin{algorithmic}[1]\LOOP\STATE a\ENDLOOP\end{algorithmic}").algorithms
    assert box.lines == ["loop", "  a"]


BOX = [("", 0, "Require: a number x"), ("1:", 0, "for t = 1 to T do"), ("2:", 12, "draw a batch of the data"), ("3:", 0, ""),
       ("", 12, "▷ a word on it"), ("4:", 12, "take the step"), ("5:", 0, "end for")]


def test_numbers_in_a_pdf(tmp_path):
    sheet = Sheet().text(100, 100, "1   The Rule", 12, "bold").lines(100, 120, "We train the small model with the plain rule, as the box says.")
    sheet.rule(100, 150, 400).text(100, 162, "Algorithm 1", font="bold").text(160, 162, "The plain rule").rule(100, 167, 400)
    for at, (number, indent, words) in enumerate(BOX, 1):
        sheet.text(102, 167 + 12 * at, number) if number else None
        sheet.text(118 + indent if number else 102, 167 + 12 * at, words.replace("▷", "//")) if words else None
    (tmp_path / "paper.pdf").write_bytes(pdf(sheet.rule(100, 258, 400)))
    box, = reader.read(tmp_path / "paper.pdf", light=True).algorithms
    assert [(number, line.strip()) for number, line in zip(box.numbers, box.lines, strict=True)] == [
        ("", "Require: a number x"), ("1", "for t = 1 to T do"), ("2", "draw a batch of the data"), ("", "// a word on it"),
        ("4", "take the step"), ("5", "end for")]


def test_numbers_in_html_and_text():
    lines = "".join('<div class="ltx_listingline">' + (f'<span class="ltx_tag ltx_tag_listingline">{number}</span>' if number else "") +
                    f"{words}</div>" for number, _, words in BOX)
    page = f"""<html><body><article class="ltx_document"><section class="ltx_section"><h2 class="ltx_title">
    <span class="ltx_tag">1 </span>Rule</h2><figure class="ltx_float ltx_float_algorithm"><figcaption class="ltx_caption"><span
    class="ltx_tag ltx_tag_float">Algorithm 1 </span>The rule</figcaption><div class="ltx_listing">{lines}</div></figure></section>"""
    told = "# A paper\n\n## 1 Rule\n\nAlgorithm 1: The rule\n\n```\n" + "\n".join(f"{number} {words}".strip() for number, _, words in BOX) + "\n```\n"
    for paper in (html.read(page), text.read(told)):
        box, = paper.algorithms
        assert box.numbers == ["", "1", "2", "", "4", "5"]
        assert check(paper.data()) == []


def paper() -> Paper:
    lines = ["Require: a start", "for each batch do", "  take the long step", "  // a remark", "  halve the step", "end for"]
    return Paper(title="A Rule", sections=[Section("1", "Rule", "1")],
                 algorithms=[Algorithm("alg-1", "1", "The rule", lines, ["", "1", "2", "", "4", "5"], section="1")])


@pytest.mark.parametrize("place, quote, status", [
    ("Algorithm 1, line 2", "take the long step", "verified"),
    ("Algorithm 1, line 2", "a remark", "verified"),  # a piece without a number belongs to the line that it follows
    ("Algorithm 1, line 3", "take the long step", "no such line"),  # 3 is a numbered line with nothing on it
    ("Algorithm 1, lines 3-4", "halve the step", "verified"),
    ("Algorithm 1, line 5", "halve the step", "moved"),
    ("Algorithm 1, line 6", "end for", "no such line"),
    ("Algorithm 1", "a start", "verified"),
])
def test_a_line_is_cited_by_its_printed_number(place, quote, status):
    verdict = Matcher(paper()).judge(place, quote)
    assert (verdict.state, bool(verdict.problems)) == (("verified", True) if status == "no such line" else (status, False))


def test_the_printed_numbers_are_shown():
    made = paper()
    assert [line[:5].strip() for line in text_of(made.algorithms[0], made).splitlines()[1:]][1:3] == ["1", "2"]
    assert "  2    take the long step\n       // a remark\n  4    halve" in views.algorithm(made.algorithms[0])
    assert [made.algorithms[0].called(row) for row in range(1, 7)] == ["", "1", "2", "2", "4", "5"]


def test_numbers_must_fit_the_lines():
    data = paper().data()
    data["algorithms"][0]["numbers"] = ["1"]
    assert check(data) == ["paper.algorithms[0].numbers: 1 numbers for 6 lines"]


def test_numbers_that_only_the_pdf_has_are_taken_over_and_others_compared():
    ours, printed = paper(), paper()
    printed.pages, printed.algorithms[0].page = 1, 1
    ours.algorithms[0].numbers = []
    made = reconcile({"latex": ours, "pdf": printed})
    assert made.algorithms[0].numbers == ["", "1", "2", "", "4", "5"]
    ours.algorithms[0].numbers = ["1", "2", "3", "4", "5", "6"]
    made = reconcile({"latex": ours, "pdf": printed})
    assert made.algorithms[0].numbers == ours.algorithms[0].numbers
    told, = [warning for warning in made.warnings if warning.kind == "line-numbers-differ"]
    assert told.where == "alg-1" and "line 2 is 1 there" in told.message
