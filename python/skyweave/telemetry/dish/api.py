"""The part of the dish's gRPC interface that is spoken here: names and numbers of fields.

The dish has one call, ``SpaceX.API.Device.Device/Handle``, whose request and response name what
is meant. A client learns the numbers from the dish itself, by server reflection; only the fake dish
needs them. A schema is made for a firmware: :func:`schema` leaves out what a firmware lacks.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "SpaceX.API.Device"
SERVICE = f"{PACKAGE}.Device"
METHOD = f"/{SERVICE}/Handle"
FILE = "spacex/api/device/device.proto"

Field = tuple[int, str]
"""Number and type: a scalar of protobuf, or one of the messages here; ``*`` makes it repeated."""

MESSAGES: dict[str, dict[str, Field]] = {
    "GetStatusRequest": {},
    "GetHistoryRequest": {},
    "GetLocationRequest": {},
    "DishGetObstructionMapRequest": {},
    "DishClearObstructionMapRequest": {},
    "Request": {
        "get_status": (1004, "GetStatusRequest"),
        "get_history": (1007, "GetHistoryRequest"),
        "get_location": (1017, "GetLocationRequest"),
        "dish_get_obstruction_map": (2008, "DishGetObstructionMapRequest"),
        "dish_clear_obstruction_map": (2017, "DishClearObstructionMapRequest"),
    },
    "DeviceInfo": {
        "id": (1, "string"),
        "hardware_version": (2, "string"),
        "software_version": (3, "string"),
        "bootcount": (7, "int32"),
    },
    "DeviceState": {"uptime_s": (1, "uint64")},
    "DishAlerts": {
        "motors_stuck": (1, "bool"),
        "thermal_throttle": (2, "bool"),
        "thermal_shutdown": (3, "bool"),
        "mast_not_near_vertical": (4, "bool"),
        "roaming": (7, "bool"),
        "is_heating": (10, "bool"),
    },
    "DishOutage": {
        "cause": (1, "Cause"),
        "start_timestamp_ns": (2, "int64"),
        "duration_ns": (3, "uint64"),
        "did_switch": (4, "bool"),
    },
    "DishGpsStats": {"gps_valid": (1, "bool"), "gps_sats": (2, "uint32")},
    "DishObstructionStats": {
        "fraction_obstructed": (1, "float"),
        "valid_s": (4, "float"),
        "currently_obstructed": (5, "bool"),
    },
    "AlignmentStats": {
        "tilt_angle_deg": (3, "float"),
        "boresight_azimuth_deg": (4, "float"),
        "boresight_elevation_deg": (5, "float"),
        "attitude_uncertainty_deg": (7, "float"),
    },
    "Quaternion": {
        "q_scalar": (1, "float"),
        "q_x": (2, "float"),
        "q_y": (3, "float"),
        "q_z": (4, "float"),
    },
    "DishGetStatusResponse": {
        "device_info": (1, "DeviceInfo"),
        "device_state": (2, "DeviceState"),
        "seconds_to_first_nonempty_slot": (1002, "float"),
        "pop_ping_drop_rate": (1003, "float"),
        "obstruction_stats": (1004, "DishObstructionStats"),
        "alerts": (1005, "DishAlerts"),
        "downlink_throughput_bps": (1007, "float"),
        "uplink_throughput_bps": (1008, "float"),
        "pop_ping_latency_ms": (1009, "float"),
        "boresight_azimuth_deg": (1011, "float"),
        "boresight_elevation_deg": (1012, "float"),
        "outage": (1014, "DishOutage"),
        "gps_stats": (1015, "DishGpsStats"),
        "is_snr_above_noise_floor": (1018, "bool"),
        "alignment_stats": (1027, "AlignmentStats"),
        "ned2dish_quaternion": (1036, "Quaternion"),
    },
    "DishGetHistoryResponse": {
        "current": (1, "uint64"),
        "pop_ping_drop_rate": (1001, "*float"),
        "pop_ping_latency_ms": (1002, "*float"),
        "downlink_throughput_bps": (1003, "*float"),
        "uplink_throughput_bps": (1004, "*float"),
        "power_in": (1010, "*float"),
    },
    "DishGetObstructionMapResponse": {
        "num_rows": (1, "uint32"),
        "num_cols": (2, "uint32"),
        "snr": (3, "*float"),
        "min_elevation_deg": (4, "float"),
        "max_theta_deg": (5, "float"),
        "map_reference_frame": (6, "Frame"),
    },
    "DishClearObstructionMapResponse": {},
    "LLAPosition": {"lat": (1, "double"), "lon": (2, "double"), "alt": (3, "double")},
    "GetLocationResponse": {"lla": (1, "LLAPosition")},
    "Response": {
        "get_location": (1017, "GetLocationResponse"),
        "dish_get_status": (2004, "DishGetStatusResponse"),
        "dish_get_history": (2006, "DishGetHistoryResponse"),
        "dish_get_obstruction_map": (2008, "DishGetObstructionMapResponse"),
        "dish_clear_obstruction_map": (2017, "DishClearObstructionMapResponse"),
    },
}
CAUSES = (
    "UNKNOWN", "BOOTING", "STOWED", "THERMAL_SHUTDOWN", "NO_SCHEDULE", "NO_SATS", "OBSTRUCTED",
    "NO_DOWNLINK", "NO_PINGS", "ACTUATOR_ACTIVITY", "CABLE_TEST", "SLEEPING",
)  # fmt: skip
FRAMES = ("FRAME_UNKNOWN", "FRAME_EARTH", "FRAME_UT")
_ENUMS = {"Cause": ("DishOutage", CAUSES), "Frame": ("DishGetObstructionMapResponse", FRAMES)}
_ONEOFS = {"Request": "request", "Response": "response"}
_SCALARS = {
    name: getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{name.upper()}")
    for name in ("bool", "double", "float", "int32", "int64", "string", "uint32", "uint64")
}


class Schema:
    """The classes of one firmware's messages, by name, in a pool of their own."""

    def __init__(self, without: Collection[str] = ()) -> None:
        self.pool = descriptor_pool.DescriptorPool()
        self.pool.Add(_file(without))

    def message(self, name: str) -> Any:
        """Return the class of a message."""
        found = self.pool.FindMessageTypeByName(f"{PACKAGE}.{name}")
        return message_factory.GetMessageClass(found)


