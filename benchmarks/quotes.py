"""How many true quotes are accepted, and how many wrong ones refused.

Sentences are taken from the LaTeX of papers by plain text work of this file's own, not by the product's readers, and typed
the ways an agent would type them. They are judged against documents read from LaTeX and PDF together, and from the PDF
alone. From the true ones mutants are made, each of one kind. Everything is seeded; nothing of a paper is written.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from paper2code import cli, environment  # noqa: E402

EXAMPLES = """
  python3 benchmarks/quotes.py --papers ../papers
  python3 benchmarks/quotes.py --papers ../papers --documents pdf --only 1706.03762 --show 20
"""
TRUE_FORMS = ("own", "latex", "unicode", "pdf")
ENVIRONMENTS = (
    "equation align gather multline eqnarray displaymath math figure table tabular tabularx algorithm algorithmic lstlisting "
    "verbatim Verbatim minted tikzpicture thebibliography wrapfigure wraptable longtable minipage abstract subequations "
    "flalign alignat array matrix pmatrix bmatrix cases comment tcolorbox picture"
).split()
KNOWN = set(
    """alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho sigma tau upsilon
 phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega times cdot leq geq le ge neq ne approx sim in to
 rightarrow sum prod infty partial nabla sqrt frac mathrm mathbf mathcal mathbb boldsymbol bm text textbf textit emph hat bar tilde
 ldots dots cdots left right log exp min max mid ell prime pm ll gg operatorname mathit textrm big Big forall subset cup cap
 odot otimes propto equiv circ quad""".split()
)
GREEK = dict(
    zip(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega".split(),
        "αβγδϵζηθικλμνξπρστυϕχψω",
        strict=True,
    )
)
GREEK |= {
    "Gamma": "Γ",
    "Delta": "Δ",
    "Theta": "Θ",
    "Lambda": "Λ",
    "Xi": "Ξ",
    "Pi": "Π",
    "Sigma": "Σ",
    "Phi": "Φ",
    "Psi": "Ψ",
    "Omega": "Ω",
    "varepsilon": "ε",
    "vartheta": "ϑ",
    "varphi": "φ",
}
SIGNS = {
    "times": "×",
    "cdot": "·",
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "neq": "≠",
    "ne": "≠",
    "approx": "≈",
    "sim": "∼",
    "in": "∈",
    "to": "→",
    "rightarrow": "→",
    "sum": "∑",
    "prod": "∏",
    "infty": "∞",
    "partial": "∂",
    "nabla": "∇",
    "mid": "|",
    "ell": "ℓ",
    "prime": "′",
    "pm": "±",
    "ll": "≪",
    "gg": "≫",
    "forall": "∀",
    "subset": "⊂",
    "cup": "∪",
    "cap": "∩",
    "odot": "⊙",
    "otimes": "⊗",
    "propto": "∝",
    "equiv": "≡",
    "circ": "°",
    "ldots": "...",
    "dots": "...",
    "cdots": "...",
    "log": "log",
    "exp": "exp",
    "min": "min",
    "max": "max",
    "quad": " ",
}
SUPERSCRIPT = str.maketrans("0123456789+-n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ")
SUBSCRIPT = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")
ANTONYMS = {
    "increase": "decrease",
    "increases": "decreases",
    "higher": "lower",
    "lower": "higher",
    "large": "small",
    "larger": "smaller",
    "smaller": "larger",
    "before": "after",
    "after": "before",
    "more": "less",
    "less": "more",
    "better": "worse",
    "with": "without",
    "without": "with",
    "first": "last",
    "same": "different",
    "different": "same",
    "maximize": "minimize",
    "minimize": "maximize",
    "input": "output",
    "output": "input",
    "encoder": "decoder",
    "decoder": "encoder",
    "linear": "nonlinear",
    "positive": "negative",
    "always": "never",
    "all": "no",
    "fast": "slow",
    "best": "worst",
    "simple": "complex",
    "forward": "backward",
    "left": "right",
    "improves": "degrades",
    "upper": "lower",
    "train": "test",
    "training": "testing",
    "short": "long",
    "high": "low",
    "low": "high",
}
SENSE = set(
    """only not without at least most each every all never always both except before after per half twice first last
 same different no non fully partially randomly identical independent separately jointly""".split()
)
UNITS = {
    "hours": "days",
    "days": "hours",
    "steps": "epochs",
    "epochs": "steps",
    "GPUs": "CPUs",
    "GB": "MB",
    "MB": "GB",
    "%": "points",
    "seconds": "minutes",
    "minutes": "seconds",
    "million": "billion",
    "billion": "million",
    "tokens": "words",
    "words": "tokens",
    "layers": "heads",
    "heads": "layers",
    "bits": "bytes",
    "iterations": "epochs",
    "ms": "s",
    "examples": "batches",
    "images": "pixels",
    "dimensions": "layers",
    "parameters": "layers",
    "samples": "batches",
    "dB": "Hz",
    "years": "months",
}


HEADING = re.compile(r"\\(?:part|chapter|section|subsection|subsubsection|paragraph|subparagraph)\*?\s*(?:\[[^\]]*\])?\{")


@dataclass(frozen=True)
class Quote:
    """A sentence of a paper: as typed, where it is, and in which of the forms."""

    paper: str
    place: str
    text: str
    form: str
    math: bool
    inside: frozenset[str] = frozenset()  # numbers of the sections that hold it


# --- sentences out of LaTeX ----------------------------------------------------------------------------------------------


def flattened(folder: Path) -> str:
    """The source as one text, comments gone, inputs put in."""

    def read(path: Path, depth: int = 0) -> str:
        text = path.read_bytes().decode("utf-8", "replace")
        text = re.sub(r"(?<!\\)%.*", "", text)

        def put(found: re.Match) -> str:
            name = found.group(1).strip()
            for place in (folder / name, folder / f"{name}.tex", path.parent / f"{name}.tex"):
                if place.is_file() and depth < 6:
                    return read(place, depth + 1)
            return ""

        return re.sub(r"\\(?:input|include)\s*\{([^}]*)\}", put, text)

    mains = [path for path in sorted(folder.rglob("*.tex")) if "\\begin{document}" in path.read_bytes().decode("utf-8", "replace")]
    return max((read(path) for path in mains), key=len, default="")


def sections_of(text: str, truth: dict) -> list[tuple[int, str | None, str, int, str]]:
    """(offset, number, title, level, kind) of each heading, numbers from the truth where the headings agree in count and title."""
    heads = list(HEADING.finditer(text))
    known = truth.get("sections", [])
    if len(heads) != len(known):
        return []
    out = []
    for head, true in zip(heads, known, strict=True):
        raw = text[head.end() : head.end() + 120]
        letters = lambda value: re.sub(r"[^a-z]", "", re.sub(r"\\[a-z]+", "", value.lower()))  # noqa: E731
        if letters(true["title"])[:6] != letters(raw)[:6] and letters(true["title"])[:3] not in letters(raw):
            return []
        out.append((head.start(), true["number"], true["title"], true["level"], "appendix" if true["appendix"] else ""))
    return out


def prose(text: str) -> str:
    """The text with displays, floats and the like blanked out (same length), so that what is left are paragraphs."""

    def blank(found: re.Match) -> str:
        return "\n\n" + re.sub(r"[^\n]", " ", found.group()[2:])

    for name in ENVIRONMENTS:
        text = re.sub(rf"\\begin\{{{name}\*?\}}.*?\\end\{{{name}\*?\}}", blank, text, flags=re.S)
    return re.sub(r"\$\$.*?\$\$|\\\[.*?\\\]|\\footnote\s*\{(?:[^{}]|\{[^{}]*\})*\}", blank, text, flags=re.S)


def sentences_of(folder: Path, paper: str) -> list[Quote]:
    """Sentences of a paper's body, as LaTeX with citations left out."""
    from paper2code.sentences import sentences

    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8")) if (folder / "truth.json").is_file() else {}
    text = flattened(folder / "source")
    heads = sections_of(text, truth)
    body = prose(text)
    start, stop = body.find("\\begin{document}"), body.find("\\end{document}")
    related = re.compile(r"related work|previous work|prior work|literature", re.I)
    out = []
    body = HEADING.sub(lambda found: "\n\n" + " " * (len(found.group()) - 3) + "{", body)  # a heading begins a paragraph
    for found in re.finditer(r"(?:[^\n]+\n)+", body[start : stop if stop > 0 else None] + "\n"):
        paragraph = found.group()
        at = start + found.start()
        chain: list[tuple] = []
        for head in heads:
            if head[0] > at:
                break
            while chain and chain[-1][3] >= head[3]:
                chain.pop()
            chain.append(head)
        if any(related.search(head[2]) for head in chain) or (heads and not chain):
            continue
        numbered = [head for head in chain if head[1]]
        place = f"§{numbered[-1][1]}" if numbered else f"§{chain[-1][2]}" if chain and not re.search(r"[\\$]", chain[-1][2]) else ""
        paragraph = re.sub(r"^\s*\{(?:[^{}]|\{[^{}]*\})*\}", "", paragraph)
        plain = re.sub(r"\s+", " ", re.sub(r"^\s*\\(?:item|noindent|paragraph\*?\{[^}]*\}|textbf\{[^}]*\})\s*", "", paragraph))
        plain = re.sub(r"~?\\(?:citep?|citealp|citeyearpar|parencite)\*?(?:\[[^\]]*\])*\{[^}]*\}", "", plain)
        plain = re.sub(r"\\(?:emph|textit|textbf|text|texttt|textsc)\{([^{}$]*)\}", r"\1", plain)
        plain = plain.replace("``", '"').replace("''", '"').replace("~", " ").replace("\\%", "%").replace("\\&", "&").replace("\\,", " ")
        if "\\begin" in plain or "\\end" in plain:
            plain = re.sub(r"\\(?:begin|end)\{[^}]*\}(?:\[[^\]]*\])?", "\n", plain)
        for sentence in sentences(plain):
            said = re.sub(r"\s+([.,;:)])", r"\1", sentence.text.strip())
            if usable(said):
                inside = frozenset(bare(head[1]) for head in numbered)
                out.append(Quote(paper, place, said, "latex", "$" in said, inside))
    return out


