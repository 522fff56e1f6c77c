"""Algorithm 1: training with staggered gates, on the settings of §4.2 and of Appendix A."""

import torch
from src.data import sorting_batch
from src.loss import objective
from src.model import Sorter, open_gates
from src.utils import Config, TrainingConfig
from torch import nn


def rate_factor(step: int, steps: int) -> float:
    """§4.2, Eq. 8 — eta(t) / eta_0 = 1 - t / T.

    §4.2 — "there is no warm-up, except for the baseline of that name"
    """
    return 1 - step / steps


def make_optimizer(model: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """§4.2 — "Weight decay is applied to matrices and embeddings only."; biases, gains and nothing else are vectors."""
    decayed = [weight for weight in model.parameters() if weight.ndim >= 2]
    others = [weight for weight in model.parameters() if weight.ndim < 2]
    # §4.2 — "the learning rate falls", so Eq. 8 multiplies the peak rate that the optimiser starts from
    return torch.optim.AdamW(
        [{"params": decayed, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}],
        lr=config.peak_rate,
        betas=tuple(config.betas),
        eps=config.adam_eps,
        weight_decay=config.weight_decay,
    )


def train_step(model: Sorter, optimizer: torch.optim.Optimizer, step: int, config: Config, generator: torch.Generator) -> float:
    """Algorithm 1, one step: gates, batch, logits, loss, clipping, update. Gives the loss."""
    # Algorithm 1 — "update $\theta$ with AdamW at rate $\eta_{0}(1-t/T)$"
    for group in optimizer.param_groups:
        group["lr"] = config.training.peak_rate * rate_factor(step, config.training.steps)
    gates = open_gates(step, config.model.n_blocks, config.gates)  # (n_blocks,)
    tokens, targets = sorting_batch(config.training.batch_size, config.data, generator)  # (batch, length) twice
    loss = objective(model(tokens, gates), targets, config.loss)  # scalar
    optimizer.zero_grad()
    loss.backward()
    # §4.2 — "The gradient is clipped to a global norm of 1.0"; "global norm" is the 2-norm, the framework's default norm_type
    nn.utils.clip_grad_norm_(model.parameters(), config.training.clip_norm)
    optimizer.step()
    return loss.item()


def train(config: Config, seed: int) -> tuple[Sorter, list[float]]:
    """Algorithm 1 — the whole procedure, for one seed: the trained model and the loss of every step."""
    torch.manual_seed(seed)
    # §4.2 — "in single precision on one CPU core"
    model = Sorter(config.model, config.data).to(getattr(torch, config.training.dtype)).train()
    optimizer = make_optimizer(model, config.training)
    generator = torch.Generator().manual_seed(seed)
    losses = [train_step(model, optimizer, step, config, generator) for step in range(config.training.steps)]
    return model, losses
