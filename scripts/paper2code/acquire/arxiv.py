"""A paper from arXiv: what is known about it, and every file of it that can be had.

Metadata come from the export API (https://info.arxiv.org/help/api/user-manual.html) and from the abstract page, which alone
has the versions, the licence and the word "withdrawn"; the files from /src/, /html/, ar5iv and /pdf/.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlsplit

from lxml import etree
from lxml import html as lxml_html
from paper2code import cli
from paper2code.acquire import forms, unpack
from paper2code.acquire.cache import Cache, Record
from paper2code.acquire.client import Body, Client, Failed
from paper2code.acquire.identifiers import ArxivId

ATOM = {"a": "http://www.w3.org/2005/Atom", "x": "http://arxiv.org/schemas/atom"}
MB = 1 << 20
WITHDRAWN = re.compile(
    r"\b(?:this|the)\s+(?:paper|article|submission|manuscript|version|work)\s+(?:has|have|had|is|was)\s+(?:been\s+)?"
    r"(?:temporarily\s+)?withdrawn\b|^\s*(?:paper\s+)?withdrawn\b",
    re.I,
)
NEWER_WITHDRAWN = re.compile(r"a newer version of this (?:paper|article) has been withdrawn", re.I)


@dataclass
class Version:
    version: int
    date: str
    size: str = ""
    withdrawn: bool = False


@dataclass
class Metadata:
    """What arXiv says about a paper; goes to `paper_metadata.json`. Dates are ISO 8601, `year` is the first version's."""

    id: str = ""
    version: int | None = None
    title: str = ""
    authors: list[str] = field(default_factory=list)
    year: int | None = None
    abstract: str = ""
    categories: list[str] = field(default_factory=list)
    published: str | None = None
    updated: str | None = None
    latest_version: int | None = None
    versions: list[Version] = field(default_factory=list)
    comments: str | None = None
    journal_ref: str | None = None
    doi: str | None = None
    licence: str | None = None
    withdrawn: bool = False
    url: str | None = None
    huggingface: dict | None = None
    official_code: list[dict] = field(default_factory=list)

    def data(self) -> dict:
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict) -> Metadata:
        known = {name: value for name, value in data.items() if name in cls.__dataclass_fields__}
        return cls(**{**known, "versions": [Version(**entry) for entry in data.get("versions", ())]})


@dataclass
class Got:
    """The files that were had of one paper, by role (`source`, `html`, `pdf`, `api`, `abs`, `hf`), and why others were not."""

    paper: ArxivId
    metadata: Metadata
    files: dict[str, tuple[Record, Path]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def squeeze(text: str | None) -> str:
    return " ".join((text or "").split())


# --- what arXiv's answers say -------------------------------------------------------------------------------------------


def read_feed(data: bytes) -> Metadata | None:
    """The one entry of an answer of the export API; None when it has none. Raises ValueError with arXiv's own words
    when the entry is an error, or when `data` is no Atom feed."""
    try:
        feed = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False))
    except etree.XMLSyntaxError as problem:
        raise ValueError(f"not an Atom feed: {problem}") from problem
    if feed.tag != f"{{{ATOM['a']}}}feed":
        raise ValueError(f"not an Atom feed but <{etree.QName(feed).localname}>")
    entry = feed.find("a:entry", ATOM)
    if entry is None:
        return None

    def text(path: str) -> str | None:
        return squeeze(entry.findtext(path, namespaces=ATOM)) or None

    address = text("a:id")
    if not address:  # what the API says of some ids that do not exist
        return None
    if text("a:title") == "Error" or "/api/errors" in address:
        raise ValueError(f"arXiv says: {text('a:summary') or 'error'}")
    found = re.search(r"/abs/(.+?)v(\d+)$", address)
    if not found:
        raise ValueError(f"the entry has no paper's address but {address!r}")
    primary = entry.find("x:primary_category", ATOM)
    categories = [primary.get("term")] if primary is not None else []
    categories += [part.get("term") for part in entry.findall("a:category", ATOM)]
    published = text("a:published")
    return Metadata(
        id=found[1], version=int(found[2]), latest_version=int(found[2]), title=text("a:title") or "",
        authors=[squeeze(name.text) for name in entry.findall("a:author/a:name", ATOM) if squeeze(name.text)],
        abstract=text("a:summary") or "", categories=list(dict.fromkeys(filter(None, categories))), published=published,
        updated=text("a:updated"), year=int(published[:4]) if published else None, comments=text("x:comment"),
        journal_ref=text("x:journal_ref"), doi=text("x:doi"), withdrawn=bool(WITHDRAWN.search(text("x:comment") or "")),
    )


