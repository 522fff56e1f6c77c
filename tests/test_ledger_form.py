"""The ledger's form: what each status needs, bad YAML, bounds, arithmetic; no paper needed."""

import pytest
from paper2code.check import contribution, expression, ledger
from paper2code.show import closing

GOOD = """
paper: 2101.00001v1
items:
- id: warm-up
  group: training
  item: warm-up
  status: SPECIFIED
  where: "§4.1"
  quote: "We warm up for 400 steps"
  value: 400
  config: training.warmup_steps
- id: norm-eps
  group: architecture
  item: normalisation epsilon
  status: UNSPECIFIED
  value: 1e-5
  config: model.norm_eps
  using: 1e-5, the framework's default
  alternatives: ["1e-6"]
  why: "our choice: the framework's default"
relations:
- {about: warm-up share, expr: "training.warmup_steps / 4000", equals: 0.1}
"""


def read(tmp_path, text):
    path = tmp_path / "ledger.yaml"
    path.write_text(text, encoding="utf-8")
    return ledger.read(path)


def problems(tmp_path, text):
    book, findings = read(tmp_path, text)
    if book is not None:
        findings += ledger.check_rows(book) + ledger.check_relations(book)
    return {finding.check: finding for finding in findings}


def test_a_good_ledger_has_no_finding(tmp_path):
    assert problems(tmp_path, GOOD) == {}
    book, _ = read(tmp_path, GOOD)
    assert [item.id for item in book.items] == ["warm-up", "norm-eps"]
    assert book.items[1].value == 1e-5, "YAML 1.1 would have read text"
    assert book.items[1].at("value") == 16


@pytest.mark.parametrize(
    "old, new, check, line",
    [
        ('quote: "We warm up for 400 steps"', "", "ledger-quote-missing", 7),
        ('alternatives: ["1e-6"]', "alternatives: []", "ledger-alternatives-missing", 15),
        ('alternatives: ["1e-6"]', 'alternatives: ["none"]', "ledger-alternatives-missing", 15),
        ("using: 1e-5, the framework's default", "using: ''", "ledger-using-missing", 15),
        ("our choice: the", "because the", "ledger-why-kind", 20),
        ("id: norm-eps", "id: warm-up", "ledger-duplicate-id", 12),
        ("id: norm-eps", "id: Norm_Eps", "ledger-id", 12),
        ("status: UNSPECIFIED", "status: UNKNOWN", "ledger-status", 15),
        ("group: training", "group: learning", "ledger-group", 5),
        ("config: model.norm_eps", "config: training.warmup_steps", "ledger-config", 17),
        ("config: model.norm_eps", "config: norm eps", "ledger-config", 17),
        ('  where: "§4.1"\n', '  where: "§4.1"\n  wher: 3\n', "ledger-field", 9),
        ("equals: 0.1", "equals: 0.2", "ledger-relation", 22),
        ('expr: "training.warmup_steps / 4000"', 'expr: "400 / 4000"', "ledger-relation", 22),
        ('expr: "training.warmup_steps / 4000"', "expr: \"__import__('os').getcwd()\"", "ledger-relation", 22),
        ('expr: "training.warmup_steps / 4000"', 'expr: "9**9**9**9"', "ledger-relation", 22),
        ("items:\n", "items: &a\n", None, None),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, old, new, check, line):
    assert old in GOOD
    found = problems(tmp_path, GOOD.replace(old, new, 1))
    if check is None:
        assert found == {}
        return
    assert check in found, found
    assert found[check].line == line
    assert found[check].expected or found[check].fix


@pytest.mark.parametrize(
    "text, check",
    [
        ("items:\n\t- id: a\n", "ledger-tab"),
        ("items: [a, b\nx: {", "ledger-unreadable"),
        ("", "ledger-empty"),
        ("- just\n- a list\n", "ledger-form"),
        ("paper: x\nitems: 3\n", "ledger-form"),
        ("paper: x\nitems:\n- a\n- b\n", "ledger-form"),
        ("paper: x\npaper: y\nitems: []\n", "ledger-duplicate-key"),
        ("paper: x\nitems:\n- &a {id: b}\n- *a\n", "ledger-alias"),
        ("paper: x\nitems:\n- {id: [1, 2], status: {a: b}}\n", "ledger-field"),
        ("\x00\x01", "ledger-unreadable"),
        ("paper: x\nitems:\n" + "- " * 3000 + "x", None),
    ],
)
def test_bad_yaml_is_a_finding_and_no_traceback(tmp_path, text, check):
    found = problems(tmp_path, text)
    assert found
    if check:
        assert check in found
    assert all(finding.file == "ledger.yaml" for finding in found.values())


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "ledger.yaml").write_bytes(b"\xff\xfe\x00paper")
    book, findings = ledger.read(tmp_path / "ledger.yaml")
    assert book is None and findings[0].check == "ledger-unreadable"


def test_five_thousand_items(tmp_path):
    rows = "".join(
        f"- {{id: item-{n}, group: training, item: thing {n}, status: NOT_APPLICABLE, why: there is none}}\n" for n in range(5000)
    )
    book, findings = read(tmp_path, "paper: x\nitems:\n" + rows)
    assert len(book.items) == 5000 and findings == []
    assert ledger.check_rows(book) == []


