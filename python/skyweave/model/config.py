"""The typed description of one simulated run; every field has its unit in its name.

These models are what :func:`skyweave.simulate` takes and what a study expands into. They cross to
Rust as JSON; the same names stand in ``crates/link`` and ``crates/sim``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from skyweave.model.base import Mbps, Millis, Model, Ratio, Seconds
from skyweave.model.forecast import Forecast, ForecastUpdate
from skyweave.model.windows import ForecastWindow, OutageWindow, UpWindow, union

Algorithm = str | dict[str, bool | float | str]
"""A name, or a table with ``name`` and parameters: ``skyweave algorithms`` lists both."""
Transport = Literal["tcp", "mptcp", "mpquic", "udp"]
"""``udp``: probes alone, on real networks."""
Mode = Literal["v0.96", "upstream"]
"""Rules of Multipath TCP: of the Linux fork, or of the mainline kernel."""
Subflows = Annotated[int, Field(ge=1, le=16)]
AckPath = Literal["same", "fastest", "scheduled", "duplicated"]
Reinjection = Literal["none", "failure", "tail", "all"]
FlowControl = Literal["rounds", "tripled"]
PacingTimer = Literal["every", "last"]
DatagramBytes = Annotated[int, Field(ge=1200, le=65507)]


class Unknown(Model):
    """Of a real network, which nobody describes; no engine computes with it."""

    kind: Literal["unknown"] = "unknown"


class ConstantRate(Model):
    """The same capacity at all times."""

    kind: Literal["constant"] = "constant"
    mbps: Mbps


class RateSteps(Model):
    """Capacity that is constant from each time to the next; loops after ``repeat_s`` if given."""

    kind: Literal["steps"] = "steps"
    times_s: tuple[Seconds, ...] = Field(min_length=1)
    mbps: tuple[Mbps, ...] = Field(min_length=1)
    repeat_s: Seconds | None = None


class Opportunities(Model):
    """Packet-delivery opportunities of 1,500 bytes at these milliseconds; loops (mahimahi)."""

    kind: Literal["opportunities"] = "opportunities"
    times_ms: tuple[int, ...] = Field(min_length=1)


Capacity = Annotated[
    ConstantRate | RateSteps | Opportunities | Unknown, Field(discriminator="kind")
]


class ConstantDelay(Model):
    """The same one-way propagation delay at all times."""

    kind: Literal["constant"] = "constant"
    ms: Millis


class DelaySteps(Model):
    """One-way propagation delay that is constant from each time to the next."""

    kind: Literal["steps"] = "steps"
    times_s: tuple[Seconds, ...] = Field(min_length=1)
    ms: tuple[Millis, ...] = Field(min_length=1)
    repeat_s: Seconds | None = None


Delay = Annotated[ConstantDelay | DelaySteps | Unknown, Field(discriminator="kind")]


class DropTail(Model):
    """A first-in first-out queue bounded in bytes, in packets or in both."""

    kind: Literal["droptail"] = "droptail"
    bytes: Annotated[int, Field(gt=0)] | None = None
    packets: Annotated[int, Field(gt=0)] | None = None


class CoDel(Model):
    """Controlled delay (RFC 8289), bounded in packets."""

    kind: Literal["codel"] = "codel"
    target_ms: Millis = 5.0
    interval_ms: Millis = 100.0
    packets: Annotated[int, Field(gt=0)] = 1000


class InfiniteQueue(Model):
    """A queue that never drops."""

    kind: Literal["infinite"] = "infinite"


Queue = Annotated[DropTail | CoDel | InfiniteQueue, Field(discriminator="kind")]


class NoLoss(Model):
    """Nothing is lost outside the queue."""

    kind: Literal["none"] = "none"


class Bernoulli(Model):
    """Each packet is lost with the same probability, independently."""

    kind: Literal["bernoulli"] = "bernoulli"
    ratio: Ratio


class GilbertElliott(Model):
    """Two-state loss per packet: good → bad with ``p``, bad → good with ``r``."""

    kind: Literal["gilbert-elliott"] = "gilbert-elliott"
    p: Ratio
    r: Ratio
    loss_good: Ratio = 0.0
    loss_bad: Ratio = 1.0


class LossSteps(Model):
    """Loss probability that is constant from each time to the next."""

    kind: Literal["steps"] = "steps"
    times_s: tuple[Seconds, ...] = Field(min_length=1)
    ratio: tuple[Ratio, ...] = Field(min_length=1)
    repeat_s: Seconds | None = None


Loss = Annotated[NoLoss | Bernoulli | GilbertElliott | LossSteps, Field(discriminator="kind")]


class Link(Model):
    """One direction of one path."""

    capacity: Capacity
    delay: Delay
    queue: Queue = DropTail(packets=1000)
    loss: Loss = NoLoss()
    outages: tuple[OutageWindow, ...] = ()


class Path(Model):
    """A path between client and server: a link each way."""

    name: str = Field(min_length=1)
    down: Link
    up: Link
    backup: bool = False
    present: tuple[UpWindow, ...] = (UpWindow(start_s=0.0),)
    forecast: Literal["none", "outages"] | tuple[ForecastWindow, ...] | Forecast = "none"
    """What the sending end knows ahead: nothing, the outages of the links, or this."""
    forecast_updates: tuple[ForecastUpdate, ...] = ()
    """Forecasts that reach it during the run; each replaces what was known before."""

    @model_validator(mode="after")
    def _known_in_time(self) -> Self:
        issued_at_s = self.forecast.issued_at_s if isinstance(self.forecast, Forecast) else None
        if issued_at_s:
            raise ValueError(
                f"the forecast of path '{self.name}' is issued at {issued_at_s:g} s, after the run "
                "began: give it as one of forecast_updates"
            )
        return self

    def known(self) -> Forecast:
        """Return what the sending end knows when the run begins."""
        if isinstance(self.forecast, Forecast):
            return self.forecast
        if self.forecast == "none":
            return Forecast()
        if self.forecast == "outages":
            both = union((*self.down.outages, *self.up.outages))
            windows = (ForecastWindow(start_s=one.start_s, end_s=one.end_s) for one in both)
            return Forecast(outages=tuple(windows))
        return Forecast(outages=self.forecast)


class Bulk(Model):
    """One transfer: ``bytes`` of it, or as much as fits until ``duration_s`` after its start."""

    direction: Literal["down", "up"] = "down"
    bytes: Annotated[int, Field(gt=0)] | None = None
    duration_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_kind(cls, value: Any) -> Any:
        """Leave the kind out, so that a record of bulk is what it was before there were kinds."""
        is_table = isinstance(value, dict)
        return {key: one for key, one in value.items() if key != "kind"} if is_table else value

    @property
    def kind(self) -> str:
        """The name among the workloads."""
        return "bulk"

    @property
    def main_direction(self) -> Literal["down", "up"]:
        """The way that most of the data go."""
        return self.direction


class Workload(BaseModel):
    """A workload of another kind than bulk: its fields are those of ``crates/application``.

    The engines check them (:func:`skyweave.engine.workloads.check`).
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: str
    direction: Literal["down", "up", "both"] = "down"
    duration_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None

    @property
    def main_direction(self) -> Literal["down", "up"]:
        """The way that most of the data go; down if both do."""
        return "up" if self.direction == "up" else "down"

    @property
    def bytes(self) -> None:
        """It has no size of its own."""


