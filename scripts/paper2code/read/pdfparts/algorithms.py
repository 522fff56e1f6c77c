"""Algorithm boxes: caption, rules around, lines with their indentation."""

from __future__ import annotations

import re

from paper2code.read.pdfparts import rules
from paper2code.read.pdfparts.captions import Caption, union
from paper2code.read.pdfparts.document import Document
from paper2code.read.pdfparts.lines import Line, line_text

NUMBERED = re.compile(r"^(\d{1,3})\s*[:.]?$")
COMMENT = re.compile(r"▷|▶|//|/\*|#")  # a row that begins with one is a line of its own
STEP = re.compile(r"^\s*(\d{1,3})\s*[:.]\s+|^(\d{1,3}):\s*")
WORDS = re.compile(r"^(?:\d+[:.]?\s*)?(?:input|output|require|ensure|for|while|if|else|end|return|repeat|until|initiali[sz]e|do|function|"
                   r"procedure|parameters?|data|result|given|hyperparameters?|def|import|class|sample|compute|update|set)\b", re.I)


def find(document: Document, captions: list[Caption]) -> None:
    """Give each algorithm's caption its lines, from the box's rules or, without any, as long as they look like steps."""
    for caption in captions:
        if caption.kind not in ("algorithm", "listing"):
            continue
        beside = [c.x0 for c in captions if c.page == caption.page and abs(c.y0 - caption.y0) < 8 and c.x0 > caption.x0 + 60]
        box = boxed(document, caption, captions)
        if box is not None and beside and box[2] > min(beside):
            # Boxes side by side whose rules touch: each ends where the next one's caption begins.
            box = (box[0], box[1], min(beside) - 2, box[3])
            document.cut(caption.page, box[2], box[1], box[3])
        page = document.page_lines(caption.page)
        if box is not None:
            x0, y0, x1, y1 = box
            body = [l for l in page if l.role is None and x0 - 6 <= l.x0 and l.x1 <= x1 + (14 if not beside else 3) and y0 - 1 <= (l.y0 + l.y1) / 2 <= y1 + 1]
        else:
            body = following(document, caption)
        caption.body = body
        for line in body:
            line.role = "algorithm"
        caption.bbox = union([l.bbox for l in caption.lines + body] + ([list(box)] if box else []))


def boxed(document: Document, caption: Caption, captions: list[Caption]) -> tuple[float, float, float, float] | None:
    """The area between the caption and the box's last rule (caption on top), or above the caption (caption below)."""
    found = rules.wide(document, caption.page)
    inside = [r for r in found if r.x0 <= caption.x0 + 30 and r.x1 >= caption.x0 + 40]
    top = [r for r in inside if 0 <= caption.y0 - r.y1 < 12]
    below = [r for r in inside if -1 <= r.y0 - caption.y1 < 10]
    others = [c for c in captions if c is not caption and c.page == caption.page and c.x0 < caption.x1 + 5 and c.x1 > caption.x0 - 5]
    stop = min((c.y0 for c in others if c.y0 > caption.y1), default=1e9)
    if below:
        middle = below[0]
        last = [r for r in inside if r.y0 > middle.y1 + 6 and abs(r.x0 - middle.x0) < 6 and abs(r.x1 - middle.x1) < 12 and r.y0 < stop]
        if last:
            # Rules inside the box (after Input, say) have the same width; the last before plain text is the box's end.
            end = last[0]
            for rule in last[1:]:
                between = [l for l in document.page_lines(caption.page) if l.role is None and end.y1 < l.base < rule.y0 and
                           l.x0 < middle.x1 and l.x1 > middle.x0]
                if not between or sum(bool(WORDS.match(l.text)) for l in between) < 0.15 * len(between) or rule.y0 - end.y1 > 250:
                    break
                end = rule
            return middle.x0, middle.y1, middle.x1, end.y0
    if top and not below:
        rule = top[0]
        last = [r for r in inside if r.y0 > caption.y1 + 6 and abs(r.x0 - rule.x0) < 6 and abs(r.x1 - rule.x1) < 12 and r.y0 < stop]
        if last:
            return rule.x0, caption.y1, rule.x1, last[0].y0
    # Caption under the box (algorithm2e, boxed): rules above it.
    above = [r for r in inside if r.y1 <= caption.y0 + 1 and caption.y0 - r.y1 < 25]
    if above and not below:
        end = above[-1]
        first = [r for r in found if r.y1 < end.y0 - 10 and abs(r.x0 - end.x0) < 6 and abs(r.x1 - end.x1) < 12]
        if first:
            return end.x0, first[-1].y1, end.x1, end.y0
    return None


