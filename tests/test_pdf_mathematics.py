"""Mathematics as a PDF's text: powers, indices, fractions, roots and limits are told by where the characters stand."""

import pdfs as pages
import pytest
from paper2code.read import pdf as reader
from paper2code.read.pdfparts.engine import Char, Font, Page, Shape
from paper2code.read.pdfparts.lines import line_text, lines_of
from paper2code.show import mathml

WIDE = 0.5  # of its size: how wide a character of these pages is


def font(name="CMMI10", size=10.0):
    return Font(name, size, False, False, False, name.startswith("CM") and name != "CMR10", 0, 0, (0, 0, 0), 255, 0)


class Drawn:
    """A page drawn character by character; `at` is where the next one begins, 100 the baseline of its line."""

    def __init__(self):
        self.page, self.at = Page(1, 612, 792), 62.0
        self.words("Let it")
        self.at = 100.0

    def put(self, text, up=0.0, size=10.0, name="CMMI10", x=None, high=0.7, space=False):
        """`text`, its baseline raised by `up`, set in `name` at `size`, from `x`; each character `high` of the size."""
        self.at = self.at if x is None else x
        for char in text:
            if char == " ":
                self.at, space = self.at + 0.3 * size, True
                continue
            base = 100.0 - up
            self.page.chars.append(Char(char, self.at, base - high * size, self.at + WIDE * size, base, base, font(name, size), space, False,
                                        len(self.page.chars)))
            self.at, space = self.at + WIDE * size, False
        return self

    def words(self, text):
        return self.put(text, name="Times")

    def rule(self, x0, x1, y, thick=0.4):
        self.page.shapes.append(Shape("rule" if x1 - x0 >= 8 else "stroke", x0, y, x1, y + thick))
        return self

    def over(self, upper, lower, size=7.0):
        """A fraction in the line: its parts above and below a rule at the height of a minus sign."""
        start, width = self.at + 1.2, WIDE * size * max(len(upper), len(lower))
        for text, up in ((upper, 4.0), (lower, -3.4)) if size < 10 else ((upper, 6.8), (lower, -6.9)):
            self.put(text, up, size, x=start + (width - WIDE * size * len(text)) / 2)
        self.rule(start - 0.2, start + width + 0.2, 97.3)
        self.at = start + width + 1.2
        return self

    @property
    def text(self):
        return " | ".join(line_text(line) for line in lines_of(self.page)).removeprefix("Let it ").removeprefix("Let it")


def test_powers_of_letters_are_no_calls_of_functions():
    assert Drawn().put("w").put("(i)", 4, 7).text == "w^{(i)}"
    assert Drawn().put("W").put("T", 4, 7).words(" x").text == "W^{T} x"
    assert Drawn().words("10").put("−9", 4, 7, "CMSY7").text == "10^{−9}"
    assert Drawn().put("f").put("(x)", name="CMR10").put("T", 4, 7).text == "f(x)^{T}"


def test_an_index_under_a_power_is_its_letters():
    drawn = Drawn().put("x")
    start = drawn.at
    assert drawn.put("num", 4, 7).put("t", -2.5, 7, x=start).put("+", -0.5, 5).put("1", name="CMR10", x=start + 11).text == "x^{num}_{t^{+}}1"


def test_a_power_goes_on_after_a_script_of_its_own():
    drawn = Drawn().put("e").put("q", 4, 7)
    start = drawn.at
    drawn.put("T", 6.8, 5, x=start).put("i", 1.6, 5, x=start)
    assert drawn.put("k", 4, 7, x=start + 4.5).put("j", 2.9, 5).words(" is").text == "e^{q^{T}_{i}k_{j}} is"
    long = Drawn().put("L").put("CLIP+VF+S", 4, 7).put("t", -2.5, 7, x=105).put("(", name="CMR10", x=139)
    assert long.put("x").text == "L^{CLIP+VF+S}_{t} (x"


