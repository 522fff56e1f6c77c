"""knowledge/training_recipes.md against torch.optim, optax, and the formulas step by step."""

import copy
import math

import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch
import torch.nn.functional as F
from knowledge.blocks import checks, close, differs
from torch import nn

FILE = "training_recipes"
DOUBLE = torch.float64
GRADIENTS = [torch.randn(5, generator=torch.Generator().manual_seed(i), dtype=DOUBLE) for i in range(20)]
START = torch.randn(5, generator=torch.Generator().manual_seed(99), dtype=DOUBLE)


def by_torch(make, rates=None, gradients=GRADIENTS):
    w = nn.Parameter(START.clone())
    optimiser = make([w])
    for at, g in enumerate(gradients):
        if rates is not None:
            optimiser.param_groups[0]["lr"] = rates[at]
        w.grad = g.clone()
        optimiser.step()
    return w.detach()


def by_hand(ns, gradients=GRADIENTS, lr=1e-3, b1=0.9, b2=0.999, eps=1e-8, **options):
    w, m, v = START.clone(), torch.zeros(5, dtype=DOUBLE), torch.zeros(5, dtype=DOUBLE)
    for t, g in enumerate(gradients, 1):
        w = ns["adam_step"](w, g, m, v, t, lr, b1, b2, eps, **options)
    return w


@pytest.mark.parametrize("lr", [1e-3, 0.1])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.9, 0.98)])
@pytest.mark.parametrize("eps", [1e-8, 1e-2])
@pytest.mark.parametrize("decay", [0.0, 0.1])
@checks(FILE, "adam")
def test_adam(ns, lr, betas, eps, decay):
    options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": decay}
    mine = {"lr": lr, "b1": betas[0], "b2": betas[1], "eps": eps, "decay": decay}
    close(by_hand(ns, **mine), by_torch(lambda w: torch.optim.Adam(w, **options)), 1e-9)
    close(by_hand(ns, **mine, decoupled=True), by_torch(lambda w: torch.optim.AdamW(w, **options)), 1e-9)


@pytest.mark.parametrize("make, mine", [
    (lambda: optax.adam(1e-3), {}), (lambda: optax.adamw(1e-3, weight_decay=0.1), {"decay": 0.1, "decoupled": True}),
    (lambda: optax.chain(optax.add_decayed_weights(0.1), optax.adam(1e-3)), {"decay": 0.1}),
])
@checks(FILE, "adam")
def test_adam_in_optax(ns, make, mine):
    optimiser = make()
    w = jnp.asarray(START.numpy(), dtype=jnp.float32)
    state = optimiser.init(w)
    for g in GRADIENTS:
        update, state = optimiser.update(jnp.asarray(g.numpy(), dtype=jnp.float32), state, w)
        w = optax.apply_updates(w, update)
    close(np.asarray(w), by_hand(ns, **mine), 1e-5)


@checks(FILE, "adam")
def test_variants_of_adam_are_others(ns):
    first = by_hand(ns, GRADIENTS[:1])
    uncorrected = START - 1e-3 * 0.1 * GRADIENTS[0] / ((0.001 * GRADIENTS[0] ** 2).sqrt() + 1e-8)
    close((uncorrected - START).abs() / (first - START).abs(), np.full(5, 0.1 / math.sqrt(0.001)), 1e-4)
    close(0.1 / math.sqrt(0.001), 3.16, 1e-2)
    eps, t = 1e-2, 1
    hat = START - 1e-3 * math.sqrt(1 - 0.999**t) / (1 - 0.9**t) * 0.1 * GRADIENTS[0] / ((0.001 * GRADIENTS[0] ** 2).sqrt() + eps)
    differs(hat, by_hand(ns, GRADIENTS[:1], eps=eps), 1e-5)
    defaults = torch.optim.Adam([nn.Parameter(START)]).defaults
    close([defaults["lr"], *defaults["betas"], defaults["eps"]], [1e-3, 0.9, 0.999, 1e-8], 0)
    close(torch.optim.AdamW([nn.Parameter(START)]).defaults["weight_decay"], 1e-2, 0)


@pytest.mark.parametrize("lr", [1e-1, 1e-3, 1e-5])
@checks(FILE, "adam")
def test_l2_inside_adam_is_weak_at_every_rate(ns, lr):
    big = [100 * g for g in (GRADIENTS * 15)]
    plain = by_hand(ns, big, lr=lr)
    inside = by_hand(ns, big, lr=lr, decay=0.1) - plain
    apart = by_hand(ns, big, lr=lr, decay=0.1, decoupled=True) - plain
    assert float(inside.abs().mean() / apart.abs().mean()) < 0.35


