"""The simulator as an engine: a :class:`skyweave.Run` becomes a :class:`skyweave.Record`.

``simulate`` runs in virtual time (``crates/sim``); it releases the GIL, so threads are enough to
use all cores.

``Record.totals`` of every engine::

    {"simulated_s": 60.0, "link_packets": 123456,
     "connections": [{"transport": "mptcp", "scheduler": "blest", "congestion": "bbr",
                      "direction": "down", "start_s": 0.0, "completion_s": null | 12.3,
                      "delivered_bytes": 1, "goodput_mbps": 1.0, "longest_stall_s": 0.1,
                      "duplicate_bytes": 0, "reorder_buffer_max_bytes": 0,
                      "meta_timeouts": 0, "window_stalls": 0, "penalisations": 0, "waits": 0,
                      "paths": {"SL": {"sent_packets": 1, "lost_packets": 0,
                                       "retransmitted_packets": 0, "reinjected_packets": 0,
                                       "redundant_packets": 0,
                                       "timeouts": 0, "spurious_timeouts": 0,
                                       "outage_retransmitted_packets": 0,
                                       "outage_reinjected_packets": 0,
                                       "sent_bytes": 1, "unique_bytes": 1, "min_rtt_ms": 1.0}}}],
     "links": {"SL.down": {"in_packets": 1, "delivered_packets": 1, "delivered_bytes": 1,
                           "dropped_queue": 0, "dropped_aqm": 0, "dropped_loss": 0,
                           "dropped_outage": 0}}}

Live runs also have ``reinjections`` (of the whole connection), ``fallback`` (it became plain TCP)
and ``error`` (why a transfer did not open or broke off; null if neither).

``outage_*``: what was sent on this path during an outage, or within a smoothed RTT before one, and
was retransmitted on the same path or on another one (null in live runs and of multipath QUIC).
``longest_stall_s`` is the longest time without anything new for the receiving application, from its
first byte on (live: known to a sample interval; null if nothing came). ``goodput_mbps`` is what it
got, from the opening of the connection to its end; ``unique_bytes`` came first on that path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from skyweave import _skyweave
from skyweave.algorithms import catalogue
from skyweave.engine import workloads
from skyweave.engine.scheduling import Scheduler
from skyweave.errors import ConfigError
from skyweave.model.config import Connection, Path, Run
from skyweave.model.record import EVENT_SCHEMA, SAMPLE_SCHEMA, Record


def simulate(
    run: Run | None = None,
    *,
    paths: Sequence[Path] = (),
    connections: Sequence[Connection] = (),
    schedulers: dict[int, Scheduler] | None = None,
    seed: int = 1,
    stop_after_s: float = 3600.0,
) -> Record:
    """Simulate a run in virtual time; the same run gives the same record on every machine.

    Either hand over a whole ``run``, or its parts. ``schedulers`` replaces the named scheduler of
    a connection (by its place) with an object of yours, see :class:`skyweave.Scheduler`.

    Raises :class:`skyweave.ConfigError` for a run that makes no sense, and whatever a scheduler of
    yours raised.
    """
    if run is None:
        run = Run(
            paths=tuple(paths),
            connections=tuple(connections),
            seed=seed,
            stop_after_s=stop_after_s,
        )
    check_names(run)
    own = {place: (type(one).__qualname__, one) for place, one in (schedulers or {}).items()}
    try:
        raw = _skyweave.simulate(engine_json(run), own)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    names = [*raw.path_names, ""]  # the connection's own rows have path -1
    return Record(
        samples=_frame(raw.samples(), names, SAMPLE_SCHEMA),
        events=_frame(raw.events(), names, EVENT_SCHEMA),
        totals=json.loads(raw.totals),
        provenance={
            "engine": "sim",
            "skyweave": _skyweave.build_info()["version"],
            "seed": run.seed,
        },
        application={
            kind: workloads.frame(kind, connections, dict(columns))
            for kind, (connections, columns) in raw.applications().items()
        },
    )


def engine_json(run: Run) -> str:
    """The run as the Rust side reads it (``crates/sim/src/config.rs``)."""
    return run.model_dump_json()


def check_names(run: Run) -> None:
    """Refuse schedulers and congestion controls that do not exist, or whose parameters do not."""
    for connection in run.connections:
        catalogue.check("scheduler", connection.scheduler)
        catalogue.check("congestion", connection.congestion)


def _frame(
    columns: Mapping[str, npt.NDArray[np.float64] | list[str]],
    names: list[str],
    schema: dict[str, pl.DataType],
) -> pl.DataFrame:
    frame = pl.DataFrame(columns, nan_to_null=True)
    paths = pl.Series("path", [names[int(place)] for place in columns["path"]], pl.String())
    frame = frame.with_columns(paths)
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
