"""Characters written as text: powers and indices, accents, and what of a fraction or root begins and ends at them."""

from __future__ import annotations

import re
import unicodedata

from paper2code.read.pdfparts import texfonts
from paper2code.read.pdfparts.engine import Char

FRACTION, HALF, ROOT = r"\frac{", "}{", r"\sqrt{"
SMALL = 0.89  # of a size: what is no larger is a script beside it
# Text that TeX fonts give as a separate accent before or after its letter: ´e, ¨u.
ACCENTS = {"´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c", "˚": "\u030a", "¸": "\u0327",
           "¯": "\u0304", "˘": "\u0306", "˙": "\u0307"}
POWER = re.compile(r"(?=.*[0-9])[0-9A-Za-z+\-−–/().,]+$")
MARK = re.compile(r"[†‡§¶′,.♠♣♦♥⋄∘°]+$")  # of notes, and what is written beside its letter
STAR = re.compile(r"[∗*⋆,]+$")
BRACKETED = re.compile(r"[(\[{⟨][^()\[\]{}⟨⟩]+[)\]}⟩]$")
SIGN = re.compile(rf"[\w+−∗*⊤⊺/∼]+$|{BRACKETED.pattern}")


HANGING = "√∑∏∫∮⋂⋃∐⎧⎨⎩⎪⎫⎬⎭⎛⎝⎞⎠⎡⎣⎤⎦⎜⎟⎢⎥\ufffd"  # signs set from the top, whose baseline is not the line's


def hanging(char: Char) -> bool:
    return char.text in HANGING or texfonts.hangs(char.font.name)


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("ı", "i"))


def written(char: Char) -> str:
    """A character with what begins and ends at it."""
    return char.opens + ("" if char.opens.endswith(ROOT) else char.text) + char.closes


def text_of_chars(chars: list[Char], base: float, size: float) -> str:
    out = ""
    held: list[Char] = []  # raised or lowered characters that follow each other, and what stands raised or lowered beside those
    where = 0  # 1 raised, -1 lowered: where `held` stands
    under: list[Char] = []  # the characters at full height so far; the last is what raised and lowered ones stand on

    def close(following: Char | None = None) -> None:
        nonlocal out, held
        if held:
            indexed = where > 0 and following is not None and following.font.size <= SMALL * size and following.base > base + 0.08 * size
            out += script(held, where, under, indexed)
        held = []

    for char in chars:
        if held and char.font.size <= SMALL * held[0].font.size and abs(char.base - held[0].base) < held[0].font.size:
            held.append(char)
            continue
        small = char.font.size <= SMALL * size and not hanging(char)
        at = 0 if not small else 1 if char.base < base - 0.2 * size else -1 if char.base > base + 0.08 * size else 0
        if at != where:
            close(char)
            where = at
        if at:
            held.append(char)
            continue
        accent = ACCENTS.get(out[-1:]) if out else None
        if accent and char.text.isalpha() and not char.font.math:
            out = out[:-1] + char.opens + normal(char.text + accent) + char.closes
        else:
            out += written(char)
        under.append(char)
    close()
    return out


def script(held: list[Char], where: int, under: list[Char], indexed: bool = False) -> str:
    """What stands raised (1) or lowered (-1) beside the last of `under`, marked as such where that is what it is: a note's or
    citation's mark beside a word is none, nor is a ± with what follows it. `indexed`: an index stands under it."""
    text = "".join(char.text for char in held)
    tail = "" if any(char.opens for char in held) else held[-1].closes  # what ends there began before
    held = [*held[:-1], held[-1]._replace(closes=held[-1].closes[:len(held[-1].closes) - len(tail)])]
    inner = text_of_chars(held, held[0].base, held[0].font.size)
    if not under:
        return inner + tail
    on = under[-1]
    digit = on.text[-1] in "0123456789"
    name = on.text.isalpha() and (len(under) < 2 or not under[-2].text.isalpha() or under[-2].font.name != on.font.name)  # a letter alone
    formula = any(char.font.math and not STAR.match(char.text) for char in held)  # signs of a mathematics font
    if where < 0:
        marked = re.search(r"[\w∞∗⊤⊥]", text) and not (digit and text[0] in "±(+−-↑↓,.")
    elif MARK.match(text) or text[0] in "±↑↓":
        marked = False
    elif indexed and on.text.isalnum() or on.font.math and not digit:
        marked = True
    elif digit or on.text[-1] in ")]}":
        marked = POWER.match(text) or formula
    else:
        marked = formula or name and not text.isdigit() and SIGN.match(text)
    return (("^{" if where > 0 else "_{") + inner + "}" if marked else inner) + tail
