"""Panels: the runs of one group of drives in one direction, binned and aligned for comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from skyweave.engine.workloads import PROBE
from skyweave.errors import ResultsError
from skyweave.model.record import Record
from skyweave.report.numbers import metrics
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.reduce import Reduced, Reduction, read
from skyweave.report.numbers.stats import Draws, Estimate
from skyweave.results.pathset import PathSet
from skyweave.results.quantities import MOMENTS, OF_RUNS
from skyweave.results.selection import Direction, Selection, Unit
from skyweave.results.store import Store
from skyweave.study.language.figures import PublishedValue
from skyweave.study.language.labels import Labels, matches, read_labels, settings_of


@dataclass
class Panel:
    """Goodput and capacity in aligned bins: for each path set, one array for each drive."""

    drives: str
    direction: str
    settings: Labels
    names: list[str]
    origins: list[str]
    seeds: list[int]
    synthetic: bool
    bin_s: float
    bootstrap: int
    unit: Unit
    goodput: dict[PathSet, list[Values]]
    capacity: dict[str, list[Values]]
    transports: dict[PathSet, str]
    keys: dict[PathSet, list[str]]
    """The records: for each path set, one for each drive."""
    links: dict[str, list[Values]] = field(default_factory=dict)
    """Capacities in bins for all the time that runs could have taken, so that runs which ended at
    different times can be compared by what their links are."""
    others: dict[str, dict[PathSet, list[Values]]] = field(default_factory=dict)
    """Quantities that are no rates in bins (``reduce.Reduced``), by cell."""
    _known: dict[tuple[str, PathSet, str], Estimate] = field(default_factory=dict)

    @property
    def file_mib(self) -> float | None:
        """The size of the file that each run fetches; ``None``: runs last a given time."""
        size: float | None = self.settings.get("file_mib")
        return size

    @property
    def knows_capacity(self) -> bool:
        """Whether what the links could carry is known: of real networks it is not."""
        return not any(np.isnan(one).any() for rates in self.capacity.values() for one in rates)

    @property
    def is_probed(self) -> bool:
        """Whether its runs are probes, which have round trips and no rates."""
        return str(self.settings.get("workload")).partition("(")[0] == PROBE

    @property
    def has_rates(self) -> bool:
        """Whether its runs carried data."""
        return not self.is_probed

    @property
    def singles(self) -> list[PathSet]:
        """The paths that were run alone."""
        return [cell for cell in self.goodput if not cell.is_bonded]

    @property
    def bonded(self) -> list[PathSet]:
        """The path sets of two or more."""
        return [cell for cell in self.goodput if cell.is_bonded]

    @property
    def comparable(self) -> list[PathSet]:
        """The path sets of two or more whose paths were all run alone, too."""
        return [cell for cell in self.bonded if set(cell.alone) <= set(self.singles)]

    @property
    def samples_each(self) -> int:
        """Number of samples of one path set over all drives."""
        return sum(len(v) for v in self.samples("goodput", next(iter(self.goodput))))

    @property
    def bins_each(self) -> int:
        """Number of time bins of one path set over all drives."""
        return sum(len(values) for values in next(iter(self.goodput.values())))

    @cached_property
    def draws(self) -> Draws:
        """The bootstrap draws that all cells of this panel share."""
        return Draws(len(self.names), self.bootstrap)

    def samples(self, quantity: str, cell: PathSet) -> list[Values]:
        """Return a quantity of a path set, one array for each drive.

        With ``unit`` "drive" an array has one value: the mean over the drive. See :meth:`binned`.
        """
        bins = self.binned(quantity, cell)
        if self.unit == "bin" or quantity in MOMENTS:
            return bins
        return [values.mean(keepdims=True) if len(values) else values for values in bins]

    def binned(self, quantity: str, cell: PathSet) -> list[Values]:
        """Return a quantity of a path set in time bins, one array for each drive.

        ``goodput`` (of all flows) and ``capacity`` (of all its links) exist for each set;
        ``bonded_minus_max`` and ``sum_minus_bonded`` for sets in ``comparable``; ``max`` and
        ``sum`` (of the single paths) for those, too. ``share_of_max`` is goodput over the largest
        capacity of the set's links in any bin of any drive. Those in ``others`` are not binned.
        """
        if quantity == "goodput":
            return self.goodput[cell]
        if quantity == "capacity":
            links = zip(*(self.capacity[name] for name in cell.names), strict=True)
            return [metrics.total_of(rates) for rates in links]
        if quantity == "share_of_max":
            top = max(float(np.max(rates)) for rates in self.binned("capacity", cell))
            return [rates / top for rates in self.goodput[cell]]
        if quantity in self.others:
            return self.others[quantity][cell]
        singles = [self.goodput[name] for name in cell.alone]
        aligned = list(zip(*singles, strict=True))
        if quantity == "max":
            return [metrics.best_single(paths) for paths in aligned]
        if quantity == "sum":
            return [metrics.total_of(paths) for paths in aligned]
        formula = {
            "bonded_minus_max": metrics.bonded_minus_max,
            "sum_minus_bonded": metrics.sum_minus_bonded,
        }[quantity]
        pairs = zip(self.goodput[cell], aligned, strict=True)
        return [formula(bonded, paths) for bonded, paths in pairs]

    def pooled(self, quantity: str, cell: PathSet) -> Values:
        """Return all samples of a quantity of a path set."""
        return np.concatenate(self.samples(quantity, cell))

    def opening_share(self, cell: PathSet) -> float:
        """Return the share of samples that pass before the first byte of a drive arrives."""
        waited = sum(metrics.opening_samples(values) for values in self.goodput[cell])
        return waited / max(self.bins_each, 1)

    def estimate(self, quantity: str, cell: PathSet, statistic: str) -> Estimate:
        """Return a statistic with its bootstrap draws over drives."""
        key = (quantity, cell, statistic)
        if key not in self._known and quantity == "gain":
            self._known[key] = self._gain(cell, statistic)
        elif key not in self._known:
            # Silence is of moments, whatever the unit of the rates.
            of_bins = statistic == "zero_share"
            samples = self.binned(quantity, cell) if of_bins else self.samples(quantity, cell)
            self._known[key] = self.draws.estimate(samples, statistic)
        return self._known[key]

    def _gain(self, cell: PathSet, statistic: str) -> Estimate:
        """Return the set's statistic over that of the best of its paths alone."""
        alone = [self.estimate("goodput", name, statistic) for name in cell.alone]
        best = Estimate(max(e.value for e in alone), np.max([e.draws for e in alone], axis=0))
        return self.estimate("goodput", cell, statistic).over(best)


