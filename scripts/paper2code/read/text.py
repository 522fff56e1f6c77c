"""Markdown or plain text, pasted by hand or made from a PDF, → Paper. The last resort, so it takes what it gets.

Headings by `#`, underlining, bold or numbering; equations in `$$…$$`, `\\[…\\]` or an environment, numbered by `\\tag` or a
trailing `(n)`; algorithms, pipe tables, captions, footnotes `[^1]`, references, links; pages from the marks that
`pdf_to_markdown.py` leaves (`<!-- page 3 -->`) or from form feeds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paper2code.paper import Algorithm, Block, Equation, Figure, Footnote, Link, Paper, Section, Table, give_ids
from paper2code.read.html import reference, squeeze

SOURCE = "text"

PAGE = re.compile(r"^\s*(?:<!--\s*(?:page|p\.)\s*(\d+)\s*(?:of\s*\d+\s*)?-->"
                  r"|[-=]{2,}\s*page\s+(\d+)\s*[-=]{2,}|\[page\s+(\d+)\])\s*$", re.I)
ATX = re.compile(r"^(#{1,6})\s+(.*)$")
BOLD = re.compile(r"^\s*(\*\*|__)(?P<inside>[^*_].*?)\1\s*[:.]?\s*$")
NUMBERED = re.compile(r"^(?P<number>(?:\d{1,2}|[A-Z]|[IVX]+)(?:\.\d{1,2}){0,3})[.:)]?\s+(?P<title>\S.*)$")
APPENDIX = re.compile(r"^(?:appendix|supplement(?:ary material)?)\s+(?P<number>[A-Z](?:\.\d+)*)\s*[.:–—-]?\s*(?P<title>.*)$",
                      re.I)
KNOWN = re.compile(r"^(abstract|introduction|related works?|background|preliminaries|methods?|methodology|approach|model"
                   r"|experiments?|results|evaluation|discussion|limitations|conclusions?|acknowledge?ments?|references|bibliography"
                   r"|appendix|appendices|supplementary material)\s*:?$", re.I)
REFERENCES = re.compile(r"^(references|bibliography|works cited|literature)\W*$", re.I)
CAPTION = re.compile(
    r"""^\s*(?P<mark>\*\*|__|\*|_)?\s*(?P<kind>Figure|Fig\.|Table|Tab\.|Algorithm|Alg\.)
        \s*(?P<number>[A-Z]{0,2}[.\-]?\d+(?:\.\d+)?[a-z]?)\s*
        (?:(?:\*\*|__|\*|_)?\s*(?:[:.|]|—|–|$)\s*(?:\*\*|__|\*|_)? | (?:\*\*|__)\s)(?P<text>.*)$""", re.I | re.S | re.X)
DISPLAY = re.compile(r"^\s*(\$\$|\\\[|```\s*math\b|\\begin\{(equation|align|gather|multline|eqnarray|alignat"
                     r"|flalign|displaymath|dmath|math)(\*?)\})")
ALIGNED = re.compile(r"^\\begin\{(align|gather|equation|eqnarray|alignat)\*?\}(\{\d+\})?"
                     r"|\\end\{(align|gather|equation|eqnarray|alignat)\*?\}$")
# After "Table 2": a sentence about the table, not its caption.
TELLS = re.compile(r"(?:shows?|presents?|lists?|summari[sz]es|illustrates?|depicts?|compares?|and|in|we)\b")
STEP = re.compile(r"^\s*(?:\d{1,3}\s*[:.]|require|ensure|input|output|for\b|while\b|if\b|else|end\b|return|repeat|until|procedure"
                  r"|function|initiali[sz]e|data:|result:|[-*]\s)|←|\s:=\s", re.I)
ENDS = {"$$": r"\$\$", r"\[": r"\\\]"}
TRAILING = re.compile(r"(?<!\s)(?:\\quad|\\qquad|\\hfill|~|\\[,;:!]|\s)*\((?P<number>[A-Z]?\.?\d+(?:\.\d+)*[a-z]?)\)\s*[.,;]?\s*$")
TAG = re.compile(r"\\tag\*?\s*\{\(?([^{}]*?)\)?\}")
LOOSE_EQUATION = re.compile(r"^(?P<body>.{1,140}?\S)\s+\((?P<number>[A-Z]?\.?\d{1,3}[a-z]?)\)$")
MATHY = re.compile(r"[=≤≥≈∼∝←→∈∑∏∫∂∇√<>]|:=")
FOOTNOTE = re.compile(r"^\s{0,3}\[\^([^\]\s]{1,20})\]:\s*(.*)$")
ITEM = re.compile(r"^(?P<indent>\s*)(?P<mark>[-*+•‣–]|\d{1,2}[.)]|\([a-z\d]{1,3}\))\s+(?P<text>\S.*)$")
FENCE = re.compile(r"^\s{0,3}(```+|~~~+)\s*([\w+-]*)\s*$")
RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
LINK = re.compile(r"\[([^\[\]]{1,300})\]\(\s*<?(https?://[^\s)>]+)>?(?:\s+\"[^\"]*\")?\s*\)|<(https?://[^\s<>]+)>|(https?://[^\s<>\"`|]+)")
IMAGE = re.compile(r"!\[([^\[\]]{0,500})\]\(\s{0,9}<?([^\s()<>]{1,2000})>?(?:\s[^()]{0,500})?\)")
UNSEEN = re.compile(r"<(\w{1,20})\b[^<>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0\b|\shidden\b)"
                    r"[^<>]*>", re.I)
COMMENT = re.compile(r"<(!--)")
INLINE_TAG = re.compile(r"</?(?:span|div|b|i|em|strong|sup|sub|br|u|a|p|center|font|small|img|figure|figcaption)\b[^<>]*>", re.I)


@dataclass
class Line:
    text: str
    page: int | None


def read(data: bytes | str | Path) -> Paper:
    """The paper that a text holds: bytes, the text itself, or a path. Never raises on odd input; says what was odd."""
    if isinstance(data, Path):
        data = data.read_bytes()
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            data = data.decode("cp1252", "replace")
    paper = Paper()
    Reader(paper, data).run()
    give_ids(paper)
    return paper


class Reader:
    def __init__(self, paper: Paper, text: str):
        self.paper = paper
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = re.sub(r"[\ud800-\udfff\x00-\x08\x0b\x0e-\x1f]", "", text)
        text = self.without_hidden(text)
        self.markdown = bool(re.search(r"^#{1,6} |^```|\*\*\S|^\|.*\|\s*$|\[\^\w+\]", text, re.M))
        self.known_words = set(re.findall(r"[A-Za-z]+(?:-[A-Za-z]+)*", text))
        self.lines = list(self.paged(text))
        self.at = 0
        self.section: Section | None = None
        self.abstract_open = False
        self.references_open = False
        self.after_references = False
        self.numbers: list[str] = []  # headings' numbers so far
        self.top = min((len(match[1]) for line in self.lines if (match := ATX.match(line.text)) and len(match[1]) > 1), default=1)
        self.waiting: Table | Algorithm | Figure | None = None  # a caption that stands before its thing
        self.just_read: Table | None = None  # a table whose caption may follow it
        self.marks: list[tuple[Section, int, str]] = []  # footnote marks: section, place among its blocks, mark

    # --- preparing -----------------------------------------------------------------------------------------------------

    def without_hidden(self, text: str) -> str:
        def comment(whole: str, inside: str) -> str:
            if PAGE.match(whole):
                return whole
            self.hide(inside, "comment")
            return re.sub(r"[^\n]", "", whole)

        def unseen(whole: str, inside: str) -> str:
            self.hide(re.sub(r"<[^<>]*>", "", inside), "styled not to be seen")
            return re.sub(r"[^\n]", "", whole)

        return between(between(text, COMMENT, comment), UNSEEN, unseen)

    def hide(self, text: str, how: str) -> None:
        if text := squeeze(text):
            self.paper.hidden.append({"text": text, "how": how, "where": None, "page": None})

    def paged(self, text: str):
        first = next((int(next(filter(None, match.groups()))) for line in text.split("\n") if (match := PAGE.match(line))), None)
        page = None if first is None else max(1, first - 1)  # what stands before the first mark
        for line in text.replace("\f", "\n\f\n").split("\n"):
            if line == "\f":
                page = (page or 1) + 1
                continue
            if match := PAGE.match(line):
                page = int(next(filter(None, match.groups())))
                continue
            yield Line(line.rstrip(), page)
        self.paper.pages = page

    # --- the whole -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        self.front()
        while self.at < len(self.lines):
            self.one()
        self.cite()
        words = sum(len(line.text.split()) for line in self.lines)
        if words < 200:
            self.paper.warn("text-short", f"the text has {words} words: too few for a paper")
        if not self.paper.sections or all(section.number is None for section in self.paper.sections) and not self.markdown:
            self.paper.warn("text-no-headings", "no numbered headings were found in the text")

    def front(self) -> None:
        """The title: the first heading of the top rank, else the first line."""
        while self.at < len(self.lines) and not self.lines[self.at].text.strip():
            self.at += 1
        if self.at >= len(self.lines):
            return
        line = self.lines[self.at].text
        heading = ATX.match(line)
        if heading:
            text = self.plain(title_of(heading))
            if KNOWN.match(text) or (numbered := NUMBERED.match(text)) and numbered["number"] != "A":
                return
            self.paper.title = text
            self.at += 1
        elif not KNOWN.match(line.strip()) and not PAGE.match(line) and len(line.split()) <= 30 and not self.display_start(line):
            pieces = []
            while self.at < len(self.lines) and self.lines[self.at].text.strip() and len(pieces) < 3:
                pieces.append(self.lines[self.at].text.strip(" =*_"))
                self.at += 1
                if not re.search(r"(?:\b(?:of|for|and|the|a|an|in|on|with|to|by|from|via|using)|[:,–-])$", pieces[-1], re.I):
                    break
            self.paper.title = self.plain(" ".join(pieces))
            if self.at < len(self.lines) and re.fullmatch(r"\s*=+\s*", self.lines[self.at].text or " "):
                self.at += 1

    def here(self, page: int | None = None) -> Section:
        if self.section is None:
            self.open_section(self.paper.title or "Text", None, 1, False, page)
        return self.section

    def open_section(self, title: str, number: str | None, level: int, appendix: bool, page: int | None) -> None:
        self.section = Section(f"s{len(self.paper.sections)}", title, number, level, appendix, page=page, source=SOURCE)
        self.paper.sections.append(self.section)

    def one(self) -> None:
        """Read the thing that begins at the present line."""
        line = self.lines[self.at]
        text = line.text
        if not text.strip():
            self.at += 1
            return
        just_read = self.just_read
        if FENCE.match(text) and "math" not in FENCE.match(text)[2].lower():
            self.fence()
        elif self.heading():
            pass
        elif self.references_open:
            self.reference()
        elif self.display_start(text):
            self.display()
        elif FOOTNOTE.match(text):
            self.footnote()
        elif self.pipe_table():
            pass
        elif CAPTION.match(text) and self.starts_paragraph() and self.caption():
            pass
        elif IMAGE.fullmatch(text.strip()):
            self.image()
        elif ITEM.match(text) and (self.starts_paragraph() or ITEM.match(self.lines[self.at - 1].text)):
            self.item()
        else:
            self.paragraph()
        if self.just_read is just_read:
            self.just_read = None

    def starts_paragraph(self) -> bool:
        return self.at == 0 or not self.lines[self.at - 1].text.strip() or bool(ATX.match(self.lines[self.at - 1].text))

    # --- headings ------------------------------------------------------------------------------------------------------

    def heading(self) -> bool:
        line = self.lines[self.at]
        text, depth, sure, used = line.text.strip(), None, False, 1
        below = self.lines[self.at + 1].text if self.at + 1 < len(self.lines) else ""
        if match := ATX.match(line.text):
            text, depth, sure = title_of(match), len(match[1]), True
        elif re.fullmatch(r"\s*(={3,}|-{3,})\s*", below) and self.starts_paragraph() and len(text) < 120 and "|" not in text:
            depth, sure, used = 1 + ("-" in below), True, 2
        elif (match := BOLD.match(line.text)) and self.starts_paragraph() and not below.strip() and len(text.split()) <= 14:
            text, sure = match["inside"], bool(NUMBERED.match(match["inside"]) or KNOWN.match(match["inside"]))
            if not sure:
                return False
        text = self.plain(text)
        if not text:
            self.at += used if sure else 0
            return sure
        number, title = None, text
        if match := APPENDIX.match(text):
            number, title = match["number"], match["title"].strip() or text
            if not sure and (not self.starts_paragraph() or len(text.split()) > 14):
                return False
        elif match := NUMBERED.match(text):
            if sure and (not re.fullmatch(r"[A-Z]", match["number"]) or self.after_references or re.match(r"[A-Z]\.", text)) \
                    or self.plain_heading(match):
                number, title = match["number"], match["title"]
            elif not sure:
                return False
        elif not sure and not (KNOWN.match(text) and self.starts_paragraph()):
            run_in = re.match(r"^abstract\s*[.:—–-]+\s*(?=\S)", text, re.I)
            if run_in and not self.paper.abstract:
                self.lines[self.at] = Line(text[run_in.end():], line.page)
                self.abstract_open = True
            return False
        self.at += used
        title = title.rstrip(" :")
        self.waiting = None
        if re.fullmatch(r"abstract\W*", title, re.I) and not self.paper.abstract:
            self.abstract_open = True
            return True
        self.abstract_open = False
        if self.paper.title == title and number is None and not self.paper.sections:
            return True
        self.references_open = bool(REFERENCES.match(title))
        self.after_references |= self.references_open
        if self.references_open:
            return True
        if number:
            self.numbers.append(number)
            level = number.count(".") + 1
        else:
            level = max(1, depth - self.top + 1) if depth else 1
        letter = bool(number and re.match(r"[A-Z](\.|$)", number) and not re.fullmatch(r"[IVX]+", number))
        appendix = letter or self.after_references or bool(re.match(r"(appendix|appendices|supplement)", title, re.I))
        self.open_section(title, number, level, appendix, line.page)
        return True

    def plain_heading(self, match: re.Match) -> bool:
        """Whether a numbered line of plain text is a heading: short, capital, alone, and next in the count."""
        title, number = match["title"], match["number"]
        if not self.starts_paragraph() or len(title) > 90 or len(title.split()) > 12 or not re.match(r"[A-Z\"“(]", title):
            return False
        if re.search(r"[.,;]$", title) or MATHY.search(title):
            return False
        below = self.lines[self.at + 1].text.strip() if self.at + 1 < len(self.lines) else ""
        if below and (ITEM.match(below) or below[:1].islower()):
            return False
        parts = number.split(".")
        if re.fullmatch(r"[A-Z]", parts[0]) and not self.after_references and parts[0] != "I":
            return False
        if re.fullmatch(r"\d+", parts[0]):
            last = [int(part) for part in self.numbers[-1].split(".")] if self.numbers and self.numbers[-1].replace(".", "").isdecimal() else [0]
            now = [int(part) for part in parts]
            follows = now > last and now[0] - last[0] <= 1 and (len(now) > len(last) or now[0] > last[0] or now[-1] >= 1)
            return follows
        return True

    # --- mathematics ---------------------------------------------------------------------------------------------------

    @staticmethod
    def display_start(text: str) -> bool:
        return bool(DISPLAY.match(text))

    def display(self) -> None:
        """A displayed formula, up to its end or, where that never comes, to the next empty line."""
        start = self.at
        page = self.lines[start].page
        match = DISPLAY.match(self.lines[start].text)
        opening = match[1]
        if match[2]:
            end = re.escape(f"\\end{{{match[2]}{match[3]}}}")
        else:
            end = ENDS.get(opening, r"^\s*```\s*$")
        body, after, closed = [self.lines[start].text[match.end():]], "", False
        if found := re.search(end, body[0]):
            body, after, closed = [body[0][: found.start()]], body[0][found.end():], True
        at = start + 1
        while not closed and at < len(self.lines) and at - start < 400:
            text = self.lines[at].text
            if found := re.search(end, text):
                body.append(text[: found.start()])
                after, closed = text[found.end():], True
            elif not text.strip() and opening != "$$" and not match[2]:
                break
            else:
                body.append(text)
            at += 1
        if not closed:
            self.paper.warn("text-open-formula", f"a displayed formula that begins with {opening} never ends",
                            f"page {page}" if page else f"line {start + 1}")
            at = start + 1
            while at < len(self.lines) and self.lines[at].text.strip():
                at += 1
            body = [line.text for line in self.lines[start:at]]
            body[0] = body[0][match.end():]
        self.at = at
        latex = "\n".join(body).strip()
        number_after = TRAILING.match(after)
        self.add_display(latex, number_after["number"] if number_after else None, page)
        if after.strip() and not number_after and re.search(r"\w", after):
            self.lines.insert(self.at, Line(after.strip(), page))

    def add_display(self, latex: str, number: str | None, page: int | None) -> None:
        group = f"g{len(self.paper.equations)}"
        inner = ALIGNED.sub("", latex).strip()
        rows = rows_of(inner) if len(TAG.findall(inner)) > 1 else [inner]
        waiting: list[str] = []
        made = 0
        for row in rows:
            tag = TAG.search(row)
            own = tag[1] if tag else None
            row = TAG.sub("", row).strip()
            if own is None and len(rows) == 1 and number is None and (trailing := TRAILING.search(row)):
                own, row = trailing["number"], row[: trailing.start()].strip()
            waiting.append(row)
            if own or len(rows) == 1:
                self.add_equation(r" \\ ".join(filter(None, waiting)), own or number, group, page)
                waiting, made = [], made + 1
        if waiting and any(waiting):
            if made:
                self.paper.equations[-1].latex += r" \\ " + r" \\ ".join(filter(None, waiting))
            else:
                self.add_equation(r" \\ ".join(filter(None, waiting)), number, group, page)

    def add_equation(self, latex: str, number: str | None, group: str, page: int | None, text: str | None = None) -> None:
        if not latex and not text:
            return
        equation = Equation(f"e{len(self.paper.equations)}", number, squeeze(latex) or None, latex or None, text, group=group,
                            section=self.here(page).id, page=page, source=SOURCE)
        self.paper.equations.append(equation)
        self.section.blocks.append(Block("equation", ref=equation.id, page=page, source=SOURCE))

    # --- floats --------------------------------------------------------------------------------------------------------

    def caption(self) -> bool:
        """A caption: of the table just read, else of what comes next. An algorithm's lines follow its caption."""
        start = self.at
        gathered = []
        while self.at < len(self.lines) and self.lines[self.at].text.strip():
            text = self.lines[self.at].text
            if gathered and (self.special(text) or CAPTION.match(text)):
                break
            gathered.append(text.strip())
            self.at += 1
            if re.match(r"\W*alg", gathered[0], re.I):
                break
        match = CAPTION.match(" ".join(gathered))
        page = self.lines[start].page
        kind = match["kind"].lower()[:3]
        text = self.plain(match["text"])
        if kind != "alg" and TELLS.match(text):
            self.at = start
            return False
        if kind == "tab":
            if isinstance(self.just_read, Table) and self.just_read.number is None:
                table = self.just_read
            else:
                self.waiting = table = self.new(Table, self.paper.tables, page)
            table.number, table.caption = match["number"], text
        elif kind == "fig":
            figure = self.paper.figures[-1] if self.waiting_figure() else self.new(Figure, self.paper.figures, page)
            figure.number, figure.caption = match["number"], text
            self.waiting = None
        else:
            self.waiting = algorithm = self.new(Algorithm, self.paper.algorithms, page)
            algorithm.number, algorithm.caption = match["number"], text.rstrip("*_ ")
            self.algorithm_lines(algorithm)
        return True

    def waiting_figure(self) -> bool:
        return isinstance(self.waiting, Figure) and self.waiting.number is None

    def new(self, kind: type, into: list, page: int | None):
        item = kind(f"{kind.__name__}{len(into)}", section=self.here(page).id, page=page, source=SOURCE)
        into.append(item)
        self.section.blocks.append(Block(kind.__name__.lower(), ref=item.id, page=page, source=SOURCE))
        return item

    def algorithm_lines(self, algorithm: Algorithm) -> None:
        at = self.at
        while at < len(self.lines) and not self.lines[at].text.strip() and at - self.at < 2:
            at += 1
        if at >= len(self.lines) or FENCE.match(self.lines[at].text):
            return  # the fence is read next and sees `waiting`
        if ATX.match(self.lines[at].text):
            return
        lines = []
        if not STEP.search(self.lines[at].text) and at != self.at:
            return
        while at < len(self.lines) and len(lines) < 300:
            text = self.lines[at].text
            if not text.strip():
                if at + 1 < len(self.lines) and re.match(r"\s*\d{1,3}\s*:", self.lines[at + 1].text):
                    at += 1
                    continue
                break
            if ATX.match(text) or CAPTION.match(text):
                break
            lines.append(text)
            at += 1
        number_lines(algorithm, lines)
        algorithm.lines = [self.plain(line, keep_indent=True) for line in algorithm.lines]
        self.at, self.waiting = at, None

    def fence(self) -> None:
        match = FENCE.match(self.lines[self.at].text)
        page = self.lines[self.at].page
        self.at += 1
        body = []
        while self.at < len(self.lines) and not self.lines[self.at].text.strip().startswith(match[1]):
            body.append(self.lines[self.at].text)
            self.at += 1
        self.at += 1
        if isinstance(self.waiting, Algorithm) and not self.waiting.lines:
            number_lines(self.waiting, body)
            self.waiting = None
        elif body:
            head = CAPTION.match(body[0])
            if head and head["kind"].lower().startswith("alg"):
                algorithm = self.new(Algorithm, self.paper.algorithms, page)
                algorithm.number, algorithm.caption = head["number"], squeeze(head["text"])
                number_lines(algorithm, body[1:])
            else:
                self.here(page).blocks.append(Block("code", "\n".join(body), page=page, source=SOURCE))

    @staticmethod
    def is_table_line(text: str) -> bool:
        return text.strip().startswith("|") and text.count("|") >= 2

    def pipe_table(self) -> bool:
        line, below = self.lines[self.at].text, self.lines[self.at + 1].text if self.at + 1 < len(self.lines) else ""
        if not self.is_table_line(line) and not ("|" in line and RULE.match(below) and "|" in below):
            return False
        page, rows = self.lines[self.at].page, []
        while self.at < len(self.lines) and "|" in self.lines[self.at].text and self.lines[self.at].text.strip():
            text = self.lines[self.at].text
            if not RULE.match(text):
                rows.append([self.plain(cell) for cell in cells_of(text)])
            self.at += 1
        waits = isinstance(self.waiting, Table) and not self.waiting.rows
        table = self.waiting if waits else self.new(Table, self.paper.tables, page)
        table.rows = [row for row in rows if any(row)]
        self.waiting, self.just_read = None, table
        return True

    def image(self) -> None:
        line = self.lines[self.at]
        alt, source = IMAGE.search(line.text).groups()
        figure = self.new(Figure, self.paper.figures, line.page)
        figure.files = [source]
        if match := CAPTION.match(alt):
            figure.number, figure.caption = match["number"], self.plain(match["text"])
        else:
            figure.caption = self.plain(alt)
            self.waiting = figure
        self.at += 1

    # --- words ---------------------------------------------------------------------------------------------------------

    def footnote(self) -> None:
        line = self.lines[self.at]
        number, text = FOOTNOTE.match(line.text).groups()
        self.at += 1
        while self.at < len(self.lines) and re.match(r"\s{2,}\S", self.lines[self.at].text):
            text += " " + self.lines[self.at].text
            self.at += 1
        self.links(text, "footnote", line.page)
        section = self.section.id if self.section else None
        note = Footnote(f"n{len(self.paper.footnotes)}", self.plain(text), number, section=section, page=line.page, source=SOURCE)
        self.paper.footnotes.append(note)

    def item(self) -> None:
        line = self.lines[self.at]
        match = ITEM.match(line.text)
        gathered = [match["text"]]
        self.at += 1
        while self.at < len(self.lines) and self.lines[self.at].text.strip() and not ITEM.match(self.lines[self.at].text) \
                and not self.special(self.lines[self.at].text):
            gathered.append(self.lines[self.at].text.strip())
            self.at += 1
        mark = "•" if match["mark"] in "-*+•‣–" else match["mark"]
        self.add("list", f"{mark} {self.join(gathered)}", line.page)

    def special(self, text: str) -> bool:
        return self.is_table_line(text) or self.display_start(text) or any(
            pattern.match(text) for pattern in (ATX, FENCE, FOOTNOTE))

    def paragraph(self) -> None:
        start = self.at
        gathered = []
        while self.at < len(self.lines) and self.lines[self.at].text.strip():
            text = self.lines[self.at].text
            if gathered and self.special(text):
                break
            loose = LOOSE_EQUATION.match(text.strip())
            if loose and "$" not in text and MATHY.search(loose["body"]) and len(re.findall(r"\b[a-z]{4,}\b", loose["body"])) < 4:
                if gathered:
                    self.add("paragraph", self.join(gathered), self.lines[start].page)
                    gathered = []
                group, page = f"g{len(self.paper.equations)}", self.lines[self.at].page
                self.add_equation("", loose["number"], group, page, text=loose["body"].strip())
                self.at += 1
                start = self.at
                continue
            gathered.append(text.strip())
            self.at += 1
        if gathered:
            self.add("paragraph", self.join(gathered), self.lines[start].page)

    def join(self, lines: list[str]) -> str:
        """Lines as one text. A hyphen at a line's end goes when the word without it is used, or the one with it is not."""
        out = ""
        for line in lines:
            end = re.search(r"([A-Za-z]+)-$", out[-80:]) if out.endswith("-") else None
            begin = re.match(r"[a-z]+", line)
            if end and begin:
                whole = end[1] + begin[0]
                if f"{end[1]}-{begin[0]}" in self.known_words and whole not in self.known_words:
                    out += line
                else:
                    out = out[:-1] + line
            else:
                out = f"{out} {line}" if out else line
        return out

    def add(self, kind: str, text: str, page: int | None) -> None:
        where = "abstract" if self.abstract_open else "text"
        marks = re.findall(r"\[\^([^\]\s]{1,20})\]", text)
        text = re.sub(r"\s*\[\^[^\]\s]{1,20}\]", "", text)
        self.links(text, where, page)
        for alt, source in IMAGE.findall(text):
            self.new(Figure, self.paper.figures, page).files = [source]
            self.paper.figures[-1].caption = self.plain(alt)
        text = self.plain(IMAGE.sub("", text))
        if not text:
            return
        if self.abstract_open:
            self.paper.abstract = "\n\n".join(filter(None, (self.paper.abstract, text)))
            return
        self.here(page).blocks.append(Block(kind, text, page=page, source=SOURCE))
        self.marks += [(self.section, len(self.section.blocks), mark) for mark in marks]

    def links(self, text: str, where: str, page: int | None) -> None:
        for match in LINK.finditer(text):
            url = match[2] or match[3] or re.sub(r"[.,;:!?'*_]+$", "", match[4])
            if url.count(")") > url.count("("):
                url = url.rstrip(")")
            self.paper.links.append(Link(url, text=match[1] or url, context=self.plain(text)[:600], where=where, page=page,
                                         section=self.section.id if self.section else None))

    def plain(self, text: str, keep_indent: bool = False) -> str:
        """Words without Markdown's marks; formulae and code stay as they are."""
        indent = re.match(r"\s*", text)[0] if keep_indent else ""
        pieces = re.split(r"(\$\$.*?\$\$|\$[^$\n]+\$|\\\(.*?\\\)|`[^`]+`)", text)
        for at, piece in enumerate(pieces):
            if at % 2:
                if piece.startswith("\\("):
                    pieces[at] = f"${piece[2:-2].strip()}$"
                elif piece.startswith("`"):
                    pieces[at] = piece[1:-1]
                continue
            piece = LINK.sub(lambda match: match[1] or match[3] or match[4], piece)
            if self.markdown:
                piece = re.sub(r"<sup>\s*([+\-−]?\d+)\s*</sup>", r"^{\1}", piece)
                piece = INLINE_TAG.sub(" ", piece)
                piece = re.sub(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"\2", piece)
                piece = re.sub(r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=\S)\*(?![\w*])", r"\1", piece)
                piece = re.sub(r"(?<![\w_])_(?=[^\s_])([^_\n]+?)(?<=\S)_(?![\w_])", r"\1", piece)
                piece = re.sub(r"\\([\\`*_{}\[\]()#+.!|<>~-])", r"\1", piece)
            pieces[at] = piece
        return indent + squeeze("".join(pieces))

    # --- references ----------------------------------------------------------------------------------------------------

    def reference(self) -> None:
        """One entry of the list of references: it begins with a mark, or after an empty line."""
        start = self.at
        begins = re.compile(r"^\s*(?:\[(?P<label>[^\]\s][^\]]{0,40})\]|(?P<number>\d{1,3})[.)]|[-*•])\s+")
        first = begins.match(self.lines[start].text)
        gathered = [self.lines[start].text[first.end():] if first else self.lines[start].text.strip()]
        self.at += 1
        while self.at < len(self.lines) and self.lines[self.at].text.strip():
            text = self.lines[self.at].text
            if begins.match(text) and first or ATX.match(text):
                break
            gathered.append(text.strip())
            self.at += 1
        label = (first["label"] or first["number"]) if first else None
        joined = self.join(gathered)
        self.links(joined, "reference", self.lines[start].page)
        text = self.plain(joined)
        url = LINK.search(joined)
        entry = reference(label or f"ref-{len(self.paper.references) + 1}", label, text, [])
        entry.url, entry.page = url and (url[2] or url[3] or url[4]), self.lines[start].page
        self.paper.references.append(entry)

    def cite(self) -> None:
        """Citations by number or label in the text, and the places of footnote marks."""
        keys = {reference.label: reference.key for reference in self.paper.references if reference.label}
        for section in self.paper.sections:
            for block in section.blocks:
                for inside in re.findall(r"\[([^\[\]]{1,60})\]", block.text):
                    for part in re.split(r"\s*[,;]\s*", inside):
                        if part in keys and keys[part] not in block.cites:
                            block.cites.append(keys[part])
        notes = {note.number: note for note in self.paper.footnotes}
        for section, at, mark in reversed(self.marks):
            if mark in notes:
                notes[mark].section = section.id
                section.blocks.insert(at, Block("footnote-mark", ref=notes[mark].id, source=SOURCE))