def _file(without: Collection[str]) -> Any:
    """Describe all messages and the service; ``without``: fields as ``Message.field``."""
    file = descriptor_pb2.FileDescriptorProto(name=FILE, package=PACKAGE, syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for enum, (home, values) in _ENUMS.items():
            if home == name:
                made = message.enum_type.add(name=enum)
                for number, value in enumerate(values):
                    made.value.add(name=value, number=number)
        if name in _ONEOFS:
            message.oneof_decl.add(name=_ONEOFS[name])
        for field, (number, kind) in fields.items():
            if f"{name}.{field}" not in without:
                _add(message, field, number, kind)
    service = file.service.add(name="Device")
    service.method.add(
        name="Handle", input_type=f".{PACKAGE}.Request", output_type=f".{PACKAGE}.Response"
    )
    return file


def _add(message: Any, name: str, number: int, kind: str) -> None:
    field = message.field.add(name=name, number=number)
    bare = kind.removeprefix("*")
    field.label = field.LABEL_REPEATED if bare != kind else field.LABEL_OPTIONAL
    if bare in _SCALARS:
        field.type = _SCALARS[bare]
    elif bare in _ENUMS:
        field.type, field.type_name = field.TYPE_ENUM, f".{PACKAGE}.{_ENUMS[bare][0]}.{bare}"
    else:
        field.type, field.type_name = field.TYPE_MESSAGE, f".{PACKAGE}.{bare}"
    if message.name in _ONEOFS:
        field.oneof_index = 0
