"""The first process of a world: ``python -m skyweave.live.init HOST CLIENT SERVER`` (descriptors).

It wires the namespaces, starts an agent on each side, and is the relay's process. When the host
hangs up it ends, and the kernel ends everything else in its PID namespace.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from skyweave import _skyweave
from skyweave.live.agent import run_agent
from skyweave.live.errors import LiveError
from skyweave.live.outside.router import open_door
from skyweave.live.outside.stack import RESOLV, Stack, resolv_conf
from skyweave.live.priority import real_time
from skyweave.live.world import addresses, namespaces, wiring
from skyweave.live.world.addresses import V4, V6, Family
from skyweave.live.world.buffers import Buffers
from skyweave.live.world.messages import Channel, Message
from skyweave.live.world.wiring import Wire

"""The priority of relays in the class SCHED_FIFO: beyond that of a run under ``chrt -f 10``."""


class Init:
    """The world from within."""

    def __init__(self, host: Channel, setup: Message, stack: Stack | None) -> None:
        self._host = host
        self._stack = stack
        self._paths: list[dict[str, Any]] = setup["paths"]
        self._families = _families(setup["ipv6"])
        self._wires = self._plan_wires(setup)
        self._seed: int = setup["seed"]
        self._paths_json: str = setup["paths_json"]
        self._relay: _skyweave.Relay | None = None
        self._script: list[tuple[int, Wire, bool]] = []
        self._client = namespaces.this_network()
        self._server = -1
        self._devices: list[tuple[int, int]] = []
        self._offload: wiring.Offload = wiring.most_offload() if setup["offload"] else "none"
        buffers = setup["buffers"]
        self._wire_up(Buffers(**buffers) if buffers else None)

    def _plan_wires(self, setup: Message) -> list[Wire]:
        names = [path["name"] for path in self._paths]
        joined = _joined([name for name in names if name in setup["joined"]], self._families)
        return [
            Wire(
                place,
                path["name"],
                path["backup"],
                joined.get(path["name"], ()),
                self._families,
                self._stack.families if self._stack else (),
                setup["congestion"],
            )
            for place, path in enumerate(self._paths)
        ]

    def _wire_up(self, buffers: Buffers | None) -> None:
        """Make both networks and the devices between them."""
        near = [wiring.open_tun(wire.device, self._offload) for wire in self._wires]
        self._prepare_network(buffers)
        for wire in self._wires:
            wiring.wire_client(wire)
        self._server = namespaces.new_network()
        far = [wiring.open_tun(wire.device, self._offload) for wire in self._wires]
        self._prepare_network(buffers)
        wiring.wire_server(self._wires)
        if self._stack is not None:
            open_door(self._stack, self._server)
        namespaces.enter_network(self._client)
        self._devices = list(zip(near, far, strict=True))
        for wire, path in zip(self._wires, self._paths, strict=True):
            if path["present"] and path["present"][0]["start_s"] == 0:
                wiring.client_up(wire)

    def _prepare_network(self, buffers: Buffers | None) -> None:
        """Prepare the present network; kernels without Multipath TCP do for worlds without it."""
        wiring.prepare_network(buffers, self._families)
        if any(wire.joined for wire in self._wires):
            wiring.allow_subflows()

    def start_agents(self, client: Channel, server: Channel) -> None:
        """Start a process on each side; before the relay's thread, which a fork would lose."""
        for channel, other, network in (
            (client, server, self._client),
            (server, client, self._server),
        ):
            if os.fork() == 0:
                self._host.close()
                other.close()
                for pair in self._devices:
                    for descriptor in pair:
                        os.close(descriptor)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                namespaces.enter_network(network)
                run_agent(channel)
        client.close()
        server.close()

    def serve(self) -> None:
        """Answer the host until it hangs up, and let paths come and go when it is time."""
        actions = {
            "start": self._start,
            "change": self._change,
            "path": self._path,
            "statistics": self._statistics,
            "finish": self._finish,
        }
        while True:
            try:
                message = self._host.receive(self._until_next())
            except TimeoutError:
                self._play()
                continue
            if message is None:
                return
            try:
                answer = actions[message["do"]](message)
            except Exception as error:  # a request that cannot be met never ends the world
                failure = self._relay.failure if self._relay is not None else None
                answer = {"error": failure or f"{type(error).__name__}: {error}"}
            self._host.send(answer)

    def _start(self, message: Message) -> Message:
        epoch_ns = message["epoch_ns"]
        with real_time():  # which the relay's thread inherits
            self._relay = _skyweave.Relay(
                self._paths_json, self._devices, self._seed, epoch_ns,
                message["interval_ms"], message["capture"], self._offload,
            )  # fmt: skip
        for wire, path in zip(self._wires, self._paths, strict=True):
            for window in path["present"]:
                for key, up in (("start_s", True), ("end_s", False)):
                    at_s = window[key]
                    if at_s is not None and at_s > 0:
                        self._script.append((epoch_ns + round(at_s * 1e9), wire, up))
        self._script.sort(key=lambda entry: entry[0])
        return {"started": True}

    def _until_next(self) -> float | None:
        if not self._script:
            return None
        return max((self._script[0][0] - time.monotonic_ns()) / 1e9, 0.0)

    def _play(self) -> None:
        while self._script and self._script[0][0] <= time.monotonic_ns():
            _, wire, up = self._script.pop(0)
            (wiring.client_up if up else wiring.client_down)(wire)

    def _change(self, message: Message) -> Message:
        for key, value in message["change"].items():  # the relay takes one at a time
            one = json.dumps({key: value})
            self._running().change(message["path"], message["direction"], one)
        return {}

    def _path(self, message: Message) -> Message:
        relay = self._running()
        (relay.open if message["up"] else relay.close)(message["name"])
        return {}

    def _statistics(self, _: Message) -> Message:
        return {"statistics": self._running().statistics()}

    def _finish(self, _: Message) -> Message:
        relay = self._running()
        relay.stop()
        samples = {
            key: column if isinstance(column, list) else column.tolist()
            for key, column in relay.samples().items()
        }
        return {"statistics": relay.statistics(), "samples": samples, "failure": relay.failure}

    def _running(self) -> _skyweave.Relay:
        if self._relay is None:
            raise RuntimeError("the links were not started")
        return self._relay


