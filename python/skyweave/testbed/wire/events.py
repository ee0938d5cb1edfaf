"""Events: what a node or a server tells, from an outbox that survives crashes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from skyweave.testbed.wire.names import (
    MOST_ARTEFACTS,
    MOST_EVENTS,
    Amount,
    Bytes,
    Digest,
    FileName,
    Message,
    OutboxId,
    Port,
    RunId,
    Sentence,
    Sequence,
    UnixSeconds,
)
from skyweave.testbed.wire.orders import Fence
from skyweave.testbed.wire.run import Service


class OfRun(Message):
    """What all events of a run say: which one, and by which order."""

    run: RunId
    fence: Fence


class Accepted(OfRun):
    """The node will begin the run at its time."""

    kind: Literal["accepted"] = "accepted"


class Refused(OfRun):
    """The node or server does not do it, and never began."""

    kind: Literal["refused"] = "refused"
    reason: Literal["policy", "late", "clock", "busy", "settings", "sandbox", "input", "other"]
    why: Sentence


class Ready(OfRun):
    """A server answers for the run."""

    kind: Literal["ready"] = "ready"
    address: Annotated[str, StringConstraints(pattern=r"^[0-9A-Fa-f.:]{2,45}$")]
    ports: dict[Service, Port] = Field(min_length=1, max_length=4)


class Started(OfRun):
    """The run's first process runs; ``time_unix_s`` of the event says since when."""

    kind: Literal["started"] = "started"


class Frozen(OfRun):
    """The run stands still, for the owner's traffic; or it goes on again."""

    kind: Literal["frozen"] = "frozen"
    frozen: bool


class Artefact(Message):
    """A file that a run left."""

    name: FileName
    bytes: Bytes
    sha256: Digest


Outcome = Literal["done", "failed", "timed-out", "preempted", "cancelled", "over-limit", "crashed"]
"""``failed``: its program said so; ``crashed``: the node went down while it ran."""


class Finished(OfRun):
    """The run is over, and what it left will be uploaded."""

    kind: Literal["finished"] = "finished"
    outcome: Outcome
    exit_code: Annotated[int, Field(ge=-255, le=255)] | None = None
    why: Sentence = ""
    started_unix_s: UnixSeconds | None = None
    sent_bytes: Bytes = 0
    received_bytes: Bytes = 0
    settings_restored: bool = True
    artefacts: Annotated[tuple[Artefact, ...], Field(max_length=MOST_ARTEFACTS)] = ()
    record_json: Annotated[str, StringConstraints(max_length=20_000)] = "{}"
    """What ran: kernel, versions, isolation, warnings; an object."""


class Fired(Message):
    """A trigger on the node fired: start a run of the experiment that waits for it."""

    kind: Literal["fired"] = "fired"
    experiment: RunId
    trigger: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    start_unix_s: UnixSeconds | None = None
    """When the run should begin; None for at once."""
    context_json: Annotated[str, StringConstraints(max_length=100_000)] = "{}"


Body = Annotated[
    Accepted | Refused | Ready | Started | Frozen | Finished | Fired, Field(discriminator="kind")
]


class Event(Message):
    """Something that happened, with its place in the outbox."""

    sequence: Annotated[Sequence, Field(ge=1)]
    time_unix_s: UnixSeconds
    """By the node's own clock, corrected by its offset if that is known."""
    body: Body


class Events(Message):
    """The body of ``POST /agent/events``; what was stored before is recognised and left."""

    outbox: OutboxId
    """Made with the outbox: a node that lost its outbox counts anew without being ignored."""
    events: Annotated[tuple[Event, ...], Field(min_length=1, max_length=MOST_EVENTS)]


class Stored(Message):
    """Its answer: everything to this number is kept, and may leave the outbox."""

    upto: Sequence


class Clock(Message):
    """The node's clock against the orchestrator's."""

    offset_s: Annotated[float, Field(ge=-1e9, le=1e9)]
    """How far the true time is ahead of the node's."""
    error_s: Amount
    """Half of the round trip in which that was measured, or what NTP says."""


class DishFigures(Message):
    """What a dish says of its link; None: it does not say."""

    down_mbps: Annotated[float, Field(ge=0, le=100_000)] | None = None
    up_mbps: Annotated[float, Field(ge=0, le=100_000)] | None = None
    ping_latency_ms: Annotated[float, Field(ge=0, le=60_000)] | None = None
    ping_drop_ratio: Annotated[float, Field(ge=0, le=1)] | None = None
    obstructed_ratio: Annotated[float, Field(ge=0, le=1)] | None = None


class RadioFigures(Message):
    """What a modem says of its cell; None: it does not say."""

    kind: Literal["lte", "5g"]
    rsrp_dbm: Annotated[float, Field(ge=-160, le=-20)] | None = None
    rsrq_db: Annotated[float, Field(ge=-50, le=30)] | None = None
    sinr_db: Annotated[float, Field(ge=-50, le=60)] | None = None
    rssi_dbm: Annotated[float, Field(ge=-160, le=0)] | None = None


class Heartbeat(Message):
    """The body of ``POST /agent/heartbeat``, each 30 s: the latest wins, none is kept."""

    clock: Clock
    version: Annotated[str, StringConstraints(max_length=100)]
    kernel: Annotated[str, StringConstraints(max_length=200)] = ""
    isolation: Annotated[str, StringConstraints(max_length=100)] = ""
    """Such as ``bubblewrap, cgroup v2``."""
    running: Annotated[tuple[RunId, ...], Field(max_length=100)] = ()
    waiting_events: Sequence = 0
    free_bytes: Bytes = 0
    """Of the disk that artefacts wait on."""
    policy: Annotated[str, StringConstraints(max_length=4000)] = ""
    """The owner's policy in words, for researchers; it is enforced on the node alone."""
    dish: DishFigures | None = None
    radio: RadioFigures | None = None
    """Both are there if the node has one, and its owner lets it tell."""


class HeartbeatAnswer(Message):
    """What a node learns of it: the time, and the newest order."""

    now_unix_s: UnixSeconds
    newest_order: Sequence


class Declared(Message):
    """The body of ``POST /agent/runs/{run}/artefacts``: a file that will come, or is coming."""

    artefact: Artefact


class Held(Message):
    """Its answer: send the parts from here on; ``done`` if it is all there."""

    upload: RunId
    held: Bytes
    done: bool
