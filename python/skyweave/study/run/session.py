"""One study from file to records: what ``skyweave run`` does before the report."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile, read_forecast
from skyweave.model.limits import MOST_RUNS
from skyweave.model.record import Engine
from skyweave.orbit.catalogue import find
from skyweave.results.store import Store
from skyweave.study.compile.drives import Makers, default_makers, gather
from skyweave.study.compile.expand import EngineName, Job, expand
from skyweave.study.compile.films import with_films
from skyweave.study.compile.own import check_own, own_algorithms, with_own, words
from skyweave.study.compile.size import check_paths, check_runs
from skyweave.study.compile.slips import slips
from skyweave.study.language.plan import Plan, load_plan, load_published
from skyweave.study.run.cluster import run_on_cluster
from skyweave.study.run.driven import keep_with_drive
from skyweave.study.run.engines import (
    SourceName,
    check_field,
    check_live,
    default_engine,
    field_engine,
    live_engine,
    live_version,
    with_engine,
    with_objects,
)
from skyweave.study.run.freeze import freeze
from skyweave.study.run.meter import Meter
from skyweave.study.run.observer import Steadied, StudyObserver
from skyweave.study.run.runner import run_all
from skyweave.version import code_version


@dataclass(frozen=True)
class StudyOptions:
    """How a study is run; ``seeds``, ``engine_name`` and ``source`` change results, others do not.

    ``engine_name`` replaces what the file says; ``jobs`` simulations run at a time (all cores),
    ``live_jobs`` live runs; ``source`` sends and receives in those;
    ``no_code`` refuses a study that names Python code, ``max_runs`` one of more runs than that.
    ``server`` is the far end of runs over real networks (:meth:`skyweave.field.FarEnd.found`),
    ``uplinks`` the devices of paths that have another name. ``engine``, ``live`` and ``real`` are
    the engines themselves, for tests.
    """

    out: Path
    data: Path | None = None
    jobs: int | None = None
    live_jobs: int = 1
    engine_name: EngineName | None = None
    source: SourceName = "own"
    seeds: int | None = None
    restart: bool = False
    cluster: str | None = None
    no_code: bool = False
    max_runs: int = MOST_RUNS
    server: str | None = None
    uplinks: Mapping[str, str] = field(default_factory=dict)
    engine: Engine | None = None
    live: Engine | None = None
    real: Engine | None = None
    makers: Makers | None = None
    code_version: str | None = None


@dataclass(frozen=True)
class Prepared:
    """A study that is checked and multiplied out, with nothing run yet."""

    plan: Plan
    frozen: dict[str, Any]
    jobs: list[Job]
    folder: Path
    """The folder of the study file, where its Python code is."""
    doubts: list[str]
    """What looks like a slip of a unit."""

    @property
    def code(self) -> list[str]:
        """What Python code of its own the study runs, in a sentence; nothing if it has none."""
        own = own_algorithms(self.plan)
        return [words(own)] if own else []

    @property
    def size(self) -> dict[str, float]:
        """Runs, simulated seconds and expected data packets; runs in real time, their seconds."""
        jobs = {job.key: job for job in self.jobs}.values()
        live = [job for job in jobs if job.engine != "sim"]
        simulated = [job for job in jobs if job.engine == "sim"]
        return {
            "runs": len(jobs),
            "simulated_runs": len(simulated),
            "simulated_s": sum(job.run.stop_after_s for job in simulated),
            "packets": sum(job.packets for job in simulated),
            "live_runs": len(live),
            "live_s": sum(job.run.stop_after_s for job in live),
        }


def prepare(study: Path, options: StudyOptions) -> Prepared:
    """Read a study file, make its drives and multiply it out.

    Raises :class:`ConfigError` for anything that cannot run, live runs that the kernel cannot do
    included.
    """
    from skyweave.study.compile.check import check_selections

    if options.live_jobs < 1:
        raise ConfigError(f"--live-jobs {options.live_jobs}: must be at least 1")
    plan = with_films(with_own(load_plan(study), study.parent), study.parent)
    coded = check_own(study, plan, options.cluster, options.no_code)
    published = load_published(study, plan)
    if options.seeds is not None:
        plan = _with_seeds(plan, options.seeds)
    check_runs(plan, options.max_runs)
    said: list[str] = []
    if options.engine_name is not None:
        plan, published, said = with_engine(plan, published, options.engine_name)
    drives, notes = gather(plan, options.data, options.makers or default_makers(), study.parent)
    doubts = slips(plan, drives)
    version = options.code_version or code_version()
    folders = [study.parent, *([options.data] if options.data else [])]
    forecasts = _forecasts(plan, folders)
    versions = version, live_version(options.source)
    jobs, gaps = expand(plan, drives, *versions, forecasts, options.max_runs)
    check_paths(plan, drives)
    check_live(study, jobs, options.cluster, options.source)
    if options.real is None:
        check_field(study, jobs, options.cluster, options.server, options.uplinks)
    check_selections(plan, published, [job.labels for job in jobs])
    frozen = freeze(
        plan.model_dump(mode="json"),
        published.model_dump(mode="json"),
        jobs,
        [*coded, *said, *doubts, *notes, *gaps],
        version,
    )
    return Prepared(plan, frozen, jobs, study.parent, doubts)


def _forecasts(plan: Plan, folders: list[Path]) -> dict[str, ForecastFile]:
    """Read the forecast files that paths name."""
    named = {name: spec.forecast_file for name, spec in plan.paths.items() if spec.forecast_file}
    return {name: read_forecast(find(file, folders)) for name, file in named.items()}


def run_study(
    study: Path, options: StudyOptions, observer: StudyObserver | None = None
) -> Prepared:
    """Run what is not yet done of a study file; records are in ``options.out`` afterwards.

    Prints nothing: ``observer`` hears how far it is. Raises :class:`skyweave.ConfigError` for a
    study that cannot run, :class:`skyweave.ResultsError` for a folder that cannot hold it, the
    first error of a run, and :class:`skyweave.errors.Interrupted` after Ctrl-C; finished runs are
    kept. What ``observer`` raises is logged once and ends nothing.
    """
    if options.cluster is not None and options.jobs is not None:
        raise ConfigError("--jobs is for runs on this machine; leave it out with --cluster")
    if options.jobs is not None and options.jobs < 1:
        raise ConfigError(f"--jobs {options.jobs}: must be at least 1")
    prepared = prepare(study, options)
    store = Store(options.out)
    store.prepare()
    with store.locked():
        store.adopt(prepared.frozen, options.restart)
        _run_missing(prepared, store, options, Steadied(observer or StudyObserver()))
    return prepared


def _run_missing(
    prepared: Prepared, store: Store, options: StudyOptions, observer: StudyObserver
) -> None:
    """Run what is missing: simulations on all cores first, then others one by one."""
    by_key = {job.key: job for job in prepared.jobs}
    missing = set(store.missing(by_key))
    damaged = store.damaged(key for key in by_key if key not in missing)
    for file in damaged.values():
        observer.note(f"{file}: is damaged or not whole; its run is done again.")
    todo = [job for key, job in by_key.items() if key in missing or key in damaged]
    for sentence in prepared.doubts:
        observer.note(sentence)
    observer.starts(todo, len(by_key) - len(todo))
    facts = {
        "code_version": prepared.frozen["code_version"],
        "plan_hash": prepared.frozen["plan_hash"],
        "study": prepared.plan.study.name,
    }
    simulated = [job for job in todo if job.engine == "sim"]
    live = [job for job in todo if job.engine == "live"]
    if simulated:
        threads = options.jobs or os.cpu_count() or 1
        with _observed(observer, "sim", simulated, threads):
            _simulate(prepared, simulated, store, (facts, options), observer)
    if live:
        engine = options.live or live_engine(options.source)
        with _observed(observer, "live", live, options.live_jobs):
            run_all(live, engine, store.keep, observer.finished, options.live_jobs, facts)
    # All of a round before the next one, so that what is compared is close in time.
    real = sorted((job for job in todo if job.engine == "field"), key=lambda job: job.run.seed)
    if real:
        engine = options.real or field_engine(options.server, options.uplinks)
        with _observed(observer, "field", real, 1):
            run_all(real, engine, partial(keep_with_drive, store), observer.finished, 1, facts)


@contextmanager
def _observed(
    observer: StudyObserver, engine: EngineName, jobs: list[Job], at_a_time: int
) -> Iterator[None]:
    observer.begins(engine, jobs, at_a_time)
    try:
        yield
    finally:
        observer.ends(engine)


def _simulate(
    prepared: Prepared,
    todo: list[Job],
    store: Store,
    how: tuple[dict[str, Any], StudyOptions],
    observer: StudyObserver,
) -> None:
    facts, options = how
    if options.cluster is not None:
        run_on_cluster(todo, options.cluster, store.keep, observer.finished, facts, observer.note)
        return
    engine = options.engine or default_engine()
    if prepared.code:
        engine = with_objects(engine, prepared.folder)
    threads = options.jobs or os.cpu_count() or 1
    meter = Meter(engine)
    run_all(todo, meter, store.keep, observer.finished, threads, facts)
    observer.metered(meter.cpu_s, meter.packets)


def _with_seeds(plan: Plan, seeds: int) -> Plan:
    """Return the plan with another number of synthetic drives in each group."""
    if seeds < 1:
        raise ConfigError(f"--seeds {seeds}: must be at least 1")
    drives = tuple(
        source if source.data is not None else source.model_copy(update={"seeds": seeds})
        for source in plan.drives
    )
    return plan.model_copy(update={"drives": drives})
