"""Memory, descriptors and processor time of both ends, and packets, over time."""

from __future__ import annotations

import csv
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from place import Program

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Row:
    """One reading of one process."""

    time_s: float
    program: str
    rss_kib: int
    descriptors: int
    cpu_s: float
    packets: int
    """Sent and received on the paths by its side of the world, since the world began."""


class Meters:
    """Readings, kept and written as they come."""

    def __init__(self, path: Path) -> None:
        self.rows: list[Row] = []
        self._file = path.open("w", newline="")
        self._out = csv.writer(self._file)
        self._out.writerow([one.name for one in fields(Row)])

    def read(self, now_s: float, program: Program) -> None:
        """Read a program, unless it has just ended."""
        if program.pid is None:
            return
        try:
            row = _row(now_s, program, Path("/proc", str(program.pid)))
        except (OSError, IndexError, ValueError):
            return
        self.rows.append(row)
        self._out.writerow(asdict(row).values())
        self._file.flush()


def _row(now_s: float, program: Program, entry: Path) -> Row:
    # The name of a process, in brackets, may have spaces in it.
    stat = (entry / "stat").read_text().rpartition(")")[2].split()
    rss_kib = int((entry / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    descriptors = len(list((entry / "fd").iterdir()))
    cpu_s = (int(stat[11]) + int(stat[12])) / _TICKS
    packets = 0
    for line in (entry / "net/dev").read_text().splitlines()[2:]:
        name, _, numbers = line.partition(":")
        if name.strip() != "lo":
            columns = numbers.split()
            packets += int(columns[1]) + int(columns[9])
    return Row(round(now_s, 2), program.mark, rss_kib, descriptors, cpu_s, packets)
