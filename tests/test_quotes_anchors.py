"""Anchors are found wherever the skill lets them be written, with their lines, quotes, fields and the code they belong to."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper2code.check.anchors import find, quote_end, scan, scan_text

PYTHON = r'''"""Model. §3 — "the model is called "Transformer" here"."""
import torch

# §3.1 — "The encoder is composed of a
# stack of N = 6 identical layers"
class Encoder:
    """Stack.

    §3.1, Eq. 4 — x = LayerNorm(x + f(x))
    Algorithm 1, lines 3-5
    """
    n: int = 6  # §3.1 — “stack of N = 6” and "identical layers"
    d: int = 512  # §4.1, Table 2 — d_model = 512
    b: bool = True  # [UNSPECIFIED] bias of the projections. Using: True
                    # Alternatives: False (as in GPT-2)

    def forward(self, x):
        # [PARTIALLY_SPECIFIED] §3.2 — "we use dropout" where is not said. Using: after softmax.
        y = x * 0.5  # Appendix B
        # [FROM_OFFICIAL_CODE] eps. Source: https://github.com/a/b/blob/0123/f.py#L3
        # [ASSUMPTION] seeds. Reason: the paper gives none.
        # Section 3.2 of [7] is another paper's
        # §5.4, p. 8 — "Pdrop = 0.1"
        s = "§2 — \"in a string\""
        t = ("§Experiments — " '"joined string"')
        return "nothing here"
'''


@pytest.fixture(scope="module")
def found():
    anchors, findings = scan_text(PYTHON, "src/model.py")
    assert findings == []
    return anchors


@pytest.mark.parametrize("line, end, place, kind, quote, where, code", [
    (1, 1, "§3", "section", 'the model is called "Transformer" here', "docstring", ""),
    (4, 5, "§3.1", "section", "The encoder is composed of a stack of N = 6 identical layers", "comment", "Encoder"),
    (12, 12, "§3.1", "section", "stack of N = 6", "comment", "Encoder.n"),
    (12, 12, "§3.1", "section", "identical layers", "comment", "Encoder.n"),
    (18, 18, "§3.2", "section", "we use dropout", "comment", "Encoder.forward"),
    (23, 23, "§5.4, p. 8", "section", "Pdrop = 0.1", "comment", "Encoder.forward"),
    (24, 24, "§2", "section", "in a string", "string", "Encoder.forward"),
    (25, 25, "§Experiments", "section", "joined string", "string", "Encoder.forward"),
    (10, 10, "Algorithm 1, lines 3-5", "algorithm", None, "docstring", "Encoder"),
    (19, 19, "Appendix B", "appendix", None, "comment", "Encoder.forward"),
])
def test_each_anchor_is_found(found, line, end, place, kind, quote, where, code):
    hits = [a for a in found if (a.line, a.place, a.quote) == (line, place, quote)]
    assert [(a.end_line, a.kind, a.where, a.code) for a in hits] == [(end, kind, where, code)]


def test_nothing_else_is_found(found):
    assert len(found) == 15


def test_formulas(found):
    assert {a.place: a.formula for a in found if a.formula} == {
        "§3.1, Eq. 4": "x = LayerNorm(x + f(x))", "§4.1, Table 2": "d_model = 512"}


def test_flags_have_their_fields(found):
    flags = {a.tag: a for a in found if a.tag}
    assert (flags["UNSPECIFIED"].using, flags["UNSPECIFIED"].alternatives) == ("True", "False (as in GPT-2)")
    assert (flags["UNSPECIFIED"].code, flags["UNSPECIFIED"].end_line) == ("Encoder.b", 15)
    assert flags["PARTIALLY_SPECIFIED"].using == "after softmax"
    assert flags["FROM_OFFICIAL_CODE"].source == "https://github.com/a/b/blob/0123/f.py#L3"
    assert flags["ASSUMPTION"].reason.startswith("the paper gives none")


def test_values_beside_anchors(found):
    assert {(a.code, a.values, a.assigned) for a in found if a.values} == {
        ("Encoder.n", ("6",), True), ("Encoder.d", ("512",), True), ("Encoder.forward", ("0.5",), False)}


def test_yaml():
    anchors, findings = scan_text("""# §5.4 — "Pdrop = 0.1"
training:
  dropout: 0.1 # §5.4 — "Pdrop =
               # 0.1"
  # Table 3
  # [UNSPECIFIED] seed. Using: 0
  seed: 0
  url: "http://x#y"
  cite: '§2 — "word"'
""", "configs/base.yaml")
    assert findings == []
    assert [(a.line, a.place, a.quote, a.tag, a.code) for a in anchors] == [
        (1, "§5.4", "Pdrop = 0.1", None, "training"), (3, "§5.4", "Pdrop = 0.1", None, "training.dropout"),
        (5, "Table 3", None, None, "training.seed"), (6, "", None, "UNSPECIFIED", "training.seed"),
        (9, "§2", "word", None, "training.cite")]


def test_markdown():
    anchors, _ = scan_text("""# Notes
The **§3.2** — "quote one" is used.
We use "quoted" things, see Table 2.

| item | status | quote | section |
|---|---|---|---|
| depth | SPECIFIED | "N = 6 layers" | §3.1 |
- §3.3:
  > "block quote"
