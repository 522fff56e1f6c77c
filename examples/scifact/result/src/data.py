"""The data of the paper (§3, §5)."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.data import Dataset

from src.utils import Config


@dataclass(frozen=True)
class Abstract:
    """An abstract a of the corpus (§4): its title and its sentences a_i."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """§4 — "Each evidence abstract $a \\in{\\mathcal{E}}(c)$ is annotated with rationales.": the label y(c, a) as an index of the
    labels, and R(c, a), each rationale the set of its sentence indices."""

    label: int
    rationales: tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Claim:
    """A claim c (§4): its text, its gold evidence abstracts E(c), and the abstracts that its citance cites (§3.3)."""

    id: int
    text: str
    evidence: dict[int, Evidence]
    cited: tuple[int, ...]


@dataclass(frozen=True)
class Prediction:
    """§4 — "it must predict a label $\\widehat{y}(c, a)$, and a collection of rationale sentences": for one abstract."""

    label: int
    sentences: tuple[int, ...]


def noinfo(config: Config) -> int:
    """The index of NoInfo among the {Supports, Refutes, NoInfo } labels of §5."""
    return config.model.labels.index("NoInfo")


class SciFact(Dataset):
    """§3

    §3 — "The SciFact dataset consists of 1,409 scientific claims verified against a corpus of 5,183 abstracts."

    [FROM_OFFICIAL_CODE] format of the release: "one JSON object a line, with id, claim, evidence and cited_doc_ids;
      doc_id, title and abstract in the corpus"
      Source: https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/doc/data.md#L15-L30

    [FROM_OFFICIAL_CODE] names of the labels in the release:
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/evaluate/lib/data.py#L26-L29

    §3.3 — "Each claim has a single label."

    [UNSPECIFIED] preprocessing
      Using: none: the sentences of the release as they are, without blanks at their ends
      Reason: our choice: what the sweep found speaks of writing claims, not of the input of the model
      Alternatives: lower case

    Table 2 — "809"

    [PARTIALLY_SPECIFIED] splits: Table 2 — "300"; open: how the claims were divided: the table gives 809, 300 and 300
      for train, dev and test; the official pipeline skips the evaluation of the test fold
      (https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/script/pipeline.sh#L108-L110)
      Using: 300: the division of the release
      Alternatives: a random division of our own

    Takes corpus_path: text; claims_path: text.
    Gives claims: object; corpus: object.
    """

    def __init__(self, config: Config, corpus_path: str, claims_path: str) -> None:
        # config.data.release_labels names in the release, in the order of config.model.labels
        index = {name: at for at, name in enumerate(config.data.release_labels)}
        with open(corpus_path, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        self.corpus = {int(row["doc_id"]): Abstract(row["title"].strip(), tuple(s.strip() for s in row["abstract"])) for row in rows}
        with open(claims_path, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        self.claims = []
        for row in rows:
            evidence = {}
            for doc, rationales in row.get("evidence", {}).items():
                labels = {index[rationale["label"]] for rationale in rationales}
                if len(labels) != 1:
                    raise ValueError(f"claim {row['id']}, abstract {doc}: {len(labels)} labels, where each pair has one (§3.3)")
                evidence[int(doc)] = Evidence(labels.pop(), tuple(frozenset(rationale["sentences"]) for rationale in rationales))
            cited = tuple(int(doc) for doc in row.get("cited_doc_ids", ()))
            if not evidence.keys() <= set(cited):
                raise ValueError(f"claim {row['id']}: evidence in an abstract that is not cited (§3.3)")
            self.claims.append(Claim(int(row["id"]), row["claim"].strip(), evidence, cited))

    def __len__(self) -> int:
        return len(self.claims)

    def __getitem__(self, index: int) -> tuple[Claim, dict[int, Abstract]]:
        """A claim and its cited abstracts: Appendix A.3 — "claim / cited abstract pairs"."""
        claim = self.claims[index]
        return claim, {doc: self.corpus[doc] for doc in claim.cited}


def words(text: str, ngrams: Sequence[int], stop_words: frozenset[str], config: Config) -> list[str]:
    """Appendix A.1 — "TF-IDF similarity using unigram + bigram features": all n-grams of the words, n from ngrams[0] to ngrams[1].

    [FROM_OFFICIAL_CODE] words of two letters or digits at least, in lower case, stop words taken out before the n-grams are made
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/inference/abstract_retrieval/tfidf.py#L24-L25
    """
    kept = [word for word in re.findall(config.retrieval.word_pattern, text.lower()) if word not in stop_words]
    smallest, largest = ngrams
    return [" ".join(kept[at : at + n]) for n in range(smallest, largest + 1) for at in range(len(kept) - n + 1)]


class TfIdf:
    """§5

    [FROM_OFFICIAL_CODE] weights of the TF-IDF: "counts times ln((1 + N) / (1 + df)) + 1, divided by the L2 norm,
      compared by the inner product: what the TfidfVectorizer of scikit-learn computes when left alone"
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/inference/abstract_retrieval/tfidf.py#L24-L35

    Takes texts: object; query: text.
    Gives similarity: (documents,).
    Axes: L2 norm over the terms of one document; sum over the terms of the product with the query.
    """

    def __init__(self, texts: Sequence[str], ngrams: Sequence[int], stop_words: frozenset[str], config: Config) -> None:
        self.config, self.ngrams, self.stop_words = config, ngrams, stop_words
        counts = [Counter(words(text, ngrams, stop_words, config)) for text in texts]
        df = Counter(term for count in counts for term in count)  # documents that hold a term
        self.idf = {term: math.log((1 + len(texts)) / (1 + n)) + 1 for term, n in df.items()}  # ln((1 + N) / (1 + df)) + 1
        self.vectors = [self.weigh(count) for count in counts]

    def weigh(self, counts: Counter) -> dict[str, float]:
        """§5 — "TF-IDF similarity": count · idf over the L2 norm over the terms of one text; terms that no text holds have no weight."""
        weights = {term: n * self.idf[term] for term, n in counts.items() if term in self.idf}
        norm = math.sqrt(sum(weight**2 for weight in weights.values()))
        return {term: weight / norm for term, weight in weights.items()}

    def similarity(self, query: str) -> Tensor:
        """§5 — "TF-IDF similarity to the claim": the inner product with each text, (documents,)."""
        q = self.weigh(Counter(words(query, self.ngrams, self.stop_words, self.config)))
        return torch.tensor([sum(weight * vector.get(term, 0.0) for term, weight in q.items()) for vector in self.vectors], dtype=torch.float64)


def highest(similarity: Tensor, k: int) -> list[int]:
    """§5 — "with highest TF-IDF similarity": the k best places, best first; of equals the first, by a stable sort."""
    return similarity.argsort(descending=True, stable=True)[:k].tolist()  # (documents,) → k places


def most_similar_sentences(sentences: Sequence[str], claim: str, k: int, stop_words: frozenset[str], config: Config) -> list[int]:
    """§5 — "For cited abstracts labeled NoInfo, we choose the $k$ sentences from the cited abstract with highest TF-IDF similarity to
    the claim as input rationales."; in the order of the abstract.

    [UNSPECIFIED] TF-IDF of the sentences of an abstract
      Using: unigrams, with document frequencies over the sentences of that abstract
      Alternatives: frequencies of the whole corpus; unigrams and bigrams as in the retrieval
    """
    index = TfIdf(sentences, config.data.sentence_ngrams, stop_words, config)
    return sorted(highest(index.similarity(claim), k))


def encode_pairs(first: Sequence[Sequence[int]], claim: Sequence[Sequence[int]], config: Config) -> tuple[Tensor, Tensor]:
    r"""§5

    §5 — "For each sentence, we encode the concatenated sequence $w_i = [a_i, \textsc{SEP}, c]$ using a BERT-style
      language model"

    §5 — "we concatenate the claim and the predicted rationale sentences $u = [\widehat{s}_1(c, a),
      \dots\widehat{s}_{\ell}(c, a), \textsc{SEP}, c]$"

    §5, footnote 4 — "We truncate the rationale input if it exceeds the BERT token limit. $c$ is never truncated."

    [FROM_OFFICIAL_CODE] token limit: 512
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/label_prediction/transformer_scifact.py#L110-L117

    [FROM_OFFICIAL_CODE] which end is cut: "only_first: the end of the first text"
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/label_prediction/transformer_scifact.py#L112-L117

    [UNSPECIFIED] ids of the special tokens
      Using: 0; 2; 1: [0, 2, 1] for CLS, SEP and padding, those of RoBERTa
      Reason: cited work: Liu et al. (2019); the paper writes CLS and SEP in BERT's names and encodes with RoBERTa
      Alternatives: [101, 102, 0], those of BERT

    [UNSPECIFIED] number of SEP tokens between the two texts
      Using: 2, as the pairs of RoBERTa have
      Reason: cited work: Liu et al. (2019); §5 writes one SEP in general terms of a BERT-style model
      Alternatives: 1, as §5 writes it and BERT has

    [UNSPECIFIED] last token of a sequence
      Using: one SEP after the claim
      Reason: cited work: Liu et al. (2019) end each sequence so; the official code leaves it to the tokenizer
      Alternatives: none, as the formulas of §5 end with the claim

    [UNSPECIFIED] padding
      Using: at the end, to the longest sequence of the batch, hidden by the attention mask
      Reason: our choice: padding that is hidden does not change the encoding of CLS
      Alternatives: to the token limit

    Takes first: object; claim: object.
    Gives input_ids: (batch, n) int; attention_mask: (batch, n) bool.
    """
    cls, sep, pad = config.data.special_ids
    middle = [sep] * config.data.separators
    rows = []
    for a, c in zip(first, claim, strict=True):
        room = config.data.max_length - len([cls, *middle, *c, sep])
        if room < 0:
            raise ValueError("the claim alone exceeds the token limit, and it is never truncated (§5, footnote 4)")
        rows.append([cls, *a[:room], *middle, *c, sep])  # [a_i, SEP, c], the end of a_i cut
    longest = max(len(row) for row in rows)
    input_ids = torch.tensor([row + [pad] * (longest - len(row)) for row in rows])  # (batch, n)
    attention_mask = torch.tensor([[True] * len(row) + [False] * (longest - len(row)) for row in rows])  # (batch, n)
    return input_ids, attention_mask


class RationaleExamples(Dataset):
    r"""§5

    §5 — "For each claim, we use cited abstracts labeled NoInfo, as well as non-rationale sentences from abstracts
      labeled Supports and Refutes as negative examples."

    §5 — "we train a model to predict $z_i \triangleq\mathds{1}[a_i \textrm{ is a rationale sentence}]$ for each
      sentence $a_i$ in $a$."

    Takes scifact: object.
    Gives sentence: text; claim: text; z: scalar.
    """

    def __init__(self, scifact: SciFact) -> None:
        self.examples = []
        for claim, abstracts in scifact:
            for doc, abstract in abstracts.items():  # pairs of claims and their cited abstracts
                evidence = claim.evidence.get(doc)
                rationale_sentences = frozenset().union(*evidence.rationales) if evidence else frozenset()  # none in a NoInfo abstract
                for i, sentence in enumerate(abstract.sentences):
                    self.examples.append((sentence, claim.text, float(i in rationale_sentences)))  # z_i = 1[a_i is a rationale sentence]

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index: int) -> tuple[str, str, float]:
        return self.examples[index]


class LabelExamples(Dataset):
    r"""§5

    §5 — "a linear layer with three outputs representing the {Supports, Refutes, NoInfo } labels"

    [UNSPECIFIED] what stands between two rationale sentences
      Using: one blank, as a text is joined before the tokenizer
      Reason: our choice: u lists the sentences with commas only; the official code joins them with a blank
      Alternatives: a separator token between sentences; nothing

    [PARTIALLY_SPECIFIED] gold input of the label predictor: §5 — "We train the model on pairs of claims and their cited
      abstracts using gold rationales as input."; open: whether an abstract with several rationales is one example with
      all of them, or one for each
      Using: one example for a claim and abstract, with the sentences of all its rationales in the order of the abstract
      Alternatives: one example for each rationale; both, as the official code does:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/label_prediction/transformer_scifact.py#L42-L60

    Appendix A.3 — "$k$ is sampled from $\{0, 1\}$ with uniform probability."

    [UNSPECIFIED] when k is drawn
      Using: once for each pair, when the examples are made
      Reason: our choice: A.3 says sampled with uniform probability and not how often; the official code draws once
      Alternatives: anew in each epoch

    [FROM_OFFICIAL_CODE] k for NoInfo abstracts in the evaluation of labels: 2
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/inference/rationale_selection/oracle_tfidf.py#L32-L39

    Takes scifact: object; seed: int.
    Gives rationale: text; claim: text; y: scalar int.
    """

    def __init__(self, scifact: SciFact, noinfo_k: Sequence[int], stop_words: frozenset[str], generator: torch.Generator, config: Config) -> None:
        self.examples = []
        for claim, abstracts in scifact:
            for doc, abstract in abstracts.items():
                if doc in claim.evidence:
                    label = claim.evidence[doc].label
                    sentences = sorted(frozenset().union(*claim.evidence[doc].rationales))  # all gold rationales, in the abstract's order
                else:
                    label = noinfo(config)
                    k = noinfo_k[int(torch.randint(len(noinfo_k), (), generator=generator))]  # one of them with uniform probability
                    sentences = most_similar_sentences(abstract.sentences, claim.text, k, stop_words, config)
                self.examples.append((config.data.joiner.join(abstract.sentences[i] for i in sentences), claim.text, label))

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index: int) -> tuple[str, str, int]:
        return self.examples[index]
