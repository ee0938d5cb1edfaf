"""A plan and its drives, multiplied out into runs with labels and keys."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from skyweave.algorithms.catalogue import label
from skyweave.errors import ConfigError
from skyweave.forecast import Forecast
from skyweave.model import config
from skyweave.model.drive import Drive, PathTrace
from skyweave.study.compile.drives import DriveRun, window
from skyweave.study.compile.foresight import Foresight
from skyweave.study.compile.links import (
    LinkSettings,
    as_queue,
    build_path,
    mean_mbps,
    opening_order,
    queue_label,
)
from skyweave.study.language.flows import Flow, Mix, mix_labels, mixes
from skyweave.study.language.plan import SET_WORDS, Compare, Plan, Settings
from skyweave.study.language.starts import StartRule, begin_s

MIB = 2**20
"""Bytes of a mebibyte."""
PACKET_BITS = 12_000
"""A packet of 1,500 bytes."""
Label = str | float | bool | None
DEFAULTS: dict[str, Any] = {
    "direction": ("down",),
    "transport": ("auto",),
    "mode": ("v0.96",),
    "scheduler": ("minrtt",),
    "congestion": ("cubic",),
    "autotune": (False,),
    "queue": (config.DropTail(packets=1000),),
    "rtt_scale": (1.0,),
    "reverse": ("trace",),
    "loss": ("path",),
    "file_mib": (None,),
    "subflows_per_path": (1,),
    "ack_path": ("same",),
    "reinjection": ("all",),
    "datagram_bytes": (1440,),
    "handover_s": (None,),
    "gap_s": (None,),
    "forecast": ("none",),
    "forecast_error_s": (0.0,),
    "forecast_missing": (0.0,),
    "forecast_false": (0.0,),
    "start": (StartRule(),),
    "engine": ("sim",),
    "open_on": "working",
    "sample_interval_ms": 100,
    "allow_dead_paths": False,
}
"""What holds where a study file is silent: the defaults of ``skyweave.model.config``."""
MODES: tuple[Literal["v0.96", "upstream"], ...] = ("v0.96", "upstream")
DEFAULT_SEND_MB = 4.194304
DEFAULT_RECEIVE_MB = 3.145728


@dataclass(frozen=True)
class Job:
    """One run to do: its key, its labels for the report, its configuration, its size."""

    key: str
    labels: dict[str, Label]
    run: config.Run
    packets: float
    """Expected data packets: what the capacity of all its paths could carry."""
    engine: Literal["sim", "live"] = "sim"

    @property
    def work(self) -> float:
        """What progress counts: packets of a simulated run, seconds of a live one."""
        return self.run.stop_after_s if self.engine == "live" else self.packets


class _Knobs(NamedTuple):
    """One combination of the settings that every transport has."""

    mix: Mix
    send_mb: float
    receive_mb: float
    autotune: bool
    queue: Literal["infinite"] | config.Queue
    rtt_scale: float
    reverse: Literal["trace", "unlimited"]
    loss: Literal["path"] | float | dict[str, float]
    start: StartRule
    engine: Literal["sim", "live"]
    file_mib: float | None
    subflows_per_path: int
    handover_s: float | None
    gap_s: float | None
    forecast: Literal["none", "outages", "file"]
    forecast_error_s: float
    forecast_missing: float
    forecast_false: float


def expand(
    plan: Plan,
    drives: Iterable[DriveRun],
    code_version: str,
    live_version: str = "",
    forecasts: Mapping[str, Forecast] = MappingProxyType({}),
) -> tuple[list[Job], list[str]]:
    """Return the jobs of a plan in a fixed order, each pair of run and labels once, and notes.

    ``live_version``: what the records of live runs hang on beside ``code_version``; ``forecasts``:
    the files of paths that have one.
    Raises :class:`ConfigError` for a path set that no drive has, or for a path without any
    capacity that would be measured alone, unless the plan allows dead paths.
    """
    drives = list(drives)
    jobs: dict[tuple[str, str], Job] = {}
    versions = {"sim": code_version, "live": f"{code_version}\n{live_version}"}
    for block in plan.compare:
        members = [d for d in drives if block.drives is None or d.source in block.drives]
        _check_sets(block, plan, members)
        for member in members:
            for job in _jobs(plan, block, member, (versions, forecasts)):
                jobs.setdefault((job.key, json.dumps(job.labels, sort_keys=True)), job)
    if not jobs:
        raise ConfigError("the study has no runs: its path sets name paths that no drive has")
    return list(jobs.values()), _gaps(plan, drives)


def run_key(run: config.Run, code_version: str, engine: str = "sim") -> str:
    """Return the name of the run's record: a hash of everything that decides what is in it."""
    text = f"{code_version}\n{engine}\n{run.model_dump_json()}"
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def path_sets(words: Iterable[str], names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the sets that ``words`` mean for a drive with these paths, each once, in order.

    >>> path_sets(["singles", "SL+VZ"], ("SL", "VZ"))
    [('SL',), ('VZ',), ('SL', 'VZ')]
    """
    sizes = {"singles": 1, "pairs": 2, "triples": 3, "all": len(names)}
    found: dict[tuple[str, ...], None] = {}
    for word in words:
        if word in SET_WORDS:
            found |= dict.fromkeys(itertools.combinations(names, sizes[word]))
        elif set(word.split("+")) <= set(names):
            found[tuple(word.split("+"))] = None
    return list(found)


def _jobs(
    plan: Plan,
    block: Compare,
    member: DriveRun,
    known: tuple[dict[str, str], Mapping[str, Forecast]],
) -> Iterator[Job]:
    """Yield the jobs of one block on one drive."""
    versions, forecasts = known
    settings = _merged(plan.settings, block)
    names = tuple(name for name in plan.paths if name in member.drive.paths)
    duration_s = settings["duration_s"] or member.drive.duration_s
    for direction, paths, knobs in itertools.product(
        settings["direction"], path_sets(block.paths, names), _knobs(settings, block)
    ):
        links = _link_settings(knobs, direction, duration_s, member.seed)
        if knobs.forecast == "file":
            links = replace(links, told=_told(forecasts, paths, member.drive, knobs, duration_s))
        built = tuple(
            build_path(n, trace, plan.paths[n], links, member.drive.name)
            for n, trace in _traces(member.drive, paths, knobs.start, settings["duration_s"])
        )
        packets = sum(_mean(path, links) for path in built) * 1e6 * duration_s / PACKET_BITS
        if knobs.file_mib is not None:
            packets = min(packets, knobs.file_mib * MIB * 8 / PACKET_BITS)
        if packets == 0 and not settings["allow_dead_paths"]:
            raise ConfigError(
                f"drive '{member.drive.name}': {'+'.join(paths)} has no {direction}link capacity "
                "at any time; set allow_dead_paths = true to count it as 0 Mbit/s, "
                "or change the drive"
            )
        order = paths if settings["open_on"] == "first" else opening_order(built)
        for first in _connections(settings, order, knobs, direction, duration_s):
            run = config.Run(
                paths=built,
                connections=_competing(first, knobs.mix, duration_s),
                seed=member.seed,
                stop_after_s=duration_s,
                sample_interval_ms=settings["sample_interval_ms"],
            )
            labels = _labels(member, paths, knobs, first)
            key = run_key(run, versions[knobs.engine], knobs.engine)
            yield Job(key, labels, run, packets, knobs.engine)


def _link_settings(
    knobs: _Knobs, direction: Literal["down", "up"], duration_s: float, seed: int
) -> LinkSettings:
    return LinkSettings(
        direction=direction,
        duration_s=duration_s,
        queue=as_queue(knobs.queue),
        rtt_scale=knobs.rtt_scale,
        reverse=knobs.reverse,
        loss=knobs.loss,
        handover_s=knobs.handover_s,
        gap_s=knobs.gap_s,
        foresight=Foresight(
            kind=knobs.forecast,
            error_s=knobs.forecast_error_s,
            missing=knobs.forecast_missing,
            false=knobs.forecast_false,
        ),
        seed=seed,
    )


def _told(
    forecasts: Mapping[str, Forecast],
    paths: tuple[str, ...],
    drive: Drive,
    knobs: _Knobs,
    duration_s: float,
) -> dict[str, tuple[config.ForecastWindow, ...]]:
    """Return what the forecast files of paths say of a run from the beginning of a drive."""
    if drive.start is None or knobs.start.rule != "beginning":
        raise ConfigError(
            f"forecast = \"file\" needs runs whose UTC is known: drive '{drive.name}' "
            + ("has no start" if drive.start is None else "is entered in its midst; remove start")
        )
    return {
        name: forecasts[name].outages(drive.start, duration_s)
        for name in paths
        if name in forecasts
    }


def _traces(
    drive: Drive, paths: tuple[str, ...], rule: StartRule, test_s: float | None
) -> list[tuple[str, PathTrace]]:
    """Return the traces of paths from where the test begins."""
    if rule.rule == "beginning":
        return [(name, drive.paths[name]) for name in paths]
    if test_s is None:
        raise ConfigError(
            f'start = "{rule.rule}" needs duration_s: how long each test inside drive '
            f"'{drive.name}' lasts; add it to [settings] or to the [[compare]]"
        )
    start_s = begin_s(drive, paths, rule, test_s)
    return [(name, window(drive.paths[name], start_s, start_s + test_s)) for name in paths]


def _competing(
    first: config.Connection, mix: Mix, duration_s: float
) -> tuple[config.Connection, ...]:
    """Return all connections of a run: like the first one, in groups that compete."""
    late = max(start for flow in mix for start in flow.starts_s())
    if late >= duration_s:
        raise ConfigError(
            f"flows open up to {late:g} s after the beginning, but the run lasts {duration_s:g} s; "
            "lower start_s or stagger_s"
        )
    return tuple(
        first.model_copy(
            update={
                "congestion": flow.congestion,
                "start_s": start_s,
                "workload": first.workload.model_copy(update={"duration_s": duration_s - start_s}),
            }
        )
        for flow in mix
        for start_s in flow.starts_s()
    )


def _connections(
    settings: dict[str, Any],
    paths: tuple[str, ...],
    knobs: _Knobs,
    direction: Literal["down", "up"],
    duration_s: float,
) -> Iterator[config.Connection]:
    """Yield a connection for each transport, mode and scheduler; TCP has only one of these."""
    transports: dict[config.Transport, None] = dict.fromkeys(
        ("tcp" if len(paths) == 1 else "mptcp") if name == "auto" else name
        for name in settings["transport"]
    )
    for transport in transports:
        for own in _own_settings(transport, settings, knobs):
            yield config.Connection(
                paths=paths,
                transport=transport,
                **own,
                congestion=knobs.mix[0].congestion,
                workload=config.Bulk(
                    direction=direction,
                    duration_s=duration_s,
                    bytes=None if knobs.file_mib is None else round(knobs.file_mib * MIB),
                ),
                send_buffer_bytes=round(knobs.send_mb * 1e6),
                receive_buffer_bytes=round(knobs.receive_mb * 1e6),
                autotune=knobs.autotune,
            )


def _own_settings(
    transport: config.Transport, settings: dict[str, Any], knobs: _Knobs
) -> list[dict[str, Any]]:
    """Return each combination of what only some transports have."""
    if transport == "mptcp":
        return [
            {"mode": mode, "scheduler": scheduler, "subflows_per_path": knobs.subflows_per_path}
            for mode, scheduler in itertools.product(settings["mode"], settings["scheduler"])
        ]
    if transport == "mpquic":
        keys = tuple(config.Quic.model_fields)
        return [
            {"scheduler": scheduler, "quic": config.Quic(**dict(zip(keys, values, strict=True)))}
            for scheduler in settings["scheduler"]
            for values in itertools.product(*(settings[key] for key in keys))
        ]
    return [{"mode": MODES[0], "scheduler": "minrtt"}]


def _labels(
    member: DriveRun, paths: tuple[str, ...], knobs: _Knobs, connection: config.Connection
) -> dict[str, Label]:
    """Return what the report knows a run by."""
    together = connection.transport != "tcp"
    is_mptcp = connection.transport == "mptcp"
    quic = connection.quic.model_dump() if connection.transport == "mpquic" else {}
    return {
        "drives": member.source,
        "drive": member.drive.name,
        "origin": member.drive.origin,
        "synthetic": member.drive.synthetic,
        "seed": member.seed,
        "direction": connection.workload.main_direction,
        "paths": "+".join(paths),
        "transport": connection.transport,
        "multipath": connection.transport if together else None,
        "mode": connection.mode if is_mptcp else None,
        "scheduler": label(connection.scheduler) if together else None,
        **mix_labels(knobs.mix),
        "send_buffer_mb": knobs.send_mb,
        "receive_buffer_mb": knobs.receive_mb,
        "autotune": knobs.autotune,
        "queue": queue_label(as_queue(knobs.queue)),
        "rtt_scale": knobs.rtt_scale,
        "reverse": knobs.reverse,
        "loss": _loss_label(knobs.loss),
        "start": knobs.start.label(),
        "engine": knobs.engine,
        "file_mib": knobs.file_mib,
        "subflows_per_path": knobs.subflows_per_path if is_mptcp else None,
        **{key: quic.get(key) for key in config.Quic.model_fields},
        "handover_s": knobs.handover_s,
        "gap_s": knobs.gap_s,
        "forecast": knobs.forecast,
        "forecast_error_s": knobs.forecast_error_s,
        "forecast_missing": knobs.forecast_missing,
        "forecast_false": knobs.forecast_false,
    }


def _loss_label(loss: Literal["path"] | float | dict[str, float]) -> str | float:
    """Return a loss in one word.

    >>> _loss_label({"sat": 0.005})
    'sat=0.005'
    """
    if not isinstance(loss, dict):
        return loss
    return ", ".join(f"{name}={ratio:g}" for name, ratio in loss.items())


def _merged(common: Settings, block: Compare) -> dict[str, Any]:
    """Return the block's settings, then the common ones, then the defaults."""
    merged: dict[str, Any] = {}
    for key in Settings.model_fields:
        own, shared = getattr(block, key), getattr(common, key)
        merged[key] = DEFAULTS.get(key) if own is None and shared is None else _first(own, shared)
    both = block.buffer_mb or common.buffer_mb
    for key in ("send_buffer_mb", "receive_buffer_mb"):
        shared = block.buffer_mb or getattr(common, key) or common.buffer_mb
        merged[key] = _first(getattr(block, key), shared)
    if block.send_buffer_mb or block.receive_buffer_mb or not both:
        merged["buffer_mb"] = None
    return merged


def _first(own: Any, shared: Any) -> Any:
    return shared if own is None else own


def _knobs(settings: dict[str, Any], block: Compare) -> list[_Knobs]:
    """Return each combination of the settings that every transport has."""
    if settings["buffer_mb"]:
        buffers = [(size, size) for size in settings["buffer_mb"]]
    else:
        send = settings["send_buffer_mb"] or (DEFAULT_SEND_MB,)
        receive = settings["receive_buffer_mb"] or (DEFAULT_RECEIVE_MB,)
        buffers = list(itertools.product(send, receive))
    alone: list[Mix] = [(Flow(choice),) for choice in settings["congestion"]]
    keys = _Knobs._fields[_Knobs._fields.index("autotune") :]
    return [
        _Knobs(mix, *sizes, *others)
        for sizes in buffers
        for mix in (mixes(block.flows) if block.flows else alone)
        for others in itertools.product(*(settings[key] for key in keys))
    ]


def _mean(path: config.Path, links: LinkSettings) -> float:
    link = path.down if links.direction == "down" else path.up
    return mean_mbps(link.capacity, links.duration_s)


def _check_sets(block: Compare, plan: Plan, members: list[DriveRun]) -> None:
    """Refuse a named path set that none of the block's drives has."""
    for member in members:
        if not set(member.drive.paths) & set(plan.paths):
            theirs, ours = ", ".join(member.drive.paths), ", ".join(plan.paths)
            raise ConfigError(
                f"drives '{member.source}' have paths {theirs}, but the study declares {ours}; "
                'add [paths.<name>], or rename = { <theirs> = "<yours>" }'
            )
    named = [word for word in block.paths if word not in SET_WORDS]
    for word in named if members else []:
        if not any(set(word.split("+")) <= set(m.drive.paths) for m in members):
            have = sorted({n for m in members for n in m.drive.paths if n in plan.paths})
            raise ConfigError(
                f"path set '{word}' exists in no drive of its comparison; "
                f"they have {', '.join(have)}: correct paths or drives"
            )


def _gaps(plan: Plan, drives: list[DriveRun]) -> list[str]:
    """Return a note for each group of drives with seconds that were not logged."""
    lost: dict[str, int] = {}
    for source, drive in {(m.source, m.drive.name): m.drive for m in drives}.items():
        lost[source[0]] = lost.get(source[0], 0) + _unlogged(drive, tuple(plan.paths))
    return [
        f"Drives '{source}': {count} samples of capacity were not logged and count as 0 Mbit/s."
        for source, count in lost.items()
        if count
    ]


def _unlogged(drive: Drive, names: tuple[str, ...]) -> int:
    return sum(
        int(np.isnan(series.values).sum())
        for name, path in drive.paths.items()
        if name in names
        for series in (path.downlink_mbps, path.uplink_mbps)
        if series is not None
    )
