"""The LaTeX reader on small papers of our own: formulas, tables, algorithms, figures, notes, citations, files."""

from __future__ import annotations

from pathlib import Path

import pytest
from paper2code.paper import Paper, check
from paper2code.read import latex


def paper(tmp_path: Path, body: str, preamble: str = "", files: dict[str, str | bytes] | None = None) -> Paper:
    text = "\\documentclass{article}\n" + preamble + "\n\\begin{document}\n\\section{S}\n" + body + "\n\\end{document}\n"
    for name, content in {"main.tex": text, **(files or {})}.items():
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    made = latex.read(tmp_path)
    assert check(made.data()) == []
    return made


def texts(made: Paper) -> list[str]:
    return [block.text for section in made.sections for block in section.blocks if block.text]


def test_equations_expand_macros_and_keep_what_was_written(tmp_path):
    made = paper(tmp_path, "Before\n\\begin{align}\n \\vx &= \\R_\\d \\label{a} \\\\\n &= \\norm{y} \\nonumber \\\\ z &= \\op{q}\n\\end{align}\nafter.",
                 r"\newcommand{\vx}{\mathbf{x}}\def\R{\mathbb{R}}\newcommand{\d}{{d}}\DeclarePairedDelimiter{\norm}{\lVert}{\rVert}"
                 r"\DeclareMathOperator*{\op}{arg\,max}")
    first, second = made.equations
    assert (first.number, second.number) == ("1", "2")
    assert first.latex.replace(" ", "") == r"\mathbf{x}&=\mathbb{R}_{d}\\&=\lVerty\rVert"
    assert first.raw.startswith(r"\vx &= \R_\d")
    assert second.latex.replace(" ", "") == r"z&=\operatorname*{arg\,max}{q}"
    assert first.group == second.group and first.label == "a"
    assert [(b.kind, b.text) for b in made.sections[0].blocks] == [
        ("paragraph", "Before"), ("equation", ""), ("equation", ""), ("paragraph", "after.")]


def test_an_unnumbered_equation_before_a_numbered_one_stands_alone(tmp_path):
    made = paper(tmp_path, r"\begin{align} a &= b \nonumber \\ c &= d \\ e &= f \nonumber \\ &\quad + g \end{align}")
    assert [(e.number, e.latex.replace(" ", "")) for e in made.equations] == [
        (None, "a&=b"), ("1", "c&=d"), ("2", r"e&=f\\&\quad+g")]


def test_macros_of_every_kind(tmp_path):
    made = paper(tmp_path, r"\hi{} \hi[you] \pair<a,b> \opt{1} \opt[2]{1} \ifbig big\else small\fi{} \sq\ and \z{x}{y}.",
                 r"\newcommand{\hi}[1][me]{hi #1}\def\pair<#1,#2>{#2 #1}\newif\ifbig\bigtrue\let\sq\textbf"
                 r"\NewDocumentCommand{\opt}{o m}{\IfNoValueTF{#1}{none}{#1}-#2}\newcommand*\z[2]{\inner{#2}{#1}}"
                 r"\newcommand\inner[2]{#1#2}")
    assert texts(made) == ["hi me hi you b a none-1 2-1 big and yx."]


def test_table_with_spans_and_nested_cells(tmp_path):
    made = paper(tmp_path, r"""
\begin{table*}[t]\centering
\caption{Results of \textsc{Us}\footnote{Ours.}.}\label{tab:r}
\resizebox{\textwidth}{!}{\begin{tabular}{@{}l|c*{2}{r}@{}}
\toprule
\multirow{2}{*}{Model} & \multicolumn{2}{c}{Score} & \\ \cmidrule(lr){2-3}
 & A & B & \begin{tabular}[c]{@{}c@{}}two\\lines\end{tabular} \\ \midrule
\rowcolor{gray} Ours & \textbf{1.0} & $2_{\pm 0.1}$ & \ding{51} \\[2pt]
R\&D & 50\% & - & \\
\bottomrule
\end{tabular}}
\end{table*} See Table~\ref{tab:r}.""")
    table = made.tables[0]
    assert (table.number, table.caption, table.label) == ("1", "Results of Us.", "tab:r")
    assert table.rows == [["Model", "Score", "", ""], ["", "A", "B", "two lines"],
                          ["Ours", "1.0", r"$2_{\pm 0.1}$", "✓"], ["R&D", "50%", "-", ""]]
    assert texts(made) == ["See Table 1."]
    assert [note.text for note in made.footnotes] == ["Ours."]