def test_powers_of_brackets_and_of_digits_by_the_font_of_what_is_raised():
    assert Drawn().put("p").put("(y)", name="CMR10").put("ω", 4, 7).put("x").text == "p(y)^{ω}x"
    assert Drawn().words("2").put("−k", 4, 7, "CMSY7").put("x").text == "2^{−k}x"
    bold = Drawn().put("z", name="Times")
    start = bold.at
    assert bold.put("0", 4, 7, "Times").put("L", -2.5, 7, x=start).words(" is").text == "z^{0}_{L} is"


def test_indices_in_indices():
    assert Drawn().put("E").put("q", -2, 7).put("θ", -3.2, 5).put("[", name="CMR10").text == "E_{q_{θ}}["


@pytest.mark.parametrize("word", ["model", "Adam", "Smith"])
def test_a_mark_of_a_note_or_a_citation_is_no_power(word):
    for mark in ("1", "12", "∗", "†", "a"):
        assert Drawn().words(word).put(mark, 4, 7, "Times").text == word + mark


def test_a_deviation_set_small_is_no_index():
    assert Drawn().words("82.3").put("±0.4", -2, 7, "CMSY7").text == "82.3±0.4"
    assert Drawn().words("log").put("2", -2, 7, "Times").text == "log_{2}"
    assert Drawn().words("82.3").put("0.4", -2, 7, "Times").text == "82.3_{0.4}"  # else a number of its own


def test_fractions():
    assert Drawn().put("t").put(" +", name="CMR10").over("1", "2").text == "t +\\frac{1}{2}"
    assert Drawn().put("t = ", name="CMR10").over("a+b", "c").put(" x").text == "t =\\frac{a+b}{c} x"
    assert Drawn().put("= ").over("1", "T", 10.0).put("x").text.startswith("=\\frac{1}{T}")


def test_what_is_no_fraction():
    drawn = Drawn().put("x").put("2", 4, 7)  # a power over an index, without a rule
    assert drawn.put("i", -2.5, 7, x=drawn.at - 3.5).text == "x^{2}_{i}"
    underlined = Drawn().words("word")
    assert underlined.rule(100, underlined.at, 101).text == "word"
    table = Drawn().words("Model").put("Size", -14, 10, "Times", x=100)  # the rule of a table between two rows
    assert table.rule(98, 128, 102).text == "Model | Size"


def test_roots():
    drawn = Drawn().words("by ")
    start = drawn.at
    drawn.page.chars.append(Char("√", start, 91.4, start + 8, 101.4, 91.8, font("CMSY10"), True, False, 99))
    drawn.put("d", x=start + 8.2).put("k", -1.5, 7)
    assert drawn.rule(start + 8, drawn.at + 0.2, 91.2).words(" and").text == "by \\sqrt{d_{k}} and"


def test_a_root_that_is_listed_before_the_numerator_of_its_fraction():
    drawn = Drawn().words("of ")
    start = drawn.at + 1
    drawn.page.chars.append(Char("√", start, 98.0, start + 6, 105.0, 98.4, font("CMSY7", 7.0), True, False, 99))
    drawn.put("1", 4, 7, x=start + 4.2, space=True).put("d", -3.8, 7, x=start + 6.2)
    drawn.rule(start - 0.2, drawn.at + 0.2, 96.9).rule(start + 6, drawn.at + 0.2, 97.9).words(".")
    assert drawn.text == "of \\frac{1}{\\sqrt{d}}."


def test_an_index_before_the_root_in_a_fraction_stays_in_the_numerator():
    drawn = Drawn().words("is ")
    start = drawn.at + 1
    drawn.put("a", 6.8, 10, x=start)
    drawn.page.chars.append(Char("√", start - 1.5, 100.0, start + 4.5, 110.0, 100.4, font("CMSY10"), True, False, 99))
    drawn.put("1", 5.3, 7, "CMR7", x=start + 5).put("b", -8.5, 10, x=start + 4.7, space=True)
    drawn.rule(start - 1.5, start + 9.9, 97.2).rule(start + 4.5, start + 9.9, 99.9).words(" x")
    assert drawn.text.startswith("is") and "\\frac{a_{1}}{\\sqrt{b}}" in drawn.text