def following(document: Document, caption: Caption) -> list[Line]:
    """Without rules: the lines after the caption that look like an algorithm's steps."""
    out: list[Line] = []
    last = caption.lines[-1]
    left, right = document.column(caption.lines[0])
    for line in document.lines[last.index + 1:last.index + 120]:
        if line.page != caption.page or line.role is not None:
            break
        if line.base - last.base > 2.2 * document.leading or line.base < last.base - 2 * document.leading or line.x0 > right:
            break
        words = len(re.findall(r"[A-Za-z]{2,}", line.text))
        full = line.x1 > right - 6 and line.x0 < left + 3 and words > 8 and line.math < 0.1
        if full and not WORDS.match(line.text) and not STEP.match(line.text):
            break
        out.append(line)
        last = line
    steps = sum(bool(WORDS.match(l.text) or STEP.match(l.text)) for l in out)
    return out if steps >= max(2, 0.2 * len(out)) else []


def steps(caption: Caption) -> tuple[list[str], list[str]]:
    """The algorithm's lines as read: pieces on one height joined, printed numbers gone, wrapped lines joined, two spaces a level;
    and the printed numbers, none where lines have none."""
    rows: list[list[Line]] = []
    for line in caption.body:
        for row in rows:
            if abs(row[0].base - line.base) <= 2.5 or line.size < 0.8 * row[0].size and abs(row[0].base - line.base) < 0.6 * row[0].size:
                row.append(line)
                break
        else:
            rows.append([line])
    rows.sort(key=lambda row: max(row, key=lambda l: l.size).base)
    edge = max((l.x1 for l in caption.body), default=0.0)
    width = edge - min((l.x0 for l in caption.body), default=0.0)
    texts: list[tuple[float, str, str]] = []  # left edge, text, printed number
    full: list[bool] = []  # whether the row reaches the box's right edge, so that the next may go on from it
    numbered = 0
    for row in rows:
        row.sort(key=lambda l: l.x0)
        if not re.search(r"[^\sˆ˜¯˙´`¨ˇ]", "".join(l.text for l in row)):
            continue  # an accent that stands by itself above its letter
        full.append(max(l.x1 for l in row) > edge - 0.12 * width)
        text = " ".join(line_text(l) for l in row)
        x0 = row[0].words[0].x0
        words = [w for l in row for w in l.words]
        match = NUMBERED.match(words[0].text)
        own = ""
        if len(words) == 1 and re.fullmatch(r"\d{1,3}:", words[0].text):
            numbered += 1
            full.pop()
            continue  # a numbered line with nothing on it
        if match and len(words) > 1 and (words[0].text.endswith(":") or words[1].x0 - words[0].x1 > 0.25 * words[0].size
                                         and re.match(r"\d+[:.]?$", words[0].text)):
            text = re.sub(r"^\d{1,3}\s*[:.]?\s*", "", text)
            x0, own = words[1].x0, match[1]
        elif re.match(r"^\d{1,3}:\S", words[0].text):
            text = re.sub(r"^\d{1,3}:\s*", "", text)
            own = words[0].text.partition(":")[0]
        numbered += bool(own)
        texts.append((x0, text.strip(), own))
    style = numbered >= 2 and numbered >= 0.4 * len(texts)
    if not style and numbered:
        texts = [(row[0].words[0].x0, " ".join(line_text(l) for l in row), "") for row in rows]
        full = [max(l.x1 for l in row) > edge - 0.12 * width for row in rows]
    starts = sorted({round(x) for x, text, _ in texts if text})
    levels: list[float] = []
    for x in starts:
        if not levels or x - levels[-1] > 4:
            levels.append(x)
    out: list[str] = []
    numbers: list[str] = []
    own_before, previous = False, 1e9
    for at, (x, text, own) in enumerate(texts):
        if not text:
            continue
        own_before = own_before or bool(own)
        level = max((n for n, at in enumerate(levels) if at <= x + 2), default=0)
        wrapped = own_before or x > previous + 3
        goes_on = at > 0 and full[at - 1] and x > previous + 3 and not text[:1].isupper()
        if out and not own and not WORDS.match(text) and not COMMENT.match(text) and (style and wrapped or not style and goes_on):
            out[-1] = out[-1] + " " + text
            continue
        out.append("  " * level + text)
        numbers.append(own)
        previous = x
    return out, numbers if style else []
