"""knowledge/state_space_models.md against scipy, loops, jax's scan and torch's cells."""

import jax
import numpy as np
import pytest
import scipy.signal
import torch
from knowledge.blocks import checks, close, differs
from torch import nn

FILE = "state_space_models"
DOUBLE = torch.float64


def randn(*shape, seed=0):
    return torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dt", [0.01, 0.1, 1.0])
@checks(FILE, "discretise")
def test_discretisation_is_scipys(ns, dt):
    A, B = -randn(4).exp(), randn(4, seed=1)
    for method, name in (("zero_order_hold", "zoh"), ("bilinear", "bilinear")):
        decay, drive = ns[method](A, B, torch.tensor(dt, dtype=DOUBLE))
        a, b, *_ = scipy.signal.cont2discrete((np.diag(A), B[:, None].numpy(), np.ones((1, 4)), np.zeros((1, 1))), dt, method=name)
        close(decay, np.diag(a), 1e-9)
        close(drive, b[:, 0], 1e-9)
    if dt == 1.0:
        differs(dt * B, ns["zero_order_hold"](A, B, torch.tensor(dt, dtype=DOUBLE))[1], 1e-2)


@pytest.mark.parametrize("L", [1, 2, 5, 16, 33])
@checks(FILE, "recurrence")
def test_scans(ns, L):
    a, b = torch.rand(L, 3, dtype=DOUBLE) * 0.5 + 0.5, randn(L, 3)
    close(ns["scan"](a, b), ns["recur"](a, b), 1e-10)
    h, expected = np.zeros(3), []
    for t in range(L):
        h = a[t].numpy() * h + b[t].numpy()
        expected.append(h)
    close(ns["recur"](a, b), np.array(expected), 1e-12)
    f32 = [x.numpy().astype(np.float32) for x in (a, b)]
    theirs = jax.lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), tuple(f32))[1]
    close(ns["scan"](a, b), np.asarray(theirs), 1e-4)


@pytest.mark.parametrize("L", [1, 7, 20])
@checks(FILE, "convolution")
def test_convolution_is_the_recurrence(ns, L):
    A, B, C, u = -randn(3, 4).exp(), randn(3, 4, seed=1), randn(3, 4, seed=2), randn(L, 3, seed=3)
    decay, drive = ns["zero_order_hold"](A, B, torch.tensor(0.1, dtype=DOUBLE))
    states = ns["recur"](decay.expand(L, 3, 4), drive * u[..., None])
    kernel = ns["ssm_kernel"](decay, drive, C, L)
    close(ns["causal_convolution"](u, kernel), (states * C).sum(-1), 1e-9)
    for h in range(3):
        close(ns["causal_convolution"](u, kernel)[:, h], np.convolve(u[:, h], kernel[:, h])[:L], 1e-9)
    if L > 1:
        circular = torch.fft.irfft(torch.fft.rfft(u, L, dim=0) * torch.fft.rfft(kernel, L, dim=0), L, dim=0)
        differs(circular, ns["causal_convolution"](u, kernel), 1e-3)


@checks(FILE, "gates")
def test_cells_are_torchs(ns):
    gru, lstm = nn.GRUCell(3, 4).double(), nn.LSTMCell(3, 4).double()
    x, h, s = randn(5, 3), randn(5, 4, seed=1), randn(5, 4, seed=2)
    weights = (gru.weight_ih, gru.weight_hh, gru.bias_ih, gru.bias_hh)
    close(ns["gru_cell"](x, h, *weights), gru(x, h), 1e-10)
    differs(ns["gru_cell"](x, h, *weights, reset_after=False), gru(x, h), 1e-3)
    out, state = ns["lstm_cell"](x, h, s, lstm.weight_ih, lstm.weight_hh, lstm.bias_ih + lstm.bias_hh)
    theirs = lstm(x, (h, s))
    close(out, theirs[0], 1e-10)
    close(state, theirs[1], 1e-10)
    assert all(p.abs().max() <= 0.5 for p in nn.LSTM(3, 4).parameters())


@checks(FILE, "gates")
def test_gru_before_is_the_formula(ns):
    x, h, W, U, b, c = randn(3), randn(2, seed=1), randn(6, 3, seed=2), randn(6, 2, seed=3), randn(6, seed=4), randn(6, seed=5)
    sig = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    X, H, Wn, Un, bn, cn = (t.numpy() for t in (x, h, W, U, b, c))
    r = sig(Wn[:2] @ X + bn[:2] + Un[:2] @ H + cn[:2])
    z = sig(Wn[2:4] @ X + bn[2:4] + Un[2:4] @ H + cn[2:4])
    n = np.tanh(Wn[4:] @ X + bn[4:] + Un[4:] @ (r * H) + cn[4:])
    close(ns["gru_cell"](x, h, W, U, b, c, reset_after=False), (1 - z) * n + z * H, 1e-10)
