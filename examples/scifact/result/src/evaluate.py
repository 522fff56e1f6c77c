"""The evaluation of the paper (§4, §6.1, Appendix B)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from src.data import Claim, Prediction, noinfo
from src.utils import Config

Counts = tuple[int, int, int, int]  # correct by the looser and by the stricter measure, retrieved, relevant


def abstract_counts(gold: Claim, predicted: Mapping[int, Prediction], config: Config) -> Counts:
    r"""§4

    §4 — "is correctly labeled if (1) $a$ is a gold evidence abstract for $c$, and (2) The predicted label is correct:
      $\widehat{y}(c, a) = y(c, a)$."

    §4 — "It is correctly rationalized if, in addition, the predicted rationale sentences contain a gold rationale,
      i.e., there exists some gold rationale $R_i(c, a) \subseteq\widehat{S}(c, a)$."

    §4 — "SciFact limits to three predicted rationale sentences."

    [PARTIALLY_SPECIFIED] which three sentences count: §4 — "SciFact limits to three predicted rationale sentences.";
      open: which three of more than three: by position or by score
      Using: the first three as predicted, which is the order of the abstract
      Alternatives: the three with the highest scores

    [FROM_OFFICIAL_CODE] abstracts predicted as NoInfo: "not counted as predicted, with their sentences"
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/evaluate/lib/metrics.py#L64-L69

    Takes gold: object; predicted: object.
    Gives counts: object.
    """
    labeled = rationalized = retrieved = 0
    for doc, prediction in predicted.items():
        if prediction.label == noinfo(config):
            continue  # no predicted evidence abstract
        retrieved += 1
        if doc not in gold.evidence or prediction.label != gold.evidence[doc].label:
            continue
        labeled += 1
        first = frozenset(prediction.sentences[: config.evaluation.max_sentences])
        rationalized += any(R_i <= first for R_i in gold.evidence[doc].rationales)  # R_i(c, a) ⊆ Ŝ(c, a) for some i
    return labeled, rationalized, retrieved, len(gold.evidence)


def sentence_counts(gold: Claim, predicted: Mapping[int, Prediction], config: Config) -> Counts:
    r"""§4

    §3.3 — "Rationales in SciFact are mutually exclusive."

    §4 — "A predicted rationale sentence $\widehat{s}(c, a)$ is correctly selected if (1) It is a member of some gold
      rationale $R_i(c, a)$ and (2) All other sentences from the same gold rationale $R_i(c, a)$ are among the predicted
      $\widehat{S}(c, a)$."

    §4 — "It is correctly labeled if, in addition, the abstract $a$ is correctly labeled: $\widehat{y}(c, a) = y(c,
      a)$."

    §4 — "For sentence-level evaluation, we do not limit the number of predicted rationale sentences, since the
      evaluation penalizes models that over-predict."

    [FROM_OFFICIAL_CODE] denominator of the recall of sentences: "all sentences of all gold rationales"
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/evaluate/lib/metrics.py#L120-L122

    Takes gold: object; predicted: object.
    Gives counts: object.
    """
    selected = labeled = retrieved = relevant = 0
    for evidence in gold.evidence.values():
        if len(frozenset().union(*evidence.rationales)) != sum(len(R_i) for R_i in evidence.rationales):
            raise ValueError(f"claim {gold.id}: rationales that share a sentence, where they are mutually exclusive (§3.3)")
        relevant += sum(len(R_i) for R_i in evidence.rationales)
    for doc, prediction in predicted.items():
        if prediction.label == noinfo(config):
            continue
        S = frozenset(prediction.sentences)
        retrieved += len(S)
        if doc in gold.evidence:
            evidence = gold.evidence[doc]
            # a member of some R_i whose other sentences are all in Ŝ: all sentences of each R_i ⊆ Ŝ
            correct = sum(len(R_i) for R_i in evidence.rationales if R_i <= S)
            selected += correct
            labeled += correct if prediction.label == evidence.label else 0
    return selected, labeled, retrieved, relevant


def ratio(part: Tensor, whole: Tensor, config: Config) -> Tensor:
    """§4 — "the precision and recall": part / whole, of any equal shapes.

    [FROM_OFFICIAL_CODE] measures with an empty denominator: 0.0
      Source: https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/evaluate/lib/metrics.py#L17-L21
    """
    return torch.where(whole > 0, part / whole, config.evaluation.empty)  # (…,)


def precision_recall_f1(correct: Tensor | float, retrieved: Tensor | float, relevant: Tensor | float, config: Config) -> tuple[Tensor, Tensor, Tensor]:
    """§4

    [FROM_OFFICIAL_CODE] measures with an empty denominator: 0.0
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/evaluate/lib/metrics.py#L17-L21

    Takes correct: scalar; retrieved: scalar; relevant: scalar.
    Gives precision: scalar; recall: scalar; f1: scalar.
    """
    correct, retrieved, relevant = (torch.as_tensor(x, dtype=torch.float64) for x in (correct, retrieved, relevant))
    precision = ratio(correct, retrieved, config)
    recall = ratio(correct, relevant, config)
    product, total = precision * recall, precision + recall
    # [ASSUMPTION] §4 names "F1" and no formula: 2 P R / (P + R), the harmonic mean. Reason: the rows of Table 4 agree with it
    return precision, recall, ratio(2 * product, total, config)


def count_table(gold: Sequence[Claim], predicted: Sequence[Mapping[int, Prediction]], config: Config) -> Tensor:
    """The counts of §4 for each claim: four of sentences, then four of abstracts, (claims, 8)."""
    rows = [sentence_counts(c, p, config) + abstract_counts(c, p, config) for c, p in zip(gold, predicted, strict=True)]
    return torch.tensor(rows, dtype=torch.float64)


def scores_of(sums: Tensor, config: Config) -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    """The four measures of §4 from summed counts (…, 8): precision, recall and F1 of each, (…,)."""
    selected, labeled, sentences, gold_sentences, label_only, rationalized, abstracts, gold_abstracts = sums.unbind(-1)  # eight of (…,)
    return {
        "sentence selection-only": precision_recall_f1(selected, sentences, gold_sentences, config),
        "sentence selection+label": precision_recall_f1(labeled, sentences, gold_sentences, config),
        "abstract label-only": precision_recall_f1(label_only, abstracts, gold_abstracts, config),
        "abstract label+rationale": precision_recall_f1(rationalized, abstracts, gold_abstracts, config),
    }


def evaluate_task(gold: Sequence[Claim], predicted: Sequence[Mapping[int, Prediction]], config: Config) -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    """§4

    §4 — "Overall performance is measured by the micro-F1 of the precision and recall over the correctly-labeled and
      correctly-rationalized evidence abstracts."

    [PARTIALLY_SPECIFIED] metric-computation: §4 — "Overall performance is measured by the micro-F1 of the precision and
      recall"; open: over what the counts are summed when a claim has no gold and no predicted abstracts
      Using: such a claim adds nothing to any count
      Alternatives: a claim without evidence and without prediction scores 1

    §6.2 — "training on these data leads to relative improvements of 47% on open"

    Takes gold: object; predicted: object.
    Gives scores: object.
    Axes: counts are summed over claims before the division (micro).
    """
    return scores_of(count_table(gold, predicted, config).sum(0), config)  # micro: summed over claims, (claims, 8) → (8,)


def selection_scores(gold: Sequence[Claim], selected: Sequence[Mapping[int, Sequence[int]]], config: Config) -> tuple[Tensor, Tensor, Tensor]:
    """§6.1

    §6.1 — "The RationaleSelection module is evaluated on its ability to select rationale sentences given gold
      abstracts."

    Takes gold: object; selected: object.
    Gives scores: object.
    """
    # labels play no part: each gold abstract is given its gold label, so every selected sentence counts as predicted
    predicted = []
    for claim, sentences in zip(gold, selected):  # evaluate_task refuses a claim that is left over
        predicted.append({doc: Prediction(evidence.label, tuple(sentences.get(doc, ()))) for doc, evidence in claim.evidence.items()})
    return evaluate_task(gold, predicted, config)["sentence selection-only"]


def label_accuracy(y: Tensor, predicted: Tensor) -> float:
    """§6.1

    §6.1 — "The LabelPrediction module is evaluated on its 3-way label classification accuracy given gold rationales
      from cited abstracts."

    Takes y: (pairs,) int; predicted: (pairs,) int.
    Gives accuracy: scalar.
    Axes: mean over claim and cited abstract pairs.
    """
    assert y.shape == predicted.shape, (y.shape, predicted.shape)
    return float((y == predicted).double().mean())  # mean over the pairs, (pairs,) → ()


def bootstrap(gold: Sequence[Claim], predicted: Sequence[Mapping[int, Prediction]], generator: torch.Generator, config: Config) -> tuple[dict, dict]:
    r"""Appendix B

    Appendix B — "we generate $n_{\textrm{boot}} = 10,000$ bootstrap-resampled test sets by resampling (uniformly, with
      replacement) $n_{\textrm{test}}$ claims from the test set."

    Appendix B — "Given our test set with $n_{\textrm{test}} = 300$ claims"

    [UNSPECIFIED] divisor of the standard deviation
      Using: 0: the mean of the squares, without correction
      Reason: our choice: over so many samples the two differ in the fifth digit
      Alternatives: 1: with the correction

    Takes gold: object; predicted: object; seed: int.
    Gives mean: object; std: object.
    Axes: mean and standard deviation over the resampled test sets.
    """
    table = count_table(gold, predicted, config)  # (claims, 8)
    n_test = len(gold)  # Appendix B — "Given our test set with $n_{\textrm{test}} = 300$ claims"
    # one resampled test set at a time, uniformly and with replacement: (n_boot, 8)
    sums = torch.stack([table[torch.randint(n_test, (n_test,), generator=generator)].sum(0) for _ in range(config.evaluation.n_boot)])
    scores = {name: torch.stack(values) for name, values in scores_of(sums, config).items()}  # P, R, F1 of each: (3, n_boot)
    mean = {name: value.mean(-1) for name, value in scores.items()}  # (3,)
    std = {name: value.std(-1, correction=config.evaluation.std_correction) for name, value in scores.items()}  # (3,)
    return mean, std
