"""The training of the paper (§4, Appendix G.1, §1, Appendix B)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from src.data import Examples, minibatches
from src.evaluate import Evaluation, cross_entropy, early_stopping, loss_and_accuracy
from src.model import Parameters, masked_forward, sample_initialization
from src.prune import Network, full_mask, prune_layerwise, remaining
from src.utils import Config


def learning_rate(iteration: int, config: Config) -> float:
    """§4

    §4 — "We train the network for 30,000 iterations with SGD with momentum (0.9), decreasing the learning rate by a
      factor of 10 at 20,000 and 25,000 iterations."

    [PARTIALLY_SPECIFIED] warm-up: §4 — "we explore the effect of linear learning rate warmup from 0 to the initial
      learning rate over k iterations"; open: whether the first iteration has rate 0 or 1/k of it
      Using: iteration i, counted from 0, has i/k of the rate; the first step moves nothing and iteration k has the
      whole rate
      Alternatives: (i + 1)/k, so that the first step already moves

    Takes iteration: int.
    Gives rate: scalar.
    """
    rate = config.schedule.learning_rate
    if iteration < config.schedule.warmup:
        # §4 — "linear learning rate warmup from 0 to the initial learning rate over k iterations"
        rate *= iteration / config.schedule.warmup
    for drop in config.schedule.drops:
        if iteration >= drop:
            rate /= config.schedule.factor
    return rate


@dataclass(frozen=True)
class Data:
    """The three sets of Appendix G.1, each images and labels."""

    train: Examples
    validation: Examples
    test: Examples


def train_network(
    model: nn.Module,
    theta: Parameters,
    m: Parameters,
    data: Data,
    network: Network,
    generator: torch.Generator,
    config: Config,
) -> tuple[Parameters, list[Evaluation]]:
    """Appendix G.1

    §1 — "When optimizing with SGD on the same training set (with m fixed), f reaches minimum validation loss l′ at
      iteration j′ with test accuracy a′."

    [FROM_OFFICIAL_CODE] optimiser at the start of a round: a new optimiser for each round, without moments of the last
      Reason: the paper speaks of weights alone; the official code makes the whole graph anew in each round
      Source:
      https://github.com/google-research/lottery-ticket-hypothesis/blob/1f17279d282e729ee29e80a2f750cfbffc4b8500/foundations/experiment.py#L53

    [UNSPECIFIED] rate of the Adam networks over time
      Using: constant: no warmup and no decrease for Lenet and Conv-2/4/6
      Reason: our choice: §4 names decreasing schedules as a technique of the deeper networks; of the others only one
      rate each is printed, and nothing says that it stays
      Alternatives: the decrease of §4

    Appendix G.1 — "On each iteration of the lottery ticket experiment, the network is trained for 50,000 training
      iterations regardless of when early-stopping occurs"

    [UNSPECIFIED] gradient-clipping
      Using: none
      Reason: our choice: the paper speaks of exploding gradients with SGD (Appendix H.3.1) and names no remedy
      Alternatives: clipping by global norm

    Appendix G.1 — "We evaluate validation and test performance every 100 iterations."

    [FROM_OFFICIAL_CODE] evaluation before training: the first evaluation is after 100 iterations, none at iteration 0
      Reason: the paper gives the interval alone; the official code counts iterations from 1 and evaluates where the
      interval divides them
      Source:
      https://github.com/google-research/lottery-ticket-hypothesis/blob/1f17279d282e729ee29e80a2f750cfbffc4b8500/foundations/trainer.py#L95

    [UNSPECIFIED] software
      Using: PyTorch
      Reason: our choice: the user asked for PyTorch; the paper names no framework
      Alternatives: TensorFlow, which the official code uses

    Takes model: object; theta: object; m: object; data: object; network: object; generator: object.
    Gives theta_j: object; history: object.
    """
    theta_j = {name: value.clone().requires_grad_() for name, value in theta.items()}
    # [PARTIALLY_SPECIFIED] Appendix G.1 — "we opt to use the Adam optimizer" — betas, epsilon and weight decay are not said.
    #   Using: those of configs/base.yaml
    assert config.training.optimizer == "adam"
    optimizer = torch.optim.Adam(
        theta_j.values(),
        lr=network.learning_rate,
        betas=tuple(config.training.betas),
        eps=config.training.epsilon,
        weight_decay=config.training.weight_decay,
    )
    history: list[Evaluation] = []
    iteration = 0
    while iteration < network.iterations:
        for x, y in minibatches(*data.train, generator, config):  # one epoch
            logits = masked_forward(model, theta_j, m, x)  # (batch, n_classes)
            loss = cross_entropy(logits, y).mean()  # () over the batch
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            iteration += 1
            if iteration % config.evaluation.interval == 0:
                validation_loss, validation_accuracy = loss_and_accuracy(model, theta_j, m, *data.validation, config)
                _, test_accuracy = loss_and_accuracy(model, theta_j, m, *data.test, config)
                history.append(Evaluation(iteration, validation_loss, validation_accuracy, test_accuracy))
            if iteration == network.iterations:
                break
    return {name: value.detach() for name, value in theta_j.items()}, history


@dataclass(frozen=True)
class Ticket:
    """f(x; m ⊙ θ_0) of one round and how it trained (§1)."""

    m: Parameters
    P_m: float
    j: int
    accuracy: float
    history: list[Evaluation]


def find_winning_tickets(
    model: nn.Module,
    data: Data,
    rates: dict[str, float],
    network: Network,
    config: Config,
) -> tuple[Parameters, list[Ticket]]:
    """§1, Appendix B

    §1 — "Prune p% of the parameters in θj, creating a mask m."

    §1 — "Reset the remaining parameters to their values in θ0, creating the winning ticket f(x; m⊙θ0)."

    Appendix B — "whereas Strategy 1 resets the network weights back to their initial values before retraining"

    [FROM_OFFICIAL_CODE] biases at the start of a round: set back to their initial value with the weights
      Reason: θ0 in §1 is all parameters; the official code makes the whole graph anew in each round, so biases start at
      zero again
      Source:
      https://github.com/google-research/lottery-ticket-hypothesis/blob/1f17279d282e729ee29e80a2f750cfbffc4b8500/foundations/experiment.py#L53

    §1 — "As described, this pruning approach is one-shot: the network is trained once, p% of weights are pruned, and
      the surviving weights are reset."

    Takes model: object; data: object; rates: object; network: object.
    Gives theta_0: object; found: object.
    """
    generator = torch.Generator().manual_seed(config.training.seed)
    rounds = config.pruning.rounds  # 1 is one-shot pruning
    # 1. §1 — "Randomly initialize a neural network f(x; θ0)"
    theta_0 = sample_initialization(model, generator, config)
    m = full_mask(model)
    found: list[Ticket] = []
    for pruned in range(rounds + 1):  # the first is the whole network, the last is trained and not pruned
        # 2. "Train the network for j iterations, arriving at parameters θj."  4. each time from θ_0, under the mask
        theta_j, history = train_network(model, theta_0, m, data, network, generator, config)
        j, accuracy = early_stopping(history)
        found.append(Ticket(m, remaining(m), j, accuracy, history))
        if pruned < rounds:
            m = prune_layerwise(m, theta_j, rates)  # 3. "Prune p% of the parameters in θj, creating a mask m."
    return theta_0, found
