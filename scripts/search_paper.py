#!/usr/bin/env python3
"""Search the paper in a workspace: sentences with section and page, exact, ready to quote; a place as text or as a picture."""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = sys.pycache_prefix is None
sys.path.insert(0, str(Path(__file__).resolve().parent))

from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  search_paper.py WORK warm-up steps                  words, best first
  search_paper.py WORK '"label smoothing" value'      the part in double quotes must stand there as it is
  search_paper.py WORK --item learning-rate           what the sweep found for a point of the checklist (--all: also mere mentions)
  search_paper.py WORK dropout --section 5.4          within a section, by number or title
  search_paper.py WORK --section 5.4                  all that can be quoted from a section
  search_paper.py WORK --regex 'beta_?\\{?[12]'        a regular expression (bounded in time)
  search_paper.py WORK --equation 3                   also --table 2, --algorithm 1, --figure 1, --page 4
  search_paper.py WORK --figure 1 --image fig1.png    the same place in the PDF, as a picture to look at
"""
LIMIT, MOST = 20, 200


def arguments(argv: list[str] | None):
    parser = cli.parser(
        "Search the paper in a workspace. Prints sentences exactly as they can be quoted, with their place; or one equation, table, "
        "algorithm, figure or page, as text and (with --image) as a PNG from the PDF.",
        examples=EXAMPLES, codes=(cli.DONE, cli.FINDINGS, cli.USAGE, cli.UNUSABLE, cli.ENVIRONMENT))
    parser.add_argument("work", metavar="WORK", help="the workspace that fetch_paper.py wrote")
    parser.add_argument("query", metavar="QUERY", nargs="*", help="words to search for")
    parser.add_argument("--item", metavar="NAME", help="a point of the checklist, e.g. learning-rate")
    parser.add_argument("--section", metavar="S", help="only in this section, by number or a piece of its title")
    parser.add_argument("--regex", metavar="PATTERN", help="a regular expression, case ignored")
    parser.add_argument("--phrase", metavar="TEXT", help="these words as they stand, in the paper's order")
    for name in ("equation", "table", "algorithm", "figure"):
        parser.add_argument(f"--{name}", metavar="N", help=f"the {name} with this printed number")
    parser.add_argument("--page", metavar="N", type=int, help="all that was read from this page")
    parser.add_argument("--image", metavar="FILE", help="write the place (or page) as a PNG; needs the PDF in the workspace")
    parser.add_argument("--pixels", metavar="N", type=int, default=1600, help="longest side of the picture (64 to 4000, default 1600)")
    parser.add_argument("--all", action="store_true", help="with --item: also the statements that only name it")
    parser.add_argument("--limit", metavar="N", type=int, default=LIMIT, help=f"how many to show (1 to {MOST}, default {LIMIT})")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.add_argument("--out", metavar="FILE", help="write the result to FILE instead of stdout")
    args = parser.parse_intermixed_args(argv)  # words may follow an option
    places = [name for name in ("equation", "table", "algorithm", "figure", "page") if getattr(args, name) is not None]
    ways = [*places, *[name for name in ("item", "regex", "phrase") if getattr(args, name) is not None], *(["query"] if args.query else [])]
    if not ways and args.section is not None:  # a section alone: all its sentences
        args.regex, args.limit, ways = ".", MOST, ["regex"]
    if len(ways) != 1:
        parser.error("say one thing to look for: words, --item, --phrase, --regex, or one of --equation --table --algorithm --figure "
                     "--page"
                     + (f" (not {' and '.join(ways)} together)" if ways else ""))
    if args.image and not places:
        parser.error("--image goes with --equation, --table, --algorithm, --figure or --page")
    if not 1 <= args.limit <= MOST:
        parser.error(f"--limit is a number from 1 to {MOST}")
    if not 64 <= args.pixels <= 4000:
        parser.error("--pixels is a number from 64 to 4000")
    return args, ways[0]


def main(argv: list[str] | None = None) -> int:
    args, way = arguments(argv)
    environment.ensure()

    from paper2code import files
    from paper2code.find import search
    from paper2code.workspace import Workspace

    workspace = Workspace(args.work)
    paper = workspace.paper()
    if way in ("equation", "table", "algorithm", "figure", "page"):
        place = search.page_text(paper, args.page) if way == "page" else search.item_numbered(paper, way, getattr(args, way))
        written = None
        if args.image:
            written = files.write(Path(args.image), picture(workspace, place, args.pixels))
            cli.say(f"written: {written}")
        where = f"{place.where}, p. {place.page}" if place.page and place.kind != "page" else place.where
        cli.show(f"{where}\n\n{place.text}", as_json=args.json, out=args.out,
                 data={"where": place.where, "page": place.page, "bbox": place.bbox, "text": place.text, "item": place.data,
                       "image": str(written) if written else None})
        return cli.DONE
    total, note = None, ""
    if way == "item":
        name, hits, total = search.by_item(paper, args.item, section=args.section, limit=args.limit, named=args.all)
        asked = f"item {name}"
    elif way == "regex":
        hits, whole = search.regex(paper, args.regex[:search.LONGEST_QUERY], section=args.section, limit=args.limit)
        asked = f"expression {args.regex}"
        if not whole:
            note = f"stopped after {search.REGEX_SECONDS:.0f} s: the expression takes too long, what is shown may not be all"
            cli.say(note)
    elif way == "phrase":
        hits, asked = search.phrase(paper, args.phrase, section=args.section, limit=args.limit), f"phrase {args.phrase!r}"
    else:
        query = " ".join(args.query)[:search.LONGEST_QUERY]
        hits, asked = search.search(paper, query, section=args.section, limit=args.limit), f"words {query!r}"
    cli.show(listing(hits, asked, total, args), as_json=args.json, out=args.out,
             data={"asked": asked, "hits": [hit.data() for hit in hits], "in_all": total, "note": note})
    return cli.DONE if hits else cli.FINDINGS


def listing(hits: list, asked: str, total: int | None, args) -> str:
    if not hits:
        return (f"nothing found for {asked}" + (f" in section {args.section}" if args.section else "")
                + ". Other words may help; figures and scanned pages are not searched (look at them with --page N --image FILE).")
    lines = []
    for hit in hits:
        more = [f"p. {hit.statement.page}" if hit.statement.page else "", hit.note,
                "related work: says nothing of this paper's own setting" if hit.statement.related else ""]
        told = "; ".join(part for part in more if part)
        lines.append(hit.anchor() + (f"   [{told}]" if told else ""))
    if total is not None and total > len(hits):
        lines.append(f"… {total - len(hits)} more" + ("" if args.all else "; --all shows also those that only name it"))
    elif len(hits) == args.limit:
        lines.append(f"… the first {args.limit}; --limit shows more")
    return "\n".join(lines)


def picture(workspace, place, pixels: int) -> bytes:
    pdf = workspace.pdf
    if pdf is None:
        raise cli.Stop("this workspace has no PDF, so nothing can be shown as a picture", code=cli.UNUSABLE,
                       expected=f"a .pdf in {workspace.raw}", fix="fetch the paper again with --source pdf or auto, or give the PDF")
    if place.page is None:
        raise cli.Stop(f"the page of {place.where} is not known", code=cli.UNUSABLE, expected="a paper that was read with its PDF",
                       fix="find the page by eye and ask for --page N --image FILE")
    from paper2code.read import picture as pictures

    if place.kind != "page" and place.bbox is None:
        cli.say(f"where {place.where} stands on the page is not known; the whole page is shown")
    return pictures.page(pdf, place.page, bbox=wider(place), longest=pixels)


def wider(place) -> list[float] | None:
    """The box to show. A figure's is found from its parts, and lines at its rim may be missed: more is shown above and beside
    it; one no taller than a caption may hold only that, and then the page is shown."""
    if place.kind != "figure" or place.bbox is None:
        return place.bbox
    x0, y0, x1, y1 = place.bbox
    height = abs(y1 - y0)
    return None if height < 48 else [x0 - 12, min(y0, y1) - max(24, 0.25 * height), x1 + 12, max(y0, y1)]


if __name__ == "__main__":
    sys.exit(cli.run(main))
