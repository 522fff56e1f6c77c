"""The census: every number in `src/` and every value in `configs/` is cited or flagged; config keys are used, defined once,
and agree with the config dataclass.

A number in `src/` passes when it is **exempt**, when a comment on its statement flags a choice and names the number, or when a
comment on its statement (or the docstring of the function or class around it) cites the paper and the number stands in the
cited words or in the equation, table or algorithm cited.

Exempt, and nothing else is:

| number | where |
|---|---|
| 0, 1, 2, -1 | index or slice; axis (`dim=`, or an argument of a method that takes axes); exponent; `range`, `enumerate` |
| 0, 1, 2, -1 | compared with a length, a shape, a rank or an index; counting (`n = 0`, `n += 1`) |
| 0, 1, 2, -1 | in a statement or function whose own comment or docstring cites an equation or algorithm |
| -4 … 4 | an axis, where only an axis can stand (`dim=-2`, `transpose(-2, -1)`) |
| 100 | beside a citation that speaks of per cent |
| any | in the text of an f-string, a type annotation |

A value in `configs/` has on its line, or right above it, a citation that holds its numbers (or cites a table, equation or
algorithm that does), or a flag that names it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator

from paper2code.check.numbers import in_words, read
from paper2code.check.repository import CITES, FLAG, Config, Mark, Module, Repository, parts
from paper2code.find import values as readings
from paper2code.findings import WARNING, Finding

SMALL = (0, 1, 2, -1)
AXIS_WORDS = set(
    """
    dim dims axis axes start_dim end_dim dim0 dim1 source destination diagonal ndim batch_dims in_axes out_axes keepdim
    offset feature_axes reduction_axes
""".split()
)
AXIS_CALLS = set(
    """
    size transpose permute unsqueeze squeeze flatten unflatten sum mean std var prod amax amin argmax argmin softmax
    log_softmax logsumexp cumsum cumprod select gather flip swapaxes moveaxis movedim expand_dims cat concat concatenate
    stack unbind take_along_axis any all
