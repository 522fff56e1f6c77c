"""knowledge/framework_counterparts.md: the defaults of the table, read from the libraries; ports and steps value for value."""

import inspect
import re

import flax.linen as fnn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch
import torch.nn.functional as F
from knowledge.blocks import ROOT, checks, close, differs
from torch import nn

FILE = "framework_counterparts"
KEY = jax.random.PRNGKey(0)


def test_defaults_of_the_table():
    close([nn.LayerNorm(2).eps, fnn.LayerNorm().epsilon, fnn.RMSNorm().epsilon], [1e-5, 1e-6, 1e-6], 0)
    assert nn.RMSNorm(2).eps is None
    close([nn.BatchNorm1d(2).momentum, fnn.BatchNorm(use_running_average=True).momentum], [0.1, 0.99], 0)
    close([inspect.signature(torch.optim.AdamW).parameters["weight_decay"].default,
           inspect.signature(optax.adamw).parameters["weight_decay"].default], [1e-2, 1e-4], 0)
    adam = inspect.signature(optax.adam).parameters
    close([adam["b1"].default, adam["b2"].default, adam["eps"].default, adam["eps_root"].default], [0.9, 0.999, 1e-8, 0.0], 0)
    assert F.cross_entropy(torch.zeros(1, 3), torch.tensor([-100]), reduction="sum") == 0


def test_initialisations():
    dense = fnn.Dense(300).init(KEY, jnp.ones((1, 400)))["params"]
    assert dense["kernel"].shape == (400, 300)
    close(np.var(dense["kernel"]) * 400, 1.0, 0.05)
    close(np.abs(dense["bias"]).sum(), 0.0, 0)
    close(np.var(fnn.Embed(1000, 300).init(KEY, jnp.zeros((1,), int))["params"]["embedding"]) * 300, 1.0, 0.05)
    close(nn.Embedding(1000, 300).weight.var(), 1.0, 0.05)


