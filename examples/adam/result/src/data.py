"""The data of the paper (§6.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from src.utils import Config


def minibatches(x: jax.Array, y: jax.Array, key: jax.Array, config: Config) -> Iterator[tuple[jax.Array, jax.Array]]:
    """§6.1

    [UNSPECIFIED] data-order
      Using: a new random order every epoch, the last incomplete minibatch left out
      Alternatives: sampling with replacement; the last minibatch kept

    Takes x: (N, features); y: (N,) int.
    Gives batch: (batch, features) and (batch,) int.
    """
    size = config.training.batch_size  # §6.1 — "using minibatch size of 128"
    order = jax.random.permutation(key, len(x))  # (N,)
    for start in range(0, len(x) - size + 1, size):
        rows = order[start:start + size]  # (batch,)
        yield x[rows], y[rows]  # (batch, features), (batch,)


def bag_of_words(reviews: list[list[str]], config: Config) -> jax.Array:
    """§6.1

    §6.1 — "including the first 10,000 most frequent words"

    [UNSPECIFIED] values of the bag-of-words features
      Using: binary: 1 where the word occurs, 0 elsewhere
      Alternatives: counts

    [UNSPECIFIED] order of equally frequent words
      Using: alphabetical
      Alternatives: order of first occurrence

    Takes reviews: text.
    Gives x: (N, 10000).
    """
    counts = Counter(word for review in reviews for word in review)
    frequent = sorted(counts, key=lambda word: (-counts[word], word))[:config.data.vocabulary]
    column = {word: at for at, word in enumerate(frequent)}
    x = np.zeros((len(reviews), config.data.vocabulary), config.training.precision)  # (N, vocabulary)
    for row, review in enumerate(reviews):
        x[row, [column[word] for word in review if word in column]] = 1
    return jnp.asarray(x)


def feature_dropout(x: jax.Array, key: jax.Array, config: Config) -> jax.Array:
    """§6.1

    §6.1 — "50% dropout noise can be applied to the BoW features during training"

    Takes x: (batch, features).
    Gives x: (batch, features).
    """
    # [PARTIALLY_SPECIFIED] "50% dropout noise can be applied to the BoW features" — whether kept features are scaled up is not said.
    #   Using: the kept features divided by 1 minus the rate
    #   Alternatives: no scaling in training, features halved in evaluation
    keep = 1 - config.data.dropout
    kept = jax.random.bernoulli(key, keep, x.shape)  # (batch, features)
    return x * kept / keep  # (batch, features)


def image_vectors(images: np.ndarray, config: Config) -> jax.Array:
    """§6.1 — "directly on the 784 dimension image vectors"

    [UNSPECIFIED] scale of the pixels
      Using: grey values are divided by 255.0
      Alternatives: standardised pixels

    Takes images: (N, height, width) of grey values; gives x: (N, features).
    """
    x = jnp.asarray(images, config.training.precision).reshape(len(images), config.model.features)  # (N, features)
    return x / config.data.pixel_scale


def mnist(path: Path, config: Config) -> tuple[jax.Array, jax.Array]:
    """§6.1 — "using the MNIST dataset": x (N, features) and y (N,) from an archive that the reader provides."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: put MNIST's training images and labels there, as the arrays `images` and `labels` of an .npz file")
    with np.load(path) as archive:
        return image_vectors(archive["images"], config), jnp.asarray(archive["labels"])
