"""Whom a connection was meant for that the rules have led to us.

For TCP the option ``SO_ORIGINAL_DST`` would say it. Multipath TCP has none of that kind, so the
kernel's table of connections is asked (ctnetlink).
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

from pyroute2 import NFCTSocket
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.nfnetlink.nfctsocket import NFCTAttrTuple

Target = tuple[str, int]


class Meant:
    """Asks in a thread of its own, in which the library runs its loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._tables: dict[int, NFCTSocket] = {}

    async def by(self, near: socket.socket) -> Target:
        """Return address and port that the peer of a connection has asked for.

        Raises :class:`OSError` when nobody knows, as for one that was meant for us.
        """
        own, peer = near.getsockname()[:2], near.getpeername()[:2]
        loop = asyncio.get_running_loop()
        target = await loop.run_in_executor(self._thread, self._look_up, near.family, own, peer)
        if target == own:
            raise ConnectionRefusedError("this is a way, and no server")
        return target

    def _look_up(self, family: int, own: Target, peer: Target) -> Target:
        if family not in self._tables:
            self._tables[family] = NFCTSocket(family)
        answer = NFCTAttrTuple(family, own[0], peer[0], socket.IPPROTO_TCP, own[1], peer[1])
        try:
            found, *_ = self._tables[family].entry("get", tuple_orig=answer)
        except NetlinkError as error:
            raise OSError(f"nobody knows a connection from {peer[0]}") from error
        asked = NFCTAttrTuple.from_netlink(family, found.get_attr("CTA_TUPLE_ORIG"))
        return asked.daddr, asked.dport
