"""A page of a PDF, or a place on it, as a PNG of bounded size."""

from __future__ import annotations

import io
from pathlib import Path

from paper2code import cli
from paper2code.read.pdfparts import engine

LONGEST = 1600  # pixels of the longer side: what vision models take without shrinking it
SHARPEST = 4.0  # pixels a point (288 dpi)
MARGIN = 6.0  # points around a place


def page(path: str | Path, number: int, *, bbox: list[float] | None = None, longest: int = LONGEST,
         marks: list[list[float]] | tuple = ()) -> bytes:
    """PNG bytes of page `number` (from 1), or of `bbox` on it (points, origin top left) with a small margin.

    No side is longer than `longest` pixels, none is enlarged beyond 288 dpi. `marks`: boxes to tint (a quote's lines).
    Raises cli.Stop: no such page (2), or what `engine.opened` finds wrong.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise cli.Stop("Pillow is not installed, so no picture can be written", code=cli.ENVIRONMENT,
                       fix="pip install pillow (pdfplumber brings it)") from None
    longest = max(64, min(int(longest), 6000))
    with engine.opened(path) as document:
        if not 1 <= number <= len(document):
            raise cli.Stop(f"{Path(path).name} has {len(document)} pages, so there is no page {number}", code=cli.USAGE,
                           expected=f"a page between 1 and {len(document)}")
        sheet = document[number - 1]
        width, height = sheet.get_size()
        x0, y0, x1, y1 = 0.0, 0.0, width, height
        if bbox is not None:
            x0, y0 = max(0.0, min(bbox[0], bbox[2]) - MARGIN), max(0.0, min(bbox[1], bbox[3]) - MARGIN)
            x1, y1 = min(width, max(bbox[0], bbox[2]) + MARGIN), min(height, max(bbox[1], bbox[3]) + MARGIN)
            if x1 - x0 < 2 or y1 - y0 < 2:
                x0, y0, x1, y1 = 0.0, 0.0, width, height
        scale = min(SHARPEST, longest / max(x1 - x0, y1 - y0, 1.0))
        bitmap = sheet.render(scale=scale, crop=(x0, height - y1, width - x1, y0), may_draw_forms=False)
        image = bitmap.to_pil().convert("RGB")
        sheet.close()
    if marks:
        shade = Image.new("RGBA", image.size, (0, 0, 0, 0))
        draw = ImageDraw.Draw(shade)
        for box in marks:
            draw.rectangle([(box[0] - x0) * scale, (box[1] - y0) * scale, (box[2] - x0) * scale, (box[3] - y0) * scale],
                           fill=(255, 210, 0, 90))
        image = Image.alpha_composite(image.convert("RGBA"), shade).convert("RGB")
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()
