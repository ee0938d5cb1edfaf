"""From a spec to a path, on built-in shells, on small files and on real snapshots."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

import numpy as np
import pytest

from skyweave.errors import ConfigError, DataError
from skyweave.orbit import OrbitSpec, Place, fibre_rtt_ms, orbit_path
from skyweave.orbit.catalogue import load_constellation, load_gateways

TO_TOKYO = {"terminal": "chicago", "to": "tokyo", "via": "isl", "policy": "shortest-path"}
SNAPSHOTS = ["starlink_2025-01-29_tma25.tle.gz", "starlink_15-05-2026.tle.gz"]
TLE = """VANGUARD 1
1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753
2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667
"""


def bent_pipe(**change) -> OrbitSpec:
    return OrbitSpec.model_validate({"terminal": "seattle", "gateways": ["47.6,-121"], **change})


def test_a_path_over_a_built_in_constellation():
    path = orbit_path(bent_pipe(gap_s=0.2, extra_rtt_ms=20), 120.0)
    assert path.start == datetime(2025, 1, 1, tzinfo=UTC)
    assert path.times_s.tolist() == list(range(120))
    assert ((path.rtt_ms > 27) & (path.rtt_ms < 40)).all()
    assert path.serving_times_s.tolist() == [0, *range(12, 120, 15)]
    assert len(path.serving) == len(path.serving_times_s)
    assert all(name.startswith("starlink-") for name in path.serving)
    assert path.handovers
    for handover, outage in zip(path.handovers, path.outages, strict=True):
        slot = path.serving_times_s.tolist().index(handover.time_s)
        assert (handover.before, handover.after) == path.serving[slot - 1 : slot + 1]
        assert (outage.start_s, outage.reason) == (handover.time_s, "handover")
        assert outage.end_s == pytest.approx(outage.start_s + 0.2)
    assert path.notes == ()


def test_a_path_says_what_can_be_known_ahead():
    path = orbit_path(bent_pipe(gap_s=0.2), 120.0)
    known = path.forecast()
    assert [(one.start_s, one.end_s) for one in known.outages] == [
        (one.start_s, one.end_s) for one in path.outages
    ]
    assert known.outage(0.0, 1.0) == known.outages[0]
    assert known.rtt_ms is not None
    for time_s in (0, 37, 119):
        assert known.rtt_ms.at(time_s + 0.5, 0.5) == path.rtt_ms[time_s]
    pole = orbit_path(bent_pipe(terminal="90,0", constellation="starlink-53"), 60.0).forecast()
    assert (len(pole.outages), pole.rtt_ms) == (1, None)


def test_chicago_to_tokyo_over_links_between_satellites():
    fibre_ms = fibre_rtt_ms(
        Place.model_validate("chicago"), Place.model_validate("tokyo"), stretch=1.0
    )
    assert fibre_ms == pytest.approx(99.3, abs=0.1)
    path = orbit_path(OrbitSpec.model_validate({**TO_TOKYO, "step_s": 15}), 3600.0)
    median_ms = np.median(path.rtt_ms)
    assert 72 <= median_ms <= 88
    assert 12 <= fibre_ms - median_ms <= 28
    assert path.outages == ()


@pytest.mark.parametrize("snapshot", SNAPSHOTS)
def test_chicago_to_tokyo_over_real_satellites(real, snapshot):
    spec = OrbitSpec.model_validate(
        {**TO_TOKYO, "constellation": f"tle_snapshots/{snapshot}", "step_s": 15}
    )
    path = orbit_path(spec, 3600.0, folders=[real])
    print(f"{snapshot}: {np.nanpercentile(path.rtt_ms, [5, 50, 95])} ms")
    assert 72 <= np.nanmedian(path.rtt_ms) <= 88
    assert not np.isnan(path.rtt_ms).any()


def test_a_day_over_a_real_snapshot_and_the_live_gateways(real):
    spec = bent_pipe(
        constellation=f"tle_snapshots/{SNAPSHOTS[0]}",
        gateways="gateways_pops/starlink_gateways_pops_2023-10-10.csv",
        step_s=15,
    )
    path = orbit_path(spec, 86_400.0, folders=[real])
    assert len(path.serving) == 5761
    assert path.start == datetime(2025, 1, 29, 11, 3, tzinfo=UTC)
    assert np.nanmax(path.rtt_ms) < 20
    assert np.isnan(path.rtt_ms).mean() < 0.01


def test_gateways_that_are_not_live_do_not_count(real):
    gateways = load_gateways("starlink_gateways_pops_2023-10-10.csv", [real / "gateways_pops"])
    assert 100 < len(gateways) < 222  # 222 of 245 points are gateways, the rest are PoPs
    assert not any(place.name.startswith("SEA - ") for place in gateways)


def test_the_seed_decides_the_random_policy_only():
    random = bent_pipe(policy="random")
    assert orbit_path(random, 60, seed=3).serving == orbit_path(random, 60, seed=3).serving
    assert orbit_path(random, 60, seed=3).serving != orbit_path(random, 60, seed=4).serving
    assert orbit_path(bent_pipe(), 60, seed=3).serving == orbit_path(bent_pipe(), 60).serving


def test_without_slots_only_changes_are_listed():
    path = orbit_path(bent_pipe(slot_s="none", constellation="starlink-53"), 900.0)
    assert path.serving_times_s[0] == 0
    assert all(a != b for a, b in zip(path.serving, path.serving[1:], strict=False))
    assert len(path.handovers) == len([name for name in path.serving if name]) - 1


def test_a_pole_is_out_of_reach():
    path = orbit_path(bent_pipe(terminal="90,0", constellation="starlink-53"), 60.0)
    assert np.isnan(path.rtt_ms).all()
    assert set(path.serving) == {""}
    assert [(o.start_s, o.end_s, o.reason) for o in path.outages] == [(0, 60, "no-satellite")]


def test_files_are_found_in_the_folders_in_order(tmp_path):
    for folder, name in (("a", "FIRST"), ("b", "SECOND")):
        (tmp_path / folder).mkdir()
        with gzip.open(tmp_path / folder / "one.tle.gz", "wt") as stream:
            stream.write(TLE.replace("VANGUARD 1", name))
    found = load_constellation("one.tle.gz", [tmp_path / "b", tmp_path / "a"])
    assert found.names == ["SECOND"]
    with pytest.raises(DataError, match=r"one.tle: no such file in .*the working folder"):
        load_constellation("one.tle", [tmp_path])


def test_old_and_decayed_elements_are_named(tmp_path):
    (tmp_path / "old.tle").write_text(TLE)
    old = {"constellation": "old.tle", "start": "2000-07-20T00:00:00Z"}
    path = orbit_path(bent_pipe(**old), 60.0, folders=[tmp_path])
    assert path.notes == (
        "1 of 1 satellites have elements more than 14 days from the run: positions are rough.",
    )
    ancient = bent_pipe(**{**old, "start": "2025-01-01T00:00:00Z"})
    with pytest.raises(ConfigError, match=r"'old.tle': no element set is usable.*max_age_days"):
        orbit_path(ancient, 60.0, folders=[tmp_path])


def test_bad_files_are_refused_with_file_and_line(tmp_path):
    (tmp_path / "bad.tle").write_text(TLE.replace("34.2682", "34.2692"))
    with pytest.raises(DataError, match=r"bad.tle:3: the checksum is `7` but .* 8"):
        load_constellation("bad.tle", [tmp_path])
    (tmp_path / "gateways.csv").write_text("name,lat,lon\nhere,47,-120\nthere,97,-120\n")
    with pytest.raises(DataError, match=r"gateways.csv:3: lat: .*less than or equal to 90"):
        orbit_path(bent_pipe(gateways="gateways.csv"), 60.0, folders=[tmp_path])
    (tmp_path / "gateways.csv").write_text("name,latitude\nhere,47\n")
    with pytest.raises(DataError, match=r"gateways.csv:1: no column 'lat'"):
        orbit_path(bent_pipe(gateways="gateways.csv"), 60.0, folders=[tmp_path])
    with pytest.raises(ConfigError, match=r"'starlonk'; did you mean 'starlink'\?"):
        load_constellation("starlonk")
    with pytest.raises(ConfigError, match="duration_s = -1"):
        orbit_path(bent_pipe(), -1.0)


def test_moments_that_are_none_are_refused():
    found = load_constellation("oneweb")
    for unix_s in (float("nan"), -1.0, 1e12):
        with pytest.raises(ValueError, match="is no Unix time"):
            found.look_angles(unix_s, (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="lat_deg = 91"):
        found.look_angles(0.0, (91.0, 0.0, 0.0))
