"""The objective of the paper (§3.3)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from src.utils import Config


def cross_entropy(z: Tensor, y: Tensor, config: Config) -> Tensor:
    r"""§3.3, Eq. 6

    §3.3, Eq. 6 — \mathcal{L}_{\mathrm{CE}} = -\frac{1}{Bn} \sum_{b=1}^{B} \sum_{i=1}^{n} \sum_{v=1}^{V} q_{biv} \log
      p_{biv},

    [PARTIALLY_SPECIFIED] form of the label smoothing: §3.3 — "the cross-entropy with label smoothing as in [10]"; open:
      the cited work's form is deferred to; the paper's own definition of q below Eq. 7 decides
      Using: q = (1 - alpha) [v = y] + alpha / V, over all V values with the target among them
      Alternatives: alpha / (V - 1) over the other values

    Takes z: (batch, n, V); y: (batch, n) int.
    Gives loss: scalar.
    Axes: softmax over V; mean over batch and n.
    """
    V = z.shape[-1]
    q = (1 - config.loss.alpha) * F.one_hot(y, V) + config.loss.alpha / V  # (batch, n, V)
    log_p = F.log_softmax(z, dim=-1)  # (batch, n, V)
    return -(q * log_p).sum(dim=-1).mean()  # scalar


def z_loss(z: Tensor) -> Tensor:
    r"""§3.3, Eq. 7

    §3.3, Eq. 7 — \mathcal{L}_{\mathrm{z}} = \frac{1}{Bn} \sum_{b=1}^{B} \sum_{i=1}^{n} (\log\sum_{v=1}^{V} \exp
      z_{biv})^{2},

    Takes z: (batch, n, V).
    Gives loss: scalar.
    Axes: log-sum-exp over V; mean over batch and n.
    """
    return z.logsumexp(dim=-1).square().mean()  # scalar


def objective(z: Tensor, y: Tensor, config: Config) -> Tensor:
    r"""§3.3, Eq. 5

    §3.3, Eq. 5 — \mathcal{L} = \mathcal{L}_{\mathrm{CE}} + \lambda\, \mathcal{L}_{\mathrm{z}}.

    §3.3 — "The objective is the cross-entropy with label smoothing"

    Takes z: (batch, n, V); y: (batch, n) int.
    Gives loss: scalar.
    """
    return cross_entropy(z, y, config) + config.loss.lambda_z * z_loss(z)  # scalar
