"""How good forecasts were: errors, skill over the last value, cover of the band."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from skyweave.forecast.predictors.band import QUANTILES
from skyweave.forecast.predictors.seconds import Whole
from skyweave.model.drive import Values

BLOCK_S = 60
"""Neighbouring errors are alike: whole blocks are drawn."""
DRAWS = 2000
_SEED = 1


@dataclass(frozen=True)
class Outcome:
    """Forecasts of one target by one predictor, and what came; a row each."""

    seconds: Whole
    came: Values
    last: Values
    expected: Values
    bands: npt.NDArray[np.float64]
    """Rows of low, middle, high."""
    gave_way: npt.NDArray[np.bool_]
    by_predictor: Values
    """What the predictor expected, whether it gave way or not."""

    @property
    def errors(self) -> Values:
        """Absolute errors."""
        return np.abs(self.expected - self.came)

    @property
    def errors_of_last(self) -> Values:
        """Absolute errors of the last value."""
        return np.abs(self.last - self.came)


@dataclass(frozen=True)
class Score:
    """Shares and skills are fractions; errors are in the unit of the series.

    ``skill`` is 1 - mean absolute error ÷ that of the last value, with a 95 % interval. ``mape`` is
    over values above 0, and explodes near 0; ``wape`` is the sum of errors ÷ the sum of values.
    """

    forecasts: int
    mae: float
    rmse: float
    mape: float
    median_ape: float
    wape: float
    within_5: float
    within_10: float
    skill: float
    skill_low: float
    skill_high: float
    cover: float
    pinball: float
    gave_way: float
    """The share in which the last value was served in the predictor's place."""
    skill_alone: float
    """The skill had it never given way."""

    def facts(self) -> dict[str, float | None]:
        """Return its numbers for JSON, which knows no NaN."""
        return {k: v if np.isfinite(v) else None for k, v in asdict(self).items()}


def score(found: Outcome) -> Score:
    """Return how good the forecasts of an outcome were."""
    errors, base = found.errors, found.errors_of_last
    above = found.came > 0
    relative = errors[above] / found.came[above]
    low, high = skill_interval(found.seconds, errors, base)
    total = float(found.came.sum())
    inside = (found.came >= found.bands[:, 0]) & (found.came <= found.bands[:, 2])
    return Score(
        forecasts=len(errors),
        mae=float(errors.mean()),
        rmse=float(np.sqrt((errors**2).mean())),
        mape=float(relative.mean()) if len(relative) else np.nan,
        median_ape=float(np.median(relative)) if len(relative) else np.nan,
        wape=float(errors.sum() / total) if total > 0 else np.nan,
        within_5=float((relative <= 0.05).mean()) if len(relative) else np.nan,
        within_10=float((relative <= 0.1).mean()) if len(relative) else np.nan,
        skill=_skill(errors.sum(), base.sum()),
        skill_low=low,
        skill_high=high,
        cover=float(inside.mean()),
        pinball=_pinball(found),
        gave_way=float(found.gave_way.mean()),
        skill_alone=_skill(np.abs(found.by_predictor - found.came).sum(), base.sum()),
    )


def skill_interval(seconds: Whole, errors: Values, base: Values) -> tuple[float, float]:
    """Return the 95 % interval of the skill: blocks of a minute, drawn anew."""
    _, block = np.unique(seconds // BLOCK_S, return_inverse=True)
    sums = np.bincount(block, errors), np.bincount(block, base)
    drawn = np.random.default_rng(_SEED).integers(len(sums[0]), size=(DRAWS, len(sums[0])))
    ours, theirs = sums[0][drawn].sum(axis=1), sums[1][drawn].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        skills = 1.0 - ours / theirs
    low, high = np.nanquantile(skills, (0.025, 0.975)) if np.any(theirs > 0) else (0.0, 0.0)
    return float(low), float(high)


def _skill(ours: float, theirs: float) -> float:
    return 1.0 - float(ours / theirs) if theirs > 0 else 0.0


def _pinball(found: Outcome) -> float:
    """Mean pinball loss of the three quantiles (Koenker & Bassett 1978)."""
    over = found.came[:, None] - found.bands
    levels = np.array(QUANTILES)
    return float(np.maximum(levels * over, (levels - 1) * over).mean())
