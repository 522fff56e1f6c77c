"""LaTeXML's HTML, as arXiv and ar5iv serve it, → Paper.

The class names (`ltx_section`, `ltx_equationgroup`, `ltx_tag_listingline` …) are the vocabulary of LaTeXML and of its
successor latexml-oxide; see the LaTeXML manual, "Document schema". Where a page lacks them, plain HTML tags are read.
Mathematics is the `alttext` of `<math>` (TeX with the author's macros expanded), else its x-tex annotation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree
from lxml import html as lxml_html
from paper2code.paper import Algorithm, Block, Equation, Figure, Footnote, Link, Paper, Reference, Section, Table, give_ids

SOURCE = "html"
DEEPEST = 150  # nesting below this is flattened: no real page comes near it, a hostile one must not end the run

LEVELS = {"ltx_part": 1, "ltx_chapter": 1, "ltx_section": 1, "ltx_appendix": 1, "ltx_subsection": 2, "ltx_subsubsection": 3,
          "ltx_paragraph": 4, "ltx_subparagraph": 5, "ltx_bibliography": 1, "ltx_index": 1, "ltx_acknowledgements": 1}
LISTS = {"ltx_itemize", "ltx_enumerate", "ltx_description"}
FLOATS = {"ltx_figure", "ltx_table", "ltx_float", "ltx_float_algorithm", "ltx_algorithm"}
SKIPPED = {"ltx_TOC", "ltx_page_navbar", "ltx_page_footer", "ltx_page_header", "ltx_page_logo", "ltx_listing_data", "ltx_rule",
           "ltx_rdf", "ltx_toclist", "ltx_pagination", "ltx_dates", "ltx_indexlist", "ltx_note_mark"}
SKIPPED_TAGS = {"script", "style", "nav", "noscript", "template", "button", "head", "svg", "iframe", "object", "form", "dialog"}
BLOCK_TAGS = {"p", "div", "section", "article", "main", "figure", "table", "ul", "ol", "dl", "pre", "blockquote", "h1", "h2",
              "h3", "h4", "h5", "h6", "header", "footer", "body", "li", "dd", "dt", "tr", "center", "aside", "figcaption"}
BLOCK_CLASSES = {*LEVELS, *LISTS, *FLOATS, "ltx_para", "ltx_p", "ltx_equation", "ltx_equationgroup", "ltx_tabular", "ltx_listing",
                 "ltx_theorem", "ltx_proof", "ltx_quote", "ltx_caption", "ltx_title", "ltx_abstract", "ltx_verbatim"}
HARD = {*LEVELS, *LISTS, *FLOATS, "ltx_equation", "ltx_equationgroup", "ltx_tabular", "ltx_listing", "ltx_caption"}

# What a caption's tag says: "Figure 3", "Table A1:", "Algorithm 2", "Extended Data Fig. 4"; in the languages seen on arXiv.
CAPTION = re.compile(
    r"""^\W* (?P<name>(?:[\w.]+[ ]){0,2}? (?P<kind>
            fig(?:ure|ura|\.)? | abb(?:ildung|\.)? | tab(?:le|elle|leau|la|ela|\.)? | alg(?:orithme?|orithmus|oritmo|\.)?
            | listing | program | protocol | procedure | box | scheme | chart | plate | map | video))
        \s* (?P<number>[A-Z]{0,3}[.\-–]?\d[\w.\-–]* | [IVXLC]+ | [A-Z](?:\.\d+)*)? \s* [:.)|]* \s*$""", re.I | re.X)
APPENDIX = re.compile(r"(?:technical |online )?(?:appendix|appendices|supplement(?:ary|al)?(?: materials?| information)?)\W*$", re.I)
KINDS = (("tab", Table), ("alg", Algorithm), ("prog", Algorithm), ("proc", Algorithm), ("prot", Algorithm))
ARXIV = re.compile(r"(?:arxiv\s*[:.]?\s*(?:preprint\s*)?(?:arxiv\s*[:.]\s*)?|arxiv\.org/(?:abs|pdf)/)"
                   r"(\d{4}\.\d{4,5}|[a-z\-]+(?:\.[A-Z]{2})?/\d{7})", re.I)
DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>]*[^\s\"<>.,;)])")
YEAR = re.compile(r"\b((?:19|20)\d\d)[a-z]?\b")


def read(data: bytes | str | Path) -> Paper:
    """The paper that a page of LaTeXML HTML holds: bytes, a text of HTML, or a path to a file.

    Never raises on bad HTML: what could not be read is named in `warnings`; a page without a paper gives an empty Paper.
    """
    if isinstance(data, Path):
        data = data.read_bytes()
    paper = Paper()
    root = parse(data)
    if root is None:
        paper.warn("html-empty", "the HTML holds no element")
    else:
        Reader(paper, root).run()
    give_ids(paper)
    return paper


def parse(data: bytes | str) -> etree.Element | None:
    if isinstance(data, bytes):
        found = re.search(rb"charset\s*=\s*[\"']?([\w\-]+)", data[:2048])
        for encoding in ("utf-8", found.group(1).decode("ascii") if found else "utf-8", "cp1252"):
            try:
                data = data.decode(encoding)
                break
            except (UnicodeDecodeError, LookupError):
                continue
        else:
            data = data.decode("utf-8", "replace")
    data = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", "", data).lstrip("\ufeff")
    data = re.sub(r"^\s*<\?xml[^>]*\?>", "", data)  # lxml refuses text that declares an encoding
    if not data.strip():
        return None
    parser = lxml_html.HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(data, parser)
    except etree.ParserError:
        return None


# --- small things about elements ---------------------------------------------------------------------------------------


def classes(node: etree.Element) -> list[str]:
    return (node.get("class") or "").split()


def has(node: etree.Element, *names: str) -> bool:
    own = classes(node)
    return any(name in own for name in names)


def style(node: etree.Element) -> dict[str, str]:
    pairs = (part.partition(":") for part in (node.get("style") or "").lower().split(";"))
    return {name.strip(): value.replace("!important", "").strip() for name, _, value in pairs if value.strip()}


def zero(value: str | None) -> bool:
    return bool(re.fullmatch(r"0*\.?0+\s*(px|pt|em|rem|ex|%)?", value or ""))


def whitish(value: str | None) -> bool:
    value = (value or "").replace(" ", "")
    if value in ("white", "snow", "ivory", "transparent") or re.fullmatch(r"rgba\(.*,0*\.?0+\)", value):
        return True
    if match := re.fullmatch(r"#([0-9a-f])([0-9a-f])([0-9a-f])", value):
        return all(part in "ef" for part in match.groups())
    if match := re.fullmatch(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", value):
        return all(int(part, 16) >= 0xF5 for part in match.groups())
    if match := re.fullmatch(r"rgba?\((\d+),(\d+),(\d+)(,[\d.]+)?\)", value):
        return all(int(part) >= 0xF5 for part in match.groups()[:3])
    return False


def hidden_how(node: etree.Element) -> str | None:
    """How a reader of the page is kept from seeing this element's text; None when nothing does."""
    if node.get("hidden") is not None:
        return "hidden attribute"
    if has(node, "ltx_phantom"):
        return "phantom"
    if not node.get("style"):
        return None
    css = style(node)
    if css.get("display") == "none":
        return "display: none"
    if css.get("visibility") in ("hidden", "collapse"):
        return "visibility: hidden"
    size = css.get("font-size", "")
    if zero(size) or (match := re.fullmatch(r"(\d*\.?\d+)(px|pt)", size)) and float(match[1]) < 2:
        return f"font size {size}"
    if zero(css.get("opacity")):
        return "opacity 0"
    if any(re.match(r"-\d{4,}", css.get(name, "")) for name in ("left", "top", "text-indent", "margin-left")):
        return "off the page"
    if (zero(css.get("height")) or zero(css.get("width"))) and css.get("overflow") in ("hidden", "clip"):
        return "zero size"
    if css.get("clip") in ("rect(0,0,0,0)", "rect(0px,0px,0px,0px)", "rect(0 0 0 0)"):
        return "clipped away"
    if whitish(css.get("color")) and not any(
            not whitish(on) for up in (node, *node.iterancestors())
            for on in (style(up).get("background-color") or style(up).get("background"),) if on):
        return f"colour {css['color']} on white"
    return None


def squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u00ad", "").replace("\u200b", "").replace("\u2060", "")).strip()


def tidy(latex: str) -> str:
    """LaTeXML's TeX as an author would write it: without its line breaks (`%` at a line's end), colours and style switches,
    and with `'`, `\\substack`, `\\Big(`, `\\quad` for what it spells out."""
    latex = re.sub(r"(?<!\\)%\s*\n\s*", "", latex)
    latex = re.sub(r"\\(?:page)?color(?:\[[^\]]*\])?\{[^{}]*\}", "", latex)
    latex = re.sub(r"^(?:\\(?:displaystyle|textstyle)(?![A-Za-z])\s*)+", "", latex.strip())
    latex = re.sub(r"\^\{((?:\\prime)+)\}", lambda match: "'" * match[1].count("prime"), latex)
    latex = re.sub(r"\\begin\{subarray\}\{[clr]\}(.*?)\\end\{subarray\}", r"\\substack{\1}", latex, flags=re.S)
    latex = re.sub(r"(\\[Bb]igg?[lrm]?)\{(\\?[^\w\s{}\\]|\\[{}|]|\\[A-Za-z]+)\}", r"\1\2", latex)
    latex = re.sub(r"\\hskip\s*-?[\d.]+(?:pt|em|ex|mu|cm|mm|in)(?:\s*(?:plus|minus)\s*[\d.]+\w+)*\s*", r"\\quad ", latex)
    return re.sub(r"\s+", " ", latex).strip()


def latex_of(math: etree.Element) -> str:
    text = math.get("alttext")
    if text is None:
        text = next((note.text for note in math.iter("annotation") if "tex" in (note.get("encoding") or "")), None)
    if text is None:
        text = math.get("alt") or "".join(
            part for node in math.iter() if not str(node.tag).startswith("annotation") for part in (node.text or "",))
    return tidy(text)


def formulae(node: etree.Element) -> Iterator[etree.Element]:
    """The formulae under an element; what lies inside a formula (`\\mbox{$…$}`) is part of it."""
    if node.tag == "math" or has(node, "ltx_Math"):
        yield node
        return
    for child in node.iterchildren(etree.Element):
        yield from formulae(child)


def formula(latex: str) -> str:
    return f"${latex}$" if latex else ""


@dataclass
class Place:
    """What the inline text being read has yielded beside its words."""

    cites: list[str] = field(default_factory=list)
    notes: list[Footnote] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


