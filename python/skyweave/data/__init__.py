"""Traces: importing measured drives, describing and writing drives."""

from skyweave.data.importers import FORMATS, Format, detect, load, opportunities_ms
from skyweave.data.metrics import ConcurrentOutage, concurrent_outage, outage_share
from skyweave.data.registry import (
    DataSet,
    Derived,
    File,
    data_set,
    data_sets,
    fetch,
    find,
    load_set,
)
from skyweave.data.statistics import describe
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
    "Derived",
    "File",
    "Format",
    "concurrent_outage",
    "data_set",
    "data_sets",
    "describe",
    "detect",
    "fetch",
    "find",
    "load",
    "load_set",
    "opportunities",
    "opportunities_ms",
    "outage_share",
    "write_drive",
    "write_drives",
    "write_mahimahi",
    "write_one_way_delay",
    "write_opportunities",
    "write_time_value",
]
