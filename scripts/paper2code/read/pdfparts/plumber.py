"""A page's characters by pdfplumber (pdfminer.six), a second opinion where PDFium's are garbled. About 0.2 s of CPU a page."""

from __future__ import annotations

from pathlib import Path

from paper2code.read.pdfparts.engine import BOLD_FONT, ITALIC_FONT, LIGATURES, MATH_FONT, MONO_FONT, Char, Font, Page


def characters(path: str | Path, page: Page) -> list[Char] | None:
    """The characters of `page` as pdfplumber reads them, in stream order; None when it cannot."""
    try:
        import pdfplumber

        with pdfplumber.open(path) as document:
            sheet = document.pages[page.number - 1]
            found = sheet.chars
            sheet.close()
    except Exception:  # pdfminer raises many kinds on damaged files; this is a second opinion only
        return None
    out: list[Char] = []
    space = False
    last = None
    for index, item in enumerate(found):
        text = str(item.get("text") or "")
        if not text.strip():
            space = True
            continue
        if not item.get("upright", True):
            continue
        name = str(item.get("fontname") or "").split("+")[-1]
        size = float(item.get("size") or 10.0)
        x0, x1 = float(item["x0"]), float(item["x1"])
        base = float(item["bottom"]) - 0.22 * size
        if last is not None and (abs(base - last.base) > 0.5 * size or x0 - last.x1 > 0.16 * size):
            space = True
        font = Font(name, round(size, 2), bool(BOLD_FONT.search(name)), bool(ITALIC_FONT.search(name)), bool(MONO_FONT.search(name)),
                    bool(MATH_FONT.search(name)), 0, 0, (0, 0, 0), 255, -1)
        text = LIGATURES.get(text, text)
        last = Char(text, x0, float(item["top"]), x1, float(item["bottom"]) - 0.2 * size, base, font, space, False, index)
        out.append(last)
        space = False
    return out
