"""Round trips of a ping log as a measurement: :mod:`skyweave.data.pings` reads the lines."""

from __future__ import annotations

from pathlib import Path

from skyweave.data.importers.base import Text
from skyweave.data.pings import answers, has_clock, lost, unix_s
from skyweave.forecast.measurement import Measurement, measurement

__all__ = ["read", "sniff", "unix_s"]

sniff = has_clock


def read(text: Text) -> Measurement:
    """The round trips in a log; lines that are no answer are passed over.

    A sequence that begins again is another run of ping. Raises :class:`DataError` for a stamp that
    is no time and for fewer than two answers.
    """
    found = answers(text)
    missing = lost(found)
    times = [time for time, _, _ in found] + missing
    values = [rtt for _, _, rtt in found] + [float("inf")] * len(missing)
    return measurement(Path(text.name).name, "rtt", times, values)