""".split()
)
# Calls whose arguments are sizes as well as axes: only -1, 0, 1 and 2 pass there.
SIZE_CALLS = set("view reshape expand repeat chunk split narrow scatter scatter_ roll norm tril triu tile diag max min getattr".split())
COUNTING = {"range", "enumerate", "islice", "zip", "exit", "SystemExit"}
FORMULA = re.compile(r"\b(?:Eqs?\.?\s*\(?[A-Z]?\.?\d|Equations?\s*\(?\d|Algorithms?\s*\d|Alg\.\s*\d)")


def named(text: str) -> list[readings.Number]:
    """The numbers a text states, without those of places ("Table 2", "§5.3") and indices. "2000 sequences" may look like a year."""
    return [number for number in read(text) if number.kind not in (readings.PLACE, readings.INDEX)]


QUOTIENT = re.compile(r"(?<![\w./])(\d{1,4})\s?[/\u2044\u2215]\s?(\d{1,4})(?![\w./])"  # 1 / 2
                      r"|\\[dt]?frac\s*(?:\{(\d{1,4})\}|(\d))\s*(?:\{(\d{1,4})\}|(\d))")
OTHERS = re.compile(r"\bAlternatives?\s*:.*?(?=\b(?:Using|Source|Reason|Why|Because)\s*:|\Z)", re.S | re.I)  # of a flag: what was not chosen


def holds(text: str, value: float | int) -> bool:
    """Whether a text states a number, in one of the ways people write it (4000, 4,000, 4k, 10^{-9}, ten per cent)."""
    # "2000 sequences" looks like a year; what is asked for by its value is not one.
    stated = (number for number in readings.numbers(text) if number.kind not in (readings.PLACE, readings.INDEX))
    quotients = (int(over) / int(under) for over, under in (filter(None, found) for found in QUOTIENT.findall(text)) if int(under))
    return in_words(text, value) or any(close(number, value) for number in stated) or any(abs(value - one) < 1e-9 for one in quotients)


def close(number: readings.Number, value: float | int) -> bool:
    return any(abs(float(reading) - value) <= 1e-9 * max(abs(float(reading)), abs(value)) for reading in (number.value, *number.also))


def literals(module: Module) -> Iterator[tuple[ast.AST, float | int]]:
    """Every number written in a module, with its sign. Arithmetic on literals alone (`10**-4`, `2 * 2 * 2 * 2`, `float("3e-4")`) is
    one number, its result, so that nothing is hidden by spelling it out of exempt ones."""
    inside: set[int] = set()
    for node in module.nodes:
        if id(node) in inside:
            continue
        value = folded(node)
        if value is None and isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and (text := words(node.value)):
            node, value = node.value, number_in(text) if READS_ONE.fullmatch(text) else None  # text = "0.1", to be read later
        if value is None and isinstance(node, ast.BinOp) and len(parts := chained(node)) > 1:
            inside.update(id(each) for part, _ in parts for each in ast.walk(part))
            inside.update(id(each) for each in links(node))
            yield node, total(node, parts)
        if value is None:
            continue
        inside.update(id(part) for part in ast.walk(node))
        yield node, value


CHAINS = ((ast.Mult, ast.Div), (ast.Add, ast.Sub))


def chained(node: ast.BinOp) -> list[tuple[ast.AST, bool]]:
    """The literals of a product or a sum, each with whether it divides or is taken away: in `x * 2 * 2` they are one number, 4."""
    kinds = next((kinds for kinds in CHAINS if isinstance(node.op, kinds)), ())
    out: list[tuple[ast.AST, bool]] = []

    def walk(part: ast.AST, turned: bool) -> None:
        if folded(part) is not None:
            out.append((part, turned))
        elif isinstance(part, ast.BinOp) and isinstance(part.op, kinds):
            walk(part.left, turned)
            walk(part.right, turned ^ isinstance(part.op, kinds[1]))

    if kinds:
        walk(node, False)
    return out


def links(node: ast.BinOp) -> Iterator[ast.BinOp]:
    """The operations of a product or a sum."""
    kinds = next(kinds for kinds in CHAINS if isinstance(node.op, kinds))
    yield node
    for part in (node.left, node.right):
        if isinstance(part, ast.BinOp) and isinstance(part.op, kinds):
            yield from links(part)


def total(node: ast.BinOp, parts: list[tuple[ast.AST, bool]]) -> float | int:
    value: float | int = 1 if isinstance(node.op, CHAINS[0]) else 0
    for part, turned in parts:
        number = folded(part)
        if isinstance(node.op, CHAINS[1]):
            value += -number if turned else number
        elif not turned:
            value *= number
        elif number:
            value = value / number
    return value


OPERATIONS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_, ast.BitXor: operator.xor,
}  # fmt: skip
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
MAKES_ONE = {"len", "ord", "sum", "max", "min", "abs", "round", "pow", "hash"}
READS_ONE = re.compile(r"\s*[-+]?(?:0[xob][0-9a-f_]+|(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:e[-+]?\d+)?)(?:\s*/\s*[1-9]\d*)?\s*", re.I)


def folded(node: ast.AST) -> float | int | None:
    """The value of a literal number, or of anything that is made of literals alone; None for everything else."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float, complex)):
            return None
        return node.value.imag if isinstance(node.value, complex) else node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        inner = operand(node.operand)
        return None if inner is None or isinstance(node.op, ast.Invert) and not isinstance(inner, int) else UNARY[type(node.op)](inner)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = operand(node.left), operand(node.right)
        if left is None or right is None or isinstance(node.op, (ast.Pow, ast.LShift)) and (abs(right) > 64 or abs(left) > 1e6):
            return None
        try:
            value = OPERATIONS[type(node.op)](left, right)
        except (ArithmeticError, ValueError, TypeError):
            return None
        return value if isinstance(value, (int, float)) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKES_ONE and node.args and not node.keywords:
        if node.func.id == "len" and isinstance(node.args[0], (ast.List, ast.Tuple, ast.Set)):
            return len(node.args[0].elts) if not any(isinstance(part, ast.Starred) for part in node.args[0].elts) else None
        parts = [plain(part) for part in node.args]
        if any(part is None for part in parts):
            return None
        try:
            value = {"len": len, "ord": ord, "sum": sum, "max": max, "min": min, "abs": abs, "round": round, "pow": pow, "hash": len}[node.func.id](*parts)
        except (ArithmeticError, ValueError, TypeError):
            return None
        return value if isinstance(value, (int, float)) else None
    if isinstance(node, ast.Call) and node.args and (text := words(node.args[0])) is not None and not isinstance(node.args[0], ast.Name):
        # float("3e-4"), numpy.float32("0.1"), Fraction("1/10"), json.loads("0.1"), int("1010", base=2)
        return number_in(text) if READS_ONE.fullmatch(text) and called(node) not in ("split", "get", "startswith", "endswith", "replace", "join") else None
    return None


