"""What a viewer saw of a film, in words and numbers."""

from __future__ import annotations

import math

import polars as pl
from rich.table import Table

from skyweave.cli.progress import clock
from skyweave.console import Console
from skyweave.model.record import Record
from skyweave.plotting.words import mbps, percent
from skyweave.report.numbers.lateness import LATE_MS
from skyweave.report.numbers.playback import playback_quantities

_TRANSPORTS = {"tcp": "TCP", "mptcp": "Multipath TCP", "mpquic": "multipath QUIC"}


def title_of(record: Record, player: str) -> str:
    """Return what played over what."""
    only = record.provenance["run"]["connections"][0]
    where = "simulated" if record.provenance["engine"] == "sim" else "in real time"
    told = record.totals["connections"][0]
    return f"{player} over {_TRANSPORTS[only['transport']]}, {told['congestion']}, {where}"


def say(record: Record, player: str) -> None:
    """Print what the viewer saw, and what each path did for it."""
    console = Console()
    console.print(title_of(record, player))
    seen = Table(box=None, show_header=False)
    seen.add_column()
    seen.add_column(justify="right", no_wrap=True)
    for name, value in facts(record):
        seen.add_row(name, value)
    console.print(seen)
    console.print(_paths(record))
    for sentence in _warnings(record):
        console.print(sentence)


def facts(record: Record) -> list[tuple[str, str]]:
    """Return what the viewer saw; what a player does not tell is left out."""
    (table,) = record.application.values()
    found = {name: float(v[0]) for name, v in playback_quantities(record).items() if v.size}
    last = table.row(-1, named=True)
    rows = [("startup", _startup(found["startup_s"]))]
    if "underflows" in found:
        rows.append(("underflows", f"{found['underflows']:.0f}"))
    if "stall_s" in found:
        rows.append(("stalls, together", f"{found['stall_s']:.1f} s"))
    if "discarded" in found:
        rows.append(("discarded pictures", f"{found['discarded']:,.0f}"))
    position, film = last["position_s"], last.get("film_s")
    if position is not None:
        rows.append(("played", f"{clock(position)} of {clock(film)}" if film else clock(position)))
    if "played_mbps" in found:
        rows.append(("mean quality", f"{mbps(found['played_mbps'])} Mbit/s"))
        rows.append(("changes of quality", f"{found['switches']:.0f}"))
    rate = came_mbps(record)
    if rate is not None:
        rows.append(("came at", f"{mbps(rate)} Mbit/s"))
    return rows


def _startup(seconds: float) -> str:
    return f"{seconds:.2f} s" if math.isfinite(seconds) else "it never began"


def came_mbps(record: Record) -> float | None:
    """Return the mean rate of what came, from the first byte to the last."""
    own = record.samples.filter((pl.col("path") == "") & (pl.col("connection") == 0)).sort("time_s")
    fresh = own.filter(pl.col("delivered_bytes").diff().fill_null(pl.col("delivered_bytes")) > 0)
    if len(fresh) < 2:
        return None
    first, last = fresh.row(0, named=True), fresh.row(-1, named=True)
    came = last["delivered_bytes"] - first["delivered_bytes"]
    return float(came * 8e-6 / (last["time_s"] - first["time_s"]))


def _paths(record: Record) -> Table:
    """Return a line for each path."""
    shown = Table(box=None)
    for column in ("path", "MB", "packets", "sent again", "share"):
        shown.add_column(column, justify="left" if column == "path" else "right", no_wrap=True)
    carried = record.totals["connections"][0]["paths"]
    for name in (path["name"] for path in record.provenance["run"]["paths"]):
        path = carried[name]
        sent, again = path["sent_packets"], path["retransmitted_packets"]
        shown.add_row(
            name,
            "-" if path["unique_bytes"] is None else f"{path['unique_bytes'] / 1e6:,.1f}",
            "-" if sent is None else f"{sent:,.0f}",
            "-" if again is None else f"{again:,.0f}",
            percent(again / sent) if sent and again is not None else "-",
        )
    return shown


def _warnings(record: Record) -> list[str]:
    """Return what makes a play-out in real time doubtful."""
    late_ms = record.provenance.get("lateness_us", {}).get("p99", 0.0) / 1e3
    if late_ms <= LATE_MS:
        return []
    return [
        f"The machine was busy: 1 % of the packets came more than {late_ms:.1f} ms late, and the "
        "player may have lost pictures by that."
    ]
