"""The evaluation of the paper (§4.3)."""

from __future__ import annotations

import torch
from torch import nn

from src.data import draw_batch
from src.utils import Config


def evaluate(model: nn.Module, config: Config) -> tuple[float, float]:
    """§4.3

    §3.2 — "stay open at test time"

    §4.3 — "the token accuracy and the exact match"

    §4.3 — "the share of test sequences of which all 12 positions are right"

    §4.3 — "after the last step and without dropout"

    Takes model: text.
    Gives token_accuracy: scalar; exact_match: scalar.
    """
    # §4.1 — "The test set has 2000 sequences that are drawn once with their own seed."
    generator = torch.Generator().manual_seed(config.evaluation.seed)
    tokens, y = draw_batch(config.evaluation.size, generator, config)
    gates = torch.ones(config.model.L)  # (L,)
    model.eval()
    with torch.no_grad():
        right = model(tokens, gates).argmax(dim=-1) == y  # (batch, n)
    return right.float().mean().item(), right.all(dim=1).float().mean().item()
