"""`check_stage.py --self-test`: every check on a good case and on known-bad ones. A check without a known-bad case fails it.

The good case is the finished repository of the bundled paper (`examples/staggered_gates/minimal`): not one finding. Each known-bad case
is one change to one of its files, and the check that has to see it.
"""

from __future__ import annotations

import ast
import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from paper2code import cli, environment
from paper2code.check import against as papers
from paper2code.check import contribution as contributions
from paper2code.check import everything
from paper2code.check import ledger as ledgers
from paper2code.check.gates import LEFT_OUT
from paper2code.check.outcome import Outcome
from paper2code.check.quotes import Matcher
from paper2code.findings import Finding, in_order
from paper2code.paper import Paper
from paper2code.workspace import Job, Workspace

SKILL = environment.SKILL
EXAMPLE = SKILL / "examples" / "staggered_gates" / "minimal"
PAPER = SKILL / "examples" / "staggered_gates" / "paper" / "paper.html"

CONTRIBUTION, LEDGER = "work/contribution.md", "work/ledger.yaml"
CONFIG, MODEL, LOSS, TRAIN, EVALUATE = (
    "result/configs/base.yaml",
    "result/src/model.py",
    "result/src/loss.py",
    "result/src/train.py",
    "result/src/evaluate.py",
)
UTILS, DATA, NOTES, README, NEEDS = (
    "result/src/utils.py",
    "result/src/data.py",
    "result/REPRODUCTION_NOTES.md",
    "result/README.md",
    "result/requirements.txt",
)


def paper_of(path: Path = PAPER) -> Paper:
    from paper2code.read.open import open_paper

    if path.suffix == ".json":
        return Paper.load(path)
    return open_paper(path, say=lambda line: None)


class Trial:
    """A copy of a workspace's files and a result, on which single changes are tried. The paper is indexed once."""

    def __init__(self, folder: Path, work: Path, result: Path, paper: Paper, mode: str):
        self.folder, self.paper = folder, paper
        self.matcher = Matcher(paper)
        shutil.copytree(work, folder / "work", ignore=shutil.ignore_patterns(*LEFT_OUT))
        shutil.copytree(result, folder / "result", ignore=shutil.ignore_patterns(*LEFT_OUT))
        self.work = Workspace(folder / "work")
        self.work.save_job(Job("self-test", "self-test", mode))
        self.against = papers.Against(paper, self.matcher)

    @contextlib.contextmanager
    def changed(self, name: str, content: str | None) -> Iterator[None]:
        """One file with another content (None: without the file), put back afterwards."""
        path = self.folder / name
        before = path.read_bytes() if path.is_file() else None
        try:
            if content is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            yield
        finally:
            if before is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(before)

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def findings(self, name: str | None = None) -> list[Finding]:
        """Everything that gates 2 to 4 say of the files as they are. `name`: what was changed; gates that do not read it are left out."""
        out: list[Finding] = []
        contribution, problems = contributions.read(self.work.contribution)
        out += problems
        if name is None or name == CONTRIBUTION:
            if contribution is not None:
                out += papers.check_contribution(contribution, self.against)
        ledger, problems = ledgers.read(self.work.ledger)
        if name is None or name == LEDGER:
            outcome = Outcome()
            outcome.add(problems)
            if ledger is not None:
                papers.check_ledger(ledger, self.paper, contribution, outcome, self.against)
            out += outcome.findings
        out += everything.check(self.folder / "result", self.paper, work=self.work, contribution=contribution, matcher=self.matcher).findings
        return out


@dataclass
class Case:
    """One change, and the check that must see it. `old` is replaced by `new` once; `old` None: the file becomes `new` (None: goes)."""

    check: str
    file: str
    old: str | None = None
    new: str | None = None

    def content(self, text: str) -> str | None:
        if self.old is None:
            return self.new
        if self.old not in text:
            raise AssertionError(f"{self.check}: {self.file} no longer holds {self.old!r}")
        return text.replace(self.old, self.new or "", 1)


