#!/usr/bin/env python3
"""A finished repository, spoiled in 200 ways, one at a time: how many of them the checks see.

    benchmarks/mutants.py                                       # the bundled paper's finished repository
    benchmarks/mutants.py --work W --result DIR --paper P       # any other, with its workspace
    benchmarks/mutants.py --count 1000 --seed 3 --missed        # more of them, and those that went unseen

Every mutant is one small change of the kind a hurried writer makes. A mutant is found when gates 2 to 4 report an error (for a
line of official code that does not exist: that very error). The unspoiled repository must have no finding at all. Prints a table
of kinds, tried and found; exit code 1 when fewer than 98% are found or the unspoiled one has a finding.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from paper2code import cli, environment  # noqa: E402

LEAST = 98.0
INVENTED = (
    "We find that a larger batch works better in every setting that we tried.",
    "All weights are drawn from a truncated normal distribution with a standard deviation of 0.02.",
    "The model is trained on eight accelerators for three days.",
    "We choose the best checkpoint on the validation set.",
)
BANNED = (
    "as usual, the mean is taken",
    "this is standard practice",
    "obviously this holds",
    "typically this is enough",
    "kept small for simplicity",
    "this should work for all inputs",
    "it is well known that this helps",
)

Mutant = tuple[str, str, str | None]  # kind, file (from the trial's folder), the file's new text


def numbered(text: str, pattern: str) -> list[re.Match]:
    return list(re.finditer(pattern, text))


def spliced(text: str, found: re.Match, new: str, group: int = 0) -> str:
    return text[: found.start(group)] + new + text[found.end(group) :]


def sources(texts: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name.startswith("result/src/")}


def configs(texts: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name.startswith("result/configs/")}


def lines_without(text: str, first: int, last: int) -> str:
    """A text without the lines `first` … `last`, from 1."""
    lines = text.split("\n")
    return "\n".join(lines[: first - 1] + lines[last:])


# --- the kinds -----------------------------------------------------------------------------------------------------------


def flag_deleted(texts: dict[str, str]) -> Iterator[Mutant]:
    """The comment block that flags a choice is gone."""
    for name, text in {**configs(texts), **sources(texts)}.items():
        lines = text.split("\n")
        for number, line in enumerate(lines):
            if re.match(r"\s*#\s*\[(UNSPECIFIED|PARTIALLY_SPECIFIED|ASSUMPTION|FROM_OFFICIAL_CODE)\]", line):
                last = number
                while last + 1 < len(lines) and re.match(r"\s*#", lines[last + 1]):
                    last += 1
                yield "flag deleted", name, lines_without(text, number + 1, last + 1)


def alternatives_deleted(texts: dict[str, str]) -> Iterator[Mutant]:
    for name, text in {**configs(texts), **sources(texts)}.items():
        lines = text.split("\n")
        inside = ""
        for number, line in enumerate(lines):
            tag = re.search(r"\[(UNSPECIFIED|PARTIALLY_SPECIFIED|ASSUMPTION)\]", line)
            inside = tag.group(1) if tag else inside
            if re.match(r"\s*#?\s*Alternatives:", line) and inside == "UNSPECIFIED":
                yield "alternatives deleted", name, lines_without(text, number + 1, number + 1)


def config_changed(texts: dict[str, str]) -> Iterator[Mutant]:
    for name, text in configs(texts).items():
        for found in numbered(text, r"(?m)^\s+\w+: (\[?-?[\d.]+(?:e-?\d+)?)"):
            digits = found.group(1)
            bare = digits.lstrip("[")
            new = (
                str(int(bare) * 2 + 1)
                if re.fullmatch(r"\d+", bare)
                else bare.replace("e-", "e-1")
                if "e-" in bare
                else f"{float(bare) * 2 + 0.01:.4g}"
            )
            yield "config value changed", name, spliced(text, found, digits.replace(bare, new), 1)
        for found in numbered(text, r'(?m)^\s+\w+: "(\w+)"'):
            yield "config value changed", name, spliced(text, found, "other", 1)


def magic_number(texts: dict[str, str]) -> Iterator[Mutant]:
    for name, text in sources(texts).items():
        for found in numbered(text, r"(?m)^    return (?!None|\[|\()(?=[\w.-]+)"):
            yield "magic number added", name, spliced(text, found, found.group(0) + "0.37 * ")
        for found in numbered(text, r"(?m)^        x = "):
            yield "magic number added", name, spliced(text, found, found.group(0) + "3 * ")


def equation_changed(texts: dict[str, str]) -> Iterator[Mutant]:
    for name, text in sources(texts).items():
        for found in numbered(text, r"§[\d.]+, Eq\. (\d+)"):
            yield "equation number changed", name, spliced(text, found, str(int(found.group(1)) + 20), 1)


def section_changed(texts: dict[str, str]) -> Iterator[Mutant]:
    for name, text in {**configs(texts), **sources(texts)}.items():
        for found in numbered(text, r"§(\d)\.(\d)(?= — \")"):
            yield "section number changed", name, spliced(text, found, f"§{int(found.group(1)) % 4 + 1}.{int(found.group(2)) + 1}")


def phrase_added(texts: dict[str, str]) -> Iterator[Mutant]:
    for index, (name, text) in enumerate(sources(texts).items()):
        for number, found in enumerate(numbered(text, r"(?m)^( +)(?=return |self\.\w+ = |loss = )")):
            phrase = BANNED[(index + number) % len(BANNED)]
            yield "banned phrase", name, spliced(text, found, f"{found.group(1)}# {phrase}\n{found.group(1)}")


def import_broken(texts: dict[str, str]) -> Iterator[Mutant]:
    for name, text in sources(texts).items():
        for found in numbered(text, r"(?m)^from src\.(\w+) import (\w+)"):
            yield "import broken", name, spliced(text, found, found.group(1) + "s", 1)
            yield "import broken", name, spliced(text, found, found.group(2) + "X", 2)
        for found in numbered(text, r"(?m)^(?:from (?!__future__)|import ).*\n"):
            yield "import deleted", name, spliced(text, found, "")
        for found in numbered(text, r"(?m)^from (src)\.(?=\w+ import)"):
            yield "relative import", name, spliced(text, found, "from .", 0)


def count_changed(texts: dict[str, str]) -> Iterator[Mutant]:
    for name in ("result/REPRODUCTION_NOTES.md", "result/README.md"):
        text = texts.get(name, "")
        for found in numbered(text, r"\| [A-Z_]{8,} \| (\d+) \|"):
            yield "notes count changed", name, spliced(text, found, str(int(found.group(1)) + 1), 1)
        for found in numbered(text, r"\b(\d+) (?:specified|partially specified|unspecified|assumed)\b"):
            yield "notes count changed", name, spliced(text, found, str(int(found.group(1)) + 1), 1)


def quote_invented(texts: dict[str, str]) -> Iterator[Mutant]:
    for index, (name, text) in enumerate({**configs(texts), **sources(texts)}.items()):
        for number, found in enumerate(numbered(text, r"(?:§[\d.]+|Appendix [A-Z.\d]+|Table \d) — \"([^\"\n]{15,})\"")):
            yield "quote invented", name, spliced(text, found, INVENTED[(index + number) % len(INVENTED)], 1)
            words = found.group(1).split()
            at = next(
                (at for at, word in enumerate(words) if re.fullmatch(r"(is|are|before|after|without|with|only|all|no|not)", word)), None
            )
            if at is not None:
                other = {
                    "is": "is not",
                    "are": "are not",
                    "before": "after",
                    "after": "before",
                    "without": "with",
                    "with": "without",
                    "only": "also",
                    "all": "some",
                    "no": "two",
                    "not": "always",
                }[words[at]]
                yield "quote altered", name, spliced(text, found, " ".join([*words[:at], other, *words[at + 1 :]]), 1)
            if digits := re.search(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]|\])", found.group(1)):
                changed = spliced(found.group(1), digits, str(float(digits.group(0)) + 1).removesuffix(".0"))
                yield "number in a quote changed", name, spliced(text, found, changed, 1)


def anchor_deleted(texts: dict[str, str]) -> Iterator[Mutant]:
    """A class or function whose docstring no longer cites."""
    for name, text in sources(texts).items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and ast.get_docstring(node) and not node.decorator_list:
                first = node.body[0]
                lines = text.split("\n")
                indent = " " * first.col_offset
                yield (
                    "class without anchor",
                    name,
                    "\n".join([*lines[: first.lineno - 1], f'{indent}"""A part of the model."""', *lines[first.end_lineno :]]),
                )
            if (
                isinstance(node, ast.FunctionDef)
                and ast.get_docstring(node)
                and node.name not in ("forward", "__init__")
                and len(node.body) > 3
            ):
                first, lines = node.body[0], text.split("\n")
                body = [re.sub(r"\s*# (§|Eq|Algorithm|Table|\[).*", "", line) for line in lines[first.end_lineno : node.end_lineno]]
                indent = " " * first.col_offset
                yield (
                    "function without anchor",
                    name,
                    "\n".join([*lines[: first.lineno - 1], f'{indent}"""Does its part."""', *body, *lines[node.end_lineno :]]),
                )


def argument_dropped(texts: dict[str, str]) -> Iterator[Mutant]:
    for name, text in sources(texts).items():
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            kind = "optimiser argument dropped" if "optim" in called else "layer argument dropped" if called.startswith("nn.") else ""
            for key in node.keywords if kind else ():
                if key.arg in ("lr", "betas", "eps", "weight_decay", "bias", "elementwise_affine", "momentum"):
                    kept = [part for part in node.keywords if part is not key]
                    new = ast.unparse(ast.Call(node.func, node.args, kept))
                    segment = ast.get_source_segment(text, node)
                    yield kind, name, text.replace(segment, new, 1)


def relation_broken(texts: dict[str, str]) -> Iterator[Mutant]:
    text = texts["work/ledger.yaml"]
    for found in numbered(text, r"equals: ([\d.e+]+)"):
        yield "relation broken", "work/ledger.yaml", spliced(text, found, str(float(found.group(1)) * 1.5 + 1), 1)
    for found in numbered(text, r"(?<=expr: \")[^\"]+"):
        yield "relation broken", "work/ledger.yaml", spliced(text, found, f"{found.group(0)} + 1")


def ledger_changed(texts: dict[str, str]) -> Iterator[Mutant]:
    name = "work/ledger.yaml"
    text = texts[name]
    for found in numbered(text, r"(?m)^  status: (UNSPECIFIED|PARTIALLY_SPECIFIED)$"):
        yield "flag called SPECIFIED", name, spliced(text, found, "SPECIFIED", 1)
    for found in numbered(text, r"(?m)^  alternatives: .*\n"):
        row = text[text.rfind("\n- id", 0, found.start()) : found.start()]
        if "status: UNSPECIFIED" in row:
            yield "alternatives deleted from the ledger", name, spliced(text, found, "")
    for found in numbered(text, r"(?m)^  value: (\d[\d.e-]*)$"):
        yield "ledger value changed", name, spliced(text, found, str(float(found.group(1)) * 3 + 1), 1)
    for found in numbered(text, r"(?m)^  why: .*\n"):
        row = text[text.rfind("\n- id", 0, found.start()) : found.start()]
        if "NOT_APPLICABLE" in row or "status: UNSPECIFIED" in row:
            yield "reason deleted", name, spliced(text, found, "")
    for found in numbered(text, r"(?ms)^- id: [\w-]+\n.*?(?=^- id:|^\w+:|^#)"):
        if "group: method" not in found.group(0):
            yield "ledger row deleted", name, spliced(text, found, "")


def code_spoiled(texts: dict[str, str]) -> Iterator[Mutant]:
    for name, text in sources(texts).items():
        for found in numbered(text, r"(?m)^( +(?:return|\w+ = ).*(?:\.transpose|softmax|logsumexp|self\.\w+\(|gather|sort).*?)  # \(?.*$"):
            yield "shape comment deleted", name, spliced(text, found, found.group(1))
        for found in numbered(text, r"(?m)^( *def \w+\(.*\)) -> [^:\n]+:$"):
            yield "type hint deleted", name, spliced(text, found, found.group(1) + ":")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__" and len(node.body) > 1:
                lines = text.split("\n")
                at = node.body[1].lineno if isinstance(node.body[0], ast.Expr) else node.body[0].lineno
                indent = " " * node.body[0].col_offset
                yield "body emptied", name, "\n".join([*lines[: at - 1], f"{indent}pass", *lines[node.end_lineno :]])
        yield (
            "dead function added",
            name,
            text + '\n\ndef helper_that_nobody_calls(x: int) -> int:\n    """§3.1"""\n    unused = x\n    return x\n',
        )
        yield (
            "excluded library",
            name,
            "import wandb\n" + text if not text.startswith('"""') else re.sub(r'(?s)\A(""".*?"""\n)', r"\1import wandb\n", text),
        )
        yield (
            "number typed in place of a config value",
            name,
            re.sub(r"\bconfig\.(?!data|model|loss|training|gates)\w+", "7", text, count=1),
        )