def test_statistics_and_types():
    x = np.arange(5.0, dtype=np.float32)
    close([torch.tensor(x).var(), np.var(x), float(jnp.var(x))], [2.5, 2.0, 2.0], 1e-6)
    assert torch.tensor([5.0]).std().isnan() and np.std([5.0]) == 0 and float(jnp.std(jnp.array([5.0]))) == 0
    assert np.zeros(1).dtype == np.float64 and torch.zeros(1).dtype == torch.float32
    if not jax.config.jax_enable_x64:
        assert jnp.array(np.zeros(1)).dtype == jnp.float32
    close([torch.tensor(2.5).round(), np.round(2.5), float(jnp.round(2.5))], [2.0, 2.0, 2.0], 0)
    close([int(torch.tensor(-7) // 2), np.int64(-7) // 2, int(jnp.array(-7) // 2)], [-4, -4, -4], 0)


def test_indices():
    close(float(jnp.arange(5.0)[10]), 4.0, 0)
    assert np.isnan(float(jnp.take(jnp.arange(5.0), 10)))
    close(float(jnp.zeros(3).at[10].set(1.0).sum()), 0.0, 0)
    for raising in (lambda: torch.arange(5.0)[10], lambda: np.arange(5.0)[10]):
        with pytest.raises(IndexError):
            raising()


def test_activations_and_masks():
    x = np.linspace(-3, 3, 50).astype(np.float32)
    close(np.asarray(jax.nn.gelu(x, approximate=False)), F.gelu(torch.tensor(x)), 1e-5)
    differs(np.asarray(jax.nn.gelu(x)), F.gelu(torch.tensor(x)), 1e-4)
    q, mask = torch.randn(1, 1, 4, 8), torch.ones(4, 4, dtype=torch.bool).tril()
    close(F.scaled_dot_product_attention(q, q, q, attn_mask=mask), F.scaled_dot_product_attention(q, q, q, is_causal=True), 1e-5)
    layer = nn.MultiheadAttention(8, 1, batch_first=True)
    x3 = torch.randn(1, 4, 8)
    moved = x3.clone()
    moved[:, 3] += 5
    close(layer(moved, moved, moved, attn_mask=~mask)[0][:, :3], layer(x3, x3, x3, attn_mask=~mask)[0][:, :3], 1e-5)
    xj = jnp.asarray(x3.numpy())
    attend = fnn.MultiHeadDotProductAttention(num_heads=1)
    params = attend.init(KEY, xj)
    causal = jnp.asarray(mask.numpy())[None, None]
    close(np.asarray(attend.apply(params, jnp.asarray(moved.numpy()), mask=causal))[:, :3],
          np.asarray(attend.apply(params, xj, mask=causal))[:, :3], 1e-5)


def test_batch_norm_variances():
    x = (np.random.default_rng(0).normal(size=(8, 3)) * 2 + 1).astype(np.float32)
    layer = fnn.BatchNorm(use_running_average=False, momentum=0.9)
    _, state = layer.apply(layer.init(KEY, x), x, mutable=["batch_stats"])
    close(np.asarray(state["batch_stats"]["var"]), 0.9 + 0.1 * x.var(0), 1e-5)
    mine = nn.BatchNorm1d(3)
    mine(torch.tensor(x))
    close(mine.running_var, 0.9 + 0.1 * x.var(0, ddof=1), 1e-5)


def test_convolution_padding_at_stride_two():
    x, w = torch.randn(1, 2, 8, 8), torch.randn(3, 2, 3, 3)
    theirs = jax.lax.conv_general_dilated(jnp.asarray(x.numpy()), jnp.asarray(w.numpy()), (2, 2), "SAME")
    close(F.conv2d(F.pad(x, (0, 1, 0, 1)), w, stride=2), np.asarray(theirs), 1e-4)
    assert F.conv2d(x, w, stride=2, padding=1).shape == theirs.shape
    differs(F.conv2d(x, w, stride=2, padding=1), np.asarray(theirs), 0.1)


@pytest.mark.parametrize("out, inner", [(5, 3), (1, 7)])
@checks(FILE, "port")
def test_ports(ns, out, inner):
    linear, x = nn.Linear(inner, out), torch.randn(2, inner)
    params = {"params": {"kernel": ns["dense_to_flax"](linear.weight.detach().numpy()), "bias": linear.bias.detach().numpy()}}
    close(linear(x), np.asarray(fnn.Dense(out).apply(params, jnp.asarray(x.numpy()))), 1e-5)
    conv, image = nn.Conv2d(inner, out, 3, padding=1), torch.randn(2, inner, 6, 5)
    params = {"params": {"kernel": ns["conv_to_flax"](conv.weight.detach().numpy()), "bias": conv.bias.detach().numpy()}}
    theirs = fnn.Conv(out, (3, 3), padding=1).apply(params, jnp.asarray(image.permute(0, 2, 3, 1).numpy()))
    close(conv(image).permute(0, 2, 3, 1), np.asarray(theirs), 1e-4)


@pytest.mark.parametrize("make, theirs", [
    (lambda: optax.sgd(0.1), lambda w: torch.optim.SGD([w], lr=0.1)),
    (lambda: optax.sgd(0.1, momentum=0.9), lambda w: torch.optim.SGD([w], lr=0.1, momentum=0.9)),
    (lambda: optax.adam(0.01), lambda w: torch.optim.Adam([w], lr=0.01)),
    (lambda: optax.adamw(0.01, weight_decay=0.1), lambda w: torch.optim.AdamW([w], lr=0.01, weight_decay=0.1)),
    (lambda: optax.rmsprop(0.01, decay=0.99, eps=1e-8, eps_in_sqrt=False), lambda w: torch.optim.RMSprop([w], lr=0.01)),
])
@checks(FILE, "jax_step")
def test_jax_step(ns, make, theirs):
    x, y = np.random.default_rng(0).normal(size=(16, 3)).astype(np.float32), np.ones(16, np.float32)
    optimiser = make()
    step = ns["make_step"](lambda w, batch, key: ((batch[0] @ w - batch[1]) ** 2).mean(), optimiser)
    w = jnp.array([0.5, -1.0, 2.0])
    state = optimiser.init(w)
    mine = nn.Parameter(torch.tensor([0.5, -1.0, 2.0]))
    other = theirs(mine)
    for _ in range(10):
        w, state, value = step(w, state, (x, y), KEY)
        other.zero_grad()
        loss = (torch.tensor(x) @ mine - torch.tensor(y)).pow(2).mean()
        loss.backward()
        close(float(value), loss, 1e-4)
        other.step()
    close(np.asarray(w), mine, 1e-4)


@checks(FILE, "central")
def test_central_difference(ns):
    x = np.random.default_rng(1).normal(size=(3, 2))
    close(ns["central_difference"](lambda v: np.sin(v).sum() + (v**3).sum(), x), np.cos(x) + 3 * x**2, 1e-7)
    a = np.random.default_rng(2).normal(size=(2, 2))
    t = torch.tensor(x, requires_grad=True)
    torch.logsumexp(t @ torch.tensor(a), -1).sum().backward()
    close(ns["central_difference"](lambda v: np.log(np.exp(v @ a).sum(-1)).sum(), x), t.grad, 1e-7)


def test_versions_named_are_those_tested():
    text = (ROOT / "knowledge" / f"{FILE}.md").read_text(encoding="utf-8")
    for name, module in (("PyTorch", torch), ("Optax", optax), ("NumPy", np)):
        named = re.search(rf"{name} (\d+)", text).group(1)
        assert module.__version__.split(".")[0] == named, f"the text names {name} {named}, tested with {module.__version__}"
