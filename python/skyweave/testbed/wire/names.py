"""Names, numbers and limits that all messages of the testbed share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MOST_BODY_BYTES = 1_000_000
"""The longest message, either way; parts of files have :data:`PART_BYTES`."""
PART_BYTES = 4 * 2**20
"""The longest part of an upload."""
MOST_ARTEFACT_BYTES = 2 * 10**9
MOST_ARTEFACTS = 1000
"""Files of a run."""
MOST_INPUT_BYTES = 64 * 2**20
"""The file tree of an experiment, packed."""
MOST_EVENTS = 200
"""Events of one request."""
MOST_ORDERS = 50
"""Orders of one answer."""
POLL_S = 50.0
"""How long a request for orders is held; carriers' translators often forget after 60 s."""
LONGEST_RUN_S = 86_400

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,38}$")]
"""A node, a server or a person."""
RunId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{24}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 of a file, in hexadecimal."""
FileName = Annotated[
    str,
    StringConstraints(
        max_length=200, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.=+-]*(/[A-Za-z0-9_][A-Za-z0-9_.=+-]*)*$"
    ),
]
"""A file of a run, relative; no part begins with a dot."""
Sentence = Annotated[str, StringConstraints(max_length=500)]
UnixSeconds = Annotated[float, Field(ge=0, le=1e11, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Bytes = Annotated[int, Field(ge=0, le=2**53)]
Sequence = Annotated[int, Field(ge=0, le=2**53)]
"""Counts from 1; 0 is "nothing yet"."""
Port = Annotated[int, Field(ge=1, le=65535)]
Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{43}=$")]
"""A public Ed25519 key: 32 bytes in base64."""
OutboxId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]


class Message(BaseModel):
    """The base of all messages: frozen, no unknown field, no text for a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