def usable(said: str) -> bool:
    words = said.split()
    outside = re.sub(r"\$[^$]*\$", " x ", said)
    commands = set(re.findall(r"\\([A-Za-z]+)", said))
    return (
        8 <= len(words) <= 45
        and said[0].isupper()
        and said.endswith(".")
        and not re.search(r"[\\{}_^&#]", outside)
        and said.count("$") % 2 == 0
        and commands <= KNOWN
        and not re.search(r"\\\d", said)
        and '"' not in said
        and "--" not in outside
    )


def bare(number: str) -> str:
    return number.strip(". ")


# --- the forms an agent types -----------------------------------------------------------------------------------------------


def unicode_of(said: str) -> str | None:
    """The sentence with its formulas in Unicode, as one would type them without LaTeX; None when that is not simple."""

    def formula(found: re.Match) -> str:
        text = found.group(1)
        text = re.sub(
            r"\\(?:mathrm|mathbf|mathcal|mathbb|boldsymbol|bm|text|textbf|textit|operatorname|mathit|textrm)\s*\{([^{}]*)\}", r"\1", text
        )
        text = re.sub(r"\\(?:mathrm|mathbf|mathcal|mathbb|boldsymbol|bm|mathit)\s+(\w)", r"\1", text)
        text = re.sub(r"\\(?:left|right|big|Big)\b", "", text)
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", text)
        text = re.sub(r"\\sqrt\{([^{}]*)\}", r"√\1", text)
        text = re.sub(r"\\([A-Za-z]+)\s?", lambda found: GREEK.get(found[1], SIGNS.get(found[1], found[0])), text)
        text = re.sub(r"\^\{([0-9+\-n]+)\}|\^([0-9n])", lambda found: (found[1] or found[2]).translate(SUPERSCRIPT), text)
        text = re.sub(r"_\{([0-9]+)\}|_([0-9])", lambda found: (found[1] or found[2]).translate(SUBSCRIPT), text)
        text = re.sub(r"[_^]\{([^{}]*)\}", lambda found: found[0][0] + found[1], text)
        return re.sub(
            r"\s*([=<>≤≥≈∈→])\s*",
            r"\1" if re.search(r"[_^]\{[^{}]*=", found.group(1)) else r" \1 ",
            text.replace("\\,", "").replace("\\;", "").replace("\\{", "{").replace("\\}", "}").replace("-", "−"),
        ).strip()

    out = re.sub(r"\$([^$]*)\$", formula, said)
    return None if "\\" in out or "$" in out else out


