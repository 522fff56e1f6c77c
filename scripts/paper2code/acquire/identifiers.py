"""What a user may call a paper: an arXiv id in any of the forms people paste, or a local file. Standard library only.

Format of ids: https://info.arxiv.org/help/arxiv_identifier.html. From 9108 to 0703 `archive/YYMMNNN`, from 0704 to 1412
`YYMM.NNNN`, since 1501 `YYMM.NNNNN`. Everything is judged here, before any network call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import unquote, urlsplit

from paper2code import cli

ARCHIVES = frozenset(
    "acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas cond-mat cs dg-ga funct-an "
    "gr-qc hep-ex hep-lat hep-ph hep-th math math-ph mtrl-th nlin nucl-ex nucl-th patt-sol physics plasm-ph q-alg q-bio "
    "quant-ph solv-int supr-con".split()
)
# host (without www., export. and the like) -> the first parts of a path that an id may follow
SITES = {
    "arxiv.org": {"abs", "pdf", "html", "src", "e-print", "format", "ps", "list"},
    "ar5iv.org": {"abs", "html", "papers"},
    "ar5iv.labs.arxiv.org": {"abs", "html", "papers"},
    "alphaxiv.org": {"abs", "pdf", "html", "overview", "forum", "audio"},
    "huggingface.co": {"papers"},
    "hf.co": {"papers"},
}
SUBDOMAINS = re.compile(r"^(?:www|export|browse|beta|[a-z]{2})\.(?=arxiv\.org$|alphaxiv\.org$|huggingface\.co$|ar5iv\.org$)")
NEW = re.compile(r"([0-9]{4})\.([0-9]+)(?:v([0-9]+))?", re.I)
OLD = re.compile(r"([a-z]+(?:-[a-z]+)*)(?:\.[a-z]+(?:-[a-z]+)?)?/([0-9]+)(?:v([0-9]+))?", re.I)
ENDINGS = {".pdf", ".tex", ".ltx", ".latex", ".gz", ".tgz", ".tar", ".zip", ".html", ".htm", ".xhtml", ".md", ".markdown", ".txt"}
FORMS = (
    "2106.09685, 2106.09685v2, cs/0601007, arXiv:2106.09685, an arxiv.org, ar5iv, alphaxiv or huggingface.co/papers address, "
    "10.48550/arXiv.2106.09685, or a local PDF, LaTeX source (folder, .tex, .tar.gz, .gz, .zip), HTML, Markdown or text file"
)


@dataclass(frozen=True)
class ArxivId:
    """`id` in its canonical form, without version (`2106.09685`, `math/0309136`); `version` None when none was asked for."""

    id: str
    version: int | None = None

    def __str__(self) -> str:
        return self.id + (f"v{self.version}" if self.version else "")

    @property
    def folder(self) -> str:
        """The id as the name of one folder."""
        return self.id.replace("/", "__")

    def at(self, version: int | None) -> ArxivId:
        return ArxivId(self.id, version)


def refuse(asked: str, why: str) -> cli.Stop:
    shown = asked if len(asked) <= 200 else asked[:200] + "…"
    return cli.Stop(f"{shown!r} {why}", code=cli.USAGE, expected=FORMS,
                    fix="copy the id from the paper's page on arxiv.org, or name an existing file")


def month(asked: str, yymm: str) -> datetime:
    """The month an id's first four digits stand for; arXiv began in August 1991."""
    year, number = int(yymm[:2]), int(yymm[2:])
    if not 1 <= number <= 12:
        raise refuse(asked, f"is not an arXiv id: an id begins with year and month, and there is no month {number:02d}")
    return datetime(year + (1900 if year >= 91 else 2000), number, 1, tzinfo=timezone.utc)


