"""LaTeX that no one should write: the reader ends, keeps what it can, and says what it met and where."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paper2code import cli
from paper2code.paper import check
from paper2code.read import latex

FRAME = "\\documentclass{article}\\begin{document}\\section{First} start\n%s\n\\section{Last} the end\\end{document}"

# name: source, the kinds of warning it must give
BAD = {
    "brace never closed": ("{ {\\bf foo \\textbf{bar", set()),
    "caption never closed": ("\\begin{figure}\\caption{x", {"unbalanced-braces"}),
    "too many closed": ("} } foo } }", set()),
    "calls itself": ("\\def\\a{\\a}\\a", {"macro-loop"}),
    "doubles itself": ("\\def\\a{\\a\\a}\\a", {"macro-loop"}),
    "call each other": ("\\def\\a{\\b x}\\def\\b{\\a y}\\a", {"macro-loop"}),
    "grows by powers": ("\\def\\a{xxxxxxxxxx}" + "".join(
        f"\\def\\{chr(98 + n)}{{{(chr(92) + chr(97 + n)) * 10}}}" for n in range(12)) + "\\m", {"macro-loop"}),
    "environment in itself": ("\\newenvironment{foo}{\\begin{foo}}{\\end{foo}}\\begin{foo}x\\end{foo}", {"macro-loop"}),
    "equation without end": ("\\begin{equation} x = y", {"no-end"}),
    "figure without end": ("\\begin{figure} \\caption{A figure.}", {"no-end"}),
    "tabular without end": ("\\begin{tabular}{cc} a & b \\\\", {"no-end"}),
    "verbatim without end": ("\\begin{verbatim} a & b", {"no-end"}),
    "comment without end": ("\\begin{comment} a & b", {"no-end"}),
    "stray end": ("\\end{table}", {"stray-end"}),
    "leaves the source": ("\\input{/etc/passwd} \\input{../../x} \\input|ls", {"outside"}),
    "takes itself in": ("\\input{main} \\include{main}", {"input-loop"}),
    "missing input": ("\\input{chapters/none}", {"missing-input"}),
    "deep braces": ("{" * 20_000 + "x" + "}" * 20_000, set()),
    "deep fractions": ("$" + "\\frac{" * 1500 + "x" + "}{y}" * 1500 + "$", set()),
    "deep lists": ("\\begin{itemize}\\item x " * 800 + "\\end{itemize}" * 800, {"too-deep"}),
    "deep notes": ("\\footnote{" * 400 + "x" + "}" * 400, set()),
    "counters in a ring": ("\\numberwithin{section}{equation}\\numberwithin{equation}{section}\\begin{equation}x\\end{equation}",
                           {"macro-loop"}),
    "dollars": ("$x \n\n" * 300, {"no-end"}),
    "huge span": ("\\begin{tabular}{c}\\multicolumn{999999999}{c}{x}\\\\\\end{tabular}", set()),
    "arguments missing": ("\\multirow \\multicolumn \\footnote\n\n\\multirow{} x y z", set()),
    "verb": ("\\verb|%x| y \\verb+a%+", set()),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_latex_ends_and_is_named(tmp_path, name):
    source, kinds = BAD[name]
    (tmp_path / "main.tex").write_text(FRAME % source, encoding="utf-8")
    start = time.process_time()
    paper = latex.read(tmp_path)
    assert time.process_time() - start < 10
    assert check(paper.data()) == []
    assert {"First", "Last"} <= {section.title for section in paper.sections}
    given = {warning.kind: warning.where for warning in paper.warnings}
    assert kinds <= set(given)
    assert all(given[kind] and given[kind].startswith("main.tex:") for kind in kinds)


def test_ten_thousand_macros(tmp_path):
    names = ["".join(chr(97 + int(digit)) for digit in str(n)) for n in range(10_000)]
    macros = "\n".join(f"\\newcommand{{\\m{name}}}{{v{n}}}" for n, name in enumerate(names))
    (tmp_path / "main.tex").write_text(FRAME.replace("\\begin{document}", macros + "\n\\begin{document}") % "\\mjjjj{} and \\mba",
                                       encoding="utf-8")
    text = latex.read(tmp_path).sections[0].blocks[0].text
    assert text == "start v9999 and v10"


def test_long_equation_and_long_table(tmp_path):
    equation = "x_{1}+\\frac{a}{b}" * 3200
    rows = "a & $b_1$ & \\textbf{c} & 4 \\\\\n" * 2000
    (tmp_path / "main.tex").write_text(FRAME % (
        f"\\begin{{equation}}{equation}\\end{{equation}}\\begin{{table}}\\caption{{Long.}}\\begin{{tabular}}{{cccc}}{rows}"
        "\\end{tabular}\\end{table}"), encoding="utf-8")
    paper = latex.read(tmp_path)
    assert len(paper.equations[0].latex) >= 50_000
    assert paper.tables[0].number == "1"
    assert paper.tables[0].rows == [["a", "$b_1$", "c", "4"]] * 2000


def test_no_tex_is_told(tmp_path):
    (tmp_path / "notes.md").write_text("# no", encoding="utf-8")
    with pytest.raises(cli.Stop) as stop:
        latex.read(tmp_path)
    assert stop.value.code == cli.UNUSABLE
    with pytest.raises(cli.Stop) as stop:
        latex.read(tmp_path / "missing")
    assert stop.value.code == cli.USAGE


def test_a_link_out_of_the_source_is_not_followed(tmp_path):
    secret = tmp_path / "secret.tex"
    secret.write_text("SECRET", encoding="utf-8")
    source = tmp_path / "source"
    source.mkdir()
    (source / "main.tex").write_text(FRAME % "\\input{link} \\input{../secret}", encoding="utf-8")
    (source / "link.tex").symlink_to(secret)
    paper = latex.read(source)
    assert "SECRET" not in str(paper.data())
    assert {"outside"} <= {warning.kind for warning in paper.warnings}


PIECES = st.sampled_from([
    "{", "}", "[", "]", "$", "$$", "&", "#1", "#", "^", "_", "~", " ", "\n", "\n\n", "%", "a", "x=1", "-", "*", "(", "=", "\\\\", "{a}",
    "{b}{c}", "[1]", "{2}", "\\label{l}", "\\ref{l}", "\\cite{k}", "\\begin{document}", "\\end{document}", "\\def\\q", "\\q",
    "\\newcommand{\\q}", "\\section{S}", "\\caption{c}", "\\item", "\\iffalse", "\\iftrue", "\\else", "\\fi", "\\let\\q", "\\verb|",
    "\\csname", "\\endcsname", "\\expandafter", "``", "é", "\\input{main}", "\\newenvironment{e}", "\\begin{e}", "\\end{e}",
    "\\makeatletter", "\0", "\\footnote", "\\multicolumn", "\\subfloat", "\\tag", "\\frac", "\\text", "\\thanks", "\\gls", "\\num"])
ENVIRONMENTS = st.sampled_from(["equation", "align", "subequations", "figure", "subfigure", "table", "tabular", "longtable", "algorithm",
                                "algorithmic", "itemize", "theorem", "proof", "verbatim", "lstlisting", "comment", "thebibliography",
                                "minipage", "restatable", "empheq", "abstract", "appendices", "tikzpicture", "numcases"])
PARTS = st.one_of(PIECES, ENVIRONMENTS.map(lambda name: f"\\begin{{{name}}}"), ENVIRONMENTS.map(lambda name: f"\\end{{{name}}}"))


@settings(max_examples=120, deadline=None, derandomize=True,
          suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(PARTS, max_size=50), st.booleans())
def test_any_latex_gives_a_sound_paper(tmp_path, parts, framed):
    body = "".join(parts)
    (tmp_path / "main.tex").write_text(FRAME % body if framed else body, encoding="utf-8")
    paper = latex.read(tmp_path)
    assert check(paper.data()) == []
    assert not any("\ue000" <= char <= "\ue005" for char in str(paper.data()))


# Found by fuzzing: each once made the reader fail or run for long.
FOUND = [
    "\\begin{subnumcases}{}a\\end{subnumcases}",
    "\\Cref{\\input{main}\\begin{figure}a",
    "\\begin{restatable}{}{m}x\\end{restatable}\\m",
    "\\csdef{}{x}\\let\\q=",
    "\\SetKwProg{[}{Function}{}{end} \\[x\\]",
    "\\newcommand{\\q}{\\subcaptionbox{a}{\\q\\q}}\\begin{figure}\\q\\end{figure}",
]


@pytest.mark.parametrize("body", FOUND)
def test_what_fuzzing_found(tmp_path, body):
    (tmp_path / "main.tex").write_text(FRAME % body, encoding="utf-8")
    start = time.process_time()
    assert check(latex.read(tmp_path).data()) == []
    assert time.process_time() - start < 10
