"""Whose machines the lab has, by which links they reach the rest of the world, and what they allow.

Addresses are those that the world has for this: of a carrier's translator for nodes, of
documentation for orchestrator and server (RFC 6890). Neither is public, so each node's policy names
the server's network in ``reach``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

ORCHESTRATOR = "198.51.100.1"
SERVER, SERVER_NETWORK = "203.0.113.1", "203.0.113.0/24"
WORLD = "world"
"""The namespace of orchestrator and server, at the far end of all links."""
DISH = "192.168.100.1"
"""Where every dish answers."""
ADMIN, RESEARCHER = "ada", "rita"
FAR = "far"
"""The name of the measurement server."""

Kind = Literal["starlink", "lte", "wire"]


@dataclass(frozen=True)
class Place:
    """One owner's machine, which is also its node's name and its namespace."""

    name: str
    owner: str
    links: tuple[Kind, ...]
    """Its uplinks by name, the default route first."""
    terminal: str | None = None
    """Where its dish is; ``None``: it has none."""
    waits: str | None = None
    """The id of an experiment that its trigger starts."""

    def policy(self) -> str:
        """Return the owner's policy file."""
        uplinks = "\n".join(f'{one} = "{one}"' for one in self.links)
        fires = f'[fires]\n{SPIKE} = "{self.waits}"\n' if self.waits else ""
        hints = f'[hints]\n{PREDICTED} = "{PREDICTOR}"\n' if self.waits else ""
        tells = 'tells = ["dish"]\n' if self.terminal else ""
        return f"""\
owner = "{self.owner}"
users = ["{RESEARCHER}"]
kinds = ["probe", "tcp", "mptcp", "mpquic", "video", "command"]
commands = ["{RESEARCHER}"]
runs_at_once = 2
reach = ["{SERVER_NETWORK}"]
{tells}[most]
cpu_share = 2.0
[uplinks]
{uplinks}
{fires}{hints}"""

    def triggers(self) -> str | None:
        """Return the file of triggers; ``None``: nothing waits here."""
        return TRIGGERS if self.waits else None

    def address(self, link: int) -> str:
        """Return the address on one of its links, counted from 0."""
        return f"100.64.{NAMES.index(self.name) + 1}.{link + 1}"

    def far_device(self, link: int) -> str:
        """Return the device of one of its links in the world: at most 15 characters."""
        return f"{self.name}-{self.links[link]}"


SPIKE = "spike"
PREDICTED, PREDICTOR = "own_rtt_ms", "predictor.json"
"""The series that is foreseen where a trigger waits, and the predictor's file."""
RULE = (
    'dish_state == "CONNECTED" && count_s("own_rtt_ms", 5.0) >= 30.0'
    ' && own_rtt_ms > 2.0 * mean_s("own_rtt_ms", 5.0)'
)
"""T3P's rule on own probes, after 5 s without a hole, while the dish says that it is connected."""
TRIGGERS = f"""\
[source.own]
kind = "probes"
icmp = "{SERVER}"

[source.dish]
kind = "dish"
host = "{DISH}:9200"

[[trigger]]
name = "{SPIKE}"
when = {json.dumps(RULE)}
cooldown_s = 60
"""

NAMES = ("boat", "farm", "house")


def places(waits: str) -> tuple[Place, ...]:
    """Return all machines; ``waits`` is the experiment that the boat's trigger starts."""
    return (
        Place("boat", "olga", ("starlink", "lte"), "seattle", waits),
        Place("farm", "omar", ("starlink",), "chicago"),
        Place("house", "omar", ("wire", "lte")),
    )
