"""Tables as grids: which lines are a table's, and which words form its cells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from paper2code.read.pdfparts import rules
from paper2code.read.pdfparts.captions import Caption, union
from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.engine import Shape
from paper2code.read.pdfparts.lines import Line, Word, text_of_word, word_of


def find(document: Document, captions: list[Caption]) -> None:
    """Give each table's caption its lines, from the rules or the layout's box next to it; a figure's too, where what it shows is one."""
    tables = [c for c in captions if c.kind == "table"]
    boxes = {id(c): candidates(document, c, captions) for c in tables}
    for caption in captions:
        if caption.kind == "figure" and (own := shown(document, caption, captions)):
            tables.append(caption)
            boxes[id(caption)] = own
    taken: list[tuple[int, tuple]] = []
    # The surest pairs first, so that two captions on a page do not claim one table.
    pairs = sorted(((distance, id(c), box) for c in tables for distance, box in boxes[id(c)]), key=lambda p: p[0])
    by_id = {id(c): c for c in tables}
    done: set[int] = set()
    for _, key, box in pairs:
        caption = by_id[key]
        if key in done or any(page == caption.page and overlap(box, other) > 0.3 for page, other in taken):
            continue
        body = inside(document, caption, box)
        if not body:
            continue
        done.add(key)
        taken.append((caption.page, box))
        caption.body = body
        for line in body:
            line.role = "table"
        caption.bbox = union([l.bbox for l in caption.lines + body])


def shown(document: Document, caption: Caption, captions: list[Caption]) -> list[tuple[float, tuple]]:
    """The ruled table that a figure consists of, with a distance behind all those of tables: three rules of one width or more, no picture."""
    pictures = [(s.x0, s.y0, s.x1, s.y1) for s in document.shapes(caption.page, "image")]
    pictures += [(r.x0, r.y0, r.x1, r.y1) for r in document.regions.get(caption.page, ()) if r.kind == "picture"]
    out = []
    for distance, box in candidates(document, caption, captions):
        full = [r for r in rules.wide(document, caption.page) if box[1] - 2 <= r.y0 <= box[3] + 2 and r.x1 - r.x0 > 0.9 * (box[2] - box[0])]
        if len(full) >= 3 and distance < 40 and not any(overlap(box, other) > 0.1 for other in pictures):
            cells = grid(inside(document, caption, box))
            if len(cells) >= 2 and sum(sum(map(bool, row)) >= 2 for row in cells) >= 2:
                out.append((distance + 1000, box))
    return out


def overlap(a: tuple, b: tuple) -> float:
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return 0.0
    return wide * high / max(1.0, min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1])))


def inside(document: Document, caption: Caption, box: tuple) -> list[Line]:
    x0, y0, x1, y1 = box
    return [l for l in document.page_lines(caption.page)
            if l.role is None and l.x0 >= x0 - 8 and l.x1 <= x1 + 8 and y0 - 2 <= (l.y0 + l.y1) / 2 <= y1 + 2]


def candidates(document: Document, caption: Caption, captions: list[Caption]) -> list[tuple[float, tuple]]:
    """Boxes that may hold the table of this caption, with their distance from it."""
    out: list[tuple[float, tuple]] = []
    found = rules.wide(document, caption.page)
    others = [c for c in captions if c.page == caption.page and c is not caption]
    left, right = caption.x0, caption.x1
    for frame in frames(document, caption.page, found, others + [caption]):
        if frame[0] > right + 5 or frame[2] < left - 5:
            continue
        above, below = caption.y0 - frame[3], frame[1] - caption.y1
        distance = max(above, below)
        if not -4 <= distance <= 70:
            continue
        low, high = min(caption.y1, frame[3]), max(caption.y0, frame[1])
        if any(low - 1 <= (c.y0 + c.y1) / 2 <= high + 1 and c.x0 < frame[2] and c.x1 > frame[0] for c in others):
            continue
        centre = abs((frame[0] + frame[2]) / 2 - (left + right) / 2)
        out.append((distance + 0.15 * centre, frame))
    for region in document.regions.get(caption.page, ()):
        if region.kind != "table":
            continue
        box = (region.x0, region.y0, region.x1, region.y1)
        if box[0] > right + 5 or box[2] < left - 5:
            continue
        distance = max(caption.y0 - box[3], box[1] - caption.y1)
        if -12 <= distance <= 60:
            out.append((max(distance, 0) + 25, box))
    return out


