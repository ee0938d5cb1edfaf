"""The workload of a run, out of its settings."""

from __future__ import annotations

from typing import Literal

from skyweave.engine import workloads
from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.study.compile.product import Chosen

MIB = 2**20
"""Bytes of a mebibyte."""


def workload_of(
    one: Chosen, direction: Literal["down", "up"], duration_s: float
) -> config.Bulk | config.Workload:
    """Return what runs over a connection that lasts ``duration_s``.

    Raises :class:`ConfigError` for a workload that cannot be.
    """
    chosen, file_mib = one["workload"], one["file_mib"]
    if chosen == "bulk":
        size = None if file_mib is None else round(file_mib * MIB)
        return config.Bulk(direction=direction, duration_s=duration_s, bytes=size)
    if file_mib is not None:
        raise ConfigError(
            f"file_mib is the size of a bulk transfer, and the workload is '{chosen.kind}'; "
            "leave file_mib out"
        )
    if chosen.direction not in (direction, "both") and "direction" in chosen.model_fields_set:
        raise ConfigError(
            f"the workload '{chosen.kind}' goes {chosen.direction}, and the setting direction is "
            f'"{direction}"; leave direction out of the workload, or make it "both"'
        )
    way = "both" if chosen.direction == "both" else direction
    found: config.Workload = chosen.model_copy(update={"direction": way, "duration_s": duration_s})
    workloads.check(found)
    if one["engine"] == "sim":
        workloads.check_simulated(found)
    return found
