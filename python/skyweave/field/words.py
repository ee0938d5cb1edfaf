"""What a run and its server say to each other; whatever is not of these shapes is refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

MOST_ORDER_BYTES = 200_000
MOST_ANSWER_BYTES = 64 * 2**20
MOST_SECONDS = 24 * 3600
MOST_ROWS = 100_000
"""Samples of a connection."""
MOST_FLOWS = 6
SECOND_NS = 1_000_000_000
Number = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**63)]
Congestion = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,15}$")]
FilmName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,80}(\.mp4|/film\.mpd)$")]
Port = Annotated[int, Field(ge=1, le=65_535)]


class Word(BaseModel):
    """A strict message: no other fields, no text for a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Hello(Word):
    """The first word on a connection, from each uplink: who knows the token may go on."""

    token: Annotated[str, StringConstraints(max_length=100)]


class Known(Word):
    """The answer: what the server is, and the address that the uplink has to the world."""

    you: Annotated[str, StringConstraints(max_length=45)]
    kernel: Annotated[str, StringConstraints(max_length=200)]
    skyweave: Annotated[str, StringConstraints(max_length=100)]
    congestion: Annotated[tuple[Congestion, ...], Field(max_length=50, strict=False)]
    """Controls that it may set."""


class Clock(Word):
    """What time is it there? In ns of ``CLOCK_MONOTONIC``."""

    do: Literal["clock"] = "clock"


class FarFlow(Word):
    """One connection as the server gets it; times in ns from second 0 of the run."""

    transport: Literal["tcp", "mptcp", "mpquic"]
    congestion: Congestion | None = None
    """The kernel's name of it, for its own transports; ``None``: what the server has."""
    sends: bool
    size_bytes: Annotated[int, Field(ge=1, le=10**13)] | None = None
    workload: dict[str, Any] | None = None
    """Bulk over the kernel has none; ``crates/application`` checks it."""
    film: FilmName | None = None
    """What nginx serves to a player that is a program, below the server's folder of films."""
    behaviour: dict[str, Any] | None = None
    """Multipath QUIC: ``crates/sockets`` checks it."""
    start_ns: Annotated[int, Field(ge=0, le=MOST_SECONDS * SECOND_NS)]
    end_ns: Annotated[int, Field(ge=0, le=MOST_SECONDS * SECOND_NS)]


class Listen(Word):
    """Wait for these connections; the answer says at which ports, and with which certificates."""

    do: Literal["listen"] = "listen"
    flows: Annotated[tuple[FarFlow, ...], Field(min_length=1, max_length=MOST_FLOWS, strict=False)]


class Listening(Word):
    """The answer to :class:`Listen`."""

    ports: Annotated[tuple[Port, ...], Field(max_length=MOST_FLOWS, strict=False)]
    pins: Annotated[dict[str, Annotated[str, StringConstraints(pattern=r"^[0-9A-Fa-f:]{1,100}$")]],
                    Field(max_length=MOST_FLOWS)]  # fmt: skip


class Go(Word):
    """Carry out what is listened for; the answer comes when it is over."""

    do: Literal["go"] = "go"
    run: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16,64}$")]
    """Names the answer, to fetch it later if this connection breaks."""
    epoch_ns: Count
    """Second 0, by the server's clock."""
    interval_ns: Annotated[int, Field(ge=10_000_000, le=60 * SECOND_NS)]


class Collect(Word):
    """The answer to an earlier :class:`Go`, when it is there."""

    do: Literal["collect"] = "collect"
    run: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16,64}$")]


Address = Annotated[
    tuple[Annotated[str, StringConstraints(max_length=64)], Annotated[int, Field(ge=0, le=65_535)]],
    Field(strict=False),
]


class FarSubflow(BaseModel):
    """A subflow as the far side saw it: numbers, and nothing else."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Annotated[float, Field(allow_inf_nan=False)] | bool | None]

    local: Address
    remote: Address


class FarRow(BaseModel):
    """One sample of the far side."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Annotated[float, Field(allow_inf_nan=False)] | bool | None]

    tick: Count
    at_ns: Count
    bytes: Count
    subflows: Annotated[tuple[FarSubflow, ...], Field(max_length=32)] = ()


class FarEvent(BaseModel):
    """Something that happened to a path of multipath QUIC."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at_ns: Count
    client: Annotated[str, StringConstraints(max_length=64)]
    event: Annotated[str, StringConstraints(pattern=r"^[a-z_\-]{1,40}$")]
    value: float


Cell = Number | bool | Annotated[str, StringConstraints(max_length=200)] | None


class FarSeen(BaseModel):
    """What the far side saw of one connection (:func:`skyweave.live.traffic.transfer.transfer`)."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Number | bool | None]

    place: Annotated[int, Field(ge=0, lt=MOST_FLOWS)]
    bytes: Count
    opened_ns: Count | None = None
    completed_ns: Count | None = None
    congestion: Congestion | None = None
    error: Annotated[str, StringConstraints(max_length=2000)] | None = None
    rows: Annotated[tuple[FarRow, ...], Field(max_length=MOST_ROWS)] = ()
    events: Annotated[tuple[FarEvent, ...], Field(max_length=MOST_ROWS)] = ()
    application: Annotated[
        tuple[Annotated[tuple[Cell, ...], Field(max_length=64)], ...], Field(max_length=10**6)
    ] = ()

    @model_validator(mode="after")
    def _is_plain(self) -> FarSeen:
        if len(self.__pydantic_extra__ or {}) > 40:
            raise ValueError("a connection has too many numbers")
        return self


class Gone(Word):
    """The answer to :class:`Go` and :class:`Collect`."""

    transfers: Annotated[tuple[FarSeen, ...], Field(max_length=MOST_FLOWS, strict=False)]
