"""A printed count as what a check can hold: "65" under the header "×10^6" is 65,000,000, give or take half of the last digit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from paper2code.check.contribution import Contribution
from paper2code.check.ledger import Item
from paper2code.check.places import Places
from paper2code.find import values
from paper2code.paper import Paper, Table

PARAMETERS = re.compile(r"\bparam(?:eter)?s?\b", re.I)
POWER = re.compile(r"10\s*(?:\^|\*\*)\s*\{?\s*(\d{1,2})|10([⁰¹²³⁴⁵⁶⁷⁸⁹]+)|\b1e\+?0?(\d{1,2})\b")
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
WORDS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "k": 3, "m": 6, "mio": 6, "b": 9, "bn": 9, "t": 12}
WORD = re.compile(r"\b(thousand|million|billion|trillion)s?\b", re.I)
LETTER = re.compile(r"[(\[]\s*(?:in\s+)?(K|M|Mio|B|Bn|T)\.?\s*[)\]]|\b([KMBT])\s*(?=#?\s*param)")  # "(M)", "M params"


@dataclass(frozen=True)
class Count:
    """`value`: what is forecast; `within`: how far the built thing may be from it; `why`: where both come from."""

    value: int
    within: int
    why: str


def unit_of(text: str) -> int:
    """The unit that a header or caption names ("×10^6", "(M)", "in millions"); 1 where it names none."""
    if found := POWER.search(text):
        return 10 ** int((found.group(1) or found.group(2) or found.group(3)).translate(SUPERSCRIPTS))
    if found := WORD.search(text):
        return 10 ** WORDS[found.group(1).lower()]
    if found := LETTER.search(text):
        return 10 ** WORDS[(found.group(1) or found.group(2)).lower()]
    return 1


def half(printed: str) -> Decimal:
    """Half of the last digit that is printed: 0.5 for "65", 0.05 for "65.4"; 0 for "1,234,567", which is not rounded."""
    digits = re.sub(r"[^\d.]", "", printed)
    if "." in digits:
        return Decimal(5).scaleb(-len(digits.split(".")[1]) - 1)
    zeros = len(digits) - len(digits.rstrip("0"))
    return Decimal(5).scaleb(zeros - 1) if zeros >= 3 else Decimal(0)


def headers(table: Table, printed: Decimal) -> Iterator[str]:
    """What stands above each cell that holds the number: the header's rows, up to the first row that is mostly numbers."""

    def number(cell: str) -> list[values.Number]:
        return [] if POWER.search(cell) else values.numbers(cell)

    def mostly(row: list[str]) -> bool:
        return 0 < sum(map(bool, row[1:])) <= 2 * sum(bool(number(cell)) for cell in row[1:])

    body = next((n for n, row in enumerate(table.rows) if mostly(row)), len(table.rows))
    for row in table.rows[body:]:
        for column, cell in enumerate(row):
            if any(each.equals(printed) for each in number(cell)):
                yield " ".join(above[column] for above in table.rows[:body] if column < len(above))
        # A table on its side names what it counts at the row's start.
        if row and any(each.equals(printed) for cell in row[1:] for each in number(cell)):
            yield row[0]


def count_of(item: Item, paper: Paper, contribution: Contribution) -> Count | None:
    """The parameter count that a decision states. None where its unit cannot be known, so that no check can be laid.

    The minimal claim's own value and (relative) tolerance go first where it speaks of parameters. Else the unit is looked for in
    the quote ("65M"), then above the number in the table that is cited, then in the table's caption.
    """
    claim = contribution.get("minimal_claim")
    if isinstance(claim, dict) and isinstance(claim.get("value"), (int, float)) and PARAMETERS.search(f"{claim.get('claim')} {claim.get('check')}"):
        value, share = claim["value"], float(claim.get("tolerance") or 0)
        return Count(round(value), round(abs(value) * share), f"the minimal claim, to {share:.3g} of it")
    if not item.numbers():
        return None
    stated = Decimal(str(item.numbers()[0]))
    said = [each for each in values.numbers(item.quote) if each.value > 0]
    # The quote names the unit: the ledger's value may be with it (65000000) or without (65).
    for each in said:
        mantissa = next(iter(re.findall(r"\d[\d,]*(?:\.\d+)?", each.text)), "")
        if not mantissa or stated not in (each.value, Decimal(mantissa.replace(",", ""))):
            continue
        if (unit := each.value / Decimal(mantissa.replace(",", ""))) > 1:
            return rounded(Decimal(mantissa.replace(",", "")), unit, half(mantissa) or Decimal("0.5"), f"as printed: {each.text}")
    found = Places(paper).resolve(item.where)
    tables = [table for table in paper.tables if table.id in found.items]
    for printed, text in [*((each.value, each.text) for each in said), (stated, str(item.numbers()[0]))]:
        for table in tables:
            above = sorted(headers(table, printed), key=lambda text: not PARAMETERS.search(text))
            caption = table.caption if PARAMETERS.search(table.caption) else ""
            unit = next((unit for text in [*above[:1], caption] if (unit := unit_of(text)) > 1), 1)
            if unit > 1 and stated in (printed, printed * unit):
                return rounded(printed, Decimal(unit), half(text) or Decimal("0.5"), f"{text} in units of {unit:,}")
    text = next((each.text for each in said if each.value == stated), str(item.numbers()[0]))
    if stated != int(stated) or stated < 1000:
        return None
    return rounded(stated, Decimal(1), half(text), "as printed")


def rounded(printed: Decimal, unit: Decimal, within: Decimal, why: str) -> Count:
    return Count(int(printed * unit), int(within * unit), why)
