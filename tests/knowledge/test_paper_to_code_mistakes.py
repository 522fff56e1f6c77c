"""knowledge/paper_to_code_mistakes.md: right blocks right, counter-examples wrong in the way the text says."""

import math

import pytest
import torch
import torch.nn.functional as F
from knowledge.blocks import checks, close, differs
from torch import nn

FILE = "paper_to_code_mistakes"


@pytest.mark.parametrize("B, n, h, d", [(2, 5, 3, 4), (1, 7, 2, 3)])
@checks(FILE, "head_split", "head_split_by_view")
def test_head_split(ns, B, n, h, d):
    x = torch.arange(B * n * h * d).view(B, n, h * d)
    for head in range(h):
        close(ns["split_heads"](x, h)[:, head], x[:, :, head * d:(head + 1) * d], 0)
    close(ns["split_heads"](x, h).transpose(1, 2).reshape(B, n, h * d), x, 0)
    wrong = ns["split_heads_by_view"](x, h)
    assert wrong.shape == ns["split_heads"](x, h).shape
    differs(wrong, ns["split_heads"](x, h), 1)
    moved = x.clone()
    moved[:, 0] += 1000
    # Head 0 of the wrong one reads position 0 in several rows, later positions' rows of head 0 not at all.
    assert (ns["split_heads"](moved, h) != ns["split_heads"](x, h)).any(-1)[:, :, 1:].sum() == 0
    assert (ns["split_heads_by_view"](moved, h) != wrong).any(-1)[:, :, 1:].sum() > 0


@checks(FILE, "safe_sqrt", "unsafe_sqrt")
def test_square_roots(ns):
    x = torch.tensor([0.0, -1.0, 4.0], requires_grad=True)
    close(ns["safe_sqrt"](x), [0.0, 0.0, 2.0], 0)
    close(torch.autograd.grad(ns["safe_sqrt"](x).sum(), x)[0], [0.0, 0.0, 0.25], 0)
    close(ns["unsafe_sqrt"](x), [0.0, 0.0, 2.0], 0)
    assert torch.isnan(torch.autograd.grad(ns["unsafe_sqrt"](x).sum(), x)[0]).any()


@pytest.mark.parametrize("fan_out, fan_in", [(400, 300), (100, 1000)])
@checks(FILE, "fan_in")
def test_initialisation(ns, fan_out, fan_in):
    torch.manual_seed(0)
    mine, theirs = ns["linear_like_torch"](fan_out, fan_in), nn.Linear(fan_in, fan_out).weight
    close(mine.var() * 3 * fan_in, 1.0, 0.05)
    close(theirs.var() * 3 * fan_in, 1.0, 0.05)
    close(mine.abs().max() / theirs.abs().max(), 1.0, 1e-2)
    he, uniform, normal = torch.empty(fan_out, fan_in), torch.empty(fan_out, fan_in), torch.empty(fan_out, fan_in)
    nn.init.kaiming_normal_(he)
    close(he.var() / theirs.var(), 6.0, 0.05)
    nn.init.xavier_uniform_(uniform)
    nn.init.xavier_normal_(normal)
    close(uniform.var() * (fan_in + fan_out) / 2, 1.0, 0.05)
    close(normal.var() * (fan_in + fan_out) / 2, 1.0, 0.05)


@pytest.mark.parametrize("initialise, low, high", [
    (lambda w: nn.init.kaiming_normal_(w), 0.05, 5), (lambda w: nn.init.xavier_normal_(w), 2.0**-56, 2.0**-44),
    (lambda w: nn.init.kaiming_uniform_(w, a=5**0.5), 6.0**-54, 6.0**-46),
])
def test_fifty_layers(initialise, low, high):
    torch.manual_seed(0)
    h = torch.randn(64, 512, dtype=torch.float64)
    for _ in range(50):
        w = torch.empty(512, 512, dtype=torch.float64)
        initialise(w)
        h = torch.relu(h @ w.T)
    assert low < float(h.pow(2).mean()) < high


def test_notation_table():
    torch.manual_seed(0)
    x = torch.randn(8, 3, dtype=torch.float64) * 2 + 1
    norm = nn.BatchNorm1d(3, momentum=0.1).double()
    norm(x)
    close(norm.running_mean, 0.1 * x.mean(0), 1e-10)
    close(norm.running_var, 0.9 + 0.1 * x.var(0, unbiased=True), 1e-10)
    dropped = nn.Dropout(0.9)(torch.ones(100_000))
    close((dropped != 0).float().mean(), 0.1, 5e-3)
    close(dropped.max(), 10.0, 1e-4)
    close(F.cross_entropy(torch.zeros(4, 7), torch.arange(4)), math.log(7), 1e-6)
    x = torch.zeros(1, 1, 8, 8)
    with pytest.raises(ValueError):
        nn.Conv2d(1, 1, 3, stride=2, padding="same")
    assert nn.Conv2d(1, 1, 4, padding="same")(x).shape[-1] == 8 and nn.Conv2d(1, 1, 4, padding=2)(x).shape[-1] == 9


def test_the_key_bias_has_no_gradient_and_moves_nothing():
    q, k, v = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    close((q @ (k + 7).T / 2).softmax(-1) @ v, (q @ k.T / 2).softmax(-1) @ v, 1e-5)
