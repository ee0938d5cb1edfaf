"""What the report knows a run by."""

from __future__ import annotations

from skyweave.model import config
from skyweave.results.pathset import PathSet
from skyweave.study.compile.drives import DriveRun
from skyweave.study.compile.product import Chosen
from skyweave.study.language.flows import mix_labels
from skyweave.study.language.settings import LABELS, About

Label = str | float | bool | None
OF_DATA = ("congestion", "send_buffer_mb", "receive_buffer_mb", "autotune")


def labels_of(
    member: DriveRun, paths: tuple[str, ...], one: Chosen, connection: config.Connection
) -> dict[str, Label]:
    """Return the labels of a run: its drive, its path set, and one for each setting of the table.

    ``None``: runs of this transport have no such setting.
    """
    values, real = _values(one, connection), one["engine"] == "field"
    return {
        "drives": member.source,
        "drive": member.drive.name,
        "origin": member.drive.origin,
        "synthetic": member.drive.synthetic,
        "seed": member.seed,
        "direction": connection.workload.main_direction,
        "paths": PathSet.of(paths),
        "transport": connection.transport,
        **{
            name: None
            if real and _is_emulated(name, about, connection)
            else _label(about, values[name], connection)
            for name, about in LABELS.items()
        },
        **mix_labels(one["mix"]),
    }


def _is_emulated(name: str, about: About, connection: config.Connection) -> bool:
    """Tell whether a setting is of emulated links, or of data that probes do not have."""
    of_probes = connection.transport == "udp" and name in OF_DATA
    return about.of == "links" or of_probes


def _values(one: Chosen, connection: config.Connection) -> dict[str, object]:
    """Return what the run has for each label: from the connection, or as it was chosen."""
    own = {name: getattr(connection, name) for name in type(connection).model_fields}
    quic = {name: getattr(connection.quic, name) for name in type(connection.quic).model_fields}
    return {**own, **quic, **one, "multipath": connection.transport}


def _label(about: About, value: object, connection: config.Connection) -> Label:
    transports = {"multipath": ("mptcp", "mpquic"), "mptcp": ("mptcp",), "mpquic": ("mpquic",)}
    if connection.transport not in transports.get(about.of, (connection.transport,)):
        return None
    found: Label = about.label_of(value)
    return found
