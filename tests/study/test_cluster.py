"""A Dask cluster gives the bytes of a local run; its absence and its mistakes are one sentence."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from fluid import tree

from skyweave.errors import ConfigError, SkyweaveError
from skyweave.model.config import Run
from skyweave.model.record import Record
from skyweave.study import Job, StudyObserver
from skyweave.study.run import cluster
from skyweave.study.run.session import StudyOptions, prepare, run_study

distributed = pytest.importorskip("distributed", reason="Dask is an extra: skyweave[cluster]")


@pytest.mark.filterwarnings("ignore")  # Dask's own, from starting and stopping processes
def test_the_cluster_gives_the_bytes_of_a_local_run(study: Path, tmp_path: Path) -> None:
    run_study(study, StudyOptions(out=tmp_path / "local", jobs=1))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as local:
        options = StudyOptions(out=tmp_path / "cluster", cluster=local.scheduler_address)
        run_study(study, options)
    here, there = (tmp_path / where / "records" for where in ("local", "cluster"))
    names = sorted(path.relative_to(here) for path in here.rglob("*") if path.is_file())
    assert len(names) == 3 * 2 * 3
    for name in names:
        assert (here / name).read_bytes() == (there / name).read_bytes(), name


@contextmanager
def one_thread() -> Iterator[str]:
    """A cluster of one worker in this process, which runs one task after the other: its address."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as local:
        yield local.scheduler_address


def sizes_of_tasks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs each task has, from now on; tasks may take as long as they want."""
    sizes: list[int] = []
    honest = cluster._Computation._submitted

    def watched(self: cluster._Computation, batch: list[Job]) -> object:
        sizes.append(len(batch))
        return honest(self, batch)

    monkeypatch.setattr(cluster._Computation, "_submitted", watched)
    monkeypatch.setattr(cluster, "BATCH_S", 1e9)
    return sizes


@pytest.mark.filterwarnings("ignore")  # Dask's own, from starting and stopping
def test_a_task_is_a_batch_of_short_runs(study: Path, tmp_path: Path, monkeypatch) -> None:
    sizes = sizes_of_tasks(monkeypatch)
    with one_thread() as address:
        run_study(study, StudyOptions(out=tmp_path / "out", cluster=address))
    # Nobody knows at first how long a run takes; at the end all workers are to be busy.
    assert sizes == [1, 1, 2, 1, 1]


@pytest.mark.filterwarnings("ignore")  # Dask's own, from starting and stopping
def test_a_run_that_fails_is_named_and_the_others_of_its_batch_are_kept(
    study: Path, tmp_path: Path, monkeypatch
) -> None:
    jobs = prepare(study, StudyOptions(out=tmp_path / "plan")).jobs
    last, honest = jobs[-1], cluster.simulate

    def failing(run: Run) -> Record:
        if run == last.run:
            raise ValueError("out of ideas")
        return honest(run)

    monkeypatch.setattr(cluster, "simulate", failing)
    monkeypatch.setattr(cluster._Computation, "_size", lambda self, _: min(3, self.most))
    out = tmp_path / "out"
    with one_thread() as address, pytest.raises(SkyweaveError, match=f"run {last.key} failed"):
        run_study(study, StudyOptions(out=out, cluster=address))
    assert len(list((out / "records").iterdir())) == len(jobs) - 1


def test_a_cluster_that_is_not_there(study: Path, tmp_path: Path, monkeypatch) -> None:
    def absent(*_args: object, **_options: object) -> None:
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", absent)
    with pytest.raises(ConfigError, match="no Dask scheduler answers there"):
        run_study(study, StudyOptions(out=tmp_path / "out", cluster="tcp://127.0.0.1:1"))


def test_jobs_and_cluster_contradict_each_other(study: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--jobs is for runs on this machine"):
        run_study(study, StudyOptions(out=tmp_path / "out", cluster="tcp://x:1", jobs=2))


def test_workers_of_another_build_are_refused() -> None:
    class Other:
        def run(self, _function: object) -> dict[str, str]:
            return {"tcp://w:1": "0.0.1+beef"}

    with pytest.raises(ConfigError, match=r"worker tcp://w:1 has Skyweave 0\.0\.1\+beef, but"):
        cluster._check_versions(Other(), "tcp://x:1", "0.1.0+cafe")


def test_a_worker_that_answers_with_too_few_records_is_no_traceback() -> None:
    class Short:
        def result(self) -> cluster.Made:
            return cluster.Made([], cluster.build(), 0.1)

    batch = [SimpleNamespace(key="one"), SimpleNamespace(key="two")]
    computation = cluster._Computation(None, "tcp://x:1", [], print)
    with pytest.raises(SkyweaveError, match="Run one, two: a worker answered with 0 records for 2"):
        computation._records(Short(), batch, False)


def test_records_come_straight_from_workers_that_accept_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as open_one, socket.socket() as closed_one:
        closed_one.bind(("127.0.0.1", 0))  # nobody listens there
        reachable, other = (
            f"tcp://127.0.0.1:{one.getsockname()[1]}" for one in (open_one, closed_one)
        )
        assert cluster.are_reachable([reachable])
        assert not cluster.are_reachable([reachable, other])
    assert not cluster.are_reachable(["inproc://192.0.2.1/4/1"])


WORKER = """
import time
from pathlib import Path

