"""``skyweave bench mpquic``: multipath QUIC beside noq-proto on this machine, not judged.

Both are measured in the same run by examples of the Rust crates, which have noq-proto to compare
with: it takes a checkout of the repository and cargo.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Annotated, Any

import typer

from skyweave.cli.bench.figures import say_figures
from skyweave.cli.bench.gateway import gateway
from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.printing import put
from skyweave.quic.errors import QuicError

_SOCKET_MB, _MEMORY_MB, _ROUNDS = 300, 200, 5
_CLIENTS, _BEYOND = 4096, 256
_CONNECTIONS = {
    "connections_held": f"connections that a server with room for {_CLIENTS:,} held",
    "connections_refused": f"further clients that it refused, of {_BEYOND}",
    "connection_kb": "resident memory of the server for each connection, kB",
    "accept_ms": "until a client is connected, eight at a time, ms of both ends for each",
    "silent_cpu_s_per_s": "processor seconds a second of the server while all are silent",
    "kept_alive_cpu_s_per_s": "the same while each client shows every 15 s that it is there",
}
_NAMES = {"noq": "noq-proto", "gateway": "TCP through a gateway"}
_LINE = re.compile(
    r"(?P<who>\w+)\s+(?P<paths>\d) path\(s\):\s+(?P<datagrams>[\d.]+) datagrams/s,"
    r"\s+(?P<mbps>[\d.]+) Mbit/s"
)
_IDLE = re.compile(r"idle: (\d+) bytes")


def bench_mpquic(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    rounds: Annotated[int, typer.Option(min=1, help="Repetitions; the median counts.")] = _ROUNDS,
) -> None:
    """Measure multipath QUIC over sockets, by gateways and in memory, beside noq-proto."""
    console = Console(stderr=True)
    with console.status("building the benchmarks"):
        build()
    with console.status("transfers over loopback sockets"):
        found = sockets(rounds)
    with console.status("TCP through a gateway"):
        found |= gateway(_SOCKET_MB, rounds)
    with console.status("thousands of connections"):
        found |= connections()
    with console.status("transfers in memory"):
        found |= memory(rounds)
    facts = {"cores": os.cpu_count() or 1, "load": os.getloadavg()[0]}
    if as_json:
        put(json.dumps(found | facts))
        return
    known = {name: value for name, value in found.items() if value is not None}
    say_figures(known, {name: meaning(name) for name in known}, as_json=False)
    if len(known) < len(found):
        console.print("noq-proto broke off where figures of its are missing.")
    console.print(f"{facts['cores']} cores, load {facts['load']:.2f} at the end.")


def meaning(name: str) -> str:
    """Return what a figure is.

    >>> meaning("noq_2_path_gbps")
    'noq-proto, 2 path(s) over loopback sockets, Gbit/s of goodput'
    """
    if name == "idle_bytes":
        return "memory for each end of an idle connection with two paths"
    if name in _CONNECTIONS:
        return _CONNECTIONS[name]
    who, paths, rest = name.split("_", 2)
    return (
        f"{_NAMES.get(who, who)}, {paths} path(s) "
        + {
            "path_gbps": "over loopback sockets, Gbit/s of goodput",
            "path_cpu_s_per_gbit": "over loopback sockets, processor seconds for a Gbit",
            "path_memory_gbps": "in memory on one core, Gbit/s of goodput",
            "path_memory_packets_per_s": "in memory on one core, datagrams per second",
        }[rest]
    )


def build() -> None:
    """Build the examples. Raises :class:`ConfigError` where that is not possible."""
    for package, example in (
        ("skyweave-sockets", "socket_speed"),
        ("skyweave-sockets", "many_connections"),
        ("skyweave-mpquic", "loopback"),
    ):
        _cargo("build", package, example)


def sockets(rounds: int) -> dict[str, float | None]:
    """Return goodput and cost over loopback sockets; None where noq-proto broke off."""
    said = _cargo("run", "skyweave-sockets", "socket_speed", str(_SOCKET_MB), str(rounds))
    found: dict[str, float | None] = json.loads(said)
    return found


def connections(count: int = _CLIENTS, beyond: int = _BEYOND) -> dict[str, float | None]:
    """Return what ``count`` connections that are held cost, and what becomes of further clients.

    A client needs a descriptor: the count is below the system's limit of these.
    """
    found: dict[str, float | None] = json.loads(
        _cargo("run", "skyweave-sockets", "many_connections", str(count), str(beyond))
    )
    return found


def memory(rounds: int) -> dict[str, float]:
    """Return goodput, packets per second and memory without sockets, in virtual time."""
    return parse_memory(_cargo("run", "skyweave-mpquic", "loopback", str(rounds)))


def parse_memory(said: str) -> dict[str, float]:
    """Read what the example ``loopback`` printed.

    >>> parse_memory("idle: 9 bytes\\nnoq   1 path(s):   5 datagrams/s,    70 Mbit/s, best 80")
    {'idle_bytes': 9.0, 'noq_1_path_memory_gbps': 0.07, 'noq_1_path_memory_packets_per_s': 5.0}
    """
    found: dict[str, float] = {}
    if idle := _IDLE.search(said):
        found["idle_bytes"] = float(idle[1])
    for line in _LINE.finditer(said):
        name = f"{line['who']}_{line['paths']}_path_memory"
        found[f"{name}_gbps"] = float(line["mbps"]) / 1e3
        found[f"{name}_packets_per_s"] = float(line["datagrams"])
    return found


def _cargo(verb: str, package: str, example: str, *arguments: str) -> str:
    root = Path(__file__).resolve().parents[4]
    if shutil.which("cargo") is None or not (root / "crates" / "sockets" / "examples").is_dir():
        raise ConfigError(
            "this benchmark builds the project's Rust examples, to have noq-proto beside; "
            "run it in a checkout of the repository, with cargo"
        )
    command = ["cargo", verb, "--release", "--quiet", "--locked"]
    command += ["--package", package, "--example", example]
    environment: dict[str, Any] = {k: v for k, v in os.environ.items() if k != "CARGO_TARGET_DIR"}
    done = subprocess.run(
        [*command, *(("--", *arguments) if arguments else ())],
        cwd=root, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        raise QuicError(f"the benchmark '{example}' failed: {last}")
    return done.stdout
