"""Numbers that are spelled out of other things, config values changed on their way, framework defaults behind a detour."""

import pytest
from paper2code.check import census, defaults, overrides
from paper2code.check import ledger as ledgers
from paper2code.check.repository import Repository

CONFIG = "training:\n  # §4.2 — \"a rate of 0.1\"\n  rate: 0.1\n  # §4.2 — \"decay of 0.01\"\n  weight_decay: 0.01\n"


@pytest.fixture
def repository(tmp_path):
    def make(code, config=CONFIG):
        for name, text in (("src/train.py", code), ("configs/base.yaml", config)):
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Repository(tmp_path)

    return make


@pytest.mark.parametrize("written, value", [
    ('float("0.1")', 0.1), ('float(b"0.1")', 0.1), ('float("0." + "1")', 0.1), ('float(f"0.1")', 0.1), ('float(f"{1}e-{1}")', 0.1),
    ('int("1010", base=2)', 1010), ('int("0xa", 0)', 10), ('numpy.float32("0.1")', 0.1), ('Fraction("1/10")', 0.1), ('eval("0.1")', 0.1),
    ('json.loads("0.1")', 0.1), ('len("          ")', 10), ("len([x, x, x])", 3), ('ord("d")', 100), ("(True + True + True)", 3),
    ("(1 << 1 << 1)", 4), ("(2 | 1)", 3), ("2 / x * 2", 4), ("y / 2 / 2 / 2", 0.125),
    ("-(~2)", 3), ("pow(2, 2)", 4), ("2 * 2 * 2", 8), ("sum([1, 2])", 3), ("max(range(7))", 6),
])  # fmt: skip
def test_numbers_made_of_literals_are_numbers(repository, written, value):
    module = repository(f"def scaled(x):\n    return x * {written}\n").modules[0]
    assert [round(found, 9) for _, found in census.literals(module)] == [value]
    findings, looked = census.number_findings(module, lambda text, number: False)
    assert looked == 1 and [finding.check for finding in findings] == ["census-number"]


@pytest.mark.parametrize("flag, value, accepted", [
    ("[UNSPECIFIED] the factor is not stated Using: 1 / 2 Alternatives: 1", "0.5", True),
    (r"[UNSPECIFIED] the factor is not stated Using: $\frac12$ Alternatives: 1", "0.5", True),
    ("[UNSPECIFIED] the factor is not stated Using: 1\u20442 Alternatives: 1", "0.5", True),
    ("[UNSPECIFIED] the factor is not stated Using: half of it (1/2) Alternatives: 1", "0.5", True),
    ("[UNSPECIFIED] clipping is not stated Using: none Alternatives: a norm of 0.5", "0.5", False),
    ("[UNSPECIFIED] clipping is not stated Alternatives: a norm of 0.5 Using: 0.7", "0.7", True),
    ("[UNSPECIFIED] clipping is not stated using: none alternatives: a norm of 0.5", "0.5", False),
    ("[UNSPECIFIED] split 1/20/3 Using: it Alternatives: none", "0.05", False),
])  # fmt: skip
def test_a_flag_stands_for_what_was_chosen(repository, flag, value, accepted):
    module = repository(f"def scaled(x):\n    # {flag}\n    return x * {value}\n").modules[0]
    findings, looked = census.number_findings(module, lambda text, number: False)
    assert looked == 1 and [finding.check for finding in findings] == ([] if accepted else ["census-number"])


@pytest.mark.parametrize("harmless", [
    'text.split("1")', "len(x)", 'getattr(torch, "float32")', 'name = "layer_1"', "x.sum(range(n))", 'print("0.1 of all")', "ord(c)", "True",
])
def test_other_calls_and_texts_are_no_numbers(repository, harmless):
    assert list(census.literals(repository(f"def f(x, n, c, text):\n    {harmless}\n").modules[0])) == []


def test_a_text_kept_to_be_read_as_a_number_is_one(repository):
    assert [value for _, value in census.literals(repository('text = "0.1"\n').modules[0])] == [0.1]


@pytest.mark.parametrize("code, check", [
    ("def f(config):\n    config.training.rate = config.loss.z\n", "config-overridden"),
    ("def f(self):\n    self.config.rate *= self.x\n", "config-overridden"),
    ("def f(config):\n    object.__setattr__(config.training, 'rate', x)\n", "config-overridden"),
    ("import dataclasses\ndef f(config):\n    return dataclasses.replace(config.training, rate=x)\n", "config-overridden"),
    ("import yaml\ndef f(path):\n    values = yaml.safe_load(path)\n    values['training']['rate'] = x\n", "config-overridden"),
    ("import yaml\ndef f(path):\n    values = yaml.safe_load(path)\n    values['training'].update({'rate': x})\n", "config-overridden"),
    ("import os\ndef f():\n    return float(os.environ['RATE'])\n", "config-overridden"),
    ("import torch\ndef f(p, config):\n    return torch.optim.SGD(p, lr=config.weight_decay, weight_decay=config.rate)\n", "config-crossed"),
])  # fmt: skip
def test_a_config_value_is_what_runs(repository, code, check):
    assert [finding.check for finding in overrides.check(repository(code))] == [check]


