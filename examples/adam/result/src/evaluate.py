"""The evaluation of the paper (§6.1, Figure 1, §4)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from src.loss import negative_log_likelihood
from src.model import logistic_regression
from src.utils import Config


def evaluate(W: jax.Array, b: jax.Array, x: jax.Array, y: jax.Array, config: Config) -> float:
    """§6.1, Figure 1

    [UNSPECIFIED] splits
      Using: the training set alone, as the reported measure is a training cost
      Alternatives: a validation set for the grid

    §6.1, Figure 1 — "Logistic regression training negative log likelihood"

    [UNSPECIFIED] metric-computation
      Using: the mean negative log likelihood over the whole training set, without the L2 term and without dropout noise
      Alternatives: the running mean over minibatches; with the L2 term

    Takes W: (features, classes); b: (classes,); x: (N, features); y: (N,) int.
    Gives nll: scalar.
    Axes: mean over the N examples.
    """
    logits = logistic_regression(W, b, x, config)  # (N, classes)
    return float(negative_log_likelihood(logits, y).mean())  # mean over the N examples, no L2 term


def regret(online: jax.Array, best: jax.Array) -> float:
    """§4, Eq. 5

    §4, Eq. 5 — R(T) = ∑ T t=1 [ft(θt) − ft(θ∗)]

    §4 — "we evaluate our algorithm using the regret, that is the sum of all the previous difference between the online
      prediction ft(θt) and the best fixed point parameter ft(θ∗) from a feasible set X for all the previous steps"

    Takes online: (T,); best: (T,).
    Gives R: scalar.
    Axes: sum over t = 1 to T.
    """
    # Eq. 5: R(T) = Σ_{t=1}^{T} [f_t(θ_t) − f_t(θ*)]
    return float(jnp.sum(online - best))  # (T,) → ()