def test_tables_side_by_side_find_their_captions(tmp_path):
    made = paper(tmp_path, r"""\begin{table}
\begin{minipage}{.5\linewidth}\begin{tabular}{c}a1\\a2\end{tabular}\caption{One.}\end{minipage}
\begin{minipage}{.5\linewidth}\begin{tabular}{c}b1\\b2\end{tabular}\caption{Two.}\end{minipage}
\end{table}
\begin{table}\caption{Three.}\begin{tabular}{c}c1\\\end{tabular}\caption{Four.}\begin{tabular}{c}d1\\\end{tabular}\end{table}""")
    assert [(t.number, t.caption, t.rows[0][0]) for t in made.tables] == [
        ("1", "One.", "a1"), ("2", "Two.", "b1"), ("3", "Three.", "c1"), ("4", "Four.", "d1")]


def test_long_table_heads_count_once(tmp_path):
    made = paper(tmp_path, r"""\begin{longtable}{ll}
\caption{Long.}\\ K & V \\ \endfirsthead \multicolumn{2}{c}{continued} \\ K & V \\ \endhead
\multicolumn{2}{r}{next page} \\ \endfoot a & 1 \\ b & 2 \\ \end{longtable}""", r"\usepackage{longtable}")
    assert made.tables[0].rows == [["K", "V"], ["a", "1"], ["b", "2"]]


@pytest.mark.parametrize("package, body, lines", [
    ("algpseudocode", r"""\begin{algorithmic}[1]\Require $x$ \Ensure $y$
\Function{Go}{$a, b$} \For{$i=1$ to $n$} \If{$a>b$} \State $a \gets 0$ \Comment{reset} \ElsIf{$c$} \State q \Else \State \Call{F}{x}
\EndIf \EndFor \State \Return $a$ \EndFunction \Repeat \State z \Until{done}\end{algorithmic}""",
     ["Require: $x$", "Ensure: $y$", "function Go($a, b$)", "  for $i=1$ to $n$ do", "    if $a>b$ then",
      r"      $a \gets 0$ ▷ reset", "    else if $c$ then", "      q", "    else", "      F(x)", "    end if", "  end for",
      "  return $a$", "end function", "repeat", "  z", "until done"]),
    ("algorithmic", r"""\begin{algorithmic}\STATE \textbf{Input:} $x$ \WHILE{true} \STATE go \ENDWHILE \RETURN $y$ \end{algorithmic}""",
     ["Input: $x$", "while true do", "  go", "end while", "return $y$"]),
    ("algorithm2e", r"""\KwIn{$x$}\SetKwFunction{Go}{Run} init\; \For{$i \in I$}{ \eIf{$a$}{b\;}{c\; d}
\Go{$i$}\tcp*{note} } \While{t}{u\;} \Return{$r$}\;""",
     ["Input: $x$", "init;", r"for $i \in I$ do", "  if $a$ then", "    b;", "  else", "    c;", "    d", "  end", "  Run($i$); // note",
      "end", "while t do", "  u;", "end", "return $r$;"]),
    ("[noend]{algpseudocode}", r"""\algrenewcommand\algorithmicrequire{\textbf{Input:}}\begin{algorithmic}\Require k
\ForAll{$i$} \State s \EndFor\end{algorithmic}""", ["Input: k", "for all $i$ do", "  s"]),
    ("listings", "\\begin{lstlisting}[language=Python]\ndef f(x):\n    return x % 2\n\\end{lstlisting}",
     ["def f(x):", "    return x % 2"]),
])
def test_algorithms_as_readable_lines(tmp_path, package, body, lines):
    use = f"\\usepackage{package}" if package.startswith("[") else f"\\usepackage{{{package}}}"
    made = paper(tmp_path, f"\\begin{{algorithm}}[t]\n\\caption{{Do $x$.}}\\label{{alg:x}}\n{body}\n\\end{{algorithm}}", use)
    algorithm = made.algorithms[0]
    assert (algorithm.number, algorithm.caption, algorithm.label) == ("1", "Do $x$.", "alg:x")
    assert algorithm.lines == lines


