"""Slots in public measurements: there on Starlink, at 12 s modulo 15, and on no cellular path."""

import re
import tarfile

import numpy as np
import pytest

from skyweave.errors import DataError
from skyweave.forecast import estimate_slots, join, pings, read_measurement, slot_forecast
from skyweave.model.textfile import Text

CARRIERS = ("atnt", "tmobile", "verizon")
DAY = re.compile(r"\d\d_\d\d_20\d\d")
MMSYS = "mmsys24_starlink_isl_noisl"
STARLINK = [
    (f"{MMSYS}/latency_isl*", None, 0.3),
    (f"{MMSYS}/latency_no-isl*", None, 0.3),
    ("leoviz_serving_sat_sample/latency/*/ping*.txt", None, 0.3),
    ("starlink_on_the_road/iperf.csv", "download_mbps", 1.6),
    ("starlink_on_the_road/iperf.csv", "starlink.uplink_mbps", 1.6),
    ("satcell", "starlink.downlink_mbps", 1.6),
]
"""File, series, and how far its clock may be off: pings to a sample or two, 1 s rates to 1.6 s."""


def only(folder, pattern):
    (found,) = folder.glob(pattern)
    return found


@pytest.mark.parametrize(("pattern", "column", "tolerance_s"), STARLINK)
@pytest.mark.parametrize("period", [15.0, (5.0, 60.0)], ids=["known", "searched"])
def test_starlink(real, pattern, column, tolerance_s, period):
    found = estimate_slots(read_measurement(only(real, pattern), column=column), period)
    assert found.period_s == 15
    assert found.p_value <= 0.002
    assert abs(found.offset_s - 12) <= tolerance_s
    assert found.contrast > 1.5
    assert 0.05 < found.handover_share < 0.8


@pytest.mark.parametrize("operator", ["att", "tmobile", "verizon"])
@pytest.mark.parametrize("period", [15.0, (5.0, 60.0)], ids=["known", "searched"])
def test_cellular_paths_of_the_same_car_have_none(real, operator, period):
    series = read_measurement(real / "satcell", column=f"{operator}.downlink_mbps")
    found = estimate_slots(series, period)
    assert found.p_value > 0.05
    assert found.handovers == ()
    with pytest.raises(DataError, match="no slots found"):
        slot_forecast(found, 0.0, 60.0)


@pytest.fixture(scope="module")
def carriers(real):
    """The pings of each carrier on each day; days with less than two minutes are left out."""
    days = {}
    with tarfile.open(real / "pam2025_three_carrier_ping/pings_2023_trips.tar.xz") as archive:
        for member in archive:
            if not member.name.endswith(".out"):
                continue
            day = next(part for part in member.name.split("/") if DAY.match(part))
            carrier = next(part for part in member.name.split("/") if part in CARRIERS)
            body = archive.extractfile(member).read().decode()
            days.setdefault((day, carrier), []).append(Text(member.name, body))
    return {key: _joined(key, texts) for key, texts in days.items()}


def _joined(key, texts):
    parts = []
    for text in texts:
        try:
            parts.append(pings.read(text))
        except DataError:
            continue  # a test without two answers
    return join(" ".join(key), parts)


def test_three_carriers_have_none(carriers):
    """27 series of a day each: at 1 % a false claim is a matter of chance, two are not."""
    p_values = [estimate_slots(series).p_value for series in carriers.values()]
    assert len(p_values) >= 27
    assert sum(p <= 0.01 for p in p_values) <= 1


def test_a_forecast_from_the_first_half_holds_in_the_second(real):
    """Round trips jump more often in the windows foreseen than at other times."""
    series = read_measurement(only(real, f"{MMSYS}/latency_isl*"))
    half = len(series.values) // 2
    past = join("first half", [_part(series, slice(0, half))])
    rest = _part(series, slice(half, None))
    begin, span = float(rest.times_unix_s[0]), float(np.ptp(rest.times_unix_s))
    forecast = slot_forecast(estimate_slots(past), begin, span)
    known = np.isfinite(rest.values)
    times, changes = rest.times_unix_s[known][1:], np.abs(np.diff(rest.values[known]))
    windows = forecast.outages(begin, span)
    inside = np.zeros(len(times), bool)
    for window in windows:
        inside |= (times - begin >= window.start_s) & (times - begin < window.end_s + 0.3)
    assert inside.mean() < 0.1
    assert changes[inside].mean() > 3 * changes[~inside].mean()


def _part(series, rows):
    return type(series)(series.name, series.kind, series.times_unix_s[rows], series.values[rows])