def operand(node: ast.AST) -> float | int | None:
    """A part of an arithmetic of literals: True is 1 there."""
    return int(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, bool) else folded(node)


def words(node: ast.AST) -> str | None:
    """A text made of literals alone: "0.1", b"0.1", "0." + "1", f"{1}e-1"."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return node.value if isinstance(node.value, str) else node.value.decode("latin-1")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = words(node.left), words(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.JoinedStr):
        made = [words(part) if isinstance(part, ast.Constant) else str(folded(part.value)) if folded(part.value) is not None else None
                for part in node.values if isinstance(part, (ast.Constant, ast.FormattedValue))]  # fmt: skip
        return None if any(part is None for part in made) else "".join(made)
    return None


def number_in(text: str) -> float | int | None:
    top, _, bottom = text.partition("/")
    try:
        return int(top, 0) if re.match(r"\s*[-+]?0[xob]", top, re.I) else float(top) / float(bottom or 1)
    except (ValueError, ArithmeticError):
        return None


def plain(node: ast.AST) -> object:
    """The value of an argument made of literals alone (a number, a text, a list of numbers, a small range); None otherwise."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        parts = [operand(part) for part in node.elts]
        return None if any(part is None for part in parts) else parts
    if isinstance(node, ast.Call) and called(node) == "range" and node.args:
        parts = [operand(part) for part in node.args]
        return range(*parts) if all(isinstance(part, int) and abs(part) < 1e4 for part in parts) else None
    return words(node) if words(node) is not None else operand(node)


