"""Anchors: where a repository says which place of the paper a line comes from, or that the paper does not say.

`find(root)` reads them from Python comments, docstrings and strings, YAML comments and values, notebook cells and Markdown;
`scan(root)` gives the findings too (a file that does not parse, a quote that never ends). An anchor is

    §3.2 — "quote"      §3.2, Eq. 4 — formula      Algorithm 1, lines 3-5      Appendix B      Figure 2
    [UNSPECIFIED] … Using: … Alternatives: …       [PARTIALLY_SPECIFIED] "quote" …
    [ASSUMPTION] … Reason: …                       [FROM_OFFICIAL_CODE] … Source: https://…

A place with two quotes makes two anchors. Nothing that is read is run.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import yaml
from paper2code.check.places import JOIN, PLACE, parse
from paper2code.findings import Finding

TAGS = ("UNSPECIFIED", "PARTIALLY_SPECIFIED", "ASSUMPTION", "FROM_OFFICIAL_CODE")
TAG = re.compile(r"\[\s*(?P<tag>UNSPECIFIED|PARTIALLY[_ -]SPECIFIED|ASSUMPTION|FROM[_ -]OFFICIAL[_ -]CODE)\s*\]")
FIELDS = {
    "using": "using",
    "alternative": "alternatives",
    "alternatives": "alternatives",
    "source": "source",
    "reason": "reason",
    "why": "reason",
    "because": "reason",
}
FIELD = re.compile(r"(?<![\w`])(?P<name>Using|Alternatives?|Source|Reason|Why|Because)\s*:\s*", re.I)
BECAUSE = re.compile(r"\b(?:because|since|as the paper|so that|in order to|for lack of)\b", re.I)
OPENING = '"\u201c\u201e\u00ab'
CLOSING = {'"': '"\u201d', "\u201c": '\u201d"', "\u201e": '\u201c\u201d"', "\u00ab": "\u00bb"}
NESTED = re.compile("\u201c[^\"\u201c\u201d]*\u201d[^\"\u201d]*[\"\u201d]")  # typographic marks inside straight ones
ASIDE = r"(?:\s?\([^()\n\"\u201c]{0,40}\)|\s?\([a-z]\))?"  # "§5.3 (optimiser) — …"
BEFORE_QUOTE = re.compile(rf"{ASIDE}(?:[\s()\[\]*_`:,.;>|]|\u2014|\u2013|-)*")
SEPARATOR = re.compile(rf"{ASIDE}[\s)\]*_`]*(?:\u2014|\u2013|-{1, 3}(?=\s)|:)[\s*_`]*")
QUOTE_BEFORE = re.compile(r"[\"\u201c]([^\"\u201c\u201d]{8,600})[\"\u201d]\s?[(\[]\s?$")
BETWEEN_QUOTES = re.compile(r"\s*(?:[.,;/+&]|\band\b|\bthen\b|\u2014|\u2013|…|\.\.\.|(?=[\"\u201c]))*\s*(?:\band\b\s*)?")
SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z§\[])")
BLANK = re.compile(r"\n[ \t>]*\n")
LINE_START = re.compile(r"(?:^|\n)[ \t>*\-•#|:+]*$")
# "Section 3 of [7]", "Table 2 in the BERT paper": another paper's places.
FOREIGN = re.compile(r"\s+(?:of|in)\s+(?:\[\d|arXiv|the\s+[A-Z][\w-]*\s+paper|[A-Z][\w'’-]+\s+(?:et\s+al|and\s+[A-Z]|\())")
SHY = re.compile(r"(?:Abstract|Example|Remark|Claim|Assumption|Definition)\b")  # words that are places only before a quote
SKIPPED = {"__pycache__", "node_modules", "site-packages", ".git", ".venv", "venv", "build", "dist"}
AXES = {"dim", "axis", "dims", "start_dim", "end_dim", "ndim"}  # arguments that are places in a shape, not values
LARGEST = 4_000_000  # bytes of one file
NEAR = 80  # characters after a place within which words in quotation marks are its quote, without a dash
LONGEST_QUOTE = 30_000  # characters within which a quote must end
LONGEST_FORMULA = 400


@dataclass(frozen=True)
class Anchor:
    """One citation or flag. `line` … `end_line` in `file` (of a notebook: in its JSON; `cell` counts from 1).

    place: as written, "" for a flag without one. kind: section, appendix, equation, table, figure, algorithm, footnote,
    theorem, abstract, page, or the tag in lower case. formula: what stands after the dash where that is not a quote.
    text: the whole statement. code: what it belongs to, "Attention.forward" or a dotted configuration key. where: comment,
    docstring, string, yaml, markdown. at: the line of code it is attached to. values: the numbers, and in YAML the
    scalars, of that line. assigned: the line gives a name that value, rather than computing with it.
    """

    file: str
    line: int
    end_line: int
    place: str = ""
    kind: str = ""
    quote: str | None = None
    formula: str | None = None
    tag: str | None = None
    using: str | None = None
    alternatives: str | None = None
    source: str | None = None
    reason: str | None = None
    text: str = ""
    code: str = ""
    where: str = ""
    cell: int | None = None
    at: int | None = None
    values: tuple[str, ...] = ()
    assigned: bool = False


@dataclass
class Unit:
    """A stretch of text that may hold anchors, with the line of each of its lines. `at`: the line of code it is beside."""

    text: str
    lines: list[int]
    where: str
    code: str = ""
    at: int | None = None
    cell: int | None = None
    starts: list[int] = field(default_factory=list)

    def __post_init__(self):
        self.starts, place = [], 0
        for line in self.text.split("\n"):
            self.starts.append(place)
            place += len(line) + 1

    def line(self, offset: int) -> int:
        return self.lines[min(bisect_right(self.starts, offset) - 1, len(self.lines) - 1)]


@dataclass
class Event:
    """A place or a tag in a unit, with the quotes that follow it."""

    start: int
    end: int
    place: str = ""
    tag: str | None = None
    quotes: list[tuple[str, int, int]] = field(default_factory=list)
    formula: str | None = None
    unclosed: bool = False


def find(root: str | Path) -> list[Anchor]:
    """Every anchor under a folder (or in one file), by file and line."""
    return scan(root)[0]


def scan(root: str | Path) -> tuple[list[Anchor], list[Finding]]:
    """The anchors under a folder, and what kept them from being read."""
    root = Path(root)
    anchors: list[Anchor] = []
    findings: list[Finding] = []
    for path in sources(root):
        name = path.relative_to(root).as_posix() if path != root else path.name
        found, problems = scan_file(path, name)
        anchors += found
        findings += problems
    return anchors, findings


def sources(root: Path) -> list[Path]:
    """The files that may hold anchors."""
    if root.is_file():
        return [root]
    out = []
    for path in sorted(root.rglob("*")):
        inner = path.relative_to(root).parts
        if any(part in SKIPPED or part.startswith(".") for part in inner) or not path.is_file():
            continue
        if path.suffix.lower() in (".py", ".yaml", ".yml", ".ipynb", ".md") or re.fullmatch(r"requirements.*\.txt", path.name):
            out.append(path)
    return out


def scan_file(path: Path, name: str) -> tuple[list[Anchor], list[Finding]]:
    """The anchors of one file, which findings call `name`."""
    try:
        data = path.read_bytes()
    except OSError as problem:
        return [], [Finding("file-unreadable", f"cannot be read: {problem.strerror}", name, fix="check its permissions")]
    findings = []
    if len(data) > LARGEST:
        return [], [
            Finding(
                "file-too-large",
                f"{len(data):,} bytes; at most {LARGEST:,} are read",
                name,
                fix="keep data and outputs out of the repository",
            )
        ]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        findings.append(Finding("file-not-utf8", f"byte {problem.start} is not UTF-8", name, line, fix="save the file as UTF-8"))
        text = data.decode("utf-8", errors="replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    anchors, problems = scan_text(text, name)
    return anchors, findings + problems


@lru_cache(maxsize=512)
def scan_text(text: str, name: str) -> tuple[list[Anchor], list[Finding]]:
    """The anchors in the text of a file called `name`; its ending says how it is read."""
    ending = name.lower().rpartition(".")[2]
    read = {"py": python, "yaml": configuration, "yml": configuration, "ipynb": notebook, "md": markdown}.get(ending, hashed)
    units, findings, facts = read(text, name)
    anchors: list[Anchor] = []
    for unit in units:
        for anchor, unclosed in statements(unit):
            if facts is not None and anchor.at is None and unit.where in ("comment", "yaml"):
                anchor = replace(anchor, at=facts.attached(anchor.line, anchor.end_line))
            if facts is not None:
                values, assigned = facts.values(anchor.at) if anchor.at is not None else ((), False)
                owner = anchor.code or facts.owner(anchor.line, anchor.at)
                anchor = replace(anchor, code=owner, values=values, assigned=assigned)
            anchor = replace(anchor, file=name)
            anchors.append(anchor)
            if unclosed:
                what = anchor.place or anchor.tag
                findings.append(
                    Finding(
                        "quote-unclosed",
                        f"the quote after {what} has no closing mark",
                        name,
                        anchor.line,
                        fix='close it with "',
                        evidence=(anchor.quote or anchor.text)[:80],
                    )
                )
    anchors.sort(key=lambda anchor: (anchor.line, anchor.end_line))
    return anchors, findings


# --- what a unit says --------------------------------------------------------------------------------------------------


def statements(unit: Unit) -> Iterator[tuple[Anchor, bool]]:
    """The anchors of a unit, each with whether its quote is unclosed. A statement is a run of events: it ends before a
    tag, before a place that begins a line, and at a blank line."""
    text = unit.text
    runs: list[list[Event]] = []
    for event in events(text):
        begins = bool(LINE_START.search(text[: event.start]))
        if runs:
            last = runs[-1][-1]
            between = text[last.end : event.start]
            tagged = any(each.tag for each in runs[-1])
            joined = not BLANK.search(between) and not (event.place and begins)
            if event.tag:  # "§5.1 — [PARTIALLY_SPECIFIED] …" belongs together
                last_said = last.quotes and "\n" not in between  # "§5.1 — "…" [PARTIALLY_SPECIFIED] …"
                follows = not between.strip(" \t\n\u2014\u2013-:,.*_`)") and ("\n" not in between or between.strip())
                joined = joined and not tagged and follows and (not last.quotes or last_said)
            elif joined and not tagged:
                joined = False
            if joined:
                runs[-1].append(event)
                continue
        runs.append([event])
    for number, run in enumerate(runs):
        stop = runs[number + 1][0].start if number + 1 < len(runs) else len(text)
        if blank := BLANK.search(text, run[-1].end, stop):
            stop = blank.start()
        yield from anchors_of(unit, run, stop)


def anchors_of(unit: Unit, run: list[Event], stop: int) -> Iterator[tuple[Anchor, bool]]:
    start, text = run[0].start, unit.text
    tag = next((event.tag for event in run if event.tag), None)
    said = text[start:stop].strip()
    given = {"text": " ".join(said.split())}
    if tag:
        given |= fields(text[next(event.end for event in run if event.tag) : stop], tag)
        given["tag"] = tag
    places = [event for event in run if event.place]
    lead = next((event for event in run if event.tag), None)
    if lead and lead.quotes and places:  # the tag's quotes belong to the place before it, or to the first one after it
        places[0].quotes[:0] = lead.quotes
        lead.quotes = []
    for event in places or [lead]:
        kind = kind_of(event.place) if event.place else tag.lower()
        for quote, begin, end in event.quotes or [(None, event.start, event.end)]:
            first, last = min(event.start, begin), max(event.end, end)
            if tag and not event.quotes:
                last = max(last, start + len(said))
            yield (
                Anchor(
                    "",
                    unit.line(first),
                    unit.line(max(first, last - 1)),
                    event.place,
                    kind,
                    quote,
                    event.formula if quote is None else None,
                    code=unit.code,
                    where=unit.where,
                    cell=unit.cell,
                    at=unit.at,
                    **given,
                ),
                event.unclosed and quote == (event.quotes[-1][0] if event.quotes else None),
            )


def kind_of(place: str) -> str:
    """The kind of the most particular of several places: an item before a section, a section before a page."""
    kinds = [each.kind for each in parse(place)]
    rank = {"page": 2, "section": 1, "appendix": 1, "abstract": 1}
    return min(kinds, key=lambda kind: rank.get(kind, 0), default="section")


def events(text: str) -> Iterator[Event]:
    """Places and tags in order, each with the quotes or the formula after it; nothing inside a quote counts."""
    at = floor = 0
    while at < len(text):
        place, tag = PLACE.search(text, at), TAG.search(text, at)
        if place is None and tag is None:
            return
        if tag is not None and (place is None or tag.start() < place.start()):
            event = Event(tag.start(), tag.end(), tag=re.sub(r"[ -]", "_", tag["tag"]))
            take_quotes(text, event, direct=True)
            yield event
            at = event.end
            continue
        start, end = place.start(), place.end()
        while (join := JOIN.match(text, end)) and (more := PLACE.match(text, join.end())) and not BLANK.search(join.group()):
            if more.lastgroup == "title" or (more.start() > end and "\n" in join.group() and more.group().startswith("§")):
                break
            end = more.end()
        written = text[start:end].strip()
        kinds = {each.kind for each in parse(written)}
        written += ")" * (written.count("(") - written.count(")"))
        event = Event(start, end, place=" ".join(written.split()))
        following = BEFORE_QUOTE.match(text, end).end()
        quoted = text[following : following + 1] in OPENING and following < len(text)
        if (
            not kinds
            or kinds <= {"page", "line"}
            or FOREIGN.match(text, end)
            or (SHY.match(written) and not (quoted and SEPARATOR.match(text, end)))
        ):
            at = end
            continue
        take_quotes(text, event)
        if not event.quotes and not event.formula and (said := QUOTE_BEFORE.search(text, floor, start)):
            event.quotes.append((tidy(said[1]), said.start(), said.end()))  # "…" (§5.3)
        yield event
        at = floor = max(event.end, end)


def take_quotes(text: str, event: Event, *, direct: bool = False) -> None:
    """Read the quotes after a place or a tag, or else the formula after its dash. `direct`: only a quote that follows at once."""
    at = event.end
    if not direct and TAG.match(text, BEFORE_QUOTE.match(text, at).end()):
        return  # "§5.1 — [TAG] …": the tag's event has the quote
    begin = BEFORE_QUOTE.match(text, at).end()
    if not (begin < len(text) and text[begin] in OPENING) or BLANK.search(text, at, begin + 1):
        if direct:
            return
        dash = SEPARATOR.match(text, at)
        limit = next_boundary(text, dash.end() if dash else at)
        begin = later_quote(text, dash.end() if dash else at, limit if dash else min(limit, at + NEAR))
        if begin is None and not dash:
            return
        if begin is None:
            formula = text[dash.end() : limit].strip()
            event.formula = " ".join(formula.split())[:LONGEST_FORMULA] or None
            event.end = max(event.end, dash.end())
            return
    while begin < len(text) and text[begin] in OPENING:
        end = quote_end(text, begin)
        if end is None:
            limit = next_boundary(text, begin + 1)
            event.quotes.append((tidy(text[begin + 1 : limit]), begin, limit))
            event.unclosed, event.end = True, limit
            return
        event.quotes.append((tidy(text[begin + 1 : end - 1]), begin, end))
        event.end = end
        between = BETWEEN_QUOTES.match(text, end)
        if BLANK.search(between.group()):
            return
        begin = between.end()


def tidy(quote: str) -> str:
    return " ".join(quote.split())


def next_boundary(text: str, at: int) -> int:
    """Where the statement that goes on at `at` ends: a blank line, a tag, a place that begins a line, a sentence's end."""
    stops = [len(text), at + 4 * LONGEST_FORMULA]
    for pattern in (BLANK, TAG, SENTENCE):
        if found := pattern.search(text, at):
            stops.append(found.start())
    for found in PLACE.finditer(text, at, min(stops)):
        if LINE_START.search(text[: found.start()]):
            stops.append(found.start())
            break
    return min(stops)


