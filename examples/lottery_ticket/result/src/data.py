"""The data of the paper (Appendix G.1, Appendix H.1)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from src.utils import Config

Examples = tuple[Tensor, Tensor]  # images (n, …) and labels (n,) int


def split_validation(images: Tensor, labels: Tensor, generator: torch.Generator, config: Config) -> tuple[Examples, Examples]:
    """Appendix G.1, Appendix H.1

    Appendix G.1 — "The MNIST dataset consists of 60,000 training examples and 10,000 test examples."

    Appendix G.1 — "We randomly sampled a 5,000-example validation set from the training set and used the remaining
      55,000 training examples as our training set for the rest of the paper (including Section 2)."

    Takes images: (n, n_pixels); labels: (n,) int; generator: object.
    Gives train: object; validation: object.
    """
    order = torch.randperm(len(images), generator=generator)  # (n,) int
    held_out, rest = order[:config.data.validation_examples], order[config.data.validation_examples:]
    return (images[rest], labels[rest]), (images[held_out], labels[held_out])


def minibatches(images: Tensor, labels: Tensor, generator: torch.Generator, config: Config) -> Iterator[Examples]:
    """Appendix G.1, Appendix H.1

    [UNSPECIFIED] preprocessing
      Using: none here: images come as float tensors that whoever runs the experiment has prepared
      Reason: our choice: the paper is silent, and no data is loaded in this result
      Alternatives: pixels divided by 255; keras.utils.normalize, as the official code does for MNIST
      (datasets/dataset_mnist.py line 60)

    Appendix G.1 — "at each epoch, the entire training set is shuffled"

    Takes images: (n, n_pixels); labels: (n,) int; generator: object.
    Gives batches: object.
    """
    # Appendix G.1 — "The training set is presented to the network in mini-batches of 60 examples"
    size = config.training.batch_size
    assert len(images) >= size, "fewer examples than one mini-batch"
    order = torch.randperm(len(images), generator=generator)  # (n,) int
    # [ASSUMPTION] the rest that fills no mini-batch is left out
    #   Reason: the iterations printed for VGG-19 (Appendix I.2) need that; no sentence says it
    end = len(images) - len(images) % size if config.data.drop_last else len(images)
    for start in range(0, end, size):
        rows = order[start:start + size]  # (batch,)
        yield images[rows], labels[rows]  # (batch, …), (batch,)