def exempt(module: Module, node: ast.AST, value: float | int, marks: list[Mark], around: list[Mark]) -> bool:
    """Whether this number is on the list above."""
    at = module.parents.get(node)
    below: ast.AST = node
    while at is not None and not isinstance(at, ast.stmt):
        if isinstance(at, ast.Subscript) and below is at.slice and value in SMALL:
            return True
        if isinstance(at, (ast.FormattedValue, ast.JoinedStr)):
            return True
        if isinstance(at, ast.arg):
            return True  # an annotation
        if isinstance(value, int) and -4 <= value <= 4:
            if isinstance(at, ast.keyword) and at.arg in AXIS_WORDS:
                return True
            if isinstance(at, ast.Call) and below is not at.func and not isinstance(below, ast.keyword) and called(at) in AXIS_CALLS:
                return True
        if value in SMALL:
            if isinstance(at, ast.BinOp) and isinstance(at.op, ast.Pow) and at.right is below:
                return True
            if isinstance(at, ast.Call) and below is not at.func and not isinstance(below, ast.keyword):
                if called(at) in COUNTING or called(at) in SIZE_CALLS:
                    return True
            if isinstance(at, ast.Compare) and any(shape_like(part) for part in (at.left, *at.comparators)):
                return True
        below, at = at, module.parents.get(at)
    if isinstance(at, (ast.AnnAssign,)) and below is at.annotation:
        return True
    if value in SMALL:
        if isinstance(at, ast.AugAssign) and isinstance(at.op, (ast.Add, ast.Sub)) and at.value is below:
            return True
        if (
            isinstance(at, (ast.Assign, ast.AnnAssign))
            and at.value is below
            and value == 0
            and isinstance(value, int)
            and list(module.enclosing(node))
            and isinstance(next(module.enclosing(node)), ast.FunctionDef)
        ):
            return True
        if isinstance(at, ast.Raise):
            return True
        if any(FORMULA.search(mark.text) for mark in (*marks, *around)):
            return True
    return False


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def shape_like(node: ast.AST) -> bool:
    """A length, a rank, a shape's part, an index or a remainder."""
    if isinstance(node, ast.Call):
        return called(node) in ("len", "size", "dim", "numel")
    if isinstance(node, ast.Attribute):
        return node.attr in ("ndim", "shape", "size")
    if isinstance(node, ast.Subscript):
        return shape_like(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return True
    return isinstance(node, ast.Name) and bool(
        re.search(r"^(i|j|k|n|idx|index|rank|length|ndim|count)$|_(idx|index|count|length|dim)$", node.id)
    )


def number_findings(module: Module, states: Callable[[str, float], bool]) -> tuple[list[Finding], int]:
    """The findings of one module and how many numbers were looked at. `states(text, value)`: whether an equation, table or
    algorithm that a text cites holds the value."""
    out: list[Finding] = []
    looked = 0
    told: set[tuple[int, float]] = set()
    for node, value in literals(module):
        looked += 1
        statement = module.statement(node)
        first, last = (
            (statement.lineno, max(statement.lineno, getattr(statement, "end_lineno", 0) or 0)) if statement else (node.lineno,) * 2
        )
        if statement is not None and getattr(statement, "body", None) and isinstance(statement.body, list):
            first, last = node.lineno, node.lineno
        marks = module.marks_on(first, last)
        around = module.marks_around(node)
        if exempt(module, node, value, marks, around):
            continue
        verdict = cited(value, marks, around, states)
        if verdict is None or (node.lineno, value) in told:
            continue
        told.add((node.lineno, value))
        written = ast.get_source_segment(module.text, node) or str(value)
        scope = module.scope(node)
        out.append(
            Finding(
                "census-number",
                f"the number {written}{f' in {scope}' if scope else ''} {verdict}",
                module.file,
                node.lineno,
                expected="a value from the config, or a citation or flag on its statement that holds the number",
                fix='move it to configs/base.yaml with its anchor, or write above it: # §… — "…" or # [UNSPECIFIED] … '
                f"Using: {written} … Alternatives: …",
            )
        )
    return out, looked


QUOTES = re.compile(r"[\"\u201c]([^\"\u201c\u201d]*)[\"\u201d]", re.S)


def supported(text: str, value: float, states: Callable[[str, float], bool]) -> bool:
    """Whether one of a comment's citations or flags stands for a number: a flag that names it; a citation whose quote (or
    formula, where it has none) holds it; an equation, table or algorithm cited that does."""
    for part in parts(text):
        quotes = QUOTES.findall(part)
        if FLAG.search(part):
            if holds(OTHERS.sub(" ", part), value):
                return True
        elif CITES.search(part):
            if any(holds(quote, value) for quote in quotes) or not quotes and holds(part, value) or states(part, value):
                return True
            if value == 100 and re.search(r"\bper ?cent|%", part):
                return True
    return False


def cited(value: float, marks: list[Mark], around: list[Mark], states: Callable[[str, float], bool]) -> str | None:
    """None when the number is cited or flagged, else what is wrong."""
    own = [mark for mark in marks if mark.counts]
    if any(supported(mark.text, value, states) for mark in (*own, *around)):
        return None
    if own:
        return "is not in the words cited or flagged beside it"
    return "is neither cited nor flagged"


# --- configs ----------------------------------------------------------------------------------------------------------


def config_findings(config: Config, states: Callable[[str, float], bool]) -> tuple[list[Finding], int]:
    """Every value of a config is cited or flagged, and its numbers stand in the citation or flag."""
    out = list(config.problems)
    looked = 0
    for path, node in config.leaves:
        looked += 1
        text = config.comment(node)
        mark = Mark(text, node.line, node.end, node.line, node.end)
        if not node.quoted and isinstance(node.value, str) and re.fullmatch(r"[-+]?\d+[eE][-+]?\d+", node.text):
            out.append(Finding("config-number-is-text", f"{path}: YAML reads {node.text} as text", config.file, node.line))
        values = node.plain()
        numbers = [v for v in (values if isinstance(values, list) else [values]) if isinstance(v, (int, float)) and not isinstance(v, bool)]
        for scalar in node.value if isinstance(node.value, list) else [node]:
            if isinstance(scalar.value, float) and re.fullmatch(r"[-+]?\d+[eE][-+]?\d+|[-+]?\d*\.\d*[eE]\d+", scalar.text):
                out.append(
                    Finding(
                        "config-number-is-text",
                        f"{path}: YAML itself reads {scalar.text} as text, not as a number",
                        config.file,
                        scalar.line,
                        expected="a dot and a sign, as in 1.0e-9",
                        fix=f"write {scalar.value:.1e}".replace("e-0", "e-").replace("e+0", "e+"),
                    )
                )
        if not mark.counts:
            out.append(
                Finding(
                    "census-config",
                    f"{path} = {values!r} is neither cited nor flagged",
                    config.file,
                    node.line,
                    expected='# §… — "…", or # [UNSPECIFIED] … Using: … Alternatives: …',
                    fix="take the anchor of its decision from ledger.yaml",
                )
            )
            continue
        if counted(numbers) and all(supported(text, value, states) for value in (numbers[0], numbers[-1])):
            continue  # "0 to 4"
        for value in numbers:
            if supported(text, value, states):
                continue
            out.append(
                Finding(
                    "census-config",
                    f"{path} = {values!r}: {value!r} is not in the words cited or flagged beside it",
                    config.file,
                    node.line,
                    expected="the quote that states it, or a flag that names it",
                    fix="a value of ours in place of the paper's is said: # [ASSUMPTION] uses X whereas §… says Y",
                )
            )
    return out, looked


def counted(values: list) -> bool:
    """Whether these are whole numbers one after the other."""
    return len(values) > 2 and all(isinstance(value, int) for value in values) and values == list(range(values[0], values[-1] + 1))


def used_names(repository: Repository) -> tuple[Counter, set[str]]:
    """(attribute names, subscript strings, keyword names and parameters used in src/, how often; names of dataclass fields)."""
    used: Counter = Counter()
    fields: set[str] = set()
    classes = dataclasses(repository)
    for module in repository.modules:
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                # `self.dropout` is a layer, `config.dropout` and `self.config.dropout` are the key.
                used[node.attr] += not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
            elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                used[node.slice.value] += 1
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("get", "pop")
                and node.args
                and isinstance(node.args[0], ast.Constant)
                and isinstance(node.args[0].value, str)
            ):
                used[node.args[0].value] += 1
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not classes:
                used[node.id] += 1
    for _, _, names in classes:
        fields |= names.keys()
    return used, fields


