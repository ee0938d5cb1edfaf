"""The stack as a figure: what runs in the lab, who speaks to whom, and how often they did."""

from __future__ import annotations

from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from skyweave.plotting.style import LIGHT

WIDE, HIGH = 10.0, 8.6
"""The figure, in its own units; 1.25 of them are an inch."""
UNITS_PER_INCH = 1.25
LEFT, MIDDLE, RIGHT, ROWS = 0.2, 3.6, 7.0, (0.3, 2.4, 4.5, 6.6)
WIDTH, HEIGHT, LINE = 2.8, 1.35, 0.26


class Box(NamedTuple):
    """A program, or a few that belong together."""

    x: float
    y: float
    title: str
    lines: tuple[str, ...]
    role: str

    def at(self, right: float, up: float) -> tuple[float, float]:
        """Return a point of it, by shares of its width and height."""
        return self.x + right * WIDTH, self.y + up * HEIGHT


class Arrow(NamedTuple):
    """Who tells whom what; both ends are points."""

    start: tuple[float, float]
    end: tuple[float, float]
    label: str
    right: float = 0.08
    """Where the label is, beside the middle of the arrow."""
    up: float = 0.0


def stack_figure(found: dict[str, Any], title: str) -> Figure:
    """Return the figure of a lab's counts (:func:`~.stack.stack_of`); call it in ``drawing``."""
    figure = Figure(figsize=(WIDE / UNITS_PER_INCH, HIGH / UNITS_PER_INCH))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDE), ylim=(0, HIGH))
    axes.set_axis_off()
    axes.text(LEFT, HIGH - 0.3, title, weight="bold", size=10, color=LIGHT["ink"])
    boxes = _boxes(found)
    for box in boxes.values():
        _draw(axes, box)
    for arrow in _arrows(boxes):
        _join(axes, arrow)
    return figure


def _boxes(found: dict[str, Any]) -> dict[str, Box]:
    seen, runs, links = found["camera"], found["runs"], found["links"]
    of_link = {
        kind: sum(one["bytes"] for name, one in links.items() if name.startswith(f"boat-{kind}"))
        for kind in ("starlink", "lte")
    }
    first, second, third, fourth = ROWS
    return {
        "links": Box(LEFT, first, "dish and links", (
            "fake dish, emulated links", f"Starlink carried {_mb(of_link['starlink'])}",
            f"LTE carried {_mb(of_link['lte'])}",
        ), "satellite"),
        "transport": Box(RIGHT, first, "transport", (
            "multipath QUIC over both;", "its control knows edges;",
            f"{seen['arrived']:,} groups came through",
        ), "cellular3"),
        "telemetry": Box(LEFT, second, "telemetry", (
            f"{found['probes_answered']:,} probes answered", f"{found['probes_lost']:,} lost",
            f"{found['dish_statuses']:,} statuses of the dish",
        ), "cellular2"),
        "predictor": Box(MIDDLE, (second + third) / 2, "predictor", (
            "round trips 1, 5, 15 s ahead,", "edges of slots:",
            f"{found['forecasts']:,} forecasts",
        ), "bonded"),
        "triggers": Box(LEFT, third, "triggers", (
            "own probe above twice the", "mean of 5 s, dish connected:",
            f"fired {_times(runs['triggered'])}",
        ), "mark"),
        "application": Box(RIGHT, third, "application: a camera", (
            f"{seen['groups']:,} groups of pictures,",
            f"{seen['with_a_forecast']:,} with a forecast,",
            f"{seen['held_back']:,} smaller before an edge",
        ), "cellular1"),
        "orchestrator": Box(LEFT, fourth, "orchestrator", (
            f"runs placed: {runs['triggered']:,}, done: {runs['triggered_done']:,};",
            f"{runs['files']:,} files stored,", _mb(runs["file_bytes"]),
        ), "other1"),
        "runs": Box(MIDDLE, fourth, "runs in sandboxes", (
            "probes, then downloads over", "each link and over both:",
            f"{_mb(runs['triggered_carried_bytes'])} carried",
        ), "other2"),
        "server": Box(RIGHT, fourth, "measurement server", (
            "QUIC and probes behind", "a gate, for one run's", "token and address",
        ), "gain"),
    }  # fmt: skip


def _arrows(boxes: dict[str, Box]) -> tuple[Arrow, ...]:
    one = boxes
    return (
        Arrow(one["links"].at(0.4, 1), one["telemetry"].at(0.4, 0), "probes, gRPC"),
        Arrow(one["telemetry"].at(0.4, 1), one["triggers"].at(0.4, 0), "samples"),
        Arrow(one["telemetry"].at(1, 0.7), one["predictor"].at(0, 0.3), "samples", -0.1, -0.32),
        Arrow(one["triggers"].at(0.4, 1), one["orchestrator"].at(0.4, 0), "firings with context"),
        Arrow(one["orchestrator"].at(1, 0.5), one["runs"].at(0, 0.5), "orders", -0.24, 0.16),
        Arrow(one["runs"].at(1, 0.5), one["server"].at(0, 0.5), "tests", -0.2, 0.16),
        Arrow(one["predictor"].at(1, 0.7), one["application"].at(0, 0.3), "forecasts", -0.62, 0.33),
        Arrow(one["predictor"].at(1, 0.2), one["transport"].at(0.1, 1), "forecasts", 0.1, 0.1),
        Arrow(one["application"].at(0.6, 0), one["transport"].at(0.6, 1), "pictures"),
        Arrow(one["transport"].at(0, 0.5), one["links"].at(1, 0.5), "packets on both links", -0.6,
              0.16),
    )  # fmt: skip


def _draw(axes: Axes, box: Box) -> None:
    colour = LIGHT[box.role]
    axes.add_patch(
        FancyBboxPatch(
            (box.x, box.y), WIDTH, HEIGHT, boxstyle="round,pad=0,rounding_size=0.1",
            facecolor="none", edgecolor=colour, linewidth=1.4,
        )
    )  # fmt: skip
    x, y = box.x + 0.13, box.y + HEIGHT - 0.3
    axes.text(x, y, box.title, weight="bold", size=9.5, color=colour)
    for number, line in enumerate(box.lines):
        axes.text(x, y - 0.3 - number * LINE, line, size=8, color=LIGHT["ink"])


def _join(axes: Axes, arrow: Arrow) -> None:
    axes.annotate(
        "", arrow.end, arrow.start,
        arrowprops={"arrowstyle": "-|>", "color": LIGHT["soft"], "linewidth": 1.1},
    )  # fmt: skip
    x = (arrow.start[0] + arrow.end[0]) / 2 + arrow.right
    y = (arrow.start[1] + arrow.end[1]) / 2 + arrow.up
    axes.text(x, y, arrow.label, size=7.5, color=LIGHT["soft"], va="center")


def _mb(size: float) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
