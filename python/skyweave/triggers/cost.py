"""What triggered tests save over continuous ones (T3P, S3-N2)."""

from __future__ import annotations

from dataclasses import dataclass

from skyweave.errors import ConfigError

HEADER_BYTES = 60
"""IPv4 and TCP with options: 4 % of a packet, as T3P counts."""
PACKET_BYTES = 1500


@dataclass(frozen=True)
class Cost:
    """Bits of a test that runs all the time, and what a trigger saves of them."""

    bits: float
    header_bits: float
    saved_bits: float
    saved_header_bits: float


def cost(
    hours: float, rate_mbps: float, duty: float, header_bytes: int = HEADER_BYTES,
    packet_bytes: int = PACKET_BYTES,
) -> Cost:  # fmt: skip
    """Return the cost of ``hours`` at ``rate_mbps``, and what a share ``duty`` of them saves.

    >>> found = cost(24, 40, 0.1)
    >>> found.bits / 1e12, found.header_bits / 1e9, found.saved_bits / 1e12
    (3.456, 138.24, 3.1104)
    """
    if not (0 < hours <= 1e6 and 0 < rate_mbps <= 1e6 and 0 <= duty <= 1):
        raise ConfigError("give hours and Mbit/s above 0, and a duty from 0 to 1")
    if not 0 < header_bytes <= packet_bytes:
        raise ConfigError("headers are at least a byte, and no longer than the packet")
    bits = hours * 3600 * rate_mbps * 1e6
    header_bits = bits * header_bytes / packet_bytes
    return Cost(bits, header_bits, bits * (1 - duty), header_bits * (1 - duty))
