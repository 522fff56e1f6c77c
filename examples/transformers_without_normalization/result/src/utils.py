r"""Settings of the paper, read from configs/base.yaml.

Glossary (the paper's symbol, its place, its name here):
  x: ${\bm{x}}$ of §2, input tensor of the layer, (B, T, C)
  B: $B$ of §2, batch size, scalar
  T: $T$ of §2, number of tokens, scalar
  C: $C$ of §2, embedding dimension per token, scalar
  alpha: $\alpha$ of §4, learnable scalar that scales the input, (1,)
  gamma: $\bm\gamma$ of §4, learnable per-channel scale of the output, (C,)
  beta: $\bm\beta$ of §4, learnable per-channel shift of the output, (C,)
  alpha_0: $\alpha_0$ of §7, initial value of alpha, scalar
  C: $d$ of Appendix A, model embedding dimension of a LLaMA model; the same size as C, scalar
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

    alpha_0: float
    alpha_0_attention: float
    alpha_0_other: float
    C: int


@dataclass(frozen=True)
class Config:
    """All of configs/base.yaml, where each value is cited or flagged."""

    model: ModelConfig


def build(kind: type, values: dict, name: str) -> typing.Any:
    """A settings class from its section (Table 11); a missing or an unknown key is an error."""
    hints = typing.get_type_hints(kind)
    if hints.keys() != values.keys():
        raise ValueError(f"{name}: expected the keys {sorted(hints)}, found {sorted(values)}")
    return kind(**{
        key: build(hint, values[key], f"{name}.{key}") if dataclasses.is_dataclass(hint) else values[key]
        for key, hint in hints.items()
    })


def load_config(path: str | Path) -> Config:
    """Every setting, as stated in Table 11 or flagged in configs/base.yaml."""
    return build(Config, yaml.safe_load(Path(path).read_text(encoding="utf-8")), "config")
