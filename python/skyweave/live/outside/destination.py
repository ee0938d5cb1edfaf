"""The original destination of a connection that the rules have redirected to the relay.

The option ``SO_ORIGINAL_DST`` gives it for TCP. Multipath TCP has no such option, so it is looked
up in the kernel's connection tracking (ctnetlink).
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

from pyroute2 import NFCTSocket
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.nfnetlink.nfctsocket import NFCTAttrTuple

Target = tuple[str, int]


class Destinations:
    """Looks up in a thread of its own, in which the library runs its loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._tables: dict[int, NFCTSocket] = {}

    async def of(self, near: socket.socket) -> Target:
        """Return the address and port that the peer of a connection has dialled.

        Raises :class:`OSError` where connection tracking has none, or the peer dialled the relay.
        """
        own, peer = near.getsockname()[:2], near.getpeername()[:2]
        loop = asyncio.get_running_loop()
        target = await loop.run_in_executor(self._thread, self._look_up, near.family, own, peer)
        if target == own:
            raise ConnectionRefusedError("the relay itself serves nothing")
        return target

    def _look_up(self, family: int, own: Target, peer: Target) -> Target:
        if family not in self._tables:
            self._tables[family] = NFCTSocket(family)
        answer = NFCTAttrTuple(family, own[0], peer[0], socket.IPPROTO_TCP, own[1], peer[1])
        try:
            found, *_ = self._tables[family].entry("get", tuple_orig=answer)
        except NetlinkError as error:
            raise OSError(f"connection tracking has none from {peer[0]}") from error
        asked = NFCTAttrTuple.from_netlink(family, found.get_attr("CTA_TUPLE_ORIG"))
        return asked.daddr, asked.dport
