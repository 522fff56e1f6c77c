"""What a paper leaves to others: "following [X]", "as in [X]", "the same setting as"; what it calls standard or default; what
it omits or moves to a supplement. Each with its sentence, its place, and the reference as the bibliography has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from paper2code.find.statements import Statement
from paper2code.paper import Paper, Reference

DEFERRED, DEFAULT, OMITTED, SUPPLEMENT = "deferred", "default", "omitted", "supplement"


@dataclass(frozen=True)
class Deferral:
    """`words`: those that defer. `cites`: the references cited in the sentence. `names`: what is named without a citation
    ("the original Transformer"). `items`: points of the checklist that the sentence speaks of."""

    kind: str
    statement: Statement
    words: str
    cites: tuple[Reference, ...] = ()
    names: tuple[str, ...] = ()
    items: tuple[str, ...] = ()


FOLLOWING = re.compile(
    r"\b(?:follow(?:ing|s|ed)?\b(?! (?:the )?(?:following|sections?|table|figure|by\b|from\b|a (?:gaussian|normal|uniform)))"
    r"|as (?:described |proposed |done |detailed |specified |used |suggested |introduced |reported |implemented |defined |recommended "
    r"|presented |outlined )?(?:in|by|for)(?= )|similar(?:ly)? to|the same (?!performance|accuracy|efficiency|results?|speed|test "
    r"dist|distribution|number|amount|order|size|length|time|dimension"
    r"|format|level)\w+(?: \w+){0,3} (?:as|from|of|used)|same as|"
    r"identical to|in line with|in accordance with|according to|in the (?:same )?(?:manner|spirit|way|style) of|"
    r"adopt(?:s|ed|ing)? (?:the )?[^.]{0,40}?\b(?:from|of|in|by)\b|borrow(?:s|ed|ing)?[^.]{0,30}? from|taken from|adapted from|"
    r"based on|building on|built (?:up)?on|inspired by|consistent with|refer(?:red)? (?:the reader )?to(?! as)|unchanged from|"
    r"inherit(?:s|ed)? "
    r"|we (?:use|employ|adopt|utili[sz]e) the [^.]{0,60}?\b(?:of|from|by|in|used by|used in)\b|closely (?:follows?|resembles?)|"
    r"exactly as|"
    r"(?:per|see)(?= [\[(])|(?:official|original|released|public|publicly available|reference) (?:\w+ )?(?:implementation|code|"
    r"codebase|"
    r"recipe|repository|hyper-?parameters|configurations?|setup|settings?)s?|kept? consistent with|details (?:are|can be) (?:found|"
    r"given) in|"
    r"matching the|counterpart in|referencing)", re.I)
STRONG = re.compile(r"^(?:follow|as |similar|the same|same as|identical|in line|in accordance|adopt|borrow|taken|adapted|exactly|"
                    r"closely|"
                    r"unchanged|kept? consistent|official|original|released|public|reference|refer|inherit|details|matching)", re.I)
INTERNAL = re.compile(r"^[\s,:]*(?:the |our )?(?:previous |next |following |above |below )?(?:§|Sec(?:tion|s?\.)|Appendi|Eqn?s?\b|"
                      r"Equation|Table|"
                      r"Fig|Alg|Theorem|Lemma|Chapter|Proposition|above|below|before|earlier|follows|described|shown|\$|supplement|"
                      r"Supplement)", re.I)
NAMED = re.compile(r"\b(?:the )?(?:original|previous|prior|earlier|existing|official|standard) [A-Za-z][\w-]*(?: [A-Z][\w-]*)?"
                   r"|\b(?:[A-Z][a-z]*[A-Z][\w.-]*|[A-Z]{2,}[\w.-]*|[A-Z]\w*-?\d[\w.-]*)")
NOT_NAMES = re.compile(r"^(?:GPUs?|TPUs?|CPUs?|SGD|ID|OOD|GB|MB|FID|BLEU|We|In|The|For|All|Our|This|It|As)$")
DEFAULTS = re.compile(
    r"\bdefaults?\b|\bstandard\b(?! (?:deviation|error|normal\b|gaussian|basis|score|unit|brownian|wiener|complex|inner|cauchy|"
    r"laplace|form\b|assumption|argument|lemma))|\bde[- ]facto\b|\busual(?:ly)?\b|\btypical(?:ly)?\b|\bcommon(?:ly)? (?:practi[cs]e|"
    r"used|"
    r"adopted|setting|choice|approach)s?\b|\bcommon practi[cs]es?\b|\bconventional(?:ly)?\b|\bcustomar(?:y|ily)\b|\bas is common\b|"
    r"\bvanilla\b|\boff-the-shelf\b|\bout-of-the-box\b|\bwell-(?:established|known)\b|\bcanonical\b|\bas usual\b|\bwidely[- ](?:used|"
    r"adopted)\b|"
    r"\bin the literature\b|\bwithout (?:any )?(?:hyper-?parameter tuning|modif\w+|tuning)\b", re.I)
NOT_DEFAULTS = re.compile(r"gold[- ]standard|standards? (?:for|of) (?:living|care)|state of the standard|non-?standard|\bstandard "
                          r"of\b", re.I)
OMISSIONS = re.compile(
    r"\bwe omit\b|\b(?:is|are) omitted\b|\bomitted (?:here|for|due)\b|\bfor (?:brevity|the sake of (?:brevity|space))\b|\bdue to "
    r"(?:the )?"
    r"(?:lack of |limited )?space\b|\bspace (?:constraints|limit\w*)\b|\bbeyond the scope\b"
    r"|\bnot (?:report|describe|detail)ed here\b", re.I)
SUPPLEMENTS = re.compile(
    r"\bsuppl(?:ementary|emental|ement)\b(?! (?:the|our|a|this)\b)|\bonline appendix\b|\bextended version\b|\bfull version\b|"
    r"\btechnical report\b"
    r"|\b(?:see|in|from) our (?:code|repository|github|project page)\b|\bproject (?:web ?)?page\b", re.I)


def deferrals(paper: Paper, said: list[Statement], items_of: dict[int, tuple[str, ...]] | None = None) -> list[Deferral]:
    """All that the paper's own statements (related work left out) leave to others, in the paper's order."""
    items_of = items_of or {}
    known = {reference.key: reference for reference in paper.references}
    out: list[Deferral] = []
    for statement in said:
        if statement.related or statement.kind in ("title", "heading", "equation", "row", "code"):
            continue
        items = items_of.get(statement.number, ())
        text = statement.text
        for match in FOLLOWING.finditer(text):
            if defers(text, match):
                cites = tuple(cited(statement, paper, known))
                after = text[match.end():match.end() + 90]
                names = tuple(dict.fromkeys(name for name in NAMED.findall(after) if not NOT_NAMES.match(name)))
                strong = bool(STRONG.match(match.group())) and not match.group().lower().startswith("as in general")
                if cites or (names and strong):
                    out.append(Deferral(DEFERRED, statement, match.group().strip(), cites, () if cites else names, items))
                    break
        for kind, pattern in ((DEFAULT, DEFAULTS), (OMITTED, OMISSIONS), (SUPPLEMENT, SUPPLEMENTS)):
            match = pattern.search(text)
            if match and not (kind == DEFAULT and NOT_DEFAULTS.search(text)):
                out.append(Deferral(kind, statement, match.group(), tuple(cited(statement, paper, known)), (), items))
    return out


def defers(text: str, match: re.Match) -> bool:
    """Whether the words defer to someone: not "the following", not to a place in this paper."""
    before, after = text[:match.start()].rstrip().lower(), text[match.end():]
    word = match.group().lower()
    if word.startswith("follow"):
        if re.search(r"\b(?:the|as|these|those|a|each|in)$", before) or re.match(r"\s*(?:[:.,]|$)", after):
            return False
        if word == "followed" and re.match(r"\s+by\b", after):
            return False
    if word.startswith("as ") and re.search(r"\b(?:such|well|long|far|soon|much|many|same)$", before):
        return False
    return not INTERNAL.match(after)


SURNAME = re.compile(r"^\W*([^\s,(&]+)")
NUMBERS = re.compile(r"\[([\d\s,;–-]{1,60})\]")
KEYS = re.compile(r"\[cite:([^\]]+)\]")


def cited(statement: Statement, paper: Paper, known: dict[str, Reference]) -> list[Reference]:
    """The references that a statement cites, by the labels printed in it ("[12]", "Kingma and Ba, 2014")."""
    text, found = statement.text, []
    for match in KEYS.finditer(text):
        found += [known[key.strip()] for key in match[1].split(",") if key.strip() in known]
    candidates = [known[key] for key in statement.cites if key in known] or paper.references
    wanted: set[str] = set()
    for match in NUMBERS.finditer(text):
        for part in re.split(r"[,;]", match[1]):
            ends = re.split(r"\s*[–-]\s*", part.strip())
            if len(ends) == 2 and all(end.isdigit() for end in ends) and 0 <= int(ends[1]) - int(ends[0]) < 50:
                wanted |= {str(number) for number in range(int(ends[0]), int(ends[1]) + 1)}
            elif part.strip().isdigit():
                wanted.add(part.strip())
    for reference in candidates:
        label = (reference.label or "").strip("[]() ")
        if label.isdigit():
            if label in wanted:
                found.append(reference)
            continue
        surname = SURNAME.match(label) or SURNAME.match(reference.authors[0].split()[-1] if reference.authors else "")
        if surname and reference.year and len(surname[1]) > 1:
            year = re.search(r"\d{4}[a-z]?", label)
            year_text = year.group() if year else reference.year
            if re.search(rf"{re.escape(surname[1])}[^.;()\[\]]{{0,60}}\(?{re.escape(year_text)}(?![a-z\d])"
                         rf"|{re.escape(surname[1])} et al\.,? \(?{re.escape(year_text)}(?![a-z\d])", text):
                found.append(reference)
    return list({id(reference): reference for reference in found}.values())


def told(reference: Reference) -> str:
    """A reference in one line: label, title, arXiv id or DOI where the bibliography has one."""
    name = reference.title or " ".join(reference.text.split())[:110]
    where = f"arXiv:{reference.arxiv}" if reference.arxiv else f"doi:{reference.doi}" if reference.doi else reference.url or ""
    label = f"[{reference.label.strip('[]')}] " if reference.label else ""
    return f"{label}{name}{f', {reference.year}' if reference.year and reference.year not in name else ''}{f' ({where})' if where else ''}"
