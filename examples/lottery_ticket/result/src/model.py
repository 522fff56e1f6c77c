"""The model of the paper (§2, Appendix H.1, §1, Appendix G.1)."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.func import functional_call

from src.utils import Config, Conv2Config, Conv4Config, Conv6Config

Parameters = dict[str, Tensor]  # θ, θ_0 and m: one tensor a name, as nn.Module.named_parameters names them


class Lenet(nn.Module):
    """§2

    Appendix G.1 — "This Section considers the fully-connected Lenet architecture (LeCun et al., 1998), which comprises
      two fully-connected hidden layers and a ten unit output layer, on the MNIST dataset."

    Takes x: (batch, n_pixels).
    Gives logits: (batch, n_classes).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        sizes = [config.lenet.n_pixels, *config.lenet.hidden]
        # Appendix G.1 — "two fully-connected hidden layers and a ten unit output layer"
        self.hidden = nn.ModuleList(nn.Linear(i, o, bias=config.network.bias) for i, o in pairwise(sizes))
        self.output = nn.Linear(sizes[-1], config.lenet.n_classes, bias=config.network.bias)
        # [FROM_OFFICIAL_CODE] activation of the hidden layers, none at the output
        #   Source: https://github.com/google-research/lottery-ticket-hypothesis/blob/1f17279d282e729ee29e80a2f750cfbffc4b8500/mnist_fc/constants.py#L27
        self.activation = getattr(nn.functional, config.network.activation)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.hidden:
            x = self.activation(layer(x))  # (batch, hidden)
        return self.output(x)  # (batch, n_classes)


class ConvNet(nn.Module):
    """Appendix H.1

    Conv-2, Conv-4 or Conv-6, by `network`: config.conv_2, config.conv_4 or config.conv_6.

    Takes x: (batch, n_channels, image_size, image_size).
    Gives logits: (batch, n_classes).
    """

    def __init__(self, network: Conv2Config | Conv4Config | Conv6Config, config: Config) -> None:
        super().__init__()
        conv = config.conv
        widths = conv.widths[:network.modules]
        channels = [conv.n_channels]
        for width in widths:
            # §3 — "max-pooling occurs after every two convolutional layers"
            channels += [width] * conv.per_module
        # [ASSUMPTION] convolutions of stride 1 keep the size of the image
        #   Reason: only so do Conv-2 and Conv-4 have the 4.3M and 2.4M weights of Figure 2
        self.convolutions = nn.ModuleList(
            nn.Conv2d(i, o, conv.kernel_size, stride=conv.stride, padding=conv.padding, padding_mode=conv.padding_mode, bias=config.network.bias)
            for i, o in pairwise(channels)
        )
        # Appendix H.1 — "followed by a maxpool layer with stride 2"
        self.pool = nn.MaxPool2d(conv.pool, stride=conv.pool)
        side = conv.image_size // conv.pool**network.modules
        sizes = [widths[-1] * side**2, *conv.hidden]
        # Appendix H.1 — "After all of the modules are two fully-connected layers of size 256 followed by an output layer of size 10"
        self.hidden = nn.ModuleList(nn.Linear(i, o, bias=config.network.bias) for i, o in pairwise(sizes))
        self.output = nn.Linear(sizes[-1], conv.n_classes, bias=config.network.bias)
        self.per_module = conv.per_module
        # [FROM_OFFICIAL_CODE] activation: that of Lenet; the official code has no convolutional network
        #   Source: https://github.com/google-research/lottery-ticket-hypothesis/blob/1f17279d282e729ee29e80a2f750cfbffc4b8500/mnist_fc/constants.py#L27
        self.activation = getattr(nn.functional, config.network.activation)

    def forward(self, x: Tensor) -> Tensor:
        for done, convolution in enumerate(self.convolutions, 1):
            x = self.activation(convolution(x))  # (batch, width, side, side)
            if done % self.per_module == 0:
                x = self.pool(x)  # (batch, width, side / pool, side / pool)
        x = x.flatten(1)  # (batch, width * side * side)
        for layer in self.hidden:
            x = self.activation(layer(x))  # (batch, hidden)
        return self.output(x)  # (batch, n_classes)


def masked_forward(model: nn.Module, theta: Parameters, m: Parameters, x: Tensor) -> Tensor:
    """§1

    §1 — "In addition, consider training f(x; m⊙θ) with a mask m ∈ {0, 1}|θ| on its parameters such that its
      initialization is m ⊙ θ0."

    Takes model: object; theta: object; m: object; x: (batch, n_pixels).
    Gives logits: (batch, n_classes).
    """
    # f(x; m ⊙ θ): a pruned weight counts as zero and gets no gradient, because ∂(m ⊙ θ)/∂θ = m; what has no mask is used as it is
    masked = {name: m[name] * value if name in m else value for name, value in theta.items()}  # shapes of θ
    return functional_call(model, masked, (x,))  # (batch, n_classes)


def sample_initialization(model: nn.Module, generator: torch.Generator, config: Config) -> Parameters:
    """Appendix G.1

    [PARTIALLY_SPECIFIED] initialisation: Figure 2 — "Initializations are Gaussian Glorot (Glorot & Bengio, 2010).";
      open: the standard deviation of the Gaussian, whether it is truncated, and what the fans of a convolution are
      Using: a normal distribution with variance 2 / (fan_in + fan_out), not truncated, each fan times the kernel's area
      in a convolution (torch.nn.init.xavier_normal_)
      Alternatives: the initializer that the official code names, xavier_initializer(uniform=False) of TensorFlow 1; the
      uniform distribution of the cited work

    §2 — "we retain the structure of a winning ticket (i.e., the mask m) but randomly sample a new initialization θ′ 0 ∼
      Dθ"

    Takes model: object; generator: object.
    Gives theta_0: object.
    """
    dtype = getattr(torch, config.training.precision)
    theta_0: Parameters = {}
    for name, parameter in model.named_parameters():
        shape = parameter.shape  # (out, in) or (out, in, height, width)
        if parameter.ndim > 1:
            area = math.prod(shape[2:])  # 1 in a fully-connected layer
            fan_in, fan_out = shape[1] * area, shape[0] * area
            std = math.sqrt(2 / (fan_in + fan_out))  # Glorot: variance 2 / (fan_in + fan_out)
            theta_0[name] = torch.randn(shape, generator=generator, dtype=dtype) * std  # shape of the weight
        else:
            # [FROM_OFFICIAL_CODE] biases start at zero
            #   Source: https://github.com/google-research/lottery-ticket-hypothesis/blob/1f17279d282e729ee29e80a2f750cfbffc4b8500/foundations/model_base.py#L120
            theta_0[name] = torch.full(shape, config.network.initial_bias, dtype=dtype)  # (out,)
    return theta_0
