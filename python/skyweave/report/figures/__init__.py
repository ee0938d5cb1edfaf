"""The figures of a report.

A kind of figure is a file that registers itself when it is imported: a line in this list.
"""

from skyweave.report.figures import (
    boxes,
    cdf,
    compare,
    distribution,
    engines,
    heatmap,
    outage,
    paths,
    ping,
    playback,
    reorder,
    settings,
    sweep,
    timeline,
    topology,
    windows,
)

__all__ = [
    "boxes",
    "cdf",
    "compare",
    "distribution",
    "engines",
    "heatmap",
    "outage",
    "paths",
    "ping",
    "playback",
    "reorder",
    "settings",
    "sweep",
    "timeline",
    "topology",
    "windows",
]