@checks(FILE, "momentum")
def test_momentum_forms(ns):
    def run(rates, inside):
        w, v = START.clone(), torch.zeros(5, dtype=DOUBLE)
        for g, lr in zip(GRADIENTS, rates, strict=True):
            w = ns["momentum_step"](w, g, v, lr, 0.9, inside)
        return w

    constant, falling = [0.1] * 20, [0.1] * 10 + [0.01] * 10
    for rates in (constant, falling):
        close(run(rates, False), by_torch(lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9), rates), 1e-10)
    close(run(constant, True), run(constant, False), 1e-10)
    differs(run(falling, True), run(falling, False), 1e-2)


@checks(FILE, "groups")
def test_decay_groups_partition(ns):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.norm1, self.rms = nn.Embedding(7, 4), nn.LayerNorm(4), nn.RMSNorm(4)
            self.rel_bias_proj, self.head = nn.Linear(4, 4), nn.Linear(4, 7, bias=False)
            self.head.weight = self.embed.weight
            self.frozen = nn.Linear(2, 2).requires_grad_(False)

    model = Model()
    decayed, kept = (group["params"] for group in ns["decay_groups"](model, 0.1))
    ids = [id(p) for p in (*decayed, *kept)]
    assert len(ids) == len(set(ids)) and set(ids) == {id(p) for p in model.parameters() if p.requires_grad}
    assert {id(p) for p in decayed} == {id(model.embed.weight), id(model.rel_bias_proj.weight)}
    by_name = [n for n, _ in model.named_parameters() if not any(part in n for part in ("bias", "LayerNorm.weight"))]
    assert "norm1.weight" in by_name and "rel_bias_proj.weight" not in by_name


@pytest.mark.parametrize("s, expected", [
    (0, 0.1), (9, 1.0), (10, 1.0), (60, 0.5), (109, 0.5 * (1 + math.cos(math.pi * 0.99))), (110, 0.0), (500, 0.0)])
@checks(FILE, "schedules")
def test_warmup_cosine_at_its_fence_posts(ns, s, expected):
    close(ns["warmup_cosine"](s, 10, 110), expected, 1e-12)
    close(ns["warmup_cosine"](s, 10, 110, floor=0.1), expected if s < 10 else 0.1 + 0.9 * expected, 1e-12)


@pytest.mark.parametrize("s", [10, 30, 60, 109, 110, 300])
@checks(FILE, "schedules")
def test_cosine_agrees_with_optax_and_torch(ns, s):
    close(ns["warmup_cosine"](s, 10, 110), float(optax.warmup_cosine_decay_schedule(0.0, 1.0, 10, 110)(s)), 1e-6)
    if s <= 110:
        w = nn.Parameter(torch.zeros(1))
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(torch.optim.SGD([w], lr=1.0), 100)
        for _ in range(s - 10):
            scheduler.optimizer.step()
            scheduler.step()
        close(ns["warmup_cosine"](s, 10, 110), scheduler.get_last_lr()[0], 1e-9)


@pytest.mark.parametrize("s, expected", [(0, 0.2), (4, 1.0), (5, 1.0), (30, 0.5), (54, 0.02), (55, 0.0), (90, 0.0)])
@checks(FILE, "schedules")
def test_warmup_linear(ns, s, expected):
    close(ns["warmup_linear"](s, 5, 55), expected, 1e-12)
    close(ns["warmup_linear"](s, 5, 5) if s < 5 else 0.0, (s + 1) / 5 if s < 5 else 0.0, 1e-12)


@checks(FILE, "schedules")
def test_noam(ns):
    rates = [ns["noam"](s, 512, 4000) for s in range(8000)]
    close(max(rates), 512**-0.5 * 4000**-0.5, 1e-12)
    close(max(rates), 6.99e-4, 1e-6)
    assert int(np.argmax(rates)) == 3999
    close(rates[0], 512**-0.5 * 4000**-1.5, 1e-15)
    close(rates[7999] / rates[3999], 0.5**0.5, 1e-9)
    optimiser = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda s: ns["noam"](s, 512, 4000))
    close(scheduler.get_last_lr()[0], 1e-3 * rates[0], 1e-15)


def test_what_schedules_do_wrong_without_a_clamp():
    unclamped = lambda s: 0.5 * (1 + math.cos(math.pi * (s - 10) / 100))  # noqa: E731
    close([unclamped(110), unclamped(160), unclamped(210)], [0.0, 0.5, 1.0], 1e-9)
    with pytest.raises(TypeError):
        torch.optim.lr_scheduler.ReduceLROnPlateau(torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)).step()


