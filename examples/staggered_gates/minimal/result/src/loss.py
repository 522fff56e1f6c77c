"""The objective of §3.3: cross-entropy with label smoothing (Eq. 6) and a penalty on the normaliser (Eq. 7)."""

import torch
from src.utils import LossConfig


def smoothed_cross_entropy(logits: torch.Tensor, targets: torch.Tensor, smoothing: float) -> torch.Tensor:
    """§3.3, Eq. 6 — L_CE = -1/(B n) sum_b sum_i sum_v q_biv log p_biv

    §3.3 — "$q_{biv}=(1-\\alpha)\\,[v=y_{bi}]+\\alpha/V$"
    §3.3 — "where $p_{bi}$ is the softmax of $z_{bi}$ over the vocabulary"; (batch, length, V), (batch, length) -> scalar.
    """
    log_p = logits.log_softmax(dim=-1)  # (batch, length, vocabulary)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, length)
    # §3.3, Eq. 6, the sum over v of q log p: the right value's share and the share spread over all V values
    summed = (1 - smoothing) * right + smoothing * log_p.mean(dim=-1)  # (batch, length)
    return -summed.mean()  # scalar


def normaliser_penalty(logits: torch.Tensor) -> torch.Tensor:
    """§3.3, Eq. 7 — L_z = 1/(B n) sum_b sum_i (log sum_v exp z_biv)^2

    (batch, length, V) -> scalar.
    """
    return logits.logsumexp(dim=-1).square().mean()  # scalar


def objective(logits: torch.Tensor, targets: torch.Tensor, config: LossConfig) -> torch.Tensor:
    """§3.3, Eq. 5 — L = L_CE + lambda L_z

    (batch, length, V), (batch, length) -> scalar.
    """
    return smoothed_cross_entropy(logits, targets, config.smoothing) + config.z_weight * normaliser_penalty(logits)  # scalar
