"""One study from file to records: what ``skyweave run`` does before the report."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from skyweave.engine import Engine
from skyweave.errors import ConfigError, SkyweaveError
from skyweave.study.cluster import run_on_cluster
from skyweave.study.drives import Makers, default_makers, gather
from skyweave.study.expand import Job, expand
from skyweave.study.plan import Plan, load_plan, load_published
from skyweave.study.progress import progress
from skyweave.study.runner import run_all
from skyweave.study.store import Store, freeze


@dataclass(frozen=True)
class Options:
    """How a study is run; none of it changes a result except ``seeds``."""

    out: Path
    data: Path | None = None
    jobs: int | None = None
    seeds: int | None = None
    restart: bool = False
    cluster: str | None = None
    console: Console = field(default_factory=lambda: Console(stderr=True))
    engine: Engine | None = None
    makers: Makers | None = None
    code_version: str | None = None


@dataclass(frozen=True)
class Prepared:
    """A study that is checked and multiplied out, with nothing run yet."""

    plan: Plan
    frozen: dict[str, Any]
    jobs: list[Job]

    @property
    def size(self) -> dict[str, float]:
        """Runs, simulated seconds and expected data packets."""
        jobs = {job.key: job for job in self.jobs}.values()
        return {
            "runs": len(jobs),
            "simulated_s": sum(job.run.stop_after_s for job in jobs),
            "packets": sum(job.packets for job in jobs),
        }


def prepare(study: Path, options: Options) -> Prepared:
    """Read a study file, make its drives and multiply it out."""
    from skyweave.report.check import check_selections

    plan = load_plan(study)
    published = load_published(study, plan)
    if options.seeds is not None:
        plan = _with_seeds(plan, options.seeds)
    drives, notes = gather(plan, options.data, options.makers or default_makers())
    version = options.code_version or code_version()
    jobs, gaps = expand(plan, drives, version)
    check_selections(plan, published, [job.labels for job in jobs])
    frozen = freeze(
        plan.model_dump(mode="json"),
        published.model_dump(mode="json"),
        jobs,
        [*notes, *gaps],
        version,
    )
    return Prepared(plan, frozen, jobs)


def run_study(study: Path, options: Options) -> Prepared:
    """Run what is not yet done of a study; records are in ``options.out`` afterwards."""
    if options.cluster is not None and options.jobs is not None:
        raise ConfigError("--jobs is for runs on this machine; leave it out with --cluster")
    if options.jobs is not None and options.jobs < 1:
        raise ConfigError(f"--jobs {options.jobs}: must be at least 1")
    prepared = prepare(study, options)
    engine = options.engine or default_engine()
    store = Store(options.out)
    store.prepare()
    with store.locked():
        store.adopt(prepared.frozen, options.restart)
        _run_missing(prepared, store, engine, options)
    return prepared


def _run_missing(prepared: Prepared, store: Store, engine: Engine, options: Options) -> None:
    by_key = {job.key: job for job in prepared.jobs}
    todo = [by_key[key] for key in store.missing(by_key)]
    console = options.console
    kept = len(by_key) - len(todo)
    if kept:
        console.print(f"{kept} of {len(by_key)} runs are already there.", highlight=False)
    facts = {
        "code_version": prepared.frozen["code_version"],
        "plan_hash": prepared.frozen["plan_hash"],
        "study": prepared.plan.study.name,
    }
    threads = options.jobs or os.cpu_count() or 1
    with progress(console, len(todo), sum(job.packets for job in todo)) as done:
        if options.cluster is None or not todo:
            run_all(todo, engine, store.keep, done, threads, facts)
        else:
            run_on_cluster(todo, options.cluster, store.keep, done, facts)


def default_engine() -> Engine:
    """Return the simulator; raise :class:`SkyweaveError` when it was not built."""
    engine = getattr(importlib.import_module("skyweave.engine"), "simulate", None)
    if engine is None:
        raise SkyweaveError(
            "the simulator is not built; install skyweave, or run 'maturin develop --release'"
        )
    found: Engine = engine
    return found


def code_version() -> str:
    """Return the version of the package and a hash of its compiled engine.

    A rebuilt engine that differs in one byte gives new keys, so no record of an older engine
    can pass for one of the new.
    """
    try:
        version = importlib.metadata.version("skyweave")
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    try:
        file = importlib.import_module("skyweave._skyweave").__file__
    except ImportError:
        return version
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else "built-in"
    return f"{version}+{digest[:8]}"


def _with_seeds(plan: Plan, seeds: int) -> Plan:
    """Return the plan with another number of synthetic drives in each group."""
    if seeds < 1:
        raise ConfigError(f"--seeds {seeds}: must be at least 1")
    drives = tuple(
        source if source.data is not None else source.model_copy(update={"seeds": seeds})
        for source in plan.drives
    )
    return plan.model_copy(update={"drives": drives})
