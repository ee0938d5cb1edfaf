"""Control groups of a run: limits, freezing and ending all of its processes at once.

Each controller is taken from cgroup v2 where it is available there, else from v1. Freezing and
killing are in every v2 hierarchy. What neither has is left to rlimits, and the record says so.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.wire import Limits

CONTROLLERS = ("memory", "pids", "cpu", "freezer")
PERIOD_US = 100_000
_LOOK_S, _GONE_S = 0.002, 10.0
Version = Literal["v1", "v2"]


@dataclass(frozen=True)
class Hierarchy:
    """Where groups can be made, and of which controllers."""

    folder: Path
    version: Version
    controllers: tuple[str, ...]


@dataclass
class Groups:
    """What this machine has; ``mark`` keeps several nodes of a machine apart."""

    mark: str
    hierarchies: tuple[Hierarchy, ...]
    missing: tuple[str, ...] = field(init=False)
    """Controllers that are in no hierarchy."""

    def __post_init__(self) -> None:
        have = {name for one in self.hierarchies for name in one.controllers}
        self.missing = tuple(name for name in CONTROLLERS if name not in have)

    @classmethod
    def found(cls, mark: str, mounts: str | None = None) -> Groups:
        """Find out what may be used here by making a group and taking it away again."""
        text = Path("/proc/self/mounts").read_text() if mounts is None else mounts
        lines = [line.split() for line in text.splitlines()]
        second = [Path(one[1]) for one in lines if len(one) > 3 and one[2] == "cgroup2"]
        first = {
            name: Path(one[1])
            for one in lines
            if len(one) > 3 and one[2] == "cgroup"
            for name in one[3].split(",")
            if name in CONTROLLERS
        }
        have: list[Hierarchy] = []
        for place in second[:1]:
            controllers = _of_second(place)
            if controllers:
                have.append(Hierarchy(place, "v2", controllers))
        left = [name for name in first if not any(name in one.controllers for one in have)]
        have += [
            Hierarchy(place, "v1", tuple(name for name in left if first[name] == place))
            for place in sorted({first[name] for name in left})
            if _may_make(place)
        ]
        return cls(mark, tuple(have))

    @property
    def words(self) -> str:
        """What there is, for records: ``cgroup v2 (freezer), v1 (cpu, memory, pids)``."""
        said = []
        for version in ("v2", "v1"):
            names = sorted(
                name for one in self.hierarchies if one.version == version
                for name in one.controllers
            )  # fmt: skip
            if names:
                said.append(f"{version} ({', '.join(names)})")
        return f"cgroup {', '.join(said)}" if said else "rlimits"

    def sweep(self) -> int:
        """End and remove the groups of all runs; return how many there were."""
        names = {
            found.name
            for one in self.hierarchies
            for found in one.folder.glob(f"skyweave-{self.mark}-*")
        }
        for name in names:
            Group(self, name).close()
        return len(names)

    def make(self, run: str, limits: Limits) -> Group:
        """Make the group of a run; :class:`TestbedError` if the kernel refuses a limit."""
        group = Group(self, f"skyweave-{self.mark}-{run}")
        try:
            group.create(limits)
        except OSError as error:
            group.close()
            raise TestbedError(
                f"no control group could be made ({error.strerror}: {error.filename})"
            ) from None
        return group


class Group:
    """The group of one run, in one hierarchy or several."""

    def __init__(self, groups: Groups, name: str) -> None:
        self._parts = [(one, one.folder / name) for one in groups.hierarchies]

    def create(self, limits: Limits) -> None:
        """Make it, with its limits."""
        for hierarchy, folder in self._parts:
            folder.mkdir(exist_ok=True)
            for name, text in _limits(hierarchy, limits):
                (folder / name).write_text(text)

    def add(self, pid: int) -> None:
        """Put a process in; its children will be there, too."""
        for _, folder in self._parts:
            (folder / "cgroup.procs").write_text(str(pid))

    def processes(self) -> list[int]:
        """Return who is in it."""
        found: set[int] = set()
        for _, folder in self._parts:
            with contextlib.suppress(OSError):
                found |= {int(one) for one in (folder / "cgroup.procs").read_text().split()}
        return sorted(found - {0})

    def freeze(self, frozen: bool) -> Callable[[], None]:
        """Tell all to stand still, or to go on; what it returns waits until they do.

        Where there is no freezer, every process is sent a signal instead.
        """
        for hierarchy, folder in self._parts:
            if "freezer" not in hierarchy.controllers:
                continue
            if hierarchy.version == "v2":
                (folder / "cgroup.freeze").write_text(str(int(frozen)))
                said = partial(_says, folder / "cgroup.events", f"frozen {int(frozen)}")
            else:
                word = "FROZEN" if frozen else "THAWED"
                (folder / "freezer.state").write_text(word)
                said = partial(_says, folder / "freezer.state", word)
            return partial(_until, said)
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP if frozen else signal.SIGCONT)
        return lambda: None

    def close(self) -> None:
        """Kill all that are in it, wait until they are gone, remove it."""
        for hierarchy, folder in self._parts:
            if hierarchy.version == "v2" and folder.exists():
                with contextlib.suppress(OSError):
                    (folder / "cgroup.kill").write_text("1")
        _until(self._is_empty)
        for _, folder in self._parts:
            _until(partial(_removed, folder))

    def _is_empty(self) -> bool:
        there = self.processes()
        for pid in there:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for hierarchy, folder in self._parts:  # v1: the frozen die when they thaw
            if there and "freezer" in hierarchy.controllers and hierarchy.version == "v1":
                with contextlib.suppress(OSError):
                    (folder / "freezer.state").write_text("THAWED")
        return not there


def _of_second(place: Path) -> tuple[str, ...]:
    """Return which controllers groups below a v2 root can have; freezing needs none."""
    if not _may_make(place):
        return ()
    have = []
    for name in _said(place / "cgroup.controllers").split():
        if name in CONTROLLERS:
            with contextlib.suppress(OSError):
                (place / "cgroup.subtree_control").write_text(f"+{name}")
                have.append(name)
    return (*have, "freezer")


def _may_make(place: Path) -> bool:
    probe = place / f"skyweave-probe-{os.getpid()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:  # mounted read-only, as in many containers, or not ours
        return False
    return True


def _limits(hierarchy: Hierarchy, limits: Limits) -> list[tuple[str, str]]:
    """Return the files of a group and what to write there."""
    second, have = hierarchy.version == "v2", hierarchy.controllers
    quota = max(1000, int(limits.cpu_share * PERIOD_US))
    wanted: list[tuple[str, str]] = []
    if "memory" in have and second:
        wanted += [("memory.max", str(limits.memory_bytes)), ("memory.swap.max", "0")]
    elif "memory" in have:
        wanted.append(("memory.limit_in_bytes", str(limits.memory_bytes)))
    if "pids" in have:
        wanted.append(("pids.max", str(limits.processes)))
    if "cpu" in have and second:
        wanted.append(("cpu.max", f"{quota} {PERIOD_US}"))
    elif "cpu" in have:
        wanted += [("cpu.cfs_period_us", str(PERIOD_US)), ("cpu.cfs_quota_us", str(quota))]
    return wanted


def _said(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


def _says(file: Path, line: str) -> bool:
    return line in _said(file).splitlines()


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:  # a process that ends is not yet gone
        return False
    return True


def _until(holds: Callable[[], bool]) -> None:
    """Look until something holds; :class:`TestbedError` after ten seconds."""
    end = time.monotonic() + _GONE_S
    while not holds():
        if time.monotonic() > end:
            raise TestbedError(
                f"processes of a run do not obey after {_GONE_S:g} s; look at them by hand"
            )
        time.sleep(_LOOK_S)
