"""Configuration shared by all modules: the values of configs/base.yaml, typed.

Every value is cited or flagged in configs/base.yaml, and nowhere else.
"""

from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class ModelConfig:
    """The network's sizes; their anchors are in configs/base.yaml."""

    n_blocks: int
    width: int
    n_heads: int
    d_ff: int
    dropout: float
    gelu_approximation: str
    norm_eps: float
    position_std: float


@dataclass(frozen=True)
class GateConfig:
    """The opening schedule's two numbers; their anchors are in configs/base.yaml."""

    ramp: int
    stagger: int


@dataclass(frozen=True)
class LossConfig:
    """The objective's two weights; their anchors are in configs/base.yaml."""

    smoothing: float
    z_weight: float


@dataclass(frozen=True)
class DataConfig:
    """The sorting task; its anchors are in configs/base.yaml."""

    vocabulary: int
    length: int
    test_size: int
    test_seed: int


@dataclass(frozen=True)
class TrainingConfig:
    """Optimiser and schedule; their anchors are in configs/base.yaml."""

    steps: int
    batch_size: int
    peak_rate: float
    betas: list[float]
    adam_eps: float
    weight_decay: float
    clip_norm: float
    dtype: str
    seeds: list[int]


@dataclass(frozen=True)
class Config:
    """All of configs/base.yaml."""

    model: ModelConfig
    gates: GateConfig
    loss: LossConfig
    data: DataConfig
    training: TrainingConfig


def load_config(path: Path) -> Config:
    """The configuration in a YAML file, every key of which must be known (settings of Appendix A and §4.2)."""
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Config(
        model=ModelConfig(**raw["model"]),
        gates=GateConfig(**raw["gates"]),
        loss=LossConfig(**raw["loss"]),
        data=DataConfig(**raw["data"]),
        training=TrainingConfig(**raw["training"]),
    )