class Reader:
    def __init__(self, paper: Paper, root: etree.Element):
        self.paper, self.root = paper, root
        self.body = next(iter(root.xpath("//*[contains(concat(' ', @class, ' '), ' ltx_document ')]")), None)
        if self.body is None:
            found = root.xpath("//article | //main | //body")
            self.body = found[0] if found else root
        self.section: Section | None = None
        self.where = "text"
        self.item: Figure | Table | Algorithm | None = None  # the float whose insides are being read
        self.theorem: str | None = None
        self.lead: str = ""  # words to put before the next paragraph: a theorem's head, an item's mark
        self.kind = "paragraph"
        self.after_references = False
        self.errors: Counter[str] = Counter()
        self.groups = 0
        self.place = Place()
        self.depth = 0
        self.buffer = ""  # the words of the paragraph being read
        self.words_only = False  # formulae are left out of lines
        self.in_appendix = False
        self.in_abstract = False  # under a heading "Abstract" of ordinary HTML
        self.told: dict[etree.Element, tuple[type, str | None] | None] = {}  # what captions belong to
        self.found_notes: dict[tuple[str | None, str], Footnote] = {}

    # --- the whole --------------------------------------------------------------------------------------------------

    def run(self) -> None:
        self.mark_blocks()
        self.front()
        self.walk(self.body)
        self.finish()

    def mark_blocks(self) -> None:
        """Which elements hold blocks, or things that cannot stand inside a line: found once, so that reading stays linear."""
        self.blocks, self.holds_block, self.holds_hard, self.captions = set(), set(), set(), set()
        for node in self.body.iter(etree.Element):
            own = set(classes(node))
            if node.tag in BLOCK_TAGS or own & BLOCK_CLASSES:
                if "ltx_Math" not in own:
                    self.blocks.add(node)
                    self.mark(node, self.holds_block)
            if own & HARD or node.tag in ("figure", "ul", "ol", "dl", "pre", "figcaption") or (node.tag == "table"):
                self.mark(node, self.holds_hard)
            if node.tag == "figcaption" or "ltx_caption" in own:
                self.mark(node, self.captions)

    @staticmethod
    def mark(node: etree.Element, into: set) -> None:
        for up in node.iterancestors():
            if up in into:
                return
            into.add(up)

    def front(self) -> None:
        paper = self.paper
        title = next(iter(self.body.xpath(".//*[contains(concat(' ', @class, ' '), ' ltx_title_document ')]")), None)
        if title is None and not self.body.xpath(".//*[contains(@class, 'ltx_')]"):
            title = next(self.body.iter("h1"), None)
        self.title_node = title
        if title is not None:
            self.where = "title"
            paper.title = squeeze(self.inline(title))
            self.thanks()
        if not paper.title and (head := self.root.find(".//head/title")) is not None:
            paper.title = re.sub(r"^\[[\w./\-]+\]\s*", "", squeeze("".join(head.itertext())))
        self.where = "text"

    def thanks(self) -> None:
        for note in self.place.notes:
            note.kind = "thanks"
        self.keep_notes()

    def finish(self) -> None:
        paper = self.paper
        paper.sections = [section for section in paper.sections if section.blocks or section.title]
        if self.errors:
            told = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in self.errors.most_common(8))
            more = "" if len(self.errors) <= 8 else f" and {len(self.errors) - 8} more kinds"
            paper.warn("html-errors", f"the converter to HTML met {sum(self.errors.values())} errors, at {told}{more}; "
                       "what stood there may be lost or wrong")
        lost = len(self.body.xpath(".//*[contains(concat(' ', @class, ' '), ' ltx_missing_citation ')]"))
        if lost:
            paper.warn("html-missing-citations", f"{lost} citations lead to no reference in the HTML")
        pictures = len(self.body.xpath(".//*[contains(concat(' ', @class, ' '), ' ltx_missing_image ')]"))
        if pictures:
            paper.warn("html-missing-images", f"{pictures} pictures are not in the HTML")
        if not self.body.xpath("descendant-or-self::*[contains(@class, 'ltx_')]"):
            paper.warn("html-not-latexml", "the page is not made by LaTeXML; it was read as ordinary HTML")

    # --- sections ---------------------------------------------------------------------------------------------------

    def here(self) -> Section:
        """The section now open. Text before the first heading lies in one that has the paper's own title."""
        return self.section or self.open_section(self.paper.title or "Front matter", None, 1, False)

    def open_section(self, title: str, number: str | None, level: int, appendix: bool) -> Section:
        self.section = Section(f"s{len(self.paper.sections)}", title, number, level, appendix, source=SOURCE)
        self.paper.sections.append(self.section)
        return self.section

    def heading(self, node: etree.Element, level: int, appendix: bool) -> None:
        self.in_abstract = False
        tag = next((child for child in node.iter("span", "div", "b", "strong") if has(child, "ltx_tag")), None)
        number = None
        if tag is not None:
            number = section_number(squeeze(self.inline(tag)))
        title = squeeze(self.inline(node, without=tag))
        if level == 1:  # a heading "Appendix", or letters where there were figures
            lettered = bool(re.fullmatch(r"[A-Z]", number or "")) and any((one.number or "")[:1].isdigit() for one in self.paper.sections)
            self.in_appendix |= lettered or bool(APPENDIX.match(title))
        appendix = appendix or self.in_appendix
        if number is None and tag is None:
            match = re.match(r"((?:\d+|[A-Z])(?:\.\d+)*)\.?\s+(?=\S)", title)
            if match and not has(node, "ltx_title") and not re.fullmatch(r"[AI]", match[1]):
                number, title = match[1], title[match.end():]
        self.open_section(title, number, level, appendix)
        self.keep_notes()

    def walk_section(self, node: etree.Element, own: list[str]) -> None:
        name = next(name for name in own if name in LEVELS)
        level = LEVELS[name]
        if name == "ltx_paragraph" or name == "ltx_subparagraph":
            pass
        elif self.has_chapters() and name not in ("ltx_chapter", "ltx_part", "ltx_bibliography", "ltx_index"):
            level += 1
        before = self.section
        appendix = name == "ltx_appendix" or self.after_references or bool(before and before.appendix and level > 1)
        title = next((child for child in node if is_heading(child)), None)
        if name == "ltx_bibliography":
            self.references(node)
            return
        if title is not None:
            self.heading(title, level, appendix)
        for child, tail in parts(node):
            if child is None:
                self.loose(tail)
            elif child is not title:
                self.one(child)
        self.flush()

    def has_chapters(self) -> bool:
        if not hasattr(self, "chapters"):
            self.chapters = bool(self.body.xpath(".//*[contains(concat(' ', @class, ' '), ' ltx_chapter ')]"))
        return self.chapters

    # --- blocks ------------------------------------------------------------------------------------------------------

    def walk(self, node: etree.Element) -> None:
        """Read what `node` holds as a sequence of blocks; loose words between blocks become paragraphs of their own."""
        for child, text in parts(node):
            if child is None:
                self.loose(text)
            else:
                self.one(child)
        self.flush()

    def loose(self, text: str | None) -> None:
        if text:
            self.buffer += text

    def flush(self) -> None:
        """End the paragraph being read and put it into the section, the float or the abstract that is open."""
        text, self.buffer = squeeze(self.buffer), ""
        place = self.place
        if text and not re.fullmatch(r"[\s.,;:]*", text):
            if isinstance(self.item, Algorithm):
                self.item.lines.append(text)
            else:
                if self.in_abstract:
                    self.paper.abstract = f"{self.paper.abstract}\n\n{text}".strip()
                    return self.keep_notes(text)
                if self.lead:
                    text, self.lead = f"{self.lead} {text}".strip(), ""
                cites = list(dict.fromkeys(place.cites))
                self.here().blocks.append(Block(self.kind, text, number=self.theorem, cites=cites, source=SOURCE))
        self.keep_notes(text)

    def keep_notes(self, text: str = "") -> None:
        """Footnotes and links met in the text just read: into the paper, with their place."""
        place, self.place = self.place, Place()
        section = self.section.id if self.section else None
        for note in place.notes:
            note.section = section
            self.paper.footnotes.append(note)
            if self.section is not None and note.kind == "footnote":
                self.section.blocks.append(Block("footnote-mark", ref=note.id, source=SOURCE))
        for link in place.links:
            link.section = section
            link.context = link.context or sentence_around(text, link.text)
            self.paper.links.append(link)

    def one(self, node: etree.Element) -> None:
        """Read one element where blocks are read."""
        self.depth += 1
        try:
            if self.depth <= DEEPEST:
                self.element(node)
                return
            self.loose(" ".join(node.itertext()))
            self.flush()
            self.paper.warn("too-deep", f"<{node.tag}> lies more than {DEEPEST} elements deep; its words are kept, its structure is not",
                            where=next((up.get("id") for up in node.iterancestors() if up.get("id")), None))
        finally:
            self.depth -= 1

    def element(self, node: etree.Element) -> None:
        own = classes(node)
        if self.skips(node, own):
            return
        if node is self.title_node:
            return
        if how := hidden_how(node):
            self.hide(node, how)
            return
        if node not in self.blocks and node not in self.holds_block or node.tag in ("math", "img"):
            self.inline_or_math(node, own)
            return
        if node not in self.holds_hard:
            middle = node not in self.blocks or has(node, "ltx_inline-block", "ltx_inline-para", "ltx_parbox")
            if middle and self.buffer.strip() or node not in self.blocks and ("ltx_note" in own or "ltx_cite" in own):
                self.loose(self.inline(node))  # a box in the middle of a line
                return
        self.flush()
        if "ltx_authors" in own:
            self.authors(node)
        elif "ltx_abstract" in own:
            self.abstract(node)
        elif any(name in LEVELS for name in own):
            self.walk_section(node, own)
        elif "ltx_equationgroup" in own or "ltx_equation" in own:
            self.equations(node)
        elif "ltx_note" in own:
            self.loose(self.inline(node))
            self.flush()
        elif is_float(node) or (node in self.captions and not self.item and "ltx_minipage" in own):
            self.float(node)
        elif node.tag == "figcaption" or "ltx_caption" in own:
            self.caption(node)
        elif "ltx_tabular" in own or node.tag == "table":
            self.tabular(node)
        elif "ltx_listing" in own or "ltx_verbatim" in own or node.tag == "pre":
            self.listing(node)
        elif "ltx_theorem" in own or "ltx_proof" in own:
            self.theorem_like(node, own)
        elif any(name in LISTS for name in own) or node.tag in ("ul", "ol", "dl"):
            self.list_like(node)
        elif is_heading(node):
            self.plain_heading(node, own)
        else:
            self.walk(node)

    def skips(self, node: etree.Element, own: Iterable[str]) -> bool:
        return node.tag in SKIPPED_TAGS or not isinstance(node.tag, str) or any(name in SKIPPED for name in own)

    def inline_or_math(self, node: etree.Element, own: list[str]) -> None:
        if node.tag == "math" and node.get("display") == "block" and not self.item:
            self.flush()
            self.groups += 1
            self.add_equation(latex_of(node), None, node.get("id"), f"g{self.groups}")
        else:
            self.loose(self.inline(node))

    def plain_heading(self, node: etree.Element, own: list[str]) -> None:
        if any(name.startswith("ltx_title_") for name in own) or self.item is not None:
            text = squeeze(self.inline(node))  # the title of something that is not a section: run in with what follows
            if text and not re.fullmatch(r"(abstract|contents)\W*", text, re.I):
                self.lead = f"{self.lead} {text}".strip()
            return
        level = max(1, int(node.tag[1]) - 1) if re.fullmatch(r"h[1-6]", str(node.tag)) else 1
        title = squeeze("".join(node.itertext()))
        if re.fullmatch(r"abstract\W*", title, re.I) and not self.paper.abstract:
            self.in_abstract = True
            return
        if re.fullmatch(r"(references|bibliography)\W*", title, re.I):
            self.after_references = True
        self.heading(node, level, self.after_references and not re.fullmatch(r"(references|bibliography)\W*", title, re.I))

    def hide(self, node: etree.Element, how: str) -> None:
        text = squeeze("".join(self.words_of(node)))
        if text and not (how == "phantom" and len(text) < 3):
            section = self.section.number or self.section.title if self.section else None
            self.paper.hidden.append({"text": text, "how": how, "where": section, "page": None})

    def words_of(self, node: etree.Element) -> Iterator[str]:
        """All the words under an element, each formula once."""
        inside = None
        for part in node.iter():
            if inside is not None and inside in part.iterancestors():
                continue
            inside = None
            if part.tag == "math":
                inside = part
                yield formula(latex_of(part))
            else:
                yield part.text or ""
            if part is not node:
                yield part.tail or ""

    # --- words inside a line ------------------------------------------------------------------------------------------

    def inline(self, node: etree.Element, without: etree.Element | None = None, br: str = " ") -> str:
        """The words of an element, `br` where lines break; notes, citations and links met on the way go to `self.place`."""
        if node is without:
            return ""
        own = classes(node)
        if node.tag == "math" or "ltx_Math" in own:
            return " " if self.words_only else formula(latex_of(node))
        if self.skips(node, own):
            return ""
        if "ltx_ERROR" in own:
            name = squeeze("".join(node.itertext()))[:40] or "unnamed"
            self.errors[name] += 1
            return " & " if name in ("\\AND", "\\And") else " " if "undefined" in own else ""
        if how := hidden_how(node):
            self.hide(node, how)
            return ""
        if "ltx_note" in own:
            return self.note(node, own)
        if node.tag == "br":
            return br
        if node.tag == "img":
            return ""
        if "ltx_bibitem" in own:
            return ""
        if own and ("ltx_equation" in own or "ltx_equationgroup" in own) and node.tag == "table":
            return " ".join(formula(latex_of(math)) for math in formulae(node))
        self.depth += 1
        try:
            if self.depth > DEEPEST:
                return " ".join(node.itertext())
            pieces = [node.text or ""]
            for child in node:
                if isinstance(child.tag, str):
                    pieces.append(self.inline(child, without, br))
                    if child in self.blocks and child is not without:
                        pieces.append(br)
                pieces.append(child.tail or "")
        finally:
            self.depth -= 1
        text = "".join(pieces)
        if node in self.blocks:
            text = f" {text} "
        if node.tag == "a":
            self.link(node, text)
        elif node.tag in ("sup", "sub") and re.fullmatch(r"\s*[+\-−–]?\d+(?:[.,]\d+)?\s*", text):
            mark = "^" if node.tag == "sup" else "_"
            return f"{mark}{{{text.strip()}}}" if follows_number(node) else text
        return text

    def link(self, node: etree.Element, text: str) -> None:
        target = (node.get("href") or "").strip()
        if target.startswith("#bib"):
            self.place.cites.append(target[1:])
        elif re.match(r"(https?|ftp)://", target, re.I):
            self.place.links.append(Link(url=target, text=squeeze(text), where=self.where))
        elif "#bib.bib" in target:
            self.place.cites.append(target.split("#", 1)[1])

    def note(self, node: etree.Element, own: list[str]) -> str:
        """A footnote: kept as an item of its own, nothing of it stays in the line."""
        role = next((name[9:] for name in own if name.startswith("ltx_role_")), "footnote")
        content = next((part for part in node.iter(etree.Element) if has(part, "ltx_note_content")), node)
        tag = next((part for part in content.iter(etree.Element) if has(part, "ltx_tag_note")), None)
        mark = next((part for part in node.iter(etree.Element) if has(part, "ltx_note_mark")), None)
        outer, self.place = self.place, Place()
        where, self.where = self.where, "footnote"
        pieces = [content.text or ""]
        for child in content:
            if isinstance(child.tag, str) and not has(child, "ltx_note_mark", "ltx_note_type") and child is not tag:
                pieces.append(self.inline(child))
            pieces.append(child.tail or "")
        text = squeeze("".join(pieces))
        inner, self.place, self.where = self.place, outer, where
        if role == "footnotemark" and re.fullmatch(r"[\W\d]*", text):
            return ""
        self.place.cites += inner.cites
        for link in inner.links:
            link.context = text
        self.place.links += inner.links
        if text:
            printed = tag if tag is not None else mark
            number = squeeze("".join(printed.itertext())) if printed is not None else None
            kind = "thanks" if role in ("thanks", "institutetext", "affiliation") else "footnote"
            key = (number, text)
            if key not in self.found_notes:  # a note in a caption comes twice where the caption is also in a list
                note = Footnote(id=f"n{len(self.found_notes)}", text=text, number=number or None, kind=kind, source=SOURCE)
                self.found_notes[key] = note
                self.place.notes.append(note)
        self.place.notes += inner.notes
        return ""

    # --- front matter -------------------------------------------------------------------------------------------------

    def authors(self, node: etree.Element) -> None:
        self.where = "text"
        outside: list[str] = []
        for creator in node.xpath("descendant-or-self::*[contains(concat(' ', @class, ' '), ' ltx_personname ')]"):
            text = self.inline(creator, br="\x1f").replace("\n", " ").replace("\x1f", "\n")
            self.paper.authors += [name for name in names(text) if name not in self.paper.authors]
        for part in node.xpath(".//*[contains(concat(' ', @class, ' '), ' ltx_author_notes ')]"):
            # The text before the notes' own `ltx_contact` entries is the \thanks of the authors, run together.
            rest = squeeze(self.inline(part))
            if rest:
                outside.append(rest)
        self.thanks()
        for text in outside:
            self.paper.footnotes.append(Footnote(id=f"n{len(self.found_notes)}", text=text, kind="thanks", source=SOURCE))
            self.found_notes[(None, text)] = self.paper.footnotes[-1]

    def abstract(self, node: etree.Element) -> None:
        self.where = "abstract"
        texts = []
        current = ""
        for child, text in parts(node):
            if child is None:
                current += text
            elif has(child, "ltx_title_abstract") or is_heading(child):
                continue
            elif child in self.blocks:
                texts += [current, self.inline(child)]
                current = ""
            else:
                current += self.inline(child)
        texts = [text for text in map(squeeze, (*texts, current)) if text]
        self.paper.abstract = "\n\n".join([*filter(None, [self.paper.abstract]), *texts])
        self.keep_notes(self.paper.abstract)
        self.where = "text"

    # --- equations ----------------------------------------------------------------------------------------------------

    def equations(self, node: etree.Element) -> None:
        """One display. Each printed number gets one equation; rows without a number belong to the numbered row they lead
        up to, or, after the last number, to that one."""
        self.groups += 1
        group = f"g{self.groups}"
        rows = [row for row in node.iter(etree.Element) if row.tag == "tr" or has(row, "ltx_eqn_row")] or [node]
        inside = set(rows)
        ready: list[list] = []  # [latex parts, number, label]
        waiting: list[str] = []
        spans = 0
        for row in rows:
            if row.tag != "tr" and any(up in inside for up in row.iterancestors()):
                continue
            between = next((cell for cell in row.iter() if isinstance(cell.tag, str) and has(cell, "ltx_intertext")), None)
            if between is not None and not has(row, "ltx_equation"):
                self.emit(ready, waiting, group)
                ready, waiting = [], []
                self.loose(self.inline(between))
                self.flush()
                continue
            latex, words = self.row(row)
            tag, height = printed_number(row)
            own = row.get("id") or next((up.get("id") for up in row.iterancestors() if up.get("id")), None)
            if tag:
                ready.append([[*waiting, latex], tag, own])
                waiting, spans = [], height - 1
            elif spans > 0 and ready:
                ready[-1][0].append(latex)
                spans -= 1
            elif latex:
                waiting.append(latex)
            if words:
                waiting.append(f"\\text{{{words}}}") if not tag else ready[-1][0].append(f"\\text{{{words}}}")
        self.emit(ready, waiting, group)

    def row(self, row: etree.Element) -> tuple[str, str]:
        """A row's LaTeX and the words that stand in it outside any formula."""
        pieces, words = [], []
        for cell in ([cell for cell in row if isinstance(cell.tag, str)] or [row]):
            if has(cell, "ltx_eqn_eqno") or has(cell, "ltx_tag"):
                continue
            pieces += [latex_of(math) for math in formulae(cell)]
            self.words_only = True
            rest = squeeze(self.inline_of_cell(cell))
            self.words_only = False
            if rest and re.search(r"\w", rest):
                words.append(rest)
        return squeeze(" ".join(pieces)), " ".join(words)

    def inline_of_cell(self, cell: etree.Element) -> str:
        pieces = [cell.text or ""]
        for child in cell:
            if isinstance(child.tag, str) and not has(child, "ltx_tag", "ltx_eqn_eqno") and child.tag != "table":
                pieces.append(self.inline(child))
            pieces.append(child.tail or "")
        return "".join(pieces)

    def emit(self, ready: list[list], waiting: list[str], group: str) -> None:
        if waiting and ready:
            ready[-1][0] += waiting
        elif waiting:
            ready = [[waiting, None, None]]
        for latex, number, label in ready:
            self.add_equation(r" \\ ".join(part for part in latex if part), number, label, group)

    def add_equation(self, latex: str, number: str | None, label: str | None, group: str) -> None:
        if isinstance(self.item, Algorithm):
            self.item.lines.append(formula(latex))
            return
        if not latex and not number:
            return
        equation = Equation(id=f"e{len(self.paper.equations)}", number=number, latex=latex or None, raw=None, label=label,
                            group=group, section=self.here().id, source=SOURCE)
        self.paper.equations.append(equation)
        self.section.blocks.append(Block("equation", ref=equation.id, source=SOURCE))

    # --- floats -------------------------------------------------------------------------------------------------------

    def float(self, node: etree.Element) -> None:
        """A figure, table or algorithm box, or a box that holds several of them."""
        if self.item is not None:  # a panel of the float that is being read
            self.walk(node)
            return
        captions = [part for part in node.iter(etree.Element) if part.tag == "figcaption" or has(part, "ltx_caption")]
        mains = [caption for caption in captions if self.caption_of(caption)]
        if len(mains) > 1:
            self.several(node, mains)
        elif mains:
            self.fill(*self.caption_of(mains[0]), [node])
        else:
            self.uncaptioned(node, captions)

    def caption_of(self, caption: etree.Element) -> tuple[type, str | None] | None:
        if caption not in self.told:
            self.told[caption] = caption_of(caption)
        return self.told[caption]

    def several(self, node: etree.Element, mains: list[etree.Element]) -> None:
        """Several captioned things in one float: each caption gets the largest part that holds no other caption, and
        the parts without a caption that follow it (or go before it, where the captions stand below)."""
        holding: Counter[etree.Element] = Counter(up for caption in mains for up in (caption, *caption.iterancestors()))
        units: list[tuple[etree.Element, etree.Element | None]] = []

        def split(part: etree.Element) -> None:
            for child in part.iterchildren(etree.Element):
                if holding[child] > 1:
                    split(child)
                else:
                    own = next((caption for caption in mains if caption is child or child in caption.iterancestors()), None) \
                        if holding[child] else None
                    if own is not None or self.substance(child):
                        units.append((child, own))

        split(node)
        shares: list[tuple[etree.Element, list[etree.Element]]] = []
        above = bool(units) and units[0][1] is not None
        early: list[etree.Element] = []
        for unit, caption in units:
            if caption is not None:
                shares.append((caption, [*early, unit]))
                early = []
            elif above:
                shares[-1][1].append(unit)
            else:
                early.append(unit)
        if early and shares:
            shares[-1][1].extend(early)
        for caption, share in shares:
            self.fill(*self.caption_of(caption), share)

    @staticmethod
    def substance(node: etree.Element) -> bool:
        return bool(squeeze("".join(node.itertext()))) or node.tag == "img" or next(node.iter("img"), None) is not None

    def uncaptioned(self, node: etree.Element, captions: list[etree.Element]) -> None:
        if is_algorithm(node):
            self.fill(Algorithm, None, [node])
        elif not captions and not squeeze("".join(node.itertext())):
            pictures = [image.get("src") for image in node.iter("img") if image.get("src")]
            if pictures:
                self.fill(Figure, None, [node])
        else:
            self.walk(node)

    def fill(self, kind: type, number: str | None, insides: list[etree.Element]) -> None:
        """Make an item and read elements as its insides."""
        into = {Table: self.paper.tables, Algorithm: self.paper.algorithms, Figure: self.paper.figures}[kind]
        label = next((up.get("id") for up in (insides[0], *insides[0].iter(etree.Element)) if up.get("id")), None)
        item = kind(id=f"{kind.__name__}{len(into)}", number=number, label=label, section=self.here().id, source=SOURCE)
        into.append(item)
        self.section.blocks.append(Block(kind.__name__.lower(), ref=item.id, source=SOURCE))
        before, self.item = (self.kind, self.theorem), item
        self.kind, self.theorem = "paragraph", None
        for node in insides:
            if isinstance(item, Figure):
                item.files += [image.get("src") for image in node.iter("img") if image.get("src") and not has(image, "ltx_Math")]
            if is_float(node):
                self.walk(node)
            else:
                self.one(node)
        self.flush()
        if isinstance(item, Algorithm):
            item.lines, item.numbers = levelled(item.lines), numbers_of(item, [])
        self.item, (self.kind, self.theorem) = None, before

    def caption(self, node: etree.Element) -> None:
        told = self.caption_of(node)
        if self.item is None:
            if told:  # a caption outside any float
                self.fill(*told, [node])
            else:
                self.walk(node)
            return
        where, self.where = self.where, "caption"
        tag = next((part for part in node.iter(etree.Element) if has(part, "ltx_tag")), None)
        if told and not self.item.caption:
            text = squeeze(self.inline(node, without=tag))
            if tag is None:
                text = re.sub(r"^\W*\w+\.?\s*[\w.]*\d[\w.]*\s*[:.]\s*", "", text)
            self.item.caption = text
            self.keep_notes(text)
        else:  # the caption of a panel
            text = squeeze(self.inline(node))
            item, self.item = self.item, None
            self.loose(text)
            self.flush()
            self.item = item
        self.where = where

    def tabular(self, node: etree.Element) -> None:
        rows = self.grid(node)
        rows = [row for row in rows if any(row)]
        place, self.place = self.place, Place()
        if isinstance(self.item, Table):
            self.item.rows += rows
        elif isinstance(self.item, Algorithm):
            self.item.lines += ["  ".join(filter(None, row)) for row in rows]
        elif len(rows) > 1 and max(map(len, rows)) > 1 and sum(bool(cell) for row in rows for cell in row) > 3:
            table = Table(f"t{len(self.paper.tables)}", rows=rows, section=self.here().id, label=node.get("id"), source=SOURCE)
            self.paper.tables.append(table)
            self.section.blocks.append(Block("table", ref=table.id, source=SOURCE))
        else:
            for row in rows:
                self.loose("  ".join(filter(None, row)) + " ")
            self.place.cites += place.cites
            self.flush()
        self.place.notes += place.notes
        self.place.links += place.links
        self.keep_notes()

    def grid(self, node: etree.Element) -> list[list[str]]:
        """A table's cells as rows of strings: a cell that spans columns or rows is followed by empty ones."""
        lines = [row for row in node.iter(etree.Element)
                 if (row.tag == "tr" or has(row, "ltx_tr")) and nearest(row, is_tabular) is node]
        rows: list[list[str]] = []
        below: dict[int, int] = {}  # column → how many further rows a cell above still covers
        for line in lines:
            row: list[str] = []
            cells = [cell for cell in line.iter(etree.Element)
                     if (cell.tag in ("td", "th") or has(cell, "ltx_td")) and nearest(cell, is_row) is line]

            def covered(row: list[str] = row) -> None:
                while below.get(len(row), 0) > 0:
                    below[len(row)] -= 1
                    row.append("")

            for cell in cells:
                covered()
                wide, high = span(cell, "colspan"), span(cell, "rowspan")
                text = squeeze(self.inline(cell))
                if cell.find(".//*[@class='ltx_ERROR undefined']") is not None:
                    text = re.sub(r"^[A-Za-z]+!\d{1,3}\s*", "", text)  # what an unknown \rowcolor{red!10} leaves behind
                for extra in range(wide):
                    if high > 1:
                        below[len(row)] = high - 1
                    row.append("" if extra else text)
            covered()
            rows.append(row)
        return rows

    def listing(self, node: etree.Element) -> None:
        """Lines of code or of an algorithm: into the algorithm being read, else a block of code."""
        self.flush()
        lines: list[str] = []
        numbers: list[str] = []

        def walk(part: etree.Element) -> None:
            loose = part.text or ""
            for child in part.iterchildren(etree.Element):
                own = classes(child)
                if "ltx_listingline" in own or "ltx_lst_line" in own:
                    add(loose)
                    loose = ""
                    if line := self.line(child):
                        lines.append(line)
                        numbers.append(line_number(child))
                elif self.skips(child, own):
                    pass
                elif child.tag == "figcaption" or "ltx_caption" in own:
                    self.caption(child)
                elif is_float(child):
                    self.one(child)
                elif child in self.holds_block or "ltx_listing" in own:
                    add(loose)
                    loose = ""
                    walk(child)
                else:
                    loose += self.inline(child, br="\n")
                    if child in self.blocks:
                        loose += "\n"
                loose += child.tail or ""
            add(loose)

        def add(text: str) -> None:
            lines.extend(line.rstrip() for line in text.replace("\u00a0", " ").split("\n") if line.strip())
            numbers.extend([""] * (len(lines) - len(numbers)))

        walk(node)
        place, self.place = self.place, Place()
        if isinstance(self.item, Algorithm):
            self.item.numbers = numbers_of(self.item, numbers)
            self.item.lines += lines
        elif lines and (caption := self.caption_before()):
            number, text = caption
            item = Algorithm(f"Algorithm{len(self.paper.algorithms)}", number, text, levelled(lines), numbers if any(numbers) else [],
                             section=self.section.id, source=SOURCE)
            self.paper.algorithms.append(item)
            self.section.blocks.append(Block("algorithm", ref=item.id, source=SOURCE))
        elif lines:
            self.here().blocks.append(Block("code", "\n".join(lines), cites=place.cites, source=SOURCE))
        self.place = place
        self.keep_notes()

    def caption_before(self) -> tuple[str, str] | None:
        """Number and caption where the paragraph before a listing is an algorithm's caption: an algorithm outside any float."""
        last = self.section.blocks[-1] if self.section and self.section.blocks else None
        match = re.match(r"Algorithm\s+([A-Z]?\.?\d+)\b\s*[:.]?\s*(.{0,200})$", last.text) if last and last.kind == "paragraph" else None
        if match is None:
            return None
        self.section.blocks.pop()
        return match[1], match[2]

    def line(self, node: etree.Element) -> str:
        """A listing's line, its indentation as spaces, its printed number left out."""
        tag = next((part for part in node.iterchildren(etree.Element) if has(part, "ltx_tag_listingline", "ltx_tag")), None)
        text = self.inline(node, without=tag).replace("\u00a0", " ").replace("\t", "    ")
        if node in self.blocks:
            text = text[1:-1]  # what parts a block from the words around it
        text = text.strip("\r\n")
        bare = text.lstrip()
        lead = text[: len(text) - len(bare)].replace("\n", "").replace("\r", "")
        return f"{lead}{squeeze(bare)}" if bare.strip() else ""

    # --- theorems, lists ----------------------------------------------------------------------------------------------

    def theorem_like(self, node: etree.Element, own: list[str]) -> None:
        before = self.kind, self.theorem, self.lead
        title = next((child for child in node if is_heading(child)), None)
        tag = None if title is None else next((part for part in title.iter(etree.Element) if has(part, "ltx_tag")), None)
        if "ltx_theorem" in own:
            self.kind = "theorem"
            self.theorem = (squeeze(self.inline(tag)).rstrip(".:") or None) if tag is not None else None
        self.lead = squeeze(self.inline(title)) if title is not None else ""
        for child, text in parts(node):
            if child is None:
                self.loose(text)
            elif child is not title:
                self.one(child)
        self.flush()
        self.spend_lead()
        self.kind, self.theorem, self.lead = before

    def spend_lead(self) -> None:
        """Words kept for a paragraph that never came stand alone."""
        if self.lead:
            text, self.lead = self.lead, ""
            self.here().blocks.append(Block(self.kind, text, number=self.theorem, source=SOURCE))

    def list_like(self, node: etree.Element) -> None:
        before = self.kind, self.lead
        if self.kind == "paragraph":
            self.kind = "list"
        for count, item in enumerate(node.iterchildren(etree.Element), 1):
            if self.skips(item, classes(item)):
                continue
            tag = next((part for part in item.iterchildren(etree.Element) if has(part, "ltx_tag")), None)
            mark = squeeze(self.inline(tag)) if tag is not None else f"{count}." if node.tag == "ol" else "•"
            self.lead = f"{before[1]} {mark}".strip() if count == 1 else mark
            if tag is not None:
                tag.set("class", "ltx_pagination")  # read already
            if item in self.blocks or item in self.holds_block:
                self.walk(item)
            else:
                self.loose(self.inline(item))
                self.flush()
            if self.lead == mark and not re.search(r"\w", mark):
                self.lead = ""
            self.spend_lead()
        self.kind, self.lead = before[0], ""

    # --- references ---------------------------------------------------------------------------------------------------

    def references(self, node: etree.Element) -> None:
        self.flush()
        self.after_references = True
        where, self.where = self.where, "reference"
        for entry in node.iter(etree.Element):
            if not has(entry, "ltx_bibitem"):
                continue
            tag = next((part for part in entry.iterchildren(etree.Element) if has(part, "ltx_tag")), None)
            label = squeeze(self.inline(tag)).strip("[]") or None if tag is not None else None
            blocks = [squeeze(self.inline(part)) for part in entry.iter(etree.Element) if has(part, "ltx_bibblock")]
            text = " ".join(filter(None, blocks)) if blocks else squeeze(" ".join(
                self.inline(part) for part in entry.iterchildren(etree.Element) if part is not tag))
            key = entry.get("id") or f"bib{len(self.paper.references) + 1}"
            self.paper.references.append(reference(key, label, text, blocks))
            for link in self.place.links:
                link.context = text
                if not self.paper.references[-1].url:
                    self.paper.references[-1].url = link.url
            self.keep_notes()
        self.where = where
        loose = [child for child in node.iterchildren(etree.Element) if not is_heading(child) and not has(child, "ltx_biblist")]
        for child in loose:
            self.one(child)


