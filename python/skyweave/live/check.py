"""What a live run cannot do, said before anything runs."""

from __future__ import annotations

import functools
from pathlib import Path

from skyweave.algorithms import catalogue
from skyweave.algorithms.catalogue import name_of
from skyweave.algorithms.own import is_own
from skyweave.engine import workloads
from skyweave.errors import ConfigError
from skyweave.live.traffic import players
from skyweave.live.traffic.kernel import CONGESTION
from skyweave.live.world import addresses
from skyweave.live.world.world import obstacle
from skyweave.model import config

MPTCP = Path("/proc/sys/net/mptcp/enabled")
"""It is there where the kernel has Multipath TCP."""


def refusal(run: config.Run) -> str | None:
    """Return why the kernel cannot carry this run out, with what to do; ``None``: it can."""
    reason = _machine()
    if reason is not None:
        return reason
    if len(run.paths) > addresses.MOST_PATHS:
        return f"the run has {len(run.paths)} paths, and {addresses.MOST_PATHS} may be; use fewer"
    for connection in run.connections:
        joins = len(connection.paths) or len(run.paths)
        if connection.transport == "mptcp" and joins > addresses.MOST_SUBFLOWS:
            most = addresses.MOST_SUBFLOWS
            return (
                f"a connection has {joins} paths, and Linux joins at most {most}; name {most} in "
                'paths, or set transport = "mpquic"'
            )
        reason = refusal_of(connection)
        if reason is not None:
            return reason
    return _shared(run) or players.refusal(run)


def refusal_of(connection: config.Connection, own_control: bool = False) -> str | None:
    """Return why this machine cannot carry such a connection; ``None``: it can.

    ``own_control``: the congestion control is whatever the machine has.
    """
    reason = _workload(connection)
    if reason is not None:
        return reason
    if connection.transport == "mpquic":
        return _unknown(connection)
    control = None if own_control else _congestion(connection.congestion)
    return _transport(connection) or control


def _workload(connection: config.Connection) -> str | None:
    """Return why the workload cannot be."""
    abr = workloads.own_abr(connection.workload)
    if abr is not None:
        return f"live runs have no ABR algorithms in Python, and '{catalogue.label(abr)}' is one"
    try:
        workloads.check(connection.workload)
    except ConfigError as error:
        return str(error)
    return None


def _unknown(connection: config.Connection) -> str | None:
    """Return which algorithm our own endpoints do not have."""
    if is_own(connection.scheduler):
        name = catalogue.label(connection.scheduler)
        return f"live runs have no schedulers in Python, and '{name}' is one"
    try:
        catalogue.check("scheduler", connection.scheduler)
        catalogue.check("congestion", connection.congestion)
    except ConfigError as error:
        return str(error)
    return None


@functools.cache
def _machine() -> str | None:
    """Return what this machine lacks."""
    reason = obstacle()
    return None if reason is None else f"no emulated network can be made: {reason}"


def _transport(connection: config.Connection) -> str | None:
    if connection.transport == "tcp":
        return None
    if not MPTCP.exists():
        return "this kernel has no Multipath TCP; take Linux 5.6 or later"
    if connection.subflows_per_path > 1:
        return "live runs have one subflow a path; leave subflows_per_path at 1"
    if connection.mode != "upstream":
        return (
            f"Linux speaks Multipath TCP in mode 'upstream', not '{connection.mode}'; "
            f'set mode = "upstream"'
        )
    if name_of(connection.scheduler) != "upstream" or isinstance(connection.scheduler, dict):
        return (
            f"Linux has one packet scheduler, 'upstream', not '{name_of(connection.scheduler)}'; "
            f'set scheduler = "upstream"'
        )
    return None


def _congestion(choice: config.Algorithm) -> str | None:
    name = name_of(choice)
    if name not in CONGESTION:
        known = ", ".join(CONGESTION)
        return f"Linux has no congestion control '{name}' (it has {known}); take one"
    if isinstance(choice, dict) and len(choice) > 1:
        set_here = next(key for key in choice if key != "name")
        return f"{set_here} of '{name}' cannot be set in Linux; leave it out"
    here = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    if CONGESTION[name] not in here:
        return (
            f"this kernel has not loaded the congestion control '{CONGESTION[name]}'; "
            f"modprobe tcp_{CONGESTION[name]}"
        )
    return None


def _shared(run: config.Run) -> str | None:
    """Return what connections of one namespace would have to share, and do not."""
    kernel = [c for c in run.connections if c.transport != "mpquic"]
    buffers = {(c.send_buffer_bytes, c.receive_buffer_bytes, c.autotune) for c in kernel}
    if len(buffers) > 1:
        return "the kernel's buffers are set for all connections alike; make them equal"
    together = {frozenset(c.paths) for c in run.connections if c.transport == "mptcp"}
    if len(together) > 1:
        return (
            "Linux lets every Multipath TCP connection use the same paths; "
            "give all connections one set"
        )
    return None
