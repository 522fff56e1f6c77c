"""Numbers as LaTeX prints them. What is expected was read from the .aux files of pdflatex (TeX Live 2022)."""

from __future__ import annotations

import re

import pytest
from paper2code.read import latex

CASES = {
    "within": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\numberwithin{equation}{section}",
        r"\section{A}\label{s1}\begin{equation}a\label{e1}\end{equation}\section{B}\begin{equation}b\label{e2}"
        r"\end{equation}\begin{align}a&=b\label{e3}\\c&=d\notag\\e&=f\label{e4}\end{align}",
        {"s1": "1", "e1": "1.1", "e2": "2.1", "e3": "2.2", "e4": "2.3"}),
    "counterwithin": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\counterwithin{figure}{section}",
        r"\section{A}\begin{figure}\caption{x\label{f1}}\end{figure}\section{B}\begin{figure}\caption{x}\label{f2}"
        r"\end{figure}\counterwithout{figure}{section}\begin{figure}\caption{x}\label{f3}\end{figure}",
        {"f1": "1.1", "f2": "2.1", "f3": "2"}),
    "subeq": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\begin{equation}x\label{e0}\end{equation}\begin{subequations}\label{es}\begin{align}a&=b\label{ea}\\c&=d"
        r"\label{eb}\end{align}\end{subequations}\begin{equation}z\label{ez}\end{equation}",
        {"e0": "1", "es": "2", "ea": "2a", "eb": "2b", "ez": "3"}),
    "tag": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\newcommand\numberthis{\addtocounter{equation}{1}\tag{\theequation}}",
        r"\begin{equation}x\tag{$\ast$}\label{e1}\end{equation}\begin{equation}y\label{e2}\end{equation}"
        r"\begin{align*}a&=b\\c&=d\numberthis\label{e3}\end{align*}\begin{align}a\label{e4}\nonumber\\b\end{align}"
        r"\begin{equation}q\label{e5}\end{equation}",
        {"e1": "∗", "e2": "1", "e3": "2", "e4": "3", "e5": "4"}),
    "multline": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\begin{multline}a+\\b\label{m1}\end{multline}\begin{gather}a\label{g1}\\b\label{g2}\end{gather}"
        r"\begin{gather*}a\\b\end{gather*}\begin{eqnarray}a&=&b\label{q1}\\&=&c\nonumber\\&=&d\label{q2}"
        r"\end{eqnarray}\begin{alignat}{2}a&=b&c&=d\label{al1}\\e&=f&g&=h\label{al2}\end{alignat}\begin{flalign}a&=b"
        r"\label{fl}\end{flalign}",
        {"m1": "1", "g1": "2", "g2": "3", "q1": "4", "q2": "5", "al1": "6", "al2": "7", "fl": "8"}),
    "trail": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        '\\begin{align}a&=b\\label{e1}\\\\\\end{align}\\begin{align}a&=b\\label{e2}\\end{align}\\begin{gather}x\\label{e3}\\\\'
        r"\end{gather}\begin{gather}x\label{e4}\end{gather}\begin{eqnarray}a&=&b\label{e5}\\\end{eqnarray}"
        r"\begin{eqnarray}a&=&b\label{e6}\end{eqnarray}",
        {"e1": "1", "e2": "3", "e3": "4", "e4": "6", "e5": "7", "e6": "9"}),
    "nonum": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\begin{equation}a\nonumber\end{equation}\begin{equation}b\label{e1}\end{equation}\begin{equation}c\notag"
        r"\end{equation}\begin{equation}d\label{e2}\end{equation}\begin{equation*}z\end{equation*}\[z\]"
        '\\begin{equation}\\begin{split}a&=b\\\\&=c\\end{split}\\label{e3}\\end{equation}\\begin{equation}\\begin{aligned}a\\'
        r"\b\end{aligned}\label{e4}\end{equation}",
        {"e1": "1", "e2": "2", "e3": "3", "e4": "4"}),
    "setcounter": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\setcounter{section}{4}\section{A}\label{s1}\setcounter{equation}{10}\begin{equation}a\label{e1}"
        r"\end{equation}\addtocounter{equation}{5}\begin{equation}a\label{e2}\end{equation}\refstepcounter{equation}"
        r"\label{e3}\begin{equation}a\label{e4}\end{equation}",
        {"s1": "5", "e1": "11", "e2": "17", "e3": "18", "e4": "19"}),
    "renew": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\begin{equation}a\label{e1}\end{equation}\renewcommand{\theequation}{S\arabic{equation}}"
        r"\setcounter{equation}{0}\begin{equation}a\label{e2}\end{equation}\renewcommand\thefigure{S\arabic{figure}}"
        r"\setcounter{figure}{0}\begin{figure}\caption{c}\label{f1}\end{figure}\renewcommand{\thesection}{"
        r"\Roman{section}}\section{A}\label{s1}\subsection{B}\label{s2}",
        {"f1": "S1", "e1": "1", "e2": "S1", "s1": "I", "s2": "I.1"}),
    "appendix": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\numberwithin{equation}{section}",
        r"\section{A}\begin{equation}a\label{e1}\end{equation}\appendix\section{X}\label{a1}\begin{equation}a"
        r"\label{e2}\end{equation}\subsection{Y}\label{a2}\begin{table}\caption{t}\label{t1}\end{table}",
        {"t1": "1", "e1": "1.1", "a1": "A", "e2": "A.1", "a2": "A.1"}),
    "appendices": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage[toc,page]{appendix}",
        r"\section{A}\begin{appendices}\section{X}\label{a1}\subsection{Y}\label{a2}\end{appendices}",
        {"a1": "A", "a2": "A.1"}),
    "theorems": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\newtheorem{theorem}{Theorem}[section]\newtheorem{lemma}[theorem]{Lemma}\newtheorem{definition}{Definition}"
        r"\newtheorem*{remark}{Remark}\newtheorem{assumption}{Assumption}\renewcommand{\theassumption}{A"
        r"\arabic{assumption}}",
        r"\section{A}\begin{theorem}x\label{t1}\end{theorem}\begin{lemma}[Name]y\label{l1}\end{lemma}\section{B}"
        r"\begin{definition}z\label{d1}\end{definition}\begin{theorem}x\label{t2}\end{theorem}\begin{remark}r"
        r"\end{remark}\begin{assumption}q\label{as}\end{assumption}\begin{assumption}q\label{as2}\end{assumption}",
        {"t1": "1.1", "l1": "1.2", "d1": "1", "t2": "2.1", "as": "A1", "as2": "A2"}),
    "subfig": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{subcaption}",
        r"\begin{figure}\begin{subfigure}{.4\textwidth}x\caption{one}\label{fa}\end{subfigure}\begin{subfigure}{.4"
        r"\textwidth}x\caption{two}\label{fb}\end{subfigure}\caption{main}\label{f}\end{figure}\begin{figure}"
        r"\begin{subfigure}{.4\textwidth}x\caption{one}\label{fc}\end{subfigure}\end{figure}\begin{figure}"
        r"\caption{last}\label{fl}\end{figure}",
        {"fa": "1a", "fb": "1b", "f": "1", "fc": "2a", "fl": "3"}),
    "subfloat": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{subfig}",
        r"\begin{figure}\subfloat[one\label{fa}]{x}\subfloat[two]{y\label{fb}}\caption{main}\label{f}\end{figure}"
        r"\begin{figure}\caption{last}\label{fl}\end{figure}",
        {"fa": "1a", "fb": "1b", "f": "1", "fl": "2"}),
    "captionof": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{caption}",
        r"\begin{figure}\begin{minipage}{.4\textwidth}x\caption{one}\label{f1}\end{minipage}\begin{minipage}{.4"
        r"\textwidth}\begin{tabular}{cc}a&b\end{tabular}\captionof{table}{two}\label{t1}\end{minipage}\end{figure}"
        r"\begin{table}\caption{three}\label{t2}\end{table}\begin{figure}\caption*{nonum}\end{figure}\begin{figure}"
        r"\caption{z}\label{f2}\end{figure}",
        {"f1": "1", "t1": "1", "t2": "2", "f2": "2"}),
    "footnote": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"A\footnote{one\label{n1}} B\footnotemark{} C\footnote{three\label{n3}}\footnotetext[2]{two} "
        r"\begin{enumerate}\item a\label{i1}\item b\label{i2}\begin{enumerate}\item c\label{i3}\end{enumerate}"
        r"\end{enumerate}",
        {"i1": "1", "i2": "2", "i3": "2a", "n1": "1", "n3": "3"}),
    "book": (
        r"\documentclass{book}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\chapter{A}\label{c1}\section{B}\label{s1}\begin{equation}a\label{e1}\end{equation}\begin{figure}"
        r"\caption{x}\label{f1}\end{figure}\appendix\chapter{X}\label{c2}\section{Y}\label{s2}\begin{equation}a"
        r"\label{e2}\end{equation}",
        {"c1": "1", "s1": "1.1", "e1": "1.1", "f1": "1.1", "c2": "A", "s2": "A.1", "e2": "A.1"}),
    "alg": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{algorithm,algpseudocode}",
        r"\begin{algorithm}\caption{a}\label{a1}\begin{algorithmic}\State x\end{algorithmic}\end{algorithm}"
        r"\section{S}\begin{algorithm}\caption{b}\label{a2}\end{algorithm}",
        {"a1": "1", "a2": "2"}),
    "alg2e": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage[ruled,algosection]{algorithm2e}",
        r"\section{S}\begin{algorithm}\caption{a\label{a1}}x\;\end{algorithm}\begin{algorithm}y\;\caption{b}"
        r"\label{a2}\end{algorithm}",
        {"a1": "1.1", "a2": "1.2"}),
    "longtable": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{longtable}",
        r"\begin{longtable}{cc}\caption{a}\label{t1}\\a&b\\\endfirsthead c&d\\\endhead e&f\\\end{longtable}"
        r"\begin{table}\caption{x}\label{t2}\end{table}\begin{longtable}{cc}a&b\\\end{longtable}\begin{table}"
        r"\caption{x}\label{t3}\end{table}",
        {"t2": "2", "t3": "4", "t1": "1"}),
    "macroenv": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\newcommand{\be}{\begin{equation}}\newcommand{\ee}{\end{equation}}\def\bea#1\eea{\begin{align}#1"
        r"\end{align}}\newcommand{\eq}[2]{\begin{equation}#1\label{#2}\end{equation}}\newenvironment{myeq}{"
        r"\equation}{\endequation}\newcommand\sect[2]{\section{#1}\label{#2}}",
        r"\be a\label{e1}\ee \bea a&b\label{e2}\\c&d\label{e3}\eea \eq{z}{e4}\begin{myeq}q\label{e5}\end{myeq}"
        r"\sect{Foo}{s1}",
        {"e1": "1", "e2": "2", "e3": "3", "e4": "4", "e5": "5", "s1": "1"}),
    "cases": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{cases,empheq}",
        r"\begin{numcases}{f=}a\label{e1}\\b\label{e2}\end{numcases}\begin{empheq}[left=x]{align}a&=b\label{e3}\\c&=d"
        r"\label{e4}\end{empheq}\begin{empheq}{equation}a\label{e5}\end{empheq}",
        {"e1": "1", "e2": "2", "e3": "3", "e4": "4", "e5": "5"}),
    "breqn": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{breqn}",
        r"\begin{dmath}a=b\label{e1}\end{dmath}\begin{dmath*}a=b\end{dmath*}\begin{dgroup}\begin{dmath}a=b\label{e2}"
        r"\end{dmath}\begin{dmath}c=d\label{e3}\end{dmath}\end{dgroup}",
        {"e1": "1", "e2": "2a", "e3": "2b"}),
    "secnum": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\setcounter{secnumdepth}{4}\section{A}\subsection{B}\subsubsection{C}\label{s3}\paragraph{D}\label{s4}"
        r"\setcounter{secnumdepth}{1}\section{E}\label{s5}\subsection{F}\label{s6}",
        {"s3": "1.1.1", "s4": "1.1.1.1", "s5": "2", "s6": "2"}),
    "ifs": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\newif\ifdraft\draftfalse\usepackage{ifthen,etoolbox}\newtoggle{tg}\toggletrue{tg}",
        r"\ifdraft\begin{equation}a\label{e1}\end{equation}\else\begin{equation}b\label{e2}\end{equation}\fi"
        r"\ifnum1<2 \begin{equation}c\label{e3}\end{equation}\fi\ifx\undefd\relax\else\begin{equation}c\label{e4}"
        r"\end{equation}\fi\ifthenelse{\equal{a}{a}}{\begin{equation}c\label{e5}\end{equation}}{}\iftoggle{tg}{"
        r"\begin{equation}x\label{e6}\end{equation}}{\begin{equation}x\label{e7}\end{equation}}\ifcase2 a\or b\or"
        r"\begin{equation}c\label{e8}\end{equation}\else d\fi",
        {"e2": "1", "e3": "2", "e4": "3", "e5": "4", "e6": "5", "e8": "6"}),
    "xparse": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{xparse}\NewDocumentCommand{\E}{s O{y} m}{\IfBooleanTF{#1}{\[#3\]}{"
        r"\refstepcounter{equation}#2#3}}\NewDocumentEnvironment{T}{m o}{\begin{equation}#1}{\end{equation}}",
        r"\E{a}\label{e1}\E*{a}\E[z]{b}\label{e2}\begin{T}{k}q\label{e3}\end{T}",
        {"e1": "1", "e2": "2", "e3": "3"}),
    "listing": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{listings}",
        r"\begin{lstlisting}[caption={A $x$},label=l1]" "\n"
        r"a % b" "\n"
        r"\end{lstlisting}" "\n"
        r"\section{Q}\label{s1}",
        {"l1": "1", "s1": "1"}),
    "newfloat": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{float}\newfloat{scheme}{tbp}{los}\floatname{scheme}{Scheme}",
        r"\begin{scheme}\caption{a}\label{c1}\end{scheme}\begin{scheme}\caption{b}\label{c2}\end{scheme}",
        {"c1": "1", "c2": "2"}),
    "enumi": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{enumitem}",
        r"\begin{enumerate}[label=(\roman*)]\item a\label{i1}\item b\label{i2}\end{enumerate}"
        r"\begin{enumerate}[resume]\item c\label{i3}\end{enumerate}",
        {"i1": "(i)", "i2": "(ii)", "i3": "3"}),
    "continued": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{caption}",
        r"\begin{figure}\caption{a}\label{f1}\end{figure}\begin{figure}\ContinuedFloat\caption{b}\label{f2}"
        r"\end{figure}\begin{figure}\caption{c}\label{f3}\end{figure}",
        {"f1": "1", "f2": "1", "f3": "2"}),
    "wrap": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{wrapfig,rotating}",
        r"\begin{wrapfigure}[3]{r}{.3\textwidth}x\caption{a}\label{f1}\end{wrapfigure} text text "
        r"\begin{wraptable}{l}{3cm}\caption{a}\label{t1}\end{wraptable}\begin{sidewaystable}\caption{q}\label{t2}"
        r"\end{sidewaystable}",
        {"f1": "1", "t1": "1", "t2": "2"}),
    "llncs": (
        r"\documentclass{amsart}\newtheorem{thm}{Theorem}[section]",
        r"\section{A}\begin{thm}\label{t1}x\end{thm}\begin{equation}a\label{e1}\end{equation}",
        {"t1": "1.1", "e1": "1"}),
    "shared": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\newtheorem{thm}[equation]{Theorem}",
        r"\section{A}\begin{equation}a\label{e1}\end{equation}\begin{thm}x\label{t1}\end{thm}\begin{equation}a"
        r"\label{e2}\end{equation}",
        {"e1": "1", "t1": "2", "e2": "3"}),
    "let": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\let\beq\equation\let\eeq\endequation\let\osec\section",
        r"\beq a\label{e1}\eeq\begin{equation}b\label{e2}\end{equation}\osec{Foo}\label{s1}",
        {"e1": "1", "e2": "2", "s1": "1"}),
    "intertext": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\begin{align}a&=b\label{e1}\\\intertext{and}c&=d\label{e2}\end{align}\begin{align}\begin{split}a&=b\\&=c"
        r"\end{split}\label{e3}\\d&=e\label{e4}\end{align}\begin{align}\begin{cases}a\\b\end{cases}\label{e5}"
        r"\end{align}",
        {"e1": "1", "e2": "2", "e3": "3", "e4": "4", "e5": "5"}),
    "comment": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}" "\n"
        r"\usepackage{comment}",
        r"\begin{comment}" "\n"
        r"\begin{equation}a\label{e0}\end{equation}" "\n"
        r"\end{comment}" "\n"
        r"\begin{equation}a\label{e1}\end{equation}" "\n"
        r"\iffalse\begin{equation}a\label{e2}\end{equation}\fi" "\n"
        r"%\begin{equation}" "\n"
        r"\begin{verbatim}" "\n"
        r"\begin{equation}\label{e9}" "\n"
        r"\end{verbatim}" "\n"
        r"\begin{equation}a\label{e3}\end{equation}",
        {"e1": "1", "e3": "2"}),
    "subappendix": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\section{A}\begin{figure}\caption{a}\label{f1}\end{figure}\appendix\renewcommand{\thefigure}{\thesection."
        r"\arabic{figure}}\setcounter{figure}{0}\section{B}\begin{figure}\caption{a}\label{f2}\end{figure}"
        r"\makeatletter\@addtoreset{figure}{section}\makeatother\section{C}\begin{figure}\caption{a}\label{f3}"
        r"\end{figure}",
        {"f1": "1", "f2": "A.1", "f3": "B.1"}),
    "parts": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\part{P}\label{p1}\section{A}\label{s1}\part{Q}\label{p2}\section{B}\label{s2}",
        {"p1": "I", "s1": "1", "p2": "II", "s2": "2"}),
    "stargroup": (
        r"\documentclass{article}" "\n"
        r"\usepackage{amsmath,amsthm,graphicx}",
        r"\begin{align*}a&=b\tag{1a}\label{e1}\\c&=d\end{align*}{\renewcommand{\theequation}{X\arabic{equation}}"
        r"\begin{equation}a\label{e2}\end{equation}}\begin{equation}a\label{e3}\end{equation}",
        {"e1": "1a", "e2": "X1", "e3": "2"}),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_as_pdflatex_prints_them(tmp_path, name):
    preamble, body, expected = CASES[name]
    asked = "\n\n".join(f"Asked {label}: \\ref{{{label}}}." for label in expected)
    text = f"{preamble}\n\\begin{{document}}\n{body}\n\n{asked}\n\\end{{document}}\n"
    (tmp_path / "main.tex").write_text(text, encoding="utf-8")
    paper = latex.read(tmp_path)
    said = " ".join(block.text for section in paper.sections for block in section.blocks)
    found = dict(re.findall(r"Asked (\S+): (.*?)\.(?= Asked|$)", said))
    squeeze = {label: re.sub(r"[^\w∗]", "", number.replace("\\ast", "∗")) for label, number in found.items()}
    assert squeeze == {label: re.sub(r"[^\w∗]", "", number) for label, number in expected.items()}


