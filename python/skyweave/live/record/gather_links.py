"""Connections whose sockets cannot be asked: what the receiver got, and the relay's counters."""

from __future__ import annotations

from typing import Any

from skyweave.algorithms.catalogue import name_of
from skyweave.live.record.gather import View
from skyweave.live.world import addresses


class LinkView(View):
    """A connection of which only the receiver's goodput and the relay's counters are known."""

    def path_columns(
        self, name: str, tick: int, link: dict[str, float] | None
    ) -> dict[str, float | None]:
        """Return what the link has delivered, headers and repetitions included."""
        del name, tick
        return {"delivered_bytes": None if link is None else link["delivered_bytes"]}

    def path_totals(
        self, name: str, sent: dict[str, int] | None, received: dict[str, int] | None
    ) -> dict[str, Any]:
        """Return the sums of a path: the kernel was not asked for any."""
        return dict.fromkeys(super().path_totals(name, sent, received))

    def totals(self) -> dict[str, Any]:
        """Return the sums of the connection; whether it fell back to TCP is not known."""
        return {**super().totals(), "fallback": None}


class GatewayView(LinkView):
    """A connection of a program by way of a gateway, whose client says what came over each path."""

    def path_totals(
        self, name: str, sent: dict[str, int] | None, received: dict[str, int] | None
    ) -> dict[str, Any]:
        """Return the sums of a path: what came first on it."""
        came = self._receiver["paths"].get(addresses.device(self._places[name], name), 0)
        return {**super().path_totals(name, sent, received), "unique_bytes": came}

    def totals(self) -> dict[str, Any]:
        """Return the sums of the connection; the scheduler is one of ours."""
        return {**super().totals(), "scheduler": name_of(self._connection.scheduler)}