def dataclasses(repository: Repository) -> list[tuple[Module, ast.ClassDef, dict[str, ast.AnnAssign]]]:
    """Config classes: decorated dataclasses (also NamedTuple, flax.struct) and their fields."""
    out = []
    for module in repository.modules:
        for node in module.definitions:
            if not isinstance(node, ast.ClassDef):
                continue
            decorators = " ".join(ast.unparse(part) for part in node.decorator_list)
            bases = " ".join(ast.unparse(part) for part in node.bases)
            if "dataclass" in decorators or "NamedTuple" in bases or "BaseModel" in bases:
                fields = {
                    part.target.id: part for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
                }
                out.append((module, node, fields))
    return out


def settings_tree(classes: list[tuple[Module, ast.ClassDef, dict[str, ast.AnnAssign]]]) -> set[str]:
    """The classes that make up `Config`, by the annotations of its fields; empty where there is no class of that name."""
    fields = {node.name: names for _, node, names in classes}
    out, open_ = set(), ["Config"] if "Config" in fields else []
    while open_:
        name = open_.pop()
        if name not in out:
            out.add(name)
            open_ += [other for part in fields[name].values() for other in re.findall(r"\w+", ast.unparse(part.annotation)) if other in fields]
    return out


def agreement(repository: Repository) -> list[Finding]:
    """Every config key is used in the code, and the config dataclasses and the YAML name the same keys and defaults."""
    out: list[Finding] = []
    if not repository.configs or not any(module.tree for module in repository.modules):
        return out
    used, fields = used_names(repository)
    sections: dict[str, dict[str, tuple[object, str, int]]] = {}
    for path, (value, file, line) in repository.values.items():
        section, _, key = path.rpartition(".")
        sections.setdefault(section, {})[key] = (value, file, line)
        if not used[key]:
            hint = "it is a field of the config class, but nothing reads it by name" if key in fields else "nothing in src/ reads it by name"
            out.append(
                Finding(
                    "config-unused",
                    f"{path}: {hint}",
                    file,
                    line,
                    expected="a key that changes what is built",
                    fix="use it as config.….key (a name put together at run time is not seen); a number that only a relation needs stays in the ledger "
                    "without config",
                )
            )
    classes = dataclasses(repository)
    tree = settings_tree(classes)
    # The field of another class that a class is the type of: `value: ValueConfig` is the section value.
    owner = {other: field for _, _, fields_of in classes for field, part in fields_of.items() for other in re.findall(r"\w+", ast.unparse(part.annotation))}
    for module, node, names in classes:
        if node.name not in tree if tree else not re.search(r"config|hyper|settings|hparams|args|options", node.name, re.I):
            continue
        best = max(sections, key=lambda name: (name.rpartition(".")[2] == owner.get(node.name) and bool(sections[name].keys() & names.keys()),
                                               len(sections[name].keys() & names.keys())), default=None)
        if best is None or len(sections[best].keys() & names.keys()) * 2 < min(len(names), len(sections[best])):
            children = {key.split(".")[0] for key in sections}
            if names and names.keys() <= children:
                continue  # a class of classes
            if names and len(names.keys() & children) == 0:
                out.append(
                    Finding(
                        "config-dataclass",
                        f"{node.name} has no section of configs/ with its fields",
                        module.file,
                        node.lineno,
                        expected="a section of configs/base.yaml with the same keys",
                        severity=WARNING,
                    )
                )
            continue
        keys = sections[best]
        for name, statement in names.items():
            if name not in keys:
                if not any(path.startswith(f"{best}.{name}.") or path.startswith(f"{name}.") for path in repository.values):
                    out.append(
                        Finding(
                            "config-dataclass",
                            f"{node.name}.{name} is not in the config's section {best!r}",
                            module.file,
                            statement.lineno,
                            expected=f"{best}.{name} in configs/base.yaml",
                            fix="every hyperparameter is defined once, in the config",
                        )
                    )
                continue
            default = literal(statement.value)
            value, file, line = keys[name]
            if default is not ... and not equal(default, value):
                out.append(
                    Finding(
                        "config-differs",
                        f"{node.name}.{name} defaults to {default!r}, {file} line {line} says {value!r}",
                        module.file,
                        statement.lineno,
                        expected="one value, defined once",
                        fix="drop the default from the class",
                    )
                )
            kind = ast.unparse(statement.annotation)
            if wrong_kind(kind, value):
                out.append(
                    Finding(
                        "config-type",
                        f"{node.name}.{name} is {kind}, {file} line {line} holds {value!r}",
                        module.file,
                        statement.lineno,
                        expected=f"a value of type {kind}",
                    )
                )
        for key in keys.keys() - names.keys():
            value, file, line = keys[key]
            out.append(
                Finding(
                    "config-dataclass",
                    f"{best}.{key} is no field of {node.name}",
                    file,
                    line,
                    expected=f"the same keys in {module.file} and in the config",
                )
            )
    return out


def literal(node: ast.AST | None) -> object:
    """The value of a literal, `...` where there is none (field(default_factory=…) too)."""
    if node is None:
        return ...
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return ...


def equal(one: object, other: object) -> bool:
    if isinstance(one, tuple):
        one = list(one)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)) and not isinstance(one, bool) and not isinstance(other, bool):
        return abs(one - other) <= 1e-12 * max(abs(one), abs(other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def wrong_kind(kind: str, value: object) -> bool:
    if value is None:
        return "None" not in kind and "Optional" not in kind and kind in ("int", "float", "str", "bool")
    plain = {"int": int, "float": (int, float), "str": str, "bool": bool}.get(kind)
    if plain is None:
        return False
    return not isinstance(value, plain) or (isinstance(value, bool) and kind != "bool")
