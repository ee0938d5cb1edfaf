"""The core against the sgp4 package, against skyfield, and against what served a dish."""

from __future__ import annotations

import csv
import gzip
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sgp4.api import WGS72, Satrec, jday
from skyfield.api import EarthSatellite, load, wgs84

from skyweave._skyweave import Constellation
from skyweave.orbit.catalogue import BUILT_IN_EPOCH

CHICAGO = (41.88, -87.63, 180.0)
OFFSETS_S = (-86_400.0, 0.5, 3_600.0, 10_000.125, 259_200.0)


def from_snapshot(real):
    """Each 12th satellite of a real snapshot, as ours and as the package's, and a time near it."""
    file = real / "tle_snapshots" / "starlink_2025-01-29_tma25.tle.gz"
    with gzip.open(file, "rt") as stream:
        lines = [line.rstrip() for line in stream]
    chosen = [lines[start : start + 3] for start in range(0, len(lines), 36)]
    ours = Constellation.parse("\n".join("\n".join(three) for three in chosen), file.name, "tle")
    theirs = [Satrec.twoline2rv(first, second) for _, first, second in chosen]
    assert len(ours) == len(theirs) >= 500
    return ours, theirs, datetime(2025, 1, 29, 12, tzinfo=UTC)


def from_shell():
    """A built-in shell, as ours and as the package makes it of the same mean elements."""
    ours = Constellation.built_in("starlink-70", BUILT_IN_EPOCH.timestamp())
    columns = ours.elements()
    epoch_days = (BUILT_IN_EPOCH - datetime(1949, 12, 31, tzinfo=UTC)) / timedelta(days=1)
    theirs = []
    for row in range(len(ours)):
        angle = {name: np.radians(column[row]) for name, column in columns.items()}
        satellite = Satrec()
        satellite.sgp4init(
            WGS72, "i", row + 1, epoch_days, columns["drag_term"][row], 0.0, 0.0,
            columns["eccentricity"][row], angle["argument_of_perigee_deg"],
            angle["inclination_deg"], angle["mean_anomaly_deg"],
            columns["mean_motion_per_day"][row] * np.pi / 720.0, angle["raan_deg"],
        )  # fmt: skip
        theirs.append(satellite)
    return ours, theirs, BUILT_IN_EPOCH


@pytest.fixture(scope="module", params=["snapshot", "shell"])
def both(request):
    if request.param == "shell":
        return from_shell()
    return from_snapshot(request.getfixturevalue("real"))


def test_positions_are_within_a_metre_of_the_sgp4_package(both):
    ours, theirs, around = both
    for offset_s in OFFSETS_S:
        moment = around + timedelta(seconds=offset_s)
        seconds = moment.second + moment.microsecond / 1e6
        julian = jday(moment.year, moment.month, moment.day, moment.hour, moment.minute, seconds)
        answers = [satellite.sgp4(*julian) for satellite in theirs]
        aloft = np.array([error == 0 for error, _, _ in answers])
        wanted = np.array([position for _, position, _ in answers])
        found = ours.teme_km(moment.timestamp())
        assert (aloft == np.isfinite(found[:, 0])).all()  # what has decayed has no position
        off_m = np.linalg.norm(found - wanted, axis=1)[aloft] * 1e3
        print(f"positions of {aloft.sum()}: at most {off_m.max():.4f} m off")
        assert off_m.max() < 1.0


