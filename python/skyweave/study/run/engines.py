"""Which engine computes which run: the simulator, Linux in real time, or real networks."""

from __future__ import annotations

import functools
import importlib
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from skyweave.algorithms.own import is_own, load
from skyweave.engine import workloads
from skyweave.errors import ConfigError, SkyweaveError
from skyweave.model.config import Run
from skyweave.model.record import Engine, Record
from skyweave.study.compile.expand import EngineName, Job
from skyweave.study.language.criteria import Published
from skyweave.study.language.plan import Plan
from skyweave.study.run.sources import ROOT, digest

SourceName = Literal["own", "iperf3"]
"""What sends and receives in live runs."""
LIVE_CODE = (
    "skyweave.live.engine",
    "skyweave.field.engine",
    *(f"skyweave.video.players.{name}" for names in workloads.PROGRAMS.values() for name in names),
)
"""Where the code of live runs begins; it starts its processes by name."""


def default_engine() -> Engine:
    """Return the simulator; raise :class:`SkyweaveError` when it was not built."""
    engine = getattr(importlib.import_module("skyweave.engine.simulator"), "simulate", None)
    if engine is None:
        raise SkyweaveError(
            "the simulator is not built; install skyweave, or run 'maturin develop --release'"
        )
    found: Engine = engine
    return found


def with_objects(engine: Any, folder: Path) -> Engine:
    """Return the engine that gets fresh objects of the algorithms in Python that runs name.

    Their files are below ``folder``. This is where the code of a study is imported, and runs.
    """

    def simulated(run: Run) -> Record:
        places = list(enumerate(run.connections))
        schedulers = {place: one.scheduler for place, one in places}
        abrs = {place: workloads.own_abr(one.workload) for place, one in places}
        record: Record = engine(
            run,
            schedulers={at: load(one, folder) for at, one in schedulers.items() if is_own(one)},
            abrs={at: load(one, folder) for at, one in abrs.items() if one is not None},
        )
        return record

    return simulated


def live_engine(source: SourceName = "own") -> Engine:
    """Return the engine that runs on this machine's own kernel (``skyweave.live``)."""
    found: Any = importlib.import_module("skyweave.live.engine").run_live
    engine: Engine = found if source == "own" else functools.partial(found, source=source)
    return engine


def field_engine(server: str | None, devices: Mapping[str, str]) -> Any:
    """Return the engine over networks of this machine (``skyweave.field``).

    ``server`` and ``devices`` are those of the command line. Raises :class:`ConfigError` where
    there is no server.
    """
    field = importlib.import_module("skyweave.field.engine")
    return field.FieldEngine(field.FarEnd.found(server), devices)


def check_field(
    study: Path, jobs: Iterable[Job], cluster: str | None, server: str | None,
    devices: Mapping[str, str],
) -> None:  # fmt: skip
    """Raise :class:`ConfigError` for runs over real networks that cannot be."""
    runs = {job.key: job.run for job in jobs if job.engine == "field"}
    if not runs:
        for what, given in (("--server", server), ("--uplink", devices)):
            if given:
                raise ConfigError(f"{study}: has no runs of engine 'field'; leave {what} out")
        return
    if cluster is not None:
        raise ConfigError(
            f"{study}: {len(runs)} of its runs are over networks of this machine; "
            "leave out --cluster"
        )
    try:
        field_engine(server, devices).check(runs.values())
    except ConfigError as error:
        raise ConfigError(f"{study}: {str(error).rstrip('. ')}") from None


def live_version(source: SourceName = "own") -> str:
    """Return what decides a live run beside its description and the compiled engine.

    That is the kernel, the source, and a hash of all Python that live runs import.
    """
    code = digest(LIVE_CODE, ROOT)[:8]
    return f"{platform.system()} {platform.release()} {source} {code}"


def check_live(
    study: Path, jobs: Iterable[Job], cluster: str | None, source: SourceName = "own"
) -> None:
    """Raise :class:`ConfigError` for a live run that this machine's kernel cannot do."""
    jobs = list(jobs)
    live = list(dict.fromkeys(job.key for job in jobs if job.engine == "live"))
    if not live:
        if source != "own":
            raise ConfigError(
                f"{study}: has no live runs, and --source {source} is for those; "
                "leave it out, or add --engine live"
            )
        return
    if cluster is not None:
        raise ConfigError(
            f"{study}: {len(live)} of its runs are live and need this machine to themselves; "
            "leave out --cluster, or run it with --engine sim"
        )
    try:
        refusal = importlib.import_module("skyweave.live.check").refusal
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{study}: has live runs, but this Skyweave has no live engine ({error}); "
            "run it with --engine sim"
        ) from error
    refusals = [refusal]
    if source == "iperf3":
        refusals.append(importlib.import_module("skyweave.live.traffic.iperf").refusal)
    for job in jobs:
        found = (refuse(job.run) for refuse in refusals if job.engine == "live")
        why = next((reason for reason in found if reason is not None), None)
        if why is not None:
            raise ConfigError(
                f"{study}: {str(why).rstrip('. ')}; run it with --engine sim, or change the setting"
            )


def with_engine(
    plan: Plan, published: Published, name: EngineName
) -> tuple[Plan, Published, list[str]]:
    """Return the plan with ``name`` in place of every engine that the file says, and notes.

    Figures and criteria that look at another engine, or at a difference between engines by their
    settings, are left out with a note; kinds ``engines`` and ``agreement`` stay and say themselves
    that there is nothing to compare.
    """
    settings = plan.settings.model_copy(update={"engine": (name,)})
    blocks = tuple(block.model_copy(update={"engine": None}) for block in plan.compare)
    figures = tuple(figure for figure in plan.figures if not _is_about_another(figure, name))
    criteria = tuple(one for one in published.criteria if not _is_about_another(one, name))
    gone = [f"figure '{one.id}'" for one in plan.figures if one not in figures]
    gone += [f"criterion '{one.id}'" for one in published.criteria if one not in criteria]
    notes = [f"All runs are of engine '{name}', as --engine said."]
    if gone:
        notes.append(f"Left out, because they need another engine: {', '.join(gone)}.")
    return (
        plan.model_copy(update={"settings": settings, "compare": blocks, "figures": figures}),
        published.model_copy(update={"criteria": criteria}),
        notes,
    )


def _is_about_another(chosen: Any, name: EngineName) -> bool:
    """Tell whether a figure or criterion needs runs of another engine than ``name``."""
    selections = (chosen, *getattr(chosen, "beside", ()))
    if any(one.where.get("engine", name) != name for one in selections):
        return True
    if "engine" in getattr(chosen, "where_any", {}):
        return any(value != name for value in chosen.where_any["engine"])
    return hasattr(chosen, "text") and "engine" in (
        getattr(chosen, "by", None),
        getattr(chosen, "than", None),
    )