# --- readings of small parts --------------------------------------------------------------------------------------------


def parts(node: etree.Element) -> Iterator[tuple[etree.Element | None, str]]:
    """An element's children and the loose text between them, in order: `(child, "")` or `(None, text)`."""
    if node.text:
        yield None, node.text
    for child in node:
        if isinstance(child.tag, str):
            yield child, ""
        if child.tail:
            yield None, child.tail


def nearest(node: etree.Element, kind) -> etree.Element | None:
    return next((up for up in node.iterancestors() if kind(up)), None)


def is_tabular(node: etree.Element) -> bool:
    return node.tag == "table" or has(node, "ltx_tabular")


def is_row(node: etree.Element) -> bool:
    return node.tag == "tr" or has(node, "ltx_tr")


def is_heading(node: etree.Element) -> bool:
    return isinstance(node.tag, str) and (bool(re.fullmatch(r"h[1-6]", node.tag)) or has(node, "ltx_title"))


def is_float(node: etree.Element) -> bool:
    return node.tag == "figure" or has(node, *FLOATS)


def is_algorithm(node: etree.Element) -> bool:
    return has(node, "ltx_float_algorithm", "ltx_algorithm", "ltx_float_algorithm2e")


def span(cell: etree.Element, name: str) -> int:
    """How many columns or rows a cell covers: the attribute, or latexml's class where the table is made of spans."""
    value = cell.get(name) or next((own.rsplit("_", 1)[1] for own in classes(cell) if re.fullmatch(rf"ltx_{name}_\d+", own)), "1")
    return min(max(int(value[:9]), 1), 1000) if value.isdecimal() else 1


