"""What a closed loop saw, held against what was there."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from skyweave.errors import DataError
from skyweave.forecast.measurement import measurement
from skyweave.forecast.predictors import Seconds, Target, in_seconds, predictor, walk
from skyweave.forecast.predictors.online import Forecaster, Foreseen
from skyweave.forecast.predictors.train import train_all
from skyweave.lab.closed_loop import FIRED, LOG, TRIGGERS, Loop
from skyweave.lab.link import STEP_S, Disturbance, link_over
from skyweave.triggers import read_triggers, replay
from skyweave.triggers.firings import FIRING
from skyweave.triggers.machine import CONTEXT_S
from skyweave.triggers.replay import Row, read_log

Floats = npt.NDArray[np.float64]
RECOVERED, DELAY_S = 0.95, 1.5
"""What a loop aims at: share of slots whose satellite is found, and seconds to a firing."""
LIMIT, BEFORE_S, LEAST_BEFORE = 2.0, 5.0, 25
"""The rule of the trigger, computed here once more from the probes alone."""
TARGETS = (Target("at", 1), Target("at", 5), Target("at", 15))
LEARN_S = 3600.0


@dataclass(frozen=True)
class Probes:
    """Own probes that were answered: when they were sent, and their round trips."""

    sent_s: Floats
    rtt_ms: Floats
    lost: int


@dataclass(frozen=True)
class Firing:
    """A firing by its record."""

    time_s: float
    started_s: float | None
    before_s: float
    after_s: float
    whole: bool
    exit_code: int | None
    trigger: str


@dataclass(frozen=True)
class Predicted:
    """What was foreseen at a second, by what was known then."""

    second: int
    foreseen: tuple[Foreseen, ...]


@dataclass(frozen=True)
class Seen:
    """All that the programs of a loop wrote."""

    rows: tuple[Row, ...]
    probes: Probes
    said: dict[float, str | None]
    """The satellite of each slot, by its beginning."""
    firings: tuple[Firing, ...]
    replayed_s: tuple[float, ...]
    """When the trigger fires on the log."""
    predicted: tuple[Predicted, ...]
    values: Seconds | None


def look(loop: Loop) -> Seen:
    """Read what was written; :class:`DataError` if there is next to nothing."""
    triggers = read_triggers(loop.out / TRIGGERS)
    rows = tuple(read_log(loop.out / LOG, triggers.known))
    probes = _probes(rows)
    if len(probes.sent_s) < 2:
        raise DataError(f"{loop.out}: no probe was answered; see serve.log and dish.log there")
    again = [one.time_unix_s for one in replay(triggers, rows) if one.what == "fired"]
    values, predicted = _predict(loop, probes)
    slot_s, offset_s = loop.world.spec.slot_s or 15.0, loop.world.spec.slot_offset_s
    said = {
        float(((time_s - 1.0 - offset_s) // slot_s - 1) * slot_s + offset_s): row["sky_satellite"]
        for time_s, row in rows
        if "sky_satellite" in row
    }
    return Seen(
        rows, probes, {slot: str(name) if name else None for slot, name in said.items()},
        tuple(_firings(loop.out / FIRED)), tuple(again), predicted, values,
    )  # fmt: skip


def judge(loop: Loop, seen: Seen) -> dict[str, Any]:
    """Return the findings, as plain numbers."""
    first_s, last_s = seen.rows[0][0], seen.rows[-1][0]
    over = over_limit(seen.probes)
    inside = [one for one in loop.sky.disturbances if first_s + BEFORE_S < one.start_unix_s]
    inside = [one for one in inside if one.end_unix_s + DELAY_S < last_s]
    begins = [_first_within(over, one) for one in inside]
    delays = []
    for begin, one in zip(begins, inside, strict=True):
        fired = [f.started_s for f in seen.firings if begin and _belongs(f, one) and f.started_s]
        if begin and fired:
            delays.append(min(fired) - begin)
    return {
        "seconds": last_s - first_s,
        "load": os.getloadavg()[0],
        "slots": _recovered(loop, seen, first_s, last_s),
        "probes": {"answered": len(seen.probes.sent_s), "lost": seen.probes.lost},
        "disturbances": {
            "made": len(inside),
            "over_the_limit": sum(one is not None for one in begins),
            "fired": len(delays),
        },
        "delay_s": spread(delays),
        "firings": {
            "recorded": len(seen.firings),
            "outside_of_disturbances": sum(
                not any(_belongs(f, one) for one in loop.sky.disturbances) for f in seen.firings
            ),
            "replayed_alike": [one.time_s for one in seen.firings]
            == [float(f"{time_s:.3f}") for time_s in seen.replayed_s],
        },
        "start_delay_s": spread([f.started_s - f.time_s for f in seen.firings if f.started_s]),
        "records": _records(seen, first_s, last_s),
        "forecasts": _forecasts(seen),
    }


def misses(found: dict[str, Any]) -> list[str]:
    """Return which aims were missed, in words; nothing if none."""
    said = []
    share, delay = found["slots"]["share"], found["delay_s"]["max"]
    if share is not None and share < RECOVERED:
        said.append(f"{100 * share:.0f} % of the slots' satellites were found")
    if delay is not None and delay > DELAY_S:
        said.append(f"a firing came {delay:.2f} s after the first probe over the limit")
    if not found["firings"]["replayed_alike"]:
        said.append("the log replays to other firings")
    records = found["records"]
    if records["with_trigger"] < records["n"] or records["whole"] < records["due_whole"]:
        said.append("a record lacks its trigger or its context")
    return said


def over_limit(probes: Probes) -> Floats:
    """Return when probes were sent whose round trip is over the limit."""
    total = np.concatenate([[0.0], np.cumsum(probes.rtt_ms)])
    known_s = probes.sent_s + probes.rtt_ms / 1e3
    first = np.searchsorted(known_s, known_s - BEFORE_S)
    count = np.arange(len(known_s)) - first
    mean = (total[: len(known_s)] - total[first]) / np.maximum(count, 1)
    above = (count >= LEAST_BEFORE) & (probes.rtt_ms > LIMIT * mean)
    return np.asarray(probes.sent_s[above])


def spread(values: Sequence[float]) -> dict[str, float | int | None]:
    """Return count, median, 99th percentile and maximum; null without values."""
    if not values:
        return {"n": 0, "p50": None, "p99": None, "max": None}
    p50, p99 = np.percentile(values, [50, 99]).tolist()
    return {"n": len(values), "p50": p50, "p99": p99, "max": max(values)}


def _probes(rows: Sequence[Row]) -> Probes:
    answered = [
        (time_s - rtt_ms / 1e3, rtt_ms)
        for time_s, row in rows
        if isinstance(rtt_ms := row.get("own_rtt_ms"), float)
    ]
    lost = sum(row.get("own_lost") == 1.0 for _, row in rows)
    pairs = np.array(answered).reshape(-1, 2)
    pairs = pairs[np.argsort(pairs[:, 0] + pairs[:, 1] / 1e3, kind="stable")]
    return Probes(pairs[:, 0], pairs[:, 1], lost)


def _firings(folder: Path) -> list[Firing]:
    found = []
    for file in sorted(folder.glob(f"*/{FIRING}")):
        said = json.loads(file.read_text())
        at, run = said["time_unix_s"], said["run"]
        times = [when for when, _, _ in said["context"]]
        found.append(
            Firing(
                time_s=float(f"{at:.3f}"),
                started_s=run and run["started_unix_s"],
                before_s=at - min(times),
                after_s=max(times) - at,
                whole=said["context_whole"],
                exit_code=run and run["exit_code"],
                trigger=said["trigger"],
            )
        )
    return sorted(found, key=lambda one: one.time_s)


def _belongs(firing: Firing, one: Disturbance) -> bool:
    """Tell whether a firing is due to a disturbance: its probes come back until a while later."""
    return one.start_unix_s <= firing.time_s <= one.end_unix_s + 1.0


def _first_within(over: Floats, one: Disturbance) -> float | None:
    inside = over[(over >= one.start_unix_s - STEP_S) & (over < one.end_unix_s)]
    return float(inside[0]) if len(inside) else None


def _recovered(loop: Loop, seen: Seen, first_s: float, last_s: float) -> dict[str, Any]:
    """Count slots that were seen from their beginning to a second after their end."""
    slot_s = loop.world.spec.slot_s or 15.0
    whole = [
        edge
        for edge in loop.sky.edges_unix_s
        if edge > first_s + 1.0 and edge + slot_s + 2.0 < last_s
    ]
    truth = {edge: loop.world.serving(edge + slot_s / 2) for edge in whole}
    served = {edge: name for edge, name in truth.items() if name}
    right = sum(seen.said.get(edge) == name for edge, name in served.items())
    share = right / len(served) if served else None
    return {"with_satellite": len(served), "recovered": right, "share": share}


def _records(seen: Seen, first_s: float, last_s: float) -> dict[str, Any]:
    """Count records, and those that must hold 30 s on both sides."""
    due = [f for f in seen.firings if first_s + CONTEXT_S < f.time_s < last_s - CONTEXT_S - 1.0]
    whole = [f for f in due if f.whole and min(f.before_s, f.after_s) > CONTEXT_S - 1.0]
    return {
        "n": len(seen.firings),
        "with_trigger": sum(f.trigger == "spike" for f in seen.firings),
        "due_whole": len(due),
        "whole": len(whole),
        "runs_with_code_0": sum(f.exit_code == 0 for f in seen.firings),
    }


def _predict(loop: Loop, probes: Probes) -> tuple[Seconds | None, tuple[Predicted, ...]]:
    """Foresee each second by those before it; the model has learned an hour of another link."""
    try:
        values = in_seconds(measurement("probes", "rtt", probes.sent_s, probes.rtt_ms))
    except DataError:  # too short a loop
        return None, ()
    start = loop.sky.start_unix_s - LEARN_S
    past = link_over(loop.world, start, LEARN_S, loop.plan.seed + 1, loop.plan.inflated)
    times = start + STEP_S * np.arange(len(past.rtt_ms))
    rows = walk(in_seconds(measurement("an hour before", "rtt", times, past.rtt_ms)))
    forecaster = Forecaster(
        train_all(predictor("slot-linear"), rows, TARGETS), rows.period_s, edge_s=12
    )
    found = []
    for second, value in zip(values.seconds.tolist(), values.values.tolist(), strict=True):
        forecaster.update(second, value)
        found.append(Predicted(second, tuple(forecaster.predict())))
    return values, tuple(found)


def _forecasts(seen: Seen) -> dict[str, Any]:
    """Return error, gain over the last value, and cover of the 80 % band, of each target."""
    if seen.values is None:
        return {}
    came = dict(zip(seen.values.seconds.tolist(), seen.values.values.tolist(), strict=True))
    found = {}
    for place, target in enumerate(TARGETS):
        pairs = [
            (one.foreseen[place], came[one.second], came[one.second + target.ahead_s])
            for one in seen.predicted
            if one.second + target.ahead_s in came
        ]
        if not pairs:
            continue
        errors = np.mean([abs(said.expected - value) for said, _, value in pairs])
        of_last = np.mean([abs(last - value) for _, last, value in pairs])
        found[str(target)] = {
            "n": len(pairs),
            "mae_ms": float(errors),
            "better_than_last": float(1 - errors / of_last),
            "in_band": float(np.mean([said.low <= value <= said.high for said, _, value in pairs])),
        }
    return found
