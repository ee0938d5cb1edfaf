"""The node's side of a gate: show the token, learn where the services are."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from skyweave.field import knock as gates
from skyweave.field.errors import FieldError
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.measure.gate import Said


def gate_port(ports: Mapping[str, int]) -> int:
    """Return where the gate of a run is: below the lowest of its services' ports.

    >>> gate_port({"iperf3": 5202, "probe": 5201})
    5200
    """
    if not ports:
        raise TestbedError("the run has no service of a server; name one in the experiment")
    return min(ports.values()) - 1


def knock(server: str, port: int, token: str, device: str | None = None) -> Said:
    """Show the token at a gate, from a network device if one is named; return what it says.

    Raises :class:`TestbedError` if nobody answers, or nothing is said to this token.
    """
    try:
        return Said.model_validate(gates.knock(server, port, token, device))
    except FieldError as error:
        raise TestbedError(str(error)) from None
    except ValidationError:
        raise TestbedError(f"{server}:{port}: is no gate of a measurement server") from None
