"""The gated post-norm Transformer of §3.1 and the opening schedule of §3.2.

Symbols: n is `length`, V `vocabulary`, d `width`, H `n_heads`, L `n_blocks`, r `ramp`, s `stagger`, t `step`, x_l `x`, z `logits`.
"""

import torch
from src.utils import DataConfig, GateConfig, ModelConfig
from torch import nn
from torch.nn import functional as F


def open_gates(step: int, n_blocks: int, config: GateConfig) -> torch.Tensor:
    """§3.2, Eq. 3 — g_l(t) = h(clip((t - (l - 1) s) / r, 0, 1))

    §3.2 — "Steps are counted from $t=0$, so the first block is closed at the first step and starts to open at once."
    Algorithm 1 has l s in place of (l - 1) s; the equation is followed, which agrees with Eq. 4 and Figure 2.
    Gives the gates of all blocks, (n_blocks,).
    """
    block = torch.arange(n_blocks)  # l - 1: (n_blocks,)
    # §3.2, Eq. 3 — clip((t - (l - 1) s) / r, 0, 1)
    u = ((step - block * config.stagger) / config.ramp).clamp(0, 1)  # (n_blocks,)
    # Algorithm 1 — g_l = 3u^2 - 2u^3
    return 3 * u**2 - 2 * u**3  # (n_blocks,)


class SelfAttention(nn.Module):
    """§3.1 — "Attention is multi-head scaled dot-product attention without a mask; its four projections have no bias terms."

    [PARTIALLY_SPECIFIED] §3.1 — "Attention is multi-head scaled dot-product attention without a mask" leaves the head size open.
    Using: width divided by the number of heads, so that Eq. B.1 counts the weights right.
    Alternatives: any other head size
    The scale is left to the default of the framework, 1 / sqrt(head size), which is what "scaled" means in §3.1.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        # §3.1 — "its four projections have no bias terms"
        self.queries = nn.Linear(config.width, config.width, bias=False)
        self.keys = nn.Linear(config.width, config.width, bias=False)
        self.values = nn.Linear(config.width, config.width, bias=False)
        self.out = nn.Linear(config.width, config.width, bias=False)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """§3.1 — "multi-head": (batch, length, width) -> (batch, n_heads, length, head)."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (batch, n_heads, length, head)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, length, width) -> (batch, length, width)."""
        q = self.split(self.queries(x))  # (batch, n_heads, length, head)
        k = self.split(self.keys(x))  # (batch, n_heads, length, head)
        v = self.split(self.values(x))  # (batch, n_heads, length, head)
        # §3.1 — "scaled dot-product attention without a mask": the mask and the scale are left to the framework's default
        mixed = F.scaled_dot_product_attention(q, k, v)  # (batch, n_heads, length, head)
        return self.out(mixed.transpose(1, 2).flatten(-2))  # (batch, length, width)


class FeedForward(nn.Module):
    """§3.1 — "with the GELU activation [5]": FFN(x) = W_2 GELU(W_1 x + b_1) + b_2."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        # Appendix B.1 — "two feed-forward matrices with biases"
        self.inner = nn.Linear(config.width, config.d_ff, bias=True)
        self.outer = nn.Linear(config.d_ff, config.width, bias=True)
        self.approximation = config.gelu_approximation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, length, width) -> (batch, length, width)."""
        hidden = F.gelu(self.inner(x), approximate=self.approximation)  # (batch, length, d_ff)
        return self.outer(hidden)  # (batch, length, width)


class GatedBlock(nn.Module):
    """§3.1 — "Both branches of a block share one gate."

    §3.1 — "Layer normalisation is applied after the residual addition, as in the original Transformer." Figure 1 draws it before
    the branch; the text and Eq. 1 and 2 are followed.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = SelfAttention(config)
        self.feed_forward = FeedForward(config)
        # Appendix B.1 — "two layer normalisations with gain and bias"
        self.attention_norm = nn.LayerNorm(config.width, eps=config.norm_eps, elementwise_affine=True)
        self.feed_forward_norm = nn.LayerNorm(config.width, eps=config.norm_eps, elementwise_affine=True)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        """§3.1 — "each inside a residual connection whose branch is multiplied by the gate"; (batch, length, width), scalar gate."""
        # §3.1 — "Dropout is applied to the output of each branch before it is multiplied by the gate."
        # §3.1, Eq. 1 — LN(x_{l-1} + g_l(t) Attn_l(x_{l-1}))
        x = self.attention_norm(x + gate * self.dropout(self.attention(x)))  # (batch, length, width)
        # §3.1, Eq. 2 — LN(x'_l + g_l(t) FFN_l(x'_l))
        return self.feed_forward_norm(x + gate * self.dropout(self.feed_forward(x)))  # (batch, length, width)


class Sorter(nn.Module):
    """§3.1 — "A linear layer with bias maps $x_{L}$ to the logits $z\\in\\mathbb{R}^{n\\times V}$; it is not tied to the token embedding."

    [UNSPECIFIED] The paper does not state the initialisation of the weights ("the standard initialisation", §3.1)
    Using: the framework's default for each layer
    Alternatives: Xavier uniform; normal with a standard deviation of 0.02
    """

    def __init__(self, model: ModelConfig, data: DataConfig) -> None:
        super().__init__()
        # §3.1 — "Token embeddings and learned position embeddings are added"; there is no padding, so padding_idx is left at its default
        self.token = nn.Embedding(data.vocabulary, model.width)
        # Appendix B.2 — "The position embeddings are initialised with a small standard deviation."
        self.position = nn.Parameter(torch.randn(data.length, model.width) * model.position_std)
        self.blocks = nn.ModuleList([GatedBlock(model) for _ in range(model.n_blocks)])
        self.head = nn.Linear(model.width, data.vocabulary, bias=True)

    def forward(self, tokens: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
        """§3.1 — "Block $\\ell=1,\\dots,L$ applies self-attention and a feed-forward layer": (batch, length) -> (batch, length, V)."""
        x = self.token(tokens) + self.position  # (batch, length, width)
        for block, gate in zip(self.blocks, gates, strict=True):
            x = block(x, gate)  # (batch, length, width)
        return self.head(x)  # (batch, length, vocabulary)