def test_figures_and_subfigures(tmp_path):
    made = paper(tmp_path, r"""A\begin{figure}\subfloat[left\label{l}]{\includegraphics{a}}\subfloat[right]{\includegraphics{b.png}}
\caption[short]{Both $x$.}\label{f}\end{figure} B Figure~\ref{l}.
\begin{wrapfigure}{r}{.4\textwidth}\includegraphics[width=1cm]{c}\caption{Wrapped.}\end{wrapfigure}""", r"\usepackage{subfig}")
    assert [(f.number, f.caption, f.files) for f in made.figures] == [("1", "Both $x$.", ["a", "b.png"]), ("2", "Wrapped.", ["c"])]
    assert "A B Figure 1a." in texts(made)
    assert "(a) left" in texts(made)


def test_lists_theorems_and_code(tmp_path):
    made = paper(tmp_path, r"""\begin{itemize}\item one \item two\end{itemize}
\begin{enumerate}[label=(\alph*)]\item first\label{i} \item second\end{enumerate}
\begin{theorem}[Name]\label{t} All $x$.\end{theorem}\begin{proof}Easy by \ref{i}.\end{proof} Theorem~\ref{t}.
\begin{verbatim}
a % b \end
\end{verbatim}""", r"\newtheorem{theorem}{Theorem}[section]\usepackage{enumitem}")
    blocks = [(b.kind, b.text, b.number) for b in made.sections[0].blocks]
    assert blocks == [
        ("list", "• one", None), ("list", "• two", None), ("list", "(a) first", None), ("list", "(b) second", None),
        ("theorem", "Theorem 1.1 (Name). All $x$.", "Theorem 1.1"), ("paragraph", "Proof. Easy by a.", None),
        ("paragraph", "Theorem 1.1.", None), ("code", "a % b \\end", None)]


def test_footnotes_and_links(tmp_path):
    made = paper(tmp_path, r"""Code is at \url{https://a.org/x_y%20z}\footnote{See \href{https://b.org}{here}.} now. Next\footnotemark.
\footnotetext{Later.}""")
    assert [(n.number, n.text) for n in made.footnotes] == [("1", "See here."), ("2", "Later.")]
    assert [(link.url, link.where) for link in made.links] == [("https://b.org", "footnote"), ("https://a.org/x_y%20z", "text")]
    assert made.links[1].context == "Code is at https://a.org/x_y%20z now."


BIB = r"""@string{icml = "ICML"}
@article{kingma2014, author = {Kingma, Diederik P. and Ba, Jimmy}, title = "{A}dam: A Method", journal = {arXiv preprint arXiv:1412.6980},
 year = 2014}
@inproceedings{he, author={He, K. and Zhang, X. and Ren, S.}, title={Deep}, booktitle=icml, year={2016}, doi={10.1000/xyz}}
@misc{unused, title={Never}}
"""


def test_references_from_bib_are_those_cited(tmp_path):
    made = paper(tmp_path, r"We use \citep{kingma2014}; \citet[p.~3]{he} agree \citep{kingma2014,he}. \bibliographystyle{plainnat}"
                 r"\bibliography{refs}", r"\usepackage{natbib}", {"refs.bib": BIB})
    assert texts(made) == ["We use (Kingma and Ba, 2014); He et al. (2016, p. 3) agree (Kingma and Ba, 2014; He et al., 2016)."]
    assert made.sections[0].blocks[0].cites == ["kingma2014", "he"]
    assert [(r.key, r.title, r.year, r.arxiv, r.doi) for r in made.references] == [
        ("he", "Deep", "2016", None, "10.1000/xyz"), ("kingma2014", "Adam: A Method", "2014", "1412.6980", None)]
    assert made.references[1].authors == ["Diederik P. Kingma", "Jimmy Ba"]
    assert made.references[0].text == "K. He, X. Zhang, and S. Ren. Deep. ICML, 2016."


