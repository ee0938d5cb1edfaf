"""How a connection behaves, as the command line and live runs choose it."""

from __future__ import annotations

from typing import Any, Literal

from skyweave.algorithms import catalogue
from skyweave.model import config
from skyweave.model.config import AckPath, Reinjection

Retry = Literal["always", "busy", "never"]
"""When a server asks a client for a proof of its address (RFC 9000, section 8.1.2)."""


def reinjection(word: Reinjection) -> dict[str, bool]:
    """Return what is retransmitted on other paths, as the endpoint takes it.

    >>> reinjection("tail")
    {'on_failure': False, 'at_tail': True}
    """
    return {"on_failure": word in ("failure", "all"), "at_tail": word in ("tail", "all")}


def options(
    scheduler: config.Algorithm,
    congestion: config.Algorithm,
    ack_path: AckPath,
    again: Reinjection,
    **more: Any,
) -> dict[str, Any]:
    """Return the options of an endpoint (``crates/sockets/src/options.rs``).

    Raises :class:`ConfigError` for algorithms that do not exist.
    """
    catalogue.check("scheduler", scheduler)
    catalogue.check("congestion", congestion)
    return {
        "scheduler": scheduler,
        "congestion": congestion,
        "ack_path": ack_path,
        "reinjection": reinjection(again),
        **more,
    }
