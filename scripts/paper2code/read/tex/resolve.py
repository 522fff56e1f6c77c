"""The last step of a reading: references and citations as they are printed, everywhere they stand."""

from __future__ import annotations

import re

from paper2code.paper import Link, Paper, Reference
from paper2code.read.tex.citations import CITES
from paper2code.read.tex.document import MARKED, SEP, Document
from paper2code.read.tex.lexer import lex

# What \cref and \autoref call each kind, one and many; cleveref abbreviates equation and figure unless told not to.
NAMES = {"equation": ("equation", "equations"), "figure": ("figure", "figures"), "table": ("table", "tables"),
         "section": ("section", "sections"), "subsection": ("section", "sections"), "subsubsection": ("section", "sections"),
         "appendix": ("appendix", "appendices"), "chapter": ("chapter", "chapters"), "algorithm": ("algorithm", "algorithms"),
         "listing": ("listing", "listings"), "footnote": ("footnote", "footnotes"), "item": ("item", "items"),
         "subfigure": ("figure", "figures"), "subtable": ("table", "tables"), "part": ("part", "parts"),
         "paragraph": ("paragraph", "paragraphs")}
SHORT = {"equation": ("eq.", "eqs."), "figure": ("fig.", "figs."), "subfigure": ("fig.", "figs.")}
AUTO = {"equation": "Equation", "figure": "Figure", "table": "Table", "section": "section", "subsection": "subsection",
        "subsubsection": "subsubsection", "appendix": "Appendix", "chapter": "chapter", "algorithm": "Algorithm",
        "footnote": "footnote", "item": "item", "subfigure": "Figure", "subtable": "Table", "part": "Part",
        "listing": "Listing", "paragraph": "paragraph"}


