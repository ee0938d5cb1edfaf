"""The lab's namespaces seen from the host: made, asked to start programs, and taken away."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from skyweave.errors import ConfigError
from skyweave.lab.testbed import leftovers
from skyweave.lab.testbed.links import links_of
from skyweave.lab.testbed.places import FAR, Place
from skyweave.live.errors import LiveError
from skyweave.live.world.messages import Channel, Message
from skyweave.live.world.world import obstacle
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.measure.services import lacking as lacking_service
from skyweave.testbed.node.home import Home
from skyweave.testbed.node.sandbox import lacking

START_S, ANSWER_S, END_S = 60.0, 30.0, 60.0
ONLY_ONE = "\0skyweave-lab-testbed"
"""An abstract name: it is free again when its process is gone, however that ended."""


def refusal() -> str | None:
    """Return why there can be no lab here, in a sentence; ``None``: there can be one."""
    if os.geteuid() != 0:
        return "the lab needs root, for the namespaces of nodes and their sandboxes; use sudo"
    missing = lacking() or lacking_service("iperf3") or lacking_service("http")
    if missing is not None:
        return missing
    reason = obstacle()
    return None if reason is None else f"no emulated network can be made: {reason}"


class Town:
    """A context manager: all machines and links of the lab, until it is left."""

    def __init__(
        self, there: Sequence[Place], folder: Path, port: int, duration_s: float, seed: int
    ) -> None:
        """``port``: of the dashboard, on 127.0.0.1. Raises what keeps the lab from being there."""
        if (why := refusal()) is not None:
            raise ConfigError(why)
        self.folder, self.port = folder, port
        self._places, self._duration_s, self.seed = there, duration_s, seed
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.enter_context(_alone())
            leftovers.sweep()
            self._make_homes()
            door = stack.enter_context(_door(self.port))
            self._channel, theirs = Channel.pair()
            stack.callback(self._end)
            unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child",
                       "--mount-proc", "--"]  # fmt: skip
            given = [theirs.fileno(), door.fileno()]
            self._process = subprocess.Popen(
                [*unshare, sys.executable, "-m", "skyweave.lab.testbed.inside", *map(str, given)],
                pass_fds=given, start_new_session=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            theirs.close()
            self._channel.send(self._setup())
            self._answer("the lab's networks could not be made", START_S)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {one: signal.signal(one, signal.SIG_IGN) for one in wanted}  # the end is not ended
        try:
            self._stack.close()
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def spawn(
        self, name: str, where: str, argv: Sequence[str], listens: int | None = None,
        **environment: str,
    ) -> None:  # fmt: skip
        """Start a program of ``skyweave``'s on a machine; what it says is in ``NAME.log``.

        ``listens``: it gets two more arguments, sockets of the host and of the world.
        """
        self._ask({
            "do": "spawn", "name": name, "where": where, "argv": list(argv), "listens": listens,
            "environment": environment,
        })  # fmt: skip

    def look(self) -> None:
        """Raise :class:`LiveError` if something of the lab has ended by itself."""
        found = self._ask({"do": "gone"})
        if found["failure"]:
            raise LiveError(f"the relay of the links stopped: {found['failure']}")
        for name, code in found["gone"].items():
            log = self.folder / f"{name}.log"
            said = (log.read_text(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
            raise LiveError(f"'{name}' ended with code {code}: {said[:300]}")

    def carried(self) -> dict[str, Any]:
        """Return what each link has carried, by its name and direction."""
        found: dict[str, Any] = self._ask({"do": "links"})["statistics"]["links"]
        return found

    def _make_homes(self) -> None:
        """Make the folders of nodes and server, whose places on the disk name their groups."""
        homes = [Home(self.folder / name) for name in (FAR, *(one.name for one in self._places))]
        for home in homes:
            home.folder.mkdir(mode=0o700, parents=True)
        leftovers.remember(home.mark for home in homes)

    def _setup(self) -> Message:
        start = time.time()
        paths = [
            path
            for place in self._places
            for path in links_of(place, start, self._duration_s, self.seed)
        ]
        epoch_ns = time.monotonic_ns() - round((time.time() - start) * 1e9)
        return {
            "folder": str(self.folder), "seed": self.seed, "epoch_ns": epoch_ns,
            "paths": [one.model_dump(mode="json") for one in paths],
            "machines": [_machine(one) for one in self._places],
        }  # fmt: skip

    def _ask(self, message: Message) -> Message:
        try:
            self._channel.send(message)
        except OSError:
            raise LiveError(_ENDED) from None
        return self._answer(f"'{message['do']}' failed in the lab", ANSWER_S)

    def _answer(self, what: str, timeout_s: float) -> Message:
        try:
            found = self._channel.receive(timeout_s)
        except TimeoutError:
            raise LiveError(f"{what}: no answer for {timeout_s:g} s") from None
        if found is None:
            raise LiveError(_ENDED)
        if "error" in found:
            raise LiveError(f"{what}: {found['error']}")
        return found

    def _end(self) -> None:
        """Hang up, wait until all is gone, and take away control groups that are left."""
        self._channel.close()
        if self._process is not None:
            try:
                self._process.wait(END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        leftovers.sweep()


def _machine(place: Place) -> Message:
    links = [
        {"device": kind, "far": place.far_device(number), "address": place.address(number)}
        for number, kind in enumerate(place.links)
    ]
    return {"name": place.name, "links": links, "dish": place.terminal is not None}


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as only:
        try:
            only.bind(ONLY_ONE)
        except OSError:
            raise TestbedError(
                "another lab is on this machine; end that one (Ctrl-C in its terminal) first"
            ) from None
        yield


@contextlib.contextmanager
def _door(port: int) -> Iterator[socket.socket]:
    try:
        door = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise TestbedError(
            f"127.0.0.1:{port} is not available ({error.strerror}); name another with --port"
        ) from None
    with door:
        yield door


_ENDED = "the lab's first process ended before its time (killed, or out of memory); start it again"
