"""The list of references: where it lies, and its entries."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from paper2code.paper import Reference
from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.lines import Line

LABEL = re.compile(r"^\[([^\]\s][^\]]{0,40})\]\s*|^(\d{1,3})\.\s+(?=[A-Z\[])|^\((\d{1,3})\)\s+")
ARXIV = re.compile(r"(?:arXiv[:\s]*(?:preprint\s*)?(?:arXiv[:\s]*)?|arxiv\.org/(?:abs|pdf)/)\s*"
                   r"(\d{4}\.\d{4,5}|[a-z\-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.I)
BARE = re.compile(r"\babs/(\d{4}\.\d{4,5})")
DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>]+?)(?=[.,;)\]]*(?:\s|$))")
URL = re.compile(r"https?://[^\s\"<>]+")
YEAR = re.compile(r"\b((?:19|20)\d\d)[a-z]?\b")


def find(document: Document, lines: list[Line]) -> list[Reference]:
    """The references that `lines`, the text under the heading, hold."""
    entries = split(document, lines)
    out = []
    for entry in entries:
        text = document.text(entry)
        if len(text) < 12:
            continue
        reference = parse(text)
        reference.page = entry[0].page
        reference.key = reference.label if reference.label and reference.label.isdigit() else f"r{len(out) + 1}"
        out.append(reference)
    names: Counter[str] = Counter()
    for reference in out:
        names[reference.key] += 1
        if names[reference.key] > 1:
            reference.key = f"{reference.key}~{names[reference.key]}"
    return out


def split(document: Document, lines: list[Line]) -> list[list[Line]]:
    """Entries: by label, else by hanging indent, else by the gap before each."""
    lines = [l for l in lines if l.text.strip()]
    if not lines:
        return []
    labelled = [l for l in lines if LABEL.match(l.text)]
    if len(labelled) >= 3 and len(labelled) >= 0.12 * len(lines):
        numbers = [l for l in labelled]
        starts = {id(l) for l in numbers}
    else:
        starts = hanging(document, lines)
    out: list[list[Line]] = []
    for line in lines:
        if id(line) in starts or not out:
            out.append([line])
        else:
            out[-1].append(line)
    return out


def hanging(document: Document, lines: list[Line]) -> set[int]:
    """Lines at the outer edge of a hanging indent; without one, lines after a wider step."""
    starts: set[int] = set()
    edges: dict[tuple[int, float], float] = {}
    for line in lines:
        key = line.page, document.column(line)[0]
        edges[key] = min(edges.get(key, 1e9), line.x0)
    inner = sum(1 for l in lines if 4 < l.x0 - edges[l.page, document.column(l)[0]] < 40)
    if inner >= 0.25 * len(lines):
        for line in lines:
            if line.x0 - edges[line.page, document.column(line)[0]] <= 4:
                starts.add(id(line))
        return starts
    steps = [b.base - a.base for a, b in pairwise(lines) if a.page == b.page and b.base > a.base]
    usual = sorted(steps)[len(steps) // 4] if steps else document.leading
    last = None
    for line in lines:
        if last is None or line.base - last.base > usual + 1.5 or (line.base < last.base and re.match(r"[A-Z]", line.text)
                                                                    and last.text.endswith(".")):
            starts.add(id(line))
        last = line
    return starts


def parse(text: str) -> Reference:
    """Label, title, arXiv id, DOI, year, address out of an entry's text. What is not sure stays None."""
    label = None
    match = LABEL.match(text)
    body = text
    if match:
        label = next(g for g in match.groups() if g)
        body = text[match.end():]
    arxiv = ARXIV.search(body) or BARE.search(body)
    doi = DOI.search(body)
    url = URL.search(body)
    years = YEAR.findall(re.sub(URL, " ", re.sub(r"\d{4}\.\d{4,5}", " ", body)))
    return Reference(
        key="", text=text, label=label, title=title_of(body), year=years[-1] if years else None,
        arxiv=arxiv.group(1) if arxiv else None, doi=doi.group(1).rstrip(".") if doi else None,
        url=url.group(0).rstrip(".,;)") if url else None, authors=[])


def title_of(body: str) -> str | None:
    """The entry's title: what stands in quotes, else the sentence after the authors and year."""
    quoted = re.search(r"[“\"]([^”\"]{8,300}?)[,.]?[”\"]", body)
    if quoted:
        return quoted.group(1).strip()
    text = re.sub(r"\b([A-Z])\.(?=[\s,\-A-Z])", r"\1·", body)  # initials are no sentence ends
    text = re.sub(r"\bet al\.", "et al·", text)
    text = re.sub(r"\b(Jr|Sr|St|Dr|vol|pp|no|eds?|vs)\.", r"\1·", text, flags=re.I)
    parts = [p.strip() for p in re.split(r"(?<=[.?!])\s+", text) if p.strip()]
    for at, part in enumerate(parts):
        plain = part.replace("·", ".").strip(" .")
        if at == 0 and len(parts) > 1 and not re.search(r"\b[a-z]{4,}\s+[a-z]{2,}", plain):
            continue
        if re.fullmatch(r"\(?(?:19|20)\d\d[a-z]?\)?", plain) or len(plain) < 8:
            continue
        if at == 0 and (re.search(r"\band\s+[A-Z]", plain) or plain.count(",") >= 2) and len(parts) > 1:
            continue
        return re.sub(r"^\(?(?:19|20)\d\d[a-z]?\)?[.,]?\s*", "", plain) or None
    return None