def later_quote(text: str, at: int, limit: int) -> int | None:
    """A quote of three words or more further on in the statement; shorter ones are words in quotation marks."""
    for found in re.finditer(rf"(?<![\w])[{OPENING}](?=\S)", text[:limit][at:]):
        begin = at + found.start()
        end = quote_end(text, begin)
        if end is not None and len(text[begin:end].split()) >= 3:
            return begin
    return None


def quote_end(text: str, begin: int) -> int | None:
    """Just after the mark that closes the quote opened at `begin`; quotes inside quotes are stepped over. None: never closed."""
    opening = text[begin]
    limit = min(len(text), begin + LONGEST_QUOTE)
    limit = blank.start() if (blank := BLANK.search(text, begin, limit)) else limit
    if opening != '"' and any(0 < text.find(mark, begin, limit) for mark in CLOSING[opening] if mark != '"'):
        closers = CLOSING[opening].replace('"', "")  # straight marks inside are the paper's
    else:
        closers = CLOSING[opening]
    depth, last = 1, None
    at = begin + 1
    while at < limit:
        char = text[at]
        if char in closers:
            before, after = text[at - 1], text[at + 1] if at + 1 < len(text) else " "
            inner = char == '"' and (before.isspace() or before in "([\u2014") and not after.isspace() and at != begin + 1
            if inner and opening == '"' and has_closer(text, at, limit):
                depth += 1
            elif not inner or opening != '"':
                depth -= 1
                last = at + 1
                if depth == 0:
                    return last
        elif char in "\u201c\u201e\u00ab" and char == opening or opening == '"' and NESTED.match(text, at, limit):
            depth += 1
        at += 1
    return last


