"""knowledge/parameter_efficient_tuning.md: identity at the start, merging, gradients, counts."""

import numpy as np
import pytest
import torch
from knowledge.blocks import checks, close, differs
from torch import nn

FILE = "parameter_efficient_tuning"


@pytest.mark.parametrize("stabilised, scale", [(False, 2.0), (True, 4.0)])
@checks(FILE, "lora")
def test_lora(ns, stabilised, scale):
    base = nn.Linear(12, 16).double()
    x = torch.randn(5, 12, dtype=torch.float64)
    layer = ns["LoRALinear"](base, 4, 8.0, 0.0, stabilised)
    close(layer(x), base(x), 1e-12)
    close(layer.scale, scale, 0)
    layer(x).pow(2).sum().backward()
    assert base.weight.grad is None and float(layer.B.grad.abs().max()) > 0
    close(layer.A.grad, np.zeros((4, 12)), 1e-12)
    with torch.no_grad():
        layer.B.normal_()
    close(layer(x), x @ layer.merged().T + base.bias, 1e-9)
    close(layer(x) - base(x), scale * (x @ layer.A.T @ layer.B.T), 1e-9)
    close(sum(p.numel() for p in layer.parameters() if p.requires_grad), ns["lora_parameters"]([(12, 16)], 4), 0)


@checks(FILE, "lora")
def test_dropout_is_on_the_input_and_off_in_eval(ns):
    layer = ns["LoRALinear"](nn.Linear(64, 8), 4, 8.0, 0.5)
    with torch.no_grad():
        layer.B.normal_()
    x = torch.randn(3, 64)
    differs(layer(x), layer.train(False)(x), 1e-3)
    close(layer(x), x @ layer.merged().T + layer.base.bias, 1e-4)


def test_two_zero_factors_are_a_dead_point():
    A, B = torch.zeros(4, 12, requires_grad=True), torch.zeros(16, 4, requires_grad=True)
    x = torch.randn(5, 12)
    (x @ A.T @ B.T).sum().backward()
    close(A.grad.abs().sum() + B.grad.abs().sum(), 0.0, 0)


@checks(FILE, "dora")
def test_dora(ns):
    base, update = torch.randn(6, 4), torch.randn(6, 4)
    close(ns["dora_weight"](base, 0 * update, base.norm(dim=1)), base, 1e-6)
    out = ns["dora_weight"](base, update, torch.arange(1.0, 7.0))
    close(out.norm(dim=1), np.arange(1.0, 7.0), 1e-5)
    close(torch.nn.functional.cosine_similarity(out, base + update), np.ones(6), 1e-5)


@pytest.mark.parametrize("act", [nn.GELU(), nn.ReLU()])
@checks(FILE, "adapter")
def test_adapter(ns, act):
    adapter, x = ns["Adapter"](8, 2, act), torch.randn(3, 8)
    close(adapter(x), x, 0)
    nn.init.normal_(adapter.up.weight)
    close(adapter(x), x + act(x @ adapter.down.weight.T + adapter.down.bias) @ adapter.up.weight.T, 1e-5)
    close(sum(p.numel() for p in adapter.parameters()), 2 * 8 * 2 + 8 + 2, 0)


@pytest.mark.parametrize("r, millions", [(1, 4.7), (8, 37.7)])
@checks(FILE, "count")
def test_counts_of_gpt3(ns, r, millions):
    close(ns["lora_parameters"]([(12288, 12288)] * (2 * 96), r) / 1e6, millions, 5e-3)
