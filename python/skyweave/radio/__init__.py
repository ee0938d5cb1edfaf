"""LTE cells as paths: signal strength of several cells of several operators to capacity."""

from skyweave.radio.cases import interfaces
from skyweave.radio.cells import CellGrid, pooled
from skyweave.radio.delay import delay_ms
from skyweave.radio.equations import capacity_mbps, sinr_db, sinr_of_each_db
from skyweave.radio.join import Joined, join
from skyweave.radio.logs import read_cells
from skyweave.radio.offer import Offer, offer, window_means
from skyweave.radio.paths import radio_drive
from skyweave.radio.summary import Spread, Summary, summarise
from skyweave.radio.synthetic import synthetic_cells

__all__ = [
    "CellGrid",
    "Joined",
    "Offer",
    "Spread",
    "Summary",
    "capacity_mbps",
    "delay_ms",
    "interfaces",
    "join",
    "offer",
    "pooled",
    "radio_drive",
    "read_cells",
    "sinr_db",
    "sinr_of_each_db",
    "summarise",
    "synthetic_cells",
    "window_means",
]
