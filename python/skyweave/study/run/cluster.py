"""Runs on many machines: an existing Dask cluster computes, this process keeps the records.

Start one with ``dask scheduler`` and ``dask worker tcp://HOST:8786`` on machines that have the same
build of Skyweave; then ``skyweave run … --cluster tcp://HOST:8786``. The records are byte for byte
those of a local run, because a run depends on nothing but its description.
"""

from __future__ import annotations

from typing import Any

from skyweave.engine.simulator import simulate
from skyweave.errors import ConfigError, Interrupted, SkyweaveError
from skyweave.model.config import Run
from skyweave.model.record import Record
from skyweave.study.compile.expand import Job
from skyweave.study.run.runner import Done, Keep, complete
from skyweave.version import code_version

AHEAD = 2
"""Runs submitted ahead for each thread of the cluster: it is busy, and memory is bounded."""


def run_on_cluster(
    jobs: list[Job], address: str, keep: Keep, done: Done, facts: dict[str, Any]
) -> None:
    """Compute jobs on the Dask cluster at ``address``; keep each record here as it arrives.

    Raises :class:`ConfigError` when the cluster is not there or has another build of Skyweave,
    the first error of a run, or :class:`Interrupted`.
    """
    client = _connect(address)
    try:
        _check_versions(client, address, facts["code_version"])
        _compute(client, jobs, keep, done, facts)
    except KeyboardInterrupt as error:
        raise Interrupted(
            "stopped; finished runs are kept: give the same command again to continue"
        ) from error
    finally:
        client.close()


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigError(
            "--cluster needs Dask, which is not installed; pip install 'skyweave[cluster]'"
        ) from error
    try:
        return Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConfigError(
            f"--cluster {address}: no Dask scheduler answers there; start one with 'dask scheduler'"
        ) from error


def _check_versions(client: Any, address: str, ours: str) -> None:
    """Refuse workers that would compute something else."""
    theirs: dict[str, str] = client.run(code_version)
    if not theirs:
        raise ConfigError(f"--cluster {address}: has no workers; start some with 'dask worker'")
    for worker, version in theirs.items():
        if version != ours:
            raise ConfigError(
                f"--cluster {address}: worker {worker} has Skyweave {version}, but this is {ours}; "
                "install the same build on it"
            )


def _compute(client: Any, jobs: list[Job], keep: Keep, done: Done, facts: dict[str, Any]) -> None:
    from distributed import as_completed

    waiting = iter(jobs)
    under_way: dict[str, Job] = {}
    results = as_completed(loop=client.loop)

    def submit_next() -> None:
        job = next(waiting, None)
        if job is not None:
            future = client.submit(compute, job.run.model_dump_json(), key=job.key, pure=True)
            under_way[future.key] = job
            results.add(future)

    for _ in range(AHEAD * max(sum(client.nthreads().values()), 1)):
        submit_next()
    for future in results:
        job = under_way.pop(future.key)
        keep(job.key, complete(_record(future, job), job, facts))
        done(job)
        future.release()
        submit_next()


def _record(future: Any, job: Job) -> Record:
    try:
        record: Record = future.result()
    except Exception as error:
        raise SkyweaveError(
            f"run {job.key} failed on the cluster: {error}; finished runs are kept: "
            "give the same command again when the cause is gone"
        ) from error
    return record


def compute(run: str) -> Record:
    """Simulate a run given as JSON: what a worker does."""
    return simulate(Run.model_validate_json(run))
