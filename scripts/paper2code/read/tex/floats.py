"""Figures, tables, algorithms and other floats: captions, numbers, what belongs to which caption."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from paper2code.paper import Algorithm, Block, Figure, Table
from paper2code.read.tex import structure  # noqa: F401  minipage is extended here
from paper2code.read.tex.document import ENVIRONMENTS, Document, command
from paper2code.read.tex.engine import stripped
from paper2code.read.tex.lexer import written

FLOATS = {"figure": "figure", "table": "table", "wrapfigure": "figure", "wraptable": "table", "SCfigure": "figure",
          "SCtable": "table", "sidewaysfigure": "figure", "sidewaystable": "table", "floatingfigure": "figure",
          "marginfigure": "figure", "margintable": "table", "algorithm": "algorithm", "teaserfigure": "figure", "wrapfloat": "",
          "figwindow": "figure", "algo": "algorithm", "algorithm2e": "algorithm", "plate": "figure",
          "algorithmfloat": "algorithm", "procedure": "algorithm", "function": "algorithm", "listing": "listing",
          "suppfigure": "figure", "supptable": "table"}
FLOATS |= {f"{name}*": kind for name, kind in FLOATS.items()}
SUBFLOATS = {"subfigure": "figure", "subtable": "table", "subfigure*": "figure", "subcaptionblock": "figure",
             "subcaptiongroup": "figure", "subfloat": "figure", "subfigures": "figure"}


@dataclass
class Caption:
    kind: str
    number: str | None
    text: str
    label: str | None = None
    box: int = 0


@dataclass
class Float:
    """A float that is open. `box` counts the minipages met, so that side by side each caption finds its own grid."""

    kind: str
    name: str
    captions: list[Caption] = field(default_factory=list)
    grids: list[tuple[list[list[str]], int, int]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    boxes: int = 0
    box: int = 0
    sub: int = 0
    subs: int = 0
    section: str | None = None
    algorithm: object = None
    blocks: list[Block] = field(default_factory=list)
    outside: object = None
    stepped: bool = False  # its number is taken already: a long table, a continued float


def open_float(doc: Document, kind: str, name: str) -> Float:
    item = Float(kind, name, section=doc.here)
    doc.floats.append(item)
    for sub in ("subfigure", "subtable"):
        doc.values[sub] = 0
    doc.enter("float")
    item.outside = (doc.lists, doc.theorem)
    doc.lists, doc.theorem = [], None
    return item


def begin_float(doc: Document, name: str) -> object:
    kind = FLOATS.get(name) or doc.styles.get(f"float:{name}") or "figure"
    base = name.rstrip("*")
    if doc.context.kind == "void":
        return None
    if base in ("wrapfigure", "wraptable", "wrapfloat"):
        if base == "wrapfloat":
            kind = doc.word_arg()
        doc.skip_arguments("[{[{")
    elif base == "floatingfigure":
        doc.skip_arguments("[{")
    elif base == "figwindow":
        doc.skip_arguments("[")
    else:
        doc.optional()
        if base.startswith("SC"):
            doc.optional()
    item = open_float(doc, kind, name)
    if kind == "algorithm":
        from paper2code.read.tex.algorithms import begin_float_lines
        begin_float_lines(doc, item)
    return item


def end_float(doc: Document, name: str, state: object) -> None:
    close_float(doc, state)


def close_float(doc: Document, item: Float) -> None:
    """Make the items of a float and put their blocks where it stands in the text."""
    if item not in doc.floats:
        return
    if item.algorithm is not None:
        from paper2code.read.tex.algorithms import end_float_lines
        end_float_lines(doc, item)
    while doc.floats and doc.floats[-1] is not item:
        close_float(doc, doc.floats[-1])
    doc.floats.pop()
    doc.lists, doc.theorem = item.outside
    float_text(doc, item)
    context = doc.leave()
    doc.context.after = [block for block in doc.context.after if block not in context.after]
    rest = context.after
    links, doc.context.links = doc.context.links, []
    for link in links:
        if link not in context.links:
            doc.context.links.append(link)
        else:
            link.context = link.context or link.text
            link.where, link.section = "text", doc.here
            doc.paper.links.append(link)
    if item.subs and not item.captions and not item.stepped and item.kind in ("figure", "table"):
        # Subcaptions take a number of the main counter with them, even when no caption prints it.
        doc.counters.step(item.kind)
    made = items_of(doc, item)
    for block in [*made, *item.blocks, *rest]:
        doc.add_later(block) if not doc.floats else doc.floats[-1].blocks.append(block)


def float_text(doc: Document, item: Float) -> None:
    """Text of a float outside its captions and grids becomes a paragraph after it."""
    text = re.sub(r"[ \t\n]+", " ", "".join(doc.context.parts)).strip()
    doc.context.parts.clear()
    if len(re.findall(r"\w", text)) >= 3:
        item.blocks.append(Block("paragraph", text, source="latex"))


def items_of(doc: Document, item: Float) -> list[Block]:
    blocks: list[Block] = []
    captions = item.captions
    grids = item.grids
    where = section_of(doc, item)
    shares: list[list[list[list[str]]]] = [[] for _ in captions]
    loose: list[list[list[str]]] = []
    for rows, seen, box in grids:
        tables = [k for k, caption in enumerate(captions) if caption.kind == "table"] or list(range(len(captions)))
        near = [k for k in tables if captions[k].box == box] if len(tables) > 1 else tables
        if not tables:
            loose.append(rows)
            continue
        first_above = len(captions) > 0 and any(g[1] > 0 for g in grids) and grids[0][1] > 0
        choice = (near or tables)
        if len(choice) > 1:
            above = [k for k in choice if k < seen]
            below = [k for k in choice if k >= seen]
            pick = (above[-1] if above else below[0]) if first_above else (below[0] if below else above[-1])
        else:
            pick = choice[0]
        if captions[pick].kind == "table":
            shares[pick].append(rows)
        else:
            loose.append(rows)
    for caption, share in zip(captions, shares, strict=True):
        rows = [row for grid in share for row in grid]
        if caption.kind == "table":
            made = Table(doc.new_id(), caption.number, caption.text, rows, caption.label, where, source="latex")
            doc.paper.tables.append(made)
        elif caption.kind == "algorithm":
            lines = item.algorithm.taken() if item.algorithm is not None else ([" ".join(c for c in row if c) for row in rows], [])
            made = Algorithm(doc.new_id(), caption.number, caption.text, *lines, caption.label, where, source="latex")
            doc.paper.algorithms.append(made)
        elif caption.kind == "figure":
            made = Figure(doc.new_id(), caption.number, caption.text, caption.label, list(dict.fromkeys(item.files)), where,
                          source="latex")
            doc.paper.figures.append(made)
        else:
            blocks.append(Block("paragraph", f"{caption.kind.capitalize()} {caption.number or ''}: {caption.text}",
                                source="latex"))
            continue
        blocks.append(Block({"table": "table", "algorithm": "algorithm", "figure": "figure"}[caption.kind], ref=made.id,
                            source="latex"))
    if item.algorithm is not None and not any(caption.kind == "algorithm" for caption in captions):
        lines, numbers = item.algorithm.taken()
        if lines:
            made = Algorithm(doc.new_id(), None, "", lines, numbers, None, where, source="latex")
            doc.paper.algorithms.append(made)
            blocks.append(Block("algorithm", ref=made.id, source="latex"))
    if not captions and not grids and item.files and item.kind == "figure":
        made = Figure(doc.new_id(), None, "", None, list(dict.fromkeys(item.files)), where, source="latex")
        doc.paper.figures.append(made)
        blocks.append(Block("figure", ref=made.id, source="latex"))
    for rows in loose:
        if sum(1 for row in rows for cell in row if cell) > 1:
            made = Table(doc.new_id(), None, "", rows, None, where, source="latex")
            doc.paper.tables.append(made)
            blocks.append(Block("table", ref=made.id, source="latex"))
    return blocks


def section_of(doc: Document, item: Float) -> str | None:
    return doc.here or item.section


for _name in FLOATS:
    ENVIRONMENTS[_name] = (begin_float, end_float)


def new_float(doc: Document, name: str) -> None:
    """A float type of the author's own."""
    kind = "algorithm" if re.search(r"algo|protocol|procedure|pseudo", name, re.I) else name
    doc.styles[f"float:{name}"] = kind if kind == "algorithm" else name
    doc.styles[f"float:{name}*"] = doc.styles[f"float:{name}"]
    doc.styles[f"float counter:{kind}"] = name
    doc.counters.new(name)
    for one in (name, f"{name}*"):
        doc.frames.setdefault(one, (begin_float, end_float))


