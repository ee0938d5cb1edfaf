"""LTE cells as paths: signal strength of several cells of several operators to capacity."""

from skyweave.radio.delay import delay_ms
from skyweave.radio.equations import capacity_mbps, sinr_db, sinr_of_each_db

__all__ = ["capacity_mbps", "delay_ms", "sinr_db", "sinr_of_each_db"]
