"""The reading guides: blocks of formula_to_code.md and reproduction_statistics.md, and the figures they state."""

import numpy as np
import pytest
import scipy.stats
import torch
import torch.nn.functional as F
from knowledge.blocks import checks, close, load
from paper2code.reproduce import statistics


@pytest.mark.parametrize("n, m, d_k, d_v", [(3, 5, 4, 2), (1, 1, 3, 3), (6, 2, 8, 5)])
@checks("formula_to_code", "translate")
def test_translation(ns, n, m, d_k, d_v):
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(n, d_k)), rng.normal(size=(m, d_k)), rng.normal(size=(m, d_v))
    close(ns["attention_by_index"](q, k, v), F.scaled_dot_product_attention(*(torch.tensor(x)[None] for x in (q, k, v)))[0], 1e-10)


@pytest.mark.parametrize("c", [2, 5])
@checks("formula_to_code", "gradient")
def test_jacobian(ns, c):
    z = torch.randn(c, dtype=torch.float64)
    close(ns["softmax_jacobian"](z.softmax(0).numpy()), torch.autograd.functional.jacobian(lambda x: x.softmax(0), z), 1e-10)
    central = load("framework_counterparts")["central_difference"]
    close(ns["softmax_jacobian"](z.softmax(0).numpy())[0], central(lambda x: float(np.exp(x[0]) / np.exp(x).sum()), z.numpy()), 1e-7)


@pytest.mark.parametrize("further", [1, 5])
@checks("reproduction_statistics", "intervals")
def test_interval_is_the_scripts(ns, further):
    runs = [26.7, 27.1, 26.8, 27.2, 26.9]
    close(ns["prediction_interval"](runs, further), statistics.prediction_interval(runs, further=further), 1e-12)
    if further == 1:
        close(ns["prediction_interval"](runs), [26.31, 27.57], 1e-3)


@checks("reproduction_statistics", "z_rule")
def test_rule_of_thumb_is_wrong(ns):
    rng = np.random.default_rng(0)
    flagged = np.mean([not ns["within_two_sigma"](rng.normal(size=5), rng.normal()) for _ in range(8000)])
    close(flagged, 0.137, 0.02)
    passed = np.mean([ns["within_two_sigma"](rng.normal(size=5), 1 + rng.normal()) for _ in range(8000)])
    assert passed > 0.6


def test_figures_of_the_text():
    close(scipy.stats.t.ppf(0.975, [1, 2, 4]), [12.7, 4.30, 2.78], 5e-3)
    rng = np.random.default_rng(0)
    close(rng.normal(size=(40_000, 10)).max(1).mean(), 1.54, 0.02)
    covered = 0
    for _ in range(1500):
        x = rng.normal(size=5)
        low, high = np.quantile(x[rng.integers(0, 5, (400, 5))].mean(1), [0.025, 0.975])
        covered += low <= 0 <= high
    close(covered / 1500, 0.84, 0.03)