def has_closer(text: str, at: int, limit: int) -> bool:
    """Whether what looks like an opening mark at `at` has two closing ones after it: its own and the outer one's."""
    count = 0
    for found in re.finditer('"', text[at + 1 : min(limit, at + 2000)]):
        place = at + 1 + found.start()
        before, after = text[place - 1], text[place + 1 : place + 2]
        opens = (before.isspace() or before in "([\u2014") and after and not after.isspace()
        count += -1 if opens else 1
        if count == 2:
            return True
    return False


def fields(text: str, tag: str) -> dict[str, str]:
    """The named parts of a flag's statement; the reason of an assumption may be said without naming it."""
    out: dict[str, str] = {}
    marks = list(FIELD.finditer(text))
    for mark, after in zip(marks, [*marks[1:], None], strict=False):
        value = " ".join(text[mark.end() : after.start() if after else len(text)].split()).strip(" ;.|").strip()
        if value:
            out.setdefault(FIELDS[mark["name"].lower()], value)
    if "reason" not in out and tag == "ASSUMPTION" and (because := BECAUSE.search(text)):
        out["reason"] = " ".join(text[because.start() :].split())
    if "source" not in out and tag == "FROM_OFFICIAL_CODE" and (link := re.search(r"https?://\S+[\w/]", text)):
        out["source"] = link.group()
    return out