# --- captions ----------------------------------------------------------------------------------------------------------------


@command("caption", "captionof", "captionof*", "topcaption", "bottomcaption", "tablecaption", "figcaption", "tabcaption", "tbl")
def caption(doc: Document, name: str) -> None:
    star = doc.star()
    kind: str | None = None
    if name == "captionof":
        kind = doc.word_arg()
    doc.optional()
    tokens = doc.arg()
    if name == "tbl":
        doc.push(doc.arg())
    if doc.context.kind == "void":
        return
    kind = kind or {"figcaption": "figure", "tabcaption": "table", "tablecaption": "table"}.get(name)
    item: Float | None = doc.floats[-1] if doc.floats else None
    if item is not None and item.sub and name == "caption":
        item.subs += 1
        sub_caption(doc, item, tokens)
        return
    if kind is None:
        own = doc.macros.get("\\@captype")
        kind = written([t for t in own.body if isinstance(t, str)]).strip() if own is not None else (item.kind
            if item else "figure")
    if item is None:
        item = open_float(doc, kind, "caption")
        make_caption(doc, item, kind, tokens, star)
        close_float(doc, item)
        return
    make_caption(doc, item, kind, tokens, star)


def make_caption(doc: Document, item: Float, kind: str, tokens: list[str], star: bool) -> None:
    number: str | None = None
    base = kind.rstrip("*")
    known = base if base in ("figure", "table", "algorithm") else base
    if not star and item.stepped:
        number = doc.printed(base).strip() or None
    elif not star:
        number = doc.step(str(doc.styles.get(f"float counter:{base}", base)), known).strip() or None
    labels = [written(tokens[k + 2:k + 3]) for k, token in enumerate(tokens) if token == "\\label"]
    links, doc.context.links = doc.context.links, []
    text = doc.text(tokens)
    doc.note_links(doc.context, text, "caption")
    doc.context.links = links
    if number is not None:
        doc.label_now = (number, known, text[:80])
    item.captions.append(Caption(known, number, text, None, item.box))
    for label in labels:
        doc.set_label(label)


