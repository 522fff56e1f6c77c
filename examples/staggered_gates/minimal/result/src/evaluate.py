"""The two measures of §4.3, and the run of one seed that Table 1 averages."""

from pathlib import Path

import torch
from src.data import held_out
from src.model import Sorter
from src.train import train
from src.utils import Config, load_config


def evaluate(model: Sorter, config: Config) -> tuple[float, float]:
    """§4.3 — "after the last step and without dropout, the token accuracy and the exact match": both in per cent.

    §4.3 — "the share of test sequences of which all 12 positions are right" is the exact match.
    """
    model.eval()
    tokens, targets = held_out(config.data)
    # §3.2 — "stay open at test time"
    gates = torch.ones(config.model.n_blocks)  # (n_blocks,)
    with torch.no_grad():
        right = model(tokens, gates).argmax(dim=-1) == targets  # (test_size, length)
    # Table 1 — "Test results in per cent after 240 steps." (per cent: a share times 100)
    per_cent = 100
    return per_cent * right.float().mean().item(), per_cent * right.all(dim=-1).float().mean().item()


def run_seeds(path: Path) -> list[tuple[float, float]]:
    """§4.2 — "Each method is run with five seeds": token accuracy and exact match of each seed of the config."""
    config = load_config(path)
    return [evaluate(train(config, seed)[0], config) for seed in config.training.seeds]


if __name__ == "__main__":
    for token_accuracy, exact_match in run_seeds(Path("configs/base.yaml")):
        print(f"token accuracy {token_accuracy:.1f}, exact match {exact_match:.1f}")
