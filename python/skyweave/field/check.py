"""What a run on real networks cannot do, said before anything runs."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

from skyweave.engine import workloads
from skyweave.field.uplinks import Uplink
from skyweave.field.words import MOST_FLOWS
from skyweave.live.check import refusal_of
from skyweave.live.traffic import offers
from skyweave.live.traffic.players import is_played
from skyweave.live.world import addresses
from skyweave.model import config

PLAYERS = "skyweave.video.players"
"""Where the drivers of players are, which are programs."""
DEFAULT = "default"
"""The congestion control that a sender has unless told: the kernel's, or that of our endpoint."""


def refusal(run: config.Run, uplinks: Mapping[str, Uplink]) -> str | None:
    """Return why this machine cannot carry a run out, with what to do; ``None``: it can."""
    if len(run.paths) > addresses.MOST_PATHS:
        return f"the run has {len(run.paths)} paths, and {addresses.MOST_PATHS} may be; use fewer"
    if len(run.connections) > 1 and is_played(run):
        return "a run with a player that is a program has one connection; leave out the others"
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
    if player is not None and (why := _program(one, player)) is not None:
        return why
    reason = refusal_of(one, own_control=one.congestion == DEFAULT)
    if reason is not None or one.transport == "mpquic":
        return reason
    if one.transport == "tcp" and (one.workload.kind == "bulk" or player is not None):
        return None  # bound to its device
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


def _program(one: config.Connection, player: str) -> str | None:
    """Return why a player that is a program cannot play."""
    if one.transport == "mpquic":
        return (
            f"player '{player}' is a program, which plays over multipath QUIC on emulated links "
            'alone; take transport "tcp" or "mptcp", or player = "discard" or "wait"'
        )
    if one.congestion != DEFAULT:
        return (
            f"player '{player}' is served by nginx, which has the server's own congestion "
            f'control; take congestion = "{DEFAULT}"'
        )
    if importlib.util.find_spec(f"{PLAYERS}.{player}") is None:
        return f"this Skyweave has no driver of the player '{player}'"
    if (why := offers.refusal(one.workload)) is not None:
        return f"player '{player}' {why}"
    return None
