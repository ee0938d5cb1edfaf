"""A run over real networks: ``FieldEngine``."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from skyweave import _skyweave
from skyweave.engine import workloads
from skyweave.errors import ConfigError
from skyweave.field import probes
from skyweave.field.beside import UPLINKS, Beside, measured
from skyweave.field.carry import Carried, carry
from skyweave.field.check import DEFAULT, refusal
from skyweave.field.far import FarEnd, facts_of
from skyweave.field.play import play
from skyweave.field.uplinks import Uplink, look
from skyweave.live.record import gather_quic
from skyweave.live.record.applications import applications
from skyweave.live.record.gather import gather
from skyweave.live.traffic.players import is_played
from skyweave.model import config
from skyweave.model.record import Record

_NO_RELAY: dict[str, Any] = {
    "samples": {"time_s": [], "link": [], "queue_bytes": [], "delivered_bytes": []},
    "statistics": {"links": {}},
}
"""The links of real networks count nothing for us."""


class FieldEngine:
    """An engine: calling it carries a run out over this machine's own interfaces."""

    def __init__(self, far: FarEnd, devices: Mapping[str, str]) -> None:
        """``devices``: the network device of each path that is not called as the path is."""
        self._far, self._devices = far, dict(devices)

    def check(self, runs: Iterable[config.Run]) -> None:
        """Raise :class:`ConfigError` for the first run that this machine cannot carry out."""
        known: dict[tuple[str, ...], dict[str, Uplink]] = {}
        for run in runs:
            names = tuple(path.name for path in run.paths)
            if names not in known:
                known[names] = look(names, self._devices, self._far.address)
            if (why := refusal(with_controls(run), known[names])) is not None:
                raise ConfigError(why)

    def __call__(self, run: config.Run) -> Record:
        """Carry a run out; the record has the columns of all engines.

        Raises :class:`ConfigError` for what cannot be, and :class:`skyweave.field.FieldError` when
        the server or an uplink fails.
        """
        uplinks = look([path.name for path in run.paths], self._devices, self._far.address)
        run = with_controls(run)
        if (why := refusal(run, uplinks)) is not None:
            raise ConfigError(why)
        if run.connections[0].workload.kind == workloads.PROBE:
            with measured(self._far, uplinks, probes=False) as beside:
                probed = probes.probe(run, self._far, uplinks)
            samples, events, totals, tables = probes.gather(run, probed)
            facts = probed.facts
        else:
            with measured(self._far, uplinks) as beside:
                carried = (play if is_played(run) else carry)(run, self._far, uplinks)
            samples, events, totals = _gathered(run, carried)
            tables, facts = applications(run, carried.ends), carried.facts
        tables = {**tables, UPLINKS: _with_trips(beside, tables, facts)}
        provenance = {
            **self._provenance(run, uplinks, beside),
            **facts,
            "server": {"address": self._far.address, "port": self._far.port, **facts["server"]},
            "began_unix_s": beside.began_unix_s,
        }
        return Record(samples, events, totals, provenance, tables)

    def _provenance(
        self, run: config.Run, uplinks: Mapping[str, Uplink], beside: Beside
    ) -> dict[str, Any]:
        carried = beside.carried()
        return {
            "engine": "field",
            "kernel": platform.release(),
            "skyweave": _skyweave.build_info()["version"],
            "seed": run.seed,
            "source": "own",
            "uplinks": {
                name: {**one.facts, **carried.get(name, {})} for name, one in uplinks.items()
            },
            "testbed": facts_of(),
        }


def with_controls(run: config.Run) -> config.Run:
    """Return a run whose connections of multipath QUIC say which congestion control they have."""
    own = config.Connection.model_fields["congestion"].default
    named = tuple(
        one.model_copy(update={"congestion": own})
        if one.transport == "mpquic" and one.congestion == DEFAULT
        else one
        for one in run.connections
    )
    return run.model_copy(update={"connections": named})


def _gathered(run: config.Run, carried: Carried) -> Any:
    return gather(run, carried.epoch_ns, carried.ends, _NO_RELAY, gather_quic.view_of)


def _with_trips(
    beside: Beside, tables: Mapping[str, pl.DataFrame], facts: Mapping[str, Any]
) -> pl.DataFrame:
    """Return the table of the uplinks; where the run itself was probes, with their round trips."""
    table = beside.table()
    own = tables.get(workloads.PROBE)
    if own is None:
        return table
    later = pl.col("time_s") + (facts["epoch_unix_s"] - beside.began_unix_s)
    sent = own.filter(pl.col("refused").is_null()).select(later, "path", "rtt_ms")
    return pl.concat([table, sent], how="diagonal").sort("time_s", maintain_order=True)
