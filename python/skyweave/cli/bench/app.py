"""``skyweave bench``: its benchmarks."""

from __future__ import annotations

import typer

from skyweave.cli.lazy import Later, lazy_group

COMMANDS = {
    "sim": Later(
        "skyweave.cli.bench.sim:sim",
        "Measure the simulator: packets per second, a 100 MB transfer, memory.",
    ),
    "algorithms": Later(
        "skyweave.cli.bench.algorithms:bench_algorithms",
        "Measure what one decision of a scheduler and one ACK of a congestion control cost.",
    ),
    "emulator": Later(
        "skyweave.cli.bench.emulator:bench_emulator",
        "Measure throughput, delay, rate and cost of emulated links; takes a minute and a half.",
    ),
    "orbit": Later(
        "skyweave.cli.bench.orbit:bench_orbit",
        "Measure the orbits: look angles, passes, a day of schedules, memory.",
    ),
    "forecast": Later(
        "skyweave.cli.bench.forecast:bench_forecast",
        "Measure forecasts: learning, predicting, and the way of a hint to a hundred readers.",
    ),
    "mpquic": Later(
        "skyweave.cli.bench.mpquic:bench_mpquic",
        "Measure multipath QUIC over sockets, by gateways and in memory, beside noq-proto.",
    ),
}

bench_app = typer.Typer(
    help="Measure how fast Skyweave is on this machine.",
    cls=lazy_group(COMMANDS),
    no_args_is_help=True,
)


@bench_app.callback()
def _bench() -> None:
    """Take nothing: each benchmark is a command of its own."""
