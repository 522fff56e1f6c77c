r"""Settings of the paper, read from configs/base.yaml.

Glossary (the paper's symbol, its place, its name here):
  N: $N$ of §3.2, number of teacher steps, scalar
  M: $M$ of §3.2, number of student steps, scalar
  t: $\{t^N\}$ of §3.2, times of the teacher, t_0 = 0 is data and t_N is noise, (N + 1,)
  s: $\{s^M\}$ of §3.2, times of the student, a subset of those of the teacher, (M + 1,)
  x_T: $\bm{x_T}$ of §3.1, initial noise, (batch, dim)
  v: $\bm{v_\theta}$ of §3.1, direction of the step, here the velocity at its start, (batch, dim)
  D: $\bm{D_{\theta}}$ of Algorithm 1, denoising model that outputs the velocity, (batch, dim)
  x: $\bm{x}[j]$ of §3.3.1, state of the teacher at its time j, (dim,)
  z: $\bm{z}[i][j]$ of §3.3.1, student state after i steps that is nearest to the teacher's at j, (dim,)
  z_tmp: $\bm{z_{tmp}}$ of Algorithm 1, candidates for z at one end, (starts, dim)
  r: $r[j]$ of §3.3.1, teacher step from which the student state at j comes, (M + 1, N + 1) int
  R: $\bm{R}$ of Algorithm 1, teacher steps of the student found by going back through r, (M,) int
  S: $S_{95}-S_5$ of §3.4, quantile range of the teacher at one step, scalar
  spread: $x_{t,95}-x_{t,5}$ of §3.4, quantile range of the student at one step, (batch,)
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class SearchConfig:
    """The section `search` of configs/base.yaml, where each value is cited or flagged."""

    N: int
    M: int


@dataclass(frozen=True)
class CalibrationConfig:
    """The section `calibration` of configs/base.yaml, where each value is cited or flagged."""

    low: int
    high: int
    method: str


@dataclass(frozen=True)
class Config:
    """All of configs/base.yaml, where each value is cited or flagged."""

    search: SearchConfig
    calibration: CalibrationConfig


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
