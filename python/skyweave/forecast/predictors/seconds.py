"""A measured series in whole seconds: what predictors learn from and are judged by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyweave.errors import DataError
from skyweave.forecast.measurement import Kind, Measurement
from skyweave.forecast.split import stretches
from skyweave.model.drive import Values

Whole = npt.NDArray[np.int64]

LEAST_SECONDS = 120
"""With fewer seconds nothing can be learned."""


@dataclass(frozen=True)
class Seconds:
    """One value a second, those that are missing left out.

    ``seconds`` are Unix seconds and strictly increase. A value covers the second after its time:
    the mean of a rate in Mbit/s, the median of the round trips in ms that were answered.
    """

    name: str
    kind: Kind
    seconds: Whole
    values: Values

    def __len__(self) -> int:
        return len(self.seconds)

    def part(self, rows: slice | npt.NDArray[np.bool_]) -> Seconds:
        """Return some of the rows."""
        return Seconds(self.name, self.kind, self.seconds[rows], self.values[rows])

    @property
    def stretches(self) -> Whole:
        """The number of the stretch that each second belongs to, from 0."""
        return stretches(self.seconds)


def in_seconds(series: Measurement) -> Seconds:
    """Return a series in whole seconds.

    A second in which no probe was answered is missing: it is never filled in. Raises
    :class:`DataError` if fewer than :data:`LEAST_SECONDS` are left.
    """
    known = np.isfinite(series.values)
    times, values = series.times_unix_s[known], series.values[known]
    seconds, first = np.unique(np.floor(times).astype(np.int64), return_index=True)
    middle = np.mean if series.kind == "throughput" else np.median
    if len(seconds) == len(values):
        binned = values
    else:
        binned = np.array([middle(part) for part in np.split(values, first[1:])])
    if len(seconds) < LEAST_SECONDS:
        raise DataError(
            f"{series.name}: {len(seconds)} seconds with a value; give at least {LEAST_SECONDS}"
        )
    return Seconds(series.name, series.kind, seconds, binned)
