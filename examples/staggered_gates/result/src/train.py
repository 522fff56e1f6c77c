"""The training of the paper (§3.2, §4.2)."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import Tensor, nn

from src.data import draw_batch
from src.evaluate import evaluate
from src.loss import objective
from src.model import Sorter
from src.utils import Config, load_config


def opening_gates(t: int, config: Config) -> Tensor:
    r"""§3.2, Eq. 3, Eq. 4

    §3.2, Eq. 3 — g_{\ell}(t) = h\!\left(\operatorname{clip}\left(\frac{t - (\ell-1)\,s}{r},\, 0,\, 1\right)\right),

    §3.2, Eq. 4 — T_{\mathrm{open}} = (L - 1)\,s+ r

    §3.2 — "$h$ is the cubic step"

    §3.2 — "Steps are counted from $t = 0$, so the first block is closed at the first step"

    Takes t: scalar int.
    Gives gates: (L,).
    """
    # Eq. 3 counts the stagger from the first block, Algorithm 1 from the one after it: Eq. 3 is followed, see the notes.
    l = torch.arange(config.model.L, dtype=getattr(torch, config.training.precision))  # (L,), l - 1 of the paper
    u = ((t - l * config.schedule.stagger) / config.schedule.ramp).clamp(0, 1)  # (L,), Eq. 3
    # §3.2 — "$h$ is the cubic step" and §3.2 — "h(u) := 3u^2 - 2u^3"
    return 3 * u**2 - 2 * u**3  # (L,)


def learning_rate(t: int, config: Config) -> float:
    r"""§4.2, Eq. 8

    §4.2, Eq. 8 — \eta(t) = \eta_0 \left(1 - \frac{t}{T}\right),

    §4.2 — "The learning rate falls linearly from its peak"

    §4.2 — "there is no warm-up, except for the baseline of that name"

    Takes t: scalar int.
    Gives rate: scalar.
    """
    return config.training.eta_0 * (1 - t / config.training.T)


def build_optimizer(model: nn.Module, config: Config) -> torch.optim.Optimizer:
    r"""§4.2

    [PARTIALLY_SPECIFIED] optimiser: §4.2 — "We use AdamW [7, 8] with $\beta_1 = 0.9$ and $\beta_2 = 0.98$; the
      remaining settings of the optimiser keep their default values."; open: whose default values, and so the epsilon
      Using: torch.optim.AdamW, since §4.2 names PyTorch
      Alternatives: the defaults of another framework

    §4.2 — "Weight decay is applied to matrices and embeddings only."

    Takes model: text.
    Gives optimizer: text.
    """
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    vectors = [parameter for parameter in model.parameters() if parameter.dim() <= 1]
    # §4.2 — "Weight decay is applied to matrices and embeddings only."
    groups = [{"params": matrices, "weight_decay": config.training.weight_decay}, {"params": vectors, "weight_decay": config.training.vector_decay}]
    return torch.optim.AdamW(groups, lr=config.training.eta_0, betas=tuple(config.training.betas), eps=config.training.epsilon,
                             weight_decay=config.training.weight_decay, amsgrad=False)


def train(seed: int, config: Config, checkpoint: Path | None = None) -> nn.Module:
    """§3.2, Algorithm 1

    [UNSPECIFIED] kind of the clipped norm
      Using: the Euclidean norm, the default of clip_grad_norm_ (norm_type 2)
      Alternatives: the largest absolute value

    Takes seed: scalar int.
    Gives model: text.
    """
    generator = torch.manual_seed(seed)
    model = Sorter(config).to(getattr(torch, config.training.precision))
    optimizer = build_optimizer(model, config)
    model.train()
    start = restore_checkpoint(checkpoint, model, optimizer) + 1 if checkpoint is not None and checkpoint.exists() else 0
    for t in range(start, config.training.T):
        gates = opening_gates(t, config)
        tokens, y = draw_batch(config.training.batch_size, generator, config)
        optimizer.zero_grad()
        objective(model(tokens, gates), y, config).backward()
        # §4.2 — "The gradient is clipped to a global norm of 1.0"
        nn.utils.clip_grad_norm_(model.parameters(), config.training.c)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(t, config)
        optimizer.step()
        if checkpoint is not None:
            save_checkpoint(checkpoint, model, optimizer, t)
    return model


def save_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, t: int) -> None:
    """What it takes to go on with the training of §4.2 after step `t`."""
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "random": torch.get_rng_state(), "t": t}, path)


def restore_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """The step after which the training of §4.2 was saved; model, optimiser and random numbers are set to it."""
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return state["t"]


def plot_schedule(path: Path, config: Config) -> None:
    """The schedule of §4.2 over the training, as a picture."""
    from matplotlib import pyplot

    steps = range(config.training.T)
    figure, axes = pyplot.subplots()
    axes.plot(steps, [learning_rate(t, config) for t in steps])
    axes.set_xlabel("step")
    axes.set_ylabel("learning_rate")
    figure.savefig(path)
    pyplot.close(figure)


def main(path: str) -> None:
    """The runs of §4.2, with the settings of the file at `path`."""
    config = load_config(path)
    plot_schedule(Path("learning_rate.png"), config)
    for seed in config.training.seeds:
        model = train(seed, config, Path(f"seed_{seed}.pt"))
        token_accuracy, exact_match = evaluate(model, config)
        print(f"seed {seed}: token accuracy {token_accuracy:.4f}, exact match {exact_match:.4f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
