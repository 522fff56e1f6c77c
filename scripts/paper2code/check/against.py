"""A ledger, a contribution or a result held against the paper: places, quotes, and the values that a cited place states."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from paper2code.check import census, contribution, ledger, numbers
from paper2code.check.contribution import Contribution
from paper2code.check.ledger import NOT_APPLICABLE, PARTIALLY, SPECIFIED, Item, Ledger
from paper2code.check.outcome import Outcome
from paper2code.check.places import Places
from paper2code.check.quotes import (
    CITED,
    DEFERRED,
    NO_SUCH_PLACE,
    VERIFIED,
    Matcher,
    Verdict,
)
from paper2code.find import checklist
from paper2code.find.contradictions import Contradiction, contradictions
from paper2code.find.statements import Statement
from paper2code.find.sweep import Sweep, sweep
from paper2code.findings import WARNING, Finding
from paper2code.paper import Equation, Paper

REVIEWED_AT_LEAST = 8


def domains() -> tuple[str, ...]:
    """The kinds of paper that have a checklist of their own."""
    return tuple(checklist.load().kinds)


def wanted_items(paper: Paper, kinds: list[str]) -> list[checklist.Item]:
    """The checklist of a paper: the points for every paper and those of its kinds (as the contribution names them, else as
    the paper's own words show them)."""
    whole = checklist.load()
    mine = set(kinds) or set(whole.kinds_of(paper))
    return [item for item in whole.items if not item.kinds or mine & set(item.kinds)]


class Against:
    """One paper, indexed once, for all checks that ask it something."""

    def __init__(self, paper: Paper, matcher: Matcher | None = None):
        self.paper = paper
        self.matcher = matcher or Matcher(paper)
        self.places: Places = self.matcher.places
        self.texts: dict[str, str] = {}

    @cached_property
    def swept(self) -> Sweep:
        """The evidence sweep of the paper."""
        return sweep(self.paper)

    @cached_property
    def contradicted(self) -> list[Contradiction]:
        """What the paper says in two ways, as the sweep sees it."""
        return contradictions(self.paper, self.swept)

    def exists(self, place: str) -> bool:
        return self.places.resolve(place).exists

    def holds(self, place: str, item: str) -> bool:
        """Whether what `item` names ("Eq. 3") stands in the chapter (§3, Appendix B) where `place` is."""
        target = self.places.resolve(place)
        ids = {*target.sections, *(getattr(self.paper.item(id), "section", None) for id in target.items)}
        chapters = {self.chapter(id) for id in ids}
        return all(self.chapter(getattr(self.paper.item(id), "section", None)) in chapters for id in self.places.resolve(item).items)

    def chapter(self, id: str | None) -> str:
        """The number of the outermost section that holds one; its id where it has no number."""
        section = self.paper.section(id) if id else None
        return (section.number or section.id).split(".")[0] if section is not None else str(id)

    def item_text(self, id: str) -> str:
        """All that an equation, table, algorithm, figure or footnote says, cells and lines one below the other."""
        if id not in self.texts:
            item = self.paper.item(id)
            pieces = (
                [item.latex or item.text or ""]
                if isinstance(item, Equation)
                else [
                    getattr(item, "caption", ""),
                    getattr(item, "text", ""),
                    *getattr(item, "lines", ()),
                    *(cell for row in getattr(item, "rows", ()) for cell in row),
                ]
            )
            self.texts[id] = "\n".join(piece for piece in pieces if piece)
        return self.texts[id]

    def states(self, text: str, value: float) -> bool:
        """Whether an equation, table, algorithm, figure caption or footnote that a text cites holds a number: with quoted words,
        in the row, column or line in which they stand."""
        quotes = census.QUOTES.findall(text)
        target = self.places.resolve(census.QUOTES.sub(" ", text))
        for id in target.items:
            item = self.paper.item(id)
            gridded = hasattr(item, "rows") or hasattr(item, "lines")
            pieces = [numbers.row_of(item, quote) for quote in quotes] if quotes and gridded else [self.item_text(id)]
            if any(census.holds(piece, value) for piece in pieces):
                return True
        return False

    def judge(self, place: str, quote: str) -> Verdict:
        return self.matcher.judge(place, quote)


def verdict_finding(verdict: Verdict, file: str, line: int, about: str = "") -> Finding | None:
    """A verdict as a finding; None when it is good. Check names: quote-moved, quote-altered, quote-missing, …"""
    told = f"{about}: " if about else ""
    if verdict.state in (VERIFIED, CITED):
        if not verdict.problems:
            return None
        # Tables and figures float: they may stand elsewhere than the section that speaks of them.
        floats = all(re.match(r"(Table|Figure|Algorithm)\b.* is in ", problem) for problem in verdict.problems)
        return Finding(
            "place-wrong",
            told + "; ".join(verdict.problems),
            file,
            line,
            severity=WARNING if floats else "error",
            fix="name the place where it is",
        )
    name = "place-missing" if verdict.state == NO_SUCH_PLACE else f"quote-{verdict.state}"
    return Finding(
        name,
        told + (verdict.message or verdict.state),
        file,
        line,
        severity=verdict.severity,
        fix=verdict.fix,
        evidence=verdict.nearest,
    )


def check_contribution(told: Contribution, against: Against) -> list[Finding]:
    """Everything that gate 2 asks of a contribution."""
    return contribution.check(
        told, known_domains=domains(), exists=against.exists, holds=against.holds, algorithms=len(against.paper.algorithms)
    )


def check_ledger(book: Ledger, paper: Paper, told: Contribution | None, outcome: Outcome, against: Against | None = None) -> Outcome:
    """Everything that gate 3 asks of a ledger, `told` being the contribution that it belongs to."""
    against = against or Against(paper)
    wanted = wanted_items(paper, told.domains if told is not None else [])
    whole = checklist.load()
    outcome.add(ledger.check_paper_named(book, paper.id, paper.version))
    outcome.add(ledger.check_rows(book), decisions=len(book.items))
    outcome.add(complete(book, wanted), **{"checklist points": len(wanted)})
    outcome.add(quotes(book, against, outcome))
    outcome.add(ledger.check_wording(book, lambda item: value_stated(item, against)))
    outcome.add(ledger.check_code(book, {part.name: part.file for part in told.components} if told is not None else {}))
    outcome.add(ledger.check_relations(book), relations=len(book.relations))
    outcome.add(ledger.check_evidence(book, evidence(against.swept, whole)))
    outcome.add(unlisted(book, against.contradicted, against))
    outcome.add(ledger.check_reuse(book))
    outcome.add(ledger.check_reviews(book, max(REVIEWED_AT_LEAST, len(book.items) // 10)))
    outcome.must_have_looked("decisions")
    counts = {status: count for status, count in book.counts().items()}
    verified = sum(entry["state"] == VERIFIED for entry in outcome.anchors)
    outcome.counts = {
        **counts,
        "quotes verified": verified,
        "contradictions": len(book.disagreements()),
        "relations": len(book.relations),
    }
    return outcome


def complete(book: Ledger, wanted: list[checklist.Item]) -> list[Finding]:
    """Every point of the checklist has a row, under its name or one of its other names."""
    have = {checklist.american(item.item) for item in book.items} | {checklist.american(item.id) for item in book.items}
    open_points = [
        (point.group, point.name) for point in wanted if not have & {checklist.american(name) for name in (point.name, *point.also)}
    ]
    if not wanted:
        return ledger.check_complete(book, [])
    return ledger.check_complete(book, open_points) if open_points else []


def unlisted(book: Ledger, seen: list[Contradiction], against: Against) -> list[Finding]:
    """Two values for one quantity that the sweep saw and no row of the ledger's contradictions settles."""

    def covers(where: str, statement: Statement) -> bool:
        target = against.places.resolve(where)
        return statement.item in target.items or statement.section in target.sections

    pairs = [
        tuple(str((row.fields.get(side) or {}).get("where", "")) for side in ("first", "second") if isinstance(row.fields.get(side), dict))
        for row in book.contradictions
    ]
    out = []
    for one in seen:
        sides = (one.first.statement, one.second.statement)
        if any(len(pair) == 2 and (all(map(covers, pair, sides)) or all(map(covers, pair, sides[::-1]))) for pair in pairs):
            continue
        sure = one.strength == "likely"
        out.append(
            Finding(
                "ledger-contradiction-unlisted",
                f"{one.about}: {one.first.value} in {sides[0].place}, {one.second.value} in {sides[1].place}",
                book.file,
                book.contradictions[0].line if book.contradictions else 1,
                severity="error" if sure else WARNING,
                expected="a row under contradictions: with both quotes, the decision and why (or no_contradiction: why both hold)",
                fix=f"read both places; {one.rule}; where they speak of different things, no_contradiction says so",
                evidence=f"{sides[0].text[:140]} / {sides[1].text[:140]}",
            )
        )
    return out


def evidence(found, whole: checklist.Checklist) -> Callable[[str], list[tuple[str, str]]]:
    """For a ledger's item name: what the sweep found stated of it, as (section, sentence)."""

    def look(name: str) -> list[tuple[str, str]]:
        point = whole.find(name)
        if point is None:
            return []
        return [
            (entry.statement.place.split(",")[0], entry.statement.text)
            for entry in found.states(point.name)
            if entry.statement.place and any(value.sure for value in entry.values)
        ]

    return look


def value_stated(item: Item, against: Against) -> bool | None:
    """Whether a row's value stands in its quote or in the item it cites; None when the value cannot be looked for."""
    given = item.numbers()
    if given:
        return all(census.holds(item.quote, number) or against.states(cited(item), number) for number in given)
    if isinstance(item.value, str) and item.value:
        return ledger.name_key(item.value) in ledger.name_key(item.quote)
    return None


def cited(item: Item) -> str:
    """A row's place and quote as an anchor has them."""
    quote = item.quote.replace('"', " ")
    return f'{item.where} — "{quote}"' if quote else item.where


def quotes(book: Ledger, against: Against, outcome: Outcome) -> list[Finding]:
    """Every quote is where its row says, and holds the row's numbers. Fills `outcome.anchors`."""
    out: list[Finding] = []
    for item in book.items:
        if item.status == NOT_APPLICABLE or not (item.where or item.quote):
            continue
        verdict = against.judge(item.where, item.quote)
        outcome.anchors.append(entry(book.file, item.at("quote"), item.where, "ledger", verdict, item.id))
        if finding := verdict_finding(verdict, book.file, item.at("quote"), item.id):
            out.append(finding)
        elif verdict.state == CITED and item.status in (SPECIFIED, PARTIALLY) and not item.quote:
            continue  # the missing quote is told by the row's own check
        if item.status in (SPECIFIED, PARTIALLY) and item.quote:
            missing = [
                number for number in item.numbers() if not census.holds(item.quote, number) and not against.states(cited(item), number)
            ]
            if missing and item.status == SPECIFIED:
                out.append(
                    Finding(
                        "ledger-number",
                        f"{item.id}: {', '.join(f'{n:g}' for n in missing)} is not in the quote",
                        book.file,
                        item.at("value"),
                        expected="a quote (or a table cell, equation or caption cited) that states the number",
                        fix="quote the words that give it; what has to be worked out is PARTIALLY_SPECIFIED, with a relation",
                        evidence=item.quote[:200],
                    )
                )
    for row in book.contradictions:
        for side in ("first", "second"):
            given = row.fields.get(side)
            if isinstance(given, dict) and given.get("quote") and not given.get("source"):
                verdict = against.judge(str(given.get("where") or ""), str(given["quote"]))
                outcome.anchors.append(
                    entry(book.file, row.line, str(given.get("where") or ""), "ledger", verdict, str(row.fields.get("about")))
                )
                finding = verdict_finding(
                    verdict, book.file, row.lines.get(side, row.line), f"contradiction about {row.fields.get('about')}, {side}"
                )
                if finding and verdict.state != DEFERRED:
                    out.append(finding)
    for row in book.relations:
        place = str(row.fields.get("where") or "")
        if place and not against.exists(place):
            out.append(
                Finding("place-missing", f"relation {row.fields.get('about')}: there is no {place} in the paper", book.file, row.line)
            )
    return out


def entry(file: str, line: int | None, place: str, kind: str, verdict: Verdict, id: str = "") -> dict:
    """One place-and-quote pair as design 8 has it, with the id of the decision where it is a ledger's."""
    out = {
        "file": file,
        "line": line,
        "place": place,
        "kind": kind,
        "quote": verdict.quote or None,
        "state": verdict.state,
        "found_at": verdict.found_at,
        "page": verdict.page,
        "bbox": list(verdict.bbox) if verdict.bbox else None,
    }
    return {**out, "id": id} if id else out
