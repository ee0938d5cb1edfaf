"""Slots where the truth is known: period, phase, handovers, and no slots where there are none."""

import numpy as np
import pytest
from made_up_slots import distance, precision_and_recall, slotted, unslotted

from skyweave.errors import ConfigError, DataError
from skyweave.forecast import estimate_slots, measurement

HELD_OUT = range(700, 704)
"""Seeds that no threshold was chosen with."""
CASES = [
    (15.0, 12.0, 0.1, "rtt"),
    (15.0, 3.5, 0.2, "rtt"),
    (10.0, 0.2, 0.1, "rtt"),
    (20.0, 19.8, 0.25, "rtt"),
    (15.0, 12.0, 1.0, "throughput"),
    (30.0, 5.0, 1.0, "throughput"),
]


@pytest.mark.parametrize(("period_s", "offset_s", "spacing_s", "kind"), CASES)
def test_phase_and_handovers_of_a_known_period(period_s, offset_s, spacing_s, kind):
    scores = []
    for seed in HELD_OUT:
        series, true = slotted(seed, period_s, offset_s, spacing_s, kind)
        found = estimate_slots(series, period_s)
        assert found.found
        assert abs(distance(found.offset_s, offset_s, period_s)) <= max(0.25, 0.6 * spacing_s)
        assert found.offset_low_s <= found.offset_s <= found.offset_high_s
        scores.append(precision_and_recall(found, true))
    precision, recall = np.mean(scores, axis=0)
    assert precision >= 0.9
    assert recall >= (
        0.85 if kind == "rtt" else 0.55
    )  # two samples before and after do not say more


def test_the_interval_covers_the_phase():
    inside = 0
    for seed in range(720, 740):
        series, _ = slotted(seed, spacing_s=0.5, share=0.4)
        found = estimate_slots(series)
        error = distance(found.offset_s, 12.0, 15.0)
        inside += (
            found.offset_s - found.offset_high_s <= error <= found.offset_s - found.offset_low_s
        )
    assert inside >= 17  # 95 % of 20, and chance


@pytest.mark.parametrize(("period_s", "offset_s"), [(15.0, 12.0), (10.0, 0.2), (12.5, 7.0)])
def test_a_searched_period_is_found(period_s, offset_s):
    for seed in HELD_OUT:
        series, true = slotted(seed, period_s, offset_s)
        found = estimate_slots(series, (5.0, 60.0))
        assert (found.found, found.searched, found.period_s) == (True, True, period_s)
        assert precision_and_recall(found, true)[0] >= 0.85


@pytest.mark.parametrize("moved_s", [1.0, 4.3, 14.9, 3600.25])
def test_moving_all_times_moves_the_phase_and_nothing_else(moved_s):
    series, _ = slotted(1)
    before = estimate_slots(series)
    after = estimate_slots(
        measurement("moved", "rtt", series.times_unix_s + moved_s, series.values)
    )
    assert distance(after.offset_s, before.offset_s + moved_s, 15.0) == pytest.approx(0, abs=1e-5)
    assert after.p_value == before.p_value
    assert len(after.handovers) == len(before.handovers)


@pytest.mark.parametrize("which", ["rank", "log"])
def test_any_rising_scale_gives_the_same(which):
    series, _ = slotted(2)
    values = np.log(series.values) if which == "log" else series.values**3
    scaled = measurement("scaled", "rtt", series.times_unix_s, values)
    one, other = estimate_slots(series), estimate_slots(scaled)
    assert one.offset_s == other.offset_s
    assert [e.confidence for e in one.edges] == [e.confidence for e in other.edges]


def test_bursts_of_loss_at_the_edges_are_slots_too():
    rng = np.random.default_rng(5)
    times = 1_700_000_000 + np.arange(9000) / 10
    values = rng.gamma(2, 4, len(times))
    values[((times - 12) % 15 < 1.0) & (rng.random(len(times)) < 0.8)] = np.inf
    found = estimate_slots(measurement("losses", "rtt", times, values))
    assert found.found
    # a burst has two edges, and either may stand out: that where it begins or where it ends
    assert min(abs(distance(found.offset_s, edge, 15.0)) for edge in (12, 13)) < 0.3


def test_false_positives_are_as_rare_as_the_p_value_says():
    """100 series of four kinds: 5 % may be at 0.05, 1 % at 0.01; bounds are those of chance."""
    p_values = [
        estimate_slots(unslotted(seed, which, count=3000)).p_value
        for which in ("white", "memory", "walk", "jumps")
        for seed in range(800, 825)
    ]
    assert sum(p <= 0.05 for p in p_values) <= 11
    assert sum(p <= 0.01 for p in p_values) <= 4


def test_searching_claims_no_more_than_that():
    p_values = [
        estimate_slots(unslotted(seed, which), (5.0, 60.0)).p_value
        for which in ("memory", "jumps")
        for seed in range(850, 858)
    ]
    assert sum(p <= 0.01 for p in p_values) <= 1


def test_a_constant_has_no_slots():
    times = 1_700_000_000 + np.arange(3000) / 10
    for period in (15.0, (5.0, 30.0)):
        found = estimate_slots(measurement("flat", "rtt", times, np.full(3000, 40.0)), period)
        assert not found.found
        assert found.handovers == ()
        assert found.p_value == 1


@pytest.mark.parametrize(
    ("period", "said"),
    [(0, "above 0"), (-15, "above 0"), (float("nan"), "above 0"), ((60, 5), "LOW:HIGH"),
     (0.3, "measure more often")],
)  # fmt: skip
def test_periods_that_make_no_sense(period, said):
    with pytest.raises(ConfigError, match=said):
        estimate_slots(unslotted(1, "white"), period)


def test_too_short_a_series():
    with pytest.raises(DataError, match=r"too few for a period of 15 s; measure 90 s or more"):
        estimate_slots(unslotted(1, "white", count=300))


def test_the_same_series_gives_the_same_answer():
    series, _ = slotted(3)
    one, other = estimate_slots(series), estimate_slots(series)
    assert (one.p_value, one.offset_low_s, one.offset_high_s, one.edges) == (
        other.p_value, other.offset_low_s, other.offset_high_s, other.edges
    )  # fmt: skip
