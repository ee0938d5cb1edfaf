"""Links that a study file describes itself: constant or stepped, no preset and no data."""

from __future__ import annotations

import math
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from skyweave.drive import Drive, PathTrace, Series
from skyweave.study.model import StudyModel, complaint

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Steps(StudyModel):
    """A quantity that is constant from each time to the next; a lone number never changes."""

    times_s: tuple[Amount, ...] = Field(min_length=1)
    values: tuple[Amount, ...]

    @model_validator(mode="before")
    @classmethod
    def _lone(cls, value: Any) -> Any:
        lone = isinstance(value, int | float) and not isinstance(value, bool)
        return {"times_s": [0], "values": [value]} if lone else value

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if len(self.values) != len(self.times_s):
            raise complaint("values", "values must be as many as times_s")
        if self.times_s[0] != 0 or list(self.times_s) != sorted(set(self.times_s)):
            raise complaint("times_s", "times_s must begin with 0 and rise")
        return self


class DescribedPath(StudyModel):
    """One path: rates in Mbit/s, round-trip time in ms, share of packets lost (0 to 1)."""

    downlink_mbps: Steps
    uplink_mbps: Steps
    rtt_ms: Steps
    loss: Steps = Steps(times_s=(0.0,), values=(0.0,))

    @model_validator(mode="after")
    def _loss_is_a_share(self) -> Self:
        if max(self.loss.values) > 1:
            raise complaint("loss", "loss is a share of packets, 0 to 1")
        return self


def described(source: str, links: dict[str, DescribedPath], seed: int, duration_s: float) -> Drive:
    """Return a drive over described links; all seeds see the same links, and other losses."""
    return Drive(
        name=f"{source}-{seed}",
        origin=f"described in the study, seed {seed}",
        paths={
            name: PathTrace(
                downlink_mbps=_series(path.downlink_mbps, duration_s),
                uplink_mbps=_series(path.uplink_mbps, duration_s),
                rtt_ms=_series(path.rtt_ms, duration_s),
                loss_ratio=_series(path.loss, duration_s),
            )
            for name, path in links.items()
        },
        synthetic=True,
    )


def _series(amount: Steps, duration_s: float) -> Series:
    """Return a series that covers the drive: a sample each second and at each step."""
    seconds = np.arange(math.ceil(duration_s), dtype=float)
    steps, values = np.array(amount.times_s), np.array(amount.values)
    times = np.union1d(seconds, steps[steps < duration_s])
    return Series(times, values[np.searchsorted(steps, times, side="right") - 1])
