"""Real data sets have the statistics that their sources state, or that were counted by hand."""

from datetime import timedelta

import numpy as np
import pytest

from skyweave.data import describe, load, opportunities_ms
from skyweave.data.importers import detect, satcell
from skyweave.data.statistics import slots_of


def joined(drives, path, quantity):
    series = [getattr(d.paths[path], quantity) for d in drives if path in d.paths]
    values = np.concatenate([s.values for s in series if s is not None])
    return values[~np.isnan(values)]


@pytest.fixture(scope="module")
def satcell_drives(real):
    return load(real / "satcell")


def test_satcell_has_the_16_segments_of_the_subset_with_their_lengths(satcell_drives, real):
    summary = (real / "satcell" / "aligned_segments_summary.csv").read_text().splitlines()[1:]
    listed = {int(row.split(",")[1]): row.split(",") for row in summary}
    assert len(satcell_drives) == 16
    for one in satcell_drives:
        number = int(one.name.rsplit("-", 1)[1])
        if number not in listed:  # segment 34 has the Roam dish alone
            assert "starlink" not in one.paths
            continue
        row = listed[number]
        # the summary begins, counts and averages with the seconds in which this dish logged
        series = one.paths["starlink"].downlink_mbps
        first_s = series.times_s[~np.isnan(series.values)][0]
        assert f"{one.start + timedelta(seconds=first_s):%Y-%m-%d %H:%M:%S}" == row[3]
        starlink = joined([one], "starlink", "downlink_mbps")
        assert len(starlink) == int(row[2])
        assert np.median(starlink) == pytest.approx(float(row[5]))
        assert np.mean(starlink < 1) == pytest.approx(float(row[4]), abs=0.006)


def test_satcell_quantiles_of_the_subset(satcell_drives):
    # computed once from the file with polars, independently of the importer
    expected = {
        "starlink": (9081, 0.0, 153.0, 274.0),
        "att": (9672, 1.2, 35.9, 171.0),
        "tmobile": (9672, 2.0, 78.4, 316.0),
        "verizon": (9672, 4.6, 94.8, 346.0),
    }
    for path, (n, p5, median, p95) in expected.items():
        values = joined(satcell_drives, path, "downlink_mbps")
        assert len(values) == n
        assert np.percentile(values, [5, 50, 95]) == pytest.approx([p5, median, p95], abs=0.06)


def test_the_dish_filter_leaves_out_segments_that_stand_at_zero(satcell_drives, real):
    all_of_them = satcell.load(real / "satcell", include_dead=True)
    assert len(all_of_them) == len(satcell_drives)  # none in the subset is mostly dead
    assert max(satcell.dish_zero_share(one) for one in all_of_them) < 0.3


def test_starlinks_15_s_rhythm_is_found_and_no_operator_has_one(satcell_drives, real):
    starlink = slots_of(satcell_drives, "starlink")
    # |diff| of SatCell peaks at second 11, of On-the-Road at 11 (73 vs 32)
    assert starlink.found
    assert starlink.phase_s == 11
    assert not any(slots_of(satcell_drives, path).found for path in ("att", "tmobile", "verizon"))
    van = slots_of(load(real / "starlink_on_the_road" / "iperf.csv"), "starlink")
    assert van.found
    assert van.phase_s == 11
    assert van.ratio == pytest.approx(73 / 32, abs=0.15)


def test_on_the_road_matches_its_source(real):
    drives = load(real / "starlink_on_the_road")
    down = joined(drives, "starlink", "downlink_mbps")
    assert len(down) == 17_365
    assert down.mean() == pytest.approx(268, abs=0.5)
    assert np.percentile(down, [5, 50, 95]) == pytest.approx([76, 286, 408], abs=0.5)
    up = joined(drives, "starlink", "uplink_mbps")
    assert len(up) == 16_484
    assert up.mean() == pytest.approx(18, abs=0.5)
    assert np.median(joined(drives, "starlink", "rtt_ms")) == pytest.approx(57.6, abs=0.05)
    loss = joined(drives, "starlink", "loss_ratio")
    assert loss.mean() == pytest.approx(0.027, abs=0.0005)
    assert np.percentile(loss, 95) == pytest.approx(0.11, abs=0.005)


def test_on_the_road_sessions_have_no_gaps(real):
    for one in load(real / "starlink_on_the_road" / "iperf.csv"):
        trace = one.paths["starlink"]
        steps = np.diff((trace.downlink_mbps or trace.uplink_mbps).times_s)
        assert set(steps) <= {1.0, 2.0}


def test_leocc_matches_its_source(real):
    (one,) = load(real / "leocc_example")
    trace = one.paths["starlink"]
    rates = trace.downlink_mbps.values
    assert rates.mean() == pytest.approx(48.7, abs=0.05)
    assert np.percentile(rates, [5, 50, 95]) == pytest.approx([33.6, 48.6, 66.5], abs=0.1)
    assert np.percentile(trace.rtt_ms.values, [5, 50, 95]).tolist() == [16, 22, 26]
    assert one.duration_s == pytest.approx(120, abs=0.2)
    raw = opportunities_ms(real / "leocc_example" / "bw_example.txt.gz")
    assert len(raw) == 487_652
    assert rates.sum() * 0.1 * 1e6 / 8 == pytest.approx(len(raw) * 1500)


def test_nuwins_matches_its_source(real):
    (one,) = load(real / "nuwins2024_starlink_tmobile_sync")
    starlink, tmobile = one.paths["starlink"], one.paths["tmobile"]
    assert starlink.downlink_mbps.values.mean() == pytest.approx(181, abs=0.5)
    assert starlink.uplink_mbps.values.mean() == pytest.approx(6.5, abs=0.05)
    ping = starlink.rtt_ms.values
    assert np.nanmean(ping) == pytest.approx(83.1, abs=0.05)
    assert (np.nanmin(ping), np.nanmedian(ping), np.nanmax(ping)) == (30.6, 71.9, 323)
    assert tmobile.uplink_mbps.values.mean() == pytest.approx(80, abs=0.5)
    assert np.nanmean(tmobile.rtt_ms.values) == pytest.approx(59.3, abs=0.1)
    assert np.nanmin(tmobile.rtt_ms.values) == 40.2
    assert f"{one.start:%H:%M:%S}" == "15:07:10"


@pytest.mark.parametrize(
    ("place", "format"),
    [
        ("satcell", "satcell"),
        ("satcell/aligned_udp_dl_1s.csv.gz", "satcell"),
        ("nuwins2024_starlink_tmobile_sync", "nuwins"),
        ("nuwins2024_starlink_tmobile_sync/tmobile_20241101_icmp_ping_151133124.out", "nuwins"),
        (
            "nuwins2024_starlink_tmobile_sync/starlink_20241101_150710_tcp_downlink_0.5s.csv",
            "nuwins",
        ),
        ("starlink_on_the_road", "ontheroad"),
        ("starlink_on_the_road/ping.csv", "ontheroad"),
        ("leocc_example", "leoreplayer"),
        ("leocc_example/bw_example.txt.gz", "leoreplayer"),
    ],
)
def test_formats_are_recognised(real, place, format):
    assert detect(real / place).name == format


def test_concurrent_outages_of_satcell(satcell_drives):
    pairs = {(p["a"], p["b"]): p for p in describe(satcell_drives)["pairs"]}
    both = pairs["starlink", "verizon"]
    # Starlink and any operator hardly ever fail together
    assert both["both_below_1"] < 0.002
    assert pairs["tmobile", "verizon"]["correlation"] == pytest.approx(0.49, abs=0.01)
