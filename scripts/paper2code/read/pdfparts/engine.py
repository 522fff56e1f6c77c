"""Characters, rules, pictures, links and outline of a PDF, by PDFium (pypdfium2). About 0.03 s of CPU a page.

All coordinates that leave this module are those of the page as a viewer shows it: points, origin at the top left, after
the page's own rotation and crop box. Characters stay in the order of the content stream, which pdfTeX, Word and LibreOffice
write in reading order.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw
from paper2code import cli
from paper2code.read.pdfparts import texfonts

MOST_PAGES = 2000
MOST_CHARACTERS = 200_000  # of one page; a page of a paper has 2,000 to 8,000
MOST_OBJECTS = 60_000  # path objects looked at on one page
LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
MATH_FONT = re.compile(r"CM(MI|SY|EX|BSY|MIB)|MSAM|MSBM|EUFM|EUSM|RSFS|Math|Symbol|LMMathS|StandardSymL|rtxmi|txsy|txex|ntxmi|NewTXMI"
                       r"|txmia|MTSY|MTMI|MTEX|esint|stmary|BBOLD|bbm|dsrom|MnSymbol|XCharter-Math|zplm|PazoMath|fourier-math", re.I)
MONO_FONT = re.compile(r"CMTT|CMCSTT|Mono|Courier|Typewriter|Consol|SFTT|LMTT|LMMono|NimbusMon|Menlo|Inconsolata|txtt|zi4|pcr", re.I)
BOLD_FONT = re.compile(r"Bold|-Bd|Medi(?!um?Ital)|Black|Heavy|Demi|CMBX|CMSSBX|CMBSY|SFBX|LMRoman\d+-Bold|Semibold|ptmb|ecbx|cmb10", re.I)
ITALIC_FONT = re.compile(r"Ital|Obli|CMTI|CMSL|CMMI|Slant|SFTI|-It\b|ReguItal|MediItal|ecti|CMBXTI", re.I)


class Font(NamedTuple):
    """How a text object is set. `mode` is the PDF's text render mode (3 paints nothing), `alpha` 0 to 255."""

    name: str
    size: float
    bold: bool
    italic: bool
    mono: bool
    math: bool
    angle: int  # degrees, clockwise is negative, to the nearest 1
    mode: int
    color: tuple[int, int, int]
    alpha: int
    order: int  # its place among what the page paints; -1 inside a form


class Char(NamedTuple):
    """One character. `base` is the y of its baseline, `x0`–`y1` its ink (white space: an empty box), `index` its place
    in the text page, `space` whether white space stood before it. `opens` and `closes`: what of a fraction or root begins before
    it and ends after it, as LaTeX (parts.py)."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    font: Font
    space: bool
    hyphen: bool
    index: int
    opens: str = ""
    closes: str = ""


@dataclass
class Shape:
    """A rule, a filled area or a picture. `kind`: rule (thin and level), stroke (one shorter than 8), bar (thin and upright), area, image."""

    kind: str
    x0: float
    y0: float
    x1: float
    y1: float
    color: tuple[int, int, int] | None = None
    order: int = 0


@dataclass
class Annotation:
    url: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass
class Page:
    """One page as drawn. `width`, `height` in points. `turned`: the angle (90, -90, 180) that most of the text lay at, and that
    the page was turned by for reading; `turned_back` gives the viewer's coordinates."""

    number: int
    width: float
    height: float
    chars: list[Char] = field(default_factory=list)
    aside: list[Char] = field(default_factory=list)  # at another angle than the page's text: stamps, axis labels
    shapes: list[Shape] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    unmapped: int = 0  # characters whose font does not say what they mean
    turned: int = 0
    images: float = 0.0  # share of the page that pictures cover


@dataclass
class Bookmark:
    title: str
    level: int
    page: int | None
    y: float | None


