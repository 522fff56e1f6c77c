"""Citations and the bibliography: what `\\cite` prints, entries from a .bbl, else from the .bib files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from paper2code.paper import Reference
from paper2code.read.tex.document import ENVIRONMENTS, Document, command, flowed, plain
from paper2code.read.tex.lexer import Lexer, lex, written
from paper2code.read.tex.structure import mark

CITES = ("cite", "citep", "citet", "citealp", "citealt", "citeauthor", "citeyear", "citeyearpar", "Citep", "Citet", "Citealp",
         "Citealt", "Citeauthor", "parencite", "textcite", "autocite", "footcite", "Parencite", "Textcite", "Autocite",
         "smartcite", "supercite", "fullcite", "citenum", "citen", "onlinecite", "shortcite", "shortciteA", "citeA", "citeNP",
         "citeasnoun", "citeN", "newcite", "citeads", "cites", "footfullcite", "citetitle", "citeposs", "yrcite", "citeyearNP",
         "refcite", "citeauthoryear", "citetalias", "citepalias", "parencites", "textcites", "autocites", "citeNoParens",
         "posscite", "citealtp", "citepos", "citep*", "shortcites", "citenp")


@command(*CITES)
def cite(doc: Document, name: str) -> None:
    star = doc.star()
    first = doc.optional()
    second = doc.optional() if first is not None else None
    pre, post = (first, second) if second is not None else (None, first)
    keys = doc.word_arg()
    if name in ("cites", "parencites", "textcites", "autocites"):
        while doc.peek() in ("{", "["):
            doc.optional()
            keys += "," + doc.word_arg()
    doc.cited += [key.strip() for key in keys.split(",")]
    kind = {"Citet": "citet", "Citep": "citep", "Citealt": "citealt", "Citealp": "citealp", "Citeauthor": "citeauthor"}.get(name,
        name)
    if kind in ("citet", "citep") and star:
        kind += "*"
    doc.put(mark(kind, keys, doc.text(pre or []), doc.text(post or [])))


@command("nocite")
def nocite(doc: Document, name: str) -> None:
    keys = doc.word_arg()
    if keys.strip() == "*":
        doc.all_cited = True
    doc.cited += [key.strip() for key in keys.split(",")]


@command("citetext")
def citetext(doc: Document, name: str) -> None:
    doc.put(f"({doc.text(doc.arg())})")


@command("bibliographystyle")
def bibliographystyle(doc: Document, name: str) -> None:
    doc.bib_style = doc.word_arg()


@command("addbibresource", "addglobalbib")
def addbibresource(doc: Document, name: str) -> None:
    doc.optional()
    doc.bib_files.append(doc.word_arg())


@command("bibliography", "printbibliography", "bibselect", "nobibliography", "putbib")
def bibliography(doc: Document, name: str) -> None:
    if name == "printbibliography":
        doc.optional()
    elif name != "putbib" or doc.peek() == "[":
        names = doc.word_arg() if name != "putbib" else written(doc.optional() or [])
        doc.bib_files += [one.strip() for one in names.split(",") if one.strip()]
    if doc.context.kind == "void":
        return
    doc.par()
    doc.bibliography_seen = True
    if doc.items:
        return
    main = doc.reading[0] if doc.reading else ""
    stem = re.sub(r"\.\w+$", "", main)
    found = doc.source.find(stem + ".bbl", ("",))
    if found is None:
        others = [one for one in doc.source.names if one.endswith(".bbl")]
        if len(others) == 1:
            found = others[0]
        elif others:
            cited = set(doc.cited)
            found = max(others, key=lambda one: len(cited & set(re.findall(r"\{([^{}\s]+)\}", doc.source.text(one)))))
    if found is None:
        return
    text = doc.source.text(found)
    if "\\entry{" in text and "\\begin{thebibliography}" not in text:
        doc.items += [Item(key, entry=fields) for key, fields in biblatex(text)]
    elif found not in doc.reading:
        doc.reading.append(found)
        doc.open(Lexer(text, found))


@dataclass
class Item:
    """A reference as it was found: tokens of a `\\bibitem`, or the fields of an entry."""

    key: str
    label: list[str] | None = None
    text: str = ""
    parts: list[str] = field(default_factory=list)
    entry: dict[str, str] | None = None


def begin_bibliography(doc: Document, name: str) -> object:
    doc.par()
    doc.arg()
    doc.bibliography_seen = True
    doc.enter("bibliography")
    return True


def finish_item(doc: Document) -> None:
    """The text collected since the last `\\bibitem` is its entry's."""
    text = "".join(doc.context.parts)
    doc.context.parts.clear()
    if doc.items and doc.reading_bibliography:
        last = doc.items[-1]
        last.parts = [part for piece in text.split("\ue003") if (part := flowed([piece]))]
        last.text = flowed([text.replace("\ue003", " ")])
        doc.note_links(doc.context, last.text, "reference")
    doc.context.links.clear()
    doc.context.after.clear()