def labels_of(tmp_path, text: str) -> dict[str, str]:
    """What `Asked x: \\ref{x}.` prints for each label asked for."""
    (tmp_path / "main.tex").write_text(text, encoding="utf-8")
    paper = latex.read(tmp_path)
    said = " ".join(block.text for section in paper.sections for block in section.blocks)
    return dict(re.findall(r"Asked (\S+): (.*?)\.(?= Asked|$)", said))


def test_only_equations_referred_to_are_numbered(tmp_path):
    text = (r"\documentclass{article}\usepackage{mathtools}\mathtoolsset{showonlyrefs}\begin{document}\section{A}"
            r"\begin{equation}a\label{e1}\end{equation}\begin{equation}b\label{e2}\end{equation}"
            r"\begin{align}a&=b\label{e3}\\c&=d\label{e4}\end{align} See \eqref{e2}." "\n\n"
            r"Asked e2: \ref{e2}." "\n\n" r"Asked e4: \ref{e4}.\end{document}")
    assert labels_of(tmp_path, text) == {"e2": "1", "e4": "2"}
    assert [(e.number, e.latex) for e in latex.read(tmp_path).equations] == [(None, "a"), ("1", "b"), (None, "a&=b"), ("2", "c&=d")]


def test_the_ieee_class_numbers_in_roman(tmp_path):
    text = (r"\documentclass{IEEEtran}\begin{document}\section{A}\label{s1}\subsection{B}\label{s2}"
            r"\begin{table}\caption{x}\label{t1}\end{table}" "\n\n"
            "Asked s1: \\ref{s1}.\n\nAsked s2: \\ref{s2}.\n\nAsked t1: \\ref{t1}.\\end{document}")
    assert labels_of(tmp_path, text) == {"s1": "I", "s2": "I-A", "t1": "I"}


def test_a_continued_float_keeps_its_number(tmp_path):
    text = (r"\documentclass{article}\usepackage{caption,subfigure}\begin{document}\section{A}"
            r"\begin{figure}\caption{x}\label{f1}\end{figure}\begin{figure}\subfigure[a]{y}\end{figure}"
            r"\begin{figure}\ContinuedFloat\subfigure[b]{z}\end{figure}"
            r"\begin{figure}\ContinuedFloat\subfigure[c]{z}\caption{w}\label{f2}\end{figure}"
            "\n\nAsked f1: \\ref{f1}.\n\nAsked f2: \\ref{f2}.\\end{document}")
    assert labels_of(tmp_path, text) == {"f1": "1", "f2": "1"}
