"""knowledge/reinforcement_learning.md against direct sums, closed forms and torch.distributions."""

import numpy as np
import pytest
import torch
from knowledge.blocks import checks, close, differs

FILE = "reinforcement_learning"
DOUBLE = torch.float64
NO = torch.zeros(8, dtype=torch.bool)


def trajectory(T=8):
    g = torch.Generator().manual_seed(0)
    return torch.randn(T, generator=g, dtype=DOUBLE), torch.randn(T + 1, generator=g, dtype=DOUBLE)


@pytest.mark.parametrize("lam", [0.0, 0.5, 0.95, 1.0])
@checks(FILE, "gae")
def test_gae_is_the_sum(ns, lam):
    r, v = trajectory()
    out = ns["gae"](r, v[:-1], v[1:], NO, NO, 0.99, lam)
    direct = [sum((0.99 * lam) ** k * (r[t + k] + 0.99 * v[t + k + 1] - v[t + k]) for k in range(8 - t)) for t in range(8)]
    close(out, torch.stack([torch.as_tensor(x) for x in direct]), 1e-9)
    if lam == 1.0:
        close(out, ns["discounted"](r, 0.99, v[-1]) - v[:-1], 1e-9)
    if lam == 0.0:
        close(out, r + 0.99 * v[1:] - v[:-1], 1e-9)


@checks(FILE, "gae")
def test_ends_of_episodes(ns):
    r, v = trajectory()
    end = NO.clone()
    end[3] = True
    later = r.clone()
    later[4:] += 100
    for terminated, cut in ((end, NO), (NO, end)):
        before = ns["gae"](r, v[:-1], v[1:], terminated, cut, 0.99, 0.95)[:4]
        close(ns["gae"](later, v[:-1], v[1:], terminated, cut, 0.99, 0.95)[:4], before, 1e-12)
    differs(ns["gae"](later, v[:-1], v[1:], NO, NO, 0.99, 0.95)[:4], ns["gae"](r, v[:-1], v[1:], NO, NO, 0.99, 0.95)[:4], 1.0)
    # The endless chain with reward 1, cut after five steps: a perfect critic has nothing to correct.
    ones, perfect = torch.ones(5, dtype=DOUBLE), torch.full((5,), 100.0, dtype=DOUBLE)
    limit, none = torch.tensor([0, 0, 0, 0, 1]).bool(), torch.zeros(5, dtype=torch.bool)
    close(ns["gae"](ones, perfect, perfect, none, limit, 0.99, 0.95), np.zeros(5), 1e-9)
    close(ns["gae"](ones, perfect, perfect, limit, none, 0.99, 0.95)[-1], 1 - 100.0, 1e-9)


@pytest.mark.parametrize("ratio, advantage, gradient", [
    (0.5, 1.0, 1.0), (0.9, -1.0, -1.0), (1.1, 1.0, 1.0), (2.0, -1.0, -1.0), (2.0, 1.0, 0.0), (0.5, -1.0, 0.0)])
@checks(FILE, "ppo")
def test_ppo_gradient(ns, ratio, advantage, gradient):
    log_p = torch.tensor([ratio], dtype=DOUBLE).log().requires_grad_()
    loss = ns["ppo_loss"](log_p, torch.zeros(1, dtype=DOUBLE), torch.tensor([advantage], dtype=DOUBLE), 0.2)
    close(loss, -min(ratio * advantage, min(max(ratio, 0.8), 1.2) * advantage), 1e-9)
    close(torch.autograd.grad(loss, log_p)[0], [-gradient * ratio], 1e-9)


@checks(FILE, "ppo")
def test_kl_estimate(ns):
    torch.manual_seed(0)
    old, new = torch.distributions.Normal(0.0, 1.0), torch.distributions.Normal(0.1, 1.0)
    x = old.sample((200_000,))
    close(ns["approximate_kl"](new.log_prob(x), old.log_prob(x)), torch.distributions.kl_divergence(old, new), 1e-3)
    close(ns["approximate_kl"](old.log_prob(x), old.log_prob(x)), 0.0, 0)


@pytest.mark.parametrize("double", [False, True])
@checks(FILE, "td")
def test_q_target(ns, double):
    online = torch.tensor([[1.0, 2.0], [5.0, 0.0]], requires_grad=True)
    target = torch.tensor([[10.0, 20.0], [3.0, 4.0]], requires_grad=True)
    out = ns["q_target"](torch.tensor([1.0, 1.0]), online, target, torch.tensor([False, False]), 0.5, double)
    close(out, [11.0, 2.5 if double else 3.0], 1e-6)
    assert not out.requires_grad
    close(ns["q_target"](torch.tensor([1.0, 1.0]), online, target, torch.tensor([True, False]), 0.5, double)[0], 1.0, 0)
    close(ns["soft_update"](torch.zeros(2), torch.ones(2), 0.005), [0.005, 0.005], 1e-7)


@checks(FILE, "squashed")
def test_squashed_log_prob(ns):
    torch.manual_seed(0)
    mean, log_std = torch.randn(50, 3, dtype=DOUBLE), torch.full((50, 3), -0.5, dtype=DOUBLE)
    u = mean + log_std.exp() * torch.randn(50, 3, dtype=DOUBLE)
    transformed = torch.distributions.TransformedDistribution(
        torch.distributions.Normal(mean, log_std.exp()), torch.distributions.transforms.TanhTransform(cache_size=1))
    close(ns["squashed_log_prob"](u, mean, log_std), transformed.log_prob(torch.tanh(u)).sum(-1), 1e-6)
    assert ns["squashed_log_prob"](torch.full((1, 1), 20.0), torch.zeros(1, 1), torch.zeros(1, 1)).isfinite().all()
    # It is a density: it integrates to 1 over (−1, 1).
    a = torch.linspace(-1 + 1e-6, 1 - 1e-6, 400_001, dtype=DOUBLE)
    p = ns["squashed_log_prob"](torch.atanh(a)[:, None], torch.full((1, 1), 0.3, dtype=DOUBLE), torch.zeros(1, 1, dtype=DOUBLE)).exp()
    close(torch.trapezoid(p, a), 1.0, 1e-3)


@pytest.mark.parametrize("gamma", [0.0, 0.9, 1.0])
@checks(FILE, "returns")
def test_returns(ns, gamma):
    r, v = trajectory(5)
    direct = [sum(gamma**k * float(r[t + k]) for k in range(5 - t)) for t in range(5)]
    close(ns["discounted"](r, gamma), direct, 1e-9)
    close(ns["n_step"](r[:3], v[3], gamma), float(r[0]) + gamma * float(r[1]) + gamma**2 * float(r[2]) + gamma**3 * float(v[3]), 1e-9)
