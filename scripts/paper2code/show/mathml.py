"""Text with `$…$` as HTML: mathematics becomes MathML (which browsers show without any script), everything else is escaped."""

from __future__ import annotations

import functools
import re
from html import escape

from latex2mathml import converter

INLINE = re.compile(r"(?<!\\)\$([^$]+)\$")
# Commands that only steer layout, which the converter does not know, and their plain counterparts.
LAYOUT = re.compile(r"\\(?:label|tag)\*?\{[^{}]*\}|\\(?:nonumber|notag|displaystyle|textstyle|limits|nolimits|ensuremath|protect|allowbreak)\b")
KNOWN = {r"\bm": r"\boldsymbol", r"\mathds": r"\mathbb", r"\mathbbm": r"\mathbb", r"\mathscr": r"\mathcal", r"\textsc": r"\text"}


@functools.lru_cache(maxsize=20_000)
def formula(latex: str, *, display: bool = False) -> str:
    """MathML of a formula, or its LaTeX as code where the converter fails. The LaTeX stays as the element's title."""
    shown = escape(latex.strip(), quote=True)
    text = LAYOUT.sub("", latex)
    for command, known in KNOWN.items():
        text = re.sub(re.escape(command) + r"(?![A-Za-z])", lambda _, known=known: known, text)
    text = re.sub(r"\\(begin|end)\{(?:aligned|split|gathered|alignedat|multlined)\}(?:\{\d+\})?", r"\\\1{align*}", text)
    if display and not text.lstrip().startswith(r"\begin") and ("&" in text or r"\\" in text):
        text = rf"\begin{{align*}}{text}\end{{align*}}"
    try:
        out = converter.convert(text, display="block" if display else "inline")
    except Exception:  # the converter raises its own and others' errors on unknown input
        return f'<code class="tex">{shown}</code>'
    if re.search(r"<m(?:text|i)>\\[A-Za-z]+<", out):
        return f'<code class="tex">{shown}</code>'
    # Only MathML's own elements and plain attributes go through: the formula comes from a paper.
    if re.search(r"<(?!/?(?:m[a-z]+|semantics)\b)|\bon\w+\s*=|href|<m(?:action|error)\b", out):
        return f'<code class="tex">{shown}</code>'
    return out.replace("<math ", f'<math title="{shown}" ', 1)


def text(source: str) -> str:
    """A paragraph of the paper as HTML."""
    out, at = [], 0
    for found in INLINE.finditer(source):
        out.append(plain(source[at:found.start()]))
        out.append(formula(found.group(1)))
        at = found.end()
    return "".join([*out, plain(source[at:])])


# What a PDF alone gives outside of formulas, innermost first; the tags put in hold no braces.
SCRIPTS = ((re.compile(r"\^\{([^{}]*)\}"), r"<sup>\1</sup>"), (re.compile(r"_\{([^{}]*)\}"), r"<sub>\1</sub>"),
           (re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}"), r"(\1)/(\2)"), (re.compile(r"\\sqrt\{([^{}]*)\}"), r"√(\1)"))


def plain(source: str) -> str:
    """Text without formulas as HTML, its powers, indices, fractions and roots set."""
    out, before = escape(source.replace(r"\$", "$")), None
    while out != before:
        before = out
        for pattern, html in SCRIPTS:
            out = pattern.sub(html, out)
    return out
