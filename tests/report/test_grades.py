"""Estimates have honest intervals, and each rule gives each of the three grades."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import bootstrap
from scipy.stats.mstats import mquantiles

from skyweave.report.criteria.grades import (
    grade_bound,
    grade_equal,
    grade_order,
    grade_overlap,
    grade_ratio,
    grade_value,
    worst,
)
from skyweave.report.numbers.stats import Draws, Estimate


def around(value: float, half: float) -> Estimate:
    """An estimate with an interval of about ± half."""
    return Estimate(value, np.linspace(value - half, value + half, 1001))


LONE = np.empty(0)


def test_overlap() -> None:
    assert grade_overlap(around(2, 1), around(2.5, 1)) == "reproduced"
    assert grade_overlap(around(2, 3), around(4, 1)) == "direction only"
    assert grade_overlap(around(2, 0.5), around(4, 0.5)) == "not reproduced"


def test_order() -> None:
    assert grade_order(around(2, 1), ">") == "reproduced"
    assert grade_order(around(2, 3), ">") == "direction only"
    assert grade_order(around(-1, 3), ">") == "not reproduced"
    assert grade_order(around(0, 0), ">=") == "reproduced"
    assert grade_order(around(-1, 3), ">=") == "direction only"
    assert grade_order(around(-4, 3), ">=") == "not reproduced"


def test_ratio() -> None:
    band = (1.4, 2.1)
    assert grade_ratio(around(1.6, 0.1), band, 1.73) == "reproduced"
    assert grade_ratio(around(1.3, 0.2), band, 1.73) == "reproduced"
    assert grade_ratio(around(1.2, 0.1), band, 1.73) == "direction only"
    assert grade_ratio(around(1.5, 0.6), band, 1.73) == "direction only"
    assert grade_ratio(around(3.0, 0.2), band, 1.73) == "direction only"
    assert grade_ratio(around(0.9, 0.6), band, 1.73) == "not reproduced"
    assert grade_ratio(around(0.6, 0.1), (0.5, 0.8), 0.7) == "reproduced"
    assert grade_ratio(around(1.1, 0.1), (0.5, 0.8), 0.7) == "not reproduced"


def test_equal() -> None:
    assert grade_equal(around(1.1, 0.5), (0.8, 1.2)) == "reproduced"
    assert grade_equal(around(1.3, 0.2), (0.8, 1.2)) == "direction only"
    assert grade_equal(around(1.5, 0.1), (0.8, 1.2)) == "not reproduced"


def test_bound() -> None:
    assert grade_bound(around(0.004, 0.002), "<", 0.01) == "reproduced"
    assert grade_bound(around(0.008, 0.004), "<", 0.01) == "direction only"
    assert grade_bound(around(0.02, 0.015), "<", 0.01) == "not reproduced"
    assert grade_bound(around(0, 0), "<=", 0.0) == "reproduced"
    assert grade_bound(around(-2, 0.5), ">=", -3) == "reproduced"
    assert grade_bound(around(-2, 1.5), ">=", -3) == "direction only"
    assert grade_bound(around(0, 0), ">", 0.0) == "not reproduced"


def test_value() -> None:
    assert grade_value(around(66, 5), 64, 0.1) == "reproduced"
    assert grade_value(around(75, 6), 64, 0.1) == "direction only"
    assert grade_value(around(90, 6), 64, 0.1) == "not reproduced"


def test_one_drive_can_only_show_a_direction() -> None:
    lone = Estimate(5.0, LONE)
    assert np.isnan(lone.low)
    assert grade_order(lone, ">") == "direction only"
    assert grade_ratio(Estimate(1.6, LONE), (1.4, 2.1), 1.7) == "direction only"
    assert grade_bound(Estimate(0.0, LONE), "<", 1) == "direction only"
    assert len(Draws(1, 1000).estimate([np.arange(5.0)], "median").draws) == 0


def test_worst() -> None:
    assert worst(["reproduced", "direction only"]) == "direction only"
    assert worst(["not reproduced", "reproduced"]) == "not reproduced"


def test_statistics_by_hand() -> None:
    draws = Draws(2, 500)
    samples = [np.array([0.0, 0.0, 4.0, 8.0]), np.array([2.0, 6.0])]
    expected = {
        "mean": 20 / 6,
        "median": 3,
        "p25": 0.5,
        "min": 0,
        "max": 8,
        "zero_share": 2 / 6,
    }
    for name, value in expected.items():
        found = draws.estimate(samples, name)
        assert found.value == pytest.approx(value), name
        assert found.low <= found.high, name
        assert len(found.draws) == 500


def test_draws_agree_with_resampling_by_hand() -> None:
    rng = np.random.default_rng(7)
    samples = [rng.lognormal(3, 1, 40) for _ in range(6)]
    draws = Draws(6, 200)
    for name, quantile in (("median", 0.5), ("p25", 0.25), ("p95", 0.95)):
        found = draws.estimate(samples, name)
        for counts, value in zip(draws.counts[:20], found.draws, strict=False):
            pool = np.concatenate([np.tile(s, c) for s, c in zip(samples, counts, strict=True)])
            assert value == pytest.approx(np.quantile(pool, quantile)), name


def test_quantiles_and_intervals_are_those_of_scipy() -> None:
    rng = np.random.default_rng(11)
    samples = [rng.normal(100, 20, 1) for _ in range(300)]  # one a drive, as scipy draws them
    pooled = np.concatenate(samples)
    for name, quantile in (("median", 0.5), ("p25", 0.25), ("p95", 0.95)):
        found = Draws(300, 4000).estimate(samples, name)
        assert found.value == pytest.approx(mquantiles(pooled, quantile, alphap=1, betap=1)[0])
        theirs = bootstrap(
            (pooled,), partial(np.quantile, q=quantile), n_resamples=4000, method="percentile",
            vectorized=True, rng=np.random.default_rng(2),
        ).confidence_interval  # fmt: skip
        for ours, other in ((found.low, theirs.low), (found.high, theirs.high)):
            assert ours == pytest.approx(other, rel=0.015), name


def test_an_interval_has_its_own_value() -> None:
    """Two estimators, one for the value and one for the draws, once left 6 of 28 outside."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        samples = [np.round(rng.lognormal(1, 1, 3), 1) for _ in range(2)]
        same = [samples[0], samples[0]]
        for name in ("median", "p25", "p75", "p95"):
            alike = Draws(2, 200).estimate(same, name)
            assert alike.low <= alike.value <= alike.high
            assert alike.value == pytest.approx(np.quantile(np.concatenate(same), _share(name)))


def _share(name: str) -> float:
    return 0.5 if name == "median" else int(name[1:]) / 100


def test_pairs_share_draws() -> None:
    rng = np.random.default_rng(3)
    base = [rng.normal(100 * i, 1, 30) for i in range(8)]
    better = [s + 1 for s in base]
    draws = Draws(8, 400)
    gain = draws.estimate(better, "mean") - draws.estimate(base, "mean")
    assert gain.low == pytest.approx(1)
    assert gain.high == pytest.approx(1)
    ratio = draws.estimate(base, "mean").over(draws.estimate(base, "mean"))
    assert ratio.value == pytest.approx(1)


def test_what_never_ends_is_infinite() -> None:
    never = Draws(2, 100).estimate([np.array([np.inf, np.inf]), np.array([1.0, np.inf])], "median")
    assert (never.value, never.high) == (np.inf, np.inf)
    assert Draws(2, 100).estimate([np.array([1.0]), np.array([2.0])], "median").value == 1.5


def test_division_by_nothing() -> None:
    zero, one = Estimate(0.0, np.zeros(5)), Estimate(1.0, np.ones(5))
    assert one.over(zero).value == float("inf")
    assert len(zero.over(zero).draws) == 0
