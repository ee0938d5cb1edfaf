"""The simulator as an engine: a :class:`skyweave.Run` becomes a :class:`skyweave.Record`.

``simulate`` runs in virtual time (``crates/sim``); it releases the GIL, so threads are enough to
use all cores.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Container, Mapping, Sequence
from pathlib import Path as FilePath

import numpy as np
import numpy.typing as npt
import polars as pl

from skyweave import _skyweave
from skyweave.algorithms import catalogue
from skyweave.algorithms.own import is_own
from skyweave.engine import workloads
from skyweave.engine.abr import Abr
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
    abrs: dict[int, Abr] | None = None,
    seed: int = 1,
    stop_after_s: float = 3600.0,
) -> Record:
    """Simulate a run in virtual time; the same run gives the same record on every machine.

    Either hand over a whole ``run``, or its parts. ``schedulers`` replaces the named scheduler of
    a connection (by its place) with an object of yours, see :class:`skyweave.Scheduler`, and
    ``abrs`` the ABR algorithm of an adaptive film, see :class:`skyweave.Abr`.

    Raises :class:`skyweave.ConfigError` for a run that makes no sense, and whatever an object of
    yours raised.
    """
    if run is None:
        run = Run(
            paths=tuple(paths),
            connections=tuple(connections),
            seed=seed,
            stop_after_s=stop_after_s,
        )
    objects, abrs = schedulers or {}, abrs or {}
    check_names(run, objects)
    check_abrs(run, abrs)
    for connection in run.connections:
        workloads.check_simulated(connection.workload)
    own = {place: (type(one).__name__, one) for place, one in objects.items()}
    try:
        raw = _skyweave.simulate(engine_json(run), own, abrs)
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
            **({"schedulers": _sources(objects)} if objects else {}),
            **({"abrs": _sources(abrs)} if abrs else {}),
        },
        application={
            kind: workloads.frame(kind, connections, dict(columns))
            for kind, (connections, columns) in raw.applications().items()
        },
    )


def engine_json(run: Run) -> str:
    """The run as the Rust side reads it (``crates/sim/src/config.rs``).

    A scheduler in Python decides at the end that sends; the other end has the default one.
    """
    default = Connection.model_fields["scheduler"].default
    connections = tuple(
        one.model_copy(
            update={
                "scheduler": default if is_own(one.scheduler) else one.scheduler,
                "workload": workloads.named(one.workload),
            }
        )
        for one in run.connections
    )
    return run.model_copy(update={"connections": connections}).model_dump_json()


def check_names(run: Run, objects: Container[int] = ()) -> None:
    """Refuse schedulers and congestion controls that do not exist, or whose parameters do not.

    A scheduler in Python exists where ``objects`` has one for the place of the connection.
    """
    for place, connection in enumerate(run.connections):
        if not is_own(connection.scheduler):
            catalogue.check("scheduler", connection.scheduler)
        elif place not in objects:
            raise ConfigError(
                f"connection {place}: its scheduler {catalogue.label(connection.scheduler)} is "
                f"Python code; hand an object of it over as schedulers={{{place}: ...}}"
            )
        catalogue.check("congestion", connection.congestion)


def check_abrs(run: Run, objects: Container[int] = ()) -> None:
    """Refuse an ABR algorithm in Python without an object for the place of its connection."""
    for place, connection in enumerate(run.connections):
        choice = workloads.own_abr(connection.workload)
        if choice is not None and place not in objects:
            raise ConfigError(
                f"connection {place}: its ABR algorithm {catalogue.label(choice)} is Python code; "
                f"hand an object of it over as abrs={{{place}: ...}}"
            )


def _frame(
    columns: Mapping[str, npt.NDArray[np.float64] | list[str]],
    names: list[str],
    schema: dict[str, pl.DataType],
) -> pl.DataFrame:
    frame = pl.DataFrame(columns, nan_to_null=True)
    paths = pl.Series("path", [names[int(place)] for place in columns["path"]], pl.String())
    frame = frame.with_columns(paths)
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())


def _sources(objects: Mapping[int, object]) -> dict[str, dict[str, str | None]]:
    """Return class and SHA-256 of the source file of algorithms in Python, by place.

    What has no file (a class typed at a prompt) has no hash.
    """
    return {
        str(place): {"class": type(one).__name__, "sha256": _source_hash(type(one))}
        for place, one in objects.items()
    }


def _source_hash(kind: type) -> str | None:
    try:
        file = inspect.getsourcefile(kind)
        return hashlib.sha256(FilePath(file).read_bytes()).hexdigest() if file else None
    except (OSError, TypeError):
        return None
