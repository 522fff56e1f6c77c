"""The model of the paper (§5)."""

from __future__ import annotations

from torch import Tensor, nn

from src.utils import Config


def new_linear(outputs: int, config: Config) -> nn.Linear:
    """§5 — "$f$ is a linear layer": from the CLS encoding to `outputs` numbers. One place for its start.

    [UNSPECIFIED] start of the linear layer f and of its bias
      Using: a normal distribution with standard deviation 0.02 for the weights, 0.0 for the bias
      Reason: our choice: the encoder is pre-trained, f starts anew; the named package starts new layers so
      Alternatives: the framework's own uniform distribution; Xavier uniform
    """
    f = nn.Linear(config.model.hidden, outputs, bias=config.model.bias)
    nn.init.normal_(f.weight, mean=0.0, std=config.model.init_std)  # (outputs, hidden)
    if config.model.bias:
        nn.init.constant_(f.bias, config.model.init_bias)  # (outputs,)
    return f


def cls_encoding(encoder: nn.Module, input_ids: Tensor, attention_mask: Tensor, config: Config) -> Tensor:
    """§5 — "$\\textsc{CLS}(w_i)$ is the CLS token from the encoding of $w_i$.": position 0 of the sequence axis, (batch, hidden).

    §6.2 — "we use RoBERTa-large for both components": the encoder is taken from the Transformers package and passed in. It maps
    (batch, n) ids and their mask to (batch, n, hidden).
    """
    encoding = encoder(input_ids, attention_mask)  # (batch, n, hidden)
    assert encoding.shape == (*input_ids.shape, config.model.hidden), encoding.shape
    return encoding[:, 0]  # (batch, hidden)


class RationaleSelection(nn.Module):
    r"""§5

    [UNSPECIFIED] hidden-size
      Using: 1024, the width of the encodings of RoBERTa-large
      Reason: cited work: Liu et al. (2019); the paper does not print a width
      Alternatives: 768, of RoBERTa-base and SciBERT

    §5 — "predict a score $\tilde{z}_i = \sigma[f(\textsc{CLS}(w_i))]$, where $\sigma$ is the sigmoid function, $f$ is a
      linear layer and $\textsc{CLS}(w_i)$ is the CLS token from the encoding of $w_i$."

    [UNSPECIFIED] dropout-placement
      Using: on the CLS encoding before f, where the rate is not 0
      Reason: our choice: there is one place for it between the encoding and f
      Alternatives: inside of a head with one more layer

    Takes input_ids: (batch, n) int; attention_mask: (batch, n) bool.
    Gives logit: (batch,).
    Axes: CLS is position 0 of the sequence axis; f sums over the hidden axis.
    """

    def __init__(self, encoder: nn.Module, config: Config) -> None:
        super().__init__()
        self.config = config
        self.encoder = encoder
        self.dropout = nn.Dropout(config.model.dropout)
        self.f = new_linear(1, config)  # one output: the score of one sentence

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        cls = cls_encoding(self.encoder, input_ids, attention_mask, self.config)  # CLS(w_i), (batch, hidden)
        # f(CLS(w_i)); the sigmoid σ is in the loss and in src/inference.py:score_sentences
        return self.f(self.dropout(cls)).squeeze(-1)  # (batch, 1) → (batch,)


class LabelPrediction(nn.Module):
    r"""§5

    §5 — "predict $\tilde{y}(c, a) = \phi[f(\textsc{CLS}(u))]$, where $\phi$ is the softmax function, and $f$ is a
      linear layer with three outputs representing the {Supports, Refutes, NoInfo } labels."

    Takes input_ids: (batch, n) int; attention_mask: (batch, n) bool.
    Gives logits: (batch, 3).
    Axes: CLS is position 0 of the sequence axis; softmax over the three labels.
    """

    def __init__(self, encoder: nn.Module, config: Config) -> None:
        super().__init__()
        self.config = config
        self.encoder = encoder
        self.dropout = nn.Dropout(config.model.dropout)
        self.f = new_linear(len(config.model.labels), config)  # "three outputs representing the {Supports, Refutes, NoInfo } labels"

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        cls = cls_encoding(self.encoder, input_ids, attention_mask, self.config)  # CLS(u), (batch, hidden)
        # f(CLS(u)); the softmax φ is in the loss and in src/inference.py:label_probabilities
        return self.f(self.dropout(cls))  # (batch, 3)
