"""Characters → words → lines, in stream order; and lines back to running text (hyphens, ligatures, powers)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, takewhile

from paper2code.read.pdfparts import parts
from paper2code.read.pdfparts.engine import Char, Font, Page
from paper2code.read.pdfparts.written import ACCENTS, FRACTION, HALF, ROOT, SMALL, hanging, normal, text_of_chars


@dataclass
class Word:
    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    size: float
    chars: list[Char] = field(default_factory=list, repr=False)

    @property
    def font(self) -> Font:
        return self.chars[0].font


@dataclass
class Line:
    """Words on one baseline, sub- and superscripts among them. `size` and `base` are those of its largest letters (if more
    than a few), `main` the size of most; `bold`, `italic`, `mono`, `math` are shares of its letters."""

    page: int
    words: list[Word]
    base: float = 0.0
    size: float = 0.0
    main: float = 0.0
    bold: float = 0.0
    italic: float = 0.0
    mono: float = 0.0
    math: float = 0.0
    x0: float = 0.0
    y0: float = 0.0
    x1: float = 0.0
    y1: float = 0.0
    index: int = 0  # its place among the paper's lines
    region: str | None = None  # the layout's name for where it lies
    region_at: int = -1
    role: str | None = None  # what a part of the reader took it for

    def __post_init__(self):
        self.measure()

    def measure(self) -> None:
        chars = [char for word in self.words for char in word.chars]
        letters: dict[float, int] = {}
        bases: dict[float, dict[float, int]] = {}
        total = len(chars) or 1
        for char in chars:
            if not hanging(char):
                size, base = round(char.font.size, 1), round(char.base, 1)
                letters[size] = letters.get(size, 0) + 1
                at = bases.setdefault(size, {})
                at[base] = at.get(base, 0) + 1
        if not letters:
            size = round(chars[0].font.size, 1)
            letters, bases = {size: 1}, {size: {round(chars[0].base, 1): 1}}
        # The line's size is that of its largest letters, unless they are one or two of many (a drop capital, a big sign).
        most = max(letters.values())
        self.size = max(size for size, count in letters.items() if count >= min(most, max(2, 0.04 * len(chars))))
        self.main = max(letters, key=lambda size: (letters[size], size))
        self.base = max(bases[self.size].items(), key=lambda at: at[1])[0]
        fonts = [c.font for c in chars if c.text.isalnum()] or [c.font for c in chars]
        count = len(fonts) or 1
        self.bold = len([font for font in fonts if font.bold]) / count
        self.italic = len([font for font in fonts if font.italic and not font.math]) / count
        self.mono = len([char for char in chars if char.font.mono]) / total
        self.math = len([char for char in chars if char.font.math]) / total
        self.x0 = min(w.x0 for w in self.words)
        self.x1 = max(w.x1 for w in self.words)
        self.y0 = min(w.y0 for w in self.words)
        self.y1 = max(w.y1 for w in self.words)

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def bbox(self) -> list[float]:
        return [round(self.x0, 1), round(self.y0, 1), round(self.x1, 1), round(self.y1, 1)]

    @property
    def hyphen(self) -> bool:
        last = self.words[-1].chars[-1]
        return last.text in "-‐" and len(self.words[-1].text) > 1


def word_of(chars: list[Char]) -> Word:
    text = ""
    main = chars[0]
    _, x0, y0, x1, y1, *_ = main
    before = main
    for char in chars:
        if before.closes.endswith(HALF):
            text += "/"
        before = char
        accent = ACCENTS.get(text[-1]) if text else None
        if accent and char.text.isalpha() and chars[0].font.size and not char.font.math:
            text = text[:-1] + normal(char.text + accent)
        else:
            text += char.text
        if char.font is not main.font and char.font.size > main.font.size:
            main = char
        if char.x0 < x0:
            x0 = char.x0
        if char.y0 < y0:
            y0 = char.y0
        if char.x1 > x1:
            x1 = char.x1
        if char.y1 > y1:
            y1 = char.y1
    return Word(text, x0, y0, x1, y1, main.base, main.font.size, chars)


def same_line(line: list[Char], base: float, size: float, char: Char) -> bool:
    """Whether `char` goes on the line so far, whose main letters stand at `base` in `size`."""
    last = line[-1]
    if last.closes.endswith(HALF):
        return True
    gap = char.x0 - last.x1
    big = max(size, char.font.size)
    if gap < 0 and max(char.font.size, last.font.size) <= SMALL * size and last.base < base - 0.15 * size < base + 0.08 * size < char.base:
        # An index under a power goes back to where the power began.
        at = len(line) - 1
        while at > 0 and line[at - 1].base < base - 0.15 * size and line[at - 1].font.size <= SMALL * size:
            at -= 1
        if abs(char.x0 - line[at].x0) < 0.35 * size and char.base < base + 0.55 * size:
            return True
    if char.text >= "\u0590" and last.text >= "\u0590" and leftwards(char.text) and leftwards(last.text):
        # PDFium gives a word's letters as they are read, one left of the other, and the words as they stand: the next begins far right.
        gap = last.x0 - char.x1 if char.x1 <= last.x1 + 0.5 * big else 0.0 if char.x0 - last.x1 <= 14 * big else gap
    if gap > 4 * big and last.font.size <= SMALL * size and last.base > base + 0.08 * size:  # an index under a long power
        gap = char.x0 - max(other.x1 for other in line[-24:])
    if gap > 4 * big or gap < -1.2 * big:
        # A step back within the width of what stands there: an accent, a limit above or below, a fraction's part.
        return False
    if abs(char.base - base) <= 0.12 * big:
        return True
    small = char.font.size <= 0.89 * size
    if small and gap < 0.9 * size and base - 0.85 * size <= char.base <= base + 0.55 * size:
        return True
    # The line began with something small (a note's mark) and now its letters come.
    if size <= 0.89 * char.font.size and len(line) <= 6 and gap < 0.9 * big and -0.3 * big <= char.base - base <= 0.75 * big:
        return True
    # A sign of the extension font (big brackets, sums, roots) hangs from its own baseline.
    if hanging(char) and gap < 0.9 * big:
        middle = (char.y0 + char.y1) / 2
        return base - 1.1 * size <= middle <= base + 0.5 * size
    if hanging(last) and len(line) == 1 and gap < 0.9 * big:
        return last.y0 <= char.base <= last.y1 + 0.3 * big
    return False


@lru_cache(maxsize=4096)
def leftwards(text: str) -> bool:
    """Whether a character is of a script that runs to the left (Hebrew, Arabic)."""
    return unicodedata.bidirectional(text[0]) in ("R", "AL")


def read_leftwards(words: list[Word]) -> list[Word]:
    """Words in the order in which they are read where several of a script that runs to the left stand side by side."""
    out: list[Word] = []
    for right, group in groupby(words, key=lambda word: leftwards(word.text)):
        side = list(group)
        out += sorted(side, key=lambda word: -word.x0) if right else side
    return out


def lines_of(page: Page) -> list[Line]:
    """The page's lines in stream order."""
    out: list[Line] = []
    run: list[Char] = []
    base = size = 0.0

    def close():
        if run:
            words, word = [], []
            for char in run:
                if word and parted(word[-1], char) and not one_script(word, char, base, size):
                    words.append(word_of(word))
                    word = []
                word.append(char)
            words.append(word_of(word))
            out.append(Line(page.number, read_leftwards(words) if any(leftwards(w.text) for w in words if w.text >= "\u0590") else words))

    over: Char | None = None  # an accent that was drawn before its letter
    chars = parts.marked(page)
    for char, following in zip(chars, [*chars[1:], None], strict=False):
        if char.text in ACCENTS:
            if following is not None and stands_over(char, following):
                over = char
                continue
            wide = run and char.font.math and char.y1 < run[-1].y0 + 1 and run[-1].x0 - 0.5 <= (char.x0 + char.x1) / 2 <= run[-1].x1 + 0.5
            if run and (wide or not char.font.math) and put_over(run, char):
                continue
        if over is not None:
            char = with_accent(char, over)._replace(space=char.space or over.space)
            over = None
        if run and same_line(run, base, size, char):
            if len(run) == 1 and hanging(run[0]):
                base, size = char.base, char.font.size
            run.append(char)
            if char.font.size > 1.15 * size and not (char.font.math and char.text in "√∑∏∫()[]{}|"):
                base, size = char.base, char.font.size
            continue
        close()
        run, base, size = [char], char.base, char.font.size
    close()
    return out


