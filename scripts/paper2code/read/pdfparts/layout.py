"""What the layout model of PyMuPDF sees on a page (pymupdf4llm brings it): text, formula, table, picture, caption, footnote.

About 0.4 s of CPU a page, so it is asked only about pages that need it. It is a hint: without it the rules of the other
modules decide alone.
"""

from __future__ import annotations

from pathlib import Path

from paper2code.read.pdfparts.document import Document, Region


def regions(path: str | Path, pages: list[int]) -> tuple[dict[int, list[Region]], str | None]:
    """Regions of the given pages (from 1), and why there are none when that is so."""
    try:
        import pymupdf
        import pymupdf4llm  # noqa: F401  (switches the layout model on)
    except ImportError as problem:
        return {}, f"pymupdf4llm is not there ({problem})"
    if not hasattr(pymupdf.Page, "get_layout"):
        return {}, "this PyMuPDF has no layout model"
    out: dict[int, list[Region]] = {}
    try:
        with pymupdf.open(path) as document:
            for number in pages:
                if number > document.page_count:
                    break
                page = document[number - 1]
                page.get_layout()
                out[number] = [Region(str(box[4]), *map(float, box[:4])) for box in page.layout_information or ()]
    except Exception as problem:  # MuPDF and ONNX raise many kinds; a page without hints is still read
        return out, f"the layout model failed ({type(problem).__name__}: {problem})"
    return out, None


def assign(document: Document) -> None:
    """Tell each line which region it lies in: the smallest one around its middle."""
    for line in document.lines:
        middle_x, middle_y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
        best = None
        for at, region in enumerate(document.regions.get(line.page, ())):
            if region.x0 - 3 <= middle_x <= region.x1 + 3 and region.y0 - 2 <= middle_y <= region.y1 + 2:
                area = (region.x1 - region.x0) * (region.y1 - region.y0)
                if best is None or area < best[0]:
                    best = area, at, region.kind
        if best:
            line.region_at, line.region = best[1], best[2]
