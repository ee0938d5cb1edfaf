"""The specification of a run: all that a node may need to know, and all that it may do."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from skyweave.testbed.wire.names import (
    LONGEST_RUN_S,
    MOST_ARTEFACT_BYTES,
    MOST_INPUT_BYTES,
    Bytes,
    Digest,
    FileName,
    Message,
    Name,
    Port,
    RunId,
    Sequence,
    UnixSeconds,
)

Argument = Annotated[str, StringConstraints(min_length=1, max_length=2000, pattern=r"^[^\x00]*$")]
Kind = Literal["probe", "tcp", "mptcp", "mpquic", "video", "command"]
"""What a run does on the network; owners allow and forbid kinds."""
Priority = Literal["background", "normal", "exclusive"]
"""The class of the calendar: see docs/testbed.md."""
Service = Literal["iperf3", "quic", "http", "probe", "field"]


class Input(Message):
    """The file tree of an experiment: a tar archive, fetched by its digest."""

    sha256: Digest
    bytes: Annotated[int, Field(ge=1, le=MOST_INPUT_BYTES)]


class Study(Message):
    """A study file in the tree, planned and run inside the sandbox only."""

    kind: Literal["study"] = "study"
    file: FileName = "study.toml"
    code: bool = False
    """Whether its author says that it names Python code. A node does not rely on it."""


class Command(Message):
    """A program with its arguments, in the file tree; never a line for a shell."""

    kind: Literal["command"] = "command"
    argv: Annotated[tuple[Argument, ...], Field(min_length=1, max_length=100)]


Work = Annotated[Study | Command, Field(discriminator="kind")]


class Limits(Message):
    """What a run may use; a node's policy may allow less."""

    memory_bytes: Annotated[int, Field(ge=2**24, le=2**36)] = 2**29
    processes: Annotated[int, Field(ge=1, le=4096)] = 64
    cpu_share: Annotated[float, Field(gt=0, le=64)] = 1.0
    """Cores."""
    network_bytes: Bytes = 10**9
    """Both directions together."""
    artefact_bytes: Annotated[int, Field(ge=0, le=MOST_ARTEFACT_BYTES)] = 10**8
    """All files together."""


class KernelSettings(Message):
    """Settings of the kernel for the time of a run: names that are known, values that are data."""

    congestion_control: (
        Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,15}$")] | None
    ) = None
    """By the routes of the run's own namespace."""
    send_buffer_bytes: Annotated[int, Field(ge=4096, le=2**30)] | None = None
    receive_buffer_bytes: Annotated[int, Field(ge=4096, le=2**30)] | None = None
    qdisc: Literal["fq", "fq_codel", "pfifo", "cake"] | None = None


class FarEnd(Message):
    """The server of a run, ready: where it answers, and the word that it answers to."""

    name: Name
    address: Annotated[str, StringConstraints(pattern=r"^[0-9A-Fa-f.:]{2,45}$")]
    """An IP address, so that no name server decides who is measured."""
    ports: dict[Service, Port] = Field(max_length=8)
    token: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{32,64}$")]


class Origin(Message):
    """Why a run takes place: who asked for it, and what fired."""

    experiment: RunId
    user: Name
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    trigger: Annotated[str, StringConstraints(max_length=100)] | None = None
    context_json: Annotated[str, StringConstraints(max_length=100_000)] | None = None
    """The samples around the firing, as the trigger's ``firing.json`` has them."""


class RunSpecification(Message):
    """One run on one node, at one time, with everything it may do."""

    run: RunId
    fence: Annotated[Sequence, Field(ge=1)]
    """Grows with each attempt at anything: an order with a lower one is of the past."""
    node: Name
    kind: Kind
    priority: Priority = "exclusive"
    start_unix_s: UnixSeconds
    latest_start_unix_s: UnixSeconds
    """After this it must not begin; a node whose clock is less sure than that refuses."""
    seconds: Annotated[float, Field(gt=0, le=LONGEST_RUN_S)]
    work: Work
    input: Input | None = None
    far_end: FarEnd | None = None
    limits: Limits = Limits()
    settings: KernelSettings = KernelSettings()
    origin: Origin

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.latest_start_unix_s < self.start_unix_s:
            raise ValueError("latest_start_unix_s is before start_unix_s")
        if self.work.kind == "study" and self.input is None:
            raise ValueError("a study needs an input")
        return self
