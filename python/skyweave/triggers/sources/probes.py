"""Own probes as a source: the only thing that sees handovers."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from skyweave.errors import DataError
from skyweave.model.validated import complaint
from skyweave.telemetry.address import host_port
from skyweave.telemetry.probes.dns import DnsProbe
from skyweave.telemetry.probes.icmp import IcmpProbe
from skyweave.telemetry.probes.pinger import (
    INTERVAL_S,
    LEAST_INTERVAL_S,
    SCHEMA,
    Pinger,
    Sample,
    ping,
)
from skyweave.telemetry.probes.probe import Probe
from skyweave.telemetry.probes.tcp import TcpProbe
from skyweave.telemetry.probes.udp import UdpProbe
from skyweave.telemetry.store import Store
from skyweave.triggers.sources.source import Keep, Series, Source, Warn

Target = Annotated[str, Field(min_length=1, max_length=300)]


class Probes(Source):
    """One target, probed without waiting for the last reply."""

    kind: Literal["probes"]
    icmp: Target | None = None
    udp: Target | None = None
    tcp: Target | None = None
    dns: Target | None = None
    interval_s: Annotated[float, Field(ge=LEAST_INTERVAL_S, le=3600)] = INTERVAL_S
    timeout_s: Annotated[float, Field(gt=0, le=60)] = 1.0
    """Then a probe is lost, and this is when that becomes known."""
    keep: str | None = None
    """A folder for the same files as those of ``skyweave probe run``."""

    offers: ClassVar[dict[str, Series]] = {
        "rtt_ms": Series("number", "round trip of a probe; lost: nothing"),
        "lost": Series("number", "1 for a lost probe, 0 for an answered one"),
    }

    @model_validator(mode="after")
    def _has_one_target(self) -> Self:
        if sum(one is not None for one in (self.icmp, self.udp, self.tcp, self.dns)) != 1:
            raise complaint("kind", "give one of icmp, udp, tcp and dns")
        return self

    def run(self, keep: Keep, stop: threading.Event, warn: Warn) -> None:
        """Probe; see :class:`~skyweave.triggers.sources.source.Source`."""
        store = Store(Path(self.keep)) if self.keep is not None else None
        with closing(self._probe()) as probe:
            pinger = Pinger(
                probe, lambda sample: self._sample(sample, keep, store, warn),
                self.interval_s, self.timeout_s,
            )  # fmt: skip
            ping([pinger], stop)
        if store is not None:
            store.flush()

    def known(self, sample: Sample) -> tuple[float, dict[str, float | None]]:
        """Return when a sample became known, and what it says.

        A round trip is known when its answer is there, a loss when the time is over: so that the
        order of a log is the order in which things could be acted upon.
        """
        if sample.refused is not None:
            return sample.time_unix_s, {"rtt_ms": None, "lost": None}
        if sample.rtt_ms is None:
            return sample.time_unix_s + self.timeout_s, {"rtt_ms": None, "lost": 1.0}
        at = sample.time_unix_s + sample.rtt_ms / 1e3
        return at, {"rtt_ms": sample.rtt_ms, "lost": 0.0}

    def _sample(self, sample: Sample, keep: Keep, store: Store | None, warn: Warn) -> None:
        keep(*self.known(sample))
        if store is not None:
            try:
                store.add("probes", SCHEMA, [asdict(sample)])
            except DataError as error:
                warn(str(error))

    def _probe(self) -> Probe:
        if self.icmp is not None:
            return IcmpProbe(self.icmp)
        if self.udp is not None:
            return UdpProbe(*host_port(self.udp, "udp"))
        if self.tcp is not None:
            return TcpProbe(*host_port(self.tcp, "tcp"))
        server, _, name = str(self.dns).partition("/")
        return DnsProbe(server, name)