@command("bibitem", "lbibitem", "refitem")
def bibitem(doc: Document, name: str) -> None:
    if doc.context.kind == "bibliography":
        finish_item(doc)
    label = doc.optional()
    key = doc.word_arg()
    doc.items.append(Item(key, label))
    doc.reading_bibliography = True
    if doc.context.kind != "bibliography":
        doc.par()


@command("newblock")
def newblock(doc: Document, name: str) -> None:
    doc.put("\ue003" if doc.context.kind == "bibliography" else " ")


@command("bibinfo", "bibfield", "bibnamefont", "bibfnamefont", "showarticletitle", "citenamefont", "natexlab", "BibitemShut",
         "BibitemOpen", "bibnote", "eprint", "showDOI", "showISBN", "showISSN", "showLCCN", "shownote", "showURL", "urlprefix",
         "Eprint", "doi", "translation", "noopsort", "singleletter", "BIBentryALTinterwordspacing",
         "BIBentrySTDinterwordspacing", "BIBforeignlanguage", "bibsc", "bibcommenthead", "bibrangedash", "href@noop", "Url",
         "biburl")
def bib_piece(doc: Document, name: str) -> None:
    if name in ("bibinfo", "bibfield"):
        kind = doc.word_arg()
        if kind in ("title") and doc.context.kind == "bibliography":
            held = doc.text(doc.arg())
            doc.put(f"\ue004{held}\ue005")
        return
    if name == "showarticletitle":
        doc.put(f"\ue004{doc.text(doc.arg())}\ue005")
    elif name in ("BibitemShut", "noopsort", "BIBforeignlanguage", "BibitemOpen"):
        if name != "BibitemOpen":
            doc.arg()
    elif name == "bibrangedash":
        doc.put("–")
    elif name in ("doi", "showDOI"):
        held = written(doc.arg())
        doc.put(("doi: " if "doi.org" not in held else "") + plain(held.replace("\\_", "_")))
    elif name in ("showISBN", "showISSN", "showLCCN"):
        doc.arg()


def end_bibliography(doc: Document, name: str, state: object) -> None:
    if doc.context.kind == "bibliography":
        finish_item(doc)
        doc.reading_bibliography = False
        doc.leave()


for _name in ("thebibliography", "references", "mcitethebibliography"):
    ENVIRONMENTS[_name] = (begin_bibliography, end_bibliography)


# --- .bib and biblatex's .bbl ----------------------------------------------------------------------------------------------


def biblatex(text: str) -> list[tuple[str, dict[str, str]]]:
    """Entries of the .bbl that biblatex writes."""
    out = []
    for found in re.finditer(r"\\entry\{([^{}]+)\}\{(\w+)\}.*?\n(.*?)\\endentry", text, re.S):
        key, kind, body = found[1], found[2], found[3]
        fields = {"entrytype": kind}
        for name, value in re.findall(r"\\field\{(\w+)\}\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", body):
            fields[name] = value
        for name, value in re.findall(r"\\verb\{(\w+)\}\s*\n\s*\\verb ([^\n]*)\n", body):
            fields[name] = value
        people = []
        names = re.search(r"\\name\{author\}\{\d+\}\{[^}]*\}\{%?(.*?)\n\s*\}\s*\n", body, re.S)
        if names:
            for person in re.finditer(r"\{\{[^}]*\}\{(.*?)\}\}(?:%|\s*$)", names[1], re.S | re.M):
                parts = dict(re.findall(r"(family|given|prefix)=\{((?:[^{}]|\{[^{}]*\})*)\}", person[1]))
                people.append(f"{parts.get('family', '')}, {parts.get('given', '')}".strip(", "))
        if people:
            fields["author"] = " and ".join(people)
        fields.setdefault("journal", fields.get("journaltitle", ""))
        out.append((key, fields))
    return out


