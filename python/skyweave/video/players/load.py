"""Processor time of a player and of the machine: a player that is starved drops pictures."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")


class Load:
    """Processor time of a process with its descendants and of the machine, since it was made."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._began = time.monotonic()
        self._machine = _machine()
        self._own: dict[int, float] = {}
        self._lateness_ms: list[float] = []

    def look(self, late_s: float) -> None:
        """Read the counters; what a process that ends used since the last look is lost.

        ``late_s``: how much later than it had asked for the caller was woken.
        """
        self._lateness_ms.append(1e3 * late_s)
        self._own.update(_descendants(self._process))

    def summary(self) -> dict[str, Any]:
        """Return seconds and shares: the player's of one core, the machine's of all of them."""
        passed = max(time.monotonic() - self._began, 1e-3)
        busy, total = (now - then for now, then in zip(_machine(), self._machine, strict=True))
        used = sum(self._own.values())
        late = sorted(self._lateness_ms) or [0.0]
        return {
            "cores": len(os.sched_getaffinity(0)),
            "nice": os.getpriority(os.PRIO_PROCESS, 0),
            "player_s": round(used, 2),
            "player_share": round(used / passed, 4),
            "machine_share": round(busy / max(total, 1e-3), 4),
            "lateness_p50_ms": round(late[len(late) // 2], 2),
            "lateness_p99_ms": round(late[(len(late) - 1) * 99 // 100], 2),
            "lateness_max_ms": round(late[-1], 2),
        }


def _machine() -> tuple[float, float]:
    """Return the seconds that all cores worked, and those that passed on them (proc(5), stat)."""
    words = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    times = [int(word) / _TICKS for word in words]
    idle = times[3] + times[4]
    return sum(times) - idle, sum(times)


def _descendants(process: int) -> dict[int, float]:
    """Return the processor seconds of a process and of all that descend from it."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name in parentheses may hold anything; the fields after it do not.
            fields = stat.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        child = int(stat.parent.name)
        parents[child] = int(fields[1])
        used[child] = (int(fields[11]) + int(fields[12])) / _TICKS
    own = {process}
    while more := {child for child, parent in parents.items() if parent in own} - own:
        own |= more
    return {one: used[one] for one in own if one in used}
