"""Damaged papers: small ones of our own, cut, flipped, doubled and mixed with what readers look for, the same on every run.

Each gives a sound paper or says what is wrong (`cli.Stop`), never a traceback and never a long wait. What fuzzing at length
has found stands in FOUND below, as small as it could be made. `PAPER2CODE_FUZZ=2000` tries that many of each form.
"""

from __future__ import annotations

import gzip
import io
import os
import random
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from paper2code import cli
from paper2code.acquire import unpack
from paper2code.paper import check
from paper2code.read import html, latex, text
from paper2code.read import pdf as pdf_reader
from paper2code.read.open import decode
from pdfs import Sheet, pdf

TRIES = int(os.environ.get("PAPER2CODE_FUZZ", "60"))
LONGEST = 10  # seconds of CPU

LATEX = r"""\documentclass{article}
\usepackage{amsmath,algorithm,algpseudocode,booktabs,multirow,cleveref}
\newcommand{\vx}{\mathbf{x}}\newcommand{\loss}[2][\theta]{\mathcal{L}_{#1}(#2)}\def\pair(#1,#2){\langle #1,#2\rangle}
\newif\ifdraft \draftfalse \numberwithin{equation}{section} \newtheorem{theorem}{Theorem}[section]
\title{A Rule\thanks{A note.}}\author{Ada Muster \and Ben Probe}
\begin{document}\maketitle \begin{abstract}We give a rule $\vx$.\end{abstract}
\section{Method}\label{sec:m} See \cref{eq:a}, Table~\ref{tab:a}\footnote{A note with \verb|%x|.} and \cite{k1}. \ifdraft no \else yes \fi
\begin{align} a &= \loss{\vx} \label{eq:a}\\ b &= \pair(1,2) \nonumber \\ c &= \frac{1}{2}\tag{X} \end{align}
\begin{algorithm}\caption{Steps}\begin{algorithmic}[1]\Require $x$ \State a \For{$i=1$ to $n$}\If{$a>b$}\State $x\gets 1$
\Comment{note}\Else\State b\EndIf\EndFor\While{a}\State \Return $x$\EndWhile\end{algorithmic}\end{algorithm}
\begin{table}\caption{A table.}\label{tab:a}\begin{tabular}{l|cc@{}p{3cm}}\toprule \multirow{2}{*}{a} & \multicolumn{2}{c}{b} & c\\
\cmidrule(lr){2-3} & 1 & 2 & \begin{tabular}{c}x\\y\end{tabular}\\\bottomrule\end{tabular}\end{table}
\begin{figure}\includegraphics{a.png}\caption{A figure.}\end{figure} \begin{itemize}\item one \item two\end{itemize}
\begin{theorem}[Name]\label{t} All $x$. \end{theorem}\begin{lstlisting}
def f(x): return x % 2
\end{lstlisting}\begin{thebibliography}{9}\bibitem{k1} A. Author. Title. 2020.\end{thebibliography}
\appendix\section{More}\begin{equation}y\end{equation}\end{document}
"""
HTML = """<!DOCTYPE html><html><body><article class="ltx_document"><h1 class="ltx_title ltx_title_document">A Rule</h1>
<div class="ltx_authors"><span class="ltx_personname">Ada Muster</span></div><div class="ltx_abstract"><p class="ltx_p">We give a rule.</p></div>
<section class="ltx_section" id="S1"><h2 class="ltx_title ltx_title_section"><span class="ltx_tag">1 </span>Method</h2><div class="ltx_para">
<p class="ltx_p">We set <math alttext="x_{1}=1" display="inline"><mi>x</mi></math><span class="ltx_note ltx_role_footnote"><sup>1</sup>
<span class="ltx_note_content">A note.</span></span>.</p></div><table class="ltx_equationgroup"><tr class="ltx_equation ltx_eqn_row"><td>
<math alttext="a=b"></math></td><td class="ltx_eqn_eqno"><span class="ltx_tag ltx_tag_equation">(1)</span></td></tr></table>
<figure class="ltx_table"><figcaption class="ltx_caption"><span class="ltx_tag">Table 1: </span>Sizes.</figcaption><table class="ltx_tabular">
<tr class="ltx_tr"><td class="ltx_td" colspan="2">a</td></tr><tr class="ltx_tr"><td class="ltx_td">1</td><td class="ltx_td">2</td></tr></table>
</figure><figure class="ltx_float ltx_float_algorithm"><figcaption class="ltx_caption"><span class="ltx_tag">Algorithm 1 </span>Go</figcaption>
<div class="ltx_listing"><div class="ltx_listingline"><span class="ltx_tag ltx_tag_listingline">1:</span>go</div></div></figure></section>
<section class="ltx_bibliography"><ul><li class="ltx_bibitem" id="bib.bib1"><span class="ltx_bibblock">A. Author. 2020.</span></li></ul>
</section></article></body></html>"""
TEXT = """# A Rule

Ada Muster

## Abstract

We give a rule.

## 1 Method

We set $x_1 = 1$ [^1] and see ![a picture](a.png) and [the code](https://example.org/a).

$$
a = b \\tag{1}
$$

Algorithm 1: Go

```
1: repeat
2:   x = x - g
3: until done
```

| a | b |
|---|---|
| 1 | 2 |

Table 1: Sizes.

[^1]: A note.

- one
- two

## References

[1] A. Author. A title. 2020.
"""