def read_abs(data: bytes, asked: ArxivId) -> Metadata | None:
    """What an abstract page says; None when `data` is no abstract page. Missing things are empty."""
    tree = lxml_html.document_fromstring(data, parser=lxml_html.HTMLParser(encoding="utf-8"))
    metas: dict[str, list[str]] = {}
    for meta in tree.iter("meta"):
        if meta.get("name", "").startswith("citation_"):
            metas.setdefault(meta.get("name"), []).append(squeeze(meta.get("content")))
    if "citation_title" not in metas and "citation_arxiv_id" not in metas:
        return None

    def text(query: str) -> str | None:
        found = tree.xpath(query)
        return squeeze(found[0].text_content()) or None if found else None

    def has(name: str) -> str:
        return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"

    def without(words: str | None, prefix: str) -> str:
        return re.sub(rf"^{prefix}\s*:\s*", "", words or "")

    history = text(f"//*[{has('submission-history')}]") or ""
    versions = []
    for entry in re.finditer(r"\[v(\d+)\]\s*(.*?)(?=\[v\d+\]|$)", history, re.S):
        date = re.search(r"\w{3}, \d{1,2} \w{3} \d{4}(?: [\d:]{8})?(?: UTC)?", entry[2])
        size = re.search(r"\(([\d,.]+\s*[kM]i?B)", entry[2], re.I)
        versions.append(Version(int(entry[1]), iso(date[0]) if date else "", size[1] if size else "",
                                bool(re.search(r"withdrawn", entry[2], re.I))))
    latest = max((v.version for v in versions), default=None)
    version = asked.version or latest
    subjects = text(f"//td[{has('subjects')}]") or ""
    licence = tree.xpath(f"//*[{has('abs-license')}]//a/@href")
    comments = text(f"//td[{has('comments')}]")
    body = squeeze(tree.text_content())
    banners = " ".join(squeeze(part.text_content()) for part in tree.xpath(f"//*[{has('error')} or {has('message-special')}]"))
    banners = NEWER_WITHDRAWN.sub("", banners)
    published = versions[0].date if versions else (metas.get("citation_date", [""])[0].replace("/", "-") or None)
    return Metadata(
        id=asked.id,
        version=version,
        latest_version=latest,
        title=without(text(f"//h1[{has('title')}]"), "Title") or metas.get("citation_title", [""])[0],
        authors=[" ".join(reversed(name.split(", ", 1))) for name in metas.get("citation_author", [])],
        abstract=without(text(f"//blockquote[{has('abstract')}]"), "Abstract") or metas.get("citation_abstract", [""])[0],
        categories=re.findall(r"\(([a-z-]+(?:\.[A-Za-z-]+)?)\)", subjects),
        published=published,
        year=int(published[:4]) if published else None,
        versions=versions,
        comments=comments,
        journal_ref=text(f"//td[{has('jref')}]"),
        doi=metas.get("citation_doi", [None])[0],
        licence=licence[0] if licence else None,
        withdrawn=bool(
            WITHDRAWN.search(banners)
            or WITHDRAWN.search(comments or "")
            or any(v.withdrawn and v.version == version for v in versions)
            or re.search(r"this paper has been withdrawn by", NEWER_WITHDRAWN.sub("", body), re.I)
        ),
    )


def iso(date: str) -> str:
    try:
        return parsedate_to_datetime(date.replace("UTC", "+0000")).date().isoformat()
    except (ValueError, TypeError):
        return date


