"""The arithmetic of bonding on numbers that fit in the head, and its identities on any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skyweave.report.numbers import metrics

A = np.array([0.0, 10.0, 0.0, 4.0, 0.5])
B = np.array([5.0, 0.0, 0.0, 6.0, 0.5])
BONDED = np.array([4.0, 9.0, 0.0, 9.5, 0.9])
RATES = arrays(np.float64, 20, elements=st.floats(0, 1000))


def test_max_sum_and_differences() -> None:
    assert metrics.best_single([A, B]).tolist() == [5, 10, 0, 6, 0.5]
    assert metrics.total_of([A, B]).tolist() == [5, 10, 0, 10, 1]
    assert metrics.bonded_minus_max(BONDED, [A, B]) == pytest.approx([-1, -1, 0, 3.5, 0.4])
    assert metrics.sum_minus_bonded(BONDED, [A, B]) == pytest.approx([1, 1, 0, 0.5, 0.1])


@given(RATES, RATES, st.floats(0, 1))
def test_identities(a: np.ndarray, b: np.ndarray, share: float) -> None:
    top, total = metrics.best_single([a, b]), metrics.total_of([a, b])
    assert (top <= total).all()
    oracle = top + share * (total - top)
    assert (oracle <= total * (1 + 1e-12) + 1e-12).all()
    split = metrics.bonded_minus_max(oracle, [a, b]) + metrics.sum_minus_bonded(oracle, [a, b])
    assert split == pytest.approx(np.minimum(a, b), abs=1e-9)
    both = metrics.concurrent_outage_share(a, b)
    assert both <= min(metrics.outage_share(a), metrics.outage_share(b))
    assert both == metrics.outage_share(total)


def test_table_1_concurrent_outage() -> None:
    assert metrics.outage_share(A) == 2 / 5
    assert metrics.concurrent_outage_share(A, B) == 1 / 5
    assert metrics.concurrent_outage_share(A, B, below_mbps=1) == 2 / 5
    assert metrics.concurrent_outage_share(A, B, below_mbps=5) == 2 / 5
    assert metrics.concurrent_outage_share(A, B, below_mbps=6) == 3 / 5


def test_samples_before_the_connection_opened() -> None:
    assert [metrics.opening_samples(x) for x in (A, B, np.zeros(3))] == [1, 0, 3]


def test_table_1_leaves_out_what_was_not_measured() -> None:
    gap = np.array([np.nan, 0.0, 0.0, np.nan])
    assert metrics.concurrent_outage_share(gap, np.array([0.0, 0.0, 1.0, 1.0])) == 1 / 2
    assert metrics.concurrent_outage_share(np.array([np.nan]), np.array([0.0])) == 0


def test_bins_average_the_interval_that_ends_there() -> None:
    times = np.array([0.5, 1.0, 1.5, 2.0, 2.5])
    rates = np.array([2.0, 4.0, 6.0, 8.0, 100.0])
    assert metrics.to_bins(times, rates, 1.0, 2.5).tolist() == [3, 7]
    assert metrics.to_bins(times[:2], rates[:2], 1.0, 3.0).tolist() == [3, 0, 0]
    tenths = np.arange(1, 1201) * 0.1
    assert metrics.to_bins(tenths, np.ones(1200), 1.0, 120.0).tolist() == [1.0] * 120


def test_steps_to_bins_keeps_the_area() -> None:
    times, rates = np.array([0.0, 0.5, 2.0]), np.array([10.0, 20.0, 40.0])
    assert metrics.steps_to_bins(times, rates, 1.0, 4.0).tolist() == [15, 20, 40, 40]


def test_nothing_is_carried_in_outages_and_absences() -> None:
    times, rates = np.array([0.0, 2.0]), np.array([10.0, 20.0])
    out = [(0.5, 1.0), *metrics.gaps([(0.0, 3.0), (3.5, None)])]
    silent = metrics.silenced(times, rates, out)
    assert metrics.steps_to_bins(*silent, 1.0, 5.0).tolist() == [5, 10, 20, 10, 20]
    assert metrics.silenced(times, rates, [])[0] is times
    assert metrics.gaps([]) == [(0.0, float("inf"))]
    assert metrics.gaps([(0.0, None)]) == []
    never = metrics.silenced(times, rates, metrics.gaps([(1.0, 2.0)]))
    assert metrics.steps_to_bins(*never, 1.0, 4.0).tolist() == [0, 10, 0, 0]


def test_spearman() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert metrics.spearman(x, x**3) == pytest.approx(1)
    assert metrics.spearman(x, -x) == pytest.approx(-1)
    assert metrics.spearman(x, np.ones(4)) == 0
    ties = metrics.spearman(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    assert ties == pytest.approx(np.sqrt(3) / 2)


def _link(capacity: dict[str, object]) -> dict[str, object]:
    return {
        "down": {"capacity": capacity, "outages": []},
        "present": [{"start_s": 0, "end_s": None}],
    }


def test_a_capacity_that_loops_begins_again() -> None:
    steps = {"kind": "steps", "times_s": [0.0, 1.0], "mbps": [2.0, 6.0], "repeat_s": 2.0}
    found = metrics.capacity_in_bins(_link(steps), "down", 1.0, 5.0)
    assert found.tolist() == [2, 6, 2, 6, 2]
    once = metrics.capacity_in_bins(_link({**steps, "repeat_s": None}), "down", 1.0, 5.0)
    assert once.tolist() == [2, 6, 6, 6, 6]
    # Two packets of 1500 bytes in each second, and the trace is a second long.
    packets = {"kind": "opportunities", "times_ms": [500, 1000]}
    found = metrics.capacity_in_bins(_link(packets), "down", 2.0, 4.0)
    assert found == pytest.approx([0.024, 0.024], rel=0.5)
    assert found.sum() * 2 / 0.012 == pytest.approx(7, abs=1)
