"""A world, seen from the host: start it, talk to it, end it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from skyweave.live.errors import LiveError
from skyweave.live.world.buffers import Buffers
from skyweave.live.world.messages import Channel, Message
from skyweave.model import config

TUN = Path("/dev/net/tun")
_START_S = 30.0


def obstacle() -> str | None:
    """Return why no world can be made on this machine, with what to do; ``None``: it can."""
    reason = _tun_obstacle()
    if reason is not None:
        return reason
    try:
        tried = subprocess.run([*_unshare(), "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "the program 'unshare' is missing; install the package util-linux"
    if tried.returncode == 0:
        return None
    said = tried.stderr.strip().splitlines()[-1:] or ["unshare failed"]
    if os.geteuid() == 0:
        return f"this root may not make namespaces ({said[0]}); run it outside of the container"
    return (
        f"user namespaces are not allowed here ({said[0]}); run as root, or allow them "
        "(sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)"
    )


def _tun_obstacle() -> str | None:
    """Return why this process may not use TUN devices, with what to do; ``None``: it may."""
    try:
        os.close(os.open(TUN, os.O_RDWR | os.O_CLOEXEC))
    except FileNotFoundError:
        return f"there is no {TUN}; load the kernel module 'tun' (modprobe tun)"
    except PermissionError:
        if os.geteuid() == 0:
            return (
                f"this root may not open {TUN}; let the container have it "
                "(docker and podman: --device /dev/net/tun)"
            )
        return (
            f"{TUN} may not be opened by this user; let everybody open it, as Debian does "
            f"(sudo chmod 666 {TUN}), or run as root"
        )
    except OSError as error:
        return f"{TUN} cannot be opened ({error.strerror}); load the kernel module 'tun'"
    return None


def _unshare(*, net: bool = True) -> list[str]:
    """Return the command that begins a world; as an ordinary user, in a user namespace."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    spaces = [*(["--net"] if net else []), "--mount", "--pid", "--fork", "--kill-child"]
    return ["unshare", *user, *spaces, "--mount-proc", "--"]


class World:
    """A context manager; inside, ``client`` and ``server`` are the channels to the agents.

    ``joined``: the paths that Multipath TCP may use, all if not given. ``apart``: in a session of
    its own, which Ctrl-C on the terminal does not reach. ``congestion``: the kernel's name of the
    congestion control of programs that set none; the machine's if not given. ``offload``: whether
    the devices may have segmentation offload, where the kernel has it. ``ipv6``: addresses of IPv6
    beside those of IPv4. ``outside``: the program by which the server reaches the host's network
    (:func:`skyweave.live.outside.stack.choose`). Raises
    :class:`LiveError` when the world cannot be made, and from its methods when it has ended.
    """

    def __init__(
        self,
        paths: Sequence[config.Path],
        *,
        seed: int = 1,
        buffers: Buffers | None = None,
        joined: Sequence[str] | None = None,
        apart: bool = False,
        congestion: str | None = None,
        offload: bool = True,
        ipv6: bool = False,
        outside: str | None = None,
    ) -> None:
        self._apart = apart
        self._setup: Message = {
            "paths": [path.model_dump(mode="json", include=_WIRED) for path in paths],
            "paths_json": json.dumps([path.model_dump(mode="json") for path in paths]),
            "seed": seed,
            "buffers": asdict(buffers) if buffers else None,
            "joined": [path.name for path in paths] if joined is None else list(joined),
            "congestion": congestion,
            "offload": offload,
            "ipv6": ipv6,
            "outside": outside,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._channels: list[Channel] = []
        self._links = threading.Lock()
        self.epoch_ns = 0
        """``CLOCK_MONOTONIC`` at time 0 of the links."""

    def __enter__(self) -> Self:
        reason = obstacle()
        if reason is not None:
            raise LiveError(f"no emulated network can be made: {reason}")
        pairs = [Channel.pair() for _ in range(3)]
        theirs: list[socket.socket] = [pair[1] for pair in pairs]
        self._channels = [pair[0] for pair in pairs]
        self._init, self.client, self.server = self._channels
        descriptors = [end.fileno() for end in theirs]
        # With a way out the first process begins in the host's network, and leaves it.
        begin = _unshare(net=self._setup["outside"] is None)
        self._process = subprocess.Popen(
            [*begin, sys.executable, "-m", "skyweave.live.init", *map(str, descriptors)],
            pass_fds=descriptors,
            start_new_session=self._apart,
        )
        for end in theirs:
            end.close()
        try:
            self._init.send(self._setup)
            self._answer(self._init, "the emulated network could not be set up", _START_S)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self, interval_ms: int, capture: str | None = None, lead_ns: int = 0) -> int:
        """Set the links going; return the monotonic time of their time 0, in ns.

        It is ``lead_ns`` from now, so that both sides learn of it before.
        """
        self.epoch_ns = time.monotonic_ns() + lead_ns
        self.ask_links(
            {
                "do": "start",
                "epoch_ns": self.epoch_ns,
                "interval_ms": interval_ms,
                "capture": capture,
            }
        )
        return self.epoch_ns

    def change(self, path: str, direction: Literal["down", "up"], change: dict[str, Any]) -> None:
        """Give a link another ``capacity``, ``delay``, ``loss`` (tables as in a run's link)."""
        self.ask_links({"do": "change", "path": path, "direction": direction, "change": change})

    def set_path(self, name: str, up: bool) -> None:
        """Let both links of a path drop everything, or carry again."""
        self.ask_links({"do": "path", "name": name, "up": up})

    def finish(self) -> Message:
        """Stop the links; return their ``statistics`` and ``samples``.

        Raises :class:`LiveError` when the relay had failed before.
        """
        found = self.ask_links({"do": "finish"})
        if found["failure"]:
            raise LiveError(f"the relay stopped before its time: {found['failure']}")
        return {"statistics": json.loads(found["statistics"]), "samples": found["samples"]}

    def ask_links(self, message: Message) -> Message:
        """Ask the first process of the world something."""
        with self._links:  # a client of the shell asks, and the shell itself
            return self.ask(self._init, message)

    def ask(self, channel: Channel, message: Message, timeout_s: float | None = 30.0) -> Message:
        """Send a request and return its answer."""
        self.tell(channel, message)
        return self._answer(channel, f"'{message['do']}' failed in the emulated network", timeout_s)

    def tell(self, channel: Channel, message: Message) -> None:
        """Send a request whose answer is fetched later, by :meth:`answer`."""
        try:
            channel.send(message)
        except OSError:
            raise LiveError(_ENDED) from None

    def answer(self, channel: Channel, timeout_s: float | None) -> Message:
        """Return the answer to the last request."""
        return self._answer(channel, "the emulated network refused", timeout_s)

    def _answer(self, channel: Channel, what: str, timeout_s: float | None) -> Message:
        try:
            message = channel.receive(timeout_s)
        except TimeoutError:
            raise LiveError(f"{what}: no answer for {timeout_s:g} s") from None
        if message is None:
            raise LiveError(_ENDED)
        if "error" in message:
            raise LiveError(f"{what}: {message['error']}")
        return message

    def close(self) -> None:
        """End the world and everything in it."""
        for channel in self._channels:
            channel.close()
        if self._process is not None:
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


_WIRED = {"name", "backup", "present"}
_ENDED = (
    "the emulated network ended before its time (its first process was killed, or ran out of "
    "memory); nothing of this run is kept: give the same command again"
)