def pdf_copier(path: Path):
    """A function that finds a sentence in the text a PDF viewer would copy; None when its ends are not found."""
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    pages = []
    for page in document:
        text = page.get_textpage().get_text_bounded()
        pages.append(text.replace("\ufffe", "-").replace("\r\n", "\n"))
    document.close()
    squeezed = []
    for text in pages:
        places = [at for at, char in enumerate(text) if char.isalnum()]
        squeezed.append(("".join(text[at].lower() for at in places), places))

    def copy(said: str) -> str | None:
        outside = [part for part in re.split(r"\$[^$]*\$", said)]
        key = lambda value: "".join(char.lower() for char in value if char.isalnum())  # noqa: E731
        head, tail = key(outside[0])[:24], key(outside[-1])[-24:]
        if "$" not in said:
            head, tail = key(said)[:24], key(said)[-24:]
        if len(head) < 10 or len(tail) < 6:
            return None
        length = len(key(said))
        for (letters, places), text in zip(squeezed, pages, strict=True):
            begin = letters.find(head)
            if begin < 0 or letters.find(head, begin + 1) >= 0:
                continue
            end = letters.find(tail, begin + len(head) - min(len(head), len(tail)), begin + 2 * length + 60)
            if end < 0:
                continue
            out = text[places[begin] : places[end + len(tail) - 1] + 1]
            rest = re.match(r"[\])%\s]*\.", text[places[end + len(tail) - 1] + 1 :])
            out += rest.group() if rest else ""
            return " ".join(re.sub(r"-\n", "-", out).split()) if len(key(out)) < 1.5 * length + 20 else None
        return None

    return copy