# --- reading files into units --------------------------------------------------------------------------------------------


class Code:
    """What a Python file's syntax tree says of its lines."""

    def __init__(self, text: str, tree: ast.Module | None, comments: set[int]):
        self.lines = text.split("\n")
        self.comments = comments  # lines with nothing but a comment
        self.spans: list[tuple[int, int, str]] = []
        self.functions: set[str] = set()
        self.numbers: dict[int, list[str]] = {}
        self.assigns: dict[int, str] = {}
        self.docstrings: set[tuple[int, int]] = set()
        if tree is not None:
            self.walk(tree, "")

    def walk(self, node: ast.AST, inside: str) -> None:
        stack = [(node, inside)]
        while stack:
            node, inside = stack.pop()
            name = inside
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{inside}.{node.name}" if inside else node.name
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                self.spans.append((first, node.end_lineno or node.lineno, name))
                if not isinstance(node, ast.ClassDef):
                    self.functions.add(name)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body
                if (
                    body
                    and isinstance(body[0], ast.Expr)
                    and isinstance(body[0].value, ast.Constant)
                    and isinstance(body[0].value.value, str)
                ):
                    self.docstrings.add((body[0].value.lineno, body[0].value.col_offset))
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if is_literal(node.value) or isinstance(node.value, ast.Constant) or is_field(node.value):
                    for target in targets:
                        if isinstance(target, (ast.Name, ast.Attribute)):
                            self.assigns[node.lineno] = target.id if isinstance(target, ast.Name) else target.attr
            if isinstance(node, ast.keyword) and is_literal(node.value) and (node.arg or "") not in AXES:
                self.assigns.setdefault(node.value.lineno, node.arg or "")
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for default in (*node.args.defaults, *node.args.kw_defaults):
                    if default is not None and is_literal(default):
                        self.assigns.setdefault(default.lineno, "")
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and is_number(node.operand):
                self.numbers.setdefault(node.lineno, []).append(f"-{node.operand.value}")
                continue
            if is_number(node):
                self.numbers.setdefault(node.lineno, []).append(str(node.value))
            stack += [(child, name) for child in ast.iter_child_nodes(node)]

    def attached(self, line: int, end_line: int) -> int | None:
        """The line of code that a comment on `line` … `end_line` speaks of: its own, or the next one with code."""
        if line not in self.comments:
            return line
        for number in range(end_line + 1, min(end_line + 40, len(self.lines)) + 1):
            if number not in self.comments and self.lines[number - 1].strip():
                return number
        return None

    def owner(self, line: int, at: int | None) -> str:
        at = at or line
        inside = [(end - first, name) for first, end, name in self.spans if first <= at <= end]
        name = min(inside)[1] if inside else ""
        if self.assigns.get(at) and name not in self.functions:
            return f"{name}.{self.assigns[at]}" if name else self.assigns[at]
        return name

    def values(self, at: int) -> tuple[tuple[str, ...], bool]:
        return tuple(self.numbers.get(at, ())), at in self.assigns


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool)


