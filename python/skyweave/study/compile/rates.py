"""Rates of drives second by second, and which future rates a player knows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyweave.errors import ConfigError
from skyweave.forecast.predictors import Seconds, Target, predictor, walk
from skyweave.forecast.predictors.band import QUANTILES
from skyweave.forecast.predictors.history import EDGE_S, PERIOD_S
from skyweave.forecast.predictors.online import Forecaster, Trained
from skyweave.forecast.predictors.train import train_all
from skyweave.model import config
from skyweave.model.drive import Drive, PathTrace, Values
from skyweave.study.compile.drives import DriveRun
from skyweave.study.language.randomness import stream
from skyweave.study.language.rates import RateForecast

TARGETS_S = (1, 3, 6, 10, 15, 25)
"""Seconds ahead that a predictor is asked for: five chunks of 4 s are planned."""
EVERY_S = 2
"""How often it is asked."""
_MEAN_OF_ABSOLUTE = math.sqrt(math.pi / 2)
"""The standard deviation of a normal error, over its mean absolute value."""
_LEAST = 0.05
"""No error makes less than this of a rate."""
_APART_S = 600
"""Drives that are learned together are so far apart, so that none looks across."""


@dataclass(frozen=True)
class Session:
    """A run as its player meets it: which drive, from which second on, over which paths."""

    member: DriveRun
    begin_s: float
    paths: tuple[config.Path, ...]
    duration_s: float


class Rates:
    """What all drives of a plan carry down to the client; predictors learn from them, once."""

    def __init__(self, drives: list[DriveRun]) -> None:
        self._groups: dict[str, dict[str, Drive]] = {}
        for one in drives:
            self._groups.setdefault(one.source, {})[one.drive.name] = one.drive
        self._trained: dict[tuple[str, str, str, str], list[Trained]] = {}
        self._medians: dict[tuple[str, str], float] = {}

    def median_mbps(self, group: str, path: str) -> float:
        """Return the median of the seconds of a path over all drives of a group."""
        key = group, path
        if key not in self._medians:
            drives = [one for one in self._groups[group].values() if path in one.paths]
            seconds = [_seconds(one.paths[path], one.duration_s) for one in drives]
            self._medians[key] = float(np.nanmedian(np.concatenate(seconds)))
        return self._medians[key]

    def told(self, what: RateForecast, session: Session) -> dict[str, Any]:
        """Return ``forecast`` and ``forecast_updates`` of the session's workload.

        Raises :class:`ConfigError` for drives that a predictor cannot learn from.
        """
        if what.kind == "none":
            return {}
        if what.kind == "predictor":
            said = _together([self._foreseen(what, session, one.name) for one in session.paths])
            return {"forecast_updates": [_update(at, rows * what.share) for at, rows in said]}
        carried = [carried_mbps(path, session.duration_s) for path in session.paths]
        rates: Values = np.sum(carried, axis=0) * what.share
        if what.kind == "last":
            rows = [(at + 1, rates[at : at + 1]) for at in range(len(rates))]
            return {"forecast_updates": [_update(at, row[:, None], (0.5,)) for at, row in rows]}
        factors = _factors(what, session, len(rates))
        if what.kind == "capacity":
            series = _series(range(len(rates)), (rates * factors)[:, None], (0.5,))
            return {"forecast": {"down_mbps": series}}
        means = [rates[at : at + what.ahead_s].mean() for at in range(len(rates))]
        rows = [(at, np.array([[mean * factors[at]]])) for at, mean in enumerate(means)]
        return {"forecast_updates": [_update(at, row, (0.5,)) for at, row in rows]}

    def _foreseen(
        self, what: RateForecast, session: Session, path: str
    ) -> Iterator[tuple[int, Values]]:
        """Yield what a predictor says of a path: at which second of the run, a row for each target.

        It has seen the drive before the run, and of the run what is over.
        """
        drive = session.member.drive
        forecaster = self._forecaster(what, drive.name.partition("#")[0], path)
        begin = int(session.begin_s)
        end = begin + int(session.duration_s)
        rates = _seconds(drive.paths[path], min(float(end), drive.duration_s))
        first = _start_s(drive)
        for second, rate in enumerate(rates.tolist()):
            if (
                second >= begin
                and (second - begin) % EVERY_S == 0
                and (said := forecaster.predict())
            ):
                yield second - begin, np.array([(one.low, one.middle, one.high) for one in said])
            forecaster.update(first + second, rate)

    def _forecaster(self, what: RateForecast, drive: str, path: str) -> Forecaster:
        """Return a forecaster that knows all drives to learn from but the one of the run."""
        learn = str(what.learn)
        if learn not in self._groups:
            raise ConfigError(f"learn = '{learn}': there are no drives of this name to learn from")
        group = {name: one for name, one in self._groups[learn].items() if path in one.paths}
        excluded = drive if any(_parent(name) == drive for name in group) else ""
        key = learn, excluded, path, what.predictor
        if key not in self._trained:
            known = [one for name, one in group.items() if _parent(name) != drive]
            if not known:
                raise ConfigError(f"learn = '{learn}': has no drive with '{path}' to learn from")
            targets = [Target("at", ahead_s) for ahead_s in TARGETS_S]
            rows = walk(_one_after_the_other(known, path), PERIOD_S, EDGE_S)
            self._trained[key] = train_all(predictor(what.predictor), rows, targets)
        return Forecaster(self._trained[key], PERIOD_S, EDGE_S)


def carried_mbps(path: config.Path, duration_s: float) -> Values:
    """Return what the link to the client carries in each second of a run: nothing in outages."""
    capacity = path.down.capacity
    if isinstance(capacity, config.Opportunities):
        raise ConfigError("a rate forecast needs drives whose rates are steps")
    if isinstance(capacity, config.Unknown):
        raise ConfigError("nobody knows the rate ahead of a real network; leave rate_forecast out")
    if isinstance(capacity, config.ConstantRate):
        times, rates = np.zeros(1), np.array([capacity.mbps])
    else:
        times, rates = np.array(capacity.times_s), np.array(capacity.mbps)
    away = [(one.start_s, one.end_s) for one in path.down.outages]
    there = [(one.start_s, math.inf if one.end_s is None else one.end_s) for one in path.present]
    edges = np.concatenate(
        [np.arange(math.ceil(duration_s) + 1), times, np.ravel(away), np.ravel(there)]
    )
    edges = np.unique(edges[edges <= math.ceil(duration_s)])
    middles = (edges[:-1] + edges[1:]) / 2
    now = rates[np.searchsorted(times, middles, side="right") - 1]
    for start, end in away:
        now = np.where((start <= middles) & (middles < end), 0.0, now)
    present = [(start <= middles) & (middles < end) for start, end in there]
    now = np.where(np.any(present, axis=0), now, 0.0)
    found: Values = np.zeros(math.ceil(duration_s))
    np.add.at(found, middles.astype(np.int64), now * np.diff(edges))
    return found


def _seconds(trace: PathTrace, end_s: float) -> Values:
    """Return the downlink of each second; NaN where nothing was logged."""
    series = trace.downlink_mbps
    if series is None:
        raise ConfigError("a rate forecast needs drives with a downlink")
    at = np.arange(int(end_s))[:, None] + np.array([0.125, 0.375, 0.625, 0.875])
    values: Values = series.values[np.searchsorted(series.times_s, at, side="right") - 1]
    for one in trace.outages:
        values = np.where((one.start_s <= at) & (at < one.end_s), 0.0, values)
    return np.asarray(values.mean(axis=1))


def _parent(name: str) -> str:
    """Return the drive that a piece was cut from."""
    return name.partition("#")[0]


def _start_s(drive: Drive) -> int:
    """Return the second in which a drive begins; without a clock it begins with a slot."""
    return EDGE_S if drive.start is None else int(drive.start.timestamp())


def _one_after_the_other(drives: list[Drive], path: str) -> Seconds:
    """Return the drives as one series; seconds keep their place in the slot."""
    times, values, free = [], [], 0
    for drive in drives:
        rates = _seconds(drive.paths[path], drive.duration_s)
        start = free + (_start_s(drive) - free) % PERIOD_S
        known = np.flatnonzero(np.isfinite(rates))
        times.append(start + known)
        values.append(rates[known])
        free = start + len(rates) + _APART_S
    return Seconds(path, "throughput", np.concatenate(times), np.concatenate(values))


def _together(said: list[Iterator[tuple[int, Values]]]) -> Iterator[tuple[int, Values]]:
    """Yield the sums of what all paths say at the same moments."""
    for parts in zip(*said, strict=False):
        yield parts[0][0], np.sum([rows for _, rows in parts], axis=0)


def _factors(what: RateForecast, session: Session, count: int) -> Values:
    """Return what the errors make of each second: the same for all algorithms."""
    rng = stream("rate forecast", session.member.seed, session.member.drive.name)
    draws = rng.standard_normal(count)[(np.arange(count) // what.lasts_s).astype(np.int64)]
    factors: Values = np.maximum(1.0 + what.error * _MEAN_OF_ABSOLUTE * draws, _LEAST)
    return factors


def _series(times_s: Sequence[float], rows: Values, quantiles: tuple[float, ...]) -> dict[str, Any]:
    values = np.maximum(np.round(rows, 3), 0.0)
    return {"times_s": list(times_s), "quantiles": list(quantiles), "values": values.tolist()}


def _update(at_s: int, rows: Values, quantiles: tuple[float, ...] = QUANTILES) -> dict[str, Any]:
    """A forecast that is made at ``at_s``; a row holds until the next one."""
    ahead = np.array(TARGETS_S[: len(rows)] if len(rows) > 1 else (1,))
    times_s = at_s + np.concatenate([[0.0], ahead[:-1]])
    return {
        "arrives_s": float(at_s),
        "forecast": {"down_mbps": _series(times_s.tolist(), rows, quantiles)},
    }
