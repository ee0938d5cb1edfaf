"""What ``skyweave dish stats`` and ``plot`` say of rows that are known."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from skyweave.cli import app as cli
from skyweave.errors import DataError
from skyweave.telemetry.dish import status
from skyweave.telemetry.dish.record import PIXELS
from skyweave.telemetry.dish.summary import distribution, outages, phases, read_recorded, spikes
from skyweave.telemetry.export import export
from skyweave.telemetry.probes.pinger import SCHEMA
from skyweave.telemetry.store import Store, read

EDGE_S = 1_777_593_612.0


def test_a_spike_is_above_twice_the_mean_of_the_five_seconds_before():
    times = np.arange(20.0)
    values = np.full(20, 30.0)
    values[10], values[15] = 60.0, 75.1
    # at 15 the mean of the 5 s before, which has the 60, is 36; at 10 it is 30: 60 is not above 60
    assert spikes(times, values).tolist() == [15.0]
    values[[8, 9]] = np.nan
    assert spikes(times, values).tolist() == [15.0]
    assert spikes(times[:3], np.array([1.0, 50.0, 500.0])).tolist() == []


def test_phases_begin_at_the_edge():
    assert phases(np.array([EDGE_S, EDGE_S + 14.5, EDGE_S + 15])).tolist() == [0.0, 14.5, 0.0]


def test_a_distribution_says_what_is_missing():
    found = distribution(np.array([1.0, 2.0, 3.0, np.nan]))
    assert (found["n"], found["missing"], found["p50"]) == (3, 0.25, 2.0)
    assert distribution(np.array([np.nan])) == {"n": 0, "missing": 1.0}


def recorded(folder):
    store = Store(folder)
    states = ["CONNECTED"] * 60 + ["OBSTRUCTED"] * 4 + ["CONNECTED"] * 20 + ["NO_SATS"] * 6
    rows = [
        {
            "time_unix_s": EDGE_S + n, "state": state, "azimuth_deg": 10 + n / 100,
            "elevation_deg": 65.0, "ping_latency_ms": 40.0 + n % 7, "down_mbps": 3.0,
        }
        for n, state in enumerate(states)
    ]  # fmt: skip
    rows += [{"time_unix_s": EDGE_S + 120, "gap_s": 31.0, "gap_why": "torn", "state": "CONNECTED"}]
    store.add("status", status.SCHEMA, rows)
    trips = [30.0 if n % 150 else 90.0 for n in range(900)]
    store.add("probes", SCHEMA, [
        {"time_unix_s": EDGE_S + n / 10, "probe": "icmp:x", "number": n, "rtt_ms": rtt}
        for n, rtt in enumerate(trips)
    ])  # fmt: skip
    store.flush()
    return folder


def test_outages_have_a_cause_and_a_gap_is_none_of_them(tmp_path):
    found = outages(read(recorded(tmp_path), "status", status.SCHEMA))
    assert [(one.cause, one.start_unix_s - EDGE_S, one.length_s) for one in found] == [
        ("OBSTRUCTED", 60.0, 4.0),
        ("NO_SATS", 84.0, 5.0),
        ("not recorded", 89.0, 31.0),
    ]


def test_stats_and_plot_at_the_command_line(tmp_path):
    folder = recorded(tmp_path / "dish")
    ran = CliRunner().invoke(cli.app, ["dish", "stats", str(folder), "--json"])
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert found["spikes"]["icmp:x rtt_ms"] == {"count": 5, "at_edge": 1.0}
    assert found["outages"]["OBSTRUCTED"] == {"count": 1, "seconds": 4.0}
    assert found["series"]["dish ping_latency_ms"]["n"] == 90
    assert "5 spikes" in CliRunner().invoke(cli.app, ["dish", "stats", str(folder)]).stdout
    picture = tmp_path / "dish.png"
    ran = CliRunner().invoke(cli.app, ["dish", "plot", str(folder), "--out", str(picture)])
    assert ran.exit_code == 0, ran.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_export_tells_no_place(tmp_path):
    folder = recorded(tmp_path / "dish")
    store = Store(folder)
    place = {"latitude_deg": 47.6123, "longitude_deg": -122.3345, "height_m": 123.0}
    store.add("status", status.SCHEMA, [{"time_unix_s": EDGE_S + 200, "q_x": 0.5, **place}])
    store.add("pixels", PIXELS, [{"time_unix_s": EDGE_S, "row": 1, "column": 2}])
    store.flush()
    assert [one.name for one in export(folder, tmp_path / "out")] == [
        "status.parquet", "probes.parquet",
    ]  # fmt: skip
    given = pl.read_parquet(tmp_path / "out" / "status.parquet")
    assert len(given) == 92
    assert not {*status.ATTITUDE, *status.PLACE} & set(given.columns)
    export(folder, tmp_path / "all", location=True)
    given = pl.read_parquet(tmp_path / "all" / "status.parquet")
    assert given.select(status.PLACE).row(-1) == (47.6, -122.3, 100.0)
    assert given["q_x"][-1] == 0.5
    assert (tmp_path / "all" / "pixels.parquet").exists()
    with pytest.raises(DataError, match="nothing to export"):
        export(tmp_path / "missing", tmp_path / "none")


def test_a_folder_without_rows_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(DataError, match=str(folder)):
            read_recorded(folder)
