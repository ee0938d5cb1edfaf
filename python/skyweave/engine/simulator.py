"""The simulator as an engine: a :class:`skyweave.Run` becomes a :class:`skyweave.Record`.

``simulate`` runs in virtual time (``crates/sim``); it releases the GIL, so threads are enough to
use all cores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from skyweave import _skyweave
from skyweave.algorithms import catalogue
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
