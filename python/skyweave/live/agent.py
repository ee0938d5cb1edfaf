"""A process on one side of a world: it starts programs there, and carries out transfers."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from skyweave.live.traffic import gateway
from skyweave.live.traffic.ends import Ends
from skyweave.live.traffic.watch import Watch
from skyweave.live.world.messages import Channel, Message
from skyweave.live.world.programs import ended, measure

_OPENING_S = 3.0
"""How long a server may take to listen before it is taken to be none."""
_RESULTS_NS = 2_000_000_000
"""How long a program in the background may take to end when its peer has ended."""


class Agent:
    """Answers one request after the other until the host hangs up."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._ends = Ends()
        self._programs: list[subprocess.Popen[bytes]] = []
        self._watches: list[Watch] = []
        self._doors: list[gateway.Doors] = []

    def serve(self) -> None:
        """Answer requests; a failure is an answer, too."""
        actions = {
            "run": self._run,
            "spawn": self._spawn,
            "measure": self._measure,
            "lives": self._lives,
            "perform": self._perform,
            "watch": self._watch_sockets,
            "watched": self._watched,
            "gateway": self._gateway,
            "doors": self._open_doors,
            "passed": self._passed,
            "collect": self._collect,
            "listen": self._listen,
            "transfer": self._transfer,
        }
        while (message := self._channel.receive()) is not None:
            try:
                answer = actions[message["do"]](message)
            except Exception as error:  # a request that cannot be met never ends this side
                answer = {"error": f"{message.get('do')}: {type(error).__name__}: {error}"}
            self._channel.send(answer)

    def _run(self, message: Message) -> Message:
        """Run a program in the foreground of the terminal, and answer how it ended."""
        argv = message["argv"]
        try:
            environment = {**os.environ, **message.get("environment", {})}
            code = subprocess.Popen(argv, cwd=message["cwd"], env=environment).wait()
        except FileNotFoundError:
            return {"error": f"{argv[0]}: no such program"}
        return {"code": code}

    def _spawn(self, message: Message) -> Message:
        """Start a program in the background; answer when it has opened a socket, or soon after.

        With ``keep`` ``collect`` returns its output; with ``log`` all that it says goes to
        that file.
        """
        before = _sockets()
        kept = subprocess.PIPE if message.get("keep") else subprocess.DEVNULL
        with Path(message.get("log", os.devnull)).open("ab") as log:
            program = subprocess.Popen(
                message["argv"],
                cwd=message["cwd"],
                stdin=subprocess.DEVNULL,
                stdout=log if "log" in message else kept,
                stderr=log if "log" in message else None,
            )
        self._programs.append(program)
        give_up = time.monotonic() + _OPENING_S
        while _sockets() == before and time.monotonic() < give_up:
            if program.poll() not in (None, 0):
                return {"error": f"'{message['argv'][-1]}' ended with code {program.returncode}"}
            time.sleep(0.01)
        return {"pid": program.pid}

    def _measure(self, message: Message) -> Message:
        return measure(
            message["argv"], (message["start_ns"], message["end_ns"]), message["protocol"]
        )

    def _lives(self, message: Message) -> Message:
        """Answer whether a program in the background still runs."""
        program = next(one for one in self._programs if one.pid == message["pid"])
        return {"lives": program.poll() is None}

    def _perform(self, message: Message) -> Message:
        """Run a program from its start to its end; answer how it ended and what it said."""
        time.sleep(max(message["start_ns"] - time.monotonic_ns(), 0) / 1e9)
        program = subprocess.Popen(
            message["argv"],
            cwd=message["cwd"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return ended(program, message["end_ns"])

    def _watch_sockets(self, message: Message) -> Message:
        """Begin to look at the sockets of foreign programs."""
        self._watches.append(
            Watch(
                message["port"],
                message["on_server"],
                message["epoch_ns"],
                message["interval_ns"],
            )
        )
        return {}

    def _watched(self, _: Message) -> Message:
        """Answer what was seen of them, and stop looking."""
        return {"seen": self._watches.pop().stop()}

    def _gateway(self, message: Message) -> Message:
        """Be the server's end of a gateway; answer what its client has to know."""
        return {"pin": gateway.serve(message)}

    def _open_doors(self, message: Message) -> Message:
        """Be the client's end of a gateway; answer when it is connected."""
        self._doors.append(gateway.Doors(message))
        return {}

    def _passed(self, _: Message) -> Message:
        """Answer what came over each path of the gateway."""
        return {"paths": self._doors[-1].paths()}

    def _collect(self, message: Message) -> Message:
        """Answer what a program in the background has printed, when it has ended."""
        program = next(one for one in self._programs if one.pid == message["pid"])
        return ended(program, time.monotonic_ns() + _RESULTS_NS)

    def _listen(self, message: Message) -> Message:
        """Wait for the client of each transfer; answer what clients of QUIC have to know."""
        return {"pins": self._ends.listen(message["flows"])}

    def _transfer(self, message: Message) -> Message:
        times = message["epoch_ns"], message["interval_ns"]
        return {"transfers": self._ends.carry(message["flows"], *times)}


def _sockets() -> int:
    """Return how many sockets of TCP and UDP there are on this side."""
    tables = (Path("/proc/thread-self/net", name) for name in ("tcp", "tcp6", "udp", "udp6"))
    return sum(len(table.read_text().splitlines()) for table in tables if table.exists())


def run_agent(channel: Channel) -> None:
    """Be an agent; returns when the host has hung up."""
    Agent(channel).serve()
    os._exit(0)  # threads that wait for a peer must not hold the process
