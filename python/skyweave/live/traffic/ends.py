"""One side of all connections of a run: it listens, then carries them out."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

from skyweave import _skyweave
from skyweave.live.traffic import quic
from skyweave.live.traffic.transfer import Flow, Listener, listen, transfer
from skyweave.live.world.messages import Message


class Ends:
    """The client's side, or with :meth:`listen` first the server's."""

    def __init__(self) -> None:
        self._listeners: dict[int, Listener] = {}
        self._quic: dict[int, _skyweave.QuicBulkServer] = {}

    def listen(self, flows: list[Message]) -> dict[str, str]:
        """Wait for the client of each connection; return what clients of QUIC have to know."""
        kernel, over_quic = _apart(flows)
        try:
            for flow in kernel:
                self._listeners[flow["place"]] = listen(flow_of(flow))
            for flow in over_quic:
                self._quic[flow["place"]] = quic.listen(flow)
        except BaseException:
            self.close()
            raise
        return {str(place): server.pin for place, server in self._quic.items()}

    def close(self) -> None:
        """Listen no more."""
        for one in self._listeners.values():
            if isinstance(one, socket.socket):
                one.close()
        self._listeners, self._quic = {}, {}

    def carry(self, flows: list[Message], epoch_ns: int, interval_ns: int) -> list[Message]:
        """Carry all connections out; return what was seen of each, in their order."""
        kernel, over_quic = _apart(flows)
        listeners = list(self._listeners.values())
        with ThreadPoolExecutor(max_workers=max(len(over_quic), 1)) as pool:
            under_way = [
                pool.submit(quic.carry, flow, self._quic.get(flow["place"]), epoch_ns, interval_ns)
                for flow in over_quic
            ]
            seen = transfer([flow_of(flow) for flow in kernel], listeners, epoch_ns, interval_ns)
            seen += [one.result() for one in under_way]
        return sorted(seen, key=lambda one: one["place"])


def _apart(flows: list[Message]) -> tuple[list[Message], list[Message]]:
    """Return the connections over the kernel's transports, and those over QUIC."""
    return (
        [flow for flow in flows if flow["transport"] != "mpquic"],
        [flow for flow in flows if flow["transport"] == "mpquic"],
    )


def flow_of(message: Message) -> Flow:
    """Return the connection that a message describes."""
    return Flow(**{**message, "server": tuple(message["server"])})
