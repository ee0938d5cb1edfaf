"""Handovers of a satellite path by a model: when they come, how long they last, what they change.

The open points of the ALCS testbed (docs/model.md §5.3, items 11 to 13 and 20) are
its parameters. Paths over real orbits have theirs from there (``orbits.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from skyweave.data.metrics import SLOT_PHASE_S, SLOT_S
from skyweave.errors import ConfigError
from skyweave.model import limits
from skyweave.model.drive import Series
from skyweave.model.validated import Amount, Positive, StudyModel, complaint
from skyweave.model.windows import OutageWindow
from skyweave.study.language.randomness import stream

Share = Annotated[float, Field(ge=0, lt=1)]
DRIFT_STEP_S = 1.0
"""How often a drifting round-trip time is set anew."""


class Handovers(StudyModel):
    """A handover each ``every_s`` seconds; each begins with ``gap_s`` without service.

    ``offset_s``: when the first one begins; ``"random"``: uniform in one interval, by the seed
    alone, so that the paths of a run keep their distance: ``stagger`` is a share of the interval;
    ``"clock"``: at second 12 of a minute of the drive's clock, as Starlink's slots do.
    After each handover the round-trip time is uniform in ``rtt_ms``, and drifts linearly by up to
    ``drift_ms`` either way until the next one, within the same limits.
    """

    every_s: Positive
    gap_s: Amount = 0.0
    offset_s: Amount | Literal["random", "clock"] = "random"
    stagger: Share = 0.0
    quiet_s: Amount = 0.0
    """No handover begins before this: connections open undisturbed."""
    rtt_ms: tuple[Positive, Positive] | None = None
    drift_ms: Amount = 0.0

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if self.gap_s >= self.every_s:
            raise complaint("gap_s", f"gap_s {self.gap_s:g} must be below every_s {self.every_s:g}")
        if self.rtt_ms is not None and self.rtt_ms[0] > self.rtt_ms[1]:
            raise complaint("rtt_ms", "rtt_ms = [smallest, largest]: they are the other way round")
        return self


@dataclass(frozen=True)
class Script:
    """What a path does: round-trip times, when it is out, and when its handovers begin."""

    rtt_ms: Series | None
    outages: tuple[OutageWindow, ...]
    edges_s: tuple[float, ...] = ()


def script(
    model: Handovers, name: str, seed: int, duration_s: float, clock: datetime | None = None
) -> Script:
    """Return the handovers of path ``name`` under one seed, over ``duration_s`` seconds.

    ``clock`` is the time of second 0. Raises :class:`ConfigError` if the model needs it and there
    is none.
    """
    starts = _starts_s(model, seed, duration_s, clock)
    outages = tuple(
        OutageWindow(start_s=start, end_s=start + model.gap_s)
        for start in starts
        if model.gap_s > 0
    )
    levels = [0.0, *(start + model.gap_s for start in starts)]
    rtt = None if model.rtt_ms is None else _rtt(model, levels, name, seed, duration_s)
    return Script(rtt, outages, tuple(starts))


def slot_edges_s(clock: datetime, duration_s: float) -> tuple[float, ...]:
    """Return when Starlink's slots begin in a run whose second 0 is ``clock``."""
    first = _first_slot_s(clock, SLOT_S)
    return tuple(
        first + SLOT_S * n for n in range(math.ceil(max(duration_s - first, 0.0) / SLOT_S))
    )


def _first_slot_s(clock: datetime, every_s: float) -> float:
    within_minute = clock.second + clock.microsecond / 1e6
    return (SLOT_PHASE_S - within_minute) % every_s


def _starts_s(
    model: Handovers, seed: int, duration_s: float, clock: datetime | None
) -> list[float]:
    if model.offset_s == "clock":
        if clock is None:
            raise ConfigError(
                'handovers with offset_s = "clock" need drives whose clock is known; these have no '
                "start"
            )
        first = _first_slot_s(clock, model.every_s)
    elif model.offset_s == "random":
        first = float(stream("handover phase", seed).uniform(0, model.every_s))
    else:
        first = model.offset_s
    first = (first + model.stagger * model.every_s) % model.every_s
    limits.grid_size(duration_s, model.every_s, f"handovers every {model.every_s:g} s")
    count = math.ceil((duration_s - first) / model.every_s)
    starts = [first + number * model.every_s for number in range(max(count, 0))]
    return [start for start in starts if start >= model.quiet_s]


def _rtt(
    model: Handovers, changes_s: list[float], name: str, seed: int, duration_s: float
) -> Series:
    """Return a level after each change, and its drift in steps of a second."""
    low, high = model.rtt_ms or (0.0, 0.0)
    rng = stream("handover rtt", seed, name)
    times, values = [], []
    for start, end in zip(changes_s, [*changes_s[1:], duration_s], strict=True):
        level, drift = rng.uniform(low, high), rng.uniform(-model.drift_ms, model.drift_ms)
        count = math.ceil((end - start) / DRIFT_STEP_S - 1e-6) if model.drift_ms else 1
        at = start + DRIFT_STEP_S * np.arange(count)
        if end > start:
            times.append(at)
            values.append(np.clip(level + drift * (at - start) / (end - start), low, high))
    return Series(np.concatenate(times), np.concatenate(values))
