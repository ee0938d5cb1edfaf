"""Orders: what the orchestrator tells a node or a server, each with a number and a signature."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from skyweave.testbed.wire.names import (
    LONGEST_RUN_S,
    MOST_ORDERS,
    Message,
    Name,
    RunId,
    Sequence,
    UnixSeconds,
)
from skyweave.testbed.wire.run import RunSpecification, Service

Fence = Annotated[Sequence, Field(ge=1)]


class Start(Message):
    """Begin a run at its time. Answered by ``accepted`` or ``refused``, at once."""

    kind: Literal["start"] = "start"
    specification: RunSpecification


class Stop(Message):
    """End a run, or never begin it. Answered by ``finished`` or ``refused``."""

    kind: Literal["stop"] = "stop"
    run: RunId
    fence: Fence
    outcome: Literal["cancelled", "preempted"]
    why: Annotated[str, StringConstraints(max_length=500)] = ""


class Serve(Message):
    """For servers: be the far end of a run. Answered by ``ready`` or ``refused``."""

    kind: Literal["serve"] = "serve"
    run: RunId
    fence: Fence
    services: Annotated[tuple[Service, ...], Field(min_length=1, max_length=4)]
    client: Name
    """The node that will come."""
    client_address: Annotated[str, StringConstraints(pattern=r"^[0-9A-Fa-f.:]{2,45}$")] | None
    """Where it was last seen; None if a carrier's translator may show another one."""
    token: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{32,64}$")]
    from_unix_s: UnixSeconds
    until_unix_s: UnixSeconds
    """All services of the run end then, whoever asks for more."""
    seconds: Annotated[float, Field(gt=0, le=LONGEST_RUN_S)]


class Release(Message):
    """For servers: the run is over; end its services. No answer."""

    kind: Literal["release"] = "release"
    run: RunId
    fence: Fence


Order = Annotated[Start | Stop | Serve | Release, Field(discriminator="kind")]


class Numbered(Message):
    """An order with the node that it is for and its place in that node's sequence."""

    node: Name
    sequence: Annotated[Sequence, Field(ge=1)]
    issued_unix_s: UnixSeconds
    order: Order


class Signed(Message):
    """A :class:`Numbered` as the exact text that was signed; see :mod:`.sealed`."""

    text: Annotated[str, StringConstraints(max_length=200_000)]
    signature: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{86}==$")]


class Orders(Message):
    """The answer to ``GET /agent/next?after=N``: what follows N, or nothing after 50 s."""

    now_unix_s: UnixSeconds
    orders: Annotated[tuple[Signed, ...], Field(max_length=MOST_ORDERS)] = ()
