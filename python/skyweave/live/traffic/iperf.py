"""iperf3 as the source and sink of a live run, in place of our own.

Through ``mptcpize run`` for Multipath TCP. Goodput is what its receiving end reports for each
interval; of the paths only the relay's counters are known: what a kernel would report is null.
"""

from __future__ import annotations

import json
import math
import shutil
from typing import Literal

from skyweave.algorithms.catalogue import name_of
from skyweave.live.errors import LiveError
from skyweave.live.record.gather import Seen, View
from skyweave.live.record.gather_links import LinkView
from skyweave.live.traffic.kernel import CONGESTION
from skyweave.live.world import addresses
from skyweave.live.world.messages import Message
from skyweave.live.world.programs import GRACE_NS
from skyweave.live.world.world import World
from skyweave.model import config

Source = Literal["own", "iperf3"]
PORT = 5201
SHORTEST_INTERVAL_MS = 100
"""Of iperf3's reports."""
_LARGEST_BLOCK_BYTES, _SMALLEST_BLOCK_BYTES = 131_072, 1000
_ANSWER_S = GRACE_NS / 1e9 + 30.0
"""How long after the end of a run iperf3's results may take."""


def refusal(run: config.Run) -> str | None:
    """Return why iperf3 cannot be the source of this run, with what to do; ``None``: it can."""
    programs = {"iperf3": "iperf3"}
    if any(connection.transport == "mpquic" for connection in run.connections):
        return "iperf3 speaks no multipath QUIC; take --source own"
    if any(connection.transport == "mptcp" for connection in run.connections):
        programs["mptcpize"] = "mptcpd"
    if any(connection.workload.kind != "bulk" for connection in run.connections):
        return "iperf3 moves bulk data alone; take --source own"
    for program, package in programs.items():
        if shutil.which(program) is None:
            return f"the program '{program}' is missing; install the package {package}"
    if len(run.connections) > 1:
        return (
            f"iperf3 carries one connection, and the run has {len(run.connections)}; "
            "take --source own"
        )
    if run.sample_interval_ms < SHORTEST_INTERVAL_MS:
        return (
            f"iperf3 reports every {SHORTEST_INTERVAL_MS} ms at most, and the run wants samples "
            f"every {run.sample_interval_ms} ms; set sample_interval_ms, or take --source own"
        )
    size = run.connections[0].workload.bytes
    if size is not None and _block_bytes(size) < _SMALLEST_BLOCK_BYTES:
        return (
            f"iperf3 sends whole blocks, which {size} bytes are not; "
            f"make it a multiple of {_SMALLEST_BLOCK_BYTES}, or take --source own"
        )
    return None


def _block_bytes(size: int) -> int:
    """Return the largest block that a transfer is a multiple of.

    >>> _block_bytes(200_000), _block_bytes(1_000_003)
    (100000, 1)
    """
    return next(n for n in range(min(_LARGEST_BLOCK_BYTES, size), 0, -1) if size % n == 0)


def arguments(run: config.Run, end_s: float) -> tuple[list[str], list[str]]:
    """Return the command lines of the client and of the server."""
    connection = run.connections[0]
    bulk = connection.workload
    places = {path.name: place for place, path in enumerate(run.paths)}
    first = connection.paths[0] if connection.paths else run.paths[0].name
    choice = connection.congestion
    name = name_of(choice)
    around = ["mptcpize", "run"] if connection.transport == "mptcp" else []
    common = ["iperf3", "-J", "-p", str(PORT), "-i", f"{run.sample_interval_ms / 1e3:g}"]
    client = [*around, *common, "-c", addresses.SERVER, "-C", CONGESTION[name]]
    client += ["-B", addresses.client_address(places[first])]
    if bulk.bytes is not None:
        client += ["-n", str(bulk.bytes), "-l", str(_block_bytes(bulk.bytes))]
    else:
        client += ["-t", str(math.ceil(end_s - connection.start_s))]
    if bulk.main_direction == "down":
        client.append("-R")
    return client, [*around, *common, "-s", "-1"]


def listen(world: World, argv: list[str]) -> int:
    """Start the server of a world; return its process number."""
    order = {"do": "spawn", "argv": argv, "cwd": "/", "keep": True}
    return int(world.ask(world.server, order)["pid"])


def carry(
    world: World, run: config.Run, client: list[str], server: int, times_ns: tuple[int, int]
) -> tuple[list[Seen], list[Seen]]:
    """Let the client run from ``times_ns`` to ``times_ns``; return what both ends saw.

    Raises :class:`LiveError` when iperf3 fails.
    """
    start_ns, end_ns = times_ns
    connection = run.connections[0]
    world.tell(
        world.client,
        {
            "do": "measure",
            "argv": client,
            "start_ns": start_ns,
            "end_ns": end_ns,
            "protocol": "MPTCP" if connection.transport == "mptcp" else "TCP",
        },
    )
    near = world.answer(world.client, run.stop_after_s + _ANSWER_S)
    far = world.ask(world.server, {"do": "collect", "pid": server})
    receiver = near if connection.workload.main_direction == "down" else far
    _check(near)
    seen = _seen(receiver["output"], near["opened_ns"], connection.workload.bytes)
    silent: Seen = {"rows": [], "completed_ns": None}
    return (
        ([seen], [silent]) if connection.workload.main_direction == "down" else ([silent], [seen])
    )


def _check(measured: Message) -> None:
    """Raise :class:`LiveError` for what iperf3 complains of, unless it was stopped in time."""
    try:
        said = json.loads(measured["output"]).get("error")
    except ValueError:
        said = measured["output"].strip() or f"ended with code {measured['code']}"
    if measured["interrupted"] or not said:
        return
    raise LiveError(f"iperf3 failed: {said}; nothing of this run is kept")


def _seen(output: str, opened_ns: int | None, size: int | None) -> Seen:
    """Return what the receiving end saw, from its own report.

    iperf3 does not say when its clock began: here it is when the client opened its second socket,
    the one for data, which is up to two round trips before the first byte.
    """
    seen: Seen = {"rows": [], "completed_ns": None}
    try:
        intervals = json.loads(output)["intervals"] if opened_ns is not None else []
    except (ValueError, KeyError):
        intervals = []
    if opened_ns is None or not intervals:
        return seen
    had = 0
    seen["rows"].append({"tick": 0, "at_ns": opened_ns, "bytes": 0})
    for number, interval in enumerate(intervals, 1):
        at_ns = opened_ns + round(interval["sum"]["end"] * 1e9)
        had += interval["sum"]["bytes"]
        seen["rows"].append({"tick": number, "at_ns": at_ns, "bytes": had})
    if size is not None and had >= size:
        seen["completed_ns"] = seen["rows"][-1]["at_ns"]
    return seen


def view_of(_connection: config.Connection) -> type[View]:
    """Return how a connection that iperf3 carried is put together."""
    return LinkView
