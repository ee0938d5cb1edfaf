"""Equations 1 and 2 and the delay rules, against the golden values of the reproduction targets."""

import numpy as np
import pytest

from skyweave.errors import ConfigError
from skyweave.radio import capacity_mbps, delay_ms, sinr_db, sinr_of_each_db
from skyweave.radio.equations import (
    CAPACITY_CAP_MBPS,
    NOISE_MW,
    THERMAL_NOISE_DBM,
    decibels,
    milliwatts,
    saturation_sinr_db,
)


def test_thermal_noise_is_that_of_one_subcarrier():
    assert round(-174 + 10 * np.log10(15e3), 2) == THERMAL_NOISE_DBM
    assert decibels(NOISE_MW) == pytest.approx(-125.24)


@pytest.mark.parametrize(
    ("sinr", "mbps"), [(-10, 0.646), (0, 5.392), (5, 12.677), (10, 24.085), (15, 38.085),
                       (20, 53.197), (20.77, 55.547), (40, 55.547)]
)  # fmt: skip
def test_capacity_at_golden_sinr(sinr, mbps):
    assert round(float(capacity_mbps(sinr)), 3) == mbps


def test_capacity_saturates_at_20_76_db():
    assert round(CAPACITY_CAP_MBPS, 3) == 55.547
    assert round(saturation_sinr_db(), 2) == 20.76
    assert capacity_mbps(saturation_sinr_db() - 0.01) < CAPACITY_CAP_MBPS


@pytest.mark.parametrize(
    ("rsrp", "others", "sinr", "mbps"),
    [(-90, [-100], 19.87, 52.80), (-110, [-112], 10.31, 24.91), (-120, [], 5.24, 13.14)],
)
def test_golden_rsrp(rsrp, others, sinr, mbps):
    found = sinr_db(rsrp, milliwatts(others).sum())
    assert round(float(found), 2) == sinr
    assert round(float(capacity_mbps(found)), 2) == mbps


def test_each_cell_is_served_against_all_others_that_are_heard():
    rsrp = np.array([[-90.0, -110.0, -120.0], [-100.0, -112.0, np.nan]])
    found = sinr_of_each_db(rsrp)
    assert np.round(found[0], 2).tolist() == [19.87, 10.31, 5.24]
    assert found[1, 0] == pytest.approx(float(sinr_db(-100, milliwatts(-90))))
    assert np.isnan(found[1, 2])


def test_full_load_costs_capacity():
    assert sinr_db(-90, milliwatts(-100), load=1.0) < sinr_db(-90, milliwatts(-100))


@pytest.mark.parametrize("rule", ["power", "linear"])
def test_delay_meets_the_anchors_of_figure_3(rule):
    assert delay_ms([50.0, 200.0], rule) == pytest.approx([20.0, 100.0])


def test_power_law_where_the_traces_live():
    assert np.round(delay_ms([13.0, 18.0]), 1).tolist() == [4.2, 6.1]


def test_no_rule_gives_less_than_the_floor_and_unknown_stays_unknown():
    rates = np.array([0.0, 5.0, np.nan])
    assert delay_ms(rates, "linear")[:2].tolist() == [1.0, 1.0]
    assert delay_ms(rates, "power")[0] == 1.0
    assert delay_ms(rates, "constant")[:2].tolist() == [20.0, 20.0]
    assert all(np.isnan(delay_ms(rates, rule)[2]) for rule in ("power", "linear", "constant"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sinr_db(-90, 0, load=10), "give 0 to 1"),
        (lambda: sinr_db(-90, -100), "convert dBm to mW"),
        (lambda: delay_ms(-1.0), "below 0"),
        (lambda: delay_ms(1.0, "powr"), "did you mean 'power'"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(call, words):
    with pytest.raises(ConfigError, match=words):
        call()