def test_look_angles_are_within_a_hundredth_of_a_degree_of_skyfield(both):
    ours, theirs, around = both
    timescale = load.timescale(builtin=True)
    moments = [around + timedelta(seconds=offset_s) for offset_s in OFFSETS_S]
    times = timescale.from_datetimes(moments)
    place = wgs84.latlon(*CHICAGO[:2], elevation_m=CHICAGO[2])
    seen = [
        (EarthSatellite.from_satrec(satellite, timescale) - place).at(times).altaz()
        for satellite in theirs
    ]
    elevation_deg = np.array([look[0].degrees for look in seen])
    azimuth_deg = np.array([look[1].degrees for look in seen])
    range_km = np.array([look[2].km for look in seen])
    for index, moment in enumerate(moments):
        look = ours.look_angles(moment.timestamp(), CHICAGO)
        aloft = np.isfinite(look["range_km"])
        assert aloft.mean() > 0.99
        up = look["elevation_deg"] - elevation_deg[:, index]
        turn = (look["azimuth_deg"] - azimuth_deg[:, index] + 180) % 360 - 180
        across = turn * np.cos(np.radians(look["elevation_deg"]))
        off_deg = np.hypot(up, across)[aloft].max()
        off_km = np.abs(look["range_km"] - range_km[:, index])[aloft].max()
        print(f"angles: {off_deg:.5f} deg, range {off_km:.3f} km off")
        assert off_deg < 0.01
        assert off_km < 0.5  # 0.005 degrees of the Earth's turn


def test_what_is_below_a_satellite_agrees_with_skyfield(both):
    ours, theirs, around = both
    timescale = load.timescale(builtin=True)
    time = timescale.from_datetime(around)
    ground = ours.ground(around.timestamp())
    for row in range(0, len(theirs), 25):
        below = wgs84.subpoint_of(EarthSatellite.from_satrec(theirs[row], timescale).at(time))
        lat_deg, lon_deg, height_km = ground[row]
        assert lat_deg == pytest.approx(below.latitude.degrees, abs=0.01)
        assert (lon_deg - below.longitude.degrees + 180) % 360 == pytest.approx(180, abs=0.02)
        assert height_km == pytest.approx(
            wgs84.height_of(EarthSatellite.from_satrec(theirs[row], timescale).at(time)).km, abs=0.1
        )


def test_passes_agree_with_skyfield(both):
    ours, theirs, around = both
    timescale = load.timescale(builtin=True)
    place = wgs84.latlon(*CHICAGO[:2], elevation_m=CHICAGO[2])
    begin, end = around.timestamp(), (around + timedelta(hours=12)).timestamp()
    passes = ours.passes((begin, end), CHICAGO, 25.0, 0.0)
    within = [timescale.from_datetime(around + timedelta(hours=hours)) for hours in (0, 12)]
    compared = 0
    for row in range(0, len(theirs), 60):
        satellite = EarthSatellite.from_satrec(theirs[row], timescale)
        times, events = satellite.find_events(place, *within, altitude_degrees=25.0)
        unix_s = np.array([t.utc_datetime().timestamp() for t in times])
        own = passes["satellite"] == row
        for event, column in enumerate(("rise_unix_s", "culmination_unix_s", "set_unix_s")):
            wanted = unix_s[events == event]
            found = passes[column][own]
            found = found[(found > begin) & (found < end)]
            assert len(found) == len(wanted)
            assert found == pytest.approx(wanted, abs=0.6)  # skyfield looks to half a second
            compared += len(wanted)
    assert compared > 20


def test_ranges_to_the_satellites_that_served_a_dish(real):
    """LEOViz says which satellite served a moving dish, and how far away it was."""
    folder = real / "leoviz_serving_sat_sample"
    elements = folder / "TLE/2025-05-29/starlink-tle-2025-05-29-23-20-13.txt.gz"
    with gzip.open(elements, "rt") as stream:
        ours = Constellation.parse(stream.read(), elements.name, "tle")
    names = ours.names
    with (folder / "processed_obstruction-data-2025-05-29-23-20-13.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    places = {row["timestamp"]: tuple(float(row[k]) for k in ("lat", "lon", "alt")) for row in rows}
    with (folder / "serving_satellite_data-2025-05-29-23-20-13.csv").open() as stream:
        served = [row for row in csv.DictReader(stream) if row["Timestamp"] in places]
    off_km = []
    for row in served:
        moment = datetime.fromisoformat(row["Timestamp"])
        look = ours.look_angles(moment.timestamp(), places[row["Timestamp"]])
        found_km = look["range_km"][names.index(row["Connected_Satellite"])]
        off_km.append(found_km - float(row["Distance"]))
    print(f"{len(off_km)} labels: {np.abs(off_km).max():.3f} km off at most")
    assert len(off_km) > 30
    assert np.abs(off_km).max() < 1.0
