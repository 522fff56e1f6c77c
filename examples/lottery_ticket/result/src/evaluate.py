"""The evaluation of the paper (Appendix C, §1, Appendix C, §1)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from src.model import Parameters, masked_forward
from src.utils import Config


@dataclass(frozen=True)
class Evaluation:
    """One entry of a history, Appendix G.1 — "We evaluate validation and test performance every 100 iterations." """

    iteration: int
    validation_loss: float
    validation_accuracy: float
    test_accuracy: float


@torch.no_grad()
def loss_and_accuracy(model: nn.Module, theta: Parameters, m: Parameters, images: Tensor, labels: Tensor, config: Config) -> tuple[float, float]:
    """Appendix C

    [UNSPECIFIED] metric-computation
      Using: loss and accuracy are means over all examples of the set; the first of equal minima counts
      Reason: our choice: the paper says what is measured and not how it is summed; the sentences found say which set
      and when
      Alternatives: the last of equal minima; means of batch means

    Takes model: object; theta: object; m: object; images: (n, n_pixels); labels: (n,) int.
    Gives loss: scalar; accuracy: scalar.
    Axes: mean over the n examples; argmax over the classes.
    """
    loss = correct = 0
    for start in range(0, len(images), config.training.batch_size):
        y = labels[start:start + config.training.batch_size]  # (batch,)
        logits = masked_forward(model, theta, m, images[start:start + config.training.batch_size])  # (batch, n_classes)
        loss += float(cross_entropy(logits, y).sum())  # () over the batch
        correct += int((logits.argmax(1) == y).sum())
    return loss / len(images), correct / len(images)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Appendix C

    [FROM_OFFICIAL_CODE] loss: softmax cross-entropy of the logits, mean over the batch
      Reason: the paper speaks of validation loss and never says which; the official code takes the mean of
      softmax_cross_entropy_with_logits_v2
      Source:
      https://github.com/google-research/lottery-ticket-hypothesis/blob/1f17279d282e729ee29e80a2f750cfbffc4b8500/foundations/model_base.py#L133

    Takes logits: (batch, n_classes); labels: (batch,) int.
    Gives loss: (batch,).
    Axes: softmax over the classes.
    """
    log_p = logits.log_softmax(1)  # (batch, n_classes)
    return -log_p.gather(1, labels[:, None])[:, 0]  # (batch,): minus the logarithm of the label's probability


def early_stopping(history: list[Evaluation]) -> tuple[int, float]:
    """§1, Appendix C

    Appendix C — "The specific criterion we employ is the iteration of minimum validation loss."

    Appendix C — "Throughout this paper, in order to contextualize this learning speed, we also present the test
      accuracy of the network at the iteration of minimum validation loss."

    Takes history: object.
    Gives j: int; accuracy: scalar.
    Axes: argmin over the evaluations of one training run.
    """
    best = min(history, key=lambda evaluation: evaluation.validation_loss)  # the first of equal minima
    return best.iteration, best.test_accuracy


def is_winning_ticket(j: int, a: float, j_ticket: int, a_ticket: float, P_m: float) -> bool:
    """§1

    [PARTIALLY_SPECIFIED] definition of a winning ticket: §1 — "The lottery ticket hypothesis predicts that ∃ m for
      which j′ ≤ j (commensurate training time), a′ ≥ a (commensurate accuracy)"; open: how many fewer parameters: the
      sentence ends with a sign for much less
      Using: P_m below 1; both comparisons as printed, with equality allowed
      Alternatives: at most 10-20% of the weights, as the abstract says of the tickets found

    Takes j: int; a: scalar; j_ticket: int; a_ticket: scalar; P_m: scalar.
    Gives wins: bool.
    """
    return j_ticket <= j and a_ticket >= a and P_m < 1  # j′ ≤ j, a′ ≥ a, ‖m‖_0 < |θ|
