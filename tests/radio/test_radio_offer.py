"""One cell per carrier, the best, the sum, the join on position, and the cases."""

import numpy as np
import pytest
from small_cells import grid

from skyweave.errors import ConfigError, DataError
from skyweave.radio import (
    capacity_mbps,
    interfaces,
    join,
    offer,
    radio_drive,
    sinr_db,
    summarise,
    window_means,
)
from skyweave.radio.cases import held_carriers
from skyweave.radio.equations import milliwatts
from skyweave.radio.summary import shares, spread

NAN = np.nan


@pytest.fixture
def two():
    """Two operators; the second hears nothing in second 2."""
    att = grid("att", {(850, 1): [-90, -112, -90], (850, 2): [-100, -110, NAN],
                       (900, 3): [-120, NAN, -120]})  # fmt: skip
    tmobile = grid("tmobile", {(850, 1): [-110, -110, NAN], (850, 5): [-112, -112, NAN]})
    return offer([att, tmobile])


def test_one_cell_per_carrier_is_the_strongest_against_its_own_carrier(two):
    assert two.carriers == (("att", 850), ("att", 900), ("tmobile", 850))
    assert two.pci[0].tolist() == [1, 2, 1]
    assert two.pci[1].tolist() == [3, -1, 3]
    golden = [[52.80, 24.91], [13.14, NAN], [24.91, 24.91]]
    assert np.round(two.capacity_mbps[:, :2], 2).tolist() == pytest.approx(
        np.array(golden), nan_ok=True
    )


def test_best_and_aggregate_over_the_seconds_in_which_all_were_heard(two):
    assert two.known.tolist() == [True, True, False]
    assert two.available[:2].tolist() == [3, 2]
    assert two.visible.tolist() == [5, 4, 2]
    assert np.round(two.best_single[:2], 2).tolist() == [52.80, 24.91]
    assert np.round(two.multipath[:2], 2) == pytest.approx([90.84, 49.82], abs=0.02)
    assert np.round(two.second_best[:2], 2).tolist() == [24.91, 24.91]
    assert two.best_of("att")[2] > 52
    for unknown in (two.best_single, two.multipath, two.available, two.one_each):
        assert np.isnan(unknown[2])


def test_the_load_of_neighbours_is_that_of_equation_1():
    cells = {(850, 1): [-90], (850, 2): [-100]}
    full = offer([grid("att", cells)], load=1.0)
    assert full.sinr_db[0, 0] == pytest.approx(float(sinr_db(-90, milliwatts(-100), 1.0)))


def test_operators_need_one_clock_and_names_of_their_own():
    one, longer = grid("att", {(1, 1): [-90]}), grid("b", {(1, 1): [-90, -90]})
    with pytest.raises(DataError, match="join them first"):
        offer([one, longer])
    with pytest.raises(DataError, match="pool the drives"):
        offer([one, one])
    with pytest.raises(DataError, match="no carrier is of 'x'"):
        offer([one]).best_of("x")


def test_join_takes_the_nearest_point_and_nothing_beyond_the_distance():
    metre = 1 / 111_195
    track = grid("att", {(1, 1): [-90] * 3}, lat=34 + np.array([0, 40, 400]) * metre)
    other = grid("tmobile", {(2, 2): [-80, -85]}, lat=34 + np.array([10, 52]) * metre)
    joined = join(track, other, within_m=25)
    assert joined.distance_m == pytest.approx([10, 12, 348], rel=1e-3)
    assert joined.grid.rsrp_dbm[0, :2].tolist() == [-80, -85]
    assert np.isnan(joined.grid.rsrp_dbm[0, 2])
    assert joined.share == pytest.approx(2 / 3)


def test_a_car_that_stands_meets_all_that_the_other_heard_there():
    metre = 1 / 111_195
    track = grid("att", {(1, 1): [-90] * 5})
    other = grid("tm", {(2, 2): [-80, -81, -82, -83]}, lat=34 + np.array([9, 0, 3, 4]) * metre)
    assert join(track, other).grid.rsrp_dbm[0].tolist() == [-81, -81, -82, -82, -83]


def test_a_degree_of_longitude_shrinks_with_the_cosine():
    track = grid("a", {(1, 1): [-90]}, lat=[60.0], lon=[10.0])
    other = grid("b", {(1, 1): [-90]}, lat=[60.0], lon=[10.001])
    assert join(track, other, 100).distance_m == pytest.approx([55.6], abs=0.1)


def test_join_of_other_roads_and_of_no_distance_is_refused():
    track, far = grid("a", {(1, 1): [-90]}), grid("b", {(1, 1): [-90]}, lat=[35.0])
    with pytest.raises(DataError, match="never within 25 m"):
        join(track, far)
    with pytest.raises(ConfigError, match="above 0 m"):
        join(track, far, 0)