def check_bytes(path: Path) -> None:
    """Raise Stop when the file at `path` cannot be a PDF at all, saying what it is instead."""
    if not path.exists():
        raise cli.Stop(f"there is no file {path}", code=cli.USAGE, expected="a PDF", fix="check the path")
    if path.is_dir():
        raise cli.Stop(f"{path} is a folder", code=cli.USAGE, expected="a PDF file")
    with open(path, "rb") as file:
        head = file.read(2048)
    if not head:
        raise cli.Stop(f"{path.name} is empty", code=cli.USAGE, expected="a PDF", fix="download it again")
    if b"%PDF-" in head:
        return
    start = head.lstrip()[:200].lower()
    kind = "a file of another kind"
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        kind = "a web page (HTML), perhaps an error or consent page saved in its place"
    elif start.startswith(b"%!ps"):
        kind = "PostScript"
    elif start.startswith((b"pk\x03\x04", b"\x1f\x8b")):
        kind = "an archive"
    raise cli.Stop(f"{path.name} is not a PDF but {kind}", code=cli.USAGE, expected="a file that starts with %PDF-",
                   fix="download the PDF again, or give the file by its true ending (.html, .tar.gz, .txt)")


@contextmanager
def opened(path: str | Path) -> Iterator[pdfium.PdfDocument]:
    """The document at `path`. Raises Stop: not a PDF (2); encrypted, damaged, without pages (4)."""
    path = Path(path)
    check_bytes(path)
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as problem:
        reason = str(problem)
        if "password" in reason.lower():
            raise cli.Stop(f"{path.name} is encrypted and asks for a password", code=cli.UNUSABLE,
                           expected="a PDF that opens without one",
                           fix="save a copy without password (print to PDF), or give the paper's LaTeX source or HTML") from None
        if re.search(rb"/Count\s+0\b", path.read_bytes()[-100_000:]):
            raise cli.Stop(f"{path.name} has no pages", code=cli.UNUSABLE, expected="a PDF with text", fix="download it again") from None
        raise cli.Stop(f"{path.name} is damaged or cut short: PDFium says {reason}", code=cli.UNUSABLE,
                       expected="a whole PDF", fix="download it again") from None
    try:
        if len(document) == 0:
            raise cli.Stop(f"{path.name} has no pages", code=cli.UNUSABLE, expected="a PDF with text", fix="download it again")
        yield document
    finally:
        document.close()


