"""Sockets of any program of a namespace, by ``sock_diag``: what the kernel says without them.

``struct tcp_info`` of each subflow is that of :mod:`skyweave.live.traffic.kernel`; of a Multipath
TCP connection there is ``struct mptcp_info`` (include/uapi/linux/mptcp.h, net/mptcp/mptcp_diag.c).
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from pyroute2 import DiagSocket
from pyroute2.netlink import NLM_F_MATCH, NLM_F_REQUEST, NLM_F_ROOT
from pyroute2.netlink.diag import (
    SOCK_DIAG_BY_FAMILY,
    SS_CLOSE_WAIT,
    SS_ESTABLISHED,
    SS_FIN_WAIT1,
    MarshalDiag,
    inet_diag_msg,
    inet_diag_req,
)

from skyweave.live.traffic.kernel import IPPROTO_MPTCP, SubflowInfo, subflow_info

_INFO, _CONGESTION = 1 << 1, 1 << 3
"""``INET_DIAG_INFO`` and ``INET_DIAG_CONG`` as extensions that are asked for."""
_STATES = 1 << SS_ESTABLISHED | 1 << SS_FIN_WAIT1 | 1 << SS_CLOSE_WAIT
"""Of sockets that may still have data on their way."""
_MPTCP_INFO_BYTES = 96
_FALLBACK = 1
"""``MPTCP_INFO_FLAG_FALLBACK``."""


class _Answer(inet_diag_msg):  # type: ignore[misc]
    """A socket; what is said of it stays raw, since its layout depends on the protocol."""

    nla_map = tuple(
        (name, "cdata" if name == "INET_DIAG_INFO" else kind)
        for name, kind in inet_diag_msg.nla_map
    )


class _Answers(MarshalDiag):  # type: ignore[misc]
    msg_map = {socket.AF_INET: _Answer}  # noqa: RUF012 (as its base has it)


class _Request(inet_diag_req):  # type: ignore[misc]
    """A request; Multipath TCP has a number that needs an attribute of its own."""

    nla_map = (
        ("INET_DIAG_REQ_NONE", "none"),
        ("INET_DIAG_REQ_BYTECODE", "hex"),
        ("INET_DIAG_REQ_SK_BPF_STORAGES", "hex"),
        ("INET_DIAG_REQ_PROTOCOL", "uint32"),
    )


@dataclass(frozen=True)
class Subflow:
    """A TCP socket: a connection, or a subflow of one."""

    info: SubflowInfo
    congestion: str


@dataclass(frozen=True)
class Multipath:
    """A Multipath TCP connection."""

    address: tuple[str, int, str, int]
    """Local address and port, and the remote ones, of its first subflow."""
    received_bytes: int
    """In order, as the program can read them."""
    reinjections: int
    fallback: bool


class Diagnosis:
    """A socket that asks about the sockets of its namespace; a context manager."""

    def __init__(self) -> None:
        self._socket = DiagSocket()
        self._socket.set_marshal(_Answers())

    def __enter__(self) -> Self:
        self._socket.bind()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def subflows(self, *, local: int = 0, remote: int = 0) -> list[Subflow]:
        """Return the TCP sockets with these ports (0: any)."""
        found = []
        for one in self._ask(socket.IPPROTO_TCP, local, remote):
            raw = one.get_attr("INET_DIAG_INFO")
            if raw is not None:
                near, far = _ends(one)
                found.append(
                    Subflow(subflow_info(raw, near, far), one.get_attr("INET_DIAG_CONG") or "")
                )
        return found

    def multipath(self, *, local: int = 0, remote: int = 0) -> list[Multipath]:
        """Return the Multipath TCP connections with these ports (0: any)."""
        found = []
        for one in self._ask(IPPROTO_MPTCP, local, remote):
            raw = one.get_attr("INET_DIAG_INFO")
            if raw is not None:
                whole = raw.ljust(_MPTCP_INFO_BYTES, b"\0")
                flags, retransmits = (struct.unpack_from("=I", whole, at)[0] for at in (8, 44))
                received = struct.unpack_from("=Q", whole, 64)[0]
                near, far = _ends(one)
                found.append(
                    Multipath((*near, *far), received, retransmits, bool(flags & _FALLBACK))
                )
        return found

    def _ask(self, protocol: int, local: int, remote: int) -> tuple[Any, ...]:
        request = _Request()
        request["sdiag_family"] = socket.AF_INET
        request["sdiag_protocol"] = protocol & 0xFF
        request["idiag_states"] = _STATES
        request["idiag_ext"] = _INFO | _CONGESTION
        request["idiag_sport"], request["idiag_dport"] = local, remote
        if protocol > 0xFF:
            request["attrs"] = [("INET_DIAG_REQ_PROTOCOL", protocol)]
        flags = NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH
        return tuple(self._socket.nlm_request(request, SOCK_DIAG_BY_FAMILY, flags))


def _ends(one: Any) -> tuple[tuple[str, int], tuple[str, int]]:
    return (
        (one["idiag_src"], one["idiag_sport"]),
        (one["idiag_dst"], one["idiag_dport"]),
    )
