"""One run over the kernel's transports or multipath QUIC: both sides begin at the same moment."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skyweave.algorithms.catalogue import name_of
from skyweave.errors import ConfigError
from skyweave.field.check import DEFAULT
from skyweave.field.client import Talk
from skyweave.field.errors import FieldError
from skyweave.field.far import FarEnd
from skyweave.field.translate import Places, Seen, ports_of, translated
from skyweave.field.uplinks import Uplink
from skyweave.field.words import FarFlow, Listening
from skyweave.live.record.gather import end_of
from skyweave.live.traffic import quic
from skyweave.live.traffic.ends import Ends
from skyweave.live.traffic.kernel import CONGESTION, own_congestion
from skyweave.live.world import addresses
from skyweave.model import config

LEAST_LEAD_NS = 200_000_000
"""From the order to start until second 0: enough for the order to reach the server."""
_JOINING_S = 2.0
"""A subflow has joined by then: a server refuses the first SYN until it has had data (RFC 8684
section 3.2), and Linux sends the next one a second later."""


@dataclass(frozen=True)
class Carried:
    """What both sides saw of a run, in the words of a world, and what is to be said of it."""

    epoch_ns: int
    ends: tuple[list[Seen], list[Seen]]
    facts: dict[str, Any]


def carry(run: config.Run, far: FarEnd, uplinks: Mapping[str, Uplink]) -> Carried:
    """Carry a run out; ``uplinks`` are those of its paths.

    Raises :class:`skyweave.field.FieldError` if the server is not there or falls silent, and
    :class:`ConfigError` for what it refuses.
    """
    with Talk(far, uplinks) as talk:
        _check_congestion(run, talk)
        listening = talk.listen([_theirs(run, number) for number in range(len(run.connections))])
        lead_ns = max(LEAST_LEAD_NS, 6 * talk.error_ns)
        interval_ns = run.sample_interval_ms * 1_000_000
        epoch_ns = time.monotonic_ns() + lead_ns
        talk.begin(epoch_ns, interval_ns)
        flows = [
            _ours(run, number, epoch_ns, (far, uplinks, listening))
            for number in range(len(run.connections))
        ]
        near = Ends().carry(flows, epoch_ns, interval_ns)
        theirs = talk.answer(max(epoch_ns / 1e9 + run.stop_after_s - time.monotonic(), 0.0))
        return in_one_world(run, uplinks, talk, epoch_ns, (near, [plain(one) for one in theirs]))


def _check_congestion(run: config.Run, talk: Talk) -> None:
    """Refuse a control that the server may not set, where it is the server that sends."""
    first = next(iter(talk.known.values()))
    for one in run.connections:
        name, sends = _control(one), one.workload.main_direction == "down"
        if one.transport != "mpquic" and sends and name and name not in first.congestion:
            raise ConfigError(
                f"the server's Linux lets its users set {', '.join(first.congestion)}, and not "
                f"'{name}'; who runs it adds it to net.ipv4.tcp_allowed_congestion_control"
            )


def _control(one: config.Connection) -> str | None:
    """Return the kernel's name of a control; ``None``: that of the machine."""
    return None if one.congestion == DEFAULT else CONGESTION[name_of(one.congestion)]


def _times(run: config.Run, number: int) -> tuple[int, int]:
    one = run.connections[number]
    return round(one.start_s * 1e9), round(end_of(one, run) * 1e9)


def _workload(connection: config.Connection) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(connection.workload.model_dump_json())
    return found


def _theirs(run: config.Run, number: int) -> FarFlow:
    """Return a connection as the server has to know it."""
    one = run.connections[number]
    start_ns, end_ns = _times(run, number)
    sends = one.workload.main_direction == "down"
    if one.transport == "mpquic":
        order = quic.order(run, number)
        return FarFlow(
            transport="mpquic", sends=sends, workload=_workload(one),
            behaviour=order["behaviour"], start_ns=start_ns, end_ns=end_ns,
        )  # fmt: skip
    assert one.transport != "udp"
    return FarFlow(
        transport=one.transport, congestion=_control(one), sends=sends,
        size_bytes=one.workload.bytes,
        workload=None if one.workload.kind == "bulk" else _workload(one),
        start_ns=start_ns, end_ns=end_ns,
    )  # fmt: skip


