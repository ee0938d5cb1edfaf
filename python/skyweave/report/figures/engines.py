"""The figure of kind ``engines``: a row for each case, simulated beside live."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

from skyweave.plotting.style import LIGHT
from skyweave.plotting.words import seeds_text
from skyweave.report.criteria.agreement import case_words, members_of
from skyweave.report.figures.canvas import WIDTH_IN
from skyweave.report.figures.kinds import Sketch, Source, of_results
from skyweave.report.numbers.engines import TIGHT, WIDE, Case, compare
from skyweave.report.numbers.namer import Namer

ROW_IN = 0.21
SIM, LIVE = LIGHT["satellite"], LIGHT["cellular1"]
_STEPS = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.9)
"""Ends of the axis of the ratio, as deviations from 1: the first that takes most cases."""


@of_results("engines")
def engines(source: Source) -> Sketch | None:
    """Draw a comparison of engines; nothing where no run has a partner."""
    results, spec = source.results, source.spec
    cases = compare(results).chosen(spec, spec.cells)
    if not cases:
        return None
    members = members_of(cases)
    return Sketch(
        engines_figure(cases, Namer(results.frozen["plan"])),
        seeds=seeds_text([seed for _, seed in members]),
        drives=len({drive for drive, _ in members}),
        samples=sum(len(case.members) for case in cases),
        data=f"{len(cases)} cases",
    )


def engines_figure(cases: Sequence[Case], namer: Namer) -> Figure:
    """Left: goodput simulated ÷ live with lines at ±3 and ±10 %; right: RTT p50 and p95 of both."""
    rows = _rows(cases, namer)
    figure = Figure(figsize=(WIDTH_IN, 1.5 + ROW_IN * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _ratios(left, rows)
    _round_trips(right, rows)
    _labels(left, rows)
    right.tick_params(labelleft=False)
    figure.legend(handles=_handles(cases), loc="outside lower left", ncols=4)
    return figure


def _rows(cases: Sequence[Case], namer: Namer) -> list[tuple[str, Case | None]]:
    """Return the rows from the top: a heading for each group of drives, then its cases."""
    rows: list[tuple[str, Case | None]] = []
    said = dict(zip(map(id, cases), case_words(cases), strict=True))
    for drives in dict.fromkeys(case.drives for case in cases):
        rows.append((namer.drives(drives), None))
        rows += [(said[id(case)], case) for case in cases if case.drives == drives]
    return rows


def _labels(axes: Axes, rows: Sequence[tuple[str, Case | None]]) -> None:
    axes.set_yticks(range(len(rows)), [text for text, _ in rows], fontsize=7.8)
    for (_, case), label in zip(rows, axes.get_yticklabels(), strict=True):
        label.set_color(LIGHT["ink"])
        label.set_fontweight("bold" if case is None else "normal")
    axes.set_ylim(len(rows) - 0.4, -0.7)


def _ratios(axes: Axes, rows: Sequence[tuple[str, Case | None]]) -> None:
    found = [(place, case) for place, (_, case) in enumerate(rows) if case is not None]
    half = _half_width([case.deviation for _, case in found])
    axes.axvspan(1 - WIDE, 1 + WIDE, color=LIGHT["grid"], linewidth=0, alpha=0.55, zorder=0)
    axes.axvspan(1 - TIGHT, 1 + TIGHT, color=LIGHT["line"], linewidth=0, alpha=0.55, zorder=0)
    for edge in (-WIDE, -TIGHT, TIGHT, WIDE):
        axes.axvline(1 + edge, color=LIGHT["line"], linewidth=0.8, zorder=1)
    axes.axvline(1, color=LIGHT["soft"], linewidth=0.9, zorder=1)
    for place, case in found:
        _ratio(axes, place, case, half)
    axes.set_xlim(1 - 1.06 * half, 1 + 1.06 * half)
    _ratio_ticks(axes, half)
    axes.set_title("goodput, simulated ÷ live (off by %)")
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)


def _half_width(deviations: Sequence[float]) -> float:
    """Return how far the axis reaches from 1: at least past ±10 %, and to nine cases in ten."""
    wanted = max(float(np.quantile(deviations, 0.9)), 1.2 * WIDE)
    return next((step for step in _STEPS if step >= wanted), _STEPS[-1])


def _ratio(axes: Axes, place: int, case: Case, half: float) -> None:
    """Draw one dot; outside the axis an arrow at its end with the number. Hollow: flagged."""
    off = case.ratio - 1
    inside = abs(off) <= half
    at = 1 + float(np.clip(off, -half, half))
    face = LIGHT["paper"] if case.flagged else LIGHT["ink"]
    marker = "o" if inside else (">" if off > 0 else "<")
    axes.plot(
        [at], [place], marker, color=LIGHT["ink"], markerfacecolor=face, markersize=5.2, zorder=4
    )
    if inside:
        axes.plot([1, at], [place, place], color=LIGHT["ink"], linewidth=0.7, alpha=0.5, zorder=3)
    else:
        side = "right" if off > 0 else "left"
        axes.annotate(
            f"{case.ratio:.2f}" if case.ratio < 100 else "> 100", (at, place),
            xytext=(-7 if off > 0 else 7, 0), textcoords="offset points", ha=side, va="center",
            fontsize=7.5,
        )  # fmt: skip


def _ratio_ticks(axes: Axes, half: float) -> None:
    sides: tuple[float, ...] = (-WIDE, -TIGHT, 0.0, TIGHT, WIDE)
    if half > 0.25:  # ±3 % and 0 would stand on each other
        sides = tuple(side for side in (-0.8, -0.5, -0.2, 0.0, 0.2, 0.5, 0.8) if abs(side) <= half)
    axes.xaxis.set_major_locator(FixedLocator([1 + side for side in sides]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _percent(value - 1)))


def _percent(off: float) -> str:
    number = f"{100 * off:+.0f}".replace("-", "\N{MINUS SIGN}")
    return number if round(100 * off) else "0"


def _round_trips(axes: Axes, rows: Sequence[tuple[str, Case | None]]) -> None:
    """Draw p50 (filled) and p95 (hollow) of both engines on one logarithmic axis."""
    seen = []
    for place, (_, case) in enumerate(rows):
        if case is None:
            continue
        for one, colour, shift in ((case.sim, SIM, -0.16), (case.live, LIVE, 0.16)):
            known = [v for v in (one.rtt_p50_ms, one.rtt_p95_ms) if v is not None]
            if len(known) == 2:
                at = [place + shift] * 2
                axes.plot(known, at, color=colour, linewidth=1.1, alpha=0.6, zorder=2)
                axes.plot(known[:1], at[:1], "o", color=colour, markersize=4.2, zorder=3)
                axes.plot(
                    known[1:], at[1:], "o", color=colour, markersize=4.2, zorder=3,
                    markerfacecolor=LIGHT["paper"],
                )  # fmt: skip
                seen += known
    axes.set_title("smoothed RTT (ms)")
    axes.grid(visible=False)
    axes.grid(visible=True, axis="x")
    axes.spines["left"].set_visible(False)
    if seen:
        _log_axis(axes, max(min(seen), 0.1), max(seen))


def _log_axis(axes: Axes, low: float, high: float) -> None:
    axes.set_xscale("log")
    axes.set_xlim(low / 1.25, high * 1.25)
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _handles(cases: Sequence[Case]) -> list[Line2D]:
    handles = [
        Line2D([], [], color=SIM, marker="o", markersize=4.2, label="simulated"),
        Line2D([], [], color=LIVE, marker="o", markersize=4.2, label="live"),
        Line2D(
            [], [], color=LIGHT["soft"], marker="o", markersize=4.2, linewidth=0,
            markerfacecolor=LIGHT["paper"], label="95th percentile (filled: median)",
        ),
    ]  # fmt: skip
    if any(case.flagged for case in cases):
        handles.append(
            Line2D(
                [], [], color=LIGHT["ink"], marker="o", markersize=5.2, linewidth=0,
                markerfacecolor=LIGHT["paper"], label="has a live run that was late",
            )
        )  # fmt: skip
    return handles
