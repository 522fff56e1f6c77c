r"""Settings of the paper, read from configs/base.yaml.

Glossary (the paper's symbol, its place, its name here):
  claim: $c$ of §4, a claim, text
  corpus: ${\mathcal{A}}$ of §4, corpus of abstracts, (abstracts,)
  sentence: $a_i$ of §5, sentence i of abstract a, text
  y: $y(c, a)$ of §4, gold label of a claim and an abstract, scalar int
  evidence: ${\mathcal{E}}(c)$ of §4, gold evidence abstracts of a claim, (abstracts,)
  rationales: ${\mathcal{R}}(c, a)$ of §4, set of gold rationales, each a set of sentence indices, (rationales,)
  selected: $\widehat{S}(c, a)$ of §4, predicted rationale sentences, (sentences,)
  z: $z_i$ of §5, 1 if sentence i is a rationale sentence, scalar
  scores: $\tilde{z}_i$ of §5, score of sentence i after the sigmoid, scalar
  input_ids: $w_i$ of §5, sentence SEP claim, (n,) int
  input_ids: $u$ of §5, rationale sentences SEP claim, (n,) int
  f: $f$ of §5, linear layer on the CLS encoding (one output for rationales, three for labels), (outputs, hidden)
  softmax: $\phi$ of §5, softmax over the three labels, (batch, 3)
  t: $t$ of §5, threshold on the score, scalar
  k: $k$ of §5, number of retrieved abstracts, int
  n_test: $n_{\textrm{test}}$ of Appendix B, claims in a resampled test set, int
  n_boot: $n_{\textrm{boot}}$ of Appendix B, number of resampled test sets, int
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

    encoder: str
    hidden: int
    labels: list[str]
    init_std: float
    init_bias: float
    bias: bool
    dropout: float


@dataclass(frozen=True)
class DataConfig:
    """The section `data` of configs/base.yaml, where each value is cited or flagged."""

    joiner: str
    max_length: int
    special_ids: list[int]
    separators: int
    noinfo_k: list[int]
    sentence_ngrams: list[int]
    release_labels: list[str]


@dataclass(frozen=True)
class EvaluationConfig:
    """The section `evaluation` of configs/base.yaml, where each value is cited or flagged."""

    noinfo_k: int
    max_sentences: int
    empty: float
    n_boot: int
    std_correction: int


@dataclass(frozen=True)
class RetrievalConfig:
    """The section `retrieval` of configs/base.yaml, where each value is cited or flagged."""

    k: int
    ngrams: list[int]
    word_pattern: str


@dataclass(frozen=True)
class RationaleConfig:
    """The section `rationale` of configs/base.yaml, where each value is cited or flagged."""

    t_scifact: float
    t_fever: float
    t_snopes: float
    scifact_lr_base: float
    scifact_lr_linear: float
    fever_lr_base: float
    fever_lr_linear: float
    snopes_lr_base: float
    snopes_lr_linear: float
    fever_scifact_lr_base: float
    fever_scifact_lr_linear: float


@dataclass(frozen=True)
class TrainingConfig:
    """The section `training` of configs/base.yaml, where each value is cited or flagged."""

    reduction: str
    betas: list[float]
    epsilon: float
    weight_decay: float
    batch_size: int
    micro_batch: int
    schedule_epochs: int
    warmup_epochs: int
    floor: float
    epochs_scifact: int
    epochs_fever: int
    epochs_snopes: int
    seed: int


@dataclass(frozen=True)
class LabelConfig:
    """The section `label` of configs/base.yaml, where each value is cited or flagged."""

    lr_base: float
    lr_linear: float


@dataclass(frozen=True)
class Config:
    """All of configs/base.yaml, where each value is cited or flagged."""

    model: ModelConfig
    data: DataConfig
    evaluation: EvaluationConfig
    retrieval: RetrievalConfig
    rationale: RationaleConfig
    training: TrainingConfig
    label: LabelConfig


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