def is_literal(node: ast.AST) -> bool:
    if isinstance(node, (ast.Tuple, ast.List)):
        return bool(node.elts) and all(is_literal(each) for each in node.elts)
    return is_number(node) or (isinstance(node, ast.UnaryOp) and is_number(node.operand))


def is_field(node: ast.AST) -> bool:
    """`field(default=…)` of a dataclass."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "field"


def python(text: str, name: str, first: int = 1, where: str | None = None) -> tuple[list[Unit], list[Finding], Code | None]:
    """The comments, docstrings and strings of a Python file. `first`: the line that its first line counts as."""
    findings: list[Finding] = []
    tree = None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        line = getattr(problem, "lineno", None)
        message = getattr(problem, "msg", None) or str(problem) or type(problem).__name__
        findings.append(
            Finding(
                "python-syntax",
                f"does not parse: {message}",
                name,
                line + first - 1 if line else None,
                fix=f"mend the syntax; python3 -m py_compile {name} shows it",
            )
        )
    comments: list[tuple[int, int, str, bool]] = []  # line, column, text, alone on its line
    strings: list[list[tuple[int, int, str]]] = []
    reached, run_open = 0, False
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = tokenize.tok_name[token.type]
            reached = max(reached, token.start[0])
            if kind == "COMMENT":
                comments.append((token.start[0], token.start[1], token.string, not token.line[: token.start[1]].strip()))
            elif kind in ("STRING", "FSTRING_MIDDLE", "TSTRING_MIDDLE"):
                if not run_open:
                    strings.append([])
                strings[-1].append((*token.start, token.string if kind == "STRING" else f'"{token.string}"'))
                run_open = True
            elif kind not in ("NL", "FSTRING_START", "FSTRING_END", "TSTRING_START", "TSTRING_END"):
                run_open = False
    except (tokenize.TokenError, SyntaxError, ValueError):
        for number, line in enumerate(text.split("\n")[reached:], reached + 1):  # the rest, as far as it can be told
            if found := re.search(r"(?:^|\s)#.*$", line):
                comments.append((number, found.start(), found.group().strip(), not line[: found.start()].strip()))
    alone = {line for line, _, _, lonely in comments if lonely}
    code = Code(text, tree, alone)
    units = joined_comments(comments, where or "comment")
    for run in strings:
        lines, numbers = [], []
        for line, _, literal in run:
            content = unquoted(literal)
            for number, part in enumerate(content.split("\n")):
                if number == 0 and lines and line == numbers[-1]:
                    lines[-1] += part
                    continue
                lines.append(part.strip())
                numbers.append(line + number)
        if not any(PLACE.search(part) or TAG.search(part) for part in lines):
            continue
        kind = "docstring" if run[0][:2] in code.docstrings else "string"
        at = None if kind == "docstring" else run[0][0]
        units.append(Unit("\n".join(lines), numbers, kind, at=at))
    return units, findings, code


def unquoted(literal: str) -> str:
    """A string literal's text as it was typed, without quotes; only escaped quotes and backslashes are resolved, so that
    LaTeX survives in a string that is not raw."""
    prefix, rest = re.match(r"([A-Za-z]*)(.*)", literal, re.S).groups()
    size = 3 if rest[:3] in ('"""', "'''") else 1
    body = rest[size:-size] if len(rest) >= 2 * size else rest[size:]
    if "r" in prefix.lower():
        return body
    return re.sub(r"\\(\n|[\"'\\])", lambda found: "\n" if found[1] == "\n" else found[1], body)