class Results:
    """The results folder of a study, read once: frozen plan and records."""

    def __init__(self, out: Path) -> None:
        self.store = Store(out)
        self.frozen = self.store.plan()
        self.runs: list[tuple[str, Labels]] = [
            (run["key"], read_labels(run["labels"])) for run in self.frozen["runs"]
        ]
        missing = self.store.missing(key for key, _ in self.runs)
        if missing:
            raise ResultsError(
                f"{out}: {len(missing)} of {len(self.runs)} runs are not there; "
                "finish the study first: skyweave run with the same --out"
            )
        report = self.frozen["plan"]["report"]
        self.bin_s = float(report["bin_s"])
        kinds = {name: spec["kind"] for name, spec in self.frozen["plan"]["paths"].items()}
        self.reduction = Reduction(self.bin_s, float(report.get("rtt_window_s", 15.0)), kinds)
        self.bootstrap = int(report["bootstrap"])
        self.unit: Unit = report["unit"]
        self.published: tuple[PublishedValue, ...] = tuple(
            PublishedValue.model_validate(value)
            for value in self.frozen["published"].get("values", ())
        )
        self._panels: dict[str, Panel] = {}

    @property
    def groups(self) -> list[str]:
        """The groups of drives that have runs, in the order of the plan."""
        return list(dict.fromkeys(labels["drives"] for _, labels in self.runs))

    def directions(self, drives: str) -> list[Direction]:
        """The directions that were run on a group of drives."""
        found = {labels["direction"] for _, labels in self.runs if labels["drives"] == drives}
        ways: tuple[Direction, ...] = ("down", "up")
        return [direction for direction in ways if direction in found]

    def records(self, chosen: Selection) -> Iterator[Record]:
        """Yield the records of a selection."""
        for key, labels in self.runs:
            if matches(labels, chosen):
                yield Record.read(self.store.records / key)

    def records_of(self, panel: Panel, cell: PathSet) -> Iterator[Record]:
        """Yield the records of a path set, in the order of the drives of the panel."""
        for key in panel.keys[cell]:
            yield Record.read(self.store.records / key)

    def panel(self, chosen: Selection) -> Panel:
        """Return the panel of a selection; its runs must have one combination of settings."""
        name = Selection.model_dump_json(chosen, include={"drives", "direction", "where"})
        if name not in self._panels:
            runs = [(key, labels) for key, labels in self.runs if matches(labels, chosen)]
            self._panels[name] = _build(runs, self.store, self)
        return self._panels[name]


