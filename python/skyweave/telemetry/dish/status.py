"""A status as a row: every field optional, and null is never 0.

A column is null where the firmware's schema lacks the field, where the message that would hold it
is absent, and where its value is impossible (NaN, infinite, out of range).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import polars as pl

from skyweave.printing import visible

Row = dict[str, Any]
LONGEST = 200
"""Characters of a text that a dish says."""
INFINITE = math.inf


class Column(NamedTuple):
    """Where a column is in the message, and what is possible."""

    name: str
    place: str
    kind: Any
    low: float = -INFINITE
    high: float = INFINITE


COLUMNS = (
    Column("firmware", "device_info.software_version", pl.String),
    Column("hardware", "device_info.hardware_version", pl.String),
    Column("bootcount", "device_info.bootcount", pl.Int64, 0),
    Column("uptime_s", "device_state.uptime_s", pl.Int64, 0),
    Column("ping_latency_ms", "pop_ping_latency_ms", pl.Float64, 0, 60_000),
    Column("ping_drop_ratio", "pop_ping_drop_rate", pl.Float64, 0, 1),
    Column("down_mbps", "downlink_throughput_bps", pl.Float64, 0, 1e12),
    Column("up_mbps", "uplink_throughput_bps", pl.Float64, 0, 1e12),
    Column("seconds_to_slot", "seconds_to_first_nonempty_slot", pl.Float64, 0, 1e6),
    Column("obstructed_ratio", "obstruction_stats.fraction_obstructed", pl.Float64, 0, 1),
    Column("obstructed", "obstruction_stats.currently_obstructed", pl.Boolean),
    Column("azimuth_deg", "boresight_azimuth_deg", pl.Float64, -360, 360),
    Column("elevation_deg", "boresight_elevation_deg", pl.Float64, -90, 90),
    Column("tilt_deg", "alignment_stats.tilt_angle_deg", pl.Float64, -180, 180),
    Column("attitude_error_deg", "alignment_stats.attitude_uncertainty_deg", pl.Float64, 0, 360),
    Column("q_scalar", "ned2dish_quaternion.q_scalar", pl.Float64, -1.01, 1.01),
    Column("q_x", "ned2dish_quaternion.q_x", pl.Float64, -1.01, 1.01),
    Column("q_y", "ned2dish_quaternion.q_y", pl.Float64, -1.01, 1.01),
    Column("q_z", "ned2dish_quaternion.q_z", pl.Float64, -1.01, 1.01),
    Column("snr_above_noise", "is_snr_above_noise_floor", pl.Boolean),
    Column("gps_valid", "gps_stats.gps_valid", pl.Boolean),
    Column("gps_satellites", "gps_stats.gps_sats", pl.Int64, 0, 1000),
)
ATTITUDE = (
    "azimuth_deg", "elevation_deg", "tilt_deg", "attitude_error_deg", "q_scalar", "q_x", "q_y",
    "q_z",
)  # fmt: skip
"""Columns that tell where a dish is once maps or satellites are known beside them."""
PLACE = ("latitude_deg", "longitude_deg", "height_m")
SCHEMA: dict[str, Any] = {
    "time_unix_s": pl.Float64,
    "clock_offset_s": pl.Float64,
    "gap_s": pl.Float64,
    "gap_why": pl.String,
    "state": pl.String,
    "alerts": pl.String,
    **{one.name: one.kind for one in COLUMNS},
    **dict.fromkeys(PLACE, pl.Float64),
}
"""The columns of a status in a file; ``gap_s`` is how long no answer came before this one."""


def status_row(message: Any) -> Row:
    """Return the columns that a ``DishGetStatusResponse`` fills."""
    row: Row = {one.name: _read(message, one) for one in COLUMNS}
    row["state"] = _state(message)
    row["alerts"] = _alerts(message)
    no_lost_latency(row)
    return row


def no_lost_latency(row: Row) -> None:
    """Make the latency null where no ping came back: dishes say 0 then."""
    if row.get("ping_drop_ratio") == 1.0:
        row["ping_latency_ms"] = None


def quaternion(row: Row) -> tuple[float, float, float, float] | None:
    """Return the attitude of a row; None where it is not whole."""
    found = [row.get(name) for name in ("q_scalar", "q_x", "q_y", "q_z")]
    if any(value is None for value in found):
        return None
    w, x, y, z = (float(value) for value in found if value is not None)
    return (w, x, y, z)


def take(message: Any, place: str) -> Any:
    """Return the field at a dotted place; None where the schema or the message lacks it."""
    *parts, last = place.split(".")
    for part in parts:
        if part not in message.DESCRIPTOR.fields_by_name or not message.HasField(part):
            return None
        message = getattr(message, part)
    return getattr(message, last) if last in message.DESCRIPTOR.fields_by_name else None


def _read(message: Any, column: Column) -> Any:
    value = take(message, column.place)
    if value is None:
        return None
    if column.kind == pl.String:
        return visible(str(value))[:LONGEST]
    if column.kind == pl.Boolean:
        return bool(value)
    if not column.low <= value <= column.high:  # NaN is refused, too
        return None
    if column.kind == pl.Int64:
        return int(value)
    return float(value) / 1e6 if column.name.endswith("_mbps") else float(value)


def _state(message: Any) -> str | None:
    """Return ``CONNECTED``, or the cause of the outage under way."""
    field = message.DESCRIPTOR.fields_by_name.get("outage")
    if field is None:
        return None
    if not message.HasField("outage"):
        return "CONNECTED"
    cause = field.message_type.fields_by_name.get("cause")
    if cause is None:
        return "OUTAGE"
    number = message.outage.cause
    known = cause.enum_type.values_by_number.get(number)
    return visible(known.name)[:LONGEST] if known is not None else f"CAUSE_{number}"


def _alerts(message: Any) -> str | None:
    """Return the names of the alerts that are set, with spaces between them."""
    field = message.DESCRIPTOR.fields_by_name.get("alerts")
    if field is None or not message.HasField("alerts"):
        return None
    names = [
        one.name for one in field.message_type.fields if getattr(message.alerts, one.name) is True
    ]
    return visible(" ".join(names))[: 5 * LONGEST]
