"""Events: how likely the next slot edge brings a visible handover, an inflated slot, an outage.

:mod:`.slots` reduces a series to one row a slot, :mod:`.kinds` says what an event is and what is
known before each edge, :mod:`.logistic` learns, :mod:`.judge` compares with climatology.
"""

from skyweave.forecast.events.judge import Calibration, EventScore, Judged, judge
from skyweave.forecast.events.kinds import EVENTS, Edges, Event, edges_of
from skyweave.forecast.events.logistic import Logistic, fit
from skyweave.forecast.events.slots import SlotRows, in_slots

__all__ = [
    "EVENTS",
    "Calibration",
    "Edges",
    "Event",
    "EventScore",
    "Judged",
    "Logistic",
    "SlotRows",
    "edges_of",
    "fit",
    "in_slots",
    "judge",
]
