"""How a series is divided into what is learned from and what is judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from skyweave.errors import ConfigError

Split = Literal["time", "drives"]
Rows = npt.NDArray[np.bool_]
STRETCH_GAP_S = 300
"""A longer silence separates two stretches, two drives for instance: none looks across it."""
TRAINING_SHARE = 0.8
MOST_FOLDS = 10


def stretches(times_s: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the number of the stretch that each time belongs to, from 0; times rise."""
    return np.cumsum(np.diff(times_s, prepend=times_s[:1]) > STRETCH_GAP_S)


def folds(times_s: npt.NDArray[Any], split: Split, name: str) -> Iterator[tuple[Rows, Rows]]:
    """Yield which rows are learned from, and which are judged.

    ``time``: the first four fifths are learned from. ``drives``: whole stretches are left out, at
    most ten groups of them in turn; :class:`ConfigError`, with the ``name`` of the series, if there
    is one stretch alone.
    """
    if split == "time":
        learned = np.arange(len(times_s)) < int(TRAINING_SHARE * len(times_s))
        yield learned, ~learned
        return
    stretch = stretches(times_s)
    count = len(np.unique(stretch))
    if count < 2:
        raise ConfigError(
            f"{name}: is one drive without a gap of {STRETCH_GAP_S} s; there is no other to "
            "leave out: take --split time"
        )
    groups = min(count, MOST_FOLDS)
    for group in range(groups):
        judged = stretch % groups == group
        yield ~judged, judged