def joined_comments(comments: list[tuple[int, int, str, bool]], where: str) -> list[Unit]:
    """Comments as units: lines of one block together, and a comment after code with what goes on beneath it."""
    units: list[Unit] = []
    run: list[tuple[int, int, str, bool]] = []

    def close() -> None:
        if run:
            lines = [re.sub(r"^#+[:!]? ?", "", comment).strip() for _, _, comment, _ in run]
            units.append(Unit("\n".join(lines), [each[0] for each in run], where))

    for comment in comments:
        line, column, _, alone = comment
        if (
            run
            and alone
            and line == run[-1][0] + 1
            and (run[-1][3] and column == run[-1][1] or not run[0][3] and abs(column - run[0][1]) <= 2)
        ):
            run.append(comment)
            continue
        close()
        run = [comment]
    close()
    return units


class Configuration:
    """Which key each line of a YAML file belongs to, and its scalar."""

    def __init__(self, text: str, comments: set[int]):
        self.lines, self.comments = text.split("\n"), comments
        self.keys: dict[int, str] = {}
        self.scalars: dict[int, list[str]] = {}

    attached = Code.attached

    def owner(self, line: int, at: int | None) -> str:
        return self.keys.get(at or line, "")

    def values(self, at: int) -> tuple[tuple[str, ...], bool]:
        return tuple(self.scalars.get(at, ())), True


