"""``skyweave shell``: a shell or a program inside an emulated host with several paths."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.table import Table

from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.live.outside.stack import choose
from skyweave.live.world import addresses
from skyweave.live.world.buffers import Buffers
from skyweave.live.world.control import Control
from skyweave.live.world.world import World
from skyweave.model import config

SAMPLE_MS = 100


def run_shell(
    paths: Sequence[config.Path],
    command: Sequence[str],
    *,
    server_run: Sequence[str] = (),
    seed: int = 1,
    buffer_mb: float | None = None,
    capture: Path | None = None,
    environment: Mapping[str, str] | None = None,
    summary: bool = True,
    offload: bool = True,
    outside: bool = False,
) -> int:
    """Run ``command`` (the user's shell if empty) on the client of a world; return its exit code.

    ``server_run``: command lines for the server, started before. ``capture``: folder for a pcapng
    file a path. ``environment``: of ``command``, beside that of this process. ``summary``: say on
    stderr what the links carried. ``offload``: as of :class:`World`. ``outside``: whether the
    server's end is a router to the network of this machine.
    """
    _check(paths)
    stack = choose() if outside else None
    size = None if buffer_mb is None else round(buffer_mb * 1e6)
    buffers = None if size is None else Buffers(size, size, autotune=True)
    if capture is not None:
        capture.mkdir(parents=True, exist_ok=True)
    made = World(paths, seed=seed, buffers=buffers, offload=offload, ipv6=True, outside=stack)
    with _ended_by_signals(), made as world:
        with Control(world) as control:
            world.start(SAMPLE_MS, str(capture.resolve()) if capture else None)
            for line in server_run:
                argv = ["sh", "-c", line]
                world.ask(world.server, {"do": "spawn", "argv": argv, "cwd": os.getcwd()})  # noqa: PTH109
            if not command:
                _greet(paths, stack)
            code = _foreground(world, list(command), {**(environment or {}), **control.environment})
        if summary:
            _say(world.finish()["statistics"])
    return code


def _check(paths: Sequence[config.Path]) -> None:
    """Refuse paths that cannot be distinguished, or are too many."""
    names = [path.name for path in paths]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"two paths are called '{twice}'; give each its own name")
    if len(paths) > addresses.MOST_PATHS:
        raise ConfigError(f"{len(paths)} paths are too many; at most {addresses.MOST_PATHS} may be")


def _foreground(world: World, command: list[str], environment: dict[str, str]) -> int:
    """Run a program that has the terminal; afterwards it is ours again."""
    argv = command or [os.environ.get("SHELL", "/bin/sh")]
    message = {"do": "run", "argv": argv, "cwd": os.getcwd(), "environment": environment}  # noqa: PTH109
    code = int(world.ask(world.client, message, timeout_s=None)["code"])
    if sys.stdin.isatty():
        with contextlib.suppress(OSError):
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(sys.stdin.fileno(), os.getpgrp())
            signal.signal(signal.SIGTTOU, before)
    return code if code >= 0 else 128 - code


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let the world be ended in order by SIGTERM and SIGHUP; Ctrl-C is for the program inside."""

    def leave(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    wanted = {
        signal.SIGTERM: leave, signal.SIGHUP: leave, signal.SIGINT: lambda *_: None
    }  # fmt: skip
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _greet(paths: Sequence[config.Path], stack: str | None) -> None:
    words = ", ".join(
        f"{path.name} ({addresses.client_address(place)} on {addresses.device(place, path.name)})"
        for place, path in enumerate(paths)
    )
    beyond = f" Beyond it is this machine's network, by {stack}." if stack else ""
    Console(stderr=True).print(
        f"Emulated host with {words}. The other end is 'server'; 'exit' leaves.{beyond}\n"
        "Change a link: skyweave link NAME --rtt 80, --down-mbps 5, --off, --on.",
    )


def _say(statistics: dict[str, Any]) -> None:
    """Print what the links carried and how punctual the relay was."""
    table = Table(box=None)
    for column in ("link", "packets", "MB", "dropped: queue", "loss", "outage"):
        table.add_column(column, justify="left" if column == "link" else "right")
    for name, link in statistics["links"].items():
        table.add_row(
            name,
            f"{link['delivered_packets']:,}",
            f"{link['delivered_bytes'] / 1e6:,.1f}",
            f"{link['dropped_queue'] + link['dropped_aqm']:,}",
            f"{link['dropped_loss']:,}",
            f"{link['dropped_outage']:,}",
        )
    late = statistics["lateness_us"]
    console = Console(stderr=True)
    console.print(table)
    console.print(
        f"Deliveries late by {late['p50']:.0f} µs (median), {late['p99']:.0f} µs (p99), "
        f"{late['max']:.0f} µs at most.",
    )
    if statistics["offload"] != "none":
        console.print(
            f"Segmentation offload: {statistics['frames_read']:,} packets in "
            f"{statistics['reads']:,} reads, {statistics['frames_written']:,} in "
            f"{statistics['writes']:,} writes.",
        )
