"""Traces: importing measured drives, making synthetic ones, describing and writing both."""

from skyweave.data.importers import FORMATS, Format, detect, load, opportunities_ms
from skyweave.data.metrics import ConcurrentOutage, concurrent_outage, outage_share
from skyweave.data.preset import Preset, load_preset, preset_names
from skyweave.data.registry import DataSet, data_set, data_sets, fetch, find, load_set
from skyweave.data.statistics import describe
from skyweave.data.synthesis import synthesise
from skyweave.data.writers import (
    opportunities,
    write_drive,
    write_drives,
    write_mahimahi,
    write_one_way_delay,
    write_opportunities,
    write_time_value,
)

__all__ = [
    "FORMATS",
    "ConcurrentOutage",
    "DataSet",
    "Format",
    "Preset",
    "concurrent_outage",
    "data_set",
    "data_sets",
    "describe",
    "detect",
    "fetch",
    "find",
    "load",
    "load_preset",
    "load_set",
    "opportunities",
    "opportunities_ms",
    "outage_share",
    "preset_names",
    "synthesise",
    "write_drive",
    "write_drives",
    "write_mahimahi",
    "write_one_way_delay",
    "write_opportunities",
    "write_time_value",
]
