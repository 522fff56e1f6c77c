"""Tabulars as grids of strings, with spans, nested ones, and the parts of long tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from paper2code.paper import Block, Table
from paper2code.read.tex.document import ENVIRONMENTS, Document, command, flowed

TABULARS = {"tabular": "[{", "tabular*": "{[{", "tabularx": "{[{", "tabulary": "{[{", "longtable": "[{", "longtable*": "[{",
            "array": "[{", "tabu": "{", "longtabu": "{", "xltabular": "[{{", "supertabular": "[{", "xtabular": "[{",
            "mpxtabular": "{", "NiceTabular": "[{[", "NiceTabular*": "{[{[", "NiceTabularX": "{[{[", "tblr": "[{",
            "longtblr": "[{", "talltblr": "[{", "deluxetable": "{", "deluxetable*": "{", "tabbing": "", "tabularew*": "[{",
            "sidewaystabular": "[{", "tabularht": "{[{", "ltxtabular": "{[{", "booktabs": "{", "ruledtabular": ""}
LONG = frozenset(("longtable", "longtable*", "xltabular", "longtabu", "longtblr", "talltblr", "deluxetable", "deluxetable*",
                  "supertabular"))


@dataclass
class Grid:
    """A tabular that is open."""

    name: str
    rows: list[list[str]] = field(default_factory=list)
    row: list[str] = field(default_factory=list)
    span: int = 1
    inner: list[list[list[str]]] = field(default_factory=list)  # grids of nested tabulars met in this row
    head: list[list[str]] | None = None
    floated: object = None


def begin_tabular(doc: Document, name: str) -> object:
    spec = TABULARS[name]
    if name in ("tabu", "longtabu"):
        while doc.peek() not in ("{", None):
            doc.next()
    elif name == "ruledtabular":
        return True
    doc.skip_arguments(spec)
    own = None
    if name in LONG and not doc.floats:
        from paper2code.read.tex.floats import open_float
        doc.par()
        own = open_float(doc, "table", name)
        if name in ("longtable", "xltabular", "longtabu"):
            doc.counters.step("table")
            own.stepped = True
    grid = Grid(name, floated=own)
    doc.tables.append(grid)
    doc.enter("cell")
    return grid


def end_cell(doc: Document, grid: Grid) -> None:
    text = flowed(doc.context.parts)
    doc.context.parts.clear()
    grid.row.append(text)
    grid.row += [""] * (min(grid.span, 200) - 1)
    grid.span = 1


def end_row(doc: Document, grid: Grid) -> None:
    end_cell(doc, grid)
    row, grid.row = grid.row, []
    if any(row):
        if len(grid.rows) < 20_000:
            grid.rows.append(row)
    for inner in grid.inner:
        grid.rows += inner
    grid.inner = []


@command("cell&")
def ampersand(doc: Document, name: str) -> None:
    if doc.tables and doc.context.kind == "cell":
        end_cell(doc, doc.tables[-1])
    elif doc.context.kind != "void":
        doc.put(" ")


@command("tabularnewline", "cr", "crcr")
def new_row(doc: Document, name: str) -> None:
    if doc.tables and doc.context.kind == "cell":
        if name == "\\":
            doc.star()
            doc.length()
        end_row(doc, doc.tables[-1])
    else:
        doc.put(" ")


@command("multicolumn")
def multicolumn(doc: Document, name: str) -> None:
    span = doc.number_of(doc.arg())
    doc.arg()
    held = doc.arg()
    if doc.tables:
        doc.tables[-1].span = max(span, 1)
    doc.push(["{", *held, "}"])


@command("multirow", "multirow*", "multirowthead")
def multirow(doc: Document, name: str) -> None:
    doc.optional()
    doc.arg()
    doc.optional()
    doc.arg()
    doc.optional()
    doc.push(["{", *[t if t != "\\\\" else " " for t in doc.arg()], "}"])


@command("SetCell")
def set_cell(doc: Document, name: str) -> None:
    doc.skip_arguments("[{")  # tabularray: the cells that are spanned stand in the source, empty


RULES = {"": "hline firsthline lasthline heavyrule lightrule thickhline tableline morecmidrules",
         "{": "hhline rowfont tablewidth tabletypesize tablecolumns Xhline tablefontsize", "[": "addlinespace hdashline",
         "[{": "cline rowcolor columncolor cellcolor arrayrulecolor cdashline tabucline", "[({": "cmidrule",
         "{{{": "specialrule", "[{{{": "rowcolors"}
for _spec, _names in RULES.items():
    for _name in _names.split():
        def _rule(doc: Document, name: str, spec: str = _spec) -> None:
            doc.skip_arguments(spec)
            if name in ("cellcolor", "rowcolor", "columncolor"):
                doc.skip_arguments("[[")
        command(_name)(_rule)

for _name in ("toprule", "midrule", "bottomrule"):
    def _thick(doc: Document, name: str) -> None:
        doc.optional()
    command(_name)(_thick)


@command("endfirsthead", "endhead", "endfoot", "endlastfoot")
def long_part(doc: Document, name: str) -> None:
    """The repeated heads and feet of a long table count once; what announces another page is left out."""
    if not doc.tables:
        return
    grid = doc.tables[-1]
    if grid.row or "".join(doc.context.parts).strip():
        end_row(doc, grid)
    if name == "endfirsthead":
        grid.head, grid.rows = grid.rows, []
    elif name == "endhead":
        if grid.head is None:
            grid.head = grid.rows
        grid.rows = []
    else:
        grid.rows = []


@command("startdata", "tablehead", "colhead", "enddata", "tablefirsthead", "tabletail", "tablelasttail", "nodata", "tablebreak",
         "colnumbers")
def deluxe(doc: Document, name: str) -> None:
    if name in ("tabletail", "tablelasttail"):
        doc.arg()
    elif name in ("tablehead", "tablefirsthead"):
        doc.push([*doc.arg(), "\\\\"])
    elif name == "colhead":
        doc.push(["{", *doc.arg(), "}"])
    elif name == "nodata":
        doc.put("…")


def end_tabular(doc: Document, name: str, state: object) -> None:
    if not isinstance(state, Grid):
        return
    grid = state
    if doc.tables and doc.tables[-1] is grid:
        if grid.row or "".join(doc.context.parts).strip() or grid.inner:
            end_row(doc, grid)
        doc.tables.pop()
        doc.leave()
    rows = (grid.head or []) + grid.rows
    if doc.tables and doc.context.kind == "cell":
        nest(doc, rows)
        return
    keep_grid(doc, rows, grid)


def nest(doc: Document, rows: list[list[str]]) -> None:
    """A tabular inside a cell: one of a single column or row is the cell's text, a real one is spliced in."""
    if max((len(row) for row in rows),
           default=0) <= 1 or len(rows) <= 1 or doc.tables[-1].row or len(rows) == 2 and len(rows[0]) < 3:
        doc.put(" ".join(cell for row in rows for cell in row if cell))
    else:
        doc.tables[-1].inner.append(rows)


def keep_grid(doc: Document, rows: list[list[str]], grid: Grid) -> None:
    from paper2code.read.tex.floats import close_float
    filled = sum(1 for row in rows for cell in row if cell)
    if doc.floats:
        if filled:
            doc.floats[-1].grids.append((rows, len(doc.floats[-1].captions), doc.floats[-1].box))
        if grid.floated is not None:
            close_float(doc, grid.floated)
        return
    if doc.context.kind == "line":
        for row in rows:
            doc.put(" ".join(row))
            doc.par()
        return
    if doc.context.kind != "body" or filled < 2:
        doc.put(" ".join(cell for row in rows for cell in row if cell))
        return
    table = Table(doc.new_id(), None, "", rows, section=doc.here, source="latex")
    doc.paper.tables.append(table)
    doc.add_later(Block("table", ref=table.id, source="latex"))


for _name in TABULARS:
    ENVIRONMENTS[_name] = (begin_tabular, end_tabular)
