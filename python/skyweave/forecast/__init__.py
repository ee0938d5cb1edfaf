"""Forecasts: what is known about the future of a path, and slots found in measurements."""

from skyweave.forecast.edges import Edge
from skyweave.forecast.measurement import Kind, Measurement, join, measurement
from skyweave.forecast.outlook import ForecastFile, read_forecast, slot_forecast
from skyweave.forecast.readers import read_measurement
from skyweave.forecast.slots import Profile, SlotEstimate, estimate_slots

__all__ = [
    "Edge",
    "ForecastFile",
    "Kind",
    "Measurement",
    "Profile",
    "SlotEstimate",
    "estimate_slots",
    "join",
    "measurement",
    "read_forecast",
    "read_measurement",
    "slot_forecast",
]
