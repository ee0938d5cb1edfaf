"""What can happen at a slot edge, and what is known before it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from skyweave.forecast.events.slots import SlotRows
from skyweave.forecast.measurement import Kind
from skyweave.model.drive import Values

Event = Literal["handover", "inflated", "outage"]
EVENTS: tuple[Event, ...] = get_args(Event)
LATELY, LONG = 4, 20
"""Slots of the last minute, and of the last five."""
LEAST_KNOWN = 10
"""An edge with fewer slots measured in the last five minutes is left out."""
VISIBLE = 2.0
"""A handover is visible if the level moves this many times as far as levels drift in a slot."""
INFLATED = 2.0
"""Times the median level of the last five minutes; for rates, this many times below."""
FEATURES = ("1", "at the last edge", "last minute", "five minutes", "level", "drift", "outage")


@dataclass(frozen=True)
class Edges:
    """The edges of a series that can be judged, a row each, for one kind of event.

    ``features`` are :data:`FEATURES`: whether the event came at the edge before, its share of the
    edges of the last minute and five minutes, the level against that of five minutes, the drift and
    outages of the slot that ends. ``came`` is whether the event did.
    """

    event: Event
    begin_unix_s: Values
    features: npt.NDArray[np.float64]
    came: npt.NDArray[np.bool_]


def edges_of(rows: SlotRows, kind: Kind, event: Event) -> Edges:
    """Return what was known before each edge, from slots before it alone, and what came."""
    happened = _happened(rows, kind, event)
    kept, features = [], []
    for row in range(LEAST_KNOWN, len(rows)):
        if np.isnan(happened[row]):
            continue
        long = slice(max(row - LONG, 0), row)
        if np.isfinite(happened[long]).sum() < LEAST_KNOWN or not rows.measured[row - 1]:
            continue
        kept.append(row)
        features.append(_features(rows, happened, row, long))
    place = np.array(kept, np.int64)
    table = np.array(features).reshape(len(kept), len(FEATURES))
    return Edges(event, rows.begin_unix_s[place], table, happened[place] > 0)


def _features(rows: SlotRows, happened: Values, row: int, long: slice) -> list[float]:
    usual = _median(rows.levels[long])
    return [
        1.0,
        _or(happened[row - 1], 0.0),
        _mean(happened[max(row - LATELY, 0) : row]),
        _mean(happened[long]),
        _or(abs(_log(rows.levels[row - 1]) - _log(usual)), 0.0),
        abs(_or(rows.drifts[row - 1], 0.0)),
        float(rows.outages[max(row - LATELY, 0) : row].mean()),
    ]


def _happened(rows: SlotRows, kind: Kind, event: Event) -> Values:
    """Whether the event came with each slot; NaN where that cannot be said."""
    found = np.full(len(rows), np.nan)
    for row in range(1, len(rows)):
        if rows.measured[row]:
            found[row] = _one(rows, kind, event, row)
    return found


def _one(rows: SlotRows, kind: Kind, event: Event, row: int) -> float:
    if event == "outage":
        return float(rows.outages[row])
    before = rows.levels[max(row - LONG, 0) : row]
    if event == "inflated":
        usual = _median(before)
        level = rows.levels[row]
        worse = level > INFLATED * usual if kind == "rtt" else level * INFLATED < usual
        return float(worse) if np.isfinite(level + usual) else np.nan
    drift = _median(np.abs(rows.drifts[max(row - LONG, 0) : row]))
    step = abs(_log(rows.levels[row]) - _log(rows.levels[row - 1]))
    return float(step > VISIBLE * drift) if np.isfinite(step + drift) else np.nan


def _median(values: Values) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else np.nan


def _mean(values: Values) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else 0.0


def _log(level: float) -> float:
    """The logarithm of a level; NaN for none, or where nothing was carried."""
    return float(np.log(level)) if level > 0 else np.nan


def _or(value: float, otherwise: float) -> float:
    return float(value) if np.isfinite(value) else otherwise
