"""The measured logs of two operators in Los Angeles; numbers computed apart from the package."""

from itertools import pairwise

import numpy as np
import pytest

from skyweave.radio import join, offer, radio_drive, read_cells, summarise
from skyweave.radio.equations import CAPACITY_CAP_MBPS

ATT, TMOBILE = "20210425-170001", "20210815-141753"


@pytest.fixture(scope="module")
def grids(logs):
    files = [next((logs / "att").glob(f"*{ATT}*")), next((logs / "tmobile").glob(f"*{TMOBILE}*"))]
    return [read_cells(file, hold_s=0) for file in files]


@pytest.fixture(scope="module")
def offered(grids):
    att, tmobile = grids
    return offer([att, join(att, tmobile).grid])


def test_cells_and_carriers_per_second(grids):
    # mean over the seconds with any report, grouped with polars
    carriers = [3.0299277605779156, 1.9085387638442302]
    for grid, cells, rate in zip(
        grids, (11.1640866873065, 7.19935691318328), carriers, strict=True
    ):
        assert grid.visible[grid.visible > 0].mean() == pytest.approx(cells)
        alone = offer([grid])
        assert np.nanmean(alone.available) == pytest.approx(rate)
    assert [grid.dropped for grid in grids] == [1688, 13]


def test_more_choice_offers_more_at_every_percentile(offered):
    rows = summarise([offered]).capacity_mbps
    order = ["multipath", "one per operator", "best single path"]
    for more, less in pairwise(order):
        assert (np.array(rows[more].percentiles) >= rows[less].percentiles).all()
    for operator in offered.operators:
        assert rows["best single path"].mean > rows[operator].mean


def test_the_drive_has_two_paths_within_the_equations(offered):
    drive = radio_drive(offered, "la", "measured")
    assert list(drive.paths) == ["att", "tmobile"]
    for path in drive.paths.values():
        known = path.downlink_mbps.values[~np.isnan(path.downlink_mbps.values)]
        assert len(known) > 300
        assert known.min() > 0
        assert known.max() == pytest.approx(CAPACITY_CAP_MBPS)
