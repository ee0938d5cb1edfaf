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

        The kernel counts the memory of packets, we count payload: of a packet from a TUN device
        62 % is payload to the receiver (its ``scaling_ratio``, measured on Linux 6.18), and to the
        sender (1448 of the 2304 bytes of ``tcp_sndbuf_expand``) 63 %.
        """
        receive, send = (size * 8 // 5 for size in (self.receive_bytes, self.send_bytes))
        first = (131_072, 16_384) if self.autotune else (receive, send)
        return {
            "tcp_rmem": f"4096 {min(first[0], receive)} {receive}",
            "tcp_wmem": f"4096 {min(first[1], send)} {send}",
        }
