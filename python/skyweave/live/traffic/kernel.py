"""What the kernel says of a TCP or Multipath TCP socket.

Layouts: ``struct tcp_info`` (include/uapi/linux/tcp.h), ``mptcp_full_info``, ``mptcp_subflow_info``
and ``mptcp_info`` (include/uapi/linux/mptcp.h), Linux 6.18; older kernels fill the front of them.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from dataclasses import dataclass
from typing import Any

CONGESTION = {"newreno": "reno", "cubic": "cubic", "cubic-linux": "cubic", "bbr": "bbr"}
"""Our names of congestion controls that Linux has, and Linux's."""

IPPROTO_MPTCP = 262
_SOL_MPTCP, _MPTCP_FULL_INFO = 284, 4
_TCP_INFO_BYTES, _SUBFLOW_BYTES, _MPTCP_INFO_BYTES = 280, 264, 160
_FULL_HEADER = struct.Struct("=6I2Q")
_FALLBACK = 1
"""``MPTCP_INFO_FLAG_FALLBACK``."""
_UNLIMITED = (1 << 64) - 1


@dataclass(frozen=True)
class SubflowInfo:
    """State and sums of one subflow, or of a TCP connection; its addresses say which."""

    local: tuple[str, int]
    remote: tuple[str, int]
    cwnd_packets: int
    srtt_ms: float
    min_rtt_ms: float
    in_flight_packets: int
    pacing_mbps: float | None
    acked_bytes: int
    received_bytes: int
    sent_bytes: int
    sent_packets: int
    retransmitted_packets: int
    timeouts: int


@dataclass(frozen=True)
class ConnectionInfo:
    """What a Multipath TCP connection says of itself."""

    fallback: bool
    reinjections: int
    subflows: tuple[SubflowInfo, ...]


def set_congestion(sock: socket.socket, name: str) -> None:
    """Set the congestion control of a socket and of the subflows that it will have."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())


def congestion_of(sock: socket.socket) -> str:
    """Return the kernel's name of the congestion control of a socket."""
    raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return raw.rstrip(b"\0").decode("ascii", "replace")


def own_congestion() -> str:
    """Return the congestion control that sockets here have if nobody sets another."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        return congestion_of(sock)


def tcp_state(sock: socket.socket) -> ConnectionInfo:
    """Return the state of a TCP socket in the form of a connection with one subflow."""
    raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    only = subflow_info(raw, sock.getsockname()[:2], sock.getpeername()[:2])
    return ConnectionInfo(False, 0, (only,))


def mptcp_state(sock: socket.socket) -> ConnectionInfo:
    """Return the state of a Multipath TCP socket (``MPTCP_FULL_INFO``).

    A connection that fell back to TCP has no subflows in it, and says so.
    """
    most = 16
    infos = ctypes.create_string_buffer(most * _TCP_INFO_BYTES)
    flows = ctypes.create_string_buffer(most * _SUBFLOW_BYTES)
    header = _FULL_HEADER.pack(
        0, _TCP_INFO_BYTES, 0, _SUBFLOW_BYTES, 0, most,
        ctypes.addressof(flows), ctypes.addressof(infos),
    )  # fmt: skip
    whole = ctypes.create_string_buffer(header, _FULL_HEADER.size + _MPTCP_INFO_BYTES)
    try:
        _getsockopt(sock, _SOL_MPTCP, _MPTCP_FULL_INFO, whole)
    except OSError:
        return _fallen_back(sock)
    count = min(_FULL_HEADER.unpack_from(whole)[4], most)
    about = whole.raw[_FULL_HEADER.size :]
    flags, reinjections = struct.unpack_from("=I", about, 8)[0], struct.unpack_from("=I", about, 44)
    subflows = tuple(
        subflow_info(
            infos.raw[place * _TCP_INFO_BYTES : (place + 1) * _TCP_INFO_BYTES],
            _address(flows.raw, place * _SUBFLOW_BYTES + 8),
            _address(flows.raw, place * _SUBFLOW_BYTES + 8 + 128),
        )
        for place in range(count)
    )
    return ConnectionInfo(bool(flags & _FALLBACK), reinjections[0], subflows)


def _fallen_back(sock: socket.socket) -> ConnectionInfo:
    state = tcp_state(sock)
    return ConnectionInfo(True, 0, state.subflows)


def subflow_info(raw: bytes, local: tuple[str, int], remote: tuple[str, int]) -> SubflowInfo:
    """Return what a ``struct tcp_info`` says of the socket with these addresses."""
    raw = raw.ljust(_TCP_INFO_BYTES, b"\0")
    u32: tuple[int, ...] = struct.unpack_from("=24I", raw, 8)
    unacked, sacked, lost, retrans = u32[4:8]
    rtt_us, cwnd, total_retrans = u32[15], u32[18], u32[23]
    pacing, _, acked, received = struct.unpack_from("=4Q", raw, 104)
    _, _, _, min_rtt_us, _, data_segs_out = struct.unpack_from("=6I", raw, 136)
    sent, _ = struct.unpack_from("=2Q", raw, 200)
    return SubflowInfo(
        local=local,
        remote=remote,
        cwnd_packets=cwnd,
        srtt_ms=rtt_us / 1e3,
        min_rtt_ms=min_rtt_us / 1e3,
        in_flight_packets=max(unacked - sacked - lost + retrans, 0),
        pacing_mbps=None if pacing == _UNLIMITED else pacing * 8e-6,
        acked_bytes=acked,
        received_bytes=received,
        sent_bytes=sent,
        sent_packets=data_segs_out,
        retransmitted_packets=total_retrans,
        timeouts=struct.unpack_from("=H", raw, 240)[0],
    )


def _address(raw: bytes, offset: int) -> tuple[str, int]:
    """Return address and port of a ``sockaddr_in``."""
    port = struct.unpack_from("!H", raw, offset + 2)[0]
    return socket.inet_ntoa(raw[offset + 4 : offset + 8]), port


def _getsockopt(sock: socket.socket, level: int, option: int, value: Any) -> None:
    """Read an option whose value is read by the kernel, too, which Python's own call cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    size = ctypes.c_uint(len(value))
    if libc.getsockopt(sock.fileno(), level, option, value, ctypes.byref(size)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
