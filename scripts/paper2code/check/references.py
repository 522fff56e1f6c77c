"""Works that a repository names beside the paper: are they in the paper's own bibliography, under that title and those names?

An arXiv id or an author and year that the bibliography lacks is a warning (a result may name others); an id that the
bibliography has under another title, or a title that it has under another id, is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from paper2code.check.anchors import LARGEST, sources
from paper2code.check.numbers import plain
from paper2code.findings import ERROR, WARNING, Finding
from paper2code.paper import Paper, Reference
from rapidfuzz import fuzz

ARXIV = re.compile(
    r"(?:\barXiv\s*:\s*|arxiv\.org/(?:abs|pdf|html)/|10\.48550/arXiv\.)(?P<id>\d{4}\.\d{4,5}|[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?",
    re.I,
)
NAMED = re.compile(
    r"(?<![\w.-])(?P<first>[^\W\d_a-z][^\W\d_]+(?:['\u2019-][^\W\d_]+)*)(?:\s+(?:and|&)\s+(?P<second>[^\W\d_a-z][\w'\u2019-]+)|\s+et\s+al\.?)"
    r"\s*,?\s*\(?(?P<year>(?:19|20)\d\d)[a-z]?\b"
)
TITLE = re.compile(r"[\"\u201c]([^\"\u201c\u201d\n]{12,200})[\"\u201d]|\[([^\]\n]{12,200})\]\(|\*([^*\n]{12,200})\*")
NEAR = 160  # characters on either side of an id in which its title is looked for
FEWEST = 3  # a bibliography of fewer entries was not read
ALIKE, UNLIKE = 88.0, 55.0  # similarity of titles, 0-100


def check(root: Path, paper: Paper) -> list[Finding]:
    """The works named in a repository's files, against the paper's bibliography. Nothing is said where that was not read."""
    if len(paper.references) < FEWEST:
        return []
    out: dict[tuple, Finding] = {}
    for path in sources(Path(root)):
        if path.stat().st_size > LARGEST:
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        name = path.relative_to(root).as_posix() if path != Path(root) else path.name
        for finding in of_text(text, name, paper):
            out.setdefault((finding.check, finding.message), finding)  # each work once
    return list(out.values())


def of_text(text: str, name: str, paper: Paper) -> Iterator[Finding]:
    ids = {reference.arxiv.lower(): reference for reference in paper.references if reference.arxiv}
    own = re.sub(r"v\d+$", "", paper.id.lower())
    for found in ARXIV.finditer(text):
        wanted, line = found["id"].lower(), text.count("\n", 0, found.start()) + 1
        if wanted == own:
            continue
        around = words(text[max(0, found.start() - NEAR) : found.end() + NEAR])
        if not own and paper.title and words(paper.title) in around:  # the paper itself, read from a file that does not say its id
            continue
        title = title_near(text, found)
        entry = ids.get(wanted)
        if entry is not None:
            if title and fuzz.token_set_ratio(words(title), words(entry.title or entry.text)) < UNLIKE:
                yield Finding(
                    "reference-mismatch",
                    f'arXiv:{found["id"]} is not "{title}" in the paper\'s bibliography',
                    name,
                    line,
                    ERROR,
                    expected=entry.title or entry.text[:160],
                    fix="name the work as the paper's bibliography does",
                )
            continue
        titled = entry_titled(title, paper)
        if titled is not None and titled.arxiv:
            yield Finding(
                "reference-mismatch",
                f'"{title}" is arXiv:{titled.arxiv} in the paper\'s bibliography, not arXiv:{found["id"]}',
                name,
                line,
                ERROR,
                expected=f"arXiv:{titled.arxiv}",
                fix="write the id that the bibliography gives",
            )
        elif titled is None:
            yield Finding(
                "reference-unknown",
                f"arXiv:{found['id']} is not in the paper's bibliography",
                name,
                line,
                WARNING,
                fix="check the id by hand, or name the work as the paper's bibliography does (references.md)",
            )
    yield from names_of_text(text, name, paper)


def names_of_text(text: str, name: str, paper: Paper) -> Iterator[Finding]:
    entries = [(plain(f"{each.text} {each.label or ''} {' '.join(each.authors)}"), each.text) for each in paper.references]
    authors = plain(" ".join(paper.authors))
    for found in NAMED.finditer(text):
        surnames = [plain(each) for each in (found["first"], found["second"]) if each]
        if all(surname in authors for surname in surnames):
            continue
        if not any(all(surname in folded for surname in surnames) and found["year"] in written for folded, written in entries):
            yield Finding(
                "reference-unknown",
                f'"{" ".join(found[0].split())}" is not in the paper\'s bibliography',
                name,
                text.count("\n", 0, found.start()) + 1,
                WARNING,
                fix="check names and year against references.md; a work the paper does not cite is supplementary, and is said to be",
            )


def title_near(text: str, found: re.Match) -> str | None:
    """A title in quotation marks, emphasis or a link's text on the line of an id."""
    begin = max(text.rfind("\n", 0, found.start()) + 1, found.start() - NEAR)
    stop = text.find("\n", found.end())
    around = text[begin : min(stop if stop >= 0 else len(text), found.end() + NEAR)]
    titles = [next(part for part in each.groups() if part) for each in TITLE.finditer(around)]
    titles = [title for title in titles if len(title.split()) >= 3 and not ARXIV.search(title)]
    return titles[0] if titles else None


def entry_titled(title: str | None, paper: Paper) -> Reference | None:
    if not title:
        return None
    return next((each for each in paper.references if each.title and fuzz.ratio(words(title), words(each.title)) >= ALIKE), None)


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