def section_number(tag: str) -> str | None:
    """The printed number alone: "Appendix A" → "A", "§2.1." → "2.1"."""
    number = re.sub(r"^(?:appendix|section|chapter|part|annex|supplement(?:ary)?(?: (?:note|section|material))?|§+)\s*", "", tag,
                    flags=re.I)
    return number.strip(" .:)—–-") or None


def printed_number(row: etree.Element) -> tuple[str | None, int]:
    """The number printed beside a row of a display, and how many rows it stands for."""
    for tag in row.iter(etree.Element):
        if has(tag, "ltx_tag_equation", "ltx_tag_equationgroup"):
            number = squeeze("".join(tag.itertext())).strip("()[] .")
            if maths := list(formulae(tag)):
                number = squeeze(" ".join(map(latex_of, maths))).strip("()[] ")
            cell = nearest(tag, lambda up: up.tag == "td")
            return number or None, span(cell, "rowspan") if cell is not None else 1
    for cell in row.iter(etree.Element):
        if has(cell, "ltx_eqn_eqno") and (text := squeeze("".join(cell.itertext())).strip("()[] .")):
            return text, span(cell, "rowspan")
    return None, 1


def caption_of(caption: etree.Element) -> tuple[type, str | None] | None:
    """What a caption says it belongs to: the kind of thing and its number. None for the caption of a panel."""
    tag = next((part for part in caption.iter(etree.Element) if has(part, "ltx_tag")), None)
    text = ""
    for piece in (tag if tag is not None else caption).itertext():
        text += piece
        if len(text) > 200:
            break
    text = squeeze(text)
    if tag is None:
        match = re.match(r"\W*[A-Za-z]+\.?\s*[A-Z]?[.\-]?\d[\w.]*(?=\s*[:.|])", text)
        text = match[0] if match else ""
    match = CAPTION.match(text)
    if not match:
        return None
    word = match["kind"].lower()
    kind = next((kind for start, kind in KINDS if word.startswith(start)), Figure)
    if word == "listing":
        kind = Algorithm if nearest(caption, is_algorithm) is not None else Figure
    return kind, (match["number"] or "").rstrip(".-–") or None