def test_limits_of_sums_and_of_named_operators():
    drawn = Drawn().put("= ", name="CMR10")
    start = drawn.at
    drawn.page.chars.append(Char("∑", start, 90.0, start + 14, 106.0, 90.0, font("CMEX10"), True, False, 99))
    drawn.put("n", 12, 7, x=start + 5.2, space=True).put("i=1", -13, 7, x=start + 1.7).put("x", x=start + 16)
    assert drawn.text == "= ∑_{i=1}^{n}x"
    two = Drawn().put("= ", name="CMR10")
    for at in (115.0, 131.0):
        two.page.chars.append(Char("∑", at, 90.0, at + 14, 106.0, 90.0, font("CMEX10"), True, False, 99))
    two.put("a∈A", -13, 7, x=116.7, space=True).put("b∈B", -13, 7, x=132.7, space=True).put("x", x=147)
    assert "∑_{a∈A} ∑_{b∈B}" in two.text
    named = Drawn().put("min", name="CMR10").put("w", -8, 7, x=105.7).put("L", x=122)
    assert named.text == "min_{w} L"
    wide = Drawn().put("of", name="Times", x=80).put("max", name="CMR10", x=110).put("u,v,w,x,y,z", -8, 7, x=98.2).put("L", x=142)
    assert wide.text == "of max_{u,v,w,x,y,z}L"
    beside = Drawn().put("max", name="CMR10").put("w", -8, 7, x=116.5)  # under its end: a line of its own that happens to begin there
    assert "_{" not in beside.text


def test_a_wide_accent_drawn_after_its_letter():
    drawn = Drawn().put("m")
    drawn.page.chars.append(Char("ˆ", 99.5, 91.5, 105.5, 93.0, 100.0, font("CMEX10"), False, False, 99))
    assert drawn.put("t", -1.5, 7).text == "m̂_{t}"


def test_the_report_sets_what_a_pdf_alone_gives():
    assert mathml.text("a rate of 10^{−4} for d_{model}") == "a rate of 10<sup>−4</sup> for d<sub>model</sub>"
    assert mathml.text("by \\frac{1}{\\sqrt{d_{k}}}") == "by (1)/(√(d<sub>k</sub>))"
    assert mathml.text("x_{<b>}") == "x<sub>&lt;b&gt;</sub>"
    assert "<mfrac>" in mathml.formula("P_{i} = \\frac{1}{T} ∑_{t=1}^{T} s_{i,t}", display=True)


def test_a_square_after_a_bracket_calls_no_note(tmp_path):
    """Its 2 is that of a footnote on the next page; what stands in the bracket is mathematics."""
    first, second = pages.Sheet(), pages.Sheet()
    first.text(100, 100, "1   Method", 12, "bold").text(100, 120, "The loss is the squared error").text(245, 120, "(V", 10, "math").text(258, 120, "- 1)")
    first.text(272.4, 116, "2", 7).text(280, 120, "and no other, as all of the runs show, and it is taken")
    first.text(100, 132, "over all of the steps of a run and over all runs of the data that were made.")
    second.text(100, 100, "We say so in a note").text(178.4, 96, "2", 7).text(184.5, 100, "and go on with the text of this page, which is")
    second.text(100, 112, "as long as it has to be so that it is read as running text by all.").rule(100, 700, 250)
    second.text(104, 710, "2", 5).text(108, 714, "This is the note, and it is set small at the foot.", 8)
    (tmp_path / "a.pdf").write_bytes(pages.pdf(first, second))
    paper = reader.read(tmp_path / "a.pdf", light=True)
    text = " ".join(block.text for section in paper.sections for block in section.blocks)
    assert "- 1)^{2}" in text and "in a note and go on" in text, text
    assert [(note.number, note.text[:16]) for note in paper.footnotes] == [("2", "This is the note")]
