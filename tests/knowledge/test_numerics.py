"""knowledge/numerics.md against torch in float64 and closed forms."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from knowledge.blocks import checks, close, differs

FILE = "numerics"


@pytest.mark.parametrize("shift", [0.0, 1000.0, -1000.0])
@checks(FILE, "stable")
def test_logsumexp(ns, shift):
    x = torch.randn(4, 5, dtype=torch.float64) + shift
    close(ns["logsumexp"](x), torch.logsumexp(x, -1), 1e-9)
    rows = torch.tensor([[-math.inf, -math.inf], [0.0, -math.inf]])
    assert ns["logsumexp"](rows)[0] == -math.inf and torch.logsumexp(rows, -1)[0] == -math.inf
    close(ns["logsumexp"](rows)[1], 0.0, 0)
    textbook = rows[0].max() + (rows[0] - rows[0].max()).exp().sum().log()
    assert textbook.isnan()


@pytest.mark.parametrize("x", [-200.0, -20.0, 0.0, 3.0, 100.0])
@checks(FILE, "stable")
def test_log_sigmoid(ns, x):
    value = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    out = ns["log_sigmoid"](value)
    close(out, F.logsigmoid(value), 1e-10)
    close(torch.autograd.grad(out, value)[0], 1 / (1 + math.exp(x)) if x < 700 else 0.0, 1e-9)
    assert torch.isinf(torch.tensor(-200.0).sigmoid().log())


@pytest.mark.parametrize("y", [1e-4, 0.5, 3.0, 50.0])
@checks(FILE, "stable")
def test_softplus_inverse_and_unit(ns, y):
    close(F.softplus(ns["softplus_inverse"](torch.tensor(y, dtype=torch.float64))), y, 1e-9)
    v = torch.randn(3, 4)
    close(ns["unit"](v), F.normalize(v, dim=-1), 1e-6)
    tiny = torch.tensor([[3e-13, 4e-13]], dtype=torch.float64)
    close(ns["unit"](tiny), F.normalize(tiny, dim=-1), 1e-9)
    differs(tiny / (tiny.norm() + 1e-8), ns["unit"](tiny), 0.1)
    assert (torch.zeros(3).half() / (torch.zeros(3).half().norm() + 1e-8)).isnan().all()


@checks(FILE, "distances", "distances_by_expansion")
def test_distances(ns):
    torch.manual_seed(0)
    a = torch.randn(20, 512) + 100
    b = a + 1e-3 * torch.randn(20, 512)
    exact = (a.double()[:, None] - b.double()[None]).pow(2).sum(-1).diagonal()
    close(ns["squared_distances"](a, b).diagonal(), exact, 1e-5)
    wrong = ns["squared_distances_by_expansion"](a, b).diagonal().double()
    assert float(((wrong - exact) / exact).abs().max()) > 1
    close(ns["squared_distances"](a, b), torch.cdist(a.double(), b.double()).pow(2), 1e-3)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@checks(FILE, "running")
def test_welford(ns, offset):
    values = (np.random.default_rng(0).normal(size=2000) + offset).tolist()
    mean, variance = ns["welford"](values)
    close(mean - offset, np.mean(np.array(values) - offset), 1e-6)
    close(variance, np.var(np.array(values) - offset), 1e-6)
    if offset == 1e8:
        naive = np.mean(np.array(values) ** 2) - np.mean(values) ** 2
        differs(naive, variance, 0.05)


def test_table_of_types():
    close([torch.finfo(torch.float16).max, torch.finfo(torch.float16).eps, torch.finfo(torch.bfloat16).eps], [65504.0, 2**-10, 2**-7], 0)
    assert torch.tensor(1e-8).half() == 0
    close(torch.tensor(2048.0).half() + 1, 2048.0, 0)
    close(torch.tensor(256.0).bfloat16() + 1, 256.0, 0)
    close(torch.tensor(16_777_216.0) + 1, 16_777_216.0, 0)
    w = torch.ones(1, dtype=torch.bfloat16)
    for _ in range(100):
        w.sub_(1e-3)
    close(w, [1.0], 0)
    total = torch.zeros((), dtype=torch.float16)
    for _ in range(5000):
        total = total + torch.tensor(0.1).half()
    close(total, 256.0, 0)
    assert (torch.tensor(300.0).half() ** 2).isinf()


@pytest.mark.parametrize("x", [-3.0, 0.5, 30.0])
def test_tanh_log_determinant(x):
    value = torch.tensor(x, dtype=torch.float64)
    form = 2 * (math.log(2) - value - F.softplus(-2 * value))
    if abs(x) < 10:
        close(form, torch.log(1 - torch.tanh(value) ** 2), 1e-9)
    else:
        assert torch.log(1 - torch.tanh(value.float()) ** 2).isinf() and form.isfinite()


def test_two_masks_added():
    low = torch.finfo(torch.float32).min
    assert torch.full((1, 3), low).add(low).isinf().all()
    close(torch.full((1, 3), low).softmax(-1), np.full((1, 3), 1 / 3), 1e-6)
    close(F.binary_cross_entropy(torch.tensor(1.0), torch.tensor(0.0)), 100.0, 0)
    close(F.binary_cross_entropy_with_logits(torch.tensor(200.0), torch.tensor(0.0)), 200.0, 0)
