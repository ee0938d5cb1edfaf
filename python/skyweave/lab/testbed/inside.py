"""The first process of the lab's namespaces: ``python -m …testbed.inside CHANNEL DOOR``.

Descriptors: of the channel to the host, and of a socket that listens there. It makes a network for
each machine, joins them to the world by the relay, and starts the programs that the host names.
When the host hangs up it ends all of them, and the kernel ends the rest of its PID namespace.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from pyroute2 import IPRoute

from skyweave import _skyweave
from skyweave.lab.testbed.places import DISH, ORCHESTRATOR, SERVER, WORLD
from skyweave.live.world import wiring
from skyweave.live.world.messages import Channel, Message
from skyweave.testbed.node.sandbox.network import NAMESPACES
from skyweave.testbed.node.tools import tool, within

END_S = 30.0
"""How long programs may take to end."""
SAMPLE_MS = 1000
MTU = 1500


class Inside:
    """The lab from within."""

    def __init__(self, setup: Message, door: int) -> None:
        """Make all networks and set the links going."""
        self._door = door
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self._folder = Path(setup["folder"])
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", NAMESPACES], check=True)
        for name in (WORLD, *(one["name"] for one in setup["machines"])):
            tool("ip", "netns", "add", name)
            within(NAMESPACES / name, lambda: wiring.prepare_network(None))
        within(NAMESPACES / WORLD, _world)
        pairs = []
        for machine in setup["machines"]:
            near = NAMESPACES / machine["name"]
            for number, link in enumerate(machine["links"]):
                pairs.append(_pair(near, link, number))
            if machine["dish"]:
                within(near, lambda: _own(DISH))
        self._relay = _skyweave.Relay(
            json.dumps(setup["paths"]), pairs, setup["seed"], setup["epoch_ns"], SAMPLE_MS, None
        )

    def serve(self, channel: Channel) -> None:
        """Answer the host until it hangs up."""
        actions = {"spawn": self._spawn, "gone": self._gone, "links": self._links}
        while (message := channel.receive()) is not None:
            try:
                answer = actions[message["do"]](message)
            except Exception as error:  # a request that cannot be met never ends the lab
                answer = {"error": f"{message.get('do')}: {type(error).__name__}: {error}"}
            channel.send(answer)

    def _spawn(self, message: Message) -> Message:
        """Start a program on a machine; all that it says goes to a log of its name."""
        name, where = message["name"], NAMESPACES / message["where"]
        sockets = []
        if message.get("listens") is not None:
            port = message["listens"]
            made = within(where, lambda: socket.create_server((ORCHESTRATOR, port)))
            sockets = [self._door, made.detach()]
        words = [str(one) for one in sockets]
        environment = {**os.environ, **message.get("environment", {})}
        with (self._folder / f"{name}.log").open("ab") as log:
            self._programs[name] = subprocess.Popen(
                ["nsenter", f"--net={where}", "--", *message["argv"], *words],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=sockets,
                env=environment, cwd=self._folder,
            )  # fmt: skip
        for one in sockets:
            os.close(one)
        return {}

    def _gone(self, _: Message) -> Message:
        """Answer which programs have ended, and how; and whether the relay has."""
        ended = {name: one.poll() for name, one in self._programs.items()}
        gone = {name: code for name, code in ended.items() if code is not None}
        return {"gone": gone, "failure": self._relay.failure}

    def _links(self, _: Message) -> Message:
        return {"statistics": json.loads(self._relay.statistics())}

    def close(self) -> None:
        """End all programs: nodes restore what they had changed, and end their runs."""
        for one in reversed(self._programs.values()):
            one.send_signal(signal.SIGTERM)
        end = time.monotonic() + END_S
        for one in self._programs.values():
            try:
                one.wait(max(end - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                one.kill()
        self._relay.stop()


def _world() -> None:
    for address in (ORCHESTRATOR, SERVER):
        _own(address)


def _own(address: str) -> None:
    """Give this network an address that answers whatever device it is asked by."""
    with IPRoute() as ip:
        index = ip.link_lookup(ifname="lo")[0]
        ip.addr("add", index=index, address=address, prefixlen=32)


def _pair(near: Path, link: Message, number: int) -> tuple[int, int]:
    """Make a link's two devices, its address and its routes; return the devices' descriptors."""

    def here() -> int:
        descriptor = wiring.open_tun(link["device"])
        table = str(100 + number)
        with IPRoute() as ip:
            index = ip.link_lookup(ifname=link["device"])[0]
            ip.link("set", index=index, state="up", mtu=MTU, txqlen=wiring.QUEUE_PACKETS)
            ip.addr("add", index=index, address=link["address"], prefixlen=32)
        source = ["src", link["address"]]
        tool("ip", "route", "add", "default", "dev", link["device"], *source, "metric",
             str(number + 1))  # fmt: skip
        tool("ip", "route", "add", "default", "dev", link["device"], *source, "table", table)
        tool("ip", "rule", "add", "from", f"{link['address']}/32", "table", table)
        return descriptor

    def there() -> int:
        descriptor = wiring.open_tun(link["far"])
        with IPRoute() as ip:
            index = ip.link_lookup(ifname=link["far"])[0]
            ip.link("set", index=index, state="up", mtu=MTU, txqlen=wiring.QUEUE_PACKETS)
            ip.route("add", dst=f"{link['address']}/32", oif=index)
        return descriptor

    return within(near, here), within(NAMESPACES / WORLD, there)


def main() -> None:
    """Be the lab; a parent of all buries what nobody else waits for."""
    channel, door = Channel(socket.socket(fileno=int(sys.argv[1]))), int(sys.argv[2])
    child = os.fork()
    if child:
        channel.close()
        while os.wait()[0] != child:
            pass
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # the host hangs up when it wants the end
    setup = channel.receive()
    if setup is None:
        os._exit(0)
    try:
        inside = Inside(setup, door)
    except Exception as error:  # netlink errors have no common base but this
        channel.send({"error": f"{type(error).__name__}: {error}"[:500]})
        os._exit(1)
    channel.send({})
    with contextlib.suppress(OSError):
        inside.serve(channel)
    inside.close()
    os._exit(0)


if __name__ == "__main__":
    main()
