"""What a node watches so that background runs give way: the uplink's counters, or a dish.

:class:`Giving` looks in a thread of its own, ten times a second: it waits for nothing that the run
writes, and for nobody who is told.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from skyweave.errors import SkyweaveError
from skyweave.testbed.node.sandbox import Counters, Sandbox, counters
from skyweave.testbed.node.scavenger import Lagging, Scavenger, Share, Wish

LOOK_S = 0.1
"""How often the owner's traffic is looked at."""
POLL_S = 1.0
"""How often a dish is asked."""


class Yielding(Protocol):
    """Whether a run has to stand still for its owner; see :mod:`.scavenger`."""

    def look(self, seen: Counters, own: int) -> Wish:
        """Say what to do now; ``own``: the run's bytes, of ``seen``, all devices' counters."""

    def close(self) -> None:
        """Let go of what is watched."""


class Giving:
    """Freezes a run, and lets it go on, as what is watched wishes; until :meth:`close`.

    The run stands still before anybody is told. ``told`` is then called with whether it stands
    still, ``ended`` when it has to end, with a sentence if that is for a fault of this machine.
    """

    def __init__(
        self, sandbox: Sandbox, yielding: Yielding, told: Callable[[bool], object],
        ended: Callable[[str | None], object],
    ) -> None:  # fmt: skip
        self._sandbox, self._yielding, self._told, self._ended = sandbox, yielding, told, ended
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it; the run stays as it is."""
        self._stop.set()
        self._thread.join()
        self._yielding.close()

    def _run(self) -> None:
        try:
            self._watch()
        except (SkyweaveError, OSError) as error:  # the kernel does not obey
            self._ended(str(error))

    def _watch(self) -> None:
        frozen = False
        while not self._stop.is_set():
            seen = counters()
            wish = self._yielding.look(seen, sum(self._sandbox.network.traffic(seen)))
            if wish == "kill":
                self._ended(None)
                return
            if (wish == "freeze") != frozen:
                frozen = not frozen
                self._sandbox.freeze(frozen)
                self._told(frozen)
            self._stop.wait(LOOK_S)


class WatchedDevices:
    """The owner's traffic by the counters of the uplinks' devices: exact, where all passes here."""

    def __init__(self, devices: Sequence[str]) -> None:
        self._devices = set(devices)
        self._share = Share()
        self._scavenger = Scavenger(time.monotonic())

    def look(self, seen: Counters, own: int) -> Wish:
        """Say what the run has to do now."""
        now = time.monotonic()
        whole = sum(into + out for name, into, out in seen if name in self._devices)
        return self._scavenger.step(now, self._share.rate_mbps(now, whole, own))

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

    def look(self, seen: Counters, own: int) -> Wish:
        """Say what the run has to do now; devices here say nothing of it."""
        del seen
        now = time.monotonic()
        return self._scavenger.step(now, self._lagging.rate_mbps(now, self._said, own))

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
