"""Round trips that a node measures beside a run, over each of its uplinks: one each 200 ms."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path

from skyweave.errors import SkyweaveError
from skyweave.telemetry.probes.icmp import IcmpProbe
from skyweave.telemetry.probes.pinger import Pinger, Sample, ping
from skyweave.testbed.node.tools import within
from skyweave.testbed.profiles import Probe

INTERVAL_S = 0.2
TIMEOUT_S = 1.0
MOST_PROBES = 4_000_000
HEAD = "time_unix_s,uplink,rtt_ms"


class Beside:
    """Echo requests to the far end of a run, from its own network, until :meth:`close`.

    They count among the run's bytes. A far end that does not answer leaves lost ones.
    """

    def __init__(self, network: Path, devices: Sequence[str], far_end: str | None) -> None:
        self.probes: list[Probe] = []
        self._network, self._devices, self._far_end = network, devices, far_end
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it; what is still under way is lost."""
        self._stop.set()
        self._thread.join()

    def csv(self) -> bytes:
        """Return all of it as a table; an empty cell: lost."""
        lines = [
            f"{when:.3f},{name},{'' if rtt is None else f'{rtt:.3f}'}"
            for when, name, rtt in self.probes
        ]
        return ("\n".join([HEAD, *lines]) + "\n").encode()

    def _run(self) -> None:
        if self._far_end is None:
            return
        with contextlib.suppress(SkyweaveError, OSError):  # no ICMP here, or the run is over
            within(self._network, self._ping)

    def _ping(self) -> None:
        far_end = self._far_end
        assert far_end is not None
        pingers = []
        for device in self._devices:
            probe = IcmpProbe(far_end, device)
            pingers.append(Pinger(probe, self._keeper(device), INTERVAL_S, TIMEOUT_S))
        try:
            ping(pingers, self._stop)
        finally:
            for each in pingers:
                each.probe.close()

    def _keeper(self, device: str) -> _Keeper:
        return _Keeper(self.probes, device)


class _Keeper:
    """Keeps the samples of one uplink."""

    def __init__(self, probes: list[Probe], device: str) -> None:
        self._probes, self._device = probes, device

    def __call__(self, sample: Sample) -> None:
        if len(self._probes) < MOST_PROBES:
            self._probes.append(Probe(sample.time_unix_s, self._device, sample.rtt_ms))