def stands_over(accent: Char, letter: Char) -> bool:
    """Whether an accent is raised over the letter drawn next, as TeX sets a hat on an f or a caron on a C."""
    middle = (accent.x0 + accent.x1) / 2
    return (letter.text.isalpha() and letter.x0 - 0.5 <= middle <= letter.x1 + 0.5
            and 0.12 * letter.font.size < letter.base - accent.base < 0.6 * letter.font.size)


def put_over(run: list[Char], accent: Char) -> bool:
    """Put an accent drawn by itself over the letter of the line that it stands above, when there is one before its last."""
    middle = (accent.x0 + accent.x1) / 2
    for at in range(len(run) - 1, -1, -1):
        char = run[at]
        if char.x0 - 0.5 <= middle <= char.x1 + 0.5 and char.text.isalpha() and abs(char.base - accent.base) < 0.6 * char.font.size:
            run[at] = with_accent(char, accent)
            return True
    return False


def with_accent(letter: Char, accent: Char) -> Char:
    return letter._replace(text=normal(letter.text + ACCENTS[accent.text]), opens=accent.opens + letter.opens, closes=letter.closes + accent.closes)


def one_script(word: list[Char], char: Char, base: float, size: float) -> bool:
    """Whether a character goes on what a word ends in, raised or lowered on a line of that base and size: what stands between them is
    thin space. Scripts of that script may stand between."""
    if char.font.size > SMALL * size or -0.2 * size <= char.base - base <= 0.08 * size:
        return False
    scripts = list(takewhile(lambda last: last.font.size <= SMALL * size, reversed(word)))
    if not scripts or char.x0 - max(last.x1 for last in scripts) >= 0.35 * size:
        return False
    for last in scripts:
        if abs(char.base - last.base) < 0.1 * size and abs(char.font.size - last.font.size) < 0.5:
            return char.font.math or last.font.math or word[-1].font.math
    return False


