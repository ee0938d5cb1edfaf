"""A run over the kernel's own transports, or multipath QUIC, in real time: ``run_live``."""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
from pathlib import Path
from typing import Any

from skyweave import _skyweave
from skyweave.algorithms.catalogue import name_of
from skyweave.engine import workloads
from skyweave.errors import ConfigError
from skyweave.live.check import refusal
from skyweave.live.errors import LiveError
from skyweave.live.record import gather_quic
from skyweave.live.record.applications import applications
from skyweave.live.record.gather import Seen, View, end_of, gather
from skyweave.live.record.gather_links import GatewayView
from skyweave.live.traffic import iperf, players, quic
from skyweave.live.traffic.kernel import CONGESTION
from skyweave.live.world import addresses
from skyweave.live.world.buffers import Buffers
from skyweave.live.world.world import World
from skyweave.model import config
from skyweave.model.record import Record

Ends = tuple[list[Seen], list[Seen]]
"""What the client and the server saw of each connection."""
FIRST_PORT = 5201
_LEAD_NS = 50_000_000
"""From the order to start until time 0: enough for the order to reach both sides."""
_GRACE_S = 30.0
"""How long after its end an answer of a run may take."""


def run_live(
    run: config.Run, source: iperf.Source = "own", out: Path | None = None, *, offload: bool = True
) -> Record:
    """Carry a run out in a world of its own, in real time; the record has the simulator's columns.

    ``source``: what sends and receives. What a kernel does not report is null, and with iperf3 the
    kernel is not asked. ``out``: folder in which a player that is a program writes what it sees
    while it plays; one of its own, which is gone after a success, if not given. ``offload``: as of
    :class:`~skyweave.live.world.world.World`, for transfers.

    Raises :class:`ConfigError` for what cannot be done (:func:`skyweave.live.check.refusal`), and
    :class:`LiveError` when the world fails.
    """
    reason = refusal(run) or (iperf.refusal(run) if source == "iperf3" else None)
    if reason is not None:
        raise ConfigError(reason)
    if players.is_played(run):
        return _played(run, out)
    kernel = (one for one in run.connections if one.transport != "mpquic")
    buffers = _buffers(next(kernel, run.connections[0]))
    # Ctrl-C is for the study, which lets a run under way finish.
    with World(
        run.paths, seed=run.seed, buffers=buffers, joined=joined(run), apart=True, offload=offload
    ) as world:
        carry = _by_iperf3 if source == "iperf3" else _by_our_own
        epoch_ns, ends = carry(world, run)
        links = world.finish()
    view = iperf.view_of if source == "iperf3" else gather_quic.view_of
    samples, events, totals = gather(run, epoch_ns, ends, links, view)
    provenance = _provenance(run, source, links["statistics"])
    return Record(samples, events, totals, provenance, applications(run, ends))


def _played(run: config.Run, wanted: Path | None) -> Record:
    """Carry a run out whose player is a program; its sockets are those of programs, too."""
    only = run.connections[0]
    over_quic = only.transport == "mpquic"
    congestion = None if over_quic else CONGESTION[name_of(only.congestion)]
    out = wanted or Path(tempfile.mkdtemp(prefix="skyweave-player-"))
    world = World(
        run.paths,
        seed=run.seed,
        buffers=_buffers(only),
        joined=joined(run),
        apart=True,
        congestion=congestion,
    )
    try:
        with players.prepare(run) as origin, world:
            epoch_ns, played = players.play(world, run, origin, out)
            links = world.finish()
        if congestion is not None:
            players.check_congestion(played.server, congestion)
    except LiveError as error:
        raise LiveError(f"{error} (what the player recorded is in {out})") from error
    ends = [played.client], [played.server]
    view = GatewayView if over_quic else View
    samples, events, totals = gather(run, epoch_ns, ends, links, lambda _: view)
    name = str(workloads.program_of(only.workload))
    provenance = {**_provenance(run, name, links["statistics"]), "player": played.facts}
    record = Record(samples, events, totals, provenance, applications(run, ends))
    if wanted is None:
        shutil.rmtree(out, ignore_errors=True)
    return record


