r"""Settings of the paper, read from configs/base.yaml.

Glossary (the paper's symbol, its place, its name here):
  Q: $Q$ of §2.2, queries of one head, (N, d)
  K: $K$ of §2.2, keys of one head, (N, d)
  V: $V$ of §2.2, values of one head, (N, d)
  O: $O$ of §2.2, attention output, (N, d)
  N: $N$ of §2.2, sequence length, scalar
  d: $d$ of §2.2, head dimension, scalar
  M: $M$ of §3.1, size of the on-chip SRAM (its unit is not said), scalar
  B_c: $B_c$ of §3.1, Algorithm 1, rows of a block of K and V, scalar
  B_r: $B_r$ of §3.1, Algorithm 1, rows of a block of Q and O, scalar
  T_c: $T_c$ of §3.1, Algorithm 1, number of blocks of K and V, scalar
  T_r: $T_r$ of §3.1, Algorithm 1, number of blocks of Q and O, scalar
  S: $S_{ij}$ of §3.1, Algorithm 1, scores of query block i against key block j, (B_r, B_c)
  m: $m$ of §3.1, Algorithm 1, running maximum of each row of scores, (N,)
  l: $\ell$ of §3.1, Algorithm 1, running sum of exponentials of each row, (N,)
  tau: $\tau$ of Appendix B.3, scaling of the scores, scalar
  D: $D_i$ of Appendix B.2, dot product of a row of dO with the same row of O, (B_r,)
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class AttentionConfig:
    """The section `attention` of configs/base.yaml, where each value is cited or flagged."""

    blocks_in_sram: int
    M: int
    precision: str


@dataclass(frozen=True)
class Config:
    """All of configs/base.yaml, where each value is cited or flagged."""

    attention: AttentionConfig


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
