"""What the two sides of a run saw, in the words of a world: our clock, and addresses of paths.

A translator between both changes addresses, and ports: the server knows a path by the address that
the uplink has to the world. Where two uplinks have the same, the client's ports tell them apart, if
the translator left them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from skyweave.live.world import addresses

Seen = dict[str, Any]
NOWHERE = "0.0.0.0"
"""The address of a subflow that belongs to no path that is known."""


class Places:
    """Which path an address of the client is."""

    def __init__(
        self, of_addresses: Mapping[int, str], ports: Mapping[int, int] | None = None
    ) -> None:
        """``of_addresses``: the client's address on each path; ``ports``: path of each port."""
        counts = list(of_addresses.values())
        self._addresses = {
            address: place for place, address in of_addresses.items() if counts.count(address) == 1
        }
        self._doubtful = {one for one in counts if counts.count(one) > 1}
        self._ports = dict(ports or {})
        self.unknown = 0
        """Subflows, counted in each sample, of which nobody knows the path."""

    def of(self, address: str, port: int) -> int | None:
        """Return the place of a path; ``None``: not known."""
        found = self._addresses.get(address)
        if found is None and address in self._doubtful:
            found = self._ports.get(port)
        self.unknown += found is None
        return found

    def world(self, address: str, port: int) -> str:
        """Return the address that the path has in a world."""
        place = self.of(address, port)
        return NOWHERE if place is None else addresses.client_address(place)


def translated(seen: Seen, places: Places, of_client: str, offset_ns: int = 0) -> Seen:
    """Return what a side saw of a connection, in the words of a world.

    ``of_client``: which of ``local`` and ``remote`` is the client's; ``offset_ns``: how far the
    side's clock is ahead of ours.
    """
    found = dict(seen)
    for key in ("completed_ns", "opened_ns", "ended_ns"):
        if found.get(key) is not None:
            found[key] = found[key] - offset_ns
    found["rows"] = [_row(row, places, of_client, offset_ns) for row in seen["rows"]]
    if "events" in seen:
        found["events"] = [_event(one, places, offset_ns) for one in seen["events"]]
    return found


def _row(row: Seen, places: Places, of_client: str, offset_ns: int) -> Seen:
    found = {**row, "at_ns": row["at_ns"] - offset_ns}
    if "subflows" in row:
        found["subflows"] = [
            {**one, of_client: (places.world(*one[of_client]), one[of_client][1])}
            for one in row["subflows"]
        ]
    return found


def _event(one: Seen, places: Places, offset_ns: int) -> Seen:
    client = one["client"] and places.world(one["client"], 0)
    return {**one, "at_ns": one["at_ns"] - offset_ns, "client": client}


def ports_of(rows: Iterable[Seen], places: Places) -> dict[int, int]:
    """Return the path of each port that the client's subflows had; ports of two paths are none."""
    found: dict[int, set[int]] = {}
    for row in rows:
        for one in row.get("subflows", ()):
            address, port = one["local"]
            place = places.of(address, port)
            if place is not None:
                found.setdefault(port, set()).add(place)
    return {port: next(iter(of)) for port, of in found.items() if len(of) == 1 and port}