def test_references_from_bbl_win(tmp_path):
    bbl = r"""\begin{thebibliography}{2}
\bibitem{b} A.~Beta and C.~Gamma.
\newblock The title.
\newblock \emph{Journal}, 2019. \url{https://x.org/b}.
\bibitem{a} D. Delta. ``Quoted title,'' in \emph{Proc.}, 2020, arXiv:2001.01234.
\end{thebibliography}"""
    made = paper(tmp_path, r"As in \cite{a} and \cite{b,a}.\bibliography{refs}", files={"refs.bib": BIB, "main.bbl": bbl})
    assert texts(made) == ["As in [2] and [1, 2]."]
    assert [(r.label, r.title, r.year, r.arxiv, r.url) for r in made.references] == [
        ("1", "The title", "2019", None, "https://x.org/b"), ("2", "Quoted title", "2020", "2001.01234", None)]
    assert made.references[0].authors == ["A. Beta", "C. Gamma"]


def test_files_are_put_together(tmp_path):
    made = paper(tmp_path, "\\input{parts/one} \\include{parts/two}\\import{parts/}{three}\\subfile{parts/four} \\input missing",
                 r"\usepackage{mine}", {
        "parts/one.tex": "One.\r\n\r\n% gone\r\n", "parts/two.tex": "Two \\my.\n\n", "parts/three.tex": "\\input{five}\n\n",
        "parts/five.tex": "Five.", "parts/four.tex": "\\documentclass[../main]{subfiles}\\begin{document}Four.\n\n\\end{document}",
        "dead.tex": "\\section{Dead}", "mine.sty": "\\newcommand{\\my}{own}\\def\\section{nonsense}"})
    assert texts(made) == ["One.", "Two own.", "Five.", "Four."]
    assert [w.message for w in made.warnings if w.kind == "missing-input"] == ["missing is asked for and is not in the source"]


@pytest.mark.parametrize("data, encoding", [
    ("café ñ".encode("latin-1"), "latin-1"), (b"\xef\xbb\xbf" + "café ñ".encode(), "bom"), ("café ñ".encode("mac-roman"), "mac"),
    ("café".encode("latin-1") + " ñ".encode(), "mixed"), ("café ñ".encode("utf-16"), "utf-16")])
def test_encodings(tmp_path, data, encoding):
    made = paper(tmp_path, r"\input{text}", files={"text.tex": data})
    assert texts(made) == ["café ñ"], encoding


def test_main_file_is_chosen(tmp_path):
    head = "\\documentclass{article}\\begin{document}\\title{%s}\\maketitle\\section{A} text \\end{document}"
    for name, title in {"supplement.tex": "Supplement", "fig/plot.tex": "Plot", "a_paper.v10.tex": "Paper", "old/main.tex": "Old"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((head % title).replace("article", "standalone" if title == "Plot" else "article"), encoding="utf-8")
    (tmp_path / "._main.tex").write_bytes(b"\0\5\x16\7")
    assert latex.read(tmp_path).title == "Paper"
    (tmp_path / "00README.XXX").write_text("supplement.tex toplevelfile\n", encoding="utf-8")
    assert latex.read(tmp_path).title == "Supplement"
    assert latex.read(tmp_path / "old" / "main.tex").title == "Old"


def test_references_by_kind(tmp_path):
    made = paper(tmp_path, r"""\begin{equation}a\label{e}\end{equation}\begin{figure}\caption{x}\label{f}\end{figure}
\begin{figure}\caption{x}\label{g}\end{figure}\cref{e}, \Cref{e}, \cref{f,g}, \autoref{s}, \Cref{s}, \eqref{e}, \nameref{s}.
\subsection{Sub}\label{s}""", r"\usepackage{hyperref,cleveref}")
    assert texts(made)[0] == "eq. (1), Equation (1), figs. 1 and 2, subsection 1.1, Section 1.1, (1), Sub."


def test_appendix_by_its_heading_after_the_references(tmp_path):
    made = paper(tmp_path, r"x \begin{thebibliography}{1}\bibitem{a} A. B.\end{thebibliography} \section*{Supplementary Material} y "
                           r"\section{More} z")
    assert [(s.title, s.appendix) for s in made.sections] == [("S", False), ("Supplementary Material", True), ("More", True)]
