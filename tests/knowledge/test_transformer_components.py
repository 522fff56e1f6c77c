"""knowledge/transformer_components.md against torch.nn, torch.nn.functional, loops and closed forms."""

import math

import jax
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from knowledge.blocks import checks, close, differs
from torch import nn

FILE = "transformer_components"
DOUBLE = torch.float64


def randn(*shape, seed=0, dtype=DOUBLE):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize("n, m, d_k, d_v", [(5, 5, 8, 8), (3, 7, 4, 6), (1, 1, 2, 2), (4, 1, 3, 5)])
@checks(FILE, "attention")
def test_attention_is_the_loop_and_sdpa(ns, n, m, d_k, d_v):
    q, k, v = randn(2, n, d_k), randn(2, m, d_k, seed=1), randn(2, m, d_v, seed=2)
    slow = torch.zeros(2, n, d_v, dtype=DOUBLE)
    for b in range(2):
        for i in range(n):
            weights = [math.exp(float(q[b, i] @ k[b, j]) / math.sqrt(d_k)) for j in range(m)]
            for j in range(m):
                slow[b, i] += weights[j] / sum(weights) * v[b, j]
    close(ns["attention"](q, k, v), slow, 1e-10)
    close(ns["attention"](q, k, v), F.scaled_dot_product_attention(q, k, v), 1e-10)
    close(ns["attention"](q, k, torch.ones_like(v)), torch.ones(2, n, d_v), 1e-10)


@checks(FILE, "attention")
def test_attention_masks(ns):
    q, k, v = randn(1, 2, 6, 4), randn(1, 2, 6, 4, seed=1), randn(1, 2, 6, 4, seed=2)
    causal = torch.ones(6, 6, dtype=torch.bool).tril()
    out = ns["attention"](q, k, v, causal)
    close(out, F.scaled_dot_product_attention(q, k, v, is_causal=True), 1e-10)
    moved = v.clone()
    moved[..., 4, :] += 5
    close(ns["attention"](q, k, moved, causal)[..., :4, :], out[..., :4, :], 1e-12)
    differs(ns["attention"](q, k, moved, causal)[..., 4:, :], out[..., 4:, :], 0.1)


@checks(FILE, "attention")
def test_a_row_that_sees_nothing_is_zero_with_finite_gradients(ns):
    layer = ns["MultiHeadAttention"](8, 2, bias=True).double()
    mask = torch.ones(1, 1, 3, 3, dtype=torch.bool)
    mask[..., 1, :] = False
    out = layer(randn(2, 3, 8), mask=mask)
    out.sum().backward()
    close(out[:, 1], layer.W_o.bias.expand(2, 8), 1e-12)
    assert all(torch.isfinite(p.grad).all() for p in layer.parameters())
    # The additive −inf that the text warns of does give NaN gradients.
    weight = randn(4, 4).requires_grad_()
    scores = (randn(3, 4) @ weight) @ randn(4, 3) + torch.zeros(3, 3, dtype=DOUBLE).masked_fill(~mask[0, 0], -math.inf)
    scores.softmax(-1).nan_to_num().sum().backward()
    assert torch.isnan(weight.grad).any()


@checks(FILE, "attention")
def test_mask_after_softmax_leaks(ns):
    q, k, v = randn(1, 4), randn(3, 4), randn(3, 2)
    mask = torch.tensor([[1.0, 1.0, 0.0]], dtype=DOUBLE)
    wrong = lambda keys: ((q @ keys.T / 2).softmax(-1) * mask) @ v  # noqa: E731
    moved = k.clone()
    moved[2] += 3 * q[0]
    differs(wrong(moved), wrong(k), 0.05)
    close(ns["attention"](q, moved, v, mask.bool()), ns["attention"](q, k, v, mask.bool()), 1e-12)


@pytest.mark.parametrize("n_heads", [1, 2, 4])
@pytest.mark.parametrize("cross", [False, True])
@checks(FILE, "multi_head")
def test_multi_head_is_torchs(ns, n_heads, cross):
    ours, theirs = ns["MultiHeadAttention"](16, n_heads, bias=True).double(), nn.MultiheadAttention(16, n_heads, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([w.weight for w in (ours.W_q, ours.W_k, ours.W_v)]))
        theirs.in_proj_bias.copy_(torch.cat([w.bias for w in (ours.W_q, ours.W_k, ours.W_v)]))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
        theirs.out_proj.bias.copy_(ours.W_o.bias)
    x = randn(3, 5, 16)
    memory = randn(3, 7, 16, seed=4) if cross else x
    close(ours(x, memory), theirs(x, memory, memory)[0], 1e-10)
    blocked = torch.zeros(5, memory.shape[1], dtype=torch.bool)
    blocked[:, 2] = True
    close(ours(x, memory, ~blocked), theirs(x, memory, memory, attn_mask=blocked)[0], 1e-10)