def _buffers(connection: config.Connection) -> Buffers:
    return Buffers(
        connection.send_buffer_bytes, connection.receive_buffer_bytes, connection.autotune
    )


def _by_our_own(world: World, run: config.Run) -> tuple[int, Ends]:
    """Carry all connections; return the time 0 of the links and what both sides saw."""
    flows = _flows(run, 0)
    said = world.ask(world.server, {"do": "listen", "flows": [pair[1] for pair in flows]})
    epoch_ns = world.start(run.sample_interval_ms, lead_ns=_LEAD_NS)
    flows = _flows(run, epoch_ns)
    for place, pin in said["pins"].items():
        flows[int(place)][0]["pin"] = pin
    order = {
        "do": "transfer",
        "epoch_ns": epoch_ns,
        "interval_ns": run.sample_interval_ms * 1_000_000,
    }
    world.tell(world.server, {**order, "flows": [pair[1] for pair in flows]})
    world.tell(world.client, {**order, "flows": [pair[0] for pair in flows]})
    near, far = (
        world.answer(channel, run.stop_after_s + _GRACE_S)["transfers"]
        for channel in (world.client, world.server)
    )
    return epoch_ns, (near, far)


def _by_iperf3(world: World, run: config.Run) -> tuple[int, Ends]:
    """The same with iperf3 in place of our own source and sink."""
    only = run.connections[0]
    end_s = end_of(only, run)
    client, server = iperf.arguments(run, end_s)
    listening = iperf.listen(world, server)
    epoch_ns = world.start(run.sample_interval_ms, lead_ns=_LEAD_NS)
    times_ns = (epoch_ns + round(only.start_s * 1e9), epoch_ns + round(end_s * 1e9))
    return epoch_ns, iperf.carry(world, run, client, listening, times_ns)


def joined(run: config.Run) -> tuple[str, ...]:
    """Return the paths that Multipath TCP may use in a run; none if all its connections are TCP."""
    for connection in run.connections:
        if connection.transport == "mptcp":
            return connection.paths or tuple(path.name for path in run.paths)
    return ()


def _flows(run: config.Run, epoch_ns: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return what the client and the server have to know of each connection."""
    places = {path.name: place for place, path in enumerate(run.paths)}
    flows = []
    for number, connection in enumerate(run.connections):
        first = connection.paths[0] if connection.paths else run.paths[0].name
        end_s = end_of(connection, run)
        common: dict[str, Any] = {
            "place": number,
            "transport": connection.transport,
            "server": (addresses.SERVER, FIRST_PORT + number),
            "start_ns": epoch_ns + round(connection.start_s * 1e9),
            "end_ns": epoch_ns + round(end_s * 1e9),
        }
        workload = json.loads(connection.workload.model_dump_json())
        if connection.transport == "mpquic":
            common |= {"workload": workload, **quic.order(run, number)}
        else:
            common["size_bytes"] = connection.workload.bytes
            common["workload"] = None if connection.workload.kind == "bulk" else workload
            common["congestion"] = CONGESTION[name_of(connection.congestion)]
            common["source"] = addresses.client_address(places[first])
        down = connection.workload.main_direction == "down"
        flows.append(({**common, "sends": not down}, {**common, "sends": down}))
    return flows


def _provenance(run: config.Run, source: str, statistics: dict[str, Any]) -> dict[str, Any]:
    return {
        "engine": "live",
        "kernel": platform.release(),
        "skyweave": _skyweave.build_info()["version"],
        "seed": run.seed,
        "source": source,
        "lateness_us": statistics["lateness_us"],
        "relay_cpu_s": statistics["cpu_s"],
        "offload": statistics["offload"],
    }
