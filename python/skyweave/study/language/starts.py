"""Where in a long drive a short test begins: at once, at random, or when latency jumps."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import model_validator

from skyweave.errors import ConfigError
from skyweave.model.drive import Drive, Series
from skyweave.model.validated import Positive, StudyModel


class StartRule(StudyModel):
    """``latency``: where the RTT series is at least ``factor`` times its mean of the last seconds.

    The default is the trigger of T3P: twice the mean of the last 5 s.
    """

    rule: Literal["beginning", "random", "latency"] = "beginning"
    factor: Positive = 2.0
    window_s: Positive = 5.0

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        return {"rule": value} if isinstance(value, str) else value

    def label(self) -> str:
        """The rule in one line, with what differs from the default."""
        if self.rule != "latency" or (self.factor, self.window_s) == (2.0, 5.0):
            return self.rule
        return f"latency(factor={self.factor:g}, window_s={self.window_s:g})"


def begin_s(drive: Drive, paths: tuple[str, ...], rule: StartRule, test_s: float) -> float:
    """Return the second of the drive at which a test of ``test_s`` seconds begins.

    The random instant depends on the drive's name alone; the triggered test is the first one that
    the rule would start after that same instant (from the beginning again if there is none), so
    both rules look at the same drive from the same moment. Raises :class:`ConfigError` for a drive
    that is too short or never fires.
    """
    if rule.rule == "beginning":
        return 0.0
    latest = drive.duration_s - test_s
    if latest <= 0:
        raise ConfigError(
            f"drive '{drive.name}': lasts {drive.duration_s:g} s, too short to start a test of "
            f"{test_s:g} s inside it; make the drive longer or duration_s shorter"
        )
    digest = hashlib.sha256(f"start\0{drive.name}".encode()).digest()
    instant = np.floor(int.from_bytes(digest[:6], "big") / 2**48 * latest)
    if rule.rule == "random":
        return float(instant)
    fired = triggers_s(_rtt(drive, paths), rule)
    fired = fired[fired <= latest]
    if not len(fired):
        raise ConfigError(
            f"drive '{drive.name}': its RTT never reaches {rule.factor:g} times the mean of the "
            f"last {rule.window_s:g} s; make the drive longer, or lower factor in start"
        )
    later = fired[fired >= instant]
    return float(later[0] if len(later) else fired[0])


def triggers_s(rtt_ms: Series, rule: StartRule) -> npt.NDArray[np.float64]:
    """Return the times at which the rule fires on an RTT series."""
    times, values = rtt_ms.times_s, rtt_ms.values
    known = ~np.isnan(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    now = np.arange(len(times))
    first = np.searchsorted(times, times - rule.window_s, side="left")
    have = (counts[now] > counts[first]) & (times >= rule.window_s) & known
    mean = np.divide(
        sums[now] - sums[first], counts[now] - counts[first],
        out=np.full(len(times), np.inf), where=have,
    )  # fmt: skip
    fired: npt.NDArray[np.float64] = times[have & (values >= rule.factor * mean)]
    return fired


def _rtt(drive: Drive, paths: tuple[str, ...]) -> Series:
    """Return the RTT series of the first path that has one."""
    for name in paths:
        series = drive.paths[name].rtt_ms
        if series is not None:
            return series
    raise ConfigError(
        f"drive '{drive.name}': {'+'.join(paths)} has no RTT series to trigger on; "
        'take start = "random"'
    )
