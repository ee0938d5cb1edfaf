"""The folder of a node: who it is, its key, its owner's policy, its book; and how it joins."""

from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints, ValidationError

from skyweave.model.files import read_regular, write_whole
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.dial import HttpLink
from skyweave.testbed.wire import Invitation, Join, Joined, Message, PrivateKey
from skyweave.testbed.wire.names import Key, Name
from skyweave.version import code_version

DEFAULT = Path("/var/lib/skyweave-node")
POLICY = """\
# What may run on this node; docs/nodes.md has every key. Nobody but the owner, until you say more.
owner = "{owner}"
users = []
"""


class Identity(Message):
    """Who a node is, and whose orders it takes."""

    name: Name
    kind: Literal["node", "server"]
    url: Annotated[str, StringConstraints(max_length=300)]
    pin: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None
    orchestrator_key: Key
    address: str | None = None


@dataclass(frozen=True)
class Home:
    """The folder; only its owner can read it."""

    folder: Path

    @property
    def policy(self) -> Path:
        """The owner's policy file."""
        return self.folder / "policy.toml"

    @property
    def book(self) -> Path:
        """The file of :class:`skyweave.testbed.node.book.Book`."""
        return self.folder / "book.db"

    @property
    def mark(self) -> str:
        """What tells this node's namespaces and groups from those of others on the machine."""
        status = self.folder.stat()
        return f"{status.st_dev:x}{status.st_ino:x}"[-10:]

    def identity(self) -> Identity:
        """Return who this node is; :class:`TestbedError` if it has not joined."""
        file = self.folder / "identity.json"
        try:
            return Identity.model_validate_json(read_regular(file, 10_000))
        except FileNotFoundError:
            raise TestbedError(
                f"{self.folder}: has joined no testbed; 'skyweave node join INVITATION' does"
            ) from None
        except (OSError, ValidationError) as error:
            why = getattr(error, "strerror", None) or "it is damaged"
            raise TestbedError(
                f"{file}: cannot be read ({why}); restore it, or join anew"
            ) from None

    def link(self) -> HttpLink:
        """Return the way to the orchestrator."""
        who = self.identity()
        return HttpLink(who.url, who.pin, who.name, PrivateKey.load(self.folder / "key.pem"))


def join(
    home: Home, invitation: Invitation, name: str, kind: Literal["node", "server"],
    owner: str | None, address: str | None = None,
) -> Identity:  # fmt: skip
    """Make a key, show the code, and keep what comes back.

    The key is on the disk before the code is used: if the answer is lost on its way, the same
    command is right again. Raises :class:`TestbedError` if the folder has joined already, and
    when the orchestrator refuses.
    """
    try:
        home.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        home.folder.chmod(0o700)
    except OSError as error:
        raise TestbedError(
            f"{home.folder}: cannot be made ({error.strerror}); name another --home"
        ) from None
    file = home.folder / "identity.json"
    if file.exists():
        raise TestbedError(
            f"{home.folder}: has joined {home.identity().url} already; name another --home, or "
            "remove it"
        )
    key_file = home.folder / "key.pem"
    if not key_file.exists():
        PrivateKey.make().save(key_file)
    key = PrivateKey.load(key_file)
    link = HttpLink(invitation.url, invitation.pin, "join", key)
    try:
        asked = Join(
            code=invitation.code, name=name, kind=kind, key=key.public,
            version=code_version()[:100], address=address,
        )  # fmt: skip
        answer = Joined.model_validate_json(link.join(asked.model_dump_json().encode()))
    except ValidationError as error:
        first = error.errors()[0]
        raise TestbedError(
            f"{'.'.join(map(str, first['loc'])) or 'the answer'}: {first['msg']}; names are small "
            "letters, digits and hyphens"
        ) from None
    finally:
        link.close()
    who = Identity(
        name=answer.name, kind=kind, url=invitation.url, pin=invitation.pin,
        orchestrator_key=answer.key, address=address,
    )  # fmt: skip
    if owner is not None and not home.policy.exists():
        write_whole(home.policy, POLICY.format(owner=owner))
    write_whole(file, who.model_dump_json())
    return who


def host_name() -> str:
    """Return a name for this machine as the testbed takes it."""
    said = socket.gethostname().partition(".")[0].lower()
    return "".join(one for one in said if one.isascii() and (one.isalnum() or one == "-"))[:39]


def free_bytes(folder: Path) -> int:
    """Return the free space of the disk that a folder is on."""
    with contextlib.suppress(OSError):
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize
    return 0
