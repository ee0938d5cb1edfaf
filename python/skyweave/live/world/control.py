"""Changing links while a shell is open: ``skyweave link`` talks to ``skyweave shell``.

The shell listens on a socket whose name stands in the environment of what runs inside.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from skyweave.errors import SkyweaveError
from skyweave.live.errors import LiveError
from skyweave.live.world.messages import Channel, Message
from skyweave.live.world.world import World

VARIABLE = "SKYWEAVE_CONTROL"


_PREFIX = "skyweave-shell-"


def clear_away() -> None:
    """Remove the folders of shells that were killed: all that they can leave behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(folder, ignore_errors=True)


class Control:
    """The socket of a shell; a context manager that sets :data:`VARIABLE`."""

    def __init__(self, world: World) -> None:
        self._world = world
        clear_away()
        self._folder = tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-")
        self._socket = socket.socket(socket.AF_UNIX)

    def __enter__(self) -> Self:
        name = str(Path(self._folder.name) / "control")
        self._socket.bind(name)
        self._socket.listen()
        self.environment = {VARIABLE: name}
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()
        self._folder.cleanup()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                end, _ = self._socket.accept()
                channel = Channel(end)
                with contextlib.closing(channel), contextlib.suppress(OSError, ValueError):
                    message = channel.receive(5.0)
                    if message is not None:
                        channel.send(self._answer(message))

    def _answer(self, message: Message) -> Message:
        try:
            self._world.ask_links(message)
        except SkyweaveError as error:
            return {"error": str(error)}
        return {}


def tell_shell(message: Message) -> None:
    """Ask the shell that this process runs in to change a link.

    Raises :class:`LiveError` outside of a shell, and for what the shell refuses.
    """
    name = os.environ.get(VARIABLE)
    if name is None:
        raise LiveError(
            "this is not inside 'skyweave shell'; start one, and change its links there"
        )
    end = socket.socket(socket.AF_UNIX)
    try:
        end.connect(name)
    except OSError:
        raise LiveError("the 'skyweave shell' around this is gone; start another one") from None
    channel = Channel(end)
    channel.send(message)
    answer = channel.receive(5.0)
    channel.close()
    if answer is None or "error" in answer:
        raise LiveError(answer["error"] if answer else "the shell hung up")
