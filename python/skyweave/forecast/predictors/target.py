"""What is predicted: the value some seconds ahead, or the mean of the seconds until then."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from skyweave.errors import ConfigError
from skyweave.forecast.predictors.seconds import Seconds
from skyweave.model.drive import Values

LONGEST_S = 300
_WRITTEN = re.compile(r"(at|mean) (\d{1,3})")


@dataclass(frozen=True, order=True)
class Target:
    """``at``: the value of the second ``ahead_s`` from now; ``mean``: of all until it, with it."""

    of: Literal["at", "mean"]
    ahead_s: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``at 5`` or ``mean 15``; :class:`ConfigError` for anything else."""
        found = _WRITTEN.fullmatch(text.strip())
        if found is None or not 1 <= int(found[2]) <= LONGEST_S:
            raise ConfigError(
                f"target {text!r}: write 'at' or 'mean' and 1 to {LONGEST_S} seconds: 'mean 15'"
            )
        return cls("at" if found[1] == "at" else "mean", int(found[2]))

    def __str__(self) -> str:
        return f"{self.of} {self.ahead_s}"

    def values(self, series: Seconds) -> Values:
        """Return what came true at each second; NaN where more than half of it is missing."""
        if self.of == "at":
            return _at(series, series.seconds + self.ahead_s)
        total, count = np.zeros(len(series)), np.zeros(len(series))
        for ahead_s in range(1, self.ahead_s + 1):
            found = _at(series, series.seconds + ahead_s)
            known = np.isfinite(found)
            total[known] += found[known]
            count += known
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(2 * count >= self.ahead_s, total / count, np.nan)


def _at(series: Seconds, wanted: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Values:
    place = np.minimum(np.searchsorted(series.seconds, wanted), len(series) - 1)
    return np.where(series.seconds[place] == wanted, series.values[place], np.nan)
