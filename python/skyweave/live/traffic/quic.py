"""Multipath QUIC in live runs: the endpoint of ``crates/mpquic`` on the sockets of both sides."""

from __future__ import annotations

import json
import time

from skyweave import _skyweave
from skyweave.live.world import addresses
from skyweave.live.world.messages import Message
from skyweave.model import config


def order(run: config.Run, number: int, epoch_ns: int) -> Message:
    """Return what both ends have to know of a connection, beyond what they know of any."""
    connection = run.connections[number]
    names = connection.paths or tuple(path.name for path in run.paths)
    places = {path.name: place for place, path in enumerate(run.paths)}
    told = connection.model_dump(mode="json")
    own = ("congestion", "quic", "send_buffer_bytes", "receive_buffer_bytes", "autotune")
    behaviour = {
        "connection": {**{key: told[key] for key in own}, "paths": len(names)},
        "scheduler": told["scheduler"],
    }
    return {
        "behaviour": behaviour,
        "paths": [addresses.device(places[name], name) for name in names],
        "forecasts": [
            {
                "client": addresses.client_address(places[name]),
                "outages_ns": _foreseen(run.paths[places[name]], epoch_ns),
            }
            for name in names
        ],
    }


def _foreseen(path: config.Path, epoch_ns: int) -> list[tuple[int, int]]:
    """Return what the sender knows ahead of a path, in order; windows that touch are one."""
    if path.forecast == "none":
        return []
    windows: list[tuple[float, float]] = []
    told = (*path.down.outages, *path.up.outages) if path.forecast == "outages" else path.forecast
    for start_s, end_s in sorted((window.start_s, window.end_s) for window in told):
        if windows and start_s <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(windows[-1][1], end_s))
        else:
            windows.append((start_s, end_s))
    return [(epoch_ns + round(a * 1e9), epoch_ns + round(b * 1e9)) for a, b in windows]


def listen(flow: Message) -> _skyweave.QuicBulkServer:
    """Return the server's end of a connection, listening; its ``pin`` is for the client."""
    host, port = flow["server"]
    return _skyweave.QuicBulkServer(f"{host}:{port}", json.dumps(flow["behaviour"]))


def carry(
    flow: Message, server: _skyweave.QuicBulkServer | None, epoch_ns: int, interval_ns: int
) -> Message:
    """Carry a connection out, as the server if there is one; return what was seen of it.

    The result has the keys of :func:`skyweave.live.traffic.transfer.transfer`, and more.
    """
    plan = {
        "behaviour": flow["behaviour"],
        "workload": flow["workload"],
        "epoch_ns": epoch_ns,
        "end_ns": flow["end_ns"],
        "interval_ns": interval_ns,
        "forecasts": flow["forecasts"] if flow["sends"] else [],
    }
    try:
        if server is not None:
            seen = json.loads(server.carry(json.dumps(plan)))
        else:
            host, port = flow["server"]
            plan |= {"server": f"{host}:{port}", "pin": flow["pin"], "paths": flow["paths"]}
            time.sleep(max(flow["start_ns"] - time.monotonic_ns(), 0) / 1e9)
            seen = json.loads(_skyweave.quic_carry(json.dumps(plan)))
    except (OSError, ValueError) as error:
        seen = {"bytes": 0, "completed_ns": None, "error": str(error), "rows": [], "events": []}
    seen.setdefault("application", [])
    opened_ns = None if seen["error"] and not seen["rows"] else flow["start_ns"]
    return {**seen, "place": flow["place"], "opened_ns": opened_ns}
