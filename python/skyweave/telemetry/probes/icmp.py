"""ICMP echo (RFC 792, RFC 4443), without rights where the system allows that."""

from __future__ import annotations

import os
import secrets
import socket
import struct

from skyweave.telemetry.probes.probe import OneSocket, ProbeError, resolve

_HEAD = struct.Struct("!BBHHH")
_ECHO = {socket.AF_INET: (8, 0), socket.AF_INET6: (128, 129)}
PAYLOAD_BYTES = 16


class IcmpProbe(OneSocket):
    """Echo requests; a random word in them says that an answer is to one of ours."""

    most_timeout_s = 60.0

    def __init__(self, host: str, device: str | None = None) -> None:
        """``device``: the one network device to send from; its address is the source."""
        family, place = resolve(host, 0)
        self.name = f"icmp:{host}"
        self._family = socket.AddressFamily(family)
        self._nonce = secrets.token_bytes(8)
        self._id = os.getpid() & 0xFFFF
        made, self._raw = _icmp_socket(self._family)
        super().__init__(made)
        try:
            if device is not None:  # before the source is chosen
                made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
            made.connect(place)
        except OSError as error:
            made.close()
            raise ProbeError(f"{host}: cannot be reached ({error.strerror}); check it") from None

    def send(self, number: int) -> None:
        """Send an echo request; see :class:`Probe <skyweave.telemetry.probes.probe.Probe>`."""
        kind, _ = _ECHO[self._family]
        payload = self._nonce + number.to_bytes(8, "big")
        sequence = number & 0xFFFF
        bare = _HEAD.pack(kind, 0, 0, self._id, sequence) + payload
        total = checksum(bare) if self._family == socket.AF_INET else 0  # the kernel's in IPv6
        self._socket.send(_HEAD.pack(kind, 0, total, self._id, sequence) + payload)

    def _number(self, said: bytes) -> int | None:
        """Return which request a message answers; in IPv4, raw sockets give the IP header too."""
        raw = self._raw and self._family == socket.AF_INET and said
        packet = said[4 * (said[0] & 15) :] if raw else said
        if len(packet) < _HEAD.size + PAYLOAD_BYTES or packet[0] != _ECHO[self._family][1]:
            return None
        payload = packet[_HEAD.size : _HEAD.size + PAYLOAD_BYTES]
        return int.from_bytes(payload[8:], "big") if payload[:8] == self._nonce else None


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _icmp_socket(family: socket.AddressFamily) -> tuple[socket.socket, bool]:
    """Return a ping socket, or a raw one where only root may ping."""
    protocol = socket.IPPROTO_ICMP if family == socket.AF_INET else socket.IPPROTO_ICMPV6
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            return socket.socket(family, kind | socket.SOCK_NONBLOCK, protocol), (
                kind == socket.SOCK_RAW
            )
        except PermissionError:
            continue
        except OSError as error:
            raise ProbeError(f"ICMP is not available here ({error.strerror})") from None
    raise ProbeError(
        "ICMP is not allowed here; run as root, or let your group ping: "
        "sysctl net.ipv4.ping_group_range='0 2147483647'"
    )
