"""Head-of-line blocking: bytes that came and wait at the receiver for earlier ones."""

from __future__ import annotations

import numpy as np
import polars as pl

from skyweave.model.record import Record
from skyweave.report.numbers.metrics import Values


def reorder_quantities(record: Record) -> dict[str, Values]:
    """Return arrays of one value, of the first connection; of none where an engine does not tell.

    ``reorder_mean_mb`` and ``reorder_max_mb`` (10^6 bytes) are those of the sampled reorder buffer.
    """
    own = record.samples.filter((pl.col("connection") == 0) & (pl.col("path") == ""))
    waiting = own["reorder_buffer_bytes"].drop_nulls().to_numpy() / 1e6
    if not len(waiting):
        return {"reorder_mean_mb": np.empty(0), "reorder_max_mb": np.empty(0)}
    return {
        "reorder_mean_mb": np.array([waiting.mean()]),
        "reorder_max_mb": np.array([waiting.max()]),
    }
