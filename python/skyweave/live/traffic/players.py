"""Real players in a world: the player at the client, nginx at the server, their sockets watched."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyweave.engine import workloads
from skyweave.live.errors import LiveError
from skyweave.live.record.gather import Seen
from skyweave.live.record.playback import facts_of, lines_of, rows_of
from skyweave.live.traffic import gateway, offers, origin
from skyweave.live.traffic.origin import Origin
from skyweave.live.world import addresses
from skyweave.live.world.world import World
from skyweave.model import config

_MODULES = "skyweave.video.players"
_PROMPT = ("chrt", "--other", "0", "nice", "-n", "-10")
"""A player that waits for the processor drops pictures that the network brought in time; yet it
stands behind a relay that was given a real-time class (chrt(1))."""
_ANSWER_S = 30.0


@dataclass(frozen=True)
class Played:
    """What became of a play-out."""

    client: Seen
    server: Seen
    facts: dict[str, Any]
    """What the player says of itself and of the processor: ``summary.json`` of its driver."""


def is_played(run: config.Run) -> bool:
    """Tell whether a player of a run is a program."""
    return any(workloads.program_of(one.workload) for one in run.connections)


def refusal(run: config.Run) -> str | None:
    """Return why the players of a run cannot play, with what to do; ``None``: they can."""
    names = [workloads.program_of(one.workload) for one in run.connections]
    if not is_played(run):
        return None
    if len(names) > 1:
        return "a run with a player that is a program has one connection; leave out the others"
    only = run.connections[0]
    reason = offers.refusal(only.workload)
    if reason is not None:
        return f"player '{names[0]}' {reason}"
    if only.transport == "mptcp" and shutil.which("mptcpize") is None:
        return "the program 'mptcpize' is missing; on Debian: apt install mptcpize"
    if importlib.util.find_spec(f"{_MODULES}.{names[0]}") is None:
        return f"this Skyweave has no driver of the player '{names[0]}'"
    return origin.refusal()


def prepare(run: config.Run) -> Origin:
    """Return the origin of what a run plays; the film is made now if this machine has none."""
    return Origin([offers.of(run.connections[0].workload).served])


def play(world: World, run: config.Run, served: Origin, out: Path) -> tuple[int, Played]:
    """Let the player of a run play in a world; return time 0 of the links, and what was seen.

    ``out`` gets the player's own record, which grows while it plays. Raises :class:`LiveError`
    when it does not play, or under another congestion control than the run's.
    """
    only = run.connections[0]
    around = ["mptcpize", "run"] if only.transport == "mptcp" else []
    prompt = _PROMPT if os.geteuid() == 0 else ()
    served.start(world, [*prompt, *around])
    epoch_ns = world.start(run.sample_interval_ms)
    if only.transport == "mpquic":
        gateway.begin(world, run)
    watch = {
        "do": "watch",
        "port": origin.PORT,
        "epoch_ns": epoch_ns,
        "interval_ns": run.sample_interval_ms * 1_000_000,
    }
    world.ask(world.server, {**watch, "on_server": True})
    world.ask(world.client, {**watch, "on_server": False})
    seconds = min(only.workload.duration_s or run.stop_after_s, run.stop_after_s - only.start_s)
    start_ns = epoch_ns + round(only.start_s * 1e9)
    order = {
        "do": "perform",
        "argv": [*prompt, *around, *_driver(run, out, seconds)],
        "cwd": "/",
        "start_ns": start_ns,
        "end_ns": start_ns + round(seconds * 1e9),
    }
    said = world.ask(world.client, order, only.start_s + seconds + _ANSWER_S)
    sides = (world.client, world.server)
    client, server = (world.ask(side, {"do": "watched"})["seen"] for side in sides)
    if only.transport == "mpquic":
        client |= world.ask(world.client, {"do": "passed"})
    lines = lines_of(out)
    _check_played(run, said, lines, served.trouble(world))
    received = [(row["at_ns"], row["bytes"]) for row in client["rows"]]
    ladder_mbps = offers.of(only.workload).ladder_mbps
    kind = only.workload.kind
    client["application"] = rows_of(kind, lines, epoch_ns, received, ladder_mbps)
    for one in (client, server):
        one["opened_ns"] = start_ns
    return epoch_ns, Played(client, server, facts_of(out))


def check_congestion(seen: Seen, wanted: str) -> None:
    """Raise :class:`LiveError` unless all sockets had the congestion control that was wanted."""
    found = seen["congestion"]
    if found != [wanted]:
        said = ", ".join(found) or "none: there was no connection"
        raise LiveError(
            f"the server's sockets ran under another congestion control ({said}) than '{wanted}', "
            "which the routes of the emulated network name; nothing of this run is kept"
        )


def _driver(run: config.Run, out: Path, seconds: float) -> list[str]:
    only = run.connections[0]
    name = workloads.program_of(only.workload)
    first = only.paths[0] if only.paths else run.paths[0].name
    place = next(place for place, path in enumerate(run.paths) if path.name == first)
    # By this address of the server a connection opens on the first path of the run.
    over_quic = only.transport == "mpquic"
    host = gateway.HOST if over_quic else addresses.server_address(place)
    offer = offers.of(only.workload)
    argv = [
        sys.executable,
        "-m",
        f"{_MODULES}.{name}",
        f"http://{host}:{origin.PORT}/{offer.address}",
    ]
    return [*argv, "--out", str(out), "--duration", f"{seconds:g}", *offer.options]


def _check_played(
    run: config.Run, said: dict[str, Any], lines: list[dict[str, Any]], trouble: str | None
) -> None:
    name = workloads.program_of(run.connections[0].workload)
    if said["code"] == 0 or (said["interrupted"] and lines):
        return
    words = (said["output"].strip().splitlines() or [f"it ended with code {said['code']}"])[-1]
    words = words.removeprefix("skyweave: ").rstrip(".")
    also = f"; {trouble}" if trouble else ""
    raise LiveError(f"player '{name}' failed: {words}{also}")
