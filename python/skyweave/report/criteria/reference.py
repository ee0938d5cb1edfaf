"""What algorithms change beside a reference: throughput and round-trip times."""

from __future__ import annotations

from collections.abc import Sequence

from skyweave.report.criteria.paired import together
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant, cells_or_default
from skyweave.results.pathset import PathSet


def against_reference(
    found: Sequence[Variant], reference: str, cells: Sequence[PathSet]
) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """Return for each congestion control the change of mean goodput and of p95 srtt, as shares."""
    changes: list[dict[str, Estimate]] = []
    for quantity, statistic in (("goodput", "mean"), ("srtt_ms", "p95")):
        each = {}
        for variant in found:
            cell = cells_or_default(variant.panel, cells)[0]
            each[variant.settings["congestion"]] = variant.panel.estimate(quantity, cell, statistic)
        changes.append(
            {
                name: together(lambda v: v[0] / v[1] - 1, [value, each[reference]])
                for name, value in each.items()
            }
        )
    return changes[0], changes[1]


def best_under(gains: dict[str, Estimate], rises: dict[str, Estimate], limit: float) -> str | None:
    """Return the name with the largest gain among those whose RTT rises by less than ``limit``."""
    allowed = [name for name in gains if rises[name].value < limit]
    return max(allowed, key=lambda name: gains[name].value) if allowed else None
