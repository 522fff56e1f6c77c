"""The model of the paper (§4, Appendix A)."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from src.utils import Config


class DyT(nn.Module):
    r"""§4, Eq. 2

    §4, Eq. 2 — \mathrm{DyT}({\bm{x}}) = \bm{\gamma} * \tanh(\alpha{\bm{x}}) + \bm{\beta}

    Eq. 2 — "\mathrm{DyT}({\bm{x}}) = \bm{\gamma} * \tanh(\alpha{\bm{x}}) + \bm{\beta}"

    Algorithm 1 — "self.(@$\bm \alpha$@) = Parameter(ones(1) * init_(@$\bm \alpha$@))"

    §4 — "$\bm{\gamma}$ and $\bm{\beta}$ are learnable, per-channel vector parameters, the same as those used in all
      normalization layers—they allow the output to scale back to any scales."

    §4 — "DyT is not a new type of normalization layer, as it operates on each input element from a tensor independently
      during a forward pass without computing statistics or other types of aggregations."

    §4 — "We always simply initialize $\bm{\gamma}$ to an all-one vector and $\bm{\beta}$ to an all-zero vector
      following normalization layers."

    [PARTIALLY_SPECIFIED] software: §4 — "See Algorithm 1 for implementation of DyT in Pytorch-like pseudocode."; open:
      the version
      Using: the torch of requirements.txt

    Takes x: (B, T, C).
    Gives out: (B, T, C).
    Axes: none: element-wise, gamma and beta along C.

    Why it is there: it does the two things that a normalisation does to activations, and computes no statistics for them.
    alpha brings the input as a whole into the range where tanh is nearly straight; tanh squashes what lies far out; gamma
    and beta give the scale back, as every output of tanh lies between -1 and 1. Without tanh nothing bounds the output,
    and by Table 8 training diverges; without a learnable alpha all layers share one range, and by Table 9 accuracy falls.
    """

    def __init__(self, C: int, alpha_0: float, affine: bool) -> None:
        super().__init__()
        # Algorithm 1 — "self.(@$\bm \alpha$@) = Parameter(ones(1) * init_(@$\bm \alpha$@))": one scalar for all channels
        self.alpha = nn.Parameter(torch.ones(1) * alpha_0)  # (1,)
        # §4 — "We always simply initialize $\bm{\gamma}$ to an all-one vector and $\bm{\beta}$ to an all-zero vector"
        self.gamma = nn.Parameter(torch.ones(C)) if affine else None  # (C,)
        self.beta = nn.Parameter(torch.zeros(C)) if affine else None  # (C,)

    def forward(self, x: Tensor) -> Tensor:
        # §4, Eq. 2 — gamma * tanh(alpha x) + beta, element by element
        x = torch.tanh(self.alpha * x)  # (B, T, C)
        if self.gamma is None:
            # §5 — "only replacing the normalizing transformation with the $\tanh(\alpha{\bm{x}})$ function"
            return x  # (B, T, C)
        return self.gamma * x + self.beta  # (B, T, C)


def replace_normalization(
    model: nn.Module, config: Config, in_attention: Callable[[str], bool] | None = None
) -> nn.Module:
    r"""§4

    §4 — "Integrating DyT layers into an existing architecture is straightforward: one DyT layer replaces one
      normalization layer (see Figure 1)."

    §5 — "In each experiment, we replace the LN or RMSNorm in the original architectures with DyT layers and follow the
      official open-source protocols to train and test both versions of the models."

    §4 — "This applies to normalization layers within attention blocks, FFN blocks, and the final normalization layer."

    §4 — "Other parts of the networks also remain intact."

    Appendix A — "For both wav2vec 2.0 models, we retain the first group normalization layer from the original
      architecture, as it functions primarily as data normalization to handle the unnormalized input data."

    §5 — "Note that in DiT, the LN layers’ affine parameters are used for class conditioning in DiT, and we keep them
      that way in our DyT experiments, only replacing the normalizing transformation with the $\tanh(\alpha{\bm{x}})$
      function."

    [ASSUMPTION] beta where the replaced normalisation has none: gamma and beta, whenever the replaced layer has a gain
      Reason: our choice: Algorithm 1 always makes both, and §4 says that they belong to the DyT layer; §2 writes a
      shift in Eq. 1 for RMSNorm too

    §7.2 — "We find that initializing $\alpha$ with higher values for DyT layers in attention blocks and lower values
      for DyT layers in other locations (i.e., within FFN blocks or before the final linear projection) improves
      performance."

    [UNSPECIFIED] how a program tells a normalisation in an attention block
      Using: a predicate on the name of the replaced module, given by the caller; without it every alpha starts at
      model.alpha_0
      Alternatives: a fixed list of names; a search for the module that uses the output

    [UNSPECIFIED] normalisation over more than the last axis
      Using: a ValueError
      Alternatives: gamma and beta of the whole normalised shape

    §4 — "Although DyT may look like or be considered an activation function, this study only uses it to replace
      normalization layers without altering any parts of the activation functions in the original architectures, such as
      GELU or ReLU."

    Takes model: (module).
    Gives model: (module).

    Why it is there: the paper has no network of its own. It takes one that works, puts a DyT where each normalisation was,
    and keeps the rest, so that any difference is the layer's. A normalisation that is left behind would go on dividing by
    statistics, and nobody would notice from the shapes.

    Takes in_attention as well: whether the module with this name stands in an attention block (language models), or None
    (all others). The model is changed in place; call this before it is moved to a device or cast.
    """
    size = config.model
    made: dict[nn.Module, DyT] = {}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        # §5 — "we replace the LN or RMSNorm in the original architectures with DyT layers"; a group normalisation stays
        if not isinstance(module, (nn.LayerNorm, nn.RMSNorm)):
            continue
        *others, C = module.normalized_shape
        if others:
            raise ValueError(f"{name}: normalises over {module.normalized_shape}, and the paper's DyT has one channel axis")
        if in_attention is None:
            alpha_0 = size.alpha_0
        else:
            # §7.2 — "higher values for DyT layers in attention blocks and lower values for DyT layers in other locations"
            alpha_0 = size.alpha_0_attention if in_attention(name) else size.alpha_0_other
        if module not in made:  # a layer that is used in two places stays one layer
            made[module] = DyT(C, alpha_0, affine=module.elementwise_affine)
        if not name:  # the model is a normalisation itself
            return made[module]
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, made[module])
    return model


class EmbeddingScalar(nn.Module):
    r"""Appendix A

    Appendix A — "In our implementation of LLaMA models [?, ?, ?] with DyT, we introduce an additional learnable scalar
      parameter immediately after the embedding layer, before any Transformer blocks."

    Appendix A — "We initialize it to the square root of the model embedding dimension $\sqrt{d}$."

    [ASSUMPTION] what the scalar does: it multiplies the embeddings, without a bias
      Reason: our choice: Appendix A speaks of scaling and of magnitudes that are too small, and compares it with the
      fixed scalar of the original Transformer; it calls this an addition of a scalar, in the sense of one more
      parameter

    Takes x: (B, T, C).
    Gives out: (B, T, C).

    Why it is there: an RMSNorm in the first block brings small embeddings to size one, whatever their size. tanh does not:
    near zero it passes them on as small as they came. Appendix A reports that training then struggles; the scalar starts
    where the original Transformer has a fixed factor, and may learn.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        # Appendix A — "We initialize it to the square root of the model embedding dimension $\sqrt{d}$."
        self.scale = nn.Parameter(torch.ones(1) * math.sqrt(config.model.C))  # (1,)

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * x  # (B, T, C)