# --- mutants -----------------------------------------------------------------------------------------------------------------


def mutants(quote: Quote, rng: random.Random, others: list[Quote], after: Quote | None) -> dict[str, str]:
    """One mutant of each kind that the sentence allows."""
    said = quote.text
    out: dict[str, str] = {}

    def inner(pattern: str) -> list[re.Match]:
        """Matches inside the sentence, and words only outside its formulas."""
        formulas = [found.span() for found in re.finditer(r"\$[^$]*\$", said)]
        return [
            found
            for found in re.finditer(pattern, said)
            if 0 < found.start()
            and found.end() < len(said) - 1
            and not (found[0].strip().isalpha() and any(a <= found.start() < b for a, b in formulas))
        ]

    def change(kind: str, found: re.Match | None, put) -> None:
        if found is not None:
            new = put(found) if callable(put) else put
            changed = said[: found.start()] + new + said[found.end() :]
            if changed != said:
                out[kind] = changed

    pick = lambda found: rng.choice(found) if found else None  # noqa: E731
    change("digit changed", pick(list(re.finditer(r"\d", said))), lambda found: rng.choice([d for d in "123456789" if d != found[0]]))
    change(
        "decimal point moved",
        pick(list(re.finditer(r"(?<![\d.])(\d+)\.(\d+)(?![\d.])", said))),
        lambda found: f"0.{'0' + found[2] if found[1] == '0' else found[1] + found[2]}",
    )
    change("decimal point dropped", pick(list(re.finditer(r"(?<=\d)\.(?=\d)", said))), "")
    change("sign changed", pick(inner(r"(?<=[$\w\s})])[+−](?=[\s$\w\\{(])")), lambda found: "+" if found[0] == "−" else "−")
    change("minus put in", pick(inner(r"(?<=[=≤≥<>(] )\d|(?<= of )\d|(?<==)\d")), lambda found: f"-{found[0]}")
    change(
        "exponent changed",
        pick(list(re.finditer(r"(?<=\^)(?:\{-?\d+\}|\d)|[⁰¹²³⁴-⁹]", said))),
        lambda found: re.sub(
            r"[\d⁰¹²³⁴-⁹]",
            lambda digit: "7⁷"[digit[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹"] if digit[0] not in "7⁷" else "3³"[digit[0] == "⁷"],
            found[0],
            count=1,
        ),
    )
    change(
        "exponent's sign changed",
        pick(list(re.finditer(r"\^\{-(\d+)\}|⁻([⁰¹²³⁴-⁹])", said))),
        lambda found: f"^{{{found[1]}}}" if found[1] else found[2],
    )
    change(
        "not put in", pick(inner(r"\b(?:is|are|can|does|do|was|were|should|will|has|have)\b(?! not)")), lambda found: f"{found[0]} not"
    )
    change("not taken out", pick(inner(r" not(?= )|n't(?= )")), "")
    change(
        "antonym",
        pick([found for found in inner(r"[A-Za-z]+") if found[0].lower() in ANTONYMS]),
        lambda found: ANTONYMS[found[0].lower()],
    )
    change(
        "unit changed",
        pick([found for found in inner(r"(?<=[\d$] )[A-Za-z]+|(?<=\d)%|(?<=\d )%") if found[0] in UNITS]),
        lambda found: UNITS[found[0]],
    )
    change("word dropped", pick([found for found in inner(r" [A-Za-z]+(?= )") if found[0].strip().lower() in SENSE]), "")
    words = said.split()
    if after is not None and len(words) > 10 and len(after.text.split()) > 10 and said.count("$") == 0 == after.text.count("$"):
        second = after.text.split()
        out["two sentences spliced"] = " ".join(words[: len(words) // 2] + second[len(second) // 2 :])
    if others:
        out["another paper's sentence"] = rng.choice(others).text
    return out


def squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


# --- running -----------------------------------------------------------------------------------------------------------------


def document_of(folder: Path, kind: str, keep: Path | None):
    """The document of a paper, read from LaTeX and PDF, or from the PDF alone; kept as JSON where a folder is given."""
    from paper2code.paper import Paper
    from paper2code.read import open as opening

    kept = keep / f"{folder.name}.{kind}.json" if keep else None
    if kept and kept.is_file():
        return Paper.load(kept)
    found = {"pdf": folder / "paper.pdf"}
    if kind == "source":
        found = {"source": folder / "source", **found}
    elif kind == "html":
        found = {"html": folder / "paper.html"}
    paper, _ = opening.read_all(found, say=lambda line: None)
    if kept:
        paper.save(kept)
    return paper


def own_sentences(paper, name: str, rng: random.Random, count: int) -> list[Quote]:
    """Sentences copied from the document itself, each with the section it stands in."""
    from paper2code.check.places import Places
    from paper2code.sentences import sentences

    places = Places(paper)
    out = []
    for passage in paper.passages():
        if passage.kind not in ("paragraph", "list", "footnote", "caption") or passage.related or not passage.section:
            continue
        for sentence in sentences(passage.text):
            if 8 <= len(sentence.text.split()) <= 60:
                label = places.label(passage.section)
                out.append(Quote(name, label if not re.search(r"[\\$,:]", label) else "", sentence.text, "own", "$" in sentence.text))
    rng.shuffle(out)
    return out[:count]


def run(folders: list[Path], kinds: list[str], seed: int, each: int, keep: Path | None, show: int) -> dict:
    from paper2code.check.quotes import VERIFIED, Matcher

    found: dict[str, list[Quote]] = {}
    for folder in folders:
        found[folder.name] = sentences_of(folder, folder.name)
        cli.say(
            f"{folder.name}: {len(found[folder.name])} sentences, {sum(q.math for q in found[folder.name])} with mathematics, "
            f"{sum(bool(q.place) for q in found[folder.name])} with a section"
        )
    result: dict = {"seed": seed, "documents": {}}
    for kind in kinds:
        true: dict[str, list[int]] = {f"{form}, {what}": [0, 0] for form in TRUE_FORMS for what in ("words", "mathematics")}
        wrong: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        failures: list[tuple] = []
        seconds = 0.0
        for folder in folders:
            name = folder.name
            rng = random.Random(f"{seed}/{name}")
            try:
                paper = document_of(folder, kind, keep)
            except cli.Stop as stop:
                cli.say(f"{name}: {stop.message}")
                continue
            started = time.process_time()
            matcher = Matcher(paper)
            chosen = rng.sample(found[name], min(each, len(found[name])))
            copy = pdf_copier(folder / "paper.pdf")
            quotes = list(chosen)
            quotes += [replace(q, text=text, form="unicode") for q in chosen if q.math and (text := unicode_of(q.text))]
            quotes += [replace(q, text=text, form="pdf") for q in chosen if (text := copy(q.text))]
            quotes += own_sentences(paper, name, rng, each)
            accepted = []
            for quote in quotes:
                verdict = matcher.judge(quote.place, quote.text)
                if verdict.state == "deferred" and not quote.place:
                    continue  # it is from the related work, which the truth of this paper does not tell
                row = true[f"{quote.form}, {'mathematics' if quote.math else 'words'}"]
                row[0] += 1
                row[1] += verdict.state == VERIFIED
                if verdict.state == VERIFIED:
                    accepted.append(quote)
                else:
                    failures.append(
                        (
                            "true",
                            quote.form,
                            name,
                            quote.place,
                            quote.text,
                            verdict.state,
                            verdict.found_at,
                            verdict.difference,
                            verdict.message,
                        )
                    )
            all_text = squeezed(" ".join(passage.text for passage in paper.passages()))
            others = [q for other, qs in found.items() if other != name for q in qs]
            numbers = [section.number for section in paper.sections if section.number]
            following = {q.text: nxt for q, nxt in zip(found[name], found[name][1:], strict=False)}
            sections = text_of_sections(paper)
            for quote in accepted:
                for mutation, text in mutants(quote, rng, others, following.get(quote.text)).items():
                    if (
                        mutation
                        in (
                            "two sentences spliced",
                            "another paper's sentence",
                            "word dropped",
                            "antonym",
                            "unit changed",
                            "not put in",
                            "not taken out",
                        )
                        and squeezed(text) in all_text
                    ):
                        continue  # the paper says that too
                    verdict = matcher.judge(quote.place, text)
                    wrong[mutation][0] += 1
                    wrong[mutation][1] += verdict.state != VERIFIED
                    if verdict.state == VERIFIED:
                        failures.append(("wrong", mutation, name, quote.place, text, verdict.state, verdict.found_at, quote.text, ""))
                if quote.place.startswith("§") and quote.form in ("latex", "own") and numbers:
                    key = squeezed(re.sub(r"\\[A-Za-z]+", "", quote.text))[-24:]
                    elsewhere = [
                        n for n in numbers if bare(n) not in quote.inside and not holds(paper, n, quote.place) and key not in sections[n]
                    ]
                    if elsewhere:
                        place = f"§{bare(rng.choice(elsewhere))}"
                        verdict = matcher.judge(place, quote.text)
                        wrong["wrong section number"][0] += 1
                        wrong["wrong section number"][1] += verdict.state != VERIFIED
                        if verdict.state == VERIFIED:
                            failures.append(
                                (
                                    "wrong",
                                    "wrong section number",
                                    name,
                                    place,
                                    quote.text,
                                    verdict.state,
                                    verdict.found_at,
                                    quote.place,
                                    "",
                                )
                            )
            seconds += time.process_time() - started
        result["documents"][kind] = {
            "true": true,
            "wrong": dict(wrong),
            "seconds": round(seconds, 1),
            "failures": failures[:show] if show else [],
        }
    return result


def text_of_sections(paper) -> dict[str, str]:
    out = {}
    for section in paper.sections:
        if section.number:
            ids = {inner.id for inner in paper.inside(section)}
            out[section.number] = squeezed(re.sub(r"\\[A-Za-z]+", "", " ".join(p.text for p in paper.passages() if p.section in ids)))
    return out


def holds(paper, number: str, place: str) -> bool:
    """Whether the section of this number holds the place: it is the same, or lies around it or within it."""
    from paper2code.check.places import Places

    places = Places(paper)
    return bool(places.resolve(f"§{bare(number)}").sections & places.resolve(place).sections)


def table(result: dict) -> str:
    out = []
    for kind, document in result["documents"].items():
        name = {"source": "LaTeX and PDF", "pdf": "PDF alone", "html": "HTML"}[kind]
        for title, rows, verb in (("true quotes", document["true"], "accepted"), ("wrong quotes", document["wrong"], "refused")):
            rows = {row: counts for row, counts in rows.items() if counts[0]}
            tried, good = (sum(counts[n] for counts in rows.values()) for n in (0, 1))
            out.append(f"\n{title}, documents from {name}: {verb} {good} of {tried} ({100 * good / max(tried, 1):.2f}%)")
            out += [
                f"  {row:<28} tried {counts[0]:>5}  {verb} {counts[1]:>5}  {100 * counts[1] / counts[0]:6.2f}%"
                for row, counts in rows.items()
            ]
        out.append(f"  {document['seconds']} s CPU")
        out += ["  " + " | ".join(str(part) for part in failure) for failure in document["failures"]]
        states = Counter((failure[1], failure[5]) for failure in document["failures"])
        if states:
            out.append("  " + ", ".join(f"{form}/{state}: {count}" for (form, state), count in states.most_common(12)))
    return "\n".join(out)


def main(argv: list[str] | None = None) -> int:
    parser = cli.parser(__doc__, examples=EXAMPLES)
    parser.add_argument("--papers", required=True, type=Path, help="folder with one folder a paper: source/, paper.pdf, truth.json")
    parser.add_argument(
        "--documents", default="source,pdf", help="what the documents are read from: source, pdf, html (default: source,pdf)"
    )
    parser.add_argument("--only", nargs="*", help="these papers")
    parser.add_argument("--each", type=int, default=60, help="sentences a paper (default: 60)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="keep the documents read here, for the next run")
    parser.add_argument("--show", type=int, default=0, help="show this many failures")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args(argv)
    kinds = arguments.documents.split(",")
    if not arguments.papers.is_dir() or not set(kinds) <= {"source", "pdf", "html"}:
        raise cli.Stop(
            f"{arguments.papers} is not a folder, or {arguments.documents} names an unknown document",
            code=cli.USAGE,
            expected="--papers DIR --documents source,pdf",
        )
    environment.ensure()
    folders = [
        path
        for path in sorted(arguments.papers.iterdir())
        if (path / "source").is_dir() and (path / "paper.pdf").is_file() and (not arguments.only or path.name in arguments.only)
    ]
    if not folders:
        raise cli.Stop(f"no paper with source/ and paper.pdf in {arguments.papers}", code=cli.USAGE)
    result = run(folders, kinds, arguments.seed, arguments.each, arguments.keep, arguments.show)
    cli.show(table(result), data=result, as_json=arguments.json, out=arguments.out)
    tried = sum(counts[0] for document in result["documents"].values() for counts in document["true"].values())
    return cli.DONE if tried else cli.FINDINGS


if __name__ == "__main__":
    sys.exit(cli.run(main))
