"""The training of the paper (§1, Algorithm 1, §2, §7.1, Algorithm 2, §7.2, §6.1)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from src.data import feature_dropout, minibatches, mnist
from src.evaluate import evaluate
from src.loss import objective
from src.model import initial_parameters, logistic_regression
from src.utils import Config, load_config

Tree = Any  # a pytree of arrays: θ, and what has its shape


def adam_init(theta: Tree) -> tuple[Tree, Tree, jax.Array]:
    """§1, Algorithm 1

    §2 — "However, these moving averages are initialized as (vectors of) 0’s"

    Algorithm 1 — "t ← 0 (Initialize timestep)"

    Takes theta: (d,).
    Gives m: (d,); v: (d,); t: scalar.
    """
    zeros = jax.tree.map(jnp.zeros_like, theta)
    return zeros, zeros, jnp.zeros((), int)  # m_0, v_0, t


def adam_update(g: Tree, m: Tree, v: Tree, t: jax.Array, alpha: jax.Array | float, config: Config) -> tuple[Tree, Tree, Tree, jax.Array]:
    """§1, Algorithm 1

    §3, Eq. 1 — vt = (1 − β2) ∑ t i=1 βt−i 2 · g2 i

    §3, Eq. 4 — E[v_t] = E[g_t²] · (1 − β_2^t) + ζ

    Algorithm 1 — "mt ← β1 · mt−1 + (1 − β1) · gt (Update biased first moment estimate)"

    Algorithm 1 — "vt ← β2 · vt−1 + (1 − β2) · g^{2} t (Update biased second raw moment estimate)"

    Algorithm 1 — "g^{2} t indicates the elementwise square gt ⊙ gt."

    Algorithm 1 — "mˆt ← mt/(1 − βt 1) (Compute bias-corrected first moment estimate)"

    Algorithm 1 — "With βt 1 and βt 2 we denote β1 and β2 to the power t."

    Algorithm 1 — "θt ← θt−1 − α · mˆt/( √ vˆt + ϵ) (Update parameters)"

    Algorithm 1 — "All operations on vectors are element-wise."

    Takes g: (d,); m: (d,); v: (d,); t: scalar; alpha: scalar.
    Gives delta: (d,); m: (d,); v: (d,); t: scalar.
    Axes: none: all operations are element-wise.
    """
    beta_1, beta_2 = config.adam.betas
    t = t + 1
    m = jax.tree.map(lambda m, g: beta_1 * m + (1 - beta_1) * g, m, g)  # m_t = β_1 · m_{t−1} + (1 − β_1) · g_t
    v = jax.tree.map(lambda v, g: beta_2 * v + (1 - beta_2) * g**2, v, g)  # v_t = β_2 · v_{t−1} + (1 − β_2) · g_t²
    m_hat = jax.tree.map(lambda m: m / (1 - beta_1**t), m)  # m̂_t = m_t / (1 − β_1^t)
    v_hat = jax.tree.map(lambda v: v / (1 - beta_2**t), v)  # v̂_t = v_t / (1 − β_2^t), the factor of Eq. 4
    # Δ_t = α · m̂_t / (√v̂_t + ε), to be subtracted; ε stands outside the root
    delta = jax.tree.map(lambda m_hat, v_hat: alpha * m_hat / (jnp.sqrt(v_hat) + config.adam.epsilon), m_hat, v_hat)
    return delta, m, v, t


def adam_update_reordered(g: Tree, m: Tree, v: Tree, t: jax.Array, alpha: jax.Array | float, config: Config) -> tuple[Tree, Tree, Tree, jax.Array]:
    """§2

    §2 — "e.g. by replacing the last three lines in the loop with the following lines: αt = α · √ 1 − βt 2 /(1 − βt 1)
      and θt ← θt−1 − αt · mt/( √ vt + ˆϵ)."

    Takes g: (d,); m: (d,); v: (d,); t: scalar; alpha: scalar.
    Gives delta: (d,); m: (d,); v: (d,); t: scalar.
    Axes: none: all operations are element-wise.
    """
    # [PARTIALLY_SPECIFIED] §2 — "e.g. by replacing the last three lines in the loop with the following lines" — the value of ε̂ is not said.
    #   Using: 1.0e-8, the number that Algorithm 1 gives for ε, kept constant
    #   Alternatives: ε · √(1 − β_2^t), which is Algorithm 1 exactly
    beta_1, beta_2 = config.adam.betas
    t = t + 1
    m = jax.tree.map(lambda m, g: beta_1 * m + (1 - beta_1) * g, m, g)
    v = jax.tree.map(lambda v, g: beta_2 * v + (1 - beta_2) * g**2, v, g)
    alpha_t = alpha * jnp.sqrt(1 - beta_2**t) / (1 - beta_1**t)  # α_t = α · √(1 − β_2^t) / (1 − β_1^t)
    delta = jax.tree.map(lambda m, v: alpha_t * m / (jnp.sqrt(v) + config.adam.epsilon_hat), m, v)  # α_t · m_t / (√v_t + ε̂)
    return delta, m, v, t


def adamax_init(theta: Tree) -> tuple[Tree, Tree, jax.Array]:
    """§7.1, Algorithm 2

    §7.1 — "with initial value u0 = 0."

    Takes theta: (d,).
    Gives m: (d,); u: (d,); t: scalar.
    """
    zeros = jax.tree.map(jnp.zeros_like, theta)
    return zeros, zeros, jnp.zeros((), int)  # m_0, u_0, t


def adamax_update(g: Tree, m: Tree, u: Tree, t: jax.Array, alpha: jax.Array | float, config: Config) -> tuple[Tree, Tree, Tree, jax.Array]:
    """§7.1, Algorithm 2, Eq. 11, Eq. 12

    §7.1, Eq. 11 — u_t = max(β_2^{t−1}|g_1|, β_2^{t−2}|g_2|, …, β_2|g_{t−1}|, |g_t|)

    §7.1, Algorithm 2, Eq. 12 — ut = max(β2 · ut−1, |gt|)

    §7.1, Algorithm 2 — "ut ← max(β2 · ut−1, |gt|) (Update the exponentially weighted infinity norm)"

    §7.1, Algorithm 2 — "θt ← θt−1 − (α/(1 − βt 1)) · mt/ut (Update parameters)"

    Takes g: (d,); m: (d,); u: (d,); t: scalar; alpha: scalar.
    Gives delta: (d,); m: (d,); u: (d,); t: scalar.
    Axes: max over two values, element-wise.
    """
    # [UNSPECIFIED] AdaMax where all gradients so far were zero: m_t / u_t is zero divided by zero
    #   Using: 0.0, no step
    #   Alternatives: a small constant added to u_t; a small constant as second argument of the maximum
    beta_1, beta_2 = config.adamax.betas
    t = t + 1
    m = jax.tree.map(lambda m, g: beta_1 * m + (1 - beta_1) * g, m, g)  # m_t = β_1 · m_{t−1} + (1 − β_1) · g_t
    u = jax.tree.map(lambda u, g: jnp.maximum(beta_2 * u, jnp.abs(g)), u, g)  # Eq. 12: u_t = max(β_2 · u_{t−1}, |g_t|)
    rate = alpha / (1 - beta_1**t)  # α / (1 − β_1^t); u_t needs no correction
    delta = jax.tree.map(lambda m, u: jnp.where(u > 0, rate * m / jnp.where(u > 0, u, 1), config.adamax.step_at_zero), m, u)
    return delta, m, u, t


def average_parameters(average: Tree, theta: Tree, t: jax.Array, config: Config) -> tuple[Tree, Tree]:
    """§7.2

    §7.2 — "θt ← β2 · θt−1 + (1−β2)θt, with θ0 = 0."

    §7.2 — "Initalization bias can again be corrected by the estimator θˆt = ¯ θt/(1 − βt 2)."

    Takes average: (d,); theta: (d,); t: scalar.
    Gives average: (d,); corrected: (d,).
    """
    beta_2 = (config.adamax if config.training.rule == "adamax" else config.adam).betas[1]
    average = jax.tree.map(lambda average, theta: beta_2 * average + (1 - beta_2) * theta, average, theta)  # θ̄_t
    corrected = jax.tree.map(lambda average: average / (1 - beta_2**t), average)  # θ̂_t = θ̄_t / (1 − β_2^t)
    return average, corrected


def learning_rate(t: jax.Array | int, config: Config) -> jax.Array:
    """§6.1

    §6.1 — "The stepsize α in our logistic regression experiments is adjusted by 1/√t decay, namely α_t = α/√t that
      matches with our theoratical prediction from section 4."

    [PARTIALLY_SPECIFIED] unit of the schedule's t: §6.1 — "The stepsize α in our logistic regression experiments is
      adjusted by 1/ √ t decay"; open: whether t counts updates or passes over the data
      Using: updates, as t does in Algorithm 1 and in the theorem of §4
      Alternatives: epochs

    Takes t: scalar.
    Gives alpha_t: scalar.
    """
    alpha = (config.adamax if config.training.rule == "adamax" else config.adam).alpha
    return alpha / jnp.sqrt(t)  # α_t = α / √t, t from 1


RULES = {"adam": (adam_init, adam_update), "adam_reordered": (adam_init, adam_update_reordered), "adamax": (adamax_init, adamax_update)}


def train(x: jax.Array, y: jax.Array, seed: int, config: Config, noise: bool = False, checkpoint: Path | None = None,
          resume: Path | None = None) -> tuple[Tree, jax.Array]:
    """§1, Algorithm 1

    Takes x: (N, features); y: (N,) int; seed: scalar.
    Gives theta: (d,); losses: (steps,).
    """
    initialise, update = RULES[config.training.rule]
    theta = initial_parameters(config)  # θ_0
    m, s, t = initialise(theta)  # s is v or u
    average = jax.tree.map(jnp.zeros_like, theta)  # θ̄_0 = 0
    done, state = 0, (theta, m, s, t, average)
    if resume is not None:
        done, state = restore_checkpoint(resume, state)
    base = jax.random.key(seed)

    def f(theta: Tree, x: jax.Array, y: jax.Array) -> jax.Array:
        return objective(logistic_regression(theta["W"], theta["b"], x, config), y, theta["W"], config)

    @jax.jit
    def step(state: tuple, x: jax.Array, y: jax.Array) -> tuple[tuple, jax.Array]:
        # §1, Algorithm 1: one turn of the loop
        theta, m, s, t, average = state
        loss, g = jax.value_and_grad(f)(theta, x, y)  # g_t = ∇_θ f_t(θ_{t−1})
        delta, m, s, t = update(g, m, s, t, learning_rate(t + 1, config), config)
        theta = jax.tree.map(lambda theta, delta: theta - delta, theta, delta)  # θ_t = θ_{t−1} − Δ_t
        average, _ = average_parameters(average, theta, t, config)
        return (theta, m, s, t, average), loss

    losses = []
    # [PARTIALLY_SPECIFIED] Algorithm 1 — "while θt not converged do" — when that is, is not said. Using: a number of passes over the data
    for epoch in range(done, config.training.epochs):
        order_key, noise_key = jax.random.split(jax.random.fold_in(base, epoch))  # two keys, ()
        for at, (batch, labels) in enumerate(minibatches(x, y, order_key, config)):
            if noise:  # §6.1 — "50% dropout noise can be applied to the BoW features during training"
                batch = feature_dropout(batch, jax.random.fold_in(noise_key, at), config)
            state, loss = step(state, batch, labels)
            losses.append(loss)
        if checkpoint is not None:
            save_checkpoint(checkpoint, state, epoch + 1)
    theta, m, s, t, average = state
    if config.evaluation.average:
        beta_2 = (config.adamax if config.training.rule == "adamax" else config.adam).betas[1]
        theta = jax.tree.map(lambda average: average / (1 - beta_2**t), average)  # θ̂_t
    return theta, jnp.asarray(losses)  # losses: f_t(θ_{t−1}) for each update


def save_checkpoint(path: Path, state: tuple, epoch: int) -> None:
    """What it takes to go on with Algorithm 1 after `epoch` passes: parameters, moments, timestep, average, leaf by leaf."""
    np.savez(path, *jax.tree.leaves(state), epoch=epoch)


def restore_checkpoint(path: Path, state: tuple) -> tuple[int, tuple]:
    """The passes done and the state of Algorithm 1 that were saved; `state` gives the structure."""
    with np.load(path) as kept:
        leaves = [jnp.asarray(kept[f"arr_{at}"]) for at in range(len(jax.tree.leaves(state)))]
        return int(kept["epoch"]), jax.tree.unflatten(jax.tree.structure(state), leaves)  # each leaf in the shape it was saved with, (d,)


def plot_schedule(path: Path, updates: int, config: Config) -> None:
    """The schedule of §6.1 over a training of so many updates, as a picture."""
    from matplotlib import pyplot

    steps = jnp.asarray(range(1, updates + 1))  # t counts from 1, (updates,)
    figure, axes = pyplot.subplots()
    axes.plot(steps, learning_rate(steps, config))
    axes.set_xlabel("update t")
    axes.set_ylabel("stepsize")
    figure.savefig(path)
    pyplot.close(figure)


def main(path: str) -> None:
    """The runs of Algorithm 1, with the settings of the file at `path`."""
    config = load_config(path)
    root = Path(path).resolve().parent.parent
    x, y = mnist(root / "data" / "mnist.npz", config)
    theta, losses = train(x, y, config.training.seed, config, checkpoint=root / "checkpoint.npz")
    plot_schedule(root / "schedule.png", len(losses), config)
    print(f"updates: {len(losses)}, training negative log likelihood: {evaluate(theta['W'], theta['b'], x, y, config)}")


if __name__ == "__main__":
    main(sys.argv[1])
