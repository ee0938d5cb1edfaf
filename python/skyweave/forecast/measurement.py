"""A measured series against UTC: what slots and handovers are looked for in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from skyweave.errors import DataError
from skyweave.model.drive import Values

Kind = Literal["rtt", "throughput"]
KINDS: tuple[Kind, ...] = get_args(Kind)
UNITS: dict[Kind, str] = {"rtt": "ms", "throughput": "Mbit/s"}


@dataclass(frozen=True)
class Measurement:
    """Samples of one quantity of one path, on the clock of the machine that took them.

    ``times_unix_s`` strictly increase. Round trips are in ms at the moment the probe was *sent*,
    infinite if no answer came. Rates are in Mbit/s from their time until the next one. Gaps are
    allowed. Make one with :func:`measurement`.
    """

    name: str
    kind: Kind
    times_unix_s: Values
    values: Values

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return UNITS[self.kind]

    @property
    def spacing_s(self) -> float:
        """Median distance of two samples."""
        return float(np.median(np.diff(self.times_unix_s)))

    @property
    def end_unix_s(self) -> float:
        """When the last sample's time is over."""
        return float(self.times_unix_s[-1]) + self.spacing_s

    @property
    def lost(self) -> int:
        """Probes without an answer."""
        return int(np.isinf(self.values).sum())


def measurement(
    name: str, kind: Kind, times_unix_s: npt.ArrayLike, values: npt.ArrayLike
) -> Measurement:
    """Samples in any order; those that are NaN or share their time with another are left out.

    Raises :class:`DataError` if fewer than two are left or a time is not finite.
    """
    times = np.asarray(times_unix_s, dtype=np.float64)
    found = np.asarray(values, dtype=np.float64)
    if not np.isfinite(times).all():
        raise DataError(f"{name}: a time is not finite; correct or remove that sample")
    known = ~np.isnan(found)
    times, first = np.unique(times[known], return_index=True)
    if len(times) < 2:
        raise DataError(f"{name}: {len(times)} samples; give a longer series")
    return Measurement(name, kind, times, found[known][first])


def join(name: str, parts: Sequence[Measurement]) -> Measurement:
    """Several stretches of the same path as one series; nothing is assumed between them."""
    if not parts:
        raise DataError(f"{name}: holds no series with a clock; give one with UTC times")
    times = np.concatenate([part.times_unix_s for part in parts])
    values = np.concatenate([part.values for part in parts])
    return measurement(name, parts[0].kind, times, values)
