"""Runs in parallel threads: the engines release the GIL, so threads use all cores."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from types import FrameType
from typing import Any

from skyweave.errors import Interrupted, SkyweaveError
from skyweave.model.record import Engine, Record
from skyweave.study.compile.expand import Job

Keep = Callable[[str, Record], None]
Done = Callable[[Job], None]
"""Called with each finished job, from the thread that called."""


def run_all(
    jobs: list[Job], engine: Engine, keep: Keep, done: Done, threads: int, facts: dict[str, Any]
) -> None:
    """Run each job and ``keep`` its record with ``facts`` added to the provenance.

    After an error or Ctrl-C nothing new begins, and the runs under way are finished and kept;
    a second Ctrl-C gives them up. Raises the first error, or :class:`Interrupted`.
    """
    pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="run")
    failed = threading.Event()
    futures: set[Future[Job | None]] = set()
    try:
        with _ctrl_c() as pressed:
            for job in jobs:
                futures.add(pool.submit(_unless, failed, partial(_one, job, engine, keep, facts)))
            _watch(futures, done, pressed)
    except KeyboardInterrupt as error:
        _stop(pool)
        raise Interrupted(
            "stopped; finished runs are kept: give the same command again to continue"
        ) from error
    except BaseException:  # raised again below: what is under way is kept before it goes on
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown(wait=True)


def _unless(failed: threading.Event, work: Callable[[], Job]) -> Job | None:
    """Do the work of a run, unless one before has failed: a thread is quicker than its pool."""
    if failed.is_set():
        return None
    try:
        return work()
    except BaseException:
        failed.set()
        raise


@contextlib.contextmanager
def _ctrl_c() -> Iterator[threading.Event]:
    """Note Ctrl-C as well as raise it: Python drops what is raised in a finaliser.

    A handler that somebody else installed is left alone.
    """
    pressed = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        pressed.set()
        signal.default_int_handler(number, frame)

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield pressed
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _watch(futures: set[Future[Job | None]], done: Done, pressed: threading.Event) -> None:
    """Report runs as they finish; raise the first error, or KeyboardInterrupt once ``pressed``."""
    pending = futures
    while pending:
        if pressed.is_set():
            raise KeyboardInterrupt
        finished, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in finished:
            if (job := future.result()) is not None:
                done(job)


def _stop(pool: ThreadPoolExecutor) -> None:
    """Begin nothing new and let the runs under way finish, unless Ctrl-C comes again."""
    try:
        pool.shutdown(wait=True, cancel_futures=True)
    except KeyboardInterrupt as error:
        raise Interrupted(
            "stopped at once; finished runs are kept: give the same command again to continue"
        ) from error


def _one(job: Job, engine: Engine, keep: Keep, facts: dict[str, Any]) -> Job:
    """Run one job and keep its record; return the job."""
    try:
        record = engine(job.run)
    except SkyweaveError:
        raise
    except Exception as error:
        what = f"{job.labels['paths']} {job.labels['direction']} on {job.labels['drive']}"
        raise SkyweaveError(
            f"run {job.key} ({what}) failed: {error}; finished runs are kept: "
            "give the same command again when the cause is gone"
        ) from error
    keep(job.key, complete(record, job, facts))
    return job


def complete(record: Record, job: Job, facts: dict[str, Any]) -> Record:
    """Return a record with everything in its provenance that is needed to make it again."""
    provenance = {
        **record.provenance,
        **facts,
        "seed": job.run.seed,
        "run": job.run.model_dump(mode="json"),
    }
    return dataclasses.replace(record, provenance=provenance)
