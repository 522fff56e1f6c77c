"""Text on a page that its reader does not see: in the colour of its ground, tiny, off the page, invisible, transparent, covered.

It is data to show, never to follow or to quote. Labels inside pictures are let be: they are small and white for good reasons.
"""

from __future__ import annotations

from dataclasses import dataclass

from paper2code.read.pdfparts.engine import Char, Page, Shape

TINY = 2.6  # points: smaller letters are not read by anyone
NEAR = 40  # sum of the differences of red, green and blue below which a letter melts into its ground
BAND = 24.0  # points
FEWEST = 8  # letters a hidden run must have: a stray white comma is no message
OCR = 0.8  # share of a scanned page's text that is invisible because it is the text layer under the picture

@dataclass(frozen=True)
class Hidden:
    """A run of hidden text on a page: how it is hidden, where (points, origin top left), and its characters' indices."""

    text: str
    how: str
    page: int
    bbox: tuple[float, float, float, float]
    indices: frozenset[int]

    def entry(self) -> dict:
        """As `Paper.hidden` holds it."""
        return {"text": self.text[:2000], "how": self.how, "where": f"page {self.page}, at {self.bbox[0]:.0f}, {self.bbox[1]:.0f}",
                "page": self.page}


def on_page(page: Page) -> list[Hidden]:
    """The hidden runs of a page, in stream order."""
    bands: dict[int, list[Shape]] = {}  # what is painted at each height, so that a letter is held against little
    for shape in page.shapes:
        if shape.kind == "image" or shape.kind == "area" and shape.color is not None:
            for band in range(int(max(shape.y0, -50) // BAND), int(min(shape.y1, page.height + 50) // BAND) + 1):
                bands.setdefault(band, []).append(shape)
    nothing: list[Shape] = []
    out: list[Hidden] = []
    run: list[Char] = []
    how = ""

    def close() -> None:
        text = "".join((" " if c.space and n else "") + c.text for n, c in enumerate(run)).strip()
        if sum(c.isalnum() for c in text) >= FEWEST or how.startswith("off") and len(text) >= 3:
            out.append(Hidden(text, how, page.number, (min(c.x0 for c in run), min(c.y0 for c in run), max(c.x1 for c in run),
                                                       max(c.y1 for c in run)), frozenset(c.index for c in run)))
        run.clear()

    seen: dict[int, bool] = {}  # by font: whether it is seen on white paper
    for char in (*page.chars, *page.aside):
        grounds = bands.get(int((char.y0 + char.y1) / 2 // BAND), nothing) if bands else nothing
        font = char.font
        plain = seen.get(id(font))
        if plain is None:
            plain = seen[id(font)] = font.mode == 0 and font.alpha >= 12 and not 0 < font.size < TINY and min(font.color) <= 200
        if plain and not grounds and -1 <= char.x1 and -1 <= char.y1 and char.x0 <= page.width + 1 and char.y0 <= page.height + 1:
            now = ""
        else:
            now = hidden_how(char, page, grounds)
        if run and (now != how or char.index - run[-1].index > 4):
            close()
        if now:
            how = now
            run.append(char)
    if run:
        close()
    unseen = sum(len(h.indices) for h in out if h.how in ("invisible render mode", "covered"))
    if page.images > 0.6 and unseen >= OCR * (len(page.chars) + len(page.aside)):
        return [h for h in out if h.how not in ("invisible render mode", "covered")]  # the text layer of a scan
    return out


def hidden_how(char: Char, page: Page, grounds: list[Shape]) -> str:
    """Why a character cannot be seen, or an empty string."""
    font = char.font
    if font.mode == 3:
        return "invisible render mode"
    if font.alpha < 12 and font.mode in (0, 4):
        return "fully transparent"
    if char.x1 < -1 or char.y1 < -1 or char.x0 > page.width + 1 or char.y0 > page.height + 1:
        return "off the page"
    if 0 < font.size < TINY and char.text.isalnum() and not any(g.kind == "image" and covers(g, char) for g in grounds):
        return f"tiny ({font.size:.1f} points)"
    if not grounds:
        return "white on white" if min(font.color) > 200 and font.mode in (0, 2, 4, 6) and near(font.color, (255, 255, 255)) else ""
    over = [g for g in grounds if g.order > font.order >= 0 and covers(g, char)]
    if over and over[-1].kind == "area":
        return "covered"
    under = [g for g in grounds if covers(g, char) and (font.order < 0 or g.order < font.order)]
    if font.mode in (0, 2, 4, 6):
        ground = under[-1] if under else None
        if ground is None and near(font.color, (255, 255, 255)):
            return "white on white"
        if ground is not None and ground.kind == "area" and near(ground.color, font.color):
            return "in the colour of its ground"
    return ""


def near(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> bool:
    return a is not None and b is not None and sum(abs(x - y) for x, y in zip(a, b, strict=False)) < NEAR


def covers(shape: Shape, char: Char) -> bool:
    middle_x, middle_y = (char.x0 + char.x1) / 2, (char.y0 + char.y1) / 2
    return shape.x0 <= middle_x <= shape.x1 and shape.y0 <= middle_y <= shape.y1