def parted(last: Char, char: Char) -> bool:
    """Whether a word ends between two characters. A script that hugs its letter is part of its word, whatever space PDFium saw,
    and so is an index under a power, and what stands under a fraction's rule."""
    if last.closes.endswith(HALF) or last.opens.endswith(ROOT):
        return False
    size = max(char.font.size, last.font.size)
    gap = char.x0 - last.x1
    if gap < 0.15 * size and abs(char.base - last.base) > 0.35 * size and abs(char.font.size - last.font.size) < 0.3 * size:
        return False
    if char.space and gap < 0.15 * size and char.font.math and last.font.math and abs(char.font.size - last.font.size) < 0.1 and char.text.isalpha() \
            and last.text.isalpha():
        return False
    if char.opens.startswith(FRACTION) and char.font.size <= SMALL * last.font.size and gap < 0.4 * size:
        return False
    if char.space and gap < 0.2 * size and (char.font.size <= 0.89 * last.font.size or
                                            last.font.size <= 0.89 * char.font.size and char.text in ".,;:)]"):
        return False
    return char.space or gap > 0.6 * size


# --- back to running text ------------------------------------------------------------------------------------------------

def text_of_word(word: Word, base: float, size: float) -> str:
    """A word with powers written `^{…}`, so that 10⁻⁹ does not read 10−9 nor w⁽ⁱ⁾ as a function of i, indices `_{…}`, fractions `\\frac{…}{…}`."""
    return text_of_chars(word.chars, base, size)


def line_text(line: Line, skip: Iterable[int] = ()) -> str:
    """The line's text; `skip` holds indices of characters (footnote marks) to leave out."""
    skip = set(skip)
    if skip:
        words = []
        for word in line.words:
            kept = [c for c in word.chars if c.index not in skip]
            if kept:
                words.append(text_of_word(word_of(kept), line.base, line.size))
        return " ".join(words)
    return " ".join(text_of_word(word, line.base, line.size) for word in line.words)


TAIL = 500  # characters before a line's end that say how it goes on; a search of all that was joined costs its square
HARD = re.compile(r"(?:^|[\s(])(?:[A-Za-z]+-)+$")


class Joiner:
    """Joins lines into text and decides which line-end hyphens belong to the word.

    A hyphen stays when the paper writes the word with it elsewhere, when what follows is a capital or a digit, or when the
    word without it would be new to the paper while both halves are words of it.
    """

    def __init__(self, lines: Iterable[Line]):
        self.words: Counter[str] = Counter()
        for line in lines:
            last = len(line.words) - 1
            for at, word in enumerate(line.words):
                if at == last and line.hyphen:
                    continue
                for part in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", word.text):
                    self.words[part.lower()] += 1
                    if "-" in part:
                        for half in part.split("-"):
                            self.words[half.lower()] += 1

    def glue(self, before: str, after: str) -> str:
        """What stands between a line that ends in a hyphen and the next: the text of both, joined."""
        head = re.search(r"([^\W_]+(?:-[^\W_]+)*)-$", before)
        tail = re.match(r"[^\W_]+(?:-[^\W_]+)*", after)
        if not head or not tail:
            return before + after
        left, right = head.group(1), tail.group(0)
        if not right[0].islower() or left[-1].isdigit():
            return before + after
        whole = (left + right).lower()
        kept = f"{left}-{right}".lower()
        if self.words[whole]:
            return before[:-1] + after
        if self.words[kept]:
            return before + after
        last = left.split("-")[-1].lower()
        if "-" in left and self.words[last] and self.words[right.lower()] and len(last) > 2 and len(right) > 3:
            return before + after
        if self.words[last] > 2 and self.words[right.lower()] > 2 and len(last) > 3 and len(right) > 3:
            return before + after
        return before[:-1] + after

    def text(self, lines: Iterable[Line], skip: dict[int, set[int]] | None = None) -> str:
        """`skip`: page → indices of its characters to leave out (they count from 0 on every page)."""
        out = ""
        for line in lines:
            piece = line_text(line, skip.get(line.page, ()) if skip else ())
            if not piece:
                continue
            if not out:
                out = piece
            elif re.search(r"\w-$", out[-2:]):
                out = out[:-TAIL] + self.glue(out[-TAIL:], piece)
            elif re.search(r"[\w%&=?]/$|//$", out[-2:]) and re.search(r"https?://\S*$", out[-TAIL:]):
                out += piece
            else:
                out += " " + piece
        return re.sub(r"\s+([,.;:)])(?=\s|$)", r"\1", out).strip()