from skyweave.engine.simulator import simulate as honest
from skyweave.study.run import cluster

GO = Path({go!r})


def when_told(run):
    while not GO.exists():
        time.sleep(0.01)
    return honest(run)


cluster.simulate = when_told
"""
PRETENDER = """
import dataclasses

from skyweave.engine.simulator import simulate as honest
from skyweave.study.run import cluster

cluster.build = lambda: "0.0.1+beef 12345678"
cluster.simulate = {simulate}
"""
OTHERWISE = "lambda run: dataclasses.replace(honest(run), totals={})"
FAILING = "lambda run: 1 / 0"


@contextmanager
def worker(address: str, preload: Path, text: str) -> Iterator[None]:
    """A worker of one thread in a process of its own, which runs ``text`` first."""
    preload.write_text(text)
    words = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--preload", str(preload)]
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


class Late(StudyObserver):
    """After the first run the honest worker halts and another joins; a note lets it go on."""

    def __init__(self, go: Path, joins: Callable[[], None]) -> None:
        self.notes: list[str] = []
        self.go, self.joins = go, joins

    def finished(self, job: Job) -> None:
        if not self.notes and self.go.exists():
            self.go.unlink()
            self.joins()

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self.go.touch()


@pytest.mark.filterwarnings("ignore")  # Dask's own, from starting and stopping processes
@pytest.mark.parametrize("simulate", [OTHERWISE, FAILING])
def test_a_worker_of_another_build_that_joins_late_is_not_believed(
    study: Path, tmp_path: Path, simulate: str
) -> None:
    run_study(study, StudyOptions(out=tmp_path / "local", jobs=1))
    go = tmp_path / "go"
    go.touch()
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as local,
        distributed.Client(local) as client,
        ExitStack() as stack,
    ):
        address = local.scheduler_address
        stack.enter_context(worker(address, tmp_path / "honest.py", WORKER.format(go=str(go))))
        client.wait_for_workers(1)

        def joins() -> None:
            pretender = PRETENDER.format(simulate=simulate)
            stack.enter_context(worker(address, tmp_path / "pretender.py", pretender))
            client.wait_for_workers(2)

        seen = Late(go, joins)
        run_study(study, StudyOptions(out=tmp_path / "cluster", cluster=address), seen)
    assert seen.notes
    if simulate == OTHERWISE:
        assert re.fullmatch(
            r"Run \w+(, \w+)*: made by Skyweave 0\.0\.1\+beef 12345678, not .*; done again\.",
            seen.notes[0],
        )
    assert tree(tmp_path / "cluster") == tree(tmp_path / "local")
