"""Pairs each simulated run with the live run that is equal in all else, and compares the two.

A case is a group of drives, direction, path set, transport and all settings but the engine; its
numbers are means over its pairs (drives and seeds). Nothing else in a report is about validation.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from skyweave.model.record import Record
from skyweave.report.numbers.lateness import is_late
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.panel import Results
from skyweave.report.numbers.stats import Draws, Estimate
from skyweave.results.pathset import PathSet
from skyweave.results.quantities import Compared
from skyweave.results.selection import Selection
from skyweave.study.language.labels import SETTINGS, Labels, matches, pairs_of

LEAST: dict[Compared, float] = {
    "goodput": 0.001, "retransmissions": 20.0, "longest_stall_s": 0.5,
}  # fmt: skip
"""A live value below this counts as this much (Mbit/s, packets, s): a few packets, or a sample
or two of 0.1 s, are no deviation, and a ratio to silence is a large number."""
TIGHT, WIDE = 0.03, 0.10
"""The two bands of |sim ÷ live - 1| that figures show."""
_EACH = ("drive", "seed", "origin", "synthetic", "engine")
"""Labels that the pairs of one case do not share."""


@dataclass(frozen=True)
class Measured:
    """What is compared of one run, or the means over several; ``None``: the record says nothing."""

    goodput_mbps: float
    """Of all connections together, over the whole run."""
    shares: dict[str, float] | None
    """Of each path: its part of the bytes that all paths delivered (0 to 1)."""
    retransmitted_packets: float | None
    stall_s: float
    """Longest time without application goodput between the first delivery and the end."""
    rtt_p50_ms: float | None
    rtt_p95_ms: float | None

    def value(self, quantity: Compared) -> float | None:
        """Return one of the quantities that a criterion can grade."""
        values: dict[Compared, float | None] = {
            "goodput": self.goodput_mbps,
            "retransmissions": self.retransmitted_packets,
            "longest_stall_s": self.stall_s,
        }
        return values[quantity]


@dataclass(frozen=True)
class Case:
    """One case: what both engines made of it."""

    drives: str
    direction: str
    paths: PathSet
    transport: str
    settings: Labels
    members: tuple[tuple[str, int], ...]
    """Drive and seed of each pair."""
    sim: Measured
    live: Measured
    flagged: int
    """Live runs of it whose machine did not keep the time."""

    @property
    def ratio(self) -> float:
        """Goodput simulated ÷ live; 1 where both are silent."""
        sim, live = self.sim.goodput_mbps, self.live.goodput_mbps
        return 1.0 if sim == live else sim / max(live, LEAST["goodput"])

    @property
    def deviation(self) -> float:
        """How far the ratio is from 1: \\|sim ÷ live - 1\\|."""
        return abs(self.ratio - 1)

    def apart(self, quantity: Compared) -> float | None:
        """How far simulated and live values are apart, as a part of the live one.

        ``None``: a record says nothing of the quantity.
        """
        sim, live = self.sim.value(quantity), self.live.value(quantity)
        if sim is None or live is None:
            return None
        return abs(sim - live) / max(live, LEAST[quantity])


@dataclass(frozen=True)
class Comparison:
    """All cases of a study in the order of its file, and the runs that have no partner."""

    cases: list[Case]
    unpaired: int

    def chosen(self, selection: Selection, cells: Sequence[PathSet] = ()) -> list[Case]:
        """Return the cases that a figure or a criterion means."""
        return [
            case
            for case in self.cases
            if (not cells or case.paths in cells)
            and matches(
                {"drives": case.drives, "direction": case.direction, **case.settings}, selection
            )
        ]


_KNOWN: WeakKeyDictionary[Results, Comparison] = WeakKeyDictionary()


def compare(results: Results) -> Comparison:
    """Return the comparison of a results folder; records are read once."""
    if results not in _KNOWN:
        _KNOWN[results] = _compare(results)
    return _KNOWN[results]


def _compare(results: Results) -> Comparison:
    pairs, alone = pairs_of(results.runs)
    groups: dict[str, list[tuple[str, str, Labels]]] = {}
    for pair in pairs:
        shared = {name: value for name, value in pair[2].items() if name not in _EACH}
        groups.setdefault(json.dumps(shared, sort_keys=True), []).append(pair)
    cases = [_case(members, results) for members in groups.values()]
    return Comparison(sorted(cases, key=lambda case: results.groups.index(case.drives)), alone)


def _case(pairs: Sequence[tuple[str, str, Labels]], results: Results) -> Case:
    labels = pairs[0][2]
    sim = [Record.read(results.store.records / key) for key, _, _ in pairs]
    live = [Record.read(results.store.records / key) for _, key, _ in pairs]
    return Case(
        drives=labels["drives"],
        direction=labels["direction"],
        paths=labels["paths"],
        transport=labels["transport"],
        settings={name: labels[name] for name in SETTINGS if name != "engine"},
        members=tuple((one["drive"], one["seed"]) for _, _, one in pairs),
        sim=mean_of([measured(record) for record in sim]),
        live=mean_of([measured(record) for record in live]),
        flagged=sum(is_late(record.provenance) for record in live),
    )


def measured(record: Record) -> Measured:
    """Reduce a record (with the run in its provenance) to what is compared."""
    samples = record.samples
    own = samples.filter(pl.col("path") == "").sort("connection", "time_s")
    paths = samples.filter(pl.col("path") != "").sort("time_s")
    run = record.provenance["run"]
    first_s = float(run["sample_interval_ms"]) / 1000
    rates = [
        _intervals(_floats(one["time_s"]), _floats(one["goodput_mbps"].fill_null(0.0)), first_s)
        for _, one in own.group_by("connection", maintain_order=True)
    ]
    sent = sum(float(np.sum((ends - starts) * rate)) for starts, ends, rate in rates)
    srtt = _floats(paths["srtt_ms"].drop_nulls())
    return Measured(
        goodput_mbps=sent / float(run["stop_after_s"]),
        shares=_shares(_last(paths, "delivered_bytes")),
        retransmitted_packets=_total(_last(paths, "retransmitted_packets")),
        stall_s=longest_stall_s(rates),
        rtt_p50_ms=float(np.quantile(srtt, 0.5)) if len(srtt) else None,
        rtt_p95_ms=float(np.quantile(srtt, 0.95)) if len(srtt) else None,
    )


def _floats(column: pl.Series) -> Values:
    values: Values = column.cast(pl.Float64()).to_numpy()
    return values


def _intervals(times_s: Values, rates: Values, first_s: float) -> tuple[Values, Values, Values]:
    """Return start and end of the interval that each rate holds for (the first: its length)."""
    starts = np.concatenate([[max(times_s[0] - first_s, 0.0)], times_s[:-1]])
    return starts, times_s, rates


def longest_stall_s(rates: Sequence[tuple[Values, Values, Values]]) -> float:
    """Return the longest time without goodput of any connection, from the first delivery on.

    Each connection has starts, ends and rates of its samples. The whole time if nothing came.
    """
    if not rates:
        return 0.0
    until = max(float(ends[-1]) for _, ends, _ in rates)
    busy = sorted(
        (float(start), float(end))
        for starts, ends, rate in rates
        for start, end in zip(starts[rate > 0], ends[rate > 0], strict=True)
    )
    if not busy:
        return round(until - min(float(starts[0]) for starts, _, _ in rates), 9)
    longest, reach = 0.0, busy[0][1]
    for start, end in [*busy, (until, until)]:
        longest, reach = max(longest, start - reach), max(reach, end)
    return round(longest, 9)


def _last(paths: pl.DataFrame, column: str) -> dict[str, float]:
    """Return the last value of a counter of each path, summed over connections."""
    last = (
        paths.filter(pl.col(column).is_not_null())
        .group_by("connection", "path", maintain_order=True)
        .agg(pl.col(column).last())
    )
    totals: dict[str, float] = defaultdict(float)
    for path, value in zip(last["path"], last[column], strict=True):
        totals[path] += float(value)
    return dict(sorted(totals.items()))


def _shares(delivered: dict[str, float]) -> dict[str, float] | None:
    total = sum(delivered.values())
    return {path: value / total for path, value in delivered.items()} if total > 0 else None


def _total(counts: dict[str, float]) -> float | None:
    return sum(counts.values()) if counts else None


def mean_of(runs: Sequence[Measured]) -> Measured:
    """Return the means over runs, each over those that report it; an absent path has 0."""
    shares = [run.shares for run in runs if run.shares is not None]
    names = list(dict.fromkeys(path for one in shares for path in one))
    return Measured(
        goodput_mbps=float(np.mean([run.goodput_mbps for run in runs])),
        shares={n: float(np.mean([s.get(n, 0.0) for s in shares])) for n in names} or None,
        retransmitted_packets=_mean([run.retransmitted_packets for run in runs]),
        stall_s=float(np.mean([run.stall_s for run in runs])),
        rtt_p50_ms=_mean([run.rtt_p50_ms for run in runs]),
        rtt_p95_ms=_mean([run.rtt_p95_ms for run in runs]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def deviation(cases: Sequence[Case], draws: int, quantity: Compared = "goodput") -> Estimate:
    """Return the median of \\|sim ÷ live - 1\\| over cases; cases are drawn for its interval."""
    found = [np.array([off]) for off in deviations(cases, quantity)]
    return Draws(len(found), draws).estimate(found, "median")


def share_within(
    cases: Sequence[Case], within: float, draws: int, quantity: Compared = "goodput"
) -> Estimate:
    """Return the share of cases whose \\|sim ÷ live - 1\\| is at most ``within``."""
    inside = [np.array([float(off <= within + 1e-12)]) for off in deviations(cases, quantity)]
    return Draws(len(inside), draws).estimate(inside, "mean")


def deviations(cases: Sequence[Case], quantity: Compared) -> list[float]:
    """Return the deviation of each case whose records tell it."""
    found = [case.apart(quantity) for case in cases]
    return [off for off in found if off is not None]
