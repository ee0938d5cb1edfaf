"""Fitting the round trips of a preset to measured pings.

A second's round trip is the median of the pings sent in it; seconds without an answer are unknown
and never filled. The rest is what :mod:`skyweave.synthesis.calibration` does with downlinks: a
quantile table, the share of the latent that is redrawn at slot edges, and AR(1) parts that follow
the autocorrelation. Nothing random takes part.
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from skyweave.data.metrics import autocorrelation, quantiles
from skyweave.errors import DataError
from skyweave.model import limits
from skyweave.model.drive import Series, Values
from skyweave.synthesis.calibration import LAGS, dynamics_of, shape_of
from skyweave.synthesis.copula import latent_correlation
from skyweave.synthesis.preset import Point, Quantity
from skyweave.synthesis.slotfit import slot_weight_of

TABLE = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1)


def seconds_of(times_unix_s: Values, rtt_ms: Values) -> tuple[Series, datetime]:
    """Return the median round trip in ms of each second of UTC, NaN without an answer.

    Times rise; a round trip that is not finite is an unanswered ping. Both have shape (n,).
    """
    answered = np.isfinite(rtt_ms)
    if answered.sum() < 2:
        raise DataError("fewer than two pings were answered; give a longer series")
    at = np.floor(times_unix_s[answered]).astype(np.int64)
    count = limits.checked(int(at[-1] - at[0]) + 1, "pings from first to last, a second each")
    filled, first = np.unique(at, return_index=True)
    values = np.full(count, np.nan)
    for second, part in zip(filled, np.split(rtt_ms[answered], first[1:]), strict=True):
        values[second - at[0]] = np.median(part)
    return Series(np.arange(count, dtype=float), values), datetime.fromtimestamp(int(at[0]), UTC)


def fit_rtt(times_unix_s: Values, rtt_ms: Values, source: str, coupling: float = 0.0) -> Quantity:
    """Return round trips that are distributed and move as those of pings (see :func:`seconds_of`).

    ``source`` is said beside each number; ``coupling`` with the downlink is not measured here.
    """
    series, start = seconds_of(times_unix_s, rtt_ms)
    known = quantiles(series.values, [100 * p for p in TABLE])
    table = tuple(
        Point(p=p, value=round(value, 1), source=source)
        for p, value in zip(TABLE, known.tolist(), strict=True)
    )
    shape = shape_of(table)
    wanted: Values = latent_correlation(autocorrelation([series.values], LAGS), shape, shape)
    weight = slot_weight_of([(series, start)], 1 - float(wanted[0]))
    return Quantity(
        quantiles=table, dynamics=dynamics_of(wanted, weight, source), coupling=coupling
    )
