"""Links that a study file describes itself: rates, outages, absences; no preset and no data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from skyweave.model.drive import Drive, PathTrace, Series
from skyweave.model.validated import Amount, StudyModel, complaint
from skyweave.model.windows import OutageWindow, UpWindow, union
from skyweave.study.language.orbits import FibreDelay, Followed, OrbitDelay, follow


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


class Outage(StudyModel):
    """No service in [start, end); what is in flight is dropped, or held until the end."""

    start_s: Amount
    end_s: Amount
    in_flight: Literal["drop", "hold"] = "drop"


class Presence(StudyModel):
    """The interface exists in [start, end), or from the start on."""

    start_s: Amount
    end_s: Amount | None = None


class DescribedPath(StudyModel):
    """One path: rates in Mbit/s, round-trip time in ms, share of packets lost (0 to 1).

    ``rtt_ms`` may come from geometry: ``{ orbit = {...} }`` brings its outages with it,
    ``{ fibre = {...} }`` is constant. ``outages`` and ``present`` (always, if not given) are in
    seconds of the drive; both directions are meant.
    """

    downlink_mbps: Steps
    uplink_mbps: Steps
    rtt_ms: Steps | OrbitDelay | FibreDelay
    loss: Steps = Steps(times_s=(0.0,), values=(0.0,))
    outages: tuple[Outage, ...] = ()
    present: tuple[Presence, ...] | None = Field(default=None, min_length=1)

    @field_validator("rtt_ms", mode="before")
    @classmethod
    def _one_kind(cls, value: Any) -> Any:
        """Choose by the key, so that a mistake inside gets one message and not three."""
        kinds: dict[str, type[StudyModel]] = {"orbit": OrbitDelay, "fibre": FibreDelay}
        keys = [key for key in kinds if isinstance(value, dict) and key in value]
        return (kinds[keys[0]] if keys else Steps).model_validate(value)

    @model_validator(mode="after")
    def _loss_is_a_share(self) -> Self:
        if max(self.loss.values) > 1:
            raise complaint("loss", "loss is a share of packets, 0 to 1")
        return self

    @model_validator(mode="after")
    def _windows_are_apart(self) -> Self:
        _check_windows("outages", self.outages)
        _check_windows("present", self.present or ())
        return self


def _check_windows(key: str, windows: Sequence[Outage | Presence]) -> None:
    """Refuse windows that are empty, or that do not follow one after the other."""
    for number, one in enumerate(windows):
        if one.end_s is not None and one.end_s <= one.start_s:
            raise complaint(
                key, f"{key} from {one.start_s:g} s to {one.end_s:g} s: end_s must be after start_s"
            )
        before = windows[number - 1] if number else None
        if before is not None and (before.end_s is None or one.start_s < before.end_s):
            end = "no end_s" if before.end_s is None else f"end_s {before.end_s:g}"
            raise complaint(
                key,
                f"{key} overlap: one has {end}, the next start_s {one.start_s:g}; "
                "put them in order, or make them one",
            )


def described(
    source: str,
    links: dict[str, DescribedPath],
    seed: int,
    duration_s: float,
    folders: Sequence[Path] = (),
) -> tuple[Drive, tuple[str, ...]]:
    """Return a drive over described links, and notes on its orbits.

    All seeds see the same links and other losses; over orbits, they may begin at other moments.
    ``folders`` is where files of orbital elements are looked for.
    """
    followed = {
        name: follow(name, path.rtt_ms, seed, duration_s, folders)
        for name, path in links.items()
        if isinstance(path.rtt_ms, OrbitDelay)
    }
    drive = Drive(
        name=f"{source}-{seed}",
        origin=f"described in the study, seed {seed}",
        paths={name: _trace(path, followed.get(name), duration_s) for name, path in links.items()},
        start=next((one.start for one in followed.values()), None),
        synthetic=True,
    )
    return drive, tuple(note for one in followed.values() for note in one.notes)


def _trace(path: DescribedPath, followed: Followed | None, duration_s: float) -> PathTrace:
    windows = tuple(OutageWindow(**one.model_dump()) for one in path.outages)
    rtt_ms: Series | None = None
    if followed is not None:
        rtt_ms, windows = followed.rtt_ms, union((*windows, *followed.outages))
    elif isinstance(path.rtt_ms, Steps):
        rtt_ms = _series(path.rtt_ms, duration_s)
    elif isinstance(path.rtt_ms, FibreDelay):
        rtt_ms = _series(Steps(times_s=(0.0,), values=(path.rtt_ms.rtt_ms,)), duration_s)
    return PathTrace(
        downlink_mbps=_series(path.downlink_mbps, duration_s),
        uplink_mbps=_series(path.uplink_mbps, duration_s),
        rtt_ms=rtt_ms,
        loss_ratio=_series(path.loss, duration_s),
        outages=windows,
        present=_present(path),
    )


def _present(path: DescribedPath) -> tuple[UpWindow, ...] | None:
    if path.present is None:
        return None
    return tuple(UpWindow(**one.model_dump()) for one in path.present)


def _series(amount: Steps, duration_s: float) -> Series:
    """Return a series that covers the drive: a sample each second and at each step."""
    seconds = np.arange(math.ceil(duration_s), dtype=float)
    steps, values = np.array(amount.times_s), np.array(amount.values)
    times = np.union1d(seconds, steps[steps < duration_s])
    return Series(times, values[np.searchsorted(steps, times, side="right") - 1])
