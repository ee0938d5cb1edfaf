"""A plan and its drives, multiplied out into runs with labels and keys."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from skyweave.data.window import window
from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile
from skyweave.model import config
from skyweave.model.drive import Drive
from skyweave.model.forecast import Forecast, ForecastUpdate
from skyweave.model.limits import MOST_RUNS
from skyweave.results.pathset import PathSet
from skyweave.study.compile.adaptive import adapted
from skyweave.study.compile.drives import DriveRun
from skyweave.study.compile.foresight import Foresight
from skyweave.study.compile.labels import Label, labels_of
from skyweave.study.compile.links import (
    LinkSettings,
    build_path,
    mean_mbps,
    opening_order,
)
from skyweave.study.compile.networks import check_engine, real_path, transport_of
from skyweave.study.compile.opening import opened
from skyweave.study.compile.product import Chosen, chosen, merged, of, of_transport
from skyweave.study.compile.rates import Rates, Session
from skyweave.study.compile.size import check_run, refuse
from skyweave.study.compile.workloads import MIB, workload_of
from skyweave.study.language.flows import Mix
from skyweave.study.language.label_words import as_queue
from skyweave.study.language.plan import SET_WORDS, Compare, PathSpec, Plan
from skyweave.study.language.starts import StartRule, begin_s

PACKET_BITS = 12_000
"""A packet of 1,500 bytes."""
EngineName = Literal["sim", "live", "field"]


class Built:
    """The paths that runs meet, each built once: runs that differ in their ends share them.

    A path of five minutes is 0.1 MB, and a study of algorithms has thousands of runs over a few
    hundred of them.
    """

    def __init__(self) -> None:
        self._paths: dict[tuple[int, str, float | None, str], config.Path] = {}

    def path(
        self, spec: PathSpec, links: LinkSettings, where: tuple[Drive, str, float | None]
    ) -> config.Path:
        """Return a path of a drive, from where its test begins (``None``: with the drive)."""
        drive, name, begin_s = where
        key = id(drive), name, begin_s, repr(links)
        if key not in self._paths:
            trace = drive.paths[name]
            if begin_s is not None:
                trace = window(trace, begin_s, begin_s + links.duration_s)
            self._paths[key] = build_path(name, trace, spec, links, drive.name)
        return self._paths[key]


@dataclass(frozen=True)
class Job:
    """One run to do: its key, its labels for the report, its configuration, its size."""

    key: str
    labels: dict[str, Label]
    run: config.Run
    packets: float
    """Expected data packets: what the capacity of all its paths could carry."""
    engine: EngineName = "sim"

    @property
    def work(self) -> float:
        """What progress counts: packets of a simulated run, seconds of one in real time."""
        return self.packets if self.engine == "sim" else self.run.stop_after_s


def expand(
    plan: Plan,
    drives: Iterable[DriveRun],
    code_version: str,
    live_version: str = "",
    forecasts: Mapping[str, ForecastFile] = MappingProxyType({}),
    most: int = MOST_RUNS,
) -> tuple[list[Job], list[str]]:
    """Return the jobs of a plan in a fixed order, each pair of run and labels once, and notes.

    ``live_version``: what the records of live runs depend on beside ``code_version``;
    ``forecasts``: the files of paths that have one.
    Raises :class:`ConfigError` for more than ``most`` runs, for a path set that no drive has, or
    for a path without any capacity that would be measured alone, unless the plan allows dead paths.
    """
    drives = list(drives)
    jobs: dict[tuple[str, str], Job] = {}
    rates, paths = Rates(drives), Built()
    versions: dict[str, str] = dict.fromkeys(("live", "field"), f"{code_version}\n{live_version}")
    versions["sim"] = code_version
    for block in plan.compare:
        members = [d for d in drives if block.drives is None or d.source in block.drives]
        _check_sets(block, plan, members)
        for member in members:
            for job in _jobs(plan, block, member, (versions, forecasts, rates, paths)):
                jobs.setdefault((job.key, json.dumps(job.labels, sort_keys=True)), job)
                refuse(len(jobs), most, "runs")
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
        elif set(PathSet(word).names) <= set(names):
            found[PathSet(word).names] = None
    return list(found)


def _jobs(
    plan: Plan,
    block: Compare,
    member: DriveRun,
    known: tuple[dict[str, str], Mapping[str, ForecastFile], Rates, Built],
) -> Iterator[Job]:
    """Yield the jobs of one block on one drive."""
    versions, forecasts, rates, before = known
    settings = merged(plan.settings, block)
    names = tuple(name for name in plan.paths if name in member.drive.paths)
    duration_s = settings["duration_s"] or member.duration_s
    for direction, paths, one in itertools.product(
        settings["direction"],
        path_sets(block.paths, names),
        chosen(settings, plan.settings, block),
    ):
        check_engine(member, one)
        begin_s = _begin_s(member.drive, paths, one["start"], settings["duration_s"])
        links = _link_settings(one, direction, duration_s, member, begin_s or 0.0)
        if one["forecast"] == "file":
            links = replace(links, filed=_filed(forecasts, paths, member.drive, one, duration_s))
        built = tuple(
            real_path(n, plan.paths[n], links)
            if one["engine"] == "field"
            else before.path(plan.paths[n], links, (member.drive, n, begin_s))
            for n in paths
        )
        played = adapted(one, Session(member, begin_s or 0.0, built, duration_s), rates, names[0])
        packets = sum(_mean(path, links) for path in built) * 1e6 * duration_s / PACKET_BITS
        if one["file_mib"] is not None:
            packets = min(packets, one["file_mib"] * MIB * 8 / PACKET_BITS)
        if packets == 0 and one["engine"] != "field" and not settings["allow_dead_paths"]:
            raise ConfigError(
                f"drive '{member.drive.name}': {'+'.join(paths)} has no {direction}link capacity "
                "at any time; set allow_dead_paths = true to count it as 0 Mbit/s, "
                "or change the drive"
            )
        order = paths if settings["open_on"] == "first" else opening_order(built)
        for first in _connections(settings, order, played, direction, duration_s):
            run = config.Run(
                paths=built,
                connections=opened(_competing(first, one["mix"], duration_s), one["engine"]),
                seed=member.seed,
                stop_after_s=duration_s,
                sample_interval_ms=settings["sample_interval_ms"],
            )
            check_run(run, plan.report.bin_s)
            labels = labels_of(member, paths, one, first)
            key = run_key(run, versions[one["engine"]], one["engine"])
            yield Job(key, labels, run, packets, one["engine"])


def _link_settings(
    one: Chosen,
    direction: Literal["down", "up"],
    duration_s: float,
    member: DriveRun,
    begin_s: float,
) -> LinkSettings:
    clock = member.drive.start
    return LinkSettings(
        direction=direction,
        duration_s=duration_s,
        **{**of("links", one), "queue": as_queue(one["queue"])},
        foresight=Foresight(
            kind=one["forecast"],
            error_s=one["forecast_error_s"],
            missing=one["forecast_missing"],
            false=one["forecast_false"],
            uncertainty_s=one["forecast_uncertainty_s"],
        ),
        seed=member.seed,
        clock=None if clock is None else clock + timedelta(seconds=begin_s),
    )


def _filed(
    forecasts: Mapping[str, ForecastFile],
    paths: tuple[str, ...],
    drive: Drive,
    one: Chosen,
    duration_s: float,
) -> dict[str, tuple[Forecast, tuple[ForecastUpdate, ...]]]:
    """Return what the forecast files of paths say of a run from the beginning of a drive."""
    if drive.start is None or one["start"].rule != "beginning":
        raise ConfigError(
            f"forecast = \"file\" needs runs whose UTC is known: drive '{drive.name}' "
            + ("has no start" if drive.start is None else "is entered in its midst; remove start")
        )
    return {
        name: forecasts[name].of_run(drive.start, duration_s) for name in paths if name in forecasts
    }


def _begin_s(
    drive: Drive, paths: tuple[str, ...], rule: StartRule, test_s: float | None
) -> float | None:
    """Return the second at which the test begins; ``None``: with the drive."""
    if rule.rule == "beginning":
        return None
    if test_s is None:
        raise ConfigError(
            f'start = "{rule.rule}" needs duration_s: how long each test inside drive '
            f"'{drive.name}' lasts; add it to [settings] or to the [[compare]]"
        )
    return begin_s(drive, paths, rule, test_s)


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
    one: Chosen,
    direction: Literal["down", "up"],
    duration_s: float,
) -> Iterator[config.Connection]:
    """Yield a connection for each transport, mode and scheduler; TCP has only one of these."""
    transports: dict[config.Transport, None] = dict.fromkeys(
        transport_of(name, one["workload"], len(paths)) for name in settings["transport"]
    )
    for transport in transports:
        for own in of_transport(transport, settings, one):
            yield config.Connection(
                paths=paths,
                transport=transport,
                **own,
                congestion=one["mix"][0].congestion,
                workload=workload_of(one, direction, duration_s),
                send_buffer_bytes=round(one["send_buffer_mb"] * 1e6),
                receive_buffer_bytes=round(one["receive_buffer_mb"] * 1e6),
                autotune=one["autotune"],
            )


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
        if not any(set(PathSet(word).names) <= set(m.drive.paths) for m in members):
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