CASES = [
    # contribution.md
    Case("contribution-missing", CONTRIBUTION),
    Case("contribution-form", CONTRIBUTION, None, "no front matter\n"),
    Case("contribution-unreadable", CONTRIBUTION, "paper: staggered-gates", "paper: [a: b"),
    Case("contribution-tab", CONTRIBUTION, "- name: open_gates\n  kind", "- name: open_gates\n\tkind"),
    Case("contribution-empty", CONTRIBUTION, None, "---\n---\n"),
    Case("contribution-duplicate-key", CONTRIBUTION, "type: b\n", "type: b\ntype: a\n"),
    Case("contribution-alias", CONTRIBUTION, "domains: [transformer]", "domains: &a [*a]"),
    Case("contribution-field", CONTRIBUTION, "worth: Yes", "worthy: Yes"),
    Case("contribution-type", CONTRIBUTION, "type: b\n", "type: z\n"),
    Case("contribution-summary", CONTRIBUTION, "summary: Residual", "summary: One thing. And another. Residual"),
    Case("contribution-domain", CONTRIBUTION, "[transformer]", "[cookery]"),
    Case("contribution-nothing", CONTRIBUTION, "domains:", "nothing_to_implement: {why: it is a survey}\ndomains:"),
    Case("contribution-claim", CONTRIBUTION, '  where: "§4.3, Table 1"\n', ""),
    Case("contribution-code", CONTRIBUTION, 'official_code: {url: "https://', 'official_code: {url: "'),
    Case("contribution-algorithm", CONTRIBUTION, 'algorithm: "Algorithm 1"', "algorithm: none"),
    Case("contribution-component", CONTRIBUTION, "- name: SelfAttention", "- name: self-attention"),
    Case("contribution-shape", CONTRIBUTION, "inputs: {step: scalar}", "inputs: {step: a number}"),
    Case("contribution-symbol", CONTRIBUTION, "variable: n_heads", "variable: n heads"),
    Case("contribution-place", CONTRIBUTION, '  where: "§3.2"\n  equations: ["Eq. 3"]', '  where: "§3.9"\n  equations: ["Eq. 3"]'),
    Case("contribution-equation", CONTRIBUTION, 'equations: ["Eq. 3"]', 'equations: ["Eq. B.1"]'),
    Case("contribution-placeholder", CONTRIBUTION, "worth: Yes", "worth: TODO"),
    Case("contribution-prose", CONTRIBUTION, "---\n## Core contribution\n", "---\n## Core contribution\n\nIt is good.\n<!--\n"),
    # ledger.yaml
    Case("ledger-missing", LEDGER),
    Case("ledger-unreadable", LEDGER, "items:", "items: [a: b"),
    Case("ledger-tab", LEDGER, "  group: architecture", "\tgroup: architecture"),
    Case("ledger-form", LEDGER, None, "- a list\n"),
    Case("ledger-empty", LEDGER, None, "paper: staggered-gates\nitems: []\n"),
    Case("ledger-duplicate-key", LEDGER, "  value: 8\n", "  value: 8\n  value: 9\n"),
    Case("ledger-alias", LEDGER, "alternatives: [the tanh approximation]", "alternatives: &a [*a]"),
    Case("ledger-paper", LEDGER, "paper: staggered-gates", "paper:"),
    Case("ledger-field", LEDGER, "  value: 8\n", "  vlaue: 8\n"),
    Case("ledger-id", LEDGER, "- id: depth", "- id: Depth Of It"),
    Case("ledger-duplicate-id", LEDGER, "- id: heads", "- id: depth"),
    Case("ledger-group", LEDGER, "group: architecture", "group: building"),
    Case("ledger-item", LEDGER, "  item: ramp\n", "  item:\n"),
    Case("ledger-status", LEDGER, "status: SPECIFIED", "status: CERTAIN"),
    Case(
        "ledger-incomplete",
        LEDGER,
        "- id: depth\n  group: architecture\n  item: depth\n",
        "- id: colour\n  group: architecture\n  item: colour\n",
    ),
    Case("ledger-quote-missing", LEDGER, '  quote: "with four heads"\n', ""),
    Case("ledger-where-missing", LEDGER, '  where: "§4.2"\n  quote: "with four heads"', '  quote: "with four heads"'),
    Case("ledger-unclear-missing", LEDGER, "  unclear: which seeds\n", ""),
    Case("ledger-using-missing", LEDGER, "  using: 1e-5\n", ""),
    Case("ledger-alternatives-missing", LEDGER, '  alternatives: ["1e-6", "1e-12"]\n', ""),
    Case("ledger-why-missing", LEDGER, "  why: nothing is pre-trained\n", ""),
    Case("ledger-why-kind", LEDGER, '"our choice: the default of the framework that §4.2 names"', '"it works"'),
    Case("ledger-alternatives", LEDGER, '["1e-6", "1e-12"]', '["1e-5", "1e-12"]'),
    Case("ledger-source-missing", LEDGER, "status: UNSPECIFIED", "status: FROM_OFFICIAL_CODE"),
    Case("ledger-source", LEDGER, "status: UNSPECIFIED", "status: FROM_OFFICIAL_CODE\n  source: https://github.com/a/b/blob/main/x.py#L1"),
    Case("ledger-config", LEDGER, "config: model.n_heads", "config: model.width"),
    Case("ledger-review", LEDGER, "reviewed: held", "reviewed: fine"),
    Case("ledger-code", LEDGER, "src/model.py:SelfAttention", "the attention module"),
    Case("ledger-unreviewed", LEDGER, "  reviewed: held\n  why_reviewed: Eq. B.1 counts 4 d^2", "  checked_by: Eq. B.1 counts 4 d^2"),
    Case("ledger-number", LEDGER, "  value: 240\n", "  value: 250\n"),
    Case("ledger-vague", LEDGER, '"Both branches of a block share one gate."', '"Weights are drawn with the standard initialisation."'),
    Case(
        "ledger-deferred",
        LEDGER,
        '"Both branches of a block share one gate."',
        '"The objective is the cross-entropy with label smoothing as in [10]"',
    ),
    Case("ledger-bare-optimiser", LEDGER, '"We use AdamW [7, 8] with $\\\\beta_{1}=0.9$ and $\\\\beta_{2}=0.98$"', '"We use AdamW [7, 8]"'),
    Case(
        "ledger-evidence",
        LEDGER,
        "§2 gives 1e-9 for others' work\"\n- id: weight-decay\n  group: training\n  item: weight-decay\n  status: SPECIFIED",
        'others differ"\n- id: weight-decay\n  group: training\n  item: weight-decay\n  using: "0.01"\n  alternatives: ["0"]\n'
        '  why: "our choice: it is common"\n  status: UNSPECIFIED',
    ),
    Case("ledger-relation", LEDGER, "equals: 110", "equals: 120"),
    Case("ledger-contradiction", LEDGER, 'first: {where: "§4.2", quote: "with a batch of 64 sequences"}', 'first: {where: "§4.2"}'),
    Case(
        "ledger-contradiction-unlisted",
        LEDGER,
        '- about: batch-size\n  first: {where: "§4.2", quote: "with a batch of 64 sequences"}',
        '- about: batch-size\n  first: {where: "§4.1", quote: "Training sequences are drawn afresh at every step."}',
    ),
    Case("ledger-quote-reused", LEDGER, "", ""),
    # quotes, places, values
    Case("quote-altered", MODEL, "its four projections have no bias terms", "its four projections have bias terms"),
    Case("quote-moved", MODEL, '§3.1 — "Both branches of a block', '§3.2 — "Both branches of a block'),
    Case("quote-missing", MODEL, '"Both branches of a block share one gate."', '"The cat sat on a mat that was quite expensive last winter."'),
    Case("quote-deferred", CONFIG, '§4.2 — "are trained for 240 steps"', '§2 — "warm the learning rate up over 4000 steps"'),
    Case("place-missing", LOSS, "§3.3, Eq. 5", "§3.3, Eq. 15"),
    Case("place-mismatch", LOSS, "§3.3, Eq. 5", "§4.1, Eq. 5"),
    Case("value-not-cited", CONFIG, "weight_decay: 0.01 ", "weight_decay: 0.05 "),
    Case("formula-differs", LOSS, "L = L_CE + lambda L_z", "L = L_CE - kappa L_z"),
    Case("quote-unclosed", CONFIG, '§4.2 — "with four heads"', '§4.2 — "with four heads'),
    Case("quote-control-characters", MODEL, '# §3.1 — "its four projections', '# §3.1 — "its four\x01 projections'),
    Case("reference-mismatch", README, "It covers", 'It follows "Attention and its many discontents" (arXiv:2003.04887). It covers'),
    Case("reference-unknown", MODEL, "The gated post-norm Transformer", "After Smith et al. (2021), the gated post-norm Transformer"),
    # census
    Case("census-number", LOSS, "return -summed.mean()", "return -0.5 * summed.mean()"),
    Case("census-config", CONFIG, 'n_heads: 4               # §4.2 — "with four heads"', "n_heads: 4"),
    Case("config-number-is-text", CONFIG, "z_weight: 1.0e-4", "z_weight: 1e-4"),
    Case("config-unused", MODEL, "nn.Dropout(config.dropout)", "nn.Dropout(0.05)"),
    Case("config-differs", UTILS, "    stagger: int\n", "    stagger: int = 20\n"),
    Case("config-dataclass", UTILS, "    z_weight: float\n", ""),
    Case("config-type", UTILS, "    ramp: int\n", "    ramp: str\n"),
    Case("config-tab", CONFIG, "  n_blocks: 8", "\tn_blocks: 8"),
    Case("config-unreadable", CONFIG, "model:\n", "model: [a: b\n"),
    Case("config-empty", CONFIG, None, "# nothing\n"),
    Case("config-duplicate-key", CONFIG, "  ramp: 40 ", "  ramp: 30\n  ramp: 40 "),
    Case("config-alias", CONFIG, "seeds: [0, 1, 2, 3, 4]", "seeds: &a [0, *a]"),
    Case("yaml-syntax", CONFIG, "model:\n", "model: [a: b\n"),
    Case("default-silent", TRAIN, "        eps=config.adam_eps,\n", ""),
    Case("config-overridden", TRAIN, "    torch.manual_seed(seed)\n", "    config.training.peak_rate = config.loss.z_weight\n    torch.manual_seed(seed)\n"),
    Case("config-crossed", TRAIN, "        eps=config.adam_eps,\n", "        eps=config.weight_decay,\n"),
    Case("choice-differs", TRAIN, "torch.optim.AdamW(", "torch.optim.Adam("),
    # code
    Case("code-syntax", LOSS, "return -summed.mean()", "return -summed.mean("),
    Case("code-file-missing", LOSS),
    Case("code-file-unwanted", CONTRIBUTION, None, None),
    Case("code-file-empty", "result/src/extra.py", None, '"""Nothing yet."""\n'),
    Case("code-excluded", DATA, "import torch\n", "import torch\nimport wandb\n"),
    Case(
        "code-anchor",
        MODEL,
        '"""§3.1 — "with the GELU activation [5]": FFN(x) = W_2 GELU(W_1 x + b_1) + b_2."""',
        '"""The feed-forward layer."""',
    ),
    Case("flag-form", MODEL, "    Alternatives: Xavier uniform; normal with a standard deviation of 0.02\n", ""),
    Case(
        "flag-unknown",
        CONFIG,
        "# [UNSPECIFIED] The paper does not state the epsilon of layer",
        "# [UNSPECIFED] The paper does not state the epsilon of layer",
    ),
    Case("phrase-forbidden", LOSS, "# scalar\n", "# scalar\n    # as usual, the mean is taken\n"),
    Case(
        "code-shape",
        MODEL,
        "return self.out(mixed.transpose(1, 2).flatten(-2))  # (batch, length, width)",
        "return self.out(mixed.transpose(1, 2).flatten(-2))",
    ),
    Case("code-hints", LOSS, "def normaliser_penalty(logits: torch.Tensor)", "def normaliser_penalty(logits)"),
    Case("code-import", TRAIN, "from src.loss import objective", "from src.loss import objectve as objective"),
    Case("requirements-unpinned", NEEDS, "torch>=2.4,<3", "torch>=2.4"),
    Case("requirements-form", NEEDS, "torch>=2.4,<3", "torch>=2.4,<3\n!!\n"),
    Case("code-undefined", EVALUATE, "from src.data import held_out\n", ""),
    Case("code-empty-body", LOSS, "    return logits.logsumexp(dim=-1).square().mean()  # scalar\n", "    pass\n"),
    Case("code-stub", LOSS, "    return logits.logsumexp(dim=-1).square().mean()  # scalar\n", "    raise NotImplementedError\n"),
    Case("code-placeholder", LOSS, "    return logits.logsumexp(dim=-1).square().mean()  # scalar\n", "    return {{ body }}\n"),
    Case(
        "code-dead",
        DATA,
        "def held_out(",
        'def never_called(x: int) -> int:\n    """§4.1"""\n    unused = x\n    return x\n\n\ndef held_out(',
    ),
    # notes and README
    Case("notes-missing", NOTES),
    Case("notes-part-missing", NOTES, "## Known deviations", "## Other"),
    Case(
        "notes-part-empty",
        NOTES,
        "None from a stated value. Where the paper contradicts itself, the choice is listed above with its reason.",
        "",
    ),
    Case("notes-placeholder", NOTES, "None from a stated value.", "TODO. None from a stated value."),
    Case("notes-results", NOTES, "§4.3, Table 1, in per cent", "In per cent"),
    Case("notes-count", NOTES, "| UNSPECIFIED | 3 |", "| UNSPECIFIED | 2 |"),
    Case("readme-part-missing", README, "[REPRODUCTION_NOTES.md](REPRODUCTION_NOTES.md)", "the notes"),
    Case("readme-file", README, "`src/loss.py`", "`src/losses.py`"),
    # traceability
    Case("trace-uncovered", CONFIG, '  ramp: 40                 # §4.2 — "Our gates use a ramp of 40 steps"\n', ""),
    Case("trace-stale", CONFIG, "test_seed: 10000", "test_seed: 10001"),
    Case(
        "trace-status",
        CONFIG,
        "  # [UNSPECIFIED] The paper does not state the optimiser's epsilon",
        "  # [ASSUMPTION] The paper does not state the optimiser's epsilon",
    ),
    Case(
        "trace-orphaned",
        CONFIG,
        "  steps: 240 ",
        "  epochs: 3               # [ASSUMPTION] 3, because the paper counts steps\n  steps: 240 ",
    ),
    Case("trace-unwanted", LEDGER, "  item: ema\n  status: NOT_APPLICABLE\n", "  item: ema\n  status: NOT_APPLICABLE\n  config: gates.ramp\n"),
    Case("trace-scope", LEDGER, "out of scope: the code runs on whatever core it is given", "out of scope"),
    Case("file-not-utf8", DATA, None, None),
    Case("notebook-unreadable", "result/notebooks/walkthrough.ipynb", None, "not JSON\n"),
]