class View:
    """From a page's own space to the viewer's: crop box, rotation, y downwards."""

    def __init__(self, page: pdfium.PdfPage):
        box = page.get_cropbox()
        media = page.get_mediabox()
        x0, y0 = max(min(box[0], box[2]), min(media[0], media[2])), max(min(box[1], box[3]), min(media[1], media[3]))
        x1, y1 = min(max(box[0], box[2]), max(media[0], media[2])), min(max(box[1], box[3]), max(media[1], media[3]))
        if x1 <= x0 or y1 <= y0:
            x0, y0, x1, y1 = media
        if x1 <= x0 or y1 <= y0:  # a page without size: PDFium shows it as a sheet of paper
            x0, y0, x1, y1 = 0.0, 0.0, *page.get_size()
        self.x0, self.y0, self.x1, self.y1 = x0, y0, x1, y1
        self.rotation = page.get_rotation() % 360

    def point(self, x: float, y: float) -> tuple[float, float]:
        if self.rotation == 90:
            return y - self.y0, x - self.x0
        if self.rotation == 180:
            return self.x1 - x, y - self.y0
        if self.rotation == 270:
            return self.y1 - y, self.x1 - x
        return x - self.x0, self.y1 - y

    def box(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        (a, b), (c, d) = self.point(x0, y0), self.point(x1, y1)
        return min(a, c), min(b, d), max(a, c), max(b, d)


def turned_back(page: Page, box: list[float] | tuple[float, ...]) -> list[float]:
    """A box of a page that was read turned (`Page.turned`), as the viewer's."""
    x0, y0, x1, y1 = box
    if page.turned == 90:
        return [y0, page.width - x1, y1, page.width - x0]
    if page.turned == -90:
        return [page.height - y1, x0, page.height - y0, x1]
    if page.turned == 180:
        return [page.width - x1, page.height - y1, page.width - x0, page.height - y0]
    return list(box)


def direct(function, result, *takes):
    """A PDFium function whose pointers are plain numbers: a third of the time of a call, and each page makes 30,000."""
    return ctypes.CFUNCTYPE(result, *takes)(ctypes.cast(function, ctypes.c_void_p).value)


POINTER, INT = ctypes.c_void_p, ctypes.c_int
UNICODE_OF = direct(raw.FPDFText_GetUnicode, ctypes.c_uint, POINTER, INT)
BOX_OF = direct(raw.FPDFText_GetCharBox, INT, POINTER, INT, POINTER, POINTER, POINTER, POINTER)
ORIGIN_OF = direct(raw.FPDFText_GetCharOrigin, INT, POINTER, INT, POINTER, POINTER)
OBJECT_OF = direct(raw.FPDFText_GetTextObject, POINTER, POINTER, INT)
IS_GENERATED = direct(raw.FPDFText_IsGenerated, INT, POINTER, INT)
IS_HYPHEN = direct(raw.FPDFText_IsHyphen, INT, POINTER, INT)
IS_BROKEN = direct(raw.FPDFText_HasUnicodeMapError, INT, POINTER, INT)
SIGNS = frozenset((2, 9, 10, 13, 32, 160, 0xAD))
WHITE = frozenset((32, 13, 10, 160, 9))


def fonts_of(textpage: pdfium.PdfTextpage, view: View, orders: dict[int, int]):
    """A function (character index, address of its object) → Font, remembering what it has looked up."""
    known: dict[int, Font] = {}
    names: dict[int, tuple[str, int, int]] = {}
    buffer = ctypes.create_string_buffer(256)
    parts = [ctypes.c_uint() for _ in range(4)]
    matrix = raw.FS_MATRIX()

    def look_up(index: int, address: int | None) -> Font:
        if address in known:
            return known[address]
        pointer = ctypes.cast(address, raw.FPDF_PAGEOBJECT) if address else None
        name, weight, flags, mode = "", 400, 0, 0
        size = raw.FPDFText_GetFontSize(textpage, index)
        if address:
            font = raw.FPDFTextObj_GetFont(pointer)
            key = ctypes.cast(font, ctypes.c_void_p).value or 0 if font else 0
            if key not in names:
                length = raw.FPDFFont_GetBaseFontName(font, buffer, 256) if font else 0
                text = buffer.raw[: max(0, min(length, 256) - 1)].decode("utf-8", "replace") if length else ""
                names[key] = (re.sub(r"^[A-Z]{6}\+", "", text), raw.FPDFFont_GetWeight(font) if font else 400,
                              raw.FPDFFont_GetFlags(font) if font else 0)
            name, weight, flags = names[key]
            mode = raw.FPDFTextObj_GetTextRenderMode(pointer)
        angle, scale = 0.0, 1.0
        if raw.FPDFText_GetMatrix(textpage, index, matrix):
            angle = math.degrees(math.atan2(matrix.b, matrix.a))
            scale = math.hypot(matrix.c, matrix.d) or 1.0
        raw.FPDFText_GetFillColor(textpage, index, *parts)
        color = tuple(part.value for part in parts)
        turned = (round(angle) - view.rotation + 180) % 360 - 180
        font = Font(
            name, round(abs(size) * (scale if abs(size) * scale > 0 else 1), 2),
            bool(BOLD_FONT.search(name)) or weight >= 600 or bool(flags & 1 << 18),
            bool(ITALIC_FONT.search(name)) or bool(flags & 1 << 6), bool(MONO_FONT.search(name)) or bool(flags & 1),
            bool(MATH_FONT.search(name)), turned, mode, color[:3], color[3], orders.get(address or 0, -1))
        if address:
            known[address] = font
        return font

    return look_up


def characters(textpage: pdfium.PdfTextpage, view: View, orders: dict[int, int]) -> tuple[list[Char], int]:
    """The page's characters in stream order, and how many of them have no meaning in Unicode."""
    chars: list[Char] = []
    unmapped = 0
    left, right, bottom, top, ox, oy = sides = [ctypes.c_double() for _ in range(6)]
    sides_at = [ctypes.addressof(side) for side in sides]
    box_at, origin_at = sides_at[:4], sides_at[4:]
    font_of = fonts_of(textpage, view, orders)
    page = ctypes.cast(textpage.raw, POINTER).value
    upright, edge, head = view.rotation == 0, view.x0, view.y1
    isfinite = math.isfinite
    space = False
    count = min(raw.FPDFText_CountChars(textpage), MOST_CHARACTERS)
    previous = None
    for index in range(count):
        code = UNICODE_OF(page, index)
        generated = IS_GENERATED(page, index) == 1
        # TeX's fonts of big signs have brackets at the codes of white space and of PDFium's hyphen.
        name = font_of(index, OBJECT_OF(page, index)).name if code in SIGNS and not generated else ""
        sign = texfonts.meaning(name, code) if texfonts.hangs(name) else None
        if generated or code in WHITE and sign is None:
            space = True
            continue
        if 0xFE00 <= code <= 0xFE0F:  # which form of a sign a font draws
            continue
        hyphen = sign is None and (code in (2, 0xFFFE, 0xAD) or IS_HYPHEN(page, index) == 1)
        text = sign or ("-" if hyphen else chr(code))
        if 0xD800 <= code <= 0xDFFF:  # half of a pair
            if code < 0xDC00:
                previous = code
                continue
            text = chr(0x10000 + ((previous or 0xD800) - 0xD800 << 10) + (code - 0xDC00))
        font = font_of(index, OBJECT_OF(page, index))
        if hyphen or sign:
            pass
        elif IS_BROKEN(page, index) == 1 or code < 32 or code == 0xFFFD:
            known = texfonts.meaning(font.name, code)
            if known == "":
                continue
            text = known or "\ufffd"
            unmapped += known is None
        text = LIGATURES.get(text, text)
        if "\U0001d400" <= text <= "\U0001d7ff":  # mathematical letters: 𝛽 is β set in italics
            text = unicodedata.normalize("NFKC", text)
        BOX_OF(page, index, *box_at)
        ORIGIN_OF(page, index, *origin_at)
        if upright and left.value <= right.value and bottom.value <= top.value:
            x0, y0, x1, y1 = left.value - edge, head - top.value, right.value - edge, head - bottom.value
            bx, by = ox.value - edge, head - oy.value
        else:
            x0, y0, x1, y1 = view.box(left.value, bottom.value, right.value, top.value)
            bx, by = view.point(ox.value, oy.value)
        if not (isfinite(x0) and isfinite(y0) and isfinite(x1) and isfinite(y1)):
            continue
        if x1 <= x0:
            x0 = min(x0, bx) if abs(font.angle) < 45 else x0
            x1 = max(x1, x0)
        # A second accent character of the same place (´ over e) is one letter.
        if text[0] >= "\u0300" and chars and unicodedata.combining(text[0]) and not space:
            last = chars[-1]
            chars[-1] = last._replace(text=unicodedata.normalize("NFC", last.text + text))
            continue
        chars.append(Char(text, x0, y0, x1, y1, by if abs(font.angle) % 180 != 90 else bx, font, space, hyphen, index))
        space = False
    return chars, unmapped


class Painted:
    """What a page paints besides its text: `shapes`, the share `covered` by pictures, and the painting `orders` of text objects.

    A form as large as half the page, or a quarter of it when there is little else, is a page set into a page (as tools that
    stamp or re-distil write them): its parts are taken as the page's own. Other forms are figures, one picture each.
    """

    def __init__(self, page: pdfium.PdfPage, view: View):
        self.view = view
        self.width, self.height = page.get_size()
        self.shapes: list[Shape] = []
        self.orders: dict[int, int] = {}
        self.covered = 0.0
        self.seen = 0
        self.sides = [ctypes.c_float() for _ in range(4)]
        self.parts = [ctypes.c_uint() for _ in range(4)]
        count = raw.FPDFPage_CountObjects(page)
        self.whole = 0.5 if count > 4 else 0.25  # share of the page from which on a form is a page
        for number in range(count):
            self.take(raw.FPDFPage_GetObject(page, number), (1.0, 0.0, 0.0, 1.0, 0.0, 0.0), 0)

    def box(self, item, matrix: tuple[float, ...]) -> tuple[float, float, float, float] | None:
        left, bottom, right, top = self.sides
        if not raw.FPDFPageObj_GetBounds(item, left, bottom, right, top):
            return None
        a, b, c, d, e, f = matrix
        corners = [(a * x + c * y + e, b * x + d * y + f) for x in (left.value, right.value) for y in (bottom.value, top.value)]
        return self.view.box(min(x for x, _ in corners), min(y for _, y in corners), max(x for x, _ in corners), max(y for _, y in corners))

    def take(self, item, matrix: tuple[float, ...], depth: int) -> None:
        if self.seen >= MOST_OBJECTS:
            return
        order, self.seen = self.seen, self.seen + 1
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            self.orders[ctypes.cast(item, ctypes.c_void_p).value or 0] = order
            return
        box = self.box(item, matrix)
        if box is None:
            return
        x0, y0, x1, y1 = box
        seen = max(0.0, min(x1, self.width) - max(x0, 0)) * max(0.0, min(y1, self.height) - max(y0, 0)) / max(1.0, self.width * self.height)
        if kind == raw.FPDF_PAGEOBJ_FORM and seen > self.whole and depth < 4:
            inner = raw.FS_MATRIX()
            if raw.FPDFPageObj_GetMatrix(item, inner):
                matrix = joined((inner.a, inner.b, inner.c, inner.d, inner.e, inner.f), matrix)
            for number in range(max(0, raw.FPDFFormObj_CountObjects(item))):
                self.take(raw.FPDFFormObj_GetObject(item, number), matrix, depth + 1)
        elif kind == raw.FPDF_PAGEOBJ_PATH:
            self.path(item, box, order)
        elif kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM, raw.FPDF_PAGEOBJ_SHADING):
            self.shapes.append(Shape("image", x0, y0, x1, y1, None, order))
            self.covered = min(1.0, self.covered + seen)

    def path(self, item, box: tuple[float, float, float, float], order: int) -> None:
        x0, y0, x1, y1 = box
        wide, high = x1 - x0, y1 - y0
        name = "rule" if high <= 2.5 and wide >= 8 else "stroke" if high <= 1.6 and wide >= 2 else "bar" if wide <= 2.5 and high >= 6 else "area"
        if name == "area" and (wide < 4 or high < 4):
            return
        color = None
        if name == "area" and raw.FPDFPageObj_GetFillColor(item, *self.parts):
            mode, stroke = ctypes.c_int(), ctypes.c_int()
            raw.FPDFPath_GetDrawMode(item, mode, stroke)
            color = tuple(part.value for part in self.parts[:3]) if mode.value and self.parts[3].value > 200 else None
        self.shapes.append(Shape(name, x0, y0, x1, y1, color, order))


