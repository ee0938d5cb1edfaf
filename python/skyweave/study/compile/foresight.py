"""What a sender knows ahead of the outages and boundaries of a path, rightly or wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skyweave.model.forecast import Forecast, ForecastBoundary
from skyweave.model.windows import ForecastWindow, OutageWindow
from skyweave.study.language.randomness import stream


@dataclass(frozen=True)
class Foresight:
    """How good a forecast of outages, or of boundaries, is.

    ``file``: what a forecast file says. ``outages``: each outage is foreseen up to ``error_s`` too
    early or too late (uniform), or with probability ``missing`` not at all; with probability
    ``false`` another one is foreseen that does not come. ``boundaries``: the same of the edges of
    slots, which the forecast says to know to ``uncertainty_s``, right or wrong. ``handovers``:
    both, wrong by the same.
    """

    kind: Literal["none", "outages", "boundaries", "handovers", "file"] = "none"
    error_s: float = 0.0
    missing: float = 0.0
    false: float = 0.0
    uncertainty_s: float = 0.0

    @property
    def is_exact(self) -> bool:
        """All outages and nothing else are foreseen, at their times."""
        return self.kind == "outages" and not (self.error_s or self.missing or self.false)


NOTHING_FORESEEN = Foresight()


def foreseen(
    outages: Sequence[OutageWindow],
    foresight: Foresight,
    name: str,
    seed: int,
    filed: Forecast | tuple[()] = (),
) -> Literal["none", "outages"] | tuple[ForecastWindow, ...] | Forecast:
    """Return the forecast of path ``name``; ``filed`` is what its file says of the run.

    For all errors the same outages are hit first. A false outage lies anywhere between the one
    before it and the next, and is as long.
    """
    if foresight.kind == "file":
        return filed
    if foresight.kind in ("none", "boundaries"):
        return "none"
    if not outages or foresight.is_exact:
        return "outages" if outages else "none"
    rng = stream("foresight", seed, name)
    windows = []
    for one, following in zip(outages, [*outages[1:], None], strict=True):
        shift, lost, wrong, place = rng.uniform(-1, 1), rng.random(), rng.random(), rng.random()
        if lost >= foresight.missing:
            windows.append((one.start_s + shift * foresight.error_s, one.end_s - one.start_s))
        if wrong < foresight.false and following is not None:
            room = following.start_s - one.end_s - (one.end_s - one.start_s)
            windows.append((one.end_s + place * max(room, 0.0), one.end_s - one.start_s))
    return tuple(
        ForecastWindow(start_s=float(np.maximum(start, 0.0)), end_s=float(start + length))
        for start, length in sorted(windows)
        if start + length > 0
    )


def foreseen_boundaries(
    edges_s: Sequence[float], foresight: Foresight, name: str, seed: int
) -> Forecast:
    """Return what a sender believes of the slot edges of path ``name``.

    For all errors the same edges are hit first. A false edge lies anywhere between a true one and
    the next.
    """
    rng = stream("foresight", seed, name)
    believed = []
    for one, following in zip(edges_s, [*edges_s[1:], None], strict=True):
        shift, lost, wrong, place = rng.uniform(-1, 1), rng.random(), rng.random(), rng.random()
        if lost >= foresight.missing:
            believed.append(one + shift * foresight.error_s)
        if wrong < foresight.false and following is not None:
            believed.append(one + place * (following - one))
    boundaries = (
        ForecastBoundary(at_s=float(at), uncertainty_s=foresight.uncertainty_s)
        for at in sorted(believed)
        if at >= 0
    )
    return Forecast(boundaries=tuple(boundaries))
