"""The data of the paper (§5.1)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.utils.data import Dataset

from src.utils import Config


class TranslationPairs(Dataset):
    """§5.1

    §3.1 — "This masking, combined with fact that the output embeddings are offset by one position, ensures that the
      predictions for position $i$ can depend only on the known outputs at positions less than $i$."

    [PARTIALLY_SPECIFIED] dataset: §5.1 — "We trained on the standard WMT 2014 English-German dataset consisting of
      about 4.5 million sentence pairs."; open: which of the WMT 2014 corpora, and how they were cleaned
      Using: a skeleton that takes token sequences that the user prepared
      Alternatives: all parallel corpora of the WMT 2014 page

    [UNSPECIFIED] preprocessing
      Using: none; the skeleton expects tokens
      Alternatives: tokenisation and truecasing before the byte-pair encoding

    [PARTIALLY_SPECIFIED] tokeniser: §5.1 — "Sentences were encoded using byte-pair encoding [3], which has a shared
      source-target vocabulary of about 37000 tokens."; open: the merges, the tool and the special tokens
      Using: the user's own; the skeleton takes numbers of tokens
      Alternatives: the word pieces of English-French

    Takes index: int.
    Gives src: (n,) int; tgt: (m,) int; target: (m,) int.
    """

    def __init__(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]], config: Config) -> None:
        """Pairs of a source and a target sentence as numbers of tokens of the shared vocabulary (§5.1), without special tokens."""
        self.pairs, self.data = pairs, config.data

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor]:
        source, sentence = self.pairs[index]
        src = torch.tensor([*source, self.data.end])  # (n,)
        # §3.1 — the decoder's input is offset by one position against what it has to predict
        tgt = torch.tensor([self.data.start, *sentence])  # (m,)
        target = torch.tensor([*sentence, self.data.end])  # (m,)
        return src, tgt, target