def joined(first: tuple[float, ...], then: tuple[float, ...]) -> tuple[float, ...]:
    """The matrix that applies `first`, then `then` (PDF's order: a b c d e f)."""
    a, b, c, d, e, f = first
    A, B, C, D, E, F = then
    return a * A + b * C, a * B + b * D, c * A + d * C, c * B + d * D, e * A + f * C + E, e * B + f * D + F


def annotations(page: pdfium.PdfPage, document: pdfium.PdfDocument, view: View) -> list[Annotation]:
    """The page's links to addresses (URI actions)."""
    out = []
    position, link, rectangle = ctypes.c_int(0), raw.FPDF_LINK(), raw.FS_RECTF()
    for _ in range(5000):
        if not raw.FPDFLink_Enumerate(page, position, link):
            break
        action = raw.FPDFLink_GetAction(link)
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            continue
        length = raw.FPDFAction_GetURIPath(document, action, None, 0)
        if not 1 < length < 8000:
            continue
        buffer = ctypes.create_string_buffer(length)
        raw.FPDFAction_GetURIPath(document, action, buffer, length)
        if raw.FPDFLink_GetAnnotRect(link, rectangle):
            url = buffer.raw[: length - 1].decode("utf-8", "replace").strip()
            out.append(Annotation(url, *view.box(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)))
    return out