def files_spoiled(texts: dict[str, str]) -> Iterator[Mutant]:
    for name in texts:
        if name.startswith("result/") and not name.endswith(".ipynb"):
            yield "file deleted", name, None
    needs = texts.get("result/requirements.txt", "")
    for found in numbered(needs, r",<[\d.]+"):
        yield "upper bound deleted", "result/requirements.txt", spliced(needs, found, "")
    for name, text in configs(texts).items():
        for found in numbered(text, r"(?m)^(\w+):\n"):
            yield (
                "config key without a decision",
                name,
                spliced(text, found, f"{found.group(0)}  invented_key: 3     # [ASSUMPTION] 3, because it helps here\n"),
            )
    notes = texts.get("result/REPRODUCTION_NOTES.md", "")
    for found in numbered(notes, r"(?m)^## .*\n"):
        yield "part of the notes deleted", "result/REPRODUCTION_NOTES.md", spliced(notes, found, "")


def official_line(texts: dict[str, str]) -> Iterator[Mutant]:
    """A permalink into the official code (forty lines of it are brought for the trial) to a line that it does not have."""
    for name, text in sources(texts).items():
        for number, found in enumerate(numbered(text, r"(?m)^( +)(?=return )")):
            link = f"https://github.com/someone/code/blob/{'0' * 40}/model.py#L{400 + number}"
            yield (
                "official-code line that does not exist",
                name,
                spliced(
                    text,
                    found,
                    "{0}# [FROM_OFFICIAL_CODE] the order of the two operations\n{0}# Source: {1}\n{0}".format(found.group(1), link),
                ),
            )


