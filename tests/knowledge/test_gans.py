"""knowledge/gans.md against closed forms and torch's spectral norm."""

import math

import numpy as np
import pytest
import torch
from knowledge.blocks import checks, close, differs
from torch import nn

FILE = "gans"
DOUBLE = torch.float64


@checks(FILE, "losses")
def test_losses_by_hand(ns):
    real, fake = torch.tensor([2.0, -0.5], dtype=DOUBLE), torch.tensor([-3.0, 0.7], dtype=DOUBLE)
    sigmoid = lambda x: 1 / (1 + math.exp(-x))  # noqa: E731
    close(ns["discriminator_loss"](real, fake, "bce"),
          np.mean([-math.log(sigmoid(v)) for v in (2.0, -0.5)]) + np.mean([-math.log(1 - sigmoid(v)) for v in (-3.0, 0.7)]), 1e-9)
    bce = nn.BCEWithLogitsLoss()
    close(ns["discriminator_loss"](real, fake, "bce"), bce(real, torch.ones_like(real)) + bce(fake, torch.zeros_like(fake)), 1e-9)
    close(ns["discriminator_loss"](real, fake, "hinge"), (0 + 1.5) / 2 + (0 + 1.7) / 2, 1e-9)
    close(ns["discriminator_loss"](real, fake, "wasserstein"), -1.15 - 0.75, 1e-9)
    close(ns["generator_loss"](fake, "bce"), bce(fake, torch.ones_like(fake)), 1e-9)
    close(ns["generator_loss"](fake, "hinge"), 1.15, 1e-9)
    close(ns["discriminator_loss"](0 * real, 0 * fake, "bce"), 2 * math.log(2), 1e-9)


@checks(FILE, "losses")
def test_saturation(ns):
    z = torch.tensor([-8.0], requires_grad=True)
    good, = torch.autograd.grad(ns["generator_loss"](z, "bce"), z)
    poor, = torch.autograd.grad(torch.log(1 - torch.sigmoid(z)).mean(), z)
    assert abs(float(good)) > 100 * abs(float(poor))
    close(good, [-1.0], 1e-3)


@pytest.mark.parametrize("shape", [(6,), (3, 4, 4)])
@checks(FILE, "penalties")
def test_penalties_on_a_linear_critic(ns, shape):
    size = math.prod(shape)
    critic = nn.Sequential(nn.Flatten(), nn.Linear(size, 1)).double()
    real, fake = torch.randn(5, *shape, dtype=DOUBLE), torch.randn(5, *shape, dtype=DOUBLE)
    norm = critic[1].weight.norm()
    penalty = ns["gradient_penalty"](critic, real, fake, torch.rand(5, dtype=DOUBLE))
    close(penalty, (norm - 1) ** 2, 1e-9)
    penalty.backward()
    close(critic[1].weight.grad, 2 * (norm - 1) * critic[1].weight / norm, 1e-9)
    close(ns["r1_penalty"](critic, real), norm**2, 1e-9)


@checks(FILE, "penalties")
def test_penalty_pitfalls(ns):
    conv = nn.Sequential(nn.Conv2d(3, 4, 3), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(144, 1)).double()
    images = torch.randn(5, 3, 8, 8, dtype=DOUBLE, requires_grad=True)
    gradient, = torch.autograd.grad(conv(images).sum(), images)
    per_pixel = (gradient.norm(dim=1) - 1).pow(2).mean()
    differs(per_pixel, ns["gradient_penalty"](conv, images, images, torch.ones(5, dtype=DOUBLE)), 1e-3)
    normed = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6), nn.Linear(6, 1)).double()
    jacobian = torch.autograd.functional.jacobian(lambda z: normed(z)[:, 0], torch.randn(8, 6, dtype=DOUBLE))
    assert jacobian[0, 1].abs().max() > 1e-6


@pytest.mark.parametrize("shape", [(30, 20), (8, 3, 3, 3)])
@checks(FILE, "spectral")
def test_spectral_norm(ns, shape):
    torch.manual_seed(0)
    weight = torch.randn(*shape, dtype=DOUBLE)
    sigma, u = ns["spectral_norm_of"](weight, torch.randn(shape[0], dtype=DOUBLE), 300)
    close(sigma, torch.linalg.svdvals(weight.flatten(1))[0], 1e-6)
    close(u.norm(), 1.0, 1e-9)
    layer = nn.utils.parametrizations.spectral_norm(nn.Linear(20, 30).double())
    for _ in range(300):
        layer(torch.randn(2, 20, dtype=DOUBLE))
    close(torch.linalg.svdvals(layer.weight)[0], 1.0, 1e-5)


def test_detached_generator_gets_no_gradient():
    generator, critic = nn.Linear(2, 6), nn.Linear(6, 1)
    critic(generator(torch.randn(4, 2)).detach()).sum().backward()
    assert generator.weight.grad is None and critic.weight.grad is not None