def test_windows_average_what_is_known():
    values = np.array([1.0, 3.0, NAN, 5.0, NAN, NAN, 9.0])
    assert window_means(values, 2)[:2].tolist() == [2.0, 5.0]
    assert np.isnan(window_means(values, 2)[2])
    assert len(window_means(values, 2)) == 3
    with pytest.raises(ConfigError, match="holds no second"):
        window_means(values, 0)


def test_without_wait_interfaces_are_at_the_best_carriers():
    rates = np.random.default_rng(1).random((6, 200))
    for count in (1, 2, 4):
        held = held_carriers(rates, count, 0)
        best = np.sort(rates, axis=0)[-count:].sum(axis=0)
        assert np.take_along_axis(rates, held, axis=0).sum(axis=0) == pytest.approx(best)


def test_an_interface_sits_out_a_drop_that_is_shorter_than_the_wait():
    short = np.array([[9, 1, 1, 9, 9, 9, 9], [5, 5, 5, 5, 5, 5, 5]], np.float64)
    assert held_carriers(short, 1, 3)[0].tolist() == [0] * 7
    long = np.array([[9, 1, 1, 1, 1, 1, 1], [5, 5, 5, 5, 5, 5, 5]], np.float64)
    assert held_carriers(long, 1, 3)[0].tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_no_two_interfaces_hold_one_carrier():
    rates = np.random.default_rng(2).random((5, 300))
    held = held_carriers(rates, 4, 3)
    assert all(len(set(column)) == 4 for column in held.T.tolist())


def test_cases_of_an_offer(two):
    carrier, rates = interfaces(two, "sp")
    assert carrier[0].tolist() == [0, 0, -1]
    assert rates[0, :2] == pytest.approx(two.best_single[:2])
    assert np.isnan(rates[0, 2])
    with pytest.raises(ConfigError, match="needs 4 carriers; there are 3"):
        interfaces(two, "4")
    with pytest.raises(ConfigError, match="cases are sp"):
        interfaces(two, "5")


def test_a_drive_has_a_path_per_operator_with_delays_from_its_capacity(two):
    drive = radio_drive(two, "made-up", "a test")
    assert list(drive.paths) == ["att", "tmobile"]
    att = drive.paths["att"]
    assert np.round(att.downlink_mbps.values[:2], 2).tolist() == [52.80, 24.91]
    assert np.isnan(att.downlink_mbps.values[2])
    assert att.rtt_ms.values[0] == pytest.approx(2 * 20 * (52.80 / 50) ** 1.161, rel=1e-3)
    assert list(radio_drive(two, "x", "y", "3").paths) == ["cell1", "cell2", "cell3"]


def test_a_carrier_that_is_lost_offers_nothing_and_keeps_its_delay():
    lost = offer([grid("a", {(1, 1): [-90, NAN, -90], (2, 1): [-120, -120, -120]})])
    path = radio_drive(lost, "x", "y", "1").paths["cell1"]
    assert path.downlink_mbps.values[1] == 0
    assert np.isnan(path.rtt_ms.values[1])


def test_a_drive_without_a_compared_second_is_refused():
    apart = offer([grid("a", {(1, 1): [-90, NAN]}), grid("b", {(1, 1): [NAN, -90]})])
    with pytest.raises(DataError, match="in no second"):
        radio_drive(apart, "x", "y")


def test_summary_counts_cells_and_orders_the_choices(two):
    found = summarise([two, two])
    assert (found.seconds, found.compared_s) == (6, 4)
    assert found.available == {0: 0, 1: 0, 2: 0.5, 3: 0.5}
    assert found.available_mean == 2.5
    assert found.visible_mean == 4.5
    assert found.second_to_best == pytest.approx(2 * 24.91 / (52.80 + 24.91), rel=1e-3)
    means = [found.capacity_mbps[n].mean for n in ("multipath", "best single path", "tmobile")]
    assert means == sorted(means, reverse=True)
    assert found.gain == pytest.approx(means[0] / means[1])
    assert means[2] == pytest.approx(float(capacity_mbps(sinr_db(-110, milliwatts(-112)))))


def test_a_window_longer_than_every_drive_is_refused(two):
    with pytest.raises(ConfigError, match=r"longer than any drive \(3 s\)"):
        summarise([two], window_s=4)


def test_spread_is_mean_and_percentiles_of_table_3():
    values = np.append(np.arange(1001.0), NAN)
    found = spread(values)
    assert found.mean == 500
    assert found.percentiles == (500, 200, 100, 50, 10, 1)
    assert np.isnan(spread(np.array([NAN])).mean)


def test_shares_of_cells():
    assert shares(np.array([4, 4, 4, 2])) == {0: 0, 1: 0, 2: 0.25, 3: 0, 4: 0.75}