@checks(FILE, "multi_head")
def test_multi_head_head_by_head_and_key_bias(ns):
    layer = ns["MultiHeadAttention"](12, 3, bias=True).double()
    x = randn(2, 4, 12)
    heads = [ns["attention"](*(x @ w.weight[i * 4:i * 4 + 4].T + w.bias[i * 4:i * 4 + 4] for w in (layer.W_q, layer.W_k, layer.W_v)))
             for i in range(3)]
    close(layer(x), torch.cat(heads, -1) @ layer.W_o.weight.T + layer.W_o.bias, 1e-10)
    layer(x).pow(2).sum().backward()
    close(layer.W_k.bias.grad, torch.zeros(12), 1e-10)
    ramp = torch.arange(2 * 4 * 12, dtype=DOUBLE).view(2, 4, 12)
    close(layer.split(ramp).transpose(1, 2).reshape(2, 4, 12), ramp, 0)


@pytest.mark.parametrize("position, i", [(0, 0), (1, 0), (7, 3), (49, 15)])
@checks(FILE, "sinusoids")
def test_sinusoids_entry_by_entry(ns, position, i):
    table = ns["sinusoids"](50, 32)
    angle = position / 10000 ** (2 * i / 32)
    close(table[position, 2 * i], math.sin(angle), 1e-5)
    close(table[position, 2 * i + 1], math.cos(angle), 1e-5)


@checks(FILE, "sinusoids")
def test_sinusoids_shift_is_linear(ns):
    table = ns["sinusoids"](20, 8).double()
    frequency = 1 / 10000 ** (2 / 8)
    turn = torch.tensor([[math.cos(3 * frequency), math.sin(3 * frequency)], [-math.sin(3 * frequency), math.cos(3 * frequency)]])
    close(table[5:15, 2:4] @ turn.double().T, table[8:18, 2:4], 1e-5)


@pytest.mark.parametrize("halves", [False, True])
@checks(FILE, "rotary")
def test_rotary_depends_on_differences_and_keeps_norms(ns, halves):
    q, k = randn(1, 8), randn(1, 8, seed=1)
    at = lambda x, p: ns["rotary"](x, torch.tensor([p]), halves=halves)  # noqa: E731
    for shift in (1, 10, 100):
        close(at(q, 3 + shift) @ at(k, 7 + shift).T, at(q, 3) @ at(k, 7).T, 1e-4)
    close(at(q, 11).norm(), q.norm(), 1e-6)
    close(at(q, 0), q, 1e-12)


@checks(FILE, "rotary")
def test_rotary_is_a_complex_turn_and_layouts_are_permutations(ns):
    x, positions = randn(6, 8), torch.arange(6)
    turn = torch.polar(torch.ones(6, 4, dtype=DOUBLE), positions[:, None].double() * 10000.0 ** (-torch.arange(0, 8, 2).double() / 8))
    close(ns["rotary"](x, positions), torch.view_as_real(torch.view_as_complex(x.view(6, 4, 2)) * turn).flatten(1), 1e-5)
    order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
    close(ns["rotary"](x[:, order], positions, halves=True), ns["rotary"](x, positions)[:, order], 1e-6)
    differs(ns["rotary"](x, positions, halves=True), ns["rotary"](x, positions), 0.5)


@pytest.mark.parametrize("n_heads, expected", [
    (8, [0.5, 0.25, 0.125]), (16, [2**-0.5, 0.5, 2**-1.5]),
    (12, [2 ** (-8 / 12), 2 ** (-16 / 12)]),
])
@checks(FILE, "alibi")
def test_alibi_slopes(ns, n_heads, expected):
    close(ns["alibi_slopes"](n_heads)[: len(expected)], expected, 1e-6)
    close(ns["alibi_slopes"](n_heads)[-1], 2.0**-8, 1e-7)


@checks(FILE, "alibi")
def test_alibi_bias(ns):
    bias = ns["alibi_bias"](4, 5)
    for head, slope in enumerate((0.25, 0.0625, 2.0**-6, 2.0**-8)):
        close(bias[head, 4, :], [-4 * slope, -3 * slope, -2 * slope, -slope, 0.0], 1e-7)
    assert (ns["alibi_bias"](4, 5, causal=False) <= 0).all()
    assert (bias > 0).any(), "without a causal mask future keys would gain"


@pytest.mark.parametrize("eps", [1e-5, 1e-6, 1e-12])
@checks(FILE, "norms")
def test_layer_norm_is_torchs_and_by_hand(ns, eps):
    x, gain, bias = randn(3, 7), randn(7, seed=1), randn(7, seed=2)
    close(ns["layer_norm"](x, gain, bias, eps), F.layer_norm(x, (7,), gain, bias, eps), 1e-10)
    close(ns["rms_norm"](x.float(), gain.float(), eps), F.rms_norm(x.float(), (7,), gain.float(), eps), 1e-5)