def rows_of(latex: str) -> list[str]:
    """The rows of a display: split at `\\\\` outside inner environments and braces."""
    rows, depth, start = [], 0, 0
    for match in re.finditer(r"\\\\(?:\[[^\]]*\])?|\\begin\{\w+\*?\}|\\end\{\w+\*?\}|(?<!\\)[{}]", latex):
        token = match[0]
        if token.startswith("\\\\"):
            if depth <= 0:
                rows.append(latex[start: match.start()])
                start = match.end()
        else:
            depth += 1 if token == "{" or token.startswith("\\begin") else -1
    return [*rows, latex[start:]]


def cells_of(line: str) -> list[str]:
    """The cells of a pipe table's line; `\\|` and bars inside formulae or code do not part cells."""
    line = line.strip()
    out, cell, quoted = [], "", None
    at = 0
    while at < len(line):
        char = line[at]
        if char == "\\" and at + 1 < len(line):
            cell += "|" if line[at + 1] == "|" and quoted != "$" else line[at: at + 2]
            at += 2
            continue
        if char in "$`" and (quoted == char or quoted is None and char in line[at + 1:]):
            quoted = None if quoted else char
        if char == "|" and quoted is None:
            out.append(cell.strip())
            cell = ""
        else:
            cell += char
        at += 1
    out.append(cell.strip())
    if line.startswith("|"):
        out = out[1:]
    if line.endswith("|") and out:
        out = out[:-1]
    return out


