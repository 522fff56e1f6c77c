"""knowledge/loss_functions.md against torch, optax, scipy and double loops."""

import math

import numpy as np
import optax
import pytest
import scipy.stats
import torch
import torch.nn.functional as F
from knowledge.blocks import checks, close, differs
from torch import nn

FILE = "loss_functions"
DOUBLE = torch.float64


def randn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE)


def classes(n, c, seed=0):
    return torch.randint(0, c, (n,), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("c", [2, 10, 100])
@checks(FILE, "smoothed")
def test_smoothing(ns, eps, c):
    x, y = 3 * randn(32, c), classes(32, c)
    close(ns["smoothed_cross_entropy"](x, y, eps), F.cross_entropy(x, y, label_smoothing=eps), 1e-10)
    one_hot = np.eye(c)[y.numpy()]
    smooth = np.asarray(optax.smooth_labels(one_hot.astype(np.float32), eps))
    close(ns["smoothed_cross_entropy"](x, y, eps), -(smooth * x.log_softmax(-1).numpy()).sum(-1).mean(), 1e-5)
    targets = one_hot * (1 - eps) + (1 - one_hot) * eps / (c - 1)
    close(ns["smoothed_cross_entropy"](x, y, eps, others_only=True), -(targets * x.log_softmax(-1).numpy()).sum(-1).mean(), 1e-10)
    close(ns["smoothed_cross_entropy"](x, y, eps, others_only=True), F.cross_entropy(x, y, label_smoothing=eps * c / (c - 1)), 1e-9)
    y[:7] = -100
    close(ns["smoothed_cross_entropy"](x, y, eps), F.cross_entropy(x, y, label_smoothing=eps), 1e-10)


@checks(FILE, "smoothed")
def test_floor_of_smoothing_and_double_softmax(ns):
    p = torch.full((1, 10), 0.01, dtype=DOUBLE)
    p[0, 3] = 0.91
    close(ns["smoothed_cross_entropy"](p.log(), torch.tensor([3]), 0.1), -(p * p.log()).sum(), 1e-10)
    close(-(p * p.log()).sum(), 0.5003, 1e-3)
    close(F.cross_entropy(torch.eye(10, dtype=DOUBLE), torch.arange(10)), math.log(1 + 9 / math.e), 1e-9)
    close(math.log(1 + 9 / math.e), 1.461, 1e-3)


@pytest.mark.parametrize("b, length, v", [(2, 5, 7), (3, 6, 6), (1, 2, 11)])
@checks(FILE, "next_token")
def test_next_token(ns, b, length, v):
    logits, ids = randn(b, length, v), classes(b * length, v).view(b, length)
    counted = torch.rand(b, length, generator=torch.Generator().manual_seed(5)) > 0.3
    counted[0, 1] = True
    total, n = 0.0, 0
    for i in range(b):
        for t in range(1, length):
            if counted[i, t]:
                total -= float(logits[i, t - 1].log_softmax(-1)[ids[i, t]])
                n += 1
    close(ns["next_token_loss"](logits, ids, counted), total / n, 1e-9)
    close(ns["next_token_loss"](torch.zeros(b, length, v), ids, counted), math.log(v), 1e-6)


def loop_nt_xent(a, b, tau):
    z = np.concatenate([a, b])
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    n, total = len(a), 0.0
    for i in range(2 * n):
        negatives = [z[i] @ z[k] / tau for k in range(2 * n) if k != i]
        total += -(z[i] @ z[(i + n) % (2 * n)] / tau) + np.log(np.exp(negatives).sum())
    return total / (2 * n)


@pytest.mark.parametrize("n, tau", [(2, 0.5), (8, 0.5), (8, 0.1), (1, 1.0)])
@checks(FILE, "nt_xent")
def test_nt_xent(ns, n, tau):
    a, b = randn(n, 16), randn(n, 16, seed=1)
    close(ns["nt_xent"](a, b, tau), loop_nt_xent(a.numpy(), b.numpy(), tau), 1e-9)
    close(ns["nt_xent"](3 * a, b, tau), ns["nt_xent"](a, b, tau), 1e-9)


@checks(FILE, "nt_xent")
def test_contrastive_starts_and_does_not_decompose(ns):
    a, b = randn(256, 512), randn(256, 512, seed=1)
    close(ns["nt_xent"](a, b, 0.5), math.log(511), 0.02)
    close(ns["clip_loss"](a, b, torch.tensor(0.0)), math.log(256), 0.02)
    parts = torch.stack([ns["nt_xent"](x, y, 0.5) for x, y in zip(a[:8].chunk(2), b[:8].chunk(2), strict=True)]).mean()
    differs(parts, ns["nt_xent"](a[:8], b[:8], 0.5), 0.3)


@checks(FILE, "nt_xent")
def test_clip_loss(ns):
    a, b = F.normalize(randn(5, 8), dim=-1), F.normalize(randn(5, 8, seed=1), dim=-1)
    s = (a @ b.T / 0.07).numpy()
    rows = np.mean([-s[i, i] + np.log(np.exp(s[i]).sum()) for i in range(5)])
    columns = np.mean([-s[i, i] + np.log(np.exp(s[:, i]).sum()) for i in range(5)])
    close(ns["clip_loss"](a, 2 * b, torch.tensor(math.log(1 / 0.07), dtype=DOUBLE)), (rows + columns) / 2, 1e-9)
    close(ns["clip_loss"](a, b, torch.tensor(50.0, dtype=DOUBLE)), ns["clip_loss"](a, b, torch.tensor(math.log(100), dtype=DOUBLE)), 1e-9)


@pytest.mark.parametrize("margin", [0.2, 1.0])
@checks(FILE, "triplet")
def test_triplet(ns, margin):
    a, p, n = randn(32, 8), randn(32, 8, seed=1), randn(32, 8, seed=2)
    close(ns["triplet"](a, p, n, margin, squared=False), nn.TripletMarginLoss(margin)(a, p, n), 1e-5)
    unit = [x / x.norm(dim=-1, keepdim=True) for x in (a, p, n)]
    by_hand = [max(0.0, float((unit[0][i] - unit[1][i]).pow(2).sum() - (unit[0][i] - unit[2][i]).pow(2).sum()) + margin) for i in range(32)]
    close(ns["triplet"](a, p, n, margin, squared=True), np.mean(by_hand), 1e-9)


@checks(FILE, "divergences")
def test_kl_normal(ns):
    mu, log_var = randn(6, 3), randn(6, 3, seed=1)
    q, p = torch.distributions.Normal(mu, (log_var / 2).exp()), torch.distributions.Normal(torch.zeros_like(mu), torch.ones_like(mu))
    close(ns["kl_normal"](mu, log_var), torch.distributions.kl_divergence(q, p).sum(-1), 1e-10)
    close(ns["kl_normal"](torch.zeros(1, 4), torch.zeros(1, 4)), [0.0], 0)
    sample = torch.distributions.Normal(0.1, 1.0).sample((4000,))
    one = torch.distributions.Normal(0.1, 1.0).log_prob(sample) - torch.distributions.Normal(0.0, 1.0).log_prob(sample)
    assert 0.4 < float((one < 0).float().mean()) < 0.6


@checks(FILE, "divergences")
def test_kl_categorical(ns):
    p, q = randn(6, 5), randn(6, 5, seed=1)
    reference = [scipy.stats.entropy(a, b) for a, b in zip(p.softmax(-1).numpy(), q.softmax(-1).numpy(), strict=True)]
    close(ns["kl_categorical"](p, q), reference, 1e-10)
    close(ns["kl_categorical"](p, q).mean(), F.kl_div(q.log_softmax(-1), p.softmax(-1), reduction="batchmean"), 1e-10)
    close(F.kl_div(q.log_softmax(-1), p.softmax(-1), reduction="mean") * 5, np.mean(reference), 1e-10)
    longer, other = randn(2, 7, 5), randn(2, 7, 5, seed=3)
    close(F.kl_div(other.log_softmax(-1), longer.softmax(-1), reduction="batchmean") / 7, ns["kl_categorical"](longer, other).mean(), 1e-10)


@pytest.mark.parametrize("variance", [1.0, 0.5, 2.0])
@checks(FILE, "divergences")
def test_negative_elbo(ns, variance):
    x, x_hat, mu, log_var = randn(5, 7), randn(5, 7, seed=1), randn(5, 3, seed=2), randn(5, 3, seed=3)
    nll = -torch.distributions.Normal(x_hat, math.sqrt(variance)).log_prob(x).sum(-1)
    close(ns["negative_elbo"](x, x_hat, mu, log_var, variance), (nll + ns["kl_normal"](mu, log_var)).mean(), 1e-9)
    if variance == 0.5:
        constant = 3.5 * math.log(math.pi)
        squares = (x - x_hat).pow(2).sum(-1)
        close(ns["negative_elbo"](x, x_hat, mu, log_var, 0.5) - constant, (squares + ns["kl_normal"](mu, log_var)).mean(), 1e-9)


@pytest.mark.parametrize("temperature", [1.0, 2.0, 4.0])
@checks(FILE, "divergences")
def test_distillation(ns, temperature):
    student, teacher = randn(6, 5).requires_grad_(), randn(6, 5, seed=1).requires_grad_()
    loss = ns["distillation"](student, teacher, temperature)
    reference = F.kl_div((student / temperature).log_softmax(-1), (teacher / temperature).softmax(-1), reduction="batchmean")
    close(loss, reference * temperature**2, 1e-10)
    loss.backward()
    assert teacher.grad is None


@checks(FILE, "divergences")
def test_distillation_matches_logits_when_hot(ns):
    student, teacher = randn(4, 5), randn(4, 5, seed=1)
    student, teacher = student - student.mean(-1, keepdim=True), teacher - teacher.mean(-1, keepdim=True)
    close(ns["distillation"](student, teacher, 1e4), (student - teacher).pow(2).sum(-1).mean() / (2 * 5), 1e-3)


@pytest.mark.parametrize("gamma", [0.0, 2.0])
@checks(FILE, "focal")
def test_focal(ns, gamma):
    logits, targets = randn(40), (randn(40, seed=1) > 0).long()
    by_hand = []
    for z, t in zip(logits.tolist(), targets.tolist(), strict=True):
        p = 1 / (1 + math.exp(-z))
        by_hand.append(-0.25 * (1 - p) ** gamma * math.log(p) if t else -0.75 * p**gamma * math.log(1 - p))
    close(ns["focal"](logits, targets, 0.25, gamma), by_hand, 1e-9)
    close(ns["focal"](logits, targets, 0.5, 0.0) * 2, F.binary_cross_entropy_with_logits(logits, targets.double(), reduction="none"), 1e-9)
    theirs = optax.sigmoid_focal_loss(logits.numpy().astype(np.float32), targets.numpy().astype(np.float32), alpha=0.25, gamma=gamma)
    close(ns["focal"](logits, targets, 0.25, gamma), np.asarray(theirs), 1e-5)


@pytest.mark.parametrize("delta", [0.5, 1.0, 2.0])
@checks(FILE, "focal")
def test_huber(ns, delta):
    e = 3 * randn(50)
    close(ns["huber"](e, delta), F.huber_loss(e, torch.zeros_like(e), delta=delta, reduction="none"), 1e-10)
    close(ns["huber"](e, delta) / delta, F.smooth_l1_loss(e, torch.zeros_like(e), beta=delta, reduction="none"), 1e-10)
    close(ns["huber"](e, delta), np.asarray(optax.huber_loss(e.numpy().astype(np.float32), delta=delta)), 1e-5)


@checks(FILE, "focal")
def test_dice(ns):
    mask = (randn(3, 4, 4) > 0).double()
    close(ns["soft_dice"](mask, mask, 0.0), np.zeros(3), 1e-12)
    close(ns["soft_dice"](1 - mask, mask, 0.0), np.ones(3), 1e-12)
    p = randn(3, 4, 4).sigmoid()
    by_hand = [1 - 2 * float((p[i] * mask[i]).sum()) / float(p[i].sum() + mask[i].sum()) for i in range(3)]
    close(ns["soft_dice"](p, mask, 0.0), by_hand, 1e-9)


def test_the_mistakes_of_the_table():
    x = torch.arange(4.0)
    differs(((x[:, None] - x) ** 2).mean(), 0.0, 2.4)
    p, q = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    close((p.norm() - q.norm()) ** 2, 0.0, 0)
    close((p - q).pow(2).sum(), 2.0, 0)
    w = torch.tensor([1e-9, 0.5], requires_grad=True)
    w.clamp(min=1e-8).log().sum().backward()
    close(w.grad, [0.0, 2.0], 1e-6)
    assert torch.isinf(torch.zeros(1).half().clamp(min=1e-8).log()).all()