@checks(FILE, "norms")
def test_layer_norm_divisor_and_rms_in_half(ns):
    x = torch.tensor([1.0, 0, 0, 0], dtype=DOUBLE)
    one, zero = torch.ones(4, dtype=DOUBLE), torch.zeros(4, dtype=DOUBLE)
    close(ns["layer_norm"](x, one, zero, 0.0)[0], math.sqrt(3), 1e-10)
    close((x - x.mean())[0] / x.std(), 1.5, 1e-10)
    big = torch.full((4,), 300.0, dtype=torch.float16)
    close(ns["rms_norm"](big, torch.ones(4, dtype=torch.float16), 1e-6), np.ones(4), 1e-3)
    close(big * torch.rsqrt(big.pow(2).mean() + 1e-6), np.zeros(4), 0)
    close(nn.LayerNorm(2).eps, 1e-5, 0)
    assert nn.RMSNorm(2).eps is None


@checks(FILE, "blocks")
def test_blocks_are_torchs_encoder_layer(ns):
    class Attend(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return self.layer(x, x, x)[0]

    for pre in (False, True):
        theirs = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=pre).double()
        ffn = nn.Sequential(theirs.linear1, nn.ReLU(), theirs.linear2)
        first, second = (ns["Block"](8, f, 0.0, pre, 1e-5).double() for f in (Attend(theirs.self_attn), ffn))
        first.norm, second.norm = theirs.norm1, theirs.norm2
        x = randn(2, 5, 8)
        close(second(first(x)), theirs.train()(x), 1e-10)


@checks(FILE, "blocks")
def test_placement_shows_with_a_zero_sublayer(ns):
    class Zero(nn.Module):
        def forward(self, x):
            return 0 * x

    x = 3 + 5 * randn(4, 6, 32)
    post = ns["Block"](32, Zero(), 0.0, False, 1e-12).double()(x)
    close(post.var(-1, unbiased=False), torch.ones(4, 6), 1e-6)
    close(ns["Block"](32, Zero(), 0.0, True, 1e-12).double()(x), x, 1e-12)


@pytest.mark.parametrize("act, function", [(nn.ReLU(), F.relu), (nn.GELU(), F.gelu), (nn.SiLU(), F.silu)])
@checks(FILE, "feed_forward")
def test_feed_forward(ns, act, function):
    x = randn(2, 3, 4)
    layer = ns["FeedForward"](4, 6, act, gated=False, bias=True).double()
    close(layer(x), function(x @ layer.W1.weight.T + layer.W1.bias) @ layer.W2.weight.T + layer.W2.bias, 1e-10)
    gated = ns["FeedForward"](4, 6, act, gated=True, bias=False).double()
    close(gated(x), (function(x @ gated.W1.weight.T) * (x @ gated.V.weight.T)) @ gated.W2.weight.T, 1e-10)
    close(sum(p.numel() for p in gated.parameters()) / (2 * 4 * 6), 1.5, 0)


@checks(FILE, "gelu")
def test_gelu_forms(ns):
    x = torch.linspace(-6, 6, 2001, dtype=DOUBLE)
    close(ns["gelu_tanh"](x), F.gelu(x, approximate="tanh"), 1e-10)
    close(ns["gelu_tanh"](x.float()), np.asarray(jax.nn.gelu(x.numpy().astype(np.float32))), 1e-5)
    exact = x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    close(F.gelu(x), exact, 1e-10)
    close((F.gelu(x) - ns["gelu_tanh"](x)).abs().max(), 4.7e-4, 1e-5)


@checks(FILE, "count")
def test_transformer_parameters_is_what_torch_counts(ns):
    model = nn.Transformer(64, 4, 2, 2, 128, batch_first=True)
    # nn.Transformer has biases in attention and a final norm after each stack; the paper's matrices have neither.
    attention_biases, final_norms = (2 + 4) * 4 * 64, 2 * 2 * 64
    counted = sum(p.numel() for p in model.parameters()) - attention_biases - final_norms
    close(ns["transformer_parameters"](2, 64, 128, 0), counted, 0)
    close(ns["transformer_parameters"](6, 512, 2048, 37000) / 1e6, 63.06, 0.05)


def test_initial_loss_of_tied_embeddings():
    d, V = 256, 1000
    table, ids = randn(V, d), torch.arange(200)
    first = F.cross_entropy(table[ids] @ table[torch.randperm(V, generator=torch.Generator().manual_seed(1))].T, ids)
    assert first > 5 * math.log(V)
    small = table * d**-0.5
    x = F.layer_norm(randn(200, d, seed=3), (d,))
    close(F.cross_entropy(x @ small.T, ids), math.log(V) + 0.5, 0.15)
    close(nn.Embedding(2000, 64).weight.std(), 1.0, 0.02)
