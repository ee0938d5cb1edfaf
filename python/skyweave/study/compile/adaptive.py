"""Adaptive films of a plan: the algorithm, the ladder, and what the player knows of the rate."""

from __future__ import annotations

from typing import Any

from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.study.compile.product import Chosen
from skyweave.study.compile.rates import Rates, Session

QUALITIES = 6
RATIO = 1.5
"""The ladder of T3P: six qualities, each about 1.5 times the one before."""


def adapted(one: Chosen, session: Session, rates: Rates, first: str) -> Chosen:
    """Return the settings with the workload that the player of a session gets.

    ``first`` is the path whose median rate over all drives of its group a ladder is made for, so
    that all sets of paths play the same film. Raises :class:`ConfigError` where settings of
    adaptive films meet another workload.
    """
    workload = one["workload"]
    said = [key for key in ("abr", "ladder_top") if one[key] is not None]
    if one["rate_forecast"].kind != "none":
        said.append("rate_forecast")
    if getattr(workload, "kind", None) != "adaptive":
        if said:
            raise ConfigError(
                f'{said[0]} belongs to adaptive films; set workload = {{ kind = "adaptive" }}, or '
                "leave it out"
            )
        return one
    update: dict[str, Any] = rates.told(one["rate_forecast"], session)
    if one["forecast"] == "outages":
        windows = known_outages(session.paths)
        update["forecast"] = {**update.get("forecast", {}), "outages": windows}
        for later in update.get("forecast_updates", ()):
            later["forecast"]["outages"] = windows
    if one["abr"] is not None:
        update["abr"] = one["abr"]
    if one["ladder_top"] is not None:
        top = one["ladder_top"] * rates.median_mbps(session.member.source, first)
        update["ladder_mbps"] = ladder(top)
    return one | {"workload": workload.model_copy(update=update)}


def ladder(top_mbps: float) -> list[float]:
    """Return the bitrates of a ladder by its top.

    >>> ladder(7.59375)
    [1.0, 1.5, 2.25, 3.375, 5.0625, 7.5938]
    """
    return [round(top_mbps / RATIO**step, 4) for step in reversed(range(QUALITIES))]


def known_outages(paths: tuple[config.Path, ...]) -> list[dict[str, float]]:
    """Return the foreseen outages in which nothing comes: those that all paths share."""
    found = [one.model_dump() for one in paths[0].known().likely(0.0)]
    for path in paths[1:]:
        others = path.known().likely(0.0)
        found = [
            {
                "start_s": max(one["start_s"], other.start_s),
                "end_s": min(one["end_s"], other.end_s),
                "probability": one["probability"] * other.probability,
            }
            for one in found
            for other in others
            if max(one["start_s"], other.start_s) < min(one["end_s"], other.end_s)
        ]
    return found
