"""The data of the paper (§4.1)."""

from __future__ import annotations

import torch
from torch import Tensor

from src.utils import Config


def draw_batch(size: int, generator: torch.Generator, config: Config) -> tuple[Tensor, Tensor]:
    """§4.1

    §4.1 — "Training sequences are drawn afresh at every step."

    §4.1 — "the target at position $i$ is the $i$-th smallest of them"

    §4.1 — "There is no preprocessing beyond the embedding."

    Takes size: scalar int.
    Gives tokens: (batch, n) int; y: (batch, n) int.
    """
    tokens = torch.randint(config.data.V, (size, config.data.n), generator=generator)  # (batch, n)
    y = tokens.sort(dim=1).values  # (batch, n)
    return tokens, y
