"""The evidence report: one self-contained HTML page, the paper on one side, the code on the other, every anchor linked both ways.

The page needs no network and works from a file. Everything that comes from the paper or the repository is escaped (Jinja2's
autoescape, `mathml.text`), and the page's own policy allows no script but its own.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import jinja2
from markupsafe import Markup
from paper2code import cli
from paper2code.check import contribution as contributions
from paper2code.check import everything
from paper2code.check import ledger as ledgers
from paper2code.check import result as results
from paper2code.check.contribution import Contribution
from paper2code.check.ledger import Ledger
from paper2code.check.outcome import Outcome
from paper2code.check.places import Places
from paper2code.findings import errors, in_order
from paper2code.fold import fold
from paper2code.paper import Algorithm, Equation, Figure, Paper, Table
from paper2code.show import mathml
from paper2code.workspace import Workspace, now, version
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

HERE = Path(__file__).resolve().parent
SHOWN = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".md": "markdown", ".toml": "toml", ".txt": "text"}
MOST_LINES = 20_000
MOST_ROWS = 400  # of one table
PICTURES = 1_400_000  # bytes that all page pictures together may take
# State → (sign, what it means). The sign is there so that colour alone never carries the meaning.
STATES = {
    "verified": ("✓", "the quote stands in the place named"),
    "cited": ("§", "a place without a quote; it exists"),
    "moved": ("→", "the quote is the paper's, but stands elsewhere"),
    "altered": ("≠", "the paper has a similar sentence, not this one"),
    "missing": ("✗", "not in the paper"),
    "deferred": ("↷", "the sentence is about others' work"),
    "unreadable": ("?", "the paper's text is garbled there"),
    "no-such-place": ("∅", "the paper has no such place"),
    "UNSPECIFIED": ("U", "flagged: the paper does not say"),
    "PARTIALLY_SPECIFIED": ("P", "flagged: the paper says a part"),
    "ASSUMPTION": ("A", "flagged: an assumption"),
    "FROM_OFFICIAL_CODE": ("C", "from the authors' code"),
}
BAD = ("moved", "altered", "missing", "deferred", "unreadable", "no-such-place")


@dataclass
class Link:
    """One anchor as the page shows it: where it stands in the repository, and the element of the paper it leads to."""

    number: int
    file: str
    line: int
    place: str
    quote: str
    state: str
    tag: str = ""
    found_at: str = ""
    page: int | None = None
    bbox: tuple[float, ...] | None = None
    target: str = ""
    message: str = ""

    @property
    def sign(self) -> str:
        return STATES.get(self.state, ("·", ""))[0]

    @property
    def code_id(self) -> str:
        return f"L-{name_id(self.file)}-{self.line}"


@dataclass
class Piece:
    """A stretch of the paper pane: `html` is safe; `links` lead back to the code."""

    id: str
    kind: str
    html: Markup
    page: int | None = None
    label: str = ""
    links: list[Link] = field(default_factory=list)


@dataclass
class Report:
    """All that the template shows."""

    paper: Paper
    outcome: Outcome
    root: Path
    links: list[Link]
    sections: list[dict]
    files: list[dict]
    pages: list[dict]
    matrix: list[dict]
    ledger: Ledger | None = None
    contribution: Contribution | None = None
    mode: str = ""
    framework: str = ""

    def verdict(self) -> tuple[str, str]:
        """(good | flawed | empty, sentence)."""
        bad = len(errors(self.outcome.findings))
        quotes = sum(1 for link in self.links if link.quote)
        wrong = sum(1 for link in self.links if link.state in BAD)
        if not self.links:
            return "empty", "Nothing in this repository cites the paper, so nothing could be checked."
        if bad:
            return "flawed", f"{bad} check{'s' * (bad != 1)} failed; {wrong} of {len(self.links)} citations do not hold."
        return "good", (f"All {len(self.links)} citations hold, {quotes} of them with a quote that stands in the paper; what the paper "
                        "does not say is flagged.")


def name_id(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")


# --- the paper's side ---------------------------------------------------------------------------------------------------


def pieces(paper: Paper) -> tuple[list[dict], dict[str, Piece], dict[str, list[tuple[str, Piece]]]]:
    """Sections with their pieces; pieces by id of section or item; and, by section, folded text with its piece."""
    items = {item.id: item for item in paper.items()}
    by_id: dict[str, Piece] = {}
    texts: dict[str, list[tuple[str, Piece]]] = defaultdict(list)
    out, placed = [], set()

    def item_piece(item: object, section: str) -> Piece:
        piece = Piece(f"i-{name_id(item.id)}", type(item).__name__.lower(), item_html(item), item.page, label_of(item))
        by_id[item.id] = piece
        for text in texts_of(item):
            texts[section].append((fold(text).text, piece))
            texts[item.id].append((fold(text).text, piece))
        placed.add(item.id)
        return piece

    if paper.abstract:
        piece = Piece("s-abstract", "paragraph", Markup(f"<p>{mathml.text(paper.abstract)}</p>"), 1 if paper.pages else None)
        by_id["abstract"] = piece
        texts["abstract"].append((fold(paper.abstract).text, piece))
        out.append({"id": "sec-abstract", "title": "Abstract", "number": "", "level": 1, "appendix": False, "page": None, "pieces": [piece]})
    for at, section in enumerate(paper.sections):
        head = Piece(f"sec-{at}", "heading", Markup(""), section.page)
        by_id[section.id] = head
        texts[section.id].append((fold(section.title).text, head))
        row = {"id": head.id, "title": section.title, "number": section.number or "", "level": min(section.level, 4),
               "appendix": section.appendix, "page": section.page, "pieces": [], "head": head}
        for n, block in enumerate(section.blocks):
            if block.ref in items and block.kind in ("equation", "algorithm", "table", "figure"):
                if block.ref not in placed:
                    row["pieces"].append(item_piece(items[block.ref], section.id))
            elif block.text and block.kind != "footnote-mark":
                piece = Piece(f"b-{at}-{n}", block.kind, block_html(block.kind, block.text, block.number), block.page)
                row["pieces"].append(piece)
                texts[section.id].append((fold(block.text).text, piece))
        row["pieces"] += [item_piece(item, section.id) for item in paper.items() if item.section == section.id and item.id not in placed]
        out.append(row)
    left = [item_piece(item, "") for item in items.values() if item.id not in placed]
    if left:
        out.append({"id": "sec-left", "title": "Elsewhere", "number": "", "level": 1, "appendix": False, "page": None, "pieces": left})
    return out, by_id, texts


def block_html(kind: str, text: str, number: str | None) -> Markup:
    if kind == "code":
        return Markup(f"<pre>{escape(text)}</pre>")
    if kind == "list":
        return Markup("<ul>" + "".join(f"<li>{mathml.text(line)}</li>" for line in text.splitlines() if line.strip()) + "</ul>")
    named = f"<b>{escape(number)}.</b> " if kind == "theorem" and number else ""
    return Markup(f"<p>{named}{mathml.text(text)}</p>")


def label_of(item: object) -> str:
    word = {Equation: "Eq.", Algorithm: "Algorithm", Table: "Table", Figure: "Figure"}.get(type(item), "Footnote")
    return f"{word} {item.number}" if item.number else word


def texts_of(item: object) -> list[str]:
    if isinstance(item, Equation):
        return [text for text in (item.latex, item.text) if text]
    return [text for text in (getattr(item, "caption", ""), getattr(item, "text", ""), *getattr(item, "lines", ()),
                              *(" ".join(row) for row in getattr(item, "rows", ())), *(c for row in getattr(item, "rows", ()) for c in row)) if text]


def marker(number: str | None) -> str:
    """The attributes of a line that is printed with another number than its place in the list, or with none."""
    if number is None:
        return ""
    return f' value="{number}"' if number.isdigit() else ' class="unnumbered"'


def item_html(item: object) -> Markup:
    if isinstance(item, Equation):
        number = f'<span class="number">({escape(item.number)})</span>' if item.number else ""
        body = mathml.formula(item.latex or item.text or "", display=True) + ("" if item.latex else " <small>(from the PDF alone)</small>")
        return Markup(f'<div class="equation" tabindex="0" role="group" aria-label="{escape(label_of(item), quote=True)}">{body}{number}</div>')
    caption = f"<b>{escape(label_of(item))}.</b> {mathml.text(getattr(item, 'caption', '') or getattr(item, 'text', ''))}"
    if isinstance(item, Algorithm):
        lines = "".join(
            f'<li{marker(number)} style="--in:{(len(line) - len(line.lstrip())) // 2}">{mathml.text(line.strip())}</li>'
            for number, line in zip(item.numbers or [None] * len(item.lines), item.lines, strict=True))
        return Markup(f'<p class="caption">{caption}</p><ol class="algorithm">{lines}</ol>')
    if isinstance(item, Table):
        rows = "".join("<tr>" + "".join(f"<td>{mathml.text(cell)}</td>" for cell in row) + "</tr>" for row in item.rows[:MOST_ROWS])
        more = f"<p>… {len(item.rows) - MOST_ROWS} more rows</p>" if len(item.rows) > MOST_ROWS else ""
        return Markup(f'<p class="caption">{caption}</p><div class="wide" tabindex="0" role="region" '
                      f'aria-label="{escape(label_of(item), quote=True)}"><table>{rows}</table></div>{more}')
    return Markup(f'<p class="caption">{caption}</p>')


# --- the links ----------------------------------------------------------------------------------------------------------


def links_of(outcome: Outcome, root: Path, paper: Paper, by_id: dict[str, Piece], texts: dict[str, list[tuple[str, Piece]]]) -> list[Link]:
    """The anchors of the checks, each with the piece of the paper it leads to; flags without a place come after them."""
    from paper2code.check import anchors as reading

    places = Places(paper)
    out: list[Link] = []
    for entry in outcome.anchors:
        tag = entry.get("tag") or ""
        state = tag if tag and entry["state"] in ("verified", "cited") else entry["state"]
        link = Link(len(out) + 1, entry["file"], entry["line"], entry["place"], entry.get("quote") or "", state, tag,
                    entry.get("found_at") or "", entry.get("page"), tuple(entry["bbox"]) if entry.get("bbox") else None)
        piece = piece_of(link, places, by_id, texts)
        if piece is not None:
            link.target = piece.id
            piece.links.append(link)
        out.append(link)
    told = {(link.file, link.line, link.tag) for link in out}
    for anchor in reading.find(root):
        if anchor.tag and (anchor.file, anchor.line, anchor.tag) not in told:
            out.append(Link(len(out) + 1, anchor.file, anchor.line, anchor.place or "", anchor.quote or "", anchor.tag, anchor.tag,
                            message=" ".join(anchor.text.split())[:300]))
    return out


def piece_of(link: Link, places: Places, by_id: dict[str, Piece], texts: dict[str, list[tuple[str, Piece]]]) -> Piece | None:
    target = places.resolve(link.found_at or link.place)
    if link.quote:
        longest = max(re.split(r"…|\.\.\.", link.quote), key=len)
        wanted = fold(longest).text
        for key in (*target.items, *sorted(target.sections)):
            for text, piece in texts.get(key, ()):
                if wanted and wanted in text:
                    return piece
    for key in (*sorted(target.items), *sorted(target.sections, key=len)):
        if key in by_id:
            return by_id[key]
    return None


# --- the code's side ----------------------------------------------------------------------------------------------------


def code_files(root: Path, links: list[Link]) -> list[dict]:
    """Each shown file as highlighted lines with the anchors that stand on them."""
    by_line: dict[tuple[str, int], list[Link]] = defaultdict(list)
    for link in links:
        by_line[link.file, link.line].append(link)
    out, total = [], 0
    order = {"configs": 0, "src": 1}
    paths = [path for path in everything.Repository(root).files if Path(path).suffix in SHOWN]
    for name in sorted(paths, key=lambda path: (order.get(path.split("/")[0], 2), path)):
        try:
            text = (root / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        lines = highlighted(text, SHOWN[Path(name).suffix])
        total += len(lines)
        cut = total > MOST_LINES
        rows = [] if cut else [{"number": n, "html": Markup(line), "links": by_line.get((name, n), [])} for n, line in enumerate(lines, 1)]
        count = sum(len(row["links"]) for row in rows)
        out.append({"name": name, "id": f"f-{name_id(name)}", "rows": rows, "cut": cut, "count": count,
                    "open": name.split("/")[0] in order})
    return out


def highlighted(text: str, language: str) -> list[str]:
    """Lines of safe HTML; every span that Pygments opens is closed on its line."""
    if len(text) > 400_000:
        return [escape(line) for line in text.splitlines()]
    return highlight(text, get_lexer_by_name(language, stripnl=False), HtmlFormatter(nowrap=True)).splitlines()


# --- the pages ----------------------------------------------------------------------------------------------------------


def page_pictures(pdf: Path | None, links: list[Link]) -> list[dict]:
    """Pictures of the PDF's pages that hold quotes, with the quotes' boxes in per cent of the page. Within `PICTURES` bytes."""
    by_page: dict[int, list[Link]] = defaultdict(list)
    for link in links:
        if link.page and link.bbox:
            by_page[link.page].append(link)
    if pdf is None or not by_page:
        return []
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(pdf)
    except pypdfium2.PdfiumError:
        return []
    out = []
    try:
        for share, quality in ((1.0, 55), (0.75, 45), (0.5, 40)):
            out, size = [], 0
            for number in sorted(by_page):
                if number > len(document):
                    continue
                page = document[number - 1]
                width, height = page.get_size()
                picture = page.render(scale=share * 900 / width, grayscale=True).to_pil()
                buffer = io.BytesIO()
                picture.save(buffer, "JPEG", quality=quality, optimize=True)
                size += buffer.tell()
                boxes = [{"link": link, "x": 100 * link.bbox[0] / width, "y": 100 * link.bbox[1] / height,
                          "w": 100 * (link.bbox[2] - link.bbox[0]) / width, "h": 100 * (link.bbox[3] - link.bbox[1]) / height}
                         for link in by_page[number]]
                out.append({"number": number, "data": base64.b64encode(buffer.getvalue()).decode("ascii"), "boxes": boxes,
                            "width": picture.width, "height": picture.height})
            if size <= PICTURES:
                break
    finally:
        document.close()
    while sum(len(page["data"]) for page in out) * 3 / 4 > PICTURES:
        out.pop()
    return out


# --- what of the paper is implemented -----------------------------------------------------------------------------------


def matrix(paper: Paper, links: list[Link], by_id: dict[str, Piece], contribution: Contribution | None, outcome: Outcome) -> list[dict]:
    """A row for each numbered equation, algorithm and section (and each decision): where the code has it, or why not."""
    scope = contribution.rows("out_of_scope") if contribution else []
    places = Places(paper)
    out = []

    def why_not(key: str) -> str:
        for row in scope:
            target = places.resolve(str(row.get("where", "")))
            if key in target.items or key in target.sections:
                return str(row.get("why", ""))
        return ""

    for kind, rows in (("equation", paper.equations), ("algorithm", paper.algorithms), ("section", paper.sections)):
        for item in rows:
            if not item.number:
                continue
            piece = by_id.get(item.id)
            mine = list(piece.links) if piece else []
            if kind == "section":
                mine = [link for link in links if link.target and item.id in places.resolve(link.found_at or link.place).sections]
            spots = list(dict.fromkeys((link.file, link.line) for link in mine if not link.file.endswith((".md", ".ipynb"))))
            label = f"§{item.number} {item.title}" if kind == "section" else label_of(item)
            reason = "" if spots else why_not(item.id)
            state = "implemented" if spots else "out of scope" if reason else "not cited"
            out.append({"kind": kind, "label": label, "target": piece.id if piece else "", "spots": spots[:8], "more": max(0, len(spots) - 8),
                        "state": state, "why": reason})
    for row in outcome.trace:
        if row.get("kind") == "decision":
            spots = [(spot.rsplit(":", 1)[0], int(spot.rsplit(":", 1)[1])) for spot in row.get("code", []) if re.search(r":\d+$", spot)]
            out.append({"kind": "decision", "label": f"{row['id']} ({row.get('status', '')})", "target": "", "spots": spots[:8],
                        "more": max(0, len(spots) - 8), "state": row.get("state", ""), "why": row.get("config", "") or row.get("check", "")})
    return out


# --- putting it together ------------------------------------------------------------------------------------------------


def gather(root: Path, given: Path) -> Report:
    """Run the checks and collect all that the page shows. Raises cli.Stop as `check_result.py` does."""
    if not root.is_dir():
        raise cli.Stop(f"{root} is no folder", code=cli.USAGE, expected="the folder of a repository")
    paper, work = results.paper_of(given)
    contribution = ledger = None
    mode = framework = ""
    if work is not None:
        job = work.job()
        mode, framework = job.mode, job.framework
        if work.contribution.is_file():
            contribution, _ = contributions.read(work.contribution)
        if work.ledger.is_file():
            ledger, _ = ledgers.read(work.ledger)
    outcome = everything.check(root, paper, work=work if ledger is not None else None, contribution=contribution, mode=mode)
    sections, by_id, texts = pieces(paper)
    links = links_of(outcome, root, paper, by_id, texts)
    pdf = work.pdf if work is not None else given if given.suffix.lower() == ".pdf" else Workspace(given).pdf if given.is_dir() else None
    return Report(paper, outcome, root, links, sections, code_files(root, links), page_pictures(pdf, links),
                  matrix(paper, links, by_id, contribution, outcome), ledger, contribution, mode, framework)


def html(report: Report) -> str:
    """The page."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, undefined=jinja2.StrictUndefined,
                                     trim_blocks=True, lstrip_blocks=True)
    script = (HERE / "templates" / "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    style = (HERE / "templates" / "report.css").read_text(encoding="utf-8")
    state, sentence = report.verdict()
    return environment.get_template("report.html.j2").render(
        report=report, paper=report.paper, counts=Counter(link.state for link in report.links), states=STATES, verdict=state, sentence=sentence,
        findings=in_order(report.outcome.findings), script=Markup(script), digest=digest, style=Markup(style), tool=version(),
        made=now(), name_id=name_id, statuses=ledgers.STATUSES)


def badge(report: Report) -> str:
    """The one-line summary."""
    counts = Counter(link.state for link in report.links)
    quotes = sum(1 for link in report.links if link.quote and link.state in ("verified", "PARTIALLY_SPECIFIED"))
    bad = sum(counts[state] for state in BAD)
    flags = sum(counts[tag] for tag in ("UNSPECIFIED", "PARTIALLY_SPECIFIED", "ASSUMPTION", "FROM_OFFICIAL_CODE"))
    return f"paper2code: {quotes} quotes verified, {bad} wrong, {flags} flagged, {len(errors(report.outcome.findings))} findings"


def text(report: Report) -> str:
    """The same for the terminal."""
    _, sentence = report.verdict()
    lines = [badge(report), f"{report.paper.title} ({report.paper.id or 'local file'}): {sentence}"]
    lines += [finding.text() for finding in in_order(report.outcome.findings)[:20]]
    for kind in ("equation", "algorithm"):
        rows = [row for row in report.matrix if row["kind"] == kind]
        if rows:
            done = sum(row["state"] == "implemented" for row in rows)
            left = ", ".join(f"{row['label']} ({row['state']})" for row in rows if row["state"] != "implemented")
            lines.append(f"{kind}s: {done} of {len(rows)} cited in code" + (f"; {left}" if left else ""))
    return "\n".join(lines)


def data(report: Report) -> dict:
    """The same for a machine."""
    state, sentence = report.verdict()
    keep = ("number", "file", "line", "place", "quote", "state", "tag", "found_at", "page", "target")
    return {"paper": {"id": report.paper.id, "version": report.paper.version, "title": report.paper.title}, "tool": version(),
            "verdict": state, "sentence": sentence, "summary": badge(report), "counts": report.outcome.counts,
            "anchors": [{name: getattr(link, name) for name in keep} for link in report.links], "matrix": report.matrix,
            "findings": [finding.data() for finding in in_order(report.outcome.findings)]}
