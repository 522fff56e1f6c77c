"""The objective of the paper (§6.1)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from src.utils import Config


def negative_log_likelihood(logits: jax.Array, y: jax.Array) -> jax.Array:
    """§6.1, Figure 1 — "Logistic regression training negative log likelihood"

    −log softmax(logits)_y of each example, the softmax over the classes: logits (batch, classes), y (batch,) → (batch,).
    """
    log_p = jax.nn.log_softmax(logits, axis=-1)  # (batch, classes)
    return -jnp.take_along_axis(log_p, y[:, None], axis=-1)[:, 0]  # (batch,)


def objective(logits: jax.Array, y: jax.Array, W: jax.Array, config: Config) -> jax.Array:
    """§6.1

    §6.1, Figure 1 — "Logistic regression training negative log likelihood on MNIST images and IMDB movie reviews with
      10,000 bag-of-words (BoW) feature vectors."

    [UNSPECIFIED] reduction of the loss over the minibatch
      Using: the mean over the minibatch
      Alternatives: the sum over the minibatch: Adam's step would hardly change, the weight of the L2 term would

    [UNSPECIFIED] weight-decay-scope
      Using: the weights W only, not the bias
      Alternatives: W and the bias

    Takes logits: (batch, classes); y: (batch,) int; W: (features, classes).
    Gives loss: scalar.
    Axes: softmax over the classes; mean over the batch; sum of squares over all weights.
    """
    # [UNSPECIFIED] form of the L2 term
    #   Using: half the weight times the sum of squares, added to the loss
    #   Alternatives: without the half; decoupled from the gradient
    nll = negative_log_likelihood(logits, y).mean()  # mean over the batch
    return nll + config.loss.half * config.loss.l2 * jnp.sum(W**2)  # () ; the bias is left out