def _build(runs: list[tuple[str, Labels]], store: Store, results: Results) -> Panel:
    """Read the records of a panel and align them by drive and seed."""
    members = list(dict.fromkeys((labels["drive"], labels["seed"]) for _, labels in runs))
    cells: dict[PathSet, dict[tuple[str, int], Reduced]] = {}
    capacity: dict[str, dict[tuple[str, int], Values]] = {}
    links: dict[str, dict[tuple[str, int], Values]] = {}
    transports: dict[PathSet, str] = {}
    keys: dict[PathSet, dict[tuple[str, int], str]] = {}
    for key, labels in runs:
        cell, member = labels["paths"], (labels["drive"], labels["seed"])
        if cell in transports and transports[cell] == "tcp" != labels["transport"]:
            continue  # a path alone is measured with TCP where both were run
        transports[cell] = labels["transport"]
        reduced = read(store.records / key, labels, results.reduction)
        cells.setdefault(cell, {})[member] = reduced
        keys.setdefault(cell, {})[member] = key
        for path, values in reduced.capacity.items():
            capacity.setdefault(path, {})[member] = values
            links.setdefault(path, {})[member] = reduced.links[path]
    first = {(labels["drive"], labels["seed"]): labels for _, labels in reversed(runs)}
    complete = [m for m in members if all(m in found for found in cells.values())]
    order = sorted(cells, key=lambda cell: len(cell.names))
    of_paths = {
        name: None for found in cells.values() for one in found.values() for name in one.of_paths
    }
    return Panel(
        drives=runs[0][1]["drives"],
        direction=runs[0][1]["direction"],
        settings=settings_of(labels for _, labels in runs)[0],
        names=[name for name, _ in complete],
        origins=list(dict.fromkeys(first[m]["origin"] for m in complete)),
        seeds=[seed for _, seed in complete],
        synthetic=all(first[m]["synthetic"] for m in complete),
        bin_s=results.bin_s,
        bootstrap=results.bootstrap,
        unit=results.unit,
        goodput={cell: [cells[cell][m].goodput for m in complete] for cell in order},
        capacity={path: [found[m] for m in complete] for path, found in capacity.items()},
        transports=transports,
        links={path: [found[m] for m in complete] for path, found in links.items()},
        keys={cell: [keys[cell][m] for m in complete] for cell in order},
        others={
            quantity: {cell: [cells[cell][m].others[quantity] for m in complete] for cell in order}
            for quantity in (*MOMENTS, *OF_RUNS, "flow_ratio")
        }
        | {
            quantity: {
                cell: [cells[cell][m].of_paths.get(quantity, np.empty(0)) for m in complete]
                for cell in order
            }
            for quantity in of_paths
        },
    )