def configuration(text: str, name: str) -> tuple[list[Unit], list[Finding], Configuration]:
    """The comments and the string values of a YAML file."""
    findings: list[Finding] = []
    covered: dict[int, list[tuple[int, int]]] = {}
    values: list[yaml.ScalarNode] = []
    facts = Configuration(text, set())
    lines = text.split("\n")
    try:
        for document in yaml.compose_all(text, Loader=yaml.SafeLoader):
            walk_yaml(document, facts, values)
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        mark = getattr(problem, "problem_mark", None)
        message = getattr(problem, "problem", None) or str(problem).split("\n")[0] or type(problem).__name__
        findings.append(
            Finding(
                "yaml-syntax",
                f"does not parse: {message}",
                name,
                mark.line + 1 if mark else None,
                fix="mend the YAML; tabs may not indent",
            )
        )
    for node in values:
        for number in range(node.start_mark.line, node.end_mark.line + 1):
            begin = node.start_mark.column if number == node.start_mark.line else 0
            end = node.end_mark.column if number == node.end_mark.line else len(lines[number]) if number < len(lines) else 0
            if node.style in ("|", ">") and number == node.start_mark.line:
                continue
            covered.setdefault(number, []).append((begin, end))
    comments = []
    for number, line in enumerate(lines):
        for found in re.finditer(r"(?:^|(?<=\s))#", line):
            if not any(begin <= found.start() < end for begin, end in covered.get(number, ())):
                comments.append((number + 1, found.start(), line[found.start() :], not line[: found.start()].strip()))
                break
    facts.comments |= {line for line, _, _, alone in comments if alone}
    units = joined_comments(comments, "yaml")
    for node in values:
        if node.value and (PLACE.search(node.value) or TAG.search(node.value)):
            first = node.start_mark.line + 1
            count = node.value.count("\n") + 1
            last = max(first, node.end_mark.line + 1)
            units.append(Unit(node.value, [min(first + n, last) for n in range(count)], "string", at=first))
    return units, findings, facts


def walk_yaml(node: yaml.Node | None, facts: Configuration, values: list[yaml.ScalarNode]) -> None:
    stack: list[tuple[yaml.Node | None, str]] = [(node, "")]
    seen: set[int] = set()
    while stack:
        node, key = stack.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                inner = f"{key}.{name.value}" if key else str(name.value)
                facts.keys.setdefault(name.start_mark.line + 1, inner)
                stack.append((value, inner))
        elif isinstance(node, yaml.SequenceNode):
            stack += [(value, key) for value in node.value]
        elif isinstance(node, yaml.ScalarNode):
            values.append(node)
            facts.keys.setdefault(node.start_mark.line + 1, key)
            if node.tag != "tag:yaml.org,2002:null":
                facts.scalars.setdefault(node.start_mark.line + 1, []).append(node.value)


