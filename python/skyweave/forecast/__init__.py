"""Forecasts: what is known about the future of a path, and slots found in measurements."""

from skyweave.forecast.edges import Edge
from skyweave.forecast.measurement import Kind, Measurement, join, measurement
from skyweave.forecast.slots import SlotEstimate, estimate_slots

__all__ = ["Edge", "Kind", "Measurement", "SlotEstimate", "estimate_slots", "join", "measurement"]