def title_of(heading: re.Match) -> str:
    """A Markdown heading's words, without the signs that may close it."""
    return heading[2].rstrip().rstrip("#").rstrip()


def between(text: str, opening: re.Pattern, made: Callable[[str, str], str]) -> str:
    """The text with each stretch from an opening (its group: a tag's name, or !--) to what closes it as `made` of the stretch and of
    what is inside it. In one walk, however many openings are never closed."""
    out: list[str] = []
    at = 0
    lost: set[str] = set()  # what is not closed from here on
    for match in opening.finditer(text):
        name = match[1].lower()
        if match.start() < at or name in lost:
            continue
        closing = re.compile(r"-->" if name == "!--" else rf"</{name}\s{{0,9}}>", re.I).search(text, match.end())
        if closing is None:
            lost.add(name)
            continue
        out += [text[at:match.start()], made(text[match.start():closing.end()], text[match.end():closing.start()])]
        at = closing.end()
    return "".join(out) + text[at:]


def number_lines(algorithm: Algorithm, lines: list[str]) -> None:
    """Give an algorithm its lines, and the numbers written before them where they have any."""
    for line in lines:
        number, rest = re.match(r"(?:(\s*)(\d{1,3})\s*:\s?)?(.*)", line.expandtabs(2).rstrip(), re.S).group(2, 3)
        if not rest.strip():
            continue
        lead = re.match(r"\s*", line.expandtabs(2))[0] if number else ""
        algorithm.lines.append(lead + rest)
        algorithm.numbers.append(number or "")
    if not any(algorithm.numbers):
        algorithm.numbers = []
