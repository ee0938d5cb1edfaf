"""Runs on many machines: an existing Dask cluster computes, this process keeps the records.

Start one with ``dask scheduler`` and ``dask worker tcp://HOST:8786`` on machines that have the same
build of Skyweave (docs/studies.md names a setting that makes workers faster); then
``skyweave run … --cluster tcp://HOST:8786``. The records are byte for byte those of a local run,
because a run depends on nothing but its description and the build: every record comes with the
build that made it, and one of another build is refused and made again.

A task is a batch of runs: scheduler and client need milliseconds for each, which counts where runs
take a tenth of a second (docs/evidence/cluster.json).
"""

from __future__ import annotations

import functools
import hashlib
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from skyweave.engine.simulator import simulate
from skyweave.errors import ConfigError, Interrupted, SkyweaveError
from skyweave.model.config import Run
from skyweave.model.record import Record
from skyweave.study.compile.expand import Job
from skyweave.study.run.runner import Done, Keep, complete
from skyweave.study.run.sources import ROOT, digest
from skyweave.version import code_version

Note = Callable[[str], None]
CODE = ("skyweave.study.run.cluster",)
"""Where the code of a worker begins."""
AHEAD = 2
"""Tasks submitted ahead for each thread of the cluster: it is busy, and memory is bounded."""
BATCH_S = 1.0
"""How long a task should take: what a worker that dies has done for nothing."""
MOST_RUNS = 16
"""Runs in a task, whose records wait for each other in a worker's memory."""
REACH_S = 2.0
"""How long a worker may take to accept a connection, or its records come by the scheduler."""


@dataclass(frozen=True)
class Made:
    """Records, who made them, and how long that took."""

    records: list[Record]
    build: str
    seconds: float


@functools.cache
def build() -> str:
    """Return the build of this process: of the compiled engine, and of all Python behind a run."""
    return f"{code_version()} {digest(CODE, ROOT)[:8]}"


def run_on_cluster(
    jobs: list[Job], address: str, keep: Keep, done: Done, facts: dict[str, Any], note: Note
) -> None:
    """Compute jobs on the Dask cluster at ``address``; keep each record here as it arrives.

    A record of a worker that has another build of Skyweave is refused with a note, and made again
    on the others. Raises :class:`ConfigError` when the cluster is not there or no worker has our
    build, the first error of a run, or :class:`Interrupted`.
    """
    client = _connect(address)
    try:
        workers = _check_versions(client, address, build())
        client.direct_to_workers = are_reachable(workers)
        _Computation(client, address, jobs, note).run(keep, done, facts)
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


def are_reachable(workers: Iterable[str]) -> bool:
    """Whether all workers, as ``tcp://HOST:PORT``, accept connections from this process.

    Their records then come straight from them, and cost the scheduler less
    (docs/evidence/cluster.json).
    """
    for worker in workers:
        where = urlsplit(worker)
        try:
            socket.create_connection((where.hostname, where.port), REACH_S).close()
        except (OSError, ValueError):
            return False
    return True


def _check_versions(client: Any, address: str, ours: str) -> Iterable[str]:
    """Return the workers; refuse those that would compute something else."""
    theirs: dict[str, str] = client.run(build)
    if not theirs:
        raise ConfigError(f"--cluster {address}: has no workers; start some with 'dask worker'")
    for worker, version in theirs.items():
        if version != ours:
            raise ConfigError(
                f"--cluster {address}: worker {worker} has Skyweave {version}, but this is {ours}; "
                "install the same build on it"
            )
    return theirs


