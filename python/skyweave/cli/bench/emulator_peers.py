"""Other emulators on the same work as ``skyweave bench emulator``, where they are installed.

TCP CUBIC by iperf3 through 1 Gbit/s and 20 ms, and ping. Each starts a program behind its links and
tells it the address of the host in a variable of the environment; the iperf3 server is on the host.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skyweave.live.errors import LiveError

LOOKED_FOR = ("mm-link", "mpshell", "rattan")
_TCP_S, _PINGS, _LIMIT_S = 8, 200, 60.0
_PORT = "5299"


def measure(rtt_ms: float, queue_bytes: int) -> tuple[dict[str, Any], str]:
    """Return what each emulator on PATH reached, and a sentence on which were looked for.

    One that cannot be driven has an ``error`` in place of figures.
    """
    here = [name for name in LOOKED_FOR if shutil.which(name) is not None]
    note = f"looked on PATH for {', '.join(LOOKED_FOR)}: " + (", ".join(here) or "none is there")
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="skyweave-") as folder:
        trace = Path(folder) / "1gbit"
        # 250 packets of 1,500 bytes each 3 ms are 1 Gbit/s.
        trace.write_text("".join(f"{1 + place * 3 // 250}\n" for place in range(250)))
        trace.chmod(0o644)
        Path(folder).chmod(0o755)
        for name in here:
            try:
                found[name] = _measure_one(_command(name, rtt_ms / 2, queue_bytes, trace), rtt_ms)
            except LiveError as error:
                found[name] = {"error": str(error)}
    return found, note


def _command(name: str, delay_ms: float, queue_bytes: int, trace: Path) -> tuple[list[str], str]:
    """Return how an emulator is called, and the variable that names the host behind it."""
    directions = ("uplink", "downlink")
    if name == "mm-link":
        if os.geteuid() == 0:
            raise LiveError("mm-link: refuses root; run the benchmark as an ordinary user")
        queues = [f"--{one}-queue=droptail" for one in directions]
        queues += [f"--{one}-queue-args=bytes={queue_bytes}" for one in directions]
        delay = ["mm-delay", f"{delay_ms:.0f}"]
        return [*delay, "mm-link", str(trace), str(trace), *queues, "--"], "MAHIMAHI_BASE"
    if name == "rattan":
        size = json.dumps({"packet_limit": queue_bytes // 1500})
        argv = ["rattan", "link"]
        for one in directions:
            argv += [f"--{one}-delay", f"{delay_ms:.0f}ms", f"--{one}-bandwidth", "1Gbps"]
            argv += [f"--{one}-queue", "droptail", f"--{one}-queue-args", size]
        return [*argv, "--"], "RATTAN_BASE"
    raise LiveError(f"{name}: takes a file that differs between its versions; measure it by hand")


def _measure_one(way: tuple[Sequence[str], str], rtt_ms: float) -> dict[str, float]:
    """Return throughput and delay of one emulator."""
    argv, base = way
    server = _host("iperf3", "-s", "-p", _PORT)
    try:
        _wait_for(int(_PORT), server)
        client = f"exec iperf3 -c ${base} -p {_PORT} -C cubic -t {_TCP_S} -J"
        said = json.loads(_output([*argv, "sh", "-c", client]))
    except ValueError as error:
        raise LiveError(f"{argv[0]}: what iperf3 said is no JSON ({error})") from error
    finally:
        server.terminate()
        server.wait()
    pings = _output([*argv, "sh", "-c", f"exec ping -i 0.02 -c {_PINGS} ${base}"])
    times_ms = [float(time) for time in re.findall(r"time=([\d.]+) ms", pings)]
    if "sum_received" not in said.get("end", {}) or len(times_ms) < 2:
        raise LiveError(f"{argv[0]}: {said.get('error', 'ping got no answer')}")
    centiles = statistics.quantiles(times_ms, n=100)
    return {
        "tcp_cubic_1gbit_mbps": said["end"]["sum_received"]["bits_per_second"] / 1e6,
        "ping_error_ms_p50": statistics.median(times_ms) - rtt_ms,
        "ping_error_ms_p99": centiles[98] - rtt_ms,
        "ping_error_ms_max": max(times_ms) - rtt_ms,
    }


def _host(*argv: str) -> subprocess.Popen[bytes]:
    """Start a program beside the emulator."""
    try:
        return subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        raise LiveError(f"{argv[0]} is missing; install it to measure other emulators") from None


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until somebody listens on a port of this host."""
    ending = time.monotonic() + _LIMIT_S
    while time.monotonic() < ending and server.poll() is None:
        for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
            lines = table.read_text().splitlines() if table.exists() else []
            if any(f":{port:04X} " in line and " 0A " in line for line in lines):
                return
        time.sleep(0.01)
    raise LiveError(f"iperf3 does not listen on port {port}; is another one running?")


def _output(argv: Sequence[str]) -> str:
    """Return what a program prints; raise :class:`LiveError` with its last words if it fails."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LiveError(f"{argv[0]}: {error}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it said nothing"]
        raise LiveError(f"{argv[0]} ended with code {done.returncode}: {said[0]}")
    return done.stdout
