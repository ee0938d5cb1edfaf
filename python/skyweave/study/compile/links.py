"""From a drive's path and the plan's assumptions to the two links of a ``config.Path``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

import numpy as np
from pydantic import ValidationError

from skyweave.errors import ConfigError, DataError
from skyweave.model import config
from skyweave.model.drive import PathTrace, Values
from skyweave.model.forecast import Forecast, ForecastUpdate
from skyweave.model.steps import UNLIMITED_MBPS, capacity, delay, floats
from skyweave.model.windows import UpWindow, union
from skyweave.study.compile.foresight import (
    NOTHING_FORESEEN,
    Foresight,
    foreseen,
    foreseen_boundaries,
)
from skyweave.study.language.handovers import Handovers, Script, script, slot_edges_s
from skyweave.study.language.label_words import as_queue
from skyweave.study.language.plan import PathSpec
from skyweave.synthesis.air import Air, Stretch, load_airs, loss_ratios, round_trips


@dataclass(frozen=True)
class LinkSettings:
    """The settings of a run that reach its links."""

    direction: Literal["down", "up"]
    duration_s: float
    queue: config.Queue
    rtt_scale: float = 1.0
    reverse: Literal["trace", "unlimited"] = "trace"
    loss: Literal["path"] | float | dict[str, float] = "path"
    """Loss probability in place of the path's own: of every path, or of those that are named."""
    air: Literal["none", "round trips", "losses", "both"] = "none"
    """What the model of the air adds where a path says nothing of its own."""
    handover_s: float | None = None
    gap_s: float | None = None
    """What replaces ``every_s`` and ``gap_s`` of handovers; ``None``: nothing."""
    foresight: Foresight = NOTHING_FORESEEN
    filed: Mapping[str, tuple[Forecast, tuple[ForecastUpdate, ...]]] = field(default_factory=dict)
    """What forecast files say of this run, by path: at its beginning, and during it."""
    seed: int = 0
    clock: datetime | None = None
    """The time of second 0 of the run, where slots have one; ``None``: not known."""

    def loss_of(self, name: str) -> float | None:
        """Return the probability that replaces a path's own; ``None``: nothing does."""
        if isinstance(self.loss, dict):
            return self.loss.get(name)
        return None if self.loss == "path" else self.loss


def build_path(
    name: str, trace: PathTrace, spec: PathSpec, settings: LinkSettings, drive: str
) -> config.Path:
    """Return the path that a run meets.

    Capacity: steps of the trace (not logged = 0). Delay: half of the RTT each way. A reverse
    direction that was not measured is taken as ``UNLIMITED_MBPS``: it carries only ACKs.
    Raises :class:`DataError` when the tested direction, or a trace the plan asks for, is absent.
    """
    series = {"down": trace.downlink_mbps, "up": trace.uplink_mbps}
    if series[settings.direction] is None:
        raise DataError(
            f"drive '{drive}': path '{name}' has no {settings.direction}link; remove direction "
            f'"{settings.direction}" for these drives, or the path'
        )
    if settings.reverse == "unlimited":
        series["up" if settings.direction == "down" else "down"] = None
    handed = _handed_over(name, spec, settings)
    if handed is not None and handed.rtt_ms is not None:
        trace = replace(trace, rtt_ms=handed.rtt_ms)
    outages = trace.outages if handed is None else union((*trace.outages, *handed.outages))
    delays = _delay(name, trace, spec, settings, drive)
    queue = settings.queue if spec.queue is None else as_queue(spec.queue)
    loss = _loss(name, trace, spec, settings, drive)
    lossy = ("down", "up") if spec.loses == "both" else (settings.direction,)

    def link(direction: str) -> config.Link:
        return config.Link(
            capacity=capacity(series[direction], settings.duration_s),
            delay=delays,
            queue=queue,
            loss=loss if direction in lossy else config.NoLoss(),
            outages=outages,
        )

    always = (UpWindow(start_s=0.0),)
    filed, updates = settings.filed.get(name, ((), ()))
    known = foreseen(outages, settings.foresight, name, settings.seed, filed)
    if settings.foresight.kind in ("boundaries", "handovers") and spec.kind == "satellite":
        edges_s = _edges_s(name, handed, settings, drive)
        edges = foreseen_boundaries(edges_s, settings.foresight, name, settings.seed)
        windows = known if isinstance(known, tuple) else ()
        known = edges.model_copy(update={"outages": windows})
    return config.Path(
        name=name,
        down=link("down"),
        up=link("up"),
        backup=spec.backup,
        present=always if trace.present is None else trace.present,
        forecast=known,
        forecast_updates=updates,
    )


def _handed_over(name: str, spec: PathSpec, settings: LinkSettings) -> Script | None:
    """Return what the handovers of a path do, with what the settings replace."""
    if spec.handovers is None:
        return None
    swept = {"every_s": settings.handover_s, "gap_s": settings.gap_s}
    update = {key: value for key, value in swept.items() if value is not None}
    try:
        model = Handovers.model_validate(spec.handovers.model_dump() | update)
    except ValidationError as error:
        said = error.errors()[0]["msg"]
        raise ConfigError(f"[paths.{name}] handovers under the settings: {said}") from error
    return script(model, name, settings.seed, settings.duration_s, settings.clock)