class Resolver:
    def __init__(self, doc: Document):
        self.doc = doc
        self.labels = doc.labels
        self.references = {reference.key: reference for reference in doc.paper.references}
        self.lower = {key.lower(): key for key in self.references}
        self.numeric = doc.styles.get("cite") == "numeric"
        brackets = str(doc.styles.get("brackets") or ("[]" if self.numeric else "()"))
        self.left, self.right = brackets[0], brackets[1]
        options = doc.packages.get("cleveref", "")
        self.capital = "capital" in options
        self.short = "noabbrev" not in options
        self.missing: dict[str, int] = {}

    def text(self, text: str | None) -> str | None:
        if not text or "\ue000" not in text:
            return text
        return MARKED.sub(self.one, text)

    def one(self, found: re.Match) -> str:
        kind, *parts = found[1].split(SEP)
        if kind in CITES or kind in ("citet*", "citep*"):
            return self.cite(kind, *parts)
        if kind in ("crefrange", "Crefrange", "refrange"):
            name = self.name(kind, parts[0], many=True)
            return f"{name} {self.number(parts[0])} to {self.number(parts[1])}".strip()
        return self.refer(kind, [key.strip() for key in parts[0].split(",") if key.strip()])

    def number(self, key: str) -> str:
        found = self.labels.get(key)
        if found is None or not found[0]:
            self.missing[key] = 1
            return "??"
        return found[0]

    def refer(self, kind: str, keys: list[str]) -> str:
        if not keys:
            return ""
        if kind == "eqref" or kind == "refeq":
            return f"({self.number(keys[0])})"
        if kind == "nameref":
            found = self.labels.get(keys[0])
            return found[2] if found else "??"
        if kind in ("pageref", "cpageref", "labelcpageref"):
            return "??"
        if kind in ("autoref", "Autoref"):
            found = self.labels.get(keys[0])
            if found is None:
                return self.number(keys[0])
            own = f"\\{found[1]}autorefname"
            name = self.doc.text([own]) if own in self.doc.macros else AUTO.get(found[1]) or self.theorem(found[1])
            return f"{name} {found[0]}".strip()
        if kind in ("cref", "Cref", "labelcref", "namecref", "nameCref", "zcref"):
            return self.clever(kind, keys)
        if kind == "thref":
            found = self.labels.get(keys[0])
            return f"{self.theorem(found[1]) if found else ''} {self.number(keys[0])}".strip()
        if kind in ("fref", "Fref"):
            return f"{'figure' if kind == 'fref' else 'Figure'} {self.number(keys[0])}"
        return ", ".join(self.number(key) for key in keys)

    def theorem(self, environment: str) -> str:
        return self.doc.theorems.get(environment, ("", None))[0]

    def name(self, kind: str, key: str, *, many: bool = False) -> str:
        found = self.labels.get(key)
        what = found[1] if found else ""
        given = self.doc.styles.get(f"{kind if kind in ('cref', 'Cref') else 'cref'}:{self.base(what)}") or self.doc.styles.get(
            f"{'Cref' if kind == 'cref' else 'cref'}:{self.base(what)}")
        if isinstance(given, tuple):
            name = given[many]
            return name[:1].upper() + name[1:] if kind.startswith("C") else name
        upper = kind.startswith("C") or self.capital or kind == "nameCref"
        if self.theorem(what):
            name = self.theorem(what).lower() + ("s" if many else "")
        else:
            name = NAMES.get(what, ("", ""))[many]
            if self.short and not kind.startswith("C") and what in SHORT:
                name = SHORT[what][many]
        return name[:1].upper() + name[1:] if upper else name

    @staticmethod
    def base(what: str) -> str:
        return {"subsection": "section", "subsubsection": "section", "subfigure": "figure", "subtable": "table",
                "item": "enumi"}.get(what, what)

    def clever(self, kind: str, keys: list[str]) -> str:
        groups: dict[str, list[str]] = {}
        for key in keys:
            found = self.labels.get(key)
            groups.setdefault(self.base(found[1]) if found else "", []).append(key)
        out = []
        for what, members in groups.items():
            form = self.doc.styles.get(f"{kind}format:{what}") or self.doc.styles.get(f"{kind}:{what}:format")
            if isinstance(form, str) and len(members) == 1:
                shown = form.replace("#1", self.number(members[0])).replace("#2", "").replace("#3", "")
                out.append(self.doc.text(lex(shown)))
                continue
            numbers = [self.number(key) for key in members]
            if what == "equation":
                numbers = [f"({number})" for number in numbers]
            shown = numbers[0] if len(numbers) == 1 else f"{', '.join(numbers[:-1])} and {numbers[-1]}"
            if len(numbers) > 2 and consecutive(numbers):
                shown = f"{numbers[0]} to {numbers[-1]}"
            name = "" if kind == "labelcref" else self.name("Cref" if kind == "nameCref" else kind, members[0],
                                                            many=len(members) > 1)
            out.append(name if kind.startswith("name") else f"{name} {shown}".strip())
        return out[0] if len(out) == 1 else f"{', '.join(out[:-1])} and {out[-1]}"

    # --- citations -------------------------------------------------------------------------------------------------------

    def reference(self, key: str) -> Reference | None:
        return self.references.get(key) or self.references.get(self.lower.get(key.lower(), ""))

    def parts(self, reference: Reference) -> tuple[str, str]:
        """Names and year of a reference, for an author-year citation."""
        label = str(self.doc.styles.get(f"author:{reference.key}") or reference.label or "")
        found = re.match(r"(.*?),?\s*\(?(\d{4}[a-z]?|n\.d\.)\)?$", label)
        if found and found[1]:
            return found[1].strip(" ,"), found[2]
        from paper2code.read.tex.citations import author_label
        return author_label(reference.authors) or label, reference.year or ""

    def cite(self, kind: str, keys: str, pre: str = "", post: str = "", *rest: str) -> str:
        names = [key.strip() for key in keys.split(",") if key.strip()]
        found = [self.reference(key) for key in names]
        for key, reference in zip(names, found, strict=True):
            if reference is None:
                self.missing[key] = 1
        pre, post = self.text(pre) or "", self.text(post) or ""
        before, after = (pre + " " if pre else ""), (", " + post if post else "")
        if kind in ("citeauthor", "Citeauthor"):
            return ", ".join(self.parts(r)[0] if r else "?" for r in found)
        if kind in ("citeyear", "citeyearNP", "citeyearpar", "yrcite"):
            years = ", ".join(self.parts(r)[1] if r else "?" for r in found)
            return f"({before}{years}{after})" if kind in ("citeyearpar", "yrcite") else years
        if kind == "citetitle":
            return ", ".join((r.title or "") if r else "?" for r in found)
        if self.numeric:
            numbers = [r.label or "?" if r else "?" for r in found]
            numbers = ordered(numbers, bool(self.doc.styles.get("cite sort")), bool(self.doc.styles.get("cite compress")))
            inner = f"{self.left}{before}{', '.join(numbers)}{after}{self.right}"
            if kind in ("citet", "citet*", "textcite", "citeasnoun", "newcite", "Textcite") and found and found[0]:
                return ", ".join(f"{self.parts(r)[0]} {self.left}{before}{r.label}{after}{self.right}"
                                 if r else "?" for r in found)
            if kind in ("citealp", "citealt", "citenum", "citen", "onlinecite", "citeNP"):
                return f"{before}{', '.join(numbers)}{after}"
            return inner
        textual = kind in ("citet", "citet*", "textcite", "Textcite", "citeasnoun", "newcite", "citeA", "shortciteA", "citeN")
        if kind == "cite" and not self.doc.styles.get("cite is citep") and not (pre or post):
            textual = "natbib" in self.doc.packages or self.uses_natbib()
        if textual:
            return ", ".join(f"{self.parts(r)[0]} ({before}{self.parts(r)[1]}{after})" if r else "?" for r in found)
        joint = " " if kind in ("citealt",) else ", "
        shown = self.listed(found, joint)
        if kind in ("citealp", "citealt", "citeNP"):
            return f"{before}{shown}{after}"
        return f"{self.left}{before}{shown}{after}{self.right}"

    def listed(self, found: list[Reference | None], joint: str) -> str:
        """`Ho et al., 2020; Song, 2019, 2020`: years of the same authors one after the other go together."""
        out: list[str] = []
        before = None
        for reference in found:
            names, year = self.parts(reference) if reference else ("?", "")
            if names == before and year and out:
                last = re.search(r"(\d{4})[a-z]$", out[-1])
                same = last and re.fullmatch(last[1] + "[a-z]", year)
                separator = str(self.doc.styles.get("years") or ",")
                out[-1] += f",{year[-1]}" if same else f"{separator} {year}"
            else:
                out.append(joint.join(part for part in (names, year) if part))
            before = names
        return "; ".join(out)

    def uses_natbib(self) -> bool:
        return any(re.match(r"(neurips|nips|iclr|icml|colm|tmlr|aistats|uai|jmlr)", name) for name in self.doc.packages)


