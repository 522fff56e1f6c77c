"""knowledge/speech.md against torch.stft, scipy and enumeration of alignments."""

import itertools
import math

import numpy as np
import pytest
import scipy.signal
import torch
import torch.nn.functional as F
from knowledge.blocks import checks, close, differs

FILE = "speech"
DOUBLE = torch.float64


@pytest.mark.parametrize("centre, expected", [(True, 101), (False, 98)])
@checks(FILE, "spectrogram")
def test_frames(ns, centre, expected):
    x = torch.randn(16_000, dtype=DOUBLE)
    window = torch.hann_window(400, dtype=DOUBLE)
    assert torch.stft(x, 400, 160, window=window, center=centre, return_complex=True).shape[1] == expected
    close(ns["frames"](16_000, 400, 160, centre), expected, 0)


@pytest.mark.parametrize("window, hop", [(400, 160), (64, 16)])
@checks(FILE, "spectrogram")
def test_power_spectrogram(ns, window, hop):
    x = torch.randn(2000, dtype=DOUBLE)
    hann = torch.hann_window(window, dtype=DOUBLE)
    expected = torch.stft(x, window, hop, window=hann, center=False, return_complex=True).abs().pow(2)
    close(ns["power_spectrogram"](x, window, hop), expected, 1e-8)
    close(hann, scipy.signal.get_window("hann", window), 1e-10)
    differs(hann, np.hanning(window), 1e-3)


@checks(FILE, "spectrogram")
def test_mel_scales(ns):
    close(ns["mel"](torch.tensor([0.0, 700.0], dtype=DOUBLE), False), [0.0, 2595 * math.log10(2)], 1e-9)
    close(ns["mel"](torch.tensor([500.0, 1000.0, 6400.0], dtype=DOUBLE), True), [7.5, 15.0, 42.0], 1e-9)


@pytest.mark.parametrize("target, T", [([1], 1), ([1, 2], 3), ([1, 1], 4), ([2, 1, 2], 5), ([], 3)])
@checks(FILE, "ctc")
def test_ctc_is_the_sum_over_alignments(ns, target, T):
    log_p = torch.randn(T, 3, dtype=DOUBLE, generator=torch.Generator().manual_seed(len(target))).log_softmax(-1)
    total = 0.0
    for path in itertools.product(range(3), repeat=T):
        collapsed = [label for label, _ in itertools.groupby(path) if label != 0]
        if collapsed == target:
            total += math.exp(sum(float(log_p[t, label]) for t, label in enumerate(path)))
    close(ns["ctc_loss"](log_p, target), -math.log(total), 1e-9)
    if target:
        theirs = F.ctc_loss(log_p[:, None], torch.tensor([target]), torch.tensor([T]), torch.tensor([len(target)]), reduction="none")
        close(ns["ctc_loss"](log_p, target), theirs[0], 1e-6)


@checks(FILE, "ctc")
def test_too_short_an_input_is_infinite(ns):
    log_p = torch.randn(3, 3, dtype=DOUBLE).log_softmax(-1)
    assert ns["ctc_loss"](log_p, [1, 1, 1]).isinf()
