"""What a component takes and gives, as contribution.md writes it: dimensions and kind of a tensor, a scalar, or another object.

    "(batch, length, d_model)"   real numbers          "(batch, n) int", "int (batch, n)"   whole numbers
    "(n, n) bool"                truth values           scalar, int, float, bool, "scalar int"
    text, object, "(parameters)" what is no tensor; the last is a model's parameters, whatever their shapes

Dimensions are names, numbers and sums or products of them ("n + 1"), or "…"; words after a tensor's dimensions are a remark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FORMS = '"(batch, length, d_model)", "(batch, n) int" or "int (batch, n)", "(n, n) bool", scalar, "scalar int", text, object, "(parameters)"'
REAL, WHOLE, TRUTH, OBJECT = "float", "int", "bool", "object"
KINDS = {
    TRUTH: r"bool(?:ean)?s?|masks?",
    WHOLE: r"u?int(?:eger)?(?:8|16|32|64)?s?|long|index|indices|tokens?|labels?|ids?",
    REAL: r"b?float(?:16|32|64)?s?|reals?|double|complex(?:64|128)?",
    OBJECT: r"text|str(?:ing)?|object",
}
WORD = {kind: re.compile(rf"\b(?:{words})\b", re.I) for kind, words in KINDS.items()}
BEFORE = re.compile(rf"\A(?:(?:{'|'.join(KINDS[kind] for kind in (TRUTH, WHOLE, REAL))}|tensor|array|of|shape)\b[\s:]*)*\Z", re.I)
LIST = re.compile(r"\A([^()\[\]]*)(?:\(([^()\[\]]*)\)|\[([^()\[\]]*)\])(.*)\Z", re.S)
DIMENSION = re.compile(r"\A(?:…|\.{3}|\*?[^\W\d]\w*|\d+|[\w\s+*/-]*\w\s*[+*/-]+\s*\w[\w\s+*/-]*)\Z")
SCALAR = re.compile(rf"\A(?:scalar|{KINDS[TRUTH]}|{KINDS[WHOLE]}|{KINDS[REAL]})\b", re.I)


@dataclass(frozen=True)
class Form:
    """`dims`: None for what is no tensor, () for a tensor without dimensions; `kind`: float, int, bool or object."""

    dims: tuple[str, ...] | None
    kind: str

    @property
    def tensor(self) -> bool:
        return self.dims is not None


def kind_of(words: str) -> str:
    return next((kind for kind in (TRUTH, WHOLE) if WORD[kind].search(words)), REAL)


def read(text: object) -> Form | None:
    """The form of a text; None where it is none of those above."""
    given = str(text).strip()
    if found := LIST.match(given):
        before, after = found.group(1).strip(), found.group(4)
        inside = found.group(2) if found.group(2) is not None else found.group(3)
        dims = tuple(part.strip() for part in inside.split(",") if part.strip())
        if dims == ("parameters",) and not before:
            return Form(None, OBJECT)
        if BEFORE.match(before) and all(map(DIMENSION.match, dims)) and not re.match(r"\s*[(\[]", after):
            return Form(dims, kind_of(before) if WORD[TRUTH].search(before) or WORD[WHOLE].search(before) else kind_of(after))
    if SCALAR.match(given):
        # "int (the step)": a remark may stand in brackets, dimensions may not.
        return Form(None, kind_of(given))
    return Form(None, OBJECT) if re.match(rf"(?:{KINDS[OBJECT]})\b", given, re.I) else None
