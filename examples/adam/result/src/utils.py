r"""Settings of the paper, read from configs/base.yaml.

Glossary (the paper's symbol, its place, its name here):
  alpha: $\alpha$ of Algorithm 1, stepsize, scalar
  beta_1: $\beta_1$ of Algorithm 1, decay rate of the first moment, scalar
  beta_2: $\beta_2$ of Algorithm 1, decay rate of the second moment (Adam) or of the infinity norm (AdaMax), scalar
  epsilon: $\epsilon$ of Algorithm 1, constant added to the root of the second moment, scalar
  epsilon_hat: $\hat\epsilon$ of §2, the constant of the reordered computation, scalar
  theta: $\theta$ of §2, parameters, (d,)
  objective: $f_t$ of §2, objective at timestep t (a minibatch), scalar
  g: $g_t$ of §2, gradient of f_t at theta_(t-1), (d,)
  m: $m_t$ of Algorithm 1, biased first moment estimate, (d,)
  v: $v_t$ of Algorithm 1, biased second raw moment estimate, (d,)
  m_hat: $\hat m_t$ of Algorithm 1, bias-corrected first moment, (d,)
  v_hat: $\hat v_t$ of Algorithm 1, bias-corrected second moment, (d,)
  u: $u_t$ of Algorithm 2, exponentially weighted infinity norm, (d,)
  t: $t$ of Algorithm 1, timestep counted from 1, scalar int
  delta: $\Delta_t$ of §2.1, step in parameter space, (d,)
  alpha_t: $\alpha_t$ of §6.1, stepsize at t, scalar
  average: $\bar\theta_t$ of §7.2, moving average of the parameters, (d,)
  corrected: $\hat\theta_t$ of §7.2, bias-corrected average of the parameters, (d,)
  R: $R(T)$ of §4, regret, scalar
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class ModelConfig:
    """The section `model` of configs/base.yaml, where each value is cited or flagged."""

    initial_value: float
    bias: bool
    features: int
    classes: int


@dataclass(frozen=True)
class DataConfig:
    """The section `data` of configs/base.yaml, where each value is cited or flagged."""

    dropout: float
    vocabulary: int
    pixel_scale: float


@dataclass(frozen=True)
class AdamConfig:
    """The section `adam` of configs/base.yaml, where each value is cited or flagged."""

    epsilon_hat: float
    alpha: float
    betas: list[float]
    epsilon: float


@dataclass(frozen=True)
class AdamaxConfig:
    """The section `adamax` of configs/base.yaml, where each value is cited or flagged."""

    step_at_zero: float
    alpha: float
    betas: list[float]


@dataclass(frozen=True)
class TrainingConfig:
    """The section `training` of configs/base.yaml, where each value is cited or flagged."""

    rule: str
    epochs: int
    batch_size: int
    precision: str
    seed: int


@dataclass(frozen=True)
class LossConfig:
    """The section `loss` of configs/base.yaml, where each value is cited or flagged."""

    l2: float
    half: float


@dataclass(frozen=True)
class EvaluationConfig:
    """The section `evaluation` of configs/base.yaml, where each value is cited or flagged."""

    average: bool


@dataclass(frozen=True)
class Config:
    """All of configs/base.yaml, where each value is cited or flagged."""

    model: ModelConfig
    data: DataConfig
    adam: AdamConfig
    adamax: AdamaxConfig
    training: TrainingConfig
    loss: LossConfig
    evaluation: EvaluationConfig


def build(kind: type, values: dict, name: str) -> typing.Any:
    """A settings class from its section (§6.1); a missing or an unknown key is an error."""
    hints = typing.get_type_hints(kind)
    if hints.keys() != values.keys():
        raise ValueError(f"{name}: expected the keys {sorted(hints)}, found {sorted(values)}")
    return kind(**{
        key: build(hint, values[key], f"{name}.{key}") if dataclasses.is_dataclass(hint) else values[key]
        for key, hint in hints.items()
    })


def load_config(path: str | Path) -> Config:
    """Every setting, as stated in §6.1 or flagged in configs/base.yaml."""
    return build(Config, yaml.safe_load(Path(path).read_text(encoding="utf-8")), "config")
