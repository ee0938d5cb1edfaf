"""A gateway in a world: programs that speak TCP reach the origin by multipath QUIC.

The gateway is a thread of the server's agent, its client one of the client's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from skyweave.errors import SkyweaveError
from skyweave.live.traffic import origin
from skyweave.live.world import addresses
from skyweave.live.world.messages import Message
from skyweave.quic.fetch import PathState, Verification
from skyweave.quic.gateway import Connector, Door, GatewayServer, Origin, Passing, Reach
from skyweave.quic.listen import Listen
from skyweave.quic.options import options

if TYPE_CHECKING:
    from skyweave.live.world.world import World
    from skyweave.model import config

HOST = "127.0.0.1"
"""Where programs at the client find the origin, at its own port."""
_PORT = 4433
_REACHED_S = 20.0


def begin(world: World, run: config.Run) -> None:
    """Start both ends; return once they are connected.

    Raises :class:`skyweave.live.LiveError` when they do not connect.
    """
    only = run.connections[0]
    places = {path.name: place for place, path in enumerate(run.paths)}
    names = only.paths or tuple(places)
    behaviour = options(
        only.scheduler,
        only.congestion,
        only.quic.ack_path,
        only.quic.reinjection,
        datagram_bytes=only.quic.datagram_bytes,
    )
    served = world.ask(world.server, {"do": "gateway", "options": behaviour})
    order = {
        "do": "doors",
        "options": behaviour,
        "pin": served["pin"],
        "paths": [addresses.device(places[name], name) for name in names],
    }
    world.ask(world.client, order, _REACHED_S)


def serve(message: Message) -> str:
    """Serve as a gateway from now on; return the fingerprint of its certificate."""
    place = Listen(f"{addresses.SERVER}:{_PORT}", None, None, "never", message["options"])
    server = GatewayServer([Origin("origin", HOST, origin.PORT)], place)
    in_background(lambda: server.run(lambda _clients, _news: None))
    return server.fingerprint


class Doors:
    """The client's end, connected."""

    def __init__(self, message: Message) -> None:
        reach = Reach(
            addresses.SERVER,
            _PORT,
            Verification(pin=message["pin"]),
            message["paths"],
            options=message["options"],
        )
        self._connector = Connector(reach, [Door("", f"{HOST}:{origin.PORT}")])
        self._paths: dict[str, PathState] = {}
        self._failure: str | None = None
        in_background(self._run)
        give_up = time.monotonic() + _REACHED_S
        while not any(path.open for path in self._paths.values()):
            if self._failure is not None or time.monotonic() > give_up:
                why = self._failure or f"no path was open within {_REACHED_S:g} s"
                raise SkyweaveError(f"the gateway is not reached: {why}")
            time.sleep(0.01)

    def paths(self) -> dict[str, int]:
        """Return, by device, what came first over each path."""
        return {name: path.unique_bytes for name, path in self._paths.items()}

    def _run(self) -> None:
        try:
            self._connector.run(self._look)
        except SkyweaveError as error:
            self._failure = str(error)

    def _look(self, passing: Passing) -> None:
        self._paths |= {path.name: path for path in passing.paths}


def in_background(work: Callable[[], None]) -> None:
    """Let a thread work until the process of its agent ends."""
    threading.Thread(target=work, daemon=True).start()
