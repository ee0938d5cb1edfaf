"""The tables that ``skyweave data`` prints; numbers come from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from skyweave.data.metrics import STANDARD_PERCENTS
from skyweave.data.registry import DataSet
from skyweave.synthesis.calibration import REPORT_LAGS, Comparison, PathSummary
from skyweave.synthesis.runmeans import RunMeanCheck

WORDS = {
    "downlink_mbps": "Downlink, Mbit/s",
    "uplink_mbps": "Uplink, Mbit/s",
    "rtt_ms": "Round-trip time, ms",
    "loss_ratio": "Loss, share of packets",
}


def statistics_tables(title: str, facts: dict[str, Any]) -> RenderableType:
    """The result of :func:`skyweave.data.describe` for people."""
    kind = "synthetic" if facts["synthetic"] else "measured"
    drives = f"{facts['drives']} drive{'s' if facts['drives'] != 1 else ''}"
    head = Text(f"{title}: {drives}, {duration(facts['duration_s'])}, {kind}", style="bold")
    parts: list[RenderableType] = [head]
    for quantity, words in WORDS.items():
        rows = [row for row in facts["series"] if row["quantity"] == quantity]
        if rows:
            parts.append(_series_table(words, rows))
    if facts["pairs"]:
        parts.append(_pair_table(facts["pairs"]))
    parts += [_slot_line(slot) for slot in facts["slots"]]
    return Group(*parts)


def duration(seconds: float) -> str:
    """``95 s``, ``12 min``, ``2 h 41 min``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _grid(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", header_style="dim")
    for index, name in enumerate(columns):
        table.add_column(name, justify="left" if index == 0 else "right", no_wrap=True)
    return table


def _series_table(title: str, rows: Sequence[dict[str, Any]]) -> Table:
    rates = "zero" in rows[0]
    shares = ("at 0", "< 1", "< 5") if rates else ()
    table = _grid(title, "path", "n", "time", "mean", "p5", "p25", "median", "p75", "p95", *shares)
    keys = ("mean", "p5", "p25", "median", "p75", "p95")
    for row in rows:
        cells = [row["path"], f"{row['n']:,}", duration(row["duration_s"])]
        cells += [number(row[key]) for key in keys]
        if rates:
            cells += [percent(row[key]) for key in ("zero", "below_1", "below_5")]
        table.add_row(*cells)
    return table


def _pair_table(pairs: Iterable[dict[str, Any]]) -> Table:
    table = _grid(
        "Two paths at once",
        "paths",
        "direction",
        "n",
        "correlation",
        "first at 0",
        "second at 0",
        "both at 0",
        "both < 1",
        "both < 5",
    )
    for pair in pairs:
        table.add_row(
            f"{pair['a']} + {pair['b']}",
            pair["quantity"].removesuffix("_mbps"),
            f"{pair['n']:,}",
            "-" if math.isnan(pair["correlation"]) else f"{pair['correlation']:+.2f}",
            *(percent(pair[key]) for key in ("a_zero", "b_zero", "both_zero")),
            *(percent(pair[key]) for key in ("both_below_1", "both_below_5")),
        )
    return table


def _slot_line(slot: dict[str, Any]) -> Text:
    seconds = ", ".join(f":{(slot['phase_s'] + 15 * k) % 60:02d}" for k in range(4))
    if not slot["found"]:
        return Text(f"15 s rhythm of {slot['path']}: none found", style="dim")
    return Text(
        f"15 s rhythm of {slot['path']}: capacity jumps at seconds {seconds} "
        f"({slot['ratio']:.1f} times the change of other seconds; Starlink's own are :12, :27, "
        f":42, :57)"
    )


def comparison_tables(comparison: Comparison) -> RenderableType:
    """Measured and synthetic, line under line."""
    lags = [f"acf {lag} s" for lag in REPORT_LAGS]
    percents = [f"p{p}" for p in STANDARD_PERCENTS]
    table = _grid(
        "Downlink, Mbit/s: measured and synthetic",
        "path",
        "",
        "n",
        *percents,
        "at 0",
        *lags,
        "slot jump",
        "± 1 s",
    )
    for name in comparison.real:
        table.add_row(name, "real", *_summary(comparison.real[name]))
        made = _summary(comparison.synthetic[name])
        table.add_row("", "synthetic", *made, style="cyan", end_section=True)
    pairs = _grid("Correlation of the downlinks", "paths", "real", "synthetic")
    for pair, value in comparison.real_correlation.items():
        other = comparison.synthetic_correlation[pair]
        pairs.add_row(" + ".join(pair), f"{value:+.2f}", f"{other:+.2f}")
    return Group(table, pairs)


def run_mean_table(checks: Sequence[RunMeanCheck]) -> RenderableType:
    """Wanted and synthetic quantiles over run means, with the chance of the check."""
    columns = ("path", "p", "target", "synthetic", "± 2 se", "runs at or below", "source")
    table = _grid("Downlink, Mbit/s: quantiles over run means", *columns)
    for one in checks:
        table.add_row(
            one.path,
            f"{one.p:g}",
            number(one.wanted),
            number(one.found),
            f"{number(one.low)} to {number(one.high)}",
            f"{100 * one.share:.1f} ± {100 * one.share_error:.1f} %",
            one.source.split(":")[0],
        )
    return table


def _summary(path: PathSummary) -> list[str]:
    slot = path.slot
    return [
        f"{path.samples:,}",
        *(number(value) for value in path.percentiles_mbps.values()),
        percent(path.outage),
        *(f"{value:.2f}" for value in path.autocorrelation.values()),
        f"{slot.ratio:.2f}" if slot else "-",
        f"{slot.ratio_near:.2f}" if slot else "-",
    ]


def set_panel(known: DataSet, place: str) -> Panel:
    """All that is known of a public data set."""
    lines = [
        f"origin    {known.origin}",
        f"licence   {known.licence}",
        f"cite      {known.citation}",
        f"note      {known.note}",
        f"here      {place}",
        "",
    ]
    lines += [f"{file.sha256[:12]}…  {file.path}" for file in known.files]
    lines += [
        f"{made.sha256[:12]}…  {made.name} (local only: {made.how})" for made in known.derived
    ]
    words = Text.assemble((known.title, "bold"), "\n", "\n".join(lines))
    return Panel(words, title=Text(known.name), title_align="left")


def number(value: float) -> str:
    """Two or three significant figures; ``-`` for NaN."""
    if math.isnan(value):
        return "-"
    if value == 0:
        return "0"
    if value < 0.1:
        return f"{value:.2g}"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f}"


def percent(share: float) -> str:
    """A share as a percentage; ``0`` only for exactly none."""
    if math.isnan(share):
        return "-"
    if share == 0:
        return "0 %"
    if share < 0.0001:
        return "< 0.01 %"
    return f"{100 * share:.2f} %" if share < 0.1 else f"{100 * share:.1f} %"