def sub_caption(doc: Document, item: Float, tokens: list[str]) -> None:
    kind = "table" if item.kind == "table" else "figure"
    counter = f"sub{kind}"
    if not doc.values.get(f"@{counter} stepped"):
        doc.counters.step(counter)
    doc.values[f"@{counter} stepped"] = 0
    letter = doc.printed(counter)
    doc.label_now = (main_number(doc, item, kind) + letter, counter, "")
    text = doc.text(tokens)
    doc.label_now = (doc.label_now[0], counter, text)
    mark = letter if letter.startswith("(") else f"({letter})"
    if text:
        item.blocks.append(Block("paragraph", f"{mark} {text}", source="latex"))


def main_number(doc: Document, item: Float, kind: str) -> str:
    """The number of the float a subfigure is in, also when its caption is still to come."""
    if any(caption.number for caption in item.captions):
        return next(caption.number for caption in reversed(item.captions) if caption.number)
    if item.stepped:
        return doc.printed(kind)
    doc.values[kind] = doc.values.get(kind, 0) + 1
    number = doc.printed(kind)
    doc.values[kind] -= 1
    return number


def begin_sub(doc: Document, name: str) -> object:
    doc.skip_arguments("[[[{" if name in ("subfigure", "subtable", "subcaptionblock", "subfigure*") else "")
    if not doc.floats:
        return True
    doc.floats[-1].sub += 1
    box(doc)
    kind = "table" if doc.floats[-1].kind == "table" else "figure"
    doc.label_now = (main_number(doc, doc.floats[-1], kind) + doc.printed(f"sub{kind}"), f"sub{kind}", "")
    return doc.floats[-1]


def end_sub(doc: Document, name: str, state: object) -> None:
    if isinstance(state, Float):
        state.sub = max(0, state.sub - 1)
    doc.put(" ")


