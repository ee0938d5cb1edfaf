"""Quantities of films: what the viewers of a run saw."""

from __future__ import annotations

import numpy as np
import polars as pl

from skyweave.model.record import Record
from skyweave.report.numbers.metrics import Values


def playback_quantities(record: Record) -> dict[str, Values]:
    """Return arrays of one value, or of none where a run has no such number.

    Of all players of a run: ``discarded`` pictures, ``underflows``, ``stall_s`` and ``switches``
    are sums, and so are the parts of the stall in which data waited for a segment on a slower path
    (``stall_blocked_s``) or for one that their own path had lost (``stall_loss_s``);
    ``startup_s`` (infinite for a film that never began), ``played_mbps`` (mean nominal
    bitrate of the chunks that came) and ``qoe`` are means. ``delivered_at_mb``: megabytes (10^6)
    that had come when so much time as the film lasts had passed since the request. A run in which
    a player does not tell a number has none.
    """
    video, adaptive = record.application.get("video"), record.application.get("adaptive")
    sessions = [*_sessions(video), *_sessions(adaptive)]
    films, streams = _sessions(video), _sessions(adaptive)
    return {
        "discarded": _sum([_last(one, "discarded") for one in films]),
        "underflows": _sum([_last(one, "underflows") for one in sessions]),
        "stall_s": _sum([_last(one, "stall_s") for one in sessions]),
        "stall_blocked_s": _sum([_last(one, "stall_blocked_s") for one in sessions]),
        "stall_loss_s": _sum([_last(one, "stall_loss_s") for one in sessions]),
        "startup_s": _mean([_startup_s(one) for one in sessions]),
        "played_mbps": _mean([_played_mbps(one) for one in streams]),
        "switches": _sum([_last(one, "switches") for one in streams]),
        "qoe": _mean([_last(one, "qoe") for one in streams]),
        "delivered_at_mb": _sum([_delivered_mb(one) for one in films]),
    }


def _sessions(table: pl.DataFrame | None) -> list[pl.DataFrame]:
    """Return the rows of each player; none without a table."""
    return [] if table is None else table.partition_by("connection", maintain_order=True)


def _last(session: pl.DataFrame, column: str) -> float | None:
    """Return the last value that a player told; ``None`` if it told none."""
    if column not in session.columns:  # a record of an earlier version
        return None
    told = session[column].drop_nulls()
    return float(told[-1]) if len(told) else None


def _startup_s(session: pl.DataFrame) -> float:
    playing = session.filter(pl.col("event") == "playing")["time_s"]
    return float(playing[0] - session["time_s"][0]) if len(playing) else float(np.inf)


def _played_mbps(session: pl.DataFrame) -> float | None:
    """Return the mean bitrate of the chunks that came; of a player that does not tell them, that of
    the samples in which it played."""
    if session["chunk"].null_count() < len(session):
        came = session.filter(pl.col("event") == "response")["bitrate_mbps"].to_numpy()
        return float(came.mean()) if len(came) else 0.0
    moves = session["position_s"].diff() > 0
    shown = session.filter(moves.fill_null(False))["bitrate_mbps"].drop_nulls()
    return float(shown.to_numpy().mean()) if len(shown) else None


def _delivered_mb(session: pl.DataFrame) -> float | None:
    film_s = _last(session, "film_s")
    if film_s is None:
        return None
    end_s = session["time_s"][0] + film_s
    by_then = session.filter(pl.col("time_s") <= end_s + 1e-6)
    return float(by_then["received_bytes"][-1]) / 1e6


def _sum(values: list[float | None]) -> Values:
    told = [value for value in values if value is not None]
    return np.array([sum(told)]) if told and len(told) == len(values) else np.empty(0)


def _mean(values: list[float | None]) -> Values:
    total = _sum(values)
    return total / len(values) if total.size else total
