"""knowledge/mixture_of_experts.md against loops over tokens and values at balance."""

import math

import numpy as np
import pytest
import torch
from knowledge.blocks import checks, close, differs
from torch import nn

FILE = "mixture_of_experts"


def logits(T=64, E=8, seed=0):
    return torch.randn(T, E, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("k", [1, 2, 4])
@checks(FILE, "routing")
def test_routing(ns, k):
    z = logits()
    weights, experts = ns["route"](z, k, True)
    top, at = z.topk(k, -1)
    close(weights, top.softmax(-1), 1e-6)
    close(experts, at, 0)
    raw, _ = ns["route"](z, k, False)
    close(raw, z.softmax(-1).gather(-1, at), 1e-6)
    if k < 8:
        differs(raw.sum(-1), np.ones(64), 0.05)


@pytest.mark.parametrize("k", [1, 3])
@checks(FILE, "routing")
def test_mixing(ns, k):
    experts = [nn.Linear(5, 5) for _ in range(8)]
    x, (weights, chosen) = torch.randn(64, 5), ns["route"](logits(), k, True)
    slow = torch.stack([sum(weights[t, j] * experts[chosen[t, j]](x[t]) for j in range(k)) for t in range(64)])
    close(ns["mix"](x, weights, chosen, experts), slow, 1e-5)


@checks(FILE, "routing")
def test_renormalised_top_one_teaches_nothing(ns):
    z = logits().requires_grad_()
    gradient, = torch.autograd.grad(ns["route"](z, 1, True)[0].sum(), z)
    close(gradient, np.zeros((64, 8)), 1e-6)
    gradient, = torch.autograd.grad(ns["route"](z, 1, False)[0].sum(), z)
    assert float(gradient.abs().max()) > 0.05


@checks(FILE, "balance")
def test_balance(ns):
    even = torch.arange(64) % 8
    close(ns["load_balance_loss"](torch.zeros(64, 8), even), 1.0, 1e-6)
    close(ns["load_balance_loss"](torch.zeros(64, 8), torch.stack((even, (even + 1) % 8), -1)), 1.0, 1e-6)
    one_sided = torch.zeros(64, 8)
    one_sided[:, 0] = 50.0
    close(ns["load_balance_loss"](one_sided, torch.zeros(64, dtype=torch.long)), 8.0, 1e-5)
    z = logits()
    experts = z.argmax(-1)
    f = np.bincount(experts, minlength=8) / 64
    close(ns["load_balance_loss"](z, experts), 8 * (f * z.softmax(-1).mean(0).numpy()).sum(), 1e-5)
    close(ns["router_z_loss"](torch.zeros(4, 8)), math.log(8) ** 2, 1e-6)
    close(ns["router_z_loss"](z), np.mean(np.log(np.exp(z.numpy()).sum(-1)) ** 2), 1e-5)


@pytest.mark.parametrize("capacity", [0, 1, 3, 64])
@checks(FILE, "capacity")
def test_capacity(ns, capacity):
    experts = logits().argmax(-1)
    seen, expected = dict.fromkeys(range(8), 0), []
    for e in experts.tolist():
        seen[e] += 1
        expected.append(seen[e] <= capacity)
    close(ns["within_capacity"](experts, 8, capacity), expected, 0)