for _name in SUBFLOATS:
    ENVIRONMENTS[_name] = (begin_sub, end_sub)


@command("subfigure", "subfloat", "subtable", "subcaptionbox", "subbottom", "ffigbox", "ttabbox", "floatbox", "capbtabbox",
         "fcapside")
def old_subfigure(doc: Document, name: str) -> None:
    """`\\subfloat[caption]{content}` and `\\subcaptionbox{caption}{content}`."""
    doc.star()
    if name in ("ffigbox", "ttabbox", "floatbox", "capbtabbox", "fcapside"):
        if name == "floatbox":
            doc.arg()
        doc.optional()
        first = doc.arg()
        doc.push([*first, " ", *doc.arg()])
        return
    if name == "subcaptionbox":
        caption_tokens: list[str] | None = doc.arg()
        doc.star()
        doc.optional()
        doc.optional()
    else:
        caption_tokens = doc.optional()
        second = doc.optional()
        caption_tokens = second if second is not None else caption_tokens
    held = doc.arg()
    if not doc.floats:
        doc.push(held)
        return
    item = doc.floats[-1]
    box(doc)
    if caption_tokens is not None:
        sub_caption(doc, item, stripped(caption_tokens))
    else:
        sub_caption(doc, item, [])
    doc.push(["{", *held, "}"])


@command("subcaption", "phantomsubcaption", "phantomcaption")
def subcaption(doc: Document, name: str) -> None:
    tokens = doc.arg() if name == "subcaption" else []
    if doc.floats:
        sub_caption(doc, doc.floats[-1], tokens)


@command("ContinuedFloat")
def continued(doc: Document, name: str) -> None:
    """The float goes on with the one before: its caption prints the same number."""
    if doc.floats:
        doc.floats[-1].stepped = True


def box(doc: Document) -> None:
    """Another box inside the float begins."""
    if doc.floats:
        doc.floats[-1].boxes += 1
        doc.floats[-1].box = doc.floats[-1].boxes


_minipage, _minipage_end = ENVIRONMENTS["minipage"]


def begin_minipage(doc: Document, name: str) -> object:
    box(doc)
    doc.values["mpfootnote"] = 0
    return _minipage(doc, name)


ENVIRONMENTS["minipage"] = (begin_minipage, _minipage_end)


@command("captionsetup")
def captionsetup(doc: Document, name: str) -> None:
    doc.star()
    doc.optional()
    options = written(doc.arg())
    found = re.search(r"type\*?\s*=\s*(\w+)", options)
    if found and doc.floats:
        from paper2code.read.tex.engine import Macro
        doc.define("\\@captype", Macro([found[1]]))


@command("includegraphics", "epsfig", "psfig", "epsfbox", "plotone", "plottwo", "includestandalone", "epsffile",
         "animategraphics", "includemovie", "includevideo", "asyinclude", "pgfimage", "convertMPtoPDF")
def picture(doc: Document, name: str) -> None:
    doc.star()
    options = doc.optional()
    doc.optional()
    tokens = doc.arg() if options is not None or doc.peek() in ("{", " ") else []
    found = doc.words(tokens)
    if name in ("epsfig", "psfig"):
        match = re.search(r"(?:file|figure)\s*=\s*([^,\s]+)", found)
        found = match[1] if match else ""
    if name == "plottwo":
        doc.arg()
    if name == "animategraphics":
        found = doc.words(doc.arg())
        doc.arg()
        doc.arg()
    if found and doc.floats:
        doc.floats[-1].files.append(found[:300])


@command("tnote", "tablenotemark", "tablenotetext", "tablecomments", "tablerefs", "tabnote")
def table_note(doc: Document, name: str) -> None:
    if name == "tablenotetext":
        doc.arg()
    held = doc.text(doc.arg())
    if name in ("tablenotetext", "tablecomments", "tablerefs", "tabnote"):
        if doc.floats and held:
            doc.floats[-1].blocks.append(Block("paragraph", held, source="latex"))
        return
    doc.put(f"$^{{{held}}}$" if held else "")


@command("figurenum", "tablenum")
def given_number(doc: Document, name: str) -> None:
    doc.arg()
