"""The results folder of a study: its frozen plan, its lock and its records."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skyweave.errors import DamagedError, ResultsError
from skyweave.model.files import write_whole
from skyweave.model.record import FACTS, Record, verify
from skyweave.model.sealed import read_sealed, sealed

PLAN_FILE = "plan.json"
RECORDS = "records"
LOCK = ".lock"


class Store:
    """A results folder; nothing in it is ever half-written."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.records = out / RECORDS

    def prepare(self) -> None:
        """Create the folder and see that it can be written, before anything runs."""
        try:
            self.records.mkdir(parents=True, exist_ok=True)
            probe = self.out / f".probe-{os.getpid()}"
            probe.write_text("")
            probe.unlink()
        except OSError as error:
            raise ResultsError(
                f"--out {self.out}: cannot be written ({error.strerror}); choose another folder"
            ) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for this process; the lock goes with the process, however it dies."""
        with (self.out / LOCK).open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise ResultsError(
                    f"--out {self.out}: another skyweave is running a study in it; "
                    "wait for it, or choose another folder"
                ) from error
            yield

    def adopt(self, frozen: dict[str, Any], restart: bool) -> None:
        """Make ``frozen`` the plan of this folder and clear away what dead runs left.

        Raises :class:`ResultsError` when the folder holds results of another plan, unless
        ``restart`` is given: then the records of the plan it holds, and nothing else, go.
        """
        held = self.plan() if (self.out / PLAN_FILE).exists() else None
        if held is not None and restart:
            for key in _keys(held):
                shutil.rmtree(self.records / key, ignore_errors=True)
        elif held is not None and held["plan_hash"] != frozen["plan_hash"]:
            raise ResultsError(
                f"--out {self.out}: holds results of {_who(held)}, but this is {_who(frozen)}; "
                "give another --out, or --restart to delete the old records"
            )
        for draft in self.records.glob(".*.draft-*"):
            shutil.rmtree(draft, ignore_errors=True)
        write_whole(self.out / PLAN_FILE, sealed(frozen))

    def plan(self) -> dict[str, Any]:
        """Return the frozen plan; raise :class:`ResultsError` when there is none to read."""
        try:
            plan = read_sealed(self.out / PLAN_FILE)
        except DamagedError as error:
            if not (self.out / PLAN_FILE).exists():
                raise ResultsError(
                    f"{self.out}: holds no results (no {PLAN_FILE}); "
                    "run a study first: skyweave run STUDY --out OUT"
                ) from error
            raise ResultsError(
                f"{error.file}: cannot be read ({error.why}); give another --out, or move that "
                "file away and run the study again: finished runs are kept"
            ) from error
        return plan

    def has(self, key: str) -> bool:
        """Tell whether this run is finished."""
        return (self.records / key / FACTS).is_file()

    def damaged(self, keys: Iterable[str]) -> dict[str, Path]:
        """Return which finished runs are not what was written, with the first file found so."""
        found = {}
        for key in keys:
            try:
                verify(self.records / key)
            except DamagedError as error:
                found[key] = error.file
        return found

    def keep(self, key: str, record: Record) -> None:
        """Write a finished run, whole or not at all, in place of a damaged one if there is one."""
        shutil.rmtree(self.records / key, ignore_errors=True)
        try:
            record.write(self.records / key)
        except OSError as error:
            raise ResultsError(
                f"{self.records}: cannot be written ({error.strerror}); finished runs are kept: "
                "make room and give the same command again"
            ) from error

    def missing(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that are not finished, each once, in order."""
        return [key for key in dict.fromkeys(keys) if not self.has(key)]


def _keys(plan: dict[str, Any]) -> set[str]:
    """Return the keys of a frozen plan that are names of records and nothing else."""
    keys = {str(run["key"]) for run in plan["runs"]}
    return {key for key in keys if key.isalnum()}


def _who(plan: dict[str, Any]) -> str:
    name = plan.get("plan", {}).get("study", {}).get("name", "?")
    return f"'{name}' (plan {plan['plan_hash']}, code {plan.get('code_version', '?')})"