MONTHS = {m: m.capitalize() for m in ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")}


def parse_bib(text: str, wanted: set[str] | None, strings: dict[str, str]) -> dict[str, dict[str, str]]:
    """Entries of a .bib file; only those `wanted` when given. Broken entries are passed over."""
    out: dict[str, dict[str, str]] = {}
    starts = [(m.start(), m.end(), m[1].lower()) for m in re.finditer(r"@\s*(\w+)\s*[{(]", text)]
    for at, (_, begin, kind) in enumerate(starts):
        limit = starts[at + 1][0] if at + 1 < len(starts) else len(text)
        if kind in ("comment", "preamble"):
            continue
        if kind == "string":
            found = re.match(r"\s*([\w:-]+)\s*=\s*", text[begin:limit])
            if found:
                strings[found[1].lower()] = value_at(text, begin + found.end(), limit, strings)[0]
            continue
        found = re.match(r"\s*([^,\s{}]+)\s*,", text[begin:limit])
        if not found or (wanted is not None and found[1].lower() not in wanted):
            continue
        fields = {"entrytype": kind}
        pos = begin + found.end()
        while pos < limit:
            name = re.compile(r"[\s,]*([A-Za-z][\w:-]*)\s*=\s*").match(text, pos, limit)
            if not name:
                break
            # An @ inside a value is no new entry.
            value, pos = value_at(text, name.end(), len(text), strings)
            fields.setdefault(name[1].lower(), value)
        out.setdefault(found[1], fields)
    return out


def value_at(text: str, pos: int, limit: int, strings: dict[str, str]) -> tuple[str, int]:
    """A field's value from `pos`: braces, quotes, names of strings, joined by `#`."""
    parts = []
    while pos < limit:
        while pos < limit and text[pos].isspace():
            pos += 1
        if pos >= limit:
            break
        char = text[pos]
        if char in '{"':
            depth, start = 0, pos
            end = min(limit, pos + 20_000)
            while pos < end:
                here = text[pos]
                if here == "\\":
                    pos += 2
                    continue
                if here == "{":
                    depth += 1
                elif here == "}":
                    depth -= 1
                    if char == "{" and not depth:
                        break
                elif here == '"' and char == '"' and not depth and pos > start:
                    break
                pos += 1
            parts.append(text[start + 1:pos])
            pos += 1
        else:
            found = re.compile(r"[^\s,{}#\"]+").match(text, pos)
            if not found:
                break
            word = found[0]
            parts.append(strings.get(word.lower(), MONTHS.get(word.lower(), word)))
            pos = found.end()
        joint = re.compile(r"\s*#\s*").match(text, pos)
        if not joint:
            break
        pos = joint.end()
    return re.sub(r"\s+", " ", "".join(parts)).strip(), pos


def people(doc: Document, text: str) -> list[str]:
    """BibTeX's names as printed: given names first."""
    out = []
    for one in re.split(r"\s+and\s+(?![^{]*\})", text.strip()):
        one = one.strip()
        if not one:
            continue
        if one.lower() in ("others",):
            out.append("et al.")
            continue
        if "," in one and not one.startswith("{"):
            parts = [part.strip() for part in one.split(",")]
            one = f"{parts[-1]} {parts[0]}" if len(parts) == 2 else f"{parts[2]} {parts[0]} {parts[1]}"
        out.append(printed(doc, one))
    return out


def printed(doc: Document, text: str) -> str:
    return doc.text(lex(text.replace("%", "\\%") if not re.search(r"\\%", text) else text)) if text else ""


def surname(name: str) -> str:
    """The family name of `Given Family`."""
    words = name.split()
    if not words or name == "et al.":
        return name
    for at, word in enumerate(words[:-1]):
        if at and word.lower() in ("van", "von", "de", "der", "den", "del", "della", "di", "da", "dos", "du", "la", "le", "ter",
                                   "ten"):
            return " ".join(words[at:])
    return words[-1]


def author_label(names: list[str]) -> str:
    shown = [surname(name) for name in names if name != "et al."]
    if not shown:
        return ""
    if len(names) == 1:
        return shown[0]
    if len(names) == 2 and names[1] != "et al.":
        return f"{shown[0]} and {shown[1]}"
    return f"{shown[0]} et al."


# --- references --------------------------------------------------------------------------------------------------------------

ARXIV = re.compile(r"(?:arxiv\.org/(?:abs|pdf|html)/|arxiv[:\s]\s*|abs/|eprint\D{0,3})((?:\d{4}\.\d{4,5}|"
                   r"[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)", re.I)
DOI = re.compile(r"\b(10\.\d{4,9}/[^\s,;}\]>\"]+)")
NUMERIC = re.compile(r"^(plain|unsrt|abbrv|ieee|siam|acm|splncs|aaai\d*num|elsarticle-num|model1-num|spmpsci|spphys|vancouver|"
                     r"naturemag|apsrev|"
                     r"aipnum|unsrtnat-num|revtex|iop|JHEP|h-physrev|utphys|amsplain|nature|pnas|science|osajnl|IEEEtran|"
                     r"ieee_?fullname|"
                     r"ieeenat_fullname|splncs04|ACM-Reference|nips|sn-)", re.I)
AUTHOR_YEAR = re.compile(r"natbib|plainnat|abbrvnat|unsrtnat|apalike|icml|iclr|acl|emnlp|naacl|chicago|harvard|elsarticle-harv|"
                         r"mnras|aasjournal|apj|"
                         r"agsm|colm|tmlr|jmlr|aaai|rlc|named|dcu|apa|ims|agu|humannat|uai", re.I)


def finish(doc: Document) -> None:
    """Make the references, and decide how citations are printed."""
    if not doc.items:
        from_bib(doc)
    labelled = 0
    references: list[Reference] = []
    for number, item in enumerate(doc.items, 1):
        reference = from_entry(doc, item) if item.entry is not None else from_text(doc, item)
        if item.label is not None:
            pieces = natbib_label(doc, item.label)
            reference.label = pieces or doc.text(item.label)
            labelled += bool(pieces)
        doc.styles[f"number:{item.key}"] = str(number)
        references.append(reference)
    told = doc.styles.get("cite")
    if told is None:
        if labelled and labelled >= len(doc.items) / 2:
            numeric = (bool(NUMERIC.match(doc.bib_style)) and not AUTHOR_YEAR.search(doc.bib_style)
                       and "natbib" not in doc.packages)
        elif any(item.entry is not None for item in doc.items):
            numeric = not (AUTHOR_YEAR.search(doc.bib_style) or ("natbib" in doc.packages and not NUMERIC.match(doc.bib_style)))
        else:
            numeric = True
        told = "numeric" if numeric else "author-year"
    doc.styles["cite"] = told
    for number, reference in enumerate(references, 1):
        if told == "numeric" and (reference.label is None or re.search(r"\d{4}", reference.label or "")):
            if reference.label:
                doc.styles[f"author:{reference.key}"] = reference.label
            reference.label = str(number)
        elif reference.label is None:
            names = author_label(reference.authors)
            reference.label = f"{names}, {reference.year}" if names and reference.year else names or str(number)
    doc.paper.references = references


def natbib_label(doc: Document, label: list[str]) -> str:
    """`Kingma and Ba(2014)Kingma, Ba` as `Kingma and Ba, 2014`; "" when a label is not natbib's."""
    if label and label[0] in ("\\protect", "{"):
        label = [t for t in label if t not in ("\\protect",)]
    text = doc.text(label)
    command_ = next((t for t in label if t in ("\\citeauthoryear", "\\protect\\citeauthoryear", "\\astroncite", "\\citename")), None)
    if command_ == "\\citeauthoryear" or "\\citeauthoryear" in label:
        at = label.index("\\citeauthoryear")
        groups, depth, here = [], 0, []
        for token in label[at + 1:]:
            if token == "{":
                depth += 1
                if depth == 1:
                    here = []
                    continue
            if token == "}":
                depth -= 1
                if not depth:
                    groups.append(doc.text(here))
                    continue
            if depth:
                here.append(token)
        if len(groups) >= 2:
            return f"{groups[-2] if len(groups) == 3 else groups[0]}, {groups[-1]}"
    found = re.match(r"(.+?)\s*\((\d{4}[a-z]?|n\.?\s?d\.?[a-z]?|in press|to appear|forthcoming|[^()]{0,12}?\d{4}[a-z]?|)\)(.*)$",
                     text, re.S)
    if not found:
        return ""
    return f"{found[1].strip()}, {found[2].strip()}".rstrip(", ")


def year_of(text: str) -> str | None:
    years = re.findall(r"(?<![\d./:-])((?:18|19|20)\d{2})[a-z]?(?![\d/])", re.sub(r"https?://\S+|\d{4}\.\d{4,5}", " ", text))
    return years[-1] if years else None


def from_text(doc: Document, item: Item) -> Reference:
    """A reference from a printed entry."""
    titled = re.search("\ue004(.*?)\ue005", item.text)
    parts = [re.sub("[\ue004\ue005]", "", part) for part in item.parts]
    text = re.sub("[\ue004\ue005]", "", item.text)
    reference = Reference(item.key, text)
    title = titled[1] if titled else None
    if title is None:
        quoted = re.search(r"“(.{6,300}?),?”", text)
        if quoted:
            title = quoted[1]
        elif len(parts) >= 3 or (len(parts) == 2 and len(parts[1]) > 10):
            title = parts[1]
            found = re.match(r"(.{6,}?[.?!])\s+(In |arXiv|Proceedings|[A-Z][\w ]+, \d)", title)
            if found and len(parts) == 2:
                title = found[1]
    reference.title = title.strip().rstrip(".,").strip() if title else None
    head = parts[0] if parts and len(parts) > 1 else text.split("“")[0] if "“" in text else ""
    reference.authors = split_names(head) if head and len(head) < 3000 else []
    known(reference, text)
    return reference


def split_names(head: str) -> list[str]:
    """Author names of a printed list."""
    head = re.sub(r"\(?\b(18|19|20)\d{2}[a-z]?\)?\.?\s*$", "", head.strip()).strip().rstrip(".,: ")
    parts = re.split(r",\s+and\s+|\s+and\s+|\s*&\s*|;\s+|,\s+", head)
    parts = [part.strip() for part in parts if part.strip()]
    out: list[str] = []
    for part in parts:
        if out and re.fullmatch(r"(?:[A-Z]\.?[-\s]*){1,4}|Jr\.?|Sr\.?|I{2,3}", part):
            out[-1] = f"{part} {out[-1]}" if not part.startswith(("Jr", "Sr", "II")) else f"{out[-1]} {part}"
        else:
            out.append(part)
    return [name for name in out if 1 < len(name) < 80][:500]


def known(reference: Reference, text: str) -> None:
    """The identifiers that an entry's text holds."""
    arxiv = ARXIV.search(text)
    if arxiv and not reference.arxiv:
        reference.arxiv = arxiv[1]
    doi = DOI.search(text)
    if doi and not reference.doi:
        reference.doi = doi[1].rstrip(".")
        inside = re.match(r"10\.48550/arxiv\.(\d{4}\.\d{4,5})", reference.doi, re.I)
        if inside and not reference.arxiv:
            reference.arxiv = inside[1]
    url = re.search(r"https?://[^\s,;}\]>\"]+", text)
    if url and not reference.url:
        reference.url = url[0].rstrip(".)")
    reference.year = reference.year or year_of(text)


def from_bib(doc: Document) -> None:
    """Entries from the .bib files, those cited, in the order a style would print them."""
    cited = list(dict.fromkeys(key for key in doc.cited if key and key != "*"))
    if not cited and not doc.all_cited:
        return
    wanted = None if doc.all_cited else {key.lower() for key in cited}
    entries: dict[str, dict[str, str]] = {}
    strings: dict[str, str] = {}
    names = list(dict.fromkeys(doc.bib_files)) or [name for name in doc.source.names if name.endswith(".bib")]
    for name in names:
        found = doc.source.find(name, (".bib", ""))
        if found is None:
            if not doc.bib_files or not any(doc.source.find(other, (".bib", "")) for other in names):
                doc.warn("missing-input", f"the bibliography {name[:120]} is not in the source")
            continue
        for key, fields in parse_bib(doc.source.text(found), wanted, strings).items():
            entries.setdefault(key, fields)
    lower = {key.lower(): key for key in entries}
    order = list(entries) if doc.all_cited else [lower[key.lower()] for key in cited if key.lower() in lower]
    for key in list(order):
        parent = entries[key].get("crossref", "").lower()
        if parent and parent in lower:
            for name, value in entries[lower[parent]].items():
                entries[key].setdefault("booktitle" if name == "title" else name, value)
    items = [Item(key, entry=entries[key]) for key in dict.fromkeys(order)]
    if not re.match(r"unsrt|ieee|IEEE|splncs|naturemag|elsarticle-num|sn-", doc.bib_style):
        items.sort(key=lambda item: sort_key(item.entry or {}))
    for item in items:
        for key in cited:
            if key.lower() == item.key.lower():
                item.key = key
                break
    doc.items = items


def sort_key(entry: dict[str, str]) -> tuple[str, str, str]:
    first = re.split(r"\s+and\s+", entry.get("author") or entry.get("editor") or entry.get("organization") or entry.get("title",
        ""))[0]
    family = first.split(",")[0] if "," in first else (first.split() or [""])[-1]
    clean = re.sub(r"[^a-z ]", "", re.sub(r"\\\W|\\[A-Za-z]+", "", family).lower())
    return clean, entry.get("year", ""), entry.get("title", "").lower()


def from_entry(doc: Document, item: Item) -> Reference:
    """A reference from the fields of an entry."""
    entry = item.entry or {}
    names = people(doc, entry.get("author") or entry.get("editor") or "")
    title = printed(doc, entry.get("title", ""))
    year = entry.get("year") or (re.match(r"\d{4}", entry.get("date", "")) or [""])[0] or None
    where = printed(doc, entry.get("booktitle") or entry.get("journal") or entry.get("school") or entry.get("institution")
                    or entry.get("publisher") or entry.get("howpublished") or entry.get("organization") or "")
    details = [where]
    if entry.get("volume"):
        details.append(entry["volume"] + (f"({entry['number']})" if entry.get("number") else ""))
    if entry.get("pages"):
        details.append(printed(doc, entry["pages"]))
    shown = ", ".join(names[:-1]) + (f", and {names[-1]}" if len(names) > 2 and names[-1] != "et al." else f" and {names[-1]}"
                                     if len(names) == 2 and
                                     names[-1] != "et al." else f", {names[-1]}"
                                     if len(names) > 1 else "") if len(names) > 1 else "".join(names)
    text = ". ".join(part.rstrip(".") for part in (shown, title, ", ".join([d for d in details
                                                                            if d] + ([year] if year else []))) if part)
    note = printed(doc, entry.get("note", ""))
    text = text + "." + (f" {note}." if note else "")
    reference = Reference(item.key, text, title=title or None, authors=[n for n in names if n != "et al."], year=year)
    reference.doi = entry.get("doi") or None
    eprint = entry.get("eprint", "")
    if re.match(r"(\d{4}\.\d{4,5}|[a-z-]+/\d{7})", eprint):
        reference.arxiv = eprint
    reference.url = (entry.get("url") or "").replace("\\_", "_").replace("\\%", "%") or None
    known(reference, " ".join([text, entry.get("url", ""), entry.get("journal", ""), entry.get("volume", ""), entry.get("doi",
        ""),
                               entry.get("howpublished", "")]))
    for url in re.findall(r"\\url\{([^}]+)\}", " ".join((entry.get("note", ""), entry.get("howpublished", "")))):
        reference.url = reference.url or url
    return reference
