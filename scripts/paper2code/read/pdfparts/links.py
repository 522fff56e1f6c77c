"""Links: the PDF's annotations, and addresses printed in the text. Where both name one place, the annotation wins."""

from __future__ import annotations

import re

from paper2code.paper import Link
from paper2code.read.pdfparts.captions import union
from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.engine import Annotation
from paper2code.read.pdfparts.lines import Line, Word

ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"“”{}|\\^`]+|"
                     r"\b(?:github\.com|gitlab\.com|huggingface\.co|bitbucket\.org|[\w-]+\.github\.io)/?[^\s<>\"“”{}|\\^`,;]*", re.I)
SAME = re.compile(r"^(?:https?://)?(?:www\.)?", re.I)
SCHEME = re.compile(r"^https?://", re.I)
PATH = re.compile(r"^[A-Za-z0-9~%&=?#/_.+:@-]+$")


def key(url: str) -> str:
    return re.sub(r"(?:\.git)?/*$", "", SAME.sub("", url.strip().lower())).rstrip(".,;")


def clean(url: str) -> str:
    url = url.strip().rstrip(".,;:'’”\"*∗†")
    while url.endswith(")") and url.count("(") < url.count(")"):
        url = url[:-1].rstrip(".,;")
    url = url.rstrip("]}>")
    return url.replace("∼", "~").replace("˜", "~")


def words_under(document: Document, note: Annotation, page: int) -> list[Word]:
    return [w for l in document.page_lines(page) for w in l.words
            if w.x0 < note.x1 - 0.5 and w.x1 > note.x0 + 0.5 and w.y0 < note.y1 and w.y1 > note.y0 and
            min(w.y1, note.y1) - max(w.y0, note.y0) > 0.4 * (w.y1 - w.y0)]


def find(document: Document) -> list[Link]:
    """Every address with its page, place and the sentence around it, in reading order; each place once."""
    out: list[tuple[int, Link]] = []
    covered: dict[int, list[Annotation]] = {}
    lines = {page.number: document.page_lines(page.number) for page in document.pages}
    for page in document.pages:
        merged: list[Link] = []
        for note in page.annotations:
            if not re.match(r"(?:https?|ftp)://|www\.|mailto:", note.url, re.I):
                if not re.match(r"[\w.-]+\.[a-z]{2,}/", note.url):
                    continue
            if note.url.lower().startswith("mailto:"):
                continue
            covered.setdefault(page.number, []).append(note)
            text = " ".join(w.text for w in words_under(document, note, page.number))
            last = merged[-1] if merged else None
            if last is not None and last.url == note.url and near(last, note):
                last.text = f"{last.text} {text}".strip()
                last.bbox = union([last.bbox, [note.x0, note.y0, note.x1, note.y1]])
                continue
            link = Link(note.url, text, page=page.number, bbox=[note.x0, note.y0, note.x1, note.y1], where="annotation")
            merged.append(link)
            middle = (note.y0 + note.y1) / 2
            here = next((l for l in lines[page.number] if l.y0 - 1 < middle < l.y1 + 1 and l.x0 < note.x1 and l.x1 > note.x0), None)
            out.append((here.index if here else 10**9, link))
            if here is not None:
                place(document, link, here)
    for line, at, url in printed(document):
        word = line.words[at]
        if any(n.x0 - 1 < (word.x0 + min(word.x1, word.x0 + 40)) / 2 < n.x1 + 1 and n.y0 - 2 < (word.y0 + word.y1) / 2 < n.y1 + 2
               for n in covered.get(line.page, ())):
            continue
        link = Link(url, url, page=line.page, bbox=[word.x0, word.y0, word.x1, word.y1])
        place(document, link, line)
        out.append((line.index, link))
    out.sort(key=lambda pair: pair[0])
    final: list[Link] = []
    for _, link in out:
        link.bbox = [round(v, 1) for v in link.bbox] if link.bbox else None
        if not any(key(l.url) == key(link.url) and l.where == link.where and l.page == link.page for l in final):
            final.append(link)
    return final


def near(link: Link, note: Annotation) -> bool:
    """The next line's part of the same link, or the next column's."""
    return abs(note.y0 - link.bbox[3]) < 16 or abs(note.y0 - link.bbox[1]) < 3 or note.y0 < link.bbox[1] - 100


