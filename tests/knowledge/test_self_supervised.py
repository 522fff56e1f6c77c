"""knowledge/self_supervised.md against loops, identities and a training run that collapses when it should."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from knowledge.blocks import checks, close, differs
from torch import nn

FILE = "self_supervised"
DOUBLE = torch.float64


def units(n, d, seed=0):
    return F.normalize(torch.randn(n, d, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed)), dim=-1)


@pytest.mark.parametrize("n, k, tau", [(4, 32, 0.07), (2, 8, 0.2)])
@checks(FILE, "moco")
def test_moco(ns, n, k, tau):
    q, key, queue = units(n, 16), units(n, 16, 1).requires_grad_(), units(k, 16, 2)
    scores = (torch.cat(((q * key).sum(-1, keepdim=True), q @ queue.T), -1) / tau).detach().numpy()
    loop = np.mean([-row[0] + math.log(sum(math.exp(v) for v in row)) for row in scores])
    q = q.requires_grad_()
    loss = ns["moco_loss"](q, key, queue, tau)
    close(loss, loop, 1e-9)
    loss.backward()
    assert key.grad is None and q.grad is not None
    after = ns["enqueue"](queue, key)
    close(after[-n:], key, 0)
    close(after[:-n], queue[n:], 0)
    # Enqueued too early, even a perfect positive is beaten by its own copy: at least ln 2.
    assert float(ns["moco_loss"](key, key, queue, 0.07)) < 0.1
    assert float(ns["moco_loss"](key, key, after, 0.07)) >= math.log(2)


@checks(FILE, "distilled")
def test_byol_and_teacher(ns):
    p, z = torch.randn(8, 16, dtype=DOUBLE), torch.randn(8, 16, dtype=DOUBLE).requires_grad_()
    close(ns["byol_loss"](p, z), (F.normalize(p, dim=-1) - F.normalize(z, dim=-1)).pow(2).sum(-1).mean(), 1e-9)
    assert not ns["byol_loss"](p, z).requires_grad
    close(ns["teacher_update"](torch.zeros(3), torch.ones(3), 0.996), [0.004] * 3, 1e-6)


@checks(FILE, "distilled")
def test_dino(ns):
    s, t, centre = torch.randn(5, 7, dtype=DOUBLE), torch.randn(5, 7, dtype=DOUBLE), torch.randn(7, dtype=DOUBLE)
    p = np.exp((t - centre).numpy() / 0.04)
    p /= p.sum(-1, keepdims=True)
    close(ns["dino_loss"](s, t, centre, 0.1, 0.04), -(p * (s / 0.1).log_softmax(-1).numpy()).sum(-1).mean(), 1e-9)
    close(ns["dino_loss"](s, t + 5, centre + 5, 0.1, 0.04), ns["dino_loss"](s, t, centre, 0.1, 0.04), 1e-9)
    differs(ns["dino_loss"](s, t, 0 * centre, 0.1, 0.04), ns["dino_loss"](s, t, centre, 0.1, 0.04), 0.1)


@checks(FILE, "distilled")
def test_collapse_without_stop_gradient(ns):
    def spread(stop):
        torch.manual_seed(0)
        f, h = nn.Linear(8, 8).double(), nn.Linear(8, 8).double()
        optimiser = torch.optim.SGD([*f.parameters(), *h.parameters()], lr=0.5, momentum=0.9)
        x = torch.randn(256, 8, dtype=DOUBLE)
        for _ in range(500):
            a, b = f(x + 0.3 * torch.randn_like(x)), f(x + 0.3 * torch.randn_like(x))
            if stop:
                loss = ns["byol_loss"](h(a), b) + ns["byol_loss"](h(b), a)
            else:
                loss = 4 - 2 * F.cosine_similarity(h(a), b, dim=-1).mean() - 2 * F.cosine_similarity(h(b), a, dim=-1).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        return float(F.normalize(f(x), dim=-1).std(0).mean())

    healthy, collapsed = spread(True), spread(False)
    assert healthy > 5 * collapsed
    close(healthy, 1 / math.sqrt(8), 0.1)


@checks(FILE, "decorrelated")
def test_barlow(ns):
    a, b = torch.randn(64, 5, dtype=DOUBLE), torch.randn(64, 5, dtype=DOUBLE)
    c = np.corrcoef(a.T.numpy(), b.T.numpy())[:5, 5:]
    off = c - np.diag(np.diag(c))
    close(ns["barlow_loss"](a, b, 0.005), ((1 - np.diag(c)) ** 2).sum() + 0.005 * (off**2).sum(), 1e-9)
    q, _ = torch.linalg.qr(torch.randn(64, 5, dtype=DOUBLE) - 0)
    centred, _ = torch.linalg.qr(q - q.mean(0))
    close(ns["barlow_loss"](centred, centred, 1.0), 0.0, 1e-9)


@pytest.mark.parametrize("keep", [1, 3, 8])
@checks(FILE, "masked")
def test_masking(ns, keep):
    x, noise = torch.randn(2, 8, 3), torch.rand(2, 8, generator=torch.Generator().manual_seed(0))
    visible, mask, restore = ns["random_masking"](x, keep, noise)
    assert (mask.sum(-1) == 8 - keep).all()
    full = torch.cat((visible, torch.zeros(2, 8 - keep, 3)), 1).gather(1, restore[..., None].expand(-1, -1, 3))
    close(full, x * (1 - mask)[..., None], 0)
    kept = noise.sort(-1).values[:, keep - 1:keep]
    close(mask, (noise > kept).float(), 0)


@pytest.mark.parametrize("normalise", [False, True])
@checks(FILE, "masked")
def test_masked_loss(ns, normalise):
    p, y = torch.randn(2, 6, 12), torch.randn(2, 6, 12) * 3 + 1
    mask = torch.tensor([[1.0, 0, 0, 1, 1, 0], [0, 0, 1, 0, 1, 1]])
    centred, variance = (y - y.mean(-1, keepdim=True)).numpy(), y.numpy().var(-1, ddof=1, keepdims=True)
    target = torch.tensor(centred / np.sqrt(variance + 1e-6)) if normalise else y
    close(ns["masked_loss"](p, y, mask, normalise), F.mse_loss(p[mask > 0], target[mask > 0]), 1e-5)
    moved = y.clone()
    moved[mask == 0] += 100
    close(ns["masked_loss"](p, moved, mask, normalise), ns["masked_loss"](p, y, mask, normalise), 1e-6)