@pytest.mark.parametrize("sizes", [(5, 5), (8, 2), (1, 9), (3, 3, 4)])
@checks(FILE, "accumulation")
def test_accumulated_loss_is_the_whole_batchs(ns, sizes):
    x, y = torch.randn(10, 4, dtype=DOUBLE), torch.randn(10, 1, dtype=DOUBLE)
    w = torch.randn(4, 1, dtype=DOUBLE, requires_grad=True)
    parts = [(a @ w - b).pow(2) for a, b in zip(x.split(list(sizes)), y.split(list(sizes)), strict=True)]
    gradient, = torch.autograd.grad(ns["accumulated_loss"](parts), w)
    whole, = torch.autograd.grad(F.mse_loss(x @ w, y), w)
    close(gradient, whole, 1e-10)
    means, = torch.autograd.grad(sum((a @ w - b).pow(2).mean() for a, b in zip(x.split(list(sizes)), y.split(list(sizes)), strict=True))
                                 / len(sizes), w)
    if len(set(sizes)) > 1:
        differs(means, whole, 1e-3)


def test_forgetting_to_divide():
    four = [4 * g for g in GRADIENTS]
    adam = lambda w: torch.optim.Adam(w)  # noqa: E731
    close(by_torch(adam, gradients=four), by_torch(adam), 1e-6)
    sgd = lambda w: torch.optim.SGD(w, lr=0.1)  # noqa: E731
    close(by_torch(sgd, gradients=four) - START, 4 * (by_torch(sgd) - START), 1e-9)


@pytest.mark.parametrize("limit", [0.5, 1.0, 100.0])
@checks(FILE, "clipping")
def test_clip_global_norm(ns, limit):
    parts = [torch.randn(3, 2), torch.randn(4)]
    weights = [nn.Parameter(torch.zeros_like(g)) for g in parts]
    for w, g in zip(weights, parts, strict=True):
        w.grad = g.clone()
    torch.nn.utils.clip_grad_norm_(weights, limit)
    mine = ns["clip_global_norm"](parts, limit)
    theirs, _ = optax.clip_by_global_norm(limit).update([jnp.asarray(g.numpy()) for g in parts], optax.EmptyState())
    for a, b, c in zip(mine, weights, theirs, strict=True):
        close(a, b.grad, 1e-5)
        close(a, np.asarray(c), 1e-5)


def test_clipping_scaled_gradients():
    def update(unscale):
        torch.manual_seed(0)
        layer, x = nn.Linear(4, 1), torch.randn(8, 4)
        before = layer.weight.detach().clone()
        optimiser, scaler = torch.optim.SGD(layer.parameters(), lr=1.0), torch.amp.GradScaler("cpu", init_scale=2.0**16)
        scaler.scale((layer(x) * 10).pow(2).mean()).backward()
        if unscale:
            scaler.unscale_(optimiser)
        torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        scaler.step(optimiser)
        return float((layer.weight.detach() - before).norm())

    close(update(True) / update(False), 65536.0, 1e-2)


@checks(FILE, "ema")
def test_ema(ns):
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    ema = ns["EMA"](model, 0.9, ramp=False)
    slow = copy.deepcopy(model.state_dict())
    for step in range(5):
        with torch.no_grad():
            model[0].weight.add_(0.1 * (step + 1))
        model(torch.randn(16, 2) + 3)
        ema.update(model)
        slow["0.weight"] = 0.9 * slow["0.weight"] + 0.1 * model[0].weight.detach()
    close(ema.shadow["0.weight"], slow["0.weight"], 1e-6)
    close(ema.shadow["1.running_mean"], model[1].running_mean, 0)
    constant = ns["EMA"](model, 0.9999, ramp=True)
    for _ in range(10):
        constant.update(model)
    close(constant.shadow["0.weight"], model[0].weight, 1e-6)
    close(0.9999**1000, 0.905, 1e-3)
    frozen = torch.ones(1, dtype=torch.bfloat16)
    for _ in range(100):
        frozen.mul_(0.9999)
    close(frozen, [1.0], 0)


@checks(FILE, "ema")
def test_ema_ramp(ns):
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    ema = ns["EMA"](model, 0.999, ramp=True)
    nn.init.ones_(model.weight)
    ema.update(model)
    close(ema.shadow["weight"], [[1 - 2 / 11]], 1e-6)