def sheets() -> list[Sheet]:
    one = Sheet().text(150, 90, "A Small Rule", 17, "bold").text(250, 120, "Ada Muster").text(290, 160, "Abstract", 11, "bold")
    one.lines(130, 180, "We give a rule and test it on data that we made for this.").text(100, 230, "1   Method", 12, "bold")
    one.lines(100, 250, "We train the small model with the plain rule and we show that\nthe step that it takes is right.")
    one.text(220, 310, "y = a x + b", 10, "italic").text(371, 310, "(1)").rule(100, 400, 400).rule(100, 420, 400).rule(100, 450, 400)
    one.text(110, 395, "Table 1: Sizes.").text(110, 414, "a").text(200, 414, "b").text(110, 434, "1").text(200, 434, "2")
    two = Sheet().rule(100, 100, 400).text(100, 112, "Algorithm 1 Go").rule(100, 117, 400).text(102, 129, "1: go").rule(100, 135, 400)
    return [one.link("https://example.org", 100, 245, 200, 260), two.text(100, 300, "References", 12, "bold").text(100, 320, "[1] A. Author. 2020.")]


def archives() -> list[bytes]:
    out = []
    for mode, form in (("w", tarfile.USTAR_FORMAT), ("w:gz", tarfile.PAX_FORMAT), ("w", tarfile.GNU_FORMAT)):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode=mode, format=form) as archive:
            for name in ("main.tex", "parts/two.tex", "x" * 90 + ".bib"):
                member = tarfile.TarInfo(name)
                member.size = len(LATEX)
                archive.addfile(member, io.BytesIO(LATEX.encode()))
        out.append(packed.getvalue())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("main.tex", LATEX)
        archive.writestr("parts/two.tex", LATEX)
    return [*out, packed.getvalue(), packed.getvalue(), gzip.compress(LATEX.encode())]


SEEDS = {"latex": lambda: [LATEX.encode()], "html": lambda: [HTML.encode()], "text": lambda: [TEXT.encode()],
         "pdf": lambda: [pdf(*sheets()), pdf(*sheets(), bookmarks=[("1 Method", 1, 220), ("References", 2, 290)]), pdf(*sheets(), wrapped=True)],
         "archive": archives}
PIECES = {
    "latex": r"""{ } $ $$ & \\ % # ^ _ [ ] \begin{equation} \end{equation} \end{document} \begin{algorithmic}[1] \end{algorithmic} \State
        \For{ \begin{table} \end{table} \input{main} \def\a{\a}\a \verb|% \item \tag{ \label{ \multirow{ \multicolumn{9} \newcommand{\x}[9]
        \expandafter \csname \iffalse \else \fi \loop \appendix \ref{ \footnote{ \caption{ \left( 999999999999 -1 ² \catcode` \0""".split(),
    "html": """< > </div> <table> </table> <td/colspan="99999999"> <td/rowspan="²"> <math/alttext=" </math> <!-- --> <script> &#0; &#x110000; &
        class="ltx_float_algorithm" class="ltx_listingline" <section/class="ltx_appendix"> <template> <plaintext> <select> <p>""".split(),
    "text": """# ``` $$ $ | |---| [^1]: (1) Algorithm/1: Table/1: ![](![]( ]( <!-- <div/style="display:none"> \\begin{equation} - -- 1. [1] ² \u202e
        References https:// ** __ word-""".split(),
    "pdf": """BT ET Tj Tf Tm cm re q Q endstream endobj stream /Kids/[3/0/R] /Rotate/90 /MediaBox/[0/0/0/0] 999999999 -1 1e38 nan ( ) << >> [ ]""".split(),
    "archive": ["\0" * 16, "../", "PK\x03\x04", "PK\x01\x02", "PK\x05\x06", "ustar", "\x1f\x8b", "7777777", "\xff" * 8]}


