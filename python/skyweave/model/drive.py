"""Drives: what several paths did during the same stretch of road.

Importers and the synthesis produce :class:`Drive`; plots, statistics and studies consume it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from skyweave.model.config import Path
from skyweave.model.windows import OutageWindow, UpWindow

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """A quantity over time, constant from each time to the next.

    ``times_s`` are seconds since the drive began, strictly increasing, the first one 0;
    ``values`` has the same length, NaN where nothing was logged. The last value holds for the
    median spacing.
    """

    times_s: Values
    values: Values

    @property
    def spacing_s(self) -> float:
        """Median distance of two samples in seconds (1.0 for a series of one)."""
        return float(np.median(np.diff(self.times_s))) if len(self.times_s) > 1 else 1.0

    @property
    def duration_s(self) -> float:
        """Seconds from the first sample to the end of the last one."""
        return float(self.times_s[-1]) + self.spacing_s


@dataclass(frozen=True)
class PathTrace:
    """What one network did during a drive; what was not measured is ``None``.

    Rates are capacities in Mbit/s, ``rtt_ms`` the unloaded round-trip time in ms, ``loss_ratio``
    the share of packets that the radio path itself loses (0 to 1), both directions alike.
    ``outages`` are stretches without service in both directions, ``present`` those in which the
    interface exists (``None``: always), both ordered and apart, on the clock of the drive.
    """

    downlink_mbps: Series | None = None
    uplink_mbps: Series | None = None
    rtt_ms: Series | None = None
    loss_ratio: Series | None = None
    outages: tuple[OutageWindow, ...] = ()
    present: tuple[UpWindow, ...] | None = None

    @classmethod
    def of(cls, series: Mapping[str, Series]) -> PathTrace:
        """Return what series by the names of the fields say; nothing is scripted."""
        named: dict[str, Any] = dict(series)
        return cls(**named)


@dataclass(frozen=True)
class Drive:
    """One contiguous stretch of measurement, all paths on the same clock.

    ``origin`` says in words where the numbers come from (data set and file, or preset and seed);
    ``start`` is the UTC (or data set's own) time of second 0 where known; ``notes`` say what was
    taken for what, and doubts.
    """

    name: str
    origin: str
    paths: dict[str, PathTrace] = field(default_factory=dict)
    start: datetime | None = None
    synthetic: bool = False
    notes: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """Seconds that every series of every path covers."""
        spans = [
            series.duration_s
            for path in self.paths.values()
            for series in (path.downlink_mbps, path.uplink_mbps, path.rtt_ms)
            if series is not None
        ]
        return min(spans, default=0.0)

    def _repr_html_(self) -> str:
        """The drive as a notebook shows it."""
        from skyweave.model.pages import drive_page

        return drive_page(self)

    def to_frame(self) -> pl.DataFrame:
        """Return ``time_s`` and a column ``<path>.<quantity>`` for each series.

        Null: no sample at that time; NaN: a sample that was not logged.
        """
        from skyweave.model.frames import to_frame

        return to_frame(self)

    @classmethod
    def from_frame(
        cls,
        frame: pl.DataFrame,
        name: str = "frame",
        origin: str = "a frame",
        start: datetime | None = None,
    ) -> Drive:
        """Return the drive in a table as :meth:`to_frame` makes it.

        Raises :class:`DataError` for other columns, times that do not rise, negative values.
        """
        from skyweave.model.frames import from_frame

        return from_frame(frame, name, origin, start)

    def to_paths(self, rtt_ms: float | Mapping[str, float] | None = None) -> tuple[Path, ...]:
        """Return the paths of the drive for :func:`skyweave.simulate`.

        Capacities are those of the drive, not logged is 0 Mbit/s, a direction that was not measured
        has 1000 Mbit/s. ``rtt_ms``, one for all or one for each name, goes before measured round
        trips. Outages and absences of the drive hold. Raises :class:`DataError` for a path
        without round trips.
        """
        from skyweave.model.paths import paths_of

        return paths_of(self, rtt_ms)
