"""Joining: an invitation, the node's answer to it, and what it gets."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from skyweave.errors import ConfigError
from skyweave.testbed.wire.names import Key, Message, Name, Sentence, UnixSeconds

CODE_S = 900.0
"""How long a code is good."""
CODE = r"[A-HJ-NP-Z2-9]{4}(?:-[A-HJ-NP-Z2-9]{4}){3}"
"""80 bits in letters and digits that are not taken for each other."""
_INVITATION = re.compile(
    rf"(https?://[A-Za-z0-9.\-\[\]:]{{1,260}})/?#({CODE})(?:\.([0-9a-f]{{64}}))?"
)


class Invitation(Message):
    """What an owner pastes after ``skyweave node join``: ``https://HOST:PORT#CODE.PIN``."""

    url: Annotated[str, StringConstraints(max_length=300)]
    code: Annotated[str, StringConstraints(pattern=f"^{CODE}$")]
    pin: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """SHA-256 of the orchestrator's own certificate (DER); None for one that the system trusts."""

    def __str__(self) -> str:
        return f"{self.url}#{self.code}" + (f".{self.pin}" if self.pin else "")

    @classmethod
    def parse(cls, text: str) -> Invitation:
        """Read an invitation; :class:`ConfigError` for anything else."""
        found = _INVITATION.fullmatch(text.strip())
        if not found:
            raise ConfigError(
                "that is no invitation; paste the whole of what 'skyweave testbed invite' printed"
            )
        try:
            return cls(url=found[1], code=found[2], pin=found[3])
        except ValidationError:
            raise ConfigError("that invitation is damaged; ask for a new one") from None


class Join(Message):
    """The body of ``POST /agent/join``, signed by the key that it brings (RFC 9421)."""

    code: Annotated[str, StringConstraints(pattern=f"^{CODE}$")]
    name: Name
    kind: Literal["node", "server"]
    key: Key
    version: Annotated[str, StringConstraints(max_length=100)]
    address: Annotated[str, StringConstraints(pattern=r"^[0-9A-Fa-f.:]{2,45}$")] | None = None
    """Servers: the address that nodes reach them at."""


class Joined(Message):
    """Its answer: the orchestrator's key, by which all orders are signed from now on."""

    name: Name
    key: Key
    now_unix_s: UnixSeconds


class Problem(Message):
    """The body of every answer that is no success."""

    error: Sentence
    code: Literal[
        "invalid", "unauthorised", "forbidden", "missing", "conflict", "too-large", "too-many",
        "clock", "unavailable", "internal",
    ]  # fmt: skip
    now_unix_s: UnixSeconds | None = None
    """With ``clock``: the time to count ``created`` by."""
    held: Annotated[int, Field(ge=0)] | None = None
    """With ``conflict`` of an upload: where to go on."""
