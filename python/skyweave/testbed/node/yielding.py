"""What a node watches so that background runs give way: the uplink's counters, or a dish."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from skyweave.errors import SkyweaveError
from skyweave.testbed.node.sandbox import counters
from skyweave.testbed.node.scavenger import Lagging, Scavenger, Share, Wish

POLL_S = 1.0


class WatchedDevices:
    """The owner's traffic by the counters of the uplinks' devices: exact, where all passes here."""

    def __init__(self, devices: Sequence[str]) -> None:
        self._devices = set(devices)
        self._share = Share()
        self._scavenger = Scavenger(time.monotonic())

    def look(self, own: tuple[int, int]) -> Wish:
        """Say what the run has to do now."""
        now = time.monotonic()
        whole = sum(into + out for name, into, out in counters() if name in self._devices)
        return self._scavenger.step(now, self._share.rate_mbps(now, whole, sum(own)))

    def close(self) -> None:
        """Nothing is held."""


class WatchedDish:
    """The owner's traffic by what a dish says each second; a dish that does not answer is none."""

    def __init__(self, host: str) -> None:
        from skyweave.telemetry.dish.client import Dish

        self._dish = Dish(host, timeout_s=POLL_S)
        self._stop = threading.Event()
        self._said: float | None = None
        self._lagging = Lagging()
        self._scavenger = Scavenger(time.monotonic())
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def look(self, own: tuple[int, int]) -> Wish:
        """Say what the run has to do now."""
        now = time.monotonic()
        return self._scavenger.step(now, self._lagging.rate_mbps(now, self._said, sum(own)))

    def close(self) -> None:
        """Leave the dish alone."""
        self._stop.set()
        self._thread.join()
        self._dish.close()

    def _ask(self) -> None:
        from skyweave.telemetry.dish.status import status_row

        while not self._stop.is_set():
            try:
                row = status_row(self._dish.status())
                down, up = row.get("down_mbps"), row.get("up_mbps")
                self._said = None if down is None or up is None else float(down) + float(up)
            except SkyweaveError:
                self._said = None
            self._stop.wait(POLL_S)
