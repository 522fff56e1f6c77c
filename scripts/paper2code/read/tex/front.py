"""Title and authors, as a person would list them."""

from __future__ import annotations

import re

from paper2code.read.tex.document import Document

BREAKS = frozenset(("\\and", "\\And", "\\AND", "\\\\", "\\tabularnewline", "\\newline", "\\par", "\\quad", "\\qquad", "\\hfill",
                    "&", "\\hspace"))
NOTES = frozenset(("\\thanks", "\\Thanks", "\\footnotemark", "\\footnote", "\\inst", "\\textsuperscript", "\\email", "\\orcidlink",
                   "\\orcid", "\\orcidID", "\\affil", "\\affiliation", "\\institution", "\\address", "\\vspace", "\\authornote",
                   "\\authornotemark", "\\corref", "\\fnref", "\\thanksref", "\\tnote", "\\IEEEauthorblockA", "\\url", "\\href",
                   "\\texttt", "\\footnotetext", "\\sup", "\\includegraphics", "\\addr", "\\icmlauthor", "\\altaffilmark",
                   "\\altaffilmark", "\\textsubscript", "\\institute", "\\rule", "\\hspace", "\\raisebox", "\\inst"))
PLACE = re.compile(r"univer|institut|departm|college|laborator|\blabs?\b|school|research|google|microsoft|facebook|openai|"
                   r"deepmind|nvidia|\binc\b|center|"
                   r"centre|academy|@|\.(com|edu|org)|corporation|company|faculty|hospital|\bMIT\b|\bETH\b|\bCNRS\b|\bINRIA\b|"
                   r"technolog|science|"
                   r"equal contribution|correspond|^\W*\d|street|avenue|china|germany|france|canada|\busa\b|\buk\b|switzerland|"
                   r"israel|japan|korea|"
                   r"singapore|\bAI\b|intelligence|engineering|\bteam\b|foundation|polytechn|https?:", re.I)


def finish_front(doc: Document) -> None:
    """Put title, abstract and authors into the paper."""
    paper = doc.paper
    if doc.titles.get("title"):
        note_count = len(paper.footnotes)
        held = doc.context
        doc.in_document = False  # notes of a title make no block
        text = doc.text(doc.titles["title"])
        doc.in_document = True
        doc.context = held
        paper.title = re.sub(r"\s*\$\^\{?(\\[a-z]+|\*|\d)\}?\$\s*$", "", text).strip()
        if doc.titles.get("subtitle"):
            paper.title = f"{paper.title}: {doc.text(doc.titles['subtitle'])}"
        moved = paper.footnotes[note_count:]
        paper.footnotes[note_count:] = []
        paper.footnotes[:0] = moved
    paper.abstract = "\n\n".join(doc.abstract)
    seen: list[str] = []
    notes = len(paper.footnotes)
    doc.in_document = False
    for name, tokens in doc.authors:
        whole = name in ("icmlauthor", "mlsysauthor", "name", "fullauthor")
        for one in [doc.text(cleaned(tokens))] if whole else split(doc, tokens):
            one = re.sub(r"\$[^$]*\$", "", one).strip(" ,;.*†‡§¶")
            if one and one not in seen and len(one) < 60:
                seen.append(one)
    doc.note_links(doc.context, "", "text")
    doc.in_document = True
    paper.authors = seen
    moved = paper.footnotes[notes:]
    paper.footnotes[notes:] = []
    paper.footnotes[:0] = [note for note in moved if note.text]
    for note in paper.footnotes:
        if note.section is not None and paper.sections and not any(s.id == note.section for s in paper.sections):
            note.section = None


def cleaned(tokens: list[str]) -> list[str]:
    """Without notes, marks and affiliations."""
    out: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token in NOTES:
            while at < len(tokens) and tokens[at] == " ":
                at += 1
            if at < len(tokens) and tokens[at][0] == "[":
                while at < len(tokens) and "]" not in tokens[at]:
                    at += 1
                rest = tokens[at].partition("]")[2] if at < len(tokens) else ""
                at += 1
                if rest:
                    out.append(rest)
            if token in ("\\email", "\\addr") and at < len(tokens) and tokens[at] != "{":
                out.append("\\\\")  # jmlr: \name … \email … \addr …
            if at < len(tokens) and tokens[at] == "{":
                depth = 0
                while at < len(tokens):
                    depth += (tokens[at] == "{") - (tokens[at] == "}")
                    at += 1
                    if not depth:
                        break
            continue
        if token == "$":
            while at < len(tokens) and tokens[at] != "$":
                at += 1
            at += 1
            continue
        out.append(token)
    return out


def split(doc: Document, tokens: list[str]) -> list[str]:
    """The names in an `\\author{…}`: what stands before a break, a comma or `and`, and is no affiliation."""
    lead: list[list[str]] = [[]]
    thanks(doc, tokens)
    for token in cleaned(tokens):
        if token in BREAKS:
            lead.append([])
            if token in ("\\and", "\\And", "\\AND"):
                lead += [["\0|"], []]
        else:
            lead[-1].append(token)
    out: list[str] = []
    starts = True  # the first line of an author's block is the name
    several = False  # the line before named more than one
    blocks = any(part == ["\0|"] for part in lead)
    for part in lead:
        if part == ["\0|"]:
            starts = True
            continue
        text = doc.text([t for t in part if t not in ("\\large", "\\bf", "\\Large")]).strip()
        text = re.sub(r"\$[^$]*\$", "", text).strip(" ,;~")
        if not text:
            continue
        if PLACE.search(text) and not ("," in text and not blocks and starts and not re.search(r"univers|institut|@", text,
                                                                                               re.I)):
            if not blocks:
                starts = starts and not out
            else:
                starts = False
            continue
        if blocks and not starts and not ("," in text and several):
            continue
        before = len(out)
        for one in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s+&\s+|;\s*", text):
            one = one.strip().rstrip("0123456789*†‡§¶,").strip()
            if is_name(one):
                out.append(one)
        several = len(out) - before > 1
        if blocks:
            starts = False
    return out


def thanks(doc: Document, tokens: list[str]) -> None:
    """Notes set in the author list."""
    for at, token in enumerate(tokens):
        if token in ("\\thanks", "\\footnote") and at + 1 < len(tokens):
            depth, end = 0, at + 1
            while end < len(tokens) and tokens[end] in (" ",):
                end += 1
            start = end
            while end < len(tokens):
                depth += (tokens[end] == "{") - (tokens[end] == "}")
                end += 1
                if not depth:
                    break
            doc.text(tokens[at:end] if start < end else [])


def is_name(text: str) -> bool:
    words = text.split()
    return (0 < len(words) <= 6 and len(text) > 2 and not PLACE.search(text) and not re.search(r"[\d@:/=<>{}\\]", text)
            and any(word[:1].isupper() or ord(word[0]) > 0x2E80 for word in words))