KINDS: tuple[Callable[[dict[str, str]], Iterator[Mutant]], ...] = (
    flag_deleted,
    alternatives_deleted,
    config_changed,
    magic_number,
    equation_changed,
    section_changed,
    phrase_added,
    import_broken,
    count_changed,
    quote_invented,
    anchor_deleted,
    argument_dropped,
    relation_broken,
    ledger_changed,
    code_spoiled,
    files_spoiled,
    official_line,
)


def mutants(texts: dict[str, str], count: int, seed: int) -> list[Mutant]:
    """`count` mutants, the kinds taken in turn, each changing something."""
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    for make in KINDS:
        for mutant in make(texts):
            if mutant[2] != texts.get(mutant[1]):
                by_kind[mutant[0]].append(mutant)
    chance = random.Random(seed)
    for group in by_kind.values():
        chance.shuffle(group)
    out: list[Mutant] = []
    while len(out) < count and any(by_kind.values()):
        for group in by_kind.values():
            if group and len(out) < count:
                out.append(group.pop())
    return out


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", help="the workspace's folder (contribution.md, ledger.yaml)")
    parser.add_argument("--result", help="the finished repository")
    parser.add_argument("--paper", help="the paper in any form")
    parser.add_argument("--mode", default="minimal")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--missed", action="store_true", help="show the changed lines of the mutants that were not seen")
    args = parser.parse_args(argv)
    environment.ensure()

    from paper2code.check import selftest
    from paper2code.findings import errors

    work = Path(args.work) if args.work else selftest.EXAMPLE / "work"
    result = Path(args.result) if args.result else selftest.EXAMPLE / "result"
    paper = selftest.paper_of(Path(args.paper) if args.paper else selftest.PAPER)
    tried, found, missed = Counter(), Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        trial = selftest.Trial(Path(folder), work, result, paper, args.mode)
        official = trial.work.official_code / "code"
        official.mkdir(parents=True)
        (official / "model.py").write_text("x = 1\n" * 40, encoding="utf-8")
        unspoiled = trial.findings()
        texts = {
            path.relative_to(trial.folder).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(trial.folder.rglob("*"))
            if path.is_file() and path.suffix in (".py", ".yaml", ".md", ".txt") and "official_code" not in path.parts
        }
        for kind, name, text in mutants(texts, args.count, args.seed):
            with trial.changed(name, text):
                said = errors(trial.findings(name))
            seen = any(finding.check == "permalink-missing" for finding in said) if "official" in kind else bool(said)
            tried[kind] += 1
            found[kind] += seen
            if not seen:
                missed.append((kind, name, texts.get(name, ""), text or ""))
    width = max(map(len, tried))
    lines = [f"{kind:{width}}  {tried[kind]:4} tried  {found[kind]:4} found" for kind in tried]
    share = 100 * sum(found.values()) / max(1, sum(tried.values()))
    told = f"(seed {args.seed}; at least {LEAST:g}%)"
    lines.append(
        f"{'all':{width}}  {sum(tried.values()):4} tried  {sum(found.values()):4} found  {share:.1f}%   {told}"
    )
    lines.append(f"findings on the unspoiled repository: {len(unspoiled)}")
    lines += [f"  {finding.text()}" for finding in unspoiled[:10]]
    if args.missed:
        for kind, name, before, after in missed:
            old, new = before.split("\n"), after.split("\n")
            at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
            lines.append(f"missed: {kind}: {name}:{at + 1}: {old[at].strip()[:90]!r} -> {new[at].strip()[:90]!r}")
    cli.show("\n".join(lines))
    return cli.DONE if share >= LEAST and not unspoiled and tried else cli.FINDINGS


if __name__ == "__main__":
    sys.exit(cli.run(main))
