"""The model of the paper (§3.1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from src.utils import Config


class GatedBlock(nn.Module):
    r"""§3.1, Eq. 1, Eq. 2

    §3.1, Eq. 1 — x_{\ell}^{\prime} = \operatorname{LN}(x_{\ell-1} + g_{\ell}(t)\,
      \operatorname{Attn}_\ell(x_{\ell-1})),

    §3.1, Eq. 2 — x_{\ell} = \operatorname{LN}(x_{\ell}^{\prime} + g_{\ell}(t)\,
      \operatorname{FFN}_\ell(x_{\ell}^{\prime})).

    [PARTIALLY_SPECIFIED] head-size: §4.2 — "blocks of width $d = 32$ with four heads"; open: the size of one head is
      not stated
      Using: d / H = 8, so that the heads together are as wide as the model
      Alternatives: a head size that is not d / H

    §3.1 — "Layer normalisation is applied after the residual addition, as in the original Transformer."

    §3.1 — "Dropout is applied to the output of each branch before it is multiplied by the gate."

    §3.1 — "each inside a residual connection whose branch is multiplied by the gate"

    §3.1 — "Both branches of a block share one gate."

    §3.1 — "Attention is multi-head scaled dot-product attention without a mask"

    [PARTIALLY_SPECIFIED] scale of the attention scores: §3.1 — "Attention is multi-head scaled dot-product attention
      without a mask"; open: the scale itself is not written
      Using: one over the square root of the head size, the default scale of scaled_dot_product_attention
      Alternatives: one over the square root of the width d

    Takes x: (batch, n, d); gate: scalar.
    Gives x: (batch, n, d).
    Axes: softmax over the keys; layer normalisation over d.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        d, bias = config.model.d, config.model.attention_bias
        self.H = config.model.H
        self.attention_dropout = config.model.attention_dropout
        # §3.1 — "its four projections have no bias terms"
        self.W_q = nn.Linear(d, d, bias=bias)
        self.W_k = nn.Linear(d, d, bias=bias)
        self.W_v = nn.Linear(d, d, bias=bias)
        self.W_o = nn.Linear(d, d, bias=bias)
        # §3.1 — "The feed-forward layer is": W_2 GELU(W_1 x + b_1) + b_2, so both of its layers have a bias
        self.W_1 = nn.Linear(d, config.model.d_ff, bias=True)
        self.gelu = nn.GELU(approximate=config.model.gelu_approximate)
        self.W_2 = nn.Linear(config.model.d_ff, d, bias=True)
        self.norm_attention = nn.LayerNorm(d, eps=config.model.norm_epsilon, elementwise_affine=config.model.norm_affine)
        self.norm_feed_forward = nn.LayerNorm(d, eps=config.model.norm_epsilon, elementwise_affine=config.model.norm_affine)
        self.dropout = nn.Dropout(p=config.model.dropout)

    def attention(self, x: Tensor) -> Tensor:
        """§3.1 — "multi-head scaled dot-product attention without a mask", its softmax over the keys."""
        batch, n, d = x.shape
        heads = (batch, n, self.H, d // self.H)
        q = self.W_q(x).view(heads).transpose(1, 2)  # (batch, H, n, d / H)
        k = self.W_k(x).view(heads).transpose(1, 2)  # (batch, H, n, d / H)
        v = self.W_v(x).view(heads).transpose(1, 2)  # (batch, H, n, d / H)
        rate = self.attention_dropout * self.training
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=rate, is_causal=False)  # (batch, H, n, d / H)
        return self.W_o(mixed.transpose(1, 2).reshape(batch, n, d))  # (batch, n, d)

    def feed_forward(self, x: Tensor) -> Tensor:
        """§3.1 — "with the GELU activation" after the first of its two linear layers."""
        return self.W_2(self.gelu(self.W_1(x)))  # (batch, n, d)

    def forward(self, x: Tensor, gate: Tensor) -> Tensor:
        # Eq. 1
        x = self.norm_attention(x + gate * self.dropout(self.attention(x)))  # (batch, n, d)
        # Eq. 2
        return self.norm_feed_forward(x + gate * self.dropout(self.feed_forward(x)))  # (batch, n, d)


class Sorter(nn.Module):
    """§3.1

    [UNSPECIFIED] initialisation
      Using: PyTorch's own initialisation of linear layers and embeddings
      Alternatives: Xavier uniform; normal with standard deviation 0.02

    §3.1 — "it is not tied to the token embedding"

    §3.1 — "Token embeddings and learned position embeddings are added"

    §B.2, Eq. B.2 — "With both embeddings and the output layer the model has"

    Takes tokens: (batch, n) int; gates: (L,).
    Gives z: (batch, n, V).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.token = nn.Embedding(config.data.V, config.model.d, padding_idx=None)
        self.position = nn.Parameter(torch.empty(config.data.n, config.model.d))
        # [PARTIALLY_SPECIFIED] initialisation of the position embeddings: §B.2 — "initialised with a small standard deviation";
        #   open: which. Using: normal, of model.position_std
        nn.init.normal_(self.position, std=config.model.position_std)
        self.blocks = nn.ModuleList(GatedBlock(config) for _ in range(config.model.L))
        # §3.1 — "A linear layer with bias maps"
        self.head = nn.Linear(config.model.d, config.data.V, bias=True)

    def forward(self, tokens: Tensor, gates: Tensor) -> Tensor:
        x = self.token(tokens) + self.position  # (batch, n, d)
        for block, gate in zip(self.blocks, gates, strict=True):
            x = block(x, gate)  # (batch, n, d)
        return self.head(x)  # (batch, n, V)
