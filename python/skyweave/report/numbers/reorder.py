"""Head-of-line blocking: bytes that came and wait at the receiver for earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from skyweave.model.record import Record
from skyweave.report.numbers.metrics import Values

_OF_CONNECTIONS = (
    "in_order_wait_mean_ms", "in_order_wait_p50_ms", "in_order_wait_p99_ms",
    "in_order_wait_longest_ms", "frozen_s",
)  # fmt: skip


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


def in_order_waits(connections: Sequence[Any]) -> dict[str, Values]:
    """Return arrays of one value, or of none where an engine does not tell.

    Of several connections the largest; ``loss_wait_ms`` is the mean over the bytes of all of them
    of the time that a byte waited for a segment on the path that had brought it.
    """
    found = {name: _largest([one.get(name) for one in connections]) for name in _OF_CONNECTIONS}
    own = [
        path.get("blocked_own_byte_s")
        for one in connections
        for path in one.get("paths", {}).values()
    ]
    loss_ms = _per_byte_ms(connections, own)
    return {**found, "loss_wait_ms": np.empty(0) if loss_ms is None else np.array([loss_ms])}


def blocking(connections: Sequence[Any], name: str) -> dict[str, float]:
    """Return ``blocking_ms`` and ``blocking_share`` of a path, as far as they are known.

    The mean time that a byte waited for a segment on this path after another path had brought it,
    and what that is of the waits of all bytes, whatever they waited for (0 to 1).
    """
    paths = [path for one in connections for path in one.get("paths", {}).items()]
    here = [path.get("blocked_others_byte_s") for other, path in paths if other == name]
    mean_ms = _per_byte_ms(connections, here)
    if mean_ms is None:
        return {}
    keys = ("blocked_others_byte_s", "blocked_own_byte_s")
    whole = sum(path.get(key) or 0.0 for _, path in paths for key in keys)
    share = {"blocking_share": sum(here) / whole} if whole else {}
    return {"blocking_ms": mean_ms, **share}


def _per_byte_ms(connections: Sequence[Any], byte_s: list[Any]) -> float | None:
    delivered = float(sum(one.get("delivered_bytes") or 0 for one in connections))
    if not byte_s or None in byte_s or not delivered:
        return None
    return float(sum(byte_s)) / delivered * 1e3


def _largest(values: list[float | None]) -> Values:
    told = [value for value in values if value is not None]
    return np.array([max(told)]) if told else np.empty(0)
