"""Changing links while a shell is open: ``skyweave link`` talks to ``skyweave shell``.

The shell listens on a socket whose name stands in the environment of what runs inside. Whatever
comes there is answered, and only what :data:`Request` describes reaches the links.
"""

from __future__ import annotations

import os
import socket
import threading
from types import TracebackType
from typing import Annotated, Literal, Protocol, Self

from pydantic import Field, TypeAdapter, ValidationError

from skyweave.errors import SkyweaveError
from skyweave.live.errors import LiveError
from skyweave.live.world.clients import Clients
from skyweave.live.world.folder import ShellFolder, clear_away
from skyweave.live.world.messages import Channel, Message
from skyweave.model.base import Model
from skyweave.model.config import Capacity, Delay, Loss, Queue

VARIABLE = "SKYWEAVE_CONTROL"
ANSWER_S = 60.0
"""How long ``skyweave link`` waits for a shell that may be busy."""


class LinkChange(Model):
    """What a link may be given while it carries packets."""

    capacity: Capacity | None = None
    delay: Delay | None = None
    loss: Loss | None = None
    queue: Queue | None = None


class ChangeLink(Model):
    """Another capacity, delay, loss or queue of one direction of a path."""

    do: Literal["change"]
    path: str
    direction: Literal["down", "up"]
    change: LinkChange


class SwitchPath(Model):
    """Both links of a path carry again, or drop everything."""

    do: Literal["path"]
    name: str
    up: bool


Request = TypeAdapter[ChangeLink | SwitchPath](
    Annotated[ChangeLink | SwitchPath, Field(discriminator="do")]
)
"""What a shell does for who asks; nothing else reaches the world."""


class Links(Protocol):
    """A world, as far as its links are concerned."""

    def ask_links(self, message: Message) -> Message:
        """Ask the first process of the world something."""


class Control:
    """The socket of a shell; a context manager that sets :data:`VARIABLE`."""

    def __init__(self, world: Links) -> None:
        self._world = world
        clear_away()
        self._folder = ShellFolder()
        try:
            self._clients = Clients(self._folder.path / "control", self.answer)
        except LiveError:
            self._folder.remove()
            raise
        self._thread = threading.Thread(target=self._clients.serve, daemon=True)

    def __enter__(self) -> Self:
        self.environment = {VARIABLE: str(self._clients.name)}
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._clients.stop()
        self._thread.join()
        self._folder.remove()

    def answer(self, line: bytes) -> Message:
        """Do what a message asks for; the answer has ``error`` when that is nothing, or fails."""
        try:
            request = Request.validate_json(line)
            self._world.ask_links(request.model_dump(mode="json", exclude_none=True))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the message"
            return {
                "error": f"{where}: {first['msg']}; 'skyweave link --help' says what can change"
            }
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
    with socket.socket(socket.AF_UNIX) as end:
        try:
            end.connect(name)
            channel = Channel(end)
            channel.send(message)
            answer = channel.receive(ANSWER_S)
        except TimeoutError:
            raise LiveError(f"the shell did not answer for {ANSWER_S:g} s; try again") from None
        except (OSError, ValueError):
            raise LiveError("the 'skyweave shell' around this is gone; start another") from None
    if answer is None or "error" in answer:
        raise LiveError(answer["error"] if answer else "the shell hung up")