def _edges_s(
    name: str, handed: Script | None, settings: LinkSettings, drive: str
) -> tuple[float, ...]:
    """Return when the slots of a satellite path begin, in seconds of the run."""
    if handed is not None:
        return handed.edges_s
    if settings.clock is None:
        raise ConfigError(
            f"forecast = \"boundaries\" needs the clock of drive '{drive}', which has no start; "
            f"give [paths.{name}] handovers of its own"
        )
    return slot_edges_s(settings.clock, settings.duration_s)


def mean_mbps(capacity: config.Capacity, duration_s: float) -> float:
    """Return the mean of a capacity over the first ``duration_s`` seconds."""
    if isinstance(capacity, config.ConstantRate):
        return capacity.mbps
    if isinstance(capacity, config.Opportunities):
        return len(capacity.times_ms) * 12.0 / max(capacity.times_ms[-1], 1)
    if isinstance(capacity, config.Unknown):
        return 0.0
    edges = np.minimum(np.append(capacity.times_s, duration_s), duration_s)
    return float(np.dot(np.diff(edges), capacity.mbps) / duration_s)


def opening_order(paths: tuple[config.Path, ...]) -> tuple[str, ...]:
    """Return the names of paths in the order in which they first carry something both ways.

    A device opens a connection on a network that answers; paths that answer from the start keep
    the order of the set.
    """
    return tuple(path.name for path in sorted(paths, key=_first_up_s))


def _first_up_s(path: config.Path) -> float:
    """Return when both directions first have capacity and service; infinite if they never do."""
    down, up = _steps(path.down.capacity), _steps(path.up.capacity)
    times = np.union1d(down[0], up[0])
    scripted = [one.start_s for one in path.present]
    scripted += [one.end_s for link in (path.down, path.up) for one in link.outages]
    times = np.union1d(times, scripted)
    rates = [r[np.searchsorted(t, times, side="right") - 1] for t, r in (down, up)]
    both = times[(rates[0] > 0) & (rates[1] > 0)]
    return next((float(time) for time in both if _in_service(path, float(time))), float("inf"))


def _in_service(path: config.Path, time_s: float) -> bool:
    """Tell whether the interface exists and neither direction is in an outage."""
    there = any(
        one.start_s <= time_s and (one.end_s is None or time_s < one.end_s) for one in path.present
    )
    out = (*path.down.outages, *path.up.outages)
    return there and not any(one.start_s <= time_s < one.end_s for one in out)


def _steps(capacity: config.Capacity) -> tuple[Values, Values]:
    """Return times and rates of a capacity as steps; opportunities count as always there."""
    if isinstance(capacity, config.RateSteps):
        return np.array(capacity.times_s), np.array(capacity.mbps)
    rate = capacity.mbps if isinstance(capacity, config.ConstantRate) else UNLIMITED_MBPS
    return np.zeros(1), np.array([rate])


def _air(
    kind: str, name: str, settings: LinkSettings, drive: str
) -> tuple[Air | None, Air | None, Stretch]:
    """Return the models of round trips and of losses of a path, where it has them."""
    air = None if settings.air == "none" else load_airs().get(kind)
    stretch = Stretch(f"{drive}/{name}", settings.seed, settings.duration_s, settings.clock)
    trips = air if settings.air in ("round trips", "both") else None
    return trips, air if settings.air in ("losses", "both") else None, stretch


def _delay(
    name: str, trace: PathTrace, spec: PathSpec, settings: LinkSettings, drive: str
) -> config.Delay:
    if isinstance(spec.rtt_ms, float | int):
        air, _, stretch = _air(spec.kind, name, settings, drive)
        if air is not None:
            return delay(round_trips(air, spec.rtt_ms, stretch), settings.rtt_scale)
        return config.ConstantDelay(ms=spec.rtt_ms * settings.rtt_scale / 2)
    if trace.rtt_ms is None or np.isnan(trace.rtt_ms.values).all():
        raise DataError(
            f"drive '{drive}': path '{name}' has no RTT series; "
            f'set a constant rtt_ms in [paths.{name}] instead of "trace"'
        )
    return delay(trace.rtt_ms, settings.rtt_scale)


def _loss(
    name: str, trace: PathTrace, spec: PathSpec, settings: LinkSettings, drive: str
) -> config.Loss:
    swept = settings.loss_of(name)
    loss = spec.loss if swept is None else swept
    _, air, stretch = _air(spec.kind, name, settings, drive)
    if loss == "none" and air is not None:
        lost = loss_ratios(air, stretch)
        return config.LossSteps(times_s=floats(lost.times_s), ratio=floats(lost.values))
    if loss == "none" or swept == 0:
        return config.NoLoss()
    if loss == "trace":
        if trace.loss_ratio is None:
            raise DataError(
                f"drive '{drive}': path '{name}' has no loss series; "
                f'set a constant loss in [paths.{name}] instead of "trace"'
            )
        values = np.clip(np.nan_to_num(trace.loss_ratio.values, nan=0.0), 0.0, 1.0)
        return config.LossSteps(times_s=floats(trace.loss_ratio.times_s), ratio=floats(values))
    if isinstance(loss, float | int):
        return config.Bernoulli(ratio=loss)
    if isinstance(loss, str):
        raise ConfigError(f"[paths.{name}] loss '{loss}' is not known")
    return loss
