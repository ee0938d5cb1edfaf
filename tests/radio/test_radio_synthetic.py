"""Made-up operators against Tables 2 and 3 of MPQUIC-LTE and the bands that its study allows."""

import numpy as np
import pytest

from skyweave.errors import ConfigError
from skyweave.radio import offer, radio_drive, summarise, synthetic_cells
from skyweave.radio.summary import PERCENTS

SECONDS, SEEDS = 20_000, (11, 12, 13)
"""Three times five and a half hours; MPQUIC-LTE has 33 h."""
P20 = PERCENTS.index(20.0)


@pytest.fixture(scope="module")
def whole():
    return summarise([offer(synthetic_cells(seed, SECONDS)) for seed in SEEDS])


@pytest.mark.parametrize(
    ("place", "cells"), [("whole", 2.97), ("residential", 3.99), ("road", 3.19)]
)
def test_mean_cells_of_table_2(place, cells):
    found = summarise([offer(synthetic_cells(seed, SECONDS, place)) for seed in SEEDS])
    assert found.available_mean == pytest.approx(cells, abs=0.1)


def test_visible_cells(whole):
    assert whole.visible_mean == pytest.approx(4.26, abs=0.1)
    assert whole.visible_many == pytest.approx(0.20, abs=0.03)


def test_operators_have_their_rows_of_table_3(whole):
    op1, op2 = whole.capacity_mbps["OP1"], whole.capacity_mbps["OP2"]
    assert op1.mean == pytest.approx(25.74, rel=0.05)
    assert op2.mean == pytest.approx(19.37, rel=0.05)
    assert op1.percentiles[:3] == pytest.approx((23.24, 9.05, 4.70), rel=0.1)


def test_the_shape_of_table_3(whole):
    rows = ["multipath", "best single path", "OP1", "OP2"]
    table = np.array([whole.capacity_mbps[name].percentiles for name in rows])
    assert (np.diff(table, axis=0) < 0).all()
    assert 1.15 < whole.gain < 1.4
    assert table[0, P20] / table[2, P20] > 3
    assert table[0, P20] / table[3, P20] > 10


def test_one_cell_dominates_as_in_figure_1(whole):
    assert whole.second_to_best < 0.7


def test_a_seed_is_a_drive():
    one, same, other = (offer(synthetic_cells(seed, 60)) for seed in (1, 1, 2))
    assert np.array_equal(one.capacity_mbps, same.capacity_mbps, equal_nan=True)
    assert not np.array_equal(one.best_single, other.best_single)
    assert list(radio_drive(one, "x", "y", "2").paths) == ["cell1", "cell2"]


@pytest.mark.parametrize(("seconds", "place"), [(0, "whole"), (10, "moon")])
def test_nonsense_is_refused(seconds, place):
    with pytest.raises(ConfigError):
        synthetic_cells(1, seconds, place)