def exact(text: str, *, asked: str | None = None, today: datetime | None = None) -> ArxivId | None:
    """`text` as an id and nothing else; None when it has not the shape of one. Raises Stop when it has, but cannot be one."""
    asked, today = asked or text, today or datetime.now(timezone.utc)
    if found := NEW.fullmatch(text):
        yymm, number, version = found.groups()
        when = month(asked, yymm)
        if when < datetime(2007, 4, 1, tzinfo=timezone.utc):
            raise refuse(asked, "is not an arXiv id: before April 2007 ids had an archive's name, as in cs/0601007")
        if when > today:
            raise refuse(asked, f"is not an arXiv id: {when:%B %Y} has not come yet")
        digits = 5 if when.year >= 2015 else 4
        if len(number) != digits:
            raise refuse(asked, f"is not an arXiv id: an id of {when:%B %Y} has {digits} digits after the dot, not {len(number)}")
        name = f"{yymm}.{number}"
    elif found := OLD.fullmatch(text):
        archive, number, version = found[1].lower(), found[2], found[3]
        if archive not in ARCHIVES:
            return None
        if len(number) != 7:
            raise refuse(
                asked, f"is not an arXiv id: an id with an archive's name has 7 digits after the slash, not {len(number)}"
            )
        when = month(asked, number[:4])
        if not datetime(1991, 7, 1, tzinfo=timezone.utc) <= when < datetime(2007, 4, 1, tzinfo=timezone.utc):
            raise refuse(asked, "is not an arXiv id: ids with an archive's name were given from August 1991 to March 2007")
        number, name = number[4:], f"{archive}/{number}"
    else:
        return None
    if int(number) == 0:
        raise refuse(asked, "is not an arXiv id: its running number is zero")
    if version is not None and not 1 <= int(version) <= 999:
        raise refuse(asked, f"is not an arXiv id: there is no version {version}")
    return ArxivId(name, int(version) if version else None)


def inside(text: str) -> str:
    """What is left of a DOI, a URL or a stamp when all but the id is taken off. Raises Stop on a URL of another site."""
    asked = text
    text = re.sub(r"\s*\[[A-Za-z.-]+\](?:\s+\d{1,2} \w{3} \d{4})?$", "", text.strip().strip("<>").strip())
    text = re.sub(r"^(?:https?://(?:dx\.|www\.)?doi\.org/|doi:\s*)?10\.48550/arxiv\.", "", text, flags=re.I)
    if re.match(r"(?:https?:)?//|(?:[a-z0-9-]+\.)+[a-z]{2,}/", text, re.I) and not OLD.fullmatch(text):
        url = urlsplit(text if "//" in text.partition("?")[0] else f"https://{text}")
        host = SUBDOMAINS.sub("", (url.hostname or "").lower())
        parts = [part for part in unquote(url.path).split("/") if part]
        if host not in SITES:
            raise refuse(asked, f"is an address at {url.hostname}, from which no paper is taken")
        if len(parts) < 2 or parts[0].lower() not in SITES[host]:
            raise refuse(asked, "is an address without a paper's id")
        text = "/".join(parts[1:])
        if NEW.match(text):  # what follows the id names a file of the paper, or a view of it
            text = text.split("/")[0]
    text = re.sub(r"^arxiv\s*:\s*", "", text.strip(), flags=re.I)
    return re.sub(r"(?:\.(?:pdf|html|tar\.gz|gz))+$", "", text.rstrip("/"), flags=re.I)


def parse(text: str, *, today: datetime | None = None) -> ArxivId:
    """The arXiv id that `text` names, in any of the forms of `FORMS`. Raises Stop (exit 2) with the reason."""
    name = inside(text)
    found = exact(name, asked=text, today=today)
    if found is None:
        if (old := OLD.fullmatch(name)) and len(old[2]) == 7:
            raise refuse(text, f"is not an arXiv id: arXiv never had an archive {old[1]!r}")
        raise refuse(text, "is neither an arXiv id nor an existing file")
    return found


def either(text: str) -> ArxivId | Path:
    """An arXiv id, or the path of a local file or folder that exists. Raises Stop (exit 2).

    A bare id is an id even when a folder of that name exists; `./2106.09685` names the folder.
    """
    if not text.strip() or "\0" in text:
        raise refuse(text, "names no paper")
    bare = re.sub(r"^arxiv\s*:\s*", "", text.strip(), flags=re.I)
    if NEW.fullmatch(bare) or ((old := OLD.fullmatch(bare)) and old[1].lower() in ARCHIVES):
        return parse(text)
    path = Path(text).expanduser()
    try:
        if path.exists():
            return path
    except OSError:  # a name too long for the file system
        pass
    head = SUBDOMAINS.sub("", text.strip().lower().split("/")[0])
    remote = head in SITES or re.match(r"(?:https?:)?//|doi:|arxiv:|10\.48550/", text.strip(), re.I)
    local = text.startswith((".", "/", "~")) or "\\" in text or path.suffix.lower() in ENDINGS
    if local and not remote and not NEW.fullmatch(inside(text)):
        raise cli.Stop(f"there is no file or folder {text!r}", code=cli.USAGE, expected=FORMS,
                       fix="check the path; relative paths count from the current folder")
    return parse(text)
