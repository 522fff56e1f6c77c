"""The inference of the paper (§5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from src.data import Abstract, Claim, Prediction, TfIdf, encode_pairs, highest, noinfo
from src.utils import Config

Tokenize = Callable[[str], list[int]]  # a text to its token ids, without special tokens


class AbstractRetrieval:
    """§5

    §5 — "AbstractRetrieval retrieves $k$ abstracts with highest TF-IDF similarity to the claim."

    Appendix A.1 — "For the AbstractRetrieval module, VeriSci retrieves the top $k=3$ documents ranked by TF-IDF
      similarity using unigram + bigram features."

    [ASSUMPTION] unigrams and bigrams: 1; 2: [1, 2]: the smallest and the largest n of the features
      Reason: our choice: A.1 names "unigram + bigram features", which are n of one and two; the official call agrees
      (https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/script/pipeline.sh#L54-L60)

    [PARTIALLY_SPECIFIED] text of an abstract in the retrieval: §5 — "AbstractRetrieval retrieves $k$ abstracts with
      highest TF-IDF similarity to the claim."; open: whether the title belongs to the text
      Using: title and sentences, with blanks between them
      Alternatives: the sentences alone; title and first sentence without a blank, as the official code joins them:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/inference/abstract_retrieval/tfidf.py#L27-L28

    [UNSPECIFIED] ties in the retrieval
      Using: the first of the corpus
      Reason: our choice: the paper does not speak of ties
      Alternatives: the last of the corpus, as the reversed order of the official code gives

    Takes claim: text; corpus: object.
    Gives documents: object.
    """

    def __init__(self, corpus: Mapping[int, Abstract], stop_words: frozenset[str], config: Config) -> None:
        self.k = config.retrieval.k
        self.documents = list(corpus)
        texts = [" ".join((abstract.title, *abstract.sentences)) for abstract in corpus.values()]
        self.index = TfIdf(texts, config.retrieval.ngrams, stop_words, config)

    def __call__(self, claim: str) -> list[int]:
        return [self.documents[at] for at in highest(self.index.similarity(claim), self.k)]  # k of (documents,)


@torch.inference_mode()
def score_sentences(selector: nn.Module, sentences: Sequence[str], claim: str, tokenize: Tokenize, config: Config) -> Tensor:
    """§5 — "predict a score $\\tilde{z}_i = \\sigma[f(\\textsc{CLS}(w_i))]$": for each sentence of an abstract, (sentences,)."""
    selector.eval()
    w = encode_pairs([tokenize(sentence) for sentence in sentences], [tokenize(claim)] * len(sentences), config)
    return torch.sigmoid(selector(*w))  # (sentences,)


def select_rationales(scores: Tensor, t: float) -> tuple[int, ...]:
    r"""§5

    Appendix A.1 — "we find that the usual decision rule of predicting $\hat{z}_i = 1$ when $\tilde{z}_i \geq 0.5$ works
      well for models trained on SciFact."

    Takes scores: (sentences,); t: scalar.
    Gives selected: object.
    """
    return tuple((scores >= t).nonzero().squeeze(-1).tolist())  # ẑ_i = 1 where z̃_i ≥ t, of (sentences,)


def oracle_rationales(claim: Claim, documents: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """§6.2 — "the RationaleSelection module is replaced by an oracle which outputs gold rationales for correctly retrieved documents,
    and no rationales for incorrect retrievals."
    """
    gold = {doc: sorted(frozenset().union(*claim.evidence[doc].rationales)) for doc in documents if doc in claim.evidence}
    return {doc: tuple(gold.get(doc, ())) for doc in documents}


@torch.inference_mode()
def label_probabilities(predictor: nn.Module, rationale: str, claim: str, tokenize: Tokenize, config: Config) -> Tensor:
    """§5 — "predict $\\tilde{y}(c, a) = \\phi[f(\\textsc{CLS}(u))]$, where $\\phi$ is the softmax function": for one abstract, (3,)."""
    predictor.eval()
    u = encode_pairs([tokenize(rationale)], [tokenize(claim)], config)
    return torch.softmax(predictor(*u), dim=-1).squeeze(0)  # φ over the labels, (1, 3) → (3,)


def predict_label(probabilities: Tensor | None, selected: Sequence[int], config: Config) -> int:
    r"""§5

    §5 — "we use the predicted rationale sentences $\widehat{S}(c, a)$ as input and predict $\hat{y}(c, a) =
      \textrm{argmax }\tilde{y}(c, a)$."

    §5 — "NoInfo is predicted for abstracts with no rationale sentences."

    Takes probabilities: (3,); selected: object.
    Gives label: text.
    Axes: argmax over the three labels.
    """
    if not selected:
        return noinfo(config)
    return int(probabilities.argmax(-1))  # argmax ỹ(c, a), (3,) → ()


def verify_claim(
    claim: str,
    documents: Mapping[int, Abstract],
    selector: nn.Module,
    predictor: nn.Module,
    tokenize: Tokenize,
    t: float,
    config: Config,
    oracle: Mapping[int, Sequence[int]] | None = None,
) -> dict[int, Prediction]:
    r"""§5

    §5 — "Sentences identified by the rationale selector are passed to a separate BERT-based model to make the final
      labeling decision."

    §4 — "the “Oracle abstract” ERASER-style (DeYoung et al., 2020a) setting where the gold evidence abstracts
      ${\mathcal{E}}(c)$ are provided."

    [PARTIALLY_SPECIFIED] design of the pipeline: §5 — "Following the “BERT-to-BERT” model presented in DeYoung et al.
      (2020a), Soleimani et al. (2019), VeriSci is a pipeline of three components:"; open: what is taken from the cited
      works beyond the three components that the paper defines itself
      Using: the three components as §5 defines them
      Alternatives: further details of the cited models

    Takes claim: text; documents: object.
    Gives prediction: object.
    """
    predicted = {}
    for doc, abstract in documents.items():
        if oracle is None:
            selected = select_rationales(score_sentences(selector, abstract.sentences, claim, tokenize, config), t)
        else:
            selected = tuple(oracle[doc])
        probabilities = None
        if selected:
            rationale = config.data.joiner.join(abstract.sentences[i] for i in selected)  # u = [ŝ_1, … ŝ_ℓ, SEP, c]
            probabilities = label_probabilities(predictor, rationale, claim, tokenize, config)
        predicted[doc] = Prediction(predict_label(probabilities, selected, config), selected)
    return predicted
