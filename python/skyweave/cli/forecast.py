"""``skyweave forecast``: slots found in measurements, forecasts from them, and what a file says.

Predictors stand in ``forecast_predict``, events of slot edges in ``forecast_events``.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer
from rich.progress import Progress as Bar

from skyweave.cli import forecast_events, forecast_predict
from skyweave.console import Console
from skyweave.data.writers import write_bytes
from skyweave.errors import ConfigError
from skyweave.forecast.measurement import Kind, Measurement
from skyweave.forecast.outlook import ForecastFile, read_forecast, slot_forecast
from skyweave.forecast.pings import unix_s
from skyweave.forecast.readers import read_measurement
from skyweave.forecast.slots import STARLINK_PERIOD_S, SlotEstimate, estimate_slots
from skyweave.model.forecast import Forecast, ForecastSeries
from skyweave.printing import put

forecast_app = typer.Typer(
    help="Slots and handovers in measurements, and forecasts from them.", no_args_is_help=True
)
forecast_app.command("compare")(forecast_predict.compare_series)
forecast_app.command()(forecast_predict.train)
forecast_app.command()(forecast_predict.run)
forecast_app.command()(forecast_events.events)
PATIENCE_S = 2.0
"""Nobody needs a progress bar for less."""
SHOWN = 5


@forecast_app.command()
def slots(
    file: Annotated[Path, typer.Argument(help="Ping log, CSV with UTC, iperf3 JSON, data set.")],
    column: Annotated[str | None, typer.Option(help="Which series, if there are several.")] = None,
    time_column: Annotated[str | None, typer.Option(help="The clock of a CSV.")] = None,
    kind: Annotated[Kind | None, typer.Option(help="What the values are; else by name.")] = None,
    period: Annotated[
        str, typer.Option(help="Slot period in s, or LOW:HIGH to search for it.")
    ] = f"{STARLINK_PERIOD_S:g}",
    start: Annotated[
        str | None,
        typer.Option("--from", help="UTC at which the forecast begins; else where FILE ends."),
    ] = None,
    duration: Annotated[float, typer.Option(help="Seconds of the forecast.")] = 3600.0,
    out: Annotated[Path | None, typer.Option(help="Write the forecast here (JSON).")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw what was found (PNG).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Numbers for programs.")] = False,
) -> None:
    """Find slot period, phase and handovers in a measured series."""
    wanted = _period(period)
    begin = None if start is None else _moment(start)
    series = read_measurement(file, kind, column, time_column)
    estimate = estimate_slots(series, wanted, _progress)
    if as_json:
        put(json.dumps(facts(series, estimate), indent=1, allow_nan=False))
    else:
        _say(series, estimate)
    if figure is not None:
        _draw(figure, series, estimate)
    if out is not None:
        made = slot_forecast(estimate, series.end_unix_s if begin is None else begin, duration)
        made.write(out)
        _note(as_json, f"{out}: {len(made.forecast.outages)} windows, {_span(made)}")


@forecast_app.command()
def show(file: Annotated[Path, typer.Argument(help="A forecast (JSON).")]) -> None:
    """Say what a forecast file holds."""
    known = read_forecast(file)
    console = Console(soft_wrap=True)
    console.print(f"{known.source}: {known.method}")
    console.print(f"{len(known.forecast.outages)} windows, {_span(known)}")
    _show(console, known.forecast, known.start_unix_s)
    for number, update in enumerate(known.updates):
        if number == SHOWN:
            console.print(f"… {len(known.updates)} updates in all")
            break
        there = update.forecast
        arrives = _utc(known.start_unix_s + update.arrives_s)
        console.print(f"update at {arrives}: {len(there.outages)} windows")
        _show(console, there, known.start_unix_s)


def _show(console: Console, known: Forecast, zero_unix_s: float) -> None:
    """Print the first outages of a forecast, and what its series are."""
    for one in known.outages[:SHOWN]:
        begin, length_s = _utc(zero_unix_s + one.start_s), one.end_s - one.start_s
        console.print(f"  {begin} for {length_s:.2f} s, probability {one.probability:.2f}")
    if len(known.outages) > SHOWN:
        console.print("  …")
    for name in ("down_mbps", "up_mbps", "rtt_ms"):
        series: ForecastSeries | None = getattr(known, name)
        if series is not None:
            quantiles = ", ".join(f"{one:g}" for one in series.quantiles)
            begin, end = (_utc(zero_unix_s + series.times_s[place]) for place in (0, -1))
            console.print(f"  {name}: quantiles {quantiles}, {begin} to {end}")


def facts(series: Measurement, estimate: SlotEstimate) -> dict[str, Any]:
    """The estimate for programs, units in the names; JSON knows no NaN or infinity: null."""
    named: dict[str, Any] = {
        "name": estimate.name,
        "samples": len(series.values),
        "lost": series.lost,
        "found": estimate.found,
        "period_s": estimate.period_s,
        "period_searched": estimate.searched,
        "offset_s": estimate.offset_s,
        "offset_low_s": estimate.offset_low_s,
        "offset_high_s": estimate.offset_high_s,
        "p_value": estimate.p_value,
        "contrast": _finite(estimate.contrast),
        "disturbance_s": estimate.disturbance_s,
        "edges": len(estimate.edges),
        "handover_share": estimate.handover_share,
        "shift_unit": series.unit,
    }
    handovers = [asdict(edge) | {"shift": _finite(edge.shift)} for edge in estimate.handovers]
    return named | {"handovers": handovers}


def _say(series: Measurement, estimate: SlotEstimate) -> None:
    from skyweave.forecast.draw import headline

    console = Console(soft_wrap=True)
    lost = f", {series.lost} of them lost" if series.lost else ""
    hours = (series.end_unix_s - float(series.times_unix_s[0])) / 3600
    samples = f"{len(series.values)} samples{lost}"
    console.print(f"{series.name}: {samples} over {hours:.2f} h")
    console.print(f"{headline(estimate)}.")
    if estimate.found:
        console.print(
            f"The level moves {estimate.contrast:.1f} times as far at edges as elsewhere; "
            f"handovers at {len(estimate.handovers)} of {len(estimate.edges)} edges "
            f"({100 * estimate.handover_share:.0f} %); disturbed for "
            f"{estimate.disturbance_s:.2f} s after an edge."
        )


def _draw(place: Path, series: Measurement, estimate: SlotEstimate) -> None:
    from skyweave.forecast.draw import slots_figure
    from skyweave.plotting.style import png_bytes

    if place.suffix.lower() != ".png":
        raise ConfigError(f"--figure {place}: figures are PNG; end its name in .png")
    write_bytes(place, png_bytes(slots_figure(series, estimate)))


def _period(text: str) -> float | tuple[float, float]:
    """``15`` or ``5:60``; :class:`ConfigError` for anything else."""
    try:
        numbers = [float(part) for part in text.split(":")]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == 2 and numbers[0] < numbers[1]:
        return numbers[0], numbers[1]
    raise ConfigError(f"--period {text}: give seconds such as 15, or a range such as 5:60")


def _moment(text: str) -> float:
    """A date and time in UTC, or Unix seconds."""
    try:
        found = float(text)
        if math.isfinite(found):
            return found
    except ValueError:
        pass
    try:
        return unix_s(text)
    except ValueError:
        raise ConfigError(
            f"--from {text}: is no date and time; write for example 2026-05-01T12:00:00Z"
        ) from None


def _progress(steps: range) -> Iterable[int]:
    """A bar on standard error for steps that last longer than :data:`PATIENCE_S`."""
    console = Console(stderr=True)
    bar = Bar(console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task("looking for slots", total=len(steps))
    begin, shown = monotonic(), False
    try:
        for done, step in enumerate(steps, 1):
            yield step
            if not shown and monotonic() - begin > PATIENCE_S:
                bar.start()
                shown = True
            bar.update(task, completed=done)
    finally:
        if shown:
            bar.stop()


def _note(as_json: bool, words: str) -> None:
    """A line for people; on standard error where standard output is for programs."""
    Console(stderr=as_json, soft_wrap=True).print(words)


def _span(known: ForecastFile) -> str:
    return f"{_utc(known.start_unix_s)} to {_utc(known.end_unix_s)} UTC"


def _utc(moment: float) -> str:
    return f"{datetime.fromtimestamp(round(moment, 2), UTC):%Y-%m-%d %H:%M:%S.%f}"[:-4]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
