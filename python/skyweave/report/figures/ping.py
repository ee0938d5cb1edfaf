"""A figure of what a ping over an idle path would see: round-trip times, handovers, silence."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from skyweave.plotting.style import LIGHT
from skyweave.plotting.words import seeds_text
from skyweave.report.criteria.kinds import data_text
from skyweave.report.figures.canvas import WIDTH_IN
from skyweave.report.figures.kinds import Sketch, Source, of_results
from skyweave.report.numbers.link_rtt import ping


@of_results("ping")
def first_ping(source: Source) -> Sketch:
    """Draw the pings of the first run of a selection, over its first satellite path."""
    results, spec = source.results, source.spec
    panel = results.panel(spec)
    run = next(results.records(spec)).provenance["run"]
    kinds = results.reduction.kinds
    satellites = [path for path in run["paths"] if kinds.get(path["name"]) == "satellite"]
    figure = ping_figure((satellites or run["paths"])[0], float(run["stop_after_s"]))
    return Sketch(figure, seeds_text(panel.seeds[:1]), 1, 1, data_text(panel))


def ping_figure(path: dict[str, Any], duration_s: float) -> Figure:
    """Draw the pings of one run, a second apart; pings in an outage have no answer."""
    times, rtts = ping(path, duration_s)
    figure = Figure(figsize=(WIDTH_IN, 3.2), layout="constrained")
    axes = figure.subplots()
    for number, one in enumerate(path["down"]["outages"]):
        if one["start_s"] < duration_s:
            axes.axvspan(
                one["start_s"], min(one["end_s"], duration_s), color=LIGHT["loss"], alpha=0.25,
                linewidth=0, label="no answer" if number == 0 else None,
            )  # fmt: skip
    axes.plot(times, rtts, ".-", color=LIGHT["satellite"], markersize=3, linewidth=1.0, label="RTT")
    mean = float(np.nanmean(rtts))
    axes.axhline(mean, color=LIGHT["soft"], linewidth=0.9, linestyle="--")
    axes.annotate(
        f"mean {mean:.1f} ms", (duration_s, mean), xytext=(-4, 4), textcoords="offset points",
        ha="right", fontsize=8.5, color=LIGHT["soft"],
    )  # fmt: skip
    axes.set_xlim(0, duration_s)
    axes.set_ylim(0, 1.15 * float(np.nanmax(rtts)))
    axes.set_xlabel("time (s)")
    axes.set_ylabel(f"ping over {path['name']} (ms)")
    axes.legend(loc="lower left", ncols=2)
    return figure
