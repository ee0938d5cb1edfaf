"""Drives and records as a notebook shows them: tables and a picture in HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skyweave.printing import visible

if TYPE_CHECKING:
    from skyweave.model.drive import Drive
    from skyweave.model.record import Record

_QUANTITIES = {
    "downlink_mbps": "downlink, Mbit/s",
    "uplink_mbps": "uplink, Mbit/s",
    "rtt_ms": "round trip, ms",
    "loss_ratio": "loss, 0 to 1",
}


def drive_page(drive: Drive) -> str:
    """Each series of a drive: how many samples, its mean, median and extremes."""
    rows = []
    for name, path in drive.paths.items():
        for quantity, words in _QUANTITIES.items():
            series = getattr(path, quantity)
            if series is None:
                continue
            logged = series.values[~np.isnan(series.values)]
            sizes = (
                [f"{value:.3g}" for value in (logged.mean(), *np.quantile(logged, (0.5, 0, 1)))]
                if len(logged)
                else [""] * 4
            )
            rows.append([name, words, f"{len(logged):,}", *sizes])
    start = f", from {drive.start:%Y-%m-%d %H:%M:%S}" if drive.start else ""
    said = f"{drive.name}: {drive.duration_s:g} s{start}; {drive.origin}"
    head = ("path", "quantity", "samples", "mean", "median", "least", "most")
    return _paragraph(said) + _table(head, rows)


def record_page(record: Record) -> str:
    """What each connection of a run got, and the goodput of the first one as a picture."""
    from skyweave.plotting.style import svg_text

    rows = []
    for number, one in enumerate(record.totals["connections"]):
        waits = [_number(one[key]) for key in ("in_order_wait_p50_ms", "in_order_wait_p99_ms")]
        ran = " ".join(filter(None, (one["transport"], one["scheduler"], one["congestion"])))
        done = _number(one["completion_s"])
        rows.append([str(number), ran, f"{one['goodput_mbps']:.1f}", done, *waits])
    head = ("connection", "ran", "Mbit/s", "completion, s", "in-order wait p50, ms", "p99, ms")
    if not rows:
        return _table(head, rows)
    svg = svg_text(record.plot())
    return _table(head, rows) + svg[svg.index("<svg") :]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(visible(text))}</p>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; what stands in it is foreign text."""

    def line(kind: str, cells: Sequence[str]) -> str:
        inner = "".join(f"<{kind}>{html.escape(visible(cell))}</{kind}>" for cell in cells)
        return f"<tr>{inner}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"