def merged(api: Metadata | None, page: Metadata | None, asked: ArxivId) -> Metadata:
    """The API's answer completed by the abstract page's, which wins where it is about the very version and the API is not."""
    if not api or not page:
        return api or page or Metadata(id=asked.id, version=asked.version)
    first, second = (api, page) if api.version == page.version else (page, api)
    both = {name: getattr(first, name) or getattr(second, name) for name in Metadata.__dataclass_fields__}
    both["version"] = asked.version or api.version
    both["latest_version"] = max(filter(None, (api.latest_version, page.latest_version)))
    both["withdrawn"] = first.withdrawn or page.withdrawn
    return Metadata(**both)


# --- is a file what it claims to be -------------------------------------------------------------------------------------


def head_of(path: Path, size: int = forms.HEAD) -> bytes:
    with open(path, "rb") as file:
        return file.read(size)


def tail_of(path: Path, size: int = 4096) -> bytes:
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - size))
        return file.read()


def wrong_pdf(path: Path) -> str | None:
    told = forms.tell(head_of(path))
    if told != forms.PDF:
        return f"what came is no PDF but {words(told)}"
    return None if b"%%EOF" in tail_of(path) else "the PDF that came is cut off"


def wrong_source(path: Path) -> str | None:
    told = unpack.form(path)
    return None if told in ("tar.gz", forms.TAR, "tex.gz", forms.LATEX, forms.PDF, forms.ZIP) else (
        f"what came is no source but {words(told)}")


def wrong_html(path: Path) -> str | None:
    told = forms.tell(head_of(path))
    if told != forms.HTML:
        return f"what came is no HTML but {words(told)}"
    if b"ltx_" not in head_of(path, 4 * MB):
        return "what came is a web page, but no paper"
    return None if b"</html" in tail_of(path, 64 * 1024).lower() else "the HTML that came is cut off"


def wrong_feed(path: Path) -> str | None:
    try:
        read_feed(path.read_bytes())
    except ValueError as problem:
        return None if str(problem).startswith("arXiv says") else f"what came is {problem}"
    return None


def wrong_page(path: Path) -> str | None:
    if forms.tell(head_of(path)) != forms.HTML:
        return f"what came is no HTML but {words(forms.tell(head_of(path)))}"
    return None if read_abs(path.read_bytes(), ArxivId("")) else "what came is a web page, but no abstract page"


def wrong_json(path: Path) -> str | None:
    try:
        return None if isinstance(json.loads(path.read_bytes()), dict) else "what came is no record"
    except ValueError:
        return "what came is no JSON"


def words(form: str) -> str:
    return {forms.HTML: "a web page", forms.EMPTY: "empty", forms.UNKNOWN: "of no known form", forms.TEXT: "plain text"}.get(
        form, form)


def took_back(path: Path) -> bool:
    """Whether a source is only the notice that the paper is withdrawn."""
    if unpack.form(path) not in ("tex.gz", forms.LATEX):
        return False
    with (gzip.open if head_of(path, 2) == b"\x1f\x8b" else open)(path, "rb") as file:
        text = file.read(20_000).decode("latin-1")
    return len(text) < 20_000 and "\\begin{document}" not in text and ("%auto-ignore" in text or bool(WITHDRAWN.search(text)))


# --- bringing it --------------------------------------------------------------------------------------------------------