def mutated(data: bytes, pieces: list[str], chance: random.Random) -> bytes:
    """`data` with one to thirty wounds: cut off, bits flipped, spans lost, doubled or moved, pieces put in once or often."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5, 10, 30))):
        at = chance.randrange(max(1, len(out)))
        span = out[at:at + chance.choice((1, 2, 8, 40, 300, 3000))]
        piece = chance.choice(pieces).replace("/", " ").encode("utf-8" if pieces is not PIECES["archive"] else "latin-1")
        match chance.randrange(9):
            case 0:
                del out[chance.randrange(max(1, len(out))):]
            case 1:
                out[at:at + 1] = bytes([(out[at] if out else 0) ^ 1 << chance.randrange(8)])
            case 2:
                del out[at:at + len(span)]
            case 3:
                out[at:at] = span * chance.choice((1, 2, 10))
            case 4:
                del out[at:at + len(span)]
                to = chance.randrange(len(out) + 1)
                out[to:to] = span
            case 5:
                out[at:at] = piece * chance.choice((50, 1000, 5000))
            case _:
                out[at:at] = piece
    return bytes(out[:2_000_000])


def read(form: str, data: bytes, folder: Path) -> None:
    """Read bytes as a form; a Stop is an answer, and so is a sound paper in little time."""
    started = time.process_time()
    try:
        if form == "latex":
            (folder / "main.tex").write_bytes(data)
            paper = latex.read(folder)
        elif form == "html":
            paper = html.read(data)
        elif form == "text":
            paper = text.read(decode(data))
        elif form == "pdf":
            (folder / "paper.pdf").write_bytes(data)
            paper = pdf_reader.read(folder / "paper.pdf", light=True)
        else:
            (folder / "packed").write_bytes(data)
            unpack.unpack(folder / "packed", folder / "out")
            paper = None
    except cli.Stop:
        paper = None
    assert time.process_time() - started < LONGEST
    assert paper is None or check(paper.data()) == []


@pytest.mark.parametrize("form", SEEDS)
def test_damaged_papers_end_well(tmp_path, form):
    chance = random.Random(f"{form} 1")
    seeds = SEEDS[form]()
    for number in range(TRIES):
        data = mutated(chance.choice(seeds), PIECES[form], chance)
        try:
            read(form, data, tmp_path)
        except BaseException:
            (tmp_path / f"found-{number}").write_bytes(data)
            raise


def empty_name() -> bytes:
    """A zip whose member has lost its name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a", LATEX)
    data = bytearray(packed.getvalue())
    at = data.rindex(b"PK\x01\x02")
    data[at + 28:at + 30] = b"\0\0"
    data[at + 30:at + 32] = b"\x01\0"
    return bytes(data)


def far_member() -> bytes:
    """A zip whose list of members says that one begins before the file does."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("main.tex", LATEX)
    data = bytearray(packed.getvalue())
    at = data.rindex(b"PK\x05\x06")
    data[at + 16:at + 20] = (int.from_bytes(data[at + 16:at + 20], "little") + 5000).to_bytes(4, "little")
    return bytes(data)


# Each once made a reader fail or run for long.
FOUND = {
    "latex: names in names": ("latex", b"\\documentclass{article}\\begin{document}" + b"\\csname" * 5000 + b" x\\end{document}"),
    "latex: a digit that is no number": ("latex", "\\documentclass{article}\\begin{document}\\begin{tabular}{c}\\multicolumn{²}{c}{a}"
                                         "\\end{tabular}\\footnotemark[²]\\footnotetext[²]{b}\\end{document}".encode()),
    "latex: an author of marks": ("latex", b"\\documentclass{article}\\title{T}\\author{A" + b"1,*" * 20_000 + b"x}\\begin{document}"
                                  b"\\maketitle a\\end{document}"),
    "html: sections in sections": ("html", b'<article class="ltx_document">' + b'<section class="ltx_appendix"><section class="ltx_section">' * 500),
    "html: a span that is no number": ("html", '<table class="ltx_tabular"><tr><td colspan="²">a<td rowspan="٣">b</table>'.encode()),
    "text: a word that never ends": ("text", b"1 Method\n\n" + (b"a" * 60 + b"\n") * 1500),
    "text: lines of one letter": ("text", b"1 Method\n\n" + b"ab\n" * 30_000),
    "text: pictures in pictures": ("text", b"# A\n\nwords " + b"![](" * 5000),
    "text: signs of headings": ("text", b"# A\n\n# " + b"# " * 8000 + b"x\n"),
    "text: unseen in unseen": ("text", b"# A\n\n" + b'<div style="display:none">' * 5000),
    "text: white before a number": ("text", b"# A\n\n$$\na" + b" " * 20_000 + b"b\n$$\n"),
    "archive: a member without a name": ("archive", empty_name()),
    "archive: a member outside the file": ("archive", far_member()),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_fuzzing_found(tmp_path, name):
    form, data = FOUND[name]
    read(form, data, tmp_path)
