"""check_anchors: findings with places and the mend, an entry for each pair, values in what they cite."""

import random
import time

import pytest
from paper2code.check.anchors import scan_text
from paper2code.check.numbers import states
from paper2code.check.quotes import STATES, Matcher, check_anchors
from paper2code.paper import Algorithm, Block, Equation, Paper, Section, Table, give_ids


@pytest.fixture(scope="module")
def paper() -> Paper:
    made = Paper(
        id="0000.00002", title="Another Paper", abstract="Small.", pages=4,
        sections=[
            Section("1", "Related work", "1", blocks=[Block("paragraph", "Others use a batch size of 4096 in all runs.")]),
            Section("2", "Model", "2", page=2, blocks=[
                Block("paragraph", "The encoder is a stack of N = 6 identical layers. We apply dropout of 0.1 to each sub-layer.",
                      page=2, source="latex"),
                Block("equation", ref="e"), Block("paragraph", "We train with Adam for 100k steps, ten epochs in all.", page=2)]),
            Section("3", "Results", "3", page=3, blocks=[Block("paragraph", "Base and big models are compared.", source="latex")])],
        equations=[Equation("e", "(1)", r"\mathrm{lr} = d^{-0.5} \cdot \min(s^{-0.5}, s \cdot w^{-1.5})", section="2", source="latex")],
        tables=[Table("t", "1", "Sizes", [["", "d_model", "heads"], ["base", "512", "8"]], section="3")],
        algorithms=[Algorithm("a", "1", "Loop", ["sample a batch", "step"], section="2")])
    give_ids(made)
    return made


def checks(paper, text, name="src/model.py"):
    anchors, findings = scan_text(text, name)
    more, entries = check_anchors(paper, anchors)
    return [*findings, *more], entries


GOOD = '''
# §2 — "a stack of N = 6 identical layers"
n = 6
class Config:
    d_model: int = 512  # §3, Table 1
    heads: int = 8  # Table 1 — heads = 8
    dropout: float = 0.1  # §2 — "dropout of 0.1"
    steps: int = 100_000  # §2 — "We train with Adam for 100k steps"
    epochs: int = 10  # §2 — "ten epochs in all"
    seed: int = 3  # [UNSPECIFIED] seed. Using: 3 Alternatives: any
    def lr(self, s, w):
        """§2, Eq. 1 — lr = d^-0.5 * min(s^-0.5, s * w^-1.5)"""
        return self.d_model ** -0.5  # Eq. 1
'''


def test_a_good_file_has_no_findings(paper):
    findings, entries = checks(paper, GOOD)
    assert [finding.text() for finding in findings] == []
    assert [entry["state"] for entry in entries] == ["verified", "cited", "cited", "verified", "verified", "verified", "cited", "cited"]
    assert set(entries[0]) == {"file", "line", "place", "kind", "quote", "state", "found_at", "page"}
    assert (entries[0]["file"], entries[0]["line"], entries[0]["found_at"], entries[0]["page"]) == ("src/model.py", 2, "§2", 2)


@pytest.mark.parametrize("line, check, severity, said", [
    ('x = 6  # §2 — "a stack of N = 8 identical layers"', "quote-altered", "error", "§2"),
    ('x = y  # §3 — "a stack of N = 6 identical layers"', "quote-moved", "error", "§2 — "),
    ('x = y  # §2 — "warm restarts of the cosine schedule are used"', "quote-missing", "error", "UNSPECIFIED"),
    ('x = y  # §1 — "Others use a batch size of 4096"', "quote-deferred", "error", "own method"),
    ('x = y  # §7', "place-missing", "error", ""),
    ('x = y  # §2, Eq. 3', "place-missing", "error", ""),
    ('x = y  # §3, Eq. 1', "place-mismatch", "error", "§2"),
    ('x = y  # §2, Table 1', "place-mismatch", "warning", "§3"),
    ('x = 7  # §2 — "a stack of N = 6 identical layers"', "value-not-cited", "error", "UNSPECIFIED"),
    ('x = 1024  # Table 1', "value-not-cited", "error", "UNSPECIFIED"),
    ('x = f(y) * 7  # §2 — "a stack of N = 6 identical layers"', "value-not-cited", "warning", "UNSPECIFIED"),
    ('x = y  # Table 1 — d_model = 256', "value-not-cited", "error", "Table 1"),
    ('x = y  # Eq. 1 — lr = d^-0.5 * z', "formula-differs", "warning", "symbols"),
    ('x = y  # §2 — "a stack of N = 6 identical layers', "quote-unclosed", "error", "close"),
    ('x = y  # §2 — "dropout of 0.1\x01"', "quote-control-characters", "warning", "raw string"),
])
def test_each_fault_is_found_with_its_mend(paper, line, check, severity, said):
    findings, _ = checks(paper, f"y = 1\n{line}\n")
    hit = next((finding for finding in findings if finding.check == check), None)
    assert hit, [finding.text() for finding in findings]
    assert (hit.severity, hit.line, hit.file) == (severity, 2, "src/model.py")
    assert said in (hit.fix or "") + (hit.message or "")


