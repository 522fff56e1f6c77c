r"""Settings of the paper, read from configs/base.yaml.

Glossary (the paper's symbol, its place, its name here):
  x: $x_\ell$ of §3.1, state after a block, (batch, n, d)
  gate: $g_\ell(t)$ of §3.1, gate of block l at step t, scalar
  n: $n$ of §3.1, sequence length, scalar
  d: $d$ of §3.1, model width, scalar
  L: $L$ of §3.1, number of blocks, scalar
  H: $H$ of Table 3, attention heads, scalar
  d_ff: $d_{\mathrm{ff}}$ of Table 3, width inside the feed-forward layer, scalar
  V: $V$ of §4.1, number of digit values, scalar
  z: $z$ of §3.1, logits, (batch, n, V)
  y: $y$ of §3.3, targets, (batch, n)
  ramp: $r$ of §3.2, ramp in steps, scalar
  stagger: $s$ of §3.2, stagger in steps, scalar
  t: $t$ of §3.2, training step counted from 0, scalar
  T: $T$ of Table 3, number of training steps, scalar
  alpha: $\alpha$ of §3.3, label smoothing, scalar
  lambda_z: $\lambda$ of §3.3, weight of the z-loss, scalar
  eta_0: $\eta_0$ of §4.2, peak learning rate, scalar
  c: $c$ of Table 3, largest gradient norm, scalar
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

    L: int
    d: int
    H: int
    d_ff: int
    gelu_approximate: str
    norm_epsilon: float
    norm_affine: bool
    position_std: float
    dropout: float
    attention_bias: bool
    attention_dropout: float


@dataclass(frozen=True)
class DataConfig:
    """The section `data` of configs/base.yaml, where each value is cited or flagged."""

    V: int
    n: int


@dataclass(frozen=True)
class ScheduleConfig:
    """The section `schedule` of configs/base.yaml, where each value is cited or flagged."""

    ramp: int
    stagger: int


@dataclass(frozen=True)
class LossConfig:
    """The section `loss` of configs/base.yaml, where each value is cited or flagged."""

    alpha: float
    lambda_z: float


@dataclass(frozen=True)
class TrainingConfig:
    """The section `training` of configs/base.yaml, where each value is cited or flagged."""

    eta_0: float
    betas: list[float]
    epsilon: float
    weight_decay: float
    vector_decay: float
    T: int
    batch_size: int
    c: float
    precision: str
    seeds: list[int]


@dataclass(frozen=True)
class EvaluationConfig:
    """The section `evaluation` of configs/base.yaml, where each value is cited or flagged."""

    size: int
    seed: int


@dataclass(frozen=True)
class Config:
    """All of configs/base.yaml, where each value is cited or flagged."""

    model: ModelConfig
    data: DataConfig
    schedule: ScheduleConfig
    loss: LossConfig
    training: TrainingConfig
    evaluation: EvaluationConfig


def build(kind: type, values: dict, name: str) -> typing.Any:
    """A settings class from its section (§4.2); a missing or an unknown key is an error."""
    hints = typing.get_type_hints(kind)
    if hints.keys() != values.keys():
        raise ValueError(f"{name}: expected the keys {sorted(hints)}, found {sorted(values)}")
    return kind(**{
        key: build(hint, values[key], f"{name}.{key}") if dataclasses.is_dataclass(hint) else values[key]
        for key, hint in hints.items()
    })


def load_config(path: str | Path) -> Config:
    """Every setting, as stated in §4.2 or flagged in configs/base.yaml."""
    return build(Config, yaml.safe_load(Path(path).read_text(encoding="utf-8")), "config")
