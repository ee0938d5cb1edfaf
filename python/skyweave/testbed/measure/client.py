"""A run's side of its server: what its environment says, and the gate opened from each uplink."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.measure.gate import Said
from skyweave.testbed.measure.knock import gate_port, knock


@dataclass(frozen=True)
class FarSide:
    """The server of this run."""

    server: str
    ports: dict[str, int]
    token: str
    uplinks: tuple[str, ...]

    @classmethod
    def of_environment(cls) -> FarSide:
        """Read what the node has put into the environment; :class:`TestbedError` outside a run."""
        try:
            ports = dict(one.split("=") for one in os.environ["SKYWEAVE_PORTS"].split(","))
            return cls(
                os.environ["SKYWEAVE_SERVER"], {one: int(port) for one, port in ports.items()},
                os.environ["SKYWEAVE_TOKEN"],
                tuple(filter(None, os.environ.get("SKYWEAVE_UPLINKS", "").split(","))),
            )  # fmt: skip
        except (KeyError, ValueError):
            raise TestbedError(
                "this is no run with a server; name a server and its services in the experiment"
            ) from None

    def open(self) -> Said:
        """Open the gate from each uplink, so that all of their addresses are let in."""
        gate = gate_port(self.ports)
        said = [knock(self.server, gate, self.token, one) for one in self.uplinks or (None,)]
        return said[0]
