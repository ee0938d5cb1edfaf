"""A run of probes alone: round trips and losses of each path, with nothing else under way."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from skyweave.engine import workloads
from skyweave.errors import SkyweaveError
from skyweave.field.beside import pingers_of
from skyweave.field.client import Talk
from skyweave.field.errors import FieldError
from skyweave.field.far import FarEnd
from skyweave.field.uplinks import Uplink
from skyweave.live.record.gather import IN_ORDER_WAITS
from skyweave.model import config
from skyweave.model.record import EVENT_SCHEMA, SAMPLE_SCHEMA
from skyweave.model.totals import RunTotals
from skyweave.telemetry.probes.echo import PROBE_BYTES
from skyweave.telemetry.probes.pinger import Counts, Sample, ping

TIMEOUT_S = 3.0
KIND = "probe"


@dataclass
class Probed:
    """What came of the probes of a run."""

    epoch_unix_s: float
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    counts: dict[str, Counts] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def probe(run: config.Run, far: FarEnd, uplinks: Mapping[str, Uplink]) -> Probed:
    """Send probes over each path of a run, until it is over.

    Raises :class:`FieldError` if the server is not there.
    """
    with Talk(far, uplinks) as talk:
        known = next(iter(talk.known.values()))
        public = {name: one.you for name, one in talk.known.items()}
    connection = run.connections[0]
    every_s = workloads.probe_interval_s(connection.workload)
    found = Probed(0.0, {name: [] for name in uplinks})
    found.facts = {
        "server": {"kernel": known.kernel, "skyweave": known.skyweave},
        "public_addresses": public,
    }
    try:
        pingers = pingers_of(
            far, uplinks, lambda name, one: found.samples[name].append(one), every_s, TIMEOUT_S
        )
    except (SkyweaveError, OSError) as error:
        raise FieldError(f"no probes can be sent ({error})") from None
    found.epoch_unix_s = found.facts["epoch_unix_s"] = time.time()
    try:
        ping(pingers, threading.Event(), run.stop_after_s)
    finally:
        for one in pingers:
            one.probe.close()
    found.counts = dict(zip(uplinks, (one.counts for one in pingers), strict=True))
    return found


def gather(
    run: config.Run, probed: Probed
) -> tuple[pl.DataFrame, pl.DataFrame, RunTotals, dict[str, pl.DataFrame]]:
    """Return samples, events, totals and the table of probes of a run.

    ``srtt_ms`` of a sample is the round trip of the last probe that was sent until then and
    answered, ``delivered_bytes`` and ``lost_packets`` are those of all of them.
    """
    table = _table(probed)
    rows = [row for tick in _ticks(run) for row in _samples(tick, table, tuple(probed.samples))]
    answered = table["rtt_ms"].count()
    paths = {name: _of_path(name, table, one) for name, one in probed.counts.items()}
    connection: Any = {
        "transport": "udp",
        "scheduler": None,
        "congestion": "none",
        "direction": run.connections[0].workload.main_direction,
        "start_s": 0.0,
        "completion_s": None,
        "delivered_bytes": answered * PROBE_BYTES,
        "goodput_mbps": answered * PROBE_BYTES * 8e-6 / run.stop_after_s,
        **dict.fromkeys(("longest_stall_s", "frozen_s", *IN_ORDER_WAITS, *_NOT_OF_PROBES)),
        "error": None,
        "paths": paths,
    }
    totals: RunTotals = {
        "simulated_s": run.stop_after_s, "connections": [connection], "links": {}
    }  # fmt: skip
    columns = {name: table[name].to_list() for name in table.columns}
    tables = {KIND: workloads.frame(KIND, [0] * len(table), columns)}
    return (
        pl.DataFrame(rows, schema=SAMPLE_SCHEMA), pl.DataFrame(schema=EVENT_SCHEMA), totals, tables
    )  # fmt: skip


_NOT_OF_PROBES = (
    "duplicate_bytes", "reorder_buffer_max_bytes", "meta_timeouts", "window_stalls",
    "penalisations", "waits",
)  # fmt: skip
_SCHEMA = {
    "time_s": pl.Float64(), "path": pl.String(), "rtt_ms": pl.Float64(), "refused": pl.String()
}  # fmt: skip


def _table(probed: Probed) -> pl.DataFrame:
    """Return a row for each probe, in the order of time."""
    rows = [
        (max(one.time_unix_s - probed.epoch_unix_s, 0.0), name, one.rtt_ms, one.refused)
        for name, samples in probed.samples.items()
        for one in samples
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").sort("time_s", maintain_order=True)


def _ticks(run: config.Run) -> list[float]:
    interval_s = run.sample_interval_ms / 1e3
    return [
        round(tick * interval_s, 9)
        for tick in range(1, math.ceil(run.stop_after_s / interval_s - 1e-9) + 1)
    ]


def _samples(time_s: float, table: pl.DataFrame, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the rows of a moment: one a path, then that of all."""
    until = table.filter(pl.col("time_s") <= time_s)
    rows, carried = [], 0
    for name in names:
        own = until.filter((pl.col("path") == name) & pl.col("refused").is_null())
        trips = own["rtt_ms"].drop_nulls()
        carried += len(trips) * PROBE_BYTES
        rows.append({
            "time_s": time_s, "connection": 0, "path": name,
            "srtt_ms": float(trips[-1]) if len(trips) else None,
            "delivered_bytes": float(len(trips) * PROBE_BYTES),
            "lost_packets": float(own["rtt_ms"].null_count()),
        })  # fmt: skip
    rows.append({
        "time_s": time_s, "connection": 0, "path": "", "delivered_bytes": float(carried),
        "goodput_mbps": 0.0,
    })  # fmt: skip
    return rows


def _of_path(name: str, table: pl.DataFrame, counts: Counts) -> dict[str, Any]:
    """Return the sums of a path; a probe that was not sent for want of a cookie is none."""
    trips = table.filter(pl.col("path") == name)["rtt_ms"].drop_nulls()
    return {
        "sent_packets": counts.sent, "lost_packets": counts.lost,
        **dict.fromkeys((
            "retransmitted_packets", "reinjected_packets", "redundant_packets", "timeouts",
            "spurious_timeouts", "outage_retransmitted_packets", "outage_reinjected_packets",
        )),
        "sent_bytes": counts.sent * PROBE_BYTES, "unique_bytes": len(trips) * PROBE_BYTES,
        "min_rtt_ms": trips.min(), "blocked_others_byte_s": None, "blocked_own_byte_s": None,
    }  # fmt: skip
