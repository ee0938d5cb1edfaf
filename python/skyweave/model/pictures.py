"""A picture of one run: what the application got, what each path brought, and round trips."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skyweave.errors import ResultsError
from skyweave.plotting.style import LIGHT, drawing

if TYPE_CHECKING:
    from skyweave.model.record import Record

COLOURS = [LIGHT[role] for role in ("satellite", "cellular1", "cellular2", "cellular3", "other1",
                                    "other2")]  # fmt: skip


def record_figure(record: Record, connection: int) -> Figure:
    """Goodput over what each path delivered, stacked; below it smoothed round-trip times.

    Raises :class:`ResultsError` for a connection that the record does not have.
    """
    rows = record.samples.filter(pl.col("connection") == connection)
    if rows.is_empty():
        count = len(record.totals["connections"])
        raise ResultsError(
            f"the record has no samples of connection {connection}; it has {count} connections, "
            "counted from 0"
        )
    paths = [name for name in rows["path"].unique(maintain_order=True) if name]
    with drawing("record"):
        figure = Figure(figsize=(8, 4.6), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        floor = None
        for place, name in enumerate(paths):
            colour = COLOURS[place % len(COLOURS)]
            own = rows.filter(pl.col("path") == name).sort("time_s")
            floor = _stacked(upper, own, floor, colour, name)
            lower.plot(own["time_s"], own["srtt_ms"].cast(pl.Float64), color=colour, linewidth=1.2)
        goodput = record.goodput_mbps(connection)
        upper.step(goodput["time_s"], goodput["goodput_mbps"], where="pre", color=LIGHT["bonded"],
                   linewidth=1.6, label="goodput")  # fmt: skip
        upper.set_ylim(0, None)
        lower.set_ylim(0, None)
        upper.set_ylabel("Mbit/s")
        lower.set_ylabel("smoothed RTT (ms)")
        lower.set_xlabel("time (s)")
        figure.legend(loc="outside upper left", ncols=len(paths) + 1)
    return figure


def _stacked(
    axes: Axes, own: pl.DataFrame, floor: pl.DataFrame | None, colour: str, name: str
) -> pl.DataFrame:
    """Draw what a path delivered in each interval above those before it."""
    rate = pl.col("delivered_bytes").diff() * 8e-6 / pl.col("time_s").diff()
    layer = own.select("time_s", rate=rate.fill_null(0.0).clip(lower_bound=0.0))
    below = np.zeros(len(layer))
    if floor is not None:
        found = layer.join(floor, on="time_s", how="left", maintain_order="left", suffix="_below")
        below = found["rate_below"].fill_null(0.0).to_numpy()
    top = below + layer["rate"].to_numpy()
    axes.fill_between(layer["time_s"], below, top, step="pre", linewidth=0, alpha=0.32,
                      color=colour, label=f"{name} delivered")  # fmt: skip
    return layer.select("time_s", rate=pl.Series(top))
