"""Drives as frames, and as paths of a run."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import skyweave as sw


def test_a_drive_comes_back_from_its_frame(drive):
    frame = drive.to_frame()
    assert frame.columns[0] == "time_s"
    back = sw.Drive.from_frame(frame, drive.name, drive.origin)
    for name, path in drive.paths.items():
        np.testing.assert_array_equal(
            back.paths[name].downlink_mbps.values, path.downlink_mbps.values
        )
    assert back.paths["att"].rtt_ms is None


def test_series_of_other_times_have_nulls():
    one = sw.Series(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    other = sw.Series(np.array([0.0, 0.5]), np.array([3.0, np.nan]))
    drive = sw.Drive("d", "o", {"a": sw.PathTrace(one), "b": sw.PathTrace(other)})
    frame = drive.to_frame()
    assert frame["time_s"].to_list() == [0, 0.5, 1]
    assert frame["a.downlink_mbps"].to_list() == [1, None, 2]
    assert frame["b.downlink_mbps"].is_nan().to_list() == [False, True, None]
    back = sw.Drive.from_frame(frame)
    np.testing.assert_array_equal(back.paths["b"].downlink_mbps.values, [3, np.nan])


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"time": [0.0]}, "has no column 'time_s'"),
        ({"time_s": [0.0]}, "there is nothing but 'time_s'"),
        ({"time_s": [0.0], "mbps": [1.0]}, "column 'mbps' is not <path>.<quantity>"),
        ({"time_s": [1.0, 0.0], "a.rtt_ms": [1.0, 1.0]}, "the times of 'a.rtt_ms' do not rise"),
        ({"time_s": [0.0], "a.rtt_ms": [-1.0]}, "'a.rtt_ms' is negative"),
        ({"time_s": [0.0], "a.rtt_ms": [None]}, "column 'a.rtt_ms' has no value"),
    ],
)
def test_frames_of_something_else_are_refused(columns, complaint):
    with pytest.raises(sw.DataError, match=complaint):
        sw.Drive.from_frame(pl.DataFrame(columns, strict=False))


def test_paths_of_a_drive_can_be_simulated(drive):
    with pytest.raises(sw.DataError, match="path 'att' has no round trips; give rtt_ms"):
        drive.to_paths()
    starlink, att = drive.to_paths(rtt_ms={"att": 60})
    assert starlink.down.capacity.mbps == (10, 0, 0, 30.5)
    assert starlink.down.delay.ms == (20, 20.625, 21, 25)
    assert att.down.delay.ms == 30
    assert att.up.capacity.mbps == 1000
    workload = sw.Bulk(duration_s=4)
    record = sw.simulate(paths=[starlink, att], connections=[sw.Connection(workload=workload)])
    assert record.totals["connections"][0]["goodput_mbps"] > 1
