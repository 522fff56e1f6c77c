"""compare_results.py: agrees with scipy and statsmodels, keeps its level, says what it cannot tell."""

import json
import math
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from conftest import ROOT
from paper2code.reproduce import plot, statistics
from paper2code.reproduce.statistics import CONSISTENT, INCONSISTENT, UNDECIDED, Reported, compare

scipy_stats = pytest.importorskip("scipy.stats")
MINE = [26.7, 27.1, 26.8, 27.2, 26.9]


def run(*arguments):
    return subprocess.run([sys.executable, str(ROOT / "scripts" / "compare_results.py"), *arguments], capture_output=True, text=True,
                          encoding="utf-8")


def test_welch_agrees_with_scipy_and_statsmodels():
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    rng = np.random.default_rng(3)
    for n, k in ((5, 5), (3, 9), (8, 4)):
        mine, theirs = rng.normal(1, 2, n), rng.normal(2, 0.5, k)
        one = compare(Reported(theirs.mean(), theirs.std(ddof=1), k), mine)
        two = scipy_stats.ttest_ind(mine, theirs, equal_var=False)
        assert one.p == pytest.approx(two.pvalue, abs=1e-9)
        means = weightstats.CompareMeans(weightstats.DescrStatsW(mine), weightstats.DescrStatsW(theirs))
        assert one.interval == pytest.approx(means.tconfint_diff(usevar="unequal"), abs=1e-9)


def test_prediction_interval_agrees_with_a_regression_on_nothing():
    regression = pytest.importorskip("statsmodels.api")
    fit = regression.OLS(np.array(MINE), np.ones(5)).fit().get_prediction([[1.0]])
    assert statistics.prediction_interval(MINE) == pytest.approx(tuple(fit.conf_int(obs=True)[0]), abs=1e-9)
    assert statistics.prediction_interval(MINE, further=math.inf) == pytest.approx(tuple(fit.conf_int()[0]), abs=1e-9)
    assert compare(Reported(27.3), MINE).p == pytest.approx(0.188, abs=5e-4)


def test_holm_agrees_with_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    ps = [0.01, 0.04, 0.03, 0.5, 0.012]
    assert statistics.holm([*ps, None])[:5] == pytest.approx(list(multitest.multipletests(ps, method="holm")[1]), abs=1e-12)


def test_power_agrees_with_statsmodels():
    powers = pytest.importorskip("statsmodels.stats.power")
    # Against an exact number the test is a one-sample t test.
    for n, effect in ((5, 1.0), (12, 0.6)):
        assert statistics.power(effect, 1.0, n, further=math.inf, level=0.95) == pytest.approx(
            powers.TTestPower().power(effect, n, 0.05), abs=1e-9)
    n = statistics.runs_to_tell(0.5, 1.0, further=math.inf, level=0.95)
    assert n == math.ceil(powers.TTestPower().solve_power(0.5, alpha=0.05, power=0.8))


@pytest.mark.parametrize("paper_runs, given", [(1, None), (1, 1), (4, 4)])
@pytest.mark.parametrize("n", [3, 5, 10])
def test_false_alarms_come_at_the_stated_rate(n, paper_runs, given):
    rng = np.random.default_rng(0)
    trials = 12_000
    mine, paper = rng.normal(size=(trials, n)), rng.normal(size=(trials, paper_runs)).mean(1)
    error = mine.std(1, ddof=1) * math.sqrt(1 / (given or 1) + 1 / n)
    alarms = np.abs(mine.mean(1) - paper) > statistics.quantile(0.95, n - 1) * error
    assert alarms.mean() == pytest.approx(0.05, abs=0.01)
    # The vectorised rule above is the one that compare follows.
    for at in range(60):
        one = compare(Reported(float(paper[at]), None, given), mine[at])
        assert (one.p < 0.05) == alarms[at]
        assert (one.verdict == INCONSISTENT) == alarms[at]