def read_page(document: pdfium.PdfDocument, number: int) -> Page:
    """Page `number` (from 1). A page that PDFium cannot load comes back empty; one of sideways text is read turned upright."""
    try:
        page = document[number - 1]
    except pdfium.PdfiumError:
        return Page(number, 612.0, 792.0)
    try:
        out = drawn(document, page, number)
        drawn_at = (char.font.angle for char in (*out.chars, *out.aside))
        angles = Counter(round(angle / 90) * 90 for angle in drawn_at if abs((angle + 45) % 90 - 45) <= 5)
        angle = max(angles, key=lambda a: (angles[a], a == 0)) if angles else 0
        if angle and angles[angle] > 200 and angles[0] < 120:  # a caption stands level under sideways labels
            # PDFium puts lines in order as they run on the page that it shows, so it has to show them upright.
            page.set_rotation((page.get_rotation() + angle) % 360)
            out = drawn(document, page, number)
            out.turned = 180 if abs(angle) == 180 else angle
    finally:
        page.close()
    return out


def drawn(document: pdfium.PdfDocument, page: pdfium.PdfPage, number: int) -> Page:
    view = View(page)
    out = Page(number, *page.get_size())
    painted = Painted(page, view)
    out.shapes, out.images = painted.shapes, painted.covered
    textpage = page.get_textpage()
    try:
        chars, out.unmapped = characters(textpage, view, painted.orders)
    finally:
        textpage.close()
    out.annotations = annotations(page, document, view)
    for char in chars:
        (out.chars if abs(char.font.angle) <= 20 else out.aside).append(char)
    return out


def outline(document: pdfium.PdfDocument) -> list[Bookmark]:
    """The document's bookmarks with page and height (from the page's top), at most 2,000 of them."""
    out: list[Bookmark] = []
    heights: dict[int, float] = {}
    try:
        for mark in document.get_toc(max_depth=6):
            title = " ".join((mark.get_title() or "").split())
            place = mark.get_dest()
            page = y = None
            if place is not None:
                at = place.get_index()
                if at is not None and 0 <= at < len(document):
                    page = at + 1
                    mode, values = place.get_view()
                    value = values[1] if mode == raw.PDFDEST_VIEW_XYZ and len(values) > 1 else \
                        values[0] if mode in (raw.PDFDEST_VIEW_FITH, raw.PDFDEST_VIEW_FITBH) and values else None
                    if value is not None:
                        if at not in heights:
                            loaded = document[at]
                            heights[at] = View(loaded).y1
                            loaded.close()
                        y = heights[at] - value
            if title:
                out.append(Bookmark(title, mark.level + 1, page, y))
            if len(out) >= 2000:
                break
    except pdfium.PdfiumError:
        pass
    return out
