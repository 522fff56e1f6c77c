"""Python blocks of the documentation, by name, executed; and the comparison that counts itself.

A block is a fence whose info string is `python NAME` (a knowledge block: it needs a check), `python NAME wrong` (a counter-example:
its check shows that it is wrong in the way the text says) or plain `python` (it is executed, no more). The named blocks of one file
share a namespace, in order, as a reader would run them.
"""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^([ \t]*)```python([^\n]*)\n(.*?)^\1```", re.M | re.S)
CHECKED: set[tuple[str, str]] = set()
COMPARED: list[float] = []


@dataclass(frozen=True)
class Fence:
    file: Path
    line: int
    name: str | None
    wrong: bool
    code: str


def fences(file: Path) -> list[Fence]:
    text = file.read_text(encoding="utf-8")
    out = []
    for found in FENCE.finditer(text):
        words = found.group(2).split()
        code = "\n".join(line.removeprefix(found.group(1)) for line in found.group(3).splitlines())
        out.append(Fence(file, text[:found.start()].count("\n") + 2, words[0] if words else None, "wrong" in words[1:], code))
    return out


def run(fence: Fence, namespace: dict) -> None:
    lines = "\n" * (fence.line - 1) + fence.code
    exec(compile(lines, str(fence.file), "exec"), namespace)  # noqa: S102  (our own documentation)


@functools.cache
def load(name: str) -> dict:
    """The namespace that the right blocks of knowledge/NAME.md leave behind; those of its counter-examples come last."""
    namespace: dict = {"__name__": name}
    found = fences(ROOT / "knowledge" / f"{name}.md")
    for fence in (*(f for f in found if f.name and not f.wrong), *(f for f in found if f.wrong)):
        run(fence, namespace)
    return namespace


def checks(file: str, *names: str):
    """Marks a test as the check of these blocks of knowledge/FILE.md; the test is called with their file's namespace."""
    CHECKED.update((file, name) for name in names)

    def mark(test):
        @functools.wraps(test)
        def with_namespace(*args, **kwargs):
            return test(load(file), *args, **kwargs)

        # pytest fills parameters by name; the namespace is not one of them.
        import inspect
        parameters = list(inspect.signature(test).parameters.values())[1:]
        with_namespace.__signature__ = inspect.Signature(parameters)
        return with_namespace
    return mark


def array(value) -> np.ndarray:
    if hasattr(value, "detach"):
        value = value.detach().to("cpu").double() if value.is_floating_point() or value.is_complex() else value.detach().cpu()
    return np.asarray(value)


def close(actual, expected, tolerance: float = 1e-5) -> None:
    """Every value within `tolerance` (absolute, and relative for large ones), shapes equal, NaN nowhere. Counts itself."""
    actual, expected = array(actual), array(expected)
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, equal_nan=False)
    COMPARED.append(float(np.max(np.abs(actual.astype(complex) - expected))) if actual.size else 0.0)


def differs(actual, expected, by: float) -> None:
    """The largest difference is at least `by`: a counter-example is wrong, a variant is another one. Counts itself."""
    gap = float(np.max(np.abs(array(actual).astype(float) - array(expected).astype(float))))
    assert gap >= by, f"differs by {gap} only"
    COMPARED.append(gap)
