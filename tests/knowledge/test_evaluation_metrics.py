"""knowledge/evaluation_metrics.md against enumeration, scipy and hand counts."""

import itertools
import math

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
from knowledge.blocks import checks, close, differs

FILE = "evaluation_metrics"


@pytest.mark.parametrize("seed", range(4))
@checks(FILE, "classification")
def test_f1(ns, seed):
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    scores, support = [], []
    for c in range(4):
        tp, fp, fn = ((y == c) & (p == c)).sum(), ((y != c) & (p == c)).sum(), ((y == c) & (p != c)).sum()
        precision, recall = tp / (tp + fp) if tp + fp else 0, tp / (tp + fn) if tp + fn else 0
        scores.append(2 * precision * recall / (precision + recall) if precision + recall else 0)
        support.append((y == c).sum())
    close(ns["f1"](y, p, "macro"), np.mean(scores), 1e-9)
    close(ns["f1"](y, p, "weighted"), np.average(scores, weights=support), 1e-9)
    close(ns["f1"](y, p, "micro"), (y == p).mean(), 1e-9)


@pytest.mark.parametrize("k", [1, 2, 5])
@checks(FILE, "classification")
def test_top_k(ns, k):
    rng = np.random.default_rng(0)
    logits, y = rng.normal(size=(50, 5)), rng.integers(0, 5, 50)
    close(ns["top_k"](logits, y, k), np.mean([(logits[i] > logits[i, y[i]]).sum() < k for i in range(50)]), 1e-12)
    with pytest.raises(AssertionError):
        ns["top_k"](logits * np.nan, y, k)
    with pytest.raises(AssertionError):
        ns["top_k"](logits, y, 6)


@pytest.mark.parametrize("seed", range(3))
@checks(FILE, "classification")
def test_auroc(ns, seed):
    rng = np.random.default_rng(seed)
    y, score = rng.integers(0, 2, 80), rng.integers(0, 10, 80).astype(float)
    u = scipy.stats.mannwhitneyu(score[y == 1], score[y == 0]).statistic
    close(ns["auroc"](y, score), u / ((y == 1).sum() * (y == 0).sum()), 1e-9)
    close(ns["auroc"](y, y.astype(float)), 1.0, 0)


@checks(FILE, "classification")
def test_calibration(ns):
    close(ns["calibration_error"](np.array([0.9] * 10), np.array([1.0] * 9 + [0.0]), 10), 0.0, 1e-9)
    close(ns["calibration_error"](np.array([0.95, 0.95, 0.35, 0.35]), np.array([1.0, 0, 0, 0]), 10), 0.5 * 0.45 + 0.5 * 0.35, 1e-9)


@checks(FILE, "language")
def test_perplexity(ns):
    parts = [np.array([1.0, 2.0]), np.full(8, 3.0)]
    close(ns["perplexity"](parts), math.exp(2.7), 1e-9)
    differs(np.mean([math.exp(p.mean()) for p in parts]), ns["perplexity"](parts), 1.0)
    close(ns["perplexity"]([np.full(7, math.log(50))]), 50.0, 1e-9)
    close(ns["bits_per_byte"](math.log(2) * 800, 100), 8.0, 1e-9)


@checks(FILE, "language")
def test_bleu(ns):
    r = ["the cat sat on the mat today".split(), "a dog ran in the big park now".split()]
    h = ["the cat sat on the mat".split(), "the dog ran in a big park now".split()]
    # Pooled by hand, first sentence plus second.
    matches, totals = [6 + 8, 5 + 4, 4 + 2, 3 + 0], [14, 12, 10, 8]
    expected = math.exp(1 - 15 / 14) * math.exp(np.mean([math.log(m / t) for m, t in zip(matches, totals, strict=True)]))
    close(ns["corpus_bleu"](h, r), expected, 1e-9)
    close(ns["corpus_bleu"](r, r), 1.0, 1e-9)
    close(ns["corpus_bleu"]([["x"] * 5], [["y"] * 5]), 0.0, 0)
    differs(np.mean([ns["corpus_bleu"]([a], [b]) for a, b in zip(h, r, strict=True)]), ns["corpus_bleu"](h, r), 0.01)
    assert ns["corpus_bleu"](["the cat sat on the mat today.".split()], ["the cat sat on the mat today .".split()]) < 0.8


@pytest.mark.parametrize("h, r, lcs", [
    ("a b c d", "a b c d", 4), ("a b c d e f g h", "e f g h a b c d", 4), ("a x b y", "a b", 2), ("q", "z", 0)])