def markdown(text: str, name: str, first: int = 1, cell: int | None = None) -> tuple[list[Unit], list[Finding], None]:
    """A Markdown text by paragraphs; each row of a table alone, its cells in an order that puts places before quotes. Fenced
    blocks are passed over: what they show is code, whose own file is read."""
    units: list[Unit] = []
    run: list[tuple[int, str]] = []
    fence = ""

    def close() -> None:
        if run:
            units.append(Unit("\n".join(line for _, line in run), [number for number, _ in run], "markdown", cell=cell))
        run.clear()

    for number, line in enumerate(text.split("\n"), first):
        bare = re.sub(r"^\s*(?:>\s?)+", "", line).strip()
        opened = re.match(r"(`{3,}|~{3,})", bare)
        if fence:
            fence = "" if bare.startswith(fence) else fence
        elif opened:
            close()
            fence = opened.group()
        elif not bare:
            close()
        elif bare.startswith("|") and bare.count("|") > 2:
            close()
            cells = [each.strip().replace("\\|", "|") for each in re.split(r"(?<!\\)\|", bare.strip("|"))]
            placed = [each for each in cells if PLACE.match(each.lstrip("*_`( "))]
            quoted = [each for each in cells if each[:1] in OPENING]
            if placed and quoted and len(placed) == 1:
                rest = [each for each in cells if each not in placed and each not in quoted]
                cells = [f"{placed[0]} — " + " ".join(quoted), *rest]
            units.append(Unit(" | ".join(cells), [number], "markdown", cell=cell))
        else:
            if re.match(r"(?:[-*+]|\d+[.)])\s", bare) or bare.startswith("#"):
                close()
            run.append((number, bare))
    close()
    return units, [], None


def hashed(text: str, name: str) -> tuple[list[Unit], list[Finding], None]:
    """Comments of a plain text file such as requirements.txt."""
    comments = [
        (number, found.start(), found.group().strip(), not line[: found.start()].strip())
        for number, line in enumerate(text.split("\n"), 1)
        if (found := re.search(r"(?:^|(?<=\s))#.*$", line))
    ]
    return joined_comments(comments, "comment"), [], None


def notebook(text: str, name: str) -> tuple[list[Unit], list[Finding], None]:
    """The cells of a notebook. Lines are those of the file where they can be found in it."""
    try:
        data = json.loads(text)
        cells = data["cells"]
        sources_of = ["".join(cell["source"]) if isinstance(cell["source"], list) else str(cell["source"]) for cell in cells]
        kinds = [str(cell.get("cell_type")) for cell in cells]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        line = getattr(problem, "lineno", None)
        return (
            [],
            [
                Finding(
                    "notebook-unreadable",
                    f"is not a notebook: {problem or type(problem).__name__}",
                    name,
                    line,
                    expected="the JSON of a version 4 notebook",
                    fix="write it with nbformat",
                )
            ],
            None,
        )
    raw = text.split("\n")
    units: list[Unit] = []
    findings: list[Finding] = []
    reached = 0
    for number, (source, kind) in enumerate(zip(sources_of, kinds, strict=True), 1):
        where = []
        for part in source.split("\n"):
            wanted = {json.dumps(part)[1:-1], json.dumps(part, ensure_ascii=False)[1:-1]}
            hit = next(
                (
                    at
                    for at in range(reached, min(reached + 4000, len(raw)))
                    if part and any(raw[at].strip().startswith(f'"{each}') for each in wanted)
                ),
                None,
            )
            if hit is not None:
                reached = hit + 1 if len(raw) > 1 else 0
            where.append((hit if hit is not None else min(reached, len(raw) - 1)) + 1)
        if kind == "markdown":
            inner, _, _ = markdown(source, name, cell=number)
        elif kind == "code":
            plain = re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.M)
            inner, problems, _ = python(plain, name)
            findings += [
                replace(
                    problem,
                    line=where[problem.line - 1] if problem.line and problem.line <= len(where) else None,
                    message=f"cell {number} {problem.message}",
                )
                for problem in problems
            ]
        else:
            continue
        for unit in inner:
            at = [where[line - 1] if line <= len(where) else where[-1] for line in unit.lines]
            units.append(Unit(unit.text, at, unit.where, code=f"cell {number}", cell=number))
    return units, findings, None
