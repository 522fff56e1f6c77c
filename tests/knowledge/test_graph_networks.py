"""knowledge/graph_networks.md against dense matrices and loops over nodes."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from knowledge.blocks import checks, close, differs

FILE = "graph_networks"
# A path 0-1-2, an isolated node 3, a pair 4-5; both directions.
EDGES = torch.tensor([[0, 1, 1, 2, 4, 5], [1, 0, 2, 1, 5, 4]])
N = 6


def dense(edges=EDGES):
    a = np.zeros((N, N))
    a[edges[1], edges[0]] = 1  # row: target
    return a


@checks(FILE, "aggregate")
def test_aggregation(ns):
    x = torch.randn(N, 3)
    close(ns["scatter_sum"](x[EDGES[0]], EDGES[1], N), dense() @ x.numpy(), 1e-5)
    directed = torch.tensor([[0, 1], [2, 2]])
    close(ns["scatter_sum"](x[directed[0]], directed[1], N)[2], x[0] + x[1], 1e-6)
    scores = torch.randn(6)
    weights = ns["scatter_softmax"](scores, EDGES[1], N)
    for node in (0, 1, 2, 4, 5):
        into = EDGES[1] == node
        close(weights[into], scores[into].softmax(0), 1e-6)
    differs(weights, scores.softmax(0), 0.1)


@checks(FILE, "gcn")
def test_gcn(ns):
    edges, weights = ns["gcn_weights"](EDGES, N)
    a = dense() + np.eye(N)
    d = a.sum(1)
    normalised = a / np.sqrt(d[:, None] * d)
    x, W = torch.randn(N, 4), torch.randn(4, 3)
    close(ns["gcn_layer"](x, edges, weights, W), normalised @ x.numpy() @ W.numpy(), 1e-5)
    close(ns["gcn_layer"](x, edges, weights, W)[3], x[3] @ W, 1e-5)
    close(max(np.linalg.eigvalsh(normalised)), 1.0, 1e-9)
    close(normalised, normalised.T, 0)


@pytest.mark.parametrize("v2", [False, True])
@checks(FILE, "gat")
def test_gat(ns, v2):
    torch.manual_seed(0)
    x = torch.randn(N, 4)
    W, a = (torch.randn(8, 3), torch.randn(3)) if v2 else (torch.randn(4, 3), torch.randn(6))
    out = ns["gat_layer"](x, EDGES, W, a, 0.2, v2)
    expected = torch.zeros(N, 3)
    for i in range(N):
        sources = EDGES[0][EDGES[1] == i]
        if len(sources) == 0:
            continue
        if v2:
            e = torch.stack([F.leaky_relu(torch.cat((x[i], x[j])) @ W, 0.2) @ a for j in sources])
            values = torch.stack([x[j] @ W[4:] for j in sources])
        else:
            e = torch.stack([F.leaky_relu(torch.cat((x[i] @ W, x[j] @ W)) @ a, 0.2) for j in sources])
            values = torch.stack([x[j] @ W for j in sources])
        expected[i] = e.softmax(0) @ values
    close(out, expected, 1e-5)


@pytest.mark.parametrize("eps", [0.0, 0.3])
@checks(FILE, "gat")
def test_gin(ns, eps):
    x = torch.randn(N, 4)
    close(ns["gin_layer"](x, EDGES, eps, torch.tanh), np.tanh((dense() + (1 + eps) * np.eye(N)) @ x.numpy()), 1e-5)


@checks(FILE, "gcn", "gat")
def test_permutations_carry_through(ns):
    torch.manual_seed(1)
    order = torch.randperm(N)
    where = order.argsort()
    x, W, a = torch.randn(N, 4), torch.randn(4, 3), torch.randn(6)
    moved = where[EDGES]
    close(ns["gat_layer"](x[order], moved, W, a, 0.2), ns["gat_layer"](x, EDGES, W, a, 0.2)[order], 1e-5)
    close(ns["gcn_layer"](x[order], *ns["gcn_weights"](moved, N), W), ns["gcn_layer"](x, *ns["gcn_weights"](EDGES, N), W)[order], 1e-5)


def test_degree_without_loops_divides_by_zero():
    a = dense()
    with np.errstate(all="ignore"):
        assert np.isnan(a / np.sqrt(a.sum(1)[:, None] * a.sum(1))).any()
