"""Small PDFs written by hand for the tests: text in the standard fonts, rules, areas, links, bookmarks; no library needed."""

from __future__ import annotations

# Beside these, "any" shows all of Unicode (a composite font, two bytes a character, as wide as its size), "drawn" is a Type 3
# font whose glyphs are named as letters are, "nameless" one whose glyphs have names that say nothing.
FONTS = {"roman": "Times-Roman", "bold": "Times-Bold", "italic": "Times-Italic", "mono": "Courier", "math": "Times-Italic-Math"}
WIDTH, HEIGHT = 612, 792


class Sheet:
    """One page; y counts from the top, as the reader's coordinates do."""

    def __init__(self, width: float = WIDTH, height: float = HEIGHT, rotate: int = 0):
        self.width, self.height, self.rotate = width, height, rotate
        self.parts: list[str] = []
        self.links: list[tuple[str, tuple[float, float, float, float]]] = []

    def text(self, x: float, y: float, text: str, size: float = 10, font: str = "roman", *, color: str = "0 g", mode: int = 0,
             turned: bool = False) -> Sheet:
        body = f"<{text.encode('utf-16-be').hex()}>" if font == "any" else \
            "(" + "".join(f"\\{ord(c):03o}" if c in "()\\" or ord(c) > 126 else c for c in text) + ")"
        matrix = "0 1 -1 0" if turned else "1 0 0 1"
        self.parts.append(f"BT {color} {mode} Tr /{font} {size} Tf {matrix} {x} {self.height - y} Tm {body} Tj ET")
        return self

    def lines(self, x: float, y: float, text: str, size: float = 10, font: str = "roman", step: float = 12) -> Sheet:
        for number, line in enumerate(text.strip().split("\n")):
            self.text(x, y + number * step, line.strip(), size, font)
        return self

    def rule(self, x0: float, y: float, x1: float, thick: float = 0.6) -> Sheet:
        self.parts.append(f"0 g {x0} {self.height - y} {x1 - x0} {thick} re f")
        return self

    def area(self, x0: float, y0: float, x1: float, y1: float, color: str = "0.9 0.9 0.9 rg") -> Sheet:
        self.parts.append(f"{color} {x0} {self.height - y1} {x1 - x0} {y1 - y0} re f 0 g")
        return self

    def link(self, url: str, x0: float, y0: float, x1: float, y1: float) -> Sheet:
        self.links.append((url, (x0, self.height - y1, x1, self.height - y0)))
        return self


def unicode_font(add) -> int:
    """A composite font whose codes are UTF-16 and say so; no glyphs, as readers of text need none."""
    ranges = [f"<{high:02x}00> <{high:02x}ff> <{high:02x}00>" for high in range(256)]
    blocks = "\n".join(f"{len(part)} beginbfrange\n" + "\n".join(part) + "\nendbfrange"
                       for part in (ranges[start:start + 64] for start in range(0, 256, 64)))
    cmap = f"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Any def /CMapType 2 def
1 begincodespacerange <0000> <ffff> endcodespacerange
{blocks}
endcmap CMapName currentdict /CMap defineresource pop end end"""
    meaning = add(f"<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream")
    below = add("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) "
                "/Supplement 0 >> /DW 1000 >>")
    return add(f"<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-H /DescendantFonts [{below} 0 R] /ToUnicode {meaning} 0 R >>")


def drawn_font(add, named: bool) -> int:
    """A Type 3 font: each glyph is a little drawing, here the same box."""
    codes = [code for code in range(33, 127) if chr(code).isalnum()]
    names = {code: (chr(code) if not chr(code).isdigit() else "zero one two three four five six seven eight nine".split()[code - 48])
             if named else f"g{code}x" for code in codes}
    box = "500 0 0 0 450 700 d1 0 0 450 700 re f"
    glyph = add(f"<< /Length {len(box)} >>\nstream\n{box}\nendstream")
    glyphs = " ".join(f"/{name} {glyph} 0 R" for name in names.values())
    order = " ".join(f"{code} /{name}" for code, name in names.items())
    return add(f"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 700] /FontMatrix [0.001 0 0 0.001 0 0] /CharProcs << {glyphs} >> "
               f"/Encoding << /Type /Encoding /Differences [{order}] >> /FirstChar 33 /LastChar 126 /Widths [{'500 ' * 94}] /Resources << >> >>")


def pdf(*sheets: Sheet, title: str | None = None, bookmarks: list[tuple[str, int, float]] = (), wrapped: bool = False) -> bytes:
    """The bytes of a PDF with these pages. `bookmarks`: (title, page from 1, y from the top). `wrapped`: each page's drawing is a
    form that the page shows at 0.97 of its size."""
    objects: list[str] = ["", "", ""]  # catalogue, pages, fonts

    def add(body: str) -> int:
        objects.append(body)
        return len(objects)

    fonts = " ".join(
        f"/{name} {add(f'<< /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding /WinAnsiEncoding >>')} 0 R" for name, base in FONTS.items())
    drawn = " ".join(part for sheet in sheets for part in sheet.parts)
    if "/any " in drawn:
        fonts += f" /any {unicode_font(add)} 0 R"
    for name, named in (("drawn", True), ("nameless", False)):
        if f"/{name} " in drawn:
            fonts += f" /{name} {drawn_font(add, named)} 0 R"
    kids = []
    for sheet in sheets:
        stream = "\n".join(sheet.parts)
        form = ""
        if wrapped:
            form = add(f"<< /Type /XObject /Subtype /Form /BBox [0 0 {sheet.width} {sheet.height}] /Resources << /Font << {fonts} >> >> "
                       f"/Length {len(stream)} >>\nstream\n{stream}\nendstream")
            stream, form = "q 0.97 0 0 0.97 1 20 cm /whole Do Q", f"/XObject << /whole {form} 0 R >>"
        content = add(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        notes = " ".join(
            f"{add(f'<< /Type /Annot /Subtype /Link /Rect [{a} {b} {c} {d}] /Border [0 0 0] /A << /S /URI /URI ({url}) >> >>')} 0 R"
            for url, (a, b, c, d) in sheet.links)
        kids.append(add(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {sheet.width} {sheet.height}] /Rotate {sheet.rotate} "
                        f"/Contents {content} 0 R /Resources << /Font << {fonts} >> {form} >> /Annots [{notes}] >>"))
    outline = ""
    if bookmarks:
        first = len(objects) + 2
        root = add(f"<< /Type /Outlines /First {first} 0 R /Last {first + len(bookmarks) - 1} 0 R /Count {len(bookmarks)} >>")
        for number, (text, page, y) in enumerate(bookmarks):
            after = f"/Next {first + number + 1} 0 R " if number + 1 < len(bookmarks) else ""
            add(f"<< /Title ({text}) /Parent {root} 0 R {after}/Dest [{kids[page - 1]} 0 R /XYZ 0 {HEIGHT - y} 0] >>")
        outline = f"/Outlines {root} 0 R"
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {outline} >>"
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>"
    objects[2] = f"<< /Title ({title or ''}) >>"
    out = b"%PDF-1.5\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    start = len(out)
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 3 0 R >>\n" \
           f"startxref\n{start}\n%%EOF\n".encode("latin-1")
    return out
