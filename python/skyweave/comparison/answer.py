"""What a comparison found: a table of all that was run, and the answer in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from skyweave.plotting.words import mbps, percent
from skyweave.report import Namer, Panel, Rendered
from skyweave.results.pathset import PathSet

SCHEMA = {
    "direction": pl.String,
    "paths": pl.String,
    "label": pl.String,
    "transport": pl.String,
    "scheduler": pl.String,
    "congestion": pl.String,
    "median_mbps": pl.Float64,
    "median_low": pl.Float64,
    "median_high": pl.Float64,
    "p5_mbps": pl.Float64,
    "mean_mbps": pl.Float64,
    "zero_share": pl.Float64,
    "gain": pl.Float64,
    "pieces": pl.Int64,
}
"""Columns of :func:`frame`; rates in Mbit/s, shares 0 to 1."""
ENOUGH = 30
"""Pieces below which an answer is preliminary."""
_TRANSPORTS = {"tcp": "TCP", "mptcp": "Multipath TCP", "mpquic": "multipath QUIC"}


def frame(rendered: Rendered) -> pl.DataFrame:
    """One row for each path set, transport, scheduler and congestion control.

    ``gain`` is the median over that of the best of its networks alone, under whichever congestion
    control it did best; null for single networks. Intervals are 95 %, over pieces.
    """
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for panel in rendered.panels:
        for cell in panel.goodput:
            row = _row(panel, rendered.namer, cell)
            key = ("direction", "paths", "transport", "scheduler", "congestion")
            rows.setdefault(tuple(row[name] for name in key), row)
    found = pl.DataFrame(list(rows.values()), schema=SCHEMA)
    return found.with_columns(
        gain=pl.struct("direction", "paths", "median_mbps").map_elements(
            lambda row: _gain(row, found), return_dtype=pl.Float64
        )
    ).sort("direction", pl.col("transport") != "tcp", maintain_order=True)


def _row(panel: Panel, namer: Namer, cell: PathSet) -> dict[str, Any]:
    transport = panel.transports[cell]
    median = panel.estimate("goodput", cell, "median")
    alone = transport == "tcp"
    mode = f" {panel.settings['mode']}" if transport == "mptcp" else ""
    return {
        "direction": panel.direction,
        "paths": str(cell),
        "label": namer.cell(cell),
        "transport": f"{transport}{mode}",
        "scheduler": "" if alone else str(panel.settings["scheduler"]),
        "congestion": str(panel.settings["congestion"]),
        "median_mbps": median.value,
        "median_low": median.low,
        "median_high": median.high,
        "p5_mbps": panel.estimate("goodput", cell, "p5").value,
        "mean_mbps": panel.estimate("goodput", cell, "mean").value,
        "zero_share": panel.estimate("goodput", cell, "zero_share").value,
        "gain": None,
        "pieces": len(panel.names),
    }


def _gain(row: Mapping[str, Any], found: pl.DataFrame) -> float | None:
    names = str(row["paths"]).split("+")
    if len(names) < 2:
        return None
    best = _alone(found, row["direction"], names)["median_mbps"].max()
    return float(row["median_mbps"]) / float(best) if best else None  # type: ignore[arg-type]


def _alone(found: pl.DataFrame, direction: str, names: list[str]) -> pl.DataFrame:
    return found.filter(pl.col("direction") == direction, pl.col("paths").is_in(names))


def sentences(found: pl.DataFrame) -> Iterator[str]:
    """Say for each direction what bonding gives with each transport, against the best network."""
    for direction in found["direction"].unique(maintain_order=True):
        here = found.filter(pl.col("direction") == direction)
        for transport in here["transport"].unique(maintain_order=True):
            if transport != "tcp":
                yield _sentence(here, transport)
    pieces = int(found["pieces"].max() or 0)  # type: ignore[arg-type]
    if pieces < ENOUGH:
        runs = "piece" if pieces == 1 else "pieces"
        yield (
            f"Preliminary: {pieces} {runs} of drives; {ENOUGH} make a sample (--pieces {ENOUGH})."
        )


def _sentence(here: pl.DataFrame, transport: str) -> str:
    """Say what the best of a transport gives."""
    best = here.filter(transport=transport).sort("median_mbps", descending=True).row(0, named=True)
    alone = _alone(here, best["direction"], best["paths"].split("+"))
    single = alone.sort("median_mbps", descending=True).row(0, named=True)
    change = (best["gain"] or 1.0) - 1.0
    against = "the same as" if abs(change) < 0.005 else (
        f"{100 * abs(change):.0f} % {'more' if change > 0 else 'less'} than"
    )  # fmt: skip
    name, _, mode = transport.partition(" ")
    steady = alone.sort("zero_share").row(0, named=True)
    return (
        f"{'Down' if best['direction'] == 'down' else 'Up'}link, {_TRANSPORTS[name]}"
        f"{f' ({mode})' if mode else ''} with {best['scheduler']} and {best['congestion']} over "
        f"{best['label']}: median {mbps(best['median_mbps'])} Mbit/s, {against} {single['label']} "
        f"alone ({mbps(single['median_mbps'])}, {single['congestion']}); without data for "
        f"{percent(best['zero_share'])} of the time ({steady['label']} alone: "
        f"{percent(steady['zero_share'])})."
    )
