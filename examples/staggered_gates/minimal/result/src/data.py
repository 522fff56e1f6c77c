"""The sorting task of §4.1: nothing is fetched, every sequence is drawn."""

import torch
from src.utils import DataConfig


def sorting_batch(size: int, config: DataConfig, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """§4.1 — "Training sequences are drawn afresh at every step." Tokens and targets: (size, length), (size, length).

    §4.1 — "There is no preprocessing beyond the embedding."
    """
    # §4.1 — "the input is a sequence of $n=12$ digits drawn uniformly from $V=10$ values"
    tokens = torch.randint(config.vocabulary, (size, config.length), generator=generator)  # (size, length)
    # §4.1 — "the target at position $i$ is the $i$-th smallest of them"
    targets = tokens.sort(dim=-1).values  # (size, length)
    return tokens, targets


def held_out(config: DataConfig) -> tuple[torch.Tensor, torch.Tensor]:
    """§4.1 — "The test set has 2000 sequences that are drawn once with their own seed." (test_size, length) twice."""
    return sorting_batch(config.test_size, config, torch.Generator().manual_seed(config.test_seed))