class Arxiv:
    """Brings papers. `client` None: offline, the cache alone."""

    def __init__(self, cache: Cache, client: Client | None, say: Callable[[str], None] = cli.say):
        self.cache, self.client, self.say = cache, client, say

    def bring(self, asked: ArxivId, roles: tuple[str, ...] = ("source", "html", "pdf")) -> Got:
        """Everything of a paper that can be had, by way of the cache. Raises Stop: 3 nothing can be reached, 4 there is no
        such paper or version, or it is withdrawn."""
        got = self.known(asked)
        if got.metadata.withdrawn:
            raise withdrawn(got)
        bringers = {"source": self.source, "html": self.html, "pdf": self.pdf}
        for role in roles:
            bringers[role](got)
        if self.client is not None and "pdf" in roles:
            self.hf(got)
        if not any(role in got.files for role in roles):
            raise self.nothing(got, roles)
        self.cache.trim(got.paper)
        return got

    def nothing(self, got: Got, roles: tuple[str, ...]) -> cli.Stop:
        told = "; ".join(f"{role}: {got.missing.get(role, 'not there')}" for role in roles)
        if self.client is None:
            return cli.Stop(f"no file of {got.paper} is in the cache ({self.cache.folder})", code=cli.UNREACHABLE,
                            expected="a paper that was fetched before", fix="run it once without --offline")
        absent = all(got.missing.get(role, "").startswith("there is none") for role in roles)
        return cli.Stop(f"no file of {got.paper} could be had ({told})", code=cli.UNUSABLE if absent else cli.UNREACHABLE,
                        expected="at least one of LaTeX source, HTML and PDF",
                        fix="run the same command later, or download the PDF in a browser and name that file")

    # -- what is known

    def known(self, asked: ArxivId) -> Got:
        """The metadata of the version that `asked` means, from the cache where the version is named and was had before."""
        if asked.version and (got := self.remembered(asked)):
            return got
        if self.client is None:
            for version in self.cache.versions(asked) if not asked.version else ():
                if got := self.remembered(asked.at(version)):
                    self.say(f"offline: taking version {version}, the newest in the cache")
                    return got
            raise cli.Stop(f"{asked} is not in the cache ({self.cache.folder})", code=cli.UNREACHABLE,
                           expected="a paper that was fetched before", fix="run it once without --offline, or name a local file")
        return self.asked_for(asked)

    def remembered(self, paper: ArxivId) -> Got | None:
        offline = self.client is None
        api, page = (self.cache.get(paper, role, stale=offline) for role in ("api", "abs"))
        if not (api and api[1]) and not (offline and self.anything(paper)):
            return None
        if not offline and not page:
            return None
        got = Got(paper, Metadata())
        self.understand(got, api, page)
        return got

    def anything(self, paper: ArxivId) -> bool:
        return any((found := self.cache.get(paper, role, stale=True)) and found[1] for role in ("source", "html", "pdf"))

    def understand(self, got: Got, api: tuple | None, page: tuple | None) -> None:
        feed = read_feed(api[1].read_bytes()) if api and api[1] else None
        seen = read_abs(page[1].read_bytes(), got.paper) if page and page[1] else None
        got.metadata = merged(feed, seen, got.paper)
        got.metadata.url = f"https://arxiv.org/abs/{got.paper}"
        for role, found in (("api", api), ("abs", page)):
            if found and found[1]:
                got.files[role] = found

    def asked_for(self, asked: ArxivId) -> Got:
        """Ask the API, then the abstract page, and find out which version is meant and whether it exists."""
        self.say(f"asking arXiv about {asked}")
        failures: dict[str, Failed] = {}
        answers: dict[str, tuple[Body, bytes]] = {}
        feed = seen = None
        try:
            answers["api"], feed = self.feed(asked)
        except Failed as problem:
            failures["api"] = problem
            self.say(f"the metadata could not be had: {problem}")
        if feed and asked.version and feed.version < asked.version:
            raise no_version(asked, feed.version)
        if feed and not asked.version and (got := self.remembered(asked.at(feed.version))):
            return got
        about = asked.at(asked.version or (feed.version if feed else None))
        try:
            answers["abs"] = self.small(f"{self.client.addresses.arxiv}/abs/{about}", "abstract page", wrong_page)
            seen = read_abs(answers["abs"][1], about)
        except Failed as problem:
            failures["abs"] = problem
            self.say(f"the abstract page could not be had: {problem}")
        if not feed and not seen:
            if failures["abs"].absent:
                raise not_found(asked) from failures["abs"]
            if not asked.version and (got := self.newest_kept(asked)):
                return got
            if all(problem.host for problem in failures.values()):
                raise cli.Stop(f"arXiv cannot be reached: {failures['abs']}", code=cli.UNREACHABLE, expected="a network connection",
                               fix="check the network or proxy (doctor.py tells which hosts answer), or name a local file")
        if seen and asked.version and seen.latest_version and seen.latest_version < asked.version:
            raise no_version(asked, seen.latest_version)
        got = Got(about.at(about.version or (seen.version if seen else None)), Metadata())
        if got.paper.version is None:
            got.warnings.append("arXiv did not say which version is the newest; whatever it served was taken")
        kept = {role: self.keep_small(got.paper, role, *answer) for role, answer in answers.items()}
        got.missing |= {role: str(problem) for role, problem in failures.items()}
        self.understand(got, kept.get("api"), kept.get("abs"))
        return got

    def feed(self, asked: ArxivId) -> tuple[tuple[Body, bytes], Metadata]:
        """The API's answer and the entry in it. Raises Failed when there is no answer, Stop when there is no such paper."""
        try:
            for name in dict.fromkeys((str(asked), asked.id)):  # a version that is not there may give an empty feed
                answer = self.small(f"{self.client.addresses.export}/api/query?id_list={name}&max_results=1", "metadata", wrong_feed,
                                    accept="application/atom+xml")
                if entry := read_feed(answer[1]):
                    if name == asked.id and asked.version and entry.version < asked.version:
                        raise no_version(asked, entry.version)
                    return answer, entry
        except ValueError as problem:
            raise not_found(asked, str(problem)) from problem
        raise not_found(asked)

    def newest_kept(self, asked: ArxivId) -> Got | None:
        """The newest version in the cache, for when arXiv cannot be asked which is the newest of all."""
        for version in self.cache.versions(asked):
            if version and self.anything(asked.at(version)):
                told = f"arXiv could not be asked; version {version} is from the cache and may not be the newest"
                self.say(told)
                got = Got(asked.at(version), Metadata(), warnings=[told])
                self.understand(got, *(self.cache.get(got.paper, role, stale=True) for role in ("api", "abs")))
                return got
        return None

    def small(self, url: str, name: str, check: Callable[[Path], str | None], accept: str = "*/*") -> tuple[Body, bytes]:
        part = self.cache.part("small")
        try:
            return self.client.get(url, part, name=name, cap=10 * MB, check=check, accept=accept), part.read_bytes()
        finally:
            part.unlink(missing_ok=True)

    def keep_small(self, paper: ArxivId, role: str, body: Body, data: bytes) -> tuple[Record, Path]:
        part = self.cache.part(role)
        part.write_bytes(data)
        return self.keep(paper, role, body, part)

    def keep(self, paper: ArxivId, role: str, body: Body, part: Path) -> tuple[Record, Path]:
        record = Record(role, body.url, body.time, body.sha256, body.size, body.type)
        return record, self.cache.put(paper, record, part)

    # -- the files

    def one(
        self,
        got: Got,
        role: str,
        url: str,
        *,
        name: str,
        cap: int,
        check: Callable[[Path], str | None],
        gone: Callable[[str], bool] = lambda url: False,
        polite: bool = True,
        tries: int = 4,
        stored: str | None = None,
    ) -> bool:
        """One file from the cache, else from `url`; its absence is remembered too. True when it is there."""
        stored = stored or role
        found = self.cache.get(got.paper, stored, stale=self.client is None)
        if found:
            record, body = found
            if body:
                got.files[role] = found
                self.say(f"{name}: {record.size / 1e6:.1f} MB, from the cache")
                return True
            got.missing[role] = record.absent
            return False
        if self.client is None:
            got.missing[role] = "not in the cache"
            return False
        part = self.cache.part(stored)
        try:
            body = self.client.get(url, part, name=name, cap=cap, check=check, gone=gone, polite=polite, tries=tries)
        except Failed as problem:
            got.missing[role] = str(problem)
            if problem.absent:
                got.missing[role] = f"there is none at {urlsplit(url).hostname}"
                self.cache.put(got.paper, Record(stored, url, "", absent=got.missing[role]), None)
            self.say(f"{name}: {problem}")
            return False
        got.files[role] = self.keep(got.paper, stored, body, part)
        self.say(f"{name}: {body.size / 1e6:.1f} MB")
        return True

    def source(self, got: Got) -> None:
        at = self.client.addresses.arxiv if self.client else ""
        if not self.one(got, "source", f"{at}/src/{got.paper}", name="LaTeX source", cap=300 * MB, check=wrong_source):
            return
        record, path = got.files["source"]
        if unpack.form(path) == forms.PDF:  # what arXiv serves as source when only a PDF was submitted
            why = "there is none: only a PDF was submitted"
            if wrong_pdf(path) is None:
                got.files["pdf"] = (record, path)
        elif took_back(path):
            why = "there is none: in its place stands that the paper is withdrawn"
            got.warnings.append("the source says that the paper is withdrawn, the abstract page does not")
        else:
            return
        del got.files["source"]
        got.missing["source"] = why
        self.say(f"LaTeX source: {why}")

    def html(self, got: Got) -> None:
        at = self.client.addresses if self.client else None
        if self.one(got, "html", f"{at.arxiv}/html/{got.paper}" if at else "", name="HTML", cap=100 * MB, check=wrong_html):
            return
        first, newest = got.missing["html"], got.metadata.latest_version
        if newest and got.paper.version and got.paper.version != newest:
            got.missing["html"] = f"{first}; ar5iv has the newest version only"
        elif self.one(got, "html", f"{at.ar5iv}/html/{got.paper.id}" if at else "", name="HTML from ar5iv", cap=100 * MB,
                      check=wrong_html, gone=lambda url: "/abs/" in url, tries=2, stored="ar5iv"):
            del got.missing["html"]
            got.warnings.append("the HTML is ar5iv's, which does not say from which version it was made")
        elif first != got.missing["html"]:
            got.missing["html"] = f"{first}; ar5iv: {got.missing['html']}"

    def pdf(self, got: Got) -> None:
        if "pdf" not in got.files:
            at = self.client.addresses.arxiv if self.client else ""
            self.one(got, "pdf", f"{at}/pdf/{got.paper}", name="PDF", cap=300 * MB, check=wrong_pdf)

    def hf(self, got: Got) -> None:
        """The Hugging Face record of the paper, which often names the code; one try, its absence is no loss."""
        if self.one(got, "hf", f"{self.client.addresses.hf}/api/papers/{got.paper.id}", name="Hugging Face record", cap=5 * MB,
                    check=wrong_json, polite=False, tries=1):
            record = json.loads(got.files["hf"][1].read_bytes())
            got.metadata.huggingface = {key: record[key] for key in ("githubRepo", "projectPage", "githubStars", "upvotes")
                                        if record.get(key)} or None


def withdrawn(got: Got) -> cli.Stop:
    earlier = [v.version for v in got.metadata.versions if v.version < (got.paper.version or 1) and not v.withdrawn]
    comments = f" arXiv's comment: {html.unescape(got.metadata.comments)[:300]!r}." if got.metadata.comments else ""
    return cli.Stop(f"{got.paper} is withdrawn.{comments}", code=cli.UNUSABLE, expected="a paper that its authors stand by",
                    fix=f"its authors took it back; if you know why and still want it, ask for {got.paper.id}v{max(earlier)}"
                    if earlier else "another paper")


def not_found(asked: ArxivId, why: str = "") -> cli.Stop:
    return cli.Stop(f"arXiv has no paper {asked}" + (f" ({why})" if why else ""), code=cli.UNUSABLE,
                    expected="the id of a paper on arXiv", fix="check the digits on the paper's page on arxiv.org")


def no_version(asked: ArxivId, newest: int) -> cli.Stop:
    return cli.Stop(f"{asked.id} has no version {asked.version}; the newest is {newest}", code=cli.UNUSABLE,
                    expected=f"a version from 1 to {newest}", fix=f"ask for {asked.id}v{newest}, or for {asked.id}")
