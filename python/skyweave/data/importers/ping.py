"""Ping logs, as round trips of one path that is called as the file: :mod:`skyweave.data.pings`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from skyweave.data.importers.base import read_text
from skyweave.data.pings import answers, has_clock, is_plain, lost, plain_answers
from skyweave.model.drive import Drive, PathTrace, Series


def sniff(_path: Path, head: str) -> bool:
    """An answer among the first lines."""
    return has_clock(head) or is_plain(head)


def load(path: Path) -> list[Drive]:
    """One drive with ``rtt_ms``: at the moment each probe was sent, NaN where no answer came.

    Plain ping has no clock: its drive has no start, and its probes count as a second apart.
    """
    text = read_text(path)
    found = answers(text)
    clocked = bool(found)
    found = found or plain_answers(text)
    if not found:
        raise text.bad(1, "no ping answer in this log", "the test failed: use another")
    missing = lost(found)
    times = np.array([time for time, _, _ in found] + missing)
    values = np.array([rtt for _, _, rtt in found] + [np.nan] * len(missing))
    times_s, first = np.unique(times, return_index=True)
    share = len(missing) / len(times)
    said = f"ping, {len(found)} answers, {share:.1%} of the probes lost"
    if not clocked:
        said += "; without a clock (log with 'ping -D')"
    stem = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    return [
        Drive(
            name=stem,
            origin=path.name,
            paths={stem: PathTrace(rtt_ms=Series(times_s - times_s[0], values[first]))},
            start=datetime.fromtimestamp(float(times_s[0]), UTC) if clocked else None,
            notes=(said,),
        )
    ]