def _families(ipv6: bool) -> tuple[Family, ...]:
    """Return the versions of IP of a world; a kernel without IPv6 has one."""
    return (V4, V6) if ipv6 and Path("/proc/sys/net/ipv6").exists() else (V4,)


def _joined(names: list[str], families: tuple[Family, ...]) -> dict[str, tuple[Family, ...]]:
    """Return in which versions of IP Multipath TCP may use each path: both while there is room."""
    if len(names) * len(families) > addresses.MOST_SUBFLOWS:
        families = families[:1]
    return dict.fromkeys(names[: addresses.MOST_SUBFLOWS], families)


def name_hosts(names: list[str], families: tuple[Family, ...]) -> None:
    """Let ``server`` and ``client`` resolve in this mount namespace."""
    put_over(Path("/etc/hosts"), addresses.hosts(names, families))


def put_over(path: Path, text: str) -> None:
    """Let a file of the host have another text in this mount namespace."""
    with tempfile.NamedTemporaryFile("w", suffix=f".{path.stem}") as file:
        file.write(text)
        file.flush()
        Path(file.name).chmod(0o644)
        # util-linux knows the ways of mount(2); the mount outlives the name of the file.
        subprocess.run(["mount", "--bind", file.name, str(path)], check=True)


def _way_out(program: str | None) -> Stack | None:
    """Return the stack of a world with a way out, and leave the host's network, where it stays."""
    if program is None:
        return None
    stack = Stack(program)
    namespaces.new_network()
    return stack


def main() -> None:
    """Build a world as the host says, then serve."""
    host, client, server = (Channel(socket.socket(fileno=int(fd))) for fd in sys.argv[1:4])
    # Ctrl-C is for the program in the foreground; the host decides when the world ends.
    signal.signal(signal.SIGINT, lambda *_: None)
    setup = host.receive()
    if setup is None:
        return
    try:
        name_hosts([path["name"] for path in setup["paths"]], _families(setup["ipv6"]))
        stack = _way_out(setup["outside"])
        init = Init(host, setup, stack)
        if stack is not None:  # only now: the stack has read what the host has here
            put_over(RESOLV, resolv_conf(RESOLV.read_text(), stack.names))
    except (OSError, LiveError, subprocess.CalledProcessError) as error:
        host.send({"error": str(error)})
        return
    except Exception as error:  # netlink errors have no common base but this
        host.send({"error": f"{type(error).__name__}: {error}"})
        return
    init.start_agents(client, server)
    signal.signal(signal.SIGCHLD, _reap)
    host.send({"ready": True})
    with contextlib.suppress(BrokenPipeError):
        init.serve()


def _reap(*_: object) -> None:
    """Bury the children that this process, as the first of its namespace, inherits."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    main()
