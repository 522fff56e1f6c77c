"""The objective of the paper (§5)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from src.utils import Config


def rationale_loss(logit: Tensor, z: Tensor, config: Config) -> Tensor:
    r"""§5

    §5 — "We minimize cross-entropy loss between $z_i$ and $\tilde{z}_i$ during training."

    [UNSPECIFIED] reduction of both losses
      Using: the mean over the examples of an update
      Reason: our choice: the paper names the losses and no reduction
      Alternatives: the sum; a mean over each claim first

    [UNSPECIFIED] weights of the classes
      Using: none, though most sentences are negative
      Reason: our choice: the paper names no weights and the official code has none
      Alternatives: weights by inverse frequency

    Takes logit: (batch,); z: (batch,).
    Gives loss: scalar.
    Axes: mean over the sentences of the batch.
    """
    assert logit.shape == z.shape, (logit.shape, z.shape)
    # −[z log z̃ + (1 − z) log(1 − z̃)] with z̃ = σ(logit), from the logit so that no logarithm meets a 0; no weights of the classes
    return F.binary_cross_entropy_with_logits(logit, z, weight=None, reduction=config.training.reduction)  # (batch,) → ()


def label_loss(logits: Tensor, y: Tensor, config: Config) -> Tensor:
    r"""§5

    §5 — "We minimize the cross-entropy loss between $\tilde{y}(c, a)$ and the true label $y(c, a)$."

    Takes logits: (batch, 3); y: (batch,) int.
    Gives loss: scalar.
    Axes: softmax over the three labels; mean over the batch.
    """
    assert logits.shape == (*y.shape, len(config.model.labels)), (logits.shape, y.shape)
    # −log ỹ(c, a)[y] with ỹ = φ(logits), φ over the last axis
    # [UNSPECIFIED] weights of the classes and smoothing of the labels
    #   Using: none, 0.0   Alternatives: weights by inverse frequency; 0.1
    # [UNSPECIFIED] the paper does not state ignore_index
    #   Using: the framework's default (-100), which no label has   Alternatives: another number that no label has
    return F.cross_entropy(logits, y, weight=None, ignore_index=-100, reduction=config.training.reduction, label_smoothing=0.0)  # (batch, 3) → ()
