"""Forecasts in a file: what a trained predictor says of a series, second by second."""

from __future__ import annotations

from skyweave.errors import ConfigError, DataError
from skyweave.forecast.measurement import UNITS, Kind
from skyweave.forecast.outlook import MOST_UPDATES, ForecastFile
from skyweave.forecast.predictors.band import QUANTILES
from skyweave.forecast.predictors.file import PredictorFile
from skyweave.forecast.predictors.online import Foreseen
from skyweave.forecast.predictors.seconds import Seconds
from skyweave.model.forecast import Forecast, ForecastSeries, ForecastUpdate

Field = str
FIELDS: dict[Kind, tuple[Field, ...]] = {
    "throughput": ("down_mbps", "up_mbps"),
    "rtt": ("rtt_ms",),
}
"""What a forecast of each quantity can be of; the first is the default."""


def serve(known: PredictorFile, series: Seconds, every_s: int, of: Field | None) -> ForecastFile:
    """Return the forecasts that were issued each ``every_s`` seconds while the series came in.

    ``of`` is a series of :class:`~skyweave.model.forecast.Forecast`. A forecast knows the seconds
    before it alone; it says the values ahead ('at' targets) and is replaced by the next one. Raises
    :class:`ConfigError` for a predictor that has no 'at' targets or another quantity.
    """
    name = _field(known, series, of)
    wanted = [one for one in known.targets if one.target.startswith("at ")]
    if not wanted:
        raise ConfigError("the predictor says no value ahead; train it with targets such as 'at 5'")
    if len(series) / every_s > MOST_UPDATES:
        raise ConfigError(
            f"{len(series)} seconds in steps of {every_s} s are over {MOST_UPDATES} forecasts; "
            "give a larger --every"
        )
    forecaster = known.model_copy(update={"targets": tuple(wanted)}).forecaster()
    start = int(series.seconds[0])
    updates, due = [], start
    for second, value in zip(series.seconds.tolist(), series.values.tolist(), strict=True):
        forecaster.update(second, value)
        said = forecaster.predict()
        if second >= due:
            due = second + every_s
            updates.append(_update(second + 1 - start, said, name))
    return ForecastFile(
        source=f"{series.name}, by '{known.predictor}' of {known.learned.name}",
        method=(
            f"predictor '{known.predictor}', trained on {known.learned.seconds} seconds; quantiles "
            f"{', '.join(f'{one:g}' for one in QUANTILES)} in {UNITS[series.kind]}; "
            f"a forecast each {every_s} s, out of the seconds before it"
        ),
        start_unix_s=start,
        end_unix_s=int(series.seconds[-1]) + 1,
        forecast=Forecast(),
        updates=tuple(updates),
    )


def _field(known: PredictorFile, series: Seconds, of: Field | None) -> Field:
    if known.quantity != series.kind:
        raise ConfigError(
            f"{series.name}: is {series.kind}, and the predictor has learned {known.quantity}; "
            "train one of this quantity"
        )
    fields = FIELDS[series.kind]
    if of is not None and of not in fields:
        raise DataError(f"--as {of}: a forecast of {series.kind} is {' or '.join(fields)}")
    return of or fields[0]


def ahead(said: list[Foreseen], issued_s: int) -> ForecastSeries:
    """Return what is foreseen at a moment; a value covers its second, and stands until the next."""
    rising = sorted(said, key=lambda one: one.target.ahead_s)
    return ForecastSeries(
        times_s=tuple(float(issued_s + one.target.ahead_s - 1) for one in rising),
        quantiles=QUANTILES,
        values=tuple((one.low, one.middle, one.high) for one in rising),
    )


def _update(arrives_s: int, said: list[Foreseen], name: Field) -> ForecastUpdate:
    return ForecastUpdate(
        arrives_s=arrives_s,
        forecast=Forecast.model_validate(
            {"issued_at_s": float(arrives_s), name: ahead(said, arrives_s)}
        ),
    )
