"""Are my runs consistent with the number a paper reports? The right interval for what is known, and what it cannot tell.

Runs are taken as independent draws from a normal distribution (a seed each). Which test is right depends on what the
paper's number is:

    one run, or not said what       prediction interval for one further run: mean ± t(n-1)·s·√(1 + 1/n)
    the mean of N runs, no spread   prediction interval for a mean of N further runs: mean ± t(n-1)·s·√(1/N + 1/n)
    mean and spread of N runs       Welch's t test on the difference of the two means
    spread, but one run of mine     prediction interval around the paper's runs

Standard deviations are the sample's (divisor n-1). All values are in the metric's own unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

CONSISTENT, INCONSISTENT, UNDECIDED = "consistent", "not consistent", "cannot tell yet"
POWER = 0.8  # how often a difference is to be found that is called detectable
MOST_RUNS = 1000


@dataclass(frozen=True)
class Reported:
    """What the paper states: a number, its standard deviation over runs where given, the number of runs where given."""

    value: float
    std: float | None = None
    runs: int | None = None


@dataclass
class Comparison:
    """The outcome. `interval` is where the paper's number should fall if the reproduction is faithful; `interval_of`
    names what it is of where that is something else (Welch: the difference, mine minus the paper's)."""

    metric: str
    verdict: str
    reason: str
    method: str
    reported: Reported
    n: int
    mean: float
    std: float | None
    difference: float
    interval: tuple[float, float] | None = None
    interval_of: str = "paper's number"
    p: float | None = None
    adjusted_p: float | None = None
    level: float = 0.95
    detectable: float | None = None
    matters: float | None = None
    runs_needed: int | None = None
    test_set_error: float | None = None
    notes: list[str] = field(default_factory=list)


def spread(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean and sample standard deviation; None for one value, exactly 0 for equal values."""
    values = np.asarray(values, dtype=float)
    if len(values) == 1:
        return float(values[0]), None
    if np.ptp(values) == 0:
        return float(values[0]), 0.0
    return float(values.mean()), float(values.std(ddof=1))


def quantile(level: float, df: float) -> float:
    """The t multiplier of a two-sided interval."""
    return float(stats.t.ppf((1 + level) / 2, df))


def two_sided(t: float, df: float) -> float:
    """The p value of a t statistic."""
    return float(2 * stats.t.sf(abs(t), df))


def prediction_interval(values: Sequence[float], *, further: float = 1, level: float = 0.95) -> tuple[float, float]:
    """Where the mean of `further` more runs falls with probability `level` (math.inf: the true mean, which makes it the
    confidence interval of the mean)."""
    mean, std = spread(values)
    half = quantile(level, len(values) - 1) * std * math.sqrt(1 / further + 1 / len(values))
    return mean - half, mean + half


def power(delta: float, std: float, n: int, *, further: float, level: float) -> float:
    """Probability that a true difference of `delta` is found with n runs of mine against a mean of `further` runs."""
    shift = delta / (std * math.sqrt(1 / further + 1 / n))
    cut = quantile(level, n - 1)
    # Far out scipy's noncentral t can be NaN; both tails are known there.
    upper = 1.0 if shift > cut + 10 else stats.nct.sf(cut, n - 1, shift)
    lower = 0.0 if shift > 6 else stats.nct.cdf(-cut, n - 1, shift)
    return float(upper + lower)


def detectable_difference(std: float, n: int, *, further: float, level: float) -> float:
    """The smallest true difference that n runs would find four times in five, if the paper's runs scatter as mine do."""
    low, high = 0.0, std
    while power(high, std, n, further=further, level=level) < POWER:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        found = power(middle, std, n, further=further, level=level) >= POWER
        low, high = (low, middle) if found else (middle, high)
    return high


def runs_to_tell(delta: float, std: float, *, further: float, level: float) -> int | None:
    """The fewest runs of mine that find a true difference `delta` four times in five; None when no number does, since
    the paper's own number is that uncertain."""
    if power(delta, std, MOST_RUNS, further=further, level=level) < POWER:
        return None
    low, high = 1, MOST_RUNS
    while high - low > 1:
        middle = (low + high) // 2
        found = power(delta, std, middle, further=further, level=level) >= POWER
        low, high = (low, middle) if found else (middle, high)
    return high


def must_be_sound(metric: str, reported: Reported, values: list[float], level: float, matters: float | None) -> None:
    given = [*values, reported.value, *([] if reported.std is None else [reported.std])]
    if not values:
        raise ValueError(f"{metric}: no run of your own was given")
    if not all(math.isfinite(value) for value in given):
        raise ValueError(f"{metric}: every value must be a finite number, but these were given: {given}")
    if not 0.5 <= level < 1:
        raise ValueError(f"the level must be at least 0.5 and below 1, not {level}")
    if reported.std is not None and reported.std < 0:
        raise ValueError(f"{metric}: a standard deviation cannot be negative, but the paper's is given as {reported.std}")
    if matters is not None and not matters > 0:
        raise ValueError(f"{metric}: a difference that matters must be positive, not {matters}")
    if reported.runs is not None and reported.runs < 1:
        raise ValueError(f"{metric}: the paper's number of runs must be at least 1, not {reported.runs}")
    if reported.std is not None and reported.runs == 1:
        raise ValueError(f"{metric}: one run has no standard deviation; leave out the paper's spread or give its number of runs")


def compare(reported: Reported, mine: Sequence[float], *, metric: str = "metric", level: float = 0.95,
            matters: float | None = None, higher_is_better: bool = True, test_size: int | None = None) -> Comparison:
    """Compare runs of one's own with a paper's number.

    matters: the smallest difference that would count, in the metric's unit. test_size: examples in the test set, for a
    metric that is a share of them (in per cent when the paper's number is above 1). Raises ValueError for input that
    means nothing (no runs, NaN, a number of runs below 1).
    """
    values = [float(value) for value in mine]
    must_be_sound(metric, reported, values, level, matters)
    n = len(values)
    mean, std = spread(values)
    out = Comparison(metric, UNDECIDED, "", "none", reported, n, mean, std, mean - reported.value, level=level, matters=matters)
    better = "better than" if (out.difference > 0) == higher_is_better else "worse than"
    side = f"{abs(out.difference):.3g} {better}" if out.difference else "equal to"
    if n == 1:
        judge_one_run(out, side)
    elif std == 0:
        out.reason = (f"all {n} runs gave exactly {mean:g}: either the seed does not reach the run, or the metric is too "
                      "coarse; without a spread nothing can be said")
    elif reported.std is not None and reported.runs is not None:
        judge_by_welch(out, side)
    else:
        judge_by_prediction(out, values, side)
    if std:
        look_ahead(out)
    out.test_set_error = test_set_error(out, test_size)
    return out


def judge_one_run(out: Comparison, side: str) -> None:
    reported = out.reported
    if not (reported.std and reported.runs):
        out.reason = f"one run ({out.mean:g}, {side} the paper's) has no spread; run at least three seeds"
        return
    error = reported.std * math.sqrt(1 + 1 / reported.runs)
    half = quantile(out.level, reported.runs - 1) * error
    out.method = f"prediction interval around the paper's {reported.runs} runs"
    out.interval, out.interval_of = (reported.value - half, reported.value + half), "my run"
    out.p = two_sided(out.difference / error, reported.runs - 1)
    decide(out, abs(out.difference) <= half,
           f"one further run like the paper's would fall in {show(out.interval)} {100 * out.level:g}% of the time; mine, "
           f"{out.mean:.4g}, is {{}} it")
    out.notes.append("one run of your own: its spread is taken to be the paper's")


def judge_by_welch(out: Comparison, side: str) -> None:
    reported, n = out.reported, out.n
    mine, theirs = out.std**2 / n, reported.std**2 / reported.runs
    error = math.sqrt(mine + theirs)
    df = (mine + theirs) ** 2 / (mine**2 / (n - 1) + theirs**2 / (reported.runs - 1))
    half = quantile(out.level, df) * error
    out.method = f"Welch's t test ({n} runs of mine, {reported.runs} of the paper's, {df:.1f} degrees of freedom)"
    out.interval, out.interval_of = (out.difference - half, out.difference + half), "difference, mine minus the paper's"
    out.p = two_sided(out.difference / error, df)
    decide(out, abs(out.difference) <= half,
           f"my mean is {side} the paper's; the {100 * out.level:g}% interval of the difference, {show(out.interval)}, {{}} 0",
           words=("contains", "does not contain"))
    if min(n, reported.runs) < 5 and n != reported.runs:
        out.notes.append("with so few and unequal numbers of runs Welch's test is a little quick: it flags up to 7% of faithful "
                         "reproductions where it says 5%")


def judge_by_prediction(out: Comparison, values: Sequence[float], side: str) -> None:
    reported, further = out.reported, out.reported.runs or 1
    out.interval = prediction_interval(values, further=further, level=out.level)
    out.p = two_sided(out.difference / (out.std * math.sqrt(1 / further + 1 / out.n)), out.n - 1)
    what = "one further run" if further == 1 else f"the mean of {further} further runs"
    out.method = f"prediction interval for {what}"
    decide(out, out.interval[0] <= reported.value <= out.interval[1],
           f"{what} like mine would fall in {show(out.interval)} {100 * out.level:g}% of the time; the paper's "
           f"{reported.value:g} is {{}} it (my mean, {out.mean:.4g}, is {side} the paper's)")
    if reported.runs is None:
        out.notes.append("what the paper's number is was not given; it was taken as one run, the mildest reading. If it is a "
                         "mean of N runs, give N; if it is the best of several runs, it lies high by itself")
        exact = prediction_interval(values, further=math.inf, level=out.level)
        if out.verdict != INCONSISTENT and not exact[0] <= reported.value <= exact[1]:
            out.notes.append(f"read as an exact mean it would not be consistent: the interval of my own mean is {show(exact)}")
    if reported.std is not None:
        out.notes.append("the paper's spread could not be used without its number of runs")


def decide(out: Comparison, within: bool, reason: str, words: tuple[str, str] = ("inside", "outside")) -> None:
    """Outside the interval is inconsistent; inside is consistent, unless a difference that matters could hide in it."""
    out.reason = reason.format(words[0] if within else words[1])
    out.verdict = CONSISTENT if within else INCONSISTENT
    if not within:
        return
    half = (out.interval[1] - out.interval[0]) / 2
    if out.matters is not None and abs(out.difference) + half > out.matters:
        out.verdict = UNDECIDED
        out.reason += f"; but a difference of {out.matters:g}, which matters, is not ruled out either"
    elif out.n == 2:
        out.verdict = UNDECIDED
        out.reason += "; but two runs give an interval so wide that this says little"


def look_ahead(out: Comparison) -> None:
    """What these runs could have found, and how many would find the difference in question."""
    further = out.reported.runs or 1
    out.detectable = detectable_difference(out.std, out.n, further=further, level=out.level)
    delta = out.matters or abs(out.difference)
    if delta:
        out.runs_needed = runs_to_tell(delta, out.std, further=further, level=out.level)
        if out.runs_needed is None:
            what = "one run" if further == 1 else f"a mean of {further} runs"
            out.notes.append(f"no number of your own runs would tell a difference of {delta:.3g}: the paper's number, {what}, is "
                             "itself that uncertain")
    if out.n < 10:
        out.notes.append(f"no bootstrap is used: resampling {out.n} runs gives intervals that are too narrow (at n = 5 one that "
                         "claims 95% covers about 84%)")


def test_set_error(out: Comparison, size: int | None) -> float | None:
    """The standard error that the test set's size alone gives to a share of its examples, in the metric's unit."""
    if size is None:
        return None
    scale = 100 if out.reported.value > 1 else 1
    share = out.reported.value / scale
    if size < 1 or not 0 <= share <= 1:
        raise ValueError(f"{out.metric}: {out.reported.value:g} is no share of a test set of {size}; leave out its size")
    error = scale * math.sqrt(share * (1 - share) / size)
    out.notes.append(f"another test set of {size} examples would move this metric by {error:.2g} (one standard error) by itself; "
                     "seeds on one and the same test set do not show that")
    return error


def show(interval: tuple[float, float]) -> str:
    return f"[{interval[0]:.4g}, {interval[1]:.4g}]"


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values, in the given order; None stays None and does not count."""
    known = sorted((p, at) for at, p in enumerate(ps) if p is not None)
    out: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, at) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        out[at] = highest
    return out


def compare_many(rows: Sequence[tuple[str, Reported, Sequence[float]]], *, level: float = 0.95, **options) -> list[Comparison]:
    """Several metrics at once: one is called inconsistent only if it still is after Holm's correction for their number."""
    out = [compare(reported, mine, metric=metric, level=level, **options) for metric, reported, mine in rows]
    for one, p in zip(out, holm([one.p for one in out]), strict=True):
        one.adjusted_p = p
        if one.verdict == INCONSISTENT and p is not None and p > 1 - level:
            one.verdict = UNDECIDED
            one.reason += f"; but among {len(out)} metrics one such comes up now and then by chance (adjusted p = {p:.3f})"
    return out