def _ours(
    run: config.Run, number: int, epoch_ns: int,
    places: tuple[FarEnd, Mapping[str, Uplink], Listening],
) -> dict[str, Any]:  # fmt: skip
    """Return a connection as our side has to know it."""
    far, uplinks, listening = places
    one = run.connections[number]
    names = one.paths or tuple(path.name for path in run.paths)
    start_ns, end_ns = _times(run, number)
    common: dict[str, Any] = {
        "place": number, "transport": one.transport,
        "server": (far.address, listening.ports[number]),
        "sends": one.workload.main_direction == "up",
        "start_ns": epoch_ns + start_ns, "end_ns": epoch_ns + end_ns,
    }  # fmt: skip
    if one.transport == "mpquic":
        backups = {path.name for path in run.paths if path.backup}
        return {
            **common, "workload": _workload(one), **quic.order(run, number), "forecasts": [],
            "paths": [uplinks[name].device for name in names],
            "backups": [uplinks[name].device for name in names if name in backups],
            "pin": listening.pins.get(str(number), ""),
        }  # fmt: skip
    first, bulk = uplinks[names[0]], one.workload.kind == "bulk"
    return {
        **common, "congestion": _control(one) or own_congestion(), "source": first.address,
        "size_bytes": one.workload.bytes, "workload": None if bulk else _workload(one),
        "device": first.device if bulk and one.transport == "tcp" else None,
    }  # fmt: skip


def plain(seen: Any) -> Seen:
    """Return what the far side saw, as our own side says it."""
    found: Seen = seen.model_dump(mode="python")
    return {**found, "rows": list(found["rows"]), "events": list(found["events"])}


def _check_joined(run: config.Run, ours: Seen, uplinks: Mapping[str, Uplink]) -> None:
    """Refuse a run of Multipath TCP that never tried a path by which the server answers.

    One that fell back to TCP, because something on the way takes its options off, is a result, and
    so is one that ended before a second subflow had time to join.
    """
    one = run.connections[ours["place"]]
    rows = ours["rows"]
    if one.transport != "mptcp" or not rows or any(row.get("fallback") for row in rows):
        return
    if rows[-1]["at_ns"] - rows[0]["at_ns"] < _JOINING_S * 1e9:
        return
    met = {addresses.place_of(flow["local"][0]) for row in rows for flow in row["subflows"]}
    for place, path in enumerate(run.paths):
        if path.name in one.paths and place not in met:
            link = uplinks[path.name]
            raise FieldError(
                f"Multipath TCP opened no subflow over '{path.name}', by which the server answers; "
                f"ip mptcp endpoint add {link.address} dev {link.device} subflow"
            )


def in_one_world(
    run: config.Run, uplinks: Mapping[str, Uplink], talk: Talk, epoch_ns: int,
    both: tuple[list[Seen], list[Seen]],
) -> Carried:  # fmt: skip
    """Return what both sides saw by our clock, with the addresses of a world."""
    names = [path.name for path in run.paths]
    here = Places({place: uplinks[name].address for place, name in enumerate(names)})
    public = {place: talk.known[name].you for place, name in enumerate(names)}
    near, far = [], []
    unknown = 0
    for ours, theirs in zip(*both, strict=True):
        there = Places(public, ports_of(ours["rows"], here))
        near.append(translated(ours, here, "local"))
        far.append(translated(theirs, there, "remote", talk.offset_ns))
        unknown += there.unknown
        _check_joined(run, near[-1], uplinks)
    known = talk.known[names[0]]
    facts = {
        "server": {"kernel": known.kernel, "skyweave": known.skyweave},
        "public_addresses": {name: talk.known[name].you for name in names},
        "epoch_unix_s": time.time() - (time.monotonic_ns() - epoch_ns) / 1e9,
        "clock_error_ms": talk.error_ns / 1e6,
        "subflows_of_no_path": unknown,
        "congestion": [
            {"client": ours.get("congestion"), "server": theirs.get("congestion")}
            for ours, theirs in zip(*both, strict=True)
        ],
    }
    return Carried(epoch_ns, (near, far), facts)
