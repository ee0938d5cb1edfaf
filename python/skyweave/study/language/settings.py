"""The table of settings: what a study can vary, each with everything that is known of it.

A setting is one field of :class:`Settings`: its name, its type, an :class:`About` with the rest.
From here come the keys of a study file, the runs that a list multiplies into, the labels that a
report knows runs by, the words on its axes, and the table in ``docs/studies.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, ValidationInfo, field_validator, model_validator

from skyweave.algorithms.catalogue import Choice, Kind, label, names
from skyweave.model import config
from skyweave.model.base import Ratio
from skyweave.model.config import Queue
from skyweave.model.validated import Amount, Name, Positive, Span, StudyModel, complaint
from skyweave.study.language.choices import checked, listed, spread
from skyweave.study.language.label_words import loss_label, queue_label, workload_label
from skyweave.study.language.rates import RateForecast
from skyweave.study.language.starts import StartRule

Belongs = Literal["run", "connection", "multipath", "mptcp", "mpquic", "links", "forecast"]
"""What reads a setting; runs of one path, or of another transport, have no label for theirs."""


@dataclass(frozen=True)
class About:
    """What is known of a setting beside its name and its type."""

    of: Belongs
    meaning: str
    """For the table in docs/studies.md."""
    default: Any = None
    shown: str | None = None
    """The default in words, where its value in TOML does not say it."""
    expands: bool = True
    """Whether it may be a list, which multiplies the runs."""
    inner: bool = False
    """Whether it multiplies the runs within one transport, after all others."""
    algorithms: Kind | None = None
    axis: str = ""
    """What an axis says; empty: the name."""
    percent: bool = False
    """Whether an axis shows a share in percent."""
    label: str | None = ""
    """How labels of runs call it; empty: by its name; None: no label."""
    label_of: Callable[[Any], Any] = lambda value: value
    """A value as a label."""
    follows: tuple[str, ...] = ()
    """Settings along which it may vary, because it varies with them."""

    @property
    def leaders(self) -> tuple[str, ...]:
        """Settings along which it may vary: Multipath TCP and QUIC have settings of their own."""
        own = self.of in ("multipath", "mptcp", "mpquic") and self.label != "multipath"
        return (*self.follows, *(["multipath"] if own else []))

    @property
    def fallback(self) -> Any:
        """What holds where a study file is silent."""
        return (self.default,) if self.expands else self.default


def _of(model: type[BaseModel], name: str) -> Any:
    """Return the default that a model of a run has for a field, so that it stands once."""
    return model.model_fields[name].default


def _mb(name: str) -> float:
    return float(_of(config.Connection, name) / 1e6)


class Settings(StudyModel):
    """The settings of a comparison; a list expands, what is not given comes from ``[settings]``.

    The order of the fields is the order in which lists multiply, and in which reports name them.
    """

    direction: Annotated[
        tuple[Literal["down", "up"], ...] | None,
        About("run", '`"down"`, `"up"`', default=_of(config.Bulk, "direction"), label=None),
    ] = None
    transport: Annotated[
        tuple[Literal["auto", "tcp", "mptcp", "mpquic"], ...] | None,
        About(
            "multipath",
            '`"tcp"`, `"mptcp"`, `"mpquic"`; `"auto"` is `"tcp"` on one path and `"mptcp"` on '
            "several",
            default="auto",
            label="multipath",
            axis="transport",
        ),
    ] = None
    mode: Annotated[
        tuple[config.Mode, ...] | None,
        About(
            "mptcp",
            'rules of MPTCP: `"v0.96"` or `"upstream"`',
            default=_of(config.Connection, "mode"),
            inner=True,
        ),
    ] = None
    scheduler: Annotated[
        tuple[Choice, ...] | None,
        About(
            "multipath",
            ", ".join(f"`{name}`" for name in names("scheduler")) + ", or `python:FILE.py:CLASS`",
            default=_of(config.Connection, "scheduler"),
            inner=True,
            algorithms="scheduler",
            label_of=label,
        ),
    ] = None
    congestion: Annotated[
        tuple[Choice, ...] | None,
        About(
            "connection",
            "any of [algorithms.md](algorithms.md): `newreno`, `cubic`, `cubic-linux`, `bbr`, … "
            '; engine `"field"` also `"default"`: what the sender has unless told',
            default=_of(config.Connection, "congestion"),
            algorithms="congestion",
            label_of=label,
            follows=("flows",),
        ),
    ] = None
    buffer_mb: Annotated[
        tuple[Positive, ...] | None,
        About(
            "connection",
            "both buffers at once, in 10⁶ bytes: 450 MB are 450 · 10⁶ bytes",
            shown="",
            label=None,
        ),
    ] = None
    send_buffer_mb: Annotated[
        tuple[Positive, ...] | None,
        About(
            "connection",
            "the buffer of the sender; not together with `buffer_mb` in one block",
            default=_mb("send_buffer_bytes"),
            axis="send and receive buffer (MB)",
            follows=("multipath",),
        ),
    ] = None
    receive_buffer_mb: Annotated[
        tuple[Positive, ...] | None,
        About(
            "connection",
            "the buffer of the receiver; not together with `buffer_mb` in one block",
            default=_mb("receive_buffer_bytes"),
            follows=("multipath", "send_buffer_mb"),
        ),
    ] = None
    autotune: Annotated[
        tuple[bool, ...] | None,
        About(
            "connection",
            "both buffers begin small and grow to their size as Linux tunes them; `false`: their "
            "size from the start",
            default=_of(config.Connection, "autotune"),
            follows=("multipath",),
        ),
    ] = None
    queue: Annotated[
        tuple[Literal["infinite"] | Queue, ...] | None,
        About(
            "links",
            "of paths that have none of their own",
            default=_of(config.Link, "queue"),
            shown="droptail, 1000 packets",
            label_of=queue_label,
        ),
    ] = None
    rtt_scale: Annotated[
        tuple[Positive, ...] | None,
        About(
            "links",
            "multiplies every round-trip time: an ablation of RTTs one does not know",
            default=1.0,
            axis="round-trip times, multiple",
        ),
    ] = None
    reverse: Annotated[
        tuple[Literal["trace", "unlimited"], ...] | None,
        About(
            "links",
            'the direction of the ACKs: its own trace, or `"unlimited"` (1000 Mbit/s, also taken '
            "where it was not measured)",
            default="trace",
        ),
    ] = None
    loss: Annotated[
        tuple[Literal["path"] | Ratio | dict[Name, Ratio], ...] | None,
        About(
            "links",
            "probability with which each packet of every path is lost, in place of what `[paths]` "
            'say; `{ sat = 0.005 }`: of that path alone (`where = { loss = "sat=0.005" }`)',
            default="path",
            axis="random loss (%)",
            percent=True,
            label_of=loss_label,
        ),
    ] = None
    air: Annotated[
        tuple[Literal["none", "round trips", "losses", "both"], ...] | None,
        About(
            "links",
            "what the model of the air ([data.md](data.md#the-air)) adds to satellite and cellular "
            'paths: to a constant `rtt_ms`, taken for the least one, `"round trips"` that vary; to '
            'a path with `loss = "none"`, `"losses"`; `"both"`',
            default="none",
        ),
    ] = None
    start: Annotated[
        tuple[StartRule, ...] | None,
        About(
            "run",
            "where in a long drive a test of `duration_s` begins, see below",
            default=StartRule(),
            shown='`"beginning"`',
            label_of=StartRule.label,
        ),
    ] = None
    engine: Annotated[
        tuple[Literal["sim", "live", "field"], ...] | None,
        About(
            "run",
            '`"sim"`: the simulator, in virtual time; `"live"`: Linux\'s own TCP and MPTCP over '
            'emulated links, in real time; `"field"`: the same over networks of this machine, see '
            "below",
            default="sim",
            follows=("workload",),  # players that are programs play live
        ),
    ] = None
    file_mib: Annotated[
        tuple[Positive, ...] | None,
        About(
            "connection",
            "fetch a file of this many MiB (2²⁰ bytes) instead of going on for `duration_s`, which "
            "is then the limit",
            shown="none",
            axis="file (MiB)",
        ),
    ] = None
    workload: Annotated[
        tuple[Literal["bulk"] | config.Workload, ...] | None,
        About(
            "run",
            '`"bulk"`, or a table with `kind`: `"requests"` (objects one after the other), '
            '`"paced"` (pieces at a rate, with deadlines), `"video"` (a film in one file), '
            '`"adaptive"` (a film in chunks) or `"probe"` (round trips alone, engine `"field"`), '
            "see below",
            default="bulk",
            label_of=workload_label,
        ),
    ] = None
    abr: Annotated[
        tuple[Choice, ...] | None,
        About(
            "run",
            "adaptive films: what chooses the qualities, in place of the workload's `abr`",
            shown="the workload's",
            algorithms="abr",
            label_of=lambda choice: None if choice is None else label(choice),
            axis="ABR",
            follows=("rate_forecast",),
        ),
    ] = None
    ladder_top: Annotated[
        tuple[Positive, ...] | None,
        About(
            "run",
            "adaptive films: six qualities with a ratio of 1.5, the best one this many times the "
            "median rate that the first path has over all drives of the group; in place of the "
            "workload's `ladder_mbps`",
            shown="the workload's",
            axis="best quality ÷ median rate",
        ),
    ] = None
    rate_forecast: Annotated[
        tuple[RateForecast, ...] | None,
        About(
            "run",
            "adaptive films: what the player knows of the rate ahead, see below",
            default=RateForecast(),
            shown='`"none"`',
            label_of=RateForecast.label,
            axis="what is known of the rate",
            follows=("abr",),
        ),
    ] = None
    subflows_per_path: Annotated[
        tuple[config.Subflows, ...] | None,
        About(
            "mptcp",
            "MPTCP subflows over each path, which share its links",
            default=_of(config.Connection, "subflows_per_path"),
            axis="subflows over each path",
        ),
    ] = None
    ack_path: Annotated[
        tuple[config.AckPath, ...] | None,
        About(
            "mpquic",
            'MP-QUIC: which path carries an acknowledgement: the `"same"`, the `"fastest"`, the '
            'one `"scheduled"`, or every one (`"duplicated"`)',
            default=_of(config.Quic, "ack_path"),
            inner=True,
            axis="path of acknowledgements",
        ),
    ] = None
    reinjection: Annotated[
        tuple[config.Reinjection, ...] | None,
        About(
            "mpquic",
            "MP-QUIC: what is retransmitted on another path though it is not known to be lost: "
            '`"none"`, the flight of a path that fell silent (`"failure"`), a slower path\'s rest '
            'when nothing is left to send (`"tail"`), or both',
            default=_of(config.Quic, "reinjection"),
            inner=True,
            axis="sent again on another path",
        ),
    ] = None
    datagram_bytes: Annotated[
        tuple[config.DatagramBytes, ...] | None,
        About(
            "mpquic",
            "MP-QUIC: UDP payload of a full packet",
            default=_of(config.Quic, "datagram_bytes"),
            inner=True,
        ),
    ] = None
    flow_control: Annotated[
        tuple[config.FlowControl, ...] | None,
        About(
            "mpquic",
            "MP-QUIC: how receive windows grow, up to `receive_buffer_mb`: "
            '`"rounds"`, twofold while they are read within two round trips; `"tripled"`, '
            "threefold whenever half is used, from 1 MiB a connection and 2 MiB a stream, as "
            "picoquic of March 2022",
            default=_of(config.Quic, "flow_control"),
            inner=True,
            axis="flow control",
        ),
    ] = None
    pacing_timer: Annotated[
        tuple[config.PacingTimer, ...] | None,
        About(
            "mpquic",
            "MP-QUIC: which pacers wake a sender: "
            '`"every"`, those of all paths; `"last"`, only that of the path that sent last, and '
            "none while a path passes its pacer but not its window, as picoquic of March 2022",
            default=_of(config.Quic, "pacing_timer"),
            inner=True,
            axis="pacing timer",
        ),
    ] = None
    handover_s: Annotated[
        tuple[Positive, ...] | None,
        About(
            "links",
            "replaces `every_s` of `handovers`",
            shown="the path's",
            axis="interval of handovers (s)",
        ),
    ] = None
    gap_s: Annotated[
        tuple[Amount, ...] | None,
        About(
            "links",
            "replaces `gap_s` of `handovers`",
            shown="the path's",
            axis="gap of a handover (s)",
        ),
    ] = None
    forecast: Annotated[
        tuple[Literal["none", "outages", "boundaries", "handovers", "file"], ...] | None,
        About(
            "forecast",
            '`"outages"`: the sender knows the outages of all paths ahead; `"boundaries"`: the '
            "slot edges of satellite paths, those of their `handovers` or of the drive's clock "
            '(seconds 12, 27, 42, 57); `"handovers"`: both; `"file"`: what the `forecast_file` of '
            "a path says ([forecasts.md](forecasts.md)); schedulers and congestion controls that "
            "look at it use it",
            default="none",
        ),
    ] = None
    forecast_error_s: Annotated[
        tuple[Amount, ...] | None,
        About(
            "forecast",
            "how wrong it is: each outage or boundary is announced up to this many seconds too "
            "early or too late",
            default=0.0,
            axis="the schedule is wrong by up to (s)",
        ),
    ] = None
    forecast_missing: Annotated[
        tuple[Ratio, ...] | None,
        About(
            "forecast",
            "share of the outages or boundaries that is not announced",
            default=0.0,
            axis="handovers that the schedule misses (%)",
            percent=True,
        ),
    ] = None
    forecast_false: Annotated[
        tuple[Ratio, ...] | None,
        About(
            "forecast",
            "outages or boundaries that are announced and do not come, as a share of those that do",
            default=0.0,
            axis="false handovers in the schedule (% of the true ones)",
            percent=True,
        ),
    ] = None
    forecast_uncertainty_s: Annotated[
        tuple[Amount, ...] | None,
        About(
            "forecast",
            "how uncertain it says to be of each boundary, right or wrong",
            default=0.3,
            axis="the schedule says to be right to (s)",
        ),
    ] = None
    open_on: Annotated[
        Literal["working", "first"] | None,
        About(
            "run",
            "where a bonded connection opens: on the first path of its set that carries something "
            'both ways, or on the `"first"` of the set whatever it does',
            default="working",
            expands=False,
            label=None,
        ),
    ] = None
    duration_s: Annotated[
        Span | None,
        About("run", "stop earlier", shown="whole drive", expands=False, label=None),
    ] = None
    sample_interval_ms: Annotated[
        Annotated[int, Field(ge=1)] | None,
        About(
            "run",
            "spacing of samples in the records",
            default=_of(config.Run, "sample_interval_ms"),
            expands=False,
            label=None,
        ),
    ] = None
    allow_dead_paths: Annotated[
        bool | None,
        About(
            "run",
            "count a path without any capacity in a drive as 0 Mbit/s instead of refusing it",
            default=False,
            expands=False,
            label=None,
        ),
    ] = None

    @field_validator("*", mode="before")
    @classmethod
    def _several(cls, value: Any, info: ValidationInfo) -> Any:
        """Make a list of what is one, and of an algorithm with lists of parameters a grid."""
        about = TABLE.get(info.field_name or "")
        if about is None or not about.expands:
            return value
        return spread(value) if about.algorithms else listed(value)

    @field_validator("*")
    @classmethod
    def _known(cls, value: Any, info: ValidationInfo) -> Any:
        about = TABLE.get(info.field_name or "")
        return checked(about.algorithms, value) if about and about.algorithms else value

    @model_validator(mode="after")
    def _buffers(self) -> Self:
        for key in ("send_buffer_mb", "receive_buffer_mb"):
            if self.buffer_mb is not None and getattr(self, key) is not None:
                raise complaint(key, f"{key} contradicts buffer_mb, which sets both; keep one")
        return self


def abouts(model: type[BaseModel]) -> dict[str, About]:
    """Return what is known of the fields of a model, by name."""
    return {
        name: about
        for name, field in model.model_fields.items()
        for about in field.metadata
        if isinstance(about, About)
    }


TABLE = abouts(Settings)
"""All settings by name."""
LABELS: dict[str, About] = {
    about.label or name: about for name, about in TABLE.items() if about.label is not None
}
"""Settings by what labels of runs call them."""


def markdown(model: type[BaseModel]) -> str:
    """Return the table of ``docs/studies.md``; a test keeps the page so."""
    rows = ["| key | list | default | meaning |", "| --- | --- | --- | --- |"]
    for name, about in abouts(model).items():
        default = f"`{_toml(about.default)}`" if about.shown is None else about.shown
        listed_ = "yes" if about.expands else "no"
        rows.append(f"| `{name}` | {listed_} | {default} | {about.meaning} |")
    return "\n".join(rows) + "\n"


def _toml(value: Any) -> str:
    """Return a value as a study file writes it.

    >>> _toml("trace"), _toml(False), _toml(1.0), _toml(4.194304)
    ('"trace"', 'false', '1', '4.194304')
    """
    return json.dumps(value).removesuffix(".0")