@dataclass
class Report:
    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def say(self, good: bool, line: str) -> None:
        (self.passed if good else self.failed).append(line)


def check_names() -> set[str]:
    """The name of every check that this layer's modules can report, read from their syntax trees."""
    out: set[str] = set()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem in ("stage1", "notebook", "selftest"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and getattr(node.func, "id", "") in ("Finding", "add"):
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    out.add(first.value)
    return out


# Checks that one changed file of the example cannot show: each with how else it is tried here.
def special(trial: Trial) -> Iterator[tuple[str, list[Finding]]]:
    """Known-bad cases that are more than a replaced string."""
    contribution = trial.text(CONTRIBUTION)
    with (
        trial.changed("result/src/train.py", trial.text(TRAIN)),
        trial.changed(CONTRIBUTION, contribution.replace("type: b\n", "type: c\n").replace("training_is_contribution: true\n", "")),
    ):
        yield "code-file-unwanted", trial.findings(CONTRIBUTION)
    path = trial.folder / DATA
    before = path.read_bytes()
    path.write_bytes(b"# \xff\xfe\n" + before)
    yield "file-not-utf8", trial.findings(DATA)
    path.write_bytes(before)
    with tempfile.TemporaryDirectory() as empty:
        yield "nothing-inspected", everything.check(Path(empty), trial.paper, matcher=trial.matcher).findings
    # One quote under three decisions that it says nothing of.
    ledger = trial.text(LEDGER)
    quote = '"Both branches of a block share one gate."'
    for old in (
        '"Dropout is applied to the output of each branch before it is multiplied by the gate."',
        '"its four projections have no bias terms"',
        '"it is not tied to the token embedding"',
    ):
        ledger = ledger.replace(old, quote, 1)
    with trial.changed(LEDGER, ledger):
        yield "ledger-quote-reused", trial.findings(LEDGER)
    config = trial.text(CONFIG)
    for old in ('"feed-forward width"', '"label smoothing"', '"weight decay"', '"peak learning rate"'):
        config = config.replace(f"Table 3 — {old}", f"§4.2 — {quote}".replace("§4.2", "§3.1"))
    with trial.changed(CONFIG, config):
        yield "quote-reused", trial.findings(CONFIG)
    official = trial.work.official_code / "repo"
    official.mkdir(parents=True)
    (official / "model.py").write_text("x = 1\n", encoding="utf-8")
    link = "https://github.com/a/b/blob/" + "0" * 40 + "/model.py#L400"
    text = trial.text(LOSS).replace(
        "    return -summed.mean()  # scalar",
        f"    # [FROM_OFFICIAL_CODE] the mean over all positions\n    # Source: {link}\n    return -summed.mean()  # scalar",
    )
    with trial.changed(LOSS, text):
        yield "permalink-missing", trial.findings(LOSS)
    shutil.rmtree(trial.work.official_code)
    large = "# " + "x" * 5_000_000 + "\n"
    with trial.changed("result/src/large.py", large):
        yield "file-too-large", trial.findings("result/src/large.py")
    for name, content in ((CONTRIBUTION, b"\xff\xfe\x00"), (LEDGER, b"\xff\xfe\x00")):
        path = trial.folder / name
        before = path.read_bytes()
        path.write_bytes(content)
        yield f"{Path(name).stem}-unreadable", trial.findings(name)
        path.write_bytes(before)
    yield "ledger-checklist", ledgers.check_complete(ledgers.Ledger("ledger.yaml"), [])


ELSEWHERE = {
    "python-syntax": "told once, as code-syntax",
    "file-unreadable": "needs a file without read permission",
    "place-wrong": "a ledger's place; an anchor's is place-mismatch",
    "place-mismatch": "",
    "config-empty": "",
}


def run(paper: Path = PAPER) -> Report:
    """The good case and every known-bad one."""
    report = Report()
    if not EXAMPLE.is_dir():
        raise cli.Stop(
            f"{EXAMPLE} is missing, and the self-test works on it",
            code=cli.USAGE,
            expected="a complete copy of the skill",
            fix="install the skill again",
        )
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder), EXAMPLE / "work", EXAMPLE / "result", paper_of(paper), "minimal")
        good = trial.findings()
        report.say(not good, "good case: no finding" if not good else "good case: " + "; ".join(f.text() for f in in_order(good)[:5]))
        for case in CASES:
            if case.old == "" or (case.old is None and case.new is None and case.check in ("code-file-unwanted", "file-not-utf8")):
                continue
            try:
                content = case.content(trial.text(case.file) if (trial.folder / case.file).exists() else "")
            except AssertionError as problem:
                report.say(False, str(problem))
                continue
            with trial.changed(case.file, content):
                found = {finding.check for finding in trial.findings(case.file)}
            seen.add(case.check)
            report.say(
                case.check in found,
                f"{case.check}: {case.file}" + ("" if case.check in found else f" was not seen (only {sorted(found)[:6]})"),
            )
        for check, findings in special(trial):
            found = {finding.check for finding in findings}
            seen.add(check)
            report.say(check in found, check + ("" if check in found else f" was not seen (only {sorted(found)[:6]})"))
    for name in sorted(check_names() - seen - ELSEWHERE.keys()):
        report.say(False, f"{name}: no known-bad case")
    return report


def main(*, as_json: bool = False, out: str | None = None) -> int:
    """Run, show, and give the exit code."""
    start = time.perf_counter()
    report = run()
    text = "\n".join(
        [
            *(f"FAILED {line}" for line in report.failed),
            f"self-test: {len(report.passed)} passed, {len(report.failed)} failed, {time.perf_counter() - start:.1f} s",
        ]
    )
    cli.show(text, data={"ok": not report.failed, "passed": report.passed, "failed": report.failed}, as_json=as_json, out=out)
    return cli.FINDINGS if report.failed else cli.DONE
