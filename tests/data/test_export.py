"""``skyweave data export``, and what it wrote read again."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import skyweave as sw
from skyweave.cli.data import data_app
from skyweave.data import load

CSV = """# name: d
# start: 2025-10-09T08:53:20+00:00
time_s,a.downlink_mbps,a.rtt_ms
0,12,40
1,24,41
"""


def export(source, to, out):
    result = CliRunner().invoke(data_app, ["export", str(source), "--to", to, "--out", str(out)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_csv_and_parquet_hold_the_drive(write, tmp_path):
    source = write("d.csv", CSV)
    assert export(source, "csv", tmp_path / "csv").exit_code == 0
    assert load(tmp_path / "csv" / "d.csv")[0].start == load(source)[0].start
    export(source, "parquet", tmp_path / "parquet")
    frame = pl.read_parquet(tmp_path / "parquet" / "d.parquet")
    assert frame.columns == ["time_s", "a.downlink_mbps", "a.rtt_ms"]
    back = sw.Drive.from_frame(frame)
    assert back.paths["a"].downlink_mbps.values.tolist() == [12, 24]


def test_mahimahi_carries_the_volume(write, tmp_path):
    export(write("d.csv", CSV), "mahimahi", tmp_path / "out")
    (drive,) = load(tmp_path / "out" / "d" / "a.down")
    rates = drive.paths["link"].downlink_mbps
    assert np.sum(rates.values) * 0.1 == pytest.approx(36, abs=0.02)


def test_what_is_there_stays(write, tmp_path):
    source = write("d.csv", CSV)
    with pytest.raises(sw.DataError, match="is not an empty folder"):
        export(source, "mahimahi", tmp_path)
    only_rtt = write("r.csv", "time_s,a.rtt_ms\n0,40\n")
    with pytest.raises(sw.DataError, match="has no capacity"):
        export(only_rtt, "mahimahi", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert export(source, "pcap", tmp_path / "new").exit_code == 2
