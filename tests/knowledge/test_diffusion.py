"""knowledge/diffusion.md against numerical Bayes, exact Gaussian denoisers and identities."""

import math

import numpy as np
import pytest
import torch
from knowledge.blocks import checks, close, differs

FILE = "diffusion"
DOUBLE = torch.float64


@checks(FILE, "schedules")
def test_linear_schedule(ns):
    alpha_bar = torch.cumprod(1 - ns["linear_betas"](1000), 0)
    close([(1 - alpha_bar[0]).sqrt(), alpha_bar[-1] * 1e5], [0.01, 4.0359], 1e-3)
    for T in (250, 4000):
        scaled = torch.cumprod(1 - ns["linear_betas"](T, 1e-4 * 1000 / T, 0.02 * 1000 / T), 0)[-1]
        assert abs(math.log(scaled / alpha_bar[-1])) < 0.6
        assert abs(math.log(torch.cumprod(1 - ns["linear_betas"](T), 0)[-1] / alpha_bar[-1])) > 3


@pytest.mark.parametrize("T", [10, 100, 1000])
@checks(FILE, "schedules")
def test_cosine_schedule(ns, T):
    f = [math.cos((t / T + 0.008) / 1.008 * math.pi / 2) ** 2 for t in range(T + 1)]
    betas = ns["cosine_betas"](T)
    close(betas, [min(1 - f[t + 1] / f[t], 0.999) for t in range(T)], 1e-9)
    close(torch.cumprod(1 - betas, 0)[:-1], np.array(f[1:-1]) / f[0], 1e-9)
    close(betas.max(), 0.999, 0)


@checks(FILE, "schedules")
def test_zero_terminal_snr(ns):
    alpha_bar = torch.cumprod(1 - torch.linspace(0.00085**0.5, 0.012**0.5, 1000, dtype=DOUBLE) ** 2, 0)
    close(alpha_bar[-1], 0.0047, 1e-4)
    rescaled = ns["zero_terminal_snr"](alpha_bar)
    close([rescaled[-1], rescaled[0]], [0.0, alpha_bar[0]], 1e-12)


@pytest.mark.parametrize("t", [1, 300, 998])
@checks(FILE, "forward")
def test_conversions_are_a_round_trip(ns, t):
    a = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000, dtype=DOUBLE), 0)[t]
    x0, eps = torch.randn(4, 3, dtype=DOUBLE), torch.randn(4, 3, dtype=DOUBLE)
    x = ns["diffuse"](x0, eps, a.expand(4))
    v = a.sqrt() * eps - (1 - a).sqrt() * x0
    for kind, out in (("eps", eps), ("v", v), ("x0", x0)):
        close(ns["to_x0"](x, out, a, kind), x0, 1e-9)
    shift = 0.1
    close((ns["to_x0"](x, v + shift, a, "v") - x0).pow(2), torch.full((4, 3), shift**2 * float(1 - a)), 1e-9)
    close((ns["to_x0"](x, eps + shift, a, "eps") - x0).pow(2), torch.full((4, 3), shift**2 * float((1 - a) / a)), 1e-7)


@checks(FILE, "forward")
def test_diffused_moments(ns):
    torch.manual_seed(0)
    x = ns["diffuse"](torch.full((200_000,), 0.7), torch.randn(200_000), torch.full((200_000,), 0.36))
    close([x.mean(), x.var()], [0.6 * 0.7, 0.64], 1e-2)


@checks(FILE, "loss")
def test_loss_is_a_mean(ns):
    torch.manual_seed(0)
    alpha_bar = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000), 0)
    x0, noise, t = torch.randn(64, 3, 8, 8), torch.randn(64, 3, 8, 8), torch.randint(0, 1000, (64,))
    close(ns["ddpm_loss"](lambda x, t: torch.zeros_like(x), x0, t, noise, alpha_bar), noise.pow(2).mean(), 1e-6)
    close(ns["ddpm_loss"](lambda x, t: torch.zeros_like(x), x0, t, noise, alpha_bar), 1.0, 0.05)
    exact = lambda x, t: (x - alpha_bar[t].view(-1, 1, 1, 1).sqrt() * x0) / (1 - alpha_bar[t]).view(-1, 1, 1, 1).sqrt()  # noqa: E731
    close(ns["ddpm_loss"](exact, x0, t, noise, alpha_bar), 0.0, 1e-5)


@pytest.mark.parametrize("t", [1, 500, 999])
@checks(FILE, "samplers")
def test_posterior_is_bayes(ns, t):
    betas = torch.linspace(1e-4, 0.02, 1000, dtype=DOUBLE)
    alpha_bar = torch.cumprod(1 - betas, 0)
    x, x0 = torch.tensor(-0.3, dtype=DOUBLE), torch.tensor(0.7, dtype=DOUBLE)
    mean, variance = ns["posterior"](x, x0, t, betas)
    y = torch.linspace(float(mean) - 12 * float(variance) ** 0.5, float(mean) + 12 * float(variance) ** 0.5, 20_001, dtype=DOUBLE)
    log_p = -(x - (1 - betas[t]).sqrt() * y) ** 2 / (2 * betas[t]) - (y - alpha_bar[t - 1].sqrt() * x0) ** 2 / (2 * (1 - alpha_bar[t - 1]))
    p = (log_p - log_p.max()).exp()
    p = p / p.sum()
    close(mean, (p * y).sum(), 1e-7)
    close(variance, (p * (y - (p * y).sum()) ** 2).sum(), 1e-7)
    eps = (x - alpha_bar[t].sqrt() * x0) / (1 - alpha_bar[t]).sqrt()
    close(mean, (x - betas[t] / (1 - alpha_bar[t]).sqrt() * eps) / (1 - betas[t]).sqrt(), 1e-9)
    close(ns["posterior"](x, x0, 0, betas)[1], 0.0, 0)