def frames(document: Document, page: int, found: list[Shape], captions: list[Caption]) -> list[tuple]:
    """Areas between rules of one width: each run of rules with lines between them and no caption or prose."""
    out: list[tuple] = []
    lines = [l for l in document.page_lines(page) if l.role in (None, "caption", "heading")]
    used: set[int] = set()
    for at, rule in enumerate(found):
        if at in used:
            continue
        group = [rule]
        x0, x1 = rule.x0, rule.x1
        for number in range(at + 1, len(found)):
            other = found[number]
            if number in used or other.x0 > x1 or other.x1 < x0:
                continue
            same = abs(other.x0 - rule.x0) < 6 and abs(other.x1 - rule.x1) < 6
            nested = other.x0 >= rule.x0 - 4 and other.x1 <= rule.x1 + 4
            if not (same or nested):
                continue
            between = [l for l in lines if group[-1].y1 - 1 < (l.y0 + l.y1) / 2 < other.y0 + 1 and l.x0 < x1 and l.x1 > x0]
            if any(l.role in ("caption", "heading") for l in between):
                if same or other.y0 - group[-1].y1 > 15:
                    break
                continue
            if prose(document, between, x1 - x0):
                break
            if other.y0 - group[-1].y1 > 420:
                break
            group.append(other)
            used.add(number)
        full = [r for r in group if abs(r.x0 - rule.x0) < 6 and abs(r.x1 - rule.x1) < 6]
        if len(full) >= 2 or len(group) >= 3:
            y1 = max(r.y1 for r in full) if len(full) >= 2 else max(r.y1 for r in group)
            if y1 - rule.y0 > 8:
                out.append((min(r.x0 for r in group), rule.y0, max(r.x1 for r in group), y1))
    return out


def prose(document: Document, lines: list[Line], width: float) -> bool:
    """Whether lines are running text: several of one width in a row, full of words, in the body's size."""
    full = [l for l in lines if abs(l.size - document.body) < 0.4 and len(re.findall(r"[a-z]{2,}", l.text)) >= 6 and
            max((b.x0 - a.x1 for a, b in pairwise(l.words)), default=0) < 1.2 * l.size]
    edges = [l for l in full if any(o is not l and abs(o.x1 - l.x1) < 1.5 and abs(o.x0 - l.x0) < 1.5 and
                                    abs(abs(o.base - l.base) - document.leading) < 1.0 for o in full)]
    return len(edges) >= 4


# --- the grid ------------------------------------------------------------------------------------------------------------


def rows_of(lines: Iterable[Line]) -> list[list[Word]]:
    """Words by height: one list a row, from the top, each from the left. Sub- and superscripts stay with their word."""
    rows: list[tuple[float, float, list[Word]]] = []
    for line in sorted(lines, key=lambda l: -l.size):
        for base, size, words in rows:
            raised = line.size < 0.8 * size and base - 0.8 * size < line.base < base + 0.35 * size
            if raised or abs(base - line.base) <= 0.38 * max(size, line.size):
                words += line.words
                break
        else:
            rows.append((line.base, line.size, list(line.words)))
    rows.sort(key=lambda row: row[0])
    return [sorted(words, key=lambda w: w.x0) for _, _, words in rows]