def follows_number(node: etree.Element) -> bool:
    before = node.getprevious()
    text = before.tail if before is not None else node.getparent().text if node.getparent() is not None else ""
    return bool(re.search(r"\d\s*$", text or ""))


def line_number(node: etree.Element) -> str:
    """The number printed before a listing's line."""
    tag = next((part for part in node.iterchildren(etree.Element) if has(part, "ltx_tag_listingline", "ltx_tag")), None)
    found = re.fullmatch(r"\W*(\d{1,4})\W*", "".join(tag.itertext())) if tag is not None else None
    return found[1] if found else ""


def numbers_of(item: Algorithm, more: list[str]) -> list[str]:
    """The numbers of the lines that an algorithm has, and of those it will get; none at all where no line has one."""
    if not any(item.numbers) and not any(more):
        return []
    return item.numbers + [""] * (len(item.lines) - len(item.numbers)) + more


def levelled(lines: list[str]) -> list[str]:
    """Lines whose indentation is any number of spaces, with two spaces a level."""
    out, open_at = [], []
    for line in lines:
        bare = line.lstrip()
        width = len(line) - len(bare)
        while open_at and open_at[-1] > width:
            open_at.pop()
        if not open_at or width > open_at[-1]:
            open_at.append(width)
        out.append("  " * (len(open_at) - 1) + bare)
    return out


