"""Logs of all kinds meet: pings, several networks in a file, mahimahi, clocks that disagree."""

from __future__ import annotations

import numpy as np
import pytest
from made_logs import UNIX_S, write_log

import skyweave as sw
from skyweave.comparison import Choices, Reading, gather, study_text
from skyweave.errors import ConfigError, DataError

STEADY = [3.0] * 100


@pytest.fixture
def log(tmp_path):
    return lambda name, mbps, at_s=UNIX_S: write_log(tmp_path / name, mbps, at_s)


def pinged(file, seconds, rtt_ms, at_s=UNIX_S):
    """A log of ``ping -D``: stamps are of answers."""
    rows = [
        f"[{at_s + n + rtt_ms / 1e3:.6f}] 64 bytes from 1.1.1.1: icmp_seq={n + 1} ttl=57 "
        f"time={rtt_ms} ms"
        for n in range(seconds)
    ]
    file.write_text("PING 1.1.1.1 (1.1.1.1) 56(84) bytes of data.\n" + "\n".join(rows) + "\n")
    return file


def test_ping_logs_give_round_trips_second_by_second(log, tmp_path):
    files = [log("starlink.csv", STEADY), log("verizon.csv", STEADY)]
    pings = [pinged(tmp_path / "a.txt", 100, 50), pinged(tmp_path / "b.txt", 100, 70)]
    found = gather(files, Reading(pings=pings))
    (drive,) = found.drives
    assert set(drive.paths["SL"].rtt_ms.values.tolist()) == {50}
    assert drive.duration_s == pytest.approx(100, abs=1)
    assert "VZ: round trips from b.txt, second by second." in found.notes
    assert study_text(found, Choices()).count('rtt_ms = "trace"') == 2


def test_a_ping_log_is_known_by_its_name(log, tmp_path):
    pings = [pinged(tmp_path / "verizon_ping.txt", 100, 70)]
    found = gather([log("starlink.csv", STEADY), log("verizon.csv", STEADY), *pings])
    assert found.drives[0].paths["SL"].rtt_ms is None
    assert found.drives[0].paths["VZ"].rtt_ms is not None
    assert [network.key for network in found.networks] == ["SL", "VZ"]
    pings = [pinged(tmp_path / "wlan0.txt", 100, 70)]
    with pytest.raises(DataError, match=r"wlan0.txt: holds round trips of none of the networks"):
        gather([log("starlink.csv", STEADY), log("verizon.csv", STEADY), *pings])


def test_pings_of_another_time_stand_for_their_median(log, tmp_path):
    files = [log("starlink.csv", STEADY), log("verizon.csv", STEADY)]
    plain = tmp_path / "b.txt"
    plain.write_text(
        "".join(f"64 bytes from h: icmp_seq={n} ttl=4 time=7{n} ms\n" for n in (1, 2, 4))
    )
    pings = [pinged(tmp_path / "a.txt", 100, 50, UNIX_S + 9000), plain]
    found = gather(files, Reading(pings=pings))
    assert np.nanmax(found.drives[0].paths["SL"].rtt_ms.values) == 50
    assert np.nanmax(found.drives[0].paths["VZ"].rtt_ms.values) == 72
    assert found.drives[0].duration_s == pytest.approx(100, abs=1)
    assert (
        "VZ: round trips 72.0 ms, the median of b.txt, which covers other seconds." in found.notes
    )


def test_several_networks_in_one_file(tmp_path):
    file = tmp_path / "both.csv"
    rows = "".join(f"{UNIX_S + n},{n},{2 * n}\n" for n in range(1, 100))
    file.write_text("timestamp,starlink_mbps,my lte_mbps\n" + rows)
    found = gather([file])
    assert [(one.key, one.kind) for one in found.networks] == [
        ("SL", "satellite"),
        ("my-lte", "cellular"),
    ]
    assert found.drives[0].duration_s == 99


