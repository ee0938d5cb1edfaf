"""One connection of multipath QUIC as its ends saw it: more than a kernel reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skyweave.algorithms.catalogue import name_of
from skyweave.live.record.gather import IN_ORDER_WAITS, View
from skyweave.live.world.addresses import place_of
from skyweave.model import config

_SUMS = (
    "acked_bytes", "sent_bytes", "sent_packets", "retransmitted_packets", "timeouts",
    "received_bytes", "lost_packets", "spurious_losses", "reinjected_packets", "redundant_packets",
)  # fmt: skip


class QuicView(View):
    """The samples, events and totals of a connection of multipath QUIC."""

    sums = _SUMS

    def path_columns(
        self, name: str, tick: int, link: dict[str, float] | None
    ) -> dict[str, float | None]:
        """Return the columns of a path at a sample time, with its losses."""
        lost = self._sums.get(tick, {}).get(name, {}).get("lost_packets", 0)
        return {**super().path_columns(name, tick, link), "lost_packets": float(lost)}

    def own_columns(self, tick: int) -> dict[str, float | None]:
        """Return what the endpoints say of the whole connection at a sample time."""
        return {
            "reorder_buffer_bytes": _at(self._receiver, tick, "reorder_bytes"),
            "send_window_bytes": _at(self._sender, tick, "send_window_bytes"),
        }

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield what the sending endpoint said of its paths, when it did."""
        names = {place: name for name, place in self._places.items()}
        for event in self._sender["events"]:
            place = place_of(event["client"]) if event["client"] else None
            name = "" if place is None else names.get(place, "")
            yield self._event(self._since(event["at_ns"]), name, event["event"], event["value"])

    def totals(self) -> dict[str, Any]:
        """Return the sums of the connection; the endpoint counts what a kernel does not."""
        sender, receiver = self._sender, self._receiver
        return super().totals() | {
            "scheduler": name_of(self._connection.scheduler),
            **{name: receiver.get(name) for name in IN_ORDER_WAITS},
            "duplicate_bytes": receiver.get("duplicate_bytes"),
            "reorder_buffer_max_bytes": receiver.get("reorder_buffer_max_bytes"),
            "meta_timeouts": 0,
            "window_stalls": sender.get("window_stalls"),
            "penalisations": 0,
            "waits": sender.get("waits"),
            "reinjections": sum(
                sums["reinjected_packets"] for sums in self._last_sums("sender").values()
            ),
            "fallback": bool(sender.get("fallback", False)),
        }

    def path_totals(
        self, name: str, sent: dict[str, int] | None, received: dict[str, int] | None
    ) -> dict[str, Any]:
        """Return the sums of a path, as the endpoints counted them."""
        sums = sent or dict.fromkeys(_SUMS, 0)
        return super().path_totals(name, sent, received) | {
            "lost_packets": sums["lost_packets"],
            "reinjected_packets": sums["reinjected_packets"],
            "redundant_packets": sums["redundant_packets"],
            "spurious_timeouts": sums["spurious_losses"],
        }


def _at(seen: dict[str, Any], tick: int, key: str) -> float | None:
    return next((float(row[key]) for row in seen["rows"] if row["tick"] == tick), None)


def view_of(connection: config.Connection) -> type[View]:
    """Return how a connection of our own source is put together."""
    return QuicView if connection.transport == "mpquic" else View
