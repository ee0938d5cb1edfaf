"""How a connection behaves, as the command line and live runs choose it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from skyweave.algorithms import catalogue
from skyweave.errors import ConfigError

if TYPE_CHECKING:
    from skyweave.model import config
    from skyweave.model.config import AckPath, Reinjection

Retry = Literal["always", "busy", "never"]
"""When a server asks a client for a proof of its address (RFC 9000, section 8.1.2)."""


_FIRST_WINDOW_BYTES = 16 << 20
"""The receive window that an end of a connection offers at first, if it may."""


MOST_MEMORY_MB = 4096


def reinjection(word: Reinjection) -> dict[str, bool]:
    """Return what is retransmitted on other paths, as the endpoint takes it.

    >>> reinjection("tail")
    {'on_failure': False, 'at_tail': True}
    """
    return {"on_failure": word in ("failure", "all"), "at_tail": word in ("tail", "all")}


def memory(memory_mb: float | None) -> dict[str, int]:
    """Return how much an end of a connection may hold, as the endpoint takes it.

    ``memory_mb`` (10^6 bytes) bounds what waits for acknowledgement, and what was not read yet;
    ``None``: the endpoint's own 16 MiB to send and 64 MiB to receive. Raises :class:`ConfigError`.

    >>> memory(4)["max_receive_window_bytes"]
    4000000
    """
    if memory_mb is None:
        return {}
    if not 0.1 <= memory_mb <= MOST_MEMORY_MB:
        raise ConfigError(f"a connection takes 0.1 to {MOST_MEMORY_MB} MB, not {memory_mb}")
    most = int(memory_mb * 1e6)
    first = min(most, _FIRST_WINDOW_BYTES)
    return {
        "send_buffer_bytes": most,
        "receive_window_bytes": first,
        "max_receive_window_bytes": most,
    }


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
