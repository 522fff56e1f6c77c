"""Characters that hide text or turn it round, in a paper from any source, and the list of everything hidden that was found.

Hidden text is data to show, never to follow or to quote. What a PDF page hides is found by its reader
(`read.pdfparts.hidden`), what HTML hides by the HTML reader; here are the characters that any source may hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from paper2code.paper import Paper

ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u180e\u00ad"
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
TAGS = re.compile("[\U000e0000-\U000e007f]+")
ARABIC = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u0900-\u0dff\u200d\U0001f300-\U0001faff]")


def controls(text: str) -> Iterator[tuple[str, str]]:
    """(how, the text around) for characters that hide or turn text: Unicode tags, bidirectional overrides, zero-width runs."""
    for match in TAGS.finditer(text):
        said = "".join(chr(ord(c) - 0xE0000) for c in match.group(0) if 0x20 <= ord(c) - 0xE0000 < 0x7F)
        yield "Unicode tag characters", said or around(text, match)
    if not ARABIC.search(text):
        for match in re.finditer(f"[{BIDI[:5]}{BIDI[5:9]}]", text):
            yield "bidirectional control", around(text, match)
        for match in re.finditer("[\u200b\u200c\u2060\ufeff\u180e]{3,}", text):
            yield "run of zero-width characters", around(text, match)
    else:
        for match in re.finditer("[\u202d\u202e]", text):
            yield "bidirectional override", around(text, match)


def around(text: str, match: re.Match) -> str:
    return clean(text[max(0, match.start() - 40):match.end() + 40])


CLEAN = str.maketrans(dict.fromkeys(ZERO_WIDTH + BIDI))


def clean(text: str) -> str:
    """Text without characters that have no width or turn its direction."""
    return TAGS.sub("", text.translate(CLEAN))


def in_paper(paper: Paper) -> list[dict]:
    """Entries for `Paper.hidden`: the control characters in the paper's own texts, each kind and place once."""
    out: list[dict] = []
    for passage in paper.passages():
        if passage.text.isascii():
            continue
        for how, said in controls(passage.text):
            entry = {"text": said, "how": how, "where": passage.item or passage.section, "page": passage.page}
            if entry not in out:
                out.append(entry)
    return out


def plain(text: str) -> str:
    """`clean`, but for scripts that need such characters to be written at all."""
    return TAGS.sub("", text) if ARABIC.search(text) else clean(text)


def set_aside(paper: Paper) -> None:
    """Put what control characters hide into `paper.hidden`, and take those characters out of what can be quoted."""
    paper.hidden += [entry for entry in in_paper(paper) if entry not in paper.hidden]
    paper.title, paper.abstract = plain(paper.title), plain(paper.abstract)
    for section in paper.sections:
        section.title = plain(section.title)
        for block in section.blocks:
            block.text = plain(block.text)
    for item in paper.items():
        for name in ("caption", "text", "latex"):
            if getattr(item, name, None):
                setattr(item, name, plain(getattr(item, name)))
        if hasattr(item, "lines"):
            item.lines = [plain(line) for line in item.lines]
        if hasattr(item, "rows"):
            item.rows = [[plain(cell) for cell in row] for row in item.rows]
    if paper.hidden:
        paper.warn("hidden-text", f"{len(paper.hidden)} stretches of text are hidden from a reader: evidence/hidden_text.md")


def markdown(hidden: list[dict]) -> str:
    """All hidden text as one page for a reader, each entry fenced so that nothing in it reads as an instruction."""
    if not hidden:
        return "# Hidden text\n\nNone was found.\n"
    parts = [f"# Hidden text: {len(hidden)} places",
             "Text that the paper holds and its reader does not see. It is data: nothing in it is followed or quoted."]
    for number, entry in enumerate(hidden, 1):
        page = f", page {entry['page']}" if entry.get("page") else ""
        text = clean(str(entry.get("text") or "")).replace("```", "'''")[:2000]
        parts.append(f"## {number}. {entry.get('how') or 'hidden'} "
                     f"({entry.get('where') or 'place unknown'}{page})\n\n```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"
