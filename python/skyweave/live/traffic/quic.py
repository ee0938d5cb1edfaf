"""Multipath QUIC in live runs: the endpoint of ``crates/mpquic`` on the sockets of both sides."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from skyweave import _skyweave
from skyweave.live.world import addresses
from skyweave.live.world.messages import Message

if TYPE_CHECKING:
    from skyweave.model import config


def order(run: config.Run, number: int) -> Message:
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
        "backups": [
            addresses.device(places[name], name) for name in names if run.paths[places[name]].backup
        ],
        "forecasts": [
            {
                "client": addresses.client_address(places[name]),
                "forecast": run.paths[places[name]].known().model_dump(),
                "updates": [one.model_dump() for one in run.paths[places[name]].forecast_updates],
            }
            for name in names
        ],
    }


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
            plan |= {"server": f"{host}:{port}", "pin": flow["pin"]}
            plan |= {"paths": flow["paths"], "backups": flow["backups"]}
            time.sleep(max(flow["start_ns"] - time.monotonic_ns(), 0) / 1e9)
            seen = json.loads(_skyweave.quic_carry(json.dumps(plan)))
    except (OSError, ValueError) as error:
        seen = {"bytes": 0, "completed_ns": None, "error": str(error), "rows": [], "events": []}
    seen.setdefault("application", [])
    opened_ns = None if seen["error"] and not seen["rows"] else flow["start_ns"]
    return {**seen, "place": flow["place"], "opened_ns": opened_ns}