def consecutive(numbers: list[str]) -> bool:
    heads = [re.match(r"(.*?)(\d+)(\)?)$", number) for number in numbers]
    return all(heads) and len({h[1] for h in heads}) == 1 and all(int(b[2]) - int(a[2]) == 1 for a, b in zip(heads, heads[1:],
        strict=False))


def ordered(numbers: list[str], sort: bool, compress: bool) -> list[str]:
    """Citation numbers as the cite package or natbib's options print them."""
    if not all(number.isdecimal() for number in numbers):
        return numbers
    values = [int(number) for number in numbers]
    if sort:
        values.sort()
    if not compress:
        return [str(value) for value in values]
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return [part for run in runs for part in ([f"{run[0]}–{run[-1]}"] if len(run) > 2 else map(str, run))]


def resolve(doc: Document) -> None:
    """Replace every mark in the paper by what is printed, and note which references a block cites."""
    paper: Paper = doc.paper
    resolver = Resolver(doc)
    text = resolver.text
    paper.title, paper.abstract = text(paper.title) or "", text(paper.abstract) or ""
    for section in paper.sections:
        section.title = text(section.title) or ""
        for block in section.blocks:
            block.cites = cites(block.text, resolver)
            block.text = text(block.text) or ""
            block.number = text(block.number)
    for equation in paper.equations:
        equation.latex = text(equation.latex)
        equation.raw = text(equation.raw)
        equation.number = text(equation.number)
    for item in (*paper.tables, *paper.figures, *paper.algorithms):
        item.caption = text(item.caption) or ""
        item.number = text(item.number)
    for table in paper.tables:
        table.rows = [[text(cell) or "" for cell in row] for row in table.rows]
    for algorithm in paper.algorithms:
        algorithm.lines = [text(line) or "" for line in algorithm.lines]
    for footnote in paper.footnotes:
        footnote.text = text(footnote.text) or ""
    for reference in paper.references:
        reference.text = text(reference.text) or ""
    for link in paper.links:
        link.context, link.text = sentence_around(text(link.context) or "", text(link.text) or ""), text(link.text) or ""
    for entry in paper.hidden:
        entry["text"] = text(entry["text"]) or ""
    bare_links(paper)
    if resolver.missing:
        shown = ", ".join(list(resolver.missing)[:12])
        doc.warnings.append(("unresolved", f"{len(resolver.missing)} labels or keys are referred to and not defined: {shown}",
                             None))


URL = re.compile(r"https?://[^\s<>{}$“”\"|\\^`]+[^\s<>{}$“”\"|\\^`.,;:!?)\]'’]")


def bare_links(paper: Paper) -> None:
    """Addresses that are written out without a command."""
    known = {link.url.rstrip("/") for link in paper.links}
    texts = [(block.text, "text", section.id) for section in paper.sections for block in section.blocks]
    texts += [(note.text, "footnote", note.section) for note in paper.footnotes] + [(paper.abstract, "abstract", None)]
    texts += [(item.caption, "caption", item.section) for item in (*paper.tables, *paper.figures)]
    for text, where, section in texts:
        for found in URL.finditer(text) if "://" in text else ():
            if found[0].rstrip("/") not in known:
                known.add(found[0].rstrip("/"))
                paper.links.append(Link(found[0], found[0], sentence_around(text, found[0]), where, section))


def cites(text: str, resolver: Resolver) -> list[str]:
    out: list[str] = []
    if "\ue000" in text:
        for found in MARKED.finditer(text):
            kind, *parts = found[1].split(SEP)
            if kind in CITES or kind in ("citet*", "citep*"):
                for key in parts[0].split(","):
                    reference = resolver.reference(key.strip())
                    if reference is not None and reference.key not in out:
                        out.append(reference.key)
    return out


def sentence_around(context: str, text: str) -> str:
    """The sentence of `context` in which `text` stands."""
    at = context.find(text) if text else -1
    if at < 0:
        return context[:400]
    start = max((m.end() for m in re.finditer(r"[.!?]\s+(?=[A-Z“(])", context[:at])), default=0)
    end = re.search(r"[.!?](?=\s+[A-Z“(]|\s*$)", context[at + len(text):])
    stop = at + len(text) + end.end() if end else len(context)
    return context[start:stop].strip()[:600]