def _kind(value: Any) -> str:
    kind = value.get("kind", "bulk") if isinstance(value, dict) else getattr(value, "kind", "bulk")
    return "bulk" if kind == "bulk" else "other"


AnyWorkload = Annotated[
    Annotated[Bulk, Tag("bulk")] | Annotated[Workload, Tag("other")], Discriminator(_kind)
]
"""What runs over a connection: a table with ``kind``; without it, bulk."""


class Quic(Model):
    """What only multipath QUIC decides (``crates/mpquic``)."""

    ack_path: AckPath = "same"
    """Which path carries an acknowledgement: the one it is about, the one with the smallest RTT,
    the one that the scheduler would take, or every one."""
    reinjection: Reinjection = "all"
    """What is retransmitted on another path beyond what is known to be lost: nothing, the flight of
    a path that fell silent, a slower path's rest when nothing is left to send, or both."""
    datagram_bytes: DatagramBytes = 1440
    """UDP payload of a full packet."""
    flow_control: FlowControl = "rounds"
    """How receive windows grow: twofold while they are read within two round trips, or threefold
    whenever half is used, from 1 MiB a connection and 2 MiB a stream (picoquic of March 2022)."""
    pacing_timer: PacingTimer = "every"
    """Which pacers wake a sender: those of all paths, or only that of the path that sent last, and
    none while a path passes its pacer but not its window (picoquic of March 2022)."""


class After(Model):
    """What a connection waits for before it opens."""

    connection: Annotated[int, Field(ge=0)]
    """Another one of the run, by its place."""
    bytes: Annotated[int, Field(ge=0)]
    """What that one has delivered in order to its application."""


class Connection(Model):
    """One connection over some or all of the paths; several share their links."""

    paths: tuple[str, ...] = ()
    """Names of the paths in the order in which they are joined; empty: all of them."""
    transport: Transport = "mptcp"
    quic: Quic = Quic()
    """Multipath QUIC only."""
    subflows_per_path: Subflows = 1
    """Subflows over each path, which share its links; Multipath TCP only."""
    mode: Mode = "v0.96"
    scheduler: Algorithm = "minrtt"
    congestion: Algorithm = "cubic"
    workload: AnyWorkload = Bulk(duration_s=10.0)
    start_s: Seconds = 0.0
    after: After | None = None
    """It opens not at ``start_s`` but once another one has brought so much; simulator only."""
    until: Annotated[int, Field(ge=0)] | None = None
    """It is closed when this other connection opens; simulator only."""
    send_buffer_bytes: Annotated[int, Field(ge=1500)] = 4 * 1024 * 1024
    receive_buffer_bytes: Annotated[int, Field(ge=1500)] = 3 * 1024 * 1024
    autotune: bool = False
    """Let the receive buffer grow with twice what was read per round trip."""


class Run(Model):
    """Everything that decides the outcome of one run."""

    paths: tuple[Path, ...] = Field(min_length=1)
    connections: tuple[Connection, ...] = Field(min_length=1)
    seed: Annotated[int, Field(ge=0)] = 1
    stop_after_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 3600.0
    """The run ends here at the latest, finished or not."""
    sample_interval_ms: Annotated[int, Field(gt=0)] = 100
