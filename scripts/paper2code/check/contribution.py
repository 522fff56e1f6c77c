"""`contribution.md`: what is to be built, before any code. Front matter that programs read, then prose for people.

    ---
    paper: 1706.03762v7
    title: Attention Is All You Need
    summary: A sequence model built from attention alone, without recurrence or convolution.   # one sentence
    type: a            # a architecture | b training method or loss | c inference technique | d dataset or benchmark
                       # e theory with experiments | f system
    type_reason: The architecture is the claim; training follows known recipes.
    domains: [transformer]          # further checklists, by name; [] for the general one alone
    claim: what the paper claims, in one sentence
    worth: whether reproducing it serves the user, in one sentence
    cost: what the full reproduction would cost (hardware, time, data)
    minimal_claim:                  # the smallest claim whose reproduction would validate the implementation
      claim: the base model reaches the parameter count of Table 3
      where: "Table 3"
      check: count the parameters of the built model
      value: 65000000               # optional, with how far off it may be, relative to it
      tolerance: 0.01
    algorithm: none                 # or the algorithm that is the specification: "Algorithm 1"
    official_code: none             # or {url: https://…, framework: tensorflow, covers: model and training}
    training_is_contribution: false # true also where type a or c trains in a way of its own
    components:                     # what src/ will hold, in the paper's order
    - name: MultiHeadAttention      # the class or function it becomes
      kind: model                   # model | loss | training | inference | data | evaluation | schedule | system | utility
      where: "§3.2.2"
      equations: ["Eq. 1"]          # optional
      inputs: {queries: "(batch, n_queries, d_model)"}
      outputs: {out: "(batch, n_queries, d_model)"}   # forms: `check.dimensions`; {} for what works in place
      axes: ["softmax over the keys"]    # of every softmax, sum and norm
      left_out: [batch, heads]           # dimensions the paper does not write
      file: src/model.py                 # optional: where it stands, if not where its kind puts it
    symbols:                        # every symbol of the core equations
    - {symbol: "$d_k$", meaning: size of a key, shape: scalar, variable: d_k, where: "§3.2.1"}
    implement: [{what: the encoder, where: "§3.1"}]
    reference: [{what: byte-pair encoding, where: "§5.1", from: the cited tokeniser}]
    out_of_scope: [{what: beam search, where: "§6.1", why: not the contribution}]
    key_sections: ["§3.2", "§5.3"]
    ---
    ## Core contribution
    A paragraph that says exactly what will be built, with its sections.

A paper with nothing to implement (survey, position, proprietary core) ends here: in place of `components`, `symbols`
and the three lists it has

    nothing_to_implement: {why: …, needed: what an implementation would need and where it might come from}
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from paper2code.check import dimensions, marked
from paper2code.check.marked import Node
from paper2code.findings import WARNING, Finding

TYPES = {
    "a": "architecture",
    "b": "training method or loss",
    "c": "inference technique",
    "d": "dataset or benchmark",
    "e": "theory with experiments",
    "f": "system",
}
KINDS = ("model", "loss", "training", "inference", "data", "evaluation", "schedule", "system", "utility")
ALWAYS = ("paper", "title", "summary", "type", "type_reason", "claim", "worth", "cost")
BUILT = ("minimal_claim", "algorithm", "official_code", "components", "symbols", "implement", "out_of_scope", "key_sections")
KNOWN = {*ALWAYS, *BUILT, "domains", "reference", "nothing_to_implement", "training_is_contribution"}
ROWS = {
    "components": ("name", "kind", "where", "inputs", "outputs"),
    "symbols": ("symbol", "meaning", "shape", "variable", "where"),
    "implement": ("what", "where"),
    "reference": ("what", "from"),
    "out_of_scope": ("what", "why"),
}
EXTRA = {
    "components": {"equations", "axes", "left_out", "file"},
    "symbols": set(),
    "implement": {"why"},
    "reference": {"where", "why"},
    "out_of_scope": {"where"},
}
PLACEHOLDER = re.compile(r"\{\{.*?\}\}|\{[A-Za-z_ ]+\}|\bTODO\b|\bTBD\b|<[a-z][a-z _-]+>|\A…\Z|\A\.\.\.\Z")
# A shape: scalar, or a parenthesised list of dimensions; "(batch, …, d)" is one.
SHAPE = re.compile(r"\A(scalar|text|object|bool|int|float|\(.*\)|\[.*\])", re.I)


@dataclass
class Component:
    name: str
    kind: str
    where: str
    line: int
    inputs: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=dict)
    equations: list[str] = field(default_factory=list)
    axes: list[str] = field(default_factory=list)
    file: str = ""


@dataclass
class Contribution:
    """What `contribution.md` says. `root` is its front matter with line numbers, `prose` what follows it."""

    file: str
    root: Node
    prose: str = ""
    prose_line: int = 1
    components: list[Component] = field(default_factory=list)

    def get(self, key: str) -> object:
        return self.root.get(key)

    @property
    def type(self) -> str:
        return str(self.get("type") or "").strip().lower().strip("()")[:1]

    @property
    def domains(self) -> list[str]:
        given = self.get("domains")
        return [str(name) for name in given] if isinstance(given, list) else [str(given)] if given else []

    @property
    def nothing(self) -> bool:
        """Whether the paper has nothing to implement."""
        return bool(self.get("nothing_to_implement"))

    @property
    def trains(self) -> bool:
        """Whether training is (part of) the contribution."""
        return self.type == "b" or self.get("training_is_contribution") is True

    def rows(self, name: str) -> list[dict]:
        given = self.get(name)
        return [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []

    def lines(self, name: str) -> list[int]:
        node = self.root.value.get(name)
        return [part.line for part in node.value] if node is not None and isinstance(node.value, list) else []


def read(path: Path) -> tuple[Contribution | None, list[Finding]]:
    """The contribution of a file and what keeps it from being read."""
    file = path.name
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None, [Finding("contribution-missing", f"there is no {file}", file, expected="the file written in stage 2")]
    except (UnicodeDecodeError, OSError) as problem:
        return None, [Finding("contribution-unreadable", f"{file} cannot be read as UTF-8 text: {problem}", file)]
    head, prose, line = marked.front_matter(text)
    if head is None:
        return None, [
            Finding(
                "contribution-form",
                "no front matter between two lines of ---",
                file,
                1,
                expected="--- / paper: … / type: a / … / --- and then prose",
            )
        ]
    root, findings = marked.read(head, file, first_line=2, check="contribution")
    if root is None or not isinstance(root.value, dict):
        return None, findings or [Finding("contribution-form", "the front matter is not a mapping", file, 2)]
    out = Contribution(file, root, prose, line)
    node = root.value.get("components")
    for part in node.value if node is not None and isinstance(node.value, list) else []:
        row = part.plain()
        if isinstance(row, dict):

            def mapping(key, row=row):
                return row[key] if isinstance(row.get(key), dict) else {}

            def listed(key, row=row):
                given = row.get(key)
                return [str(one) for one in given] if isinstance(given, list) else [str(given)] if given else []

            out.components.append(
                Component(
                    str(row.get("name") or ""),
                    str(row.get("kind") or ""),
                    str(row.get("where") or ""),
                    part.line,
                    mapping("inputs"),
                    mapping("outputs"),
                    listed("equations"),
                    listed("axes"),
                    str(row.get("file") or ""),
                )
            )
    return out, findings


def check(
    contribution: Contribution,
    *,
    known_domains: tuple[str, ...] | None = None,
    exists: Callable[[str], bool] | None = None,
    holds: Callable[[str, str], bool] | None = None,
    algorithms: int = 0,
) -> list[Finding]:
    """Everything wrong with a contribution. `exists(place)`: whether the paper has a place such as "§3.2"; `holds(place, item)`:
    whether it has the item there; `algorithms`: how many algorithm boxes the paper has."""
    out: list[Finding] = []
    file, root = contribution.file, contribution.root

    def add(check: str, message: str, line: int, **more) -> None:
        out.append(Finding(check, message, file, line, **more))

    for key in root.value.keys() - KNOWN:
        add(
            "contribution-field",
            f"{key!r} is not a field of a contribution",
            root.line_of(key),
            expected=", ".join(sorted(KNOWN)),
        )
    needed = ALWAYS if contribution.nothing else (*ALWAYS, *BUILT)
    for key in needed:
        if root.get(key) in (None, "", [], {}):
            add(
                "contribution-field",
                f"{key} is missing or empty",
                root.line_of(key),
                expected=f"{key}: … ({TELL[key]})" if key in TELL else f"{key}: …",
            )
    for path, node in root.leaves():
        if isinstance(node.value, str) and PLACEHOLDER.search(re.sub(r"\$[^$]*\$", "", node.value)):
            add("contribution-placeholder", f"{path} still holds a placeholder: {node.value[:60]!r}", node.line, fix="fill it in")
    if root.get("type") is not None and contribution.type not in TYPES:
        add(
            "contribution-type",
            f"the type {root.get('type')!r} is not known",
            root.line_of("type"),
            expected=", ".join(f"{key} {name}" for key, name in TYPES.items()),
        )
    summary = str(root.get("summary") or "")
    if len(re.findall(r"[.!?](\s|\Z)", summary)) > 1 or len(summary.split()) > 60:
        add(
            "contribution-summary",
            "the summary is more than one sentence",
            root.line_of("summary"),
            severity=WARNING,
            expected="one sentence that an engineer who has ten seconds understands",
        )
    for name in contribution.domains:
        if known_domains is not None and name not in known_domains:
            add(
                "contribution-domain",
                f"there is no checklist {name!r}",
                root.line_of("domains"),
                expected=", ".join(known_domains) or "none",
                fix="name one of these, or leave it out",
            )
    if contribution.nothing:
        given = root.get("nothing_to_implement")
        if not isinstance(given, dict) or not given.get("why") or not given.get("needed"):
            add(
                "contribution-nothing",
                "nothing_to_implement without why and needed",
                root.line_of("nothing_to_implement"),
                expected="nothing_to_implement: {why: …, needed: …}",
            )
        if contribution.components or contribution.rows("implement"):
            add(
                "contribution-nothing",
                "nothing to implement, and yet components are listed",
                root.line_of("components"),
                fix="either drop nothing_to_implement or the components; never a fake implementation",
            )
        return out
    rows(contribution, add)
    components(contribution, add)
    claim = root.get("minimal_claim")
    if claim and not (isinstance(claim, dict) and all(claim.get(key) for key in ("claim", "where", "check"))):
        add(
            "contribution-claim",
            "minimal_claim lacks claim, where or check",
            root.line_of("minimal_claim"),
            expected='minimal_claim: {claim: …, where: "Table 3", check: …}',
        )
    elif isinstance(claim, dict):
        claimed(claim, root.line_of("minimal_claim"), add)
    code = root.get("official_code")
    if code and str(code).lower() != "none" and not (isinstance(code, dict) and str(code.get("url", "")).startswith("http")):
        add(
            "contribution-code",
            "official_code names no address",
            root.line_of("official_code"),
            expected="official_code: none, or {url: https://…, framework: …, covers: …}",
        )
    algorithm = str(root.get("algorithm") or "")
    if algorithms and algorithm.lower() in ("none", "no"):
        add(
            "contribution-algorithm",
            f"algorithm: none, but the paper has {algorithms} algorithm box{'es' * (algorithms > 1)}",
            root.line_of("algorithm"),
            severity=WARNING,
            expected='the box that is the specification, as "Algorithm 1"',
        )
    if exists is not None:
        places(contribution, exists, add)
    for part in contribution.components if exists is not None and holds is not None else []:
        for item in part.equations:
            if part.where and exists(part.where) and exists(item) and not holds(part.where, item):
                add(
                    "contribution-equation",
                    f"{part.name}: {item} stands in another chapter than {part.where}",
                    part.line,
                    severity=WARNING,
                    expected="the equations that the component computes",
                    fix=f"look {item} up in outline.md; name the right one, or its place beside {part.where} in where",
                )
    prose = re.sub(r"(?s:<!--.*?(?:-->|\Z))|^#.*$", "", contribution.prose, flags=re.M)
    if len(prose.split()) < 25:
        add(
            "contribution-prose",
            "the prose does not say what will be built",
            contribution.prose_line,
            expected="## Core contribution, and a paragraph that an engineer could build from, with section references",
        )
    elif not re.search(r"§|\b(section|eq\.|equation|algorithm|appendix|table|figure)\s", prose, re.I):
        add(
            "contribution-prose",
            "the prose names no place of the paper",
            contribution.prose_line,
            expected="section references (§3.2)",
        )
    return out


TELL = {
    "worth": "is it worth reproducing for this user, and why",
    "cost": "hardware, time and data of the full reproduction",
    "claim": "what the paper claims, in one sentence",
    "algorithm": '"Algorithm 1", or none',
    "official_code": "{url, framework, covers}, or none",
    "minimal_claim": "{claim, where, check}",
    "components": "what src/ will hold, in the paper's order",
    "symbols": "every symbol of the core equations",
    "type_reason": "why it is of this type",
    "out_of_scope": "at least the baselines, each with why",
    "key_sections": '["§3.2", …]',
}


def claimed(claim: dict, line: int, add: Callable) -> None:
    """The value and tolerance of a minimal claim, which both may be left out, are ones a check can use."""
    value, tolerance = claim.get("value"), claim.get("tolerance")
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        add("contribution-claim", f"minimal_claim: the value {value!r} is no number", line, expected="value: 65000000, its unit applied")
    if tolerance is not None and (
        isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not 0 <= tolerance < 0.5 or value is None
    ):
        add(
            "contribution-claim",
            f"minimal_claim: the tolerance {tolerance!r} cannot be used",
            line,
            expected="beside a value, how far off it may be relative to it: tolerance: 0.01",
        )


def rows(contribution: Contribution, add: Callable) -> None:
    """Each list holds mappings with what they need."""
    for name, needed in ROWS.items():
        node = contribution.root.value.get(name)
        if node is None or node.value is None:
            continue
        if not isinstance(node.value, list):
            add("contribution-form", f"{name} is not a list", node.line, expected=f"- {{{', '.join(needed)}}}")
            continue
        for part in node.value:
            if not isinstance(part.value, dict):
                add("contribution-form", f"a row of {name} is not a mapping", part.line, expected=f"- {{{', '.join(needed)}}}")
                continue
            told = part.get("name") or part.get("symbol") or part.get("what") or "a row"
            for key in needed:
                # What takes nothing, or works in place and gives nothing, says so by {}; not both.
                if name == "components" and key in ("inputs", "outputs") and part.get(key) == {}:
                    if part.get("outputs" if key == "inputs" else "inputs"):
                        continue
                if part.get(key) in (None, "", {}, []):
                    add("contribution-field", f"{name}: {told} has no {key}", part.line, expected=f"{{{', '.join(needed)}}}")
            for key in part.value.keys() - {*needed, *EXTRA[name]}:
                add(
                    "contribution-field",
                    f"{name}: {key!r} is not one of its fields",
                    part.line_of(key),
                    expected=", ".join((*needed, *sorted(EXTRA[name]))),
                    fix="put the value before it in quotes: inside {…} a comma ends an unquoted one" if part.get(key) is None else "",
                )
    seen: dict[str, int] = {}
    for row, line in zip(contribution.rows("symbols"), contribution.lines("symbols"), strict=False):
        variable = str(row.get("variable") or "")
        if variable and not all(part.isidentifier() and not keyword.iskeyword(part) for part in variable.split(".")):
            add("contribution-symbol", f"{variable!r} cannot be a variable's name", line, expected="an identifier such as d_k")
        if row.get("shape") and not SHAPE.match(str(row["shape"]).strip()):
            add(
                "contribution-shape",
                f"the shape of {row.get('symbol')}, {row['shape']!r}, is no shape",
                line,
                expected="scalar, (batch, length, d_model), text, object, or (parameters) for a set of them",
            )
        symbol = re.sub(r"[\s$]", "", str(row.get("symbol") or ""))
        if symbol and symbol in seen:
            add("contribution-symbol", f"{row['symbol']} is explained on line {seen[symbol]} already", line, severity=WARNING)
        seen.setdefault(symbol, line)


def components(contribution: Contribution, add: Callable) -> None:
    """Names that can be classes or functions, each once, with kinds and shapes."""
    seen: dict[str, int] = {}
    for part in contribution.components:
        if part.name and (not part.name.isidentifier() or keyword.iskeyword(part.name)):
            add(
                "contribution-component",
                f"{part.name!r} cannot be a class or function",
                part.line,
                expected="MultiHeadAttention or label_smoothing_loss",
            )
        if part.name in seen:
            add(
                "contribution-component",
                f"{part.name!r} is on line {seen[part.name]} already",
                part.line,
                fix="one name, one component",
            )
        seen.setdefault(part.name, part.line)
        if part.kind and part.kind not in KINDS:
            add(
                "contribution-component",
                f"{part.name}: the kind {part.kind!r} is not known",
                part.line,
                expected=" | ".join(KINDS),
            )
        for name, shape in (*part.inputs.items(), *part.outputs.items()):
            if dimensions.read(shape) is None:
                add(
                    "contribution-shape",
                    f"{part.name}: {name} has {shape!r}, which is no shape that can be laid",
                    part.line,
                    expected=dimensions.FORMS,
                )
        if part.file and not re.fullmatch(r"src/(?:\w+/)*\w+\.py", part.file):
            add("contribution-component", f"{part.name}: {part.file!r} is no file of src/", part.line, expected="file: src/train.py")


def places(contribution: Contribution, exists: Callable[[str], bool], add: Callable) -> None:
    """Every place that is named exists in the paper."""
    wanted: list[tuple[str, int]] = [(part.where, part.line) for part in contribution.components if part.where]
    wanted += [(eq, part.line) for part in contribution.components for eq in part.equations]
    for name in ("symbols", "implement", "reference", "out_of_scope"):
        for row, line in zip(contribution.rows(name), contribution.lines(name), strict=False):
            if row.get("where"):
                wanted.append((str(row["where"]), line))
    claim, keys = contribution.get("minimal_claim"), contribution.get("key_sections")
    if isinstance(claim, dict) and claim.get("where"):
        wanted.append((str(claim["where"]), contribution.root.line_of("minimal_claim")))
    for key in keys if isinstance(keys, list) else []:
        # "§3.2 — what it specifies" is taken too.
        wanted.append((re.split(r"\s[—–-]+\s", str(key))[0], contribution.root.line_of("key_sections")))
    algorithm = str(contribution.get("algorithm") or "")
    if algorithm.lower() not in ("none", "no", ""):
        wanted.append((re.split(r"\s[—–-]+\s", algorithm)[0], contribution.root.line_of("algorithm")))
    for place, line in dict.fromkeys(wanted):
        if not exists(place):
            add(
                "contribution-place",
                f"the paper has no {place}",
                line,
                expected="a place of outline.md",
                fix="look it up in outline.md; sections without a number are cited by title (§Experiments)",
            )