def test_mahimahi_pairs(tmp_path):
    for name, step in (("starlink.down", 2), ("starlink.up", 20), ("lte.down", 4), ("lte.up", 30)):
        lines = "\n".join(str(n) for n in range(step, 70_001, step))
        (tmp_path / name).write_text(lines + "\n")
    files = sorted(tmp_path.iterdir())
    with pytest.raises(DataError, match="--align start"):
        gather(files)
    found = gather(files, Reading(align="start"))
    (drive,) = found.drives
    assert set(drive.paths) == {"SL", "lte"}
    assert all(path.downlink_mbps and path.uplink_mbps for path in drive.paths.values())
    assert np.mean(drive.paths["SL"].downlink_mbps.values) == pytest.approx(6, abs=0.1)


def test_a_folder_of_drives(log, tmp_path):
    for number in range(3):
        at_s = UNIX_S + 1000 * number
        log(f"day/starlink_{number}.csv", STEADY, at_s)
        log(f"day/verizon_{number}.csv", STEADY, at_s + 10)
    for files in (sorted((tmp_path / "day").iterdir()), [tmp_path / "day"]):
        found = gather(files)
        assert [drive.duration_s for drive in found.drives] == [90, 90, 90]
        assert [network.key for network in found.networks] == ["SL", "VZ"]


def test_two_logs_of_the_same_operator_are_two_networks(log):
    found = gather([log("starlink-roof.csv", STEADY), log("starlink-hood.csv", STEADY)])
    assert [network.key for network in found.networks] == ["SL", "SL-2"]
    assert [network.label for network in found.networks] == ["starlink-roof", "starlink-hood"]


def test_an_hour_between_clocks_is_said(log):
    with pytest.raises(DataError, match=r"verizon.csv put 2 h back they would meet: is it local"):
        gather([log("starlink.csv", STEADY), log("verizon.csv", STEADY, UNIX_S + 7200)])


def test_edges_that_fit_some_seconds_later_are_said(log):
    rng = np.random.default_rng(5)
    steps = np.repeat(rng.uniform(1, 50, 100), rng.integers(5, 20, 100))[:600]
    files = [log("starlink.csv", steps), log("verizon.csv", steps[7:] / 2)]
    found = gather(files)
    assert any("clock of verizon is put 7 s forward" in note for note in found.notes)
    other = np.repeat(rng.uniform(1, 50, 100), rng.integers(5, 20, 100))[:600]
    assert not any("clock" in note for note in gather([files[0], log("att.csv", other)]).notes)


def test_a_short_overlap_is_said(log):
    with pytest.raises(DataError, match=r"were logged together for 40 s only, below 60 s"):
        gather([log("starlink.csv", STEADY), log("verizon.csv", STEADY, UNIX_S + 60)])


def test_a_log_of_tcp_is_no_capacity(log):
    found = gather([log("starlink_tcp.csv", STEADY), log("verizon.csv", STEADY)])
    assert "TCP: what one connection reached" in found.took[0]
    assert "TCP" not in found.took[1]


def test_a_slip_of_the_unit_of_a_round_trip_is_refused(log):
    found = gather([log("starlink.csv", STEADY), log("verizon.csv", STEADY)])
    with pytest.raises(ConfigError, match=r"--rtt 0.044: is no round trip to the Internet in ms"):
        study_text(found, Choices(rtt_ms=(0.044, 40)))


def test_python_compares_drives_and_files(log, tmp_path):
    files = [log("starlink.csv", [4.0] * 15), log("verizon.csv", [2.0] * 15)]
    some = {"congestion": ["bbr"], "transports": ["mptcp"], "rtt_ms": (40, 60)}
    table = sw.compare(files, out=tmp_path / "out", **some)
    assert table["paths"].to_list() == ["SL", "VZ", "SL+VZ"]
    assert table["gain"].to_list()[:2] == [None, None]
    assert 1.0 < table["gain"][2] < 1.6
    assert (tmp_path / "out" / "report.html").is_file()
    again = sw.compare(gather(files).drives, **some)
    assert again["median_mbps"].to_list() == table["median_mbps"].to_list()
