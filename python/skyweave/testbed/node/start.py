"""A node's agent made from its folder: what it needs of the machine is checked and made ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.agent import Agent
from skyweave.testbed.node.book import Book
from skyweave.testbed.node.home import Home
from skyweave.testbed.node.policy import Policy, read_policy
from skyweave.testbed.node.sandbox import (
    Ground,
    Groups,
    Ways,
    can_forward6,
    default_devices,
    forwards6,
    guard,
    lacking,
    unguard,
)
from skyweave.testbed.node.settings import Leases, Sysctl
from skyweave.testbed.node.talk import Talk
from skyweave.testbed.node.tools import alone
from skyweave.testbed.node.yielding import WatchedDevices, WatchedDish, Yielding

FORWARDING = "forwarding"
"""The lease of what the whole node needs: its uplinks carry for the runs."""


@contextmanager
def started(folder: Path, say: Callable[[str], object]) -> Iterator[Agent]:
    """Yield the agent of a folder; it is the only one there while this lasts.

    Raises :class:`TestbedError` and :class:`skyweave.ConfigError` for what is missing or wrong.
    """
    home = Home(folder)
    who = home.identity()
    if who.kind != "node":
        raise TestbedError(f"{folder}: joined as a server; 'skyweave measure serve' is for it")
    policy = read_policy(home.policy)
    if (why := lacking()) is not None:
        raise TestbedError(why)
    with alone(folder):
        ground = Ground(
            folder, home.mark, Groups.found(home.mark), dict(policy.uplinks),
            Ways(policy.reach, policy.ipv6, policy.resolver),
        )  # fmt: skip
        for name in ground.groups.missing:
            say(f"there is no control group for '{name}' on this machine; docs/nodes.md says more")
        leases = Leases(folder / "settings")
        for sentence in leases.replay():
            say(sentence)
        devices = default_devices(ground.uplinks)
        leases.apply(FORWARDING, forwarding(devices, policy.ipv6, say))
        link = home.link()
        try:
            book = Book(home.book)
            talk = Talk(who.name, who.orchestrator_key, link, book, folder, say=say)
            yield Agent(
                talk, link, ground, policy, say=say, yielding=lambda: _yielding(policy, devices)
            )
        finally:
            link.close()
            for sentence in leases.restore(FORWARDING):
                say(sentence)
            unguard()


def forwarding(devices: list[str], ipv6: bool, say: Callable[[str], object]) -> list[Sysctl]:
    """Return what lets uplinks carry for runs; by then a firewall keeps them from all else.

    ``ipv6``: of that, too; ``say`` is given a sentence if this kernel cannot.
    """
    wanted = [Sysctl(name=f"net.ipv4.conf.{one}.forwarding", value="1") for one in devices]
    closed = [one for one, setting in zip(devices, wanted, strict=True) if setting.read() == "0"]
    closed6: list[str] = []
    if ipv6 and not can_forward6():
        say("runs have no IPv6 here: before Linux 6.17 it would make a router of this machine")
    elif ipv6 and not forwards6():
        closed6 = devices
        wanted += [
            Sysctl(name=f"net.ipv6.conf.{one}.force_forwarding", value="1") for one in devices
        ]
    guard(closed, closed6)
    return wanted


def _yielding(policy: Policy, devices: list[str]) -> Yielding | None:
    if policy.yield_to == "nobody":
        return None
    return WatchedDish(policy.dish) if policy.yield_to == "dish" else WatchedDevices(devices)