def test_one_quote_for_many_unlike_values(paper):
    text = "\n".join(f'{name}: {value}  # §2 — "We train with Adam"' for name, value in
                     (("beta1", 0.9), ("beta2", 0.999), ("eps", "1e-8"), ("decay", 0.0)))
    findings, _ = checks(paper, text, "configs/base.yaml")
    assert "quote-reused" in [finding.check for finding in findings]
    quote = '# §2 — "N = 6 identical layers. We apply dropout of 0.1"'
    assert checks(paper, f"n: 6  {quote}\np: 0.1  {quote}", "configs/base.yaml")[0] == []


@pytest.mark.parametrize("text, value, there", [
    ("trained for 100k steps", 100000, True), ("trained for 100k steps", 10000, False), ("10% of tokens", 0.1, True),
    ("10% of tokens", 10, True), ("we use twenty-four layers", 24, True), ("1,000 warm-up steps", 1000, True),
    ("$2\\times10^{-4}$", "2e-4", True), ("$2\\times10^{-4}$", 0.002, False), ("dropout of 0.15", 0.1, False),
    ("we use GELU", "gelu", True), ("we use GELU", "relu", False), ("β₂ = 0.98", 0.98, True), ("two layers", 2.0, True),
])
def test_values_in_the_ways_papers_write_them(text, value, there):
    assert states(text, value) is there


ODD = ["", "…", "……", "\x00", "\ud800", "ωραίο κείμενο", "全连接层", "مرحبا", "$", "\\", "{" * 500, '"' * 99, "1" * 5000, "x" * 1_000_000,
       "a b " * 250_000, "… " * 30_000, "§" * 3000, "[" * 3000, "(((", "$$$$$", "\\frac{", "%", "a\n\n\nb"]


@pytest.mark.parametrize("quote", ODD, ids=range(len(ODD)))
def test_odd_quotes_and_places_give_a_state(paper, quote):
    started = time.process_time()
    matcher = Matcher(paper)
    for place in ("§2", "", "§99", quote[:3000]):
        assert matcher.judge(place, quote).state in STATES
        assert matcher.judge(quote[:3000], "").state in STATES
    for name in ("a.py", "a.yaml", "a.md", "a.ipynb"):
        anchors, _ = scan_text(f'x = 1  # §2 — "{quote}"\n', name)
        assert all(finding.check for finding in check_anchors(paper, anchors, matcher)[0])
    assert time.process_time() - started < 6


def long_paper(pages: int = 50) -> Paper:
    rng = random.Random(0)
    words = [f"{rng.choice('bcdfgklmnprst')}{rng.choice('aeiou')}{rng.choice('bcdfglmnprst')}{rng.choice('aeiou')}" for _ in range(3000)]

    def sentence() -> str:
        middle = f" $x_{{{rng.randint(1, 9)}}} = {rng.random():.3f}$" if rng.random() < 0.3 else ""
        return " ".join(rng.choices(words, k=18)).capitalize() + middle + f" with {rng.randint(2, 900)} units."

    def section(n: int) -> Section:
        texts = (" ".join(sentence() for _ in range(6)) for _ in range(5))
        return Section(f"{n}", f"Part {n}", f"{n}", page=n, blocks=[Block("paragraph", text, page=n, source="latex") for text in texts])

    paper = Paper(id="0000.00003", title="Long", pages=pages, sections=[section(n) for n in range(1, pages + 1)])
    give_ids(paper)
    return paper


def test_three_hundred_anchors_against_fifty_pages_are_fast():
    paper = long_paper()
    rng = random.Random(1)
    lines = []
    for n in range(300):
        section = rng.choice(paper.sections)
        sentence = rng.choice(rng.choice(section.blocks).text.split(". ")).rstrip(".")
        if n % 10 == 0:
            sentence = sentence.replace("with", "without")
        lines.append(f'x{n} = y  # §{section.number} — "{sentence}"')
    anchors, findings = scan_text("\n".join(lines), "src/model.py")
    assert len(anchors) == 300 and not findings
    started = time.process_time()
    found, entries = check_anchors(paper, anchors)
    spent = time.process_time() - started
    assert [entry["state"] for entry in entries].count("altered") == 30
    assert len(entries) == 300
    assert spent < 3  # about 0.7 s on an idle machine
