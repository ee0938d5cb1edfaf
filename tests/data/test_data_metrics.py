"""Metrics on numbers small enough to check by hand."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyweave.data import concurrent_outage, describe, outage_share
from skyweave.data.metrics import (
    autocorrelation,
    correlation,
    on_grid,
    quantiles,
    run_lengths,
    slot_profile,
)
from skyweave.model.drive import Drive, PathTrace, Series

NAN = float("nan")


def test_concurrent_outage_by_hand():
    a = np.array([0, 0, 0.5, 0.5, 4, 10, 0, 1.0])
    b = np.array([0, 3, 0.0, 0.9, 4, 0, 9, 0.5])
    found = concurrent_outage(a, b)
    assert found.samples == 8
    assert found.a_zero == 3 / 8
    assert found.b_zero == 3 / 8
    assert found.both_zero == 1 / 8
    assert found.both_below_1 == 3 / 8  # strictly below: 1.0 does not count
    assert found.both_below_5 == 6 / 8


rates = st.lists(st.tuples(st.sampled_from([0, 0.5, 1, 3, 5, 9]), st.sampled_from([0, 0.9, 1, 7])))


@given(rates.filter(len))
def test_concurrent_outage_is_the_published_definition(pairs):
    a, b = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    found = concurrent_outage(a, b)
    n = len(pairs)
    assert found.both_zero == sum(x == 0 and y == 0 for x, y in pairs) / n
    assert found.both_below_1 == sum(x < 1 and y < 1 for x, y in pairs) / n
    assert found.both_below_5 == sum(x < 5 and y < 5 for x, y in pairs) / n
    assert found.a_zero == outage_share(a)
    assert found.both_zero <= min(found.a_zero, found.b_zero)


def test_unlogged_samples_count_nowhere():
    found = concurrent_outage(np.array([0, NAN, 0.0]), np.array([0, 0, NAN]))
    assert (found.samples, found.both_zero) == (1, 1.0)
    assert outage_share(np.array([0, NAN, 2.0])) == 0.5
    assert outage_share(np.array([0, 0.5, 2, 1.0]), 1.0) == 0.5
    assert np.isnan(outage_share(np.array([NAN])))
    assert np.isnan(concurrent_outage(np.array([NAN]), np.array([1.0])).both_zero)


def test_quantiles_and_correlation():
    assert quantiles(np.array([1, 2, NAN, 3.0]), (0, 50, 100)).tolist() == [1, 2, 3]
    assert np.isnan(quantiles(np.empty(0))).all()
    x = np.arange(5.0)
    assert correlation(x, 2 * x) == pytest.approx(1)
    assert correlation(x, -x) == pytest.approx(-1)
    assert np.isnan(correlation(x, np.ones(5)))


def test_autocorrelation_never_spans_two_pieces():
    pieces = [np.array([1.0, 1, 1]), np.array([-1.0, -1, -1])]
    assert autocorrelation(pieces, [1, 2, 3])[:2].tolist() == [1, 1]
    assert np.isnan(autocorrelation(pieces, [3])[0])
    assert autocorrelation([np.array([1.0, -1] * 50)], [1, 2]) == pytest.approx([-1, 1])


def test_on_grid_holds_and_ends():
    series = Series(np.array([0.0, 1, 3]), np.array([5.0, 6, 7]))
    assert on_grid(series, 1.0, 6)[:4].tolist() == [5, 6, 6, 7]
    assert np.isnan(on_grid(series, 1.0, 6)[5])


def test_run_lengths():
    assert run_lengths(np.array([True, True, False, True])).tolist() == [2, 1]
    assert run_lengths(np.array([False])).tolist() == []


@pytest.mark.parametrize("phase_s", [0, 3, 12])
@pytest.mark.parametrize("spacing_s", [0.5, 1.0])
def test_the_slot_phase_is_found_from_absolute_times(phase_s, spacing_s):
    rng = np.random.default_rng(1)
    start = datetime(2024, 1, 1, 12, 0, 5)
    times_s = np.arange(0, 1200, spacing_s)
    slots = np.floor((times_s + 5 - phase_s) / 15).astype(int)
    values = 100 + 40 * rng.standard_normal(200)[slots] + rng.standard_normal(len(times_s))
    found = slot_profile([(Series(times_s, values), start)])
    assert found.found
    assert found.phase_s == phase_s
    shifted = slot_profile([(Series(times_s, values), start + timedelta(seconds=4))])
    assert shifted.phase_s == (phase_s + 4) % 15


def test_noise_has_no_slots_and_short_series_no_profile():
    start = datetime(2024, 1, 1)
    noise = Series(np.arange(3000.0), np.random.default_rng(2).standard_normal(3000))
    assert not slot_profile([(noise, start)]).found
    assert slot_profile([(Series(np.arange(20.0), np.arange(20.0)), start)]) is None
    coarse = Series(np.arange(0, 9000.0, 25), np.arange(360.0))
    assert slot_profile([(coarse, start)]) is None


def test_describe_holds_the_finer_series_on_the_coarser_grid():
    fine = Series(np.arange(0, 4, 0.5), np.array([0.0, 9, 0, 9, 5, 9, 0, 9]))
    coarse = Series(np.arange(4.0), np.array([0.0, 2, 2, 0]))
    drive = Drive("d", "t", {"a": PathTrace(fine), "b": PathTrace(coarse)})
    (pair,) = describe([drive])["pairs"]
    assert (pair["n"], pair["a_zero"], pair["both_zero"]) == (4, 0.75, 0.5)
    assert describe([drive])["series"][0]["n"] == 8
