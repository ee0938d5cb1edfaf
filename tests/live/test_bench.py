"""``skyweave bench emulator``: every figure is measured; how large it is no test judges."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from made_paths import path

from skyweave.cli.bench import emulator as bench
from skyweave.cli.bench import emulator_peers as bench_peers
from skyweave.live.world.world import World
from skyweave.model import config

KEYS = {
    "tcp_cubic_1gbit_mbps", "relay_cores_1gbit", "unshaped_gbps", "relay_cores_per_gbps",
    "lateness_us", "udp_delay_error_ms", "rate_error_percent", "peers",
}  # fmt: skip


def most_offload_here() -> str:
    """Return what a world's devices can do on this machine."""
    with World([path("p", 10.0)]) as world:
        world.start(100)
        return str(world.finish()["statistics"]["offload"])


@pytest.mark.usefixtures("prompt")  # what carries nothing in its second has no cost per byte
def test_everything_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "_TCP_S", 1.0)
    monkeypatch.setattr(bench, "_PINGS", 3)
    # Its trace ends with 71 Mbit/s, and not, as one of 2 s, with 0: a late flood is carried, too.
    monkeypatch.setattr(bench, "_FLOOD_S", 1.9)
    monkeypatch.setattr(bench, "_FLOOD_FROM_S", 0.2)
    monkeypatch.setattr(bench, "_FLOOD_TO_S", 0.8)
    said: list[str] = []
    found = bench.measure_emulator(said.append)
    assert set(found) >= KEYS
    for figure in (
        "tcp_cubic_1gbit_mbps",
        "steady_1gbit_mbps",
        "unshaped_gbps",
        "relay_cores_per_gbps",
    ):
        assert set(found[figure]) == {"offload", "plain"}
        assert min(found[figure].values()) > 0
    assert [(row["link"], row["way"]) for row in found["rounds"]] == [
        ("1gbit", "offload"), ("1gbit", "plain"), ("unshaped", "offload"), ("unshaped", "plain"),
    ]  # fmt: skip
    assert [row["devices"] for row in found["rounds"]] == [most_offload_here(), "none"] * 2
    assert found["udp_delay_error_ms"]["p50"] > 0  # a packet is never early
    assert set(found["rate_error_percent"]) == {
        "10_mbps", "100_mbps", "500_mbps", "trace_with_zeros",
    }  # fmt: skip
    assert len(said) == 10
    bench._print(found)


def test_the_integral_of_a_capacity_that_repeats_its_last_step() -> None:
    steps = config.RateSteps(times_s=(0.0, 1.0, 2.0), mbps=(8.0, 0.0, 16.0))
    assert bench._integral_bytes(steps, 0.5, 4.0) == 0.5e6 + 2 * 2e6


def test_no_other_emulator_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    peers, note = bench_peers.measure(20.0, 1000)
    assert peers == {}
    assert note == "looked on PATH for mm-link, mpshell, rattan: none is there"


@pytest.mark.usefixtures("prompt")
@pytest.mark.skipif(not (shutil.which("iperf3") and shutil.which("ping")), reason="no iperf3")
def test_another_emulator_does_the_same_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A program called rattan that emulates nothing: what follows its options runs beside it."""
    script = '#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done; shift\n'
    made = tmp_path / "rattan"
    made.write_text(f'{script}RATTAN_BASE=127.0.0.1 exec "$@"\n')
    made.chmod(0o755)
    broken = tmp_path / "mpshell"
    broken.write_text("#!/bin/sh\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(bench_peers, "_TCP_S", 1)
    monkeypatch.setattr(bench_peers, "_PINGS", 3)
    monkeypatch.setattr(bench_peers, "LOOKED_FOR", ("mpshell", "rattan"))
    peers, _ = bench_peers.measure(20.0, 1000)
    assert "measure it by hand" in peers["mpshell"]["error"]
    assert peers["rattan"]["tcp_cubic_1gbit_mbps"] > 0
    assert peers["rattan"]["ping_error_ms_p50"] < 0  # the loopback has no 20 ms