""", "README.md")
    assert [(a.line, a.place, a.quote) for a in anchors] == [
        (2, "§3.2", "quote one"), (3, "Table 2", None), (7, "§3.1", "N = 6 layers"), (8, "§3.3", "block quote")]


def test_notebook(tmp_path):
    import nbformat

    book = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_markdown_cell('## Attention\n§3.2 — "a quote"'),
        nbformat.v4.new_code_cell('%matplotlib inline\nx = 1  # §3.3 — "ünother quote"'),
        nbformat.v4.new_code_cell("def broken(:")])
    path = tmp_path / "walkthrough.ipynb"
    nbformat.write(book, path)
    anchors, findings = scan(tmp_path)
    assert [(a.place, a.quote, a.cell) for a in anchors] == [("§3.2", "a quote", 1), ("§3.3", "ünother quote", 2)]
    lines = path.read_text(encoding="utf-8").split("\n")
    assert all(a.place in lines[a.line - 1] for a in anchors)
    assert [f.check for f in findings] == ["python-syntax"] and "cell 3" in findings[0].message


@pytest.mark.parametrize("name, text, check, line", [
    ("a.py", 'def f(:\n  x = 1 # §3 — "a b"\n', "python-syntax", 1),
    ("a.py", 'x = """§3 — "a b"\n', "python-syntax", 1),
    ("a.py", "x = '\0'", "python-syntax", None),
    ("a.yaml", "a: 1\n\tb: 2\n", "yaml-syntax", 2),
    ("a.ipynb", "{", "notebook-unreadable", 1),
    ("a.ipynb", '{"cells": [1]}', "notebook-unreadable", None),
    ("a.md", 'So §5 — "unclosed\n', "quote-unclosed", 1),
])
def test_bad_input_is_a_finding(name, text, check, line):
    findings = scan_text(text, name)[1]
    assert check in [f.check for f in findings]
    assert line in [f.line for f in findings if f.check == check]


def test_broken_code_still_gives_its_anchors():
    anchors, _ = scan_text('x = (\ny = 1  # §3 — "a b c"\ndef f(:\n  z = 1  # §4 — "d e"\n', "a.py")
    assert [(a.line, a.place) for a in anchors] == [(2, "§3"), (4, "§4")]


def test_not_utf8(tmp_path):
    (tmp_path / "a.py").write_bytes(b'# caf\xe9\n# Figure 2\n')
    anchors, findings = scan(tmp_path)
    assert [f.check for f in findings] == ["file-not-utf8"] and findings[0].line == 1
    assert find(tmp_path) == anchors


def test_hidden_folders_and_outputs_are_not_read(tmp_path):
    for folder in (".git", "__pycache__", "src"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text('# §3 — "quote here"\n', encoding="utf-8")
    book = {"cells": [{"cell_type": "code", "source": "1", "outputs": ["§3"]}]}
    (tmp_path / "n.ipynb").write_text(json.dumps(book), encoding="utf-8")
    assert [a.file for a in find(tmp_path)] == ["src/a.py"]


def test_words_that_are_no_places():
    text = '"""Abstract base class.\n\nExample 1: nothing. In this section 3 is odd? No: a table of 2. Line 3.\n"""\n'
    assert [a.place for a in scan_text(text, "a.py")[0]] in ([], ["section 3"])


@pytest.mark.parametrize("text, pairs", [
    ('Section 3.2: "a quote here"', [("Section 3.2", "a quote here")]),
    ('from §5.3 ("a quote here")', [("§5.3", "a quote here")]),
    ('§3.1 says "a quote here"', [("§3.1", "a quote here")]),
    ('§ 3.2 (Optimizer) — "N = 6"', [("§ 3.2", "N = 6")]),
    ('"a quote here" (§5.3)', [("§5.3", "a quote here")]),
    ('§3.2 — “a quote "inner" here”', [("§3.2", 'a quote "inner" here')]),
    ('§5.3, "a quote here"; §5.4, "another quote"', [("§5.3", "a quote here"), ("§5.4", "another quote")]),
    ('Table 3(b), row 2 — "x y z"', [("Table 3", "x y z")]),
    ('Eq. 4 (§3.2)', [("Eq. 4 (§3.2)", None)]),
    ('§3 — the "residual" branch', [("§3", None)]),
    ('§3.1 — "N = 6" [PARTIALLY_SPECIFIED] where? Using: here', [("§3.1", "N = 6")]),
    ('[PARTIALLY_SPECIFIED] "only this is said" Using: that', [("", "only this is said")]),
    ('Algorithm 1, l. 3', [("Algorithm 1, l. 3", None)]),
])
def test_forms_in_which_anchors_are_written(text, pairs):
    assert [(a.place, a.quote) for a in scan_text(f"x = y  # {text}\n", "a.py")[0]] == pairs


PIECES = ["§3.2", "Eq. 4", "Table", " — ", "\"", "“", "”", "[UNSPECIFIED]", "Using:", "Alternatives:", "\n", "#", "'", '"""', "\\", "(", "x = 1",
          "Algorithm 1, lines 3-5", ":", "\t", "    ", "é", "Appendix B", "{", "- ", "|", "§", "[PARTIALLY_SPECIFIED]", "a b c", "\n\n"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=25).map("".join),
       st.sampled_from(["a.py", "a.yaml", "a.md", "a.ipynb", "requirements.txt"]))
def test_any_text_can_be_scanned(text, name):
    anchors, findings = scan_text(text, name)
    lines = text.count("\n") + text.count("\r") + 1
    assert all(1 <= anchor.line <= anchor.end_line <= lines for anchor in anchors)
    assert all(finding.line is None or 1 <= finding.line <= lines + 1 for finding in findings)


@pytest.mark.parametrize("quote", ['"We call it “Scaled attention”"', '"the “keys” and the “values” are one"', '"“Scaled” is ours"'])
def test_typographic_marks_inside_straight_ones_do_not_end_the_quote(quote):
    text = f'{quote}. Then §5.4 — "another one".'
    assert text[: quote_end(text, 0)] == quote
