"""The kernel's socket buffers in a world."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Buffers:
    """Limits of the kernel's socket buffers, in bytes, and where they begin."""

    send_bytes: int
    receive_bytes: int
    autotune: bool

    def sysctls(self) -> dict[str, str]:
        """Return what to write into ``net.ipv4.tcp_rmem`` and ``tcp_wmem``.

        A receive buffer of twice the window: the kernel counts the memory of packets, and at first
        reckons with one byte of overhead for each of data (``TCP_DEFAULT_SCALING_RATIO``).
        """
        receive, send = 2 * self.receive_bytes, 2 * self.send_bytes
        first = (131_072, 16_384) if self.autotune else (receive, send)
        return {
            "tcp_rmem": f"4096 {min(first[0], receive)} {receive}",
            "tcp_wmem": f"4096 {min(first[1], send)} {send}",
        }
