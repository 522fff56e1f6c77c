r"""Settings of the paper, read from configs/base.yaml.

Glossary (the paper's symbol, its place, its name here):
  x: $x$ of §1, input images, (batch, n_pixels)
  theta: $\theta$ of §1, parameters of the network, (parameters)
  theta_0: $\theta_0$ of §1, initial parameters, (parameters)
  sample_initialization: $D_\theta$ of §1, distribution of the initial parameters, Gaussian Glorot, (parameters)
  m: $m$ of §1, mask of zeros and ones on the parameters, (parameters)
  theta_0: $\theta'_0$ of §1, another draw of the initial parameters for a found mask, (parameters)
  theta_j: $\theta_j$ of §1, parameters after j iterations, (parameters)
  P_m: $P_m$ of §2, fraction of the weights that remain, scalar
  j: $j$ of §1, iteration of minimum validation loss; in the four steps of the experiment the length of training, scalar
  a: $a$ of §1, test accuracy at iteration j of the whole network, scalar
  j_ticket: $j'$ of §1, iteration of minimum validation loss of the subnetwork, scalar
  a_ticket: $a'$ of §1, test accuracy of the subnetwork at its iteration of minimum validation loss, scalar
  rates: $s$ of Appendix B, share pruned in one round, scalar
  warmup: $k$ of §4, iterations of warmup (§4); in Appendix G.4 the share pruned in one round, scalar
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class LenetConfig:
    """The section `lenet` of configs/base.yaml, where each value is cited or flagged."""

    hidden: list[int]
    n_classes: int
    learning_rate: float
    iterations: int
    n_pixels: int


@dataclass(frozen=True)
class Conv2Config:
    """The section `conv_2` of configs/base.yaml, where each value is cited or flagged."""

    modules: int
    conv_rate: float
    learning_rate: float
    iterations: int


@dataclass(frozen=True)
class Conv4Config:
    """The section `conv_4` of configs/base.yaml, where each value is cited or flagged."""

    modules: int
    conv_rate: float
    learning_rate: float
    iterations: int


@dataclass(frozen=True)
class Conv6Config:
    """The section `conv_6` of configs/base.yaml, where each value is cited or flagged."""

    modules: int
    conv_rate: float
    learning_rate: float
    iterations: int


@dataclass(frozen=True)
class ConvConfig:
    """The section `conv` of configs/base.yaml, where each value is cited or flagged."""

    widths: list[int]
    per_module: int
    hidden: list[int]
    n_classes: int
    kernel_size: int
    pool: int
    padding: int
    padding_mode: str
    stride: int
    image_size: int
    n_channels: int


@dataclass(frozen=True)
class NetworkConfig:
    """The section `network` of configs/base.yaml, where each value is cited or flagged."""

    activation: str
    bias: bool
    initial_bias: float


@dataclass(frozen=True)
class PruningConfig:
    """The section `pruning` of configs/base.yaml, where each value is cited or flagged."""

    fc_rate: float
    output_rate: float
    global_rate: float
    rounds: int


@dataclass(frozen=True)
class TrainingConfig:
    """The section `training` of configs/base.yaml, where each value is cited or flagged."""

    optimizer: str
    betas: list[float]
    epsilon: float
    weight_decay: float
    batch_size: int
    precision: str
    seed: int


@dataclass(frozen=True)
class ScheduleConfig:
    """The section `schedule` of configs/base.yaml, where each value is cited or flagged."""

    drops: list[int]
    factor: int
    warmup: int
    learning_rate: float


@dataclass(frozen=True)
class DataConfig:
    """The section `data` of configs/base.yaml, where each value is cited or flagged."""

    validation_examples: int
    drop_last: bool


@dataclass(frozen=True)
class EvaluationConfig:
    """The section `evaluation` of configs/base.yaml, where each value is cited or flagged."""

    interval: int


@dataclass(frozen=True)
class Config:
    """All of configs/base.yaml, where each value is cited or flagged."""

    lenet: LenetConfig
    conv_2: Conv2Config
    conv_4: Conv4Config
    conv_6: Conv6Config
    conv: ConvConfig
    network: NetworkConfig
    pruning: PruningConfig
    training: TrainingConfig
    schedule: ScheduleConfig
    data: DataConfig
    evaluation: EvaluationConfig


def build(kind: type, values: dict, name: str) -> typing.Any:
    """A settings class from its section of configs/base.yaml; a missing or an unknown key is an error."""
    hints = typing.get_type_hints(kind)
    if hints.keys() != values.keys():
        raise ValueError(f"{name}: expected the keys {sorted(hints)}, found {sorted(values)}")
    return kind(**{
        key: build(hint, values[key], f"{name}.{key}") if dataclasses.is_dataclass(hint) else values[key]
        for key, hint in hints.items()
    })


def load_config(path: str | Path) -> Config:
    """Every setting of a file such as configs/base.yaml, where each is cited or flagged."""
    return build(Config, yaml.safe_load(Path(path).read_text(encoding="utf-8")), "config")