NOT_A_NAME = re.compile(r"universi|institut|department|school|college|laborator|research|center|centre|inc\b|www|http", re.I)


def names(text: str) -> list[str]:
    """The people in an author block. A cell (parted by `&` or `\\AND`) begins with names; lines after the first are names
    too only where several stand in one or where they bear marks. Affiliations and addresses fall away."""
    out = []
    cells = re.split(r"\s*(?:&|\\AND\b|\\And\b)\s*", text)
    for cell in cells:
        for count, line in enumerate(line for line in cell.split("\n") if line.strip()):
            marked = "$" in line.strip()[1:]
            if line.strip().startswith(("$", "^{")) or "@" in line or re.match(r"\s*\d", line):
                break
            found = []
            for name in re.split(r"[,;·]|\band\b|\$[^$]*\$|\^\{[^}]*\}|\s{2,}|\u00a0{2,}", line):
                name = squeeze(re.sub(r"[\d*†‡§¶∗]+", " ", name)).strip(" .,;")
                if 1 < len(name.split()) <= 6 and not NOT_A_NAME.search(name) and name[0].isalpha():
                    found.append(name)
            if not found or count and not (len(cells) == 1 and (marked or len(found) > 1)):
                break
            out += found
    return list(dict.fromkeys(out))


def reference(key: str, label: str | None, text: str, blocks: list[str]) -> Reference:
    arxiv, doi, year = ARXIV.search(text), DOI.search(text), None
    years = YEAR.findall(re.sub(r"\d{4}\.\d{4,5}", "", text)) or YEAR.findall(label or "")
    if years:
        year = years[-1]
    url = re.search(r"https?://\S+[^\s.,;)]", text)
    title = blocks[1].strip(" .,“”\"") if len(blocks) > 2 else None
    people = re.split(r",\s+and\s+|\s+and\s+|;\s*", blocks[0].strip(" .")) if len(blocks) > 1 else []
    return Reference(key, text, label=label, title=title or None, authors=[name for name in people if name][:50], year=year,
                     arxiv=arxiv and arxiv[1], doi=doi and doi[1], url=url and url[0])


def sentence_around(text: str, words: str) -> str:
    """The sentence of `text` in which `words` stand; all of a short text."""
    at = text.find(words) if words else -1
    if at < 0 or len(text) < 300:
        return text[:600]
    start = max((match.end() for match in re.finditer(r"[.!?]\s+(?=[A-Z(])", text[:at])), default=0)
    end = re.search(r"[.!?](?=\s+[A-Z(]|$)", text[at + len(words):])
    return text[start: at + len(words) + (end.end() if end else 300)][:600]
