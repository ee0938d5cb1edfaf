"""Quantities of the paths of a run: what was sent again on each, and its congestion window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from skyweave.model.record import Record
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.reorder import blocking


def of_paths(record: Record, names: Sequence[str]) -> dict[str, Values]:
    """Return ``QUANTITY@PATH``, and ``QUANTITY@PATH/OTHER`` as a ratio: arrays of one value.

    ``retransmissions`` are packets of all connections, ``retransmission_rate`` of those sent there
    (0 to 1); ``cwnd`` is the mean and ``cwnd_sd`` the standard deviation of the sampled congestion
    windows of the first connection, in packets, while the path has a subflow; ``blocking_ms`` and
    ``blocking_share``: :func:`skyweave.report.numbers.reorder.blocking`. A ratio to nothing is
    infinite; one of nothing to nothing and what an engine does not report are left out.
    """
    found: dict[str, dict[str, float]] = {}
    for name in names:
        for quantity, value in _of(record, name).items():
            found.setdefault(quantity, {})[name] = value
    values = {
        f"{quantity}@{name}": value
        for quantity, each in found.items()
        for name, value in each.items()
    }
    for quantity, each in found.items():
        for name, value in each.items():
            for other, base in each.items():
                if other != name and (value or base):
                    values[f"{quantity}@{name}/{other}"] = value / base if base else np.inf
    return {name: np.array([value]) for name, value in values.items()}


def _of(record: Record, name: str) -> dict[str, float]:
    totals = [c.get("paths", {}).get(name) for c in record.totals["connections"]]
    told = [one for one in totals if one is not None]
    found: dict[str, float] = {}
    again = _sum([one["retransmitted_packets"] for one in told])
    sent = _sum([one["sent_packets"] for one in told])
    if again is not None:
        found["retransmissions"] = again
        if sent:
            found["retransmission_rate"] = again / sent
    found |= blocking(record.totals["connections"], name)
    own = (pl.col("connection") == 0) & (pl.col("path") == name)
    windows = record.samples.filter(own & (pl.col("cwnd_packets") > 0))["cwnd_packets"].to_numpy()
    if len(windows):
        found |= {"cwnd": float(windows.mean()), "cwnd_sd": float(windows.std())}
    return found


def _sum(values: Sequence[float | None]) -> float | None:
    """Return a sum; ``None`` where an engine does not report it."""
    told = [value for value in values if value is not None]
    return float(sum(told)) if told and len(told) == len(values) else None