@pytest.mark.parametrize("n, k", [(3, 5), (5, 5), (10, 3)])
def test_false_alarms_of_welch(n, k):
    rng = np.random.default_rng(1)
    mine, theirs = rng.normal(size=(20_000, n)), rng.normal(size=(20_000, k))
    alarms = scipy_stats.ttest_ind(mine, theirs, axis=1, equal_var=False).pvalue < 0.05
    unequal = min(n, k) < 5 and n != k
    assert alarms.mean() == pytest.approx(0.05, abs=0.02 if unequal else 0.01)
    assert unequal == any("a little quick" in note for note in compare(Reported(theirs[0].mean(), 1.0, k), mine[0]).notes)
    for a, b, alarm in zip(mine[:100], theirs[:100], alarms, strict=False):
        assert (compare(Reported(b.mean(), b.std(ddof=1), k), a).verdict == INCONSISTENT) == alarm


def test_the_bare_z_rule_would_not_keep_its_level():
    """Why |paper - mean| / s < 2 is not used: at n = 5 it flags a perfect reproduction 14% of the time."""
    rng = np.random.default_rng(2)
    mine, paper = rng.normal(size=(40_000, 5)), rng.normal(size=40_000)
    assert (np.abs(paper - mine.mean(1)) / mine.std(1, ddof=1) > 2).mean() == pytest.approx(0.135, abs=0.01)


def test_verdicts():
    assert compare(Reported(27.3), MINE).verdict == CONSISTENT
    assert compare(Reported(28.9), MINE).verdict == INCONSISTENT
    assert compare(Reported(27.3, 0.2, 5), MINE).verdict == INCONSISTENT
    assert compare(Reported(26.95), MINE, matters=0.1).verdict == UNDECIDED
    assert compare(Reported(26.95), MINE, matters=2).verdict == CONSISTENT
    assert compare(Reported(27.3), [26.9]).verdict == UNDECIDED
    assert compare(Reported(27.3), [26.9, 27.0]).verdict == UNDECIDED
    assert compare(Reported(27.3), [26.9, 26.9, 26.9]).verdict == UNDECIDED
    assert compare(Reported(27.3, 0.2, 5), [26.0]).verdict == INCONSISTENT
    assert compare(Reported(27.3, 0.2, 5), [27.2]).verdict == CONSISTENT


def test_side_is_said_in_the_metrics_sense():
    assert "worse than" in compare(Reported(27.3), MINE).reason
    assert "better than" in compare(Reported(27.3), MINE, higher_is_better=False).reason


def test_many_metrics_are_corrected():
    rows = [(f"m{at}", Reported(27.3 if at else 27.75), MINE) for at in range(12)]
    alone = compare(Reported(27.75), MINE)
    assert alone.verdict == INCONSISTENT
    together = statistics.compare_many(rows)
    assert together[0].verdict == UNDECIDED and together[0].adjusted_p > 0.05
    assert statistics.compare_many(rows[:1])[0].verdict == INCONSISTENT


def test_test_set_error():
    one = compare(Reported(95.0), [94.8, 95.1, 95.0], test_size=10_000)
    assert one.test_set_error == pytest.approx(0.218, abs=1e-3)
    assert compare(Reported(0.95), [0.94, 0.95, 0.96], test_size=10_000).test_set_error == pytest.approx(0.00218, abs=1e-5)


@pytest.mark.parametrize("reported, mine, options, told", [
    (Reported(1.0), [], {}, "no run"), (Reported(math.nan), [1.0], {}, "finite"), (Reported(1.0), [math.inf, 1], {}, "finite"),
    (Reported(1.0, 0.1, 1), [1.0, 2.0], {}, "one run has no standard deviation"), (Reported(1.0, -1, 3), [1.0, 2.0], {}, "negative"),
    (Reported(1.0, None, 0), [1.0, 2.0], {}, "at least 1"), (Reported(1.0), [1.0, 2.0], {"matters": 0}, "positive"),
    (Reported(1.0), [1.0, 2.0], {"level": 1}, "level"), (Reported(250.0), [1.0, 2.0], {"test_size": 10}, "share"),
])
def test_input_that_means_nothing(reported, mine, options, told):
    with pytest.raises(ValueError, match=told):
        compare(reported, mine, **options)