def phrases(words: list[Word]) -> list[list[Word]]:
    """Words of a row that stand together: the gap between two is at most the type's word space."""
    out: list[list[Word]] = []
    for word in words:
        if out and word.x0 - out[-1][-1].x1 <= 0.42 * max(word.size, out[-1][-1].size) + 0.6:
            out[-1].append(word)
        else:
            out.append([word])
    return out


def grid(lines: list[Line], levels: list[Shape] = ()) -> list[list[str]]:
    """The table's cells as strings, one list a row, all of one length; a cell that spans columns is followed by empty ones."""
    rows = rows_of(lines)
    if not rows:
        return []
    cells = [phrases(row) for row in rows]
    gutters = gutters_of(cells)
    edges = [-1e9, *gutters, 1e9]
    out: list[list[str]] = []
    places: list[tuple[float, float, float]] = []
    for row in cells:
        line = [""] * (len(edges) - 1)
        for phrase in row:
            x0 = phrase[0].x0
            first = next(n for n in range(len(line)) if x0 < edges[n + 1])
            text = phrase_text(phrase)
            line[first] = f"{line[first]} {text}".strip()
        out.append(line)
        words = [w for phrase in row for w in phrase]
        places.append((min(w.y0 for w in words), max(w.base for w in words), max(w.size for w in words)))
    return joined(out, places, levels)


def phrase_text(words: list[Word]) -> str:
    size = max(w.size for w in words)
    base = max((w for w in words if w.size == size), key=lambda w: len(w.text)).base
    return " ".join(text_of_word(word_of(w.chars), base, size) for w in words)


def gutters_of(cells: list[list[list[Word]]]) -> list[float]:
    """Where columns part: the middles of white strips that almost no row's text crosses."""
    rows = [row for row in cells if row]
    widest = max(len(row) for row in rows)
    if widest < 2:
        return []
    regular = [row for row in rows if len(row) >= max(2, 0.5 * widest)] or rows
    spans = [[(p[0].x0, p[-1].x1) for p in row] for row in regular]
    points = sorted({round(x, 1) for row in spans for span in row for x in span})
    allowed = 0 if len(regular) < 6 else max(1, int(0.08 * len(regular)))
    strips: list[list[float]] = []
    for a, b in pairwise(points):
        middle = (a + b) / 2
        crossing = sum(any(x0 < middle < x1 for x0, x1 in row) for row in spans)
        both = sum(any(x1 <= middle for _, x1 in row) and any(x0 >= middle for x0, _ in row) for row in spans)
        if crossing <= allowed and both >= max(1, 0.3 * len(spans)):
            if strips and abs(strips[-1][1] - a) < 0.11:
                strips[-1][1] = b
            else:
                strips.append([a, b])
    size = max(w.size for row in rows for phrase in row for w in phrase)
    return [(a + b) / 2 for a, b in strips if b - a >= 0.2 * size]


def joined(rows: list[list[str]], places: list[tuple[float, float, float]], levels: list[Shape]) -> list[list[str]]:
    """Rows that are the second line of the cells above are put into them: first cell empty, tight below, few cells filled."""
    if len(rows) < 3:
        return rows
    steps = sorted(b[1] - a[1] for a, b in pairwise(places))
    usual = steps[len(steps) // 2]
    out: list[list[str]] = [list(rows[0])]
    for row, before, here in zip(rows[1:], places[:-1], places[1:], strict=True):
        filled = [n for n, cell in enumerate(row) if cell]
        ruled = any(before[1] - 1 <= r.y0 and r.y1 <= here[1] - 0.3 * here[2] for r in levels)
        tight = here[1] - before[1] < 0.9 * usual
        above = out[-1]
        if filled and tight and not ruled and all(above[n] for n in filled) and len(filled) < len([c for c in above if c]):
            for n in filled:
                glue = "" if above[n].endswith("-") else " "
                above[n] = (above[n][:-1] if glue == "" and row[n][:1].islower() else above[n]) + glue + row[n]
        else:
            out.append(list(row))
    return out
