r"""Settings of the paper, read from configs/base.yaml.

Glossary (the paper's symbol, its place, its name here):
  N: $N$ of §3.1, number of layers in the encoder and in the decoder, scalar
  d_model: $d_{\text{model}}$ of §3.1, size of the outputs of all sub-layers and embeddings, scalar
  Q: $Q$ of §3.2.1, queries packed into a matrix, (batch, n_q, d_model)
  K: $K$ of §3.2.1, keys packed into a matrix, (batch, n_k, d_model)
  V: $V$ of §3.2.1, values packed into a matrix, (batch, n_k, d_model)
  d_k: $d_k$ of §3.2.1, size of a query and of a key in one head, scalar
  d_v: $d_v$ of §3.2.1, size of a value in one head, scalar
  h: $h$ of §3.2.2, number of heads, scalar
  W_Q: $W^Q_i$ of §3.2.2, projection of the queries of head i, (d_model, d_k)
  W_K: $W^K_i$ of §3.2.2, projection of the keys of head i, (d_model, d_k)
  W_V: $W^V_i$ of §3.2.2, projection of the values of head i, (d_model, d_v)
  W_O: $W^O$ of §3.2.2, output projection over the concatenated heads, (h d_v, d_model)
  W_1: $W_1$ of §3.3, first linear transformation of the feed-forward network, (d_model, d_ff)
  W_2: $W_2$ of §3.3, second linear transformation of the feed-forward network, (d_ff, d_model)
  W_1.bias: $b_1$ of §3.3, bias of the first linear transformation, (d_ff,)
  W_2.bias: $b_2$ of §3.3, bias of the second linear transformation, (d_model,)
  d_ff: $d_{ff}$ of §3.3, inner size of the feed-forward network, scalar
  pos: $pos$ of §3.5, position in the sequence counted from 0 (the count is not stated), scalar
  i: $i$ of §3.5, index of a pair of dimensions of the positional encoding, scalar
  P_drop: $P_{drop}$ of §5.4, dropout rate, scalar
  step_num: $step\_num$ of §5.3, number of the training step, scalar
  warmup_steps: $warmup\_steps$ of §5.3, steps over which the rate rises, scalar
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

    N: int
    d_model: int
    h: int
    d_k: int
    d_v: int
    d_ff: int
    norm_affine: bool
    norm_epsilon: float
    bias_init: float
    P_drop: float
    attention_dropout: float
    attention_bias: bool
    V: int
    position_base: int


@dataclass(frozen=True)
class DataConfig:
    """The section `data` of configs/base.yaml, where each value is cited or flagged."""

    pad: int
    start: int
    end: int


@dataclass(frozen=True)
class TrainingConfig:
    """The section `training` of configs/base.yaml, where each value is cited or flagged."""

    warmup_steps: int


@dataclass(frozen=True)
class Config:
    """All of configs/base.yaml, where each value is cited or flagged."""

    model: ModelConfig
    data: DataConfig
    training: TrainingConfig


def build(kind: type, values: dict, name: str) -> typing.Any:
    """A settings class from its section (§3.2.2); a missing or an unknown key is an error."""
    hints = typing.get_type_hints(kind)
    if hints.keys() != values.keys():
        raise ValueError(f"{name}: expected the keys {sorted(hints)}, found {sorted(values)}")
    return kind(**{
        key: build(hint, values[key], f"{name}.{key}") if dataclasses.is_dataclass(hint) else values[key]
        for key, hint in hints.items()
    })


def load_config(path: str | Path) -> Config:
    """Every setting, as stated in §3.2.2 or flagged in configs/base.yaml."""
    return build(Config, yaml.safe_load(Path(path).read_text(encoding="utf-8")), "config")