@pytest.mark.parametrize("code", [
    "def f(group, config):\n    group['lr'] = config.training.rate\n    group['rate'] = config.training.rate\n",
    "class A:\n    def __init__(self, config):\n        self.rate = config.rate\n",
    "def f(config):\n    # [ASSUMPTION] uses a smaller rate whereas §4.2 says 0.1, for a smoke run\n    config.training.rate = config.tiny\n",
    "import os\ndef f():\n    os.environ['PYTHONHASHSEED'] = x\n",
    "def f(text, config):\n    return text.replace('rate', config.name)\n",
])  # fmt: skip
def test_ordinary_code_overrides_nothing(repository, code):
    assert overrides.check(repository(code)) == []


@pytest.mark.parametrize("built, quote, wrong", [
    ("Adam", "We use AdamW [7]", True), ("SGD", "We use Adam", True), ("AdamW", "We use AdamW", False),
    ("AdamW", "Adam with decoupled weight decay", False), ("SGD", "stochastic gradient descent with momentum", False),
])  # fmt: skip
def test_the_optimiser_is_the_one_decided(repository, built, quote, wrong):
    ledger = ledgers.Ledger("ledger.yaml", items=[ledgers.Item(1, id="optimiser", item="optimiser", status="SPECIFIED", quote=quote)])
    found = overrides.check(repository(f"import torch\ndef f(p, c):\n    return torch.optim.{built}(p, lr=c.rate)\n"), ledger)
    assert [finding.check for finding in found] == ["choice-differs"] * wrong


@pytest.mark.parametrize("code, silent", [
    ("make = torch.optim.SGD", {"momentum", "lr"}),
    ("return {'sgd': torch.optim.SGD}['sgd'](p, lr=x)", {"momentum"}),
    ("return getattr(torch.optim, 'SGD')(p, lr=x)", {"momentum"}),
    ("return functools.partial(torch.optim.SGD, lr=x)", {"momentum"}),
    ("options = dict(lr=x)\n    return torch.optim.SGD(p, **options)", {"momentum"}),
    ("return torch.optim.SGD(p, **{'lr': x})", {"momentum"}),
    ("return torch.optim.SGD(*[p, x])", {"momentum"}),
])  # fmt: skip
def test_defaults_are_seen_behind_a_detour(repository, code, silent):
    findings, looked = defaults.check(repository(f"import functools\nimport torch\ndef f(p, x):\n    {code}\n"))
    told = {finding.message.split(" leaves ")[1].split(" to ")[0] for finding in findings}
    assert looked == 1 and "momentum" in told and told >= silent - {"lr"}


@pytest.mark.parametrize("code", [
    "return isinstance(x, nn.Linear)", "return isinstance(x, (nn.Linear, nn.Conv2d))", "y: nn.Linear = x", "y: nn.Linear | None = x",
    "return [m for m in x if type(m) is nn.Linear]", "return nn.Linear(x, x, **x.options)",
])  # fmt: skip
def test_a_class_that_is_only_asked_about_is_not_called(repository, code):
    findings, _ = defaults.check(repository(f"from torch import nn\ndef f(x: nn.Linear) -> nn.Linear:\n    {code}\n"))
    assert [finding for finding in findings if "leaves" in finding.message] == []


@pytest.mark.parametrize("expr, equals, bad", [
    ("steps * 2", 480, False), ("steps", "steps", True), ("0 * steps + 110", 110, True), ("steps * 1e308 * 10", 1, True),
    ("steps - steps + 5", 5, True), ("steps / (steps - steps)", 1, True), ("steps * 9**9**9", 1, True), ("min(steps, 240)", 240, False),
])  # fmt: skip
def test_a_relation_can_fail(expr, equals, bad):
    ledger = ledgers.Ledger("ledger.yaml", items=[ledgers.Item(1, id="steps", value=240)])
    ledger.relations = [ledgers.Entry(1, {"about": "a", "expr": expr, "equals": equals}, {})]
    assert bool(ledgers.check_relations(ledger)) == bad


@pytest.mark.parametrize("reason, said", [("...", False), ("ok", False), ("n/a", False), ("Eq. B.1 counts 4 d^2", True), ("表一列出了所有的设置", True)])
def test_a_reason_says_something(reason, said):
    item = ledgers.Item(1, id="a", group="method", item="a", status="NOT_APPLICABLE", why=reason, reviewed="held", why_reviewed=reason)
    found = {finding.check for finding in ledgers.check_rows(ledgers.Ledger("ledger.yaml", items=[item]))}
    assert found == (set() if said else {"ledger-why-missing", "ledger-review"})