def test_relations_that_the_paper_itself_breaks_are_warnings(tmp_path):
    text = GOOD.replace("equals: 0.1", "equals: 0.2") + (
        'contradictions:\n- {about: warm-up share, first: {where: "§1", quote: "a"}, '
        'second: {where: "§2", quote: "b"}, decision: first, why: method}\n'
    )
    assert problems(tmp_path, text)["ledger-relation"].severity == "warning"


@pytest.mark.parametrize(
    "text, value", [("a.b * 2", 8), ("x[1] + x[0]", 1.5), ("sqrt(a.b)", 2), ("-a.b // 3", -2), ("max(1, a.b)", 4), ("2**-1", 0.5)]
)
def test_arithmetic(text, value):
    assert expression.evaluate(text, {"a.b": 4, "x": [0.5, 1.0]}) == value


@pytest.mark.parametrize(
    "text",
    ["a", "1/0", "open('x')", "(lambda: 1)()", "a.b if 1 else 2", "[1][0]", "10**100000", "x" * 600, "a.b(", "'a'", "True + 1"],
)
def test_what_is_not_arithmetic(text):
    with pytest.raises(expression.NotArithmetic):
        expression.evaluate(text, {"a.b": 4})


def test_the_riskiest_rows_are_those_no_program_can_check(tmp_path):
    text = GOOD + ""
    book, _ = read(tmp_path, text.replace("value: 400\n", 'value: "linear"\n').replace("- {about: warm-up share", "#"))
    assert ledger.riskiest(book)[0][0].id == "warm-up"
    assert ledger.check_reviews(book)[0].check == "ledger-unreviewed"


def test_a_comma_that_cuts_a_value_off_is_explained(tmp_path):
    path = tmp_path / "contribution.md"
    path.write_text("---\nout_of_scope:\n- {what: sigmoid, identity and hardtanh, where: \"§6.2\", why: variants}\n---\n", encoding="utf-8")
    told, _ = contribution.read(path)
    fixes = []
    contribution.rows(told, lambda check, message, line, expected=None, fix=None: fixes.append((check, fix)))
    assert [check for check, _ in fixes] == ["contribution-field"] and "a comma ends an unquoted one" in fixes[0][1]


def test_a_doubtful_row_without_a_place_has_no_empty_brackets():
    row = ledger.Item(1, id="shift", item="shift", status="ASSUMPTION", reviewed="doubtful", why_reviewed="not said")
    assert closing.look_first(ledger.Ledger("ledger.yaml", items=[row])) == ["doubtful: shift: not said"]


def test_an_assumption_is_looked_at_before_what_is_open():
    rows = [ledger.Item(1, id="rate", group="training", status=ledger.UNSPECIFIED, using="0.1", value=0.1, config="training.rate"),
            ledger.Item(2, id="sign", group="method", status=ledger.ASSUMPTION, using="minus", why="our choice: the loss falls")]
    assert closing.look_first(ledger.Ledger("ledger.yaml", items=rows)) == [
        "assumed: sign; using minus: our choice: the loss falls", "not in the paper: rate; using 0.1"]


@pytest.mark.parametrize("place", ["Appendix E.2", "§5.3", "Appendix B"])
@pytest.mark.parametrize("why, found", [
    ("our choice: {} speaks of the baseline", 0), ("our choice: {}, Table 2 speaks of another model", 0),
    ("our choice: the paper is silent", 1), ("our choice: {}.1 speaks of the baseline", 1),
])
def test_a_reason_may_name_a_place_as_the_finding_spells_it(tmp_path, place, why, found):
    text = GOOD.replace("our choice: the framework's default", why.format(place))
    (tmp_path / "ledger.yaml").write_text(text, encoding="utf-8")
    read, _ = ledger.read(tmp_path / "ledger.yaml")
    evidence = {"normalisation epsilon": [(place, "epsilon is 1e-6")]}
    assert len(ledger.check_evidence(read, lambda name: evidence.get(name, []))) == found


def test_one_reason_for_many_second_readings_is_none():
    rows = [ledger.Item(n, id=f"row-{n}", group="method", item=f"row {n}", status="NOT_APPLICABLE", why="nothing of it is used here",
                        reviewed="held", why_reviewed=f"§{n} read again: the same") for n in range(1, 5)]
    book = ledger.Ledger("ledger.yaml", items=rows)
    assert not [finding for finding in ledger.check_rows(book) if finding.check == "ledger-review"]
    for row in rows[1:]:
        row.why_reviewed = "Read again:  the quote holds"
    told = [finding.message for finding in ledger.check_rows(book) if finding.check == "ledger-review"]
    assert told == ["3 rows have one why_reviewed: row-2, row-3, row-4"]
    for row in rows[1:]:
        row.quote = "one sentence of all three"
    assert not [finding for finding in ledger.check_rows(book) if finding.check == "ledger-review"]


@pytest.mark.parametrize("code, good", [
    ("src/model.py", True), ("src/model.py:Gate", True), ("src/model.py:Gate.forward", True), ("Gate", True),
    ("out of scope: no training step in this mode", True), ("configs/base.yaml", True), ("README.md", True), ("requirements.txt", True),
    ("model.py:Gate", False), ("the gate", False), ("src/loss.py:Gate", False), ("src/train.py:step twice", False)])
def test_code_names_a_place_that_can_be_laid(code, good):
    rows = [ledger.Item(1, id="a", code="src/model.py:Gate"), ledger.Item(2, id="b", code=code)]
    found = ledger.check_code(ledger.Ledger("ledger.yaml", items=rows), {"Gate": ""})
    assert (not found) == good and all(finding.line == 2 for finding in found)