def test_script_explains_itself(tmp_path):
    done = run("--paper", "27.3", "--mine", *map(str, MINE), "--plot", str(tmp_path / "plot.svg"))
    assert done.returncode == 0, done.stderr
    assert "CONSISTENT" in done.stdout and "[26.31, 27.57]" in done.stdout and "taken as one run" in done.stdout
    assert ElementTree.parse(tmp_path / "plot.svg").getroot().tag.endswith("svg")
    done = run("--paper", "27.3", "--paper-std", "0.2", "--paper-n", "5", "--mine", *map(str, MINE), "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["comparisons"][0]["p"] == pytest.approx(0.0234, abs=1e-4)


def test_script_on_a_csv(tmp_path):
    table = tmp_path / "results.csv"
    table.write_text("metric,paper,paper_std,paper_n,mine\nBLEU,27.3,0.2,5,26.7 27.1 26.8 27.2 26.9\nacc,91,,,90 91;92\n", encoding="utf-8")
    done = run("--csv", str(table), "--out", str(tmp_path / "out.txt"))
    assert done.returncode == 1 and not done.stdout
    told = (tmp_path / "out.txt").read_text(encoding="utf-8")
    assert "BLEU: NOT CONSISTENT" in told and "acc: CONSISTENT" in told and "0.047 after Holm" in told


@pytest.mark.parametrize("content, told", [
    ("metric,paper\nx,1\n", "lacks mine"), ("metric,paper,mine,seed\nx,1,2,3\n", "has seed"), ("metric,paper,mine\n", "no rows"),
    ("metric,paper,mine\nx,abc,2\n", ":2: paper is 'abc'"), ("metric,paper,mine\nx,,2\n", ":2:"), ("metric,paper,mine\nx,1,\n", "no run"),
    ("metric,paper,mine\nx,nan,1 2 3\n", "finite"),
])
def test_script_on_a_bad_csv(tmp_path, content, told):
    (tmp_path / "bad.csv").write_text(content, encoding="utf-8")
    done = run("--csv", str(tmp_path / "bad.csv"))
    assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr


def test_plot_shows_hostile_names_as_text():
    one = compare(Reported(1.0), [1.0, 1.1, 0.9], metric="<script>alert(1)</script>")
    drawn = plot.svg([(one, [1.0, 1.1, 0.9])])
    assert "<script" not in drawn and ElementTree.fromstring(drawn) is not None


@pytest.mark.parametrize("notes", ["# Notes\n", "# Notes\n\n## Attempts and deviations\n\n## References\n\n- x\n",
                                   "# Notes\n\n## Attempts and deviations\n\n| date | change | result | verdict |\n|---|---|---|---|\n| a | b | c | d |"])
def test_log_of_attempts(tmp_path, notes):
    path = tmp_path / "REPRODUCTION_NOTES.md"
    path.write_text(notes, encoding="utf-8")
    for change in ("first | try", "second"):
        done = run("--paper", "27.3", "--mine", *map(str, MINE), "--log", str(tmp_path), "--change", change)
        assert done.returncode == 0, done.stderr
    text = path.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| 20")]
    assert len(rows) == 2 and "first \\| try" in rows[0] and "second" in rows[1] and rows[0].endswith("consistent |")
    assert text.count("| date | change |") == 1 and text.startswith("# Notes")
    assert ("## References\n\n- x" in text) == ("References" in notes) and ("| a | b | c | d |" in text) == ("| a |" in notes)


def test_log_needs_notes_and_a_change(tmp_path):
    assert run("--paper", "1", "--mine", "1", "2", "3", "--log", str(tmp_path), "--change", "x").returncode == 2
    assert run("--paper", "1", "--mine", "1", "2", "3", "--log", str(tmp_path)).returncode == 2
