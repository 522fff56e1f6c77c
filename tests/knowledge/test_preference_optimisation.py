"""knowledge/preference_optimisation.md against loops over tokens and closed forms."""

import math

import numpy as np
import pytest
import torch
from knowledge.blocks import checks, close, differs

FILE = "preference_optimisation"
DOUBLE = torch.float64


def batch():
    g = torch.Generator().manual_seed(0)
    logits, ids = torch.randn(4, 9, 11, generator=g, dtype=DOUBLE), torch.randint(0, 11, (4, 9), generator=g)
    starts, ends = torch.tensor([3, 2, 4, 3]), torch.tensor([9, 7, 8, 6])
    at = torch.arange(9)
    return logits, ids, (at >= starts[:, None]) & (at < ends[:, None]), starts, ends


@checks(FILE, "sequence")
def test_sequence_log_prob(ns):
    logits, ids, response, starts, ends = batch()
    loop = [sum(float(logits[b, t - 1].log_softmax(-1)[ids[b, t]]) for t in range(starts[b], ends[b])) for b in range(4)]
    close(ns["sequence_log_prob"](logits, ids, response), loop, 1e-9)
    moved = logits.clone()
    moved[:, 0] += torch.randn(4, 11, dtype=DOUBLE)
    close(ns["sequence_log_prob"](moved, ids, response), loop, 1e-9)
    unshifted = (logits.log_softmax(-1).gather(-1, ids[..., None])[..., 0] * response).sum(-1)
    differs(unshifted, np.array(loop), 0.5)


@pytest.mark.parametrize("beta", [0.01, 0.1, 1.0])
@checks(FILE, "dpo")
def test_dpo(ns, beta):
    w, l, rw, rl = (torch.randn(6, dtype=DOUBLE, generator=torch.Generator().manual_seed(i)).requires_grad_() for i in range(4))
    close(ns["dpo_loss"](w, l, w.detach(), l.detach(), beta), math.log(2), 1e-9)
    margins = (beta * ((w - rw) - (l - rl))).detach()
    loss = ns["dpo_loss"](w, l, rw, rl, beta)
    close(loss, np.mean([-math.log(1 / (1 + math.exp(-float(m)))) for m in margins]), 1e-9)
    close(torch.autograd.grad(loss, w)[0], -beta * torch.sigmoid(-margins) / 6, 1e-9)
    far = torch.tensor([-1100.0 / beta * 0.1], dtype=DOUBLE)
    assert ns["dpo_loss"](far, 0 * far, 0 * far, 0 * far, beta).isfinite()


@checks(FILE, "dpo")
def test_ipo_and_reward_model(ns):
    w, l, zero = torch.tensor([1.0, 2.0]), torch.tensor([0.5, 3.0]), torch.zeros(2)
    close(ns["ipo_loss"](w, l, zero, zero, 0.5), ((0.5 - 1) ** 2 + (-1 - 1) ** 2) / 2, 1e-6)
    close(ns["reward_model_loss"](w, w), math.log(2), 1e-6)
    close(ns["reward_model_loss"](w, l), np.mean([math.log(1 + math.exp(-0.5)), math.log(1 + math.exp(1.0))]), 1e-6)


@pytest.mark.parametrize("mask, expected", [([1, 1, 1, 0, 0], 2.0), ([0, 0, 1, 1, 1], 4.0), ([1, 1, 1, 1, 1], 4.0), ([0, 1, 0, 0, 0], 1.0)])
@checks(FILE, "last")
def test_last_token(ns, mask, expected):
    close(ns["at_last_token"](torch.arange(5.0)[None], torch.tensor([mask]).bool()), [expected], 0)


@checks(FILE, "group")
def test_group_advantages(ns):
    rewards = torch.tensor([[1.0, 0.0, 0.0, 1.0], [2.0, 2.0, 2.0, 2.0]])
    close(ns["group_advantages"](rewards, scale=False), [[0.5, -0.5, -0.5, 0.5], [0.0] * 4], 1e-6)
    close(ns["group_advantages"](rewards, scale=True), [[0.8658, -0.8658, -0.8658, 0.8658], [0.0] * 4], 1e-3)


@checks(FILE, "group")
def test_kl_penalty(ns):
    torch.manual_seed(0)
    policy, reference = torch.distributions.Normal(0.2, 1.0), torch.distributions.Normal(0.0, 1.0)
    x = policy.sample((300_000,))
    penalty = ns["kl_penalty"](policy.log_prob(x), reference.log_prob(x))
    assert penalty.min() >= -1e-6
    close(penalty.mean(), torch.distributions.kl_divergence(policy, reference), 1e-3)


def test_two_means_differ():
    parts = [np.random.default_rng(i).normal(size=n) + i for i, n in enumerate((3, 10, 50, 7))]
    differs(np.mean([p.mean() for p in parts]), np.concatenate(parts).mean(), 1e-2)
