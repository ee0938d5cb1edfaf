"""What is measured beside a run: each uplink's bytes, and round trips to its server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from skyweave.errors import SkyweaveError
from skyweave.field.far import FarEnd
from skyweave.field.profile import Probe, drive_of
from skyweave.field.uplinks import Uplink, counters
from skyweave.model.drive import Drive
from skyweave.model.record import Record
from skyweave.telemetry.probes.pinger import Pinger, Sample, ping
from skyweave.telemetry.probes.udp import UdpProbe

Keep = Callable[[str, Sample], object]
"""Gets the path of each probe, and what came of it."""
LOOK_S = 0.25
INTERVAL_S, TIMEOUT_S = 0.2, 1.0
UPLINKS = "uplinks"
"""The table of a record with the bytes and the round trips of each uplink."""
COUNTS = {
    "time_s": pl.Float64(), "path": pl.String(), "sent_bytes": pl.Int64(),
    "received_bytes": pl.Int64(), "rtt_ms": pl.Float64(),
}  # fmt: skip
"""A row for each look at the counters of an uplink (no ``rtt_ms``), and for each probe (no bytes;
``rtt_ms`` null: lost). Times are seconds since the run began."""


class Beside:
    """Looks at uplinks from its beginning until :meth:`close`."""

    def __init__(self, far: FarEnd, uplinks: Mapping[str, Uplink], probes: bool) -> None:
        self._uplinks = uplinks
        self.looks: list[tuple[float, str, int, int]] = []
        self.probes: list[Probe] = []
        self.began_unix_s = time.time()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._count, daemon=True)]
        if probes:
            self._threads.append(threading.Thread(target=self._probe, args=(far,), daemon=True))
        self._look()
        for one in self._threads:
            one.start()

    def close(self) -> None:
        """Look once more, and end."""
        self._stop.set()
        for one in self._threads:
            one.join()
        self._look()

    def carried(self) -> dict[str, dict[str, int]]:
        """Return what each uplink sent and received, in bytes of frames, all programs together."""
        found = {}
        for name in self._uplinks:
            rows = [one for one in self.looks if one[1] == name]
            if rows:
                sent, received = rows[-1][2] - rows[0][2], rows[-1][3] - rows[0][3]
                found[name] = {"sent_bytes": sent, "received_bytes": received}
        return found

    def table(self) -> pl.DataFrame:
        """Return all of it as a table of the record."""
        since = self.began_unix_s
        rows: list[tuple[float, str, int | None, int | None, float | None]] = [
            (at - since, name, sent, got, None) for at, name, sent, got in self.looks
        ]
        rows += [(at - since, name, None, None, rtt) for at, name, rtt in self.probes]
        return pl.DataFrame(sorted(rows, key=lambda row: row[0]), schema=COUNTS, orient="row")

    def _look(self) -> None:
        now = time.time()
        there = counters([one.device for one in self._uplinks.values()])
        for name, one in self._uplinks.items():
            if one.device in there:
                received, sent = there[one.device]
                self.looks.append((now, name, sent, received))

    def _count(self) -> None:
        while not self._stop.wait(LOOK_S):
            self._look()

    def _probe(self, far: FarEnd) -> None:
        try:
            pingers = pingers_of(far, self._uplinks, self._keep, INTERVAL_S, TIMEOUT_S)
        except (SkyweaveError, OSError):
            return  # rates are still a drive
        try:
            ping(pingers, self._stop)
        finally:
            for each in pingers:
                each.probe.close()

    def _keep(self, name: str, sample: Sample) -> None:
        if sample.refused is None:
            self.probes.append(Probe(sample.time_unix_s, name, sample.rtt_ms))


def pingers_of(
    far: FarEnd, uplinks: Mapping[str, Uplink], keep: Keep, interval_s: float, timeout_s: float
) -> list[Pinger]:
    """Return what sends probes to a server, one from each uplink; ``keep`` gets what came."""
    return [
        Pinger(
            UdpProbe(far.address, far.port, one.device), partial(keep, one.name), interval_s,
            timeout_s,
        )
        for one in uplinks.values()
    ]  # fmt: skip


@contextmanager
def measured(far: FarEnd, uplinks: Mapping[str, Uplink], probes: bool = True) -> Iterator[Beside]:
    """Measure beside what is done meanwhile."""
    found = Beside(far, uplinks, probes)
    try:
        yield found
    finally:
        found.close()


def drive(record: Record, name: str, origin: str) -> Drive | None:
    """Return the drive of a run, from its second 0 to its end; ``None``: it has none.

    Before and after that nothing was asked of the networks, which is no outage, and neither is a
    direction that carried acknowledgements alone: it counts as not measured. Probes measure no
    rate, and a run of a second is too short.
    """
    ways = {one["direction"] for one in record.totals["connections"] if one["transport"] != "udp"}
    if not ways:
        return None
    facts, table = record.provenance, record.application[UPLINKS]
    began = float(facts["began_unix_s"])
    begin_s = float(facts["epoch_unix_s"]) - began
    within = table.filter(
        pl.col("path").is_in(list(facts["uplinks"]))
        & pl.col("time_s").is_between(begin_s, begin_s + record.totals["simulated_s"])
    )
    looks = within.filter(pl.col("sent_bytes").is_not_null())
    trips = within.filter(pl.col("sent_bytes").is_null())
    counted = [
        (began + at, path, sent, received) for at, path, sent, received, _ in looks.iter_rows()
    ]
    probes = [Probe(began + at, path, rtt) for at, path, _, _, rtt in trips.iter_rows()]
    found = drive_of(counted, probes, name, origin)
    if found is None:
        return None
    rates = {"down": "downlink_mbps", "up": "uplink_mbps"}
    silent: dict[str, Any] = {rates[way]: None for way in rates if way not in ways}
    paths = {path: replace(trace, **silent) for path, trace in found.paths.items()}
    return replace(found, paths=paths)
