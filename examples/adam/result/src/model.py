"""The model of the paper (§6.1)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from src.utils import Config


def initial_parameters(config: Config) -> dict[str, jax.Array]:
    """§6.1: θ_0, the weights W (features, classes) and the bias b (classes,).

    [UNSPECIFIED] initialisation
      Using: 0.0 everywhere, so that the loss starts at the logarithm of the number of classes
      Alternatives: a normal distribution with standard deviation 0.01; LeCun normal

    [UNSPECIFIED] precision
      Using: float32, the default of JAX
      Alternatives: float64
    """
    dtype = config.training.precision
    W = jnp.full((config.model.features, config.model.classes), config.model.initial_value, dtype)  # (features, classes)
    b = jnp.full((config.model.classes,), config.model.initial_value, dtype)  # (classes,)
    return {"W": W, "b": b}


def logistic_regression(W: jax.Array, b: jax.Array, x: jax.Array, config: Config) -> jax.Array:
    """§6.1

    §6.1 — "We evaluate our proposed method on L2-regularized multi-class logistic regression using the MNIST dataset."

    Takes W: (784, 10); b: (10,); x: (batch, 784).
    Gives logits: (batch, 10).
    """
    # §6.1 — "The logistic regression classifies the class label directly on the 784 dimension image vectors."
    logits = x @ W  # (batch, classes)
    return logits + b if config.model.bias else logits  # (batch, classes)