@pytest.mark.parametrize("eta, steps, tolerance", [(1.0, 1000, 0.03), (0.0, 50, 0.05), (0.0, 1000, 0.03)])
@checks(FILE, "samplers")
def test_ddim_recovers_gaussian_data(ns, eta, steps, tolerance):
    torch.manual_seed(0)
    alpha_bar = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000, dtype=DOUBLE), 0)
    at = np.linspace(0, 999, steps).round().astype(int)[::-1]
    x = torch.randn(10_000, dtype=DOUBLE)
    for i, t in enumerate(at):
        now = alpha_bar[t]
        before = alpha_bar[at[i + 1]] if i + 1 < len(at) else torch.tensor(1.0, dtype=DOUBLE)
        eps = (1 - now).sqrt() * (x - now.sqrt() * 2.0) / (now * 0.25 + 1 - now)
        x = ns["ddim_step"](x, ns["to_x0"](x, eps, now, "eps"), now, before, eta, torch.randn_like(x))
    close([x.mean(), x.std()], [2.0, 0.5], tolerance)


@checks(FILE, "samplers")
def test_ancestral_step_is_ddim_with_eta_one(ns):
    betas = torch.linspace(1e-4, 0.02, 1000, dtype=DOUBLE)
    alpha_bar = torch.cumprod(1 - betas, 0)
    x, x0, zero = torch.randn(5, dtype=DOUBLE), torch.randn(5, dtype=DOUBLE), torch.zeros(5, dtype=DOUBLE)
    for t in (1, 400, 999):
        mean, variance = ns["posterior"](x, x0, t, betas)
        close(ns["ddim_step"](x, x0, alpha_bar[t], alpha_bar[t - 1], 1.0, zero), mean, 1e-9)
        close(ns["ddim_step"](x, x0, alpha_bar[t], alpha_bar[t - 1], 1.0, zero + 1) - mean, variance.sqrt().expand(5), 1e-9)


@pytest.mark.parametrize("steps, tolerance", [(18, 0.07), (40, 0.015)])
@checks(FILE, "samplers")
def test_heun_solves_the_gaussian_case(ns, steps, tolerance):
    ramp = torch.linspace(0, 1, steps)
    sigmas = [*((80 ** (1 / 7) + ramp * (0.002 ** (1 / 7) - 80 ** (1 / 7))) ** 7).tolist(), 0.0]
    denoise = lambda x, s: (x * 0.25 + 2.0 * s**2) / (0.25 + s**2)  # noqa: E731
    x = 80.0 * torch.linspace(-2, 2, 9, dtype=DOUBLE)
    start = x.clone()
    for now, after in zip(sigmas, sigmas[1:], strict=False):
        x = ns["heun_step"](denoise, x, now, after)
    close(x, 2.0 + (start - 2.0) * 0.5 / math.sqrt(0.25 + 6400), tolerance)


@checks(FILE, "guidance")
def test_guidance_conventions(ns):
    c, u = torch.randn(4), torch.randn(4)
    close(ns["guide"](c, u, 1.0), c, 1e-6)
    close(ns["guide"](c, u, 0.0), u, 1e-6)
    close(ns["guide"](c, u, 3.0), 3 * c - 2 * u, 1e-5)
    differs(ns["guide"](c, u, 2.0), 3 * c - 2 * u, 1e-2)


@pytest.mark.parametrize("sigma_data", [0.5, 1.0])
@checks(FILE, "preconditioning")
def test_edm_identities(ns, sigma_data):
    sigma = torch.tensor([0.002, 0.5, 80.0], dtype=DOUBLE)
    skip, out, inner = ns["edm_coefficients"](sigma, sigma_data)
    close(inner**2 * (sigma**2 + sigma_data**2), np.ones(3), 1e-10)
    # The target (y − c_skip·(y + n))/c_out has unit variance for y of variance sigma_data² and noise of variance sigma².
    close(((1 - skip) ** 2 * sigma_data**2 + skip**2 * sigma**2) / out**2, np.ones(3), 1e-9)
    close(out**2 * (sigma**2 + sigma_data**2) / (sigma * sigma_data) ** 2, np.ones(3), 1e-10)


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
@checks(FILE, "flow")
def test_flow(ns, t):
    noise, data, times = torch.randn(5, 2), torch.randn(5, 2) + 3, torch.full((5,), t)
    x, velocity = ns["flow_pair"](noise, data, times)
    close(x + (1 - t) * velocity, data, 1e-5)
    close(x - t * velocity, noise, 1e-5)
    close(ns["flow_pair"](noise, data, times + 0.01)[0] - x, 0.01 * velocity, 1e-5)