@checks(FILE, "language")
def test_rouge_l(ns, h, r, lcs):
    h, r = h.split(), r.split()
    brute = max((len(s) for n in range(len(h) + 1) for s in itertools.combinations(range(len(h)), n)
                 if iter_contains(r, [h[i] for i in s])), default=0)
    assert brute == lcs
    close(ns["rouge_l"](h, r), 2 * lcs / (len(h) + len(r)), 1e-12)


def iter_contains(longer, shorter):
    rest = iter(longer)
    return all(word in rest for word in shorter)


@pytest.mark.parametrize("h, r, edits", [
    ("a b c", "a b c", 0), ("a c", "a b c", 1), ("a x c d", "a b c", 2), ("", "a b", 2), ("x y z w", "a", 4)])
@checks(FILE, "language")
def test_word_error_rate(ns, h, r, edits):
    close(ns["word_error_rate"](h.split(), r.split()), edits / len(r.split()), 1e-12)


@pytest.mark.parametrize("n, c, k", [(10, 3, 4), (10, 0, 1), (5, 5, 2), (6, 1, 6), (10, 8, 3)])
@checks(FILE, "sampling")
def test_pass_at_k(ns, n, c, k):
    close(ns["pass_at_k"](n, c, k), np.mean([any(i < c for i in s) for s in itertools.combinations(range(n), k)]), 1e-12)


@checks(FILE, "sampling")
def test_plug_in_is_biased(ns):
    rng = np.random.default_rng(0)
    right = rng.binomial(10, 0.2, 20_000)
    truth = 1 - 0.8**5
    close(np.mean([ns["pass_at_k"](10, c, 5) for c in right]), truth, 0.01)
    assert truth - np.mean(1 - (1 - right / 10) ** 5) > 0.03


@checks(FILE, "retrieval")
def test_average_precision(ns):
    hits = np.array([1, 1, 0, 1, 0, 1])
    close(ns["average_precision"](hits, 5), (1 + 1 + 3 / 4 + 4 / 6) / 5, 1e-9)
    close(ns["average_precision"](hits, 5, 11), (5 * 1.0 + 2 * 0.75 + 2 * (4 / 6) + 0) / 11, 1e-9)
    close(ns["average_precision"](hits, 5, 101), (41 * 1.0 + 20 * 0.75 + 20 * (4 / 6)) / 101, 1e-9)
    close(ns["average_precision"](np.ones(5), 5, 101), 1.0, 0)


@checks(FILE, "retrieval")
def test_ndcg(ns):
    gains = np.array([3.0, 2, 3, 0, 1, 2])
    dcg = sum(g / math.log2(i + 2) for i, g in enumerate(gains))
    ideal = sum(g / math.log2(i + 2) for i, g in enumerate(sorted(gains, reverse=True)))
    close(ns["ndcg"](gains, 6), dcg / ideal, 1e-9)
    close(ns["ndcg"](np.sort(gains)[::-1], 3), 1.0, 1e-12)


@pytest.mark.parametrize("d", [1, 4, 16])
@checks(FILE, "frechet")
def test_frechet(ns, d):
    rng = np.random.default_rng(d)
    a, b = rng.normal(size=(d, d)), rng.normal(size=(d, d))
    ca, cb, ma, mb = a @ a.T + np.eye(d), b @ b.T + np.eye(d), rng.normal(size=d), rng.normal(size=d)
    reference = ((ma - mb) ** 2).sum() + np.trace(ca + cb - 2 * scipy.linalg.sqrtm(ca @ cb).real)
    close(ns["frechet"](ma, ca, mb, cb), reference, 1e-7)
    close(ns["frechet"](ma, ca, ma, ca), 0.0, 1e-9)


@checks(FILE, "frechet")
def test_fid_is_biased_and_psnr(ns):
    rng = np.random.default_rng(0)
    moments = lambda x: (x.mean(0), np.cov(x, rowvar=False))  # noqa: E731
    big = moments(rng.normal(size=(20_000, 64)))
    values = [ns["frechet"](*moments(rng.normal(size=(n, 64))), *big) for n in (100, 1000, 10_000)]
    assert values[0] > values[1] > values[2] > 0
    close(values, [12.2, 1.09, 0.17], 0.15)
    close(ns["psnr"](np.zeros(10), np.full(10, 0.1), 1.0), 20.0, 1e-9)
    close(ns["psnr"](np.zeros(10), np.full(10, 0.1), 2.0), 20 + 20 * math.log10(2), 1e-9)
