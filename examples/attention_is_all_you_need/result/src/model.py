"""The model of the paper (§3.1, §3.2.1, §3.2.2, §3.2.3, §3.3, §3.4, §3.5, §3)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from src.utils import Config


class EncoderLayer(nn.Module):
    r"""§3.1

    §3.1 — "The first is a multi-head self-attention mechanism, and the second is a simple, position-wise fully
      connected feed-forward network."

    §3.1 — "That is, the output of each sub-layer is $\mathrm{LayerNorm}(x + \mathrm{Sublayer}(x))$, where
      $\mathrm{Sublayer}(x)$ is the function implemented by the sub-layer itself."

    §5.4 — "Residual Dropout We apply dropout [33] to the output of each sub-layer, before it is added to the sub-layer
      input and normalized."

    §3.1 — "We employ a residual connection [11] around each of the two sub-layers, followed by layer normalization
      [1]."

    §3.2.3 — "In a self-attention layer all of the keys, values and queries come from the same place, in this case, the
      output of the previous layer in the encoder."

    Takes x: (batch, n, d_model); src_mask: (batch, 1, 1, n) bool.
    Gives out: (batch, n, d_model).
    Axes: layer normalisation over d_model.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        size = config.model
        self.self_attention = MultiHeadAttention(config)
        self.feed_forward = PositionwiseFeedForward(config)
        # §3.1 — "followed by layer normalization [1]": one for each sub-layer; gain, bias and epsilon are flagged in the config
        self.norm_1 = nn.LayerNorm(size.d_model, eps=size.norm_epsilon, elementwise_affine=size.norm_affine)
        self.norm_2 = nn.LayerNorm(size.d_model, eps=size.norm_epsilon, elementwise_affine=size.norm_affine)
        self.dropout = nn.Dropout(size.P_drop)

    def forward(self, x: Tensor, src_mask: Tensor | None = None) -> Tensor:
        # §3.1 — LayerNorm(x + Sublayer(x)), with dropout between Sublayer and the sum (§5.4)
        x = self.norm_1(x + self.dropout(self.self_attention(x, x, x, src_mask)))  # (batch, n, d_model)
        return self.norm_2(x + self.dropout(self.feed_forward(x)))  # (batch, n, d_model)


