"""Components of the paper (§2, Appendix B, §2, Appendix H.1, §2, Appendix G.1, §4, Appendix I.1, §1, Appendix E)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from src.model import Parameters
from src.utils import Config, Conv2Config, Conv4Config, Conv6Config, LenetConfig

Network = LenetConfig | Conv2Config | Conv4Config | Conv6Config  # the section of configs/base.yaml of one network


def remaining(m: Parameters) -> float:
    """§2

    §2 — "is the sparsity of mask m, e.g., Pm = 25% when 75% of weights are pruned."

    §2 — "A winning ticket comprising 51.3% of the weights from the original network (i.e., Pm = 51.3%) reaches higher
      test accuracy faster than the original network but slower than when Pm = 21.1%."

    Takes m: object.
    Gives P_m: scalar.
    Axes: sum over every entry of every layer's mask.
    """
    kept = sum(int(layer.sum()) for layer in m.values())  # ‖m‖_0
    return kept / sum(layer.numel() for layer in m.values())  # P_m = ‖m‖_0 / |θ|


def full_mask(model: nn.Module) -> Parameters:
    """Appendix B

    Appendix G.4 — "Since the output layer is so small (1,000 weights out of 266,000 for the overall Lenet
      architecture), we found that pruning it reaches a point of diminishing returns much earlier the other layers."

    [PARTIALLY_SPECIFIED] which parameters have a mask: §2 — "We use a simple layer-wise pruning heuristic: remove a
      percentage of the weights with the lowest magnitudes within each layer (as in Han et al. (2015))."; open: whether
      biases are weights here
      Using: weights alone; biases have no mask and do not count in P_m
      Alternatives: biases pruned with their layer

    Takes model: object.
    Gives m: object.
    """
    # Appendix B — "m = 1|θ| is a mask"
    return {name: torch.ones_like(parameter.detach()) for name, parameter in model.named_parameters() if parameter.ndim > 1}


def pruning_rates(m: Parameters, network: Network, config: Config) -> dict[str, float]:
    """§2, Appendix H.1

    Appendix G.1 — "with a pruning rate of 20% per iteration (10% for the output layer)"

    Takes m: object; network: object; config: object.
    Gives rates: object.
    """
    rates: dict[str, float] = {}
    for name, layer in m.items():
        if layer.ndim > 2:  # (out, in, height, width): a convolution
            rates[name] = network.conv_rate
        elif name == "output.weight":
            # Appendix H.1 — "The output layer is pruned at half of the rate of the fully-connected layers"
            rates[name] = config.pruning.output_rate
        else:
            rates[name] = config.pruning.fc_rate
    return rates


def smallest(magnitudes: Tensor, rate: float) -> Tensor:
    """§1 — "We identify a winning ticket by training a network and pruning its smallest-magnitude weights."

    [FROM_OFFICIAL_CODE] number of weights pruned: the rate times the surviving weights, rounded to the nearest whole number
      Reason: the official code rounds so, but prunes what is at or below that rank, one weight more; here exactly as many go
      Source: https://github.com/google-research/lottery-ticket-hypothesis/blob/1f17279d282e729ee29e80a2f750cfbffc4b8500/foundations/pruning.py#L44

    [UNSPECIFIED] equal magnitudes
      Using: the weight that comes first in the layer is pruned
      Alternatives: all equal ones are pruned, as the comparison of the official code does

    Takes magnitudes: (n,) of the surviving weights; gives (n,): 0 for the weights that are pruned, 1 for the others.
    """
    keep = torch.ones_like(magnitudes)  # (n,)
    order = torch.argsort(magnitudes, stable=True)  # (n,) int, smallest first
    keep[order[:round(rate * len(magnitudes))]] = 0
    return keep


def prune_layerwise(m: Parameters, theta: Parameters, rates: dict[str, float]) -> Parameters:
    """§2, Appendix G.1

    §2 — "remove a percentage of the weights with the lowest magnitudes within each layer"

    §1 — "% of the weights that survive the previous round"

    Takes m: object; theta: object; rates: object.
    Gives m_next: object.
    Axes: ranks the surviving weights within one layer.
    """
    m_next: Parameters = {}
    for name, layer in m.items():
        alive = layer > 0  # the shape of the layer
        m_next[name] = layer.clone()
        m_next[name][alive] = smallest(theta[name][alive].abs(), rates[name])  # (surviving,)
    return m_next


def prune_globally(m: Parameters, theta: Parameters, layers: list[str], config: Config) -> Parameters:
    """§4, Appendix I.1

    §4 — "we prune these deeper networks globally, removing the lowest-magnitude weights collectively across all
      convolutional layers"

    Appendix I.3 — "We do not prune the 2560 parameters used to downsample residual connections or the 640 parameters in
      the fully-connected output layer, as they comprise such a small portion of the overall network."

    Takes m: object; theta: object; layers: object; config: object.
    Gives m_next: object.
    Axes: ranks the surviving weights of all given layers together.
    """
    alive = {name: m[name] > 0 for name in layers}
    # one ranking "without regard for the specific layer" (Appendix I.1)
    magnitudes = torch.cat([theta[name][alive[name]].abs() for name in layers])  # (surviving in all layers,)
    kept = smallest(magnitudes, config.pruning.global_rate).split([int(alive[name].sum()) for name in layers])  # one (surviving,) a layer
    m_next = {name: layer.clone() for name, layer in m.items()}
    for at, name in enumerate(layers):
        m_next[name][alive[name]] = kept[at]
    return m_next


def random_mask(m: Parameters, generator: torch.Generator) -> Parameters:
    """§1, Appendix E

    [PARTIALLY_SPECIFIED] random sparse networks: Appendix E — "Random sparse subnetworks with the same number of
      parameters as those found via iterative pruning (green in Figure 14)."; open: whether the number agrees in each
      layer or only in all, and from which initialisation they start
      Using: the same number in each layer, places drawn without replacement
      Alternatives: the same number over all layers

    Takes m: object; generator: object.
    Gives m_random: object.
    """
    m_random: Parameters = {}
    for name, layer in m.items():
        order = torch.randperm(layer.numel(), generator=generator)  # (weights of the layer,) int
        m_random[name] = layer.flatten()[order].view_as(layer)  # (out, in) or (out, in, height, width)
    return m_random
