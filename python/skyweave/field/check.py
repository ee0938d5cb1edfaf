"""What a run on real networks cannot do, said before anything runs."""

from __future__ import annotations

from collections.abc import Mapping

from skyweave.engine import workloads
from skyweave.field.uplinks import Uplink
from skyweave.field.words import MOST_FLOWS
from skyweave.live.check import refusal_of
from skyweave.live.world import addresses
from skyweave.model import config

DEFAULT = "default"
"""The congestion control that a sender has unless told: the kernel's, or that of our endpoint."""


def refusal(run: config.Run, uplinks: Mapping[str, Uplink]) -> str | None:
    """Return why this machine cannot carry a run out, with what to do; ``None``: it can."""
    if len(run.paths) > addresses.MOST_PATHS:
        return f"the run has {len(run.paths)} paths, and {addresses.MOST_PATHS} may be; use fewer"
    if len(run.connections) > MOST_FLOWS:
        return (
            f"the run has {len(run.connections)} connections, and a server takes {MOST_FLOWS}; "
            "use fewer flows"
        )
    return next((why for one in run.connections if (why := _connection(one, uplinks))), None)


def _connection(one: config.Connection, uplinks: Mapping[str, Uplink]) -> str | None:
    if one.transport == "udp":
        return None
    player = workloads.program_of(one.workload)
    if player is not None:
        return (
            f"player '{player}' is a program, which plays on emulated links alone; "
            'take player = "discard" or "wait", and of films in chunks an abr'
        )
    reason = refusal_of(one, own_control=one.congestion == DEFAULT)
    if reason is not None or one.transport == "mpquic":
        return reason
    if one.transport == "tcp" and one.workload.kind == "bulk":
        return None
    for name in one.paths:
        link = uplinks[name]
        if not link.routed:
            return (
                f"what comes from {link.address} does not leave by '{link.device}', as "
                f"{'Multipath TCP' if one.transport == 'mptcp' else one.workload.kind} needs; "
                f"ip route add default via GATEWAY dev {link.device} table 101, "
                f"ip rule add from {link.address} table 101"
            )
    return None