class DecoderLayer(nn.Module):
    """§3.1

    [PARTIALLY_SPECIFIED] order of the sub-layers of a decoder layer: §3.1 — "In addition to the two sub-layers in each
      encoder layer, the decoder inserts a third sub-layer, which performs multi-head attention over the output of the
      encoder stack."; open: the sentence does not say between which sub-layers the third one is inserted
      Using: masked self-attention, attention over the encoder's output, feed-forward network, as Figure 1 draws them
      Alternatives: the inserted sub-layer last

    §3.1 — "Similar to the encoder, we employ residual connections around each of the sub-layers, followed by layer
      normalization."

    [PARTIALLY_SPECIFIED] sources of queries, keys and values: §3.2.3 — "• In "encoder-decoder attention" layers, the
      queries come from the previous decoder layer, and the memory keys and values come from the output of the
      encoder."; open: read to the letter the queries are the output of the decoder layer before; §3.1 and Figure 1 give
      them the masked self-attention sub-layer of the same layer
      Using: the output of the self-attention sub-layer of the same decoder layer, "layer" read as "sub-layer"
      Alternatives: the input of the decoder layer, with self-attention and attention over the memory side by side

    Takes y: (batch, m, d_model); memory: (batch, n, d_model); tgt_mask: (batch, 1, m, m) bool; src_mask: (batch, 1, 1, n) bool.
    Gives out: (batch, m, d_model).
    Axes: layer normalisation over d_model.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        size = config.model
        self.self_attention = MultiHeadAttention(config)
        self.memory_attention = MultiHeadAttention(config)
        self.feed_forward = PositionwiseFeedForward(config)
        self.norm_1 = nn.LayerNorm(size.d_model, eps=size.norm_epsilon, elementwise_affine=size.norm_affine)
        self.norm_2 = nn.LayerNorm(size.d_model, eps=size.norm_epsilon, elementwise_affine=size.norm_affine)
        self.norm_3 = nn.LayerNorm(size.d_model, eps=size.norm_epsilon, elementwise_affine=size.norm_affine)
        self.dropout = nn.Dropout(size.P_drop)

    def forward(self, y: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, src_mask: Tensor | None = None) -> Tensor:
        # §3.1 — LayerNorm(x + Sublayer(x)) three times, with dropout between Sublayer and the sum (§5.4)
        # Masked self-attention: no position sees a later one (§3.1)
        y = self.norm_1(y + self.dropout(self.self_attention(y, y, y, tgt_mask)))  # (batch, m, d_model)
        # §3.2.3 — keys and values from the output of the encoder; queries from the sub-layer before, as Figure 1 draws them
        y = self.norm_2(y + self.dropout(self.memory_attention(y, memory, memory, src_mask)))  # (batch, m, d_model)
        return self.norm_3(y + self.dropout(self.feed_forward(y)))  # (batch, m, d_model)


def scaled_dot_product_attention(
    Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, dropout: nn.Dropout | None = None
) -> Tensor:
    r"""§3.2.1, Eq. 1

    §3.2.1, Eq. 1 — \mathrm{Attention}(Q, K, V) = \mathrm{softmax}(\frac{QK^T}{\sqrt{d_k}})V

    §3.2.1 — "We compute the dot products of the query with all keys, divide each by $\sqrt{d_k}$, and apply a softmax
      function to obtain the weights on the values."

    §3.2.3 — "We implement this inside of scaled dot-product attention by masking out (setting to $-\infty$) all values
      in the input of the softmax which correspond to illegal connections."

    Takes Q: (batch, h, n_q, d_k); K: (batch, h, n_k, d_k); V: (batch, h, n_k, d_v); mask: (batch, 1, n_q, n_k) bool.
    Gives out: (batch, h, n_q, d_v).
    Axes: softmax over the keys; sum over d_k in the dot products.
    """
    d_k = Q.shape[-1]
    assert K.shape[-1] == d_k, (Q.shape, K.shape)
    # Eq. 1 — QKᵀ/√d_k, summed over d_k
    scores = Q @ K.transpose(-2, -1) / math.sqrt(d_k)  # (batch, h, n_q, n_k)
    if mask is not None:  # Figure 2 draws the mask after the scale and before the softmax, and calls it optional
        scores = scores.masked_fill(~mask, -math.inf)  # (batch, h, n_q, n_k)
    # Eq. 1 — softmax over the keys
    weights = scores.softmax(dim=-1)  # (batch, h, n_q, n_k)
    if dropout is not None:  # flagged in the config: attention_dropout
        weights = dropout(weights)  # (batch, h, n_q, n_k)
    return weights @ V  # (batch, h, n_q, d_v)


class MultiHeadAttention(nn.Module):
    r"""§3.2.2

    §3.2.2 — "\mathrm{MultiHead}(Q, K, V) &= \mathrm{Concat}(\mathrm{head_1}, ..., \mathrm{head_h})W^O \\
      \text{where}~\mathrm{head_i} &= \mathrm{Attention}(QW^Q_i, KW^K_i, VW^V_i)"

    Takes Q: (batch, n_q, d_model); K: (batch, n_k, d_model); V: (batch, n_k, d_model); mask: (batch, 1, n_q, n_k) bool.
    Gives out: (batch, n_q, d_model).
    Axes: concatenation over the heads.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        size = config.model
        self.h, self.d_k, self.d_v = size.h, size.d_k, size.d_v
        # The h matrices W^Q_i of §3.2.2 side by side in one, the same for W^K_i and W^V_i; their bias is flagged in the config
        self.W_Q = nn.Linear(size.d_model, size.h * size.d_k, bias=size.attention_bias)
        self.W_K = nn.Linear(size.d_model, size.h * size.d_k, bias=size.attention_bias)
        self.W_V = nn.Linear(size.d_model, size.h * size.d_v, bias=size.attention_bias)
        # §3.2.2 — W^O has h·d_v rows and d_model columns
        self.W_O = nn.Linear(size.h * size.d_v, size.d_model, bias=size.attention_bias)
        self.dropout = nn.Dropout(size.attention_dropout)

    def forward(self, Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Tensor:
        assert K.shape == V.shape and Q.shape[0] == K.shape[0], (Q.shape, K.shape, V.shape)
        # §3.2.2 — QW^Q_i, KW^K_i and VW^V_i of every head at once
        q = self.W_Q(Q).unflatten(-1, (self.h, self.d_k)).transpose(1, 2)  # (batch, h, n_q, d_k)
        k = self.W_K(K).unflatten(-1, (self.h, self.d_k)).transpose(1, 2)  # (batch, h, n_k, d_k)
        v = self.W_V(V).unflatten(-1, (self.h, self.d_v)).transpose(1, 2)  # (batch, h, n_k, d_v)
        heads = scaled_dot_product_attention(q, k, v, mask, self.dropout)  # (batch, h, n_q, d_v)
        # §3.2.2 — Concat(head_1, …, head_h)W^O
        return self.W_O(heads.transpose(1, 2).flatten(2))  # (batch, n_q, d_model)


def padding_mask(tokens: Tensor, config: Config) -> Tensor:
    """§3.2.3

    [UNSPECIFIED] attention to padded positions
      Using: padded keys of the source are masked in the encoder and in the encoder-decoder attention; padded targets
      are behind every real one and need no mask beyond the causal one
      Alternatives: no mask of padding; a mask of padded target keys as well

    Takes tokens: (batch, n) int.
    Gives mask: (batch, 1, 1, n) bool.
    """
    return (tokens != config.data.pad)[:, None, None, :]  # (batch, 1, 1, n)


def subsequent_mask(m: int, device: torch.device | None = None) -> Tensor:
    """§3.2.3

    §3.2.3 — "• Similarly, self-attention layers in the decoder allow each position in the decoder to attend to all
      positions in the decoder up to and including that position."

    Takes m: int.
    Gives mask: (1, 1, m, m) bool.
    """
    return torch.ones(m, m, dtype=torch.bool, device=device).tril()[None, None]  # (1, 1, m, m)


class PositionwiseFeedForward(nn.Module):
    r"""§3.3, Eq. 2

    §3.3, Eq. 2 — \mathrm{FFN}(x)=\max(0, xW_1 + b_1) W_2 + b_2

    §3.3 — "This consists of two linear transformations with a ReLU activation in between."

    §3.3 — "While the linear transformations are the same across different positions, they use different parameters from
      layer to layer."

    [UNSPECIFIED] dropout inside the feed-forward network
      Using: none between the two linear transformations
      Alternatives: the same rate after the ReLU

    §3.3, Eq. 2 — "\mathrm{FFN}(x)=\max(0, xW_1 + b_1) W_2 + b_2"

    Takes x: (batch, n, d_model).
    Gives out: (batch, n, d_model).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        # Eq. 2 — both transformations have a bias, b_1 and b_2
        self.W_1 = nn.Linear(config.model.d_model, config.model.d_ff, bias=True)
        self.W_2 = nn.Linear(config.model.d_ff, config.model.d_model, bias=True)

    def forward(self, x: Tensor) -> Tensor:
        # Eq. 2 — max(0, xW_1 + b_1)W_2 + b_2
        inner = self.W_1(x).clamp(min=0)  # (batch, n, d_ff)
        return self.W_2(inner)  # (batch, n, d_model)


class TiedEmbedding(nn.Module):
    r"""§3.4

    [UNSPECIFIED] bias of the pre-softmax transformation
      Using: no bias, the shared matrix alone
      Alternatives: a bias of one number for each token of the vocabulary

    [PARTIALLY_SPECIFIED] weight-tying: §3.4 — "In our model, we share the same weight matrix between the two embedding
      layers and the pre-softmax linear transformation, similar to [30]."; open: that one matrix serves three times is
      clear; in what it is only similar to [30] is not
      Using: one matrix of the shared vocabulary for source, target and output
      Alternatives: separate matrices where the two vocabularies differ

    §3.4 — "In the embedding layers, we multiply those weights by $\sqrt{d_{\text{model}}}$."

    Takes tokens: (batch, n) int.
    Gives out: (batch, n, d_model).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.d_model = config.model.d_model
        self.weight = nn.Parameter(torch.empty(config.model.V, config.model.d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        # §3.4 — the weights times √d_model, in the embedding layers and not before the softmax
        return self.weight[tokens] * math.sqrt(self.d_model)  # (batch, n, d_model)

    def logits(self, y: Tensor) -> Tensor:
        """§3.4 — the "pre-softmax linear transformation" with the shared matrix. (batch, m, d_model) to (batch, m, V)."""
        return y @ self.weight.T  # (batch, m, V)


class PositionalEncoding(nn.Module):
    r"""§3.5

    §5.4 — "In addition, we apply dropout to the sums of the embeddings and the positional encodings in both the encoder
      and decoder stacks."

    [UNSPECIFIED] maximum-length
      Using: no limit; the encodings are computed for the length that comes in
      Alternatives: a table of encodings of fixed length; a limit on training sentences

    §3.5 — "To this end, we add "positional encodings" to the input embeddings at the bottoms of the encoder and decoder
      stacks."

    §3.5 — "PE_{(pos,2i+1)} = cos(pos / 10000^{2i/d_{\text{model}}})"

    [ASSUMPTION] meaning of i in the encoding: i counts pairs of dimensions from 0 to d_model/2 - 1
      Reason: our choice: §3.5 calls i the dimension, but the formulas have the dimensions 2i and 2i+1, and a sine and a
      cosine of one frequency are needed for its claim on fixed offsets

    [UNSPECIFIED] first position
      Using: positions are counted from 0
      Alternatives: from 1

    Takes x: (batch, n, d_model).
    Gives out: (batch, n, d_model).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        assert config.model.d_model % 2 == 0, "a sine and a cosine for every frequency"
        self.base = config.model.position_base
        self.dropout = nn.Dropout(config.model.P_drop)

    def forward(self, x: Tensor) -> Tensor:
        n, d_model = x.shape[1], x.shape[2]
        pos = torch.arange(n, device=x.device, dtype=torch.float32)[:, None]  # (n, 1)
        i = torch.arange(d_model // 2, device=x.device, dtype=torch.float32)  # (d_model/2,)
        # §3.5 — pos/10000^(2i/d_model)
        angle = pos / self.base ** (2 * i / d_model)  # (n, d_model/2)
        # §3.5 — sine in the dimensions 2i, cosine in the dimensions 2i+1
        PE = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)  # (n, d_model)
        return self.dropout(x + PE.to(x.dtype))  # (batch, n, d_model)


class Transformer(nn.Module):
    """§3

    §3.1 — "Decoder: The decoder is also composed of a stack of $N=6$ identical layers."

    [ASSUMPTION] normalisation after a whole stack: no further normalisation after the last layer of either stack
      Reason: our choice: §3.1 and Figure 1 show a normalisation after every sub-layer and nothing between the last
      layer and what uses its output

    Table 3 — "65" million parameters of the base model. Built with configs/base.yaml it has 63.0: see the notes, minimal claim.

    Takes src: (batch, n) int; tgt: (batch, m) int.
    Gives logits: (batch, m, V).
    Axes: softmax over the vocabulary is left to the loss and to decoding.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding(config)
        self.positions = PositionalEncoding(config)
        # §3.1 — N identical layers in each stack, each with parameters of its own
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.model.N))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.model.N))
        initialise(self, config)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        assert src.ndim == tgt.ndim == 2 and src.shape[0] == tgt.shape[0], (src.shape, tgt.shape)
        src_mask = padding_mask(src, self.config)  # (batch, 1, 1, n)
        tgt_mask = subsequent_mask(tgt.shape[1], tgt.device)  # (1, 1, m, m)
        assert src_mask.any(dim=-1).all(), "a source needs at least one token that is not padding"
        # Encoder (§3.1): from tokens to z
        memory = self.positions(self.embedding(src))  # (batch, n, d_model)
        for layer in self.encoder:
            memory = layer(memory, src_mask)  # (batch, n, d_model)
        # Decoder (§3.1): tgt is already offset by one position
        y = self.positions(self.embedding(tgt))  # (batch, m, d_model)
        for layer in self.decoder:
            y = layer(y, memory, tgt_mask, src_mask)  # (batch, m, d_model)
        return self.embedding.logits(y)  # (batch, m, V)


def initialise(model: nn.Module, config: Config) -> nn.Module:
    """§3

    [UNSPECIFIED] initialisation
      Using: Xavier uniform with gain 1 for every weight matrix of attention and feed-forward networks, all heads of a
      projection packed into one matrix
      Alternatives: PyTorch's own uniform initialisation of linear layers; normal with standard deviation 0.02

    [UNSPECIFIED] initialisation of the layer normalisation
      Using: gain 1 and bias 0, as torch.nn.LayerNorm starts
      Alternatives: a smaller gain

    [UNSPECIFIED] initialisation of the shared embedding
      Using: normal with mean 0 and standard deviation one over the root of d_model
      Alternatives: normal with standard deviation 1, the default of torch.nn.Embedding; Xavier uniform

    Takes model: (parameters).
    Gives model: (parameters).
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight, gain=1.0)
            if module.bias is not None:
                nn.init.constant_(module.bias, config.model.bias_init)
        elif isinstance(module, nn.LayerNorm) and module.elementwise_affine:
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, TiedEmbedding):
            nn.init.normal_(module.weight, mean=0.0, std=1 / math.sqrt(module.d_model))
    return model