def place(document: Document, link: Link, line: Line) -> None:
    """`where` and the sentence around, from the line the link stands on."""
    where = {"footnote": "footnote", "caption": "caption", "reference": "reference", "abstract": "abstract"}.get(line.role or "", "text")
    link.where = where
    index = line.index
    before, after = [], []
    for other in reversed(document.lines[max(0, index - 4):index]):
        if other.role != line.role or other.page != line.page or not -1 <= line.base - other.base <= 5 * document.leading:
            break
        before.insert(0, other)
    for other in document.lines[index + 1:index + 4]:
        if other.role != line.role or other.page != line.page or other.base < line.base - 1:
            break
        after.append(other)
    text = document.text([*before, line, *after])
    at = text.find(link.text.split(" ")[0][:25]) if link.text else -1
    if at < 0:
        at = len(document.text(before))
    start = max((m.end() for m in re.finditer(r"(?<=[a-z)\]][.!?])\s+(?=[A-Z\d])", text[:at])), default=0)
    end = next((at + m.start() + 1 for m in re.finditer(r"[.!?]\s+(?=[A-Z])", text[at:])), len(text))
    link.context = text[start:end].strip()[:400]


def printed(document: Document):
    """Addresses in the text: (line, index of the word they begin in, address). Those broken over lines are joined.

    A line's end goes on in the next line only when the address cannot be over: it ends in a slash, hyphen, dot-free scheme,
    underscore, `=`, `?`, `&`, `%`; or the next line begins with what only an address has (a slash, `%`, `?`, or letters
    and a slash, digit-and-letter mix or file ending).
    """
    lines = document.lines
    for line in lines:
        if line.role == "furniture":
            continue
        for at, word in enumerate(line.words):
            match = ADDRESS.search(word.text)
            if not match:
                if not re.search(r"https?:$|https?:/$", word.text) or at + 1 >= len(line.words):
                    continue
                match = re.match(r".*", word.text[word.text.find("http"):] + line.words[at + 1].text)
                url = match.group(0)
                end = at + 1
            else:
                url, end = match.group(0), at
            # Spaces that the type set inside an address: "github. com/x".
            while end + 1 < len(line.words) and line.words[end + 1].x0 - line.words[end].x1 < 0.16 * word.size and \
                    PATH.match(line.words[end + 1].text):
                end += 1
                url += line.words[end].text
            last, index = line, line.index
            while end == len(last.words) - 1 and index + 1 < len(lines) and not re.search(r"[,;)\]]$", url):
                following = next((l for l in lines[index + 1:index + 3] if l.role == last.role and 0 <= l.page - last.page <= 1), None)
                if following is None or not same_column(document, last, following):
                    break
                token = following.words[0].text
                if not goes_on(document, last, url, token):
                    break
                url += token
                last, index, end = following, following.index, 0
            url = clean(url)
            if len(key(url)) > 3 and "." in key(url):
                yield line, at, url if SCHEME.match(url) else f"https://{url}"


def same_column(document: Document, line: Line, following: Line) -> bool:
    if following.page == line.page and 0 < following.base - line.base < 2 * document.leading:
        return abs(following.size - line.size) < 0.6
    return following.base < line.base and abs(following.size - line.size) < 0.6


def goes_on(document: Document, line: Line, url: str, token: str) -> bool:
    _, right = document.column(line)
    if line.x1 < right - 0.25 * (right - document.column(line)[0]) and not re.search(r"[/\-_=?&%]$", url):
        return False
    bare = token.rstrip(".,;:)")
    if not PATH.match(bare) or SCHEME.match(bare):
        return False
    if re.search(r"(?:https?:/?/?|[/_=?&%#]|//)$", url):
        return True
    if url.endswith("-"):
        return True
    if re.match(r"^[/?%#&=_]", bare):
        return True
    if url.endswith(".") and re.match(r"^(?:com|org|io|edu|net|html?|pdf|git|co|ai|dev|github|php)\b", bare):
        return True
    if re.search(r"[/_]", bare) or re.search(r"\d[A-Za-z]|[A-Za-z]\d", bare) and "-" not in bare[:1]:
        return bool(re.search(r"[a-z0-9]", bare)) and not re.match(r"^[A-Z]?[a-z]+$", bare)
    return bool(re.search(r"\.(?:html?|pdf|git|py|md|php|zip)$", bare))
