"""What a run met is a drive, and a drive is what other emulators read."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from skyweave.data import load
from skyweave.data.writers import write_drive
from skyweave.errors import DataError
from skyweave.model.drive import Drive, PathTrace, Series
from skyweave.model.windows import OutageWindow
from skyweave.testbed.profiles import FORMATS, Probe, drive_of, export_profile, timeline

UNIX = 1_777_600_000.0


def counters(seconds: int, down_mbps: float, up_mbps: float, name: str = "starlink"):
    return [
        (UNIX + one, name, int(one * up_mbps * 125_000), int(one * down_mbps * 125_000))
        for one in range(seconds + 1)
    ]


def made() -> Drive:
    times = np.arange(6.0)
    trace = PathTrace(
        downlink_mbps=Series(times, np.array([10.0, 20.0, 0.0, 5.0, np.nan, 40.0])),
        uplink_mbps=Series(times, np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        rtt_ms=Series(times, np.array([40.0, np.nan, 44.0, 48.0, 60.0, 40.0])),
        outages=(OutageWindow(start_s=3.0, end_s=4.0),),
    )
    return Drive(name="garden; rm -rf /", origin="a test", paths={"starlink": trace})


def test_counters_and_probes_are_the_drive_that_run_replays(tmp_path: Path) -> None:
    probes = [Probe(UNIX + 0.2 * one, "starlink", 40.0 + one % 7) for one in range(100)]
    probes[30] = Probe(UNIX + 6.0, "starlink", None)
    rows = counters(20, 30.0, 4.0) + counters(20, 8.0, 2.0, "lte")
    drive = drive_of(rows, probes, "garden-1", "testbed run 1")
    assert drive is not None
    write_drive(tmp_path / "drive.csv", drive)
    (read,) = load(tmp_path / "drive.csv")
    assert sorted(read.paths) == ["lte", "starlink"]
    one = read.paths["starlink"]
    assert one.downlink_mbps is not None
    assert one.uplink_mbps is not None
    assert one.rtt_ms is not None
    assert one.downlink_mbps.values.tolist() == pytest.approx([30.0] * 20, rel=1e-4)
    assert one.uplink_mbps.values.tolist() == pytest.approx([4.0] * 20, rel=1e-4)
    assert set(one.rtt_ms.values.tolist()) == {40.0}
    assert read.paths["lte"].rtt_ms is None
    assert read.start is not None
    assert read.start.timestamp() == UNIX


def test_a_run_without_traffic_leaves_no_drive() -> None:
    assert drive_of([], [], "a", "b") is None
    assert drive_of(counters(0, 1.0, 1.0), [], "a", "b") is None
    assert drive_of([*counters(0, 1.0, 1.0)] * 3, [], "a", "b") is None  # the same look again


def test_a_counter_that_goes_back_is_no_negative_rate() -> None:
    rows = [(UNIX, "a", 0, 0), (UNIX + 1, "a", 10**6, 10**6), (UNIX + 2, "a", 5, 5)]
    drive = drive_of(rows, [], "a", "b")
    assert drive is not None
    assert drive.paths["a"].downlink_mbps.values.tolist() == [8.0, 0.0]  # type: ignore[union-attr]


def test_the_timeline_holds_what_was_logged_and_is_silent_in_outages() -> None:
    rows = timeline(made().paths["starlink"])
    assert [row.down_mbps for row in rows] == [10.0, 20.0, 0.0, 0.0, 0.0, 40.0]
    assert [row.rtt_ms for row in rows] == [40.0, 40.0, 44.0, 48.0, 60.0, 40.0]
    assert [row.is_out for row in rows] == [False, False, False, True, False, False]


def test_the_netem_script_gives_tc_each_second_in_order_and_takes_it_back(tmp_path: Path) -> None:
    files = export_profile(made(), "netem", tmp_path / "out")
    assert sorted(file.name for file in files) == ["down.sh", "up.sh"]
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "tc").write_text('#!/bin/sh\necho "$@" >> "$LOG"\n')
    # seven seconds, then the script is interrupted as Ctrl-C does
    (tools / "sleep").write_text(
        '#!/bin/sh\necho "sleep $1" >> "$LOG"\n'
        '[ "$(grep -c sleep "$LOG")" -lt 7 ] || kill -INT "$PPID"\n'
    )
    for one in tools.iterdir():
        one.chmod(0o755)
    log = tmp_path / "log"
    script = next(file for file in files if file.name == "down.sh")
    ran = subprocess.run(
        [script, "eth9"],
        env={"PATH": f"{tools}:{os.environ['PATH']}", "LOG": str(log)},
        check=False,
    )
    assert ran.returncode == 130
    said = log.read_text().splitlines()
    assert said[0] == "qdisc replace dev eth9 root netem"
    changes = [line.partition("netem ")[2] for line in said[1:] if "change" in line]
    assert changes == [
        "delay 20.000ms rate 10000000bit", "delay 20.000ms rate 20000000bit",
        "delay 22.000ms loss 100%", "delay 24.000ms loss 100%", "delay 30.000ms loss 100%",
        "delay 20.000ms rate 40000000bit", "delay 20.000ms rate 10000000bit",
    ]  # fmt: skip
    assert said[-1] == "qdisc del dev eth9 root"
    assert subprocess.run(["sh", "-n", script], check=False).returncode == 0


def test_leoreplayers_pair_is_read_back(tmp_path: Path) -> None:
    export_profile(made(), "leoreplayer", tmp_path / "out")
    drives = load(tmp_path / "out" / "starlink")
    down = next(one for one in drives if "down" in one.name).paths["starlink"]
    assert down.downlink_mbps is not None
    assert down.rtt_ms is not None
    carried = float(np.sum(down.downlink_mbps.values) * down.downlink_mbps.spacing_s)
    assert carried == pytest.approx(10 + 20 + 5 + 40, abs=0.1)
    assert down.rtt_ms.values[150] == 40.0  # not logged there: the last one
    assert down.rtt_ms.values[250] == 44.0


def test_hypatias_state_names_each_second_and_shares_of_the_rate(tmp_path: Path) -> None:
    export_profile(made(), "hypatia", tmp_path / "out")
    folder = tmp_path / "out" / "starlink"
    state = folder / "dynamic_state_1000ms_for_6s"
    properties = dict(
        line.split("=") for line in (folder / "config_ns3.properties").read_text().splitlines()
    )
    assert float(properties["gsl_data_rate_megabit_per_s"]) == 40.0
    assert len(list(state.iterdir())) == 12
    second = (state / "gsl_if_bandwidth_1000000000.txt").read_text().splitlines()
    assert second[0] == "0,0,0.500000"
    assert second[2] == "1,0,0.050000"
    assert (state / "fstate_0.txt").read_text().splitlines()[2] == "1,2,0,0,0"
    out = (state / "fstate_3000000000.txt").read_text().splitlines()
    assert {line.split(",", 2)[2] for line in out} == {"-1,-1,-1"}
    trips = (folder / "networkx_rtt_1_to_2.txt").read_text().splitlines()
    assert trips[2] == "2000000000,44000000.0000000000"


def test_starrynets_matrices_have_a_quarter_of_the_round_trip_a_hop(tmp_path: Path) -> None:
    export_profile(made(), "starrynet", tmp_path / "out")
    folder = tmp_path / "out" / "starlink"
    assert len(list((folder / "delay").iterdir())) == 6
    matrix = np.loadtxt(folder / "delay" / "3.txt", delimiter=",")
    assert matrix.tolist() == [[0, 11, 11], [11, 0, 0], [11, 0, 0]]
    assert not np.loadtxt(folder / "delay" / "4.txt", delimiter=",").any()
    found = json.loads((folder / "config.json").read_text())
    assert found["Duration (s)"] == 6
    assert "password" not in json.dumps(found).lower()


@pytest.mark.parametrize("to", FORMATS)
def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, to: str) -> None:
    empty = Drive(name="a", origin="b", paths={"x": PathTrace()})
    with pytest.raises(DataError):
        export_profile(empty, to, tmp_path / "out")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
