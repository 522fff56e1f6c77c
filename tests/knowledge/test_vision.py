"""knowledge/vision.md against convolutions, loops and hand-counted boxes."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from knowledge.blocks import checks, close, differs
from torch import nn

FILE = "vision"


@checks(FILE, "images")
def test_normalise(ns):
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    image = torch.randint(0, 256, (3, 8, 8), dtype=torch.uint8)
    close(ns["normalise"](image, mean, std)[1, 2, 3], (float(image[1, 2, 3]) / 255 - 0.456) / 0.224, 1e-5)
    assert ((image.float() - mean.view(3, 1, 1)) / std.view(3, 1, 1)).max() > 900


@pytest.mark.parametrize("C, H, W, p", [(3, 8, 12, 4), (1, 6, 6, 3)])
@checks(FILE, "images")
def test_patches(ns, C, H, W, p):
    image = torch.randn(2, C, H, W)
    out = ns["patches"](image, p)
    close(out[1, 1], image[1, :, :p, p:2 * p].permute(1, 2, 0).reshape(-1), 0)
    conv = nn.Conv2d(C, 5, p, stride=p)
    weight = conv.weight.permute(0, 2, 3, 1).reshape(5, -1)
    close(out @ weight.T + conv.bias, conv(image).flatten(2).transpose(1, 2), 1e-5)


@checks(FILE, "residual")
def test_stochastic_depth(ns):
    torch.manual_seed(0)
    out = ns["stochastic_depth"](torch.ones(20_000, 2, 3, 3), 0.2, True)
    close(out.flatten(1).std(1).max(), 0.0, 0)
    close([out.mean(), out.max()], [1.0, 1.25], 0.02)
    close(ns["stochastic_depth"](torch.ones(4, 2), 0.2, False), np.ones((4, 2)), 0)
    assert F.dropout(torch.ones(2000, 36), 0.2).std(1).min() > 0


@pytest.mark.parametrize("size, kernel, stride, padding, dilation", [
    (8, 3, 1, 1, 1), (8, 4, 1, 2, 1), (8, 3, 1, 1, 2), (224, 7, 2, 3, 1), (9, 3, 2, 0, 1)])
@checks(FILE, "residual")
def test_conv_output(ns, size, kernel, stride, padding, dilation):
    out = nn.Conv2d(1, 1, kernel, stride, padding, dilation)(torch.zeros(1, 1, size, size))
    close(ns["conv_output"](size, kernel, stride, padding, dilation), out.shape[-1], 0)


@pytest.mark.parametrize("lam", [0.0, 0.3, 1.0])
@checks(FILE, "mixing")
def test_mix_up(ns, lam):
    logits, labels = torch.randn(4, 5, dtype=torch.float64), torch.tensor([0, 1, 2, 3])
    order = torch.tensor([2, 0, 3, 1])
    x, y = ns["mix_up"](torch.eye(4), F.one_hot(labels, 5).double(), order, lam)
    close(x[0], [lam, 0, 1 - lam, 0], 1e-6)
    close(F.cross_entropy(logits, y), lam * F.cross_entropy(logits, labels) + (1 - lam) * F.cross_entropy(logits, labels[order]), 1e-9)


@pytest.mark.parametrize("cy, cx", [(16, 16), (0, 0), (31, 5)])
@checks(FILE, "mixing")
def test_cut_mix(ns, cy, cx):
    y0, y1, x0, x1, lam = ns["cut_mix_box"](32, 32, 0.75, cy, cx)
    mask = np.zeros((32, 32))
    mask[y0:y1, x0:x1] = 1
    close(lam, 1 - mask.mean(), 1e-12)
    if (cy, cx) == (16, 16):
        close(lam, 0.75, 1e-9)
    else:
        assert lam > 0.75


@checks(FILE, "boxes")
def test_boxes(ns):
    corners = torch.tensor([[10.0, 20.0, 30.0, 60.0]])
    for form, box in (("cxcywh", [20.0, 40.0, 20.0, 40.0]), ("xywh", [10.0, 20.0, 20.0, 40.0]), ("xyxy", [10.0, 20.0, 30.0, 60.0])):
        close(ns["to_corners"](torch.tensor([box]), form), corners, 0)
    close(ns["iou"](corners, corners), [[1.0]], 0)
    close(ns["iou"](torch.tensor([[0.0, 0, 1, 1]]), torch.tensor([[2.0, 2, 3, 3]])), [[0.0]], 0)
    close(ns["iou"](torch.tensor([[0.0, 0, 2, 2]]), torch.tensor([[1.0, 1, 3, 3]])), [[1 / 7]], 1e-6)
    close(ns["iou"](torch.tensor([[0.0, 0, 2, 2]]), torch.tensor([[1.0, 1, 3, 3]]), True), [[1 / 7 - 2 / 9]], 1e-6)
    close(ns["iou"](torch.tensor([[0.0, 0, 1, 1]]), torch.tensor([[99.0, 0, 100, 1]]), True), [[-0.98]], 1e-6)
    close(ns["iou"](corners, torch.tensor([[10.0, 20.0, 20.0, 40.0]])), [[0.25]], 1e-6)


@pytest.mark.parametrize("seed", range(3))
@checks(FILE, "boxes")
def test_iou_on_a_grid(ns, seed):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 10, (4, 2))
    boxes = np.concatenate((low, low + rng.integers(1, 10, (4, 2))), 1)
    masks = np.zeros((4, 20, 20), bool)
    for mask, (x0, y0, x1, y1) in zip(masks, boxes, strict=True):
        mask[y0:y1, x0:x1] = True
    expected = [[(a & b).sum() / (a | b).sum() for b in masks] for a in masks]
    close(ns["iou"](torch.tensor(boxes).float(), torch.tensor(boxes).float()), expected, 1e-6)


@checks(FILE, "boxes")
def test_nms(ns):
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 10, 5]])
    assert ns["nms"](boxes, torch.tensor([0.9, 0.95, 0.5, 0.1]), 0.5) == [1, 2, 3]
    assert ns["nms"](boxes, torch.tensor([0.9, 0.1, 0.5, 0.8]), 0.5) == [0, 3, 2]
    assert ns["nms"](boxes, torch.tensor([0.9, 0.1, 0.5, 0.8]), 0.49) == [0, 2]


def test_pipeline_pitfalls():
    ramp = torch.linspace(0, 1, 8).view(1, 1, 1, 8)
    differs(F.interpolate(ramp, size=(1, 4), mode="bilinear", align_corners=True), F.interpolate(ramp, size=(1, 4), mode="bilinear"), 0.02)
    noise = torch.rand(1, 1, 64, 64)
    plain, smooth = (F.interpolate(noise, size=(16, 16), mode="bilinear", antialias=a).std() for a in (False, True))
    assert plain > 1.5 * smooth
    close(nn.AvgPool2d(3, 1, 1)(torch.ones(1, 1, 4, 4))[0, 0, 0, 0], 4 / 9, 1e-6)
    x = torch.randn(64, 3, 8, 8)
    differs(torch.cat([nn.BatchNorm2d(3)(part) for part in x.chunk(8)]), nn.BatchNorm2d(3)(x), 0.1)
    assert math.isclose(256 / 224, 8 / 7)