@dataclass
class _Computation:
    """The jobs of a study on a cluster, and the workers that it may not use."""

    client: Any
    address: str
    jobs: list[Job]
    note: Note
    refused: set[str] = field(default_factory=set)
    tries: int = 0
    run_s: float | None = None
    """How long a run took lately."""
    most: int = MOST_RUNS

    def run(self, keep: Keep, done: Done, facts: dict[str, Any]) -> None:
        """Compute all jobs; keep the records of each batch when they arrive."""
        from distributed import as_completed

        waiting, under_way = deque(self.jobs), dict[str, tuple[list[Job], bool]]()
        results = as_completed(loop=self.client.loop)
        ahead = AHEAD * max(sum(self.client.nthreads().values()), 1)

        def submit() -> None:
            while waiting and len(under_way) < ahead:
                size = self._size(len(waiting) // ahead)
                batch = [waiting.popleft() for _ in range(size)]
                future = self._submitted(batch)
                under_way[future.key] = batch, bool(self.refused)
                results.add(future)

        submit()
        for future in results:
            batch, is_limited = under_way.pop(future.key)
            records = self._records(future, batch, is_limited)
            future.release()
            if records is None:
                waiting.extendleft(reversed(batch))
            else:
                for job, record in zip(batch, records, strict=True):
                    keep(job.key, complete(record, job, facts))
                    done(job)
            submit()

    def _size(self, share: int) -> int:
        """Return how many runs the next task has: no more than a ``share``, and at least one."""
        fitting = 1 if self.run_s is None else int(BATCH_S / max(self.run_s, 1e-3))
        return max(1, min(fitting, share, self.most))

    def _submitted(self, batch: list[Job]) -> Any:
        """Submit jobs; after a refusal under a new key and only to workers that may have them."""
        runs = [job.run.model_dump_json() for job in batch]
        key = hashlib.sha256("".join(runs).encode()).hexdigest()
        if not self.refused:
            return self.client.submit(compute, runs, key=f"{key}-{self.tries}", pure=True)
        allowed = [worker for worker in self.client.nthreads() if worker not in self.refused]
        if not allowed:
            raise ConfigError(
                f"--cluster {self.address}: no worker with this build ({build()}) is left; "
                "start one, and give the same command again: finished runs are kept"
            )
        self.tries += 1
        key = f"{key}-{self.tries}"
        return self.client.submit(compute, runs, key=key, pure=True, workers=allowed)

    def _records(self, future: Any, batch: list[Job], is_limited: bool) -> list[Record] | None:
        """Return the records of a batch; ``None``: it is to be done again.

        ``is_limited``: those that were refused when it was submitted cannot have had it.
        """
        which = "Run " + ", ".join(job.key for job in batch)
        try:
            made = future.result()
        except Exception as error:
            if self._refuse_others() or (self.refused and not is_limited):
                self.note(f"{which}: failed on a worker of another build; done again.")
                return None
            if len(batch) > 1:  # One by one, to say which it was and to keep the others.
                self.most, self.tries = 1, self.tries + 1
                return None
            raise SkyweaveError(
                f"run {batch[0].key} failed on the cluster: {error}; finished runs are kept: "
                "give the same command again when the cause is gone"
            ) from error
        if isinstance(made, Made) and made.build == build():
            if len(made.records) != len(batch):
                raise SkyweaveError(
                    f"{which}: a worker answered with {len(made.records)} records for {len(batch)} "
                    "runs; finished runs are kept: see what that worker runs, and give the same "
                    "command again"
                )
            self.run_s = made.seconds / len(batch)
            return made.records
        theirs = made.build if isinstance(made, Made) else "that does not say which"
        self._refuse_others()
        self.note(f"{which}: made by Skyweave {theirs}, not {build()}; done again.")
        return None

    def _refuse_others(self) -> bool:
        """Take no more from workers of other builds; tell whether there are such anew."""
        theirs = self.client.run(build, on_error="return")
        others = {worker for worker, version in theirs.items() if version != build()}
        new = others - self.refused
        self.refused |= others
        return bool(new)


def compute(runs: list[str]) -> Made:
    """Simulate runs given as JSON: what a worker does."""
    begin = time.perf_counter()
    records = [simulate(Run.model_validate_json(run)) for run in runs]
    return Made(records, build(), time.perf_counter() - begin)
