"""Trace files as parts of a link: read by ``crates/trace``, the same code that emulation uses.

>>> from pathlib import Path
>>> file = Path("/tmp/skyweave-example.csv")
>>> _ = file.write_text("time_s,mbps\\n0,10\\n5,2.5\\n")
>>> read_capacity(file).mbps
(10.0, 2.5)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from skyweave import _skyweave
from skyweave.errors import DataError, suggest
from skyweave.model.config import DelaySteps, Opportunities, RateSteps
from skyweave.model.drive import Values
from skyweave.model.textfile import Text, read_text

DELAY_SPACING_MS = 10.0
"""Distance of two lines of a one-way-delay file (LeoReplayer)."""

T = TypeVar("T")


def read_capacity(path: Path, column: str | None = None) -> Opportunities | RateSteps:
    """The capacity in a file: a ``.csv`` as :func:`skyweave.data.load` reads it, else mahimahi.

    ``column`` names the rate of a CSV that has several; what was not logged is 0 Mbit/s. Both may
    be gzipped. Raises :class:`skyweave.DataError` with ``FILE:LINE: what; what to do``.
    """
    if path.name.removesuffix(".gz").endswith(".csv"):
        return _rates(path, column)
    return Opportunities(times_ms=tuple(opportunities(read_text(path)).tolist()))


def _rates(path: Path, column: str | None) -> RateSteps:
    """The one rate of a CSV, or that of ``column``: a column, or ``<path>.<quantity>``."""
    from skyweave.data.importers import load_rates

    rates = load_rates(path)
    if column is not None and column not in rates:
        raise DataError(f"{path}:1: there is no rate '{column}'; {suggest(column, rates)}")
    if column is None and len(rates) != 1:
        raise DataError(f"{path}:1: holds the rates {', '.join(rates) or 'none'}; name one of them")
    series = rates[column] if column is not None else next(iter(rates.values()))
    mbps = np.nan_to_num(series.values)
    return RateSteps(times_s=tuple(series.times_s.tolist()), mbps=tuple(mbps.tolist()))


def read_delay(path: Path, spacing_ms: float = DELAY_SPACING_MS) -> DelaySteps:
    """The one-way delay in a file with one value in ms a line, ``spacing_ms`` apart."""
    times_s, delays_ms = one_way_delays(read_text(path), spacing_ms)
    return DelaySteps(times_s=tuple(times_s.tolist()), ms=tuple(delays_ms.tolist()))


def opportunities(text: Text) -> npt.NDArray[np.uint64]:
    """Delivery opportunities of a mahimahi trace in ms, shape (n,), never falling."""
    return refused(lambda: _skyweave.parse_mahimahi(text.body, text.name))


def one_way_delays(text: Text, spacing_ms: float = DELAY_SPACING_MS) -> tuple[Values, Values]:
    """Times in s and delays in ms, shape (n,) each, of a file with one delay a line."""
    return refused(lambda: _skyweave.parse_one_way_delays(text.body, text.name, spacing_ms))


def refused(call: Callable[[], T], where: str = "") -> T:
    """Call into the Rust formats; what they refuse becomes a :class:`skyweave.DataError`.

    ``where`` names what was written; files that are read name themselves.
    """
    try:
        return call()
    except ValueError as error:
        raise DataError(f"{where}: {error}" if where else str(error)) from None
