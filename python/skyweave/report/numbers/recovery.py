"""How long a path stays unused after an outage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from skyweave.model.record import Record
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.ramp import lasted_s

DATA_BYTES = 2500
"""More than the probes of half a second; a packet of data and what acknowledges it."""
PATIENCE_S = 3.0
"""Outages that end later than this before the end of the run say nothing."""


def recoveries_s(record: Record, paths: list[Mapping[str, Any]], direction: str) -> Values:
    """Return, for each outage of a path, seconds from its end until the path has carried data.

    Counted are bytes that the sender of the first connection learned to be delivered, at the
    samples of the record: the true value is up to one sample interval smaller. Infinite where the
    run ended before that.
    """
    end_s = lasted_s(record)
    found = []
    for path in paths:
        own = record.samples.filter((pl.col("path") == path["name"]) & (pl.col("connection") == 0))
        times = own["time_s"].to_numpy()
        delivered = own["delivered_bytes"].fill_null(0.0).to_numpy()
        for outage in path[direction]["outages"]:
            back_s = float(outage["end_s"])
            before = delivered[times <= back_s]
            if back_s + PATIENCE_S > end_s or len(before) == 0:
                continue
            used = times[(times > back_s) & (delivered >= before[-1] + DATA_BYTES)]
            found.append(used[0] - back_s if len(used) else np.inf)
    return np.array(found)
